"""One small test for each error code and finding of a container; the kinds of field case c01 to c06 among them."""

import struct
import time
from collections.abc import Callable

import pytest
from olpick.elf import DecodeError, read

Raw = Callable[..., bytes]
HUGE = 2**64 - 1


def code(buffer: bytes) -> str | None:
    found = read(buffer)
    assert found.error is None or found.images == ()
    return found.error.code if found.error else None


def findings(buffer: bytes) -> list[tuple[str, int]]:
    found = read(buffer)
    assert found.error is None
    return [(finding.code, finding.offset) for finding in found.findings]


def test_success(raw: Raw) -> None:
    (image,) = read(raw(flags=7), strict=True).images
    assert (image.index, image.version, image.kind, image.producer, image.flags) == (0, 1, 1, 1, 7)
    assert (image.triple, image.arch) == ("x86_64-pc-linux-gnu", "haswell")
    assert (image.kind_name, image.producer_name) == ("elf", "openmp")
    assert (image.binary, image.size, bytes(image.data)) == (0, 9, b"the image")
    assert image.data.readonly


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 5, 31])
def test_truncated(raw: Raw, cut: int) -> None:
    assert code(raw()[:cut]) == "truncated"


@pytest.mark.parametrize("cut", [32, 71, 72, 100, 120])
def test_cut_after_the_header_is_bad_size(raw: Raw, cut: int) -> None:
    assert code(raw()[:cut]) == "bad-size"


@pytest.mark.parametrize("start", [b"\0", b"\x10\xfe", bytes(100), b"\x7fELF", b"\x10\xff\x10\xae", bytes(8)])
def test_not_offload_binary(raw: Raw, start: bytes) -> None:
    assert code(start) == "not-offload-binary"
    assert code(start + raw()) == "not-offload-binary"


@pytest.mark.parametrize("version", [0, 4, 99, 2**32 - 1])
def test_bad_version(raw: Raw, version: int) -> None:
    assert code(raw(version=version)) == "bad-version"


@pytest.mark.parametrize("size", [0, 16, 40, 71, HUGE, HUGE - 7])
def test_bad_size(raw: Raw, size: int) -> None:
    assert code(raw(size=size)) == "bad-size"


def test_bad_size_by_eight(raw: Raw) -> None:
    whole = raw()
    assert code(raw(size=len(whole) + 8)) == "bad-size"
    assert code(raw(size=len(whole) + 8) + bytes(8)) is None


@pytest.mark.parametrize("entry_at", [0, 8, 24, 31, 33, 36, HUGE - 7])
def test_bad_entry_offset(raw: Raw, entry_at: int) -> None:
    assert code(raw(entry_at=entry_at)) == "bad-entry-offset"


def test_entry_at_the_end(raw: Raw) -> None:
    whole = raw(image=bytes(80))
    last = len(whole) - 40
    assert code(raw(image=bytes(80), entry_at=last)) is None  # an entry of zeros: no strings, no image
    assert code(raw(image=bytes(80), entry_at=last + 8)) == "bad-entry-offset"


@pytest.mark.parametrize("entry_size", [0, 1, 8, 39, 41, 48, HUGE])
def test_bad_entry_size(raw: Raw, entry_size: int) -> None:
    assert code(raw(entry_size=entry_size)) == "bad-entry-size"


@pytest.mark.parametrize("count", [100_000, 2**60, 2**60 + 1, HUGE])
def test_bad_string_table_by_count(raw: Raw, count: int) -> None:
    assert code(raw(count=count)) == "bad-string-table"


@pytest.mark.parametrize("table_at", [0, 16, 31, 32, 64, 71, HUGE, HUGE - 15])
def test_bad_string_table_by_place(raw: Raw, table_at: int) -> None:
    assert code(raw(table_at=table_at)) == "bad-string-table"


def test_bad_string_table_at_the_end(raw: Raw) -> None:
    size = len(raw())
    assert code(raw(table_at=size - 8)) == "bad-string-table"
    assert code(raw(table_at=size)) == "bad-string-table"
    assert code(raw(table_at=HUGE, count=0)) is None


@pytest.mark.parametrize("start", [0, 31, 32, 71, 208, 2**32, HUGE])
def test_bad_string(raw: Raw, start: int) -> None:
    good = 88
    assert code(raw((), image=bytes(104), records=[(start, good)])) == "bad-string"
    assert code(raw((), image=bytes(104), records=[(good, start)])) == "bad-string"
    assert code(raw((), image=bytes(104), records=[(good, good)])) is None


def test_bad_string_without_an_end(raw: Raw) -> None:
    image = b"a" * 8
    whole = raw((), image=image, records=[(88, 96)])
    assert code(whole) == "bad-string"
    assert code(whole + bytes(8)) == "bad-string"  # a zero byte after the binary is none inside it


def test_a_string_may_run_through_the_entry() -> None:
    entry = struct.pack("<HHIQQQQ", 0x101, 0x101, 0x01010101, 40, 1, 112, 0)
    body = struct.pack("<4sIQQQ", b"\x10\xff\x10\xad", 1, 112, 72, 40) + b"a" * 8 + struct.pack("<QQ", 71, 71)
    found = read(body.ljust(72, b"k") + entry)
    assert found.error is None
    assert found.images[0].strings == {"k" + "\1" * 8 + "(": "k" + "\1" * 8 + "("}


def test_strings_too_long_by_size(raw: Raw) -> None:
    def overlapping(count: int) -> bytes:
        """Every record names one string of 2000 bytes twice, each of which counts in full."""
        at = 72 + 16 * count + 8
        return raw((), image=b"x" * 2000 + bytes(8), records=[(at, at)] * count)

    limit = next(count for count in range(1, 1000) if 4000 * count > 64 * len(overlapping(count)))
    assert code(overlapping(limit - 1)) is None
    assert code(overlapping(limit)) == "strings-too-long"


def test_strings_too_long_by_sixteen_mebibytes(raw: Raw) -> None:
    image = b"x" * 2**19 + bytes(8)
    at = 72 + 16 * 17 + 8
    assert code(raw((), image=image, records=[(at, at)] * 16 + [(at + 2**19, at + 2**19)])) is None
    assert code(raw((), image=image, records=[(at, at)] * 16 + [(at + 2**19 - 1, at + 2**19)])) == "strings-too-long"


def test_the_first_failing_string_gives_the_code(raw: Raw) -> None:
    image = b"x" * 2**20 + bytes(8)
    at = 72 + 16 * 9 + 8
    long = [(at, at)] * 8
    assert code(raw((), image=image, records=[*long, (at, 0)])) == "strings-too-long"
    assert code(raw((), image=image, records=[*long, (0, at)])) == "bad-string"


@pytest.mark.parametrize(
    ("image_at", "image_size"),
    [
        (144, HUGE - 143),
        (144, 2**20),
        (0, 64),
        (31, 1),
        (32, 1),
        (71, 1),
        (HUGE, 1),
        (HUGE, 0),
        (208, 8),
        (201, 8),
        (209, 0),
    ],
)
def test_bad_image_range(raw: Raw, image_at: int, image_size: int) -> None:
    assert len(raw(image=bytes(56))) == 208
    assert code(raw(image=bytes(56), image_at=image_at, image_size=image_size)) == "bad-image-range"


@pytest.mark.parametrize("image_at", [0, 32, 208])
def test_an_empty_image_may_lie_anywhere(raw: Raw, image_at: int) -> None:
    (image,) = read(raw(image=bytes(56), image_at=image_at, image_size=0), strict=True).images
    assert (image.offset, image.size, bytes(image.data)) == (image_at, 0, b"")


def test_checks_come_in_the_order_of_their_numbers(raw: Raw) -> None:
    wrong = {
        "bad-version": {"version": 9},
        "bad-size": {"size": 8},
        "bad-entry-offset": {"entry_at": 4},
        "bad-entry-size": {"entry_size": 4},
        "bad-string-table": {"count": 2**60},
        "bad-image-range": {"image_size": HUGE},
    }
    for first in list(wrong):
        assert code(raw(**{field: value for fields in wrong.values() for field, value in fields.items()})) == first
        del wrong[first]


def test_a_malformed_binary_does_not_lose_those_before_it(raw: Raw) -> None:
    found = read(raw() + raw() + raw(version=9) + raw())
    assert len(found.images) == 2
    assert found.error is not None
    assert (found.error.code, found.error.offset) == ("bad-version", 2 * len(raw()))
    with pytest.raises(
        DecodeError, match=r"^at offset 336: OffloadBinary of version 9; olpick reads versions 1, 2 and 3$"
    ):
        read(raw() + raw() + raw(version=9), strict=True)


@pytest.mark.parametrize("padding", [0, 8, 4096, 3 * 2**16 + 520])
def test_padding_between_binaries(raw: Raw, padding: int) -> None:
    found = read(raw() + bytes(padding) + raw(), strict=True)
    assert [image.binary for image in found.images] == [0, len(raw()) + padding]
    assert found.findings == ()


@pytest.mark.parametrize("tail", [1, 7, 8, 16, 17])
def test_padding_after_the_last(raw: Raw, tail: int) -> None:
    assert findings(raw() + bytes(tail)) == []


def test_junk_after_binary(raw: Raw) -> None:
    size = len(raw())
    assert findings(raw() + b"junkjunk") == [("junk-after-binary", size)]
    assert findings(raw() + bytes(16) + b"\0\0junk") == [("junk-after-binary", size + 16)]
    assert findings(raw() + b"\0\0\0\0" + raw()) == [("junk-after-binary", size)]
    assert findings(raw() + bytes(7) + b"\1") == [("junk-after-binary", size)]


def test_a_beginning_of_the_magic_is_no_junk(raw: Raw) -> None:
    found = read(raw() + bytes(8) + b"\x10\xff")
    assert found.findings == ()
    assert found.error is not None
    assert (found.error.code, found.error.offset) == ("truncated", len(raw()) + 8)


def test_boundaries_come_from_size(raw: Raw) -> None:
    assert len(read(raw(image=raw()), strict=True).images) == 1


def test_duplicate_key(raw: Raw) -> None:
    twice = raw([(b"arch", b"a"), (b"triple", b"t"), (b"arch", b"b"), (b"arch", b"c"), (b"triple", b"u")])
    assert findings(twice) == [("duplicate-key", 0)]
    assert read(twice).images[0].strings == {"arch": "c", "triple": "u"}


def test_a_duplicate_without_a_meaning_is_no_finding(raw: Raw) -> None:
    twice = raw([(b"mine", b"a"), (b"mine", b"b")])
    assert findings(twice) == []
    assert read(twice).images[0].strings == {"mine": "b"}


@pytest.mark.parametrize(
    ("kind", "producer", "odd", "names"),
    [
        (0, 0, False, ("none", "none")),
        (6, 15, False, ("spirv", "openmp+cuda+hip+sycl")),
        (5, 3, False, ("ptx", "openmp+cuda")),
        (7, 1, True, ("unknown (7)", "openmp")),
        (1, 16, True, ("elf", "0x10")),
        (99, 0xFFF1, True, ("unknown (99)", "openmp+0xfff0")),
    ],
)
def test_unknown_kind(raw: Raw, kind: int, producer: int, odd: bool, names: tuple[str, str]) -> None:
    whole = raw(kind=kind, producer=producer)
    assert findings(whole) == ([("unknown-kind", 0)] if odd else [])
    (image,) = read(whole).images
    assert (image.kind, image.producer) == (kind, producer)
    assert (image.kind_name, image.producer_name) == names


def test_findings_of_one_image_come_in_the_order_of_their_numbers(raw: Raw) -> None:
    odd = raw([(b"arch", b"a"), (b"arch", b"b")], kind=99)
    size = len(raw())
    assert findings(raw() + odd) == [("duplicate-key", size), ("unknown-kind", size)]


def test_strings_that_are_not_utf8(raw: Raw) -> None:
    (image,) = read(raw([(b"arch", b"\xff\xfe")]), strict=True).images
    assert image.arch is not None
    assert image.arch.encode("utf-8", "surrogateescape") == b"\xff\xfe"
    assert image.triple is None


def test_the_work_is_bounded(raw: Raw) -> None:
    began = time.process_time()
    image = b"x" * 2**20 + bytes(8)
    assert code(raw((), image=image, records=[(72 + 16 * 65536 + 8,) * 2] * 65536)) == "strings-too-long"
    assert code(raw(count=HUGE)) == "bad-string-table"
    assert findings(raw() + bytes(2**24)) == []
    assert time.process_time() - began < 5


def test_only_bytes_are_read() -> None:
    with pytest.raises(TypeError):
        read("text")  # type: ignore[arg-type]
