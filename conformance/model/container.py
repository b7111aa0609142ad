"""Section 1: the walk over a buffer of containers, OLP-CONT-012, 013, 016, 018 and 020."""

from dataclasses import dataclass, field
from typing import Final

from olpick.conformance.answers import Decoded, DecodedImage, Problem, Reading
from olpick.conformance.model.entries import Entry, read_entries
from olpick.conformance.model.frame import MAGIC, Malformed, agrees_with_magic, read_frame
from olpick.conformance.model.inflate import CannotInflate, inflated
from olpick.conformance.model.tables import meaningful_keys

LEVELS: Final = 4
"""How deep containers are nested at most, the outermost being the first (OLP-CONT-020)."""


class Ended(Exception):  # noqa: N818 - as the specification says it
    """The whole walk ends with an error."""

    def __init__(self, code: str, offset: int) -> None:
        """The error, and the outermost binary at which it ends."""
        super().__init__(code)
        self.problem = Problem(code, offset)


@dataclass(frozen=True)
class Place:
    """Where the bytes of a container stand.

    Attributes:
        level: 1 for the buffer, 2 for an image of it, and so on.
        offset: in the buffer; None where they were inflated.
        binary: the outermost binary that they are part of; None for the buffer.
    """

    level: int = 1
    offset: int | None = 0
    binary: int | None = None


@dataclass
class Walk:
    """What was read so far, and how compressed binaries are read."""

    reading: Reading
    images: list[DecodedImage] = field(default_factory=list)
    findings: list[Problem] = field(default_factory=list)
    inflated: int = 0

    def walk(self, buffer: bytes, place: Place) -> None:
        """All binaries of a container.

        OLP-CONT-012: boundaries come from Size. OLP-CONT-013: what is no binary ends the walk with a finding.

        Raises:
            Ended: OLP-CONT-016 or, from deeper inside, OLP-CONT-020.
        """
        start = 0
        while True:
            binary = start if place.binary is None else place.binary
            left = buffer[start:]
            try:
                frame = read_frame(left)
                data = left[: frame.size]
                if frame.compressed:
                    data = inflated(data, frame, self.reading, self.inflated)
                entries = read_entries(data, frame)
                if frame.compressed:
                    self.inflated += len(data)
            except Malformed as refused:
                raise Ended(str(refused), binary) from None
            except CannotInflate:
                self.findings.append(Problem("cannot-inflate", binary))
                entries = []
            inside = None if place.offset is None or frame.compressed else place.offset + start
            for entry in entries:
                self.deliver(entry, Place(place.level, inside, binary))

            start = skip_padding(buffer, round_up(start + frame.size, 8))
            if start >= len(buffer):
                return
            if not agrees_with_magic(buffer[start:]):
                at = start if place.binary is None else place.binary
                self.findings.append(Problem("junk-after-binary", at))
                return

    def deliver(self, entry: Entry, place: Place) -> None:
        """The image of an entry or, where it is a container, the images inside (OLP-CONT-020).

        Raises:
            Ended: nested too deep.
        """
        binary = place.binary or 0
        offset = None if place.offset is None else place.offset + entry.offset
        if entry.metadata or not entry.data.startswith(MAGIC):
            self.images.append(delivered(entry, binary, offset))
            return
        if place.level >= LEVELS:
            raise Ended("nested-too-deep", binary)
        try:
            self.walk(entry.data, Place(place.level + 1, offset, binary))
        except Ended as ended:
            if ended.problem.code == "nested-too-deep":
                raise
            self.findings.append(Problem("bad-inner", binary))


def delivered(entry: Entry, binary: int, offset: int | None) -> DecodedImage:
    """What is said about an image."""
    return DecodedImage(
        binary=binary,
        offset=offset,
        data=entry.data,
        kind=entry.kind,
        producer=entry.producer,
        flags=entry.flags,
        metadata=entry.metadata,
        keys={key: value for key, value in entry.strings.items() if key in meaningful_keys()},
        strings=entry.strings,
        findings=entry.findings,
    )


def decode(buffer: bytes, reading: Reading | None = None) -> Decoded:
    """All images of a buffer, in their order.

    OLP-CONT-016: a malformed binary ends the walk with an error; the images before it are delivered.
    """
    walk = Walk(reading or Reading())
    error = None
    try:
        walk.walk(buffer, Place())
    except Ended as ended:
        error = ended.problem
    return Decoded(tuple(walk.images), tuple(walk.findings), error)


def round_up(value: int, to: int) -> int:
    """The next multiple of `to` that is not below `value`."""
    return (value + to - 1) // to * to


def skip_padding(buffer: bytes, start: int) -> int:
    """OLP-CONT-012: skip groups of 8 zero bytes, and a shorter one at the end of the buffer."""
    while start < len(buffer) and not any(buffer[start : start + 8]):
        start += 8
    return start
