"""Vectors: containers with the answers that the specification asks for, as JSON that any program can read.

`schema.json` says what a file may hold. The files are made by `python -m olpick.conformance.vectors.make` from the
cases in `cases/`, whose expected answers are written by hand.
"""

from olpick.conformance.vectors.check import disagreements
from olpick.conformance.vectors.files import Vector, load, vectors

__all__ = ["Vector", "disagreements", "load", "vectors"]
