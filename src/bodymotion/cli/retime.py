"""`bodymotion retime IN OUT`: another frame rate, another speed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import typer

from bodymotion.cli.given import positive

__all__ = ["retime"]


def retime(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A motion.", show_default=False)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="Where the new one goes; may be IN.", show_default=False)
    ],
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            "-r",
            metavar="HZ",
            callback=positive,
            help="The frame rate; by default the one that the file names.",
        ),
    ] = None,
    method: Annotated[
        Literal["after", "nearest", "before", "linear", "cubic", "pchip"] | None,
        typer.Option(
            "--method",
            "-m",
            help="What is between frames: hold values, from the frame at or after their time, nearest to it, or before it; or "
            "interpolate. By default after for frames with time stamps, linear for a fixed rate.",
            show_default=False,
        ),
    ] = None,
    antialias: Annotated[
        bool, typer.Option("--antialias", help="Take out what is too fast for a lower rate, instead of folding it.")
    ] = False,
    unwrap: Annotated[
        bool, typer.Option("--unwrap", help="Take jumps of joint angles by full turns out first.")
    ] = False,
    speed: Annotated[
        float | None,
        typer.Option("--speed", metavar="FACTOR", callback=positive, help="2 is twice as fast, in half the time."),
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            "--start", metavar="SECONDS", help="The time that frame 0 is at, or first: that of the first frame."
        ),
    ] = "0",
    common: Annotated[
        bool, typer.Option("--common", help="Make all components equally long: a shorter one keeps its last value.")
    ] = False,
) -> None:
    """Put a motion on another frame rate, or make it faster or slower.

    Frames with time stamps are imported as the .seq document says, by holding values; --method nearest and before are the other two
    readings of it. linear, cubic and pchip interpolate; orientations go along the shorter arc (SLERP), with cubic along a smooth curve.

    Without --rate the rate is the one that the file names. Exit code 3: something was lost.

    \b
    Examples:
      bodymotion retime log.seq walk.seq --rate 100
      bodymotion retime log.seq walk.seq --rate 500 --method cubic
      bodymotion retime walk.seq slow.seq --rate 30 --antialias
      bodymotion retime walk.seq half.seq --speed 0.5
      bodymotion retime clock.seq walk.seq --rate 100 --start first
    """  # noqa: D301
    from bodymotion.cli.changes import conclude, finish, is_large, load_motion
    from bodymotion.cli.failures import failures
    from bodymotion.cli.progress import progress
    from bodymotion.motion.interpolation import HOLDING

    with failures("retime"):
        by_rows = (method is None or method in (*HOLDING, "linear")) and not (antialias or unwrap or speed or common)
        if by_rows and is_large(source, target):
            from bodymotion.editing.streaming import resample_file
            from bodymotion.formats.seq import open_motion

            with open_motion(source) as reader:
                stamped = any(header.has_frame_time for header in reader.components)
                first = min((ends[0] for ends in reader.end_times() if ends is not None), default=0.0)
            with progress(f"writing {target.name}") as told:
                used = method or ("after" if stamped else "linear")
                conclude(resample_file(source, target, rate, used, start=_start(start, first), progress=told))
        motion = load_motion(source, whole="by its frames only hold and linear, without other options, take less")
        timed = [c.timeline for c in motion.timed]
        stamped = any(t.stamps is not None for t in timed)
        used = method or ("after" if stamped else "linear")
        zero = _start(start, min((float(c.timeline.times[0]) for c in motion.timed if c.num_frames), default=0.0))
        after = motion
        if speed is not None:
            from bodymotion.editing import change_speed

            if rate is None and not stamped and len({t.frame_rate for t in timed}) == 1:
                rate = timed[0].frame_rate
            after = change_speed(motion, speed, keep_rate=False)
            zero /= speed
        put = after.on_common_timeline if common else after.resample
        finish(motion, put(rate, used, antialias=antialias, unwrap=unwrap, start=zero), target)


def _start(text: str, first: float) -> float:
    if text == "first":
        return first
    try:
        given = float(text)
    except ValueError:
        given = math.nan
    if not math.isfinite(given):
        raise typer.BadParameter(f"{text!r} is neither a number of seconds nor first", param_hint="--start")
    return given
