"""`report`: measure, check, plot and show a motion on a body, all on one page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bodymotion.diagnostics import WrongUseError
from bodymotion.reports.contents import Contents, contents_of
from bodymotion.reports.page import page
from bodymotion.system.atomic_files import check_place, whole_file
from bodymotion.system.extras import need

if TYPE_CHECKING:
    from bodymotion.scene.given import Showable

__all__ = ["PLOTS", "report"]

PLOTS = ("zmp", "contacts", "joints", "velocities", "torques", "power", "sensors")
"""The plots of a report; those that a motion does not have are left out."""


def report(
    body: Showable,
    motion: Showable | None = None,
    *,
    path: str | PathLike[str],
    plots: Iterable[str] = PLOTS,
    allow_outside: bool = False,
    told: Callable[[int, int], None] | None = None,
) -> Contents:
    """Write a page about a motion on a body: the robot playing, key figures, worst moments, findings of `check`, plots.

    The page holds all that it needs: it opens from disk, without a network.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or files of them, in any order; or an Animation, which is played by our Spot.
    path:
        Where the page is written, whole or not at all.
    plots:
        Which plots, see `bodymotion.plot`; of the usual ones those that the motion has.
    allow_outside:
        Also read parts of a model that lie outside its folder.
    told:
        Is told how much is done, and of how much.

    Returns
    -------
    Contents
        The figures, moments, findings and the table of joints that are on the page.

    Raises
    ------
    FormatError
        When nothing can be made of a file.
    ValueError
        When motion and body do not fit; `WrongUseError` when there is no motion, or no such plot, when the name does not end in .html or
        .htm, or is that of a file that is read.
    ImportError
        When what plots need is not installed; the message says how it is.
    OSError
        When the page cannot be written.
    """
    from bodymotion.plots import available, sheets, subject_of
    from bodymotion.plots.pages import fragment, script
    from bodymotion.viewer.api import PAGES, load_take
    from bodymotion.viewer.html import page as robot_page

    target = Path(path)
    check_place(target)
    if target.suffix.lower() not in PAGES:
        raise WrongUseError(f"{target.name}: a report is a page, {' or '.join(PAGES)}")
    need("plotly", "plot", "a report")
    tell = told or (lambda done, total: None)
    take = load_take(*(one for one in (body, motion) if one is not None), allow_outside=allow_outside, output=target)
    if take.motion is None:
        raise WrongUseError("a report is about a motion, and there is a body alone")
    if take.motion_alone:
        raise WrongUseError("a report needs the body that moves: bodymotion report MODEL MOTION")
    tell(1, 5)
    subject = subject_of(take.body, take.motion)
    assert subject.measures is not None
    asked, there = tuple(plots), available(subject)
    wanted = [name for name in asked if name in there or name not in PLOTS]
    drawn = [fragment(sheet) for sheet in sheets(subject, wanted)]
    tell(2, 5)
    contents = contents_of(subject.measures, title=take.title, notes=(*subject.notes, *take.notes))
    tell(3, 5)
    robot = robot_page(take, either=True)
    tell(4, 5)
    times = subject.measures.times
    text = page(contents, robot, drawn, script(), (float(times[0]), float(times[-1])))
    with whole_file(target) as stream:
        stream.write(text.encode("utf-8"))
    tell(5, 5)
    return contents
