"""The tab Joints: a slider for each joint that moves a link, in degrees or metres, within the joint's limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics.text import fixed, shown
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import Joint
from bodymotion.scene.scene import limits_text
from bodymotion.viewer.server import on_user

if TYPE_CHECKING:
    import viser

DEFAULT_RANGE = {"rotate": np.pi, "slide": 1.0}
"""[rad or m] Range of a slider in both directions where the joint has no limit."""
MAX_LIMIT = 100.0  # [rad or m] Larger limits count as none.
NO_BREAK_POINT = "\u2024\u2060"  # Looks like a decimal point; viser breaks the line of a label after a real one.
WRITE_BACK_DELAY = 0.6  # [s] After a user has moved a slider its value is not overwritten for this time.


@dataclass(frozen=True)
class SliderRange:
    """The range of a slider, in degrees for rotary joints and metres for sliding ones.

    Its ends are the joint's limits `lower` and `upper` [rad or m], rounded to steps of the slider, and stand for these limits.
    """

    lowest: float
    highest: float
    step: float
    to_shown: float
    lower: float
    upper: float

    def shown(self, value: float) -> float:
        """Return a joint value [rad or m] as the slider shows it: rounded to its steps and clipped to its range."""
        on_step = round(round(value * self.to_shown / self.step) * self.step, 6)
        return float(np.clip(on_step, self.lowest, self.highest))

    def joint_value(self, shown: float) -> float:
        """Return the joint value [rad or m] for a number on the slider or in its field, clipped to the limits."""
        if self.lowest < self.highest and shown <= self.lowest:
            return self.lower
        if self.lowest < self.highest and shown >= self.highest:
            return self.upper
        return min(max(shown / self.to_shown, self.lower), self.upper)


def slider_range(joint: Joint) -> SliderRange:
    """Return the range of a joint's slider: its limits, or ±180° or ±1 m without limits."""
    rotary = joint.type != "slide"
    default = DEFAULT_RANGE["rotate" if rotary else "slide"]
    lower, upper = joint.lower, joint.upper
    lower = lower if abs(lower) <= MAX_LIMIT else -default if not abs(upper) <= MAX_LIMIT else min(-default, upper)
    upper = upper if abs(upper) <= MAX_LIMIT else max(default, lower)
    if lower > upper:
        lower, upper = upper, lower
    to_shown = float(np.rad2deg(1.0)) if rotary else 1.0
    digits = 1 if rotary else 3
    while digits < 6 and 0 < (upper - lower) * to_shown < 10 * 10.0**-digits:
        digits += 1
    lowest, highest = round(lower * to_shown, digits), round(upper * to_shown, digits)
    return SliderRange(lowest, highest, 10.0**-digits, to_shown, lower, upper)


def value_text(joint: Joint, value: float) -> str:
    """Return a joint value in degrees and radians, or metres, and whether it is beyond the joint's limits."""
    text = (
        f"{fixed(value, 3, '+')} m"
        if joint.type == "slide"
        else f"{fixed(np.rad2deg(value), 1, '+')}° {fixed(value, 3, '+')} rad"
    )
    beyond = value < joint.lower - 1e-6 or value > joint.upper + 1e-6
    return f"{text} (beyond limit)" if beyond else text


class JointSliders:
    """The sliders of a body's joints; `moved(column, value)` is called when a user moves one."""

    def __init__(self, gui: viser.GuiApi, body: Body, moved: Callable[[int, float], None]) -> None:
        self._body = body
        self._sliders: dict[int, Any] = {}
        self._ranges: dict[int, SliderRange] = {}
        self._touched: dict[int, float] = {}
        for column, index in enumerate(body.joint_links):
            joint = body.joints[column]
            if index < 1 or joint.type not in ("rotate", "slide"):
                continue
            covers = self._ranges[column] = slider_range(joint)
            slider = gui.add_slider(
                _label(joint, column, 0.0),
                min=covers.lowest,
                max=covers.highest,
                step=covers.step,
                initial_value=covers.shown(0.0),
                hint=_hint(joint, column, 0.0),
            )
            self._sliders[column] = slider
            on_user(slider, partial(self._react, column, moved))

    def _react(self, column: int, moved: Callable[[int, float], None], value: float) -> None:
        covers = self._ranges[column]
        self._touched[column] = monotonic()
        moved(column, covers.joint_value(value))

    def __len__(self) -> int:
        return len(self._sliders)

    def show(self, q: Floats) -> None:
        """Show joint values (J,) [rad or m]."""
        now = monotonic()
        for column, slider in self._sliders.items():
            value = float(q[column])
            if now - self._touched.get(column, -WRITE_BACK_DELAY) >= WRITE_BACK_DELAY:
                slider.value = self._ranges[column].shown(value)
            joint = self._body.joints[column]
            slider.label, slider.hint = _label(joint, column, value), _hint(joint, column, value)


def _label(joint: Joint, column: int, value: float) -> str:
    name = shown(joint.name or f"joint {column}")
    if joint.type == "slide":
        return f"{name} [m]"
    number = fixed(value, 3, "+").replace("-", "−").replace(".", NO_BREAK_POINT)
    return f"{name} {number}\u00a0rad"


def _hint(joint: Joint, column: int, value: float) -> str:
    return f"{shown(joint.name) or 'joint'} (column {column}): {value_text(joint, value)}; limits {limits_text(joint)}"
