"""The command `olpick`."""

import os
import sys
from collections.abc import Sequence
from itertools import takewhile

from olpick.shim.cli import commands, messages
from olpick.shim.cli.parser import CommandParser

INPUT = 3  # exit status: an input is unreadable or malformed
ENVIRONMENT = 4  # exit status: something that olpick needs is not here
INTERRUPTED = 130
NO_READER = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and gives its exit status; `olpick run` only comes back when it could not start the program.

    Args:
        arguments: without the name of the command itself; by default those of the process.
    """
    try:
        try:
            status = _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        except SystemExit as end:  # how argparse ends
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return NO_READER
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _forget_output()
        messages.error(f"cannot write the output: {os.strerror(error.errno or 0).lower()}")
        return ENVIRONMENT
    return status


def _dispatch(given: list[str]) -> int:
    leading = list(takewhile(lambda word: word.startswith("-"), given))
    if leading or not given:
        top = _top_parser()
        top.parse_args(leading)
        top.error("no command given")
    name = given[0]
    entry = commands.find(name)
    top = CommandParser(prog="olpick")
    if entry is None:
        top.error(f"there is no command '{name}'")
    parsers = top.add_subparsers()
    try:
        command = entry.load()
        command.configure(parsers)
    # What another package adds may fail in any way.
    except Exception as error:
        return _failed(error, top)
    parser = parsers.choices[name]
    try:
        return command.execute(parser.parse_args(given[1:]))
    except BrokenPipeError:
        raise
    except Exception as error:
        return _failed(error, parser)


def _failed(error: Exception, parser: CommandParser) -> int:
    """Says what a command raised, and gives the exit status."""
    from olpick.elf.errors import DecodeError, OlpickError

    if isinstance(error, OlpickError):
        messages.error(str(error), getattr(error, "hint", ""))
        status: int = INPUT if isinstance(error, DecodeError) else getattr(error, "status", INPUT)
        special: int | None = getattr(error, "run_status", parser.failure_status)
    elif isinstance(error, OSError):
        # What has no file name is standard output, as a rule.
        about = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        messages.error(f"{about}{(error.strerror or str(error)).lower()}")
        status, special = INPUT if about else ENVIRONMENT, parser.failure_status
    else:
        import traceback

        traceback.print_exception(error)
        messages.error(f"internal error: {type(error).__name__}: {error}", "this is a bug of olpick; please report it")
        status, special = ENVIRONMENT, parser.failure_status
    return status if parser.failure_status is None or special is None else special


def _top_parser() -> CommandParser:
    """The parser of what stands before a command, with the list of all commands for its help."""
    from olpick.shim.cli.version import VersionAction

    parser = CommandParser(
        prog="olpick",
        usage="olpick [-h] [-V] COMMAND ...",
        description="Makes an offload program load the best device image that it carries, not the first that works.",
        epilog="example:\n  olpick run -- ./app input.dat\n\n'olpick COMMAND --help' says more about a command.",
    )
    parser.add_argument("-V", "--version", action=VersionAction, help="print versions and the library's path, and exit")
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for entry in commands.every().values():
        if entry.help:
            parsers.add_parser(entry.name, help=entry.help)
            continue
        try:
            entry.load().configure(parsers)
        except Exception as error:
            parsers.add_parser(entry.name, help=f"(cannot be loaded: {error})".replace("%", "%%"))
    return parser


def _forget_output() -> None:
    """Keeps the interpreter from failing once more when it flushes at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
