"""A name for the library that the loader can read: LD_PRELOAD is split at blanks and colons, and `$` begins a token.

The name is a symbolic link in a folder that only this user can write to. It is made from the path, so that all runs
share it; it stays there.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_SPECIAL: Final = frozenset(" :$")


def is_plain(path: str | Path) -> bool:
    """Whether LD_PRELOAD can hold a path as it is."""
    return _SPECIAL.isdisjoint(str(path))


def plain_path(library: Path, environment: Mapping[str, str]) -> Path | None:
    """A path of the library that LD_PRELOAD can hold, or None when there is no safe place for a link."""
    if is_plain(library):
        return library
    import hashlib  # the usual case needs no link

    name = f"{hashlib.sha256(os.fsencode(library)).hexdigest()[:16]}-{library.name}"
    for folder in _folders(environment):
        if not is_plain(folder):
            continue
        try:
            if _make_private(folder):
                return _link(folder / name, library)
        except OSError:
            continue
    return None


def _folders(environment: Mapping[str, str]) -> Iterator[Path]:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        yield Path(runtime, "olpick")
    for temporary in (environment.get("TMPDIR", ""), "/tmp"):  # noqa: S108 - what is there is checked
        if temporary.startswith("/"):
            yield Path(temporary, f"olpick-{os.geteuid()}")


def _make_private(folder: Path) -> bool:
    """Makes the folder if it is not there; whether nobody else can put something in it or in its place."""
    above = folder.parent.stat()
    others_write = above.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if above.st_uid not in (0, os.geteuid()) or (others_write and not above.st_mode & stat.S_ISVTX):
        return False
    folder.mkdir(mode=0o700, exist_ok=True)
    made = folder.lstat()
    return stat.S_ISDIR(made.st_mode) and made.st_uid == os.geteuid() and not stat.S_IMODE(made.st_mode) & 0o077


def _link(link: Path, library: Path) -> Path:
    """Makes the link if it is not there; several processes may do so at once."""
    try:
        if link.readlink() == library:
            return link
    except OSError:
        pass
    mine = link.with_name(f"{link.name}.{os.getpid()}")
    mine.unlink(missing_ok=True)
    mine.symlink_to(library)
    return mine.replace(link)
