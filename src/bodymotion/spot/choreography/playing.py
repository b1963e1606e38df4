"""Playback of a choreography by one Spot.

Its motion is that of its animations. Moves of the robot's own are approximations or
pauses, with their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import counted
from bodymotion.geometry.arrays import Floats, check_memory
from bodymotion.model.body import Body
from bodymotion.model.scripts import tempo_error
from bodymotion.motion import Motion
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import sampled
from bodymotion.spot.animation import Animation
from bodymotion.spot.choreography import rules
from bodymotion.spot.choreography.approximation import approximation, parameters_of
from bodymotion.spot.choreography.frames import NUM_JOINTS, Frames
from bodymotion.spot.choreography.moves import length_range, tracks_of
from bodymotion.spot.choreography.values import Choreography, Move
from bodymotion.spot.playback import SpotPose, needs_arm, play, spot_body, stand
from bodymotion.spot.playback.dimensions import LEG_JOINTS
from bodymotion.spot.playback.playing import default_start
from bodymotion.spot.playback.recording import components

MIN_FRAMES_PER_SLICE = 4
# More frames are refused by `MAX_FRAMES`; this keeps their number finite.
MAX_FRAMES_PER_SLICE = 1e6
# [Hz]
MIN_FRAME_RATE = 60.0
# Of a dance: more than an hour at 120 Hz.
MAX_FRAMES = 500_000
# Numbers of 8 bytes for each frame. A third for the result, the rest while it is made.
NUMBERS_PER_FRAME = 3 * 30
# Moves of the robot's own that a problem names.
MAX_NAMES = 8
# [Hz] of the states of a robot.
STATE_RATE = 100.0


class _Grid(NamedTuple):
    """The frames of a dance: `per_slice` for each slice, at `rate` [Hz]."""

    per_slice: int
    rate: float
    num_frames: int


class _Step(NamedTuple):
    """A move, and the animation that shows it; None for a pause."""

    move: Move
    animation: Animation | None

    @property
    def is_approximate(self) -> bool:
        """Whether the animation is an approximation of ours."""
        return self.animation is not None and not self.move.animation

    @property
    def name(self) -> str:
        """The name under which the move is shown."""
        return f"≈ {self.move.type}" if self.is_approximate else self.move.type


def play_choreography(
    choreography: Choreography, *, first_slice: float = 0, arm: bool | None = None
) -> Motion:
    """Return the motion of a choreography; time 0 is slice 0.

    Moves at the same time on different tracks are played together: the body moves
    relative to where the legs carry it, and a hand with a pose in the world keeps it. A
    length that an animation does not allow becomes the nearest one. Moves of the
    robot's own are approximations where their parameters define their goals, and else
    pauses; `problems` reports them (SPOT132).

    Parameters
    ----------
    first_slice:
        Where a robot begins: it skips the moves that begin before, even if they end
        after it.
    arm:
        Whether Spot has an arm; by default where an animation controls it, or requires
        one.

    Returns
    -------
    Motion
        With the components of `bodymotion.spot.playback.play`. `extra["spot"]` has the
        tempo, the slices, and `moves`: type, start and end [s], tracks, and whether
        each is played.

    Raises
    ------
    ValueError
        When there is no tempo or no move, an animation cannot be played so, or memory
        does not suffice.
    """
    # The grid of frames: a slice is a whole number of them.
    grid = _grid_of(choreography)
    steps = _steps_of(choreography, first_slice)
    animations = [step.animation for step in steps if step.animation is not None]
    if arm is None:
        arm = any(map(needs_arm, animations))
    # The pose before the dance is that of its first animation.
    opening = animations[0] if animations else Animation()
    frames = Frames(grid.num_frames, default_start(opening))
    for move, animation in steps:
        if animation is not None:
            first = move.start_slice * grid.per_slice
            # The nearest length that the animation allows, as the robot takes it.
            low, high = length_range(choreography, move)
            slices = int(min(max(move.requested_slices, low), high))
            allowed = replace(move, requested_slices=slices)
            start = frames.pose(first)
            bpm = choreography.bpm
            played = play_move(animation, allowed, bpm, start, arm=arm, rate=grid.rate)
            frames.put(played, animation, first)
    frames.fill(grid.num_frames)
    # Hands with a pose in the world are solved again once the body is final.
    if arm:
        frames.keep_hands()
    timeline = Timeline(frame_rate=grid.rate, num_frames=grid.num_frames)
    num_joints = NUM_JOINTS if arm else len(LEG_JOINTS)
    num_goals = 5 if arm else 4
    return Motion(
        components(
            timeline,
            frames.body,
            frames.joints[:, :num_joints],
            frames.contacts,
            frames.misses[:, :num_goals],
        ),
        extra={
            "name": choreography.name,
            "spot": {
                "bpm": choreography.slices_per_minute / 4.0,
                "slice": 60.0 / choreography.slices_per_minute,
                "slices": float(choreography.slices),
                "moves": [_record_of(choreography, step) for step in steps],
            },
        },
        problems=_placeholders(choreography, steps),
    )


def _grid_of(choreography: Choreography) -> _Grid:
    """Return the frames of a dance; ValueError where there can be none."""
    tempo = choreography.slices_per_minute
    slices = choreography.slices
    if not 0 < tempo < np.inf or slices <= 0:
        raise ValueError(
            f"a choreography of {slices} slices at {tempo:g} per minute cannot be "
            "played"
        )
    # Slow tempos: enough frames for `MIN_FRAME_RATE`; fast ones: a few per slice.
    wanted = max(MIN_FRAMES_PER_SLICE, np.ceil(MIN_FRAME_RATE * 60.0 / tempo))
    per_slice = int(min(wanted, MAX_FRAMES_PER_SLICE))
    count = slices * per_slice + 1
    # Limits before any array is made: a file may ask for any length.
    if count > MAX_FRAMES:
        raise ValueError(
            f"a dance of {slices} slices at {tempo:g} slices per minute has {count} "
            f"frames; expected at most {MAX_FRAMES}"
        )
    try:
        check_memory(count * NUMBERS_PER_FRAME * 8, f"a dance of {count} frames")
    except MemoryError as error:
        raise ValueError(str(error)) from None
    return _Grid(per_slice, per_slice * tempo / 60.0, count)


def _steps_of(choreography: Choreography, first_slice: float) -> list[_Step]:
    """Return the moves from a slice on with the animations that show them."""
    moves = [
        move for move in choreography.moves if move.start_slice >= max(first_slice, 0)
    ]
    # Of moves that begin together an animation comes last: where both control a track,
    # it is shown.
    moves.sort(key=lambda move: (move.start_slice, bool(move.animation)))
    slice_seconds = 60.0 / choreography.slices_per_minute
    steps = []
    for move in moves:
        animation = choreography.animations.get(move.animation)
        if animation is None:
            animation = approximation(move, slice_seconds)
        steps.append(_Step(move, animation))
    return steps


def _record_of(choreography: Choreography, step: _Step) -> dict[str, object]:
    """Return what the motion keeps of a move; see `bodymotion.scene.playback`."""
    tempo = choreography.slices_per_minute
    return {
        "type": step.name,
        "start": step.move.start_slice * 60.0 / tempo,
        "end": step.move.end_slice * 60.0 / tempo,
        "tracks": list(tracks_of(choreography, step.move)),
        "played": step.animation is not None,
        "approximate": step.is_approximate,
    }


def _placeholders(
    choreography: Choreography, steps: Sequence[_Step]
) -> tuple[Problem, ...]:
    """Return the problem of moves that are no animations that are known."""
    animations = choreography.animations
    names = [step.name for step in steps if step.move.animation not in animations]
    if not names:
        return ()
    message = (
        f"{counted(len(names), 'move')} of {len(choreography.moves)} shown as pauses, "
        f"or approximately (≈): {', '.join(dict.fromkeys(names[:MAX_NAMES]))}"
    )
    location = choreography.source.locations.locate(())
    return (rules.PLACEHOLDER.problem(message, location),)


def body_and_motion(
    choreography: Choreography, *, bpm: float | None = None
) -> tuple[Body, Motion]:
    """Return the body of Spot and the motion of a choreography on it.

    See `Choreography.body_and_motion`.
    """
    if bpm is not None:
        raise tempo_error()
    motion = play_choreography(choreography)
    joints = motion.joint_displacement
    has_arm = joints is not None and joints.num_parts > len(LEG_JOINTS)
    return spot_body(arm=has_arm), motion


def motion_at(motion: Motion | None, seconds: Floats, *, arm: bool) -> Motion:
    """Return the states of Spot at times (T,) of a motion, one every 10 ms.

    The motion is one of `play_choreography`; standing where there is none.
    """
    count = len(seconds)
    timeline = Timeline(frame_rate=STATE_RATE, num_frames=count)
    if motion is None:
        rest = stand()
        joints = np.concatenate([rest.legs.ravel(), rest.arm, [rest.gripper]])
        num_joints = NUM_JOINTS if arm else len(LEG_JOINTS)
        still = np.ones((count, 1))
        body = still * rest.body
        # A robot that stands without a dance.
        contacts = np.ones((count, 4))
        return Motion(components(timeline, body, still * joints[:num_joints], contacts))
    # Root, joints and contacts, in the order of `components`.
    root, joints, contacts = (
        np.asarray(sampled(one.values, one.timeline.times, seconds))
        for one in motion.timed[:3]
    )
    return Motion(components(timeline, root[:, 0], joints, contacts > 0.5))


def play_move(
    animation: Animation,
    move: Move,
    bpm: float,
    start: SpotPose,
    *,
    arm: bool,
    rate: float | None = None,
) -> Motion:
    """Return the motion of a move that an animation shows, from a pose on.

    `rate` [Hz] as for `play`.
    """
    return play(
        animation,
        bpm=bpm,
        slices=float(move.requested_slices),
        parameters=parameters_of(move) if move.animation else {},
        start=start,
        arm=arm,
        frame_rate=rate,
    )
