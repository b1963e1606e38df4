"""A recorded person, or a quadruped, as a quadruped robot.

`quadruped_plans` says what the robot does then. Inverse kinematics brings it as near to
this plan as its limits allow, feet first. A knee bends where its limits allow more, and
backwards where they allow both.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.feet import lowest
from bodymotion.kernels.inverse_kinematics import Space
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.motion.filters import smooth_upper_bound
from bodymotion.retargeting.figures import free_root
from bodymotion.retargeting.foot_shapes import foot_cloud
from bodymotion.retargeting.hinges import (
    BendSide,
    BentPosture,
    bend_hinges,
    find_hinge,
)
from bodymotion.retargeting.quadruped_plans import Plan, level_frame
from bodymotion.retargeting.roles import LEG_ENDS, LEG_PARTS, LEGS, SIDES, Figure
from bodymotion.retargeting.skeletons import motion_of_joints
from bodymotion.retargeting.soles import lowest_of_links
from bodymotion.retargeting.speeds import (
    CALMING_TIME,
    filter_sudden_changes,
    limit_velocities,
)

# [rad] How far knees are bent where the search begins.
BENT = 1.5
# [rad] How far knees are bent at least.
MIN_BENT = 0.1
# [rad] A smaller difference of the ranges of a knee to both sides does not count.
MIN_WIDER_SIDE = 0.5
# Of the goals of feet.
FOOT_WEIGHT = 10.0
# Of the goal of the trunk.
TRUNK_WEIGHT = 1.0
# [1/rad] Of the posture with bent knees.
POSTURE_WEIGHT = 0.002
# Steps of inverse kinematics in the first pass.
FIRST_STEPS = 60
# Steps in the second pass.
STEPS = 3
# Start poses that are tried in the first pass.
RESTARTS = 20


class Soles(NamedTuple):
    """The points of feet that can touch the ground.

    The links of the feet, the points (P, 3) [m] in their frames, and the first point of
    each foot, then P.
    """

    links: list[int]
    points: Floats
    edges: Indices


def follow_plan(
    plan: Plan,
    body: Body,
    figure: Figure,
) -> Motion:
    """Return the motion of a body with four legs that does what is planned."""
    walker = free_root(body, figure)
    times = plan.times
    q, root = _solve_postures(plan, walker, figure)
    held = np.zeros(q.shape, dtype=bool)
    for role, contact in zip(LEG_ENDS, plan.contact.T, strict=True):
        held[:, walker.columns_above(figure.link_of(role))] |= contact[:, None]
    q = limit_velocities(walker, q, times, held)
    legs = _columns_of_legs(walker, figure)
    q, root = filter_sudden_changes(walker, q, root, times, legs)
    q = limit_velocities(walker, q, times, held)
    if not walker.is_mounted:
        link_poses = walker.forward_kinematics(q, root)
        soles = find_soles(body, figure)
        foot_heights = measure_foot_heights(soles, link_poses).min(axis=1)
        lowest_heights = np.minimum(foot_heights, lowest_of_links(body, link_poses))
        depth = np.maximum(-lowest_heights, 0.0)
        root[:, 2] += smooth_upper_bound(depth, times, CALMING_TIME)
    return motion_of_joints(body, q, root, plan.timeline)


def _solve_postures(
    plan: Plan,
    body: Body,
    figure: Figure,
) -> tuple[Floats, Floats]:
    """Return the joints (T, J) and root poses (T, 7) that are nearest to a plan."""
    reference = figure.reference
    trunk = figure.link_of("trunk")
    hips = [figure.rest[f"{leg} hip"] for leg in LEGS]
    middle = np.array([*np.mean(hips, axis=0), *level_frame(figure)])
    depths = measure_contact_depths(body, figure, reference[None])
    goal = np.column_stack([plan.body, rotations.from_rpy(plan.rpy)])
    goal = goal + depths.mean() * np.eye(7)[2]
    motion = poses.compose(goal, poses.inverse(middle))
    posture = bend_hinges(body, _find_bend_sides(body, figure), MIN_BENT, BENT)
    space = _free_variables(body, figure, posture)
    q = posture.q
    root = np.asarray(body.root_pose)
    if not body.is_mounted:
        root = poses.compose(motion[0], reference[0])
    # Where a foot touches the ground depends on the orientation of its shin: a second
    # pass has the depths of the first one.
    for restarts, steps in ((RESTARTS, FIRST_STEPS), (0, STEPS)):
        problem = ik.TaskList(body, q, root, posture.q)
        trunk_goal = poses.compose(motion, reference[trunk])
        problem.add_task(ik.FrameTask(trunk, trunk_goal, TRUNK_WEIGHT, TRUNK_WEIGHT))
        for number, role in enumerate(LEG_ENDS):
            link, point = figure.points[role]
            foot_goal = plan.feet[:, number] + depths[:, number, None] * [0, 0, 1]
            problem.add_task(ik.FrameTask(link, foot_goal, FOOT_WEIGHT, point=point))
        problem.add_loops()
        solution = ik.solve(problem, space, restarts, steps)
        q = solution.q
        root = solution.root
        link_poses = body.forward_kinematics(q, root)
        depths = measure_contact_depths(body, figure, link_poses)
    return q, root


def _columns_of_legs(body: Body, figure: Figure) -> list[int]:
    """Return the columns of the joints of legs and trunk."""
    return body.columns_above(*(figure.link_of(role) for role in ("trunk", *LEG_ENDS)))


def _free_variables(
    body: Body,
    figure: Figure,
    posture: BentPosture,
) -> Space:
    """Return that the joints of legs and trunk move, within limits, and the root."""
    columns = _columns_of_legs(body, figure)
    is_free = not body.is_mounted
    space = ik.search_space(body, is_free, columns, 0.0)
    return space._replace(
        lower=np.r_[space.lower[:6], posture.lower],
        upper=np.r_[space.upper[:6], posture.upper],
        weights=POSTURE_WEIGHT * space.is_moving.astype(np.float64),
    )


def _find_bend_sides(body: Body, figure: Figure) -> Iterator[BendSide]:
    """Yield the knees, with the sides to which they bend."""
    rest = figure.rest
    forward = sum(
        rest[f"front {side} hip"] - rest[f"hind {side} hip"] for side in SIDES
    )
    for leg in LEGS:
        hinge = find_hinge(body, figure, *(f"{leg} {part}" for part in LEG_PARTS))
        has_one_side = abs(hinge.wider_side) > MIN_WIDER_SIDE
        ahead = float(hinge.end_velocity @ forward)
        sign = np.sign(hinge.wider_side if has_one_side else ahead) or 1.0
        yield BendSide(hinge.column, hinge.straight, sign)


def find_soles(body: Body, figure: Figure) -> Soles:
    """Return the points of four feet that can touch the ground.

    Each with the links that it carries, as they are in the upright pose.
    """
    links = []
    clouds = []
    for role in LEG_ENDS:
        link, point = figure.points[role]
        cloud = foot_cloud(body, figure, role)
        to_link = poses.inverse(figure.reference[link])
        links.append(link)
        # A foot without shapes is a point.
        clouds.append(
            poses.transform_points(to_link, cloud) if len(cloud) else point[None]
        )
    edges = np.cumsum([0, *map(len, clouds)])
    return Soles(links, np.concatenate(clouds), edges)


def measure_foot_heights(soles: Soles, link_poses: Floats) -> Floats:
    """Return the heights (T, K) [m] of the lowest points of feet.

    `link_poses` (T, L, 7).
    """
    feet = link_poses[:, soles.links]
    return np.asarray(lowest(feet, soles.points, soles.edges, 0.0)[..., 0])


def measure_contact_depths(
    body: Body,
    figure: Figure,
    link_poses: Floats,
) -> Floats:
    """Return how far (T, 4) [m] the points of the role foot are above the lowest ones.

    `link_poses` (T, L, 7).
    """
    heights = [figure.locate(role, link_poses)[:, 2] for role in LEG_ENDS]
    lowest_points = measure_foot_heights(find_soles(body, figure), link_poses)
    return np.asarray(np.stack(heights, axis=1) - lowest_points)
