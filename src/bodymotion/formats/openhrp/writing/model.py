"""From a Body to the nodes of a file, and of the parts that it names by Inline."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.body import Body, ExtraJoint, Viewpoint
from bodymotion.diagnostics import Location, Problem
from bodymotion.formats.openhrp.writing.devices import DeviceWriter
from bodymotion.formats.openhrp.writing.joints import WRITTEN, finite, joint_fields, pose_fields, vector_fields
from bodymotion.formats.openhrp.writing.kept import KeptFields
from bodymotion.formats.openhrp.writing.names import Names
from bodymotion.formats.openhrp.writing.order import children_of, deepest, depth_first, device_slots
from bodymotion.formats.openhrp.writing.parts import has_mesh, moved, shape_nodes
from bodymotion.formats.openhrp.writing.prototypes import OPTIONAL, REMARKS, prototype, with_fields
from bodymotion.formats.vrml import Node, Proto, Scene, Value
from bodymotion.formats.vrml.parser import MAX_DEPTH
from bodymotion.formats.vrml.writing import ShapeWriter, is_name, legal_name
from bodymotion.links import Joint, Link, Segment
from bodymotion.losses import BODY_NAMES, BODY_ORDER, DEPTH, JOINT_NAME, KEPT_VALUE, NUMBER_RANGE, PLACE

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.shapes import Texture

__all__ = ["Model", "build"]

SEGMENT = ("mass", "centerOfMass", "momentsOfInertia", "children")
EXTRA_JOINT = ("link1Name", "link2Name", "link1LocalPos", "link2LocalPos", "jointType", "jointAxis")
HUMANOID = ("humanoidBody", "info", "joints", "name", "segments", "version", "viewpoints")
MOVERS = ("rotate", "slide", "crawler")
"""Types of joints that have a column in a motion."""
IN_A_LINK = 12
"""How deep the nodes of a segment go below its Joint."""


@dataclass
class Model:
    """The scene of a model, those of its parts by the names of their files, and what they can not hold."""

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
        self.url = url
        self.folder = folder
        self.model = Model()
        self.names = Names(self.tell)
        self.where = ""
        self.shapes = ShapeWriter(self.tell, lambda texture: url(texture, False), self._shape_name)
        self.bound: set[str] = set()
        self.part_names: set[str] = set()
        self.segments: dict[str, tuple[Segment, Node]] = {}

    def tell(self, rule: Rule, message: str) -> None:
        """Note a loss."""
        self.model.losses.append(rule.problem(message, Location(inside=self.where or None)))

    # ---- a whole file

    def plain_scene(self, stem: str) -> None:
        """Make a file without a Humanoid."""
        body = self.body
        if body.name != stem:
            self.tell(BODY_NAMES, f"the model {body.name!r} has the name of its file, {stem!r}, when it is read")
        segment = body.links[0].segments[0]
        nodes = self._world() + [self._viewpoint(view) for view in body.viewpoints]
        nodes += shape_nodes(segment.visuals, segment.collisions, self.shapes, "the scene", self.tell, surfaces=False)
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
            fields["viewpoints"] = [self._viewpoint(view) for view in body.viewpoints]
        joints, segments = self._tree(order, children)
        fields["humanoidBody"] = [joints[order[0]]] if order else []
        fields["joints"] = [joints[index] for index in order if joints[index].name]
        fields["segments"] = list({id(node): node for node in segments if node.name}.values())
        humanoid = [Node("Humanoid", name, fields, proto)]
        around = body.extra.get("placed")
        if isinstance(around, np.ndarray) and around.shape == (4, 4):
            humanoid = moved(around, humanoid, "the Humanoid", self.tell)
        scene = self.model.scene
        scene.nodes = self._world() + humanoid + self._extra_joints(joints)
        scene.protos = {p.name: p for p in _prototypes(scene.nodes)}

    def _say_order(self, order: list[int], children: list[list[int]]) -> None:
        body = self.body
        if order != list(range(len(order))):
            self.tell(BODY_ORDER, "the links are numbered anew, depth-first")
        if deepest(body) + IN_A_LINK > MAX_DEPTH:
            self.tell(DEPTH, f"{deepest(body)} links hang one on the other; bodymotion reads {MAX_DEPTH} nodes at most")
        if not body.links:
            self.tell(BODY_ORDER, "a body without links is read as one of a single link")
            return
        slots = device_slots(body, children)
        read: list[int] = []
        stack: list[int | list[int]] = [0]
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                read += item
                continue
            inside: list[int | list[int]] = [slots[item][0]]
            for child, after in zip(children[item], slots[item][1:], strict=True):
                inside += [child, after]
            stack.extend(reversed(inside))
        if read != list(range(len(body.devices))):
            self.tell(BODY_ORDER, "the devices are in the order of their links")
        if not np.array_equal(body.root_pose, body.links[0].offset):
            self.tell(PLACE, "the root link's offset is written as the pose where the body stands (root_pose)")

    def _world(self) -> list[Node]:
        """Give a WorldInfo for what came from one; say which other words have no place."""
        fields: dict[str, Value] = {}
        for key, value in self.body.info.items():
            texts = list(value) if isinstance(value, (list, tuple)) else []
            if key == "title" and isinstance(value, str):
                fields["title"] = value
            elif key in ("info", "world_info") and texts and all(isinstance(text, str) for text in texts):
                fields["info"] = texts
            elif key in ("info", "world_info") and isinstance(value, (list, tuple, np.ndarray)) and not len(value):
                fields["info"] = []
            elif key not in ("name", "version", "info") or not isinstance(value, str):
                self.tell(KEPT_VALUE, f"info[{key!r}] is left out")
        return [Node("WorldInfo", fields=fields)] if fields else []

    def _viewpoint(self, view: Viewpoint) -> Node:
        title = f"the Viewpoint {view.description!r}"
        pose = pose_fields(np.array([0.0, 0.0, 0.0, *view.pose[3:]]), title, self.tell)
        fields: dict[str, Value] = {"description": view.description} if view.description else {}
        if np.isfinite(view.pose[:3]).all():
            fields["position"] = view.pose[:3]
        else:
            self.tell(NUMBER_RANGE, f"{title}: the position is left out")
        if "rotation" in pose:
            fields["orientation"] = pose["rotation"]
        default = Viewpoint().field_of_view
        angle = finite(float(view.field_of_view), default, f"{title}: fieldOfView", self.tell)
        if angle != default:
            fields["fieldOfView"] = angle
        return Node("Viewpoint", fields=fields)

    # ---- links

    def _tree(self, order: list[int], children: list[list[int]]) -> tuple[dict[int, Node], list[Node]]:
        """Give the Joint nodes of all links, one in the other, and all Segment nodes."""
        body = self.body
        links = body.links
        ends = {end for extra in body.extra_joints for end in extra.links if 0 <= end < len(links)}
        names = self._joint_names(order, ends)
        own = [link.joint for link in links]
        extras = [joint.extra for joint in own]
        kept = KeptFields("Joint", extras, prototype("Joint").fields, OPTIONAL["Joint"], self.tell)
        joint_proto = with_fields(prototype("Joint"), kept.types)
        all_segments = [segment for link in links for segment in link.segments]
        extras = [segment.extra for segment in all_segments]
        self.kept_segments = KeptFields("Segment", extras, prototype("Segment").fields, {}, self.tell)
        self.segment_proto = with_fields(prototype("Segment"), self.kept_segments.types)
        devices = DeviceWriter(body, self.tell)
        # Segments and devices get their names before shapes, which give way to them.
        segment_names = {
            (i, k): self._segment_name(segment) for i in order for k, segment in enumerate(links[i].segments)
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
                self.bound.add(names[path.pop()])
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
                made = self._segment(segment, segment_names[index, k], k == len(link.segments) - 1)
                inside += made
                self.bound.add(segment_names[index, k])
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
        """Give the names of the Joint nodes: those of joints where these move, since motions go by them, and else of links."""
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

    def _segment_name(self, segment: Segment) -> str:
        """Give a name of its own to a segment; one that stands in several links as it is has one name there too."""
        known = self.segments.get(segment.name)
        if known is not None and replace(segment, transform=known[0].transform) == known[0]:
            return known[1].name
        name = self.names.take(segment.name, "the segment")
        if segment.name and known is None:
            self.segments[segment.name] = segment, Node("Segment", name, proto=self.segment_proto)
        return name

    def _segment(self, segment: Segment, name: str, is_last: bool) -> list[Node]:
        """Give the nodes of a segment: loose shapes where it has nothing else, and is the last of its link, as they are read."""
        known = self.segments.get(segment.name)
        shared = known[1] if known is not None and known[1].name == name and name else None
        if shared is not None and shared.fields:
            return moved(segment.transform, [shared], f"Segment {name!r}", self.tell)
        if is_last and (segment.visuals or segment.collisions):
            loose = Segment(visuals=segment.visuals, collisions=segment.collisions)
            if not segment.name and segment == loose:
                return self._shapes(segment, name or "shapes")
        title = f"Segment {name!r}"
        fields: dict[str, Value] = {"mass": finite(float(segment.mass), 0.0, f"{title}: mass", self.tell)}
        fields |= vector_fields({"centerOfMass": segment.center_of_mass}, title, self.tell)
        if not np.isfinite(segment.inertia).all():
            self.tell(NUMBER_RANGE, f"{title}: an inertia that is not finite is left out")
        elif segment.inertia.any():
            fields["momentsOfInertia"] = segment.inertia.reshape(-1)
        fields |= self.kept_segments.of(segment.extra, SEGMENT)
        fields["children"] = self._shapes(segment, name)
        node = shared if shared is not None else Node("Segment", name, proto=self.segment_proto)
        node.fields |= fields
        return moved(segment.transform, [node], title, self.tell)

    def _shapes(self, segment: Segment, name: str) -> list[Node]:
        visuals, collisions = segment.visuals, segment.collisions
        title = f"Segment {name!r}"
        if self.folder is None or not has_mesh((*visuals, *collisions)):
            return shape_nodes(visuals, collisions, self.shapes, title, self.tell, surfaces=True)
        writer = ShapeWriter(self.tell, lambda texture: self.url(texture, True))
        nodes = shape_nodes(visuals, collisions, writer, title, self.tell, surfaces=True)
        file = self._part_name(name)
        self.model.parts[file] = Scene(nodes=nodes, protos={p.name: p for p in _prototypes(nodes)})
        node = self.model.inlines[file] = Node("Inline", fields={"url": [f"{self.folder}/{file}"]})
        return [node]

    def _part_name(self, name: str) -> str:
        """Give a file name of its own, of plain characters, for a part: also where capital letters mean nothing."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name) or "shapes"
        free, count = plain, 1
        while f"{free}.wrl".lower() in self.part_names:
            count += 1
            free = f"{plain}_{count}"
        self.part_names.add(f"{free}.wrl".lower())
        return f"{free}.wrl"

    def _shape_name(self, name: str) -> str:
        """Give the name of a Shape: it must not take that of a Joint or Segment before it, which the lists name."""
        if not name or (is_name(name) and name not in self.bound):
            return name
        return self.names.take(name, "the shape")

    def _extra_joints(self, joints: dict[int, Node]) -> list[Node]:
        extra_joints = self.body.extra_joints
        extras = [extra.extra for extra in extra_joints]
        kept = KeptFields("ExtraJoint", extras, prototype("ExtraJoint").fields, {}, self.tell)
        proto = with_fields(prototype("ExtraJoint"), kept.types)
        return [self._extra_joint(extra, joints, kept, proto) for extra in extra_joints]

    def _extra_joint(self, extra: ExtraJoint, joints: dict[int, Node], kept: KeptFields, proto: Proto) -> Node:
        title = f"ExtraJoint {extra.name!r}"
        fields: dict[str, Value] = {f"link{k + 1}Name": joints[end].name for k, end in enumerate(extra.links)}
        points = {f"link{k + 1}LocalPos": point for k, point in enumerate(extra.positions)}
        fields |= vector_fields(points, title, self.tell)
        fields["jointType"] = extra.type
        fields |= vector_fields({"jointAxis": extra.axis}, title, self.tell, (1.0, 0.0, 0.0))
        fields |= kept.of(extra.extra, EXTRA_JOINT)
        return Node("ExtraJoint", self.names.take(extra.name, "the extra joint"), fields, proto)


def _segments_in(node: Node) -> list[Node]:
    """Give the Segment that a node is, or that stands in it."""
    if node.type == "Segment":
        return [node]
    inside = node.fields.get("children") if node.type == "Transform" else None
    return [n for n in inside if isinstance(n, Node) and n.type == "Segment"] if isinstance(inside, list) else []


def _prototypes(nodes: list[Node]) -> list[Proto]:
    """Give the prototypes of nodes and of all in them, in the order of the document."""
    found: dict[str, Proto] = {}
    seen: set[int] = set()
    stack: list[object] = list(nodes)
    while stack:
        node = stack.pop()
        if not isinstance(node, Node) or id(node) in seen:
            continue
        seen.add(id(node))
        if node.proto is not None:
            found[node.type] = node.proto
        for value in node.fields.values():
            stack.extend(value if isinstance(value, list) else [value])
    known = list(REMARKS)
    return [found[name] for name in sorted(found, key=lambda n: (known.index(n) if n in known else len(known), n))]
