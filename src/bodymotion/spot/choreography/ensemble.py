"""Several Spots as one body with one motion, and the distances between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, ShortRepr
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, Indices, frozen
from bodymotion.geometry.meshes import box_overlap
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints
from bodymotion.model.links import Joint, Link
from bodymotion.motion import JOINT_DISPLACEMENT, Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.motion.feet import LEGS
from bodymotion.motion.interpolation import sampled
from bodymotion.spot.animation import Animation
from bodymotion.spot.choreography import rules
from bodymotion.spot.choreography.values import Choreography
from bodymotion.spot.playback import FOOT_CONTACT, spot_body
from bodymotion.spot.playback.dimensions import LEG_JOINTS

# [m] Between robots without start positions.
SPACING = 2.0
# [m] Robots that come nearer are reported.
MIN_DISTANCE = 0.1
# [Hz] of the distances between robots.
CHECKED_RATE = 20.0
# Frames whose distances are computed at a time, which bounds the memory.
BLOCK = 32
# The joints that move a robot on the stage: name, type and axis.
_BASE = (
    ("x", "slide", 0),
    ("y", "slide", 1),
    ("z", "slide", 2),
    ("yaw", "rotate", 2),
    ("pitch", "rotate", 1),
    ("roll", "rotate", 0),
)


@dataclass(frozen=True, eq=False)
class Ensemble(ShortRepr):
    """Several Spots that dance together.

    Attributes
    ----------
    body, motion:
        All robots as one body, and their motion. Links and joints of the robot k are
        named `spotK_…`; six further joints move it.
    times:
        (T,) [s] of the distances.
    distances:
        (T,) [m] for each pair of robots, by their numbers from 0: between the boxes
        around their shapes, at most the real distance.
    problems:
        Robots that come within `MIN_DISTANCE` of each other (SPOT133).
    """

    body: Body
    motion: Motion
    times: Floats
    distances: Mapping[tuple[int, int], Floats]
    problems: tuple[Problem, ...]


class _Dancer(NamedTuple):
    """A robot on the stage at T times.

    Its joints (T, J), root poses (T, 7) and contacts (T, 4).
    """

    body: Body
    joints: Floats
    root: Floats
    contacts: Floats

    def columns(self) -> Floats:
        """Return the values (T, 6 + J) of the joints that move it, and of its own."""
        angles = np.unwrap(rotations.to_rpy(self.root[:, 3:]), axis=0)
        # The joints of the stage rotate by yaw, then pitch, then roll.
        return np.hstack([self.root[:, :3], angles[:, ::-1], self.joints])


class _Boxes(NamedTuple):
    """Boxes around the S shapes of a robot in the world at T times.

    `axes` (3, 3, T, S), `halves` (3, S) half sizes, `middles` (3, T, S).
    """

    axes: Floats
    halves: Floats
    middles: Floats

    def block(self, times: slice) -> _Boxes:
        """Return the boxes at some of the times."""
        return _Boxes(self.axes[:, :, times], self.halves, self.middles[:, times])


def ensemble(
    dances: Sequence[Choreography | Animation | Motion],
    places: Sequence[npt.ArrayLike] | None = None,
) -> Ensemble:
    """Return several Spots that begin to dance at the same moment.

    Parameters
    ----------
    dances:
        The dance of each robot; after its end the robot keeps its last pose.
    places:
        Start position of each: x, y [m] and heading [rad] in the world; by default in a
        row, 2 m apart, looking along x.

    Raises
    ------
    ValueError
        When the numbers of dances and places differ, there are none, or a dance cannot
        be played.
    """
    if places is None:
        # In a row to the right of the first robot.
        places = [(0.0, -SPACING * k, 0.0) for k in range(len(dances))]
    if not dances or len(dances) != len(places):
        raise ValueError(
            f"expected a place for each dance, got {len(dances)} dances and "
            f"{len(places)} places"
        )
    motions = [one if isinstance(one, Motion) else one.play() for one in dances]
    # The rate of the finest motion, so that none loses frames.
    rate = max(motion.frame_rate or CHECKED_RATE for motion in motions)
    count = int(np.ceil(max(motion.duration for motion in motions) * rate)) + 1
    times: Floats = np.arange(count) / rate
    dancers = [
        _dancer(motion, place, times, number)
        for number, (motion, place) in enumerate(zip(motions, places, strict=True), 1)
    ]
    body = _common_body(dancers)
    timeline = Timeline(frame_rate=rate, num_frames=count)
    checked_times = np.arange(0.0, times[-1] + 1e-9, 1.0 / CHECKED_RATE)
    checked = np.unique(np.round(checked_times * rate).astype(int))
    distances = _all_distances(dancers, checked)
    problems = tuple(
        _near(pair, between, times[checked])
        for pair, between in distances.items()
        if between.min() < MIN_DISTANCE
    )
    motion = _common_motion(body, dancers, timeline)
    return Ensemble(body, motion, times[checked], distances, problems)


def _dancer(
    motion: Motion, place: npt.ArrayLike, times: Floats, number: int
) -> _Dancer:
    """Return a robot that dances a motion from a place on, at times (T,) [s]."""
    x, y, heading = frozen(place, (3,), f"place {number}")
    values = {
        component.content: sampled(component.values, component.timeline.times, times)
        for component in motion.timed
    }
    joints = motion.joint_displacement
    links = motion.link_position
    if joints is None or links is None or FOOT_CONTACT not in values:
        raise ValueError(
            f"dance {number}: expected a motion of Spot with joints, root poses and "
            f"{FOOT_CONTACT}"
        )
    # Places are on the floor: x, y and a rotation about z.
    start = poses.from_parts([x, y, 0.0], rotations.from_rpy([0.0, 0.0, heading]))
    return _Dancer(
        spot_body(arm=joints.num_parts > len(LEG_JOINTS)),
        values[joints.content],
        poses.compose(start, values[links.content][:, 0]),
        # Resampled contacts are between 0 and 1.
        np.round(values[FOOT_CONTACT]),
    )


def _common_body(dancers: Sequence[_Dancer]) -> Body:
    """Return all robots as one body, on a link that is the stage."""
    links = [Link(name="stage")]
    column = 0
    for number, dancer in enumerate(dancers, 1):
        # Column of the first joint of each robot in the common arrays.
        links += _links_of(dancer.body, f"spot{number}", len(links), column)
        column += len(_BASE) + dancer.joints.shape[1]
    return Body(name="ensemble", links=tuple(links))


def _common_motion(
    body: Body, dancers: Sequence[_Dancer], timeline: Timeline
) -> Motion:
    """Return the motion of all robots as one of their common body."""
    joints = MultiValueSeq(
        content=JOINT_DISPLACEMENT,
        timeline=timeline,
        values=np.hstack([dancer.columns() for dancer in dancers]),
        part_labels=tuple(joint.name for joint in body.joints),
    )
    feet: list[str] = []
    for number in range(1, len(dancers) + 1):
        feet += [f"spot{number}_{leg}" for leg in LEGS]
    contacts = MultiValueSeq(
        content=FOOT_CONTACT,
        timeline=timeline,
        values=np.hstack([dancer.contacts for dancer in dancers]),
        part_labels=tuple(feet),
    )
    return Motion((joints, contacts))


def _links_of(robot: Body, name: str, first: int, column: int) -> list[Link]:
    """Return the links of a robot behind those that move it on the stage.

    `first` is the index of the first, `column` of its joint.
    """
    links = _links_of_base(name, first, column)
    base = first + len(_BASE)
    # Ids of joints go on behind those of the robots before.
    for link in robot.links:
        number = -1
        if link.joint.id >= 0:
            number = column + len(_BASE) + link.joint.id
        joint = replace(link.joint, name=f"{name}_{link.joint.name}", id=number)
        parent = base + link.parent
        if link.parent < 0:
            # The joints of the stage move the robot: its root is fixed to the last.
            link = replace(link, offset=poses.IDENTITY)
            joint = Joint(name=joint.name)
            parent = base - 1
        segments = [replace(one, name=f"{name}_{one.name}") for one in link.segments]
        links.append(
            replace(
                link,
                name=f"{name}_{link.name}",
                index=base + link.index,
                parent=parent,
                joint=joint,
                segments=tuple(segments),
            )
        )
    return links


def _links_of_base(name: str, first: int, column: int) -> list[Link]:
    """Return the links with the joints that move a robot on the stage."""
    links = []
    for k, (coordinate, kind, axis) in enumerate(_BASE):
        joint = Joint(
            name=f"{name}_{coordinate}",
            type=kind,  # type: ignore[arg-type]
            id=column + k,
            axis=np.eye(3)[axis],
        )
        index = first + k
        # The first is on the stage, link 0.
        parent = index - 1 if k else 0
        links.append(Link(name=joint.name, index=index, parent=parent, joint=joint))
    return links


def _all_distances(
    dancers: Sequence[_Dancer], frames: Indices
) -> dict[tuple[int, int], Floats]:
    """Return the distances of each pair of robots at some frames."""
    boxes = [
        _boxes(dancer.body, dancer.joints[frames], dancer.root[frames])
        for dancer in dancers
    ]
    pairs = combinations(range(len(boxes)), 2)
    return {(a, b): _distances(boxes[a], boxes[b]) for a, b in pairs}


def _boxes(robot: Body, q: Floats, root: Floats) -> _Boxes:
    """Return the boxes around the shapes of a robot in the world."""
    shapes = CollisionPoints(robot, visuals=True)
    shape_poses = robot.forward_kinematics(q, root)[:, shapes.shapes]
    middles, halves = shapes.boxes
    # A box has the axes of its shape; S shapes over T times at once.
    axes = rotations.to_matrix(shape_poses[..., 3:]) @ shapes.axes
    in_world = poses.transform_points(shape_poses, middles)
    return _Boxes(
        np.moveaxis(axes, (2, 3), (0, 1)), halves.T, np.moveaxis(in_world, 2, 0)
    )


def _distances(one: _Boxes, other: _Boxes) -> Floats:
    """Return the smallest distances (T,) [m] between boxes of two robots.

    0 where they overlap.
    """
    distances = []
    for start in range(0, one.axes.shape[2], BLOCK):
        times = slice(start, start + BLOCK)
        # Each box of one robot with each of the other: (…, T, S of one, S of other).
        a = one.block(times)
        b = other.block(times)
        overlaps = box_overlap(
            (
                a.axes[:, :, :, :, None],
                a.halves[:, None, :, None],
                a.middles[:, :, :, None],
            ),
            (
                b.axes[:, :, :, None, :],
                b.halves[:, None, None, :],
                b.middles[:, :, None, :],
            ),
        )
        # box_overlap is negative for boxes apart: its negative is a lower bound of the
        # distance.
        distances.append(np.maximum(-overlaps, 0.0).min(axis=(1, 2)))
    return np.concatenate(distances)


def _near(pair: tuple[int, int], distances: Floats, times: Floats) -> Problem:
    """Return the problem that two robots come too near."""
    nearest = int(np.argmin(distances))
    distance = float(distances[nearest])
    time = float(times[nearest])
    meet = f"come within {distance:.2f} m of each other"
    if distance == 0:
        meet = "touch each other"
    share = np.mean(distances < MIN_DISTANCE)
    message = (
        f"robots {pair[0] + 1} and {pair[1] + 1} {meet} at {time:.2f} s; nearer than "
        f"{MIN_DISTANCE:g} m for {share:.0%} of the time"
    )
    data = {"distance": distance, "time": time}
    return rules.NEAR.problem(message, subject=("robots", *pair), data=data)
