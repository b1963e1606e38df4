"""Tracks: the keys of one joint, link or point over time, and what is between them.

Between two keys a value follows the cubic of Hermite: with u = (t − t₀)/h over a
segment of length h,

    x(u) = (2u³ − 3u² + 1)·x₀ + (u³ − 2u² + u)·h·v₀ + (−2u³ + 3u²)·x₁ + (u³ − u²)·h·v₁

The slope v at a key is 0 where the key stops, at the first and at the last, and,
component by component, where the value changes by less than `MIN_CHANGE` before or
after it, or turns back there; else the mean of the slopes of the chords before and
after. So a value never leaves the range of the two keys around it unless both chords
rise or both fall. Before the first and after the last key it is held.

Feet that depart and arrive have tracks of their own (`step_tracks`): plain
interpolation makes a foot graze the ground at both ends of a step. Two ways, both for
feet only (`foot_links` of a Choreonoid model) and for the segments between a key that
touches and one that does not:

- *stealthy*: at first the foot only rises, by `LIFTING_HEIGHT`, at the end it only
  sinks; it lands no faster than
  `IMPACT_REDUCTION_HEIGHT` in `IMPACT_REDUCTION_TIME`. Its height is a track of its
  own.
- *toe*: the foot first rolls onto its toe, and lands on it. Its pitch is a track of its
  own, about the point `toe_offset` of the link.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices

# [m or rad] A smaller change to a neighbouring key makes a value rest at a key.
MIN_CHANGE = 1e-3
# [s] Over a shorter segment a value jumps to its later key.
JUMP = 1e-6

# Of steps.
StepStyle: TypeAlias = Literal["stealthy", "toe", "none"]
# [m] A foot rises and sinks by this before and after all other movement.
LIFTING_HEIGHT = LANDING_HEIGHT = 0.005
# Lower steps, in these heights, stay as they are.
MIN_HEIGHT_RATIO = 2.0
# [m] Maximum height of a foot …
IMPACT_REDUCTION_HEIGHT = 0.005
# [s] … at this time before it lands.
IMPACT_REDUCTION_TIME = 0.04
TOE_ANGLE = math.radians(10.0)
# [s] Duration for which a foot is on its toe.
TOE_TIME = 0.1
Z = 2
PITCH = 4


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
    """Return keys with a copy of the key before wherever a transition begins later than that.

    Both stop.
    """
    made: list[Key] = []
    for key in keys:
        limit = key.max_transition_time
        if made and limit > 0 and key.time - made[-1].time > limit:
            made[-1] = replace(made[-1], stops=True)
            made.append(
                replace(made[-1], time=key.time - limit, max_transition_time=0.0)
            )
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
            change = np.diff(self.values, axis=0)
            steps = np.diff(self.times)[:, None]
            before = change[:-1]
            after = change[1:]
            moving = (
                (np.abs(before) >= MIN_CHANGE)
                & (np.abs(after) >= MIN_CHANGE)
                & (before * after > 0)
            )
            moving &= ~np.array([key.stops for key in self.keys[1:-1]])[:, None]
            moving &= (steps[:-1] >= JUMP) & (steps[1:] >= JUMP)
            chords = change / np.maximum(steps, JUMP)
            slopes[1:-1] = np.where(moving, 0.5 * (chords[:-1] + chords[1:]), 0.0)
        stated = np.array([key.slope for key in self.keys])
        return np.where(np.isnan(stated)[:, None], slopes, stated[:, None])

    def phase(self, times: Floats) -> tuple[Indices, Indices, Floats]:
        """Return the numbers (T,) of the keys around each time, and how far (T,) it is from the first to the second, 0…1."""
        start = np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)
        end = np.minimum(start + 1, len(self.keys) - 1)
        lengths = self.times[end] - self.times[start]
        u = np.clip(
            (times - self.times[start]) / np.where(lengths < JUMP, 1.0, lengths),
            0.0,
            1.0,
        )
        return start, end, np.where(lengths < JUMP, 1.0, u)

    def at(self, times: Floats) -> Floats:
        """Return the values (T, D) at times (T,) [s]."""
        start, end, u = self.phase(times)
        h = (self.times[end] - self.times[start])[:, None]
        u = u[:, None]
        first = self.values[start]
        second = self.values[end]
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
        first = self.values[start, 0]
        second = self.values[end, 0]
        chord = 6 * u * (1 - u) * (second - first) / length
        return float(
            chord
            + (3 * u**2 - 4 * u + 1) * self.slopes[start, 0]
            + (3 * u**2 - 2 * u) * self.slopes[end, 0]
        )


@dataclass(frozen=True)
class Foot:
    """A foot of a body.

    The index of its link, and the middle of its sole and its toe (3,) [m] in the link's
    frame.
    """

    link: int
    sole_center: Floats
    toe_offset: Floats


PoseAt: TypeAlias = Callable[[Floats], Floats]


def step_tracks(
    keys: Sequence[Key],
    style: StepStyle,
    foot: Foot | None,
) -> tuple[Track, PoseAt]:
    """Return the track (x y z roll pitch yaw) of a link with keys, and what returns its poses (T, 7) at times (T,).

    `foot`: the foot that the link is; other links follow their keys.
    """
    if style == "none" or foot is None:
        track = Track(keys)
        return track, lambda times: _poses(track.at(times))
    if style == "toe":
        offset = foot.toe_offset
    else:
        offset = np.zeros(3)
    shifts = [
        rotations.rotate(rotations.from_rpy(key.value[3:]), offset) for key in keys
    ]
    keys = [
        replace(key, value=key.value + np.pad(shift, (0, 3)))
        for key, shift in zip(keys, shifts, strict=True)
    ]
    track, own_track, own = _adjusted(keys, style)

    def pose_at(times: Floats) -> Floats:
        values = track.at(times)
        values[:, own] = own_track.at(times)[:, 0]
        made = _poses(values)
        made[:, :3] -= rotations.rotate(made[:, 3:], offset)
        return made

    return track, pose_at


def _poses(values: Floats) -> Floats:
    return np.concatenate((values[:, :3], rotations.from_rpy(values[:, 3:])), axis=1)


def _adjusted(keys: Sequence[Key], style: StepStyle) -> tuple[Track, Track, int]:
    """Return the track of a foot's pose, that of the component that has one of its own, and which that is."""
    rises = style == "stealthy"
    own = Z if rises else PITCH
    pose_keys: list[Key] = []
    own_keys: list[Key] = []
    own_plain = Track([replace(key, value=key.value[own : own + 1]) for key in keys])
    for number, key in enumerate(keys):
        if number:
            before = keys[number - 1]
        else:
            before = None
        if before is not None and before.is_touching != key.is_touching:
            if not rises:
                time, extra = _roll(
                    before,
                    key,
                    key.time - TOE_TIME if key.is_touching else before.time + TOE_TIME,
                )
            else:
                time, extra = (
                    _sink(before, key, own_plain)
                    if key.is_touching
                    else _rise(before, key)
                )
            if time is not None:
                pose_keys.append(replace(key if key.is_touching else before, time=time))
            own_keys += extra
        pose_keys.append(key)
        own_keys.append(own_plain.keys[number])
    return Track(pose_keys), Track(own_keys), own


def _rise(start: Key, end: Key) -> tuple[float | None, list[Key]]:
    height = end.value[Z] - start.value[Z]
    if height < MIN_HEIGHT_RATIO * LIFTING_HEIGHT:
        return None, []
    return start.time + (end.time - start.time) * LIFTING_HEIGHT / height, []


def _sink(
    start: Key,
    end: Key,
    heights: Track,
) -> tuple[float | None, list[Key]]:
    length = end.time - start.time
    height = start.value[Z] - end.value[Z]
    if height < MIN_HEIGHT_RATIO * LANDING_HEIGHT:
        return None, []
    extra = []
    if 0.5 * length > IMPACT_REDUCTION_TIME:
        moment = end.time - IMPACT_REDUCTION_TIME
        slope = -IMPACT_REDUCTION_HEIGHT / IMPACT_REDUCTION_TIME * 2.0
        if heights.slope_at(moment) < slope:
            low = np.array([end.value[Z] + IMPACT_REDUCTION_HEIGHT])
            extra = [Key(moment, low, slope=slope, is_touching=False)]
    return end.time - length * LANDING_HEIGHT / height, extra


def _roll(
    start: Key,
    end: Key,
    moment: float,
) -> tuple[float | None, list[Key]]:
    if 0.5 * (end.time - start.time) <= TOE_TIME:
        return None, []
    return moment, [Key(moment, np.array([TOE_ANGLE]), slope=0.0)]
