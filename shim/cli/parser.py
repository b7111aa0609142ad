"""The parser that all commands use: no abbreviated options, errors in olpick's form."""

import argparse
from typing import Any, NoReturn, TypeAlias

from olpick.shim.cli import messages


class CommandParser(argparse.ArgumentParser):
    """An argument parser.

    Attributes:
        usage_status: the exit status when the arguments are wrong.
        failure_status: the exit status when anything else goes wrong; None when that depends on what it is.
    """

    usage_status: int = 2
    failure_status: int | None = None

    def __init__(self, *args: Any, **settings: Any) -> None:
        """As `ArgumentParser`; the description and the epilog are printed as they are written."""
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **settings)

    def error(self, message: str) -> NoReturn:
        """Says what is wrong with the arguments and ends the process."""
        messages.error(message, f"'{self.prog} --help' says what it takes")
        raise SystemExit(self.usage_status)


# What `configure` of a command's module adds its parser to.
Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
