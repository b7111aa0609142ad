"""Section 1: containers. One function a requirement, called in the order of their numbers (OLP-CONT-016)."""

from dataclasses import dataclass
from typing import Final

from olpick.conformance.answers import Decoded, DecodedImage, Problem
from olpick.conformance.model.numbers import u16, u32, u64
from olpick.conformance.model.tables import meaningful_keys

MAGIC: Final = b"\x10\xff\x10\xad"
HEADER: Final = 32
ENTRY: Final = 40
RECORD: Final = 16
MIB: Final = 1024 * 1024


class Malformed(Exception):  # noqa: N818 - the specification's own word
    """A binary that is refused; its argument is the code."""


@dataclass
class Binary:
    """One OffloadBinary as far as it is read; the entry is known to lie inside."""

    data: bytes
    entry: int

    def field(self, at: int) -> int:
        """A u64 field of the entry."""
        return u64(self.data, self.entry + at)

    def touches_frame(self, start: int, size: int) -> bool:
        """Whether a range touches header or entry."""
        end = start + size
        return start < HEADER or (start < self.entry + ENTRY and end > self.entry)


def decode(buffer: bytes) -> Decoded:
    """All images of a buffer, in their order.

    OLP-CONT-012: boundaries come from Size. OLP-CONT-013: what is no binary ends the walk with a finding.
    OLP-CONT-016: a malformed binary ends it with an error; the images before it are delivered.
    """
    images: list[DecodedImage] = []
    start = 0
    while True:
        try:
            binary = read_binary(buffer[start:])
            images.append(read_image(binary, start))
        except Malformed as refused:
            return Decoded(tuple(images), (), Problem(str(refused), start))
        start = skip_padding(buffer, round_up(start + len(binary.data), 8))
        if start >= len(buffer):
            return Decoded(tuple(images))
        if not agrees_with_magic(buffer[start:]):
            return Decoded(tuple(images), (Problem("junk-after-binary", start),))


def round_up(value: int, to: int) -> int:
    """The next multiple of `to` that is not below `value`."""
    return (value + to - 1) // to * to


def skip_padding(buffer: bytes, start: int) -> int:
    """OLP-CONT-012: skip groups of 8 zero bytes, and a shorter one at the end of the buffer."""
    while start < len(buffer) and not any(buffer[start : start + 8]):
        start += 8
    return start


def agrees_with_magic(left: bytes) -> bool:
    """Whether bytes begin with the magic, or with as many bytes of it as they are."""
    return left[:4] == MAGIC[: len(left)]


def read_binary(left: bytes) -> Binary:
    """The binary at the beginning of what is left of the buffer: OLP-CONT-002 to 007.

    Raises:
        Malformed: it is not one, or not one that can be read.
    """
    if not agrees_with_magic(left):
        raise Malformed("not-offload-binary")  # 002
    if len(left) < HEADER + ENTRY:
        raise Malformed("truncated")  # 003
    if u32(left, 4) != 1:
        raise Malformed("bad-version")  # 004
    size = u64(left, 8)
    if not HEADER + ENTRY <= size <= len(left):
        raise Malformed("bad-size")  # 005
    entry = u64(left, 16)
    if entry % 8 != 0 or not HEADER <= entry <= size - ENTRY:
        raise Malformed("bad-entry-offset")  # 006
    if u64(left, 24) != ENTRY:
        raise Malformed("bad-entry-size")  # 007
    return Binary(left[:size], entry)


def read_image(binary: Binary, start: int) -> DecodedImage:
    """The image of a binary that begins at `start` of the buffer.

    OLP-CONT-014: of equal keys the last value counts. OLP-CONT-015: unknown kinds, producers and flags are kept.

    Raises:
        Malformed: its strings or its range are not inside it.
    """
    findings = set()
    strings: dict[bytes, bytes] = {}
    for key, value in read_strings(binary):
        if key in strings and key in meaningful_keys():
            findings.add("duplicate-key")
        strings[key] = value
    offset, size = image_range(binary)
    kind, producer = u16(binary.data, binary.entry), u16(binary.data, binary.entry + 2)
    if kind > 6 or producer & ~0b1111:
        findings.add("unknown-kind")
    return DecodedImage(
        binary=start,
        offset=start + offset,
        size=size,
        kind=kind,
        producer=producer,
        flags=u32(binary.data, binary.entry + 4),
        keys={key: value for key, value in strings.items() if key in meaningful_keys()},
        strings=strings,
        findings=frozenset(findings),
    )


def read_strings(binary: Binary) -> list[tuple[bytes, bytes]]:
    """Keys and values in the order of their records: OLP-CONT-008 to 010."""
    table, count = binary.field(8), binary.field(16)
    if count == 0:
        return []
    if table + RECORD * count > len(binary.data) or binary.touches_frame(table, RECORD * count):
        raise Malformed("bad-string-table")  # 008
    limit = min(64 * len(binary.data), 16 * MIB)
    total = 0
    made = []
    for record in range(table, table + RECORD * count, RECORD):
        pair = []
        for at in (record, record + 8):
            string = read_string(binary, u64(binary.data, at))
            total += len(string)
            if total > limit:
                raise Malformed("strings-too-long")  # 010
            pair.append(string)
        made.append((pair[0], pair[1]))
    return made


def read_string(binary: Binary, start: int) -> bytes:
    """OLP-CONT-009: a string begins inside, not in header or entry, and its zero byte follows inside."""
    if start >= len(binary.data) or binary.touches_frame(start, 1):
        raise Malformed("bad-string")
    end = binary.data.find(b"\0", start)
    if end < 0:
        raise Malformed("bad-string")
    return binary.data[start:end]


def image_range(binary: Binary) -> tuple[int, int]:
    """OLP-CONT-011: where the image lies in its binary."""
    offset, size = binary.field(24), binary.field(32)
    if offset + size > len(binary.data) or (size != 0 and binary.touches_frame(offset, size)):
        raise Malformed("bad-image-range")
    return offset, size
