"""A scene as one HTML page that plays without a server and without a network.

The page is viser's own player with all data in it. It keeps viser's default lights: the player returns to them for a moment at each
new round, and other lights would flicker. Frames are shown at their own times; of dense ones, `MAX_RATE` in a second.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import html_text, shown
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.components import Timeline
from bodymotion.scene.options import LABELS, LIMIT_OPTIONS, DisplayOptions
from bodymotion.scene.scene import Scene
from bodymotion.scene.theme import STANCE, SWING
from bodymotion.system.atomic_files import check_place, whole_file
from bodymotion.viewer.analysis import MotionAnalysis, analyze
from bodymotion.viewer.limit_colors import color_of
from bodymotion.viewer.scene_view import SceneView, apply_defaults
from bodymotion.viewer.server import quiet_server, stop_server
from bodymotion.viewer.timeline import script, timeline_data

if TYPE_CHECKING:
    from bodymotion.dynamics import Measures

SUFFIXES = (".html", ".htm")
MAX_RATE = 60.0  # Frames per second.
MAX_FRAMES = 9000  # Number of frames; longer motions are sampled at a lower rate.
LAST_FRAME_DURATION = 1e-3
"""[s] The player jumps to the first frame at the end, and the last one must be visible before."""
EARLY = 2e-4  # [s] Frames begin this much before their time, because times may be rounded to four decimal places.
SPARSE = 0.0125  # [s] Frames that are so long before the next one are all shown.
FIRST_MOTION_ONLY = ("axes", "devices", "mass", "zmp", "measured_zmp", "contacts", "support", "trails", *LIMIT_OPTIONS)
"""The overlays that are shown for the first of two motions only."""


def check_page_path(path: Path) -> None:
    """Raise WrongUseError when a page cannot have this name, and OSError when its folder does not exist."""
    check_place(path)
    if path.suffix.lower() not in SUFFIXES:
        raise WrongUseError(f"{path}: the name of a page must end in {' or '.join(SUFFIXES)}")


@dataclass(frozen=True)
class Sampling:
    """The frames that a page shows: `frames` (N,), each from its own time on: `times` (N,) [s] after the first."""

    frames: npt.NDArray[np.intp]
    times: Floats

    def __str__(self) -> str:
        if len(self.frames) == 1:
            return "one frame"
        gaps = np.diff(self.times)
        rate = f"{1 / gaps.mean():.3g} frames per second" if np.ptp(gaps) < gaps.mean() else "at their time stamps"
        return f"{len(self.frames)} frames, {rate}"


def sampled(timeline: Timeline, moments: npt.ArrayLike = ()) -> Sampling:
    """Return the frames that a page shows, with those that are in force at some `moments` (M,) [s] in any case.

    Of the frames within 1 / `MAX_RATE` seconds the last one is shown, and all that are `SPARSE`; at most `MAX_FRAMES`, evenly chosen.
    """
    times = timeline.times - timeline.times[0]
    gaps = np.append(np.diff(times), np.inf)
    with np.errstate(over="ignore"):
        interval = np.ceil(times * MAX_RATE - 1e-6)
    frames = np.flatnonzero((gaps >= SPARSE) | (np.diff(interval, append=np.inf) > 0) | (np.arange(len(times)) == 0))
    if len(frames) > MAX_FRAMES:
        frames = frames[np.linspace(0, len(frames) - 1, MAX_FRAMES).astype(np.intp)]
    frames = np.union1d(frames, timeline.frames_at(moments))
    return Sampling(frames, times[frames])


def page(
    scene: Scene,
    options: DisplayOptions | None = None,
    *,
    play: bool = True,
    moments: Sequence[tuple[float, str]] = (),
    measures: Measures | None = None,
) -> str:
    """Return the page as text, for a file or as `srcdoc` of an `iframe`, whose page can control it by messages.

    It begins to `play`, or shows its first frame. The frames at some `moments` [s] are on it in any case, and those with a text are marked
    on the timeline, in place of findings. `measures` are those of the motion where they are known.
    """
    options = replace(options or DisplayOptions())
    apply_defaults(options, scene)
    sampling = sampled(scene.timeline, [time for time, _ in moments])
    text, note, analysis = _record(scene, options, sampling, measures)
    data = timeline_data(scene, analysis)
    data["marks"] = [(time, shown(text, 300)) for time, text in moments if text] or data["marks"]
    return _with_timeline(text, scene, sampling, options, data, note, play)


def write_page(scene: Scene, path: Path, options: DisplayOptions | None = None, *, play: bool = True) -> Sampling:
    """Write the page to a file, whole or not at all; return the frames that it shows.

    Raises OSError when the file cannot be written.
    """
    text = page(scene, options, play=play).encode("utf-8")
    with whole_file(path) as stream:
        stream.write(text)
    return sampled(scene.timeline)


def _record(
    scene: Scene, options: DisplayOptions, sampling: Sampling, measures: Measures | None
) -> tuple[str, str, MotionAnalysis | None]:
    """Return viser's page of the frames, a note about what was measured, as HTML, and the analysis."""
    server = quiet_server("127.0.0.1", 0)
    try:
        # One group of messages for all frames: there are no browsers that it could be sent to meanwhile.
        with server.atomic():
            view = SceneView(server, scene, options)
            if not options.shadows:
                server.scene.configure_default_lights(True, cast_shadow=False)
            view.set_first_camera()
            view.analyze_now()
            view.show(int(sampling.frames[0]))
            recording = view.nodes.recording = server.get_scene_serializer()
            durations = np.diff(np.maximum(sampling.times - EARLY, 0.0))
            for duration, frame in zip(durations, sampling.frames[1:], strict=True):
                recording.insert_sleep(float(duration))
                view.show(int(frame))
            if len(durations):
                recording.insert_sleep(LAST_FRAME_DURATION + EARLY)
        text = recording.as_html(dark_mode=options.dark)
    finally:
        stop_server(server)
    analysis = view.analysis_overlays.analysis
    if analysis is None and not scene.reason_not_to_measure:
        analysis = analyze(view.shown_scene, options.stand, overlays=False, measures=measures)
    return text, _analysis_note(view), analysis


def _analysis_note(view: SceneView) -> str:
    """Return as HTML what the colours of limits mean, or why nothing is measured; empty where that is not needed."""
    analysis, colors = view.analysis_overlays.analysis, view.analysis_overlays.colors
    if analysis is not None and analysis.failure:
        return f" · cannot be measured: {html_text(analysis.failure)}"
    if colors is None:
        return ""
    if not colors.exist:
        return f" · no {colors.kind} limits in the model"
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    signs = [f'<span style="color:rgb{color_of(share)}">●</span> {100 * share:.0f} %' for share in shares]
    return f" · of the {colors.kind} limit: {' '.join(signs)}"


def _with_timeline(
    text: str, scene: Scene, sampling: Sampling, options: DisplayOptions, data: dict[str, Any], note: str, play: bool
) -> str:
    """Add the title, the timeline with a line about what is shown, and the script of the page."""
    title = html_text(scene.title)
    parts = [title]
    if len(sampling.frames) > 1:
        parts.append(escape(str(sampling)))
    if scene.beats is not None:
        parts.append(f"{scene.beats.slices:g} slices at {scene.beats.bpm:g} bpm")
    if scene.contacts is not None and options.contacts:
        colors = ((STANCE, "in stance"), (SWING, "in swing"))
        signs = [f'<span style="color:rgb{color}">●</span> {label}' for color, label in colors]
        parts.append(f"feet: {', '.join(signs)}")
    line = " · ".join([*parts, *(f"⚠ {html_text(text)}" for text in scene.warnings)]) + note
    names = (name for name in FIRST_MOTION_ONLY if name != "zmp" or scene.zmp is not None)
    labels = [LABELS[name] for name in names if getattr(options, name)]
    if scene.second is not None and labels:
        line += f" · of the first motion: {escape(', '.join(labels))}"
    head, body = text.split("</head>", 1)
    before, rest = head.split("<title>", 1) if "<title>" in head else (head, "</title>")
    head = f"{before}<title>{title}</title>{rest.split('</title>', 1)[1]}"
    data["note"] = line
    # In a script of HTML, "<" could begin the end of the script. Without `play` it shows its first frame; viser's player plays by itself.
    settings = {"times": [round(float(time), 9) for time in sampling.times], "play": play, "data": data}
    if scene.music is not None:
        settings["sound"] = scene.music.data_url()
    code = f"window.bodymotionPage = {json.dumps(settings).replace('<', chr(92) + 'u003c')};\n"
    extra = f"<script>{code}{script('timeline.js')}{script('page.js')}</script>"
    return f"{head}</head>{body.replace('</body>', extra + '</body>', 1) if '</body>' in body else body + extra}"
