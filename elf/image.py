"""What an image is, told by its own bytes (SPEC.md section 2)."""

import re
from struct import unpack_from
from typing import Final

from olpick.elf.layout import MAGIC, Readable

ELF_MAGIC: Final = b"\x7fELF"
BUNDLE_MAGIC: Final = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_BUNDLE_MAGIC: Final = b"CCOB"

_PREFIXES: Final = (
    (b"\x03\x02\x23\x07", "spirv"),
    (b"BC\xc0\xde", "bitcode"),
    (b"\xde\xc0\x17\x0b", "bitcode"),
    (b"\x50\xed\x55\xba", "fatbin"),
    (BUNDLE_MAGIC, "clang-bundle"),
    (COMPRESSED_BUNDLE_MAGIC, "compressed-bundle"),
    (MAGIC, "offload-binary"),
)
_MACHINES: Final = {62: "host-elf", 190: "cubin", 224: "hsaco", 205: "intel-elf"}

_PTX_WINDOW: Final = 4096
# Atomic and possessive groups: a comment ends at its first end, and the time is linear.
_PTX: Final = re.compile(rb"(?>[ \t\r\n]|//[^\n]*+\n|(?>/\*.*?\*/))*+\.version[ \t\r\n]", re.DOTALL)


def form(data: Readable) -> str:
    """The form of an image, a word of the list `form` in `data/codes.toml` (OLP-FACT-001).

    It looks at no more than the first 4096 bytes, and never at what a container says about them. The directive that
    tells PTX must end, with the white space after it, within those bytes; a `//` comment ends at a line feed.
    """
    head = bytes(memoryview(data).cast("B")[:_PTX_WINDOW])
    if not head:
        return "empty"
    if head.startswith(ELF_MAGIC):
        return _elf_form(head)
    for prefix, name in _PREFIXES:
        if head.startswith(prefix):
            return name
    return "ptx" if _PTX.match(head) else "unknown"


def _elf_form(head: bytes) -> str:
    little_endian = len(head) >= 20 and head[5] == 1
    return _MACHINES.get(unpack_from("<H", head, 18)[0], "other-elf") if little_endian else "other-elf"
