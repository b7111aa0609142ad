"""`olpick run`: start a program with the library in it."""

import argparse
import os
from collections.abc import Callable

from olpick.shim import library
from olpick.shim.cli import messages
from olpick.shim.cli.parser import Commands
from olpick.shim.controls import Control, all_controls, variables
from olpick.shim.launch import Start, initial_environment, prepare, replace_process
from olpick.shim.program import find

FAILED = 125

_DESCRIPTION = """\
Runs a program with libolpick.so in it, which makes it load the best device image that it carries.
olpick becomes the program: process id, signals and exit status are the program's own.

Where the library cannot get in, as with a static program, olpick warns and runs it without."""

_EPILOG = """\
exit status:
  125  olpick failed, or its arguments are wrong
  126  the command was found but cannot be executed
  127  the command was not found
  else the program's own

example:
  olpick run --log select -- ./app input.dat"""


def configure(commands: Commands) -> None:
    """Adds the command; each control that has an option gets it."""
    parser = commands.add_parser(
        "run", usage="olpick run [OPTION]... [--] COMMAND [ARG]...", description=_DESCRIPTION, epilog=_EPILOG
    )
    parser.usage_status = parser.failure_status = FAILED
    parser.set_defaults(wrong_usage=parser.error)
    for control in all_controls():
        _add_option(parser, control)
    parser.add_argument("--require", action="store_true", help="do not run the program where the library cannot get in")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not warn that the library cannot get in")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the program and its arguments")


def execute(args: argparse.Namespace) -> int:
    """Becomes the program; comes back only with the status of a failure.

    Raises:
        LibraryError: there is no library to bring in.
        ProgramError: the program cannot be started.
    """
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        args.wrong_usage("no command to run")
    given = {control.key: getattr(args, control.key) for control in all_controls()}
    changes = variables({key: value for key, value in given.items() if value is not None})
    path_of_library = library.library_path()
    environment = initial_environment()
    path = find(command[0], environment.get("PATH", os.defpath))
    start = prepare(path, path_of_library, environment, changes)
    if _accepts(start, command[0], args):
        replace_process(path, command, start.environment)
    return FAILED


def _add_option(parser: argparse.ArgumentParser, control: Control) -> None:
    about = f"{control.help} [{control.name}]".replace("%", "%%")
    if control.type == "flag":
        parser.add_argument(control.option, action="store_const", const="1", dest=control.key, help=about)
        return
    metavar = {"choice": "|".join(control.values), "words": "WORDS", "path": "FILE"}.get(control.type, "NAME")
    parser.add_argument(control.option, type=_checked(control), dest=control.key, metavar=metavar, help=about)


def _checked(control: Control) -> Callable[[str], str]:
    def check(value: str) -> str:
        if problem := control.problem(value):
            raise argparse.ArgumentTypeError(problem)
        return value

    return check


def _accepts(start: Start, program: str, args: argparse.Namespace) -> bool:
    """Says why the library cannot get in, and whether the program is to run all the same."""
    if start.reasons:
        text = f"{library.NAME} cannot get into {program}: {', and '.join(reason.text for reason in start.reasons)}"
        hint = start.reasons[0].hint
        if args.require:
            messages.error(text, hint)
        elif not args.quiet:
            messages.warning(f"{text}; running it without", hint)
    elif start.doubt and args.require:
        messages.error(f"it cannot be told whether {library.NAME} gets into {program}: {start.doubt}")
    return not (args.require and (start.reasons or start.doubt))
