"""Section 1: compressed binaries, OLP-CONT-017 and 018."""

import zlib
from importlib import import_module
from typing import Any, Final

from olpick.conformance.answers import Reading
from olpick.conformance.model.frame import Frame, Malformed

ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
ZSTD_MODULES: Final = ("compression.zstd", "backports.zstd")


class CannotInflate(Exception):  # noqa: N818 - the specification's own word
    """OLP-CONT-018: there is no means to inflate this binary."""


def inflated(binary: bytes, frame: Frame, reading: Reading, before: int) -> bytes:
    """OLP-CONT-017: the inflated binary of a compressed one, but for its Size field, which nobody looks at again.

    `before` is how much the walk has inflated already.

    Raises:
        Malformed: above the limit, or not a payload of the stated size.
        CannotInflate: OLP-CONT-018.
    """
    if before + frame.inflated_size > reading.limit:
        raise Malformed("inflated-too-large")
    if not reading.inflate:
        raise CannotInflate
    payload = binary[frame.entries :]
    wanted = frame.inflated_size - frame.entries
    inflater, failure = zstd() if payload.startswith(ZSTD_MAGIC) else (zlib.decompressobj(), zlib.error)
    try:
        # With room for one byte more it stops soon, and what is too long shows.
        body: bytes = inflater.decompress(payload, wanted + 1)
    except failure:
        raise Malformed("bad-compression") from None
    if not inflater.eof or inflater.unused_data or len(body) != wanted:
        raise Malformed("bad-compression")
    return binary[: frame.entries] + body


def zstd() -> tuple[Any, type[Exception]]:
    """What inflates one zstd frame, and what it raises.

    Raises:
        CannotInflate: this Python has neither module.
    """
    for name in ZSTD_MODULES:
        try:
            module = import_module(name)
        except ImportError:
            continue
        return module.ZstdDecompressor(), module.ZstdError
    raise CannotInflate
