"""Section 3: the keys that constrain, OLP-COMP-008 to 010."""

from typing import Any, Final

from olpick.conformance.vectors.cases.writing import Group, bitcode, elf, one

__all__ = ["keys_groups"]

HASWELL: Final[dict[str, Any]] = {"cpu": "haswell"}
DIAMONDRAPIDS: Final = {"cpu": "diamondrapids"}


def keys_groups() -> list[Group]:
    """The groups of this module, in the order of their numbers."""
    return [*_constraints(), _other_keys()]


def _constraints() -> list[Group]:
    malformed, missing = Group("OLP-COMP-008"), Group("OLP-COMP-009")
    for name, value in (
        ("empty", ""),
        ("one", "avx2"),
        ("two", "avx2,fma"),
        ("spaces", " avx2 ,\tfma\t"),
        ("twice", "avx2,avx2"),
        ("dots", "sse4.1"),
    ):
        one(malformed, name, f"{value!r}", elf(requires_features=value), HASWELL, "selected generic 1")
    for name, value in (
        ("comma", ","),
        ("trailing", "avx2,"),
        ("leading", ",avx2"),
        ("double", "avx2,,fma"),
        ("blank", " "),
        ("blank-token", "avx2, "),
        ("upper", "AVX2"),
        ("inner-space", "avx2 fma"),
        ("plus", "+avx2"),
        ("semicolon", "avx2;fma"),
        ("newline", "avx2\n"),
        ("umlaut", "avx\u00fc"),
    ):
        one(malformed, name, f"{value!r}", elf(requires_features=value), HASWELL, "rejected malformed-constraint")
    one(
        malformed,
        "before-missing",
        "it is malformed after a token that is missing",
        elf(requires_features="amx-tile,"),
        HASWELL,
        "rejected malformed-constraint",
    )

    one(missing, "had", "the device has it", elf(requires_features="avx2"), HASWELL, "selected generic 1")
    one(
        missing,
        "avx10",
        "the device has them",
        elf(requires_features="avx10.2,egpr,amx-fp8"),
        DIAMONDRAPIDS,
        "selected generic 1",
    )
    for name, value, device in (
        ("lacking", "avx512f", HASWELL),
        ("one-of-two", "avx2,avx512f", HASWELL),
        ("unknown", "warp-speed", DIAMONDRAPIDS),
        ("level", "x86-64-v2", DIAMONDRAPIDS),
        ("cpu", "haswell", HASWELL),
        ("other-spelling", "sse4_1", HASWELL),
        ("not-counted", "xsave", HASWELL),
        ("not-enabled", "avx2", HASWELL | {"without": ["avx2"]}),
    ):
        one(missing, name, f"{value!r}", elf(requires_features=value), device, "rejected missing-feature")
    one(missing, "bitcode", "bitcode too", bitcode(requires_features="avx512f"), HASWELL, "rejected missing-feature")
    return [malformed, missing]


def _other_keys() -> Group:
    group = Group("OLP-COMP-010")
    one(group, "unknown", "a key without a meaning", elf(requires_moon="full"), HASWELL, "selected generic 1")
    one(group, "min-sm", "min_sm", elf(min_sm="90"), HASWELL, "selected generic 1")
    one(group, "min-gfx", "min_gfx, malformed", elf(min_gfx=""), HASWELL, "selected generic 1")
    one(group, "case", "keys are compared in full", elf(Requires_features="avx512f"), HASWELL, "selected generic 1")
    one(
        group,
        "known",
        "a key with a meaning does constrain",
        elf(min_sm="1", requires_features="avx512f"),
        HASWELL,
        "rejected missing-feature",
    )
    return group
