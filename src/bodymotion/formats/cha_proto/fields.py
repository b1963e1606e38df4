"""The messages of an animation, and of a robot's log, as the vendor's definitions number their fields.

Messages are those of `bosdyn.api.spot.choreography_sequence` (version 5.2), named without their package. In proto3 a plain number that is 0
is not written, and not to be told from one that is missing; a wrapper (`DoubleValue` and its kind) is a message of its own, so that its 0
can be told from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["ARM_PLAYBACKS", "ENUMS", "MESSAGES", "Field"]


class Field(NamedTuple):
    """A field of a message: its number, what it holds (a scalar or the name of a message), and the choice that it is one of."""

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

ARM_PLAYBACKS = ("", "jointspace", "workspace", "workspace_dance_frame")
"""The document's words for the numbers of the enumeration ArmPlayback; 0: as it fits the columns."""

ENUMS: Mapping[str, Mapping[str, int]] = {
    "ArmPlayback": {
        "ARM_PLAYBACK_DEFAULT": 0,
        "ARM_PLAYBACK_JOINTSPACE": 1,
        "ARM_PLAYBACK_WORKSPACE": 2,
        "ARM_PLAYBACK_WORKSPACE_DANCE_FRAME": 3,
    },
}
"""The numbers of the names of enumerations."""
