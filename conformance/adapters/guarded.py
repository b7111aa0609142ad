"""Bytes beside a page that cannot be read, so that a read outside them ends the process (OLP-CONT-001)."""

import ctypes
import mmap
import sys
from typing import Final

__all__ = ["Guarded"]

PAGE: Final = mmap.PAGESIZE
PROT_NONE: Final = 0


class Guarded:
    """One block of memory with a closed page at either end, which takes bytes one after another."""

    def __init__(self, size: int) -> None:
        """Make room for at most `size` bytes at a time.

        Raises:
            OSError: the system does not close pages.
        """
        self._room = -(-size // PAGE) * PAGE
        self._map = mmap.mmap(-1, self._room + 2 * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for page in (start, start + PAGE + self._room):
            if protect(page, PAGE, PROT_NONE):
                raise OSError(ctypes.get_errno(), f"mprotect, {sys.platform}")

    def put(self, data: bytes, *, at_end: bool = True) -> memoryview:
        """The bytes, up against the closed page after them or, else, the one before them.

        Raises:
            ValueError: there is no room for so many.
        """
        if len(data) > self._room:
            raise ValueError(f"{len(data)} bytes, and there is room for {self._room}")
        start = PAGE + (self._room - len(data) if at_end else 0)
        self._map[start : start + len(data)] = data
        return memoryview(self._map)[start : start + len(data)]
