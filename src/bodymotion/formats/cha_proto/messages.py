"""The vendor's messages of an animation and of a robot's log, built with google.protobuf from one table of their fields.

Messages are those of `bosdyn.api.spot.choreography_sequence` (version 5.2); the vendor's package is not needed. In proto3 a plain number
that is 0 is not written, and cannot be distinguished from one that is missing. A wrapper (`DoubleValue` and its kind) is a message of its
own, so its 0 can be distinguished from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from bodymotion.formats.cha.keywords import PLAYBACKS


class Field(NamedTuple):
    """A field of a message: its number, its type (a scalar, an enumeration or a message), and the oneof that it is a member of."""

    number: int
    kind: str
    choice: str = ""


def _plain(kind: str, *names: str) -> dict[str, Field]:
    """Return fields of one kind, numbered from 1."""
    return {name: Field(number, kind) for number, name in enumerate(names, 1)}


_DOUBLE = "DoubleValue"

MESSAGES: Mapping[str, Mapping[str, Field]] = {
    "Animation": {
        "name": Field(1, "string"),
        "animation_keyframes": Field(2, "AnimationKeyframe"),
        "controls_arm": Field(3, "bool"),
        "controls_legs": Field(4, "bool"),
        "controls_body": Field(5, "bool"),
        "controls_gripper": Field(6, "bool"),
        "bpm": Field(7, "double"),
        "retime_to_integer_slices": Field(8, "bool"),
        "minimum_parameters": Field(9, "AnimateParams"),
        "default_parameters": Field(10, "AnimateParams"),
        "maximum_parameters": Field(11, "AnimateParams"),
        "truncatable": Field(12, "bool"),
        "extendable": Field(13, "bool"),
        "neutral_start": Field(14, "bool"),
        "precise_steps": Field(15, "bool"),
        "track_swing_trajectories": Field(16, "bool"),
        "arm_playback": Field(17, "ArmPlayback"),
        "precise_timing": Field(18, "bool"),
        "assume_zero_roll_and_pitch": Field(19, "bool"),
        "arm_required": Field(20, "bool"),
        "no_looping": Field(21, "bool"),
        "arm_prohibited": Field(22, "bool"),
        "timing_adjustability": Field(23, "double"),
        "starts_sitting": Field(24, "bool"),
        "custom_gait_cycle": Field(27, "bool"),
    },
    "AnimationKeyframe": {
        "time": Field(1, "double"),
        "gripper": Field(2, "AnimateGripper"),
        "arm": Field(3, "AnimateArm"),
        "body": Field(4, "AnimateBody"),
        "legs": Field(5, "AnimateLegs"),
    },
    "AnimateGripper": _plain(_DOUBLE, "gripper_angle"),
    "AnimateArm": {
        "joint_angles": Field(1, "ArmJointAngles", "arm"),
        "hand_pose": Field(2, "HandPose", "arm"),
    },
    "ArmJointAngles": _plain(_DOUBLE, "shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1"),
    "HandPose": {
        "position": Field(1, "Vec3Value"),
        "euler_angles": Field(3, "EulerZYXValue", "orientation"),
        "quaternion": Field(4, "Quaternion", "orientation"),
    },
    "AnimateBody": {
        "body_pos": Field(1, "Vec3Value", "position"),
        "com_pos": Field(2, "Vec3Value", "position"),
        "euler_angles": Field(3, "EulerZYXValue", "orientation"),
        "quaternion": Field(4, "Quaternion", "orientation"),
    },
    "AnimateLegs": _plain("AnimateSingleLeg", "fl", "fr", "hl", "hr"),
    "AnimateSingleLeg": {
        "joint_angles": Field(1, "LegJointAngles", "leg"),
        "foot_pos": Field(2, "Vec3Value", "leg"),
        "stance": Field(3, "BoolValue"),
    },
    "AnimateParams": {
        "animation_name": Field(1, "string"),
        "body_entry_slices": Field(2, _DOUBLE),
        "body_exit_slices": Field(3, _DOUBLE),
        "translation_multiplier": Field(4, "Vec3Value"),
        "rotation_multiplier": Field(5, "EulerZYXValue"),
        "arm_entry_slices": Field(6, _DOUBLE),
        "shoulder_0_offset": Field(7, _DOUBLE),
        "shoulder_1_offset": Field(8, _DOUBLE),
        "elbow_0_offset": Field(9, _DOUBLE),
        "elbow_1_offset": Field(10, _DOUBLE),
        "wrist_0_offset": Field(11, _DOUBLE),
        "wrist_1_offset": Field(12, _DOUBLE),
        "gripper_offset": Field(13, _DOUBLE),
        "speed": Field(14, _DOUBLE),
        "offset_slices": Field(15, _DOUBLE),
        "gripper_multiplier": Field(16, _DOUBLE),
        "gripper_strength_fraction": Field(17, _DOUBLE),
        "arm_dance_frame_id": Field(18, "Int32Value"),
        "body_tracking_stiffness": Field(19, _DOUBLE),
    },
    "ChoreographyStateLog": _plain("LoggedStateKeyFrame", "key_frames"),
    "LoggedStateKeyFrame": {
        "joint_angles": Field(1, "LoggedJoints"),
        "animation_tform_body": Field(2, "SE3Pose"),
        "timestamp": Field(3, "Timestamp"),
        "foot_contact_state": Field(4, "LoggedFootContacts"),
    },
    "LoggedJoints": {
        **_plain("LegJointAngles", "fl", "fr", "hl", "hr"),
        "arm": Field(5, "ArmJointAngles"),
        "gripper_angle": Field(6, _DOUBLE),
    },
    # Right before left here, unlike everywhere else.
    "LoggedFootContacts": _plain("bool", "fr_contact", "fl_contact", "hr_contact", "hl_contact"),
    "SE3Pose": {"position": Field(1, "Vec3"), "rotation": Field(2, "Quaternion")},
    "Timestamp": {"seconds": Field(1, "int64"), "nanos": Field(2, "int32")},
    "LegJointAngles": _plain("double", "hip_x", "hip_y", "knee"),
    "Vec3": _plain("double", "x", "y", "z"),
    "Quaternion": _plain("double", "x", "y", "z", "w"),
    "Vec3Value": _plain(_DOUBLE, "x", "y", "z"),
    "EulerZYXValue": _plain(_DOUBLE, "roll", "pitch", "yaw"),
    "DoubleValue": _plain("double", "value"),
    "BoolValue": _plain("bool", "value"),
    "Int32Value": _plain("int32", "value"),
}
"""The fields of each message by name."""

ARM_PLAYBACKS = ("", *PLAYBACKS)
"""The values of the option `arm_playback`, in the order of the enumeration ArmPlayback; 0 lets the robot choose by the columns."""

ENUMS: Mapping[str, Mapping[str, int]] = {
    "ArmPlayback": {f"ARM_PLAYBACK_{word.upper() or 'DEFAULT'}": number for number, word in enumerate(ARM_PLAYBACKS)},
}
"""The values of enumerations by name."""

ROWS = {
    "Animation": ("animation_keyframes", "AnimationKeyframe"),
    "ChoreographyStateLog": ("key_frames", "LoggedStateKeyFrame"),
}
"""The messages that are read, with the repeated field of their rows and the message of a row."""

_PACKAGE = "bosdyn.api.spot"


@cache
def message_class(name: str) -> Any:  # noqa: ANN401
    """Return the class of a message.

    The name of a message in `ROWS` with "Raw" appended is the same message with its rows as bytes that are not parsed yet.
    """
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


@cache
def _pool() -> Any:  # noqa: ANN401
    """Return all messages of the table as descriptors, in a pool of their own, so that the vendor's package can be used beside it."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(name="bodymotion/animation.proto", package=_PACKAGE, syntax="proto3")
    for name, numbers in ENUMS.items():
        enum = file.enum_type.add(name=name)
        for word, number in numbers.items():
            enum.value.add(name=word, number=number)
    for name, fields in MESSAGES.items():
        _add_message(file, name, fields)
    for name, (rows, _) in ROWS.items():
        raw = MESSAGES[name][rows]._replace(kind="bytes")
        _add_message(file, f"{name}Raw", {**MESSAGES[name], rows: raw})
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add_message(file: Any, name: str, fields: Mapping[str, Field]) -> None:  # noqa: ANN401
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

    message = file.message_type.add(name=name)
    choices = list(dict.fromkeys(one.choice for one in fields.values() if one.choice))
    for choice in choices:
        message.oneof_decl.add(name=choice)
    rows = ROWS.get(name.removesuffix("Raw"), ("",))[0]
    for field, one in fields.items():
        label = Proto.LABEL_REPEATED if field == rows else Proto.LABEL_OPTIONAL
        added = message.field.add(name=field, number=one.number, label=label)
        if one.kind in MESSAGES or one.kind in ENUMS:
            added.type = Proto.TYPE_MESSAGE if one.kind in MESSAGES else Proto.TYPE_ENUM
            added.type_name = f".{_PACKAGE}.{one.kind}"
        else:
            added.type = Proto.Type.Value(f"TYPE_{one.kind.upper()}")
        if one.choice:
            added.oneof_index = choices.index(one.choice)


TINY = 1e-6
"""What the vendor's converter writes for 0: a plain 0 is not written, and the robot reports numbers that only some keyframes have."""

FLAGS = (
    "extendable",
    "truncatable",
    "neutral_start",
    "precise_steps",
    "track_swing_trajectories",
    "assume_zero_roll_and_pitch",
    "retime_to_integer_slices",
    "arm_required",
    "arm_prohibited",
    "no_looping",
    "starts_sitting",
    "custom_gait_cycle",
)
"""The options without values; their fields have the same names."""

LIMITS = {"minimum_parameters": "minimum", "default_parameters": "default", "maximum_parameters": "maximum"}
"""The three messages of parameters, and the attribute of a `Parameter` that each holds."""


def parameter_paths() -> dict[str, tuple[str, str]]:
    """Return the path of each parameter through AnimateParams, and its type, "double" or "int32"."""
    paths: dict[str, tuple[str, str]] = {}
    for name, one in MESSAGES["AnimateParams"].items():
        inner = MESSAGES.get(one.kind, {})
        if "value" in inner:
            paths[name] = f"{name}.value", inner["value"].kind
        else:
            paths |= {f"{name}.{part}": (f"{name}.{part}.value", "double") for part in inner}
    return paths
