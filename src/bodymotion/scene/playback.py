"""How a script of a robot is played, and the beats and moves of its time.

An extension keeps what it knows of a motion that it made in `Motion.extra`, under its
name: the tempo `bpm` [beats per minute], the duration of a `slice` [s], the number of
`slices`, and the `moves` of a dance as mappings with `type`, `start`, `end` [s],
`tracks`, `played` and `approximate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor, isfinite
from typing import Any, NamedTuple, Protocol

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.extensions import extensions
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.model.body import Body
from bodymotion.model.scripts import RobotScript
from bodymotion.motion import Motion

SLICES_PER_BEAT = 4
# [s] A shorter slice is not believed: nothing could be drawn of it.
MIN_SLICE = 1e-6
# More slices are not believed: their numbers would have more digits than are shown.
MAX_SLICES = 1e9


@dataclass(frozen=True)
class PlaybackSettings:
    """How a script is played; None stands for the script's own.

    Attributes
    ----------
    bpm:
        The tempo [beats per minute].
    slices:
        The length [slices], quarters of a beat.
    parameters:
        The values of parameters, by name.
    """

    bpm: float | None = None
    slices: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)

    def changed(self, name: str, value: float) -> PlaybackSettings:
        """Return the settings with another value of "bpm", "slices" or a parameter.

        The name of a parameter follows a dot. An empty name resets all.
        """
        if name in ("bpm", "slices"):
            return replace(self, **{name: value})  # type: ignore[arg-type]
        if name:
            return replace(self, parameters={**self.parameters, name[1:]: value})
        return PlaybackSettings()


class Playback(Protocol):
    """A script that was played, and can be played with other settings."""

    @property
    def script(self) -> RobotScript:
        """What is played."""

    @property
    def settings(self) -> PlaybackSettings:
        """The settings that it was played with."""

    @property
    def body(self) -> Body:
        """The robot."""

    @property
    def motion(self) -> Motion:
        """The motion that results."""

    @property
    def slice(self) -> float:
        """The duration of a slice [s]."""

    @property
    def title(self) -> str:
        """The name for people."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The findings of a check of the script."""

    @property
    def moments(self) -> tuple[tuple[float, Problem], ...]:
        """The times [s] of problems."""

    def allowed(self, settings: PlaybackSettings) -> PlaybackSettings:
        """Return settings clipped to what the script allows."""

    def with_settings(self, settings: PlaybackSettings) -> Playback:
        """Play the script with other settings; ValueError where that is impossible."""


@dataclass(frozen=True)
class Beats:
    """The slices and beats of a move; a slice is a quarter of a beat.

    Attributes
    ----------
    bpm:
        The tempo [beats per minute].
    slice:
        The duration of a slice [s].
    slices:
        The number of slices.
    """

    bpm: float
    slice: float
    slices: float

    def slice_at(self, time: float) -> float:
        """Return the number of slices before a time [s], at most all."""
        return min(max(time / self.slice, 0.0), self.slices)

    def beat_at(self, time: float) -> int:
        """Return the number of the beat at a time [s], counted from 1."""
        # 1e-9 keeps a beat that rounding puts just before its time.
        last = max(ceil(self.slices / SLICES_PER_BEAT - 1e-9), 1)
        return min(floor(self.slice_at(time) / SLICES_PER_BEAT + 1e-9) + 1, last)

    def describe(self, time: float) -> str:
        """Return slice and beat at a time [s]: `slice 12.3 of 32, beat 4`."""
        beat = self.beat_at(time)
        return f"slice {self.slice_at(time):.1f} of {self.slices:g}, beat {beat}"


class Block(NamedTuple):
    """A move on the timeline of a dance.

    Attributes
    ----------
    start, end:
        [s] When it begins and ends.
    name:
        Its type, without a prefix that ends with "::".
    is_played:
        Whether it moves the robot.
    is_approximate:
        Whether it moves otherwise than the robot itself would.
    """

    start: float
    end: float
    name: str
    is_played: bool
    is_approximate: bool


def beats_of(motion: Motion) -> Beats | None:
    """Return the slices and beats of a motion that was made of a script.

    None for other motions and for impossible numbers.
    """
    record, _ = _record_of(motion)
    numbers: list[Any] = [record.get(name) for name in ("bpm", "slice", "slices")]
    if not all(map(_is_positive, numbers)):
        return None
    bpm, duration, count = map(float, numbers)
    if duration > MIN_SLICE and count < MAX_SLICES:
        return Beats(bpm, duration, count)
    return None


def _is_positive(value: object) -> bool:
    """Return whether a value is a finite number above 0."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return isfinite(value) and value > 0


def _record_of(motion: Motion) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return what an extension keeps of a motion, and the order of its tracks."""
    for extension in extensions():
        record = motion.extra.get(extension.name)
        if isinstance(record, Mapping):
            return record, extension.tracks
    return {}, ()


def moves_of(motion: Motion) -> dict[str, list[Block]]:
    """Return the moves of a motion that was made of a dance, by their tracks.

    Empty for other motions. Moves whose tracks are unknown have the track "moves".
    """
    record, order = _record_of(motion)
    moves = record.get("moves")
    if not isinstance(moves, (list, tuple)):
        return {}
    rows: dict[str, list[Block]] = {}
    for move in moves:
        match move:
            case {
                "type": str() as name,
                "start": float() as start,
                "end": float() as end,
                "tracks": [*tracks],
            }:
                block = Block(
                    start,
                    end,
                    name.rpartition("::")[2],
                    bool(move.get("played")),
                    bool(move.get("approximate")),
                )
                for track in map(str, tracks or ["moves"]):
                    rows.setdefault(track, []).append(block)
    ordered = [*order, *rows]
    return {track: rows[track] for track in sorted(rows, key=ordered.index)}


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
