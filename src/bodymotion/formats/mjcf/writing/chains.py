"""Several joints in one body: the links that our reader makes of such a body become one again.

MuJoCo takes no moving body without mass, but lets a body have several joints. So where a body comes from MJCF, links without mass, shapes
or devices that carry one other link go into the body of that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bodymotion import poses, rotations

if TYPE_CHECKING:
    from bodymotion.arrays import Floats
    from bodymotion.body import Body

__all__ = ["chains", "in_last_frame"]


def chains(body: Body) -> dict[int, tuple[int, ...]]:
    """Give the links that are written within the body of another one: by that one's index, in order from the parent on."""
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


def in_last_frame(body: Body, ahead: tuple[int, ...], last: int) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Give where the last link is (7,) in the parent of the first one, all joints at 0, and for each joint where it is.

    That is the point (3,) that it turns about and its axis (3,), in the last link's frame.
    """
    offsets = [body.links[index].offset for index in (*ahead, last)]
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
