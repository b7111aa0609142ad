"""The rules of `conformance/SPEC.md` as libolpick.so applies them, in Python: the typed face of `olpick.h`.

    device = Device.host()
    selection = select([(image.data, image.strings) for image in contents.images], device)
    selection.selected, selection.verdicts[0].reason

Nothing is decided here. Every word comes from the library, which has it from `elf/data/codes.toml`.
"""

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from olpick.elf.layout import Readable
from olpick.shim import abi
from olpick.shim.abi import address, cpu_names, feature_names, load, members, version, words
from olpick.shim.errors import ShimError
from olpick.shim.walk import Problem, Walk, WalkedImage, walk

__all__ = [
    "Described",
    "Device",
    "DeviceError",
    "Images",
    "Problem",
    "Selection",
    "Verdict",
    "Walk",
    "WalkedImage",
    "arrange",
    "cpu_names",
    "feature_names",
    "load",
    "select",
    "version",
    "walk",
    "words",
]

Described = tuple[Readable, Mapping[str, str]] | tuple[Readable, Mapping[str, str], bool]
"""An image: its bytes, the strings of its entry, and whether the entry says that it is metadata only."""


class DeviceError(ShimError):
    """There is no such device: `unknown-cpu`, or `no-cpu` where this machine is not an x86-64 one."""


@dataclass(frozen=True, slots=True)
class Device:
    """A CPU to choose for.

    Attributes:
        name: of the processor, as `-march=` has it; None where it is not known.
        features: present and enabled by the operating system, in the order of the table.
    """

    name: str | None
    features: tuple[str, ...]

    @classmethod
    def host(cls) -> "Device":
        """This machine's CPU.

        Raises:
            DeviceError: it is not an x86-64 one.
        """
        found = abi.DeviceStruct()
        if load().olp_device_host(ctypes.byref(found)):
            raise DeviceError("no-cpu", "this machine's CPU is not an x86-64 one, the only kind that olpick knows yet")
        return cls._of(found)

    @classmethod
    def named(cls, name: str) -> "Device":
        """A CPU by its level or CPU name: `x86-64-v3`, `haswell`, `skx`.

        Raises:
            DeviceError: there is no such name; its status is 2, and its hint has the nearest names.
        """
        found = abi.DeviceStruct()
        encoded = name.encode("utf-8", "surrogateescape")
        if b"\0" in encoded or load().olp_device_named(encoded, ctypes.byref(found)):
            from difflib import get_close_matches

            near = get_close_matches(name.lower(), cpu_names(), n=4, cutoff=0.5)
            hint = f"the nearest names are {', '.join(near)}" if near else "a level is a name too, such as x86-64-v3"
            error = DeviceError("unknown-cpu", f"no level or CPU is called {name!r}", hint)
            error.status = 2
            raise error
        return cls._of(found)

    @classmethod
    def _of(cls, found: abi.DeviceStruct) -> "Device":
        return cls(_cpu_name(found.cpu), _features(found.features))

    def _struct(self) -> abi.DeviceStruct:
        known = {name: bit for bit, name in enumerate(feature_names())}
        made = abi.DeviceStruct()
        made.features.bits = sum(1 << known[feature] for feature in set(self.features))
        made.cpu = cpu_names().index(self.name) if self.name is not None else abi.CPU_UNKNOWN
        return made


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one image.

    Attributes:
        index: its place among the images given.
        verdict: `selected`, `eligible` or `rejected`.
        reason: the one reason for it.
        rank: from 1; None when rejected.
        lost_at: the step of the order at which it lost to the selected image; None when it did not.
        missing: the features that it asks for and the device lacks.
        findings: words of the list `finding` that the choice gave, without those of the container.
        form: what it is by its bytes.
        level: the psABI level that its note asks for, 1 to 4; 0 when it asks for none.
        label: the CPU name that its label stands for; None when it asks for nothing or is unknown.
        label_known: whether the label is in the tables, or asks for nothing.
        features: what it asks for, in the order of the table.
    """

    index: int
    verdict: str
    reason: str
    rank: int | None
    lost_at: str | None
    missing: tuple[str, ...]
    findings: tuple[str, ...]
    form: str
    level: int
    label: str | None
    label_known: bool
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The choice among the images of a container for one device.

    Attributes:
        verdicts: one an image, in the order given.
        order: indices: the eligible images by rank, then the others in the order given.
        selected: index of the selected image; None when nothing is eligible.
        first_compatible: index of the image that upstream would take; None when it would take none.
    """

    verdicts: tuple[Verdict, ...]
    order: tuple[int, ...]
    selected: int | None
    first_compatible: int | None


class Images:
    """Images made ready for the library, to be judged more than once: those that have to be copied are copied here."""

    def __init__(self, images: Iterable[Described]) -> None:
        """Take the images of a container, in its order."""
        self._held: list[object] = []
        made = [_image(image, self._held) for image in images]
        self._structs = (abi.ImageStruct * len(made))(*made)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._structs)

    @classmethod
    def of(cls, images: "Images | Iterable[Described]") -> "Images":
        """The same, if they are ready."""
        return images if isinstance(images, Images) else cls(images)


def select(images: Images | Iterable[Described], device: Device, policy: str = "best") -> Selection:
    """Judge images for a device and rank the eligible ones (sections 3 to 5 of the specification).

    Raises:
        ValueError: there is no such policy.
    """
    policies = words("policy")
    if policy not in policies:
        raise ValueError(f"{policy!r} is none of the policies {', '.join(policies)}")
    library = load()
    ready = Images.of(images)
    target = device._struct()
    verdicts = (abi.VerdictStruct * len(ready))()
    order = (ctypes.c_uint32 * len(ready))()
    selected = library.olp_select(
        ready._structs, len(ready), ctypes.byref(target), policies.index(policy), verdicts, order
    )
    first = library.olp_first_compatible(ready._structs, len(ready))
    return Selection(
        verdicts=tuple(_verdict(index, verdict) for index, verdict in enumerate(verdicts)),
        order=tuple(order),
        selected=selected if selected >= 0 else None,
        first_compatible=first if first >= 0 else None,
    )


def arrange(
    images: Images | Iterable[Described],
    device: Device,
    *,
    symbols: Iterable[str] = (),
    may_leave_out: bool = False,
) -> tuple[int, ...]:
    """In which order the drop-in library hands the images of one descriptor on (OLP-REG-004 to 006).

    Args:
        images: of the descriptor, in its order.
        device: the CPU.
        symbols: the names of the descriptor's entries.
        may_leave_out: whether images that cannot run may be left out, so that the result is shorter.
    """
    ready = Images.of(images)
    target = device._struct()
    names = [symbol.encode("utf-8", "surrogateescape") for symbol in symbols]
    verdicts = (abi.VerdictStruct * len(ready))()
    order = (ctypes.c_uint32 * len(ready))()
    kept = load().olp_arrange(
        ready._structs,
        len(ready),
        ctypes.byref(target),
        (ctypes.c_char_p * len(names))(*names),
        len(names),
        may_leave_out,
        verdicts,
        order,
        (ctypes.c_uint64 * len(ready))(),
    )
    return tuple(order[:kept])


def _cpu_name(number: int) -> str | None:
    return cpu_names()[number] if number >= 0 else None


def _features(found: abi.FeaturesStruct) -> tuple[str, ...]:
    return members(found.bits, feature_names())


def _image(described: Described, held: list[object]) -> abi.ImageStruct:
    data, strings, metadata_only = described if len(described) == 3 else (*described, False)
    made = abi.ImageStruct()
    made.metadata_only = metadata_only
    made.data, made.size = address(data, held)
    for place, key in enumerate(abi.KEYS):
        if key in strings:
            text = made.key[place]
            text.data, text.size = address(strings[key].encode("utf-8", "surrogateescape"), held)
    return made


def _verdict(index: int, found: abi.VerdictStruct) -> Verdict:
    facts, steps = found.facts, words("step")
    return Verdict(
        index=index,
        verdict=words("verdict")[found.verdict],
        reason=words("reason")[found.reason],
        rank=found.rank or None,
        lost_at=steps[found.lost_at] if found.lost_at < len(steps) else None,
        missing=_features(found.missing),
        findings=members(found.findings, words("finding")),
        form=words("form")[facts.form],
        level=facts.level,
        label=_cpu_name(facts.label),
        label_known=facts.label != abi.CPU_UNKNOWN,
        features=_features(facts.features),
    )
