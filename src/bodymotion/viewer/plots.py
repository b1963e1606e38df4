"""The plot of joint values, or of anything that is measured, over time, with a line where the player stands. A click goes there.

The curves are drawn once, as SVG in a piece of HTML. The line's place is a variable of CSS in another, tiny piece, so that following the
time costs next to nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.viewer.curves import COLORS, liveliest, svg_of, unique
from bodymotion.viewer.take import Curve, Take
from bodymotion.viewer.text import fixed, html_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from bodymotion.dynamics import Series
    from bodymotion.viewer.insight import Insight
    from bodymotion.viewer.switches import Switches

__all__ = ["GO_WHERE_CLICKED", "Plot", "curves_of", "filled"]

NONE = "—"
JOINT_VALUES = "Joint values"
PLACES = 400
"""So many places of a plot are told apart when it is clicked."""


class Plot:
    """The plot of a take in the panel; `changed` is called when someone chooses something else to be plotted."""

    def __init__(self, gui: viser.GuiApi, take: Take, switches: Switches, changed: Callable[[], None]) -> None:
        from bodymotion.dynamics import QUANTITIES

        self._take = take
        self._names = {quantity.title: name for name, quantity in QUANTITIES.items() if not take.motion_alone}
        self._curves = unique(take.curves, NONE)
        self._drawn: tuple[str | None, bool] | None = None
        titles = {name: title for title, name in self._names.items()}
        self._quantity = gui.add_dropdown(
            "Quantity", (JOINT_VALUES, *self._names), initial_value=titles.get(switches.quantity or "", JOINT_VALUES)
        )
        self._quantity.on_update(lambda event: changed() if event.client_id is not None else None)
        self._status = gui.add_html("", visible=False)
        self._plot = gui.add_html("")
        self._now = gui.add_html("")
        self._legend = gui.add_html("")
        self._slots: list[Any] = []
        self._kept = switches.plotted
        for slot in range(len(COLORS)):
            dropdown = gui.add_dropdown(f"Curve {slot + 1}", (NONE,), initial_value=NONE)
            dropdown.on_update(lambda event: changed() if event.client_id is not None else None)
            self._slots.append(dropdown)

    def retake(self, take: Take) -> None:
        """Go on with another motion of the same body."""
        self._take = take
        self._drawn = None
        self._kept = self.chosen
        self.draw(None)

    @property
    def quantity(self) -> str | None:
        """The name of the quantity that is plotted; None for the joint values."""
        return self._names.get(self._quantity.value)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the curves that are plotted."""
        return tuple(dict.fromkeys(slot.value for slot in self._slots if slot.value in self._curves))

    def draw(self, insight: Insight | None) -> None:
        """Draw the chosen curves anew, those of a measured quantity as soon as it is known."""
        name = self.quantity
        known = name is None or (insight is not None and insight.has(name))
        if self._drawn != (name, known):
            self._curves = self._curves_of(name, insight if known else None)
            self._offer()
            self._drawn = (name, known)
        times = self._take.timeline.times
        curves = [filled(self._curves[chosen], len(times)) for chosen in self.chosen]
        share = np.linspace(0.0, 1.0, PLACES)
        frames = np.asarray(self._take.timeline.frames_at(times[0] + share * (times[-1] - times[0]) + 1e-9))
        self._plot.content = (
            f'<div class="bodymotion-plot" style="cursor:crosshair" data-frames="{json.dumps(frames.tolist())}">'
            f"{svg_of(times, curves)}</div>"
        )

    def _curves_of(self, name: str | None, insight: Insight | None) -> dict[str, Curve]:
        if name is None:
            return unique(self._take.curves, NONE)
        return {} if insight is None else unique(curves_of(insight.series(name)), NONE)

    def _offer(self) -> None:
        """Offer the curves there are, and choose those that were chosen before, or the liveliest."""
        kept = [name for name in self._kept if name in self._curves]
        kept = kept or liveliest(self._curves, 3 if len(self._curves) == 3 else 2)
        for k, slot in enumerate(self._slots):
            slot.options = (NONE, *self._curves)
            slot.value = kept[k] if k < len(kept) else NONE
        self._kept = ()

    def follow(self, frame: int, status: str) -> None:
        """Move the line to a frame, and write the values there; `status` is how the measuring goes."""
        times = self._take.timeline.times
        share = (times[frame] - times[0]) / max(times[-1] - times[0], 1e-12)
        self._now.content = f"<style>:root{{--bodymotion-now:{share:.5f}}}</style>"
        self._say(status)
        rows = "".join(
            f'<tr><td style="color:{COLORS[i]};padding-right:6px">&#9644;</td><td style="width:100%">{html_text(name)}</td>'
            f'<td style="white-space:nowrap;text-align:right">{_value(self._curves[name], frame)}</td></tr>'
            for i, name in enumerate(self.chosen)
        )
        self._legend.content = f'<table style="font-size:0.8em;width:100%;padding:0 0.9em;font-variant-numeric:tabular-nums">{rows}</table>'

    def _say(self, status: str) -> None:
        name = self.quantity
        if name is None or self._drawn == (name, True):
            status = "" if self._curves else "Nothing of this is known."
        elif not status:
            status = "This motion on this body has nothing of the kind."
        self._status.visible = bool(status)
        if status:
            self._status.content = f'<div style="padding:0 1em;font-size:0.85em;opacity:0.85">{html_text(status)}</div>'


def curves_of(series: Series) -> tuple[Curve, ...]:
    """Return the columns of a quantity in which there is any number."""
    return tuple(
        Curve(label, unit, np.asarray(series.values[:, k]))
        for k, (label, unit) in enumerate(zip(series.labels, series.units, strict=True))
        if np.isfinite(series.values[:, k]).any()
    )


def filled(curve: Curve, count: int) -> Curve:
    """Return a curve over `count` frames in which what is not finite, or missing at the end, has the last value before, or the first one."""
    values = np.asarray(curve.values, dtype=np.float64)[:count]
    values = np.concatenate([values, np.full(count - len(values), np.nan)])
    known = np.isfinite(values)
    if known.all() or not known.any():
        return Curve(curve.name, curve.unit, np.nan_to_num(values, posinf=0.0, neginf=0.0))
    places = np.maximum.accumulate(np.where(known, np.arange(count), 0))
    places[: int(known.argmax())] = int(known.argmax())
    return Curve(curve.name, curve.unit, values[places])


def _value(curve: Curve, frame: int) -> str:
    value = float(curve.values[frame]) if frame < len(curve.values) else np.nan
    if not np.isfinite(value):
        return "—"
    if curve.unit == "deg":
        return f"{fixed(value, 2)}° &nbsp; {fixed(np.deg2rad(value), 4)} rad"
    return f"{fixed(value, 4)} {html_text(curve.unit)}"


GO_WHERE_CLICKED = """
if (!window.bodymotionPlots) {
  window.bodymotionPlots = true;
  const moved = () => {
    for (const slider of document.querySelectorAll("[role=slider]")) {
      let fiber = slider[Object.keys(slider).find((key) => key.startsWith("__reactFiber$"))], change = null;
      for (; fiber; fiber = fiber.return) {
        const props = fiber.memoizedProps;
        if (!change && props?.onChange && "max" in props) change = props.onChange;
        if (props?.props?.label === "Frame") return change;
      }
    }
    return null;
  };
  const go = (event) => {
    const plot = event.target instanceof Element ? event.target.closest(".bodymotion-plot") : null;
    const svg = plot?.querySelector("svg");
    if (!svg) return;
    const frames = JSON.parse(plot.dataset.frames), box = svg.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / Math.max(box.width, 1), 0), 1);
    moved()?.(frames[Math.round(share * (frames.length - 1))]);
    event.preventDefault();
  };
  document.addEventListener("pointerdown", (event) => { if (event.button === 0) go(event); });
  document.addEventListener("pointermove", (event) => { if (event.buttons === 1) go(event); });
}
"""
"""What the browser does when a plot is clicked, or drawn across: it moves the slider of frames, as if someone had done it by hand."""
