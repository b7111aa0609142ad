"""Offload sections of ELF files. pyelftools knows the frame; it never sees more than one header at a time.

Names, ranges and counts are checked here, since the section table of a hostile file may describe anything.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Any, Final, NoReturn

from elftools.elf.elffile import ELFFile
from olpick.elf.errors import DecodeError, FileError

SHT_LLVM_OFFLOADING: Final = 0x6FFF4C0B

# The second is what a relocatable link makes of the first.
_SECTION_NAMES: Final = (b".llvm.offloading\0", b".llvm.offloading.relocatable\0")
_NAME_MOST: Final = max(map(len, _SECTION_NAMES))
_ELF_HEADER_SIZE: Final = 64  # of the 64-bit class, the larger one
_SHF_COMPRESSED: Final = 0x800
_SHN_XINDEX: Final = 0xFFFF

_Header = Mapping[str, Any]
"""A section header as pyelftools parses it: `sh_type` is a name when it knows one, else an int."""


@dataclass(frozen=True, slots=True)
class Region:
    """Where an offload section lies: `offset` from the start of the file and `size`, both in bytes."""

    offset: int
    size: int


def offload_regions(view: memoryview) -> tuple[Region, ...]:
    """The offload sections of an ELF file, in the order of its section table (OLP-CONT-001).

    A section counts by its type 0x6fff4c0b, or by the name `.llvm.offloading` or
    `.llvm.offloading.relocatable` when it has bytes in the file.

    Raises:
        DecodeError: `malformed-elf`: the headers cannot be read, or a section table or an offload section lies outside
            the file, or two offload sections overlap.
        FileError: `unsupported-container`: an offload section is compressed.
    """
    try:
        regions = tuple(_regions(view))
    except DecodeError:
        raise
    except Exception as crash:  # pyelftools raises whatever comes on hostile bytes
        raise DecodeError("malformed-elf", 0, f"the ELF headers cannot be read ({crash!r})") from crash
    for before, after in pairwise(sorted(regions, key=lambda region: (region.offset, region.size))):
        if after.offset < before.offset + before.size:
            _malformed(after.offset, "an offload section overlaps another one; not read")
    return regions


def _regions(view: memoryview) -> Iterator[Region]:
    header_at, count, names_index = _section_table(view)
    names = header_at(names_index) if names_index < count else None
    for header in map(header_at, range(count)):
        in_file = header["sh_type"] != "SHT_NOBITS"
        named = in_file and names is not None and _is_named(view, names, header["sh_name"])
        if header["sh_type"] != SHT_LLVM_OFFLOADING and not named:
            continue
        if header["sh_flags"] & _SHF_COMPRESSED:
            raise FileError(
                "unsupported-container",
                0,
                "a compressed offload section is not read yet; decompress it with llvm-objcopy --decompress-sections",
            )
        region = Region(header["sh_offset"], header["sh_size"])
        end = region.offset + region.size
        if end > len(view):
            _malformed(region.offset, f"the offload section ends at {end}, past the {len(view)} bytes of the file")
        yield region


def _section_table(view: memoryview) -> tuple[Callable[[int], _Header], int, int]:
    """What parses a section header, how many there are, and the index of the section that holds their names."""
    elf = ELFFile(BytesIO(bytes(view[:_ELF_HEADER_SIZE])))
    layout = elf.structs.Elf_Shdr
    table_at, step, size = elf["e_shoff"], elf["e_shentsize"], layout.sizeof()
    if table_at and step < size:
        _malformed(table_at, f"the section headers have {step} bytes, fewer than the {size} of their class")

    def header_at(index: int) -> _Header:
        at = table_at + index * step
        if at + step > len(view):
            _malformed(table_at, f"the section table runs past the {len(view)} bytes of the file, which may be cut off")
        parsed: _Header = layout.parse(bytes(view[at : at + size]))
        return parsed

    if table_at == 0:
        return header_at, 0, 0
    first = header_at(0)  # holds the numbers that are too large for the file header
    count = elf["e_shnum"] or first["sh_size"]
    names_index = first["sh_link"] if elf["e_shstrndx"] == _SHN_XINDEX else elf["e_shstrndx"]
    if count:
        header_at(count - 1)  # first of all, so that a hostile count costs nothing
    return header_at, count, names_index


def _is_named(view: memoryview, names: _Header, name: int) -> bool:
    """Whether the name at `name` of the section `names` is an offload section's; reads no further than it must."""
    at = names["sh_offset"] + name
    end = min(at + _NAME_MOST, names["sh_offset"] + names["sh_size"])
    return bytes(view[at:end]).startswith(_SECTION_NAMES)


def _malformed(offset: int, why: str) -> NoReturn:
    raise DecodeError("malformed-elf", offset, why)
