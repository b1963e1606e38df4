"""Several Spots in one scene: one body and one motion of all of them, and the distances between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bodymotion.animation import LEGS, Animation
from bodymotion.choreography import Choreography
from bodymotion.diagnostics import Problem
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.meshes import box_overlap
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints
from bodymotion.model.links import Joint, Link
from bodymotion.motion import JOINT_DISPLACEMENT, Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import sampled
from bodymotion.spot.choreography import rules
from bodymotion.spot.playback import FOOT_CONTACT, spot_body
from bodymotion.spot.playback.dimensions import LEG_JOINTS

SPACING = 2.0  # [m] Between robots without start positions.
MIN_DISTANCE = 0.1  # [m] Robots that come nearer are reported.
CHECKED_RATE = 20.0  # [Hz] of the distances.
BLOCK = 32  # Frames whose distances are computed at a time.
_BASE = (
    ("x", "slide", 0),
    ("y", "slide", 1),
    ("z", "slide", 2),
    ("yaw", "rotate", 2),
    ("pitch", "rotate", 1),
    ("roll", "rotate", 0),
)
"""The joints that move a robot on the stage: name, type and axis."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Several Spots that dance together.

    Attributes
    ----------
    body, motion:
        All robots as one body, and their motion. Links and joints of the robot k are named `spotK_…`; six further joints move it.
    times:
        (T,) [s] of the distances.
    distances:
        (T,) [m] for each pair of robots, by their numbers from 0: between the boxes around their shapes, at most the real distance.
    problems:
        Robots that come within `MIN_DISTANCE` of each other (SPOT133).
    """

    body: Body
    motion: Motion
    times: Floats
    distances: Mapping[tuple[int, int], Floats]
    problems: tuple[Problem, ...]


def ensemble(
    dances: Sequence[Choreography | Animation | Motion], places: Sequence[npt.ArrayLike] | None = None
) -> Ensemble:
    """Return several Spots that begin to dance at the same moment.

    Parameters
    ----------
    dances:
        The dance of each robot; after its end the robot keeps its last pose.
    places:
        Start position of each: x, y [m] and heading [rad] in the world; by default in a row, 2 m apart, looking along x.

    Raises
    ------
    ValueError
        When the numbers of dances and places differ, there are none, or a dance cannot be played.
    """
    places = [(0.0, -SPACING * k, 0.0) for k in range(len(dances))] if places is None else places
    if not dances or len(dances) != len(places):
        raise ValueError(f"expected a place for each dance, got {len(dances)} dances and {len(places)} places")
    motions = [one if isinstance(one, Motion) else one.play() for one in dances]
    rate = max(one.frame_rate or CHECKED_RATE for one in motions)
    count = int(np.ceil(max(one.duration for one in motions) * rate)) + 1
    at = np.arange(count) / rate
    links = [Link(name="stage")]
    columns: list[Floats] = []
    contacts: list[Floats] = []
    robots: list[tuple[Body, Floats, Floats]] = []
    for k, (motion, place) in enumerate(zip(motions, places, strict=True)):
        x, y, heading = frozen(place, (3,), f"place {k + 1}")
        values = {one.content: sampled(one.values, one.timeline.times, at) for one in motion.timed}
        joints, placed = motion.joint_displacement, motion.link_position
        if joints is None or placed is None or FOOT_CONTACT not in values:
            raise ValueError(f"dance {k + 1}: expected a motion of Spot with joints, root poses and {FOOT_CONTACT}")
        stage = poses.from_parts([x, y, 0.0], rotations.from_rpy([0.0, 0.0, heading]))
        root, q = poses.compose(stage, values[placed.content][:, 0]), values[joints.content]
        robot = spot_body(arm=joints.num_parts > len(LEG_JOINTS))
        robots.append((robot, q, root))
        links += _links(robot, f"spot{k + 1}", len(links), sum(table.shape[1] for table in columns))
        angles = np.unwrap(rotations.to_rpy(root[:, 3:]), axis=0)
        columns += [root[:, :3], angles[:, ::-1], q]
        contacts.append(np.round(values[FOOT_CONTACT]))
    body, timeline = Body(name="ensemble", links=tuple(links)), Timeline(frame_rate=rate, num_frames=count)
    labels = tuple(f"spot{k + 1}_{leg}" for k in range(len(dances)) for leg in LEGS)
    names = tuple(joint.name for joint in body.joints)
    moving = MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=timeline, values=np.hstack(columns), part_labels=names)
    standing = MultiValueSeq(content=FOOT_CONTACT, timeline=timeline, values=np.hstack(contacts), part_labels=labels)
    chosen = np.unique(np.round(np.arange(0.0, at[-1] + 1e-9, 1.0 / CHECKED_RATE) * rate).astype(int))
    boxes = [_boxes(robot, q[chosen], root[chosen]) for robot, q, root in robots]
    distances = {(a, b): _distances(boxes[a], boxes[b]) for a, b in combinations(range(len(boxes)), 2)}
    problems = tuple(_near(pair, one, at[chosen]) for pair, one in distances.items() if one.min() < MIN_DISTANCE)
    return Ensemble(body, Motion((moving, standing)), at[chosen], distances, problems)


def _links(robot: Body, name: str, first: int, column: int) -> list[Link]:
    """Return the links of a robot behind those that move it on the stage; `first` is the index of the first, `column` of its joint."""
    found: list[Link] = []
    for k, (what, kind, axis) in enumerate(_BASE):
        joint = Joint(name=f"{name}_{what}", type=kind, id=column + k, axis=np.eye(3)[axis])  # type: ignore[arg-type]
        found.append(Link(name=joint.name, index=first + k, parent=first + k - 1 if k else 0, joint=joint))
    base = first + len(_BASE)
    for link in robot.links:
        number = -1 if link.joint.id < 0 else column + 6 + link.joint.id
        joint = replace(link.joint, name=f"{name}_{link.joint.name}", id=number)
        if link.parent < 0:
            link, joint = replace(link, offset=poses.IDENTITY), Joint(name=joint.name)
        segments = tuple(replace(one, name=f"{name}_{one.name}") for one in link.segments)
        parent = base - 1 if link.parent < 0 else base + link.parent
        named = replace(link, name=f"{name}_{link.name}", index=base + link.index)
        found.append(replace(named, parent=parent, joint=joint, segments=segments))
    return found


def _boxes(robot: Body, q: Floats, root: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the axes (3, 3, T, S), half sizes (3, S) and middles (3, T, S) of boxes around the S shapes of a robot in the world."""
    shapes = CollisionPoints(robot, visuals=True)
    placed = robot.forward_kinematics(q, root)[:, shapes.shapes]
    middles, halves = shapes.boxes
    axes = rotations.to_matrix(placed[..., 3:]) @ shapes.axes
    return np.moveaxis(axes, (2, 3), (0, 1)), halves.T, np.moveaxis(poses.transform_points(placed, middles), 2, 0)


def _distances(one: tuple[Floats, Floats, Floats], other: tuple[Floats, Floats, Floats]) -> Floats:
    """Return the least distances (T,) [m] between boxes of two robots; 0 where they overlap."""
    found = []
    for start in range(0, one[0].shape[2], BLOCK):
        part = slice(start, start + BLOCK)
        a = one[0][:, :, part, :, None], one[1][:, None, :, None], one[2][:, part, :, None]
        b = other[0][:, :, part, None, :], other[1][:, None, None, :], other[2][:, part, None, :]
        found.append(np.maximum(-box_overlap(a, b), 0.0).min(axis=(1, 2)))
    return np.concatenate(found)


def _near(pair: tuple[int, int], distances: Floats, times: Floats) -> Problem:
    worst = int(np.argmin(distances))
    one, other = (k + 1 for k in pair)
    least, time = float(distances[worst]), float(times[worst])
    what = "touch each other" if least == 0 else f"come within {least:.2f} m of each other"
    near = f"nearer than {MIN_DISTANCE:g} m for {np.mean(distances < MIN_DISTANCE):.0%} of the time"
    message = f"robots {one} and {other} {what} at {time:.2f} s; {near}"
    return rules.NEAR.problem(message, subject=("robots", *pair), data={"distance": least, "time": time})
