"""`plot`: pictures and interactive pages of a motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from bodymotion.animation import Animation
from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Measures, measure
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.plots.kinds import is_heavy, sheets
from bodymotion.plots.parts import Sheet
from bodymotion.plots.pictures import DPI, FORMATS, draw, picture
from bodymotion.plots.style import DARK, LIGHT, Theme
from bodymotion.plots.subject import Subject
from bodymotion.scene.loading import Showable, files_of, load_inputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bodymotion.dynamics.derivatives import Derivative

__all__ = ["Plot", "Plottable", "plot", "subject_of"]

Plottable: TypeAlias = Showable | Measures

UNDERIVED = {"joints", "joint_displacements", "root_position"}
"""For these nothing is differentiated, so that it may be done the quickest way."""
MOST_POSES = 8_000_000
"""Of motions with more poses of links than this, every n-th frame is measured where all links are needed."""


@dataclass(frozen=True, eq=False)
class Plot:
    """Plots of a motion, to be looked at, saved, or put on a page. In a notebook it shows itself."""

    sheets: tuple[Sheet, ...]
    theme: Theme = LIGHT
    dpi: float = DPI
    title: str = "bodymotion"
    files: tuple[Path, ...] = ()
    """What was read for them."""

    @property
    def names(self) -> tuple[str, ...]:
        """What is plotted."""
        return tuple(sheet.name for sheet in self.sheets)

    def figure(self) -> Figure:
        """Draw all as one matplotlib Figure, one below the other; it is in no window and pyplot does not know it."""
        return draw(self.sheets, self.theme)

    def interactive(self) -> tuple[Any, ...]:
        """Return a plotly Figure for each plot."""
        from bodymotion.plots.pages import interactive

        return tuple(interactive(sheet, self.theme) for sheet in self.sheets)

    def html(self) -> str:
        """Return all as one self-contained page."""
        from bodymotion.plots.pages import page

        return page(self.sheets, self.theme, self.title)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a picture (.png, .svg, .pdf) or an interactive page (.html), whole or not at all.

        Raises
        ------
        ValueError
            When the name ends otherwise; `WrongUseError` when it is that of a file that was read.
        OSError
            When the file cannot be written.
        """
        from bodymotion.system.atomic_files import check_not_read, whole_file

        form = form_of(path)
        check_not_read(path, self.files)
        content = self.html().encode() if form == "html" else picture(self.sheets, form, self.theme, self.dpi)
        with whole_file(Path(path)) as file:
            file.write(content)

    def _repr_png_(self) -> bytes:
        return picture(self.sheets, "png", self.theme, min(self.dpi, 100))

    def __repr__(self) -> str:
        return f"Plot({', '.join(self.names)})"


def form_of(path: str | PathLike[str]) -> str:
    """Return the format of a file by its name: "png", "svg", "pdf" or "html".

    Raises
    ------
    ValueError
        When it is none of these.
    """
    form = Path(path).suffix.lower().lstrip(".")
    form = "html" if form == "htm" else form
    if form not in (*FORMATS, "html"):
        ways = ", ".join(f".{one}" for one in (*FORMATS, "html"))
        raise ValueError(
            f"{Path(path).name}: plots are written as {ways}, not as {'.' + form if form else 'a file without ending'}"
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
    allow_outside: bool = False,
) -> Plot:
    """Plot a motion on a body.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or files of them, in any order; or a motion alone, of which only what the file has is plotted; or an Animation,
        which is played by our Spot; or `Measures`, for a motion that was measured already.
    what:
        Names of plots, such as "overview", "joints", "velocities", "torques", "zmp", "contacts", "sensors", or of any quantity of
        `bodymotion.dynamics.QUANTITIES`; "all" for those that most people want.
    joints:
        Names or patterns ("*KNEE*") of the joints that are shown.
    start, end:
        [s] Only frames from then to then are shown.
    radians:
        Angles in radians and margins in metres, as arrays have them, instead of degrees and millimetres.
    dark:
        Light colours on a dark ground.
    size:
        Width and height [inch] of each plot, or the width alone; the height is then as it comes. Letters become smaller where they have to.
    dpi:
        Pixels per inch of a PNG.
    derivative, window:
        How velocities and accelerations are found, see `bodymotion.dynamics.measure`.
    on_feet:
        Whether the root's pose follows the feet; when not given, as `bodymotion.dynamics.measure` has it.

    Raises
    ------
    FormatError
        When nothing can be made of a file.
    ValueError
        When motion and body do not fit; `WrongUseError` when there is no such plot or joint (the message lists those there are), no motion,
        or nothing is left to plot, or the size is too small (it names one that is not).
    """
    names = (what,) if isinstance(what, str) else tuple(what)
    if set(names) <= UNDERIVED:
        derivative = "central"
    subject = subject_of(
        body,
        motion,
        heavy=is_heavy(names),
        derivative=derivative,
        window=window,
        on_feet=on_feet,
        allow_outside=allow_outside,
    )
    subject = replace(
        subject,
        joints=(joints,) if isinstance(joints, str) else None if joints is None else tuple(joints),
        start=start,
        end=end,
        radians=radians,
    )
    if not len(subject.times):
        raise ValueError("the motion has no frames, so there is nothing to plot")
    width, height = size if isinstance(size, tuple) else (size, None)
    made = sheets(subject, names, width=width, height=height, dpi=dpi)
    return Plot(made, DARK if dark else LIGHT, dpi, subject.title, subject.files)


def subject_of(
    body: Plottable,
    motion: Showable | None = None,
    *,
    heavy: bool = True,
    derivative: Derivative | Literal["suited"] = "suited",
    window: int = 9,
    on_feet: bool | None = None,
    allow_outside: bool = False,
) -> Subject:
    """Return what is plotted of a body and a motion, see `plot`; of `heavy` plots of very long motions not every frame is measured."""
    if isinstance(body, Measures):
        return Subject(
            measures=body,
            motion=body.motion,
            title=_name(body.body, "body"),
            about=_name(body.motion, ""),
            files=files_of(body.body, body.motion),
        )
    given = load_inputs(body, *([] if motion is None else [motion]), done="plotted", allow_outside=allow_outside)
    files = files_of(given.body, *given.motions, given.animation)
    if given.animation is not None:
        from bodymotion.spot.playback import needs_arm, play, spot_body

        animation = given.animation
        title = f"Spot · {animation.title or animation.name}"
        spot = spot_body(arm=needs_arm(animation))
        of = _measured(spot, play(animation), title, _name(animation, ""), heavy, derivative, window, None)
        return replace(of, files=files)
    if not given.motions:
        raise WrongUseError("a plot needs a motion, and there is a body alone")
    moved = given.motions[0]
    if given.body is None:
        return Subject(measures=None, motion=moved, title=_name(moved, "Motion"), about="a motion alone", files=files)
    title = _name(given.body, "body")
    return replace(
        _measured(given.body, moved, title, _name(moved, ""), heavy, derivative, window, on_feet), files=files
    )


def _measured(
    body: Body,
    motion: Motion,
    title: str,
    about: str,
    heavy: bool,
    derivative: Derivative | Literal["suited"],
    window: int,
    on_feet: bool | None,
) -> Subject:
    notes = []
    frames = max((component.num_frames for component in motion.timed), default=0)
    every = -(-frames * len(body.links) // MOST_POSES) if heavy else 1
    if every > 1:
        motion = _every(motion, every)
        notes.append(f"the motion is so long that one of {every} frames was measured")
    if on_feet is None and not heavy:
        # Where the root is makes no difference to these, and is not found for nothing.
        on_feet = False
    with np.errstate(invalid="ignore", over="ignore"):
        measures = measure(body, motion, derivative=derivative, window=window, on_feet=on_feet)
    notes += [problem.message for problem in measures.problems]
    return Subject(measures=measures, motion=motion, title=title, about=about, notes=tuple(notes))


def _every(motion: Motion, count: int) -> Motion:
    from bodymotion.motion.timeline import Timeline

    def thin(timeline: Timeline) -> Timeline:
        if timeline.frame_rate is None:
            return Timeline.stamped(timeline.times[::count], timeline.import_rate)
        return Timeline.uniform(-(-timeline.num_frames // count), timeline.frame_rate / count)

    return motion.replaced(
        *(replace(c, timeline=thin(c.timeline), values=np.ascontiguousarray(c.values[::count])) for c in motion.timed)
    )


def _name(thing: Body | Motion | Animation, otherwise: str) -> str:
    path = thing.source.path
    names = (getattr(thing, "name", ""), path.name if path is not None else "", otherwise)
    return shown(next((name for name in names if name and name.strip()), otherwise), 60)
