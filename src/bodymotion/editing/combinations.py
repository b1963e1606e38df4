"""The three combinations of link and joint trajectories in a .seq file.

1. the poses of all links;
2. the pose of the root link and all joints;
3. the poses of all links and all joints.

And the conversions between them.
"""

from dataclasses import replace

from bodymotion.editing.frames import root_poses
from bodymotion.editing.rules import IDLE
from bodymotion.geometry.arrays import check_memory
from bodymotion.model.body import Body
from bodymotion.motion import (
    LINK_POSITION,
    Component,
    Motion,
    MultiSE3Seq,
)
from bodymotion.motion.components import TimedComponent


def fill_link_poses(motion: Motion, body: Body) -> Motion:
    """Return the motion with the poses of all links beside the joints (combination 3).

    By forward kinematics.

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
        message = (
            "no link poses are added: the motion already has those of "
            f"{link_position.num_parts} links"
        )
        return motion.replaced(*motion.components, problems=[IDLE.problem(message)])
    joints = motion.joint_displacement
    if joints is None:
        raise ValueError(
            "the motion has no joint displacements, from which link poses follow"
        )
    check_memory(
        # A pose has 7 numbers of 8 bytes.
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
    # Poses that the motion has are kept as they are, though forward kinematics may give
    # others for them.
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
        message = (
            "the motion has no joint displacements, so all other links would be lost; "
            "use recover_joints() first"
        )
        raise ValueError(message)

    def first(c: TimedComponent) -> Component:
        is_of_links = isinstance(c, MultiSE3Seq) and c.content == LINK_POSITION
        if is_of_links:
            return replace(c, values=c.values[:, :1], part_labels=c.part_labels[:1])
        return c

    idle = IDLE.problem("no root pose to keep: the motion has no LinkPosition")
    return motion.mapped(first, [idle] if motion.link_position is None else ())
