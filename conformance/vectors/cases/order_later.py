"""Section 4: the later steps, OLP-ORD-005 to 010."""

from typing import Final

from olpick.conformance.vectors.cases.writing import BITCODE, Group, bitcode, elf, image

__all__ = ["later_groups"]

HASWELL: Final = {"cpu": "haswell"}
SKX: Final = {"cpu": "skylake-avx512"}
ALDERLAKE: Final = {"cpu": "alderlake"}
DIAMONDRAPIDS: Final = {"cpu": "diamondrapids"}


def later_groups() -> list[Group]:
    """The groups of this module, in the order of their numbers."""
    return [_closeness(), _tokens(), _tag(), _order(), _told()]


def _closeness() -> Group:
    group = Group("OLP-ORD-005")
    lost = "eligible cpu-level 2 closeness"

    def pair(
        name: str, comment: str, worse: dict[str, str], better: dict[str, str], device: dict[str, str], *verdicts: str
    ) -> None:
        group.chooses(name, comment, [elf(**worse), elf(**better)], device, *verdicts)

    exact, level = "selected exact 1", "selected cpu-level 1"
    pair("name", "the device's name before a higher level", {"arch": "x86-64-v4"}, {"arch": "skx"}, SKX, lost, exact)
    pair(
        "name-before-more",
        "before one with the same features",
        {"arch": "raptorlake"},
        {"arch": "alderlake"},
        ALDERLAKE,
        lost,
        exact,
    )
    pair(
        "own-name",
        "the name of the other product",
        {"arch": "alderlake"},
        {"arch": "raptorlake"},
        {"cpu": "raptorlake"},
        lost,
        exact,
    )
    pair("level", "the higher level", {"arch": "x86-64-v2"}, {"arch": "x86-64-v3"}, SKX, lost, level)
    pair(
        "level-of-cpu",
        "the level that a CPU name implies",
        {"arch": "ivybridge"},
        {"arch": "x86-64-v3"},
        SKX,
        lost,
        level,
    )
    pair("number", "more features of one level", {"arch": "haswell"}, {"arch": "broadwell"}, SKX, lost, level)
    pair(
        "number-and-level",
        "a level and a CPU of that level",
        {"arch": "x86-64-v3"},
        {"arch": "haswell"},
        SKX,
        lost,
        level,
    )
    pair(
        "graniterapids",
        "the nearer of two",
        {"arch": "sapphirerapids"},
        {"arch": "graniterapids-d"},
        DIAMONDRAPIDS,
        lost,
        level,
    )
    pair(
        "unknown-last",
        "an unknown label after none",
        {"arch": "zen99"},
        {},
        SKX,
        "eligible unknown-cpu 2 closeness",
        "selected generic 1",
    )
    pair(
        "unknown-after-generic",
        "and after generic",
        {"arch": "zen99"},
        {"arch": "generic"},
        SKX,
        "eligible unknown-cpu 2 closeness",
        "selected generic 1",
    )
    pair(
        "known-over-empty",
        "a known label before none, by its features",
        {},
        {"arch": "x86-64-v2"},
        SKX,
        "eligible generic 2 closeness",
        level,
    )
    group.chooses(
        "note-counts",
        "the note counts among the features",
        [elf(), elf(3)],
        HASWELL,
        "eligible generic 2 closeness",
        level,
    )
    group.chooses(
        "note-over-number",
        "a level by the note before more features of a lower one",
        [elf(arch="ivybridge"), elf(3)],
        SKX,
        lost,
        level,
    )
    group.chooses(
        "unknown-with-note",
        "an unknown label after all, whatever its note",
        [elf(4, arch="zen99"), elf()],
        SKX,
        "eligible unknown-cpu 2 closeness",
        "selected generic 1",
    )
    group.chooses(
        "equal",
        "an empty label, generic and the baseline are equal",
        [elf(arch="generic"), elf(), elf(arch="x86-64")],
        SKX,
        "selected generic 1",
        "eligible generic 2 order",
        "eligible generic 3 order",
        flags="Negative",
    )
    group.chooses(
        "equal-features",
        "names with the same features",
        [elf(arch="emeraldrapids"), elf(arch="sapphirerapids")],
        DIAMONDRAPIDS,
        "selected cpu-level 1",
        "eligible cpu-level 2 order",
        flags="Negative",
    )
    group.chooses(
        "anonymous",
        "no name is the device's where it has none",
        [elf(arch="haswell"), elf(arch="core-avx2")],
        HASWELL | {"anonymous": True},
        "selected cpu-level 1",
        "eligible cpu-level 2 order",
        flags="Negative",
    )
    return group


def _tokens() -> Group:
    group = Group("OLP-ORD-006")
    lost = "eligible generic 2 tokens"

    def pair(name: str, comment: str, worse: str, better: str) -> None:
        group.chooses(
            name,
            comment,
            [elf(requires_features=worse), elf(requires_features=better)],
            HASWELL,
            lost,
            "selected generic 1",
        )

    pair("more", "two before one", "avx2", "avx,fma")
    pair("some", "one before none", "", "sse")
    pair("distinct", "the same token twice counts once", "avx2,avx2,avx2", "avx, fma")
    group.chooses(
        "equal",
        "as many tokens",
        [elf(requires_features="sse"), elf(requires_features="avx2")],
        HASWELL,
        "selected generic 1",
        "eligible generic 2 order",
        flags="Negative",
    )
    group.chooses(
        "no-key",
        "no key and no tokens",
        [elf(requires_features=""), elf()],
        HASWELL,
        "selected generic 1",
        "eligible generic 2 order",
        flags="Negative",
    )
    return group


def _tag() -> Group:
    group = Group("OLP-ORD-008")
    lost = "eligible generic 2 tag"

    def pair(name: str, worse: dict[str, str], better: dict[str, str]) -> None:
        group.chooses(name, "the better one last", [elf(**worse), elf(**better)], HASWELL, lost, "selected generic 1")

    def tag(value: str) -> dict[str, str]:
        return {"variant_tag": value}

    pair("optimized-none", {}, tag("optimized"))
    pair("optimized-other", tag("tuned"), tag("optimized"))
    pair("none-generic", tag("generic"), {})
    pair("other-generic", tag("generic"), tag("tuned"))
    pair("empty-generic", tag("generic"), tag(""))
    pair("case-generic", tag("generic"), tag("Optimized"))
    pair("generic-fallback", tag("fallback"), tag("generic"))
    pair("fallback-debug", tag("debug"), tag("fallback"))
    group.chooses(
        "equal",
        "none and other values are equal",
        [elf(variant_tag="zz"), elf(), elf(variant_tag="")],
        HASWELL,
        "selected generic 1",
        "eligible generic 2 order",
        "eligible generic 3 order",
        flags="Negative",
    )
    return group


def _order() -> Group:
    group = Group("OLP-ORD-009")
    group.chooses(
        "earlier", "the earlier of two", [elf(), elf()], HASWELL, "selected generic 1", "eligible generic 2 order"
    )
    group.chooses(
        "around-rejected",
        "a rejected one between them does not matter",
        [elf(arch="zen99"), image(b"?"), elf(arch="zen98")],
        HASWELL,
        "selected unknown-cpu 1",
        "rejected unknown-form",
        "eligible unknown-cpu 2 order",
    )
    group.chooses(
        "last-step",
        "only where all other steps agree",
        [elf(variant_tag="debug"), elf()],
        HASWELL,
        "eligible generic 2 tag",
        "selected generic 1",
        flags="Negative",
    )
    return group


def _told() -> Group:
    group = Group("OLP-ORD-010")
    group.chooses(
        "many",
        "every image is told its place",
        [
            image(b""),
            elf(arch="x86-64-v4"),
            elf(),
            elf(3),
            bitcode(),
            elf(4),
            elf(arch="zen99"),
            elf(arch="haswell"),
            image(BITCODE),
            elf(triple="aarch64-unknown-linux-gnu"),
            elf(requires_features="?"),
        ],
        HASWELL,
        "rejected empty-image",
        "rejected cpu-features",
        "eligible generic 3 closeness",
        "eligible cpu-level 2 closeness",
        "eligible jit 5 native",
        "rejected wrong-processor",
        "eligible unknown-cpu 4 closeness",
        "selected exact 1",
        "rejected wrong-machine",
        "rejected wrong-triple",
        "rejected malformed-constraint",
    )
    group.chooses(
        "against-the-selected",
        "the step is the one against the selected image, not against the next",
        [
            elf(arch="haswell"),
            elf(),
            elf(variant_tag="debug"),
        ],
        HASWELL,
        "selected exact 1",
        "eligible generic 2 closeness",
        "eligible generic 3 closeness",
    )
    group.chooses(
        "nothing",
        "nothing is eligible",
        [image(b""), elf(4)],
        HASWELL,
        "rejected empty-image",
        "rejected wrong-processor",
        flags="Negative",
    )
    return group
