"""Diagnostics: one line each, on standard error."""

import sys


def error(text: str, hint: str = "") -> None:
    """Says what went wrong; the text is lower case and has no full stop."""
    _say("error", text, hint)


def warning(text: str, hint: str = "") -> None:
    """Says what is not as it should be, though olpick goes on."""
    _say("warning", text, hint)


def one_line(text: str) -> str:
    """The text with what does not print, or is no part of a line, written as escapes."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _say(kind: str, text: str, hint: str) -> None:
    if sys.stderr is None:  # print would take standard output instead
        return
    lines = f"olpick: {kind}: {one_line(text)}\n"
    if hint:
        lines += f"olpick: hint: {one_line(hint)}\n"
    try:
        sys.stderr.write(lines)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody is left to tell
