"""`bodymotion report MODEL MOTION -o report.html`.

A page about a motion on a body.
"""

from pathlib import Path

import click

from bodymotion.cli import failures
from bodymotion.cli.options import (
    Bpm,
    ByPosition,
    ReaderOptions,
    names,
    read_files,
    reads_files,
)
from bodymotion.cli.output import progress, written
from bodymotion.diagnostics.text import counted


@reads_files
def report(
    reading: ReaderOptions,
    files: list[Path],
    output: Path = Path("report.html"),
    what: str = "",
    by_position: ByPosition = False,
    bpm: Bpm = None,
) -> None:
    """Write a page about a motion on a robot.

    It shows the robot playing, key figures, worst moments, findings of check, and
    plots. It opens from disk, without a network. A click on a moment, a figure or a
    plot moves the robot to that time.

    \b
    Examples:
      bodymotion report robot.wrl walk.seq -o report.html
      bodymotion report robot.wrl simulated.seq walk.seq -o simulated.html

    Options:
      files MODEL MOTION [GHOST]: A model, a motion, and a motion for a transparent
        robot; or {script} or recorded motion (.bvh).
      --what NAMES: Plots, comma-separated, as for `bodymotion plot`.

    Output:
      --output -o FILE: The page.
    """  # noqa: D301
    from bodymotion.reports import PLOTS
    from bodymotion.reports import report as write

    if len(files) > 3:
        raise click.BadParameter(
            "at most three files: a model and two motions",
            param_hint="MODEL MOTION [GHOST]",
        )
    with failures("report"), progress(f"{output.name}") as bar:
        contents = write(
            *read_files(files[:2], reading, by_position),
            output=output,
            ghost=files[2] if len(files) > 2 else None,
            what=names(what) or PLOTS,
            by_position=by_position,
            progress=bar,
            bpm=bpm,
            **reading,
        )
    # The message names what the page has.
    counts = (
        ("figure", contents.figures),
        ("moment", contents.moments),
        ("finding", contents.findings),
    )
    written(output, ", ".join(counted(len(found), noun) for noun, found in counts))
