"""A page of headings, facts (a name and a value), lines and tables, printed with rich.

On a terminal it is coloured and folded to the width of the window. Anywhere else it is
plain text that does not depend on a window: one row a line, never wrapped or cut,
columns at least two blanks apart, so that grep and awk can work on it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bodymotion.cli.output import one_line

NAME_WIDTH = 18
"""Columns of a terminal for the names of facts."""
INDENT = 2
"""Columns of a terminal before facts, lines and tables."""
UNLIMITED_WIDTH = 1_000_000
"""Columns of the console for plain text."""


@dataclass
class Page:
    """The parts of a page, in order."""

    parts: list[RenderableType | _Rows] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Begin a section."""
        # A blank line between sections.
        if self.parts:
            self.parts.append(Text(""))
        self.parts.append(Text(one_line(text), "bold"))

    def fact(self, name: str, value: object) -> None:
        """Add a value under its name.

        Further lines of the value are set below the first.
        """
        # A text of a file may have several lines; each is made safe for a terminal.
        lines = [one_line(line) for line in str(value).splitlines()]
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(min_width=NAME_WIDTH, style="cyan", no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(one_line(name)), Text("\n".join(lines)))
        self.parts.append(_indented(grid))

    def line(self, text: str, style: str = "") -> None:
        """Add a line of its own."""
        self.parts.append(_indented(Text(one_line(text), style)))

    def table(self, columns: str, rows: Iterable[Sequence[object]]) -> None:
        """Add a table, without its empty columns.

        Nothing if it has no rows.

        `columns` are their names with `|` between, and `>` before those that are
        aligned to the right: "name | >mass [kg]".
        """
        texts = [list(map(one_line, row)) for row in rows]
        if not texts:
            return
        names = columns.split(" | ")
        # Columns without a value in any row are left out.
        used = [
            column
            for column, cells in enumerate(zip(*texts, strict=True))
            if "".join(cells).strip()
        ]
        self.parts.append(
            _Rows(_select(names, used), [_select(row, used) for row in texts])
        )

    def plain(self) -> str:
        """Return the page as plain text, with a newline at its end."""
        # A console of its own, whose text does not depend on the window.
        stream = io.StringIO()
        console = Console(
            file=stream,
            width=UNLIMITED_WIDTH,
            color_system=None,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
        self._print(console)
        # rich pads each line with blanks up to the width of the table.
        lines = stream.getvalue().split("\n")[:-1]
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def print(self) -> None:
        """Print the page on stdout.

        On a terminal in colour and folded to its window, else as plain text.
        """
        if sys.stdout.isatty():
            self._print(Console(highlight=False, markup=False, emoji=False))
        else:
            sys.stdout.write(self.plain())

    def _print(self, console: Console) -> None:
        for part in self.parts:
            if isinstance(part, _Rows):
                part.print(console)
            else:
                console.print(part)


class _Rows(NamedTuple):
    """A table: the names of its columns, those to the right with a `>` before."""

    columns: Sequence[str]
    cells: Sequence[Sequence[str]]

    def print(self, console: Console) -> None:
        """Print the table.

        In a window that is too narrow for the longest words: as a line for each row,
        so that no number is split.
        """
        table = self._table()
        # What does not fit is printed row by row: wrapped cells are hard to read.
        needed = Measurement.get(console, console.options, table).minimum + INDENT
        if needed <= console.width:
            console.print(_indented(table))
            return
        names = [name.lstrip(">") for name in self.columns]
        for row in self.cells:
            pairs = [
                f"{name} {cell.strip()}"
                for name, cell in zip(names, row, strict=True)
                if cell.strip()
            ]
            console.print(_indented(Text("; ".join(pairs))))

    def _table(self) -> Table:
        """Return the table of rich."""
        table = Table(
            box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold cyan"
        )
        for name in self.columns:
            table.add_column(
                # As `Text`: names from files may have brackets, which rich would take
                # as markup.
                Text(name.lstrip(">")),
                justify="right" if name.startswith(">") else "left",
                overflow="fold",
            )
        for row in self.cells:
            table.add_row(*map(Text, row))
        return table


def _select(cells: Sequence[str], columns: Sequence[int]) -> list[str]:
    """Return some cells of a row."""
    return [cells[column] for column in columns]


def _indented(part: RenderableType) -> Padding:
    """Return a part of a page with blanks before it."""
    return Padding(part, (0, 0, 0, INDENT), expand=False)
