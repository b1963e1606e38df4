"""The bar at the lower edge of the live viewer and of pages: what it shows, and its connection to the live viewer.

`timeline.js` draws it. In the live viewer `live.js` reads data and state from hidden widgets, and writes requests into another one.
"""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.choreography import PREFIX
from bodymotion.diagnostics.text import html_text, shown
from bodymotion.geometry.arrays import runs
from bodymotion.motion.components import Timeline
from bodymotion.scene.animation_playback import Block, moves_of
from bodymotion.scene.scene import HAND, Scene
from bodymotion.scene.theme import MISSED, STANCE, SWING, Rgb

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.analysis import MotionAnalysis
    from bodymotion.viewer.app import Viewer

MAX_MARKS, MAX_MARKS_PER_RULE = 120, 20
MAX_SPANS = 2000  # Of one row; spans that are closer than this share of the time are drawn as one.
MAX_LEVELS = 3000  # Of the waveform of music.
MAX_REQUEST = 1000  # [characters] Longer requests of browsers are ignored.


def script(name: str) -> str:
    """Return a script of this package that browsers run."""
    return files("bodymotion.viewer").joinpath(name).read_text(encoding="utf-8")


def timeline_data(scene: Scene, analysis: MotionAnalysis | None = None, note: str = "") -> dict[str, Any]:
    """Return what `timeline.js` shows of a scene: its times, beats, contacts of feet, findings, and a `note` as HTML.

    Contacts and findings are those that the motion records, or those of the `analysis`.
    """
    times, beats = scene.timeline.times, scene.beats
    return {
        "start": float(times[0]),
        "end": float(times[-1]),
        "frames": scene.num_frames,
        "slice": 0.0 if beats is None else beats.slice,
        "slices": 0.0 if beats is None else beats.slices,
        "rows": _rows(scene, analysis),
        "marks": _marks(scene, analysis),
        "note": note,
        "music": _music(scene),
    }


def _music(scene: Scene) -> dict[str, Any] | None:
    """Return the waveform, in percent, the length and the beats of the music, and which of these begin a bar."""
    sound = scene.music
    if sound is None:
        return None
    beats, levels = sound.beats, sound.levels(MAX_LEVELS)
    first = int(np.searchsorted(beats, sound.downbeats[0])) if len(beats) else 0
    return {
        "levels": np.round(100 * levels).astype(int).tolist(),
        "duration": sound.duration,
        "beats": np.round(beats, 4).tolist(),
        "first": first,
        "bar": sound.beats_per_bar,
    }


def _rows(scene: Scene, analysis: MotionAnalysis | None) -> list[list[Any]]:
    """Return the moves of a dance by their tracks, and the contacts of each foot: when it is in stance, in swing or out of reach."""
    contacts, line = scene.contacts, scene.timeline
    rows: list[list[Any]] = [
        [track.replace("_", " "), [_block(one) for one in blocks[:MAX_SPANS]]]
        for track, blocks in (moves_of(scene.motion) if scene.motion is not None else {}).items()
    ]
    if contacts is not None:
        for k, name in enumerate(contacts.names):
            missed, stance = contacts.out_of_reach[:, k], contacts.stance[:, k]
            swing = [] if name == HAND else _spans(line, ~stance, SWING) + _spans(line, stance, STANCE)
            if name != HAND or missed.any():
                rows.append([shown(name.upper(), 6), swing + _spans(line, missed, MISSED)])
    elif analysis is not None and analysis.on_feet and analysis.measures is not None:
        found = analysis.measures.contacts
        for k, index in enumerate(found.links):
            name = shown(scene.body.links[index].name, 40)
            spans = _spans(analysis.scene.timeline, np.asarray(found.in_contact[:, k]), STANCE)
            rows.append([name, spans])
    return rows


def _block(move: Block) -> list[Any]:
    """Return a move as a span with its name; one whose motion is not known is a thin line."""
    name = shown(move.name.removeprefix(PREFIX), 40)
    return [move.start, move.end, f"rgb{STANCE if move.is_played else SWING}", not move.is_played, name]


def _spans(timeline: Timeline, on: npt.NDArray[np.bool_], color: Rgb) -> list[list[Any]]:
    """Return first time, last time, colour and whether it is a thin line, of each run of frames that are `on` (T,)."""
    times = timeline.times
    found: list[list[Any]] = []
    gap = timeline.duration / MAX_SPANS
    for first, end in runs(on):
        start, stop = float(times[first]), float(times[min(end, len(times) - 1)])
        if found and start - found[-1][1] < gap:
            found[-1][1] = stop
        else:
            found.append([start, stop, f"rgb{color}", color == SWING])
    return found


def _marks(scene: Scene, analysis: MotionAnalysis | None) -> list[tuple[float, str]]:
    """Return the times [s] of findings, and what they are about."""
    marks: list[tuple[float, str, str]] = []
    if scene.playback is not None:
        marks = [(time, one.rule, one.message) for time, one in scene.playback.moments]
    elif analysis is not None:
        marks = [(one.time, one.rule, one.message) for one in analysis.moments]
    counts: Counter[str] = Counter()
    few = []
    for time, rule, message in marks:
        counts[rule] += 1
        if counts[rule] <= MAX_MARKS_PER_RULE and np.isfinite(time):
            few.append((float(time), f"{rule} {shown(message, 300)}"))
    return few[:MAX_MARKS]


class PlaybackPanel:
    """The clock at the top of the panel, and the hidden widgets that connect the timeline to the viewer."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        gui = viewer.server.gui
        self._clock = gui.add_html(self._clock_html())
        self._data = gui.add_html("", visible=False)
        self._state = gui.add_html("", visible=False)
        if viewer.scene.music is not None:
            gui.add_html("bodymotion-sound:" + json.dumps(viewer.scene.music.data_url()), visible=False)
        requests = gui.add_text("bodymotion requests", "", visible=False)

        async def requested(event: viser.GuiEvent[viser.GuiTextHandle]) -> None:
            # A coroutine, because viser runs other callbacks in threads, in any order.
            if event.client_id is not None:
                request(viewer, event.target.value)

        requests.on_update(requested)
        self.update()

    def update(self) -> None:
        """Show another timeline, or other contacts and findings."""
        self._data.content = "bodymotion-data:" + json.dumps(timeline_data(self._viewer.scene, self._viewer.analysis))
        self.sync()

    def sync(self) -> None:
        """Show the state of the player."""
        player, scene = self._viewer.player, self._viewer.scene
        self._clock.content = self._clock_html()
        text = f"frame {player.frame} of {player.num_frames - 1}"
        if scene.beats is not None:
            text = f"{scene.beats.describe(player.time)} · {text}"
        state = {
            "time": player.time,
            "playing": player.playing,
            "speed": player.speed,
            "loop": player.loop,
            "text": text,
        }
        self._state.content = "bodymotion-state:" + json.dumps(state)

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


def request(viewer: Viewer, text: str) -> None:
    """Do what a browser requests as JSON: {"seek": time}, {"act": action}, {"speed": speed} or {"select": link}; ignore other text."""
    try:
        wanted = json.loads(text) if len(text) <= MAX_REQUEST else None
    except (ValueError, RecursionError):
        return
    match wanted:
        case {"seek": int() | float() as time}:
            viewer.scrub(float(time))
        case {"act": str() as name}:
            viewer.act(name)
        case {"speed": int() | float() as speed}:
            viewer.post(lambda: viewer.player.set_speed(float(speed)))
        case {"select": int() as link}:
            viewer.select(link)
