"""A scene: a body and its motion as arrays, ready to be shown.

A motion without a body is shown as frames: each of its poses becomes a link without
shapes. A body without a motion is one frame.

Of a link its shapes are drawn, or a stick figure where files of shapes are missing, or
where no link has shapes: bones from joint to joint, a ball at each moving joint, and a
disc for a wheel.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Group, Problem, grouped
from bodymotion.formats.resources import missing_files, missing_files_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, frozen
from bodymotion.geometry.shapes import (
    Shape,
)
from bodymotion.model.body import Body, fit_problems
from bodymotion.model.extent import BodyExtent
from bodymotion.model.links import Joint, Link
from bodymotion.model.stick_figure import drawn_shapes
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.motion.feet import FOOT_CONTACT, LEGS, REACH_ERROR
from bodymotion.scene.music import Music
from bodymotion.scene.playback import (
    Beats,
    Playback,
    approximate_frames,
    beats_of,
)

# [m] Positions farther from the origin, or not finite, cannot be drawn. They are moved
# to this distance.
MAX_DISTANCE = 1e5
# Number of link poses in memory (1.1 GB). Of longer motions only every n-th frame is
# shown.
MAX_LINK_POSES = 20_000_000
# Points that a path is drawn through.
MAX_PATH_POINTS = 1500
# The name of a foot of contacts that is the hand.
HAND = "hand"
# [m] A foot that is no farther from its target reaches it.
REACH_TOLERANCE = 1e-3
# [m] Larger errors of a file are shown as this one.
MAX_REACH_ERROR = 1e5
# Accelerations need three frames.
MIN_MEASURED_FRAMES = 3


@dataclass(frozen=True)
class Curve:
    """A joint's values over time.

    Its `name`, `unit` ("deg", "m", or "rad or m" where it is unknown) and `values` (T,)
    in that unit.
    """

    name: str
    unit: str
    values: Floats


def limits_text(joint: Joint) -> str:
    """Return the limits of a joint, in degrees or metres: `−90 … 45°`.

    The type of a joint that neither rotates nor slides.
    """
    if joint.type not in ("rotate", "slide"):
        return joint.type
    if not np.isfinite([joint.lower, joint.upper]).any():
        return "no limits"
    factor = 1.0
    unit = " m"
    if joint.type == "rotate":
        factor = float(np.rad2deg(1.0))
        unit = "°"
    limits = f"{factor * joint.lower:.4g} … {factor * joint.upper:.4g}{unit}"
    return limits.replace("-", "−")


@dataclass(frozen=True, eq=False)
class FootContacts:
    """The feet over T frames.

    `names`, `links`: the names of the K feet and the indices of their links. The last
    may be the hand, which is never in stance. `stance`: (T, K) whether a foot is in
    stance. `reach_errors`: (T, K) distance [m] from a foot to its target.
    """

    names: tuple[str, ...]
    links: tuple[int, ...]
    stance: Bools
    reach_errors: Floats

    @property
    def out_of_reach(self) -> Bools:
        """Whether feet (T, K) do not reach their targets."""
        return np.asarray(self.reach_errors > REACH_TOLERANCE)

    def describe(self, frame: int) -> str:
        """Return which feet do not reach their targets at a frame.

        Empty where all do.
        """
        texts = []
        for name, distance in zip(self.names, self.reach_errors[frame], strict=True):
            if distance > REACH_TOLERANCE:
                foot = "the hand" if name == HAND else f"foot {name}"
                texts.append(f"{foot} is {1e3 * distance:.0f} mm short")
        return ", ".join(texts)


@dataclass(frozen=True, eq=False)
class Scene:
    """A body and its motion, ready to be shown.

    Attributes
    ----------
    link_poses:
        (T, L, 7) in the world; T is 1 without a motion.
    q:
        (T, J) the joint values behind them [rad or m].
    timeline:
        The times of the T frames.
    has_root:
        Whether the motion has root poses.
    zmp:
        (T, 3) the recorded zero moment point [m] in the world, or in the root link's
        frame when `zmp_in_root`; None without.
    notes:
        Differences between what is shown and the files, in sentences.
    mismatches:
        Findings about motion and body together.
    without_body:
        Whether there is only a motion, and `body` is made from its poses.
    playback:
        How a script was played; None for other motions.
    own_frames:
        The number of frames before the last one is held for a longer second motion; 0
        where it is not.
    compared, is_ghost:
        Another motion of the body on the same timeline, and whether it is shown at the
        position of this one instead of beside it.
    music:
        Music that plays from time 0 on.
    num_unread:
        The number of mesh files that are still being read.
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
    mismatches: tuple[Problem, ...] = ()
    without_body: bool = False
    playback: Playback | None = None
    own_frames: int = 0
    compared: Scene | None = None
    music: Music | None = None
    is_ghost: bool = False
    num_unread: int = 0

    @cached_property
    def shapes(self) -> tuple[tuple[Shape, ...], ...]:
        """The shapes that are drawn of each link, in its frame.

        Its own, or a stick figure where they are missing.
        """
        if self.without_body:
            return tuple(() for _ in self.body.links)
        return drawn_shapes(
            self.body,
            are_missing=bool(missing_files(self.body)),
            is_read=not self.num_unread,
        )

    @cached_property
    def extent(self) -> BodyExtent:
        """The outermost points of the body."""
        return BodyExtent(self.body, self.shapes)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for everyone who views the scene, as sentences.

        Files of shapes are missing, shapes are far away.
        """
        texts = [self.extent.describe_far()]
        if not self.num_unread:
            texts.insert(0, missing_files_text(self.body))
        return tuple(filter(None, texts))

    @cached_property
    def contacts(self) -> FootContacts | None:
        """The foot contacts that the motion records.

        None where it has none, or the body has no such feet.
        """
        if self.motion is None:
            return None
        return contacts_of(self.body, self.motion, self.timeline)

    @cached_property
    def beats(self) -> Beats | None:
        """The slices and beats of a script; None for other motions."""
        if self.motion is None:
            return None
        return beats_of(self.motion)

    @property
    def num_frames(self) -> int:
        """The number of frames T."""
        return self.timeline.num_frames

    @property
    def title(self) -> str:
        """The name of the script, of the body, or else of the file."""
        if self.playback is not None:
            return self.playback.title
        names = [self.body.name]
        for value in (self.body, self.motion):
            if value is not None and value.source.path is not None:
                names.append(value.source.path.name)
        return next((name for name in names if name.strip()), "bodymotion")

    @property
    def on_ground_by_default(self) -> bool:
        """Whether the body is put on the ground by default.

        Neither motion nor model gives the pose of its root.
        """
        return not self.has_root and not self.body.is_mounted

    @property
    def motion_problems(self) -> tuple[Problem, ...]:
        """The findings about the motion or script.

        Those about motion and body together are first.
        """
        problems = list(self.mismatches)
        if self.motion is not None:
            problems += self.motion.problems
        if self.playback is not None:
            problems += self.playback.problems
        return tuple(dict.fromkeys(problems))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All findings about what is shown: of the motion, then of the model."""
        return self.motion_problems + self.body.problems

    @property
    def findings(self) -> tuple[Group, ...]:
        """All findings, one group for each rule.

        Motion before model, errors before warnings before notes.
        """
        return grouped(self.motion_problems, self.body.problems)

    @property
    def reason_not_to_measure(self) -> str:
        """Why the motion cannot be measured on its body; empty where it can."""
        if self.motion is None or self.num_frames < 2:
            return "there is no motion"
        if self.num_unread:
            return "its meshes are being read"
        if self.without_body:
            return "there is no body"
        if self.num_frames < MIN_MEASURED_FRAMES:
            return "the motion has only two frames"
        return ""

    def ground_offset(self, link_poses: Floats) -> Floats:
        """Return the height (...) [m] to add to link poses (..., L, 7).

        It puts the lowest point of the body at 0.
        """
        return -self.extent.lowest(link_poses)

    def zmp_at(self, frame: int, root: Floats) -> Floats | None:
        """Return the recorded zero moment point (3,) in the world at a frame.

        `root` (7,) is the shown pose of the root.
        """
        if self.zmp is None:
            return None
        point: Floats = self.zmp[frame]
        if self.zmp_in_root:
            return poses.transform_points(root, point)
        return point

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The joint values as curves; of a motion without a body, its columns."""
        if self.motion is None:
            return ()
        recorded = self.motion.joint_displacement
        if self.body.num_joints == 0 and recorded is not None:
            return self._column_curves(recorded)
        curves = []
        for column, joint in enumerate(self.body.joints):
            moves_a_link = self.body.joint_links[column] >= 0
            if not moves_a_link or joint.type not in ("rotate", "slide", "crawler"):
                continue
            values = self.q[:, column]
            unit = "m"
            if joint.type != "slide":
                values = np.rad2deg(values)
                unit = "deg"
            curves.append(Curve(joint.name or f"joint {column}", unit, values))
        return tuple(curves)

    def _column_curves(self, recorded: MultiValueSeq) -> tuple[Curve, ...]:
        """Return the columns of joint displacements as curves."""
        rows = self.timeline_index(recorded.timeline)
        curves = []
        for column in range(recorded.num_parts):
            name = f"joint {column}"
            if column < len(recorded.part_labels):
                name = recorded.part_labels[column]
            curves.append(Curve(name, "rad or m", recorded.values[rows, column]))
        return tuple(curves)

    def timeline_index(self, other: Timeline) -> Indices:
        """Return the current frame (T,) of another timeline at each frame's time."""
        if other == self.timeline:
            return np.arange(self.num_frames)
        return np.asarray(other.frames_at(self.timeline.times))


def contacts_of(body: Body, motion: Motion, timeline: Timeline) -> FootContacts | None:
    """Return the contacts of a motion at the frames of a timeline.

    They are those of the component FootContact; the foot `fl` is the link `fl_foot`, or
    `fl`. None where the motion has none for feet of the body.
    """
    contact = motion.last(MultiValueSeq, FOOT_CONTACT)
    if contact is None or not contact.num_frames:
        return None
    labels = contact.part_labels
    if not any(labels):
        labels = LEGS
    indices = {link.name: link.index for link in body.links}
    names = tuple(labels[: contact.num_parts])
    links = tuple(indices.get(f"{name}_foot", indices.get(name, -1)) for name in names)
    if len(names) != contact.num_parts or -1 in links or not links:
        return None
    # The contacts in force at each shown frame.
    stance = contact.values[contact.timeline.frames_at(timeline.times)] > 0.5
    contacts = FootContacts(names, links, stance, np.zeros(stance.shape))
    recorded = motion.last(MultiValueSeq, REACH_ERROR)
    if recorded is not None and recorded.num_frames:
        contacts = _with_reach_errors(contacts, recorded, indices.get(HAND), timeline)
    # Misses of approximate moves say nothing about the robot.
    contacts.reach_errors[approximate_frames(motion, timeline.times)] = 0.0
    return contacts


def _with_reach_errors(
    contacts: FootContacts,
    recorded: MultiValueSeq,
    hand: int | None,
    timeline: Timeline,
) -> FootContacts:
    """Return contacts with recorded errors, and with the hand if it has some.

    `hand` is the link of the hand.
    """
    errors = recorded.values[recorded.timeline.frames_at(timeline.times)]
    errors = np.clip(np.nan_to_num(errors), 0.0, MAX_REACH_ERROR)
    for column, name in enumerate(recorded.part_labels[: recorded.num_parts]):
        of_foot = errors[:, [column]]
        if name in contacts.names:
            foot = contacts.names.index(name)
            contacts.reach_errors[:, [foot]] = of_foot
        elif name == HAND and hand is not None:
            never = np.zeros(of_foot.shape, dtype=bool)
            contacts = FootContacts(
                (*contacts.names, HAND),
                (*contacts.links, hand),
                np.hstack([contacts.stance, never]),
                np.hstack([contacts.reach_errors, of_foot]),
            )
    return contacts


def path_frames(count: int) -> Indices:
    """Return the frames, among `count`, that a path is drawn through.

    At most `MAX_PATH_POINTS`, the first and the last included.
    """
    return np.linspace(0, count - 1, min(count, MAX_PATH_POINTS)).astype(np.intp)


def make_scene(
    body: Body | None, motion: Motion | None, playback: Playback | None = None
) -> Scene:
    """Compute the scene of a body, a motion, or both.

    `playback` is how the motion was made from a script.

    Raises ValueError when both are missing, when the motion has fewer joint columns
    than the body (with both counts), or when there is nothing to show.
    """
    if body is None and motion is None:
        raise ValueError("there is neither a body nor a motion to show")
    if body is not None and not body.links:
        raise ValueError("the body has no links, so there is nothing to show")
    if motion is None:
        assert body is not None
        return _scene_of_body(body)
    # Long motions are thinned before any link pose is computed.
    motion, step = _thinned(motion, len(body.links) if body is not None else 1)
    shown = _shown_motion(body, motion)
    link_poses, num_wrong = _drawable(shown.link_poses, shown.recorded)
    notes = []
    if num_wrong:
        notes.append(
            f"{num_wrong} of {len(link_poses)} frames have poses that are not finite "
            "or too far away to draw: parts are missing or misplaced"
        )
    if step > 1:
        notes.append(
            f"The motion is too long to show every frame: one of {step} frames is shown"
        )
    scene = Scene(
        shown.body,
        motion,
        link_poses,
        frozen(np.nan_to_num(shown.q, posinf=0.0, neginf=0.0)),
        shown.timeline,
        has_root=motion.link_position is not None,
        notes=tuple(notes),
        mismatches=() if body is None else fit_problems(motion, body),
        without_body=body is None,
        playback=playback,
    )
    if motion.zmp is None or not motion.zmp.num_frames:
        return scene
    zmp = np.nan_to_num(motion.zmp.values[scene.timeline_index(motion.zmp.timeline)])
    return replace(
        scene,
        zmp=frozen(np.clip(zmp, -MAX_DISTANCE, MAX_DISTANCE)),
        zmp_in_root=motion.zmp.is_root_relative,
    )


def _scene_of_body(body: Body) -> Scene:
    """Return the scene of a body without a motion: one frame at rest."""
    q = np.zeros((1, body.num_joints))
    link_poses = frozen(body.forward_kinematics(q))
    return Scene(body, None, link_poses, q, Timeline.uniform(1, 1.0), has_root=False)


class _ShownMotion(NamedTuple):
    """A motion on its body, or on one that is made of its poses.

    `link_poses` (T, L, 7) are those that are shown, `recorded` (T, P, 7) those of the
    file; `q` (T, J) [rad or m].
    """

    body: Body
    timeline: Timeline
    link_poses: Floats
    recorded: Floats
    q: Floats


def _shown_motion(body: Body | None, motion: Motion) -> _ShownMotion:
    """Compute the poses of all links over a motion."""
    joints_and_links = (motion.joint_displacement, motion.link_position)
    parts = [part for part in joints_and_links if part is not None]
    # Components without frames have no timeline to follow.
    timed = [part for part in (parts or motion.timed) if part.num_frames]
    if not timed:
        raise ValueError("the motion has no frames, so there is nothing to play")
    if body is None:
        return _poses_alone(_body_of_frames(motion), motion, timed[0].timeline)
    if not parts:
        return _poses_alone(body, motion, timed[0].timeline)
    common = motion.replaced(*parts).synchronized()
    link_poses = body.link_poses(common)
    recorded = link_poses
    if common.link_position is not None:
        recorded = common.link_position.values
    q = _joint_values(body, common, link_poses)
    return _ShownMotion(body, common.timeline, link_poses, recorded, q)


def _poses_alone(body: Body, motion: Motion, timeline: Timeline) -> _ShownMotion:
    """Return the recorded poses as those of links, or the body at rest without any."""
    positions = motion.link_position
    if positions is not None and positions.num_frames and positions.num_parts:
        link_poses = positions.values
        timeline = positions.timeline
    else:
        at_rest = body.forward_kinematics(np.zeros((1, body.num_joints)))
        shape = (timeline.num_frames, len(body.links), 7)
        link_poses = np.broadcast_to(at_rest, shape)
    q = np.zeros((timeline.num_frames, body.num_joints))
    return _ShownMotion(body, timeline, link_poses, link_poses, q)


def _joint_values(body: Body, motion: Motion, link_poses: Floats) -> Floats:
    """Return the joint values (T, J), from link poses where the motion has none."""
    joints = motion.joint_displacement
    if joints is not None:
        with suppress(ValueError):  # The columns do not fit the body.
            return body.joint_values(joints)
    return body.recovered_joints(link_poses)


def _body_of_frames(motion: Motion) -> Body:
    """Return a body without shapes that has a link for each pose of a motion."""
    count = 1
    labels: tuple[str, ...] = ()
    if motion.link_position is not None:
        count = max(motion.link_position.num_parts, 1)
        labels = motion.link_position.part_labels
    links = []
    for index in range(count):
        name = f"link {index}" if index else "root"
        if index < len(labels):
            name = labels[index]
        parent = 0 if index else -1
        links.append(Link(name=name, index=index, parent=parent, joint=Joint()))
    return Body(links=tuple(links))


def _thinned(motion: Motion, num_links: int) -> tuple[Motion, int]:
    """Return the motion with every n-th frame only, and n.

    The number of link poses is then at most `MAX_LINK_POSES`.
    """
    timed = [part for part in motion.timed if part.num_frames]
    most = max((part.num_frames for part in timed), default=0)
    # Ceiling division: the smallest step that is enough.
    step = -(-most * num_links // MAX_LINK_POSES)
    if step < 2:
        return motion, 1
    return motion.replaced(
        *(part.part(slice(None, None, step)) for part in timed)
    ), step


def _drawable(link_poses: Floats, recorded: Floats) -> tuple[Floats, int]:
    """Return poses (T, L, 7) that can be drawn, and how many frames were changed.

    They have unit quaternions, and positions within `MAX_DISTANCE`. `recorded`
    (T, P, 7) are the poses as the motion has them.
    """
    is_wrong = _cannot_be_drawn(link_poses) | _cannot_be_drawn(recorded)
    if is_wrong.any():
        positions = np.nan_to_num(
            link_poses[..., :3], posinf=MAX_DISTANCE, neginf=-MAX_DISTANCE
        )
        positions = np.clip(positions, -MAX_DISTANCE, MAX_DISTANCE)
        turns = rotations.normalized(link_poses[..., 3:])
        link_poses = poses.from_parts(positions, turns)
    return frozen(link_poses), int(is_wrong.sum())


def _cannot_be_drawn(link_poses: Floats) -> Bools:
    """Return in which frames (T,) a pose is not finite or too far away."""
    is_finite = np.isfinite(link_poses).all(axis=(1, 2))
    is_far = (np.abs(link_poses[..., :3]) > MAX_DISTANCE).any(axis=(1, 2))
    return np.asarray(~is_finite | is_far)
