"""The version 1 layout that reader and writer share (SPEC.md section 1): structures, sizes, names, limits."""

from mmap import mmap
from struct import Struct
from typing import Final

Readable = bytes | bytearray | memoryview | mmap
"""Contiguous bytes that can be looked at in place."""

MAGIC: Final = b"\x10\xff\x10\xad"
VERSION: Final = 1
ALIGNMENT: Final = 8

HEADER: Final = Struct("<4sIQQQ")
"""Magic, version, Size, EntryOffset, EntrySize."""
ENTRY: Final = Struct("<HHIQQQQ")
"""Image kind, producer, flags, StringOffset, NumStrings, ImageOffset, ImageSize."""
RECORD: Final = Struct("<QQ")
"""Key offset, value offset."""

SMALLEST: Final = HEADER.size + ENTRY.size
"""Bytes of the smallest binary: 72."""

KIND_NAMES: Final = ("none", "elf", "llvm ir", "cubin", "fatbinary", "ptx", "spirv")
"""Image kinds 0 to 6, in the words of `llvm-objdump --offloading` where it has one."""
PRODUCER_NAMES: Final = {1: "openmp", 2: "cuda", 4: "hip", 8: "sycl"}
"""The producers, which are bits and may be united; 0 is none."""
PRODUCER_BITS: Final = sum(PRODUCER_NAMES)


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
