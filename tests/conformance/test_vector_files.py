"""The vectors as files: their schema, their requirements, and that they are what the cases make."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from olpick.conformance.model.tables import words
from olpick.conformance.vectors import load, vectors
from olpick.conformance.vectors.files import NAMES
from olpick.conformance.vectors.make import main, make, stale

ROOM = files("olpick.conformance")
SECTIONS = ("CONT", "FACT", "COMP", "ORD", "POL")


def _specified() -> set[str]:
    """The numbers of the requirements of sections 1 to 5."""
    text = ROOM.joinpath("SPEC.md").read_text("utf-8")
    return {
        f"OLP-{section}-{number}"
        for section, number in re.findall(r"^\* \*\*OLP-([A-Z]+)-(\d{3})\*\*", text, re.M)
        if section in SECTIONS
    }


@pytest.mark.parametrize("name", NAMES)
def test_schema(name: str) -> None:
    schema = json.loads(ROOM.joinpath("vectors", "schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(load(name))


def test_schema_refuses() -> None:
    schema = json.loads(ROOM.joinpath("vectors", "schema.json").read_text("utf-8"))
    content = load("order")
    del content["groups"][0]["tests"][0]["expect"]["verdicts"]
    assert not jsonschema.Draft202012Validator(schema).is_valid(content)


def test_ids_are_unique() -> None:
    ids = [vector.id for vector in vectors()]
    assert len(ids) == len(set(ids))
    assert all(vector.id.startswith(f"{vector.requirement}/") for vector in vectors())


def test_every_requirement_has_vectors() -> None:
    """Both of the rule at work and of the rule that refuses or does not apply."""
    assert _specified() == {vector.requirement for vector in vectors()}
    assert _specified() == {vector.requirement for vector in vectors() if "Negative" in vector.flags}
    assert _specified() == {vector.requirement for vector in vectors() if "Negative" not in vector.flags}


def test_every_word_is_expected_somewhere() -> None:
    """Every form, reason, step, finding and error that a buffer can give."""
    found: dict[str, set[str]] = {"form": set(), "reason": set(), "step": set(), "finding": set(), "error": set()}
    for vector in vectors():
        expect: dict[str, Any] = dict(vector.expect)
        found["error"] |= {expect["error"]["code"]} if expect["error"] else set()
        found["finding"] |= {finding["code"] for finding in expect["findings"]}
        for image in expect.get("images", ()):
            found["finding"] |= set(image.get("findings", ()))
        for verdict in expect.get("verdicts", ()):
            found["reason"].add(verdict["reason"])
            found["finding"] |= set(verdict["findings"])
            found["step"] |= {verdict["lost_at"]} if verdict["lost_at"] else set()
            found["form"] |= {verdict["form"]} if "form" in verdict else set()
    of_files = {"cannot-read", "malformed-archive", "malformed-elf", "no-offload-section", "unsupported-container"}
    for kind, said in found.items():
        assert set(words(kind)) - said == (of_files if kind == "error" else set())


def test_results_fit() -> None:
    for vector in vectors():
        refused = vector.expect["error"] is not None or (
            "selected" in vector.expect and vector.expect["selected"] is None
        )
        assert vector.result == "acceptable" or (vector.result == "invalid") == refused, vector.id
        assert ("Ambiguous" in vector.flags) == (vector.result == "acceptable"), vector.id


def test_files_are_what_the_cases_make(tmp_path: Path) -> None:
    assert main(["--check"]) == 0
    assert main([str(tmp_path)]) == 0
    assert stale(tmp_path) == []
    (tmp_path / "order.json").write_text(make("order").replace("selected", "rejected"), "utf-8")
    (tmp_path / "facts.json").unlink()
    assert stale(tmp_path) == ["facts.json", "order.json"]
    assert main(["--check", str(tmp_path)]) == 1
