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
    "walk-not-aligned": Fault("container", "round_up(start + frame.size, 8)", "start + frame.size", "OLP-CONT-012"),
    "walk-no-padding": Fault("container", "not any(buffer[start : start + 8])", "False", "OLP-CONT-012"),
    "walk-any-padding": Fault("container", "start += 8\n", "start += 4\n", "OLP-CONT-012"),
    "next-after-inflated": Fault(
        "container",
        "round_up(start + frame.size, 8)",
        "round_up(start + max(frame.size, frame.inflated_size), 8)",
        "OLP-CONT-012",
    ),
    "first-duplicate": Fault("entries", "strings[key] = value", "strings.setdefault(key, value)", "OLP-CONT-014"),
    "duplicate-over-entries": Fault(
        "entries", "strings: dict[bytes, bytes] = {}", "strings = self.__dict__.setdefault('s', {})", "OLP-CONT-014"
    ),
    "version-3-short": Fault("frame", "or (u32(left, 4) == 3 and len(left) < HEADERS[3])", "", "OLP-CONT-003"),
    "truncated-in-entry": Fault("frame", "LEAST_HEADER: Final = 32", "LEAST_HEADER: Final = 72", "OLP-CONT-003"),
    "version-4": Fault(
        "frame",
        "HEADERS: Final = {1: 32, 2: 32, 3: 40}",
        "HEADERS: Final = {1: 32, 2: 32, 3: 40, 4: 40}",
        "OLP-CONT-004",
    ),
    "header-of-version-3": Fault("frame", "3: 40}", "3: 32}", "OLP-CONT-005"),
    "size-of-upstream": Fault("frame", "if not header + least <= size", "if not ENTRY <= size", "OLP-CONT-005"),
    "packed-size-of-plain": Fault("frame", "least = 1 if inflated_size else ENTRY", "least = ENTRY", "OLP-CONT-005"),
    "entry-not-aligned": Fault("frame", "entries % 8 != 0", "entries % 4 != 0", "OLP-CONT-006"),
    "packed-entry-at-size": Fault(
        "frame", "<= entries <= size - least", "<= entries <= size - (least if least > 1 else 0)", "OLP-CONT-006"
    ),
    "count-not-checked": Fault(
        "frame", "if last < 1 or entries + ENTRY * last > (inflated_size or size):", "if last < 1:", "OLP-CONT-007"
    ),
    "count-of-none": Fault("frame", "if last < 1 or", "if", "OLP-CONT-007"),
    "count-product-wraps": Fault(
        "frame", "entries + ENTRY * last >", "entries + ENTRY * last % 2**64 >", "OLP-CONT-007"
    ),
    "count-sum-wraps": Fault("frame", "entries + ENTRY * last >", "(entries + ENTRY * last) % 2**64 >", "OLP-CONT-007"),
    "count-by-size": Fault("frame", "(inflated_size or size)", "size", "OLP-CONT-007"),
    "table-in-frame": Fault("entries", "or self.frame.touches(table, width)", "", "OLP-CONT-008"),
    "table-in-later-entry": Fault(
        "frame", "self.entries + ENTRY * self.count and", "self.entries + ENTRY and", "OLP-CONT-008"
    ),
    "product-wraps": Fault("entries", "if table + width >", "if (table + width) % 2**64 >", "OLP-CONT-008"),
    "records-of-16": Fault("entries", "16 if frame.version == 1 else 24", "16", "OLP-CONT-008"),
    "records-not-counted": Fault("entries", "self.records += count", "self.records = count", "OLP-CONT-008"),
    "records-rounded-up": Fault(
        "entries", "self.records > self.size // 16", "self.records > -(-self.size // 16)", "OLP-CONT-008"
    ),
    "string-not-ended": Fault("entries", "if end < 0:", "if end < -1:", "OLP-CONT-009"),
    "value-zero-ended": Fault(
        "entries",
        "return self.data[start : start + size]",
        "return self.data[start : start + size].partition(b'\\0')[0]",
        "OLP-CONT-009",
    ),
    "value-sum-wraps": Fault(
        "entries",
        "if start + size > self.size or (size != 0 and self.frame.touches(start, 1))",
        "if (start + size) % 2**64 > self.size",
        "OLP-CONT-009",
    ),
    "empty-value-in-frame": Fault(
        "entries", "(size != 0 and self.frame.touches(start, 1))", "self.frame.touches(start, 1)", "OLP-CONT-009"
    ),
    "value-may-not-end-in-frame": Fault(
        "entries", "touches(start, 1)):", "touches(start, 1)) or size > 6:", "OLP-CONT-009"
    ),
    "sum-too-small": Fault("entries", "if self.lengths >", "if self.lengths >=", "OLP-CONT-010"),
    "sum-of-an-entry": Fault(
        "entries", "findings = set()", "findings = set()\n        self.lengths = 0", "OLP-CONT-010"
    ),
    "image-sum-wraps": Fault(
        "entries",
        "if offset + size > self.size or (size != 0 and self.frame.touches(offset, size))",
        "if (offset + size) % 2**64 > self.size",
        "OLP-CONT-011",
    ),
    "images-lost": Fault("container", "Decoded(tuple(walk.images), tuple", "Decoded((), tuple", "OLP-CONT-016"),
    "own-images-delivered": Fault(
        "entries",
        "    return [reader.entry(frame.entries + ENTRY * number) for number in range(frame.count)]",
        "    return (reader.entry(frame.entries + ENTRY * number) for number in range(frame.count))",
        "OLP-CONT-016",
    ),
    "limit-checked-after": Fault(
        "inflate",
        "if before + frame.inflated_size > reading.limit:",
        "if frame.inflated_size > 2**30 and False:",
        "OLP-CONT-017",
    ),
    "limit-for-each": Fault("inflate", "before + frame.inflated_size", "frame.inflated_size", "OLP-CONT-017"),
    "containers-uncounted": Fault("entries", "self.nested += size", "pass", "OLP-CONT-011"),
    "containers-below-size": Fault(
        "entries", "if self.nested > self.size:", "if self.nested * 2 > self.size:", "OLP-CONT-011"
    ),
    "limit-is-too-large": Fault(
        "inflate", "frame.inflated_size > reading.limit", "frame.inflated_size >= reading.limit", "OLP-CONT-017"
    ),
    "limit-of-the-payload": Fault(
        "inflate",
        "frame.inflated_size > reading.limit",
        "frame.inflated_size - frame.entries > reading.limit",
        "OLP-CONT-017",
    ),
    "trailing-bytes": Fault("inflate", "or inflater.unused_data ", "", "OLP-CONT-017"),
    "payload-cut": Fault("inflate", "not inflater.eof or ", "", "OLP-CONT-017"),
    "inflated-shorter": Fault("inflate", "len(body) != wanted", "len(body) > wanted", "OLP-CONT-017"),
    "inflated-longer": Fault("inflate", "len(body) != wanted", "len(body) < wanted", "OLP-CONT-017"),
    "zlib-alone": Fault("inflate", "payload.startswith(ZSTD_MAGIC)", "False", "OLP-CONT-017"),
    "inflated-at-header": Fault(
        "inflate", "return binary[: frame.entries] + body", "return binary[: frame.header] + body", "OLP-CONT-017"
    ),
    "cannot-inflate-ends": Fault(
        "container",
        'self.findings.append(Problem("cannot-inflate", binary))',
        'raise Ended("bad-compression", binary) from None',
        "OLP-CONT-018",
    ),
    "cannot-inflate-forgotten": Fault(
        "container", 'self.findings.append(Problem("cannot-inflate", binary))', "pass", "OLP-CONT-018"
    ),
    "metadata-in-version-1": Fault("entries", "self.frame.version >= 2 and ", "", "OLP-CONT-019"),
    "metadata-alone": Fault("entries", "flags & METADATA != 0", "flags == METADATA", "OLP-CONT-019"),
    "metadata-not-delivered": Fault(
        "container",
        "        for entry in entries:\n",
        "        for entry in (entry for entry in entries if not entry.metadata):\n",
        "OLP-CONT-019",
    ),
    "levels-3": Fault("container", "LEVELS: Final = 4", "LEVELS: Final = 3", "OLP-CONT-020"),
    "levels-5": Fault("container", "LEVELS: Final = 4", "LEVELS: Final = 5", "OLP-CONT-020"),
    "too-deep-is-inner": Fault("container", 'if ended.problem.code == "nested-too-deep":', "if False:", "OLP-CONT-020"),
    "inner-ends-all": Fault("container", 'if ended.problem.code == "nested-too-deep":', "if True:", "OLP-CONT-020"),
    "inner-place": Fault(
        "container",
        "Place(place.level + 1, offset, binary)",
        "Place(place.level + 1, entry.offset, binary)",
        "OLP-CONT-020",
    ),
    "inflated-has-a-place": Fault(
        "container", "if place.offset is None or frame.compressed else", "if place.offset is None else", "OLP-CONT-020"
    ),
    "inner-junk-at-junk": Fault(
        "container", "at = start if place.binary is None else place.binary", "at = start", "OLP-CONT-020"
    ),
    "not-nested": Fault(
        "container", "if entry.metadata or not entry.data.startswith(MAGIC):", "if True:", "OLP-CONT-020"
    ),
    "metadata-judged": Fault("host", "if image.metadata:", "if False:", "OLP-COMP-001"),
    "metadata-after-empty": Fault(
        "host", "if image.metadata:", 'if image.metadata and facts.form != "empty":', "OLP-COMP-001"
    ),
    "kind-by-mask": Fault("entries", "kind > 6", "kind > 7", "OLP-CONT-015"),
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
