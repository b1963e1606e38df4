"""Read a whole model.

The Humanoid and what is beside it, or a scene without one.

`check_tree` applies the rules of the OpenHRP document about a whole model: names,
lists, ids and fields that have no effect.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Locator,
    Problem,
    ReadResult,
    SourceMap,
    Subject,
)
from bodymotion.diagnostics.problem import Source
from bodymotion.diagnostics.spelling import camel
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.openhrp import rules
from bodymotion.formats.openhrp.nodes import (
    ALL,
    DEVICE_FIELDS,
    EXTRA_JOINT_FIELDS,
    HUMANOID_USED,
    JOINT_FIELDS,
    SEGMENT_FIELDS,
    TreeReader,
    finite,
    label,
    name_of,
    own_pose,
    plain,
    read_extra_joint,
    rest,
)
from bodymotion.formats.resources import ReferencedFiles, file_bytes
from bodymotion.formats.vrml import nodes
from bodymotion.formats.vrml.nodes import ModelDiagnostics, Node, Scene, Value, attempt
from bodymotion.formats.vrml.reader import read_scene
from bodymotion.formats.vrml.rules import (
    DECIMAL_COMMA,
    EMPTY,
    HEADER,
    SCENERY,
    UNKNOWN_NODE,
)
from bodymotion.formats.vrml.shapes import (
    NodeFrame,
    SceneWalker,
    by_purpose,
    node_transform,
)
from bodymotion.formats.vrml.values import is_declared
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body, ExtraJoint, Viewpoint
from bodymotion.model.links import SENSOR_LIMITS, Joint, Link, Segment
from bodymotion.model.rules import NOT_FINITE
from bodymotion.model.scaling import scale

UNUSED = (
    "bboxCenter",
    "bboxSize",
    "sites",
    "coord",
    "displacers",
    "addChildren",
    "removeChildren",
)
KNOWN_NODES = {"children", "humanoidBody", "joints", "segments", "viewpoints", *UNUSED}
"""Fields that hold nodes and are read, or have no effect."""


def read_openhrp(
    path: str | Path,
    *,
    allow_outside: bool | None = None,
    apply_humanoid_pose: bool = False,
) -> ReadResult[Body]:
    """Read an OpenHRP model, or any VRML97 scene, as a body.

    Parameters
    ----------
    path:
        The `.wrl` file.
    allow_outside:
        Open files (Inline, textures) that are outside of the folder of the model, too.
    apply_humanoid_pose:
        Apply the Humanoid's own translation and rotation, and those of Transforms
        around it, to `root_pose`. The document defines them as a Transform around the
        body; Choreonoid ignores them. They are kept in `extra` in both cases.

    Returns
    -------
    The body of the file's Humanoid. A file without one is a body of a single fixed link
    "Root" that has the whole scene as its shapes. Where the file has faults, the body
    is partial, and its `source.locations` knows which parts are unknown.
    """
    path = Path(path)
    try:
        data = file_bytes(path)
        result = read_scene(data, path)
    except FormatError as error:
        return ReadResult(None, error.problems)
    scene = result.value
    if scene is None:
        return ReadResult(None, result.problems)
    if not scene.nodes and not scene.protos and result.whole:
        nothing = rules.NOTHING.problem(
            "the file has no node", Location(str(path), 1, 1)
        )
        own = (EMPTY.code, HEADER.code)
        return ReadResult(
            None,
            (
                nothing,
                *(problem for problem in result.problems if problem.rule not in own),
            ),
        )
    # Numbers near the largest there are may overflow; what is not finite in the end is
    # reported or left out.
    with np.errstate(all="ignore"):
        return _ModelReader(
            path, scene, result.refusal, allow_outside, apply_humanoid_pose
        ).read()


class _ModelReader:
    """Reads one model; the walk through its top level collects Humanoids, ExtraJoints, Viewpoints, and the shapes beside them."""

    def __init__(
        self,
        path: Path,
        scene: Scene,
        refusal: Problem | None,
        allow_outside: bool | None,
        apply_humanoid_pose: bool,
    ) -> None:
        self.path = path
        self.scene = scene
        self.refusal = refusal
        self.apply_humanoid_pose = apply_humanoid_pose
        self.found = ModelDiagnostics(path, scene.refused)
        self.parts = ReferencedFiles(path.parent, allow_outside, model=path)
        self.walker = SceneWalker(self.found, self.parts)
        self.humanoids: list[tuple[Node, Floats]] = []
        self.is_model = False
        self.extra_joints: list[Node] = []
        self.viewpoints: list[Viewpoint] = []
        self.world: dict[str, object] = {}
        self.entries: dict[Subject, Location | Locator] = {}
        self.starts: list[tuple[int, int, int]] = []
        """The lines, columns and links of the Joints and Segments in the file itself.
        """

    def read(self) -> ReadResult[Body]:
        if self.path.suffix and self.path.suffix.lower() != ".wrl":
            message = f"the name ends with {self.path.suffix}, expected .wrl"
            self.found.report(rules.EXTENSION, message, Location(str(self.path)))
        body = None
        try:
            body = self._body()
        except FormatError as error:
            self.found.fault(error)
        # Where links are lost in a node of an unknown type, that is the problem with
        # it.
        lost = {p.location for p in self.found.problems if p.rule == UNKNOWN_NODE.code}
        of_scene = (
            p
            for p in self.scene.problems
            if p.rule != UNKNOWN_NODE.code or p.location not in lost
        )
        problems = tuple(
            dict.fromkeys((*of_scene, *self.found.problems, *self.parts.problems))
        )
        if body is not None:
            problems = tuple(
                p if p.rule != DECIMAL_COMMA.code else self._with_link(p, body)
                for p in problems
            )
            self.entries |= {
                ("textures", url): location for url, location in self.parts.urls.items()
            }
            source = replace(
                body.source, locations=SourceMap(self.entries, self.found.unknown)
            )
            body = replace(body, source=source, problems=problems)
        refusal = self.refusal or self.found.refusal
        return ReadResult(body, problems, whole=refusal is None, refusal=refusal)

    def _body(self) -> Body:
        self.walker.walk(self.scene.nodes, NodeFrame(), self._visit)
        location = Location(str(self.path))
        if self.scene.routes:
            first = self.scene.routes[0]
            route = f"ROUTE {first.from_node[:60]}.{first.from_event[:60]}"
            message = (
                f"{route}, the first of {len(self.scene.routes)}: not a part of a body"
            )
            self.found.report(SCENERY, message, location)
        version = ""
        if self.humanoids:
            humanoid, transform = self.humanoids[0]
            for other, _ in self.humanoids[1:]:
                self.found.report(
                    rules.HUMANOIDS,
                    f"{label(other)} is a second Humanoid: left out",
                    other.location,
                )
            if self.walker.drawn:
                message = f"{counted(len(self.walker.drawn), 'shape')} beside the Humanoid, shown as its environment"
                self.found.report(rules.OUTSIDE, message, humanoid.location)
            body = self._humanoid(humanoid, transform)
            if self.apply_humanoid_pose:
                body = self._placed(
                    body, humanoid, transform @ node_transform(humanoid)
                )
            version = str(body.info.get("version", ""))
        else:
            visuals, collisions = by_purpose(self.walker.drawn)
            segment = Segment(name="Root", visuals=visuals, collisions=collisions)
            link = Link(
                name="Root", joint=Joint(name="Root", type="fixed"), segments=(segment,)
            )
            body = Body(name=self.path.stem, links=(link,), info=self.world)
            self.entries["links", 0] = Location(str(self.path), 1, 1)
            if self.scene.refused:
                self.found.mark_unknown(("links", 0), *ALL)
            # A file that declares one of them is meant as a model.
            words = {"Humanoid", "Joint", "Segment"}
            if self.is_model or not words.isdisjoint(self.scene.protos):
                message = "the file has Joints or Segments, and no Humanoid"
                self.found.report(
                    rules.NO_HUMANOID, message, Location(str(self.path), 1, 1)
                )
        options = {"header": self.scene.header}
        source = Source(
            "openhrp",
            self.path,
            version,
            self.scene.encoding,
            options,
            self.parts.files,
        )
        if self.humanoids:
            environment = by_purpose(self.walker.drawn)[0]
        else:
            environment = ()
        return replace(
            body,
            viewpoints=tuple(self.viewpoints),
            environment=environment,
            source=source,
        )

    def _visit(self, node: Node, frame: NodeFrame) -> bool:
        match node.type:
            case "Humanoid":
                self.humanoids.append((node, frame.transform))
            case "ExtraJoint":
                self.extra_joints.append(node)
            case "Joint" | "Segment":
                self.is_model = True
                return False
            case "Viewpoint":
                viewpoint = attempt(
                    lambda node: _viewpoint(node, frame.transform, self.found),
                    node,
                    self.found,
                )
                self.viewpoints += [] if viewpoint is None else [viewpoint]
            case "WorldInfo":
                self.world |= {
                    name: plain(value) for name, value in node.fields.items()
                }
            case _:
                return False
        return True

    def _placed(self, body: Body, node: Node, matrix: Floats) -> Body:
        """Return the body moved and scaled by a Transform (4, 4).

        One that stretches or mirrors it is reported, and its scale left out.
        """
        if not np.isfinite(matrix).all():
            return body
        rigid = poses.nearest_rigid(matrix)
        factor = float(np.cbrt(max(np.linalg.det(matrix[:3, :3]), 0.0)))
        if not np.allclose(
            matrix[:3, :3],
            factor * rigid[:3, :3],
            rtol=0.0,
            atol=1e-9 * max(factor, 1e-9),
        ):
            message = f"the scale of {label(node)} is not that of a robot: it differs between the axes, or mirrors"
            self.found.report(rules.HUMANOID_POSE, message, node.location_of("scale"))
        elif abs(factor - 1) > 1e-12:
            body = scale(body, factor)
        return replace(
            body, root_pose=poses.compose(poses.from_matrix(rigid), body.root_pose)
        )

    def _humanoid(self, node: Node, transform: Floats) -> Body:
        found = self.found
        own = attempt(lambda node: own_pose(node, found), node, found)
        is_placed = not np.array_equal(
            poses.IDENTITY if own is None else own, poses.IDENTITY
        )
        is_placed = is_placed or not np.array_equal(transform, np.eye(4))
        is_placed = is_placed or nodes.vector(node, "scale", (1.0, 1.0, 1.0)) != (
            1.0,
            1.0,
            1.0,
        )
        if is_placed and not self.apply_humanoid_pose:
            message = f"{label(node)} has a translation, rotation or scale, which has no effect"
            found.report(rules.HUMANOID_POSE, message, node.location)
        self.walker.walk(nodes.children(node, "viewpoints"), NodeFrame(), self._visit)
        tree = self._tree(node)
        extra_joints = self._extra_joints(tree)
        for link in tree.open_links:
            self.entries[link.subject] = _locator(link.node, JOINT_FIELDS, link.nodes)
            at = [
                node.location
                for node in (link.node, *link.nodes)
                if node.path == self.path
            ]
            self.starts += [
                (where.line or 0, where.column or 0, link.bare.index) for where in at
            ]
        self.starts.sort()
        for number, device_node in enumerate(tree.device_nodes):
            self.entries["devices", number] = _locator(device_node, DEVICE_FIELDS)
        info: dict[str, object] = {}
        with found.recover():
            info["name"] = nodes.text(node, "name")
            info["version"] = nodes.text(node, "version", "1.1")
            info["info"] = "\n".join(nodes.texts(node, "info"))
        extra = rest(node, HUMANOID_USED)
        if not np.array_equal(transform, np.eye(4)):
            extra["placed"] = transform
        return Body(
            name=node.name or str(info.get("name", "")) or self.path.stem,
            links=tuple(tree.links),
            devices=tuple(tree.devices),
            extra_joints=extra_joints,
            root_pose=tree.links[0].offset,
            # The Humanoid has an info of its own.
            info=info
            | {
                "world_info" if name == "info" else name: value
                for name, value in self.world.items()
            },
            extra=extra,
        )

    def _tree(self, humanoid: Node) -> TreeReader:
        found_nodes = nodes.children(humanoid, "humanoidBody")
        # What is found in a body without a Joint counts only where it is read again as
        # one link.
        of_tree = ModelDiagnostics(self.path, self.scene.refused)
        tree = TreeReader(self.parts, of_tree).read(found_nodes)
        if tree.links or of_tree.has_errors:
            self.found.extend(of_tree.problems)
            self.found.mark_unknown(*of_tree.unknown)
            self.found.refusal = self.found.refusal or of_tree.refusal
        if tree.links:
            check_tree(tree, humanoid, self.found)
            return tree
        # The document allows that: its contents are a body of one link that does not
        # move.
        self.found.report(
            rules.NO_JOINT, f"{label(humanoid)} has no Joint", humanoid.location
        )
        fields: dict[str, Value] = {"jointType": "fixed", "children": list(found_nodes)}
        return TreeReader(self.parts, self.found).read([Node("Joint", "Root", fields)])

    def _extra_joints(self, tree: TreeReader) -> tuple[ExtraJoint, ...]:
        links = {link.name: link.index for link in reversed(tree.links)}
        joints: list[ExtraJoint] = []
        for node in (*self.extra_joints, *tree.extra_joint_nodes):
            subject: Subject = ("extra_joints", len(joints))
            read = partial(
                read_extra_joint, links=links, found=self.found, subject=subject
            )
            joint = attempt(read, node, self.found, subject, EXTRA_JOINT_FIELDS)
            if joint is None:
                self.found.mark_unknown(("extra_joints", "all"))
                continue
            joints.append(joint)
            self.entries[subject] = _locator(node, EXTRA_JOINT_FIELDS)
        return tuple(joints)

    def _with_link(self, problem: Problem, body: Body) -> Problem:
        """Return a problem of a shape with its link.

        That of the part, or in the model's file that of the Joint or Segment before it.
        """
        at = problem.location
        subject = self.parts.users.get(at.path or "", ())
        before = bisect(self.starts, (at.line or 0, at.column or 0, len(body.links)))
        if at.path == str(self.path) and before:
            subject = ("links", self.starts[before - 1][2], "shapes")
        if subject[:1] != ("links",):
            return problem
        message = f"link {body.links[int(subject[1])].name!r}: {problem.message}"
        return replace(problem, message=message, subject=subject)


def _viewpoint(node: Node, transform: Floats, found: ModelDiagnostics) -> Viewpoint:
    orientation = nodes.quaternion(*nodes.axis_angle(node, "orientation"))
    own = poses.from_parts(
        finite(node, "position", (0.0, 0.0, 10.0), found), orientation
    )
    return Viewpoint(
        description=nodes.text(node, "description") or node.name,
        pose=own
        if np.array_equal(transform, np.eye(4))
        else poses.from_matrix(transform @ poses.to_matrix(own)),
        field_of_view=finite(node, "fieldOfView", (0.785398,), found)[0],
    )


# ---- locations


def _locator(
    node: Node, fields: Mapping[str, str], segments: list[Node] | None = None
) -> Location | Locator:
    """Return what locates the attributes of a part of a body.

    It holds offsets and the beginnings of lines, not the nodes and the text.
    """
    if node.text is None:
        return Location()
    known = {name: (node.text.lines, offset) for name, offset in node.offsets.items()}
    for name in SEGMENT_FIELDS.values():
        own = [segment for segment in segments or () if name in segment.offsets]
        if len(own) == 1 and (text := own[0].text) is not None:
            known[name] = (text.lines, own[0].offsets[name])
    lines = node.text.lines
    offset = node.offset
    names = {**SEGMENT_FIELDS, **fields}

    def locate(rest: Subject) -> Location:
        if rest:
            name = str(rest[0])
        else:
            name = ""
        at = known.get(names.get(name, camel(name)))
        if at is None:
            return lines.location(offset)
        return at[0].location(at[1])

    return locate


def check_tree(tree: TreeReader, humanoid: Node, found: ModelDiagnostics) -> None:
    """Check names, lists, fields, ids and the sums of Segments."""
    for check in (
        _check_names,
        _check_fields,
        _check_sensors,
        _check_ids,
        _check_numbers,
    ):
        try:
            check(tree, humanoid, found)
        except FormatError as error:
            found.fault(error)


def _check_names(tree: TreeReader, humanoid: Node, found: Diagnostics) -> None:
    segments: dict[str, Node] = {}
    for node in tree.segment_nodes:
        if not name_of(node):
            found.report(rules.SEGMENT_NAME, "a Segment has no name", node.location)
        elif segments.setdefault(name_of(node), node) is not node:
            message = f"a second Segment has the name {name_of(node)!r}"
            found.report(rules.SEGMENT_NAME, message, node.location, severity="warning")
    for name, found_nodes in (
        ("joints", tree.joint_nodes),
        ("segments", tree.segment_nodes),
    ):
        items = nodes.children(humanoid, name)
        counts = Counter(map(id, items))
        in_tree = {id(node) for node in found_nodes}
        missing = [label(node) for node in found_nodes if not counts[id(node)]]
        # A node of an unknown type may be meant as a link, and may hold links.
        is_whole = tree.found.is_known(("links", "all"))
        foreign = [
            label(item)
            for item in items
            if id(item) not in in_tree and is_whole and is_declared(item)
        ]
        repeated = dict.fromkeys(
            label(node) for node in found_nodes if counts[id(node)] > 1
        )
        for verb, which, where in (
            ("lacks", missing, ""),
            ("has", foreign, ", outside of humanoidBody"),
            ("repeats", list(repeated), ""),
        ):
            if which:
                found.report(
                    rules.LISTS,
                    f"the list {name} {verb} {listed(which)}{where}",
                    humanoid.location_of(name),
                )


def _check_fields(tree: TreeReader, humanoid: Node, found: Diagnostics) -> None:
    """Report fields that have no effect, unknown ones that hold nodes, and names that differ from those after DEF."""
    unused: dict[str, Location] = {}
    of_document = (humanoid, *tree.joint_nodes, *tree.segment_nodes)
    for node in of_document:
        for name in UNUSED:
            if name in node.fields:
                unused.setdefault(name, node.location_of(name))
    for name, location in unused.items():
        found.report(
            rules.UNUSED_FIELD,
            f"the file has the field {name}, which has no effect",
            location,
        )
    for node in (*of_document, *tree.device_nodes, *tree.extra_joint_nodes):
        for name, value in node.fields.items():
            values = value if isinstance(value, list) else [value]
            if name not in KNOWN_NODES and any(
                isinstance(item, Node) for item in values
            ):
                message = (
                    f"the field {name} of {label(node)} is unknown and holds nodes"
                )
                found.report(rules.UNKNOWN_NODES, message, node.location_of(name))
    for node in (*tree.joint_nodes, *tree.segment_nodes):
        field = node.fields.get("name")
        if isinstance(field, str) and field and node.name and field != node.name:
            found.report(
                rules.NAME_FIELD,
                f"name of {label(node)} is {field!r}",
                node.location_of("name"),
            )


def _check_sensors(tree: TreeReader, _humanoid: Node, found: Diagnostics) -> None:
    for device, node in zip(tree.devices, tree.device_nodes, strict=True):
        for name in map(camel, SENSOR_LIMITS.get(type(device), ())):
            limits = nodes.vector(node, name, (-1.0, -1.0, -1.0))
            if any(number <= 0 and number != -1 for number in limits):
                shown = " ".join(f"{number:g}" for number in limits)
                message = f"{name} of {label(node)} is {shown}, expected positive numbers, or -1 for no limit"
                found.report(rules.SENSOR_LIMIT, message, node.location_of(name))
        if (
            device.id < 0
            and "sensorId" not in node.offsets
            and (node.proto is None or "sensorId" in node.proto.fields)
        ):
            found.report(
                rules.SENSOR_ID_MISSING, f"{label(node)} has no sensorId", node.location
            )


def _check_ids(tree: TreeReader, humanoid: Node, found: Diagnostics) -> None:
    ids: dict[int, None] = {}
    for link, node in zip(tree.links, tree.joint_nodes, strict=True):
        joint = link.joint
        if joint.id < 0:
            moves = link.index and joint.type in ("rotate", "slide", "crawler")
            if moves and found.is_known(("links", link.index, "id")):
                found.report(
                    rules.ID_MISSING, f"{label(node)} has no jointId", node.location
                )
            continue
        if joint.type in ("fixed", "free"):
            message = f"{label(node)} is {joint.type} and has jointId {joint.id}: this column has no effect"
            found.report(rules.ID_UNUSED, message, node.location_of("jointId"))
        ids.setdefault(joint.id)
    if list(ids) != sorted(ids):
        found.report(
            rules.ID_ORDER,
            "the jointIds do not have the order of the links",
            humanoid.location,
        )


def _check_numbers(tree: TreeReader, _humanoid: Node, found: Diagnostics) -> None:
    """Report masses that are not finite only when the Segments of a Joint are added."""
    sums = np.array(
        [[link.mass, *link.center_of_mass, *link.inertia.flat] for link in tree.links]
    )
    for index in np.flatnonzero(~np.isfinite(sums).all(axis=1)).tolist():
        node = tree.joint_nodes[index]
        message = f"mass, centre of mass or inertia of {label(node)}, the sum of its Segments, is not finite"
        found.report(
            NOT_FINITE,
            message,
            node.location,
            hint="its Segments have numbers that are too large",
        )
        found.mark_unknown(
            *(("links", index, attribute) for attribute in SEGMENT_FIELDS)
        )
