"""What all tests share: the real tools. Where one is missing a test is skipped, or fails (`missing`)."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, NoReturn

import pytest

LLVM: Final = 22
_LLVM_BIN: Final = Path(f"/usr/lib/llvm-{LLVM}/bin")


def missing(what: str) -> NoReturn:
    """Skip the test since `what` is not there; fail it where continuous integration promises that it is."""
    if os.environ.get("OLPICK_TEST_REQUIRE_RUNTIME") == "1":
        pytest.fail(f"{what} is missing, and OLPICK_TEST_REQUIRE_RUNTIME=1 asks for it")
    pytest.skip(f"{what} is missing")


@cache
def _find(name: str) -> str | None:
    """The path of a tool of LLVM 22: by its versioned name, in LLVM's own folder, or a plain one that says 22."""
    if found := shutil.which(f"{name}-{LLVM}") or shutil.which(name, path=_LLVM_BIN):
        return found
    if plain := shutil.which(name):
        said = subprocess.run([plain, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
        if re.search(rf"version {LLVM}\.", said):
            return plain
    return None


@pytest.fixture(scope="session")
def llvm_tool() -> Callable[[str], str]:
    """A function from the name of an LLVM tool, such as `llvm-objdump`, to the path of the one of LLVM 22."""

    def find(name: str) -> str:
        return _find(name) or missing(f"{name} of LLVM {LLVM}")

    return find


@pytest.fixture(scope="session")
def clang(llvm_tool: Callable[[str], str]) -> str:
    """The path of clang 22."""
    return llvm_tool("clang")
