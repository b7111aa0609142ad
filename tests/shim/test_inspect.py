"""`olpick inspect`, `extract` and `pack`; the kinds of field case c09, c11, c14, c15 and g01 among them."""

import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from olpick.elf import Packed, open_file, pack, table
from olpick.shim.inspect import Filter, listing, page

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]
Tool = Callable[[str], str]

SCHEMA: dict[str, Any] = json.loads(files("olpick.shim").joinpath("schemas/inspect.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)

TRIPLE = "x86_64-pc-linux-gnu"
INNER = pack([Packed(b"\x03\x02\x23\x07spirv", {"triple": "spirv64-intel"}, 6, 1)], version=2)
IMAGES = [
    Packed(b"BC\xc0\xdebitcode", {"triple": TRIPLE, "arch": "haswell"}, 2, 1),
    Packed(INNER, {"triple": "spirv64-intel"}, 6, 1),
    Packed(b"", {"triple": "nvptx64-nvidia-cuda", "arch": "sm_90", "note": "a\0\x1b"}, 0, 2, 1),
    Packed(b"what", {"arch": "\udcff\udcfe"}, 9, 3),
]

PROGRAM = """
int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x = 42;
  return x != 42;
}
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A container of four images, one of them nested, one metadata only, one odd."""
    path = tmp_path / "sample.bin"
    path.write_bytes(pack(IMAGES, version=2))
    return path


def images(done: Done) -> list[dict[str, Any]]:
    """Those of the only file, checked by the schema."""
    document = json.loads(done.stdout)
    VALIDATOR.validate(document)
    (result,) = document["results"]
    listed: list[dict[str, Any]] = result["images"]
    return listed


# ---- The schema


def test_the_schema_is_closed_and_its_lists_are_those_of_the_codes() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for name in ("finding", "image", "result"):
        described = SCHEMA["$defs"][name]
        assert described["additionalProperties"] is False
        assert described["required"] == sorted(described["properties"])
    finding, image = SCHEMA["$defs"]["finding"]["properties"], SCHEMA["$defs"]["image"]["properties"]
    assert finding["code"]["enum"] == [*table("finding"), *table("error")]
    assert image["form"]["enum"] == list(table("form"))


# ---- inspect


def test_json(olpick: Run, sample: Path) -> None:
    done = olpick("inspect", "--json", sample)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema"] == "olpick/inspect/1"
    (result,) = document["results"]
    assert (result["input"], result["container"]) == (str(sample), "offload-binary")
    assert [finding["code"] for finding in result["findings"]] == ["unknown-kind"]
    first, inner, metadata, odd = images(done)
    offset = sample.read_bytes().index(b"BC\xc0\xde")
    assert first == {
        "index": 0,
        "path": "0",
        "version": 2,
        "kind": "llvm ir",
        "producer": "openmp",
        "flags": 0,
        "triple": TRIPLE,
        "arch": "haswell",
        "strings": {"triple": TRIPLE, "arch": "haswell"},
        "offset": offset,
        "size": 11,
        "form": "bitcode",
        "processor": None,
        "features": None,
        "kernels": None,
        "digest": None,
        "findings": [],
    }
    assert (inner["index"], inner["path"], inner["form"], inner["arch"]) == (1, "1.0", "spirv", None)
    assert (metadata["flags"], metadata["size"], metadata["form"]) == (1, 0, "empty")
    assert metadata["strings"]["note"] == "a\0\x1b"
    assert (odd["kind"], odd["producer"], odd["findings"]) == ("unknown (9)", "openmp+cuda", ["unknown-kind"])
    assert odd["arch"].encode("utf-8", "surrogateescape") == b"\xff\xfe"


def test_digest(olpick: Run, sample: Path) -> None:
    listed = images(olpick("inspect", "--json", "--digest", sample))
    data = [IMAGES[0].data, b"\x03\x02\x23\x07spirv", b"", b"what"]
    assert [image["digest"] for image in listed] == [hashlib.sha256(each).hexdigest() for each in data]


def test_the_digest_of_a_large_image(olpick: Run, tmp_path: Path) -> None:
    data = bytes(range(256)) * 70_000
    for compress in (None, "zlib"):
        (tmp_path / "large").write_bytes(pack([Packed(data, {})], version=3, compress=compress, level=None))
        (image,) = images(olpick("inspect", "--json", "--digest", tmp_path / "large"))
        assert image["digest"] == hashlib.sha256(data).hexdigest()
        assert (image["offset"] is None) == (compress is not None)


def test_text(olpick: Run, sample: Path) -> None:
    done = olpick("inspect", "--digest", sample)
    title, header, *rows, finding = done.stdout.splitlines()
    assert title == f"{sample}: 4 images, offload-binary"
    assert header.split("  ")[0] == "image"
    assert [row.split()[:2] for row in rows] == [["[0]", "0"], ["[1]", "1.0"], ["[2]", "2"], ["[3]", "3"]]
    assert "haswell" in rows[0]
    assert r"note=a\x00\x1b" in rows[2]
    assert r"\udcff\udcfe" in rows[3]
    assert hashlib.sha256(b"what").hexdigest() in rows[3]
    assert finding.startswith("note: unknown-kind at offset 0: ")


def test_what_nobody_needs_is_no_column(olpick: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(pack(IMAGES[:1], version=1))
    header = olpick("inspect", tmp_path / "plain").stdout.splitlines()[1]
    assert header.split() == ["image", "path", "producer", "kind", "form", "triple", "arch", "size", "offset"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], [0, 1, 2, 3]),
        (["--arch", "hasw*"], [0]),
        (["--arch", "HASW*"], []),
        (["--arch", "*"], [0, 2, 3]),
        (["--arch", "sm_[0-9]*"], [2]),
        (["--triple", "*-intel"], [1]),
        (["--triple", "*", "--arch", "*"], [0, 2]),
        (["--kind", "spirv"], [1]),
        (["--kind", "llvm ir"], [0]),
        (["--kind", "9"], [3]),
        (["--kind", "none"], [2]),
        (["--producer", "openmp"], [0, 1, 3]),
        (["--producer", "cuda"], [2, 3]),
        (["--producer", "openmp+cuda"], [3]),
        (["--producer", "none"], []),
    ],
)
def test_filters(olpick: Run, sample: Path, options: list[str], expected: list[int]) -> None:
    done = olpick("inspect", "--json", sample, *options)
    assert [image["index"] for image in images(done)] == expected
    assert done.returncode == (0 if expected else 1)
    assert bool(done.stderr) != bool(expected)


def test_standard_input(olpick: Run, sample: Path) -> None:
    with sample.open("rb") as stream:
        done = olpick("inspect", "--json", "-", stdin=stream)
    assert (done.returncode, len(images(done))) == (0, 4)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (pack(IMAGES, version=2), 0, "unknown-kind"),
        (pack(IMAGES[:1], version=3, compress="zlib"), 0, None),
        (b"\x7fELF" + bytes(60), 3, "malformed-elf"),
        (b"", 3, "truncated"),
        (b"hello", 3, "not-offload-binary"),
        (b"!<arch>\n", 1, "no-offload-section"),
        (b"!<arch>\nxx", 3, "malformed-archive"),
        (b"\x50\xed\x55\xba" + bytes(12), 3, "unsupported-container"),
        (pack([Packed(b"\x10\xff\x10\xad", {})]), 1, "bad-inner"),
        (pack(IMAGES[:1]) + b"\x10\xff\x10\xad", 3, "truncated"),
        (pack(IMAGES[:1]) + b"junk", 0, "junk-after-binary"),
        (pack([Packed(pack([Packed(pack([Packed(pack([Packed(INNER, {})]), {})]), {})]), {})]), 3, "nested-too-deep"),
    ],
)
def test_exit_status(olpick: Run, tmp_path: Path, data: bytes, status: int, code: str | None) -> None:
    path = tmp_path / "input"
    path.write_bytes(data)
    done = olpick("inspect", "--json", path)
    document = json.loads(done.stdout)
    VALIDATOR.validate(document)
    assert done.returncode == status
    assert [finding["code"] for finding in document["results"][0]["findings"]] == ([code] if code else [])
    text = olpick("inspect", path)
    assert text.returncode == status
    assert bool(text.stdout) != bool(text.stderr)


def test_good_images_of_a_malformed_file_are_listed(olpick: Run, tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(pack(IMAGES[:1]) + pack(IMAGES[:1])[:-8])
    done = olpick("inspect", tmp_path / "cut")
    assert done.returncode == 3
    assert "haswell" in done.stdout
    assert "error: bad-size at offset " in done.stdout


def test_several_files(olpick: Run, sample: Path, tmp_path: Path) -> None:
    done = olpick("inspect", "--json", sample, tmp_path / "missing", sample)
    document = json.loads(done.stdout)
    VALIDATOR.validate(document)
    assert [len(result["images"]) for result in document["results"]] == [4, 0, 4]
    assert done.returncode == 3
    assert "cannot read" in done.stderr
    assert olpick("inspect", sample, sample).stdout.count("4 images") == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect"],
        ["inspect", "x", "--kind", "elephant"],
        ["inspect", "x", "--producer", "nobody"],
        ["inspect", "x", "--producer", "openmp+"],
        ["extract", "x"],
        ["extract", "-o", "dir"],
        ["pack", "-o", "x"],
        ["pack", "--image", "file=/dev/null"],
        ["pack", "-o", "x", "--image", "triple=a"],
        ["pack", "-o", "x", "--image", "file=/dev/null,file=/dev/null"],
        ["pack", "-o", "x", "--image", "file=/dev/null,arch"],
        ["pack", "-o", "x", "--image", "file=/dev/null,=a"],
        ["pack", "-o", "x", "--image", "file=/dev/null,kind=elephant"],
        ["pack", "-o", "x", "--image", "file=/dev/null", "--version", "4"],
        ["pack", "-o", "x", "--image", "file=/dev/null", "--version", "2", "--compress", "zlib"],
        ["pack", "-o", "x", "--image", "file=/dev/null", "--compress", "zlib", "--level", "77"],
    ],
)
def test_wrong_usage_is_2(olpick: Run, tmp_path: Path, arguments: list[str]) -> None:
    done = olpick(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.match(r"olpick: error: [^\n]*[^\n.]\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_a_filter_asks_for_all_that_is_given(sample: Path) -> None:
    contents = open_file(sample)
    assert len(listing(contents, Filter()).images) == 4
    assert listing(contents, Filter(arch="haswell", kind=1)).images == ()
    assert page(listing(contents, Filter(arch="haswell"))).plain().startswith(f"{sample}: 1 of 4 images, ")


# ---- extract


def test_images_of_the_same_name_get_files_of_their_own(olpick: Run, tmp_path: Path) -> None:
    strings = {"triple": TRIPLE, "arch": "haswell"}
    (tmp_path / "twins.bin").write_bytes(pack([Packed(b"BC\xc0\xdeone", strings), Packed(b"BC\xc0\xdetwo", strings)]))
    for turn in range(2):
        done = olpick("extract", "twins.bin", "-o", "out", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        paths = done.stdout.splitlines()
        numbers = [f".{number}" if number else "" for number in (2 * turn, 2 * turn + 1)]
        assert paths == [f"out/twins-{TRIPLE}-haswell{number}.bc" for number in numbers]
        assert [(tmp_path / path).read_bytes() for path in paths] == [b"BC\xc0\xdeone", b"BC\xc0\xdetwo"]


def test_names_lead_nowhere_else(olpick: Run, tmp_path: Path) -> None:
    strings = {"triple": "../../a b", "arch": "/\udcff" + "x" * 300}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / ".bin").write_bytes(pack([Packed(b"what", strings)]))
    done = olpick("extract", tmp_path / "in" / ".bin", "-o", tmp_path / "out")
    (path,) = done.stdout.splitlines()
    assert Path(path).parent == tmp_path / "out"
    assert re.fullmatch(r"_bin-[A-Za-z0-9._-]+", Path(path).name)
    assert len(Path(path).name) < 255
    assert Path(path).read_bytes() == b"what"


def test_extract_leaves_out_what_has_no_bytes(olpick: Run, sample: Path, tmp_path: Path) -> None:
    done = olpick("extract", sample, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert "image [2], at 2, has no bytes" in done.stderr
    assert sorted(path.read_bytes() for path in (tmp_path / "out").iterdir()) == sorted(
        [bytes(IMAGES[0].data), b"\x03\x02\x23\x07spirv", b"what"]
    )
    done = olpick("extract", sample, "-o", tmp_path / "none", "--arch", "sm_90")
    assert (done.returncode, done.stdout) == (1, "")
    assert not (tmp_path / "none").exists()


def test_exit_status_of_extract(olpick: Run, sample: Path, tmp_path: Path) -> None:
    assert olpick("extract", sample, "-o", tmp_path / "out", "--arch", "none").returncode == 1
    assert olpick("extract", tmp_path / "missing", "-o", tmp_path / "out").returncode == 3
    (tmp_path / "cut").write_bytes(pack(IMAGES[:1]) + pack(IMAGES[:1])[:-8])
    done = olpick("extract", tmp_path / "cut", "-o", tmp_path / "out")
    assert (done.returncode, len(done.stdout.splitlines())) == (3, 1)
    assert "Size is" in done.stderr
    assert olpick("extract", sample, "-o", sample).returncode == 3


# ---- pack


def test_pack(olpick: Run, tmp_path: Path) -> None:
    (tmp_path / "a.bc").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"\x03\x02\x23\x07two")
    described = ["file=a.bc,triple=t,arch=x,kind=openmp,arch=y,note=a=b", "file=b,kind=cuda+hip", "file=b,kind=elf"]
    arguments = [word for each in described for word in ("--image", each)]
    for version, compress in ((1, None), (2, None), (3, None), (3, "zlib"), (3, "zstd")):
        how = ["--compress", compress] if compress else ["--version", str(version)]
        done = olpick("pack", "-o", "out", "--force", *arguments, *how, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        first, second, third = open_file(tmp_path / "out", strict=True).images
        assert first.strings == {"triple": "t", "arch": "x,y", "note": "a=b"}
        assert (first.version, first.kind_name, first.producer_name, bytes(first.data)) == (
            version,
            "llvm ir",
            "openmp",
            b"one",
        )
        assert (second.kind_name, second.producer_name, second.strings) == ("spirv", "cuda+hip", {})
        assert (third.kind_name, third.producer_name) == ("elf", "none")
        assert (first.offset is None) == (compress is not None)


def test_pack_overwrites_only_when_forced(olpick: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"precious")
    done = olpick("pack", "-o", tmp_path / "out", "--image", "file=/dev/null")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (tmp_path / "out").read_bytes() == b"precious"
    assert olpick("pack", "-o", tmp_path / "out", "--force", "--image", "file=/dev/null").returncode == 0
    assert (tmp_path / "out").read_bytes() == pack([Packed(b"", {})])


def test_pack_to_standard_output(olpick: Run) -> None:
    done = olpick("pack", "-o", "-", "--image", "file=/dev/null,arch=x", text=False)
    assert done.stdout == pack([Packed(b"", {"arch": "x"})])  # type: ignore[comparison-overlap]


def test_pack_of_what_is_not_there_is_3(olpick: Run, tmp_path: Path) -> None:
    done = olpick("pack", "-o", tmp_path / "out", "--image", f"file={tmp_path}/missing")
    assert (done.returncode, (tmp_path / "out").exists()) == (3, False)
    assert olpick("pack", "-o", tmp_path / "no" / "out", "--image", "file=/dev/null").returncode == 3


def test_pack_writes_the_bytes_of_llvm(olpick: Run, llvm_tool: Tool, tmp_path: Path) -> None:
    for name in ("a.o", "b.bc", "c.cubin", "d.fatbin", "e.s"):
        (tmp_path / name).write_bytes(name.encode())
        described = f"--image=file={name},triple=t,arch=x,kind=hip"
        subprocess.run(
            [llvm_tool("llvm-offload-binary"), "-o", "llvm", described], cwd=tmp_path, check=True, timeout=60
        )
        keys = list(open_file(tmp_path / "llvm", strict=True).images[0].strings)  # in an order of its own
        pairs = ",".join(f"{key}={ {'triple': 't', 'arch': 'x'}[key] }" for key in keys)
        assert (
            olpick("pack", "-o", "ours", "--force", f"--image=file={name},kind=hip,{pairs}", cwd=tmp_path).returncode
            == 0
        )
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "llvm").read_bytes()


# ---- A real program


@pytest.fixture(scope="module")
def program(clang: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    offload = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "--offload-arch=x86-64,haswell"]
    library = "/usr/lib/llvm-22/lib"
    command = [clang, "-O1", *offload, "p.c", "-o", "app", f"-L{library}", f"-Wl,-rpath,{library}"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=100)
    return folder / "app"


def test_inspect_says_what_llvm_objdump_says(olpick: Run, llvm_tool: Tool, program: Path) -> None:
    said = subprocess.run(
        [llvm_tool("llvm-objdump"), "--offloading", program], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    keys = ("kind", "arch", "triple", "producer")
    blocks = [dict(re.findall(r"^(\w+) +(.*)$", block, re.MULTILINE)) for block in said.split("OFFLOADING IMAGE")[1:]]
    listed = images(olpick("inspect", "--json", program))
    assert len(listed) == 2
    assert [{key: image[key] for key in keys} for image in listed] == blocks


def test_extract_writes_what_llvm_extracts(olpick: Run, llvm_tool: Tool, program: Path, tmp_path: Path) -> None:
    for arch in ("x86-64", "haswell"):
        described = f"--image=file={tmp_path}/{arch}.llvm,triple={TRIPLE},arch={arch}"
        subprocess.run([llvm_tool("llvm-offload-binary"), program, described], check=True, timeout=60)
        done = olpick("extract", program, "-o", tmp_path, "--arch", arch, "--triple", TRIPLE)
        assert done.returncode == 0
        (path,) = done.stdout.splitlines()
        assert Path(path).read_bytes() == (tmp_path / f"{arch}.llvm").read_bytes()
