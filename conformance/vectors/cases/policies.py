"""Section 5."""

from typing import Final

from olpick.conformance.builders import Elf
from olpick.conformance.vectors.cases.writing import BITCODE, Group, bitcode, elf, image

__all__ = ["groups"]

HASWELL: Final = {"cpu": "haswell"}
BASELINE: Final = {"cpu": "x86-64", "anonymous": True}


def groups() -> list[Group]:
    """Both groups of the section."""
    return [_best(), _first()]


def _best() -> Group:
    group = Group("OLP-POL-001")
    group.chooses(
        "not-the-first",
        "the closest, not the first",
        [elf(), elf(arch="haswell")],
        HASWELL,
        "eligible generic 2 closeness",
        "selected exact 1",
        first=0,
    )
    group.chooses("one", "a single one", [elf()], HASWELL, "selected generic 1", first=0)
    group.chooses(
        "none",
        "upstream takes one that cannot run",
        [elf(4)],
        HASWELL,
        "rejected wrong-processor",
        first=0,
        flags="Negative",
    )
    group.chooses(
        "executable",
        "upstream takes an executable",
        [image(Elf(type=2).build()), elf()],
        HASWELL,
        "rejected malformed-image",
        "selected generic 1",
        first=0,
    )
    return group


def _first() -> Group:
    group = Group("OLP-POL-002")
    taken, later, no = "selected accepted 1", "eligible accepted 2 order", "rejected runtime-refuses"
    group.chooses(
        "first",
        "the first, not the closest",
        [elf(), elf(arch="haswell")],
        HASWELL,
        taken,
        later,
        policy="first",
        first=0,
    )
    group.chooses(
        "third",
        "those before it are refused",
        [image(b""), image(Elf(machine=190).build()), elf(), elf()],
        HASWELL,
        no,
        no,
        taken,
        later,
        policy="first",
        first=2,
    )
    group.chooses(
        "nothing-else",
        "triple, label, note and keys are not looked at",
        [elf(4, triple="aarch64", arch="diamondrapids", requires_features=",", variant_priority="x")],
        BASELINE,
        f"{taken} @4",
        policy="first",
        first=0,
    )
    group.chooses(
        "bitcode-first", "bitcode before a host ELF", [bitcode(), elf()], HASWELL, taken, later, policy="first", first=0
    )
    for name, comment, made in (
        ("executable", "type 2", Elf(type=2).build()),
        ("bare-header", "64 bytes", Elf().but(size=64).build()),
        ("version-0", "EI_VERSION is not looked at", Elf(ei_version=0).build()),
        ("no-segments", "nor are program headers", Elf(phnum=0).build()),
        ("big-endian", "big-endian, read accordingly", Elf(ei_data=2).build()),
        ("cut-big-endian", "64 bytes of it", Elf(ei_data=2).but(size=64).build()),
    ):
        group.chooses(name, comment, [image(made)], HASWELL, taken, policy="first", first=0, flags="Boundary")
    for name, comment, made in (
        ("63-bytes", "63 bytes", Elf().but(size=63).build()),
        ("32-bit", "EI_CLASS 1", Elf(ei_class=1).build()),
        ("relocatable", "type 1", Elf(type=1).build()),
        ("core", "type 4", Elf(type=4).build()),
        ("other-machine", "machine 190", Elf(machine=190).build()),
        ("swapped-machine", "machine 62 in the wrong byte order", Elf(machine=62 << 8).build()),
        ("swapped-big-endian", "so too", Elf(ei_data=2, machine=62 << 8).build()),
        ("encoding-0", "EI_DATA 0", Elf(ei_data=0).build()),
        ("encoding-3", "EI_DATA 3", Elf(ei_data=3).build()),
        ("not-elf", "no ELF", b"\x7fELG" + Elf().build()[4:]),
        ("ptx", "PTX", b".version 8.0\n"),
        ("empty", "no bytes", b""),
    ):
        group.chooses(name, comment, [image(made)], HASWELL, no, policy="first", first=None, flags="Negative")
    for name, triple in (
        ("bitcode", "x86_64-pc-windows-msvc"),
        ("bitcode-amd64", "amd64"),
        ("bitcode-musl", "x86_64-unknown-linux-musl"),
    ):
        group.chooses(
            name, f"{triple}: the architecture alone counts", [bitcode(triple)], HASWELL, taken, policy="first", first=0
        )
    for name, triple in (
        ("bitcode-aarch64", "aarch64-unknown-linux-gnu"),
        ("bitcode-empty-triple", ""),
        ("bitcode-x86", "x86-64"),
    ):
        group.chooses(name, f"{triple!r}", [bitcode(triple)], HASWELL, no, policy="first", first=None, flags="Negative")
    group.chooses(
        "bitcode-no-triple", "no triple", [image(BITCODE)], HASWELL, no, policy="first", first=None, flags="Negative"
    )
    group.chooses(
        "findings",
        "the keys of section 4 are not judged",
        [elf(variant_priority="x"), elf()],
        HASWELL,
        taken,
        later,
        policy="first",
    )
    group.chooses(
        "fact-findings",
        "facts are facts under every policy",
        [elf(3, arch="x86-64-v2")],
        HASWELL,
        f"{taken} +label-mismatch",
        policy="first",
        open_to_reading=True,
    )
    return group
