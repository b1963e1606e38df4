"""What is written of a motion: the version, the heads of its components, their times; and what of it the target cannot hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bodymotion.diagnostics import Location, Problem, losses
from bodymotion.formats.seq.writing.names import VERSIONS, Version
from bodymotion.motion import Component, Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.interpolation import check_motion_fits, frames_needed, resampled
from bodymotion.motion.timeline import Timeline

__all__ = ["Head", "head_of", "known_version", "timed_for"]


@dataclass(frozen=True, kw_only=True)
class Head:
    """All of a component but its frames. `frame_rate` [Hz] is that of its frames, or the one on which stamped frames are wished."""

    type: str
    content: str
    num_frames: int
    num_parts: int | None = None
    frame_rate: float | None = None
    has_frame_time: bool = False
    is_root_relative: bool = False
    part_labels: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)


def head_of(component: MultiValueSeq | MultiSE3Seq | Vector3Seq) -> Head:
    """Return the head of a component."""
    timeline = component.timeline
    return Head(
        type=type(component).__name__,
        content=component.content,
        num_frames=component.num_frames,
        num_parts=None if isinstance(component, Vector3Seq) else component.num_parts,
        frame_rate=timeline.frame_rate or timeline.import_rate,
        has_frame_time=timeline.stamps is not None,
        is_root_relative=isinstance(component, Vector3Seq) and component.is_root_relative,
        part_labels=component.part_labels,
        extra=component.extra,
    )


def known_version(version: int | str | None, read: str) -> Version:
    """Return the version to write: the one asked for, else that of the file that was read, else 4.

    Raises
    ------
    ValueError
        When it is not 1, 2, 3 or 4.
    """
    if version is None:
        return next((known for known in VERSIONS if _same(known, read)), 4)
    found = next((known for known in VERSIONS if _same(known, version)), None)
    if found is None:
        raise ValueError(f"the versions of .seq are 1, 2, 3 and 4, not {version!r}")
    return found


def _same(known: int, version: int | str) -> bool:
    try:
        return not isinstance(version, bool) and float(version) == known
    except (TypeError, ValueError):
        return False


def timed_for(motion: Motion, version: Version, frame_time: bool | None) -> tuple[Motion, list[Problem]]:
    """Return the motion with times as they are to be written: stamps for all frames (True), for none (False), or as it has them (None).

    Raises
    ------
    ValueError
        When stamps are asked for in version 1, when stamped frames need a rate and the motion names none, or when the frames of that rate
        do not fit into memory.
    """
    if version == 1:
        if frame_time:
            raise ValueError("version 1 of .seq knows no time-stamped frames; versions 2, 3 and 4 do")
        frame_time = False
    if frame_time is None:
        return motion, []
    if not frame_time:
        _check_frames(motion)
    problems: list[Problem] = []
    components: list[Component] = []
    for component in motion.components:
        if isinstance(component, OtherSeq) or (component.timeline.stamps is not None) == frame_time:
            components.append(component)
        elif frame_time:
            timeline = Timeline.stamped(component.timeline.times, component.timeline.frame_rate)
            components.append(replace(component, timeline=timeline))
        else:
            components.append(_on_rate(component, problems))
    return motion.replaced(*components), problems


def _check_frames(motion: Motion) -> None:
    stamped = [c for c in motion.timed if c.timeline.stamps is not None and c.timeline.import_rate is not None]
    rates = [c.timeline.import_rate or 1.0 for c in stamped]
    counts = [frames_needed(c.timeline, rate, "after") for c, rate in zip(stamped, rates, strict=True)]
    widths = [int(np.prod(c.values.shape[1:])) for c in stamped]
    try:
        check_motion_fits([c.timeline for c in stamped], counts, widths, max(rates, default=1.0))
    except MemoryError as error:
        raise ValueError(f"the target holds no time stamps, and {error}") from None


def _on_rate(
    component: MultiValueSeq | MultiSE3Seq | Vector3Seq, problems: list[Problem]
) -> MultiValueSeq | MultiSE3Seq | Vector3Seq:
    timeline = component.timeline
    rate = timeline.import_rate
    if rate is None:
        raise ValueError(
            f"the frames of {component.content} have time stamps, the target holds none, and the motion names no frame rate: "
            "put it on one with Motion.resample(frame_rate), or `--rate` on the command line"
        )
    count = frames_needed(timeline, rate, "after")
    uniform = Timeline.uniform(count, rate)
    values = resampled(component.values, timeline, rate, count, "after") if count else component.values
    if not count or not np.array_equal(uniform.times, timeline.times):
        message = (
            f"{timeline.num_frames} time-stamped frames of {component.content} become {count} frames at {rate:g} Hz"
        )
        problems.append(losses.STAMPS.problem(message, Location(inside=component.content)))
    return replace(component, timeline=uniform, values=values)
