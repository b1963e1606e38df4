"""The timing of a move.

Beats, slices, loops, and the blending weights of its entry and exit.

A slice is a quarter of a beat. A move takes a whole number of slices. With `bpm`, the
keyframes of an animation last as many beats at the script's tempo as at the animation's
own; without it they last as many seconds. `retime_to_integer_slices` stretches them to
whole slices. Without it the last keyframe is held, or the end cut off, up to the
nearest whole slice. A longer move starts again, or holds its last keyframe
(`no_looping`). `settings` are the values of the parameters of an animation during
playback.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, Indices, check_memory
from bodymotion.motion.components import Timeline
from bodymotion.spot.animation import Animation
from bodymotion.spot.cha.keywords import PARAMETERS

DEFAULT_BPM = 120.0  # The script's beats per minute where neither the caller nor the animation defines it.

MAX_FRAMES = (
    1_000_000  # Nearly three hours at 100 Hz: longer moves are rejected as mistakes.
)

BPM_RANGE = (
    0.01,
    100_000.0,
)  # Beats per minute outside of this range are rejected as mistakes.

MIN_FRAME_RATE = 100.0  # [Hz] Lower bound of the default frame rate, at which a slice is a whole number of frames.

SLICE_TOLERANCE = (
    1e-9  # Relative difference from a whole number of slices that counts as none.
)

# Parameters.
OFFSETS = tuple(
    name for name in PARAMETERS if re.fullmatch(r"[a-z]+_[01]_offset", name)
)
"""The parameters that are added to the arm's joints, in the joints' order."""

NEUTRAL: Mapping[str, float] = MappingProxyType(
    {
        **{name: 1.0 if "_multiplier" in name else 0.0 for name in PARAMETERS},
        **{
            "speed": 1.0,
            "body_tracking_stiffness": 5.0,
            "gripper_strength_fraction": 1.0,
        },
    }
)
"""Every parameter of the document with its neutral value, which applies where an animation does not have the parameter."""

NOT_SIMULATED = (
    "body_tracking_stiffness",
    "gripper_strength_fraction",
    "arm_dance_frame_id",
)
"""Parameters for the robot's controller, or its dance frames.

They change no motion here.
"""

MAX_VALUE = 1e6  # Larger parameters are rejected as mistakes.


@dataclass(frozen=True)
class Timing:
    """The mapping from the time of a move to that of its animation.

    Attributes
    ----------
    bpm, slice:
        The script's tempo [1/min], and the duration [s] of a slice at it.
    natural:
        The number of slices of the move by itself.
    slices:
        The number of slices that are played.
    seconds_per_slice:
        [s] of the animation's own time per slice at speed 1.
    timeline:
        The frames: the first at the start of the move, the last at its end, or just
        before it where no frame is at the end.
    moments:
        (T,) [s] the animation's own time in each frame.
    rounds:
        (T,) the number of the loop, from 0.
    """

    bpm: float
    slice: float
    natural: int
    slices: float
    seconds_per_slice: float
    timeline: Timeline
    moments: Floats
    rounds: Indices


def default_frame_rate(slice_seconds: float) -> float:
    """Return the default frame rate [Hz].

    A slice is a whole number of frames, and the rate at least MIN_FRAME_RATE.
    """
    return float(max(np.ceil(MIN_FRAME_RATE * slice_seconds), 1.0) / slice_seconds)


def timing(
    animation: Animation,
    *,
    bpm: float | None = None,
    slices: float | None = None,
    speed: float = 1.0,
    offset: float = 0.0,
    frame_rate: float | None = None,
) -> Timing:
    """Return the timing of a move.

    Parameters
    ----------
    bpm:
        The script's beats per minute; when not given, the animation's own, else 120.
    slices:
        Length of the move; by default that of the animation. Longer needs `extendable`,
        shorter `truncatable`.
    speed, offset:
        The parameters `speed` and `offset_slices`.
    frame_rate:
        [Hz]; by default such that a slice is a whole number of frames, and at least 100
        Hz.

    Raises
    ------
    ValueError
        For a tempo, length or rate that is not positive and finite, a tempo outside of
        `BPM_RANGE`, a length that the animation does not allow, and when the frames do
        not fit into memory.
    """
    for what, value in (("bpm", bpm), ("slices", slices), ("frame_rate", frame_rate)):
        if value is not None and not 0 < as_number(what, value) < np.inf:
            raise ValueError(f"{what}: expected a positive number, got {value}")
    own = animation.bpm
    for what, value in (("bpm", bpm), ("the animation's bpm", own)):
        if value is not None and not BPM_RANGE[0] <= value <= BPM_RANGE[1]:
            raise ValueError(
                f"{what}: expected {BPM_RANGE[0]:g} to {BPM_RANGE[1]:g} beats per "
                f"minute, got {value:g}"
            )
    tempo = float(bpm if bpm is not None else own if own is not None else DEFAULT_BPM)
    own = tempo if own is None else own
    slice_seconds = 15.0 / tempo
    duration = animation.duration
    if not 0 <= duration < np.inf:
        raise ValueError(f"the last keyframe is at {duration:g} s")
    length = duration * own / tempo / slice_seconds
    natural = max(round(min(length, 1e15)), 1)
    retimed = "retime_to_integer_slices" in animation.options and duration > 0
    if retimed:
        per_slice = duration / natural
    else:
        per_slice = slice_seconds * tempo / own
    if slices is None:
        count = float(natural)
    else:
        count = float(slices)
    if (
        count > natural * (1 + SLICE_TOLERANCE)
        and "extendable" not in animation.options
    ):
        raise ValueError(
            f"{count:g} slices requested; the animation takes {natural} and is not "
            "`extendable`"
        )
    if (
        count < natural * (1 - SLICE_TOLERANCE)
        and "truncatable" not in animation.options
    ):
        raise ValueError(
            f"{count:g} slices requested; the animation takes {natural} and is not "
            "`truncatable`"
        )
    rate = frame_rate or default_frame_rate(slice_seconds)
    frames = count * slice_seconds * rate
    what = f"a move of {count * slice_seconds:g} s at {rate:g} Hz"
    if frames > MAX_FRAMES:
        raise ValueError(
            f"{what} is too long: it would have more than {MAX_FRAMES:,} frames"
        )
    try:
        check_memory(int(frames) * 8 * 100, what)
    except MemoryError as error:
        raise ValueError(f"the move is too long: {error}") from None
    timeline = Timeline.uniform(int(np.floor(frames + 1e-6)) + 1, rate)
    phases = offset + speed * timeline.times / slice_seconds
    looping = "no_looping" not in animation.options
    if looping:
        rounds = np.maximum(np.ceil(phases / natural - SLICE_TOLERANCE) - 1, 0)
    else:
        rounds = np.zeros(len(phases))
    moments = np.clip((phases - natural * rounds) * per_slice, 0.0, duration)
    return Timing(
        float(tempo),
        slice_seconds,
        natural,
        count,
        per_slice,
        timeline,
        moments,
        rounds.astype(np.int64),
    )


def entry_weights(times: Timing, slices: float) -> Floats:
    """Return the weights (T,) of the animation against the pose before it.

    Smoothly from 0 at the start to 1 after `slices`.
    """
    return _smooth(times.timeline.times / times.slice, 0.0, slices)


def exit_weights(times: Timing, slices: float) -> Floats:
    """Return the weights (T,) of the pose after the animation.

    Smoothly from 0 to 1 in the last `slices` of the move; 0 for 0 slices.
    """
    if slices <= 0:
        return np.zeros(times.timeline.num_frames)
    return _smooth(
        times.timeline.times / times.slice, times.slices - slices, times.slices
    )


def _smooth(now: Floats, start: float, end: float) -> Floats:
    if end <= start:
        return np.ones(len(now))
    fraction = np.clip((now - start) / (end - start), 0.0, 1.0)
    return np.asarray(fraction * fraction * (3.0 - 2.0 * fraction))


def blended(a: npt.ArrayLike, b: npt.ArrayLike, weight: Floats) -> Floats:
    """Return poses (T, 7) between `a` (…, 7), weight 0, and `b` (…, 7), weight 1.

    Positions linearly, orientations by SLERP.
    """
    a, b = (
        np.broadcast_to(np.asarray(pose, dtype=np.float64), (len(weight), 7))
        for pose in (a, b)
    )
    position = a[:, :3] + weight[:, None] * (b[:, :3] - a[:, :3])
    mixed = poses.from_parts(position, rotations.slerp(a[:, 3:], b[:, 3:], weight))
    return np.where(
        weight[:, None] == 1.0, b, np.where(weight[:, None] == 0.0, a, mixed)
    )


def as_number(what: str, value: object) -> float:
    """Return an argument of a caller as a float.

    Raises ValueError, with its name `what`, when it is not a number.
    """
    if isinstance(value, (Real, np.number)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return np.inf
    raise ValueError(f"{what}: expected a number, got {value!r}")


def settings(
    animation: Animation, values: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return the value of every parameter.

    That of `values`, else the animation's default, else the neutral one.

    Raises ValueError for an unknown parameter, a value that is not finite, outside the
    animation's limits or larger than `MAX_VALUE`, and a speed that is not positive.
    """
    result = dict(NEUTRAL)
    for name, parameter in animation.parameters.items():
        if name in result and parameter.default is not None:
            result[name] = float(parameter.default)
    for name, value in (values or {}).items():
        if name not in result:
            raise ValueError(
                f"there is no parameter {name!r}; {choices(name, NEUTRAL)}"
            )
        number = as_number(name, value)
        limits = animation.parameters.get(name)
        low = limits.minimum if limits is not None else None
        high = limits.maximum if limits is not None else None
        if (
            not np.isfinite(number)
            or (low is not None and number < low)
            or (high is not None and number > high)
        ):
            if low is not None and high is not None:
                between = f" between {low:g} and {high:g}"
            else:
                between = ""
            raise ValueError(f"{name}: expected a finite number{between}, got {value}")
        result[name] = number
    for name, value in result.items():
        if not np.isfinite(value):
            raise ValueError(f"{name}: expected a finite default, got {value}")
        if abs(value) > MAX_VALUE:
            raise ValueError(
                f"{name}: {value:g} is above the largest value, {MAX_VALUE:g}"
            )
    if result["speed"] <= 0:
        raise ValueError(f"speed: expected a positive number, got {result['speed']:g}")
    return result
