"""The part of the panel that plays: time, frame slider, buttons, speed and loop."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from bodymotion.viewer.animation_panel import in_short
from bodymotion.viewer.contacts import MISSED
from bodymotion.viewer.strip import strip_html, strip_now
from bodymotion.viewer.text import html_text

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["Playback"]

MOST_MARKS = 40
QUIET = 0.6
"""For so many seconds after someone has moved the slider it is not written back."""


class Playback:
    """Time, frame slider, buttons, speed and loop."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        from viser import Icon

        gui = viewer.server.gui
        self._icons = (Icon.PLAYER_PLAY, Icon.PLAYER_PAUSE)
        self._touched = -QUIET
        self._clock = gui.add_html(self._time_in_words())
        self._slider: Any = gui.add_slider("Frame", 0, viewer.take.num_frames - 1, 1, viewer.player.frame)
        self._slider.on_update(self._scrubbed)
        drawn = self._strip_html()
        self._strip: Any = gui.add_html(drawn) if drawn else None
        self._now: Any = gui.add_html(strip_now(viewer.take.timeline, viewer.player.time)) if drawn else None
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

    def _time_in_words(self) -> str:
        player = self._viewer.player
        rate = player.timeline.frame_rate
        where = f"{player.time:.3f} s</b> of {player.end:.3f} s"
        if player.start:
            where += f" (from {player.start:.3f} s)"
        frame = f"frame {player.frame} of {player.num_frames - 1}" + (f", {rate:g} Hz" if rate else ", time stamps")
        if self._viewer.switches.stand and not self._viewer.take.has_root:
            frame += " · no root poses: it stands on the ground"
        take = self._viewer.take
        beat = f"<b>{html_text(take.beats.in_words(player.time))}</b><br>" if take.beats is not None else ""
        missed = take.contacts.in_words(player.frame) if take.contacts is not None else ""
        warned = f'<br><span style="font-size:0.85em;color:rgb{MISSED}">{html_text(missed)}</span>' if missed else ""
        second = self._viewer.stage.second
        if second is not None:
            apart = html_text(second.differences.in_words(player.frame))
            warned += f'<br><span style="font-size:0.85em">Second motion: {apart}</span>'
        return (
            '<div style="padding:0 1em;font-variant-numeric:tabular-nums"><b style="font-size:1.15em">'
            f'{where}<br>{beat}<span style="opacity:0.7;font-size:0.85em">{frame}</span>{warned}</div>'
        )

    def _strip_html(self) -> str:
        take, marks = self._viewer.take, []
        performance = take.performance
        if performance is not None:
            for problem in performance.problems[:MOST_MARKS]:
                keyframe = performance.keyframe_of(problem)
                time = None if keyframe is None else performance.time_of(keyframe)
                if time is not None:
                    marks.append((time, in_short(problem)))
        return strip_html(take.timeline, take.beats, take.contacts, marks)

    def retake(self) -> None:
        """Go on with another time line."""
        self._slider.max = max(self._viewer.take.num_frames - 1, 1)
        if self._strip is not None:
            self._strip.content = self._strip_html()

    def sync(self) -> None:
        """Write the player's state into the widgets."""
        player = self._viewer.player
        self._clock.content = self._time_in_words()
        if self._now is not None:
            self._now.content = strip_now(player.timeline, player.time)
        if monotonic() - self._touched >= QUIET:
            self._slider.value = player.frame
        if self._shows_pause != player.playing:
            self._shows_pause = player.playing
            self._play.label = "Pause" if player.playing else "Play"
            self._play.icon = self._icons[player.playing]
        self._speed.value = player.speed
        self._loop.value = player.loop
