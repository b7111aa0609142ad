"""The specification as a program, to be read beside it: one module a section, one function a rule.

It is written from `SPEC.md` and the two data files alone and shares no code with what it judges. Nothing here is
meant to be fast.
"""

from olpick.conformance.model.container import decode
from olpick.conformance.model.order import select
from olpick.conformance.model.tables import device

__all__ = ["decode", "device", "select"]
