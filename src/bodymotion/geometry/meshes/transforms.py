"""Meshes and bounds under affine transforms, and the outermost points of shapes: enough to know their contacts and extent in any pose."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.primitives import to_mesh
from bodymotion.geometry.shapes import Capsule, Cone, Corners, Cylinder, Geometry, Lines, Mesh, Points, Shape, Sphere

__all__ = ["bounds", "outermost_points", "transformed", "used_vertices"]


def transformed(mesh: Mesh, transform: npt.ArrayLike) -> Mesh:
    """Return the mesh under an affine `transform` (4, 4); a reflection reverses the faces, so that they still face outwards.

    Normals are transformed by the cofactor matrix, which is defined for a scale of zero, too.
    """
    transform = np.asarray(transform, dtype=np.float64)
    with np.errstate(all="ignore"):
        return _transformed(mesh, transform)


def _transformed(mesh: Mesh, transform: Floats) -> Mesh:
    if np.array_equal(transform, np.eye(4)):
        return mesh
    linear = transform[:3, :3]
    mirrored = bool(np.linalg.det(linear) < 0)

    def reversed_corners(corners: Corners | None) -> Corners | None:
        return Corners(corners.values, corners.indices[:, ::-1]) if corners is not None and mirrored else corners

    normals = reversed_corners(mesh.normals)
    if normals is not None:
        cofactor = np.stack(
            [np.cross(linear[1], linear[2]), np.cross(linear[2], linear[0]), np.cross(linear[0], linear[1])]
        )
        moved = normals.values @ (-cofactor if mirrored else cofactor).T
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        normals = Corners(moved / np.where(length > 0, length, 1.0), normals.indices)
    return Mesh(
        vertices=mesh.vertices @ linear.T + transform[:3, 3],
        faces=mesh.faces[:, ::-1] if mirrored else mesh.faces,
        crease_angle=mesh.crease_angle,
        normals=normals,
        colors=reversed_corners(mesh.colors),
        texture_coordinates=reversed_corners(mesh.texture_coordinates),
        two_sided=mesh.two_sided,
    )


def used_vertices(geometry: Geometry) -> Floats:
    """Return the vertices (N, 3) that faces or lines use, in the geometry's own frame; for primitives those of their mesh."""
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

    None for an empty geometry. Round primitives are exact, not approximated by their flat faces.
    """
    matrix = np.asarray(transform, dtype=np.float64)
    linear, middle = matrix[:3, :3], matrix[:3, 3]
    with np.errstate(all="ignore"):
        # The extent of a disc of radius 1 normal to y, and of a ball of radius 1, in each direction.
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


NUM_DIRECTIONS = 512
SMALL_CLOUD = 64
"""Clouds of at most this number of points are kept as they are."""
BLOCK = 32
"""Directions that are processed at once: less than 1 GB for clouds of a million points."""


def outermost_points(shapes: Iterable[Shape]) -> Floats:
    """Return the points (N, 3) of shapes, in the frame of their link, that are outermost in one of about 500 directions.

    In any other direction, the extent is too small by at most the cloud's radius times 1 − cos of the angle to the next of these: about 1 %;
    parts with corners (feet, boxes) are exact. A small cloud is returned whole, without points that are not finite.
    """
    clouds = [used_vertices(shape.geometry) @ shape.transform[:3, :3].T + shape.transform[:3, 3] for shape in shapes]
    cloud = np.concatenate([np.zeros((0, 3)), *clouds])
    cloud = np.asarray(cloud[np.isfinite(cloud).all(axis=1)])
    if len(cloud) <= SMALL_CLOUD:
        return cloud
    directions = _directions()
    blocks = [directions[start : start + BLOCK] for start in range(0, len(directions), BLOCK)]
    return np.asarray(cloud[np.unique(np.concatenate([np.argmax(cloud @ block.T, axis=0) for block in blocks]))])


def _directions() -> Floats:
    """Return unit vectors all over the sphere: a Fibonacci lattice, and the six along the axes."""
    i = np.arange(NUM_DIRECTIONS) + 0.5
    z = 1 - 2 * i / NUM_DIRECTIONS
    angle = np.pi * (1 + np.sqrt(5)) * i
    radius = np.sqrt(1 - z * z)
    lattice = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return np.concatenate([lattice, np.eye(3), -np.eye(3)])
