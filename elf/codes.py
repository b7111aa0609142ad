"""The closed lists of words that olpick says, read from `data/codes.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Code:
    """One word of a closed list. Fields that the list does not state are empty strings.

    Attributes:
        name: the word itself, as it stands in C, Python, JSON and test vectors.
        text: the sentence for people, lower case, without a full stop.
        severity: of a finding: `note` or `warning`.
        class_: of a reason: `C` (certain), `P` (promise) or `E` (eligible); `class` in the file.
        source: the requirement that the word belongs to.
    """

    name: str
    text: str = ""
    severity: str = ""
    class_: str = ""
    source: str = ""


@cache
def tables() -> Mapping[str, Mapping[str, Code]]:
    """Every list by its kind, in the order of the file: `error`, `finding`, `form`, `verdict`, `reason`, `step`, ..."""
    document = tomllib.loads(files("olpick.elf").joinpath("data/codes.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {kind: MappingProxyType({row["name"]: _code(row) for row in rows}) for kind, rows in document.items()}
    )


def table(kind: str) -> Mapping[str, Code]:
    """One list, from name to `Code`, in the order of the file.

    Raises:
        KeyError: there is no list of this kind.
    """
    return tables()[kind]


def _code(row: Mapping[str, str]) -> Code:
    return Code(
        name=row["name"],
        text=row.get("text", ""),
        severity=row.get("severity", ""),
        class_=row.get("class", ""),
        source=row.get("source", ""),
    )
