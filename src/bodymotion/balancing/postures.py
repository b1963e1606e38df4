"""Postures that bring feet and centre of mass to their goals, by inverse kinematics.

The sum of weighted squares is least: of the poses of feet and the horizontal centre of
mass, which count most, and of the height of the centre of mass, the orientation of the
root and the joints. Each frame is solved by itself. A leg that is nearly straight has
two postures, bent or at its limit, and the search of a frame may end in the worse one.
So frames that differ from those around them are searched again from there.
"""

from typing import Any, NamedTuple

import numpy as np

from bodymotion.balancing.knees import JointLimits
from bodymotion.balancing.stance import FootPlan
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, Indices, median_step
from bodymotion.kernels.inverse_kinematics import CENTER, POSE
from bodymotion.model.body import Body
from bodymotion.model.ik import Solution, TaskList, search_space, solve
from bodymotion.system.deferred import need

MAX_STEPS = 60
# [1/m, 1/rad] Of the poses of feet and the horizontal centre of mass.
FOOT_WEIGHT = 100.0
# [1/m] Of the height of the centre of mass.
HEIGHT_WEIGHT = 1.0
# [1/rad] Of the orientation of the root.
ROOT_WEIGHT = 5.0
# Of the difference to the old values of legs, which move freely.
LEG_WEIGHT = 1e-3
# Of the difference to the old values of other joints. They move where legs are not
# enough.
OTHER_WEIGHT = 0.2
# How far the first search begins from the old joints towards their mean.
NOMINAL_SHARE = 0.3
# [m] The error of a foot's rotation counts as the distance that a point at this
# distance from its middle moves.
HALF_FOOT = 0.1
# [s] Window of the median that a posture is compared with.
MEDIAN_TIME = 0.3
# [rad, m] A leg joint that differs by more from the median is searched again.
MAX_DIFFERENCE = 0.1
# So often outliers are searched again after each search.
MAX_SEARCHES = 1
# A posture from the median is taken if its cost is at most this many times as large: a
# little further from the goals is better than a jump.
MAX_COST = 1.5


class Postures(NamedTuple):
    """Joint values (T, J), and poses of the root (T, 7)."""

    joints: Floats
    root: Floats


class Goals(NamedTuple):
    """What postures are to reach in T frames, within the limits of joints.

    `center` (T, 3) [m] of mass; `near`, the postures that they stay near to.
    """

    times: Floats
    limits: JointLimits
    feet: FootPlan
    center: Floats
    near: Postures


def solve_postures(
    body: Body,
    goals: Goals,
    start: Postures,
) -> tuple[Postures, Floats]:
    """Return the postures nearest to goals, and how far they miss them.

    Misses (T,) [m] are of feet and the centre of mass at most. Joints stay within their
    limits; those whose lower limit is above the upper one have none. The search begins
    at the postures `start`.
    """
    legs = body.columns_above(*goals.feet.links)
    joints = np.array(start.joints)
    if start.joints is goals.near.joints:
        # Stretched knees could bend either way: the first search begins where they bend
        # as they mostly do.
        mean = joints.mean(axis=0)
        joints[:, legs] += NOMINAL_SHARE * (mean - joints)[:, legs]
    frames = np.arange(len(joints))
    solution = _search(body, goals, Postures(joints, start.root), frames)
    best = Postures(np.array(solution.q), np.array(solution.root))
    cost = np.array(solution.cost)
    missed = _measure_misses(solution)
    for _ in range(MAX_SEARCHES):
        likely = _medians(best, goals)
        differences = np.abs(likely.joints - best.joints)[:, legs]
        difference = differences.max(axis=1, initial=0.0)
        outliers = np.flatnonzero(difference > MAX_DIFFERENCE)
        if not len(outliers):
            break
        again = _search(body, goals, likely, outliers)
        new_difference = np.abs(again.q - likely.joints[outliers])[:, legs].max(axis=1)
        is_better = again.cost < MAX_COST * cost[outliers]
        is_better &= new_difference < difference[outliers]
        if not is_better.any():
            break
        changed = outliers[is_better]
        best.joints[changed] = again.q[is_better]
        best.root[changed] = again.root[is_better]
        cost[changed] = again.cost[is_better]
        missed[changed] = _measure_misses(again)[is_better]
    return best, missed


def _search(
    body: Body,
    goals: Goals,
    start: Postures,
    frames: Indices,
) -> Solution:
    """Search the postures of some frames."""
    plan = goals.feet
    near = goals.near
    problem = TaskList(
        body, start.joints[frames], start.root[frames], near.joints[frames]
    )
    for k, link in enumerate(plan.links):
        goal = plan.targets[frames, k].copy()
        goal[:, :3] = poses.transform_points(goal, plan.points[k])
        weights = [FOOT_WEIGHT] * (6 if plan.oriented[k] else 3)
        points = (plan.points[k], np.zeros(3))
        problem.add(body.links[link].name, POSE, weights, goal, (link, -1), points)
    center = goals.center[frames]
    problem.add("centre of mass", CENTER, [FOOT_WEIGHT] * 2, center)
    problem.add("height", CENTER, [0.0, 0.0, HEIGHT_WEIGHT], center)
    root_weights = [0.0] * 3 + [ROOT_WEIGHT] * 3
    problem.add("root", POSE, root_weights, near.root[frames])
    stiffness = np.full(6 + body.num_joints, OTHER_WEIGHT)
    stiffness[[6 + column for column in body.columns_above(*plan.links)]] = LEG_WEIGHT
    space = search_space(body, True, None, stiffness)
    space.lower[6:] = goals.limits.lower
    space.upper[6:] = goals.limits.upper
    return solve(problem, space, 0, MAX_STEPS)


def _measure_misses(solution: Solution) -> Floats:
    """Return how far (T,) [m] feet and centre of mass are from their goals at most."""
    # The last two tasks, height and root, are no goals that must be reached.
    errors = solution.errors[:, :-2] * [1.0, HALF_FOOT]
    return np.asarray(errors.max(axis=(1, 2)))


def _medians(postures: Postures, goals: Goals) -> Postures:
    """Return the medians of postures over time.

    The root is at its median position relative to the centre of mass, which moves.
    """
    images: Any = need("scipy.ndimage", "opt", "balancing")
    frames = len(postures.joints)
    # Frames are far apart where there are few: then there is no median of neighbours.
    size = min(1 + 2 * int(0.5 * MEDIAN_TIME / median_step(goals.times)), frames)
    joints = images.median_filter(postures.joints, (size, 1), mode="mirror")
    offset = postures.root[:, :3] - goals.center
    offset = images.median_filter(offset, (size, 1), mode="mirror")
    turn = rotations.difference(postures.root[:, 3:], goals.near.root[:, 3:])
    turn = images.median_filter(turn, (size, 1), mode="mirror")
    orientation = rotations.multiply(
        rotations.from_vector(turn), goals.near.root[:, 3:]
    )
    root = np.concatenate([goals.center + offset, orientation], axis=1)
    return Postures(joints, root)
