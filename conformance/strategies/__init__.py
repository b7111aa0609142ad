"""Hypothesis strategies for all that the rules look at, right and wrong. What they give prints as it was made."""

from olpick.conformance.strategies.containers import Buffer, binaries, buffers, packed
from olpick.conformance.strategies.devices import devices
from olpick.conformance.strategies.elves import broken_elves, host_elves, noted_elves
from olpick.conformance.strategies.hostile import damaged_buffers, hostile_buffers, nested_buffers
from olpick.conformance.strategies.images import image_bytes, image_lists, images
from olpick.conformance.strategies.strings import labels, priorities, required_features, strings, tags, triples

__all__ = [
    "Buffer",
    "binaries",
    "broken_elves",
    "buffers",
    "damaged_buffers",
    "devices",
    "host_elves",
    "hostile_buffers",
    "image_bytes",
    "image_lists",
    "images",
    "labels",
    "nested_buffers",
    "noted_elves",
    "packed",
    "priorities",
    "required_features",
    "strings",
    "tags",
    "triples",
]
