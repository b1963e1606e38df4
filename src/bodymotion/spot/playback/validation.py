"""Validation of an animation.

The rules of `rules.py`, checked on the motion that is played with the defaults of all
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Bools, Floats, Indices, runs
from bodymotion.motion import Motion
from bodymotion.motion.components import with_even_steps
from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import GROUPS, Animation, Keyframes
from bodymotion.spot.cha import check_animation, is_apart
from bodymotion.spot.cha import rules as cha_rules
from bodymotion.spot.cha.head_checks import Checked, keyframe_number
from bodymotion.spot.cha.keyframe_checks import check_swings, faulty_keyframes
from bodymotion.spot.playback import rules
from bodymotion.spot.playback.dimensions import JOINT_NAMES, LIMITS
from bodymotion.spot.playback.playing import (
    center_of_mass,
    default_start,
    loop_problems,
    play,
)
from bodymotion.spot.playback.stance import distance_outside, feet_in_world, footprint
from bodymotion.spot.playback.timing import Timing, default_frame_rate, settings, timing
from bodymotion.spot.playback.tracks import ARM, Tracks
from bodymotion.system.deferred import provided_by

REACH_TOLERANCE = 1e-3  # [m] Accepted distance of feet and hands from their goals.
# [rad/s] Our estimates; no limits are published.
MAX_LEG_SPEED = 20.0
MAX_ARM_SPEED = 10.0
MAX_GRIPPER_SPEED = 20.0
MAX_FOOT_SPEED = 5.0  # [m/s] Relative to the world.
MAX_BODY_SPEED = 5.0
# [m/s] and [m] of a step of the body between two keyframes. A faster and larger one is
# reported.
MIN_BODY_STEP = 0.05
BODY_POSITIONS = (*GROUPS["body_pos"], *GROUPS["com_pos"])
# [m] Accepted slip of a foot in contact. From the position at which its contact began.
MAX_SLIP = 0.02
FLOOR_TOLERANCE = 0.02  # [m] Accepted height of a foot in contact above the floor.
MAX_OUTSIDE = 0.03
# [m] and [s] of the centre of mass outside the support polygon. It may be outside by
# more only for a shorter time.
MAX_UNSUPPORTED_TIME = 0.5
# [m] and [rad] of the feet at the start relative to the animation frame.
MAX_FRAME_OFFSET = 0.05
MAX_FRAME_YAW = 0.1
MIN_BODY_HEIGHT = 0.10  # [m] Lowest height of the body's origin over the floor.
MIN_FEET_DISTANCE = (
    0.075  # [m] Between the centres of two feet: slightly more than their width.
)
# [m], and half of the limit in radians. Distance from the pose before the move at which
# an entry is needed.
MAX_START_STEP = 0.08
# Frames that are checked; a longer move is played at a lower rate.
MAX_FRAMES = 40_000
# [s] A time this close to a keyframe is the keyframe's.
ON_KEYFRAME = 1e-6


_WRONG_UNITS = (cha_rules.DEGREES.code, cha_rules.METRES.code)


def validate(
    animation: Animation,
    *,
    arm: bool | None = None,
    bpm: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> tuple[Problem, ...]:
    """Return the problems that a robot would have with an animation.

    The animation is played and checked frame by frame. Each rule has one problem,
    located at the keyframe nearest to the worst frame:
    `location` has its line where the animation's file is known and its number, counted
    from 1, `subject` is ("keyframes", index), and
    `count` the number of keyframes concerned. Keyframes that themselves have angles
    beyond a joint's limits are not reported here, but
    by the rules of the format.

    Raises nothing: an animation that cannot be played, and therefore not checked, has
    the problem SPOT017.

    Parameters
    ----------
    arm:
        Whether Spot has an arm; see `play`.
    bpm, parameters:
        The tempo, and values of parameters by name; by default those of the animation.
    """
    played = played_move(animation, arm, bpm, parameters)
    if isinstance(played, Played):
        return played.problems()
    return (played,)


def played_move(
    animation: Animation,
    arm: bool | None,
    bpm: float | None,
    parameters: Mapping[str, float] | None,
) -> Played | Problem:
    """Return an animation as it is played, or the problem that it cannot be played.

    See `validate`.
    """
    try:
        values = settings(animation, parameters)
        speed = values["speed"]
        offset = values["offset_slices"]
        # One frame per second suffices to learn the number of slices.
        rough = timing(animation, bpm=bpm, speed=speed, offset=offset, frame_rate=1.0)
        # The default rate, reduced for moves with more than `MAX_FRAMES` frames.
        rate = min(
            default_frame_rate(rough.slice), MAX_FRAMES / (rough.slices * rough.slice)
        )
        times = timing(animation, bpm=bpm, speed=speed, offset=offset, frame_rate=rate)
        return Played(
            animation,
            play(animation, bpm=bpm, parameters=parameters, arm=arm, frame_rate=rate),
            times,
        )
    # ValueError: a wrong tempo, length or parameter. MemoryError: too many frames.
    except (ValueError, MemoryError) as error:
        if animation.source.path:
            path = str(animation.source.path)
        else:
            path = None
        reason = str(error) or "not enough memory"
        return rules.UNPLAYABLE.problem(
            f"the animation cannot be played: {reason}", Location(path)
        )


def all_problems(
    animation: Animation,
    *,
    arm: bool | None = None,
    validated: Callable[..., Iterable[Problem]] = validate,
) -> tuple[Problem, ...]:
    """Return all problems of an animation.

    Its own, those by the rules of the document, and those of the motion that is played.

    An animation is played only if its keyframes have no errors that concern all of
    them, its angles are in radians and its positions in metres. The keyframes next to a
    faulty one are unknown: about them nothing is reported. `arm` is as for `validate`.
    `validated` returns the problems of playback.
    """
    errors = _errors(animation.problems)
    new: list[Problem] = []
    # The reader of .cha files has applied the rules to what it could read.
    if not errors or animation.source.format != "cha":
        reported = {problem.rule for problem in animation.problems}
        # The same rule twice would only repeat its findings, without the columns of a
        # file.
        new = [one for one in check_animation(animation) if one.rule not in reported]
    found = (*animation.problems, *new)
    # Degrees or millimetres would break every rule of playback.
    has_wrong_units = any(one.rule in _WRONG_UNITS for one in found)
    # The reader has marked what errors of the file leave unknown.
    is_known = animation.source.locations.is_known(("keyframes",))
    if has_wrong_units or not is_known or not all(map(is_apart, _errors(new))):
        return found
    errors += _errors(new)
    follow_ups: set[str] = set()
    # Play without the faulty parts. That the rest cannot be played is then a follow-up.
    if errors:
        animation = _without_faulty_parts(animation, errors)
        follow_ups = {rules.UNPLAYABLE.code}
    locations = animation.source.locations
    # Parts of the file that could not be read may have the missing contacts.
    if locations.unknown:
        follow_ups |= {rule.code for rule in cha_rules.OF_CYCLES}
    of_playback = (
        problem
        for problem in validated(replace(animation, problems=found), arm=arm)
        if problem.rule not in follow_ups and locations.is_known(problem.subject)
    )
    return (*found, *of_playback)


def _errors(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that are errors."""
    return [problem for problem in problems if problem.severity == "error"]


def _without_faulty_parts(animation: Animation, errors: Sequence[Problem]) -> Animation:
    """Return an animation without wrong parameters and tempo.

    Faulty keyframes are between their neighbours, and marked as unknown.
    """
    options = dict(animation.options)
    bpm = animation.bpm or 0.0
    # A tempo that is not positive and finite (NaN included) is left out.
    if not 0 < bpm < np.inf:
        options.pop("bpm", None)
    parameters = dict(animation.parameters)
    for error in errors:
        if error.subject[:1] == ("parameters",) and len(error.subject) > 1:
            parameters.pop(str(error.subject[1]), None)
    # Keyframes with faults get values between their neighbours, so that the others can
    # be checked.
    keyframes, faulty = _with_keyframes_between(animation.keyframes)
    unknown = []
    for row in faulty.tolist():
        # Velocities and curves there depend on the two keyframes on each side.
        unknown += [("keyframes", row + k) for k in (-2, -1, 0, 1, 2)]
    locations = animation.source.locations.with_unknown(unknown)
    return replace(
        animation,
        options=options,
        parameters=parameters,
        keyframes=keyframes,
        source=replace(animation.source, locations=locations),
    )


def _with_keyframes_between(keyframes: Keyframes) -> tuple[Keyframes, Indices]:
    """Return keyframes with faulty ones between their neighbours, and their rows."""
    # (N,) flags; a faulty time leaves the values usable, and the other way round.
    of_values, of_times = faulty_keyframes(keyframes)
    is_faulty = of_values | of_times
    faulty = np.flatnonzero(is_faulty)
    sound = np.flatnonzero(~is_faulty)
    if not len(faulty) or not len(sound):
        return keyframes, faulty
    # NaN marks a time to be filled in evenly between its neighbours.
    times = np.where(of_times, np.nan, keyframes.times)
    # The first keyframe has no neighbour before it: it starts the animation.
    if of_times[0]:
        times[0] = 0.0
    times = with_even_steps(times)
    values = keyframes.values.copy()
    # Contacts and quaternions are those of the sound keyframe before.
    before = sound[np.maximum(np.searchsorted(sound, faulty) - 1, 0)]
    for k, name in enumerate(keyframes.columns):
        if "contact" in name or "quat" in name:
            values[faulty, k] = keyframes.values[before, k]
        else:
            values[faulty, k] = np.interp(times[faulty], times[sound], values[sound, k])
    return replace(keyframes, times=times, values=values), faulty


@provided_by("bodymotion.spot.checking:check_animation")
def checked(animation: Animation, *, arm: bool | None = None) -> tuple[Problem, ...]:
    """Return all problems of an animation, as `bodymotion.check` does.

    Those of its physics among them.
    """
    raise NotImplementedError


class Played:
    """A motion that was played, as arrays over its frames."""

    def __init__(self, animation: Animation, motion: Motion, times: Timing) -> None:
        """Take the arrays of a played motion apart."""
        self.animation = animation
        self.motion = motion
        self.timing = times
        self.times = times.timeline.times
        unknown = [
            one[1]
            for one in animation.source.locations.unknown
            if one[0] == "keyframes" and len(one) > 1
        ]
        # Frames count by their nearest keyframe.
        self.known = ~np.isin(
            Report(animation, times).nearest(np.arange(len(self.times))), unknown
        )
        """(T,) False around faulty keyframes."""
        self.reliable = self.known.copy()
        """(T,) False there, and around jumps of the body.

        Other findings there would only follow from the jump.
        """
        # The components in the order in which `play` adds them: LinkPosition,
        # JointDisplacement, FootContact, ReachError.
        placed, self.joints, contact, self.errors = (one.values for one in motion.timed)
        self.legs = self.joints[:, :12].reshape(-1, 4, 3)
        self.arm = self.joints[:, 12:18] if self.joints.shape[1] > 12 else None
        self.body = placed[:, 0]
        self.feet = feet_in_world(self.body, self.legs)
        self.contact = contact > 0.5
        summary = motion.extra["spot"]
        assert isinstance(summary, dict)
        self.frame = np.asarray(summary["animationFrame"], dtype=np.float64)
        self.before = default_start(animation)
        self.tracks = Tracks(animation, self.before, self.frame)

    def problems(self) -> tuple[Problem, ...]:
        """Return the problems of the played motion."""
        found = Report(self.animation, self.timing)
        for check in (
            _body_speed,
            _reach,
            _limits,
            _speeds,
            _feet,
            _balance,
            _start_and_end,
            _gait_cycle,
        ):
            check(self, found)
        return found.diagnostics.problems

    @property
    def floor(self) -> float:
        """Height [m] of the centre of a foot on the floor.

        That of the lowest foot where all feet start far from the animation frame.
        """
        # `reliable` frames only: a jump in the first ones would move the floor.
        lowest = float(self.feet[int(np.argmax(self.reliable)), :, 2].min())
        if abs(lowest - self.frame[2]) < MAX_FRAME_OFFSET:
            return float(self.frame[2])
        return lowest

    def rates(self, values: Floats) -> Floats:
        """Return the rates of change (T − 1, …) of values (T, …).

        0 where a loop starts again.
        """
        # (T − 1, 1, …) seconds, to divide arrays of any number of dimensions.
        gaps = np.diff(self.times).reshape(-1, *(1,) * (values.ndim - 1))
        result = np.diff(values, axis=0) / gaps
        # A loop that starts again has its own rule (SPOT013).
        result[np.diff(self.timing.rounds).astype(bool)] = 0.0
        return np.asarray(result)


class Report:
    """Problems with the keyframes that they belong to."""

    def __init__(self, animation: Animation, times: Timing) -> None:
        self._source = animation.source
        self.number = partial(keyframe_number, animation)
        self.diagnostics = Diagnostics(
            None if self._source.path is None else str(self._source.path)
        )
        self.moments = times.moments
        self._keys = animation.keyframes.times

    def keyframe(self, frame: int) -> int:
        """Return the keyframe that is nearest to a frame."""
        return int(self.nearest(np.array([frame]))[0])

    def nearest(self, frames: Indices) -> Indices:
        """Return the keyframes (N,) that are nearest to frames (N,)."""
        # Frames are assigned to keyframes at the middles between them. 1e-9 s: a frame
        # that rounding puts just before a middle still belongs to the later one.
        middles = (self._keys[1:] + self._keys[:-1]) / 2
        return np.searchsorted(middles, self.moments[frames] + 1e-9, side="right")

    def add(self, rule: Rule, message: str, frame: int = 0, **data: object) -> None:
        """Add a problem of a frame."""
        self.add_at(rule, message, self.keyframe(frame), 1, data)

    def add_at(
        self, rule: Rule, message: str, key: int, count: int, data: Mapping[str, object]
    ) -> None:
        """Add a problem of a keyframe, which stands for `count` of them."""
        problem = rule.problem(
            message, self.location(key), subject=("keyframes", key), data=data
        )
        self.diagnostics.add(replace(problem, count=count))

    def location(self, key: int) -> Location:
        """Return the location of a keyframe."""
        known = self._source.locations.locate(("keyframes", key)) or Location(
            self.diagnostics.path
        )
        return replace(known, inside=f"keyframe {self.number(key)}")

    def worst(
        self, rule: Rule, wrong: Bools, amount: Floats, names: Sequence[str], text: str
    ) -> None:
        """Add the problem of frames and parts (T, N) that are `wrong`.

        Located where the `amount` (T, N) is largest.

        `text` has {name}, of the worst of the N parts, and {amount}; the other parts
        are named after it.
        """
        if not wrong.any():
            return
        # −1 hides parts that are not wrong from argmax.
        largest = np.where(wrong, np.abs(amount), -1.0)
        worst, part = (
            int(k) for k in np.unravel_index(np.argmax(largest), largest.shape)
        )
        # Keyframes concerned: those with a wrong frame no farther than half a frame
        # away. A wrong frame between keyframes counts for the nearest one to the worst.
        frames = np.flatnonzero(wrong.any(axis=1))
        keys = self.nearest(frames)
        key = self.keyframe(worst)
        half = max(np.diff(self.moments).max(initial=0.0) / 2, ON_KEYFRAME)
        concerned = {
            *keys[np.abs(self._keys[keys] - self.moments[frames]) <= half].tolist(),
            key,
        }
        # The text names both keyframes when the worst frame is between them.
        moment = self.moments[worst]
        after = int(np.searchsorted(self._keys, moment))
        is_between = (
            0 < after < len(self._keys) and abs(self._keys[key] - moment) > ON_KEYFRAME
        )
        if is_between:
            between = (
                f", between keyframes {self.number(after - 1)} and {self.number(after)}"
            )
        else:
            between = ""
        # Other parts that break the rule at any time are only named.
        others = [
            name
            for name, one in zip(names, np.atleast_1d(wrong.any(axis=0)), strict=True)
            if one and name != names[part]
        ]
        message = (
            f"{text.format(name=names[part], amount=float(amount[worst, part]))} at "
            f"{moment:.2f} s{between}"
        )
        message += f"; also {', '.join(others)}" if others else ""
        data = {
            "amount": float(amount[worst, part]),
            "time": float(moment),
            "parts": [names[part], *others],
        }
        self.add_at(rule, message, key, len(concerned), data)


def _body_speed(played: Played, found: Report) -> None:
    """Report jumps of the body, and mark the frames around them.

    They are unreliable for the other checks.
    """
    keys = played.animation.keyframes.times
    if not played.tracks.has_body or len(keys) < 2:
        return
    # (N − 1,) [m] the body's steps from keyframe to keyframe.
    steps = np.linalg.norm(np.diff(played.tracks.body_position(keys), axis=0), axis=1)
    gaps = np.diff(keys)
    # Fast and large: a small step in a short time is no jump.
    wrong = np.flatnonzero(
        (steps > MAX_BODY_SPEED * gaps) & (steps > MIN_BODY_STEP) & (gaps > 0)
    )
    for key in map(int, wrong):
        # Either of the two keyframes may be wrong; the curves depend on them up to the
        # next keyframes on both sides.
        first = keys[max(key - 1, 0)]
        last = keys[min(key + 2, len(keys) - 1)]
        played.reliable &= (found.moments < first - ON_KEYFRAME) | (
            found.moments > last + ON_KEYFRAME
        )
    # The rule about jumps of values already reports these.
    jumps = [
        one.subject[1:]
        for one in played.animation.problems
        if one.rule == cha_rules.JUMP.code
    ]
    wrong = np.setdiff1d(
        wrong, [int(row) - 1 for row, column in jumps if column in BODY_POSITIONS]
    )
    if not len(wrong):
        return
    worst = int(wrong[np.argmax(steps[wrong] / gaps[wrong])])
    data = {"distance": float(steps[worst]), "seconds": float(gaps[worst])}
    moves = f"moves {data['distance']:.3f} m in {data['seconds']:g} s"
    message = (
        f"the body {moves}, from keyframe {found.number(worst)} to keyframe "
        f"{found.number(worst + 1)}"
    )
    found.add_at(rules.BODY_SPEED, message, worst + 1, len(wrong), data)


def _reach(played: Played, found: Report) -> None:
    """Report feet and hand that do not reach their goals."""
    # (T, 4 or 5); the fifth column is the hand.
    wrong = played.reliable[:, None] & (played.errors > REACH_TOLERANCE)
    foot = "foot {name} is {amount:.3f} m short of its goal"
    hand = "the hand is {amount:.3f} m short of its goal"
    found.worst(rules.FOOT_REACH, wrong[:, :4], played.errors[:, :4], LEGS, foot)
    found.worst(rules.HAND_REACH, wrong[:, 4:], played.errors[:, 4:], ("hand",), hand)


def _limits(played: Played, found: Report) -> None:
    """Report arm and gripper beyond their limits, by offsets and multipliers."""
    if played.arm is None:
        return
    # (T, 7) [rad] beyond a limit; negative within the limits.
    keys = played.animation.keyframes
    angles, (lower, upper) = played.joints[:, 12:], LIMITS[12:].T
    excess = np.maximum(lower - angles, angles - upper)
    # Where the keyframes themselves exceed a limit, CHA rules report it.
    for k, column in enumerate((*ARM, "gripper")):
        if (
            keys.has(column)
            and (
                (keys.column(column) < lower[k]) | (keys.column(column) > upper[k])
            ).any()
        ):
            excess[:, k] = 0.0
    text = "{name} would be {amount:.3f} rad beyond its limits"
    found.worst(
        rules.JOINT_LIMIT,
        # 1e-4 rad: the published limits have four digits.
        played.known[:, None] & (excess > 1e-4),
        excess,
        JOINT_NAMES[12:],
        text,
    )


def _speeds(played: Played, found: Report) -> None:
    """Report joints and feet that are too fast."""
    if len(played.times) < 2:
        return
    # A rate needs both of its frames to be reliable.
    reliable = (played.reliable[1:] & played.reliable[:-1])[:, None]
    rates = np.abs(played.rates(played.joints))
    # One limit per column; without arm only the first twelve.
    limits = np.array([MAX_LEG_SPEED] * 12 + [MAX_ARM_SPEED] * 6 + [MAX_GRIPPER_SPEED])[
        : rates.shape[1]
    ]
    # Shares of the limits make legs and arm comparable.
    shares = rates / limits
    names = JOINT_NAMES[: rates.shape[1]]
    worst = int(np.argmax(np.where(reliable, shares, 0.0).max(axis=0)))
    text = f"{{name}} rotates at {{amount:.2f}} times its {limits[worst]:g} rad/s"
    found.worst(rules.JOINT_SPEED, reliable & (shares > 1), shares, names, text)
    # (T − 1, 4) [m/s] of the feet in the world.
    speeds = np.linalg.norm(played.rates(played.feet), axis=-1)
    fast = reliable & (speeds > MAX_FOOT_SPEED)
    found.worst(
        rules.FOOT_SPEED, fast, speeds, LEGS, "foot {name} moves at {amount:.1f} m/s"
    )


def _feet(played: Played, found: Report) -> None:
    """Report feet that slip, float above the floor or come too close."""
    if not played.tracks.has_legs:
        return
    # Feet that the animation does not move are where they were: nothing to check.
    above = played.feet[:, :, 2] - played.floor
    # Slip is horizontal, and counted from the begin of each contact.
    slip = _slip(
        played.feet[:, :, :2],
        played.contact & played.known[:, None],
        played.timing.rounds,
    )
    reliable = played.reliable[:, None]
    text = "foot {name} slips by {amount:.3f} m while it is in contact,"
    found.worst(rules.SLIP, reliable & (slip > MAX_SLIP), slip, LEGS, text)
    wrong = played.contact & (above > FLOOR_TOLERANCE)
    text = "foot {name} is in contact {amount:.3f} m above the floor"
    found.worst(rules.ABOVE_FLOOR, reliable & wrong, above, LEGS, text)
    # All six pairs of four feet; the distances are (T, 6).
    pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
    distances = np.stack(
        [
            np.linalg.norm(played.feet[:, a] - played.feet[:, b], axis=-1)
            for a, b in pairs
        ],
        axis=1,
    )
    # Keyframes that are only filled in say nothing about distances.
    distances[~played.known] = np.inf
    frame, near = (
        int(k) for k in np.unravel_index(np.argmin(distances), distances.shape)
    )
    if distances[frame, near] < MIN_FEET_DISTANCE:
        one, two = (LEGS[k] for k in pairs[near])
        distance = float(distances[frame, near])
        text = f"feet {one} and {two} come within {distance:.3f} m of each other"
        found.add(rules.FEET_DISTANCE, text, frame, amount=distance)


def _slip(positions: Floats, contact: Bools, rounds: Indices) -> Floats:
    """Return how far (T, 4) [m] feet slip from where their contacts began.

    Feet at (T, 4, 2), contacts (T, 4).
    """
    # A contact also begins anew where a loop starts again, in another frame.
    begins = contact.copy()
    begins[1:] &= ~contact[:-1] | (np.diff(rounds) != 0)[:, None]
    # (T, 4) the frame in which the current contact began.
    since = np.maximum.accumulate(np.where(begins, np.arange(len(contact))[:, None], 0))
    starts = np.take_along_axis(positions, since[..., None], axis=0)
    return np.where(contact, np.linalg.norm(positions - starts, axis=-1), 0.0)


def _balance(played: Played, found: Report) -> None:
    """Report a low body, a centre of mass outside the support, and long flights."""
    height = played.body[:, 2] - played.floor
    # A robot that sits has its body on the floor.
    if "starts_sitting" not in played.animation.options:
        low = played.reliable & (height < MIN_BODY_HEIGHT)
        text = (
            f"the body's origin is {{amount:.3f}} m less than {MIN_BODY_HEIGHT:g} m "
            "above the floor"
        )
        found.worst(
            rules.BODY_CLEARANCE,
            low[:, None],
            (MIN_BODY_HEIGHT - height)[:, None],
            ("body",),
            text,
        )
    if not (played.tracks.has_legs or played.tracks.has_body):
        return
    # Quasi-static check: horizontal projection of the centre of mass.
    center = center_of_mass(played.body, played.legs, played.arm)[:, :2]
    outside = distance_outside(center, played.feet[:, :, :2], played.contact)
    # Without feet in contact the distance is NaN.
    airborne = np.isnan(outside)
    unsupported = np.where(airborne, 0.0, outside) > MAX_OUTSIDE
    far = "the centre of mass is up to {:.2f} m outside the support polygon"
    for rule, wrong, text in (
        (rules.SUPPORT, unsupported, far),
        (rules.AIRBORNE, airborne, "no foot is in contact"),
    ):
        # The first run that is long enough is reported, one problem for each rule.
        for first, end in runs(wrong & played.known):
            last = int(end) - 1
            seconds = float(played.times[last] - played.times[first])
            if seconds > MAX_UNSUPPORTED_TIME and played.reliable[first:end].all():
                # Airborne frames have NaN: their amount is 0.
                most = float(np.nan_to_num(outside[first:end]).max())
                begin = found.moments[first]
                message = (
                    f"{text.format(most)} for {seconds:.2f} s from {begin:.2f} s on"
                )
                found.add(rule, message, int(first), amount=most, seconds=seconds)
                break


def _start_and_end(played: Played, found: Report) -> None:
    """Check the first pose, the jump of a loop, and whether the end is cut off."""
    # A jump of the body at the start or the end would be reported twice.
    if played.reliable[0]:
        _check_frame(played, found)
        _check_start(played, found)
    if played.reliable[0] and played.reliable[-1]:
        problems = loop_problems(played.animation, played.tracks, played.timing)
        found.diagnostics.extend(problems)
    times = played.timing
    duration = played.animation.duration
    # An animation with bpm is rounded down to whole slices at its tempo.
    shown = times.natural * times.seconds_per_slice
    if played.animation.bpm is not None and shown < duration - ON_KEYFRAME:
        cut = duration - shown
        message = f"at {times.bpm:g} beats per minute the last {cut:.3f} s are cut off"
        found.add(rules.CUT_OFF, message, len(played.times) - 1, seconds=cut)


def _check_frame(played: Played, found: Report) -> None:
    """Check that the feet start around the origin of the animation frame."""
    tracks = played.tracks
    # The frame can be checked where positions refer to it: body and legs both given, or
    # all feet by position.
    by_body = tracks.has_body and not tracks.by_center_of_mass and tracks.has_legs
    if not by_body and not tracks.legs_by_feet.all():
        return
    start = np.zeros(1)
    frame = footprint(tracks.feet(start, tracks.body_poses(start))[0])
    middle = frame[:3]
    # The frame (7,) is a yaw only: q = (cos(yaw/2), 0, 0, sin(yaw/2)).
    yaw = 2 * float(np.arctan2(frame[6], frame[3]))
    if np.abs(middle).max() > MAX_FRAME_OFFSET or abs(yaw) > MAX_FRAME_YAW:
        position = ", ".join(f"{value:.3f}" for value in middle)
        message = (
            f"the centre of the feet is at ({position}) m with a yaw of {yaw:.2f} rad"
        )
        found.add(rules.FRAME, message, yaw=yaw)


def _check_start(played: Played, found: Report) -> None:
    """Check that the body is not far from its pose before, where nothing blends."""
    # With an entry time the controller blends from the pose before.
    entry = settings(played.animation)["body_entry_slices"]
    if not played.tracks.has_body or entry != 0:
        return
    # The pose before seen from the first pose: a rotation by 2·atan2(|vector|, |w|).
    gap = poses.compose(poses.inverse(played.before.body), played.body[0])
    distance = float(np.linalg.norm(gap[:3]))
    angle = 2 * float(np.arctan2(np.linalg.norm(gap[4:]), abs(gap[3])))
    # The limit in radians is twice that in metres.
    if distance > MAX_START_STEP or angle > 2 * MAX_START_STEP:
        message = (
            f"the body starts {distance:.2f} m and {angle:.2f} rad away from its pose "
            "before the move"
        )
        found.add(rules.START, message, distance=distance, angle=angle)


def _gait_cycle(played: Played, found: Report) -> None:
    """Report problems of a custom gait cycle at feet whose contacts are inferred.

    The rules of the format check feet that have columns.
    """
    animation, locations = played.animation, played.animation.source.locations
    frames = animation.keyframes
    controls = animation.controls
    # No controls at all: the file lacks them, and other rules say so.
    if "custom_gait_cycle" not in animation.options or (
        controls and "legs" not in controls
    ):
        return
    checked = Checked(animation, found.diagnostics, locations if locations else None)
    contacts = Tracks(animation, played.before, played.before.frame).contacts(
        frames.times
    )
    for k, leg in enumerate(LEGS):
        # Contacts are inferred from the columns of the leg, so a fault is located at
        # the first of them.
        column = next(
            (name for name in frames.columns if name.startswith(f"{leg}_")), None
        )
        if column is not None and not frames.has(f"{leg}_contact"):
            check_swings(
                checked, leg, column, contacts[:, k], ", as inferred from its motion"
            )
