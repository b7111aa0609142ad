"""Where containers hide in a file (OLP-CONT-001); the kinds of field case c16 among them."""

import io
import os
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from olpick.elf import Contents, DecodeError, Packed, form, from_bytes, open_file, pack, read, table

Raw = Callable[..., bytes]
Elf = Callable[..., bytes]
OFFLOADING = 0x6FFF4C0B
NAME = b".llvm.offloading"


def word(contents: Contents) -> tuple[str, str | None]:
    return contents.container, contents.error.code if contents.error else None


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "input"
    path.write_bytes(data)
    return path


# ---- The file itself.


def test_a_raw_container(raw: Raw, tmp_path: Path) -> None:
    path = written(tmp_path, raw() + raw())
    contents = open_file(path)
    assert (contents.input, *word(contents)) == (str(path), "offload-binary", None)
    assert contents.images == read(raw() + raw()).images
    assert open_file(str(path)) == contents


def test_standard_input(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw())))
    contents = open_file("-")
    assert (contents.input, *word(contents), len(contents.images)) == ("-", "offload-binary", None, 1)


def test_a_pipe(raw: Raw) -> None:
    reader, writer = os.pipe()
    os.write(writer, raw())
    os.close(writer)
    contents = open_file(f"/dev/fd/{reader}")
    os.close(reader)
    assert (*word(contents), len(contents.images)) == ("offload-binary", None, 1)


def test_images_outlive_the_file(raw: Raw, tmp_path: Path) -> None:
    path = written(tmp_path, raw())
    (image,) = open_file(path).images
    path.unlink()
    assert bytes(image.data) == b"the image"


def test_a_file_system_that_cannot_map(raw: Raw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("olpick.elf.locate.mmap", refuse)
    assert len(open_file(written(tmp_path, raw()), strict=True).images) == 1


@pytest.mark.parametrize("data", [b"", b"\x10", b"\x10\xff\x10\xad", b"\x10\xff\x10\xad\1"])
def test_an_empty_or_cut_file(tmp_path: Path, data: bytes) -> None:
    assert word(open_file(written(tmp_path, data))) == ("offload-binary", "truncated")


def test_junk(tmp_path: Path) -> None:
    assert word(open_file(written(tmp_path, b"hello"))) == ("unknown", "not-offload-binary")


@pytest.mark.parametrize("name", ["missing", "", ".", "nul\0", "\ud800"])
def test_cannot_read(tmp_path: Path, name: str) -> None:
    path = f"{tmp_path}/{name}"
    contents = open_file(path)
    assert word(contents) == ("unknown", "cannot-read")
    assert str(contents.error).startswith(f"cannot read {path!r}: ")
    with pytest.raises(DecodeError):
        open_file(path, strict=True)


def test_findings_and_errors_come_along(raw: Raw) -> None:
    contents = from_bytes(raw(kind=99) + raw(version=2), "name")
    assert contents.input == "name"
    assert [finding.code for finding in contents.findings] == ["unknown-kind"]
    assert word(contents) == ("offload-binary", "bad-version")
    with pytest.raises(DecodeError) as caught:
        from_bytes(raw(version=2), strict=True)
    assert caught.value.code == "bad-version"


# ---- What is recognised, and not read yet.


@pytest.mark.parametrize(
    ("data", "container", "named"),
    [
        (b"\x50\xed\x55\xba\1\0\x10\0" + bytes(64), "fatbin", "CUDA fatbin"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + bytes(64), "clang-bundle", "clang bundle"),
        (b"CCOB\2\0\1\0" + bytes(64), "compressed-bundle", "compressed bundle v2"),
        (b"CCOB\3\0\1\0" + bytes(64), "compressed-bundle", "compressed bundle v3"),
        (b"CCOB", "compressed-bundle", "compressed bundle v0"),
        (b"BC\xc0\xde" + bytes(64), "bitcode", "bare device image (bitcode)"),
        (b"\x03\x02\x23\x07" + bytes(64), "spirv", "bare device image (spirv)"),
        (b"\n.version 8.0\n", "ptx", "bare device image (ptx)"),
        (b"!<arch>\nrest", "archive", "archive"),
        (b"!<thin>\n", "archive", "archive"),
    ],
)
def test_other_containers_are_named(data: bytes, container: str, named: str) -> None:
    contents = from_bytes(data)
    assert word(contents) == (container, "unsupported-container")
    assert str(contents.error).startswith("not an OffloadBinary: ")
    assert named in str(contents.error)


@pytest.mark.parametrize(("machine", "container"), [(190, "cubin"), (224, "hsaco"), (205, "intel-elf")])
def test_bare_device_images_are_named(elf: Elf, machine: int, container: str) -> None:
    assert word(from_bytes(elf([], machine=machine))) == (container, "unsupported-container")


# ---- ELF files.


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("file_type", [1, 2, 3])
@pytest.mark.parametrize("extended", [False, True])
def test_a_section_by_its_type(raw: Raw, elf: Elf, bits: int, order: str, file_type: int, extended: bool) -> None:
    data = elf(
        [(b".text", 1, 6, b"code"), (b".any", OFFLOADING, 2, raw() + raw())],
        bits=bits,
        order=order,
        file_type=file_type,
        extended=extended,
    )
    contents = from_bytes(data)
    assert word(contents) == ("elf", None)
    assert [image.index for image in contents.images] == [0, 1]
    for image in contents.images:
        assert data[image.binary : image.binary + 4] == b"\x10\xff\x10\xad"
        assert data[image.offset : image.offset + image.size] == bytes(image.data) == b"the image"


def test_a_section_by_its_name(raw: Raw, elf: Elf) -> None:
    assert len(from_bytes(elf([(NAME, 1, 0, raw())])).images) == 1
    assert len(from_bytes(elf([(NAME, 1, 0, raw())], extended=True)).images) == 1
    for other in (NAME + b".relocatable", b"x" + NAME, NAME[:-1]):
        assert word(from_bytes(elf([(other, 1, 0, raw())]))) == ("elf", "no-offload-section")


def test_a_stripped_away_section_is_none(elf: Elf) -> None:
    assert word(from_bytes(elf([(NAME, 8, 2, b"")]))) == ("elf", "no-offload-section")


def test_a_host_elf_without_a_section(elf: Elf) -> None:
    contents = from_bytes(elf([(b".text", 1, 6, b"code")]))
    assert word(contents) == ("elf", "no-offload-section")
    assert str(contents.error).startswith("host ELF, no offload section")
    no_table = struct.pack("<16sHHI3QI6H", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0)
    assert word(from_bytes(no_table)) == ("elf", "no-offload-section")


def test_images_are_numbered_over_all_sections(raw: Raw, elf: Elf) -> None:
    sections = [(b".a", OFFLOADING, 0, raw() + b"junk"), (NAME, 1, 0, raw(kind=99)), (b".b", OFFLOADING, 0, raw())]
    contents = from_bytes(elf(sections))
    assert [image.index for image in contents.images] == [0, 1, 2]
    assert len({image.offset for image in contents.images}) == 3
    junk, odd = contents.findings
    assert (junk.code, junk.offset) == ("junk-after-binary", contents.images[0].binary + len(raw()))
    assert (odd.code, odd.offset) == ("unknown-kind", contents.images[1].binary)
    assert contents.images[1].findings == (odd,)


def test_an_error_in_one_section_does_not_lose_the_others(raw: Raw, elf: Elf) -> None:
    data = elf([(b".a", OFFLOADING, 0, raw(version=2)), (b".b", OFFLOADING, 0, raw()), (b".c", OFFLOADING, 0, b"")])
    contents = from_bytes(data)
    assert len(contents.images) == 1
    assert contents.error is not None
    assert (contents.error.code, contents.error.offset) == ("bad-version", data.index(b"\x10\xff\x10\xad"))


def test_a_compressed_section(raw: Raw, elf: Elf) -> None:
    assert word(from_bytes(elf([(NAME, 1, 0x800, raw())]))) == ("elf", "unsupported-container")


def test_a_section_past_the_end(raw: Raw, elf: Elf) -> None:
    data = elf([(b".a", OFFLOADING, 0, raw())])
    row = len(data) - 2 * 64  # of the offload section; .shstrtab is the last one
    for field, value in ((24, len(data)), (24, 2**64 - 1), (32, len(data)), (32, 2**64 - 1)):
        hostile = data[: row + field] + value.to_bytes(8, "little") + data[row + field + 8 :]
        assert word(from_bytes(hostile)) == ("elf", "malformed-elf")


def test_sections_that_overlap(raw: Raw, elf: Elf) -> None:
    data = elf([(b".a", OFFLOADING, 0, raw()), (b".b", OFFLOADING, 0, raw())])
    row, other = len(data) - 3 * 64, len(data) - 2 * 64
    hostile = data[: other + 24] + data[row + 24 : row + 32] + data[other + 32 :]
    assert word(from_bytes(hostile)) == ("elf", "malformed-elf")


@pytest.mark.parametrize(
    ("at", "width", "value"),
    [
        (4, 1, 0),  # class
        (5, 1, 3),  # data encoding
        (40, 8, 2**64 - 1),  # e_shoff
        (40, 8, 10**6),
        (58, 2, 0),  # e_shentsize
        (58, 2, 39),
        (58, 2, 0xFFFF),
        (60, 2, 0xFFFE),  # e_shnum
    ],
)
def test_malformed_elf(raw: Raw, elf: Elf, at: int, width: int, value: int) -> None:
    data = elf([(b".a", OFFLOADING, 0, raw())])
    hostile = data[:at] + value.to_bytes(width, "little") + data[at + width :]
    contents = from_bytes(hostile)
    assert word(contents) == ("elf", "malformed-elf")
    with pytest.raises(DecodeError):
        from_bytes(hostile, strict=True)


def test_a_hostile_count_costs_nothing(elf: Elf) -> None:
    data = elf([(b".a", 1, 0, b"x")], extended=True)
    row = len(data) - 3 * 64
    hostile = data[: row + 32] + (2**64 - 1).to_bytes(8, "little") + data[row + 40 :]
    assert word(from_bytes(hostile)) == ("elf", "malformed-elf")


def test_names_out_of_reach_do_not_matter(raw: Raw, elf: Elf) -> None:
    data = elf([(b".a", OFFLOADING, 0, raw())])
    for index in (0, 1, 99, 0xFFFF):
        assert len(from_bytes(data[:62] + index.to_bytes(2, "little") + data[64:]).images) == 1


@pytest.mark.parametrize("bits", [32, 64])
def test_every_prefix_of_an_elf(raw: Raw, elf: Elf, bits: int) -> None:
    data = elf([(NAME, OFFLOADING, 0, raw())], bits=bits)
    for cut in range(4, len(data)):
        contents = from_bytes(data[:cut])
        assert contents.images == ()
        assert word(contents) == ("elf", "malformed-elf")


@given(st.data())
def test_any_bytes_of_an_elf(raw: Raw, elf: Elf, data: st.DataObject) -> None:
    whole = bytearray(
        elf([(NAME, OFFLOADING, 0, raw()), (b".text", 1, 6, b"code")], bits=data.draw(st.sampled_from([32, 64])))
    )
    places = st.integers(4, 63) | st.integers(len(whole) - 256, len(whole) - 1)
    for at, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=6)):
        whole[at] = value
    contents = from_bytes(bytes(whole))
    assert contents.error is None or contents.error.code in table("error")
    for image in contents.images:
        assert whole[image.offset : image.offset + image.size] == image.data


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x7fELF", b"\x7fELF\2\1\1", b"\x7fELF\1\2\1", b"CCOB", b"!<arch>\n"]),
)
def test_any_bytes(rest: bytes, start: bytes) -> None:
    contents = from_bytes(start + rest)
    assert contents.images or contents.error
    assert contents.error is None or contents.error.code in table("error")


# ---- Real programs.

PROGRAM = """
int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x = 42;
  return x != 42;
}
"""


@pytest.mark.parametrize("form_of_output", ["program", "object", "shared"])
def test_a_real_program(clang: str, tmp_path: Path, form_of_output: str) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    offload = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "--offload-arch=x86-64,haswell"]
    library = Path("/usr/lib/llvm-22/lib")
    how = {"program": [f"-L{library}", f"-Wl,-rpath,{library}"], "object": ["-c"]}
    how["shared"] = [*how["program"], "-shared", "-fPIC"]
    command = [clang, "-O1", *offload, "p.c", "-o", "out", *how[form_of_output]]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=100)
    contents = open_file(tmp_path / "out", strict=True)
    assert contents.container == "elf"
    assert contents.findings == ()
    assert {image.arch for image in contents.images} == {"x86-64", "haswell"}
    assert {image.triple for image in contents.images} == {"x86_64-pc-linux-gnu"}
    assert [image.index for image in contents.images] == [0, 1]
    whole = (tmp_path / "out").read_bytes()
    for image in contents.images:
        assert (form(image.data), image.kind_name, image.producer_name) == ("host-elf", "elf", "openmp")
        assert whole[image.offset : image.offset + image.size] == image.data
    again = pack(Packed(i.data, i.strings, i.kind, i.producer, i.flags) for i in contents.images)
    assert whole[contents.images[0].binary :].startswith(again)
