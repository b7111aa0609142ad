"""One OffloadBinary: from bytes to entries (SPEC.md section 1, OLP-CONT-002 to 011, 017).

The checks stand in the order of OLP-CONT-016, which decides between two codes. Python integers do not wrap, so sums and
products of hostile fields are compared as they are.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from olpick.elf.codes import table
from olpick.elf.compression import PayloadError, inflate
from olpick.elf.errors import DecodeError
from olpick.elf.layout import (
    ALIGNMENT,
    ENTRY,
    HEADER,
    INFLATED_SIZE,
    MAGIC,
    METADATA_ONLY,
    VERSIONS,
    header_size,
    record,
    string_budget,
)

# A compiled pattern searches any buffer in place; memoryview has no `find`.
_find_zero: Final = re.compile(b"\0").search


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, its ranges checked.

    Attributes:
        kind: the image kind, 0 to 65535.
        producer: the offload kind, 0 to 65535.
        flags: 32 bits.
        metadata_only: whether it says that it carries no image (OLP-CONT-019).
        strings: key to value; of a key that stands twice the last value.
        repeated: the first key with a meaning that stands twice, if any.
        start: of the image, in bytes from the start of the body.
        size: of the image, in bytes.
    """

    kind: int
    producer: int
    flags: int
    metadata_only: bool
    strings: dict[str, str]
    repeated: str | None
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Binary:
    """One binary.

    Attributes:
        version: 1, 2 or 3.
        size: the Size field, in bytes: what it takes of the buffer.
        body: what the offsets of its entries count in, a view into the buffer or into inflated memory.
        inflated: whether `body` was inflated.
        entries: at least one; none when it is compressed and nothing here can inflate it (OLP-CONT-018).
    """

    version: int
    size: int
    body: memoryview = field(repr=False)
    inflated: bool
    entries: tuple[Entry, ...]


def begins_with_magic(view: memoryview, at: int) -> bool:
    """Whether what is left agrees with the magic, as far as it goes (OLP-CONT-002, 003, 013)."""
    return MAGIC.startswith(bytes(view[at : at + len(MAGIC)]))


def read_binary(view: memoryview, at: int, limit: int) -> Binary:
    """The binary at `at`.

    Args:
        view: the buffer, of single bytes.
        at: from 0 to its length.
        limit: to how many bytes the binary may inflate.

    Raises:
        DecodeError: it is malformed, or inflates to more; `offset` is `at`.
    """
    try:
        return _read(view, at, limit)
    except _MalformedError as refused:
        raise DecodeError(refused.code, at, refused.why) from None


class _MalformedError(Exception):
    """What `DecodeError` says, without the place."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(code, why)
        self.code, self.why = code, why


@dataclass(slots=True)
class _Frame:
    """A binary whose header is right, and what its entries may still use.

    Attributes:
        version: 1, 2 or 3.
        body: as in `Binary`.
        entries_at: where the entries begin.
        count: how many there are.
        records_left: how many string records may still be named (OLP-CONT-008).
        length_left: how long the strings may still be (OLP-CONT-010).
        nested_left: how large the images that are containers may still be (OLP-CONT-011).
    """

    version: int
    body: memoryview
    entries_at: int
    count: int
    records_left: int = field(init=False)
    length_left: int = field(init=False)
    nested_left: int = field(init=False)

    def __post_init__(self) -> None:
        self.records_left = len(self.body) // 16
        self.length_left = string_budget(len(self.body))
        self.nested_left = len(self.body)

    def touches(self, start: int, end: int) -> bool:
        """Whether [start, end), which is not empty, shares a byte with the header or an entry."""
        entries_end = self.entries_at + ENTRY.size * self.count
        return start < header_size(self.version) or (start < entries_end and end > self.entries_at)

    def use(self, length: int) -> None:
        """Count a string, before anything is copied."""
        self.length_left -= length
        if self.length_left < 0:
            budget = string_budget(len(self.body))
            raise _MalformedError("strings-too-long", f"the strings together are longer than {budget} bytes")


def _read(view: memoryview, at: int, limit: int) -> Binary:
    left = len(view) - at
    if not begins_with_magic(view, at):
        raise _MalformedError("not-offload-binary", "not an OffloadBinary, whose first bytes are 10 ff 10 ad")
    if not left:
        raise _MalformedError("truncated", "there are no bytes at all")
    version = HEADER.unpack_from(view, at)[1] if left >= HEADER.size else 1
    head = header_size(version)
    if left < head:
        raise _MalformedError("truncated", f"only {left} bytes of an OffloadBinary, whose header takes {head}")
    if version not in VERSIONS:
        raise _MalformedError("bad-version", f"OffloadBinary of version {version}; olpick reads versions 1, 2 and 3")
    _, _, size, entries_at, number = HEADER.unpack_from(view, at)
    inflated_size: int = INFLATED_SIZE.unpack_from(view, at + HEADER.size)[0] if version == 3 else 0
    _check_size(size, head + (1 if inflated_size else ENTRY.size), left)
    last = size - (1 if inflated_size else ENTRY.size)
    if entries_at % ALIGNMENT or not head <= entries_at <= last:
        raise _MalformedError(
            "bad-entry-offset", f"EntriesOffset is {entries_at}, not a multiple of 8 from {head} to {last}"
        )
    count = _entry_count(version, number, entries_at, inflated_size or size)
    stored = view[at : at + size]
    body = _inflated(stored, entries_at, inflated_size, limit) if inflated_size else stored
    if body is None:
        return Binary(version, size, stored[:0], True, ())
    frame = _Frame(version, body, entries_at, count)
    entries = tuple(_entry(frame, entries_at + ENTRY.size * index) for index in range(count))
    return Binary(version, size, body, bool(inflated_size), entries)


def _check_size(size: int, least: int, left: int) -> None:
    if size < least:
        raise _MalformedError("bad-size", f"Size is {size}, less than the {least} bytes of header and entry")
    if size > left:
        raise _MalformedError("bad-size", f"Size is {size}, but {left} bytes are left; the file may be cut off")


def _entry_count(version: int, number: int, entries_at: int, size: int) -> int:
    """How many entries there are, from EntrySize or EntriesCount (OLP-CONT-007)."""
    if version == 1:
        if number != ENTRY.size:
            raise _MalformedError("bad-entry-size", f"EntrySize is {number}, not the {ENTRY.size} of version 1")
        return 1
    room = max(0, size - entries_at) // ENTRY.size
    if not 1 <= number <= room:
        raise _MalformedError("bad-entry-count", f"EntriesCount is {number}; at least 1 is needed, {room} have room")
    return number


def _inflated(stored: memoryview, entries_at: int, size: int, limit: int) -> memoryview | None:
    """The body of a compressed binary (OLP-CONT-017); None when nothing here can inflate it (OLP-CONT-018)."""
    if size > limit:
        raise _MalformedError("inflated-too-large", f"it would inflate to {size} bytes, more than the limit of {limit}")
    try:
        whole = inflate(stored[:entries_at], stored[entries_at:], size)
    except PayloadError as refused:
        raise _MalformedError("bad-compression", str(refused)) from refused
    return None if whole is None else memoryview(whole).toreadonly()


def _entry(frame: _Frame, at: int) -> Entry:
    """The entry at `at` (OLP-CONT-008 to 011)."""
    kind, producer, flags, table_at, count, image_at, image_size = ENTRY.unpack_from(frame.body, at)
    strings, repeated = _strings(frame, table_at, count)
    size, end = len(frame.body), image_at + image_size
    if end > size or (image_size and frame.touches(image_at, end)):
        raise _MalformedError(
            "bad-image-range",
            f"the image takes [{image_at}, {end}) of a binary of {size} bytes: past its end, or over its header or"
            " entries",
        )
    metadata_only = frame.version > 1 and bool(flags & METADATA_ONLY)
    if not metadata_only and bytes(frame.body[image_at : min(end, image_at + len(MAGIC))]) == MAGIC:
        frame.nested_left -= image_size
        if frame.nested_left < 0:
            raise _MalformedError("bad-image-range", f"the containers among the images take more than all {size} bytes")
    return Entry(kind, producer, flags, metadata_only, strings, repeated, image_at, image_size)


def _strings(frame: _Frame, at: int, count: int) -> tuple[dict[str, str], str | None]:
    """The strings of one entry (OLP-CONT-008 to 010), and the first key with a meaning that stands twice, if any."""
    strings: dict[str, str] = {}
    repeated: str | None = None
    if count == 0:
        return strings, repeated
    layout, size = record(frame.version), len(frame.body)
    end = at + layout.size * count
    if end > size or frame.touches(at, end):
        raise _MalformedError(
            "bad-string-table",
            f"the {count} string records take [{at}, {end}) of a binary of {size} bytes: past its end, or over its"
            " header or entries",
        )
    frame.records_left -= count
    if frame.records_left < 0:
        raise _MalformedError("bad-string-table", f"the entries name more than {size // 16} string records together")
    for key_at, value_at, *value_size in layout.iter_unpack(frame.body[at:end]):
        key = _string(frame, key_at, None)
        value = _string(frame, value_at, value_size[0] if value_size else None)
        if repeated is None and key in strings and key in table("key"):
            repeated = key
        strings[key] = value
    return strings, repeated


def _string(frame: _Frame, start: int, length: int | None) -> str:
    """A string of so many bytes, or one that a zero byte ends (OLP-CONT-009, 010)."""
    size = len(frame.body)
    if length is None:
        inside = start < size and not frame.touches(start, start + 1)
        zero = _find_zero(frame.body, start) if inside else None
        end = zero.start() if zero else None
    else:
        inside = start + length <= size and not (length and frame.touches(start, start + 1))
        end = start + length if inside else None
    if end is None:
        raise _MalformedError(
            "bad-string",
            f"a string at {start} of a binary of {size} bytes starts outside it, in its header or entries, or has no"
            " end in it",
        )
    frame.use(end - start)
    return str(frame.body[start:end], "utf-8", "surrogateescape")
