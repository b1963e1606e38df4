"""Curves over time as a picture in SVG: thinned out, scaled, with axes. All of it is text; nothing here knows a browser."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.geometry.arrays import Floats
from bodymotion.viewer.take import Curve

__all__ = ["COLORS", "liveliest", "svg_of", "thinned", "ticks", "unique"]

MOST_POINTS = 800
COLORS = ("#1f77d0", "#e0701a", "#2a9d4a", "#b03ac0")
"""As many curves as there are colours can be drawn."""
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 190, 40, 12, 10, 20
"""Pixels: height of the plot, and how far from its edges the curves stay; on the right `LEFT` when there is a second unit."""
FINE = 1000
"""The curves are drawn on a grid of so many steps each way."""


def svg_of(times: Floats, curves: list[Curve]) -> str:
    """Draw curves over times (T,) as HTML; curves of one unit share an axis, a second unit has its axis on the right.

    A red line stands at the share of the time that the CSS variable `--bodymotion-now` says.
    """
    if not curves or not len(times):
        return ""
    thin_times, columns = thinned(times, [curve.values for curve in curves])
    start, end = float(times[0]), float(times[-1])
    units = list(dict.fromkeys(curve.unit for curve in curves))
    scales = {
        unit: _room([column for curve, column in zip(curves, columns, strict=True) if curve.unit == unit])
        for unit in units
    }
    x = _on_grid(thin_times, start, end)
    lines = []
    for color, curve, column in zip(COLORS, curves, columns, strict=False):
        y = FINE - _on_grid(column, *scales[curve.unit])
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        lines.append(f'<polyline points="{points}" stroke="{color}" stroke-width="1.5" {_LINE}/>')
    right = RIGHT if len(units) == 1 else LEFT
    marks = [(float(_on_grid(np.array([t]), start, end)[0]), f"{t:g}") for t in ticks(start, end)]
    grid = "".join(f'<path d="M{at:.1f} 0V{FINE}" {_GRID}/>' for at, _ in marks)
    labels = "".join(
        f'<div style="position:absolute;top:{HEIGHT - BOTTOM + 3}px;transform:translateX(-50%);'
        f'left:calc({LEFT}px + {at / FINE:.4f} * (100% - {LEFT + right}px))">{text}</div>'
        for at, text in marks
    )
    for side, unit in zip(("left", "right"), units, strict=False):
        low, high = scales[unit]
        for value in ticks(low, high):
            share = 1 - (value - low) / (high - low)
            grid += f'<path d="M0 {FINE * share:.1f}H{FINE}" {_GRID}/>' if side == "left" else ""
            place = f"right:calc(100% - {LEFT - 5}px)" if side == "left" else f"left:calc(100% - {LEFT - 5}px)"
            labels += (
                f'<div style="position:absolute;{place};transform:translateY(-50%);'
                f'top:{TOP + share * (HEIGHT - TOP - BOTTOM):.1f}px">{value:g}{"°" if unit == "deg" else ""}</div>'
            )
    inside = f"left:{LEFT}px;top:{TOP}px;width:calc(100% - {LEFT + right}px);height:{HEIGHT - TOP - BOTTOM}px"
    return (
        f'<div style="position:relative;height:{HEIGHT}px;margin:0.4em 0.6em 0;font-size:10px">{labels}'
        f'<svg style="position:absolute;{inside};overflow:visible" viewBox="0 0 {FINE} {FINE}" preserveAspectRatio="none">'
        f'{grid}{"".join(lines)}</svg><div style="position:absolute;{inside};pointer-events:none">'
        '<div style="position:absolute;top:0;bottom:0;border-left:1.5px solid #e02020;'
        'left:calc(var(--bodymotion-now, 0) * 100%)"></div></div></div>'
    )


_LINE = 'fill="none" stroke-linejoin="round" vector-effect="non-scaling-stroke"'
_GRID = 'stroke="currentColor" stroke-opacity="0.12" vector-effect="non-scaling-stroke"'


def _room(columns: list[Floats]) -> tuple[float, float]:
    """Return a lowest and a highest value with some room around the curves."""
    low, high = min(float(c.min()) for c in columns), max(float(c.max()) for c in columns)
    room = 0.06 * (high - low) or max(0.1 * abs(high), 1e-3)
    return low - room, high + room


def _on_grid(values: Floats, low: float, high: float) -> Floats:
    return np.asarray(FINE * (values - low) / max(high - low, 1e-12))


def ticks(low: float, high: float, about: int = 7) -> list[float]:
    """Return round numbers from `low` to `high`: steps of 1, 2 or 5 times a power of ten, `about` so many of them."""
    span = high - low
    if not (np.isfinite(span) and span > 0):
        return []
    raw = span / about
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(f"{step * i:.10g}") for i in range(first, min(last, first + 3 * about) + 1)]


def unique(curves: tuple[Curve, ...], reserved: str = "") -> dict[str, Curve]:
    """Return the curves by name; further ones of the same name, or of a `reserved` one, get a number."""
    named: dict[str, Curve] = {}
    for curve in curves:
        first = shown(curve.name) or "joint"
        name, number = first, 2
        while name in named or name == reserved:
            name, number = f"{first} ({number})", number + 1
        named[name] = curve
    return named


def liveliest(curves: dict[str, Curve], count: int) -> list[str]:
    """Return the names of the curves that span most, of the unit that most curves have."""
    units = [curve.unit for curve in curves.values()]
    common = max(set(units), key=units.count, default="")
    spans = {name: float(np.ptp(c.values)) for name, c in curves.items() if c.unit == common and len(c.values)}
    return sorted(spans, key=lambda name: -spans[name] if np.isfinite(spans[name]) else 0.0)[:count]


def thinned(times: Floats, columns: list[Floats]) -> tuple[Floats, list[Floats]]:
    """Return fewer points (at most about `MOST_POINTS`) of curves over times (T,) with every peak kept.

    The frames are divided into equal stretches; of each the lowest and the highest value stay, in their order.
    """
    count = len(times)
    if count <= MOST_POINTS:
        return np.array(times), [np.nan_to_num(column) for column in columns]
    edges = np.linspace(0, count, MOST_POINTS // 2 + 1).astype(int)
    middle = np.repeat(0.5 * (times[edges[:-1]] + times[edges[1:] - 1]), 2)
    quarter = 0.25 * (times[edges[1:] - 1] - times[edges[:-1]])
    middle[0::2] -= quarter
    middle[1::2] += quarter
    middle[0], middle[-1] = times[0], times[-1]
    thin = []
    for column in columns:
        values = np.nan_to_num(column)
        pieces = [values[a:b] for a, b in pairwise(edges)]
        ends = np.array([(p.min(), p.max()) if p.argmin() <= p.argmax() else (p.max(), p.min()) for p in pieces])
        thin.append(ends.ravel())
    return middle, thin
