"""Writing OpenHRP models: a Body as Humanoid, Joints, Segments, sensors and ExtraJoints, with the prototypes that declare them."""

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
from bodymotion.formats.vrml import Node, Scene, Value
from bodymotion.formats.vrml.nodes import visits
from bodymotion.formats.vrml.parser import MAX_DEPTH
from bodymotion.formats.vrml.writer import legal_name, scene_pieces
from bodymotion.geometry.shapes import Texture
from bodymotion.model.body import Body, Viewpoint
from bodymotion.model.links import Joint, Link, Segment, in_order_of_ids
from bodymotion.skeleton.values import depth_first
from bodymotion.system.files import new_folder, whole_files

MOVING_JOINTS = (
    "rotate",
    "slide",
    "crawler",
)  # Types of joints that have a column in a motion.
SEGMENT_LEVELS = 12  # How deep the nodes of a segment go below its Joint.
MAX_OPEN_FILES = (
    100  # Files that are open at the same time; systems allow some hundreds.
)


def _slots(
    body: Body, children: list[list[int]], order: list[int]
) -> list[list[list[int]]]:
    """Return the slots where each device is written after all children that hold, at any depth, a device before it in `order`."""
    first: list[float] = [float("inf")] * len(body.links)
    for rank in range(len(order) - 1, -1, -1):
        first[body.devices[order[rank]].link] = rank
    for link in reversed(body.links[1:]):
        first[link.parent] = min(first[link.parent], first[link.index])
    # From each child on: the earliest device in it or any later one; this ascends, so
    # devices find their place by bisection.
    after = [
        list(accumulate((first[child] for child in reversed(below)), min))[::-1]
        for below in children
    ]
    slots: list[list[list[int]]] = [
        [[] for _ in range(len(children[i]) + 1)] for i in range(len(body.links))
    ]
    for rank, number in enumerate(order):
        carrier = body.devices[number].link
        slots[carrier][bisect_left(after[carrier], rank)].append(number)
    return slots


def world_info(info: Mapping[str, object], report: Report) -> list[Node]:
    """Return a WorldInfo for what came from one.

    Report the texts that cannot be written.
    """
    fields: dict[str, Value] = {}
    for key, value in info.items():
        if isinstance(value, (list, tuple, np.ndarray)):
            texts = list(value)
        else:
            texts = None
        if key == "title" and isinstance(value, str):
            fields["title"] = value
        elif (
            key in ("info", "world_info")
            and texts is not None
            and all(isinstance(text, str) for text in texts)
        ):
            fields["info"] = texts
        elif key not in ("name", "version", "info") or not isinstance(value, str):
            report(losses.KEPT_VALUE, f"info[{key!r}] is left out")
    if fields:
        return [Node("WorldInfo", fields=fields)]
    return []


def viewpoint_node(view: Viewpoint, report: Report) -> Node:
    """Return the node of a viewpoint, without the numbers that are not finite."""
    title = f"the Viewpoint {view.description!r}"
    pose = node_writer.pose_fields(
        np.array([0.0, 0.0, 0.0, *view.pose[3:]]), title, report
    )
    fields: dict[str, Value] = (
        {"description": view.description} if view.description else {}
    )
    if np.isfinite(view.pose[:3]).all():
        fields["position"] = view.pose[:3]
    else:
        report(losses.NUMBER_RANGE, f"{title}: the position is left out")
    if "rotation" in pose:
        fields["orientation"] = pose["rotation"]
    fields |= node_writer.vector_fields(
        {"fieldOfView": view.field_of_view}, title, report, Viewpoint().field_of_view
    )
    return Node("Viewpoint", fields=fields)


def _is_scene(body: Body) -> bool:
    """Return whether a body is one that was read from a file without a Humanoid."""
    if (
        len(body.links) != 1
        or len(body.links[0].segments) != 1
        or set(body.info) - {"title", "info"}
    ):
        return False
    segment = body.links[0].segments[0]
    bare = Segment(name="Root", visuals=segment.visuals, collisions=segment.collisions)
    alone = Body(
        name=body.name,
        links=(
            Link(name="Root", joint=Joint(name="Root", type="fixed"), segments=(bare,)),
        ),
        viewpoints=body.viewpoints,
        info=body.info,
    )
    return body == alone and not isinstance(body.info.get("info"), str)


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
        """Make the nodes; `stem` is the name of the file without its extension, which is that of a scene without a Humanoid.

        Raises ValueError when a device or an extra joint is on a link that the body
        does not have.
        """
        body = self.body
        ends = [
            (f"{device.kind} {device.name!r}", device.link) for device in body.devices
        ]
        ends += [
            (f"ExtraJoint {extra.name!r}", end)
            for extra in body.extra_joints
            for end in extra.links
        ]
        for title, link in ends:
            if not 0 <= link < len(body.links):
                raise ValueError(
                    f"{title} is on link {link}; the body has "
                    f"{counted(len(body.links), 'link')}"
                )
        if _is_scene(body):
            self.plain_scene(stem)
        else:
            self.humanoid()

    def report(self, rule: Rule, message: str) -> None:
        self.losses.add(rule.problem(message, Location(inside=self.where or None)))

    def plain_scene(self, stem: str) -> None:
        body = self.body
        # A file without a Humanoid is read with its own name.
        self.renamed.add("model", body.name, stem)
        segment = body.links[0].segments[0]
        nodes = world_info(body.info, self.report) + [
            viewpoint_node(view, self.report) for view in body.viewpoints
        ]
        nodes += node_writer.shape_nodes(
            segment, self.segments.shapes, "the scene", surfaces=False
        )
        self.scene.nodes = nodes or [Node("Group")]

    def humanoid(self) -> None:
        body = self.body
        children: list[list[int]] = [[] for _ in body.links]
        for link in body.links[1:]:
            children[link.parent].append(link.index)
        order = depth_first({link.index: link.parent for link in body.links})
        self._report_order(order)
        around = body.extra.get("placed")
        extra = {name: value for name, value in body.extra.items() if name != "placed"}
        kept = KeptFields("Humanoid", [extra], self.report)
        if body.name:
            name = legal_name(body.name)
        else:
            name = ""
        self.renamed.add("model", body.name, name)
        fields: dict[str, Value] = {}
        texts = {
            key: value for key, value in body.info.items() if isinstance(value, str)
        }
        for key in ("name", "version"):
            if (
                texts.get(key, kept.proto.fields[key].value)
                != kept.proto.fields[key].value
            ):
                fields[key] = texts[key]
        if texts.get("info"):
            fields["info"] = texts["info"].split("\n")
        fields |= kept.of(extra, HUMANOID_USED)
        if body.viewpoints:
            fields["viewpoints"] = [
                viewpoint_node(view, self.report) for view in body.viewpoints
            ]
        joints, segments = self._tree(order, children)
        fields["humanoidBody"] = [joints[order[0]]] if order else []
        fields["joints"] = [joints[index] for index in order if joints[index].name]
        fields["segments"] = list(
            {id(node): node for node in segments if node.name}.values()
        )
        for rule, message, part in mjcf_losses(body):
            self.report(rule, f"{message}: {part}")
        humanoid = [Node("Humanoid", name, fields, kept.proto)]
        if isinstance(around, np.ndarray) and around.shape == (4, 4):
            humanoid = node_writer.moved(around, humanoid, "the Humanoid", self.report)
        scene = self.scene
        scene.nodes = world_info(body.info, self.report) + humanoid
        scene.nodes += node_writer.extra_joint_nodes(
            body.extra_joints, joints, self.names, self.report
        )
        scene.protos = {p.name: p for p in prototypes_of(scene.nodes)}

    def _report_order(self, order: list[int]) -> None:
        body = self.body
        if order != list(range(len(order))):
            self.report(losses.BODY_ORDER, "the links are numbered anew, depth-first")
        depth: list[int] = []
        for link in body.links:
            depth.append(1 + (depth[link.parent] if link.parent >= 0 else 0))
        deepest = max(depth, default=0)
        if deepest + SEGMENT_LEVELS > MAX_DEPTH:
            self.report(
                losses.DEPTH,
                f"{deepest} links are in one chain; bodymotion reads {MAX_DEPTH} "
                "nodes at most",
            )
        if not body.links:
            self.report(
                losses.BODY_ORDER,
                "a body without links is read as one of a single link",
            )
            return
        if not np.array_equal(body.root_pose, body.links[0].offset):
            self.report(
                losses.PLACE.as_note,
                "the root link's offset is written as the pose of the body (root_pose)",
            )

    def _tree(
        self, order: list[int], children: list[list[int]]
    ) -> tuple[dict[int, Node], list[Node]]:
        """Return the Joint nodes of all links, one in the other, and all Segment nodes."""
        body = self.body
        links = body.links
        ends = {
            end
            for extra in body.extra_joints
            for end in extra.links
            if 0 <= end < len(links)
        }
        names = self._joint_names(order, ends)
        kept = KeptFields("Joint", [link.joint.extra for link in links], self.report)
        devices = node_writer.DeviceWriter(body, self.report, self.renamed)
        # Segments and devices get their names before shapes, which give way to them.
        segment_names = {
            (i, k): self.segments.name(segment)
            for i in order
            for k, segment in enumerate(links[i].segments)
        }
        device_names = [self.names.unique(d.name, "device") for d in body.devices]
        joints: dict[int, Node] = {}
        segments: list[Node] = []
        path: list[int] = []
        otherwise: list[tuple[str, str, str]] = []
        """Kinds and names of parts that are not those of their nodes, and these."""
        for index in order:
            link = links[index]
            joint = links[index].joint
            self.where = f"link {link.name!r}"
            while path and path[-1] != link.parent:
                self.segments.bound.add(names[path.pop()])
            path.append(index)
            offset = body.root_pose if index == 0 else link.offset
            fields = node_writer.joint_fields(
                joint, offset, f"Joint {names[index]!r}", self.report
            )
            fields |= kept.of(joint.extra, node_writer.WRITTEN)
            # What cannot be the name of the node is written into its field name.
            if joint.name != link.name:
                unsaid = {"link": link.name, "joint": joint.name}
            else:
                unsaid = {}
            for kind, name in unsaid.items():
                if name and name != names[index]:
                    otherwise.append((kind, name, names[index]))
                    fields.setdefault("name", name)
            inside: list[Node] = []
            for k, segment in enumerate(link.segments):
                made = self.segments.nodes(
                    segment, segment_names[index, k], k == len(link.segments) - 1
                )
                inside += made
                self.segments.bound.add(segment_names[index, k])
                segments += [node for node in visits(made) if node.type == "Segment"]
            fields["children"] = inside
            joints[index] = Node("Joint", names[index], fields, kept.proto)
        self.where = ""
        if otherwise:
            texts = [f"{kind} {name!r} is {node!r}" for kind, name, node in otherwise]
            message = (
                f"links are named after the joints that move them: {listed(texts, 4)}"
            )
            old = {link.name: link.index for link in links}
            # A name that was that of another link: labels of motions by names of links
            # mean other links now.
            clash = any(old.get(names[index], index) != index for index in order)
            rule = losses.JOINT_NAME
            if clash:
                rule = replace(rule, severity="warning")
            self.losses.add(rule.problem(message, data={"names": tuple(otherwise)}))
        device_nodes = [
            devices.node(device, name)
            for device, name in zip(body.devices, device_names, strict=True)
        ]
        if order and not self._place(device_nodes, joints, order, children):
            self.report(
                losses.BODY_ORDER, "the devices are in the order of their links and ids"
            )
        return joints, segments

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
        of_shapes = {index: joints[index].fields["children"] for index in order}
        for ranks in (
            list(range(len(devices))),
            in_order_of_ids([(device.kind, device.link) for device in devices]),
        ):
            slots = _slots(self.body, children, ranks)
            for index in order:
                into: list[Node] = [*of_shapes[index]]  # type: ignore[misc]
                for child_nodes, slot in zip(
                    [[], *([joints[k]] for k in children[index])],
                    slots[index],
                    strict=True,
                ):
                    into += [*child_nodes, *(device_nodes[number] for number in slot)]
                joints[index].fields["children"] = into
            read = [
                numbers[id(node)]
                for node in visits([joints[order[0]]])
                if id(node) in numbers
            ]
            as_read = [
                read[place]
                for place in in_order_of_ids(
                    [(devices[n].kind, devices[n].id) for n in read]
                )
            ]
            if as_read == list(range(len(devices))):
                return True
        return False

    def _joint_names(self, order: list[int], ends: set[int]) -> dict[int, str]:
        """Return the names of the Joint nodes.

        Those of joints where these move, since motions go by them, and else of links.
        """
        links = self.body.links
        names = {}
        for index in [
            i
            for i in order
            if links[i].joint.type in MOVING_JOINTS and links[i].joint.name
        ]:
            names[index] = self.names.unique(links[index].joint.name, "joint")
        for index in order:
            if index not in names:
                wanted = (
                    links[index].name
                    or links[index].joint.name
                    or (f"LINK{index}" if index in ends else "")
                )
                own = links[index].joint.name
                if (
                    legal_name(wanted) in self.names.used_names
                    and own
                    and legal_name(own) not in self.names.used_names
                ):
                    wanted = own
                names[index] = self.names.unique(wanted, "link")
        return names


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
        go to a file of their own, in the folder
        `NAME-parts` beside the model, which the model names by Inline. An existing file
        with other contents is not changed: the part
        gets another name.

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
    if mesh not in ("inline", "parts"):
        raise ValueError(f'mesh: "inline" or "parts", not {mesh!r}')
    if mesh == "parts":
        folder = path.parent / f"{path.stem}-parts"
    else:
        folder = None
    outside = Diagnostics()

    def url(texture: Texture, in_part: bool) -> str:
        return _texture_url(
            texture, path.parent, folder if folder and in_part else path.parent, outside
        )

    # Numbers near the largest there are may overflow; what is not finite in the end is
    # left out and reported.
    with np.errstate(all="ignore"):
        builder = _Builder(body, url, folder)
        builder.build(path.stem)
    parts = list(builder.segments.parts.items())
    model = (path, builder.scene)
    with new_folder(folder) if folder and parts else nullcontext():
        for start in range(0, max(1, len(parts)), MAX_OPEN_FILES):
            # The model is written with the last of its parts, so it never names one
            # that does not exist.
            batch = parts[start : start + MAX_OPEN_FILES]
            if start + MAX_OPEN_FILES >= len(parts):
                batch = [*batch, model]
            with whole_files(*(target for target, _ in batch)) as streams:
                for stream, (_, scene) in zip(streams, batch, strict=True):
                    stream.writelines(scene_pieces(scene, REMARKS))
    return (
        *builder.losses.problems,
        *builder.renamed.problems,
        *outside.problems,
    )


def _texture_url(
    texture: Texture, model_folder: Path, here: Path, outside: Diagnostics
) -> str:
    """Return the url of an image.

    The one that it had where that leads to the file from the folder `here`, too, else
    its relative path.
    """
    wanted = texture.path.resolve()
    if not wanted.is_relative_to(model_folder.resolve()):
        name = texture.path.name
        message = f"the image {name} is not in the folder of the model: it is opened with allow_outside only"
        outside.add(
            losses.SHAPE_LOOK.problem(message, Location(), "copy it beside the model")
        )
    if texture.url and (here / texture.url).resolve() == wanted:
        return texture.url
    try:
        return Path(os.path.relpath(wanted, here.resolve())).as_posix()
    except ValueError:  # another drive
        return texture.url or wanted.as_posix()
