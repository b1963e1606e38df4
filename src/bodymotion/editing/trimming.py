"""A part of a motion, from one time or frame to another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.editing.left import unframed
from bodymotion.motion import Component, Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.timeline import ON_FRAME, Timeline

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
    if start is not None and end is not None and not end >= start:
        raise ValueError(f"the end, {end:g} s, is before the start, {start:g} s")
    components: list[Component] = []
    for component in motion.components:
        if isinstance(component, (MultiValueSeq, MultiSE3Seq, Vector3Seq)) and component.num_frames:
            times = component.timeline.times
            first = 0 if start is None else int(np.searchsorted(times, start - ON_FRAME))
            last = len(times) if end is None else int(np.searchsorted(times, end + ON_FRAME, side="right"))
            if first >= last:
                raise ValueError(
                    f"{component.content} has no frame there: its frames are from {times[0]:g} s to {times[-1]:g} s"
                )
            component = _part(component, first, last, start or 0.0)
        components.append(component)
    return replace(motion, components=tuple(components), problems=(*motion.problems, *unframed(motion, "trimmed")))


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
    since = float(motion.times[begin]) if begin else 0.0
    parts = {id(c): _part(c, begin, stop + 1, since) for c in motion.timed}
    components = tuple(parts.get(id(c), c) for c in motion.components)
    return replace(motion, components=components, problems=(*motion.problems, *unframed(motion, "trimmed")))


def _part(
    component: MultiValueSeq | MultiSE3Seq | Vector3Seq, first: int, last: int, since: float
) -> MultiValueSeq | MultiSE3Seq | Vector3Seq:
    timeline = component.timeline
    if timeline.stamps is not None:
        cut = Timeline.stamped(timeline.stamps[first:last] - since, timeline.import_rate)
    else:
        cut = replace(timeline, num_frames=last - first)
    return replace(component, timeline=cut, values=component.values[first:last])
