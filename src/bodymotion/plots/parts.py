"""Charts before they are drawn.

Their parts and positions. Images (matplotlib) and pages (plotly) are drawn from the
same charts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Literal, TypeAlias

import numpy as np

from bodymotion.diagnostics import ShortRepr
from bodymotion.geometry.arrays import Floats

# [inch] Mean width of a letter and height of a line below the title.
UNDER_LETTER = 0.066
UNDER_LINE = 0.15

# [s] Times of motions that start later than this, or as long before 0, are shown
# relative to a round number.
MIN_LATE_START = 1e4
MIN_WIDE_GROUND = (
    6.0  # [inch] Wider grounds have a legend with larger text and more columns.
)

Color: TypeAlias = (
    int | Literal["muted", "recorded", "bad", "text"]
)  # An index of the palette, or a role.


@dataclass(frozen=True, eq=False)
class Line(ShortRepr):
    """One curve: its own times (N,) [s] and values (N,), NaN where there is a gap.

    It has few points; peaks are at their true times.
    """

    label: str
    times: Floats
    values: Floats
    color: Color = 0

    @property
    def is_point(self) -> bool:
        """Whether it has only one value."""
        return int(np.isfinite(self.values).sum()) == 1

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value; NaN where there is none."""
        finite = self.values[np.isfinite(self.values)]
        if len(finite):
            return (float(finite.min()), float(finite.max()))
        return (np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class Curves(ShortRepr):
    """Curves over time that share an axis.

    `title`, `note`: text above the panel, on the left and (small) on the right. `unit`:
    unit of the axis. `lower`, `upper`: limits, drawn as a band; ±inf where there is
    none. `beyond`: (time, value) of the worst frames outside of the limits, marked in
    red. `floor`: values below this one are filled in red. `lowest`, `highest`: range of
    the axis. `legend`: whether there is a legend beside the panel.
    """

    title: str
    unit: str
    lines: tuple[Line, ...]
    note: str = ""
    lower: float = -np.inf
    upper: float = np.inf
    beyond: tuple[tuple[float, float], ...] = ()
    floor: float | None = None
    lowest: float = 0.0
    highest: float = 1.0
    legend: bool = False

    @property
    def limits(self) -> tuple[float, ...]:
        """The limits that are finite."""
        return tuple(limit for limit in (self.lower, self.upper) if np.isfinite(limit))

    @property
    def band(self) -> tuple[float, float]:
        """The range within the limits.

        Where one is missing, to the end of the axis.
        """
        low = min((self.lowest, *self.limits))
        high = max((self.highest, *self.limits))
        return self.lower if np.isfinite(
            self.lower
        ) else low, self.upper if np.isfinite(self.upper) else high

    @property
    def worst(self) -> tuple[float, float] | None:
        """The worst of the frames `beyond` the limits."""
        return max(
            self.beyond,
            key=lambda moment: max(moment[1] - self.upper, self.lower - moment[1]),
            default=None,
        )


@dataclass(frozen=True, eq=False)
class Row(ShortRepr):
    """A curve with its own scale in a row.

    `note` is its range.
    """

    line: Line
    note: str
    unit: str
    beyond: bool = False


@dataclass(frozen=True, eq=False)
class CurveRows(ShortRepr):
    """Many curves in rows, each with its own scale.

    At rows `starts` further groups of them begin.
    """

    title: str
    rows: tuple[Row, ...]
    starts: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Bars(ShortRepr):
    """Time spans (start, end) [s] for each label as bars.

    Spans `marked` are red on them, spans `behind` are behind all bars.

    `texts` are written on the bars.
    """

    title: str
    labels: tuple[str, ...]
    spans: tuple[tuple[tuple[float, float], ...], ...]
    marked: tuple[tuple[tuple[float, float], ...], ...]
    behind: tuple[tuple[float, float], ...] = ()
    behind_label: str = ""
    marked_label: str = ""
    colors: tuple[Color, ...] = ()
    texts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Footprint(ShortRepr):
    """A polygon (M, 2) [m] on the ground, with its time span [s].

    `label` is the foot's; without a color it is of several feet.
    """

    label: str
    corners: Floats
    start: float
    end: float
    color: Color | None


@dataclass(frozen=True, eq=False)
class Ground(ShortRepr):
    """The ground from above, with equal axes [m].

    `path` (N, 2) with `times` (N,) is coloured by time; `others` are further paths:
    label, times, points and colour.
    `worst` is a marked point: time, x, y, and its text. `x` and `y` are the ranges of
    the axes.
    """

    title: str
    footprints: tuple[Footprint, ...]
    label: str
    times: Floats
    path: Floats
    others: tuple[tuple[str, Floats, Floats, Color], ...]
    x: tuple[float, float]
    y: tuple[float, float]
    worst: tuple[float, float, float, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The entries of its legend."""
        minimum = () if self.worst is None else (f"minimum: {self.worst[3]}",)
        feet = dict.fromkeys(one.label for one in self.footprints)
        return (self.label, *feet, *(label for label, *_ in self.others), *minimum)

    def legend_columns(self, width: float) -> int:
        """Return the columns of the legend below a ground of a width [inch]."""
        longest = max(len(name) for name in self.names)
        if width > MIN_WIDE_GROUND:
            return min(max(int((width + 0.6) / (0.068 * longest + 0.5)), 1), 4)
        return 2 if longest <= 24 else 1


@dataclass(frozen=True)
class KeyFigures(ShortRepr):
    """Key figures: name, value, and time or part."""

    title: str
    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Heading(ShortRepr):
    """A line of text above a group of parts."""

    text: str


Part: TypeAlias = Curves | CurveRows | Bars | Ground | KeyFigures | Heading


@dataclass(frozen=True, eq=False)
class Cell(ShortRepr):
    """A part and the rectangle of its axes [inch], without the labels around it.

    It is from the upper left corner.

    `time_labels`, `time_title` and `unit_title`: whether the axes have labels of times
    and titles.
    """

    part: Part
    x: float
    y: float
    width: float
    height: float
    time_labels: bool = True
    time_title: bool = False
    unit_title: bool = True

    def down(self, by: float) -> Cell:
        """Return the cell moved down."""
        return replace(self, y=self.y + by)


@dataclass(frozen=True, eq=False)
class Chart(ShortRepr):
    """A plot: name, title and subtitle, parts, size [inch], and time span [s].

    In an image everything, text included, is drawn `scale` times as large.
    """

    name: str
    title: str
    about: str
    cells: tuple[Cell, ...]
    width: float
    height: float
    start: float
    end: float
    notes: tuple[str, ...] = ()
    scale: float = 1.0

    @property
    def time_origin(self) -> float:
        """The origin of times at axes.

        A round number for large times, such as those of a clock; else 0.
        """
        if not MIN_LATE_START <= abs(self.start) < 1e15:
            return 0.0
        unit = 10.0 ** np.ceil(np.log10(max(self.end - self.start, 1.0)))
        return float(np.floor(self.start / unit) * unit)

    @property
    def subtitle(self) -> tuple[str, ...]:
        """The lines below the title: the motion, and notes."""
        text = "   ·   ".join(filter(None, (self.about, *self.notes)))
        return tuple(wrap(text, max(int((self.width - 0.6) / UNDER_LETTER), 20)))

    @property
    def subtitle_height(self) -> float:
        """Height [inch] of these lines beyond the first."""
        return UNDER_LINE * max(len(self.subtitle) - 1, 0)


def number_text(value: float, digits: int = 3) -> str:
    """Return a number as text with few digits and a minus sign."""
    value = float(value)
    if not np.isfinite(value):
        if value > 0:
            return "∞"
        if value < 0:
            return "−∞"
        return "—"
    if abs(value) < 1e-9:
        return "0"
    if 1e-3 <= abs(value) < 10**digits:
        text = f"{value:.{digits}g}"
    else:
        text = f"{value:.0f}"
    if abs(value) < 1e-3 or abs(value) >= 1e6:
        text = f"{value:.1e}"
    return text.replace("-", "−")
