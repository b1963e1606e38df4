"""Roles of a figure with two legs.

`figures` says how pelvis, legs, arms and head are found.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.model.trees import path_below, with_root
from bodymotion.retargeting.joint_tree import (
    MAX_FOOT_HEIGHT,
    JointTree,
    last_common_joint,
)
from bodymotion.retargeting.limb_search import (
    COINCIDENT,
    MIN_TIP,
    Limb,
    find_limbs,
    points_of_limb,
)
from bodymotion.retargeting.quadruped_roles import MIN_SHIN, find_quadruped_roles
from bodymotion.retargeting.roles import (
    FINGER,
    GRIP,
    HEAD,
    LEFT,
    LIMBS,
    RIGHT,
    SIDES,
    Point,
)
from bodymotion.skeleton.values import FEET

# Of the height: shorter branches to both sides are no arms.
MIN_ARM = 0.12
# Of the length of a robot's leg: shorter parts above or below make no knee. With
# `MIN_SHIN` an ankle would be a knee.
MIN_THIGH = 0.3
# Of the length of a leg: a longer foot of a robot is a chain, such as a track.
MAX_FOOT = 1.0
# Of the height: knees that bend show in front where they are further ahead.
MIN_AHEAD = 1e-3
# Of the length of a leg. Longer arms of an animal that stands on them are front legs.
MAX_LOW_ARM = 0.8
# Factor by which a branch is longer than another one that comes before it. Rounding
# must not decide between branches of one length.
LONGER_THAN_ROUNDING = 1 + 1e-9
# The same for pairs of branches.
LONGER_THAN_ROUNDING_PAIR = 1 + 1e-6


class _LegPair(NamedTuple):
    """The left and the right leg: paths below the pelvis, and limbs.

    `lateral` (3,) is the level unit vector from the right one to the left one.
    """

    paths: list[list[int]]
    limbs: list[Limb]
    lateral: Floats


def find_biped_roles(
    tree: JointTree,
    name: str,
    given: Mapping[str, str],
) -> dict[str, Point]:
    """Return the points of the roles of a figure with two legs.

    Where it turns out to have four, return those of a figure with four legs.

    Raises
    ------
    ValueError
        When neither two nor four legs are found.
    """
    low_tips = _find_low_tips(tree, given)
    if "pelvis" in given:
        pelvis = tree.names.index(given["pelvis"])
    else:
        paths = [path_below(tree.parents, tip, -1) for tip in low_tips]
        pelvis = last_common_joint(paths)
    parents = with_root(tree.parents, pelvis)
    tips_by_start = _choose_leg_tips(tree, parents, pelvis, low_tips)
    if len(tips_by_start) == 4:
        return find_quadruped_roles(tree, name, given)
    _check_number_of_legs(tree, name, pelvis, len(tips_by_start))
    leg_tips = [*tips_by_start.values()]
    legs = _find_legs(tree, name, parents, pelvis, leg_tips)
    arms = _find_arms(tree, parents, pelvis, {*tips_by_start}, legs.lateral)
    chest = arms.chest
    if "chest" in given:
        chest = tree.names.index(given["chest"])
    arm_paths = [path_below(parents, tip, chest) for tip in arms.tips]
    arm_limbs = find_limbs(tree, arm_paths, "elbow", legs.lateral)
    if _stands_on_arms(tree, arms.tips, arm_limbs, legs.limbs):
        return find_quadruped_roles(tree, name, given)
    points = {"pelvis": tree.origin_of(pelvis)}
    for side, path, limb in zip(SIDES, legs.paths, legs.limbs, strict=True):
        points |= _points_of_side(tree, side, "leg", path, limb, path[-1])
    for side, path, limb in zip(SIDES, arm_paths, arm_limbs, strict=False):
        palm = _find_palm(tree, path, limb)
        points |= _points_of_side(tree, side, "arm", path, limb, palm)
    points["chest"] = tree.origin_of(chest)
    head = _find_head(tree, parents, pelvis, chest, [*leg_tips, *arms.tips])
    if head is not None:
        points["head"] = tree.origin_of(head)
    for role, joint in given.items():
        points[role] = tree.owners[tree.names.index(joint)]
    return points


def _points_of_side(
    tree: JointTree,
    side: str,
    kind: str,
    path: list[int],
    limb: Limb,
    holder: int,
) -> dict[str, Point]:
    """Return the points of the roles of a leg or an arm (`kind`) of a side."""
    roles = [f"{side} {part}" for part in LIMBS[kind]]
    return dict(zip(roles, points_of_limb(tree, path, limb, holder), strict=True))


def _find_low_tips(tree: JointTree, given: Mapping[str, str]) -> list[int]:
    """Return the tips of feet.

    Those of a robot are low. Those of a person end the legs, also of one who lies or
    crawls.
    """
    feet = []
    for side in SIDES:
        foot = given.get(f"{side} toe") or given.get(f"{side} ankle")
        if foot:
            feet.append(tree.names.index(foot))
    if len(feet) == len(SIDES):
        return feet
    if tree.legs is not None and tree.is_person:
        return list(tree.legs.tips)
    if tree.is_person:
        by_name = [k for k in tree.leaves if FEET.search(tree.names[k])]
        if len(by_name) > 1:
            return by_name
    return [k for k in tree.leaves if tree.heights[k] < tree.max_foot_height]


def _choose_leg_tips(
    tree: JointTree,
    parents: Sequence[int],
    pelvis: int,
    low_tips: Sequence[int],
) -> dict[int, int]:
    """Return the lowest tip of each leg, by the first joint below the pelvis."""
    tips: dict[int, int] = {}
    for tip in low_tips:
        path = path_below(parents, tip, pelvis)
        if not path:
            continue
        start = path[0]
        if start not in tips:
            tips[start] = tip
            continue
        # Tips that are about as low are those of one foot: the first one stays.
        lowest = tree.heights[tips[start]]
        if tree.heights[tip] < lowest - COINCIDENT * tree.height:
            tips[start] = tip
    return tips


def _check_number_of_legs(
    tree: JointTree,
    name: str,
    pelvis: int,
    count: int,
) -> None:
    """Raise ValueError where a figure has no height, or not two legs."""
    if not tree.height:
        raise ValueError(
            f"{name}: all joints are at one height; expected a figure that stands in "
            "one of its frames"
        )
    if count != 2:
        raise ValueError(
            f"{name}: found {count} legs below {tree.names[pelvis]!r}; expected a "
            "figure with two or four legs; name its roles (--map)"
        )


def _find_legs(
    tree: JointTree,
    name: str,
    parents: Sequence[int],
    pelvis: int,
    tips: list[int],
) -> _LegPair:
    """Return the legs with the tips, the left one first."""
    paths = [path_below(parents, tip, pelvis) for tip in tips]
    lateral = _lateral_axis(tree, paths)
    limbs = find_limbs(tree, paths, "knee", lateral)
    _check_legs(tree, name, pelvis, paths, limbs)
    if _is_left_first(tree, paths, limbs, lateral):
        return _LegPair(paths, limbs, lateral)
    return _LegPair(paths[::-1], limbs[::-1], -lateral)


def _lateral_axis(tree: JointTree, paths: Sequence[list[int]]) -> Floats:
    """Return the level unit vector (3,) from the second leg to the first.

    It is that of the first joints that are apart, else of those at the begin.
    """
    points = tree.positions
    lateral = points[paths[0][0]] - points[paths[1][0]]
    for first, second in zip(*paths, strict=False):
        across = points[first] - points[second]
        if np.hypot(across[0], across[1]) > 2 * COINCIDENT * tree.height:
            lateral = across
            break
    lateral = lateral * [1.0, 1.0, 0.0]
    return np.asarray(lateral / max(float(np.linalg.norm(lateral)), 1e-9))


def _check_legs(
    tree: JointTree,
    name: str,
    pelvis: int,
    paths: Sequence[list[int]],
    limbs: Sequence[Limb],
) -> None:
    """Raise ValueError where legs have no knees, or are arms or tracks."""
    min_share = MIN_SHIN if tree.is_person else MIN_THIGH
    for limb in limbs:
        is_too_short = limb.lengths.min() <= min_share * limb.lengths.sum()
        if is_too_short or not tree.axes[limb.middle].any():
            raise ValueError(
                f"{name}: found no knees below {tree.names[pelvis]!r}; expected two "
                "or four legs with knees"
            )
    if tree.is_person:
        return
    points = tree.positions
    foot_length = max(
        float(np.linalg.norm(points[path[-1]] - limb.lower_end))
        for path, limb in zip(paths, limbs, strict=True)
    )
    leg_length = min(float(limb.lengths.sum()) for limb in limbs)
    if foot_length > MAX_FOOT * leg_length:
        raise ValueError(
            f"{name}: found a leg of {leg_length:.3g} m with a foot of "
            f"{foot_length:.3g} m; expected two or four legs; name their roles (--map)"
        )
    lowest_ankle = min(limb.lower_end[2] for limb in limbs)
    if lowest_ankle > tree.heights[pelvis] + MAX_FOOT_HEIGHT * tree.height:
        raise ValueError(
            f"{name}: what hangs from {tree.names[pelvis]!r} are arms; expected two "
            "or four legs"
        )


def _is_left_first(
    tree: JointTree,
    paths: Sequence[list[int]],
    limbs: Sequence[Limb],
    lateral: Floats,
) -> bool:
    """Return whether the first of two legs is the left one.

    `lateral` points from the second to the first, and left × up is forward. The toes of
    a person are in front, and knees bend to the front. Names help where neither shows,
    and with robots.
    """
    if tree.is_person:
        forward = np.cross(lateral, [0.0, 0.0, 1.0])
        toes = sum(
            float(forward @ (tree.positions[path[-1]] - limb.lower_end))
            for path, limb in zip(paths, limbs, strict=True)
        )
        if abs(toes) > 2 * COINCIDENT * tree.height:
            return toes > 0
        knees = _measure_knees_ahead(tree, limbs)
        if abs(knees) > MIN_AHEAD * tree.height:
            return knees > 0
    # A name such as link3 is on both sides. A robot without names faces along x.
    votes = _count_left_names(tree, paths[0]) - _count_left_names(tree, paths[1])
    return (votes or lateral[1]) >= 0


def _count_left_names(tree: JointTree, path: Sequence[int]) -> int:
    """Return how many more joints of a path have a name of the left than the right."""
    count = 0
    for joint in path:
        count += bool(LEFT.search(tree.names[joint]))
        count -= bool(RIGHT.search(tree.names[joint]))
    return count


def _measure_knees_ahead(tree: JointTree, limbs: Sequence[Limb]) -> float:
    """Return how far [m] knees are in front of the lines from hips to ankles.

    It is the mean of all frames, if the first leg is the left one.
    """
    clip = tree.clip
    knees = [clip[:, limb.middle] for limb in limbs]
    ankles = [clip[:, limb.last] for limb in limbs]
    hips = knees[0]
    if tree.legs is not None:
        hips = clip[:, tree.legs.joint]
    across = knees[0] - knees[1]
    total = 0.0
    for knee, ankle in zip(knees, ankles, strict=True):
        thigh = knee - hips
        shin = ankle - knee
        # The shin of a bent knee is rotated backwards about the lateral axis: thigh ×
        # shin points to the left.
        bend = np.einsum("ij,ij->i", np.cross(thigh, shin), across)
        size = np.linalg.norm(across, axis=1) * np.linalg.norm(shin, axis=1)
        total += float(np.mean(bend / np.maximum(size, MIN_TIP**2)))
    return total


class _Arms(NamedTuple):
    """The chest, and the tips of the left and the right arm; none without arms."""

    chest: int
    tips: tuple[int, ...]


class _Branch(NamedTuple):
    """A path away from a joint: its length [m] and the joint or end at its tip."""

    length: float
    tip: int


def _find_arms(
    tree: JointTree,
    parents: Sequence[int],
    pelvis: int,
    leg_starts: set[int],
    lateral: Floats,
) -> _Arms:
    """Return the arms: the longest pair of branches to both sides, legs excluded.

    The length of a pair is that of the shorter branch. `parents` are seen from the
    pelvis, which is the chest of a figure without arms.
    """
    children: list[list[int]] = [[] for _ in parents]
    for joint, parent in enumerate(parents):
        if parent >= 0 and joint not in leg_starts:
            children[parent].append(joint)
    points = tree.positions
    bones = [
        float(np.linalg.norm(points[k] - points[parent])) if parent >= 0 else 0.0
        for k, parent in enumerate(parents)
    ]
    arms = _Arms(pelvis, ())
    longest = MIN_ARM * tree.height
    for joint, below in enumerate(children):
        if len(below) < 2:
            continue
        # The lateral axis normal to the spine, which may lean to a side.
        spine = points[joint] - points[pelvis]
        spine_square = max(float(spine @ spine), MIN_TIP**2)
        across = lateral - spine * float(lateral @ spine) / spine_square
        branches = _find_side_branches(tree, parents, children, bones, joint, across)
        if len(branches) < 2:
            continue
        left = branches[1]
        right = branches[-1]
        length = min(left.length, right.length)
        if length <= longest * LONGER_THAN_ROUNDING_PAIR:
            continue
        left_start = path_below(parents, left.tip, joint)[0]
        right_start = path_below(parents, right.tip, joint)[0]
        if left_start != right_start:
            longest = length
            arms = _Arms(joint, (left.tip, right.tip))
    return arms


def _find_side_branches(
    tree: JointTree,
    parents: Sequence[int],
    children: Sequence[Sequence[int]],
    bones: Sequence[float],
    joint: int,
    across: Floats,
) -> dict[int, _Branch]:
    """Return the longest branch below a joint to the left (1) and to the right (−1).

    A branch is on the side on which its first joint beside the spine is; `across` (3,)
    points to the left. Only the leaves of the file end one: a root that holds only the
    pelvis is an end as seen from there, but it is a helper, and no hand.
    """
    subtree = [joint]
    for k in subtree:
        subtree += children[k]
    below = subtree[1:]
    offsets = ((tree.positions[below] - tree.positions[joint]) @ across).tolist()
    sides = {joint: 0}
    lengths = {joint: 0.0}
    for k, offset in zip(below, offsets, strict=True):
        sides[k] = sides[parents[k]]
        if not sides[k] and abs(offset) > COINCIDENT * tree.height:
            sides[k] = int(np.sign(offset))
        lengths[k] = lengths[parents[k]] + bones[k]
    branches: dict[int, _Branch] = {}
    for tip in sorted(set(tree.leaves).intersection(subtree)):
        side = sides[tip]
        longest = branches.get(side, _Branch(0.0, tip))
        if side and lengths[tip] > longest.length * LONGER_THAN_ROUNDING:
            branches[side] = _Branch(lengths[tip], tip)
    return branches


def _stands_on_arms(
    tree: JointTree,
    hands: Sequence[int],
    arms: Sequence[Limb],
    legs: Sequence[Limb],
) -> bool:
    """Return whether the arms are the front legs of an animal.

    They are about as long as legs, and reach the ground.
    """
    if not (tree.is_person and hands):
        return False
    arm_length = sum(float(limb.lengths.sum()) for limb in arms)
    leg_length = sum(float(limb.lengths.sum()) for limb in legs)
    highest_hand = float(tree.heights[list(hands)].max())
    return arm_length > MAX_LOW_ARM * leg_length and highest_hand < tree.max_foot_height


def _find_palm(
    tree: JointTree,
    path: list[int],
    limb: Limb,
) -> int:
    """Return the joint that holds the tip of an arm.

    It is the end, or the last link of a robot that moves and is no finger.
    """
    if tree.is_person:
        return path[-1]
    wrist = path.index(limb.last)
    palm = path[-1]
    for number, joint in enumerate(path):
        pattern = GRIP if number > wrist else FINGER
        if tree.axes[joint].any() and not pattern.search(tree.names[joint]):
            palm = joint
    return palm


def _find_head(
    tree: JointTree,
    parents: Sequence[int],
    pelvis: int,
    chest: int,
    limb_tips: Sequence[int],
) -> int | None:
    """Return the head, None without.

    It is on the path to the highest tip beyond the chest, above it, that is in no arm
    and no leg. That of a person is where eyes, jaw or hair branch off, else the last
    joint. That of a robot has its name, or is before the tip.
    """
    in_limbs = {*limb_tips}
    for tip in limb_tips:
        in_limbs.update(path_below(parents, tip, pelvis))
    tips = []
    for leaf in tree.leaves:
        is_beyond_chest = chest in path_below(parents, leaf, -1)
        path = {leaf, *path_below(parents, leaf, chest)}
        if is_beyond_chest and not in_limbs & path:
            tips.append(leaf)
    top = max(tips, key=lambda k: float(tree.heights[k]), default=chest)
    if tree.heights[top] <= tree.heights[chest]:
        return None
    path_to_top = path_below(parents, top, chest) or [top]
    if tree.is_person:
        return _choose_head_of_person(tree, parents, path_to_top)
    named = [k for k in path_to_top if HEAD.search(tree.names[k])]
    if named:
        return named[-1]
    return path_to_top[max(len(path_to_top) - 2, 0)]


def _choose_head_of_person(
    tree: JointTree,
    parents: Sequence[int],
    path: Sequence[int],
) -> int:
    """Return where eyes, jaw or hair branch off a path, else its last joint."""
    joints = [k for k in path if k < tree.num_joints] or path[:1]
    for joint in joints:
        if parents.count(joint) > 1:
            return joint
    return joints[-1]
