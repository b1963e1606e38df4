"""The motion of a robot as recorded motion, a joint for each link.

And back, exactly, where a skeleton has the links of a robot.
"""

from dataclasses import replace
from pathlib import PurePath
from typing import TypeAlias

import numpy as np

from bodymotion.checks.findings import all_frames
from bodymotion.checks.physics.sudden import jumps_of_root
from bodymotion.checks.skeletons import check_skeleton
from bodymotion.diagnostics import Problem, WrongUseError
from bodymotion.diagnostics.text import with_article
from bodymotion.dynamics import measure
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.poses import compose, inverse
from bodymotion.model.body import Body
from bodymotion.model.links import Link
from bodymotion.model.scripts import RobotScript
from bodymotion.motion import Motion
from bodymotion.motion.components import Timeline
from bodymotion.skeleton import (
    CHANNELS,
    EULER_CHANNELS,
    Skeleton,
    SkeletonJoint,
    euler_values,
)
from bodymotion.skeleton.values import UNITS

# Per metre.
CENTIMETRES = 100.0
# [Hz] Of a skeleton that is made of a motion.
DEFAULT_RATE = 30.0
# The first pose is a calibration pose if joints leave it this many times faster than
# later: files of CMU begin with one.
CALIBRATION_FACTOR = 3.0
# The subject of findings about the step from the first frame to the second.
FIRST_STEP = ("frames", 1)
# [m] Offsets of joints that differ by less are those of the same robot.
SAME_OFFSET = 1e-3
Recorded: TypeAlias = Skeleton | Motion | RobotScript


def check_kind(
    value: object,
    what: str,
    *kinds: type,
) -> None:
    """Raise TypeError where a value is of none of the kinds."""
    if not isinstance(value, kinds):
        how = ""
        if isinstance(value, (str, PurePath)):
            how = "; read files with bodymotion.load first"
        expected = " or ".join(with_article(kind.__name__) for kind in kinds)
        raise TypeError(f"{what}: expected {expected}, got {type(value).__name__}{how}")


def with_body(
    source: Recorded, body: Body | None
) -> tuple[Skeleton | Motion, Body | None]:
    """Return a source with the body that its motion is for.

    WrongUseError where another source has one. A script is played on its robot.
    """
    check_kind(source, "source", Skeleton, Motion, RobotScript)
    if not isinstance(source, Motion) and body is not None:
        kind = with_article(type(source).__name__)
        raise WrongUseError(
            f"{title(source)}: {kind}; source_body (--source-body) has no effect; it "
            "is the robot of a Motion"
        )
    if isinstance(source, RobotScript):
        robot, motion = source.body_and_motion()
        return motion, robot
    return source, body


def problems_of_source(source: Skeleton | Motion) -> tuple[Problem, ...]:
    """Return the jumps of a source, and that its unit or up axis is assumed.

    Of a robot only those of its root: filters spread them.
    """
    if isinstance(source, Skeleton):
        return _problems_of_skeleton(source)
    root = source.link_position
    if root is None:
        return ()
    findings = jumps_of_root(root.values[:, 0], all_frames(source, root))
    return tuple(finding.problem for finding in findings)


def _problems_of_skeleton(skeleton: Skeleton) -> tuple[Problem, ...]:
    """Return the problems of a skeleton without those of a calibration pose."""
    problems = check_skeleton(skeleton)
    others = [problem for problem in problems if problem.subject != FIRST_STEP]
    # Poses of all frames are computed only where they are needed.
    if len(others) < len(problems):
        joint_poses = skeleton.joint_poses()
        if is_calibrated(joint_poses, skeleton.times):
            return tuple(others)
    return tuple(problems)


def is_calibrated(joint_poses: Floats, times: Floats) -> bool:
    """Return whether the first of the poses (T, N, 7) is a calibration pose.

    `times` (T,) [s]. That pose is not used.
    """
    steps = np.diff(joint_poses[..., :3], axis=0)
    mean_steps = np.linalg.norm(steps, axis=2).mean(axis=1)
    speeds = mean_steps / np.diff(times)
    if len(speeds) <= 2:
        return False
    return bool(speeds[0] > CALIBRATION_FACTOR * speeds[1:].max())


def title(thing: Skeleton | Motion | RobotScript | Body) -> str:
    """Return how messages name a source or a robot: by its file, if it has one."""
    if thing.source.path:
        return str(thing.source.path)
    if isinstance(thing, Body) and thing.name:
        return thing.name
    return f"the {type(thing).__name__.lower()}"


def to_skeleton(
    body: Body,
    motion: Motion,
    frame_rate: float | None = None,
) -> Skeleton:
    """Return the motion of a body as recorded motion, with a joint for each link.

    At 30 frames per second or `frame_rate`. Lengths are centimetres, and y is up, as in
    most files. Only the root has position channels; a sliding joint has them, too.

    Raises
    ------
    ValueError
        When the motion does not fit the body.
    """
    check_kind(motion, "motion", Motion)
    rate = float(frame_rate or DEFAULT_RATE)
    link_poses = np.array(measure(body, motion.resample(rate)).link_poses)
    # y up: z of the robot is y of the skeleton.
    upright = np.array([0.0, 0.0, 0.0, *rotations.from_rpy([-0.5 * np.pi, 0.0, 0.0])])
    joints = []
    columns = []
    for link in body.links:
        to_parent = upright
        if link.index:
            to_parent = inverse(link_poses[:, link.parent])
        local = compose(to_parent, link_poses[:, link.index])
        offset = CENTIMETRES * local[:, :3]
        channels: tuple[str, ...] = EULER_CHANNELS
        if link.index == 0 or link.joint.type == "slide":
            columns.append(offset)
            channels = (*CHANNELS[:3], *EULER_CHANNELS)
        columns.append(euler_values(local[:, 3:]))
        joints.append(
            SkeletonJoint(
                name=link.name,
                parent=link.parent,
                offset=offset[0],
                channels=channels,
            )
        )
    return Skeleton(
        joints=tuple(joints),
        values=np.concatenate(columns, axis=1),
        frame_time=1.0 / rate,
        known_unit=1 / CENTIMETRES,
        known_up="Y",
    )


def of_same_links(skeleton: Skeleton, body: Body) -> Motion | None:
    """Return the motion of a skeleton with the links of a body, None for another one.

    Joints belong to links by the tree and their offsets, of several by their names: no
    other names are needed. An unknown unit is tried, since the legs of a small robot
    are as long as those of no person.
    """
    check_kind(body, "body", Body)
    has_one_root = skeleton.parents.count(-1) == 1
    if len(body.links) < 2 or len(skeleton.joints) < len(body.links):
        return None
    if not has_one_root:
        return None
    units = [skeleton.unit]
    if skeleton.known_unit is None:
        units += UNITS
    for unit in dict.fromkeys(units):
        scaled = replace(skeleton, known_unit=unit, known_up=skeleton.up)
        motion = _motion_of_poses(scaled, scaled.joint_poses(), body)
        if motion is not None:
            return motion
    return None


def _motion_of_poses(
    skeleton: Skeleton,
    joint_poses: Floats,
    body: Body,
) -> Motion | None:
    """Return the motion of a body with joints at poses (T, J, 7), None without."""
    joints = [0]
    for link in body.links[1:]:
        joint = _find_joint(skeleton, joint_poses, link, joints)
        if joint is None:
            return None
        joints.append(joint)
    link_poses = joint_poses[:, joints]
    root = link_poses[:, 0]
    q = body.recovered_joints(link_poses)
    differences = body.forward_kinematics(q, root) - link_poses
    if np.abs(differences)[..., :3].max(initial=0) > SAME_OFFSET:
        return None
    timeline = Timeline.uniform(skeleton.num_frames, skeleton.frame_rate)
    return motion_of_joints(body, q, root, timeline)


def _find_joint(
    skeleton: Skeleton,
    joint_poses: Floats,
    link: Link,
    joints: list[int],
) -> int | None:
    """Return the joint of a skeleton that is a link, None without one.

    `joints` are those of the links before it. Of several joints with its offset, it is
    the one of its name.
    """
    parent = joints[link.parent]
    to_parent = inverse(joint_poses[:, parent])
    near = []
    for joint, above in enumerate(skeleton.parents):
        if above != parent or joint in joints:
            continue
        offsets = compose(to_parent, joint_poses[:, joint])[:, :3]
        distance = np.abs(offsets - link.offset[:3]).max(initial=0)
        # A sliding joint has any offset.
        if link.joint.type == "slide" or distance < SAME_OFFSET:
            near.append(joint)
    return max(near, key=lambda k: skeleton.names[k] == link.name, default=None)


def motion_of_joints(
    body: Body,
    q: Floats,
    root: Floats,
    timeline: Timeline,
) -> Motion:
    """Return the motion of a body with joint values (T, J) and root poses (T, 7)."""
    names = tuple(joint.name for joint in body.joints)
    return Motion.from_joints(
        q,
        timeline.frame_rate,
        times=timeline.stamps,
        root=root,
        joint_names=names if all(names) else (),
    )
