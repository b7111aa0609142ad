"""CPUs to choose for."""

from typing import Final

from hypothesis import strategies as st
from olpick.conformance.answers import Device
from olpick.conformance.model.tables import device, features, processors

__all__ = ["devices"]

FEW: Final = ("haswell", "skylake-avx512", "alderlake", "diamondrapids", "x86-64", "x86-64-v3", "znver4")


@st.composite
def lesser_devices(draw: st.DrawFn) -> Device:
    """A named CPU of which the system has not enabled everything."""
    named = device(draw(st.sampled_from(FEW)))
    without = draw(st.frozensets(st.sampled_from(sorted(named.features)), max_size=3))
    return Device(named.name, named.features - without)


def devices() -> st.SearchStrategy[Device]:
    """Named CPUs, such with features missing, such without a name, and any sets of features."""
    named = (st.sampled_from(FEW) | st.sampled_from(tuple(processors()))).map(device)
    anonymous = named.map(lambda cpu: Device(None, cpu.features))
    free = st.builds(
        Device, st.none() | st.sampled_from(FEW), st.frozensets(st.sampled_from(sorted(features())), max_size=60)
    )
    return named | named | lesser_devices() | anonymous | free
