"""The compiler of the demo programs: a clang with OpenMP offloading and its runtime library."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from olpick.shim.errors import ShimError

OLDEST: Final = 22
_NEWEST: Final = 29
TARGET: Final = "x86_64-pc-linux-gnu"
RUNTIME: Final = "libomptarget.so"
PACKAGES: Final = "clang-22 clang-tools-22 llvm-22 libomp-22-dev liboffload-22 liboffload-22-dev lld-22"
_HINT: Final = f"on Debian: apt-get install {PACKAGES}"
_TIMEOUT: Final = 120.0


class ToolchainError(ShimError):
    """There is nothing to build the programs with (`no-compiler`), or it fails (`not-built`)."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A clang that was found.

    Attributes:
        clang: the name that found it, such as `clang-22`.
        version: the first line that it says of itself.
        libraries: the folder of its runtime library.
    """

    clang: str
    version: str
    libraries: Path

    def command(self, source: str, labels: Sequence[str], program: str) -> list[str]:
        """How to build a program that has a device image for each label."""
        return [
            self.clang,
            "-O3",
            "-fopenmp",
            f"-fopenmp-targets={TARGET}",
            f"--offload-arch={','.join(labels)}",
            source,
            "-o",
            program,
            f"-L{self.libraries}",
            f"-Wl,-rpath,{self.libraries}",
        ]

    def build(self, command: Sequence[str], folder: Path) -> None:
        """Run a command of `command` in a folder.

        Raises:
            ToolchainError: the program is not built; the message has the compiler's first words about it.
        """
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        except (OSError, subprocess.TimeoutExpired) as failed:
            raise ToolchainError("not-built", f"{self.clang} fails: {failed}", _HINT) from failed
        if done.returncode:
            said = next((line for line in done.stderr.splitlines() if "error" in line), f"exit {done.returncode}")
            raise ToolchainError("not-built", f"{self.clang} fails: {said.strip()}", _HINT)


def find() -> Toolchain:
    """The first clang on the path that has all that is needed; release 22, on which olpick is tested, before others.

    Raises:
        ToolchainError: there is none; the message says what each that was looked at lacks.
    """
    lacking: list[str] = []
    for name in (*(f"clang-{release}" for release in range(OLDEST, _NEWEST + 1)), "clang"):
        if shutil.which(name) is None:
            continue
        version = _said(name, "--version").partition("\n")[0]
        release = re.search(r"version (\d+)\.", version)
        if release is None or int(release[1]) < OLDEST:
            lacking.append(f"{name} is older than release {OLDEST}")
            continue
        # An absolute path is one that exists; what clang does not find it gives back as it is.
        runtime = Path(_said(name, f"-print-file-name={RUNTIME}").strip())
        if runtime.is_absolute():
            return Toolchain(name, version, runtime.parent.resolve())
        lacking.append(f"{name} has no {RUNTIME} beside it")
    why = "; ".join(lacking) or f"no clang-{OLDEST} or newer on the path"
    raise ToolchainError("no-compiler", f"nothing to build the programs with: {why}", _HINT)


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
