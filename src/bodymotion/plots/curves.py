"""Curves over time: decimated with all peaks, with their limits, in panels and rows."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Series
from bodymotion.geometry.arrays import Floats, runs
from bodymotion.plots.parts import Color, CurveRows, Curves, Line, Row, number_text
from bodymotion.plots.subject import JointGroup

# Times beyond a limit that are marked in a panel.
MAX_MARKS = 3
# A limit is shown if its distance to the curve is less than this share of the height of
# the curve.
MAX_LIMIT_DISTANCE = 0.7
# Smallest range of an axis, by unit: smaller variations are not enlarged.
MIN_SPANS = {
    "rad": 0.03,
    "°": 2.0,
    "m": 0.005,
    "m or rad": 0.03,
    "rad/s": 0.05,
    "°/s": 3.0,
    "m/s": 0.01,
    "Nm": 0.1,
    "N": 0.5,
    "W": 0.5,
    "mm": 5.0,
}

# Rows of `curve_rows`: those that vary most.
MAX_ROWS = 44
# Characters of a unit that a row shows.
MAX_UNIT = 4
# Relative to the limit: a value that rounding puts beyond a limit is not.
ROUNDING = 1e-9
# Of the height of the curves, above and below them; more where times are marked.
ROOM = 0.08
ROOM_WITH_MARKS = 0.17


def decimated(times: Floats, values: Floats, most: int = 1200) -> tuple[Floats, Floats]:
    """Return at most about `most` of the points of a curve, with all peaks.

    The curve has values (T,) over times (T,). The frames are divided into equal parts;
    the minimum and maximum of each are kept, at their times, and the first and last
    frame. Values that are not finite become NaN; a part with such a frame has a gap.
    """
    # NaN is a gap for plotly and matplotlib, infinity would spoil their ranges.
    clean = np.where(np.isfinite(values), values, np.nan)
    count = len(times)
    if count <= most:
        return np.array(times), clean
    # Two points for each part: its minimum and its maximum.
    size = -(-count // max(most // 2, 1))
    num_parts = -(-count // size)
    # Fill the last part with NaN, so that all have the same size.
    padded = np.full(num_parts * size, np.nan)
    padded[:count] = clean
    parts = padded.reshape(num_parts, size)
    is_gap = np.isnan(parts)
    first = np.arange(num_parts) * size
    # The frame of the minimum and of the maximum of each part, NaN ignored.
    low = first + np.where(is_gap, np.inf, parts).argmin(axis=1)
    high = first + np.where(is_gap, -np.inf, parts).argmax(axis=1)
    # The frames that only fill the last part are no gap.
    is_gap.ravel()[count:] = False
    gaps = (first + is_gap.argmax(axis=1))[is_gap.any(axis=1)]
    # In order of time, each frame once.
    frames = np.concatenate([low, high, gaps, [0, count - 1]])
    frames = np.unique(np.minimum(frames, count - 1))
    return np.asarray(times[frames]), clean[frames]


def line_of(
    label: str, times: Floats, values: Floats, color: Color = 0, *, most: int = 1200
) -> Line:
    """Return a curve of values (T,) over times (T,), with about `most` points."""
    return Line(shown(label, 60), *decimated(times, values, most), color=color)


def limits_of(of: Series, k: int) -> tuple[float, float]:
    """Return the limits of column k, ±inf where there are none."""
    lower = -np.inf if of.lower is None else float(of.lower[k])
    upper = np.inf if of.upper is None else float(of.upper[k])
    return lower, upper


def panel(of: Series, k: int, color: Color = 0, most: int = 600) -> Curves:
    """Return the panel of column k, with its limits and the worst times beyond them."""
    column = np.asarray(of.values[:, k])
    lower, upper = limits_of(of, k)
    # Marks are at the worst frame of each time span beyond the limits.
    marks = beyond_limits(of.times, column, lower, upper)
    note = ""
    if np.isfinite(lower) or np.isfinite(upper):
        note = f"limits {number_text(lower)} … {number_text(upper)}"
    # The quantity has limits, but the model gives none for this column.
    elif of.lower is not None or (np.isinf(column).all() and len(column)):
        note = "no limits"
    line = line_of(of.labels[k], of.times, column, color, most=most)
    shape = Curves(
        shown(of.labels[k], 60), of.units[k], (line,), note, lower, upper, marks
    )
    return ranged((shape,))[0]


def beyond_limits(
    times: Floats, column: Floats, low: float, high: float
) -> tuple[tuple[float, float], ...]:
    """Return (time, value) of the worst frames outside of the limits, in order.

    One of each time span, of the few worst ones.
    """
    # Positive beyond a limit, negative within both.
    excess = np.maximum(column - high, low - column)
    excess = np.where(np.isnan(excess), -np.inf, excess)
    # Relative to the limits: 1e-9 of a limit of 1000 N is no excess.
    limits = np.array([low, high])
    scale = np.abs(limits[np.isfinite(limits)]).max(initial=1.0)
    worst = []
    # One mark per run of frames, then the few worst of these.
    for start, stop in runs(excess > ROUNDING * scale):
        worst.append(start + int(excess[start:stop].argmax()))
    worst.sort(key=lambda frame: -excess[frame])
    frames = sorted(worst[:MAX_MARKS])
    return tuple((float(times[k]), float(column[k])) for k in frames)


def outside(line: Line, part: Curves) -> tuple[Floats, Floats] | None:
    """Return the parts of a curve beyond its limits or below its floor.

    The points where it crosses them are included. None where there are none.
    """
    # A floor, as of the stability margin, is a lower limit.
    low = part.lower
    if part.floor is not None:
        low = max(low, part.floor)
    high = part.upper
    values = line.values
    times = line.times
    is_out = (values > high) | (values < low)
    if not is_out.any():
        return None
    # Crossings of a limit are between frames: without them the red part would end short
    # of the limit.
    steps = np.diff(values)
    before = np.flatnonzero((is_out[1:] != is_out[:-1]) & np.isfinite(steps))
    out = np.where(is_out[before], values[before], values[before + 1])
    # Linear interpolation: at which share of the step the limit is reached.
    limit = np.where(out > high, high, low)
    share = (limit - values[before]) / steps[before]
    crossing = times[before] + share * (times[before + 1] - times[before])
    # Crossings are at half positions between their frames: sort them in.
    positions = np.concatenate([np.arange(len(times)), before + 0.5])
    order = np.argsort(positions, kind="stable")
    return (
        np.concatenate([times, crossing])[order],
        # Inside of the limits the curve is NaN, a gap.
        np.concatenate([np.where(is_out, values, np.nan), limit])[order],
    )


def ranged(panels: Sequence[Curves], *, from_zero: bool = False) -> tuple[Curves, ...]:
    """Return panels with a common range of their axes.

    It contains their curves and near limits.
    """
    low, high = _range_of_curves(panels)
    if from_zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    # A constant would fill the panel with rounding: at least the smallest range of its
    # unit.
    min_span = 1.0
    if panels:
        rounding = 1e-9 * max(abs(low), abs(high))
        min_span = max(MIN_SPANS.get(panels[0].unit, 1e-3), rounding)
    if high - low < min_span:
        # Centre the smallest range on the values.
        middle = 0.5 * (low + high)
        low = middle - min_span / 2
        high = middle + min_span / 2
    # Limits far from the values would flatten the curve: they are left out.
    reach = MAX_LIMIT_DISTANCE * (high - low)
    share = ROOM
    for panel in panels:
        if low - reach <= panel.lower <= high:
            low = min(low, panel.lower)
        if low <= panel.upper <= high + reach:
            high = max(high, panel.upper)
        if panel.beyond:
            share = ROOM_WITH_MARKS
    # Space above and below, more where times are written.
    room = share * (high - low)
    lowest = low - room
    highest = high + room
    return tuple(replace(panel, lowest=lowest, highest=highest) for panel in panels)


def _range_of_curves(panels: Sequence[Curves]) -> tuple[float, float]:
    """Return the lowest and the highest value of all curves; 0 to 1 without any."""
    lines = chain.from_iterable(panel.lines for panel in panels)
    ends = [line.ends for line in lines if not np.isnan(line.values).all()]
    if not ends:
        return 0.0, 1.0
    lows, highs = zip(*ends, strict=True)
    return min(lows), max(highs)


def together(
    title: str,
    of: Series,
    columns: Sequence[int],
    *,
    note: str = "",
    labels: Sequence[str] | None = None,
) -> Curves:
    """Return one panel of several columns of one unit, with a legend."""
    if labels is None:
        labels = of.labels
    lines = []
    for color, k in enumerate(columns):
        lines.append(line_of(labels[k], of.times, of.values[:, k], color))
    unit = of.units[columns[0]] if columns else ""
    shape = Curves(title, unit, tuple(lines), note=note, legend=True)
    return ranged((shape,), from_zero=True)[0]


def curve_rows(title: str, of: Series, groups: tuple[JointGroup, ...]) -> CurveRows:
    """Return the columns of a series in rows, by groups of columns.

    Of too many, those that vary most.
    """
    chosen = set(range(len(of.labels)))
    if len(of.labels) > MAX_ROWS:
        chosen = set(most_varying(of, MAX_ROWS))
        title += f" (the {len(chosen)} of {len(of.labels)} that vary most)"
    rows: list[Row] = []
    ends: list[int] = []
    for color, group in enumerate(groups):
        # Groups keep their colours, also those of which no row is shown.
        shown_columns = [k for k in group.columns if k in chosen]
        rows += [_row(of, k, color) for k in shown_columns]
        if shown_columns:
            ends.append(len(rows))
    # A line is drawn after each group but the last.
    return CurveRows(title, tuple(rows), tuple(ends[:-1]))


def most_varying(of: Series, count: int) -> list[int]:
    """Return at most `count` columns, those that vary most.

    Their ranges are relative to the smallest range of their unit.
    """
    if not len(of.times):
        return list(range(min(count, len(of.labels))))
    # A column of NaN has no range.
    finite = np.where(np.isfinite(of.values), of.values, np.nan)
    finite[:, np.isnan(finite).all(axis=0)] = 0.0
    spans = np.nanmax(finite, axis=0) - np.nanmin(finite, axis=0)
    # Degrees, newtons and metres compare by the smallest range of their unit.
    spans /= [MIN_SPANS.get(unit, 1.0) for unit in of.units]
    return [int(k) for k in np.argsort(-spans, kind="stable")[:count]]


def _row(of: Series, k: int, color: int) -> Row:
    """Return the row of column k."""
    column = np.asarray(of.values[:, k])
    line = line_of(of.labels[k], of.times, column, color, most=700)
    unit = of.units[k]
    low, high = line.ends
    # Values that are zero but for rounding are written as 0.
    nothing = max(5e-4 * max(abs(low), abs(high)), 1e-3 * MIN_SPANS.get(unit, 0.0))
    if abs(low) < nothing:
        low = 0.0
    if abs(high) < nothing:
        high = 0.0
    note = number_text(low)
    if number_text(high) != note:
        note += f" … {number_text(high)}"
    if unit == "°":
        note += unit
    elif 0 < len(unit) <= MAX_UNIT:
        note += f" {unit}"
    lower, upper = limits_of(of, k)
    is_beyond = bool(beyond_limits(of.times, column, lower, upper))
    return Row(line, note, unit, is_beyond)


def row_range(row: Row) -> tuple[float, float]:
    """Return the lowest and highest value that a row shows.

    They are at least the smallest range of its unit apart.
    """
    low, high = row.line.ends
    if np.isnan(low):
        low, high = 0.0, 1.0
    span = MIN_SPANS.get(row.unit, 1e-9)
    if high - low < span:
        middle = low + high
        low = (middle - span) / 2
        high = (middle + span) / 2
    return low, high
