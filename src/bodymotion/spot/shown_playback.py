"""A Spot animation as it is played.

Tempo, length and parameters, the motion that results, and the slices and beats of its
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.spot.animation import Animation
from bodymotion.spot.choreography.values import TRACKS

if TYPE_CHECKING:
    from bodymotion.spot.playback.timing import Timing

SLICES_PER_BEAT = 4
MAX_LENGTH_FACTOR = 4.0  # An extendable move can be made this many times its natural length in the viewer.


@dataclass(frozen=True)
class PlaybackSettings:
    """How an animation is played.

    Tempo [beats per minute], length [slices], values of parameters; None stands for the
    animation's own.
    """

    bpm: float | None = None
    slices: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)

    def changed(self, name: str, value: float) -> PlaybackSettings:
        """Return the settings with another value of "bpm", "slices", or of a parameter, whose name follows a dot.

        "" resets all.
        """
        if name in ("bpm", "slices"):
            return replace(self, **{name: value})  # type: ignore[arg-type]
        if name:
            return replace(self, parameters={**self.parameters, name[1:]: value})
        return PlaybackSettings()

    def within(self, animation: Animation) -> PlaybackSettings:
        """Return the settings clipped to what an animation allows."""
        parameters = {}
        for name, value in self.parameters.items():
            limits = animation.parameters.get(name)
            if limits is None:
                continue
            if limits.minimum is None:
                low = -np.inf
            else:
                low = limits.minimum
            if limits.maximum is None:
                high = np.inf
            else:
                high = limits.maximum
            if low <= high:
                parameters[name] = float(np.clip(value, low, high))
        settings = PlaybackSettings(self.bpm, None, parameters)
        if self.slices is None:
            return settings
        low, high = slice_range(animation, _timing(animation, settings).natural)
        return replace(settings, slices=float(np.clip(self.slices, low, high)))


@dataclass(frozen=True, eq=False)
class AnimationPlayback:
    """An animation that was played.

    `arm`: whether Spot has its arm; None: as the animation needs it. `settings`: tempo,
    length and parameters. `motion`, `timing`: the
    motion that results, and its times. `problems`: the findings of `check`, those of
    the motion with the defaults of all parameters.
    """

    animation: Animation
    arm: bool | None
    settings: PlaybackSettings
    motion: Motion
    timing: Timing
    problems: tuple[Problem, ...] = ()

    @property
    def body(self) -> Body:
        """Spot, with arm or without."""
        from bodymotion.spot.playback import spot_body

        joints = self.motion.joint_displacement
        return spot_body(arm=joints is not None and joints.num_parts > 12)

    @property
    def title(self) -> str:
        """The title of the move."""
        return self.animation.title.strip() or "Spot animation"

    def with_settings(self, settings: PlaybackSettings) -> AnimationPlayback:
        """Play the animation with other settings. Raises as `play_animation` does."""
        motion, timing = _play(self.animation, settings, self.arm)
        return replace(self, settings=settings, motion=motion, timing=timing)

    @property
    def moments(self) -> tuple[tuple[float, Problem], ...]:
        """The times [s] of problems about keyframes that are shown."""
        found = [(self.keyframe_of(problem), problem) for problem in self.problems]
        timed = [
            (self.time_of(keyframe), problem)
            for keyframe, problem in found
            if keyframe is not None
        ]
        return tuple((time, problem) for time, problem in timed if time is not None)

    def keyframe_of(self, problem: Problem) -> int | None:
        """Return the keyframe, counted from 0, that a problem is about.

        None where it is about none.
        """
        subject = problem.subject
        is_keyframe = (
            len(subject) > 1
            and subject[0] == "keyframes"
            and isinstance(subject[1], int)
        )
        if is_keyframe and int(subject[1]) < len(self.animation.keyframes):
            return int(subject[1])
        return None

    def time_of(self, keyframe: int) -> float | None:
        """Return the time [s] at which a keyframe is first shown.

        None where it is not.
        """
        at = float(self.animation.keyframes.times[keyframe])
        moments = self.timing.moments
        frame = int(np.argmax(moments >= at - 1e-9))
        if moments[frame] >= at - 1e-9:
            return float(self.timing.timeline.times[frame])
        return None


def play_animation(
    animation: Animation,
    settings: PlaybackSettings | None = None,
    arm: bool | None = None,
) -> AnimationPlayback:
    """Play an animation and validate it.

    Raises ValueError when it cannot be played so; see `bodymotion.spot.playback.play`;
    MemoryError when there would be too many frames.
    """
    from bodymotion.spot.playback.validation import checked

    settings = settings or PlaybackSettings()
    motion, timing = _play(animation, settings, arm)
    return AnimationPlayback(
        animation, arm, settings, motion, timing, checked(animation, arm=arm)
    )


def slice_range(animation: Animation, natural: int) -> tuple[float, float]:
    """Return the shortest and the longest length [slices] of a move whose natural length is `natural`."""
    if "truncatable" in animation.options:
        low = min(1.0, natural)
    else:
        low = float(natural)
    if "extendable" in animation.options:
        high = max(MAX_LENGTH_FACTOR * natural, natural + 16.0)
    else:
        high = float(natural)
    return low, high


def _play(
    animation: Animation, settings: PlaybackSettings, arm: bool | None
) -> tuple[Motion, Timing]:
    from bodymotion.spot.playback import play

    motion = play(
        animation,
        bpm=settings.bpm,
        slices=settings.slices,
        parameters=settings.parameters,
        arm=arm,
    )
    return motion, _timing(animation, settings)


def _timing(animation: Animation, settings: PlaybackSettings) -> Timing:
    from bodymotion.spot.playback.timing import settings as parameter_values
    from bodymotion.spot.playback.timing import timing

    values = parameter_values(animation, settings.parameters)
    return timing(
        animation,
        bpm=settings.bpm,
        slices=settings.slices,
        speed=values["speed"],
        offset=values["offset_slices"],
    )


@dataclass(frozen=True)
class Beats:
    """The slices and beats of a move.

    `bpm`, the duration of a `slice` [s], and the number of `slices`; a slice is a
    quarter of a beat.
    """

    bpm: float
    slice: float
    slices: float

    def slice_at(self, time: float) -> float:
        """Return the number of slices before a time [s], at most all."""
        return min(max(time / self.slice, 0.0), self.slices)

    def beat_at(self, time: float) -> int:
        """Return the number of the beat at a time [s], counted from 1."""
        last = max(ceil(self.slices / SLICES_PER_BEAT - 1e-9), 1)
        return min(floor(self.slice_at(time) / SLICES_PER_BEAT + 1e-9) + 1, last)

    def describe(self, time: float) -> str:
        """Return slice and beat at a time [s]: `slice 12.3 of 32, beat 4`."""
        return f"slice {self.slice_at(time):.1f} of {self.slices:g}, beat {self.beat_at(time)}"


def beats_of(motion: Motion) -> Beats | None:
    """Return the slices and beats of a motion that was made from an animation.

    None for others and for impossible numbers.
    """
    recorded = motion.extra.get("spot")
    if not isinstance(recorded, Mapping):
        return None
    numbers = [recorded.get(name) for name in ("bpm", "slice", "slices")]
    if not all(
        isinstance(n, (int, float))
        and not isinstance(n, bool)
        and isfinite(n)
        and n > 0
        for n in numbers
    ):
        return None
    bpm, duration, count = (float(n) for n in numbers if isinstance(n, (int, float)))
    if duration > 1e-6 and count < 1e9:
        return Beats(bpm, duration, count)
    return None


class Block(NamedTuple):
    """A move on the timeline of a dance.

    `start`, `end` [s]; `name`: its type; `is_played`: whether it moves the robot, and
    `is_approximate`: not as the robot itself would.
    """

    start: float
    end: float
    name: str
    is_played: bool
    is_approximate: bool


def moves_of(motion: Motion) -> dict[str, list[Block]]:
    """Return the moves of a motion that was made from a choreography, by their tracks.

    Empty for others.

    Moves whose tracks are unknown are in a row of their own, "moves".
    """
    recorded = motion.extra.get("spot")
    if isinstance(recorded, Mapping):
        moves = recorded.get("moves")
    else:
        moves = None
    rows: dict[str, list[Block]] = {}
    for move in moves if isinstance(moves, (list, tuple)) else ():
        match move:
            case {
                "type": str() as name,
                "start": float() as start,
                "end": float() as end,
                "tracks": [*tracks],
            }:
                for track in map(str, tracks or ["moves"]):
                    rows.setdefault(track, []).append(
                        Block(
                            start,
                            end,
                            name,
                            bool(move.get("played")),
                            bool(move.get("approximate")),
                        )
                    )
    order = [*TRACKS, *rows]
    return {track: rows[track] for track in sorted(rows, key=order.index)}


def approximate_frames(motion: Motion, times: Floats) -> Bools:
    """Return at which times (T,) [s] moves are played that are approximations of ours.

    What they exceed and miss says nothing about the robot's own moves.
    """
    found = np.zeros(len(times), dtype=bool)
    for blocks in moves_of(motion).values():
        for block in blocks:
            if block.is_approximate:
                found |= (times >= block.start) & (times <= block.end)
    return found
