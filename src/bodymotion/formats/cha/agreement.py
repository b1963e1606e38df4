"""Whether the options, parameters and columns of an animation go together. Looks at the animation, not at a text."""

from __future__ import annotations

import math
from numbers import Integral, Real

from bodymotion.animation import GROUPS, LEGS, TRACKS, Animation, Parameter
from bodymotion.diagnostics import Rule
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.columns import EXCLUSIVE_RULES, exclusive
from bodymotion.formats.cha.findings import Findings
from bodymotion.formats.cha.places import Places
from bodymotion.formats.cha.words import COLUMNS, OPTIONS, PARAMETERS, PLAYBACKS, TIME, tracks_text

__all__ = ["check_columns", "check_names", "check_options", "check_parameters"]

MOST_VALUE = 1e6
"""Nothing is played with a parameter that is larger."""


def check_names(animation: Animation, findings: Findings) -> None:
    """Check what a reader finds in the text already: tracks, texts, colours, the names of columns."""
    options, places = animation.options, Places()
    for track in animation.controls:
        if track not in TRACKS:
            findings.add(rules.CONTROLS_TRACK, f"{track!r} is no track", places.option("controls"))
    playback, color = options.get("arm_playback"), options.get("display_rgb")
    if playback is not None and playback not in PLAYBACKS:
        findings.add(rules.PLAYBACK, f"{playback!r} is no way of playback", places.option("arm_playback"))
    if color is not None and not (isinstance(color, (tuple, list)) and len(color) == 3):
        findings.add(rules.COLOR_COUNT, f"the colour is {color!r}", places.option("display_rgb"))
    elif isinstance(color, (tuple, list)) and not all(isinstance(c, Integral) and 0 <= int(c) <= 255 for c in color):
        findings.add(rules.COLOR_RANGE, f"the colour is {color!r}", places.option("display_rgb"))
    for name in ("bpm", "frequency", "timing_adjustability"):
        value = options.get(name)
        if value is not None and not (isinstance(value, Real) and math.isfinite(value)):
            findings.add(rules.OPTION_NUMBER, f"{name!r} is {value!r}", places.option(name))
    columns = animation.keyframes.columns
    for k, column in enumerate(columns):
        if column not in COLUMNS or column == TIME:
            findings.add(rules.COLUMN_UNKNOWN, f"{column!r} is no column beside the times", places.column(column))
        elif column in columns[:k]:
            findings.add(rules.COLUMN_TWICE, f"{column!r} stands twice", places.column(column))
        else:
            for other in columns[:k]:
                if kind := exclusive(column, other):
                    findings.add(EXCLUSIVE_RULES[kind], f"{column!r} stands beside {other!r}", places.column(column))
                    break


def check_options(animation: Animation, places: Places, findings: Findings) -> None:
    """Check values of options, and options with each other."""
    options, controls = animation.options, animation.controls
    if not controls and "controls" not in places.options:
        findings.add(rules.CONTROLS_MISSING, "there is no option 'controls'", places.option("controls"))
    _check_numbers(animation, places, findings)
    if "arm_required" in options and "arm_prohibited" in options:
        said = "'arm_required' and 'arm_prohibited' stand side by side"
        findings.add(rules.ARM_CONTRADICTION, said, places.option("arm_prohibited"))
    moved = [track for track in controls if track in ("arm", "gripper")]
    if "arm_prohibited" in options and moved == list(controls) and moved:
        said = f"'arm_prohibited', but all that it controls is {tracks_text(tuple(moved))}"
        findings.add(rules.ARM_CONTRADICTION, said, places.option("arm_prohibited"))
    elif "arm_prohibited" in options and moved:
        said = f"'arm_prohibited', but it controls {tracks_text(tuple(moved))}"
        findings.add(rules.ARM_PROHIBITED_USED, said, places.option("arm_prohibited"))
    if "precise_timing" in options and "timing_adjustability" in options:
        said = "'precise_timing' and 'timing_adjustability' stand side by side"
        findings.add(rules.TIMING_TWICE, said, places.option("precise_timing"))
    if not controls:
        return
    if "neutral_start" in options and ("legs" in controls or "body" not in controls):
        said = f"'neutral_start', but it controls {tracks_text(controls)}"
        findings.add(rules.NEUTRAL_START, said, places.option("neutral_start"))
    for name in options:
        idle = [track for track in OPTIONS[name].tracks if track not in controls] if name in OPTIONS else []
        if idle and name not in ("neutral_start", "custom_gait_cycle"):
            findings.add(
                rules.OPTION_IDLE,
                f"{name!r} is for {idle[0]}, which {'are' if idle[0] == 'legs' else 'is'} not controlled",
                places.option(name),
            )


def _check_numbers(animation: Animation, places: Places, findings: Findings) -> None:
    options = animation.options
    bpm = _number(options.get("bpm"))
    if bpm is not None and not bpm > 0:
        findings.add(rules.BPM_POSITIVE, f"{bpm:g} beats per minute", places.option("bpm", 0))
    elif bpm is not None and not bpm.is_integer():
        findings.add(rules.BPM_WHOLE, f"{bpm!r} beats per minute", places.option("bpm", 0))
    frequency = _number(options.get("frequency"))
    if frequency is not None and not frequency > 0:
        findings.add(rules.FREQUENCY_POSITIVE, f"{frequency:g} keyframes a second", places.option("frequency", 0))
    timing = _number(options.get("timing_adjustability"))
    if timing is not None and not -1 <= timing <= 1:
        said = f"a timing adjustability of {timing:g}"
        findings.add(rules.ADJUSTABILITY_RANGE, said, places.option("timing_adjustability", 0))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def check_parameters(animation: Animation, places: Places, findings: Findings) -> None:
    """Check the ranges of parameters, and what they need."""
    controls = animation.controls
    for name, parameter in animation.parameters.items():
        if name not in PARAMETERS:
            findings.add(rules.PARAMETER_UNKNOWN, f"{name!r} is no parameter", places.parameter(name))
            continue
        word = PARAMETERS[name]
        missing = tuple(track for track in word.tracks if track not in controls)
        if missing and controls:
            are = "is" if len(missing) == 1 and missing != ("legs",) else "are"
            said = f"{name!r} needs {tracks_text(word.tracks)}, but {tracks_text(missing)} {are} not controlled"
            findings.add(rules.PARAMETER_TRACK, said, places.parameter(name))
        _check_range(name, parameter, places, findings)
    if "arm_dance_frame_id" in animation.parameters:
        place = places.parameter("arm_dance_frame_id")
        playback = animation.options.get("arm_playback")
        if playback != "workspace_dance_frame":
            said = f"'arm_playback' is {playback!r}" if playback else "there is no 'arm_playback workspace_dance_frame'"
            findings.add(rules.DANCE_FRAME, said, place)


def _check_range(name: str, parameter: Parameter, places: Places, findings: Findings) -> None:
    word = PARAMETERS[name]
    given = [value for value in (parameter.minimum, parameter.default, parameter.maximum) if value is not None]
    if len(given) in (1, 2):
        findings.add(
            rules.PARAMETER_VALUES,
            f"{name!r} has {len(given)} value{'s' * (len(given) > 1)} of three",
            places.parameter(name),
        )
        return
    if not all(map(math.isfinite, given)):
        findings.add(rules.PARAMETER_NUMBER, f"{name!r} has values that are not finite", places.parameter(name))
        return
    low, default, high = parameter.minimum, parameter.default, parameter.maximum
    if low is None or default is None or high is None:
        said = f"{name!r} stands alone"
        findings.add(rules.PARAMETER_NAMED, said, places.parameter(name))
        return
    if low > high:
        said = f"the minimum of {name!r}, {low:g}, is above its maximum, {high:g}"
        findings.add(rules.PARAMETER_ORDER, said, places.parameter(name, 0))
    elif not low <= default <= high:
        said = f"the default of {name!r}, {default:g}, is not from {low:g} to {high:g}"
        findings.add(rules.PARAMETER_DEFAULT, said, places.parameter(name, 1))
    values = tuple(zip(("minimum", "default", "maximum"), (low, default, high), strict=True))
    for k, (what, value) in enumerate(values):
        if what == "default" and abs(value) > MOST_VALUE:
            findings.add(rules.PARAMETER_HUGE, f"the default of {name!r} is {value:g}", places.parameter(name, k))
        elif name == "speed" and what == "default" and value <= 0:
            findings.add(rules.SPEED_ZERO, f"the default of 'speed' is {value:g}", places.parameter(name, k))
        elif not word.lowest <= value <= word.highest:
            ends = f"at least {word.lowest:g}" if word.highest == math.inf else f"{word.lowest:g} to {word.highest:g}"
            said = f"the {what} of {name!r} is {value:g}; it may be {ends}"
            findings.add(_RANGES.get(name, rules.PARAMETER_NEGATIVE), said, places.parameter(name, k))
        elif name == "speed" and value == 0 and what != "default":
            said = f"the {what} of 'speed' is 0, at which the animation stands still"
            findings.add(rules.PARAMETER_NEGATIVE, said, places.parameter(name, k))
        if word.whole and not float(value).is_integer():
            said = f"the {what} of {name!r} is {value:g}"
            findings.add(rules.PARAMETER_WHOLE, said, places.parameter(name, k))


_RANGES: dict[str, Rule] = {
    "body_tracking_stiffness": rules.STIFFNESS_RANGE,
    "gripper_strength_fraction": rules.FRACTION_RANGE,
}


def check_columns(animation: Animation, places: Places, findings: Findings) -> None:
    """Check that the columns are those that the controlled tracks need."""
    columns, controls = set(animation.keyframes.columns), animation.controls
    if not controls:
        return
    given = {COLUMNS[column].track for column in columns if column in COLUMNS}
    if "gripper" in controls and "gripper" not in columns:
        findings.add(rules.GRIPPER_MISSING, "the gripper is controlled, but has no column", places.column())
    for track in ("body", "arm"):
        if track in controls and track not in given:
            findings.add(rules.TRACK_COLUMNS, f"the {track} is controlled, but has no columns", places.column())
    if "legs" in controls:
        _check_legs(columns, places, findings)
    for part in ("body", "hand"):
        _check_quaternion(f"{part}_quat_wxyz", columns, places, findings)
    if "arm" in controls:
        _check_hand(columns, places, findings)
    contacts = [column for column in GROUPS["contact"] if column in columns]
    if "legs" in controls and 0 < len(contacts) < len(LEGS):
        said = f"there are contacts for {tracks_text(tuple(contacts))} only"
        findings.add(rules.CONTACT_INCOMPLETE, said, places.column(contacts[0]))
    for track in sorted(given - set(controls) - {""}):
        first = next(column for column in animation.keyframes.columns if COLUMNS[column].track == track)
        said = "the legs have columns, but are" if track == "legs" else f"the {track} has columns, but is"
        findings.add(rules.UNCONTROLLED, f"{said} not controlled", places.column(first))
        if track == "legs" and "neutral_start" in animation.options:
            said = "'neutral_start', but there are columns of legs"
            findings.add(rules.NEUTRAL_START_COLUMNS, said, places.option("neutral_start"))


def _check_legs(columns: set[str], places: Places, findings: Findings) -> None:
    for leg in LEGS:
        angles, position = GROUPS[f"{leg}_angles"], GROUPS[f"{leg}_pos"]
        has = [[column for column in group if column in columns] for group in (angles, position)]
        if not has[0] and not has[1]:
            said = f"the legs are controlled, but {leg} has neither angles nor a position"
            findings.add(rules.LEG_MISSING, said, places.column())
        elif 3 not in map(len, has):
            some, whole = (has[0], angles) if has[0] else (has[1], position)
            missing = tracks_text(tuple(column for column in whole if column not in some))
            findings.add(
                rules.LEG_INCOMPLETE, f"{missing} is missing beside {tracks_text(tuple(some))}", places.column(some[0])
            )


def _check_quaternion(group: str, columns: set[str], places: Places, findings: Findings) -> None:
    some = [column for column in GROUPS[group] if column in columns]
    if 0 < len(some) < 4:
        missing = tracks_text(tuple(column for column in GROUPS[group] if column not in columns))
        said = f"{missing} is missing beside {tracks_text(tuple(some))}"
        findings.add(rules.QUATERNION_INCOMPLETE, said, places.column(some[0]))


def _check_hand(columns: set[str], places: Places, findings: Findings) -> None:
    position = [column for column in GROUPS["hand_pos"] if column in columns]
    angles = [column for column in GROUPS["hand_euler_rpy"] if column in columns]
    turns = [column for column in GROUPS["hand_quat_wxyz"] if column in columns] or angles
    for some, group in ((position, "hand_pos"), (angles, "hand_euler_rpy")):
        if 0 < len(some) < 3:
            missing = tracks_text(tuple(column for column in GROUPS[group] if column not in some))
            said = f"{missing} is missing beside {tracks_text(tuple(some))}"
            findings.add(rules.HAND_INCOMPLETE, said, places.column(some[0]))
    if turns and not position:
        findings.add(
            rules.HAND_POSITION_MISSING, "the hand has an orientation, but no position", places.column(turns[0])
        )
    if position and not turns:
        said = "the hand has a position, but no orientation"
        findings.add(rules.HAND_ORIENTATION_MISSING, said, places.column(position[0]))
