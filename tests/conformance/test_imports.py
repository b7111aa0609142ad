"""Who may import whom (architecture), and that the model stands alone."""

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


def _folder(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


def _imported(folder: Path) -> set[str]:
    """All modules that the sources of a package name in an import, inside functions too."""
    found: set[str] = set()
    for source in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"a relative import in {source}"
                module = node.module or ""
                found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return found


def _any_of(found: set[str], *packages: str) -> set[str]:
    return {name for name in found for package in packages if name == package or name.startswith(f"{package}.")}


def test_elf_imports_nothing_of_ours() -> None:
    assert _any_of(_imported(_folder("olpick.elf")), "olpick.shim", "olpick.conformance") == set()


def test_shim_does_not_import_conformance() -> None:
    assert _any_of(_imported(_folder("olpick.shim")), "olpick.conformance") == set()


def test_model_names_only_itself() -> None:
    found = _imported(_folder("olpick.conformance") / "model")
    assert _any_of(found, "ctypes", "elftools", "olpick.shim", "olpick.elf") == set()
    ours = _any_of(found, "olpick")
    assert ours == _any_of(ours, "olpick.conformance.model", "olpick.conformance.answers")


@pytest.mark.parametrize("package", ["builders", "strategies", "vectors"])
def test_what_tests_the_product_does_not_use_it(package: str) -> None:
    assert _any_of(_imported(_folder("olpick.conformance") / package), "olpick.shim", "olpick.elf") == set()


def test_model_loads_nothing_else() -> None:
    program = (
        "import sys, olpick.conformance.model as model; model.device('haswell'); "
        "print(*(name for name in ('ctypes', 'elftools', 'olpick.elf', 'olpick.shim') if name in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == ""
