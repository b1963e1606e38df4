"""Postures of all frames: feet and centre of mass as planned, all else as near to the old motion as possible."""

import numpy as np

from bodymotion.balancing.stance import FootPlan
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.inverse_kinematics import CENTER, POSE
from bodymotion.model.body import Body
from bodymotion.model.ik import TaskList, search_space, solve

MAX_STEPS = 200
FOOT_WEIGHT = 100.0  # [1/m, 1/rad] Of the poses of feet and the horizontal centre of mass.
HEIGHT_WEIGHT = 1.0  # [1/m] Of the height of the centre of mass.
ROOT_WEIGHT = 5.0  # [1/rad] Of the orientation of the root.
LEG_WEIGHT, OTHER_WEIGHT = 1e-3, 0.2
"""Of the difference to the old joint values: legs move freely, other joints only where legs are not enough."""
NOMINAL_SHARE = 0.3  # How far the search begins from the old joints towards their mean.
HALF_FOOT = 0.1
"""[m] The error of a foot's rotation counts as the distance that a point at this distance from its middle moves."""


def solve_postures(
    body: Body, plan: FootPlan, center: Floats, old: tuple[Floats, Floats], start: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Return joints (T, J), root poses (T, 7) and how far feet and centre of mass are from their goals at most (T,) [m].

    The sum of weighted squares is least: of the feet's poses and the horizontal centre of mass, which count most, and of the height of the
    centre of mass (`center` (T, 3)), the root's orientation and the joints (`old`). Joints stay within their limits; those whose lower
    limit is above the upper one have none.
    """
    q, legs = np.array(start[0]), body.columns_above(*plan.links)
    if start[0] is old[0]:
        # Stretched knees could bend either way: the first search begins where they bend as they mostly do.
        q[:, legs] += NOMINAL_SHARE * (q.mean(axis=0) - q)[:, legs]
    problem = TaskList(body, q, start[1], old[0])
    for k, link in enumerate(plan.links):
        goal = plan.targets[:, k].copy()
        goal[:, :3] = poses.transform_points(goal, plan.points[k])
        weights = [FOOT_WEIGHT] * (6 if plan.oriented[k] else 3)
        problem.add(body.links[link].name, POSE, weights, goal, (link, -1), (plan.points[k], np.zeros(3)))
    problem.add("centre of mass", CENTER, [FOOT_WEIGHT] * 2, center)
    problem.add("height", CENTER, [0.0, 0.0, HEIGHT_WEIGHT], center)
    problem.add("root", POSE, [0.0] * 3 + [ROOT_WEIGHT] * 3, old[1])
    near = np.full(6 + body.num_joints, OTHER_WEIGHT)
    near[[6 + column for column in legs]] = LEG_WEIGHT
    found = solve(problem, search_space(body, True, None, near), 0, MAX_STEPS)
    missed = (found.errors[:, :-2] * [1.0, HALF_FOOT]).max(axis=(1, 2))
    return found.q, found.root, missed
