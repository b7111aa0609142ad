"""The Python decoder, `olpick.elf.container`. It reads containers and judges nothing.

All of a reading is compared. It inflates by what its Python has, and cannot be told not to.
"""

from olpick.conformance.answers import Decoded, DecodedImage, NotAskedError, Problem, Reading
from olpick.conformance.model.tables import meaningful_keys
from olpick.elf import container

__all__ = ["Elf", "adapter"]


class Elf:
    """`olpick.elf.container.read`, not strict."""

    name = "elf"

    def decode(self, buffer: bytes, reading: Reading | None = None) -> Decoded:
        """Section 1."""
        how = reading or Reading()
        if not how.inflate:
            raise NotAskedError
        read = container.read(buffer, strict=False, limit=how.limit)
        images = []
        for image in read.images:
            strings = {_bytes(key): _bytes(value) for key, value in image.strings.items()}
            images.append(
                DecodedImage(
                    binary=image.binary,
                    offset=image.offset,
                    data=bytes(image.data),
                    kind=image.kind,
                    producer=image.producer,
                    flags=image.flags,
                    metadata=image.metadata_only,
                    keys={key: value for key, value in strings.items() if key in meaningful_keys()},
                    strings=strings,
                    findings=frozenset(finding.code for finding in image.findings),
                )
            )
        # The reader repeats those of the images among its own.
        of_images = [finding for image in read.images for finding in image.findings]
        of_walk = [finding for finding in read.findings if finding not in of_images]
        return Decoded(
            tuple(images),
            tuple(Problem(finding.code, finding.offset) for finding in of_walk),
            Problem(read.error.code, read.error.offset) if read.error else None,
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def adapter() -> Elf:
    """The adapter."""
    return Elf()
