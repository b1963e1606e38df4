"""`bodymotion report MODEL MOTION -o report.html`: one page about a motion on a body."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bodymotion.cli.options import AllowOutside

__all__ = ["report"]


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL MOTION", help="A model and a motion; or a Spot animation (.cha).", show_default=False
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page that is written.")] = Path(
        "report.html"
    ),
    what: Annotated[
        str, typer.Option("--what", metavar="NAMES", help="Which plots, with commas between, as for `bodymotion plot`.")
    ] = "",
    allow_outside: AllowOutside = False,
) -> None:
    """Write one self-contained page about a motion: the robot playing, key figures, worst moments, findings of check, plots.

    It opens from disk, without a network. A click on a moment, a figure or a plot leads the robot there.

    \b
    Examples:
      bodymotion report robot.wrl walk.seq -o report.html
      bodymotion report wave.cha -o wave.html
    """  # noqa: D301
    from bodymotion.cli.failures import failures
    from bodymotion.cli.messages import say
    from bodymotion.cli.progress import progress
    from bodymotion.reports import PLOTS
    from bodymotion.reports import report as write
    from bodymotion.viewer.text import counted

    if len(files) > 2:
        raise typer.BadParameter("a model and a motion are two files at most", param_hint="MODEL MOTION")
    plots = tuple(name.strip() for name in what.split(",") if name.strip()) or PLOTS
    with failures("report", every_fault=True), progress(f"{output.name}") as told:
        contents = write(*files, path=output, plots=plots, allow_outside=allow_outside, told=told)
    say(
        f"{output}: {counted(len(contents.figures), 'figure')}, {counted(len(contents.moments), 'moment')}, "
        f"{counted(len(contents.findings), 'finding')}"
    )
