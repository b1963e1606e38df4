"""Primitives as closed meshes; meshes and bounds under affine transforms; the outermost points of shapes.

Texture coordinates are those of VRML97 (ISO/IEC 14772-1, 6.5, 6.11, 6.15, 6.43). All round primitives are profiles rotated about y: from
the back (−z) counter-clockwise seen from above, which is also the direction of a texture around them.

The outermost points are enough to compute contacts and extent in any pose.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, frozen_ints, unit
from bodymotion.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Corners,
    Cylinder,
    Geometry,
    Lines,
    Mesh,
    Points,
    Shape,
    Sphere,
)

Indices = npt.NDArray[np.int64]

SEGMENTS = 32  # The number of flat faces around a round primitive.
CREASE_ANGLE = 0.5  # [rad] Crease angle that smooths a round side and keeps the edges of its caps.


def to_mesh(geometry: Geometry) -> Mesh:
    """Return any geometry as triangles in its own frame; the mesh of lines and points has no faces."""
    if isinstance(geometry, Mesh):
        return geometry
    if isinstance(geometry, (Lines, Points)):
        return Mesh(geometry.vertices, np.zeros((0, 3), dtype=np.int32))
    if isinstance(geometry, Box):
        return _box(tuple(geometry.size))
    if isinstance(geometry, (Sphere, Cylinder, Cone, Capsule)):
        return _round(geometry)
    raise TypeError(f"no geometry: {type(geometry).__name__}")


@lru_cache(maxsize=256)
def _box(size: tuple[float, float, float]) -> Mesh:
    signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=np.float64)
    # Each side from its lower left corner on, in the orientation of the texture: front, back, right, left, top, bottom.
    sides = np.array([[4, 5, 7, 6], [1, 0, 2, 3], [5, 1, 3, 7], [0, 4, 6, 2], [6, 7, 3, 2], [0, 1, 5, 4]])
    faces = sides[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    uv = Corners(square, np.tile([[0, 1, 2], [0, 2, 3]], (6, 1)))
    return Mesh(signs * 0.5 * np.asarray(size), faces, texture_coordinates=uv)


@lru_cache(maxsize=1024)
def _round(solid: Sphere | Cylinder | Cone | Capsule) -> Mesh:
    radius, half = solid.radius, 0.0 if isinstance(solid, Sphere) else 0.5 * solid.height
    ends = np.array([-half, half])
    if isinstance(solid, Cylinder):
        caps = [(0, -1)] * solid.bottom + [(1, 1)] * solid.top
        return _with_caps(np.array([radius, radius]), ends, solid.side, caps)
    if isinstance(solid, Cone):
        return _with_caps(np.array([radius, 0.0]), ends, solid.side, [(0, -1)] * solid.bottom)
    upper = np.linspace(0.0, np.pi / 2, SEGMENTS // 4 + 1)
    # The two rings at the equator of a ball are one.
    latitude = np.concatenate([-upper[:0:-1] if isinstance(solid, Sphere) else -upper[::-1], upper])
    levels = radius * np.sin(latitude) + np.where(np.arange(len(latitude)) < len(upper), -half, half)
    # Exactly 0 at the poles, so that they have no radius.
    cosine = np.where(np.abs(latitude) == np.pi / 2, 0.0, np.cos(latitude))
    vertices, faces, uv = _turned(radius * cosine, levels)
    return Mesh(vertices, frozen_ints(faces), crease_angle=np.pi, texture_coordinates=uv)


def _with_caps(radii: Floats, levels: Floats, side: bool, caps: list[tuple[int, int]]) -> Mesh:
    """Return a rotated profile with caps: `caps` are the numbers of rings and the direction of their cap (1 up, −1 down)."""
    vertices, faces, uv = _turned(radii, levels)
    all_faces = [faces] if side else []
    all_uv_indices: list[npt.NDArray[np.integer]] = [uv.indices] if side else []
    uv_values = [np.asarray(uv.values)]
    fan = np.array([[0, k, k + 1] for k in range(1, SEGMENTS - 1)])
    caps = [(ring, up) for ring, up in caps if radii[ring] > 0]
    for ring, up in caps:
        turn = fan if up > 0 else fan[:, ::-1]
        all_faces.append(turn + ring * SEGMENTS)
        all_uv_indices.append(turn + sum(map(len, uv_values)))
        unit = _circle()
        uv_values.append(np.stack([0.5 + 0.5 * unit[:, 0], 0.5 - 0.5 * up * unit[:, 1]], axis=1))
    none = np.zeros((0, 3), dtype=np.int64)
    return Mesh(
        vertices,
        frozen_ints(np.concatenate([none, *all_faces])),
        crease_angle=CREASE_ANGLE,
        texture_coordinates=Corners(np.concatenate(uv_values), np.concatenate([none, *all_uv_indices])),
        two_sided=not side or len(caps) < int(np.count_nonzero(radii)),
    )


def _turned(radii: Floats, levels: Floats) -> tuple[Floats, Indices, Corners]:
    """Rotate a profile, from bottom to top, about y; return vertices, faces that look outwards, texture coordinates.

    A ring of radius 0 is one vertex.
    """
    circle = _circle()
    vertices, rings, count = [], [], 0
    for radius, level in zip(radii, levels, strict=True):
        if radius > 0:
            vertices.append(np.stack([radius * circle[:, 0], np.full(SEGMENTS, level), radius * circle[:, 1]], axis=1))
            rings.append(count + np.arange(SEGMENTS))
            count += SEGMENTS
        else:
            vertices.append(np.array([[0.0, level, 0.0]]))
            rings.append(np.full(SEGMENTS, count))
            count += 1
    ring = np.array(rings)
    faces = grid_faces(np.concatenate([ring, ring[:, :1]], axis=1))
    columns, rows = SEGMENTS + 1, len(radii)
    uv = np.stack(np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows)), axis=-1).reshape(-1, 2)
    grid = np.arange(columns * rows).reshape(rows, columns)
    uv_faces = grid_faces(grid)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return np.concatenate(vertices), faces[whole], Corners(uv, uv_faces[whole])


def grid_faces(grid: Indices) -> Indices:
    """Return two triangles (2 (R − 1) (C − 1), 3) for each square of a grid (R, C) of vertices, counter-clockwise from its first row."""
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


def _circle() -> Floats:
    """Return x and z (SEGMENTS, 2) on the unit circle, from −z counter-clockwise seen from above."""
    angle = np.linspace(0.0, 2 * np.pi, SEGMENTS, endpoint=False)
    return np.stack([-np.sin(angle), -np.cos(angle)], axis=1)


@np.errstate(all="ignore")
def transformed(mesh: Mesh, transform: npt.ArrayLike) -> Mesh:
    """Return the mesh under an affine `transform` (4, 4); a reflection reverses the faces, so that they still face outwards.

    Normals are transformed by the cofactor matrix, which is defined for a scale of zero, too.
    """
    transform = np.asarray(transform, dtype=np.float64)
    if np.array_equal(transform, np.eye(4)):
        return mesh
    linear = transform[:3, :3]
    mirrored = bool(np.linalg.det(linear) < 0)

    def reversed_corners(corners: Corners | None) -> Corners | None:
        return corners.reversed() if corners is not None and mirrored else corners

    normals = reversed_corners(mesh.normals)
    if normals is not None:
        cofactor = np.cross(linear[[1, 2, 0]], linear[[2, 0, 1]])
        moved = normals.values @ (-cofactor if mirrored else cofactor).T
        normals = Corners(unit(moved), normals.indices)
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
SMALL_CLOUD = 64  # Clouds of at most this number of points are kept as they are.
BLOCK = 2**16  # Distances that are computed at once, so that they stay in the cache.


def outermost_points(shapes: Iterable[Shape]) -> Floats:
    """Return the points (N, 3) of shapes, in the frame of their link, that are outermost in one of about 500 directions.

    In any other direction, the extent is too small by at most the cloud's radius times 1 − cos of the angle to the next of these:
    about 1 %; parts with corners (feet, boxes) are exact. A small cloud is returned whole, without points that are not finite.
    """
    clouds = [used_vertices(shape.geometry) @ shape.transform[:3, :3].T + shape.transform[:3, 3] for shape in shapes]
    cloud = np.concatenate([np.zeros((0, 3)), *clouds])
    cloud = np.asarray(cloud[np.isfinite(cloud).all(axis=1)])
    if len(cloud) <= SMALL_CLOUD:
        return cloud
    directions = _directions()
    step = BLOCK // len(cloud) + 1
    blocks = [directions[start : start + step, :, None] for start in range(0, len(directions), step)]
    # The threads of a matrix product would cost more than they save for three columns.
    x, y, z = np.ascontiguousarray(cloud.T)
    farthest = [np.argmax(block[:, 0] * x + block[:, 1] * y + block[:, 2] * z, axis=1) for block in blocks]
    chosen = np.zeros(len(cloud), dtype=np.bool_)
    chosen[np.concatenate(farthest)] = True
    return np.asarray(cloud[chosen])


def _directions() -> Floats:
    """Return unit vectors all over the sphere: a Fibonacci lattice, and the six along the axes."""
    i = np.arange(NUM_DIRECTIONS) + 0.5
    z = 1 - 2 * i / NUM_DIRECTIONS
    angle = np.pi * (1 + np.sqrt(5)) * i
    radius = np.sqrt(1 - z * z)
    lattice = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return np.concatenate([lattice, np.eye(3), -np.eye(3)])
