"""Write a Body as an OpenHRP model.

As Humanoid, Joints, Segments, sensors and ExtraJoints, with the prototypes that declare
them.
"""

import math
import os
from bisect import bisect_left
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Literal

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule, losses
from bodymotion.diagnostics.losses import Report
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.kept_json import mjcf_losses
from bodymotion.formats.openhrp import node_writer
from bodymotion.formats.openhrp.node_writer import (
    REMARKS,
    KeptFields,
    Names,
    prototypes_of,
)
from bodymotion.formats.openhrp.nodes import HUMANOID_USED
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.vrml import Node, Proto, Scene, Value, nodes
from bodymotion.formats.vrml.nodes import visits
from bodymotion.formats.vrml.parser import MAX_DEPTH
from bodymotion.formats.vrml.writer import legal_name, scene_pieces
from bodymotion.geometry.shapes import Texture
from bodymotion.model.body import Body, Viewpoint
from bodymotion.model.links import Joint, Link, Segment, in_order_of_ids
from bodymotion.model.trees import children_of, depth_first
from bodymotion.system.files import new_folder, whole_files

MOVING_JOINTS = ("rotate", "slide", "crawler")
"""Types of joints that have a column in a motion."""
SEGMENT_LEVELS = 12
"""How deep the nodes of a segment go below its Joint."""
MAX_OPEN_FILES = 100
"""Files that are open at the same time; systems allow some hundreds."""


def _slots(
    body: Body, children: list[list[int]], order: list[int]
) -> list[list[list[int]]]:
    """Return the devices that are written before, between and after children of links.

    By link and number of children before: each device is written after all children
    that hold, at any depth, a device before it in `order`.
    """
    # The rank of the earliest device in each link, or below it; inf where there is
    # none.
    first: list[float] = [math.inf] * len(body.links)
    # Backwards, so that the earliest one counts.
    for rank in range(len(order) - 1, -1, -1):
        first[body.devices[order[rank]].link] = rank
    # Links come after their parents: backwards, each hands its minimum upwards.
    for link in reversed(body.links[1:]):
        first[link.parent] = min(first[link.parent], first[link.index])
    # From each child on: the earliest device in it or any later one; this ascends, so
    # devices find their place by bisection.
    first_from: list[list[float]] = []
    # One slot before each child, and one after the last.
    slots: list[list[list[int]]] = []
    for below in children:
        from_last = accumulate((first[child] for child in reversed(below)), min)
        first_from.append(list(from_last)[::-1])
        slots.append([[] for _ in range(len(below) + 1)])
    # A device goes behind all children that hold an earlier one.
    for rank, number in enumerate(order):
        carrier = body.devices[number].link
        slots[carrier][bisect_left(first_from[carrier], rank)].append(number)
    return slots


def world_info(info: Mapping[str, object], report: Report) -> list[Node]:
    """Return a WorldInfo for what came from one.

    Report the texts that cannot be written.
    """
    fields: dict[str, Value] = {}
    for key, value in info.items():
        # A WorldInfo has a title and an info.
        if key == "title" and isinstance(value, str):
            fields["title"] = value
            continue
        if key in ("info", "world_info"):
            texts = _as_texts(value)
            if texts is not None:
                fields["info"] = texts
                continue
        # The Humanoid has fields for these.
        of_humanoid = key in ("name", "version", "info") and isinstance(value, str)
        if not of_humanoid:
            # Anything else has no field in a WorldInfo.
            report(losses.KEPT_VALUE, f"info[{key!r}] is left out")
    if fields:
        return [Node("WorldInfo", fields=fields)]
    return []


def _as_texts(value: object) -> list[str] | None:
    """Return a list of texts; None for anything else."""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return None
    texts = [text for text in value if isinstance(text, str)]
    if len(texts) < len(value):
        return None
    return texts


def viewpoint_node(view: Viewpoint, report: Report) -> Node:
    """Return the node of a viewpoint, without the numbers that are not finite."""
    title = f"the Viewpoint {view.description!r}"
    # Only the rotation: a Viewpoint has `position` and `orientation`.
    rotation = np.array([0.0, 0.0, 0.0, *view.pose[3:]])
    pose = node_writer.pose_fields(rotation, title, report)
    fields: dict[str, Value] = {}
    if view.description:
        fields["description"] = view.description
    if np.isfinite(view.pose[:3]).all():
        # The default of a Viewpoint is 0 0 10, so zeros are written too.
        fields["position"] = view.pose[:3]
    else:
        report(losses.NUMBER_RANGE, f"{title}: the position is left out")
    if "rotation" in pose:
        fields["orientation"] = pose["rotation"]
    angle = {"fieldOfView": view.field_of_view}
    default = Viewpoint().field_of_view
    fields |= node_writer.vector_fields(angle, title, report, default)
    return Node("Viewpoint", fields=fields)


def _is_scene(body: Body) -> bool:
    """Return whether a body is one that was read from a file without a Humanoid."""
    # The reader makes one fixed link with one Segment of a scene.
    if len(body.links) != 1 or len(body.links[0].segments) != 1:
        return False
    # Info that comes from a WorldInfo is a list; a text is a Humanoid's.
    if set(body.info) - {"title", "info"} or isinstance(body.info.get("info"), str):
        return False
    segment = body.links[0].segments[0]
    # Equal to what the reader would make: a scene without a Humanoid holds all of it.
    bare = Segment(name="Root", visuals=segment.visuals, collisions=segment.collisions)
    joint = Joint(name="Root", type="fixed")
    return body == Body(
        name=body.name,
        links=(Link(name="Root", joint=joint, segments=(bare,)),),
        viewpoints=body.viewpoints,
        info=body.info,
    )


class _Builder:
    """Makes the scene of a model, and those of its parts.

    `url` returns the url of a texture, for the model's own file or (True) for a part.
    Parts go to the `folder`: each segment that has a
    mesh has its shapes in a file there. None: everything is in one file.
    """

    def __init__(
        self, body: Body, url: Callable[[Texture, bool], str], folder: Path | None
    ) -> None:
        self.body = body
        self.scene = Scene()
        self.losses = Diagnostics()
        self.renamed = Renamings(losses.BODY_NAMES)
        self.names = Names(self.renamed)
        self.where = ""
        self.segments = node_writer.SegmentWriter(
            body, self.names, self.report, url, folder
        )

    def build(self, stem: str) -> None:
        """Make the nodes.

        `stem` is the name of the file without its extension, which is that of a scene
        without a Humanoid.

        Raises ValueError when a device or an extra joint is on a link that the body
        does not have.
        """
        # Links by number must exist before anything is written.
        body = self.body
        for device in body.devices:
            self._require_link(f"{device.kind} {device.name!r}", device.link)
        for extra in body.extra_joints:
            for link in extra.links:
                self._require_link(f"ExtraJoint {extra.name!r}", link)
        if _is_scene(body):
            self.plain_scene(stem)
        else:
            self.humanoid()

    def _require_link(self, title: str, link: int) -> None:
        num_links = len(self.body.links)
        if not 0 <= link < num_links:
            raise ValueError(
                f"{title} is on link {link}; the body has {counted(num_links, 'link')}"
            )

    def report(self, rule: Rule, message: str) -> None:
        self.losses.add(rule.problem(message, Location(inside=self.where or None)))

    def plain_scene(self, stem: str) -> None:
        body = self.body
        # A file without a Humanoid is read with its own name.
        self.renamed.add("model", body.name, stem)
        nodes = world_info(body.info, self.report)
        nodes += [viewpoint_node(view, self.report) for view in body.viewpoints]
        nodes += node_writer.shape_nodes(
            body.links[0].segments[0],
            self.segments.shapes,
            "the scene",
            surfaces=False,
        )
        # A file without a node is refused, so an empty Group stands in.
        self.scene.nodes = nodes or [Node("Group")]

    def humanoid(self) -> None:
        """Make the scene of a body with a Humanoid."""
        body = self.body
        children = children_of([link.parent for link in body.links])
        # The file nests links, so their numbers become depth-first ones.
        order = depth_first({link.index: link.parent for link in body.links})
        self._report_order(order)
        extra = dict(body.extra)
        # Transforms around the Humanoid; see the reader.
        around = extra.pop("placed", None)
        kept = KeptFields("Humanoid", [extra], self.report)
        name = legal_name(body.name) if body.name else ""
        self.renamed.add("model", body.name, name)
        fields = self._info_fields(kept.proto)
        fields |= kept.of(extra, HUMANOID_USED)
        if body.viewpoints:
            fields["viewpoints"] = [
                viewpoint_node(view, self.report) for view in body.viewpoints
            ]
        # Joints first: their names are taken by no other node.
        joints, segments = self._tree(order, children)
        # The root: all others are nested in it.
        fields["humanoidBody"] = [joints[index] for index in order[:1]]
        # Only nodes with a name can be used again (USE) in a list.
        fields["joints"] = [joints[index] for index in order if joints[index].name]
        # A shared Segment is one node, and in the list once.
        named = {id(node): node for node in segments if node.name}
        fields["segments"] = list(named.values())
        # What MuJoCo's files had, and an OpenHRP model cannot hold.
        for rule, message, part in mjcf_losses(body):
            self.report(rule, f"{message}: {part}")
        humanoid = [Node("Humanoid", name, fields, kept.proto)]
        if isinstance(around, np.ndarray) and around.shape == (4, 4):
            humanoid = node_writer.moved(around, humanoid, "the Humanoid", self.report)
        scene = self.scene
        scene.nodes = world_info(body.info, self.report) + humanoid
        # ExtraJoints name Joints, so they come after the Humanoid.
        scene.nodes += node_writer.extra_joint_nodes(
            body.extra_joints, joints, self.names, self.report
        )
        scene.protos = {proto.name: proto for proto in prototypes_of(scene.nodes)}

    def _info_fields(self, proto: Proto) -> dict[str, Value]:
        """Return the texts that a Humanoid has fields for; defaults are left out."""
        fields: dict[str, Value] = {}
        info = self.body.info
        for key in ("name", "version"):
            text = info.get(key)
            # Defaults of the document are left out: "1.1" for the version.
            if isinstance(text, str) and text != proto.fields[key].value:
                fields[key] = text
        text = info.get("info")
        if isinstance(text, str) and text:
            fields["info"] = text.split("\n")
        return fields

    def _report_order(self, order: list[int]) -> None:
        """Report links whose order, depth or pose changes in the file."""
        body = self.body
        if order != list(range(len(order))):
            self.report(losses.BODY_ORDER, "the links are numbered anew, depth-first")
        depth: list[int] = []
        # Links come after their parents.
        for link in body.links:
            above = depth[link.parent] if link.parent >= 0 else 0
            depth.append(above + 1)
        deepest = max(depth, default=0)
        # Each link nests its children one deeper; its Segment with shapes is deeper
        # still.
        if deepest + SEGMENT_LEVELS > MAX_DEPTH:
            message = (
                f"{deepest} links are in one chain; bodymotion reads {MAX_DEPTH} "
                "nodes at most"
            )
            self.report(losses.DEPTH, message)
        if not body.links:
            message = "a body without links is read as one of a single link"
            self.report(losses.BODY_ORDER, message)
        elif not np.array_equal(body.root_pose, body.links[0].offset):
            message = (
                "the root link's offset is written as the pose of the body (root_pose)"
            )
            self.report(losses.PLACE.as_note, message)

    def _tree(
        self, order: list[int], children: list[list[int]]
    ) -> tuple[dict[int, Node], list[Node]]:
        """Return the Joint nodes of all links, one in the other, and all Segments."""
        body = self.body
        links = body.links
        names = self._joint_names(order)
        # One prototype for all Joints, with fields for the extras of all.
        kept = KeptFields("Joint", [link.joint.extra for link in links], self.report)
        devices = node_writer.DeviceWriter(body, self.report, self.renamed)
        # Segments and devices get their names before shapes, which give way to them.
        segment_names: dict[int, list[str]] = {}
        for index in order:
            segment_names[index] = list(map(self.segments.name, links[index].segments))
        device_names = [
            self.names.unique(device.name, "device") for device in body.devices
        ]
        joints: dict[int, Node] = {}
        segments: list[Node] = []
        # The chain of links around the current one.
        path: list[int] = []
        others: list[tuple[str, str, str]] = []
        for index in order:
            link = links[index]
            self.where = f"link {link.name!r}"
            # Names of Joints whose node has ended are known to a USE from here on.
            while path and path[-1] != link.parent:
                self.segments.bound.add(names[path.pop()])
            path.append(index)
            fields = self._joint_fields(link, names[index], kept)
            # What cannot be the name of the node is written into its field name.
            for kind, name in _other_names(link, names[index]):
                others.append((kind, name, names[index]))
                # At most one of the two names fits into the field.
                fields.setdefault("name", name)
            inside = self._segments(link, segment_names[index])
            # Surface and Transform nodes may be around a Segment.
            segments += [node for node in visits(inside) if node.type == "Segment"]
            fields["children"] = inside
            joints[index] = Node("Joint", names[index], fields, kept.proto)
        self.where = ""
        self._report_names(others, order, names)
        device_nodes = [
            devices.node(device, name)
            for device, name in zip(body.devices, device_names, strict=True)
        ]
        # A device in a link without an order that the reader gives back.
        if order and not self._place(device_nodes, joints, order, children):
            message = "the devices are in the order of their links and ids"
            self.report(losses.BODY_ORDER, message)
        return joints, segments

    def _joint_fields(
        self, link: Link, name: str, kept: KeptFields
    ) -> dict[str, Value]:
        # The root's offset is the pose of the body: the Humanoid's own pose has no
        # effect.
        offset = self.body.root_pose if link.index == 0 else link.offset
        title = f"Joint {name!r}"
        fields = node_writer.joint_fields(link.joint, offset, title, self.report)
        return fields | kept.of(link.joint.extra, node_writer.WRITTEN)

    def _segments(self, link: Link, names: list[str]) -> list[Node]:
        """Return the nodes of the segments of a link."""
        nodes: list[Node] = []
        last = len(names) - 1
        for number, name in enumerate(names):
            segment = link.segments[number]
            # Shapes are in their link's frame only where they come last: see
            # `SegmentWriter.nodes`.
            nodes += self.segments.nodes(segment, name, number == last)
            self.segments.bound.add(name)
        return nodes

    def _report_names(
        self,
        others: list[tuple[str, str, str]],
        order: list[int],
        names: dict[int, str],
    ) -> None:
        """Report kinds and names of parts that are not those of their nodes."""
        if not others:
            return
        texts = [f"{kind} {name!r} is {node!r}" for kind, name, node in others]
        message = f"links are named after the joints that move them: {listed(texts, 4)}"
        # A name that was that of another link: labels of motions by names of links mean
        # other links after that.
        numbers = {link.name: link.index for link in self.body.links}
        rule = losses.JOINT_NAME
        # Numbers of links by name, to see whether a name has changed its meaning.
        if any(numbers.get(names[index], index) != index for index in order):
            rule = replace(rule, severity="warning")
        self.losses.add(rule.problem(message, data={"names": tuple(others)}))

    def _place(
        self,
        device_nodes: list[Node],
        joints: dict[int, Node],
        order: list[int],
        children: list[list[int]],
    ) -> bool:
        """Put the nodes of devices and of child links into those of links.

        Return whether the devices are read back in their order.

        The reader sorts the devices of a kind by their ids.
        """
        devices = self.body.devices
        numbers = {id(node): number for number, node in enumerate(device_nodes)}
        of_shapes = {
            index: nodes.children(joints[index], "children") for index in order
        }
        in_order = list(range(len(devices)))
        by_link = in_order_of_ids([(device.kind, device.link) for device in devices])
        # First in the order of the body; where that reads back differently, by id.
        for ranks in (in_order, by_link):
            # Devices must come in rank order in a depth-first walk.
            slots = _slots(self.body, children, ranks)
            for index in order:
                inside = [*of_shapes[index]]
                inside += [device_nodes[number] for number in slots[index][0]]
                for child, slot in zip(children[index], slots[index][1:], strict=True):
                    inside.append(joints[child])
                    inside += [device_nodes[number] for number in slot]
                joints[index].fields["children"] = inside
            # The order in which a reader visits the devices.
            read = [
                numbers[id(node)]
                for node in visits([joints[order[0]]])
                if id(node) in numbers
            ]
            # The reader then sorts the devices of a kind by their ids.
            ids = [(devices[number].kind, devices[number].id) for number in read]
            if [read[rank] for rank in in_order_of_ids(ids)] == in_order:
                return True
        return False

    def _joint_names(self, order: list[int]) -> dict[int, str]:
        """Return the names of the Joint nodes.

        Those of joints where these move, since motions go by them, and else of links.
        """
        links = self.body.links
        # Links that extra joints refer to need names.
        ends: set[int] = set()
        for extra in self.body.extra_joints:
            ends.update(extra.links)
        names: dict[int, str] = {}
        # Moving joints first: a motion finds its columns by them.
        for index in order:
            joint = links[index].joint
            if joint.type in MOVING_JOINTS and joint.name:
                names[index] = self.names.unique(joint.name, "joint")
        for index in order:
            if index not in names:
                # An extra joint names its links.
                otherwise = f"LINK{index}" if index in ends else ""
                name = self._link_name(links[index], otherwise)
                names[index] = self.names.unique(name, "link")
        return names

    def _link_name(self, link: Link, otherwise: str) -> str:
        """Return the name of a link, or that of its joint if only this is unused."""
        used = self.names.used_names
        name = link.name or link.joint.name or otherwise
        is_used = legal_name(name) in used
        if is_used and link.joint.name and legal_name(link.joint.name) not in used:
            return link.joint.name
        return name


def _other_names(link: Link, node_name: str) -> list[tuple[str, str]]:
    """Return the names of a link and its joint that are not that of their node."""
    # One name for both is the usual case: a file has one name for a link.
    if link.joint.name == link.name:
        return []
    names = [("link", link.name), ("joint", link.joint.name)]
    return [(kind, name) for kind, name in names if name and name != node_name]


def write_openhrp(
    body: Body, path: str | Path, *, mesh: Literal["inline", "parts"] = "inline"
) -> tuple[Problem, ...]:
    """Write a body as an OpenHRP model, whole or not at all.

    Parameters
    ----------
    body:
        The body. One that was read from such a file is read back equal, but for the
        last bits of rotations that several Transforms made.
    path:
        The file.
    mesh:
        "inline": all in one file. "parts": the shapes of each segment that has a mesh
        go to a file of their own, in the folder `NAME-parts` beside the model, which
        the model names by Inline. An existing file with other contents is not changed:
        the part gets another name.

    Returns
    -------
    What the model loses of the body: rules LOSS020 to LOSS028. Images are not copied;
    they are named by their relative path.

    Raises
    ------
    ValueError
        When `mesh` is another text.
    OSError
        When a file cannot be written; the model's old file is as it was.
    """
    path = Path(path)
    # Checked before anything is written.
    if mesh not in ("inline", "parts"):
        raise ValueError(f'mesh: "inline" or "parts", not {mesh!r}')
    folder = None
    if mesh == "parts":
        folder = path.parent / f"{path.stem}-parts"
    outside = Diagnostics()

    def url(texture: Texture, in_part: bool) -> str:
        # Urls are relative to the file that has them.
        here = path.parent
        if folder is not None and in_part:
            here = folder
        return _texture_url(texture, path.parent, here, outside)

    # Numbers near the largest there are may overflow; what is not finite in the end is
    # left out and reported.
    with np.errstate(all="ignore"):
        builder = _Builder(body, url, folder)
        builder.build(path.stem)
    _write_files(path, builder, folder)
    return (
        *builder.losses.problems,
        *builder.renamed.problems,
        *outside.problems,
    )


def _write_files(path: Path, builder: _Builder, folder: Path | None) -> None:
    """Write the parts, and the model with the last of them.

    So it never names a part that does not exist.
    """
    scenes = [*builder.segments.parts.items(), (path, builder.scene)]
    num_parts = len(scenes) - 1
    # An empty folder would be left behind without parts.
    with new_folder(folder) if folder and num_parts else nullcontext():
        # In batches: systems limit the number of open files.
        for start in range(0, max(1, num_parts), MAX_OPEN_FILES):
            end = start + MAX_OPEN_FILES
            # The last batch has the model, so it appears with its last part.
            if end >= num_parts:
                end = len(scenes)
            batch = scenes[start:end]
            with whole_files(*(target for target, _ in batch)) as streams:
                for stream, (_, scene) in zip(streams, batch, strict=True):
                    stream.writelines(scene_pieces(scene, REMARKS))


def _texture_url(
    texture: Texture, model_folder: Path, here: Path, outside: Diagnostics
) -> str:
    """Return the url of an image.

    The one that it had where that leads to the file from the folder `here`, too, else
    its relative path.
    """
    wanted = texture.path.resolve()
    # A viewer opens only what is inside the folder of a model.
    if not wanted.is_relative_to(model_folder.resolve()):
        name = texture.path.name
        message = (
            f"the image {name} is not in the folder of the model: it is opened with "
            "allow_outside only"
        )
        hint = "copy it beside the model"
        outside.add(losses.SHAPE_LOOK.problem(message, Location(), hint))
    # The file's own text for the image, where it still leads there.
    if texture.url and (here / texture.url).resolve() == wanted:
        return texture.url
    try:
        return Path(os.path.relpath(wanted, here.resolve())).as_posix()
    except ValueError:  # another drive
        return texture.url or wanted.as_posix()
