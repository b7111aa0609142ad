"""A writer of OffloadBinaries, of versions 1 to 3, that are not compressed (`builders.packed` compresses)."""

import struct
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["FIELDS", "HEADER_FIELDS", "Binary", "Entry"]

MAGIC: Final = b"\x10\xff\x10\xad"
ENTRY_SIZE: Final = 40

HEADER_FIELDS: Final = {
    "magic": (0, 4),
    "version": (4, 4),
    "size": (8, 8),
    "entry_offset": (16, 8),
    "entry_size": (24, 8),
    "entry_count": (24, 8),
    "inflated_size": (32, 8),
}
"""Place and width of each field of the header. Version 1 has `entry_size`, the others have `entry_count`."""

FIELDS: Final = {
    "kind": (0, 2),
    "producer": (2, 2),
    "flags": (4, 4),
    "string_offset": (8, 8),
    "num_strings": (16, 8),
    "image_offset": (24, 8),
    "image_size": (32, 8),
}
"""Place and width of each field of an entry."""


@dataclass(frozen=True)
class Entry:
    """What an entry says. A string may stand more than once; in versions 2 and 3 a value may hold zero bytes."""

    image: bytes = b""
    strings: tuple[tuple[bytes, bytes], ...] = ()
    kind: int = 1
    producer: int = 1
    flags: int = 0


@dataclass(frozen=True)
class Binary:
    """How a binary is laid out, and what is wrong with it.

    Header, gap, entries, string records of one entry after another, strings, images each at a multiple of 8.

    Attributes:
        entry: the first entry.
        gap: the bytes between header and entries, a multiple of 8 of them to be well-formed.
        tail: bytes after the last image that belong to the binary.
        merged: whether a string that another one ends with is stored in that one.
        wrong: fields that are overwritten at last, with their values: those of the header and the first entry by name,
            those of the second by `1.` and the name, and so on.
        records: u64s of the string records that are overwritten at last: which, and the value.
        version: 1, 2 or 3.
        more: the other entries.
        shared: whether all entries name the records of the first.
        shift: how many bytes past a multiple of 8 each image but the first begins.
    """

    entry: Entry = Entry()
    gap: bytes = b""
    tail: bytes = b""
    merged: bool = False
    wrong: tuple[tuple[str, int], ...] = ()
    records: tuple[tuple[int, int], ...] = ()
    version: int = 1
    more: tuple[Entry, ...] = ()
    shared: bool = False
    shift: int = 0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries."""
        return (self.entry, *self.more)

    @property
    def header(self) -> int:
        """The size of the header."""
        return 40 if self.version == 3 else 32

    @property
    def words(self) -> int:
        """How many u64s a string record has."""
        return 2 if self.version == 1 else 3

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
        first = fields["entry_offset"]
        for place, value in self.records:
            struct.pack_into("<Q", data, first + ENTRY_SIZE * len(self.entries) + 8 * place, value)
        for name, value in (fields | dict(self.wrong)).items():
            number, _, short = name.rpartition(".")
            if short in HEADER_FIELDS:
                at, width = HEADER_FIELDS[short]
            else:
                at, width = FIELDS[short]
                at += first + ENTRY_SIZE * int(number or 0)
            data[at : at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        return bytes(data)

    def _laid_out(self) -> tuple[dict[str, int], bytearray]:
        """The right values of all fields, and the bytes without header and entries."""
        first = self.header + len(self.gap)
        table = first + ENTRY_SIZE * len(self.entries)
        owners = (self.entry,) if self.shared else self.entries
        strings = [pair for entry in owners for pair in entry.strings]
        pool_at = table + 8 * self.words * len(strings)
        pool, places = _pool(strings, pool_at, merged=self.merged)
        data = bytearray(pool_at)
        data[self.header : first] = self.gap
        for number, (key, value) in enumerate(strings):
            words = (places[key], places[value], len(value))[: self.words]
            struct.pack_into(f"<{self.words}Q", data, table + 8 * self.words * number, *words)
        data += pool
        fields = {"magic": int.from_bytes(MAGIC, "little"), "version": self.version, "entry_offset": first}
        fields |= {"entry_size": ENTRY_SIZE} if self.version == 1 else {"entry_count": len(self.entries)}
        fields |= {"inflated_size": 0} if self.version == 3 else {}
        for number, entry in enumerate(self.entries):
            data += bytes(-len(data) % 8 + (self.shift if number else 0))
            records = self.entry.strings if self.shared else entry.strings
            prefix = f"{number}." if number else ""
            fields |= {
                f"{prefix}kind": entry.kind,
                f"{prefix}producer": entry.producer,
                f"{prefix}flags": entry.flags,
                f"{prefix}string_offset": table if records else 0,
                f"{prefix}num_strings": len(records),
                f"{prefix}image_offset": len(data),
                f"{prefix}image_size": len(entry.image),
            }
            data += entry.image
            table += 0 if self.shared else 8 * self.words * len(records)
        data += self.tail
        return fields | {"size": len(data)}, data


def _pool(strings: list[tuple[bytes, bytes]], at: int, *, merged: bool) -> tuple[bytes, dict[bytes, int]]:
    """The bytes of all strings from place `at` on, and where each begins."""
    pool = bytearray()
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
    return bytes(pool), places
