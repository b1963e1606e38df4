"""The plot of chosen joints over time, with a line where the player stands.

The curves are drawn once, as SVG in a piece of HTML. The line's place is a variable of CSS in another, tiny piece, so that following the
time costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.viewer.curves import COLORS, liveliest, svg_of, unique
from bodymotion.viewer.take import Curve, Take
from bodymotion.viewer.text import fixed, html_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

__all__ = ["JointPlot"]

NONE = "—"


class JointPlot:
    """The plot of a take in the panel; `changed` is called when someone chooses other joints."""

    def __init__(self, gui: viser.GuiApi, take: Take, chosen: tuple[str, ...], changed: Callable[[], None]) -> None:
        self._take = take
        self._curves = unique(take.curves, NONE)
        self._plot = gui.add_html("")
        self._now = gui.add_html("")
        self._legend = gui.add_html("")
        self._slots: list[viser.GuiDropdownHandle[str]] = []
        kept = [name for name in chosen if name in self._curves] or liveliest(self._curves, 2)
        for slot in range(len(COLORS)):
            initial = kept[slot] if slot < len(kept) else NONE
            dropdown = gui.add_dropdown(f"Curve {slot + 1}", (NONE, *self._curves), initial_value=initial)
            dropdown.on_update(lambda event: changed() if event.client_id is not None else None)
            self._slots.append(dropdown)

    def retake(self, take: Take) -> None:
        """Go on with another motion of the same body."""
        self._take = take
        self._curves = unique(take.curves, NONE)
        self.draw()

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the curves that are plotted."""
        return tuple(dict.fromkeys(slot.value for slot in self._slots if slot.value != NONE))

    def draw(self) -> None:
        """Draw the chosen curves anew."""
        self._plot.content = svg_of(self._take.timeline.times, [self._curves[name] for name in self.chosen])

    def follow(self, frame: int) -> None:
        """Move the line to a frame, and write the values there."""
        times = self._take.timeline.times
        share = (times[frame] - times[0]) / max(times[-1] - times[0], 1e-12)
        self._now.content = f"<style>:root{{--bodymotion-now:{share:.5f}}}</style>"
        rows = "".join(
            f'<tr><td style="color:{COLORS[i]};padding-right:6px">&#9644;</td><td style="width:100%">{html_text(name)}</td>'
            f'<td style="white-space:nowrap;text-align:right">{_value(self._curves[name], frame)}</td></tr>'
            for i, name in enumerate(self.chosen)
        )
        self._legend.content = f'<table style="font-size:0.8em;width:100%;padding:0 0.9em;font-variant-numeric:tabular-nums">{rows}</table>'


def _value(curve: Curve, frame: int) -> str:
    value = float(curve.values[frame])
    if curve.unit == "deg":
        return f"{fixed(value, 2)}° &nbsp; {fixed(np.deg2rad(value), 4)} rad"
    return f"{fixed(value, 4)} {curve.unit}"
