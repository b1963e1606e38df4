"""The layout of charts.

Cells side by side and below each other, and charts of a given size.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeAlias

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import counted
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

# All lengths are in inches.

# Default width of a chart.
WIDTH = 13.0
# Margins of a chart.
TOP = 0.75
BOTTOM = 0.55
SIDE = 0.3
# In an overview: left edge of its plots.
LEFT = 1.75
# Space beside these plots for names and ranges.
BESIDE = 2.08
# Minimum width of the column with ground and figures.
COLUMN = 3.25
# Distance of the ground from the right edge.
COLUMN_EDGE = 0.85
# Height of a row of curves in an overview.
ROW = 0.165
# Panels in a row of a grid.
MAX_COLUMNS = 8
# Space left of curves across a chart for numbers, and right of them for the names of
# several lines.
NUMBERS = 0.7
NAMES = 1.5
# Space left of a panel of a grid.
LABELS = 0.56
# Space above a panel for its name, and for its note.
NAME = 0.2
NOTE = 0.15
# Space below a panel for times, or without times.
TIME = 0.32
NO_TIME = 0.08
# Space between rows, and above a group.
GAP = 0.1
HEADING = 0.3
# Minimum heights of curves across a chart, panels in a grid, rows of curves, and bars.
MIN_HEIGHT = 0.6
MIN_PANEL = 0.45
MIN_ROW = 0.14
MIN_BAR = 0.17
# Minimum widths of curves across a chart, rows of curves, key figures, the ground, and
# panels in a grid.
MIN_WIDTH = 1.8
MIN_STRIPS = 2.4
MIN_FACTS = 3.2
MIN_GROUND = 2.3
MIN_IN_GRID = 0.75
# Mean width of a letter above a panel of a grid.
NAME_LETTER = 0.07
NOTE_LETTER = 0.055
# Mean width of a letter above curves across a chart, and the longest title that is not
# shortened.
TITLE_LETTER = 0.078
ASIDE_LETTER = 0.062
MAX_TITLE = 3.0
# Characters of a name that is not shortened.
MAX_NAME = 24

# Smallest scale of the text, and the resolution [dots per inch] at which text of full
# size is just readable.
MIN_SCALE = 0.53
MIN_DPI = 72.0
# Step of the scale.
STEP = 0.025
# Factor and maximum number of steps when a larger size is searched.
GROWTH = 1.015
MAX_GROWTH = 400
# Maximum factor of heights, and how exactly it is searched.
MAX_STRETCH = 30.0
STRETCH_TOLERANCE = 1e-3
# Positions that differ less are equal.
ROUNDING = 1e-6

# A group of panels with its name.
Group: TypeAlias = tuple[str, Sequence[Curves]]


@dataclass
class Flow:
    """A chart that is being filled.

    Attributes
    ----------
    width, y:
        [inch] Its width, and the height that is filled.
    stretch:
        The factor of heights.
    columns:
        Panels in each row of a grid; 0 for as many as suit their number.
    height_scale:
        Minimum heights are multiplied by this.
    narrow:
        Set when something has not the width that it needs to be read.
    gridded:
        Set when there is a grid of panels, so that the number of columns matters.
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
        # Beside the curves: numbers on the left, names of several lines on the right.
        if left is None:
            left = SIDE + NUMBERS
        if right is None:
            right = self.width - SIDE
            if isinstance(part, Curves) and len(part.lines) > 1:
                right -= NAMES
        # Key figures and the ground have heights of their own, which no factor changes.
        if not isinstance(part, (KeyFigures, Ground)):
            min_height = min(_lowest(part, height) * self.height_scale, height)
            height = max(height * self.stretch, min_height)
        # The chart is still made: the caller tries fewer columns or a smaller scale.
        self.narrow |= right - left < _narrowest(part) - ROUNDING
        self.y += NAME + 0.05
        self.cells.append(Cell(part, left, self.y, right - left, height, time_labels))
        self.y += height + (TIME if time_labels else NO_TIME)

    def beside(
        self, top: float, left: float, ground: Ground | None, key: KeyFigures
    ) -> None:
        """Add the ground and below it the key figures into a column.

        It reaches from `left` [inch] to the right edge, and from `top` down.
        """
        # A chart of its own for the column, which grows from the same top.
        column = Flow(self.width, y=top)
        right = self.width - COLUMN_EDGE
        if ground is not None:
            # Equal scales: the height follows from the ranges of the axes.
            aspect = (ground.y[1] - ground.y[0]) / (ground.x[1] - ground.x[0])
            column.across(ground, (right - left) * aspect, left=left, right=right)
            # 0.195 inch for each line of the legend below.
            column.y += 0.25 + 0.195 * len(ground.names)
        # A row with a place is higher by the line of the place.
        height = sum(0.34 if place else 0.2 for *_, place in key.rows)
        column.across(
            key, height, left=left - 0.4, right=self.width - 0.3, time_labels=False
        )
        self.cells += column.cells
        self.narrow |= column.narrow
        # The chart is as high as the higher of both columns.
        self.y = max(self.y, column.y)

    def grid(self, groups: Sequence[Group]) -> None:
        """Add groups of panels in rows.

        Few panels are large, and small groups are side by side.
        """
        self.gridded = True
        suited, height = _suited([panels for _, panels in groups])
        columns = self.columns or suited
        # All slots of a grid are equally wide.
        slot = (self.width - 2 * SIDE) / columns
        for _, panels in groups:
            self.narrow |= any(slot < _slot_width(panel) for panel in panels)
        for row in _rows(groups, columns):
            self._add_row(row, slot, height)

    def _add_row(self, row: Sequence[Group], slot: float, height: float) -> None:
        """Add a row of panels, each in a `slot` of this width [inch]."""
        has_name = any(name for name, _ in row)
        # One height for all panels of the row, with space for names and notes if any
        # has one.
        panels = list(chain.from_iterable(panels for _, panels in row))
        top = self.y + (HEADING if has_name else 0.05)
        frame = top + NAME
        if any(panel.note for panel in panels):
            frame += NOTE
        tall = max(height * self.stretch, MIN_PANEL * self.height_scale)
        column = 0
        for name, of_group in row:
            left = SIDE + column * slot
            if name:
                width = slot * len(of_group)
                heading = Cell(Heading(name), left, top - HEADING, width, HEADING)
                self.cells.append(heading)
            for panel in of_group:
                left = SIDE + column * slot + LABELS
                self.cells.append(Cell(panel, left, frame, slot - LABELS - 0.08, tall))
                column += 1
        self.y = frame + tall + TIME + GAP

    def _titled(self, cell: Cell) -> Cell:
        """Add axis titles to a cell.

        That of time is below the lowest cell of each column, that of the unit left of
        the first cell of each row.
        """
        if isinstance(cell.part, (Heading, KeyFigures, Ground)):
            return cell
        has_lower = False
        has_left = False
        for other in self.cells:
            if isinstance(other.part, (Heading, KeyFigures, Ground)):
                continue
            if other.y > cell.y + 0.1 and _overlap(other, cell):
                has_lower = True
            if _shares_unit(other, cell):
                has_left = True
        return replace(
            cell, time_title=cell.time_labels and not has_lower, unit_title=not has_left
        )

    def chart(
        self, name: str, title: str, subject: Subject, notes: Sequence[str] = ()
    ) -> Chart:
        """Return the chart."""
        times = subject.times
        start = 0.0
        end = 1.0
        if len(times):
            start = float(times[0])
            end = float(times[-1])
        heading = f"{subject.title} — {title}" if title else subject.title
        span = f"{counted(len(times), 'frame')}, {start:.2f} … {end:.2f} s"
        chart = Chart(
            name,
            heading,
            " · ".join(filter(None, (subject.about, span))),
            tuple(map(self._titled, self.cells)),
            self.width,
            self.y + BOTTOM - 0.3,
            start,
            end,
            (*subject.notes, *notes),
        )
        # The subtitle may have several lines: all cells move down by its height.
        subtitle = chart.subtitle_height
        cells = tuple(cell.down(subtitle) for cell in chart.cells)
        return replace(chart, cells=cells, height=chart.height + subtitle)


def _overlap(cell: Cell, other: Cell) -> bool:
    """Return whether two cells are at the same distance from the left edge."""
    return cell.x < other.x + other.width and other.x < cell.x + cell.width


def _shares_unit(left: Cell, cell: Cell) -> bool:
    """Return whether the panel left of a cell has the same unit."""
    if not isinstance(left.part, Curves) or not isinstance(cell.part, Curves):
        return False
    is_beside = abs(left.y - cell.y) < ROUNDING
    # The next panel is at most a slot and the space for labels away.
    is_next = 0 < cell.x - left.x < left.width + LABELS + 0.2
    return is_beside and is_next and left.part.unit == cell.part.unit


def _slot_width(panel: Curves) -> float:
    """Return the minimum width of a panel of a grid with its space [inch]."""
    name = min(len(panel.title), MAX_NAME) * NAME_LETTER
    letters = max(name, len(panel.note) * NOTE_LETTER)
    return max(LABELS + 0.08 + MIN_IN_GRID, letters + 0.1)


def _rows(groups: Sequence[Group], columns: int) -> list[list[Group]]:
    """Return groups of panels in rows; a small group is beside the one before."""
    rows: list[list[Group]] = []
    free = 0
    for name, panels in groups:
        # A small group continues the row of the one before where there is space.
        if 0 < len(panels) <= free:
            rows[-1].append((name, panels))
            free -= len(panels)
        elif panels:
            # As many in each row, at least nearly.
            num_rows = -(-len(panels) // columns)
            size = -(-len(panels) // num_rows)
            for first in range(0, len(panels), size):
                part = panels[first : first + size]
                rows.append([("" if first else name, part)])
                free = columns - len(part)
    return rows


def _suited(groups: Sequence[Sequence[object]]) -> tuple[int, float]:
    """Return the number of panels in a row and their height [inch].

    Few panels are large.
    """
    # 1, 2 or 3 columns of large panels, then as many as the largest group, up to eight.
    count = sum(map(len, groups))
    if count <= 3:
        return 1, 1.9
    if count <= 8:
        return 2, 1.7
    if count <= 12:
        return 3, 1.4
    longest = max(map(len, groups))
    return max(4, min(longest, MAX_COLUMNS)), 1.05


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
    letters = len(part.title) * TITLE_LETTER + 0.2
    if isinstance(part, Curves):
        letters += len(part.note) * ASIDE_LETTER
    return max(MIN_WIDTH, min(letters, MAX_TITLE))


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
    # Without a width nothing has to fit.
    if width is None:
        return tuple(make(Flow()) for make in makes)
    # Smaller than `min_scale`, letters are not readable at this resolution.
    min_scale = min(max(MIN_DPI / dpi, MIN_SCALE), 1.0)
    # From the full size down in steps: the largest text that fits wins.
    larger = np.round(np.arange(1.0, min_scale, -STEP), 3).tolist()
    for scale in (*larger, min_scale):
        charts = _all_at_scale(makes, width, height, scale)
        if charts is not None:
            return charts
    # The message names a larger size of the same shape.
    wide = width
    tall = height
    for _ in range(MAX_GROWTH):
        # Whole pixels, growing by 1.5 % until all charts fit.
        wide = math.ceil(wide * GROWTH * dpi) / dpi
        if height is not None:
            tall = math.ceil(wide * height / width * dpi) / dpi
        if _all_at_scale(makes, wide, tall, min_scale) is not None:
            break
    requested = _words(width, height, dpi)
    better = _words(wide, tall, dpi)
    raise WrongUseError(
        f"{requested} is too small; use {better}, or fewer dots per inch than {dpi:g}"
    )


def _all_at_scale(
    makes: Sequence[Callable[[Flow], Chart]],
    width: float,
    height: float | None,
    scale: float,
) -> tuple[Chart, ...] | None:
    """Return charts of this size drawn at a scale; None when one does not fit."""
    charts = []
    for make in makes:
        chart = _at_scale(make, width, height, scale)
        if chart is None:
            return None
        charts.append(replace(chart, scale=scale))
    return tuple(charts)


def _at_scale(
    make: Callable[[Flow], Chart], width: float, height: float | None, scale: float
) -> Chart | None:
    """Return a chart of this size drawn at a scale; None when it does not fit."""
    # Without a height panels have their usual one; with a height they first get the
    # smallest, to see whether all fits.
    stretch = 1.0 if height is None else 0.0
    # 0: the suited number of columns, then all numbers from the largest down.
    for columns in (0, *range(MAX_COLUMNS, 0, -1)):
        flow = Flow(width / scale, stretch, columns, height_scale=1 + scale - MIN_SCALE)
        chart = make(flow)
        if not flow.narrow:
            if height is None:
                return chart
            tall = height / scale
            if chart.height <= tall:
                # What fits at its smallest is then stretched to the whole height.
                return replace(_stretched(make, flow, tall), height=tall)
        # Without a grid other numbers of columns change nothing.
        if not flow.gridded:
            break
    return None


def _stretched(make: Callable[[Flow], Chart], flow: Flow, tall: float) -> Chart:
    """Return the chart with the largest heights that has at most a height [inch]."""
    # Bisection: the height of a chart grows with the factor.
    low = 0.0
    high = MAX_STRETCH
    while high - low > STRETCH_TOLERANCE:
        middle = 0.5 * (low + high)
        chart = make(replace(flow, y=TOP, cells=[], stretch=middle))
        if chart.height <= tall:
            low = middle
        else:
            high = middle
    return make(replace(flow, y=TOP, cells=[], stretch=low))


def _words(width: float, height: float | None, dpi: float) -> str:
    """Return a size [inch] in words."""
    if height is None:
        return f"{round(width * dpi)} pixels ({width:.2f} inches) of width"
    pixels = f"{round(width * dpi)}x{round(height * dpi)} pixels"
    return f"{pixels} ({width:.2f} x {height:.2f} inches)"
