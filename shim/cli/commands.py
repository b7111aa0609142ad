"""The commands of olpick: where each is, and how it gets loaded.

A module of a command has `configure(commands)`, which adds the command's parser, and `execute(args) -> int`, which
gives the exit status. Only the module of the command that was asked for is imported. Other packages add commands by an
entry point of the group `olpick.commands`: the name is the command, the value its module.
"""

import importlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from olpick.shim.cli.parser import Commands

if TYPE_CHECKING:
    import argparse

GROUP: Final = "olpick.commands"

# Name, module, and the line in the list of commands.
_TABLE: Final = (
    ("run", "olpick.shim.cli.run", "run a program that loads the best device image it carries"),
    ("explain", "olpick.shim.cli.explain", "say which device image of a file is chosen, and why"),
    ("inspect", "olpick.shim.cli.inspect", "list the device images of a file"),
    ("extract", "olpick.shim.cli.extract", "write the device images of a file to files of their own"),
    ("pack", "olpick.shim.cli.pack", "write a container of device images"),
    ("controls", "olpick.shim.cli.controls", "list the settings of the library and what holds now"),
    ("lib", "olpick.shim.cli.lib", "print the path of the library, for LD_PRELOAD"),
    ("demo", "olpick.shim.cli.demo", "build small programs and show what olpick changes"),
)


class Command(Protocol):
    """What the module of a command has."""

    def configure(self, commands: Commands) -> None:
        """Adds the parser, under the command's name."""

    def execute(self, args: "argparse.Namespace") -> int:
        """Does it and gives the exit status; `OlpickError` becomes a message and a status."""


class Entry(NamedTuple):
    """One command.

    Attributes:
        name: what the user writes.
        module: where it is.
        help: its line in the list; "" when only its module knows.
    """

    name: str
    module: str
    help: str = ""

    def load(self) -> Command:
        """Imports the module.

        Raises:
            ImportError: it cannot be imported.
        """
        return cast(Command, importlib.import_module(self.module))


BUILT_IN: Final = MappingProxyType({name: Entry(name, module, line) for name, module, line in _TABLE})


def find(name: str) -> Entry | None:
    """The command of a name, or None. What is installed is only asked about a name that is not built in."""
    return BUILT_IN.get(name) or _added().get(name)


def every() -> dict[str, Entry]:
    """All commands by name: the built-in ones, then those that other packages add under names of their own."""
    return {**BUILT_IN, **{name: entry for name, entry in _added().items() if name not in BUILT_IN}}


def _added() -> dict[str, Entry]:
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: Entry(point.name, point.value) for point in points}
