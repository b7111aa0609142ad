"""What is chosen from a file for a device, and why: the report of `olpick explain`, as text and as JSON."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from olpick.elf import Contents, Finding, Image, table
from olpick.shim.core import Device, DeviceError, Images, Selection, Verdict, arrange, select, version
from olpick.shim.text import Page, Row, shortened, shown

SCHEMA: Final = "olpick/explain/1"
HOST: Final = "host"

# What has more images is no compiler's work; the library hands it on as it is, and ordering it would take long.
_DESCRIPTOR_MOST: Final = 4096
# How the names of other processors begin.
_GPU: Final = re.compile(r"(sm_|gfx)[0-9]|spirv|nvptx|amdg")
_GPU_FORMS: Final = ("cubin", "hsaco", "intel-elf", "spirv", "ptx", "fatbin")
_HEADER: Final = ("", "rank", "image", "producer", "triple", "arch", "verdict", "reason")

_STYLES: Final = {"selected": "bold green", "eligible": "", "rejected": "dim"}


@dataclass(frozen=True, slots=True)
class Report:
    """The choice for one file, device and policy.

    Attributes:
        contents: the file.
        spec: the device as it was asked for.
        device: that device.
        policy: the policy.
        selection: the choice; its indices are those of the images.
        first_tried: index of the image that the drop-in library puts first for the runtime, which is the selected one
            where there is one; None when the runtime gets none that it accepts, and the program uses the host.
    """

    contents: Contents
    spec: str
    device: Device
    policy: str
    selection: Selection
    first_tried: int | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about the container, its images and their constraints, and why the reading ended early."""
        found = list(self.contents.findings)
        if error := self.contents.error:
            found.append(Finding(error.code, "error", error.offset, error.why))
        for image, verdict in self.rows():
            for code in verdict.findings:
                found.append(Finding.of(code, image.binary, f"image [{image.index}]: {table('finding')[code].text}"))
        return tuple(sorted(found, key=lambda finding: finding.offset))

    def rows(self) -> Iterable[tuple[Image, Verdict]]:
        """Each image with its verdict, in the order of the container."""
        return zip(self.contents.images, self.selection.verdicts, strict=True)


def device_of(spec: str) -> Device:
    """The device that `host`, a level or a CPU name stands for.

    Raises:
        DeviceError: it stands for none; its status is 2.
    """
    if _GPU.match(spec):
        error = DeviceError("unknown-cpu", f"{spec} is no CPU; this version chooses for x86-64 CPUs only")
        error.status = 2
        raise error
    return Device.host() if spec == HOST else Device.named(spec)


def explain(contents: Contents, devices: Iterable[tuple[str, Device]], policy: str) -> list[Report]:
    """The reports on a file, one for each device; a device comes with what it was asked for by."""
    images = Images((image.data, image.strings, image.metadata_only) for image in contents.images)
    return [_report(contents, images, spec, device, policy) for spec, device in devices]


def _report(contents: Contents, images: Images, spec: str, device: Device, policy: str) -> Report:
    selection = select(images, device, policy)
    first_tried = selection.selected
    if first_tried is None and selection.first_compatible is not None and len(images) <= _DESCRIPTOR_MOST:
        accepted = select(images, device, "first").verdicts
        order = arrange(images, device, may_leave_out=True)
        first_tried = next((index for index in order if accepted[index].rank), None)
    return Report(contents, spec, device, policy, selection, first_tried)


# ---- JSON


def document(reports: Iterable[Report]) -> dict[str, Any]:
    """The reports as `schemas/explain.schema.json` describes them."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "olpick", "version": version()},
        "results": [_result(report) for report in reports],
    }


def _result(report: Report) -> dict[str, Any]:
    return {
        "input": report.contents.input,
        "device": {"spec": report.spec, "name": report.device.name, "features": list(report.device.features)},
        "policy": report.policy,
        "selected": report.selection.selected,
        "first_compatible": report.selection.first_compatible,
        "first_tried": report.first_tried,
        "images": [_image(image, verdict) for image, verdict in report.rows()],
        "findings": [
            {"code": found.code, "severity": found.severity, "offset": found.offset, "message": found.message}
            for found in report.findings
        ],
    }


def _image(image: Image, verdict: Verdict) -> dict[str, Any]:
    return {
        "index": image.index,
        "form": verdict.form,
        "triple": image.triple,
        "arch": image.arch,
        "kind": image.kind_name,
        "producer": image.producer_name,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "rank": verdict.rank,
        "jit": verdict.reason == "jit",
        "lost_at": verdict.lost_at,
        "missing": list(verdict.missing),
        "findings": sorted({*verdict.findings, *(found.code for found in image.findings)}),
    }


# ---- Text


def page(report: Report, *, command: str = "") -> Page:
    """The report for people.

    Args:
        report: the report.
        command: what to type to run the file as olpick chooses; "" when it is no program for this machine.
    """
    made = Page()
    images, count = report.contents.images, len(report.contents.images)
    where = "standard input" if report.contents.input == "-" else shown(report.contents.input, 200)
    device = report.spec if report.device.name == report.spec else f"{report.spec} ({report.device.name or 'no name'})"
    plural = "" if count == 1 else "s"
    made.line(f"{where}: {count} image{plural}, device {device}, policy {report.policy}", "bold")
    made.table(_HEADER, [_row(images[index], report.selection.verdicts[index]) for index in report.selection.order])
    made.line(f"upstream takes {_upstream(report)}")
    made.line(f"olpick takes   {_olpick(report)}")
    producers = sorted({image.producer_name for image in images})
    if len(producers) > 1:
        made.line(f"note: images of {', '.join(producers)}; a program registers, and is served, for each by itself")
    if gpus := sum(verdict.form in _GPU_FORMS for verdict in report.selection.verdicts):
        made.line(
            f"note: {gpus} of {count} are for GPUs, which this version does not judge; the library leaves them in place"
        )
    if command and report.first_tried not in (None, report.selection.first_compatible):
        made.line(f"hint: {command}", "bold")
    for found in report.findings:
        made.line(f"{found.severity}: {found.code} at offset {found.offset}: {shown(found.message, 200)}", "yellow")
    return made


def _row(image: Image, verdict: Verdict) -> Row:
    cells = (
        "*" if verdict.verdict == "selected" else " ",
        str(verdict.rank or "-"),
        f"[{image.index}]",
        image.producer_name,
        shown(image.triple or "-"),
        shown(image.arch or "-"),
        verdict.verdict,
        _reason(verdict),
    )
    return Row(cells, _STYLES.get(verdict.verdict, ""))


def _reason(verdict: Verdict) -> str:
    if verdict.missing:
        return f"{verdict.reason}: lacks {shortened(verdict.missing)}"
    return f"{verdict.reason}, lost at: {verdict.lost_at}" if verdict.lost_at else verdict.reason


def _label(report: Report, index: int) -> str:
    arch = report.contents.images[index].arch
    return f"[{index}] {shown(arch)}" if arch else f"[{index}]"


def _upstream(report: Report) -> str:
    first = report.selection.first_compatible
    if first is None:
        return "none for the host: its check accepts no image"
    verdict = report.selection.verdicts[first]
    unfit = f", but {_reason(verdict)}" if verdict.verdict == "rejected" else ""
    return f"{_label(report, first)}: first in the container that its check accepts{unfit}"


def _olpick(report: Report) -> str:
    tried, selected = report.first_tried, report.selection.selected
    if selected is not None:
        reason = report.selection.verdicts[selected].reason
        return f"{_label(report, selected)}: {reason}, {table('reason')[reason].text}"
    if tried is not None:
        return f"none, as no image is eligible; it lets the runtime try {_label(report, tried)} first"
    if (first := report.selection.first_compatible) is not None:
        otherwise = f"with OMP_TARGET_OFFLOAD=mandatory the runtime tries {_label(report, first)}"
        return f"none, as no image is eligible; the program runs the region on the host ({otherwise})"
    return "none, as no image is eligible"
