"""The 54 nodes of VRML97 with their fields, types and defaults (ISO/IEC 14772-1, clause 6); scopes of names.

Each line of the table has the access, the type, the names and the default of fields. `x` stands for exposedField, `f` field, `in`
eventIn, `out` eventOut.
"""

from __future__ import annotations

import re
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
_LINE = re.compile(r"(\w+) (\w+)((?: [a-z]\w*)+) ?(.*)")

_GROUP = """
in MFNode addChildren removeChildren
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
f SFBool repeatS repeatT TRUE
"""
_FACES = """
in MFInt32 set_colorIndex set_coordIndex
x SFNode color coord NULL
f MFInt32 colorIndex coordIndex []
f SFBool colorPerVertex TRUE
"""

STANDARD_NODES: dict[str, str] = {
    "Anchor": _GROUP + 'x SFString description ""\nx MFString parameter url []',
    "Appearance": "x SFNode material texture textureTransform NULL",
    "AudioClip": """
        x SFString description ""
        x SFBool loop FALSE
        x SFFloat pitch 1
        x SFTime startTime stopTime 0
        x MFString url []
        out SFTime duration_changed
        out SFBool isActive""",
    "Background": _BOUND
    + """
        x MFFloat groundAngle skyAngle []
        x MFColor groundColor []
        x MFString backUrl bottomUrl frontUrl leftUrl rightUrl topUrl []
        x MFColor skyColor [0 0 0]""",
    "Billboard": _GROUP + "x SFVec3f axisOfRotation 0 1 0",
    "Box": "f SFVec3f size 2 2 2",
    "Collision": _GROUP
    + """
        x SFBool collide TRUE
        f SFNode proxy NULL
        out SFTime collideTime""",
    "Color": "x MFColor color []",
    "ColorInterpolator": _INTERPOLATOR + "x MFColor keyValue []\nout SFColor value_changed",
    "Cone": "f SFFloat bottomRadius 1\nf SFFloat height 2\nf SFBool side bottom TRUE",
    "Coordinate": "x MFVec3f point []",
    "CoordinateInterpolator": _INTERPOLATOR + "x MFVec3f keyValue []\nout MFVec3f value_changed",
    "Cylinder": "f SFBool bottom side top TRUE\nf SFFloat height 2\nf SFFloat radius 1",
    "CylinderSensor": _SENSOR
    + _DRAG
    + """
        x SFFloat diskAngle 0.262
        x SFFloat maxAngle -1
        x SFFloat minAngle offset 0
        out SFRotation rotation_changed""",
    "DirectionalLight": _LIGHT + "x SFVec3f direction 0 0 -1",
    "ElevationGrid": """
        in MFFloat set_height
        x SFNode color normal texCoord NULL
        f MFFloat height []
        f SFBool ccw colorPerVertex normalPerVertex solid TRUE
        f SFFloat creaseAngle 0
        f SFInt32 xDimension zDimension 0
        f SFFloat xSpacing zSpacing 1.0""",
    "Extrusion": """
        in MFVec2f set_crossSection set_scale
        in MFRotation set_orientation
        in MFVec3f set_spine
        f SFBool beginCap ccw convex endCap solid TRUE
        f SFFloat creaseAngle 0
        f MFVec2f crossSection [1 1 1 -1 -1 -1 -1 1 1 1]
        f MFRotation orientation [0 0 1 0]
        f MFVec2f scale [1 1]
        f MFVec3f spine [0 0 0 0 1 0]""",
    "Fog": _BOUND
    + """
        x SFColor color 1 1 1
        x SFString fogType "LINEAR"
        x SFFloat visibilityRange 0""",
    "FontStyle": """
        f MFString family ["SERIF"]
        f SFBool horizontal leftToRight topToBottom TRUE
        f MFString justify ["BEGIN"]
        f SFString language ""
        f SFString style "PLAIN"
        f SFFloat size spacing 1.0""",
    "Group": _GROUP,
    "ImageTexture": "x MFString url []" + _TEXTURE,
    "IndexedFaceSet": _FACES
    + """
        in MFInt32 set_normalIndex set_texCoordIndex
        x SFNode normal texCoord NULL
        f SFBool ccw convex normalPerVertex solid TRUE
        f SFFloat creaseAngle 0
        f MFInt32 normalIndex texCoordIndex []""",
    "IndexedLineSet": _FACES,
    "Inline": "x MFString url []\nf SFVec3f bboxCenter 0 0 0\nf SFVec3f bboxSize -1 -1 -1",
    "LOD": "x MFNode level []\nf SFVec3f center 0 0 0\nf MFFloat range []",
    "Material": """
        x SFFloat ambientIntensity shininess 0.2
        x SFColor diffuseColor 0.8 0.8 0.8
        x SFColor emissiveColor specularColor 0 0 0
        x SFFloat transparency 0""",
    "MovieTexture": """
        x SFBool loop FALSE
        x SFFloat speed 1.0
        x SFTime startTime stopTime 0
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
    "OrientationInterpolator": _INTERPOLATOR
    + """
        x MFRotation keyValue []
        out SFRotation value_changed""",
    "PixelTexture": "x SFImage image 0 0 0" + _TEXTURE,
    "PlaneSensor": _SENSOR
    + _DRAG
    + """
        x SFVec2f maxPosition -1 -1
        x SFVec2f minPosition 0 0
        x SFVec3f offset 0 0 0
        out SFVec3f translation_changed""",
    "PointLight": _LIGHT + _PLACED_LIGHT,
    "PointSet": "x SFNode color coord NULL",
    "PositionInterpolator": _INTERPOLATOR + "x MFVec3f keyValue []\nout SFVec3f value_changed",
    "ProximitySensor": _SENSOR
    + """
        x SFVec3f center size 0 0 0
        out SFVec3f position_changed
        out SFRotation orientation_changed
        out SFTime enterTime exitTime""",
    "ScalarInterpolator": _INTERPOLATOR + "x MFFloat keyValue []\nout SFFloat value_changed",
    "Script": "x MFString url []\nf SFBool directOutput mustEvaluate FALSE",
    "Shape": "x SFNode appearance geometry NULL",
    "Sound": """
        x SFVec3f direction 0 0 1
        x SFFloat intensity minBack minFront 1
        x SFVec3f location 0 0 0
        x SFFloat maxBack maxFront 10
        x SFFloat priority 0
        x SFNode source NULL
        f SFBool spatialize TRUE""",
    "Sphere": "f SFFloat radius 1",
    "SphereSensor": _SENSOR + _DRAG + "x SFRotation offset 0 1 0 0\nout SFRotation rotation_changed",
    "SpotLight": _LIGHT
    + _PLACED_LIGHT
    + """
        x SFFloat beamWidth 1.570796
        x SFFloat cutOffAngle 0.785398
        x SFVec3f direction 0 0 -1""",
    "Switch": "x MFNode choice []\nx SFInt32 whichChoice -1",
    "Text": """
        x MFString string []
        x SFNode fontStyle NULL
        x MFFloat length []
        x SFFloat maxExtent 0.0""",
    "TextureCoordinate": "x MFVec2f point []",
    "TextureTransform": "x SFVec2f center translation 0 0\nx SFFloat rotation 0\nx SFVec2f scale 1 1",
    "TimeSensor": _SENSOR
    + """
        x SFTime cycleInterval 1
        x SFBool loop FALSE
        x SFTime startTime stopTime 0
        out SFTime cycleTime time
        out SFFloat fraction_changed""",
    "TouchSensor": _SENSOR
    + """
        out SFVec3f hitNormal_changed hitPoint_changed
        out SFVec2f hitTexCoord_changed
        out SFBool isOver
        out SFTime touchTime""",
    "Transform": _GROUP
    + """
        x SFVec3f center translation 0 0 0
        x SFRotation rotation scaleOrientation 0 0 1 0
        x SFVec3f scale 1 1 1""",
    "Viewpoint": _BOUND
    + """
        x SFFloat fieldOfView 0.785398
        x SFBool jump TRUE
        x SFRotation orientation 0 0 1 0
        x SFVec3f position 0 0 10
        f SFString description ""
        out SFTime bindTime""",
    "VisibilitySensor": _SENSOR + "x SFVec3f center size 0 0 0\nout SFTime enterTime exitTime",
    "WorldInfo": 'f MFString info []\nf SFString title ""',
}

_WIDTHS = {"MFVec2f": 2, "MFVec3f": 3, "MFColor": 3, "MFRotation": 4}


def standard_fields(node_type: str) -> Mapping[str, FieldDeclaration]:
    """Return the fields of a standard node by name; none for any other node."""
    return declared_fields(STANDARD_NODES[node_type]) if node_type in STANDARD_NODES else {}


@cache
def declared_fields(table: str) -> Mapping[str, FieldDeclaration]:
    """Return the fields in lines of the form of the table above, by name."""
    return {
        name: FieldDeclaration(_ACCESS[access], field_type, name, _value(field_type, default))
        for access, field_type, names, default in _LINE.findall(table)
        for name in names.split()
    }


def _value(field_type: str, default: str) -> Value:
    """Return a default as the table above writes it."""
    if default in ("", "NULL"):
        return None
    plain = default.strip("[]").split()
    if field_type == "SFBool":
        return plain == ["TRUE"]
    if field_type == "SFInt32":
        return int(plain[0])
    if field_type in ("SFFloat", "SFTime"):
        return float(plain[0])
    if field_type == "SFString":
        return default.strip('"')
    if field_type == "MFString":
        return shlex.split(default.strip("[]"))
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
