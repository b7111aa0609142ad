"""What a command comes down to: the file that the kernel opens, the binaries that run in it, and their ELF frame.

Paths are strings here: pathlib makes `x` of `./x`, and a script sees the difference in its $0.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SHELL: Final = "/bin/sh"  # what execvp gives a file to when the kernel does not know its format
SCRIPT_LEVELS: Final = 4
_HEAD_BYTES: Final = 256  # the kernel looks no further for the end of a #! line
_NOT_HERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.ENODEV, errno.ETIMEDOUT)
_DENIED: Final = (errno.EACCES, errno.EISDIR)


@dataclass(frozen=True, slots=True)
class Frame:
    """What the kernel and the loader see of an ELF file.

    Attributes:
        bits: 32 or 64.
        machine: what it is for, by its `EM_` name: `X86_64`.
        interpreter: the loader that it asks for, or "" when it asks for none.
    """

    bits: int
    machine: str
    interpreter: str


class Unclear(Exception):  # noqa: N818 - no error: the program still gets its chance
    """It cannot be told what runs; the text says why."""


def find(command: str, search: str) -> str:
    """The file that execvp would execute.

    Args:
        command: a path when it has a slash, else a name to look for.
        search: the folders to look in, as in PATH; an empty one is the current folder.

    Raises:
        ProgramError: there is none, or none that may be executed.
    """
    path, problem = _look_for(command, search)
    if not problem:
        return path
    from olpick.shim.errors import ProgramError

    code = "not-found" if problem == errno.ENOENT else "not-executable"
    if code == "not-found" and "/" not in command:
        raise ProgramError(code, f"cannot run '{command}': it is in no folder of PATH")
    raise ProgramError(code, f"cannot run '{command}': {os.strerror(problem).lower()}")


def binaries(path: str, search: str) -> Iterator[str]:
    """The binaries that run one after the other in the process of an executable file: of a script, its interpreter.

    `env` as the interpreter is followed by the program that it runs. A file that is neither ELF nor a script is one for
    the shell.

    Raises:
        Unclear: a file cannot be read, or olpick cannot follow what it names. What came before it still stands.
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
    raise Unclear(f"its scripts are more than {SCRIPT_LEVELS} deep")


def frame(path: str | Path) -> Frame:
    """The frame of an ELF file.

    Raises:
        Unclear: it cannot be read as ELF.
    """
    from elftools.elf.elffile import ELFFile  # a third of the time that a start of olpick takes
    from elftools.elf.segments import InterpSegment

    try:
        with Path(path).open("rb") as stream:
            elf = ELFFile(stream)
            names = [part.get_interp_name() for part in elf.iter_segments() if isinstance(part, InterpSegment)]
            machine = str(elf.header["e_machine"]).removeprefix("EM_")
            return Frame(elf.elfclass, machine, names[0] if names else "")
    # A wrong field makes pyelftools raise whatever the part that meets it does.
    except Exception as error:
        raise Unclear(f"{path} cannot be read as ELF ({str(error) or type(error).__name__})") from error


def _look_for(command: str, search: str) -> tuple[str, int]:
    """The file to execute and 0, or "" and the errno that execvp would end with."""
    if "/" in command:
        return command, _why_not(command)
    worst = errno.ENOENT
    for folder in search.split(":") if command else ():
        path = f"{folder}/{command}" if folder else command
        problem = _why_not(path)
        if problem in _DENIED:
            worst = problem
        elif problem not in _NOT_HERE:
            return path, problem
    return "", worst


def _why_not(path: str) -> int:
    """The errno that execve would give, or 0 when only the try can tell."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        return error.errno or errno.EACCES
    if stat.S_ISDIR(mode):
        return errno.EISDIR
    return 0 if stat.S_ISREG(mode) and os.access(path, os.X_OK) else errno.EACCES


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as stream:
            return stream.read(_HEAD_BYTES)
    except OSError as error:
        raise Unclear(f"{path} cannot be read ({os.strerror(error.errno or 0).lower()})") from error


def _interpreter(head: bytes) -> tuple[str, str]:
    """The interpreter and its one argument, by the first bytes of a file that is not ELF."""
    if not head.startswith(b"#!"):
        return SHELL, ""
    line = head[2:].partition(b"\n")[0].strip(b" \t")
    name = line.replace(b"\t", b" ").partition(b" ")[0]
    if not name:
        return SHELL, ""
    return os.fsdecode(name), os.fsdecode(line[len(name) :].strip(b" \t"))


def _found_by_env(argument: str, search: str) -> str:
    """The program that `env ARGUMENT` runs, ARGUMENT being the one string that a #! line gives it."""
    command = argument
    if argument.startswith("-S"):
        command = argument[2:].split()[0] if argument[2:].strip() else ""
    if not command or command[0] == "-" or any(sign in command for sign in "='\"\\$#"):
        raise Unclear(f"olpick does not follow 'env {argument}'")
    path, problem = _look_for(command, search)
    if problem:
        raise Unclear(f"env will not run '{command}' ({os.strerror(problem).lower()})")
    return path
