"""From the nodes below a Humanoid to links: a walk that knows which Joint and which Segment it is in."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

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
    nodes: list[Node] = field(default_factory=list)
    """The Segment nodes; a segment that was made of shapes outside of these has none."""

    @property
    def subject(self) -> Subject:
        """The subject of the link in the body."""
        return ("links", self.index)

    def closed(self) -> Link:
        """Return the link as it is now."""
        joint, segments = self.joint, tuple(self.segments)
        return Link(
            name=joint.name, index=self.index, parent=self.parent, joint=joint, offset=self.offset, segments=segments
        )


def inverse(fields: dict[str, str]) -> dict[str, str]:
    """Return attributes by fields, from fields by attributes."""
    return {name: attribute for attribute, name in fields.items()}


_OF_JOINT, _OF_SEGMENT, _OF_DEVICE = inverse(JOINT_FIELDS), inverse(SEGMENT_FIELDS), inverse(DEVICE_FIELDS)


class TreeReader:
    """Reads the contents of a humanoidBody: links, devices, and the nodes that they come from. With faults they are partial."""

    def __init__(self, parts: InlineLoader, found: ModelDiagnostics) -> None:
        self.found = found
        self.walker = SceneWalker(found, parts)
        self.open_links: list[OpenLink] = []
        self.segment_nodes: list[Node] = []
        """All Segment nodes that were visited."""
        self.devices: list[Device] = []
        self.device_nodes: list[Node] = []
        self.extra_joint_nodes: list[Node] = []
        self.link: OpenLink | None = None
        self.segment: Floats | None = None
        """The transform of the Segment that the walk is in."""
        self.sensors: list[tuple[Node, int, Floats]] = []
        """The sensors that were visited, with the links and their transforms in these."""
        self.beside_root: list[tuple[Node, NodeFrame]] = []
        """Segments and sensors beside the root Joint: fixed parts of the root link."""

    def read(self, nodes: list[Node]) -> Self:
        """Read the links and devices in some nodes."""
        self.walker.walk(nodes, NodeFrame(), self.visit)
        if self.open_links:
            self._add_beside_root()
        self._read_sensors()
        self.links = [link.closed() for link in self.open_links]
        self.joint_nodes = [link.node for link in self.open_links]
        self._mark_incomplete()
        return self

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
                self.extra_joint_nodes.append(node)
            case _ if is_sensor(node):
                self._enter_sensor(node, frame)
            case _:
                return False
        return True

    def _enter_joint(self, node: Node, frame: NodeFrame) -> None:
        index = len(self.open_links)
        subject: Subject = ("links", index)
        if self.segment is not None:
            self.found.fault(rules.JOINT_IN_SEGMENT.error(f"{label(node)} is inside of a Segment", node.location))
        if not _is_identity(frame.transform):
            error = rules.JOINT_MOVED.error(f"{label(node)} is inside of a Transform", node.location)
            self.found.fault(error, (*subject, "offset"), (*subject, "rotation"))
        parent = self.link
        if parent is None and self.open_links:
            self.found.report(rules.SEVERAL_ROOTS, f"{label(node)} is a second root Joint: left out", node.location)
            self.found.mark_unknown(*ALL)
            # Its faults are reported; the body is whole without it.
            left_out = ModelDiagnostics(self.found.path, self.found.damage, self.found.doubtful)
            TreeReader(self.walker.parts, left_out).read([node])
            self.found.extend(left_out.problems)
            return
        if index >= MAX_LINKS:
            self.found.fault(rules.TOO_MANY.error(f"the body has more than {MAX_LINKS} Joints", node.location), *ALL)
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
        self.open_links.append(link)
        around, self.link = (self.link, self.segment, self.walker.unknown), link
        self.segment = None
        self.walker.unknown = (*subject, "shapes")
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
            if self.walker.drawn:
                # Shapes of the Joint itself: a part of the link without mass and name.
                visuals, collisions = by_purpose(self.walker.drawn)
                link.segments.append(Segment(visuals=visuals, collisions=collisions))
            (self.link, self.segment, self.walker.unknown), self.walker.drawn = around, outer

        self.walker.enter(children, NodeFrame(), leave)

    def _enter_segment(self, node: Node, frame: NodeFrame) -> None:
        if self.segment is not None:
            self.found.fault(rules.SEGMENT_IN_SEGMENT.error(f"{label(node)} is inside of a Segment", node.location))
        link = self.link
        if link is None:
            self.beside_root.append((node, frame))
            return
        self.segment_nodes.append(node)
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
            subject: Subject = ("devices", len(self.devices))
            read = partial(read_sensor, link=link, transform=transform, found=self.found, subject=subject)
            device = attempt(read, node, self.found, subject, _OF_DEVICE)
            if device is None:
                self.found.mark_unknown(("devices", "all"))
                continue
            self.devices.append(device)
            self.device_nodes.append(node)

    def _add_beside_root(self) -> None:
        """Add what is beside the root Joint to the root link: its frame is that of the body, in which the root Joint has its offset."""
        self.link = root = self.open_links[0]
        in_root = poses.to_matrix(poses.inverse(root.offset))
        if self.walker.drawn:
            visuals, collisions = by_purpose(self.walker.drawn)
            root.segments.append(Segment(transform=in_root, visuals=visuals, collisions=collisions))
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
        for link in self.open_links:
            self._mark_fields(link.subject, JOINT_FIELDS, link.node)
            joint_is_whole = damage.is_whole(link.node)
            if not (link.joint.name or joint_is_whole):
                self.found.mark_unknown((*link.subject, "name"))
            for attribute, name in SEGMENT_FIELDS.items():
                is_given = any(name in own.fields for own in link.nodes)
                is_cut = any(name not in own.fields and not damage.is_whole(own) for own in link.nodes)
                # A Segment may be among what is missing in the Joint.
                if is_cut or not (joint_is_whole or is_given):
                    self.found.mark_unknown((*link.subject, attribute))
            if not (joint_is_whole and all(map(damage.is_whole, link.nodes))):
                self.found.mark_unknown((*link.subject, "shapes"))
        for number, node in enumerate(self.device_nodes):
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
