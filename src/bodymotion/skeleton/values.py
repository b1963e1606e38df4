"""A skeleton with its recorded motion, as it is in a file.

And the poses of its joints, by forward kinematics.

Angles are degrees and lengths are in the file's unit and axes, as read. Results are in
metres, with z up, unless `as_read` is set.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Problem, Source, WrongUseError
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import (
    ContentEquality,
    Floats,
    Indices,
    check_memory,
    frozen,
)
from bodymotion.kernels.kinematics import Tree, link_poses
from bodymotion.skeleton.limbs import find_goals, find_legs, find_limb_pairs
from bodymotion.system.deferred import provided_by

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

# The names of channels.
CHANNELS = (
    "Xposition",
    "Yposition",
    "Zposition",
    "Xrotation",
    "Yrotation",
    "Zrotation",
)
# [s].
MIN_FRAME_TIME = 1e-9
# The channels of `euler_values`.
EULER_CHANNELS = ("Zrotation", "Yrotation", "Xrotation")
# The rotation matrix that makes an axis the z axis.
UP_AXES: dict[str, Floats] = {
    "X": np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "Y": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
    "Z": np.eye(3),
    "-X": np.array([[0.0, 1, 0], [0, 0, -1], [-1, 0, 0]]),
    "-Y": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "-Z": np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]]),
}
# Names of joints of feet.
FEET = re.compile(r"foot|toe|ankle|paw", re.IGNORECASE)
# [m] Millimetre, centimetre, inch, the unit of the CMU recordings, foot, metre.
UNITS = (0.001, 0.01, 0.0254, 0.0254 / 0.45, 0.3048, 1.0)
# [m] From the hips along the leg to the toes or the ankle, of an adult.
LEG_LENGTH = 0.95
# The length of a leg over LEG_LENGTH is at most so far from 1.
MAX_RATIO = 2.0
# [°] Between the mean direction from feet to hips and the up axis.
MAX_TILT = 30.0
# The axes that are up in nearly all files.
COMMON_UP = ("Y", "Z")
# A person stands with the hips so many lengths of a leg above the feet, at least.
MIN_HIP_HEIGHT = 0.8
# Frames that are looked at.
MAX_SAMPLES = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class SkeletonJoint(ContentEquality):
    """A joint.

    Attributes
    ----------
    name, parent:
        The index of the parent is lower than that of the joint; -1 for a root.
    offset:
        (3,) Position in the parent's frame where no channel replaces it; NaN where it
        is unknown: see `Skeleton.lengths_are_known`.
    channels:
        Names of CHANNELS. Position channels replace components of the offset; rotations
        are applied in this order, about moving axes.
    ends:
        (N, 3) End points (`End Site`) in the joint's frame.
    """

    name: str = ""
    parent: int = -1
    offset: Floats = field(default_factory=lambda: frozen(np.zeros(3)))
    channels: tuple[str, ...] = ()
    ends: Floats = field(default_factory=lambda: frozen(np.zeros((0, 3))))

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen(self.offset, (3,), "offset"))
        object.__setattr__(self, "ends", frozen(self.ends, (None, 3), "ends"))
        object.__setattr__(self, "channels", tuple(self.channels))
        if unknown := [name for name in self.channels if name not in CHANNELS]:
            message = f"joint {self.name!r}: unknown channel {unknown[0]!r}; expected one of {', '.join(CHANNELS)}"
            raise ValueError(message)


@dataclass(frozen=True, eq=False, kw_only=True)
class Skeleton(ContentEquality):
    """A skeleton and its motion.

    Attributes
    ----------
    joints:
        Parents before children.
    values:
        (T, C) The channels of all joints, in order: lengths in the file's unit, angles
        in degrees.
    frame_time:
        [s] From one frame to the next, as in the file.
    known_unit, known_up:
        The unit of length [m] and the up axis, where the file or its format defines
        them; None where they are found from the poses.
    source, problems:
        Where it came from, and what was found there; not part of `==`.
    """

    joints: tuple[SkeletonJoint, ...] = ()
    values: Floats = field(default_factory=lambda: frozen(np.zeros((0, 0))))
    frame_time: float = 1 / 30
    known_unit: float | None = None
    known_up: str | None = None
    source: Source = field(default_factory=Source, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(
            self, "values", frozen(self.values, (None, self.num_channels), "values")
        )
        for index, joint in enumerate(self.joints):
            if not -1 <= joint.parent < index:
                message = f"joint {joint.name!r}: parent {joint.parent}; expected -1 or the index of a joint before it"
                raise ValueError(message)
        if not MIN_FRAME_TIME <= self.frame_time < np.inf:
            raise ValueError(
                f"frame_time: {self.frame_time!r} s; expected a number of at least "
                f"{MIN_FRAME_TIME} s"
            )

    def __len__(self) -> int:
        return self.num_frames

    @property
    def num_frames(self) -> int:
        """The number of frames T."""
        return len(self.values)

    @property
    def num_channels(self) -> int:
        """The number of channels C of all joints."""
        return sum(len(joint.channels) for joint in self.joints)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the joints."""
        return tuple(joint.name for joint in self.joints)

    @property
    def parents(self) -> tuple[int, ...]:
        """The index of each joint's parent; -1 for a root."""
        return tuple(joint.parent for joint in self.joints)

    def columns(self, joint: int) -> range:
        """Return the columns of `values` that hold the channels of a joint, by its index."""
        return range(
            self._starts[joint], self._starts[joint] + len(self.joints[joint].channels)
        )

    @property
    def frame_rate(self) -> float:
        """The rate [Hz]: a whole number where `frame_time` is its inverse, rounded.

        30 for 0.033333 s.
        """
        whole = round(1 / self.frame_time)
        decimals = len(f"{self.frame_time:.12f}".rstrip("0").partition(".")[2])
        if whole and round(1 / whole, decimals) == self.frame_time:
            return float(whole)
        return 1 / self.frame_time

    @property
    def times(self) -> Floats:
        """The times (T,) [s] of the frames."""
        return np.arange(self.num_frames) / self.frame_rate

    @property
    def duration(self) -> float:
        """The time [s] of the last frame."""
        return max(self.num_frames - 1, 0) / self.frame_rate

    @cached_property
    def unit(self) -> float:
        """The unit of length [m], `known_unit` or found from the length of the legs.

        See `unit_is_known`.
        """
        return self.known_unit or self._recognized[0] or 0.01

    @cached_property
    def up(self) -> str:
        """The axis that points up, `known_up` or found from hips above feet.

        "Y", "-Z" and so on; see `up_is_known`.
        """
        return self.known_up or self._recognized[1] or "Y"

    @property
    def unit_is_known(self) -> bool:
        """Whether the unit was found; otherwise centimetres are assumed."""
        return (self.known_unit or self._recognized[0]) is not None

    @property
    def up_is_known(self) -> bool:
        """Whether the up axis was found; otherwise Y is assumed."""
        return (self.known_up or self._recognized[1]) is not None

    @property
    def lengths_are_known(self) -> bool:
        """Whether all offsets are known.

        Without them there are rotations, and no positions.
        """
        return not any(
            np.isnan(joint.offset).any()
            for joint in self.joints
            if "Xposition" not in joint.channels
        )

    def check_lengths(self) -> None:
        """Raise WrongUseError where the lengths of bones are unknown."""
        if not self.lengths_are_known:
            reason = "the lengths of the bones are unknown, so there are rotations and no positions"
            raise WrongUseError(
                f"{reason}: give the body model (body_model=…, --body-model)"
            )

    @cached_property
    def _recognized(self) -> tuple[float | None, str | None]:
        """Return the unit of length [m] and the up axis, each None where it cannot be found.

        The unit is that with which the legs are about as long as those of an adult. The
        up axis is that along which the hips are above the feet, on the mean. The rest
        pose decides where that is neither Y nor Z, as of a person who lies, and where
        the person stands along the axis of the rest pose, too.
        """
        if not self.num_frames:
            return None, None
        values = self.values[:: max(1, self.num_frames // MAX_SAMPLES)]
        with np.errstate(all="ignore"):
            positions = self._poses(values, 3)
            hips, feet = self._hips_and_feet(positions)
            if hips is None or not feet:
                return None, None
            bones = self._bone_lengths(positions)
            upward = positions[:, hips] - positions[:, feet].mean(axis=1)
            along = np.full(len(self.joints), np.nan)
            along[hips] = 0
            for joint, parent in enumerate(self.parents):
                if parent >= 0 and joint != hips:
                    along[joint] = along[parent] + bones[joint]
            leg = np.nanmax(along[feet], initial=0)
            ratios = np.abs(np.log(np.array(UNITS) * leg / LEG_LENGTH))
            rest = np.zeros((len(self.joints), 3))
            for index, own in enumerate(self.joints):
                if own.parent >= 0:
                    above = rest[own.parent]
                else:
                    above = np.zeros(3)
                rest[index] = above + own.offset
            up = _axis(upward.mean(axis=0))
            at_rest = _axis(rest[hips] - rest[feet].mean(axis=0))
            stands = (
                at_rest in COMMON_UP
                and np.quantile(upward[:, "XYZ".index(at_rest)], 0.9)
                > MIN_HIP_HEIGHT * leg
            )
        if at_rest in COMMON_UP and (up not in COMMON_UP or stands):
            up = at_rest
        elif up not in (*COMMON_UP, at_rest):
            up = None
        best = int(np.argmin(np.nan_to_num(ratios, nan=np.inf)))
        return UNITS[best] if ratios[best] < np.log(MAX_RATIO) else None, up

    def _bone_lengths(self, positions: Floats) -> Floats:
        """Return the median length (J,) of the bone above each joint, for positions (T, J, 3).

        0 of a root.
        """
        bones = np.zeros(len(self.joints))
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                way = positions[:, joint] - positions[:, parent]
                bones[joint] = np.median(np.linalg.norm(way, axis=1))
        return bones

    def _hips_and_feet(self, positions: Floats) -> tuple[int | None, list[int]]:
        """Return the joint where the legs separate, and their ends, for positions (T, J, 3).

        None and none where there are none.

        Without limbs that mirror each other, the hips are the first joint with two
        branches, and the feet are found by their names, or at the ends of all branches
        but the largest.
        """
        parents = self.parents
        goals = find_goals(parents, positions, self.names)
        if np.isfinite(positions).all():
            bound = [
                -1 if joint in goals else parent for joint, parent in enumerate(parents)
            ]
            pairs = find_limb_pairs(bound, self._bone_lengths(positions))
            legs = find_legs(parents, pairs)
            if legs is not None:
                return legs.joint, list(legs.tips)
        branches = Counter(
            parent for joint, parent in enumerate(parents) if joint not in goals
        )
        hips = next(
            (joint for joint in range(len(parents)) if branches[joint] > 1), None
        )
        feet = [
            joint
            for joint, name in enumerate(self.names)
            if FEET.search(name) and joint not in goals
        ]
        return hips, feet or self._branch_ends(hips)

    def _branch_ends(self, hips: int | None) -> list[int]:
        """Return the last joints of the branches of the hips, without that with most joints, the trunk.

        None where there are no two.
        """
        branches: dict[int, list[int]] = {}
        for joint, parent in enumerate(self.parents):
            if parent == hips:
                branches[joint] = [joint]
            elif branch := next(
                (one for one in branches.values() if parent in one), None
            ):
                branch.append(joint)
        if len(branches) > 2:
            return [branch[-1] for branch in sorted(branches.values(), key=len)[:-1]]
        return []

    def joint_positions(self, *, as_read: bool = False) -> Floats:
        """Return the positions (T, J, 3) of the joints in the world [m], z up.

        With `as_read` in the file's unit and axes.
        """
        return self._in_world(self._poses(self.values, 3), as_read)

    def end_positions(self, *, as_read: bool = False) -> Floats:
        """Return the positions (T, E, 3) of the end points of all joints, as `joint_positions` does."""
        poses = self._poses(self.values)
        ends = [
            poses[:, index, :3] + rotations.rotate(poses[:, index, 3:], end)
            for index, joint in enumerate(self.joints)
            for end in joint.ends
        ]
        return self._in_world(
            np.reshape(ends, (len(ends), self.num_frames, 3)).transpose(1, 0, 2),
            as_read,
        )

    def joint_poses(self, *, as_read: bool = False) -> Floats:
        """Return the poses (T, J, 7) of the joints' frames, x y z and quaternion wxyz, as `joint_positions` does."""
        poses = self._poses(self.values)
        if not as_read:
            poses[..., 3:] = rotations.multiply(
                rotations.from_matrix(UP_AXES[self.up]), poses[..., 3:]
            )
        poses[..., :3] = self._in_world(poses[..., :3], as_read)
        return poses

    def local_rotations(self) -> Floats:
        """Return the rotations (T, J, 4) of the joints from their parents' frames, as quaternions wxyz."""
        self._check_memory(self.num_frames)
        turns = [self.local_rotation(index) for index in range(len(self.joints))]
        return np.reshape(turns, (len(turns), self.num_frames, 4)).transpose(1, 0, 2)

    @np.errstate(all="ignore")
    def local_rotation(self, joint: int, frames: Indices | slice = np.s_[:]) -> Floats:
        """Return the rotations (T, 4) of one joint, by its index, from its parent's frame, in all frames or some."""
        values = self.values[frames]
        turn = np.tile(rotations.IDENTITY, (len(values), 1))
        for column, channel in zip(
            self.columns(joint), self.joints[joint].channels, strict=True
        ):
            if channel.endswith("rotation"):
                axis = np.eye(3)["XYZ".index(channel[0])]
                turn = rotations.multiply(
                    turn, rotations.from_axis_angle(axis, np.radians(values[:, column]))
                )
        return turn

    @provided_by("bodymotion.skeleton.figure:figure")
    def body_and_motion(self) -> tuple[Body, Motion]:
        """Return a body with soft limbs, one joint for each channel, and its motion, in metres with z up.

        Raises
        ------
        ValueError
            When there are no joints, or more channels than a body has links.
        """
        raise NotImplementedError

    def _check_memory(self, frames: int) -> None:
        """Check that poses of all joints fit into memory.

        A small file may have many joints without channels, and many frames.
        """
        check_memory(
            16 * 8 * frames * len(self.joints),
            f"poses of {len(self.joints)} joints at {frames} frames",
        )

    @cached_property
    def _starts(self) -> list[int]:
        """The column of the first channel of each joint."""
        return np.cumsum(  # type: ignore[no-any-return]
            [0, *(len(joint.channels) for joint in self.joints)]
        )[:-1].tolist()

    @np.errstate(all="ignore")
    def _in_world(self, positions: Floats, as_read: bool) -> Floats:
        """Return positions (T, J, 3) in metres and z up unless `as_read`."""
        if as_read:
            return np.ascontiguousarray(positions)
        matrix = UP_AXES[self.up] * self.unit
        sources = np.abs(matrix).argmax(axis=1)
        return np.asarray(positions[..., sources] * matrix[range(3), sources])

    def _poses(self, values: Floats, size: int = 7) -> Floats:
        """Return the poses (T, J, 7) of all joints as read, or with a `size` of 3 their positions."""
        self.check_lengths()
        self._check_memory(len(values))
        # A link for each channel, first those that slide, after a root that does not
        # move.
        rows = [(-1, 0, 0, [0.0] * 3, [0.0] * 3)]
        last = [0]
        scales = np.ones(self.num_channels)
        for index, joint in enumerate(self.joints):
            channels = [*zip(self.columns(index), joint.channels, strict=True)]
            slides = {
                name[0]: column
                for column, name in channels
                if name.endswith("position")
            }
            steps = [(2, column, axis) for axis, column in slides.items()]
            steps += [
                (1, column, name[0])
                for column, name in channels
                if name.endswith("rotation")
            ]
            offset = [
                0.0 if axis in slides else x
                for axis, x in zip("XYZ", joint.offset.tolist(), strict=True)
            ]
            above = last[joint.parent + 1]
            for kind, column, axis in steps or [(0, 0, "")]:
                rows.append(
                    (above, kind, column, offset, [float(one == axis) for one in "XYZ"])
                )
                above = len(rows) - 1
                offset = [0.0] * 3
            last.append(above)
        parents, kinds, columns, offsets, axes = map(np.array, zip(*rows, strict=True))
        scales[columns[kinds == 1]] = np.pi / 180
        root = np.concatenate([np.zeros(3), rotations.IDENTITY])
        offsets = np.concatenate(
            [offsets, np.tile(rotations.IDENTITY, (len(rows), 1))], axis=1
        )
        tree = Tree(parents, kinds, columns, offsets, axes)
        chosen = np.array(last[1:], np.int64)
        return link_poses(tree, values * scales, root, chosen, size)


def _axis(direction: Floats) -> str | None:
    """Return the axis that a direction (3,) is along, such as "-Z".

    None where it is along none.
    """
    axis = int(np.abs(direction).argmax())
    is_steep = abs(direction[axis]) > np.cos(np.radians(MAX_TILT)) * np.linalg.norm(
        direction
    )
    if is_steep:
        return f"{'-' if direction[axis] < 0 else ''}{'XYZ'[axis]}"
    return None


def euler_values(turns: Floats) -> Floats:
    """Return the values (T, 3) [°] of EULER_CHANNELS for rotations (T, 4), wxyz.

    Without jumps.
    """
    return np.degrees(continuous(rotations.to_rpy(turns)[:, ::-1]))


def continuous(angles: Floats) -> Floats:
    """Return angles (T, 3) [rad] about three different moving axes that give the same rotations, each closest to those of the frame before.

    Rotations by (α, β, γ) and by (α + π, π − β, γ + π) are the same.
    """
    other = np.array([np.pi, np.pi, np.pi]) + angles * [1, -1, 1]
    near = [
        ((angles[1:] - before[:-1] + np.pi) % (2 * np.pi) - np.pi)
        for before in (angles, other)
    ]
    is_other = (
        np.cumsum(np.abs(near[1]).sum(axis=1) < np.abs(near[0]).sum(axis=1)) % 2 == 1
    )
    found = angles.copy()
    found[1:][is_other] = other[1:][is_other]
    return np.unwrap(found, axis=0)
