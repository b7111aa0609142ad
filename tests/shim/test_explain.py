"""`olpick explain`: what it says, in text and in JSON, and every exit status."""

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from olpick.elf import Packed, from_bytes, pack, table
from olpick.shim import explain
from olpick.shim.cli import main
from olpick.shim.core import words
from olpick.shim.demo.make import shared_object
from olpick.shim.text import shown

TRIPLE = "x86_64-pc-linux-gnu"
SCHEMA: dict[str, Any] = json.loads(files("olpick.shim").joinpath("schemas/explain.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)

Write = Callable[..., str]
Output = tuple[int, str, str]
Explain = Callable[..., Output]


def packed(*labels: str | None, triple: str = TRIPLE) -> bytes:
    return pack(
        Packed(shared_object(), {"triple": triple} | ({} if label is None else {"arch": label}), kind=1, producer=1)
        for label in labels
    )


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(data: bytes, name: str = "container") -> str:
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return write


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Explain:
    def run(*arguments: str) -> Output:
        status = main(["explain", *arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def results(run: Explain) -> Callable[..., list[dict[str, Any]]]:
    def results(*arguments: str, status: int = 0) -> list[dict[str, Any]]:
        got, out, _ = run("--json", *arguments)
        assert got == status
        document = json.loads(out)
        VALIDATOR.validate(document)
        assert out == json.dumps(document, indent=2, sort_keys=True) + "\n"
        found: list[dict[str, Any]] = document["results"]
        return found

    return results


def cells(out: str, label: str) -> list[str]:
    """The words of the row of a label."""
    (line,) = (line for line in out.splitlines() if f" {label} " in line and TRIPLE in line)
    return line.split()


# ---- The schema


def objects(schema: Any) -> list[dict[str, Any]]:
    inside = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    here = [schema] if isinstance(schema, dict) and schema.get("type") == "object" else []
    return [*here, *(found for part in inside for found in objects(part))]


def test_schema_is_one_and_takes_nothing_that_it_does_not_name() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert len(objects(SCHEMA)) == 6
    for schema in objects(SCHEMA):
        assert schema["additionalProperties"] is False
        assert sorted(schema["properties"]) == schema["required"]


def test_schema_has_the_words_of_the_library() -> None:
    image, finding, result = (SCHEMA["$defs"][name]["properties"] for name in ("image", "finding", "result"))
    for kind in ("form", "verdict", "reason"):
        assert image[kind]["enum"] == list(words(kind))
    assert image["lost_at"]["enum"] == [*words("step"), None]
    assert image["findings"]["items"]["enum"] == list(words("finding"))
    assert finding["code"]["enum"] == [*words("finding"), *words("error")]
    assert result["policy"]["enum"] == list(words("policy"))


# ---- What is said


def test_text_ranks_and_gives_reasons(run: Explain, write: Write) -> None:
    name = write(packed("x86-64", "haswell", "diamondrapids"))
    status, out, err = run(name, "--device", "haswell")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"{name}: 3 images, device haswell, policy best"
    assert lines[1].split() == ["rank", "image", "producer", "triple", "arch", "verdict", "reason"]
    assert [line.split()[0] for line in lines[2:5]] == ["*", "2", "-"]
    assert cells(out, "haswell") == ["*", "1", "[1]", "openmp", TRIPLE, "haswell", "selected", "exact"]
    assert cells(out, "x86-64")[-5:] == ["eligible", "generic,", "lost", "at:", "closeness"]
    assert cells(out, "diamondrapids")[6:9] == ["cpu-features:", "lacks", "avx512f"]
    assert " more" in out
    assert "upstream takes [0] x86-64: first in the container that its check accepts\n" in out
    assert "olpick takes   [1] haswell: exact, its label names this CPU\n" in out
    assert "hint" not in out


def test_pick_of_upstream_that_does_not_fit_is_said(run: Explain, write: Write) -> None:
    _, out, _ = run(write(packed("skylake-avx512", "x86-64")), "--device", "x86-64-v3")
    assert "upstream takes [0] skylake-avx512: first in the container that its check accepts, but cpu-features: " in out


def test_devices_are_all_shown(run: Explain, write: Write) -> None:
    name = write(packed("x86-64", "haswell"))
    status, out, _ = run(name, "--device", "host", "--device", "x86-64")
    assert status == 0
    heads = [line for line in out.splitlines() if "policy" in line]
    assert heads[0].startswith(f"{name}: 2 images, device host (")
    assert heads[1] == f"{name}: 2 images, device x86-64, policy best"


def test_policy_first_takes_what_upstream_does(results: Any, write: Write) -> None:
    (result,) = results(write(packed("znver4", "x86-64")), "--device", "x86-64", "--policy", "first")
    assert result["selected"] == result["first_compatible"] == result["first_tried"] == 0
    assert [image["reason"] for image in result["images"]] == ["accepted", "accepted"]


def test_json_says_what_the_text_does(results: Any, write: Write) -> None:
    name = write(packed(None, "haswell", "diamondrapids"))
    (result,) = results(name, "--device", "haswell")
    assert (result["input"], result["policy"]) == (name, "best")
    assert (result["device"]["spec"], result["device"]["name"]) == ("haswell", "haswell")
    assert (result["selected"], result["first_compatible"], result["first_tried"]) == (1, 0, 1)
    unlabelled, best, lacking = result["images"]
    assert (unlabelled["arch"], unlabelled["rank"], unlabelled["lost_at"]) == (None, 2, "closeness")
    assert (best["verdict"], best["reason"], best["rank"], best["lost_at"]) == ("selected", "exact", 1, None)
    assert (best["form"], best["kind"], best["producer"], best["jit"]) == ("host-elf", "elf", "openmp", False)
    assert (lacking["rank"], lacking["lost_at"]) == (None, None)
    assert not set(lacking["missing"]) & set(result["device"]["features"])


def test_bitcode_is_marked_as_jit(results: Any, write: Write) -> None:
    name = write(pack([Packed(b"BC\xc0\xde", {"triple": TRIPLE}, kind=2)]))
    (result,) = results(name, "--device", "x86-64")
    assert [(image["jit"], image["reason"]) for image in result["images"]] == [(True, "jit")]


def test_findings_come_with_code_severity_and_place(results: Any, run: Explain, write: Write) -> None:
    images = [
        Packed(shared_object(), {"triple": TRIPLE, "variant_priority": "high"}, kind=99, producer=1),
        Packed(shared_object(), {"triple": TRIPLE}, kind=1, producer=1),
    ]
    data = pack(images)
    second = from_bytes(data).images[1].binary
    name = write(data + b"junk")
    (result,) = results(name, "--device", "x86-64")
    found = {(finding["code"], finding["severity"], finding["offset"]) for finding in result["findings"]}
    assert found == {
        ("unknown-kind", "note", 0),
        ("malformed-key", "warning", 0),
        ("priority-unstated", "note", second),
        ("junk-after-binary", "warning", len(data)),
    }
    assert result["images"][0]["findings"] == ["malformed-key", "unknown-kind"]
    assert result["images"][1]["findings"] == ["priority-unstated"]
    _, out, _ = run(name, "--device", "x86-64")
    assert f"warning: junk-after-binary at offset {len(data)}: " in out
    assert f"note: priority-unstated at offset {second}: image [1]: {table('finding')['priority-unstated'].text}" in out


def test_images_of_several_producers_are_noted(run: Explain, write: Write) -> None:
    one, two = (Packed(shared_object(), {"triple": TRIPLE}, kind=1, producer=bit) for bit in (1, 4))
    _, out, _ = run(write(pack([one, two])))
    assert "note: images of hip, openmp; " in out


def test_strings_of_a_file_cannot_speak_to_the_terminal(run: Explain, write: Write) -> None:
    status, out, _ = run(write(packed("\x1b[31mred\n", "v" * 5000, "\udcff")), "--device", "x86-64")
    assert status == 0
    assert "\\x1b[31mred\\n" in out
    assert "\\udcff" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) < 400


@given(st.text(), st.integers(3, 70))
def test_shown_text_prints_and_has_an_end(text: str, most: int) -> None:
    made = shown(text, most)
    assert made.isprintable()
    assert len(made) <= 10 * most


# ---- Exit status


def test_status_0_with_findings_beside_a_malformed_part(results: Any, run: Explain, write: Write) -> None:
    good = packed("x86-64")
    name = write(good + good[:20])
    (result,) = results(name)
    assert (result["selected"], result["findings"][0]["severity"], result["findings"][0]["code"]) == (
        0,
        "error",
        "truncated",
    )
    status, out, err = run(name)
    assert (status, err) == (0, "")
    assert f"error: truncated at offset {len(good)}: " in out


@pytest.mark.parametrize("policy", ["best", "first"])
def test_status_1_when_nothing_fits(results: Any, run: Explain, write: Write, policy: str) -> None:
    name = write(pack([Packed(b"some text", {"triple": TRIPLE})]))
    (result,) = results(name, "--policy", policy, status=1)
    assert (result["selected"], result["first_compatible"], result["first_tried"]) == (None, None, None)
    status, out, _ = run(name, "--policy", policy)
    assert status == 1
    assert (
        "upstream takes none for the host: its check accepts no image\nolpick takes   none, as no image is eligible\n"
        in out
    )


def test_status_1_when_one_device_has_none(results: Any, write: Write) -> None:
    name = write(packed("haswell"))
    first, second = results(name, "--device", "haswell", "--device", "x86-64", status=1)
    assert (first["selected"], second["selected"]) == (0, None)


def test_status_1_says_what_the_runtime_will_try(run: Explain, write: Write) -> None:
    status, out, _ = run(write(packed("diamondrapids", "haswell")), "--device", "x86-64")
    assert status == 1
    assert "olpick takes   none, as no image is eligible; it lets the runtime try [1] haswell first\n" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--device", "haswel"],
        ["--device", "sm_90"],
        ["--device", "gfx90a:xnack+"],
        ["--device", ""],
        ["--policy", "worst"],
        ["--jso"],
        ["--device"],
    ],
)
def test_status_2_for_wrong_arguments(run: Explain, write: Write, arguments: list[str]) -> None:
    status, out, err = run(write(packed("x86-64")), *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("olpick: error: ")


def test_status_2_without_a_file(run: Explain) -> None:
    assert run()[0] == 2


def test_unknown_device_says_the_nearest_names(run: Explain, write: Write) -> None:
    _, _, err = run(write(packed("x86-64")), "--device", "skylake-avx51")
    assert "olpick: hint: the nearest names are skylake-avx512" in err


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"", "no bytes at all"), (b"#!/bin/sh\n", "not an OffloadBinary"), (packed("x86-64")[:80], "Size is")],
)
def test_status_3_for_a_malformed_file(run: Explain, write: Write, data: bytes, why: str) -> None:
    name = write(data)
    for arguments in ([name], ["--json", name]):
        status, out, err = run(*arguments)
        assert status == 3
        if "--json" in arguments:  # a program gets its document all the same
            (result,) = json.loads(out)["results"]
            assert (result["images"], result["findings"][0]["severity"]) == ([], "error")
        else:
            assert out == ""
        assert err.startswith(f"olpick: error: {name}: at offset 0: ")
        assert why in err
        assert err.count("\n") == 1


def test_status_3_for_a_missing_file_names_it_once(run: Explain) -> None:
    status, out, err = run("/nowhere/at-all")
    assert (status, out) == (3, "")
    assert err == "olpick: error: cannot read '/nowhere/at-all': no such file or directory\n"


def test_status_3_when_a_malformed_file_has_nothing_that_fits(results: Any, write: Write) -> None:
    data = pack([Packed(b"text", {})])
    (result,) = results(write(data + data[:50]), status=3)
    assert result["selected"] is None


def test_status_3_shows_the_files_that_can_be_read(results: Any, run: Explain, write: Write) -> None:
    good, bad = write(packed("x86-64")), write(b"text", "bad")
    status, out, err = run(bad, good)
    assert status == 3
    assert out.startswith(f"{good}: 1 image, ")
    assert err.startswith(f"olpick: error: {bad}: ")
    first, second = results(bad, good, status=3)
    assert (first["input"], first["images"], first["findings"][0]["code"]) == (bad, [], "not-offload-binary")
    assert second["selected"] == 0


# ---- Ways in and out


@pytest.mark.parametrize(("data", "status"), [(packed("x86-64"), 0), (b"text", 3)])
def test_standard_input(run: Explain, monkeypatch: pytest.MonkeyPatch, data: bytes, status: int) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    got, out, err = run("-")
    assert got == status
    assert "standard input: " in (out or err)


def test_program_comes_with_a_hint(clang: str, run: Explain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a library does not, whatever its permissions are: it cannot be run."""
    monkeypatch.chdir(tmp_path)
    Path("main.c").write_text("int main(void) {\n#pragma omp target\n  {}\n  return 0;\n}\n")
    offload = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "--offload-arch=x86-64,x86-64-v2"]
    folder = subprocess.run([clang, "-print-file-name=libomptarget.so"], capture_output=True, text=True, check=True)
    link = f"-L{Path(folder.stdout.strip()).parent}"
    for options, made in (["-c"], "main.o"), (["-shared", "-fPIC"], "main.so"), ([], "main"):
        subprocess.run([clang, *offload, "main.c", *options, "-o", made, link], check=True)
        Path(made).chmod(0o755)
    for no_program in ("main.o", "main.so"):
        assert "hint" not in run(no_program)[1]
    _, out, _ = run("main")
    takes_another = "upstream takes [0]" in out and "olpick takes   [0]" not in out
    assert ("hint: olpick run -- ./main\n" in out) == takes_another
    assert "hint" not in run("main", "--device", "haswell")[1]


def test_file_without_an_offload_section_is_no_error_but_has_no_answer(run: Explain) -> None:
    status, out, err = run("/bin/true")
    assert (status, out) == (1, "")
    assert err == "olpick: error: /bin/true: host ELF, no offload section; was it built with an offload target?\n"


def test_images_for_gpus_are_named_as_what_they_are(run: Explain, write: Write) -> None:
    status, out, _ = run(write(pack([Packed(b".version 8.0\n", {"triple": "nvptx64-nvidia-cuda", "arch": "sm_80"})])))
    assert status == 1
    assert "note: 1 of 1 are for GPUs, which this version does not judge; the library leaves them in place\n" in out


def test_narrow_output_encoding_is_no_obstacle(write: Write) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "olpick.shim", "explain", write(packed("größer")), "--device", "x86-64"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "gr\\xf6\\xdfer" in made.stdout


def terminal(command: Sequence[str], **variables: str) -> str:
    """What a command writes to a terminal."""
    ours, its = pty.openpty()
    child = subprocess.Popen(command, stdout=its, env={**os.environ, **variables})
    os.close(its)
    output = b""
    try:
        while piece := os.read(ours, 4096):
            output += piece
    except OSError:  # how the end of a terminal reads
        pass
    os.close(ours)
    assert child.wait(30) == 0
    return output.decode()


def test_terminal_gets_colour_and_the_same_words(write: Write, run: Explain) -> None:
    name = write(packed("x86-64", "[red]haswell[/red]"))
    command = [sys.executable, "-m", "olpick.shim", "explain", name, "--device", "haswell"]
    coloured = terminal(command, TERM="xterm", NO_COLOR="", COLUMNS="40")
    assert "\x1b[1;32m*" in coloured
    plain = terminal(command, TERM="dumb", COLUMNS="40")
    assert plain.replace("\r\n", "\n") == run(name, "--device", "haswell")[1]


@given(st.binary(max_size=300))
def test_any_bytes_make_a_valid_document(data: bytes) -> None:
    devices = [("x86-64", explain.device_of("x86-64"))]
    for buffer in (data, packed("x86-64") + data):
        reports = explain.explain(from_bytes(buffer, "f"), devices, "best")
        VALIDATOR.validate(explain.document(reports))
        explain.page(reports[0]).plain()
