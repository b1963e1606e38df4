"""Normals at the corners of triangles, and triangles as buffers for drawing.

VRML97 (ISO/IEC 14772-1, 4.6.3.5): the normal at a corner is made of the faces around its vertex whose angle to the corner's own face
is below the crease angle. Faces are weighted by their angle at the vertex, so that a flat polygon has the same weight however it
is divided into triangles (Thürmer and Wüthrich, 1998). In a buffer, every vertex has one position, normal, colour and texture coordinate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.shapes import Corners, Mesh, TriangleBuffers

__all__ = ["corner_normals", "split_corners"]

BLOCK_PAIRS = 4_000_000
MIN_PAIRS = 10_000_000
PAIRS_PER_CORNER = 32
"""Limits of the pairs of faces around one vertex that are compared, vertices of few faces first; the faces at the others stay flat.
Regular meshes have six faces around a vertex; a vertex with n faces has n² pairs."""


def corner_normals(mesh: Mesh) -> Floats:
    """Return unit normals (F, 3, 3), one for each corner of each face; zero for a triangle without area and neighbours."""
    faces = mesh.face_normals
    if mesh.normals is not None:
        given = _unit(np.asarray(mesh.normals.values))[mesh.normals.indices]
        return np.where(given.any(axis=2, keepdims=True), given, faces[:, None, :])
    if mesh.crease_angle <= 0 or not len(faces):
        return np.repeat(faces[:, None, :], 3, axis=1)
    weighted = faces[:, None, :] * _angles(mesh)[..., None]
    sums: Floats
    if mesh.crease_angle >= np.pi:
        summed = np.zeros((len(mesh.vertices), 3))
        for k in range(3):
            summed[:, k] = np.bincount(mesh.faces.ravel(), weighted[..., k].ravel(), len(mesh.vertices))
        sums = summed[mesh.faces]
    else:
        sums = _creased(mesh, weighted.reshape(-1, 3))
    smooth = _unit(sums)
    return np.where(smooth.any(axis=2, keepdims=True), smooth, faces[:, None, :])


def _angles(mesh: Mesh) -> Floats:
    corner = mesh.vertices[mesh.faces]
    edges = _unit(np.roll(corner, -1, axis=1) - corner)
    return np.asarray(np.arccos(np.clip(-np.einsum("fij,fij->fi", edges, np.roll(edges, 1, axis=1)), -1, 1)))


def _creased(mesh: Mesh, weighted: Floats) -> Floats:
    """Return the sums of `weighted` (3F, 3) over all pairs of corners at one vertex whose faces make a small angle."""
    limit = np.cos(mesh.crease_angle)
    vertex = mesh.faces.ravel()
    count = np.bincount(vertex)[vertex]
    order = np.lexsort((vertex, count))
    degree, numbers = count[order], np.arange(len(order))
    fresh = np.append(True, vertex[order[1:]] != vertex[order[:-1]])
    start = np.maximum.accumulate(np.where(fresh, numbers, 0))
    normals = np.repeat(mesh.face_normals, 3, axis=0)
    sums = weighted.copy()
    ends = np.cumsum(degree)
    done, total = 0, 0
    while done < len(order):
        stop = max(int(np.searchsorted(ends, (ends[done - 1] if done else 0) + BLOCK_PAIRS, side="right")), done + 1)
        total += int(ends[stop - 1] - (ends[done - 1] if done else 0))
        if total > MIN_PAIRS + PAIRS_PER_CORNER * len(order):
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


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


MAX_COORDINATE = float(np.finfo(np.float32).max)

NORMAL_STEPS = 2**19
"""Normals that agree within 1 / NORMAL_STEPS are merged."""


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
    return TriangleBuffers(
        positions=_singles(mesh.vertices[vertex[chosen]]),
        normals=_singles(normals[chosen]),
        triangles=frozen_ints(triangles.reshape(-1, 3)),
        colors=_values(mesh.colors, keep, chosen),
        uv=_values(mesh.texture_coordinates, keep, chosen),
        vertices=frozen_ints(vertex[chosen]),
    )


def _values(
    corners: Corners | None, keep: npt.NDArray[np.bool_], chosen: npt.NDArray[np.intp]
) -> npt.NDArray[np.float32] | None:
    if corners is None:
        return None
    return _singles(corners.values[corners.indices[keep].ravel()[chosen]])


def _singles(values: Floats) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(values, dtype=np.float32)
    array.flags.writeable = False
    return array
