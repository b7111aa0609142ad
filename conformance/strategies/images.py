"""Images, and lists of them to choose from."""

from typing import Final

from hypothesis import strategies as st
from olpick.conformance.answers import Image
from olpick.conformance.builders import Elf
from olpick.conformance.strategies.elves import broken_elves, host_elves, noted_elves
from olpick.conformance.strategies.strings import string_dicts

__all__ = ["image_bytes", "image_lists", "images"]

BEGINNINGS: Final = (
    b"",
    b"\x7fELF",
    b"\x03\x02\x23\x07",
    b"\x42\x43\xc0\xde",
    b"\xde\xc0\x17\x0b",
    b"\x50\xed\x55\xba",
    b"__CLANG_OFFLOAD_BUNDLE__",
    b"__CLANG_OFFLOAD_BUNDLE_",
    b"CCOB",
    b"\x10\xff\x10\xad",
    b"\x10\xff\x10",
)
PTX_PARTS: Final = (
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\f",
    b"\0",
    b"//",
    b"/*",
    b"*/",
    b"/",
    b"*",
    b".version",
    b".target",
    b"// .version 8.0\n",
    b"/* x */",
    b" " * 2040,
    b" " * 8,
    b"8.0",
)
BITCODE: Final = b"\x42\x43\xc0\xde"


def ptx_like() -> st.SearchStrategy[bytes]:
    """Text that is PTX, or nearly (OLP-FACT-001)."""
    return st.lists(st.sampled_from(PTX_PARTS), max_size=8).map(b"".join)


def image_bytes() -> st.SearchStrategy[bytes]:
    """The bytes of an image, of every form, right and wrong."""
    elves = (host_elves() | noted_elves() | broken_elves()).map(Elf.build)
    begun = st.tuples(st.sampled_from(BEGINNINGS), st.binary(max_size=24)).map(b"".join)
    return elves | elves | begun | ptx_like() | st.binary(max_size=80)


def images() -> st.SearchStrategy[Image]:
    """An image that may be anything, one of metadata only too."""
    return st.builds(Image, image_bytes(), string_dicts(), st.sampled_from((False, False, False, True)))


@st.composite
def likely_images(draw: st.DrawFn) -> Image:
    """An image that is likely to be eligible, so that the order has something to do."""
    data = draw(host_elves().map(Elf.build) | st.just(BITCODE))
    strings = draw(string_dicts())
    if draw(st.integers(0, 3)):
        strings |= {b"triple": b"x86_64-unknown-linux-gnu"}
    if draw(st.booleans()):
        strings.pop(b"requires_features", None)
    return Image(data, strings)


def image_lists(*, min_size: int = 0, max_size: int = 6) -> st.SearchStrategy[list[Image]]:
    """The images of a container. Some stand twice, so that the last step has something to do."""
    several = st.lists(likely_images() | images(), min_size=min_size, max_size=max_size)
    doubled = st.lists(likely_images(), min_size=1, max_size=2).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=min_size, max_size=max_size)
    )
    return several | several | doubled
