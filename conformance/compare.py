"""Where two answers differ, in words that can be read in a failing test."""

from collections.abc import Mapping
from dataclasses import fields

from olpick.conformance.answers import Decoded, Selection

__all__ = ["decoded", "selections"]


def decoded(expected: Decoded, actual: Decoded) -> list[str]:
    """All differences; none of what the implementation does not show."""
    made = []
    if expected.error != actual.error:
        made.append(f"error: expected {expected.error}, got {actual.error}")
    if expected.findings != actual.findings:
        made.append(f"findings: expected {expected.findings}, got {actual.findings}")
    if len(expected.images) != len(actual.images):
        made.append(f"images: expected {len(expected.images)}, got {len(actual.images)}")
    for place, (wanted, got) in enumerate(zip(expected.images, actual.images, strict=False)):
        made += _differences(f"images[{place}]", _shown(wanted, got), _shown(got, got))
    return made


def selections(expected: Selection, actual: Selection) -> list[str]:
    """All differences."""
    made = []
    for name in ("selected", "order", "first_compatible"):
        if getattr(expected, name) != getattr(actual, name):
            made.append(f"{name}: expected {getattr(expected, name)}, got {getattr(actual, name)}")
    if len(expected.verdicts) != len(actual.verdicts):
        made.append(f"verdicts: expected {len(expected.verdicts)}, got {len(actual.verdicts)}")
    for place, (wanted, got) in enumerate(zip(expected.verdicts, actual.verdicts, strict=False)):
        made += _differences(f"verdicts[{place}]", _shown(wanted, got), _shown(got, got))
    return made


def _shown(answer: object, by: object) -> dict[str, object]:
    """The fields of an answer that the other one shows."""
    names = [field.name for field in fields(by)]  # type: ignore[arg-type]
    return {name: getattr(answer, name) for name in names if name != "strings" or getattr(by, name) is not None}


def _differences(where: str, expected: Mapping[str, object], actual: Mapping[str, object]) -> list[str]:
    return [
        f"{where}.{name}: expected {_short(value)}, got {_short(actual[name])}"
        for name, value in expected.items()
        if value != actual[name]
    ]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:300]}... ({len(text)} letters)"
