"""Shapes as solids along z with half sizes, as MuJoCo and MJCF have them, or as meshes."""

from dataclasses import dataclass

import numpy as np

from bodymotion.geometry import meshes as meshing
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Box, Capsule, Cylinder, Lines, Mesh, Points, Shape, Sphere

FROM_Y_TO_Z = poses.from_parts(np.zeros(3), [np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])
"""The pose of a frame whose z is along y: cylinders and capsules are along y in a Body, along z in MJCF."""

MIN_SIZE = 1e-12  # [m] MuJoCo refuses sizes below mjMINVAL.
MIN_HALF_SIZE = 1e-9  # [m] The half size of boxes and capsules without extent in a direction, which MuJoCo refuses.
FLAT_RATIO = 1e-5  # Thickness divided by width below which MuJoCo cannot compute the convex hull of a mesh.


@dataclass(frozen=True)
class Solid:
    """A geom: its type and sizes as in MJCF, or its mesh, and its pose (7,) in the body."""

    type: str
    size: tuple[float, ...]
    pose: Floats
    mesh: Mesh | None = None
    meshed: bool = False
    """Whether the mesh replaces a geometry that MJCF does not have."""

    @property
    def is_flat(self) -> bool:
        """Whether it is a mesh without a convex hull, which has no contacts."""
        return self.mesh is not None and is_flat(self.mesh)


def solid(shape: Shape) -> Solid | None:
    """Return a shape as a geom; None for lines, points, and shapes without size."""
    geometry, transform = shape.geometry, shape.transform
    if isinstance(geometry, (Lines, Points)) or not np.isfinite(transform).all():
        return None
    scale = _scale(transform)
    if scale is not None and not isinstance(geometry, Mesh):
        size, kind = _sized(geometry, scale)
        if kind:
            if not all(MIN_SIZE < value < np.inf for value in size):
                return None
            rigid = transform.copy()
            rigid[:3, :3] /= np.where(scale > 0, scale, 1.0)
            pose = poses.from_matrix(rigid)
            if kind in ("cylinder", "capsule", "ellipsoid"):
                pose = poses.compose(pose, FROM_Y_TO_Z)
            return Solid(kind, size, pose)
    if isinstance(geometry, Mesh) and scale is not None and (scale == 1.0).all():
        return Solid("mesh", (), poses.from_matrix(transform), geometry)
    return Solid("mesh", (), poses.IDENTITY, shape.to_mesh(), meshed=True)


def _scale(transform: Floats) -> Floats | None:
    """Return the scale of a matrix along its own axes, 1 where it is 1 but for rounding; None where it shears or mirrors."""
    linear = transform[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    if not (lengths > MIN_SIZE).all():
        return None
    rotation = linear / lengths
    if np.abs(rotation.T @ rotation - np.eye(3)).max() > 1e-9 or np.linalg.det(rotation) < 0:
        return None
    return np.where(np.abs(lengths - 1.0) < 1e-12, 1.0, lengths)


def _sized(geometry: object, scale: Floats) -> tuple[tuple[float, ...], str]:
    """Return the sizes of a scaled primitive and its type in MJCF; "" where MJCF has none."""
    x, y, z = scale.tolist()
    is_round = abs(x - z) <= 1e-12 * x
    match geometry:
        case Box(size=(a, b, c)):
            half = (0.5 * x * a, 0.5 * y * b, 0.5 * z * c)
            thin = min(half) >= 0 and sum(value > MIN_HALF_SIZE for value in half) == 2
            return (tuple(max(value, MIN_HALF_SIZE) for value in half) if thin else half), "box"
        case Sphere(radius=radius) if is_round and abs(x - y) <= 1e-12 * x:
            return (x * radius,), "sphere"
        case Sphere(radius=radius):
            # As for cylinders, its z is along the y of the shape.
            return (x * radius, z * radius, y * radius), "ellipsoid"
        case Cylinder(radius=radius, height=height, side=True, top=True, bottom=True) if is_round:
            return (x * radius, 0.5 * y * height), "cylinder"
        case Capsule(radius=radius, height=height) if is_round and abs(x - y) <= 1e-12 * x:
            return (x * radius, 0.5 * y * height or MIN_HALF_SIZE), "capsule"
    return (), ""


def is_flat(mesh: Mesh) -> bool:
    """Return whether a mesh is flat, so that it has no convex hull."""
    points = meshing.used_vertices(mesh)
    if len(points) < 4:
        return True
    spread = np.linalg.svd((points - points.mean(axis=0)).T @ (points - points.mean(axis=0)), compute_uv=False)
    return bool(spread[2] <= FLAT_RATIO**2 * spread[0])
