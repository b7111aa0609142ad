"""Section 1: what is checked of a binary's header, OLP-CONT-002 to 007, in the order of their numbers."""

from dataclasses import dataclass
from typing import Final

from olpick.conformance.model.numbers import u32, u64

MAGIC: Final = b"\x10\xff\x10\xad"
LEAST_HEADER: Final = 32
HEADERS: Final = {1: 32, 2: 32, 3: 40}
"""H of each version."""
ENTRY: Final = 40


class Malformed(Exception):  # noqa: N818 - the specification's own word
    """A binary that is refused; its argument is the code."""


@dataclass(frozen=True)
class Frame:
    """Where the parts of a binary lie.

    Attributes:
        version: 1, 2 or 3.
        header: H, the size of the header.
        size: Size, which says where the next binary begins.
        entries: EntriesOffset.
        count: N, the number of entries.
        inflated_size: InflatedSize, 0 when not compressed.
    """

    version: int
    header: int
    size: int
    entries: int
    count: int
    inflated_size: int

    @property
    def compressed(self) -> bool:
        """OLP-CONT-017: version 3, InflatedSize not 0."""
        return self.inflated_size != 0

    def touches(self, start: int, size: int) -> bool:
        """Whether a range touches header or entries (OLP-CONT-008, 009, 011)."""
        end = start + size
        return start < self.header or (start < self.entries + ENTRY * self.count and end > self.entries)


def agrees_with_magic(left: bytes) -> bool:
    """Whether bytes begin with the magic, or with as many bytes of it as they are."""
    return left[:4] == MAGIC[: len(left)]


def read_frame(left: bytes) -> Frame:
    """The header at the beginning of what is left of the buffer: OLP-CONT-002 to 007.

    Raises:
        Malformed: it is not one, or not one that can be read.
    """
    if not agrees_with_magic(left):
        raise Malformed("not-offload-binary")  # 002
    if len(left) < LEAST_HEADER or (u32(left, 4) == 3 and len(left) < HEADERS[3]):
        raise Malformed("truncated")  # 003
    version = u32(left, 4)
    if version not in HEADERS:
        raise Malformed("bad-version")  # 004
    header = HEADERS[version]
    size, entries, last = u64(left, 8), u64(left, 16), u64(left, 24)
    inflated_size = u64(left, 32) if version == 3 else 0
    # Of a compressed binary one byte at least follows the header.
    least = 1 if inflated_size else ENTRY
    if not header + least <= size <= len(left):
        raise Malformed("bad-size")  # 005
    if entries % 8 != 0 or not header <= entries <= size - least:
        raise Malformed("bad-entry-offset")  # 006
    if version == 1:
        if last != ENTRY:
            raise Malformed("bad-entry-size")  # 007
        return Frame(version, header, size, entries, 1, 0)
    if last < 1 or entries + ENTRY * last > (inflated_size or size):
        raise Malformed("bad-entry-count")  # 007
    return Frame(version, header, size, entries, last, inflated_size)
