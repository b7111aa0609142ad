"""Implementations behind one face, so that the suite can ask each the same.

An adapter is a module of this package with a function `adapter`, which gives an object with a `name` that is a
`Decoder`, a `Selector` or both.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Final, Protocol, runtime_checkable

from olpick.conformance.answers import Decoded, Device, Image, Reading, Selection

__all__ = ["NAMES", "Adapter", "Decoder", "Selector", "find"]

NAMES: Final = ("core", "elf", "model")
"""The adapters that come with the suite."""


@runtime_checkable
class Adapter(Protocol):
    """Some implementation."""

    @property
    def name(self) -> str:
        """The word for it on the command line."""


@runtime_checkable
class Decoder(Adapter, Protocol):
    """One that reads containers."""

    def decode(self, buffer: bytes, reading: Reading | None = None) -> Decoded:
        """Section 1: what the buffer holds; without a `reading`, with all that it can inflate, up to 1 GiB.

        Raises:
            NotAskedError: the implementation cannot be asked to read so.
        """


@runtime_checkable
class Selector(Adapter, Protocol):
    """One that judges images."""

    def select(self, images: Sequence[Image], device: Device, policy: str) -> Selection:
        """Sections 2 to 5: the choice among the images."""


def find(name: str) -> Adapter:
    """The adapter of that name: one of `NAMES`, or a module of yours that has the function `adapter`.

    Raises:
        ModuleNotFoundError: there is none.
        TypeError: it is neither decoder nor selector.
    """
    made = import_module(f"olpick.conformance.adapters.{name}" if name in NAMES else name).adapter()
    if not isinstance(made, Decoder | Selector):
        raise TypeError(f"{name}: neither decode(buffer) nor select(images, device, policy)")
    return made
