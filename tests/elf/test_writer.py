"""The writer: what it refuses, and that its bytes are those of llvm-offload-binary 22."""

import subprocess
from collections.abc import Callable
from pathlib import Path

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
