"""What the stand-in robot knows and does: its animations, its sequences, and the dance of the moment.

Times are nanoseconds of its clock.
"""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from bodymotion.animation import Animation
from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.cha_proto import from_proto
from bodymotion.spot.rehearsal.answers import NANO

__all__ = ["PREFIX", "Dance", "Known", "Sequence", "Stage", "slices_of"]

PREFIX = "animation::"
"""Moves of sequences that are animations have types that begin so."""


@dataclass(frozen=True)
class Known:
    """An animation that was uploaded: the message, the animation it means, and the id that its uploader gave it."""

    message: Any
    animation: Animation
    generated_id: str


@dataclass
class Sequence:
    """A sequence that was uploaded, what there is to say about it, and what is danced of it (None: nothing)."""

    message: Any
    warnings: tuple[str, ...]
    danced: Any
    labels: list[str] = field(default_factory=list)
    saved: bool = False


@dataclass(frozen=True)
class Dance:
    """A sequence that was started: `start` [ns] is when its first slice would be."""

    number: int
    sequence: Any
    start: int
    first_slice: float
    stopped_at: int | None = None

    @property
    def slices(self) -> int:
        """How many slices the sequence has."""
        return slices_of(self.sequence)

    def slice_at(self, now: int) -> float:
        """Return the slice that is danced [slices], beginning at `first_slice`."""
        seconds = ((self.stopped_at or now) - self.start) / NANO
        return self.first_slice + max(seconds, 0.0) * float(self.sequence.slices_per_minute) / 60.0

    def over(self, now: int) -> bool:
        """Whether it has ended or was stopped."""
        return self.stopped_at is not None or self.slice_at(now) >= self.slices


def slices_of(sequence: Any) -> int:  # noqa: ANN401
    """Return how many slices a sequence has."""
    return max((move.start_slice + move.requested_slices for move in sequence.moves), default=0)


class Stage:
    """All that the robot holds in memory. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.animations: dict[str, Known] = {}
        self.sequences: dict[str, Sequence] = {}
        self.dance: Dance | None = None
        self._count = 0

    def now(self) -> int:
        """Return the robot's time [ns]."""
        return time.time_ns()

    def read(self, message: Any) -> tuple[Animation | None, tuple[Problem, ...]]:  # noqa: ANN401
        """Make an animation of the vendor's message; None and the faults where that cannot be done."""
        try:
            return from_proto(message), ()
        except FormatError as error:
            return None, error.problems

    def keep(self, message: Any, animation: Animation, generated_id: str) -> None:  # noqa: ANN401
        """Hold an animation ready under its name."""
        number = generated_id or hashlib.sha1(message.SerializeToString(), usedforsecurity=False).hexdigest()
        with self._lock:
            self.animations[animation.name] = Known(message, animation, number)

    def dancing(self) -> bool:
        """Whether a dance goes on, or waits for its time."""
        with self._lock:
            return self.dance is not None and not self.dance.over(self.now())

    def begin(self, sequence: Any, start: int, first_slice: float) -> Dance:  # noqa: ANN401
        """Start a dance; one that goes on ends."""
        with self._lock:
            self._count += 1
            self.dance = Dance(self._count, sequence, max(start, self.now()), first_slice)
            return self.dance

    def interrupt(self) -> None:
        """Stop the dance that goes on."""
        with self._lock:
            if self.dance is not None and not self.dance.over(self.now()):
                self.dance = Dance(
                    self.dance.number, self.dance.sequence, self.dance.start, self.dance.first_slice, self.now()
                )
