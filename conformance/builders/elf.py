"""A writer of ELF files, small enough to be read in a hex dump."""

import struct
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["Elf", "Segment", "dynamic", "isa_note", "note", "properties", "shared_object"]

PT_LOAD: Final = 1
PT_DYNAMIC: Final = 2
PT_NOTE: Final = 4
PT_GNU_PROPERTY: Final = 0x6474E553
DT_FLAGS_1: Final = 0x6FFFFFFB
DF_1_PIE: Final = 0x08000000
ISA_1_NEEDED: Final = 0xC0008002
MACHINE: Final = 62


@dataclass(frozen=True)
class Segment:
    """A program header and the bytes that it covers; None for a field that follows from them."""

    type: int = PT_LOAD
    data: bytes = b""
    align: int = 8
    offset: int | None = None
    filesz: int | None = None
    memsz: int | None = None


@dataclass(frozen=True)
class Elf:
    """An ELF header with its program headers, the bytes of the segments after them."""

    segments: tuple[Segment, ...] = (Segment(),)
    ei_class: int = 2
    ei_data: int = 1
    ei_version: int = 1
    type: int = 3
    machine: int = MACHINE
    phoff: int = 64
    phentsize: int = 56
    phnum: int | None = None
    size: int | None = None

    def but(self, **changes: int) -> "Elf":
        """The same with fields of the header changed, or cut to a size."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def build(self) -> bytes:
        """The bytes."""
        order = ">" if self.ei_data == 2 else "<"
        phnum = len(self.segments) if self.phnum is None else self.phnum
        ident = bytes((0x7F, 0x45, 0x4C, 0x46, self.ei_class, self.ei_data, self.ei_version)).ljust(16, b"\0")
        header = ident + struct.pack(
            order + "HHIQQQIHHHHHH", self.type, self.machine, 1, 0, self.phoff, 0, 0, 64, self.phentsize, phnum, 0, 0, 0
        )
        at = 64 + 56 * len(self.segments)
        headers, contents = b"", b""
        for segment in self.segments:
            offset = at + len(contents) if segment.offset is None else segment.offset
            filesz = len(segment.data) if segment.filesz is None else segment.filesz
            memsz = filesz if segment.memsz is None else segment.memsz
            headers += struct.pack(
                order + "IIQQQQQQ", segment.type, 4, offset, offset, offset, filesz, memsz, segment.align
            )
            contents += segment.data + bytes(-len(segment.data) % 8)
        made = header + headers + contents
        return made if self.size is None else made[: self.size].ljust(self.size, b"\0")


def dynamic(*entries: tuple[int, int], align: int = 8) -> Segment:
    """A PT_DYNAMIC of these tags and values; DT_NULL is not added."""
    return Segment(PT_DYNAMIC, b"".join(struct.pack("<QQ", tag, value) for tag, value in entries), align)


def properties(*rows: tuple[int, bytes]) -> bytes:
    """The descriptor of a property note: types and data, each padded to 8."""
    return b"".join(struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8) for kind, data in rows)


def note(descriptor: bytes, *, name: bytes = b"GNU\0", kind: int = 5, align: int = 8) -> bytes:
    """One note, padded for a segment of that alignment if the notes before it are."""
    head = struct.pack("<III", len(name), len(descriptor), kind) + name
    head += bytes(-len(head) % align)
    return head + descriptor + bytes(-len(descriptor) % align)


def isa_note(bits: int, *, align: int = 8) -> bytes:
    """A note that asks for the levels of these bits."""
    return note(properties((ISA_1_NEEDED, bits.to_bytes(4, "little"))), align=align)


def shared_object(level: int = 0, *, payload: bytes = b"") -> bytes:
    """A well-formed host image; with a level, 1 to 4, its note asks for that."""
    segments = [Segment(PT_LOAD, payload)]
    if level:
        segments.append(Segment(PT_NOTE, isa_note(1 << (level - 1))))
    return Elf(tuple(segments)).build()
