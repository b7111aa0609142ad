"""What was odd in the bytes, though the reading went on."""

from dataclasses import dataclass

from olpick.elf.codes import table


@dataclass(frozen=True, slots=True)
class Finding:
    """One oddity.

    Attributes:
        code: a word of the list `finding` in `data/codes.toml`.
        severity: `note` or `warning`, by that list.
        offset: of the binary, or of the junk, in bytes from the start of the buffer or file.
        message: what, where and why, lower case, no full stop.
    """

    code: str
    severity: str
    offset: int
    message: str

    @classmethod
    def of(cls, code: str, offset: int, message: str) -> "Finding":
        """A finding with the severity that the closed list gives to `code`.

        Raises:
            KeyError: the code is not in the list.
        """
        return cls(code, table("finding")[code].severity, offset, message)
