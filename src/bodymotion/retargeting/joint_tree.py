"""The tree of the joints of a figure and their ends, in which roles are found."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.retargeting.roles import Point
from bodymotion.skeleton.limbs import Legs, find_goals, find_legs, find_limb_pairs

# Joints of a figure with its ends; the search takes quadratic time.
MAX_JOINTS = 2000
# Frames of a recording in which lengths and bends are measured.
MAX_SAMPLES = 100
# Share of the height of a figure below which its feet are.
MAX_FOOT_HEIGHT = 0.25


@dataclass(frozen=True, eq=False)
class JointTree:
    """The joints of a figure, then their ends.

    Attributes
    ----------
    names, parents, poses:
        The poses are (N, 7), upright.
    axes:
        (N, 3) in the world; NaN for balls, as those of people, and 0 for fixed joints.
    owners:
        By joint or end, the point of a joint that it is.
    leaves:
        Joints and ends without children that are no helpers.
    num_joints:
        The number of joints, which the ends follow.
    clip:
        (S, N, 3) [m] Positions in some frames of a recording; in the upright pose alone
        for a robot.
    legs:
        The legs of a person, found from the lengths of bones.
    """

    names: list[str]
    parents: list[int]
    poses: Floats
    axes: Floats
    owners: list[Point]
    leaves: list[int]
    num_joints: int
    clip: Floats
    legs: Legs | None = None

    @property
    def is_person(self) -> bool:
        """Whether it was recorded: all its joints are balls."""
        return bool(np.isnan(self.axes[0, 0]))

    @property
    def positions(self) -> Floats:
        """The positions (N, 3) [m] in the upright pose."""
        return self.poses[:, :3]

    @property
    def heights(self) -> Floats:
        """The heights (N,) [m] in the upright pose."""
        return self.poses[:, 2]

    @cached_property
    def height(self) -> float:
        """The height [m] from the lowest joint to the highest."""
        return float(np.ptp(self.heights))

    @property
    def max_foot_height(self) -> float:
        """The height [m] below which feet are."""
        return float(self.heights.min()) + MAX_FOOT_HEIGHT * self.height

    def origin_of(self, joint: int) -> Point:
        """Return the origin of a joint, or of the joint that holds an end."""
        return Point(self.owners[joint].joint, np.zeros(3))


def build_joint_tree(
    names: Sequence[str],
    parents: Sequence[int],
    joint_poses: Floats,
    ends: Sequence[Point],
) -> JointTree:
    """Return the tree of joints and their ends, all joints balls.

    `joint_poses` (T, J, 7) are those of the recording.
    """
    owners = [*(Point(k, np.zeros(3)) for k in range(len(names))), *ends]
    all_names = [*names, *(f"{names[end.joint]} end" for end in ends)]
    all_parents = [*parents, *(end.joint for end in ends)]
    samples = joint_poses[:: max(1, len(joint_poses) // MAX_SAMPLES)]
    samples = samples[:, [owner.joint for owner in owners]]
    offsets = np.array([owner.offset for owner in owners])
    offsets = np.broadcast_to(offsets, (*samples.shape[:2], 3))
    clip = poses.transform_points(samples, offsets)
    goals: set[int] = set()
    if len(owners) <= MAX_JOINTS:
        goals = find_goals(all_parents, clip, all_names)
    not_leaves = goals.union(all_parents)
    return JointTree(
        names=all_names,
        parents=all_parents,
        poses=samples[0],
        axes=np.full((len(owners), 3), np.nan),
        owners=owners,
        leaves=[k for k in range(len(owners)) if k not in not_leaves],
        num_joints=len(names),
        clip=clip,
        legs=_find_legs(all_parents, goals, clip),
    )


def _find_legs(
    parents: Sequence[int],
    goals: set[int],
    clip: Floats,
) -> Legs | None:
    """Return the legs of the tree from which an animator's goals are cut off."""
    bone_parents = [-1 if k in goals else parent for k, parent in enumerate(parents)]
    bones = np.zeros(len(parents))
    for joint, parent in enumerate(bone_parents):
        if parent >= 0:
            lengths = np.linalg.norm(clip[:, joint] - clip[:, parent], axis=1)
            bones[joint] = np.median(lengths)
    pairs = find_limb_pairs(bone_parents, bones)
    return find_legs(bone_parents, pairs, clip[..., 2].mean(axis=0))


def last_common_joint(paths: Sequence[Sequence[int]]) -> int:
    """Return the last joint that paths from the root have in common, 0 without."""
    if not paths:
        return 0
    return max(set(paths[0]).intersection(*paths[1:]), default=0)
