"""Times of a table's frames as a timeline: a fixed rate where they follow one, else stamps."""

from __future__ import annotations

import numpy as np

from bodymotion.diagnostics import Location, Rule
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.timeline import ON_FRAME, Timeline

__all__ = ["check_increasing", "even_rate", "timeline_of"]


def check_increasing(times: Floats, rule: Rule, where: Location) -> None:
    """Refuse times (T,) that do not increase from row to row; the first row is in the line of `where`, lines follow each other."""
    good = np.isfinite(times)
    good[1:] &= np.diff(times) > 0
    if not good.all():
        k = int(np.argmin(good))
        line = None if where.line is None else where.line + k
        before = f"not after {float(times[k - 1])!r} s" if k else "no time"
        raise rule.error(f"frame {k} is at {float(times[k])!r} s, {before}", Location(where.path, line))


def even_rate(times: Floats) -> float | None:
    """Return the rate [Hz] of times (T,) that are evenly apart, to within ON_FRAME; None where they are not, or are fewer than two.

    Of the rates that fit, one is taken that gives the very times k / rate, then a round one.
    """
    if len(times) < 2:
        return None
    frames = np.arange(len(times))
    span = float(times[-1] - times[0])
    with np.errstate(over="ignore"):
        raw = float(np.float64(len(times) - 1) / span)
    if not 0 < raw < 1e300:
        return None
    near = [raw, np.nextafter(raw, 0), np.nextafter(raw, np.inf)]
    # A rate is as well known as the last time: times of six decimals tell of 333.333333 Hz no more than that.
    doubt = raw * ON_FRAME / span
    rounded = [round(raw, digits) for digits in range(0, 9)]
    short = [rate for rate in rounded if rate > 0 and abs(rate - raw) <= doubt]
    few_bits = 8 * np.finfo(float).eps * float(np.abs(times[[0, -1]]).max())
    for rates, within in ((short, few_bits), (near, 0.0), ([*short, raw], ON_FRAME)):
        for rate in rates:
            if np.abs(frames / rate + times[0] - times).max() <= within:
                return float(rate)
    return None


def timeline_of(times: Floats, frame_rate: float | None = None, from_zero: bool = False) -> Timeline:
    """Return the timeline of increasing times (T,) [s].

    It has a fixed rate when the first time is 0 (or is made 0 by `from_zero`) and all are k / rate, to within ON_FRAME. Else it has stamps;
    the rate that they follow, or the one given, is then the one on which they are wished.
    """
    if not len(times):
        return Timeline.uniform(0, frame_rate) if frame_rate is not None else Timeline.stamped(times)
    # The rate is that of the times as they are: what rounding is left after a subtraction says nothing of it.
    rate = even_rate(times) if frame_rate is None else frame_rate
    if from_zero:
        times = times - times[0]
    if rate is not None and np.abs(np.arange(len(times)) / rate - times).max() <= ON_FRAME:
        return Timeline.uniform(len(times), rate)
    return Timeline.stamped(times, rate)
