"""Section 1. The plain binary below, by hand: header 0 to 32, entry 32 to 72, one string record 72 to 88, the key
`arch` at 88, its value `generic` at 93, the image of 8 bytes at 104; Size 112.
"""

from dataclasses import replace
from typing import Any, Final

from olpick.conformance.builders import Binary, Entry
from olpick.conformance.vectors.cases.container_entries import entries_groups
from olpick.conformance.vectors.cases.container_nested import nested_groups
from olpick.conformance.vectors.cases.container_packed import packed_groups
from olpick.conformance.vectors.cases.container_tables import strings_groups
from olpick.conformance.vectors.cases.writing import Group, join

__all__ = ["groups"]

PLAIN: Final = Binary(Entry(b"an image", ((b"arch", b"generic"),)))
BARE: Final = Binary()
"""Header and entry alone, 72 bytes."""

M64: Final = 2**64


def plain(at: int = 0, **other: Any) -> dict[str, Any]:
    """What a reader says of the plain binary at a place of the buffer."""
    return {
        "binary": at,
        "offset": at + 104,
        "size": 8,
        "kind": 1,
        "producer": 1,
        "flags": 0,
        "strings": {"arch": "generic"},
        "findings": [],
    } | other


def bare(**other: Any) -> dict[str, Any]:
    """What a reader says of the bare one."""
    return {"size": 0, "strings": {}, "findings": []} | other


def groups() -> list[Group]:
    """All groups of the section, in the order of their numbers."""
    merged: dict[str, Group] = {}
    plain_ones = [*_frame(), *strings_groups(), _image_range(), *_walk(), *_fields(), _order_of_checks()]
    for group in (*plain_ones, *entries_groups(), *packed_groups(), *nested_groups()):
        merged.setdefault(group.requirement, Group(group.requirement)).tests.extend(group.tests)
    return [merged[requirement] for requirement in sorted(merged)]


def _frame() -> list[Group]:
    place, magic, truncated = Group("OLP-CONT-001"), Group("OLP-CONT-002"), Group("OLP-CONT-003")
    odd = Binary(Entry(b"-an image", ((b"arch", b"generic"),))).but(image_offset=105, image_size=8)
    place.reads("plain", "a plain binary; lay it at any address", join(PLAIN), plain())
    place.reads("image-at-odd-offset", "the image need not be aligned in its binary", join(odd), plain(offset=105))
    place.reads(
        "fields-all-ones",
        "every field that locates something says 2^64 - 1",
        join(PLAIN.but(size=M64 - 1, entry_offset=M64 - 1, string_offset=M64 - 1, image_offset=M64 - 1)),
        error=("bad-size", 0),
        flags="Negative Wrap",
    )

    bad_magic = ("not-offload-binary", 0)
    magic.reads("plain", "the magic is at the beginning", join(PLAIN), plain())
    magic.reads("elf", "an ELF file", b"\x7fELF" + bytes(68), error=bad_magic, flags="Negative")
    magic.reads("swapped", "the magic the other way round", b"\xad\x10\xff\x10" + PLAIN.build()[4:], error=bad_magic)
    magic.reads("padding-first", "zero bytes before the first binary", bytes(8) + PLAIN.build(), error=bad_magic)
    magic.reads(
        "short-other", "one byte that the magic does not begin with", b"\x11", error=bad_magic, flags="Negative"
    )
    magic.reads("last-byte", "the fourth byte differs", b"\x10\xff\x10\xae" + PLAIN.build()[4:], error=bad_magic)

    short = ("truncated", 0)
    truncated.reads("whole", "exactly 72 bytes: header and entry", join(BARE), bare(), flags="Boundary")
    truncated.reads("one-less", "31 bytes", join(BARE)[:31], error=short, flags="Negative Boundary")
    truncated.reads("header-alone", "32 bytes", join(BARE)[:32], error=("bad-size", 0), flags="Boundary")
    truncated.reads("cut-in-entry", "71 bytes", join(BARE)[:71], error=("bad-size", 0), flags="Boundary")
    bare3 = join(Binary(version=3))
    truncated.reads("version-3", "39 bytes of version 3", bare3[:39], error=short, flags="Negative Boundary")
    truncated.reads("version-3-32", "32 bytes of version 3", bare3[:32], error=short, flags="Negative Boundary")
    truncated.reads("version-3-header", "40 bytes of version 3", bare3[:40], error=("bad-size", 0), flags="Boundary")
    bare2 = join(Binary(version=2))
    truncated.reads("version-2-header", "32 bytes of version 2", bare2[:32], error=("bad-size", 0), flags="Boundary")
    truncated.reads("empty", "no bytes", b"", error=short, flags="Negative")
    truncated.reads("one-byte", "the first byte of the magic", b"\x10", error=short, flags="Negative")
    truncated.reads("magic-alone", "the magic and nothing else", b"\x10\xff\x10\xad", error=short, flags="Negative")
    truncated.reads("before-version", "the version is not looked at", join(BARE.but(version=9))[:31], error=short)
    truncated.reads(
        "second", "the second binary ends early", join(PLAIN) + join(BARE)[:31], plain(), error=("truncated", 112)
    )
    truncated.reads(
        "second-in-magic",
        "two bytes of the magic at the end",
        join(PLAIN) + b"\x10\xff",
        plain(),
        error=("truncated", 112),
        flags="Negative",
    )
    return [place, magic, truncated, *_header()]


def _header() -> list[Group]:
    version, size = Group("OLP-CONT-004"), Group("OLP-CONT-005")
    version.reads("one", "version 1", join(PLAIN), plain())
    for value in (2, 3):
        version.reads(f"{value}", f"version {value}", join(Binary(version=value)), bare())
    version.reads("header-alone", "version 9, 32 bytes", join(BARE.but(version=9))[:32], error=("bad-version", 0))
    for value in (0, 4, 0x0100_0000, 0x0200_0000, 0xFFFF_FFFF):
        version.reads(
            f"{value:x}",
            f"version {value:#x}",
            join(PLAIN.but(version=value)),
            error=("bad-version", 0),
            flags="Negative",
        )

    bad_size = ("bad-size", 0)
    size.reads("least", "72: no strings, no image", join(BARE), bare(), flags="Boundary")
    size.reads("with-tail", "bytes after the image belong to the binary", join(replace(PLAIN, tail=bytes(40))), plain())
    size.reads("not-aligned", "a Size that is no multiple of 8", join(replace(PLAIN, tail=b"!")), plain())
    for value, comment in (
        (0, "0"),
        (40, "40, all that upstream asks for"),
        (71, "one less than header and entry"),
        (113, "one more than the buffer"),
        (2**32 + 112, "right in its lower half"),
        (2**63, "2^63"),
        (M64 - 1, "2^64 - 1"),
    ):
        size.reads(f"{value:x}", comment, join(PLAIN.but(size=value)), error=bad_size, flags="Negative Boundary")
    size.reads(
        "second-beyond-buffer",
        "the Size of the second binary counts from that binary",
        join(PLAIN, PLAIN)[:-1],
        plain(),
        error=("bad-size", 112),
        flags="Negative",
    )

    entry, entry_size = Group("OLP-CONT-006"), Group("OLP-CONT-007")
    bad_entry = ("bad-entry-offset", 0)
    entry.reads(
        "after-gap", "8 bytes between header and entry", join(Binary(PLAIN.entry, gap=bytes(8))), plain(offset=112)
    )
    entry.reads("at-end", "the entry ends the binary", join(Binary(gap=bytes(64))), bare(), flags="Boundary")
    for value, comment in (
        (0, "over the header"),
        (24, "over the end of the header"),
        (33, "not a multiple of 8"),
        (36, "a multiple of 4 alone"),
        (80, "past Size - 40"),
        (2**32 + 32, "right in its lower half"),
        (M64 - 8, "wraps into the header"),
        (M64 - 40, "its end wraps to 0"),
    ):
        flags = "Negative Wrap" if value > 2**60 else "Negative"
        entry.reads(f"{value:x}", comment, join(PLAIN.but(entry_offset=value)), error=bad_entry, flags=flags)
    entry_size.reads("40", "40", join(PLAIN), plain())
    for value in (0, 39, 41, 80, 2**32 + 40):
        entry_size.reads(
            f"{value:x}", f"{value}", join(PLAIN.but(entry_size=value)), error=("bad-entry-size", 0), flags="Negative"
        )
    return [version, size, entry, entry_size]


def _image_range() -> Group:
    group = Group("OLP-CONT-011")
    bad = ("bad-image-range", 0)
    group.reads("to-the-end", "the image ends the binary", join(PLAIN), plain(), flags="Boundary")
    before = Binary(Entry(), gap=b"an image").but(image_offset=32, image_size=8)
    group.reads("before-entry", "between header and entry", join(before), bare(offset=32, size=8), flags="Boundary")
    over_strings = PLAIN.but(image_offset=72, image_size=40)
    group.reads(
        "over-strings", "records, strings and image may share bytes", join(over_strings), plain(offset=72, size=40)
    )
    group.reads("empty-at-end", "no bytes, at Size", join(BARE.but(image_offset=72)), bare(offset=72), flags="Boundary")
    group.reads("empty-in-entry", "no bytes touch nothing", join(BARE.but(image_offset=40)), bare(offset=40))
    group.reads("empty-at-0", "no bytes, at 0", join(BARE.but(image_offset=0)), bare(offset=0))
    for name, offset, size, comment in (
        ("one-too-long", 104, 9, "one byte past the end"),
        ("one-too-late", 105, 8, "one byte past the end"),
        ("over-header", 31, 1, "the last byte of the header"),
        ("at-0", 0, 8, "in the header"),
        ("in-entry", 40, 8, "in the entry"),
        ("entry-first-byte", 32, 1, "the first byte of the entry"),
        ("entry-last-byte", 71, 1, "the last byte of the entry"),
        ("around-all", 0, 112, "the whole binary"),
        ("sum-wraps", M64 - 4, 112, "offset and size sum to 108"),
        ("size-wraps", 104, M64 - 1, "offset and size sum to 103"),
        ("offset-half", 2**63, 8, "2^63"),
        ("empty-past-end", 113, 0, "no bytes, past Size"),
        ("empty-far", M64 - 1, 0, "no bytes, at 2^64 - 1"),
    ):
        flags = "Negative Wrap" if "wraps" in name else "Negative Boundary"
        group.reads(name, comment, join(PLAIN.but(image_offset=offset, image_size=size)), error=bad, flags=flags)
    return group


def _walk() -> list[Group]:
    several, junk = Group("OLP-CONT-012"), Group("OLP-CONT-013")
    one, two = join(PLAIN), [plain(), plain(112)]
    several.reads("two", "two binaries", join(PLAIN, PLAIN), *two)
    several.reads("padding", "8 zero bytes between them", one + bytes(8) + one, plain(), plain(120))
    several.reads("much-padding", "256 zero bytes between them", one + bytes(256) + one, plain(), plain(368))
    several.reads("trailing-padding", "zero bytes at the end", one + bytes(8), plain())
    several.reads("short-padding", "3 zero bytes at the end", one + bytes(3), plain(), flags="Boundary")
    several.reads("long-padding", "11 zero bytes at the end", one + bytes(11), plain(), flags="Boundary")
    odd = Binary(Entry(b"an imag", ((b"arch", b"generic"),)))
    several.reads("rounded-up", "Size is 111, the next begins at 112", join(odd, PLAIN), plain(size=7), plain(112))
    several.reads(
        "gap-not-looked-at",
        "the byte between the end and the next multiple of 8 is not zero",
        odd.build() + b"\xff" + one,
        plain(size=7),
        plain(112),
        open_to_reading=True,
    )
    several.reads("odd-end", "Size is 111, and nothing follows", odd.build(), plain(size=7))
    several.reads(
        "magic-in-image",
        "boundaries come from Size",
        join(Binary(Entry(b"12345678" + one)), PLAIN),
        bare(size=120),
        plain(192),
        flags="Negative",
    )
    several.reads(
        "not-aligned",
        "4 zero bytes are no padding before a binary",
        one + bytes(4) + one,
        plain(),
        finding=("junk-after-binary", 112),
        flags="Negative Boundary",
    )

    found = ("junk-after-binary", 112)
    junk.reads("none", "nothing is left", one, plain(), flags="Negative")
    junk.reads("text", "text is left", one + b"trailing text", plain(), finding=found)
    junk.reads("one-byte", "one byte is left", one + b"!", plain(), finding=found, flags="Boundary")
    junk.reads("almost-magic", "three bytes, the last of them wrong", one + b"\x10\xff\x11", plain(), finding=found)
    junk.reads(
        "hidden-binary", "junk, then a binary: the walk has ended", one + b"junkjunk" + one, plain(), finding=found
    )
    junk.reads(
        "after-padding",
        "its offset is that of the junk",
        one + bytes(16) + b"junk",
        plain(),
        finding=("junk-after-binary", 128),
    )
    junk.reads(
        "in-group",
        "a group of 8 with one byte that is not zero",
        one + bytes(7) + b"\1" + bytes(8),
        plain(),
        finding=found,
    )
    junk.reads(
        "in-short-group",
        "a shorter group at the end, not all zero",
        one + bytes(8) + b"\0\0\1",
        plain(),
        finding=("junk-after-binary", 120),
        flags="Boundary",
    )
    return [several, junk]


def _fields() -> list[Group]:
    twice, unknown = Group("OLP-CONT-014"), Group("OLP-CONT-015")

    def strings(*pairs: tuple[bytes, bytes]) -> bytes:
        return join(Binary(Entry(strings=pairs)))

    twice.reads(
        "last-counts",
        "arch twice",
        strings((b"arch", b"haswell"), (b"arch", b"skx")),
        {"strings": {"arch": "skx"}, "findings": ["duplicate-key"]},
    )
    twice.reads(
        "same-value",
        "triple twice with one value",
        strings((b"triple", b"x"), (b"arch", b""), (b"triple", b"x")),
        {"strings": {"triple": "x", "arch": ""}, "findings": ["duplicate-key"]},
    )
    twice.reads(
        "other-key",
        "a key without a meaning twice",
        strings((b"note", b"1"), (b"note", b"2")),
        {"strings": {"note": "2"}, "findings": []},
        flags="Negative",
    )
    twice.reads(
        "case",
        "keys that differ in case",
        strings((b"arch", b"1"), (b"Arch", b"2")),
        {"strings": {"arch": "1", "Arch": "2"}, "findings": []},
        flags="Negative",
    )

    def known(kind: int = 1, producer: int = 1, flags: int = 0) -> bytes:
        return join(Binary(Entry(kind=kind, producer=producer, flags=flags)))

    odd = ["unknown-kind"]
    unknown.reads("kind-7", "image kind 7", known(kind=7), bare(kind=7, findings=odd), flags="Boundary")
    unknown.reads("kind-65535", "image kind 65535", known(kind=65535), bare(kind=65535, findings=odd))
    unknown.reads("producer-16", "producer 16", known(producer=16), bare(producer=16, findings=odd), flags="Boundary")
    unknown.reads("producer-17", "a bit that is not known", known(producer=17), bare(producer=17, findings=odd))
    unknown.reads("kind-6", "image kind 6", known(kind=6), bare(kind=6), flags="Negative Boundary")
    unknown.reads("kind-0", "image kind 0", known(kind=0), bare(kind=0), flags="Negative")
    unknown.reads("producer-15", "all known bits", known(producer=15), bare(producer=15), flags="Negative")
    unknown.reads("producer-0", "producer 0", known(producer=0), bare(producer=0), flags="Negative")
    unknown.reads("flags", "all flags", known(flags=0xFFFF_FFFF), bare(flags=0xFFFF_FFFF), flags="Negative")
    return [twice, unknown]


def _order_of_checks() -> Group:
    group = Group("OLP-CONT-016")
    group.reads("good", "no error: all are delivered", join(PLAIN, PLAIN), plain(), plain(112))
    group.reads(
        "second-bad",
        "the first is delivered",
        join(PLAIN, PLAIN.but(version=4), PLAIN),
        plain(),
        error=("bad-version", 112),
        flags="Negative",
    )
    for name, wrong, code in (
        ("version-then-size", {"version": 4, "size": 0}, "bad-version"),
        ("size-then-entry-offset", {"size": 71, "entry_offset": 1}, "bad-size"),
        ("entry-offset-then-size", {"entry_offset": 1, "entry_size": 1}, "bad-entry-offset"),
        ("entry-size-then-table", {"entry_size": 1, "string_offset": 0}, "bad-entry-size"),
        ("table-then-image", {"string_offset": 0, "image_offset": 0}, "bad-string-table"),
    ):
        group.reads(name, "two faults", join(PLAIN.but(**wrong)), error=(code, 0), flags="Negative")
    bad_value = replace(PLAIN.but(image_offset=0), records=((1, 0),))
    group.reads("string-then-image", "two faults", join(bad_value), error=("bad-string", 0), flags="Negative")
    return group
