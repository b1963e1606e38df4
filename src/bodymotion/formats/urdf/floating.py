"""Floating joints: a link below one moves freely, so it is the root of the robot, or an object beside it.

The links that no floating joint separates are one part. A Body has one free root. So
the robot is the part with the most joints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import read_origin
from bodymotion.formats.urdf.joints import TYPES
from bodymotion.formats.xml.tree import Element
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.formats.urdf.reader import Node


@dataclass(frozen=True)
class Robot:
    """The links of a file that are read, and what its floating joints make of the root.

    Attributes
    ----------
    nodes:
        The links, the root first.
    root_offset:
        (7,) The pose of the root in the world.
    above:
        The name of the link that a free root floats in, "" where the file has none.
    left_out:
        The links that are no part of the robot, with their poses (7,) in the world at
        rest.
    is_fixed:
        Whether the root is the world in which other links float.
    """

    nodes: list[Node]
    root_offset: Floats
    above: str = ""
    left_out: tuple[tuple[Element, Floats], ...] = ()
    is_fixed: bool = False


def find_robot(nodes: list[Node], planar: Collection[int] = ()) -> Robot:
    """Return the part of a tree that is the robot.

    Report the links that are left out.

    `planar` are the ids of the elements of the first joints of planar ones. Links
    without mass around the root that hold one are the world.
    Where two parts that float have equally many joints, or the root has the most, the
    whole tree is read: the others are free links in it.
    """
    if not nodes:
        return Robot(nodes, poses.IDENTITY)
    parts = _parts(nodes)
    tops = sorted(set(parts))
    holds_planar = _holds_planar(nodes, planar)
    if len(tops) == 1 or any(node.loose for node in nodes):
        return Robot(nodes, _offset(nodes[0]), is_fixed=holds_planar)
    movers = Counter(
        part
        for part, node in zip(parts, nodes, strict=True)
        if _kind(node) in ("rotate", "slide")
    )
    has_mass = any(
        node.link.first("inertial") is not None
        for part, node in zip(parts, nodes, strict=True)
        if part == 0
    )
    most = max(movers[top] for top in tops[1:])
    largest = [top for top in tops[1:] if movers[top] == most]
    # Without mass and joints, the links around the root are the world.
    is_world = not has_mass and not movers[0]
    root_is_robot = not is_world and movers[0] >= most
    if root_is_robot or len(largest) > 1:
        return Robot(nodes, _offset(nodes[0]), is_fixed=is_world or holds_planar)
    return _below(nodes, parts, largest[0], movers)


def _kind(node: Node) -> str:
    if node.joint is None:
        return ""
    return TYPES.get(node.joint.get("type"), "")


def _offset(node: Node) -> Floats:
    if node.joint is None:
        return poses.IDENTITY
    return read_origin(node.joint)


def _parts(nodes: Sequence[Node]) -> list[int]:
    """Return for each link the first link of its part.

    The root, or one below a floating joint.
    """
    parts: list[int] = []
    for index, node in enumerate(nodes):
        is_first = node.parent < 0 or _kind(node) == "free"
        parts.append(index if is_first else parts[node.parent])
    return parts


def _holds_planar(nodes: Sequence[Node], planar: Collection[int]) -> bool:
    """Return whether the links that are fixed to the root have no mass, and hold a planar joint."""
    if not planar:
        return False
    is_fixed: list[bool] = []
    for node in nodes:
        held = node.parent >= 0 and is_fixed[node.parent] and _kind(node) == "fixed"
        is_fixed.append(node.parent < 0 or held)
    has_mass = any(
        node.link.first("inertial") is not None
        for node, fixed in zip(nodes, is_fixed, strict=True)
        if fixed
    )
    return not has_mass and any(
        id(node.joint) in planar and is_fixed[node.parent]
        for node in nodes
        if node.parent >= 0
    )


def _below(
    nodes: list[Node], parts: Sequence[int], top: int, movers: Counter[int]
) -> Robot:
    """Return the robot whose root is the link `top`, with everything below it."""
    at_rest: list[Floats] = []
    inside: list[bool] = []
    for index, node in enumerate(nodes):
        if node.parent < 0:
            above = poses.IDENTITY
        else:
            above = at_rest[node.parent]
        at_rest.append(poses.compose(above, _offset(node)))
        inside.append(index == top or (node.parent >= 0 and inside[node.parent]))
    # Links are depth-first: those below one follow it without a gap.
    last = top + sum(inside)
    kept = [
        replace(node, parent=-1 if index == 0 else node.parent - top)
        for index, node in enumerate(nodes[top:last])
    ]
    others = [index for index in range(len(nodes)) if not inside[index]]
    parent = nodes[nodes[top].parent].link.get("name")
    _report(nodes, others, top, movers)
    return Robot(
        kept,
        at_rest[top],
        parent,
        tuple((nodes[index].link, at_rest[index]) for index in others),
    )


def _report(
    nodes: Sequence[Node], others: Sequence[int], top: int, movers: Counter[int]
) -> None:
    joint = nodes[top].joint
    assert joint is not None
    names = ", ".join(repr(nodes[index].link.get("name"))[:40] for index in others)
    root = nodes[top].link.get("name")
    has_content = any(
        nodes[index].link.first(kind) is not None
        for index in others
        for kind in ("inertial", "visual", "collision")
    )
    if not has_content:
        message = f"the joint {joint.get('name')!r:.60} floats: {root!r:.60} is the free root, above it is the world ({names:.200})"
        joint.report(rules.FREE_ROOT, message)
        return
    message = f"{root!r:.60} floats and has the most joints ({movers[top]}): it is the root, and {names:.200} is left out"
    joint.report(rules.OTHER_PARTS, message)
