"""Section 2, the host ELF: OLP-FACT-002 and 003."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from olpick.conformance.model.container import round_up
from olpick.conformance.model.numbers import u16, u32, u64

PT_LOAD: Final = 1
PT_DYNAMIC: Final = 2
PT_NOTE: Final = 4
PT_GNU_PROPERTY: Final = 0x6474E553
DT_FLAGS_1: Final = 0x6FFFFFFB
DF_1_PIE: Final = 0x08000000
NT_GNU_PROPERTY_TYPE_0: Final = 5
ISA_1_NEEDED: Final = 0xC0008002


@dataclass
class Segment:
    """One program header."""

    type: int
    offset: int
    filesz: int
    memsz: int
    align: int


def segments(data: bytes) -> list[Segment] | None:
    """The program headers of an ELF of at least 64 bytes; None where OLP-FACT-002 does not let them be read."""
    phoff, phentsize, phnum = u64(data, 32), u16(data, 54), u16(data, 56)
    if phentsize != 56 or not 1 <= phnum <= 128 or phoff + phnum * 56 > len(data):
        return None
    places = range(phoff, phoff + phnum * 56, 56)
    return [
        Segment(u32(data, at), u64(data, at + 8), u64(data, at + 32), u64(data, at + 40), u64(data, at + 48))
        for at in places
    ]


def well_formed(data: bytes) -> bool:
    """OLP-FACT-002, for bytes of the form `host-elf`."""
    if len(data) < 64 or data[4] != 2 or data[6] != 1 or u16(data, 16) != 3:
        return False
    found = segments(data)
    if found is None or not any(segment.type == PT_LOAD for segment in found):
        return False
    return all(segment_fits(data, segment) for segment in found) and not is_pie(data, found)


def segment_fits(data: bytes, segment: Segment) -> bool:
    """Whether a segment that matters lies inside the bytes, and a PT_LOAD inside its memory."""
    if segment.type not in (PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_GNU_PROPERTY):
        return True
    if segment.type == PT_LOAD and segment.filesz > segment.memsz:
        return False
    return segment.offset + segment.filesz <= len(data)


def is_pie(data: bytes, found: list[Segment]) -> bool:
    """Whether a DT_FLAGS_1 before DT_NULL has DF_1_PIE."""
    for segment in found:
        if segment.type != PT_DYNAMIC:
            continue
        for at in range(segment.offset, segment.offset + segment.filesz - 15, 16):
            tag = u64(data, at)
            if tag == 0:
                break
            if tag == DT_FLAGS_1 and u64(data, at + 8) & DF_1_PIE:
                return True
    return False


def level_needed(data: bytes) -> tuple[int, bool]:
    """OLP-FACT-003: the level that the notes of a well-formed image ask for (0: none), and whether one is bad."""
    level, bad = 0, False
    for segment in segments(data) or ():
        if segment.type not in (PT_NOTE, PT_GNU_PROPERTY):
            continue
        notes = data[segment.offset : segment.offset + segment.filesz]
        try:
            for bits in isa_needed(notes, 8 if segment.align == 8 else 4):
                level = max(level, (bits & 0b1111).bit_length())
        except BadNote:
            bad = True
    return level, bad


class BadNote(Exception):  # noqa: N818 - the specification's own word
    """A note or property that does not fit where it stands."""


def isa_needed(notes: bytes, align: int) -> Iterator[int]:
    """The values of the property in one segment, up to the first note or property that is bad."""
    at = 0
    while at < len(notes):
        if at + 12 > len(notes):
            raise BadNote
        namesz, descsz, kind = u32(notes, at), u32(notes, at + 4), u32(notes, at + 8)
        name_end = at + 12 + namesz
        descriptor = round_up(name_end, align)
        if name_end > len(notes) or (descsz > 0 and descriptor + descsz > len(notes)):
            raise BadNote
        if notes[at + 12 : name_end] == b"GNU\0" and kind == NT_GNU_PROPERTY_TYPE_0:
            yield from properties(notes[descriptor : descriptor + descsz])
        at = round_up(descriptor + descsz, align)


def properties(descriptor: bytes) -> Iterator[int]:
    """The values of the property in one note."""
    at = 0
    while at < len(descriptor):
        if at + 8 > len(descriptor):
            raise BadNote
        kind, size = u32(descriptor, at), u32(descriptor, at + 4)
        if at + 8 + size > len(descriptor):
            raise BadNote
        if kind == ISA_1_NEEDED and size == 4:
            yield u32(descriptor, at + 8)
        at = round_up(at + 8 + size, 8)
