"""Compare a commanded motion with its recording.

The lag, and the errors of joints, feet and root after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bodymotion.comparison.difference import Comparison, Difference
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import Motion, MultiSE3Seq
from bodymotion.motion.feet import LEGS
from bodymotion.motion.interpolation import sampled
from bodymotion.spot.animation import Animation
from bodymotion.spot.choreography.moves import tracks_of
from bodymotion.spot.choreography.values import Choreography
from bodymotion.spot.playback.dimensions import ARM_JOINTS, LEG_JOINTS
from bodymotion.spot.playback.legs import foot_positions

# [s] Larger lags are not tried, nor those that leave less than half of a motion.
MAX_LAG = 1.0
# At which lags are tried.
MAX_SAMPLES = 20_000
# [Hz] At which lags are tried, with at most `MAX_SAMPLES` samples.
MIN_RATE = 200.0
# [slices] Length of the part of a recording that is compared with a dance.
MAX_SLICES = 120
# Times in a slice at which it is compared.
TIMES_PER_SLICE = 4
# [s] A robot is at most this much early.
MAX_LEAD = 0.01
# A dance began at a later slice if its difference there is at most this share.
MAX_LATER_SHARE = 0.5
# Of lags that fit nearly as well the shortest is chosen, as in a periodic motion.
SAME_COST = 1.02
# [s] A shorter lag is none: it is shown with a tenth of a millisecond.
MIN_SHOWN_LAG = 5e-5


def compare_recording(
    commanded: Motion | Animation | Choreography,
    recorded: Motion,
    *,
    atol: float = 0.0,
) -> Comparison:
    """Return the lag of a recording behind the commanded motion.

    And the errors after it that are larger than `atol`.

    The lag [s] is the delay at which the joint values of both differ least, apart from
    constant offsets. After that there is one difference for each joint [rad or m], for
    each foot of a Spot relative to its body [m], and for position [m] and orientation
    [rad] of the root relative to its first pose; the largest root mean square first.

    If a choreography was begun at a later slice, the first difference is `start`, with
    that slice, and lag and errors are those from there on. No log has that slice: it is
    the one from which on the dance fits the recording best.

    Raises
    ------
    ValueError
        When the two have no joints in common, or fewer than three frames.
    """
    # A script is played first; of a dance the slice of its start has to be found.
    differences: list[Difference] = []
    if isinstance(commanded, Animation):
        commanded = commanded.play()
    if isinstance(commanded, Choreography):
        first, commanded = _begun(commanded, recorded)
        if first:
            message = f"the second motion begins at slice {first}"
            differences.append(Difference("start", message, {"slice": first}))
    # Then the lag, from the joints that both have.
    common = _common(commanded, recorded)
    lag = _lag(common.tables, common.times)
    if abs(lag) > max(atol, MIN_SHOWN_LAG):
        direction = "later" if lag > 0 else "earlier"
        message = f"the second motion is {abs(lag) * 1000:.1f} ms {direction}"
        differences.append(Difference("lag", message, {"lag": lag}))
    commanded_times, recorded_times = common.times
    # Times of the recording, moved to those of the command; the part that both have.
    shifted = recorded_times - lag
    is_shown = (shifted >= commanded_times[0]) & (shifted <= commanded_times[-1])
    times = recorded_times[is_shown]
    errors = _joint_errors(common, times, lag)
    errors += _root_errors(commanded.link_position, recorded.link_position, times, lag)
    errors.sort(key=lambda error: -error.numbers["root_mean_square"])
    shown = [error for error in errors if error.numbers["largest"] > atol]
    return Comparison((*differences, *shown))


def _joint_errors(common: _Common, times: Floats, lag: float) -> list[Difference]:
    """Return the errors of joints, and of the feet of a Spot, at times (T,) [s]."""
    names = common.names
    # The recording shows now what was commanded before the lag.
    first = sampled(common.tables[0], common.times[0], times - lag)
    second = sampled(common.tables[1], common.times[1], times)
    is_spot = set(LEG_JOINTS) <= set(names)
    unit = "rad" if is_spot else "rad or m"
    errors = [
        _error(name, np.abs(first[:, k] - second[:, k]), times, unit)
        for k, name in enumerate(names)
    ]
    if is_spot:
        columns = [names.index(name) for name in LEG_JOINTS]
        feet = foot_positions(first[:, columns].reshape(-1, 4, 3))
        other_feet = foot_positions(second[:, columns].reshape(-1, 4, 3))
        distances = np.linalg.norm(feet - other_feet, axis=-1)
        errors += [
            _error(f"foot {leg}", distances[:, k], times, "m")
            for k, leg in enumerate(LEGS)
        ]
    return errors


def _begun(dance: Choreography, recorded: Motion) -> tuple[int, Motion]:
    """Return the slice at which a recorded dance began, and its motion.

    From there on.
    """
    # One slice in seconds.
    slice_seconds = 60.0 / dance.slices_per_minute
    costs = _costs_of_starts(dance, recorded)
    best = int(np.argmin(costs))
    # Beginning at 0 is the usual case: another slice must fit much better.
    first = best if costs[best] < MAX_LATER_SHARE * costs[0] else 0
    begun = dance.play(first_slice=first)[first * slice_seconds :]
    if 0 < first < dance.slices - 1:
        # Check the slice with the fine lag: the search has steps of a quarter of a
        # slice.
        common = _common(begun, recorded)
        # A robot is not early: then it began one slice later.
        if _lag(common.tables, common.times) < -MAX_LEAD:
            first += 1
            begun = dance.play(first_slice=first)[first * slice_seconds :]
    return first, begun


def _costs_of_starts(dance: Choreography, recorded: Motion) -> Floats:
    """Return how much a recording differs from a dance that began at each slice (S,).

    The cost is the variance of the differences of joints, summed, at the best delay.
    """
    # Both are sampled at quarters of a slice from here on.
    common = _common(dance.play(), recorded)
    commanded_times, recorded_times = common.times
    step = 60.0 / dance.slices_per_minute / TIMES_PER_SLICE
    num_times = dance.slices * TIMES_PER_SLICE + 1
    commanded = sampled(common.tables[0], commanded_times, step * np.arange(num_times))
    # Compare a part of the recording: the cost grows with its length times slices.
    duration = recorded_times[-1] - recorded_times[0]
    count = min(int(duration / step) + 1, MAX_SLICES * TIMES_PER_SLICE)
    shown = recorded_times[0] + step * np.arange(count)
    made = sampled(common.tables[1], recorded_times, shown)
    starts = [_starts_of(dance, name) for name in common.names]
    costs = np.full(dance.slices, np.inf)
    # A number of rows that no comparison reaches: the joint is never moved.
    never = dance.slices + MAX_SLICES
    for first in range(dance.slices):
        # A joint keeps the angle in which the recording begins until a move that was
        # not skipped moves it.
        since = []
        for of_joint in starts:
            later = [start for start in of_joint if start >= first]
            since.append(TIMES_PER_SLICE * min(later, default=never))
        # From slice 0 the robot may lag for seconds, later by less than a slice,
        # because the next slice is tried by itself.
        max_delay = TIMES_PER_SLICE
        if first == 0:
            max_delay = max(int(MAX_LAG / step), TIMES_PER_SLICE)
        for delay in range(max_delay):
            # Row k of the recording is row first − delay + k of the command.
            rows = TIMES_PER_SLICE * first - delay + np.arange(count)
            moved = commanded[np.clip(rows, 0, len(commanded) - 1)]
            goals = np.where(rows[:, None] < since, made[0], moved)
            # Variance: a constant offset of a joint is no difference.
            costs[first] = min(costs[first], (made - goals).var(axis=0).sum())
    return costs


def _starts_of(dance: Choreography, joint: str) -> list[int]:
    """Return the slices at which moves of a joint begin."""
    tracks = {"legs", "body"}
    if joint in ARM_JOINTS:
        tracks = {"arm"}
    elif joint == "gripper":
        tracks = {"gripper"}
    return [
        move.start_slice for move in dance.moves if tracks & set(tracks_of(dance, move))
    ]


class _Common(NamedTuple):
    """The J joints that two motions have: names, and for each motion values and times.

    The values are (T, J), the times (T,) [s].
    """

    names: list[str]
    tables: list[Floats]
    times: list[Floats]


def _common(one: Motion, other: Motion) -> _Common:
    """Return the joints that two motions have, by name or, without names, by number."""
    components = []
    for motion in (one, other):
        joints = motion.joint_displacement
        if joints is None or joints.num_frames < 3:
            raise ValueError(
                "a commanded and a recorded motion need joint values in three frames "
                "or more"
            )
        components.append(joints)
    first, second = components
    labels = first.part_labels
    other_labels = second.part_labels
    names: list[str] = []
    # By name where both have names, by number where neither has.
    if any(labels) and any(other_labels):
        names = [name for name in labels if name in other_labels]
        tables = [
            np.asarray(joints.values[:, list(map(joints.part_labels.index, names))])
            for joints in components
        ]
    elif not any((*labels, *other_labels)) and first.num_parts == second.num_parts:
        names = [str(k) for k in range(first.num_parts)]
        tables = [np.asarray(joints.values) for joints in components]
    if not names:
        raise ValueError("the two motions have no joints with the same names")
    return _Common(names, tables, [joints.timeline.times for joints in components])


def _lag(tables: list[Floats], times: list[Floats]) -> float:
    """Return the delay [s] of the second of two tables of values.

    Values (T, J) at times (T,).
    """
    longest = max(float(of_table[-1] - of_table[0]) for of_table in times)
    # One step for both; very long recordings get a coarser one.
    step = max(1.0 / MIN_RATE, longest / MAX_SAMPLES)
    first, second = map(_on_grid, tables, times, (step, step))
    start = float(times[1][0] - times[0][0])
    # At least half of the shorter one must overlap, else a few frames could fit by
    # chance.
    min_count = max(min(len(first), len(second)) // 2, 3)
    lags = []
    costs = []
    # Sample k of the second is compared with sample k − shift of the first.
    for shift in range(min_count - len(second), len(first) - min_count + 1):
        lag = start - shift * step
        a = first[max(shift, 0) :]
        b = second[max(-shift, 0) :]
        count = min(len(a), len(b))
        if abs(lag) <= MAX_LAG and count >= min_count:
            lags.append(lag)
            # The variance: constant offsets do not count.
            costs.append(float((a[:count] - b[:count]).var(axis=0).sum()))
    if not costs:
        return 0.0
    return _best_lag(np.array(lags), np.array(costs), step)


def _on_grid(table: Floats, times: Floats, step: float) -> Floats:
    """Return a table (N, J) of values at equal steps [s]."""
    count = int(float(times[-1] - times[0]) / step) + 1
    return sampled(table, times, times[0] + step * np.arange(count))


def _best_lag(lags: Floats, costs: Floats, step: float) -> float:
    """Return the lag with the least cost, between those (N,) that were tried.

    Of lags that fit nearly as well it is the minimum nearest to 0.
    """
    good = np.flatnonzero(costs <= SAME_COST * costs.min() + 1e-12)
    best = int(good[np.argmin(np.abs(lags[good]))])
    # Walk downhill from the lag nearest to 0 to its local minimum.
    last = len(costs) - 1
    while 0 < best < last and min(costs[best - 1], costs[best + 1]) < costs[best]:
        best += 1 if costs[best + 1] < costs[best - 1] else -1
    if not 0 < best < last:
        return float(lags[best])
    # The minimum of the parabola through three costs.
    left, middle, right = costs[best - 1 : best + 2]
    # Vertex at x = (left − right) / (2·(left − 2·middle + right)) steps.
    bend = left - 2 * middle + right
    offset = 0.5 * (left - right) / bend if bend > 0 else 0.0
    return float(lags[best] - offset * step)


def _root_errors(
    commanded: MultiSE3Seq | None,
    recorded: MultiSE3Seq | None,
    times: Floats,
    lag: float,
) -> Iterator[Difference]:
    """Yield the errors of the root, from its first pose on."""
    if commanded is None or recorded is None or not len(times):
        return
    if not commanded.num_parts or not recorded.num_parts:
        return
    one = _relative_root(commanded, times - lag)
    other = _relative_root(recorded, times)
    distances = np.linalg.norm(one[:, :3] - other[:, :3], axis=1)
    yield _error("root position", distances, times, "m")
    angles = rotations.angle_between(one[:, 3:], other[:, 3:])
    yield _error("root orientation", angles, times, "rad")


def _relative_root(root: MultiSE3Seq, times: Floats) -> Floats:
    """Return the poses (T, 7) of a root at times, relative to the first one."""
    # Only the first part: the root.
    values = sampled(root.values[:, :1], root.timeline.times, times)[:, 0]
    return poses.compose(poses.inverse(values[:1]), values)


def _error(name: str, amounts: Floats, times: Floats, unit: str) -> Difference:
    """Return errors (T,) as a difference with their root mean square and maximum."""
    mean = 0.0
    largest = 0.0
    time = 0.0
    if len(amounts):
        worst = int(np.argmax(amounts))
        mean = float(np.sqrt(np.mean(amounts**2)))
        largest = float(amounts[worst])
        time = float(times[worst])
    numbers = {"root_mean_square": mean, "largest": largest, "unit": unit, "time": time}
    message = f"{mean:.4g} {unit} RMS, at most {largest:.4g} at {time:.2f} s"
    return Difference(name, message, numbers)
