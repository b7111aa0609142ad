"""Versions 2 and 3, compression and nesting, one small test a rule; the kinds of field case c08, c09, c11, c14, c15."""

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable

import pytest
from olpick.elf import Container, read

Raw = Callable[..., bytes]
Deflate = Callable[[bytes], bytes]
HUGE = 2**64 - 1


def code(buffer: bytes, limit: int = 1 << 30) -> str | None:
    found = read(buffer, limit=limit)
    assert found.error is None or found.images == ()
    return found.error.code if found.error else None


def datas(found: Container) -> list[bytes]:
    return [bytes(image.data) for image in found.images]


def findings(found: Container) -> list[tuple[str, int]]:
    return [(finding.code, finding.offset) for finding in found.findings]


def zstd_frame(data: bytes) -> bytes:
    """One block of bytes as they are, in a frame that does not state its size."""
    assert len(data) < 1 << 17
    block = (len(data) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd" + bytes([0, 0x38]) + block + data


DEFLATES = [zlib.compress, zstd_frame]


# ---- Several entries.


@pytest.mark.parametrize("version", [2, 3])
def test_all_entries_are_images(many: Raw, version: int) -> None:
    whole = many(version=version, flags=(4, 6))
    found = read(whole, strict=True)
    assert [(image.index, image.path, image.version, image.flags) for image in found.images] == [
        (0, (0,), version, 4),
        (1, (1,), version, 6),
    ]
    assert datas(found) == [b"first", b"second"]
    assert [image.strings for image in found.images] == [{}, {"arch": "a\0b"}]
    for image in found.images:
        assert image.binary == 0
        assert image.offset is not None
        assert whole[image.offset : image.offset + image.size] == image.data
    assert (found.images[1].offset or 0) % 8 == 5  # images need no alignment


@pytest.mark.parametrize("count", [0, 200, 2**61, 2**61 + 1, HUGE])
@pytest.mark.parametrize("version", [2, 3])
def test_bad_entry_count(many: Raw, version: int, count: int) -> None:
    assert code(many(version=version, count=count)) == "bad-entry-count"
    assert code(many(version=version, count=count, deflate=zlib.compress) if version == 3 else many(count=0)) == (
        "bad-entry-count"
    )


def test_as_many_entries_as_have_room(many: Raw) -> None:
    whole = many([((), b"")] * 2 + [((), bytes(64))])  # what follows the entries is zeros: entries that are empty
    room = (len(whole) - 32) // 40
    for count, expected in ((room, None), (room + 1, "bad-entry-count")):
        assert code(many([((), b"")] * 2 + [((), bytes(64))], count=count, fields={112 + 16: bytes(24)})) == expected


def test_a_version_3_header_has_forty_bytes(many: Raw) -> None:
    whole = many(version=3)
    for cut in (32, 39):
        assert code(whole[:cut]) == "truncated"
    assert code(whole[:40]) == "bad-size"
    assert code(many(version=3, size=79)) == "bad-size"
    assert code(many(version=3, entries_at=32)) == "bad-entry-offset"
    assert code(many(version=2, entries_at=24)) == "bad-entry-offset"


@pytest.mark.parametrize("place", [0, 31, 32, 71, 72, 111])
def test_nothing_lies_over_any_entry(many: Raw, place: int) -> None:
    good = many([((), b""), ((), bytes(64))])
    assert code(good) is None
    field = place.to_bytes(8, "little")
    one = (1).to_bytes(8, "little")
    assert code(many([((), b""), ((), bytes(64))], fields={56: field})) is None  # an empty image
    assert code(many([((), b"x"), ((), bytes(64))], fields={56: field})) == "bad-image-range"
    assert code(many([((), b""), ((), bytes(64))], fields={40: field + one})) == "bad-string-table"
    assert code(many([((), b""), ((), bytes(64))], records=[(place, 140, 0)])) == "bad-string"
    assert code(many([((), b""), ((), bytes(64))], records=[(140, place, 1)])) == "bad-string"
    assert code(many([((), b""), ((), bytes(64))], records=[(140, place, 0)])) is None


def test_sized_values(many: Raw) -> None:
    entry = ([(b"k", b"a\0b")], b"")
    size = len(many([entry]))
    assert read(many([entry])).images[0].strings == {"k": "a\0b"}
    for at, length, expected in (
        (96, size - 96, None),
        (96, size - 95, "bad-string"),
        (size, 0, None),
        (size + 1, 0, "bad-string"),
        (size, 1, "bad-string"),
        (96, HUGE, "bad-string"),
        (HUGE, 2, "bad-string"),
    ):
        assert code(many([entry], records=[(96, at, length)])) == expected


def test_records_are_counted_over_all_entries(many: Raw) -> None:
    """Ten entries name the same records; they are counted as often."""

    def shared(times: int) -> bytes:
        entries = [([(b"k", b"v")] * 8, b"")] + [((), b"")] * 9
        fields = {32 + 40 * index + 8: struct.pack("<QQ", 432, 8) for index in range(times)}
        return many(entries, fields=fields)

    most = len(shared(1)) // 16 // 8
    assert 1 < most < 10
    assert len(read(shared(most), strict=True).images) == 10
    assert code(shared(most + 1)) == "bad-string-table"


def test_the_length_of_strings_is_counted_over_all_entries(many: Raw) -> None:
    pairs = [(b"k", b"x" * 2**20)]
    entries = [(pairs, b"")] + [((), b"")] * 19
    whole = many(entries)
    at = 32 + 40 * 20

    def shared(times: int) -> bytes:
        return many(entries, fields={32 + 40 * index + 8: struct.pack("<QQ", at, 1) for index in range(times)})

    assert len(whole) > 2**20
    assert code(shared(15)) is None
    assert code(shared(16)) == "strings-too-long"  # sixteen keys of one byte more than 16 MiB


def test_checks_come_entry_by_entry(many: Raw) -> None:
    bad_table, bad_image = struct.pack("<QQ", 0, 1), struct.pack("<QQ", HUGE, 1)
    entries = [((), b""), ((), b"")]
    assert code(many(entries, fields={40: bad_table, 72 + 24: bad_image})) == "bad-string-table"
    assert code(many(entries, fields={56: bad_image, 72 + 8: bad_table})) == "bad-image-range"


def test_findings_of_one_entry_are_those_of_its_image(many: Raw) -> None:
    found = read(many([((), b"1"), ([(b"arch", b"a"), (b"arch", b"b")], b"2")]), strict=True)
    assert findings(found) == [("duplicate-key", 0)]
    assert [len(image.findings) for image in found.images] == [0, 1]


# ---- Metadata only.


def test_metadata_only(many: Raw) -> None:
    nested = many()
    found = read(many([([(b"arch", b"a")], b""), ((), b"code"), ((), nested)], flags=(1, 2, 3)), strict=True)
    assert [image.metadata_only for image in found.images] == [True, False, True]
    assert datas(found) == [b"", b"code", nested]
    assert found.images[0].arch == "a"


def test_no_flag_means_anything_in_version_1(raw: Raw) -> None:
    assert not read(raw(flags=1), strict=True).images[0].metadata_only


# ---- Compressed.


@pytest.mark.parametrize("deflate", DEFLATES)
def test_compressed(many: Raw, raw: Raw, deflate: Deflate) -> None:
    whole = many(version=3, deflate=deflate)
    padded = whole + bytes(-len(whole) % 8)
    found = read(padded + raw(), strict=True)
    assert datas(found) == [b"first", b"second", b"the image"]
    assert [image.offset for image in found.images[:2]] == [None, None]
    assert [image.binary for image in found.images] == [0, 0, len(padded)]
    assert found.images[1].strings == {"arch": "a\0b"}
    assert found.images[0].data.readonly
    assert read(whole, strict=True).images == found.images[:2]  # no padding at the end


@pytest.mark.parametrize("deflate", DEFLATES)
@pytest.mark.parametrize("by", [-1, 1, 8, 2**20])
def test_bad_compression_by_size(many: Raw, deflate: Deflate, by: int) -> None:
    size = len(many(version=3))
    assert code(many(version=3, deflate=deflate, inflated=size)) is None
    assert code(many(version=3, deflate=deflate, inflated=size + by)) == "bad-compression"


@pytest.mark.parametrize("deflate", DEFLATES)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda payload: payload[:-1],
        lambda payload: payload[: len(payload) // 2],
        lambda payload: payload + b"\0",
        lambda payload: payload + payload,
        lambda payload: payload + bytes(2**21),
        lambda payload: payload[:4],
        lambda payload: payload[:6] + b"\xff\xff" + payload[8:],
        lambda _: b"\0",
    ],
)
def test_bad_compression(many: Raw, deflate: Deflate, spoil: Deflate) -> None:
    assert code(many(version=3, deflate=lambda data: spoil(deflate(data)))) == "bad-compression"


def test_inflated_too_large(many: Raw) -> None:
    size = len(many(version=3))
    whole = many(version=3, deflate=zlib.compress)
    assert code(whole, limit=size) is None
    assert code(whole, limit=size - 1) == "inflated-too-large"
    for claimed in (2**30 + 1, 2**62, HUGE):
        assert code(many(version=3, deflate=zlib.compress, inflated=claimed)) == "inflated-too-large"
    assert code(many(version=3, deflate=zlib.compress, inflated=2**30)) == "bad-compression"


def test_headers_are_checked_before_anything_is_inflated(many: Raw) -> None:
    wrong = {"size": 40, "entries_at": 36, "count": 0, "inflated": HUGE}
    for name, expected in (
        ("size", "bad-size"),
        ("entries_at", "bad-entry-offset"),
        ("count", "bad-entry-count"),
        ("inflated", "inflated-too-large"),
    ):
        assert code(many(version=3, deflate=lambda _: b"junk", **wrong)) == expected
        del wrong[name]
    assert code(many(version=3, deflate=lambda _: b"junk")) == "bad-compression"
    assert code(many(version=3, deflate=zlib.compress, inflated=80 + 39)) == "bad-entry-count"


def test_entries_are_checked_after(many: Raw) -> None:
    for deflate in DEFLATES:
        assert code(many(version=3, deflate=deflate, fields={64: struct.pack("<QQ", HUGE, 1)})) == "bad-image-range"


def test_cannot_inflate(many: Raw, raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("olpick.elf.compression._zstd", lambda: None)
    whole = many(version=3, deflate=zstd_frame)
    whole += bytes(-len(whole) % 8)
    found = read(raw() + whole + raw(), strict=True)
    assert findings(found) == [("cannot-inflate", len(raw()))]
    assert datas(found) == [b"the image"] * 2
    assert [image.path for image in found.images] == [(0,), (1,)]
    alone = read(whole, strict=True)
    assert (alone.images, findings(alone)) == ((), [("cannot-inflate", 0)])
    assert code(many(version=3, deflate=zstd_frame, inflated=HUGE)) == "inflated-too-large"
    assert len(read(many(version=3, deflate=zlib.compress), strict=True).images) == 2


# ---- Nested.


def test_a_container_in_an_image(many: Raw, raw: Raw) -> None:
    inner = many([([(b"arch", b"x")], b"one"), ((), b"two")])
    whole = raw() + many([([(b"arch", b"outer")], inner), ((), b"last")])
    found = read(whole, strict=True)
    assert [(image.index, image.path) for image in found.images] == [(0, (0,)), (1, (1, 0)), (2, (1, 1)), (3, (2,))]
    assert datas(found) == [b"the image", b"one", b"two", b"last"]
    assert found.images[1].strings == {"arch": "x"}
    assert found.images[2].strings == {}
    assert [image.binary for image in found.images] == [0, *[len(raw())] * 3]
    for image in found.images:
        assert image.offset is not None
        assert whole[image.offset : image.offset + image.size] == image.data


def test_a_compressed_container_in_an_image(many: Raw, raw: Raw) -> None:
    found = read(raw(image=many(version=3, deflate=zlib.compress)), strict=True)
    assert datas(found) == [b"first", b"second"]
    assert found.images[0].offset is None
    found = read(many([((), raw())], version=3, deflate=zlib.compress), strict=True)
    assert datas(found) == [b"the image"]
    assert found.images[0].offset is None


def test_what_a_wrapper_says_about_itself_is_not_reported(raw: Raw) -> None:
    assert read(raw([(b"arch", b"a"), (b"arch", b"b")], kind=99, image=raw()), strict=True).findings == ()


def test_bad_inner(many: Raw, raw: Raw) -> None:
    bad = raw() + raw(version=9) + raw()
    found = read(raw() + many([((), bad), ((), b"after")]) + raw(), strict=True)
    assert datas(found) == [b"the image", b"the image", b"after", b"the image"]
    assert findings(found) == [("bad-inner", len(raw()))]
    assert "image 1 " in found.findings[0].message
    assert "bad-version" in found.findings[0].message


def test_bad_inner_two_levels_down(many: Raw, raw: Raw) -> None:
    found = read(many([((), many([((), raw()[:40]), ((), b"stands")])), ((), b"too")]), strict=True)
    assert datas(found) == [b"stands", b"too"]
    assert findings(found) == [("bad-inner", 0)]


def test_the_magic_alone_is_a_bad_container(raw: Raw) -> None:
    found = read(raw(image=b"\x10\xff\x10\xad"), strict=True)
    assert (found.images, findings(found)) == ((), [("bad-inner", 0)])
    assert len(read(raw(image=b"\x10\xff\x10"), strict=True).images) == 1


def test_junk_inside_is_reported_at_the_outermost(raw: Raw) -> None:
    first = raw()
    found = read(first + raw(image=raw() + b"junkjunk"), strict=True)
    assert findings(found) == [("junk-after-binary", len(first))]


def nested(raw: Raw, levels: int) -> bytes:
    whole = raw()
    for _ in range(levels - 1):
        whole = raw(image=whole)
    return whole


def test_nested_too_deep(many: Raw, raw: Raw) -> None:
    assert datas(read(nested(raw, 4), strict=True)) == [b"the image"]
    assert read(nested(raw, 4)).images[0].path == (0, 0, 0, 0)
    found = read(nested(raw, 5))
    assert (found.images, found.error and found.error.code) == ((), "nested-too-deep")
    found = read(raw() + many([((), b"stands"), ((), nested(raw, 4)), ((), b"lost")]) + raw())
    assert datas(found) == [b"the image", b"stands"]
    assert found.findings == ()
    assert found.error is not None
    assert (found.error.code, found.error.offset) == ("nested-too-deep", len(raw()))
    assert code(nested(raw, 64)) == "nested-too-deep"


# ---- What a bomb costs.

BOMB = """
import resource, sys, zlib
from olpick.elf import read
from olpick.elf.compression import _zstd
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
make = {"zlib": lambda data: zlib.compress(data, 9), "zstd": lambda data: _zstd().compress(data, 9)}[sys.argv[1]]
payload = make(bytes(200 << 20))
head = b"\\x10\\xff\\x10\\xad" + (3).to_bytes(4, "little")
def binary(claimed):
    fields = (40 + len(payload), 40, 1, claimed)
    return head + b"".join(field.to_bytes(8, "little") for field in fields) + payload
del make
before = most()
for claimed, code in ((1 << 20, "bad-compression"), (1 << 30, "bad-compression"), (1 << 62, "inflated-too-large")):
    assert read(binary(claimed)).error.code == code
    print(most() - before)
"""


@pytest.mark.parametrize("algorithm", ["zlib", "zstd"])
def test_memory_is_bounded(algorithm: str) -> None:
    """What inflates to 200 MiB, said to be 1 MiB, 1 GiB and more than the limit."""
    done = subprocess.run(
        [sys.executable, "-c", BOMB, algorithm], check=True, capture_output=True, text=True, timeout=100
    )
    small, whole, too_large = map(int, done.stdout.split())
    # The compression before has taken 200 MiB already, which this goes over by what the allocator keeps in reserve.
    assert small < 32
    assert whole < 200
    assert too_large == whole
