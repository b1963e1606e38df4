"""The 54 nodes of VRML97 with their fields, types and defaults (ISO/IEC 14772-1, clause 6); scopes of names.

The table has one line for each field: its access, type, name, default. `x` stands for exposedField, `f` field, `in` eventIn, `out`
eventOut.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from bodymotion.formats.vrml.nodes import FieldDeclaration, Node, Proto, Route, Value
from bodymotion.formats.vrml.values import READERS, Reader, guessed_value, read_event

OUTSIDE_PROTOTYPES = {("Joint", "gearEfficiency")}
"""Fields that the OpenHRP document describes and the prototypes that it prints lack."""
_ACCESS = {"x": "exposedField", "f": "field", "in": "eventIn", "out": "eventOut"}

_GROUP = """
in MFNode addChildren
in MFNode removeChildren
x MFNode children []
f SFVec3f bboxCenter 0 0 0
f SFVec3f bboxSize -1 -1 -1
"""
_LIGHT = """
x SFFloat ambientIntensity 0
x SFColor color 1 1 1
x SFFloat intensity 1
x SFBool on TRUE
"""
_PLACED_LIGHT = """
x SFVec3f attenuation 1 0 0
x SFVec3f location 0 0 0
x SFFloat radius 100
"""
_SENSOR = """
x SFBool enabled TRUE
out SFBool isActive
"""
_DRAG = """
x SFBool autoOffset TRUE
out SFVec3f trackPoint_changed
"""
_BOUND = """
in SFBool set_bind
out SFBool isBound
"""
_INTERPOLATOR = """
in SFFloat set_fraction
x MFFloat key []
"""
_TEXTURE = """
f SFBool repeatS TRUE
f SFBool repeatT TRUE
"""
_FACES = """
in MFInt32 set_colorIndex
in MFInt32 set_coordIndex
x SFNode color NULL
x SFNode coord NULL
f MFInt32 colorIndex []
f SFBool colorPerVertex TRUE
f MFInt32 coordIndex []
"""

STANDARD_NODES: dict[str, str] = {
    "Anchor": _GROUP + 'x SFString description ""\nx MFString parameter []\nx MFString url []',
    "Appearance": "x SFNode material NULL\nx SFNode texture NULL\nx SFNode textureTransform NULL",
    "AudioClip": """
        x SFString description ""
        x SFBool loop FALSE
        x SFFloat pitch 1
        x SFTime startTime 0
        x SFTime stopTime 0
        x MFString url []
        out SFTime duration_changed
        out SFBool isActive""",
    "Background": _BOUND
    + """
        x MFFloat groundAngle []
        x MFColor groundColor []
        x MFString backUrl []
        x MFString bottomUrl []
        x MFString frontUrl []
        x MFString leftUrl []
        x MFString rightUrl []
        x MFString topUrl []
        x MFFloat skyAngle []
        x MFColor skyColor [0 0 0]""",
    "Billboard": _GROUP + "x SFVec3f axisOfRotation 0 1 0",
    "Box": "f SFVec3f size 2 2 2",
    "Collision": _GROUP + "x SFBool collide TRUE\nf SFNode proxy NULL\nout SFTime collideTime",
    "Color": "x MFColor color []",
    "ColorInterpolator": _INTERPOLATOR + "x MFColor keyValue []\nout SFColor value_changed",
    "Cone": "f SFFloat bottomRadius 1\nf SFFloat height 2\nf SFBool side TRUE\nf SFBool bottom TRUE",
    "Coordinate": "x MFVec3f point []",
    "CoordinateInterpolator": _INTERPOLATOR + "x MFVec3f keyValue []\nout MFVec3f value_changed",
    "Cylinder": """
        f SFBool bottom TRUE
        f SFFloat height 2
        f SFFloat radius 1
        f SFBool side TRUE
        f SFBool top TRUE""",
    "CylinderSensor": _SENSOR
    + _DRAG
    + """
        x SFFloat diskAngle 0.262
        x SFFloat maxAngle -1
        x SFFloat minAngle 0
        x SFFloat offset 0
        out SFRotation rotation_changed""",
    "DirectionalLight": _LIGHT + "x SFVec3f direction 0 0 -1",
    "ElevationGrid": """
        in MFFloat set_height
        x SFNode color NULL
        x SFNode normal NULL
        x SFNode texCoord NULL
        f MFFloat height []
        f SFBool ccw TRUE
        f SFBool colorPerVertex TRUE
        f SFFloat creaseAngle 0
        f SFBool normalPerVertex TRUE
        f SFBool solid TRUE
        f SFInt32 xDimension 0
        f SFFloat xSpacing 1.0
        f SFInt32 zDimension 0
        f SFFloat zSpacing 1.0""",
    "Extrusion": """
        in MFVec2f set_crossSection
        in MFRotation set_orientation
        in MFVec2f set_scale
        in MFVec3f set_spine
        f SFBool beginCap TRUE
        f SFBool ccw TRUE
        f SFBool convex TRUE
        f SFFloat creaseAngle 0
        f MFVec2f crossSection [1 1 1 -1 -1 -1 -1 1 1 1]
        f SFBool endCap TRUE
        f MFRotation orientation [0 0 1 0]
        f MFVec2f scale [1 1]
        f SFBool solid TRUE
        f MFVec3f spine [0 0 0 0 1 0]""",
    "Fog": _BOUND + 'x SFColor color 1 1 1\nx SFString fogType "LINEAR"\nx SFFloat visibilityRange 0',
    "FontStyle": """
        f MFString family ["SERIF"]
        f SFBool horizontal TRUE
        f MFString justify ["BEGIN"]
        f SFString language ""
        f SFBool leftToRight TRUE
        f SFFloat size 1.0
        f SFFloat spacing 1.0
        f SFString style "PLAIN"
        f SFBool topToBottom TRUE""",
    "Group": _GROUP,
    "ImageTexture": "x MFString url []" + _TEXTURE,
    "IndexedFaceSet": _FACES
    + """
        in MFInt32 set_normalIndex
        in MFInt32 set_texCoordIndex
        x SFNode normal NULL
        x SFNode texCoord NULL
        f SFBool ccw TRUE
        f SFBool convex TRUE
        f SFFloat creaseAngle 0
        f MFInt32 normalIndex []
        f SFBool normalPerVertex TRUE
        f SFBool solid TRUE
        f MFInt32 texCoordIndex []""",
    "IndexedLineSet": _FACES,
    "Inline": "x MFString url []\nf SFVec3f bboxCenter 0 0 0\nf SFVec3f bboxSize -1 -1 -1",
    "LOD": "x MFNode level []\nf SFVec3f center 0 0 0\nf MFFloat range []",
    "Material": """
        x SFFloat ambientIntensity 0.2
        x SFColor diffuseColor 0.8 0.8 0.8
        x SFColor emissiveColor 0 0 0
        x SFFloat shininess 0.2
        x SFColor specularColor 0 0 0
        x SFFloat transparency 0""",
    "MovieTexture": """
        x SFBool loop FALSE
        x SFFloat speed 1.0
        x SFTime startTime 0
        x SFTime stopTime 0
        x MFString url []
        out SFTime duration_changed
        out SFBool isActive"""
    + _TEXTURE,
    "NavigationInfo": _BOUND
    + """
        x MFFloat avatarSize [0.25 1.6 0.75]
        x SFBool headlight TRUE
        x SFFloat speed 1.0
        x MFString type ["WALK" "ANY"]
        x SFFloat visibilityLimit 0.0""",
    "Normal": "x MFVec3f vector []",
    "NormalInterpolator": _INTERPOLATOR + "x MFVec3f keyValue []\nout MFVec3f value_changed",
    "OrientationInterpolator": _INTERPOLATOR + "x MFRotation keyValue []\nout SFRotation value_changed",
    "PixelTexture": "x SFImage image 0 0 0" + _TEXTURE,
    "PlaneSensor": _SENSOR
    + _DRAG
    + """
        x SFVec2f maxPosition -1 -1
        x SFVec2f minPosition 0 0
        x SFVec3f offset 0 0 0
        out SFVec3f translation_changed""",
    "PointLight": _LIGHT + _PLACED_LIGHT,
    "PointSet": "x SFNode color NULL\nx SFNode coord NULL",
    "PositionInterpolator": _INTERPOLATOR + "x MFVec3f keyValue []\nout SFVec3f value_changed",
    "ProximitySensor": _SENSOR
    + """
        x SFVec3f center 0 0 0
        x SFVec3f size 0 0 0
        out SFVec3f position_changed
        out SFRotation orientation_changed
        out SFTime enterTime
        out SFTime exitTime""",
    "ScalarInterpolator": _INTERPOLATOR + "x MFFloat keyValue []\nout SFFloat value_changed",
    "Script": "x MFString url []\nf SFBool directOutput FALSE\nf SFBool mustEvaluate FALSE",
    "Shape": "x SFNode appearance NULL\nx SFNode geometry NULL",
    "Sound": """
        x SFVec3f direction 0 0 1
        x SFFloat intensity 1
        x SFVec3f location 0 0 0
        x SFFloat maxBack 10
        x SFFloat maxFront 10
        x SFFloat minBack 1
        x SFFloat minFront 1
        x SFFloat priority 0
        x SFNode source NULL
        f SFBool spatialize TRUE""",
    "Sphere": "f SFFloat radius 1",
    "SphereSensor": _SENSOR + _DRAG + "x SFRotation offset 0 1 0 0\nout SFRotation rotation_changed",
    "SpotLight": _LIGHT
    + _PLACED_LIGHT
    + "x SFFloat beamWidth 1.570796\nx SFFloat cutOffAngle 0.785398\nx SFVec3f direction 0 0 -1",
    "Switch": "x MFNode choice []\nx SFInt32 whichChoice -1",
    "Text": "x MFString string []\nx SFNode fontStyle NULL\nx MFFloat length []\nx SFFloat maxExtent 0.0",
    "TextureCoordinate": "x MFVec2f point []",
    "TextureTransform": "x SFVec2f center 0 0\nx SFFloat rotation 0\nx SFVec2f scale 1 1\nx SFVec2f translation 0 0",
    "TimeSensor": _SENSOR
    + """
        x SFTime cycleInterval 1
        x SFBool loop FALSE
        x SFTime startTime 0
        x SFTime stopTime 0
        out SFTime cycleTime
        out SFFloat fraction_changed
        out SFTime time""",
    "TouchSensor": _SENSOR
    + """
        out SFVec3f hitNormal_changed
        out SFVec3f hitPoint_changed
        out SFVec2f hitTexCoord_changed
        out SFBool isOver
        out SFTime touchTime""",
    "Transform": _GROUP
    + """
        x SFVec3f center 0 0 0
        x SFRotation rotation 0 0 1 0
        x SFVec3f scale 1 1 1
        x SFRotation scaleOrientation 0 0 1 0
        x SFVec3f translation 0 0 0""",
    "Viewpoint": _BOUND
    + """
        x SFFloat fieldOfView 0.785398
        x SFBool jump TRUE
        x SFRotation orientation 0 0 1 0
        x SFVec3f position 0 0 10
        f SFString description ""
        out SFTime bindTime""",
    "VisibilitySensor": _SENSOR
    + "x SFVec3f center 0 0 0\nx SFVec3f size 0 0 0\nout SFTime enterTime\nout SFTime exitTime",
    "WorldInfo": 'f MFString info []\nf SFString title ""',
}

_WIDTHS = {"MFVec2f": 2, "MFVec3f": 3, "MFColor": 3, "MFRotation": 4}


def standard_fields(node_type: str) -> Mapping[str, FieldDeclaration]:
    """Return the fields of a standard node by name; none for any other node."""
    return _declared(node_type) if node_type in STANDARD_NODES else {}


@cache
def _declared(node_type: str) -> Mapping[str, FieldDeclaration]:
    declared = {}
    for line in STANDARD_NODES[node_type].splitlines():
        if line.strip():
            access, field_type, name, *words = line.split(maxsplit=3)
            declared[name] = FieldDeclaration(_ACCESS[access], field_type, name, _value(field_type, words))
    return declared


def _value(field_type: str, words: list[str]) -> Value:
    """Return a default as the table above writes it."""
    if not words or words == ["NULL"]:
        return None
    plain = words[0].strip("[]").split()
    if field_type == "SFBool":
        return plain == ["TRUE"]
    if field_type == "SFInt32":
        return int(plain[0])
    if field_type in ("SFFloat", "SFTime"):
        return float(plain[0])
    if field_type == "SFString":
        return words[0].strip('"')
    if field_type == "MFString":
        return shlex.split(words[0].strip("[]"))
    if field_type == "MFNode":
        return []
    dtype = {"MFInt32": np.int32, "SFImage": np.int64}.get(field_type, np.float64)
    array = np.array([float(word) for word in plain]).astype(dtype)
    array = array.reshape(-1, _WIDTHS[field_type]) if field_type in _WIDTHS else array
    array.flags.writeable = False
    return array


class Kind(NamedTuple):
    """A type of node: the readers of its fields, its prototype unless it is a standard node, and the size of an instance in nodes."""

    readers: dict[str, Reader]
    proto: Proto | None = None
    size: int = 1


UNKNOWN = Kind({})
"""A type that is not declared."""


@dataclass
class Scope:
    """The names in a file or in the body of a prototype: types, nodes by DEF with their size, fields that IS may refer to."""

    kinds: dict[str, Kind]
    routes: list[Route]
    nodes: dict[str, tuple[Node, int]] = field(default_factory=dict)
    interface: Mapping[str, FieldDeclaration] = field(default_factory=dict)
    outer: Scope | None = None

    def kind(self, name: str) -> Kind | None:
        """Return the type of this name: declared here, in a scope around this one, or by the standard."""
        found = self.kinds.get(name)
        if found is None:
            if self.outer is not None:
                found = self.outer.kind(name)
            elif name in STANDARD_NODES:
                found = _standard_kind(name)
            if found is not None:
                self.kinds[name] = found
        return found


def kind_of(proto: Proto, size: int) -> Kind:
    """Return the type that a prototype declares; `size` is the number of nodes in its body."""
    return Kind(_readers(proto.fields), proto, 1 + size)


def reader_of(field_type: str) -> Reader:
    """Return the reader of a field type; values of an unknown type are read by their form."""
    return READERS.get(field_type, guessed_value)


@cache
def _standard_kind(node_type: str) -> Kind:
    return Kind(_readers(standard_fields(node_type)))


def _readers(fields: Mapping[str, FieldDeclaration]) -> dict[str, Reader]:
    return {
        name: read_event if declared.access in ("eventIn", "eventOut") else reader_of(declared.type)
        for name, declared in fields.items()
    }
