"""Sections 2 to 5: an implementation judges as the model judges."""

from hypothesis import given
from hypothesis import strategies as st
from olpick.conformance import compare, model
from olpick.conformance.adapters import Selector
from olpick.conformance.answers import Device, Image
from olpick.conformance.builders import Elf
from olpick.conformance.model.tables import names
from olpick.conformance.strategies import (
    broken_elves,
    devices,
    image_bytes,
    image_lists,
    labels,
    noted_elves,
    required_features,
    triples,
)

POLICIES = st.sampled_from(("best", "first"))
HASWELL = model.device("haswell")
SKX = model.device("skylake-avx512")


def _agree(selector: Selector, images: list[Image], device: Device, policy: str = "best") -> None:
    expected = model.select(images, device, policy)
    assert compare.selections(expected, selector.select(images, device, policy)) == []


@given(data=image_bytes(), policy=POLICIES)
def test_form(selector: Selector, data: bytes, policy: str) -> None:
    """OLP-FACT-001, OLP-COMP-001, 002, 005, OLP-POL-002."""
    _agree(selector, [Image(data, {}), Image(data, {b"triple": b"x86_64"})], HASWELL, policy)


@given(elf=broken_elves(), policy=POLICIES)
def test_well_formed(selector: Selector, elf: Elf, policy: str) -> None:
    """OLP-FACT-002, OLP-COMP-003, OLP-POL-002."""
    _agree(selector, [Image(elf.build(), {})], SKX, policy)


@given(elf=noted_elves(), label=st.just(b"") | labels(), device=devices())
def test_note_and_label(selector: Selector, elf: Elf, label: bytes, device: Device) -> None:
    """OLP-FACT-003, 004, OLP-COMP-006, 007."""
    _agree(selector, [Image(elf.build(), {b"arch": label})], device)


def test_every_label(selector: Selector) -> None:
    """OLP-FACT-004: every name of the tables, on every CPU of them."""
    images = [Image(Elf().build(), {b"arch": name.encode()}) for name in names()]
    for name in names():
        _agree(selector, images, model.device(name))


@given(triple=triples(), bitcode=st.booleans(), policy=POLICIES)
def test_triple(selector: Selector, triple: bytes, bitcode: bool, policy: str) -> None:
    """OLP-COMP-004, 005, OLP-POL-002."""
    data = b"\x42\x43\xc0\xde" if bitcode else Elf().build()
    _agree(selector, [Image(data, {b"triple": triple})], HASWELL, policy)


@given(value=required_features(), device=devices())
def test_required_features(selector: Selector, value: bytes, device: Device) -> None:
    """OLP-COMP-008, 009."""
    _agree(selector, [Image(Elf().build(), {b"requires_features": value})], device)


@given(images=image_lists(), device=devices(), policy=POLICIES)
def test_lists(selector: Selector, images: list[Image], device: Device, policy: str) -> None:
    """Sections 2 to 5 together."""
    _agree(selector, images, device, policy)
