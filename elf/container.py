"""OffloadBinary containers, versions 1 to 3: from bytes to images (SPEC.md section 1, OLP-CONT)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from olpick.elf.binary import Binary, Entry, begins_with_magic, read_binary
from olpick.elf.errors import DecodeError
from olpick.elf.findings import Finding
from olpick.elf.layout import (
    ALIGNMENT,
    INFLATE_LIMIT,
    KIND_NAMES,
    LEVELS,
    MAGIC,
    METADATA_ONLY,
    PRODUCER_BITS,
    Readable,
    align,
    kind_name,
    producer_name,
)

_ZEROS: Final = bytes(64 * 1024)


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a container, with what its entry says about it.

    Attributes:
        index: its place among all images read, from 0. An image that is itself a container is not read, only those in
            it are (OLP-CONT-020).
        path: its place among the images of the outermost binaries, from 0, containers counted; then its place in that
            container, and so on: (2,), or (2, 0) for the first image of what stands at 2. 1 to 4 numbers.
        version: of the binary it stands in; 1, 2 or 3.
        kind: the image kind, 0 to 65535, kept when unknown; a hint only, the bytes decide (`olpick.elf.form`).
        producer: the offload kind, 0 to 65535: a union of the bits 1 OpenMP, 2 CUDA, 4 HIP, 8 SYCL.
        flags: of the entry, 32 bits; in versions 2 and 3 the first says `metadata_only`.
        strings: key to value, in the order in which the keys first stand; of a key that stands twice the last value.
            Bytes that are not UTF-8 are kept as surrogate escapes. Values of versions 2 and 3 may hold NULs.
        binary: where its outermost binary begins, in bytes from the start of the buffer or file.
        offset: where the image begins, in bytes from the start of the buffer or file; None when its bytes do not lie
            there but were inflated.
        size: of the image, in bytes; 0 for an entry without one.
        data: the image, a read-only view into the buffer or into inflated memory (no copy).
        findings: what was odd about its entry.
    """

    index: int
    path: tuple[int, ...]
    version: int
    kind: int
    producer: int
    flags: int
    strings: dict[str, str]
    binary: int
    offset: int | None
    size: int
    data: memoryview = field(repr=False)
    findings: tuple[Finding, ...] = ()

    @property
    def triple(self) -> str | None:
        """The target triple as it is written; None when the key is absent."""
        return self.strings.get("triple")

    @property
    def arch(self) -> str | None:
        """The label, a CPU or GPU name as it is written; None when the key is absent."""
        return self.strings.get("arch")

    @property
    def kind_name(self) -> str:
        """A word for `kind`."""
        return kind_name(self.kind)

    @property
    def producer_name(self) -> str:
        """A word for `producer`; those of a union are joined by `+`."""
        return producer_name(self.producer)

    @property
    def metadata_only(self) -> bool:
        """Whether its entry says that it carries no image (OLP-CONT-019)."""
        return self.version > 1 and bool(self.flags & METADATA_ONLY)


@dataclass(frozen=True, slots=True)
class Container:
    """What a buffer held.

    Attributes:
        images: in the order of the buffer, numbered from 0.
        findings: all of them in the order of the walk, those of the images included.
        error: why the walk ended early; None when it did not. The images before it stand (OLP-CONT-016).
    """

    images: tuple[Image, ...]
    findings: tuple[Finding, ...]
    error: DecodeError | None


def read(buffer: Readable, *, strict: bool = False, limit: int = INFLATE_LIMIT) -> Container:
    """Read all binaries of a buffer, one after another, and those that are images of others (OLP-CONT-001 to 020).

    Args:
        buffer: contiguous bytes at any address. The images are views into it and keep it alive.
        strict: raise the first error instead of returning it with what was read before it.
        limit: to how many bytes the compressed binaries may inflate, all together.

    Raises:
        DecodeError: the buffer is malformed and `strict` is set. `code` is one of `truncated`, `not-offload-binary`,
            `bad-version`, `bad-size`, `bad-entry-offset`, `bad-entry-size`, `bad-entry-count`, `inflated-too-large`,
            `bad-compression`, `bad-string-table`, `bad-string`, `strings-too-long`, `bad-image-range`,
            `nested-too-deep`; `offset` is that of the outermost binary.
    """
    walk = Walk(limit)
    error = walk.read(memoryview(buffer).cast("B").toreadonly())
    if strict and error is not None:
        raise error
    return Container(tuple(walk.images), tuple(walk.findings), error)


@dataclass(frozen=True, slots=True)
class _Here:
    """Where a container stands.

    Attributes:
        place: where its first byte lies in the file; None when it was inflated.
        path: of the image that it is; empty for an outermost one.
        outermost: where its outermost binary begins in the file; of an outermost container, where it begins itself.
    """

    place: int | None
    path: tuple[int, ...]
    outermost: int


class _TooDeepError(Exception):
    """An image that is a container, in a container that is already nested as deep as it may be."""


@dataclass(slots=True)
class Walk:
    """What was read so far from the places of a file.

    Attributes:
        limit: to how many bytes the compressed binaries may inflate, all together.
        images: numbered over all places.
        findings: in the order of the walk.
    """

    limit: int = INFLATE_LIMIT
    images: list[Image] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _inflated: int = 0
    _numbers: Iterator[int] = field(default_factory=count)

    def read(self, view: memoryview, place: int = 0) -> DecodeError | None:
        """Add what a buffer holds; gives why the walk through it ended early, if it did.

        Args:
            view: the buffer, of single bytes, read-only.
            place: where it lies in the file; offsets are counted from the file's start.
        """
        try:
            self._container(view, _Here(place, (), place), self._numbers)
        except DecodeError as refused:
            return refused
        return None

    def _container(self, view: memoryview, here: _Here, numbers: Iterator[int]) -> None:
        """Add what the binaries of a container hold, its images numbered by `numbers`."""
        at = 0
        while not at or at < len(view):
            outermost = here.outermost if here.path else here.outermost + at
            if at and not begins_with_magic(view, at):
                message = f"neither zero padding nor another OffloadBinary in the last {len(view) - at} bytes; not read"
                self.findings.append(Finding.of("junk-after-binary", outermost, message))
                return
            try:
                binary = read_binary(view, at, self.limit - self._inflated)
            except DecodeError as refused:
                raise DecodeError(refused.code, outermost, refused.why) from refused
            self._inflated += len(binary.body) if binary.inflated else 0
            if not binary.entries:
                message = "a compressed binary, and no zstd to inflate it with; install the package backports.zstd"
                self.findings.append(Finding.of("cannot-inflate", outermost, message))
            inside = None if binary.inflated or here.place is None else here.place + at
            for entry in binary.entries:
                self._entry(binary, entry, _Here(inside, (*here.path, next(numbers)), outermost))
            at = _skip_padding(view, align(at + binary.size))

    def _entry(self, binary: Binary, entry: Entry, here: _Here) -> None:
        """Add the image of an entry, or what it holds if it is a container; `here.place` is that of the body."""
        data = binary.body[entry.start : entry.start + entry.size]
        place = None if here.place is None else here.place + entry.start
        if entry.metadata_only or bytes(data[: len(MAGIC)]) != MAGIC:
            findings = _findings(entry, here.outermost)
            self.findings += findings
            index, numbers = len(self.images), (binary.version, entry.kind, entry.producer, entry.flags)
            image = Image(
                index, here.path, *numbers, entry.strings, here.outermost, place, entry.size, data, tuple(findings)
            )
            self.images.append(image)
            return
        if len(here.path) == LEVELS:
            raise _TooDeepError
        try:
            self._container(data, _Here(place, here.path, here.outermost), count())
        except _TooDeepError:
            if len(here.path) > 1:
                raise
            why = f"containers are nested more than {LEVELS} deep"
            raise DecodeError("nested-too-deep", here.outermost, why) from None
        except DecodeError as refused:
            name = ".".join(map(str, here.path))
            message = f"image {name} is a container and malformed inside: {refused.code}: {refused.why}"
            self.findings.append(Finding.of("bad-inner", here.outermost, message))


def _findings(entry: Entry, at: int) -> list[Finding]:
    findings: list[Finding] = []
    if entry.repeated is not None:
        message = f"key {entry.repeated!r} stands more than once in one entry; the last value counts"
        findings.append(Finding.of("duplicate-key", at, message))
    if entry.kind >= len(KIND_NAMES) or entry.producer & ~PRODUCER_BITS:
        message = (
            f"image kind {entry.kind} or producer {entry.producer} is not known to olpick; kept, and it decides nothing"
        )
        findings.append(Finding.of("unknown-kind", at, message))
    return findings


def _skip_padding(view: memoryview, at: int) -> int:
    """The first place at or after `at` that is not zero padding (OLP-CONT-012)."""
    if at < len(view) and view[at]:  # the common case
        return at
    for step in (len(_ZEROS), 512, ALIGNMENT):
        # The copy makes this a comparison of memory, which that of a view is not.
        while at + step <= len(view) and bytes(view[at : at + step]) == _ZEROS[:step]:
            at += step
    rest = bytes(view[at : at + ALIGNMENT])
    return len(view) if len(rest) < ALIGNMENT and not any(rest) else at
