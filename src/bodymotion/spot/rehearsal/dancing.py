"""A sequence of animations as a motion of Spot: moves one after the other, and beside each other where they control other tracks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bodymotion.animation import Animation
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.motion.timeline import Timeline
from bodymotion.spot.playback import FOOT_CONTACT, JOINT_NAMES, SpotPose, play, stand
from bodymotion.spot.rehearsal.moves import move_parameters
from bodymotion.spot.rehearsal.stage import PREFIX, Known, slices_of

__all__ = ["sequence_motion"]

LEGS, ARM = slice(0, 12), slice(12, 18)
FRAMES_PER_SLICE_AT_LEAST, SMOOTH = 4, 60.0
"""[Hz] The frame rate is at least so high."""


def sequence_motion(sequence: Any, known: Mapping[str, Known], *, arm: bool) -> Motion:  # noqa: ANN401
    """Return the motion of a sequence, from its first slice on.

    A track that no move controls stays as it is; after a move the robot stays in its last pose. The moves are those that
    `verdicts.judge_sequence` leaves: known, and with lengths and parameters that their animations allow.
    """
    per_minute = sequence.slices_per_minute
    per_slice = max(FRAMES_PER_SLICE_AT_LEAST, int(np.ceil(SMOOTH * 60.0 / per_minute)))
    rate = per_slice * per_minute / 60.0
    slices = slices_of(sequence)
    count = slices * per_slice + 1
    rest = stand()
    body = np.tile(rest.body, (count, 1))
    joints = np.tile(np.concatenate([rest.legs.ravel(), rest.arm, [rest.gripper]]), (count, 1))
    contacts = np.ones((count, 4))
    for move in sorted(sequence.moves, key=lambda move: move.start_slice):
        found = known[move.type.removeprefix(PREFIX)]
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
    """Write a move over what was there: its own tracks to the end, since the robot stays where the move left it."""
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
