"""What a robot would mind about an animation: looked for in the motion that is played with the defaults of all parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, Rule
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.spot.playback import rules
from bodymotion.spot.playback.measures import ARM_LIMITS, GRIPPER_LIMITS, JOINT_NAMES, LEGS, NOMINAL_HEIGHT
from bodymotion.spot.playback.motions import FOOT_CONTACT, REACH_ERROR
from bodymotion.spot.playback.parameters import settings
from bodymotion.spot.playback.playing import play
from bodymotion.spot.playback.standing import feet_in_world
from bodymotion.spot.playback.support import outside
from bodymotion.spot.playback.timing import Timing, smooth_rate, timing
from bodymotion.spot.playback.tracks import Tracks
from bodymotion.spot.playback.weighing import center_of_mass

if TYPE_CHECKING:
    from bodymotion.animation import Animation

__all__ = ["mind"]

TOLERANCE = 1e-3
"""[m] Feet and hands that stay no farther from their goals are there."""
LEG_SPEED, ARM_SPEED, GRIPPER_SPEED = 20.0, 10.0, 20.0
"""[rad/s] Faster than that no joint can turn: our guess; no limits are published."""
FOOT_SPEED = 5.0
"""[m/s] Of a foot against the world."""
BODY_FASTEST, BODY_STEP = 5.0, 0.05
"""[m/s] and [m]: the body goes no faster from one keyframe to the next, by so much or more."""
SLIPPED = 0.02
"""[m] So far a foot may move from where it was put down."""
SUNK = 0.02
"""[m] So far a foot may be below the floor, or above it in stance."""
OFF_BALANCE, LONG = 0.03, 0.5
"""[m] and [s]: the centre of mass is not so far outside the feet in stance for so long."""
OFF_ORIGIN, OFF_YAW = 0.05, 0.1
"""[m] and [rad] of the footprint at the start from the animation frame."""
BELLY = 0.10
"""[m] The body's origin is at least so high over the feet's centres."""
APART = 0.075
"""[m] Centres of two feet: a bit more than they are wide."""
LEAP = 0.08
"""[m], and in radians a bit more: so far from the pose before an animation may begin without an entry."""
SAME = 1e-2
"""[m or rad] Poses that differ by less are the same."""
LONGEST = 40_000
"""So many frames are looked at, at most: a long move at a lower rate."""
EXACTLY = 1e-6
"""[s] A moment so near to a keyframe is the keyframe's."""


def mind(animation: Animation, *, arm: bool | None = None) -> tuple[Problem, ...]:
    """Return what a robot would mind about an animation.

    It is played with the defaults of all parameters, and looked at frame by frame. `arm` says whether by a Spot with arm (see `play`).
    The place of a problem is a keyframe, the nearest to where it is worst: the line of a file where the animation knows it, and its
    number, counted from 1. Angles that the keyframes themselves have beyond a joint's limits are no matter of this check but of the
    document's.

    Nothing is raised. That an animation cannot be played at all, so that nothing was looked at, is a problem of its own (SPOT017).
    """
    try:
        values = settings(animation)
        rough = timing(animation, speed=values["speed"], offset=values["offset_slices"], frame_rate=1.0)
        rate = min(smooth_rate(rough.slice), LONGEST / (rough.slices * rough.slice))
        times = timing(animation, speed=values["speed"], offset=values["offset_slices"], frame_rate=rate)
        motion = play(animation, arm=arm, frame_rate=rate)
    except (ValueError, MemoryError) as error:
        path = str(animation.source.path) if animation.source.path else None
        said = str(error) or "not enough memory"
        return (rules.UNPLAYABLE.problem(f"it cannot be played, and was not looked at: {said}", Location(path)),)
    found = _Findings(animation, times)
    look = _Look(animation, motion, times)
    for step in (_body_speed, _reach, _limits, _speeds, _feet, _balance, _beginning_and_end):
        step(look, found)
    return tuple(found.problems)


class _Look:
    """A motion that was played, as arrays over its frames."""

    def __init__(self, animation: Animation, motion: Motion, times: Timing) -> None:
        self.animation, self.motion, self.timing = animation, motion, times
        self.times = times.timeline.times
        self.calm = np.ones(len(self.times), dtype=bool)
        assert motion.joint_displacement is not None
        assert motion.link_position is not None
        joints = motion.joint_displacement.values
        self.joints = joints
        self.legs = joints[:, :12].reshape(-1, 4, 3)
        self.arm = joints[:, 12:18] if joints.shape[1] > 12 else None
        self.gripper = joints[:, 18] if joints.shape[1] > 12 else None
        self.body = motion.link_position.values[:, 0]
        self.feet = feet_in_world(self.body, self.legs)
        self.stance = self._numbers(FOOT_CONTACT) > 0.5
        self.errors = self._numbers(REACH_ERROR)
        frame = motion.extra["spot"]
        assert isinstance(frame, dict)
        self.frame = np.asarray(frame["animationFrame"], dtype=np.float64)
        from bodymotion.spot.playback.standing import sit, stand

        before = sit() if "starts_sitting" in animation.options else stand()
        self.before = before
        self.tracks = Tracks(animation, before, self.frame)

    def _numbers(self, content: str) -> Floats:
        return np.asarray(
            next(c.values for c in self.motion.timed if isinstance(c, MultiValueSeq) and c.content == content)
        )

    @property
    def floor(self) -> float:
        """How high [m] the centre of a foot on the floor is; where all feet begin far from there, the lowest of them says it."""
        lowest = float(self.feet[int(np.argmax(self.calm)), :, 2].min())
        return float(self.frame[2]) if abs(lowest - self.frame[2]) < OFF_ORIGIN else lowest

    def rates(self, values: Floats) -> Floats:
        """Return how fast values (T, …) change between frames (T − 1, …); 0 where a round begins anew."""
        gaps = np.diff(self.times).reshape(-1, *(1,) * (values.ndim - 1))
        anew = np.diff(self.timing.rounds).astype(bool)
        result = np.diff(values, axis=0) / gaps
        result[anew] = 0.0
        return np.asarray(result)


class _Findings:
    """Problems with the keyframes that they belong to."""

    def __init__(self, animation: Animation, times: Timing) -> None:
        self.problems: list[Problem] = []
        self._keys = animation.keyframes.times
        self._moments = self.moments = times.moments
        self._path = str(animation.source.path) if animation.source.path else None
        lines = animation.source.options.get("keyframe_lines")
        self._lines: Sequence[int] | None = (
            lines if isinstance(lines, tuple) and len(lines) == len(self._keys) else None
        )

    def keyframe(self, frame: int) -> int:
        """Return the keyframe that is nearest to what a frame shows."""
        return int(self.nearest(np.array([frame]))[0])

    def nearest(self, frames: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the keyframes (N,) that are nearest to what frames (N,) show."""
        between = (self._keys[1:] + self._keys[:-1]) / 2
        return np.searchsorted(between, self._moments[frames] + 1e-9, side="right")

    def add(self, rule: Rule, message: str, frame: int = 0) -> None:
        """Add a problem of a frame."""
        self.add_at(rule, message, self.keyframe(frame))

    def add_at(self, rule: Rule, message: str, key: int) -> None:
        """Add a problem of a keyframe."""
        line = int(self._lines[key]) if self._lines is not None else None
        self.problems.append(rule.problem(message, Location(self._path, line, line and 1, f"keyframe {key + 1}")))

    def worst(self, rule: Rule, wrong: npt.NDArray[np.bool_], amount: Floats, say: Callable[[float], str]) -> None:
        """Add a problem for frames (T,) that are `wrong`, placed where the `amount`, which `say` has in words, is largest."""
        if not wrong.any():
            return
        frames = np.flatnonzero(wrong)
        worst = int(frames[np.argmax(np.abs(amount[frames]))])
        keys = self.nearest(frames)
        half = max(np.diff(self._moments).max(initial=0.0) / 2, EXACTLY)
        others = len(
            {*keys[np.abs(self._keys[keys] - self._moments[frames]) <= half].tolist()} - {self.keyframe(worst)}
        )
        more = f", and at {others} more keyframe{'s' * (others > 1)}" if others else ""
        self.add(rule, f"{say(float(amount[worst]))} {self._when(worst)}{more}", worst)

    def since(self, frame: int) -> str:
        """Say from when on, in the animation's own time."""
        return f"from {self._moments[frame]:.2f} s on"

    def _when(self, frame: int) -> str:
        """Say when, in the animation's own time, a frame is: at its keyframe, or between which two."""
        moment = self._moments[frame]
        after = int(np.searchsorted(self._keys, moment))
        between = 0 < after < len(self._keys) and abs(self._keys[self.keyframe(frame)] - moment) > EXACTLY
        return f"at {moment:.2f} s" + (f", between keyframes {after} and {after + 1}" if between else "")


def _body_speed(look: _Look, found: _Findings) -> None:
    """Tell where the body jumps, and take the frames around for ones of which nothing else is to be said."""
    keys = look.animation.keyframes.times
    if not look.tracks.has_body or len(keys) < 2:
        return
    steps = np.linalg.norm(np.diff(look.tracks.body_place(keys), axis=0), axis=1)
    gaps = np.diff(keys)
    wrong = np.flatnonzero((steps > BODY_FASTEST * gaps) & (steps > BODY_STEP) & (gaps > 0))
    if not len(wrong):
        return
    moments = found.moments
    for key in map(int, wrong):
        # Either of the two keyframes may be wrong: up to the next ones all that moves goes by it.
        first, last = keys[max(key - 1, 0)], keys[min(key + 2, len(keys) - 1)]
        look.calm &= (moments < first - EXACTLY) | (moments > last + EXACTLY)
    worst = int(wrong[np.argmax(steps[wrong] / gaps[wrong])])
    others = f"; and {len(wrong) - 1} more such step{'s' * (len(wrong) > 2)}" if len(wrong) > 1 else ""
    said = f"the body goes {steps[worst]:.3f} m in {gaps[worst]:g} s, from keyframe {worst + 1} to keyframe {worst + 2}{others}"
    found.add_at(rules.BODY_SPEED, said, worst + 1)


def _reach(look: _Look, found: _Findings) -> None:
    for leg, name in enumerate(LEGS):
        miss = look.errors[:, leg]
        text = f"foot {name} stays {{:.3f}} m short"
        found.worst(rules.FOOT_REACH, look.calm & (miss > TOLERANCE), miss, text.format)
    if look.errors.shape[1] > len(LEGS):
        miss = look.errors[:, len(LEGS)]
        found.worst(rules.HAND_REACH, look.calm & (miss > TOLERANCE), miss, "the hand stays {:.3f} m short".format)


def _limits(look: _Look, found: _Findings) -> None:
    if look.arm is None or look.gripper is None:
        return
    keys = look.animation.keyframes
    limits = np.vstack([ARM_LIMITS, GRIPPER_LIMITS])
    names = (*JOINT_NAMES[12:18], "gripper")
    columns = ("shoulder0", "shoulder1", "elbow0", "elbow1", "wrist0", "wrist1", "gripper")
    for k, name in enumerate(names):
        lower, upper = limits[k]
        if keys.has(columns[k]):
            said = keys.column(columns[k])
            if ((said < lower) | (said > upper)).any():
                continue
        angle = look.joints[:, 12 + k]
        wrong = (angle < lower - 1e-4) | (angle > upper + 1e-4)
        text = f"{name} would be at {{:.3f}} rad; it goes from {lower:g} to {upper:g},"
        found.worst(rules.JOINT_LIMIT, wrong, angle, text.format)


def _speeds(look: _Look, found: _Findings) -> None:
    if len(look.times) < 2:
        return
    fastest = [LEG_SPEED] * 12 + [ARM_SPEED] * 6 + [GRIPPER_SPEED]
    calm = look.calm[1:] & look.calm[:-1]
    rates = look.rates(look.joints)
    for k in range(rates.shape[1]):
        text = f"{JOINT_NAMES[k]} turns at {{:.1f}} rad/s"
        found.worst(rules.JOINT_SPEED, calm & (np.abs(rates[:, k]) > fastest[k]), np.abs(rates[:, k]), text.format)
    speeds = np.linalg.norm(look.rates(look.feet), axis=-1)
    for leg, name in enumerate(LEGS):
        text = f"foot {name} moves at {{:.1f}} m/s"
        found.worst(rules.FOOT_SPEED, calm & (speeds[:, leg] > FOOT_SPEED), speeds[:, leg], text.format)


def _feet(look: _Look, found: _Findings) -> None:
    if not look.tracks.has_legs:
        return
    height = look.feet[:, :, 2] - look.floor
    for leg, name in enumerate(LEGS):
        stance = look.stance[:, leg]
        slipped = _slipped(look.feet[:, leg, :2], stance, look.timing.rounds)
        for rule, wrong, amount, text in (
            (rules.SLIP, slipped > SLIPPED, slipped, f"foot {name} slides {{:.3f}} m while it is in stance,"),
            (rules.SINK, height[:, leg] < -SUNK, -height[:, leg], f"foot {name} is {{:.3f}} m below the floor"),
            (
                rules.HOVER,
                stance & (height[:, leg] > SUNK),
                height[:, leg],
                f"foot {name} is in stance {{:.3f}} m above the floor",
            ),
        ):
            found.worst(rule, look.calm & wrong, amount, text.format)
        for other in range(leg):
            apart = np.linalg.norm(look.feet[:, leg] - look.feet[:, other], axis=-1)
            text = f"feet {LEGS[other]} and {name} come within {{:.3f}} m"
            near = apart < APART
            if near.any():
                found.add(rules.NEAR_FEET, text.format(float(apart.min())), int(np.argmin(apart)))


def _slipped(places: Floats, stance: npt.NDArray[np.bool_], rounds: npt.NDArray[np.int64]) -> Floats:
    """Return how far (T,) a foot at places (T, 2) is from where it was when its stance began."""
    begins = stance & np.concatenate([[True], ~stance[:-1] | (np.diff(rounds) != 0)])
    since = np.maximum.accumulate(np.where(begins, np.arange(len(stance)), 0))
    return np.where(stance, np.linalg.norm(places - places[since], axis=-1), 0.0)


def _balance(look: _Look, found: _Findings) -> None:
    height = look.body[:, 2] - look.floor
    if "starts_sitting" not in look.animation.options:
        low = look.calm & (height < BELLY)
        found.worst(
            rules.BELLY,
            low,
            np.where(low, BELLY - height, 0.0),
            lambda most: f"the body's middle is {BELLY - most:.3f} m high",
        )
    if not (look.tracks.has_legs or look.tracks.has_body):
        return
    center = center_of_mass(look.body, look.legs, look.arm)[:, :2]
    off = outside(center, look.feet[:, :, :2], look.stance)
    flying = np.isnan(off)
    for wrong, rule, say in (
        (
            np.where(flying, 0.0, off) > OFF_BALANCE,
            rules.SUPPORT,
            "the centre of mass is outside the feet in stance, by up to {:.2f} m,",
        ),
        (flying, rules.AIRBORNE, "no foot is in stance"),
    ):
        for first, last in _runs(wrong):
            seconds = look.times[last] - look.times[first]
            if seconds > LONG and look.calm[first : last + 1].all():
                most = float(np.nan_to_num(off[first : last + 1]).max())
                found.add(rule, f"{say.format(most)} for {seconds:.2f} s {found.since(first)}", first)
                break


def _runs(wrong: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Return the first and the last frame of each run of frames that are wrong."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], wrong, [False]]).astype(np.int8)))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        yield int(first), int(end) - 1


def _beginning_and_end(look: _Look, found: _Findings) -> None:
    tracks, animation, times = look.tracks, look.animation, look.timing
    values = settings(animation)
    start, end = np.zeros(1), np.array([animation.duration])
    placed = bool(tracks.legs_by_feet.all()) or (tracks.has_body and not tracks.by_center_of_mass and tracks.has_legs)
    both = np.concatenate([start, end])
    level = np.tile([0.0, 0.0, NOMINAL_HEIGHT, 1.0, 0.0, 0.0, 0.0], (2, 1))
    body = poses.from_parts(tracks.body_place(both), tracks.body_turn(both)) if tracks.has_body else level
    if placed and look.calm[0]:
        feet = tracks.feet(start, body[:1])[0]
        middle = feet.mean(axis=0)
        forward = feet[:2, :2].mean(axis=0) - feet[2:, :2].mean(axis=0)
        yaw = float(np.arctan2(forward[1], forward[0]))
        if np.abs(middle).max() > OFF_ORIGIN or abs(yaw) > OFF_YAW:
            place = ", ".join(f"{value:.3f}" for value in middle)
            found.add(rules.FRAME, f"the feet's centre is at ({place}) m, turned by {yaw:.2f} rad")
    if tracks.has_body and values["body_entry_slices"] == 0 and look.calm[0]:
        gap = poses.compose(poses.inverse(look.before.body), look.body[0])
        turn = 2 * float(np.arctan2(np.linalg.norm(gap[4:]), abs(gap[3])))
        if np.linalg.norm(gap[:3]) > LEAP or turn > 2 * LEAP:
            said = f"the body begins {np.linalg.norm(gap[:3]):.2f} m and {turn:.2f} rad away from where it is before"
            found.add(rules.START, said)
    loops = "no_looping" not in animation.options and ("extendable" in animation.options or values["speed"] > 1)
    if loops and len(animation.keyframes) > 1 and look.calm[0] and look.calm[-1]:
        apart = _ends_apart(look, body)
        if apart > SAME:
            found.add(
                rules.LOOP, f"the last keyframe differs from the first by {apart:.3f} (m or rad)", len(look.times) - 1
            )
    shown = times.natural * times.seconds_per_slice
    if animation.bpm is not None and shown < animation.duration - 1e-6:
        cut = animation.duration - shown
        found.add(rules.CUT, f"at {times.bpm:g} beats per minute the last {cut:.3f} s are cut off", len(look.times) - 1)


def _ends_apart(look: _Look, body: Floats) -> float:
    """Return by how much the ends of an animation differ, as seen from the feet: a walk may end elsewhere."""
    tracks = look.tracks
    both = np.array([0.0, look.animation.duration])
    parts: list[Floats] = []
    if tracks.has_legs:
        feet = tracks.feet(both, body)
        seen = poses.transform_points(poses.inverse(body)[:, None], feet)
        parts.append(seen.reshape(2, -1))
    elif tracks.has_body:
        parts += [body[:, :3], np.abs(body[:, 3:])]
    if tracks.arm_columns.any():
        parts.append(tracks.arm_joints(both))
    gripper = tracks.gripper(both)
    if gripper is not None:
        parts.append(gripper[:, None])
    return max((float(np.abs(part[1] - part[0]).max()) for part in parts), default=0.0)
