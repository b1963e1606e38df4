"""Floating joints: a link below one is the root of the robot, or an object beside it.

Such a link moves freely. The links that no floating joint separates are one part. A
Body has one free root. So the robot is the part with the most joints.
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
    from bodymotion.formats.urdf.tree import Node


@dataclass(frozen=True)
class Robot:
    """The links that are read, and what floating joints make of the root.

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

    Report the links that are left out. `planar` are the ids of the elements of the
    first joints of planar ones. Links without mass around the root that hold one are
    the world. Where two parts that float have equally many joints, or the root has the
    most, the whole tree is read: the others are free links in it.
    """
    if not nodes:
        return Robot(nodes, poses.IDENTITY)
    # Floating joints cut the tree into parts. The robot is the part with most joints.
    parts = _parts(nodes)
    floating_parts = sorted(set(parts) - {0})
    holds_planar = _holds_planar(nodes, planar)
    # With loose links nobody knows which part they belong to: everything is read.
    if not floating_parts or any(node.loose for node in nodes):
        return Robot(nodes, _offset(nodes[0]), is_fixed=holds_planar)
    # By part, the number of joints that rotate or slide.
    movers: Counter[int] = Counter()
    root_has_mass = False
    for part, node in zip(parts, nodes, strict=True):
        movers[part] += _kind(node) in ("rotate", "slide")
        root_has_mass |= part == 0 and node.link.first("inertial") is not None
    most = max(movers[part] for part in floating_parts)
    largest = [part for part in floating_parts if movers[part] == most]
    # Without mass and joints, the links around the root are the world.
    is_world = not root_has_mass and not movers[0]
    root_is_robot = not is_world and movers[0] >= most
    if root_is_robot or len(largest) > 1:
        return Robot(nodes, _offset(nodes[0]), is_fixed=is_world or holds_planar)
    return _below(nodes, largest[0], most)


def _kind(node: Node) -> str:
    if node.joint is None:
        return ""
    return TYPES.get(node.joint.get("type"), "")


def _offset(node: Node) -> Floats:
    if node.joint is None:
        return poses.IDENTITY
    return read_origin(node.joint)


def _parts(nodes: Sequence[Node]) -> list[int]:
    """Return, for each link, the first link of its part.

    That is the root, or one below a floating joint.
    """
    parts: list[int] = []
    for index, node in enumerate(nodes):
        # Parents come before their children, so that their part is known.
        is_first = node.parent < 0 or _kind(node) == "free"
        parts.append(index if is_first else parts[node.parent])
    return parts


def _holds_planar(nodes: Sequence[Node], planar: Collection[int]) -> bool:
    """Return whether a planar joint is at links without mass around the root.

    These are the root and the links that are fixed to it.
    """
    if not planar:
        return False
    # By link, whether only fixed joints are above it. Where such links have no mass and
    # hold a planar joint, they are the world in which the robot's base moves.
    is_fixed: list[bool] = []
    holds_planar = False
    for node in nodes:
        is_root = node.parent < 0
        is_held = not is_root and is_fixed[node.parent]
        is_fixed.append(is_root or (is_held and _kind(node) == "fixed"))
        if is_fixed[-1] and node.link.first("inertial") is not None:
            return False
        holds_planar |= is_held and id(node.joint) in planar
    return holds_planar


def _below(nodes: list[Node], top: int, num_movers: int) -> Robot:
    """Return the robot whose root is the link `top`, with everything below it."""
    # By link, its pose (7,) in the world with all joints at 0.
    at_rest: list[Floats] = []
    inside: list[bool] = []
    for index, node in enumerate(nodes):
        is_root = node.parent < 0
        above = poses.IDENTITY if is_root else at_rest[node.parent]
        at_rest.append(poses.compose(above, _offset(node)))
        # Whether a link is the new root or below it.
        inside.append(index == top or (not is_root and inside[node.parent]))
    # Links are depth-first: those below one follow it without a gap.
    last = top + sum(inside)
    robot = [replace(nodes[top], parent=-1)]
    for node in nodes[top + 1 : last]:
        robot.append(replace(node, parent=node.parent - top))
    others = [
        (node.link, pose)
        for node, pose, is_inside in zip(nodes, at_rest, inside, strict=True)
        if not is_inside
    ]
    _report([link for link, _ in others], nodes[top], num_movers)
    parent = nodes[nodes[top].parent].link.get("name")
    return Robot(robot, at_rest[top], parent, tuple(others))


def _report(others: Sequence[Element], root: Node, num_movers: int) -> None:
    """Report the links that are left out because another one is the root."""
    joint = root.joint
    assert joint is not None
    names = ", ".join(repr(link.get("name"))[:40] for link in others)
    name = root.link.get("name")
    has_content = any(
        next(link.all("inertial", "visual", "collision"), None) for link in others
    )
    if has_content:
        message = (
            f"{name!r:.60} floats and has the most joints ({num_movers}): it is the "
            f"root, and {names:.200} is left out"
        )
        joint.report(rules.OTHER_PARTS, message)
        return
    message = (
        f"the joint {joint.get('name')!r:.60} floats: {name!r:.60} is the free root, "
        f"above it is the world ({names:.200})"
    )
    joint.report(rules.FREE_ROOT, message)
