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

CENTIMETRES = 100.0
CALIBRATION = 3.0  # The first pose is a calibration pose if joints leave it this many times faster than later (CMU).
Recorded: TypeAlias = Skeleton | Motion | RobotScript
SAME = 1e-3  # [m] Offsets of joints that differ by less are those of the same robot.


def check_kind(value: object, what: str, *kinds: type) -> None:
    """Raise TypeError where a value is of none of the kinds."""
    if not isinstance(value, kinds):
        if isinstance(value, (str, PurePath)):
            how = "; read files with bodymotion.load first"
        else:
            how = ""
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
        unused = (
            "source_body (--source-body) has no effect; it is the robot of a Motion"
        )
        raise WrongUseError(
            f"{title(source)}: {with_article(type(source).__name__)}; {unused}"
        )
    if isinstance(source, RobotScript):
        robot, motion = source.body_and_motion()
        return motion, robot
    return (source, body)


def problems_of_source(source: Skeleton | Motion) -> tuple[Problem, ...]:
    """Return the jumps of a source, of a robot those of its root, which filters spread.

    And that its unit or up axis is assumed.
    """
    if isinstance(source, Skeleton):
        found = check_skeleton(source)
        first = ("frames", 1)
        left_out = any(one.subject == first for one in found) and is_calibrated(
            source.joint_poses(), source.times
        )
        return tuple(one for one in found if not left_out or one.subject != first)
    root = source.link_position
    if root is None:
        of_root = []
    else:
        of_root = jumps_of_root(root.values[:, 0], all_frames(source, root))
    return tuple(one.problem for one in of_root)


def is_calibrated(placed: Floats, times: Floats) -> bool:
    """Return whether the first of the poses (T, N, 7) of joints at times (T,) [s] is a calibration pose, which is not used."""
    speeds = np.linalg.norm(np.diff(placed[..., :3], axis=0), axis=2).mean(
        axis=1
    ) / np.diff(times)
    return len(speeds) > 2 and bool(speeds[0] > CALIBRATION * speeds[1:].max())


def title(thing: Skeleton | Motion | RobotScript | Body) -> str:
    """Return how messages name a source or a robot: by its file, if it has one."""
    return str(
        thing.source.path
        or (isinstance(thing, Body) and thing.name)
        or f"the {type(thing).__name__.lower()}"
    )


def to_skeleton(
    body: Body, motion: Motion, frame_rate: float | None = None
) -> Skeleton:
    """Return the motion of a body as recorded motion, at 30 frames per second or `frame_rate`.

    A joint of its name for each link.

    Lengths are centimetres, and y is up, as in most files. Only the root has position
    channels; a sliding joint has them, too.

    Raises
    ------
    ValueError
        When the motion does not fit the body.
    """
    check_kind(motion, "motion", Motion)
    rate = float(frame_rate or 30.0)
    found = measure(body, motion.resample(rate))
    placed = np.array(found.link_poses)
    upright = np.array([0.0, 0.0, 0.0, *rotations.from_rpy([-0.5 * np.pi, 0.0, 0.0])])
    joints = []
    columns = []
    for link in body.links:
        if link.index:
            to_parent = inverse(placed[:, link.parent])
        else:
            to_parent = upright
        local = compose(to_parent, placed[:, link.index])
        offset = CENTIMETRES * local[:, :3]
        moves = link.index == 0 or link.joint.type == "slide"
        if moves:
            columns.append(offset)
        columns.append(euler_values(local[:, 3:]))
        channels = (*CHANNELS[:3] * moves, *EULER_CHANNELS)
        joints.append(
            SkeletonJoint(
                name=link.name, parent=link.parent, offset=offset[0], channels=channels
            )
        )
    values = np.concatenate(columns, axis=1)
    return Skeleton(
        joints=tuple(joints),
        values=values,
        frame_time=1.0 / rate,
        known_unit=1 / CENTIMETRES,
        known_up="Y",
    )


def of_same_links(skeleton: Skeleton, body: Body) -> Motion | None:
    """Return the motion of a skeleton with the links of a body, from the orientations of its joints.

    None for another skeleton.

    Joints belong to links by the tree and their offsets, of several by their names: no
    other names are needed. An unknown unit is tried, since the legs of a small robot
    are as long as those of no person.
    """
    check_kind(body, "body", Body)
    if (
        len(body.links) < 2
        or skeleton.parents.count(-1) != 1
        or len(skeleton.joints) < len(body.links)
    ):
        return None
    units = dict.fromkeys(
        (skeleton.unit, *(UNITS if skeleton.known_unit is None else ()))
    )
    scaled = (
        replace(skeleton, known_unit=unit, known_up=skeleton.up) for unit in units
    )
    return next(
        (
            motion
            for one in scaled
            if (motion := _of_poses(one, one.joint_poses(), body)) is not None
        ),
        None,
    )


def _of_poses(skeleton: Skeleton, placed: Floats, body: Body) -> Motion | None:
    """Return the motion of a body with the joints of a skeleton at poses (T, J, 7)."""
    chosen = [0]
    for link in body.links[1:]:
        parent = chosen[link.parent]
        left = [
            k
            for k, above in enumerate(skeleton.parents)
            if above == parent and k not in chosen
        ]
        apart = [
            compose(inverse(placed[:, parent]), placed[:, k])[:, :3] - link.offset[:3]
            for k in left
        ]
        slides = link.joint.type == "slide"
        near = [
            k
            for k, far in zip(left, apart, strict=True)
            if slides or np.abs(far).max(initial=0) < SAME
        ]
        if not near:
            return None
        chosen.append(max(near, key=lambda k: skeleton.names[k] == link.name))
    placed = placed[:, chosen]
    found = body.recovered_joints(placed)
    if (
        np.abs(body.forward_kinematics(found, placed[:, 0]) - placed)[..., :3].max(
            initial=0
        )
        > SAME
    ):
        return None
    timeline = Timeline.uniform(skeleton.num_frames, skeleton.frame_rate)
    return motion_of_joints(body, found, placed[:, 0], timeline)


def motion_of_joints(body: Body, q: Floats, root: Floats, timeline: Timeline) -> Motion:
    """Return the motion of a body with joint values (T, J) and root poses (T, 7)."""
    names = tuple(joint.name for joint in body.joints)
    return Motion.from_joints(
        q,
        timeline.frame_rate,
        times=timeline.stamps,
        root=root,
        joint_names=names if all(names) else (),
    )
