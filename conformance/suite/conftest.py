"""Who is tested, and how hard. The options stand in `olpick.conformance.plugin`; without it the defaults hold."""

from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from olpick.conformance.adapters import Decoder, Selector, find

DEFAULT: Final = ("core", "elf")
# The model is slow, and some inputs are large.
SLOW: Final = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("quick", derandomize=True, max_examples=20, deadline=None, suppress_health_check=SLOW)
settings.register_profile("ci", derandomize=True, max_examples=60, deadline=None, suppress_health_check=SLOW)
settings.register_profile("deep", max_examples=3000, deadline=None, suppress_health_check=SLOW)


def pytest_configure(config: pytest.Config) -> None:
    """Set how many examples are tried."""
    settings.load_profile(config.getoption("effort", "ci"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test runs once for each adapter that can do what it asks for."""
    for asked, face in (("decoder", Decoder), ("selector", Selector)):
        if asked in metafunc.fixturenames:
            adapters = [find(name) for name in metafunc.config.getoption("adapter", None) or DEFAULT]
            able = [adapter for adapter in adapters if isinstance(adapter, face)]
            metafunc.parametrize(asked, able, ids=[adapter.name for adapter in able], scope="session")
