"""The facts about x86-64 CPUs in `data/targets.toml`: features, levels and CPU names, and what a running CPU is called.

The C tables are made from the same rows; indexes there are places here.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

ALL_MODELS: Final = (0, 255)


@dataclass(frozen=True, slots=True)
class Field:
    """Some bits of a CPUID answer.

    Attributes:
        leaf: what EAX asks for.
        subleaf: what ECX asks for.
        register: `eax`, `ebx`, `ecx` or `edx`.
        bit: the lowest bit, 0 to 31.
        width: the number of bits.
    """

    leaf: int
    subleaf: int
    register: str
    bit: int
    width: int


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that an image can ask for.

    Attributes:
        name: LLVM's name.
        field: where CPUID tells of it.
        least: the smallest value of the field with which the CPU has it.
        given: a bit that must be set too, or None.
        xcr0: bits of XCR0 that the operating system must have set.
    """

    name: str
    field: Field
    least: int
    given: Field | None
    xcr0: int


@dataclass(frozen=True, slots=True)
class Cpu:
    """A psABI level or a CPU, as a label or the user names it.

    Attributes:
        name: the name that olpick says.
        aliases: other names of the same processor.
        features: all of them, those of the baseline too.
        level: 1 to 4 for x86-64 to x86-64-v4; 0 for a CPU.
    """

    name: str
    aliases: tuple[str, ...]
    features: frozenset[str]
    level: int


@dataclass(frozen=True, slots=True)
class Model:
    """What some running CPUs are called.

    Attributes:
        vendor: the 12 characters of CPUID leaf 0.
        family: with the extended family.
        models: first and last of each range of model numbers, with the extended model.
        needs: a feature without which this row does not fit, or the empty string.
        cpu: the name of a `Cpu`.
    """

    vendor: str
    family: int
    models: tuple[tuple[int, int], ...]
    needs: str
    cpu: str


@cache
def features() -> Mapping[str, Feature]:
    """Every feature that counts, by name, in the order of the bits in C."""
    return MappingProxyType({row["name"]: _feature(row) for row in _rows("feature")})


@cache
def not_counted() -> frozenset[str]:
    """What LLVM calls a feature and olpick leaves out of account."""
    return frozenset(_table()["not_counted"])


@cache
def cpus() -> Mapping[str, Cpu]:
    """Levels, lowest first, and then CPUs, by name, without aliases; in the order of the indexes in C."""
    found: dict[str, Cpu] = {}
    lower: frozenset[str] = frozenset()
    for row in _rows("level"):
        lower |= frozenset(row["adds"])
        found[row["name"]] = Cpu(row["name"], (), lower, row["level"])
    for row in _rows("cpu"):
        has = found[row["base"]].features | frozenset(row.get("adds", ()))
        found[row["name"]] = Cpu(row["name"], tuple(row.get("aliases", ())), has, 0)
    return MappingProxyType(found)


@cache
def names() -> Mapping[str, Cpu]:
    """Every name and alias, with what it stands for."""
    return MappingProxyType({name: cpu for cpu in cpus().values() for name in (cpu.name, *cpu.aliases)})


def levels() -> tuple[Cpu, ...]:
    """The psABI levels, lowest first."""
    return tuple(cpu for cpu in cpus().values() if cpu.level)


def level_of(has: Iterable[str]) -> int:
    """The highest psABI level whose features are all among these; 0 if not even the baseline's are."""
    present = frozenset(has)
    return max((level.level for level in levels() if level.features <= present), default=0)


@cache
def models() -> tuple[Model, ...]:
    """What running CPUs are called; the first row that fits holds."""
    return tuple(_model(row) for row in _rows("model"))


@cache
def _table() -> dict[str, Any]:
    text = files("olpick.elf").joinpath("data/targets.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)["x86_64"]
    return table


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _table()[name]
    return rows


def _field(row: Mapping[str, Any]) -> Field:
    return Field(row["leaf"], row.get("subleaf", 0), row["register"], row["bit"], row.get("width", 1))


def _feature(row: Mapping[str, Any]) -> Feature:
    given = _field(row["given"]) if "given" in row else None
    return Feature(row["name"], _field(row), row.get("least", 1), given, row.get("xcr0", 0))


def _model(row: Mapping[str, Any]) -> Model:
    ranges = [(entry, entry) if isinstance(entry, int) else tuple(entry) for entry in row.get("models", [ALL_MODELS])]
    return Model(row["vendor"], row["family"], tuple(ranges), row.get("needs", ""), row["cpu"])
