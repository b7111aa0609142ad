"""What holds of every implementation, without a model to compare with."""

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st
from olpick.conformance.adapters import Decoder, Selector
from olpick.conformance.answers import Device, Image
from olpick.conformance.model.tables import words
from olpick.conformance.strategies import (
    Buffer,
    buffers,
    damaged_buffers,
    devices,
    hostile_buffers,
    image_lists,
    images,
    nested_buffers,
)

POLICIES = st.sampled_from(("best", "first"))
BUFFERS = buffers() | hostile_buffers() | damaged_buffers() | nested_buffers()


@given(pictures=image_lists(min_size=2), device=devices(), data=st.data())
def test_order_free(selector: Selector, pictures: list[Image], device: Device, data: st.DataObject) -> None:
    """OLP-ORD-002: another order of the container changes the winner only among images that are equal but for it."""
    before = selector.select(pictures, device, "best")
    places = data.draw(st.permutations(range(len(pictures))))
    after = selector.select([pictures[place] for place in places], device, "best")
    assert (before.selected is None) == (after.selected is None)
    if before.selected is not None and after.selected is not None:
        winner = places[after.selected]
        assert winner == before.selected or before.verdicts[winner].lost_at == "order"
    for place, verdict in enumerate(after.verdicts):
        assert verdict.reason == before.verdicts[places[place]].reason


@given(pictures=image_lists(min_size=1), other=images(), device=devices(), data=st.data())
def test_ineligible_images_do_not_matter(
    selector: Selector, pictures: list[Image], other: Image, device: Device, data: st.DataObject
) -> None:
    """OLP-ORD-002: adding an ineligible image changes neither the winner nor any rank."""
    assume(selector.select([other], device, "best").selected is None)
    place = data.draw(st.integers(0, len(pictures)))
    before = selector.select(pictures, device, "best")
    after = selector.select([*pictures[:place], other, *pictures[place:]], device, "best")
    kept = after.verdicts[:place] + after.verdicts[place + 1 :]
    assert kept == before.verdicts


@given(pictures=image_lists(min_size=2), device=devices(), data=st.data())
def test_losers_do_not_matter(selector: Selector, pictures: list[Image], device: Device, data: st.DataObject) -> None:
    """OLP-ORD-002: taking a loser out does not change the winner."""
    before = selector.select(pictures, device, "best")
    losers = [place for place in range(len(pictures)) if place != before.selected]
    gone = data.draw(st.sampled_from(losers))
    after = selector.select(pictures[:gone] + pictures[gone + 1 :], device, "best")
    places = [place for place in range(len(pictures)) if place != gone]
    assert (None if after.selected is None else places[after.selected]) == before.selected


@given(pictures=image_lists(), device=devices(), policy=POLICIES)
def test_total(selector: Selector, pictures: list[Image], device: Device, policy: str) -> None:
    """OLP-ORD-001: the order is strict, total, the same each time, and the same for every two images alone."""
    made = selector.select(pictures, device, policy)
    assert made == selector.select(pictures, device, policy)
    ranked = [place for place in made.order if made.verdicts[place].rank is not None]
    assert [made.verdicts[place].rank for place in ranked] == list(range(1, len(ranked) + 1))
    assert made.order[: len(ranked)] == tuple(ranked)
    rest = [place for place in range(len(pictures)) if place not in ranked]
    assert made.order[len(ranked) :] == tuple(rest)
    for better, worse in pairwise(ranked):
        pair = sorted((better, worse))
        alone = selector.select([pictures[place] for place in pair], device, policy)
        assert alone.selected is not None
        assert pair[alone.selected] == better


@given(
    picture=images() | image_lists(min_size=1, max_size=1).map(lambda one: one[0]),
    others=image_lists(),
    device=devices(),
)
def test_conservative(selector: Selector, picture: Image, others: list[Image], device: Device) -> None:
    """Without keys but triple and label, where upstream and olpick accept one image, the same: all policies take it."""
    plain = [
        Image(
            each.data, {key: value for key, value in each.strings.items() if key in (b"triple", b"arch")}, each.metadata
        )
        for each in (picture, *others)
    ]
    best, first = (selector.select(plain, device, policy) for policy in ("best", "first"))
    eligible = [place for place, verdict in enumerate(best.verdicts) if verdict.rank is not None]
    accepted = [place for place, verdict in enumerate(first.verdicts) if verdict.rank is not None]
    if eligible == accepted and len(eligible) == 1:
        assert best.selected == first.selected == eligible[0]
    assert best.first_compatible == first.first_compatible == first.selected


@given(pictures=image_lists(), device=devices(), policy=POLICIES)
def test_explained(selector: Selector, pictures: list[Image], device: Device, policy: str) -> None:
    """OLP-ORD-010: one verdict, one reason of the lists; a rank if eligible; a step if it lost."""
    made = selector.select(pictures, device, policy)
    assert len(made.verdicts) == len(pictures)
    for place, verdict in enumerate(made.verdicts):
        assert verdict.reason in words("reason")
        assert verdict.form in words("form")
        assert verdict.findings <= set(words("finding"))
        assert (verdict.verdict == "selected") == (place == made.selected) == (verdict.rank == 1)
        assert (verdict.verdict == "rejected") == (verdict.rank is None)
        assert (verdict.verdict == "eligible") == (verdict.lost_at in words("step"))
        assert verdict.verdict == "eligible" or verdict.lost_at is None


@given(buffer=BUFFERS)
def test_bounded(decoder: Decoder, buffer: Buffer) -> None:
    """OLP-CONT-001, 012, 016, 020: what is delivered lies in the buffer, unless it was inflated; binaries in order."""
    data = buffer.build()
    read = decoder.decode(data)
    for problem in (*read.findings, *((read.error,) if read.error else ())):
        assert 0 <= problem.offset <= len(data)
        assert problem.offset % 8 == 0
    last = 0
    for image in read.images:
        assert last <= image.binary < len(data)
        assert read.error is None or image.binary <= read.error.offset
        assert data[image.binary : image.binary + 4] == b"\x10\xff\x10\xad"
        last = image.binary
        if image.offset is not None:
            assert image.binary <= image.offset
            assert data[image.offset : image.offset + image.size] == image.data
        assert image.metadata or not image.data.startswith(b"\x10\xff\x10\xad")


@given(buffer=BUFFERS, device=devices(), policy=POLICIES)
def test_any_buffer_can_be_judged(selector: Selector, buffer: Buffer, device: Device, policy: str) -> None:
    """From bytes to a verdict an image, whatever they are."""
    data = buffer.build()
    if not isinstance(selector, Decoder):
        return
    read = selector.decode(data)
    pictures = [Image(image.data, image.keys, image.metadata) for image in read.images]
    assert len(selector.select(pictures, device, policy).verdicts) == len(pictures)
