"""The panel of an animation: tempo, length and parameters as sliders, its options, and what a robot would mind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import shown
from bodymotion.viewer.parameter_ranges import NOT_SIMULATED, ParameterRange, parameter_range, step_for
from bodymotion.viewer.performance import Performance, Wishes, slices_allowed
from bodymotion.viewer.text import counted, html_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["AnimationPanel", "about_animation", "findings_html", "in_short", "with_wish"]

SLOWEST, FASTEST = 40.0, 220.0
"""[beats a minute] The tempo's slider goes at least so far."""
QUIET = 0.6
"""For so many seconds after someone has moved a slider its value is not written back."""
MOST_FINDINGS = 40
NOWHERE = "—"

CONTROLLERS = ("precise_steps", "timing_adjustability", "track_swing_trajectories")
"""Options that are for the robot's controller: no motion changes with them here."""


class AnimationPanel:
    """The widgets of an animation; what somebody wants goes to the viewer as `Wishes`."""

    def __init__(self, viewer: Viewer, performance: Performance) -> None:
        self._viewer = viewer
        self._gui = gui = viewer.server.gui
        self._performance = performance
        self._touched: dict[str, float] = {}
        self._ranges: dict[str, ParameterRange] = {}
        self._sliders: dict[str, Any] = {}
        self.head = gui.add_html(_head(performance))
        self._slider("bpm", _tempo_range(performance), "bpm", "The script's beats per minute")
        lengths = _length_range(performance)
        can = [word for word in ("extendable", "truncatable") if word in performance.animation.options]
        hint = f"How long the move is; it is {' and '.join(can) or 'neither extendable nor truncatable'}"
        self._slider("slices", lengths, "slices", hint)
        for name, parameter in performance.animation.parameters.items():
            covers = parameter_range(name, parameter)
            limits = f"{covers.lowest:g} … {covers.highest:g}, default {covers.default:g}"
            hint = f"{name}: {limits}" if covers.given else f"{name}: its limits are the robot's; here {limits}"
            if name in NOT_SIMULATED:
                hint += ". For the robot's controller: shown, not simulated"
            self._slider(f".{name}", covers, name, hint, off=name in NOT_SIMULATED)
        self._reset = gui.add_button("Reset to defaults", hint="Tempo, length and parameters as the file has them")
        self._reset.on_click(lambda _event: self._back())
        self.facts = gui.add_html(about_animation(performance))
        self._go: Any = None
        self._places: dict[str, int] = {}
        if performance.problems:
            for number, problem in enumerate(performance.problems[:MOST_FINDINGS]):
                keyframe = performance.keyframe_of(problem)
                if keyframe is not None:
                    self._places[f"{number + 1}. {problem.rule}, keyframe {keyframe + 1}"] = keyframe
        self._found = gui.add_html(findings_html(performance))
        if self._places:
            self._go = gui.add_dropdown("Go to", (NOWHERE, *self._places))
            self._go.on_update(self._jump)

    def _slider(self, key: str, covers: ParameterRange, label: str, hint: str, off: bool = False) -> None:
        add: Callable[..., Any] = self._gui.add_slider
        self._ranges[key] = covers
        if covers.fixed:
            self._sliders[key] = self._gui.add_number(shown(label), covers.lowest, disabled=True, hint=hint)
            return
        at = self._value(key, self._performance.wishes)
        slider = self._sliders[key] = add(
            shown(label), covers.lowest, covers.highest, covers.step, covers.within(at), disabled=off, hint=hint
        )
        slider.on_update(self._reaction(key))

    def _reaction(self, key: str) -> Callable[[viser.GuiEvent[viser.GuiSliderHandle[float]]], None]:
        def react(event: viser.GuiEvent[viser.GuiSliderHandle[float]]) -> None:
            if event.client_id is not None:
                self._touched[key] = monotonic()
                self._viewer.wish(key, self._ranges[key].within(float(event.target.value)))

        return react

    def _back(self) -> None:
        self._touched.clear()
        self._viewer.wish("", 0.0)

    def _jump(self, event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
        keyframe = self._places.get(event.target.value)
        if event.client_id is not None and keyframe is not None:
            self._viewer.go_to_keyframe(keyframe)

    def _value(self, key: str, wishes: Wishes) -> float:
        """Return what a slider shows."""
        timing = self._performance.timing
        if key == "bpm":
            return timing.bpm
        if key == "slices":
            return timing.slices
        return float(wishes.parameters.get(key[1:], self._ranges[key].default))

    def retake(self, performance: Performance) -> None:
        """Show the same animation as it is played now."""
        self._performance = performance
        self.head.content = _head(performance)
        self.facts.content = about_animation(performance)
        self._found.content = findings_html(performance)
        slider, covers = self._sliders["slices"], _length_range(performance)
        if covers != self._ranges["slices"]:
            if self._ranges["slices"].fixed:
                self._ranges["slices"] = covers
            elif not covers.fixed:
                self._ranges["slices"] = covers
                slider.min, slider.max, slider.step = covers.lowest, covers.highest, covers.step
        for key, one in self._sliders.items():
            if monotonic() - self._touched.get(key, -QUIET) >= QUIET:
                value = self._value(key, performance.wishes)
                one.value = value if self._ranges[key].fixed else self._ranges[key].within(value)


def _tempo_range(performance: Performance) -> ParameterRange:
    tempo = performance.animation.bpm or performance.timing.bpm
    low, high = min(SLOWEST, tempo / 2, performance.timing.bpm), max(FASTEST, 2 * tempo, performance.timing.bpm)
    return ParameterRange(round(low, 3), round(high, 3), 1.0 if low >= 10 else step_for(low, high), tempo, True)


def _length_range(performance: Performance) -> ParameterRange:
    natural = performance.timing.natural
    low, high = slices_allowed(performance.animation, natural)
    return ParameterRange(low, high, 1.0, float(natural), True)


def _head(performance: Performance) -> str:
    animation, timing = performance.animation, performance.timing
    own = f" (by itself {timing.natural})" if timing.natural != timing.slices else ""
    said = f"{timing.slices:g} slices{own} at {timing.bpm:g} beats a minute, {timing.timeline.duration:.2f} s"
    return _small(f"{performance.title}: {', '.join(animation.controls)}. {said}")


def _small(text: str) -> str:
    return f'<div style="padding:0.2em 1em;font-size:0.85em;opacity:0.75">{html_text(text)}</div>'


def about_animation(performance: Performance) -> str:
    """Say as HTML what the options of an animation are, and which of them change nothing here."""
    animation = performance.animation
    rows = []
    for name, value in animation.options.items():
        kept = ""
        if name == "display_rgb" and isinstance(value, tuple):
            red, green, blue = (min(max(int(part), 0), 255) for part in (*value, 0, 0, 0)[:3])
            kept = (
                f'<span style="display:inline-block;width:1.6em;height:0.8em;border-radius:2px;background:rgb({red},{green},{blue})">'
                "</span> "
            )
        rows.append((name, kept + html_text("✓" if value is True else _said(value), 300), name in CONTROLLERS))
    rows += [
        (name, html_text(_limits(animation.parameters[name])), True)
        for name in NOT_SIMULATED
        if name in animation.parameters
    ]
    keys = animation.keyframes
    rows.append(("keyframes", html_text(f"{len(keys)}, the last at {animation.duration:g} s"), False))
    note = '<span style="opacity:0.75;font-style:italic">shown, not simulated</span>'
    table = "".join(
        f'<tr><td style="opacity:0.65;padding-right:8px;vertical-align:top;white-space:nowrap">{html_text(name)}</td>'
        f"<td>{value}{' ' if quiet else ''}{note if quiet else ''}</td></tr>"
        for name, value, quiet in rows
    )
    tail = "What is shown and not simulated is up to the robot's controller, as balance is."
    return (
        '<div style="padding:0.3em 1em;font-size:0.82em;overflow-wrap:anywhere"><b>Options</b>'
        f'<table>{table}</table><span style="opacity:0.65">{html_text(tail)}</span></div>'
    )


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _limits(parameter: Any) -> str:  # noqa: ANN401
    numbers = (parameter.minimum, parameter.default, parameter.maximum)
    return " ".join(f"{n:g}" for n in numbers if n is not None)


def findings_html(performance: Performance) -> str:
    """List as HTML what is odd about an animation and what a robot would mind, with keyframes and times."""
    problems = performance.problems
    if not problems:
        return _small("Nothing that a robot would mind was found, with the defaults of all parameters.")
    rows = ""
    for problem in problems[:MOST_FINDINGS]:
        keyframe = performance.keyframe_of(problem)
        place = ""
        if keyframe is not None:
            time = performance.time_of(keyframe)
            place = f"Keyframe {keyframe + 1}{'' if time is None else f' at {time:.2f} s'}: "
        rows += f'<li style="margin-bottom:4px"><b>{place}</b>{html_text(in_short(problem))}</li>'
    if len(problems) > MOST_FINDINGS:
        rows += f"<li>… and {len(problems) - MOST_FINDINGS} more</li>"
    return (
        '<div style="padding:0.3em 1em;font-size:0.82em;overflow-wrap:anywhere">'
        f"<b>{counted(len(problems), 'finding')}</b><ul>{rows}</ul></div>"
    )


def in_short(problem: Problem) -> str:
    """Say a problem with the name of its file instead of the whole path."""
    place = problem.location
    name = Path(place.path).name if place.path else None
    return str(replace(problem, location=replace(place, path=name)))


def with_wish(wishes: Wishes, key: str, value: float) -> Wishes:
    """Return wishes with one more: "bpm", "slices", or a parameter's name after a dot; "" takes all back."""
    if not key:
        return Wishes()
    if key == "bpm":
        return replace(wishes, bpm=value)
    if key == "slices":
        return replace(wishes, slices=value)
    parameters: Mapping[str, float] = {**wishes.parameters, key[1:]: value}
    return replace(wishes, parameters=parameters)
