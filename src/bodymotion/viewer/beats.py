"""Slices and beats of a move of Spot: a slice is a quarter of a beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, isfinite

from bodymotion.motion import Motion

__all__ = ["SLICES_IN_A_BEAT", "Beats", "beats_of"]

SLICES_IN_A_BEAT = 4


@dataclass(frozen=True)
class Beats:
    """How the time of a move is counted: `bpm`, the seconds of a `slice`, and the `slices` of the whole move."""

    bpm: float
    slice: float
    slices: float

    def slice_at(self, time: float) -> float:
        """Return the slices that have passed at a time [s]; no more than there are."""
        return min(max(time / self.slice, 0.0), self.slices)

    def beat_at(self, time: float) -> int:
        """Return the number of the beat at a time [s], counted from 1."""
        last = max(ceil(self.slices / SLICES_IN_A_BEAT - 1e-9), 1)
        return min(floor(self.slice_at(time) / SLICES_IN_A_BEAT + 1e-9) + 1, last)

    def in_words(self, time: float) -> str:
        """Say where a time [s] is: `slice 12.3 of 32, beat 4`."""
        return f"slice {self.slice_at(time):.1f} of {self.slices:g}, beat {self.beat_at(time)}"


def beats_of(motion: Motion) -> Beats | None:
    """Return the slices and beats of a motion that was played of an animation; None for others, and where the numbers make no sense."""
    said = motion.extra.get("spot")
    if not isinstance(said, Mapping):
        return None
    numbers = [said.get(name) for name in ("bpm", "slice", "slices")]
    if not all(isinstance(n, (int, float)) and not isinstance(n, bool) and isfinite(n) and n > 0 for n in numbers):
        return None
    bpm, one, count = (float(n) for n in numbers if isinstance(n, (int, float)))
    return Beats(bpm, one, count) if one > 1e-6 and count < 1e9 else None
