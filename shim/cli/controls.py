"""`olpick controls`: the settings of the library, and what holds in this environment."""

import argparse
import json
import os
import textwrap
from typing import Any

from olpick.shim.cli import messages
from olpick.shim.cli.parser import Commands
from olpick.shim.controls import Setting, effective, unknown_names

SCHEMA = "olpick/controls/1"
_WIDTH = 100


def configure(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "controls",
        description=(
            "Lists every setting of the library: what it does, the values it takes, the value that holds\n"
            "in this environment, and whether that is the default or comes from the environment."
        ),
        epilog="example:\n  OLPICK_LOG=select olpick controls --json",
    )
    parser.add_argument("--json", action="store_true", help=f"print JSON, by the schema {SCHEMA}")


def execute(args: argparse.Namespace) -> int:
    """Prints the list; warns of variables that the library will not take."""
    settings = list(effective(os.environ))
    unknown = unknown_names(os.environ)
    if args.json:
        document = {"schema": SCHEMA, "controls": [_as_json(setting) for setting in settings], "unknown": unknown}
        print(json.dumps(document, indent=2, sort_keys=True))
        return 0
    print("\n\n".join(_as_text(setting) for setting in settings))
    for setting in settings:
        if setting.problem:
            messages.warning(f"{setting.control.name}: {setting.problem}; the default holds")
    for name in unknown:
        messages.warning(f"{name}: there is no such control; it is ignored")
    return 0


def _as_text(setting: Setting) -> str:
    control = setting.control
    takes = ", ".join(control.values) if control.values else ""
    about = {
        "choice": f"one of {takes}",
        "words": f"a comma list of {takes}",
        "flag": "0 or 1",
        "path": "a path",
        "cpu": "a level such as x86-64-v3, or a CPU name such as haswell",
    }[control.type]
    value = messages.one_line(setting.value) or "(none)"
    lines = [f"{control.name} = {value}  [{setting.origin}]"]
    lines += textwrap.wrap(control.help, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    lines.append(f"  takes {about}; default {control.default or '(none)'}; olpick run {control.option}")
    return "\n".join(lines)


def _as_json(setting: Setting) -> dict[str, Any]:
    control = setting.control
    return {
        "name": control.name,
        "type": control.type,
        "values": list(control.values),
        "default": control.default,
        "option": control.option,
        "help": control.help,
        "value": setting.value,
        "origin": setting.origin,
        "problem": setting.problem or None,
    }
