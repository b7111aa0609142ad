"""`olpick demo`: what olpick changes, on this machine, measured."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from olpick.shim.cli import messages
from olpick.shim.cli.parser import Commands

if TYPE_CHECKING:
    from olpick.shim.demo import Trial

GOOD: Final = 0
NOT_GOOD: Final = 1
NOT_BUILT: Final = 4

_ROUNDS: Final = 5
_ROUNDS_MOST: Final = 1000
_DESCRIPTION: Final = """\
Builds two small programs with several device images each, runs them bare and under olpick, compares what they
print, and shows what is chosen from one container for several processors."""
_EPILOG: Final = """\
exit status:
  0  the programs ran under olpick and printed what they should
  1  one did not
  2  the arguments are wrong
  4  they cannot be built here; the decisions are shown all the same"""


def configure(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser("demo", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=_count,
        default=_ROUNDS,
        help=f"run each program so often in each way; default {_ROUNDS}",
    )
    parser.add_argument(
        "--keep", metavar="DIR", type=Path, help="build the programs in this folder and leave them there"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, by the schema olpick/demo/1")


def execute(args: argparse.Namespace) -> int:
    """Prints the demo.

    Raises:
        DeviceError: this machine is not one that olpick knows.
        LibraryError: there is no library to bring in.
        OSError: the folder cannot be made.
    """
    from olpick.shim import demo
    from olpick.shim.core import Device
    from olpick.shim.demo import report, toolchain

    host = Device.host()
    found: toolchain.Toolchain | None = None
    trials: tuple[Trial, ...] = ()
    try:
        with _folder(args.keep) as folder:
            found = toolchain.find()
            trials = demo.trials(found, host, folder, args.rounds, _progress)
    except toolchain.ToolchainError as error:
        found = None
        messages.error(error.message, error.hint)
    made = demo.Demo(host, found, args.rounds, trials, demo.decisions(host))
    if args.json:
        import json

        print(json.dumps(report.document(made), indent=2, sort_keys=True))
    else:
        report.page(made).show(sys.stdout)
    if found is None:
        return NOT_BUILT
    return GOOD if made.good else NOT_GOOD


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """The folder to build in: the one named, or one that is gone afterwards."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with TemporaryDirectory(prefix="olpick-demo-") as folder:
        yield Path(folder)


def _progress(text: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"olpick demo: {text}\n")


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= count <= _ROUNDS_MOST:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {_ROUNDS_MOST}")
    return count
