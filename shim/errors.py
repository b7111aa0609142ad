"""What the launcher and the command line raise.

Import this module where something is raised or caught, not at the top of a module: `olpick.elf` takes as long to import
as everything else that `olpick run` needs, and a run without an error needs nothing of it.
"""

from olpick.elf.errors import OlpickError


class ShimError(OlpickError):
    """Root of what `olpick.shim` raises.

    Attributes:
        hint: what the user can do about it, or "".
        status: the exit status of a query command; `olpick run` has its own.
    """

    status = 4

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        """Keep code, message and hint."""
        super().__init__(code, message)
        self.args = (code, message, hint)  # what pickle and copy call the class with
        self.hint = hint


class LibraryError(ShimError):
    """There is no usable libolpick.so; its code is `no-library`."""


class ControlError(ShimError, ValueError):
    """A control that does not exist, or a value that it does not take; `no-control` or `bad-value`."""

    status = 2


class ProgramError(ShimError):
    """The command that `olpick run` was given cannot be started; `not-found` or `not-executable`."""

    @property
    def run_status(self) -> int:
        """What `olpick run` ends with: 127 when there is no such program, 126 when it cannot be executed."""
        return 127 if self.code == "not-found" else 126
