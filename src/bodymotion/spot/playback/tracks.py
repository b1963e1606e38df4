"""The keyframes as what they mean for the robot: body, feet, arm and gripper over time, in the animation frame.

Columns of tracks that the animation does not control are left out. A part of a group that has no column keeps what it is without: the
body's middle, nominal height and level orientation; a foot and the arm where they were before the move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.spot.playback import curves
from bodymotion.spot.playback.columns import ARM, PLACES, QUATERNIONS, ROLL_PITCH_YAW, leg_angles, leg_place
from bodymotion.spot.playback.contacts import inferred_contacts, stays_between
from bodymotion.spot.playback.legs import foot_positions
from bodymotion.spot.playback.measures import LEGS, NOMINAL_HEIGHT

if TYPE_CHECKING:
    from bodymotion.animation import Animation, Keyframes
    from bodymotion.spot.playback.standing import Standing

__all__ = ["Tracks"]

OFF_FLOOR = 0.05
"""[m] Feet whose mean height at the start is farther from 0 do not say their places in the animation frame."""


@dataclass(frozen=True)
class Tracks:
    """What the keyframes of an animation control, to be asked for any times of its own.

    `before` is the pose before the move, `frame` (7,) the animation frame in the world.
    """

    animation: Animation
    before: Standing
    frame: Floats

    @property
    def _keys(self) -> Keyframes:
        return self.animation.keyframes

    def controls(self, track: str) -> bool:
        """Whether the animation moves the track."""
        return track in self.animation.controls

    def _there(self, *names: str) -> bool:
        return any(self._keys.has(name) for name in names)

    def _columns(self, names: tuple[str, ...], rest: npt.ArrayLike, at: Floats, *, angles: bool = False) -> Floats:
        """Return values (T, K) of columns at times `at`; `rest` (K,) for those that are not there."""
        values = np.tile(np.asarray(rest, dtype=np.float64), (len(self._keys), 1))
        for k, name in enumerate(names):
            if self._keys.has(name):
                values[:, k] = self._keys.column(name)
        times = self._keys.times
        return curves.numbers(curves.without_wraps(values, times) if angles else values, times, at)

    def _turn(self, part: str, rest: Floats, at: Floats) -> Floats:
        """Return orientations (T, 4) of the body or the hand."""
        names = QUATERNIONS[part]
        if self._there(*names):
            values = np.zeros((len(self._keys), 4))
            for k, name in enumerate(names):
                if self._keys.has(name):
                    values[:, k] = self._keys.column(name)
            return curves.turns(values, self._keys.times, at)
        names = ROLL_PITCH_YAW[part]
        if self._there(*names):
            return rotations.from_rpy(self._columns(names, np.zeros(3), at, angles=True))
        return np.tile(rest, (len(at), 1))

    @property
    def has_body(self) -> bool:
        """Whether it controls the body, and has a column for it."""
        names = (*PLACES["body"], *PLACES["com"], *QUATERNIONS["body"], *ROLL_PITCH_YAW["body"])
        return self.controls("body") and self._there(*names)

    @property
    def by_center_of_mass(self) -> bool:
        """Whether the body's place is given by the centre of mass."""
        return self.has_body and self._there(*PLACES["com"]) and not self._there(*PLACES["body"])

    def body_place(self, at: Floats, height: float = NOMINAL_HEIGHT) -> Floats:
        """Return the place (T, 3) of the body's origin, or of the centre of mass; `height` where there is no column for it."""
        return self._columns(PLACES["com" if self.by_center_of_mass else "body"], [0.0, 0.0, height], at)

    def body_turn(self, at: Floats) -> Floats:
        """Return the body's orientation (T, 4); by yaw alone with the option `assume_zero_roll_and_pitch`."""
        turn = self._turn("body", rotations.IDENTITY, at)
        if "assume_zero_roll_and_pitch" in self.animation.options:
            return rotations.from_rpy(rotations.to_rpy(turn) * [0.0, 0.0, 1.0])
        return turn

    def body_angles(self, at: Floats) -> Floats | None:
        """Return the body's roll, pitch and yaw (T, 3), whole turns and all, if it is they that are given."""
        names = ROLL_PITCH_YAW["body"]
        if self._there(*QUATERNIONS["body"]) or not self._there(*names):
            return None
        angles = self._columns(names, np.zeros(3), at, angles=True)
        return angles * [0.0, 0.0, 1.0] if "assume_zero_roll_and_pitch" in self.animation.options else angles

    @property
    def legs_by_joints(self) -> npt.NDArray[np.bool_]:
        """Which legs (4,) are given by their joints."""
        return np.array([self.controls("legs") and self._there(*leg_angles(leg)) for leg in LEGS])

    @property
    def legs_by_feet(self) -> npt.NDArray[np.bool_]:
        """Which legs (4,) are given by where their feet are."""
        there = [self.controls("legs") and self._there(*leg_place(leg)) for leg in LEGS]
        return np.array(there) & ~self.legs_by_joints

    @property
    def has_legs(self) -> bool:
        """Whether it moves a leg."""
        return bool((self.legs_by_joints | self.legs_by_feet).any())

    def leg_joints(self, at: Floats) -> Floats:
        """Return the joints (T, 4, 3) of legs that are given by them; of no meaning for the others."""
        joints = [self._columns(leg_angles(leg), self.before.legs[k], at) for k, leg in enumerate(LEGS)]
        return np.stack(joints, axis=1)

    def feet(self, at: Floats, body: Floats) -> Floats:
        """Return where the feet's centres are (T, 4, 3), the body being at `body` (T, 7); without columns they stay where they were."""
        rest = poses.transform_points(poses.inverse(self.frame), self.before.feet)
        places = [self._columns(leg_place(leg), rest[k], at) for k, leg in enumerate(LEGS)]
        feet = np.stack(places, axis=1)
        feet[:, ~self.legs_by_feet] = rest[~self.legs_by_feet]
        by_joints = self.legs_by_joints
        if by_joints.any():
            moved = poses.transform_points(body[:, None], foot_positions(self.leg_joints(at)))
            feet[:, by_joints] = moved[:, by_joints]
        return feet

    def contacts(self, at: Floats) -> npt.NDArray[np.bool_]:
        """Return which feet (T, 4) are in stance: by their columns, else inferred."""
        result = np.ones((len(at), 4), dtype=bool)
        if not self.has_legs:
            return result
        known = np.array([self._keys.has(f"{leg}_contact") for leg in LEGS])
        moves = self.legs_by_joints | self.legs_by_feet
        if not known.all():
            before, after = curves.either_side(self._keys.times, at)
            stays = self._stays[np.minimum(before, len(self._stays) - 1)] if len(self._stays) else True
            inferred = self.inferred[before] & self.inferred[after] & ((before == after)[:, None] | stays)
            result[:, moves] = inferred[:, moves]
        for leg in np.flatnonzero(known):
            result[:, leg] = curves.both(self._keys.column(f"{LEGS[leg]}_contact") > 0.5, self._keys.times, at)
        return result

    @cached_property
    def inferred(self) -> npt.NDArray[np.bool_]:
        """Which feet (N, 4) are in stance at keyframes, as far as the legs say it."""
        return inferred_contacts(self._keys.times, self._feet_at_keys(), free=not self._feet_have_a_place())

    @cached_property
    def _stays(self) -> npt.NDArray[np.bool_]:
        """Which feet (N - 1, 4) may be in stance from one keyframe to the next."""
        return stays_between(self._keys.times, self._feet_at_keys(), free=not self._feet_have_a_place())

    def _feet_have_a_place(self) -> bool:
        return self.has_body or bool(self.legs_by_feet.any())

    def _feet_at_keys(self) -> Floats:
        times = self._keys.times
        body = np.tile([0.0, 0.0, NOMINAL_HEIGHT, 1.0, 0.0, 0.0, 0.0], (len(times), 1))
        if self.has_body:
            body = poses.from_parts(self.body_place(times), self.body_turn(times))
        return self.feet(times, body)

    def lift(self) -> float:
        """Return by how much [m] all is to be raised so that the feet stand on the floor at the start; 0 where they do, but for `OFF_FLOOR`.

        Places in recordings may be measured from where the body was, not from the feet: those would play half a metre below the floor.
        """
        start = np.zeros(1)
        if not self.has_legs or (self.by_center_of_mass and not self.legs_by_feet.all()):
            return 0.0
        if not self.has_body and not self.legs_by_feet.all():
            return 0.0
        body = np.array([[0.0, 0.0, NOMINAL_HEIGHT, 1.0, 0.0, 0.0, 0.0]])
        if self.has_body and not self.by_center_of_mass:
            body = poses.from_parts(self.body_place(start), self.body_turn(start))
        height = float(self.feet(start, body)[0, :, 2].mean())
        return -height if abs(height) > OFF_FLOOR else 0.0

    def rest_of_legs(self, at: Floats) -> Floats:
        """Return where the body is (T, 7) when only the legs are given: level, and carried by the feet.

        With legs given by their feet it is at nominal height over the feet's centre. With joints alone it goes as the feet that are in
        stance push it; that is added up over the animation's time, a hundred times a second.
        """
        level = np.array([0.0, 0.0, NOMINAL_HEIGHT, 1.0, 0.0, 0.0, 0.0])
        if self.legs_by_feet.any() or not self.legs_by_joints.any():
            body = np.tile(level, (len(at), 1))
            body[:, :2] = self.feet(at, body)[:, self.legs_by_feet | ~self.legs_by_joints, :2].mean(axis=1)
            return body
        times = self._keys.times
        count = int(min(np.ceil(times[-1] * 100), 1e6)) + 1
        grid = np.unique(np.concatenate([times, np.linspace(0.0, times[-1], count), np.zeros(1)]))
        feet = foot_positions(self.leg_joints(grid))
        stance = self.contacts(grid).astype(np.float64)
        some = np.maximum(stance.sum(axis=1), 1.0)
        height = -(feet[:, :, 2] * stance).sum(axis=1) / some
        airborne = stance.sum(axis=1) == 0
        height[airborne] = np.interp(grid[airborne], grid[~airborne], height[~airborne]) if (~airborne).any() else 0.48
        both = stance[1:] * stance[:-1]
        push = -(np.diff(feet[:, :, :2], axis=0) * both[..., None]).sum(axis=1)
        push /= np.maximum(both.sum(axis=1), 1.0)[:, None]
        start = -feet[0, :, :2].mean(axis=0)
        places = np.concatenate([start[None], start + np.cumsum(push, axis=0)])
        table = np.column_stack([places, height])
        body = np.tile(level, (len(at), 1))
        for k in range(3):
            body[:, k] = np.interp(at, grid, table[:, k])
        return body

    @property
    def arm_columns(self) -> npt.NDArray[np.bool_]:
        """Which joints of the arm (6,) have a column."""
        return np.array([self.controls("arm") and self._keys.has(name) for name in ARM])

    @property
    def has_hand(self) -> bool:
        """Whether the arm is given by the hand's pose."""
        there = self._there(*PLACES["hand"], *QUATERNIONS["hand"], *ROLL_PITCH_YAW["hand"])
        return self.controls("arm") and there and not bool(self.arm_columns.any())

    def arm_joints(self, at: Floats) -> Floats:
        """Return the arm's joints (T, 6); those without a column as they were."""
        joints = self._columns(ARM, self.before.arm, at)
        return np.where(self.arm_columns, joints, self.before.arm)

    def hand(self, at: Floats, rest: Floats) -> Floats:
        """Return the hand's pose (T, 7); what has no column as in `rest` (7,)."""
        return poses.from_parts(self._columns(PLACES["hand"], rest[:3], at), self._turn("hand", rest[3:], at))

    def gripper(self, at: Floats) -> Floats | None:
        """Return the gripper's angle (T,), if it is controlled."""
        if not (self.controls("gripper") and self._keys.has("gripper")):
            return None
        return self._columns(("gripper",), [self.before.gripper], at)[:, 0]
