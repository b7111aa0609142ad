"""Whether an implementation gives the answer of a vector."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from olpick.conformance.answers import Decoded, DecodedImage, Device, Image, Reading, Selection, Verdict
from olpick.conformance.model.tables import meaningful_keys
from olpick.conformance.vectors.files import Vector

__all__ = ["disagreements"]

Decode = Callable[[bytes, Reading], Decoded]
Select = Callable[[Sequence[Image], Device, str], Selection]


def disagreements(test: Vector, decode: Decode, select: Select | None = None) -> list[str]:
    """Where the answer differs from the one that the vector states; without `select`, what it reads alone."""
    read = decode(test.container, test.reading)
    made = _decoded(test.expect, read)
    if select is not None and test.device is not None:
        images = [
            Image(
                image.data,
                image.keys if image.strings is None else image.strings,
                image.metadata,
            )
            for image in read.images
        ]
        made += _selection(test.expect, select(images, test.device, test.policy))
    return made


def _decoded(expect: Mapping[str, Any], read: Decoded) -> list[str]:
    made = []
    error = {"code": read.error.code, "offset": read.error.offset} if read.error else None
    findings = [{"code": finding.code, "offset": finding.offset} for finding in read.findings]
    made += _differ("error", expect["error"], error)
    made += _differ("findings", expect["findings"], findings)
    if "images" in expect:
        made += _differ("number of images", len(expect["images"]), len(read.images))
        for place, (wanted, got) in enumerate(zip(expect["images"], read.images, strict=False)):
            made += _parts(f"images[{place}]", wanted, _image(wanted, got))
    return made


def _image(wanted: Mapping[str, Any], image: DecodedImage) -> dict[str, Any]:
    shown: dict[str, Any] = {name: getattr(image, name) for name in ("binary", "offset", "size", "kind", "producer")}
    shown |= {
        "flags": image.flags,
        "metadata": image.metadata,
        "findings": sorted(image.findings),
        "sha256": image.digest,
    }
    strings = _text(image.keys if image.strings is None else image.strings)
    if image.strings is None:
        # The other keys are not shown, so they are taken as expected.
        strings |= {key: value for key, value in wanted["strings"].items() if key.encode() not in meaningful_keys()}
    return shown | {"strings": strings}


def _text(strings: Mapping[bytes, bytes]) -> dict[str, str]:
    return {str(key, "utf-8", "replace"): str(value, "utf-8", "replace") for key, value in strings.items()}


def _selection(expect: Mapping[str, Any], made: Selection) -> list[str]:
    differ = _differ("selected", expect["selected"], made.selected)
    if "first_compatible" in expect:
        differ += _differ("first_compatible", expect["first_compatible"], made.first_compatible)
    differ += _differ("number of verdicts", len(expect["verdicts"]), len(made.verdicts))
    for place, (wanted, got) in enumerate(zip(expect["verdicts"], made.verdicts, strict=False)):
        differ += _parts(f"verdicts[{place}]", wanted, _verdict(got))
    return differ


def _verdict(verdict: Verdict) -> dict[str, Any]:
    names = ("verdict", "reason", "rank", "lost_at", "form", "level")
    return {name: getattr(verdict, name) for name in names} | {"findings": sorted(verdict.findings)}


def _parts(where: str, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    return [line for name, value in expected.items() for line in _differ(f"{where}.{name}", value, actual[name])]


def _differ(where: str, expected: object, actual: object) -> list[str]:
    return [] if expected == actual else [f"{where}: expected {expected!r}, got {actual!r}"]
