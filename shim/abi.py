"""`olpick.h` in ctypes: its structures, functions and words. Internal; `olpick.shim.core` is the face of it."""

from collections.abc import Iterator, Sequence
from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    Structure,
    addressof,
    c_char,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
)
from functools import cache
from itertools import count
from typing import Final

from olpick.elf import table
from olpick.elf.layout import Readable
from olpick.shim.errors import LibraryError
from olpick.shim.library import library_path

ABI: Final = 2
"""What olp_abi() must say for the structures below to be right."""

KEYS: Final = tuple(table("key"))
"""The names of the places of `ImageStruct.key`."""

LISTS: Final = ("error", "finding", "form", "verdict", "reason", "step", "policy", "key")
"""The closed lists, in the order of the OLP_LIST_ numbers."""

FEATURE_WORDS: Final = 2
CPU_NONE: Final = -1
CPU_UNKNOWN: Final = -2
WALK_END: Final = 0
WALK_IMAGE: Final = 1
WALK_FINDING: Final = 2
NO_OFFSET: Final = 0xFFFF_FFFF_FFFF_FFFF


class TextStruct(Structure):
    """olp_text."""

    _fields_ = (("data", c_void_p), ("size", c_uint64))
    data: int | None
    size: int


class FeaturesStruct(Structure):
    """olp_features, as one number: its bits are the features."""

    _fields_ = (("word", c_uint64 * FEATURE_WORDS),)

    @property
    def bits(self) -> int:
        """All words together, bit i for feature i."""
        return sum(word << 64 * place for place, word in enumerate(self.word))

    @bits.setter
    def bits(self, value: int) -> None:
        for place in range(FEATURE_WORDS):
            self.word[place] = value >> 64 * place & 0xFFFF_FFFF_FFFF_FFFF


class ImageStruct(Structure):
    """olp_image."""

    _fields_ = (
        ("data", c_void_p),
        ("size", c_uint64),
        ("binary", c_uint64),
        ("offset", c_uint64),
        ("flags", c_uint32),
        ("kind", c_uint16),
        ("producer", c_uint16),
        ("findings", c_uint32),
        ("strings", c_uint32),
        ("metadata_only", c_uint32),
        ("key", TextStruct * len(KEYS)),
    )


class LevelStruct(Structure):
    """olp_level."""

    _fields_ = (
        ("data", c_void_p),
        ("binary", c_void_p),
        ("numbers", c_uint64 * 8),
        ("flags", c_uint32 * 4),
    )


INFLATE: Final = CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_uint64, c_uint64)
"""olp_inflate."""


class WalkStruct(Structure):
    """olp_walk, of which only the size matters here."""

    _fields_ = (
        ("level", LevelStruct * 4),
        ("image", ImageStruct),
        ("inflate", c_void_p),
        ("context", c_void_p),
        ("inflated_limit", c_uint64),
        ("inflated", c_uint64),
        ("outermost", c_uint64),
        ("depth", c_uint32),
    )


class ProblemStruct(Structure):
    """olp_problem."""

    _fields_ = (("offset", c_uint64), ("code", c_uint32))


class FactsStruct(Structure):
    """olp_facts."""

    _fields_ = (
        ("form", c_uint32),
        ("malformed", c_uint32),
        ("level", c_int32),
        ("label", c_int32),
        ("features", FeaturesStruct),
        ("findings", c_uint32),
    )


class DeviceStruct(Structure):
    """olp_device."""

    _fields_ = (("features", FeaturesStruct), ("cpu", c_int32))


class VerdictStruct(Structure):
    """olp_verdict."""

    _fields_ = (
        ("verdict", c_uint32),
        ("reason", c_uint32),
        ("rank", c_uint32),
        ("lost_at", c_uint32),
        ("findings", c_uint32),
        ("facts", FactsStruct),
        ("missing", FeaturesStruct),
    )


_FUNCTIONS: Final = (
    ("olp_abi", c_uint32, ()),
    ("olp_version", c_char_p, ()),
    ("olp_word", c_char_p, (c_uint32, c_uint32)),
    ("olp_feature_name", c_char_p, (c_uint32,)),
    ("olp_cpu_name", c_char_p, (c_int32,)),
    ("olp_device_host", c_int, (POINTER(DeviceStruct),)),
    ("olp_device_named", c_int, (c_char_p, POINTER(DeviceStruct))),
    ("olp_walk_start", None, (POINTER(WalkStruct), c_void_p, c_uint64)),
    ("olp_walk_inflate_with", None, (POINTER(WalkStruct), INFLATE, c_void_p, c_uint64)),
    ("olp_walk_next", c_int, (POINTER(WalkStruct), POINTER(ImageStruct), POINTER(ProblemStruct))),
    (
        "olp_select",
        c_int64,
        (POINTER(ImageStruct), c_uint64, POINTER(DeviceStruct), c_uint32, POINTER(VerdictStruct), POINTER(c_uint32)),
    ),
    (
        "olp_arrange",
        c_uint64,
        (
            POINTER(ImageStruct),
            c_uint64,
            POINTER(DeviceStruct),
            POINTER(c_char_p),
            c_uint64,
            c_int,
            POINTER(VerdictStruct),
            POINTER(c_uint32),
            POINTER(c_uint64),
        ),
    ),
    ("olp_first_compatible", c_int64, (POINTER(ImageStruct), c_uint64)),
)


@cache
def load() -> CDLL:
    """The library, its functions declared.

    Raises:
        LibraryError: it is missing, cannot be loaded, or belongs to another version of this package.
    """
    path = library_path()
    hint = "install olpick again, so that its parts are of one version"
    try:
        library = _declare(CDLL(str(path)))
    except (OSError, AttributeError) as refused:
        raise LibraryError("no-library", f"{path} cannot be used: {refused}", hint) from refused
    if library.olp_abi() != ABI:
        message = f"{path} has ABI {library.olp_abi()}, and this package is made for {ABI}"
        raise LibraryError("no-library", message, hint)
    if _names(library, LISTS.index("key")) != KEYS:
        raise LibraryError("no-library", f"{path} was made from other lists of words than this package has", hint)
    return library


@cache
def words(kind: str) -> tuple[str, ...]:
    """One closed list of the library, in the order of its numbers: `error`, `finding`, `form`, `reason`, ..."""
    return _names(load(), LISTS.index(kind))


@cache
def feature_names() -> tuple[str, ...]:
    """The names of all features, in the order of the table."""
    return tuple(_strings(load().olp_feature_name(place) for place in count()))


@cache
def cpu_names() -> tuple[str, ...]:
    """The names of all levels and CPUs, without aliases, in the order of the table."""
    return tuple(_strings(load().olp_cpu_name(place) for place in count()))


def version() -> str:
    """The version of the library."""
    return str(load().olp_version(), "ascii")


def members(bits: int, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the bits that are set."""
    return tuple(name for place, name in enumerate(names) if bits >> place & 1)


def address(buffer: Readable, held: list[object]) -> tuple[int, int]:
    """Where bytes lie and how many they are, for as long as `held` lives.

    ctypes gives the address of bytes and of buffers that can be written. It gives none of a read-only view, such as an
    image of a mapped file; that is copied.
    """
    if not isinstance(buffer, bytes):
        view = memoryview(buffer).cast("B")
        if not view.readonly and len(view):
            taken = (c_char * len(view)).from_buffer(view)
            held.append(taken)
            return addressof(taken), len(view)
        buffer = bytes(view)
    pointer = c_char_p(buffer)
    held.append(pointer)
    return cast(pointer, c_void_p).value or 0, len(buffer)


def _strings(found: Iterator[bytes | None]) -> Iterator[str]:
    for name in found:
        if name is None:
            return
        yield str(name, "ascii")


def _names(library: CDLL, number: int) -> tuple[str, ...]:
    return tuple(_strings(library.olp_word(number, place) for place in count()))


def _declare(library: CDLL) -> CDLL:
    for name, result, arguments in _FUNCTIONS:
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library
