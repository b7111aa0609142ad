"""What the cases are written with."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from olpick.conformance.builders import Binary, Entry, Packed, shared_object

__all__ = [
    "BITCODE",
    "Group",
    "Picture",
    "bitcode",
    "elf",
    "holds",
    "image",
    "join",
    "one",
    "word",
]

BITCODE: Final = b"\x42\x43\xc0\xde" + bytes(4)

Picture = tuple[bytes, dict[str, str]]
"""An image and its strings."""

Json = dict[str, Any]


def image(data: bytes, /, **strings: str) -> Picture:
    """An image with these strings."""
    return data, strings


def elf(level: int = 0, /, **strings: str) -> Picture:
    """A well-formed host image, whose note asks for that level."""
    return shared_object(level), strings


def bitcode(triple: str = "x86_64-unknown-linux-gnu", **strings: str) -> Picture:
    """Bitcode, which needs a triple."""
    return BITCODE, {"triple": triple, **strings}


def join(*binaries: Binary | Packed | bytes) -> bytes:
    """Binaries one after another, each at a multiple of 8; bytes as they are."""
    made = b""
    for binary in binaries:
        made += binary if isinstance(binary, bytes) else bytes(-len(made) % 8) + binary.build()
    return made


def holds(data: bytes, offset: int | None, strings: Json | None = None, **other: Any) -> Json:
    """What a reader says of an image: its bytes, where they stand, and its strings."""
    told = {"offset": offset, "size": len(data), "sha256": sha256(data).hexdigest(), "strings": strings or {}}
    return told | {"findings": []} | other


def word(text: str) -> Json:
    """A verdict in short: `selected exact 1`, `eligible generic 2 closeness`, `rejected wrong-triple`.

    After it may stand findings, ` +label-mismatch`, and facts, ` =cubin`, ` @3`.
    """
    parts = text.split()
    plain = [part for part in parts if part[0] not in "+=@"]
    made: Json = {"verdict": plain[0], "reason": plain[1], "rank": None, "lost_at": None}
    if len(plain) > 2:
        made["rank"] = int(plain[2])
    if len(plain) > 3:
        made["lost_at"] = plain[3]
    made["findings"] = sorted(part[1:] for part in parts if part[0] == "+")
    for part in parts:
        if part[0] == "=":
            made["form"] = part[1:]
        elif part[0] == "@":
            made["level"] = int(part[1:])
    return made


@dataclass
class Group:
    """The vectors of one requirement."""

    requirement: str
    tests: list[Json] = field(default_factory=list)

    def reads(
        self,
        name: str,
        comment: str,
        container: bytes,
        *images: Json,
        error: tuple[str, int] | None = None,
        finding: tuple[str, int] | None = None,
        findings: Sequence[tuple[str, int]] = (),
        flags: str = "",
        reading: Json | None = None,
        open_to_reading: bool = False,
    ) -> None:
        """A container and what it holds; what is not stated of an image is not asked."""
        found = [finding] if finding else findings
        expect: Json = {
            "error": {"code": error[0], "offset": error[1]} if error else None,
            "findings": [{"code": code, "offset": offset} for code, offset in found],
            "images": list(images),
        }
        result = "acceptable" if open_to_reading else "invalid" if error else "valid"
        self._add(name, comment, flags, result, container, None, "best", expect, reading)

    def chooses(
        self,
        name: str,
        comment: str,
        images: Sequence[Picture],
        device: Json,
        *verdicts: str,
        policy: str = "best",
        first: int | None = -1,
        flags: str = "",
        container: bytes | None = None,
        open_to_reading: bool = False,
    ) -> None:
        """Images, a CPU, and the verdicts in short. `first` is the image that upstream takes, where it is asked.

        The images stand in version 1 binaries unless a `container` is given.
        """
        plain = join(
            *(
                Binary(Entry(data, tuple((key.encode(), value.encode()) for key, value in strings.items())))
                for data, strings in images
            )
        )
        told = [word(verdict) for verdict in verdicts]
        chosen = [place for place, verdict in enumerate(told) if verdict["verdict"] == "selected"]
        expect: Json = {"error": None, "findings": [], "selected": chosen[0] if chosen else None, "verdicts": told}
        if first != -1:
            expect["first_compatible"] = first
        result = "acceptable" if open_to_reading else "valid" if chosen else "invalid"
        self._add(name, comment, flags, result, plain if container is None else container, device, policy, expect)

    def _add(
        self,
        name: str,
        comment: str,
        flags: str,
        result: str,
        container: bytes,
        device: Json | None,
        policy: str,
        expect: Json,
        reading: Json | None = None,
    ) -> None:
        self.tests.append(
            {
                "id": f"{self.requirement}/{name}",
                "comment": comment,
                "flags": flags.split() + (["Ambiguous"] if result == "acceptable" else []),
                "result": result,
                "container": b64encode(container).decode("ascii"),
                **({"reading": reading} if reading else {}),
                "device": device,
                "policy": policy,
                "expect": expect,
            }
        )


def one(
    group: Group, name: str, comment: str, picture: Picture, device: dict[str, Any], verdict: str, flags: str = ""
) -> None:
    """One image on one CPU; a rejection is a negative case."""
    if verdict.startswith("rejected") and "Negative" not in flags:
        flags = f"Negative {flags}"
    group.chooses(name, comment, [picture], device, verdict, flags=flags)
