"""What is shown: a body and its motion, worked out as arrays, before anything is drawn.

A motion alone is shown as frames: each of its poses is a link without shapes. A body alone is one frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, Rule
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link
from bodymotion.motion import Motion
from bodymotion.motion.timeline import Timeline
from bodymotion.viewer.beats import Beats, beats_of
from bodymotion.viewer.contacts import Contacts, contacts_of
from bodymotion.viewer.ground import Footprint
from bodymotion.viewer.performance import Performance

__all__ = ["FARTHEST", "MOST_POSES", "Curve", "Take", "joint_values", "make_take"]

FARTHEST = 1e5
"""Positions [m] farther out than this, or not finite, cannot be drawn; they are pulled in to it."""

MOST_POSES = 20_000_000
"""So many poses of links are worked out at most (1.1 GB); of longer motions only every n-th frame is shown."""


MORE_COLUMNS = Rule(
    "VIEW101",
    "warning",
    "A motion has as many joint columns as its body, or it was made for another one.",
    source="judgement",
    hint="is it the motion of another body?",
    example=("a motion of 30 joint columns on a body of 29", "a motion of 29 columns"),
)


@dataclass(frozen=True)
class Curve:
    """A joint's values over time: its `name`, `unit` ("deg", "m", or "rad or m" where nobody says) and `values` (T,) in that unit."""

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
    misfits:
        Where body and motion do not quite fit each other.
    motion_alone:
        Whether there is a motion only, and the body is made of its poses.
    performance:
        The animation that the motion is played of; None for other motions.
    own_frames:
        Where the last frame is held for a second motion that is longer: the number of frames before that; else 0.
    second, is_ghost:
        Another motion of the body on the same time line, and whether it is shown in the place of this one, or else beside it.
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
    misfits: tuple[Problem, ...] = ()
    motion_alone: bool = False
    performance: Performance | None = None
    own_frames: int = 0
    second: Take | None = None
    is_ghost: bool = False

    @cached_property
    def footprint(self) -> Footprint:
        """The outermost points of the body."""
        return Footprint(self.body)

    @cached_property
    def contacts(self) -> Contacts | None:
        """Which feet are in stance when; None where nobody says, or the body has no such feet."""
        return None if self.motion is None else contacts_of(self.body, self.motion, self.timeline)

    @cached_property
    def beats(self) -> Beats | None:
        """The slices and beats of a move of Spot; None for other motions."""
        return None if self.motion is None else beats_of(self.motion)

    @property
    def num_frames(self) -> int:
        """T, the number of frames."""
        return self.timeline.num_frames

    @property
    def title(self) -> str:
        """What it is called: the name of the animation, or the body's, or else that of the file."""
        if self.performance is not None:
            return self.performance.title
        paths = (self.body.source.path, self.motion.source.path if self.motion is not None else None)
        names = [self.body.name, *(path.name for path in paths if path is not None)]
        return next((name for name in names if name.strip()), "bodymotion")

    @property
    def stands_by_default(self) -> bool:
        """Whether the body is put on the ground unless someone says otherwise: nobody says where its root is, neither motion nor model."""
        return not self.has_root and not self.body.is_mounted

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was odd: first between the files, then in each."""
        found = self.motion.problems if self.motion is not None else ()
        if self.performance is not None:
            found += self.performance.problems
        return self.misfits + self.body.problems + found

    def lift(self, link_poses: Floats) -> Floats:
        """Return the height (...) [m] to add to link poses (..., L, 7) so that the lowest point of the body is at 0."""
        return -self.footprint.lowest(link_poses)

    def zmp_at(self, frame: int, root: Floats) -> Floats | None:
        """Return the zero moment point (3,) in the world at a frame, for the pose (7,) of the root as it is shown."""
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
                Curve(labels[c] if c < len(labels) else f"joint {c}", "rad or m", joints.values[index, c])
                for c in range(joints.num_parts)
            )
        found = []
        for column, joint in enumerate(self.body.joints):
            if self.body.joint_links[column] >= 0 and joint.type in ("rotate", "slide", "crawler"):
                degrees = joint.type != "slide"
                values = np.rad2deg(self.q[:, column]) if degrees else self.q[:, column]
                found.append(Curve(joint.name or f"joint {column}", "deg" if degrees else "m", values))
        return tuple(found)

    def timeline_index(self, other: Timeline) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        """Return for each frame (T,) the frame of another timeline that is in force then."""
        if other == self.timeline:
            return np.arange(self.num_frames)
        return np.asarray(other.frames_at(self.timeline.times))


def make_take(body: Body | None, motion: Motion | None, performance: Performance | None = None) -> Take:
    """Work out what is to be shown of a body, a motion, or both; `performance` is where the motion comes from.

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
        return Take(body, None, frozen(body.forward_kinematics(q)), q, Timeline.uniform(1, 1.0), False)
    motion, every = _small_enough(motion, len(body.links) if body is not None else 1)
    parts = [c for c in (motion.joint_displacement, motion.link_position) if c is not None]
    timed = [c for c in (parts or motion.timed) if c.num_frames]
    if not timed:
        raise ValueError("the motion has no frames, so there is nothing to play")
    given = body
    if body is None or not parts:
        body = body or _frames_of(motion)
        link_poses, timeline = _poses_alone(body, motion, timed[0].timeline)
        q = np.zeros((timeline.num_frames, body.num_joints))
        read = link_poses
    else:
        common = motion.replaced(*parts)
        if any(c.timeline != parts[0].timeline for c in parts):
            common = common.on_common_timeline()
        timeline = common.timeline
        link_poses = body.link_poses(common)
        joints = common.joint_displacement
        try:
            q = joint_values(body, link_poses) if joints is None else body.joint_values(joints)
        except ValueError:
            q = joint_values(body, link_poses)
        read = common.link_position.values if common.link_position is not None else link_poses
    shown, wrong = _drawable(link_poses, read)
    notes: tuple[str, ...] = (
        (
            f"{wrong} of {len(shown)} frames have poses that are not finite or too far away to draw: parts are missing or misplaced",
        )
        if wrong
        else ()
    )
    if every > 1:
        notes += (f"The motion is so long that only one of {every} frames is shown",)
    q = frozen(np.nan_to_num(q, posinf=0.0, neginf=0.0))
    has_root = motion.link_position is not None
    take = Take(
        body,
        motion,
        shown,
        q,
        timeline,
        has_root,
        notes=notes,
        misfits=_misfits(given, motion),
        motion_alone=given is None,
        performance=performance,
    )
    if motion.zmp is None or not motion.zmp.num_frames:
        return take
    values = np.nan_to_num(motion.zmp.values[take.timeline_index(motion.zmp.timeline)])
    return replace(take, zmp=frozen(np.clip(values, -FARTHEST, FARTHEST)), zmp_in_root=motion.zmp.is_root_relative)


def _misfits(body: Body | None, motion: Motion) -> tuple[Problem, ...]:
    """Say where a motion has more joint columns than its body; those beyond the body's are not shown."""
    joints = motion.joint_displacement
    if body is None or joints is None or joints.num_parts <= body.num_joints:
        return ()
    message = (
        f"the motion has {joints.num_parts} joint columns and the body {body.num_joints}; the columns from "
        f"{body.num_joints} on are not shown"
    )
    return (MORE_COLUMNS.problem(message),)


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
    return Body(
        links=tuple(Link(name=name, index=i, parent=-1 if i == 0 else 0, joint=Joint()) for i, name in enumerate(names))
    )


def _poses_alone(body: Body, motion: Motion, timeline: Timeline) -> tuple[Floats, Timeline]:
    positions = motion.link_position
    if positions is not None and positions.num_frames and positions.num_parts:
        return positions.values, positions.timeline
    still = body.forward_kinematics(np.zeros((1, body.num_joints)))
    return np.broadcast_to(still, (timeline.num_frames, len(body.links), 7)), timeline


def _small_enough(motion: Motion, links: int) -> tuple[Motion, int]:
    """Return the motion with every n-th frame only, and n, so that the poses of so many links stay within `MOST_POSES`."""
    timed = [c for c in motion.timed if c.num_frames]
    every = max((-(-c.num_frames * links // MOST_POSES) for c in timed), default=1)
    if every < 2:
        return motion, 1
    return motion.replaced(
        *(replace(c, timeline=_every(c.timeline, every), values=c.values[::every]) for c in timed)
    ), every


def _every(timeline: Timeline, count: int) -> Timeline:
    if timeline.stamps is not None:
        return Timeline.stamped(timeline.stamps[::count], timeline.import_rate)
    assert timeline.frame_rate is not None
    return Timeline.uniform(-(-timeline.num_frames // count), timeline.frame_rate / count)


def _drawable(link_poses: Floats, read: Floats) -> tuple[Floats, int]:
    """Return poses (T, L, 7) with unit quaternions and finite, not too distant positions, and in how many frames some were not so.

    `read` (T, P, 7) are the poses as the motion has them.
    """
    wrong = _outside(link_poses) | _outside(read)
    if wrong.any():
        position = np.clip(np.nan_to_num(link_poses[..., :3], posinf=FARTHEST, neginf=-FARTHEST), -FARTHEST, FARTHEST)
        link_poses = poses.from_parts(position, rotations.normalized(link_poses[..., 3:]))
    return frozen(link_poses), int(wrong.sum())


def _outside(values: Floats) -> npt.NDArray[np.bool_]:
    finite = np.isfinite(values).all(axis=(1, 2))
    return np.asarray(~finite | (np.abs(values[..., :3]) > FARTHEST).any(axis=(1, 2)))
