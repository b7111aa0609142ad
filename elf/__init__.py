"""Reading: OffloadBinary containers, where they hide in a file, and what their images are.

Everything here works on untrusted bytes: it reads nothing outside the buffer it was given, its work is bounded, and
the only exception that bytes can cause is `DecodeError`. The rules are sections 1 and 2 of `conformance/SPEC.md`.
"""

from olpick.elf.codes import Code, table
from olpick.elf.container import Container, Image, read
from olpick.elf.errors import DecodeError, FileError, OlpickError
from olpick.elf.findings import Finding
from olpick.elf.image import form
from olpick.elf.locate import Contents, from_bytes, open_file
from olpick.elf.writer import Packed, pack

__all__ = [
    "Code",
    "Container",
    "Contents",
    "DecodeError",
    "FileError",
    "Finding",
    "Image",
    "OlpickError",
    "Packed",
    "form",
    "from_bytes",
    "open_file",
    "pack",
    "read",
    "table",
]
