"""The model itself, to see that the vectors and the properties hold of it."""

from collections.abc import Sequence

from olpick.conformance import model
from olpick.conformance.answers import Decoded, Device, Image, Reading, Selection

__all__ = ["Model", "adapter"]


class Model:
    """`olpick.conformance.model`."""

    name = "model"

    def decode(self, buffer: bytes, reading: Reading | None = None) -> Decoded:
        """Section 1."""
        return model.decode(buffer, reading)

    def select(self, images: Sequence[Image], device: Device, policy: str) -> Selection:
        """Sections 2 to 5."""
        return model.select(images, device, policy)


def adapter() -> Model:
    """The adapter."""
    return Model()
