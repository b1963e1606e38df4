"""The tab Move: the settings of an animation, and its findings.

Tempo, length and parameters as sliders; its options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, isfinite, log10
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import Group, grouped
from bodymotion.diagnostics.text import counted, html_text, shown, small_html
from bodymotion.scene.loading import groups_html, table_html
from bodymotion.spot.animation import Parameter
from bodymotion.spot.animation_playback import (
    AnimationPlayback,
    slice_range,
)
from bodymotion.spot.playback.timing import NEUTRAL, NOT_SIMULATED
from bodymotion.viewer.server import on_user

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer

# [beats per minute] The range that the slider of the tempo has at least.
MIN_TEMPO = 40.0
MAX_TEMPO = 220.0
# [s] After a user has moved a slider its value is not overwritten for this time.
WRITE_BACK_DELAY = 0.6
STYLE = "padding:0.3em 1em;font-size:0.82em;overflow-wrap:anywhere"
MAX_KEYFRAMES = 3  # Number of keyframes that are listed for one rule.

# Options for the robot's controller; they change no motion here.
CONTROLLER_OPTIONS = (
    "precise_steps",
    "timing_adjustability",
    "track_swing_trajectories",
)

# Ranges of sliders for parameters that the animation only names. Only the robot knows
# their limits.
DEFAULT_LIMITS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "speed": (0.25, 4.0),
        "offset_slices": (0.0, 32.0),
        "body_tracking_stiffness": (1.0, 11.0),
        "gripper_strength_fraction": (0.0, 1.0),
        "gripper_offset": (-1.5708, 1.5708),
        "arm_dance_frame_id": (0.0, 10.0),
    }
)


@dataclass(frozen=True)
class SliderLimits:
    """The range of a slider, its `step` and its first value.

    `from_file`: whether the limits are those of the animation.
    """

    lowest: float
    highest: float
    step: float
    default: float
    from_file: bool

    @property
    def fixed(self) -> bool:
        """Whether the range has only one value."""
        return self.lowest >= self.highest

    def clipped(self, value: float) -> float:
        """Return a value clipped to the range."""
        if isfinite(value):
            return min(max(value, self.lowest), self.highest)
        return self.default


def parameter_limits(name: str, parameter: Parameter) -> SliderLimits:
    """Return the range of a parameter's slider.

    Its limits, or a default range where the animation gives none.
    """
    # Ranges for parameters whose limits only the robot has.
    if name.endswith("_slices"):
        low = 0.0
        high = 16.0
    else:
        low, high = (-1.5, 1.5) if name.endswith("_offset") else (-2.0, 2.0)
    low, high = DEFAULT_LIMITS.get(name, (low, high))
    from_file = False
    # Limits in the wrong order, or infinite ones, cannot be a slider's.
    if parameter.minimum is not None and parameter.maximum is not None:
        from_file = parameter.minimum <= parameter.maximum and isfinite(
            parameter.maximum - parameter.minimum
        )
        if from_file:
            low = float(parameter.minimum)
            high = float(parameter.maximum)
    default = parameter.default
    if default is None or not isfinite(default):
        default = NEUTRAL.get(name, 0.0)
    return SliderLimits(
        low, high, round_step(low, high), min(max(float(default), low), high), from_file
    )


def round_step(low: float, high: float) -> float:
    """Return a round step that divides a range into 100 to 250 parts.

    1, 2 or 5 times a power of ten.
    """
    # A hundredth of the range, rounded down to 1, 2 or 5 times a power of ten. 1e-9:
    # the logarithm of a power of ten may be just below it.
    span = (high - low) / 100
    if not span > 0:
        return 1.0
    power = 10.0 ** floor(log10(span))
    return next(
        factor * power
        for factor in (5.0, 2.0, 1.0)
        if factor * power <= span * (1 + 1e-9)
    )


class AnimationPanel:
    """The widgets of an animation.

    Changes go to the viewer as names and values of `PlaybackSettings.changed`.
    """

    def __init__(self, viewer: Viewer, playback: AnimationPlayback) -> None:
        """Add the widgets: tempo, length, parameters, options and findings."""
        self._viewer = viewer
        self._gui = gui = viewer.server.gui
        self._playback = playback
        self._touched: dict[str, float] = {}
        self._limits: dict[str, SliderLimits] = {}
        self._sliders: dict[str, Any] = {}
        self.head = gui.add_html(_head(playback))
        now = playback.timing.bpm
        # Tempo: half to twice that of the file, at least the usual range.
        tempo = playback.animation.bpm or now
        low = min(MIN_TEMPO, tempo / 2, now)
        high = max(MAX_TEMPO, 2 * tempo, now)
        limits = SliderLimits(
            round(low, 3),
            round(high, 3),
            1.0 if low >= 10 else round_step(low, high),
            tempo,
            True,
        )
        self._add_slider(
            "bpm", limits, "bpm", "Tempo of the script in beats per minute"
        )
        allowed = [
            word
            for word in ("extendable", "truncatable")
            if word in playback.animation.options
        ]
        hint = (
            "Length of the move, which is "
            f"{' and '.join(allowed) or 'neither extendable nor truncatable'}"
        )
        # Length: fixed where the file has neither option.
        self._add_slider("slices", _length_limits(playback), "slices", hint)
        # A slider for each parameter of the file.
        for name, parameter in playback.animation.parameters.items():
            limits = parameter_limits(name, parameter)
            text = f"{limits.lowest:g} … {limits.highest:g}, default {limits.default:g}"
            if limits.from_file:
                hint = f"{name}: {text}"
            else:
                hint = f"{name}: the robot has its limits; here {text}"
            if name in NOT_SIMULATED:
                hint += ". For the robot's controller: shown, not simulated"
            self._add_slider(
                f".{name}", limits, name, hint, disabled=name in NOT_SIMULATED
            )
        reset = gui.add_button(
            "Reset to defaults", hint="Tempo, length and parameters of the file"
        )
        reset.on_click(lambda _event: self._reset())
        self.options = gui.add_html(options_html(playback))
        self._findings = gui.add_html(findings_html(playback))

    def _add_slider(
        self,
        name: str,
        limits: SliderLimits,
        label: str,
        hint: str,
        disabled: bool = False,
    ) -> None:
        """Add a slider, or a number that cannot be changed for a fixed range."""
        self._limits[name] = limits
        # viser refuses sliders without a range.
        if limits.fixed:
            self._sliders[name] = self._gui.add_number(
                shown(label), limits.lowest, disabled=True, hint=hint
            )
            return
        value = limits.clipped(self._value(name))
        add: Callable[..., Any] = self._gui.add_slider
        slider = self._sliders[name] = add(
            shown(label),
            limits.lowest,
            limits.highest,
            limits.step,
            value,
            disabled=disabled,
            hint=hint,
        )

        def changed(number: float) -> None:
            # A moved slider is not overwritten by the answer to an earlier value.
            self._touched[name] = monotonic()
            value = self._limits[name].clipped(float(number))
            if value != number:
                # The box beside the slider takes any number.
                slider.value = value
            self._viewer.change_setting(name, value)

        on_user(slider, changed)

    def _reset(self) -> None:
        self._touched.clear()
        self._viewer.change_setting("", 0.0)

    def _value(self, name: str) -> float:
        playback = self._playback
        if name in ("bpm", "slices"):
            return float(getattr(playback.timing, name))
        return float(
            playback.settings.parameters.get(name[1:], self._limits[name].default)
        )

    def update(self, playback: AnimationPlayback) -> None:
        """Show the same animation, played with other settings."""
        self._playback = playback
        self.head.content = _head(playback)
        self.options.content = options_html(playback)
        self._findings.content = findings_html(playback)
        # The natural length depends on the tempo, so the range of lengths does, too.
        slider = self._sliders["slices"]
        limits = _length_limits(playback)
        if self._limits["slices"].fixed:
            self._limits["slices"] = limits
        elif limits != self._limits["slices"] and not limits.fixed:
            self._limits["slices"] = limits
            slider.min, slider.max, slider.step = (
                limits.lowest,
                limits.highest,
                limits.step,
            )
        # Values as the viewer has clipped them, but not under the user's hand.
        for name, widget in self._sliders.items():
            if (
                monotonic() - self._touched.get(name, -WRITE_BACK_DELAY)
                >= WRITE_BACK_DELAY
            ):
                value = self._value(name)
                if self._limits[name].fixed:
                    widget.value = value
                else:
                    widget.value = self._limits[name].clipped(value)


def _length_limits(playback: AnimationPlayback) -> SliderLimits:
    natural = playback.timing.natural
    low, high = slice_range(playback.animation, natural)
    return SliderLimits(low, high, 1.0, float(natural), True)


def _head(playback: AnimationPlayback) -> str:
    """Return a line about the move: tracks, length, tempo."""
    timing = playback.timing
    if timing.natural != timing.slices:
        natural = f" (natural length {timing.natural})"
    else:
        natural = ""
    length = (
        f"{timing.slices:g} slices{natural} at {timing.bpm:g} beats per minute, "
        f"{timing.timeline.duration:.2f} s"
    )
    return small_html(
        f"{playback.title}: {', '.join(playback.animation.controls)}. {length}"
    )


def options_html(playback: AnimationPlayback) -> str:
    """Return the options of an animation as HTML.

    With a note at those that change nothing here.
    """
    animation = playback.animation
    note = ' <span style="opacity:0.75;font-style:italic">shown, not simulated</span>'
    rows = []
    for name, value in animation.options.items():
        chip = ""
        # A colour is shown as a chip; numbers are made valid for CSS first.
        if name == "display_rgb" and isinstance(value, tuple):
            color = ",".join(
                str(min(max(int(part), 0), 255)) for part in (*value, 0, 0, 0)[:3]
            )
            style = "display:inline-block;width:1.6em;height:0.8em;border-radius:2px"
            chip = f'<span style="{style};background:rgb({color})"></span> '
        parts = value if isinstance(value, tuple) else (value,)
        text = html_text(" ".join(map(_option_text, parts)), 300)
        of_controller = note if name in CONTROLLER_OPTIONS else ""
        rows.append((name, f"{chip}{text}{of_controller}"))
    for name in NOT_SIMULATED:
        if name in animation.parameters:
            parameter = animation.parameters[name]
            numbers = (parameter.minimum, parameter.default, parameter.maximum)
            rows.append(
                (name, " ".join(f"{n:g}" for n in numbers if n is not None) + note)
            )
    rows.append(
        (
            "keyframes",
            f"{len(animation.keyframes)}, the last at {animation.duration:g} s",
        )
    )
    return (
        f'<div style="{STYLE}"><b>Options</b>{table_html(rows)}'
        '<span style="opacity:0.65">The robot&#x27;s controller does what is shown and '
        "not simulated, and keeps the balance."
        "</span></div>"
    )


def _option_text(value: object) -> str:
    """Return a part of the value of an option; a check mark for True."""
    if value is True:
        return "✓"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def findings_html(playback: AnimationPlayback) -> str:
    """Return the findings about an animation as HTML.

    One line for each rule, with the first keyframes and their times.
    """
    groups = grouped(playback.problems)
    if not groups:
        return small_html("No problems found, with the defaults of all parameters.")
    count = counted(sum(group.count for group in groups), "finding")
    rows = groups_html(groups, before=lambda group: _keyframes_text(playback, group))
    return f'<div style="{STYLE}"><b>{count}</b>{rows}</div>'


def _keyframes_text(playback: AnimationPlayback, group: Group) -> str:
    """Return the first keyframes of a group of problems, with their times."""
    found = []
    for problem in group.problems:
        keyframe = playback.keyframe_of(problem)
        if keyframe is not None:
            time = playback.time_of(keyframe)
            found.append(f"{keyframe + 1}{'' if time is None else f' at {time:.2f} s'}")
    # Several problems of one keyframe name it once.
    found = list(dict.fromkeys(found))
    if not found:
        return ""
    more = " …" if len(found) > MAX_KEYFRAMES else ""
    return (
        f"Keyframe{'s' if len(found) > 1 else ''} "
        f"{', '.join(found[:MAX_KEYFRAMES])}{more}: "
    )
