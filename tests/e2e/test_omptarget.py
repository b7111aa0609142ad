"""The main job: an unmodified OpenMP program loads its best image, and nothing else about it changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from olpick.shim import core
from olpick.shim.library import library_path

from .conftest import POPCOUNT, Build, Result, Run

SELECT = {"OLPICK_LOG": "select"}


def chosen(result: Result) -> str:
    """The line of the image that was selected."""
    (line,) = [line for line in result.log if ": selected, " in line]
    return line


def explain(program: Path, *options: str) -> dict[str, object]:
    """What `olpick explain` says of a program on this machine."""
    done = subprocess.run(
        [sys.executable, "-m", "olpick.shim", "explain", "--json", *options, str(program)],
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(done.stdout)["results"][0]
    assert isinstance(report, dict)
    return report


def test_the_choice_at_run_time_is_the_one_explained(build: Build, run: Run) -> None:
    program = build("popcount.c", POPCOUNT)
    bare, under = run(program), run(program, olpick=True, env=SELECT)
    assert (under.status, under.out) == (bare.status, bare.out) == (0, "2097145\n")

    report = explain(program)
    assert len(under.log) == 3
    for image, line in zip(report["images"], under.log, strict=True):  # type: ignore[call-overload]
        assert line.startswith(
            f"select: popcount: image {image['index']}: {image['triple']} {image['arch']}: {image['verdict']}"
        )
        assert image["reason"] in line
        assert (", upstream's pick" in line) == (image["index"] == report["first_compatible"])
    assert f"image {report['selected']}: " in chosen(under)


def test_every_cpu_gets_its_own_best(build: Build, run: Run) -> None:
    """OLPICK_CPU lets one machine stand for lesser ones; what it picks is what explain says of that CPU."""
    program = build("popcount.c", POPCOUNT)
    host = core.Device.host()
    for cpu in ("x86-64", "x86-64-v2", "haswell", "skylake-avx512", "znver3"):
        if set(core.Device.named(cpu).features) <= set(host.features):
            under = run(program, olpick=True, env={**SELECT, "OLPICK_CPU": cpu})
            assert f"image {explain(program, '--device', cpu)['selected']}: " in chosen(under)
            assert under.out == "2097145\n"


def test_nothing_is_printed_unasked(build: Build, run: Run) -> None:
    program = build("popcount.c", POPCOUNT)
    assert run(program, olpick=True) == run(program) == Result(0, "2097145\n", "")


def test_an_image_for_a_newer_cpu_no_longer_kills(build: Build, run: Run) -> None:
    program = build("steps.c", ("alderlake", "diamondrapids"))
    under = run(program, olpick=True, env=SELECT)
    expected = run(build("steps.c")).out
    assert (under.status, under.out) == (0, expected)
    if "egpr" not in core.Device.host().features:
        assert run(program).status == -signal.SIGILL
        assert ": rejected, cpu-features, lacks " in under.log[0]
        # Policy first is upstream, its faults too.
        assert run(program, olpick=True, env={"OLPICK_POLICY": "first"}).status == -signal.SIGILL
        assert run(program, olpick=True, env={"OLPICK_DISABLE": "1"}).status == -signal.SIGILL


def test_an_image_without_the_kernel_is_not_promoted(build: Build, run: Run, tmp_path: Path) -> None:
    """OLP-REG-005: the better image is only better if it defines what the program will ask for."""
    program = build("popcount.c", ("x86-64", "haswell"))
    data = bytearray(program.read_bytes())
    at = data.index(b"__omp_offloading_", data.rindex(b"\x10\xff\x10\xad"))
    data[at : at + 2] = b"##"
    damaged = tmp_path / "popcount"
    damaged.write_bytes(data)
    damaged.chmod(0o755)
    under = run(damaged, olpick=True, env=SELECT | {"OMP_TARGET_OFFLOAD": "mandatory"})
    assert (under.status, under.out) == (0, "2097145\n")


NEEDS_V4 = ("-Xoffload-linker", "-z", "-Xoffload-linker", "x86-64-v4")


def test_an_image_that_provably_cannot_run_is_left_to_the_host(build: Build, run: Run) -> None:
    """OLP-REG-006, with a CPU that stands for one without AVX-512."""
    program = build("devices.c", flags=NEEDS_V4)
    lesser = SELECT | {"OLPICK_CPU": "haswell"}
    under = run(program, olpick=True, env=lesser)
    assert (under.status, under.out) == (0, "devices 0, on host 1\n")
    assert under.log[0].endswith(
        "rejected, wrong-processor, lacks avx512f avx512bw avx512cd avx512dq and 1 more, left out, upstream's pick"
    )

    kept = run(program, olpick=True, env=lesser | {"OMP_TARGET_OFFLOAD": "mandatory"})
    assert "left out" not in kept.err
    forced = run(program, olpick=True, env=lesser | {"OMP_TARGET_OFFLOAD": "mandatory", "OLPICK_HOST_FALLBACK": "1"})
    assert forced.status != 0
    assert "left out" in forced.err


BROKEN = {
    "OLPICK_POLICY": ["BEST", "best,first", "1", "x" * 5000, "\udc80\udcff", "first "],
    "OLPICK_LOG": ["selects", "warn,,select", "warn select", "%s%n"],
    "OLPICK_CPU": ["z80", "sm_90", "HASWELL", "haswell,", "i386"],
    "OLPICK_DISABLE": ["maybe", "2", "-1"],
    "OLPICK_HOST_FALLBACK": ["perhaps"],
    "OLPICK_LOG_FILE": ["/" + "x" * 5000],
    "OLPICK_POLICI": ["first"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BROKEN.items() for value in values])
def test_a_broken_control_is_one_warning(build: Build, run: Run, name: str, value: str) -> None:
    program = build("popcount.c", POPCOUNT)
    under = run(program, olpick=True, env={name: value})
    assert (under.status, under.out) == (0, "2097145\n")
    assert len(under.log) == 1, under.err
    assert under.log[0].startswith("warning: ")
    assert name in under.log[0]


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "OLPICK_POLICI"])
def test_an_empty_control_is_none(build: Build, run: Run, name: str) -> None:
    assert run(build("popcount.c", POPCOUNT), olpick=True, env={name: ""}) == Result(0, "2097145\n", "")


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.dictionaries(st.sampled_from([name for name in BROKEN if name != "OLPICK_LOG_FILE"]), texts))
def test_no_value_whatever_changes_the_result(build: Build, run: Run, values: dict[str, str]) -> None:
    under = run(build("popcount.c", POPCOUNT), olpick=True, env=values)
    assert (under.status, under.out) == (0, "2097145\n")


@pytest.fixture(scope="session")
def registers(clang: str, runtime_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The hand-driven program and a host image for it."""
    folder = tmp_path_factory.mktemp("registers")
    source = Path(__file__).parent / "programs" / "registers.c"
    image = folder / "image.so"
    (folder / "image.c").write_text("int kernel(int *p) { return *p = 1; }\n")
    subprocess.run([clang, "-shared", "-fPIC", str(folder / "image.c"), "-o", str(image)], check=True)
    program = folder / "registers"
    link = [f"-L{runtime_folder}", f"-Wl,-rpath,{runtime_folder}", "-lomptarget", "-lomp"]
    subprocess.run([clang, str(source), "-o", str(program), *link], check=True)
    return program, image


@pytest.mark.parametrize(
    "how",
    [
        "twice",
        "unknown",
        "unregister-first",
        "unregister-twice",
        "no-images",
        "null-images",
        "empty-image",
        "reversed-image",
        "again-and-again",
    ],
)
def test_odd_registrations_do_no_harm(registers: tuple[Path, Path], run: Run, how: str) -> None:
    program, image = registers
    under = run(program, how, str(image), olpick=True)
    assert (under.status, under.out) == (0, "done\n"), under.err
    if how in ("unknown", "unregister-first", "unregister-twice"):
        assert under.log == ["warning: a program unregisters a descriptor that it never registered; not handed on"]


def test_plugins_that_come_and_go(build: Build, run: Run, clang: str, tmp_path: Path) -> None:
    plugins = [
        build("plugin.c", ("x86-64", "haswell"), flags=("-shared", "-fPIC", f"-DANSWER={answer}")) for answer in (1, 2)
    ]
    host = tmp_path / "host"
    subprocess.run([clang, str(Path(__file__).parent / "programs" / "host.c"), "-o", str(host), "-ldl"], check=True)
    under = run(host, *map(str, plugins), olpick=True, env={"OMP_TARGET_OFFLOAD": "mandatory"})
    # Nobody loads libomptarget before the plugin does, RTLD_LOCAL: RTLD_NEXT finds nothing there.
    assert (under.status, under.out, under.err) == (0, "right\n", "")


def test_the_log_goes_to_a_file_of_its_own(build: Build, run: Run, tmp_path: Path) -> None:
    under = run(build("popcount.c", POPCOUNT), olpick=True, env=SELECT | {"OLPICK_LOG_FILE": str(tmp_path / "log")})
    assert under.err == ""
    (log,) = tmp_path.iterdir()
    lines = log.read_text().splitlines()
    assert log.name.removeprefix("log.").isdecimal()
    assert len(lines) == 3
    assert all(line.startswith(f"olpick[{log.name.removeprefix('log.')}]: select: ") for line in lines)


def test_a_log_that_cannot_be_written_is_no_matter(build: Build, run: Run) -> None:
    program = build("popcount.c", POPCOUNT)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert run(program, olpick=True, env=SELECT, stderr=writing).status == 0
    finally:
        os.close(writing)
    unwritable = run(program, olpick=True, env=SELECT | {"OLPICK_LOG_FILE": "/no/such/folder/log"})
    assert unwritable.status == 0
    assert len(unwritable.log) == 3
    closed = subprocess.run(
        ["sh", "-c", f'exec 2>&-; exec "{program}"'],
        env={**os.environ, **SELECT, "LD_PRELOAD": str(library_path())},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (closed.returncode, closed.stdout) == (0, "2097145\n")


def test_who_watches_decisions_hears_of_wrong_settings(build: Build, run: Run) -> None:
    under = run(build("popcount.c", POPCOUNT), olpick=True, env=SELECT | {"OLPICK_CPU": "haswel"})
    assert len(under.log) == 4
    assert under.log[0].startswith("warning: OLPICK_CPU: no such value: 'haswel'")


def test_a_program_with_names_like_ours_keeps_them_to_itself(build: Build, run: Run) -> None:
    program = build("names.c", ("x86-64", "haswell"), flags=("-rdynamic",))
    under = run(program, olpick=True, env=SELECT)
    assert (under.status, under.out) == (0, "7\n")
    assert len(under.log) == 2


def test_a_program_without_offload_is_left_alone(run: Run) -> None:
    assert run(Path("/bin/echo"), "hello", olpick=True, env={"OLPICK_POLICY": "nonsense"}) == Result(0, "hello\n", "")


def test_a_getenv_of_the_programs_own_is_not_called_early(run: Run, clang: str, tmp_path: Path) -> None:
    program = tmp_path / "getenv"
    subprocess.run([clang, str(Path(__file__).parent / "programs" / "getenv.c"), "-o", str(program)], check=True)
    assert run(program, olpick=True) == Result(0, "fine\n", "")
