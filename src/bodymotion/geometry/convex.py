"""Convex bodies: shapes as solids along z with half sizes, as MuJoCo and MJCF have them, or as meshes; distances and overlaps.

`hull_distance` is the distance between two convex hulls, `box_overlap` how far boxes overlap.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bodymotion.geometry import meshes as meshing
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Box, Capsule, Cylinder, Lines, Mesh, Points, Shape, Sphere

MAX_STEPS = 60


def hull_distance(a: Floats, b: Floats, enough: float = np.inf) -> float:
    """Return the distance [m] between the convex hulls of two clouds of points (N, 3) and (M, 3); 0 where they overlap.

    The algorithm of Gilbert, Johnson and Keerthi (1988): the point v nearest to the origin in the hull of all differences a − b is
    sought in simplices of at most four of them. w is the difference farthest against v, so v·w/|v| is a lower bound of the distance;
    the search ends where it is above `enough`.
    """
    simplex = (a[:1] - b[:1]).astype(np.float64)
    v = simplex[0]
    for _ in range(MAX_STEPS):
        length = float(np.linalg.norm(v))
        if length < 1e-9:
            return 0.0
        w = a[np.argmin(a @ v)] - b[np.argmax(b @ v)]
        bound = float(v @ w) / length
        if bound > enough or length - bound <= 1e-7 * length:
            return max(bound, 0.0)
        simplex = np.vstack([simplex, w])
        v, simplex = _nearest(simplex)
    return float(np.linalg.norm(v))


def _nearest(simplex: Floats) -> tuple[Floats, Floats]:
    """Return the point (3,) nearest to the origin in the hull of points (K, 3), K ≤ 5, and those of them that span it."""
    best, spanning = simplex[-1], simplex[-1:]
    last = len(simplex) - 1
    for size in range(1, min(last, 3) + 1):
        for others in combinations(range(last), size):
            points = simplex[[*others, last]]
            edges = points[:-1] - points[-1]
            # The foot of the perpendicular from the origin: points[-1] + edgesᵀ·s with edges·(…) = 0.
            gram = edges @ edges.T
            try:
                shares = np.linalg.solve(gram, -edges @ points[-1])
            except np.linalg.LinAlgError:
                continue
            if (shares > 0).all() and shares.sum() < 1:
                found = points[-1] + shares @ edges
                if found @ found < best @ best:
                    best, spanning = found, points
    return best, spanning


def box_overlap(one: tuple[Floats, ...], two: tuple[Floats, ...], enough: float = -np.inf) -> Floats:
    """Return the least distances (…) by which one of two boxes must be moved to be apart, negative where they are.

    Where a direction gives at most `enough`, no others may have been tried.
    A box has axes (3, 3, …), as columns, half sizes (3, …) and a middle (3, …). Gottschalk, Lin and Manocha (1996): the directions to be
    tried are the axes of both, and the products of two of them.
    """
    (a, half_a, middle_a), (b, half_b, middle_b) = one, two
    between = middle_b - middle_a
    cosines = np.einsum("ij...,ik...->jk...", a, b)
    along = np.abs(cosines)
    to_a, to_b = np.einsum("i...,ij...->j...", between, a), np.einsum("i...,ij...->j...", between, b)
    least = np.minimum(
        (half_a + np.einsum("jk...,k...->j...", along, half_b) - np.abs(to_a)).min(axis=0),
        (half_b + np.einsum("jk...,j...->k...", along, half_a) - np.abs(to_b)).min(axis=0),
    )
    left = least > enough
    if not left.any():
        return np.asarray(least)
    rest = least[left]
    half_a, half_b = (np.broadcast_to(half, to_a.shape)[..., left] for half in (half_a, half_b))
    to_a, to_b, cosines, along = (one[..., left] for one in (to_a, to_b, cosines, along))
    for i, j in np.ndindex(3, 3):
        i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
        reach_a = half_a[i1] * along[i2, j] + half_a[i2] * along[i1, j]
        reach_b = half_b[j1] * along[i, j2] + half_b[j2] * along[i, j1]
        overlap = reach_a + reach_b - np.abs(to_a[i2] * cosines[i1, j] - to_a[i1] * cosines[i2, j])
        sine = np.sqrt(np.maximum(1.0 - cosines[i, j] ** 2, 0.0))
        # Products of parallel axes are no directions.
        rest = np.minimum(rest, np.divide(overlap, sine, out=np.full_like(sine, np.inf), where=sine > 1e-3))
    least[left] = rest
    return np.asarray(least)


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
