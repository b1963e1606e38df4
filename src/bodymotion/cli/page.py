"""What a verb prints for people: headings, facts (a name and a value) and tables, in one order.

On a terminal it is in colour, and folded to the width of the window. Anywhere else it is plain text that does not depend on a window:
one row a line, never wrapped or cut, columns at least two blanks apart, so that grep and awk can work on it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from bodymotion.cli.table import Table
from bodymotion.cli.text import folded, one_line, padded, width

__all__ = ["Page", "Table"]


@dataclass
class Page:
    """The parts of a page, in order: ("heading", text), ("fact", name, value), ("line", text, style) or a `Table`."""

    parts: list[tuple[str, ...] | Table] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.parts.append(("heading", one_line(text)))

    def fact(self, name: str, value: object) -> None:
        """Add a value under its name; further lines of the value are set below the first."""
        lines = str(value).splitlines() or [""]
        self.parts.append(("fact", one_line(name), *(one_line(line) for line in lines)))

    def line(self, text: str, style: str = "") -> None:
        """Add a line of its own."""
        self.parts.append(("line", one_line(text), style))

    def table(self, table: Table) -> None:
        """Add a table, without its empty columns; nothing if it has no rows."""
        if table.rows:
            rows = [tuple(one_line(cell) for cell in row) for row in table.rows]
            self.parts.append(Table(table.columns, rows, table.right).used())

    def plain(self) -> str:
        """Return the page as plain text, with a newline at its end."""
        lines: list[str] = []
        for part in self.parts:
            if isinstance(part, Table):
                lines += part.plain()
            elif part[0] == "heading":
                lines += ["", part[1]] if lines else [part[1]]
            elif part[0] == "fact":
                lines += [f"  {padded(part[1], NAMES)}  {part[2]}", *(f"  {'':{NAMES}}  {more}" for more in part[3:])]
            else:
                lines.append(f"  {part[1]}")
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def print(self) -> None:
        """Print the page on stdout: on a terminal in colour and folded to its window, else plain."""
        if not sys.stdout.isatty():
            sys.stdout.write(self.plain())
            return
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False, markup=False, emoji=False)
        for line in self._styled(console.width):
            console.print(Text.assemble(*line), soft_wrap=True)

    def _styled(self, window: int) -> Iterator[list[tuple[str, str]]]:
        """Return the lines for a window of so many columns, each of pieces with their style."""
        for place, part in enumerate(self.parts):
            if isinstance(part, Table):
                names, rows = part.fitted(window)
                yield from ([(line, "bold cyan")] for line in names)
                yield from ([(line, "")] for line in rows)
            elif part[0] == "heading":
                first, *more = folded(part[1], window - HANGING)
                yield [(("\n" if place else "") + first, "bold")]
                yield from ([(" " * HANGING + line, "bold")] for line in more)
            elif part[0] == "fact":
                name = f"  {padded(part[1], NAMES)}  "
                lines = [line for text in part[2:] for line in folded(text, window - width(name))]
                yield [(name, "cyan"), (lines[0], "")]
                yield from ([(" " * (NAMES + 4) + line, "")] for line in lines[1:])
            else:
                first, *more = folded(part[1], window - HANGING)
                yield [("  " + first, part[2])]
                yield from ([(" " * HANGING + line, part[2])] for line in more)


NAMES = 18
"""How wide the names of facts are."""
HANGING = 4
"""How far the further lines of a long line are set in."""
