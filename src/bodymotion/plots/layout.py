"""Where parts are put on a sheet, in inches. A sheet is filled from above; heights can be stretched to fit one that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bodymotion.plots.parts import Cell, Curves, Facts, Ground, Heading, Part, Sheet
from bodymotion.plots.subject import Subject

__all__ = ["ASIDE", "COLUMN_EDGE", "LEFT", "MIDDLE", "ROW", "WIDTH", "Flow", "columns_for", "fitted"]

WIDTH = 13.0
"""[inch] of a sheet, when nothing else is asked for."""
TOP, BOTTOM, SIDE = 0.75, 0.55, 0.3
LEFT, MIDDLE, ASIDE, COLUMN_EDGE = 1.75, 0.59, 0.75, 0.85
"""Of an overview: [inch] where its plots begin; as shares of the width where they end, and where the ground and the figures begin; and
[inch] how far the ground ends from the right edge."""
ROW = 0.165
"""[inch] of a row of an overview's strips."""
MOST_COLUMNS = 8
LABELS, NAME, NOTE, TIME, GAP, HEADING = 0.56, 0.2, 0.15, 0.32, 0.1, 0.3
"""[inch] left of a panel, above it for its name and its note, below it for times, between rows, and above a group."""


@dataclass
class Flow:
    """A sheet that is being filled: how wide it is, how far down it is filled, and by how much heights are stretched."""

    width: float = WIDTH
    stretch: float = 1.0
    y: float = TOP
    cells: list[Cell] = field(default_factory=list)

    def across(self, part: Part, height: float, *, left: float, right: float, time_labels: bool = True) -> None:
        """Put a part from `left` to `right` [inch]; `height` is stretched."""
        tall = height * self.stretch
        self.y += NAME + 0.05
        self.cells.append(Cell(part, left, self.y, right - left, tall, time_labels))
        self.y += tall + (TIME if time_labels else 0.08)

    def heading(self, text: str, x: float = SIDE) -> None:
        """Put a heading."""
        self.cells.append(Cell(Heading(text), x, self.y, self.width - x - SIDE, HEADING))
        self.y += HEADING

    def beside(self, top: float, left: float, ground: Ground | None, found: Facts) -> None:
        """Put the ground, square by square, and facts below it into the column from `left` [inch] to the right edge, from `top` down."""
        column = Flow(self.width, self.stretch if ground is None else 1.0, top)
        right = self.width - COLUMN_EDGE
        if ground is not None:
            height = (right - left) * (ground.y[1] - ground.y[0]) / (ground.x[1] - ground.x[0])
            column.across(ground, height, left=left, right=right)
            column.y += 0.25 + 0.195 * ground.named
        column.across(
            found,
            sum(0.34 if where else 0.2 for *_, where in found.rows),
            left=left - 0.4,
            right=self.width - 0.3,
            time_labels=False,
        )
        self.cells += column.cells
        self.y = max(self.y, column.y)

    def grid(self, groups: Sequence[tuple[str, Sequence[Curves]]], columns: int, height: float) -> None:
        """Put groups of panels in rows of so many columns; small groups stand side by side."""
        slot = (self.width - 2 * SIDE) / columns
        for row in _rows(groups, columns):
            named = any(name for name, _ in row)
            noted = any(one.note for _, panels in row for one in panels)
            top = self.y + (HEADING if named else 0.05)
            tall = height * self.stretch
            frame = top + NAME + (NOTE if noted else 0.0)
            at = 0
            for name, panels in row:
                if name:
                    self.cells.append(Cell(Heading(name), SIDE + at * slot, top - HEADING, slot * len(panels), HEADING))
                for one in panels:
                    x = SIDE + at * slot + LABELS
                    self.cells.append(Cell(one, x, frame, slot - LABELS - 0.08, tall))
                    at += 1
            self.y = frame + tall + TIME + GAP

    def _titled(self, cell: Cell) -> Cell:
        """Say below the lowest of the cells that stand in a column what the numbers are, and left of the first of those in a row."""
        if isinstance(cell.part, (Heading, Facts, Ground)):
            return cell
        timed = [one for one in self.cells if not isinstance(one.part, (Heading, Facts, Ground))]
        below = any(
            one.y > cell.y + 0.1 and one.x < cell.x + cell.width and cell.x < one.x + one.width for one in timed
        )
        first = not any(
            isinstance(one.part, Curves)
            and isinstance(cell.part, Curves)
            and one.part.unit == cell.part.unit
            and abs(one.y - cell.y) < 1e-6
            and 0 < cell.x - one.x < one.width + LABELS + 0.2
            for one in timed
        )
        return replace(cell, time_title=cell.time_labels and not below, unit_title=first)

    def sheet(self, name: str, title: str, subject: Subject, notes: Sequence[str] = ()) -> Sheet:
        """Give the sheet as it is filled."""
        times = subject.times
        start, end = (float(times[0]), float(times[-1])) if len(times) else (0.0, 1.0)
        heading = subject.title + (f" — {title}" if title else "")
        span = f"{len(times)} frame{'s' * (len(times) != 1)}, {start:.2f} … {end:.2f} s"
        return Sheet(
            name,
            heading,
            " · ".join(filter(None, (subject.about, span))),
            tuple(self._titled(cell) for cell in self.cells),
            self.width,
            self.y + BOTTOM - 0.3,
            start,
            end,
            (*subject.notes, *notes),
        )


def _rows(groups: Sequence[tuple[str, Sequence[Curves]]], columns: int) -> list[list[tuple[str, Sequence[Curves]]]]:
    rows: list[list[tuple[str, Sequence[Curves]]]] = []
    free = 0
    for name, panels in groups:
        if not panels:
            continue
        if len(panels) <= free:
            rows[-1].append((name, panels))
            free -= len(panels)
            continue
        lines = -(-len(panels) // columns)
        each = -(-len(panels) // lines)
        for first in range(0, len(panels), each):
            rows.append([(name if first == 0 else "", panels[first : first + each])])
            free = columns - len(panels[first : first + each])
    return rows


def columns_for(groups: Sequence[Sequence[object]]) -> tuple[int, float]:
    """Say how many panels a row has, and how high [inch] they are: few ones are large."""
    count = sum(len(group) for group in groups)
    if count <= 3:
        return 1, 1.9
    if count <= 8:
        return 2, 1.7
    if count <= 12:
        return 3, 1.4
    longest = max(len(group) for group in groups)
    return (max(4, min(longest, MOST_COLUMNS)), 1.05)


def fitted(make: Callable[[Flow], Sheet], width: float | None, height: float | None) -> Sheet:
    """Make a sheet of this size [inch]; without a height, as high as it comes."""
    wide = width or WIDTH
    sheet = make(Flow(wide))
    if height is None:
        return sheet
    rise = make(Flow(wide, stretch=2.0)).height - sheet.height
    stretch = 1.0 + (height - sheet.height) / rise if rise > 0 else 1.0
    return replace(make(Flow(wide, stretch=max(stretch, 0.25))), height=max(height, 1.0))
