"""Tables as lines of text: one row a line, however wide that is, or folded to a window.

In a window that is too narrow for a table, cells are folded between words, and the last columns may be told by name in lines below each
row. So no number is torn apart, and nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from bodymotion.cli.text import folded, padded, width, words

__all__ = ["Table"]

MARGIN, GAP, BELOW = 2, 2, 6
"""Blanks before a row, between columns (one where two leave no room), and before what is told below a row."""
WORD = 24
"""Words of more columns are torn apart, if need be."""
LOOKED_AT = 100
"""By so many rows it is found what takes the fewest lines."""


@dataclass
class Table:
    """Rows of cells below the names of the columns; columns named in `right` stand at the right side of theirs."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
    right: frozenset[str] = frozenset()

    def used(self) -> Table:
        """Return the table without the columns in which nothing stands."""
        kept = [i for i in range(len(self.columns)) if any(row[i].strip() for row in self.rows)]
        return Table(
            tuple(self.columns[i] for i in kept), [tuple(row[i] for i in kept) for row in self.rows], self.right
        )

    def plain(self) -> list[str]:
        """Return a line for the names of the columns, and one for each row."""
        full = self._full()
        return [self._line(row, full, GAP) for row in (self.columns, *self.rows)]

    def fitted(self, window: int) -> tuple[list[str], list[str]]:
        """Return the lines of the names, and those of the rows, of `window` columns at most: in the way that takes the fewest lines."""
        full = self._full()
        if _total(full, GAP) <= window:
            return [self._line(self.columns, full, GAP)], [self._line(row, full, GAP) for row in self.rows]
        some = self.rows[:LOOKED_AT]
        ways = self._ways(window, full)
        widths, gap = min(ways, key=lambda way: sum(len(self._folded(row, way[0], way[1], window)) for row in some))
        lines = [line for row in self.rows for line in self._folded(row, widths, gap, window)]
        return self._beside(self.columns, widths, gap), lines

    def _full(self) -> list[int]:
        return [max(map(width, cells)) for cells in zip(self.columns, *self.rows, strict=True)]

    def _ways(self, window: int, full: Sequence[int]) -> list[tuple[list[int], int]]:
        """Return the widths of the first columns and the gap between them, for all columns or fewer, as far as there is room.

        A column is as wide as its longest word at the least; what is left of the window goes to those that need least to be whole.
        """
        longest = [
            min(max(width(word.rstrip()) for cell in cells for word in words(cell) or [""]), WORD)
            for cells in zip(self.columns, *self.rows, strict=True)
        ]
        ways = []
        for shown in range(len(full), 0, -1):
            for gap in (GAP, 1):
                widths = longest[:shown]
                left = window - _total(widths, gap)
                if left < 0:
                    continue
                for i in sorted(range(shown), key=lambda i: full[i] - longest[i]):
                    more = min(full[i] - widths[i], left)
                    widths[i] += more
                    left -= more
                ways.append((widths, gap))
        return ways or [([max(window - MARGIN, 1)], GAP)]

    def _folded(self, row: Sequence[str], widths: Sequence[int], gap: int, window: int) -> list[str]:
        """Return the lines of a row: the columns side by side, and below them what there is no column for."""
        shown = len(widths)
        more = "; ".join(
            f"{name}: {cell}" for name, cell in zip(self.columns[shown:], row[shown:], strict=True) if cell
        )
        below = [" " * BELOW + line for line in folded(more, window - BELOW)] if more else []
        return self._beside(row, widths, gap) + below

    def _beside(self, row: Sequence[str], widths: Sequence[int], gap: int) -> list[str]:
        cells = [folded(cell, columns) for cell, columns in zip(row, widths, strict=False)]
        return [self._line(line, widths, gap) for line in zip_longest(*cells, fillvalue="")]

    def _line(self, cells: Sequence[str], widths: Sequence[int], gap: int) -> str:
        filled = (
            padded(cell, columns, name in self.right)
            for cell, columns, name in zip(cells, widths, self.columns, strict=False)
        )
        return (" " * MARGIN + (" " * gap).join(filled)).rstrip()


def _total(widths: Sequence[int], gap: int) -> int:
    return MARGIN + sum(widths) + gap * (len(widths) - 1)
