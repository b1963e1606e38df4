"""What a plot is made of, before anything is drawn: parts in their places. Pictures and pages are drawn from the same parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Literal, TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats

__all__ = [
    "Bars",
    "Cell",
    "Curves",
    "Facts",
    "Footprint",
    "Ground",
    "Heading",
    "Line",
    "Part",
    "Row",
    "Sheet",
    "Strips",
]

UNDER_LETTER, UNDER_LINE = 0.066, 0.15
"""[inch] Of the lines below a title: how wide a letter is, and how high a line."""

LATE = 1e4
"""[s] Of motions that begin later than this, or so long before 0, times at axes are counted from a round number."""
WIDE = 6.0
"""[inch] Wider grounds have a legend in larger letters and more columns."""

Color: TypeAlias = int | Literal["muted", "given", "bad", "text"]
"""A number of the palette, or what is drawn: what stands behind, what a file says, what is wrong."""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: its own times (N,) [s] and values (N,), NaN where there is a gap. It is thinned out: peaks are at their true times."""

    label: str
    times: Floats
    values: Floats
    color: Color = 0
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves over time that share an axis.

    Attributes
    ----------
    title, note:
        Above the panel, on the left and (small) on the right.
    unit:
        What the axis says.
    lower, upper:
        The limits, drawn as a band; ±inf or None where there is none.
    beyond:
        (time, value) of the worst moments outside of the limits, marked in red.
    floor:
        Below this value all is bad: filled in red.
    lowest, highest:
        Of the axis.
    legend:
        Whether the curves are named beside the panel.
    """

    title: str
    unit: str
    lines: tuple[Line, ...]
    note: str = ""
    lower: float | None = None
    upper: float | None = None
    beyond: tuple[tuple[float, float], ...] = ()
    floor: float | None = None
    lowest: float = 0.0
    highest: float = 1.0
    legend: bool = False

    @property
    def worst(self) -> tuple[float, float] | None:
        """Of the moments `beyond` the limits the worst."""
        low = -np.inf if self.lower is None else self.lower
        high = np.inf if self.upper is None else self.upper
        return max(self.beyond, key=lambda moment: max(moment[1] - high, low - moment[1]), default=None)


@dataclass(frozen=True, eq=False)
class Row:
    """A curve of its own scale, in a row of `Strips`; `note` says between which values it goes."""

    line: Line
    note: str
    unit: str
    beyond: bool = False


@dataclass(frozen=True, eq=False)
class Strips:
    """Many curves one below the other, each scaled to its own row; `groups` are names and numbers of rows."""

    title: str
    rows: tuple[Row, ...]
    groups: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Bars:
    """When something lasts: for each label spans (start, end) [s]; those `marked` are red upon them, those `behind` shadows of all."""

    title: str
    labels: tuple[str, ...]
    spans: tuple[tuple[tuple[float, float], ...], ...]
    marked: tuple[tuple[tuple[float, float], ...], ...]
    behind: tuple[tuple[float, float], ...] = ()
    behind_label: str = ""
    marked_label: str = ""
    colors: tuple[Color, ...] = ()


@dataclass(frozen=True, eq=False)
class Footprint:
    """A polygon (M, 2) [m] on the ground, from when to when [s]; `label` of the foot; without a color it is that of several feet."""

    label: str
    corners: Floats
    start: float
    end: float
    color: Color | None


@dataclass(frozen=True, eq=False)
class Ground:
    """The ground from above, with equal axes [m].

    `path` (N, 2) with `times` (N,) is coloured by time; `others` are further paths: label, times, points and colour.
    `worst` is a moment that is marked: time, x, y, and what is said there. `x` and `y` are what the axes show.
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
        """What its legend names."""
        least = () if self.worst is None else (f"least: {self.worst[3]}",)
        feet = dict.fromkeys(one.label for one in self.footprints)
        return (self.label, *feet, *(label for label, *_ in self.others), *least)

    def legend_columns(self, width: float) -> int:
        """Say in how many columns its legend stands below a ground of this width [inch]."""
        longest = max(len(name) for name in self.names)
        if width > WIDE:
            return min(max(int((width + 0.6) / (0.068 * longest + 0.5)), 1), 4)
        return 2 if longest <= 24 else 1


@dataclass(frozen=True)
class Facts:
    """Key figures: what, how much, and when or where."""

    title: str
    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Heading:
    """A line of text above what belongs together."""

    text: str


Part: TypeAlias = Curves | Strips | Bars | Ground | Facts | Heading


@dataclass(frozen=True, eq=False)
class Cell:
    """A part in its place [inch] from the upper left corner: the frame of its axes, without the labels around it.

    `time_labels` says whether times are written below, `time_title` and `unit_title` whether it is said there what they are.
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
        """Return the same cell so much lower."""
        return replace(self, y=self.y + by)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A plot: its name, what stands above it, its parts, its size [inch], and the times [s] that it is about.

    In a picture everything, letters included, is drawn `scale` times as large.
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
    def since(self) -> float:
        """What is taken off times at axes: of times that begin late, as those of a clock do, a round number; else 0."""
        if not LATE <= abs(self.start) < 1e15:
            return 0.0
        unit = 10.0 ** np.ceil(np.log10(max(self.end - self.start, 1.0)))
        return float(np.floor(self.start / unit) * unit)

    @property
    def under(self) -> tuple[str, ...]:
        """The lines below the title: what the sheet is about, and notes."""
        text = "   ·   ".join(filter(None, (self.about, *self.notes)))
        return tuple(wrap(text, max(int((self.width - 0.6) / UNDER_LETTER), 20)))

    @property
    def under_height(self) -> float:
        """How much higher [inch] those lines are than one is."""
        return UNDER_LINE * max(len(self.under) - 1, 0)
