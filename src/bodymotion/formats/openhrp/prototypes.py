"""The prototypes that a written model declares, the fields that are only kept in `extra`, and names that are legal and unique."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import BODY_NAMES, KEPT_VALUE
from bodymotion.formats.vrml import FieldDeclaration, IsReference, Node, Proto, Value, parse_vrml
from bodymotion.formats.vrml.writer import is_name, legal_name

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule


class Names:
    """The names that are used in one file."""

    def __init__(self, report: Callable[[Rule, str], None]) -> None:
        self.report = report
        self.used_names: set[str] = set()
        self._count: dict[str, int] = {}

    def unique(self, name: str, what: str) -> str:
        """Return the name where it is legal and unused, else a similar one, which is reported; an empty name stays empty."""
        if not name:
            return ""
        legal = legal_name(name)
        free = legal
        while free in self.used_names:
            # Counting continues from the last number, so many of one name do not become slower.
            self._count[legal] = self._count.get(legal, 1) + 1
            free = f"{legal}_{self._count[legal]}"
        self.used_names.add(free)
        if free != name:
            rule = BODY_NAMES.as_note if what in ("the segment", "the shape") else BODY_NAMES
            self.report(rule, f"{what} {name!r} is written as {free!r}")
        return free


ROWS = {2: ("MFVec2f",), 3: ("MFVec3f", "MFColor"), 4: ("MFRotation",)}
SINGLES = {2: ("SFVec2f",), 3: ("SFVec3f", "SFColor"), 4: ("SFRotation",)}
LISTS = (
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
WIDER = {"SFFloat": "MFFloat", "SFInt32": "MFInt32", "SFString": "MFString"}


def as_value(value: object) -> tuple[Value, tuple[str, ...]]:
    """Return a value in the form of a field, and the possible types of the field, the best first; none where no field can hold it."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value), ("SFBool",)
    if isinstance(value, (int, np.integer)):
        if -(2**31) <= value < 2**31:
            return int(value), ("SFInt32", "SFFloat", "SFTime")
        return float(value), ("SFFloat", "SFTime") if int(float(value)) == value else ()
    if isinstance(value, (float, np.floating)):
        return float(value), ("SFFloat", "SFTime") if math.isfinite(value) else ()
    if isinstance(value, str):
        return value, () if any("\ud800" <= letter <= "\udfff" for letter in value) else ("SFString",)
    if value is None:
        return None, ("SFNode",)
    if isinstance(value, (list, tuple)):
        if not len(value):
            return [], LISTS
        if all(isinstance(item, str) for item in value):
            return [str(item) for item in value], ("MFString",)
        if not all(isinstance(item, (int, float, np.number, list, tuple, np.ndarray)) for item in value):
            return None, ()
        try:
            value = np.asarray(value)
        except ValueError:
            return None, ()
    if isinstance(value, np.ndarray):
        return _array(value)
    return None, ()


def _array(value: np.ndarray) -> tuple[Value, tuple[str, ...]]:
    if value.dtype.kind not in "iuf" or value.ndim not in (1, 2) or not np.isfinite(value).all():
        return None, ()
    if not value.size:
        return [], LISTS if value.ndim == 1 else ROWS.get(value.shape[1], ())
    if value.ndim == 2:
        return value.astype(np.float64), ROWS.get(value.shape[1], ())
    if value.dtype.kind in "iu" and value.min() >= -(2**31) and value.max() < 2**31:
        return value.astype(np.int32), ("MFInt32", *SINGLES.get(len(value), ()), "MFFloat", "MFTime")
    return value.astype(np.float64), (*SINGLES.get(len(value), ()), "MFFloat", "MFTime")


class KeptFields:
    """The kept fields of all nodes of one kind; `types` are the types of fields that must be declared beside the `declared` ones."""

    def __init__(
        self,
        kind: str,
        extras: Sequence[Mapping[str, object]],
        declared: Mapping[str, FieldDeclaration],
        optional: Mapping[str, str],
        report: Callable[[Rule, str], None],
    ) -> None:
        self.kind = kind
        self.report = report
        self.types: dict[str, str] = {}
        self._all = {name: field.type for name, field in declared.items() if field.access.endswith("ield")}
        possible: dict[str, tuple[str, ...]] = {}
        for extra in extras:
            for name, value in extra.items():
                if name in self._all or not isinstance(name, str):
                    continue
                _, types = as_value(value)
                if types:
                    before = possible.get(name, types)
                    possible[name] = tuple(kind for kind in before if kind in types) or before
        for name, types in possible.items():
            if is_name(name):
                self.types[name] = optional.get(name, types[0])
        self._all |= self.types

    def of(self, extra: Mapping[str, object], used: Sequence[str] = ()) -> dict[str, Value]:
        """Return the fields of one node; report what cannot be kept. Names in `used` are written elsewhere, "mjcf" is reported so."""
        fields: dict[str, Value] = {}
        left: list[str] = []
        for name, item in extra.items():
            if name in used or name == "mjcf":
                continue
            value, types = as_value(item)
            kind = self._all.get(name, "")
            if kind in types:
                fields[name] = value
            elif any(WIDER.get(single) == kind for single in types):
                fields[name] = [value] if isinstance(value, str) else np.array([value])
                self.report(KEPT_VALUE, f"{self.kind}: {name} {item!r:.60} becomes a list of one")
            else:
                left.append(str(name))
        if left:
            names = ", ".join(left[:8]) + (f" and {len(left) - 8} more" if len(left) > 8 else "")
            self.report(KEPT_VALUE, f"{self.kind}: no field holds {names}")
        return fields


REMARKS = {
    "Humanoid": "The model: its root Joint stands in humanoidBody; joints and segments name all of them.",
    "Joint": "A link's frame in its parent, and how it moves there; in its children stand what the link is made of, and further Joints.",
    "Segment": "A rigid part of a link: mass [kg], centre of mass [m], inertia about that [kg m2] row by row, shapes.",
    "ExtraJoint": "Closes a loop: a point of link 1 stays with a point of link 2.",
    "Surface": "Shapes to be seen, and shapes that touch, where these differ.",
    "AccelerationSensor": "Three-axis accelerometer.",
    "Gyro": "Three-axis rate gyro.",
    "ForceSensor": "Six-axis force and torque sensor.",
    "VisionSensor": "Camera, looking along -z with +y up.",
    "RangeSensor": "Laser range finder: scans the xz plane around -z.",
}

_POSE_FIELDS = "exposedField SFVec3f translation 0 0 0 exposedField SFRotation rotation 0 0 1 0"
_SENSOR = f"{_POSE_FIELDS} exposedField SFInt32 sensorId -1"
_POSE_IS = "translation IS translation rotation IS rotation"

DECLARATIONS = f"""#VRML V2.0 utf8
PROTO Humanoid [
  field        SFVec3f    bboxCenter       0 0 0
  field        SFVec3f    bboxSize         -1 -1 -1
  exposedField SFVec3f    center           0 0 0
  exposedField MFNode     humanoidBody     [ ]
  exposedField MFString   info             [ ]
  exposedField MFNode     joints           [ ]
  exposedField SFString   name             ""
  exposedField SFRotation rotation         0 0 1 0
  exposedField SFVec3f    scale            1 1 1
  exposedField SFRotation scaleOrientation 0 0 1 0
  exposedField MFNode     segments         [ ]
  exposedField MFNode     sites            [ ]
  exposedField SFVec3f    translation      0 0 0
  exposedField SFString   version          "1.1"
  exposedField MFNode     viewpoints       [ ]
] {{
  Transform {{
    bboxCenter IS bboxCenter bboxSize IS bboxSize center IS center rotation IS rotation scale IS scale
    scaleOrientation IS scaleOrientation translation IS translation
    children [ Group {{ children IS viewpoints }} Group {{ children IS humanoidBody }} ]
  }}
}}
PROTO Joint [
  exposedField SFString   jointType        ""
  exposedField SFInt32    jointId          -1
  exposedField SFVec3f    jointAxis        0 0 1
  exposedField SFVec3f    translation      0 0 0
  exposedField SFRotation rotation         0 0 1 0
  exposedField SFVec3f    center           0 0 0
  exposedField SFVec3f    scale            1 1 1
  exposedField SFRotation scaleOrientation 0 0 1 0
  exposedField MFFloat    llimit           [ ]
  exposedField MFFloat    ulimit           [ ]
  exposedField MFFloat    lvlimit          [ ]
  exposedField MFFloat    uvlimit          [ ]
  exposedField SFRotation limitOrientation 0 0 1 0
  exposedField MFFloat    stiffness        [ 0 0 0 ]
  exposedField SFFloat    gearRatio        1
  exposedField SFFloat    gearEfficiency   1
  exposedField SFFloat    rotorInertia     0
  exposedField SFFloat    rotorResistor    0
  exposedField SFFloat    torqueConst      1
  exposedField SFFloat    encoderPulse     1
  exposedField SFString   name             ""
  exposedField MFNode     children         [ ]
] {{
  Transform {{
    center IS center rotation IS rotation scale IS scale scaleOrientation IS scaleOrientation translation IS translation
    children IS children
  }}
}}
PROTO Segment [
  exposedField SFFloat  mass             0
  exposedField SFVec3f  centerOfMass     0 0 0
  exposedField MFFloat  momentsOfInertia [ 0 0 0 0 0 0 0 0 0 ]
  field        SFVec3f  bboxCenter       0 0 0
  field        SFVec3f  bboxSize         -1 -1 -1
  exposedField SFNode   coord            NULL
  exposedField MFNode   displacers       [ ]
  exposedField SFString name             ""
  exposedField MFNode   children         [ ]
  eventIn      MFNode   addChildren
  eventIn      MFNode   removeChildren
] {{
  Group {{
    bboxCenter IS bboxCenter bboxSize IS bboxSize children IS children addChildren IS addChildren
    removeChildren IS removeChildren
  }}
}}
PROTO ExtraJoint [
  exposedField SFString link1Name     ""
  exposedField SFString link2Name     ""
  exposedField SFVec3f  link1LocalPos 0 0 0
  exposedField SFVec3f  link2LocalPos 0 0 0
  exposedField SFString jointType     "xyz"
  exposedField SFVec3f  jointAxis     1 0 0
] {{ }}
PROTO Surface [
  field   SFVec3f bboxCenter     0 0 0
  field   SFVec3f bboxSize       -1 -1 -1
  field   MFNode  visual         [ ]
  field   MFNode  collision      [ ]
  eventIn MFNode  addChildren
  eventIn MFNode  removeChildren
] {{
  Group {{
    bboxCenter IS bboxCenter bboxSize IS bboxSize children IS visual addChildren IS addChildren
    removeChildren IS removeChildren
  }}
}}
PROTO AccelerationSensor [ exposedField SFVec3f maxAcceleration -1 -1 -1 {_SENSOR} ] {{ Transform {{ {_POSE_IS} }} }}
PROTO Gyro [ exposedField SFVec3f maxAngularVelocity -1 -1 -1 {_SENSOR} ] {{ Transform {{ {_POSE_IS} }} }}
PROTO ForceSensor [
  exposedField SFVec3f maxForce -1 -1 -1
  exposedField SFVec3f maxTorque -1 -1 -1
  {_SENSOR}
] {{ Transform {{ {_POSE_IS} }} }}
PROTO VisionSensor [
  {_SENSOR}
  exposedField SFString type              "NONE"
  exposedField SFFloat  fieldOfView       0.785398
  exposedField SFFloat  frontClipDistance 0.01
  exposedField SFFloat  backClipDistance  10.0
  exposedField SFInt32  width             320
  exposedField SFInt32  height            240
  exposedField SFFloat  frameRate         30
  field        SFString name              ""
] {{ Transform {{ {_POSE_IS} }} }}
PROTO RangeSensor [
  {_SENSOR}
  exposedField SFFloat scanAngle   3.14159
  exposedField SFFloat scanStep    0.1
  exposedField SFFloat scanRate    10
  exposedField SFFloat maxDistance 10
  exposedField MFNode  children    [ ]
] {{ Transform {{ {_POSE_IS} children IS children }} }}
PROTO OtherDevice [ {_SENSOR} ] {{ Transform {{ {_POSE_IS} }} }}
"""

OPTIONAL = {
    "Joint": {"climit": "MFFloat", "equivalentInertia": "SFFloat"},
}
"""Fields that readers know and that the prototypes of the document do not declare; declared where a model has them."""

POSE_ID_AND_CHILDREN = ("translation", "rotation", "sensorId", "children")
"""Fields of devices for pose, id and contents."""


@cache
def _declared() -> Mapping[str, Proto]:
    return parse_vrml(DECLARATIONS.encode()).protos


def prototype(name: str) -> Proto:
    """Return one of the document's prototypes."""
    return _declared()[name]


def with_fields(proto: Proto, types: Mapping[str, str]) -> Proto:
    """Return a prototype that declares further fields of these types."""
    if not types:
        return proto
    added = {name: FieldDeclaration("exposedField", kind, name) for name, kind in types.items()}
    return Proto(proto.name, {**proto.fields, **added}, proto.body)


def device_prototype(name: str, types: Mapping[str, str]) -> Proto:
    """Return a prototype for a device that the document does not have."""
    pose_fields: dict[str, IsReference] = {part: IsReference(part) for part in POSE_ID_AND_CHILDREN[:2]}
    body = [Node("Transform", fields=dict(pose_fields))]
    return with_fields(Proto(name, prototype("OtherDevice").fields, body), types)


def prototypes_of(nodes: list[Node]) -> list[Proto]:
    """Return the prototypes of nodes and of all in them, in the order of the document."""
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
