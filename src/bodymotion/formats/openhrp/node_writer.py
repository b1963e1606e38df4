"""Make the nodes of a written body.

They are Joints, Segments with shapes, sensors and ExtraJoints; besides, the prototypes
that the model declares, the fields that are only kept in `extra`, and names that are
legal and unique.
"""

import math
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import losses
from bodymotion.diagnostics.losses import Report
from bodymotion.formats.openhrp.nodes import (
    CLASSES,
    EXTRA_JOINT_USED,
    JOINT_TYPES,
    LIMITS,
    MAX_ID,
    MOTOR_FIELDS,
    POSE_FIELDS,
    SEGMENT_USED,
    SENSOR_FIELDS,
)
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.vrml import (
    FieldDeclaration,
    Node,
    Proto,
    Scene,
    Value,
    read_vrml,
)
from bodymotion.formats.vrml.fields import STANDARD_NODES
from bodymotion.formats.vrml.nodes import visits
from bodymotion.formats.vrml.shape_writer import (
    ShapeWriter,
    holds,
    rotation_value,
    transform_fields,
)
from bodymotion.formats.vrml.writer import is_name, legal_name, scene_pieces
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Mesh, Shape, Texture
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import Device, Joint, OtherDevice, Segment

MAX_TRANSFORM = 1e100
"""Numbers of a Transform; nested ones with larger numbers would overflow."""
MAX_NAMES = 8
"""Names that a message lists."""
MAX_STEM = 100
"""[characters] The name of a file of shapes."""
ROUNDING = 1e-12
"""Difference of a unit vector or quaternion from one that is written in digits."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which UTF-8 cannot hold."""

ROWS = {2: ("MFVec2f",), 3: ("MFVec3f", "MFColor"), 4: ("MFRotation",)}
VECTOR_TYPES = {2: ("SFVec2f",), 3: ("SFVec3f", "SFColor"), 4: ("SFRotation",)}
ALL_LIST_TYPES = (
    *("MFFloat", "MFInt32", "MFString", "MFNode", "MFVec2f"),
    *("MFVec3f", "MFColor", "MFRotation", "MFTime"),
)
LIST_TYPES = {"SFFloat": "MFFloat", "SFInt32": "MFInt32", "SFString": "MFString"}

_FILE = Path(__file__).with_name("prototypes.wrl")
REMARKS = {
    name: remark
    for remark, name in re.findall(r"# (.*)\nPROTO (\w+)", _FILE.read_text("utf-8"))
}
"""By the names of prototypes, the comments above their declarations."""
OPTIONAL = {("Joint", "climit"): "MFFloat", ("Joint", "equivalentInertia"): "SFFloat"}
"""Fields that readers know and that the prototypes of the document do not declare.

Declared where a model has them.
"""

DEFAULT = Joint()
WRITTEN = (
    *("jointType", "jointId", "jointAxis", "translation", "rotation", "children"),
    *(name for name, _ in LIMITS.values()),
    *MOTOR_FIELDS.values(),
)
RESERVED = {
    *STANDARD_NODES,
    *CLASSES,
    *("Humanoid", "Joint", "Segment", "ExtraJoint", "Surface", "WorldInfo"),
}
"""Names that a device of another type cannot have."""


class Names:
    """The names that are used in one file."""

    def __init__(self, renamed: Renamings) -> None:
        self._renamed = renamed
        self.used_names: set[str] = set()
        self._count: dict[str, int] = {}

    def unique(self, name: str, kind: str) -> str:
        """Return the name where it is legal and unused, else a similar one.

        A changed name is reported. An empty name stays empty. `kind` is that of the
        part: "joint", "segment", ….
        """
        # No name means no DEF: nothing to make unique.
        if not name:
            return ""
        legal = legal_name(name)
        free = legal
        while free in self.used_names:
            # Counting continues from the last number, so many of one name do not become
            # slower.
            self._count[legal] = self._count.get(legal, 1) + 1
            free = f"{legal}_{self._count[legal]}"
        # A USE or a name in ExtraJoint finds the first node of this name.
        self.used_names.add(free)
        return self._renamed.add(kind, name, free)


class FieldValue(NamedTuple):
    """A value in the form of a field.

    `types` are the possible types of the field, the best first; none where no field can
    hold the value.
    """

    value: Value
    types: tuple[str, ...]


NO_FIELD = FieldValue(None, ())


def as_value(value: object) -> FieldValue:
    """Return a value in the form of a field."""
    # An SFNode may be NULL.
    if value is None:
        return FieldValue(None, ("SFNode",))
    if isinstance(value, str):
        # Half a character cannot be written.
        types = () if _SURROGATE.search(value) else ("SFString",)
        return FieldValue(value, types)
    # Mixed lists have no type in VRML97.
    if isinstance(value, (list, tuple)) and len(value):
        texts = [str(item) for item in value if isinstance(item, str)]
        if len(texts) == len(value):
            return FieldValue(texts, ("MFString",))
    try:
        array = np.asarray(value)
    except ValueError:
        # Lists of unequal lengths make no array.
        return NO_FIELD
    # A truth value; an array of them has no type.
    if array.dtype.kind == "b" and array.ndim == 0:
        return FieldValue(bool(array), ("SFBool",))
    return _as_numbers(array)


def _as_numbers(array: npt.NDArray[Any]) -> FieldValue:
    # A field has a number, a list, or a list of vectors; nan and inf are no VRML97.
    if array.dtype.kind not in "iuf" or array.ndim > 2 or not np.isfinite(array).all():
        return NO_FIELD
    if array.ndim == 0:
        return _single_number(array)
    return _list_of_numbers(array)


def _fits_int32(array: npt.NDArray[Any]) -> bool:
    is_whole = array.dtype.kind in "iu"
    return bool(is_whole and array.min() >= -(2**31) and array.max() < 2**31)


def _single_number(array: npt.NDArray[Any]) -> FieldValue:
    if _fits_int32(array):
        # The best type first: whole numbers read back as int.
        return FieldValue(int(array), ("SFInt32", "SFFloat", "SFTime"))
    number = float(array)
    # An integer of 64 bits may have more digits than a float.
    if number != array.item():
        return FieldValue(number, ())
    return FieldValue(number, ("SFFloat", "SFTime"))


def _list_of_numbers(array: npt.NDArray[Any]) -> FieldValue:
    width = array.shape[-1]
    row_types = ROWS.get(width, ())
    if not array.size:
        # An empty list fits every list type; an empty array (0, K) only those of rows.
        return FieldValue([], ALL_LIST_TYPES if array.ndim == 1 else row_types)
    if array.ndim == 2:
        return FieldValue(array.astype(np.float64), row_types)
    # A vector, if it has the length of one; any number of numbers is an MFFloat.
    types = (*VECTOR_TYPES.get(width, ()), "MFFloat", "MFTime")
    if _fits_int32(array):
        return FieldValue(array.astype(np.int32), ("MFInt32", *types))
    return FieldValue(array.astype(np.float64), types)


class KeptFields:
    """The kept fields of all nodes of one kind.

    `types` are those that `proto` declares beside the fields of the document.
    """

    def __init__(
        self, kind: str, extras: Sequence[Mapping[str, object]], report: Report
    ) -> None:
        self.kind = kind
        self.report = report
        self.types: dict[str, str] = {}
        self.proto = prototype(kind)
        self._all: dict[str, str] = {}
        # Types of the document come first: a kept value must fit them.
        for name, field in self.proto.fields.items():
            if field.access in ("field", "exposedField"):
                self._all[name] = field.type
        for name, types in self._possible_types(extras).items():
            if is_name(name):
                # The first type that can hold the values of all nodes.
                self.types[name] = OPTIONAL.get((kind, name), types[0])
        self._all |= self.types
        # A changed interface needs a prototype of its own; the document's is shared.
        if self.types:
            fields = dict(self.proto.fields)
            for name, field_type in self.types.items():
                fields[name] = FieldDeclaration("exposedField", field_type, name)
            self.proto = Proto(self.proto.name, fields, self.proto.body)

    def _possible_types(
        self, extras: Sequence[Mapping[str, object]]
    ) -> dict[str, tuple[str, ...]]:
        """Return the types that can hold the values of all nodes, by field."""
        possible: dict[str, tuple[str, ...]] = {}
        for extra in extras:
            for name, value in extra.items():
                if name in self._all or not isinstance(name, str):
                    # Fields of the document have a type already, and keys may be no
                    # texts.
                    continue
                types = as_value(value).types
                if types:
                    before = possible.get(name, types)
                    # Types that hold the values of all nodes up to here; where none
                    # does, the first node's.
                    both = tuple(kind for kind in before if kind in types)
                    possible[name] = both or before
        return possible

    def of(
        self, extra: Mapping[str, object], used: Collection[str] = ()
    ) -> dict[str, Value]:
        """Return the fields of one node.

        Report what cannot be kept. Names in `used` are written elsewhere, "mjcf" is
        reported so.
        """
        fields: dict[str, Value] = {}
        left_out: list[str] = []
        for name, item in extra.items():
            # "mjcf" is kept of MuJoCo's files and reported by `mjcf_losses`.
            if name in used or name == "mjcf":
                continue
            value, types = as_value(item)
            declared = self._all.get(name, "")
            if declared in types:
                fields[name] = value
            elif any(LIST_TYPES.get(single) == declared for single in types):
                # A single value in a field of lists: others of its kind have several.
                if isinstance(value, str):
                    fields[name] = [value]
                else:
                    fields[name] = np.array([value])
                message = f"{self.kind}: {name} {item!r:.60} becomes a list of one"
                self.report(losses.KEPT_VALUE, message)
            else:
                left_out.append(str(name))
        if left_out:
            names = ", ".join(left_out[:MAX_NAMES])
            if len(left_out) > MAX_NAMES:
                names += f" and {len(left_out) - MAX_NAMES} more"
            self.report(losses.KEPT_VALUE, f"{self.kind}: no field holds {names}")
        return fields


@cache
def _declared() -> Mapping[str, Proto]:
    return read_vrml(_FILE).protos


@cache
def prototype(name: str) -> Proto:
    """Return one of the document's prototypes.

    For a device that the document does not have, that of a Sensor.
    """
    return _declared().get(name) or replace(_declared()["Sensor"], name=name)


def prototypes_of(nodes: list[Node]) -> list[Proto]:
    """Return the prototypes of nodes and of all in them, in the order of the document.

    Others come last, by their names.
    """
    # `visits` yields nodes in Segments and Surfaces too.
    protos = {node.type: node.proto for node in visits(nodes) if node.proto is not None}
    in_document = [protos.pop(name) for name in REMARKS if name in protos]
    return in_document + [protos[name] for name in sorted(protos)]


def moved(
    matrix: Floats, children: list[Node], title: str, report: Report
) -> list[Node]:
    """Return nodes under a Transform (none where it would have no effect).

    Report where it is not exactly the matrix (4, 4).
    """
    # `not <` is also true for nan.
    if not np.abs(matrix).max() < MAX_TRANSFORM:
        message = "a transform that is not finite, or close to that, is left out"
        report(losses.PLACE, f"{title}: {message}")
        return children
    fields = transform_fields(matrix)
    # An affine matrix has the last row 0 0 0 1; fields cannot hold others.
    if not holds(matrix, fields):
        message = "a transform that is not affine is written as the nearest one"
        report(losses.PLACE, f"{title}: {message}")
    if fields:
        return [Node("Transform", fields={**fields, "children": children})]
    return children


def shape_nodes(
    segment: Segment, writer: ShapeWriter, title: str, *, surfaces: bool
) -> list[Node]:
    """Return the nodes for the shapes of a segment.

    They are in an order in which both kinds are read back as they are. A shape that is
    both visual and collision shape is one node. Others become Surface nodes with
    `surfaces`, else VRML97's Collision.
    """
    nodes: list[Node] = []
    # Runs of one use share a node: Surface, Collision, or none for both.
    merged = _merged(segment.visuals, segment.collisions)
    for use, run in groupby(merged, key=lambda item: item[0]):
        shapes = _grouped([shape for _, shape in run], writer, title)
        # A Shape of a Segment is drawn and collides: it needs no node around it.
        if not shapes or use == "both":
            nodes += shapes
        elif not surfaces:
            nodes.append(_collision_node(use, shapes))
        elif use == "collision" and _lacks_collision(nodes):
            # A visual run right before: both fit into one Surface.
            nodes[-1].fields["collision"] = shapes
        else:
            proto = prototype("Surface")
            nodes.append(Node("Surface", fields={use: shapes}, proto=proto))
    return nodes


def _collision_node(use: str, shapes: list[Node]) -> Node:
    """Return a Collision whose children do not collide, or whose proxy is not seen."""
    if use == "visual":
        # A Collision draws its children and collides with its proxy.
        return Node("Collision", fields={"collide": False, "children": shapes})
    proxy = Node("Group", fields={"children": shapes})
    return Node("Collision", fields={"proxy": proxy})


def _lacks_collision(nodes: list[Node]) -> bool:
    if not nodes or nodes[-1].type != "Surface":
        return False
    return "collision" not in nodes[-1].fields


def _merged(
    visuals: Sequence[Shape], collisions: Sequence[Shape]
) -> list[tuple[str, Shape]]:
    """Merge two lists into one that has each in its order.

    What is in both, in the same order, is one item. Meshes are the same when they are
    one object.
    """
    merged: list[tuple[str, Shape]] = []
    visual_keys = list(map(_key, visuals))
    collision_keys = list(map(_key, collisions))
    # autojunk would ignore shapes that occur often in a body of many shapes.
    matcher = SequenceMatcher(None, visual_keys, collision_keys, autojunk=False)
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind == "equal":
            merged += [("both", shape) for shape in visuals[start:end]]
            continue
        merged += [("visual", shape) for shape in visuals[start:end]]
        merged += [("collision", shape) for shape in collisions[other_start:other_end]]
    return merged


def _key(shape: Shape) -> object:
    """Return what two shapes have in common that are written as one."""
    geometry: object = shape.geometry
    # Meshes are compared by identity: their arrays may be large.
    if hasattr(geometry, "vertices"):
        geometry = id(geometry)
    # Textures are compared as objects: their paths would be looked up in the file
    # system.
    look = replace(shape.material, texture=None)
    return (
        shape.name,
        geometry,
        # + 0.0 makes −0 and 0 the same bytes.
        (shape.transform + 0.0).tobytes(),
        # By value: equal materials may be different objects.
        *(getattr(look, field.name) for field in fields(look)),
        id(shape.material.texture),
    )


def _grouped(shapes: Sequence[Shape], writer: ShapeWriter, title: str) -> list[Node]:
    """Return shapes under their Transforms.

    One for all that follow each other with the same one.
    """
    nodes: list[Node] = []
    for _, run in groupby(shapes, key=lambda shape: (shape.transform + 0.0).tobytes()):
        together = list(run)
        children: list[Node] = []
        for shape in together:
            children += writer.nodes(shape)
        if children:
            nodes += moved(together[0].transform, children, title, writer.report)
    return nodes


def joint_fields(
    joint: Joint, offset: Floats, title: str, report: Report
) -> dict[str, Value]:
    """Return the fields of a Joint, except those that are only kept.

    Defaults of the document are left out.
    """
    fields: dict[str, Value] = {"jointType": _type(joint)}
    if -1 < joint.id <= MAX_ID:
        # −1 is the document's default: no id.
        fields["jointId"] = joint.id
    elif joint.id != -1:
        report(losses.NUMBER_RANGE, f"{title} has the id {joint.id}: left out")
    axis = _axis(joint)
    # The axis of other types has no effect: it is written only where it is not the
    # default.
    has_axis = joint.type in ("rotate", "slide", "crawler")
    if has_axis or not np.array_equal(axis, DEFAULT.axis):
        if np.isfinite(axis).all():
            fields["jointAxis"] = axis
        else:
            message = f"{title}: an axis that is not finite is left out"
            report(losses.NUMBER_RANGE, message)
    fields |= pose_fields(offset, title, report)
    fields |= _limit_fields(joint, title, report)
    for attribute, name in MOTOR_FIELDS.items():
        number = {name: getattr(joint, attribute)}
        default = getattr(DEFAULT, attribute)
        fields |= vector_fields(number, title, report, default)
    return fields


def _limit_fields(joint: Joint, title: str, report: Report) -> dict[str, Value]:
    """Return the limits of a joint.

    Of those that are lists, the list of the file.
    """
    # In the document limits are lists: a file may have more numbers than the one read.
    fields: dict[str, Value] = {}
    for attribute, (name, none) in LIMITS.items():
        limit = float(getattr(joint, attribute))
        in_file, types = as_value(joint.extra.get(name))
        has_others = (
            isinstance(in_file, np.ndarray)
            and "MFFloat" in types
            and len(in_file) > 1
            and in_file[0] == limit
        )
        # The first number is the limit, so the file's list is still right.
        if has_others:
            fields[name] = in_file
        elif math.isfinite(limit):
            fields[name] = np.array([limit])
        elif limit != none:
            report(losses.NUMBER_RANGE, f"{title}: {name} {limit} is left out")
    return fields


def _type(joint: Joint) -> str:
    """Return the type by the name that the file had for it."""
    in_file = joint.extra.get("jointType")
    # pseudoContinuousTrack and agx_crawler are read as crawler.
    if isinstance(in_file, str) and JOINT_TYPES.get(in_file) == joint.type:
        return in_file
    return joint.type


def _axis(joint: Joint) -> Floats:
    """Return the axis as the file had it.

    It need not have been of length 1.
    """
    axis = joint.extra.get("jointAxis")
    if not isinstance(axis, np.ndarray) or axis.shape != (3,):
        return joint.axis
    if not np.isfinite(axis).all():
        return joint.axis
    # Scaled first: the squares of a huge axis would be infinite.
    largest = np.abs(axis).max()
    unit = DEFAULT.axis
    if largest > 0:
        unit = axis / largest
    unit = unit / np.linalg.norm(unit)
    # The kept axis counts only while nobody has changed the joint's axis since.
    if np.abs(unit - joint.axis).max() <= ROUNDING:
        return axis
    return joint.axis


def pose_fields(pose: Floats, title: str, report: Report) -> dict[str, Value]:
    """Return translation and rotation of a pose (7,).

    Those without effect are left out.
    """
    fields = vector_fields({"translation": pose[:3]}, title, report)
    quaternion = pose[3:]
    if not np.isfinite(quaternion).all() or not quaternion.any():
        message = f"the orientation {quaternion.tolist()} is none, and left out"
        report(losses.PLACE, f"{title}: {message}")
        return fields
    length = np.linalg.norm(quaternion)
    # A rotation has no length: axis and angle lose it.
    if abs(length - 1.0) > ROUNDING:
        message = f"the quaternion of length {length:.9g} is written as its rotation"
        report(losses.ORIENTATION, f"{title}: {message}")
    rotation = rotation_value(quaternion)
    if rotation is not None:
        fields["rotation"] = rotation
    return fields


def vector_fields(
    values: Mapping[str, npt.ArrayLike],
    title: str,
    report: Report,
    default: npt.ArrayLike = 0.0,
) -> dict[str, Value]:
    """Return numbers and vectors that are finite and not the default as fields.

    Report the others.
    """
    fields: dict[str, Value] = {}
    for name, value in values.items():
        array = np.asarray(value, dtype=np.float64)
        if not np.isfinite(array).all():
            report(losses.NUMBER_RANGE, f"{title}: {name} {array.tolist()} is left out")
        elif (array != default).any():
            # A single number as float, a vector as an array.
            fields[name] = array if array.ndim else float(array)
    return fields


class SegmentWriter:
    """Writes the segments of one body.

    `parts` are the scenes in separate files in a `folder`, by their paths.
    `bound` are the names of Joints and Segments that shapes must not reuse.
    """

    def __init__(
        self,
        body: Body,
        names: Names,
        report: Report,
        url: Callable[[Texture, bool], str],
        folder: Path | None,
    ) -> None:
        self.names = names
        self.report = report
        self.url = url
        self.folder = folder
        self.parts: dict[Path, Scene] = {}
        self.bound: set[str] = set()
        self.shapes = ShapeWriter(
            report, lambda texture: url(texture, False), self._shape_name
        )
        extras: list[Mapping[str, object]] = []
        for link in body.links:
            # One prototype for all Segments: its fields must hold the extras of all of
            # them.
            extras += [segment.extra for segment in link.segments]
        self._kept = KeptFields("Segment", extras, report)
        self._by_name: dict[str, tuple[Segment, Node]] = {}
        """By the names of segments in the body, the first one and its node."""
        self._part_names: set[str] = set()

    def name(self, segment: Segment) -> str:
        """Return a unique name for a segment.

        One that several links share unchanged has one name in all of them.
        """
        first = self._by_name.get(segment.name)
        if first is not None:
            other, node = first
            # Equal but for its place: one node, used several times.
            if replace(segment, transform=other.transform) == other:
                return node.name
        name = self.names.unique(segment.name, "segment")
        # Only the first of a name is shared.
        if segment.name and first is None:
            node = Node("Segment", name, proto=self._kept.proto)
            self._by_name[segment.name] = (segment, node)
        return name

    def nodes(self, segment: Segment, name: str, is_last: bool) -> list[Node]:
        """Return the nodes of a segment.

        Only its shapes where it has nothing else and is the last of its link, as it is
        read.
        """
        title = f"Segment {name!r}"
        shared = None
        # Segments that share a name share a node, if they are the same.
        if name and segment.name in self._by_name:
            first = self._by_name[segment.name][1]
            shared = first if first.name == name else None
        # Its fields are made already: USE of the node under another Transform.
        if shared is not None and shared.fields:
            return moved(segment.transform, [shared], title, self.report)
        has_shapes = bool(segment.visuals or segment.collisions)
        # Without mass, name and extra nothing but shapes is left.
        bare = Segment(visuals=segment.visuals, collisions=segment.collisions)
        if is_last and has_shapes and segment == bare:
            # The reader makes such a Segment of shapes that are in the Joint itself, at
            # its end.
            return self._shapes(segment, name or "shapes")
        fields = self._mass_fields(segment, title)
        fields |= self._kept.of(segment.extra, SEGMENT_USED)
        fields["children"] = self._shapes(segment, name)
        node = shared
        if node is None:
            node = Node("Segment", name, proto=self._kept.proto)
        node.fields |= fields
        return moved(segment.transform, [node], title, self.report)

    def _mass_fields(self, segment: Segment, title: str) -> dict[str, Value]:
        numbers: dict[str, npt.ArrayLike] = {
            "mass": segment.mass,
            "centerOfMass": segment.center_of_mass,
        }
        fields: dict[str, Value] = {"mass": 0.0}
        fields |= vector_fields(numbers, title, self.report)
        if not np.isfinite(segment.inertia).all():
            message = f"{title}: an inertia that is not finite is left out"
            self.report(losses.NUMBER_RANGE, message)
        elif segment.inertia.any():
            # Row by row (9,).
            fields["momentsOfInertia"] = segment.inertia.reshape(-1)
        return fields

    def _shapes(self, segment: Segment, name: str) -> list[Node]:
        """Return the shapes of a segment, or an Inline of their file."""
        title = f"Segment {name!r}"
        shapes = (*segment.visuals, *segment.collisions)
        has_mesh = any(isinstance(shape.geometry, Mesh) for shape in shapes)
        # Files of parts are for meshes: primitives are short.
        if self.folder is None or not has_mesh:
            return shape_nodes(segment, self.shapes, title, surfaces=True)
        # A part has its own names: nothing in it can be confused with the model's.
        writer = ShapeWriter(self.report, lambda texture: self.url(texture, True))
        nodes = shape_nodes(segment, writer, title, surfaces=True)
        # Each file declares the prototypes that it uses.
        protos = {proto.name: proto for proto in prototypes_of(nodes)}
        scene = Scene(nodes=nodes, protos=protos)
        # Only characters that every file system and every url allows.
        stem = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:MAX_STEM] or "shapes"
        path = self.folder / f"{stem}.wrl"
        count = 1
        # Free also where capital letters are ignored.
        while path.name.lower() in self._part_names or not _fits(path, scene):
            count += 1
            path = self.folder / f"{stem}_{count}.wrl"
        self._part_names.add(path.name.lower())
        self.parts[path] = scene
        # Relative, so that the model and its folder can be moved together.
        return [Node("Inline", fields={"url": [f"{self.folder.name}/{path.name}"]})]

    def _shape_name(self, name: str) -> str:
        """Return the name of a Shape.

        It must not be that of a Joint or Segment before it, which the lists name.
        """
        # USE and the lists of the Humanoid come after all nodes and would find the
        # shape.
        if not name or (is_name(name) and name not in self.bound):
            return name
        return self.names.unique(name, "shape")


def _fits(path: Path, scene: Scene) -> bool:
    """Return whether a part can be written here.

    No file is there, or one with just this part.
    """
    if not os.path.lexists(path):
        return True
    try:
        with path.open("rb") as stream:
            # Piece by piece: the part may be large.
            for piece in scene_pieces(scene, REMARKS):
                if stream.read(len(piece)) != piece:
                    return False
            return not stream.read(1)
    except OSError:
        return False


class DeviceWriter:
    """Makes sensor nodes for the devices of a body.

    Types that the document lacks get prototypes of their own.
    """

    def __init__(self, body: Body, report: Report, renamed: Renamings) -> None:
        self.report = report
        self._renamed = renamed
        self._types: dict[str, str] = {}
        by_type: dict[str, list[Device]] = {}
        for device in body.devices:
            # By type: the devices of one type share a prototype, so their extras share
            # its fields.
            by_type.setdefault(self._node_type(device), []).append(device)
        self._kept: dict[str, KeptFields] = {}
        for node_type, devices in by_type.items():
            extras = [device.extra for device in devices]
            kept = KeptFields(node_type, extras, report)
            self._kept[node_type] = kept
            if node_type not in CLASSES:
                # The document's sensors have a default for each field; others get 0 or
                # "".
                self._report_shared(node_type, devices, kept)

    def _report_shared(
        self, node_type: str, devices: list[Device], kept: KeptFields
    ) -> None:
        """Report fields that devices get from others: a prototype has them for all."""
        for device in devices:
            names = ", ".join(name for name in kept.types if name not in device.extra)
            if names:
                message = (
                    f"{node_type} {device.name!r} gets {names}, "
                    "which others of its type have"
                )
                self.report(losses.KEPT_VALUE, message)

    def _node_type(self, device: Device) -> str:
        """Return the name of the node type of a device."""
        if not isinstance(device, OtherDevice):
            return device.kind
        # Two types may become one legal name: each gets its own.
        if device.type not in self._types:
            name = device.type
            if not is_name(name):
                name = legal_name(name, "Device")
            # A type of its own must not hide a node of the standard or of the document.
            if name in RESERVED:
                name += "Device"
            while name in RESERVED or name in self._types.values():
                name += "_"
            self._renamed.add("device type", device.type, name)
            self._types[device.type] = name
        return self._types[device.type]

    def node(self, device: Device, name: str) -> Node:
        """Make the node of a device."""
        node_type = self._node_type(device)
        kept = self._kept[node_type]
        title = f"{node_type} {device.name!r}"
        fields: dict[str, Value] = {}
        # sensorId is an SFInt32.
        if -(2**31) <= device.id < 2**31 and device.id != -1:
            fields["sensorId"] = int(device.id)
        elif device.id != -1:
            message = f"{title} has the id {device.id}: left out"
            self.report(losses.NUMBER_RANGE, message)
        fields |= pose_fields(device.pose, title, self.report)
        names = SENSOR_FIELDS.get(type(device), {})
        for attribute, field in names.items():
            value = getattr(device, attribute)
            # Fields at their defaults are left out.
            default = getattr(type(device)(), attribute)
            if not isinstance(default, (str, int)):
                fields |= vector_fields({field: value}, title, self.report, default)
                continue
            wanted = "SFString" if isinstance(default, str) else "SFInt32"
            written, types = as_value(value)
            # Half a character in a text, or an integer of more than 32 bits.
            if wanted not in types:
                message = f"{title}: {field} {value!r:.60} is left out"
                self.report(losses.NUMBER_RANGE, message)
            elif written != default:
                fields[field] = written
        fields |= kept.of(device.extra, (*POSE_FIELDS, *names.values()))
        return Node(node_type, name, fields, kept.proto)


def extra_joint_nodes(
    extra_joints: Sequence[ExtraJoint],
    joints: Mapping[int, Node],
    names: Names,
    report: Report,
) -> list[Node]:
    """Return the nodes; `joints` are the Joint nodes by the numbers of their links."""
    kept = KeptFields("ExtraJoint", [extra.extra for extra in extra_joints], report)
    nodes = []
    for extra in extra_joints:
        title = f"ExtraJoint {extra.name!r}"
        # Joints that extra joints name always have a name: see `_joint_names`.
        first, second = extra.links
        fields: dict[str, Value] = {
            "link1Name": joints[first].name,
            "link2Name": joints[second].name,
        }
        positions: dict[str, npt.ArrayLike] = {
            "link1LocalPos": extra.positions[0],
            "link2LocalPos": extra.positions[1],
        }
        fields |= vector_fields(positions, title, report)
        fields["jointType"] = extra.type
        axis = {"jointAxis": extra.axis}
        fields |= vector_fields(axis, title, report, (1.0, 0.0, 0.0))
        fields |= kept.of(extra.extra, EXTRA_JOINT_USED)
        name = names.unique(extra.name, "extra joint")
        nodes.append(Node("ExtraJoint", name, fields, kept.proto))
    return nodes
