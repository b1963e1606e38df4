"""`report`: measure, check, plot and show a motion on a body, all on one page.

See docs/report.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import WrongUseError
from bodymotion.model.body import Body
from bodymotion.reports.page import Contents, contents_of
from bodymotion.system.deferred import need
from bodymotion.system.files import whole_file

if TYPE_CHECKING:
    from bodymotion.scene.loading import Showable

__all__ = ["PLOTS", "Contents", "contents_of", "report"]

# The plots of a report. Those that a motion does not have are left out.
PLOTS = ("zmp", "contacts", "joints", "velocities", "torques", "power", "sensors")
# Steps of which the progress is told.
NUM_STEPS = 5


def report(
    body: Showable,
    motion: Showable | None = None,
    *,
    output: str | PathLike[str],
    ghost: Showable | None = None,
    what: str | Iterable[str] = PLOTS,
    by_position: bool = False,
    progress: Callable[[int, int], None] | None = None,
    plots: Iterable[str] | None = None,
    **options: Any,  # noqa: ANN401
) -> Contents:
    """Write a page about a motion on a body.

    The robot playing, key figures, worst moments, findings of `check`, plots.

    The page is self-contained: it opens from disk, without a network.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or files of them, in any order; or a script, which is
        played on its robot.
    output:
        The file that is written (.html or .htm), whole or not at all.
    ghost:
        A second motion, shown as a transparent robot, such as the commanded motion
        beside the simulated one.
    what:
        Names of plots, see `bodymotion.plot`; of the default ones those that the motion
        has.
    by_position:
        Read joint columns by position, whatever their names.
    options:
        Those of readers (see `bodymotion.load`): `allow_outside`, `layout`,
        `frame_rate` …
    progress:
        Called with the number of steps that are done, and of all steps.

    Returns
    -------
    Contents
        The key figures, moments, findings and the table of joints that are on the page.

    Raises
    ------
    FormatError
        When a file cannot be read.
    ValueError
        When motion and body do not fit. `WrongUseError` when there is no motion, or no
        such plot, when the name does not end in .html or .htm, or is that of a file
        that is read.
    ImportError
        When packages for plots are missing; the message names the extra to install.
    OSError
        When the page cannot be written.
    """
    from bodymotion.plots import available, charts, subject_of
    from bodymotion.plots.pages import fragment, script
    from bodymotion.reports.page import page
    from bodymotion.scene.loading import load_scene
    from bodymotion.viewer.page import check_page_path
    from bodymotion.viewer.page import page as robot_page

    if plots is not None:
        warnings.warn("plots= is now what=", DeprecationWarning, stacklevel=2)
        what = plots
    target = Path(output)
    check_page_path(target)
    need("plotly", "plot", "a report")
    # A function that does nothing, so that each step can report.
    report_progress = progress or (lambda done, total: None)
    sources = [source for source in (body, motion, ghost) if source is not None]
    scene = load_scene(
        *sources,
        ghost=ghost is not None,
        by_position=by_position,
        output=target,
        **options,
    )
    if scene.motion is None:
        raise WrongUseError(
            "a report needs a motion, and there is only a body: bodymotion report "
            "MODEL MOTION"
        )
    if scene.without_body:
        raise WrongUseError(
            "a report needs the body of the motion: bodymotion report MODEL MOTION"
        )
    report_progress(1, NUM_STEPS)
    subject = subject_of(scene.body, scene.motion)
    assert subject.measures is not None
    existing = available(subject)
    wanted = (what,) if isinstance(what, str) else what
    # Of the default plots those that the motion has; one that was asked for and is
    # missing is an error of `charts`.
    names = [name for name in wanted if name in existing or name not in PLOTS]
    drawn = [fragment(chart) for chart in charts(subject, names)]
    report_progress(2, NUM_STEPS)
    # A body that is neither read from a file nor given, such as that of a built-in
    # robot, is not checked.
    is_given = any(isinstance(source, Body) for source in sources)
    is_own = scene.body.source.path is None and not is_given
    # Texts and tables of the page.
    contents = contents_of(
        subject.measures,
        title=scene.title,
        notes=(*subject.notes, *scene.notes),
        playback=scene.playback,
        check_body=not is_own,
    )
    report_progress(3, NUM_STEPS)
    # The player with marks on its timeline.
    marks = _marks_of(contents)
    robot = robot_page(scene, moments=marks, measures=subject.measures)
    report_progress(4, NUM_STEPS)
    times = subject.measures.times
    text = page(contents, robot, drawn, script(), (float(times[0]), float(times[-1])))
    with whole_file(target) as stream:
        stream.write(text.encode("utf-8"))
    report_progress(5, NUM_STEPS)
    return contents


def _marks_of(contents: Contents) -> list[tuple[float, str]]:
    """Return the times [s] that are marked on the timeline, with their texts."""
    marks = [(moment.time, moment.text) for moment in contents.moments]
    # Figures have marks without a text: moments have the text already.
    for figure in contents.figures:
        if figure.time is not None:
            marks.append((figure.time, ""))
    return [(time, text) for time, text in marks if isfinite(time)]
