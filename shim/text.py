"""Text for people: lines and tables, through rich on a terminal and plain elsewhere."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TextIO

_GAP: Final = "  "
_MOST: Final = 60


def shown(text: str, most: int = _MOST) -> str:
    """Text of somebody else, fit to be printed: escapes for what does not print, and not longer than `most`."""
    cut = text if len(text) <= most else f"{text[: most - 3]}..."
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in cut)


def shortened(names: Sequence[str], most: int = 4) -> str:
    """A list of names, the rest counted."""
    listed = " ".join(names[:most])
    return f"{listed} and {len(names) - most} more" if len(names) > most else listed


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. `style` is rich's."""

    cells: tuple[str, ...]
    style: str = ""


@dataclass(slots=True)
class Page:
    """Lines and tables in the order in which they were added."""

    _parts: list[Row | tuple[tuple[str, ...], tuple[Row, ...]]] = field(default_factory=list)

    def line(self, text: str = "", style: str = "") -> None:
        """Add a line."""
        self._parts.append(Row((text,), style))

    def table(self, header: Sequence[str], rows: Iterable[Row]) -> None:
        """Add a table, its columns as wide as what is in them."""
        self._parts.append((tuple(header), tuple(rows)))

    def lines(self) -> Iterator[Row]:
        """All of it as rows of one cell, the tables aligned."""
        for part in self._parts:
            if isinstance(part, Row):
                yield part
            else:
                yield from _aligned(*part)

    def plain(self) -> str:
        """All of it without styles."""
        return "".join(f"{row.cells[0]}\n" for row in self.lines())

    def show(self, stream: TextIO) -> None:
        """Write it: in colour to a terminal, plain to anything else. Long lines are left to the terminal to fold."""
        if stream.isatty():
            from rich.console import Console  # 60 ms, for people only
            from rich.text import Text

            console = Console(file=stream, highlight=False)
            for row in self.lines():
                console.print(Text(row.cells[0], style=row.style), soft_wrap=True)
        else:
            encoding = stream.encoding or "utf-8"
            stream.write(self.plain().encode(encoding, "backslashreplace").decode(encoding))


def _aligned(header: tuple[str, ...], rows: tuple[Row, ...]) -> Iterator[Row]:
    table = (Row(header, "dim"), *rows)
    widths = [max(len(row.cells[column]) for row in table) for column in range(len(header))]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row.cells, widths, strict=True))
        yield Row((_GAP.join(cells).rstrip(),), row.style)
