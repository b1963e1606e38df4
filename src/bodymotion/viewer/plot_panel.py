"""The tab Plot: curves over time.

They are joint values, or any measured quantity, with a line at the current time.

A click goes to a time.

The curves are drawn once, as SVG in a piece of HTML. The position of the line is a
variable of CSS in another, tiny piece, so that following the time costs next to
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics.text import distinct, fixed, html_text, shown, small_html
from bodymotion.geometry.arrays import Floats
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import Curve, Scene
from bodymotion.viewer.server import on_user

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.analysis import MotionAnalysis

NONE = "—"
JOINT_VALUES = "Joint values"
MAX_POINTS = 800
# The colours of the curves, whose number they limit.
COLORS = ("#1f77d0", "#e0701a", "#2a9d4a", "#b03ac0")
HEIGHT = 190
LEFT = 40
RIGHT = 12
TOP = 10
# [px] Height of the plot and its margins. On the right `LEFT` when there is a second
# unit.
BOTTOM = 20
GRID = 1000  # Resolution of the drawing in both directions.
_LINE = 'fill="none" stroke-linejoin="round" vector-effect="non-scaling-stroke"'
_GRID_LINE = (
    'stroke="currentColor" stroke-opacity="0.12" vector-effect="non-scaling-stroke"'
)


class PlotPanel:
    """The plot of a scene.

    `changed` is called when a user chooses something else to plot.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        scene: Scene,
        options: DisplayOptions,
        changed: Callable[[], None],
    ) -> None:
        from bodymotion.dynamics import QUANTITIES

        self._scene = scene
        self._names = {
            quantity.title: name
            for name, quantity in QUANTITIES.items()
            if not scene.without_body
        }
        self._curves = with_unique_names(scene.curves)
        self._drawn: tuple[str | None, bool] | None = None
        titles = {name: title for title, name in self._names.items()}
        self._quantity = gui.add_dropdown(
            "Quantity",
            (JOINT_VALUES, *self._names),
            initial_value=titles.get(options.quantity or "", JOINT_VALUES),
        )
        on_user(self._quantity, lambda _value: changed())
        self._status = gui.add_html("", visible=False)
        self._plot = gui.add_html("")
        self._now = gui.add_html("")
        self._legend = gui.add_html("")
        self._choices: list[Any] = []
        self._kept = options.plotted
        for number in range(len(COLORS)):
            dropdown = gui.add_dropdown(
                f"Curve {number + 1}", (NONE,), initial_value=NONE
            )
            on_user(dropdown, lambda _value: changed())
            self._choices.append(dropdown)

    def update(self, scene: Scene) -> None:
        """Show another motion of the same body."""
        self._scene = scene
        self._drawn = None
        self._kept = self.chosen
        self.draw(None)

    @property
    def quantity(self) -> str | None:
        """The name of the quantity that is plotted.

        None for the joint values.
        """
        return self._names.get(self._quantity.value)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the curves that are plotted."""
        return tuple(
            dict.fromkeys(
                choice.value for choice in self._choices if choice.value in self._curves
            )
        )

    def draw(self, analysis: MotionAnalysis | None) -> None:
        """Draw the chosen curves.

        Those of a measured quantity once the analysis has it.
        """
        name = self.quantity
        known = name is None or (analysis is not None and analysis.has(name))
        if self._drawn != (name, known):
            if name is None:
                self._curves = with_unique_names(self._scene.curves)
            elif known and analysis is not None:
                of = analysis.series(name)
                columns = zip(of.labels, of.units, np.asarray(of.values).T, strict=True)
                self._curves = with_unique_names(
                    tuple(Curve(*one) for one in columns if np.isfinite(one[2]).any())
                )
            else:
                self._curves = {}
            # The curves that were chosen before, or the ones with the largest spans.
            kept = [name for name in self._kept if name in self._curves]
            kept = kept or largest_spans(
                self._curves, 3 if len(self._curves) == 3 else 2
            )
            for k, choice in enumerate(self._choices):
                choice.options = (NONE, *self._curves)
                if k < len(kept):
                    choice.value = kept[k]
                else:
                    choice.value = NONE
            self._kept = ()
            self._drawn = (name, known)
        times = self._scene.timeline.times
        curves = [filled(self._curves[chosen], len(times)) for chosen in self.chosen]
        self._plot.content = (
            f'<div class="bodymotion-plot" '
            f'style="cursor:crosshair">{svg_of(times, curves)}</div>'
        )

    def follow(self, frame: int, status: str) -> None:
        """Move the line to a frame and show the values there.

        `status` is that of the analysis.
        """
        times = self._scene.timeline.times
        share = (times[frame] - times[0]) / max(times[-1] - times[0], 1e-12)
        self._now.content = f"<style>:root{{--bodymotion-now:{share:.5f}}}</style>"
        name = self.quantity
        if name is None or self._drawn == (name, True):
            if self._curves:
                status = ""
            else:
                status = "There are no values of this quantity."
        elif not status:
            status = "This motion on this body does not have this quantity."
        self._status.visible = bool(status)
        if status:
            self._status.content = small_html(status)
        rows = "".join(
            f'<tr><td style="color:{COLORS[i]};padding-right:6px">&#9644;</td><td '
            f'style="width:100%">{html_text(name)}</td>'
            f'<td style="white-space:nowrap;text-align:right">'
            f"{_value(self._curves[name], frame)}</td></tr>"
            for i, name in enumerate(self.chosen)
        )
        style = (
            "font-size:0.8em;width:100%;padding:0 "
            "0.9em;font-variant-numeric:tabular-nums"
        )
        self._legend.content = f'<table style="{style}">{rows}</table>'


def filled(curve: Curve, count: int) -> Curve:
    """Return a curve over `count` frames without gaps.

    The last finite value before, or the first one, replaces values that are missing or
    not finite.
    """
    values = np.asarray(curve.values, dtype=np.float64)[:count]
    values = np.concatenate([values, np.full(count - len(values), np.nan)])
    known = np.isfinite(values)
    if known.all() or not known.any():
        return Curve(
            curve.name, curve.unit, np.nan_to_num(values, posinf=0.0, neginf=0.0)
        )
    frames = np.maximum.accumulate(np.where(known, np.arange(count), 0))
    frames[: int(known.argmax())] = int(known.argmax())
    return Curve(curve.name, curve.unit, values[frames])


def _value(curve: Curve, frame: int) -> str:
    if frame < len(curve.values):
        value = float(curve.values[frame])
    else:
        value = np.nan
    if not np.isfinite(value):
        return "—"
    if curve.unit == "deg":
        return f"{fixed(value, 2)}° &nbsp; {fixed(np.deg2rad(value), 4)} rad"
    return f"{fixed(value, 4)} {html_text(curve.unit)}"


def svg_of(times: Floats, curves: list[Curve]) -> str:
    """Return curves over times (T,) as HTML.

    Curves of one unit share an axis, a second unit has its axis on the right.

    The CSS variable `--bodymotion-now` is the position of the red line, as a share of
    the time.
    """
    if not curves or not len(times):
        return ""
    from bodymotion.plots.curves import decimated

    points = [
        decimated(times, np.nan_to_num(curve.values), MAX_POINTS) for curve in curves
    ]
    start = float(times[0])
    end = float(times[-1])
    units = list(dict.fromkeys(curve.unit for curve in curves))
    scales = {
        unit: _scale(
            [
                values
                for curve, (_, values) in zip(curves, points, strict=True)
                if curve.unit == unit
            ]
        )
        for unit in units
    }
    lines = []
    for color, curve, (moments, values) in zip(COLORS, curves, points, strict=False):
        x = _on_grid(moments, start, end)
        y = GRID - _on_grid(values, *scales[curve.unit])
        corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        lines.append(
            f'<polyline points="{corners}" stroke="{color}" stroke-width="1.5" '
            f"{_LINE}/>"
        )
    right = RIGHT if len(units) == 1 else LEFT
    grid = labels = ""
    for time in ticks(start, end):
        at = float(_on_grid(np.array([time]), start, end)[0])
        grid += f'<path d="M{at:.1f} 0V{GRID}" {_GRID_LINE}/>'
        labels += (
            f'<div style="position:absolute;top:{HEIGHT - BOTTOM + 3}px;'
            f"transform:translateX(-50%);"
            f"left:calc({LEFT}px + {at / GRID:.4f} * (100% - "
            f'{LEFT + right}px))">{time:g}</div>'
        )
    for side, unit in zip(("left", "right"), units, strict=False):
        low, high = scales[unit]
        for value in ticks(low, high):
            share = 1 - (value - low) / (high - low)
            grid += (
                f'<path d="M0 {GRID * share:.1f}H{GRID}" {_GRID_LINE}/>'
                if side == "left"
                else ""
            )
            position = (
                f"{'right' if side == 'left' else 'left'}:calc(100% - {LEFT - 5}px)"
            )
            labels += (
                f'<div style="position:absolute;{position};transform:translateY(-50%);'
                f'top:{TOP + share * (HEIGHT - TOP - BOTTOM):.1f}px">'
                f"{value:g}{'°' if unit == 'deg' else ''}</div>"
            )
    inside = (
        f"left:{LEFT}px;top:{TOP}px;width:calc(100% - "
        f"{LEFT + right}px);height:{HEIGHT - TOP - BOTTOM}px"
    )
    return (
        f'<div style="position:relative;height:{HEIGHT}px;margin:0.4em 0.6em '
        f'0;font-size:10px">{labels}'
        f'<svg style="position:absolute;{inside};overflow:visible" viewBox="0 0 '
        f'{GRID} {GRID}" preserveAspectRatio="none">'
        f"{grid}{''.join(lines)}</svg><div "
        f'style="position:absolute;{inside};pointer-events:none">'
        '<div style="position:absolute;top:0;bottom:0;border-left:1.5px solid '
        "currentColor;"
        'left:calc(var(--bodymotion-now, 0) * 100%)"></div></div></div>'
    )


def _scale(columns: list[Floats]) -> tuple[float, float]:
    """Return the lowest and highest value of an axis.

    They have a margin around the curves.
    """
    low = min(float(c.min()) for c in columns)
    high = max(float(c.max()) for c in columns)
    margin = 0.06 * (high - low) or max(0.1 * abs(high), 1e-3)
    return low - margin, high + margin


def _on_grid(values: Floats, low: float, high: float) -> Floats:
    return np.asarray(GRID * (values - low) / max(high - low, 1e-12))


def ticks(low: float, high: float, count: int = 7) -> list[float]:
    """Return about `count` round numbers from `low` to `high`.

    Their steps are 1, 2 or 5 times a power of ten.
    """
    span = high - low
    if not (np.isfinite(span) and span > 0):
        return []
    raw = span / count
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(
        factor * power
        for factor in (1.0, 2.0, 5.0, 10.0)
        if factor * power >= raw * (1 - 1e-9)
    )
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [
        float(f"{step * i:.10g}")
        for i in range(first, min(last, first + 3 * count) + 1)
    ]


def with_unique_names(curves: Iterable[Curve]) -> dict[str, Curve]:
    """Return the curves by name.

    Further ones of the same name, or of the name of no curve, get a number.
    """
    curves = tuple(curves)
    return dict(
        zip(
            distinct((NONE, *(shown(one.name) for one in curves)), "joint")[1:],
            curves,
            strict=True,
        )
    )


def largest_spans(curves: dict[str, Curve], count: int) -> list[str]:
    """Return the names of the curves with the largest spans.

    At most `count`, among those of the most frequent unit.
    """
    units = [curve.unit for curve in curves.values()]
    common = max(set(units), key=units.count, default="")
    spans = {
        name: float(np.ptp(c.values))
        for name, c in curves.items()
        if c.unit == common and len(c.values)
    }
    return sorted(
        spans, key=lambda name: -spans[name] if np.isfinite(spans[name]) else 0.0
    )[:count]
