"""Many joints at one glance: each a small curve in a row of its own, scaled to what it does, with its range in numbers."""

from __future__ import annotations

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Series
from bodymotion.plots.limbs import Limb
from bodymotion.plots.panels import FINEST, beyond_limits, line_of
from bodymotion.plots.parts import Row, Strips
from bodymotion.plots.words import number

__all__ = ["MOST_ROWS", "liveliest", "strips"]

MOST_ROWS = 44


def strips(title: str, of: Series, groups: tuple[Limb, ...]) -> Strips:
    """Make strips of the columns of a series; `groups` number the columns. Of too many, those that move most are shown."""
    chosen = set(liveliest(of, MOST_ROWS)) if len(of.labels) > MOST_ROWS else set(range(len(of.labels)))
    rows, named = [], []
    for color, group in enumerate(groups):
        kept = [k for k in group.columns if k in chosen]
        rows += [_row(of, k, color) for k in kept]
        if kept:
            named.append((shown(group.name, 30), len(kept)))
    if len(chosen) < len(of.labels):
        title += f" (the {len(chosen)} of {len(of.labels)} that move most)"
    return Strips(title, tuple(rows), tuple(named))


def liveliest(of: Series, count: int) -> list[int]:
    """Return the columns that span most, each measured by what is little in its unit, at most so many."""
    if not len(of.times):
        return list(range(min(count, len(of.labels))))
    finite = np.where(np.isfinite(of.values), of.values, np.nan)
    empty = np.isnan(finite).all(axis=0)
    finite[:, empty] = 0.0
    spans = (np.nanmax(finite, axis=0) - np.nanmin(finite, axis=0)) / [FINEST.get(unit, 1.0) for unit in of.units]
    return [int(k) for k in np.argsort(-spans, kind="stable")[:count]]


def _row(of: Series, k: int, color: int) -> Row:
    column = np.asarray(of.values[:, k])
    lower = None if of.lower is None else float(of.lower[k])
    upper = None if of.upper is None else float(of.upper[k])
    finite = column[np.isfinite(column)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (np.nan, np.nan)
    unit = of.units[k]
    short = unit if len(unit) <= 4 else ""
    nothing = max(5e-4 * max(abs(low), abs(high)), 1e-3 * FINEST.get(unit, 0.0))
    low, high = (0.0 if abs(value) < nothing else value for value in (low, high))
    span = number(low) if number(low) == number(high) else f"{number(low)} … {number(high)}"
    note = f"{span}{'' if short == '°' else ' ' * bool(short)}{short}"
    beyond = bool(beyond_limits(of.times, column, lower, upper))
    return Row(line_of(of.labels[k], of.times, column, color, most=700), note, unit, beyond)
