"""The controls of the library: the `OLPICK_*` variables, what they take, and what holds now.

The table is `data/controls.toml`; the library's own parser is made from it too and takes the same values.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from os import fsencode
from pathlib import Path
from types import MappingProxyType
from typing import Final

PREFIX: Final = "OLPICK_"
FLAGS: Final = MappingProxyType(
    {"0": False, "1": True, "false": False, "true": True, "no": False, "yes": True, "off": False, "on": True}
)
# The library keeps PATH_MAX bytes, and 16 of them for the process id that it adds.
PATH_BYTES: Final = 4096 - 16


@dataclass(frozen=True, slots=True)
class Control:
    """One control.

    Attributes:
        name: of the environment variable.
        type: `choice` (one of `values`), `words` (a comma list of `values`), `flag`, `path` or `cpu`.
        default: the value that holds when the variable is absent or empty; "" when there is none.
        option: of `olpick run`.
        help: what it does, lower case, without a full stop.
        values: the words that a choice or a list takes.
    """

    name: str
    type: str
    default: str
    option: str
    help: str
    values: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Its name in Python: the option's, with underscores."""
        return self.option.removeprefix("--").replace("-", "_")

    def problem(self, value: str) -> str:
        """Why the library does not take a value, or "" when it does. The empty value is as good as none, so it does."""
        if not value:
            return ""
        match self.type:
            case "choice":
                wrong = value not in self.values
                return f"'{value}' is not one of {', '.join(self.values)}" if wrong else ""
            case "words":
                unknown = [word for word in value.split(",") if word not in self.values]
                return f"'{unknown[0]}' is not one of {', '.join(self.values)}" if unknown else ""
            case "flag":
                return f"'{value}' is not one of {', '.join(FLAGS)}" if value.lower() not in FLAGS else ""
            case "path":
                return "the path is too long" if len(fsencode(value)) >= PATH_BYTES else ""
            case "cpu":
                return "" if _is_cpu(value) else f"'{value}' is no level or CPU that olpick knows"
            case _:
                raise AssertionError(f"{self.name} has the unknown type {self.type}")


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for one control.

    Attributes:
        control: the control.
        value: the value that holds.
        origin: `default`, `environment` or `option`.
        problem: why the value of the environment is not taken, or "".
    """

    control: Control
    value: str
    origin: str
    problem: str = ""


@cache
def all_controls() -> tuple[Control, ...]:
    """Every control, in the order of the table."""
    document = tomllib.loads((Path(__file__).parent / "data" / "controls.toml").read_text(encoding="utf-8"))
    return tuple(
        Control(
            name=row["name"],
            type=row["type"],
            default=row["default"],
            option=row["option"],
            help=row["help"],
            values=tuple(row.get("values", ())),
        )
        for row in document["control"]
    )


def effective(environment: Mapping[str, str], options: Mapping[str, str] = MappingProxyType({})) -> Iterator[Setting]:
    """What holds for each control; an option comes before the environment, and that before the default.

    Args:
        environment: variables by name; what is not of a control is passed over.
        options: values by the name of the control, known to be good.
    """
    for control in all_controls():
        given = environment.get(control.name, "")
        problem = control.problem(given)
        if control.name in options:
            yield Setting(control, options[control.name], "option", problem)
        elif given and not problem:
            yield Setting(control, given, "environment")
        else:
            yield Setting(control, control.default, "default", problem)


def unknown_names(environment: Mapping[str, str]) -> list[str]:
    """The variables that look like a control's and are none; the library warns of them."""
    known = {control.name for control in all_controls()}
    given = (name for name, value in environment.items() if value)
    return sorted(name for name in given if name.startswith(PREFIX) and name not in known)


def variables(settings: Mapping[str, str | bool]) -> dict[str, str]:
    """The environment variables that make settings hold.

    Args:
        settings: from the name of an option, with underscores (`log_file`), to its value; a bool for a flag.

    Raises:
        ControlError: there is no such control, or it does not take the value.
    """
    by_key = {control.key: control for control in all_controls()}
    made = {}
    for key, given in settings.items():
        value = str(int(given)) if isinstance(given, bool) else given
        if key not in by_key:
            from olpick.shim.errors import ControlError

            raise ControlError("no-control", f"there is no control '{key}'", f"there are {', '.join(by_key)}")
        control = by_key[key]
        if problem := control.problem(value):
            from olpick.shim.errors import ControlError

            raise ControlError("bad-value", f"{key}: {problem}")
        # The program may go to another folder before the library opens the file.
        made[control.name] = str(Path(value).absolute()) if control.type == "path" and value else value
    return made


def _is_cpu(name: str) -> bool:
    from olpick.elf.targets import names  # a large table, and few runs name a CPU

    return name in names()
