"""Section 3."""

from typing import Any, Final

from olpick.conformance.builders import Binary, Elf, Entry
from olpick.conformance.vectors.cases.keys import keys_groups
from olpick.conformance.vectors.cases.writing import BITCODE, Group, bitcode, elf, image, join, one

__all__ = ["groups"]

BASELINE: Final = {"cpu": "x86-64", "anonymous": True}
NEHALEM: Final = {"cpu": "nehalem"}
HASWELL: Final[dict[str, Any]] = {"cpu": "haswell"}
SKX: Final[dict[str, Any]] = {"cpu": "skylake-avx512"}
ALDERLAKE: Final = {"cpu": "alderlake"}
DIAMONDRAPIDS: Final = {"cpu": "diamondrapids"}
CUBIN: Final = Elf(machine=190).build()
PTX: Final = b".version 8.0\n"


def groups() -> list[Group]:
    """All groups of the section, in the order of their numbers."""
    return [*_bytes(), _triple(), _machine(), _processor(), _features(), *keys_groups()]


def _bytes() -> list[Group]:
    empty, form, malformed = Group("OLP-COMP-001"), Group("OLP-COMP-002"), Group("OLP-COMP-003")
    one(empty, "some", "an image with bytes", elf(), HASWELL, "selected generic 1")
    one(empty, "none", "no bytes", image(b""), HASWELL, "rejected empty-image")
    one(
        empty,
        "before-triple",
        "asked before the triple",
        image(b"", triple="amdgcn-amd-amdhsa"),
        HASWELL,
        "rejected empty-image",
    )

    _metadata(empty)
    one(form, "host-elf", "a form that can run", elf(), HASWELL, "selected generic 1")
    for data in (b"what?", b"\x50\xed\x55\xba", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"):
        name = data[:4].hex()
        one(form, name, f"it begins with {name}", image(data), HASWELL, "rejected unknown-form")
    one(form, "before-triple", "asked before the triple", image(b"?", triple="arm"), HASWELL, "rejected unknown-form")

    one(malformed, "well-formed", "a shared object", elf(), HASWELL, "selected generic 1")
    executable = Elf(type=2).build()
    one(malformed, "executable", "an executable", image(executable), HASWELL, "rejected malformed-image")
    one(
        malformed,
        "before-triple",
        "asked before the triple",
        image(executable, triple="arm"),
        HASWELL,
        "rejected malformed-image",
    )
    one(
        malformed,
        "cubin-cut",
        "a cut ELF of another machine is not judged",
        image(CUBIN[:64]),
        HASWELL,
        "rejected wrong-machine",
    )
    return [empty, form, malformed]


def _metadata(group: Group) -> None:
    """Entries that say that they carry no image, beside a plain one."""
    host, marked = Entry(elf()[0]), Entry(elf()[0], flags=1)

    def chooses(
        name: str, comment: str, container: bytes, *verdicts: str, flags: str = "Negative", **more: Any
    ) -> None:
        group.chooses(name, comment, (), HASWELL, *verdicts, container=container, flags=flags, **more)

    metadata, generic = "rejected metadata-only", "selected generic 1"
    for version in (2, 3):
        for name, entry, form in (("no-bytes", Entry(flags=1), "empty"), ("bytes", marked, "host-elf")):
            chooses(
                f"metadata-{version}-{name}",
                f"version {version}, bit 0 of the flags",
                join(Binary(entry, version=version)),
                f"{metadata} ={form}",
            )
    chooses("metadata-1", "in version 1 no flag has a meaning", join(Binary(marked)), generic)
    chooses("metadata-1-no-bytes", "nor here", join(Binary(Entry(flags=1))), "rejected empty-image")
    chooses("metadata-bit-1", "bit 1", join(Binary(Entry(elf()[0], flags=2), version=2)), generic)
    chooses("metadata-all-bits", "all bits", join(Binary(Entry(elf()[0], flags=2**32 - 1), version=2)), metadata)
    beside = join(Binary(marked, version=2, more=(host,)))
    chooses("metadata-beside", "the other entry is chosen", beside, metadata, generic, flags="")
    wrong = Entry(elf()[0], ((b"triple", b"amdgcn-amd-amdhsa"),), flags=1)
    chooses("metadata-before-triple", "asked before the triple", join(Binary(wrong, version=2)), metadata)
    container = Entry(join(Binary(host)), flags=1)
    chooses(
        "metadata-container",
        "bytes that are a container are none",
        join(Binary(container, version=2)),
        f"{metadata} =offload-binary",
        open_to_reading=True,
    )
    chooses(
        "metadata-first",
        "policy first does not take it either",
        beside,
        "rejected runtime-refuses",
        "selected accepted 1",
        policy="first",
        first=1,
        flags="",
    )


def _triple() -> Group:
    group = Group("OLP-COMP-004")
    for name, triple in (
        ("none", ""),
        ("usual", "x86_64-unknown-linux-gnu"),
        ("pc", "x86_64-pc-linux-gnu"),
        ("amd64", "amd64-unknown-linux-gnu"),
        ("architecture-alone", "x86_64"),
        ("two-parts", "x86_64-linux"),
        ("two-parts-vendor", "x86_64-anything"),
        ("three-parts", "x86_64-unknown-linux"),
        ("three-parts-linux", "x86_64-linux-gnu"),
        ("three-parts-linux-llvm", "x86_64-linux-llvm"),
        ("three-parts-linux-empty", "x86_64-linux-"),
        ("empty-vendor", "x86_64--linux-gnu"),
        ("empty-parts", "x86_64---"),
        ("linux-vendor", "x86_64-linux-linux-gnu"),
        ("unknown-system", "x86_64-unknown-unknown"),
        ("version", "x86_64-unknown-linux5.15.0-gnu"),
        ("version-alone", "x86_64-unknown-5.15-gnu"),
        ("unknown-environment", "x86_64-unknown-linux-unknown"),
        ("llvm", "x86_64-unknown-linux-llvm"),
    ):
        one(group, name, f"{triple!r}", image(elf()[0], triple=triple), HASWELL, "selected generic 1")
    for name, triple in (
        ("i386", "i386-unknown-linux-gnu"),
        ("aarch64", "aarch64-unknown-linux-gnu"),
        ("amdgcn", "amdgcn-amd-amdhsa"),
        ("x86-64", "x86-64-unknown-linux-gnu"),
        ("upper", "X86_64-unknown-linux-gnu"),
        ("no-architecture", "-unknown-linux-gnu"),
        ("x32", "x86_64-unknown-linux-gnux32"),
        ("musl", "x86_64-unknown-linux-musl"),
        ("android", "x86_64-linux-android"),
        ("windows", "x86_64-pc-windows-msvc"),
        ("darwin", "x86_64-apple-darwin21.6.0"),
        ("three-parts-system", "x86_64-pc-gnu"),
        ("upper-system", "x86_64-unknown-Linux-gnu"),
        ("version-inside", "x86_64-unknown-li5nux-gnu"),
        ("environment-version", "x86_64-unknown-linux-gnu2"),
        ("five-parts", "x86_64-unknown-linux-gnu-elf"),
        ("five-parts-empty", "x86_64-unknown-linux-gnu-"),
        ("space", "x86_64-unknown-linux-gnu "),
        ("dash", "-"),
    ):
        one(group, name, f"{triple!r}", image(elf()[0], triple=triple), HASWELL, "rejected wrong-triple")
    one(group, "no-key", "no triple at all", elf(), HASWELL, "selected generic 1")
    one(
        group,
        "before-machine",
        "asked before the machine",
        image(CUBIN, triple="nvptx64-nvidia-cuda"),
        HASWELL,
        "rejected wrong-triple",
    )
    one(
        group,
        "before-processor",
        "asked before the note",
        image(elf(4)[0], triple="aarch64-unknown-linux-gnu"),
        HASWELL,
        "rejected wrong-triple",
    )
    return group


def _machine() -> Group:
    group = Group("OLP-COMP-005")
    one(group, "host-elf", "a host ELF", elf(), HASWELL, "selected generic 1")
    one(group, "bitcode", "bitcode with a triple", bitcode(), HASWELL, "selected jit 1")
    one(group, "bitcode-no-triple", "bitcode without one", image(BITCODE), HASWELL, "rejected wrong-machine")
    one(
        group,
        "bitcode-empty-triple",
        "bitcode with an empty one",
        image(BITCODE, triple=""),
        HASWELL,
        "rejected wrong-machine",
    )
    for name, data in (
        ("cubin", CUBIN),
        ("hsaco", Elf(machine=224).build()),
        ("ptx", PTX),
        ("spirv", b"\x03\x02\x23\x07"),
    ):
        one(group, name, name, image(data), HASWELL, "rejected wrong-machine")
        one(
            group,
            f"{name}-host-triple",
            f"{name} with a host triple",
            image(data, triple="x86_64"),
            HASWELL,
            "rejected wrong-machine",
        )
    one(
        group,
        "before-features",
        "asked before the label",
        image(CUBIN, arch="diamondrapids"),
        BASELINE,
        "rejected wrong-machine",
    )
    return group


def _processor() -> Group:
    group = Group("OLP-COMP-006")
    for level, cpu in ((1, "x86-64"), (2, "nehalem"), (3, "haswell"), (4, "skylake-avx512")):
        verdict = "selected generic 1" if level == 1 else "selected cpu-level 1"
        one(group, f"level-{level}", f"level {level} on {cpu}", elf(level), {"cpu": cpu}, verdict)
    for level, cpu in ((2, "x86-64"), (3, "ivybridge"), (4, "haswell"), (4, "alderlake"), (4, "knl")):
        one(
            group,
            f"level-{level}-{cpu}",
            f"level {level} on {cpu}",
            elf(level),
            {"cpu": cpu},
            "rejected wrong-processor",
        )
    one(
        group,
        "one-missing",
        "one feature of the level is not enabled",
        elf(3),
        HASWELL | {"without": ["movbe"]},
        "rejected wrong-processor",
        "Boundary",
    )
    one(
        group,
        "lower-missing",
        "one of a lower level",
        elf(4),
        SKX | {"without": ["cx16"]},
        "rejected wrong-processor",
        "Boundary",
    )
    one(
        group,
        "before-label",
        "asked before the label",
        elf(4, arch="skylake-avx512"),
        HASWELL,
        "rejected wrong-processor",
    )
    one(
        group,
        "label-mismatch",
        "the finding stands when rejected too",
        elf(4, arch="haswell"),
        HASWELL,
        "rejected wrong-processor +label-mismatch",
    )
    one(group, "unknown-label", "of an unknown label too", elf(4, arch="zen99"), HASWELL, "rejected wrong-processor")
    return group


def _features() -> Group:
    group = Group("OLP-COMP-007")
    for arch, device in (
        ("haswell", SKX),
        ("skylake", ALDERLAKE),
        ("graniterapids-d", DIAMONDRAPIDS),
        ("x86-64-v3", HASWELL),
    ):
        one(
            group,
            f"{arch}-on-{device['cpu']}",
            "the device has all that is asked for",
            elf(arch=arch),
            device,
            "selected cpu-level 1",
        )
    for arch, device in (
        ("skylake", HASWELL),
        ("x86-64-v4", ALDERLAKE),
        ("diamondrapids", {"cpu": "novalake"}),
        ("alderlake", SKX),
        ("znver4", DIAMONDRAPIDS),
        ("bdver1", HASWELL),
        ("x86-64-v2", BASELINE),
    ):
        one(
            group, f"{arch}-on-{device['cpu']}", "a feature is missing", elf(arch=arch), device, "rejected cpu-features"
        )
    one(
        group,
        "own-label-missing",
        "its own name, and a feature is not enabled",
        elf(arch="haswell"),
        HASWELL | {"without": ["avx2"]},
        "rejected cpu-features",
        "Boundary",
    )
    one(
        group,
        "emeraldrapids",
        "another product with the same features",
        elf(arch="emeraldrapids"),
        {"cpu": "sapphirerapids"},
        "selected cpu-level 1",
    )
    one(group, "bitcode", "bitcode too", bitcode(arch="skylake-avx512"), HASWELL, "rejected cpu-features")
    one(group, "unknown", "an unknown label asks for nothing", elf(arch="zen99"), BASELINE, "selected unknown-cpu 1")
    one(
        group,
        "before-keys",
        "asked before the keys",
        elf(arch="skx", requires_features=","),
        HASWELL,
        "rejected cpu-features",
    )
    one(
        group,
        "anonymous-exact",
        "a device whose name is not known",
        elf(arch="haswell"),
        HASWELL | {"anonymous": True},
        "selected cpu-level 1",
    )
    return group
