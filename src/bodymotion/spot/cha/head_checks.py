"""Rules on the options, parameters and columns of an animation, whatever it comes from."""

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
    """Return for each keyframe of a file that was left out because of faults the row before which it is."""
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
            checked.report(
                rules.CONTROLS_TRACK, f"{track!r} is not a track", "options", "controls"
            )
    playback = options.get("arm_playback")
    color = options.get("display_rgb")
    if playback is not None and playback not in PLAYBACKS:
        message = f"'arm_playback' is {playback!r}, which is not one of its values"
        checked.report(rules.PLAYBACK, message, "options", "arm_playback")
    if color is not None and not (isinstance(color, (tuple, list)) and len(color) == 3):
        message = f"the colour is {color!r}, expected three numbers"
        checked.report(rules.COLOR_COUNT, message, "options", "display_rgb")
    elif isinstance(color, (tuple, list)) and not all(
        isinstance(c, Integral) and 0 <= int(c) <= 255 for c in color
    ):
        message = f"the colour is {color!r}, expected whole numbers from 0 to 255"
        checked.report(rules.COLOR_RANGE, message, "options", "display_rgb")
    for name in ("bpm", "frequency", "timing_adjustability"):
        value = options.get(name)
        if value is not None and not (isinstance(value, Real) and math.isfinite(value)):
            checked.report(
                rules.OPTION_NUMBER,
                f"{name!r} is {value!r}, expected a finite number",
                "options",
                name,
            )
    columns = checked.animation.keyframes.columns
    for k, column in enumerate(columns):
        if column not in COLUMNS or column == TIME:
            checked.report(
                rules.COLUMN_UNKNOWN,
                f"{column!r} is not a column beside the times",
                "columns",
                column,
            )
        elif column in columns[:k]:
            checked.report(
                rules.COLUMN_TWICE,
                f"{column!r} is also before this column",
                "columns",
                column,
            )
        else:
            for other in columns[:k]:
                if rule := exclusive(column, other):
                    message = f"there are both {other!r} and {column!r}"
                    checked.report(rule, message, "columns", column)
                    break


def check_options(checked: Checked) -> None:
    """Check the values of options, and options with each other."""
    animation = checked.animation
    options = animation.options
    controls = animation.controls
    if not controls and checked.found.is_known(("options", "controls")):
        checked.report(
            rules.CONTROLS_MISSING, "no track is controlled", "options", "controls"
        )
    _check_numbers(checked)
    if "arm_required" in options and "arm_prohibited" in options:
        message = "there are both 'arm_required' and 'arm_prohibited'"
        checked.report(rules.ARM_CONTRADICTION, message, "options", "arm_prohibited")
    moved = [track for track in controls if track in ("arm", "gripper")]
    if "arm_prohibited" in options and moved:
        only = moved == list(controls)
        message = f"there is 'arm_prohibited', but the animation controls {'only ' if only else ''}{', '.join(moved)}"
        if only:
            rule = rules.ARM_CONTRADICTION
        else:
            rule = rules.ARM_PROHIBITED_USED
        checked.report(rule, message, "options", "arm_prohibited")
    if "precise_timing" in options and "timing_adjustability" in options:
        message = "there are both 'timing_adjustability' and 'precise_timing'"
        checked.report(rules.TIMING_TWICE, message, "options", "precise_timing")
    if not controls:
        return
    if "neutral_start" in options and ("legs" in controls or "body" not in controls):
        message = f"there is 'neutral_start', but 'controls' is {' '.join(controls)}; expected body, and not legs"
        checked.report(rules.NEUTRAL_START, message, "options", "neutral_start")
    for name in options:
        if name in OPTIONS:
            unused = [track for track in OPTIONS[name].tracks if track not in controls]
        else:
            unused = []
        if unused and name not in ("neutral_start", "custom_gait_cycle"):
            message = (
                f"{name!r} is for {unused[0]}, which {_are(unused[0])} not controlled"
            )
            checked.report(rules.OPTION_IDLE, message, "options", name)


def _are(track: str) -> str:
    return "are" if track == "legs" else "is"


def _check_numbers(checked: Checked) -> None:
    for name, value in checked.animation.options.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            continue
        x = float(value)
        match name:
            case "bpm" if not x > 0:
                checked.report(
                    rules.BPM_POSITIVE,
                    f"{name!r} is {x:g}, expected more than 0",
                    "options",
                    name,
                    0,
                )
            case "bpm" if not x.is_integer():
                checked.report(
                    rules.BPM_WHOLE,
                    f"{name!r} is {x!r}, expected a whole number",
                    "options",
                    name,
                    0,
                )
            case "frequency" if not x > 0:
                checked.report(
                    FRAME_RATE,
                    f"{name!r} is {x:g} Hz, expected more than 0",
                    "options",
                    name,
                    0,
                )
            case "timing_adjustability" if not -1 <= x <= 1:
                checked.report(
                    rules.ADJUSTABILITY_RANGE,
                    f"{name!r} is {x:g}, expected -1 to 1",
                    "options",
                    name,
                    0,
                )


def check_parameters(checked: Checked) -> None:
    """Check the ranges of parameters, and the tracks and options that they need."""
    animation = checked.animation
    controls = animation.controls
    for name, parameter in animation.parameters.items():
        if name not in PARAMETERS:
            checked.report(
                rules.PARAMETER_UNKNOWN,
                f"{name!r} is not a parameter",
                "parameters",
                name,
            )
            continue
        tracks = PARAMETERS[name].tracks
        missing = tuple(track for track in tracks if track not in controls)
        if missing and controls:
            if len(missing) > 1:
                are = "are"
            else:
                are = _are(missing[0])
            message = f"{name!r} needs {', '.join(tracks)}, but {', '.join(missing)} {are} not controlled"
            checked.report(rules.PARAMETER_TRACK, message, "parameters", name)
        _check_range(checked, name, parameter)
    playback = animation.options.get("arm_playback")
    if (
        "arm_dance_frame_id" in animation.parameters
        and playback != "workspace_dance_frame"
    ):
        message = f"'arm_dance_frame_id' is a parameter, but 'arm_playback' is {playback or 'missing'}"
        checked.report(rules.DANCE_FRAME, message, "parameters", "arm_dance_frame_id")


def _check_range(checked: Checked, name: str, parameter: Parameter) -> None:
    keyword = PARAMETERS[name]
    low = parameter.minimum
    default = parameter.default
    high = parameter.maximum
    known = [value for value in (low, default, high) if value is not None]
    if len(known) in (1, 2):
        message = f"{name!r} has {counted(len(known), 'value')}, expected 3 or none"
        checked.report(rules.PARAMETER_VALUES, message, "parameters", name)
        return
    if not all(map(math.isfinite, known)):
        checked.report(
            rules.PARAMETER_NUMBER,
            f"{name!r} has values that are not finite",
            "parameters",
            name,
        )
        return
    if low is None or default is None or high is None:
        checked.report(
            rules.PARAMETER_NAMED, f"{name!r} has no limits", "parameters", name
        )
        return
    if low > high:
        message = f"{name!r}: minimum {low:g} is above maximum {high:g}"
        checked.report(rules.PARAMETER_ORDER, message, "parameters", name, 0)
    elif not low <= default <= high:
        message = f"{name!r}: default {default:g} is not from {low:g} to {high:g}"
        checked.report(rules.PARAMETER_DEFAULT, message, "parameters", name, 1)
    values = tuple(
        zip(("minimum", "default", "maximum"), (low, default, high), strict=True)
    )
    for k, (what, value) in enumerate(values):
        if what == "default" and abs(value) > MAX_PARAMETER:
            checked.report(
                rules.PARAMETER_HUGE,
                f"{name!r}: default {value:g} is beyond ±1e6",
                "parameters",
                name,
                k,
            )
        elif name == "speed" and what == "default" and value <= 0:
            checked.report(
                rules.SPEED_ZERO,
                f"'speed': default {value:g}, expected more than 0",
                "parameters",
                name,
                k,
            )
        elif not keyword.minimum <= value <= keyword.maximum:
            if keyword.maximum == math.inf:
                upper = ""
            else:
                upper = f" and at most {keyword.maximum:g}"
            message = f"{name!r}: {what} {value:g}, expected at least {keyword.minimum:g}{upper}"
            checked.report(
                _RANGE_RULES.get(name, rules.PARAMETER_NEGATIVE),
                message,
                "parameters",
                name,
                k,
            )
        elif name == "speed" and value == 0 and what != "default":
            message = f"'speed': {what} 0, at which the animation does not move"
            checked.report(rules.PARAMETER_NEGATIVE, message, "parameters", name, k)
        if keyword.whole and not float(value).is_integer():
            checked.report(
                rules.PARAMETER_WHOLE,
                f"{name!r}: {what} {value:g} is no integer",
                "parameters",
                name,
                k,
            )


def check_columns(checked: Checked) -> None:
    """Check that the columns are those that the controlled tracks need."""
    animation = checked.animation
    columns = set(animation.keyframes.columns)
    controls = animation.controls
    if not controls:
        return
    tracks = {COLUMNS[column].track for column in columns if column in COLUMNS}
    if "gripper" in controls and "gripper" not in columns:
        checked.report(
            rules.GRIPPER_MISSING,
            "the gripper is controlled, but has no column",
            "columns",
        )
    for track in ("body", "arm"):
        if track in controls and track not in tracks:
            checked.report(
                rules.TRACK_COLUMNS,
                f"the {track} is controlled, but has no columns",
                "columns",
            )
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
        first = next(
            column
            for column in animation.keyframes.columns
            if COLUMNS[column].track == track
        )
        has = "have" if track == "legs" else "has"
        message = f"the {track} {has} columns, but {_are(track)} not controlled"
        checked.report(rules.UNCONTROLLED, message, "columns", first)
        if track == "legs" and "neutral_start" in animation.options:
            message = "there are 'neutral_start' and columns of legs"
            checked.report(
                rules.NEUTRAL_START_COLUMNS, message, "options", "neutral_start"
            )


def _check_legs(checked: Checked, columns: set[str]) -> None:
    for leg in LEGS:
        present = {
            group: [column for column in GROUPS[group] if column in columns]
            for group in (f"{leg}_angles", f"{leg}_pos")
        }
        if not any(present.values()):
            message = (
                f"the legs are controlled, but {leg} has neither angles nor a position"
            )
            checked.report(rules.LEG_MISSING, message, "columns")
        elif 3 not in map(len, present.values()):
            group = next(group for group, some in present.items() if some)
            _check_whole(checked, columns, rules.LEG_INCOMPLETE, group)


def _check_whole(checked: Checked, columns: set[str], rule: Rule, group: str) -> None:
    """Report a group of which only some columns are there."""
    some = [column for column in GROUPS[group] if column in columns]
    missing = [column for column in GROUPS[group] if column not in columns]
    if some and missing:
        message = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing beside {', '.join(some)}"
        checked.report(rule, message, "columns", some[0])


def _check_hand(checked: Checked, columns: set[str]) -> None:
    position = [column for column in GROUPS["hand_pos"] if column in columns]
    angles = [column for column in GROUPS["hand_euler_rpy"] if column in columns]
    orientation = [
        column for column in GROUPS["hand_quat_wxyz"] if column in columns
    ] or angles
    for group in ("hand_pos", "hand_euler_rpy"):
        _check_whole(checked, columns, rules.HAND_INCOMPLETE, group)
    if orientation and not position:
        message = "the hand has an orientation, but no position"
        checked.report(rules.HAND_POSITION_MISSING, message, "columns", orientation[0])
    if position and not orientation:
        message = "the hand has a position, but no orientation"
        checked.report(rules.HAND_ORIENTATION_MISSING, message, "columns", position[0])
