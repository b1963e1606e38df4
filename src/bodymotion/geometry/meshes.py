"""Triangle meshes.

Polygons as triangles, primitives as closed meshes, smooth normals, transforms, and
buffers for drawing.

Convex polygons become fans, all at once. Concave ones, whatever the file claims, are
cut ear by ear, in the plane of their Newell normal.

Texture coordinates of primitives are those of VRML97 (ISO/IEC 14772-1, 6.5, 6.11, 6.15,
6.43). All round primitives are profiles rotated about y: from the back (−z)
counter-clockwise seen from above, which is also the direction of a texture around them.
The outermost points of shapes are enough to compute contacts and extent in any pose.

Normals (VRML97, 4.6.3.5): the normal at a corner is made of the faces around its vertex
whose angle to the corner's own face is below the crease angle. Faces are weighted by
their angle at the vertex, so that a flat polygon has the same weight however it is
divided into triangles (Thürmer and Wüthrich, 1998).

In a buffer, every vertex has one position, normal, colour and texture coordinate. The
parts of `surface_parts` are in the frame of the shapes. Colours are sRGB, as in VRML97;
texture coordinates count from the lower left of the image.

Convex bodies (`solid`) are shapes as solids along z with half sizes, as MuJoCo and MJCF
have them, or as meshes. `hull_distance` is the distance between two convex hulls,
`box_overlap` how far boxes overlap.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, Indices, Ints, frozen, frozen_ints, unit
from bodymotion.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Corners,
    Cylinder,
    Geometry,
    Lines,
    Material,
    Mesh,
    Points,
    Shape,
    Sphere,
    TriangleBuffers,
)

# Corner tests for cutting ears in one call; remaining polygons become fans.
MAX_EAR_TESTS = 100_000_000

VECTORIZED_CORNERS = (
    40  # Number of corners from which testing them all at once is faster.
)
SEGMENTS = 32  # The number of flat faces around a round primitive.
CREASE_ANGLE = (
    0.5  # [rad] Crease angle that smooths a round side and keeps the edges of its caps.
)

NUM_DIRECTIONS = 512  # Directions in which the outermost points of a mesh are searched.
SMALL_CLOUD = 64  # Clouds of at most this number of points are kept as they are.
BLOCK = 2**16  # Distances that are computed at once, so that they stay in the cache.

BLOCK_PAIRS = 4_000_000
MIN_PAIRS = 10_000_000
# Limits of the pairs of faces around one vertex that are compared, vertices of few
# faces first; the faces at the others stay flat. Regular meshes have six faces around a
# vertex; a vertex with n faces has n² pairs.
PAIRS_PER_CORNER = 32

MAX_COORDINATE = float(np.finfo(np.float32).max)

NORMAL_STEPS = 2**19  # Normals that agree within 1 / NORMAL_STEPS are merged.
# The modes of glTF.
POINTS = 0
LINES = 1
TRIANGLES = 4
MAX_NUMBERED = (
    1 << 24
)  # Vertices are numbered up to the largest exact whole number of single precision.
MAX_STEPS = 60  # Of `hull_distance`.

# The pose of a frame whose z is along y. Cylinders and capsules are along y in a Body,
# along z in MJCF.
FROM_Y_TO_Z = poses.from_parts(np.zeros(3), [np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])

MIN_SIZE = 1e-12  # [m] MuJoCo refuses sizes below mjMINVAL.
# [m] The half size of boxes and capsules without extent in a direction, which MuJoCo
# refuses.
MIN_HALF_SIZE = 1e-9
# Thickness divided by width below which MuJoCo cannot compute the convex hull of a
# mesh.
FLAT_RATIO = 1e-5


@dataclass(frozen=True)
class Triangles:
    """The result of `triangulate`.

    `corners` (F, 3) are positions in the list of indices, `polygons` (F,) the number of
    each triangle's polygon (dropped ones counted);
    `out_of_range` and `too_small` count the polygons that were dropped.
    """

    corners: Indices
    polygons: Indices
    out_of_range: int = 0
    too_small: int = 0


@np.errstate(over="ignore", invalid="ignore")
def triangulate(index: npt.NDArray[np.integer], vertices: Floats) -> Triangles:
    """Return the triangles of the polygons of an indexed face set.

    Parameters
    ----------
    index:
        (N,) indices of vertices; a negative one ends a polygon (the last need not be
        ended).
    vertices:
        (V, 3).

    Returns
    -------
    The triangles keep the direction of rotation of their polygons. Polygons with an
    index beyond the vertices, or with fewer than three corners, are dropped and
    counted.
    """
    index = np.asarray(index)
    ends = np.flatnonzero(index < 0)
    if len(index) and (not len(ends) or ends[-1] != len(index) - 1):
        ends = np.append(ends, len(index))
    if len(ends):
        starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    else:
        starts = np.zeros(0, dtype=np.int64)
    counts = ends - starts
    bad = np.zeros(len(ends), dtype=bool)
    bad[np.searchsorted(ends, np.flatnonzero(index >= len(vertices)))] = True
    good = (counts >= 3) & ~bad
    out_of_range = int(np.count_nonzero(bad))
    too_small = int(np.count_nonzero((counts < 3) & (counts > 0) & ~bad))
    numbers = np.flatnonzero(good)
    starts = starts[numbers]
    counts = counts[numbers]

    if len(counts) and (counts == 3).all():
        return Triangles(
            starts[:, None] + np.arange(3), numbers, out_of_range, too_small
        )
    concave = _concave(index, vertices, starts, counts)
    fans = np.ones(len(counts), dtype=bool)
    fans[concave] = False
    parts = [_fans(starts[fans], counts[fans])]
    owners = [np.repeat(numbers[fans], counts[fans] - 2)]
    budget = MAX_EAR_TESTS
    for which in concave:
        start = int(starts[which])
        count = int(counts[which])
        cut, budget = _cut_ears(vertices[index[start : start + count]], budget)
        parts.append(cut + start)
        owners.append(np.full(len(cut), numbers[which]))
    polygons = np.concatenate(owners)
    order = np.argsort(polygons, kind="stable") if len(concave) else slice(None)
    return Triangles(
        np.concatenate(parts)[order], polygons[order], out_of_range, too_small
    )


def _fans(starts: Indices, counts: Indices) -> Indices:
    sizes = counts - 2
    first = np.repeat(starts, sizes)
    if len(sizes):
        offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    else:
        offsets = sizes
    step = np.arange(len(first)) - np.repeat(offsets, sizes)
    return np.stack([first, first + step + 1, first + step + 2], axis=1)


def _concave(
    index: npt.NDArray[np.integer], vertices: Floats, starts: Indices, counts: Indices
) -> Indices:
    """Return which polygons are concave somewhere, seen along their Newell normal."""
    many = np.flatnonzero(counts > 3)
    if not len(many):
        return many
    sizes = counts[many]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(many)), sizes)
    step = np.arange(len(owner)) - first[owner]
    base = starts[many][owner]
    here = vertices[index[base + step]]
    after = vertices[index[base + (step + 1) % sizes[owner]]]
    before = vertices[index[base + (step - 1) % sizes[owner]]]
    newell = np.add.reduceat(_cross(here, after), first, axis=0)
    turn = np.einsum("ij,ij->i", _cross(here - before, after - here), newell[owner])
    scale = np.maximum.reduceat(np.abs(turn), first)
    return many[np.minimum.reduceat(turn, first) < -1e-6 * scale]


def _cross(a: Floats, b: Floats) -> Floats:
    """Return the cross products of rows.

    For few rows several times faster than `numpy.cross`.
    """
    ax, ay, az = a.T
    bx, by, bz = b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _cut_ears(points: Floats, budget: int) -> tuple[Indices, int]:
    """Cut one simple polygon (n, 3) ear by ear (Meisters, 1975).

    Return triangles (n−2, 3) of its corners, and the number of tests left. What is left
    of the polygon when the budget is spent becomes a fan.
    """
    ring = _Ring(points)
    triangles: list[tuple[int, int, int]] = []
    corner = 0
    failures = 0
    left = len(points)
    while left > 3 and budget >= 0:
        budget -= 1 + len(ring.reflex)
        # A polygon that crosses itself may have no ear: then any corner is cut.
        if failures > left or ring.is_ear(corner):
            before = ring.before[corner]
            triangles.append((before, corner, ring.after[corner]))
            ring.cut(corner)
            # The corner before has changed; testing it next keeps the triangles short.
            corner = before
            failures = 0
            left = left - 1
        else:
            corner = ring.after[corner]
            failures = failures + 1
    second = ring.after[corner]
    while ring.after[second] != corner:
        third = ring.after[second]
        triangles.append((corner, second, third))
        second = third
    return np.array(triangles, dtype=np.int64), budget


class _Ring:
    """The corners that are left of a polygon, seen along its Newell normal.

    Attributes
    ----------
    flat:
        (n, 2) positions of all corners.
    before, after:
        The neighbours of each corner.
    reflex:
        The corners that turn the other way; only they can lie in an ear.
    """

    def __init__(self, points: Floats) -> None:
        normal = _cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
        across = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
        self.flat = points @ np.stack([across, np.cross(normal, across)], axis=1)
        self.x: list[float] = self.flat[:, 0].tolist()
        self.y: list[float] = self.flat[:, 1].tolist()
        count = len(self.x)
        self.after: list[int] = [*range(1, count), 0]
        self.before: list[int] = [count - 1, *range(count - 1)]
        self.reflex: set[int] = {i for i in range(count) if not self.turns_left(i)}
        self._reflex_array: Indices | None = None

    def turns_left(self, i: int) -> bool:
        """Return whether a corner turns counter-clockwise."""
        x = self.x
        y = self.y
        a = self.before[i]
        c = self.after[i]
        return bool((x[i] - x[a]) * (y[c] - y[a]) > (y[i] - y[a]) * (x[c] - x[a]))

    def is_ear(self, i: int) -> bool:
        """Return whether the triangle of a corner and its neighbours can be cut off.

        It is inside of the polygon and contains no other corner.
        """
        if i in self.reflex:
            return False
        x = self.x
        y = self.y
        ends = [(x[k], y[k]) for k in (self.before[i], i, self.after[i])]
        sides = list(zip(ends, ends[1:] + ends[:1], strict=True))
        if len(self.reflex) <= VECTORIZED_CORNERS:
            for p in self.reflex:
                if (x[p], y[p]) not in ends and all(
                    (bx - ax) * (y[p] - ay) >= (by - ay) * (x[p] - ax)
                    for (ax, ay), (bx, by) in sides
                ):
                    return False
            return True
        if self._reflex_array is None:
            self._reflex_array = np.array(list(self.reflex))
        px, py = self.flat[self._reflex_array].T
        is_inside = np.ones(len(px), dtype=bool)
        for (ax, ay), (bx, by) in sides:
            is_inside &= (bx - ax) * (py - ay) >= (by - ay) * (px - ax)
        inside = self._reflex_array[is_inside].tolist()
        return all((x[p], y[p]) in ends for p in inside)

    def cut(self, i: int) -> None:
        """Remove a corner; its neighbours may turn left afterwards."""
        a = self.before[i]
        c = self.after[i]
        self.after[a] = c
        self.before[c] = a
        settled = {k for k in (a, c) if k in self.reflex and self.turns_left(k)}
        if i in self.reflex:
            settled.add(i)
        if settled:
            self.reflex -= settled
            self._reflex_array = None


Point: TypeAlias = tuple[float, float]


def hull_of_sorted(points: list[Point]) -> list[Point]:
    """Return the convex hull of sorted points in a plane, counter-clockwise."""
    # Andrew's monotone chain: the lower side forwards, then the upper one backwards;
    # a point that does not turn left is dropped.
    chain: list[Point] = []
    min_length = 2
    for step, (x, y) in enumerate([*points, *points[-2::-1]]):
        if step == len(points):
            min_length = len(chain) + 1
        while len(chain) >= min_length:
            (ax, ay), (bx, by) = chain[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            chain.pop()
        chain.append((x, y))
    if len(chain) > 1:
        chain.pop()
    if len(chain) == 2 and chain[0] == chain[1]:
        return chain[:1]
    return chain


def to_mesh(geometry: Geometry) -> Mesh:
    """Return any geometry as triangles in its own frame.

    The mesh of lines and points has no faces.
    """
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
    """Return the closed mesh of a box, with textures as VRML97 has them."""
    # x changes fastest.
    signs = np.array([(x, y, z) for z, y, x in product((-1.0, 1.0), repeat=3)])
    # Each side from its lower left corner on, in the orientation of the texture: front,
    # back, right, left, top, bottom.
    sides = np.array(
        [
            [4, 5, 7, 6],
            [1, 0, 2, 3],
            [5, 1, 3, 7],
            [0, 4, 6, 2],
            [6, 7, 3, 2],
            [0, 1, 5, 4],
        ]
    )
    faces = sides[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    uv = Corners(square, np.tile([[0, 1, 2], [0, 2, 3]], (6, 1)))
    return Mesh(signs * 0.5 * np.asarray(size), faces, texture_coordinates=uv)


@lru_cache(maxsize=1024)
def _round(solid: Sphere | Cylinder | Cone | Capsule) -> Mesh:
    """Return a round solid as a mesh: a profile that is rotated about y."""
    radius = solid.radius
    if isinstance(solid, Sphere):
        half = 0.0
    else:
        half = 0.5 * solid.height
    ends = np.array([-half, half])
    if isinstance(solid, Cylinder):
        caps = [(0, -1)] * solid.bottom + [(1, 1)] * solid.top
        return _with_caps(np.array([radius, radius]), ends, solid.side, caps)
    if isinstance(solid, Cone):
        return _with_caps(
            np.array([radius, 0.0]), ends, solid.side, [(0, -1)] * solid.bottom
        )
    # A quarter of a circle, from the equator to the pole.
    upper = np.linspace(0.0, np.pi / 2, SEGMENTS // 4 + 1)
    # The two rings at the equator of a ball are one.
    latitude = np.concatenate(
        [-upper[:0:-1] if isinstance(solid, Sphere) else -upper[::-1], upper]
    )
    # The half balls of a capsule are moved apart by its height; a sphere has none.
    levels = radius * np.sin(latitude) + np.where(
        np.arange(len(latitude)) < len(upper), -half, half
    )
    # Exactly 0 at the poles, so that they have no radius.
    cosine = np.where(np.abs(latitude) == np.pi / 2, 0.0, np.cos(latitude))
    vertices, faces, uv = _turned(radius * cosine, levels)
    return Mesh(
        vertices, frozen_ints(faces), crease_angle=np.pi, texture_coordinates=uv
    )


def _with_caps(
    radii: Floats, levels: Floats, side: bool, caps: list[tuple[int, int]]
) -> Mesh:
    """Return a rotated profile with caps.

    `caps` are the numbers of rings and the direction of their cap (1 up, −1 down).
    """
    vertices, faces, uv = _turned(radii, levels)
    if side:
        all_faces = [faces]
    else:
        all_faces = []
    all_uv_indices: list[npt.NDArray[np.integer]] = [uv.indices] if side else []
    uv_values = [np.asarray(uv.values)]
    # A fan of triangles from the first vertex of a ring.
    fan = np.array([[0, k, k + 1] for k in range(1, SEGMENTS - 1)])
    # The tip of a cone needs no disc.
    caps = [(ring, up) for ring, up in caps if radii[ring] > 0]
    for ring, up in caps:
        if up > 0:
            turn = fan
        else:
            turn = fan[:, ::-1]
        all_faces.append(turn + ring * SEGMENTS)
        # Texture coordinates of each disc follow those of the side and the discs before.
        all_uv_indices.append(turn + sum(map(len, uv_values)))
        unit = _circle()
        # VRML97: the disc shows one cut out of the texture; seen from below it is
        # mirrored.
        uv_values.append(
            np.stack([0.5 + 0.5 * unit[:, 0], 0.5 - 0.5 * up * unit[:, 1]], axis=1)
        )
    none = np.zeros((0, 3), dtype=np.int64)
    return Mesh(
        vertices,
        frozen_ints(np.concatenate([none, *all_faces])),
        crease_angle=CREASE_ANGLE,
        texture_coordinates=Corners(
            np.concatenate(uv_values), np.concatenate([none, *all_uv_indices])
        ),
        # Open shapes are seen from inside, too.
        two_sided=not side or len(caps) < int(np.count_nonzero(radii)),
    )


def _turned(radii: Floats, levels: Floats) -> tuple[Floats, Indices, Corners]:
    """Rotate a profile, from bottom to top, about y.

    Return vertices, faces that look outwards, texture coordinates.

    A ring of radius 0 is one vertex.
    """
    circle = _circle()
    vertices = []
    rings = []
    count = 0
    for radius, level in zip(radii, levels, strict=True):
        if radius > 0:
            vertices.append(
                np.stack(
                    [
                        radius * circle[:, 0],
                        np.full(SEGMENTS, level),
                        radius * circle[:, 1],
                    ],
                    axis=1,
                )
            )
            # Numbers (SEGMENTS,) of the ring's vertices; at a pole all are the same
            # one.
            rings.append(count + np.arange(SEGMENTS))
            count += SEGMENTS
        else:
            vertices.append(np.array([[0.0, level, 0.0]]))
            rings.append(np.full(SEGMENTS, count))
            count += 1
    ring = np.array(rings)
    # The first column again at the end closes the ring.
    faces = grid_faces(np.concatenate([ring, ring[:, :1]], axis=1))
    # Texture coordinates do not close: the seam has 0 on one side and 1 on the other.
    columns = SEGMENTS + 1
    rows = len(radii)
    uv = np.stack(
        np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows)), axis=-1
    ).reshape(-1, 2)
    grid = np.arange(columns * rows).reshape(rows, columns)
    uv_faces = grid_faces(grid)
    # Squares at a pole have one triangle without area, which is left out.
    whole = (
        (faces[:, 0] != faces[:, 1])
        & (faces[:, 1] != faces[:, 2])
        & (faces[:, 2] != faces[:, 0])
    )
    return np.concatenate(vertices), faces[whole], Corners(uv, uv_faces[whole])


def grid_faces(grid: Indices) -> Indices:
    """Return two triangles for each square of a grid (R, C) of vertices.

    (2 (R − 1) (C − 1), 3), counter-clockwise from its first row.
    """
    a = grid[:-1, :-1]
    b = grid[:-1, 1:]
    c = grid[1:, 1:]
    d = grid[1:, :-1]
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


def _circle() -> Floats:
    """Return x and z (SEGMENTS, 2) on the unit circle.

    From −z, counter-clockwise seen from above, as textures of VRML97 begin at the back.
    """
    angle = np.linspace(0.0, 2 * np.pi, SEGMENTS, endpoint=False)
    return np.stack([-np.sin(angle), -np.cos(angle)], axis=1)


@np.errstate(all="ignore")
def transformed(mesh: Mesh, transform: npt.ArrayLike) -> Mesh:
    """Return the mesh under an affine `transform` (4, 4).

    A reflection reverses the faces, so that they still face outwards.

    Normals are transformed by the cofactor matrix, which is defined for a scale of
    zero, too.
    """
    transform = np.asarray(transform, dtype=np.float64)
    if np.array_equal(transform, np.eye(4)):
        return mesh
    linear = transform[:3, :3]
    mirrored = bool(np.linalg.det(linear) < 0)

    def reversed_corners(corners: Corners | None) -> Corners | None:
        if corners is not None and mirrored:
            return corners.reversed()
        return corners

    normals = reversed_corners(mesh.normals)
    if normals is not None:
        # Rows of the cofactor matrix: products of two rows of the linear part. For a
        # reflection the sign changes, as the faces are reversed.
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
    """Return the vertices (N, 3) that faces or lines use, in the geometry's own frame.

    For primitives those of their mesh.
    """
    if isinstance(geometry, Points):
        return geometry.vertices
    if isinstance(geometry, Lines):
        vertices = geometry.vertices
        used = geometry.segments
    else:
        mesh = to_mesh(geometry)
        vertices = mesh.vertices
        used = mesh.faces
    # Vertices that no face uses are invisible, and must not change bounds.
    mask = np.zeros(len(vertices), dtype=bool)
    mask[used.ravel()] = True
    return vertices[mask]


def bounds(geometry: Geometry, transform: npt.ArrayLike) -> Floats | None:
    """Return lowest and highest corner (2, 3) of the box around a geometry.

    The box is axis-aligned, the geometry under an affine `transform` (4, 4).

    None for an empty geometry. Round primitives are exact, not approximated by their
    flat faces.
    """
    matrix = np.asarray(transform, dtype=np.float64)
    linear = matrix[:3, :3]
    middle = matrix[:3, 3]
    with np.errstate(all="ignore"):
        # The extent of a disc of radius 1 normal to y, and of a ball of radius 1, in
        # each direction.
        disc = np.hypot(linear[:, 0], linear[:, 2])
        ball = np.linalg.norm(linear, axis=1)
        if isinstance(geometry, Sphere):
            reach = geometry.radius * ball
            return np.stack([middle - reach, middle + reach])
        if isinstance(geometry, (Cylinder, Capsule)):
            around = geometry.radius * (
                disc if isinstance(geometry, Cylinder) else ball
            )
            # The axis is along y: half the height, and the disc or ball at its ends.
            reach = around + 0.5 * geometry.height * np.abs(linear[:, 1])
            return np.stack([middle - reach, middle + reach])
        if isinstance(geometry, Cone):
            # Tip at +y, base at −y.
            tip, base = middle + 0.5 * geometry.height * np.outer([1, -1], linear[:, 1])
            ends = np.stack(
                [base - geometry.radius * disc, base + geometry.radius * disc, tip]
            )
            # Without a side only the base is visible.
            if geometry.side:
                return np.stack([ends.min(axis=0), ends.max(axis=0)])
            return ends[:2]
        points = used_vertices(geometry) @ linear.T + middle
    if len(points):
        return np.stack([points.min(axis=0), points.max(axis=0)])
    return None


def mesh_of_shape(shape: Shape) -> Mesh:
    """Return the triangles of a shape in the frame of its link; see `Shape.to_mesh`."""
    return transformed(to_mesh(shape.geometry), shape.transform)


def bounds_of_shape(shape: Shape) -> Floats | None:
    """Return the box (2, 3) around a shape, None if it is empty; see `Shape.bounds`."""
    box = bounds(shape.geometry, shape.transform)
    if box is None:
        return None
    return frozen(box)


def outermost_points(shapes: Iterable[Shape]) -> Floats:
    """Return the outermost points (N, 3) of shapes in the frame of their link.

    They are outermost in one of about 500 directions.

    In any other direction, the extent is too small by at most the cloud's radius times
    1 − cos of the angle to the next of these: about 1 %; parts with corners (feet,
    boxes) are exact. A small cloud is returned whole, without points that are not
    finite.
    """
    clouds = [
        used_vertices(shape.geometry) @ shape.transform[:3, :3].T
        + shape.transform[:3, 3]
        for shape in shapes
    ]
    cloud = np.concatenate([np.zeros((0, 3)), *clouds])
    cloud = np.asarray(cloud[np.isfinite(cloud).all(axis=1)])
    if len(cloud) <= SMALL_CLOUD:
        return cloud
    directions = _directions()
    # Directions × points per block, which bounds the memory.
    step = BLOCK // len(cloud) + 1
    blocks = [
        directions[start : start + step, :, None]
        for start in range(0, len(directions), step)
    ]
    # The threads of a matrix product would cost more than they save for three columns.
    x, y, z = np.ascontiguousarray(cloud.T)
    farthest = [
        np.argmax(block[:, 0] * x + block[:, 1] * y + block[:, 2] * z, axis=1)
        for block in blocks
    ]
    chosen = np.zeros(len(cloud), dtype=np.bool_)
    chosen[np.concatenate(farthest)] = True
    return np.asarray(cloud[chosen])


def _directions() -> Floats:
    """Return unit vectors all over the sphere.

    A Fibonacci lattice, and the six along the axes.
    """
    i = np.arange(NUM_DIRECTIONS) + 0.5
    z = 1 - 2 * i / NUM_DIRECTIONS
    angle = np.pi * (1 + np.sqrt(5)) * i
    # Points at even steps of z have even area; the golden angle keeps them apart.
    radius = np.sqrt(1 - z * z)
    lattice = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return np.concatenate([lattice, np.eye(3), -np.eye(3)])


def corner_normals(mesh: Mesh) -> Floats:
    """Return unit normals (F, 3, 3), one for each corner of each face.

    Zero for a triangle without area and neighbours.
    """
    faces = mesh.face_normals
    if mesh.normals is not None:
        # Normals of a file; where they are 0, those of the faces.
        normals = unit(mesh.normals.values)[mesh.normals.indices]
        return np.where(normals.any(axis=2, keepdims=True), normals, faces[:, None, :])
    # Without a crease angle each face is flat.
    if mesh.crease_angle <= 0 or not len(faces):
        return np.repeat(faces[:, None, :], 3, axis=1)
    # Faces count by their angle at the corner, so that a square split in two triangles
    # does not count twice.
    weighted = faces[:, None, :] * _angles(mesh)[..., None]
    sums: Floats
    # All faces at a vertex are smoothed: no pairs need to be compared.
    if mesh.crease_angle >= np.pi:
        sums = _at_vertices(mesh, weighted.reshape(-1, 3)).reshape(-1, 3, 3)
    else:
        sums = _creased(mesh, weighted.reshape(-1, 3))
    smooth = unit(sums)
    return np.where(smooth.any(axis=2, keepdims=True), smooth, faces[:, None, :])


def _angles(mesh: Mesh) -> Floats:
    corner = mesh.vertices[mesh.faces]
    edges = unit(np.roll(corner, -1, axis=1) - corner)
    return np.asarray(
        # The angle at each corner is that between the edges before and after it.
        np.arccos(
            np.clip(-np.einsum("fij,fij->fi", edges, np.roll(edges, 1, axis=1)), -1, 1)
        )
    )


def _at_vertices(mesh: Mesh, values: Floats) -> Floats:
    """Return for each corner the sum of `values` (3F, 3) at its vertex.

    Over all corners there.
    """
    vertex = mesh.faces.ravel()
    sums = [np.bincount(vertex, column, len(mesh.vertices)) for column in values.T]
    return np.asarray(np.stack(sums, axis=1)[vertex], dtype=np.float64)


def _creased(mesh: Mesh, weighted: Floats) -> Floats:
    """Return the sums of `weighted` (3F, 3) over pairs of smooth corners.

    Pairs are corners at one vertex whose faces make a small angle.
    """
    limit = np.cos(mesh.crease_angle)
    vertex = mesh.faces.ravel()
    normals = np.repeat(mesh.face_normals, 3, axis=0)
    # Where all faces at a vertex are within half of the angle to their mean, all pairs
    # are within the angle.
    to_mean = np.einsum("ij,ij->i", normals, unit(_at_vertices(mesh, normals)))
    creased = (
        np.bincount(vertex, ~(to_mean > np.cos(0.5 * mesh.crease_angle)))[vertex] > 0
    )
    # Elsewhere a corner begins with itself alone, and its pairs are added below.
    sums = np.where(creased[:, None], weighted, _at_vertices(mesh, weighted))
    # Corners sorted by the number at their vertex, then by vertex: those of one vertex
    # follow each other.
    count = np.bincount(vertex)[vertex]
    order = np.lexsort((vertex, count))
    order = order[creased[order]]
    degree = count[order]
    numbers = np.arange(len(order))
    # Where a new vertex begins, and for each corner the first one of its vertex.
    fresh = np.append(True, vertex[order[1:]] != vertex[order[:-1]])
    start = np.maximum.accumulate(np.where(fresh, numbers, 0))
    # Number of pairs up to each corner.
    ends = np.cumsum(degree)
    done = 0
    total = 0
    # As many corners at a time as have `BLOCK_PAIRS` pairs; at least one.
    while done < len(order):
        stop = max(
            int(
                np.searchsorted(
                    ends, (ends[done - 1] if done else 0) + BLOCK_PAIRS, side="right"
                )
            ),
            done + 1,
        )
        total += int(ends[stop - 1] - (ends[done - 1] if done else 0))
        # A vertex shared by very many faces has pairs by their square: what is left
        # stays flat.
        if total > MIN_PAIRS + PAIRS_PER_CORNER * len(vertex):
            break
        # All pairs (a, b) of corners at one vertex: a repeated, b counting through.
        some = np.arange(done, stop)
        repeat = degree[some]
        first = np.repeat(some, repeat)
        within = np.arange(len(first)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        a = order[first]
        b = order[start[first] + within]
        near = np.einsum("ij,ij->i", normals[a], normals[b]) > limit
        a = a[near]
        b = b[near]
        for k in range(3):
            sums[order[some], k] = np.bincount(
                first[near] - done, weighted[b, k], minlength=stop - done
            )
        done = stop
    return sums.reshape(-1, 3, 3)


def split_corners(mesh: Mesh) -> TriangleBuffers:
    """Return the triangles as buffers.

    Vertices are split only where their corners differ.

    Triangles without area, or with a corner beyond the range of single precision, are
    left out.
    """
    with np.errstate(all="ignore"):
        normals = corner_normals(mesh)
        finite = np.asarray((np.abs(mesh.vertices) < MAX_COORDINATE).all(axis=1))
        keep = np.asarray(
            mesh.face_normals.any(axis=1) & np.isfinite(normals).all(axis=(1, 2))
        )
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
        if corners is None:
            return None
        return _singles(corners.values[corners.indices[keep].ravel()[chosen]])

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


class Surface(NamedTuple):
    """How a part is drawn.

    `channels` of its own colours: 0, 3 or 4.
    """

    mode: int
    material: Material
    textured: bool
    two_sided: bool
    channels: int

    @property
    def key(self) -> tuple[object, ...]:
        """The properties that shapes of one part have in common."""
        # Materials that look the same are one, whatever else they have.
        material = self.material
        appearance = (
            material.diffuse,
            material.emissive,
            material.shininess,
            material.transparency,
        )
        texture = material.texture
        # The texture matters only where there are coordinates for it.
        if self.textured and texture:
            image = (str(texture.path), texture.repeat_s, texture.repeat_t)
        else:
            image = None
        return (self.mode, self.two_sided, self.channels, appearance, image)


Singles: TypeAlias = npt.NDArray[np.float32]


@dataclass
class Part:
    """A part that is drawn at once.

    Arrays to concatenate; `indices` count through all of them.

    `positions` and `normals` (N, 3), `colors` (N, channels), `uv` (N, 2), `vertices`
    (N,) the number of the mesh's vertex.
    """

    surface: Surface
    positions: list[Singles] = field(default_factory=list)
    normals: list[Singles] = field(default_factory=list)
    colors: list[Singles] = field(default_factory=list)
    uv: list[Singles] = field(default_factory=list)
    vertices: list[Singles] = field(default_factory=list)
    indices: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    count: int = 0

    def add(
        self, indices: Ints, positions: Singles, **more: npt.NDArray[Any] | None
    ) -> None:
        """Add points with the `indices` of its triangles, lines or points.

        `more` are those of the other arrays that there are.
        """
        for name, values in {"positions": positions, **more}.items():
            if values is not None:
                getattr(self, name).append(values.astype(np.float32, copy=False))
        # Indices of the new points follow those of the part.
        self.indices.append(indices.astype(np.uint32).ravel() + np.uint32(self.count))
        self.count += len(positions)


_Parts: TypeAlias = dict[tuple[object, ...], Part]


def surface_parts(
    shapes: Iterable[Shape], paint: Material | None = None, *, whole: bool = False
) -> list[Part]:
    """Return the parts of shapes; none where nothing is visible.

    `paint` replaces the materials of the shapes. `whole` keeps texture coordinates
    without a texture, and the numbers of vertices.
    """
    parts: _Parts = {}
    for shape in shapes:
        if isinstance(shape.geometry, (Lines, Points)):
            _add_lines(parts, shape, paint)
        else:
            _add_triangles(parts, shape, paint, whole)
    return list(parts.values())


def _add_triangles(
    parts: _Parts, shape: Shape, paint: Material | None, whole: bool
) -> None:
    """Add the triangles of a shape to the part of its surface."""
    mesh = shape.to_mesh()
    buffers = mesh.corners_split
    if not len(buffers.triangles):
        return
    material = paint or shape.material
    texture = material.texture
    colors = None
    channels = 0
    # VRML97: a texture takes the place of vertex colours.
    if paint is None and texture is None and buffers.colors is not None:
        colors = buffers.colors
        channels = colors.shape[1]
    uv = None
    if buffers.uv is not None and (whole or texture is not None):
        matrix = np.eye(3)
        if texture is not None:
            # Texture coordinates are transformed here, as viewers have no such
            # transform.
            matrix = texture.transform
        ones = np.ones(len(buffers.uv), dtype=np.float32)
        uv = (np.c_[buffers.uv, ones] @ matrix.T)[:, :2]
    has_texture = uv is not None and texture is not None
    numbers = None
    # Numbers are kept as single precision, which is exact up to 2²⁴.
    if whole and len(mesh.vertices) < MAX_NUMBERED:
        numbers = buffers.vertices
    surface = Surface(TRIANGLES, material, has_texture, mesh.two_sided, channels)
    part = parts.setdefault(surface.key, Part(surface))
    part.add(
        buffers.triangles,
        buffers.positions,
        normals=buffers.normals,
        colors=colors,
        uv=uv,
        vertices=numbers,
    )


def _add_lines(parts: _Parts, shape: Shape, paint: Material | None) -> None:
    """Add lines or points.

    None where a coordinate is not finite in single precision.
    """
    geometry = shape.geometry
    assert isinstance(geometry, (Lines, Points))
    transform = shape.transform
    moved = geometry.vertices @ transform[:3, :3].T + transform[:3, 3]
    positions = moved.astype(np.float32)
    if isinstance(geometry, Lines):
        mode = LINES
        indices = geometry.segments
    else:
        mode = POINTS
        indices = np.arange(len(positions), dtype=np.int32)
    # A single point that is not finite would make viewers drop the whole part.
    if not indices.size or not np.isfinite(positions).all():
        return
    colors = None
    channels = 0
    if geometry.colors is not None and paint is None:
        colors = geometry.colors[:, :3]
        channels = 3
    material = paint or shape.material
    surface = Surface(mode, material, textured=False, two_sided=True, channels=channels)
    part = parts.setdefault(surface.key, Part(surface))
    part.add(indices, positions, colors=colors)


def hull_distance(a: Floats, b: Floats, enough: float = np.inf) -> float:
    """Return the distance [m] between the convex hulls of two clouds of points.

    (N, 3) and (M, 3); 0 where the hulls overlap.

    The algorithm of Gilbert, Johnson and Keerthi (1988): the point v nearest to the
    origin in the hull of all differences a − b is sought in simplices of at most four
    of them. w is the difference farthest against v, so v·w/|v| is a lower bound of the
    distance; the search ends where it is above `enough`.
    """
    # Any difference of two points is in the hull: the search starts there.
    simplex = (a[:1] - b[:1]).astype(np.float64)
    v = simplex[0]
    for _ in range(MAX_STEPS):
        length = float(np.linalg.norm(v))
        # The origin is in the hull: both hulls overlap.
        if length < 1e-9:
            return 0.0
        # Farthest against v: the lowest of a along v, the highest of b.
        w = a[np.argmin(a @ v)] - b[np.argmax(b @ v)]
        bound = float(v @ w) / length
        if bound > enough or length - bound <= 1e-7 * length:
            return max(bound, 0.0)
        simplex = np.vstack([simplex, w])
        v, simplex = _nearest(simplex)
    return float(np.linalg.norm(v))


def _nearest(simplex: Floats) -> tuple[Floats, Floats]:
    """Return the point (3,) nearest to the origin in the hull of points (K, 3), K ≤ 5.

    And those of them that span it.
    """
    # The new point, the last one, is always part of the nearest simplex.
    best = simplex[-1]
    spanning = simplex[-1:]
    last = len(simplex) - 1
    for size in range(1, min(last, 3) + 1):
        for others in combinations(range(last), size):
            points = simplex[[*others, last]]
            edges = points[:-1] - points[-1]
            # The foot of the perpendicular from the origin: points[-1] + edgesᵀ·s with
            # edges·(…) = 0.
            gram = edges @ edges.T
            # It is singular for points that depend on each other: they span a smaller
            # simplex, which is tried as well.
            try:
                shares = np.linalg.solve(gram, -edges @ points[-1])
            except np.linalg.LinAlgError:
                continue
            # All shares are positive: the foot is inside the simplex.
            if (shares > 0).all() and shares.sum() < 1:
                found = points[-1] + shares @ edges
                if found @ found < best @ best:
                    best = found
                    spanning = points
    return best, spanning


def box_overlap(
    one: tuple[Floats, ...], two: tuple[Floats, ...], enough: float = -np.inf
) -> Floats:
    """Return the smallest distances (…) that move two boxes apart.

    They are negative where the boxes are apart.

    Where a direction gives at most `enough`, no others may have been tried. A box has
    axes (3, 3, …), as columns, half sizes (3, …) and a middle (3, …). Gottschalk, Lin
    and Manocha (1996): the directions to be tried are the axes of both, and the
    products of two of them.
    """
    (a, half_a, middle_a), (b, half_b, middle_b) = one, two
    between = middle_b - middle_a
    # Axes of b in the frame of a, (3, 3, …).
    cosines = np.einsum("ij...,ik...->jk...", a, b)
    along = np.abs(cosines)
    to_a = np.einsum("i...,ij...->j...", between, a)
    to_b = np.einsum("i...,ij...->j...", between, b)
    # Along each axis of a box: half sizes of both, projected, less the distance of the
    # middles.
    overlaps = np.minimum(
        (half_a + np.einsum("jk...,k...->j...", along, half_b) - np.abs(to_a)).min(
            axis=0
        ),
        (half_b + np.einsum("jk...,j...->k...", along, half_a) - np.abs(to_b)).min(
            axis=0
        ),
    )
    # Only pairs that none of these directions separates need the nine products.
    left = overlaps > enough
    if not left.any():
        return np.asarray(overlaps)
    rest = overlaps[left]
    half_a, half_b = (
        np.broadcast_to(half, to_a.shape)[..., left] for half in (half_a, half_b)
    )
    to_a, to_b, cosines, along = (
        one[..., left] for one in (to_a, to_b, cosines, along)
    )
    for i, j in np.ndindex(3, 3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        j1 = (j + 1) % 3
        j2 = (j + 2) % 3
        reach_a = half_a[i1] * along[i2, j] + half_a[i2] * along[i1, j]
        reach_b = half_b[j1] * along[i, j2] + half_b[j2] * along[i, j1]
        overlap = (
            reach_a
            + reach_b
            - np.abs(to_a[i2] * cosines[i1, j] - to_a[i1] * cosines[i2, j])
        )
        sine = np.sqrt(np.maximum(1.0 - cosines[i, j] ** 2, 0.0))
        # Products of parallel axes are no directions.
        rest = np.minimum(
            rest,
            np.divide(overlap, sine, out=np.full_like(sine, np.inf), where=sine > 1e-3),
        )
    overlaps[left] = rest
    return np.asarray(overlaps)


@dataclass(frozen=True)
class Solid:
    """A geom: its type and sizes as in MJCF, or its mesh.

    `frame` (4, 4) is that of its shape in the body.
    """

    type: str
    size: tuple[float, ...]
    frame: Floats
    mesh: Mesh | None = None
    meshed: bool = False
    """Whether the mesh replaces a geometry that MJCF does not have."""

    @property
    def is_flat(self) -> bool:
        """Whether it is a mesh without a convex hull, which has no contacts."""
        return self.mesh is not None and is_flat(self.mesh)

    @cached_property
    def pose(self) -> Floats:
        """Its pose (7,) in the body."""
        pose = poses.from_matrix(self.frame)
        # Axes are along y in VRML97, along z in MuJoCo.
        if self.type in ("cylinder", "capsule", "ellipsoid"):
            return poses.compose(pose, FROM_Y_TO_Z)
        return pose


def solid(shape: Shape) -> Solid | None:
    """Return a shape as a geom.

    None for lines, points, and shapes without size.
    """
    geometry = shape.geometry
    transform = shape.transform
    if isinstance(geometry, (Lines, Points)) or not np.isfinite(transform).all():
        return None
    scale = _scale(transform)
    # A primitive that is neither sheared nor mirrored stays one, where MJCF has it.
    if scale is not None and not isinstance(geometry, Mesh):
        size, kind = _sized(geometry, scale)
        if kind:
            if not all(MIN_SIZE < value < np.inf for value in size):
                return None
            rigid = transform.copy()
            rigid[:3, :3] /= np.where(scale > 0, scale, 1.0)
            return Solid(kind, size, rigid)
    # A rigid transform becomes the geom's pose, so that shapes share one mesh.
    if isinstance(geometry, Mesh) and scale is not None and (scale == 1.0).all():
        return Solid("mesh", (), transform, geometry)
    return Solid("mesh", (), np.eye(4), shape.to_mesh(), meshed=True)


def _scale(transform: Floats) -> Floats | None:
    """Return the scale of a matrix along its own axes.

    It is 1 where it is 1 but for rounding.

    None where it shears or mirrors.
    """
    linear = transform[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    if not (lengths > MIN_SIZE).all():
        return None
    rotation = linear / lengths
    # Columns that are not orthogonal shear; a negative determinant mirrors.
    if (
        np.abs(rotation.T @ rotation - np.eye(3)).max() > 1e-9
        or np.linalg.det(rotation) < 0
    ):
        return None
    return np.where(np.abs(lengths - 1.0) < 1e-12, 1.0, lengths)


def _sized(geometry: object, scale: Floats) -> tuple[tuple[float, ...], str]:
    """Return the sizes of a scaled primitive and its type in MJCF.

    A box has half of its sizes, as in MJCF. "" where MJCF has no such type.
    """
    x, y, z = scale.tolist()
    is_round = abs(x - z) <= 1e-12 * x
    match geometry:
        case Box(size=(a, b, c)):
            half: tuple[float, ...] = (0.5 * x * a, 0.5 * y * b, 0.5 * z * c)
            # A sheet gets the smallest thickness. A rod or a point does not: `solid`
            # leaves out what has too small a size.
            is_sheet = sum(value > MIN_HALF_SIZE for value in half) == 2
            if is_sheet and min(half) >= 0:
                half = tuple(max(value, MIN_HALF_SIZE) for value in half)
            return half, "box"
        case Sphere(radius=radius) if is_round and abs(x - y) <= 1e-12 * x:
            return (x * radius,), "sphere"
        case Sphere(radius=radius):
            # As for cylinders, its z is along the y of the shape.
            return (x * radius, z * radius, y * radius), "ellipsoid"
        case Cylinder(
            radius=radius, height=height, side=True, top=True, bottom=True
        ) if is_round:
            return (x * radius, 0.5 * y * height), "cylinder"
        case Capsule(radius=radius, height=height) if (
            is_round and abs(x - y) <= 1e-12 * x
        ):
            # MuJoCo refuses a capsule of length 0.
            return (x * radius, 0.5 * y * height or MIN_HALF_SIZE), "capsule"
    return (), ""


def is_flat(mesh: Mesh) -> bool:
    """Return whether a mesh is flat, so that it has no convex hull."""
    points = used_vertices(mesh)
    if len(points) < 4:
        return True
    centered = points - points.mean(axis=0)
    # Squares of the singular values of the points: the smallest is that across the
    # plane.
    spread = np.linalg.svd(centered.T @ centered, compute_uv=False)
    return bool(spread[2] <= FLAT_RATIO**2 * spread[0])
