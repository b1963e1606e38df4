"""The state of the stand-in robot.

Uploaded animations and sequences, and the current dance. Times are nanoseconds of its
clock.
"""

# ruff: noqa: ANN401 - messages of protobuf are made at run time

import hashlib
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

from bodymotion.spot.animation import Animation

NANO = 1_000_000_000


@dataclass(frozen=True)
class UploadedAnimation:
    """An animation that was uploaded.

    Its message, the animation, and the id of the upload.
    """

    message: Any
    animation: Animation
    generated_id: str


@dataclass
class UploadedSequence:
    """A sequence that was uploaded, with warnings about it.

    And the part that can be danced (None: nothing).
    """

    message: Any
    warnings: tuple[str, ...]
    danced: Any
    labels: dict[str, None] = field(default_factory=dict)
    saved: bool = False


@dataclass(frozen=True)
class Dance:
    """A sequence that was started.

    `start` [ns] is the time of `first_slice`.
    """

    number: int
    sequence: Any
    start: int
    first_slice: float
    stopped_at: int | None = None

    @property
    def slices(self) -> int:
        """The number of slices of the sequence."""
        return slices_of(self.sequence)

    def slice_at(self, now: int) -> float:
        """Return the slice at a time, with its fraction."""
        # A stopped dance stays at the slice where it was stopped.
        seconds = (min(now, self.stopped_at or now) - self.start) / NANO
        return (
            self.first_slice
            + max(seconds, 0.0) * float(self.sequence.slices_per_minute) / 60.0
        )

    @property
    def end(self) -> int:
        """The time [ns] at which it ends, or was stopped."""
        rest = (self.slices - self.first_slice) * 60.0 / self.sequence.slices_per_minute
        return self.stopped_at or self.start + round(rest * NANO)

    def seconds_at(self, now: int) -> float:
        """Return the time [s] of the sequence at a time."""
        return (
            min(self.slice_at(now), float(self.slices))
            * 60.0
            / float(self.sequence.slices_per_minute)
        )

    def is_over(self, now: int) -> bool:
        """Return whether the dance has ended or was stopped."""
        return self.stopped_at is not None or self.slice_at(now) >= self.slices


def slices_of(sequence: Any) -> int:
    """Return the number of slices of a sequence."""
    return max(
        (move.start_slice + move.requested_slices for move in sequence.moves), default=0
    )


class Store:
    """Everything that the robot holds in memory.

    Every method may be called from any thread.
    """

    def __init__(self, listed: Any = None) -> None:
        """Begin without animations, sequences and dances."""
        self.listed = listed
        """The moves of its own, as a message ListAllMovesResponse.

        None for a robot without.
        """
        self._lock = threading.RLock()
        self.animations: dict[str, UploadedAnimation] = {}
        self.sequences: dict[str, UploadedSequence] = {}
        self.dance: Dance | None = None
        self.recording: tuple[int, int, int] | None = None
        """The number, start and end [ns] of the recording that was asked for."""
        self._count = 0

    def now(self) -> int:
        """Return the robot's time [ns]."""
        return time.time_ns()

    def add(self, message: Any, animation: Animation, generated_id: str) -> None:
        """Add an animation under its name."""
        # Without an id from the client: one by the content.
        number = (
            generated_id
            or hashlib.sha1(
                message.SerializeToString(), usedforsecurity=False
            ).hexdigest()
        )
        with self._lock:
            self.animations[animation.name] = UploadedAnimation(
                message, animation, number
            )

    def is_dancing(self) -> bool:
        """Return whether a dance is running, or waits for its start."""
        with self._lock:
            return self.dance is not None and not self.dance.is_over(self.now())

    def start_dance(self, sequence: Any, start: int, first_slice: float) -> Dance:
        """Start a dance; a running one ends."""
        with self._lock:
            self._count += 1
            self.dance = Dance(
                self._count, sequence, max(start, self.now()), first_slice
            )
            return self.dance

    def stop_dance(self) -> None:
        """Stop the running dance."""
        with self._lock:
            if self.dance is not None and not self.dance.is_over(self.now()):
                self.dance = replace(self.dance, stopped_at=self.now())
