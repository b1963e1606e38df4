"""The tracks of an animation over time.

Body, feet, arm and gripper in the animation frame, interpolated between keyframes.

Columns of tracks that the animation does not control are ignored. What has no column
keeps its default: the body its nominal height and level orientation above the origin; a
foot and the arm their positions before the move.

How the robot interpolates between keyframes is not published; this is our choice.
Numbers follow cubics that never leave the range of the two keyframes around them
(PCHIP: Fritsch and Butland, 1984). Orientations follow R₀·exp(θ(t)), θ a cubic, with
angular velocities at the keyframes that are chosen in the same way from the rotations
before and after: a rotation about a fixed axis is the PCHIP curve of its angle. Angles,
of joints or of an orientation, are numbers: from 0 to 2π is a full turn.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, frozen
from bodymotion.motion.feet import LEGS
from bodymotion.motion.interpolation.sampling import sampled, unwrapped
from bodymotion.spot.animation import GROUPS, Animation, Keyframes
from bodymotion.spot.playback.dimensions import NOMINAL_HEIGHT
from bodymotion.spot.playback.legs import foot_positions
from bodymotion.spot.playback.stance import (
    MAX_CONTACT_SPEED,
    SpotPose,
    inferred_contacts,
)

ARM = GROUPS["arm_joints"]
# The pose (7,) of the body over the feet's centre in a nominal stand.
NOMINAL_POSE: Floats = frozen([0.0, 0.0, NOMINAL_HEIGHT, 1.0, 0.0, 0.0, 0.0])
# [rad/s] A faster change by about a full turn is no rotation. The angle was recorded
# modulo 2π.
WRAP_SPEED = 30.0
# [m] Feet that start farther from 0 are not in the animation frame. By their mean
# height.
MAX_FLOOR_OFFSET = 0.05


def _without_wraps(angles: Floats, times: Floats) -> Floats:
    """Return angles (N, C) [rad] of keyframes without jumps by a full turn.

    Those that are faster than `WRAP_SPEED`.
    """
    # (N − 1, C) multiples of 2π by which unwrapping would shift each step.
    shifts = np.diff(unwrapped(angles) - angles, axis=0)
    if not shifts.any():
        return angles
    # A slow step of more than half a turn is meant: angles may exceed a full turn.
    slow = np.abs(np.diff(angles, axis=0)) <= WRAP_SPEED * np.diff(times)[:, None]
    shifts[slow] = 0.0
    # Shifts accumulate: all keyframes after a wrap are shifted.
    return np.concatenate([angles[:1], angles[1:] + np.cumsum(shifts, axis=0)])


def _interpolated_orientations(
    quaternions: npt.ArrayLike, times: Floats, at: Floats
) -> Floats:
    """Return unit quaternions (T, 4) between keyframes.

    At times `at` (T,) [s], of keyframes (N, 4) at `times` (N,) [s].

    Rotations take the shorter way.
    """
    from bodymotion.kernels import interpolation

    q = rotations.normalized(quaternions)
    if len(q) == 1:
        return np.tile(q, (len(at), 1))
    gaps = np.diff(times)
    # A rotation vector is the same in the frame of its first and of its last
    # orientation. PCHIP's slope in a row depends only on the steps beside it (at the
    # ends: the next two), so the cumulative sum of the rotations can serve as the table
    # of values.
    turned = np.cumsum(interpolation.rotation_vectors(q[:-1], q[1:]), axis=0)
    rates = interpolation.pchip_slopes(np.concatenate([np.zeros((1, 3)), turned]), gaps)
    # (T,) the keyframe before each time, and how far [0, 1] it is to the next one.
    before = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    fraction = np.clip((at - times[before]) / gaps[before], 0.0, 1.0)
    # The kernel fills poses: position (3), then quaternion (4).
    out = np.zeros((len(at), 1, 7))
    interpolation.rotation_curve(
        q[:, None], rates[:, None], gaps, before.astype(np.int64), fraction, out
    )
    # Rounding in the exponential leaves a length slightly off 1.
    return rotations.normalized(out[:, 0, 3:])


@dataclass(frozen=True)
class Tracks:
    """What the keyframes of an animation control, at any times of its own.

    `before` is the pose before the move, `frame` (7,) the animation frame in the world.
    Times `at` (T,) are the animation's own [s].
    """

    animation: Animation
    before: SpotPose
    frame: Floats

    @property
    def _keys(self) -> Keyframes:
        return self.animation.keyframes

    def _has_any(self, *names: str) -> bool:
        return any(self._keys.has(name) for name in names)

    def _table(self, names: tuple[str, ...], rest: npt.ArrayLike) -> Floats:
        """Return values (N, K) of columns at the keyframes.

        `rest` (K,) for columns that the animation does not have.
        """
        # Columns that are missing are constant at `rest`.
        values = np.tile(np.asarray(rest, dtype=np.float64), (len(self._keys), 1))
        for k, name in enumerate(names):
            if self._keys.has(name):
                values[:, k] = self._keys.column(name)
        return values

    def _columns(
        self,
        names: tuple[str, ...],
        rest: npt.ArrayLike,
        at: Floats,
        *,
        angles: bool = False,
    ) -> Floats:
        """Return values (T, K) of columns at times `at`.

        `rest` as for `_table`.
        """
        values = self._table(names, rest)
        times = self._keys.times
        return sampled(
            _without_wraps(values, times) if angles else values, times, at, "pchip"
        )

    def _orientation(self, part: str, rest: Floats, at: Floats) -> Floats:
        """Return orientations (T, 4) of the body or the hand."""
        # Quaternions come first: a file may not have both (they exclude each other).
        names = GROUPS[f"{part}_quat_wxyz"]
        if self._has_any(*names):
            return _interpolated_orientations(
                self._table(names, np.zeros(4)), self._keys.times, at
            )
        # Angles are interpolated as numbers, which keeps full turns.
        names = GROUPS[f"{part}_euler_rpy"]
        if self._has_any(*names):
            return rotations.from_rpy(
                self._columns(names, np.zeros(3), at, angles=True)
            )
        return np.tile(rest, (len(at), 1))

    @property
    def has_body(self) -> bool:
        """Whether the animation controls the body and has a column for it."""
        names = (
            *GROUPS["body_pos"],
            *GROUPS["com_pos"],
            *GROUPS["body_quat_wxyz"],
            *GROUPS["body_euler_rpy"],
        )
        return "body" in self.animation.controls and self._has_any(*names)

    @property
    def by_center_of_mass(self) -> bool:
        """Whether the body's position is defined by the centre of mass."""
        # `body_pos` wins when a message or a caller gives both.
        return (
            self.has_body
            and self._has_any(*GROUPS["com_pos"])
            and not self._has_any(*GROUPS["body_pos"])
        )

    def body_position(self, at: Floats, height: float = NOMINAL_HEIGHT) -> Floats:
        """Return the position (T, 3) of the body's origin, or of the centre of mass.

        `height` where there is no column for it.
        """
        return self._columns(
            GROUPS["com_pos" if self.by_center_of_mass else "body_pos"],
            [0.0, 0.0, height],
            at,
        )

    def body_orientation(self, at: Floats) -> Floats:
        """Return the body's orientation (T, 4).

        Yaw alone with the option `assume_zero_roll_and_pitch`.
        """
        orientation = self._orientation("body", rotations.IDENTITY, at)
        if "assume_zero_roll_and_pitch" in self.animation.options:
            return rotations.from_rpy(rotations.to_rpy(orientation) * [0.0, 0.0, 1.0])
        return orientation

    def body_poses(self, at: Floats) -> Floats:
        """Return the body's poses (T, 7), without a look at legs or the centre of mass.

        Nominal where it is not controlled.
        """
        if not self.has_body:
            return np.tile(NOMINAL_POSE, (len(at), 1))
        return poses.from_parts(self.body_position(at), self.body_orientation(at))

    def body_angles(self, at: Floats) -> Floats | None:
        """Return the body's roll, pitch and yaw (T, 3), if columns define them.

        Full turns included.

        Else None.
        """
        # Only columns of angles know about full turns.
        names = GROUPS["body_euler_rpy"]
        if self._has_any(*GROUPS["body_quat_wxyz"]) or not self._has_any(*names):
            return None
        angles = self._columns(names, np.zeros(3), at, angles=True)
        if "assume_zero_roll_and_pitch" in self.animation.options:
            return angles * [0.0, 0.0, 1.0]
        return angles

    @property
    def legs_by_joints(self) -> Bools:
        """Which legs (4,) are defined by their joints."""
        return np.array(
            [
                "legs" in self.animation.controls
                and self._has_any(*GROUPS[f"{leg}_angles"])
                for leg in LEGS
            ]
        )

    @property
    def legs_by_feet(self) -> Bools:
        """Which legs (4,) are defined by the positions of their feet."""
        controlled = [
            "legs" in self.animation.controls and self._has_any(*GROUPS[f"{leg}_pos"])
            for leg in LEGS
        ]
        # Joints win over positions of feet.
        return np.array(controlled) & ~self.legs_by_joints

    @property
    def has_legs(self) -> bool:
        """Whether the animation moves a leg."""
        return bool((self.legs_by_joints | self.legs_by_feet).any())

    def leg_joints(self, at: Floats) -> Floats:
        """Return the joints (T, 4, 3) of legs that are defined by joints.

        Undefined for the others.
        """
        joints = [
            self._columns(GROUPS[f"{leg}_angles"], self.before.legs[k], at)
            for k, leg in enumerate(LEGS)
        ]
        return np.stack(joints, axis=1)

    def feet(self, at: Floats, body: Floats) -> Floats:
        """Return the feet's centres (T, 4, 3) for body poses `body` (T, 7).

        Feet without columns stay where they were.
        """
        # The feet before the move, in the animation frame.
        rest = poses.transform_points(poses.inverse(self.frame), self.before.feet)
        positions = [
            self._columns(GROUPS[f"{leg}_pos"], rest[k], at)
            for k, leg in enumerate(LEGS)
        ]
        feet = np.stack(positions, axis=1)
        # Feet without columns: a constant, rather than a curve of constants.
        feet[:, ~self.legs_by_feet] = rest[~self.legs_by_feet]
        by_joints = self.legs_by_joints
        # Feet of legs with joints move with the body.
        if by_joints.any():
            moved = poses.transform_points(
                body[:, None], foot_positions(self.leg_joints(at))
            )
            feet[:, by_joints] = moved[:, by_joints]
        return feet

    def contacts(self, at: Floats) -> Bools:
        """Return which feet (T, 4) are in contact: by their columns, else inferred."""
        result = np.ones((len(at), 4), dtype=bool)
        # All feet are in contact where the animation does not move the legs.
        if not self.has_legs:
            return result
        known = np.array([self._keys.has(f"{leg}_contact") for leg in LEGS])
        moves = self.legs_by_joints | self.legs_by_feet
        # The keyframes before and after each time: the same one twice at a keyframe,
        # and outside of all.
        times = self._keys.times
        last = len(self._keys) - 1
        # 1e-9 s: rounding of a time must not put it behind its keyframe.
        after = np.minimum(np.searchsorted(times, at - 1e-9, side="left"), last)
        before = np.clip(np.searchsorted(times, at + 1e-9, side="right") - 1, 0, after)
        # Inferred contacts hold at both keyframes around, and the foot must be slow
        # between.
        if not known.all():
            stays = (
                self._stays[np.minimum(before, len(self._stays) - 1)]
                if len(self._stays)
                else True
            )
            inferred = (
                self.inferred[before]
                & self.inferred[after]
                & ((before == after)[:, None] | stays)
            )
            result[:, moves] = inferred[:, moves]
        # Columns of contacts overrule what is inferred.
        for leg in np.flatnonzero(known):
            touching = self._keys.column(f"{LEGS[leg]}_contact") > 0.5
            result[:, leg] = touching[before] & touching[after]
        return result

    @cached_property
    def inferred(self) -> Bools:
        """Which feet (N, 4) are in contact at keyframes, inferred from the legs."""
        feet, relative = self._feet_at_keys
        return inferred_contacts(self._keys.times, feet, relative=relative)

    @cached_property
    def _stays(self) -> Bools:
        """Which feet (N − 1, 4) are slow enough to be in contact.

        Between one keyframe and the next.
        """
        feet, relative = self._feet_at_keys
        steps = np.linalg.norm(np.diff(feet, axis=0), axis=-1)
        # Positions relative to the body say nothing about speeds over the floor.
        return np.asarray(
            relative | (steps <= MAX_CONTACT_SPEED * np.diff(self._keys.times)[:, None])
        )

    @cached_property
    def _feet_at_keys(self) -> tuple[Floats, bool]:
        """The feet (N, 4, 3) at keyframes.

        And whether they are only known relative to the body.
        """
        times = self._keys.times
        return self.feet(times, self.body_poses(times)), not (
            self.has_body or self.legs_by_feet.any()
        )

    def floor_correction(self) -> float:
        """Return the height [m] to add so that the feet are on the floor at the start.

        0 where they are, within `MAX_FLOOR_OFFSET`.

        Positions in recordings may be relative to the body, not to the feet: those
        would play half a metre below the floor.
        """
        # Only the start counts: later the feet may leave the floor.
        start = np.zeros(1)
        # Centre of mass with joints: the height of the body follows from the legs, so
        # that it cannot be compared with the floor.
        if not self.has_legs or (
            self.by_center_of_mass and not self.legs_by_feet.all()
        ):
            return 0.0
        # Neither body nor all feet have positions to be corrected.
        if not self.has_body and not self.legs_by_feet.all():
            return 0.0
        if self.by_center_of_mass:
            body = NOMINAL_POSE[None]
        else:
            body = self.body_poses(start)
        height = float(self.feet(start, body)[0, :, 2].mean())
        # Exactly on the origin's height, not to the tolerance.
        if abs(height) > MAX_FLOOR_OFFSET:
            return -height
        return 0.0

    def body_on_legs(self, at: Floats) -> Floats:
        """Return the poses of the body (T, 7) when only the legs are defined.

        Level, and carried by the feet.

        With feet positions it is at nominal height over the feet's centre. With joints
        alone it moves so that feet in contact do not slip; this motion is integrated
        over the animation's time at 100 Hz.
        """
        # Feet by position: the body is above their centre. Feet of legs with joints do
        # not count, because they move with the body.
        if self.legs_by_feet.any() or not self.legs_by_joints.any():
            body = np.tile(NOMINAL_POSE, (len(at), 1))
            body[:, :2] = self.feet(at, body)[
                :, self.legs_by_feet | ~self.legs_by_joints, :2
            ].mean(axis=1)
            return body
        # A fixed grid makes the integral independent of the frame rate. Keyframes are
        # on it, where contacts change; 1e6 points bound the memory.
        times = self._keys.times
        count = int(min(np.ceil(times[-1] * 100), 1e6)) + 1
        grid = np.unique(
            np.concatenate([times, np.linspace(0.0, times[-1], count), np.zeros(1)])
        )
        # (G, 4, 3) feet in the body's frame, which is level and at the origin.
        feet = foot_positions(self.leg_joints(grid))
        contact = self.contacts(grid).astype(np.float64)
        # Height: the mean of the feet in contact is on the floor. `some` avoids a
        # division by 0 in the air.
        some = np.maximum(contact.sum(axis=1), 1.0)
        height = -(feet[:, :, 2] * contact).sum(axis=1) / some
        # In the air the height is interpolated between landings.
        airborne = contact.sum(axis=1) == 0
        height[airborne] = (
            np.interp(grid[airborne], grid[~airborne], height[~airborne])
            if (~airborne).any()
            else 0.48
        )
        # A foot that is in contact at both ends of a step does not slip: the body moves
        # by the opposite of the foot's motion relative to it.
        both = contact[1:] * contact[:-1]
        push = -(np.diff(feet[:, :, :2], axis=0) * both[..., None]).sum(axis=1)
        push /= np.maximum(both.sum(axis=1), 1.0)[:, None]
        # At the start the centre of the feet is the origin.
        start = -feet[0, :, :2].mean(axis=0)
        positions = np.concatenate([start[None], start + np.cumsum(push, axis=0)])
        body = np.tile(NOMINAL_POSE, (len(at), 1))
        # Rows x, y and height; the orientation stays level.
        for k, values in enumerate((*positions.T, height)):
            body[:, k] = np.interp(at, grid, values)
        return body

    @property
    def arm_columns(self) -> Bools:
        """Which joints of the arm (6,) have a column."""
        return np.array(
            ["arm" in self.animation.controls and self._keys.has(name) for name in ARM]
        )

    @property
    def has_hand(self) -> bool:
        """Whether the arm is defined by the hand's pose."""
        has_column = self._has_any(
            *GROUPS["hand_pos"], *GROUPS["hand_quat_wxyz"], *GROUPS["hand_euler_rpy"]
        )
        # Joints win over the hand's pose: CHA rules report a file with both.
        return (
            "arm" in self.animation.controls
            and has_column
            and not bool(self.arm_columns.any())
        )

    def arm_joints(self, at: Floats) -> Floats:
        """Return the joints of the arm (T, 6).

        Those without a column keep their values from before the move.
        """
        joints = self._columns(ARM, self.before.arm, at)
        return np.where(self.arm_columns, joints, self.before.arm)

    def hand(self, at: Floats, rest: Floats) -> Floats:
        """Return the hand's pose (T, 7).

        From `rest` (7,) where there is no column.
        """
        return poses.from_parts(
            self._columns(GROUPS["hand_pos"], rest[:3], at),
            self._orientation("hand", rest[3:], at),
        )

    def gripper(self, at: Floats) -> Floats | None:
        """Return the gripper's angle (T,) [rad], or None where it is not controlled."""
        if not ("gripper" in self.animation.controls and self._keys.has("gripper")):
            return None
        return self._columns(("gripper",), [self.before.gripper], at)[:, 0]
