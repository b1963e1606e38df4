"""Compare a commanded motion with its recording.

The lag, and the errors of joints, feet and root after it.
"""

from collections.abc import Iterator

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

MAX_LAG = 1.0  # [s] Larger lags are not searched, nor those that leave less than half of the shorter motion.
MAX_SAMPLES = 20_000
MIN_RATE = (
    200.0  # [Hz] Rate at which lags are tried, with at most `MAX_SAMPLES` samples.
)
MAX_SLICES = 120  # [slices] Length of the part of a recording that is compared with each part of a dance,
TIMES_PER_SLICE = 4  # at this number of times in a slice.
MAX_LEAD = 0.01  # [s] A robot is at most this much early.
MAX_LATER_SHARE = 0.5  # A recorded dance began at a later slice if its difference there is at most this share of that at the first slice.
SAME_COST = 1.02  # The shortest lag is chosen of those that fit nearly as well, as in a periodic motion.


def compare_recording(
    commanded: Motion | Animation | Choreography,
    recorded: Motion,
    *,
    atol: float = 0.0,
) -> Comparison:
    """Return the lag of a recording behind the commanded motion, and the errors after it that are larger than `atol`.

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
    found: list[Difference] = []
    if isinstance(commanded, Animation):
        commanded = commanded.play()
    if isinstance(commanded, Choreography):
        first, commanded = _begun(commanded, recorded)
        message = f"the second motion begins at slice {first}"
        numbers = {"slice": first}
        found += [Difference("start", message, numbers)] if first else []
    names, tables, times = _common(commanded, recorded)
    lag = _lag(tables, times)
    if abs(lag) > max(atol, 5e-5):
        message = f"the second motion is {abs(lag) * 1000:.1f} ms {'later' if lag > 0 else 'earlier'}"
        found.append(Difference("lag", message, {"lag": lag}))
    at = times[1][(times[1] - lag >= times[0][0]) & (times[1] - lag <= times[0][-1])]
    pairs = [sampled(tables[0], times[0], at - lag), sampled(tables[1], times[1], at)]
    if set(LEG_JOINTS) <= set(names):
        unit = "rad"
    else:
        unit = "rad or m"
    errors = [
        _error(name, np.abs(pairs[0][:, k] - pairs[1][:, k]), at, unit)
        for k, name in enumerate(names)
    ]
    if set(LEG_JOINTS) <= set(names):
        legs = [
            table[:, [names.index(name) for name in LEG_JOINTS]].reshape(-1, 4, 3)
            for table in pairs
        ]
        apart = np.linalg.norm(
            foot_positions(legs[0]) - foot_positions(legs[1]), axis=-1
        )
        errors += [
            _error(f"foot {leg}", apart[:, k], at, "m") for k, leg in enumerate(LEGS)
        ]
    errors += _root_errors(commanded.link_position, recorded.link_position, at, lag)
    order = sorted(errors, key=lambda one: -one.numbers["root_mean_square"])
    kept = [one for one in order if one.numbers["largest"] > atol]
    return Comparison((*found, *kept))


def _begun(dance: Choreography, recorded: Motion) -> tuple[int, Motion]:
    """Return the slice at which a recorded dance began, and its motion from there on."""
    whole = dance.play()
    slice_ = 60.0 / dance.slices_per_minute
    names, tables, times = _common(whole, recorded)
    step = slice_ / TIMES_PER_SLICE
    longest = MAX_SLICES * TIMES_PER_SLICE
    commanded = sampled(
        tables[0], times[0], step * np.arange(dance.slices * TIMES_PER_SLICE + 1)
    )
    count = min(int((times[1][-1] - times[1][0]) / step) + 1, longest)
    made = sampled(tables[1], times[1], times[1][0] + step * np.arange(count))
    tracks = {name: {"arm"} for name in ARM_JOINTS} | {"gripper": {"gripper"}}
    starts = [
        [
            move.start_slice
            for move in dance.moves
            if tracks.get(name, {"legs", "body"}) & set(tracks_of(dance, move))
        ]
        for name in names
    ]
    costs = np.full(dance.slices, np.inf)
    for first in range(dance.slices):
        # A joint keeps the angle in which the recording begins until a move that was
        # not skipped moves it.
        later = (
            min(
                (start for start in one if start >= first),
                default=dance.slices + MAX_SLICES,
            )
            for one in starts
        )
        since = [TIMES_PER_SLICE * start for start in later]
        for delay in range(
            TIMES_PER_SLICE if first else max(int(MAX_LAG / step), TIMES_PER_SLICE)
        ):
            at = TIMES_PER_SLICE * first - delay + np.arange(count)
            goals = np.where(
                at[:, None] < since,
                made[0],
                commanded[np.clip(at, 0, len(commanded) - 1)],
            )
            costs[first] = min(costs[first], (made - goals).var(axis=0).sum())
    best = int(np.argmin(costs))
    if costs[best] < MAX_LATER_SHARE * costs[0]:
        first = best
    else:
        first = 0
    begun = dance.play(first_slice=first)[first * slice_ :]
    if 0 < first < dance.slices - 1 and _lag(*_common(begun, recorded)[1:]) < -MAX_LEAD:
        first += 1
        begun = dance.play(first_slice=first)[first * slice_ :]
    return first, begun


def _common(one: Motion, other: Motion) -> tuple[list[str], list[Floats], list[Floats]]:
    """Return the names of the J joints that two motions have, and for each motion their values (T, J) and times (T,) [s]."""
    values = [motion.joint_displacement for motion in (one, other)]
    known = [
        joints for joints in values if joints is not None and joints.num_frames >= 3
    ]
    if len(known) < 2:
        raise ValueError(
            "a commanded and a recorded motion need joint values in three frames or "
            "more"
        )
    one_has, other_has = (c.part_labels for c in known)
    names: list[str] = []
    if any(one_has) and any(other_has):
        names = [name for name in one_has if name in other_has]
    elif not any((*one_has, *other_has)) and known[0].num_parts == known[1].num_parts:
        names = [str(k) for k in range(known[0].num_parts)]
    if not names:
        raise ValueError("the two motions have no joints with the same names")
    columns = [
        [
            c.part_labels.index(name) if any(c.part_labels) else int(name)
            for name in names
        ]
        for c in known
    ]
    tables = [
        np.asarray(c.values[:, own]) for c, own in zip(known, columns, strict=True)
    ]
    return names, tables, [c.timeline.times for c in known]


def _lag(tables: list[Floats], times: list[Floats]) -> float:
    """Return the delay [s] of the second of two tables (T, J) of values at times (T,)."""
    spans = [float(t[-1] - t[0]) for t in times]
    step = max(1.0 / MIN_RATE, max(spans) / MAX_SAMPLES)
    grids = [
        t[0] + step * np.arange(int(span / step) + 1)
        for t, span in zip(times, spans, strict=True)
    ]
    first, second = (
        sampled(table, t, grid)
        for table, t, grid in zip(tables, times, grids, strict=True)
    )
    start = float(times[1][0] - times[0][0])
    min_count = max(min(len(first), len(second)) // 2, 3)
    lags = []
    costs = []
    # Sample k of the second is compared with sample k − shift of the first.
    for shift in range(min_count - len(second), len(first) - min_count + 1):
        delay = start - shift * step
        a = first[max(shift, 0) :]
        b = second[max(-shift, 0) :]
        count = min(len(a), len(b))
        if abs(delay) <= MAX_LAG and count >= min_count:
            lags.append(delay)
            costs.append(float((a[:count] - b[:count]).var(axis=0).sum()))
    if not costs:
        return 0.0
    cost = np.array(costs)
    delays = np.array(lags)
    good = np.flatnonzero(cost <= SAME_COST * cost.min() + 1e-12)
    best = int(good[np.argmin(np.abs(delays[good]))])
    while 0 < best < len(cost) - 1 and min(cost[best - 1], cost[best + 1]) < cost[best]:
        best += 1 if cost[best + 1] < cost[best - 1] else -1
    if not 0 < best < len(cost) - 1:
        return float(delays[best])
    left, middle, right = cost[best - 1 : best + 2]
    bend = left - 2 * middle + right
    if bend > 0:
        offset = 0.5 * (left - right) / bend
    else:
        offset = 0.0
    return float(delays[best] - offset * step)


def _root_errors(
    a: MultiSE3Seq | None, b: MultiSE3Seq | None, at: Floats, lag: float
) -> Iterator[Difference]:
    if a is None or b is None or not (a.num_parts and b.num_parts and len(at)):
        return
    placed = []
    for root, when in ((a, at - lag), (b, at)):
        values = sampled(root.values[:, :1], root.timeline.times, when)[:, 0]
        placed.append(poses.compose(poses.inverse(values[:1]), values))
    one, other = placed
    yield _error(
        "root position", np.linalg.norm(one[:, :3] - other[:, :3], axis=1), at, "m"
    )
    yield _error(
        "root orientation", rotations.angle_between(one[:, 3:], other[:, 3:]), at, "rad"
    )


def _error(name: str, amounts: Floats, at: Floats, unit: str) -> Difference:
    if len(amounts):
        worst = int(np.argmax(amounts))
    else:
        worst = 0
    mean, largest = (
        (float(np.sqrt(np.mean(amounts**2))), float(amounts[worst]))
        if len(amounts)
        else (0.0, 0.0)
    )
    if len(at):
        time = float(at[worst])
    else:
        time = 0.0
    numbers = {"root_mean_square": mean, "largest": largest, "unit": unit, "time": time}
    return Difference(
        name, f"{mean:.4g} {unit} RMS, at most {largest:.4g} at {time:.2f} s", numbers
    )
