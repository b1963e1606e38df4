"""What formats with one row for all of a frame hold of a motion: joints, link poses and ZMP, on one timeline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bodymotion.diagnostics import Location, Problem, losses
from bodymotion.formats.tables.joint_names import by_joint_id
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.timeline import Timeline

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["SharedTime", "on_one_timeline"]


@dataclass(frozen=True)
class SharedTime:
    """A motion whose components share one timeline, those of them that such formats know, and what is lost already."""

    motion: Motion
    timeline: Timeline
    joints: MultiValueSeq | None
    links: MultiSE3Seq | None
    zmp: Vector3Seq | None
    problems: tuple[Problem, ...]
    others: tuple[MultiValueSeq, ...] = ()


def on_one_timeline(
    motion: Motion,
    rows: bool = True,
    body: Body | None = None,
    nameless: bool = False,
    contents: Collection[str] = (),
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
    others = [c for c in motion.timed if isinstance(c, MultiValueSeq) and c.content in contents and c.num_parts == 4][
        -1:
    ]
    if not kept:
        raise ValueError(
            "the motion has neither joint displacements nor link positions nor a ZMP: there is nothing to write"
        )
    kept += others
    problems = []
    for component in motion.components:
        if not any(component is one for one in kept):
            kind = component.type if isinstance(component, OtherSeq) else type(component).__name__
            message = f"the {kind} {component.content!r} is not written"
            problems.append(losses.COMPONENT.problem(message, Location(inside=component.content)))
        elif component.extra:
            message = f"keys of {component.content}: {', '.join(map(str, component.extra))}"
            problems.append(losses.EXTRA.problem(message, Location(inside=component.content)))
    reduced = motion.replaced(*kept)
    first = kept[0].timeline
    if any(component.timeline != first for component in kept[1:]):
        reduced = reduced.on_common_timeline()
        timeline = reduced.timeline
        message = f"the components have different timelines; all get {timeline.num_frames} frames at {timeline.frame_rate:g} Hz"
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
                problems.append(losses.COMPONENT.problem(message, Location(inside=empty.content)))
        joints = joints if joints is not None and joints.num_parts else None
        links = links if links is not None and links.num_parts else None
        if joints is None and links is None and reduced.zmp is None:
            raise ValueError("the motion has no part that moves: there is nothing to write")
    return SharedTime(reduced, reduced.timeline, joints, links, reduced.zmp, tuple(problems), tuple(others))
