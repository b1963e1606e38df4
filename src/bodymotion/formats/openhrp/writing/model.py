"""From a Body to the nodes of a file, and of the parts that it names by Inline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, Problem
from bodymotion.diagnostics.losses import BODY_NAMES, BODY_ORDER, DEPTH, JOINT_NAME, PLACE
from bodymotion.formats.openhrp.writing.devices import DeviceWriter
from bodymotion.formats.openhrp.writing.extra_joints import extra_joint_nodes
from bodymotion.formats.openhrp.writing.joints import WRITTEN, joint_fields
from bodymotion.formats.openhrp.writing.kept import KeptFields
from bodymotion.formats.openhrp.writing.names import Names
from bodymotion.formats.openhrp.writing.order import children_of, deepest, depth_first, device_slots, devices_as_read
from bodymotion.formats.openhrp.writing.parts import moved, shape_nodes
from bodymotion.formats.openhrp.writing.prototypes import OPTIONAL, prototype, prototypes_of, with_fields
from bodymotion.formats.openhrp.writing.segments import SegmentWriter
from bodymotion.formats.openhrp.writing.surroundings import viewpoint_node, world_info
from bodymotion.formats.vrml import Node, Scene, Value
from bodymotion.formats.vrml.parser import MAX_DEPTH
from bodymotion.formats.vrml.writing import legal_name
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link, Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.geometry.shapes import Texture

__all__ = ["Model", "build"]

HUMANOID = ("humanoidBody", "info", "joints", "name", "segments", "version", "viewpoints")
MOVERS = ("rotate", "slide", "crawler")
"""Types of joints that have a column in a motion."""
IN_A_LINK = 12
"""How deep the nodes of a segment go below its Joint."""


@dataclass
class Model:
    """The scene of a model, those of its parts by the names of their files, and what they cannot hold."""

    scene: Scene = field(default_factory=Scene)
    parts: dict[str, Scene] = field(default_factory=dict)
    inlines: dict[str, Node] = field(default_factory=dict)
    """The nodes that name the parts, by the same names."""
    losses: list[Problem] = field(default_factory=list)


def build(body: Body, stem: str, url: Callable[[Texture, bool], str], folder: str | None = None) -> Model:
    """Make the nodes for a body.

    Parameters
    ----------
    body:
        The body.
    stem:
        The name of the file without its extension: how a scene without a Humanoid is called when it is read.
    url:
        Gives the url of a texture, for the model's own file or (True) for a part.
    folder:
        Where parts go: each segment that has a mesh has its shapes in a file there. None: all stands in one file.

    Raises
    ------
    ValueError
        When a device or an extra joint is on a link that the body has not.
    """
    places = [(f"{device.kind} {device.name!r}", device.link) for device in body.devices]
    places += [(f"ExtraJoint {extra.name!r}", end) for extra in body.extra_joints for end in extra.links]
    for title, link in places:
        if not 0 <= link < len(body.links):
            raise ValueError(f"{title} is on link {link}; the body has {len(body.links)} links")
    builder = _Builder(body, url, folder)
    if _is_scene(body):
        builder.plain_scene(stem)
    else:
        builder.humanoid()
    builder.model.losses = list(dict.fromkeys(builder.model.losses))
    return builder.model


def _is_scene(body: Body) -> bool:
    """Whether a body is what comes out of a file without a Humanoid."""
    if len(body.links) != 1 or len(body.links[0].segments) != 1 or set(body.info) - {"title", "info"}:
        return False
    segment = body.links[0].segments[0]
    bare = Segment(name="Root", visuals=segment.visuals, collisions=segment.collisions)
    alone = Body(
        name=body.name,
        links=(Link(name="Root", joint=Joint(name="Root", type="fixed"), segments=(bare,)),),
        viewpoints=body.viewpoints,
        info=body.info,
    )
    return body == alone and not isinstance(body.info.get("info"), str)


class _Builder:
    def __init__(self, body: Body, url: Callable[[Texture, bool], str], folder: str | None) -> None:
        self.body = body
        self.model = Model()
        self.names = Names(self.tell)
        self.where = ""
        self.segments = SegmentWriter(body, self.names, self.tell, url, folder)
        self.model.parts, self.model.inlines = self.segments.parts, self.segments.inlines

    def tell(self, rule: Rule, message: str) -> None:
        """Note a loss."""
        self.model.losses.append(rule.problem(message, Location(inside=self.where or None)))

    def plain_scene(self, stem: str) -> None:
        """Make a file without a Humanoid."""
        body = self.body
        if body.name != stem:
            self.tell(BODY_NAMES, f"the model {body.name!r} has the name of its file, {stem!r}, when it is read")
        segment = body.links[0].segments[0]
        nodes = world_info(body.info, self.tell) + [viewpoint_node(view, self.tell) for view in body.viewpoints]
        nodes += shape_nodes(
            segment.visuals, segment.collisions, self.segments.shapes, "the scene", self.tell, surfaces=False
        )
        self.model.scene.nodes = nodes or [Node("Group")]

    def humanoid(self) -> None:
        """Make a model."""
        body = self.body
        children = children_of(body)
        order = depth_first(children)
        self._say_order(order, children)
        kept = KeptFields("Humanoid", [body.extra], prototype("Humanoid").fields, {}, self.tell)
        proto = with_fields(prototype("Humanoid"), {name: t for name, t in kept.types.items() if name != "placed"})
        name = legal_name(body.name) if body.name else ""
        if name != body.name:
            self.tell(BODY_NAMES, f"the model {body.name!r} is written as {name!r}")
        fields: dict[str, Value] = {}
        info = body.info
        for key in ("name", "version"):
            if isinstance(info.get(key), str) and info[key] != prototype("Humanoid").fields[key].value:
                fields[key] = str(info[key])
        if isinstance(info.get("info"), str) and info["info"]:
            fields["info"] = str(info["info"]).split("\n")
        fields |= kept.of(body.extra, (*HUMANOID, "placed"))
        if body.viewpoints:
            fields["viewpoints"] = [viewpoint_node(view, self.tell) for view in body.viewpoints]
        joints, segments = self._tree(order, children)
        fields["humanoidBody"] = [joints[order[0]]] if order else []
        fields["joints"] = [joints[index] for index in order if joints[index].name]
        fields["segments"] = list({id(node): node for node in segments if node.name}.values())
        humanoid = [Node("Humanoid", name, fields, proto)]
        around = body.extra.get("placed")
        if isinstance(around, np.ndarray) and around.shape == (4, 4):
            humanoid = moved(around, humanoid, "the Humanoid", self.tell)
        scene = self.model.scene
        scene.nodes = world_info(body.info, self.tell) + humanoid
        scene.nodes += extra_joint_nodes(body.extra_joints, joints, self.names, self.tell)
        scene.protos = {p.name: p for p in prototypes_of(scene.nodes)}

    def _say_order(self, order: list[int], children: list[list[int]]) -> None:
        body = self.body
        if order != list(range(len(order))):
            self.tell(BODY_ORDER, "the links are numbered anew, depth-first")
        if deepest(body) + IN_A_LINK > MAX_DEPTH:
            self.tell(DEPTH, f"{deepest(body)} links hang one on the other; bodymotion reads {MAX_DEPTH} nodes at most")
        if not body.links:
            self.tell(BODY_ORDER, "a body without links is read as one of a single link")
            return
        if devices_as_read(body, children) != list(range(len(body.devices))):
            self.tell(BODY_ORDER, "the devices are in the order of their links")
        if not np.array_equal(body.root_pose, body.links[0].offset):
            self.tell(PLACE, "the root link's offset is written as the pose where the body stands (root_pose)")

    def _tree(self, order: list[int], children: list[list[int]]) -> tuple[dict[int, Node], list[Node]]:
        """Return the Joint nodes of all links, one in the other, and all Segment nodes."""
        body = self.body
        links = body.links
        ends = {end for extra in body.extra_joints for end in extra.links if 0 <= end < len(links)}
        names = self._joint_names(order, ends)
        own = [link.joint for link in links]
        extras = [joint.extra for joint in own]
        kept = KeptFields("Joint", extras, prototype("Joint").fields, OPTIONAL["Joint"], self.tell)
        joint_proto = with_fields(prototype("Joint"), kept.types)
        devices = DeviceWriter(body, self.tell)
        # Segments and devices get their names before shapes, which give way to them.
        segment_names = {
            (i, k): self.segments.name(segment) for i in order for k, segment in enumerate(links[i].segments)
        }
        device_names = [self.names.take(d.name, f"the {d.kind}") for d in body.devices]
        slots = device_slots(body, children)
        joints: dict[int, Node] = {}
        segments: list[Node] = []
        path: list[int] = []
        otherwise: list[str] = []
        for index in order:
            link, joint = links[index], links[index].joint
            self.where = f"link {link.name!r}"
            while path and path[-1] != link.parent:
                self.segments.bound.add(names[path.pop()])
            path.append(index)
            offset = body.root_pose if index == 0 else link.offset
            title = f"Joint {names[index]!r}"
            fields = joint_fields(joint, offset, title, self.tell)
            fields |= kept.of(joint.extra, WRITTEN)
            # What has no place as the name of the node stands in its field.
            unsaid = {"link": link.name, "joint": joint.name} if joint.name != link.name else {}
            for kind, name in unsaid.items():
                if name and name != names[index]:
                    otherwise.append(f"{kind} {name!r} is {names[index]!r}")
                    fields.setdefault("name", name)
            inside: list[Node] = []
            for k, segment in enumerate(link.segments):
                made = self.segments.nodes(segment, segment_names[index, k], k == len(link.segments) - 1)
                inside += made
                self.segments.bound.add(segment_names[index, k])
                segments += [node for top in made for node in _segments_in(top)]
            fields["children"] = inside
            joints[index] = Node("Joint", names[index], fields, joint_proto)
        self.where = ""
        if otherwise:
            more = f" and {len(otherwise) - 4} more" if len(otherwise) > 4 else ""
            self.tell(
                JOINT_NAME,
                f"links are called as the joints that move them: {', '.join(otherwise[:4])}{more}; "
                "in a motion, labels by the old names of links mean others now",
            )
        for index in order:
            into = joints[index].fields["children"]
            assert isinstance(into, list)
            between = [[], *([joints[child]] for child in children[index])]
            for child_nodes, numbers in zip(between, slots[index], strict=True):
                into.extend(child_nodes)  # type: ignore[arg-type]
                into.extend(devices.node(body.devices[n], device_names[n]) for n in numbers)  # type: ignore[misc]
        return joints, segments

    def _joint_names(self, order: list[int], ends: set[int]) -> dict[int, str]:
        """Return the names of the Joint nodes: those of joints where these move, since motions go by them, and else of links."""
        links = self.body.links
        names = {}
        movers = [i for i in order if links[i].joint.type in MOVERS and links[i].joint.name]
        for index in movers:
            names[index] = self.names.take(links[index].joint.name, "the joint")
        for index in order:
            if index not in names:
                wanted = links[index].name or links[index].joint.name or (f"LINK{index}" if index in ends else "")
                own = links[index].joint.name
                if legal_name(wanted) in self.names.taken and own and legal_name(own) not in self.names.taken:
                    wanted = own
                names[index] = self.names.take(wanted, "the link")
        return names


def _segments_in(node: Node) -> list[Node]:
    """Return the Segment that a node is, or that stands in it."""
    if node.type == "Segment":
        return [node]
    inside = node.fields.get("children") if node.type == "Transform" else None
    return [n for n in inside if isinstance(n, Node) and n.type == "Segment"] if isinstance(inside, list) else []
