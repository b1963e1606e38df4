"""Triangles as a graphics card wants them: every vertex has one place, one normal, one colour, one place in the texture."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.meshes.normals import corner_normals
from bodymotion.geometry.shapes import Corners, Mesh, TriangleBuffers

__all__ = ["split_corners"]

LARGEST = float(np.finfo(np.float32).max)

STEPS = 2**19
"""Normals that agree to one part of this are the same normal."""


def split_corners(mesh: Mesh) -> TriangleBuffers:
    """Return the triangles as buffers; vertices are split only where their corners differ.

    Triangles without area, or with a corner beyond what single precision holds, show nothing and are left out.
    """
    with np.errstate(all="ignore"):
        normals = corner_normals(mesh)
        finite = np.asarray((np.abs(mesh.vertices) < LARGEST).all(axis=1))
        keep = np.asarray(mesh.face_normals.any(axis=1) & np.isfinite(normals).all(axis=(1, 2)))
        keep &= finite[mesh.faces].all(axis=1)
    faces = mesh.faces[keep]
    normals = normals[keep].reshape(-1, 3)
    vertex = faces.ravel()
    steps = np.round(normals * STEPS).astype(np.int64) + STEPS
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
