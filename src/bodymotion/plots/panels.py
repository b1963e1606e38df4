"""A quantity as panels: one for each joint, with its limits; or curves together where there are few of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Series
from bodymotion.geometry.arrays import Floats
from bodymotion.plots.parts import Color, Curves, Line
from bodymotion.plots.thinning import thinned
from bodymotion.plots.words import number

__all__ = ["beyond_limits", "line_of", "outside", "panel", "ranged", "together"]

MOST_MARKS = 3
"""So many moments beyond a limit are marked in a panel."""
NEAR = 0.7
"""A limit is in the picture when it is nearer to the curve than so many times the curve's height."""
FINEST = {
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
"""What varies less than this is not made to look lively."""


def line_of(
    label: str, times: Floats, values: Floats, color: Color = 0, *, dashed: bool = False, most: int = 1200
) -> Line:
    """Make a curve of values (T,) over times (T,), thinned out to at most about `most` points."""
    return Line(shown(label, 60), *thinned(times, values, most), color=color, dashed=dashed)


def panel(of: Series, k: int, color: Color = 0, most: int = 600) -> Curves:
    """Make the panel of column k, with its limits as a band and what is beyond them marked."""
    column = np.asarray(of.values[:, k])
    lower = float(of.lower[k]) if of.lower is not None else None
    upper = float(of.upper[k]) if of.upper is not None else None
    marks = beyond_limits(of.times, column, lower, upper)
    note = ""
    if lower is not None and upper is not None and (np.isfinite(lower) or np.isfinite(upper)):
        note = f"limits {number(lower)} … {number(upper)}"
    elif of.lower is not None or (np.isinf(column).all() and len(column)):
        note = "no limits"
    shape = Curves(
        shown(of.labels[k], 60),
        of.units[k],
        (line_of(of.labels[k], of.times, column, color, most=most),),
        note=note,
        lower=lower,
        upper=upper,
        beyond=marks,
    )
    return ranged((shape,))[0]


def beyond_limits(
    times: Floats, column: Floats, lower: float | None, upper: float | None
) -> tuple[tuple[float, float], ...]:
    """Return (time, value) of the worst moment of each stretch outside of the limits, of the worst few stretches, in their order."""
    low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
    over = np.maximum(column - high, low - column)
    over = np.where(np.isnan(over), -np.inf, over)
    outside = over > 1e-9 * max(1.0, *(abs(x) for x in (low, high) if np.isfinite(x)), 1.0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], outside, [False]]).astype(np.int8))).reshape(-1, 2)
    if len(edges) > MOST_MARKS:
        worst = np.maximum.reduceat(np.append(over, -np.inf), edges.ravel())[::2]
        edges = edges[np.sort(np.argsort(-worst, kind="stable")[:MOST_MARKS])]
    frames = [int(a + over[a:b].argmax()) for a, b in edges]
    return tuple((float(times[k]), float(column[k])) for k in frames)


def outside(line: Line, part: Curves) -> tuple[Floats, Floats] | None:
    """Return what of a curve is bad, beyond the limits or below the floor, from where it crosses them; None where nothing is."""
    low = max(-np.inf if limit is None else limit for limit in (part.lower, part.floor))
    high = np.inf if part.upper is None else part.upper
    values, times = line.values, line.times
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
    """Return panels a common range of their axes: what their curves need, and limits that are near."""
    ends = [
        (float(np.nanmin(line.values)), float(np.nanmax(line.values)))
        for one in panels
        for line in one.lines
        if len(line.values) and not np.isnan(line.values).all()
    ]
    low, high = (min(a for a, _ in ends), max(b for _, b in ends)) if ends else (0.0, 1.0)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    least = max(FINEST.get(panels[0].unit, 1e-3), 1e-9 * max(abs(low), abs(high))) if panels else 1.0
    if high - low < least:
        middle = 0.5 * (low + high)
        low, high = middle - least / 2, middle + least / 2
    span = high - low
    for one in panels:
        if one.lower is not None and low - NEAR * span <= one.lower <= high:
            low = min(low, one.lower)
        if one.upper is not None and low <= one.upper <= high + NEAR * span:
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
    most: int = 1200,
) -> Curves:
    """Make one panel of several columns of one unit, named beside it."""
    lines = tuple(
        line_of(labels[k] if labels else of.labels[k], of.times, of.values[:, k], n, most=most)
        for n, k in enumerate(columns)
    )
    unit = of.units[columns[0]] if columns else ""
    return ranged((Curves(title, unit, lines, note=note, legend=True),), from_zero=True)[0]
