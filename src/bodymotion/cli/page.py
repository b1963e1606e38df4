"""What a verb prints for people: headings, facts (a name and a value) and tables, in one order.

On a terminal `rich` lays it out, in colour and to the width of the window. Anywhere else it is plain text that does not depend on a window:
one row a line, never wrapped or cut, columns at least two blanks apart, so that grep and awk can work on it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bodymotion.cli.text import one_line, padded, width

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Page", "Table"]


@dataclass
class Table:
    """Rows of cells below the names of the columns; columns named in `right` stand at the right side of theirs."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
    right: frozenset[str] = frozenset()

    def used(self) -> Table:
        """Give the table without the columns in which nothing stands."""
        kept = [i for i in range(len(self.columns)) if any(row[i].strip() for row in self.rows)]
        return Table(
            tuple(self.columns[i] for i in kept), [tuple(row[i] for i in kept) for row in self.rows], self.right
        )


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
        """Give the page as plain text, with a newline at its end."""
        lines: list[str] = []
        for part in self.parts:
            if isinstance(part, Table):
                lines += _plain_table(part)
            elif part[0] == "heading":
                lines += ["", part[1]] if lines else [part[1]]
            elif part[0] == "fact":
                lines += [f"  {padded(part[1], NAMES)}  {part[2]}", *(f"  {'':{NAMES}}  {more}" for more in part[3:])]
            else:
                lines.append(f"  {part[1]}")
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def print(self) -> None:
        """Print the page on stdout: laid out by `rich` on a terminal, else plain."""
        if not sys.stdout.isatty():
            sys.stdout.write(self.plain())
            return
        from rich.console import Console
        from rich.padding import Padding
        from rich.text import Text

        console = Console(highlight=False, markup=False, emoji=False)
        for place, part in enumerate(self.parts):
            if isinstance(part, Table):
                _print_table(console, part)
            elif part[0] == "heading":
                console.print(Text(("\n" if place else "") + part[1], style="bold"))
            elif part[0] == "fact":
                text = Text(f"{padded(part[1], NAMES)}  ", style="cyan")
                text.append(("\n" + " " * (NAMES + 2)).join(part[2:]), style="default")
                console.print(Padding(text, (0, 0, 0, 2)))
            else:
                console.print(Padding(Text(part[1], style=part[2]), (0, 0, 0, 2)))


NAMES = 18
"""How wide the names of facts are."""
LAST = 16
"""How wide the last column of a table must be at the least, where it is folded."""


def _widths(table: Table) -> list[int]:
    return [max(width(name), *(width(row[i]) for row in table.rows)) for i, name in enumerate(table.columns)]


def _plain_table(table: Table) -> list[str]:
    return [
        "  "
        + "  ".join(
            padded(cell, columns, name in table.right)
            for cell, columns, name in zip(row, _widths(table), table.columns, strict=True)
        )
        for row in (table.columns, *table.rows)
    ]


def _print_table(console: Console, table: Table) -> None:
    """Print with the last column folded to the window; where the others alone are too wide for it, the terminal wraps the lines."""
    from rich import table as rich_table
    from rich.padding import Padding
    from rich.text import Text

    header = "bold cyan"
    if 2 + sum(columns + 2 for columns in _widths(table)[:-1]) + LAST > console.width:
        for number, line in enumerate(_plain_table(table)):
            console.print(Text(line.rstrip(), style="" if number else header), soft_wrap=True)
        return
    laid_out = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=header)
    for name in table.columns:
        last = name == table.columns[-1]
        laid_out.add_column(
            Text(name), justify="right" if name in table.right else "left", no_wrap=not last, overflow="fold"
        )
    for row in table.rows:
        laid_out.add_row(*(Text(cell) for cell in row))
    console.print(Padding(laid_out, (0, 0, 0, 2)))
