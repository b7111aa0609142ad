"""Section 2: the host ELF, OLP-FACT-002 and 003. The device is a Haswell or a Skylake-AVX512 server."""

import struct
from typing import Any, Final

from olpick.conformance.builders import Elf, Segment, dynamic, isa_note, note
from olpick.conformance.builders.elf import DF_1_PIE, DT_FLAGS_1, ISA_1_NEEDED, PT_GNU_PROPERTY, PT_NOTE, properties
from olpick.conformance.vectors.cases.writing import Group, image

__all__ = ["host_elf_groups"]

HASWELL: Final = {"cpu": "haswell"}
SKX: Final = {"cpu": "skylake-avx512"}
M64: Final = 2**64


def host_elf_groups() -> list[Group]:
    """The groups of this module, in the order of their numbers."""
    return [_well_formed(), _note()]


def _well_formed() -> Group:
    group = Group("OLP-FACT-002")
    load, end = Segment(), len(Elf((Segment(), Segment())).build())

    def whole(name: str, comment: str, made: Elf, flags: str = "") -> None:
        group.chooses(name, comment, [image(made.build())], HASWELL, "selected generic 1 =host-elf", flags=flags)

    def broken(name: str, comment: str, made: Elf, flags: str = "") -> None:
        flags = f"Negative {flags}"
        group.chooses(name, comment, [image(made.build())], HASWELL, "rejected malformed-image =host-elf", flags=flags)

    whole("least", "an ELF header and one PT_LOAD", Elf())
    broken("63-bytes", "one byte less than an ELF header", Elf().but(size=63), "Boundary")
    broken("64-bytes", "an ELF header alone", Elf().but(size=64), "Boundary")
    broken("32-bit", "EI_CLASS 1", Elf().but(ei_class=1))
    broken("class-0", "EI_CLASS 0", Elf().but(ei_class=0))
    broken("version-0", "EI_VERSION 0", Elf().but(ei_version=0))
    broken("version-2", "EI_VERSION 2", Elf().but(ei_version=2))
    for value, what in ((0, "no type"), (1, "a relocatable file"), (2, "an executable"), (4, "a core file")):
        broken(f"type-{value}", what, Elf().but(type=value))
    broken("phentsize-55", "e_phentsize 55", Elf().but(phentsize=55))
    broken("phentsize-64", "e_phentsize 64", Elf().but(phentsize=64))
    broken("phnum-0", "no program headers", Elf().but(phnum=0), "Boundary")
    whole("phnum-128", "128 program headers", Elf((load,) * 128), "Boundary")
    broken("phnum-129", "129 program headers", Elf((load,) * 129), "Boundary")
    broken("phnum-past-end", "one more than there are bytes for", Elf().but(phnum=2), "Boundary")
    broken("phoff-past-end", "one byte past the end", Elf().but(phoff=65), "Boundary")
    broken("phoff-wraps", "the end of the headers wraps to 0", Elf().but(phoff=M64 - 56), "Wrap")
    broken("no-load", "no PT_LOAD", Elf((Segment(6),)))

    whole("load-to-the-end", "a PT_LOAD that ends the file", Elf((Segment(data=b"code" * 2),)), "Boundary")
    for name, kind in (("load", 1), ("dynamic", 2), ("note", 4), ("property", PT_GNU_PROPERTY)):
        past = Segment(kind, offset=end - 15, filesz=16)
        broken(f"{name}-past-end", f"segment type {kind:#x}, one byte past the end", Elf((load, past)), "Boundary")
        wraps = Segment(kind, offset=M64 - 16, filesz=16)
        broken(f"{name}-wraps", f"segment type {kind:#x}, its end wraps to 0", Elf((load, wraps)), "Wrap")
        outside = Segment(kind, offset=end + 1, filesz=0)
        broken(
            f"{name}-empty-past-end",
            f"segment type {kind:#x}, no bytes, past the end",
            Elf((load, outside)),
            "Boundary",
        )
    whole(
        "empty-at-end", "a PT_LOAD without bytes at the end", Elf((Segment(offset=120, filesz=0, memsz=8),)), "Boundary"
    )
    whole(
        "other-past-end", "other segment types do not matter", Elf((load, Segment(6, offset=M64 - 1, filesz=M64 - 1)))
    )
    broken(
        "filesz-over-memsz",
        "a PT_LOAD with more bytes than memory",
        Elf((Segment(data=bytes(8), memsz=7),)),
        "Boundary",
    )
    whole("bss", "a PT_LOAD with more memory than bytes", Elf((Segment(data=bytes(8), memsz=9),)))
    whole("note-memsz", "memory does not matter in a PT_NOTE", Elf((load, Segment(PT_NOTE, b"", memsz=0))))

    pie, null = (DT_FLAGS_1, DF_1_PIE), (0, 0)
    broken("pie", "DF_1_PIE", Elf((load, dynamic(pie, null))))
    broken(
        "pie-other-bits", "DF_1_PIE among other bits", Elf((load, dynamic((30, 8), (DT_FLAGS_1, DF_1_PIE | 1), null)))
    )
    broken("pie-last", "it is the last entry, without DT_NULL", Elf((load, dynamic((30, 8), pie))), "Boundary")
    broken("pie-second-entry", "the second DT_FLAGS_1 has it", Elf((load, dynamic((DT_FLAGS_1, 1), pie, null))))
    broken("pie-second-segment", "the second PT_DYNAMIC has it", Elf((load, dynamic(null), dynamic(pie))))
    whole("not-pie", "DT_FLAGS_1 without DF_1_PIE", Elf((load, dynamic((DT_FLAGS_1, 1), null))))
    whole("pie-after-null", "after DT_NULL", Elf((load, dynamic(null, pie))), "Boundary")
    whole("flags", "the bit in DT_FLAGS", Elf((load, dynamic((30, DF_1_PIE), null))))
    cut = Segment(2, struct.pack("<QQ", *pie), filesz=15)
    whole("pie-cut", "an entry of 15 bytes is none", Elf((load, cut)), "Boundary")
    return group


def _noted(*parts: bytes, kind: int = PT_NOTE, align: int = 8) -> Segment:
    return Segment(kind, b"".join(parts), align)


def _note() -> Group:
    group = Group("OLP-FACT-003")

    def level(
        name: str, comment: str, want: int, *segments: Segment, bad: bool = False, flags: str = "", **more: Any
    ) -> None:
        reason = "cpu-level" if want > 1 else "generic"
        verdict = f"selected {reason} 1 =host-elf @{want}{' +bad-note' if bad else ''}"
        data = Elf((Segment(), *segments)).build()
        group.chooses(name, comment, [image(data)], SKX, verdict, flags=flags, **more)

    value = ISA_1_NEEDED
    for bits, want in ((1, 1), (2, 2), (4, 3), (8, 4), (5, 3), (15, 4), (0x13, 2)):
        level(f"bits-{bits:x}", f"bits {bits:#x}", want, _noted(isa_note(bits)))
    level("none", "no note", 0, flags="Negative")
    level("bits-0", "no bits", 0, _noted(isa_note(0)), flags="Negative")
    level("bits-10", "bits that are not judged", 0, _noted(isa_note(0xFFFF_FFF0)), flags="Negative")
    level("two-notes", "the highest over all notes", 4, _noted(isa_note(8), isa_note(2)))
    level("two-segments", "the highest over all segments", 4, _noted(isa_note(8)), _noted(isa_note(2)))
    level("property-segment", "in a PT_GNU_PROPERTY", 3, _noted(isa_note(4), kind=PT_GNU_PROPERTY))
    level("other-segment", "in a PT_LOAD alone", 0, Segment(1, isa_note(4)), flags="Negative")
    level(
        "align-4", "a segment aligned to 4", 3, _noted(note(b"", align=4, name=b"abcd"), isa_note(4, align=4), align=4)
    )
    # A name of 5 bytes makes the descriptor begin at 20 with an alignment of 4, and at 24 with one of 8.
    other = b"abcd\0"
    level(
        "align-0",
        "an alignment of 0 counts as 4",
        3,
        _noted(note(b"", align=4, name=other), isa_note(4, align=4), align=0),
    )
    level(
        "align-16",
        "an alignment of 16 counts as 4",
        3,
        _noted(note(b"", align=4, name=other), isa_note(4, align=4), align=16),
    )
    level("align-8", "other notes before it, aligned to 8", 3, _noted(note(b"abc", align=8, name=other), isa_note(4)))
    level(
        "other-property-first",
        "another property before it",
        3,
        _noted(note(properties((0xC0000002, b"\3\0\0\0"), (value, b"\4\0\0\0")))),
    )
    level(
        "odd-property-first",
        "one of 1 byte before it: padded to 8",
        3,
        _noted(note(properties((7, b"\1"), (value, b"\4\0\0\0")))),
    )
    level(
        "not-padded",
        "the padding of the last property is not there",
        3,
        _noted(note(properties((value, b"\4\0\0\0"))[:12])),
        flags="Boundary",
    )

    level(
        "other-name",
        "a note of another name",
        0,
        _noted(note(properties((value, b"\4\0\0\0")), name=b"ABC\0")),
        flags="Negative",
    )
    level(
        "other-type",
        "a note of another type",
        0,
        _noted(note(properties((value, b"\4\0\0\0")), kind=1)),
        flags="Negative",
    )
    level(
        "longer-name",
        "a name that begins so",
        0,
        _noted(note(properties((value, b"\4\0\0\0")), name=b"GNUX\0")),
        flags="Negative",
    )
    level(
        "name-not-ended",
        "a name of 3 bytes, GNU",
        0,
        _noted(note(properties((value, b"\4\0\0\0")), name=b"GNU")),
        open_to_reading=True,
    )
    level("used", "ISA used, not needed", 0, _noted(note(properties((0xC0010002, b"\4\0\0\0")))), flags="Negative")
    level(
        "8-bytes", "a property of 8 bytes", 0, _noted(note(properties((value, b"\4\0\0\0\0\0\0\0")))), flags="Negative"
    )

    good = isa_note(2)
    level("head-cut", "11 bytes where a note begins", 2, _noted(good, bytes(11)), bad=True, flags="Negative Boundary")
    level("zero-note", "12 zero bytes are an empty note", 2, _noted(good, bytes(12)), flags="Boundary")
    level(
        "name-cut",
        "a name past the segment",
        0,
        _noted(struct.pack("<III", 5, 0, 5) + b"GNU\0"),
        bad=True,
        flags="Negative Boundary",
    )
    level(
        "name-huge",
        "a name of 2^32 - 1 bytes",
        2,
        _noted(good, struct.pack("<III", 2**32 - 1, 2**32 - 1, 5)),
        bad=True,
        flags="Negative Wrap",
    )
    level(
        "descriptor-cut",
        "a descriptor past the segment",
        2,
        _noted(good, isa_note(4)[:-1]),
        bad=True,
        flags="Negative Boundary",
    )
    level(
        "note-padding-cut",
        "the padding of the last note is not there",
        2,
        _noted(note(properties((value, b"\2\0\0\0"))[:12])[:28]),
        flags="Boundary",
    )
    level(
        "property-cut",
        "a property past the descriptor",
        0,
        _noted(note(struct.pack("<III", value, 8, 4))),
        bad=True,
        flags="Negative",
    )
    level(
        "property-head-cut",
        "7 bytes where a property begins",
        3,
        _noted(note(properties((value, b"\4\0\0\0")) + bytes(7))),
        bad=True,
        flags="Negative Boundary",
    )
    level(
        "property-huge",
        "a property of 2^32 - 1 bytes",
        0,
        _noted(note(struct.pack("<III", value, 2**32 - 1, 4))),
        bad=True,
        flags="Negative Wrap",
    )
    level(
        "after-bad",
        "a bad note ends the reading of its segment",
        2,
        _noted(good, note(b"1234567"), isa_note(8)),
        bad=True,
        flags="Negative",
    )
    level("other-segment-after-bad", "but not of another", 4, _noted(bytes(3)), _noted(isa_note(8)), bad=True)
    unread = Elf((Segment(), _noted(isa_note(8)))).but(type=2).build()
    group.chooses(
        "not-well-formed",
        "not read where the image is malformed",
        [image(unread)],
        SKX,
        "rejected malformed-image @0",
        flags="Negative",
    )
    return group
