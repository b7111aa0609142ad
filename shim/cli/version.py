"""`olpick --version`."""

import argparse
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from olpick.shim import library


class VersionAction(argparse.Action):
    """Prints what is needed to tell one installation from another, and ends the process."""

    def __init__(self, option_strings: list[str], dest: str, **settings: Any) -> None:
        """As `Action`, without an argument."""
        super().__init__(option_strings, dest, nargs=0, **settings)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Prints and ends."""
        print(describe())
        parser.exit()


def describe() -> str:
    """The versions of olpick and Python, and where the library and the interpreter are."""
    from olpick.shim.errors import LibraryError

    try:
        olpick = version("olpick")
    except PackageNotFoundError:
        olpick = "(not installed)"
    try:
        path = str(library.library_path())
    except LibraryError:
        path = "missing"
    python = ".".join(map(str, sys.version_info[:3]))
    return f"olpick {olpick}\nlibrary: {path}\npython: {python} ({sys.executable})"
