"""Section 1: containers in containers, OLP-CONT-020."""

from typing import Any, Final

from olpick.conformance.builders import Binary, Entry, Packed
from olpick.conformance.vectors.cases.writing import Group, holds, join

__all__ = ["nested_groups"]

PLAIN: Final = Binary(Entry(b"an image", ((b"arch", b"generic"),)))
"""Of version 1: the image at 104, Size 112."""
INNER: Final = join(PLAIN)
BROKEN: Final = join(PLAIN.but(entry_size=1))
MAGIC: Final = b"\x10\xff\x10\xad"


def image(offset: int | None, **other: Any) -> dict[str, Any]:
    """The image of the plain binary, in the binary at 0."""
    return holds(b"an image", offset, {"arch": "generic"}, **({"binary": 0} | other))


def last(offset: int) -> dict[str, Any]:
    """The image `last` of an entry without strings, in the binary at 0."""
    return holds(b"last", offset, binary=0)


def wrapped(data: bytes, version: int = 2) -> bytes:
    """A container in a container; it begins at 72 of it, or at 80 in version 3."""
    return join(Binary(Entry(data), version=version))


def beside(*images: bytes) -> bytes:
    """Images in one binary of version 2, each at a multiple of 8, the first at 32 + 40 x their number."""
    return join(Binary(Entry(images[0]), version=2, more=tuple(Entry(each) for each in images[1:])))


def nested_groups() -> list[Group]:
    """The groups of this module."""
    group = Group("OLP-CONT-020")
    _read(group)
    _malformed(group)
    _depth(group)
    return [group, _shared()]


def _read(group: Group) -> None:
    strings = Binary(Entry(INNER, ((b"arch", b"haswell"), (b"note", b"outer")), kind=7))
    at = strings.fields()["image_offset"]
    group.reads("version-1", "the strings are those inside", join(strings), image(at + 104, kind=1))
    group.reads("version-2", "in version 2", wrapped(INNER), image(72 + 104))
    group.reads("version-3", "in version 3", wrapped(INNER, 3), image(80 + 104))
    # Three entries end at 152, the container there at 264.
    three = beside(INNER, b"last", b"last")
    group.reads("place-first", "its images take its place", three, image(152 + 104), last(264), last(272))
    middle = beside(b"last", INNER, b"last")
    group.reads("place-middle", "in the middle", middle, last(152), image(160 + 104), last(272))
    two = wrapped(join(PLAIN, PLAIN))
    group.reads("two-inside", "two binaries inside", two, image(176), image(288))
    odd = Binary(Entry(b"last"), version=2, more=(Entry(INNER),), shift=3)
    # Entries to 112, the first image to 116, the container at 120 + 3.
    group.reads("odd-offset", "at an odd offset", join(odd), last(112), image(123 + 104))
    again = join(PLAIN, Binary(Entry(INNER), version=2))
    group.reads("second-binary", "in the second binary", again, image(104), image(112 + 176, binary=112))
    packed = Packed(Binary(Entry(b"an image", ((b"arch", b"generic"),)), version=3))
    group.reads("packed-inside", "a compressed one inside", wrapped(join(packed)), image(None))
    outside = join(Packed(Binary(Entry(INNER), version=3)))
    group.reads("inside-packed", "inside a compressed one", outside, image(None))
    both = join(Packed(Binary(Entry(join(packed)), version=3), "zstd"))
    group.reads("packed-twice", "a compressed one inside a compressed one", both, image(None))
    marked = Binary(Entry(b"an image", ((b"arch", b"generic"),), flags=1), version=2)
    inner = wrapped(join(marked))
    group.reads("metadata-inside", "metadata only inside", inner, image(72 + 112, metadata=True, flags=1))
    group.reads(
        "three-bytes", "not all of the magic", wrapped(MAGIC[:3]), holds(MAGIC[:3], 72), flags="Negative Boundary"
    )
    later = b"12345678" + INNER
    group.reads("not-first", "it does not begin with it", wrapped(later), holds(later, 72), flags="Negative")
    junk = wrapped(INNER + b"junk")
    group.reads("junk-inside", "junk is reported at the outermost", junk, image(176), finding=("junk-after-binary", 0))
    junk = join(PLAIN) + wrapped(INNER + b"junk")
    found = ("junk-after-binary", 112)
    group.reads("junk-inside-second", "of the second", junk, image(104), image(288, binary=112), finding=found)
    padded = wrapped(INNER + bytes(11))
    group.reads("padding-inside", "zero bytes inside", padded, image(176))


def _shared() -> Group:
    """One container that several entries name: OLP-CONT-011."""
    group = Group("OLP-CONT-011")
    # Entries to 112, the container at 112, then 8 bytes: 232 in all, of which 2 x 112 are named as containers.
    shared = {"1.image_offset": 112, "1.image_size": 112}
    two = join(Binary(Entry(INNER), version=2, more=(Entry(b"last"),)).but(**shared))
    group.reads("container-twice", "224 of 232 bytes", two, image(112 + 104), image(112 + 104), flags="Boundary")
    # Entries to 152, the container at 152, then 16 bytes: 280 in all, but 3 x 112 are named.
    shared = {f"{entry}.image_{what}": value for entry in (1, 2) for what, value in (("offset", 152), ("size", 112))}
    three = Binary(Entry(INNER), version=2, more=(Entry(b"last"), Entry(b"last")))
    bad = ("bad-image-range", 0)
    group.reads("container-thrice", "336 of 280 bytes", join(three.but(**shared)), error=bad, flags="Negative")
    flagged = three.but(**shared, **{"2.flags": 1})
    told = holds(INNER, 152, binary=0, metadata=True, flags=1)
    group.reads("container-and-metadata", "one is no image", join(flagged), image(152 + 104), image(152 + 104), told)
    return group


def _malformed(group: Group) -> None:
    found = ("bad-inner", 0)
    group.reads("broken", "what is malformed inside", wrapped(BROKEN), finding=found, flags="Negative")
    for name, data in (("magic-alone", MAGIC), ("header-alone", INNER[:32]), ("cut", INNER[:-1])):
        group.reads(name, f"{len(data)} bytes of one", wrapped(data), finding=found, flags="Negative Boundary")
    group.reads("goes-on", "the next entry", beside(BROKEN, b"last"), last(224), finding=found, flags="Negative")
    group.reads(
        "next-binary",
        "and the next binary",
        join(wrapped(BROKEN), PLAIN),
        image(184 + 104, binary=184),
        finding=found,
        flags="Negative",
    )
    partly = wrapped(join(PLAIN) + BROKEN)
    group.reads("partly", "images read before it stand", partly, image(176), finding=found, flags="Negative")
    second = join(PLAIN) + wrapped(BROKEN)
    found = ("bad-inner", 112)
    group.reads("second-binary-broken", "in the second binary", second, image(104), finding=found, flags="Negative")
    # Entries to 112; the container of two, 184 + 4 bytes: BROKEN and `last` at 112 + 112; `last` again.
    found = ("bad-inner", 0)
    deeper = beside(beside(BROKEN, b"last"), b"last")
    told = [last(112 + 224), last(112 + 232)]
    group.reads(
        "broken-at-3", "it ends the reading of its own image only", deeper, *told, finding=found, flags="Negative"
    )
    packed = Packed(Binary(Entry(b"an image"), version=3), after=b"!")
    group.reads("packed-broken", "its payload", wrapped(join(packed)), finding=found, flags="Negative")
    large = Packed(Binary(Entry(b"an image"), version=3)).but(inflated_size=2**40)
    group.reads("packed-too-large", "its limit", wrapped(join(large)), finding=found, flags="Negative")
    outer = join(Binary(Entry(INNER), version=2, more=(Entry(b"last"),)).but(**{"1.image_offset": 0}))
    bad = ("bad-image-range", 0)
    group.reads("outer-broken", "the outer one is malformed: none inside", outer, error=bad, flags="Negative")
    twice = beside(BROKEN, BROKEN)
    group.reads("broken-twice", "two of them", twice, findings=[found, found], open_to_reading=True)


def _depth(group: Group) -> None:
    deep = INNER
    for level in range(2, 5):
        deep = wrapped(deep)
        group.reads(f"levels-{level}", f"{level} levels", deep, image(72 * (level - 1) + 104), flags="Boundary")
    too_deep = ("nested-too-deep", 0)
    group.reads("levels-5", "five levels", wrapped(deep), error=too_deep, flags="Negative Boundary")
    group.reads("levels-6", "six levels", wrapped(wrapped(deep)), error=too_deep, flags="Negative")
    for name, data in (("broken", BROKEN), ("magic", MAGIC)):
        inside = wrapped(wrapped(wrapped(wrapped(data))))
        group.reads(f"levels-5-{name}", "the fifth is not read", inside, error=too_deep, flags="Negative Boundary")
    inside = wrapped(wrapped(wrapped(wrapped(MAGIC[:3]))))
    group.reads("levels-5-no-magic", "it is no container", inside, holds(MAGIC[:3], 288), flags="Boundary")
    before = join(PLAIN, beside(b"last", wrapped(wrapped(wrapped(INNER))), b"last"), PLAIN)
    told = holds(b"last", 112 + 152, binary=112)
    error = ("nested-too-deep", 112)
    group.reads("levels-5-before", "what was delivered before stands", before, image(104), told, error=error)
    group.tests[-1]["flags"] = ["Negative"]
    inside = wrapped(wrapped(join(PLAIN) + wrapped(wrapped(INNER))))
    group.reads("levels-5-inside", "that of inner ones too", inside, image(248), error=too_deep, flags="Negative")
    marked = wrapped(wrapped(wrapped(join(Binary(Entry(INNER, flags=1), version=2)))))
    told = holds(INNER, 288, metadata=True)
    group.reads("levels-5-metadata", "an entry without an image", marked, told, open_to_reading=True)
