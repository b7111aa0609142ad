"""The layout of versions 1 to 3 that reader and writer share (SPEC.md section 1): structures, sizes, names, limits."""

from mmap import mmap
from struct import Struct
from typing import Final

Readable = bytes | bytearray | memoryview | mmap
"""Contiguous bytes that can be looked at in place."""

MAGIC: Final = b"\x10\xff\x10\xad"
VERSIONS: Final = (1, 2, 3)
ALIGNMENT: Final = 8

HEADER: Final = Struct("<4sIQQQ")
"""Magic, version, Size, EntriesOffset, and EntrySize (version 1) or EntriesCount (2, 3)."""
INFLATED_SIZE: Final = Struct("<Q")
"""What follows in a header of version 3; 0 when the binary is not compressed."""
ENTRY: Final = Struct("<HHIQQQQ")
"""Image kind, producer, flags, StringOffset, NumStrings, ImageOffset, ImageSize."""
RECORD: Final = Struct("<QQ")
"""Key offset, value offset: version 1."""
SIZED_RECORD: Final = Struct("<QQQ")
"""Key offset, value offset, value size: versions 2 and 3."""

METADATA_ONLY: Final = 1
"""The flag of an entry without an image, in versions 2 and 3 (OLP-CONT-019)."""
INFLATE_LIMIT: Final = 1 << 30
"""To how many bytes a compressed binary may inflate, unless the caller sets another limit (OLP-CONT-017)."""
LEVELS: Final = 4
"""How deep containers may be nested, the outermost counted (OLP-CONT-020)."""

KIND_NAMES: Final = ("none", "elf", "llvm ir", "cubin", "fatbinary", "ptx", "spirv")
"""Image kinds 0 to 6, in the words of `llvm-objdump --offloading` where it has one."""
PRODUCER_NAMES: Final = {1: "openmp", 2: "cuda", 4: "hip", 8: "sycl"}
"""The producers, which are bits and may be united; 0 is none."""
PRODUCER_BITS: Final = sum(PRODUCER_NAMES)


def header_size(version: int) -> int:
    """Bytes of the header: 32, or 40 in version 3."""
    return HEADER.size + (INFLATED_SIZE.size if version == 3 else 0)


def record(version: int) -> Struct:
    """The structure of a string record."""
    return RECORD if version == 1 else SIZED_RECORD


def align(offset: int) -> int:
    """`offset` rounded up to a multiple of 8."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def string_budget(size: int) -> int:
    """The most bytes that all strings of a binary of `size` bytes may have together (OLP-CONT-010)."""
    return min(64 * size, 16 << 20)


def kind_name(kind: int) -> str:
    """A word for an image kind; `unknown (N)` for one above 6."""
    return KIND_NAMES[kind] if kind < len(KIND_NAMES) else f"unknown ({kind})"


def producer_name(producer: int) -> str:
    """A word for a producer; those of a union are joined by `+`, bits without a name stand in hexadecimal."""
    names = [name for bit, name in PRODUCER_NAMES.items() if producer & bit]
    if rest := producer & ~PRODUCER_BITS:
        names.append(f"{rest:#x}")
    return "+".join(names) or "none"
