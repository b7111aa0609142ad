"""What holds for every container, and for every string of bytes (OLP-CONT)."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from olpick.elf import Container, DecodeError, Packed, pack, read, table

Raw = Callable[..., bytes]

# Surrogates that escape bytes, as the reader gives them back; a NUL cannot stand in a string.
TEXT = st.binary(max_size=12).map(lambda raw: raw.replace(b"\0", b"").decode("utf-8", "surrogateescape"))
KEYS = st.sampled_from(["triple", "arch", "requires_features", "variant_tag"]) | TEXT
# In versions 2 and 3 a value may hold NULs.
SIZED = st.binary(max_size=12).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


def packed_with(values: st.SearchStrategy[str]) -> st.SearchStrategy[Packed]:
    return st.builds(
        Packed,
        data=st.binary(max_size=64).filter(lambda data: not data.startswith(b"\x10\xff\x10\xad")),
        strings=st.dictionaries(KEYS, values, max_size=5),
        kind=st.integers(0, 6),
        producer=st.integers(0, 15),
        flags=st.integers(0, 2**32 - 1),
    )


PACKED = packed_with(TEXT)
# How to write: the version, and the compression.
WAYS = st.sampled_from(
    [{"version": 1}, {"version": 2}, {"version": 3}]
    + [{"version": 3, "compress": name, "level": level} for name in ("zlib", "zstd") for level in (None, 1, 9)]
)


@st.composite
def written(draw: st.DrawFn, levels: int = 3) -> bytes:
    """A valid buffer of any version, its images perhaps containers themselves."""
    way: dict[str, Any] = draw(WAYS)
    images = draw(st.lists(packed_with(TEXT), min_size=1, max_size=3))
    if levels and draw(st.booleans()):
        images[0] = Packed(draw(written(levels - 1)), images[0].strings)
    return pack(images, **way)


# What a field can be set to so that it matters: the corners of its range and of the layout.
CORNERS = st.sampled_from([0, 1, 7, 8, 31, 32, 33, 40, 71, 72, 73, 80, 104, 2**31, 2**32 - 1, 2**60, 2**63, 2**64 - 1])
# Offset and width of each field of header and entry, and of the first records.
FIELDS = [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 2), (34, 2), (36, 4), (40, 8), (48, 8), (56, 8), (64, 8)]
FIELDS += [(at, 8) for at in (72, 80, 88, 96)]


def check(buffer: bytes) -> Container:
    """Read, and check what must hold whatever the bytes are."""
    found = read(buffer)
    for index, image in enumerate(found.images):
        assert image.index == index
        assert len(image.data) == image.size
        assert 1 <= len(image.path) <= 4
        assert 0 <= image.binary < len(buffer)
        if image.offset is not None:
            assert image.binary <= image.offset <= image.offset + image.size <= len(buffer)
            assert image.data == buffer[image.offset : image.offset + image.size]
        assert image.metadata_only or bytes(image.data[:4]) != b"\x10\xff\x10\xad"
    binaries = [image.binary for image in found.images]
    assert binaries == sorted(binaries)
    assert all(at % 8 == 0 for at in binaries)
    paths = [image.path for image in found.images]
    assert paths == sorted(set(paths))
    if found.error is None:
        assert read(buffer, strict=True) == found
    else:
        assert found.error.code in table("error")
        assert 0 <= found.error.offset <= len(buffer)
        with pytest.raises(DecodeError) as caught:
            read(buffer, strict=True)
        assert (caught.value.code, caught.value.offset) == (found.error.code, found.error.offset)
    own = [finding for image in found.images for finding in image.findings]
    assert [found for found in found.findings if found.code in ("duplicate-key", "unknown-kind")] == own
    assert all(finding.severity == table("finding")[finding.code].severity for finding in found.findings)
    return found


@given(st.lists(PACKED, min_size=1, max_size=4))
def test_what_was_packed_is_read(packed: list[Packed]) -> None:
    found = check(pack(packed))
    assert found.error is None
    assert found.findings == ()
    for image, wanted in zip(found.images, packed, strict=True):
        assert (image.data, image.strings) == (wanted.data, wanted.strings)
        assert list(image.strings) == list(wanted.strings)
        assert (image.kind, image.producer, image.flags) == (wanted.kind, wanted.producer, wanted.flags)
        assert (image.version, image.triple, image.arch) == (
            1,
            wanted.strings.get("triple"),
            wanted.strings.get("arch"),
        )


@given(st.lists(packed_with(SIZED), min_size=1, max_size=4), WAYS)
def test_what_was_packed_in_another_version_is_read(packed: list[Packed], way: dict[str, Any]) -> None:
    assume(way["version"] > 1)
    whole = pack(packed, **way)
    found = check(whole)
    assert len(whole) % 8 == 0
    assert (found.error, found.findings) == (None, ())
    assert {image.binary for image in found.images} == {0}
    for index, (image, wanted) in enumerate(zip(found.images, packed, strict=True)):
        assert (image.data, image.strings) == (wanted.data, wanted.strings)
        assert list(image.strings) == list(wanted.strings)
        assert (image.kind, image.producer, image.flags) == (wanted.kind, wanted.producer, wanted.flags)
        assert (image.version, image.path, image.metadata_only) == (way["version"], (index,), bool(wanted.flags & 1))
        assert (image.offset is None) == ("compress" in way)


@given(written())
def test_nested_and_compressed_containers_are_read(buffer: bytes) -> None:
    found = check(buffer)
    assert found.error is None
    assert found.images


@given(written(), st.data())
def test_every_single_byte(buffer: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(buffer) - 1))
    check(buffer[:at] + bytes([data.draw(st.integers(0, 255))]) + buffer[at + 1 :])


@given(written(), st.data())
def test_every_truncation(buffer: bytes, data: st.DataObject) -> None:
    cut = check(buffer[: data.draw(st.integers(0, len(buffer) - 1))])
    whole = read(buffer)
    assert len(cut.images) <= len(whole.images)
    for image, wanted in zip(cut.images, whole.images, strict=False):
        assert (image.path, image.data, image.strings) == (wanted.path, wanted.data, wanted.strings)


@given(st.binary(max_size=300))
@example(b"")
@example(b"\x10\xff\x10\xad")
def test_any_bytes(buffer: bytes) -> None:
    check(buffer)


@given(st.binary(max_size=300), st.integers(72, 400))
def test_any_bytes_after_a_plausible_header(rest: bytes, size: int) -> None:
    fields = (1).to_bytes(4, "little") + b"".join(value.to_bytes(8, "little") for value in (size, 32, 40))
    check(b"\x10\xff\x10\xad" + fields + rest)


@given(st.lists(PACKED, min_size=1, max_size=2), WAYS, st.data())
def test_every_single_field(packed: list[Packed], way: dict[str, Any], data: st.DataObject) -> None:
    whole = pack(packed, **way)
    at, width = data.draw(st.sampled_from(FIELDS))
    value = data.draw(CORNERS | st.integers(0, len(whole) + 16)) % (1 << 8 * width)
    check(whole[:at] + value.to_bytes(width, "little") + whole[at + width :])


def test_every_prefix(raw: Raw) -> None:
    first, second = raw(), raw(image=bytes(range(64)))
    whole = first + second
    for cut in range(len(whole)):
        found = check(whole[:cut])
        left = cut if cut < len(first) else cut - len(first)
        assert len(found.images) == (0 if cut < len(first) else 1)
        if cut == len(first):
            assert found.error is None
        else:
            assert found.error is not None
            assert found.error.code == ("truncated" if left < 32 else "bad-size")
            assert found.error.offset == cut - left


@given(st.lists(PACKED, min_size=1, max_size=3), st.integers(0, 40), st.integers(0, 40))
def test_zero_padding_changes_nothing(packed: list[Packed], groups: int, tail: int) -> None:
    binaries = [pack([image]) for image in packed]
    found = check(bytes(8 * groups).join(binaries) + bytes(tail))
    assert found.error is None
    assert found.findings == ()
    assert [(image.data, image.strings) for image in found.images] == [(image.data, image.strings) for image in packed]


@given(st.lists(PACKED, min_size=1, max_size=2), st.integers(0, 3), st.binary(min_size=1, max_size=80))
def test_junk_ends_the_walk_and_loses_nothing(packed: list[Packed], groups: int, junk: bytes) -> None:
    whole = pack(packed) + bytes(8 * groups)
    if not any(junk[:8]) or b"\x10\xff\x10\xad".startswith(junk[:4]):
        junk = b"\xff" + junk
    found = check(whole + junk)
    assert found.error is None
    assert len(found.images) == len(packed)
    assert [(finding.code, finding.offset) for finding in found.findings] == [("junk-after-binary", len(whole))]


@given(st.lists(PACKED, min_size=2, max_size=4))
def test_permuting_binaries_permutes_images(packed: list[Packed]) -> None:
    for order in permutations(packed):
        assert [(image.data, image.strings) for image in check(pack(order)).images] == [
            (image.data, image.strings) for image in order
        ]


@given(st.lists(st.tuples(st.sampled_from([b"arch", b"triple", b"other"]), st.binary(max_size=3)), max_size=6))
def test_the_last_of_duplicates_counts(raw: Raw, pairs: list[tuple[bytes, bytes]]) -> None:
    pairs = [(key, value.replace(b"\0", b"")) for key, value in pairs]
    found = check(raw(pairs))
    keys = [key for key, _ in pairs]
    repeated = any(keys.count(key) > 1 for key in (b"arch", b"triple"))
    assert found.images[0].strings == {key.decode(): value.decode("utf-8", "surrogateescape") for key, value in pairs}
    assert [finding.code for finding in found.findings] == (["duplicate-key"] if repeated else [])


@given(st.lists(PACKED, min_size=1, max_size=2), st.integers(0, 9), st.sampled_from([bytes, bytearray, memoryview]))
def test_any_address_and_any_kind_of_buffer(packed: list[Packed], shift: int, kind: Callable[[bytes], bytes]) -> None:
    whole = pack(packed)
    assert read(memoryview(bytes(shift) + whole)[shift:]) == read(kind(whole))


@given(st.binary(max_size=7))
def test_the_gap_of_alignment_is_not_looked_at(raw: Raw, gap: bytes) -> None:
    first = raw(image=b"12345678")
    short = raw(image=b"12345678", size=len(first) - len(gap))[: len(first) - len(gap)]
    # The image reaches to the end of the binary, so it must be shortened with it.
    short = short[:64] + (8 - len(gap)).to_bytes(8, "little") + short[72:]
    found = check(short + gap + raw())
    assert found.error is None
    assert [image.binary for image in found.images] == [0, len(first)]
