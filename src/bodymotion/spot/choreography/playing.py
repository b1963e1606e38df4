"""Playback of a choreography, by one Spot or by several in one scene.

Its motion is that of its animations. Moves of the robot's own are approximations or
pauses, with their names. Several Spots are one body with one motion of all of them, and
the distances between them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, ShortRepr
from bodymotion.diagnostics.text import counted
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, check_memory, frozen
from bodymotion.geometry.meshes import box_overlap
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints
from bodymotion.model.links import Joint, Link
from bodymotion.model.scripts import tempo_error
from bodymotion.motion import JOINT_DISPLACEMENT, Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.motion.feet import LEGS
from bodymotion.motion.interpolation import sampled
from bodymotion.spot.animation import GROUPS, Animation, Keyframes, Parameter
from bodymotion.spot.choreography import rules
from bodymotion.spot.choreography.moves import length_range, tracks_of
from bodymotion.spot.choreography.values import Choreography, Move
from bodymotion.spot.playback import (
    FOOT_CONTACT,
    SpotPose,
    needs_arm,
    play,
    spot_body,
    stand,
)
from bodymotion.spot.playback.arm import arm_joints, hand_poses
from bodymotion.spot.playback.dimensions import LEG_JOINTS, NOMINAL_HEIGHT
from bodymotion.spot.playback.legs import leg_joints
from bodymotion.spot.playback.playing import arm_playback, default_start
from bodymotion.spot.playback.recording import components
from bodymotion.spot.playback.stance import feet_in_world

LEG_COLUMNS = slice(0, 12)
ARM = slice(12, 18)
# The second in Hz.
MIN_FRAMES_PER_SLICE = 4
MIN_FRAME_RATE = 60.0
_COLUMNS = {"arm": ARM, "gripper": slice(18, 19)}

# Several robots.
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

_POSE = (*GROUPS["body_pos"], *GROUPS["body_euler_rpy"])
_ARM = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")
MAX_FRAMES = 500_000  # Of a dance: more than an hour at 120 Hz.
MAX_NUMBER = 1000.0  # [m, rad, slices] With larger numbers a move is a pause.


def parameters_of(move: Move) -> dict[str, float]:
    """Return the numbers that a move sets as parameters of its animation."""
    return {
        name: float(value)
        for name, value in move.parameters.items()
        if isinstance(value, (int, float)) and not name.endswith(".")
    }


def play_choreography(
    choreography: Choreography, *, first_slice: float = 0, arm: bool | None = None
) -> Motion:
    """Return the motion of a choreography; time 0 is slice 0.

    Moves at the same time on different tracks are played together: the body moves
    relative to where the legs carry it, and a hand with a pose in the world keeps it. A
    length that an animation does not allow becomes the nearest one. Moves of the
    robot's own are approximations where their parameters define their goals, and else
    pauses; `problems` reports them (SPOT132).

    Parameters
    ----------
    first_slice:
        Where a robot begins: it skips the moves that begin before, even if they end
        after it.
    arm:
        Whether Spot has an arm; by default where an animation controls it, or requires
        one.

    Returns
    -------
    Motion
        With the components of `bodymotion.spot.playback.play`. `extra["spot"]` has the
        tempo, the slices, and `moves`: type, start and end [s], tracks, and whether
        each is played.

    Raises
    ------
    ValueError
        When there is no tempo or no move, an animation cannot be played so, or memory
        does not suffice.
    """
    per_minute = choreography.slices_per_minute
    slices = choreography.slices
    if not 0 < per_minute < np.inf or slices <= 0:
        raise ValueError(
            f"a choreography of {slices} slices at {per_minute:g} per minute cannot "
            "be played"
        )
    moves = [
        move for move in choreography.moves if move.start_slice >= max(first_slice, 0)
    ]
    # Of moves that begin together an animation comes last: where both control a track,
    # it is shown.
    moves.sort(key=lambda move: (move.start_slice, bool(move.animation)))
    known = [
        choreography.animations.get(move.animation)
        or approximation(move, 60.0 / per_minute)
        for move in moves
    ]
    if arm is None:
        arm = any(needs_arm(one) for one in known if one is not None)
    per_slice = int(
        min(max(MIN_FRAMES_PER_SLICE, np.ceil(MIN_FRAME_RATE * 60.0 / per_minute)), 1e6)
    )
    rate = per_slice * per_minute / 60.0
    count = slices * per_slice + 1
    if count > MAX_FRAMES:
        raise ValueError(
            f"a dance of {slices} slices at {per_minute:g} slices per minute has "
            f"{count}"
            f" frames; expected at most {MAX_FRAMES}"
        )
    try:
        check_memory(count * 30 * 8 * 3, f"a dance of {count} frames")
    except MemoryError as error:
        raise ValueError(str(error)) from None
    opening = next((one for one in known if one is not None), Animation())
    made = _Frames(count, default_start(opening))
    shown: list[dict[str, object]] = []
    own: list[str] = []
    for move, animation in zip(moves, known, strict=True):
        if animation is not None:
            first = move.start_slice * per_slice
            low, high = length_range(choreography, move)
            lasting = replace(
                move, requested_slices=int(min(max(move.requested_slices, low), high))
            )
            played = play_move(
                animation,
                lasting,
                choreography.bpm,
                made.pose(first),
                arm=arm,
                rate=rate,
            )
            made.put(played, animation, first)
        is_approximate = animation is not None and not move.animation
        if is_approximate:
            name = f"≈ {move.type}"
        else:
            name = move.type
        own += [] if move.animation in choreography.animations else [name]
        shown.append(
            {
                "type": name,
                "start": move.start_slice * 60.0 / per_minute,
                "end": move.end_slice * 60.0 / per_minute,
                "tracks": list(tracks_of(choreography, move)),
                "played": animation is not None,
                "approximate": is_approximate,
            }
        )
    made.fill(count)
    if arm:
        made.keep_hands()
    timeline = Timeline(frame_rate=rate, num_frames=count)
    parts = 19 if arm else 12
    return Motion(
        components(
            timeline,
            made.body,
            made.joints[:, :parts],
            made.contacts,
            made.errors[:, : 5 if arm else 4],
        ),
        extra={
            "name": choreography.name,
            "spot": {
                "bpm": per_minute / 4.0,
                "slice": 60.0 / per_minute,
                "slices": float(slices),
                "moves": shown,
            },
        },
        problems=_placeholders(choreography, own),
    )


def body_and_motion(
    choreography: Choreography, *, bpm: float | None = None
) -> tuple[Body, Motion]:
    """Return the body of Spot and the motion of a choreography on it.

    See `Choreography.body_and_motion`.
    """
    if bpm is not None:
        raise tempo_error()
    motion = play_choreography(choreography)
    joints = motion.joint_displacement
    return spot_body(
        arm=joints is not None and joints.num_parts > len(LEG_JOINTS)
    ), motion


def motion_at(motion: Motion | None, seconds: Floats, *, arm: bool) -> Motion:
    """Return the states of Spot at times (T,) of a motion of `play_choreography`, one every 10 ms.

    Standing where there is none.
    """
    timeline = Timeline(frame_rate=100.0, num_frames=len(seconds))
    if motion is None:
        rest = stand()
        legs = np.concatenate([rest.legs.ravel(), rest.arm, [rest.gripper]])[
            : 19 if arm else 12
        ]
        still = np.ones((len(seconds), 1))
        return Motion(
            components(
                timeline, still * rest.body, still * legs, np.ones((len(seconds), 4))
            )
        )
    parts = [
        np.asarray(sampled(c.values, c.timeline.times, seconds)) for c in motion.timed
    ]
    return Motion(components(timeline, parts[0][:, 0], parts[1], parts[2] > 0.5))


def _placeholders(
    choreography: Choreography, shown: Sequence[str]
) -> tuple[Problem, ...]:
    """Return the problem of moves of the robot's own, by the names under which they are `shown`."""
    if not shown:
        return ()
    names = ", ".join(dict.fromkeys(shown[:8]))
    count = counted(len(shown), "move")
    message = f"{count} of {len(choreography.moves)} shown as pauses, or approximately (≈): {names}"
    return (
        rules.PLACEHOLDER.problem(message, choreography.source.locations.locate(())),
    )


def play_move(
    animation: Animation,
    move: Move,
    bpm: float,
    start: SpotPose,
    *,
    arm: bool,
    rate: float | None = None,
) -> Motion:
    """Return the motion of a move that an animation shows, from a pose on.

    `rate` [Hz] as for `play`.
    """
    if move.animation:
        parameters = parameters_of(move)
    else:
        parameters = {}
    slices = float(move.requested_slices)
    return play(
        animation,
        bpm=bpm,
        slices=slices,
        parameters=parameters,
        start=start,
        arm=arm,
        frame_rate=rate,
    )


class _Frames:
    """The frames of a dance, filled from the start on, each track by itself.

    `body` (T, 7), `joints` (T, 19) and `contacts` (T, 4) are the motion, `errors` (T,
    5) [m] how far feet and hand are from their goals;
    `carried` (T, 7) is the body as moves of the legs alone carry it, and `feet` (T, 4,
    3) are where they put the feet. A move of the body
    beside one of the legs moves the body relative to `carried`; the joints of the legs
    then follow from body and feet. A hand with a pose in the world keeps that pose.
    """

    def __init__(self, count: int, rest: SpotPose) -> None:
        self.body = np.empty((count, 7))
        self.joints = np.empty((count, 19))
        self.contacts = np.empty((count, 4))
        self.carried = np.empty((count, 7))
        self.feet = np.empty((count, 4, 3))
        self.errors = np.zeros((count, 5))
        self.body[0] = self.carried[0] = rest.body
        self.feet[0] = rest.feet
        self.joints[0] = np.concatenate([rest.legs.ravel(), rest.arm, [rest.gripper]])
        self.contacts[0] = 1.0
        self._filled = dict.fromkeys(("base", "arm", "gripper"), 1)
        self._until = {"legs": 0, "body": 0}
        """The frames at which the last moves of legs and body end."""
        self._hands: list[tuple[int, Floats]] = []
        """The first frame and the poses (T, 7) in the world of hands that are not moved by the body."""

    def _parts(self, track: str) -> tuple[Floats, ...]:
        if track == "base":
            return (
                self.body,
                self.joints[:, LEG_COLUMNS],
                self.contacts,
                self.carried,
                self.feet,
            )
        return (self.joints[:, _COLUMNS[track]],)

    def fill(self, end: int) -> None:
        """Hold the last pose of each track up to the frame `end`."""
        for track, filled in self._filled.items():
            if filled < end:
                for part in self._parts(track):
                    part[filled:end] = part[filled - 1]
                self._filled[track] = end

    def pose(self, frame: int) -> SpotPose:
        """Return the pose at a frame."""
        self.fill(frame + 1)
        joints = self.joints[frame]
        return SpotPose(
            self.body[frame],
            joints[LEG_COLUMNS].reshape(4, 3),
            joints[ARM],
            float(joints[18]),
        )

    def put(self, played: Motion, animation: Animation, first: int) -> None:
        """Write the tracks of a move from the frame `first` on."""
        placed, joints, touching, missed = (one.values for one in played.timed)
        here = slice(first, min(first + played.num_frames, len(self.joints)))
        last = here.stop - first
        body = placed[:last, 0]
        joints = joints[:last]
        base = {"legs", "body"} & set(animation.controls)
        if base:
            self._put_base(
                base,
                body,
                joints[:, LEG_COLUMNS],
                touching[:last],
                missed[:last, :4],
                here,
            )
        for track, columns in _COLUMNS.items():
            if track in animation.controls and joints.shape[1] > 12:
                self.joints[here, columns] = joints[:, columns]
                self._filled[track] = here.stop
        if "arm" in animation.controls and joints.shape[1] > 12:
            self.errors[here, 4] = missed[:last, 4]
        if "arm" in animation.controls and arm_playback(animation) != "jointspace":
            self._hands.append((first, poses.compose(body, hand_poses(joints[:, ARM]))))

    def _put_base(
        self,
        base: set[str],
        body: Floats,
        legs: Floats,
        contacts: Floats,
        missed: Floats,
        here: slice,
    ) -> None:
        first = here.start
        end = max(
            (self._until[track] for track in ("legs", "body") if track not in base),
            default=0,
        )
        before = self.joints[first, LEG_COLUMNS].reshape(4, 3).copy()
        if "legs" in base:
            self.carried[here], self.contacts[here], self.errors[here, :4] = (
                body,
                contacts,
                missed,
            )
            self.feet[here] = feet_in_world(body, legs.reshape(-1, 4, 3))
        if end <= first:
            self.body[here], self.joints[here, LEG_COLUMNS], self.errors[here, :4] = (
                body,
                legs,
                missed,
            )
            if "legs" not in base:
                self.carried[here], self.feet[here] = (
                    self.carried[first],
                    self.feet[first],
                )
                self.contacts[here] = contacts
            self._filled["base"] = here.stop
        else:
            whole = slice(first, max(here.stop, end))
            of_legs = here.stop if "legs" in base else end
            for part in (self.carried, self.feet, self.contacts):
                part[of_legs : whole.stop] = part[of_legs - 1]
            self.errors[of_legs : whole.stop, :4] = 0.0
            if "legs" in base:
                moving = self.body[first:end]
            else:
                moving = body
            moving = moving[np.minimum(np.arange(whole.stop - first), len(moving) - 1)]
            walk = poses.compose(
                self.carried[whole], poses.inverse(self.carried[first])
            )
            self.body[whole] = poses.compose(walk, moving)
            feet = poses.transform_points(
                poses.inverse(self.body[whole])[:, None], self.feet[whole]
            )
            found = leg_joints(feet, before)
            self.joints[whole, LEG_COLUMNS] = found.joints.reshape(-1, 12)
            self.errors[whole, :4] = np.maximum(self.errors[whole, :4], found.miss)
            self._filled["base"] = whole.stop
        self._until |= dict.fromkeys(base, here.stop)

    def keep_hands(self) -> None:
        """Bring hands whose pose is in the world back to it where another move has moved the body."""
        for first, hands in self._hands:
            here = slice(first, first + len(hands))
            now = poses.compose(self.body[here], hand_poses(self.joints[here, ARM]))
            if np.abs(now - hands).max(initial=0.0) > 1e-9:
                goals = poses.compose(poses.inverse(self.body[here]), hands)
                found = arm_joints(goals, self.joints[max(first - 1, 0), ARM])
                self.joints[here, ARM] = found.joints
                self.errors[here, 4] = np.maximum(self.errors[here, 4], found.miss)


def approximation(move: Move, slice_seconds: float) -> Animation | None:
    """Return an animation of a move of the robot's own at a tempo, `slice_seconds` [s].

    None where its motion is not known.

    The motion of these moves is not published: it is approximate. The body rotates or
    moves to a pose, sways (a cycle of 8 slices) or goes up and down (4 slices); arm and
    gripper go to angles. All other moves, and random ones, are pauses.
    """
    length = float(move.requested_slices)
    parameters = {
        name: float(value)
        for name, value in move.parameters.items()
        if isinstance(value, (int, float))
    }
    now = np.arange(max(move.requested_slices, 0) + 1)

    def pose(shares: Floats, position: str = "", rotation: str = "") -> Floats:
        """Return body poses (N, 6), that of the parameters times `shares` (N,)."""
        goal = [parameters.get(f"{position}.{axis}", 0.0) for axis in "xyz"]
        goal += [
            parameters.get(f"{rotation}.{angle}", 0.0)
            for angle in ("roll", "pitch", "yaw")
        ]
        return np.asarray(
            np.add(np.outer(shares, goal), [0.0, 0.0, NOMINAL_HEIGHT, 0.0, 0.0, 0.0])
        )

    match move.kind:
        case "rotate_body_params":
            back = bool(parameters.get("return_to_start_pose"))
            if back:
                ways = (length / 2, length / 2)
            else:
                ways = (length, 0.0)
            return _animation(
                _POSE, pose(np.ones(1), rotation="rotation"), "body", *ways
            )
        case "body_hold_params":
            ways = (
                parameters.get("entry_slices", 1.0),
                parameters.get("exit_slices", 1.0),
            )
            return _animation(
                _POSE, pose(np.ones(1), "translation", "rotation"), "body", *ways
            )
        case "sway_params":
            table = pose(np.zeros(len(now)))
            swing = np.sin(2 * np.pi * now / 8)
            for column, name in ((1, "horizontal"), (2, "vertical"), (3, "roll")):
                table[:, column] += swing * parameters.get(name, 0.0)
            return _animation(_POSE, table, "body", 1.0, 0.0, slice_seconds)
        case "twerk_params":
            table = pose(np.zeros(len(now)))
            table[:, 2] -= (
                parameters.get("height", 0.0) * (1 - np.cos(2 * np.pi * now / 4)) / 2
            )
            return _animation(_POSE, table, "body", 1.0, 0.0, slice_seconds)
        case "arm_move_params" if set(_ARM) <= parameters.keys():
            columns = GROUPS["arm_joints"]
            values = [parameters[name] for name in _ARM]
            return _animation(columns, np.array([values]), "arm", length, 0.0)
        case "gripper_params" if "angle" in parameters:
            return _animation(
                ("gripper",), -np.abs([[parameters["angle"]]]), "gripper", length, 0.0
            )
    return None


def _animation(
    columns: tuple[str, ...],
    values: Floats,
    track: str,
    entry: float,
    exit_: float,
    step: float = 1.0,
) -> Animation | None:
    """Return an animation of one track, with a keyframe every `step` seconds, that is entered and left in so many slices; None where
    numbers are not finite or beyond `MAX_NUMBER`.
    """
    if not (np.abs([*values.ravel(), entry, exit_]) <= MAX_NUMBER).all():
        return None
    part = "body" if track == "body" else "arm"
    return Animation(
        name="approximation",
        options={
            "controls": (track,),
            "extendable": True,
            "truncatable": True,
            "no_looping": True,
        },
        parameters={
            f"{part}_entry_slices": Parameter(0.0, max(entry, 0.0)),
            **({"body_exit_slices": Parameter(0.0, exit_)} if exit_ > 0 else {}),
        },
        keyframes=Keyframes(
            columns=columns, values=values, times=frozen(np.arange(len(values)) * step)
        ),
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
        places = [(0.0, -SPACING * k, 0.0) for k in range(len(dances))]
    if not dances or len(dances) != len(places):
        raise ValueError(
            f"expected a place for each dance, got {len(dances)} dances and "
            f"{len(places)} places"
        )
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
        values = {
            one.content: sampled(one.values, one.timeline.times, at)
            for one in motion.timed
        }
        joints = motion.joint_displacement
        placed = motion.link_position
        if joints is None or placed is None or FOOT_CONTACT not in values:
            raise ValueError(
                f"dance {k + 1}: expected a motion of Spot with joints, root poses "
                f"and {FOOT_CONTACT}"
            )
        stage = poses.from_parts([x, y, 0.0], rotations.from_rpy([0.0, 0.0, heading]))
        root = poses.compose(stage, values[placed.content][:, 0])
        q = values[joints.content]
        robot = spot_body(arm=joints.num_parts > len(LEG_JOINTS))
        robots.append((robot, q, root))
        links += _links(
            robot, f"spot{k + 1}", len(links), sum(table.shape[1] for table in columns)
        )
        angles = np.unwrap(rotations.to_rpy(root[:, 3:]), axis=0)
        columns += [root[:, :3], angles[:, ::-1], q]
        contacts.append(np.round(values[FOOT_CONTACT]))
    body = Body(name="ensemble", links=tuple(links))
    timeline = Timeline(frame_rate=rate, num_frames=count)
    labels = tuple(f"spot{k + 1}_{leg}" for k in range(len(dances)) for leg in LEGS)
    names = tuple(joint.name for joint in body.joints)
    moving = MultiValueSeq(
        content=JOINT_DISPLACEMENT,
        timeline=timeline,
        values=np.hstack(columns),
        part_labels=names,
    )
    standing = MultiValueSeq(
        content=FOOT_CONTACT,
        timeline=timeline,
        values=np.hstack(contacts),
        part_labels=labels,
    )
    chosen = np.unique(
        np.round(np.arange(0.0, at[-1] + 1e-9, 1.0 / CHECKED_RATE) * rate).astype(int)
    )
    boxes = [_boxes(robot, q[chosen], root[chosen]) for robot, q, root in robots]
    distances = {
        (a, b): _distances(boxes[a], boxes[b])
        for a, b in combinations(range(len(boxes)), 2)
    }
    problems = tuple(
        _near(pair, one, at[chosen])
        for pair, one in distances.items()
        if one.min() < MIN_DISTANCE
    )
    return Ensemble(body, Motion((moving, standing)), at[chosen], distances, problems)


def _links(robot: Body, name: str, first: int, column: int) -> list[Link]:
    """Return the links of a robot behind those that move it on the stage.

    `first` is the index of the first, `column` of its joint.
    """
    found: list[Link] = []
    for k, (what, kind, axis) in enumerate(_BASE):
        joint = Joint(
            name=f"{name}_{what}",
            type=kind,  # type: ignore[arg-type]
            id=column + k,
            axis=np.eye(3)[axis],
        )
        found.append(
            Link(
                name=joint.name,
                index=first + k,
                parent=first + k - 1 if k else 0,
                joint=joint,
            )
        )
    base = first + len(_BASE)
    for link in robot.links:
        if link.joint.id < 0:
            number = -1
        else:
            number = column + 6 + link.joint.id
        joint = replace(link.joint, name=f"{name}_{link.joint.name}", id=number)
        if link.parent < 0:
            link = replace(link, offset=poses.IDENTITY)
            joint = Joint(name=joint.name)
        segments = tuple(
            replace(one, name=f"{name}_{one.name}") for one in link.segments
        )
        if link.parent < 0:
            parent = base - 1
        else:
            parent = base + link.parent
        named = replace(link, name=f"{name}_{link.name}", index=base + link.index)
        found.append(replace(named, parent=parent, joint=joint, segments=segments))
    return found


def _boxes(robot: Body, q: Floats, root: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the axes (3, 3, T, S), half sizes (3, S) and middles (3, T, S) of boxes around the S shapes of a robot in the world."""
    shapes = CollisionPoints(robot, visuals=True)
    placed = robot.forward_kinematics(q, root)[:, shapes.shapes]
    middles, halves = shapes.boxes
    axes = rotations.to_matrix(placed[..., 3:]) @ shapes.axes
    return (
        np.moveaxis(axes, (2, 3), (0, 1)),
        halves.T,
        np.moveaxis(poses.transform_points(placed, middles), 2, 0),
    )


def _distances(
    one: tuple[Floats, Floats, Floats], other: tuple[Floats, Floats, Floats]
) -> Floats:
    """Return the smallest distances (T,) [m] between boxes of two robots.

    0 where they overlap.
    """
    found = []
    for start in range(0, one[0].shape[2], BLOCK):
        part = slice(start, start + BLOCK)
        a = (
            one[0][:, :, part, :, None],
            one[1][:, None, :, None],
            one[2][:, part, :, None],
        )
        b = (
            other[0][:, :, part, None, :],
            other[1][:, None, None, :],
            other[2][:, part, None, :],
        )
        found.append(np.maximum(-box_overlap(a, b), 0.0).min(axis=(1, 2)))
    return np.concatenate(found)


def _near(pair: tuple[int, int], distances: Floats, times: Floats) -> Problem:
    worst = int(np.argmin(distances))
    one, other = (k + 1 for k in pair)
    distance = float(distances[worst])
    time = float(times[worst])
    if distance == 0:
        what = "touch each other"
    else:
        what = f"come within {distance:.2f} m of each other"
    near = f"nearer than {MIN_DISTANCE:g} m for {np.mean(distances < MIN_DISTANCE):.0%} of the time"
    message = f"robots {one} and {other} {what} at {time:.2f} s; {near}"
    return rules.NEAR.problem(
        message, subject=("robots", *pair), data={"distance": distance, "time": time}
    )
