"""Section 2. The device is a Haswell or a Skylake-AVX512 server."""

from typing import Final

from olpick.conformance.builders import Binary, Elf, Entry, shared_object
from olpick.conformance.vectors.cases.facts_host_elf import host_elf_groups
from olpick.conformance.vectors.cases.writing import BITCODE, Group, elf, image, join

__all__ = ["groups"]

HASWELL: Final = {"cpu": "haswell"}
SKX: Final = {"cpu": "skylake-avx512"}
LINUX: Final = "x86_64-unknown-linux-gnu"
IMAGE: Final = shared_object()


def groups() -> list[Group]:
    """All groups of the section, in the order of their numbers."""
    return [_form(), *host_elf_groups(), _label()]


def _form() -> Group:
    group = Group("OLP-FACT-001")

    def form(name: str, comment: str, data: bytes, verdict: str, *, flags: str = "", **strings: str) -> None:
        group.chooses(name, comment, [image(data, **strings)], HASWELL, verdict, flags=flags)

    group.chooses("host-elf", "machine 62", [elf()], HASWELL, "selected generic 1 =host-elf")
    form("empty", "no bytes", b"", "rejected empty-image =empty", flags="Negative")
    for machine, word in ((190, "cubin"), (224, "hsaco"), (205, "intel-elf"), (183, "other-elf"), (3, "other-elf")):
        data = Elf(machine=machine).build()
        form(f"machine-{machine}", f"machine {machine}", data, f"rejected wrong-machine ={word}", flags="Negative")
    form("elf-20", "20 bytes: the machine is there", IMAGE[:20], "rejected malformed-image =host-elf", flags="Boundary")
    form("elf-19", "19 bytes: it is not", IMAGE[:19], "rejected wrong-machine =other-elf", flags="Negative Boundary")
    form("elf-4", "the magic alone", IMAGE[:4], "rejected wrong-machine =other-elf", flags="Negative Boundary")
    big = Elf(ei_data=2).build()
    form("elf-big-endian", "big-endian, machine 62", big, "rejected wrong-machine =other-elf", flags="Negative")
    odd = Elf(ei_data=1).build()
    odd = odd[:5] + b"\0" + odd[6:]
    form("elf-no-encoding", "data encoding 0", odd, "rejected wrong-machine =other-elf", flags="Negative")

    form("bitcode", "raw bitcode", BITCODE, "selected jit 1 =bitcode", triple=LINUX)
    wrapped = b"\xde\xc0\x17\x0b" + bytes(16)
    form("bitcode-wrapped", "bitcode with the wrapper", wrapped, "selected jit 1 =bitcode", triple=LINUX)
    for name, data, word, reason in (
        ("spirv", b"\x03\x02\x23\x07", "spirv", "wrong-machine"),
        ("spirv-swapped", b"\x07\x23\x02\x03", "unknown", "unknown-form"),
        ("fatbin", b"\x50\xed\x55\xba", "fatbin", "unknown-form"),
        ("clang-bundle", b"__CLANG_OFFLOAD_BUNDLE__", "clang-bundle", "unknown-form"),
        ("clang-bundle-short", b"__CLANG_OFFLOAD_BUNDLE_", "unknown", "unknown-form"),
        ("compressed-bundle", b"CCOB", "compressed-bundle", "unknown-form"),
        ("offload-binary-short", b"\x10\xff\x10", "unknown", "unknown-form"),
        ("three-bytes", b"CCO", "unknown", "unknown-form"),
        ("text", b"hello", "unknown", "unknown-form"),
    ):
        form(name, f"{len(data)} bytes", data, f"rejected {reason} ={word}", flags="Negative")

    group.chooses(
        "offload-binary",
        "the magic; only an entry without an image (OLP-CONT-019) is delivered so",
        (),
        HASWELL,
        "rejected metadata-only =offload-binary",
        container=join(Binary(Entry(b"\x10\xff\x10\xad", flags=1), version=2)),
        flags="Negative",
        open_to_reading=True,
    )

    ptx, no = "rejected wrong-machine =ptx", "rejected unknown-form =unknown"
    form("ptx", "at the beginning", b".version 8.0\n", ptx)
    form("ptx-comments", "after white space and comments", b" \t\r\n// .x\n/* .y **/\n.version\t8.0", ptx)
    form("ptx-tight-comments", "comments without space", b"/**//*/*/.version 8.0", ptx, flags="Boundary")
    form("ptx-line-comment", "it is in a comment", b"// .version 8.0", no, flags="Negative")
    form("ptx-open-comment", "the comment does not end", b"/*/ .version 8.0", no, flags="Negative")
    form("ptx-second-directive", "another one is first", b".target sm_80\n.version 8.0\n", no, flags="Negative")
    form("ptx-longer-word", "no white space follows", b".versions 8.0\n", no, flags="Negative")
    form("ptx-cut", "nothing follows", b".version", no, flags="Negative Boundary")
    form("ptx-form-feed", "a form feed is no white space", b"\f.version 8.0", no, flags="Negative")
    form("ptx-4096", "the white space after it is byte 4096", b" " * 4087 + b".version 8.0", ptx, flags="Boundary")
    form("ptx-4097", "it is byte 4097", b" " * 4088 + b".version 8.0", no, flags="Negative Boundary")
    return group


def _label() -> Group:
    group = Group("OLP-FACT-004")

    def label(name: str, comment: str, arch: str, verdict: str, *, level: int = 0, flags: str = "") -> None:
        group.chooses(name, comment, [elf(level, arch=arch)], SKX, verdict, flags=flags)

    group.chooses("none", "no label", [elf()], SKX, "selected generic 1", flags="Negative")
    label("empty", "an empty label", "", "selected generic 1", flags="Negative")
    label("generic", "it asks for nothing", "generic", "selected generic 1", flags="Negative")
    label("cpu", "a CPU name", "skylake-avx512", "selected exact 1")
    label("alias", "another name of it", "skx", "selected exact 1")
    label("underscore", "another one", "skylake_avx512", "selected exact 1")
    label("other-cpu", "a CPU that asks for less", "haswell", "selected cpu-level 1")
    label("level", "a level", "x86-64-v4", "selected cpu-level 1")
    label("lowest-level", "the baseline", "x86-64", "selected generic 1")
    label("lacking", "a CPU that asks for more", "cascadelake", "rejected cpu-features")
    for name, arch in (
        ("unknown", "sm_90"),
        ("case", "Skylake-AVX512"),
        ("space", "haswell "),
        ("upper-generic", "Generic"),
        ("feature", "avx2"),
        ("native", "native"),
        ("level-5", "x86-64-v5"),
        ("prefix", "x86-64-v"),
    ):
        label(name, f"{arch!r} is in no table", arch, "selected unknown-cpu 1", flags="Negative")
    label(
        "mismatch",
        "the note asks for more than the label",
        "x86-64-v2",
        "selected cpu-level 1 +label-mismatch @3",
        level=3,
    )
    label("mismatch-cpu", "a CPU below the level", "ivybridge", "selected cpu-level 1 +label-mismatch @3", level=3)
    label("match", "the label implies the level", "haswell", "selected cpu-level 1 @3", level=3, flags="Negative")
    label("match-lower", "the label implies more", "x86-64-v3", "selected cpu-level 1 @2", level=2, flags="Negative")
    label(
        "unknown-and-note",
        "an unknown label contradicts nothing",
        "zen99",
        "selected unknown-cpu 1 @3",
        level=3,
        flags="Negative",
    )
    label(
        "empty-and-note", "an empty label contradicts nothing", "", "selected cpu-level 1 @3", level=3, flags="Negative"
    )
    label(
        "generic-and-note",
        "generic is in no table",
        "generic",
        "selected cpu-level 1 @3",
        level=3,
        flags="Negative",
    )
    label(
        "baseline-and-note",
        "the baseline does not imply it",
        "x86-64",
        "selected cpu-level 1 +label-mismatch @2",
        level=2,
    )
    return group
