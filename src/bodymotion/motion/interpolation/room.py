"""Whether the frames of a rate fit into memory, asked before they are made: stamps of a clock may begin decades after frame 0."""

from __future__ import annotations

from collections.abc import Sequence

from bodymotion.motion.timeline import Timeline
from bodymotion.system.memory import check_memory

__all__ = ["check_room"]

PER_FRAME = 3 * 8
"""Bytes for each frame beside its values: which source frame is in force there, as it is found."""


def check_room(
    timelines: Sequence[Timeline],
    counts: Sequence[int],
    widths: Sequence[int],
    frame_rate: float,
    start: float = 0.0,
    beside: int = 0,
) -> None:
    """Raise MemoryError when components of so many frames (`counts`), each of so many numbers (`widths`), do not fit into memory.

    Parameters
    ----------
    timelines, frame_rate, start:
        What is put on a rate [Hz], with frame 0 at `start` [s]; the message says where the frames come from, and what leaves them out.
    beside:
        Bytes that are needed besides.
    """
    size = sum(8 * count * width for count, width in zip(counts, widths, strict=True)) + beside
    most = max(counts, default=0)
    what = f"the motion at {frame_rate:g} Hz, of {most} frames{_empty(timelines, start)}"
    check_memory(size + PER_FRAME * most, what)


def _empty(timelines: Sequence[Timeline], start: float) -> str:
    """Say when most of the frames lie before the first that is known."""
    ends = [(float(t.times[0]), float(t.times[-1])) for t in timelines if t.num_frames]
    first, last = min((a for a, _ in ends), default=start), max((b for _, b in ends), default=start)
    if first - start <= last - first:
        return ""
    return (
        f", because its times begin at {first:.12g} s (start=… of Motion.resample(), or `retime --start first`, "
        "takes that time off),"
    )
