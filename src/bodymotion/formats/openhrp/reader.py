"""Read a whole model.

The Humanoid and what is beside it, or a scene without one.

`check_tree` applies the rules of the OpenHRP document about a whole model: names,
lists, ids and fields that have no effect.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping
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
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body, ExtraJoint, Viewpoint
from bodymotion.model.links import SENSOR_LIMITS, Joint, Link, Segment
from bodymotion.model.rules import NOT_FINITE
from bodymotion.model.scaling import scale

UNUSED = (
    *("bboxCenter", "bboxSize", "sites", "coord"),
    *("displacers", "addChildren", "removeChildren"),
)
# Fields that hold nodes and are read, or have no effect.
KNOWN_NODES = {"children", "humanoidBody", "joints", "segments", "viewpoints", *UNUSED}


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
    # An empty text is no body; where the text has a fault, that is reported instead.
    if not scene.nodes and not scene.protos and result.whole:
        start = Location(str(path), 1, 1)
        nothing = rules.NOTHING.problem("the file has no node", start)
        # EMPTY and HEADER of VRML say the same as NOTHING.
        others = [
            problem
            for problem in result.problems
            if problem.rule not in (EMPTY.code, HEADER.code)
        ]
        return ReadResult(None, (nothing, *others))
    # Numbers near the largest there are may overflow; what is not finite in the end is
    # reported or left out.
    with np.errstate(all="ignore"):
        return _ModelReader(
            path, scene, result.refusal, allow_outside, apply_humanoid_pose
        ).read()


class _ModelReader:
    """Reads one model.

    The walk through its top level collects Humanoids, ExtraJoints, Viewpoints, and the
    shapes beside them.
    """

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
        # Files are looked for beside the model, and outside only with `allow_outside`.
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
        """Return the body with all problems of the model."""
        if self.path.suffix and self.path.suffix.lower() != ".wrl":
            message = f"the name ends with {self.path.suffix}, expected .wrl"
            self.found.report(rules.EXTENSION, message, Location(str(self.path)))
        body = None
        try:
            body = self._body()
        except FormatError as error:
            self.found.fault(error)
        problems = self._all_problems()
        if body is not None:
            problems = [
                # A decimal comma moves points of a shape: the link says which part of
                # the robot.
                self._with_link(problem, body)
                if problem.rule == DECIMAL_COMMA.code
                else problem
                for problem in problems
            ]
            for url, location in self.parts.urls.items():
                self.entries["textures", url] = location
            locations = SourceMap(self.entries, self.found.unknown)
            source = replace(body.source, locations=locations)
            body = replace(body, source=source, problems=tuple(problems))
        # The first fault of the text comes before those of the model.
        refusal = self.refusal or self.found.refusal
        whole = refusal is None
        return ReadResult(body, tuple(problems), whole=whole, refusal=refusal)

    def _all_problems(self) -> list[Problem]:
        """Return the problems of the text, the model and its parts, each once."""
        # Where links are lost in a node of an unknown type, that is the problem with
        # it.
        reported: set[Location] = set()
        for problem in self.found.problems:
            if problem.rule == UNKNOWN_NODE.code:
                reported.add(problem.location)
        of_scene = [
            problem
            for problem in self.scene.problems
            if problem.rule != UNKNOWN_NODE.code or problem.location not in reported
        ]
        everything = (*of_scene, *self.found.problems, *self.parts.problems)
        # Problems are equal by value: what two walks found is reported once.
        return list(dict.fromkeys(everything))

    def _body(self) -> Body:
        """Return the body of the first Humanoid, or of the scene."""
        self.walker.walk(self.scene.nodes, NodeFrame(), self._visit)
        # ROUTEs connect moving parts and sensors of a scene: a body has none.
        self._report_routes()
        environment: tuple[Shape, ...] = ()
        version = ""
        if self.humanoids:
            humanoid, transform = self.humanoids[0]
            self._report_beside(humanoid)
            body = self._humanoid(humanoid, transform)
            if self.apply_humanoid_pose:
                # The Humanoid is a Transform inside those around it.
                matrix = transform @ node_transform(humanoid)
                body = self._placed(body, humanoid, matrix)
            version = str(body.info.get("version", ""))
            # Shapes beside the robot are seen, but belong to none of its links.
            environment = by_purpose(self.walker.drawn)[0]
        else:
            body = self._plain_scene()
        source = Source(
            "openhrp",
            self.path,
            version,
            self.scene.encoding,
            {"header": self.scene.header},
            self.parts.files,
        )
        return replace(
            body,
            viewpoints=tuple(self.viewpoints),
            environment=environment,
            source=source,
        )

    def _report_routes(self) -> None:
        routes = self.scene.routes
        if routes:
            route = f"ROUTE {routes[0].from_node[:60]}.{routes[0].from_event[:60]}"
            message = f"{route}, the first of {len(routes)}: not a part of a body"
            self.found.report(SCENERY, message, Location(str(self.path)))

    def _report_beside(self, humanoid: Node) -> None:
        """Report other Humanoids, and shapes that belong to none."""
        for other, _ in self.humanoids[1:]:
            message = f"{label(other)} is a second Humanoid: left out"
            self.found.report(rules.HUMANOIDS, message, other.location)
        if self.walker.drawn:
            shapes = counted(len(self.walker.drawn), "shape")
            message = f"{shapes} beside the Humanoid, shown as its environment"
            self.found.report(rules.OUTSIDE, message, humanoid.location)

    def _plain_scene(self) -> Body:
        """Return the scene of a file without a Humanoid as a body of one fixed link."""
        start = Location(str(self.path), 1, 1)
        visuals, collisions = by_purpose(self.walker.drawn)
        segment = Segment(name="Root", visuals=visuals, collisions=collisions)
        joint = Joint(name="Root", type="fixed")
        link = Link(name="Root", joint=joint, segments=(segment,))
        self.entries["links", 0] = start
        # A value that cannot be read may have been a part of anything.
        if self.scene.refused:
            self.found.mark_unknown(("links", 0), *ALL)
        # A file that declares one of them is meant as a model.
        words = {"Humanoid", "Joint", "Segment"}
        if self.is_model or not words.isdisjoint(self.scene.protos):
            message = "the file has Joints or Segments, and no Humanoid"
            self.found.report(rules.NO_HUMANOID, message, start)
        return Body(name=self.path.stem, links=(link,), info=self.world)

    def _visit(self, node: Node, frame: NodeFrame) -> bool:
        """Collect a node of the top level; return whether it is done."""
        match node.type:
            # Read after the walk: only then is it known whether there are others.
            case "Humanoid":
                self.humanoids.append((node, frame.transform))
            case "ExtraJoint":
                self.extra_joints.append(node)
            case "Joint" | "Segment":
                # Joints outside of a Humanoid: the scene is shown, and a missing
                # Humanoid reported.
                self.is_model = True
                return False
            case "Viewpoint":
                read = partial(_viewpoint, transform=frame.transform, found=self.found)
                viewpoint = attempt(read, node, self.found)
                if viewpoint is not None:
                    self.viewpoints.append(viewpoint)
            case "WorldInfo":
                for name, value in node.fields.items():
                    self.world[name] = plain(value)
            case _:
                return False
        return True

    def _placed(self, body: Body, node: Node, matrix: Floats) -> Body:
        """Return the body moved and scaled by a Transform (4, 4).

        One that stretches or mirrors it is reported, and its scale left out.
        """
        # An infinite scale is reported where it is read.
        if not np.isfinite(matrix).all():
            return body
        rigid = poses.nearest_rigid(matrix)
        # det(s · R) = s³: the one factor of a rotation with scale. A mirror has a
        # negative one, which counts as 0 and differs below.
        factor = float(np.cbrt(max(np.linalg.det(matrix[:3, :3]), 0.0)))
        # What is left beside one factor, relative to it, is more than rounding.
        tolerance = 1e-9 * max(factor, 1e-9)
        error = np.abs(matrix[:3, :3] - factor * rigid[:3, :3]).max()
        if not error <= tolerance:
            message = (
                f"the scale of {label(node)} is not that of a robot: it differs "
                "between the axes, or mirrors"
            )
            self.found.report(rules.HUMANOID_POSE, message, node.location_of("scale"))
        elif abs(factor - 1) > 1e-12:
            # Other factors than 1 are more than rounding: sizes, masses and inertias
            # follow.
            body = scale(body, factor)
        pose = poses.compose(poses.from_matrix(rigid), body.root_pose)
        return replace(body, root_pose=pose)

    def _humanoid(self, node: Node, transform: Floats) -> Body:
        """Return the body of a Humanoid inside a transform (4, 4)."""
        found = self.found
        if self._has_pose(node, transform) and not self.apply_humanoid_pose:
            message = (
                f"{label(node)} has a translation, rotation or scale, which has no "
                "effect"
            )
            found.report(rules.HUMANOID_POSE, message, node.location)
        # Viewpoints may also be in a list of the Humanoid.
        self.walker.walk(nodes.children(node, "viewpoints"), NodeFrame(), self._visit)
        tree = self._tree(node)
        extra_joints = self._extra_joints(tree)
        self._locate(tree)
        info: dict[str, object] = {}
        # A faulty text must not lose the others that come before it.
        with found.recover():
            info["name"] = nodes.text(node, "name")
            info["version"] = nodes.text(node, "version", "1.1")
            info["info"] = "\n".join(nodes.texts(node, "info"))
        name = node.name or str(info.get("name", "")) or self.path.stem
        for key, value in self.world.items():
            # The Humanoid has an info of its own.
            info["world_info" if key == "info" else key] = value
        extra = rest(node, HUMANOID_USED)
        # Transforms around the Humanoid: a writer puts them there again.
        if not np.array_equal(transform, np.eye(4)):
            extra["placed"] = transform
        return Body(
            name=name,
            links=tuple(tree.links),
            devices=tuple(tree.devices),
            extra_joints=extra_joints,
            root_pose=tree.links[0].offset,
            info=info,
            extra=extra,
        )

    def _has_pose(self, humanoid: Node, transform: Floats) -> bool:
        """Return whether a Humanoid is moved, rotated or scaled."""
        pose = attempt(partial(own_pose, found=self.found), humanoid, self.found)
        if pose is not None and not np.array_equal(pose, poses.IDENTITY):
            return True
        if not np.array_equal(transform, np.eye(4)):
            return True
        no_scale = (1.0, 1.0, 1.0)
        return nodes.vector(humanoid, "scale", no_scale) != no_scale

    def _locate(self, tree: TreeReader) -> None:
        """Note where the links and devices are in their files."""
        for link in tree.open_links:
            self.entries[link.subject] = _locator(link.node, JOINT_FIELDS, link.nodes)
            # Links in parts (Inline) have offsets in other files: those are found by
            # path.
            for node in (link.node, *link.nodes):
                if node.path == self.path:
                    line = node.location.line or 0
                    column = node.location.column or 0
                    self.starts.append((line, column, link.bare.index))
        # Sorted for `bisect`.
        self.starts.sort()
        for number, node in enumerate(tree.device_nodes):
            self.entries["devices", number] = _locator(node, DEVICE_FIELDS)

    def _tree(self, humanoid: Node) -> TreeReader:
        """Read the links and devices of a Humanoid."""
        found_nodes = nodes.children(humanoid, "humanoidBody")
        # What is found in a body without a Joint counts only where it is read again as
        # one link.
        of_tree = ModelDiagnostics(self.path, self.scene.refused)
        tree = TreeReader(self.parts, of_tree).read(found_nodes)
        # A body without Joints and without errors is read again below: nothing is
        # reported twice.
        if tree.links or of_tree.has_errors:
            self.found.extend(of_tree.problems)
            self.found.mark_unknown(*of_tree.unknown)
            self.found.refusal = self.found.refusal or of_tree.refusal
        if tree.links:
            check_tree(tree, humanoid, self.found)
            return tree
        # The document allows that: its contents are a body of one link that does not
        # move.
        message = f"{label(humanoid)} has no Joint"
        self.found.report(rules.NO_JOINT, message, humanoid.location)
        # A made-up fixed Joint around the contents of the humanoidBody.
        fields: dict[str, Value] = {"jointType": "fixed", "children": list(found_nodes)}
        return TreeReader(self.parts, self.found).read([Node("Joint", "Root", fields)])

    def _extra_joints(self, tree: TreeReader) -> tuple[ExtraJoint, ...]:
        """Return the extra joints between the links of the tree."""
        # Names may repeat: of several, the first link counts, so it is entered last.
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
        location = problem.location
        subject = self.parts.users.get(location.path or "", ())
        # Greater than any start at the same place: `bisect` then counts all that begin
        # there.
        end = (location.line or 0, location.column or 0, len(body.links))
        num_before = bisect(self.starts, end)
        # The last Joint or Segment that begins before the problem.
        if location.path == str(self.path) and num_before:
            link = self.starts[num_before - 1][2]
            subject = ("links", link, "shapes")
        # Shapes beside the robot have no link.
        if subject[:1] != ("links",):
            return problem
        message = f"link {body.links[int(subject[1])].name!r}: {problem.message}"
        return replace(problem, message=message, subject=subject)


def _viewpoint(node: Node, transform: Floats, found: ModelDiagnostics) -> Viewpoint:
    orientation = nodes.quaternion(*nodes.axis_angle(node, "orientation"))
    # The defaults are those of the standard's Viewpoint (6.53).
    position = finite(node, "position", (0.0, 0.0, 10.0), found)
    pose = poses.from_parts(position, orientation)
    if not np.array_equal(transform, np.eye(4)):
        pose = poses.from_matrix(transform @ poses.to_matrix(pose))
    return Viewpoint(
        description=nodes.text(node, "description") or node.name,
        pose=pose,
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
    lines = node.text.lines
    offset = node.offset
    offsets = {name: (lines, offset) for name, offset in node.offsets.items()}
    # Attributes of a link that are in its Segment nodes.
    for name in SEGMENT_FIELDS.values():
        holders = [segment for segment in segments or () if name in segment.offsets]
        # Of several Segments none has the sum.
        if len(holders) == 1 and holders[0].text is not None:
            offsets[name] = (holders[0].text.lines, holders[0].offsets[name])
    # Names of other attributes are those of fields, in camel case.
    names = {**SEGMENT_FIELDS, **fields}

    def locate(rest: Subject) -> Location:
        attribute = str(rest[0]) if rest else ""
        name = names.get(attribute, camel(attribute))
        if name not in offsets:
            return lines.location(offset)
        lines_of_field, offset_of_field = offsets[name]
        return lines_of_field.location(offset_of_field)

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
        # A faulty list of the Humanoid must not hide what the other checks find.
        try:
            check(tree, humanoid, found)
        except FormatError as error:
            found.fault(error)


def _check_names(tree: TreeReader, humanoid: Node, found: Diagnostics) -> None:
    segments: dict[str, Node] = {}
    for node in tree.segment_nodes:
        # A Segment that is used twice (USE) has one name and is one node.
        name = name_of(node)
        if not name:
            found.report(rules.SEGMENT_NAME, "a Segment has no name", node.location)
        elif segments.setdefault(name, node) is not node:
            message = f"a second Segment has the name {name!r}"
            found.report(rules.SEGMENT_NAME, message, node.location, severity="warning")
    # Lists name nodes by USE: they are compared as objects.
    _check_list(tree, humanoid, "joints", tree.joint_nodes, found)
    _check_list(tree, humanoid, "segments", tree.segment_nodes, found)


def _check_list(
    tree: TreeReader,
    humanoid: Node,
    name: str,
    in_tree: list[Node],
    found: Diagnostics,
) -> None:
    """Check that a list of the Humanoid has each node of the tree once."""
    items = nodes.children(humanoid, name)
    counts = Counter(map(id, items))
    tree_ids = set(map(id, in_tree))
    missing = [label(node) for node in in_tree if not counts[id(node)]]
    repeated = [label(node) for node in in_tree if counts[id(node)] > 1]
    foreign: list[str] = []
    # A node of an unknown type may be meant as a link, and may hold links.
    if tree.found.is_known(("links", "all")):
        for item in items:
            if id(item) not in tree_ids and is_declared(item):
                foreign.append(label(item))
    location = humanoid.location_of(name)
    if missing:
        message = f"the list {name} lacks {listed(missing)}"
        found.report(rules.LISTS, message, location)
    if foreign:
        message = f"the list {name} has {listed(foreign)}, outside of humanoidBody"
        found.report(rules.LISTS, message, location)
    if repeated:
        names = listed(list(dict.fromkeys(repeated)))
        found.report(rules.LISTS, f"the list {name} repeats {names}", location)


def _check_fields(tree: TreeReader, humanoid: Node, found: Diagnostics) -> None:
    """Report fields without effect, unknown ones that hold nodes, and other names."""
    of_document = (humanoid, *tree.joint_nodes, *tree.segment_nodes)
    _report_unused(of_document, found)
    for node in (*of_document, *tree.device_nodes, *tree.extra_joint_nodes):
        for name, value in node.fields.items():
            # Fields whose nodes are read, or known to have no effect, are no surprise.
            if name not in KNOWN_NODES and _holds_nodes(value):
                message = (
                    f"the field {name} of {label(node)} is unknown and holds nodes"
                )
                found.report(rules.UNKNOWN_NODES, message, node.location_of(name))
    for node in (*tree.joint_nodes, *tree.segment_nodes):
        field = node.fields.get("name")
        # Writers put a name that is not legal after DEF into the field.
        if isinstance(field, str) and field and node.name and field != node.name:
            message = f"name of {label(node)} is {field!r}"
            found.report(rules.NAME_FIELD, message, node.location_of("name"))


def _report_unused(of_document: Iterable[Node], found: Diagnostics) -> None:
    """Report each field without effect once."""
    unused: dict[str, Location] = {}
    for node in of_document:
        for name in UNUSED:
            if name in node.fields:
                unused.setdefault(name, node.location_of(name))
    for name, location in unused.items():
        message = f"the file has the field {name}, which has no effect"
        found.report(rules.UNUSED_FIELD, message, location)


def _holds_nodes(value: Value) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(isinstance(item, Node) for item in values)


def _check_sensors(tree: TreeReader, _humanoid: Node, found: Diagnostics) -> None:
    for device, node in zip(tree.devices, tree.device_nodes, strict=True):
        for name in map(camel, SENSOR_LIMITS.get(type(device), ())):
            _check_sensor_limit(node, name, found)
        # A prototype without sensorId, as in another program's file, cannot have one.
        can_have_id = node.proto is None or "sensorId" in node.proto.fields
        if device.id < 0 and "sensorId" not in node.offsets and can_have_id:
            message = f"{label(node)} has no sensorId"
            found.report(rules.SENSOR_ID_MISSING, message, node.location)


def _check_sensor_limit(node: Node, name: str, found: Diagnostics) -> None:
    limits = nodes.vector(node, name, (-1.0, -1.0, -1.0))
    # −1 is the document's way to say that there is no limit.
    if any(number <= 0 and number != -1 for number in limits):
        shown = " ".join(f"{number:g}" for number in limits)
        message = (
            f"{name} of {label(node)} is {shown}, expected positive numbers, "
            "or -1 for no limit"
        )
        found.report(rules.SENSOR_LIMIT, message, node.location_of(name))


def _check_ids(tree: TreeReader, humanoid: Node, found: Diagnostics) -> None:
    """Check that moving joints have ids, in the order of links."""
    ids: dict[int, None] = {}
    for link, node in zip(tree.links, tree.joint_nodes, strict=True):
        joint = link.joint
        if joint.id < 0:
            # The root need not have one: its motion is not in a column.
            moves = link.index and joint.type in ("rotate", "slide", "crawler")
            if moves and found.is_known(("links", link.index, "id")):
                message = f"{label(node)} has no jointId"
                found.report(rules.ID_MISSING, message, node.location)
            continue
        # fixed and free joints have no column: the id is kept.
        if joint.type in ("fixed", "free"):
            message = (
                f"{label(node)} is {joint.type} and has jointId {joint.id}: "
                "this column has no effect"
            )
            found.report(rules.ID_UNUSED, message, node.location_of("jointId"))
        ids.setdefault(joint.id)
    if list(ids) != sorted(ids):
        message = "the jointIds do not have the order of the links"
        found.report(rules.ID_ORDER, message, humanoid.location)


def _check_numbers(tree: TreeReader, _humanoid: Node, found: Diagnostics) -> None:
    """Report masses that are not finite only when the Segments of a Joint are added."""
    for link, node in zip(tree.links, tree.joint_nodes, strict=True):
        # Sums may overflow, although each number is finite.
        sums = [link.mass, *link.center_of_mass, *link.inertia.flat]
        if np.isfinite(sums).all():
            continue
        message = (
            f"mass, centre of mass or inertia of {label(node)}, the sum of its "
            "Segments, is not finite"
        )
        hint = "its Segments have numbers that are too large"
        found.report(NOT_FINITE, message, node.location, hint=hint)
        for attribute in SEGMENT_FIELDS:
            found.mark_unknown(("links", link.index, attribute))
