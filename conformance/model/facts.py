"""Section 2: facts of an image."""

from dataclasses import dataclass
from typing import Final

from olpick.conformance.answers import Image
from olpick.conformance.model import host_elf
from olpick.conformance.model.frame import MAGIC
from olpick.conformance.model.numbers import u16
from olpick.conformance.model.tables import baseline, canonical, level_features, processors

ELF: Final = b"\x7fELF"
MACHINES: Final = {62: "host-elf", 190: "cubin", 224: "hsaco", 205: "intel-elf"}
BEGINNINGS: Final = (
    (b"\x03\x02\x23\x07", "spirv"),
    (b"\x42\x43\xc0\xde", "bitcode"),
    (b"\xde\xc0\x17\x0b", "bitcode"),
    (b"\x50\xed\x55\xba", "fatbin"),
    (b"__CLANG_OFFLOAD_BUNDLE__", "clang-bundle"),
    (b"CCOB", "compressed-bundle"),
    (MAGIC, "offload-binary"),
)
SPACE: Final = b" \t\r\n"


@dataclass(frozen=True)
class Facts:
    """What is known of an image without a device.

    Attributes:
        form: OLP-FACT-001.
        well_formed: OLP-FACT-002; only asked of the form `host-elf`.
        level: OLP-FACT-003; 0 where no note asks for one.
        label: the own name of the level or CPU that the label stands for (OLP-FACT-004).
        label_known: false where the label is not in the tables; an empty one and `generic` ask for nothing.
        asks: the features that it asks for (section 3).
        findings: `bad-note`, `label-mismatch`.
    """

    form: str
    well_formed: bool
    level: int
    label: str | None
    label_known: bool
    asks: frozenset[str]
    findings: frozenset[str]


def form(data: bytes) -> str:
    """OLP-FACT-001: what an image is, by its bytes."""
    if not data:
        return "empty"
    if data.startswith(ELF):
        if len(data) < 20 or data[5] != 1:
            return "other-elf"
        return MACHINES.get(u16(data, 18), "other-elf")
    for beginning, word in BEGINNINGS:
        if data.startswith(beginning):
            return word
    return "ptx" if is_ptx(data[:4096]) else "unknown"


def is_ptx(text: bytes) -> bool:
    """OLP-FACT-001: whether the first directive is `.version`."""
    while text:
        if text[0] in SPACE:
            text = text[1:]
        elif text.startswith(b"//"):
            text = text.partition(b"\n")[2]
        elif text.startswith(b"/*"):
            text = text[2:].partition(b"*/")[2]
        else:
            break
    return text.startswith(b".version") and text[8:9] != b"" and text[8] in SPACE


def label_of(image: Image) -> str:
    """The value of `arch`."""
    return image.strings.get(b"arch", b"").decode("utf-8", "surrogateescape")


def facts(image: Image) -> Facts:
    """All facts of an image. OLP-FACT-004: the label, and whether it contradicts the note."""
    what = form(image.data)
    whole = what == "host-elf" and host_elf.well_formed(image.data)
    level, bad_note = host_elf.level_needed(image.data) if whole else (0, False)

    text = label_of(image)
    asks_nothing = text in ("", "generic")
    label = None if asks_nothing else canonical(text)
    asked = processors()[label] if label is not None else frozenset()
    needed = level_features(level) if level else frozenset()

    findings = set()
    if bad_note:
        findings.add("bad-note")
    if label is not None and not needed <= asked:
        findings.add("label-mismatch")
    return Facts(
        form=what,
        well_formed=whole,
        level=level,
        label=label,
        label_known=asks_nothing or label is not None,
        asks=baseline() | asked | needed,
        findings=frozenset(findings),
    )
