"""Sections 4 and 5: the order of the eligible images, and the policies."""

import re
from collections.abc import Sequence
from typing import Final

from olpick.conformance.answers import Device, Image, Selection, Verdict
from olpick.conformance.model.facts import ELF, Facts, facts
from olpick.conformance.model.host import architecture_fits, reason, required_features
from olpick.conformance.model.tables import levels

STEPS: Final = ("native", "priority", "closeness", "tokens", "tag", "order")
TAGS: Final = {b"optimized": 4, b"generic": 2, b"fallback": 1, b"debug": 0}
PLAIN_TAG: Final = 3

Score = tuple[int | tuple[int, ...], ...]


def select(images: Sequence[Image], device: Device, policy: str) -> Selection:
    """Judge all images, rank the eligible ones and take the first of them.

    OLP-POL-001: `best` is sections 3 and 4. OLP-POL-002: `first` is upstream's loop. OLP-ORD-010: every image gets one
    verdict and one reason, eligible ones a rank, losers the step at which they lost to the selected one.
    """
    known = [facts(image) for image in images]
    accepted = [upstream_accepts(image, fact) for image, fact in zip(images, known, strict=True)]
    if policy == "first":
        reasons = [(yes, "accepted" if yes else "runtime-refuses") for yes in accepted]
        ranked = [place for place, yes in enumerate(accepted) if yes]
        scores: list[Score] = [()] * len(images)
        steps: tuple[str, ...] = ("order",)
        findings = [set(fact.findings) for fact in known]
    elif policy == "best":
        reasons = [reason(image, fact, device) for image, fact in zip(images, known, strict=True)]
        eligible = [place for place, (yes, _why) in enumerate(reasons) if yes]
        scores = [score(images[place], known[place], device) if yes else () for place, (yes, _) in enumerate(reasons)]
        ranked = sorted(eligible, key=lambda place: scores[place], reverse=True)
        steps = STEPS
        findings = [set(fact.findings) for fact in known]
        add_priority_findings(images, eligible, findings)
    else:
        raise ValueError(policy)

    selected = ranked[0] if ranked else None
    verdicts = []
    for place, fact in enumerate(known):
        lost_at = None
        if place in ranked and selected is not None and place != selected:
            lost_at = first_difference(scores[selected], scores[place], steps)
        verdicts.append(
            Verdict(
                verdict="selected" if place == selected else "eligible" if place in ranked else "rejected",
                reason=reasons[place][1],
                rank=ranked.index(place) + 1 if place in ranked else None,
                lost_at=lost_at,
                findings=frozenset(findings[place]),
                form=fact.form,
                level=fact.level,
                asks=fact.asks,
            )
        )
    return Selection(
        verdicts=tuple(verdicts),
        order=(*ranked, *(place for place in range(len(images)) if place not in ranked)),
        selected=selected,
        first_compatible=accepted.index(True) if True in accepted else None,
    )


def score(image: Image, fact: Facts, device: Device) -> Score:
    """One value a step (OLP-ORD-003 to 008), the higher the better. OLP-ORD-009: equal ones keep container order.

    Sorting is stable, so that the last step needs no value.
    """
    return (
        native(fact),
        priority(image) or 0,
        closeness(fact, device),
        len(required_features(image)),
        TAGS.get(image.strings.get(b"variant_tag", b""), PLAIN_TAG),
    )


def native(fact: Facts) -> int:
    """OLP-ORD-003: a form other than bitcode first."""
    return 0 if fact.form == "bitcode" else 1


def priority(image: Image) -> int | None:
    """OLP-ORD-004: the value of `variant_priority`; None where it is unstated or malformed."""
    value = image.strings.get(b"variant_priority", b"")
    return int(value) if re.fullmatch(rb"[0-9]{1,9}", value) else None


def add_priority_findings(images: Sequence[Image], eligible: Sequence[int], findings: Sequence[set[str]]) -> None:
    """OLP-ORD-004: `malformed-key` and `priority-unstated`, on eligible images only."""
    stated = [place for place in eligible if b"variant_priority" in images[place].strings]
    for place in eligible:
        if place in stated and priority(images[place]) is None:
            findings[place].add("malformed-key")
        if place not in stated and stated:
            findings[place].add("priority-unstated")


def closeness(fact: Facts, device: Device) -> tuple[int, int, int, int]:
    """OLP-ORD-005: the label, then the level that the features imply, then their number."""
    names_device = fact.label is not None and fact.label == device.name
    implied = max(number for number, (_name, needs) in enumerate(levels(), 1) if needs <= fact.asks)
    return int(names_device), int(fact.label_known), implied, len(fact.asks)


def first_difference(winner: Score, loser: Score, steps: Sequence[str]) -> str:
    """OLP-ORD-001: the first step that tells two images apart; `order`, the last, always does."""
    for step, one, other in zip(steps, winner, loser, strict=False):
        if one != other:
            return step
    return "order"


def upstream_accepts(image: Image, fact: Facts) -> bool:
    """OLP-POL-002: upstream's own check, and nothing else."""
    if image.metadata:
        return False
    if fact.form == "bitcode":
        return architecture_fits(image.strings.get(b"triple", b""))
    data = image.data
    if len(data) < 64 or not data.startswith(ELF) or data[4] != 2 or data[5] not in (1, 2):
        return False
    order = "little" if data[5] == 1 else "big"
    return _u16(data, 18, order) == 62 and _u16(data, 16, order) in (2, 3)


def _u16(data: bytes, at: int, order: str) -> int:
    return int.from_bytes(data[at : at + 2], "little" if order == "little" else "big")
