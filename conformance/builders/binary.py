"""A writer of version 1 OffloadBinaries."""

import struct
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["FIELDS", "Binary", "Entry"]

MAGIC: Final = b"\x10\xff\x10\xad"
HEADER: Final = struct.Struct("<4sIQQQ")
ENTRY: Final = struct.Struct("<HHIQQQQ")
RECORD: Final = struct.Struct("<QQ")

FIELDS: Final = (
    "magic",
    "version",
    "size",
    "entry_offset",
    "entry_size",
    "kind",
    "producer",
    "flags",
    "string_offset",
    "num_strings",
    "image_offset",
    "image_size",
)
"""The fields of header and entry, in the order of the table in section 1."""

WIDTHS: Final = dict(zip(FIELDS, (4, 4, 8, 8, 8, 2, 2, 4, 8, 8, 8, 8), strict=True))


@dataclass(frozen=True)
class Entry:
    """What a binary is made of. A string may stand more than once."""

    image: bytes = b""
    strings: tuple[tuple[bytes, bytes], ...] = ()
    kind: int = 1
    producer: int = 1
    flags: int = 0


@dataclass(frozen=True)
class Binary:
    """How a binary is laid out, and what is wrong with it.

    Attributes:
        entry: what it holds.
        gap: the bytes between header and entry, a multiple of 8 of them to be well-formed.
        tail: bytes after the image that belong to the binary.
        merged: whether a string that another one ends with is stored in that one.
        wrong: fields that are overwritten at last, by name, with their values.
        records: string offsets that are overwritten at last: place (two a record) and value.
    """

    entry: Entry = Entry()
    gap: bytes = b""
    tail: bytes = b""
    merged: bool = False
    wrong: tuple[tuple[str, int], ...] = ()
    records: tuple[tuple[int, int], ...] = ()

    def but(self, **fields: int) -> "Binary":
        """The same with fields overwritten."""
        return replace(self, wrong=(*self.wrong, *fields.items()))

    def fields(self) -> dict[str, int]:
        """The values of all fields as they are right."""
        return self._laid_out()[0]

    def size(self) -> int:
        """How many bytes it has."""
        return len(self._laid_out()[1])

    def build(self) -> bytes:
        """The bytes."""
        fields, data = self._laid_out()
        for place, value in self.records:
            struct.pack_into("<Q", data, fields["string_offset"] + 8 * place, value)
        values = fields | dict(self.wrong)
        masked = {name: value & ((1 << 8 * WIDTHS[name]) - 1) for name, value in values.items()}
        HEADER.pack_into(data, 0, masked["magic"].to_bytes(4, "little"), *(masked[name] for name in FIELDS[1:5]))
        ENTRY.pack_into(data, HEADER.size + len(self.gap), *(masked[name] for name in FIELDS[5:]))
        return bytes(data)

    def _laid_out(self) -> tuple[dict[str, int], bytearray]:
        """The right values of all fields, and the bytes without header and entry."""
        entry_offset = HEADER.size + len(self.gap)
        table = entry_offset + ENTRY.size
        at = table + RECORD.size * len(self.entry.strings)
        pool, places = _pool(self.entry.strings, at, merged=self.merged)
        image = (at + len(pool) + 7) // 8 * 8
        data = bytearray(image)
        data[HEADER.size : entry_offset] = self.gap
        for number, (key, value) in enumerate(self.entry.strings):
            RECORD.pack_into(data, table + RECORD.size * number, places[key], places[value])
        data[at : at + len(pool)] = pool
        data += self.entry.image + self.tail
        fields = {
            "magic": int.from_bytes(MAGIC, "little"),
            "version": 1,
            "size": len(data),
            "entry_offset": entry_offset,
            "entry_size": ENTRY.size,
            "kind": self.entry.kind,
            "producer": self.entry.producer,
            "flags": self.entry.flags,
            "string_offset": table if self.entry.strings else 0,
            "num_strings": len(self.entry.strings),
            "image_offset": image,
            "image_size": len(self.entry.image),
        }
        return fields, data


def _pool(strings: tuple[tuple[bytes, bytes], ...], at: int, *, merged: bool) -> tuple[bytes, dict[bytes, int]]:
    """The bytes of all strings from place `at` on, and where each begins."""
    pool = b""
    places: dict[bytes, int] = {}
    wanted = list(dict.fromkeys(part for pair in strings for part in pair))
    if merged:
        wanted.sort(key=len, reverse=True)  # so that the others can be tails of them
    for string in wanted:
        found = pool.find(string + b"\0") if merged else -1
        if found < 0:
            found = len(pool)
            pool += string + b"\0"
        places[string] = at + found
    return pool, places
