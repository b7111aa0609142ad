"""The vectors can fail: each fault below, put into a copy of the model, is found by them."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from olpick.conformance import model
from olpick.conformance.vectors import Vector, disagreements, vectors


@dataclass(frozen=True)
class Fault:
    """A text of the model that is replaced, and a requirement whose vectors must find it."""

    module: str
    right: str
    wrong: str
    requirement: str


FAULTS = {
    "walk-not-aligned": Fault(
        "container", "round_up(start + len(binary.data), 8)", "start + len(binary.data)", "OLP-CONT-012"
    ),
    "walk-no-padding": Fault("container", "not any(buffer[start : start + 8])", "False", "OLP-CONT-012"),
    "walk-any-padding": Fault("container", "start += 8\n", "start += 4\n", "OLP-CONT-012"),
    "first-duplicate": Fault("container", "strings[key] = value", "strings.setdefault(key, value)", "OLP-CONT-014"),
    "table-in-frame": Fault("container", "or binary.touches_frame(table, RECORD * count)", "", "OLP-CONT-008"),
    "product-wraps": Fault(
        "container", "if table + RECORD * count >", "if (table + RECORD * count) % 2**64 >", "OLP-CONT-008"
    ),
    "size-of-upstream": Fault("container", "if not HEADER + ENTRY <= size", "if not ENTRY <= size", "OLP-CONT-005"),
    "entry-not-aligned": Fault("container", "entry % 8 != 0", "entry % 4 != 0", "OLP-CONT-006"),
    "string-not-ended": Fault("container", "if end < 0:", "if end < -1:", "OLP-CONT-009"),
    "sum-too-small": Fault("container", "if total > limit:", "if total >= limit:", "OLP-CONT-010"),
    "image-sum-wraps": Fault("container", "if offset + size >", "if (offset + size) % 2**64 >", "OLP-CONT-011"),
    "images-lost": Fault(
        "container",
        "Decoded(tuple(images), (), Problem(str(refused), start))",
        "Decoded((), (), Problem(str(refused), start))",
        "OLP-CONT-016",
    ),
    "kind-by-mask": Fault("container", "kind > 6", "kind > 7", "OLP-CONT-015"),
    "ptx-anywhere": Fault("facts", "is_ptx(data[:4096])", "is_ptx(data)", "OLP-FACT-001"),
    "pie-allowed": Fault("host_elf", "if tag == DT_FLAGS_1 and", "if False and", "OLP-FACT-002"),
    "pie-after-null": Fault("host_elf", "if tag == 0:", "if tag == -1:", "OLP-FACT-002"),
    "lowest-bit": Fault(
        "host_elf", "(bits & 0b1111).bit_length()", "(bits & -bits & 0b1111).bit_length()", "OLP-FACT-003"
    ),
    "level-off-by-one": Fault(
        "host_elf", "(bits & 0b1111).bit_length()", "min(4, (bits & 0b1111).bit_length() + 1)", "OLP-FACT-003"
    ),
    "bad-note-forgotten": Fault("host_elf", "bad = True", "bad = False", "OLP-FACT-003"),
    "always-aligned-to-4": Fault("host_elf", "8 if segment.align == 8 else 4", "4", "OLP-FACT-003"),
    "no-aliases": Fault("tables", "name = _aliases().get(name, name)", "name = str(name)", "OLP-FACT-004"),
    "mismatch-of-all": Fault("facts", "if label is not None and not needed", "if not needed", "OLP-FACT-004"),
    "vendor-linux": Fault("host", 'if len(parts) == 3 and parts[1] == b"linux":', "if False:", "OLP-COMP-004"),
    "version-kept": Fault("host", 'system.rstrip(b"0123456789.")', "system", "OLP-COMP-004"),
    "empty-token": Fault("host", "if not token or not", "if not", "OLP-COMP-008"),
    "empty-value": Fault("host", 'if value == b"":', "if value is None:", "OLP-COMP-008"),
    "note-before-triple": Fault(
        "host",
        "if triple and not triple_fits(triple):",
        "if triple and facts.level == 0 and not triple_fits(triple):",
        "OLP-COMP-004",
    ),
    "ranks-reversed": Fault("order", "ranked = sorted(eligible, ", "ranked = sorted(eligible[::-1], ", "OLP-ORD-009"),
    "best-last": Fault("order", "reverse=True", "reverse=False", "OLP-ORD-005"),
    "bitcode-first": Fault(
        "order", '0 if fact.form == "bitcode" else 1', '1 if fact.form == "bitcode" else 0', "OLP-ORD-003"
    ),
    "priority-as-text": Fault("order", "priority(image) or 0,", "str(priority(image) or 0),", "OLP-ORD-004"),
    "priority-long": Fault("order", "{1,9}", "{1,10}", "OLP-ORD-004"),
    "priority-of-all": Fault(
        "order", "for place in eligible if b", "for place in range(len(images)) if b", "OLP-ORD-004"
    ),
    "tokens-not-counted": Fault("order", "len(required_features(image)),", "0,", "OLP-ORD-006"),
    "tag-of-none": Fault("order", "PLAIN_TAG: Final = 3", "PLAIN_TAG: Final = 2", "OLP-ORD-008"),
    "lost-to-the-next": Fault(
        "order",
        "first_difference(scores[selected]",
        "first_difference(scores[ranked[ranked.index(place) - 1]]",
        "OLP-ORD-010",
    ),
    "first-is-best": Fault("order", 'if policy == "first":', 'if policy == "never":', "OLP-POL-002"),
    "first-little-endian": Fault("order", '"little" if data[5] == 1 else "big"', '"little"', "OLP-POL-002"),
}


@pytest.fixture
def faulty(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A copy of the model with the fault, under a name of its own."""
    fault: Fault = request.param
    spec = find_spec("olpick.conformance.model")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    copy = tmp_path / "faulty_model"
    copy.mkdir()
    for source in Path(next(iter(spec.submodule_search_locations))).glob("*.py"):
        text = source.read_text("utf-8")
        if source.stem == fault.module:
            assert fault.right in text
            text = text.replace(fault.right, fault.wrong)
        (copy / source.name).write_text(text.replace("olpick.conformance.model", "faulty_model"), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    yield import_module("faulty_model")
    for name in [name for name in sys.modules if name.partition(".")[0] == "faulty_model"]:
        del sys.modules[name]
    shutil.rmtree(copy)


@pytest.mark.parametrize("faulty", FAULTS.values(), ids=FAULTS, indirect=True)
def test_fault_is_found(faulty: ModuleType, request: pytest.FixtureRequest) -> None:
    fault: Fault = request.node.callspec.params["faulty"]
    asked = [vector for vector in vectors() if vector.requirement == fault.requirement]
    found = [vector.id for vector in asked if vector.result != "acceptable" and _differs(faulty, vector)]
    assert found


def test_without_a_fault_none_is_found() -> None:
    assert [line for vector in vectors() for line in disagreements(vector, model.decode, model.select)] == []


def _differs(faulty: ModuleType, vector: Vector) -> bool:
    try:
        return bool(disagreements(vector, faulty.decode, faulty.select))
    except Exception:
        return True  # a crash is found too
