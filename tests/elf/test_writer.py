"""The writer: what it refuses, and that its bytes are those of llvm-offload-binary 22."""

import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from olpick.elf import Container, Packed, pack, read

Tool = Callable[[str], str]


def repacked(found: Container) -> bytes:
    return pack(Packed(i.data, i.strings, kind=i.kind, producer=i.producer, flags=i.flags) for i in found.images)


def test_nothing_is_written_for_no_images() -> None:
    assert pack([]) == b""


def test_the_smallest_binary() -> None:
    whole = pack([Packed(b"", {})])
    assert len(whole) == 80
    assert read(whole, strict=True).images[0].strings == {}


def test_strings_share_their_ends() -> None:
    whole = pack([Packed(b"", {"triple": "ple", "le": "", "e": "triple"})])
    assert whole[72 + 3 * 16 :] == b"\0triple\0"


@pytest.mark.parametrize("field", [{"kind": -1}, {"kind": 2**16}, {"producer": 2**16}, {"flags": 2**32}])
def test_a_field_must_fit(field: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        pack([Packed(b"", {}, **field)])


@pytest.mark.parametrize("strings", [{"a\0": ""}, {"a": "\0"}])
def test_a_string_holds_no_nul(strings: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="holds a NUL"):
        pack([Packed(b"", strings)])


def test_a_key_holds_no_nul_in_any_version() -> None:
    for version in (2, 3):
        pack([Packed(b"", {"a": "\0"})], version=version)
        with pytest.raises(ValueError, match="holds a NUL"):
            pack([Packed(b"", {"a\0": ""})], version=version)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"version": 0}, "no version 0"),
        ({"version": 4}, "no version 4"),
        ({"version": 2, "compress": "zlib"}, "cannot be compressed"),
        ({"version": 3, "compress": "lzma"}, "none of zlib, zstd"),
        ({"version": 3, "level": 3}, "without a compression"),
        ({"version": 3, "compress": "zlib", "level": 10}, "zlib has no level 10"),
        ({"version": 3, "compress": "zlib", "level": -2}, "zlib has no level -2"),
        ({"version": 3, "compress": "zstd", "level": 99}, "zstd has no level 99"),
    ],
)
def test_there_are_only_these_ways_to_write(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        pack([Packed(b"", {})], **settings)


def test_no_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("olpick.elf.compression._zstd", lambda: None)
    with pytest.raises(ValueError, match="no zstd"):
        pack([Packed(b"", {})], version=3, compress="zstd")


def test_what_no_reader_inflates_is_not_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("olpick.elf.writer.INFLATE_LIMIT", 100)
    with pytest.raises(ValueError, match="more than the 100"):
        pack([Packed(bytes(100), {})], version=3, compress="zlib")


def test_the_layout_of_version_2() -> None:
    whole = pack([Packed(b"one", {"k": "aa"}, 1, 2, 3), Packed(b"two", {"a": "a"}, 4, 5, 6)], version=2)
    table = b"\0k\0aa\0"
    table_at = 32 + 2 * 40 + 2 * 24
    image_at = -(-(table_at + len(table)) // 8) * 8
    assert whole == (
        b"\x10\xff\x10\xad"
        + struct.pack("<IQQQ", 2, image_at + 8, 32, 2)
        + struct.pack("<HHIQQQQ", 1, 2, 3, 112, 1, image_at, 3)
        + struct.pack("<HHIQQQQ", 4, 5, 6, 136, 1, image_at + 3, 3)
        + struct.pack("<QQQ", table_at + 1, table_at + 3, 2)
        + struct.pack("<QQQ", table_at + 4, table_at + 4, 1)
        + table.ljust(image_at - table_at, b"\0")
        + b"onetwo\0\0"
    )


def test_the_layout_of_version_3() -> None:
    images = [Packed(b"one", {"k": "aa"}), Packed(b"two", {})]
    plain = pack(images, version=3)
    assert plain[:40] == b"\x10\xff\x10\xad" + struct.pack("<IQQQQ", 3, len(plain), 40, 2, 0)
    whole = pack(images, version=3, compress="zlib", level=9)
    payload = zlib.compress(plain[40:], 9)
    size = 40 + len(payload)
    assert whole[:40] == b"\x10\xff\x10\xad" + struct.pack("<IQQQQ", 3, size, 40, 2, len(plain))
    assert whole[40:] == payload + bytes(-size % 8)


def test_a_string_must_have_bytes() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        pack([Packed(b"", {"a": "\ud800"})])


def test_what_no_reader_may_accept_is_not_written() -> None:
    with pytest.raises(ValueError, match="OLP-CONT-010"):
        pack([Packed(b"", {"x" * length: "" for length in range(1, 5000)})])


@given(st.lists(st.dictionaries(st.text("ab", max_size=4), st.text("ab", max_size=4)), max_size=3))
def test_writing_what_was_read_gives_the_same_bytes(strings: list[dict[str, str]]) -> None:
    whole = pack(Packed(b"x", each) for each in strings)
    assert not whole or repacked(read(whole, strict=True)) == whole


# Tails that are shared in all ways, bytes above 0x7f, empty values; `,` and `=` are the tool's own.
WORD = st.text("abcé~", max_size=4)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    images=st.lists(
        st.tuples(st.binary(max_size=20), st.dictionaries(WORD.filter(bool), WORD, max_size=8)), min_size=1, max_size=3
    ),
    kind=st.sampled_from(["openmp", "cuda", "hip", "none"]),
    suffix=st.sampled_from(["o", "bc", "cubin", "fatbin", "s", "x"]),
)
def test_byte_identity_with_llvm(
    llvm_tool: Tool, tmp_path: Path, images: list[tuple[bytes, dict[str, str]]], kind: str, suffix: str
) -> None:
    command = [llvm_tool("llvm-offload-binary"), "-o", "out.bin"]
    for index, (data, strings) in enumerate(images):
        (tmp_path / f"{index}.{suffix}").write_bytes(data)
        strings = {"triple": "a-b-c", "arch": "", **strings}
        pairs = "".join(f",{key}={value}" for key, value in strings.items() if value or key in ("arch", "triple"))
        command.append(f"--image=file={index}.{suffix},kind={kind}{pairs}")
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    whole = (tmp_path / "out.bin").read_bytes()
    found = read(whole, strict=True)
    assert found.findings == ()
    assert [bytes(image.data) for image in found.images] == [data for data, _ in images]
    assert repacked(found) == whole


def test_llvm_lists_what_was_written(llvm_tool: Tool, tmp_path: Path) -> None:
    names = ["haswell", "x86-64", "znver4"]
    images = [Packed(b"\x7fELF" + bytes(60), {"triple": "x86_64-pc-linux-gnu", "arch": name}, 1, 1) for name in names]
    (tmp_path / "out.bin").write_bytes(pack(images))
    listed = subprocess.run(
        [llvm_tool("llvm-objdump"), "--offloading", "out.bin"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert [line.split()[1] for line in listed.splitlines() if line.startswith("arch")] == names
