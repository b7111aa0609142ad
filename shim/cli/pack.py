"""`olpick pack`: a container of device images."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from olpick.shim.cli import messages
from olpick.shim.cli.inspect import producer
from olpick.shim.cli.parser import Commands

if TYPE_CHECKING:
    from olpick.elf import Packed

WRONG: Final = 2

# What llvm-offload-binary makes of the end of a file's name; it does not know spv before LLVM 23.
_KINDS_BY_SUFFIX: Final = {
    ".o": "elf",
    ".bc": "llvm ir",
    ".cubin": "cubin",
    ".fatbin": "fatbinary",
    ".s": "ptx",
    ".spv": "spirv",
}
_KINDS_BY_FORM: Final = {
    "host-elf": "elf",
    "other-elf": "elf",
    "intel-elf": "elf",
    "hsaco": "elf",
    "cubin": "cubin",
    "fatbin": "fatbinary",
    "ptx": "ptx",
    "spirv": "spirv",
}
_EPILOG: Final = """\
An image is a list of KEY=VALUE, with commas between. file=PATH is its bytes; kind= is its producer (openmp, cuda, hip,
sycl; none by default) or what it is (elf, llvm ir, cubin, fatbinary, ptx, spirv; by default told by the end of the
file's name, else by its bytes). All others, such as triple and arch, are strings of its entry; what is given twice is
joined by a comma.

exit status:
  0  the container is written
  2  the arguments are wrong, or the output is there already
  3  a file cannot be read or written

example:
  olpick pack -o images.bin --image file=a.o,triple=x86_64-pc-linux-gnu,arch=haswell,kind=openmp"""


def configure(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser("pack", description="Writes a container of device images.", epilog=_EPILOG)
    parser.add_argument("-o", metavar="FILE", required=True, dest="output", help="what to write; - is standard output")
    parser.add_argument(
        "--image",
        metavar="KEY=VALUE,...",
        action="append",
        required=True,
        dest="images",
        type=_pairs,
        help="an image; may be repeated",
    )
    parser.add_argument(
        "--version",
        type=int,
        choices=(1, 2, 3),
        help="of the container: 1, which LLVM 22 reads (default), or 2 or 3, one binary with all images",
    )
    parser.add_argument("--compress", choices=("zlib", "zstd"), help="compress it, in version 3")
    parser.add_argument("--level", metavar="N", type=int, help="how hard to compress; by default the algorithm's own")
    parser.add_argument("--force", action="store_true", help="overwrite the output if it is there")


def execute(args: argparse.Namespace) -> int:
    """Writes the container.

    Raises:
        OSError: a file cannot be read or written.
    """
    from olpick.elf import pack

    version = args.version or (3 if args.compress else 1)
    try:
        whole = pack(
            [_packed(pairs) for pairs in args.images], version=version, compress=args.compress, level=args.level
        )
    except ValueError as refused:
        messages.error(f"this cannot be packed: {refused}")
        return WRONG
    if args.output == "-":
        sys.stdout.buffer.write(whole)
        return 0
    try:
        with Path(args.output).open("wb" if args.force else "xb") as file:
            file.write(whole)
    except FileExistsError:
        messages.error(f"{args.output}: there is such a file already", "--force overwrites it")
        return WRONG
    except OSError as error:
        error.filename = os.fspath(args.output)  # writing does not name it
        raise
    return 0


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    from olpick.elf.layout import KIND_NAMES

    pairs = tuple((key, value) for key, there, value in (part.partition("=") for part in text.split(",")) if there)
    if len(pairs) != text.count(",") + 1 or not all(key for key, _ in pairs):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of KEY=VALUE with commas between")
    if sum(key == "file" for key, _ in pairs) != 1:
        raise argparse.ArgumentTypeError(f"'{text}' has to name one file")
    for key, value in pairs:
        if key == "kind" and value not in KIND_NAMES[1:]:
            producer(value)  # or it is wrong
    return pairs


def _packed(pairs: tuple[tuple[str, str], ...]) -> "Packed":
    from olpick.elf import Packed
    from olpick.elf.layout import KIND_NAMES

    strings: dict[str, str] = {}
    file, maker, kind = Path(), 0, None
    for key, value in pairs:
        if key == "file":
            file = Path(value)
        elif key != "kind":
            strings[key] = f"{strings[key]},{value}" if key in strings else value
        elif value in KIND_NAMES[1:]:  # none is a producer too, and meant as that
            kind = value
        else:
            maker = producer(value)
    data = file.read_bytes()
    return Packed(data, strings, KIND_NAMES.index(kind or _kind(file, data)), maker)


def _kind(file: Path, data: bytes) -> str:
    """The image kind of a file that says none."""
    from olpick.elf import form

    told = form(data)
    if told == "bitcode":
        return "llvm ir"
    return _KINDS_BY_SUFFIX.get(file.suffix) or _KINDS_BY_FORM.get(told, "none")
