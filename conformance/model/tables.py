"""The closed lists of words and the facts about processors, read from the data files that lie beside `olpick.elf`."""

import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from olpick.conformance.answers import Device


def _read(name: str) -> dict[str, Any]:
    # The place of the package without its code.
    spec = find_spec("olpick.elf")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        path = Path(folder) / "data" / name
        if path.is_file():
            return tomllib.loads(path.read_text("utf-8"))
    raise FileNotFoundError(f"{name}, a data file of olpick.elf")


@cache
def words(kind: str) -> tuple[str, ...]:
    """One closed list of `codes.toml`: `error`, `finding`, `form`, `verdict`, `reason`, `step`, `policy`, `key`."""
    return tuple(row["name"] for row in _read("codes.toml")[kind])


@cache
def meaningful_keys() -> frozenset[bytes]:
    """The keys of an entry that have a meaning (OLP-CONT-014)."""
    return frozenset(word.encode() for word in words("key"))


@cache
def _x86_64() -> dict[str, Any]:
    table: dict[str, Any] = _read("targets.toml")["x86_64"]
    return table


@cache
def features() -> frozenset[str]:
    """The names of all features (OLP-COMP-009)."""
    return frozenset(row["name"] for row in _x86_64()["feature"])


@cache
def levels() -> tuple[tuple[str, frozenset[str]], ...]:
    """The psABI levels from the lowest, each with all its features: a level includes the lower ones."""
    made: list[tuple[str, frozenset[str]]] = []
    held: frozenset[str] = frozenset()
    for row in sorted(_x86_64()["level"], key=lambda row: int(row["level"])):
        held |= frozenset(row["adds"])
        made.append((row["name"], held))
    return tuple(made)


def level_features(level: int) -> frozenset[str]:
    """What level 1 to 4 asks for."""
    return levels()[level - 1][1]


def baseline() -> frozenset[str]:
    """What every x86-64 processor has."""
    return level_features(1)


@cache
def processors() -> dict[str, frozenset[str]]:
    """Every level and CPU by its own name, with its features: those of the row it is based on and those it adds."""
    made = dict(levels())
    for row in _x86_64()["cpu"]:
        made[row["name"]] = made[row["base"]] | frozenset(row.get("adds", ()))
    return made


@cache
def _aliases() -> dict[str, str]:
    return {alias: row["name"] for row in _x86_64()["cpu"] for alias in row.get("aliases", ())}


def canonical(name: str) -> str | None:
    """The own name of a level or CPU, aliases applied (OLP-FACT-004); None if the tables have no such name."""
    name = _aliases().get(name, name)
    return name if name in processors() else None


def names() -> tuple[str, ...]:
    """Every name that a label may have, aliases too."""
    return (*processors(), *_aliases())


def device(name: str) -> Device:
    """The CPU of that name, with every feature of its row.

    Raises:
        KeyError: there is none.
    """
    own = canonical(name)
    if own is None:
        raise KeyError(name)
    return Device(own, processors()[own])
