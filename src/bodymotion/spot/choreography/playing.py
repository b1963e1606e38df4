"""Playback of a choreography: the motion of its animations. Moves of the robot's own are pauses, with their names."""

from __future__ import annotations

import numpy as np

from bodymotion.animation import Animation
from bodymotion.choreography import Choreography, Move
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import counted
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.spot.choreography import rules
from bodymotion.spot.choreography.moves import tracks_of
from bodymotion.spot.playback import FOOT_CONTACT, SpotPose, needs_arm, play, spot_body
from bodymotion.spot.playback.dimensions import LEG_JOINTS
from bodymotion.spot.playback.playing import default_start
from bodymotion.spot.playback.recording import components
from bodymotion.system.memory import check_memory

LEGS, ARM = slice(0, 12), slice(12, 18)
MIN_FRAMES_PER_SLICE, MIN_FRAME_RATE = 4, 60.0
"""The second in Hz."""
_COLUMNS = {"arm": ARM, "gripper": slice(18, 19)}


def parameters_of(move: Move) -> dict[str, float]:
    """Return the numbers that a move sets as parameters of its animation."""
    return {
        name: float(value)
        for name, value in move.parameters.items()
        if isinstance(value, (int, float)) and not name.endswith(".")
    }


def play_choreography(choreography: Choreography, *, arm: bool | None = None) -> Motion:
    """Return the motion of a choreography, from its first slice on.

    A track that no animation controls keeps its pose; after a move the robot keeps the last one. Moves whose motion is not known, those of
    the robot's own, are pauses; `problems` of the motion reports them (SPOT132).

    Parameters
    ----------
    arm:
        Whether Spot has an arm; by default where an animation controls it, or requires one.

    Returns
    -------
    Motion
        With the components of `bodymotion.spot.playback.play`, without ReachError. `extra["spot"]` has the tempo, the slices, and `moves`:
        type, start and end [s], tracks, and whether each is played.

    Raises
    ------
    ValueError
        When there is no tempo or no move, an animation cannot be played so, or memory does not suffice.
    """
    per_minute, slices = choreography.slices_per_minute, choreography.slices
    if not 0 < per_minute < np.inf or slices <= 0:
        raise ValueError(f"a choreography of {slices} slices at {per_minute:g} per minute cannot be played")
    animations = choreography.animations
    moves = sorted((one for one in choreography.moves if one.start_slice >= 0), key=lambda move: move.start_slice)
    arm = (
        any(needs_arm(animations[one.animation]) for one in moves if one.animation in animations)
        if arm is None
        else arm
    )
    per_slice = int(min(max(MIN_FRAMES_PER_SLICE, np.ceil(MIN_FRAME_RATE * 60.0 / per_minute)), 1e6))
    rate = per_slice * per_minute / 60.0
    count = slices * per_slice + 1
    try:
        check_memory(count * 30 * 8 * 3, f"a dance of {count} frames")
    except MemoryError as error:
        raise ValueError(str(error)) from None
    opening = next((animations[one.animation] for one in moves if one.animation in animations), None)
    made = _Frames(count, default_start(opening) if opening is not None else default_start(Animation()))
    shown = []
    for move in moves:
        animation = animations.get(move.animation)
        if animation is not None:
            first = move.start_slice * per_slice
            played = play_move(choreography, move, made.pose(first), arm=arm, rate=rate)
            made.put(played, animation.controls, first)
        seconds = 60.0 / per_minute
        shown.append(
            {
                "type": move.type,
                "start": move.start_slice * seconds,
                "end": move.end_slice * seconds,
                "tracks": list(tracks_of(choreography, move)),
                "played": animation is not None,
            }
        )
    made.fill(count)
    timeline = Timeline(frame_rate=rate, num_frames=count)
    return Motion(
        components(timeline, made.body, made.joints if arm else made.joints[:, LEGS], made.contacts),
        extra={
            "name": choreography.name,
            "spot": {"bpm": per_minute / 4.0, "slice": 60.0 / per_minute, "slices": float(slices), "moves": shown},
        },
        problems=_pauses(choreography),
    )


def body_and_motion(choreography: Choreography) -> tuple[Body, Motion]:
    """Return the body of Spot and the motion of a choreography on it; see `Choreography.body_and_motion`."""
    motion = play_choreography(choreography)
    joints = motion.joint_displacement
    return spot_body(arm=joints is not None and joints.num_parts > len(LEG_JOINTS)), motion


def _pauses(choreography: Choreography) -> tuple[Problem, ...]:
    paused = [one.type for one in choreography.moves if one.animation not in choreography.animations]
    if not paused:
        return ()
    names = ", ".join(dict.fromkeys(paused[:8]))
    message = (
        f"{counted(len(paused), 'move')} of {len(choreography.moves)} without a known motion, shown as pauses: {names}"
    )
    return (rules.PLACEHOLDER.problem(message, choreography.source.locations.locate(())),)


def play_move(
    choreography: Choreography, move: Move, start: SpotPose, *, arm: bool, rate: float | None = None
) -> Motion:
    """Return the motion of a move that is a known animation, from a pose on; `rate` [Hz] as for `play`."""
    return play(
        choreography.animations[move.animation],
        bpm=choreography.bpm,
        slices=float(move.requested_slices),
        parameters=parameters_of(move),
        start=start,
        arm=arm,
        frame_rate=rate,
    )


class _Frames:
    """The frames of a dance: `body` (T, 7), `joints` (T, 19) and `contacts` (T, 4), filled from the start on, each track by itself."""

    def __init__(self, count: int, rest: SpotPose) -> None:
        self.body, self.joints, self.contacts = np.empty((count, 7)), np.empty((count, 19)), np.empty((count, 4))
        self.body[0] = rest.body
        self.joints[0] = np.concatenate([rest.legs.ravel(), rest.arm, [rest.gripper]])
        self.contacts[0] = 1.0
        self._filled = dict.fromkeys(("base", "arm", "gripper"), 1)

    def _parts(self, track: str) -> tuple[Floats, ...]:
        if track == "base":
            return self.body, self.joints[:, LEGS], self.contacts
        return (self.joints[:, _COLUMNS[track]],)

    def fill(self, end: int) -> None:
        """Hold the last pose of each track up to the frame `end`."""
        for track, filled in self._filled.items():
            if filled < end:
                for part in self._parts(track):
                    part[filled:end] = part[filled - 1]
                self._filled[track] = end

    def pose(self, frame: int) -> SpotPose:
        """Return the pose at a frame."""
        self.fill(frame + 1)
        joints = self.joints[frame]
        return SpotPose(self.body[frame], joints[LEGS].reshape(4, 3), joints[ARM], float(joints[18]))

    def put(self, played: Motion, controls: tuple[str, ...], first: int) -> None:
        """Write the tracks of a move from the frame `first` on."""
        moved, placed = played.joint_displacement, played.link_position
        assert moved is not None
        assert placed is not None
        touching = next(c for c in played.components if isinstance(c, MultiValueSeq) and c.content == FOOT_CONTACT)
        here = slice(first, min(first + played.num_frames, len(self.joints)))
        last = here.stop - first
        sources: dict[str, tuple[Floats, ...]] = {"base": (placed.values[:, 0], moved.values[:, LEGS], touching.values)}
        if moved.num_parts > 12:
            sources |= {track: (moved.values[:, columns],) for track, columns in _COLUMNS.items()}
        for track, values in sources.items():
            if not ({"legs", "body"} if track == "base" else {track}) & set(controls):
                continue
            for part, value in zip(self._parts(track), values, strict=True):
                part[here] = value[:last]
            self._filled[track] = here.stop
