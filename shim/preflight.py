"""Whether libolpick.so can get into a program: what the loader would pass over in silence, seen before the start."""

import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from olpick.shim.program import Frame, Unclear, binaries, frame

# Why the library cannot get in: the word, what is said of the binary that stands in the way, and what to do about it.
REASONS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "static": (
            "is statically linked, so no loader runs that could bring it in",
            "link it dynamically; dynamic programs that it starts still get the library",
        ),
        "wrong-class": (
            "is a {0}-bit program and the library a {1}-bit one",
            "build the program for the machine that the library is for",
        ),
        "wrong-machine": (
            "is for the machine {0} and the library for {1}",
            "build the program for the machine that the library is for",
        ),
        "setuid": (
            "runs with the rights of user {0}, so the loader ignores LD_PRELOAD",
            "run a copy of it that has no setuid bit, or run it as that user",
        ),
        "setgid": (
            "runs with the rights of group {0}, so the loader ignores LD_PRELOAD",
            "run a copy of it that has no setgid bit, or run it in that group",
        ),
        "capabilities": (
            "has file capabilities, so the loader ignores LD_PRELOAD",
            "run a copy of it that has none, or run it as root",
        ),
        "other-libc": (
            "is loaded by {0}, and the library is for glibc",
            "build the program for glibc",
        ),
        "library-path": (
            "has a blank, a colon or a dollar sign in its path, and there is no private folder for a link to it",
            "install olpick under another path, or set XDG_RUNTIME_DIR to a folder that is yours alone",
        ),
        "not-loaded": (
            "does not get it from its loader: {0}",
            "LD_DEBUG=libs shows what the loader does",
        ),
    }
)

# The library stays in LD_PRELOAD all the same: it does not disturb this program, and those that it starts can have it.
HARMLESS: Final = frozenset({"static"})

_GLIBC: Final = re.compile(r"ld(-linux.*|64|-\d.*)?\.so(\.\d+)?")
_OTHER_LIBC: Final = re.compile(r"ld-musl.*|ld.*uClibc.*|linker(64)?|libc\.musl.*")
_EFFECTIVE: Final = 1
_SETGID: Final = stat.S_ISGID | stat.S_IXGRP


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the library cannot get into a program.

    Attributes:
        word: of `REASONS`.
        text: what stands in the way, a clause without a full stop.
        hint: what the user can do.
    """

    word: str
    text: str
    hint: str

    @classmethod
    def of(cls, word: str, subject: str = "it", *details: object) -> "Reason":
        """The reason with its sentence; `subject` is the binary it is about, `details` what the sentence leaves open.

        Raises:
            KeyError: the word is not in the list.
        """
        text, hint = REASONS[word]
        return cls(word, f"{subject} {text.format(*details)}", hint)


@dataclass(frozen=True, slots=True)
class Preflight:
    """What was seen.

    Attributes:
        reasons: why the library cannot get in; empty when nothing is in the way.
        doubt: why it cannot be told for sure, or "".
        binary: the program that runs in the end, when it is one that a glibc loader loads, else "".
        interpreter: that loader, or "".
    """

    reasons: tuple[Reason, ...]
    doubt: str = ""
    binary: str = ""
    interpreter: str = ""


def preflight(path: str, library: Path, search: str) -> Preflight:
    """Looks at an executable file without running anything.

    Args:
        path: what execve gets.
        library: the library that is to get in.
        search: PATH, for scripts that `env` runs.
    """
    reasons: list[Reason] = []
    binary, interpreter = "", ""
    try:
        wanted = frame(library)
        for binary in binaries(path, search):
            # Of the binaries before the last one, only what takes LD_PRELOAD from the next one matters.
            reasons = [reason for reason in reasons if reason.word not in HARMLESS]
            subject = "it" if binary == path else binary
            reasons += _privileges(binary, subject)
            found = frame(binary)
            interpreter = found.interpreter
            reasons += _loader(binary, subject, found, wanted)
    except Unclear as unclear:
        return Preflight(tuple(reasons), doubt=str(unclear))
    if not _GLIBC.fullmatch(Path(interpreter).name):
        return Preflight(tuple(reasons))
    return Preflight(tuple(reasons), "", binary, interpreter)


def _loader(binary: str, subject: str, found: Frame, wanted: Frame) -> Iterator[Reason]:
    if found.bits != wanted.bits:
        yield Reason.of("wrong-class", subject, found.bits, wanted.bits)
    elif found.machine != wanted.machine:
        yield Reason.of("wrong-machine", subject, found.machine, wanted.machine)
    if not found.interpreter:
        # A loader that is started as a program has no loader itself, and still loads.
        if not _GLIBC.fullmatch(Path(binary).resolve().name):
            yield Reason.of("static", subject)
        return
    loader = Path(found.interpreter)
    if _OTHER_LIBC.fullmatch(loader.name) or _OTHER_LIBC.fullmatch(loader.resolve().name):
        yield Reason.of("other-libc", subject, found.interpreter)


def _privileges(binary: str, subject: str) -> Iterator[Reason]:
    """What makes the kernel start a program in secure mode, where glibc ignores LD_PRELOAD."""
    try:
        status = Path(binary).stat()
        if os.statvfs(binary).f_flag & os.ST_NOSUID:
            return
    except OSError as error:
        raise Unclear(f"{binary} cannot be looked at ({os.strerror(error.errno or 0).lower()})") from error
    # The real ids count: for root, too, a program that is setuid to somebody else runs in secure mode.
    bits = 0 if _no_new_privileges() else status.st_mode
    user = status.st_uid if bits & stat.S_ISUID else os.geteuid()
    # Without the group's right to execute, the bit once meant mandatory locking, and the kernel still passes it over.
    group = status.st_gid if bits & _SETGID == _SETGID else os.getegid()
    if user != os.getuid():
        yield Reason.of("setuid", subject, _user_name(user))
    if group != os.getgid():
        yield Reason.of("setgid", subject, _group_name(group))
    if os.getuid() != 0 and _gives_capabilities(binary):
        yield Reason.of("capabilities", subject)


def _no_new_privileges() -> bool:
    try:
        return "\nNoNewPrivs:\t1\n" in Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False


def _gives_capabilities(binary: str) -> bool:
    try:
        value = os.getxattr(binary, "security.capability")
    except OSError:
        return False
    # Flags, then permitted and inheritable, the lower half of each and then the upper.
    flags, *sets = (word for (word,) in struct.iter_unpack("<I", value[: len(value) & ~3]))
    return bool(flags & _EFFECTIVE or any(sets[0:4:2]))


def _user_name(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _group_name(group: int) -> str:
    import grp

    try:
        return grp.getgrgid(group).gr_name
    except KeyError:
        return str(group)
