"""Motions with time stamps as motions of a fixed rate, for files that hold a frame rate only."""

from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, losses
from bodymotion.motion.components import TimedComponent, Timeline
from bodymotion.motion.interpolation import check_motion_fits, frames_needed, resampled
from bodymotion.motion.motion import Motion


def at_fixed_rate(motion: Motion) -> tuple[Motion, tuple[Problem, ...]]:
    """Return the motion without time stamps, for files that hold a frame rate only, and what is lost.

    Frames with time stamps become frames at the rate that the motion gives for this; each holds the value of the frame at or after it.

    Raises ValueError when the motion gives no rate, or when the frames at that rate do not fit into memory.
    """
    stamped = [c for c in motion.timed if c.timeline.stamps is not None and c.timeline.import_rate is not None]
    rates = [c.timeline.import_rate or 1.0 for c in stamped]
    counts = [frames_needed(c.timeline, rate, "after") for c, rate in zip(stamped, rates, strict=True)]
    widths = [int(np.prod(c.values.shape[1:])) for c in stamped]
    try:
        check_motion_fits([c.timeline for c in stamped], counts, widths, max(rates, default=1.0))
    except MemoryError as error:
        raise ValueError(f"the target has no time stamps, and {error}") from None
    problems = Diagnostics()
    changed = motion.mapped(lambda c: c if c.timeline.stamps is None else _on_rate(c, problems))
    return changed, problems.problems


def _on_rate(component: TimedComponent, problems: Diagnostics) -> TimedComponent:
    timeline = component.timeline
    rate = timeline.import_rate
    if rate is None:
        raise ValueError(
            f"the frames of {component.content} have time stamps, the target has none, and the motion has no frame rate; "
            "resample it with Motion.resample(frame_rate), or `bodymotion convert --rate`"
        )
    count = frames_needed(timeline, rate, "after")
    uniform = Timeline.uniform(count, rate)
    values = resampled(component.values, timeline, rate, count, "after") if count else component.values
    if not count or not np.array_equal(uniform.times, timeline.times):
        message = f"{timeline.num_frames} time-stamped frames of {component.content}"
        message += f" become {count} frames at {rate:g} Hz"
        problems.add(losses.STAMPS.problem(message, Location(inside=component.content)))
    return replace(component, timeline=uniform, values=values)
