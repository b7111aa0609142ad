"""Real programs, built by clang and run with the real runtime, bare and with libolpick.so preloaded."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from olpick.shim.library import library_path

PROGRAMS = Path(__file__).parent / "programs"
# A build of the library under AddressSanitizer, to preload instead of the installed one; made by `tox -e native`.
SANITIZED = os.environ.get("OLPICK_TEST_SANITIZED")
POPCOUNT = ("x86-64", "haswell", "skylake-avx512")


@dataclass(frozen=True)
class Result:
    """What a program did: its exit status (negative: the signal that ended it), output, and complaints."""

    status: int
    out: str
    err: str

    @property
    def log(self) -> list[str]:
        """The library's lines, without the process id."""
        return [
            re.sub(r"^olpick\[\d+\]: ", "", line)
            for line in self.err.splitlines()
            if re.match(r"olpick\[\d+\]: ", line)
        ]


Build = Callable[..., Path]
Run = Callable[..., Result]


@pytest.fixture(scope="session")
def runtime_folder(clang: str) -> Path:
    """The folder of the real libomptarget that belongs to the compiler."""
    found = subprocess.run(
        [clang, "-print-file-name=libomptarget.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(found).is_absolute():
        message = f"{clang} has no libomptarget.so beside it: install liboffload-22-dev and libomp-22-dev"
        if os.environ.get("OLPICK_TEST_REQUIRE_RUNTIME") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return Path(found).resolve().parent


@pytest.fixture(scope="session")
def build(clang: str, runtime_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles one of the programs with device images for the host; each combination once a session."""
    made: dict[tuple[object, ...], Path] = {}

    def build(source: str, archs: Sequence[str] = (), *, flags: Sequence[str] = ()) -> Path:
        key = (source, *archs, None, *flags)
        if key not in made:
            target = tmp_path_factory.mktemp("program") / Path(source).stem
            command = [clang, "-O3", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", *flags]
            if archs:
                command.append("--offload-arch=" + ",".join(archs))
            command += [
                str(PROGRAMS / source),
                "-o",
                str(target),
                f"-L{runtime_folder}",
                f"-Wl,-rpath,{runtime_folder}",
            ]
            subprocess.run(command, check=True, timeout=100)
            made[key] = target
        return made[key]

    return build


@pytest.fixture(scope="session")
def preloaded() -> dict[str, str]:
    """The variables that bring the library in."""
    if not SANITIZED:
        return {"LD_PRELOAD": str(library_path())}
    # The sanitizer's runtime has to come first; the leaks are libomptarget's, which frees nothing at exit.
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout
    return {"LD_PRELOAD": f"{runtime.strip()}:{SANITIZED}", "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.fixture(scope="session")
def run(preloaded: Mapping[str, str]) -> Run:
    """Runs a program, with `olpick=True` under the library; of OLPICK and OMP variables it has only those given."""

    def run(
        program: Path, *arguments: str, olpick: bool = False, env: Mapping[str, str] | None = None, **options: object
    ) -> Result:
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("OLPICK_", "OMP_", "LIBOMP"))
        }
        if olpick:
            clean.update(preloaded)
        clean.update(env or {})
        options.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run(
            [str(program), *arguments],
            env=clean,
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            **options,  # type: ignore[call-overload]
        )
        return Result(done.returncode, done.stdout, done.stderr or "")

    return run
