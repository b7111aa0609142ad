"""Section 1: versions 2 and 3 that are not compressed.

The binaries below, by hand. `TWO`, version 2: header 0 to 32, entries 32 to 112, records 112 to 160, `arch` at 160,
`generic` at 165, `haswell` at 173, images at 184 and 192, Size 199. `THREE` is the same as version 3: header 0 to 40,
entries 40 to 120, images at 192 and 200, Size 207. `ONE`, version 2: entry 32 to 72, record 72 to 96, `arch` at 96,
`generic` at 101, image at 112, Size 120.
"""

from dataclasses import replace
from typing import Any, Final

from olpick.conformance.builders import Binary, Entry
from olpick.conformance.vectors.cases.container_values import values_groups
from olpick.conformance.vectors.cases.writing import Group, holds, join

__all__ = ["ONE", "THREE", "TWO", "entries_groups"]

FIRST: Final = Entry(b"an image", ((b"arch", b"generic"),))
SECOND: Final = Entry(b"another", ((b"arch", b"haswell"),))
ONE: Final = Binary(FIRST, version=2)
TWO: Final = Binary(FIRST, version=2, more=(SECOND,))
THREE: Final = Binary(FIRST, version=3, more=(SECOND,))
PLAIN: Final = Binary(FIRST)
M64: Final = 2**64


def first(offset: int | None = 184, **other: Any) -> dict[str, Any]:
    """What a reader says of the first image."""
    return holds(b"an image", offset, {"arch": "generic"}, **other)


def second(offset: int | None = 192, **other: Any) -> dict[str, Any]:
    """What a reader says of the second."""
    return holds(b"another", offset, {"arch": "haswell"}, **other)


def entries_groups() -> list[Group]:
    """The groups of this module and of `container_values`."""
    return [_place(), *_header(), *values_groups(), _image(), *_walk(), *_fields(), _order_of_checks(), _metadata()]


def _place() -> Group:
    group = Group("OLP-CONT-001")
    group.reads("two-entries", "version 2", join(TWO), first(binary=0), second(binary=0))
    group.reads("two-entries-3", "version 3", join(THREE), first(192), second(200))
    group.reads("odd-image-2", "the second image at an odd offset", join(replace(TWO, shift=3)), first(), second(195))
    group.reads("odd-image-3", "the same, version 3", join(replace(THREE, shift=1)), first(192), second(201))
    return group


def _header() -> list[Group]:
    size, offset, count = Group("OLP-CONT-005"), Group("OLP-CONT-006"), Group("OLP-CONT-007")
    for version, least in ((2, 72), (3, 80)):
        bare = Binary(version=version)
        size.reads(f"least-{version}", f"{least}: header and entry", join(bare), holds(b"", least), flags="Boundary")
        size.reads(
            f"less-{version}",
            f"{least - 1}",
            join(bare.but(size=least - 1)),
            error=("bad-size", 0),
            flags="Negative Boundary",
        )
    bad = ("bad-entry-offset", 0)
    offset.reads("over-header-3", "the last 8 bytes of the header", join(THREE.but(entry_offset=32)), error=bad)
    offset.reads("past-end-2", "past Size - 40", join(ONE.but(entry_offset=88)), error=bad, flags="Negative Boundary")
    offset.reads("odd-3", "not a multiple of 8", join(THREE.but(entry_offset=44)), error=bad, flags="Negative")
    offset.reads("gap-3", "8 bytes between", join(replace(THREE, gap=bytes(8))), first(200), second(208))

    bad = ("bad-entry-count", 0)
    count.reads("two", "two entries", join(TWO), first(), second())
    count.reads("one-of-two", "the second is not named", join(TWO.but(entry_count=1)), first(), flags="Boundary")
    full = Binary(version=2, more=(Entry(),))
    count.reads("full", "the entries end the binary", join(full), *[holds(b"", 112)] * 2, flags="Boundary")
    last = Binary(version=2, gap=bytes(8))
    count.reads("last", "two, and the second is past Size", join(last.but(entry_count=2)), error=bad, flags="Negative")
    for name, value, comment in (
        ("none", 0, "no entry"),
        ("40", 40, "what is right in version 1"),
        ("five", 5, "32 + 200 is more than 199"),
        ("product-wraps", 2**61, "40 x 2^61 wraps to 0"),
        ("product-wraps-to-one", 2**61 + 1, "40 x (2^61 + 1) wraps to 40"),
        ("sum-wraps", M64 // 40, "32 + 40 x it wraps to 16"),
        ("all", M64 - 1, "2^64 - 1"),
        ("half", 2**32 + 1, "right in its lower half"),
    ):
        for binary in (TWO, THREE):
            container = join(binary.but(entry_count=value))
            flags = "Negative Wrap" if "wraps" in name else "Negative Boundary"
            count.reads(f"{name}-{binary.version}", comment, container, error=bad, flags=flags)
    return [size, offset, count]


def _image() -> Group:
    group = Group("OLP-CONT-011")
    bad = ("bad-image-range", 0)
    both = replace(TWO, wrong=(("1.image_offset", 184), ("1.image_size", 8)))
    group.reads("shared", "two entries with one image", join(both), first(), second() | first() | _haswell())
    empty = replace(TWO, wrong=(("1.image_offset", 199), ("1.image_size", 0)))
    group.reads("empty-at-end-2", "no bytes, at Size", join(empty), first(), second() | holds(b"", 199) | _haswell())
    for name, offset, size, comment in (
        ("second-entry", 72, 8, "over the entry itself"),
        ("second-entry-last-byte", 111, 1, "the last byte of it"),
        ("first-entry", 32, 1, "over the other entry"),
        ("one-too-long", 192, 8, "one byte past the end"),
        ("sum-wraps", M64 - 4, 199, "offset and size sum to 195"),
        ("empty-past-end", 200, 0, "no bytes, past Size"),
    ):
        container = join(replace(TWO, wrong=(("1.image_offset", offset), ("1.image_size", size))))
        flags = "Negative Wrap" if "wraps" in name else "Negative Boundary"
        group.reads(f"second-{name}", f"{comment}; none is delivered", container, error=bad, flags=flags)
    late = join(TWO.but(image_offset=72))
    group.reads("first-over-second-entry", "over the second entry", late, error=bad, flags="Negative")
    header = join(THREE.but(image_offset=39, image_size=1))
    group.reads("header-3", "the last byte of the header of version 3", header, error=bad, flags="Negative Boundary")
    return group


def _haswell() -> dict[str, Any]:
    return {"strings": {"arch": "haswell"}}


def _walk() -> list[Group]:
    several, junk = Group("OLP-CONT-012"), Group("OLP-CONT-013")
    # 112 + 199, rounded up 200, + 16 zero bytes.
    mixed = join(PLAIN, TWO) + bytes(1 + 16)
    told = [first(104, binary=0), first(296, binary=112), second(304, binary=112)]
    several.reads(
        "versions-mixed",
        "versions 1, 2, 3, with padding",
        join(mixed, THREE),
        *told,
        first(520, binary=328),
        second(528, binary=328),
    )
    junk.reads(
        "after-2", "after version 2", join(TWO) + b"!junk", first(), second(), finding=("junk-after-binary", 200)
    )
    junk.reads(
        "after-3",
        "after version 3",
        join(THREE) + b"!junk",
        first(192),
        second(200),
        finding=("junk-after-binary", 208),
    )
    return [several, junk]


def _fields() -> list[Group]:
    twice, unknown = Group("OLP-CONT-014"), Group("OLP-CONT-015")
    twice.reads("two-entries", "a key in two entries", join(TWO), first(), second(), flags="Negative")
    pair = ((b"arch", b"1"), (b"arch", b"2"))
    doubled = Binary(Entry(), version=2, more=(Entry(strings=pair),))
    twice.reads(
        "second-entry",
        "twice in the second entry",
        join(doubled),
        {"strings": {}, "findings": []},
        {"strings": {"arch": "2"}, "findings": ["duplicate-key"]},
    )
    odd = Binary(FIRST, version=3, more=(replace(SECOND, kind=7, producer=32, flags=6),))
    unknown.reads(
        "second-entry",
        "the second entry alone",
        join(odd),
        first(192),
        second(200, kind=7, producer=32, flags=6, findings=["unknown-kind"]),
    )
    return [twice, unknown]


def _order_of_checks() -> Group:
    group = Group("OLP-CONT-016")
    for name, wrong, code in (
        ("second-entry-alone", {"1.image_offset": 0}, "bad-image-range"),
        ("first-image-second-table", {"image_offset": 0, "1.string_offset": 0}, "bad-image-range"),
        ("first-table-second-image", {"string_offset": 0, "1.image_offset": 0}, "bad-string-table"),
        ("entry-offset-then-count", {"entry_offset": 1, "entry_count": 0}, "bad-entry-offset"),
        ("count-then-table", {"entry_count": 0, "string_offset": 0}, "bad-entry-count"),
    ):
        container = join(replace(TWO, wrong=tuple(wrong.items())))
        group.reads(name, "none of its images is delivered", join(PLAIN) + container, first(104), error=(code, 112))
    return group


def _metadata() -> Group:
    group = Group("OLP-CONT-019")
    for version, offset in ((2, 184), (3, 192)):
        marked = Binary(replace(FIRST, flags=1), version=version, more=(SECOND,))
        told = [first(offset, flags=1, metadata=True), second(offset + 8, flags=0, metadata=False)]
        group.reads(f"version-{version}", "it has bytes, and is metadata only", join(marked), *told)
    empty = Binary(Entry(strings=FIRST.strings, flags=1), version=2)
    group.reads(
        "no-bytes", "its strings are delivered", join(empty), holds(b"", 112, {"arch": "generic"}, metadata=True)
    )
    other = Binary(replace(FIRST, flags=0xFFFF_FFFE), version=2)
    group.reads("other-bits", "all bits but bit 0", join(other), first(112, metadata=False), flags="Negative")
    every = Binary(replace(FIRST, flags=0xFFFF_FFFF), version=2)
    group.reads("all-bits", "all bits", join(every), first(112, metadata=True))
    one = Binary(replace(FIRST, flags=1))
    group.reads("version-1", "no flag has a meaning", join(one), first(104, metadata=False), flags="Negative")
    wrong = Binary(replace(FIRST, flags=1), version=2).but(image_offset=0)
    group.reads("bad-range", "the range is checked", join(wrong), error=("bad-image-range", 0), flags="Negative")
    inner = Binary(Entry(join(PLAIN), flags=1), version=2)
    group.reads(
        "container",
        "bytes that are a container are no image",
        join(inner),
        holds(join(PLAIN), 72, metadata=True),
        open_to_reading=True,
    )
    return group
