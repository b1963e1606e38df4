"""What is written of a motion: the version, the components without their frames, the times; and what is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from bodymotion.diagnostics import Problem
from bodymotion.formats.seq.bulk_rows import Layout
from bodymotion.formats.seq.headers import ComponentHeader
from bodymotion.motion import Component, Motion, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation.fixed_rate import at_fixed_rate

Version: TypeAlias = Literal[1, 2, 3, 4]
Style: TypeAlias = Literal["block", "json"]
SE3Format: TypeAlias = Literal["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"]
VERSIONS: tuple[Version, ...] = get_args(Version)


def header_of(component: Component) -> ComponentHeader:
    """Return a component without its frames."""
    if isinstance(component, OtherSeq):
        return ComponentHeader(
            type=component.type, content=component.content, num_parts=0, num_frames=0, extra=component.extra
        )
    timeline, parts = component.timeline, component.values.shape[1]
    is_stamped = timeline.stamps is not None
    return ComponentHeader(
        type=type(component).__name__,
        content=component.content,
        num_frames=component.num_frames,
        num_parts=parts,
        frame_rate=timeline.frame_rate or timeline.import_rate,
        has_frame_time=is_stamped,
        is_root_relative=isinstance(component, Vector3Seq) and component.is_root_relative,
        part_labels=component.part_labels,
        extra=component.extra,
        layout=Layout(parts, is_stamped),
    )


def version_to_write(version: int | str | None, read: str) -> Version:
    """Return the version to write: the one that is given, else that of the file that was read, else 4.

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


def with_times_for(motion: Motion, version: Version, frame_time: bool | None) -> tuple[Motion, tuple[Problem, ...]]:
    """Return the motion with the times that are written: stamps for all frames (True), for none (False), or as it has them (None).

    Raises
    ------
    ValueError
        For stamps in version 1, when stamped frames need a rate and the motion has none, or when the frames at that rate do not fit into
        memory.
    """
    if version == 1:
        if frame_time:
            raise ValueError("version 1 of .seq has no time-stamped frames; versions 2, 3 and 4 have")
        frame_time = False
    if frame_time is None:
        return motion, ()
    if not frame_time:
        return at_fixed_rate(motion)
    stamped = (
        c
        if isinstance(c, OtherSeq) or c.timeline.stamps is not None
        else replace(c, timeline=Timeline.stamped(c.timeline.times, c.timeline.frame_rate))
        for c in motion.components
    )
    return motion.replaced(*stamped), ()
