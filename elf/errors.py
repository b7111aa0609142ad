"""The exceptions of olpick. All come from `OlpickError` and carry a word of the closed lists."""


class OlpickError(Exception):
    """Root of what olpick raises.

    Attributes:
        code: a word of a closed list in `data/codes.toml`.
        message: what, where, why and what next; lower case, no full stop.
    """

    def __init__(self, code: str, message: str) -> None:
        """Keep the code and the message; `str()` gives the message."""
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        """The message, without the code."""
        return self.message


class DecodeError(OlpickError):
    """Bytes that cannot be read as what they should be (OLP-CONT-002 to 011, 016, 017, 020).

    Attributes:
        offset: where the refused thing begins, in bytes from the start of the buffer or file, 0 or more.
        why: the message without the place.
    """

    def __init__(self, code: str, offset: int, why: str) -> None:
        """Make the message from the place and the reason."""
        super().__init__(code, self._message(offset, why))
        self.args = (code, offset, why)  # what pickle and copy call the class with
        self.offset = offset
        self.why = why

    def moved(self, by: int) -> "DecodeError":
        """The same error, its offset counted from a place `by` bytes earlier."""
        return type(self)(self.code, self.offset + by, self.why)

    @staticmethod
    def _message(offset: int, why: str) -> str:
        return f"at offset {offset}: {why}"


class FileError(DecodeError):
    """What is wrong with a file as a whole and not at one place of it; the offset is 0 and not in the message."""

    @staticmethod
    def _message(offset: int, why: str) -> str:  # noqa: ARG004
        return why
