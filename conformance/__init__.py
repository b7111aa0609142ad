"""Judging: the numbered specification (`SPEC.md`), an executable model of it, strategies and vectors to test it by.

    from olpick.conformance import Device, Image, decode, select

`decode` and `select` are the model: slow, plain, and written from the specification alone. It is what other
implementations are compared with, by `pytest --pyargs olpick.conformance --adapter NAME`. One of your own needs an
adapter (`olpick.conformance.adapters`); a program in another language reads `vectors/*.json`.
"""

from olpick.conformance.answers import (
    Decoded,
    DecodedImage,
    Device,
    Image,
    NotAskedError,
    Problem,
    Reading,
    Selection,
    Verdict,
)
from olpick.conformance.model import decode, device, select

__all__ = [
    "Decoded",
    "DecodedImage",
    "Device",
    "Image",
    "NotAskedError",
    "Problem",
    "Reading",
    "Selection",
    "Verdict",
    "decode",
    "device",
    "select",
]
