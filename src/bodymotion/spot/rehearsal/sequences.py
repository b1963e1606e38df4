"""Animations and sequences on the stand-in robot: their validation, the parameters of moves, and the motion of a sequence."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from bodymotion.animation import TRACKS, Animation
from bodymotion.diagnostics import Diagnostics, Problem, Subject
from bodymotion.formats.cha import check_animation
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.spot.playback import FOOT_CONTACT, JOINT_NAMES, SpotPose, play, stand
from bodymotion.spot.playback.parameters import settings
from bodymotion.spot.playback.timing import timing
from bodymotion.spot.rehearsal import rules
from bodymotion.spot.rehearsal.store import PREFIX, UploadedAnimation, slices_of

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


def natural_slices(animation: Animation, bpm: float) -> int:
    """Return the number of slices of an animation by itself at a tempo; at least one."""
    values = settings(animation)
    return max(timing(animation, bpm=bpm, speed=values["speed"], frame_rate=1.0).natural, 1)


def move_parameters(move: Any) -> dict[str, float]:  # noqa: ANN401
    """Return the parameters that a move sets in its AnimateParams, under the names of the document."""
    found: dict[str, float] = {}

    def collect(message: Any, prefix: str) -> None:  # noqa: ANN401
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            if field.message_type.full_name.startswith("google.protobuf."):
                found[f"{prefix}{field.name}"] = float(value.value)
            else:
                collect(value, f"{prefix}{field.name}.")

    collect(move.animate_params, "")
    return found


def set_parameter(move: Any, name: str, value: float) -> None:  # noqa: ANN401
    """Set a parameter of a move's AnimateParams."""
    message = move.animate_params
    for part in name.split("."):
        message = getattr(message, part)
    message.value = type(message.value)(value)


def unset_parameter(move: Any, name: str) -> None:  # noqa: ANN401
    """Remove a parameter from a move's AnimateParams."""
    message = move.animate_params
    *path, last = name.split(".")
    for part in path:
        message = getattr(message, part)
    message.ClearField(last)


MIN_TEMPO, MAX_TEMPO = 1.0, 10_000.0
"""[slices per minute]"""
MAX_SLICES = 100_000
"""Of a sequence."""


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


def validate_sequence(
    sequence: Any,  # noqa: ANN401
    animations: Mapping[str, UploadedAnimation],
) -> tuple[Any, tuple[Problem, ...]]:
    """Return the part of a sequence that can be danced, and all problems; the subject of those of a move is ("moves", its index).

    Moves are left out that are unknown, begin before the first slice, have no length, or need a track that another move controls.
    A length or a parameter that an animation does not allow becomes the nearest allowed one. Without a valid tempo no moves are left.
    """
    found = Diagnostics()
    danced = type(sequence)()
    danced.CopyFrom(sequence)
    del danced.moves[:]
    if not sequence.name:
        found.report(rules.SEQUENCE_NAME, "the sequence has no name")
    if not MIN_TEMPO <= sequence.slices_per_minute <= MAX_TEMPO:
        message = f"{sequence.slices_per_minute:g} slices per minute, expected {MIN_TEMPO:g} to {MAX_TEMPO:g}"
        found.report(rules.TEMPO, message)
        return danced, found.problems
    if not sequence.moves:
        found.report(rules.NO_MOVES, "the sequence has no moves")
    busy: dict[str, list[tuple[int, int, str]]] = {track: [] for track in TRACKS}
    for number, move in enumerate(sequence.moves):
        kept = danced.moves.add()
        kept.CopyFrom(move)
        own = _fit_move(kept, ("moves", number), animations, sequence.slices_per_minute / 4.0, busy)
        found.extend(own.problems)
        if own.has_errors:
            del danced.moves[-1]
    return danced, found.problems


def _fit_move(
    move: Any,  # noqa: ANN401
    subject: Subject,
    animations: Mapping[str, UploadedAnimation],
    bpm: float,
    busy: dict[str, list[tuple[int, int, str]]],
) -> Diagnostics:
    """Limit a move to what its animation allows, and record its tracks in `busy`; it is left out where a problem is an error."""
    found = Diagnostics()
    known = animations.get(move.type.removeprefix(PREFIX))
    begin, end = move.start_slice, move.start_slice + move.requested_slices
    if known is None or not move.type.startswith(PREFIX):
        found.report(rules.MOVE_UNKNOWN, f"{move.type} is no animation that was uploaded", subject=subject)
    elif begin < 0 or end <= begin:
        message = f"{move.type} begins at slice {begin} and lasts {move.requested_slices} slices"
        found.report(rules.MOVE_TIME, message, subject=subject)
    elif end > MAX_SLICES:
        found.report(rules.MOVE_TIME, f"{move.type} ends beyond slice {MAX_SLICES}", subject=subject)
    else:
        try:
            _limit_move(move, subject, known.animation, bpm, found)
        except (ValueError, MemoryError) as error:
            found.report(rules.MOVE_UNPLAYABLE, f"{move.type} cannot be played: {error}", subject=subject)
        else:
            _occupy(move, subject, known.animation, busy, found)
    return found


def _limit_move(move: Any, subject: Subject, animation: Animation, bpm: float, found: Diagnostics) -> None:  # noqa: ANN401
    """Limit a move's length and parameters to what its animation allows; report each change."""
    natural = natural_slices(animation, bpm)
    longer, shorter = move.requested_slices > natural, move.requested_slices < natural
    if (longer and "extendable" not in animation.options) or (shorter and "truncatable" not in animation.options):
        word = "extendable" if longer else "truncatable"
        message = f"{move.type} lasts {natural} slices, not {move.requested_slices}: its animation is not {word}"
        found.report(rules.MOVE_LENGTH, message, subject=subject, data={"slices": natural})
        move.requested_slices = natural
    for name, value in move_parameters(move).items():
        limits = animation.parameters.get(name)
        if limits is None:
            found.report(rules.MOVE_PARAMETER, f"{move.type} has no parameter {name}", subject=(*subject, name))
            unset_parameter(move, name)
            continue
        low = limits.minimum if limits.minimum is not None else RANGES[name][0]
        high = limits.maximum if limits.maximum is not None else RANGES[name][2]
        if not low <= value <= high:
            message = f"{move.type}: {name} is {value:g}, expected {low:g} to {high:g}"
            found.report(rules.MOVE_PARAMETER, message, subject=(*subject, name))
            set_parameter(move, name, min(max(value, low), high))


def _occupy(
    move: Any,  # noqa: ANN401
    subject: Subject,
    animation: Animation,
    busy: dict[str, list[tuple[int, int, str]]],
    found: Diagnostics,
) -> None:
    """Record the tracks of a move, or report that another move controls one of them at the same time."""
    begin, end = move.start_slice, move.start_slice + move.requested_slices
    for track in animation.controls:
        for first, last, other in busy[track]:
            if begin < last and first < end:
                message = f"{move.type} and {other} both control the {track} at slice {max(begin, first)}"
                found.report(rules.TRACKS, message, subject=subject)
                return
    for track in animation.controls:
        busy[track].append((begin, end, move.type))


LEGS, ARM = slice(0, 12), slice(12, 18)
MIN_FRAMES_PER_SLICE, MIN_FRAME_RATE = 4, 60.0
"""The second in Hz."""


def sequence_motion(sequence: Any, animations: Mapping[str, UploadedAnimation], *, arm: bool) -> Motion:  # noqa: ANN401
    """Return the motion of a sequence, from its first slice on.

    A track that no move controls keeps its pose; after a move the robot keeps the last one. The moves must be valid, as those that
    `validate_sequence` returns.
    """
    per_minute = sequence.slices_per_minute
    per_slice = max(MIN_FRAMES_PER_SLICE, int(np.ceil(MIN_FRAME_RATE * 60.0 / per_minute)))
    rate = per_slice * per_minute / 60.0
    slices = slices_of(sequence)
    count = slices * per_slice + 1
    rest = stand()
    body = np.tile(rest.body, (count, 1))
    joints = np.tile(np.concatenate([rest.legs.ravel(), rest.arm, [rest.gripper]]), (count, 1))
    contacts = np.ones((count, 4))
    for move in sorted(sequence.moves, key=lambda move: move.start_slice):
        found = animations[move.type.removeprefix(PREFIX)]
        first = move.start_slice * per_slice
        before = SpotPose(body[first], joints[first, LEGS].reshape(4, 3), joints[first, ARM], float(joints[first, 18]))
        played = _play(found.animation, move, before, per_minute / 4.0, rate, arm)
        _put(played, found.animation, first, body, joints, contacts)
    timeline = Timeline(frame_rate=rate, num_frames=count)
    columns = joints if arm else joints[:, LEGS]
    names = JOINT_NAMES if arm else JOINT_NAMES[LEGS]
    return Motion(
        (
            MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=body[:, None], part_labels=("body",)),
            MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=timeline, values=columns, part_labels=names),
            MultiValueSeq(
                content=FOOT_CONTACT, timeline=timeline, values=contacts, part_labels=("fl", "fr", "hl", "hr")
            ),
        ),
        extra={
            "name": sequence.name,
            "spot": {"bpm": per_minute / 4.0, "slice": 60.0 / per_minute, "slices": float(slices)},
        },
    )


def _play(animation: Animation, move: Any, before: SpotPose, bpm: float, rate: float, arm: bool) -> Motion:  # noqa: ANN401
    return play(
        animation,
        bpm=bpm,
        slices=float(move.requested_slices),
        parameters=move_parameters(move),
        start=before,
        arm=arm,
        frame_rate=rate,
    )


def _put(played: Motion, animation: Animation, first: int, body: Floats, joints: Floats, contacts: Floats) -> None:
    """Write the tracks of a move into the arrays, up to the end: the robot keeps the last pose of the move."""
    moved, placed = played.joint_displacement, played.link_position
    assert moved is not None
    assert placed is not None
    values, here = moved.values, slice(first, min(first + moved.num_frames, len(joints)))
    after, last = slice(here.stop, None), here.stop - first
    if {"legs", "body"} & set(animation.controls):
        body[here], body[after] = placed.values[:last, 0], placed.values[last - 1, 0]
        joints[here, LEGS], joints[after, LEGS] = values[:last, LEGS], values[last - 1, LEGS]
        touching = next(c for c in played.components if isinstance(c, MultiValueSeq) and c.content == FOOT_CONTACT)
        contacts[here], contacts[after] = touching.values[:last], touching.values[last - 1]
    if "arm" in animation.controls and values.shape[1] > 12:
        joints[here, ARM], joints[after, ARM] = values[:last, ARM], values[last - 1, ARM]
    if "gripper" in animation.controls and values.shape[1] > 12:
        joints[here, 18], joints[after, 18] = values[:last, 18], values[last - 1, 18]
