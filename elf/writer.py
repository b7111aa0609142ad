"""Writing version 1 OffloadBinary containers, byte for byte as `llvm-offload-binary` 22 does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from olpick.elf.layout import (
    ENTRY,
    HEADER,
    MAGIC,
    RECORD,
    SMALLEST,
    VERSION,
    Readable,
    align,
    string_budget,
)


@dataclass(frozen=True, slots=True)
class Packed:
    """One image to be written.

    Attributes:
        data: the image; may be empty.
        strings: key to value; the records are written in this order. Neither may hold a NUL; surrogate escapes, as
            `Image.strings` has them, are written as the bytes they stand for.
        kind: the image kind, 0 to 65535.
        producer: the offload kind, 0 to 65535.
        flags: of the entry, 0 to 2^32 - 1.
    """

    data: Readable = field(repr=False)
    strings: Mapping[str, str]
    kind: int = 0
    producer: int = 0
    flags: int = 0


def pack(images: Iterable[Packed]) -> bytes:
    """Write one binary for each image, one after another; no images give no bytes.

    What it returns reads back without an error (OLP-CONT-001 to 011).

    Raises:
        ValueError: a field does not fit, a string holds a NUL or cannot be encoded, or the strings together are longer
            than OLP-CONT-010 lets a reader accept.
    """
    return b"".join(_binary(image) for image in images)


def _binary(image: Packed) -> bytes:
    for name, value, bits in (("kind", image.kind, 16), ("producer", image.producer, 16), ("flags", image.flags, 32)):
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{name} is {value}, which does not fit {bits} bits")
    data = bytes(image.data)
    pairs = [(_encoded(key), _encoded(value)) for key, value in image.strings.items()]
    table, places = _string_table({string for pair in pairs for string in pair})
    table_at = SMALLEST + RECORD.size * len(pairs)
    image_at = align(table_at + len(table))
    size = align(image_at + len(data))
    length = sum(len(key) + len(value) for key, value in pairs)
    if length > string_budget(size):
        raise ValueError(
            f"the strings have {length} bytes together, more than the {string_budget(size)} of OLP-CONT-010"
        )
    parts = (
        HEADER.pack(MAGIC, VERSION, size, HEADER.size, ENTRY.size),
        ENTRY.pack(image.kind, image.producer, image.flags, SMALLEST, len(pairs), image_at, len(data)),
        *(RECORD.pack(table_at + places[key], table_at + places[value]) for key, value in pairs),
        table.ljust(image_at - table_at, b"\0"),
        data.ljust(size - image_at, b"\0"),
    )
    return b"".join(parts)


def _encoded(string: str) -> bytes:
    encoded = string.encode("utf-8", "surrogateescape")
    if b"\0" in encoded:
        raise ValueError(f"the string {string[:40]!a} holds a NUL, which ends a string of a version 1 binary")
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
