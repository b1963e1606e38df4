"""The plot of chosen joints over time, with a line where the player stands.

The curves are sent once; the line is a small piece of HTML laid over the plot, so that following the time costs next to nothing.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.arrays import Floats
from bodymotion.viewer.take import Curve, Take

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

__all__ = ["CURVES", "JointPlot", "thinned"]

CURVES = 4
"""How many joints can be plotted at once."""
MOST_POINTS = 800
COLORS = ("#1f77d0", "#e0701a", "#2a9d4a", "#b03ac0")
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 190, 46, 14, 10, 26
"""Pixels: height of the plot, and how far from its edges the curves stay."""
SIDE, RISE = 10, 11
"""Pixels by which the plot stands off the sides of the panel, and above the HTML below it."""
NONE = "—"


class JointPlot:
    """The plot of a take in the panel."""

    def __init__(self, gui: viser.GuiApi, take: Take, chosen: tuple[str, ...], changed: Callable[[], None]) -> None:
        self._gui = gui
        self._take = take
        self._curves = unique(take.curves)
        self._slots: list[viser.GuiDropdownHandle[str]] = []
        self._plot: viser.GuiUplotHandle | None = None
        self._cursor = gui.add_html("", order=2.0)
        self._legend = gui.add_html("", order=3.0)
        kept = [name for name in chosen if name in self._curves] or liveliest(self._curves, 2)
        for slot in range(CURVES):
            initial = kept[slot] if slot < len(kept) else NONE
            dropdown = gui.add_dropdown(
                f"Curve {slot + 1}", (NONE, *self._curves), initial_value=initial, order=4.0 + slot
            )
            dropdown.on_update(lambda event: changed() if event.client_id is not None else None)
            self._slots.append(dropdown)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the curves that are plotted."""
        return tuple(dict.fromkeys(slot.value for slot in self._slots if slot.value != NONE))

    def draw(self) -> None:
        """Draw the chosen curves anew."""
        if self._plot is not None:
            self._plot.remove()
            self._plot = None
        curves = [self._curves[name] for name in self.chosen]
        if not curves:
            self._cursor.content = self._legend.content = ""
            return
        times, columns = thinned(self._take.timeline.times, [curve.values for curve in curves])
        units = list(dict.fromkeys(curve.unit for curve in curves))
        series: list[dict[str, Any]] = [{"label": "s"}]
        series += [
            {"label": curve.name, "stroke": COLORS[i], "width": 1.5, "scale": curve.unit}
            for i, curve in enumerate(curves)
        ]
        axes: list[dict[str, Any]] = [{"size": BOTTOM, "font": "10px sans-serif"}]
        axes.append({"size": LEFT, "scale": units[0], "font": "10px sans-serif"})
        axes += [
            {"size": LEFT, "scale": u, "side": 1, "grid": {"show": False}, "font": "10px sans-serif"}
            for u in units[1:2]
        ]
        start, end = float(times[0]), float(times[-1])
        scales: dict[str, Any] = {"x": {"time": False, "range": (start, end)}, **{unit: {} for unit in units}}
        self._right = RIGHT + LEFT * (len(units) > 1)
        arguments: dict[str, Any] = {
            "series": tuple(series),
            "axes": tuple(axes),
            "scales": scales,
            "legend": {"show": False},
            "cursor": {"drag": {"x": False, "y": False}},
            "height": HEIGHT,
            "padding": (TOP, RIGHT, 0, 0),
            "order": 1.0,
        }
        self._plot = self._gui.add_uplot((times, *columns), **arguments)

    def follow(self, frame: int) -> None:
        """Move the line to a frame, and write the values there."""
        if self._plot is None:
            return
        times = self._take.timeline.times
        share = (times[frame] - times[0]) / max(times[-1] - times[0], 1e-12)
        self._cursor.content = (
            '<div style="position:relative;height:0"><div style="position:absolute;pointer-events:none;'
            f"left:calc({LEFT + SIDE}px + {share:.5f} * (100% - {LEFT + self._right + 2 * SIDE}px));top:-{HEIGHT - TOP + RISE}px;"
            f'height:{HEIGHT - TOP - BOTTOM}px;border-left:1.5px solid #e02020"></div></div>'
        )
        rows = "".join(
            f'<tr><td style="color:{COLORS[i]};padding-right:6px">&#9644;</td><td style="width:100%">{escape(name)}</td>'
            f'<td style="white-space:nowrap;text-align:right">{_value(self._curves[name], frame)}</td></tr>'
            for i, name in enumerate(self.chosen)
        )
        self._legend.content = f'<table style="font-size:0.8em;width:100%;padding:0 0.9em">{rows}</table>'


def _value(curve: Curve, frame: int) -> str:
    value = float(curve.values[frame])
    if curve.unit == "deg":
        return f"{value:.2f}° &nbsp; {np.deg2rad(value):.4f} rad"
    return f"{value:.4f} {curve.unit}"


def unique(curves: tuple[Curve, ...]) -> dict[str, Curve]:
    """Give the curves by name; further ones of the same name get a number."""
    named: dict[str, Curve] = {}
    for curve in curves:
        name, number = curve.name or "joint", 2
        while name in named or name == NONE:
            name, number = f"{curve.name} ({number})", number + 1
        named[name] = curve
    return named


def liveliest(curves: dict[str, Curve], count: int) -> list[str]:
    """Give the names of the curves that span most, of the unit that most curves have."""
    units = [curve.unit for curve in curves.values()]
    common = max(set(units), key=units.count, default="")
    spans = {name: float(np.ptp(c.values)) for name, c in curves.items() if c.unit == common and len(c.values)}
    return sorted(spans, key=lambda name: -spans[name] if np.isfinite(spans[name]) else 0.0)[:count]


def thinned(times: Floats, columns: list[Floats]) -> tuple[Floats, list[Floats]]:
    """Give fewer points (at most about `MOST_POINTS`) of curves over times (T,) with every peak kept.

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
