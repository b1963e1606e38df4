"""What is shown: a body and its motion, worked out as arrays, before anything is drawn.

A motion alone is shown as frames: each of its poses is a link without shapes. A body alone is one frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bodymotion import poses, rotations
from bodymotion.arrays import Floats, frozen
from bodymotion.body import Body, Joint, Link
from bodymotion.diagnostics import Problem
from bodymotion.motion import Motion
from bodymotion.timeline import Timeline
from bodymotion.viewer.ground import Footprint

__all__ = ["FARTHEST", "Curve", "Take", "joint_values", "make_take"]

FARTHEST = 1e5
"""Positions [m] farther out than this, or not finite, can not be drawn; they are pulled in to it."""


@dataclass(frozen=True)
class Curve:
    """A joint's values over time: its `name`, `unit` ("deg" or "m") and `values` (T,) in that unit."""

    name: str
    unit: str
    values: Floats


@dataclass(frozen=True, eq=False)
class Take:
    """A body and its motion, ready to be shown.

    Attributes
    ----------
    link_poses:
        (T, L, 7) in the world; T is 1 without a motion.
    q:
        (T, J) the joint columns behind them [rad or m].
    timeline:
        The times of the T frames.
    has_root:
        Whether the motion says where the root is.
    zmp:
        (T, 3) the zero moment point [m] in the world, or in the root link's frame when `zmp_in_root`; None without.
    notes:
        What the viewer has to say about what it shows, in words.
    """

    body: Body
    motion: Motion | None
    link_poses: Floats
    q: Floats
    timeline: Timeline
    has_root: bool
    zmp: Floats | None = None
    zmp_in_root: bool = False
    notes: tuple[str, ...] = ()

    @cached_property
    def footprint(self) -> Footprint:
        """The outermost points of the body."""
        return Footprint(self.body)

    @property
    def num_frames(self) -> int:
        """T, the number of frames."""
        return self.timeline.num_frames

    @property
    def stands_by_default(self) -> bool:
        """Whether the body is put on the ground unless someone says otherwise: nobody says where its root is, and it is no scenery."""
        return not self.has_root and (len(self.body.links) > 1 or self.body.links[0].joint.type == "free")

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was odd in the files."""
        return self.body.problems + (self.motion.problems if self.motion is not None else ())

    def lift(self, link_poses: Floats) -> Floats:
        """Give the height (...) [m] to add to link poses (..., L, 7) so that the lowest point of the body is at 0."""
        return -self.footprint.lowest(link_poses)

    def zmp_at(self, frame: int, root: Floats) -> Floats | None:
        """Give the zero moment point (3,) in the world at a frame, for the pose (7,) of the root as it is shown."""
        if self.zmp is None:
            return None
        point = self.zmp[frame]
        return poses.transform_points(root, point) if self.zmp_in_root else point

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The joints that can be plotted; of a motion without a body, its columns."""
        if self.motion is None:
            return ()
        joints = self.motion.joint_displacement
        if self.body.num_joints == 0 and joints is not None:
            labels = joints.part_labels
            index = self.timeline_index(joints.timeline)
            return tuple(
                Curve(labels[c] if c < len(labels) else f"joint {c}", "rad", joints.values[index, c])
                for c in range(joints.num_parts)
            )
        found = []
        for column, joint in enumerate(self.body.joints):
            if self.body.joint_links[column] >= 0:
                degrees = joint.type != "slide"
                values = np.rad2deg(self.q[:, column]) if degrees else self.q[:, column]
                found.append(Curve(joint.name or f"joint {column}", "deg" if degrees else "m", values))
        return tuple(found)

    def timeline_index(self, other: Timeline) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        """Give for each frame (T,) the frame of another timeline that is in force then."""
        if other == self.timeline:
            return np.arange(self.num_frames)
        return np.asarray(other.frames_at(self.timeline.times))


def make_take(body: Body | None, motion: Motion | None) -> Take:
    """Work out what is to be shown of a body, a motion, or both.

    Raises
    ------
    ValueError
        When there is neither, when the motion does not fit the body (fewer joint columns, with both counts), or when there is nothing
        in the motion that could be shown.
    """
    if body is None and motion is None:
        raise ValueError("there is neither a body nor a motion to show")
    if body is not None and not body.links:
        raise ValueError("the body has no links, so there is nothing to show")
    if motion is None:
        assert body is not None
        q = np.zeros((1, body.num_joints))
        return Take(body, None, _drawable(body.forward_kinematics(q))[0], q, Timeline.uniform(1, 1.0), False)
    parts = [c for c in (motion.joint_displacement, motion.link_position) if c is not None]
    timed = [c for c in (parts or motion.timed) if c.num_frames]
    if not timed:
        raise ValueError("the motion has no frames, so there is nothing to play")
    alone = body is None
    if body is None:
        body = _frames_of(motion)
    if alone or not parts:
        motion_poses, timeline = _poses_alone(body, motion, timed[0].timeline)
    else:
        common = motion.replaced(*parts)
        if any(c.timeline != parts[0].timeline for c in parts):
            common = common.on_common_timeline()
        timeline = common.timeline
        if timeline.num_frames == 0:
            raise ValueError("the motion has no frames, so there is nothing to play")
        motion_poses = body.link_poses(common)
        joints = common.joint_displacement
        if joints is not None and joints.num_parts >= body.num_joints:
            q = joints.values[:, : body.num_joints]
        else:
            q = joint_values(body, motion_poses)
    if alone or not parts:
        q = np.zeros((timeline.num_frames, body.num_joints))
    shown, wrong = _drawable(motion_poses)
    notes = [] if not wrong else [f"{wrong} frames have poses that are not finite or too far away to draw"]
    take = Take(
        body,
        motion,
        shown,
        frozen(np.nan_to_num(q, posinf=0.0, neginf=0.0)),
        timeline,
        motion.link_position is not None,
    )
    if motion.zmp is not None and motion.zmp.num_frames:
        values = np.clip(
            np.nan_to_num(motion.zmp.values[take.timeline_index(motion.zmp.timeline)]), -FARTHEST, FARTHEST
        )
        take = replace(take, zmp=frozen(values), zmp_in_root=motion.zmp.is_root_relative)
    return replace(take, notes=tuple(notes))


def joint_values(body: Body, link_poses: Floats) -> Floats:
    """Read the joint columns (T, J) out of link poses (T, L, 7): the turn about, or the way along, each joint's axis."""
    q = np.zeros((len(link_poses), body.num_joints))
    for column, index in enumerate(body.joint_links):
        if index < 1:
            continue
        link = body.links[index]
        at_zero = poses.compose(link_poses[:, link.parent], link.offset)
        moved = poses.compose(poses.inverse(at_zero), link_poses[:, index])
        if link.joint.type == "rotate":
            angle = 2.0 * np.arctan2(moved[:, 4:] @ link.joint.axis, moved[:, 3])
            q[:, column] = np.unwrap((angle + np.pi) % (2 * np.pi) - np.pi)
        elif link.joint.type == "slide":
            q[:, column] = moved[:, :3] @ link.joint.axis
    return q


def _frames_of(motion: Motion) -> Body:
    """Make a body without shapes that has a link for each pose of a motion."""
    positions = motion.link_position
    count = max(positions.num_parts if positions is not None else 1, 1)
    labels = positions.part_labels if positions is not None else ()
    names = [labels[i] if i < len(labels) else ("root" if i == 0 else f"link {i}") for i in range(count)]
    free = Joint(type="free")
    return Body(
        links=tuple(Link(name=name, index=i, parent=-1 if i == 0 else 0, joint=free) for i, name in enumerate(names))
    )


def _poses_alone(body: Body, motion: Motion, timeline: Timeline) -> tuple[Floats, Timeline]:
    positions = motion.link_position
    if positions is not None and positions.num_frames and positions.num_parts:
        return positions.values, positions.timeline
    still = body.forward_kinematics(np.zeros((1, body.num_joints)))
    return np.broadcast_to(still, (timeline.num_frames, len(body.links), 7)), timeline


def _drawable(link_poses: Floats) -> tuple[Floats, int]:
    """Give poses (T, L, 7) with unit quaternions and finite, not too distant positions, and in how many frames some were not so."""
    bad = ~np.isfinite(link_poses).all(axis=(1, 2)) | (np.abs(link_poses[..., :3]) > FARTHEST).any(axis=(1, 2))
    wrong = int(bad.sum())
    if wrong:
        position = np.clip(np.nan_to_num(link_poses[..., :3], posinf=FARTHEST, neginf=-FARTHEST), -FARTHEST, FARTHEST)
        link_poses = poses.from_parts(position, rotations.normalized(link_poses[..., 3:]))
    return frozen(link_poses), wrong
