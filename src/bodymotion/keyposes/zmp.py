"""A zero moment point for key poses that have none: at the middle of the feet in contact, or at the only one.

For bodies with exactly two feet, both with keys. The phases follow from the keys of the feet: a foot lifts off after its last touching key
and lands at its first one. Keys of the file are kept; the new ones all stop, and lie at height 0.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.keyposes.tracks import Foot, Key

MIN_TRANSITION_TIME = 0.1  # [s] Minimum duration of a movement of the point from one position to the next.
MIN_DOUBLE_SUPPORT = 0.03  # [s] In a shorter double support, nothing is between the feet.
SHORT_STEP = 0.12
"""[s] In a shorter double support between two steps of one foot, the point goes less than half of the way."""
MAX_DISTANCE = 0.02  # [m] A point so near to the middle of a sole is over it.


def automatic_zmp(
    zmp: Sequence[Key], feet: tuple[Foot, Foot], tracks: tuple[Sequence[Key], Sequence[Key]]
) -> tuple[list[Key], tuple[list[Key], list[Key]]]:
    """Return the keys of the ZMP, and those of the two feet (x y z roll pitch yaw): a foot may wait for the point, or the reverse."""
    walk = _Walk(list(zmp), feet, (list(tracks[0]), list(tracks[1])))
    return walk.zmp, walk.feet_keys


class _Walk:
    def __init__(self, zmp: list[Key], feet: tuple[Foot, Foot], tracks: tuple[list[Key], list[Key]]) -> None:
        self.zmp, self.feet, self.tracks = zmp, feet, tracks
        self.feet_keys = (list(tracks[0]), list(tracks[1]))
        self.double_since = min(keys[0].time for keys in tracks)
        self.supporting = -1
        if not self.zmp:
            self._add(0.0, self._mean_center(0.0))
        events = []
        for foot, keys in enumerate(self.tracks):
            for number in range(1, len(keys)):
                if keys[number - 1].is_touching != keys[number].is_touching:
                    lands = keys[number].is_touching
                    time = keys[number if lands else number - 1].time
                    # Feet may change in the air: a foot then lifts off when the other has landed.
                    order = time if lands else max(time, self._next_touch(1 - foot, time))
                    events.append((order, not lands, foot, number, time))
        for order, lifts, foot, number, time in sorted(events):
            if not self._key_at(1 - foot, order).is_touching:
                continue
            if lifts:
                self._lift_off(time, foot, number, order)
                self.supporting = 1 - foot
            else:
                self._land(time, foot, number)
                self.double_since = time
        last = max(keys[-1].time for keys in self.tracks)
        if self.zmp[-1].time <= last:
            self._add(last + MIN_TRANSITION_TIME, self._mean_center(last))

    def _key_at(self, foot: int, time: float) -> Key:
        keys = self.tracks[foot]
        return keys[max(bisect_right([key.time for key in keys], time) - 1, 0)]

    def _next_touch(self, foot: int, time: float) -> float:
        if self._key_at(foot, time).is_touching:
            return time
        return next((key.time for key in self.tracks[foot] if key.time > time and key.is_touching), time)

    def _center(self, foot: int, time: float) -> Floats:
        pose = self._key_at(foot, time).value
        point = pose[:3] + rotations.rotate(rotations.from_rpy(pose[3:]), self.feet[foot].sole_center)
        return np.array([point[0], point[1], 0.0])

    def _mean_center(self, time: float) -> Floats:
        standing = [foot for foot in (0, 1) if self._key_at(foot, time).is_touching] or [0, 1]
        return np.asarray(np.mean([self._center(foot, time) for foot in standing], axis=0))

    def _add(self, time: float, point: Floats) -> None:
        insort(self.zmp, Key(time, point, stops=True), key=lambda key: key.time)

    def _lift_off(self, time: float, foot: int, number: int, order: float) -> None:
        support, start = 1 - foot, self.double_since
        length = time - start
        inside = any(start < key.time < time for key in self.zmp)
        center, other = self._center(support, self.tracks[foot][number].time), self._center(foot, time)
        if length >= MIN_DOUBLE_SUPPORT and not inside:
            again = self.supporting == support
            if length > (2 if again else 4) * MIN_TRANSITION_TIME:
                for moment in (start + MIN_TRANSITION_TIME, time - MIN_TRANSITION_TIME):
                    self._add(moment, 0.5 * (center + other))
            elif again:
                weight = 0.5 * min(length / SHORT_STEP, 1.0)
                self._add(start + 0.5 * length, (1 - weight) * center + weight * other)
        last = self.zmp[max(bisect_right([key.time for key in self.zmp], order) - 1, 0)]
        if np.hypot(*(last.value - center)[:2]) <= MAX_DISTANCE:
            return
        moment = time
        if (length < MIN_DOUBLE_SUPPORT or inside) and time - last.time < MIN_TRANSITION_TIME:
            keys = self.tracks[foot]
            moment = min(last.time + MIN_TRANSITION_TIME, 0.5 * (time + keys[number].time))
            self._insert(foot, replace(keys[number - 1], time=moment))
        self._add(moment, center)

    def _land(self, time: float, foot: int, number: int) -> None:
        center = self._center(1 - foot, time)
        at = [key for key in self.zmp if key.time == time]
        if any(np.hypot(*(key.value - center)[:2]) <= MAX_DISTANCE for key in at):
            return
        moment = time
        following = self.zmp[bisect_left([key.time for key in self.zmp], time) :]
        if following and following[0].time - time < MIN_TRANSITION_TIME:
            keys = self.tracks[foot]
            moment = max(following[0].time - MIN_TRANSITION_TIME, 0.5 * (keys[number - 1].time + time))
            self._insert(foot, replace(keys[number], time=moment))
        self._add(moment, center)

    def _insert(self, foot: int, key: Key) -> None:
        insort(self.feet_keys[foot], key, key=lambda other: other.time)
