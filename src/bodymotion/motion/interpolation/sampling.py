"""The methods between frames.

Their names, when a held value takes effect, and values at any times by those that
interpolate.

`sampler` fits once and returns a function that is called block by block.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, ShortRepr
from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.motion.components import ON_FRAME, Timeline
from bodymotion.motion.rules import WRAPPED

Method: TypeAlias = Literal["after", "nearest", "before", "linear", "cubic", "pchip"]

HOLDING = (
    "after",
    "nearest",
    "before",
)  # The methods that hold a value until the next one.

MAX_FRAME = 2.0**53  # Above this number, consecutive frame numbers are the same double.
FULL_TURN = 2 * np.pi
# [rad] A jump this close to full turns counts as a wrap. A joint may have moved that
# much between two frames.
MAX_STEP = 1.0


def check_method(method: Method) -> None:
    """Raise ValueError, listing those that exist, when there is no such method."""
    if method not in get_args(Method):
        raise ValueError(
            f"no method {method!r}; expected one of {', '.join(get_args(Method))}"
        )


def check_rate(frame_rate: float) -> None:
    """Raise ValueError when a frame rate is not a positive, finite number."""
    if not 0 < frame_rate < np.inf:
        raise ValueError(
            f"frame rate: expected a positive, finite number of Hz, got {frame_rate}"
        )


def check_increasing(times: Floats) -> None:
    """Raise ValueError for times (T,) that do not increase strictly.

    Or that are not finite; the message names the first fault. The document requires
    both.
    """
    finite = np.isfinite(times)
    if not finite.all():
        frame = int(np.argmin(finite))
        raise ValueError(f"frame {frame} has no finite time stamp but {times[frame]}")
    rising = np.diff(times) > 0
    if not rising.all():
        frame = int(np.argmin(rising)) + 1
        message = (
            f"time stamps must increase; frame {frame} is at {times[frame]:g} s and "
            f"the one before it at {times[frame - 1]:g} s"
        )
        raise ValueError(message)


def taking_effect(times: Floats, frame_rate: float, method: Method) -> Floats:
    """Return the destination frame at which source frames take effect.

    Source frames are at times [s].

    Methods that interpolate count as `before`.
    """
    check_method(method)
    exact = times * frame_rate
    # A time within `ON_FRAME` of a frame is at that frame: time stamps are rounded.
    whole = np.rint(exact)
    # At most a tenth of a frame, so that rates above 100 kHz are not governed by a
    # tolerance in seconds.
    on_frame = np.abs(exact - whole) <= np.clip(ON_FRAME * frame_rate, ON_FRAME, 0.1)
    if method == "after":
        off_frame = np.ceil(exact)
    # Halves go up, so that frames in between never take effect early and late by turns.
    elif method == "nearest":
        off_frame = np.floor(exact + 0.5)
    else:
        off_frame = np.floor(exact)
    return np.where(on_frame, whole, off_frame)


def frames_needed(
    timeline: Timeline, frame_rate: float, method: Method, start: float = 0.0
) -> int:
    """Return the number of frames needed at `frame_rate` [Hz].

    They run from time `start` [s] up to the frame at which the last source frame takes
    effect.

    Raises ValueError when `start` is not finite, or after the last frame; when that has
    no finite time, or there would be more frames than can be counted.
    """
    if not np.isfinite(start):
        raise ValueError(
            f"the time of frame 0: expected a finite number of seconds, got {start}"
        )
    if timeline.num_frames == 0:
        return 0
    # One frame is enough to be checked: only the last time is used.
    last = timeline.times[-1:]
    check_increasing(last)
    with np.errstate(over="ignore", invalid="ignore"):
        frame = taking_effect(last - start, frame_rate, method)[0]
    if start > last[0] + ON_FRAME:
        raise ValueError(
            f"there is no frame at or after {start:g} s: the last one is at "
            f"{last[0]:g} s"
        )
    # `not <` also refuses NaN.
    if not frame < MAX_FRAME:
        raise ValueError(
            f"from {start:g} s to the last frame at {last[0]:g} s there are more "
            f"frames at {frame_rate:g} Hz than can be counted; "
            "remove the time before the first frame: start=… of Motion.resample(), or "
            "`retime --start first`"
        )
    # There is at least frame 0.
    return int(max(frame, 0)) + 1


def held_frames(
    timeline: Timeline,
    frame_rate: float,
    num_frames: int,
    method: Method,
    start: float = 0.0,
) -> Indices:
    """Return the source frame (num_frames,) in force at each destination frame.

    Destination frames 0, 1, 2, … are at `frame_rate` [Hz], frame 0 at `start` [s].
    """
    if timeline.num_frames == 0:
        raise ValueError("the timeline has no frames")
    effect = taking_effect(timeline.times - start, frame_rate, method)
    # The last source frame that has taken effect; before the first one, the first.
    index = np.searchsorted(effect, np.arange(num_frames), side="right") - 1
    return np.clip(index, 0, timeline.num_frames - 1)


Sampler: TypeAlias = Callable[[Floats, Floats], None]
Between: TypeAlias = tuple[Indices, Floats]


def are_poses(values: Floats) -> bool:
    """Return whether values are poses (T, L, 7).

    Three axes, the last one of 7 numbers.
    """
    return values.ndim == 3 and values.shape[-1] == 7


def sampled(
    values: Floats, times: Floats, at: npt.ArrayLike, method: Method = "linear"
) -> Floats:
    """Return values (N, …) at the times `at` (N,) [s].

    Of values (T, …) with times (T,) [s].

    Before the first and after the last they hold.

    Values (T, L, 7) are poses, x y z and the quaternion w x y z; orientations that are
    interpolated have unit length.

    Raises ValueError when there are no frames, when times do not increase, or for a
    method that holds values: it needs a frame rate (`resampled`).
    """
    at = np.asarray(at, dtype=np.float64)
    out = np.empty((len(at), *values.shape[1:]))
    sampler(values, times, method)(at, out)
    return out


def sampler(values: Floats, times: Floats, method: Method) -> Sampler:
    """Return the function `sample(at, out)` that fills in values.

    `out` (N, …) gets the values at times `at` (N,) [s].

    All else is as `sampled`.
    """
    check_method(method)
    if method in HOLDING:
        raise ValueError(
            f"{method!r} holds values from frame to frame of a rate; at arbitrary "
            "times use linear, cubic or pchip"
        )
    if not len(values):
        raise ValueError("there are no frames to interpolate")
    check_increasing(times)
    # Times between frames, for slopes.
    gaps = np.diff(times)
    if are_poses(values):
        return _pose_sampler(values, times, gaps, method)
    # Numbers of all shapes are rows (T, P).
    inner = _number_sampler(values.reshape(len(values), -1), gaps, method)
    return lambda at, out: inner(_between(times, at), out.reshape(len(at), -1))


def _between(times: Floats, at: Floats) -> Between:
    """Return for each time the frame before it and the fraction to the next.

    The fraction is 0 at that frame's time but for rounding.
    """
    # Some units in the last place, by which computed times miss stamps.
    ulps = 4 * np.spacing(np.maximum(np.abs(at), np.abs(times[0])))
    before = np.clip(
        np.searchsorted(times, at + ulps, side="right") - 1, 0, len(times) - 1
    )
    elapsed = at - times[before]
    # The last frame has no gap after it.
    gap = times[np.minimum(before + 1, len(times) - 1)] - times[before]
    inside = (elapsed > ulps) & (gap > 0)
    return before.astype(np.int64), np.where(
        inside, elapsed / np.where(gap > 0, gap, 1.0), 0.0
    )


def _number_sampler(
    table: Floats, gaps: Floats, method: Method
) -> Callable[[Between, Floats], None]:
    """Return the function that fills in rows of numbers (T, P) between frames."""
    from bodymotion.kernels import interpolation

    # Without a gap there are no slopes.
    if method == "linear" or len(gaps) == 0:
        return lambda between, out: interpolation.lines(table, *between, out)
    # Slopes reach over neighbours: NaN would spread over all frames.
    usable, missing = bridged(table)
    if method == "cubic":
        steep = interpolation.spline_slopes(usable, gaps)
    else:
        steep = interpolation.pchip_slopes(usable, gaps)

    def fill(between: Between, out: Floats) -> None:
        interpolation.hermite(usable, steep, gaps, *between, out)
        # Between numbers one of which is missing, lines give NaN, as they do without
        # slopes.
        if missing is not None:
            before, fraction = between
            after = np.minimum(before + 1, len(table) - 1)
            affected = missing[before] | (missing[after] & (fraction > 0)[:, None])
            lines = np.empty_like(out)
            interpolation.lines(table, *between, lines)
            out[affected] = lines[affected]

    return fill


def bridged(values: Floats) -> tuple[Floats, Bools | None]:
    """Return values (T, …) with straight lines over gaps, and where they were.

    Gaps are numbers that are not finite.

    None where all are finite.
    """
    finite = np.isfinite(values)
    if finite.all():
        return values, None
    usable = np.where(finite, values, 0.0)
    table = usable.reshape(len(values), -1)
    known = finite.reshape(len(values), -1)
    frames = np.arange(len(values))
    # Lines go by frame number, and hold beyond the known ends.
    for column in np.flatnonzero(~known.all(axis=0)):
        there = known[:, column]
        # A column without any number stays 0.
        if there.any():
            table[:, column] = np.interp(frames, frames[there], table[there, column])
    return usable, ~finite


def _pose_sampler(
    values: Floats, times: Floats, gaps: Floats, method: Method
) -> Sampler:
    """Return the function that fills in poses (T, L, 7) at given times."""
    from bodymotion.kernels import interpolation

    if method == "linear" or len(gaps) == 0:
        return lambda at, out: interpolation.slerp(values, *_between(times, at), out)

    # Positions by the same curves as numbers, orientations by their own.
    fill_positions = _number_sampler(
        values[..., :3].reshape(len(values), -1), gaps, method
    )
    # pchip has no orientations of its own: they are interpolated by SLERP.
    rates = None
    if method == "cubic":
        units = interpolation.unit_quaternions(values[..., 3:])
        rates = interpolation.angular_velocities(units, gaps)

    def sample(at: Floats, out: Floats) -> None:
        before, fraction = between = _between(times, at)
        if rates is None:
            interpolation.slerp(values, *between, out)
        else:
            interpolation.rotation_curve(units, rates, gaps, *between, out)
            # At a frame's own time the recorded quaternion stays, with its sign and
            # length.
            exact = fraction == 0
            out[exact, :, 3:] = values[before[exact], :, 3:]
        positions = np.empty((len(at), 3 * values.shape[1]))
        fill_positions(between, positions)
        out[..., :3] = positions.reshape(len(at), -1, 3)

    return sample


@dataclass(frozen=True)
class Wrap(ShortRepr):
    """A jump of an angle by full turns from one frame to the next.

    By `turns` full turns (signed) of column `part`, from the frame before `frame` to
    it.
    """

    frame: int
    part: int
    turns: int


def _jumps(values: Floats) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(values, axis=0)
        turns = np.rint(steps / FULL_TURN)
        # Near a whole number of turns, but not 0; huge values are no angles.
        wraps = (
            (turns != 0)
            & (np.abs(steps - turns * FULL_TURN) <= MAX_STEP)
            & (np.abs(turns) < 1e6)
        )
    return np.asarray(np.where(wraps, turns, 0.0))


def find_wraps(values: Floats) -> tuple[Wrap, ...]:
    """Return the jumps of angles (T, P) [rad] by full turns.

    Within 1 rad, from one frame to the next, in order of frames.
    """
    jumps = _jumps(np.asarray(values, dtype=np.float64))
    return tuple(
        Wrap(int(t) + 1, int(p), int(jumps[t, p])) for t, p in np.argwhere(jumps)
    )


def unwrapped(values: Floats) -> Floats:
    """Return angles (T, P) [rad] without those jumps.

    Each column continues where it was, beyond ±π if necessary.
    """
    values = np.asarray(values, dtype=np.float64)
    jumps = _jumps(values)
    if not jumps.any():
        return values
    out = np.array(values)
    # All frames after a jump are moved back by it.
    out[1:] -= FULL_TURN * np.cumsum(jumps, axis=0)
    return out


def wrap_problem(
    wraps: tuple[Wrap, ...], content: str, where: str = ""
) -> Problem | None:
    """Return one problem for all wraps of a component.

    It counts them and names the first (`where`: its frame by default).

    None without wraps.
    """
    if not wraps:
        return None
    first = wraps[0]
    if abs(first.turns) == 1:
        turns = "a full turn"
    else:
        turns = f"{abs(first.turns)} full turns"
    message = (
        f"{content} jumps by {turns} in column {first.part} "
        f"{where or f'at frame {first.frame}'}"
    )
    data = {"frame": first.frame, "part": first.part, "turns": first.turns}
    return replace(
        WRAPPED.problem(message, Location(inside=content), data=data), count=len(wraps)
    )
