"""Buffers of version 1 containers: well-formed, and hostile."""

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from olpick.conformance.builders import Binary, Entry
from olpick.conformance.builders.binary import FIELDS
from olpick.conformance.strategies.strings import strings

__all__ = ["Buffer", "binaries", "buffers", "damaged_buffers", "hostile_buffers"]

MAGIC: Final = b"\x10\xff\x10\xad"
EDGES: Final = (0, 1, 2**32, 2**60, 2**60 + 1, 2**63, 2**64 - 40, 2**64 - 16, 2**64 - 8, 2**64 - 1)
"""Values at which arithmetic goes wrong."""


@dataclass(frozen=True)
class Buffer:
    """Binaries, each at a multiple of 8, and other bytes as they are.

    Attributes:
        pieces: what follows what.
        cut: how many bytes of it all are there; None for all.
        flips: bytes that are overwritten at last: place, counted from the end where it is negative, and value.
    """

    pieces: tuple[Binary | bytes, ...]
    cut: int | None = None
    flips: tuple[tuple[int, int], ...] = ()

    def build(self) -> bytes:
        """The bytes."""
        made = bytearray()
        for piece in self.pieces:
            made += piece if isinstance(piece, bytes) else bytes(-len(made) % 8) + piece.build()
        for place, value in self.flips:
            if -len(made) <= place < len(made):
                made[place] = value
        return bytes(made[: self.cut])


def entries() -> st.SearchStrategy[Entry]:
    """What a binary holds."""
    return st.builds(
        Entry,
        image=st.binary(max_size=24),
        strings=strings(),
        kind=st.integers(0, 7) | st.integers(0, 2**16 - 1),
        producer=st.integers(0, 16) | st.integers(0, 2**16 - 1),
        flags=st.integers(0, 2**32 - 1),
    )


def binaries() -> st.SearchStrategy[Binary]:
    """Well-formed binaries in every layout that section 1 allows."""
    return st.builds(
        Binary,
        entry=entries(),
        gap=st.integers(0, 2).map(lambda count: b"GAP BYTE" * count),
        tail=st.sampled_from((b"", b"!", bytes(7), b"tail end")),
        merged=st.booleans(),
    )


def padding() -> st.SearchStrategy[bytes]:
    """Zero bytes that may stand between binaries."""
    return st.integers(0, 3).map(lambda count: bytes(8 * count))


@st.composite
def buffers(draw: st.DrawFn) -> Buffer:
    """Well-formed buffers: binaries and padding."""
    pieces: list[Binary | bytes] = []
    for binary in draw(st.lists(binaries(), min_size=1, max_size=3)):
        made = binary.build()
        # Padding counts in groups of 8 from a multiple of 8.
        pieces += [binary, bytes(-len(made) % 8) + draw(padding())]
    pieces.append(bytes(draw(st.integers(0, 7))))
    return Buffer(tuple(pieces))


@st.composite
def wrong_binaries(draw: st.DrawFn) -> Binary:
    """Binaries with fields and string offsets at the edges of what is allowed, on either side."""
    binary = draw(binaries())
    right, size = binary.fields(), binary.size()
    places = (size, right["entry_offset"], right["string_offset"], right["image_offset"])
    near = st.builds(
        int.__add__, st.sampled_from((*places, 32, 40, 72)), st.sampled_from((-40, -16, -8, -1, 0, 1, 8, 40))
    )
    value = st.sampled_from(EDGES) | near.map(lambda number: max(number, 0)) | st.integers(0, size + 1)
    fields = draw(st.lists(st.tuples(st.sampled_from(FIELDS[1:]), value), max_size=3))
    # Version and entry size hide all other faults.
    chosen = {name: number for name, number in fields if name not in ("version", "entry_size")}
    if draw(st.integers(0, 9)) == 9:
        chosen = dict(fields)
    count = 2 * len(binary.entry.strings)
    places_of_strings = st.tuples(st.integers(0, count - 1), value) if count else st.nothing()
    records = draw(st.lists(places_of_strings, max_size=2)) if count else []
    return Binary(binary.entry, binary.gap, binary.tail, binary.merged, tuple(chosen.items()), tuple(records))


def junk() -> st.SearchStrategy[bytes]:
    """Bytes between binaries that are no binary, or begin like one."""
    begun = st.integers(1, 4).map(lambda count: MAGIC[:count])
    return padding() | st.integers(0, 15).map(bytes) | st.binary(max_size=12) | begun


def hostile_buffers() -> st.SearchStrategy[Buffer]:
    """Buffers in which binaries, padding and the end may be wrong."""
    piece = binaries() | wrong_binaries() | junk()
    return st.builds(Buffer, st.lists(piece, min_size=1, max_size=4).map(tuple), cut=st.none() | st.integers(0, 400))


def damaged_buffers() -> st.SearchStrategy[Buffer]:
    """Well-formed buffers with some bytes overwritten, most of them in the first header, entry and records."""
    place = st.integers(0, 71) | st.integers(-200, 400)
    flips = st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=4).map(tuple)
    return st.builds(lambda buffer, flips: Buffer(buffer.pieces, None, flips), buffers(), flips)
