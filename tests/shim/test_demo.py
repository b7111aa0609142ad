"""`olpick demo`: the shipped container, what is chosen from it, and the two programs on the real runtime."""

import json
import os
import signal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from olpick.elf import from_bytes, open_file
from olpick.shim import demo
from olpick.shim.cli import main
from olpick.shim.core import Device, words
from olpick.shim.demo import make, toolchain, trial
from olpick.shim.demo.toolchain import Toolchain, ToolchainError
from olpick.shim.demo.trial import Side, Trial

SCHEMA: dict[str, Any] = json.loads(files("olpick.shim").joinpath("schemas/demo.schema.json").read_text())


def parsed(out: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(out)
    Draft202012Validator(SCHEMA).validate(document)
    return document


def test_schema_is_one_with_the_words_of_the_library() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["decision"]["properties"]["reason"]["enum"] == [*words("reason"), None]


# ---- The container


def test_shipped_container_is_what_the_script_makes(tmp_path: Path) -> None:
    assert make.SHIPPED.read_bytes() == make.container()
    assert make.main([str(tmp_path / "made")]) == 0
    assert (tmp_path / "made").read_bytes() == make.container()


def test_shipped_container_has_good_images_in_upstreams_order() -> None:
    contents = from_bytes(make.SHIPPED.read_bytes())
    assert (contents.error, contents.findings) == (None, ())
    labels = [image.arch for image in contents.images]
    assert labels == sorted(make.LABELS, reverse=True)
    assert make.SHIPPED.stat().st_size < 4096
    for report in demo.decisions(Device.named("diamondrapids")):
        assert {verdict.form for verdict in report.selection.verdicts} == {"host-elf"}
        assert "malformed-image" not in {verdict.reason for verdict in report.selection.verdicts}


def test_decisions_differ_from_upstreams_where_they_should() -> None:
    taken = {
        report.spec: (report.contents.images[report.selection.first_compatible or 0].arch, report.selection.selected)
        for report in demo.decisions(Device.named("x86-64"))
    }
    labels = sorted(make.LABELS, reverse=True)
    assert {spec: upstream for spec, (upstream, _) in taken.items()} == dict.fromkeys(["host", *demo.DEVICES], "znver4")
    chosen = {spec: labels[selected] for spec, (_, selected) in taken.items() if selected is not None}
    assert chosen == {
        "host": "x86-64",
        "x86-64": "x86-64",
        "x86-64-v2": "x86-64",
        "haswell": "haswell",
        "znver4": "znver4",
        "skylake-avx512": "skylake-avx512",
        "diamondrapids": "diamondrapids",
    }


# ---- The judgement of a trial


@pytest.mark.parametrize(
    ("bare", "olpick", "same", "good"),
    [
        (Side(outputs={"1\n"}), Side(outputs={"1\n"}), True, True),
        (Side(status=-signal.SIGILL), Side(outputs={"1\n"}), True, True),
        (Side(outputs={"2\n"}), Side(outputs={"1\n"}), False, False),
        (Side(outputs={"1\n"}), Side(outputs={"2\n"}), False, False),
        (Side(outputs={"1\n"}), Side(outputs={"1\n", "2\n"}), False, False),
        (Side(outputs={"1\n"}), Side(outputs={"1\n"}, status=1), True, False),
        (Side(outputs={"1\n"}), Side(status=-signal.SIGSEGV), False, False),
    ],
)
def test_trial_is_good_when_olpick_runs_print_what_the_host_does(
    bare: Side, olpick: Side, same: bool, good: bool
) -> None:
    made = Trial("t", [], [], "1\n", bare, olpick)
    assert (made.same_output, made.good) == (same, good)


def test_ratio_is_of_medians_and_needs_both() -> None:
    made = Trial("t", [], [], "", Side(times=[8.0, 1.0, 9.0]), Side(times=[2.0]))
    assert made.ratio == 4.0
    assert Trial("t", [], [], "", Side(times=[8.0]), Side()).ratio is None


@pytest.mark.parametrize(
    ("status", "words"),
    [(0, "exit 0"), (3, "exit 3"), (-signal.SIGILL, "killed by SIGILL"), (-99, "killed by signal 99")],
)
def test_ending_in_words(status: int, words: str) -> None:
    assert Side(status=status).ending == words


# ---- Without a compiler


@pytest.mark.parametrize("json_wanted", [False, True])
def test_status_4_without_a_compiler_and_still_the_decisions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, json_wanted: bool
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["demo", *(["--json"] if json_wanted else [])]) == 4
    out, err = capsys.readouterr()
    assert err.startswith("olpick: error: nothing to build the programs with: no clang-22 or newer on the path\n")
    assert f"olpick: hint: on Debian: apt-get install {toolchain.PACKAGES}\n" in err
    if json_wanted:
        document = parsed(out)
        assert (document["compiler"], document["programs"]) == (None, [])
        assert [row["device"] for row in document["decisions"]] == ["host", *demo.DEVICES]
    else:
        assert "compiler" not in out
        assert [line.split()[0] for line in out.splitlines()[-len(demo.DEVICES) :]] == list(demo.DEVICES)


def fake(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_compilers_that_will_not_do_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fake(tmp_path, "clang-22", 'case $1 in --version) echo "clang version 22.1.8" ;; *) echo libomptarget.so ;; esac')
    fake(tmp_path, "clang", 'echo "clang version 14.0.6"')
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["demo"]) == 4
    err = capsys.readouterr().err
    assert "clang-22 has no libomptarget.so beside it; clang is older than release 22\n" in err


def test_compiler_that_fails_is_quoted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    says = f"case $1 in --version) echo 'clang version 23.0.1' ;; -print*) echo {tmp_path}/libomptarget.so ;;"
    fake(tmp_path, "clang-23", f"{says} *) echo 'note: x' >&2; echo 'clang: error: no linker' >&2; exit 1 ;; esac")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["demo"]) == 4
    assert "olpick: error: clang-23 fails: clang: error: no linker\n" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--rounds", "0"], ["--rounds", "many"], ["--rounds", "-1"], ["file"]])
def test_status_2_for_wrong_arguments(arguments: list[str]) -> None:
    assert main(["demo", *arguments]) == 2


def test_status_3_for_a_folder_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["demo", "--keep", str(tmp_path / "file")]) == 3
    assert capsys.readouterr().out == ""


# ---- The real thing


@pytest.fixture(scope="session")
def compiler(clang: str) -> Toolchain:  # noqa: ARG001 - skips where there is none
    try:
        return toolchain.find()
    except ToolchainError as lacking:
        if os.environ.get("OLPICK_TEST_REQUIRE_RUNTIME") == "1":
            pytest.fail(lacking.message)
        if os.environ.get("OLPICK_TEST_REQUIRE_RUNTIME") == "1":
            pytest.fail(lacking.message)
        pytest.skip(lacking.message)


def test_programs_run_under_olpick_and_print_what_they_should(
    compiler: Toolchain, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLPICK_DISABLE", "1")  # of the user's shell, and not for the demo
    assert main(["demo", "--rounds", "2", "--json", "--keep", str(tmp_path / "kept" / "here")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = parsed(out)
    assert (document["schema"], document["rounds"]) == ("olpick/demo/1", 2)
    assert document["compiler"]["name"] == compiler.clang
    assert document["machine"]["cpu"] == Device.host().name
    pop, steps = document["programs"]
    assert pop["images"] == ["x86-64", "skylake-avx512", "haswell"]
    assert steps["images"] == ["diamondrapids", "alderlake"]
    for program in (pop, steps):
        assert program["same_output"] is True
        assert (program["olpick"]["status"], program["olpick"]["signal"]) == (0, None)
        assert program["command"][0] == compiler.clang
    assert (pop["bare"]["image"], pop["bare"]["status"]) == (0, 0)
    assert len(pop["bare"]["rounds_us"]) == len(pop["olpick"]["rounds_us"]) == 2
    assert pop["ratio"] == pop["bare"]["kernel_us"] / pop["olpick"]["kernel_us"]
    assert (steps["bare"]["image"], steps["ratio"]) == (0, None)
    host = set(Device.host().features)
    if "egpr" not in host:
        assert (steps["bare"]["signal"], steps["bare"]["status"]) == (signal.SIGILL, None)
        assert steps["olpick"]["image"] == 1
    if "avx512vl" in host:
        assert pop["olpick"]["image"] == 1
    kept = {path.name for path in (tmp_path / "kept" / "here").iterdir()}
    assert kept == {"pop", "pop.c", "steps", "steps.c"}


@pytest.mark.usefixtures("compiler")
def test_text_has_one_row_a_program_and_one_a_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--rounds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ")[0] == "program"
    (pop,) = (line for line in lines if line.startswith("pop  "))
    (steps,) = (line for line in lines if line.startswith("steps  "))
    assert " us " in pop
    assert "yes" in pop.split()
    assert ": exit 0  " in steps
    assert sum(line.startswith("built by: ") and "--offload-arch=" in line for line in lines) == 2
    assert [line.split()[0] for line in lines[-len(demo.DEVICES) :]] == list(demo.DEVICES)


def test_image_is_told_by_what_the_runtime_loads_and_nothing_is_left(compiler: Toolchain, tmp_path: Path) -> None:
    command = compiler.command("pop.c", ["haswell", "x86-64"], "pop")
    (tmp_path / "pop.c").write_bytes((demo.HERE / "pop.c").read_bytes())
    compiler.build(command, tmp_path)
    images = open_file(tmp_path / "pop").images
    made = Trial("pop", command, images)
    trial.run(made, tmp_path / "pop", 1, {}, lambda _: None)
    assert (made.bare.image, made.olpick.image) == (0, 0)
    assert made.good
    assert trial._take_copies(images) is None


def test_status_1_when_a_run_under_olpick_fails(
    compiler: Toolchain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "run_env", lambda **_: {})
    monkeypatch.setattr(demo, "PROGRAMS", {"steps": ("diamondrapids",)})
    if "egpr" in Device.host().features:
        pytest.skip("this machine runs it")
    assert compiler.clang
    assert main(["demo", "--rounds", "1"]) == 1
    out = capsys.readouterr().out
    assert "diamondrapids: killed by SIGILL  diamondrapids: killed by SIGILL  no" in out
