"""`olpick extract`: the device images of a file as files of their own."""

import argparse
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from olpick.shim.cli import messages
from olpick.shim.cli.inspect import add_filters, complain, filter_of, status
from olpick.shim.cli.parser import Commands

if TYPE_CHECKING:
    from olpick.elf import Image

NOTHING: Final = 1

_SUFFIXES: Final = {
    "host-elf": "o",
    "other-elf": "o",
    "intel-elf": "o",
    "cubin": "cubin",
    "hsaco": "hsaco",
    "bitcode": "bc",
    "ptx": "s",
    "spirv": "spv",
    "fatbin": "fatbin",
}
_PART_MOST: Final = 60
_EPILOG: Final = """\
A file is named STEM-TRIPLE-ARCH.SUFFIX; where there is one of that name already, a number comes before the suffix.
What is not a letter, a digit or one of . _ + - : in a triple or arch becomes _.

exit status:
  0  images were written
  1  there is no image, or none that is asked for
  2  the arguments are wrong
  3  the file cannot be read or is malformed, where the images that could be read are written;
     or a file cannot be written

example:
  olpick extract ./app -o images --arch 'gfx9*'"""


def configure(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "extract",
        description="Writes the device images of a file to files of their own, and prints their paths.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "file", metavar="FILE", help="a program, object file, archive or container; - is standard input"
    )
    parser.add_argument(
        "-o", metavar="DIR", type=Path, required=True, dest="folder", help="where to write; made if it is not there"
    )
    add_filters(parser)


def execute(args: argparse.Namespace) -> int:
    """Writes the images; the status says whether there were any.

    Raises:
        OSError: a file cannot be written.
    """
    from olpick.elf import open_file
    from olpick.shim.inspect import listing, path

    contents = open_file(args.file)
    images = listing(contents, filter_of(args)).images
    complain(contents, len(images))
    if contents.error and contents.images:
        messages.error(f"{args.file}: {contents.error.message}")
    stem = "stdin" if args.file == "-" else Path(args.file).stem
    taken: Counter[str] = Counter()
    for image in images:
        if image.metadata_only or not image.size:
            messages.warning(f"image [{image.index}], at {path(image)}, has no bytes; there is nothing to write")
            continue
        args.folder.mkdir(parents=True, exist_ok=True)
        print(_write(image, args.folder, stem, taken))
    return status(contents, len(images)) or (0 if taken else NOTHING)


def _write(image: "Image", folder: Path, stem: str, taken: Counter[str]) -> Path:
    """Writes a file of a name that is not taken; `taken` counts how often each name was tried."""
    from olpick.elf import form

    name = "-".join(filter(None, (_clean(stem), _clean(image.triple or ""), _clean(image.arch or ""))))
    suffix = _SUFFIXES.get(form(image.data), "bin")
    base = f"{name}.{suffix}"
    while True:
        number = taken[base]
        taken[base] += 1
        path = folder / (f"{name}.{number}.{suffix}" if number else base)
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        with file:
            try:
                file.write(image.data)
            except OSError as error:
                error.filename = os.fspath(path)
                raise
        return path


def _clean(text: str) -> str:
    """Text as a part of a file name: nothing that leads elsewhere or does not print."""
    return re.sub(r"^\.|[^A-Za-z0-9._+:-]", "_", text[:_PART_MOST])
