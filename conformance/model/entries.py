"""Section 1: the entries of a binary, OLP-CONT-008 to 011, 014, 015 and 019."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from olpick.conformance.model.frame import ENTRY, MAGIC, Frame, Malformed
from olpick.conformance.model.numbers import u16, u32, u64
from olpick.conformance.model.tables import meaningful_keys

MIB: Final = 1024 * 1024
METADATA: Final = 1
"""`OIF_Metadata`."""


@dataclass(frozen=True)
class Entry:
    """What one entry says; `offset` counts from the first byte of the (inflated) binary."""

    kind: int
    producer: int
    flags: int
    metadata: bool
    offset: int
    data: bytes
    strings: Mapping[bytes, bytes]
    findings: frozenset[str]


def read_entries(data: bytes, frame: Frame) -> list[Entry]:
    """All entries of a binary, which is as long as its Size.

    OLP-CONT-016: entry by entry, each in the order of the numbers.

    Raises:
        Malformed: strings or image of one of them are not inside it.
    """
    reader = Reader(data, frame)
    return [reader.entry(frame.entries + ENTRY * number) for number in range(frame.count)]


class Reader:
    """One binary, and what was counted so far: records (OLP-CONT-008), strings (010), containers among images (011)."""

    def __init__(self, data: bytes, frame: Frame) -> None:
        """Nothing was counted."""
        self.data, self.frame = data, frame
        self.size = len(data)
        self.record_size = 16 if frame.version == 1 else 24
        self.records = 0
        self.lengths = 0
        self.nested = 0

    def entry(self, at: int) -> Entry:
        """The entry at a place.

        OLP-CONT-014: of equal keys the last value counts. OLP-CONT-015: unknown kinds, producers and flags are kept.
        OLP-CONT-019: a flag has a meaning in versions 2 and 3.
        """
        findings = set()
        strings: dict[bytes, bytes] = {}
        for key, value in self.strings(u64(self.data, at + 8), u64(self.data, at + 16)):
            if key in strings and key in meaningful_keys():
                findings.add("duplicate-key")
            strings[key] = value
        offset, size = u64(self.data, at + 24), u64(self.data, at + 32)
        self.check_image(offset, size)
        kind, producer, flags = u16(self.data, at), u16(self.data, at + 2), u32(self.data, at + 4)
        metadata = self.frame.version >= 2 and flags & METADATA != 0
        if not metadata and self.data[offset : offset + size].startswith(MAGIC):
            self.nested += size
            if self.nested > self.size:
                raise Malformed("bad-image-range")  # 011
        if kind > 6 or producer & ~0b1111:
            findings.add("unknown-kind")
        return Entry(
            kind=kind,
            producer=producer,
            flags=flags,
            metadata=metadata,
            offset=offset,
            data=self.data[offset : offset + size],
            strings=strings,
            findings=frozenset(findings),
        )

    def strings(self, table: int, count: int) -> list[tuple[bytes, bytes]]:
        """Keys and values in the order of their records: OLP-CONT-008 to 010."""
        if count == 0:
            return []
        width = self.record_size * count
        if table + width > self.size or self.frame.touches(table, width):
            raise Malformed("bad-string-table")  # 008
        self.records += count
        if self.records > self.size // 16:
            raise Malformed("bad-string-table")  # 008
        made = []
        for record in range(table, table + width, self.record_size):
            key = self.counted(self.ended(u64(self.data, record)))
            start = u64(self.data, record + 8)
            value = self.ended(start) if self.frame.version == 1 else self.sized(start, u64(self.data, record + 16))
            made.append((key, self.counted(value)))
        return made

    def ended(self, start: int) -> bytes:
        """OLP-CONT-009: a string begins inside, not in header or entries, and its zero byte follows inside."""
        if start >= self.size or self.frame.touches(start, 1):
            raise Malformed("bad-string")
        end = self.data.find(b"\0", start)
        if end < 0:
            raise Malformed("bad-string")
        return self.data[start:end]

    def sized(self, start: int, size: int) -> bytes:
        """OLP-CONT-009: a value of versions 2 and 3 has its size, and may hold zero bytes."""
        if start + size > self.size or (size != 0 and self.frame.touches(start, 1)):
            raise Malformed("bad-string")
        return self.data[start : start + size]

    def counted(self, string: bytes) -> bytes:
        """OLP-CONT-010: the string, and the sum compared."""
        self.lengths += len(string)
        if self.lengths > min(64 * self.size, 16 * MIB):
            raise Malformed("strings-too-long")
        return string

    def check_image(self, offset: int, size: int) -> None:
        """OLP-CONT-011: the image lies in its binary."""
        if offset + size > self.size or (size != 0 and self.frame.touches(offset, size)):
            raise Malformed("bad-image-range")
