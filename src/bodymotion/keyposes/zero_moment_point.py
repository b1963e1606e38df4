"""A zero moment point for key poses that have none (`add_zmp_keys`).

It is at the middle of the feet in contact, or at the only one. It is for bodies with
exactly two feet, both with keys. The phases follow from the keys of the feet: a foot
lifts off after its last touching key and lands at its first one. Keys of the file are
kept; the new ones all stop, and lie at height 0.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.keyposes.tracks import Foot, Key

# [s] Minimum duration of a movement of the point from one position to the next.
MIN_TRANSITION_TIME = 0.1
# [s] In a shorter double support, nothing is between the feet.
MIN_DOUBLE_SUPPORT = 0.03
# [s] In a shorter double support between two steps of one foot, the point goes less
# than half of the way.
SHORT_STEP = 0.12
# [m] A point so near to the middle of a sole is over it.
MAX_DISTANCE = 0.02


class ZmpKeys(NamedTuple):
    """Keys of the zero moment point, and of the two feet (x y z roll pitch yaw)."""

    zmp: list[Key]
    feet: tuple[list[Key], list[Key]]


def add_zmp_keys(
    zmp: Sequence[Key],
    feet: tuple[Foot, Foot],
    tracks: tuple[Sequence[Key], Sequence[Key]],
) -> ZmpKeys:
    """Return the keys of the zero moment point, with new ones, and those of the feet.

    A foot may wait for the point, or the reverse. `tracks` are the keys of the feet.
    """
    walk = _Walk(list(zmp), feet, (list(tracks[0]), list(tracks[1])))
    walk.add_keys()
    return ZmpKeys(walk.zmp, walk.feet_keys)


class _ContactChange(NamedTuple):
    """A foot that lifts off or lands, between the keys `number` − 1 and `number`.

    At `time` [s] the contact changes; changes are handled in the order of `order` [s],
    landings first.
    """

    order: float
    lifts: bool
    foot: int
    number: int
    time: float


class _Walk:
    """The zero moment point of a walk.

    `zmp` are its keys and `feet_keys` those of the feet, which get more; `tracks` are
    those of the feet before. Both feet are in contact since `double_since` [s].
    """

    def __init__(
        self,
        zmp: list[Key],
        feet: tuple[Foot, Foot],
        tracks: tuple[list[Key], list[Key]],
    ) -> None:
        self.zmp = zmp
        self.feet = feet
        self.tracks = tracks
        self.feet_keys = (list(tracks[0]), list(tracks[1]))
        self.double_since = min(keys[0].time for keys in tracks)
        # The foot that the last step was made on.
        self.supporting = -1

    def add_keys(self) -> None:
        """Add keys from the first frame to the last."""
        if not self.zmp:
            self._add(0.0, self._mean_center(0.0))
        for change in sorted(self._find_contact_changes()):
            other = 1 - change.foot
            if not self._key_at(other, change.order).is_touching:
                continue
            if change.lifts:
                self._lift_off(change)
                self.supporting = other
            else:
                self._land(change)
                self.double_since = change.time
        last = max(keys[-1].time for keys in self.tracks)
        if self.zmp[-1].time <= last:
            self._add(last + MIN_TRANSITION_TIME, self._mean_center(last))

    def _find_contact_changes(self) -> list[_ContactChange]:
        """Return when feet lift off and land."""
        changes = []
        for foot, keys in enumerate(self.tracks):
            for number in range(1, len(keys)):
                before = keys[number - 1]
                after = keys[number]
                if before.is_touching == after.is_touching:
                    continue
                time = before.time
                order = max(time, self._next_touch(1 - foot, time))
                if after.is_touching:
                    time = after.time
                    order = time
                # Feet may change in the air: a foot then lifts off when the other has
                # landed.
                lifts = not after.is_touching
                changes.append(_ContactChange(order, lifts, foot, number, time))
        return changes

    def _key_at(self, foot: int, time: float) -> Key:
        """Return the last key of a foot up to a time [s]."""
        return _last_key(self.tracks[foot], time)

    def _next_touch(self, foot: int, time: float) -> float:
        """Return when [s] a foot is in contact at a time [s] or next."""
        if self._key_at(foot, time).is_touching:
            return time
        for key in self.tracks[foot]:
            if key.time > time and key.is_touching:
                return key.time
        return time

    def _center(self, foot: int, time: float) -> Floats:
        """Return the middle (3,) [m] of a sole on the ground at a time [s]."""
        pose = self._key_at(foot, time).value
        rotation = rotations.from_rpy(pose[3:])
        point = pose[:3] + rotations.rotate(rotation, self.feet[foot].sole_center)
        return np.array([point[0], point[1], 0.0])

    def _mean_center(self, time: float) -> Floats:
        """Return the middle (3,) [m] of the feet in contact, else of both."""
        feet = [foot for foot in (0, 1) if self._key_at(foot, time).is_touching]
        centers = [self._center(foot, time) for foot in feet or (0, 1)]
        return np.asarray(np.mean(centers, axis=0))

    def _add(self, time: float, point: Floats) -> None:
        """Add a key of the zero moment point."""
        insort(self.zmp, Key(time, point, stops=True), key=lambda key: key.time)

    def _lift_off(self, change: _ContactChange) -> None:
        """Bring the point over the other foot before a foot lifts off."""
        keys = self.tracks[change.foot]
        center = self._center(1 - change.foot, keys[change.number].time)
        duration = change.time - self.double_since
        has_keys = any(self.double_since < key.time < change.time for key in self.zmp)
        is_direct = duration < MIN_DOUBLE_SUPPORT or has_keys
        if not is_direct:
            self._stop_between_feet(change, center)
        last = _last_key(self.zmp, change.order)
        if _is_over(last, center):
            return
        time = change.time
        if is_direct and time - last.time < MIN_TRANSITION_TIME:
            # The foot waits for the point, up to half of the time to its next key.
            latest = 0.5 * (time + keys[change.number].time)
            time = min(last.time + MIN_TRANSITION_TIME, latest)
            self._insert(change.foot, replace(keys[change.number - 1], time=time))
        self._add(time, center)

    def _stop_between_feet(self, change: _ContactChange, center: Floats) -> None:
        """Let the point stop between both feet before one lifts off.

        `center` (3,) [m] is that of the other one.
        """
        duration = change.time - self.double_since
        other = self._center(change.foot, change.time)
        is_same_foot = self.supporting == 1 - change.foot
        # There and back, on one foot, or on towards the other foot, and each with a
        # rest as long as a transition.
        num_transitions = 2 if is_same_foot else 4
        if duration > num_transitions * MIN_TRANSITION_TIME:
            middle = 0.5 * (center + other)
            self._add(self.double_since + MIN_TRANSITION_TIME, middle)
            self._add(change.time - MIN_TRANSITION_TIME, middle)
        elif is_same_foot:
            weight = 0.5 * min(duration / SHORT_STEP, 1.0)
            point = (1 - weight) * center + weight * other
            self._add(self.double_since + 0.5 * duration, point)

    def _land(self, change: _ContactChange) -> None:
        """Keep the point over the other foot until a foot lands."""
        keys = self.tracks[change.foot]
        center = self._center(1 - change.foot, change.time)
        time = change.time
        if any(key.time == time and _is_over(key, center) for key in self.zmp):
            return
        following = self.zmp[bisect_left([key.time for key in self.zmp], time) :]
        if following and following[0].time - time < MIN_TRANSITION_TIME:
            # The foot lands earlier, down to half of the time to its last key.
            earliest = 0.5 * (keys[change.number - 1].time + time)
            time = max(following[0].time - MIN_TRANSITION_TIME, earliest)
            self._insert(change.foot, replace(keys[change.number], time=time))
        self._add(time, center)

    def _insert(self, foot: int, key: Key) -> None:
        """Insert a key of a foot."""
        insort(self.feet_keys[foot], key, key=lambda other: other.time)


def _last_key(keys: Sequence[Key], time: float) -> Key:
    """Return the last of some keys up to a time [s], else the first."""
    return keys[max(bisect_right([key.time for key in keys], time) - 1, 0)]


def _is_over(key: Key, center: Floats) -> bool:
    """Return whether a key of the point is over the middle (3,) [m] of a sole."""
    return bool(np.hypot(*(key.value - center)[:2]) <= MAX_DISTANCE)
