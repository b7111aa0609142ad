"""What is installed: where the packages come from, what stands in them, and the native library as a loader sees it."""

import importlib
import importlib.util
import pkgutil
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import olpick
import pytest
from elftools.elf.elffile import ELFFile

HERE = Path(__file__).parent
ROOMS = ("elf", "shim", "conformance")

# Functions that run when the library is loaded: the compiler's own frame_dummy, and the one that reads the environment.
CONSTRUCTORS = 2


@pytest.fixture(scope="module")
def installed() -> Distribution:
    return distribution("olpick")


@pytest.fixture(scope="module")
def files(installed: Distribution) -> list[str]:
    """Every installed file, by its name in the wheel."""
    return [str(file) for file in installed.files or ()]


@pytest.fixture(scope="module")
def library(installed: Distribution) -> Path:
    (path,) = (Path(str(file.locate())) for file in installed.files or () if file.name == "libolpick.so")
    return path


@pytest.fixture(scope="module")
def elf(library: Path) -> Iterator[Any]:
    with library.open("rb") as stream:
        yield ELFFile(stream)


def dynamic(elf: Any, tag: str) -> list[Any]:
    return [entry for entry in elf.get_section_by_name(".dynamic").iter_tags() if entry.entry.d_tag == tag]


def exports(elf: Any) -> dict[str, int | str]:
    """Each exported symbol with the number of its version, or VER_NDX_GLOBAL for none."""
    versions = elf.get_section_by_name(".gnu.version")
    return {
        symbol.name: versions.get_symbol(index)["ndx"] if versions else "VER_NDX_GLOBAL"
        for index, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols())
        if symbol.name and symbol["st_shndx"] not in ("SHN_UNDEF", "SHN_ABS")  # absolute: the name of a version itself
    }


def expected_exports() -> list[str]:
    lines = (HERE / "native" / "exports.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("room", ROOMS)
def test_room_is_imported_from_the_installed_wheel(room: str) -> None:
    module = importlib.import_module(f"olpick.{room}")
    assert module.__file__ is not None
    assert Path(module.__file__).resolve().parents[2] == Path(sysconfig.get_path("platlib")).resolve()


@pytest.mark.parametrize("room", ROOMS)
def test_room_is_not_importable_under_its_bare_name(room: str) -> None:
    assert importlib.util.find_spec(room) is None


def test_olpick_is_a_namespace_of_exactly_the_rooms() -> None:
    assert olpick.__file__ is None
    assert {module.name for module in pkgutil.iter_modules(olpick.__path__)} == set(ROOMS)


def test_wheel_installs_nothing_but_the_rooms_and_the_command(files: list[str]) -> None:
    foreign = [
        name
        for name in files
        if not name.startswith((*(f"olpick/{room}/" for room in ROOMS), "olpick-")) and not name.endswith("/bin/olpick")
    ]
    assert foreign == []


@pytest.mark.parametrize("room", ROOMS)
def test_room_says_that_it_is_typed(room: str, files: list[str]) -> None:
    assert f"olpick/{room}/py.typed" in files


def test_c_files_are_the_public_headers_and_the_programs_of_the_demo(files: list[str]) -> None:
    c_files = [name for name in files if name.endswith((".c", ".h", ".in", ".map"))]
    assert sorted(name for name in c_files if not name.startswith("olpick/shim/demo/")) == [
        "olpick/shim/include/olpick.h",
        "olpick/shim/include/olpick_codes.h",
    ]


def test_command_is_installed_and_says_its_version(installed: Distribution) -> None:
    command = shutil.which("olpick", path=sysconfig.get_path("scripts"))
    assert command is not None
    done = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    assert installed.version in done.stdout
    assert done.stderr == ""


def test_library_exports_exactly_the_list(elf: Any) -> None:
    assert sorted(exports(elf)) == sorted(expected_exports())


def test_public_header_declares_each_exported_function(library: Path) -> None:
    header = (library.parent / "include" / "olpick.h").read_text()
    declared = set(re.findall(r"^(?!typedef)[a-z].*?\b(olp_\w+)\(", header, re.MULTILINE))
    assert declared == {name for name in expected_exports() if name.startswith("olp_")}


def test_exports_have_no_version_or_that_of_the_runtime(elf: Any) -> None:
    """The loader skips a preloaded symbol of another version without a word."""
    section = elf.get_section_by_name(".gnu.version_d")
    known = {version["vd_ndx"]: next(names).name for version, names in section.iter_versions()} if section else {}
    versions = {number: known.get(number, number) for number in exports(elf).values()}
    assert set(versions.values()) <= {"VER_NDX_GLOBAL", "VERS1.0"}


def test_library_needs_only_libc(elf: Any) -> None:
    needed = {entry.needed for entry in dynamic(elf, "DT_NEEDED")}
    assert "libc.so.6" in needed
    assert needed <= {"libc.so.6", "ld-linux-x86-64.so.2"}


def test_library_asks_for_no_executable_stack(elf: Any) -> None:
    (stack,) = (segment for segment in elf.iter_segments() if segment["p_type"] == "PT_GNU_STACK")
    assert not stack["p_flags"] & 1


def test_no_memory_of_the_library_is_writable_and_executable(elf: Any) -> None:
    assert [segment["p_vaddr"] for segment in elf.iter_segments() if segment["p_flags"] & 3 == 3] == []


def test_library_has_no_text_relocations(elf: Any) -> None:
    assert dynamic(elf, "DT_TEXTREL") == []
    assert [flags["d_val"] for flags in dynamic(elf, "DT_FLAGS") if flags["d_val"] & 4] == []


def test_library_runs_only_the_documented_constructors(elf: Any) -> None:
    word = elf.elfclass // 8
    assert sum(size["d_val"] for size in dynamic(elf, "DT_INIT_ARRAYSZ")) // word <= CONSTRUCTORS
    assert dynamic(elf, "DT_PREINIT_ARRAY") == []
