"""Section 1: string records of versions 2 and 3, OLP-CONT-008 to 010.

`ONE` and `TWO` are those of `container_entries`.
"""

import struct
from dataclasses import replace
from typing import Any, Final

from olpick.conformance.builders import Binary, Entry
from olpick.conformance.builders.packed import Packed
from olpick.conformance.vectors.cases.writing import Group, join

__all__ = ["values_groups"]

FIRST: Final = Entry(b"an image", ((b"arch", b"generic"),))
ONE: Final = Binary(FIRST, version=2)
TWO: Final = Binary(FIRST, version=2, more=(Entry(b"another", ((b"arch", b"haswell"),)),))
M64: Final = 2**64


def values_groups() -> list[Group]:
    """The groups of this module."""
    return [_table(), _value(), _sum()]


def _has(strings: dict[str, str]) -> dict[str, Any]:
    return {"strings": strings, "findings": []}


def _table() -> Group:
    group = Group("OLP-CONT-008")
    bad = ("bad-string-table", 0)
    record = struct.pack("<QQQ", 96, 101, 7)
    at_end = Binary(Entry(record, FIRST.strings), version=2)
    told = _has({"arch": "generic"})
    group.reads("to-the-end-2", "24 bytes end the binary", join(at_end.but(string_offset=112)), told, flags="Boundary")
    short = replace(at_end, entry=Entry(record[:23], FIRST.strings)).but(string_offset=112)
    group.reads("one-less-2", "23 bytes are left", join(short), error=bad, flags="Negative Boundary")
    sixteen = replace(at_end, entry=Entry(record[:16], FIRST.strings)).but(string_offset=112)
    group.reads("16-bytes-2", "a record of version 1 is left", join(sixteen), error=bad, flags="Negative")
    shared = Binary(FIRST, version=2, more=(Entry(),), shared=True)
    group.reads("shared", "two entries name one table", join(shared), told, told)
    several = Binary(Entry(strings=((b"a", b"1"), (b"b", b"2"), (b"c", b""))), version=3)
    group.reads("three-records", "three records", join(several), _has({"a": "1", "b": "2", "c": ""}))
    for name, offset, count, comment in (
        ("in-second-entry", 80, 1, "over the second entry"),
        ("second-entry-last-byte", 111, 1, "over its last byte"),
        ("one-too-late-2", 176, 1, "one byte past the end"),
        ("product-wraps-2", 112, 2**61, "24 x 2^61 wraps to 0"),
        ("product-wraps-to-one-2", 112, 2**61 + 1, "24 x (2^61 + 1) wraps to 24"),
        ("2-60", 112, 2**60, "2^60 records"),
        ("offset-wraps-2", M64 - 24, 1, "its end wraps to 0"),
        ("many-2", 112, M64 - 1, "2^64 - 1 records"),
    ):
        flags = "Negative Wrap" if "wraps" in name else "Negative Boundary"
        container = join(TWO.but(string_offset=offset, num_strings=count))
        group.reads(name, comment, container, error=bad, flags=flags)
        container = join(replace(TWO, wrong=(("1.string_offset", offset), ("1.num_strings", count))))
        group.reads(f"{name}-of-second", f"{comment}, of the second entry", container, error=bad, flags=flags)
    # 32 + 8 x 40 + 10 x 24 + 3, rounded up 600; 80 records want 1280.
    counted = Entry(strings=((b"", b"1"),) * 10)
    for name, tail, comment in (("count", 680, "80 records, Size / 16"), ("count-more", 679, "80 records, 79 allowed")):
        binary = Binary(counted, version=2, more=(Entry(),) * 7, shared=True, tail=bytes(tail))
        if name == "count":
            group.reads(name, comment, join(binary), *[_has({"": "1"})] * 8, flags="Boundary")
        else:
            group.reads(name, comment, join(binary), error=bad, flags="Negative Boundary")
    return group


def _value() -> Group:
    group = Group("OLP-CONT-009")
    bad = ("bad-string", 0)

    def value(offset: int, size: int) -> bytes:
        return join(replace(ONE, records=((1, offset), (2, size))))

    zero = Binary(Entry(strings=((b"arch", b"\0a\0"), (b"note", b"\0"))), version=2)
    group.reads("zero-bytes", "values with zero bytes", join(zero), _has({"arch": "\0a\0", "note": "\0"}))
    zero = replace(zero, version=3)
    group.reads("zero-bytes-3", "the same in version 3", join(zero), _has({"arch": "\0a\0", "note": "\0"}))
    for name, offset, size, text, comment in (
        ("not-ended-2", 112, 8, "an image", "no zero byte follows; it ends the binary"),
        ("part", 101, 3, "gen", "a part of what stands there"),
        ("over-zero", 96, 12, "arch\0generic", "it goes over a zero byte"),
        ("in-records-2", 72, 1, "`", "over the records"),
        ("empty-at-size", 120, 0, "", "no bytes, at Size"),
        ("empty-in-entry", 40, 0, "", "no bytes, in the entry"),
        ("empty-at-0", 0, 0, "", "no bytes, at 0"),
    ):
        group.reads(name, comment, value(offset, size), _has({"arch": text}), flags="Boundary")
    gap = replace(Binary(FIRST, gap=b"AAAAAAAA", version=2), records=((1, 32), (2, 9)))
    group.reads(
        "into-entry-2",
        "it begins before the entry and ends in it",
        join(gap),
        _has({"arch": "AAAAAAAA\1"}),
        open_to_reading=True,
    )
    for name, offset, size, comment in (
        ("one-too-long", 112, 9, "one byte past the end"),
        ("at-size-2", 120, 1, "it begins at Size"),
        ("in-entry-2", 71, 1, "the last byte of the entry"),
        ("in-header-2", 31, 1, "the last byte of the header"),
        ("sum-wraps", M64 - 4, 8, "its end wraps to 4"),
        ("size-wraps", 101, M64 - 1, "its end wraps to 100"),
        ("size-high", 101, 2**32 + 7, "right in its lower half"),
    ):
        flags = "Negative Wrap" if "wraps" in name else "Negative Boundary"
        group.reads(f"value-{name}", comment, value(offset, size), error=bad, flags=flags)
    group.reads("empty-past-size", "no bytes, past Size", value(121, 0), error=bad, open_to_reading=True)
    group.reads("empty-far", "no bytes, at 2^64 - 1", value(M64 - 1, 0), error=bad, open_to_reading=True)
    for name, offset, comment in (
        ("not-ended", 112, "no zero byte follows inside"),
        ("in-second-entry", 72, "in the second entry"),
        ("at-size", 199, "it begins at Size"),
    ):
        container = join(replace(TWO if "second" in name or "size" in name else ONE, records=((0, offset),)))
        group.reads(f"key-{name}-2", comment, container, error=bad, flags="Negative")
    header = join(replace(Binary(FIRST, version=3), records=((0, 39),)))
    group.reads("key-in-header-3", "the last byte of the header of version 3", header, error=bad, flags="Negative")
    return group


def _sum() -> Group:
    """Two entries share 32 records of one string of 1200 bytes: a sum of 153600, which is 64 x 2400."""
    group = Group("OLP-CONT-010")
    too_long = ("strings-too-long", 0)
    text = b"s" * 1200
    # 32 + 80 + 32 x 24 + 1201 = 2081 bytes, rounded up 2088; 8 more in version 3.
    many = Binary(Entry(strings=((text, text),) * 32), version=2, more=(Entry(),), shared=True, tail=bytes(312))
    told = [_has({text.decode(): text.decode()})] * 2
    group.reads("entries", "64 x Size, over two entries", join(many), *told, flags="Boundary")
    less = replace(many, tail=bytes(311))
    group.reads("entries-more", "64 more than that", join(less), error=too_long, flags="Negative Boundary")
    last = join(replace(less, wrong=(("1.image_offset", 0), ("1.image_size", 1))))
    group.reads("entries-before-image", "before the last image", last, error=too_long, flags="Negative")
    early = join(less.but(image_offset=0, image_size=1))
    group.reads("image-before", "after the first image", early, error=("bad-image-range", 0), flags="Negative")
    packed = replace(many, version=3, tail=bytes(304))
    group.reads("inflated", "64 x InflatedSize", join(Packed(packed)), *told, flags="Boundary")
    more = join(Packed(replace(packed, tail=bytes(303))))
    group.reads(
        "inflated-more", "more than that, not more than 64 x Size", more, error=too_long, flags="Negative Boundary"
    )
    return group
