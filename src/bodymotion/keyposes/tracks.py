"""Tracks: the keys of one joint, link or point over time, and what is between them.

Between two keys a value follows the cubic of Hermite: with u = (t − t₀)/h over a segment of length h,

    x(u) = (2u³ − 3u² + 1)·x₀ + (u³ − 2u² + u)·h·v₀ + (−2u³ + 3u²)·x₁ + (u³ − u²)·h·v₁

The slope v at a key is 0 where the key stops, at the first and at the last, and, component by component, where the value changes by
less than `MIN_CHANGE` before or after it, or turns back there; else the mean of the slopes of the chords before and after. So a value never
leaves the range of the two keys around it unless both chords rise or both fall. Before the first and after the last key it is held.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

MIN_CHANGE = 1e-3  # [m or rad] A smaller change to a neighbouring key makes a value rest at a key.
JUMP = 1e-6  # [s] Over a shorter segment a value jumps to its later key.


@dataclass(frozen=True)
class Key:
    """A value (D,) at a time.

    Attributes
    ----------
    stops:
        The value comes to rest here.
    max_transition_time:
        [s] 0: no limit.
    is_base, is_touching, is_slave:
        As in `LinkKey`.
    slope:
        (D,) Given slopes; nan: by the rule.
    """

    time: float
    value: Floats
    stops: bool = False
    max_transition_time: float = 0.0
    is_base: bool = False
    is_touching: bool = False
    is_slave: bool = False
    slope: float = np.nan


def with_transitions(keys: Iterable[Key]) -> list[Key]:
    """Return keys with a copy of the key before wherever a transition begins later than that: both stop."""
    made: list[Key] = []
    for key in keys:
        limit = key.max_transition_time
        if made and limit > 0 and key.time - made[-1].time > limit:
            made[-1] = replace(made[-1], stops=True)
            made.append(replace(made[-1], time=key.time - limit, max_transition_time=0.0))
        made.append(key)
    return made


class Track:
    """Keys, ready to be interpolated.

    Attributes
    ----------
    keys:
        In order of time.
    times, values, slopes:
        (N,) [s]; (N, D); (N, D) per second.
    """

    def __init__(self, keys: Sequence[Key], *, linear: bool = False) -> None:
        self.keys = tuple(keys)
        self.linear = linear
        self.times = np.array([key.time for key in keys])
        self.values = np.array([key.value for key in keys]).reshape(len(keys), -1)
        self.slopes = self._slopes()

    def _slopes(self) -> Floats:
        slopes = np.zeros_like(self.values)
        if len(self.keys) > 2:
            change, steps = np.diff(self.values, axis=0), np.diff(self.times)[:, None]
            before, after = change[:-1], change[1:]
            moving = (np.abs(before) >= MIN_CHANGE) & (np.abs(after) >= MIN_CHANGE) & (before * after > 0)
            moving &= ~np.array([key.stops for key in self.keys[1:-1]])[:, None]
            moving &= (steps[:-1] >= JUMP) & (steps[1:] >= JUMP)
            chords = change / np.maximum(steps, JUMP)
            slopes[1:-1] = np.where(moving, 0.5 * (chords[:-1] + chords[1:]), 0.0)
        stated = np.array([key.slope for key in self.keys])
        return np.where(np.isnan(stated)[:, None], slopes, stated[:, None])

    def phase(self, times: Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]:
        """Return the numbers (T,) of the keys around each time, and how far (T,) it is from the first to the second, 0…1."""
        start = np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)
        end = np.minimum(start + 1, len(self.keys) - 1)
        lengths = self.times[end] - self.times[start]
        u = np.clip((times - self.times[start]) / np.where(lengths < JUMP, 1.0, lengths), 0.0, 1.0)
        return start, end, np.where(lengths < JUMP, 1.0, u)

    def at(self, times: Floats) -> Floats:
        """Return the values (T, D) at times (T,) [s]."""
        start, end, u = self.phase(times)
        h = (self.times[end] - self.times[start])[:, None]
        u = u[:, None]
        first, second = self.values[start], self.values[end]
        if self.linear:
            return np.asarray(first + u * (second - first))
        return np.asarray(
            (2 * u**3 - 3 * u**2 + 1) * first
            + (u**3 - 2 * u**2 + u) * h * self.slopes[start]
            + (3 * u**2 - 2 * u**3) * second
            + (u**3 - u**2) * h * self.slopes[end]
        )

    def slope_at(self, time: float) -> float:
        """Return the slope [1/s] of the first component at a time [s]."""
        start, end, u = (part[0] for part in self.phase(np.array([time])))
        length = self.times[end] - self.times[start]
        if length < JUMP:
            return 0.0
        first, second = self.values[start, 0], self.values[end, 0]
        chord = 6 * u * (1 - u) * (second - first) / length
        return float(chord + (3 * u**2 - 4 * u + 1) * self.slopes[start, 0] + (3 * u**2 - 2 * u) * self.slopes[end, 0])
