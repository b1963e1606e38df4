"""From the nodes below a Humanoid to links: a walk that knows which Joint and which Segment it is in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from bodymotion.diagnostics import Subject
from bodymotion.formats.openhrp import rules
from bodymotion.formats.openhrp.nodes import (
    DEVICE_FIELDS,
    JOINT_FIELDS,
    SEGMENT_FIELDS,
    is_sensor,
    label,
    name_of,
    own_pose,
    read_joint,
    read_segment,
    read_sensor,
    sensor_key,
)
from bodymotion.formats.vrml import nodes
from bodymotion.formats.vrml.nodes import ModelDiagnostics, Node, attempt
from bodymotion.formats.vrml.reader import InlineLoader
from bodymotion.formats.vrml.scene import IDENTITY, NodeFrame, SceneWalker, by_purpose
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import MAX_LINKS, Device, Joint, Link, Segment, in_order_of_ids

ALL: tuple[Subject, ...] = (("links", "all"), ("devices", "all"), ("extra_joints", "all"))
"""What is unknown where any part of a body may be missing in the value."""


@dataclass
class OpenLink:
    """A link whose Joint the walk is in."""

    index: int
    parent: int
    node: Node
    joint: Joint
    offset: Floats
    segments: list[Segment] = field(default_factory=list)
    nodes: list[Node | None] = field(default_factory=list)
    """The nodes of the segments; None for one that was made of shapes outside of Segments."""

    @property
    def subject(self) -> Subject:
        """The subject of the link in the body."""
        return ("links", self.index)

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
    """The contents of a Humanoid: links, devices, and the nodes that they come from."""

    links: list[Link] = field(default_factory=list)
    joint_nodes: list[Node] = field(default_factory=list)
    segment_nodes: list[Node] = field(default_factory=list)
    """All Segment nodes that were visited."""
    nodes_of_segments: list[list[Node | None]] = field(default_factory=list)
    """For each link the nodes of its segments; None for one that was made of shapes outside of Segments."""
    devices: list[Device] = field(default_factory=list)
    device_nodes: list[Node] = field(default_factory=list)
    extra_joint_nodes: list[Node] = field(default_factory=list)


def inverse(fields: dict[str, str]) -> dict[str, str]:
    """Return attributes by fields, from fields by attributes."""
    return {name: attribute for attribute, name in fields.items()}


_OF_JOINT, _OF_SEGMENT, _OF_DEVICE = inverse(JOINT_FIELDS), inverse(SEGMENT_FIELDS), inverse(DEVICE_FIELDS)


class TreeReader:
    """Read the contents of a humanoidBody; faults are recorded, and the tree is partial then."""

    def __init__(self, parts: InlineLoader, found: ModelDiagnostics) -> None:
        self.found = found
        self.walker = SceneWalker(found, parts)
        self.links: list[OpenLink] = []
        self.tree = Tree()
        self.link: OpenLink | None = None
        self.segment: Floats | None = None
        """The transform of the Segment that the walk is in."""
        self.sensors: list[tuple[Node, int, Floats]] = []
        """The sensors that were visited, with the links and their transforms in these."""
        self.beside_root: list[tuple[Node, NodeFrame]] = []
        """Segments and sensors beside the root Joint: fixed parts of the root link."""

    def read(self, nodes: list[Node]) -> Tree:
        """Return the links and devices in some nodes."""
        self.walker.walk(nodes, NodeFrame(), self.visit)
        if self.links:
            self._add_beside_root()
        self._read_sensors()
        self.tree.links = [link.closed() for link in self.links]
        self.tree.joint_nodes = [link.node for link in self.links]
        self.tree.nodes_of_segments = [link.nodes for link in self.links]
        self._mark_incomplete()
        return self.tree

    def visit(self, node: Node, frame: NodeFrame) -> bool:
        """Read a node, if it is one of a model; return whether it is."""
        match node.type:
            case "Joint":
                self._enter_joint(node, frame)
            case "Segment":
                self._enter_segment(node, frame)
            case "Surface" if "visual" in node.fields or "collision" in node.fields:
                self.walker.enter(nodes.children(node, "collision"), replace(frame, visual=False))
                self.walker.enter(nodes.children(node, "visual"), replace(frame, collision=False))
            case "ExtraJoint":
                self.tree.extra_joint_nodes.append(node)
            case _ if is_sensor(node):
                self._enter_sensor(node, frame)
            case _:
                return False
        return True

    def _enter_joint(self, node: Node, frame: NodeFrame) -> None:
        index = len(self.links)
        subject: Subject = ("links", index)
        if self.segment is not None:
            self.found.fault(rules.JOINT_IN_SEGMENT.error(f"{label(node)} is inside of a Segment", node.location))
        if not _is_identity(frame.transform):
            error = rules.JOINT_MOVED.error(f"{label(node)} is inside of a Transform", node.location)
            self.found.fault(error, (*subject, "offset"), (*subject, "rotation"))
        parent = self.link
        if parent is None and self.links:
            self.found.report(rules.SEVERAL_ROOTS, f"{label(node)} is a second root Joint: left out", node.location)
            self.found.mark_unknown(*ALL)
            # Its faults are reported; the body is whole without it.
            left_out = ModelDiagnostics(self.found.path, self.found.damage, self.found.doubtful)
            TreeReader(self.walker.parts, left_out).read([node])
            self.found.extend(left_out.problems)
            return
        if index >= MAX_LINKS:
            message = f"the body has more than {MAX_LINKS} Joints"
            self.found.fault(rules.TOO_MANY.error(message, node.location), *ALL)
            return
        joint = attempt(lambda node: read_joint(node, self.found, subject), node, self.found, subject, _OF_JOINT)
        offset = attempt(lambda node: own_pose(node, self.found, subject), node, self.found, subject, _OF_JOINT)
        link = OpenLink(
            index=index,
            parent=-1 if parent is None else parent.index,
            node=node,
            joint=joint or Joint(name=name_of(node)),
            offset=poses.IDENTITY if offset is None else offset,
        )
        children = self._children(node)
        self.links.append(link)
        around, self.link = (self.link, self.segment, self.walker.unknown), link
        self.segment = None
        self.walker.unknown = (*subject, "shapes")
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
            if self.walker.drawn:
                # Shapes of the Joint itself: a part of the link without mass and name.
                visuals, collisions = by_purpose(self.walker.drawn)
                link.segments.append(Segment(visuals=visuals, collisions=collisions))
                link.nodes.append(None)
            (self.link, self.segment, self.walker.unknown), self.walker.drawn = around, outer

        self.walker.enter(children, NodeFrame(), leave)

    def _enter_segment(self, node: Node, frame: NodeFrame) -> None:
        if self.segment is not None:
            self.found.fault(rules.SEGMENT_IN_SEGMENT.error(f"{label(node)} is inside of a Segment", node.location))
        link = self.link
        if link is None:
            self.beside_root.append((node, frame))
            return
        self.tree.segment_nodes.append(node)
        transform = IDENTITY if _is_identity(frame.transform) else frame.transform
        around, self.segment = self.segment, transform
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
            visuals, collisions = by_purpose(self.walker.drawn)
            self.segment, self.walker.drawn = around, outer

            def read(node: Node) -> Segment:
                return read_segment(node, transform, visuals, collisions, self.found, link.subject)

            segment = attempt(read, node, self.found, link.subject, _OF_SEGMENT)
            if segment is not None:
                link.segments.append(segment)
                link.nodes.append(node)

        self.walker.enter(self._children(node), NodeFrame(IDENTITY, frame.visual, frame.collision), leave)

    def _enter_sensor(self, node: Node, frame: NodeFrame) -> None:
        if self.link is None:
            self.beside_root.append((node, frame))
            return
        transform = IDENTITY if _is_identity(frame.transform) else frame.transform
        if self.segment is not None and self.segment is not IDENTITY:
            transform = self.segment @ transform
        self.sensors.append((node, self.link.index, transform))
        inside = self._children(node)
        if inside:
            own = poses.to_matrix(own_pose(node, ModelDiagnostics()))
            self.walker.enter(inside, replace(frame, transform=frame.transform @ own))

    def _children(self, node: Node) -> list[Node]:
        found = attempt(nodes.children, node, self.found)
        if found is None:
            self.found.mark_unknown(*ALL)
        return found or []

    def _read_sensors(self) -> None:
        """Read the sensors; those of one kind are in the order of their ids."""
        for place in in_order_of_ids([sensor_key(node) for node, _, _ in self.sensors]):
            node, link, transform = self.sensors[place]
            subject: Subject = ("devices", len(self.tree.devices))
            read = partial(read_sensor, link=link, transform=transform, found=self.found, subject=subject)
            device = attempt(read, node, self.found, subject, _OF_DEVICE)
            if device is None:
                self.found.mark_unknown(("devices", "all"))
                continue
            self.tree.devices.append(device)
            self.tree.device_nodes.append(node)

    def _add_beside_root(self) -> None:
        """Add what is beside the root Joint to the root link: its frame is that of the body, in which the root Joint has its offset."""
        self.link = root = self.links[0]
        in_root = poses.to_matrix(poses.inverse(root.offset))
        if self.walker.drawn:
            visuals, collisions = by_purpose(self.walker.drawn)
            root.segments.append(Segment(transform=in_root, visuals=visuals, collisions=collisions))
            root.nodes.append(None)
            self.walker.drawn = []
        self.walker.unknown = (*root.subject, "shapes")
        for node, frame in self.beside_root:
            self.walker.walk([node], replace(frame, transform=in_root @ frame.transform), self.visit)

    def _mark_incomplete(self) -> None:
        """Mark the attributes whose fields may be missing only because the file is damaged."""
        damage = self.found.damage
        if damage is None:
            return
        if self.found.doubtful:
            self.found.mark_unknown(*ALL)
        for link, listed in zip(self.tree.links, self.tree.nodes_of_segments, strict=True):
            self._mark_fields(("links", link.index), JOINT_FIELDS, self.tree.joint_nodes[link.index])
            if not (link.name or damage.is_whole(self.tree.joint_nodes[link.index])):
                self.found.mark_unknown(("links", link.index, "name"))
            joint_is_whole = damage.is_whole(self.tree.joint_nodes[link.index])
            segments = [own for own in listed if own is not None]
            for attribute, name in SEGMENT_FIELDS.items():
                is_given = any(name in own.fields for own in segments)
                is_cut = any(name not in own.fields and not damage.is_whole(own) for own in segments)
                # A Segment may be among what is missing in the Joint.
                if is_cut or not (joint_is_whole or is_given):
                    self.found.mark_unknown(("links", link.index, attribute))
            if not (joint_is_whole and all(damage.is_whole(own) for own in segments)):
                self.found.mark_unknown(("links", link.index, "shapes"))
        for number, node in enumerate(self.tree.device_nodes):
            self._mark_fields(("devices", number), DEVICE_FIELDS, node)

    def _mark_fields(self, subject: Subject, fields: dict[str, str], node: Node) -> None:
        damage = self.found.damage
        assert damage is not None
        for attribute, name in fields.items():
            is_given = name in node.fields
            if damage.touches(node.location_of(name)) if is_given else not damage.is_whole(node):
                self.found.mark_unknown((*subject, attribute))


def _is_identity(transform: Floats) -> bool:
    """Return whether a transform is the identity except for rounding: prototypes rotate their children there and back."""
    return transform is IDENTITY or bool(np.abs(transform - IDENTITY).max() <= 1e-12)
