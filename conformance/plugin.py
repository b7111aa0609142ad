"""The options of the suite. pytest takes options only from plug-ins that it knows when it starts, so name this one:

pytest -p olpick.conformance.plugin --pyargs olpick.conformance --adapter core --effort quick
"""

import pytest
from olpick.conformance.adapters import NAMES

__all__ = ["pytest_addoption"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """--adapter and --effort."""
    group = parser.getgroup("olpick.conformance")
    group.addoption(
        "--adapter",
        action="append",
        metavar="NAME",
        help=f"what to test: {', '.join(NAMES)}, or a module of yours; may be repeated (default: core and elf)",
    )
    group.addoption(
        "--effort",
        choices=("quick", "ci", "deep"),
        default="ci",
        help="how many examples a property is tried with (default: %(default)s)",
    )
