"""The part of the panel for playback: time, frame slider, buttons, speed, loop, and the timeline bar of a Spot move.

The timeline bar shows beats and slices, when each foot is in stance, and where findings are. It is one piece of HTML; only the line at the
current time moves, by a variable of CSS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.motion.components import Timeline
from bodymotion.scene.animation_playback import SLICES_PER_BEAT, Beats
from bodymotion.scene.contacts import HAND, FootContacts
from bodymotion.scene.text import html_text
from bodymotion.scene.theme import MISSED, STANCE, SWING, Rgb

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["PlaybackPanel", "runs", "timeline_bar_html", "timeline_bar_position"]

WRITE_BACK_DELAY = 0.6
"""[s] After a user has moved the slider it is not overwritten for this time."""
COLUMNS = 1000
"""Horizontal resolution of the timeline bar."""
LEFT, RIGHT, RULER, ROW = 24, 12, 20, 9
"""[px] Margin for the names of feet, margin on the right, height of the ruler, height of a foot's row."""
MAX_BEAT_NUMBERS = 9
MAX_SLICE_TICKS, MAX_BEAT_TICKS = 80, 160
"""With more slices there are no ticks of slices; with more beats, only every second, fifth, tenth … has one."""
MAX_MARKS = 40


class PlaybackPanel:
    """Time, frame slider, buttons, speed and loop."""

    def __init__(self, viewer: Viewer) -> None:
        from viser import Icon

        self._viewer = viewer
        gui = viewer.server.gui
        self._icons = (Icon.PLAYER_PLAY, Icon.PLAYER_PAUSE)
        self._touched = -WRITE_BACK_DELAY
        self._clock = gui.add_html(self._clock_html())
        self._slider: Any = gui.add_slider("Frame", 0, viewer.scene.num_frames - 1, 1, viewer.player.frame)
        self._slider.on_update(self._scrubbed)
        bar = self._bar_html()
        self._bar: Any = gui.add_html(bar) if bar else None
        self._position: Any = None
        if bar:
            self._position = gui.add_html(timeline_bar_position(viewer.scene.timeline, viewer.player.time))
        self._play = gui.add_button("Play", icon=self._icons[0])
        self._play.on_click(lambda _event: viewer.act("toggle"))
        steps = gui.add_button_group("Step", ("|◀", "◀", "▶", "▶|"))
        actions = {"|◀": "first", "◀": "back", "▶": "next", "▶|": "last"}
        steps.on_click(lambda event: viewer.act(actions[event.target.value]))
        self._speed: Any = gui.add_slider("Speed ×", 0.1, 4.0, 0.05, viewer.player.speed)
        self._speed.on_update(
            lambda event: viewer.set_speed(event.target.value) if event.client_id is not None else None
        )
        self._loop: Any = gui.add_checkbox("Loop", viewer.player.loop)
        self._loop.on_update(lambda event: viewer.set_loop(event.target.value) if event.client_id is not None else None)
        self._shows_pause: bool | None = None

    def _scrubbed(self, event: viser.GuiEvent[viser.GuiSliderHandle[int]]) -> None:
        if event.client_id is not None:
            self._touched = monotonic()
            self._viewer.scrub(event.target.value)

    def _clock_html(self) -> str:
        player, scene = self._viewer.player, self._viewer.scene
        rate = player.timeline.frame_rate
        clock = f"{player.time:.3f} s</b> of {player.end:.3f} s"
        if player.start:
            clock += f" (from {player.start:.3f} s)"
        frame = f"frame {player.frame} of {player.num_frames - 1}" + (f", {rate:g} Hz" if rate else ", time stamps")
        if self._viewer.options.stand and not scene.has_root:
            frame += " · no root poses: body stands on the ground"
        lines = [clock]
        if scene.beats is not None:
            lines.append(f"<b>{html_text(scene.beats.describe(player.time))}</b>")
        lines.append(f'<span style="opacity:0.7;font-size:0.85em">{frame}</span>')
        missed = scene.contacts.describe(player.frame) if scene.contacts is not None else ""
        if missed:
            lines.append(f'<span style="font-size:0.85em;color:rgb{MISSED}">{html_text(missed)}</span>')
        second = self._viewer.scene_view.second
        if second is not None:
            text = html_text(second.differences.describe(player.frame))
            lines.append(f'<span style="font-size:0.85em">Second motion: {text}</span>')
        return (
            '<div style="padding:0 1em;font-variant-numeric:tabular-nums"><b style="font-size:1.15em">'
            f"{'<br>'.join(lines)}</div>"
        )

    def _bar_html(self) -> str:
        scene, marks = self._viewer.scene, []
        playback = scene.playback
        if playback is not None:
            for problem in playback.problems:
                keyframe = playback.keyframe_of(problem)
                time = None if keyframe is None else playback.time_of(keyframe)
                if time is not None:
                    marks.append((time, f"{problem.rule} {problem.message}"))
        return timeline_bar_html(scene.timeline, scene.beats, scene.contacts, marks[:MAX_MARKS])

    def update(self) -> None:
        """Show another timeline."""
        self._slider.max = max(self._viewer.scene.num_frames - 1, 1)
        if self._bar is not None:
            self._bar.content = self._bar_html()

    def sync(self) -> None:
        """Write the state of the player into the widgets."""
        player = self._viewer.player
        self._clock.content = self._clock_html()
        if self._position is not None:
            self._position.content = timeline_bar_position(player.timeline, player.time)
        if monotonic() - self._touched >= WRITE_BACK_DELAY:
            self._slider.value = player.frame
        if self._shows_pause != player.playing:
            self._shows_pause = player.playing
            self._play.label = "Pause" if player.playing else "Play"
            self._play.icon = self._icons[player.playing]
        self._speed.value = player.speed
        self._loop.value = player.loop


def timeline_bar_html(
    timeline: Timeline, beats: Beats | None, contacts: FootContacts | None, marks: Sequence[tuple[float, str]] = ()
) -> str:
    """Return the timeline bar as HTML; `marks` are times [s] with messages. Empty without beats and contacts."""
    if timeline.num_frames < 2 or (beats is None and contacts is None):
        return ""
    start, span = float(timeline.times[0]), float(timeline.duration)
    lines, labels = ("", "") if beats is None else _ruler(beats, start, span)
    top = RULER
    for k, name in enumerate(() if contacts is None else contacts.names):
        assert contacts is not None
        missed = contacts.out_of_reach[:, k]
        if name == HAND and not missed.any():
            continue
        style = f"left:0;top:{top - 2}px;width:{LEFT - 5}px;text-align:right"
        labels += _label(style, html_text(name.upper(), 5))
        lines += _foot_row(timeline, contacts.stance[:, k], missed, name != HAND, top)
        top += ROW
    for time, message in marks:
        share = min(max((time - start) / span, 0.0), 1.0)
        labels += (
            f'<div title="{html_text(message, 300)}" style="position:absolute;top:{top}px;cursor:help;'
            f'transform:translateX(-50%);{_left(share)};color:rgb{MISSED};font-size:10px;line-height:10px">▲</div>'
        )
    height = top + (11 if marks else 0)
    inside = f"left:{LEFT}px;right:{RIGHT}px;top:0;height:{height}px"
    return (
        f'<div style="position:relative;height:{height}px;margin:0.3em 0.6em 0.2em;font-size:9px;line-height:12px">'
        f'<svg style="position:absolute;{inside};width:calc(100% - {LEFT + RIGHT}px);overflow:visible" '
        f'viewBox="0 0 {COLUMNS} {height}" preserveAspectRatio="none">{lines}</svg>{labels}'
        f'<div style="position:absolute;{inside};pointer-events:none"><div style="position:absolute;top:0;bottom:0;'
        'border-left:1.5px solid #e02020;left:calc(var(--bodymotion-strip, 0) * 100%)"></div></div></div>'
        + ("" if contacts is None else _legend(contacts, bool(marks)))
    )


def timeline_bar_position(timeline: Timeline, time: float) -> str:
    """Return the HTML that moves the line of the timeline bar to a time [s]."""
    share = (time - float(timeline.times[0])) / max(float(timeline.duration), 1e-12)
    return f"<style>:root{{--bodymotion-strip:{min(max(share, 0.0), 1.0):.5f}}}</style>"


def runs(on: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Return the first index and the one after the last of each run of true values in (N,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _ruler(beats: Beats, start: float, span: float) -> tuple[str, str]:
    """Return the ticks of beats and slices, and the numbers of beats."""
    ticks, labels = "", ""
    count = beats.slices / SLICES_PER_BEAT
    step = _round_number(count / MAX_BEAT_TICKS)
    number_step = max(_round_number(count / MAX_BEAT_NUMBERS), step)
    slices = range(int(beats.slices + 1e-6) + 1) if beats.slices <= MAX_SLICE_TICKS else ()
    for number in slices:
        if number % SLICES_PER_BEAT:
            ticks += _tick((number * beats.slice - start) / span, 4, 0.3)
    for beat in range(0, int(count + 1e-6) + 1, step):
        share = (beat * SLICES_PER_BEAT * beats.slice - start) / span
        ticks += _tick(share, 8, 0.6)
        if beat % number_step == 0 and beat < count - 1e-6:
            labels += _label(f"top:0;{_left(share)};transform:translateX(-50%)", str(beat + 1))
    return ticks, labels


def _round_number(minimum: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20 … that is not below `minimum`."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= minimum:
                return factor * power
        power *= 10


def _foot_row(
    timeline: Timeline, stance: npt.NDArray[np.bool_], missed: npt.NDArray[np.bool_], is_foot: bool, top: int
) -> str:
    times = timeline.times[0] + (np.arange(COLUMNS) + 0.5) / COLUMNS * timeline.duration
    frames = np.asarray(timeline.frames_at(times))
    text = ""
    if is_foot:
        text += _bars(~stance[frames], top + 3, ROW - 6, SWING)
        text += _bars(stance[frames], top + 1, ROW - 2, STANCE)
    # A single missed frame must be visible, too.
    columns = missed[frames]
    at = (timeline.times[np.flatnonzero(missed)] - timeline.times[0]) / max(float(timeline.duration), 1e-12)
    columns[np.minimum((at * COLUMNS).astype(int), COLUMNS - 1)] = True
    return text + _bars(columns, top + 1, ROW - 2, MISSED)


def _bars(on: npt.NDArray[np.bool_], top: int, height: int, color: Rgb) -> str:
    return "".join(
        f'<rect x="{first}" y="{top}" width="{end - first}" height="{height}" fill="rgb{color}"/>'
        for first, end in runs(on)
    )


def _tick(share: float, length: int, opacity: float) -> str:
    if not -1e-6 <= share <= 1 + 1e-6:
        return ""
    path = f"M{COLUMNS * share:.1f} {RULER - 1}V{RULER - 1 - length}"
    return f'<path d="{path}" stroke="currentColor" stroke-opacity="{opacity}" vector-effect="non-scaling-stroke"/>'


def _left(share: float) -> str:
    return f"left:calc({LEFT}px + {share:.5f} * (100% - {LEFT + RIGHT}px))"


def _label(style: str, text: str) -> str:
    return f'<div style="position:absolute;{style};opacity:0.7">{text}</div>'


def _legend(contacts: FootContacts, has_marks: bool) -> str:
    parts = [(STANCE, "●", "in stance"), (SWING, "●", "in swing")]
    if contacts.out_of_reach.any():
        parts.append((MISSED, "●", "out of reach"))
    if has_marks:
        parts.append((MISSED, "▲", "finding"))
    text = " &nbsp; ".join(
        f'<span style="color:rgb{color}">{sign}</span>&nbsp;{label.replace(" ", "&nbsp;")}'
        for color, sign, label in parts
    )
    return f'<div style="padding:0 1.2em 0.2em;font-size:0.75em;line-height:1.3;opacity:0.85">{text}</div>'
