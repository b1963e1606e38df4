"""Shapes as VRML97 nodes, with their materials and textures.

Transforms as fields of a Transform.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import losses
from bodymotion.diagnostics.losses import Report
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.vrml import nodes
from bodymotion.formats.vrml.nodes import Node, Value
from bodymotion.formats.vrml.shapes import (
    MATERIAL_FIELDS,
    PROPERTIES,
    ROUND_SOLIDS,
    node_transform,
    rotation_matrix,
    texture_matrix,
)
from bodymotion.formats.vrml.writer import is_name
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats, frozen
from bodymotion.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Corners,
    Cylinder,
    Geometry,
    Lines,
    Material,
    Mesh,
    Points,
    Shape,
    Sphere,
    Texture,
)

DIGITS = (
    3,
    4,
    5,
    6,
    7,
    8,
    10,
    12,
    13,
    15,
    16,
)  # Tried in this order, until a text reads back exactly.
IDENTITY_ROTATION: Floats = np.eye(3)
ROUNDING = 1e-12  # How far, as a share of its largest number, a matrix may be from one that its fields give.

DEFAULT = Material()


def texture_nodes(texture: Texture, url: str, report: Report) -> dict[str, Value]:
    """Return the fields of an Appearance for a texture whose file has this url."""
    repeats = {"repeatS": texture.repeat_s, "repeatT": texture.repeat_t}
    fields: dict[str, Value] = {
        "url": [url],
        **{name: False for name, repeat in repeats.items() if not repeat},
    }
    result: dict[str, Value] = {"texture": Node("ImageTexture", fields=fields)}
    if not np.array_equal(texture.transform, np.eye(3)):
        transform_node = Node(
            "TextureTransform", fields=_transform_fields(texture.transform)
        )
        if _is_close(texture_matrix(transform_node), texture.transform):
            result["textureTransform"] = transform_node
        else:
            report(
                losses.SHAPE_LOOK,
                "a transform of texture coordinates that shears is left out",
            )
    return result


def _transform_fields(matrix: Floats) -> dict[str, Value]:
    """Split a matrix (3, 3), −C · S · R · C · T, into scale, rotation, and a centre that is moved to the origin."""
    (a, b), (c, d) = matrix[:2, :2].tolist()
    if a or b:
        angle = math.atan2(-b, a)
    else:
        angle = math.atan2(c, d)
    sine = math.sin(angle)
    cosine = math.cos(angle)
    scale = np.array([a * cosine - b * sine, c * sine + d * cosine])
    fields: dict[str, Value] = {}
    if angle:
        fields["rotation"] = angle
    if (scale != 1.0).any():
        fields["scale"] = scale
    moved = matrix[:2, 2]
    if moved.any():
        # With T = −C the point that is rotated and scaled is the origin, and −C is the
        # translation after that.
        fields["center"], fields["translation"] = -moved, np.array(moved)
    return fields


def rotation_value(quaternion: Floats) -> Floats | None:
    """Return axis and angle (4,) of a quaternion w x y z as an SFRotation.

    None for the identity.

    The angle is in 0…2π and keeps the quaternion's sign.
    """
    w, x, y, z = quaternion.tolist()
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0 or not math.isfinite(length + w):
        if w < 0:
            return np.array([0.0, 0.0, 1.0, 2 * math.pi])
        return None
    # Zeros without a sign: they are the same to the reader and shorter.
    exact = (
        (x / length + 0.0, y / length + 0.0, z / length + 0.0),
        2.0 * math.atan2(length, w),
    )

    def same(axis: tuple[float, float, float], angle: float) -> bool:
        return nodes.quaternion(axis, angle) == (w, x, y, z)

    return np.array(_searched(*exact, same))


def transform_fields(matrix: Floats) -> dict[str, Value]:
    """Return translation, rotation, scale and scaleOrientation of a Transform that is the affine matrix (4, 4).

    Those that do nothing are left out.

    A matrix with scale is a rotation times a symmetric stretch (polar decomposition);
    the stretch is a scale along the axes where possible, and else along its
    eigenvectors. A mirrored one has a negative scale.
    """
    if np.array_equal(matrix[:3, :3], IDENTITY_ROTATION):
        if matrix[:3, 3].any():
            return {"translation": matrix[:3, 3]}
        return {}
    rotation, scale, orientation = _parts(matrix[:3, :3])
    exact = (*_axis_angle(rotation), *scale, *_axis_angle(orientation))
    if scale == (1.0, 1.0, 1.0):
        wanted = tuple(tuple(row) for row in matrix[:3, :3].tolist())
        found = _searched(
            exact[:3],
            exact[3],
            lambda axis, angle: rotation_matrix(axis, angle) == wanted,
        )
        return _fields(matrix[:3, 3], np.array([*found, *exact[4:]])) or {}
    for value in (
        *(np.array([_rounded(x, digits) for x in exact]) for digits in DIGITS),
        np.array(exact),
    ):
        fields = _fields(matrix[:3, 3], value)
        if fields is not None and np.array_equal(
            node_transform(Node("Transform", fields=fields)), matrix
        ):
            return fields
    return _fields(matrix[:3, 3], np.array(exact)) or {}


def holds(matrix: Floats, fields: dict[str, Value]) -> bool:
    """Return whether a Transform with these fields is the matrix except for rounding."""
    if not np.isfinite(matrix).all():
        return False
    return _is_close(node_transform(Node("Transform", fields=fields)), matrix)


def _is_close(read: Floats, wanted: Floats) -> bool:
    return bool(
        np.abs(read - wanted).max() <= ROUNDING * max(1.0, np.abs(wanted).max())
    )


def _searched(
    axis: tuple[float, ...],
    angle: float,
    same: Callable[[tuple[float, float, float], float], bool],
) -> tuple[float, ...]:
    """Return a rotation that is read as the wanted one.

    Of the fewest digits, or else next to the computed one, or else that itself.

    `same` gets axes as they are read, of length 1.
    """
    axes = list(
        dict.fromkeys(
            (
                *(tuple(_rounded(x, digits) for x in axis) for digits in DIGITS),
                tuple(axis),
            )
        )
    )
    angles = list(
        dict.fromkeys((*(_rounded(angle, digits) for digits in DIGITS), angle))
    )
    near = itertools.product(
        itertools.product(*map(_neighbours, axis)), _neighbours(angle)
    )
    for candidate, angle_ in itertools.chain(itertools.product(axes, angles), near):
        if any(candidate) and same(nodes.unit(*candidate), angle_):
            return (*candidate, angle_)
    return (*axis, angle)


def _neighbours(x: float) -> tuple[float, ...]:
    """Return a number and the doubles next to it.

    Of 0 only itself.
    """
    if x:
        return (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))
    return (x,)


def _rounded(x: float, digits: int) -> float:
    return float(f"{x:.{digits}g}")


def _fields(translation: Floats, value: Floats) -> dict[str, Value] | None:
    """Return the fields of a rotation (4), a scale (3) and its orientation (4).

    None where rounding has left no axis.
    """
    if not value[:3].any() or not value[7:10].any():
        return None
    fields: dict[str, Value] = {}
    if translation.any():
        fields["translation"] = translation
    if value[3] != 0.0:
        fields["rotation"] = value[:4]
    if (value[4:7] != 1.0).any():
        fields["scale"] = value[4:7]
        if value[10] != 0.0:
            fields["scaleOrientation"] = value[7:]
    return fields


def _axis_angle(rotation: Floats) -> tuple[float, float, float, float]:
    axis, angle = rotations.to_axis_angle(rotations.from_matrix(rotation))
    x, y, z = (axis + 0.0).tolist()
    return x, y, z, float(angle)


def _parts(matrix: Floats) -> tuple[Floats, tuple[float, ...], Floats]:
    """Split a matrix (3, 3) into a rotation, a scale (3) and the rotation of the scale's axes."""
    lengths = np.linalg.norm(matrix, axis=0)
    rotation = matrix / np.where(lengths > 0, lengths, 1.0)
    if (lengths > 0).all() and np.abs(rotation.T @ rotation - np.eye(3)).max() <= 1e-14:
        lengths = np.where(np.abs(lengths - 1.0) <= 4e-16, 1.0, lengths)
        if np.linalg.det(rotation) < 0:
            # Any of the three may be the mirrored one: the one that leaves the smallest
            # rotation is chosen.
            mirrored = int(np.argmin(np.diag(rotation)))
            rotation[:, mirrored] *= -1
            lengths[mirrored] *= -1
        return rotation, tuple(lengths.tolist()), IDENTITY_ROTATION
    left, sizes, right = np.linalg.svd(matrix)
    axes = right.T
    if np.linalg.det(axes) < 0:
        axes = -axes
        left = -left
    rotation = left @ axes.T
    if np.linalg.det(rotation) < 0:
        rotation = -rotation
        sizes = -sizes
    return rotation, tuple(sizes.tolist()), axes


class ShapeWriter:
    """Makes Shape nodes.

    Parameters
    ----------
    report:
        Is called with the rule and the words for all that VRML97 cannot hold.
    url:
        Returns the url to write for a texture.
    name:
        Returns the name to write for that of a shape; without it names that are none in
        VRML97 are left out.
    """

    def __init__(
        self,
        report: Report,
        url: Callable[[Texture], str],
        name: Callable[[str], str] | None = None,
    ) -> None:
        self.report = report
        self.url = url
        self.name = name or (lambda given: given if is_name(given) else "")
        self._geometries: dict[int, tuple[Geometry, list[Node]]] = {}
        self._appearances: list[tuple[Material, Node]] = []
        self._latest: dict[int, tuple[Material, Node]] = {}

    def nodes(self, shape: Shape) -> list[Node]:
        """Return the Shape nodes for a shape, in the frame of its geometry.

        Usually one, none where nothing is visible.
        """
        geometries = self._geometry(shape.geometry)
        if not geometries:
            return []
        mesh = shape.geometry
        if (
            shape.material.texture is not None
            and isinstance(mesh, Mesh)
            and mesh.texture_coordinates is None
        ):
            message = "an image on a mesh without texture coordinates is laid on along its longest edges"
            self.report(losses.SHAPE_LOOK, message)
        appearance = self._appearance(shape.material)
        if len(geometries) == 1:
            name = self.name(shape.name)
        else:
            name = ""
        result = []
        for geometry in geometries:
            shape_nodes = [
                Node("Shape", name, {"appearance": appearance, "geometry": geometry})
            ]
            if isinstance(mesh, Capsule) and geometry.type == "Sphere" and mesh.height:
                end = 0.5 * mesh.height
                shape_nodes = [
                    Node(
                        "Transform",
                        fields={
                            "translation": np.array([0.0, y, 0.0]),
                            "children": shape_nodes,
                        },
                    )
                    for y in (end, -end)
                ]
            result += shape_nodes
        return result

    # ---- appearance

    def _appearance(self, material: Material) -> Node:
        known = self._latest.get(id(material))
        if known is not None:
            return known[1]
        node = next(
            (node for other, node in self._appearances if other == material), None
        )
        if node is None:
            appearance: dict[str, Value] = {"material": self._material(material)}
            if material.texture is not None:
                appearance |= texture_nodes(
                    material.texture, self.url(material.texture), self.report
                )
            node = Node("Appearance", fields=appearance)
            # Robots have few materials; a scene that has many is written with each by
            # itself.
            if len(self._appearances) < 100:
                self._appearances.append((material, node))
        self._latest[id(material)] = (material, node)
        return node

    def _material(self, material: Material) -> Node:
        fields: dict[str, Value] = {}
        for name, attribute in MATERIAL_FIELDS.items():
            if (value := getattr(material, attribute)) != getattr(DEFAULT, attribute):
                within = self._within(np.asarray(value, dtype=np.float64), name)
                fields[name] = within if within.ndim else float(within)
        return Node("Material", fields=fields)

    def _within(self, values: Floats, what: str) -> Floats:
        inside = np.clip(np.where(np.isnan(values), 0.0, values), 0.0, 1.0)
        if not np.array_equal(inside, values):
            self.report(
                losses.SHAPE_LOOK.as_note, f"{what} beyond 0…1 is cut off there"
            )
        return inside

    # ---- geometries

    def _geometry(self, geometry: Geometry) -> list[Node]:
        known = self._geometries.get(id(geometry))
        if known is None:
            known = self._geometries[id(geometry)] = (
                geometry,
                self._new_geometry(geometry),
            )
        return known[1]

    def _new_geometry(self, geometry: Geometry) -> list[Node]:
        match geometry:
            case Box(size):
                return self._sized(
                    "Box",
                    {"size": np.array(size, dtype=np.float64)},
                    {},
                    some_zero=True,
                )
            case Sphere() | Cylinder() | Cone():
                kind = type(geometry).__name__
                _, fields, parts = ROUND_SOLIDS[kind]
                sizes = {
                    name: float(
                        getattr(geometry, "height" if name == "height" else "radius")
                    )
                    for name in fields
                }
                return self._sized(
                    kind, sizes, {part: getattr(geometry, part) for part in parts}
                )
            case Capsule(radius, height):
                self.report(
                    losses.SHAPE_FORM,
                    "a capsule is written as a cylinder and two balls",
                )
                ball = self._new_geometry(Sphere(radius))
                if not 0 <= height < 1e100:
                    self.report(
                        losses.NOT_DRAWN, f"a capsule of height {height:g} is left out"
                    )
                    return []
                if height == 0 or not ball:
                    return ball
                return [
                    *self._new_geometry(
                        Cylinder(radius, height, top=False, bottom=False)
                    ),
                    *ball,
                ]
            case Mesh():
                return self._face_set(geometry)
            case Lines():
                return self._line_set(geometry)
            case Points():
                return self._point_set(geometry)

    def _sized(
        self,
        kind: str,
        sizes: dict[str, Any],
        parts: dict[str, bool],
        some_zero: bool = False,
    ) -> list[Node]:
        numbers = np.concatenate([np.ravel(size) for size in sizes.values()])
        good = (
            np.isfinite(numbers).all()
            and (numbers >= 0).all()
            and np.count_nonzero(numbers == 0) <= some_zero
        )
        if not good:
            self.report(
                losses.NOT_DRAWN,
                f"{with_article(kind)} of size {' '.join(f'{x:g}' for x in numbers)} "
                "is left out",
            )
            return []
        return [
            Node(
                kind,
                fields={
                    **sizes,
                    **{part: False for part, present in parts.items() if not present},
                },
            )
        ]

    def _face_set(self, mesh: Mesh) -> list[Node]:
        faces = mesh.faces
        vertices = mesh.vertices
        good = _usable(faces, vertices)
        if not good.any():
            self.report(losses.NOT_DRAWN.as_note, "a mesh without faces is left out")
            return []
        if not good.all() or not np.isfinite(vertices).all():
            message = f"faces of a mesh without finite corners are left out: {np.count_nonzero(~good)}"
            self.report(losses.NOT_DRAWN, message)
            faces = faces[good]
            vertices = np.where(np.isfinite(vertices), vertices, 0.0)
        fields: dict[str, Value] = {
            "coord": Node("Coordinate", fields={"point": vertices}),
            "coordIndex": _ended(faces),
        }
        for part, corners in zip(
            PROPERTIES,
            (mesh.normals, mesh.colors, mesh.texture_coordinates),
            strict=True,
        ):
            fields |= self._corners(corners, part, faces, good)
        if mesh.crease_angle != 0.0:
            if np.isfinite(mesh.crease_angle):
                fields["creaseAngle"] = float(mesh.crease_angle)
            else:
                self.report(
                    losses.NUMBER_RANGE, f"creaseAngle is {mesh.crease_angle}: left out"
                )
        if mesh.two_sided:
            fields["solid"] = False
        # The long lists last: so the other fields of a mesh are visible at its top.
        order = sorted(
            fields, key=lambda name: isinstance(fields[name], (Node, np.ndarray))
        )
        return [Node("IndexedFaceSet", fields={name: fields[name] for name in order})]

    def _corners(
        self,
        corners: Corners | None,
        part: str,
        faces: npt.NDArray[np.integer],
        good: Bools,
    ) -> dict[str, Value]:
        """Return the fields for a property of corners.

        By vertex and by face without an index list where that means the same.
        """
        if corners is None:
            return {}
        node_type, name, width = PROPERTIES[part]
        values = corners.values
        indices = corners.indices
        fits = (
            values.ndim == 2
            and values.shape[1] >= width
            and indices.shape == (len(good), 3)
            and len(values)
        )
        if not fits or indices.min() < 0 or indices.max() >= len(values):
            self.report(
                losses.SHAPE_LOOK,
                f"{part}: values that do not fit the corners of the mesh are left out",
            )
            return {}
        if values.shape[1] > width:
            message = f"{part}: {values.shape[1] - width} of {values.shape[1]} numbers are left out"
            self.report(losses.SHAPE_LOOK, message)
            values = values[:, :width]
        if part == "color":
            values = self._within(values, "a colour of a mesh")
        elif not np.isfinite(values).all():
            self.report(
                losses.NUMBER_RANGE,
                f"{part}: numbers that are not finite are written as 0",
            )
            values = np.where(np.isfinite(values), values, 0.0)
        indices = indices[good]
        fields: dict[str, Value] = {
            part: Node(node_type, fields={name: frozen(values)})
        }
        if np.array_equal(indices, faces):
            return fields
        if part != "texCoord" and (indices == indices[:, :1]).all():
            fields[f"{part}PerVertex"] = False
            if not np.array_equal(indices[:, 0], np.arange(len(indices))):
                fields[f"{part}Index"] = np.ascontiguousarray(indices[:, 0])
            return fields
        fields[f"{part}Index"] = _ended(indices)
        return fields

    def _line_set(self, lines: Lines) -> list[Node]:
        segments = lines.segments
        count = len(lines.vertices)
        good = _usable(segments, lines.vertices)
        if not good.any():
            self.report(
                losses.NOT_DRAWN.as_note, "lines without a segment are left out"
            )
            return []
        if not good.all():
            self.report(
                losses.NOT_DRAWN,
                f"lines without finite ends are left out: {np.count_nonzero(~good)}",
            )
            segments = segments[good]
        vertices = lines.vertices
        if not np.isfinite(vertices).all():
            self.report(
                losses.NUMBER_RANGE, "points that are not finite are written as 0"
            )
            vertices = np.where(np.isfinite(vertices), vertices, 0.0)
        fields: dict[str, Value] = {
            "coord": Node("Coordinate", fields={"point": vertices})
        }
        if lines.colors is not None and len(lines.colors) == count:
            if count != 2 * len(segments) or not np.array_equal(
                segments.ravel(), np.arange(count)
            ):
                self.report(
                    losses.SHAPE_FORM,
                    "the ends of coloured lines are read back each by itself",
                )
            fields["color"] = self._colors(lines.colors)
        fields["coordIndex"] = _polylines(segments)
        return [Node("IndexedLineSet", fields=fields)]

    def _point_set(self, points: Points) -> list[Node]:
        good = np.asarray(np.isfinite(points.vertices).all(axis=1))
        if not good.all() or not len(good):
            message = f"{np.count_nonzero(~good)} points are not finite and left out, or there are none"
            self.report(losses.NOT_DRAWN, message)
        if not good.any():
            return []
        fields: dict[str, Value] = {
            "coord": Node("Coordinate", fields={"point": points.vertices[good]})
        }
        if points.colors is not None and len(points.colors) == len(good):
            fields["color"] = self._colors(points.colors[good])
        return [Node("PointSet", fields=fields)]

    def _colors(self, colors: Floats) -> Node:
        if colors.shape[1] > 3:
            self.report(
                losses.SHAPE_LOOK, "colours of lines and points have three parts"
            )
        return Node(
            "Color",
            fields={"color": self._within(np.asarray(colors[:, :3]), "a colour")},
        )


def _usable(index: npt.NDArray[np.integer], vertices: Floats) -> Bools:
    """Return which faces or lines (N, K) have vertices (V, 3) that exist and are finite."""
    good = np.asarray(((index >= 0) & (index < len(vertices))).all(axis=1))
    if len(vertices):
        finite = np.asarray(np.isfinite(vertices).all(axis=1))
        good &= finite[np.clip(index, 0, len(vertices) - 1)].all(axis=1)
    return good


def _ended(faces: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    rows = np.full((len(faces), 4), -1, dtype=np.int32)
    rows[:, :3] = faces
    return rows.reshape(-1)


def _polylines(segments: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Return segments (S, 2) as lines that go on as long as the next one begins where the last ends, each ended by -1."""
    begins = np.ones(len(segments), dtype=bool)
    begins[1:] = segments[1:, 0] != segments[:-1, 1]
    ends = np.append(begins[1:], True)
    place = np.cumsum(1 + begins + np.concatenate([[0], ends[:-1]])) - 1
    index = np.full(place[-1] + 2, -1, dtype=np.int32)
    index[place] = segments[:, 1]
    index[place[begins] - 1] = segments[begins, 0]
    return index
