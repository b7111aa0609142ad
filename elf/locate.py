"""Where containers hide in a file: the file itself, or the offload sections of an ELF file."""

import os
import stat
import sys
from dataclasses import dataclass, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final

from olpick.elf.container import Container, Image, read
from olpick.elf.errors import DecodeError, FileError
from olpick.elf.findings import Finding
from olpick.elf.image import COMPRESSED_BUNDLE_MAGIC, form
from olpick.elf.layout import Readable

_ARCHIVES: Final = (b"!<arch>\n", b"!<thin>\n")
_BARE: Final = "a bare device image ({}), which olpick does not read yet; pass the program or container that carries it"
_HINTS: Final = {
    "fatbin": "CUDA fatbin; take its images out with cuobjdump",
    "clang-bundle": "clang bundle; take its images out with clang-offload-bundler",
    "archive": "archive; take its members out with llvm-ar and pass those",
    **{name: _BARE.format(name) for name in ("cubin", "hsaco", "intel-elf", "spirv", "bitcode", "ptx")},
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file held.

    Attributes:
        input: the path as it was given, or `-`.
        container: `offload-binary` or `elf`; for what is recognised and not read, `archive` or its form (a word of
            the list `form` in `data/codes.toml`); else `unknown`.
        images: over all places, numbered from 0; their offsets count from the start of the file.
        findings: over all places, those of the images included; their offsets count from the start of the file.
        error: the first thing that could not be read; what is in `images` stands all the same.
    """

    input: str
    container: str
    images: tuple[Image, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: DecodeError | None = None


def open_file(path: str | os.PathLike[str], *, strict: bool = False) -> Contents:
    """Read the containers of a file, or of standard input for `-`.

    A regular file is mapped: the images are views into it, keep the mapping alive, and see it change; whoever cuts the
    file short meanwhile ends this process with SIGBUS, as with any mapped file.

    Raises:
        DecodeError: `strict` is set and there is an error. Without it none is raised, not even `cannot-read`.
    """
    name = os.fspath(path)
    try:
        buffer: Readable = sys.stdin.buffer.read() if name == "-" else _map(Path(name))
    except (OSError, ValueError) as refused:  # ValueError: a path that no file can have
        why = refused.strerror if isinstance(refused, OSError) and refused.strerror else str(refused)
        error = FileError("cannot-read", 0, f"cannot read {name!r}: {why.lower()}")
        if strict:
            raise error from refused
        return Contents(name, "unknown", error=error)
    return from_bytes(buffer, name, strict=strict)


def from_bytes(buffer: Readable, name: str = "-", *, strict: bool = False) -> Contents:
    """Read the containers of the bytes of a file. `name` becomes `Contents.input`.

    Raises:
        DecodeError: `strict` is set and there is an error: one of `read`, or `malformed-elf`, `no-offload-section` or
            `unsupported-container`.
    """
    view = memoryview(buffer).cast("B").toreadonly()
    container = _recognised(view)
    if container == "elf":
        contents = _from_elf(view, name)
    elif container in ("offload-binary", "unknown"):
        found = read(view)
        refused = found.error is not None and found.error.code == "not-offload-binary"
        word = "unknown" if refused else "offload-binary"
        contents = Contents(name, word, found.images, found.findings, found.error)
    else:
        contents = Contents(name, container, error=_unsupported(container, view))
    if strict and contents.error is not None:
        raise contents.error
    return contents


def _map(path: Path) -> Readable:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size:
            try:
                return mmap(file.fileno(), 0, access=ACCESS_READ)
            except OSError:
                pass  # a file system that cannot map
        return file.read()


def _recognised(view: memoryview) -> str:
    """The word for `Contents.container`, by the first bytes."""
    head = bytes(view[:8])
    if head in _ARCHIVES:
        return "archive"
    name = form(view)
    if name in ("host-elf", "other-elf"):
        return "elf"
    return "offload-binary" if name == "empty" else name


def _unsupported(container: str, view: memoryview) -> FileError:
    if container == "compressed-bundle":
        at = len(COMPRESSED_BUNDLE_MAGIC)
        version = int.from_bytes(view[at : at + 2], "little")
        hint = f"compressed bundle v{version}; take its images out with clang-offload-bundler"
    else:
        hint = _HINTS[container]
    return FileError("unsupported-container", 0, f"not an OffloadBinary: {hint}")


def _from_elf(view: memoryview, name: str) -> Contents:
    # pyelftools costs 40 ms to import, and most commands never need it.
    from olpick.elf.sections import offload_regions

    try:
        regions = offload_regions(view)
    except DecodeError as refused:
        return Contents(name, "elf", error=refused)
    if not regions:
        why = "host ELF, no offload section; was it built with an offload target?"
        return Contents(name, "elf", error=FileError("no-offload-section", 0, why))
    images: list[Image] = []
    findings: list[Finding] = []
    errors: list[DecodeError] = []
    for region in regions:
        found = _moved(read(view[region.offset : region.offset + region.size]), region.offset, len(images))
        images += found.images
        findings += found.findings
        errors += [found.error] if found.error else []
    return Contents(name, "elf", tuple(images), tuple(findings), errors[0] if errors else None)


def _moved(found: Container, by: int, first: int) -> Container:
    """What was read from a part of a file, its offsets counted from the file's start and its images from `first`."""

    def moved(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return tuple(replace(finding, offset=finding.offset + by) for finding in findings)

    images = tuple(
        replace(
            image,
            index=image.index + first,
            binary=image.binary + by,
            offset=image.offset + by,
            findings=moved(image.findings),
        )
        for image in found.images
    )
    return Container(images, moved(found.findings), found.error.moved(by) if found.error else None)
