"""Primitives as closed meshes, with the texture coordinates that VRML97 gives them (ISO/IEC 14772-1, 6.5, 6.11, 6.15, 6.43).

All round ones are profiles turned about y: from the back (−z) counter-clockwise seen from above, which is also the way in which
a texture goes round them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.shapes import Box, Capsule, Cone, Corners, Cylinder, Geometry, Lines, Mesh, Points, Sphere

__all__ = ["to_mesh"]

Indices = npt.NDArray[np.int64]

SEGMENTS = 32
"""The number of flat faces around a round primitive."""
CREASE_ANGLE = 0.5
"""[rad] Crease angle that smooths a round side and keeps the edges of its caps."""


def to_mesh(geometry: Geometry) -> Mesh:
    """Return any geometry as triangles in its own frame; the mesh of lines and points has no faces."""
    if isinstance(geometry, Mesh):
        return geometry
    if isinstance(geometry, (Lines, Points)):
        return Mesh(geometry.vertices, np.zeros((0, 3), dtype=np.int32))
    if isinstance(geometry, Box):
        return _box(tuple(geometry.size))
    if isinstance(geometry, Sphere):
        return _sphere(geometry.radius)
    if isinstance(geometry, Cylinder):
        return _cylinder(geometry)
    if isinstance(geometry, Cone):
        return _cone(geometry)
    if isinstance(geometry, Capsule):
        return _capsule(geometry)
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


@lru_cache(maxsize=256)
def _sphere(radius: float) -> Mesh:
    latitude = np.linspace(-np.pi / 2, np.pi / 2, SEGMENTS // 2 + 1)
    vertices, faces, uv = _turned(radius * _cosine(latitude), radius * np.sin(latitude))
    return Mesh(vertices, frozen_ints(faces), crease_angle=np.pi, texture_coordinates=uv)


@lru_cache(maxsize=256)
def _capsule(capsule: Capsule) -> Mesh:
    half = np.linspace(0.0, np.pi / 2, SEGMENTS // 4 + 1)
    radius, height = capsule.radius, 0.5 * capsule.height
    profile = np.concatenate([radius * _cosine(half[::-1]), radius * _cosine(half)])
    levels = np.concatenate([-height - radius * np.sin(half[::-1]), height + radius * np.sin(half)])
    vertices, faces, uv = _turned(profile, levels)
    return Mesh(vertices, frozen_ints(faces), crease_angle=np.pi, texture_coordinates=uv)


@lru_cache(maxsize=256)
def _cylinder(cylinder: Cylinder) -> Mesh:
    half = 0.5 * cylinder.height
    radii = np.array([cylinder.radius, cylinder.radius])
    caps = [(0, -1)] * cylinder.bottom + [(1, 1)] * cylinder.top
    return _with_caps(radii, np.array([-half, half]), cylinder.side, caps)


@lru_cache(maxsize=256)
def _cone(cone: Cone) -> Mesh:
    half = 0.5 * cone.height
    return _with_caps(np.array([cone.radius, 0.0]), np.array([-half, half]), cone.side, [(0, -1)] * cone.bottom)


def _with_caps(radii: Floats, levels: Floats, side: bool, caps: list[tuple[int, int]]) -> Mesh:
    """Return a rotated profile with caps: `caps` are the numbers of rings and the direction of their cap (1 up, −1 down)."""
    vertices, faces, uv = _turned(radii, levels)
    all_faces = [faces] if side else []
    all_uv_indices: list[npt.NDArray[np.integer]] = [uv.indices] if side else []
    uv_values = [np.asarray(uv.values)]
    fan = np.stack([np.zeros(SEGMENTS - 2), np.arange(1, SEGMENTS - 1), np.arange(2, SEGMENTS)], axis=1).astype(
        np.int64
    )
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
    around = np.roll(ring, -1, axis=1)
    faces = _quads(ring[:-1], around[:-1], around[1:], ring[1:])
    columns, rows = SEGMENTS + 1, len(radii)
    uv = np.stack(np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows)), axis=-1).reshape(-1, 2)
    grid = np.arange(columns * rows).reshape(rows, columns)
    uv_faces = _quads(grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1])
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return np.concatenate(vertices), faces[whole], Corners(uv, uv_faces[whole])


def _quads(a: Indices, b: Indices, c: Indices, d: Indices) -> Indices:
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)


def _circle() -> Floats:
    """Return x and z (SEGMENTS, 2) on the unit circle, from −z counter-clockwise seen from above."""
    angle = np.linspace(0.0, 2 * np.pi, SEGMENTS, endpoint=False)
    return np.stack([-np.sin(angle), -np.cos(angle)], axis=1)


def _cosine(angle: Floats) -> Floats:
    """Return the cosine, exactly 0 at π/2, so that poles have no radius."""
    return np.where(np.isclose(np.abs(angle), np.pi / 2, atol=1e-12), 0.0, np.cos(angle))
