"""Section 1: the string records and the strings, OLP-CONT-008 to 010. The plain binary is that of `container`."""

import struct
from dataclasses import replace
from typing import Any, Final

from olpick.conformance.builders import Binary, Entry
from olpick.conformance.vectors.cases.writing import Group, join

__all__ = ["strings_groups"]

PLAIN: Final = Binary(Entry(b"an image", ((b"arch", b"generic"),)))
M64: Final = 2**64


def strings_groups() -> list[Group]:
    """The groups of this module, in the order of their numbers."""
    return [_table(), _string(), _sum()]


def _has(strings: dict[str, str], **other: Any) -> dict[str, Any]:
    return {"strings": strings, "findings": []} | other


def _table() -> Group:
    group = Group("OLP-CONT-008")
    bad = ("bad-string-table", 0)
    group.reads("plain", "one record after the entry", join(PLAIN), _has({"arch": "generic"}))
    # The image is a record of the strings at 88 and 93.
    at_end = Binary(Entry(struct.pack("<QQ", 88, 93), PLAIN.entry.strings)).but(string_offset=104)
    group.reads("to-the-end", "the records end the binary", join(at_end), _has({"arch": "generic"}), flags="Boundary")
    unaligned = Binary(Entry(b"!" + struct.pack("<QQ", 88, 93), PLAIN.entry.strings)).but(string_offset=105)
    group.reads("not-aligned", "the records may lie anywhere", join(unaligned), _has({"arch": "generic"}))
    before = Binary(Entry(strings=PLAIN.entry.strings), gap=struct.pack("<QQ", 104, 109)).but(string_offset=32)
    group.reads("before-entry", "between header and entry", join(before), _has({"arch": "generic"}), flags="Boundary")
    none = Binary().but(string_offset=M64 - 1)
    group.reads("none", "no records: their offset is not looked at", join(none), _has({}), flags="Boundary")
    for name, offset, count, comment in (
        ("at-0", 0, 1, "over the header"),
        ("header-last-byte", 31, 1, "over the last byte of the header"),
        ("in-entry", 40, 1, "over the entry"),
        ("entry-first-byte", 17, 1, "over header and entry"),
        ("entry-last-byte", 71, 1, "over the last byte of the entry"),
        ("one-too-late", 97, 1, "one byte past the end"),
        ("at-end", 112, 1, "all of it past the end"),
        ("one-too-many", 72, 3, "a record past the end"),
        ("offset-wraps", M64 - 16, 1, "its end wraps to 0"),
        ("offset-wraps-inside", M64 - 16, 7, "its end wraps to 96"),
        ("product-wraps", 72, 2**60, "16 x 2^60 wraps to 0"),
        ("product-wraps-to-one", 72, 2**60 + 1, "16 x (2^60 + 1) wraps to 16"),
        ("many", 72, M64 - 1, "2^64 - 1 records"),
        ("half", 2**63, 1, "2^63"),
    ):
        flags = "Negative Wrap" if "wraps" in name else "Negative Boundary"
        container = join(PLAIN.but(string_offset=offset, num_strings=count))
        group.reads(name, comment, container, error=bad, flags=flags)
    return group


def _string() -> Group:
    group = Group("OLP-CONT-009")
    bad = ("bad-string", 0)
    group.reads("plain", "key and value", join(PLAIN), _has({"arch": "generic"}))
    empty = Binary(Entry(strings=((b"", b""),)))
    group.reads("empty", "an empty key and an empty value", join(empty), _has({"": ""}), flags="Boundary")
    ends = replace(PLAIN, entry=replace(PLAIN.entry, image=b"value\0"))
    group.reads(
        "ends-the-binary",
        "the zero byte is the last of the binary",
        join(replace(ends, records=((1, 104),))),
        _has({"arch": "value"}),
        flags="Boundary",
    )
    group.reads(
        "last-byte",
        "the empty string in the last byte",
        join(replace(ends, records=((1, 109),))),
        _has({"arch": ""}),
        flags="Boundary",
    )
    merged = Binary(Entry(strings=((b"a-key", b"key"), (b"key", b"y"))), merged=True)
    group.reads("shared", "strings that are tails of others", join(merged), _has({"a-key": "key", "key": "y"}))
    own = replace(PLAIN, records=((1, 72),))
    group.reads("in-records", "a string may lie over the records", join(own), _has({"arch": "X"}))
    through = replace(Binary(PLAIN.entry, gap=b"AAAAAAAA"), records=((1, 32),))
    group.reads(
        "into-entry",
        "it begins before the entry and ends in it",
        join(through),
        _has({"arch": "AAAAAAAA\1"}),
        open_to_reading=True,
    )
    for name, place, value, comment in (
        ("key-at-size", 0, 112, "the key begins at Size"),
        ("value-at-size", 1, 112, "the value begins at Size"),
        ("key-at-0", 0, 0, "in the header"),
        ("value-at-31", 1, 31, "in the last byte of the header"),
        ("value-at-32", 1, 32, "in the first byte of the entry"),
        ("key-at-71", 0, 71, "in the last byte of the entry"),
        ("value-far", 1, M64 - 1, "2^64 - 1"),
        ("value-half", 1, 2**63 + 93, "right in its lower half"),
        ("key-low", 0, 2**32 + 88, "right in its lower half"),
        ("not-ended", 1, 104, "no zero byte follows inside"),
        ("last-byte-not-ended", 1, 111, "the last byte is not zero"),
    ):
        container = join(replace(PLAIN, records=((place, value),)))
        group.reads(name, comment, container, error=bad, flags="Negative Boundary")
    group.reads(
        "ended-outside",
        "the zero byte is in the next binary",
        join(replace(PLAIN, records=((1, 104),)), PLAIN),
        error=bad,
        flags="Negative",
    )
    return group


def _sum() -> Group:
    """64 records, key and value of each the one string of 1200 bytes: a sum of 153600, which is 64 x 2400."""
    group = Group("OLP-CONT-010")
    too_long = ("strings-too-long", 0)
    text = b"s" * 1200
    many = Entry(strings=((text, text),) * 64)
    # 72 + 64 x 16 + 1201 = 2297 bytes, rounded up to 2304.
    exact, less = Binary(many, tail=bytes(96)), Binary(many, tail=bytes(95))
    group.reads("plain", "few strings", join(PLAIN), _has({"arch": "generic"}))
    group.reads("exact", "64 x Size", join(exact), _has({text.decode(): text.decode()}), flags="Boundary")
    group.reads("one-more", "64 x Size and 64 more", join(less), error=too_long, flags="Negative Boundary")
    group.reads(
        "before-later-string",
        "a string after the sum is too long is not looked at",
        join(replace(Binary(many), records=((127, 0),))),
        error=too_long,
        flags="Negative",
    )
    group.reads(
        "after-earlier-string",
        "a bad string before that is found first",
        join(replace(Binary(many), records=((2, 0),))),
        error=("bad-string", 0),
        flags="Negative",
    )
    group.reads(
        "before-image",
        "the image is looked at after the strings",
        join(Binary(many).but(image_offset=0, image_size=8)),
        error=too_long,
        flags="Negative",
    )
    return group
