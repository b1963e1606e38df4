"""Values and components at a fixed frame rate.

Where that is requested, a low-pass filter is applied before the rate decreases.
`at_fixed_rate` is for files that hold a frame rate only.
"""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, losses
from bodymotion.diagnostics.losses import OTHER_RATE
from bodymotion.geometry.arrays import Floats, check_memory, median_step
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    Component,
    OtherSeq,
    TimedComponent,
    Timeline,
)
from bodymotion.motion.interpolation import sampling
from bodymotion.motion.interpolation.lowpass import low_passed, taps
from bodymotion.motion.rules import FILTER_GAPS

if TYPE_CHECKING:
    from bodymotion.motion.motion import Motion

# Numbers that are processed at a time, approximately. It limits the memory that is
# needed beside the result.
BLOCK = 1 << 22
# The method for files without time stamps: held values would repeat frames.
ON_RATE: sampling.Method = "linear"
# Memory for each frame beside its values: which source frame is in force there.
BYTES_PER_FRAME = 3 * 8


def common_rate(rates: Iterable[float | None], frame_rate: float | None) -> float:
    """Return `frame_rate` [Hz], or else the highest rate of the components.

    ValueError where there is none.
    """
    if frame_rate is None:
        frame_rate = max((rate for rate in rates if rate is not None), default=None)
        if frame_rate is None:
            raise ValueError(
                "the motion has time stamps and no frame rate: choose a frame_rate [Hz]"
            )
    sampling.check_rate(frame_rate)
    return float(frame_rate)


def resampled_components(
    components: Sequence[Component],
    frame_rate: float,
    counts: Sequence[int],
    method: sampling.Method,
    *,
    antialias: bool,
    unwrap: bool,
    start: float,
) -> tuple[tuple[Component, ...], list[Problem]]:
    """Return components at a rate [Hz], each with its count of frames, and problems.

    The other arguments and the errors are those of `Motion.resample`.
    """
    timed = [c for c in components if not isinstance(c, OtherSeq)]
    slopes = 0
    # Slopes of curves need as much memory as the values.
    if method in ("cubic", "pchip"):
        slopes = sum(c.values.nbytes for c in timed)
    widths = [int(np.prod(c.values.shape[1:])) for c in timed]
    check_motion_fits(
        [c.timeline for c in timed], counts, widths, frame_rate, start, slopes
    )
    remaining = iter(counts)
    changed = bool(start)
    after: list[Component] = []
    problems: list[Problem] = []
    for component in components:
        if isinstance(component, OtherSeq):
            after.append(component)
            continue
        timeline = Timeline.uniform(next(remaining), frame_rate)
        changed |= component.timeline != timeline
        values = component.values
        # Only joints are unwrapped: other numbers may jump by 2π for real.
        if component.content == JOINT_DISPLACEMENT and unwrap:
            values = sampling.unwrapped(values)
        if (component.timeline != timeline or start) and component.num_frames:
            if not unwrap:
                # With `unwrap` there is nothing left to report.
                problems += _wrap_problems(component, method)
            if antialias:
                problems += _bridge_problems(
                    values, component.timeline, frame_rate, component.content
                )
            values = resampled(
                values,
                component.timeline,
                frame_rate,
                timeline.num_frames,
                method,
                antialias=antialias,
                start=start,
            )
        after.append(replace(component, timeline=timeline, values=values))
    # Components of unknown types keep their frames, which no longer fit.
    if changed:
        for component in components:
            if isinstance(component, OtherSeq):
                problems.append(not_resampled(component.type, component.content))
    return tuple(after), problems


def _wrap_problems(component: TimedComponent, method: sampling.Method) -> list[Problem]:
    """Return the problem that joint angles jump by a turn, between which values go."""
    if component.content != JOINT_DISPLACEMENT or method in sampling.HOLDING:
        return []
    wraps = sampling.find_wraps(component.values)
    problem = sampling.wrap_problem(wraps, component.content)
    return [problem] if problem else []


def not_resampled(kind: str, content: str) -> Problem:
    """Return the problem that a component of an unknown type was not resampled."""
    message = f"the {kind} {content!r} is not resampled"
    return OTHER_RATE.problem(
        message,
        Location(inside=content or None),
        data={"type": kind, "content": content},
    )


def resampled(
    values: Floats,
    timeline: Timeline,
    frame_rate: float,
    num_frames: int,
    method: sampling.Method,
    *,
    antialias: bool = False,
    start: float = 0.0,
) -> Floats:
    """Return values (num_frames, …) at `start` + 0, 1/frame_rate, … seconds.

    Parameters
    ----------
    values, timeline:
        (T, …); with three axes, the last of 7 numbers, they are poses: x y z and the
        quaternion w x y z.
    method:
        One of the package's table.
    antialias:
        Apply a low-pass filter at half the new rate before going down to it: see
        `bodymotion.motion.interpolation.lowpass`.

    Raises
    ------
    ValueError
        When there are no frames, or when time stamps do not increase.
    """
    sampling.check_rate(frame_rate)
    sampling.check_increasing(timeline.times)
    factor = 1
    if antialias:
        factor = _grid_factor(timeline, frame_rate)
    # Held frames of the same or a higher rate are copies.
    if method in sampling.HOLDING and factor == 1:
        held = sampling.held_frames(timeline, frame_rate, num_frames, method, start)
        return np.asarray(values[held])
    missing = None
    if factor > 1:
        # The filter would spread NaN over its whole width.
        values, missing = sampling.bridged(values)
    out = np.empty((num_frames, *values.shape[1:]))
    # At least 64 frames, however wide they are.
    block = max(BLOCK // max(int(np.prod(values.shape[1:], dtype=np.int64)), 1), 64)
    # A filter of held values: they are held on the finer grid first.
    if method in sampling.HOLDING:
        grid = max(int((timeline.times[-1] - start) * frame_rate * factor + 0.5), 0) + 1
        held = sampling.held_frames(timeline, frame_rate * factor, grid, method, start)

        def fill(first: int, last: int, rows: Floats) -> None:
            rows[:] = values[held[first:last]]
    else:
        sample = sampling.sampler(values, timeline.times, method)

        def fill(first: int, last: int, rows: Floats) -> None:
            sample(start + np.arange(first, last) / (frame_rate * factor), rows)

    if factor == 1:
        for first in range(0, num_frames, block):
            last = min(first + block, num_frames)
            fill(first, last, out[first:last])
        return out
    # The movement's first and last frame, in rows of the grid.
    ends = (timeline.times[[0, -1]] - start) * frame_rate * factor
    lowest = max(int(np.ceil(ends[0] - 1e-6)), 0)
    highest = max(int(np.floor(ends[1] + 1e-6)), 0)
    ends_in_grid = (min(lowest, highest), highest)
    low_passed(
        fill,
        out,
        taps(factor),
        step=factor,
        ends=ends_in_grid,
        block=block,
        poses=sampling.are_poses(values),
    )
    if missing is not None:
        frames = sampling.held_frames(
            timeline, frame_rate, num_frames, "nearest", start
        )
        # What is missing stays missing after the filter.
        out[missing[frames]] = np.nan
    return out


def _bridge_problems(
    values: Floats, timeline: Timeline, frame_rate: float, content: str
) -> list[Problem]:
    """Return the problem that the low-pass filter meets numbers that are not finite."""
    sampling.check_increasing(timeline.times)
    count = int(values.size - np.count_nonzero(np.isfinite(values)))
    if not count or _grid_factor(timeline, frame_rate) == 1:
        return []
    message = f"numbers of {content} that are not finite: {count}"
    data = {"count": count}
    return [FILTER_GAPS.problem(message, Location(inside=content), data=data)]


def _grid_factor(timeline: Timeline, frame_rate: float) -> int:
    """Return how many times finer than `frame_rate` the filter's grid must be.

    So that it holds all frames; 1 where the rate does not decrease.

    For frames with time stamps the median of their distances counts, but the grid has
    at most four rows for each frame. A timeline that ends before the second frame of
    the new rate needs no filter, which would be much longer than the timeline.
    """
    if timeline.num_frames < 2 or timeline.duration * frame_rate < 1:
        return 1
    rate = timeline.frame_rate
    if rate is None:
        rate = min(
            1.0 / median_step(timeline.times),
            4 * (timeline.num_frames - 1) / timeline.duration,
        )
    # The margin keeps rates that divide evenly from the next higher factor by rounding.
    return max(int(np.ceil(rate / frame_rate * (1 - 1e-9))), 1)


def check_motion_fits(
    timelines: Sequence[Timeline],
    counts: Sequence[int],
    widths: Sequence[int],
    frame_rate: float,
    start: float = 0.0,
    beside: int = 0,
) -> None:
    """Raise MemoryError when components do not fit into memory.

    It is called before frames are made: the stamps of a clock may begin decades after
    frame 0.

    Parameters
    ----------
    counts, widths:
        The numbers of frames, and of numbers per frame, of each component.
    timelines, frame_rate, start:
        What is resampled to a rate [Hz], with frame 0 at `start` [s]; the message names
        the reason for the frames and how to avoid them.
    beside:
        Bytes that are needed besides.
    """
    size = 8 * sum(map(operator.mul, counts, widths)) + beside
    longest = max(counts, default=0)
    times = [t.times for t in timelines if t.num_frames]
    first = min((float(t[0]) for t in times), default=start)
    last = max((float(t[-1]) for t in times), default=start)
    reason = ""
    if first - start > last - first:
        reason = (
            f", because its times begin at {first:.12g} s (start=… of "
            "Motion.resample(), or `retime --start first`, "
            "removes that time),"
        )
    check_memory(
        size + BYTES_PER_FRAME * longest,
        f"the motion at {frame_rate:g} Hz, of {longest} frames{reason}",
    )


def at_fixed_rate(motion: "Motion") -> tuple["Motion", tuple[Problem, ...]]:
    """Return the motion without time stamps, and what is lost.

    For files that hold a frame rate only. Frames with time stamps become frames at the
    rate that the motion gives for this, by
    linear interpolation.

    Raises ValueError when the motion gives no rate, or when the frames at that rate do
    not fit into memory.
    """
    timelines = []
    counts = []
    widths = []
    highest = 0.0
    for component in motion.timed:
        timeline = component.timeline
        rate = timeline.import_rate
        if timeline.stamps is not None and rate is not None:
            timelines.append(timeline)
            counts.append(sampling.frames_needed(timeline, rate, ON_RATE))
            widths.append(int(np.prod(component.values.shape[1:])))
            highest = max(highest, rate)
    try:
        check_motion_fits(timelines, counts, widths, highest)
    except MemoryError as error:
        raise ValueError(f"the target has no time stamps, and {error}") from None
    problems = Diagnostics()
    changed = motion.mapped(
        lambda c: c if c.timeline.stamps is None else _on_rate(c, problems)
    )
    return changed, problems.problems


def _on_rate(component: TimedComponent, problems: Diagnostics) -> TimedComponent:
    """Return a component with time stamps at its import rate, and report it."""
    timeline = component.timeline
    rate = timeline.import_rate
    if rate is None:
        raise ValueError(
            f"the frames of {component.content} have time stamps, the target has "
            "none, and the motion has no frame rate; "
            "resample it with Motion.resample(frame_rate), or `bodymotion convert "
            "--rate`"
        )
    count = sampling.frames_needed(timeline, rate, ON_RATE)
    uniform = Timeline.uniform(count, rate)
    if count:
        values = resampled(component.values, timeline, rate, count, ON_RATE)
    else:
        values = component.values
    if not count or not np.array_equal(uniform.times, timeline.times):
        message = f"{timeline.num_frames} time-stamped frames of {component.content}"
        message += f" become {count} frames at {rate:g} Hz, by linear interpolation"
        problems.add(losses.STAMPS.problem(message, Location(inside=component.content)))
    return replace(component, timeline=uniform, values=values)
