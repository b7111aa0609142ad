"""Compressed payloads: zlib streams and zstd frames (OLP-CONT-017, 018).

zstd is in the standard library from Python 3.14 on, and in the package backports.zstd before.
"""

import sys
import zlib
from collections.abc import Iterator
from types import ModuleType
from typing import Final

ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
ALGORITHMS: Final = ("zlib", "zstd")

_CHUNK: Final = 1 << 20
# A zstd frame may ask for a window of 2^31 bytes, which is memory taken. What the zstd tools accept, and what the
# payload has room for, is enough.
_WINDOW_LOG: Final = range(27, 31)


class PayloadError(ValueError):
    """A payload that does not inflate to the size it should have, or is not used up by that."""


def inflate(head: memoryview, payload: memoryview, size: int) -> bytearray | None:
    """The inflated binary: `head`, then what `payload` inflates to; None when the means to inflate it are not here.

    The memory taken grows with what has been inflated and is never much more than `size`.

    Args:
        head: the bytes before the payload, not compressed.
        payload: a zstd frame when it begins with the magic of one, else a zlib stream.
        size: of the inflated binary in bytes, at least that of `head`; the caller has checked it against a limit.

    Raises:
        PayloadError: the payload is corrupt, inflates to another size, or has bytes after its end.
    """
    whole = bytearray(head)
    if bytes(payload[: len(ZSTD_MAGIC)]) == ZSTD_MAGIC:
        zstd = _zstd()
        if zstd is None:
            return None
        pieces, failure = _zstd_pieces(zstd, payload, size - len(head)), zstd.ZstdError
    else:
        pieces, failure = _zlib_pieces(payload), zlib.error
    try:
        for piece in pieces:
            if len(whole) + len(piece) > size:
                raise PayloadError(f"the payload inflates to more than the {size - len(head)} bytes that it should")
            whole += piece
    except failure as refused:
        raise PayloadError(f"the payload cannot be inflated ({str(refused).lower()})") from refused
    if len(whole) < size:
        raise PayloadError(f"the payload inflates to {len(whole) - len(head)} bytes instead of {size - len(head)}")
    return whole


def deflate(data: bytes, algorithm: str, level: int | None = None) -> bytes:
    """A payload that inflates to `data`.

    Args:
        data: the bytes.
        algorithm: one of `ALGORITHMS`.
        level: of the algorithm; None for its own default.

    Raises:
        ValueError: there is no such algorithm or level, or zstd is not here.
    """
    if algorithm == "zlib":
        if level is not None and level not in range(10):
            raise ValueError(f"zlib has no level {level}; it takes 0 to 9")
        return zlib.compress(data, zlib.Z_DEFAULT_COMPRESSION if level is None else level)
    if algorithm != "zstd":
        raise ValueError(f"{algorithm!r} is none of {', '.join(ALGORITHMS)}")
    zstd = _zstd()
    if zstd is None:
        raise ValueError("this Python has no zstd; install the package backports.zstd")
    lowest, highest = zstd.CompressionParameter.compression_level.bounds()
    if level is not None and not lowest <= level <= highest:
        raise ValueError(f"zstd has no level {level}; it takes {lowest} to {highest}")
    compressed: bytes = zstd.compress(data, level)
    return compressed


def _zstd() -> ModuleType | None:
    """The module that knows zstd, or None. It is only imported when something is zstd."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        return None
    return zstd


def _zlib_pieces(payload: memoryview) -> Iterator[bytes]:
    stream = zlib.decompressobj()
    for at in range(0, len(payload), _CHUNK):
        rest: bytes | memoryview = payload[at : at + _CHUNK]
        while not stream.eof:
            piece = stream.decompress(rest, _CHUNK)
            yield piece
            rest = stream.unconsumed_tail
            if len(piece) < _CHUNK and not rest:  # a full piece may have more behind it though no input is left
                break
        if stream.eof:
            _used_up(len(payload) - at <= _CHUNK and not stream.unused_data)
            return
    raise PayloadError("the payload is cut off")


def _zstd_pieces(zstd: ModuleType, payload: memoryview, size: int) -> Iterator[bytes]:
    window = min(max(size.bit_length(), _WINDOW_LOG.start), _WINDOW_LOG.stop)
    stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: window})
    for at in range(0, len(payload), _CHUNK):
        rest: bytes | memoryview = payload[at : at + _CHUNK]
        while True:
            yield stream.decompress(rest, _CHUNK)
            if stream.eof or stream.needs_input:
                break
            rest = b""
        if stream.eof:
            _used_up(len(payload) - at <= _CHUNK and not stream.unused_data)
            return
    raise PayloadError("the payload is cut off")


def _used_up(all_of_it: bool) -> None:
    if not all_of_it:
        raise PayloadError("the payload ends before the binary does")
