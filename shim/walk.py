"""The C decoder of containers, in Python, to be compared with the one of `olpick.elf`, which is the one to use."""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from olpick.elf.layout import Readable
from olpick.shim import abi
from olpick.shim.abi import address, load, members, words


@dataclass(frozen=True, slots=True)
class Problem:
    """What a walk met: a word of the list `finding` or `error`, and where, in bytes from the start of the buffer."""

    code: str
    offset: int


@dataclass(frozen=True, slots=True)
class WalkedImage:
    """One image as the C decoder sees it. `keys` has the keys with a meaning, `strings` counts all records."""

    binary: int
    offset: int
    size: int
    kind: int
    producer: int
    flags: int
    strings: int
    keys: Mapping[str, bytes]
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """All that the C decoder says about a buffer. `problem` is why the walk ended before the end of the buffer, if it
    did; `malformed` tells an error from a finding.
    """

    images: tuple[WalkedImage, ...]
    problem: Problem | None
    malformed: bool


def walk(buffer: Readable) -> Walk:
    """Read a buffer of OffloadBinaries (section 1 of the specification)."""
    library = load()
    held: list[object] = []
    start, size = address(buffer, held)
    state, image, met = abi.WalkStruct(), abi.ImageStruct(), abi.ProblemStruct()
    library.olp_walk_start(ctypes.byref(state), start, size)
    images: list[WalkedImage] = []
    step = abi.WALK_IMAGE
    while step == abi.WALK_IMAGE:
        step = library.olp_walk_next(ctypes.byref(state), ctypes.byref(image), ctypes.byref(met))
        if step == abi.WALK_IMAGE:
            images.append(_walked(image))
    if step == abi.WALK_END:
        return Walk(tuple(images), None, False)
    malformed = step != abi.WALK_FINDING
    code = words("error" if malformed else "finding")[met.code]
    return Walk(tuple(images), Problem(code, met.offset), malformed)


def _walked(image: abi.ImageStruct) -> WalkedImage:
    keys = {
        key: ctypes.string_at(text.data, text.size) for key, text in zip(abi.KEYS, image.key, strict=True) if text.data
    }
    return WalkedImage(
        binary=image.binary,
        offset=image.offset,
        size=image.size,
        kind=image.kind,
        producer=image.producer,
        flags=image.flags,
        strings=image.strings,
        keys=keys,
        findings=members(image.findings, words("finding")),
    )
