"""The methods that interpolate, at any times: `sampler` fits once, and gives a function to ask piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats
from bodymotion.interpolation.methods import HOLDING, Method, check_increasing, check_method

__all__ = ["Sampler", "are_poses", "sampled", "sampler"]

Sampler: TypeAlias = Callable[[Floats], Floats]
Between: TypeAlias = tuple[npt.NDArray[np.int64], Floats]


def are_poses(values: Floats) -> bool:
    """Whether values are poses (T, L, 7): three axes, the last one of 7 numbers."""
    return values.ndim == 3 and values.shape[-1] == 7


def sampled(values: Floats, times: Floats, at: npt.ArrayLike, method: Method = "linear") -> Floats:
    """Give values (N, …) at the times `at` (N,) [s] of values (T, …) with times (T,) [s]; before the first and after the last they hold.

    Values (T, L, 7) are poses, x y z and the quaternion w x y z; orientations that are interpolated have unit length.

    Raises
    ------
    ValueError
        When there are no frames, when times do not increase, or for a method that holds: that needs a frame rate (`resampled`).
    """
    return sampler(values, times, method)(np.asarray(at, dtype=np.float64))


def sampler(values: Floats, times: Floats, method: Method) -> Sampler:
    """Give the function that `sampled` asks: times (N,) [s] in, values (N, …) out."""
    check_method(method)
    if method in HOLDING:
        raise ValueError(
            f"{method!r} holds values from frame to frame of a rate; at free times there are linear, cubic, pchip"
        )
    if not len(values):
        raise ValueError("there are no frames")
    check_increasing(times)
    table = values.reshape(len(values), -1)
    gaps = np.diff(times)
    if not are_poses(values):
        inner = _number_sampler(table, gaps, method)
        return lambda at: inner(_between(times, at)).reshape(len(at), *values.shape[1:])
    return _pose_sampler(values, times, gaps, method)


def _between(times: Floats, at: Floats) -> Between:
    """Give for each time the frame before it and the fraction of the way to the next; 0 where it is that frame's time but for rounding."""
    ulps = 4 * np.spacing(np.maximum(np.abs(at), np.abs(times[0])))
    before = np.clip(np.searchsorted(times, at + ulps, side="right") - 1, 0, len(times) - 1)
    elapsed = at - times[before]
    gap = times[np.minimum(before + 1, len(times) - 1)] - times[before]
    inside = (elapsed > ulps) & (gap > 0)
    return before.astype(np.int64), np.where(inside, elapsed / np.where(gap > 0, gap, 1.0), 0.0)


def _number_sampler(table: Floats, gaps: Floats, method: Method) -> Callable[[Between], Floats]:
    from bodymotion.kernels import interpolation, slopes

    if method == "linear" or len(gaps) == 0:
        return lambda between: interpolation.lines(table, *between)
    usable, missing = _bridged(table)
    steep = slopes.spline_slopes(usable, gaps) if method == "cubic" else slopes.pchip_slopes(usable, gaps)

    def ask(between: Between) -> Floats:
        found = interpolation.hermite(usable, steep, gaps, *between)
        if missing is not None:
            before, fraction = between
            after = np.minimum(before + 1, len(table) - 1)
            lines = interpolation.lines(table, *between)
            found = np.where(missing[before] | (missing[after] & (fraction > 0)[:, None]), lines, found)
        return found

    return ask


def _bridged(table: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
    """Put straight lines where numbers are not finite, so that they spoil their own surroundings only; and say where that was."""
    finite = np.isfinite(table)
    if finite.all():
        return table, None
    usable = np.where(finite, table, 0.0)
    frames = np.arange(len(table))
    for column in np.flatnonzero(~finite.all(axis=0)):
        known = finite[:, column]
        if known.any():
            usable[:, column] = np.interp(frames, frames[known], table[known, column])
    return usable, ~finite


def _pose_sampler(values: Floats, times: Floats, gaps: Floats, method: Method) -> Sampler:
    from bodymotion.kernels import interpolation, rotation_spline

    shape = values.shape[1:]
    if method == "linear" or len(gaps) == 0:
        table = values.reshape(len(values), -1)

        def ask_lines(at: Floats) -> Floats:
            between = _between(times, at)
            found = interpolation.lines(table, *between).reshape(len(at), *shape)
            interpolation.slerp(values, *between, found)
            return found

        return ask_lines

    places = _number_sampler(values[..., :3].reshape(len(values), -1), gaps, method)
    rates = None
    if method == "cubic":
        units = interpolation.unit_quaternions(values[..., 3:])
        rates = rotation_spline.angular_velocities(units, gaps)

    def ask(at: Floats) -> Floats:
        before, fraction = between = _between(times, at)
        found = np.empty((len(at), *shape))
        found[..., :3] = places(between).reshape(len(at), -1, 3)
        if rates is None:
            interpolation.slerp(values, *between, found)
        else:
            rotation_spline.curve(units, rates, gaps, *between, found)
            exact = fraction == 0
            found[exact, :, 3:] = values[before[exact], :, 3:]
        return found

    return ask
