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
from typing import TYPE_CHECKING, NamedTuple

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
# Of the heights of the hips above the feet along an axis: that of a person who stands.
STANDING_QUANTILE = 0.9
# Frames that are looked at.
MAX_SAMPLES = 100
# [bytes] For each joint and frame while poses are computed: 16 numbers.
BYTES_PER_POSE = 16 * 8
# Kinds of links in a tree, as in `kernels.kinematics`.
FIXED = 0
ROTATES = 1
SLIDES = 2


class _Conventions(NamedTuple):
    """The unit of length [m] and the up axis, each None where it cannot be found."""

    unit: float | None
    up: str | None


class _ChannelLink(NamedTuple):
    """A link that a channel moves: its parent, its kind, and the column of the channel.

    With the offset (3,) in the parent and the axis (3,).
    """

    parent: int
    kind: int
    column: int
    offset: list[float]
    axis: list[float]


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
        for name in self.channels:
            if name not in CHANNELS:
                raise ValueError(
                    f"joint {self.name!r}: unknown channel {name!r}; expected one of "
                    f"{', '.join(CHANNELS)}"
                )


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
                raise ValueError(
                    f"joint {joint.name!r}: parent {joint.parent}; expected -1 or the "
                    "index of a joint before it"
                )
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
        """Return the columns of `values` with the channels of a joint, by its index."""
        first = self._starts[joint]
        return range(first, first + len(self.joints[joint].channels))

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
        return self.known_unit or self._conventions.unit or 0.01

    @cached_property
    def up(self) -> str:
        """The axis that points up, `known_up` or found from hips above feet.

        "Y", "-Z" and so on; see `up_is_known`.
        """
        return self.known_up or self._conventions.up or "Y"

    @property
    def unit_is_known(self) -> bool:
        """Whether the unit was found; otherwise centimetres are assumed."""
        return (self.known_unit or self._conventions.unit) is not None

    @property
    def up_is_known(self) -> bool:
        """Whether the up axis was found; otherwise Y is assumed."""
        return (self.known_up or self._conventions.up) is not None

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
            raise WrongUseError(
                "the lengths of the bones are unknown, so there are rotations and no "
                "positions: give the body model (body_model=…, --body-model)"
            )

    @cached_property
    @np.errstate(all="ignore")
    def _conventions(self) -> _Conventions:
        """The unit of length and the up axis, as found from the poses.

        The unit is that with which the legs are about as long as those of an adult. The
        up axis is that along which the hips are above the feet, on the mean. The rest
        pose decides where that is neither Y nor Z, as of a person who lies, and where
        the person stands along the axis of the rest pose, too.
        """
        if not self.num_frames:
            return _Conventions(None, None)
        values = self.values[:: max(1, self.num_frames // MAX_SAMPLES)]
        positions = self._poses(values, 3)
        hips, feet = self._hips_and_feet(positions)
        if hips is None or not feet:
            return _Conventions(None, None)
        leg = self._leg_length(positions, hips, feet)
        upward = positions[:, hips] - positions[:, feet].mean(axis=1)
        rest = self._rest_positions()
        up = _axis_along(upward.mean(axis=0))
        up_at_rest = _axis_along(rest[hips] - rest[feet].mean(axis=0))
        if up_at_rest in COMMON_UP:
            heights = upward[:, "XYZ".index(up_at_rest)]
            stands = np.quantile(heights, STANDING_QUANTILE) > MIN_HIP_HEIGHT * leg
            if up not in COMMON_UP or stands:
                up = up_at_rest
        elif up not in (*COMMON_UP, up_at_rest):
            up = None
        return _Conventions(_unit_of(leg), up)

    def _leg_length(
        self,
        positions: Floats,
        hips: int,
        feet: list[int],
    ) -> float:
        """Return the length of the bones from the hips to the further foot.

        In the file's unit, which it shows, for positions (T, J, 3). 0 where no foot is
        below the hips.
        """
        bones = self._bone_lengths(positions)
        from_hips = np.full(len(self.joints), np.nan)
        from_hips[hips] = 0
        for joint, parent in enumerate(self.parents):
            if parent >= 0 and joint != hips:
                from_hips[joint] = from_hips[parent] + bones[joint]
        return float(np.nanmax(from_hips[feet], initial=0))

    def _rest_positions(self) -> Floats:
        """Return the positions (J, 3) of the joints without rotations."""
        rest = np.zeros((len(self.joints), 3))
        for index, joint in enumerate(self.joints):
            rest[index] = joint.offset
            if joint.parent >= 0:
                rest[index] += rest[joint.parent]
        return rest

    def _bone_lengths(self, positions: Floats) -> Floats:
        """Return the median length (J,) of the bone above each joint, 0 of a root.

        `positions` (T, J, 3) are those of the joints.
        """
        bones = np.zeros(len(self.joints))
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                bone = positions[:, joint] - positions[:, parent]
                bones[joint] = np.median(np.linalg.norm(bone, axis=1))
        return bones

    def _hips_and_feet(self, positions: Floats) -> tuple[int | None, list[int]]:
        """Return the joint where the legs separate, and their ends.

        None and none where there are none. `positions` (T, J, 3).

        Without limbs that mirror each other, the hips are the first joint with two
        branches, and the feet are found by their names, or at the ends of all branches
        but the largest.
        """
        parents = self.parents
        goals = find_goals(parents, positions, self.names)
        if np.isfinite(positions).all():
            bone_parents = list(parents)
            for joint in goals:
                bone_parents[joint] = -1
            pairs = find_limb_pairs(bone_parents, self._bone_lengths(positions))
            legs = find_legs(parents, pairs)
            if legs is not None:
                return legs.joint, list(legs.tips)
        num_children: Counter[int] = Counter()
        feet = []
        for joint, parent in enumerate(parents):
            if joint not in goals:
                num_children[parent] += 1
                if FEET.search(self.names[joint]):
                    feet.append(joint)
        branching = (joint for joint in range(len(parents)) if num_children[joint] > 1)
        hips = next(branching, None)
        return hips, feet or self._branch_ends(hips)

    def _branch_ends(self, hips: int | None) -> list[int]:
        """Return the last joints of the branches of the hips, but of the largest one.

        That is the trunk. None where there are no two.
        """
        branches: list[list[int]] = []
        for joint, parent in enumerate(self.parents):
            if parent == hips:
                branches.append([joint])
                continue
            for branch in branches:
                if parent in branch:
                    branch.append(joint)
                    break
        if len(branches) <= 2:
            return []
        branches.sort(key=len)
        return [branch[-1] for branch in branches[:-1]]

    def joint_positions(self, *, as_read: bool = False) -> Floats:
        """Return the positions (T, J, 3) of the joints in the world [m], z up.

        With `as_read` in the file's unit and axes.
        """
        return self._in_world(self._poses(self.values, 3), as_read)

    def end_positions(self, *, as_read: bool = False) -> Floats:
        """Return the positions (T, E, 3) of the end points of all joints.

        As `joint_positions` does.
        """
        poses = self._poses(self.values)
        ends = []
        for index, joint in enumerate(self.joints):
            for end in joint.ends:
                offset = rotations.rotate(poses[:, index, 3:], end)
                ends.append(poses[:, index, :3] + offset)
        positions = np.reshape(ends, (len(ends), self.num_frames, 3))
        return self._in_world(positions.transpose(1, 0, 2), as_read)

    def joint_poses(self, *, as_read: bool = False) -> Floats:
        """Return the poses (T, J, 7) of the joints, as `joint_positions` does."""
        poses = self._poses(self.values)
        if not as_read:
            to_world = rotations.from_matrix(UP_AXES[self.up])
            poses[..., 3:] = rotations.multiply(to_world, poses[..., 3:])
        poses[..., :3] = self._in_world(poses[..., :3], as_read)
        return poses

    def local_rotations(self) -> Floats:
        """Return the rotations (T, J, 4) of the joints from their parents' frames."""
        self._check_memory(self.num_frames)
        count = len(self.joints)
        of_joints = [self.local_rotation(index) for index in range(count)]
        return np.reshape(of_joints, (count, self.num_frames, 4)).transpose(1, 0, 2)

    @np.errstate(all="ignore")
    def local_rotation(self, joint: int, frames: Indices | slice = np.s_[:]) -> Floats:
        """Return the rotations (T, 4) of one joint from its parent's frame.

        By its index, in all frames or some.
        """
        values = self.values[frames]
        rotation = np.tile(rotations.IDENTITY, (len(values), 1))
        channels = self.joints[joint].channels
        for column, channel in zip(self.columns(joint), channels, strict=True):
            if channel.endswith("rotation"):
                axis = np.eye(3)["XYZ".index(channel[0])]
                angles = np.radians(values[:, column])
                about_axis = rotations.from_axis_angle(axis, angles)
                rotation = rotations.multiply(rotation, about_axis)
        return rotation

    @provided_by("bodymotion.skeleton.figure:build_figure")
    def body_and_motion(self) -> tuple[Body, Motion]:
        """Return a body with soft limbs and its motion, in metres with z up.

        It has one joint for each channel.

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
        count = len(self.joints)
        size = BYTES_PER_POSE * frames * count
        check_memory(size, f"poses of {count} joints at {frames} frames")

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
        """Return the poses (T, J, 7) of all joints as read.

        Or with a `size` of 3 their positions. `values` (T, C).
        """
        self.check_lengths()
        self._check_memory(len(values))
        # A link for each channel, after a root that does not move.
        links = [_ChannelLink(-1, FIXED, 0, [0.0] * 3, [0.0] * 3)]
        last_links = [0]
        for index, joint in enumerate(self.joints):
            above = last_links[joint.parent + 1]
            last_links.append(self._add_links(links, index, above))
        parents, kinds, columns, offsets, axes = map(np.array, zip(*links, strict=True))
        scales = np.ones(self.num_channels)
        scales[columns[kinds == ROTATES]] = np.pi / 180
        unrotated = np.tile(rotations.IDENTITY, (len(links), 1))
        offsets = np.concatenate([offsets, unrotated], axis=1)
        tree = Tree(parents, kinds, columns, offsets, axes)
        root = np.concatenate([np.zeros(3), rotations.IDENTITY])
        chosen = np.array(last_links[1:], np.int64)
        return link_poses(tree, values * scales, root, chosen, size)

    def _add_links(
        self,
        links: list[_ChannelLink],
        index: int,
        above: int,
    ) -> int:
        """Add the links of a joint below another link, and return the last one.

        Those that slide come first. A joint without channels has one that is fixed.
        """
        joint = self.joints[index]
        slides: dict[str, int] = {}
        angles = []
        for column, name in zip(self.columns(index), joint.channels, strict=True):
            if name.endswith("position"):
                slides[name[0]] = column
            else:
                angles.append((ROTATES, column, name[0]))
        steps = [(SLIDES, column, axis) for axis, column in slides.items()]
        offset = joint.offset.tolist()
        for axis in slides:
            offset["XYZ".index(axis)] = 0.0
        for kind, column, axis in [*steps, *angles] or [(FIXED, 0, "")]:
            direction = [float(name == axis) for name in "XYZ"]
            links.append(_ChannelLink(above, kind, column, offset, direction))
            above = len(links) - 1
            offset = [0.0] * 3
        return above


def _unit_of(leg: float) -> float | None:
    """Return the unit [m] in which a leg is about as long as an adult's, else None."""
    ratios = np.abs(np.log(np.array(UNITS) * leg / LEG_LENGTH))
    best = int(np.argmin(np.nan_to_num(ratios, nan=np.inf)))
    if ratios[best] < np.log(MAX_RATIO):
        return UNITS[best]
    return None


def _axis_along(direction: Floats) -> str | None:
    """Return the axis that a direction (3,) is along, such as "-Z".

    None where it is along none.
    """
    axis = int(np.abs(direction).argmax())
    min_share = np.cos(np.radians(MAX_TILT))
    if not abs(direction[axis]) > min_share * np.linalg.norm(direction):
        return None
    sign = "-" if direction[axis] < 0 else ""
    return f"{sign}{'XYZ'[axis]}"


def euler_values(turns: Floats) -> Floats:
    """Return the values (T, 3) [°] of EULER_CHANNELS for rotations (T, 4), wxyz.

    Without jumps.
    """
    return np.degrees(continuous(rotations.to_rpy(turns)[:, ::-1]))


def continuous(angles: Floats) -> Floats:
    """Return angles (T, 3) [rad] that give the same rotations without jumps.

    They are about three different moving axes, and each is closest to those of the
    frame before. Rotations by (α, β, γ) and by (α + π, π − β, γ + π) are the same.
    """
    other = np.array([np.pi, np.pi, np.pi]) + angles * [1, -1, 1]
    # From frame to frame: to the same of both, or to the other one.
    step = _shortest(angles[1:] - angles[:-1])
    step_to_other = _shortest(angles[1:] - other[:-1])
    changes = np.abs(step_to_other).sum(axis=1) < np.abs(step).sum(axis=1)
    is_other = np.cumsum(changes) % 2 == 1
    chosen = angles.copy()
    chosen[1:][is_other] = other[1:][is_other]
    return np.unwrap(chosen, axis=0)


def _shortest(angles: Floats) -> Floats:
    """Return angles (T, N) [rad] without full turns, from −π to π."""
    return (angles + np.pi) % (2 * np.pi) - np.pi
