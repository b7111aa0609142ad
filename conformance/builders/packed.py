"""A writer of compressed version 3 binaries.

The payloads are put together by hand, of blocks that are stored or repeat one byte, so that they are the same bytes
whatever zlib and zstd there are.
"""

import struct
import zlib
from dataclasses import dataclass, replace
from typing import Final

from olpick.conformance.builders.binary import HEADER_FIELDS, Binary

__all__ = ["PACKINGS", "Packed", "zlib_stored", "zstd_frame"]

ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
BLOCK: Final = 128 * 1024
"""The largest block of a zstd frame."""


def zlib_stored(data: bytes) -> bytes:
    """A zlib stream of stored blocks."""
    blocks = [data[at : at + 0xFFFF] for at in range(0, len(data), 0xFFFF)] or [b""]
    made = b"\x78\x01"
    for number, block in enumerate(blocks):
        last = number == len(blocks) - 1
        made += struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block
    return made + struct.pack(">I", zlib.adler32(data))


def zlib_smaller(data: bytes) -> bytes:
    """A zlib stream as this machine's zlib makes it; not for what is compared byte by byte."""
    return zlib.compress(data, 9)


def zstd_frame(data: bytes, *, sized: bool = True) -> bytes:
    """A zstd frame of raw blocks and of such that repeat one byte; `sized`: whether it states its size."""
    # Either 8 bytes of content size and one segment, or a window of 8 MiB and no size.
    head = ZSTD_MAGIC + (b"\xe0" + struct.pack("<Q", len(data)) if sized else b"\x00\x68")
    return head + _blocks(data)


def _blocks(data: bytes) -> bytes:
    blocks: list[tuple[int, int, bytes]] = []
    for at in range(0, len(data), BLOCK):
        part = data[at : at + BLOCK]
        repeats = len(part) > 1 and part == part[:1] * len(part)
        blocks.append((1, len(part), part[:1]) if repeats else (0, len(part), part))
    blocks = blocks or [(0, 0, b"")]
    made = b""
    for number, (kind, size, held) in enumerate(blocks):
        made += (size << 3 | kind << 1 | (number == len(blocks) - 1)).to_bytes(3, "little") + held
    return made


def zstd_unsized(data: bytes) -> bytes:
    """A zstd frame that does not state its size."""
    return zstd_frame(data, sized=False)


PACKINGS: Final = {
    "zlib": zlib_stored,
    "zlib-smaller": zlib_smaller,
    "zstd": zstd_frame,
    "zstd-unsized": zstd_unsized,
}
"""The ways to make a payload, by name."""


@dataclass(frozen=True)
class Packed:
    """A compressed binary, and what is wrong with it.

    Attributes:
        binary: what it inflates to, of version 3. What is wrong with it is so when it is inflated.
        packing: how the payload is made, a word of `PACKINGS`.
        cut: how many bytes the payload lacks at its end.
        after: bytes that stand after it, inside Size.
        flips: bytes of the payload that are overwritten: place, counted from its end where negative, and value.
        wrong: fields of the header that are overwritten at last, with their values.
        payload: other bytes to stand for the payload.
    """

    binary: Binary
    packing: str = "zlib"
    cut: int = 0
    after: bytes = b""
    flips: tuple[tuple[int, int], ...] = ()
    wrong: tuple[tuple[str, int], ...] = ()
    payload: bytes | None = None

    def but(self, **fields: int) -> "Packed":
        """The same with fields of the header overwritten."""
        return replace(self, wrong=(*self.wrong, *fields.items()))

    def build(self) -> bytes:
        """The bytes."""
        whole = self.binary.build()
        start = self.binary.header + len(self.binary.gap)
        payload = bytearray(PACKINGS[self.packing](whole[start:]) if self.payload is None else self.payload)
        for place, value in self.flips:
            if -len(payload) <= place < len(payload):
                payload[place] = value
        payload = payload[: max(len(payload) - self.cut, 0)] + self.after
        made = bytearray(whole[:start] + payload)
        for name, value in {"size": len(made), "inflated_size": len(whole), **dict(self.wrong)}.items():
            at, width = HEADER_FIELDS[name]
            made[at : at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        return bytes(made)
