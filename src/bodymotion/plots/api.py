"""`plot`: images and interactive pages of a motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Measures, measure
from bodymotion.dynamics.differentiation import Derivative
from bodymotion.extensions import kind_of
from bodymotion.model.body import Body
from bodymotion.model.scripts import RobotScript, tempo_error
from bodymotion.motion import Motion
from bodymotion.plots.drawing import DPI, FORMATS, draw, image_bytes
from bodymotion.plots.kinds import charts
from bodymotion.plots.parts import Chart
from bodymotion.plots.style import DARK, LIGHT, Theme
from bodymotion.plots.subject import Subject
from bodymotion.scene.loading import Showable, files_of, load_inputs
from bodymotion.scene.music import Music, load_music
from bodymotion.system.files import check_not_read, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Plottable: TypeAlias = Showable | Measures

MAX_POSES = (
    8_000_000  # Link poses that are measured: of a longer motion, every n-th frame.
)


@dataclass(frozen=True, eq=False)
class Plot(ShortRepr):
    """Plots of a motion, to be shown, saved, or put on a page.

    Notebooks display it.
    """

    charts: tuple[Chart, ...]
    theme: Theme = LIGHT
    dpi: float = DPI
    title: str = "bodymotion"
    files: tuple[Path, ...] = ()
    """Files that were read; they are never overwritten."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the plots."""
        return tuple(chart.name for chart in self.charts)

    def figure(self) -> Figure:
        """Return one matplotlib Figure of all plots.

        It is in no window and not registered with pyplot.
        """
        return draw(self.charts, self.theme)

    def interactive(self) -> tuple[Any, ...]:
        """Return a plotly Figure for each plot."""
        from bodymotion.plots.pages import interactive

        return tuple(interactive(chart, self.theme) for chart in self.charts)

    def html(self) -> str:
        """Return all plots as one self-contained page."""
        from bodymotion.plots.pages import page

        return page(self.charts, self.theme, self.title)

    def save(self, path: str | PathLike[str]) -> None:
        """Write an image (.png, .svg, .pdf) or an interactive page (.html).

        It is written whole or not at all.

        Raises
        ------
        ValueError
            When the extension is another one; `WrongUseError` when the file is one of
            those that were read.
        OSError
            When the file cannot be written.
        """
        form = form_of(path)
        check_not_read(path, self.files)
        if form == "html":
            content = self.html().encode()
        else:
            content = image_bytes(self.charts, form, self.theme, self.dpi)
        with whole_file(Path(path)) as file:
            file.write(content)

    def _repr_png_(self) -> bytes:
        return image_bytes(self.charts, "png", self.theme, min(self.dpi, 100))

    def _summary(self) -> str:
        return f"Plot({', '.join(self.names)})"


def form_of(path: str | PathLike[str]) -> str:
    """Return the format of a file by its extension: "png", "svg", "pdf" or "html".

    Raises ValueError when the extension is another one.
    """
    form = Path(path).suffix.lower().lstrip(".")
    form = "html" if form == "htm" else form
    if form not in (*FORMATS, "html"):
        ways = ", ".join(f".{one}" for one in (*FORMATS, "html"))
        raise ValueError(
            f"{Path(path).name}: unknown extension; plots are written as {ways}"
        )
    return form


def plot(
    body: Plottable,
    motion: Showable | None = None,
    what: str | Iterable[str] = "overview",
    *,
    joints: str | Iterable[str] | None = None,
    start: float | None = None,
    end: float | None = None,
    radians: bool = False,
    dark: bool = False,
    size: tuple[float, float] | float | None = None,
    dpi: float = DPI,
    derivative: Derivative | Literal["suited"] = "suited",
    window: int = 9,
    on_feet: bool | None = None,
    by_position: bool = False,
    bpm: float | None = None,
    music: str | PathLike[str] | Music | None = None,
    output: str | PathLike[str] | None = None,
    **options: Any,  # noqa: ANN401
) -> Plot:
    """Plot a motion on a body.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or their files, in any order; or a motion alone, of which
        only the values in the file can be plotted; or a script, which is played on
        its robot; or `Measures` of a motion.
    what:
        Names of plots: those of `bodymotion.plots.KINDS`, with every quantity of
        `bodymotion.dynamics.QUANTITIES`; "all" for the most useful ones.
    joints:
        Names or patterns ("*KNEE*") of the shown joints.
    start, end:
        [s] Only frames in this time span are shown.
    radians:
        Angles in radians and margins in metres instead of degrees and millimetres.
    dark:
        Dark mode.
    size:
        Width and height [inch] of each plot, or the width alone. Text becomes smaller
        where necessary.
    dpi:
        Pixels per inch of a PNG.
    derivative, window:
        Differentiation method, see `bodymotion.dynamics.measure`.
    on_feet:
        Whether the root pose is computed from feet in contact, see
        `bodymotion.dynamics.measure`.
    by_position:
        Read joint columns by position, whatever their names.
    bpm:
        Tempo at which a script is played.
    music:
        Music, or its file, whose waveform and beats are plotted.
    options:
        Those of readers (see `bodymotion.load`): `allow_outside`, `layout`,
        `frame_rate` …
    output:
        File to save the plot to, as `Plot.save` does.

    Raises
    ------
    FormatError
        When a file cannot be read.
    ValueError
        When motion and body do not fit; `WrongUseError` when there is no such plot or
        joint (the message lists all), no motion, no frame, or the size is too small
        (the message names a sufficient one).
    """
    names = (what,) if isinstance(what, str) else tuple(what)
    subject = subject_of(
        body,
        motion,
        derivative=derivative,
        window=window,
        on_feet=on_feet,
        by_position=by_position,
        bpm=bpm,
        **options,
    )
    if isinstance(music, (str, PathLike)):
        music = load_music(music)
    if isinstance(joints, str):
        joints = (joints,)
    subject = replace(
        subject,
        music=music,
        joints=None if joints is None else tuple(joints),
        start=start,
        end=end,
        radians=radians,
    )
    if not len(subject.times):
        raise ValueError("the motion has no frames to plot")
    # One number is the width: each plot has its own height.
    width, height = size if isinstance(size, tuple) else (size, None)
    made = charts(subject, names, width=width, height=height, dpi=dpi)
    plots = Plot(made, DARK if dark else LIGHT, dpi, subject.title, subject.files)
    if output is not None:
        plots.save(output)
    return plots


def subject_of(
    body: Plottable,
    motion: Showable | None = None,
    *,
    derivative: Derivative | Literal["suited"] = "suited",
    window: int = 9,
    on_feet: bool | None = None,
    by_position: bool = False,
    bpm: float | None = None,
    **options: Any,  # noqa: ANN401
) -> Subject:
    """Return the subject of plots of a body and a motion, see `plot`."""
    if isinstance(body, Measures):
        return Subject(
            measures=body,
            motion=body.motion,
            title=_name(body.body, "body"),
            about=_name(body.motion, ""),
            files=files_of(body.body, body.motion),
        )
    found = load_inputs(
        body,
        *([] if motion is None else [motion]),
        done="plotted",
        by_position=by_position,
        **options,
    )
    files = files_of(found.body, *found.motions, found.script)
    measuring: dict[str, Any] = {"derivative": derivative, "window": window}
    if found.script is not None:
        return _of_script(found.script, bpm, files, measuring)
    if bpm is not None:
        raise tempo_error()
    if not found.motions:
        raise WrongUseError("a plot needs a motion, but only a body was given")
    moved = found.motions[0]
    if found.body is None:
        return Subject(
            measures=None,
            motion=moved,
            title=_name(moved, "Motion"),
            about="a motion alone",
            files=files,
        )
    title = _name(found.body, "body")
    return _measured(
        found.body,
        moved,
        title,
        _name(moved, ""),
        files,
        {**measuring, "on_feet": on_feet},
    )


def _of_script(
    script: RobotScript,
    bpm: float | None,
    files: tuple[Path, ...],
    measuring: dict[str, Any],
) -> Subject:
    """Return the measured motion of a script on its robot."""
    kind = kind_of(script)
    assert kind is not None
    title = f"{kind.robot} · {script.title or getattr(script, 'name', '')}"
    body, motion = script.body_and_motion(bpm=bpm)
    return _measured(body, motion, title, _name(script, ""), files, measuring)


def _measured(
    body: Body,
    motion: Motion,
    title: str,
    about: str,
    files: tuple[Path, ...],
    measuring: dict[str, Any],
) -> Subject:
    """Measure a motion on a body, thinned where it is long."""
    notes = []
    # Memory and time grow with frames × links: long motions are thinned.
    frames = max((component.num_frames for component in motion.timed), default=0)
    every = -(-frames * len(body.links) // MAX_POSES)
    if every > 1:
        motion = motion.replaced(
            *(c.part(slice(None, None, every)) for c in motion.timed)
        )
        notes.append(f"the motion is long: one of {every} frames was measured")
    # A motion with infinite values is measured as far as possible; its problems say so.
    with np.errstate(invalid="ignore", over="ignore"):
        measures = measure(body, motion, **measuring)
    notes += [problem.message for problem in measures.problems]
    return Subject(
        measures=measures,
        motion=motion,
        title=title,
        about=about,
        notes=tuple(notes),
        files=files,
    )


def _name(thing: Body | Motion | RobotScript, otherwise: str) -> str:
    path = thing.source.path
    names = (
        getattr(thing, "name", ""),
        path.name if path is not None else "",
        otherwise,
    )
    return shown(next((name for name in names if name and name.strip()), otherwise), 60)
