"""The C rules of libolpick.so, through `olpick.shim.core`. What it is given ends at a page that cannot be read.

Of a reading all is compared but the strings without a meaning, which the library does not show. It asks its caller to
inflate; the caller here is Python's zlib and zstd, so that of OLP-CONT-017 the library answers for the frame, the
limit, when it asks and with what, and what becomes of the inflated bytes.
"""

import zlib
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from olpick.conformance.adapters.guarded import Guarded
from olpick.conformance.answers import Decoded, DecodedImage, Device, Image, Problem, Reading, Selection, Verdict
from olpick.shim import core

__all__ = ["Core", "adapter"]


class Core:
    """`libolpick.so`."""

    name = "core"

    def __init__(self) -> None:
        """Load the library."""
        core.load()
        self._memory: list[Guarded] = []

    def decode(self, buffer: bytes, reading: Reading | None = None) -> Decoded:
        """Section 1, read twice: with a closed page after the buffer, and with one before it."""
        answers = [self._decode(buffer, reading or Reading(), at_end=at_end) for at_end in (True, False)]
        if answers[0] != answers[1]:
            raise AssertionError(f"the answer depends on where the bytes lie: {answers[0]}, {answers[1]}")
        return answers[0]

    def _decode(self, buffer: bytes, reading: Reading, *, at_end: bool) -> Decoded:
        how = _inflate if reading.inflate else None
        walked = core.walk(self._guard(0, buffer, at_end=at_end), inflate=how, limit=reading.limit)
        images = tuple(
            DecodedImage(
                binary=image.binary,
                offset=image.offset,
                data=image.data,
                kind=image.kind,
                producer=image.producer,
                flags=image.flags,
                metadata=image.metadata_only,
                keys={key.encode(): value for key, value in image.keys.items()},
                strings=None,
                findings=frozenset(image.findings),
            )
            for image in walked.images
        )
        findings = tuple(Problem(finding.code, finding.offset) for finding in walked.findings)
        error = Problem(walked.error.code, walked.error.offset) if walked.error else None
        return Decoded(images, findings, error)

    def select(self, images: Sequence[Image], device: Device, policy: str) -> Selection:
        """Sections 2 to 5."""
        described = [
            (
                self._guard(place, image.data, at_end=True),
                {_text(key): _text(value) for key, value in image.strings.items()},
                image.metadata,
            )
            for place, image in enumerate(images)
        ]
        made = core.select(described, core.Device(device.name, tuple(sorted(device.features))), policy)
        verdicts = tuple(
            Verdict(
                verdict=verdict.verdict,
                reason=verdict.reason,
                rank=verdict.rank,
                lost_at=verdict.lost_at,
                findings=frozenset(verdict.findings),
                form=verdict.form,
                level=verdict.level,
                asks=frozenset(verdict.features),
            )
            for verdict in made.verdicts
        )
        return Selection(verdicts, made.order, made.selected, made.first_compatible)

    def _guard(self, place: int, data: bytes, *, at_end: bool) -> memoryview:
        while len(self._memory) <= place:
            self._memory.append(Guarded(1 << 16))
        if len(data) > 1 << 16:
            return Guarded(len(data)).put(data, at_end=at_end)
        return self._memory[place].put(data, at_end=at_end)


def _inflate(payload: bytes, size: int) -> bytes | None:
    """OLP-CONT-017, for the library."""
    inflater: Any = zlib.decompressobj()
    failure: type[Exception] = zlib.error
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        zstd = _zstd()
        inflater, failure = zstd.ZstdDecompressor(), zstd.ZstdError
    try:
        made: bytes = inflater.decompress(payload, size + 1)
    except failure:
        return None
    return made if inflater.eof and not inflater.unused_data and len(made) == size else None


def _zstd() -> Any:
    """Python's own module of zstd, from 3.14 on, or that of the package `backports.zstd`."""
    try:
        return import_module("compression.zstd")
    except ImportError:
        return import_module("backports.zstd")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def adapter() -> Core:
    """The adapter.

    Raises:
        olpick.shim.errors.LibraryError: the library is not there.
    """
    return Core()
