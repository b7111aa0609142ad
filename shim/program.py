"""What a command comes down to: the file that the kernel opens, the binaries that run in it, and their ELF frame."""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Paths are strings here: pathlib makes `x` of `./x`, and a script sees the difference in $0.

SHELL: Final = "/bin/sh"  # what execvp gives a file to that has no format the kernel knows
SCRIPT_LEVELS: Final = 4
_HEAD: Final = 256  # the kernel looks no further for the end of a #! line
_BLANK: Final = b" \t"
_GO_ON: Final = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.ENODEV, errno.ETIMEDOUT, errno.EACCES)


@dataclass(frozen=True, slots=True)
class Frame:
    """What the kernel and the loader see of an ELF file.

    Attributes:
        bits: 32 or 64.
        machine: what it is for, as in `EM_` names: `X86_64`.
        interpreter: the loader that it asks for, or "" when it asks for none.
    """

    bits: int
    machine: str
    interpreter: str


class Unclear(Exception):
    """It cannot be told what runs; the text says why."""


def find(command: str, search: str) -> str:
    """The file that execvp would execute.

    Args:
        command: a path when it has a slash, else a name to look for.
        search: the folders to look in, as in PATH; an empty one is the current folder.

    Raises:
        ProgramError: there is none, or none that may be executed.
    """
    if "/" in command:
        problem = _why_not(command)
        if not problem:
            return command
        _refuse(command, problem, not_found=problem == errno.ENOENT)
    denied = 0
    for folder in search.split(":") if command else ():
        path = f"{folder}/{command}" if folder else command
        problem = _why_not(path)
        if not problem:
            return path
        if problem not in _GO_ON:
            _refuse(command, problem, not_found=False)
        if problem == errno.EACCES:
            denied = problem
    _refuse(command, denied or errno.ENOENT, not_found=not denied)


def binaries(path: str, search: str) -> Iterator[str]:
    """The binaries that run one after the other in the process of an executable file: of a script, its interpreter.

    `/usr/bin/env` as the interpreter is followed by the program that it runs. A file that is neither ELF nor a script is
    one for the shell.

    Raises:
        Unclear: a file cannot be read, or names what olpick cannot follow; after the binaries before it.
    """
    for _ in range(SCRIPT_LEVELS + 1):
        head = _head(path)
        if head.startswith(b"\x7fELF"):
            yield path
            return
        interpreter, argument = _interpreter(head)
        if Path(interpreter).name == "env" and argument:
            yield from binaries(interpreter, search)
            path = _found_by_env(argument, search)
        else:
            path = interpreter
    raise Unclear(f"scripts whose interpreters are scripts, more than {SCRIPT_LEVELS} deep")


def frame(path: str) -> Frame:
    """The frame of an ELF file.

    Raises:
        Unclear: it cannot be read as ELF.
    """
    from elftools.elf.elffile import ELFFile

    try:
        with Path(path).open("rb") as stream:
            elf = ELFFile(stream)
            names = [segment.get_interp_name() for segment in elf.iter_segments("PT_INTERP")]
            machine = str(elf.header["e_machine"]).removeprefix("EM_")
            return Frame(elf.elfclass, machine, names[0] if names else "")
    # pyelftools raises whatever its parts do when a field is wrong, and such a program still gets its chance to run.
    except Exception as error:
        raise Unclear(f"{path} cannot be read as ELF: {str(error) or type(error).__name__}") from error


def _why_not(path: str) -> int:
    """The errno that execve would give, or 0; what only the try can tell is not foreseen."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        return error.errno or errno.EACCES
    if stat.S_ISDIR(mode):
        return errno.EISDIR if "/" in path.rstrip("/") else errno.EACCES
    return 0 if stat.S_ISREG(mode) and os.access(path, os.X_OK) else errno.EACCES
