"""A page of headings, facts (a name and a value), lines and tables, printed with rich.

On a terminal it is coloured and folded to the width of the window. Anywhere else it is
plain text that does not depend on a window: one row a line, never wrapped or cut,
columns at least two blanks apart, so that grep and awk can work on it.
"""

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bodymotion.cli.output import one_line

NAME_WIDTH = 18  # Columns of a terminal for the names of facts.
UNLIMITED_WIDTH = 1_000_000  # Columns of the console for plain text.


@dataclass
class Page:
    """The parts of a page, in order.

    A tuple is a table: the names of its columns, those to the right with a `>` before,
    and its rows.
    """

    parts: list[RenderableType | tuple[Sequence[str], Sequence[Sequence[str]]]] = field(
        default_factory=list
    )

    def heading(self, text: str) -> None:
        """Begin a section."""
        if self.parts:
            self.parts.append(Text(""))
        self.parts.append(Text(one_line(text), "bold"))

    def fact(self, name: str, value: object) -> None:
        """Add a value under its name.

        Further lines of the value are set below the first.
        """
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(min_width=NAME_WIDTH, style="cyan", no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(
            Text(one_line(name)),
            Text("\n".join(map(one_line, str(value).splitlines()))),
        )
        self.parts.append(Padding(grid, (0, 0, 0, 2), expand=False))

    def line(self, text: str, style: str = "") -> None:
        """Add a line of its own."""
        self.parts.append(
            Padding(Text(one_line(text), style), (0, 0, 0, 2), expand=False)
        )

    def table(self, columns: str, rows: Iterable[Sequence[object]]) -> None:
        """Add a table, without its empty columns.

        Nothing if it has no rows.

        `columns` are their names with `|` between, and `>` before those that are
        aligned to the right: "name | >mass [kg]".
        """
        names = columns.split(" | ")
        cells = [[one_line(cell) for cell in row] for row in rows]
        used = [k for k in range(len(names)) if any(row[k].strip() for row in cells)]
        if cells:
            self.parts.append(
                ([names[k] for k in used], [[row[k] for k in used] for row in cells])
            )

    def plain(self) -> str:
        """Return the page as plain text, with a newline at its end."""
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
        return "".join(
            f"{line.rstrip()}\n" for line in stream.getvalue().split("\n")[:-1]
        )

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
            if not isinstance(part, tuple):
                console.print(part)
                continue
            columns, rows = part
            table = Table(
                box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold cyan"
            )
            for name in columns:
                right = name.startswith(">")
                table.add_column(
                    Text(name.lstrip(">")),
                    justify="right" if right else "left",
                    overflow="fold",
                )
            for row in rows:
                table.add_row(*map(Text, row))
            if (
                Measurement.get(console, console.options, table).minimum + 2
                <= console.width
            ):
                console.print(Padding(table, (0, 0, 0, 2), expand=False))
                continue
            # In a window that is too narrow for the longest words: rows as text, so
            # that no number is split.
            for row in rows:
                pairs = zip(columns, row, strict=True)
                cells = (
                    f"{name.lstrip('>')} {cell.strip()}"
                    for name, cell in pairs
                    if cell.strip()
                )
                console.print(
                    Padding(Text("; ".join(cells)), (0, 0, 0, 2), expand=False)
                )
