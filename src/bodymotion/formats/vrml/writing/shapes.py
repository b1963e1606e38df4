"""Shapes as VRML97 nodes: the inverse of the readers of geometry and appearance.

A geometry, or a material, that several shapes share becomes one node, so that the text has it once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.losses import NUMBER_RANGE, SHAPE_FORM, SHAPE_LOOK
from bodymotion.formats.vrml.nodes import Node, Value
from bodymotion.formats.vrml.writing.names import is_name
from bodymotion.formats.vrml.writing.textures import texture_nodes
from bodymotion.geometry.arrays import Floats, frozen
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
    Sphere,
)

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.geometry.shapes import Shape, Texture

    Tell = Callable[[Rule, str], None]
    """Takes what is lost: its rule and what it is."""

__all__ = ["ShapeWriter"]

DEFAULT = Material()


class ShapeWriter:
    """Makes Shape nodes.

    Parameters
    ----------
    tell:
        Is called with the rule and the words for all that VRML97 cannot hold.
    url:
        Gives the url to write for a texture.
    name:
        Gives the name to write for that of a shape; without it names that are none in VRML97 are left out.
    """

    def __init__(self, tell: Tell, url: Callable[[Texture], str], name: Callable[[str], str] | None = None) -> None:
        self.tell = tell
        self.url = url
        self.name = name or (lambda given: given if is_name(given) else "")
        self._geometries: dict[int, tuple[Geometry, list[Node]]] = {}
        self._appearances: list[tuple[Material, Node]] = []
        self._latest: dict[int, tuple[Material, Node]] = {}

    def nodes(self, shape: Shape) -> list[Node]:
        """Return the Shape nodes for a shape, in the frame of its geometry: one as a rule, none where there is nothing to be seen."""
        geometries = self._geometry(shape.geometry)
        if not geometries:
            return []
        mesh = shape.geometry
        if shape.material.texture is not None and isinstance(mesh, Mesh) and mesh.texture_coordinates is None:
            self.tell(SHAPE_LOOK, "an image on a mesh without texture coordinates is laid on along its longest edges")
        appearance = self._appearance(shape.material)
        name = self.name(shape.name) if len(geometries) == 1 else ""
        result = []
        for geometry in geometries:
            places = [Node("Shape", name, {"appearance": appearance, "geometry": geometry})]
            if isinstance(mesh, Capsule) and geometry.type == "Sphere" and mesh.height:
                end = 0.5 * mesh.height
                places = [
                    Node("Transform", fields={"translation": np.array([0.0, y, 0.0]), "children": places})
                    for y in (end, -end)
                ]
            result += places
        return result

    # ---- looks

    def _appearance(self, material: Material) -> Node:
        known = self._latest.get(id(material))
        if known is not None:
            return known[1]
        node = next((node for other, node in self._appearances if other == material), None)
        if node is None:
            node = self._new_appearance(material)
            # Robots have few materials; a scene that has many is written with each by itself.
            if len(self._appearances) < 100:
                self._appearances.append((material, node))
        self._latest[id(material)] = (material, node)
        return node

    def _new_appearance(self, material: Material) -> Node:
        given = {
            "diffuseColor": (material.diffuse, DEFAULT.diffuse),
            "ambientIntensity": (material.ambient_intensity, DEFAULT.ambient_intensity),
            "specularColor": (material.specular, DEFAULT.specular),
            "emissiveColor": (material.emissive, DEFAULT.emissive),
            "shininess": (material.shininess, DEFAULT.shininess),
            "transparency": (material.transparency, DEFAULT.transparency),
        }
        fields: dict[str, Value] = {}
        for name, (value, default) in given.items():
            if value != default:
                within = self._within(np.asarray(value, dtype=np.float64), name)
                fields[name] = within if within.ndim else float(within)
        appearance: dict[str, Value] = {"material": Node("Material", fields=fields)}
        if material.texture is not None:
            appearance |= texture_nodes(material.texture, self.url(material.texture), self.tell)
        return Node("Appearance", fields=appearance)

    def _within(self, values: Floats, what: str) -> Floats:
        inside = np.clip(np.where(np.isnan(values), 0.0, values), 0.0, 1.0)
        if not np.array_equal(inside, values):
            self.tell(SHAPE_LOOK, f"{what} beyond 0…1 is cut off there")
        return inside

    # ---- geometries

    def _geometry(self, geometry: Geometry) -> list[Node]:
        known = self._geometries.get(id(geometry))
        if known is None:
            known = self._geometries[id(geometry)] = (geometry, self._new_geometry(geometry))
        return known[1]

    def _new_geometry(self, geometry: Geometry) -> list[Node]:
        match geometry:
            case Box(size):
                return self._sized("Box", {"size": np.array(size, dtype=np.float64)}, {}, some_zero=True)
            case Sphere(radius):
                return self._sized("Sphere", {"radius": float(radius)}, {})
            case Cylinder(radius, height, side, top, bottom):
                sizes = {"radius": float(radius), "height": float(height)}
                return self._sized("Cylinder", sizes, {"side": side, "top": top, "bottom": bottom})
            case Cone(radius, height, side, bottom):
                sizes = {"bottomRadius": float(radius), "height": float(height)}
                return self._sized("Cone", sizes, {"side": side, "bottom": bottom})
            case Capsule(radius, height):
                self.tell(SHAPE_FORM, "a capsule is written as a cylinder and two balls")
                ball = self._sized("Sphere", {"radius": float(radius)}, {})
                if not 0 <= height < 1e100:
                    self.tell(SHAPE_FORM, f"a capsule of height {height:g} is left out")
                    return []
                if height == 0 or not ball:
                    return ball
                sizes = {"radius": float(radius), "height": float(height)}
                return [*self._sized("Cylinder", sizes, {"top": False, "bottom": False}), *ball]
            case Mesh():
                return self._face_set(geometry)
            case Lines():
                return self._line_set(geometry)
            case Points():
                return self._point_set(geometry)

    def _sized(self, kind: str, sizes: dict[str, Any], parts: dict[str, bool], some_zero: bool = False) -> list[Node]:
        numbers = np.concatenate([np.ravel(size) for size in sizes.values()])
        good = np.isfinite(numbers).all() and (numbers >= 0).all() and np.count_nonzero(numbers == 0) <= some_zero
        if not good:
            self.tell(SHAPE_FORM, f"a {kind} of size {' '.join(f'{x:g}' for x in numbers)} is left out")
            return []
        return [Node(kind, fields={**sizes, **{part: False for part, there in parts.items() if not there}})]

    def _face_set(self, mesh: Mesh) -> list[Node]:
        finite = np.asarray(np.isfinite(mesh.vertices).all(axis=1))
        faces = mesh.faces
        good = np.asarray(((faces >= 0) & (faces < len(mesh.vertices))).all(axis=1))
        if len(mesh.vertices):
            good &= finite[np.clip(faces, 0, len(mesh.vertices) - 1)].all(axis=1)
        if not good.any():
            self.tell(SHAPE_FORM, "a mesh without faces is left out")
            return []
        vertices = mesh.vertices
        if not good.all() or not finite.all():
            self.tell(SHAPE_FORM, f"{np.count_nonzero(~good)} faces of a mesh have no finite corners and are left out")
            faces, vertices = faces[good], np.where(np.isfinite(vertices), vertices, 0.0)
        fields: dict[str, Value] = {
            "coord": Node("Coordinate", fields={"point": vertices}),
            "coordIndex": _ended(faces),
        }
        fields |= self._corners(mesh.normals, "normal", Node("Normal"), "vector", faces, good)
        fields |= self._corners(mesh.colors, "color", Node("Color"), "color", faces, good)
        fields |= self._corners(mesh.texture_coordinates, "texCoord", Node("TextureCoordinate"), "point", faces, good)
        if mesh.crease_angle != 0.0:
            if np.isfinite(mesh.crease_angle):
                fields["creaseAngle"] = float(mesh.crease_angle)
            else:
                self.tell(NUMBER_RANGE, f"creaseAngle is {mesh.crease_angle}: left out")
        if mesh.two_sided:
            fields["solid"] = False
        # The long lists last: what else there is of a mesh is then seen at once.
        order = sorted(fields, key=lambda name: isinstance(fields[name], (Node, np.ndarray)))
        return [Node("IndexedFaceSet", fields={name: fields[name] for name in order})]

    def _corners(
        self,
        corners: Corners | None,
        part: str,
        holder: Node,
        name: str,
        faces: npt.NDArray[np.integer],
        good: npt.NDArray[np.bool_],
    ) -> dict[str, Value]:
        """Return the fields for a property of corners: by vertex and by face without an index list where that says the same."""
        if corners is None:
            return {}
        width = 2 if part == "texCoord" else 3
        values, indices = corners.values, corners.indices
        fits = values.ndim == 2 and values.shape[1] >= width and indices.shape == (len(good), 3) and len(values)
        if not fits or indices.min() < 0 or indices.max() >= len(values):
            self.tell(SHAPE_LOOK, f"{part}: values that do not fit the corners of the mesh are left out")
            return {}
        if values.shape[1] > width:
            self.tell(SHAPE_LOOK, f"{part}: {values.shape[1] - width} of {values.shape[1]} numbers are left out")
            values = values[:, :width]
        if part == "color":
            values = self._within(values, "a colour of a mesh")
        elif not np.isfinite(values).all():
            self.tell(NUMBER_RANGE, f"{part}: numbers that are not finite are written as 0")
            values = np.where(np.isfinite(values), values, 0.0)
        indices = indices[good]
        holder.fields[name] = frozen(values)
        fields: dict[str, Value] = {part: holder}
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
        segments, count = lines.segments, len(lines.vertices)
        good = np.asarray(((segments >= 0) & (segments < count)).all(axis=1))
        if count:
            finite = np.asarray(np.isfinite(lines.vertices).all(axis=1))
            good &= finite[np.clip(segments, 0, count - 1)].all(axis=1)
        if not good.any():
            self.tell(SHAPE_FORM, "lines without a segment are left out")
            return []
        if not good.all():
            self.tell(SHAPE_FORM, f"{np.count_nonzero(~good)} lines have no finite ends and are left out")
            segments = segments[good]
        vertices = self._finite_points(lines.vertices)
        fields: dict[str, Value] = {"coord": Node("Coordinate", fields={"point": vertices})}
        if lines.colors is not None and len(lines.colors) == count:
            if count != 2 * len(segments) or not np.array_equal(segments.ravel(), np.arange(count)):
                self.tell(SHAPE_FORM, "the ends of coloured lines are read back each by itself")
            fields["color"] = self._colors(lines.colors)
        fields["coordIndex"] = _polylines(segments)
        return [Node("IndexedLineSet", fields=fields)]

    def _point_set(self, points: Points) -> list[Node]:
        good = np.asarray(np.isfinite(points.vertices).all(axis=1))
        if not good.all() or not len(good):
            self.tell(SHAPE_FORM, f"{np.count_nonzero(~good)} points are not finite and left out, or there are none")
        if not good.any():
            return []
        fields: dict[str, Value] = {"coord": Node("Coordinate", fields={"point": points.vertices[good]})}
        if points.colors is not None and len(points.colors) == len(good):
            fields["color"] = self._colors(points.colors[good])
        return [Node("PointSet", fields=fields)]

    def _colors(self, colors: Floats) -> Node:
        if colors.shape[1] > 3:
            self.tell(SHAPE_LOOK, "colours of lines and points have three parts")
        return Node("Color", fields={"color": self._within(np.asarray(colors[:, :3]), "a colour")})

    def _finite_points(self, vertices: Floats) -> Floats:
        if np.isfinite(vertices).all():
            return vertices
        self.tell(NUMBER_RANGE, "points that are not finite are written as 0")
        return np.where(np.isfinite(vertices), vertices, 0.0)


def _ended(faces: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Return the indices of triangles in a row, each ended by -1."""
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
