"""The strings of an entry: keys with a meaning, values that parse and values that do not."""

from typing import Final

from hypothesis import strategies as st
from olpick.conformance.model.tables import features, names, words

__all__ = ["labels", "priorities", "required_features", "strings", "strings_with_zeros", "tags", "triples"]

FEW_LABELS: Final = (
    "x86-64",
    "x86-64-v2",
    "x86-64-v3",
    "x86-64-v4",
    "haswell",
    "core-avx2",
    "broadwell",
    "skylake-avx512",
    "skx",
    "alderlake",
    "raptorlake",
    "diamondrapids",
    "znver4",
)
NO_LABELS: Final = ("", "generic", "Haswell", "haswell ", "native", "sm_90", "gfx90a", "avx2", "x86-64-v5", "x86_64")

ARCHITECTURES: Final = ("x86_64", "amd64", "i386", "aarch64", "x86-64", "nvptx64", "X86_64", "")
VENDORS: Final = ("unknown", "pc", "", "linux", "nvidia")
SYSTEMS: Final = ("linux", "unknown", "", "linux5.15.0", "5.4", "linuxx", "windows", "darwin21", "Linux")
ENVIRONMENTS: Final = ("gnu", "unknown", "", "llvm", "gnux32", "musl", "android", "gnu2", "gnu-elf", "gnu-")

TEXT: Final = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def _bytes(text: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    return text.map(str.encode)


def labels() -> st.SearchStrategy[bytes]:
    """Values of `arch` (OLP-FACT-004): levels, CPUs, aliases, generic, empty, unknown."""
    return _bytes(st.sampled_from(FEW_LABELS) | st.sampled_from(NO_LABELS) | st.sampled_from(names()) | TEXT)


def triples() -> st.SearchStrategy[bytes]:
    """Values of `triple` (OLP-COMP-004), of one to five parts, most of them spelled with care."""
    four = st.tuples(*(st.sampled_from(part) for part in (ARCHITECTURES, VENDORS, SYSTEMS, ENVIRONMENTS)))
    three = st.tuples(*(st.sampled_from(part) for part in (ARCHITECTURES, SYSTEMS, ENVIRONMENTS)))
    two = st.tuples(st.sampled_from(ARCHITECTURES), st.sampled_from((*VENDORS, *SYSTEMS)))
    one = st.tuples(st.sampled_from(ARCHITECTURES))
    right = st.just("x86_64-unknown-linux-gnu")
    return _bytes(right | (four | three | two | one).map("-".join) | TEXT)


def required_features() -> st.SearchStrategy[bytes]:
    """Values of `requires_features` (OLP-COMP-008, 009)."""
    known = st.sampled_from(("sse2", "avx", "avx2", "fma", "avx512f")) | st.sampled_from(sorted(features()))
    odd = st.sampled_from(("", " ", "AVX2", "avx2 fma", "warp-speed", "x86-64-v2", "sse4_1", "+avx"))
    spaced = st.tuples(st.sampled_from(("", " ", "\t ")), known, st.sampled_from(("", " "))).map("".join)
    right = st.lists(known | spaced, max_size=4)
    wrong = st.lists(known | odd, max_size=4)
    return _bytes(right.map(",".join) | wrong.map(",".join) | TEXT)


def priorities() -> st.SearchStrategy[bytes]:
    """Values of `variant_priority` (OLP-ORD-004)."""
    right = st.integers(0, 3).map(str) | st.sampled_from(("007", "999999999", "000000001", "100000000"))
    wrong = st.sampled_from(
        ("", "1000000000", "0000000001", "-1", "+1", "0x1", " 1", "1 ", "1\n", "1.0", "\u0661", "one")
    )
    return _bytes(right | wrong | TEXT)


def tags() -> st.SearchStrategy[bytes]:
    """Values of `variant_tag` (OLP-ORD-008)."""
    words_and_others = ("optimized", "generic", "fallback", "debug", "", "tuned", "Debug", "optimized ")
    return _bytes(st.sampled_from(words_and_others))


VALUES: Final = {
    b"triple": triples,
    b"arch": labels,
    b"requires_features": required_features,
    b"variant_priority": priorities,
    b"variant_tag": tags,
}


def strings() -> st.SearchStrategy[tuple[tuple[bytes, bytes], ...]]:
    """The strings of an entry: each key at most once, but now and then twice, and others between them."""
    rows = [st.tuples(st.just(key), values()) for key, values in VALUES.items()]
    other = st.tuples(st.sampled_from((b"", b"min_sm", b"min_gfx", b"Arch", b"note")), _bytes(TEXT))
    raw = st.binary(max_size=6).map(lambda data: data.replace(b"\0", b"\1"))
    return st.lists(st.one_of(*rows, other, st.tuples(raw, raw)), max_size=5).map(tuple)


def strings_with_zeros() -> st.SearchStrategy[tuple[tuple[bytes, bytes], ...]]:
    """Strings of versions 2 and 3, whose values may hold zero bytes."""
    key = st.sampled_from((*(key.encode() for key in words("key")), b"", b"note"))
    value = st.sampled_from((b"\0", b"a\0", b"\0b", b"a\0\0b", b"", b"generic\0haswell"))
    return st.lists(st.tuples(key, value | st.binary(max_size=8)), max_size=4).map(tuple)


def string_dicts() -> st.SearchStrategy[dict[bytes, bytes]]:
    """The strings of an image: each key with a meaning there or not."""
    missing = [key for key in words("key") if key.encode() not in VALUES]
    if missing:
        raise LookupError(f"no strategy for {missing}")
    return st.fixed_dictionaries({}, optional={key: values() for key, values in VALUES.items()})
