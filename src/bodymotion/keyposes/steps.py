"""Feet that depart and arrive: plain interpolation makes a foot graze the ground at both ends of a step.

Two ways, both for feet only (`foot_links` of a Choreonoid model) and for the segments between a key that touches and one that does not:

- *stealthy*: at first the foot only rises, by `LIFTING_HEIGHT`, at the end it only sinks; it lands no faster than
  `IMPACT_REDUCTION_HEIGHT` in `IMPACT_REDUCTION_TIME`. Its height is a track of its own.
- *toe*: the foot first rolls onto its toe, and lands on it. Its pitch is a track of its own, about the point `toe_offset` of the link.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.keyposes.tracks import Key, Track

StepStyle: TypeAlias = Literal["stealthy", "toe", "none"]

LIFTING_HEIGHT = LANDING_HEIGHT = 0.005  # [m] A foot rises and sinks by this before and after all other movement.
MIN_HEIGHT_RATIO = 2.0  # Lower steps, in these heights, stay as they are.
IMPACT_REDUCTION_HEIGHT = 0.005  # [m] Maximum height of a foot …
IMPACT_REDUCTION_TIME = 0.04  # [s] … at this time before it lands.
TOE_ANGLE = math.radians(10.0)
TOE_TIME = 0.1  # [s] Duration for which a foot is on its toe.
Z, PITCH = 2, 4


@dataclass(frozen=True)
class Foot:
    """A foot of a body: the index of its link, and the middle of its sole and its toe (3,) [m] in the link's frame."""

    link: int
    sole_center: Floats
    toe_offset: Floats


PoseAt: TypeAlias = Callable[[Floats], Floats]


def step_tracks(keys: Sequence[Key], style: StepStyle, foot: Foot | None) -> tuple[Track, PoseAt]:
    """Return the track (x y z roll pitch yaw) of a link with keys, and what returns its poses (T, 7) at times (T,).

    `foot`: the foot that the link is; other links follow their keys.
    """
    if style == "none" or foot is None:
        track = Track(keys)
        return track, lambda times: _poses(track.at(times))
    offset = foot.toe_offset if style == "toe" else np.zeros(3)
    shifts = [rotations.rotate(rotations.from_rpy(key.value[3:]), offset) for key in keys]
    keys = [replace(key, value=key.value + np.pad(shift, (0, 3))) for key, shift in zip(keys, shifts, strict=True)]
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
        before = keys[number - 1] if number else None
        if before is not None and before.is_touching != key.is_touching:
            if not rises:
                time, extra = _roll(before, key, key.time - TOE_TIME if key.is_touching else before.time + TOE_TIME)
            else:
                time, extra = _sink(before, key, own_plain) if key.is_touching else _rise(before, key)
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


def _sink(start: Key, end: Key, heights: Track) -> tuple[float | None, list[Key]]:
    length, height = end.time - start.time, start.value[Z] - end.value[Z]
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


def _roll(start: Key, end: Key, moment: float) -> tuple[float | None, list[Key]]:
    if 0.5 * (end.time - start.time) <= TOE_TIME:
        return None, []
    return moment, [Key(moment, np.array([TOE_ANGLE]), slope=0.0)]
