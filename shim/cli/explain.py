"""`olpick explain`: which device image of a file is chosen, and why."""

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING, Final

from olpick.shim.cli import messages
from olpick.shim.cli.parser import Commands

if TYPE_CHECKING:
    from olpick.shim.explain import Report

SELECTED: Final = 0
NOTHING_FITS: Final = 1
UNREADABLE: Final = 3

_EPILOG: Final = """\
exit status:
  0  an image is selected from every file for every device
  1  somewhere none is, or a file has no offload section
  2  the arguments are wrong
  3  a file cannot be read, or is malformed and no image is selected from it

example:
  olpick explain ./app --device host --device x86-64-v2"""


def configure(commands: Commands) -> None:
    """Adds the command."""
    from olpick.elf import table

    parser = commands.add_parser(
        "explain",
        description="Says which device image of a file is chosen, why, and what is wrong with the others.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="a program, object file or container; - is standard input"
    )
    parser.add_argument(
        "--device",
        metavar="SPEC",
        action="append",
        dest="devices",
        help="choose for this machine (host), a level (x86-64-v3) or a CPU (haswell); may be repeated; default: host",
    )
    parser.add_argument(
        "--policy",
        choices=tuple(table("policy")),
        default="best",
        help="the best eligible image (default), or upstream's choice, the first that its own check accepts",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, by the schema olpick/explain/1")


def execute(args: argparse.Namespace) -> int:
    """Prints the reports; the status says whether an image is selected everywhere.

    Raises:
        DeviceError: there is no such device.
    """
    from olpick.elf import open_file
    from olpick.shim import explain

    devices = [(spec, explain.device_of(spec)) for spec in args.devices or [explain.HOST]]
    read = [open_file(name) for name in args.files]
    for contents in read:
        if contents.error and not contents.images:
            name = "standard input" if contents.input == "-" else contents.input
            named = contents.error.code == "cannot-read"
            messages.error(contents.error.message if named else f"{name}: {contents.error.message}")
    reports = [report for contents in read for report in explain.explain(contents, devices, args.policy)]
    if args.json:
        import json

        print(json.dumps(explain.document(reports), indent=2, sort_keys=True))
    else:
        readable = [report for report in reports if report.contents.images]
        for place, report in enumerate(readable):
            if place:
                print()
            explain.page(report, command=_command(report)).show(sys.stdout)
    return max(_status(report) for report in reports)


def _status(report: "Report") -> int:
    if report.selection.selected is not None:
        return SELECTED
    error = report.contents.error
    return UNREADABLE if error and error.code != "no-offload-section" else NOTHING_FITS


def _command(report: "Report") -> str:
    """How to run the file on this machine, if it is a program."""
    from olpick.shim.program import Unclear, frame

    path = report.contents.input
    if report.spec != "host" or report.contents.container != "elf" or not os.access(path, os.X_OK):
        return ""
    try:
        if not frame(path).interpreter:  # a library
            return ""
    except Unclear:
        return ""
    return f"olpick run -- {shlex.quote(path if '/' in path else f'./{path}')}"
