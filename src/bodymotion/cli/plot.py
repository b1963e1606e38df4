"""`bodymotion plot [MODEL] MOTION -o FILE`.

Plots of a motion's joints, torques, balance and contacts.
"""

import math
import re
from pathlib import Path
from typing import Annotated

import click
from click import IntRange

from bodymotion.cli import failures
from bodymotion.cli.options import (
    BeatsPerBar,
    Bpm,
    ByPosition,
    Music,
    ReaderOptions,
    check_output,
    found_by,
    names,
    read_files,
    reads_files,
)
from bodymotion.cli.output import (
    one_line,
    print_message,
    progress,
    results,
    written,
)

DPI = 150


@reads_files
def plot(
    reading: ReaderOptions,
    files: list[Path],
    output: Path | None = None,
    what: str = "overview",
    joints: str = "",
    start: float | None = None,
    end: float | None = None,
    radians: bool = False,
    dark: bool = False,
    size: str = "",
    dpi: Annotated[int, IntRange(30, 1200)] = DPI,
    smooth: Annotated[int, IntRange(0)] = 0,
    listed: bool = False,
    by_position: ByPosition = False,
    bpm: Bpm = None,
    music: Music = None,
    beats_per_bar: BeatsPerBar = 4,
) -> None:
    """Plot the joints, torques, balance and contacts of a motion.

    Without a model, only the values in the file can be plotted. An animation is played
    on the built-in Spot.

    \b
    Examples:
      bodymotion plot robot.wrl walk.seq -o walk.png
      bodymotion plot robot.wrl walk.seq --what joints,torques --joints "*KNEE*" -o knees.pdf
      bodymotion plot robot.wrl walk.seq --what zmp --dark -o zmp.svg
      bodymotion plot robot.wrl walk.seq --what all -o walk.html

    Options:
      files [MODEL] MOTION: A model and a motion; a motion alone; a Spot animation
        (.cha); or recorded motion (.bvh).
      --what NAMES: Plots, comma-separated; all for the most useful ones. --list has the
        names.
      --joints NAMES: Only these joints, comma-separated; * and ? are wildcards.
      start --from SECONDS: Start time.
      end --to SECONDS: End time.
      listed --list: List the plots of these files, and exit.

    More options:
      --radians: Radians and metres instead of degrees and millimetres.
      --smooth FRAMES: Window of a Savitzky-Golay filter for velocities and
        accelerations; for recorded motions.

    Output:
      --output -o FILE: An image (.png, .svg, .pdf) or an interactive page (.html); by
        default NAME.png.
      --dark: Dark mode.
      --size WxH: Size of each plot in pixels, such as 1600x900; 1600 alone is the
        width.
      --dpi: Pixels per inch of a PNG; a larger value enlarges the text.
    """  # noqa: D301
    from bodymotion.collection.opening import single_files
    from bodymotion.plots import UnknownPlotError, available, form_of, subject_of
    from bodymotion.plots import plot as plot_them
    from bodymotion.scene.music import load_music

    if len(files) > 2:
        raise click.BadParameter(
            "at most two files: a model and a motion", param_hint="[MODEL] MOTION"
        )
    target = output or Path(f"{files[-1].stem}.png")
    inches = _size(size, dpi)
    for moment, option in ((start, "--from"), (end, "--to")):
        if moment is not None and not math.isfinite(moment):
            raise click.BadParameter(
                f"{moment:g} is not a finite time", param_hint=option
            )
    if start is not None and end is not None and end < start:
        raise click.BadParameter(f"{end:g} s is before {start:g} s", param_hint="--to")
    with failures("plot"), single_files(files) as sources:
        if not listed:
            check_output(target, files)
        found_by("-o", form_of, target)
        try:
            if listed:
                subject = subject_of(
                    *sources, by_position=by_position, bpm=bpm, **reading
                )
                with results() as out:
                    print("\n".join(available(subject)), file=out)
                return
            with progress(f"{target.name}"):
                body, motion = [*read_files(sources, reading, by_position), None][:2]
                made = plot_them(
                    body,
                    motion,
                    names(what) or ("overview",),
                    joints=names(joints) or None,
                    start=start,
                    end=end,
                    radians=radians,
                    dark=dark,
                    size=inches,
                    dpi=dpi,
                    derivative="savgol" if smooth else "suited",
                    window=smooth or 9,
                    bpm=bpm,
                    music=None if music is None else load_music(music, beats_per_bar),
                )
                made.save(target)
        except UnknownPlotError as error:
            raise click.BadParameter(one_line(error), param_hint="--what") from None
    for chart in made.charts[:1]:
        for note in chart.notes:
            print_message(f"{target}: {note}")
    written(target, ", ".join(made.names))


def _size(text: str, dpi: int) -> tuple[float, float] | float | None:
    """Return a size in pixels in inches."""
    if not text.strip():
        return None
    found = re.fullmatch(r"\s*(\d{2,5})\s*(?:[xX×]\s*(\d{2,5})\s*)?", text)
    if found is None:
        raise click.BadParameter(
            f"{text!r} is not a size such as 1600x900", param_hint="--size"
        )
    width = int(found[1]) / dpi
    height = found[2]
    if not 4 <= width <= 100:
        raise click.BadParameter(
            f"{found[1]} pixels are {width:.2g} inches at {dpi} dpi; use 4 to 100 "
            "inches",
            param_hint="--size",
        )
    if height is None:
        return width
    return (width, int(height) / dpi)
