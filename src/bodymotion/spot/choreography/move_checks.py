"""Checks of single moves of a choreography: type, time, length and parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from bodymotion.diagnostics import Diagnostics, Rule
from bodymotion.diagnostics.spelling import choices
from bodymotion.diagnostics.text import counted
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha_proto.messages import ENUMS, MESSAGES
from bodymotion.spot.cha_proto.sequence import KINDS
from bodymotion.spot.choreography import rules
from bodymotion.spot.choreography.moves import (
    length_range,
    natural_slices,
    ranges_of,
)
from bodymotion.spot.choreography.values import PREFIX, Choreography, Move, MoveInfo

# [slices per minute] The slowest tempo that a robot accepts.
MIN_TEMPO = 1.0
# [slices per minute] The fastest one.
MAX_TEMPO = 10_000.0
# [slices] The longest sequence that is checked.
MAX_SLICES = 100_000
# The largest value of a part of a colour.
MAX_COLOR = 255

# For parameters that the vendor's messages call deprecated, what replaces them.
_DEPRECATED = {
    ("step_params", "mirror"): "mirror_x and mirror_y",
    ("jump_params", "absolute"): "yaw_is_absolute and translation_is_absolute",
    ("turn_params", "absolute"): "yaw_is_absolute and motion_is_absolute",
}
_SWING = ("swing_height", "liftoff_velocity", "touchdown_velocity")


class Fault(NamedTuple):
    """Why an animation cannot be danced."""

    rule: Rule
    message: str


class Review:
    """The problems of a choreography, located in its file."""

    def __init__(self, choreography: Choreography) -> None:
        self.choreography = choreography
        self.found = Diagnostics()
        self._locations = choreography.source.locations
        self._lengths: dict[tuple[str, str], tuple[float, float]] = {}

    @property
    def has_valid_tempo(self) -> bool:
        """Whether a robot accepts the tempo."""
        return MIN_TEMPO <= self.choreography.slices_per_minute <= MAX_TEMPO

    def length_range(self, move: Move) -> tuple[float, float]:
        """Return the smallest and the largest length [slices] of a move.

        All moves of its type have it; see `moves.length_range`.
        """
        key = move.type, move.animation
        if key not in self._lengths:
            self._lengths[key] = length_range(self.choreography, move)
        return self._lengths[key]

    def report(
        self,
        rule: Rule,
        message: str,
        number: int | None = None,
        field: str = "",
        **data: object,
    ) -> None:
        """Report a problem of the move `number`, or of a field of the choreography."""
        if self.found.is_full(rule):
            self.found.count_more(rule)
            return
        fields = (field,) if field else ()
        subject: tuple[str | int, ...] = fields
        if number is not None:
            move = self.choreography.moves[number]
            subject = ("moves", number, *fields)
            message = f"{move.type!r} at slice {move.start_slice} {message}"
        location = self._locations.locate(subject)
        self.found.report(rule, message, location, subject=subject, data=data)


class MoveReview:
    """The checks of one move.

    Attributes
    ----------
    is_usable:
        Whether the robot dances it, after `check`.
    end_slice:
        Where it ends with the length that the robot uses.
    """

    def __init__(self, review: Review, number: int) -> None:
        self._review = review
        self._number = number
        self._choreography = review.choreography
        self._move = review.choreography.moves[number]
        self.end_slice = self._move.end_slice
        self.is_usable = False

    def check(self, faults: Mapping[str, Fault]) -> None:
        """Check the move; `faults` are those of animations, by name."""
        is_known = self._check_type(faults)
        is_timed = self._check_time()
        self._check_parameters()
        self.is_usable = is_known and is_timed
        if self.is_usable and self._review.has_valid_tempo:
            self._check_length()

    def _report(
        self, rule: Rule, message: str, field: str = "", **data: object
    ) -> None:
        self._review.report(rule, message, self._number, field, **data)

    def _check_type(self, faults: Mapping[str, Fault]) -> bool:
        """Check that the move is known, and return whether it can be danced."""
        name = self._move.animation
        if name in faults:
            self._report(*faults[name], "type")
            return False
        if not name:
            return self._check_own_move()
        return self._check_animation(name)

    def _check_own_move(self) -> bool:
        """Check that a move of the robot's own is known."""
        robot = self._choreography.robot
        name = self._move.type
        if robot is not None:
            if name in robot.infos or name in robot.ranges:
                return True
            known = choices(name, {*robot.infos, *robot.ranges})
            message = f"is not listed by the robot; {known}"
        else:
            # Names of the robot's own moves have no colon: this is a misspelt prefix.
            if name and ":" not in name:
                return True
            meant = f"{PREFIX}{name.rpartition(':')[2] or 'NAME'}"
            message = f"is not a move; did you mean {meant!r}?"
        self._report(rules.MOVE_UNKNOWN, message, "type")
        return False

    def _check_animation(self, name: str) -> bool:
        """Check that the animation of a move is known, to us or to the robot."""
        choreography = self._choreography
        animation = choreography.animations.get(name)
        info = choreography.info(self._move)
        named = str(self._move.parameters.get("animation_name", ""))
        if self._move.type == "animation" or named not in ("", name):
            message = f"names the animation {named!r}"
            self._report(rules.OLD_TYPE, message, "animation_name")
        if animation is None and info is None:
            robot = choreography.robot
            if robot is not None and robot.infos:
                message = "is an animation that the robot does not list"
                self._report(rules.MOVE_UNKNOWN, message, "type")
                return False
            message = f"has no file {name}.cha that can be read"
            self._report(rules.ANIMATION_MISSING, message, "type", missing=name)
        if animation is not None and info is not None and self._review.has_valid_tempo:
            self._compare_with_robot(animation, info)
        return True

    def _compare_with_robot(self, animation: Animation, info: MoveInfo) -> None:
        """Report that an animation differs from the one on the robot."""
        slices_here = natural_slices(animation, self._choreography.bpm)
        slices_there = info.natural_slices(self._choreography.slices_per_minute)
        # Rounding to whole slices may differ by one.
        has_other_length = slices_there and abs(slices_here - slices_there) > 1
        if has_other_length or set(info.tracks) != set(animation.controls):
            message = (
                f"has {slices_there} slices of {', '.join(info.tracks)} on the robot, "
                f"{slices_here} of {', '.join(animation.controls)} in the file"
            )
            self._report(rules.DIFFERS, message, "type")

    def _check_time(self) -> bool:
        """Check start and end, and return whether both are possible."""
        move = self._move
        if move.start_slice < 0 or move.requested_slices <= 0:
            message = (
                f"lasts {counted(move.requested_slices, 'slice')}; expected a start at "
                "slice 0 or later, and at least 1 slice"
            )
            field = "start_slice" if move.start_slice < 0 else "requested_slices"
            self._report(rules.MOVE_TIME, message, field)
            return False
        if move.end_slice > MAX_SLICES:
            message = f"ends beyond slice {MAX_SLICES}, at {move.end_slice}"
            self._report(rules.MOVE_TIME, message, "requested_slices")
            return False
        return True

    def _check_length(self) -> None:
        """Check the length, and find where the move ends with the nearest one."""
        requested = self._move.requested_slices
        low, high = self._review.length_range(self._move)
        highest = min(high, MAX_SLICES)
        nearest = int(min(max(requested, math.ceil(low)), highest))
        self.end_slice = self._move.start_slice + nearest
        if nearest == requested:
            return
        if nearest < requested:
            bound = f"at most {high:g}"
            option = "extendable"
        else:
            bound = f"at least {low:g}"
            option = "truncatable"
        expected = str(nearest) if low == high else bound
        if self._move.animation:
            expected += f", as it is not {option}"
        message = f"has {counted(requested, 'slice')}; expected {expected}"
        self._report(rules.MOVE_LENGTH, message, "requested_slices", slices=nearest)

    def _check_parameters(self) -> None:
        """Check the parameters, as far as their ranges are known."""
        expected_kind, ranges = ranges_of(self._choreography, self._move)
        kind = self._move.kind
        values = self._move.parameters
        if kind and not _is_kind(kind, expected_kind):
            expected = expected_kind or ", ".join(KINDS)
            if expected_kind == "":
                expected = "no parameters"
            message = f"has {kind}, expected {expected}"
            self._report(rules.OTHER_PARAMETERS, message, kind)
            return
        for name, value in values.items():
            self._check_value(name, value, ranges)
        for message, name in _without_effect(kind, values.get):
            self._report(rules.NO_EFFECT, message, name)
        for (of_kind, name), instead in _DEPRECATED.items():
            if of_kind == kind and values.get(name):
                message = f"{name} is deprecated; {instead} replace it"
                self._report(rules.DEPRECATED, message, name)
        if kind == "step_params":
            self._check_feet(values.get("foot"), values.get("second_foot"))

    def _check_value(
        self, name: str, value: object, ranges: Mapping[str, Parameter] | None
    ) -> None:
        """Check the value of a parameter; without `ranges` nothing limits it."""
        if isinstance(value, float) and not math.isfinite(value):
            message = f"{name} is {value}, expected a finite number"
            self._report(rules.NOT_FINITE, message, name)
            return
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number:
            self._check_meaning(name, float(value))  # type: ignore[arg-type]
        has_no_range = value is None or isinstance(value, (bool, bytes))
        if ranges is None or has_no_range or name == "animation_name":
            return
        if name not in ranges:
            message = f"has no parameter {name}; {choices(name, ranges)}"
            self._report(rules.MOVE_PARAMETER, message, name, allowed=None)
        elif is_number:
            self._check_range(name, value, ranges[name])  # type: ignore[arg-type]

    def _check_range(self, name: str, value: float, limits: Parameter) -> None:
        low = limits.minimum
        high = limits.maximum
        if low is None or high is None or low <= value <= high:
            return
        message = f"{name} is {value:g}, expected {low:g} to {high:g}"
        # A whole number stays one: fields of messages have types.
        nearest = type(value)(min(max(value, low), max(low, high)))
        self._report(rules.MOVE_PARAMETER, message, name, allowed=nearest)

    def _check_meaning(self, name: str, value: float) -> None:
        """Check a number that may be a part of a colour, or stand for a name."""
        is_color = name.rpartition(".")[2] in ("red", "green", "blue")
        if is_color and not 0 <= value <= MAX_COLOR:
            message = f"{name} is {value:g}, expected 0 to {MAX_COLOR}"
            self._report(rules.COLOR, message, name)
        if not self._move.kind:
            return
        fields = MESSAGES.get(MESSAGES["MoveParams"][self._move.kind].kind, {})
        words = ENUMS.get(fields[name].kind) if name in fields else None
        if words:
            message = f"{name} is {value:g}; expected one of {', '.join(words)}"
            self._report(rules.ENUMERATION, message, name)

    def _check_feet(self, foot: object, second_foot: object) -> None:
        """Check that a step with two feet names two."""
        is_same = foot is not None and foot == second_foot
        if foot == "LEG_NO_LEG" or is_same:
            message = (
                f"steps with {foot!s} and {second_foot!s}; expected two different feet"
            )
            self._report(rules.SECOND_FOOT, message, "second_foot")


def _is_kind(kind: str, expected: str | None) -> bool:
    """Return whether parameters are of the expected kind; None: of any kind."""
    if expected is None:
        return kind in KINDS
    return kind == expected


def _without_effect(
    kind: str, get: Callable[[str], object]
) -> Iterator[tuple[str, str]]:
    """Yield parameters that have no effect beside others: a message, and the name."""
    if get("number_of_circles") and get("beats_per_circle"):
        name = "beats_per_circle"
        yield f"{name} has no effect together with number_of_circles", name
    if kind == "step_params" and any(get(f"swing_waypoint.{axis}") for axis in "xyz"):
        for name in _SWING:
            if get(name):
                yield f"{name} has no effect together with a swing_waypoint", name
    if kind == "buzzer_note_params" and get("sharp") and get("flat"):
        yield "sharp and flat have no effect together", "flat"
