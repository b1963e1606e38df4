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
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha.keywords import PARAMETERS

# [beats per minute] Of a script where nothing defines them.
DEFAULT_BPM = 120.0
MIN_BPM = 0.01
# [beats per minute] Tempos outside of this range are rejected as mistakes.
MAX_BPM = 100_000.0
SECONDS_PER_MINUTE = 60.0
SLICES_PER_BEAT = 4
# Nearly three hours at 100 Hz: longer moves are rejected as mistakes.
MAX_FRAMES = 1_000_000
# Memory that a frame takes while a move is played, estimated.
BYTES_PER_FRAME = 8 * 100
# [Hz] Lower bound of the default rate; a slice is a whole number of frames.
MIN_FRAME_RATE = 100.0
# Relative difference from a whole number of slices that counts as none.
SLICE_TOLERANCE = 1e-9
# [slices] A longer move is refused by `MAX_FRAMES`; this keeps the number exact.
MAX_SLICES = 1e15

# The parameters that are added to the arm's joints, in the joints' order.
OFFSETS = tuple(
    name for name in PARAMETERS if re.fullmatch(r"[a-z]+_[01]_offset", name)
)

# The neutral value of each parameter, for animations that do not have it.
NEUTRAL: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(PARAMETERS, 0.0),
        **{name: 1.0 for name in PARAMETERS if "_multiplier" in name},
        "speed": 1.0,
        "body_tracking_stiffness": 5.0,
        "gripper_strength_fraction": 1.0,
    }
)

# Parameters for the robot's controller, or its dance frames. They change no motion
# here.
NOT_SIMULATED = (
    "body_tracking_stiffness",
    "gripper_strength_fraction",
    "arm_dance_frame_id",
)

# Larger parameters are rejected as mistakes.
MAX_VALUE = 1e6


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
        `MIN_BPM` to `MAX_BPM`, a length that the animation does not allow, and when
        the frames do not fit into memory.
    """
    for name, value in (("bpm", bpm), ("slices", slices), ("frame_rate", frame_rate)):
        if value is not None and not 0 < as_number(name, value) < np.inf:
            raise ValueError(f"{name}: expected a positive number, got {value}")
    _check_tempo("bpm", bpm)
    _check_tempo("the animation's bpm", animation.bpm)
    tempo = bpm
    if tempo is None:
        tempo = animation.bpm
    if tempo is None:
        tempo = DEFAULT_BPM
    # Without a tempo of its own, an animation is as long at any tempo.
    own_tempo = tempo if animation.bpm is None else animation.bpm
    # 60 s / 4 slices per beat / beats per minute.
    slice_seconds = SECONDS_PER_MINUTE / SLICES_PER_BEAT / tempo
    duration = animation.duration
    if not 0 <= duration < np.inf:
        raise ValueError(f"the last keyframe is at {duration:g} s")
    # The animation keeps its number of beats: its seconds are scaled by own_tempo /
    # tempo; then counted in slices of the script.
    length = duration * own_tempo / tempo / slice_seconds
    # `min` first: round() of a huge number is exact only up to 1e15.
    natural = max(round(min(length, MAX_SLICES)), 1)
    if "retime_to_integer_slices" in animation.options and duration > 0:
        # Keyframes are stretched so that they fill their slices.
        seconds_per_slice = duration / natural
    else:
        # At the script's tempo one slice shows this much of the animation's time.
        seconds_per_slice = slice_seconds * tempo / own_tempo
    num_slices = float(natural if slices is None else slices)
    _check_length(animation, num_slices, natural)
    rate = frame_rate or default_frame_rate(slice_seconds)
    timeline = _timeline(num_slices * slice_seconds, rate)
    # Phases (T,) in slices of the animation. `offset` starts inside of it, and `speed`
    # runs through it faster than the script's slices pass.
    phases = offset + speed * timeline.times / slice_seconds
    rounds = np.zeros(len(phases))
    if "no_looping" not in animation.options:
        # The last frame of a round shows its end, not the start of the next one.
        rounds = np.maximum(np.ceil(phases / natural - SLICE_TOLERANCE) - 1, 0)
    # Time within the round; a phase past the end is held by `clip` below.
    moments = (phases - natural * rounds) * seconds_per_slice
    return Timing(
        float(tempo),
        slice_seconds,
        natural,
        num_slices,
        seconds_per_slice,
        timeline,
        np.clip(moments, 0.0, duration),
        rounds.astype(np.int64),
    )


def _check_tempo(name: str, tempo: float | None) -> None:
    """Raise ValueError for a tempo that must be a mistake."""
    if tempo is not None and not MIN_BPM <= tempo <= MAX_BPM:
        raise ValueError(
            f"{name}: expected {MIN_BPM:g} to {MAX_BPM:g} beats per minute, got "
            f"{tempo:g}"
        )


def _check_length(animation: Animation, slices: float, natural: int) -> None:
    """Raise ValueError for a length [slices] that the animation does not allow."""
    needed = ""
    # Relative tolerance: a length that was computed as seconds / slice is inexact.
    if slices > natural * (1 + SLICE_TOLERANCE):
        needed = "extendable"
    elif slices < natural * (1 - SLICE_TOLERANCE):
        needed = "truncatable"
    if needed and needed not in animation.options:
        raise ValueError(
            f"{slices:g} slices requested; the animation takes {natural} and is not "
            f"`{needed}`"
        )


def _timeline(seconds: float, rate: float) -> Timeline:
    """Return the frames of a move; ValueError where they are too many."""
    num_frames = seconds * rate
    move = f"a move of {seconds:g} s at {rate:g} Hz"
    if num_frames > MAX_FRAMES:
        raise ValueError(
            f"{move} is too long: it would have more than {MAX_FRAMES:,} frames"
        )
    try:
        check_memory(int(num_frames) * BYTES_PER_FRAME, move)
    except MemoryError as error:
        raise ValueError(f"the move is too long: {error}") from None
    # 1e-6 frames: rounding must not cost the frame at the end.
    return Timeline.uniform(int(np.floor(num_frames + 1e-6)) + 1, rate)


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
    # Cubic 3f² − 2f³: slope zero at both ends, so that a blend begins and ends without
    # a jump of speed.
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
    # At weights 0 and 1 the exact poses: interpolation would change their last digits.
    return np.where(
        weight[:, None] == 1.0, b, np.where(weight[:, None] == 0.0, a, mixed)
    )


def as_number(what: str, value: object) -> float:
    """Return an argument of a caller as a float.

    Raises ValueError, with its name `what`, when it is not a number.
    """
    # bool is a Real; True beats per minute is a mistake.
    if isinstance(value, (Real, np.number)) and not isinstance(value, bool):
        try:
            return float(value)
        # An int beyond the range of float fails the caller's check for finite numbers.
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
    # Three layers, each over the one before: neutral, the animation's default, the
    # caller's.
    result = dict(NEUTRAL)
    for name, parameter in animation.parameters.items():
        if name in result and parameter.default is not None:
            result[name] = float(parameter.default)
    for name, value in (values or {}).items():
        if name not in result:
            raise ValueError(
                f"there is no parameter {name!r}; {choices(name, NEUTRAL)}"
            )
        # Only values of the caller have to be within the limits; defaults outside of
        # them are reported by the rules of the format.
        limits = animation.parameters.get(name, Parameter())
        result[name] = _within(limits, name, value)
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


def _within(limits: Parameter, name: str, value: float) -> float:
    """Return the value of a parameter; ValueError where it is outside its limits."""
    number = as_number(name, value)
    low = limits.minimum
    high = limits.maximum
    is_low = low is not None and number < low
    is_high = high is not None and number > high
    if is_low or is_high or not np.isfinite(number):
        between = ""
        if low is not None and high is not None:
            between = f" between {low:g} and {high:g}"
        raise ValueError(f"{name}: expected a finite number{between}, got {value}")
    return number
