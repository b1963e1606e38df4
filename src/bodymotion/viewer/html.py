"""A motion as one HTML page that plays without a server and without a network.

The page is viser's own player with everything in it. Its light is viser's, too: at each new round the player goes back to that for a
moment, and other lights would flicker. Frames are sampled at most `MOST_PICTURES` times a second; all else of the motion
stays in its file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bodymotion.motion.timeline import Timeline
from bodymotion.system.atomic_files import whole_file
from bodymotion.viewer.contacts import STANCE, SWING
from bodymotion.viewer.limits import color_of
from bodymotion.viewer.page_script import page_script
from bodymotion.viewer.stage import Stage, fit
from bodymotion.viewer.switches import LABELS, LIMIT_SWITCHES, Switches
from bodymotion.viewer.take import Take
from bodymotion.viewer.text import html_text

__all__ = ["Sampling", "page", "sampled", "write_page"]

MOST_PICTURES = 30.0
"""Pictures a second."""
MOST_SAMPLES = 9000
"""Pictures in all; of a longer motion fewer a second are taken."""

LAST = 1e-3
"""[s] So long the last picture is shown: the player goes to the first one as soon as it is at the end, and the last one shall be seen."""
RECORDED = '<script>window.__VISER_EMBED_DATA__="'
"""So the script begins in which viser puts what it recorded into a page."""
EARLY = 2e-4
"""[s] So much before their time pictures come, because who goes to a time may have it rounded to four digits after the point."""
OF_THE_FIRST = ("axes", "devices", "mass", "zmp", "measured_zmp", "contacts", "support", "trails", *LIMIT_SWITCHES)
"""Switches of what is shown of the first of two motions only."""


@dataclass(frozen=True)
class Sampling:
    """Which frames a page shows: `frames` (N,), one each 1/`rate` seconds."""

    frames: npt.NDArray[np.intp]
    rate: float

    def __str__(self) -> str:
        if len(self.frames) == 1:
            return "one picture"
        return f"{len(self.frames)} pictures at {self.rate:.3g} a second"


def sampled(timeline: Timeline) -> Sampling:
    """Choose the frames that a page shows."""
    if timeline.num_frames < 2:
        return Sampling(np.zeros(1, dtype=np.intp), 1.0)
    own = timeline.frame_rate or (timeline.num_frames - 1) / timeline.duration
    rate = min(MOST_PICTURES, own, MOST_SAMPLES / max(timeline.duration, 1e-9))
    count = int(np.floor(timeline.duration * rate + 1e-6)) + 1
    times = timeline.times[0] + np.arange(count) / rate
    return Sampling(np.asarray(timeline.frames_at(times), dtype=np.intp), rate)


def page(take: Take, switches: Switches | None = None, *, play: bool = True, either: bool = False) -> str:
    """Return the page as text, for a file of its own or, as `srcdoc`, for an `iframe` of another page, which can talk to it.

    It begins to `play`, or stands at its first picture. With `either` it is light or dark as its reader likes it, whatever `switches` say.
    """
    switches = switches or Switches()
    fit(switches, take)
    sampling = sampled(take.timeline)
    text, measured = _recorded(take, replace(switches, dark=False) if either else switches, sampling)
    if either:
        text = _either(text, _recorded(take, replace(switches, dark=True), sampling)[0])
    return _signed(text, take, sampling, switches, measured, play)


def _recorded(take: Take, switches: Switches, sampling: Sampling) -> tuple[str, str]:
    """Return viser's page of the pictures, and what is to be said of what was measured, as HTML."""
    from bodymotion.viewer.server import quiet_server, stop_server

    server = quiet_server("127.0.0.1", 0)
    try:
        stage = Stage(server, take, switches)
        if not switches.shadows:
            server.scene.configure_default_lights(True, cast_shadow=False)
        view = stage.first_view()
        camera = server.initial_camera
        camera.fov = view.field_of_view
        camera.near, camera.far = 0.01 * stage.scene.size, 300.0 * stage.scene.size
        camera.position, camera.look_at = view.position, view.look_at
        stage.learn_at_once()
        stage.show(int(sampling.frames[0]))
        recording = server.get_scene_serializer()
        if len(sampling.frames) > 1:
            for number, frame in enumerate(sampling.frames[1:]):
                recording.insert_sleep(1.0 / sampling.rate - (0.0 if number else EARLY))
                stage.show(int(frame))
            recording.insert_sleep(LAST + EARLY)
        text = recording.as_html(dark_mode=switches.dark)
    finally:
        stop_server(server)
    return text, _measured(stage)


def _either(light: str, dark: str) -> str:
    """Return a page with what was recorded for both: they differ in nothing else."""
    scripts = []
    for text in (light, dark):
        start = text.index(RECORDED) + len("<script>")
        scripts.append(text[start : text.index("</script>", start)])
    both = f'if (matchMedia("(prefers-color-scheme: dark)").matches) {{{scripts[1]}}} else {{{scripts[0]}}}'
    return light.replace(scripts[0], both, 1)


def write_page(take: Take, path: Path, switches: Switches | None = None, *, play: bool = True) -> Sampling:
    """Write the page to a file, whole or not at all; give what was sampled.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    with whole_file(path) as stream:
        stream.write(page(take, switches, play=play).encode("utf-8"))
    return sampled(take.timeline)


def _measured(stage: Stage) -> str:
    """Say as HTML what the colours of limits mean, or why nothing is measured; nothing where nobody asked."""
    layers = stage.layers
    if layers.insight is not None and layers.insight.why_not:
        return f" · it cannot be measured: {html_text(layers.insight.why_not)}"
    if layers.colors is None:
        return ""
    if not layers.colors.there:
        return f" · no {layers.colors.kind} limits in the model"
    signs = [
        f'<span style="color:rgb{color_of(share)}">●</span> {100 * share:.0f} %'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    return f" · of the {layers.colors.kind} limit: {' '.join(signs)}"


def _signed(text: str, take: Take, sampling: Sampling, switches: Switches, measured: str, play: bool) -> str:
    """Put the title, a line that says what is shown, and the keys of single pictures into the page."""
    name = take.title
    line = html_text(name)
    if len(sampling.frames) > 1:
        length = f"{take.timeline.times[-1]:.3f} s"
        line += f' · <span id="bodymotion-time"></span>{length} · {escape(str(sampling))}'
    if take.beats is not None:
        line += f" · {take.beats.slices:g} slices at {take.beats.bpm:g} bpm"
    if take.contacts is not None and switches.contacts:
        signs = [
            f'<span style="color:rgb{color}">●</span> {words}'
            for color, words in ((STANCE, "in stance"), (SWING, "in swing"))
        ]
        line += f" · feet: {', '.join(signs)}"
    line += measured
    there = (name for name in OF_THE_FIRST if name != "zmp" or take.zmp is not None)
    overlaid = [LABELS[name] for name in there if getattr(switches, name)]
    if take.second is not None and overlaid:
        line += f" · of the first motion: {escape(', '.join(overlaid))}"
    head, tail = text.split("</head>", 1)
    before, rest = head.split("<title>", 1) if "<title>" in head else (head, "</title>")
    head = f"{before}<title>{html_text(name)}</title>{rest.split('</title>', 1)[1]}"
    script = page_script(sampling.rate, len(sampling.frames), float(take.timeline.times[0]), play=play)
    extra = (
        '<div style="position:fixed;left:12px;bottom:54px;z-index:5;font:13px sans-serif;color:#445;pointer-events:none;'
        f'font-variant-numeric:tabular-nums;background:#ffffffb0;padding:3px 8px;border-radius:6px">{line}</div>'
        f"<script>{script}</script>"
    )
    return f"{head}</head>{tail.replace('</body>', extra + '</body>', 1) if '</body>' in tail else tail + extra}"
