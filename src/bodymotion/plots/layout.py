"""The layout of charts.

Cells side by side and below each other, and charts of a given size.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.plots.parts import (
    Bars,
    Cell,
    Chart,
    CurveRows,
    Curves,
    Ground,
    Heading,
    KeyFigures,
    Part,
)
from bodymotion.plots.subject import Subject

WIDTH = 13.0  # [inch] Default width of a chart.
# [inch] Margins of a chart.
TOP = 0.75
BOTTOM = 0.55
SIDE = 0.3
LEFT = 1.75
BESIDE = 2.08
COLUMN = 3.25
COLUMN_EDGE = 0.85
"""[inch] In an overview: left edge of its plots; space beside them for names and ranges; minimum width of the column with ground and
figures; distance of the ground from the right edge."""
ROW = 0.165  # [inch] Height of a row of curves in an overview.
MAX_COLUMNS = 8
NUMBERS = 0.7
NAMES = 1.5
"""[inch] Space left of curves across a chart for numbers, and right of them for the names of several lines."""
LABELS = 0.56
NAME = 0.2
NOTE = 0.15
TIME = 0.32
GAP = 0.1
HEADING = 0.3
"""[inch] Space left of a panel, above it for name and note, below it for times, between rows, and above a group."""
MIN_HEIGHT = 0.6
MIN_PANEL = 0.45
MIN_ROW = 0.14
MIN_BAR = 0.17
"""[inch] Minimum heights of curves across a chart, panels in a grid, rows of curves, and bars."""
MIN_WIDTH = 1.8
MIN_STRIPS = 2.4
MIN_FACTS = 3.2
MIN_GROUND = 2.3
MIN_IN_GRID = 0.75
"""[inch] Minimum widths of curves across a chart, rows of curves, key figures, the ground, and panels in a grid."""
# [inch] Mean width of a letter above a panel of a grid.
NAME_LETTER = 0.07
NOTE_LETTER = 0.055
TITLE_LETTER = 0.078
ASIDE_LETTER = 0.062
MAX_TITLE = 3.0
"""[inch] Mean width of a letter above curves across a chart.

And the longest title that is not shortened.
"""
MAX_NAME = 24  # Longer names may be shortened.

MIN_SCALE = 0.53
MIN_DPI = 72.0
"""Smallest scale of the text, and the resolution at which text of full size is just readable."""
STEP = 0.025  # Step of the scale.
# Factor and maximum number of steps when a larger size is searched.
GROWTH = 1.015
MAX_GROWTH = 400
MAX_STRETCH = 30.0  # Maximum factor of heights.


@dataclass
class Flow:
    """A chart that is being filled.

    Its width, the height that is filled, and the factor of heights.

    `columns`: panels in each row of a grid; 0 for as many as suit their number.
    `height_scale`: minimum heights are multiplied by this.
    `narrow`: set when something has not the width that it needs to be read. `gridded`:
    set when there is a grid of panels, so that the
    number of columns matters.
    """

    width: float = WIDTH
    stretch: float = 1.0
    columns: int = 0
    height_scale: float = 1.0
    y: float = TOP
    cells: list[Cell] = field(default_factory=list)
    narrow: bool = False
    gridded: bool = False

    @property
    def aside(self) -> float:
        """Left edge [inch] of the column with ground and figures in an overview."""
        return min(0.75 * self.width, self.width - COLUMN)

    @property
    def middle(self) -> float:
        """Right edge [inch] of the plots of an overview.

        Names and ranges are beside them.
        """
        return self.aside - BESIDE

    def across(
        self,
        part: Part,
        height: float,
        *,
        left: float | None = None,
        right: float | None = None,
        time_labels: bool = True,
    ) -> None:
        """Add a part from `left` to `right` [inch], by default as wide as the chart.

        `height` is multiplied by the factor.
        """
        named = isinstance(part, Curves) and len(part.lines) > 1
        if left is None:
            left = SIDE + NUMBERS
        if right is None:
            right = self.width - SIDE - (NAMES if named else 0.0)
        min_height = min(_lowest(part, height) * self.height_scale, height)
        if isinstance(part, (KeyFigures, Ground)):
            tall = height
        else:
            tall = max(height * self.stretch, min_height)
        self.narrow |= right - left < _narrowest(part) - 1e-6
        self.y += NAME + 0.05
        self.cells.append(Cell(part, left, self.y, right - left, tall, time_labels))
        self.y += tall + (TIME if time_labels else 0.08)

    def beside(
        self, top: float, left: float, ground: Ground | None, found: KeyFigures
    ) -> None:
        """Add the ground and below it the key figures into the column from `left` [inch] to the right edge, from `top` down."""
        column = Flow(self.width, y=top)
        right = self.width - COLUMN_EDGE
        if ground is not None:
            height = (
                (right - left)
                * (ground.y[1] - ground.y[0])
                / (ground.x[1] - ground.x[0])
            )
            column.across(ground, height, left=left, right=right)
            column.y += 0.25 + 0.195 * len(ground.names)
        height = sum(0.34 if where else 0.2 for *_, where in found.rows)
        column.across(
            found, height, left=left - 0.4, right=self.width - 0.3, time_labels=False
        )
        self.cells += column.cells
        self.narrow |= column.narrow
        self.y = max(self.y, column.y)

    def grid(self, groups: Sequence[tuple[str, Sequence[Curves]]]) -> None:
        """Add groups of panels in rows.

        Few panels are large, and small groups are side by side.
        """
        self.gridded = True
        suited, height = _suited([panels for _, panels in groups])
        columns = self.columns or suited
        slot = (self.width - 2 * SIDE) / columns
        for _, panels in groups:
            for one in panels:
                letters = max(
                    min(len(one.title), MAX_NAME) * NAME_LETTER,
                    len(one.note) * NOTE_LETTER,
                )
                self.narrow |= slot < max(LABELS + 0.08 + MIN_IN_GRID, letters + 0.1)
        for row in _rows(groups, columns):
            named = any(name for name, _ in row)
            noted = any(one.note for _, panels in row for one in panels)
            top = self.y + (HEADING if named else 0.05)
            tall = max(height * self.stretch, MIN_PANEL * self.height_scale)
            frame = top + NAME + (NOTE if noted else 0.0)
            at = 0
            for name, panels in row:
                if name:
                    self.cells.append(
                        Cell(
                            Heading(name),
                            SIDE + at * slot,
                            top - HEADING,
                            slot * len(panels),
                            HEADING,
                        )
                    )
                for one in panels:
                    x = SIDE + at * slot + LABELS
                    self.cells.append(Cell(one, x, frame, slot - LABELS - 0.08, tall))
                    at += 1
            self.y = frame + tall + TIME + GAP

    def _titled(self, cell: Cell) -> Cell:
        """Add axis titles below the lowest cell of each column and left of the first cell of each row."""
        if isinstance(cell.part, (Heading, KeyFigures, Ground)):
            return cell
        timed = [
            one
            for one in self.cells
            if not isinstance(one.part, (Heading, KeyFigures, Ground))
        ]
        lower = (one for one in timed if one.y > cell.y + 0.1)
        below = any(
            one.x < cell.x + cell.width and cell.x < one.x + one.width for one in lower
        )
        first = not any(
            isinstance(one.part, Curves)
            and isinstance(cell.part, Curves)
            and one.part.unit == cell.part.unit
            and abs(one.y - cell.y) < 1e-6
            and 0 < cell.x - one.x < one.width + LABELS + 0.2
            for one in timed
        )
        return replace(
            cell, time_title=cell.time_labels and not below, unit_title=first
        )

    def chart(
        self, name: str, title: str, subject: Subject, notes: Sequence[str] = ()
    ) -> Chart:
        """Return the chart."""
        times = subject.times
        start, end = (float(times[0]), float(times[-1])) if len(times) else (0.0, 1.0)
        heading = subject.title + (f" — {title}" if title else "")
        span = f"{len(times)} frame{'s' * (len(times) != 1)}, {start:.2f} … {end:.2f} s"
        about = " · ".join(filter(None, (subject.about, span)))
        height = self.y + BOTTOM - 0.3
        cells = tuple(self._titled(cell) for cell in self.cells)
        made = Chart(
            name,
            heading,
            about,
            cells,
            self.width,
            height,
            start,
            end,
            (*subject.notes, *notes),
        )
        more = made.subtitle_height
        return replace(
            made,
            cells=tuple(cell.down(more) for cell in made.cells),
            height=made.height + more,
        )


def _rows(
    groups: Sequence[tuple[str, Sequence[Curves]]], columns: int
) -> list[list[tuple[str, Sequence[Curves]]]]:
    rows: list[list[tuple[str, Sequence[Curves]]]] = []
    free = 0
    for name, panels in groups:
        if 0 < len(panels) <= free:
            rows[-1].append((name, panels))
            free -= len(panels)
        elif panels:
            each = -(-len(panels) // -(-len(panels) // columns))
            for first in range(0, len(panels), each):
                rows.append(
                    [(name if first == 0 else "", panels[first : first + each])]
                )
                free = columns - len(panels[first : first + each])
    return rows


def _suited(groups: Sequence[Sequence[object]]) -> tuple[int, float]:
    """Return the number of panels in a row and their height [inch].

    Few panels are large.
    """
    count = sum(map(len, groups))
    longest = max(map(len, groups), default=0)
    sizes = ((3, (1, 1.9)), (8, (2, 1.7)), (12, (3, 1.4)))
    return next(
        (size for most, size in sizes if count <= most),
        (max(4, min(longest, MAX_COLUMNS)), 1.05),
    )


def _lowest(part: Part, height: float) -> float:
    """Return the minimum height of a part with a given height [inch]."""
    if isinstance(part, Curves):
        return MIN_HEIGHT
    if isinstance(part, CurveRows):
        return MIN_ROW * len(part.rows)
    if isinstance(part, Bars):
        return MIN_BAR * len(part.labels)
    return height


def _narrowest(part: Part) -> float:
    """Return the minimum width of a part across a chart [inch]."""
    if isinstance(part, (KeyFigures, Heading)):
        return MIN_FACTS
    if isinstance(part, CurveRows):
        return MIN_STRIPS
    if isinstance(part, Ground):
        return MIN_GROUND
    note = part.note if isinstance(part, Curves) else ""
    return max(
        MIN_WIDTH,
        min(len(part.title) * TITLE_LETTER + len(note) * ASIDE_LETTER + 0.2, MAX_TITLE),
    )


def fitted(
    makes: Sequence[Callable[[Flow], Chart]],
    width: float | None,
    height: float | None,
    dpi: float,
) -> tuple[Chart, ...]:
    """Return charts of this size [inch], all with text of one size.

    Without a height, each has its own.

    As many panels are in a row as fit; where that does not suffice, all is drawn
    smaller, down to what is readable at `dpi`.

    Raises WrongUseError when the size is too small for one of them; the message names
    the smallest that is not.
    """
    if width is None:
        return tuple(make(Flow()) for make in makes)
    min_scale = min(max(MIN_DPI / dpi, MIN_SCALE), 1.0)
    for scale in (
        *(float(one) for one in np.round(np.arange(1.0, min_scale, -STEP), 3)),
        min_scale,
    ):
        found = [_found(make, width, height, scale) for make in makes]
        if all(chart is not None for chart in found):
            return tuple(
                replace(chart, scale=scale) for chart in found if chart is not None
            )
    # The message names a larger size of the same shape.
    wide = width
    tall = height
    for _ in range(MAX_GROWTH):
        wide = math.ceil(wide * GROWTH * dpi) / dpi
        if height is None or tall is None:
            tall = None
        else:
            tall = math.ceil(wide * height / width * dpi) / dpi
        if all(_found(make, wide, tall, min_scale) is not None for make in makes):
            break
    requested = _words(width, height, dpi)
    better = _words(wide, tall, dpi)
    raise WrongUseError(
        f"{requested} is too small; use {better}, or fewer dots per inch than {dpi:g}"
    )


def _found(
    make: Callable[[Flow], Chart], width: float, height: float | None, scale: float
) -> Chart | None:
    """Return a chart of this size drawn at a scale.

    None when it does not fit.
    """
    for columns in (0, *range(MAX_COLUMNS, 0, -1)):
        flow = Flow(
            width / scale,
            1.0 if height is None else 0.0,
            columns,
            height_scale=1 + scale - MIN_SCALE,
        )
        chart = make(flow)
        if not flow.narrow and height is None:
            return chart
        if (
            not flow.narrow
            and height is not None
            and chart.height <= (tall := height / scale)
        ):
            stretch = _stretch(make, flow, tall)
            return replace(
                make(replace(flow, y=Flow().y, cells=[], stretch=stretch)), height=tall
            )
        if not flow.gridded:
            break
    return None


def _stretch(make: Callable[[Flow], Chart], flow: Flow, tall: float) -> float:
    """Return the factor of heights with which a chart has a given height [inch]."""
    low = 0.0
    high = MAX_STRETCH
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        made = make(replace(flow, y=Flow().y, cells=[], stretch=middle))
        low, high = (middle, high) if made.height <= tall else (low, middle)
    return low


def _words(width: float, height: float | None, dpi: float) -> str:
    if height is None:
        return f"{round(width * dpi)} pixels ({width:.2f} inches) of width"
    return f"{round(width * dpi)}x{round(height * dpi)} pixels ({width:.2f} x {height:.2f} inches)"
