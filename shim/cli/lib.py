"""`olpick lib`: where the library is."""

import argparse

from olpick.shim import library
from olpick.shim.cli.parser import Commands


def configure(commands: Commands) -> None:
    """Adds the command."""
    commands.add_parser(
        "lib",
        description="Prints the path of libolpick.so. Exit status 4 when it is not installed.",
        epilog="example:\n  LD_PRELOAD=$(olpick lib) ./app",
    )


def execute(args: argparse.Namespace) -> int:  # noqa: ARG001 - every command has this form
    """Prints the path.

    Raises:
        LibraryError: there is none.
    """
    print(library.library_path())
    return 0
