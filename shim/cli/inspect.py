"""`olpick inspect`: which device images a file holds."""

import argparse
import sys
from typing import TYPE_CHECKING, Final

from olpick.shim.cli import messages
from olpick.shim.cli.parser import CommandParser, Commands

if TYPE_CHECKING:
    from olpick.elf import Contents
    from olpick.shim.inspect import Filter

FOUND: Final = 0
NOTHING: Final = 1
UNREADABLE: Final = 3

_EPILOG: Final = """\
exit status:
  0  every file has an image that is asked for
  1  a file has no image, or none that is asked for
  2  the arguments are wrong
  3  a file cannot be read or is malformed; the images that could be read are listed

example:
  olpick inspect ./app --arch 'sm_*' --json"""


def configure(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "inspect",
        description="Lists the device images of programs, object files, archives and containers.",
        epilog=_EPILOG,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="what to look into; - is standard input")
    parser.add_argument("--digest", action="store_true", help="give the SHA-256 of each image, which reads all of it")
    add_filters(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, by the schema olpick/inspect/1")


def execute(args: argparse.Namespace) -> int:
    """Prints the listings; the status says whether there is an image in every file."""
    from olpick.elf import open_file
    from olpick.shim import inspect

    wanted = filter_of(args)
    listings = [inspect.listing(open_file(file), wanted, digest=args.digest) for file in args.files]
    for listed in listings:
        complain(listed.contents, len(listed.images))
    if args.json:
        import json

        print(json.dumps(inspect.document(listings), indent=2, sort_keys=True))
    else:
        for place, listed in enumerate(each for each in listings if each.contents.images):
            if place:
                print()
            inspect.page(listed).show(sys.stdout)
    return max(status(listed.contents, len(listed.images)) for listed in listings)


def add_filters(parser: CommandParser) -> None:
    """Adds the options that `filter_of` reads."""
    parser.add_argument("--arch", metavar="GLOB", help="only images whose arch fits the shell pattern")
    parser.add_argument("--triple", metavar="GLOB", help="only images whose triple fits the shell pattern")
    parser.add_argument(
        "--kind",
        metavar="KIND",
        type=_kind,
        help="only images that the container calls so: elf, 'llvm ir', or a number",
    )
    parser.add_argument(
        "--producer", metavar="NAME", type=producer, help="only images of openmp, cuda, hip, sycl or none"
    )


def filter_of(args: argparse.Namespace) -> "Filter":
    """The filter that the options ask for."""
    from olpick.shim.inspect import Filter

    return Filter(args.arch, args.triple, args.kind, args.producer)


def complain(contents: "Contents", count: int) -> None:
    """Says why nothing is listed of a file, if that is so."""
    from olpick.shim.inspect import name

    error = contents.error
    if error and not contents.images:
        messages.error(error.message if error.code == "cannot-read" else f"{name(contents)}: {error.message}")
    elif not contents.images:
        found = "".join(f"; {finding.message}" for finding in contents.findings[:1])
        messages.error(f"{name(contents)}: there is no image that can be read{found}")
    elif not count:
        messages.error(f"{name(contents)}: none of its {len(contents.images)} images is one that is asked for")


def status(contents: "Contents", count: int) -> int:
    """The exit status for a file of which so many images are listed."""
    if contents.error and contents.error.code != "no-offload-section":
        return UNREADABLE
    return FOUND if count else NOTHING


def producer(text: str) -> int:
    """The bits of a producer, or of several joined by +."""
    from olpick.elf.layout import PRODUCER_NAMES

    bits = {**{word: bit for bit, word in PRODUCER_NAMES.items()}, "none": 0}
    names = text.split("+")
    if not set(names) <= bits.keys():
        raise argparse.ArgumentTypeError(f"'{text}' is none of the producers {', '.join(bits)}")
    return sum({bits[word] for word in names})


def _kind(text: str) -> int:
    from olpick.elf.layout import KIND_NAMES

    if text in KIND_NAMES:
        return KIND_NAMES.index(text)
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no number and none of the kinds {', '.join(KIND_NAMES)}")
    return int(text)
