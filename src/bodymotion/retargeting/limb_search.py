"""Knees and elbows, and the ends of the limbs that they are in the middle of."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.retargeting.joint_tree import JointTree
from bodymotion.retargeting.roles import FINGER, GRIP, Point

# [m] Shorter ends are none.
MIN_TIP = 1e-3
# Of the height: joints nearer to each other are at one point.
COINCIDENT = 0.02
# Between the axis of a knee and the lateral axis, at least.
MIN_KNEE_COSINE = 0.7
# Between the axis of an elbow, and upper arm and forearm, at most.
MAX_ELBOW_COSINE = 0.6
# Of the best score, for a robot. The first joint above is taken, since wrists can be as
# central as elbows.
FIRST_SHARE = {"knee": 1 - 1e-6, "elbow": 0.87}
# Of the best score, for a person: the first of joints that are equally central.
PERSON_SHARE = 1 - 1e-6
# Names of the links of robots below knees and elbows.
MIDDLE_NAMES = {
    "knee": re.compile("knee|shin|shank|calf|tibia|lower_?leg", re.I),
    "elbow": re.compile("elb|fore_?arm|lower_?arm", re.I),
}
# So much likelier is a link of a robot that is named so.
NAME_FACTOR = 1.5
# [rad] A joint whose limb bends by less, while others bend, only twists it.
MIN_BEND = np.radians(2)
# [rad] A limb of a person that bends by less, as in a single pose, shows nothing. Which
# of its joints only twist it is then unknown.
MIN_LIMB_BEND = np.radians(10)
# The shorter of upper and lower limb over the longer one, at least. Where it is less
# without the joints that only twist, one of these is a stiff elbow.
MIN_BALANCE = 0.4
# Of the length of the bone. Upper arms and thighs begin further apart. Those of people
# are 1.2 and 0.5 apart.
OUTER_SHARE = 0.25
# Of bones that begin at one point, as a middle is found.
MIN_WEIGHT = 0.25
# Joints before a middle, and behind an elbow, whose axes cross in hip, shoulder, wrist.
# An ankle has two.
MAX_CROSSING_AXES = 3
# Of the upper limb: a wrist or an ankle is further from elbow or knee. Nearer joints
# twist the lower limb, which then ends at its tip.
MIN_LOWER_SHARE = 0.3
# Weight of the last joint where axes cross, against 1 of each axis. Axes that are
# parallel, or a single one, leave a direction open.
REGULARISATION = 1e-3


class Limb(NamedTuple):
    """A leg or an arm.

    The points (3,) [m] of its upper end, its middle and its lower end, and the joints
    of the last two.
    """

    middle: int
    last: int
    upper_end: Floats
    center: Floats
    lower_end: Floats

    @property
    def lengths(self) -> Floats:
        """The lengths (2,) [m] above and below the middle."""
        bones = np.stack([self.center - self.upper_end, self.lower_end - self.center])
        return np.asarray(np.linalg.norm(bones, axis=1))


def find_limbs(
    tree: JointTree,
    paths: Sequence[list[int]],
    role: str,
    lateral: Floats,
) -> list[Limb]:
    """Return the limbs of both sides, whose middle is a knee or an elbow (`role`).

    Where they have as many joints, the middle is the same one: shapes are not quite
    symmetric.
    """
    if tree.is_person:
        share = PERSON_SHARE
        scores = [_score_middles(tree, paths, side) for side in range(len(paths))]
    else:
        share = FIRST_SHARE[role]
        scores = [_score_hinges(tree, path, role, lateral) for path in paths]
    if len({len(path) for path in paths}) == 1:
        scores = [np.minimum(*scores)] * 2
    limbs = []
    for path, score in zip(paths, scores, strict=True):
        middle = int(np.argmax(score >= share * score.max()))
        if tree.is_person:
            limbs.append(_limb_of_person(tree, path, middle))
        else:
            limbs.append(_limb_of_robot(tree, path, role, middle))
    return limbs


def _score_middles(
    tree: JointTree,
    paths: Sequence[list[int]],
    side: int,
) -> Floats:
    """Return how likely (N,) [m²] the joints of a limb of a person are its middle.

    The score is the product of the bones above and below: upper and lower limb are the
    longest ones. Joints that only twist the limb do not divide a bone. A bone that
    begins near the same bone of the other side is a clavicle, or part of the pelvis,
    and counts less: else shoulders were elbows with CMU's long clavicles.
    """
    path = paths[side]
    scores = np.zeros(len(path))
    corners = _find_corners(tree, path)
    for upper, joint, lower in zip(corners, corners[1:], corners[2:], strict=False):
        above = _distance(tree, upper, joint)
        below = _distance(tree, joint, lower)
        weight = 1.0
        if len(paths[0]) == len(paths[-1]):
            mirrored = paths[1 - side][path.index(upper)]
            gap = _distance(tree, mirrored, upper)
            weight = float(np.clip(gap / (OUTER_SHARE * above), MIN_WEIGHT, 1.0))
        scores[path.index(joint)] = weight * above * below
    return scores


def _distance(
    tree: JointTree,
    joint: int,
    other: int,
) -> float:
    """Return the distance [m] of two joints in the upright pose."""
    return float(np.linalg.norm(tree.positions[other] - tree.positions[joint]))


def _find_corners(tree: JointTree, path: list[int]) -> list[int]:
    """Return the joints of a person's limb that divide it into bones, with both ends.

    Of several joints at one point, it is the first.
    """
    separate = [path[0]]
    for joint in path[1:]:
        if _distance(tree, separate[-1], joint) > COINCIDENT * tree.height:
            separate.append(joint)
    if len(separate) < 4:
        return separate
    bends = _largest_bends(tree.clip[:, separate])
    if bends.max() < MIN_LIMB_BEND:
        return separate
    inner = zip(separate[1:-1], bends, strict=True)
    bending = [joint for joint, bend in inner if bend > MIN_BEND]
    corners = [separate[0], *bending, separate[-1]]
    lengths = sorted(_distance(tree, a, b) for a, b in pairwise(corners))
    if len(lengths) < 2 or lengths[-2] < MIN_BALANCE * lengths[-1]:
        return separate
    return corners


def _largest_bends(points: Floats) -> Floats:
    """Return the largest angles (N − 2,) [rad] between bones above and below joints.

    The joints are at `points` (S, N, 3) in the frames of the clip.
    """
    bones = np.diff(points, axis=1)
    bones = bones / np.maximum(np.linalg.norm(bones, axis=2, keepdims=True), MIN_TIP)
    cosines = np.einsum("sij,sij->si", bones[:, 1:], bones[:, :-1])
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)).max(axis=0))


def _limb_of_person(
    tree: JointTree,
    path: list[int],
    middle: int,
) -> Limb:
    """Return the limb whose middle is a joint of the path.

    It ends at the joints before and behind that are corners.
    """
    joint = path[middle]
    corners = _find_corners(tree, path)
    if joint not in corners:
        corners = path
    number = corners.index(joint)
    upper = corners[max(number - 1, 0)]
    lower = corners[min(number + 1, len(corners) - 1)]
    points = tree.positions
    return Limb(joint, lower, points[upper], points[joint], points[lower])


def _score_hinges(
    tree: JointTree,
    path: list[int],
    role: str,
    lateral: Floats,
) -> Floats:
    """Return how likely (N,) [m] the joints of a robot's limb are its middle one."""
    points = tree.positions
    scores = np.zeros(len(path))
    for number, joint in enumerate(path):
        axis = tree.axes[joint]
        if not axis.any():
            continue
        bones = np.stack(
            [points[joint] - points[path[0]], points[path[-1]] - points[joint]]
        )
        lengths = np.linalg.norm(bones, axis=1)
        if role == "knee":
            fits = abs(float(axis @ lateral)) > MIN_KNEE_COSINE
        else:
            cosines = np.abs(bones @ axis) / np.maximum(lengths, 1e-9)
            fits = float(cosines.max()) < MAX_ELBOW_COSINE
        if MIDDLE_NAMES[role].search(tree.names[joint]):
            scores[number] = NAME_FACTOR * lengths.min()
        elif fits:
            scores[number] = lengths.min()
    return scores


def _limb_of_robot(
    tree: JointTree,
    path: list[int],
    role: str,
    middle: int,
) -> Limb:
    """Return the limb whose middle is a joint of the path.

    It ends where the axes of hips, ankles, shoulders or wrists cross.
    """
    points = tree.positions
    joint = path[middle]
    moving = [k for k in path if tree.axes[k].any()]
    split = 0
    if joint in moving:
        split = moving.index(joint)
    before = moving[max(split - MAX_CROSSING_AXES, 0) : split] or path[:1]
    upper_end = _crossing_of_axes(tree, before)
    # Without a joint between the elbow and the tip, the limb ends at the tip.
    lower_end = points[path[-1]]
    last = path[-1]
    behind = _joints_of_lower_end(tree, moving[split + 1 :], role)
    if behind:
        upper_length = float(np.linalg.norm(points[joint] - upper_end))
        if _distance(tree, joint, behind[-1]) > MIN_LOWER_SHARE * upper_length:
            lower_end = _crossing_of_axes(tree, behind)
            last = behind[-1]
    # The middle is where its axis passes halfway between both ends.
    axis = tree.axes[joint]
    halfway = 0.5 * (upper_end + lower_end)
    center = points[joint] + axis * float((halfway - points[joint]) @ axis)
    return Limb(joint, last, upper_end, center, lower_end)


def _joints_of_lower_end(
    tree: JointTree,
    behind: Sequence[int],
    role: str,
) -> list[int]:
    """Return the joints of a robot's ankle or wrist, of those behind the middle.

    Fingers are left out, and hands where that leaves any.
    """
    no_fingers = [k for k in behind if not FINGER.search(tree.names[k])]
    no_grip = [k for k in no_fingers if not GRIP.search(tree.names[k])]
    count = 2 if role == "knee" else MAX_CROSSING_AXES
    return (no_grip or no_fingers)[:count]


def _crossing_of_axes(tree: JointTree, joints: Sequence[int]) -> Floats:
    """Return the point (3,) nearest to the axes of joints.

    Of several, it is the one nearest to the last joint.

    The squared distance of a point c from the axis a through o is |(1 − a·aᵀ)(c − o)|².
    The sum over the axes is least where Σ (1 − a·aᵀ)·c = Σ (1 − a·aᵀ)·o.
    """
    points = tree.positions
    matrix = REGULARISATION * np.eye(3)
    right = REGULARISATION * points[joints[-1]]
    for joint in joints:
        axis = tree.axes[joint]
        across = np.eye(3) - np.outer(axis, axis)
        matrix = matrix + across
        right = right + across @ points[joint]
    return np.asarray(np.linalg.solve(matrix, right))


def points_of_limb(
    tree: JointTree,
    path: list[int],
    limb: Limb,
    holder: int,
) -> list[Point]:
    """Return the points of the four roles of a limb.

    The upper end is of the joint before the middle, the tip of the `holder`.
    """
    above = path[max(path.index(limb.middle) - 1, 0)]
    return [
        _point_in_joint(tree, above, limb.upper_end),
        _point_in_joint(tree, limb.middle, limb.center),
        _point_in_joint(tree, limb.last, limb.lower_end),
        _point_in_joint(tree, holder, tree.positions[path[-1]]),
    ]


def _point_in_joint(
    tree: JointTree,
    joint: int,
    position: Floats,
) -> Point:
    """Return a position (3,) of the upright pose as a point of a joint."""
    owner = tree.owners[joint]
    to_joint = poses.inverse(tree.poses[joint])
    offset = poses.transform_points(to_joint, position) + owner.offset
    return Point(owner.joint, offset)
