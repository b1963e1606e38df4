"""A skeleton as a body with soft limbs, and its motion.

What shows, plots and measures robots does the same for recorded people.

The body has a chain of links for each joint: one link for each channel, whose rotating
or sliding joint has the channel as displacement. The last link of a chain has the name
of the joint, and a capsule to each child and end point.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

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


class _Channel(NamedTuple):
    """A channel that moves a joint: its column of the values, and its name."""

    column: int
    name: str


def build_figure(skeleton: Skeleton) -> tuple[Body, Motion]:
    """Return the body and the motion, in metres with z up.

    The root link is the first joint; where there are several roots, it is the origin of
    the file. Position channels that do not change are part of the offsets.

    Raises
    ------
    ValueError
        When there are no joints, or when the body would have more than MAX_LINKS links.
    """
    _check_size(skeleton)
    offsets = _find_offsets(skeleton)
    shapes = _build_limbs(skeleton, offsets)
    names = _distinct_names(skeleton.names)
    chains = _Chains()
    root = _root_poses(skeleton)
    if not _has_one_root(skeleton):
        origin = Joint(name="origin", type="free")
        chains.links.append(Link(name="origin", joint=origin))
    last_links: dict[int, int] = {}
    columns: list[Floats] = [np.zeros((skeleton.num_frames, 0))]
    for index in depth_first(dict(enumerate(skeleton.parents))):
        channels = []
        # The channels of the only root are those of the free root link.
        if chains.links:
            channels = _moving_channels(skeleton, index)
        parent = last_links.get(skeleton.joints[index].parent, 0)
        chains.add(names[index], channels, parent, offsets[index], shapes[index])
        last_links[index] = len(chains.links) - 1
        columns.append(_displacements(skeleton, channels))
    path = skeleton.source.path
    name = path.name if path is not None else "skeleton"
    body = Body(name=name, links=tuple(chains.links))
    motion = Motion.from_joints(
        np.concatenate(columns, axis=1),
        skeleton.frame_rate,
        root=root,
        joint_names=tuple(joint.name for joint in body.joints),
    )
    return body, replace(motion, source=skeleton.source, problems=skeleton.problems)


def _check_size(skeleton: Skeleton) -> None:
    """Raise an error where a skeleton has no joints, no lengths or too many links."""
    skeleton.check_lengths()
    if not skeleton.joints:
        raise ValueError("the skeleton has no joints: there is nothing to show")
    if skeleton.num_channels + len(skeleton.joints) > MAX_LINKS:
        raise ValueError(
            f"the skeleton has {skeleton.num_channels} channels; a body has at most "
            f"{MAX_LINKS} links"
        )


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Return the names of joints, with the number where there is none or several."""
    counts = Counter(names)
    distinct = []
    for index, name in enumerate(names):
        is_distinct = name and counts[name] == 1
        distinct.append(name if is_distinct else f"{name}#{index}")
    return distinct


def _has_one_root(skeleton: Skeleton) -> bool:
    """Return whether all joints but one have a parent."""
    return skeleton.parents.count(-1) == 1


def _root_poses(skeleton: Skeleton) -> Floats:
    """Return the poses (T, 7) of the root link.

    Of a skeleton with several roots it is the origin of the file.
    """
    if not _has_one_root(skeleton):
        orientation = rotations.from_matrix(UP_AXES[skeleton.up])
        origin = poses.from_parts(np.zeros(3), orientation)
        return np.broadcast_to(origin, (skeleton.num_frames, 7))
    joint = skeleton.joints[0]
    root = replace(
        skeleton,
        joints=(joint,),
        values=skeleton.values[:, : len(joint.channels)],
        known_unit=skeleton.unit,
        known_up=skeleton.up,
    )
    return root.joint_poses()[:, 0]


class _Chains:
    """The links of a body that is made of a skeleton, a chain for each joint."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self._num_displacements = 0

    def add(
        self,
        name: str,
        channels: Sequence[_Channel],
        parent: int,
        offset: Floats,
        shapes: tuple[Shape, ...],
    ) -> None:
        """Add the links of a joint: one for each channel, or one that does not move.

        The first one is at an `offset` (3,) [m] from a parent; the last one has the
        name and the shapes.
        """
        offset = offset.copy()
        first = len(self.links)
        for channel in [one.name for one in channels] or [""]:
            axis = np.eye(3)["XYZ".find(channel[:1])]
            kind: JointType = "fixed" if self.links else "free"
            number = -1
            if channel:
                number = self._num_displacements
                self._num_displacements += 1
                kind = "rotate"
            if channel.endswith("position"):
                kind = "slide"
                offset[axis > 0] = 0.0
            joint_name = f"{name}_{channel}".rstrip("_")
            joint = Joint(name=joint_name, type=kind, id=number, axis=axis)
            index = len(self.links)
            link = Link(
                name=joint_name,
                index=index,
                parent=parent if index else -1,
                joint=joint,
            )
            self.links.append(link)
            parent = index
        if first:
            pose = poses.from_parts(offset, [1.0, 0, 0, 0])
            self.links[first] = replace(self.links[first], offset=pose)
        segments = (Segment(name=name, visuals=shapes),)
        self.links[-1] = replace(self.links[-1], name=name, segments=segments)


def _find_offsets(skeleton: Skeleton) -> Floats:
    """Return the offsets (J, 3) [m], with the medians of position channels."""
    offsets = np.array([joint.offset for joint in skeleton.joints])
    for index, joint in enumerate(skeleton.joints):
        columns = skeleton.columns(index)
        for column, channel in zip(columns, joint.channels, strict=True):
            if channel.endswith("position") and skeleton.num_frames:
                median = np.median(skeleton.values[:, column])
                offsets[index, "XYZ".index(channel[0])] = median
    return offsets * skeleton.unit


def _moving_channels(skeleton: Skeleton, index: int) -> list[_Channel]:
    """Return the channels of a joint that move it, positions first."""
    positions = []
    angles = []
    names = skeleton.joints[index].channels
    for column, name in zip(skeleton.columns(index), names, strict=True):
        if name.endswith("rotation"):
            angles.append(_Channel(column, name))
        # NaN differs from NaN: a gap is a change.
        elif len({*skeleton.values[:, column].tolist()}) > 1:
            positions.append(_Channel(column, name))
    return positions + angles


def _displacements(skeleton: Skeleton, channels: Sequence[_Channel]) -> Floats:
    """Return the displacements (T, C) [m or rad] for the channels of one joint."""
    values = skeleton.values[:, [channel.column for channel in channels]]
    axes = [channel.name for channel in channels if channel.name.endswith("rotation")]
    num_slides = len(channels) - len(axes)
    angles = np.radians(values[:, num_slides:])
    if len(axes) == len({*axes}) == 3:
        angles = continuous(angles)
    else:
        angles = np.unwrap(angles, axis=0)
    return np.concatenate((values[:, :num_slides] * skeleton.unit, angles), axis=1)


def _build_limbs(skeleton: Skeleton, offsets: Floats) -> list[tuple[Shape, ...]]:
    """Return the limbs of each joint: capsules to its children and end points.

    They are as thick as they are long.
    """
    tips = _find_tips(skeleton, offsets)
    longest = 0.0
    for joint_tips in tips:
        for tip in joint_tips:
            length = float(np.linalg.norm(tip))
            if np.isfinite(length):
                longest = max(longest, length)
    longest = longest or MIN_SIZE
    limbs = []
    for joint_tips in tips:
        capsules = []
        for tip in joint_tips:
            length = float(np.linalg.norm(tip))
            if 0 < length < np.inf:
                radius = THICKNESS * max(length, MIN_LIMB_SHARE * longest)
                capsule = Capsule(radius, length)
                capsules.append(shape_along(capsule, tip / 2, tip, SKIN))
        limbs.append(tuple(capsules))
    if not any(limbs):
        limbs[0] = (Shape(Sphere(THICKNESS * longest), material=SKIN),)
    return limbs


def _find_tips(skeleton: Skeleton, offsets: Floats) -> list[list[Floats]]:
    """Return for each joint the positions (3,) [m] of its children and end points."""
    tips: list[list[Floats]] = []
    for joint in skeleton.joints:
        tips.append([*(joint.ends * skeleton.unit)])
    num_children = Counter(skeleton.parents)
    for index, joint in enumerate(skeleton.joints):
        if joint.parent < 0:
            continue
        # A root with one child that moves in it is a position on the ground, not a
        # limb.
        moves = any(channel.endswith("position") for channel in joint.channels)
        is_below_root = skeleton.parents[joint.parent] < 0
        if not (moves and is_below_root and num_children[joint.parent] == 1):
            tips[joint.parent].append(offsets[index])
    return tips
