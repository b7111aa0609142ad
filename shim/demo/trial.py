"""Runs of one demo program, bare and under olpick, and what they came to."""

import os
import re
import resource
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from olpick.elf import Image

_TIMEOUT: Final = 60.0
_TIMED_OUT: Final = 124
_OURS: Final = ("OLPICK_", "OMP_", "LIBOMPTARGET_")
_TIME: Final = re.compile(r"^kernel_us=([0-9.]+)$", re.MULTILINE)
_DECISION: Final = re.compile(r"^olpick\[\d+\]: select: .*: image (\d+): .*\bselected\b", re.MULTILINE)

# The host plugin of libomptarget 22 writes an image there to load it, and leaves it behind.
_LEFT_BEHIND: Final = (Path("/tmp"), "tmpfile_??????")  # noqa: S108


@dataclass(slots=True)
class Side:
    """All runs of a program in one way.

    Attributes:
        image: index of the image that was taken: what the runtime was seen to load, else what is to be expected.
        status: the exit status of the last run that failed, negative for a signal; 0 when none did.
        complaint: the last line that this run wrote to standard error.
        outputs: all that the runs printed.
        times: the kernel time of each run, in microseconds, for a program that says it.
    """

    image: int | None = None
    status: int = 0
    complaint: str = ""
    outputs: set[str] = field(default_factory=set)
    times: list[float] = field(default_factory=list)

    @property
    def time(self) -> float | None:
        """The median kernel time; None when there is none."""
        return median(self.times) if self.times else None

    @property
    def ending(self) -> str:
        """How the runs ended, in words."""
        if self.status >= 0:
            return f"exit {self.status}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-self.status).name}"
        return f"killed by signal {-self.status}"


@dataclass(slots=True)
class Trial:
    """What came of one program.

    Attributes:
        name: of the program.
        command: that built it.
        images: its device images, in the order of the container.
        expected: what it prints when it runs on the host, without an image.
        bare: its runs as it is.
        olpick: its runs with the library in it.
    """

    name: str
    command: Sequence[str]
    images: Sequence[Image]
    expected: str = ""
    bare: Side = field(default_factory=Side)
    olpick: Side = field(default_factory=Side)

    @property
    def same_output(self) -> bool:
        """Whether every run that came to its end printed what the host does."""
        outputs = self.bare.outputs | self.olpick.outputs
        return bool(self.olpick.outputs) and outputs == {self.expected}

    @property
    def good(self) -> bool:
        """Whether olpick did no harm: its runs succeed, with the output that is right."""
        return self.olpick.status == 0 and self.same_output

    @property
    def ratio(self) -> float | None:
        """How many times faster the kernel is under olpick; None where a side has no time."""
        return self.bare.time / self.olpick.time if self.bare.time and self.olpick.time else None


def run(trial: Trial, program: Path, rounds: int, preload: Mapping[str, str], progress: Callable[[str], None]) -> None:
    """Run a program in each way, one after the other in every round, and put what came of it into the trial.

    Args:
        trial: with its images, and the one that each way is expected to take; the rest is filled in.
        program: the program.
        rounds: how often to run each way.
        preload: the variables that bring the library in.
        progress: is told what happens.
    """
    bare = {name: value for name, value in os.environ.items() if not name.startswith(_OURS) and name != "LD_PRELOAD"}
    trial.expected = _run(program, {**bare, "OMP_TARGET_OFFLOAD": "DISABLED"}).stdout
    bare["OMP_TARGET_OFFLOAD"] = "MANDATORY"  # never a quiet run on the host
    under = {**bare, **preload}
    _learn_image(trial, program, {**under, "OLPICK_LOG": "select"})
    ways = [(trial.bare, bare), (trial.olpick, under)]
    for number in range(1, rounds + 1):
        progress(f"{trial.name}: round {number} of {rounds}")
        for side, environment in ways:
            _once(trial, side, program, environment)
        ways.reverse()  # neither always runs on what the other left


def _learn_image(trial: Trial, program: Path, environment: Mapping[str, str]) -> None:
    """The image that olpick selects, by its log; it names none where nothing is eligible."""
    done = _run(program, environment)
    chosen = [int(index) for index in _DECISION.findall(done.stderr)]
    if chosen and chosen[0] < len(trial.images):
        trial.olpick.image = chosen[0]
    _take_copies(trial.images)


def _once(trial: Trial, side: Side, program: Path, environment: Mapping[str, str]) -> None:
    done = _run(program, environment)
    loaded = _take_copies(trial.images)
    if loaded is not None:
        side.image = loaded
    if done.returncode:
        side.status = done.returncode
        side.complaint = next(reversed(done.stderr.splitlines()), "")
        return
    side.outputs.add(done.stdout)
    side.times += [float(time) for time in _TIME.findall(done.stderr)]


def _run(program: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [str(program.absolute())]
    with _no_core_file():
        try:
            return subprocess.run(
                command,
                env=environment,
                cwd=program.parent,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, _TIMED_OUT, "", "")


@contextmanager
def _no_core_file() -> Iterator[None]:
    """A program that is started here leaves no core file when it dies, which one of them is bound to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def _take_copies(images: Sequence[Image]) -> int | None:
    """Remove the copies of images that the runtime left behind; the index of the image that there was a copy of.

    The kernel's name holds the number of its source file on the disk, so that no other program has the same bytes.
    """
    found = None
    folder, pattern = _LEFT_BEHIND
    for path in folder.glob(pattern):
        with suppress(OSError):
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
                continue
            for image in images:
                if status.st_size == image.size and path.read_bytes() == image.data:
                    found = image.index
                    path.unlink()
                    break
    return found
