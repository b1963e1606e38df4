"""`bodymotion plot [MODEL] MOTION -o FILE`: pictures and interactive pages of a motion's joints, torques, balance and contacts."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated

import typer

from bodymotion.cli.options import AllowOutside

__all__ = ["plot"]

DPI = 150


def plot(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[MODEL] MOTION",
            help="A model and a motion; a motion alone; or a Spot animation (.cha).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="A picture (.png, .svg, .pdf) or an interactive page (.html); NAME.png when not given.",
            show_default=False,
        ),
    ] = None,
    what: Annotated[
        str,
        typer.Option(
            "--what",
            metavar="NAMES",
            help="What is plotted, with commas between: overview, joints, velocities, accelerations, torques, power, zmp, contacts, "
            "sensors, any measured quantity, or all; --list says what there is.",
        ),
    ] = "overview",
    joints: Annotated[
        str,
        typer.Option(
            "--joints", metavar="NAMES", help="Only these joints, with commas between; * and ? stand for any."
        ),
    ] = "",
    start: Annotated[
        float | None, typer.Option("--from", metavar="SECONDS", help="Where to begin.", show_default=False)
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", metavar="SECONDS", help="Where to end.", show_default=False)
    ] = None,
    radians: Annotated[
        bool, typer.Option("--radians", help="Radians and metres instead of degrees and millimetres.")
    ] = False,
    dark: Annotated[bool, typer.Option("--dark", help="Light colours on a dark ground.")] = False,
    size: Annotated[
        str,
        typer.Option(
            "--size", metavar="WxH", help="Size of each plot in pixels, as 1600x900; 1600 alone is the width."
        ),
    ] = "",
    dpi: Annotated[
        int,
        typer.Option("--dpi", min=30, max=1200, help="Pixels per inch of a PNG: the larger, the larger its letters."),
    ] = DPI,
    smooth: Annotated[
        int,
        typer.Option(
            "--smooth",
            metavar="FRAMES",
            min=0,
            help="Find velocities and accelerations through so many frames (Savitzky and Golay); for recorded motions.",
        ),
    ] = 0,
    listed: Annotated[bool, typer.Option("--list", help="Print what can be plotted of the files, and end.")] = False,
    allow_outside: AllowOutside = False,
) -> None:
    """Plot a motion: its joints within their limits, velocities, torques, the zero moment point on the ground, contacts.

    Without a model only what the file itself has can be plotted. An animation is played by our Spot.

    \b
    Examples:
      bodymotion plot robot.wrl walk.seq -o walk.png
      bodymotion plot robot.wrl walk.seq --what joints,torques --joints "*KNEE*" -o knees.pdf
      bodymotion plot robot.wrl walk.seq --what zmp --dark -o zmp.svg
      bodymotion plot robot.wrl walk.seq --what all -o walk.html
    """  # noqa: D301
    from bodymotion.cli.failures import failures
    from bodymotion.cli.messages import say
    from bodymotion.cli.output import results
    from bodymotion.cli.progress import progress
    from bodymotion.cli.text import one_line
    from bodymotion.plots import UnknownPlotError, available, form_of, subject_of
    from bodymotion.plots import plot as plot_them
    from bodymotion.system.atomic_files import check_not_read, check_place

    if len(files) > 2:
        raise typer.BadParameter("a model and a motion are two files at most", param_hint="[MODEL] MOTION")
    target = output or Path(f"{files[-1].stem}.png")
    inches = _size(size, dpi)
    for moment, option in ((start, "--from"), (end, "--to")):
        if moment is not None and not math.isfinite(moment):
            raise typer.BadParameter(f"{moment:g} is no moment", param_hint=option)
    if start is not None and end is not None and end < start:
        raise typer.BadParameter(f"{end:g} s is before {start:g} s", param_hint="--to")
    with failures("plot"):
        if not listed:
            check_place(target)
            check_not_read(target, files)
    try:
        form_of(target)
    except ValueError as error:
        raise typer.BadParameter(one_line(error), param_hint="-o") from None
    with failures("plot", every_fault=True):
        try:
            if listed:
                subject = subject_of(*files, allow_outside=allow_outside)
                with results() as out:
                    print("\n".join(available(subject)), file=out)
                return
            with progress(f"{target.name}"):
                made = plot_them(
                    files[0],
                    files[1] if len(files) > 1 else None,
                    _names(what) or ("overview",),
                    joints=_names(joints) or None,
                    start=start,
                    end=end,
                    radians=radians,
                    dark=dark,
                    size=inches,
                    dpi=dpi,
                    derivative="savgol" if smooth else "suited",
                    window=smooth or 9,
                    allow_outside=allow_outside,
                )
                made.save(target)
        except UnknownPlotError as error:
            raise typer.BadParameter(one_line(error), param_hint="--what") from None
    for sheet in made.sheets[:1]:
        for note in sheet.notes:
            say(f"{target}: {one_line(note)}")
    say(f"{target}: {', '.join(made.names)}")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _size(text: str, dpi: int) -> tuple[float, float] | float | None:
    """Return inches of a size in pixels."""
    if not text.strip():
        return None
    found = re.fullmatch(r"\s*(\d{2,5})\s*(?:[xX×]\s*(\d{2,5})\s*)?", text)
    if found is None:
        raise typer.BadParameter(f"{text} is no size; 1600x900 is one", param_hint="--size")
    width, height = int(found[1]) / dpi, found[2]
    if not 4 <= width <= 100:
        raise typer.BadParameter(
            f"{found[1]} pixels are {width:.2g} inches at {dpi} dpi; 4 to 100 inches can be drawn", param_hint="--size"
        )
    return width if height is None else (width, int(height) / dpi)
