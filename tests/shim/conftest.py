"""Small real programs, a stand-in for libolpick.so, and `olpick` run with it."""

import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

# Says what a started program can see of how it was started.
SHOW = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char line[8192];
  int loaded = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    loaded |= strstr(line, "libolpick.so") != NULL;
  printf("pid %d\nloaded %d\npreload %s\n", (int)getpid(), loaded, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "-");
  for (int i = 0; i < argc; i++)
    printf("arg %s\n", argv[i]);
  return 0;
}
"""

# Where the library is cannot be set in the product, so it is put into the process that runs the command.
DRIVER = """
import sys
from pathlib import Path
import olpick.shim.library
library = Path(sys.argv.pop(1))
olpick.shim.library.library_path = lambda: library
from olpick.shim.cli import main
sys.exit(main())
"""

NOBODY = 65534

Build = Callable[..., Path]
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles C with the system's compiler; the same program only once a session."""
    made: dict[tuple[str, ...], Path] = {}

    def build(*flags: str, source: str = SHOW, name: str = "program") -> Path:
        key = (source, name, *flags)
        if key not in made:
            target = tmp_path_factory.mktemp("built") / name
            command = ["cc", "-x", "c", "-", "-x", "none", *flags, "-o", str(target)]
            subprocess.run(command, input=source, text=True, check=True, timeout=60)
            made[key] = target
        return made[key]

    return build


@pytest.fixture(scope="session")
def show(build: Build) -> Path:
    """The program that shows how it was started."""
    return build(name="show")


@pytest.fixture(scope="session")
def stand_in(build: Build) -> Path:
    """A shared library that does nothing, called as the real one."""
    return build("-shared", "-fPIC", source="int olpick_stand_in;", name="libolpick.so")


@pytest.fixture(scope="session")
def make_elf() -> Build:
    """Writes an ELF header, a PT_INTERP, and nothing else."""

    def make_elf(
        path: Path, *, bits: int = 64, machine: int = 62, interpreter: str = "/lib64/ld-linux-x86-64.so.2"
    ) -> Path:
        name = interpreter.encode() + b"\0"
        ident = b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9)
        if bits == 64:
            rest = struct.pack("<2HI3QI6H", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
            segment = struct.pack("<2I6Q", 3, 4, 120, 0, 0, len(name), len(name), 1)
        else:
            rest = struct.pack("<2HI3II6H", 2, machine, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
            segment = struct.pack("<8I", 3, 84, 0, 0, len(name), len(name), 4, 1)
        path.write_bytes(ident + rest + segment + name)
        path.chmod(0o755)
        return path

    return make_elf


@pytest.fixture(scope="session")
def write_script() -> Callable[[Path, str], Path]:
    """Writes an executable text file."""

    def write_script(path: Path, text: str) -> Path:
        path.write_text(text)
        path.chmod(0o755)
        return path

    return write_script


@pytest.fixture(scope="session")
def clean() -> dict[str, str]:
    """This environment without what preloads or is a control."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OLPICK_", "LD_PRELOAD"))}


@pytest.fixture(scope="session")
def command_line(stand_in: Path) -> Callable[..., list[str]]:
    """The command line that runs `olpick` with the stand-in, or another file, as its library."""

    def command_line(*arguments: str | Path, library: Path = stand_in) -> list[str]:
        return [sys.executable, "-c", DRIVER, str(library), *map(str, arguments)]

    return command_line


@pytest.fixture(scope="session")
def olpick(command_line: Callable[..., list[str]], stand_in: Path, clean: Mapping[str, str]) -> Callable[..., Done]:
    """Runs the command `olpick` in a process of its own; `add` is added to its environment, which is the clean one."""

    def olpick(
        *arguments: str | Path,
        add: Mapping[str, str] | None = None,
        env: Mapping[str, str] = clean,
        library: Path = stand_in,
        **settings: Any,
    ) -> Done:
        command = command_line(*arguments, library=library)
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 60, **settings}
        return subprocess.run(command, env={**env, **(add or {})}, check=False, **settings)

    return olpick


@pytest.fixture(scope="session")
def told() -> Callable[[str], dict[str, str]]:
    """What the program `show` said, by key; its arguments with a blank between them."""

    def told(output: str) -> dict[str, str]:
        said: dict[str, str] = {}
        for line in output.splitlines():
            key, _, value = line.partition(" ")
            said[key] = f"{said[key]} {value}" if key in said else value
        return said

    return told


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter, which those of pytest are not; only root can hand things to others."""
    if os.geteuid() != 0:
        pytest.skip("only root can make programs of other users")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def as_nobody() -> Callable[[Callable[[], Sequence[str]]], list[str]]:
    """Gives the lines that a function makes in a child process of the user nobody."""

    def as_nobody(work: Callable[[], Sequence[str]]) -> list[str]:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            # What is imported later may lie where this user must not read.
            import grp  # noqa: F401
            import pwd  # noqa: F401

            try:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                os.write(writer, "\n".join(work()).encode())
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            said = stream.read().decode()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        return said.splitlines()

    return as_nobody
