"""Meshes and bounds under affine transforms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.primitives import to_mesh
from bodymotion.geometry.shapes import Capsule, Cone, Corners, Cylinder, Geometry, Lines, Mesh, Points, Sphere

__all__ = ["bounds", "transformed", "used_vertices"]


def transformed(mesh: Mesh, transform: npt.ArrayLike) -> Mesh:
    """Return the mesh under an affine `transform` (4, 4); a mirroring one turns the faces round, so that they still face outwards.

    Normals are carried by the cofactor matrix, which also stands a scale of zero.
    """
    transform = np.asarray(transform, dtype=np.float64)
    with np.errstate(all="ignore"):
        return _transformed(mesh, transform)


def _transformed(mesh: Mesh, transform: Floats) -> Mesh:
    if np.array_equal(transform, np.eye(4)):
        return mesh
    linear = transform[:3, :3]
    mirrored = bool(np.linalg.det(linear) < 0)

    def turned(corners: Corners | None) -> Corners | None:
        return Corners(corners.values, corners.indices[:, ::-1]) if corners is not None and mirrored else corners

    normals = turned(mesh.normals)
    if normals is not None:
        cofactor = np.stack(
            [np.cross(linear[1], linear[2]), np.cross(linear[2], linear[0]), np.cross(linear[0], linear[1])]
        )
        carried = normals.values @ (-cofactor if mirrored else cofactor).T
        length = np.linalg.norm(carried, axis=1, keepdims=True)
        normals = Corners(carried / np.where(length > 0, length, 1.0), normals.indices)
    return Mesh(
        vertices=mesh.vertices @ linear.T + transform[:3, 3],
        faces=mesh.faces[:, ::-1] if mirrored else mesh.faces,
        crease_angle=mesh.crease_angle,
        normals=normals,
        colors=turned(mesh.colors),
        texture_coordinates=turned(mesh.texture_coordinates),
        two_sided=mesh.two_sided,
    )


def used_vertices(geometry: Geometry) -> Floats:
    """Return the vertices (N, 3) that something is drawn between, in the geometry's own frame; for primitives those of their mesh."""
    if isinstance(geometry, Points):
        return geometry.vertices
    if isinstance(geometry, Lines):
        vertices, used = geometry.vertices, geometry.segments
    else:
        mesh = to_mesh(geometry)
        vertices, used = mesh.vertices, mesh.faces
    mask = np.zeros(len(vertices), dtype=bool)
    mask[used.ravel()] = True
    return vertices[mask]


def bounds(geometry: Geometry, transform: npt.ArrayLike) -> Floats | None:
    """Return lowest and highest corner (2, 3) of the axis-aligned box around a geometry under an affine `transform` (4, 4).

    None where there is nothing. Round primitives count as round, not as the flat faces that stand for them.
    """
    matrix = np.asarray(transform, dtype=np.float64)
    linear, middle = matrix[:3, :3], matrix[:3, 3]
    with np.errstate(all="ignore"):
        # How far a disc of radius 1 across y, and a ball of radius 1, reach in each direction.
        disc, ball = np.hypot(linear[:, 0], linear[:, 2]), np.linalg.norm(linear, axis=1)
        if isinstance(geometry, Sphere):
            reach = geometry.radius * ball
            return np.stack([middle - reach, middle + reach])
        if isinstance(geometry, (Cylinder, Capsule)):
            around = geometry.radius * (disc if isinstance(geometry, Cylinder) else ball)
            reach = around + 0.5 * geometry.height * np.abs(linear[:, 1])
            return np.stack([middle - reach, middle + reach])
        if isinstance(geometry, Cone):
            tip, base = middle + 0.5 * geometry.height * np.outer([1, -1], linear[:, 1])
            ends = np.stack([base - geometry.radius * disc, base + geometry.radius * disc, tip])
            return np.stack([ends.min(axis=0), ends.max(axis=0)]) if geometry.side else ends[:2]
        points = used_vertices(geometry) @ linear.T + middle
    return np.stack([points.min(axis=0), points.max(axis=0)]) if len(points) else None
