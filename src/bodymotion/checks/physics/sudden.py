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
from typing import NamedTuple

import numpy as np

from bodymotion.checks.findings import (
    MAX_MOMENTS,
    Finding,
    Moment,
    Run,
    Sampling,
    driven_columns,
    find_runs,
    joint_name,
    make_finding,
)
from bodymotion.checks.physics import rules
from bodymotion.diagnostics import Rule
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.model.body import Body
from bodymotion.motion.interpolation import find_wraps, unwrapped

# How many times the median change around it a sudden change is.
RATIO = 8.0
FIRST_NEIGHBOUR = 3
# The frames around a frame are the third to the tenth on both sides. A jump or a spike
# itself takes up to three frames.
LAST_NEIGHBOUR = 10
# Up to this number of large changes is no trembling.
FEW_CHANGES = 4
# [s] The shortest trembling; a shorter one is a spike.
MIN_TREMBLING = 0.1
# Sudden changes of several joints at most this many frames apart are one moment.
MAX_FRAMES_APART = 2
# Unit quaternions with a product below this have opposite signs. Their orientations are
# less than 120° apart.
MAX_FLIP_PRODUCT = -0.5


@dataclass(frozen=True)
class Scale:
    """The thresholds for sudden changes.

    `speed` [unit/s], `acceleration` [unit/s²], `step` [unit]; see the module.
    """

    speed: float
    acceleration: float
    step: float

    def allow(self, gaps: Floats) -> Floats:
        """Return the allowed changes (T − 2,) of speed for T − 1 durations."""
        return self.speed + self.acceleration * 0.5 * (gaps[1:] + gaps[:-1])


# For rotating joints [rad]. Joints of humanoids reach 10 rad/s in 0.1 s; this is ten
# times as much.
ANGLES = Scale(speed=2.0, acceleration=200.0, step=0.01)
# For sliding joints [m]. What a rotating joint does at the end of an arm of 0.25 m.
SLIDES = Scale(speed=0.5, acceleration=50.0, step=0.002)
# For the position of the root [m]. Ten times gravity, and the speed after a fall of 5
# cm.
POSITIONS = Scale(speed=1.0, acceleration=100.0, step=0.005)
# For the orientation of the root [rad].
ROTATIONS = Scale(speed=2.0, acceleration=200.0, step=0.01)


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


class _LargeChanges(NamedTuple):
    """The frames (N,) in which a speed changes by more than is allowed.

    The `changes` (N,) [unit/s], the same as multiples of what is allowed, and the
    median changes (N,) [unit/s] around. Number 0 is the second frame of the motion.
    """

    frames: Indices
    changes: Floats
    shares: Floats
    medians: Floats


def find_sudden(
    steps: Floats, times: Floats, scale: Scale
) -> tuple[list[Sudden], list[Run]]:
    """Return sudden changes, and runs in which a motion trembles.

    Frames at `times` (T,) [s], steps (T − 1, N) between them. Of more than
    `MAX_MOMENTS` only the worst are returned. They are in order of time.
    """
    gaps = np.diff(times)
    speeds = steps / gaps[:, None]
    large = _find_large_changes(speeds, gaps, scale)
    if not len(large.frames):
        return [], []
    # A sudden change stands out from those around it; where all are large, it trembles.
    is_isolated = large.changes > RATIO * large.medians
    changes = _Steps(steps, speeds, gaps, scale).find_changes(large, is_isolated)
    if len(large.frames) <= FEW_CHANGES:
        return changes, []
    return changes, _find_trembling(large, ~is_isolated, times)


def _find_large_changes(speeds: Floats, gaps: Floats, scale: Scale) -> _LargeChanges:
    change = _lengths(np.diff(speeds, axis=0))
    share = change / scale.allow(gaps)
    shorter = np.minimum(gaps[1:], gaps[:-1])
    # Changes that are too large for a number are unknown, as those of numbers that are
    # not finite.
    is_large = (share > 1.0) & (share < np.inf) & (change * shorter > scale.step)
    frames = np.flatnonzero(is_large)
    medians = _median_around(change, frames) if len(frames) else change[frames]
    return _LargeChanges(frames, change[frames], share[frames], medians)


def _find_trembling(
    large: _LargeChanges, is_trembling: Bools, times: Floats
) -> list[Run]:
    """Return the runs of large changes, at least in every second frame."""
    trembles = np.zeros(len(times))
    trembles[large.frames[is_trembling] + 1] = large.shares[is_trembling]
    # A frame between two that tremble is just above the threshold.
    between = (trembles[1:-1] == 0) & (trembles[2:] > 0) & (trembles[:-2] > 0)
    trembles[1:-1][between] = np.nextafter(1.0, 2.0)
    return find_runs(trembles, times, min_duration=MIN_TREMBLING)[0]


@dataclass(frozen=True)
class _Steps:
    """Steps (T − 1, N), their speeds [unit/s] and durations (T − 1,) [s]."""

    steps: Floats
    speeds: Floats
    gaps: Floats
    scale: Scale

    def find_changes(self, large: _LargeChanges, is_isolated: Bools) -> list[Sudden]:
        """Return the isolated ones of large changes; neighbours are one."""
        num_changes = len(self.gaps) - 1
        amount, changes, medians = np.zeros((3, num_changes))
        amount[large.frames[is_isolated]] = large.shares[is_isolated]
        changes[large.frames] = large.changes
        medians[large.frames] = large.medians
        # Durations are numbers of frames: one may lie between two sudden ones.
        numbers = np.arange(num_changes, dtype=np.float64)
        sudden = []
        for run in find_runs(amount, numbers, bridge=1.0)[0]:
            jump, before = self._measure_jump(run.first, run.last)
            sudden.append(
                Sudden(
                    first=run.first + 1,
                    last=run.last + 1,
                    worst=run.worst + 1,
                    before=before,
                    jump=jump,
                    change=float(changes[run.worst]),
                    amount=run.amount,
                    median_change=float(medians[run.worst]),
                )
            )
        return sudden

    def _measure_jump(self, first: int, last: int) -> tuple[float, int]:
        """Return the size of the jump in steps `first` to `last + 1`.

        0 for a spike. And the frame before the largest step.
        """
        # What remains of the steps after the motion around them is subtracted.
        inside = slice(first, last + 2)
        neighbours = [k for k in (first - 1, last + 2) if 0 <= k < len(self.speeds)]
        known = [k for k in neighbours if np.isfinite(self.speeds[k]).all()]
        expected = np.zeros(self.steps.shape[1])
        if known:
            expected = 0.5 * (self.speeds[known[0]] + self.speeds[known[-1]])
        remaining = self.steps[inside] - expected * self.gaps[inside, None]

        sizes = _lengths(remaining)
        size = float(_lengths(remaining.sum(axis=0)))
        before = first + int(np.argmax(sizes))
        # A step beside an unknown one may come back there.
        for unknown in set(neighbours) - set(known):
            if unknown in (before - 1, before + 1):
                return 0.0, before
        # A spike comes back by at least half of its largest step.
        if size > max(0.5 * float(sizes.max()), self.scale.step):
            return size, before
        return 0.0, before


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
    values = np.where(exists, change.take(indices, mode="clip"), np.nan)
    # NaN comes last. `np.nanmedian` would load NumPy's masked arrays.
    values.sort(axis=1)
    rows = np.arange(len(frames))
    count = (~np.isnan(values)).sum(axis=1)
    # Without any number these indices are −1 and 0.
    lower = values[rows, (count - 1) // 2]
    upper = values[rows, count // 2 % values.shape[1]]
    has_median = np.isfinite(values).any(axis=1)
    return np.where(has_median, 0.5 * (lower + upper), 0.0)


class Part(NamedTuple):
    """Steps (T − 1, N) of a joint or of the root, with their thresholds.

    The name of the joint is "" for the root.
    """

    steps: Floats
    scale: Scale
    name: str
    unit: str


def jumps_of_joints(q: Floats, frames: Sampling, body: Body) -> list[Finding]:
    """Return the jumps, spikes, full turns and trembling of joint values (T, J)."""
    changing = _changing_columns(q, np.diff(frames.times))
    columns = np.intersect1d(driven_columns(body, "rotate", "slide"), changing)
    columns = columns.astype(int)
    rotates = [body.joints[column].type == "rotate" for column in columns]
    rotating = columns[rotates]
    values = np.array(q)
    # A jump by full turns is another fault: it is reported apart.
    values[:, rotating] = unwrapped(q[:, rotating])
    parts = []
    full_turns: list[Moment] = []
    for column in columns.tolist():
        name = joint_name(body, column)
        steps = np.diff(values[:, [column]], axis=0)
        if column not in rotating:
            parts.append(Part(steps, SLIDES, name, "m"))
            continue
        parts.append(Part(steps, ANGLES, name, "rad"))
        if (values[:, column] != q[:, column]).any():
            full_turns += _find_full_turns(q[:, [column]], frames, name)
    return _check_parts(rules.JOINT_JUMPS, rules.JOINT_SPIKE, parts, frames, full_turns)


def _changing_columns(q: Floats, gaps: Floats) -> Indices:
    """Return the columns that may have a sudden change.

    Of joint values (T, J).

    A speed changes enough for a sliding joint, or a value by half a turn.
    """
    steps = np.diff(q, axis=0)
    change = np.abs(np.diff(steps / gaps[:, None], axis=0))
    changes = (change > SLIDES.allow(gaps)[:, None]).any(axis=0)
    turns = (np.abs(steps) > np.pi).any(axis=0)
    return np.flatnonzero(changes | turns)


def _find_full_turns(values: Floats, frames: Sampling, name: str) -> list[Moment]:
    """Return the jumps by full turns in the values (T, 1) of a joint."""
    moments = []
    for wrap in find_wraps(values)[:MAX_MOMENTS]:
        turns = abs(wrap.turns)
        frame = wrap.frame
        size = "a full turn" if turns == 1 else f"{turns} full turns"
        message = (
            f"{name!r} jumps by {size} from frame {frame - 1} to {frames.when(frame)}"
        )
        run = Run(frame, frame, frame, float(turns))
        moments.append(frames.moment(rules.FULL_TURN, run, message, name))
    return moments


def jumps_of_root(root: Floats, frames: Sampling) -> list[Finding]:
    """Return the jumps, spikes and the trembling of root poses (T, 7).

    In position and in orientation.
    """
    position = np.diff(root[:, :3], axis=0)
    units = rotations.normalized(root[:, 3:])
    between = rotations.multiply(rotations.conjugate(units[:-1]), units[1:])
    axes, angles = rotations.to_axis_angle(between)
    # (T − 1, 3) [rad] Rotation vectors from each frame to the next.
    rotation = axes * angles[:, None]
    is_known = np.isfinite(np.diff(root[:, 3:], axis=0)).all(axis=1)
    rotation[~is_known] = np.nan
    parts = [
        Part(position, POSITIONS, "", "m"),
        Part(rotation, ROTATIONS, "", "rad"),
    ]
    return _check_parts(rules.ROOT_JUMPS, rules.ROOT_SPIKE, parts, frames)


def sign_flips(quaternions: Floats, frames: Sampling) -> list[Finding]:
    """Return the frames in which quaternions (T, 4) change their sign."""
    # q and −q are the same orientation: near −1, the product of neighbours shows a
    # flip.
    squares = np.sum(quaternions * quaternions, axis=1)
    products = np.sum(quaternions[1:] * quaternions[:-1], axis=1)
    is_flipped = products < MAX_FLIP_PRODUCT * np.sqrt(squares[1:] * squares[:-1])
    flipped = np.flatnonzero(is_flipped) + 1
    moments = []
    for frame in flipped[:MAX_MOMENTS].tolist():
        message = f"the root's quaternion changes its sign in {frames.when(frame)}"
        run = Run(frame, frame, frame, 1.0)
        moments.append(frames.moment(rules.SIGN_FLIP, run, message, "root"))
    return make_finding(rules.SIGN_FLIP, moments, len(flipped))


class _Event(NamedTuple):
    """A sudden change of a part."""

    change: Sudden
    part: Part


def _check_parts(
    jump: Rule,
    spike: Rule,
    parts: list[Part],
    frames: Sampling,
    full_turns: Sequence[Moment] = (),
) -> list[Finding]:
    """Return the findings of sudden changes, full turns, and trembling."""
    jumps: list[_Event] = []
    spikes: list[_Event] = []
    trembling = []
    for part in parts:
        changes, runs = find_sudden(part.steps, frames.times, part.scale)
        for change in changes:
            events = jumps if change.jump else spikes
            events.append(_Event(change, part))
        for run in runs:
            trembling.append(_describe_trembling(run, part.name, frames))
    return [
        *make_finding(jump, _join_events(jump, jumps, frames)),
        *make_finding(spike, _join_events(spike, spikes, frames)),
        *make_finding(rules.FULL_TURN, full_turns),
        *make_finding(rules.OSCILLATION, trembling),
    ]


def _describe_trembling(run: Run, name: str, frames: Sampling) -> Moment:
    start = frames.times[run.first]
    end = frames.times[run.last]
    message = (
        f"{repr(name) if name else 'the root'} oscillates from t = {start:.2f} s to "
        f"{end:.2f} s, worst in {frames.when(run.worst)}"
    )
    return frames.moment(rules.OSCILLATION, run, message, name)


def _join_events(rule: Rule, events: list[_Event], frames: Sampling) -> list[Moment]:
    """Return the moments of sudden changes; those at the same time are one."""
    amounts = np.full(len(frames.times), np.nan)
    for event in events:
        rows = slice(event.change.first, event.change.last + 1)
        amounts[rows] = np.fmax(amounts[rows], event.change.amount)
    # Durations are numbers of frames.
    numbers = np.arange(len(amounts), dtype=np.float64)
    together, _ = find_runs(
        amounts, numbers, bridge=MAX_FRAMES_APART - 1.0, max_runs=len(amounts)
    )
    moments = []
    for run in together:
        inside = [
            event for event in events if run.first <= event.change.first <= run.last
        ]
        worst = max(inside, key=lambda event: event.change.amount)
        others = {event.part.name for event in inside} - {worst.part.name}
        message = _describe_event(worst, frames)
        if len(others) > 1:
            message += f", and so do {len(others)} other joints"
        elif others:
            message += f", and so does {others.pop()!r}"
        moments.append(
            frames.moment(rule, _frames_of(worst.change), message, worst.part.name)
        )
    return moments


def _frames_of(change: Sudden) -> Run:
    """Return the frames of a spike, or the frames before and after a jump."""
    if change.jump:
        after = change.before + 1
        return Run(change.before, after, after, change.amount)
    return Run(change.first, change.last, change.worst, change.amount)


def _describe_event(event: _Event, frames: Sampling) -> str:
    """Return the sentence about a jump or a spike."""
    change = event.change
    unit = event.part.unit
    if event.part.name:
        subject = repr(event.part.name)
    elif unit == "m":
        subject = "the root"
    else:
        subject = "the root's orientation"
    if not change.jump:
        return (
            f"the speed of {subject} changes by {change.change:.3g} {unit}/s in "
            f"{frames.when(change.worst)}; the median change around it is "
            f"{change.median_change:.2g} {unit}/s"
        )
    if unit == "m":
        size = f"{change.jump * 1000:.3g} mm"
    else:
        size = f"{change.jump:.3g} rad ({np.degrees(change.jump):.3g}°)"
    after = frames.when(change.before + 1)
    return f"{subject} jumps by {size} from frame {change.before} to {after}"
