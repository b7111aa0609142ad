"""Section 4."""

from typing import Final

from olpick.conformance.vectors.cases.order_later import later_groups
from olpick.conformance.vectors.cases.writing import Group, bitcode, elf

__all__ = ["groups"]

HASWELL: Final = {"cpu": "haswell"}
ALDERLAKE: Final = {"cpu": "alderlake"}


def groups() -> list[Group]:
    """All groups of the section, in the order of their numbers."""
    return [_first_step(), _order_free(), _native(), _priority(), *later_groups()]


def _first_step() -> Group:
    group = Group("OLP-ORD-001")
    group.chooses(
        "priority-over-closeness",
        "an earlier step decides",
        [elf(arch="haswell", variant_priority="1"), elf(variant_priority="2")],
        HASWELL,
        "eligible exact 2 priority",
        "selected generic 1",
    )
    group.chooses(
        "closeness-over-tag",
        "an earlier step decides",
        [elf(variant_tag="optimized"), elf(arch="haswell", variant_tag="debug")],
        HASWELL,
        "eligible generic 2 closeness",
        "selected exact 1",
    )
    group.chooses(
        "tokens-over-tag",
        "an earlier step decides",
        [elf(variant_tag="optimized"), elf(requires_features="avx")],
        HASWELL,
        "eligible generic 2 tokens",
        "selected generic 1",
    )
    group.chooses(
        "strict",
        "every two are told apart",
        [elf(), elf(), elf()],
        HASWELL,
        "selected generic 1",
        "eligible generic 2 order",
        "eligible generic 3 order",
        flags="Negative",
    )
    return group


def _order_free() -> Group:
    group = Group("OLP-ORD-002")
    low, high, bad = elf(arch="x86-64-v2"), elf(arch="x86-64-v3"), elf(arch="x86-64-v4")
    lower, best = "eligible cpu-level 2 closeness", "selected cpu-level 1"
    group.chooses("one-way", "the better one last", [low, high], ALDERLAKE, lower, best)
    group.chooses("other-way", "the better one first", [high, low], ALDERLAKE, best, lower)
    group.chooses(
        "ineligible-first",
        "an ineligible one before them",
        [bad, low, high],
        ALDERLAKE,
        "rejected cpu-features",
        lower,
        best,
    )
    group.chooses("loser-gone", "without the loser", [high], ALDERLAKE, best)
    group.chooses(
        "ineligible-priority",
        "nor by its priority",
        [elf(arch="x86-64-v4", variant_priority="999"), low, high],
        ALDERLAKE,
        "rejected cpu-features",
        lower,
        best,
    )
    group.chooses(
        "equal",
        "images that are equal but for their place keep it",
        [low, low],
        ALDERLAKE,
        best,
        "eligible cpu-level 2 order",
        flags="Negative",
    )
    return group


def _native() -> Group:
    group = Group("OLP-ORD-003")
    group.chooses(
        "before-bitcode", "a host ELF", [bitcode(), elf()], HASWELL, "eligible jit 2 native", "selected generic 1"
    )
    group.chooses(
        "over-priority",
        "whatever the priority",
        [bitcode(arch="haswell", variant_priority="9"), elf(arch="zen99", variant_priority="0")],
        HASWELL,
        "eligible jit 2 native",
        "selected unknown-cpu 1",
    )
    group.chooses(
        "alone", "bitcode where there is nothing else", [bitcode()], HASWELL, "selected jit 1", flags="Negative"
    )
    group.chooses(
        "two-bitcodes",
        "not among bitcodes",
        [bitcode(), bitcode(arch="haswell")],
        HASWELL,
        "eligible jit 2 closeness",
        "selected jit 1",
        flags="Negative",
    )
    return group


def _priority() -> Group:
    group = Group("OLP-ORD-004")
    lost = "eligible generic 2 priority"
    for name, low, high in (
        ("plain", "1", "2"),
        ("by-value", "9", "10"),
        ("leading-zeros", "000000008", "9"),
        ("largest", "999999998", "999999999"),
    ):
        group.chooses(
            name,
            f"{low} and {high}",
            [elf(variant_priority=low), elf(variant_priority=high)],
            HASWELL,
            lost,
            "selected generic 1",
        )
    group.chooses(
        "unstated",
        "it counts as 0",
        [elf(), elf(variant_priority="1")],
        HASWELL,
        f"{lost} +priority-unstated",
        "selected generic 1",
    )
    group.chooses(
        "unstated-and-0",
        "0 and unstated are equal",
        [elf(), elf(variant_priority="0")],
        HASWELL,
        "selected generic 1 +priority-unstated",
        "eligible generic 2 order",
        flags="Negative",
    )
    group.chooses(
        "nowhere",
        "none has the key",
        [elf(), elf()],
        HASWELL,
        "selected generic 1",
        "eligible generic 2 order",
        flags="Negative",
    )
    for name, value in (
        ("empty", ""),
        ("ten-digits", "1000000000"),
        ("ten-zeros", "0000000001"),
        ("negative", "-1"),
        ("plus", "+1"),
        ("hex", "0x10"),
        ("space", " 1"),
        ("newline", "1\n"),
        ("fraction", "1.0"),
        ("word", "high"),
        ("other-digits", "\u0661"),
    ):
        group.chooses(
            name,
            f"{value!r} is malformed and counts as 0",
            [elf(variant_priority=value), elf(variant_priority="1")],
            HASWELL,
            f"{lost} +malformed-key",
            "selected generic 1",
            flags="Negative",
        )
    group.chooses(
        "malformed-states",
        "a malformed one makes the others unstated",
        [elf(), elf(variant_priority="x")],
        HASWELL,
        "selected generic 1 +priority-unstated",
        "eligible generic 2 order +malformed-key",
    )
    group.chooses(
        "ineligible-states",
        "an ineligible one does not",
        [elf(), elf(arch="x86-64-v4", variant_priority="1")],
        HASWELL,
        "selected generic 1",
        "rejected cpu-features",
        flags="Negative",
    )
    group.chooses(
        "ineligible-malformed",
        "nor has it the finding",
        [elf(), elf(arch="x86-64-v4", variant_priority="x")],
        HASWELL,
        "selected generic 1",
        "rejected cpu-features",
        flags="Negative",
    )
    group.chooses(
        "ineligible-unstated",
        "nor this one",
        [elf(arch="x86-64-v4"), elf(variant_priority="1")],
        HASWELL,
        "rejected cpu-features",
        "selected generic 1",
        flags="Negative",
    )
    return group
