"""Geometry and appearance: the nodes of VRML97 under other keys, so they are handed to its readers.

What differs: angles are in the file's unit, a missing main size of a primitive is 1, surfaces are seen from both sides, an Extrusion with
too few orientations is not rotated from there on and with too few scales shrinks to a point, shininess may be a specular exponent. Capsule
and Mesh are not in VRML97.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.fields import Context, Fields, default_on_error, label
from bodymotion.formats.vrml.nodes import Node as VrmlNode
from bodymotion.formats.vrml.rules import BAD_SIZE
from bodymotion.formats.vrml.shapes import GEOMETRY_NODES, AppearanceReader, GeometryReader
from bodymotion.formats.yaml.tree import Mapping, Scalar, Sequence
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Capsule, Geometry, Material

if TYPE_CHECKING:
    from bodymotion.formats.text.source_text import Text
    from bodymotion.formats.vrml.nodes import Value
    from bodymotion.formats.vrml.reader import InlineLoader

NO_INDICES: np.ndarray[tuple[int], np.dtype[np.int32]] = np.zeros(0, dtype=np.int32)
MATERIAL_KEYS = (
    "ambient",
    "ambient_intensity",
    "diffuse",
    "diffuse_color",
    "emissive",
    "emissive_color",
    "shininess",
    "specular",
    "specular_color",
    "specular_exponent",
    "transparency",
)


class ShapeReader:
    """Reads geometry and materials; a node that aliases use several times becomes the same object each time."""

    def __init__(self, context: Context, parts: InlineLoader) -> None:
        self.geometries = GeometryReader(context.found, lambda node: node)
        self.appearances = AppearanceReader(context.found, lambda node: node, parts.resolve)
        self._geometries: dict[tuple[int, bool], tuple[Mapping, Geometry | None]] = {}
        self._materials: dict[int, tuple[Mapping, Material]] = {}

    def geometry(self, node: Mapping, context: Context, textured: bool) -> Geometry | None:
        """Return the geometry of a node; None where it shows nothing."""
        key = (id(node), textured)
        if key not in self._geometries:
            self.geometries.found = context.found
            self._geometries[key] = (node, self._geometry(Fields(node, context, "a geometry"), textured))
        return self._geometries[key][1]

    def material(self, node: Mapping, context: Context) -> Material:
        """Return the material of an appearance."""
        if id(node) not in self._materials:
            self.appearances.found = context.found
            made = self.appearances.read(_appearance(Fields(node, context, "an appearance")))
            self._materials[id(node)] = (node, made)
        return self._materials[id(node)][1]

    def _geometry(self, fields: Fields, textured: bool) -> Geometry | None:
        kind = fields.text("type")
        fields.title = label(kind) if kind else fields.title
        if kind == "Capsule":
            return self._capsule(fields)
        build = _BUILDERS.get(kind)
        values = build(fields) if build is not None else {}
        if kind == "Mesh":
            kind = "IndexedFaceSet"
        if build is None and kind not in GEOMETRY_NODES:
            message = f"a geometry has the unknown type {kind!r:.60}" if kind else "a geometry has no type"
            fields.report(rules.GEOMETRY, message, "type")
            return None
        return self.geometries.read(_vrml(fields.node, kind, values), textured)

    def _capsule(self, fields: Fields) -> Capsule | None:
        radius, height = _size(fields, "radius"), _size(fields, "height")
        if radius > 0 and height >= 0:
            return Capsule(radius, height)
        fields.report(BAD_SIZE, f"Capsule of size {radius:g} {height:g}")
        return None


def _vrml(node: Mapping, kind: str, fields: dict[str, Value]) -> VrmlNode:
    return VrmlNode(kind, fields=fields, text=cast("Text", node.text), offset=node.offset)


def _size(fields: Fields, name: str) -> float:
    if not fields.has(name):
        fields.report(rules.NO_SIZE, f"{fields.title} has no {name}")
    return fields.number(name, default=1.0)


def _box(fields: Fields) -> dict[str, Value]:
    if not fields.has("size"):
        fields.report(rules.NO_SIZE, f"{fields.title} has no size")
    return {"size": frozen(fields.vector("size", default=(1.0, 1.0, 1.0)))}


def _sphere(fields: Fields) -> dict[str, Value]:
    return {"radius": _size(fields, "radius")}


def _cylinder(fields: Fields) -> dict[str, Value]:
    values: dict[str, Value] = {"radius": _size(fields, "radius"), "height": _size(fields, "height")}
    return values | {part: fields.flag(part, default=True) for part in ("side", "top", "bottom")}


def _cone(fields: Fields) -> dict[str, Value]:
    values: dict[str, Value] = {"bottomRadius": _size(fields, "radius"), "height": _size(fields, "height")}
    return values | {part: fields.flag(part, default=True) for part in ("side", "bottom")}


def _surface(fields: Fields) -> dict[str, Value]:
    values: dict[str, Value] = {
        "creaseAngle": fields.angle("crease_angle", default=0.0),
        "solid": fields.flag("solid", default=False),
    }
    # Without ccw, the reader finds out which side of an Extrusion is outside.
    return values | {"ccw": fields.flag("ccw", default=True)} if fields.has("ccw") else values


def _extrusion(fields: Fields) -> dict[str, Value]:
    values = _surface(fields) | {
        "beginCap": fields.flag("begin_cap", default=True),
        "endCap": fields.flag("end_cap", default=True),
    }
    section, spine = fields.rows("cross_section", width=2), fields.rows("spine", width=3)
    count = 2 if spine is None else len(spine)
    rotations, scale = fields.rows("orientation", width=4), fields.rows("scale", width=2)
    if rotations is not None and len(rotations):
        rotations = rotations * [1.0, 1.0, 1.0, fields.context.angle_unit]
        values["orientation"] = _continued(rotations, count, [0.0, 0.0, 1.0, 0.0])
    if scale is not None and len(scale):
        values["scale"] = _continued(scale, count, [0.0, 0.0])
    if section is not None:
        values["crossSection"] = section
    if spine is not None:
        values["spine"] = spine
    return values


def _continued(rows: Floats, count: int, row: list[float]) -> Floats:
    """Return one row for each point of the spine; a single row is for all of them."""
    if 1 < len(rows) < count:
        return frozen(np.concatenate([rows, np.tile(row, (count - len(rows), 1))]))
    return frozen(rows)


def _grid(fields: Fields) -> dict[str, Value]:
    values = _surface(fields)
    for name, key in (("x_dimension", "xDimension"), ("z_dimension", "zDimension")):
        values[key] = fields.integer(name, default=0)
    for name, key in (("x_spacing", "xSpacing"), ("z_spacing", "zSpacing")):
        values[key] = fields.number(name, default=1.0)
    heights = fields.rows("height", width=1)
    values["height"] = frozen(np.zeros(0)) if heights is None else heights.reshape(-1)
    return values | _corners(fields)


def _face_set(fields: Fields) -> dict[str, Value]:
    points = fields.rows("vertices", "coordinate", width=3)
    faces = _indices(fields, "faces", "coord_index")
    if fields.text("type") == "Mesh" and len(faces) and (faces >= 0).all():
        fields.used.add("faces")
        whole = faces[: len(faces) // 3 * 3].reshape(-1, 3)
        faces = np.concatenate([whole, np.full((len(whole), 1), -1, dtype=np.int32)], axis=1).reshape(-1)
    values = _surface(fields) | {
        "coord": _vrml(fields.node, "Coordinate", {"point": frozen(np.zeros((0, 3))) if points is None else points}),
        "coordIndex": faces,
    }
    for key, names in (
        ("normalIndex", ("normal_indices",)),
        ("texCoordIndex", ("tex_coord_indices", "tex_coord_index")),
    ):
        values[key] = _indices(fields, *names)
    return values | _corners(fields)


def _points(fields: Fields) -> dict[str, Value]:
    points, colors = fields.rows("vertices", width=3), fields.rows("colors", width=3)
    values: dict[str, Value] = {}
    if points is not None:
        values["coord"] = _vrml(fields.node, "Coordinate", {"point": points})
    if colors is not None:
        values["color"] = _vrml(fields.node, "Color", {"color": colors})
    return values


def _corners(fields: Fields) -> dict[str, Value]:
    values: dict[str, Value] = {}
    normals, uv = fields.rows("normals", width=3), fields.rows("tex_coords", "tex_coord", width=2)
    if normals is not None:
        values["normal"] = _vrml(fields.node, "Normal", {"vector": normals})
    if uv is not None:
        values["texCoord"] = _vrml(fields.node, "TextureCoordinate", {"point": uv})
    return values


@default_on_error(NO_INDICES)
def _indices(fields: Fields, *names: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    values = np.array(fields.numbers(*names) or [], dtype=np.float64)
    if not np.isfinite(values).all() or (np.abs(values) > 2**31 - 1).any() or (values % 1 != 0).any():
        message = f"{names[0]} of {fields.title} must be a list of whole numbers"
        raise rules.WRONG_VALUE.error(message, fields.location(names[0]))
    return values.astype(np.int32)


_BUILDERS = {
    "Box": _box,
    "Sphere": _sphere,
    "Cylinder": _cylinder,
    "Cone": _cone,
    "Extrusion": _extrusion,
    "ElevationGrid": _grid,
    "IndexedFaceSet": _face_set,
    "Mesh": _face_set,
    "PointSet": _points,
}


def _appearance(fields: Fields) -> VrmlNode:
    values: dict[str, Value] = {}
    material, texture = fields.find("material"), fields.find("texture")
    if isinstance(material, Mapping):
        values["material"] = _material(Fields(material, fields.context, "a material"))
    if isinstance(texture, Mapping):
        values["texture"] = _texture(Fields(texture, fields.context, "a texture"))
    transform = fields.find("texture_transform")
    if isinstance(transform, Mapping):
        values["textureTransform"] = _texture_transform(Fields(transform, fields.context, "a texture_transform"))
    return _vrml(fields.node, "Appearance", values)


def _material(fields: Fields) -> VrmlNode:
    values: dict[str, Value] = {}
    for key, names in (
        ("diffuseColor", ("diffuse", "diffuse_color")),
        ("emissiveColor", ("emissive", "emissive_color")),
        ("specularColor", ("specular", "specular_color")),
    ):
        if fields.has(*names):
            values[key] = frozen(fields.vector(*names, default=(0.0, 0.0, 0.0)))
    for key, name, other in (
        ("ambientIntensity", "ambient", "ambient_intensity"),
        ("transparency", "transparency", "transparency"),
        ("shininess", "shininess", "shininess"),
    ):
        if fields.has(name, other):
            values[key] = fields.number(name, other, default=0.0)
    if fields.has("specular_exponent"):
        # VRML's shininess 1 is an exponent of 128.
        values["shininess"] = min(max(fields.number("specular_exponent", default=25.0), 0.0) / 128.0, 1.0)
    fields.report_misspelt(MATERIAL_KEYS)
    return _vrml(fields.node, "Material", values)


def _texture(fields: Fields) -> VrmlNode:
    values: dict[str, Value] = {"url": list(fields.texts("url", "uri"))}
    for name, key in (("repeat_s", "repeatS"), ("repeat_t", "repeatT")):
        values[key] = fields.flag(name, default=True)
    return _vrml(fields.node, "ImageTexture", values)


def _texture_transform(fields: Fields) -> VrmlNode:
    values: dict[str, Value] = {
        "center": frozen(fields.vector("center", default=(0.0, 0.0))),
        "translation": frozen(fields.vector("translation", default=(0.0, 0.0))),
        "scale": frozen(fields.vector("scale", default=(1.0, 1.0))),
    }
    value = fields.find("rotation")
    if isinstance(value, Scalar):
        values["rotation"] = fields.angle("rotation", default=0.0)
    elif isinstance(value, Sequence):
        # About an axis like all rotations, though only a rotation about z has a meaning on an image.
        w, _, _, z = fields.rotation() or (1.0, 0.0, 0.0, 0.0)
        values["rotation"] = 2.0 * float(np.arctan2(z, w))
    return _vrml(fields.node, "TextureTransform", values)
