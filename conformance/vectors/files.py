"""The checked-in vectors."""

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from olpick.conformance import model
from olpick.conformance.answers import Device, Reading

__all__ = ["NAMES", "Vector", "device_of", "load", "vectors"]

NAMES: Final = ("container", "facts", "compatibility", "order", "policies")
"""The files, one a section."""


@dataclass(frozen=True)
class Vector:
    """One vector.

    Attributes:
        id: unique among all of them: the requirement and a word.
        requirement: the number that it belongs to.
        comment: what it shows.
        flags: words that the file explains in its `notes`.
        result: `valid`, `invalid`, or `acceptable` where the specification can be read in more than one way.
        container: the bytes.
        reading: how compressed binaries are to be read.
        device: the CPU to choose for; None where there is nothing to choose.
        policy: a word of the list `policy`.
        expect: the answer, as far as it is stated.
    """

    id: str
    requirement: str
    comment: str
    flags: tuple[str, ...]
    result: str
    container: bytes
    reading: Reading
    device: Device | None
    policy: str
    expect: Mapping[str, Any]


def device_of(described: Mapping[str, Any] | None) -> Device | None:
    """The CPU that a vector describes: that of a name, with or without some features, perhaps not known by its name."""
    if described is None:
        return None
    named = model.device(described["cpu"])
    features = (named.features | set(described.get("with", ()))) - set(described.get("without", ()))
    return Device(None if described.get("anonymous", False) else named.name, features)


def load(name: str) -> dict[str, Any]:
    """One file as it is."""
    text = files("olpick.conformance.vectors").joinpath(f"{name}.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def vectors() -> list[Vector]:
    """All vectors of all files."""
    return [
        Vector(
            id=test["id"],
            requirement=group["requirement"],
            comment=test["comment"],
            flags=tuple(test["flags"]),
            result=test["result"],
            container=b64decode(test["container"]),
            reading=Reading(**test.get("reading", {})),
            device=device_of(test["device"]),
            policy=test["policy"],
            expect=test["expect"],
        )
        for name in NAMES
        for group in load(name)["groups"]
        for test in group["tests"]
    ]
