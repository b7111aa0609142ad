"""Small writers of containers and host ELF files, to make test data with: right ones, and wrong in a stated way.

They share no code with what is tested.
"""

from olpick.conformance.builders.binary import Binary, Entry
from olpick.conformance.builders.elf import Elf, Segment, dynamic, isa_note, note, shared_object
from olpick.conformance.builders.packed import Packed

__all__ = ["Binary", "Elf", "Entry", "Packed", "Segment", "dynamic", "isa_note", "note", "shared_object"]
