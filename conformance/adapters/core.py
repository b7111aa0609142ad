"""The C rules of libolpick.so, through `olpick.shim.core`. What it is given ends at a page that cannot be read."""

from collections.abc import Sequence

from olpick.conformance.adapters.guarded import Guarded
from olpick.conformance.answers import Decoded, DecodedImage, Device, Image, Problem, Selection, Verdict
from olpick.shim import core

__all__ = ["Core", "adapter"]


class Core:
    """`libolpick.so`."""

    name = "core"

    def __init__(self) -> None:
        """Load the library."""
        core.load()
        self._memory: list[Guarded] = []

    def decode(self, buffer: bytes) -> Decoded:
        """Section 1, read twice: with a closed page after the buffer, and with one before it."""
        answers = [self._decode(buffer, at_end=at_end) for at_end in (True, False)]
        if answers[0] != answers[1]:
            raise AssertionError(f"the answer depends on where the bytes lie: {answers[0]}, {answers[1]}")
        return answers[0]

    def _decode(self, buffer: bytes, *, at_end: bool) -> Decoded:
        walked = core.walk(self._guard(0, buffer, at_end=at_end))
        images = tuple(
            DecodedImage(
                binary=image.binary,
                offset=image.offset,
                size=image.size,
                kind=image.kind,
                producer=image.producer,
                flags=image.flags,
                keys={key.encode(): value for key, value in image.keys.items()},
                strings=None,
                findings=frozenset(image.findings),
            )
            for image in walked.images
        )
        if walked.problem is None:
            return Decoded(images)
        problem = Problem(walked.problem.code, walked.problem.offset)
        return Decoded(images, (), problem) if walked.malformed else Decoded(images, (problem,))

    def select(self, images: Sequence[Image], device: Device, policy: str) -> Selection:
        """Sections 2 to 5."""
        described = [
            (
                self._guard(place, image.data, at_end=True),
                {_text(key): _text(value) for key, value in image.strings.items()},
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


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def adapter() -> Core:
    """The adapter.

    Raises:
        olpick.shim.errors.LibraryError: the library is not there.
    """
    return Core()
