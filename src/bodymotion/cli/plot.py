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
"""Pixels per inch of a PNG, by default."""
DEFAULT_WINDOW = 9
"""[frames] Window for derivatives, which has no effect without --smooth."""
MIN_WIDTH = 4
MAX_WIDTH = 100
"""[inches] Narrower plots have no room for labels; wider ones take gigabytes."""


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

    Without a model, only the values in the file can be plotted. A script is played
    on its robot.

    \b
    Examples:
      bodymotion plot robot.wrl walk.seq -o walk.png
      bodymotion plot robot.wrl walk.seq --what torques --joints "*KNEE*" -o knees.pdf
      bodymotion plot robot.wrl walk.seq --what zmp --dark -o zmp.svg
      bodymotion plot robot.wrl walk.seq --what all -o walk.html

    Options:
      files [MODEL] MOTION: A model and a motion; a motion alone; {script};
        or recorded motion (.bvh).
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
    # In the current folder, named after the motion.
    target = output or Path(f"{files[-1].stem}.png")
    size_in_inches = _size(size, dpi)
    _check_times(start, end)
    with failures("plot"), single_files(files) as sources:
        if not listed:
            check_output(target, files)
        # The format is checked before anything is computed.
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
                shown, *rest = read_files(sources, reading, by_position)
                motion = rest[0] if rest else None
                beats = None
                if music is not None:
                    beats = load_music(music, beats_per_bar)
                plots = plot_them(
                    shown,
                    motion,
                    what=names(what) or ("overview",),
                    joints=names(joints) or None,
                    start=start,
                    end=end,
                    radians=radians,
                    dark=dark,
                    size=size_in_inches,
                    dpi=dpi,
                    derivative="savgol" if smooth else "suited",
                    window=smooth or DEFAULT_WINDOW,
                    bpm=bpm,
                    music=beats,
                )
                plots.save(target)
        except UnknownPlotError as error:
            raise click.BadParameter(one_line(error), param_hint="--what") from None
    # Notes are about the motion: those of one plot are enough.
    for chart in plots.charts[:1]:
        for note in chart.notes:
            print_message(f"{target}: {note}")
    written(target, ", ".join(plots.names))


def _check_times(start: float | None, end: float | None) -> None:
    """Raise BadParameter for times that are no span."""
    for time, option in ((start, "--from"), (end, "--to")):
        if time is not None and not math.isfinite(time):
            raise click.BadParameter(
                f"{time:g} is not a finite time", param_hint=option
            )
    if start is not None and end is not None and end < start:
        raise click.BadParameter(f"{end:g} s is before {start:g} s", param_hint="--to")


def _size(text: str, dpi: int) -> tuple[float, float] | float | None:
    """Return a size in pixels in inches."""
    if not text.strip():
        return None
    match = re.fullmatch(r"\s*(\d{2,5})\s*(?:[xX×]\s*(\d{2,5})\s*)?", text)
    if match is None:
        raise click.BadParameter(
            f"{text!r} is not a size such as 1600x900", param_hint="--size"
        )
    width_in_pixels, height_in_pixels = match.groups()
    width = int(width_in_pixels) / dpi
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        raise click.BadParameter(
            f"{width_in_pixels} pixels are {width:.2g} inches at {dpi} dpi; use "
            f"{MIN_WIDTH} to {MAX_WIDTH} inches",
            param_hint="--size",
        )
    if height_in_pixels is None:
        return width
    # The library has inches, so that letters have one size at each resolution.
    return (width, int(height_in_pixels) / dpi)
