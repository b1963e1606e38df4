"""Jumps of the pose between animations that follow each other at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bodymotion.choreography import Choreography, Move
from bodymotion.spot.choreography.playing import parameters_of, play_move
from bodymotion.spot.playback import JOINT_NAMES, last_pose, needs_arm
from bodymotion.spot.playback.playing import default_start

MAX_PAIRS = 100
"""Different pairs of neighbours that are played."""
MAX_STEP = 0.2
"""[rad] Accepted step of a joint at the start of a move: at 100 Hz a speed of 20 rad/s."""


def pose_jumps(choreography: Choreography, animated: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Return the moves, of those `animated` (in the order of their starts), at whose start joints jump, each with a message."""
    before: dict[str, Move] = {}
    known: dict[object, str] = {}
    for number in animated:
        move = choreography.moves[number]
        animation = choreography.animations.get(move.animation)
        if animation is None:
            continue
        for track in animation.controls:
            last = before.get(track)
            if last is not None and last.end_slice == move.start_slice:
                key = (_key(last), _key(move))
                if key not in known and len(known) < MAX_PAIRS:
                    known[key] = _jump(choreography, last, move)
                if known.get(key):
                    yield number, known[key]
                break
        before |= dict.fromkeys(animation.controls, move)


def _key(move: Move) -> tuple[object, ...]:
    return move.type, move.requested_slices, tuple(sorted(parameters_of(move).items()))


def _jump(choreography: Choreography, last: Move, move: Move) -> str:
    """Return the largest step of a joint between two animations as a message; "" where none is too large."""
    animations = choreography.animations
    first, second = animations[last.animation], animations[move.animation]
    arm = needs_arm(first) or needs_arm(second)
    try:
        end = last_pose(play_move(choreography, last, default_start(first), arm=arm))
        joints = play_move(choreography, move, end, arm=arm).joint_displacement
    except (ValueError, MemoryError):
        return ""
    assert joints is not None
    before = np.concatenate([end.legs.ravel(), end.arm, [end.gripper]])[: joints.num_parts]
    steps = np.abs(joints.values[0] - before)
    worst = int(np.argmax(steps))
    if not steps[worst] > MAX_STEP:
        return ""
    return f"begins with {JOINT_NAMES[worst]} at {joints.values[0, worst]:.2f} rad; {last.type!r} before it ends at {before[worst]:.2f} rad"
