"""Buffers of well-formed containers of versions 1 to 3: several entries, compressed, nested."""

from dataclasses import dataclass

from hypothesis import strategies as st
from olpick.conformance.builders import Binary, Entry, Packed
from olpick.conformance.builders.packed import PACKINGS
from olpick.conformance.strategies.strings import strings, strings_with_zeros

__all__ = ["Buffer", "Piece", "binaries", "buffers", "packed", "padding"]

Piece = Binary | Packed | bytes


@dataclass(frozen=True)
class Buffer:
    """Binaries, each at a multiple of 8, and other bytes as they are.

    Attributes:
        pieces: what follows what.
        cut: how many bytes of it all are there; None for all.
        flips: bytes that are overwritten at last: place, counted from the end where it is negative, and value.
    """

    pieces: tuple[Piece, ...]
    cut: int | None = None
    flips: tuple[tuple[int, int], ...] = ()

    def build(self) -> bytes:
        """The bytes."""
        made = bytearray()
        for piece in self.pieces:
            made += piece if isinstance(piece, bytes) else bytes(-len(made) % 8) + piece.build()
        for place, value in self.flips:
            if -len(made) <= place < len(made):
                made[place] = value
        return bytes(made[: self.cut])


def entries(version: int, images: st.SearchStrategy[bytes]) -> st.SearchStrategy[Entry]:
    """What an entry says; values with zero bytes where the version allows it."""
    return st.builds(
        Entry,
        image=images,
        strings=strings() if version == 1 else strings() | strings_with_zeros(),
        kind=st.integers(0, 7) | st.integers(0, 2**16 - 1),
        producer=st.integers(0, 16) | st.integers(0, 2**16 - 1),
        flags=st.integers(0, 3) | st.integers(0, 2**32 - 1),
    )


@st.composite
def _binaries(draw: st.DrawFn, version: int, images: st.SearchStrategy[bytes]) -> Binary:
    entry = entries(version, images)
    return Binary(
        entry=draw(entry),
        gap=b"GAP BYTE" * draw(st.integers(0, 2)),
        tail=draw(st.sampled_from((b"", b"!", bytes(7), b"tail end"))),
        merged=draw(st.booleans()),
        version=version,
        more=() if version == 1 else tuple(draw(st.lists(entry, max_size=2))),
        shared=draw(st.sampled_from((False, False, True))),
        shift=draw(st.integers(0, 7)),
    )


def plain_images() -> st.SearchStrategy[bytes]:
    """Bytes that are no container."""
    return st.binary(max_size=24)


def nested_images(levels: int) -> st.SearchStrategy[bytes]:
    """The bytes of an image that may be a container, of so many levels at most."""
    if levels == 0:
        return plain_images()
    inner = buffers(levels=levels, most=2).map(Buffer.build)
    return plain_images() | plain_images() | inner


def binaries(*, levels: int = 0) -> st.SearchStrategy[Binary]:
    """Well-formed binaries in every layout that section 1 allows, with containers inside, so many levels at most."""
    images = nested_images(levels)
    return st.sampled_from((1, 2, 3)).flatmap(lambda version: _binaries(version, images))


def packed(*, levels: int = 0) -> st.SearchStrategy[Packed]:
    """Well-formed compressed binaries."""
    return st.builds(Packed, _binaries(3, nested_images(levels)), st.sampled_from(tuple(PACKINGS)))


def padding() -> st.SearchStrategy[bytes]:
    """Zero bytes that may stand between binaries."""
    return st.integers(0, 3).map(lambda count: bytes(8 * count))


@st.composite
def buffers(draw: st.DrawFn, *, levels: int = 1, most: int = 2) -> Buffer:
    """Well-formed buffers: binaries and padding; `levels` deep with the outermost, of `most` binaries each."""
    one = binaries(levels=levels - 1) | binaries(levels=levels - 1) | packed(levels=levels - 1)
    pieces: list[Piece] = []
    for binary in draw(st.lists(one, min_size=1, max_size=most)):
        made = binary.build()
        # Padding counts in groups of 8 from a multiple of 8.
        pieces += [binary, bytes(-len(made) % 8) + draw(padding())]
    pieces.append(bytes(draw(st.integers(0, 7))))
    return Buffer(tuple(pieces))
