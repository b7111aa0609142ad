"""Makes `variants.bin`, the container that ships with the package: `python -m olpick.shim.demo.make [FILE]`.

Its images are empty host shared objects, enough to be judged and not to be run.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from struct import pack as packed
from typing import Final

from olpick.elf import Packed, pack

TRIPLE: Final = "x86_64-pc-linux-gnu"
LABELS: Final = ("x86-64", "x86-64-v3", "haswell", "skylake-avx512", "znver4", "diamondrapids")
SHIPPED: Final = Path(__file__).with_name("variants.bin")

_OBJECT: Final = 1  # image kind
_OPENMP: Final = 1  # producer
_ELF_HEADER: Final = 64
_PROGRAM_HEADER: Final = 56


def container() -> bytes:
    """One image a label, in the order in which clang's linker wrapper puts them: downwards by the label's letters."""
    return pack(
        Packed(shared_object(), {"triple": TRIPLE, "arch": label}, kind=_OBJECT, producer=_OPENMP)
        for label in sorted(LABELS, reverse=True)
    )


def shared_object() -> bytes:
    """The smallest x86-64 shared object that is well-formed by OLP-FACT-002: headers and a segment that holds them."""
    size = _ELF_HEADER + _PROGRAM_HEADER
    ident = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)  # 64-bit, little-endian, version 1
    header = packed("<HHIQQQIHHHHHH", 3, 62, 1, 0, _ELF_HEADER, 0, 0, _ELF_HEADER, _PROGRAM_HEADER, 1, 64, 0, 0)
    segment = packed("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096)
    return ident + header + segment


def main(arguments: Sequence[str]) -> int:
    """Write the container to the file named, or to where it ships."""
    (Path(arguments[0]) if arguments else SHIPPED).write_bytes(container())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
