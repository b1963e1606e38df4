"""A scene: a body and its motion as arrays, ready to be shown.

A motion without a body is shown as frames: each of its poses becomes a link without
shapes. A body without a motion is one frame.

Of a link its shapes are drawn, or a stick figure where files of shapes are missing, or
where no link has shapes: bones from joint to joint, a ball at each moving joint, and a
disc for a wheel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Group, Problem, grouped
from bodymotion.diagnostics.text import counted, listed, shown
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, frozen
from bodymotion.geometry.meshes import outermost_points
from bodymotion.geometry.shapes import (
    Capsule,
    Cylinder,
    Material,
    Shape,
    Sphere,
    shape_along,
)
from bodymotion.model.body import Body, fit_problems
from bodymotion.model.links import Joint, Link
from bodymotion.motion import JOINT_DISPLACEMENT, Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.motion.feet import FOOT_CONTACT, LEGS, REACH_ERROR
from bodymotion.scene.music import Music
from bodymotion.scene.playback import (
    Beats,
    Playback,
    approximate_frames,
    beats_of,
)

MAX_DISTANCE = 1e5
"""[m] Positions farther from the origin, or not finite, cannot be drawn.

They are moved to this distance.
"""
MAX_LINK_POSES = 20_000_000
"""Number of link poses in memory (1.1 GB).

Of longer motions only every n-th frame is shown.
"""
MAX_PATH_POINTS = 1500
HAND = "hand"
REACH_TOLERANCE = 1e-3  # [m] A foot that is no farther from its target reaches it.

BONE = Material(diffuse=(0.56, 0.63, 0.73))
JOINT = Material(diffuse=(0.25, 0.42, 0.66))
BONE_RADIUS = 0.012
JOINT_RADIUS = 0.02
WHEEL_RADIUS = 0.08
MAX_WHEEL_RADIUS = 0.3
"""Of a stick figure, in sizes of the body.

Of a wheel where its inertia does not give the radius.
"""
MIN_BULK_WEIGHT = 0.5
BULK_GAP = 10.0
"""Points outside of a ball around at least this share of the body do not count if they are more than BULK_GAP times as far away."""


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
    """Return the limits of a joint, in degrees or metres.

    `−90 … 45°`; the type of one that neither rotates nor slides.
    """
    if joint.type not in ("rotate", "slide"):
        return joint.type
    if not np.isfinite([joint.lower, joint.upper]).any():
        return "no limits"
    factor, unit = (
        (float(np.rad2deg(1.0)), "°") if joint.type == "rotate" else (1.0, " m")
    )
    return f"{factor * joint.lower:.4g} … {factor * joint.upper:.4g}{unit}".replace(
        "-", "−"
    )


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
        return ", ".join(
            f"{'the hand' if name == HAND else f'foot {name}'} is "
            f"{1e3 * distance:.0f} mm short"
            for name, distance in zip(self.names, self.reach_errors[frame], strict=True)
            if distance > REACH_TOLERANCE
        )


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
        return drawn_shapes(self.body, not self.num_unread)

    @cached_property
    def extent(self) -> BodyExtent:
        """The outermost points of the body."""
        return BodyExtent(self.body, self.shapes)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for everyone who views the scene, as sentences.

        Files of shapes are missing, shapes are far away.
        """
        if self.num_unread:
            missing = ""
        else:
            missing = missing_files_text(self.body)
        return tuple(text for text in (missing, self.extent.describe_far()) if text)

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
        """The slices and beats of a Spot move.

        None for other motions.
        """
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
        paths = (
            self.body.source.path,
            self.motion.source.path if self.motion is not None else None,
        )
        names = [self.body.name, *(path.name for path in paths if path is not None)]
        return next((name for name in names if name.strip()), "bodymotion")

    @property
    def on_ground_by_default(self) -> bool:
        """Whether the body is put on the ground by default.

        Neither motion nor model gives the pose of its root.
        """
        return not self.has_root and not self.body.is_mounted

    @property
    def motion_problems(self) -> tuple[Problem, ...]:
        """The findings about the motion or script, those about motion and body together first."""
        if self.motion is not None:
            found = self.motion.problems
        else:
            found = ()
        return tuple(
            dict.fromkeys(
                (
                    *self.mismatches,
                    *found,
                    *(self.playback.problems if self.playback else ()),
                )
            )
        )

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
        """Why the motion cannot be measured on its body.

        Empty where it can.
        """
        if self.motion is None or self.num_frames < 2:
            return "there is no motion"
        if self.num_unread:
            return "its meshes are being read"
        if self.without_body:
            return "there is no body"
        if self.num_frames < 3:
            return "the motion has only two frames"
        return ""

    def ground_offset(self, link_poses: Floats) -> Floats:
        """Return the height (...) [m] to add to link poses (..., L, 7) so that the lowest point of the body is at 0."""
        return -self.extent.lowest(link_poses)

    def zmp_at(self, frame: int, root: Floats) -> Floats | None:
        """Return the recorded zero moment point (3,) in the world at a frame, for the shown pose (7,) of the root."""
        if self.zmp is None:
            return None
        point = self.zmp[frame]
        return poses.transform_points(root, point) if self.zmp_in_root else point

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The joint values as curves.

        Of a motion without a body, its columns.
        """
        if self.motion is None:
            return ()
        joints = self.motion.joint_displacement
        if self.body.num_joints == 0 and joints is not None:
            labels = joints.part_labels
            index = self.timeline_index(joints.timeline)
            return tuple(
                Curve(
                    labels[c] if c < len(labels) else f"joint {c}",
                    "rad or m",
                    joints.values[index, c],
                )
                for c in range(joints.num_parts)
            )
        found = []
        for column, joint in enumerate(self.body.joints):
            if self.body.joint_links[column] >= 0 and joint.type in (
                "rotate",
                "slide",
                "crawler",
            ):
                degrees = joint.type != "slide"
                if degrees:
                    values = np.rad2deg(self.q[:, column])
                else:
                    values = self.q[:, column]
                found.append(
                    Curve(
                        joint.name or f"joint {column}",
                        "deg" if degrees else "m",
                        values,
                    )
                )
        return tuple(found)

    def timeline_index(self, other: Timeline) -> Indices:
        """Return for each frame (T,) the current frame of another timeline at its time."""
        if other == self.timeline:
            return np.arange(self.num_frames)
        return np.asarray(other.frames_at(self.timeline.times))


def contacts_of(body: Body, motion: Motion, timeline: Timeline) -> FootContacts | None:
    """Return the contacts of a motion at the frames of a timeline, or None where it has none for feet of the body.

    They are those of the component FootContact; the foot `fl` is the link `fl_foot`, or
    `fl`.
    """
    if all(
        one.content == JOINT_DISPLACEMENT or not isinstance(one, MultiValueSeq)
        for one in motion.timed
    ):
        return None
    contact = motion.last(MultiValueSeq, FOOT_CONTACT)
    if contact is None or not contact.num_frames:
        return None
    if any(contact.part_labels):
        labels = contact.part_labels
    else:
        labels = LEGS
    index = {link.name: link.index for link in body.links}
    names = tuple(labels[: contact.num_parts])
    links = tuple(index.get(f"{name}_foot", index.get(name, -1)) for name in names)
    if len(names) != contact.num_parts or -1 in links or not links:
        return None
    stance = contact.values[contact.timeline.frames_at(timeline.times)] > 0.5
    reach_errors = np.zeros(stance.shape)
    recorded = motion.last(MultiValueSeq, REACH_ERROR)
    if recorded is not None and recorded.num_frames:
        values = recorded.values[recorded.timeline.frames_at(timeline.times)]
        values = np.clip(np.nan_to_num(values), 0.0, 1e5)
        for column, name in enumerate(recorded.part_labels[: recorded.num_parts]):
            if name in names:
                reach_errors[:, names.index(name)] = values[:, column]
            elif name == HAND and HAND in index:
                names = (*names, HAND)
                links = (*links, index[HAND])
                stance = np.hstack([stance, np.zeros((len(stance), 1), dtype=bool)])
                reach_errors = np.hstack([reach_errors, values[:, column : column + 1]])
    reach_errors[approximate_frames(motion, timeline.times)] = 0.0
    return FootContacts(names, links, stance, reach_errors)


def path_frames(count: int) -> Indices:
    """Return the frames, among `count`, that a path is drawn through.

    At most `MAX_PATH_POINTS`, the first and the last included.
    """
    return np.linspace(0, count - 1, min(count, MAX_PATH_POINTS)).astype(np.intp)


def make_scene(
    body: Body | None, motion: Motion | None, playback: Playback | None = None
) -> Scene:
    """Compute the scene of a body, a motion, or both.

    `playback` is how the motion was made from an animation.

    Raises ValueError when both are missing, when the motion has fewer joint columns
    than the body (with both counts), or when there is nothing to show.
    """
    if body is None and motion is None:
        raise ValueError("there is neither a body nor a motion to show")
    if body is not None and not body.links:
        raise ValueError("the body has no links, so there is nothing to show")
    if motion is None:
        assert body is not None
        q = np.zeros((1, body.num_joints))
        return Scene(
            body,
            None,
            frozen(body.forward_kinematics(q)),
            q,
            Timeline.uniform(1, 1.0),
            has_root=False,
        )
    motion, step = _thinned(motion, len(body.links) if body is not None else 1)
    parts = [
        c for c in (motion.joint_displacement, motion.link_position) if c is not None
    ]
    timed = [c for c in (parts or motion.timed) if c.num_frames]
    if not timed:
        raise ValueError("the motion has no frames, so there is nothing to play")
    without_body = body is None
    mismatches = () if body is None else fit_problems(motion, body)
    if body is None or not parts:
        body = body or _body_of_frames(motion)
        positions = motion.link_position
        timeline = timed[0].timeline
        if positions is not None and positions.num_frames and positions.num_parts:
            link_poses = positions.values
            timeline = positions.timeline
        else:
            still = body.forward_kinematics(np.zeros((1, body.num_joints)))
            link_poses = np.broadcast_to(
                still, (timeline.num_frames, len(body.links), 7)
            )
        q = np.zeros((timeline.num_frames, body.num_joints))
        recorded = link_poses
    else:
        common = motion.replaced(*parts).synchronized()
        timeline = common.timeline
        link_poses = body.link_poses(common)
        joints = common.joint_displacement
        try:
            if joints is None:
                q = body.recovered_joints(link_poses)
            else:
                q = body.joint_values(joints)
        except ValueError:
            q = body.recovered_joints(link_poses)
        if common.link_position is not None:
            recorded = common.link_position.values
        else:
            recorded = link_poses
    link_poses, num_wrong = _drawable(link_poses, recorded)
    notes = []
    if num_wrong:
        notes.append(
            f"{num_wrong} of {len(link_poses)} frames have poses that are not finite "
            "or too far away to draw: "
            "parts are missing or misplaced"
        )
    if step > 1:
        notes.append(
            f"The motion is too long to show every frame: one of {step} frames is shown"
        )
    scene = Scene(
        body,
        motion,
        link_poses,
        frozen(np.nan_to_num(q, posinf=0.0, neginf=0.0)),
        timeline,
        has_root=motion.link_position is not None,
        notes=tuple(notes),
        mismatches=mismatches,
        without_body=without_body,
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


def _body_of_frames(motion: Motion) -> Body:
    """Return a body without shapes that has a link for each pose of a motion."""
    positions = motion.link_position
    count = max(positions.num_parts if positions is not None else 1, 1)
    if positions is not None:
        labels = positions.part_labels
    else:
        labels = ()
    names = [
        labels[i] if i < len(labels) else ("root" if i == 0 else f"link {i}")
        for i in range(count)
    ]
    return Body(
        links=tuple(
            Link(name=name, index=i, parent=-1 if i == 0 else 0, joint=Joint())
            for i, name in enumerate(names)
        )
    )


def _thinned(motion: Motion, links: int) -> tuple[Motion, int]:
    """Return the motion with every n-th frame only, and n, so that the number of link poses stays within `MAX_LINK_POSES`."""
    timed = [c for c in motion.timed if c.num_frames]
    step = max((-(-c.num_frames * links // MAX_LINK_POSES) for c in timed), default=1)
    if step < 2:
        return motion, 1
    return motion.replaced(*(c.part(slice(None, None, step)) for c in timed)), step


def _drawable(link_poses: Floats, recorded: Floats) -> tuple[Floats, int]:
    """Return poses (T, L, 7) with unit quaternions and positions within `MAX_DISTANCE`, and the number of frames that were changed.

    `recorded` (T, P, 7) are the poses as the motion has them.
    """
    wrong = _outside(link_poses) | _outside(recorded)
    if wrong.any():
        position = np.clip(
            np.nan_to_num(
                link_poses[..., :3], posinf=MAX_DISTANCE, neginf=-MAX_DISTANCE
            ),
            -MAX_DISTANCE,
            MAX_DISTANCE,
        )
        link_poses = poses.from_parts(
            position, rotations.normalized(link_poses[..., 3:])
        )
    return frozen(link_poses), int(wrong.sum())


def _outside(values: Floats) -> Bools:
    finite = np.isfinite(values).all(axis=(1, 2))
    return np.asarray(
        ~finite | (np.abs(values[..., :3]) > MAX_DISTANCE).any(axis=(1, 2))
    )


def missing_files(body: Body) -> tuple[object, ...]:
    """Return the files of a model that are not shown.

    Their names, or where they are named.
    """
    if not body.problems:
        return ()
    # The packages of formats import their readers: they are only needed where there is
    # a problem.
    from bodymotion.formats.resources import (
        PART_LIMIT,
        PART_MISSING,
        PART_OUTSIDE,
        PART_REMOTE,
        PART_UNREADABLE,
    )

    codes = {
        rule.code
        for rule in (
            PART_LIMIT,
            PART_MISSING,
            PART_OUTSIDE,
            PART_REMOTE,
            PART_UNREADABLE,
        )
    }
    found: dict[object, None] = {}
    for problem in body.problems:
        if problem.rule in codes:
            names = problem.data.get(
                "missing", (problem.data.get("name", problem.location),)
            )
            found |= dict.fromkeys(names if isinstance(names, tuple) else (names,))
    return tuple(found)


def missing_files_text(body: Body) -> str:
    """Return how many files of a model are not shown, in a sentence.

    Empty where there are none.
    """
    count = len(missing_files(body))
    if not count:
        return ""
    return f"{counted(count, 'file')} of shapes or textures missing: a stick figure shows the links"


def drawn_shapes(body: Body, is_read: bool = True) -> tuple[tuple[Shape, ...], ...]:
    """Return the shapes of each link, in its frame.

    Those of a stick figure where they are missing, or still to be read.
    """
    shapes = tuple(link.visuals for link in body.links)
    if len(shapes) < 2 or all(shapes) or (any(shapes) and not missing_files(body)):
        return shapes
    origins = body.forward_kinematics(np.zeros(body.num_joints))[:, :3]
    origins = origins[_bulk(origins, np.ones(len(origins)))]
    size = float(np.linalg.norm(np.ptp(origins, axis=0))) or 0.3
    children: list[list[Link]] = [[] for _ in body.links]
    for link in body.links[1:]:
        if link.joint.type != "free":
            children[link.parent].append(link)
    # Of a link with shapes some may be missing, too; its bones are inside of the
    # others.
    return tuple(
        own + _bones(link, children[link.index], size) * is_read
        if own
        else _stand_in(link, children[link.index], size)
        for own, link in zip(shapes, body.links, strict=True)
    )


def _bones(link: Link, children: list[Link], size: float) -> tuple[Shape, ...]:
    """Return the bones from a link to its children, or to its centre of mass."""
    ends = [child.offset[:3] for child in children]
    if not children and link.mass > 0:
        ends = [link.center_of_mass]
    long = [
        end
        for end in ends
        if np.isfinite(end).all() and np.linalg.norm(end) > JOINT_RADIUS * size
    ]
    return tuple(
        shape_along(
            Capsule(BONE_RADIUS * size, float(np.linalg.norm(end))),
            0.5 * end,
            end,
            BONE,
        )
        for end in long
    )


def _stand_in(link: Link, children: list[Link], size: float) -> tuple[Shape, ...]:
    """Return the shapes of a link without shapes in a stick figure of a body of `size` metres."""
    if link.collisions:
        return tuple(
            Shape(shape.geometry, shape.transform, BONE, shape.name)
            for shape in link.collisions
        )
    joint = link.joint
    mass = link.mass
    turns = joint.type == "crawler" or (
        joint.type == "rotate" and not np.isfinite([joint.lower, joint.upper]).any()
    )
    if turns and not children and link.index:
        # The moment of a disc about its axis is m r² / 2.
        moment = float(joint.axis @ link.inertia @ joint.axis)
        if mass > 0 and moment > 0:
            radius = float(np.sqrt(2.0 * moment / mass))
        else:
            radius = 0.0
        if not 2 * BONE_RADIUS < radius / size < MAX_WHEEL_RADIUS:
            radius = WHEEL_RADIUS * size
        return (
            shape_along(Cylinder(radius, 0.4 * radius), np.zeros(3), joint.axis, BONE),
        )
    ball = (
        (Shape(Sphere(JOINT_RADIUS * size), material=JOINT),)
        if joint.type in ("rotate", "slide")
        else ()
    )
    return _bones(link, children, size) + (ball if link.index else ())


class BodyExtent:
    """The outermost points of a body.

    `points` (N, 3) in the frames of the links `links` (N,). They give its extent in any
    pose.

    Points far outside of the bulk of the body (a vertex with a wrong number, a floor in
    the model) are left out. `far` are the indices of their links. A body without shapes
    of its own has the extent of its environment, too.
    """

    def __init__(self, body: Body, shapes: tuple[tuple[Shape, ...], ...]) -> None:
        found = [
            link.visual_points if link.visuals else outermost_points(own)
            for own, link in zip(shapes, body.links, strict=True)
        ]
        if body.environment and not any(link.visuals for link in body.links):
            around = outermost_points(body.environment)
            found[0] = np.concatenate(
                [
                    found[0],
                    poses.transform_points(poses.inverse(body.root_pose), around),
                ]
            )
        counts = np.array([len(points) for points in found])
        self.points: Floats = np.concatenate([np.zeros((0, 3)), *found])
        self.links: Indices = np.repeat(np.arange(len(found)), counts)
        self._body = body
        self.far: tuple[int, ...] = ()
        if len(self.points):
            placed = self.placed(body.forward_kinematics(np.zeros(body.num_joints)))
            near = _bulk(placed, 1.0 / counts[self.links])
            self.far = tuple(np.unique(self.links[~near]).tolist())
            self.points, self.links = self.points[near], self.links[near]

    def describe_far(self) -> str:
        """Return the links that reach far outside of the bulk of the body, in a sentence.

        Empty where there are none.
        """
        if not self.far:
            return ""
        names = listed(
            (repr(shown(self._body.links[index].name)) for index in self.far), 3
        )
        return f"shapes of {names} reach more than {BULK_GAP:g} sizes of the body away: the camera shows the rest"

    def placed(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the points (N, 3) in the world for link poses (L, 7)."""
        placed = np.asarray(link_poses, dtype=np.float64)[self.links]
        return np.asarray(
            placed[:, :3]
            + rotations.rotate(rotations.normalized(placed[:, 3:]), self.points)
        )

    def lowest(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the height (...) [m] of the lowest point for link poses (..., L, 7).

        0 for a body without shapes.
        """
        placed = np.asarray(link_poses, dtype=np.float64)
        if not len(self.points):
            return np.zeros(placed.shape[:-2])
        w, x, y, z = np.moveaxis(rotations.normalized(placed[..., 3:]), -1, 0)
        down = np.stack(
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1
        )
        heights = placed[..., self.links, 2] + np.einsum(
            "...nk,nk->...n", down[..., self.links, :], self.points
        )
        return np.asarray(heights.min(axis=-1))

    def bounds(self, link_poses: npt.ArrayLike) -> Floats | None:
        """Return the lowest and highest corner (2, 3) of the box around the body for link poses (L, 7).

        None without shapes.
        """
        placed = self.placed(link_poses)
        if len(placed):
            return np.stack([placed.min(axis=0), placed.max(axis=0)])
        return None


def _bulk(points: Floats, weights: npt.ArrayLike) -> Bools:
    """Return which points (N, 3) belong to the bulk.

    All that are not beyond a wide gap around at least half of the weights (N,).
    """
    weights = np.asarray(weights, dtype=np.float64)
    center = np.quantile(
        points,
        0.5,
        axis=0,
        weights=np.repeat(weights[:, None], 3, 1),
        method="inverted_cdf",
    )
    distances = np.linalg.norm(points - center, axis=1)
    order = np.argsort(distances)
    sorted_distances = distances[order]
    enough = np.cumsum(weights[order])[:-1] >= MIN_BULK_WEIGHT * weights.sum()
    gaps = np.flatnonzero(
        enough
        & (sorted_distances[1:] > BULK_GAP * np.maximum(sorted_distances[:-1], 1e-9))
    )
    # A few points alone are no bulk: two boxes of a small part beside a large one.
    gaps = gaps[gaps >= 3]
    if len(gaps):
        return np.asarray(distances <= sorted_distances[gaps[0]])
    return np.ones(len(points), dtype=bool)
