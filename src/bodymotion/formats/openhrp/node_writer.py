"""The nodes of a written body.

Joints, Segments with shapes, sensors and ExtraJoints; and what comes before and around
them.

The prototypes that a written model declares, the fields that are only kept in `extra`,
and names that are legal and unique.
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
from bodymotion.formats.vrml.nodes import visits
from bodymotion.formats.vrml.shape_writer import (
    ShapeWriter,
    holds,
    rotation_value,
    transform_fields,
)
from bodymotion.formats.vrml.values import STANDARD_NODES
from bodymotion.formats.vrml.writer import is_name, legal_name, scene_pieces
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Mesh, Shape, Texture
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import Device, Joint, OtherDevice, Segment

MAX_TRANSFORM = 1e100  # Nested Transforms with larger numbers would overflow.

ROWS = {2: ("MFVec2f",), 3: ("MFVec3f", "MFColor"), 4: ("MFRotation",)}
VECTOR_TYPES = {2: ("SFVec2f",), 3: ("SFVec3f", "SFColor"), 4: ("SFRotation",)}
ALL_LIST_TYPES = (
    "MFFloat",
    "MFInt32",
    "MFString",
    "MFNode",
    "MFVec2f",
    "MFVec3f",
    "MFColor",
    "MFRotation",
    "MFTime",
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
    "Humanoid",
    "Joint",
    "Segment",
    "ExtraJoint",
    "Surface",
    "WorldInfo",
}
"""Names that a device of another type cannot have."""


class Names:
    """The names that are used in one file."""

    def __init__(self, renamed: Renamings) -> None:
        self._renamed = renamed
        self.used_names: set[str] = set()
        self._count: dict[str, int] = {}

    def unique(self, name: str, kind: str) -> str:
        """Return the name where it is legal and unused, else a similar one, which is reported.

        An empty name stays empty.

        `kind` is that of the part: "joint", "segment", ….
        """
        if not name:
            return ""
        legal = legal_name(name)
        free = legal
        while free in self.used_names:
            # Counting continues from the last number, so many of one name do not become
            # slower.
            self._count[legal] = self._count.get(legal, 1) + 1
            free = f"{legal}_{self._count[legal]}"
        self.used_names.add(free)
        return self._renamed.add(kind, name, free)


def as_value(value: object) -> tuple[Value, tuple[str, ...]]:
    """Return a value in the form of a field, and the possible types of the field, the best first.

    None where no field can hold it.
    """
    if value is None:
        return None, ("SFNode",)
    if isinstance(value, str):
        return value, () if any(
            "\ud800" <= letter <= "\udfff" for letter in value
        ) else ("SFString",)
    if (
        isinstance(value, (list, tuple))
        and len(value)
        and all(isinstance(item, str) for item in value)
    ):
        return [str(item) for item in value], ("MFString",)
    try:
        array = np.asarray(value)
    except ValueError:
        return None, ()
    kind = array.dtype.kind
    if array.ndim:
        size = array.shape[-1]
    else:
        size = 1
    if kind == "b" and array.ndim == 0:
        return bool(array), ("SFBool",)
    if kind not in "iuf" or array.ndim > 2 or not np.isfinite(array).all():
        return None, ()
    if not array.size:
        return [], ALL_LIST_TYPES if array.ndim == 1 else ROWS.get(size, ())
    if array.ndim == 2:
        return array.astype(np.float64), ROWS.get(size, ())
    whole = kind in "iu" and array.min() >= -(2**31) and array.max() < 2**31
    if array.ndim == 0:
        single = ("SFInt32", "SFFloat", "SFTime") if whole else ("SFFloat", "SFTime")
        return (int(array) if whole else float(array)), single if whole or float(
            array
        ) == array.item() else ()
    types = (*VECTOR_TYPES.get(size, ()), "MFFloat", "MFTime")
    if whole:
        return (array.astype(np.int32), ("MFInt32", *types))
    return (array.astype(np.float64), types)


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
        self._all = {
            name: field.type
            for name, field in self.proto.fields.items()
            if field.access.endswith("ield")
        }
        possible: dict[str, tuple[str, ...]] = {}
        for extra in extras:
            for name, value in extra.items():
                if name in self._all or not isinstance(name, str):
                    continue
                _, types = as_value(value)
                if types:
                    before = possible.get(name, types)
                    possible[name] = (
                        tuple(kind for kind in before if kind in types) or before
                    )
        for name, types in possible.items():
            if is_name(name):
                self.types[name] = OPTIONAL.get((kind, name), types[0])
        self._all |= self.types
        if self.types:
            added = {
                name: FieldDeclaration("exposedField", kind, name)
                for name, kind in self.types.items()
            }
            self.proto = Proto(
                self.proto.name, {**self.proto.fields, **added}, self.proto.body
            )

    def of(
        self, extra: Mapping[str, object], used: Collection[str] = ()
    ) -> dict[str, Value]:
        """Return the fields of one node.

        Report what cannot be kept. Names in `used` are written elsewhere, "mjcf" is
        reported so.
        """
        fields: dict[str, Value] = {}
        left: list[str] = []
        for name, item in extra.items():
            if name in used or name == "mjcf":
                continue
            value, types = as_value(item)
            kind = self._all.get(name, "")
            if kind in types:
                fields[name] = value
            elif any(LIST_TYPES.get(single) == kind for single in types):
                fields[name] = [value] if isinstance(value, str) else np.array([value])
                self.report(
                    losses.KEPT_VALUE,
                    f"{self.kind}: {name} {item!r:.60} becomes a list of one",
                )
            else:
                left.append(str(name))
        if left:
            names = ", ".join(left[:8]) + (
                f" and {len(left) - 8} more" if len(left) > 8 else ""
            )
            self.report(losses.KEPT_VALUE, f"{self.kind}: no field holds {names}")
        return fields


@cache
def _declared() -> Mapping[str, Proto]:
    return read_vrml(_FILE).protos


@cache
def prototype(name: str) -> Proto:
    """Return one of the document's prototypes, or that of a device which the document does not have."""
    return _declared().get(name) or replace(_declared()["Sensor"], name=name)


def prototypes_of(nodes: list[Node]) -> list[Proto]:
    """Return the prototypes of nodes and of all in them, in the order of the document."""
    found = {node.type: node.proto for node in visits(nodes) if node.proto is not None}
    known = list(REMARKS)
    return [
        found[name]
        for name in sorted(
            found, key=lambda n: (known.index(n) if n in known else len(known), n)
        )
    ]


def moved(
    matrix: Floats, children: list[Node], title: str, report: Report
) -> list[Node]:
    """Return nodes under a Transform (none where it would have no effect).

    Report where it is not exactly the matrix (4, 4).
    """
    if not np.abs(matrix).max() < MAX_TRANSFORM:
        report(
            losses.PLACE,
            f"{title}: a transform that is not finite, or close to that, is left out",
        )
        return children
    fields = transform_fields(matrix)
    if not holds(matrix, fields):
        report(
            losses.PLACE,
            f"{title}: a transform that is not affine is written as the nearest one",
        )
    if fields:
        return [Node("Transform", fields={**fields, "children": children})]
    return children


def shape_nodes(
    segment: Segment, writer: ShapeWriter, title: str, *, surfaces: bool
) -> list[Node]:
    """Return the nodes for the shapes of a segment, in an order in which both kinds are read back as they are.

    A shape that is both visual and collision shape is one node. Others become Surface
    nodes with `surfaces`, else VRML97's Collision.
    """
    nodes: list[Node] = []
    for use, run in groupby(
        _merged(segment.visuals, segment.collisions), key=lambda item: item[0]
    ):
        made = _grouped([shape for _, shape in run], writer, title)
        if not made or use == "both":
            nodes += made
        elif not surfaces and use == "visual":
            nodes.append(Node("Collision", fields={"collide": False, "children": made}))
        elif not surfaces:
            nodes.append(
                Node(
                    "Collision",
                    fields={"proxy": Node("Group", fields={"children": made})},
                )
            )
        elif (
            use == "collision"
            and nodes
            and nodes[-1].type == "Surface"
            and "collision" not in nodes[-1].fields
        ):
            nodes[-1].fields["collision"] = made
        else:
            nodes.append(
                Node("Surface", fields={use: made}, proto=prototype("Surface"))
            )
    return nodes


def _merged(
    visuals: Sequence[Shape], collisions: Sequence[Shape]
) -> list[tuple[str, Shape]]:
    """Merge two lists into one that has each in its order.

    What is in both, in the same order, is one item.

    Meshes are the same when they are one object.
    """
    found: list[tuple[str, Shape]] = []
    matcher = SequenceMatcher(
        None, list(map(_key, visuals)), list(map(_key, collisions)), autojunk=False
    )
    for kind, v, v_end, c, c_end in matcher.get_opcodes():
        use = "both" if kind == "equal" else "visual"
        found += [(use, shape) for shape in visuals[v:v_end]]
        found += [
            ("collision", shape) for shape in collisions[c:c_end] if use != "both"
        ]
    return found


def _key(shape: Shape) -> object:
    geometry = (
        id(shape.geometry) if hasattr(shape.geometry, "vertices") else shape.geometry
    )
    looks = [
        getattr(shape.material, field.name)
        for field in fields(shape.material)
        if field.name != "texture"
    ]
    return (
        shape.name,
        geometry,
        (shape.transform + 0.0).tobytes(),
        *looks,
        id(shape.material.texture),
    )


def _grouped(shapes: Sequence[Shape], writer: ShapeWriter, title: str) -> list[Node]:
    """Return shapes under their Transforms.

    One for all that follow each other with the same one.
    """
    nodes: list[Node] = []
    for _, run in groupby(shapes, key=lambda shape: (shape.transform + 0.0).tobytes()):
        together = list(run)
        made = [node for shape in together for node in writer.nodes(shape)]
        if made:
            nodes += moved(together[0].transform, made, title, writer.report)
    return nodes


def joint_fields(
    joint: Joint, offset: Floats, title: str, report: Report
) -> dict[str, Value]:
    """Return the fields of a Joint, except those that are only kept.

    Defaults of the document are left out.
    """
    fields: dict[str, Value] = {"jointType": _type(joint)}
    if -1 < joint.id <= MAX_ID:
        fields["jointId"] = joint.id
    elif joint.id != -1:
        report(losses.NUMBER_RANGE, f"{title} has the id {joint.id}: left out")
    axis = _axis(joint)
    if joint.type in ("rotate", "slide", "crawler") or not np.array_equal(
        axis, DEFAULT.axis
    ):
        if np.isfinite(axis).all():
            fields["jointAxis"] = axis
        else:
            report(
                losses.NUMBER_RANGE, f"{title}: an axis that is not finite is left out"
            )
    fields |= pose_fields(offset, title, report)
    for ours, (name, none) in LIMITS.items():
        value = float(getattr(joint, ours))
        kept, types = as_value(joint.extra.get(name))
        if (
            "MFFloat" in types
            and isinstance(kept, np.ndarray)
            and len(kept) > 1
            and kept[0] == value
        ):
            fields[name] = kept
        elif math.isfinite(value):
            fields[name] = np.array([value])
        elif value != none:
            report(losses.NUMBER_RANGE, f"{title}: {name} {value} is left out")
    for ours, name in MOTOR_FIELDS.items():
        fields |= vector_fields(
            {name: getattr(joint, ours)}, title, report, getattr(DEFAULT, ours)
        )
    return fields


def _type(joint: Joint) -> str:
    """Return the type by the name that the file had for it."""
    kept = joint.extra.get("jointType")
    if isinstance(kept, str) and JOINT_TYPES.get(kept) == joint.type:
        return kept
    return joint.type


def _axis(joint: Joint) -> Floats:
    """Return the axis as the file had it, which need not have been of length 1."""
    kept = joint.extra.get("jointAxis")
    if isinstance(kept, np.ndarray) and kept.shape == (3,) and np.isfinite(kept).all():
        largest = np.abs(kept).max()
        if largest > 0:
            unit = kept / largest
        else:
            unit = DEFAULT.axis
        if np.abs(unit / np.linalg.norm(unit) - joint.axis).max() <= 1e-12:
            return kept
    return joint.axis


def pose_fields(pose: Floats, title: str, report: Report) -> dict[str, Value]:
    """Return translation and rotation of a pose (7,).

    Those without effect are left out.
    """
    fields = vector_fields({"translation": pose[:3]}, title, report)
    quaternion = pose[3:]
    if not np.isfinite(quaternion).all() or not quaternion.any():
        report(
            losses.PLACE,
            f"{title}: the orientation {quaternion.tolist()} is none, and left out",
        )
        return fields
    if abs(np.linalg.norm(quaternion) - 1.0) > 1e-12:
        message = f"{title}: the quaternion of length {np.linalg.norm(quaternion):.9g} is written as its rotation"
        report(losses.ORIENTATION, message)
    if (rotation := rotation_value(quaternion)) is not None:
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
        self._kept = KeptFields(
            "Segment",
            [segment.extra for link in body.links for segment in link.segments],
            report,
        )
        self._known: dict[str, tuple[Segment, Node]] = {}
        self._part_names: set[str] = set()

    def name(self, segment: Segment) -> str:
        """Return a unique name for a segment.

        One that several links share unchanged has one name in all of them.
        """
        known = self._known.get(segment.name)
        if (
            known is not None
            and replace(segment, transform=known[0].transform) == known[0]
        ):
            return known[1].name
        name = self.names.unique(segment.name, "segment")
        if segment.name and known is None:
            self._known[segment.name] = (
                segment,
                Node("Segment", name, proto=self._kept.proto),
            )
        return name

    def nodes(self, segment: Segment, name: str, is_last: bool) -> list[Node]:
        """Return the nodes of a segment.

        Only its shapes where it has nothing else and is the last of its link, as it is
        read.
        """
        known = self._known.get(segment.name)
        if known is not None and known[1].name == name and name:
            shared = known[1]
        else:
            shared = None
        if shared is not None and shared.fields:
            return moved(segment.transform, [shared], f"Segment {name!r}", self.report)
        bare = Segment(visuals=segment.visuals, collisions=segment.collisions)
        if is_last and (segment.visuals or segment.collisions) and segment == bare:
            return self._shapes(segment, name or "shapes")
        title = f"Segment {name!r}"
        numbers: dict[str, npt.ArrayLike] = {
            "mass": segment.mass,
            "centerOfMass": segment.center_of_mass,
        }
        fields: dict[str, Value] = {
            "mass": 0.0,
            **vector_fields(numbers, title, self.report),
        }
        if not np.isfinite(segment.inertia).all():
            self.report(
                losses.NUMBER_RANGE,
                f"{title}: an inertia that is not finite is left out",
            )
        elif segment.inertia.any():
            fields["momentsOfInertia"] = segment.inertia.reshape(-1)
        fields |= self._kept.of(segment.extra, SEGMENT_USED)
        fields["children"] = self._shapes(segment, name)
        if shared is not None:
            node = shared
        else:
            node = Node("Segment", name, proto=self._kept.proto)
        node.fields |= fields
        return moved(segment.transform, [node], title, self.report)

    def _shapes(self, segment: Segment, name: str) -> list[Node]:
        title = f"Segment {name!r}"
        shapes = (*segment.visuals, *segment.collisions)
        if self.folder is None or not any(
            isinstance(shape.geometry, Mesh) for shape in shapes
        ):
            return shape_nodes(segment, self.shapes, title, surfaces=True)
        writer = ShapeWriter(self.report, lambda texture: self.url(texture, True))
        nodes = shape_nodes(segment, writer, title, surfaces=True)
        scene = Scene(nodes=nodes, protos={p.name: p for p in prototypes_of(nodes)})
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:100] or "shapes"
        path = self.folder / f"{plain}.wrl"
        count = 1
        # Free also where capital letters are ignored.
        while path.name.lower() in self._part_names or not _fits(path, scene):
            count += 1
            path = self.folder / f"{plain}_{count}.wrl"
        self._part_names.add(path.name.lower())
        self.parts[path] = scene
        return [Node("Inline", fields={"url": [f"{self.folder.name}/{path.name}"]})]

    def _shape_name(self, name: str) -> str:
        """Return the name of a Shape.

        It must not be that of a Joint or Segment before it, which the lists name.
        """
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
            return all(
                stream.read(len(p)) == p for p in (*scene_pieces(scene, REMARKS), b"")
            ) and not stream.read(1)
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
            by_type.setdefault(self._node_type(device), []).append(device)
        self._kept: dict[str, KeptFields] = {}
        for node_type, devices in by_type.items():
            kept = self._kept[node_type] = KeptFields(
                node_type, [device.extra for device in devices], report
            )
            # A prototype gives its fields to all of its instances.
            for device in devices if node_type not in CLASSES else ():
                if missing := ", ".join(
                    name for name in kept.types if name not in device.extra
                ):
                    message = f"{node_type} {device.name!r} gets {missing}, which others of its type have"
                    report(losses.KEPT_VALUE, message)

    def _node_type(self, device: Device) -> str:
        if not isinstance(device, OtherDevice):
            return device.kind
        if device.type not in self._types:
            wanted = device.type
            if is_name(wanted):
                name = wanted
            else:
                name = legal_name(wanted, "Device")
            if name in RESERVED:
                name += "Device"
            while name in RESERVED or name in self._types.values():
                name += "_"
            self._renamed.add("device type", wanted, name)
            self._types[wanted] = name
        return self._types[device.type]

    def node(self, device: Device, name: str) -> Node:
        """Make the node of a device."""
        node_type = self._node_type(device)
        kept = self._kept[node_type]
        title = f"{node_type} {device.name!r}"
        fields: dict[str, Value] = {}
        if -(2**31) <= device.id < 2**31 and device.id != -1:
            fields["sensorId"] = int(device.id)
        elif device.id != -1:
            self.report(
                losses.NUMBER_RANGE, f"{title} has the id {device.id}: left out"
            )
        fields |= pose_fields(device.pose, title, self.report)
        theirs = SENSOR_FIELDS.get(type(device), {})
        for ours, field in theirs.items():
            value = getattr(device, ours)
            before = getattr(type(device)(), ours)
            if not isinstance(before, (str, int)):
                fields |= vector_fields({field: value}, title, self.report, before)
                continue
            own, types = as_value(value)
            if ("SFString" if isinstance(before, str) else "SFInt32") not in types:
                self.report(
                    losses.NUMBER_RANGE, f"{title}: {field} {value!r:.60} is left out"
                )
            elif own != before:
                fields[field] = own
        fields |= kept.of(device.extra, (*POSE_FIELDS, *theirs.values()))
        return Node(node_type, name, fields, kept.proto)


def extra_joint_nodes(
    extra_joints: Sequence[ExtraJoint],
    joints: Mapping[int, Node],
    names: Names,
    report: Report,
) -> list[Node]:
    """Return the nodes; `joints` are the Joint nodes by the numbers of their links."""
    kept = KeptFields("ExtraJoint", [extra.extra for extra in extra_joints], report)
    found = []
    for extra in extra_joints:
        title = f"ExtraJoint {extra.name!r}"
        fields: dict[str, Value] = {
            f"link{k + 1}Name": joints[end].name for k, end in enumerate(extra.links)
        }
        points = {
            f"link{k + 1}LocalPos": point for k, point in enumerate(extra.positions)
        }
        fields |= vector_fields(points, title, report)
        fields["jointType"] = extra.type
        fields |= vector_fields(
            {"jointAxis": extra.axis}, title, report, (1.0, 0.0, 0.0)
        )
        fields |= kept.of(extra.extra, EXTRA_JOINT_USED)
        found.append(
            Node(
                "ExtraJoint",
                names.unique(extra.name, "extra joint"),
                fields,
                kept.proto,
            )
        )
    return found
