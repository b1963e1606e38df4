"""Rules on options, parameters and columns of any animation."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real

from bodymotion.diagnostics import Diagnostics, Location, Rule, SourceMap, Subject
from bodymotion.diagnostics.problem import MAX_LISTED
from bodymotion.diagnostics.text import counted
from bodymotion.geometry.arrays import Indices
from bodymotion.motion.feet import LEGS
from bodymotion.motion.rules import FRAME_RATE
from bodymotion.spot.animation import GROUPS, TRACKS, Animation, Parameter
from bodymotion.spot.cha import rules
from bodymotion.spot.cha.head import exclusive
from bodymotion.spot.cha.keywords import (
    COLUMNS,
    OPTIONS,
    PARAMETERS,
    PLAYBACKS,
    TIME,
)

MAX_PARAMETER = 1e6  # Nothing can be played with a parameter that is larger.
# The values of a parameter, in the order of the file.
_VALUES = ("minimum", "default", "maximum")
_RANGE_RULES: dict[str, Rule] = {
    "body_tracking_stiffness": rules.STIFFNESS_RANGE,
    "gripper_strength_fraction": rules.FRACTION_RANGE,
}


@dataclass
class Checked:
    """An animation whose rules are checked, and the locations of its parts.

    Attributes
    ----------
    locations:
        The locations of its parts; None for an animation that was not just read from a
        file.
    has_time_column:
        Whether the times are a column.
    begins_late:
        Whether the first line of the keyframes has a fault.
    """

    animation: Animation
    found: Diagnostics
    locations: SourceMap | None = None
    has_time_column: bool = True
    begins_late: bool = False

    def number(self, row: int) -> int:
        """Return the number of the keyframe in a row: that of its line, from 1."""
        return keyframe_number(self.animation, row)

    def report(
        self, rule: Rule, message: str, *subject: str | int, hint: str | None = None
    ) -> None:
        """Report that a part of the animation breaks a rule."""
        self.found.report(
            rule, message, self._location(subject), hint=hint, subject=subject
        )

    def report_rows(
        self,
        rule: Rule,
        column: str,
        rows: Indices,
        message: Callable[[int], str],
        hint: Callable[[int], str | None] = lambda row: None,
    ) -> None:
        """Report that the value of a column breaks a rule in each of several rows.

        Of many the rest is only counted.
        """
        if self.found.is_full(rule):
            shown = []
        else:
            shown = rows[:MAX_LISTED].tolist()
        for row in shown:
            self.report(rule, message(row), "keyframes", row, column, hint=hint(row))
        if len(rows) > len(shown):
            self.found.count_more(rule, len(rows) - len(shown))

    def _location(self, subject: Subject) -> Location:
        if self.locations is not None:
            return self.locations.locate(subject) or Location(self.found.path)
        if subject[0] == "keyframes":
            return Location(
                self.found.path,
                inside=f"keyframe {self.number(int(subject[1]))}, {subject[2]}",
            )
        return Location(self.found.path, inside=str(subject[min(1, len(subject) - 1)]))


def left_out(animation: Animation) -> Sequence[int]:
    """Return the keyframes of a file that were left out because of faults.

    For each the row before which it is.
    """
    if isinstance(found := animation.source.options.get("left_out"), tuple):
        return found
    return ()


def keyframe_number(animation: Animation, row: int) -> int:
    """Return the number of a keyframe in its file, from 1."""
    return row + 1 + bisect_right(left_out(animation), row)


def check_names(checked: Checked) -> None:
    """Check what a reader of a file finds in its text.

    Tracks, texts, colours, the names of columns.
    """
    options = checked.animation.options
    for track in checked.animation.controls:
        if track not in TRACKS:
            message = f"{track!r} is not a track"
            checked.report(rules.CONTROLS_TRACK, message, "options", "controls")
    playback = options.get("arm_playback")
    if playback is not None and playback not in PLAYBACKS:
        message = f"'arm_playback' is {playback!r}, which is not one of its values"
        checked.report(rules.PLAYBACK, message, "options", "arm_playback")
    _check_color(checked, options.get("display_rgb"))
    for name in ("bpm", "frequency", "timing_adjustability"):
        value = options.get(name)
        if value is not None and not (isinstance(value, Real) and math.isfinite(value)):
            message = f"{name!r} is {value!r}, expected a finite number"
            checked.report(rules.OPTION_NUMBER, message, "options", name)
    _check_column_names(checked)


def _check_color(checked: Checked, color: object) -> None:
    """Check that a colour has three numbers from 0 to 255."""
    if color is None:
        return
    if not isinstance(color, (tuple, list)) or len(color) != 3:
        message = f"the colour is {color!r}, expected three numbers"
        checked.report(rules.COLOR_COUNT, message, "options", "display_rgb")
    elif not all(isinstance(c, Integral) and 0 <= int(c) <= 255 for c in color):
        message = f"the colour is {color!r}, expected whole numbers from 0 to 255"
        checked.report(rules.COLOR_RANGE, message, "options", "display_rgb")


def _check_column_names(checked: Checked) -> None:
    """Report columns that are unknown, twice there, or exclude an earlier one."""
    columns = checked.animation.keyframes.columns
    for k, column in enumerate(columns):
        before = columns[:k]
        excluded = [other for other in before if exclusive(column, other)]
        if column not in COLUMNS or column == TIME:
            message = f"{column!r} is not a column beside the times"
            checked.report(rules.COLUMN_UNKNOWN, message, "columns", column)
        elif column in before:
            message = f"{column!r} is also before this column"
            checked.report(rules.COLUMN_TWICE, message, "columns", column)
        elif excluded:
            rule = exclusive(column, excluded[0])
            assert rule is not None
            message = f"there are both {excluded[0]!r} and {column!r}"
            checked.report(rule, message, "columns", column)


def check_options(checked: Checked) -> None:
    """Check the values of options, and options with each other."""
    options = checked.animation.options
    controls = checked.animation.controls
    if not controls and checked.found.is_known(("options", "controls")):
        message = "no track is controlled"
        checked.report(rules.CONTROLS_MISSING, message, "options", "controls")
    _check_numbers(checked)
    if "arm_prohibited" in options:
        _check_arm_prohibited(checked)
    if "precise_timing" in options and "timing_adjustability" in options:
        message = "there are both 'timing_adjustability' and 'precise_timing'"
        checked.report(rules.TIMING_TWICE, message, "options", "precise_timing")
    if not controls:
        return
    if "neutral_start" in options and ("legs" in controls or "body" not in controls):
        message = (
            f"there is 'neutral_start', but 'controls' is {' '.join(controls)}; "
            "expected body, and not legs"
        )
        checked.report(rules.NEUTRAL_START, message, "options", "neutral_start")
    for name in options:
        # These two have rules of their own about tracks.
        if name not in OPTIONS or name in ("neutral_start", "custom_gait_cycle"):
            continue
        tracks = OPTIONS[name].tracks
        unused = [track for track in tracks if track not in controls]
        if unused:
            track = unused[0]
            message = f"{name!r} is for {track}, which {_are(track)} not controlled"
            checked.report(rules.OPTION_IDLE, message, "options", name)


def _check_arm_prohibited(checked: Checked) -> None:
    """Check that an animation for robots without arm needs none."""
    controls = checked.animation.controls
    subject = ("options", "arm_prohibited")
    if "arm_required" in checked.animation.options:
        message = "there are both 'arm_required' and 'arm_prohibited'"
        checked.report(rules.ARM_CONTRADICTION, message, *subject)
    moved = [track for track in controls if track in ("arm", "gripper")]
    if not moved:
        return
    rule = rules.ARM_PROHIBITED_USED
    only = ""
    if moved == list(controls):
        rule = rules.ARM_CONTRADICTION
        only = "only "
    tracks = ", ".join(moved)
    message = f"there is 'arm_prohibited', but the animation controls {only}{tracks}"
    checked.report(rule, message, *subject)


def _are(track: str) -> str:
    return "are" if track == "legs" else "is"


def _check_numbers(checked: Checked) -> None:
    """Check the ranges of options with a number."""
    for name, value in checked.animation.options.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            continue
        number = float(value)
        rule: Rule | None = None
        expected = ""
        match name:
            case "bpm" if not number > 0:
                rule = rules.BPM_POSITIVE
                expected = f"{number:g}, expected more than 0"
            case "bpm" if not number.is_integer():
                rule = rules.BPM_WHOLE
                expected = f"{number!r}, expected a whole number"
            case "frequency" if not number > 0:
                rule = FRAME_RATE
                expected = f"{number:g} Hz, expected more than 0"
            case "timing_adjustability" if not -1 <= number <= 1:
                rule = rules.ADJUSTABILITY_RANGE
                expected = f"{number:g}, expected -1 to 1"
        if rule is not None:
            checked.report(rule, f"{name!r} is {expected}", "options", name, 0)


def check_parameters(checked: Checked) -> None:
    """Check the ranges of parameters, and the tracks and options that they need."""
    animation = checked.animation
    for name, parameter in animation.parameters.items():
        if name not in PARAMETERS:
            message = f"{name!r} is not a parameter"
            checked.report(rules.PARAMETER_UNKNOWN, message, "parameters", name)
            continue
        _check_tracks_of_parameter(checked, name)
        _check_limits(checked, name, parameter)
    playback = animation.options.get("arm_playback")
    in_dance_frame = playback == "workspace_dance_frame"
    if "arm_dance_frame_id" in animation.parameters and not in_dance_frame:
        message = (
            "'arm_dance_frame_id' is a parameter, but 'arm_playback' is "
            f"{playback or 'missing'}"
        )
        checked.report(rules.DANCE_FRAME, message, "parameters", "arm_dance_frame_id")


def _check_tracks_of_parameter(checked: Checked, name: str) -> None:
    """Report a parameter of tracks that are not controlled."""
    controls = checked.animation.controls
    tracks = PARAMETERS[name].tracks
    missing = [track for track in tracks if track not in controls]
    if missing and controls:
        are = "are" if len(missing) > 1 else _are(missing[0])
        message = (
            f"{name!r} needs {', '.join(tracks)}, but {', '.join(missing)} {are} not "
            "controlled"
        )
        checked.report(rules.PARAMETER_TRACK, message, "parameters", name)


def _check_limits(checked: Checked, name: str, parameter: Parameter) -> None:
    """Check minimum, default and maximum of a parameter."""
    low = parameter.minimum
    default = parameter.default
    high = parameter.maximum
    known = [value for value in (low, default, high) if value is not None]
    if len(known) in (1, 2):
        message = f"{name!r} has {counted(len(known), 'value')}, expected 3 or none"
        checked.report(rules.PARAMETER_VALUES, message, "parameters", name)
        return
    if not all(map(math.isfinite, known)):
        message = f"{name!r} has values that are not finite"
        checked.report(rules.PARAMETER_NUMBER, message, "parameters", name)
        return
    if low is None or default is None or high is None:
        message = f"{name!r} has no limits"
        checked.report(rules.PARAMETER_NAMED, message, "parameters", name)
        return
    if low > high:
        message = f"{name!r}: minimum {low:g} is above maximum {high:g}"
        checked.report(rules.PARAMETER_ORDER, message, "parameters", name, 0)
    elif not low <= default <= high:
        message = f"{name!r}: default {default:g} is not from {low:g} to {high:g}"
        checked.report(rules.PARAMETER_DEFAULT, message, "parameters", name, 1)
    # The last part of the subject is the number of the value.
    for k, value in enumerate((low, default, high)):
        subject = ("parameters", name, k)
        if k == 1:
            _check_default(checked, subject, value)
        else:
            _check_end_of_range(checked, subject, value)
        if PARAMETERS[name].whole and not float(value).is_integer():
            message = f"{name!r}: {_VALUES[k]} {value:g} is no integer"
            checked.report(rules.PARAMETER_WHOLE, message, *subject)


def _check_default(
    checked: Checked, subject: tuple[str, str, int], value: float
) -> None:
    """Check the default of a parameter."""
    name = subject[1]
    if abs(value) > MAX_PARAMETER:
        message = f"{name!r}: default {value:g} is beyond ±1e6"
        checked.report(rules.PARAMETER_HUGE, message, *subject)
    elif name == "speed" and value <= 0:
        message = f"'speed': default {value:g}, expected more than 0"
        checked.report(rules.SPEED_ZERO, message, *subject)
    else:
        _check_range(checked, subject, value)


def _check_end_of_range(
    checked: Checked, subject: tuple[str, str, int], value: float
) -> None:
    """Check the minimum or the maximum of a parameter."""
    is_allowed = _check_range(checked, subject, value)
    if is_allowed and subject[1] == "speed" and value == 0:
        message = (
            f"'speed': {_VALUES[subject[2]]} 0, at which the animation does not move"
        )
        checked.report(rules.PARAMETER_NEGATIVE, message, *subject)


def _check_range(checked: Checked, subject: tuple[str, str, int], value: float) -> bool:
    """Check the range in which all values of a parameter are.

    Return whether this one is.
    """
    _, name, k = subject
    keyword = PARAMETERS[name]
    if keyword.minimum <= value <= keyword.maximum:
        return True
    upper = ""
    if keyword.maximum != math.inf:
        upper = f" and at most {keyword.maximum:g}"
    message = (
        f"{name!r}: {_VALUES[k]} {value:g}, expected at least "
        f"{keyword.minimum:g}{upper}"
    )
    rule = _RANGE_RULES.get(name, rules.PARAMETER_NEGATIVE)
    checked.report(rule, message, *subject)
    return False


def check_columns(checked: Checked) -> None:
    """Check that the columns are those that the controlled tracks need."""
    animation = checked.animation
    columns = set(animation.keyframes.columns)
    controls = animation.controls
    if not controls:
        return
    tracks = {COLUMNS[column].track for column in columns if column in COLUMNS}
    if "gripper" in controls and "gripper" not in columns:
        message = "the gripper is controlled, but has no column"
        checked.report(rules.GRIPPER_MISSING, message, "columns")
    for track in ("body", "arm"):
        if track in controls and track not in tracks:
            message = f"the {track} is controlled, but has no columns"
            checked.report(rules.TRACK_COLUMNS, message, "columns")
    if "legs" in controls:
        _check_legs(checked, columns)
    for part in ("body", "hand"):
        _check_whole(checked, columns, rules.QUATERNION_INCOMPLETE, f"{part}_quat_wxyz")
    if "arm" in controls:
        _check_hand(checked, columns)
    contacts = [column for column in GROUPS["contact"] if column in columns]
    if "legs" in controls and 0 < len(contacts) < len(LEGS):
        message = f"there are contacts for only {', '.join(contacts)}"
        checked.report(rules.CONTACT_INCOMPLETE, message, "columns", contacts[0])
    for track in sorted(tracks - set(controls) - {""}):
        _report_uncontrolled(checked, track)


def _report_uncontrolled(checked: Checked, track: str) -> None:
    """Report the columns of a track that is not controlled."""
    columns = checked.animation.keyframes.columns
    first = next(column for column in columns if COLUMNS[column].track == track)
    has = "have" if track == "legs" else "has"
    message = f"the {track} {has} columns, but {_are(track)} not controlled"
    checked.report(rules.UNCONTROLLED, message, "columns", first)
    if track == "legs" and "neutral_start" in checked.animation.options:
        message = "there are 'neutral_start' and columns of legs"
        checked.report(rules.NEUTRAL_START_COLUMNS, message, "options", "neutral_start")


def _check_legs(checked: Checked, columns: set[str]) -> None:
    """Check that each leg has all angles or a whole position."""
    for leg in LEGS:
        angles = columns.intersection(GROUPS[f"{leg}_angles"])
        position = columns.intersection(GROUPS[f"{leg}_pos"])
        if not angles and not position:
            message = (
                f"the legs are controlled, but {leg} has neither angles nor a position"
            )
            checked.report(rules.LEG_MISSING, message, "columns")
        elif len(angles) < 3 and len(position) < 3:
            group = f"{leg}_angles" if angles else f"{leg}_pos"
            _check_whole(checked, columns, rules.LEG_INCOMPLETE, group)


def _check_whole(checked: Checked, columns: set[str], rule: Rule, group: str) -> None:
    """Report a group of which only some columns are there."""
    some = [column for column in GROUPS[group] if column in columns]
    missing = [column for column in GROUPS[group] if column not in columns]
    if some and missing:
        are = "is" if len(missing) == 1 else "are"
        message = f"{', '.join(missing)} {are} missing beside {', '.join(some)}"
        checked.report(rule, message, "columns", some[0])


def _check_hand(checked: Checked, columns: set[str]) -> None:
    """Check that the hand has a position and an orientation, or neither."""
    position = [column for column in GROUPS["hand_pos"] if column in columns]
    orientation = [
        column
        for column in (*GROUPS["hand_quat_wxyz"], *GROUPS["hand_euler_rpy"])
        if column in columns
    ]
    for group in ("hand_pos", "hand_euler_rpy"):
        _check_whole(checked, columns, rules.HAND_INCOMPLETE, group)
    if orientation and not position:
        message = "the hand has an orientation, but no position"
        checked.report(rules.HAND_POSITION_MISSING, message, "columns", orientation[0])
    if position and not orientation:
        message = "the hand has a position, but no orientation"
        checked.report(rules.HAND_ORIENTATION_MISSING, message, "columns", position[0])
