"""`bodymotion retime IN OUT`: another frame rate, another speed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import click

from bodymotion.cli import failures
from bodymotion.cli.options import (
    Positive,
    ReaderOptions,
    check_reading,
    is_large,
    is_project_default,
    load_body,
    load_motion,
    load_script,
    reads_files,
    reports_losses,
)
from bodymotion.cli.output import (
    conclude,
    finish,
    print_message,
    print_method,
    progress,
)
from bodymotion.diagnostics.text import with_article
from bodymotion.extensions import Kind, kind_named, kinds

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion, Timeline
    from bodymotion.motion.interpolation import Method


ADVICE = "--method after, nearest, before and linear without other options need less"
"""What a message about too little memory advises."""


@reports_losses
@reads_files
def retime(
    reading: ReaderOptions,
    source: Path,
    target: Path,
    rate: Positive = None,
    method: Literal["after", "nearest", "before", "linear", "cubic", "pchip"]
    | None = None,
    antialias: bool = False,
    unwrap: bool = False,
    speed: Positive = None,
    within_limits: bool = False,
    body: Path | None = None,
    start: str = "0",
    common: bool = False,
    beats: Path | None = None,
) -> None:
    """Change the frame rate or the speed of a motion.

    Values between frames are interpolated: linearly, or by --method cubic or pchip;
    orientations follow the shorter arc (SLERP), with cubic a smooth curve. --method
    after holds each value until the next frame, as the .seq document describes the
    import of frames with time stamps; nearest and before are two other interpretations
    of it. Then frames repeat, which is rough on a motor.

    Without --rate, the rate of the file is used.

    \b
    Examples:
      bodymotion retime log.seq walk.seq --rate 100
      bodymotion retime log.seq walk.seq --rate 500 --method cubic
      bodymotion retime walk.seq slow.seq --rate 30 --antialias
      bodymotion retime walk.seq half.seq --speed 0.5
      bodymotion retime walk.seq slow.seq --within-limits --body robot.wrl
      bodymotion retime clock.seq walk.seq --rate 100 --start first

    Options:
      source IN: A motion, {script} or a dance.
      target OUT: The new file; may be IN.
      --rate -r HZ: The frame rate; by default that of the file.
      --method -m: Between frames: interpolate (linear, cubic, pchip); or hold the value
        of the frame at or after the time, nearest to it, or before it. By default
        linear.
      --speed FACTOR: Playback speed, also of a script: 2 is twice as fast, in half
        the time.
      --within-limits: Slow down where joints exceed their speed limits; needs --body.
      --body -b MODEL: The model that the motion is for.

    More options:
      --antialias: Low-pass filter before the rate is lowered, to avoid aliasing.
      --unwrap: First remove jumps of joint angles by full turns.
      --start SECONDS: The time of frame 0, or first: the time of the first frame.
      --beats MUSIC: Give a dance the tempo of the music, and put its moves on
        beats.
      --common: Make all components equally long: a shorter one holds its last value.
    """  # noqa: D301
    from bodymotion.formats.registry import find_format
    from bodymotion.motion.interpolation import HOLDING

    if within_limits:
        _require(body)
    # These need the motion as a whole, or change more than its frames.
    changes_motion = antialias or unwrap or common or within_limits
    used_method: Method = method or "linear"
    with failures("retime"):
        kind = kind_named(find_format(source).holds)
        if beats is not None:
            _put_on_beats(source, target, reading, kind, beats)
        if kind is not None and kind.function("change_speed") is not None:
            # No other option has an effect on a script.
            has_start = start != "0"
            if changes_motion or _is_any_used(rate, method, has_start, body):
                speed = None
            _change_speed_of_script(source, target, reading, kind, speed)
        # A large .seq is resampled row by row, which a spline or a filter does not
        # allow.
        can_stream = used_method in (*HOLDING, "linear") and not speed
        if can_stream and not changes_motion and is_large(source, target):
            _resample_file(source, target, rate, used_method, start)
        check_reading(reading, [*filter(None, (source, body))])
        motion = load_motion(source, reading, advice=ADVICE)
        new_start = _start(start, _first_time(motion))
        changed = motion
        # Frames keep their values and get other times; the one interpolation is that of
        # `resample` below.
        if speed is not None:
            changed, rate = _change_speed(motion, speed, rate)
            new_start /= speed
        if within_limits and body is not None:
            changed = _slow_down(changed, load_body(body, reading))
        resample = changed.on_common_timeline if common else changed.resample
        result = resample(
            rate, used_method, antialias=antialias, unwrap=unwrap, start=new_start
        )
        # Nothing is reported where no value was interpolated.
        if _timelines(result) != _timelines(changed):
            print_method(used_method, result.timed[0].timeline.frame_rate)
        finish(motion, result, target)


def _require(body: Path | None) -> None:
    """Refuse speed limits without the model that has them."""
    if body is None:
        raise click.BadParameter(
            "needs a model: --body MODEL", param_hint="--within-limits"
        )


def _is_any_used(
    rate: float | None, method: str | None, has_start: bool, body: Path | None
) -> bool:
    """Return whether one of these options is on the command line."""
    # A default of the project is not on the command line.
    has_body = body is not None and not is_project_default("body")
    return bool(rate or method or has_start or has_body)


def _change_speed_of_script(
    source: Path,
    target: Path,
    reading: ReaderOptions,
    kind: Kind,
    speed: float | None,
) -> NoReturn:
    """Change the speed of a script of a robot, and write it."""
    change_speed = kind.function("change_speed")
    if speed is None or change_speed is None:
        raise click.BadParameter(
            f"of {with_article(kind.noun)} only the speed can be changed: "
            "--speed FACTOR",
            param_hint="IN",
        )
    check_reading(reading, [source])
    script = load_script(source, reading, kind)
    finish(script, change_speed(script, speed), target)


def _timelines(motion: Motion) -> list[Timeline]:
    """Return the times of all components."""
    return [component.timeline for component in motion.timed]


def _resample_file(
    source: Path, target: Path, rate: float | None, method: Method, start: str
) -> NoReturn:
    """Write a large motion row by row."""
    from bodymotion.editing.streaming import resample_file
    from bodymotion.formats.seq import open_motion

    with open_motion(source) as reader:
        # Components without frames have no times.
        first_times = [ends[0] for ends in reader.end_times() if ends is not None]
    new_start = _start(start, min(first_times, default=0.0))
    with progress(f"writing {target.name}") as bar:
        print_method(method, rate)
        problems = resample_file(
            source, target, rate, method, start=new_start, progress=bar
        )
        conclude(target, problems)


def _first_time(motion: Motion) -> float:
    """Return the time of the first frame of any component [s]."""
    starts = [float(c.timeline.times[0]) for c in motion.timed if c.num_frames]
    return min(starts, default=0.0)


def _change_speed(
    motion: Motion, speed: float, rate: float | None
) -> tuple[Motion, float | None]:
    """Return a motion with another speed, and the rate that it is to have.

    By default the rate stays that of the motion, if it has one.
    """
    from bodymotion.editing import change_speed

    timelines = _timelines(motion)
    has_stamps = any(timeline.stamps is not None for timeline in timelines)
    # With one rate for all components, the result has it again: at another speed, other
    # frames. With time stamps `resample` chooses.
    rates = {timeline.frame_rate for timeline in timelines}
    if rate is None and not has_stamps and len(rates) == 1:
        rate = rates.pop()
    return change_speed(motion, speed, keep_rate=False), rate


def _slow_down(motion: Motion, body: Body) -> Motion:
    """Return a motion within the speed limits of the joints, and print its length."""
    from bodymotion import editing

    slowed = editing.within_limits(motion, body)
    print_message(
        f"--within-limits: {motion.duration:g} s became {slowed.duration:g} s"
    )
    return slowed


def _start(text: str, first: float) -> float:
    """Return the time of frame 0: a number of seconds, or that of the first frame."""
    if text == "first":
        return first
    try:
        seconds = float(text)
    except ValueError:
        # Reported below, as a number that is not finite.
        seconds = math.nan
    if not math.isfinite(seconds):
        raise click.BadParameter(
            f"{text!r} is neither a number of seconds nor 'first'", param_hint="--start"
        )
    return seconds


def _put_on_beats(
    source: Path,
    target: Path,
    reading: ReaderOptions,
    kind: Kind | None,
    beats: Path,
) -> NoReturn:
    """Give a dance the tempo of music, put its moves on beats, and write it."""
    from bodymotion.scene.music import load_music

    if kind is None or kind.function("snap") is None:
        nouns = [with_article(one.noun) for one in kinds() if one.function("snap")]
        raise click.BadParameter(
            f"only the moves of {' or '.join(nouns)} are put on beats",
            param_hint="--beats",
        )
    dance = load_script(source, {}, kind)
    finish(dance, load_music(beats).snap(dance), target)
