"""A motion from key poses, as Choreonoid makes it (`Plan`).

Joints follow their keys, legs follow the keys of links by inverse kinematics
(`chains`). Each joint, each link with keys and the zero moment point is a track of its
own (`tracks`). Orientations are interpolated as roll, pitch and yaw, R =
Rz(yaw)·Ry(pitch)·Rx(roll).

At each frame one link is the *base*: of the links whose last key has `is_base` that
with the latest such key; of links without that flag, that with the latest key. It is at
the pose of its track. From there outwards, each chain of exactly six joints to the next
link with keys is moved so that this link is at the pose of its track; other chains
follow the tracks of their joints.

A link whose last and next keys are slaves is not used. Between a slave and another key,
the chain passes from the joints' tracks to the link's (or back), by the smooth step r =
3u² − 2u³.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import SourceMap
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Bools, Floats, Indices, check_memory
from bodymotion.keyposes.chains import find_chains, solve_chain
from bodymotion.keyposes.tracks import (
    Foot,
    Key,
    LinkTrack,
    StepStyle,
    Track,
    add_transitions,
    make_link_track,
)
from bodymotion.keyposes.values import KeyPoses, LinkKey
from bodymotion.keyposes.zero_moment_point import add_zmp_keys
from bodymotion.model.body import Body
from bodymotion.motion import Motion

# Chains of this number of joints are moved by inverse kinematics.
LEG_JOINTS = 6
# Nearer to ±90° of pitch, yaw is 0.
MIN_COSINE = 1e-6
# Of a motion between key poses. 33 minutes at 100 Hz. Two poses far apart must not take
# gigabytes.
MAX_FRAMES = 200_000
# A number of frames that is beyond any memory, but still an integer.
BEYOND_MEMORY = 1e18
# [bytes] Of a number.
FLOAT_SIZE = 8
# Numbers for each frame and joint, and for each frame and link, while a motion is made.
NUMBERS_PER_JOINT = 3
NUMBERS_PER_LINK = 50


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


def read_feet(body: Body) -> tuple[Foot, ...]:
    """Return the feet that a Choreonoid model names in `footLinks`."""
    entries = body.extra.get("foot_links", body.extra.get("footLinks", ()))
    if not isinstance(entries, list):
        return ()
    indices = {link.name: link.index for link in body.links}
    feet = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        link = indices.get(str(entry.get("link")))
        if link is not None:
            sole = _read_point(entry, "sole_center")
            toe = _read_point(entry, "toe_offset")
            feet.append(Foot(link, sole, toe))
    return tuple(feet)


def _read_point(entry: Mapping[str, object], name: str) -> Floats:
    """Return the point (3,) [m] of a key, in snake_case or camelCase, 0 without."""
    first, second = name.split("_")
    value = entry.get(name, entry.get(first + second.title()))
    if not isinstance(value, list) or len(value) != 3:
        return np.zeros(3)
    if not all(isinstance(x, int | float) for x in value):
        return np.zeros(3)
    return np.array(value, dtype=np.float64)


def roll_pitch_yaw(rotation: Floats) -> Floats:
    """Return roll, pitch and yaw (3,) of a matrix (3, 3).

    It need not be quite orthogonal. At ±90° of pitch yaw is 0.
    """
    cosine = math.hypot(rotation[2, 1], rotation[2, 2])
    pitch = math.atan2(-rotation[2, 0], cosine)
    if cosine < MIN_COSINE:
        roll = math.atan2(-rotation[1, 2], rotation[1, 1])
        return np.array([roll, pitch, 0.0])
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    return np.array([roll, pitch, yaw])


class _LinkGoals(NamedTuple):
    """Goals of N links with keys over T frames.

    Attributes
    ----------
    links:
        Their indices.
    goals:
        (T, N, 7) poses, nan where a link is not used.
    blends:
        (T, N) the share of the joints' own tracks in the chain to a link.
    starts, is_base:
        (T, N) the time [s] of the last key, and whether it is a base.
    """

    links: tuple[int, ...]
    goals: Floats
    blends: Floats
    starts: Floats
    is_base: Bools


class Plan:
    """The tracks of key poses on a body, ready to be interpolated.

    Parameters
    ----------
    key_poses, body:
        The key poses, and the body that follows them.
    steps:
        How feet depart and arrive (`make_link_track`).
    with_zmp:
        Whether a zero moment point is made where the key poses have none
        (`add_zmp_keys`).

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
        zmp_keys = _zmp_keys(key_poses)
        feet = {foot.link: foot for foot in read_feet(body)}
        if with_zmp and len(feet) == 2 and feet.keys() <= link_keys.keys():
            left, right = feet
            keys_of_feet = (link_keys[left], link_keys[right])
            made = add_zmp_keys(zmp_keys, (feet[left], feet[right]), keys_of_feet)
            zmp_keys = made.zmp
            link_keys[left], link_keys[right] = made.feet
        self.links: dict[int, LinkTrack] = {
            link: make_link_track(keys, steps, feet.get(link))
            for link, keys in link_keys.items()
        }
        self.zmp = Track(add_transitions(zmp_keys)) if zmp_keys else None

    def at(self, times: Floats, shift: Floats | None = None) -> Interpolated:
        """Return joints, root and ZMP at times (T,) [s].

        `shift` (T, 3) [m] moves the root's key, and in part what follows from joints.
        """
        q = np.zeros((len(times), self.body.num_joints))
        for joint, track in self.joints.items():
            q[:, joint] = track.at(times)[:, 0]
        goals = self._goals_at(times, shift)
        bases = _choose_bases(goals)
        root, errors = self._pose_legs(q, goals, bases)
        zmp = None
        if self.zmp is not None:
            zmp = self.zmp.at(times)
        return Interpolated(
            times, q, root, zmp, goals.links, goals.goals, errors, bases
        )

    def _goals_at(self, times: Floats, shift: Floats | None) -> _LinkGoals:
        """Return the goals of links with keys at times (T,) [s], as `at`."""
        shape = (len(times), len(self.links))
        result = _LinkGoals(
            tuple(self.links),
            goals=np.full((*shape, 7), np.nan),
            blends=np.zeros(shape),
            starts=np.full(shape, -np.inf),
            is_base=np.zeros(shape, dtype=bool),
        )
        for n, (link, (track, pose_at)) in enumerate(self.links.items()):
            first, second, u = track.phase(times)
            is_slave = np.array([key.is_slave for key in track.keys])
            leaves_slave = is_slave[first] & ~is_slave[second]
            enters_slave = ~is_slave[first] & is_slave[second]
            smooth = u * u * (3 - 2 * u)
            blend = np.zeros(len(times))
            blend[leaves_slave] = 1 - smooth[leaves_slave]
            blend[enters_slave] = smooth[enters_slave]
            goal = pose_at(times)
            if shift is not None and link == 0:
                goal[:, :3] += shift
            elif shift is not None:
                goal[:, :3] += blend[:, None] * shift
            goal[is_slave[first] & is_slave[second]] = np.nan
            result.goals[:, n] = goal
            result.blends[:, n] = blend
            result.starts[:, n] = track.times[first]
            result.is_base[:, n] = np.array([key.is_base for key in track.keys])[first]
        return result

    def _pose_legs(
        self,
        q: Floats,
        link_goals: _LinkGoals,
        bases: Indices,
    ) -> tuple[Floats, Floats]:
        """Fill the joints of the legs in `q` (T, J).

        Return the root's poses (T, 7), and how far goals are missed (T, N, 2) [m, rad].
        """
        body = self.body
        links, goals, blends, _, _ = link_goals
        root = np.tile(body.root_pose, (len(q), 1))
        errors = np.full((*blends.shape, 2), np.nan)
        # Frames with the same base and links have the same chains.
        patterns = np.column_stack((bases, ~np.isnan(goals[:, :, 0])))
        for pattern in np.unique(patterns, axis=0):
            base = int(pattern[0])
            if base < 0:
                continue
            rows = np.flatnonzero((patterns == pattern).all(axis=1))
            numbers = {links[n]: n for n in np.flatnonzero(pattern[1:]).tolist()}
            part = q[rows]
            for chain in find_chains(body, links[base], numbers):
                if len(chain.columns) != LEG_JOINTS:
                    continue
                end = numbers[chain.end]
                to_start = poses.inverse(goals[rows, numbers[chain.start]])
                target = poses.compose(to_start, goals[rows, end])
                solution = solve_chain(body, chain, part, target)
                solved, errors[rows, end] = solution
                share = blends[rows, end][:, None]
                blended = share * part[:, chain.columns] + (1 - share) * solved
                part[:, chain.columns] = blended
            q[rows] = part
            base_poses = body.forward_kinematics(part, poses.IDENTITY)[:, links[base]]
            root[rows] = poses.compose(goals[rows, base], poses.inverse(base_poses))
        return root, errors


def _joint_tracks(key_poses: KeyPoses, body: Body) -> dict[int, Track]:
    """Return the tracks of joints by column."""
    keys: dict[int, list[Key]] = {}
    for pose in key_poses.poses:
        for joint, value in pose.joints.items():
            if 0 <= joint < body.num_joints:
                stops = joint in pose.stationary_joints
                limit = pose.max_transition_time
                key = Key(pose.time, np.array([value]), stops, limit)
                keys.setdefault(joint, []).append(key)
    linear = _linear_joints(body)
    tracks = {}
    for joint, joint_keys in keys.items():
        is_linear = body.joints[joint].name in linear
        tracks[joint] = Track(add_transitions(joint_keys), linear=is_linear)
    return tracks


def _linear_joints(body: Body) -> set[str]:
    """Return the names of joints that a Choreonoid model interpolates linearly."""
    names = body.extra.get(
        "linear_interpolation_joints", body.extra.get("linearInterpolationJoints", ())
    )
    if not isinstance(names, list):
        return set()
    return {str(name) for name in names}


def _zmp_keys(key_poses: KeyPoses) -> list[Key]:
    """Return the keys of the zero moment point."""
    keys = []
    for pose in key_poses.poses:
        if pose.zmp is not None:
            stops = pose.zmp_is_stationary
            keys.append(Key(pose.time, pose.zmp, stops, pose.max_transition_time))
    return keys


def _link_keys(key_poses: KeyPoses, body: Body) -> dict[int, list[Key]]:
    """Return the keys of the links that the body has: x y z roll pitch yaw.

    Angles are without steps over π.
    """
    indices = {link.name: link.index for link in body.links}
    keys: dict[int, list[Key]] = {}
    for pose in key_poses.poses:
        for link_key in pose.links:
            link = indices.get(link_key.name, link_key.index)
            if not 0 <= link < len(body.links):
                continue
            keys_of_link = keys.setdefault(link, [])
            key = Key(
                pose.time,
                _key_value(link_key, keys_of_link),
                stops=link_key.is_stationary or link_key.is_touching,
                max_transition_time=pose.max_transition_time,
                is_base=link_key.is_base,
                is_touching=link_key.is_touching,
                is_slave=link_key.is_slave and not link_key.is_touching,
            )
            keys_of_link.append(key)
    return {link: add_transitions(link_keys) for link, link_keys in keys.items()}


def _key_value(link_key: LinkKey, before: Sequence[Key]) -> Floats:
    """Return x y z roll pitch yaw (6,) of a key, with angles near to those before."""
    angles = roll_pitch_yaw(link_key.rotation)
    if before:
        difference = angles - before[-1].value[3:]
        angles -= 2 * math.pi * np.round(difference / (2 * math.pi))
    return np.concatenate((link_key.position, angles))


def _choose_bases(goals: _LinkGoals) -> Indices:
    """Return the number (T,) of the base among the links of `goals`.

    It is the flagged one whose last key is latest, else the one whose last key is
    latest; −1 where no link is used. `starts` are the times of the last keys.
    """
    if not goals.links:
        return np.full(len(goals.starts), -1)
    is_used = ~np.isnan(goals.goals[:, :, 0])
    is_flagged = goals.is_base & is_used
    has_flagged = is_flagged.any(axis=1, keepdims=True)
    candidates = np.where(has_flagged, is_flagged, is_used)
    latest = np.argmax(np.where(candidates, goals.starts, -np.inf), axis=1)
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
    count = _count_frames(key_poses, body, frame_rate)
    plan = Plan(key_poses, body, steps, automatic_zmp)
    interpolated = plan.at(np.arange(count) / frame_rate)
    names = [joint.name for joint in body.joints]
    motion = Motion.from_joints(
        interpolated.q,
        frame_rate,
        root=interpolated.root,
        zmp=interpolated.zmp,
        joint_names=names if all(names) else [],
    )
    source = replace(key_poses.source, options={}, locations=SourceMap())
    return replace(motion, source=source)


def _count_frames(
    key_poses: KeyPoses,
    body: Body,
    frame_rate: float,
) -> int:
    """Return the number of frames of a motion, and raise MemoryError for too many."""
    last = min(frame_rate * key_poses.duration, BEYOND_MEMORY)
    count = math.floor(last) + 1
    if count > MAX_FRAMES:
        raise MemoryError(
            f"the poses are at times up to {key_poses.duration:g} s: at "
            f"{frame_rate:g} Hz"
            f" a motion has {count} frames; expected at most {MAX_FRAMES}; check the"
            " times, or use a lower rate"
        )
    numbers = NUMBERS_PER_JOINT * body.num_joints + NUMBERS_PER_LINK * len(body.links)
    check_memory(FLOAT_SIZE * count * numbers, f"a motion of {count} frames")
    return count
