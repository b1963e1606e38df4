"""Read geometry and appearance.

They are the nodes of VRML97 under other keys, so they are handed to its readers.

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
from bodymotion.formats.vrml.fields import COUNTS, standard_fields
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

# Primitives whose sizes have other defaults than in VRML97.
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
        # There are no prototypes in YAML: each node means itself.
        self.geometries = GeometryReader(context.found, lambda node: node)
        self.appearances = AppearanceReader(context.found, lambda node: node, parts)
        self._geometries: dict[tuple[int, bool], tuple[Mapping, Geometry | None]] = {}
        self._materials: dict[int, tuple[Mapping, Material]] = {}

    def geometry(
        self, node: Mapping, context: Context, textured: bool
    ) -> Geometry | None:
        """Return the geometry of a node; None where it shows nothing."""
        # Textures change the mapping: both are in the key.
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
        """Return the geometry of a node by its type."""
        geometry_type = fields.text("type")
        if geometry_type:
            fields.title = label(geometry_type)
        if geometry_type == "Capsule":
            return _capsule(fields)
        # A Mesh is an IndexedFaceSet of triangles without -1.
        is_mesh = geometry_type == "Mesh"
        if is_mesh:
            geometry_type = "IndexedFaceSet"
        if geometry_type not in GEOMETRY_NODES:
            message = "a geometry has no type"
            if geometry_type:
                message = f"a geometry has the unknown type {geometry_type!r:.60}"
            fields.report(rules.GEOMETRY, message, "type")
            return None
        values = _values(fields, geometry_type)
        if is_mesh:
            values |= _ended_triangles(values)
        elif geometry_type == "Extrusion":
            values |= _along_spine(fields, values)
        return self.geometries.read(_vrml(fields.node, geometry_type, values), textured)


def _capsule(fields: Fields) -> Capsule | None:
    sizes = cast("dict[str, float]", _values(fields, "Capsule"))
    radius, height = sizes.values()
    if radius > 0 and height >= 0:
        return Capsule(radius, height)
    fields.report(BAD_SIZE, f"Capsule of size {radius:g} {height:g}")
    return None


def _ended_triangles(values: dict[str, Value]) -> dict[str, Value]:
    """Return the triangles of a Mesh, each ended by -1 as in VRML97."""
    faces = values.get("coordIndex")
    # With -1 it is written as an IndexedFaceSet.
    if not isinstance(faces, np.ndarray) or not len(faces) or (faces < 0).any():
        return {}
    # Three corners a triangle; what is left over is no face.
    triangles = faces[: len(faces) // 3 * 3].reshape(-1, 3)
    return {"coordIndex": np.insert(triangles, 3, -1, axis=1).reshape(-1)}


def _vrml(node: Mapping, kind: str, fields: dict[str, Value]) -> VrmlNode:
    return VrmlNode(
        kind, fields=fields, text=cast("Text", node.text), offset=node.offset
    )


def _values(fields: Fields, node_type: str) -> dict[str, Value]:
    """Return the fields of a VRML97 node that a mapping has keys for.

    And the sizes of a primitive.
    """
    values: dict[str, Value] = {}
    # A Capsule has the sizes of a Cylinder.
    standard = standard_fields("Cylinder" if node_type == "Capsule" else node_type)
    for name in FIELDS.get(node_type, "").split():
        declared = standard[name]
        keys = _keys(name)
        default = declared.value
        # Sizes, not the flags `top`, `bottom` and `side`.
        is_size = node_type in PRIMITIVES and declared.type != "SFBool"
        if is_size:
            default = frozen(np.ones(3)) if node_type == "Box" else 1.0
        elif name == "solid":
            # Surfaces are seen from both sides.
            default = False
        if fields.has(*keys):
            value = _value(fields, name, keys, declared.type, default)
            if value is not None:
                values[name] = value
        elif is_size or name == "solid":
            values[name] = default
            if is_size:
                fields.report(rules.NO_SIZE, f"{fields.title} has no {keys[0]}")
    return values


def _keys(name: str) -> tuple[str, ...]:
    # camelCase to snake_case.
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
        case "SFFloat" if name == "creaseAngle":
            return fields.angle(*keys, default=default)
        case "SFFloat":
            return fields.number(*keys, default=default)
        case "SFVec2f" | "SFVec3f" | "SFColor":
            return frozen(fields.vector(*keys, default=tuple(default)))
        case "MFInt32":
            return _indices(fields, *keys)
        case "MFString":
            return list(fields.texts(*keys))
        # A node in VRML97 is a plain list here.
        case "SFNode":
            node_type, inner, width = LISTS[name]
            rows = fields.rows(*keys, width=width)
            if rows is None:
                return None
            return _vrml(fields.node, node_type, {inner: rows})
    rows = fields.rows(*keys, width=COUNTS["SF" + field_type[2:]])
    if rows is not None and field_type == "MFFloat":
        return rows.reshape(-1)
    return rows


def _along_spine(fields: Fields, values: dict[str, Value]) -> dict[str, Value]:
    """Return the orientation and scale of an Extrusion at the points of its spine."""
    spine = values.get("spine")
    # Without a spine, VRML97's default has two points.
    count = len(spine) if isinstance(spine, np.ndarray) else 2
    result: dict[str, Value] = {}
    rotations = fields.rows("orientation", width=4)
    if rotations is not None and len(rotations):
        # VRML97 has radians.
        rotations = rotations * [1.0, 1.0, 1.0, fields.context.angle_unit]
        result["orientation"] = _continued(rotations, count, [0.0, 0.0, 1.0, 0.0])
    scale = fields.rows("scale", width=2)
    if scale is not None and len(scale):
        result["scale"] = _continued(scale, count, [0.0, 0.0])
    return result


def _continued(rows: Floats, count: int, row: list[float]) -> Floats:
    """Return one row for each point of the spine.

    A single row is for all of them.
    """
    # Too few rows are not repeated as in VRML97: see the top of this file.
    if 1 < len(rows) < count:
        return frozen(np.concatenate([rows, np.tile(row, (count - len(rows), 1))]))
    return frozen(rows)


def _indices(fields: Fields, *names: str) -> Ints:
    values = np.array(fields.numbers(*names) or [], dtype=np.float64)
    # Not nan, infinite, or with a fraction.
    are_whole = np.isfinite(values).all() and (values % 1 == 0).all()
    if not are_whole or (np.abs(values) > 2**31 - 1).any():
        message = f"{names[0]} of {fields.title} must be a list of whole numbers"
        fields.reject(WRONG_VALUE, message, names[0])
        return NO_INTEGERS
    return values.astype(np.int32)


def _appearance(fields: Fields) -> VrmlNode:
    """Return the Appearance node of VRML97 for an appearance."""
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
        exponent = fields.number("specular_exponent", default=25.0)
        values["shininess"] = min(max(exponent, 0.0) / 128.0, 1.0)
    keys = ["specular_exponent"]
    for name in FIELDS["Material"].split():
        keys += _keys(name)
    fields.report_misspelt(keys)
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
