"""Rules on the times and values of keyframes, whatever the animation comes from."""

import math
from collections.abc import Mapping

import numpy as np

from bodymotion.diagnostics import Rule
from bodymotion.diagnostics.text import counted
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.geometry.rotations import angles_in_degrees
from bodymotion.motion.components import out_of_order
from bodymotion.motion.feet import LEGS
from bodymotion.motion.rules import (
    MAX_LENGTH_ERROR,
    MOTION_NOT_FINITE,
    MOTION_QUATERNION,
    ROUNDING,
    TIME_ORDER,
)
from bodymotion.spot.animation import GROUPS, Keyframes
from bodymotion.spot.cha import rules
from bodymotion.spot.cha.head_checks import Checked, left_out
from bodymotion.spot.cha.keywords import COLUMNS, TIME, Column

# [m, rad, parts of a quaternion] Ends of a cycle this near are the same.
CYCLE_TOLERANCE = 1e-3
# Quaternions not longer than this have no direction. The vendor's converter writes 1e-6
# for 0.
ZERO_LENGTH = 1e-6
LIMIT_TOLERANCE = 1e-4  # [rad] The limits of joints have four digits.
MAX_VALUE = 1e6  # [m, rad] Nothing is played with larger values.
MAX_LENGTH = 1e7  # Slices, or hundredths of a second: nothing longer is played.
# Values jump that change more [rad, m], or faster [rad/s, m/s]. Twice what the robot
# can do.
MAX_STEPS: Mapping[str, tuple[float, float]] = {
    "joint": (math.pi, 60.0),
    "angle": (math.pi, 60.0),
    "position": (0.5, 20.0),
}
# Smaller steps. As a fraction of the largest one, are no jumps however fast they are.
MIN_STEP_FRACTION = 0.1

# [m] Body and hand are not mostly higher than this, and feet not farther apart.
MAX_HEIGHT = 5.0
ROBOT_SIZE = (0.1, 1.5)  # [m] A height, or a distance between feet, of a robot.
UNITS = ((1000.0, "millimetres"), (100.0, "centimetres"))


def check_keyframes(checked: Checked) -> None:
    """Check times and values.

    Where lines were left out because of faults, nothing is reported that may follow
    from that.
    """
    frames = checked.animation.keyframes
    # Rows that were left out may be the missing first, last or swing.
    whole = not left_out(checked.animation)
    if not len(frames):
        if whole:
            checked.report(rules.NO_KEYFRAMES, "there are no keyframes", "columns")
        return
    # A single keyframe is a pose, which is legal but hardly meant.
    if len(frames) == 1 and whole:
        if frames.columns:
            first = frames.columns[0]
        else:
            first = ""
        checked.report(
            rules.ONE_KEYFRAME, "there is only one keyframe", "keyframes", 0, first
        )
    if checked.has_time_column:
        _check_times(checked)
    _check_length(checked)
    _check_values(checked)
    for part in ("body", "hand"):
        if frames.has(f"{part}_quat_wxyz"):
            _check_quaternions(checked, part)
    if whole and "custom_gait_cycle" in checked.animation.options:
        _check_cycle(checked)


def faulty_keyframes(frames: Keyframes) -> tuple[Bools, Bools]:
    """Return which keyframes cannot be played because of values, or of times.

    Both (N,).

    Of two times in the wrong order, either may be wrong.
    """
    # Comparison that is False for NaN: those are faulty, too.
    values: Bools = np.asarray(~(np.abs(frames.values) <= MAX_VALUE).all(axis=1))
    for part in ("body", "hand"):
        if frames.has(f"{part}_quat_wxyz"):
            # Four zeros are no orientation and cannot be normalized.
            values |= (np.abs(frames.column(f"{part}_quat_wxyz")) <= ZERO_LENGTH).all(
                axis=1
            )
    # Contacts are flags.
    for column in set(GROUPS["contact"]) & set(frames.columns):
        values |= ~np.isin(frames.column(column), (0.0, 1.0))
    # A negative time is in no order: NaN counts as out of order.
    return values, out_of_order(np.where(frames.times < 0, np.nan, frames.times))


def _is_controlled(checked: Checked, column: Column) -> bool:
    controls = checked.animation.controls
    return not controls or column.track in controls


def _check_values(checked: Checked) -> None:
    """Check the values of all columns."""
    # Units first: degrees would break limits and jumps in every row.
    frames = checked.animation.keyframes
    degrees = _check_degrees(checked)
    other_unit = _check_metres(checked)
    for k, name in enumerate(frames.columns):
        values = frames.values[:, k]
        column = COLUMNS.get(name)
        finite = np.isfinite(values)
        # NaN and infinity, then what is too large, then ranges of known columns.
        _report_values(checked, MOTION_NOT_FINITE, name, values, ~finite)
        huge = finite & (np.abs(values) > MAX_VALUE)
        _report_values(checked, rules.VALUE_HUGE, name, values, huge)
        # Columns of tracks that are not controlled are not played.
        if column is None or not _is_controlled(checked, column):
            continue
        # A huge value would also be beyond limits, and a jump.
        values = np.where(huge, np.nan, values)
        if column.quantity == "contact":
            _report_values(
                checked,
                rules.CONTACT,
                name,
                values,
                finite & (values != 0) & (values != 1),
            )
        # Already reported once, at the largest value.
        if (degrees and column.quantity in ("joint", "angle")) or (
            other_unit and column.quantity == "position"
        ):
            continue
        if column.quantity == "joint":
            limits = (
                f"; the joint moves from {column.minimum:g} to {column.maximum:g} rad"
            )
            beyond = (values < column.minimum - LIMIT_TOLERANCE) | (
                values > column.maximum + LIMIT_TOLERANCE
            )
            _report_values(
                checked, rules.JOINT_LIMIT, name, values, finite & beyond, limits
            )
        if column.quantity in MAX_STEPS:
            _check_jumps(checked, name, values)


def _report_values(
    checked: Checked,
    rule: Rule,
    name: str,
    values: Floats,
    wrong: Bools | np.bool_,
    limits: str = "",
) -> None:
    """Report each wrong value of a column."""
    rows = np.flatnonzero(wrong)
    checked.report_rows(
        rule,
        name,
        rows,
        lambda row: (
            f"{name} is {values[row]:g} in keyframe {checked.number(row)}{limits}"
        ),
    )


def _check_times(checked: Checked) -> None:
    """Check that times are finite, start at 0 and increase."""
    times = checked.animation.keyframes.times
    finite = np.isfinite(times)
    _report_values(checked, MOTION_NOT_FINITE, TIME, times, ~finite)
    _report_values(checked, rules.TIME_NEGATIVE, TIME, times, times < 0)
    # Of a file that lost its first row, the start is unknown.
    if (
        not (checked.begins_late or 0 in left_out(checked.animation))
        and times[0] > ZERO_LENGTH
        and finite[0]
    ):
        message = f"the first keyframe is at {float(times[0]):g} s"
        checked.report(rules.TIME_START, message, "keyframes", 0, TIME)
    with np.errstate(invalid="ignore"):
        steps = np.diff(times)

    # Text and hint for two keyframes; a repeated time needs another hint.
    def in_order(row: int) -> str:
        what = "before" if steps[row - 1] else "like"
        before = f"{what} keyframe {checked.number(row - 1)} at {times[row - 1]:g} s"
        return f"keyframe {checked.number(row)} is at {times[row]:g} s, {before}"

    checked.report_rows(
        TIME_ORDER,
        TIME,
        np.flatnonzero(steps <= 0) + 1,
        in_order,
        lambda row: (
            None
            if steps[row - 1]
            else "remove one of them, or write times with more digits"
        ),
    )


def _check_length(checked: Checked) -> None:
    """Check that the move is not too long to be played."""
    animation = checked.animation
    times = animation.keyframes.times
    bpm = animation.bpm
    frequency = animation.options.get("frequency")
    duration = float(times[-1])
    if bpm is not None and not 0 < bpm < math.inf:
        bpm = None
    if not duration >= 0 or (duration == math.inf and checked.has_time_column):
        return
    # A slice is 15 s / bpm; at least one slice is played. The second line is the number
    # of frames at 100 Hz: 1500 / bpm frames per slice.
    with np.errstate(over="ignore"):
        slices = max(duration / 15 * (bpm or 120.0), 1.0)
        length = slices * max(1500 / (bpm or 120.0), 1.0)
    if length <= MAX_LENGTH:
        return
    # Which entry is at fault: tempo, last time, or frequency.
    if bpm is not None and duration <= MAX_LENGTH / 100:
        message = (
            f"at {bpm:g} beats per minute the move is {slices:.3g} slices or "
            f"{slices * 15 / bpm:.3g} s long"
        )
        checked.report(rules.MOVE_LONG, message, "options", "bpm", 0)
    elif checked.has_time_column:
        message = f"the move is too long: the last keyframe is at {duration:g} s"
        checked.report(rules.MOVE_LONG, message, "keyframes", len(times) - 1, TIME)
    else:
        message = (
            f"at {frequency:g} keyframes per second the last keyframe is at "
            f"{duration:g} s"
        )
        checked.report(rules.MOVE_LONG, message, "options", "frequency", 0)


def _check_jumps(checked: Checked, name: str, values: Floats) -> None:
    """Report steps of a column that are too large or too fast."""
    quantity = COLUMNS[name].quantity
    (largest, fastest), unit = (
        MAX_STEPS[quantity],
        "m" if quantity == "position" else "rad",
    )
    with np.errstate(invalid="ignore", over="ignore"):
        step = np.abs(np.diff(values))
        # Steps to or from NaN are reported as values.
        step[~np.isfinite(step)] = 0.0
        # Nothing is known of the steps over a line that was left out.
        step[
            [row - 1 for row in left_out(checked.animation) if 0 < row <= len(step)]
        ] = 0.0
        # time > 0: keyframes in the wrong order have a rule of their own.
        time = np.diff(checked.animation.keyframes.times)
        wrong = (step > largest) | (
            (step > fastest * time) & (time > 0) & (step > largest * MIN_STEP_FRACTION)
        )
    checked.report_rows(
        rules.JUMP,
        name,
        np.flatnonzero(wrong) + 1,
        lambda row: (
            f"{name} goes from {values[row - 1]:g} to {values[row]:g} {unit} in "
            f"{time[row - 1]:g} s"
        ),
    )


def _check_quaternions(checked: Checked, part: str) -> None:
    """Check the lengths of quaternions."""
    values = checked.animation.keyframes.column(f"{part}_quat_wxyz")
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", values, values))
    # Values that are too large are reported as such.
    finite = (np.abs(values) <= MAX_VALUE).all(axis=1)
    # 4 · ZERO_LENGTH: each of four components may be below it, as the converter's 1e-6
    # for zero is.
    zero = finite & (lengths <= 4 * ZERO_LENGTH)
    # ROUNDING: what digits of a file may cost, without being a fault.
    wrong = finite & ~zero & (np.abs(lengths - 1) > ROUNDING)
    name = f"{part}_quat"
    zeros = np.flatnonzero(zero)
    column = f"{name}_w"
    checked.report_rows(
        rules.QUATERNION_ZERO,
        column,
        zeros,
        lambda row: f"{name} is 0 in keyframe {checked.number(row)}",
    )
    checked.report_rows(
        MOTION_QUATERNION,
        column,
        np.flatnonzero(wrong),
        lambda row: (
            f"{name} has the length {lengths[row]:g} in keyframe {checked.number(row)}"
        ),
        lambda row: (
            "are these angles? A quaternion has length 1"
            if abs(lengths[row] - 1) > MAX_LENGTH_ERROR
            else None
        ),
    )


# Units.


def _check_degrees(checked: Checked) -> bool:
    """Report once, at the largest angle, if angles look like degrees.

    Return whether they do. A yaw alone may be beyond a full turn.
    """
    frames = checked.animation.keyframes
    # ±inf: columns without angles are never beyond.
    lower, upper = np.full((2, len(frames.columns)), [[-np.inf], [np.inf]])
    for k, name in enumerate(frames.columns):
        column = COLUMNS.get(name)
        if (
            column is None
            or column.quantity not in ("joint", "angle")
            or not _is_controlled(checked, column)
        ):
            continue
        # Joints have limits; body angles at most a full turn.
        is_joint = column.quantity == "joint"
        lower[k] = column.minimum - LIMIT_TOLERANCE if is_joint else -2 * math.pi
        upper[k] = column.maximum + LIMIT_TOLERANCE if is_joint else 2 * math.pi
    found = angles_in_degrees(frames.values, lower, upper, max_angle=MAX_VALUE)
    # A yaw alone beyond 2π is a robot that turns several times.
    if found is None or all(frames.columns[k].endswith("_yaw") for k in found.columns):
        return False
    row = found.frame
    name = frames.columns[found.column]
    if len(found.columns) > 1:
        more = f", and {counted(len(found.columns) - 1, 'more column')} too large"
    else:
        more = ""
    message = (
        f"{name} is {frames.values[row, found.column]:g} in keyframe "
        f"{checked.number(row)}{more}: these look like degrees"
    )
    checked.report(rules.DEGREES, message, "keyframes", row, name)
    return True


def _check_metres(checked: Checked) -> bool:
    """Report once if positions look like another unit than metres.

    Return whether they do.

    They do where a height, or the distance from a front to a hind foot, is mostly too
    large for a robot, and would not be in the other unit.
    """
    frames = checked.animation.keyframes
    # Any pair of front and hind foot will do: left.
    front = f"{LEGS[0]}_x"
    hind = f"{LEGS[2]}_x"
    sizes_of = [
        (name, frames.column(name), "is")
        for name in ("body_z", "com_z", "hand_z")
        if frames.has(name) and _is_controlled(checked, COLUMNS[name])
    ]
    if (
        frames.has(front)
        and frames.has(hind)
        and _is_controlled(checked, COLUMNS[front])
    ):
        sizes_of.append(
            (front, frames.column(front) - frames.column(hind), f"minus {hind} is")
        )
    # The median: single faulty keyframes must not decide.
    for name, values, verb in sizes_of:
        sizes = np.abs(values[np.isfinite(values)])
        if sizes.size:
            size = float(np.median(sizes))
        else:
            size = 0.0
        if size <= MAX_HEIGHT:
            continue
        # Only a unit in which the size is that of a robot.
        for scale, unit in UNITS:
            if ROBOT_SIZE[0] <= size / scale <= ROBOT_SIZE[1]:
                row = int(np.argmax(np.abs(np.nan_to_num(values)) > MAX_HEIGHT))
                message = (
                    f"{name} {verb} {values[row]:g} in keyframe {checked.number(row)}: "
                    f"these look like {unit}"
                )
                hint = (
                    f"divide all positions by {scale:g}. Jumps of positions are not "
                    "checked, nor the motion that is played"
                )
                checked.report(rules.METRES, message, "keyframes", row, name, hint=hint)
                return True
    return False


# Gait cycles.


def _check_cycle(checked: Checked) -> None:
    """Check what the document requires of an animation for Custom Gait.

    Where there are no contacts, the validation of the motion that is played
    (`bodymotion.spot.playback`) checks the inferred ones.
    """
    animation = checked.animation
    if animation.controls and "legs" not in animation.controls:
        checked.report(
            rules.CYCLE_LEGS,
            "the gait cycle does not control the legs",
            "options",
            "custom_gait_cycle",
        )
        return
    _check_ends(checked)
    missing = [leg for leg in LEGS if not animation.keyframes.has(f"{leg}_contact")]
    if missing:
        message = f"there are no columns of contacts for {', '.join(missing)}"
        checked.report(rules.CYCLE_CONTACTS, message, "options", "custom_gait_cycle")
    for leg in LEGS:
        if leg not in missing:
            contact = f"{leg}_contact"
            check_swings(
                checked, leg, contact, animation.keyframes.column(contact) != 0
            )


def check_swings(
    checked: Checked, leg: str, column: str, stance: Bools, source: str = ""
) -> None:
    """Check how often a foot swings.

    Parameters
    ----------
    leg, stance:
        The leg, and whether its foot is in stance at each keyframe, (N,).
    column:
        The column at which faults are reported.
    source:
        Added to messages: where the stance comes from.
    """
    for row, end in ((0, "start"), (len(stance) - 1, "end")):
        if not stance[row]:
            message = f"foot {leg} is in the air at the {end}{source}"
            checked.report(rules.CYCLE_FEET_UP, message, "keyframes", row, column)
    lifts = np.flatnonzero(stance[:-1] & ~stance[1:]) + 1
    swings = len(lifts) + int(not stance[0])
    if not swings:
        checked.report(
            rules.CYCLE_NO_SWING,
            f"foot {leg} does not leave the ground{source}",
            "columns",
            column,
        )
    elif swings > 2:
        third = int(lifts[2 - int(not stance[0])])
        message = (
            f"foot {leg} swings {swings} times{source}; the third swing begins here"
        )
        checked.report(rules.CYCLE_SWINGS, message, "keyframes", third, column)


def _check_ends(checked: Checked) -> None:
    """Report columns whose last value differs from the first one."""
    frames = checked.animation.keyframes
    first = frames.values[0]
    # A cycle repeats: it must end as it starts, in each column.
    last = frames.values[-1].copy()
    for part in ("body", "hand"):
        group = f"{part}_quat_wxyz"
        if frames.has(group):  # q and -q are the same rotation
            at = [frames.columns.index(column) for column in GROUPS[group]]
            if np.dot(first[at], last[at]) < 0:
                last[at] = -last[at]
    with np.errstate(invalid="ignore"):
        apart = np.abs(last - first)
    for k, name in enumerate(frames.columns):
        column = COLUMNS.get(name)
        if (
            column is None
            or column.quantity == "contact"
            or not _is_controlled(checked, column)
        ):
            continue
        if apart[k] > CYCLE_TOLERANCE:
            message = (
                f"{name} is {float(first[k]):g} in the first keyframe and "
                f"{float(last[k]):g} in the last"
            )
            checked.report(
                rules.CYCLE_ENDS, message, "keyframes", len(frames) - 1, name
            )
