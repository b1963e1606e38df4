"""Components put on one frame rate, and what is told of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Location, Problem
from bodymotion.diagnostics.losses import OTHER_RATE
from bodymotion.motion.components import JOINT_DISPLACEMENT, Component, OtherSeq
from bodymotion.motion.interpolation import HOLDING, Method, check_room, find_wraps, resampled, unwrapped
from bodymotion.motion.interpolation.methods import check_rate
from bodymotion.motion.interpolation.resampling import bridge_problem
from bodymotion.motion.interpolation.wraps import wrap_problem
from bodymotion.motion.timeline import Timeline

__all__ = ["left_on_rate", "put_on_rate", "wished_rate"]


def wished_rate(timelines: Sequence[Timeline], frame_rate: float | None) -> float:
    """Return the rate [Hz] that is asked for, or else the highest of the timelines or of what they wish; ValueError where there is none."""
    if frame_rate is None:
        rates = [rate for t in timelines for rate in (t.frame_rate or t.import_rate,) if rate is not None]
        if not rates:
            raise ValueError("the motion has time stamps and no frame rate: say which one is wanted")
        frame_rate = max(rates)
    check_rate(frame_rate)
    return float(frame_rate)


def put_on_rate(
    components: Sequence[Component],
    frame_rate: float,
    counts: Sequence[int],
    method: Method,
    *,
    antialias: bool,
    unwrap: bool,
    start: float,
) -> tuple[tuple[Component, ...], list[Problem]]:
    """Put components on a rate [Hz], each with its count of frames; give them, and what was noticed.

    The other arguments and the errors are those of `Motion.resample`.
    """
    timed = [c for c in components if not isinstance(c, OtherSeq)]
    curves = sum(c.values.nbytes for c in timed) if method in ("cubic", "pchip") else 0
    widths = [int(np.prod(c.values.shape[1:])) for c in timed]
    check_room([c.timeline for c in timed], counts, widths, frame_rate, start, curves)
    remaining = iter(counts)
    after: list[Component] = []
    problems: list[Problem] = []
    moved = bool(start)
    for component in components:
        if isinstance(component, OtherSeq):
            after.append(component)
            continue
        count = next(remaining)
        timeline = Timeline.uniform(count, frame_rate)
        moved |= component.timeline != timeline
        values = component.values
        if component.content == JOINT_DISPLACEMENT and unwrap:
            values = unwrapped(values)
        if (component.timeline != timeline or start) and component.num_frames:
            if component.content == JOINT_DISPLACEMENT and method not in HOLDING and not unwrap:
                problem = wrap_problem(find_wraps(values), component.content)
                problems += [problem] if problem else []
            lost = bridge_problem(values, component.timeline, frame_rate, component.content) if antialias else None
            problems += [lost] if lost else []
            values = resampled(values, component.timeline, frame_rate, count, method, antialias=antialias, start=start)
        after.append(replace(component, timeline=timeline, values=values))
    if moved:
        problems += [left_on_rate(c.type, c.content) for c in components if isinstance(c, OtherSeq)]
    return tuple(after), problems


def left_on_rate(kind: str, content: str) -> Problem:
    """Say of a component of an unknown type that it is not put on the new rate."""
    message = f"the {kind} {content!r} is not put on the new rate"
    return OTHER_RATE.problem(message, Location(inside=content or None))
