"""Host ELF files: with notes, and broken."""

import struct
from dataclasses import replace
from typing import Final

from hypothesis import strategies as st
from olpick.conformance.builders import Elf, Segment, dynamic, note
from olpick.conformance.builders.elf import (
    DF_1_PIE,
    DT_FLAGS_1,
    ISA_1_NEEDED,
    PT_DYNAMIC,
    PT_GNU_PROPERTY,
    PT_LOAD,
    PT_NOTE,
    properties,
)

__all__ = ["broken_elves", "host_elves", "noted_elves"]

LOAD: Final = Segment()
EDGES: Final = (0, 1, 2**32, 2**63, 2**64 - 56, 2**64 - 16, 2**64 - 1)

_bits: Final = st.integers(0, 15) | st.sampled_from((16, 18, 2**31, 2**32 - 1))
_align: Final = st.sampled_from((8, 8, 4, 4, 0, 1, 16))


def isa_properties() -> st.SearchStrategy[bytes]:
    """Descriptors of property notes: the one that counts, others, and odd ones."""
    needed = st.tuples(st.just(ISA_1_NEEDED), _bits.map(lambda bits: bits.to_bytes(4, "little")))
    other = st.tuples(st.sampled_from((0, 0xC0000002, 0xC0010002, ISA_1_NEEDED)), st.binary(max_size=9))
    whole = st.lists(needed | other, max_size=3).map(lambda rows: properties(*rows))
    cut = st.builds(lambda data, less: data[: max(len(data) - less, 0)], whole, st.integers(1, 9))
    return whole | whole | cut


def notes(align: int) -> st.SearchStrategy[bytes]:
    """One note, padded for the alignment."""
    name = st.sampled_from((b"GNU\0", b"GNU\0", b"GNU\0", b"ABC\0", b"GNUX\0", b"", b"G\0", b"GNU\0\0"))
    kind = st.sampled_from((5, 5, 5, 1, 0))
    return st.builds(
        lambda data, name, kind: note(data, name=name, kind=kind, align=align), isa_properties(), name, kind
    )


@st.composite
def note_segments(draw: st.DrawFn) -> Segment:
    """A segment of notes. Some are padded for another alignment than it says, or do not end inside it."""
    align = draw(_align)
    padded = draw(st.sampled_from((8 if align == 8 else 4,) * 4 + (4, 8)))
    data = b"".join(draw(st.lists(notes(padded), min_size=1, max_size=3)))
    if draw(st.integers(0, 4)) == 4:
        data = data[: draw(st.integers(0, len(data)))]
    if draw(st.integers(0, 6)) == 6 and len(data) >= 12:
        at, value = draw(st.sampled_from((0, 4))), draw(st.integers(0, 64) | st.sampled_from((2**31, 2**32 - 1)))
        data = data[:at] + struct.pack("<I", value) + data[at + 4 :]
    return Segment(draw(st.sampled_from((PT_NOTE, PT_NOTE, PT_GNU_PROPERTY))), data, align)


def dynamic_segments() -> st.SearchStrategy[Segment]:
    """A PT_DYNAMIC, sometimes that of a position-independent executable."""
    flags = st.tuples(st.just(DT_FLAGS_1), st.sampled_from((0, 1, DF_1_PIE, DF_1_PIE | 1)))
    other = st.tuples(st.sampled_from((0, 5, 30)), st.sampled_from((0, DF_1_PIE)))
    return st.lists(other | flags, max_size=4).map(lambda entries: dynamic(*entries))


def host_elves() -> st.SearchStrategy[Elf]:
    """Well-formed images; with a note that asks for one level, or none."""
    plain = st.just(Elf())
    level = st.integers(1, 4).map(lambda level: note(properties((ISA_1_NEEDED, struct.pack("<I", 1 << (level - 1))))))
    return plain | level.map(lambda data: Elf((LOAD, Segment(PT_NOTE, data))))


def noted_elves() -> st.SearchStrategy[Elf]:
    """Images with a PT_LOAD and any notes and dynamic entries."""
    some = st.lists(note_segments() | dynamic_segments(), max_size=3)
    return some.map(lambda segments: Elf((LOAD, *segments)))


@st.composite
def broken_elves(draw: st.DrawFn) -> Elf:
    """Images with one or two things at the edge of what OLP-FACT-002 allows, on either side."""
    made = draw(noted_elves())
    size = len(made.build())
    number = st.sampled_from(EDGES) | st.integers(max(size - 60, 0), size + 1) | st.integers(0, 128)
    for _ in range(draw(st.integers(1, 2))):
        what = draw(st.sampled_from(("header", "segment", "segment", "phnum", "size", "none")))
        if what == "header":
            field, values = draw(st.sampled_from(_HEADER))
            made = made.but(**{field: draw(st.sampled_from(values))})
        elif what == "segment":
            made = replace(made, segments=_broken(draw, made.segments, number))
        elif what == "phnum":
            made = made.but(phnum=draw(st.integers(0, len(made.segments) + 1) | st.sampled_from((128, 129, 65535))))
        elif what == "size":
            made = made.but(size=draw(st.integers(0, size)))
        else:
            made = replace(made, segments=made.segments[1:])
    return made


_HEADER: Final = (
    ("ei_class", (0, 1, 2)),
    ("ei_data", (0, 1, 2)),
    ("ei_version", (0, 1, 2)),
    ("type", (0, 1, 2, 3, 4)),
    ("machine", (62, 190, 224, 205, 3, 62 << 8)),
    ("phoff", (0, 32, 63, 64, 65, 2**63, 2**64 - 56, 2**64 - 1)),
    ("phentsize", (0, 55, 56, 57, 64)),
)


def _broken(draw: st.DrawFn, segments: tuple[Segment, ...], number: st.SearchStrategy[int]) -> tuple[Segment, ...]:
    if not segments:
        return ()
    place = draw(st.integers(0, len(segments) - 1))
    changed = replace(
        segments[place],
        type=draw(st.sampled_from((segments[place].type, PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_GNU_PROPERTY, 6))),
        offset=draw(st.none() | number),
        filesz=draw(st.none() | number),
        memsz=draw(st.none() | number),
    )
    return (*segments[:place], changed, *segments[place + 1 :])
