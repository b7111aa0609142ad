"""Little-endian integers at a place that is known to be there."""


def u16(data: bytes, at: int) -> int:
    """Two bytes."""
    return _number(data, at, 2)


def u32(data: bytes, at: int) -> int:
    """Four bytes."""
    return _number(data, at, 4)


def u64(data: bytes, at: int) -> int:
    """Eight bytes."""
    return _number(data, at, 8)


def _number(data: bytes, at: int, width: int) -> int:
    if not 0 <= at <= len(data) - width:
        raise IndexError(at)
    return int.from_bytes(data[at : at + width], "little")
