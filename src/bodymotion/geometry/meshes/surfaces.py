"""Triangles as buffers for drawing: normals at their corners, and one list of triangles, lines or points for each surface.

VRML97 (ISO/IEC 14772-1, 4.6.3.5): the normal at a corner is made of the faces around its vertex whose angle to the corner's own face
is below the crease angle. Faces are weighted by their angle at the vertex, so that a flat polygon has the same weight however it
is divided into triangles (Thürmer and Wüthrich, 1998). In a buffer, every vertex has one position, normal, colour and texture coordinate.

The parts of `surface_parts` are in the frame of the shapes. Colours are sRGB, as in VRML97; texture coordinates count from the lower left
of the image.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, Ints, frozen_ints, unit
from bodymotion.geometry.shapes import Corners, Lines, Material, Mesh, Points, Shape, TriangleBuffers

BLOCK_PAIRS = 4_000_000
MIN_PAIRS = 10_000_000
PAIRS_PER_CORNER = 32
"""Limits of the pairs of faces around one vertex that are compared, vertices of few faces first; the faces at the others stay flat.
Regular meshes have six faces around a vertex; a vertex with n faces has n² pairs."""


def corner_normals(mesh: Mesh) -> Floats:
    """Return unit normals (F, 3, 3), one for each corner of each face; zero for a triangle without area and neighbours."""
    faces = mesh.face_normals
    if mesh.normals is not None:
        given = unit(mesh.normals.values)[mesh.normals.indices]
        return np.where(given.any(axis=2, keepdims=True), given, faces[:, None, :])
    if mesh.crease_angle <= 0 or not len(faces):
        return np.repeat(faces[:, None, :], 3, axis=1)
    weighted = faces[:, None, :] * _angles(mesh)[..., None]
    sums: Floats
    if mesh.crease_angle >= np.pi:
        sums = _at_vertices(mesh, weighted.reshape(-1, 3)).reshape(-1, 3, 3)
    else:
        sums = _creased(mesh, weighted.reshape(-1, 3))
    smooth = unit(sums)
    return np.where(smooth.any(axis=2, keepdims=True), smooth, faces[:, None, :])


def _angles(mesh: Mesh) -> Floats:
    corner = mesh.vertices[mesh.faces]
    edges = unit(np.roll(corner, -1, axis=1) - corner)
    return np.asarray(np.arccos(np.clip(-np.einsum("fij,fij->fi", edges, np.roll(edges, 1, axis=1)), -1, 1)))


def _at_vertices(mesh: Mesh, values: Floats) -> Floats:
    """Return for each corner the sum of `values` (3F, 3) over all corners at its vertex."""
    vertex = mesh.faces.ravel()
    sums = [np.bincount(vertex, column, len(mesh.vertices)) for column in values.T]
    return np.asarray(np.stack(sums, axis=1)[vertex], dtype=np.float64)


def _creased(mesh: Mesh, weighted: Floats) -> Floats:
    """Return the sums of `weighted` (3F, 3) over all pairs of corners at one vertex whose faces make a small angle."""
    limit = np.cos(mesh.crease_angle)
    vertex = mesh.faces.ravel()
    normals = np.repeat(mesh.face_normals, 3, axis=0)
    # Where all faces at a vertex are within half of the angle to their mean, all pairs are within the angle.
    to_mean = np.einsum("ij,ij->i", normals, unit(_at_vertices(mesh, normals)))
    creased = np.bincount(vertex, ~(to_mean > np.cos(0.5 * mesh.crease_angle)))[vertex] > 0
    sums = np.where(creased[:, None], weighted, _at_vertices(mesh, weighted))
    count = np.bincount(vertex)[vertex]
    order = np.lexsort((vertex, count))
    order = order[creased[order]]
    degree, numbers = count[order], np.arange(len(order))
    fresh = np.append(True, vertex[order[1:]] != vertex[order[:-1]])
    start = np.maximum.accumulate(np.where(fresh, numbers, 0))
    ends = np.cumsum(degree)
    done, total = 0, 0
    while done < len(order):
        stop = max(int(np.searchsorted(ends, (ends[done - 1] if done else 0) + BLOCK_PAIRS, side="right")), done + 1)
        total += int(ends[stop - 1] - (ends[done - 1] if done else 0))
        if total > MIN_PAIRS + PAIRS_PER_CORNER * len(vertex):
            break
        some = np.arange(done, stop)
        repeat = degree[some]
        first = np.repeat(some, repeat)
        within = np.arange(len(first)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        a, b = order[first], order[start[first] + within]
        near = np.einsum("ij,ij->i", normals[a], normals[b]) > limit
        a, b = a[near], b[near]
        for k in range(3):
            sums[order[some], k] = np.bincount(first[near] - done, weighted[b, k], minlength=stop - done)
        done = stop
    return sums.reshape(-1, 3, 3)


MAX_COORDINATE = float(np.finfo(np.float32).max)

NORMAL_STEPS = 2**19  # Normals that agree within 1 / NORMAL_STEPS are merged.


def split_corners(mesh: Mesh) -> TriangleBuffers:
    """Return the triangles as buffers; vertices are split only where their corners differ.

    Triangles without area, or with a corner beyond the range of single precision, are left out.
    """
    with np.errstate(all="ignore"):
        normals = corner_normals(mesh)
        finite = np.asarray((np.abs(mesh.vertices) < MAX_COORDINATE).all(axis=1))
        keep = np.asarray(mesh.face_normals.any(axis=1) & np.isfinite(normals).all(axis=(1, 2)))
        keep &= finite[mesh.faces].all(axis=1)
    faces = mesh.faces[keep]
    normals = normals[keep].reshape(-1, 3)
    vertex = faces.ravel()
    steps = np.round(normals * NORMAL_STEPS).astype(np.int64) + NORMAL_STEPS
    keys = [vertex, (steps[:, 0] << 42) | (steps[:, 1] << 21) | steps[:, 2]]
    for corners in (mesh.colors, mesh.texture_coordinates):
        if corners is not None:
            keys.append(corners.indices[keep].ravel())
    order = np.lexsort(keys)
    fresh = np.zeros(len(order), dtype=bool)
    fresh[:1] = True
    for key in keys:
        fresh[1:] |= key[order[1:]] != key[order[:-1]]
    number = np.cumsum(fresh) - 1
    triangles = np.empty(len(order), dtype=np.int32)
    triangles[order] = number
    chosen = order[fresh]

    def values(corners: Corners | None) -> npt.NDArray[np.float32] | None:
        return None if corners is None else _singles(corners.values[corners.indices[keep].ravel()[chosen]])

    return TriangleBuffers(
        positions=_singles(mesh.vertices[vertex[chosen]]),
        normals=_singles(normals[chosen]),
        triangles=frozen_ints(triangles.reshape(-1, 3)),
        colors=values(mesh.colors),
        uv=values(mesh.texture_coordinates),
        vertices=frozen_ints(vertex[chosen]),
    )


def _singles(values: Floats) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(values, dtype=np.float32)
    array.flags.writeable = False
    return array


POINTS, LINES, TRIANGLES = 0, 1, 4  # The modes of glTF.
MAX_NUMBERED = 1 << 24  # Vertices are numbered up to the largest exact whole number of single precision.


class Surface(NamedTuple):
    """How a part is drawn; `channels` of its own colours: 0, 3 or 4."""

    mode: int
    material: Material
    textured: bool
    two_sided: bool
    channels: int

    @property
    def key(self) -> tuple[object, ...]:
        """The properties that shapes of one part have in common."""
        material = self.material
        appearance = (material.diffuse, material.emissive, material.shininess, material.transparency)
        texture = material.texture
        image = (str(texture.path), texture.repeat_s, texture.repeat_t) if self.textured and texture else None
        return (self.mode, self.two_sided, self.channels, appearance, image)


Singles: TypeAlias = npt.NDArray[np.float32]


@dataclass
class Part:
    """A part that is drawn at once: arrays to concatenate; `indices` count through all of them.

    `positions` and `normals` (N, 3), `colors` (N, channels), `uv` (N, 2), `vertices` (N,) the number of the mesh's vertex.
    """

    surface: Surface
    positions: list[Singles] = field(default_factory=list)
    normals: list[Singles] = field(default_factory=list)
    colors: list[Singles] = field(default_factory=list)
    uv: list[Singles] = field(default_factory=list)
    vertices: list[Singles] = field(default_factory=list)
    indices: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    count: int = 0

    def add(self, indices: Ints, positions: Singles, **more: npt.NDArray[Any] | None) -> None:
        """Add points with the `indices` of its triangles, lines or points; `more` are those of the other arrays that there are."""
        for name, values in {"positions": positions, **more}.items():
            if values is not None:
                getattr(self, name).append(values.astype(np.float32, copy=False))
        self.indices.append(indices.astype(np.uint32).ravel() + np.uint32(self.count))
        self.count += len(positions)


_Parts: TypeAlias = dict[tuple[object, ...], Part]


def surface_parts(shapes: Iterable[Shape], paint: Material | None = None, *, whole: bool = False) -> list[Part]:
    """Return the parts of shapes; none where nothing is visible.

    `paint` replaces the materials of the shapes. `whole` keeps texture coordinates without a texture, and the numbers of vertices.
    """
    parts: _Parts = {}
    for shape in shapes:
        if isinstance(shape.geometry, (Lines, Points)):
            _add_lines(parts, shape, paint)
        else:
            _add_triangles(parts, shape, paint, whole)
    return list(parts.values())


def _add_triangles(parts: _Parts, shape: Shape, paint: Material | None, whole: bool) -> None:
    mesh = shape.to_mesh()
    buffers = mesh.corners_split
    if not len(buffers.triangles):
        return
    material = paint or shape.material
    colors = buffers.colors if paint is None and material.texture is None else None
    uv = buffers.uv if whole or material.texture is not None else None
    channels = 0 if colors is None else colors.shape[1]
    textured = uv is not None and material.texture is not None
    surface = Surface(TRIANGLES, material, textured, mesh.two_sided, channels)
    if uv is not None:
        matrix = material.texture.transform if material.texture is not None else np.eye(3)
        uv = (np.c_[uv, np.ones(len(uv), dtype=np.float32)] @ matrix.T)[:, :2]
    numbers = buffers.vertices if whole and len(mesh.vertices) < MAX_NUMBERED else None
    part = parts.setdefault(surface.key, Part(surface))
    part.add(buffers.triangles, buffers.positions, normals=buffers.normals, colors=colors, uv=uv, vertices=numbers)


def _add_lines(parts: _Parts, shape: Shape, paint: Material | None) -> None:
    geometry = shape.geometry
    assert isinstance(geometry, (Lines, Points))
    positions = (geometry.vertices @ shape.transform[:3, :3].T + shape.transform[:3, 3]).astype(np.float32)
    if isinstance(geometry, Lines):
        mode, indices = LINES, geometry.segments
    else:
        mode, indices = POINTS, np.arange(len(positions), dtype=np.int32)
    if not indices.size or not np.isfinite(positions).all():
        return
    colors = None if geometry.colors is None or paint is not None else geometry.colors[:, :3]
    surface = Surface(mode, paint or shape.material, False, True, 0 if colors is None else 3)
    parts.setdefault(surface.key, Part(surface)).add(indices, positions, colors=colors)
