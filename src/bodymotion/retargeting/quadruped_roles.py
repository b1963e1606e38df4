"""Roles of a figure with four legs.

`figures` says how legs, trunk, front and left are found.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.model.trees import path_below
from bodymotion.retargeting.joint_tree import JointTree, last_common_joint
from bodymotion.retargeting.limb_search import MIN_TIP, find_limbs, points_of_limb
from bodymotion.retargeting.roles import (
    ENDS,
    FRONT,
    HIND,
    LEG_ENDS,
    LEG_PARTS,
    SIDES,
    Point,
)

# Low tips of a figure with four legs, with its tails.
MAX_FEET = 8
# Of a leg of a figure with four legs.
MIN_JOINTS = 2
# Of the height of a trunk. Four legs are separate above; tips that meet below it are
# parts of one foot.
LEG_SPLIT_HEIGHT = 0.5
# Of the length of a leg: shorter parts above or below make no knee.
MIN_SHIN = 0.12
# x + y: a robot without names faces x or y.
FORWARD_AXES = np.array([1.0, 1.0])


def find_quadruped_roles(
    tree: JointTree,
    name: str,
    given: Mapping[str, str],
) -> dict[str, Point]:
    """Return the points of the roles of a figure with four legs.

    Raises
    ------
    ValueError
        When it has no four legs, or one has no knee.
    """
    paths = _find_paths_to_low_tips(tree, given)
    feet = _choose_feet(tree, paths)
    leg_paths = _paths_of_legs(paths, feet)
    if len(leg_paths) != 4 or not all(leg_paths):
        raise ValueError(
            f"{name}: found {len(leg_paths)} feet; expected two or four legs; name its "
            "roles (--map)"
        )
    pairs = _find_front_and_hind(tree, leg_paths)
    forward = pairs.forward
    lateral = np.array([-forward[1], forward[0], 0.0])
    lateral /= max(float(np.linalg.norm(forward)), MIN_TIP)
    trunk = last_common_joint([paths[foot] for foot in feet])
    points = {"trunk": tree.origin_of(trunk)}
    for end, pair in zip(ENDS, (pairs.front, pairs.hind), strict=True):
        legs = [leg_paths[number] for number in pair]
        legs.sort(key=lambda path: -float(tree.positions[path[0]] @ lateral))
        points |= _find_pair_of_legs(tree, name, end, legs, lateral)
    for role, joint in given.items():
        points[role] = tree.owners[tree.names.index(joint)]
    return points


def _find_pair_of_legs(
    tree: JointTree,
    name: str,
    end: str,
    paths: list[list[int]],
    lateral: Floats,
) -> dict[str, Point]:
    """Return the points of the roles of the front or hind legs, the left one first."""
    points = {}
    limbs = find_limbs(tree, paths, "knee", lateral)
    for side, path, limb in zip(SIDES, paths, limbs, strict=True):
        thigh = float(np.linalg.norm(limb.center - limb.upper_end))
        shin = float(np.linalg.norm(tree.positions[path[-1]] - limb.center))
        is_too_short = min(thigh, shin) < MIN_SHIN * (thigh + shin)
        if is_too_short or not tree.axes[limb.middle].any():
            raise ValueError(
                f"{name}: found no knee of the {end} {side} leg; name its roles (--map)"
            )
        # An ankle has no role: the foot of an animal is the tip of its leg.
        hip, knee, _, foot = points_of_limb(tree, path, limb, path[-1])
        for part, point in zip(LEG_PARTS, (hip, knee, foot), strict=True):
            points[f"{end} {side} {part}"] = point
    return points


def _find_paths_to_low_tips(
    tree: JointTree, given: Mapping[str, str]
) -> dict[int, list[int]]:
    """Return by low tip, or by foot in `given`, the path to it from the root.

    Tips on paths with too few moving joints are left out: they end no leg.
    """
    if {*LEG_ENDS} <= given.keys():
        tips = [tree.names.index(given[role]) for role in LEG_ENDS]
    else:
        ends = {_lower_end(tree, leaf) for leaf in tree.leaves}
        tips = sorted(k for k in ends if tree.heights[k] < tree.max_foot_height)
    moves = np.asarray(tree.axes.any(axis=1))
    paths = {}
    for tip in tips:
        path = path_below(tree.parents, tip, -1)
        if np.count_nonzero(moves[path]) >= MIN_JOINTS:
            paths[tip] = path
    return paths


def _lower_end(tree: JointTree, leaf: int) -> int:
    """Return a leaf, or its parent, which is lower.

    The end of a foot by its centre of mass can be above its joint.
    """
    parent = tree.parents[leaf]
    is_end = bool(tree.owners[leaf].offset.any())
    if is_end and tree.heights[leaf] > tree.heights[parent]:
        return parent
    return leaf


def _choose_feet(tree: JointTree, paths: Mapping[int, list[int]]) -> list[int]:
    """Return the tips that are feet of different legs, the lowest first."""
    heights = tree.heights
    lowest = float(heights.min())
    trunk = last_common_joint([*paths.values()])
    # Legs are separate above this height; tips that meet below it are parts of one
    # foot.
    split_height = lowest + LEG_SPLIT_HEIGHT * (heights[trunk] - lowest)
    feet: list[int] = []
    for tip in sorted(paths, key=lambda k: float(np.round(heights[k], 3))):
        splits = [last_common_joint([paths[tip], paths[foot]]) for foot in feet]
        if len(feet) <= MAX_FEET and np.all(heights[splits] > split_height):
            feet.append(tip)
    if not 4 < len(feet) <= MAX_FEET:
        return feet
    # A tail has no other of its length.
    counts = Counter(len(paths[foot]) for foot in feet)
    return [foot for foot in feet if counts[len(paths[foot])] > 1]


def _paths_of_legs(
    paths: Mapping[int, list[int]], feet: Sequence[int]
) -> list[list[int]]:
    """Return for each foot the joints that lead to no other foot."""
    uses: Counter[int] = Counter()
    for foot in feet:
        uses.update(paths[foot])
    legs = []
    for foot in feet:
        legs.append([joint for joint in paths[foot] if uses[joint] == 1])
    return legs


class _LegPairs(NamedTuple):
    """The numbers of the front and of the hind legs.

    `forward` (2,) [m] is the level vector from the middle of these to that of those.
    """

    front: list[int]
    hind: list[int]
    forward: Floats


# The three ways to make two pairs of four legs.
PAIRINGS = (
    ([0, 1], [2, 3]),
    ([0, 2], [1, 3]),
    ([0, 3], [1, 2]),
)


def _find_front_and_hind(tree: JointTree, paths: Sequence[list[int]]) -> _LegPairs:
    """Return the two pairs of four legs whose middles are furthest apart."""
    hips = np.array([tree.positions[path[0], :2] for path in paths])

    def distance_of_middles(pairing: tuple[list[int], list[int]]) -> float:
        first, second = pairing
        return float(np.linalg.norm(hips[first].sum(0) - hips[second].sum(0)))

    first, second = max(PAIRINGS, key=distance_of_middles)
    forward = hips[first].mean(axis=0) - hips[second].mean(axis=0)
    sign = _count_front_names(tree, [paths[leg] for leg in first])
    sign -= _count_front_names(tree, [paths[leg] for leg in second])
    if not sign and tree.is_person:
        highest = max(tree.leaves, key=lambda k: tree.heights[k])
        sign = forward @ (tree.positions[highest, :2] - hips.mean(axis=0))
    elif not sign:
        sign = forward @ FORWARD_AXES
    if sign >= 0:
        return _LegPairs(first, second, forward)
    return _LegPairs(second, first, -forward)


def _count_front_names(tree: JointTree, paths: Sequence[Sequence[int]]) -> int:
    """Return how many more legs have a name of a front leg than of a hind leg."""
    count = 0
    for path in paths:
        names = " ".join(tree.names[joint] for joint in path)
        count += bool(FRONT.search(names))
        count -= bool(HIND.search(names))
    return count
