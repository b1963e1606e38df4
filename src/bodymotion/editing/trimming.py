"""A part of a motion, from one time or frame to another."""

from __future__ import annotations

from bodymotion.motion import Motion

__all__ = ["trim", "trim_frames"]


def trim(motion: Motion, start: float | None = None, end: float | None = None) -> Motion:
    """Return the frames from time `start` to time `end` [s], both included; None is from the beginning, or to the end.

    Each component keeps its frames with start ≤ t ≤ end (within a microsecond). At a fixed rate the first frame that is kept becomes
    frame 0; time stamps are counted from `start` on. Components of unknown types stay whole, which `problems` says.

    Raises
    ------
    ValueError
        When `end` is before `start`, or a component with frames has none in between; the message says when it has some.
    """
    return motion.between(start, end)


def trim_frames(motion: Motion, first: int = 0, last: int | None = None) -> Motion:
    """Return frames `first` to `last`, both included and counted from 0; negative ones count from the end, −1 being the last frame.

    Time stamps are counted from that of the first frame on.

    Raises
    ------
    ValueError
        When the components do not share a timeline, or there are no such frames.
    """
    count = motion.num_frames
    begin = first + count if first < 0 else first
    stop = count - 1 if last is None else last + count if last < 0 else last
    if not 0 <= begin <= stop < count:
        raise ValueError(
            f"no frames {first} to {'the end' if last is None else last}: the motion has frames 0 to {count - 1}"
        )
    return motion[begin : stop + 1]
