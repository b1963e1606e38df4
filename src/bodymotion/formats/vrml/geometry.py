"""The geometry nodes of VRML97 (ISO/IEC 14772-1, clause 6) as primitives, meshes, lines and points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.shape_rules import (
    BAD_INDEX,
    BAD_SIZE,
    NO_POINTS,
    NOT_FINITE,
    NOT_SHOWN,
    SMALL_FACE,
    TOO_LARGE,
    UNUSED_LIST,
)
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.meshes import triangulate
from bodymotion.geometry.shapes import Box, Cone, Corners, Cylinder, Geometry, Lines, Mesh, Points, Sphere

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem, Rule
    from bodymotion.geometry.meshes import Triangles

    Tell = Callable[[Rule, str, Location], None]
    """Takes a problem: its rule, its message, where it is."""

__all__ = ["GEOMETRY_NODES", "GeometryReader"]

GEOMETRY_NODES = (
    "Box",
    "Cone",
    "Cylinder",
    "ElevationGrid",
    "Extrusion",
    "IndexedFaceSet",
    "IndexedLineSet",
    "PointSet",
    "Sphere",
    "Text",
)

MOST_VERTICES = 2_000_000
"""How many vertices an ElevationGrid or an Extrusion, written in few words, may unfold to."""


class GeometryReader:
    """Makes geometry of geometry nodes; a node that is used several times (USE) gives the same object each time.

    `actual` looks through instances of prototypes into the node that they stand for.
    """

    def __init__(self, problems: list[Problem], actual: Callable[[Node], Node | None]) -> None:
        self.problems = problems
        self.actual = actual
        self._known: dict[tuple[int, bool], tuple[Node, Geometry | None]] = {}

    def read(self, node: Node, textured: bool) -> Geometry | None:
        """Return the geometry of a node, None where it shows nothing; `textured` adds the standard's own texture mapping."""
        key = (id(node), textured)
        if key not in self._known:
            self._known[key] = (node, self._read(node, textured))
        return self._known[key][1]

    def tell(self, rule: Rule, message: str, location: Location) -> None:
        """Note a problem."""
        self.problems.append(rule.problem(message, location))

    def _read(self, node: Node, textured: bool) -> Geometry | None:
        from bodymotion.formats.vrml.swept import read_elevation_grid, read_extrusion

        match node.type:
            case "IndexedFaceSet":
                return self._face_set(node, textured)
            case "Box":
                x, y, z = access.vector(node, "size", (2.0, 2.0, 2.0))
                # A flat box is a plate, as the Plane prototype of old models has it.
                return Box((x, y, z)) if self._sizes(node, [x, y, z], some_zero=True) else None
            case "Sphere":
                radius = access.number(node, "radius", 1.0)
                return Sphere(radius) if self._sizes(node, [radius]) else None
            case "Cylinder":
                radius, height = access.number(node, "radius", 1.0), access.number(node, "height", 2.0)
                parts = {part: access.flag(node, part, True) for part in ("side", "top", "bottom")}
                return Cylinder(radius, height, **parts) if self._sizes(node, [radius, height]) else None
            case "Cone":
                radius, height = access.number(node, "bottomRadius", 1.0), access.number(node, "height", 2.0)
                parts = {part: access.flag(node, part, True) for part in ("side", "bottom")}
                return Cone(radius, height, **parts) if self._sizes(node, [radius, height]) else None
            case "IndexedLineSet":
                return self._line_set(node)
            case "PointSet":
                return self._point_set(node)
            case "ElevationGrid":
                return read_elevation_grid(node, self)
            case "Extrusion":
                return read_extrusion(node, self)
            case "Text":
                self.tell(NOT_SHOWN, "Text has no shape here: there are no letters to draw it with", node.location)
            case _:
                self.tell(NOT_SHOWN, f"{node.type} is no geometry that is known", node.location)
        return None

    def _sizes(self, node: Node, sizes: list[float], some_zero: bool = False) -> bool:
        good = all(np.isfinite(size) and size >= 0 for size in sizes)
        zeros = sum(size == 0 for size in sizes)
        if not good or zeros:
            self.tell(BAD_SIZE, f"{node.type} of size {' '.join(f'{size:g}' for size in sizes)}", node.location)
        return good and zeros <= some_zero

    def points(self, node: Node) -> Floats:
        """Return the points (V, 3) of the node's `coord`."""
        coord = self.part(node, "coord")
        points = access.rows(coord, "point", 3)
        if not len(points):
            self.tell(NO_POINTS, f"{node.type} has no points", node.location)
        return points

    def part(self, node: Node, name: str) -> Node | None:
        """Return the node in a field, prototypes looked through."""
        found = access.child(node, name)
        return None if found is None else self.actual(found)

    def _face_set(self, node: Node, textured: bool) -> Mesh | None:
        points = self.points(node)
        index = access.integers(node, "coordIndex")
        if not len(points) or not len(index):
            return None
        triangles = triangulate(index, points)
        if triangles.out_of_range:
            wrong = f"{triangles.out_of_range} faces use points that are not there"
            counts = f"the highest index is {index.max()}, the points are {len(points)}"
            self.tell(BAD_INDEX, f"{wrong}: {counts}", node.location)
        if triangles.too_small:
            self.tell(SMALL_FACE, f"{triangles.too_small} faces have fewer than three corners", node.location)
        faces = index[triangles.corners]
        finite: npt.NDArray[np.bool_] = np.isfinite(points)
        if not finite.all():
            good = np.asarray(finite.all(axis=1))[faces].all(axis=1)
            if not good.all():
                self.tell(
                    NOT_FINITE, f"{np.count_nonzero(~good)} triangles have corners that are not finite", node.location
                )
                faces, triangles = faces[good], triangles.chosen(good)
            # Points that no face uses must not spread.
            points = np.where(finite, points, 0.0)
        if not len(faces):
            return None
        corners = CornerLists(self, node, triangles, faces)
        colors = corners.read("color", "color", 3, access.flag(node, "colorPerVertex", True))
        normals = corners.read("normal", "vector", 3, access.flag(node, "normalPerVertex", True))
        uv = corners.read("texCoord", "point", 2, True)
        if uv is None and textured:
            uv = Corners(_box_mapping(points), frozen_ints(faces))
        return self.mesh(node, points, faces, normals, colors, uv)

    def mesh(
        self,
        node: Node,
        points: Floats,
        faces: npt.NDArray[np.integer],
        normals: Corners | None,
        colors: Corners | None,
        uv: Corners | None,
    ) -> Mesh:
        """Make a mesh with the fields that all surfaces share: ccw, solid, creaseAngle."""
        if not access.flag(node, "ccw", True):
            faces = faces[:, ::-1]
            normals, colors, uv = (c and Corners(c.values, c.indices[:, ::-1]) for c in (normals, colors, uv))
        crease = access.number(node, "creaseAngle", 0.0)
        return Mesh(
            vertices=points,
            faces=frozen_ints(faces),
            crease_angle=crease if np.isfinite(crease) else 0.0,
            normals=normals,
            colors=colors,
            texture_coordinates=uv,
            two_sided=not access.flag(node, "solid", True),
        )

    def _line_set(self, node: Node) -> Lines | None:
        points = self.points(node)
        index = access.integers(node, "coordIndex")
        if not len(points) or not len(index):
            return None
        here = np.flatnonzero((index[:-1] >= 0) & (index[1:] >= 0))
        segments = np.stack([index[here], index[here + 1]], axis=1)
        finite = np.asarray(np.isfinite(points).all(axis=1))
        good = (segments < len(points)).all(axis=1) & finite[np.minimum(segments, len(points) - 1)].all(axis=1)
        if not good.all():
            self.tell(BAD_INDEX, f"{np.count_nonzero(~good)} lines use points that are not there", node.location)
            segments, here = segments[good], here[good]
        if not len(segments):
            return None
        colors = access.rows(self.part(node, "color"), "color", 3)
        if not len(colors):
            return Lines(points, segments)
        given = access.integers(node, "colorIndex")
        if access.flag(node, "colorPerVertex", True):
            places = np.stack([here, here + 1], axis=1)
            which = (
                segments if not len(given) else (given[places] if places.max() < len(given) else np.full((1, 2), -1))
            )
        else:
            line = np.cumsum(index < 0)[here]
            which = line if not len(given) else (given[line] if line.max() < len(given) else np.full(1, -1))
            which = np.stack([which, which], axis=1)
        if which.min() < 0 or which.max() >= len(colors):
            self.tell(UNUSED_LIST, f"{len(colors)} colours do not fit {len(segments)} lines", node.location)
            return Lines(points, segments)
        return Lines(
            points[segments].reshape(-1, 3),
            frozen_ints(np.arange(2 * len(segments)).reshape(-1, 2)),
            np.clip(colors[which].reshape(-1, 3), 0, 1),
        )

    def _point_set(self, node: Node) -> Points | None:
        points = self.points(node)
        colors: Floats | None = access.rows(self.part(node, "color"), "color", 3)
        if colors is not None and len(colors) < len(points):
            if len(colors):
                self.tell(UNUSED_LIST, f"{len(colors)} colours for {len(points)} points", node.location)
            colors = None
        good = np.asarray(np.isfinite(points).all(axis=1))
        if not good.any():
            return None
        return Points(points[good], None if colors is None else np.clip(colors[: len(points)][good], 0, 1))

    def too_large(self, node: Node, count: int) -> bool:
        """Whether a node unfolds to more vertices than can be held; says so."""
        if count > MOST_VERTICES:
            self.tell(TOO_LARGE, f"{node.type} unfolds to {count} points", node.location)
        return count > MOST_VERTICES


class CornerLists:
    """Colours, normals and texture coordinates of the corners of triangles, from their lists and index lists."""

    def __init__(
        self, reader: GeometryReader, node: Node, triangles: Triangles, faces: npt.NDArray[np.integer]
    ) -> None:
        self.reader = reader
        self.node = node
        self.triangles = triangles
        self.faces = faces

    def read(self, part: str, name: str, width: int, per_vertex: bool) -> Corners | None:
        """Return the corners' property, None where there is none or it does not fit (which is noted)."""
        holder = self.reader.part(self.node, part)
        if holder is None:
            return None
        values = access.rows(holder, name, width)
        if not len(values):
            return None
        index = access.integers(self.node, f"{part}Index")
        which: npt.NDArray[np.integer]
        if per_vertex:
            places = self.triangles.corners
            which = self.faces if not len(index) else _pick(index, places)
        else:
            places = np.repeat(self.triangles.polygons[:, None], 3, axis=1)
            which = places if not len(index) else _pick(index, places)
        finite = bool(np.isfinite(values).all())
        if part == "normal" and not finite:
            # What a division by zero left behind is no direction: there the face's own is taken.
            values, finite = np.where(np.isfinite(values).all(axis=1, keepdims=True), values, 0.0), True
        if which.min() < 0 or which.max() >= len(values) or not finite:
            kind = "corners" if per_vertex else "faces"
            self.reader.tell(
                UNUSED_LIST,
                f"{part}: {len(values)} values and {len(index)} indices do not fit the {kind} of this {self.node.type}",
                self.node.location,
            )
            return None
        return Corners(np.clip(values, 0, 1) if part == "color" else values, frozen_ints(which))


def _pick(index: npt.NDArray[np.integer], places: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    return index[places] if places.max() < len(index) else np.full((1, 3), -1)


def _box_mapping(points: Floats) -> Floats:
    """Map a texture without coordinates: s along the longest edge of the bounding box, t along the next, at the same scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = high - low
    # A stable sort keeps x before y before z where edges are equally long.
    first, second = np.argsort(-size, kind="stable")[:2]
    length = size[first] if size[first] > 0 else 1.0
    return np.stack([(points[:, first] - low[first]) / length, (points[:, second] - low[second]) / length], axis=1)
