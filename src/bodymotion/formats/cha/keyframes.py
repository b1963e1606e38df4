"""Whether the values of keyframes can be what they stand for. Looks at the animation, not at a text."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bodymotion.animation import GROUPS, LEGS, Animation
from bodymotion.diagnostics import Rule
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.degrees import check_degrees
from bodymotion.formats.cha.findings import Findings
from bodymotion.formats.cha.metres import check_metres
from bodymotion.formats.cha.places import Places
from bodymotion.formats.cha.words import COLUMNS, TIME
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.rules import MAX_LENGTH_ERROR

__all__ = ["check_keyframes"]

SAME = 1e-3
"""How far, in metres, radians, and parts of a quaternion, the ends of a cycle may be apart and yet be the same."""
UNIT = 1e-3
"""How far the length of a quaternion may be from 1."""
NO_LENGTH = 1e-6
"""Quaternions not longer than this have no direction; the vendor's converter writes 1e-6 for 0."""
BEYOND = 1e-4
"""How far an angle may be beyond its limit [rad]: the limits have four digits."""
MANY = 300_000
"""So many values are looked at by compiled code."""
HUGE = 1e6
"""[m, rad] No robot is so large, or turns so far; nothing is played with larger values."""
LONGEST = 1e7
"""Slices, or hundredths of a second: nothing longer is played."""
MOST: Mapping[str, tuple[float, float]] = {
    "joint": (math.pi, 60.0),
    "angle": (math.pi, 60.0),
    "position": (0.5, 20.0),
}
"""Values jump that change more from one keyframe to the next [rad, m], or faster [rad/s, m/s]: twice what the robot can do."""


def check_keyframes(animation: Animation, places: Places, findings: Findings, timed: bool = True) -> None:
    """Check times and values; `timed` says whether the times are a column.

    Where lines were left out because of faults, nothing is said that may come of that.
    """
    frames, rows = animation.keyframes, places.rows
    whole = rows is None or not rows.left_out
    if not len(frames):
        if not whole:
            return
        findings.add(rules.NO_KEYFRAMES, "there are no keyframes", places.column())
        return
    if len(frames) == 1 and whole:
        findings.add(
            rules.ONE_KEYFRAME,
            "there is one keyframe only",
            places.value(0, frames.columns[0] if frames.columns else ""),
        )
    if timed:
        _check_times(frames.times, places, findings, begins=rows is None or not rows.begins_late)
    _check_length(animation, places, findings, timed)
    controls = animation.controls
    # Ends of the range of each column tell which ones need a closer look: most need none.
    lowest, highest, longest = _extremes(frames.values)
    all_finite = np.isfinite(lowest) & np.isfinite(highest)
    degrees = check_degrees(animation, (lowest, highest), places, findings, BEYOND, HUGE)
    other_unit = check_metres(animation, places, findings)
    for k, name in enumerate(frames.columns):
        values = frames.values[:, k]
        finite = np.True_ if all_finite[k] else np.isfinite(values)
        if not all_finite[k]:
            _first(~np.isfinite(values), rules.NOT_FINITE, name, values, places, findings)
        if not -HUGE <= lowest[k] <= highest[k] <= HUGE:
            with np.errstate(invalid="ignore"):
                huge = finite & (np.abs(values) > HUGE)
            if huge.any():
                _first(huge, rules.VALUE_HUGE, name, values, places, findings)
                continue
        column = COLUMNS.get(name)
        if column is None or (controls and column.track not in controls):
            continue
        if column.quantity == "contact":
            _first(finite & (values != 0) & (values != 1), rules.CONTACT, name, values, places, findings)
        if (degrees and column.quantity in ("joint", "angle")) or (other_unit and column.quantity == "position"):
            continue
        low, high = column.lowest - BEYOND, column.highest + BEYOND
        if column.quantity == "joint" and (not all_finite[k] or lowest[k] < low or highest[k] > high):
            said = f"; the joint goes from {column.lowest:g} to {column.highest:g} rad"
            beyond = finite & ((values < low) | (values > high))
            _first(beyond, rules.JOINT_LIMIT, name, values, places, findings, said)
        if whole and column.quantity in MOST and not longest[k] <= MOST[column.quantity][0] / 10:
            _check_jump(name, values, frames.times, places, findings)
    for part in ("body", "hand"):
        if frames.has(f"{part}_quat_wxyz"):
            _check_quaternions(f"{part}_quat_w", frames.column(f"{part}_quat_wxyz"), places, findings)
    if whole and "custom_gait_cycle" in animation.options:
        _check_cycle(animation, places, findings)


def _extremes(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the lowest and highest value of each column, and the longest step from one keyframe to the next; NaN where there is one."""
    if values.size >= MANY:
        from bodymotion.kernels.extremes import extremes

        found: tuple[Floats, Floats, Floats] = extremes(values)
        return found
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.abs(np.diff(values, axis=0))
        return values.min(axis=0), values.max(axis=0), steps.max(axis=0, initial=0)


def _first(
    wrong: npt.NDArray[np.bool_],
    rule: Rule,
    name: str,
    values: Floats,
    places: Places,
    findings: Findings,
    more: str = "",
) -> None:
    """Name the first of the wrong values of a column, and say how many there are."""
    count = int(np.count_nonzero(wrong))
    if count:
        row = int(np.argmax(wrong))
        others = _more(count - 1)
        said = f"{name} is {float(values[row]):g} in keyframe {row + 1}{others}{more}"
        findings.add(rule, said, places.value(row, name))


def _more(count: int) -> str:
    return f", and in {count} more keyframe{'s' * (count > 1)}" if count else ""


def _check_times(times: Floats, places: Places, findings: Findings, begins: bool) -> None:
    finite = np.isfinite(times)
    if not finite.all():
        _first(~finite, rules.NOT_FINITE, TIME, times, places, findings)
    _first(times < 0, rules.TIME_NEGATIVE, TIME, times, places, findings)
    if begins and times[0] > NO_LENGTH and finite[0]:
        said = f"the first keyframe is at {float(times[0]):g} s"
        findings.add(rules.TIME_START, said, places.value(0, TIME))
    with np.errstate(invalid="ignore"):
        steps = np.diff(times)
    for wrong, rule, what in ((steps < 0, rules.TIME_BACK, "before"), (steps == 0, rules.TIME_REPEATED, "as")):
        rows = np.flatnonzero(wrong)
        if len(rows):
            row = int(rows[0]) + 1
            than = "also the time of the keyframe before" if what == "as" else f"before {float(times[row - 1]):g} s"
            others = f"; and {len(rows) - 1} more like this" if len(rows) > 1 else ""
            said = f"keyframe {row + 1} is at {float(times[row]):g} s, {than}{others}"
            findings.add(rule, said, places.value(row, TIME))


def _check_length(animation: Animation, places: Places, findings: Findings, timed: bool) -> None:
    """Check that so long a move can be played."""
    times, bpm, frequency = animation.keyframes.times, animation.bpm, animation.options.get("frequency")
    duration = float(times[-1])
    if bpm is not None and not 0 < bpm < math.inf:
        bpm = None
    if not duration >= 0 or (duration == math.inf and timed):
        return
    with np.errstate(over="ignore"):
        slices = max(duration / 15 * (bpm or 120.0), 1.0)
        length = slices * max(1500 / (bpm or 120.0), 1.0)
    if length <= LONGEST:
        return
    if bpm is not None and duration <= LONGEST / 100:
        said = f"at {bpm:g} beats per minute the move is {slices:.3g} slices or {slices * 15 / bpm:.3g} s long"
        findings.add(rules.MOVE_LONG, said, places.option("bpm", 0))
    elif timed:
        findings.add(rules.MOVE_LONG, f"the last keyframe is at {duration:g} s", places.value(len(times) - 1, TIME))
    else:
        said = f"at {frequency:g} keyframes a second the last one is at {duration:g} s"
        findings.add(rules.MOVE_LONG, said, places.option("frequency", 0))


def _check_jump(name: str, values: Floats, times: Floats, places: Places, findings: Findings) -> None:
    quantity = COLUMNS[name].quantity
    (most, fastest), unit = MOST[quantity], "m" if quantity == "position" else "rad"
    with np.errstate(invalid="ignore", over="ignore"):
        step = np.abs(np.diff(values))
        step[~np.isfinite(step)] = 0.0
        time = np.diff(times)
        wrong = (step > most) | ((step > fastest * time) & (time > 0) & (step > most / 10))
    count = int(np.count_nonzero(wrong))
    if count:
        row = int(np.argmax(wrong)) + 1
        others = f"; and {count - 1} more jump{'s' * (count > 2)}" if count > 1 else ""
        said = f"{name} goes from {values[row - 1]:g} to {values[row]:g} {unit} in {time[row - 1]:g} s{others}"
        findings.add(rules.JUMP, said, places.value(row, name))


def _check_quaternions(first: str, values: Floats, places: Places, findings: Findings) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        length = np.sqrt(np.einsum("ij,ij->i", values, values))
    # Those that are too large were named as such.
    finite = (np.abs(values) <= HUGE).all(axis=1)
    zero = finite & (length <= 4 * NO_LENGTH)
    wrong = finite & ~zero & (np.abs(length - 1) > UNIT)
    far = wrong & (np.abs(length - 1) > MAX_LENGTH_ERROR)
    name = first.removesuffix("_w")
    for rows, rule, what, hint in (
        (zero, rules.QUATERNION_ZERO, "is as good as 0" if np.any(values[zero]) else "is 0", None),
        (far, rules.QUATERNION_UNIT, "has the length {:g}", "are these angles? A quaternion is of length 1"),
        (wrong & ~far, rules.QUATERNION_UNIT, "has the length {:g}", None),
    ):
        count = int(np.count_nonzero(rows))
        if count:
            row = int(np.argmax(rows))
            others = _more(count - 1)
            said = f"{name} {what.format(float(length[row]))} in keyframe {row + 1}{others}"
            findings.add(rule, said, places.value(row, first), hint)


def _check_cycle(animation: Animation, places: Places, findings: Findings) -> None:
    """Check what the document asks of an animation for Custom Gait."""
    frames = animation.keyframes
    option = places.option("custom_gait_cycle")
    if animation.controls and "legs" not in animation.controls:
        findings.add(rules.CYCLE_LEGS, "a gait cycle that does not control the legs", option)
        return
    _check_ends(animation, places, findings)
    missing = [leg for leg in LEGS if not frames.has(f"{leg}_contact")]
    inferred = _inferred(animation) if missing else None
    if missing:
        findings.add(rules.CYCLE_CONTACTS, "there are no contacts for each foot", option)
    for k, leg in enumerate(LEGS):
        name = f"{leg}_contact"
        if leg not in missing:
            _check_swings(leg, name, frames.column(name) != 0, places, findings)
        elif inferred is not None:
            from_columns = (*GROUPS[f"{leg}_pos"], *GROUPS[f"{leg}_angles"])
            first = next((column for column in frames.columns if column in from_columns), None)
            if first is not None:
                _check_swings(leg, first, inferred[:, k], places, findings, ", as it seems")


def _inferred(animation: Animation) -> npt.NDArray[np.bool_] | None:
    """Return the contacts (N, 4) as playing infers them, or None where it cannot be played."""
    from bodymotion.spot.playback.playing import contacts_at_keyframes

    try:
        return contacts_at_keyframes(animation)
    except ValueError:
        return None


def _check_swings(
    leg: str, name: str, down: npt.NDArray[np.bool_], places: Places, findings: Findings, seems: str = ""
) -> None:
    """Check how often a foot swings that is `down` (N,) at keyframes; what is wrong stands in the column `name`."""
    for row, end in ((0, "start"), (len(down) - 1, "end")):
        if not down[row]:
            findings.add(
                rules.CYCLE_FEET_UP, f"the foot {leg} is in the air at the {end}{seems}", places.value(row, name)
            )
    lifts = np.flatnonzero(down[:-1] & ~down[1:]) + 1
    swings = len(lifts) + int(not down[0])
    if not swings:
        findings.add(rules.CYCLE_NO_SWING, f"the foot {leg} never leaves the ground{seems}", places.column(name))
    elif swings > 2:
        third = int(lifts[2 - int(not down[0])])
        said = f"the foot {leg} swings {swings} times{seems}; the third swing begins here"
        findings.add(rules.CYCLE_SWINGS, said, places.value(third, name))


def _check_ends(animation: Animation, places: Places, findings: Findings) -> None:
    frames = animation.keyframes
    first, last = frames.values[0], frames.values[-1].copy()
    for part in ("body", "hand"):
        group = f"{part}_quat_wxyz"
        if frames.has(group):  # q and -q are one rotation
            at = [frames.columns.index(column) for column in GROUPS[group]]
            if np.dot(first[at], last[at]) < 0:
                last[at] = -last[at]
    controls = animation.controls
    with np.errstate(invalid="ignore"):
        apart = np.abs(last - first)
    for k, name in enumerate(frames.columns):
        counts = name in COLUMNS and (not controls or COLUMNS[name].track in controls)
        if counts and apart[k] > SAME and COLUMNS[name].quantity != "contact":
            said = f"{name} is {float(first[k]):g} in the first keyframe and {float(last[k]):g} in the last"
            findings.add(rules.CYCLE_ENDS, said, places.value(len(frames) - 1, name))
