"""What device images a file holds: the report of `olpick inspect`, as text and as JSON, and what filters pick."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from mmap import ALLOCATIONGRANULARITY, MADV_WILLNEED, mmap
from typing import Any, Final

from olpick.elf import Contents, Finding, Image, form
from olpick.shim.text import Page, Row, shown

SCHEMA: Final = "olpick/inspect/1"

_CHUNK: Final = 8 << 20
_IN_COLUMNS: Final = ("triple", "arch")
_HEADER: Final = ("image", "path", "producer", "kind", "form", "triple", "arch", "size", "offset")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which images are asked for; what is None asks for nothing.

    Attributes:
        arch: a shell pattern, upper and lower case told apart; an image without the key does not fit any.
        triple: likewise.
        kind: the image kind, a number.
        producer: bits that an image has all of; 0 fits what has none.
    """

    arch: str | None = None
    triple: str | None = None
    kind: int | None = None
    producer: int | None = None

    def fits(self, image: Image) -> bool:
        """Whether an image is asked for."""
        texts = ((self.arch, image.arch), (self.triple, image.triple))
        if not all(glob is None or (text is not None and fnmatchcase(text, glob)) for glob, text in texts):
            return False
        if self.kind is not None and image.kind != self.kind:
            return False
        if self.producer is None:
            return True
        return image.producer & self.producer == self.producer if self.producer else not image.producer


@dataclass(frozen=True, slots=True)
class Listing:
    """What is listed of a file.

    Attributes:
        contents: the file.
        images: those of its images that are asked for.
        digests: the SHA-256 of each, in hexadecimal; None for all of them when they are not asked for.
    """

    contents: Contents
    images: tuple[Image, ...]
    digests: tuple[str | None, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about the container and all its images, and why the reading ended early."""
        error = self.contents.error
        errors = (Finding(error.code, "error", error.offset, error.why),) if error else ()
        return tuple(sorted((*self.contents.findings, *errors), key=lambda finding: finding.offset))


def listing(contents: Contents, wanted: Filter, *, digest: bool = False) -> Listing:
    """The images of a file that fit. Only with `digest` are all their bytes read."""
    images = tuple(image for image in contents.images if wanted.fits(image))
    return Listing(contents, images, tuple(_digest(image) if digest else None for image in images))


def _digest(image: Image) -> str:
    made = hashlib.sha256()
    whole = image.data.obj
    for at in range(0, image.size, _CHUNK):
        chunk = image.data[at : at + _CHUNK]
        if isinstance(whole, mmap) and image.offset is not None:
            # A file is mapped so that only the pages that are looked at are read, one at a time; here that is all.
            start = image.offset + at
            first = start // ALLOCATIONGRANULARITY * ALLOCATIONGRANULARITY
            whole.madvise(MADV_WILLNEED, first, start + len(chunk) - first)
        made.update(chunk)
    return made.hexdigest()


# ---- JSON


def document(listings: Iterable[Listing]) -> dict[str, Any]:
    """The listings as `schemas/inspect.schema.json` describes them."""
    return {"schema": SCHEMA, "results": [_result(listed) for listed in listings]}


def _result(listed: Listing) -> dict[str, Any]:
    return {
        "input": listed.contents.input,
        "container": listed.contents.container,
        "images": [_image(image, digest) for image, digest in zip(listed.images, listed.digests, strict=True)],
        "findings": [
            {"code": found.code, "severity": found.severity, "offset": found.offset, "message": found.message}
            for found in listed.findings
        ],
    }


def _image(image: Image, digest: str | None) -> dict[str, Any]:
    return {
        "index": image.index,
        "path": path(image),
        "version": image.version,
        "kind": image.kind_name,
        "producer": image.producer_name,
        "flags": image.flags,
        "triple": image.triple,
        "arch": image.arch,
        "strings": dict(image.strings),
        "offset": image.offset,
        "size": image.size,
        "form": form(image.data),
        "processor": None,
        "features": None,
        "kernels": None,
        "digest": digest,
        "findings": [found.code for found in image.findings],
    }


# ---- Text


def path(image: Image) -> str:
    """The place of an image among those of the file, and in the containers that it is nested in."""
    return ".".join(map(str, image.path))


def name(contents: Contents) -> str:
    """What people call the input."""
    return "standard input" if contents.input == "-" else shown(contents.input, 200)


def page(listed: Listing) -> Page:
    """The listing for people."""
    made = Page()
    count, of = len(listed.images), len(listed.contents.images)
    images = f"{count if count == of else f'{count} of {of}'} image{'' if of == 1 else 's'}"
    made.line(f"{name(listed.contents)}: {images}, {listed.contents.container}", "bold")
    if listed.images:
        flags = any(image.flags for image in listed.images)
        others = any(image.strings.keys() - set(_IN_COLUMNS) for image in listed.images)
        digests = any(listed.digests)
        optional = (("flags", flags), ("other strings", others), ("sha256", digests))
        header = (*_HEADER, *(title for title, there in optional if there))
        rows = zip(listed.images, listed.digests, strict=True)
        made.table(header, [Row(_cells(image, digest, (flags, others, digests))) for image, digest in rows])
    for found in listed.findings:
        made.line(f"{found.severity}: {found.code} at offset {found.offset}: {shown(found.message, 200)}", "yellow")
    return made


def _cells(image: Image, digest: str | None, columns: Sequence[bool]) -> tuple[str, ...]:
    others = " ".join(f"{shown(key)}={shown(value)}" for key, value in image.strings.items() if key not in _IN_COLUMNS)
    optional = (f"{image.flags:#x}", others or "-", digest or "-")
    return (
        f"[{image.index}]",
        path(image),
        image.producer_name,
        image.kind_name,
        form(image.data),
        shown(image.triple or "-"),
        shown(image.arch or "-"),
        str(image.size),
        "-" if image.offset is None else str(image.offset),
        *(cell for cell, there in zip(optional, columns, strict=True) if there),
    )
