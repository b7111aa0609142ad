"""Buffers in which something is wrong: fields at the edges of what is allowed, payloads, nesting, bytes at random."""

from dataclasses import replace
from typing import Final

from hypothesis import strategies as st
from olpick.conformance.builders import Binary, Entry, Packed
from olpick.conformance.builders.binary import FIELDS
from olpick.conformance.strategies.containers import Buffer, Piece, binaries, buffers, packed, padding

__all__ = ["damaged_buffers", "hostile_buffers", "nested_buffers", "wrong_binaries", "wrong_packed"]

MAGIC: Final = b"\x10\xff\x10\xad"
EDGES: Final = (
    *(0, 1, 2**32, 2**60, 2**60 + 1, 2**61, 2**61 + 1, 2**63, 2**64 // 40, 2**64 // 24, 2**64 // 24 + 1),
    *(2**64 - 40, 2**64 - 24, 2**64 - 16, 2**64 - 8, 2**64 - 1),
)
"""Values at which arithmetic goes wrong."""
NEAR: Final = (-40, -24, -16, -8, -1, 0, 1, 8, 24, 40)
GIB: Final = 2**30


def _values(places: tuple[int, ...], size: int) -> st.SearchStrategy[int]:
    near = st.builds(int.__add__, st.sampled_from((*places, 32, 40, 72, 80)), st.sampled_from(NEAR))
    return st.sampled_from(EDGES) | near.map(lambda number: max(number, 0)) | st.integers(0, size + 1)


@st.composite
def wrong_binaries(draw: st.DrawFn) -> Binary:
    """Binaries with fields and records at the edges of what is allowed, on either side."""
    binary = draw(binaries())
    right, size = binary.fields(), binary.size()
    places = (size, *(right[name] for name in ("entry_offset", "string_offset", "image_offset")))
    value = _values(places, size)
    names = [f"{number}.{name}" if number else name for number in range(len(binary.entries)) for name in FIELDS]
    names += ["size", "entry_offset"]
    fields = dict(draw(st.lists(st.tuples(st.sampled_from(names), value), max_size=3)))
    # These hide all other faults.
    if draw(st.integers(0, 9)) == 9:
        count = "entry_size" if binary.version == 1 else "entry_count"
        name = draw(st.sampled_from((count, count, "version")))
        fields[name] = draw(value | st.integers(0, 5))
    elif binary.version > 1 and draw(st.booleans()):
        fields["entry_count"] = draw(st.integers(1, len(binary.entries)))
    words = binary.words * (len(binary.entry.strings) if binary.shared else right_records(right))
    records = st.lists(st.tuples(st.integers(0, words - 1), value), max_size=2) if words else st.just([])
    return replace(binary, wrong=tuple(fields.items()), records=tuple(draw(records)))


def right_records(fields: dict[str, int]) -> int:
    """How many string records all entries name."""
    return sum(value for name, value in fields.items() if name.rpartition(".")[2] == "num_strings")


@st.composite
def wrong_packed(draw: st.DrawFn) -> Packed:
    """Compressed binaries whose payload, header or inside is wrong."""
    made = draw(packed())
    size, inflated = len(made.build()), made.binary.size()
    what = draw(st.integers(0, 7))
    if what == 0:
        made = replace(made, cut=draw(st.integers(1, 40)))
    elif what == 1:
        made = replace(made, after=draw(st.sampled_from((b"!", b"\0", bytes(8), made.build()[40:]))))
    elif what == 2:
        made = replace(
            made, flips=tuple(draw(st.lists(st.tuples(st.integers(-8, 12), st.integers(0, 255)), min_size=1)))
        )
    elif what == 3:
        made = replace(made, payload=draw(st.binary(min_size=1, max_size=40)))
    elif what == 4:
        edges = (*EDGES, GIB, GIB + 1, 79, 80, size, inflated - 1, inflated + 1)
        made = made.but(inflated_size=draw(st.sampled_from(edges)))
    elif what == 5:
        name = draw(st.sampled_from(("size", "entry_offset", "entry_count")))
        made = made.but(**{name: draw(_values((size, inflated), size))})
    else:
        binary = draw(wrong_binaries().filter(lambda binary: binary.version == 3))
        made = replace(made, binary=binary)
    return made


def junk() -> st.SearchStrategy[bytes]:
    """Bytes between binaries that are no binary, or begin like one."""
    begun = st.integers(1, 4).map(lambda count: MAGIC[:count])
    return padding() | st.integers(0, 15).map(bytes) | st.binary(max_size=12) | begun


def hostile_pieces() -> st.SearchStrategy[Piece]:
    """What stands in a buffer, right or wrong."""
    return binaries() | wrong_binaries() | wrong_binaries() | wrong_packed() | junk()


def hostile_buffers() -> st.SearchStrategy[Buffer]:
    """Buffers in which binaries, padding and the end may be wrong."""
    pieces = st.lists(hostile_pieces(), min_size=1, max_size=4).map(tuple)
    return st.builds(Buffer, pieces, cut=st.none() | st.none() | st.integers(0, 600))


@st.composite
def nested_buffers(draw: st.DrawFn) -> Buffer:
    """Containers nested up to six levels deep, with other images beside them, and malformed at any level."""
    inner = draw(hostile_buffers() | buffers()).build()
    beside = st.lists(st.binary(max_size=8) | st.just(MAGIC) | st.just(inner), max_size=2)
    binary: Binary | Packed = Binary(Entry(inner), version=2)
    for _ in range(draw(st.integers(1, 5))):
        images = [*draw(beside), inner, *draw(beside)]
        version = draw(st.sampled_from((1, 2, 3, 3)))
        shown = tuple(Entry(image, flags=draw(st.sampled_from((0, 0, 0, 1)))) for image in images)
        more = () if version == 1 else shown[1:]
        binary = Binary(shown[0] if more else Entry(inner), version=version, more=more, shift=draw(st.integers(0, 7)))
        if version == 3 and draw(st.booleans()):
            binary = Packed(binary, draw(st.sampled_from(("zlib", "zlib-smaller", "zstd"))))
        inner = binary.build()
        if len(inner) > 1 << 14:
            break
    return Buffer((*draw(st.lists(binaries(), max_size=1)), binary, *draw(st.lists(hostile_pieces(), max_size=1))))


def damaged_buffers() -> st.SearchStrategy[Buffer]:
    """Well-formed buffers with some bytes overwritten, most of them in the first header, entry and records."""
    place = st.integers(0, 79) | st.integers(-200, 400)
    flips = st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=4).map(tuple)
    whole = buffers() | buffers(levels=2)
    return st.builds(lambda buffer, flips: Buffer(buffer.pieces, None, flips), whole, flips)
