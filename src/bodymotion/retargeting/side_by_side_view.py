"""A body that shows a source and a robot side by side: `side_by_side`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bodymotion.dynamics import measure
from bodymotion.formats.resources import missing_files
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Segment
from bodymotion.model.scaling import scale
from bodymotion.model.stick_figure import drawn_shapes
from bodymotion.motion import Motion, MultiSE3Seq, Timeline
from bodymotion.motion.components import LINK_POSITION
from bodymotion.motion.interpolation import sampled
from bodymotion.retargeting.figures import figure_of_body
from bodymotion.retargeting.quadruped_plans import measure_stand
from bodymotion.retargeting.roles import Figure
from bodymotion.retargeting.skeletons import Recorded, with_body
from bodymotion.retargeting.source import find_moving_figure
from bodymotion.skeleton import Skeleton

# Of the sum of the heights of both figures: how far they are apart.
GAP = 0.55


def side_by_side(
    source: Recorded,
    body: Body,
    motion: Motion,
    *,
    source_body: Body | None = None,
    roles: Mapping[str, str] | None = None,
    source_roles: Mapping[str, str] | None = None,
) -> tuple[Body, Motion]:
    """Return a body with the links of a source and of a robot, and its motion.

    `bm.view(*bm.retargeting.side_by_side(person, robot, motion))`.

    The source is left of the robot, in its heading and size, so that their paths are
    equal. Parameters and errors: `compare_retarget`.
    """
    source, source_body = with_body(source, source_body)
    robot = figure_of_body(body, roles)
    figure, joints, timeline = find_moving_figure(source, source_body, source_roles)
    if isinstance(source, Skeleton):
        person, person_motion = source.body_and_motion()
    else:
        person = source_body or body
        person_motion = source
    measures = measure(body, motion)
    person_measures = measure(person, person_motion)
    size = _ratio_of_sizes(robot, figure)
    times = measures.times
    robot_lateral = _lateral_vectors(robot, measures.link_poses)
    source_joints = np.array(sampled(joints, timeline.times, times))
    source_lateral = _lateral_vectors(figure, source_joints)
    shown = np.array(sampled(person_measures.link_poses, person_measures.times, times))
    shown = shown * ([size] * 3 + [1.0] * 4)
    shown = poses.compose(_mean_rotation(source_lateral, robot_lateral), shown)
    shown[..., :2] += _offset_to_left(shown[0], measures.link_poses[0], robot_lateral)
    link_poses = np.concatenate([shown, measures.link_poses], axis=1)
    shapes: list[tuple[Shape, ...]] = []
    for part in (scale(person, size), body):
        shapes += drawn_shapes(part, are_missing=bool(missing_files(part)))
    joined = _join_bodies(person, body, link_poses[0], shapes)
    timeline = measures.timeline or Timeline.stamped(times)
    component = MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=link_poses)
    return joined, Motion(components=(component,))


def _ratio_of_sizes(robot: Figure, source: Figure) -> float:
    """Return the size of a robot over that of the source."""
    robot_size = _size_of(robot)
    if robot.is_quadruped and not source.is_quadruped:
        heights = [point[2] for point in source.rest.values()]
        return robot_size / float(source.rest["left hip"][2] - min(heights))
    return robot_size / _size_of(source)


def _size_of(figure: Figure) -> float:
    """Return the length [m] of a leg, or the height of the hips of a quadruped."""
    if figure.is_quadruped:
        return measure_stand(figure).height
    return figure.length("left hip", "left knee", "left ankle")


def _lateral_vectors(figure: Figure, joint_poses: Floats) -> Floats:
    """Return the level vectors (T, 3) [m] from the right to the left hips.

    `joint_poses` (T, N, 7).
    """
    total: Floats = np.zeros(3)
    for end in ("front ", "hind ") if figure.is_quadruped else ("",):
        left = figure.locate(f"{end}left hip", joint_poses)
        right = figure.locate(f"{end}right hip", joint_poses)
        total = total + (left - right)
    return np.asarray(total * np.array([1.0, 1.0, 0.0]))


def _mean_rotation(vectors: Floats, targets: Floats) -> Floats:
    """Return the pose (7,) that rotates level vectors (T, 3) to others in the mean."""
    sine = np.cross(vectors, targets)[:, 2].sum()
    cosine = (vectors * targets).sum()
    yaw = float(np.arctan2(sine, cosine))
    return np.array([0.0, 0.0, 0.0, *rotations.from_rpy([0.0, 0.0, yaw])])


def _offset_to_left(
    source: Floats,
    robot: Floats,
    lateral: Floats,
) -> Floats:
    """Return how (2,) [m] a source is moved so that it begins left of the robot.

    `source` and `robot` (L, 7) are poses of their links, `lateral` (T, 3) points to the
    left of the robot.
    """
    heights = float(np.ptp(robot[:, 2]) + np.ptp(source[:, 2]))
    to_robot = robot[:, :2].mean(axis=0) - source[:, :2].mean(axis=0)
    length = max(float(np.linalg.norm(lateral[0])), 1e-9)
    return np.asarray(to_robot + GAP * heights * lateral[0, :2] / length)


def _join_bodies(
    source: Body,
    robot: Body,
    link_poses: Floats,
    shapes: Sequence[tuple[Shape, ...]],
) -> Body:
    """Return a body with the links of both at poses (L, 7), fixed to the first one.

    `shapes` are those of the links.
    """
    links = []
    for index, link in enumerate((*source.links, *robot.links)):
        name = link.name
        if index < len(source.links):
            name = f"source {name}"
        links.append(
            replace(
                link,
                index=index,
                parent=0 if index else -1,
                name=name,
                offset=link_poses[index] if index else link.offset,
                joint=Joint(name=f"{index}", type="fixed"),
                segments=(Segment(name=link.name, visuals=shapes[index]),),
            )
        )
    return Body(
        name=f"source and {robot.name or 'robot'}",
        links=tuple(links),
        environment=robot.environment,
    )
