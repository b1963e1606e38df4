"""A skeleton as a body with soft limbs, and its motion.

What shows, plots and measures robots does the same for recorded people.

The body has a chain of links for each joint: one link for each channel, whose rotating
or sliding joint has the channel as displacement. The last link of a chain has the name
of the joint, and a capsule to each child and end point.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Capsule, Material, Shape, Sphere, shape_along
from bodymotion.model.body import Body
from bodymotion.model.links import MAX_LINKS, Joint, JointType, Link, Segment
from bodymotion.model.trees import depth_first
from bodymotion.motion import Motion
from bodymotion.skeleton.values import UP_AXES, Skeleton, continuous

SKIN = Material(diffuse=(0.74, 0.58, 0.48))
# The radius of a limb over its length.
THICKNESS = 0.14
# Shorter limbs are as thick as one of this share of the longest.
MIN_LIMB_SHARE = 1 / 6
# [m] The size of a figure without limbs.
MIN_SIZE = 0.3


def figure(skeleton: Skeleton) -> tuple[Body, Motion]:
    """Return the body and the motion, in metres with z up.

    The root link is the first joint; where there are several roots, it is the origin of
    the file. Position channels that do not change are part of the offsets.

    Raises
    ------
    ValueError
        When there are no joints, or when the body would have more than MAX_LINKS links.
    """
    skeleton.check_lengths()
    if not skeleton.joints:
        raise ValueError("the skeleton has no joints: there is nothing to show")
    if skeleton.num_channels + len(skeleton.joints) > MAX_LINKS:
        raise ValueError(
            f"the skeleton has {skeleton.num_channels} channels; a body has at most "
            f"{MAX_LINKS} links"
        )
    path = skeleton.source.path
    offsets = _offsets(skeleton)
    count = Counter(skeleton.names)
    names = [
        name if name and count[name] == 1 else f"{name}#{index}"
        for index, name in enumerate(skeleton.names)
    ]
    shapes = _limbs(skeleton, offsets)
    links: list[Link] = []
    last: dict[int, int] = {}
    number = 0
    columns: list[Floats] = []
    turn = rotations.from_matrix(UP_AXES[skeleton.up])
    root: Floats = np.broadcast_to(
        poses.from_parts(np.zeros(3), turn), (skeleton.num_frames, 7)
    )
    has_one_root = skeleton.parents.count(-1) == 1
    if has_one_root:
        first = (
            skeleton.joints[:1],
            skeleton.values[:, : len(skeleton.joints[0].channels)],
        )
        alone = replace(
            skeleton,
            joints=first[0],
            values=first[1],
            known_unit=skeleton.unit,
            known_up=skeleton.up,
        )
        root = alone.joint_poses()[:, 0]
    else:
        links.append(Link(name="origin", joint=Joint(name="origin", type="free")))
    for index in depth_first(dict(enumerate(skeleton.parents))):
        offset = offsets[index]
        parent = last.get(skeleton.joints[index].parent, 0)
        if has_one_root and not links:
            steps = []
        else:
            steps = _steps(skeleton, index)
        columns.append(_displacements(skeleton, steps))
        for _, channel in steps or [(-1, "")]:
            moves: JointType = (
                "rotate" if "rotation" in channel else "slide" if channel else "fixed"
            )
            kind = moves if links else "free"
            axis = np.eye(3)["XYZ".find(channel[:1])]
            if kind == "slide":
                offset = np.where(axis > 0, 0.0, offset)
            name = f"{names[index]}_{channel}".rstrip("_")
            joint = Joint(name=name, type=kind, id=number if channel else -1, axis=axis)
            links.append(
                Link(
                    name=joint.name,
                    index=len(links),
                    parent=parent if links else -1,
                    joint=joint,
                )
            )
            parent = len(links) - 1
            number = number + bool(channel)
        begin = len(links) - max(len(steps), 1)
        if links[begin].parent >= 0:
            links[begin] = replace(
                links[begin], offset=poses.from_parts(offset, [1.0, 0, 0, 0])
            )
        segments = (Segment(name=names[index], visuals=shapes[index]),)
        links[-1] = replace(links[-1], name=names[index], segments=segments)
        last[index] = parent
    body = Body(name=path.name if path is not None else "skeleton", links=tuple(links))
    q = np.concatenate([np.zeros((skeleton.num_frames, 0)), *columns], axis=1)
    joints = tuple(joint.name for joint in body.joints)
    motion = Motion.from_joints(q, skeleton.frame_rate, root=root, joint_names=joints)
    return body, replace(motion, source=skeleton.source, problems=skeleton.problems)


def _offsets(skeleton: Skeleton) -> Floats:
    """Return the offsets (J, 3) [m], with the medians of position channels."""
    found = np.array([joint.offset for joint in skeleton.joints])
    for index, joint in enumerate(skeleton.joints):
        for column, channel in zip(
            skeleton.columns(index), joint.channels, strict=True
        ):
            if channel.endswith("position") and skeleton.num_frames:
                found[index, "XYZ".index(channel[0])] = np.median(
                    skeleton.values[:, column]
                )
    return found * skeleton.unit


def _steps(skeleton: Skeleton, index: int) -> list[tuple[int, str]]:
    """Return the columns and channels of a joint that move it, positions first."""
    channels = [
        *zip(skeleton.columns(index), skeleton.joints[index].channels, strict=True)
    ]
    positions = [one for one in channels if one[1].endswith("position")]
    slides = [
        one for one in positions if len({*skeleton.values[:, one[0]].tolist()}) > 1
    ]
    return [*slides, *(one for one in channels if one[1].endswith("rotation"))]


def _displacements(skeleton: Skeleton, steps: list[tuple[int, str]]) -> Floats:
    """Return the displacements (T, C) [m or rad] of the joints for the channels of one joint."""
    values = skeleton.values[:, [column for column, _ in steps]]
    turning = [channel for _, channel in steps if channel.endswith("rotation")]
    slides = len(steps) - len(turning)
    angles = np.radians(values[:, slides:])
    if len(turning) == len({*turning}) == 3:
        angles = continuous(angles)
    else:
        angles = np.unwrap(angles, axis=0)
    return np.concatenate((values[:, :slides] * skeleton.unit, angles), axis=1)


def _limbs(skeleton: Skeleton, offsets: Floats) -> list[tuple[Shape, ...]]:
    """Return the limbs of each joint.

    Capsules to its children and end points, as thick as they are long.
    """
    tips: list[list[Floats]] = [
        [*(joint.ends * skeleton.unit)] for joint in skeleton.joints
    ]
    branches = Counter(skeleton.parents)
    for index, joint in enumerate(skeleton.joints):
        moves = joint.parent >= 0 and any(
            channel.endswith("position") for channel in joint.channels
        )
        # A root with one child that moves in it is a position on the ground, not a
        # limb.
        if joint.parent >= 0 and not (
            moves and skeleton.parents[joint.parent] < 0 and branches[joint.parent] == 1
        ):
            tips[joint.parent].append(offsets[index])
    lengths = [float(np.linalg.norm(tip)) for own in tips for tip in own]
    longest = (
        max((length for length in lengths if np.isfinite(length)), default=0.0)
        or MIN_SIZE
    )
    limbs = []
    for own in tips:
        made = []
        for tip in own:
            length = float(np.linalg.norm(tip))
            if 0 < length < np.inf:
                radius = THICKNESS * max(length, MIN_LIMB_SHARE * longest)
                made.append(shape_along(Capsule(radius, length), tip / 2, tip, SKIN))
        limbs.append(tuple(made))
    if not any(limbs):
        limbs[0] = (Shape(Sphere(THICKNESS * longest), material=SKIN),)
    return limbs
