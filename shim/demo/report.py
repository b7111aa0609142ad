"""What the demo says: a page for people, and JSON."""

import shlex
from pathlib import Path
from typing import Any, Final

from olpick.shim.core import version
from olpick.shim.demo import Demo
from olpick.shim.demo.trial import Side, Trial
from olpick.shim.explain import Report
from olpick.shim.text import Page, Row, shown

SCHEMA: Final = "olpick/demo/1"
_TRIALS: Final = ("program", "images", "bare", "under olpick", "same output", "ratio")
_DECISIONS: Final = ("device", "upstream takes", "which", "olpick takes", "reason")


def page(demo: Demo) -> Page:
    """The demo for people."""
    made = Page()
    if demo.toolchain:
        made.table(_TRIALS, [Row(_cells(trial), "green" if trial.good else "red") for trial in demo.trials])
        made.line()
        made.line(f"pop: median kernel time of {demo.rounds} rounds, bare and olpick in turn; ratio: bare by olpick")
        made.line("same output: as the program prints when it runs on the host, without an image")
        for trial in demo.trials:
            if trial.olpick.status and trial.olpick.complaint:
                made.line(f"{trial.name} under olpick: {shown(trial.olpick.complaint, 200)}", "red")
        for trial in demo.trials:
            made.line(f"built by: {shlex.join(trial.command)}")
        made.line(f"compiler: {demo.toolchain.version}")
    name = demo.host.name or "no name that olpick knows"
    made.line(f"machine: {_model()} ({name}), olpick {version()}")
    made.line()
    labels = " ".join(_label(image.arch) for image in demo.decisions[0].contents.images)
    made.line(f"What is chosen from a container with the images {labels}:", "bold")
    made.line()
    made.table(_DECISIONS, [_decision(report) for report in demo.decisions])
    return made


def document(demo: Demo) -> dict[str, Any]:
    """The demo as JSON."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "olpick", "version": version()},
        "machine": {"model": _model(), "cpu": demo.host.name, "features": list(demo.host.features)},
        "compiler": {"name": demo.toolchain.clang, "version": demo.toolchain.version} if demo.toolchain else None,
        "rounds": demo.rounds,
        "programs": [
            {
                "name": trial.name,
                "command": list(trial.command),
                "images": [image.arch for image in trial.images],
                "bare": _side(trial.bare),
                "olpick": _side(trial.olpick),
                "same_output": trial.same_output,
                "ratio": trial.ratio,
            }
            for trial in demo.trials
        ],
        "decisions": [
            {
                "device": report.spec,
                "upstream": _arch(report, report.selection.first_compatible),
                "upstream_fits": _fits(report),
                "olpick": _arch(report, report.first_tried),
                "reason": _reason(report),
            }
            for report in demo.decisions
        ],
    }


def _cells(trial: Trial) -> tuple[str, ...]:
    return (
        trial.name,
        " ".join(_label(image.arch) for image in trial.images),
        _outcome(trial, trial.bare),
        _outcome(trial, trial.olpick),
        "yes" if trial.same_output else "no",
        f"{trial.ratio:.2f} x" if trial.ratio else "-",
    )


def _outcome(trial: Trial, side: Side) -> str:
    image = "?" if side.image is None else _label(trial.images[side.image].arch)
    return f"{image}: {side.ending if side.status or side.time is None else f'{side.time:.0f} us'}"


def _side(side: Side) -> dict[str, Any]:
    signal = -side.status if side.status < 0 else None
    return {
        "image": side.image,
        "status": side.status if signal is None else None,
        "signal": signal,
        "kernel_us": side.time,
        "rounds_us": side.times,
    }


def _decision(report: Report) -> Row:
    fits = _fits(report)
    cells = (
        report.spec if report.spec == report.device.name else f"{report.spec} ({report.device.name or 'no name'})",
        _arch(report, report.selection.first_compatible) or "none",
        "runs" if fits else "may die",
        _arch(report, report.first_tried) or "none",
        _reason(report) or "-",
    )
    return Row(cells, "" if fits else "yellow")


def _fits(report: Report) -> bool:
    """Whether the rules let upstream's choice run."""
    first = report.selection.first_compatible
    return first is not None and report.selection.verdicts[first].verdict != "rejected"


def _arch(report: Report, index: int | None) -> str | None:
    return None if index is None else _label(report.contents.images[index].arch)


def _reason(report: Report) -> str | None:
    tried = report.first_tried
    return None if tried is None else report.selection.verdicts[tried].reason


def _label(arch: str | None) -> str:
    return shown(arch) if arch else "(no label)"


def _model() -> str:
    """The processor as the kernel names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "unknown"
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return shown(next(found, "unknown"))
