"""The environment that brings the library into a program, and the step into the program."""

import errno
import os
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from olpick.shim import library as installed
from olpick.shim.controls import variables
from olpick.shim.link import plain_path
from olpick.shim.preflight import HARMLESS, Reason, preflight
from olpick.shim.probe import probe
from olpick.shim.program import SHELL

PRELOAD: Final = "LD_PRELOAD"
_LOCALE: Final = "LC_CTYPE"
_SEPARATORS: Final = re.compile("[ :]")


def run_env(*, environment: Mapping[str, str] | None = None, **settings: str | bool) -> dict[str, str]:
    """The variables that a program needs in its environment to run with the library in it.

    Args:
        environment: what the program would be started with; by default this process's own environment.
        settings: what to set, by the names of the options of `olpick run`: `policy="first"`, `host_fallback=True`.

    Returns:
        The changes, `LD_PRELOAD` among them; what it held before is still in it.

    Raises:
        ControlError: there is no such setting, or it does not take the value.
        LibraryError: the library is not installed, or under a path that the loader cannot read.
    """
    now = os.environ if environment is None else environment
    library = installed.library_path()
    entry = preload_entry(library, now)
    if entry is None:
        from olpick.shim.errors import LibraryError

        reason = Reason.of("library-path", str(library))
        raise LibraryError("no-library", reason.text, reason.hint)
    return {**variables(settings), PRELOAD: prepended(entry, now.get(PRELOAD, ""))}


@dataclass(frozen=True, slots=True)
class Start:
    """How a program will be started.

    Attributes:
        environment: the whole of it; with the library, if that does no harm.
        reasons: why the library cannot get in; empty when nothing is in the way.
        doubt: why that cannot be told for sure, or "".
    """

    environment: Mapping[str, str]
    reasons: tuple[Reason, ...]
    doubt: str


def prepare(path: str, library: Path, environment: Mapping[str, str], changes: Mapping[str, str]) -> Start:
    """Looks at a program, asks its loader, and makes its environment.

    Args:
        path: what `olpick.shim.program.find` gave.
        library: the library that is to get in.
        environment: what the program would be started with.
        changes: the variables of the library, set only where it gets in.
    """
    seen = preflight(path, library, environment.get("PATH", os.defpath))
    reasons = seen.reasons
    entry = preload_entry(library, environment)
    if entry is None:
        return Start(environment, (*reasons, Reason.of("library-path", str(library))), seen.doubt)
    with_library = {**environment, **changes, PRELOAD: prepended(entry, environment.get(PRELOAD, ""))}
    if seen.interpreter and not reasons:
        complaint = probe(seen.interpreter, seen.binary, entry, with_library)
        reasons = (Reason.of("not-loaded", "it", complaint),) if complaint else ()
    harmless = all(reason.word in HARMLESS for reason in reasons)
    return Start(with_library if harmless else environment, reasons, seen.doubt)


def preload_entry(library: Path, environment: Mapping[str, str]) -> str | None:
    """The library's name for LD_PRELOAD: the one that is there already, else one that the loader can read.

    None when there is no such name (see `olpick.shim.link`).
    """
    for entry in _SEPARATORS.split(environment.get(PRELOAD, "")):
        if "/" in entry and _is_same(entry, library):
            return entry
    path = plain_path(library, environment)
    return None if path is None else str(path)


def prepended(entry: str, value: str) -> str:
    """The value of LD_PRELOAD with an entry in front, or the value as it is when the entry is in it."""
    if entry in _SEPARATORS.split(value):
        return value
    return f"{entry}:{value}" if value else entry


def initial_environment() -> dict[str, str]:
    """The environment that this process was started with.

    In the C locale the interpreter sets LC_CTYPE for itself, and a program that is started from it would see that.
    """
    environment = dict(os.environ)
    if environment.get(_LOCALE) in ("C.UTF-8", "C.utf8", "UTF-8"):
        try:
            first = Path("/proc/self/environ").read_bytes()  # what setenv changes is not there
        except OSError:
            return environment
        del environment[_LOCALE]
        for variable in first.split(b"\0"):
            name, _, value = os.fsdecode(variable).partition("=")
            if name == _LOCALE:
                environment[name] = value
    return environment


def replace_process(path: str, arguments: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Becomes the program, as execvp does; process id, open files and signal masks stay.

    Args:
        path: what `olpick.shim.program.find` gave.
        arguments: with the program's name first.
        environment: the whole of it.

    Raises:
        ProgramError: the kernel does not take it.
    """
    # The interpreter ignores these two, and what is ignored stays so across exec.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        try:
            os.execve(path, arguments, environment)  # noqa: S606
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            os.execve(SHELL, [SHELL, path, *arguments[1:]], environment)  # noqa: S606
    except OSError as error:
        from olpick.shim.errors import ProgramError

        code = "not-found" if error.errno == errno.ENOENT else "not-executable"
        raise ProgramError(code, f"cannot run '{arguments[0]}': {os.strerror(error.errno or 0).lower()}") from error


def _is_same(entry: str, library: Path) -> bool:
    try:
        return Path(entry).samefile(library)
    except OSError:
        return False
