"""Every keyword of the document of animation files: options, parameters and columns, each with its values and what it is for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bodymotion.animation import GROUPS, LEGS, TRACKS

__all__ = [
    "COLUMNS",
    "OPTIONS",
    "PARAMETERS",
    "PLAYBACKS",
    "TIME",
    "Column",
    "Option",
    "ParameterWord",
    "singles",
    "tracks_text",
]

Values: TypeAlias = Literal["tracks", "number", "color", "text", "playback", ""]
Quantity: TypeAlias = Literal["time", "joint", "position", "quaternion", "angle", "contact"]

ANY = math.inf

PLAYBACKS = ("jointspace", "workspace", "workspace_dance_frame")
"""What may follow the option `arm_playback`."""


@dataclass(frozen=True)
class Option:
    """A keyword of the first section; `tracks` are those that it concerns, none of them: all."""

    keyword: str
    values: Values
    sentence: str
    lowest: float = -ANY
    highest: float = ANY
    tracks: tuple[str, ...] = ()
    in_document: bool = True

    @property
    def shape(self) -> str:
        """How its line looks."""
        after = {
            "tracks": " TRACK…",
            "number": " VALUE",
            "color": " RED GREEN BLUE",
            "text": " TEXT",
            "playback": " OPTION",
        }
        return self.keyword + after.get(self.values, "")


@dataclass(frozen=True)
class ParameterWord:
    """A keyword of the second section; the animation has to control all of `tracks`."""

    keyword: str
    sentence: str
    tracks: tuple[str, ...] = ()
    lowest: float = -ANY
    highest: float = ANY
    whole: bool = False


@dataclass(frozen=True)
class Column:
    """A single column of the third section; joints turn between `lowest` and `highest` [rad]."""

    keyword: str
    track: str
    quantity: Quantity
    lowest: float = -ANY
    highest: float = ANY


_OPTIONS = (
    Option(
        "controls", "tracks", "The tracks that the animation moves: one or more of legs, body, arm, gripper. Required."
    ),
    Option("bpm", "number", "Beats per minute; at another tempo the animation is scaled in time to keep its beats.", 0),
    Option("extendable", "", "It may be stretched, and loops then."),
    Option("truncatable", "", "It may be shortened, and ends early then."),
    Option("display_rgb", "color", "The colour of its block in Choreographer.", 0, 255),
    Option("frequency", "number", "Keyframes a second [Hz], instead of the column time.", 0),
    Option("retime_to_integer_slices", "", "Time is scaled a little to fill whole slices; else it is padded or cut."),
    Option("description", "text", "What Choreographer says about it."),
    Option("neutral_start", "", "A body that moves without legs starts in a neutral stand.", tracks=("body",)),
    Option(
        "precise_steps",
        "",
        "Steps are taken where they are animated, even at the expense of balance.",
        tracks=("legs",),
    ),
    Option(
        "timing_adjustability",
        "number",
        "How much the controller may shift times: from -1, not at all, over 0, somewhat, to 1, drastically.",
        -1,
        1,
    ),
    Option(
        "track_swing_trajectories", "", "Feet swing as they are animated, not in standard swings.", tracks=("legs",)
    ),
    Option(
        "arm_playback",
        "playback",
        "In what the arm's motion is fixed: body, footprint, or a dance frame.",
        tracks=("arm",),
    ),
    Option("arm_required", "", "Only a robot with an arm loads it."),
    Option("arm_prohibited", "", "Only a robot without an arm loads it."),
    Option("no_looping", "", "It freezes at its end rather than loop."),
    Option("starts_sitting", "", "It starts from a sitting pose rather than from a stand."),
    Option("custom_gait_cycle", "", "Custom Gait may take it as the style of a step cycle.", tracks=("legs",)),
    Option(
        "assume_zero_roll_and_pitch",
        "",
        "The body's roll and pitch count as zero. Only the vendor's converter knows it.",
        in_document=False,
    ),
    Option(
        "precise_timing",
        "",
        "The same as timing_adjustability -1. Only the vendor's converter knows it, as a thing of the past.",
        in_document=False,
    ),
)
OPTIONS: Mapping[str, Option] = {word.keyword: word for word in _OPTIONS}
"""The options by their keywords."""


def _body_multipliers() -> tuple[ParameterWord, ...]:
    kinds = {"translation": ("x", "y", "z"), "rotation": ("roll", "pitch", "yaw")}
    return tuple(
        ParameterWord(f"{kind}_multiplier.{axis}", f"Multiplies the body's {kind} in {axis}.", ("body",))
        for kind, axes in kinds.items()
        for axis in axes
    )


def _arm_offsets() -> tuple[ParameterWord, ...]:
    return tuple(
        ParameterWord(f"{joint}_{k}_offset", f"Is added to the angle of joint {short}{k} [rad].", ("arm",))
        for joint, short in (("shoulder", "SH"), ("elbow", "EL"), ("wrist", "WR"))
        for k in (0, 1)
    )


_PARAMETERS = (
    ParameterWord("speed", "Plays it so many times as fast.", (), 0),
    ParameterWord("offset_slices", "Starts it at this slice.", (), 0),
    ParameterWord("body_entry_slices", "Slices from the pose before to the body's motion.", ("body",), 0),
    ParameterWord("body_exit_slices", "Slices from the body's motion back to the nominal pose; 0: none.", ("body",), 0),
    *_body_multipliers(),
    ParameterWord(
        "body_tracking_stiffness", "How closely the body's motion is tracked, 1 to 11.", ("body", "legs"), 1, 11
    ),
    ParameterWord("arm_entry_slices", "Slices from the pose before to the motion of arm and gripper.", ("arm",), 0),
    *_arm_offsets(),
    ParameterWord("gripper_offset", "Is added to the gripper's angle [rad].", ("gripper",)),
    ParameterWord("gripper_multiplier", "Multiplies the gripper's angles.", ("gripper",)),
    ParameterWord("gripper_strength_fraction", "How hard the gripper squeezes, 0 to 1.", ("gripper",), 0, 1),
    ParameterWord(
        "arm_dance_frame_id",
        "The dance frame for arm_playback workspace_dance_frame.",
        ("arm", "gripper"),
        0,
        whole=True,
    ),
)
PARAMETERS: Mapping[str, ParameterWord] = {word.keyword: word for word in _PARAMETERS}
"""The parameters by their keywords."""


def _track(column: str) -> str:
    first = column.partition("_")[0]
    if first in LEGS:
        return "legs"
    if first in ("body", "com"):
        return "body"
    return "gripper" if first == "gripper" else "arm"


def _quantity(column: str) -> Quantity:
    ending = column.rpartition("_")[2]
    if column in JOINT_LIMITS or ending in ("hx", "hy", "kn"):
        return "joint"
    if ending in ("roll", "pitch", "yaw"):
        return "angle"
    if ending == "contact":
        return "contact"
    return "quaternion" if "_quat_" in column else "position"


JOINT_LIMITS: Mapping[str, tuple[float, float]] = {
    "hx": (-0.785398, 0.785398),
    "hy": (-0.898845, 2.295108),
    "kn": (-2.7929, -0.2471),
    "shoulder0": (-2.618, 3.1416),
    "shoulder1": (-3.1416, 0.5236),
    "elbow0": (0.0, 3.1416),
    "elbow1": (-2.7925, 2.7925),
    "wrist0": (-1.8326, 1.8326),
    "wrist1": (-2.87989, 2.87979),
    "gripper": (-1.5708, 0.0),
}
"""What the joints can do [rad], from the robot's public description; those of the legs by the end of their columns' names."""


def singles(keyword: str) -> tuple[str, ...]:
    """Return the single columns that a keyword of the third section stands for."""
    return GROUPS.get(keyword, (keyword,))


def _column(name: str) -> Column:
    limits = JOINT_LIMITS.get(name) or JOINT_LIMITS.get(name.rpartition("_")[2]) or (-ANY, ANY)
    return Column(name, _track(name), _quantity(name), *limits)


TIME = "time"
"""The column of times; it belongs to no track."""

COLUMNS: Mapping[str, Column] = {
    TIME: Column(TIME, "", "time", 0),
    **{name: _column(name) for name in ("gripper", *(column for group in GROUPS.values() for column in group))},
}
"""The single columns by their keywords; the groups of them are `bodymotion.animation.GROUPS`."""


def tracks_text(tracks: tuple[str, ...] = TRACKS) -> str:
    """Return names in a row: `legs, body`."""
    return ", ".join(tracks)
