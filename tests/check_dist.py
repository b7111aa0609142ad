"""Checks a folder of built archives: an sdist, a wheel, what stands in them, and the wheel in a fresh environment."""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from packaging.utils import parse_wheel_filename

SOURCE = (".c", ".h", ".in", ".map", ".cmake", "CMakeLists.txt")
HEADERS = "olpick/shim/include/"
DEMO = "olpick/shim/demo/"


def problems_of_sdist(path: Path) -> list[str]:
    """What is wrong with the names in a source archive."""
    with tarfile.open(path) as archive:
        names = [member.name.partition("/")[2] for member in archive if member.isfile()]
    wrong = [f"{path.name} holds {name}" for name in names if name.endswith((".so", ".o", ".pyc", ".whl"))]
    wrong += [f"{path.name} lacks {name}" for name in ("LICENSE", "README.md", "CMakeLists.txt") if name not in names]
    return wrong


def problems_of_wheel(path: Path) -> list[str]:
    """What is wrong with the name of a wheel and the names in it."""
    tags = parse_wheel_filename(path.name)[3]
    wrong = [
        f"{path.name} has the tag {tag}"
        for tag in tags
        if tag.interpreter != "py3" or tag.abi != "none" or tag.platform == "any"
    ]
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    wrong += [
        f"{path.name} holds {name}" for name in names if name.endswith(SOURCE) and not name.startswith((HEADERS, DEMO))
    ]
    wanted = ("olpick/shim/libolpick.so", f"{HEADERS}olpick.h", "/licenses/LICENSE")
    wrong += [f"{path.name} lacks {name}" for name in wanted if not any(held.endswith(name) for held in names)]
    return wrong


def output(*command: str | Path, **env: str) -> str:
    """Standard output of a command that must work and say nothing else."""
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        raise SystemExit(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def problems_of_installation(wheel: Path, folder: Path) -> list[str]:
    """What is wrong with the wheel installed alone, used from elsewhere and without this project's environment."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)], check=True)
    olpick = folder / "bin" / "olpick"
    version = str(parse_wheel_filename(wheel.name)[1])
    wrong = []
    if version not in (said := output(olpick, "--version")):
        wrong.append(f"olpick --version says {said}, not {version}")
    library = Path(output(olpick, "lib"))
    if not (library.is_file() and library.is_relative_to(folder)):
        wrong.append(f"olpick lib says {library}")
    output("true", LD_PRELOAD=str(library))
    return wrong


def main() -> int:
    """Prints what is wrong; 0 when nothing is."""
    folder = Path(sys.argv[1]).resolve()
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    wrong = problems_of_sdist(sdist) + problems_of_wheel(wheel)
    with tempfile.TemporaryDirectory() as fresh:
        wrong += problems_of_installation(wheel, Path(fresh).resolve() / "venv")
    print("\n".join(wrong) or f"{sdist.name} and {wheel.name} are as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
