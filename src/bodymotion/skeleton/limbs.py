"""Limbs that mirror each other, found from the lengths of their bones alone.

No pose and no name is needed.

Two limbs are a pair where they separate at one joint, and their longest paths have as
many bones, of about equal lengths. Of people the longest pair are the legs and the next
one the arms: in sample recordings arms are 0.62 to 0.96 times as long, with their
clavicles.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Floats

# Names of an animator's goals. Copies of hands and feet, which no bones lead to.
GOAL = re.compile(r"(^|[\W_])ik([\W_]|$)", re.IGNORECASE)
# Of the length of a limb. Bones of mirrored limbs differ by less. The arm of a person
# and the spine differ by far more.
MIRROR_TOLERANCE = 0.1
# Of the longest pair: shorter pairs are fingers, toes, eyes and ears.
MIN_LIMB = 0.4
# Of the longest pair. A shorter one is no leg. Of the others the one next to the root
# is, since files begin at the hips.
CLEARLY_SHORTER = 0.93
# Of the longest pair. The ends of legs are lower than those of arms by more, of who
# does not crawl or lie.
CLEARLY_LOWER = 0.25
# Of the size of the figure. A bone whose length changes by more is none. Sliding joints
# and rounding change it by less.
LOOSE = 0.05
# Of the size of the figure: joints nearer than this are at one point.
COPY = 1e-3
# Joints of one small cube that a leaf is compared with, those of the shortest bones.
# Thousands of joints may be at one point.
MAX_COPIES = 20


class LimbPair(NamedTuple):
    """Two limbs that mirror each other.

    The joint where they separate, their longest ends, and the length [m] of the shorter
    one.
    """

    joint: int
    tips: tuple[int, int]
    length: float


def find_limb_pairs(parents: Sequence[int], bones: Floats) -> list[LimbPair]:
    """Return the pairs of limbs, the longest first, without those of fingers.

    Parents are before their children, −1 above the root; `bones` (N,) [m] are the
    lengths from the parents.
    """
    count = len(parents)
    lengths = np.array(bones, dtype=np.float64)
    longest_child = [-1] * count
    children: list[list[int]] = [[] for _ in range(count)]
    for joint in reversed(range(count)):
        if children[joint]:
            longest_child[joint] = max(children[joint], key=lambda k: lengths[k])
            lengths[joint] += lengths[longest_child[joint]]
        if parents[joint] >= 0:
            children[parents[joint]].append(joint)

    pairs = []
    for joint in range(count):
        # Mirrored limbs are neighbours in the order of lengths.
        by_length = sorted(children[joint], key=lambda k: lengths[k])
        for shorter, longer in pairwise(by_length):
            tolerance = MIRROR_TOLERANCE * float(lengths[longer])
            has_length = lengths[longer] > 0
            if not has_length or lengths[longer] - lengths[shorter] > tolerance:
                continue
            first = _longest_path(longest_child, shorter)
            second = _longest_path(longest_child, longer)
            if len(first) != len(second):
                continue
            if np.abs(bones[first] - bones[second]).max() < tolerance:
                tips = (first[-1], second[-1])
                pairs.append(LimbPair(joint, tips, float(lengths[shorter])))
    pairs.sort(key=lambda pair: -pair.length)
    return [pair for pair in pairs if pair.length > MIN_LIMB * pairs[0].length]


def _longest_path(longest_child: Sequence[int], joint: int) -> list[int]:
    """Return the joints of the longest path below a joint, which is the first."""
    path = [joint]
    while longest_child[path[-1]] >= 0:
        path.append(longest_child[path[-1]])
    return path


class Legs(NamedTuple):
    """The joint where legs separate, and their longest ends.

    Two, or four where those of an animal separate at one joint.
    """

    joint: int
    tips: tuple[int, ...]


def find_legs(
    parents: Sequence[int],
    pairs: Sequence[LimbPair],
    heights: Floats | None = None,
) -> Legs | None:
    """Return the pair of limbs that are legs.

    None without a pair.

    It is the pair with the lowest ends, by mean `heights` (N,) [m] of the joints, where
    it is much lower than the others. Otherwise, as of who crawls or lies, it is the
    longest pair; of pairs about as long, the one next to the root.
    """
    if not pairs:
        return None
    legs = _choose_legs(parents, pairs, heights)
    tips = set(legs.tips)
    for pair in pairs:
        is_as_long = pair.length > CLEARLY_SHORTER * legs.length
        if pair.joint != legs.joint or not is_as_long:
            continue
        is_as_low = heights is None or (
            _height_of(pair, heights) - _height_of(legs, heights)
            <= CLEARLY_LOWER * legs.length
        )
        if is_as_low:
            tips.update(pair.tips)
    return Legs(legs.joint, tuple(sorted(tips)))


def _choose_legs(
    parents: Sequence[int],
    pairs: Sequence[LimbPair],
    heights: Floats | None,
) -> LimbPair:
    """Return the pair of limbs that are legs, of at least one pair."""
    if heights is not None and len(pairs) > 1:
        by_height = sorted(pairs, key=lambda pair: _height_of(pair, heights))
        gap = _height_of(by_height[1], heights) - _height_of(by_height[0], heights)
        if gap > CLEARLY_LOWER * pairs[0].length:
            return by_height[0]
    depths = [0] * len(parents)
    for joint, parent in enumerate(parents):
        if parent >= 0:
            depths[joint] = depths[parent] + 1
    able = [pair for pair in pairs if pair.length > CLEARLY_SHORTER * pairs[0].length]
    return min(able, key=lambda pair: depths[pair.joint])


def _height_of(pair: LimbPair, heights: Floats) -> float:
    """Return the height [m] of the higher end of a pair."""
    return float(heights[list(pair.tips)].max())


def find_goals(
    parents: Sequence[int],
    positions: Floats,
    names: Sequence[str],
) -> set[int]:
    """Return the joints that no bone holds, for positions (T, N, 3) [m].

    Goals of an animator, and the hips below a helper.

    Their distance to the parent changes. A goal that does not move is a copy: a leaf at
    another joint, to which a shorter bone leads. One that is no copy has the name of a
    goal, and so have all joints above it, up to a root.
    """
    above = np.array(parents)
    inner = np.flatnonzero(above >= 0)
    lengths = np.zeros(positions.shape[:2])
    lengths[:, inner] = np.linalg.norm(
        positions[:, inner] - positions[:, above[inner]], axis=2
    )
    size = float(np.ptp(positions[0], axis=0).max(initial=0.0))
    goals = set(np.flatnonzero(np.ptp(lengths, axis=0) > LOOSE * size).tolist())
    leaves = set(range(len(parents))) - set(parents)
    goals |= _find_copies(leaves, positions, lengths[0], COPY * size)
    named: set[int] = set()
    for joint, parent in enumerate(parents):
        is_below_root = parent >= 0 and (parents[parent] < 0 or parent in named)
        if is_below_root and GOAL.search(names[joint]):
            named.add(joint)
    return goals | named


def _find_copies(
    leaves: Iterable[int],
    positions: Floats,
    bones: Floats,
    distance: float,
) -> set[int]:
    """Return the leaves that are always at another joint.

    A bone of less than half the length leads to that one.

    Positions (T, N, 3) [m], lengths of bones (N,) [m] in the first frame, and the
    distance [m] within which joints are at one point.
    """
    if not 0.0 < distance < np.inf:
        return set()
    # Joints are near only in the same or in adjacent cubes. So the time is not that of
    # all pairs of joints.
    cubes = np.floor((positions[0] - positions[0].min(axis=0)) / distance).astype(int)
    joints_in: dict[tuple[int, ...], list[int]] = {}
    for joint in np.argsort(bones, kind="stable").tolist():
        joints = joints_in.setdefault(tuple(cubes[joint].tolist()), [])
        if len(joints) < MAX_COPIES:
            joints.append(joint)
    copies: set[int] = set()
    for leaf in leaves:
        near = []
        x, y, z = cubes[leaf].tolist()
        for dx, dy, dz in product((-1, 0, 1), repeat=3):
            for joint in joints_in.get((x + dx, y + dy, z + dz), ()):
                if 2.0 * bones[joint] < bones[leaf]:
                    near.append(joint)
        if not near:
            continue
        differences = np.abs(positions[:, near] - positions[:, [leaf]])
        if (differences.max(axis=(0, 2)) < distance).any():
            copies.add(leaf)
    return copies
