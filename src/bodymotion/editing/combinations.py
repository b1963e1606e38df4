"""The three combinations of link and joint trajectories in a .seq file, and the conversions between them.

1. the poses of all links;  2. the pose of the root link and all joints;  3. the poses of all links and all joints.
"""

from dataclasses import dataclass, replace

import numpy as np

from bodymotion.diagnostics import ShortRepr
from bodymotion.editing.frames import root_poses
from bodymotion.editing.rules import IDLE, NOT_RIGID
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, check_memory
from bodymotion.model.body import Body
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
)
from bodymotion.motion.components import TimedComponent

CHUNK_POSES = 1 << 16  # Link poses that are processed at once; it limits the memory.

RESIDUAL_TOLERANCE = 1e-3  # [m, rad]


@dataclass(frozen=True)
class Residual(ShortRepr):
    """The difference between link poses and those by root and joints.

    The largest distance [m] and angle [rad], with link and frame.
    """

    distance: float = 0.0
    distance_link: str = ""
    distance_frame: int = 0
    angle: float = 0.0
    angle_link: str = ""
    angle_frame: int = 0

    def __str__(self) -> str:
        return (
            f"links are at most {self.distance * 1000:.3g} mm ({self.distance_link}, "
            f"frame {self.distance_frame}) and "
            f"{np.degrees(self.angle):.3g}° ({self.angle_link}, frame "
            f"{self.angle_frame}) from the poses by root and joints"
        )


def fill_link_poses(motion: Motion, body: Body) -> Motion:
    """Return the motion with the poses of all links beside the joints (combination 3), by forward kinematics.

    Existing poses do not change; without a root pose the root is at the pose of the
    body. New poses get the timeline of the joint displacements; a root on another
    timeline is interpolated linearly and by SLERP. For link poses alone (combination
    1), drop JointDisplacement afterwards.

    Raises
    ------
    ValueError
        When the motion has no joint displacements, or no column for a joint of the body
        (`Body.joint_values`); the message names the counts and the joints.
    """
    count = len(body.links)
    link_position = motion.link_position
    if link_position is not None and link_position.num_parts >= count:
        message = f"no link poses are added: the motion already has those of {link_position.num_parts} links"
        return motion.replaced(*motion.components, problems=[IDLE.problem(message)])
    joints = motion.joint_displacement
    if joints is None:
        raise ValueError(
            "the motion has no joint displacements, from which link poses follow"
        )
    check_memory(
        joints.num_frames * count * 56,
        f"the poses of {count} links in {joints.num_frames} frames",
    )
    q = body.joint_values(joints)
    if link_position is None:
        values = body.forward_kinematics(q)
        filled = MultiSE3Seq(
            content=LINK_POSITION, timeline=joints.timeline, values=values
        )
        return motion.replaced(filled, *motion.components)
    values = body.forward_kinematics(
        q, root_poses(motion, joints.timeline.times, "forward kinematics")
    )
    if link_position.timeline == joints.timeline:
        values[:, : link_position.num_parts] = link_position.values
    labels = link_position.part_labels
    if labels:
        labels = (*labels, *(link.name for link in body.links[len(labels) :]))
    filled = replace(
        link_position, timeline=joints.timeline, values=values, part_labels=labels
    )
    return motion.replaced(
        *(filled if c is link_position else c for c in motion.components)
    )


def keep_root_pose(motion: Motion) -> Motion:
    """Return the motion with the pose of the root link alone (from combination 3 to 2).

    Raises
    ------
    ValueError
        When it has no joint displacements, so that all other links would be lost.
    """
    if motion.joint_displacement is None:
        message = "the motion has no joint displacements, so all other links would be lost; use recover_joints() first"
        raise ValueError(message)

    def first(c: TimedComponent) -> Component:
        is_of_links = isinstance(c, MultiSE3Seq) and c.content == LINK_POSITION
        if is_of_links:
            return replace(c, values=c.values[:, :1], part_labels=c.part_labels[:1])
        return c

    idle = IDLE.problem("no root pose to keep: the motion has no LinkPosition")
    return motion.mapped(first, [idle] if motion.link_position is None else ())


def recover_joints(motion: Motion, body: Body) -> tuple[Motion, Residual]:
    """Compute the joint displacements from the poses of all links (from combination 1 to 3; `keep_root_pose` continues to 2).

    See `Body.recovered_joints`. Columns that move no link, and crawlers, keep their
    values where the motion has joint displacements on the same timeline, and are 0
    otherwise.

    Returns
    -------
    The motion with JointDisplacement (T, J), which replaces an existing one, and the
    residual of the link poses. `problems` reports more than 1 mm or 1 mrad. Existing
    columns are identified by name where they have names (`Body.joint_columns`).

    Raises
    ------
    ValueError
        When the motion does not have the poses of all links; the message names the
        counts. Also when only some of the names of its joints are the body's.
    """
    link_position = motion.link_position
    count = len(body.links)
    if link_position is None or link_position.num_parts < count:
        raise ValueError(
            "the motion has poses of "
            f"{0 if link_position is None else link_position.num_parts} links, "
            f"{body.name or 'the body'} has {count} links: joints need the poses of "
            "all of them"
        )
    old = motion.joint_displacement
    q = np.zeros((link_position.num_frames, body.num_joints))
    columns = () if old is None else body.joint_columns(old)
    if old is not None and old.timeline == link_position.timeline:
        known_columns = [k for k, column in enumerate(columns) if column >= 0]
        q[:, known_columns] = old.values[:, [columns[k] for k in known_columns]]
    q = body.recovered_joints(link_position.values, q)
    residual = _residual(link_position.values, q, body)
    recovered = MultiValueSeq(
        content=JOINT_DISPLACEMENT, timeline=link_position.timeline, values=q
    )
    if old is None:
        index = (
            next(i for i, c in enumerate(motion.components) if c is link_position) + 1
        )
        components = (*motion.components[:index], recovered, *motion.components[index:])
    else:
        labels = _labels(old.part_labels, columns, body)
        kept = replace(
            old, timeline=link_position.timeline, values=q, part_labels=labels
        )
        components = tuple(kept if c is old else c for c in motion.components)
    rigid = max(residual.distance, residual.angle) <= RESIDUAL_TOLERANCE
    return motion.replaced(
        *components, problems=() if rigid else [NOT_RIGID.problem(str(residual))]
    ), residual


def _labels(
    old: tuple[str, ...], columns: tuple[int, ...], body: Body
) -> tuple[str, ...]:
    """Return the labels of columns in the body's order.

    New joints get the names of the body.
    """
    if not old or columns[: len(old)] == tuple(range(len(old)))[: len(columns)]:
        return old[: len(columns)]
    return tuple(
        old[column] if 0 <= column < len(old) else joint.name
        for column, joint in zip(columns, body.joints, strict=True)
    )


def _residual(link_position: Floats, q: Floats, body: Body) -> Residual:
    count = len(body.links)
    step = max(CHUNK_POSES // max(count, 1), 1)
    distance = (0.0, 0, 0)
    angle = (0.0, 0, 0)
    for start in range(0, len(link_position), step):
        piece = link_position[start : start + step, :count]
        found = body.forward_kinematics(q[start : start + step], piece[:, 0])
        distance = max(
            distance,
            _worst(np.linalg.norm(found[..., :3] - piece[..., :3], axis=-1), start),
        )
        angle = max(
            angle,
            _worst(rotations.angle_between(found[..., 3:], piece[..., 3:]), start),
        )
    names = [link.name for link in body.links]
    return Residual(
        distance[0],
        names[distance[2]],
        distance[1],
        angle[0],
        names[angle[2]],
        angle[1],
    )


def _worst(values: Floats, start: int) -> tuple[float, int, int]:
    """Return the largest of values (T, L), its frame and its link.

    Numbers that are not finite are ignored.
    """
    usable = np.where(np.isfinite(values), values, 0.0)
    frame, link = np.unravel_index(int(np.argmax(usable)), usable.shape)
    return float(usable[frame, link]), start + int(frame), int(link)
