"""The C decoder of containers, in Python, to be compared with the one of `olpick.elf`, which is the one to use."""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from olpick.elf.layout import Readable
from olpick.shim import abi
from olpick.shim.abi import address, load, members, words

Inflate = Callable[[bytes, int], bytes | None]
"""From a compressed binary's payload and the exact size it must inflate to, the bytes; None when it does not."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a walk met: a word of the list `finding` or `error`, and where, in bytes from the start of the buffer."""

    code: str
    offset: int


@dataclass(frozen=True, slots=True)
class WalkedImage:
    """One image as the C decoder sees it. `keys` has the keys with a meaning, `strings` counts all records; `offset` is
    None when the image was inflated.
    """

    binary: int
    offset: int | None
    size: int
    kind: int
    producer: int
    flags: int
    metadata_only: bool
    strings: int
    keys: Mapping[str, bytes]
    findings: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Walk:
    """All that the C decoder says about a buffer: `error` is why the walk ended early, if it did."""

    images: tuple[WalkedImage, ...]
    findings: tuple[Problem, ...]
    error: Problem | None


def walk(buffer: Readable, *, inflate: Inflate | None = None, limit: int = 0) -> Walk:
    """Read a buffer of OffloadBinaries (section 1 of the specification).

    Args:
        buffer: the bytes.
        inflate: how to inflate; without it each compressed binary is a finding.
        limit: the size to which a binary may inflate, in bytes; 0 for the library's own, 1 GiB.
    """
    library = load()
    held: list[object] = []
    start, size = address(buffer, held)
    state, image, met = abi.WalkStruct(), abi.ImageStruct(), abi.ProblemStruct()
    library.olp_walk_start(ctypes.byref(state), start, size)
    if inflate is not None:
        function = abi.INFLATE(_inflater(inflate, held))
        held.append(function)
        library.olp_walk_inflate_with(ctypes.byref(state), function, None, limit)

    images: list[WalkedImage] = []
    findings: list[Problem] = []
    while step := library.olp_walk_next(ctypes.byref(state), ctypes.byref(image), ctypes.byref(met)):
        if step == abi.WALK_IMAGE:
            images.append(_walked(image))
        elif step == abi.WALK_FINDING:
            findings.append(Problem(words("finding")[met.code], met.offset))
        else:
            return Walk(tuple(images), tuple(findings), Problem(words("error")[met.code], met.offset))
    return Walk(tuple(images), tuple(findings), None)


def _inflater(inflate: Inflate, held: list[object]) -> Callable[[int, int, int, int, int, int], int | None]:
    """An `olp_inflate`; what it made is held as long as the walk needs it."""

    def inflated(_: int, head: int, head_size: int, payload: int, payload_size: int, size: int) -> int | None:
        body = inflate(ctypes.string_at(payload, payload_size), size - head_size)
        if body is None:
            return None
        whole = ctypes.create_string_buffer(ctypes.string_at(head, head_size) + body, size)
        held.append(whole)
        return ctypes.addressof(whole)

    return inflated


def _walked(image: abi.ImageStruct) -> WalkedImage:
    keys = {
        key: ctypes.string_at(text.data, text.size) for key, text in zip(abi.KEYS, image.key, strict=True) if text.data
    }
    return WalkedImage(
        binary=image.binary,
        offset=None if image.offset == abi.NO_OFFSET else image.offset,
        size=image.size,
        kind=image.kind,
        producer=image.producer,
        flags=image.flags,
        metadata_only=bool(image.metadata_only),
        strings=image.strings,
        keys=keys,
        findings=members(image.findings, words("finding")),
        data=ctypes.string_at(image.data, image.size) if image.size else b"",
    )
