"""Tracks: the keys of one joint, link or point over time, and what is between them.

Between two keys a value follows the cubic of Hermite: with u = (t − t₀)/h over a
segment of length h,

    x(u) = (2u³ − 3u² + 1)·x₀ + (u³ − 2u² + u)·h·v₀ + (−2u³ + 3u²)·x₁ + (u³ − u²)·h·v₁

The slope v at a key is 0 where the key stops, at the first and at the last, and,
component by component, where the value changes by less than `MIN_CHANGE` before or
after it, or turns back there; else the mean of the slopes of the chords before and
after. So a value never leaves the range of the two keys around it unless both chords
rise or both fall. Before the first and after the last key it is held.

Feet that depart and arrive have tracks of their own (`make_link_track`): plain
interpolation makes a foot graze the ground at both ends of a step. There are two
styles, both for feet only (`foot_links` of a Choreonoid model) and for the segments
between a key that touches and one that does not:

- *stealthy*: at first the foot only rises, by `LIFTING_HEIGHT`, at the end it only
  sinks; it lands no faster than `IMPACT_REDUCTION_HEIGHT` in `IMPACT_REDUCTION_TIME`.
  Its height is a track of its own.
- *toe*: the foot first rolls onto its toe, and lands on it. Its pitch is a track of its
  own, about the point `toe_offset` of the link.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices

# [m or rad] A smaller change to a neighbouring key makes a value rest at a key.
MIN_CHANGE = 1e-3
# [s] Over a shorter segment a value jumps to its later key.
JUMP = 1e-6

# How feet depart and arrive.
StepStyle: TypeAlias = Literal["stealthy", "toe", "none"]
# [m] A foot rises and sinks by this before and after all other movement.
LIFTING_HEIGHT = 0.005
LANDING_HEIGHT = 0.005
# Lower steps, in these heights, stay as they are.
MIN_HEIGHT_RATIO = 2.0
# [m] Maximum height of a foot …
IMPACT_REDUCTION_HEIGHT = 0.005
# [s] … at this time before it lands.
IMPACT_REDUCTION_TIME = 0.04
# [rad] Pitch of a foot on its toe.
TOE_ANGLE = math.radians(10.0)
# [s] Duration for which a foot is on its toe.
TOE_TIME = 0.1
# Components of x y z roll pitch yaw.
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


def add_transitions(keys: Iterable[Key]) -> list[Key]:
    """Return keys with a copy of the one before where a transition begins later.

    Both stop.
    """
    result: list[Key] = []
    for key in keys:
        limit = key.max_transition_time
        if result and limit > 0 and key.time - result[-1].time > limit:
            result[-1] = replace(result[-1], stops=True)
            begin = key.time - limit
            result.append(replace(result[-1], time=begin, max_transition_time=0.0))
        result.append(key)
    return result


class Phase(NamedTuple):
    """The numbers (T,) of the keys around each time, and how far (T,) it is, 0…1."""

    first: Indices
    second: Indices
    share: Floats


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
        """Return the slopes (N, D) at the keys."""
        slopes = np.zeros_like(self.values)
        if len(self.keys) > 2:
            change = np.diff(self.values, axis=0)
            steps = np.diff(self.times)[:, None]
            chords = change / np.maximum(steps, JUMP)
            mean = 0.5 * (chords[:-1] + chords[1:])
            is_long = steps >= JUMP
            is_change = np.abs(change) >= MIN_CHANGE
            passes = is_change[:-1] & is_change[1:] & is_long[:-1] & is_long[1:]
            passes &= change[:-1] * change[1:] > 0
            passes &= ~np.array([key.stops for key in self.keys[1:-1]])[:, None]
            slopes[1:-1] = np.where(passes, mean, 0.0)
        given = np.array([key.slope for key in self.keys])[:, None]
        return np.where(np.isnan(given), slopes, given)

    def phase(self, times: Floats) -> Phase:
        """Return between which keys times (T,) [s] are, and how far."""
        first = np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)
        second = np.minimum(first + 1, len(self.keys) - 1)
        lengths = self.times[second] - self.times[first]
        is_jump = lengths < JUMP
        share = (times - self.times[first]) / np.where(is_jump, 1.0, lengths)
        return Phase(first, second, np.where(is_jump, 1.0, np.clip(share, 0.0, 1.0)))

    def at(self, times: Floats) -> Floats:
        """Return the values (T, D) at times (T,) [s]."""
        first, second, share = self.phase(times)
        u = share[:, None]
        x0 = self.values[first]
        x1 = self.values[second]
        if self.linear:
            return np.asarray(x0 + u * (x1 - x0))
        h = (self.times[second] - self.times[first])[:, None]
        return np.asarray(
            (2 * u**3 - 3 * u**2 + 1) * x0
            + (u**3 - 2 * u**2 + u) * h * self.slopes[first]
            + (3 * u**2 - 2 * u**3) * x1
            + (u**3 - u**2) * h * self.slopes[second]
        )

    def slope_at(self, time: float) -> float:
        """Return the slope [1/s] of the first component at a time [s]."""
        phase = self.phase(np.array([time]))
        first = phase.first[0]
        second = phase.second[0]
        u = phase.share[0]
        h = self.times[second] - self.times[first]
        if h < JUMP:
            return 0.0
        # The derivative of the cubic of Hermite by t = t₀ + u·h.
        chord = 6 * u * (1 - u) * (self.values[second, 0] - self.values[first, 0]) / h
        return float(
            chord
            + (3 * u**2 - 4 * u + 1) * self.slopes[first, 0]
            + (3 * u**2 - 2 * u) * self.slopes[second, 0]
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


class LinkTrack(NamedTuple):
    """The track (x y z roll pitch yaw) of a link with keys.

    `pose_at` returns its poses (T, 7) at times (T,) [s]. With the style "toe" the track
    is that of the toe: it gives the times and flags of keys, not the poses.
    """

    track: Track
    pose_at: PoseAt


def make_link_track(
    keys: Sequence[Key],
    style: StepStyle,
    foot: Foot | None,
) -> LinkTrack:
    """Return the track of a link with keys, or of the foot that it is.

    Links that are no feet follow their keys, and so do feet with the style "none".
    """
    if style == "none" or foot is None:
        track = Track(keys)
        return LinkTrack(track, lambda times: _poses(track.at(times)))
    offset = np.zeros(3)
    if style == "toe":
        offset = foot.toe_offset
    keys_of_toe = []
    for key in keys:
        shift = rotations.rotate(rotations.from_rpy(key.value[3:]), offset)
        value = key.value + np.pad(shift, (0, 3))
        keys_of_toe.append(replace(key, value=value))
    pose_track, component_track, component = _adjust_steps(keys_of_toe, style)

    def pose_at(times: Floats) -> Floats:
        values = pose_track.at(times)
        values[:, component] = component_track.at(times)[:, 0]
        foot_poses = _poses(values)
        foot_poses[:, :3] -= rotations.rotate(foot_poses[:, 3:], offset)
        return foot_poses

    return LinkTrack(pose_track, pose_at)


def _poses(values: Floats) -> Floats:
    """Return the poses (T, 7) of x y z roll pitch yaw (T, 6)."""
    return np.concatenate((values[:, :3], rotations.from_rpy(values[:, 3:])), axis=1)


class _StepTracks(NamedTuple):
    """The track of a foot's pose, and that of one component, whose number it is."""

    pose: Track
    component_track: Track
    component: int


class _Step(NamedTuple):
    """How a foot departs or arrives.

    At `time` [s] its pose is as on the ground, but for the component with keys of its
    own; None where it is not. `keys` are further ones of that component.
    """

    time: float | None
    keys: list[Key]


def _adjust_steps(keys: Sequence[Key], style: StepStyle) -> _StepTracks:
    """Return the tracks of a foot that departs and arrives in a style."""
    component = Z if style == "stealthy" else PITCH
    plain_keys = []
    for key in keys:
        plain_keys.append(replace(key, value=key.value[component : component + 1]))
    plain = Track(plain_keys)
    pose_keys: list[Key] = [keys[0]]
    component_keys: list[Key] = [plain_keys[0]]
    for number, (before, key) in enumerate(pairwise(keys), 1):
        if before.is_touching != key.is_touching:
            if style == "stealthy":
                step = _step_stealthily(before, key, plain)
            else:
                step = _step_over_toe(before, key)
            if step.time is not None:
                on_ground = key if key.is_touching else before
                pose_keys.append(replace(on_ground, time=step.time))
            component_keys += step.keys
        pose_keys.append(key)
        component_keys.append(plain_keys[number])
    return _StepTracks(Track(pose_keys), Track(component_keys), component)


def _step_stealthily(
    start: Key,
    end: Key,
    heights: Track,
) -> _Step:
    """Return how a foot only rises at first, or only sinks at the end.

    `heights` is the track of its height.
    """
    duration = end.time - start.time
    if not end.is_touching:
        rise = end.value[Z] - start.value[Z]
        if rise < MIN_HEIGHT_RATIO * LIFTING_HEIGHT:
            return _Step(None, [])
        return _Step(start.time + duration * LIFTING_HEIGHT / rise, [])
    fall = start.value[Z] - end.value[Z]
    if fall < MIN_HEIGHT_RATIO * LANDING_HEIGHT:
        return _Step(None, [])
    keys = []
    if 0.5 * duration > IMPACT_REDUCTION_TIME:
        time = end.time - IMPACT_REDUCTION_TIME
        # At this time twice as fast as on the mean after it: it slows down evenly.
        slope = -IMPACT_REDUCTION_HEIGHT / IMPACT_REDUCTION_TIME * 2.0
        if heights.slope_at(time) < slope:
            height = np.array([end.value[Z] + IMPACT_REDUCTION_HEIGHT])
            keys = [Key(time, height, slope=slope, is_touching=False)]
    return _Step(end.time - duration * LANDING_HEIGHT / fall, keys)


def _step_over_toe(start: Key, end: Key) -> _Step:
    """Return how a foot rolls onto its toe, or lands on it."""
    if 0.5 * (end.time - start.time) <= TOE_TIME:
        return _Step(None, [])
    time = start.time + TOE_TIME
    if end.is_touching:
        time = end.time - TOE_TIME
    return _Step(time, [Key(time, np.array([TOE_ANGLE]), slope=0.0)])
