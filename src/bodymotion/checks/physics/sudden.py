"""Jumps and spikes: sudden changes of position and of speed, of joints and of the root.

Between frames k − 1 and k the speed is v_k = (q_k − q_(k−1))/Δt. A frame is sudden
where all three hold:

- The speed changes by more than `speed` + `acceleration`·Δt. No strong motor does that,
  at any frame rate.
- That change moves by more than `step` in one frame. Rounding to few digits at a high
  frame rate stays below it.
- The change is more than `RATIO` times the median change of the frames around it. A
  motion that is quick everywhere stays below it.

Where only the first two hold, for `MIN_TREMBLING` seconds and in every second frame or
more, the motion trembles.

The movement that remains after the motion of the frames before and after is subtracted
distinguishes a jump (it does not come back) from a spike (it comes back, or there is
only a corner).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bodymotion.checks.findings import (
    MAX_MOMENTS,
    Finding,
    Moment,
    Run,
    Sampling,
    finding,
    runs,
)
from bodymotion.checks.physics import rules
from bodymotion.diagnostics import Rule
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.model.body import Body
from bodymotion.motion.interpolation import find_wraps, unwrapped

RATIO = 8.0  # How many times the median change around it a sudden change is.
FIRST_NEIGHBOUR = 3
LAST_NEIGHBOUR = 10
"""The frames around a frame are the third to the tenth on both sides.

A jump or a spike itself takes up to three frames.
"""

MIN_TREMBLING = 0.1  # [s] The shortest trembling; a shorter one is a spike.
MAX_FRAMES_APART = (
    2  # Sudden changes of several joints at most this many frames apart are one moment.
)
MAX_FLIP_PRODUCT = -0.5
"""Unit quaternions with a product below this have opposite signs, and orientations less than 120° apart."""


@dataclass(frozen=True)
class Scale:
    """The thresholds for sudden changes.

    `speed` [unit/s], `acceleration` [unit/s²], `step` [unit]; see the module.
    """

    speed: float
    acceleration: float
    step: float


ANGLES = Scale(2.0, 200.0, 0.01)
"""For rotating joints [rad].

Joints of humanoids reach 10 rad/s in 0.1 s; this is ten times as much.
"""
SLIDES = Scale(
    0.5, 50.0, 0.002
)  # For sliding joints [m]: what a rotating joint does at the end of an arm of 0.25 m.
POSITIONS = Scale(1.0, 100.0, 0.005)
"""For the position of the root [m].

Ten times gravity, and the speed after a fall of 5 cm.
"""
ROTATIONS = Scale(2.0, 200.0, 0.01)  # For the orientation of the root [rad].


@dataclass(frozen=True)
class Sudden:
    """A sudden change in frames `first` to `last`, the largest in frame `worst`.

    Attributes
    ----------
    before:
        The frame before the largest step.
    jump:
        [unit] The size of a jump, 0 for a spike.
    change:
        [unit/s] The change of speed.
    amount:
        `change` as a multiple of the allowed change.
    median_change:
        [unit/s] The median change in the frames around.
    """

    first: int
    last: int
    worst: int
    before: int
    jump: float
    change: float
    amount: float
    median_change: float


def sudden(
    steps: Floats, times: Floats, scale: Scale
) -> tuple[list[Sudden], list[Run]]:
    """Return the sudden changes in a motion of frames at `times` (T,) [s] and steps (T − 1, N), and the runs in which it trembles.

    Of more than `MAX_MOMENTS` only the worst are returned. They are in order of time.
    """
    gaps = np.diff(times)
    speeds = steps / gaps[:, None]
    change = _lengths(np.diff(speeds, axis=0))
    allowed = scale.speed + scale.acceleration * 0.5 * (gaps[1:] + gaps[:-1])
    shorter = np.minimum(gaps[1:], gaps[:-1])
    share = change / allowed
    # Changes that are too large for a number are unknown, as those of numbers that are
    # not finite.
    large = np.flatnonzero(
        (share > 1.0) & (share < np.inf) & (change * shorter > scale.step)
    )
    if not len(large):
        return [], []
    median = _median_around(change, large)
    isolated = change[large] > RATIO * median
    amount, around = np.zeros((2, len(change)))
    amount[large[isolated]] = share[large[isolated]]
    around[large] = median
    found = []
    # In numbers of frames: one frame may lie between two sudden ones.
    for run in runs(amount, np.arange(len(amount), dtype=np.float64), bridge=1.0)[0]:
        first = run.first
        last = run.last
        at = run.worst
        jump, before = _jump(steps, speeds, gaps, first, last, scale)
        found.append(
            Sudden(
                first + 1,
                last + 1,
                at + 1,
                before,
                jump,
                float(change[at]),
                run.amount,
                float(around[at]),
            )
        )
    if len(large) <= 4:
        return found, []
    trembles = np.zeros(len(times))
    large = large[change[large] <= RATIO * median]
    trembles[large + 1] = share[large]
    # Every second frame is enough.
    between = (trembles[1:-1] == 0) & (trembles[2:] > 0) & (trembles[:-2] > 0)
    trembles[1:-1][between] = np.nextafter(1.0, 2.0)
    return found, runs(trembles, times, min_duration=MIN_TREMBLING)[0]


def _jump(
    steps: Floats, speeds: Floats, gaps: Floats, first: int, last: int, scale: Scale
) -> tuple[float, int]:
    """Return the size of the jump in steps `first` to `last + 1` (0 for a spike), and the frame before the largest step."""
    inside = slice(first, last + 2)
    outer = [k for k in (first - 1, last + 2) if 0 <= k < len(speeds)]
    unknown = [k for k in outer if not np.isfinite(speeds[k]).all()]
    around = [speeds[k] for k in outer if k not in unknown]
    if around:
        expected = 0.5 * (around[0] + around[-1])
    else:
        expected = np.zeros(steps.shape[1])
    remaining = steps[inside] - expected * gaps[inside, None]
    sizes = _lengths(remaining)
    whole = float(_lengths(remaining.sum(axis=0)))
    before = first + int(np.argmax(sizes))
    # A step beside an unknown one may come back there.
    jumps = whole > max(0.5 * float(sizes.max()), scale.step) and not {
        before - 1,
        before + 1,
    } & {*unknown}
    return (whole if jumps else 0.0), before


def _lengths(vectors: Floats) -> Floats:
    """Return the lengths (...) of vectors (..., N).

    The squares of large numbers would be too large.
    """
    return np.asarray(np.hypot.reduce(np.abs(vectors), axis=-1))


def _median_around(change: Floats, frames: Indices) -> Floats:
    """Return the median of `change` in the frames around each of `frames`.

    0 where there is no such frame.
    """
    neighbours = np.arange(FIRST_NEIGHBOUR, LAST_NEIGHBOUR + 1)
    indices = frames[:, None] + np.concatenate([-neighbours, neighbours])
    exists = (indices >= 0) & (indices < len(change))
    # NaN comes last. `np.nanmedian` would load NumPy's masked arrays.
    values = np.sort(
        np.where(exists, change[np.clip(indices, 0, len(change) - 1)], np.nan), axis=1
    )
    rows = np.arange(len(frames))
    count = (~np.isnan(values)).sum(axis=1)
    middle = 0.5 * (
        values[rows, (count - 1) // 2] + values[rows, count // 2 % values.shape[1]]
    )
    return np.where(np.isfinite(values).any(axis=1), middle, 0.0)


Part: TypeAlias = tuple[
    Floats, Scale, str, str
]  # Steps (T − 1, N), their thresholds, the name of the joint, the unit.


def jumps_of_joints(q: Floats, frames: Sampling, body: Body) -> list[Finding]:
    """Return the jumps, spikes, jumps by full turns, and the trembling of joint values (T, J)."""
    parts: list[Part] = []
    full_turns: list[Moment] = []
    columns = _changing_columns(q, np.diff(frames.times))
    rotates = columns[[body.joints[column].type == "rotate" for column in columns]]
    values = np.array(q)
    values[:, rotates] = unwrapped(q[:, rotates])
    for column in columns.tolist():
        joint = body.joints[column]
        link = body.joint_links[column]
        if link < 0 or joint.type not in ("rotate", "slide"):
            continue
        name = joint.name or body.links[link].name
        if (values[:, column] != q[:, column]).any():
            wraps = find_wraps(q[:, [column]])
        else:
            wraps = ()
        for wrap in wraps[:MAX_MOMENTS]:
            turns = abs(wrap.turns)
            at = wrap.frame
            if turns == 1:
                size = "a full turn"
            else:
                size = f"{turns} full turns"
            message = (
                f"{name!r} jumps by {size} from frame {at - 1} to {frames.when(at)}"
            )
            full_turns.append(
                frames.moment(
                    rules.FULL_TURN, Run(at, at, at, float(turns)), message, name
                )
            )
        scale, unit = (ANGLES, "rad") if joint.type == "rotate" else (SLIDES, "m")
        parts.append((np.diff(values[:, [column]], axis=0), scale, name, unit))
    return _jumps_and_spikes(
        rules.JOINT_JUMPS, rules.JOINT_SPIKE, parts, frames, full_turns
    )


def _changing_columns(q: Floats, gaps: Floats) -> Indices:
    """Return the columns of joint values (T, J) in which a speed changes enough for a sliding joint, or a value by half a turn."""
    steps = np.diff(q, axis=0)
    change = np.abs(np.diff(steps / gaps[:, None], axis=0))
    allowed = SLIDES.speed + SLIDES.acceleration * 0.5 * (gaps[1:] + gaps[:-1])
    return np.flatnonzero(
        (change > allowed[:, None]).any(axis=0) | (np.abs(steps) > np.pi).any(axis=0)
    )


def jumps_of_root(root: Floats, frames: Sampling) -> list[Finding]:
    """Return the jumps, spikes and the trembling of root poses (T, 7), in position and in orientation."""
    units = rotations.normalized(root[:, 3:])
    axes, angles = rotations.to_axis_angle(
        rotations.multiply(rotations.conjugate(units[:-1]), units[1:])
    )
    position = np.diff(root[:, :3], axis=0)
    turn = axes * angles[:, None]
    turn[~np.isfinite(np.diff(root[:, 3:], axis=0)).all(axis=1)] = np.nan
    parts = [(position, POSITIONS, "", "m"), (turn, ROTATIONS, "", "rad")]
    return _jumps_and_spikes(rules.ROOT_JUMPS, rules.ROOT_SPIKE, parts, frames)


def sign_flips(quaternions: Floats, frames: Sampling) -> list[Finding]:
    """Return the frames in which quaternions (T, 4) change their sign."""
    lengths = np.sum(quaternions * quaternions, axis=1)
    product = np.sum(quaternions[1:] * quaternions[:-1], axis=1)
    flipped = (
        np.flatnonzero(product < MAX_FLIP_PRODUCT * np.sqrt(lengths[1:] * lengths[:-1]))
        + 1
    )
    moments = []
    for frame in flipped[:MAX_MOMENTS].tolist():
        message = f"the root's quaternion changes its sign in {frames.when(frame)}"
        moments.append(
            frames.moment(
                rules.SIGN_FLIP, Run(frame, frame, frame, 1.0), message, "root"
            )
        )
    return finding(rules.SIGN_FLIP, moments, len(flipped))


def _jumps_and_spikes(
    jumps: Rule,
    spikes: Rule,
    parts: list[Part],
    frames: Sampling,
    full_turns: Sequence[Moment] = (),
) -> list[Finding]:
    """Return the findings of sudden changes, where those of several joints at the same time are one moment, full turns, and trembling."""
    found: list[tuple[Sudden, str, str]] = []
    trembles: list[Moment] = []
    for steps, scale, name, unit in parts:
        changes, shaking = sudden(steps, frames.times, scale)
        found += [(event, name, unit) for event in changes]
        for shake in shaking:
            span = f"from t = {frames.times[shake.first]:.2f} s to {frames.times[shake.last]:.2f} s"
            message = f"{repr(name) if name else 'the root'} oscillates {span}, worst in {frames.when(shake.worst)}"
            trembles.append(frames.moment(rules.OSCILLATION, shake, message, name))
    findings = []
    for rule, kind in ((jumps, True), (spikes, False)):
        of_kind = [one for one in found if bool(one[0].jump) is kind]
        largest = np.full(len(frames.times), np.nan)
        for event, _, _ in of_kind:
            part = slice(event.first, event.last + 1)
            largest[part] = np.fmax(largest[part], event.amount)
        moments = []
        numbers = np.arange(len(largest), dtype=np.float64)
        for around in runs(
            largest, numbers, bridge=MAX_FRAMES_APART - 1.0, max_runs=len(largest)
        )[0]:
            inside = [
                one for one in of_kind if around.first <= one[0].first <= around.last
            ]
            event, name, unit = max(inside, key=lambda one: one[0].amount)
            others = sorted({other for _, other, _ in inside if other != name})
            message = _message(event, name, unit, frames)
            if others:
                if len(others) > 1:
                    also = f"so do {len(others)} other joints"
                else:
                    also = f"so does {others[0]!r}"
                message += f", and {also}"
            start, end = (
                (event.before, event.before + 1)
                if event.jump
                else (event.first, event.last)
            )
            run = Run(start, end, end if event.jump else event.worst, event.amount)
            moments.append(frames.moment(rule, run, message, name))
        findings += finding(rule, moments)
    return (
        findings
        + finding(rules.FULL_TURN, full_turns)
        + finding(rules.OSCILLATION, trembles)
    )


def _message(event: Sudden, name: str, unit: str, frames: Sampling) -> str:
    if name:
        name_or_root = repr(name)
    elif unit == "m":
        name_or_root = "the root"
    else:
        name_or_root = "the root's orientation"
    if event.jump:
        if unit == "m":
            size = f"{event.jump * 1000:.3g} mm"
        else:
            size = f"{event.jump:.3g} rad ({np.degrees(event.jump):.3g}°)"
        return f"{name_or_root} jumps by {size} from frame {event.before} to {frames.when(event.before + 1)}"
    size = f"{event.change:.3g} {unit}/s"
    median = f"{event.median_change:.2g} {unit}/s"
    return f"the speed of {name_or_root} changes by {size} in {frames.when(event.worst)}; the median change around it is {median}"
