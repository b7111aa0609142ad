"""The typed face of the library: words, devices, choices, and the C decoder beside the Python one."""

import ctypes
import mmap
import subprocess
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from olpick.elf import Packed, pack, read, table
from olpick.elf.layout import Readable
from olpick.shim import abi, core
from olpick.shim.core import Described, Device, DeviceError, Images, arrange, select, walk, words
from olpick.shim.demo.make import shared_object
from olpick.shim.errors import LibraryError
from olpick.shim.library import library_path

TRIPLE = "x86_64-pc-linux-gnu"
OBJECT = shared_object()


def image(arch: str | None = None, data: bytes = OBJECT, **strings: str) -> Described:
    return data, {"triple": TRIPLE, **({} if arch is None else {"arch": arch}), **strings}


@pytest.fixture
def fresh_library() -> Iterator[None]:
    """The library is loaded anew, and once more for the tests that follow."""
    abi.load.cache_clear()
    yield
    abi.load.cache_clear()


@pytest.mark.parametrize("kind", abi.LISTS)
def test_words_are_those_of_the_data_file_in_its_order(kind: str) -> None:
    assert words(kind) == tuple(table(kind))


def test_names_stand_once() -> None:
    assert len(set(core.feature_names())) == len(core.feature_names()) > 50
    assert len(set(core.cpu_names())) == len(core.cpu_names()) > 50


def test_host_has_the_baseline() -> None:
    host = Device.host()
    assert {"sse2", "cmov"} <= set(host.features)
    assert host.name is None or host.name in core.cpu_names()


def test_alias_names_the_same_device() -> None:
    assert Device.named("skx") == Device.named("skylake-avx512")


@pytest.mark.parametrize("name", ["haswel", "", "x86-64-v9", "HASWELL", "haswell\0", "\udcff", "n" * 10000])
def test_unknown_device_is_a_usage_error(name: str) -> None:
    with pytest.raises(DeviceError) as caught:
        Device.named(name)
    assert (caught.value.code, caught.value.status) == ("unknown-cpu", 2)
    assert caught.value.hint


def test_unknown_device_says_the_nearest_names() -> None:
    with pytest.raises(DeviceError) as caught:
        Device.named("haswel")
    assert "haswell" in caught.value.hint


def test_verdicts_say_everything_in_words() -> None:
    images = [image("x86-64"), image("haswell"), image("diamondrapids"), image(), image("turnip")]
    chosen = select(images, Device.named("haswell"))
    assert (chosen.selected, chosen.first_compatible) == (1, 0)
    assert chosen.order == (1, 0, 3, 4, 2)
    best, lacking, unlabelled, unknown = (chosen.verdicts[place] for place in (1, 2, 3, 4))
    assert (best.verdict, best.reason, best.rank, best.lost_at, best.label) == ("selected", "exact", 1, None, "haswell")
    assert (lacking.verdict, lacking.reason, lacking.rank) == ("rejected", "cpu-features", None)
    assert "avx512f" in lacking.missing
    assert set(lacking.missing) <= set(lacking.features)
    assert (unlabelled.reason, unlabelled.label, unlabelled.label_known) == ("generic", None, True)
    assert (unknown.reason, unknown.label, unknown.label_known) == ("unknown-cpu", None, False)
    assert unknown.lost_at == "closeness"


def test_constraint_names_what_is_missing() -> None:
    (verdict,) = select([image(requires_features="sse2, amx-tile")], Device.named("x86-64")).verdicts
    assert (verdict.reason, verdict.missing) == ("missing-feature", ("amx-tile",))


def test_findings_of_the_choice_are_words() -> None:
    chosen = select([image(variant_priority="x"), image()], Device.named("x86-64"))
    assert [verdict.findings for verdict in chosen.verdicts] == [("malformed-key",), ("priority-unstated",)]


def test_policy_first_is_upstreams_choice() -> None:
    chosen = select([image(data=b""), image("diamondrapids"), image("x86-64")], Device.named("x86-64"), "first")
    assert chosen.selected == chosen.first_compatible == 1
    assert [verdict.reason for verdict in chosen.verdicts] == ["runtime-refuses", "accepted", "accepted"]


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="none of the policies best, first"):
        select([], Device.named("x86-64"), "worst")


def test_no_images_give_nothing() -> None:
    chosen = select([], Device.named("x86-64"))
    assert chosen == core.Selection((), (), None, None)
    assert arrange([], Device.named("x86-64")) == ()


def test_device_may_be_made_of_features() -> None:
    device = Device(None, ("sse2", "avx512f"))
    (verdict,) = select([image("x86-64")], device).verdicts
    assert "cmov" in verdict.missing
    assert select([image("x86-64")], Device(None, Device.named("haswell").features)).verdicts[0].reason == "generic"


def test_order_for_the_runtime_has_the_least_lacking_first() -> None:
    images = [image("diamondrapids"), image("haswell"), image(data=b"text")]
    device = Device.named("x86-64-v2")
    assert select(images, device).selected is None
    assert arrange(images, device) == (1, 0, 2)
    # OLP-REG-005: neither image has a symbol table, so that nothing shows that the other has the kernel.
    assert arrange(images, device, symbols=["kernel"]) == (0, 1, 2)


def test_any_buffer_will_do(tmp_path: Path) -> None:
    path = tmp_path / "object"
    path.write_bytes(OBJECT)
    with path.open("r+b") as file:
        maps = [mmap.mmap(file.fileno(), 0, access=access) for access in (mmap.ACCESS_READ, mmap.ACCESS_COPY)]
    padded = memoryview(b"12345" + OBJECT)[5:]
    buffers: list[Readable] = [OBJECT, bytearray(OBJECT), memoryview(OBJECT), padded, *maps]
    chosen = [select([(buffer, {"arch": "haswell"})], Device.named("haswell")) for buffer in buffers]
    assert chosen == [chosen[0]] * len(buffers)
    assert chosen[0].selected == 0


def test_images_made_ready_can_be_judged_again() -> None:
    ready = Images([image("haswell"), image("x86-64")])
    assert [select(ready, Device.named(name)).selected for name in ("haswell", "x86-64")] == [0, 1]
    assert len(ready) == 2


def test_missing_library_is_said(monkeypatch: pytest.MonkeyPatch, fresh_library: None, tmp_path: Path) -> None:  # noqa: ARG001
    monkeypatch.setattr(abi, "library_path", lambda: tmp_path / "nothing.so")
    with pytest.raises(LibraryError) as caught:
        core.load()
    assert caught.value.status == 4
    assert "nothing.so" in caught.value.message


def test_library_that_is_another_is_refused(monkeypatch: pytest.MonkeyPatch, fresh_library: None) -> None:  # noqa: ARG001
    other = Path(ctypes.CDLL("libc.so.6")._name)
    monkeypatch.setattr(abi, "library_path", lambda: other)
    with pytest.raises(LibraryError, match="cannot be used"):
        core.load()


def test_library_of_another_interface_is_refused(monkeypatch: pytest.MonkeyPatch, fresh_library: None) -> None:  # noqa: ARG001
    monkeypatch.setattr(abi, "ABI", 999)
    with pytest.raises(LibraryError, match="ABI 2, and this package is made for 999"):
        core.load()


values = st.one_of(
    st.sampled_from(["", "x86-64", "haswell", "diamondrapids", "generic", "turnip", "1", "01", "avx2, sse2", "debug"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
images = st.tuples(
    st.one_of(st.just(OBJECT), st.binary(max_size=80), st.just(b"BC\xc0\xde")),
    st.dictionaries(st.sampled_from([*abi.KEYS, "file"]), values).map(lambda keys: {"triple": TRIPLE, **keys}),
)
devices = st.sampled_from(["x86-64", "haswell", "znver4", "diamondrapids"]).map(Device.named)


@given(st.lists(images, max_size=6), devices, st.sampled_from(["best", "first"]))
def test_every_choice_is_whole(given_images: list[Described], device: Device, policy: str) -> None:
    chosen = select(given_images, device, policy)
    places = range(len(given_images))
    assert [verdict.index for verdict in chosen.verdicts] == list(places)
    assert sorted(chosen.order) == sorted(arrange(given_images, device)) == list(places)
    ranked = [chosen.verdicts[place] for place in chosen.order if chosen.verdicts[place].rank]
    assert [verdict.rank for verdict in ranked] == list(range(1, len(ranked) + 1))
    assert chosen.selected == (ranked[0].index if ranked else None)
    assert [verdict.lost_at is not None for verdict in ranked] == [place > 0 for place in range(len(ranked))]
    assert all(verdict.verdict == "rejected" for verdict in chosen.verdicts if not verdict.rank)
    assert {"E"} >= {table("reason")[verdict.reason].class_ for verdict in ranked}


@given(st.lists(st.sampled_from(["x86-64", "x86-64-v3", "haswell", "znver4"]), unique=True, max_size=4), devices)
def test_the_place_in_the_container_decides_nothing_between_different_labels(labels: list[str], device: Device) -> None:
    winners = set()
    for order in permutations(labels):
        selected = select([image(label) for label in order], device).selected
        winners.add(None if selected is None else order[selected])
    assert len(winners) == 1


containers = st.lists(
    st.builds(
        Packed,
        st.binary(max_size=40),
        st.dictionaries(st.sampled_from(["arch", "triple", "file"]), values.filter(lambda text: "\0" not in text)),
        st.integers(0, 9),
        st.integers(0, 40),
        st.integers(0, 2**32 - 1),
    ),
    min_size=1,
    max_size=4,
).map(pack)


@given(containers, st.data())
def test_both_decoders_say_the_same(buffer: bytes, data: st.DataObject) -> None:
    changed = bytearray(buffer)
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(st.sampled_from([0, 1, 7, 40, 72, 255]))
    cut = bytes(changed[: data.draw(st.integers(0, len(changed)))])
    mine, theirs = read(cut), walk(cut)
    assert [(i.binary, i.size, i.kind, i.producer, i.flags) for i in mine.images] == [
        (i.binary, i.size, i.kind, i.producer, i.flags) for i in theirs.images
    ]
    assert [{finding.code for finding in i.findings} for i in mine.images] == [set(i.findings) for i in theirs.images]
    for_image = ("duplicate-key", "unknown-kind")
    odd = [(found.code, found.offset) for found in mine.findings if found.code not in for_image]
    assert odd == [(found.code, found.offset) for found in theirs.findings]
    assert (mine.error and (mine.error.code, mine.error.offset)) == (
        theirs.error and (theirs.error.code, theirs.error.offset)
    )


def test_structures_are_as_large_as_the_header_says(tmp_path: Path) -> None:
    """A wrong field would not be seen before it overwrote something."""
    pairs = {
        "olp_image": abi.ImageStruct,
        "olp_level": abi.LevelStruct,
        "olp_walk": abi.WalkStruct,
        "olp_problem": abi.ProblemStruct,
        "olp_facts": abi.FactsStruct,
        "olp_device": abi.DeviceStruct,
        "olp_verdict": abi.VerdictStruct,
    }
    prints = "".join(f'  printf("%zu\\n", sizeof({name}));\n' for name in pairs)
    source = tmp_path / "sizes.c"
    source.write_text(f"#include <stdio.h>\n#include <olpick.h>\nint main(void) {{\n{prints}}}\n")
    include = library_path().parent / "include"
    subprocess.run(["cc", f"-I{include}", str(source), "-o", str(tmp_path / "sizes")], check=True)
    said = subprocess.run([str(tmp_path / "sizes")], capture_output=True, text=True, check=True).stdout.split()
    assert said == [str(ctypes.sizeof(kind)) for kind in pairs.values()]


def test_decoder_gives_the_keys_with_a_meaning() -> None:
    (found,) = walk(pack([Packed(b"1", {"arch": "haswell", "file": "x", "triple": ""})])).images
    assert found.keys == {"arch": b"haswell", "triple": b""}
    assert found.strings == 3
