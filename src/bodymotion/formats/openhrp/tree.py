"""From the nodes below a Humanoid to links: the walk that keeps track of which Joint and which Segment it is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bodymotion.formats.faults import Faults, fault
from bodymotion.formats.openhrp import values
from bodymotion.formats.openhrp.joints import read_joint
from bodymotion.formats.openhrp.rules import (
    JOINT_IN_SEGMENT,
    JOINT_MOVED,
    OUTSIDE,
    SEGMENT_IN_SEGMENT,
    SEVERAL_ROOTS,
    TOO_MANY,
)
from bodymotion.formats.openhrp.segments import read_segment
from bodymotion.formats.openhrp.sensors import is_sensor, read_sensor
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.mending import attempt
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.scene import IDENTITY, Place, SceneWalker
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.devices import Device
from bodymotion.model.links import MOST_LINKS, Joint, Link, Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.vrml.inline import InlineLoader
    from bodymotion.formats.vrml.scene import Drawn
    from bodymotion.geometry.shapes import Shape

__all__ = ["Tree", "read_tree"]

Made = TypeVar("Made")


@dataclass
class OpenLink:
    """A link whose Joint is being walked through."""

    index: int
    parent: int
    node: Node
    joint: Joint
    offset: Floats
    segments: list[Segment] = field(default_factory=list)
    nodes: list[Node | None] = field(default_factory=list)
    """Those of the segments; None for one of shapes that stand in no Segment."""

    def closed(self) -> Link:
        """Return the link as it is now."""
        return Link(
            name=self.joint.name,
            index=self.index,
            parent=self.parent,
            joint=self.joint,
            offset=self.offset,
            segments=tuple(self.segments),
        )


@dataclass
class Tree:
    """What stands below a Humanoid: links, the nodes that they come from, devices, all Segment nodes met."""

    links: list[Link] = field(default_factory=list)
    joint_nodes: list[Node] = field(default_factory=list)
    segment_nodes: list[Node] = field(default_factory=list)
    nodes_of_segments: list[list[Node | None]] = field(default_factory=list)
    """For each link the nodes of its segments; None for one of shapes that stand in no Segment."""
    devices: list[Device] = field(default_factory=list)
    device_nodes: list[Node] = field(default_factory=list)
    extra_joint_nodes: list[Node] = field(default_factory=list)


def read_tree(nodes: list[Node], parts: InlineLoader, problems: list[Problem]) -> Tree:
    """Walk through a humanoidBody; past all faults, if `problems` are `Faults`.

    Raises
    ------
    FormatError
        When a Joint or a Segment stands where it must not, or holds what cannot be read.
    """
    return _TreeReader(parts, problems).read(nodes)


class _TreeReader:
    def __init__(self, parts: InlineLoader, problems: list[Problem]) -> None:
        self.problems = problems
        self.walker = SceneWalker(problems, parts)
        self.links: list[OpenLink] = []
        self.tree = Tree()
        self.link: OpenLink | None = None
        self.segment: Floats | None = None
        """The transform of the Segment that the walk is in."""

    def read(self, nodes: list[Node]) -> Tree:
        self.walker.walk(nodes, Place(), self.meet)
        if self.walker.drawn:
            self._say_outside("shapes", nodes[0])
        self.tree.links = [link.closed() for link in self.links]
        self.tree.joint_nodes = [link.node for link in self.links]
        self.tree.nodes_of_segments = [link.nodes for link in self.links]
        return self.tree

    def meet(self, node: Node, place: Place) -> bool:
        match node.type:
            case "Joint":
                self._enter_joint(node, place)
            case "Segment":
                self._enter_segment(node, place)
            case "Surface" if "visual" in node.fields or "collision" in node.fields:
                self.walker.enter(access.children(node, "collision"), replace(place, visual=False))
                self.walker.enter(access.children(node, "visual"), replace(place, collision=False))
            case "ExtraJoint":
                self.tree.extra_joint_nodes.append(node)
            case _ if is_sensor(node):
                self._enter_sensor(node, place)
            case _:
                return False
        return True

    def _enter_joint(self, node: Node, place: Place) -> None:
        if self.segment is not None:
            fault(self.problems, JOINT_IN_SEGMENT.error(f"{values.label(node)} stands in a Segment", node.location))
        if not _does_nothing(place.transform):
            fault(self.problems, JOINT_MOVED.error(f"{values.label(node)} stands under a Transform", node.location))
        parent = self.link
        if parent is None and self.links:
            second = SEVERAL_ROOTS.error(f"{values.label(node)} is a second root", node.location)
            if not isinstance(self.problems, Faults):
                self.problems.append(second.problem)
                return
            fault(self.problems, second)
            parent = self.links[0]
        if len(self.links) >= MOST_LINKS:
            fault(self.problems, TOO_MANY.error(f"the body has more than {MOST_LINKS} Joints", node.location))
            return
        link = OpenLink(
            index=len(self.links),
            parent=-1 if parent is None else parent.index,
            node=node,
            joint=self._read(read_joint, node) or Joint(name=node.name),
            offset=poses.IDENTITY if (offset := self._read(values.own_pose, node)) is None else offset,
        )
        children = self._children(node)
        self.links.append(link)
        around, self.link = (self.link, self.segment), link
        self.segment = None
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
            if self.walker.drawn:
                # Shapes that stand in the Joint itself: a part of the link without mass and name.
                visuals, collisions = _sorted(self.walker.drawn)
                link.segments.append(Segment(visuals=visuals, collisions=collisions))
                link.nodes.append(None)
            (self.link, self.segment), self.walker.drawn = around, outer

        self.walker.enter(children, Place(), leave)

    def _enter_segment(self, node: Node, place: Place) -> None:
        if self.segment is not None:
            fault(self.problems, SEGMENT_IN_SEGMENT.error(f"{values.label(node)} stands in a Segment", node.location))
        self.tree.segment_nodes.append(node)
        link = self.link
        if link is None:
            self._say_outside(values.label(node), node)
            return
        transform = IDENTITY if _does_nothing(place.transform) else place.transform
        around, self.segment = self.segment, transform
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
            visuals, collisions = _sorted(self.walker.drawn)
            self.segment, self.walker.drawn = around, outer

            def read(node: Node, problems: list[Problem]) -> Segment:
                return read_segment(node, transform, visuals, collisions, problems)

            segment = self._read(read, node)
            if segment is not None:
                link.segments.append(segment)
                link.nodes.append(node)

        self.walker.enter(self._children(node), Place(IDENTITY, place.visual, place.collision), leave)

    def _enter_sensor(self, node: Node, place: Place) -> None:
        if self.link is None:
            self._say_outside(values.label(node), node)
            return
        transform = IDENTITY if _does_nothing(place.transform) else place.transform
        if self.segment is not None and self.segment is not IDENTITY:
            transform = self.segment @ transform
        link = self.link.index

        def read(node: Node, problems: list[Problem]) -> Device:
            return read_sensor(node, link, transform, problems)

        device = self._read(read, node)
        if device is None:
            return
        self.tree.devices.append(device)
        self.tree.device_nodes.append(node)
        inside = self._children(node)
        if inside:
            own = poses.to_matrix(values.own_pose(node, []))
            self.walker.enter(inside, replace(place, transform=place.transform @ own))

    def _read(self, read: Callable[[Node, list[Problem]], Made], node: Node) -> Made | None:
        return attempt(lambda node: read(node, self.problems), node, self.problems)

    def _children(self, node: Node) -> list[Node]:
        return attempt(access.children, node, self.problems) or []

    def _say_outside(self, what: str, node: Node) -> None:
        self.problems.append(OUTSIDE.problem(f"{what} in no Joint: left out", node.location))


def _does_nothing(transform: Floats) -> bool:
    """Whether a transform is the identity but for rounding: prototypes turn their children there and back again."""
    return transform is IDENTITY or bool(np.abs(transform - IDENTITY).max() <= 1e-12)


def _sorted(drawn: list[Drawn]) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    return tuple(d.shape for d in drawn if d.visual), tuple(d.shape for d in drawn if d.collision)
