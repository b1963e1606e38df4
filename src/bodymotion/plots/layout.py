"""Where parts are put on a sheet, in inches. A sheet is filled from above; they are stretched to fit one that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bodymotion.plots.parts import Bars, Cell, Curves, Facts, Ground, Heading, Part, Sheet, Strips
from bodymotion.plots.subject import Subject

__all__ = ["COLUMN_EDGE", "LEFT", "MOST_COLUMNS", "ROW", "SIDE", "WIDTH", "Flow"]

WIDTH = 13.0
"""[inch] of a sheet, when nothing else is asked for."""
TOP, BOTTOM, SIDE = 0.75, 0.55, 0.3
LEFT, BESIDE, COLUMN, COLUMN_EDGE = 1.75, 2.08, 3.25, 0.85
"""[inch] Of an overview: where its plots begin; the room beside them for names and ranges; how wide the column of ground and figures is
at least; and how far the ground ends from the right edge."""
ROW = 0.165
"""[inch] of a row of an overview's strips."""
MOST_COLUMNS = 8
LABELS, NAME, NOTE, TIME, GAP, HEADING = 0.56, 0.2, 0.15, 0.32, 0.1, 0.3
"""[inch] left of a panel, above it for its name and its note, below it for times, between rows, and above a group."""
LEAST_HEIGHT, LEAST_PANEL, LEAST_ROW, LEAST_BAR = 0.6, 0.45, 0.14, 0.17
"""[inch] Less high are not: curves across a sheet, panels in a grid, rows of strips, and bars."""
LEAST_WIDTH, LEAST_STRIPS, LEAST_FACTS, LEAST_GROUND, LEAST_IN_GRID = 1.8, 2.4, 3.2, 2.3, 0.75
"""[inch] Less wide are not: curves across a sheet, strips, key figures, the ground, and panels in a grid."""
NAME_LETTER, NOTE_LETTER = 0.07, 0.055
"""[inch] A letter above a panel of a grid is about so wide."""
TITLE_LETTER, ASIDE_LETTER, MOST_TITLE = 0.078, 0.062, 3.0
"""[inch] The same above curves across a sheet; and longer titles than this may be cut off with an ellipsis."""
MOST_NAME = 24
"""Names of more letters may be cut off with an ellipsis."""


@dataclass
class Flow:
    """A sheet that is being filled: how wide it is, how far down it is filled, and by how much heights are stretched.

    Attributes
    ----------
    columns:
        How many panels of a grid stand in a row; 0 for as many as suit their number.
    room:
        Least heights are multiplied by this.
    narrow:
        Set when something has not the width that it needs to be read.
    gridded:
        Set when there is a grid of panels, so that the number of columns matters.
    """

    width: float = WIDTH
    stretch: float = 1.0
    columns: int = 0
    room: float = 1.0
    y: float = TOP
    cells: list[Cell] = field(default_factory=list)
    narrow: bool = False
    gridded: bool = False

    @property
    def aside(self) -> float:
        """Where the column of an overview begins in which the ground and the figures are [inch]."""
        return min(0.75 * self.width, self.width - COLUMN)

    @property
    def middle(self) -> float:
        """Where the plots of an overview end [inch]: names and ranges stand beside them."""
        return self.aside - BESIDE

    def across(self, part: Part, height: float, *, left: float, right: float, time_labels: bool = True) -> None:
        """Put a part from `left` to `right` [inch]; `height` is stretched."""
        least = min(_lowest(part, height) * self.room, height)
        tall = height if isinstance(part, (Facts, Ground)) else max(height * self.stretch, least)
        self.narrow |= right - left < _narrowest(part) - 1e-6
        self.y += NAME + 0.05
        self.cells.append(Cell(part, left, self.y, right - left, tall, time_labels))
        self.y += tall + (TIME if time_labels else 0.08)

    def heading(self, text: str, x: float = SIDE) -> None:
        """Put a heading."""
        self.cells.append(Cell(Heading(text), x, self.y, self.width - x - SIDE, HEADING))
        self.y += HEADING

    def beside(self, top: float, left: float, ground: Ground | None, found: Facts) -> None:
        """Put the ground, square by square, and facts below it into the column from `left` [inch] to the right edge, from `top` down."""
        column = Flow(self.width, y=top)
        right = self.width - COLUMN_EDGE
        if ground is not None:
            height = (right - left) * (ground.y[1] - ground.y[0]) / (ground.x[1] - ground.x[0])
            column.across(ground, height, left=left, right=right)
            column.y += 0.25 + 0.195 * len(ground.names)
        column.across(
            found,
            sum(0.34 if where else 0.2 for *_, where in found.rows),
            left=left - 0.4,
            right=self.width - 0.3,
            time_labels=False,
        )
        self.cells += column.cells
        self.narrow |= column.narrow
        self.y = max(self.y, column.y)

    def grid(self, groups: Sequence[tuple[str, Sequence[Curves]]]) -> None:
        """Put groups of panels in rows; few panels are large, and small groups stand side by side."""
        self.gridded = True
        suited, height = _suited([panels for _, panels in groups])
        columns = self.columns or suited
        slot = (self.width - 2 * SIDE) / columns
        for _, panels in groups:
            for one in panels:
                letters = max(min(len(one.title), MOST_NAME) * NAME_LETTER, len(one.note) * NOTE_LETTER)
                self.narrow |= slot < max(LABELS + 0.08 + LEAST_IN_GRID, letters + 0.1)
        for row in _rows(groups, columns):
            named = any(name for name, _ in row)
            noted = any(one.note for _, panels in row for one in panels)
            top = self.y + (HEADING if named else 0.05)
            tall = max(height * self.stretch, LEAST_PANEL * self.room)
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
        """Return the sheet as it is filled."""
        times = subject.times
        start, end = (float(times[0]), float(times[-1])) if len(times) else (0.0, 1.0)
        heading = subject.title + (f" — {title}" if title else "")
        span = f"{len(times)} frame{'s' * (len(times) != 1)}, {start:.2f} … {end:.2f} s"
        made = Sheet(
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
        more = made.under_height
        return replace(made, cells=tuple(cell.down(more) for cell in made.cells), height=made.height + more)


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


def _suited(groups: Sequence[Sequence[object]]) -> tuple[int, float]:
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


def _lowest(part: Part, height: float) -> float:
    """Say how high a part is at least to be read, of one that is so high by itself [inch]."""
    if isinstance(part, Curves):
        return LEAST_HEIGHT
    if isinstance(part, Strips):
        return LEAST_ROW * len(part.rows)
    return LEAST_BAR * len(part.labels) if isinstance(part, Bars) else height


def _narrowest(part: Part) -> float:
    """Say how wide a part across a sheet is at least to be read [inch]."""
    if isinstance(part, (Facts, Heading)):
        return LEAST_FACTS
    if isinstance(part, Strips):
        return LEAST_STRIPS
    if isinstance(part, Ground):
        return LEAST_GROUND
    note = part.note if isinstance(part, Curves) else ""
    return max(LEAST_WIDTH, min(len(part.title) * TITLE_LETTER + len(note) * ASIDE_LETTER + 0.2, MOST_TITLE))
