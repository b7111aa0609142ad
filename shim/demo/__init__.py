"""The demo: two small programs, built here, run bare and under olpick; and what is chosen for other processors."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from olpick.elf import from_bytes, open_file
from olpick.shim.core import Device
from olpick.shim.demo.toolchain import Toolchain, ToolchainError
from olpick.shim.demo.trial import Trial, run
from olpick.shim.explain import HOST, Report, explain
from olpick.shim.launch import run_env

__all__ = ["DEVICES", "PROGRAMS", "Demo", "Trial", "decisions", "trials"]

HERE: Final = Path(__file__).parent

PROGRAMS: Final = {
    "pop": ("x86-64", "haswell", "skylake-avx512"),
    "steps": ("alderlake", "diamondrapids"),
}
"""The programs, and the labels of the images that each is built with."""

DEVICES: Final = ("x86-64", "x86-64-v2", "haswell", "znver4", "skylake-avx512", "diamondrapids")
"""What the shipped container is shown for, besides this machine."""


@dataclass(frozen=True, slots=True)
class Demo:
    """All that the demo has to show.

    Attributes:
        host: this machine's CPU.
        toolchain: what built the programs; None where nothing could.
        rounds: how often each program was run in each way.
        trials: what came of the programs; empty without a toolchain.
        decisions: the reports on the shipped container.
    """

    host: Device
    toolchain: Toolchain | None
    rounds: int
    trials: tuple[Trial, ...]
    decisions: tuple[Report, ...]

    @property
    def good(self) -> bool:
        """Whether every program did under olpick what it should."""
        return all(trial.good for trial in self.trials)


def decisions(host: Device) -> tuple[Report, ...]:
    """The reports on the container that ships with the package, for this machine and some that are not here."""
    contents = from_bytes((HERE / "variants.bin").read_bytes(), "variants.bin")
    devices = [(HOST, host), *((name, Device.named(name)) for name in DEVICES)]
    return tuple(explain(contents, devices, "best"))


def trials(
    toolchain: Toolchain, host: Device, folder: Path, rounds: int, progress: Callable[[str], None]
) -> tuple[Trial, ...]:
    """Build the programs in a folder and run them.

    Raises:
        ToolchainError: one cannot be built.
        LibraryError: there is no library to bring in.
    """
    preload = run_env(environment={})
    made = []
    for name, labels in PROGRAMS.items():
        source = f"{name}.c"
        shutil.copyfile(HERE / source, folder / source)
        command = toolchain.command(source, labels, name)
        progress(f"{name}: building")
        toolchain.build(command, folder)
        contents = open_file(folder / name)
        if not contents.images:
            raise ToolchainError("not-built", f"{toolchain.clang} built {name} without device images")
        (report,) = explain(contents, [(HOST, host)], "best")
        trial = Trial(name, command, contents.images)
        trial.bare.image, trial.olpick.image = report.selection.first_compatible, report.first_tried
        run(trial, folder / name, rounds, preload, progress)
        made.append(trial)
    return tuple(made)
