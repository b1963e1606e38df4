"""The keywords of the document of animation files: options, parameters and columns, each with its values and its purpose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bodymotion.animation import GROUPS, LEGS

Values: TypeAlias = Literal["tracks", "number", "color", "text", "playback", ""]
Quantity: TypeAlias = Literal["time", "joint", "position", "quaternion", "angle", "contact"]

ANY = math.inf

PLAYBACKS = ("jointspace", "workspace", "workspace_dance_frame")
"""The values of the option `arm_playback`."""


@dataclass(frozen=True)
class Option:
    """A keyword of the first section; `tracks` are those that it is for, or empty for all."""

    keyword: str
    values: Values
    sentence: str
    minimum: float = -ANY
    maximum: float = ANY
    tracks: tuple[str, ...] = ()
    in_document: bool = True

    @property
    def shape(self) -> str:
        """The form of its line."""
        after = {
            "tracks": " TRACK…",
            "number": " VALUE",
            "color": " RED GREEN BLUE",
            "text": " TEXT",
            "playback": " OPTION",
        }
        return self.keyword + after.get(self.values, "")


@dataclass(frozen=True)
class ParameterKeyword:
    """A keyword of the second section; the animation must control all of `tracks`."""

    keyword: str
    sentence: str
    tracks: tuple[str, ...] = ()
    minimum: float = -ANY
    maximum: float = ANY
    whole: bool = False


@dataclass(frozen=True)
class Column:
    """A single column of the third section; joints move from `minimum` to `maximum` [rad]."""

    keyword: str
    track: str
    quantity: Quantity
    minimum: float = -ANY
    maximum: float = ANY


_OPTIONS = (
    Option(
        "controls",
        "tracks",
        "The tracks that the animation controls: one or more of legs, body, arm, gripper. Required.",
    ),
    Option("bpm", "number", "Beats per minute. At another tempo the animation is scaled in time to keep its beats.", 0),
    Option("extendable", "", "The animation may be made longer; it then loops."),
    Option("truncatable", "", "The animation may be made shorter; it then ends early."),
    Option("display_rgb", "color", "The colour of its block in Choreographer.", 0, 255),
    Option("frequency", "number", "Keyframes per second [Hz], instead of the column time.", 0),
    Option(
        "retime_to_integer_slices", "", "The time is scaled to whole slices; without this option it is padded or cut."
    ),
    Option("description", "text", "The description that Choreographer shows."),
    Option("neutral_start", "", "The body starts in a neutral stand; for animations without legs.", tracks=("body",)),
    Option(
        "precise_steps",
        "",
        "Steps are taken exactly where they are animated, even if balance suffers.",
        tracks=("legs",),
    ),
    Option(
        "timing_adjustability",
        "number",
        "How much the controller may change the timing: -1 not at all, 0 somewhat, 1 drastically.",
        -1,
        1,
    ),
    Option(
        "track_swing_trajectories", "", "Feet swing as they are animated, not in standard swings.", tracks=("legs",)
    ),
    Option(
        "arm_playback",
        "playback",
        "The frame in which the arm's motion is fixed: the body, the footprint, or a dance frame.",
        tracks=("arm",),
    ),
    Option("arm_required", "", "Only robots with an arm load the animation."),
    Option("arm_prohibited", "", "Only robots without an arm load the animation."),
    Option("no_looping", "", "The animation holds its last pose instead of looping."),
    Option("starts_sitting", "", "The animation starts from a sitting pose instead of a stand."),
    Option(
        "custom_gait_cycle", "", "Custom Gait may use the animation as the style of a step cycle.", tracks=("legs",)
    ),
    Option(
        "assume_zero_roll_and_pitch",
        "",
        "The body's roll and pitch count as zero. Only the vendor's converter knows this option.",
        in_document=False,
    ),
    Option(
        "precise_timing",
        "",
        "The same as timing_adjustability -1. Only the vendor's converter knows this option; it is deprecated.",
        in_document=False,
    ),
)
OPTIONS: Mapping[str, Option] = {word.keyword: word for word in _OPTIONS}
"""The options by their keywords."""


def _body_multipliers() -> tuple[ParameterKeyword, ...]:
    kinds = {"translation": ("x", "y", "z"), "rotation": ("roll", "pitch", "yaw")}
    return tuple(
        ParameterKeyword(f"{kind}_multiplier.{axis}", f"Multiplies the body's {kind} in {axis}.", ("body",))
        for kind, axes in kinds.items()
        for axis in axes
    )


def _arm_offsets() -> tuple[ParameterKeyword, ...]:
    return tuple(
        ParameterKeyword(f"{joint}_{k}_offset", f"Added to the angle of joint {short}{k} [rad].", ("arm",))
        for joint, short in (("shoulder", "SH"), ("elbow", "EL"), ("wrist", "WR"))
        for k in (0, 1)
    )


_PARAMETERS = (
    ParameterKeyword("speed", "The playback speed; 1 is the animation's own.", (), 0),
    ParameterKeyword("offset_slices", "The slice at which playback starts.", (), 0),
    ParameterKeyword("body_entry_slices", "Slices from the previous pose to the body's motion.", ("body",), 0),
    ParameterKeyword(
        "body_exit_slices", "Slices from the body's motion back to the nominal pose; 0 for none.", ("body",), 0
    ),
    *_body_multipliers(),
    ParameterKeyword("body_tracking_stiffness", "The stiffness of body tracking, 1 to 11.", ("body", "legs"), 1, 11),
    ParameterKeyword(
        "arm_entry_slices", "Slices from the previous pose to the motion of arm and gripper.", ("arm",), 0
    ),
    *_arm_offsets(),
    ParameterKeyword("gripper_offset", "Added to the angle of the gripper [rad].", ("gripper",)),
    ParameterKeyword("gripper_multiplier", "Multiplies the angles of the gripper.", ("gripper",)),
    ParameterKeyword(
        "gripper_strength_fraction",
        "The force of the gripper as a fraction of its maximum, 0 to 1.",
        ("gripper",),
        0,
        1,
    ),
    ParameterKeyword(
        "arm_dance_frame_id",
        "The dance frame for arm_playback workspace_dance_frame.",
        ("arm",),
        0,
        whole=True,
    ),
)
PARAMETERS: Mapping[str, ParameterKeyword] = {word.keyword: word for word in _PARAMETERS}
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
"""The limits of the joints [rad], from the robot's public description; those of the legs by the ends of their columns' names."""


def singles(keyword: str) -> tuple[str, ...]:
    """Return the single columns of a keyword of the third section."""
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
