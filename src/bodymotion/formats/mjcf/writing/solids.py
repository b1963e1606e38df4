"""Geometries as MuJoCo has them: solids along z with half sizes, or else meshes that it can load."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bodymotion.formats.mjcf.conventions import FROM_Y_TO_Z
from bodymotion.geometry import meshes as meshing
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Box, Capsule, Cylinder, Lines, Mesh, Points, Shape, Sphere

__all__ = ["Solid", "is_flat", "loadable", "same_shape", "solid"]

LEAST = 1e-12
"""MuJoCo takes no size [m] below mjMINVAL; meshes are held in single precision."""
THIN = 1e-9
"""The half length [m] of boxes and capsules that have none in a direction, which MuJoCo does not take."""
FLAT = 1e-5
"""A mesh that is this much thinner than wide has no convex hull there."""


@dataclass(frozen=True)
class Solid:
    """A geom: its type and sizes as in MJCF, or the mesh that it shows, and its pose (7,) in the body."""

    type: str
    size: tuple[float, ...]
    pose: Floats
    mesh: Mesh | None = None
    meshed: bool = False
    """Whether the mesh stands for something that MJCF has no solid for."""


def solid(shape: Shape) -> Solid | None:
    """Return a shape as a geom; None for lines, points, and what has no size."""
    geometry, transform = shape.geometry, shape.transform
    if isinstance(geometry, (Lines, Points)) or not np.isfinite(transform).all():
        return None
    stretch = _stretch(transform)
    if stretch is not None and not isinstance(geometry, Mesh):
        size, kind = _sized(geometry, stretch)
        if kind:
            if not all(LEAST < value < np.inf for value in size):
                return None
            rigid = transform.copy()
            rigid[:3, :3] /= np.where(stretch > 0, stretch, 1.0)
            pose = poses.from_matrix(rigid)
            if kind in ("cylinder", "capsule", "ellipsoid"):
                pose = poses.compose(pose, FROM_Y_TO_Z)
            return Solid(kind, size, pose)
    if isinstance(geometry, Mesh) and stretch is not None and (stretch == 1.0).all():
        return Solid("mesh", (), poses.from_matrix(transform), geometry)
    return Solid("mesh", (), poses.IDENTITY, shape.to_mesh(), meshed=True)


def _stretch(transform: Floats) -> Floats | None:
    """Return by how much a matrix stretches along its own axes; None where it shears or mirrors. What is nearly 1 is 1."""
    linear = transform[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    if not (lengths > LEAST).all():
        return None
    turn = linear / lengths
    if np.abs(turn.T @ turn - np.eye(3)).max() > 1e-9 or np.linalg.det(turn) < 0:
        return None
    return np.where(np.abs(lengths - 1.0) < 1e-12, 1.0, lengths)


def _sized(geometry: object, stretch: Floats) -> tuple[tuple[float, ...], str]:
    """Return the sizes of a primitive under a stretch along its axes, and what MJCF calls it; "" where it has no word."""
    x, y, z = stretch.tolist()
    round_about_y = abs(x - z) <= 1e-12 * x
    match geometry:
        case Box(size=(a, b, c)):
            half = (0.5 * x * a, 0.5 * y * b, 0.5 * z * c)
            thin = min(half) >= 0 and sum(value > THIN for value in half) == 2
            return (tuple(max(value, THIN) for value in half) if thin else half), "box"
        case Sphere(radius=radius) if round_about_y and abs(x - y) <= 1e-12 * x:
            return (x * radius,), "sphere"
        case Sphere(radius=radius):
            # The frame is that of a cylinder: its y is the body's −z.
            return (x * radius, z * radius, y * radius), "ellipsoid"
        case Cylinder(radius=radius, height=height, side=True, top=True, bottom=True) if round_about_y:
            return (x * radius, 0.5 * y * height), "cylinder"
        case Capsule(radius=radius, height=height) if round_about_y and abs(x - y) <= 1e-12 * x:
            return (x * radius, 0.5 * y * height or THIN), "capsule"
    return (), ""


def loadable(mesh: Mesh) -> tuple[Mesh | None, bool]:
    """Return a mesh that MuJoCo loads, and whether it is another one; None where there is no area to show.

    It asks for finite vertices, at least four of them, and an area; corners in the middle of an edge make four of three.
    """
    if not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
        return None, False
    with np.errstate(all="ignore"):
        corner = mesh.vertices.astype(np.float32).astype(np.float64)[mesh.faces]
        double = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
        if not 1e-14 < 0.5 * double.sum() < np.inf:
            return None, False
    used = np.unique(mesh.faces)
    if len(np.unique(mesh.vertices[used].astype(np.float32), axis=0)) >= 4:
        return mesh, False
    return _halved(mesh), True


def _halved(mesh: Mesh) -> Mesh:
    """Divide every triangle into two, through the middle of its first edge; properties of corners are left out."""
    first, second, third = mesh.faces.T
    middle = 0.5 * (mesh.vertices[first] + mesh.vertices[second])
    extra = len(mesh.vertices) + np.arange(len(mesh.faces))
    faces = np.concatenate([np.stack([first, extra, third], axis=1), np.stack([extra, second, third], axis=1)])
    bare = replace(mesh, normals=None, colors=None, texture_coordinates=None)
    return replace(bare, vertices=np.concatenate([mesh.vertices, middle]), faces=faces)


def is_flat(mesh: Mesh) -> bool:
    """Whether all of a mesh lies in a plane, as nearly as the hull of it can tell."""
    points = meshing.used_vertices(mesh)
    if len(points) < 4:
        return True
    spread = np.linalg.svd((points - points.mean(axis=0)).T @ (points - points.mean(axis=0)), compute_uv=False)
    return bool(spread[2] <= FLAT**2 * spread[0])


def same_shape(a: Shape, b: Shape) -> bool:
    """Whether two shapes are equal; the same one, in most models, twice."""
    if a.geometry is not b.geometry and a.geometry != b.geometry:
        return False
    return bool(np.array_equal(a.transform, b.transform) and a.name == b.name and a.material == b.material)
