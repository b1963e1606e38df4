"""Geometry and appearance: the nodes of VRML97 under other keys, so they are handed to its readers.

What differs: angles are in the file's unit, a missing main size of a primitive is 1,
surfaces are seen from both sides, an Extrusion with too few orientations is not rotated
from there on and with too few scales shrinks to a point, shininess may be a specular
exponent. Capsule and Mesh are not in VRML97.
"""

import re
from typing import Any, cast

import numpy as np

from bodymotion.diagnostics.text import with_article
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.fields import Fields
from bodymotion.formats.resources import ReferencedFiles
from bodymotion.formats.text import Text
from bodymotion.formats.vrml.fields import standard_fields
from bodymotion.formats.vrml.nodes import NO_INTEGERS, Value
from bodymotion.formats.vrml.nodes import Node as VrmlNode
from bodymotion.formats.vrml.rules import BAD_SIZE
from bodymotion.formats.vrml.shapes import (
    GEOMETRY_NODES,
    PROPERTIES,
    AppearanceReader,
    GeometryReader,
)
from bodymotion.formats.yaml.fields import Context, label
from bodymotion.formats.yaml.rules import WRONG_VALUE
from bodymotion.formats.yaml.tree import Mapping, Scalar, Sequence
from bodymotion.geometry.arrays import Floats, Ints, frozen
from bodymotion.geometry.shapes import Capsule, Geometry, Material

PRIMITIVES = ("Box", "Capsule", "Cone", "Cylinder", "Sphere")
FIELDS = {
    "Box": "size",
    "Capsule": "radius height",
    "Cone": "bottomRadius height side bottom",
    "Cylinder": "radius height side top bottom",
    "Sphere": "radius",
    "ElevationGrid": "creaseAngle solid ccw xDimension zDimension xSpacing zSpacing "
    "height normal texCoord",
    "Extrusion": "creaseAngle solid ccw beginCap endCap crossSection spine",
    "IndexedFaceSet": "creaseAngle solid ccw coord coordIndex normalIndex "
    "texCoordIndex normal texCoord",
    "PointSet": "coord color",
    "Material": "diffuseColor emissiveColor specularColor ambientIntensity "
    "transparency shininess",
    "ImageTexture": "url repeatS repeatT",
    "TextureTransform": "center translation scale",
}
"""The fields of VRML97's nodes that are read.

Their types and defaults are those of VRML97.
"""
KEYS = {
    "bottomRadius": ("radius",),
    "coord": ("vertices", "coordinate"),
    "coordIndex": ("faces", "coord_index"),
    "color": ("colors",),
    "normal": ("normals",),
    "normalIndex": ("normal_indices",),
    "texCoord": ("tex_coords", "tex_coord"),
    "texCoordIndex": ("tex_coord_indices", "tex_coord_index"),
    "diffuseColor": ("diffuse", "diffuse_color"),
    "emissiveColor": ("emissive", "emissive_color"),
    "specularColor": ("specular", "specular_color"),
    "ambientIntensity": ("ambient", "ambient_intensity"),
    "url": ("url", "uri"),
}
"""The keys of fields whose names are not those of VRML97 with `_`."""
LISTS = {"coord": ("Coordinate", "point", 3), **PROPERTIES}
"""The nodes in these fields, the fields of those, and their width."""


class ShapeReader:
    """Reads geometry and materials.

    A node that aliases use several times becomes the same object each time.
    """

    def __init__(self, context: Context, parts: ReferencedFiles) -> None:
        self.geometries = GeometryReader(context.found, lambda node: node)
        self.appearances = AppearanceReader(context.found, lambda node: node, parts)
        self._geometries: dict[tuple[int, bool], tuple[Mapping, Geometry | None]] = {}
        self._materials: dict[int, tuple[Mapping, Material]] = {}

    def geometry(
        self, node: Mapping, context: Context, textured: bool
    ) -> Geometry | None:
        """Return the geometry of a node; None where it shows nothing."""
        key = (id(node), textured)
        if key not in self._geometries:
            self.geometries.found = context.found
            self._geometries[key] = (
                node,
                self._geometry(Fields(node, context, "a geometry"), textured),
            )
        return self._geometries[key][1]

    def material(self, node: Mapping, context: Context) -> Material:
        """Return the material of an appearance."""
        if id(node) not in self._materials:
            self.appearances.found = context.found
            made = self.appearances.read(
                _appearance(Fields(node, context, "an appearance"))
            )
            self._materials[id(node)] = (node, made)
        return self._materials[id(node)][1]

    def _geometry(self, fields: Fields, textured: bool) -> Geometry | None:
        kind = fields.text("type")
        if kind:
            fields.title = label(kind)
        else:
            fields.title = fields.title
        if kind == "Capsule":
            radius, height = (
                cast("float", size) for size in _values(fields, "Capsule").values()
            )
            if radius > 0 and height >= 0:
                return Capsule(radius, height)
            fields.report(BAD_SIZE, f"Capsule of size {radius:g} {height:g}")
            return None
        is_mesh = kind == "Mesh"
        kind = "IndexedFaceSet" if is_mesh else kind
        if kind not in GEOMETRY_NODES:
            if kind:
                message = f"a geometry has the unknown type {kind!r:.60}"
            else:
                message = "a geometry has no type"
            fields.report(rules.GEOMETRY, message, "type")
            return None
        values = _values(fields, kind)
        faces = values.get("coordIndex")
        if (
            is_mesh
            and isinstance(faces, np.ndarray)
            and len(faces)
            and (faces >= 0).all()
        ):
            values["coordIndex"] = np.insert(
                faces[: len(faces) // 3 * 3].reshape(-1, 3), 3, -1, axis=1
            ).reshape(-1)
        elif kind == "Extrusion":
            values |= _along_spine(fields, values)
        return self.geometries.read(_vrml(fields.node, kind, values), textured)


def _vrml(node: Mapping, kind: str, fields: dict[str, Value]) -> VrmlNode:
    return VrmlNode(
        kind, fields=fields, text=cast("Text", node.text), offset=node.offset
    )


def _values(fields: Fields, kind: str) -> dict[str, Value]:
    """Return those fields of a VRML97 node that a mapping has keys for, and the sizes of a primitive."""
    values: dict[str, Value] = {}
    for name in FIELDS.get(kind, "").split():
        declared = standard_fields("Cylinder" if kind == "Capsule" else kind)[name]
        keys = _keys(name)
        default = declared.value
        is_size = kind in PRIMITIVES and declared.type != "SFBool"
        if is_size:
            if kind == "Box":
                default = frozen(np.ones(3))
            else:
                default = 1.0
        elif name == "solid":
            default = False
        if fields.has(*keys):
            value = _value(fields, name, keys, declared.type, default)
            values |= {} if value is None else {name: value}
        elif is_size or name == "solid":
            values[name] = default
            if is_size:
                fields.report(rules.NO_SIZE, f"{fields.title} has no {keys[0]}")
    return values


def _keys(name: str) -> tuple[str, ...]:
    return KEYS.get(name) or (
        re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name),
    )


def _value(
    fields: Fields,
    name: str,
    keys: tuple[str, ...],
    field_type: str,
    default: Any,  # noqa: ANN401
) -> Value:
    """Return the value of a field of this type.

    None where a list cannot be read.
    """
    match field_type:
        case "SFBool":
            return fields.flag(*keys, default=default)
        case "SFInt32":
            return fields.integer(*keys, default=default)
        case "SFFloat":
            return (fields.angle if name == "creaseAngle" else fields.number)(
                *keys, default=default
            )
        case "SFVec2f" | "SFVec3f" | "SFColor":
            return frozen(fields.vector(*keys, default=tuple(default)))
        case "MFInt32":
            return _indices(fields, *keys)
        case "MFString":
            return list(fields.texts(*keys))
        case "SFNode":
            node_type, inner, width = LISTS[name]
            rows = fields.rows(*keys, width=width)
            if rows is None:
                return None
            return _vrml(fields.node, node_type, {inner: rows})
        case _:
            rows = fields.rows(
                *keys, width={"MFFloat": 1, "MFVec2f": 2, "MFVec3f": 3}[field_type]
            )
            if rows is not None and field_type == "MFFloat":
                return rows.reshape(-1)
            return rows


def _along_spine(fields: Fields, values: dict[str, Value]) -> dict[str, Value]:
    spine = values.get("spine")
    if isinstance(spine, np.ndarray):
        count = len(spine)
    else:
        count = 2
    rotations = fields.rows("orientation", width=4)
    scale = fields.rows("scale", width=2)
    found: dict[str, Value] = {}
    if rotations is not None and len(rotations):
        rotations = rotations * [1.0, 1.0, 1.0, fields.context.angle_unit]
        found["orientation"] = _continued(rotations, count, [0.0, 0.0, 1.0, 0.0])
    if scale is not None and len(scale):
        found["scale"] = _continued(scale, count, [0.0, 0.0])
    return found


def _continued(rows: Floats, count: int, row: list[float]) -> Floats:
    """Return one row for each point of the spine.

    A single row is for all of them.
    """
    if 1 < len(rows) < count:
        return frozen(np.concatenate([rows, np.tile(row, (count - len(rows), 1))]))
    return frozen(rows)


def _indices(fields: Fields, *names: str) -> Ints:
    values = np.array(fields.numbers(*names) or [], dtype=np.float64)
    if (
        not np.isfinite(values).all()
        or (np.abs(values) > 2**31 - 1).any()
        or (values % 1 != 0).any()
    ):
        fields.reject(
            WRONG_VALUE,
            f"{names[0]} of {fields.title} must be a list of whole numbers",
            names[0],
        )
        return NO_INTEGERS
    return values.astype(np.int32)


def _appearance(fields: Fields) -> VrmlNode:
    values: dict[str, Value] = {}
    for key, name, read in (
        ("material", "material", _material),
        (
            "texture",
            "texture",
            lambda fields: _vrml(
                fields.node, "ImageTexture", _values(fields, "ImageTexture")
            ),
        ),
        ("texture_transform", "textureTransform", _texture_transform),
    ):
        node = fields.find(key)
        if isinstance(node, Mapping):
            values[name] = read(Fields(node, fields.context, with_article(key)))
    return _vrml(fields.node, "Appearance", values)


def _material(fields: Fields) -> VrmlNode:
    values = _values(fields, "Material")
    if fields.has("specular_exponent"):
        # VRML's shininess 1 is an exponent of 128.
        values["shininess"] = min(
            max(fields.number("specular_exponent", default=25.0), 0.0) / 128.0, 1.0
        )
    fields.report_misspelt(
        (
            *(key for name in FIELDS["Material"].split() for key in _keys(name)),
            "specular_exponent",
        )
    )
    return _vrml(fields.node, "Material", values)


def _texture_transform(fields: Fields) -> VrmlNode:
    values = _values(fields, "TextureTransform")
    value = fields.find("rotation")
    if isinstance(value, Scalar):
        values["rotation"] = fields.angle("rotation", default=0.0)
    elif isinstance(value, Sequence):
        # About an axis like all rotations, though only a rotation about z has a meaning
        # on an image.
        w, _, _, z = fields.rotation("rotation") or (1.0, 0.0, 0.0, 0.0)
        values["rotation"] = 2.0 * float(np.arctan2(z, w))
    return _vrml(fields.node, "TextureTransform", values)
