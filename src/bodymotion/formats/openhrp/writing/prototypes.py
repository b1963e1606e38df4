"""The prototypes of the OpenHRP document, as files declare them, and those for fields and devices beyond it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bodymotion.formats.vrml import FieldDeclaration, IsReference, Node, Proto, parse_vrml

__all__ = ["OPTIONAL", "PLACED", "REMARKS", "device_prototype", "prototype", "prototypes_of", "with_fields"]

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

_PLACED = "exposedField SFVec3f translation 0 0 0 exposedField SFRotation rotation 0 0 1 0"
_SENSOR = f"{_PLACED} exposedField SFInt32 sensorId -1"
_AT_PLACE = "translation IS translation rotation IS rotation"

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
PROTO AccelerationSensor [ exposedField SFVec3f maxAcceleration -1 -1 -1 {_SENSOR} ] {{ Transform {{ {_AT_PLACE} }} }}
PROTO Gyro [ exposedField SFVec3f maxAngularVelocity -1 -1 -1 {_SENSOR} ] {{ Transform {{ {_AT_PLACE} }} }}
PROTO ForceSensor [
  exposedField SFVec3f maxForce -1 -1 -1
  exposedField SFVec3f maxTorque -1 -1 -1
  {_SENSOR}
] {{ Transform {{ {_AT_PLACE} }} }}
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
] {{ Transform {{ {_AT_PLACE} }} }}
PROTO RangeSensor [
  {_SENSOR}
  exposedField SFFloat scanAngle   3.14159
  exposedField SFFloat scanStep    0.1
  exposedField SFFloat scanRate    10
  exposedField SFFloat maxDistance 10
  exposedField MFNode  children    [ ]
] {{ Transform {{ {_AT_PLACE} children IS children }} }}
PROTO OtherDevice [ {_SENSOR} ] {{ Transform {{ {_AT_PLACE} }} }}
"""

OPTIONAL = {
    "Joint": {"climit": "MFFloat", "equivalentInertia": "SFFloat"},
}
"""Fields that readers know and the document's prototypes lack: declared where a model has them."""

PLACED = ("translation", "rotation", "sensorId", "children")
"""Fields of devices that say where they are and which, or what stands in them."""


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
    place: dict[str, IsReference] = {part: IsReference(part) for part in PLACED[:2]}
    body = [Node("Transform", fields=dict(place))]
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
