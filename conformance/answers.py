"""What an implementation is asked and what it answers: plain data that model, adapters and vectors share."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

__all__ = ["Decoded", "DecodedImage", "Device", "Image", "NotAskedError", "Problem", "Reading", "Selection", "Verdict"]


class NotAskedError(Exception):
    """An adapter has no way to ask its implementation this; the question is left out."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How compressed binaries are to be read.

    Attributes:
        limit: the size to which a binary may inflate (OLP-CONT-017).
        inflate: whether there is a means to inflate (OLP-CONT-018).
    """

    limit: int = 2**30
    inflate: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """A word of the list `error` or `finding`, and where it stands in the buffer."""

    code: str
    offset: int


@dataclass(frozen=True, slots=True)
class DecodedImage:
    """One image of a buffer of containers.

    Attributes:
        binary: where the outermost OffloadBinary that holds it begins in the buffer.
        offset: where its bytes begin in the buffer; None where they were inflated.
        data: its bytes.
        kind: the image kind, as stored.
        producer: the offload kind, as stored.
        flags: as stored.
        metadata: whether the entry says that it carries no image (OLP-CONT-019).
        keys: the keys that have a meaning (the list `key`), each with the value that counts.
        strings: all keys; None where the implementation does not show them.
        findings: words of the list `finding`.
    """

    binary: int
    offset: int | None
    data: bytes
    kind: int
    producer: int
    flags: int
    metadata: bool
    keys: Mapping[bytes, bytes]
    strings: Mapping[bytes, bytes] | None
    findings: frozenset[str]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.data)

    @property
    def digest(self) -> str:
        """The SHA-256 of its bytes."""
        return sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a buffer of containers holds: the images before `error`, if there is one, and the findings of the walk."""

    images: tuple[DecodedImage, ...]
    findings: tuple[Problem, ...] = ()
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """An image to judge: its bytes, the strings of its entry, and whether that is metadata only (OLP-CONT-019)."""

    data: bytes
    strings: Mapping[bytes, bytes]
    metadata: bool = False


@dataclass(frozen=True, slots=True)
class Device:
    """A CPU: its features, present and enabled, and its name in the tables where it is known (section 3)."""

    name: str | None
    features: frozenset[str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one image (OLP-ORD-010), and the facts that it rests on.

    Attributes:
        verdict: `selected`, `eligible` or `rejected`.
        reason: a word of the list `reason`.
        rank: from 1; None when rejected.
        lost_at: the step at which it lost to the selected image; None when it did not.
        findings: words of the list `finding`, those of the container apart.
        form: what it is by its bytes (OLP-FACT-001).
        level: the level that its note asks for, 1 to 4; 0 where it asks for none (OLP-FACT-003).
        asks: the features that it asks for (section 3).
    """

    verdict: str
    reason: str
    rank: int | None
    lost_at: str | None
    findings: frozenset[str]
    form: str
    level: int
    asks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Selection:
    """The choice among images.

    Attributes:
        verdicts: one an image, in the order of the images.
        order: places of the images: the eligible ones by rank, then the others as they came.
        selected: the place of the selected image; None when there is none.
        first_compatible: the place of the image that upstream takes (OLP-POL-002); None when it takes none.
    """

    verdicts: tuple[Verdict, ...]
    order: tuple[int, ...]
    selected: int | None
    first_compatible: int | None
