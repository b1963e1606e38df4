"""Jumps and spikes: sudden changes of position and of speed, of joints and of the root.

Between frames k − 1 and k the speed is v_k = (q_k − q_(k−1))/Δt. A frame is sudden where all three hold:

- The speed changes by more than `speed` + `acceleration`·Δt. No strong motor does that, at any frame rate.
- That change moves by more than `step` in one frame. Rounding to few digits at a high frame rate stays below it.
- The change is more than `RATIO` times the median change of the frames around it. A motion that is quick everywhere stays below it.

Where only the first two hold, for `MIN_TREMBLING` seconds and in every second frame or more, the motion trembles.

The movement that remains after the motion of the frames before and after is subtracted distinguishes a jump (it does not come back) from
a spike (it comes back, or there is only a corner).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.checks.findings import MAX_MOMENTS, Finding, FrameLocator, Moment, Run, finding, moment_of, runs, when
from bodymotion.checks.physics import rules
from bodymotion.diagnostics import Rule
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion.interpolation import find_wraps, unwrapped

RATIO = 8.0
"""How many times the median change around it a sudden change is."""
FIRST_NEIGHBOUR, LAST_NEIGHBOUR = 3, 10
"""The frames around a frame are the third to the tenth on both sides. A jump or a spike itself takes up to three frames."""

MIN_TREMBLING = 0.1
"""[s] The shortest trembling; a shorter one is a spike."""


@dataclass(frozen=True)
class Scale:
    """The thresholds for sudden changes: `speed` [unit/s], `acceleration` [unit/s²], `step` [unit]; see the module."""

    speed: float
    acceleration: float
    step: float


ANGLES = Scale(2.0, 200.0, 0.01)
"""For rotating joints [rad]. Joints of humanoids reach 10 rad/s in 0.1 s; this is ten times as much."""
SLIDES = Scale(0.5, 50.0, 0.002)
"""For sliding joints [m]: what a rotating joint does at the end of an arm of 0.25 m."""
POSITIONS = Scale(1.0, 100.0, 0.005)
"""For the position of the root [m]: ten times gravity, and the speed after a fall of 5 cm."""
ROTATIONS = Scale(2.0, 200.0, 0.01)
"""For the orientation of the root [rad]."""


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


def sudden(steps: Floats, gaps: Floats, scale: Scale) -> list[Sudden]:
    """Return the sudden changes in a motion of steps (T − 1, N) with durations `gaps` (T − 1,) [s].

    Of more than `MAX_MOMENTS` only the worst are returned. They are in order of time.
    """
    if len(steps) < 2:
        return []
    speeds = steps / gaps[:, None]
    change, allowed, large = _large_changes(speeds, gaps, scale)
    if not len(large):
        return []
    median = _median_around(change, large)
    isolated = change[large] > RATIO * median
    large, median = large[isolated], median[isolated]
    if not len(large):
        return []
    cuts = np.flatnonzero(np.diff(large) > 2) + 1
    starts, ends = np.concatenate([[0], cuts]), np.concatenate([cuts, [len(large)]])
    amount = change[large] / allowed[large]
    tops = np.maximum.reduceat(amount, starts)
    chosen = np.arange(len(starts))
    if len(chosen) > MAX_MOMENTS:
        chosen = np.sort(np.argsort(-tops, kind="stable")[:MAX_MOMENTS])
    found = []
    for k in chosen:
        first, last = int(large[starts[k]]), int(large[ends[k] - 1])
        worst = int(starts[k] + np.argmax(amount[starts[k] : ends[k]]))
        jump, before = _jump(steps, speeds, gaps, first, last, scale)
        at = int(large[worst])
        found.append(
            Sudden(first + 1, last + 1, at + 1, before, jump, float(change[at]), float(tops[k]), float(median[worst]))
        )
    return found


def trembling(steps: Floats, gaps: Floats, times: Floats, scale: Scale) -> tuple[list[Run], int]:
    """Return the runs of frames in which a motion of T frames at `times` (T,) [s] trembles, and their number; see `runs`."""
    amount = np.zeros(len(times))
    if len(steps) > 1:
        change, allowed, large = _large_changes(steps / gaps[:, None], gaps, scale)
        if len(large) > 4:
            large = large[change[large] <= RATIO * _median_around(change, large)]
            amount[large + 1] = change[large] / allowed[large]
            # Every second frame is enough.
            between = (amount[1:-1] == 0) & (amount[2:] > 0) & (amount[:-2] > 0)
            amount[1:-1][between] = np.nextafter(1.0, 2.0)
    return runs(amount, times, min_duration=MIN_TREMBLING)


def _large_changes(speeds: Floats, gaps: Floats, scale: Scale) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
    """Return the changes of speeds (T − 1, N) from step to step, the allowed changes, and the indices of larger ones."""
    change = _length(np.diff(speeds, axis=0))
    allowed = scale.speed + scale.acceleration * 0.5 * (gaps[1:] + gaps[:-1])
    shorter = np.minimum(gaps[1:], gaps[:-1])
    return change, allowed, np.flatnonzero((change > allowed) & (change * shorter > scale.step))


def _jump(steps: Floats, speeds: Floats, gaps: Floats, first: int, last: int, scale: Scale) -> tuple[float, int]:
    """Return the size of the jump in steps `first` to `last + 1` (0 for a spike), and the frame before the largest step."""
    inside = slice(first, last + 2)
    around = [speeds[k] for k in (first - 1, last + 2) if 0 <= k < len(speeds)]
    expected = np.mean(around, axis=0) if around else np.zeros(steps.shape[1])
    remaining = steps[inside] - expected * gaps[inside, None]
    sizes = _length(remaining)
    whole = float(_length(remaining.sum(axis=0)))
    before = first + int(np.argmax(sizes))
    return (whole if whole > max(0.5 * float(sizes.max()), scale.step) else 0.0), before


def _median_around(change: Floats, frames: npt.NDArray[np.intp]) -> Floats:
    """Return the median of `change` in the frames around each of `frames`; 0 where there is no such frame."""
    neighbours = np.arange(FIRST_NEIGHBOUR, LAST_NEIGHBOUR + 1)
    indices = frames[:, None] + np.concatenate([-neighbours, neighbours])
    exists = (indices >= 0) & (indices < len(change))
    values = np.where(exists, change[np.clip(indices, 0, len(change) - 1)], np.nan)
    values[~np.isfinite(values).any(axis=1)] = 0.0
    return np.asarray(np.nanmedian(values, axis=1))


def _length(vectors: Floats) -> Floats:
    return np.asarray(np.sqrt(np.sum(vectors * vectors, axis=-1)))


MAX_FRAMES_APART = 2
"""Sudden changes of several joints at most this many frames apart are one moment."""
MAX_FLIP_PRODUCT = -0.5
"""Unit quaternions with a product below this have opposite signs, and orientations less than 120° apart."""


def jumps_of_joints(q: Floats, times: Floats, body: Body, locate: FrameLocator) -> list[Finding]:
    """Return the jumps, spikes, jumps by full turns, and the trembling of joint values (T, J)."""
    gaps = np.diff(times)
    jumps: list[tuple[Sudden, str, str]] = []
    spikes: list[tuple[Sudden, str, str]] = []
    full_turns: list[Moment] = []
    trembles: list[Moment] = []
    for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True)):
        if link < 0 or joint.type not in ("rotate", "slide"):
            continue
        values, name = q[:, [column]], joint.name or body.links[link].name
        if joint.type == "rotate":
            full_turns += _full_turns(values, times, name, locate)
            values = unwrapped(values)
        scale, unit = (ANGLES, "rad") if joint.type == "rotate" else (SLIDES, "m")
        steps = np.diff(values, axis=0)
        for event in sudden(steps, gaps, scale):
            (jumps if event.jump else spikes).append((event, name, unit))
        trembles += _trembling(steps, gaps, times, scale, name, locate)
    return [
        *finding(rules.JOINT_JUMPS, _together(rules.JOINT_JUMPS, jumps, times, locate)),
        *finding(rules.JOINT_SPIKE, _together(rules.JOINT_SPIKE, spikes, times, locate)),
        *finding(rules.FULL_TURN, full_turns),
        *finding(rules.TREMBLES, trembles),
    ]


def jumps_of_root(root: Floats, times: Floats, locate: FrameLocator) -> list[Finding]:
    """Return the jumps, spikes and the trembling of root poses (T, 7), in position and in orientation."""
    gaps = np.diff(times)
    moves = np.diff(root[:, :3], axis=0)
    units = rotations.normalized(root[:, 3:])
    axes, angles = rotations.to_axis_angle(rotations.multiply(rotations.conjugate(units[:-1]), units[1:]))
    rotated = axes * angles[:, None]
    found = [
        *((event, "", "m") for event in sudden(moves, gaps, POSITIONS)),
        *((event, "", "rad") for event in sudden(rotated, gaps, ROTATIONS)),
    ]
    trembles = [
        *_trembling(moves, gaps, times, POSITIONS, "", locate),
        *_trembling(rotated, gaps, times, ROTATIONS, "", locate),
    ]
    jumps, spikes = ([one for one in found if bool(one[0].jump) is kind] for kind in (True, False))
    return [
        *finding(rules.ROOT_JUMPS, _together(rules.ROOT_JUMPS, jumps, times, locate)),
        *finding(rules.ROOT_SPIKE, _together(rules.ROOT_SPIKE, spikes, times, locate)),
        *finding(rules.TREMBLES, trembles),
    ]


def sign_flips(quaternions: Floats, times: Floats, locate: FrameLocator) -> list[Finding]:
    """Return the frames in which quaternions (T, 4) change their sign."""
    lengths = np.sum(quaternions * quaternions, axis=1)
    product = np.sum(quaternions[1:] * quaternions[:-1], axis=1)
    flipped = np.flatnonzero(product < MAX_FLIP_PRODUCT * np.sqrt(lengths[1:] * lengths[:-1])) + 1
    moments = [
        moment_of(
            rules.SIGN_FLIP,
            Run(frame, frame, frame, 1.0),
            times,
            "root",
            f"the root's quaternion changes its sign in {when(frame, times[frame])}",
            locate(frame),
        )
        for frame in map(int, flipped[:MAX_MOMENTS])
    ]
    return finding(rules.SIGN_FLIP, moments, len(flipped))


def _full_turns(values: Floats, times: Floats, name: str, locate: FrameLocator) -> list[Moment]:
    return [
        moment_of(
            rules.FULL_TURN,
            Run(wrap.frame, wrap.frame, wrap.frame, float(abs(wrap.turns))),
            times,
            name,
            f"{name!r} jumps by {'a full turn' if abs(wrap.turns) == 1 else f'{abs(wrap.turns)} full turns'} "
            f"from frame {wrap.frame - 1} to {when(wrap.frame, times[wrap.frame])}",
            locate(wrap.frame),
        )
        for wrap in find_wraps(values)[:MAX_MOMENTS]
    ]


def _trembling(
    steps: Floats, gaps: Floats, times: Floats, scale: Scale, name: str, locate: FrameLocator
) -> list[Moment]:
    name_or_root = repr(name) if name else "the root"
    moments = []
    for run in trembling(steps, gaps, times, scale)[0]:
        worst = when(run.worst, times[run.worst])
        message = (
            f"{name_or_root} trembles from t = {times[run.first]:.2f} s to {times[run.last]:.2f} s, worst in {worst}"
        )
        moments.append(moment_of(rules.TREMBLES, run, times, name, message, locate(run.worst)))
    return moments


def _together(rule: Rule, found: list[tuple[Sudden, str, str]], times: Floats, locate: FrameLocator) -> list[Moment]:
    """Return the moments of sudden changes; changes of several joints at the same time are one moment."""
    if not found:
        return []
    largest = np.full(len(times), np.nan)
    for event, _, _ in found:
        part = slice(event.first, event.last + 1)
        largest[part] = np.fmax(largest[part], event.amount)
    moments = []
    for first, last in _spans(largest):
        inside = [one for one in found if first <= one[0].first <= last]
        event, name, unit = max(inside, key=lambda one: one[0].amount)
        others = sorted({other for _, other, _ in inside if other != name})
        message = _message(event, name, unit, times)
        if others:
            message += f", and so do {len(others)} other joints" if len(others) > 1 else f", and so does {others[0]!r}"
        start, end = (event.before, event.before + 1) if event.jump else (event.first, event.last)
        run = Run(start, end, end if event.jump else event.worst, event.amount)
        moments.append(moment_of(rule, run, times, name, message, locate(run.worst)))
    return moments


def _spans(amount: Floats) -> list[tuple[int, int]]:
    """Return the first and the last frame of each run of finite values; up to `MAX_FRAMES_APART` frames may lie between them."""
    frames = np.flatnonzero(np.isfinite(amount))
    cuts = np.flatnonzero(np.diff(frames) > MAX_FRAMES_APART) + 1
    parts = np.split(frames, cuts)
    return [(int(part[0]), int(part[-1])) for part in parts if len(part)]


def _message(event: Sudden, name: str, unit: str, times: Floats) -> str:
    name_or_root = repr(name) if name else "the root" if unit == "m" else "the root's orientation"
    if event.jump:
        size = _size(event.jump, unit)
        return f"{name_or_root} jumps by {size} from frame {event.before} to {when(event.before + 1, times[event.before + 1])}"
    size = f"{event.change:.3g} {unit}/s"
    median = f"{event.median_change:.2g} {unit}/s"
    moment = when(event.worst, times[event.worst])
    return f"the speed of {name_or_root} changes by {size} in {moment}; the median change around it is {median}"


def _size(amount: float, unit: str) -> str:
    return f"{amount * 1000:.3g} mm" if unit == "m" else f"{amount:.3g} rad ({np.degrees(amount):.3g}°)"
