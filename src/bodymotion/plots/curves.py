"""Curves over time: decimated out with all peaks, with their limits, in panels and in rows.

And numbers as text.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Series
from bodymotion.geometry.arrays import Floats, runs
from bodymotion.plots.parts import Color, CurveRows, Curves, Line, Row, number_text
from bodymotion.plots.subject import JointGroup

MAX_MARKS = 3  # Times beyond a limit that are marked in a panel.
MAX_LIMIT_DISTANCE = 0.7
"""A limit is shown if its distance to the curve is less than this share of the height of the curve."""
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
"""Smallest range of an axis, by unit: smaller variations are not enlarged."""

MAX_ROWS = 44  # Of `curve_rows`: those that vary most.


def decimated(times: Floats, values: Floats, most: int = 1200) -> tuple[Floats, Floats]:
    """Return at most about `most` of the points of a curve, values (T,) over times (T,), with all peaks.

    The frames are divided into equal parts; the minimum and maximum of each are kept,
    at their times, and the first and last frame. Values that are not finite become NaN;
    a part with such a frame has a gap.
    """
    clean = np.where(np.isfinite(values), values, np.nan)
    count = len(times)
    if count <= most:
        return np.array(times), clean
    stretches = max(most // 2, 1)
    size = -(-count // stretches)
    stretches = -(-count // size)
    padded = np.full(stretches * size, np.nan)
    padded[:count] = clean
    grid = padded.reshape(stretches, size)
    gaps = np.isnan(grid)
    first = np.arange(stretches) * size
    low = first + np.where(gaps, np.inf, grid).argmin(axis=1)
    high = first + np.where(gaps, -np.inf, grid).argmax(axis=1)
    gaps.ravel()[count:] = False
    hole = first + gaps.argmax(axis=1)
    kept = [low, high, hole[gaps.any(axis=1)], [0, count - 1]]
    frames = np.unique(np.minimum(np.concatenate(kept), count - 1))
    return np.asarray(times[frames]), clean[frames]


def line_of(
    label: str, times: Floats, values: Floats, color: Color = 0, *, most: int = 1200
) -> Line:
    """Return a curve of values (T,) over times (T,) with at most about `most` points."""
    return Line(shown(label, 60), *decimated(times, values, most), color=color)


def limits_of(of: Series, k: int) -> tuple[float, float]:
    """Return the limits of column k, ±inf where there are none."""
    return -np.inf if of.lower is None else float(
        of.lower[k]
    ), np.inf if of.upper is None else float(of.upper[k])


def panel(of: Series, k: int, color: Color = 0, most: int = 600) -> Curves:
    """Return the panel of column k, with its limits and the worst times beyond them."""
    column = np.asarray(of.values[:, k])
    lower, upper = limits_of(of, k)
    marks = beyond_limits(of.times, column, lower, upper)
    note = ""
    if np.isfinite(lower) or np.isfinite(upper):
        note = f"limits {number_text(lower)} … {number_text(upper)}"
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
    """Return (time, value) of the worst frame of each time span outside of the limits, for the few worst ones, in order of time."""
    over = np.maximum(column - high, low - column)
    over = np.where(np.isnan(over), -np.inf, over)
    outside = over > 1e-9 * max(
        1.0, *(abs(x) for x in (low, high) if np.isfinite(x)), 1.0
    )
    worst = [int(a + over[a:b].argmax()) for a, b in runs(outside)]
    frames = sorted(sorted(worst, key=lambda frame: -over[frame])[:MAX_MARKS])
    return tuple((float(times[k]), float(column[k])) for k in frames)


def outside(line: Line, part: Curves) -> tuple[Floats, Floats] | None:
    """Return the parts of a curve beyond its limits or below its floor, including the crossings.

    None where there are none.
    """
    if part.floor is None:
        low = part.lower
    else:
        low = max(part.lower, part.floor)
    high = part.upper
    values = line.values
    times = line.times
    over = (values > high) | (values < low)
    if not over.any():
        return None
    at = np.flatnonzero((over[1:] != over[:-1]) & np.isfinite(values[1:] - values[:-1]))
    out = np.where(over[at], values[at], values[at + 1])
    limit = np.where(out > high, high, low)
    share = (limit - values[at]) / (values[at + 1] - values[at])
    order = np.argsort(np.concatenate([np.arange(len(times)), at + 0.5]), kind="stable")
    crossing = times[at] + share * (times[at + 1] - times[at])
    return (
        np.concatenate([times, crossing])[order],
        np.concatenate([np.where(over, values, np.nan), limit])[order],
    )


def ranged(panels: Sequence[Curves], *, from_zero: bool = False) -> tuple[Curves, ...]:
    """Return panels with a common range of their axes, which contains their curves and near limits."""
    ends = [
        line.ends
        for one in panels
        for line in one.lines
        if not np.isnan(line.values).all()
    ]
    low, high = (
        (min(a for a, _ in ends), max(b for _, b in ends)) if ends else (0.0, 1.0)
    )
    if from_zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    if panels:
        min_span = max(
            MIN_SPANS.get(panels[0].unit, 1e-3), 1e-9 * max(abs(low), abs(high))
        )
    else:
        min_span = 1.0
    if high - low < min_span:
        middle = 0.5 * (low + high)
        low = middle - min_span / 2
        high = middle + min_span / 2
    span = high - low
    for one in panels:
        if low - MAX_LIMIT_DISTANCE * span <= one.lower <= high:
            low = min(low, one.lower)
        if low <= one.upper <= high + MAX_LIMIT_DISTANCE * span:
            high = max(high, one.upper)
    room = (0.17 if any(one.beyond for one in panels) else 0.08) * (high - low)
    return tuple(replace(one, lowest=low - room, highest=high + room) for one in panels)


def together(
    title: str,
    of: Series,
    columns: Sequence[int],
    *,
    note: str = "",
    labels: Sequence[str] | None = None,
) -> Curves:
    """Return one panel of several columns of one unit, with a legend."""
    lines = tuple(
        line_of(labels[k] if labels else of.labels[k], of.times, of.values[:, k], n)
        for n, k in enumerate(columns)
    )
    if columns:
        unit = of.units[columns[0]]
    else:
        unit = ""
    return ranged(
        (Curves(title, unit, lines, note=note, legend=True),), from_zero=True
    )[0]


def curve_rows(title: str, of: Series, groups: tuple[JointGroup, ...]) -> CurveRows:
    """Return the columns of a series in rows, by groups of columns.

    Of too many, those that vary most.
    """
    if len(of.labels) > MAX_ROWS:
        chosen = set(most_varying(of, MAX_ROWS))
    else:
        chosen = set(range(len(of.labels)))
    rows = list[Row]()
    ends = []
    for color, group in enumerate(groups):
        kept = [k for k in group.columns if k in chosen]
        rows += [_row(of, k, color) for k in kept]
        if kept:
            ends.append(len(rows))
    if len(chosen) < len(of.labels):
        title += f" (the {len(chosen)} of {len(of.labels)} that vary most)"
    return CurveRows(title, tuple(rows), tuple(ends[:-1]))


def most_varying(of: Series, count: int) -> list[int]:
    """Return at most `count` columns, those with the largest ranges relative to the smallest range of their unit."""
    if not len(of.times):
        return list(range(min(count, len(of.labels))))
    finite = np.where(np.isfinite(of.values), of.values, np.nan)
    empty = np.isnan(finite).all(axis=0)
    finite[:, empty] = 0.0
    spans = (np.nanmax(finite, axis=0) - np.nanmin(finite, axis=0)) / [
        MIN_SPANS.get(unit, 1.0) for unit in of.units
    ]
    return [int(k) for k in np.argsort(-spans, kind="stable")[:count]]


def _row(of: Series, k: int, color: int) -> Row:
    column = np.asarray(of.values[:, k])
    line = line_of(of.labels[k], of.times, column, color, most=700)
    unit = of.units[k]
    low, high = line.ends
    short = unit if len(unit) <= 4 else ""
    nothing = max(5e-4 * max(abs(low), abs(high)), 1e-3 * MIN_SPANS.get(unit, 0.0))
    low, high = (0.0 if abs(value) < nothing else value for value in (low, high))
    if number_text(low) == number_text(high):
        span = number_text(low)
    else:
        span = f"{number_text(low)} … {number_text(high)}"
    note = f"{span}{'' if short == '°' else ' ' * bool(short)}{short}"
    return Row(
        line, note, unit, bool(beyond_limits(of.times, column, *limits_of(of, k)))
    )


def row_range(row: Row) -> tuple[float, float]:
    """Return the lowest and highest value that a row shows, at least the smallest range of its unit apart."""
    low, high = (0.0, 1.0) if np.isnan(row.line.ends[0]) else row.line.ends
    span = MIN_SPANS.get(row.unit, 1e-9)
    if high - low < span:
        low, high = (low + high - span) / 2, (low + high + span) / 2
    return low, high
