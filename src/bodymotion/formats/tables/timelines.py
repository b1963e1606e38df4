"""Timelines of tables: from a column of times to a `Timeline`, and from the components of a motion to the one timeline of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule, judgement, losses
from bodymotion.formats.tables.joint_names import by_joint_id
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import ON_FRAME, Timeline

if TYPE_CHECKING:
    from bodymotion.model.body import Body


UNIT = judgement.warning(
    "TAB105",
    "Times without a unit are seconds.",
    "the name of a column states another unit: 'time [ms]', 'time [us]', 'time [ns]'; in an .npz, convert them",
    example=("time,HIP [rad]\n0,0.1\n20,0.1 …", "time [ms],HIP [rad]\n0,0.1\n20,0.1 …"),
)
MAX_STEP, MIN_FRAMES = 1.0, 10
"""[s] Frames that are further apart may have times of another unit; fewer frames may be poses far apart."""


def check_unit(times: Floats, found: Diagnostics, location: Location) -> None:
    """Report times (T,) without a unit that are too far apart for seconds."""
    times = times[np.isfinite(times)]
    if len(times) >= MIN_FRAMES and (step := float(np.median(np.diff(times)))) > MAX_STEP:
        found.report(UNIT, f"frames are {step:.6g} s apart: are the times in ms, µs or ns?", location)


def check_increasing(
    times: Floats, rule: Rule, found: Diagnostics, locate: Callable[[int], Location], unread: Collection[int] = ()
) -> None:
    """Report each of the times (T,) that is not after the one before; rows `unread` are passed over."""
    before = -np.inf
    passed = set(unread)
    increasing = np.isfinite(times)
    increasing[1:] &= np.diff(times) > 0
    if increasing.all():
        return
    for frame, time in enumerate(times.tolist()):
        if frame in passed:
            continue
        if not (np.isfinite(time) and time > before):
            after = f"not after {before!r} s" if np.isfinite(before) else "no time"
            found.report(rule, f"frame {frame} is at {time!r} s, {after}", locate(frame), data={"time": time})
            found.mark_unknown(("times",))
        before = max(before, time) if np.isfinite(time) else before


def even_rate(times: Floats) -> float | None:
    """Return the rate [Hz] of times (T,) that are evenly apart, to within ON_FRAME; None where they are not, or are fewer than two.

    Of the rates that fit, one that gives exactly the times k / rate is preferred, then a round one.
    """
    if len(times) < 2:
        return None
    frames = np.arange(len(times))
    span = float(times[-1] - times[0])
    with np.errstate(over="ignore"):
        raw = float(np.float64(len(times) - 1) / span)
    if not 0 < raw < 1e300:
        return None
    near = [raw, np.nextafter(raw, 0), np.nextafter(raw, np.inf)]
    # A rate is as exact as the last time: times of six decimals show no more digits of 333.333333 Hz.
    doubt = raw * ON_FRAME / span
    rounded = [round(raw, digits) for digits in range(0, 9)]
    short = [rate for rate in rounded if rate > 0 and abs(rate - raw) <= doubt]
    few_bits = 8 * np.finfo(float).eps * float(np.abs(times[[0, -1]]).max())
    for rates, within in ((short, few_bits), (near, 0.0), ([*short, raw], ON_FRAME)):
        for rate in rates:
            if np.abs(frames / rate + times[0] - times).max() <= within:
                return float(rate)
    return None


def timeline_of(times: Floats, frame_rate: float | None = None, from_zero: bool = False) -> Timeline:
    """Return the timeline of increasing times (T,) [s].

    It has a fixed rate when the first time is 0 (or is made 0 by `from_zero`) and all are k / rate, to within ON_FRAME. Else it has stamps;
    its rate for resampling is then `frame_rate`, or the rate that they follow.
    """
    if not len(times):
        return Timeline.uniform(0, frame_rate) if frame_rate is not None else Timeline.stamped(times)
    # The rate is that of the times as they are: a subtraction would add rounding errors.
    rate = even_rate(times) if frame_rate is None else frame_rate
    if from_zero:
        times = times - times[0]
    if rate is not None and np.abs(np.arange(len(times)) / rate - times).max() <= ON_FRAME:
        return Timeline.uniform(len(times), rate)
    return Timeline.stamped(times, rate)


@dataclass(frozen=True)
class SharedTime:
    """A motion whose components share one timeline, those of them that such formats hold, and what is lost already."""

    motion: Motion
    timeline: Timeline
    joints: MultiValueSeq | None
    links: MultiSE3Seq | None
    zmp: Vector3Seq | None
    problems: tuple[Problem, ...]
    others: tuple[MultiValueSeq, ...] = ()

    def time_losses(self) -> list[Problem]:
        """Return what a column of times does not show: the rate of fewer than two frames, the rate for resampling."""
        timeline, note, found = self.timeline, losses.RATE.as_note, []
        if timeline.frame_rate is not None and timeline.num_frames < 2:
            message = f"{timeline.num_frames} frames do not show the rate of {timeline.frame_rate:g} Hz"
            found.append(note.problem(message))
        rate = timeline.import_rate
        if rate is not None and timeline_of(timeline.times).import_rate != rate:
            found.append(note.problem(f"the import rate of {rate:g} Hz is not written"))
        return found


def on_one_timeline(
    motion: Motion, rows: bool = True, body: Body | None = None, nameless: bool = False, contents: Collection[str] = ()
) -> SharedTime:
    """Pick joint displacements, link positions and ZMP, and put them on a common timeline if they have not one.

    Parameters
    ----------
    motion:
        What is written.
    rows:
        Whether the format is nothing but rows: then there must be a frame, and a component without parts leaves no trace.
    body:
        Joint columns with names of its joints are put in order of joint id.
    nameless:
        Whether the format holds no names: then a body has a column for each joint.
    contents:
        Contents of values of four parts that the format holds, too: contacts of feet.

    Raises
    ------
    ValueError
        When the motion has none of the three, or they cannot be put on one timeline, or the joints are not the body's.
    """
    kept = [c for c in (motion.link_position, motion.joint_displacement, motion.zmp) if c is not None]
    of_feet = [c for c in motion.timed if isinstance(c, MultiValueSeq) and c.content in contents and c.num_parts == 4]
    if not kept:
        message = "the motion has neither joint displacements nor link positions nor a ZMP: there is nothing to write"
        raise ValueError(message)
    kept += of_feet[-1:]
    problems: list[Problem] = []
    for component in motion.components:
        if not any(component is one for one in kept):
            kind = component.type if isinstance(component, OtherSeq) else type(component).__name__
            message = f"the {kind} {component.content!r} is not written"
            problems.append(losses.COMPONENT.problem(message, Location(inside=component.content)))
        elif component.extra:
            message = f"keys of {component.content}: {', '.join(map(str, component.extra))}"
            problems.append(losses.EXTRA.problem(message, Location(inside=component.content)))
    if motion.extra:
        problems.append(losses.EXTRA.problem(f"keys of the top node: {', '.join(map(str, motion.extra))}"))
    reduced = motion.replaced(*kept)
    first = kept[0].timeline
    if any(component.timeline != first for component in kept[1:]):
        reduced = reduced.synchronized()
        message = f"the components have different timelines; all get {reduced.timeline}"
        problems.append(losses.FRAMES.problem(message))
    joints, links = reduced.joint_displacement, reduced.link_position
    others = [c for c in reduced.timed if isinstance(c, MultiValueSeq) and c.content in contents]
    if joints is not None and body is not None and joints.num_parts:
        joints = by_joint_id(joints, body, nameless)
    if rows:
        if not reduced.timeline.num_frames:
            raise ValueError("the motion has no frames: there is nothing to write")
        for empty in (joints, links):
            if empty is not None and not empty.num_parts:
                message = f"{empty.content} has no parts, and is not written"
                problems.append(losses.COMPONENT.as_note.problem(message, Location(inside=empty.content)))
        joints = joints if joints is not None and joints.num_parts else None
        links = links if links is not None and links.num_parts else None
        if joints is None and links is None and reduced.zmp is None:
            raise ValueError("the motion has no part that moves: there is nothing to write")
    return SharedTime(reduced, reduced.timeline, joints, links, reduced.zmp, tuple(problems), tuple(others))
