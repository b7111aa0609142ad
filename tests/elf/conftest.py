"""Builders of bytes, good and bad, that know nothing of olpick.elf."""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

MAGIC = b"\x10\xff\x10\xad"


def _raw(
    strings: Iterable[tuple[bytes, bytes]] = ((b"triple", b"x86_64-pc-linux-gnu"), (b"arch", b"haswell")),
    image: bytes = b"the image",
    *,
    kind: int = 1,
    producer: int = 1,
    flags: int = 0,
    magic: bytes = MAGIC,
    version: int = 1,
    size: int | None = None,
    entry_at: int = 32,
    entry_size: int = 40,
    table_at: int | None = None,
    count: int | None = None,
    image_at: int | None = None,
    image_size: int | None = None,
    records: Sequence[tuple[int, int]] | None = None,
) -> bytes:
    """One binary as the tools lay it out, each string private; what is given as a field is written as it is."""
    pairs = list(strings)
    table = b"\0"
    places = []
    strings_at = 72 + 16 * len(pairs if records is None else records)
    for pair in pairs:
        place = []
        for string in pair:
            place.append(strings_at + len(table))
            table += string + b"\0"
        places.append((place[0], place[1]))
    places = places if records is None else list(records)
    real_image_at = -(-(strings_at + len(table)) // 8) * 8
    real_size = -(-(real_image_at + len(image)) // 8) * 8

    def given(field: int | None, otherwise: int) -> int:
        return otherwise if field is None else field

    header = magic + struct.pack("<IQQQ", version, given(size, real_size), entry_at, entry_size)
    entry = struct.pack(
        "<HHIQQQQ",
        kind,
        producer,
        flags,
        given(table_at, 72),
        given(count, len(places)),
        given(image_at, real_image_at),
        given(image_size, len(image)),
    )
    body = header + entry + b"".join(struct.pack("<QQ", *place) for place in places) + table
    return (body.ljust(real_image_at, b"\0") + image).ljust(real_size, b"\0")


def _many(
    entries: Sequence[tuple[Sequence[tuple[bytes, bytes]], bytes]] = (
        ((), b"first"),
        (((b"arch", b"a\0b"),), b"second"),
    ),
    *,
    version: int = 2,
    flags: Sequence[int] = (),
    kind: int = 1,
    producer: int = 1,
    size: int | None = None,
    entries_at: int | None = None,
    count: int | None = None,
    inflated: int = 0,
    deflate: Callable[[bytes], bytes] | None = None,
    records: Sequence[tuple[int, int, int]] | None = None,
    fields: Mapping[int, bytes] | None = None,
) -> bytes:
    """One binary of version 2 or 3, each string private; what is given as a field is written as it is.

    `deflate` makes the payload of a compressed one. `records` replaces those of the first entry. `fields` overwrites
    bytes at offsets of the inflated binary. What is left out of `flags` is 0.
    """
    head = 32 if version == 2 else 40
    rows = [list(pairs) for pairs, _ in entries]
    at = head + 40 * len(rows)
    strings_at = at + 24 * (sum(map(len, rows)) if records is None else len(records))
    table, heads, written = b"\0", b"", b""
    image_at = -(-(strings_at + 1 + sum(len(k + v) + 2 for row in rows for k, v in row)) // 8) * 8
    images = b""
    for index, (row, (_, image)) in enumerate(zip(rows, entries, strict=True)):
        places = []
        for key, value in row:
            places.append((strings_at + len(table), strings_at + len(table + key) + 1, len(value)))
            table += key + b"\0" + value + b"\0"
        places = list(records) if index == 0 and records is not None else places
        flag = flags[index] if index < len(flags) else 0
        start = image_at + len(images)
        heads += struct.pack("<HHIQQQQ", kind, producer, flag, at + len(written), len(places), start, len(image))
        written += b"".join(struct.pack("<QQQ", *place) for place in places)
        images += image
    body = (heads + written + table).ljust(image_at - head, b"\0") + images
    body += bytes(-len(body) % 8)
    for place, field in (fields or {}).items():
        body = body[: place - head] + field + body[place - head + len(field) :]
    real_inflated = head + len(body)
    stored = body if deflate is None else deflate(body)
    inflated = inflated or (0 if deflate is None else real_inflated)
    numbers = (
        head + len(stored) if size is None else size,
        head if entries_at is None else entries_at,
        len(rows) if count is None else count,
    )
    header = MAGIC + struct.pack("<IQQQ", version, *numbers) + (struct.pack("<Q", inflated) if version == 3 else b"")
    return header + stored


def _elf(
    sections: Sequence[tuple[bytes, int, int, bytes]],
    *,
    bits: int = 64,
    order: str = "<",
    machine: int = 62,
    file_type: int = 3,
    extended: bool = False,
) -> bytes:
    """An ELF file of nothing but sections, each (name, type, flags, bytes); `extended` counts in section 0."""
    names = b"\0" + b"".join(name + b"\0" for name, *_ in sections) + b".shstrtab\0"
    header_size, step = (64, 64) if bits == 64 else (52, 40)
    rows: list[tuple[int, int, int, int, int]] = []
    body = b""
    for name, kind, flags, data in [*sections, (b".shstrtab", 3, 0, names)]:
        body = body.ljust(-(-len(body) // 8) * 8, b"\0")
        rows.append((names.index(b"\0" + name + b"\0") + 1, kind, flags, header_size + len(body), len(data)))
        body += data
    count, names_index = len(rows) + 1, len(rows)
    word = "Q" if bits == 64 else "I"
    first = struct.pack(
        f"{order}II4{word}II2{word}", 0, 0, 0, 0, 0, count if extended else 0, names_index if extended else 0, 0, 0, 0
    )
    table = first + b"".join(
        struct.pack(f"{order}II4{word}II2{word}", name, kind, flags, 0, offset, size, 0, 0, 8, 0)
        for name, kind, flags, offset, size in rows
    )
    ident = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    numbers = (0, 0xFFFF) if extended else (count, names_index)
    fields = (file_type, machine, 1, 0, 0, header_size + len(body), 0, header_size, 0, 0, step, *numbers)
    return ident + struct.pack(f"{order}HHI3{word}I6H", *fields) + body + table


@pytest.fixture(scope="session")
def raw() -> Callable[..., bytes]:
    """Builds one binary; see `_raw`."""
    return _raw


@pytest.fixture(scope="session")
def many() -> Callable[..., bytes]:
    """Builds one binary of version 2 or 3; see `_many`."""
    return _many


@pytest.fixture(scope="session")
def elf() -> Callable[..., bytes]:
    """Builds an ELF file; see `_elf`."""
    return _elf
