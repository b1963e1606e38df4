"""A motion from key poses, as Choreonoid makes it (`Plan`), and key poses from a motion (`fit`).

Joints follow their keys, legs follow the keys of links by inverse kinematics. Each
joint, each link with keys and the zero moment point is a track of its own (`tracks`).
Orientations are interpolated as roll, pitch and yaw, R = Rz(yaw)·Ry(pitch)·Rx(roll).

At each frame one link is the *base*: of the links whose last key has `is_base` that
with the latest such key; of links without that flag, that with the latest key. It is at
the pose of its track. From there outwards, each chain of exactly six joints to the next
link with keys is moved so that this link is at the pose of its track; other chains
follow the tracks of their joints.

A link whose last and next keys are slaves is not used. Between a slave and another key,
the chain passes from the joints' tracks to the link's (or back), by the smooth step r =
3u² − 2u³.

A zero moment point for key poses that have none (`automatic_zmp`) is at the middle of
the feet in contact, or at the only one. It is for bodies with exactly two feet, both
with keys. The phases follow from the keys of the feet: a foot lifts off after its last
touching key and lands at its first one. Keys of the file are kept; the new ones all
stop, and lie at height 0.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bodymotion.diagnostics import SourceMap
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, check_memory
from bodymotion.keyposes.tracks import (
    Foot,
    Key,
    StepStyle,
    Track,
    step_tracks,
    with_transitions,
)
from bodymotion.keyposes.values import KeyPose, KeyPoses, LinkKey
from bodymotion.model.body import Body
from bodymotion.motion import Motion

# Chains of this number of joints are moved by inverse kinematics.
LEG_JOINTS = 6
# Nearer to ±90° of pitch, yaw is 0.
MIN_COSINE = 1e-6
# [m, or of a quaternion's component] A root that moves less stays where the body has
# it.
MIN_ROOT_MOVE = 1e-9

# Inverse kinematics of a chain.
# Of a motion between key poses. 33 minutes at 100 Hz. Two poses far apart must not take
# gigabytes.
MAX_FRAMES = 200_000
MAX_STEPS = 50
# [m, rad] A goal is reached so exactly.
TOLERANCE = 1e-10
# Of the square of the error: far from the goal, or where it cannot be reached, steps
# stay short.
DAMPING = 1e-6
# [rad or m] A joint moves no further in one step.
MAX_STEP = 0.5

# The zero moment point.
# [s] Minimum duration of a movement of the point from one position to the next.
MIN_TRANSITION_TIME = 0.1
# [s] In a shorter double support, nothing is between the feet.
MIN_DOUBLE_SUPPORT = 0.03
# [s] In a shorter double support between two steps of one foot, the point goes less
# than half of the way.
SHORT_STEP = 0.12
# [m] A point so near to the middle of a sole is over it.
MAX_DISTANCE = 0.02


def automatic_zmp(
    zmp: Sequence[Key],
    feet: tuple[Foot, Foot],
    tracks: tuple[Sequence[Key], Sequence[Key]],
) -> tuple[list[Key], tuple[list[Key], list[Key]]]:
    """Return the keys of the ZMP, and those of the two feet (x y z roll pitch yaw).

    A foot may wait for the point, or the reverse.
    """
    walk = _Walk(list(zmp), feet, (list(tracks[0]), list(tracks[1])))
    return walk.zmp, walk.feet_keys


class _Walk:
    def __init__(
        self,
        zmp: list[Key],
        feet: tuple[Foot, Foot],
        tracks: tuple[list[Key], list[Key]],
    ) -> None:
        self.zmp = zmp
        self.feet = feet
        self.tracks = tracks
        self.feet_keys = (list(tracks[0]), list(tracks[1]))
        self.double_since = min(keys[0].time for keys in tracks)
        self.supporting = -1
        if not self.zmp:
            self._add(0.0, self._mean_center(0.0))
        events = []
        for foot, keys in enumerate(self.tracks):
            for number in range(1, len(keys)):
                if keys[number - 1].is_touching != keys[number].is_touching:
                    lands = keys[number].is_touching
                    time = keys[number if lands else number - 1].time
                    # Feet may change in the air: a foot then lifts off when the other
                    # has landed.
                    if lands:
                        order = time
                    else:
                        order = max(time, self._next_touch(1 - foot, time))
                    events.append((order, not lands, foot, number, time))
        for order, lifts, foot, number, time in sorted(events):
            if not self._key_at(1 - foot, order).is_touching:
                continue
            if lifts:
                self._lift_off(time, foot, number, order)
                self.supporting = 1 - foot
            else:
                self._land(time, foot, number)
                self.double_since = time
        last = max(keys[-1].time for keys in self.tracks)
        if self.zmp[-1].time <= last:
            self._add(last + MIN_TRANSITION_TIME, self._mean_center(last))

    def _key_at(self, foot: int, time: float) -> Key:
        keys = self.tracks[foot]
        return keys[max(bisect_right([key.time for key in keys], time) - 1, 0)]

    def _next_touch(self, foot: int, time: float) -> float:
        if self._key_at(foot, time).is_touching:
            return time
        return next(
            (
                key.time
                for key in self.tracks[foot]
                if key.time > time and key.is_touching
            ),
            time,
        )

    def _center(self, foot: int, time: float) -> Floats:
        pose = self._key_at(foot, time).value
        point = pose[:3] + rotations.rotate(
            rotations.from_rpy(pose[3:]), self.feet[foot].sole_center
        )
        return np.array([point[0], point[1], 0.0])

    def _mean_center(self, time: float) -> Floats:
        standing = [
            foot for foot in (0, 1) if self._key_at(foot, time).is_touching
        ] or [0, 1]
        return np.asarray(
            np.mean([self._center(foot, time) for foot in standing], axis=0)
        )

    def _add(self, time: float, point: Floats) -> None:
        insort(self.zmp, Key(time, point, stops=True), key=lambda key: key.time)

    def _lift_off(
        self,
        time: float,
        foot: int,
        number: int,
        order: float,
    ) -> None:
        support = 1 - foot
        start = self.double_since
        length = time - start
        inside = any(start < key.time < time for key in self.zmp)
        center = self._center(support, self.tracks[foot][number].time)
        other = self._center(foot, time)
        if length >= MIN_DOUBLE_SUPPORT and not inside:
            again = self.supporting == support
            if length > (2 if again else 4) * MIN_TRANSITION_TIME:
                for moment in (start + MIN_TRANSITION_TIME, time - MIN_TRANSITION_TIME):
                    self._add(moment, 0.5 * (center + other))
            elif again:
                weight = 0.5 * min(length / SHORT_STEP, 1.0)
                self._add(start + 0.5 * length, (1 - weight) * center + weight * other)
        last = self.zmp[max(bisect_right([key.time for key in self.zmp], order) - 1, 0)]
        if np.hypot(*(last.value - center)[:2]) <= MAX_DISTANCE:
            return
        moment = time
        if (
            length < MIN_DOUBLE_SUPPORT or inside
        ) and time - last.time < MIN_TRANSITION_TIME:
            keys = self.tracks[foot]
            moment = min(
                last.time + MIN_TRANSITION_TIME, 0.5 * (time + keys[number].time)
            )
            self._insert(foot, replace(keys[number - 1], time=moment))
        self._add(moment, center)

    def _land(
        self,
        time: float,
        foot: int,
        number: int,
    ) -> None:
        center = self._center(1 - foot, time)
        at = [key for key in self.zmp if key.time == time]
        if any(np.hypot(*(key.value - center)[:2]) <= MAX_DISTANCE for key in at):
            return
        moment = time
        following = self.zmp[bisect_left([key.time for key in self.zmp], time) :]
        if following and following[0].time - time < MIN_TRANSITION_TIME:
            keys = self.tracks[foot]
            moment = max(
                following[0].time - MIN_TRANSITION_TIME,
                0.5 * (keys[number - 1].time + time),
            )
            self._insert(foot, replace(keys[number], time=moment))
        self._add(moment, center)

    def _insert(self, foot: int, key: Key) -> None:
        insort(self.feet_keys[foot], key, key=lambda other: other.time)


@dataclass(frozen=True)
class Interpolated:
    """What is between key poses, frame by frame.

    Attributes
    ----------
    times:
        (T,) [s].
    q, root:
        (T, J) joint displacements and (T, 7) poses of the root link.
    zmp:
        (T, 3) [m], or None.
    links, goals, errors:
        Indices of the links with keys; their goals (T, N, 7), nan where one is not
        used; and by how much the result misses the goal (T, N, 2) [m, rad], nan for
        chains that are not of six joints.
    bases:
        (T,) Which of the links is the base; −1: none.
    """

    times: Floats
    q: Floats
    root: Floats
    zmp: Floats | None
    links: tuple[int, ...]
    goals: Floats
    errors: Floats
    bases: Indices


def feet_of(body: Body) -> tuple[Foot, ...]:
    """Return the feet that a Choreonoid model names in `footLinks`."""
    entries = body.extra.get("foot_links", body.extra.get("footLinks", ()))
    index = {link.name: link.index for link in body.links}
    feet = []
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            link = index.get(str(entry.get("link")))
        else:
            link = None
        if link is not None:
            sole, toe = (_point(entry, name) for name in ("sole_center", "toe_offset"))
            feet.append(Foot(link, sole, toe))
    return tuple(feet)


def _point(entry: Mapping[str, object], name: str) -> Floats:
    first, second = name.split("_")
    value = entry.get(name, entry.get(first + second.title()))
    good = (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(x, int | float) for x in value)
    )
    return np.array(value if good else (0.0, 0.0, 0.0), dtype=np.float64)


def roll_pitch_yaw(rotation: Floats) -> Floats:
    """Return roll, pitch and yaw (3,) of a matrix (3, 3) that need not be quite orthogonal.

    At ±90° of pitch yaw is 0.
    """
    cosine = math.hypot(rotation[2, 1], rotation[2, 2])
    pitch = math.atan2(-rotation[2, 0], cosine)
    if cosine < MIN_COSINE:
        return np.array([math.atan2(-rotation[1, 2], rotation[1, 1]), pitch, 0.0])
    return np.array(
        [
            math.atan2(rotation[2, 1], rotation[2, 2]),
            pitch,
            math.atan2(rotation[1, 0], rotation[0, 0]),
        ]
    )


class Plan:
    """The tracks of key poses on a body, ready to be interpolated.

    Parameters
    ----------
    key_poses, body:
        The key poses, and the body that follows them.
    steps:
        How feet depart and arrive (`step_tracks`).
    with_zmp:
        Whether a zero moment point is made where the key poses have none
        (`automatic_zmp`).

    Attributes
    ----------
    joints:
        By joint column.
    links:
        By link index: the pose (x y z roll pitch yaw), and the component that has a
        track of its own, if any.
    zmp:
        Of the zero moment point, or None.
    """

    def __init__(
        self,
        key_poses: KeyPoses,
        body: Body,
        steps: StepStyle,
        with_zmp: bool,
    ) -> None:
        self.body = body
        self.duration = key_poses.duration
        self.joints = _joint_tracks(key_poses, body)
        link_keys = _link_keys(key_poses, body)
        zmp_keys = [
            Key(pose.time, pose.zmp, pose.zmp_is_stationary, pose.max_transition_time)
            for pose in key_poses.poses
            if pose.zmp is not None
        ]
        feet = {foot.link: foot for foot in feet_of(body)}
        if with_zmp and len(feet) == 2 and all(link in link_keys for link in feet):
            left, right = feet
            soles = (feet[left], feet[right])
            steps_of = (link_keys[left], link_keys[right])
            zmp_keys, (link_keys[left], link_keys[right]) = automatic_zmp(
                zmp_keys, soles, steps_of
            )
        self.links = {
            link: step_tracks(keys, steps, feet.get(link))
            for link, keys in link_keys.items()
        }
        self.zmp = Track(with_transitions(zmp_keys)) if zmp_keys else None

    def at(self, times: Floats, shift: Floats | None = None) -> Interpolated:
        """Return joints, root and ZMP at times (T,) [s].

        `shift` (T, 3) [m] moves the root's key, and in part what follows from joints.
        """
        count = len(times)
        q = np.zeros((count, self.body.num_joints))
        for joint, track in self.joints.items():
            q[:, joint] = track.at(times)[:, 0]
        links = tuple(self.links)
        goals = np.full((count, len(links), 7), np.nan)
        blends = np.zeros((count, len(links)))
        starts = np.full((count, len(links)), -np.inf)
        flagged = np.zeros((count, len(links)), dtype=bool)
        for n, (link, (track, pose_at)) in enumerate(self.links.items()):
            goals[:, n] = pose_at(times)
            number, following, u = track.phase(times)
            is_slave, is_base = np.array(
                [(key.is_slave, key.is_base) for key in track.keys]
            ).T
            first = is_slave[number]
            second = is_slave[following]
            smooth = u * u * (3 - 2 * u)
            blends[:, n] = np.where(
                first & ~second, 1 - smooth, np.where(~first & second, smooth, 0.0)
            )
            if shift is not None:
                goals[:, n, :3] += shift if link == 0 else blends[:, n][:, None] * shift
            goals[first & second, n] = np.nan
            starts[:, n], flagged[:, n] = track.times[number], is_base[number]
        used = ~np.isnan(goals[:, :, 0])
        bases = _bases(starts, flagged & used, used)
        root, errors = self._pose_legs(q, links, goals, blends, bases)
        if self.zmp is not None:
            zmp = self.zmp.at(times)
        else:
            zmp = None
        return Interpolated(times, q, root, zmp, links, goals, errors, bases)

    def _pose_legs(
        self,
        q: Floats,
        links: Sequence[int],
        goals: Floats,
        blends: Floats,
        bases: Indices,
    ) -> tuple[Floats, Floats]:
        """Fill the joints of the legs in `q`, and return the root's poses (T, 7) and how far goals are missed (T, N, 2)."""
        body = self.body
        root = np.tile(body.root_pose, (len(q), 1))
        errors = np.full((len(q), len(links), 2), np.nan)
        patterns = np.column_stack((bases, ~np.isnan(goals[:, :, 0])))
        for pattern in np.unique(patterns, axis=0):
            base = int(pattern[0])
            if base < 0:
                continue
            rows = np.flatnonzero((patterns == pattern).all(axis=1))
            ends = {links[n]: n for n in np.flatnonzero(pattern[1:]).tolist()}
            part = q[rows]
            for chain in chains_from(body, links[base], ends):
                if len(chain.columns) != LEG_JOINTS:
                    continue
                n = ends[chain.end]
                target = poses.compose(
                    poses.inverse(goals[rows, ends[chain.start]]), goals[rows, n]
                )
                solved, errors[rows, n] = solve_chain(body, chain, part, target)
                r = blends[rows, n][:, None]
                part[:, chain.columns] = r * part[:, chain.columns] + (1 - r) * solved
            q[rows] = part
            at = body.forward_kinematics(part, poses.IDENTITY)[:, links[base]]
            root[rows] = poses.compose(goals[rows, base], poses.inverse(at))
        return root, errors


def _joint_tracks(key_poses: KeyPoses, body: Body) -> dict[int, Track]:
    named = body.extra.get(
        "linear_interpolation_joints", body.extra.get("linearInterpolationJoints", ())
    )
    if isinstance(named, list):
        linear = {str(name) for name in named}
    else:
        linear = set()
    keys: dict[int, list[Key]] = {}
    for pose in key_poses.poses:
        for joint, value in pose.joints.items():
            if 0 <= joint < body.num_joints:
                stops = joint in pose.stationary_joints
                keys.setdefault(joint, []).append(
                    Key(pose.time, np.array([value]), stops, pose.max_transition_time)
                )
    names = [joint.name for joint in body.joints]
    return {
        joint: Track(with_transitions(made), linear=names[joint] in linear)
        for joint, made in keys.items()
    }


def _link_keys(key_poses: KeyPoses, body: Body) -> dict[int, list[Key]]:
    """Return the keys of the links that the body has, x y z roll pitch yaw, angles without steps over π."""
    index = {link.name: link.index for link in body.links}
    keys: dict[int, list[Key]] = {}
    for pose in key_poses.poses:
        for key in pose.links:
            link = index.get(key.name, key.index)
            if not 0 <= link < len(body.links):
                continue
            angles = roll_pitch_yaw(key.rotation)
            before = keys.setdefault(link, [])
            if before:
                angles -= (
                    2
                    * math.pi
                    * np.round((angles - before[-1].value[3:]) / (2 * math.pi))
                )
            value = np.concatenate((key.position, angles))
            stops = key.is_stationary or key.is_touching
            flags = (key.is_base, key.is_touching, key.is_slave and not key.is_touching)
            before.append(
                Key(pose.time, value, stops, pose.max_transition_time, *flags)
            )
    return {link: with_transitions(made) for link, made in keys.items()}


def _bases(
    starts: Floats,
    flagged: Bools,
    used: Bools,
) -> Indices:
    """Return the base (T,) among the links (T, N).

    The latest that is flagged, else the latest.
    """
    if not starts.shape[1]:
        return np.full(len(starts), -1)
    candidates = np.where(flagged.any(axis=1, keepdims=True), flagged, used)
    latest = np.argmax(np.where(candidates, starts, -np.inf), axis=1)
    return np.where(candidates.any(axis=1), latest, -1)


def to_motion(
    key_poses: KeyPoses,
    body: Body,
    frame_rate: float = 100.0,
    *,
    steps: StepStyle = "stealthy",
    automatic_zmp: bool = True,
) -> Motion:
    """Return the motion at `frame_rate` [Hz], from 0 to the last pose.

    See `KeyPoses.to_motion`.
    """
    if not key_poses.poses:
        raise ValueError("there are no key poses")
    if not 0 < frame_rate < math.inf:
        raise ValueError(f"frame rate: expected a positive number, got {frame_rate}")
    count = (
        math.floor(min(frame_rate * key_poses.duration, 1e18)) + 1
    )  # More may be infinite: no integer.
    if count > MAX_FRAMES:
        raise MemoryError(
            f"the poses are at times up to {key_poses.duration:g} s: at "
            f"{frame_rate:g} Hz"
            f" a motion has {count} frames; expected at most {MAX_FRAMES}; check the"
            " times, or use a lower rate"
        )
    check_memory(
        8 * count * (3 * body.num_joints + 50 * len(body.links)),
        f"a motion of {count} frames",
    )
    plan = Plan(key_poses, body, steps, automatic_zmp)
    made = plan.at(np.arange(count) / frame_rate)
    names = [joint.name for joint in body.joints]
    names = names if all(names) else []
    motion = Motion.from_joints(
        made.q, frame_rate, root=made.root, zmp=made.zmp, joint_names=names
    )
    return replace(
        motion, source=replace(key_poses.source, options={}, locations=SourceMap())
    )


def fit(
    kind: type[KeyPoses],
    motion: Motion,
    body: Body,
    *,
    tolerance: float = 0.01,
    name: str = "",
) -> KeyPoses:
    """Return as few key poses as keep the motion between them close to a motion.

    See `KeyPoses.from_motion`.
    """
    joints = motion.joint_displacement
    if not tolerance > 0:
        raise ValueError(f"tolerance: expected a positive number, got {tolerance}")
    if joints is None or not joints.num_frames:
        raise ValueError("the motion has no joint displacements")
    times = joints.timeline.times - joints.timeline.times[0]
    q = np.asarray(body.joint_values(joints))
    root = np.asarray(body.link_poses(motion)[:, 0])
    moves = bool(np.abs(root - body.root_pose).max() > MIN_ROOT_MOVE)
    zmp = motion.zmp
    if zmp is None or zmp.is_root_relative or len(zmp.values) != len(q):
        point = None
    else:
        point = np.asarray(zmp.values)

    _check_numbers(body, q, root, point)

    def pose(frame: int) -> KeyPose:
        position = root[frame, :3]
        rotation = rotations.to_matrix(root[frame, 3:])
        link = LinkKey(
            name=body.links[0].name,
            index=0,
            position=position,
            rotation=rotation,
            is_base=True,
        )
        time, joints, links = (
            float(times[frame]),
            dict(enumerate(q[frame].tolist())),
            (link,) if moves else (),
        )
        if point is None:
            there = None
        else:
            there = point[frame]
        return KeyPose(
            time=time, joints=joints, links=links, zmp=there, zmp_is_stationary=False
        )

    def sequence(frames: list[int]) -> KeyPoses:
        return kind(
            name=name or "Motion",
            target_body=body.name,
            poses=tuple(pose(frame) for frame in frames),
        )

    frames = sorted({0, len(q) - 1})
    while True:
        made = Plan(sequence(frames), body, "none", with_zmp=False).at(times)
        error = np.abs(made.q - q).max(axis=1, initial=0.0)
        error = np.maximum(error, np.abs(made.root[:, :3] - root[:, :3]).max(axis=1))
        error = np.maximum(
            error, rotations.angle_between(made.root[:, 3:], root[:, 3:])
        )
        if point is not None and made.zmp is not None:
            error = np.maximum(error, np.abs(made.zmp - point).max(axis=1))
        if (error <= tolerance).all():
            return sequence(frames)
        # Of each segment that is off by more than the tolerance, the frame that is off
        # most.
        segments = (
            (start + 1, error[start + 1 : end]) for start, end in pairwise(frames)
        )
        worst = {
            first + int(part.argmax())
            for first, part in segments
            if part.max(initial=0.0) > tolerance
        }
        refined = sorted({*frames, *worst})
        if refined == frames:
            # Key poses hold joints, root and ZMP, so that only overflow comes here.
            frame = int(np.flatnonzero(~(error <= tolerance))[0])
            raise ValueError(
                f"no key poses are within {tolerance:g} of the motion at frame "
                f"{frame}, where they are off by {error[frame]:g}"
            )
        frames = refined


def _check_numbers(
    body: Body,
    q: Floats,
    root: Floats,
    zmp: Floats | None,
) -> None:
    """Raise ValueError at the first number that is not finite, which no key pose holds."""
    names = [joint.name or f"joint {k}" for k, joint in enumerate(body.joints)]
    parts = [(q, [f"joint {name!r}" for name in names]), (root, ["the root"] * 7)]
    if zmp is not None:
        parts.append((zmp, ["the ZMP"] * 3))
    for values, labels in parts:
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            frame, column = wrong[0].tolist()
            raise ValueError(
                f"{labels[column]} is {values[frame, column]} in frame {frame}; "
                "key poses need finite numbers (`edit --fill-gaps` fills gaps)"
            )


@dataclass(frozen=True)
class Chain:
    """The joints between two links.

    Attributes
    ----------
    start, end:
        Link indices.
    joints, columns:
        The links whose joints are on the way, from start to end, and their joint
        columns.
    signs:
        1 for joints that move the end away from the root; −1 for those on the way up
        from the start.
    """

    start: int
    end: int
    joints: tuple[int, ...]
    columns: tuple[int, ...]
    signs: tuple[int, ...]


def chains_from(
    body: Body,
    base: int,
    ends: Collection[int],
) -> list[Chain]:
    """Return the chains from a base link outwards, each to the next of some links, in the order in which they hang on each other."""
    neighbours: dict[int, list[int]] = {link.index: [] for link in body.links}
    for link in body.links:
        if link.parent >= 0:
            neighbours[link.parent].append(link.index)
            neighbours[link.index].append(link.parent)
    moving = {
        index: column for column, index in enumerate(body.joint_links) if index > 0
    }
    chains = []
    start_here: tuple[tuple[int, int], ...] = ()
    todo = [(base, -1, base, start_here)]
    while todo:
        at, before, start, steps = todo.pop()
        if at in ends and at != start:
            joints = tuple(joint for joint, _ in steps)
            signs = tuple(sign for _, sign in steps)
            chains.append(
                Chain(
                    start, at, joints, tuple(moving[joint] for joint in joints), signs
                )
            )
            start = at
            steps = start_here
        for other in neighbours[at]:
            if other != before:
                down = body.links[other].parent == at
                joint = other if down else at
                step = ((joint, 1 if down else -1),) if joint in moving else ()
                todo.append((other, at, start, (*steps, *step)))
    return chains


def solve_chain(
    body: Body,
    chain: Chain,
    q: Floats,
    target: Floats,
) -> tuple[Floats, Floats]:
    """Return the joints (T, K) of a chain that put its end at poses (T, 7) seen from its start, and by how much they miss (T, 2) [m, rad].

    Newton's method from `q` (T, J): with the Jacobian A of the end as seen from the
    start and the error e, Δq = Aᵀ·(A·Aᵀ + λ·I)⁻¹·e, with λ in proportion to e².
    """
    columns = list(chain.columns)
    values = np.array(q)
    todo = np.arange(len(q))
    for _ in range(MAX_STEPS):
        error, jacobian = errors_of(body, chain, values[todo], target[todo])
        going = np.abs(error).max(axis=1) > TOLERANCE
        todo = todo[going]
        error = error[going]
        jacobian = jacobian[going]
        if not len(todo):
            break
        square = jacobian @ jacobian.transpose(0, 2, 1)
        damping = DAMPING * np.minimum(np.square(error).sum(axis=1), 1.0)
        square[:, range(6), range(6)] += damping[:, None]
        step = (
            jacobian.transpose(0, 2, 1) @ np.linalg.solve(square, error[:, :, None])
        )[:, :, 0]
        step *= np.minimum(1.0, MAX_STEP / np.maximum(np.abs(step).max(axis=1), 1e-12))[
            :, None
        ]
        values[todo[:, None], columns] += step
    error, _ = errors_of(body, chain, values, target)
    return values[:, columns], np.stack(
        [np.linalg.norm(part, axis=1) for part in (error[:, :3], error[:, 3:])], axis=1
    )


def errors_of(
    body: Body,
    chain: Chain,
    q: Floats,
    target: Floats,
) -> tuple[Floats, Floats]:
    """Return what is missing (T, 6) to the goal in the root's frame, and the Jacobian (T, 6, K)."""
    links = body.forward_kinematics(q, poses.IDENTITY)
    goal = poses.compose(links[:, chain.start], target)
    end = links[:, chain.end]
    error = np.concatenate(
        (goal[:, :3] - end[:, :3], rotations.difference(goal[:, 3:], end[:, 3:])),
        axis=1,
    )
    jacobian = np.empty((len(links), 6, len(chain.joints)))
    for k, (index, sign) in enumerate(zip(chain.joints, chain.signs, strict=True)):
        pose = links[:, index]
        joint = body.links[index].joint
        axis = sign * rotations.rotate(pose[:, 3:], joint.axis)
        if joint.type == "slide":
            jacobian[:, :3, k], jacobian[:, 3:, k] = axis, 0.0
        else:
            jacobian[:, :3, k], jacobian[:, 3:, k] = (
                np.cross(axis, end[:, :3] - pose[:, :3]),
                axis,
            )
    return error, jacobian
