"""Writing OffloadBinary containers: version 1 byte for byte as `llvm-offload-binary` 22 does, 2 and 3 as LLVM 23."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from olpick.elf.compression import deflate
from olpick.elf.layout import (
    ENTRY,
    HEADER,
    INFLATE_LIMIT,
    INFLATED_SIZE,
    MAGIC,
    VERSIONS,
    Readable,
    align,
    header_size,
    record,
    string_budget,
)


@dataclass(frozen=True, slots=True)
class Packed:
    """One image to be written.

    Attributes:
        data: the image; may be empty.
        strings: key to value; the records are written in this order. No key may hold a NUL, and no value in version 1;
            surrogate escapes, as `Image.strings` has them, are written as the bytes they stand for.
        kind: the image kind, 0 to 65535.
        producer: the offload kind, 0 to 65535.
        flags: of the entry, 0 to 2^32 - 1.
    """

    data: Readable = field(repr=False)
    strings: Mapping[str, str]
    kind: int = 0
    producer: int = 0
    flags: int = 0


def pack(images: Iterable[Packed], *, version: int = 1, compress: str | None = None, level: int | None = None) -> bytes:
    """Write images: in version 1 one binary for each, one after another, else one binary with all; none give no bytes.

    What it returns reads back without an error (OLP-CONT-001 to 017); only an image that is itself a container is read
    as what is in it.

    Args:
        images: in their order.
        version: 1, 2 or 3.
        compress: `zlib` or `zstd`, in version 3; None leaves the binary as it is.
        level: of the compression; None for the algorithm's default.

    Raises:
        ValueError: a field does not fit, a string holds a NUL or cannot be encoded, the strings together are longer
            than OLP-CONT-010 lets a reader accept, there is no such version, compression or level, or the binary is
            larger than a reader inflates.
    """
    if version not in VERSIONS:
        raise ValueError(f"there is no version {version}; it is 1, 2 or 3")
    if compress is not None and version != 3:
        raise ValueError(f"a binary of version {version} cannot be compressed; version 3 can")
    if compress is None and level is not None:
        raise ValueError("a level without a compression")
    all_images = tuple(images)
    if version == 1:
        return b"".join(_binary((image,), 1) for image in all_images)
    if not all_images:
        return b""
    whole = _binary(all_images, version)
    return whole if compress is None else _compressed(whole, compress, level)


def _binary(images: Sequence[Packed], version: int) -> bytes:
    for image in images:
        _check_fields(image)
    layout = record(version)
    entries = [
        [(_encoded(key), _encoded(value, nul=version > 1)) for key, value in image.strings.items()] for image in images
    ]
    table, places = _string_table({string for pairs in entries for pair in pairs for string in pair})
    head = header_size(version)
    records_at = head + ENTRY.size * len(images)
    table_at = records_at + layout.size * sum(map(len, entries))
    image_at = align(table_at + len(table))
    # Only the first image is aligned: so does LLVM.
    starts = [*accumulate((len(memoryview(image.data).cast("B")) for image in images), initial=image_at)]
    size = align(starts[-1])
    length = sum(len(string) for pairs in entries for pair in pairs for string in pair)
    if length > string_budget(size):
        raise ValueError(
            f"the strings have {length} bytes together, more than the {string_budget(size)} of OLP-CONT-010"
        )
    number = ENTRY.size if version == 1 else len(images)
    tables_at = accumulate((layout.size * len(pairs) for pairs in entries), initial=records_at)

    def parts() -> Iterator[bytes | Readable]:
        yield HEADER.pack(MAGIC, version, size, head, number)
        yield bytes(head - HEADER.size)  # not compressed
        for image, pairs, at, start, end in zip(images, entries, tables_at, starts, starts[1:], strict=False):
            yield ENTRY.pack(image.kind, image.producer, image.flags, at, len(pairs), start, end - start)
        for key, value in (pair for pairs in entries for pair in pairs):
            sizes = (len(value),) if version > 1 else ()
            yield layout.pack(table_at + places[key], table_at + places[value], *sizes)
        yield table.ljust(image_at - table_at, b"\0")
        yield from (image.data for image in images)
        yield bytes(size - starts[-1])

    return b"".join(parts())


def _compressed(whole: bytes, algorithm: str, level: int | None) -> bytes:
    """A version 3 binary, compressed from its entries on; padded behind its end (OLP-CONT-012, 017)."""
    if len(whole) > INFLATE_LIMIT:
        raise ValueError(f"the binary has {len(whole)} bytes, more than the {INFLATE_LIMIT} that a reader inflates")
    _, version, inflated_size, entries_at, count = HEADER.unpack_from(whole)
    payload = deflate(whole[entries_at:], algorithm, level)
    size = entries_at + len(payload)
    header = HEADER.pack(MAGIC, version, size, entries_at, count) + INFLATED_SIZE.pack(inflated_size)
    return (header + payload).ljust(align(size), b"\0")


def _check_fields(image: Packed) -> None:
    for name, value, bits in (("kind", image.kind, 16), ("producer", image.producer, 16), ("flags", image.flags, 32)):
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{name} is {value}, which does not fit {bits} bits")


def _encoded(string: str, *, nul: bool = False) -> bytes:
    encoded = string.encode("utf-8", "surrogateescape")
    if b"\0" in encoded and not nul:
        raise ValueError(f"the string {string[:40]!a} holds a NUL, which ends a key, and a value of version 1")
    return encoded


def _string_table(strings: set[bytes]) -> tuple[bytes, dict[bytes, int]]:
    """A table that begins with a NUL, and where in it each string stands; a string that ends another one shares it.

    Sorted by their last byte first and downwards, a string comes right after the longest one that it ends.
    """
    table = bytearray(b"\0")
    places = {b"": 0}
    for string in sorted(strings - {b""}, key=lambda string: string[::-1], reverse=True):
        ended = string + b"\0"
        if not table.endswith(ended):
            table += ended
        places[string] = len(table) - len(ended)
    return bytes(table), places
