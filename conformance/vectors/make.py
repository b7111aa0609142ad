"""Makes the files of vectors from the cases: `python -m olpick.conformance.vectors.make [--check] [FOLDER]`.

With --check nothing is written, and the exit status is 1 if a file is not what would be made.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from olpick.conformance.vectors.cases import compatibility, container, facts, order, policies
from olpick.conformance.vectors.cases.writing import Group
from olpick.conformance.vectors.files import NAMES

__all__ = ["main", "make", "stale"]

NOTES: Final = {
    "Negative": "The rule refuses, or does not apply.",
    "Boundary": "A value at the edge of what is allowed.",
    "Wrap": "A sum or product that wraps around in 64 bits.",
    "Ambiguous": "The specification can be read in more than one way; this is the model's.",
}
SECTIONS: Final = {
    "container": (1, container.groups),
    "facts": (2, facts.groups),
    "compatibility": (3, compatibility.groups),
    "order": (4, order.groups),
    "policies": (5, policies.groups),
}


def make(name: str) -> str:
    """The text of one file."""
    section, groups = SECTIONS[name]
    made: list[Group] = groups()
    used = sorted({flag for group in made for test in group.tests for flag in test["flags"]})
    content: dict[str, Any] = {
        "schema": "olpick-vectors-1",
        "section": str(section),
        "notes": {flag: NOTES[flag] for flag in used},
        "groups": [{"requirement": group.requirement, "tests": group.tests} for group in made],
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def stale(folder: Path) -> list[str]:
    """The files of a folder that are not what would be made."""
    paths = {name: folder / f"{name}.json" for name in NAMES}
    return [path.name for name, path in paths.items() if not path.is_file() or path.read_text("utf-8") != make(name)]


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(prog="python -m olpick.conformance.vectors.make", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a file is not what would be made")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent)
    options = parser.parse_args(arguments)
    if options.check:
        found = stale(options.folder)
        if found:
            sys.stderr.write(f"not what the cases make: {', '.join(found)}\n")
        return 1 if found else 0
    for name in NAMES:
        (options.folder / f"{name}.json").write_text(make(name), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
