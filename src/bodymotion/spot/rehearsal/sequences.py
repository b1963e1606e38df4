"""Animations and sequences on the stand-in robot: their validation, and the ranges of the parameters of moves."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from bodymotion.animation import Animation, Parameter
from bodymotion.choreography import PREFIX, Choreography, MoveInfo, RobotMoves
from bodymotion.diagnostics import Diagnostics, Problem
from bodymotion.formats.cha import check_animation
from bodymotion.formats.cha_proto.robot_moves import robot_moves_of
from bodymotion.formats.cha_proto.sequence import choreography_from_bytes, message_of
from bodymotion.spot.choreography import check_choreography, rules
from bodymotion.spot.choreography.validation import danced
from bodymotion.spot.rehearsal.store import UploadedAnimation

_OFFSETS = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")

RANGES: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "speed": (0.25, 1.0, 2.0),
        "offset_slices": (0.0, 0.0, 32.0),
        "body_entry_slices": (0.0, 1.0, 8.0),
        "body_exit_slices": (0.0, 1.0, 8.0),
        **{f"translation_multiplier.{axis}": (0.0, 1.0, 2.0) for axis in "xyz"},
        **{f"rotation_multiplier.{axis}": (0.0, 1.0, 2.0) for axis in ("roll", "pitch", "yaw")},
        "body_tracking_stiffness": (1.0, 5.0, 11.0),
        "arm_entry_slices": (0.0, 1.0, 8.0),
        **{f"{name}_offset": (-1.0, 0.0, 1.0) for name in _OFFSETS},
        "gripper_offset": (-1.0, 0.0, 1.0),
        "gripper_multiplier": (0.0, 1.0, 2.0),
        "gripper_strength_fraction": (0.0, 1.0, 1.0),
        "arm_dance_frame_id": (0.0, 0.0, 20.0),
    }
)
"""Minimum, default and maximum of each parameter that an animation only names: our judgement; a real robot has its own."""


def config_text() -> str:
    """Return the ranges as the text of a robot's list of moves: a block of lines, the first of which names `animate_params`."""
    rows = [f"{name} {low:g} {default:g} {high:g}" for name, (low, default, high) in RANGES.items()]
    return "\n".join(["animate_params", *rows, ""])


def validate_animation(animation: Animation, name: str, *, arm: bool) -> tuple[Problem, ...]:
    """Return the problems of an animation on a robot with or without arm, which refuses it where one is an error."""
    found = Diagnostics()
    found.extend(check_animation(animation))
    if arm and "arm_prohibited" in animation.options:
        found.report(rules.ARM, "the animation is not for a robot with arm (arm_prohibited)")
    if not arm and "arm_required" in animation.options:
        found.report(rules.ARM, "the animation needs a robot with arm (arm_required)")
    if not name:
        found.report(rules.NAME, "the animation has no name")
    return found.problems


def warning(problem: Problem) -> str:
    """Return a problem as a warning of a response."""
    return f"{problem.rule} {problem.message}"


def choreography_of(sequence: Any, animations: Mapping[str, UploadedAnimation], listed: Any = None) -> Choreography:  # noqa: ANN401
    """Return the choreography of the vendor's message, with the animations of the stand-in robot and the moves that it lists as its own."""
    own = RobotMoves() if listed is None else robot_moves_of(listed)
    known = {name: one.animation for name, one in animations.items()}
    limits = {name: Parameter(*limit) for name, limit in RANGES.items()}
    infos = {f"{PREFIX}{name}": MoveInfo(f"{PREFIX}{name}", one.controls) for name, one in known.items()}
    robot = RobotMoves({**own.infos, **infos}, {**own.ranges, "animation": ("animate_params", limits)})
    return replace(choreography_from_bytes(sequence.SerializeToString()), animations=known, robot=robot)


def validate_sequence(
    sequence: Any,  # noqa: ANN401
    animations: Mapping[str, UploadedAnimation],
    listed: Any = None,  # noqa: ANN401
) -> tuple[Any, tuple[Problem, ...]]:
    """Return the part of a sequence that can be danced (see `danced`), and all problems; the subject of a move's is ("moves", index, …)."""
    choreography = choreography_of(sequence, animations, listed)
    found = tuple(one for one in check_choreography(choreography, jumps=False) if one.severity != "note")
    return type(sequence).FromString(message_of(danced(choreography, found)).SerializeToString()), found
