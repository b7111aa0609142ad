"""Version 1 OffloadBinary containers: from bytes to images (SPEC.md section 1, OLP-CONT).

Python integers do not wrap, so sums and products of hostile fields are compared as they are.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from olpick.elf.codes import table
from olpick.elf.errors import DecodeError
from olpick.elf.findings import Finding
from olpick.elf.layout import (
    ALIGNMENT,
    ENTRY,
    HEADER,
    KIND_NAMES,
    MAGIC,
    PRODUCER_BITS,
    RECORD,
    SMALLEST,
    VERSION,
    Readable,
    align,
    kind_name,
    producer_name,
    string_budget,
)

# A compiled pattern searches any buffer in place; memoryview has no `find`.
_find_zero: Final = re.compile(b"\0").search

_ZEROS: Final = bytes(64 * 1024)


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a container, with what its entry says about it.

    Attributes:
        index: its place among all images read, from 0.
        version: of the binary it stands in; 1.
        kind: the image kind, 0 to 65535, kept when unknown; a hint only, the bytes decide (`olpick.elf.form`).
        producer: the offload kind, 0 to 65535: a union of the bits 1 OpenMP, 2 CUDA, 4 HIP, 8 SYCL.
        flags: of the entry, 32 bits; none has a meaning in version 1.
        strings: key to value, in the order in which the keys first stand; of a key that stands twice the last value.
            Bytes that are not UTF-8 are kept as surrogate escapes.
        binary: where its binary begins, in bytes from the start of the buffer or file.
        offset: where the image begins, in bytes from the start of the buffer or file.
        size: of the image, in bytes; 0 for an entry without one.
        data: the image, a read-only view into the buffer (no copy).
        findings: what was odd about its binary.
    """

    index: int
    version: int
    kind: int
    producer: int
    flags: int
    strings: dict[str, str]
    binary: int
    offset: int
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


def read(buffer: Readable, *, strict: bool = False) -> Container:
    """Read all binaries of a buffer, one after another (OLP-CONT-001 to 016).

    The work is linear in the length of the buffer, whatever the bytes are: see `string_budget`.

    Args:
        buffer: contiguous bytes at any address. The images are views into it and keep it alive.
        strict: raise the first error instead of returning it with what was read before it.

    Raises:
        DecodeError: the buffer is malformed and `strict` is set. `code` is one of `truncated`, `not-offload-binary`,
            `bad-version`, `bad-size`, `bad-entry-offset`, `bad-entry-size`, `bad-string-table`, `bad-string`,
            `strings-too-long`, `bad-image-range`; `offset` is that of the binary.
    """
    view = memoryview(buffer).cast("B").toreadonly()
    images: list[Image] = []
    findings: list[Finding] = []
    error: DecodeError | None = None
    at = 0
    while not images or at < len(view):
        if images and not _begins_with_magic(view, at):
            message = f"neither zero padding nor another OffloadBinary in the last {len(view) - at} bytes; not read"
            findings.append(Finding.of("junk-after-binary", at, message))
            break
        try:
            image, size = _read_binary(view, at, len(images))
        except DecodeError as refused:
            if strict:
                raise
            error = refused
            break
        images.append(image)
        findings.extend(image.findings)
        at = _skip_padding(view, align(at + size))
    return Container(tuple(images), tuple(findings), error)


def _begins_with_magic(view: memoryview, at: int) -> bool:
    """Whether what is left agrees with the magic, as far as it goes (OLP-CONT-002, 003, 013)."""
    return MAGIC.startswith(bytes(view[at : at + len(MAGIC)]))


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


def _read_binary(view: memoryview, at: int, index: int) -> tuple[Image, int]:
    """The image of the binary at `at`, and the Size of that binary.

    The checks stand in the order of their requirements, which decides between two codes (OLP-CONT-016).
    """
    left = len(view) - at
    if not _begins_with_magic(view, at):
        raise DecodeError("not-offload-binary", at, "not an OffloadBinary, whose first bytes are 10 ff 10 ad")
    if not left:
        raise DecodeError("truncated", at, "there are no bytes at all")
    if left < SMALLEST:
        raise DecodeError("truncated", at, f"only {left} bytes of an OffloadBinary, whose header and entry take 72")
    _, version, size, entry_at, entry_size = HEADER.unpack_from(view, at)
    if version != VERSION:
        raise DecodeError("bad-version", at, f"OffloadBinary of version {version}; olpick reads version 1")
    if size < SMALLEST:
        raise DecodeError("bad-size", at, f"Size is {size}, less than the 72 bytes of header and entry")
    if size > left:
        raise DecodeError("bad-size", at, f"Size is {size}, but {left} bytes are left; the file may be cut off")
    if entry_at % ALIGNMENT or not HEADER.size <= entry_at <= size - ENTRY.size:
        raise DecodeError(
            "bad-entry-offset", at, f"EntryOffset is {entry_at}, not a multiple of 8 from 32 to {size - ENTRY.size}"
        )
    if entry_size != ENTRY.size:
        raise DecodeError("bad-entry-size", at, f"EntrySize is {entry_size}, not the 40 of version 1")

    body = view[at : at + size]
    kind, producer, flags, table_at, count, image_at, image_size = ENTRY.unpack_from(body, entry_at)
    strings, repeated = _read_strings(body, at, entry_at, table_at, count)
    image_end = image_at + image_size
    if image_end > size or (image_size and _touches(image_at, image_end, entry_at)):
        raise DecodeError(
            "bad-image-range",
            at,
            f"the image takes [{image_at}, {image_end}) of a binary of {size} bytes: past its end, or over its header"
            " or entry",
        )

    findings: list[Finding] = []
    if repeated is not None:
        message = f"key {repeated!r} stands more than once in one entry; the last value counts"
        findings.append(Finding.of("duplicate-key", at, message))
    if kind >= len(KIND_NAMES) or producer & ~PRODUCER_BITS:
        message = f"image kind {kind} or producer {producer} is not known to olpick; kept, and it decides nothing"
        findings.append(Finding.of("unknown-kind", at, message))
    data = body[image_at:image_end]
    place = at + image_at
    image = Image(index, version, kind, producer, flags, strings, at, place, image_size, data, tuple(findings))
    return image, size


def _touches(start: int, end: int, entry_at: int) -> bool:
    """Whether [start, end), which is not empty, shares a byte with the header or the entry."""
    return start < HEADER.size or (start < entry_at + ENTRY.size and end > entry_at)


def _read_strings(
    body: memoryview, at: int, entry_at: int, table_at: int, count: int
) -> tuple[dict[str, str], str | None]:
    """The strings of one binary (OLP-CONT-008 to 010), and the first key with a meaning that stands twice, if any."""
    strings: dict[str, str] = {}
    repeated: str | None = None
    if count == 0:
        return strings, repeated
    table_end = table_at + RECORD.size * count
    if table_end > len(body) or _touches(table_at, table_end, entry_at):
        raise DecodeError(
            "bad-string-table",
            at,
            f"the {count} string records take [{table_at}, {table_end}) of a binary of {len(body)} bytes: past its"
            " end, or over its header or entry",
        )
    entry_end = entry_at + ENTRY.size
    budget = left = string_budget(len(body))
    for record in RECORD.iter_unpack(body[table_at:table_end]):
        pair: list[str] = []
        for start in record:
            inside = HEADER.size <= start < len(body) and not entry_at <= start < entry_end
            zero = _find_zero(body, start) if inside else None
            if zero is None:
                raise DecodeError(
                    "bad-string",
                    at,
                    f"a string at {start} of a binary of {len(body)} bytes starts outside it, in its header or entry,"
                    " or has no end",
                )
            end = zero.start()
            left -= end - start
            if left < 0:  # before anything is copied
                raise DecodeError("strings-too-long", at, f"the strings together are longer than {budget} bytes")
            pair.append(str(body[start:end], "utf-8", "surrogateescape"))
        key, value = pair
        if repeated is None and key in strings and key in table("key"):
            repeated = key
        strings[key] = value
    return strings, repeated
