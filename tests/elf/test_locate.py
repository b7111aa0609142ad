"""Where containers hide in a file (OLP-CONT-001); the kinds of field case c16 among them."""

import io
import os
import struct
import subprocess
import sys
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
    contents = from_bytes(raw(kind=99) + raw(version=4), "name")
    assert contents.input == "name"
    assert [finding.code for finding in contents.findings] == ["unknown-kind"]
    assert word(contents) == ("offload-binary", "bad-version")
    with pytest.raises(DecodeError) as caught:
        from_bytes(raw(version=4), strict=True)
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
        (b"!<thin>\n", "thin-archive", "thin archive"),
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
        assert image.offset is not None
        assert data[image.offset : image.offset + image.size] == bytes(image.data) == b"the image"


def test_a_section_by_its_name(raw: Raw, elf: Elf) -> None:
    assert len(from_bytes(elf([(NAME, 1, 0, raw())])).images) == 1
    assert len(from_bytes(elf([(NAME, 1, 0, raw())], extended=True)).images) == 1
    assert len(from_bytes(elf([(NAME + b".relocatable", 1, 0, raw())])).images) == 1
    for other in (NAME + b".other", b"x" + NAME, NAME[:-1]):
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
    data = elf([(b".a", OFFLOADING, 0, raw(version=4)), (b".b", OFFLOADING, 0, raw()), (b".c", OFFLOADING, 0, b"")])
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
        assert image.offset is not None
        assert whole[image.offset : image.offset + image.size] == image.data


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x7fELF", b"\x7fELF\2\1\1", b"\x7fELF\1\2\1", b"CCOB", b"!<arch>\n"]),
)
def test_any_bytes(rest: bytes, start: bytes) -> None:
    contents = from_bytes(start + rest)
    assert contents.images or contents.error
    assert contents.error is None or contents.error.code in table("error")


# ---- Archives.


def archive(members: list[tuple[bytes, bytes]]) -> bytes:
    """Each (name as it stands in the header, bytes)."""
    whole = b"!<arch>\n"
    for name, data in members:
        whole += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", len(data)) + data + b"\n" * (len(data) % 2)
    return whole


def test_the_members_of_an_archive(raw: Raw, elf: Elf) -> None:
    names = b"a_name_longer_than_fifteen_bytes.o/\nanother_such_name_of_a_member.o/\n"
    data = archive(
        [
            (b"/", b"\0\0\0\0symbols"),
            (b"//", names),
            (b"/0", elf([(NAME, OFFLOADING, 0, raw() + raw())])),
            (b"/36", b"a text"),
            (b"plain.o/", elf([(b".text", 1, 6, b"code")])),
            (b"empty/", b""),
            (b"#1/8", b"bsd.bin\0" + raw(kind=99)),
            (b"#1/12", b"__.SYMDEF\0\0\0" + raw()),
        ]
    )
    contents = from_bytes(data, strict=True)
    assert contents.container == "archive"
    assert [image.path for image in contents.images] == [(0,), (1,), (2,)]
    assert [finding.code for finding in contents.findings] == ["unknown-kind"]
    for image in contents.images:
        assert image.offset is not None
        assert data[image.binary : image.binary + 4] == b"\x10\xff\x10\xad"
        assert data[image.offset : image.offset + image.size] == bytes(image.data) == b"the image"


def test_an_archive_without_images(elf: Elf) -> None:
    for members in ([], [(b"x/", b"text")], [(b"x.o/", elf([(b".text", 1, 6, b"code")]))]):
        assert word(from_bytes(archive(members))) == ("archive", "no-offload-section")


@pytest.mark.parametrize(
    ("member", "named"),
    [
        (
            (b"/0", b"BC\xc0\xde" + bytes(8)),
            "member 'long.o' is no ELF file and no OffloadBinary: a bare device image (b",
        ),
        ((b"x.fatbin/", b"\x50\xed\x55\xba" + bytes(8)), "CUDA fatbin"),
        ((b"x.a/", archive([])), "archive; take it out"),
    ],
)
def test_members_that_are_not_read_are_named(raw: Raw, member: tuple[bytes, bytes], named: str) -> None:
    contents = from_bytes(archive([(b"//", b"long.o/\n"), member, (b"good/", raw())]))
    assert word(contents) == ("archive", "unsupported-container")
    assert named in str(contents.error)
    assert len(contents.images) == 1


def test_errors_in_a_member_do_not_lose_the_others(raw: Raw, elf: Elf) -> None:
    broken = elf([(NAME, OFFLOADING, 0, raw())])[:-1]
    data = archive([(b"a/", raw(version=9)), (b"b/", broken), (b"c/", raw())])
    contents = from_bytes(data)
    assert len(contents.images) == 1
    assert contents.error is not None
    assert (contents.error.code, contents.error.offset) == ("bad-version", 68)
    alone = from_bytes(archive([(b"b/", broken)])).error
    assert alone is not None
    assert (alone.code, alone.offset >= 68) == ("malformed-elf", True)


@pytest.mark.parametrize(
    "member",
    [
        b"short",
        archive([(b"x/", b"12")])[8:-1],
        archive([(b"x/", b"12")])[8:66] + b"xx12",
        archive([(b"x/", b"12")])[8:].replace(b"2 ", b"-1", 1).replace(b"2 ", b"2x"),
        archive([(b"/7", b"12")])[8:],
        archive([(b"/x", b"12")])[8:],
        archive([(b"#1/3", b"12")])[8:],
        archive([(b"#1/", b"12")])[8:],
    ],
)
def test_malformed_archive(raw: Raw, member: bytes) -> None:
    good = archive([(b"good/", raw())])
    contents = from_bytes(good + member)
    assert word(contents) == ("archive", "malformed-archive")
    assert contents.error is not None
    assert contents.error.offset == len(good)
    assert len(contents.images) == 1


def test_every_prefix_of_an_archive(raw: Raw) -> None:
    whole = archive([(b"a/", raw()), (b"b/", raw())])
    for cut in range(8, len(whole)):
        contents = from_bytes(whole[:cut])
        assert contents.error is None or contents.error.code in ("malformed-archive", "no-offload-section")
        assert len(contents.images) == (cut >= (len(whole) - 8) // 2 + 8)


@given(st.data())
def test_any_bytes_of_an_archive(raw: Raw, elf: Elf, data: st.DataObject) -> None:
    whole = bytearray(archive([(b"//", b"long.o/\n"), (b"/0", raw()), (b"b/", elf([(NAME, OFFLOADING, 0, raw())]))]))
    for at, value in data.draw(st.lists(st.tuples(st.integers(8, len(whole) - 1), st.integers(0, 255)), max_size=4)):
        whole[at] = value
    contents = from_bytes(bytes(whole))
    assert contents.error is None or contents.error.code in table("error")


def test_a_real_archive(llvm_tool: Callable[[str], str], raw: Raw, elf: Elf, tmp_path: Path) -> None:
    for name, data in (("a.o", elf([(NAME, OFFLOADING, 0, raw())])), ("a_name_longer_than_fifteen_bytes.bin", raw())):
        (tmp_path / name).write_bytes(data)
    for kind in ("gnu", "bsd"):
        command = [llvm_tool("llvm-ar"), f"--format={kind}", "rcs", f"{kind}.a", "a.o"]
        command.append("a_name_longer_than_fifteen_bytes.bin")
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
        contents = open_file(tmp_path / f"{kind}.a", strict=True)
        assert (contents.container, len(contents.images)) == ("archive", 2)


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
        assert image.offset is not None
        assert whole[image.offset : image.offset + image.size] == image.data
    again = pack(Packed(i.data, i.strings, i.kind, i.producer, i.flags) for i in contents.images)
    assert whole[contents.images[0].binary :].startswith(again)


# ---- What it costs.


def test_payloads_are_not_read_until_asked_for(raw: Raw, tmp_path: Path) -> None:
    """A file of 4 GiB that is mostly a hole, with 1000 images."""
    path = tmp_path / "sparse"
    size = (4 << 30) // 1000 // 8 * 8
    with path.open("wb") as file:
        for index in range(1000):
            file.seek(index * size)
            head = raw(image=b"the image", size=size, image_size=size - 152)
            file.write(head[:152] + b"the image")
        file.truncate(1000 * size)
    code = (
        "import resource, sys, time; from olpick.elf import open_file, form\n"
        "most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before, began = most(), time.process_time()\n"
        "contents = open_file(sys.argv[1], strict=True)\n"
        "forms = {form(image.data) for image in contents.images}\n"
        "print(len(contents.images), forms, time.process_time() - began, (most() - before) / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True, text=True, timeout=60)
    count, forms, seconds, mebibytes = done.stdout.split()
    assert (count, forms) == ("1000", "{'unknown'}")
    assert float(seconds) < 1
    assert float(mebibytes) < 32
