"""Make VRML97 nodes of shapes, with their materials and textures.

Transforms become fields of a Transform.
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

DIGITS = (3, 4, 5, 6, 7, 8, 10, 12, 13, 15, 16)
"""Tried in this order, until a text reads back exactly."""
IDENTITY_ROTATION: Floats = np.eye(3)
ROUNDING = 1e-12
"""Difference of a matrix from one that its fields give, by its largest number."""
MAX_SKEW = 1e-14
"""Cosine of the angle of two columns of a matrix that are perpendicular."""
ROUNDED_LENGTH = 4e-16
"""Difference of a scale from 1 that is rounding: two units in the last place."""
MAX_HEIGHT = 1e100
"""[m] Height of a capsule above which its squares would be infinite."""
MAX_COMPARED = 100
"""Materials that others are compared with.

Robots have few; a scene that has many is written with each by itself.
"""

DEFAULT = Material()


def texture_nodes(texture: Texture, url: str, report: Report) -> dict[str, Value]:
    """Return the fields of an Appearance for a texture whose file has this url."""
    fields: dict[str, Value] = {"url": [url]}
    if not texture.repeat_s:
        fields["repeatS"] = False
    if not texture.repeat_t:
        fields["repeatT"] = False
    result: dict[str, Value] = {"texture": Node("ImageTexture", fields=fields)}
    if np.array_equal(texture.transform, np.eye(3)):
        return result
    transform = Node("TextureTransform", fields=_transform_fields(texture.transform))
    # A matrix with shear has no such fields: then the read-back differs.
    if _is_close(texture_matrix(transform), texture.transform):
        result["textureTransform"] = transform
    else:
        message = "a transform of texture coordinates that shears is left out"
        report(losses.SHAPE_LOOK, message)
    return result


def _transform_fields(matrix: Floats) -> dict[str, Value]:
    """Return the fields of a TextureTransform (3, 3)."""
    # The matrix is −C · S · R · C · T. With T = −C the point that is rotated and scaled
    # is the origin, and −C is the translation after that.
    # S · R = [[sx cos, −sx sin], [sy sin, sy cos]] for a scale (sx, sy).
    (a, b), (c, d) = matrix[:2, :2].tolist()
    # tan(angle) = −b/a of the first row; of the second row where the first is scaled to
    # 0.
    if a or b:
        angle = math.atan2(-b, a)
    else:
        angle = math.atan2(c, d)
    sine = math.sin(angle)
    cosine = math.cos(angle)
    # sx = row 1 · (cos, −sin), sy = row 2 · (sin, cos).
    scale = np.array([a * cosine - b * sine, c * sine + d * cosine])
    fields: dict[str, Value] = {}
    if angle:
        fields["rotation"] = angle
    if (scale != 1.0).any():
        fields["scale"] = scale
    translation = matrix[:2, 2]
    if translation.any():
        # The negative translation is the centre; see above.
        fields["center"] = -translation
        fields["translation"] = np.array(translation)
    return fields


def rotation_value(quaternion: Floats) -> Floats | None:
    """Return axis and angle (4,) of a quaternion w x y z as an SFRotation.

    None for the identity. The angle is in 0…2π and keeps the quaternion's sign.
    """
    w, x, y, z = quaternion.tolist()
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0 or not math.isfinite(length + w):
        # The rotation of 2π is −1 as a quaternion: so its sign is kept.
        if w < 0:
            return np.array([0.0, 0.0, 1.0, 2 * math.pi])
        return None
    # Zeros without a sign: they are the same to the reader and shorter.
    axis = (x / length + 0.0, y / length + 0.0, z / length + 0.0)
    # |v| = sin(angle/2) and w = cos(angle/2); atan2 is exact near 0 and π.
    angle = 2.0 * math.atan2(length, w)

    def is_same(axis: tuple[float, float, float], angle: float) -> bool:
        return nodes.quaternion(axis, angle) == (w, x, y, z)

    return np.array(_searched(axis, angle, is_same))


def transform_fields(matrix: Floats) -> dict[str, Value]:
    """Return the fields of a Transform that is the affine matrix (4, 4).

    They are translation, rotation, scale and scaleOrientation; those that do nothing
    are left out. A matrix with scale is a rotation times a symmetric stretch (polar
    decomposition); the stretch is a scale along the axes where possible, and else along
    its eigenvectors. A mirrored one has a negative scale.
    """
    linear = matrix[:3, :3]
    translation = matrix[:3, 3]
    if np.array_equal(linear, IDENTITY_ROTATION):
        if translation.any():
            return {"translation": translation}
        return {}
    # Each of the three may be the identity.
    rotation, scale, orientation = _parts(linear)
    x, y, z, angle = _axis_angle(rotation)
    # Columns: scale (3), axis and angle of its orientation (4).
    rest = (*scale, *_axis_angle(orientation))
    # A pure rotation: its search is finer, and compares with the reader's own formula.
    if scale == (1.0, 1.0, 1.0):
        wanted = tuple(map(tuple, linear.tolist()))
        rounded = _searched(
            (x, y, z),
            angle,
            lambda axis, angle: rotation_matrix(axis, angle) == wanted,
        )
        return _fields(translation, np.array([*rounded, *rest])) or {}
    # With scale: as few digits as give the very same matrix back.
    exact = (x, y, z, angle, *rest)
    for digits in DIGITS:
        values = np.array([_rounded(value, digits) for value in exact])
        fields = _fields(translation, values)
        # Rounding to few digits may leave an axis of 0 0 0, which is none.
        if fields is None:
            continue
        as_read = node_transform(Node("Transform", fields=fields))
        if np.array_equal(as_read, matrix):
            return fields
    return _fields(translation, np.array(exact)) or {}


def holds(matrix: Floats, fields: dict[str, Value]) -> bool:
    """Return whether a Transform has this matrix except for rounding."""
    if not np.isfinite(matrix).all():
        return False
    return _is_close(node_transform(Node("Transform", fields=fields)), matrix)


def _is_close(read: Floats, wanted: Floats) -> bool:
    largest = max(1.0, np.abs(wanted).max())
    # Relative for large numbers, absolute for small ones.
    return bool(np.abs(read - wanted).max() <= ROUNDING * largest)


def _searched(
    axis: tuple[float, ...],
    angle: float,
    is_same: Callable[[tuple[float, float, float], float], bool],
) -> tuple[float, ...]:
    """Return a rotation that is read as the wanted one.

    Of the fewest digits, or else next to the computed one, or else that itself.

    `is_same` gets axes as they are read, of length 1.
    """
    # Dictionaries keep the order and drop what rounds to the same number.
    axes: dict[tuple[float, ...], None] = {}
    angles: dict[float, None] = {}
    for digits in DIGITS:
        axes[tuple(_rounded(x, digits) for x in axis)] = None
        angles[_rounded(angle, digits)] = None
    axes[tuple(axis)] = None
    angles[angle] = None
    near_axes = itertools.product(*map(_neighbours, axis))
    near = itertools.product(near_axes, _neighbours(angle))
    # Combinations of rounded numbers first, since they are shorter; then up to 3⁴
    # neighbours, since one unit in the last place may be all that is missing.
    for new_axis, new_angle in itertools.chain(itertools.product(axes, angles), near):
        if any(new_axis) and is_same(nodes.unit(*new_axis), new_angle):
            return (*new_axis, new_angle)
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
    # Columns of `value`: 0-3 rotation, 4-6 scale, 7-10 its orientation.
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
    """Split a matrix (3, 3) into a rotation, a scale (3) and the axes of the scale."""
    # Without shear, the columns of R · S are perpendicular, and their lengths the
    # scale.
    lengths = np.linalg.norm(matrix, axis=0)
    rotation = matrix / np.where(lengths > 0, lengths, 1.0)
    # Off-diagonal elements are the cosines between the columns.
    skew = np.abs(rotation.T @ rotation - np.eye(3)).max()
    if (lengths > 0).all() and skew <= MAX_SKEW:
        # A length of 1 up to rounding would write a scale that nobody meant.
        lengths = np.where(np.abs(lengths - 1.0) <= ROUNDED_LENGTH, 1.0, lengths)
        if np.linalg.det(rotation) < 0:
            # Any of the three may be the mirrored one: the one that leaves the smallest
            # rotation is chosen.
            mirrored = int(np.argmin(np.diag(rotation)))
            rotation[:, mirrored] *= -1
            lengths[mirrored] *= -1
        return rotation, tuple(lengths.tolist()), IDENTITY_ROTATION
    # M = U · S · Vᵀ = (U Vᵀ) · (V S Vᵀ): a rotation times a stretch along the columns
    # of V.
    left, sizes, right = np.linalg.svd(matrix)
    axes = right.T
    # V must be a rotation to be written as one: changing both signs keeps the product.
    if np.linalg.det(axes) < 0:
        axes = -axes
        left = -left
    rotation = left @ axes.T
    # A reflection cannot be a rotation: all scales become negative.
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
        # By identity, with the object itself, so that an id is not used again.
        self._geometries: dict[int, tuple[Geometry, list[Node]]] = {}
        self._appearances: list[tuple[Material, Node]] = []
        self._latest: dict[int, tuple[Material, Node]] = {}

    def nodes(self, shape: Shape) -> list[Node]:
        """Return the Shape nodes for a shape, in the frame of its geometry.

        Usually one, none where nothing is visible.
        """
        geometries = self._geometry(shape.geometry)
        # A shape without a visible geometry needs no appearance either.
        if not geometries:
            return []
        mesh = shape.geometry
        has_image = shape.material.texture is not None
        if has_image and isinstance(mesh, Mesh) and mesh.texture_coordinates is None:
            message = (
                "an image on a mesh without texture coordinates is laid on along its "
                "longest edges"
            )
            self.report(losses.SHAPE_LOOK, message)
        appearance = self._appearance(shape.material)
        name = ""
        if len(geometries) == 1:
            name = self.name(shape.name)
        result: list[Node] = []
        for geometry in geometries:
            # One appearance and one geometry are shared: the writer makes DEF and USE
            # of them.
            fields: dict[str, Value] = {"appearance": appearance, "geometry": geometry}
            node = Node("Shape", name, fields)
            if isinstance(mesh, Capsule) and geometry.type == "Sphere" and mesh.height:
                # The ball is at both ends of the cylinder.
                end = 0.5 * mesh.height
                result += [_moved_along_y(node, end), _moved_along_y(node, -end)]
            else:
                result.append(node)
        return result

    # ---- appearance

    def _appearance(self, material: Material) -> Node:
        """Return the Appearance of a material, shared by equal ones."""
        # The same object first: it needs no comparison with others.
        if id(material) in self._latest:
            return self._latest[id(material)][1]
        node = None
        for other, appearance in self._appearances:
            if other == material:
                node = appearance
                break
        if node is None:
            fields: dict[str, Value] = {"material": self._material(material)}
            texture = material.texture
            if texture is not None:
                fields |= texture_nodes(texture, self.url(texture), self.report)
            node = Node("Appearance", fields=fields)
            if len(self._appearances) < MAX_COMPARED:
                self._appearances.append((material, node))
        self._latest[id(material)] = (material, node)
        return node

    def _material(self, material: Material) -> Node:
        fields: dict[str, Value] = {}
        for name, attribute in MATERIAL_FIELDS.items():
            value = getattr(material, attribute)
            # Defaults of the standard are left out.
            if value != getattr(DEFAULT, attribute):
                within = self._within(np.asarray(value, dtype=np.float64), name)
                fields[name] = within if within.ndim else float(within)
        return Node("Material", fields=fields)

    def _within(self, values: Floats, title: str) -> Floats:
        # nan has no nearest value: 0.
        inside = np.clip(np.where(np.isnan(values), 0.0, values), 0.0, 1.0)
        if not np.array_equal(inside, values):
            message = f"{title} beyond 0…1 is cut off there"
            self.report(losses.SHAPE_LOOK.as_note, message)
        return inside

    # ---- geometries

    def _geometry(self, geometry: Geometry) -> list[Node]:
        if id(geometry) not in self._geometries:
            written = (geometry, self._new_geometry(geometry))
            self._geometries[id(geometry)] = written
        return self._geometries[id(geometry)][1]

    def _new_geometry(self, geometry: Geometry) -> list[Node]:
        """Return the geometry nodes of a geometry."""
        match geometry:
            case Box(size):
                sizes = {"size": np.array(size, dtype=np.float64)}
                return self._sized("Box", sizes, {}, some_zero=True)
            case Sphere() | Cylinder() | Cone():
                return self._round_solid(geometry)
            case Capsule():
                return self._capsule(geometry)
            case Mesh():
                return self._face_set(geometry)
            case Lines():
                return self._line_set(geometry)
            case Points():
                return self._point_set(geometry)

    def _round_solid(self, solid: Sphere | Cylinder | Cone) -> list[Node]:
        kind = type(solid).__name__
        _, fields, parts = ROUND_SOLIDS[kind]
        sizes: dict[str, float] = {}
        for name in fields:
            attribute = "height" if name == "height" else "radius"
            sizes[name] = float(getattr(solid, attribute))
        return self._sized(kind, sizes, {part: getattr(solid, part) for part in parts})

    def _capsule(self, capsule: Capsule) -> list[Node]:
        message = "a capsule is written as a cylinder and two balls"
        self.report(losses.SHAPE_FORM, message)
        height = capsule.height
        ball = self._new_geometry(Sphere(capsule.radius))
        # The reader computes squares; nan and negative heights fail here, too.
        if not 0 <= height < MAX_HEIGHT:
            message = f"a capsule of height {height:g} is left out"
            self.report(losses.NOT_DRAWN, message)
            return []
        if height == 0 or not ball:
            return ball
        # The ball covers both ends.
        cylinder = Cylinder(capsule.radius, height, top=False, bottom=False)
        return [*self._new_geometry(cylinder), *ball]

    def _sized(
        self,
        kind: str,
        sizes: dict[str, Any],
        parts: dict[str, bool],
        some_zero: bool = False,
    ) -> list[Node]:
        """Return a primitive of some sizes; none where they are wrong."""
        numbers = np.concatenate([np.ravel(size) for size in sizes.values()])
        are_sizes = np.isfinite(numbers).all() and (numbers >= 0).all()
        if not are_sizes or np.count_nonzero(numbers == 0) > some_zero:
            text = " ".join(f"{number:g}" for number in numbers)
            message = f"{with_article(kind)} of size {text} is left out"
            self.report(losses.NOT_DRAWN, message)
            return []
        fields: dict[str, Value] = dict(sizes)
        for part, is_present in parts.items():
            if not is_present:
                fields[part] = False
        return [Node(kind, fields=fields)]

    def _face_set(self, mesh: Mesh) -> list[Node]:
        """Return the IndexedFaceSet of a mesh; none without usable faces."""
        faces = mesh.faces
        vertices = mesh.vertices
        # A face that the reader would refuse is not written.
        good = _usable(faces, vertices)
        if not good.any():
            self.report(losses.NOT_DRAWN.as_note, "a mesh without faces is left out")
            return []
        if not good.all() or not np.isfinite(vertices).all():
            number = np.count_nonzero(~good)
            message = f"faces of a mesh without finite corners are left out: {number}"
            self.report(losses.NOT_DRAWN, message)
            faces = faces[good]
            # Vertices stay, so indices need no change; unused ones become 0.
            vertices = np.where(np.isfinite(vertices), vertices, 0.0)
        fields: dict[str, Value] = {
            "coord": Node("Coordinate", fields={"point": vertices}),
            "coordIndex": _ended(faces),
        }
        fields |= self._corners(mesh.normals, "normal", faces, good)
        fields |= self._corners(mesh.colors, "color", faces, good)
        fields |= self._corners(mesh.texture_coordinates, "texCoord", faces, good)
        if not np.isfinite(mesh.crease_angle):
            message = f"creaseAngle is {mesh.crease_angle}: left out"
            self.report(losses.NUMBER_RANGE, message)
        elif mesh.crease_angle != 0.0:
            fields["creaseAngle"] = float(mesh.crease_angle)
        if mesh.two_sided:
            fields["solid"] = False

        def is_long(name: str) -> bool:
            return isinstance(fields[name], (Node, np.ndarray))

        # The long lists last: so the other fields of a mesh are visible at its top.
        fields = {name: fields[name] for name in sorted(fields, key=is_long)}
        return [Node("IndexedFaceSet", fields=fields)]

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
        if not _fit(corners, width, len(good)):
            message = (
                f"{part}: values that do not fit the corners of the mesh are left out"
            )
            self.report(losses.SHAPE_LOOK, message)
            return {}
        values = self._corner_values(corners.values, part, width)
        indices = corners.indices[good]
        fields: dict[str, Value] = {
            part: Node(node_type, fields={name: frozen(values)})
        }
        # Without an index list the corners have the indices of coordIndex.
        if np.array_equal(indices, faces):
            return fields
        # All three corners of each face have one value: it is written by face.
        if part != "texCoord" and (indices == indices[:, :1]).all():
            fields[f"{part}PerVertex"] = False
            # Faces in order need no index.
            if not np.array_equal(indices[:, 0], np.arange(len(indices))):
                fields[f"{part}Index"] = np.ascontiguousarray(indices[:, 0])
            return fields
        fields[f"{part}Index"] = _ended(indices)
        return fields

    def _corner_values(self, values: Floats, part: str, width: int) -> Floats:
        """Return values of corners as VRML97 holds them: finite, of `width` numbers."""
        num_columns = values.shape[1]
        # VRML97 has no alpha and two texture coordinates: further columns go.
        if num_columns > width:
            left_out = num_columns - width
            message = f"{part}: {left_out} of {num_columns} numbers are left out"
            self.report(losses.SHAPE_LOOK, message)
            values = values[:, :width]
        if part == "color":
            return self._within(values, "a colour of a mesh")
        if not np.isfinite(values).all():
            message = f"{part}: numbers that are not finite are written as 0"
            self.report(losses.NUMBER_RANGE, message)
            return np.where(np.isfinite(values), values, 0.0)
        return values

    def _line_set(self, lines: Lines) -> list[Node]:
        """Return the IndexedLineSet of lines; none without usable segments."""
        segments = lines.segments
        good = _usable(segments, lines.vertices)
        if not good.any():
            message = "lines without a segment are left out"
            self.report(losses.NOT_DRAWN.as_note, message)
            return []
        if not good.all():
            number = np.count_nonzero(~good)
            message = f"lines without finite ends are left out: {number}"
            self.report(losses.NOT_DRAWN, message)
            segments = segments[good]
        vertices = lines.vertices
        if not np.isfinite(vertices).all():
            message = "points that are not finite are written as 0"
            self.report(losses.NUMBER_RANGE, message)
            vertices = np.where(np.isfinite(vertices), vertices, 0.0)
        fields: dict[str, Value] = {
            "coord": Node("Coordinate", fields={"point": vertices})
        }
        count = len(vertices)
        if lines.colors is not None and len(lines.colors) == count:
            # The reader gives each coloured segment two points of its own.
            if not np.array_equal(segments.ravel(), np.arange(count)):
                message = "the ends of coloured lines are read back each by itself"
                self.report(losses.SHAPE_FORM, message)
            fields["color"] = self._colors(lines.colors)
        fields["coordIndex"] = _polylines(segments)
        return [Node("IndexedLineSet", fields=fields)]

    def _point_set(self, points: Points) -> list[Node]:
        good = np.asarray(np.isfinite(points.vertices).all(axis=1))
        if not good.all() or not len(good):
            number = np.count_nonzero(~good)
            message = f"{number} points are not finite and left out, or there are none"
            self.report(losses.NOT_DRAWN, message)
        if not good.any():
            return []
        coordinate = Node("Coordinate", fields={"point": points.vertices[good]})
        fields: dict[str, Value] = {"coord": coordinate}
        if points.colors is not None and len(points.colors) == len(good):
            fields["color"] = self._colors(points.colors[good])
        return [Node("PointSet", fields=fields)]

    def _colors(self, colors: Floats) -> Node:
        if colors.shape[1] > 3:
            message = "colours of lines and points have three parts"
            self.report(losses.SHAPE_LOOK, message)
        values = self._within(np.asarray(colors[:, :3]), "a colour")
        return Node("Color", fields={"color": values})


def _moved_along_y(node: Node, distance: float) -> Node:
    translation = np.array([0.0, distance, 0.0])
    fields: dict[str, Value] = {"translation": translation, "children": [node]}
    return Node("Transform", fields=fields)


def _fit(corners: Corners, width: int, num_faces: int) -> bool:
    """Return whether there are indices for all faces, and values for all indices."""
    values = corners.values
    indices = corners.indices
    if values.ndim != 2 or values.shape[1] < width or not len(values):
        return False
    if indices.shape != (num_faces, 3):
        return False
    return bool(indices.min() >= 0 and indices.max() < len(values))


def _usable(index: npt.NDArray[np.integer], vertices: Floats) -> Bools:
    """Return which faces or lines (N, K) have finite vertices (V, 3)."""
    good = np.asarray(((index >= 0) & (index < len(vertices))).all(axis=1))
    if len(vertices):
        finite = np.asarray(np.isfinite(vertices).all(axis=1))
        # `clip` keeps the lookup in range; those out of range are already bad.
        good &= finite[np.clip(index, 0, len(vertices) - 1)].all(axis=1)
    return good


def _ended(faces: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    # Three corners and -1 for each triangle.
    rows = np.full((len(faces), 4), -1, dtype=np.int32)
    rows[:, :3] = faces
    return rows.reshape(-1)


def _polylines(segments: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Return segments (S, 2) as lines, each ended by -1.

    A line goes on as long as the next segment begins where the last ends.
    """
    starts_line = np.ones(len(segments), dtype=bool)
    starts_line[1:] = segments[1:, 0] != segments[:-1, 1]
    ends_line = np.append(starts_line[1:], True)
    # Of each segment its end is written; before that its start where a line starts, and
    # after it -1 where the line ends.
    after_end = np.concatenate([[0], ends_line[:-1]])
    # The position of a segment's end: the number of entries up to it, less 1.
    positions = np.cumsum(1 + starts_line + after_end) - 1
    # The array begins full of -1: only ends and starts are set.
    index = np.full(positions[-1] + 2, -1, dtype=np.int32)
    index[positions] = segments[:, 1]
    index[positions[starts_line] - 1] = segments[starts_line, 0]
    return index
