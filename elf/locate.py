"""Where containers hide in a file: the file itself, the offload sections of an ELF file, the members of an archive."""

import os
import stat
import sys
from dataclasses import dataclass, field
from mmap import ACCESS_READ, MADV_RANDOM, mmap
from pathlib import Path
from typing import Final

from olpick.elf.archive import MAGIC as ARCHIVE_MAGIC
from olpick.elf.archive import THIN_MAGIC, members
from olpick.elf.container import Image, Walk
from olpick.elf.errors import DecodeError, FileError
from olpick.elf.findings import Finding
from olpick.elf.image import COMPRESSED_BUNDLE_MAGIC, form
from olpick.elf.layout import INFLATE_LIMIT, Readable

_BARE: Final = "a bare device image ({}), which olpick does not read yet; pass the program or container that carries it"
_HINTS: Final = {
    "fatbin": "CUDA fatbin; take its images out with cuobjdump",
    "clang-bundle": "clang bundle; take its images out with clang-offload-bundler",
    "thin-archive": "thin archive, whose members are files of their own; pass those",
    "archive": "archive; take it out with llvm-ar and pass it",
    "bitcode": _BARE.format("bitcode") + "; images embedded in bitcode are not read",
    **{name: _BARE.format(name) for name in ("cubin", "hsaco", "intel-elf", "spirv", "ptx")},
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file held.

    Attributes:
        input: the path as it was given, or `-`.
        container: `offload-binary`, `elf` or `archive`; for what is recognised and not read, `thin-archive` or its
            form (a word of the list `form` in `data/codes.toml`); else `unknown`.
        images: over all places, numbered from 0; their offsets count from the start of the file.
        findings: over all places, those of the images included; their offsets count from the start of the file.
        error: the first thing that could not be read; what is in `images` stands all the same.
    """

    input: str
    container: str
    images: tuple[Image, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: DecodeError | None = None


def open_file(path: str | os.PathLike[str], *, strict: bool = False, limit: int = INFLATE_LIMIT) -> Contents:
    """Read the containers of a file, or of standard input for `-`.

    A regular file is mapped, and the bytes of images are not read until somebody asks for them: the images are views
    into the mapping, keep it alive, and see the file change; whoever cuts the file short meanwhile ends this process
    with SIGBUS, as with any mapped file. `limit` is that of `read`.

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
    return from_bytes(buffer, name, strict=strict, limit=limit)


def from_bytes(buffer: Readable, name: str = "-", *, strict: bool = False, limit: int = INFLATE_LIMIT) -> Contents:
    """Read the containers of the bytes of a file. `name` becomes `Contents.input`; `limit` is that of `read`.

    Raises:
        DecodeError: `strict` is set and there is an error: one of `read`, or `malformed-elf`, `malformed-archive`,
            `no-offload-section` or `unsupported-container`.
    """
    view = memoryview(buffer).cast("B").toreadonly()
    container = _recognised(view)
    places = _Places(Walk(limit))
    if container == "elf":
        if not places.elf(view, 0):
            why = "host ELF, no offload section; was it built with an offload target?"
            places.refuse(FileError("no-offload-section", 0, why))
    elif container == "archive":
        places.archive(view)
    elif container in ("offload-binary", "unknown"):
        places.read(view, 0)
        if places.error is None or places.error.code != "not-offload-binary":
            container = "offload-binary"
    else:
        places.refuse(FileError("unsupported-container", 0, f"not an OffloadBinary: {_hint(container, view)}"))
    if strict and places.error is not None:
        raise places.error
    return Contents(name, container, tuple(places.walk.images), tuple(places.walk.findings), places.error)


def _map(path: Path) -> Readable:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size:
            try:
                whole = mmap(file.fileno(), 0, access=ACCESS_READ)
            except OSError:
                pass  # a file system that cannot map
            else:
                whole.madvise(MADV_RANDOM)  # else each header that is looked at may bring in mebibytes around it
                return whole
        return file.read()


def _recognised(view: memoryview) -> str:
    """The word for `Contents.container`, by the first bytes; `unknown` for what may be a container after all."""
    head = bytes(view[: len(ARCHIVE_MAGIC)])
    if head in (ARCHIVE_MAGIC, THIN_MAGIC):
        return "archive" if head == ARCHIVE_MAGIC else "thin-archive"
    name = form(view)
    if name in ("host-elf", "other-elf"):
        return "elf"
    return "offload-binary" if name == "empty" else name


def _hint(container: str, view: memoryview) -> str:
    """What a file that is recognised and not read is, and what to do about it."""
    if container != "compressed-bundle":
        return _HINTS[container]
    at = len(COMPRESSED_BUNDLE_MAGIC)
    version = int.from_bytes(view[at : at + 2], "little")
    return f"compressed bundle v{version}; take its images out with clang-offload-bundler"


@dataclass(slots=True)
class _Places:
    """The places of a file, read one after another into one walk; the first error is kept."""

    walk: Walk
    error: DecodeError | None = field(default=None, init=False)

    def refuse(self, error: DecodeError | None) -> None:
        """Keep why something could not be read, unless something before it could not be."""
        self.error = self.error or error

    def read(self, view: memoryview, at: int) -> None:
        """A container that begins `at` bytes after the file's start."""
        self.refuse(self.walk.read(view, at))

    def elf(self, view: memoryview, at: int) -> bool:
        """The offload sections of an ELF file that begins there; whether there may be any."""
        # pyelftools costs 40 ms to import, and most commands never need it.
        from olpick.elf.sections import offload_regions

        try:
            regions = offload_regions(view)
        except DecodeError as refused:
            self.refuse(refused.moved(at))
            return True
        for region in regions:
            self.read(view[region.offset : region.offset + region.size], at + region.offset)
        return bool(regions)

    def archive(self, view: memoryview) -> None:
        """The members of an archive that are ELF files or containers; others are none of ours, or named."""
        count = found = 0
        try:
            for member in members(view):
                count += 1
                data = view[member.offset : member.offset + member.size]
                found += self._member(member.name, data, member.offset)
        except DecodeError as refused:
            self.refuse(refused)
        if not found:
            why = f"archive, none of its {count} members has an offload section; was it built with an offload target?"
            self.refuse(FileError("no-offload-section", 0, why))

    def _member(self, name: str, data: memoryview, at: int) -> bool:
        """One member of an archive; whether there may be something in it."""
        container = _recognised(data)
        if container == "elf":
            return self.elf(data, at)
        if container == "unknown" or not data:
            return False
        if container == "offload-binary":
            self.read(data, at)
        else:
            why = f"member {name!r} is no ELF file and no OffloadBinary: {_hint(container, data)}"
            self.refuse(DecodeError("unsupported-container", at, why))
        return True
