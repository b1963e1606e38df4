"""A scene as one HTML page, and the timeline.

The page plays without a server and without a network. Pages and the live viewer have
the same timeline.

The page is viser's own player with all data in it. It keeps viser's default lights: the
player returns to them for a moment at each new round, and other lights would flicker.
Frames are shown at their own times; of dense ones, `MAX_RATE` in a second.

The timeline is the bar at the lower edge, drawn by `timeline.js`. In the live viewer
`live.js` reads its data and state from hidden widgets, and writes requests into another
one (`PlaybackPanel`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.checks.findings import Moment
from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import html_text, shown
from bodymotion.geometry.arrays import Bools, Floats, Indices, runs
from bodymotion.motion.components import Timeline
from bodymotion.scene.options import LABELS, LIMIT_OPTIONS, DisplayOptions
from bodymotion.scene.playback import Block, moves_of
from bodymotion.scene.scene import HAND, Scene
from bodymotion.scene.theme import FINDING, MISSED, MOVE, STANCE, SWING, Rgb
from bodymotion.system.files import check_place, whole_file
from bodymotion.viewer.analysis import MotionAnalysis, analyze
from bodymotion.viewer.limit_colors import color_of
from bodymotion.viewer.scene_view import SceneView, apply_defaults
from bodymotion.viewer.server import quiet_server, stop_server

if TYPE_CHECKING:
    import viser

    from bodymotion.dynamics import Measures
    from bodymotion.viewer.analysis import MotionAnalysis
    from bodymotion.viewer.app import Viewer

SUFFIXES = (".html", ".htm")
MAX_RATE = 60.0  # Frames per second.
MAX_FRAMES = 9000  # Number of frames; longer motions are sampled at a lower rate.
# [s] The player jumps to the first frame at the end, and the last one must be visible
# before.
LAST_FRAME_DURATION = 1e-3
# [s] Frames begin this much before their time, because times may be rounded to four
# decimal places.
FRAME_LEAD = 2e-4
SPARSE = 0.0125  # [s] Frames with at least this distance to the next one are all shown.
# The overlays that are shown for the first of two motions only.
FIRST_MOTION_ONLY = (
    "axes",
    "devices",
    "mass",
    "zmp",
    "measured_zmp",
    "contacts",
    "support",
    "trails",
    *LIMIT_OPTIONS,
)

# Marks of findings on the timeline. One for the findings within a share of its time.
MAX_MARKS = 400
# Of one row; spans that are closer than this share of the time are drawn as one.
MAX_SPANS = 2000
MAX_LEVELS = 3000  # Of the waveform of music.
MAX_REQUEST = 1000  # [characters] Longer requests of browsers are ignored.


def check_page_path(path: Path) -> None:
    """Raise an error when a page cannot have this name.

    WrongUseError for the name, OSError when its folder does not exist.
    """
    check_place(path)
    if path.suffix.lower() not in SUFFIXES:
        raise WrongUseError(
            f"{path}: the name of a page must end in {' or '.join(SUFFIXES)}"
        )


class Mark(NamedTuple):
    """A mark on the timeline.

    `time` [s], `text`, and the `number` of findings there.
    """

    time: float
    text: str
    number: int = 1


@dataclass(frozen=True)
class Sampling:
    """The frames that a page shows of a timeline.

    `frames` (N,) are their numbers, `times` (N,) [s] when each begins, after the first.
    """

    timeline: Timeline
    frames: Indices
    times: Floats

    def __str__(self) -> str:
        number = len(self.frames)
        if number == self.timeline.num_frames:
            return str(self.timeline)
        return f"{self.timeline}, {number} of them shown"


def sampled(timeline: Timeline, moments: npt.ArrayLike = ()) -> Sampling:
    """Return the frames that a page shows.

    Those that are in force at some `moments` (M,) [s] are shown in any case.

    Of the frames within 1 / `MAX_RATE` seconds the last one is shown, and all that are
    `SPARSE`; at most `MAX_FRAMES`, evenly chosen.
    """
    times = timeline.times - timeline.times[0]
    gaps = np.append(np.diff(times), np.inf)
    with np.errstate(over="ignore"):
        interval = np.ceil(times * MAX_RATE - 1e-6)
    frames = np.flatnonzero(
        (gaps >= SPARSE)
        | (np.diff(interval, append=np.inf) > 0)
        | (np.arange(len(times)) == 0)
    )
    if len(frames) > MAX_FRAMES:
        frames = frames[np.linspace(0, len(frames) - 1, MAX_FRAMES).astype(np.intp)]
    frames = np.union1d(frames, timeline.frames_at(moments))
    return Sampling(timeline, frames, times[frames])


def page(
    scene: Scene,
    options: DisplayOptions | None = None,
    *,
    play: bool = True,
    moments: Sequence[tuple[float, str]] = (),
    measures: Measures | None = None,
) -> str:
    """Return the page as text.

    It is for a file, or for `srcdoc` of an `iframe`, whose page can control it by
    messages.

    It begins to `play`, or shows its first frame. The frames at some `moments` [s] are
    on it in any case, and those with a text are marked on the timeline, in place of
    findings. `measures` are those of the motion where they are known.
    """
    options = replace(options or DisplayOptions())
    apply_defaults(options, scene)
    sampling = sampled(scene.timeline, [time for time, _ in moments])
    text, note, analysis = _record(scene, options, sampling, measures)
    data = timeline_data(scene, analysis)
    marks = [Mark(time, shown(text, 300)) for time, text in moments if text]
    if marks:
        data["marks"] = marks
    return _with_timeline(text, scene, sampling, options, data, note, play)


def write_page(
    scene: Scene,
    path: Path,
    options: DisplayOptions | None = None,
    *,
    play: bool = True,
) -> Sampling:
    """Write the page to a file, whole or not at all.

    Return the frames that it shows.

    Raises OSError when the file cannot be written.
    """
    text = page(scene, options, play=play).encode("utf-8")
    with whole_file(path) as stream:
        stream.write(text)
    return sampled(scene.timeline)


def _record(
    scene: Scene, options: DisplayOptions, sampling: Sampling, measures: Measures | None
) -> tuple[str, str, MotionAnalysis | None]:
    """Return viser's page of the frames, and the analysis.

    Between them is a note, as HTML, about what was measured.
    """
    server = quiet_server("127.0.0.1", 0)
    try:
        # One group of messages for all frames: there are no browsers that it could be
        # sent to meanwhile.
        with server.atomic():
            view = SceneView(server, scene, options)
            if not options.shadows:
                server.scene.configure_default_lights(True, cast_shadow=False)
            view.set_first_camera()
            view.analyze_now()
            view.show(int(sampling.frames[0]))
            recording = view.nodes.recording = server.get_scene_serializer()
            durations = np.diff(np.maximum(sampling.times - FRAME_LEAD, 0.0))
            for duration, frame in zip(durations, sampling.frames[1:], strict=True):
                recording.insert_sleep(float(duration))
                view.show(int(frame))
            if len(durations):
                recording.insert_sleep(LAST_FRAME_DURATION + FRAME_LEAD)
        text = recording.as_html(dark_mode=options.dark)
    finally:
        stop_server(server)
    analysis = view.analysis_overlays.analysis
    if analysis is None and not scene.reason_not_to_measure:
        analysis = analyze(
            view.shown_scene, options.stand, overlays=False, measures=measures
        )
    return text, _analysis_note(view), analysis


def _analysis_note(view: SceneView) -> str:
    """Return as HTML what the colours of limits mean, or why nothing is measured.

    Empty where that is not needed.
    """
    analysis = view.analysis_overlays.analysis
    colors = view.analysis_overlays.colors
    if analysis is not None and analysis.failure:
        return f" · cannot be measured: {html_text(analysis.failure)}"
    if colors is None:
        return ""
    if not colors.exist:
        return f" · no {colors.kind} limits in the model"
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    signs = [
        f'<span style="color:rgb{color_of(share)}">●</span> {100 * share:.0f} %'
        for share in shares
    ]
    return f" · of the {colors.kind} limit: {' '.join(signs)}"


def _with_timeline(
    text: str,
    scene: Scene,
    sampling: Sampling,
    options: DisplayOptions,
    data: dict[str, Any],
    note: str,
    play: bool,
) -> str:
    """Add title, timeline and script to the page.

    The timeline has a line about what is shown.
    """
    title = html_text(scene.title)
    parts = [title]
    if len(sampling.frames) > 1:
        parts.append(escape(str(sampling)))
    if scene.beats is not None:
        parts.append(f"{scene.beats.slices:g} slices at {scene.beats.bpm:g} bpm")
    parts += [f"⚠ {html_text(text)}" for text in scene.warnings]
    if data["note"]:
        parts.append(data["note"])
    line = " · ".join(parts) + note
    names = (
        name for name in FIRST_MOTION_ONLY if name != "zmp" or scene.zmp is not None
    )
    labels = [LABELS[name] for name in names if getattr(options, name)]
    if scene.compared is not None and labels:
        line += f" · of the first motion: {escape(', '.join(labels))}"
    head, body = text.split("</head>", 1)
    before, rest = head.split("<title>", 1) if "<title>" in head else (head, "</title>")
    head = f"{before}<title>{title}</title>{rest.split('</title>', 1)[1]}"
    data["note"] = line
    # In a script of HTML, "<" could begin the end of the script. Without `play` it
    # shows its first frame; viser's player plays by itself.
    settings = {
        "times": [round(float(time), 9) for time in sampling.times],
        "frames": sampling.frames.tolist(),
        "play": play,
        "data": data,
    }
    if scene.music is not None:
        settings["sound"] = scene.music.data_url()
    code = (
        f"window.bodymotionPage = "
        f"{json.dumps(settings).replace('<', chr(92) + 'u003c')};\n"
    )
    extra = f"<script>{code}{script('timeline.js')}{script('page.js')}</script>"
    # Without an end of the body, the script is the end of the page.
    before, end, after = body.partition("</body>")
    return f"{head}</head>{before}{extra}{end}{after}"


def script(name: str) -> str:
    """Return a script of this package that browsers run."""
    return files("bodymotion.viewer").joinpath(name).read_text(encoding="utf-8")


def timeline_data(
    scene: Scene, analysis: MotionAnalysis | None = None, note: str = ""
) -> dict[str, Any]:
    """Return what `timeline.js` shows of a scene.

    Its times, beats, contacts of feet, findings, and a `note` as HTML.

    Contacts and findings are those that the motion records, or those of the `analysis`.
    """
    times = scene.timeline.times
    beats = scene.beats
    rows = _rows(scene, analysis)
    marks = _marks(scene, analysis)
    return {
        "start": float(times[0]),
        "end": float(times[-1]),
        "frames": scene.num_frames,
        "slice": 0.0 if beats is None else beats.slice,
        "slices": 0.0 if beats is None else beats.slices,
        "rows": rows,
        "marks": marks,
        "note": note or _legend(rows, marks),
        "music": _music(scene),
    }


def _legend(rows: list[list[Any]], marks: list[Mark]) -> str:
    """Return what the colours of the timeline mean, as HTML.

    Empty where it shows none.
    """
    meanings = (
        (STANCE, "foot in stance"),
        (SWING, "foot in swing"),
        (MISSED, "foot or hand that misses its target"),
        (MOVE, "move"),
    )
    shown_colors = {color for _, spans in rows for _, _, color, *_ in spans}
    signs = [
        f'<span style="color:rgb{color}">■</span> {label}'
        for color, label in meanings
        if f"rgb{color}" in shown_colors
    ]
    if marks:
        signs.append(f'<span style="color:rgb{FINDING}">▲</span> finding')
    return ", ".join(signs)


def _music(scene: Scene) -> dict[str, Any] | None:
    """Return waveform, length and beats of the music.

    The waveform is in percent. The last value tells which beats begin a bar.
    """
    sound = scene.music
    if sound is None:
        return None
    beats = sound.beats
    levels = sound.levels(MAX_LEVELS)
    if len(beats):
        first = int(np.searchsorted(beats, sound.downbeats[0]))
    else:
        first = 0
    return {
        "levels": np.round(100 * levels).astype(int).tolist(),
        "duration": sound.duration,
        "beats": np.round(beats, 4).tolist(),
        "first": first,
        "bar": sound.beats_per_bar,
    }


def _rows(scene: Scene, analysis: MotionAnalysis | None) -> list[list[Any]]:
    """Return the moves of a dance by their tracks, and the contacts of each foot.

    When it is in stance, in swing or out of reach.
    """
    contacts = scene.contacts
    line = scene.timeline
    if scene.motion is None:
        moves = {}
    else:
        moves = moves_of(scene.motion)
    rows: list[list[Any]] = [
        [track.replace("_", " "), [_block(one) for one in blocks[:MAX_SPANS]]]
        for track, blocks in moves.items()
    ]
    if contacts is not None:
        for k, name in enumerate(contacts.names):
            missed = contacts.out_of_reach[:, k]
            stance = contacts.stance[:, k]
            if name == HAND:
                swing = []
            else:
                swing = _spans(line, ~stance, SWING) + _spans(line, stance, STANCE)
            if name != HAND or missed.any():
                rows.append(
                    [shown(name.upper(), 6), swing + _spans(line, missed, MISSED)]
                )
    elif analysis is not None and analysis.on_feet and analysis.measures is not None:
        found = analysis.measures.contacts
        for k, index in enumerate(found.links):
            name = shown(scene.body.links[index].name, 40)
            spans = _spans(
                analysis.scene.timeline, np.asarray(found.in_contact[:, k]), STANCE
            )
            rows.append([name, spans])
    return rows


def _block(move: Block) -> list[Any]:
    """Return a move as a span with its name.

    One whose motion is not known is a thin line.
    """
    name = shown(move.name, 40)
    return [
        move.start,
        move.end,
        f"rgb{MOVE}",
        not move.is_played,
        name,
    ]


def _spans(timeline: Timeline, on: Bools, color: Rgb) -> list[list[Any]]:
    """Return each run of frames that are `on` (T,).

    For each: first time, last time, colour, and whether it is a thin line.
    """
    times = timeline.times
    found: list[list[Any]] = []
    gap = timeline.duration / MAX_SPANS
    for first, end in runs(on):
        start = float(times[first])
        stop = float(times[min(end, len(times) - 1)])
        if found and start - found[-1][1] < gap:
            found[-1][1] = stop
        else:
            found.append([start, stop, f"rgb{color}", color == SWING])
    return found


def _marks(scene: Scene, analysis: MotionAnalysis | None) -> list[Mark]:
    """Return the marks of findings on the timeline, in order of time.

    Findings close to each other share one mark, which shows the worst of them.
    """
    timeline = scene.timeline
    groups: dict[int, list[Moment]] = {}
    for moment in _shown_moments(scene, analysis):
        share = (moment.time - timeline.times[0]) / max(timeline.duration, 1e-9)
        if np.isfinite(share):
            groups.setdefault(int(share * MAX_MARKS), []).append(moment)
    marks = []
    for _, group in sorted(groups.items()):
        worst = max(group, key=_badness)
        text = f"{worst.rule} {shown(worst.message, 300)}"
        marks.append(Mark(worst.time, text, len(group)))
    return marks


def _shown_moments(scene: Scene, analysis: MotionAnalysis | None) -> list[Moment]:
    """Return the moments of all findings.

    Those about keyframes have no amount.
    """
    if scene.playback is not None:
        return [
            Moment(
                rule=problem.rule,
                severity=problem.severity,
                time=time,
                start=time,
                end=time,
                frame=int(scene.timeline.frames_at(time)),
                subject="",
                amount=1.0,
                message=problem.message,
            )
            for time, problem in scene.playback.moments
        ]
    if analysis is not None:
        return list(analysis.moments)
    return []


def _badness(moment: Moment) -> tuple[bool, bool, float]:
    """Return a key that orders findings: errors last, then by their amount."""
    is_error = moment.severity == "error"
    return is_error, moment.severity == "warning", moment.amount


class PlaybackPanel:
    """The clock and the hidden widgets of the timeline.

    The clock is at the top of the panel. The widgets connect the timeline to the
    viewer.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        gui = viewer.server.gui
        self._clock = gui.add_html(self._clock_html())
        self._data = gui.add_html("", visible=False)
        self._state = gui.add_html("", visible=False)
        if viewer.scene.music is not None:
            gui.add_html(
                "bodymotion-sound:" + json.dumps(viewer.scene.music.data_url()),
                visible=False,
            )
        requests = gui.add_text("bodymotion requests", "", visible=False)

        async def requested(event: viser.GuiEvent[viser.GuiTextHandle]) -> None:
            # A coroutine, because viser runs other callbacks in threads, in any order.
            if event.client_id is not None:
                request(viewer, event.target.value)

        requests.on_update(requested)
        self.update()

    def update(self) -> None:
        """Show another timeline, or other contacts and findings."""
        self._data.content = "bodymotion-data:" + json.dumps(
            timeline_data(self._viewer.scene, self._viewer.analysis)
        )
        self.sync()

    def sync(self) -> None:
        """Show the state of the player."""
        player = self._viewer.player
        scene = self._viewer.scene
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
        player = self._viewer.player
        scene = self._viewer.scene
        rate = player.timeline.frame_rate
        clock = f"{player.time:.3f} s</b> of {player.end:.3f} s"
        if player.start:
            clock += f" (from {player.start:.3f} s)"
        frame = f"frame {player.frame} of {player.num_frames - 1}" + (
            f", {rate:g} Hz" if rate else ", time stamps"
        )
        if self._viewer.options.stand and not scene.has_root:
            frame += " · no root poses: body stands on the ground"
        lines = [clock]
        if scene.beats is not None:
            lines.append(f"<b>{html_text(scene.beats.describe(player.time))}</b>")
        lines.append(f'<span style="opacity:0.7;font-size:0.85em">{frame}</span>')
        if scene.contacts is not None:
            missed = scene.contacts.describe(player.frame)
        else:
            missed = ""
        if missed:
            lines.append(
                f'<span style="font-size:0.85em;color:rgb{MISSED}">'
                f"{html_text(missed)}</span>"
            )
        second = self._viewer.scene_view.compared
        if second is not None:
            text = html_text(second.differences.describe(player.frame))
            lines.append(f'<span style="font-size:0.85em">Second motion: {text}</span>')
        return (
            '<div style="padding:0 1em;font-variant-numeric:tabular-nums"><b '
            'style="font-size:1.15em">'
            f"{'<br>'.join(lines)}</div>"
        )


def request(viewer: Viewer, text: str) -> None:
    """Do what a browser requests as JSON.

    {"seek": time}, {"act": action}, {"speed": speed} or {"select": link}; ignore other
    text.
    """
    try:
        if len(text) <= MAX_REQUEST:
            wanted = json.loads(text)
        else:
            wanted = None
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
