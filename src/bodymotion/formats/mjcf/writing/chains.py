"""Several joints in one body: the links that our reader makes of such a body become one again.

MuJoCo takes no moving body without mass, but lets a body have several joints. So where a body comes from MJCF, links without mass, shapes
or devices that carry one other link go into the body of that one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf.writing.joints import rest_of
from bodymotion.formats.only_mjcf import of_mjcf
from bodymotion.geometry import poses, rotations

if TYPE_CHECKING:
    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.body import Body
    from bodymotion.model.links import Joint

__all__ = ["at_rest", "ball_starts", "chains", "in_last_frame"]


def chains(body: Body) -> dict[int, tuple[int, ...]]:
    """Return the links that are written within the body of another one: by that one's index, in order from the parent on."""
    if body.source.format != "mjcf":
        return {}
    children: dict[int, list[int]] = {}
    for link in body.links:
        children.setdefault(link.parent, []).append(link.index)
    used = {device.link for device in body.devices} | {end for joint in body.extra_joints for end in joint.links}
    found: dict[int, tuple[int, ...]] = {}
    ahead: tuple[int, ...] = ()
    for link in body.links:
        moves = link.parent >= 0 and link.joint.type in ("rotate", "slide")
        alone = not link.segments and link.index not in used and children.get(link.index) == [link.index + 1]
        if ahead and not (moves or (link.joint.type == "fixed" and not alone)):
            ahead = ()
        if moves and alone:
            ahead = (*ahead, link.index)
        elif ahead:
            found[link.index] = ahead
            ahead = ()
    return found


def at_rest(joint: Joint, offset: Floats) -> Floats:
    """Return where a link is (7,) in its parent when its joint has the value of MuJoCo's `ref`, mostly 0."""
    rest = rest_of(joint)
    if not rest:
        return offset
    if joint.type == "slide":
        return poses.compose(offset, poses.from_parts(rest * joint.axis, rotations.IDENTITY))
    return poses.compose(offset, poses.from_parts(np.zeros(3), rotations.from_axis_angle(joint.axis, rest)))


def ball_starts(body: Body, indices: Sequence[int]) -> set[int]:
    """Return the links among those of one body at which three begin that stand for a ball joint."""
    found: set[int] = set()
    for index in indices:
        three = body.links[index : index + 3]
        said = [of_mjcf(link.joint.extra).get("ball") for link in three]
        if (
            len(three) == 3
            and three[-1].index in indices
            and not any(index in range(start, start + 3) for start in found)
            and isinstance(said[0], Mapping)
            and said[0] == said[1] == said[2]
            and all(link.joint.type == "rotate" for link in three)
            and all(np.array_equal(link.joint.axis, axis) for link, axis in zip(three, np.eye(3), strict=True))
            and not any(link.offset[:3].any() for link in three[1:])
        ):
            found.add(index)
    return found


def in_last_frame(body: Body, ahead: tuple[int, ...], last: int) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Return where the last link is (7,) in the parent of the first one, at its `ref` in MuJoCo, and for each joint where it is.

    That is the point (3,) that it turns about and its axis (3,), in the last link's frame.
    """
    links = [body.links[index] for index in (*ahead, last)]
    offsets = [at_rest(link.joint, link.offset) for link in links]
    whole = offsets[0]
    for offset in offsets[1:]:
        whole = poses.compose(whole, offset)
    placed = []
    for number, index in enumerate((*ahead, last)):
        rest = poses.IDENTITY
        for offset in offsets[number + 1 :]:
            rest = poses.compose(rest, offset)
        back = poses.inverse(rest)
        placed.append((back[:3], rotations.rotate(back[3:], body.links[index].joint.axis)))
    return whole, placed
