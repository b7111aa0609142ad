"""Section 1: compressed binaries, OLP-CONT-017 and 018.

`THREE` is that of `container_entries`. It inflates to 207 bytes, 167 of them after the header; stored in a zlib stream
these are 178 bytes, and Size is 218.
"""

import struct
import zlib
from base64 import b64decode
from dataclasses import replace
from typing import Any, Final

from olpick.conformance.builders import Binary, Entry, Packed
from olpick.conformance.builders.packed import zlib_stored, zstd_frame
from olpick.conformance.vectors.cases.writing import Group, holds, join

__all__ = ["packed_groups"]

FIRST: Final = Entry(b"an image", ((b"arch", b"generic"),))
SECOND: Final = Entry(b"another", ((b"arch", b"haswell"),))
THREE: Final = Binary(FIRST, version=3, more=(SECOND,))
STORED: Final = Packed(THREE)
BODY: Final = THREE.build()[40:]

SMALLER: Final = replace(THREE, tail=bytes(2001))
"""2208 bytes, of which the payloads below were made once by zlib 1.3 and zstd 1.5."""
ZLIB: Final = (
    "eNpjZGBkAIEKBghghNIHoDQHXBwiMwFN3QkozQ6lV0DptTjEt6KJJxYlZzCkp+alFmUmM2QkFpen5uSAxfMUMnMT01MT8/JLMlKLGEbBKBgFo2AUjIJR"
    "MPQBAFWfErQ="
)
ZSTD: Final = (
    "KLUv/WB4B5UCADJHEBewqTVgGdUDJJk0YV1hbZdckuQhCUWQKZPFFqSpRaijEJp6w1iMotihSFZbRDYkKoL+zx/4T86/9w/+0v/+zb8XBABo/v0L6EQ76xGr"
    "U3s="
)
ZSTD_SUMMED: Final = (
    "KLUv/WR4B/UCAJQDAQABAHgAAADAAAAIAAABkMgHqACttWFyY2gAZ2VuZXJpYwBoYXN3ZWxsbiBpbWFnZWFub3RoZXIADwDN434FhAs62TkBwKgyGMgCsluq"
    "s57pQHNAeMxhweAAEAEU/B/C"
)
WITH_DICTIONARY: Final = (
    "eLsrOQXOY2RgZACBCgYIYITSB6A0B1wcIjMBTd0JKM0OpVdA6bU4xLeiiScWJWcwpEOcxAB1E1g8TyEzNzE9NTEvvyQjtYhhFIyCUTAKRsEoGAVDHwAAVZ8S"
    "tA=="
)
GIB: Final = 2**30


def told(binary: int = 0) -> list[dict[str, Any]]:
    """What a reader says of the two images."""
    return [
        holds(b"an image", None, {"arch": "generic"}, binary=binary),
        holds(b"another", None, {"arch": "haswell"}, binary=binary),
    ]


def packed_groups() -> list[Group]:
    """The groups of this module."""
    return [*_header(), _payload(), _limit(), _without_means()]


def _header() -> list[Group]:
    size, entry, count = Group("OLP-CONT-005"), Group("OLP-CONT-006"), Group("OLP-CONT-007")
    several, junk = Group("OLP-CONT-012"), Group("OLP-CONT-013")
    header = THREE.build()[:40]
    least = replace(STORED, payload=b"x")
    size.reads("least-packed", "41: one byte of payload", join(least), error=("bad-compression", 0), flags="Boundary")
    short = join(STORED.but(size=40, inflated_size=207))
    size.reads("less-packed", "40: no payload", short, error=("bad-size", 0), flags="Negative Boundary")
    alone = header[:8] + (40).to_bytes(8, "little") + header[16:32] + (207).to_bytes(8, "little")
    size.reads("header-alone-packed", "40 bytes in all", alone, error=("bad-size", 0), flags="Negative")

    gap = Packed(replace(THREE, gap=bytes(8)))
    entry.reads("gap-packed", "8 bytes between, which are not compressed", join(gap), *told())
    last = Packed(replace(THREE, gap=bytes(8)), payload=b"x")
    entry.reads("last-packed", "Size - 1", join(last), error=("bad-compression", 0), flags="Boundary")
    bad = ("bad-entry-offset", 0)
    late = join(Packed(THREE, payload=b"12345678").but(entry_offset=48))
    entry.reads("at-size-packed", "Size", late, error=bad, flags="Negative Boundary")
    entry.reads("over-header-packed", "32", join(STORED.but(entry_offset=32)), error=bad, flags="Negative")

    # 5 entries are 200 zero bytes, which one repeating block makes.
    many = Packed(Binary(Entry(kind=0, producer=0), version=3, more=(Entry(kind=0, producer=0),) * 4), "zstd")
    zeros = zstd_frame(bytes(200))
    container = join(replace(many, payload=zeros))
    count.reads(
        "more-than-size", "they fit InflatedSize, not Size", container, *[holds(b"", None)] * 5, flags="Boundary"
    )
    bad = ("bad-entry-count", 0)
    container = join(replace(many, payload=zeros).but(entry_count=6))
    count.reads("more-than-inflated-size", "the sixth does not", container, error=bad, flags="Negative Boundary")
    for name, value in (("none-packed", 0), ("product-wraps-packed", 2**61), ("all-packed", 2**64 - 1)):
        container = join(STORED.but(entry_count=value))
        count.reads(name, f"{value}", container, error=bad, flags="Negative Wrap" if "wraps" in name else "Negative")
    container = join(STORED.but(inflated_size=79))
    count.reads("inflated-size-too-small", "InflatedSize has room for none", container, error=bad, flags="Negative")

    larger = Packed(SMALLER, payload=b64decode(ZLIB))
    # 40 + 95 = 135 bytes, the next begins at 136.
    next_one = holds(b"an image", 240, {"arch": "generic"}, binary=136)
    several.reads(
        "after-packed", "the next follows Size, not InflatedSize", join(larger, Binary(FIRST)), *told(), next_one
    )
    found = ("junk-after-binary", 224)
    junk.reads("after-packed", "after a compressed one", join(STORED) + bytes(6) + b"!", *told(), finding=found)
    return [size, entry, count, several, junk]


def _payload() -> Group:
    group = Group("OLP-CONT-017")
    bad = ("bad-compression", 0)
    group.reads("zlib", "a zlib stream, stored", join(STORED), *told())
    group.reads("zstd", "a zstd frame", join(Packed(THREE, "zstd")), *told())
    group.reads(
        "zstd-unsized", "a zstd frame that does not state its size", join(Packed(THREE, "zstd-unsized")), *told()
    )
    for name, text, comment in (
        ("zlib-smaller", ZLIB, "a zlib stream of zlib"),
        ("zstd-smaller", ZSTD, "a zstd frame of zstd"),
        ("zstd-summed", ZSTD_SUMMED, "a zstd frame with a checksum"),
    ):
        group.reads(name, comment, join(Packed(SMALLER, payload=b64decode(text))), *told())
    odd = join(Packed(replace(THREE, shift=3), "zstd"))
    group.reads("odd-image", "an image at an odd offset", odd, *told())
    # The key and the value stand between header and entries, at 40 and 45.
    head = Packed(replace(Binary(Entry(b"an image", ((b"", b""),)), version=3, gap=b"arch\0generic\0\0\0\0")))
    head = replace(head, binary=replace(head.binary, records=((0, 40), (1, 45), (2, 7))))
    group.reads("first-bytes", "the bytes before the entries are as they are", join(head), told()[0])
    group.reads(
        "none", "InflatedSize 0: not compressed", join(THREE), {"offset": 192} | _strings(), {"offset": 200} | _other()
    )
    zeros = Binary(Entry(bytes(300000), kind=0), version=3)
    group.reads("repeated", "a block that repeats one byte", join(Packed(zeros, "zstd")), holds(bytes(300000), None))
    for packing in ("zlib", "zstd", "zstd-unsized"):
        packed = Packed(THREE, packing)
        for name, wrong, comment in (
            ("cut", replace(packed, cut=1), "the last byte of the payload is missing"),
            ("half", replace(packed, cut=100), "half of it is missing"),
            ("byte-after", replace(packed, after=b"!"), "a byte after it"),
            ("zero-after", replace(packed, after=b"\0"), "a zero byte after it"),
            ("twice", replace(packed, after=packed.build()[40:]), "another one after it"),
            ("one-more", packed.but(inflated_size=208), "InflatedSize one more"),
            ("one-less", packed.but(inflated_size=206), "InflatedSize one less"),
            ("much-more", packed.but(inflated_size=2**20), "InflatedSize 1 MiB"),
        ):
            container = join(wrong)
            group.reads(f"{packing}-{name}", comment, container, error=bad, flags="Negative Boundary")
    raw = zlib_stored(BODY)[2:-4]
    gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    for name, payload, comment in (
        ("garbage", b"no payload at all", "text"),
        ("not-packed", BODY, "the bytes are not compressed at all"),
        ("raw-deflate", raw, "deflate without the frame of zlib"),
        ("gzip", gzip + raw + struct.pack("<II", zlib.crc32(BODY), len(BODY)), "gzip"),
        ("zstd-magic-alone", b"\x28\xb5\x2f\xfd", "the magic of zstd alone"),
        ("zstd-skippable-first", b"\x50\x2a\x4d\x18\0\0\0\0" + zstd_frame(BODY), "a skippable frame first"),
        ("zstd-skippable-after", zstd_frame(BODY) + b"\x50\x2a\x4d\x18\0\0\0\0", "a skippable frame after it"),
        ("zstd-two-frames", zstd_frame(BODY[:80]) + zstd_frame(BODY[80:]), "two frames, which sum to it"),
        ("zlib-two-streams", zlib_stored(BODY[:80]) + zlib_stored(BODY[80:]), "two streams, which sum to it"),
    ):
        group.reads(name, comment, join(Packed(THREE, payload=payload)), error=bad, flags="Negative")
    sum_wrong = replace(STORED, flips=((-1, STORED.build()[-1] ^ 1),))
    group.reads("adler-wrong", "the checksum of the zlib stream", join(sum_wrong), error=bad, flags="Negative")
    summed = b64decode(ZSTD_SUMMED)
    flipped = summed[:-1] + bytes([summed[-1] ^ 1])
    container = join(Packed(SMALLER, payload=flipped))
    group.reads("zstd-sum-wrong", "the checksum of the zstd frame", container, error=bad, flags="Negative")
    container = join(Packed(SMALLER, payload=b64decode(WITH_DICTIONARY)))
    group.reads("zlib-dictionary", "a stream that asks for a dictionary", container, error=bad, flags="Negative")
    later = join(Packed(THREE.but(string_offset=0), payload=b"?"))
    group.reads("before-table", "before its entries are looked at", later, error=bad, flags="Negative")
    table = join(Packed(THREE.but(string_offset=0)))
    group.reads("table", "what is wrong inside", table, error=("bad-string-table", 0), flags="Negative")
    image = join(Packed(THREE.but(image_offset=200)))
    group.reads(
        "image-past-inflated", "an image past InflatedSize", image, error=("bad-image-range", 0), flags="Negative"
    )
    second = join(Binary(FIRST), replace(STORED, after=b"!"), Binary(FIRST))
    before = holds(b"an image", 104, {"arch": "generic"}, binary=0)
    group.reads("second", "the walk ends there", second, before, error=("bad-compression", 112), flags="Negative")
    return group


def _strings() -> dict[str, Any]:
    return {"strings": {"arch": "generic"}}


def _other() -> dict[str, Any]:
    return {"strings": {"arch": "haswell"}}


def _limit() -> Group:
    group = Group("OLP-CONT-017")
    too_large, exact = ("inflated-too-large", 0), {"limit": 207}
    for packing in ("zlib", "zstd"):
        container = join(Packed(THREE, packing))
        group.reads(f"{packing}-at-limit", "207 of 207 bytes", container, *told(), reading=exact, flags="Boundary")
        less = {"limit": 206}
        group.reads(f"{packing}-above-limit", "207 of 206", container, error=too_large, reading=less, flags="Negative")
    for name, value, comment in (
        ("gib-and-1", GIB + 1, "1 GiB and one byte"),
        ("2-40", 2**40, "1 TiB"),
        ("half", 2**63, "2^63"),
        ("all", 2**64 - 1, "2^64 - 1"),
    ):
        container = join(STORED.but(inflated_size=value))
        group.reads(name, comment, container, error=too_large, flags="Negative Boundary")
    container = join(STORED.but(inflated_size=GIB))
    group.reads("gib", "1 GiB is allowed, and is wrong", container, error=("bad-compression", 0), flags="Boundary")
    wrong = join(Packed(THREE, payload=b"?"))
    group.reads("limit-first", "the payload is not looked at", wrong, error=too_large, reading={"limit": 206})
    count = join(STORED.but(inflated_size=GIB + 1, entry_count=0))
    group.reads("count-before-limit", "the entries are counted before", count, error=("bad-entry-count", 0))
    plain = join(THREE)
    one, other = {"offset": 192} | _strings(), {"offset": 200} | _other()
    alone = Packed(THREE, "zlib")
    second, both = (len(join(alone)) + 7) // 8 * 8, join(alone, alone)
    group.reads("limit-for-both", "414 of 414", both, *told(), *told(second), reading={"limit": 414}, flags="Boundary")
    too_large = ("inflated-too-large", second)
    group.reads("limit-together", "414 of 413", both, *told(), error=too_large, reading={"limit": 413})
    group.tests[-1]["flags"] = ["Negative", "Boundary"]
    group.reads("limit-not-packed", "what is not compressed has no limit", plain, one, other, reading={"limit": 1})
    return group


def _without_means() -> Group:
    group = Group("OLP-CONT-018")
    without = {"inflate": False}
    found = ("cannot-inflate", 0)
    one, other = {"offset": 192} | _strings(), {"offset": 200} | _other()
    group.reads("not-packed", "version 3, not compressed", join(THREE), one, other, reading=without, flags="Negative")
    group.reads("with-means", "there is a means", join(STORED), *told(), flags="Negative")
    for packing in ("zlib", "zstd"):
        container = join(Packed(THREE, packing))
        group.reads(packing, "a finding, and no image", container, reading=without, finding=found)
    plain = Binary(FIRST)
    # 40 + 178 = 218 bytes, the next begins at 224.
    after = holds(b"an image", 328, {"arch": "generic"}, binary=224)
    group.reads("goes-on", "the next binary is read", join(STORED, plain), after, reading=without, finding=found)
    garbage = join(Packed(THREE, payload=b"?"))
    group.reads("garbage", "the payload is not looked at", garbage, reading=without, finding=found)
    twice = [("cannot-inflate", 0), ("cannot-inflate", 224)]
    group.reads("two", "two of them", join(STORED, STORED), reading=without, findings=twice)
    junk = [("cannot-inflate", 0), ("junk-after-binary", 224)]
    group.reads("junk-after", "junk after it", join(STORED) + bytes(6) + b"!", reading=without, findings=junk)
    header = join(STORED.but(entry_count=0))
    error = ("bad-entry-count", 0)
    group.reads("header", "the header is checked", header, error=error, reading=without, flags="Negative")
    large = join(STORED.but(inflated_size=GIB + 1))
    group.reads(
        "too-large",
        "the limit is checked first",
        large,
        error=("inflated-too-large", 0),
        reading=without,
        open_to_reading=True,
    )
    inner = join(Binary(Entry(join(STORED)), version=2, more=(FIRST,)))
    # Entries 32 to 112, record 112 to 136, strings to 149, the container at 152, 218 bytes, the image at 376.
    told_inner = holds(b"an image", 376, {"arch": "generic"})
    group.reads("inner", "in a container", inner, told_inner, reading=without, finding=found)
    return group
