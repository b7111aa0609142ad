"""Members of `ar` archives, with the long names of GNU and BSD. Their bytes are not read, only where they lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final, NoReturn

from olpick.elf.errors import DecodeError

MAGIC: Final = b"!<arch>\n"
THIN_MAGIC: Final = b"!<thin>\n"

_HEADER: Final = Struct("16s12s6s6s8s10s2s")
"""Name, time, owner, group, mode and size in ASCII, padded with blanks, and the two bytes that end it."""
_END: Final = b"`\n"
_NAMES: Final = b"//"
_SYMBOLS: Final = (b"/", b"/SYM64/", b"__.SYMDEF", b"__.SYMDEF SORTED", b"__.SYMDEF_64")
_BSD: Final = b"#1/"
_NAME_MOST: Final = 4096


@dataclass(frozen=True, slots=True)
class Member:
    """A member that is no table of the archive itself.

    Attributes:
        name: bytes that are not UTF-8 are kept as surrogate escapes.
        offset: where its bytes begin, from the start of the archive.
        size: of its bytes.
    """

    name: str
    offset: int
    size: int


def members(view: memoryview) -> Iterator[Member]:
    """The members of an archive that begins with `MAGIC`, in its order; symbol and name tables are left out.

    Raises:
        DecodeError: `malformed-archive`: a header cannot be read, or a member or its name lies outside. Members before
            it have been given.
    """
    names = b""
    at = len(MAGIC)
    while at < len(view):
        if at + _HEADER.size > len(view):
            _malformed(at, f"only {len(view) - at} bytes of the {_HEADER.size} of a member's header")
        raw, *_, digits, end = _HEADER.unpack_from(view, at)
        start, size = at + _HEADER.size, _number(digits)
        if end != _END or size is None:
            _malformed(at, "no header of a member, which has a decimal size and ends with a back quote")
        if size > len(view) - start:
            _malformed(at, f"a member of {size} bytes, of which {len(view) - start} are there; it may be cut off")
        name = raw.rstrip(b" ")
        if name == _NAMES:
            names = bytes(view[start : start + size])
        elif name not in _SYMBOLS:
            member, skip = _named(view, at, name, names, size)
            if member.encode("utf-8", "surrogateescape") not in _SYMBOLS:
                yield Member(member, start + skip, size - skip)
        at = start + size + size % 2


def _named(view: memoryview, at: int, name: bytes, names: bytes, size: int) -> tuple[str, int]:
    """The name of a member, and how many of its bytes the name takes."""
    skip = 0
    if name.startswith(_BSD):
        length = _number(name[len(_BSD) :])
        if length is None or length > size:
            _malformed(at, "the name of a member is longer than the member")
        skip = length
        start = at + _HEADER.size
        name = bytes(view[start : start + length]).rstrip(b"\0")
    elif name.startswith(b"/"):
        place = _number(name[1:])
        if place is None or place >= len(names):
            _malformed(at, "the name of a member lies outside the table of long names")
        name = names[place : place + _NAME_MOST].partition(b"\n")[0].removesuffix(b"/")
    else:
        name = name.removesuffix(b"/")
    return name.decode("utf-8", "surrogateescape"), skip


def _number(digits: bytes) -> int | None:
    digits = digits.rstrip(b" ")
    return int(digits) if digits.isdigit() else None


def _malformed(at: int, why: str) -> NoReturn:
    raise DecodeError("malformed-archive", at, why)
