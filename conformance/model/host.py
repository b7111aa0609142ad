"""Section 3: whether an image fits a CPU, and why not."""

from typing import Final

from olpick.conformance.answers import Device, Image
from olpick.conformance.model.facts import Facts
from olpick.conformance.model.tables import baseline, level_features, processors

TOKEN_LETTERS: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")


class MalformedConstraintError(Exception):
    """The value of a must-check key does not parse."""


def reason(image: Image, facts: Facts, device: Device) -> tuple[bool, str]:
    """Whether the image is eligible, and the one reason."""
    refusal = why_not(image, facts, device)
    return (False, refusal) if refusal else (True, closeness(facts, device))


def why_not(image: Image, facts: Facts, device: Device) -> str | None:
    """The first rule of OLP-COMP-001 to 009 that fails. OLP-COMP-010: no other key is looked at."""
    triple = image.strings.get(b"triple", b"")
    if image.metadata:
        return "metadata-only"  # 001
    if facts.form == "empty":
        return "empty-image"  # 001
    if facts.form in ("unknown", "fatbin", "clang-bundle", "compressed-bundle", "offload-binary"):
        return "unknown-form"  # 002
    if facts.form == "host-elf" and not facts.well_formed:
        return "malformed-image"  # 003
    if triple and not triple_fits(triple):
        return "wrong-triple"  # 004
    if facts.form not in ("host-elf", "bitcode") or (facts.form == "bitcode" and not triple):
        return "wrong-machine"  # 005
    if facts.level and not level_features(facts.level) <= device.features:
        return "wrong-processor"  # 006
    if facts.label is not None and not processors()[facts.label] <= device.features:
        return "cpu-features"  # 007
    try:
        wanted = required_features(image)
    except MalformedConstraintError:
        return "malformed-constraint"  # 008
    if not wanted <= {feature.encode() for feature in device.features}:
        return "missing-feature"  # 009
    return None


def closeness(facts: Facts, device: Device) -> str:
    """The end of section 3: how closely an eligible image fits."""
    if facts.form == "bitcode":
        return "jit"
    if not facts.label_known:
        return "unknown-cpu"
    if facts.label is not None and facts.label == device.name:
        return "exact"
    return "generic" if facts.asks <= baseline() else "cpu-level"


def split_triple(triple: bytes) -> tuple[bytes, bytes, bytes]:
    """OLP-COMP-004: the architecture, the system and the environment of a triple."""
    parts = triple.split(b"-", 3)
    if len(parts) == 3 and parts[1] == b"linux":
        return parts[0], parts[1], parts[2]
    architecture, _vendor, system, environment = [*parts, b"", b"", b""][:4]
    return architecture, system, environment


def architecture_fits(triple: bytes) -> bool:
    """OLP-COMP-004 and OLP-POL-002: whether a triple is one of this architecture."""
    return split_triple(triple)[0] in (b"x86_64", b"amd64")


def triple_fits(triple: bytes) -> bool:
    """OLP-COMP-004: whether a triple is one of this machine's."""
    _architecture, system, environment = split_triple(triple)
    return (
        architecture_fits(triple)
        and system.rstrip(b"0123456789.") in (b"", b"unknown", b"linux")
        and environment in (b"", b"unknown", b"llvm", b"gnu")
    )


def required_features(image: Image) -> frozenset[bytes]:
    """OLP-COMP-008: the tokens of `requires_features`.

    Raises:
        MalformedConstraintError: one is empty or has a letter that it must not have.
    """
    value = image.strings.get(b"requires_features", b"")
    if value == b"":
        return frozenset()
    tokens = [token.strip(b" \t") for token in value.split(b",")]
    for token in tokens:
        if not token or not TOKEN_LETTERS.issuperset(token):
            raise MalformedConstraintError
    return frozenset(tokens)
