"""The rasteriser of cameras: the triangle that is visible at each pixel, and its depth.

A pixel is the ray through its centre. The ray D hits a triangle with corners a, b, c where D·(b × c), D·(c × a) and D·(a × b) have one
sign (Olano and Greer, 1997). So no clipping is needed, triangles may extend behind the camera, and there is no gap at an edge of two
triangles, since one computes there the negative of the other. The depth is n·a / n·D with n the normal.

Coordinates of a camera are here x to the right, y up, and the depth along its axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, Ints
from bodymotion.kernels.compiling import in_slices, kernel


@dataclass(frozen=True, eq=False)
class Solids:
    """Triangles of P parts, each fixed in one of the frames before a camera.

    `vertices` (V, 3) [m] in the parts' frames, `faces` (F, 3) of them, counter-clockwise seen from outside; those of part p from
    `vertex_edges[p]` (`face_edges[p]`) to the next one; `frames` (P,), `spheres` (P, 4) middle and radius, `two_sided` (P,).
    """

    vertices: Floats
    faces: Ints
    vertex_edges: Ints
    face_edges: Ints
    frames: Ints
    spheres: Floats
    two_sided: npt.NDArray[np.bool_]


def draw(
    solids: Solids,
    first: int,
    placements: Floats,
    view: tuple[float, float, float, float],
    depths: Floats,
    owners: Ints,
) -> None:
    """Draw triangles over those that were drawn before.

    Parameters
    ----------
    first:
        The number of the first face; the others follow.
    placements:
        (N, K, 3, 4) that take points of each frame to the camera's coordinates.
    view:
        Half width and half height of the picture at depth 1, and the least and the most depth that is seen.
    depths, owners:
        (N, H, W): depth and number of the face, changed where something nearer is drawn.
    """
    if not len(solids.faces):
        return
    most = int(np.diff(solids.vertex_edges).max())
    tables = (
        solids.vertices,
        solids.faces,
        solids.vertex_edges,
        solids.face_edges,
        solids.frames,
        solids.spheres,
        solids.two_sided,
    )

    def work(a: int, b: int) -> None:
        _draw(*tables, first, placements[a:b], *view, np.empty((most, 3)), depths[a:b], owners[a:b])

    in_slices(len(depths), work, few=1)


@kernel
def _draw(
    vertices: Floats,
    faces: Ints,
    vertex_edges: Ints,
    face_edges: Ints,
    frames: Ints,
    spheres: Floats,
    two_sided: npt.NDArray[np.bool_],
    first: int,
    placements: Floats,
    right: float,
    up: float,
    near: float,
    far: float,
    points: Floats,
    depths: Floats,
    owners: Ints,
) -> None:
    slant_right = np.sqrt(1.0 + right * right)
    slant_up = np.sqrt(1.0 + up * up)
    for n in range(depths.shape[0]):
        for part in range(frames.shape[0]):
            m = placements[n, frames[part]]
            x, y, z, reach = spheres[part, 0], spheres[part, 1], spheres[part, 2], spheres[part, 3]
            reach *= 1.0 + 1e-9
            cx = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3]
            cy = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3]
            cd = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3]
            if not (cd + reach >= near and cd - reach <= far):
                continue
            if not (abs(cx) - right * cd <= reach * slant_right and abs(cy) - up * cd <= reach * slant_up):
                continue
            start = vertex_edges[part]
            for i in range(start, vertex_edges[part + 1]):
                x, y, z = vertices[i, 0], vertices[i, 1], vertices[i, 2]
                for k in range(3):
                    points[i - start, k] = m[k, 0] * x + m[k, 1] * y + m[k, 2] * z + m[k, 3]
            for face in range(face_edges[part], face_edges[part + 1]):
                _fill(
                    points,
                    faces[face, 0] - start,
                    faces[face, 1] - start,
                    faces[face, 2] - start,
                    two_sided[part],
                    first + face,
                    right,
                    up,
                    near,
                    far,
                    n,
                    depths,
                    owners,
                )


@kernel
def _fill(
    points: Floats,
    i: int,
    j: int,
    k: int,
    both: bool,
    number: int,
    right: float,
    up: float,
    near: float,
    far: float,
    n: int,
    depths: Floats,
    owners: Ints,
) -> None:
    a0, a1, a2 = points[i, 0], points[i, 1], points[i, 2]
    b0, b1, b2 = points[j, 0], points[j, 1], points[j, 2]
    c0, c1, c2 = points[k, 0], points[k, 1], points[k, 2]
    nearest = min(a2, b2, c2)
    farthest = max(a2, b2, c2)
    if not (farthest >= near and nearest <= far):
        return
    ex, ey, ez = b0 - a0, b1 - a1, b2 - a2
    fx, fy, fz = c0 - a0, c1 - a1, c2 - a2
    nx = ey * fz - ez * fy
    ny = ez * fx - ex * fz
    nz = ex * fy - ey * fx
    ahead = nx * a0 + ny * a1 + nz * a2
    # Depth instead of −z mirrors the coordinates: seen from outside, n·a is positive.
    if not np.isfinite(ahead) or ahead == 0.0 or (ahead < 0.0 and not both):
        return
    height, width = depths.shape[1:]
    left_most, right_most, low_most, high_most = np.inf, -np.inf, np.inf, -np.inf
    for start, end in ((i, j), (j, k), (k, i)):
        px, py, pd = points[start, 0], points[start, 1], points[start, 2]
        qx, qy, qd = points[end, 0], points[end, 1], points[end, 2]
        if pd >= near:
            u, v = px / pd, py / pd
            left_most, right_most = min(left_most, u), max(right_most, u)
            low_most, high_most = min(low_most, v), max(high_most, v)
        if (pd < near) != (qd < near):
            share = (near - pd) / (qd - pd)
            u = (px + share * (qx - px)) / near
            v = (py + share * (qy - py)) / near
            left_most, right_most = min(left_most, u), max(right_most, u)
            low_most, high_most = min(low_most, v), max(high_most, v)
    # One pixel more on each side than geometry says, for rounding; whether a pixel is inside is computed below.
    column_first = int(min(max(0.5 * width * (left_most / right + 1.0) - 1.5, 0.0), width))
    column_last = int(max(min(0.5 * width * (right_most / right + 1.0) + 0.5, width - 1.0), -1.0))
    row_first = int(min(max(0.5 * height * (1.0 - high_most / up) - 1.5, 0.0), height))
    row_last = int(max(min(0.5 * height * (1.0 - low_most / up) + 0.5, height - 1.0), -1.0))
    side = 1.0 if ahead > 0.0 else -1.0
    ax, ay, az = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0
    bx, by, bz = c1 * a2 - c2 * a1, c2 * a0 - c0 * a2, c0 * a1 - c1 * a0
    gx, gy, gz = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    for row in range(row_first, row_last + 1):
        v = up * (1.0 - (2.0 * row + 1.0) / height)
        for column in range(column_first, column_last + 1):
            u = right * ((2.0 * column + 1.0) / width - 1.0)
            if (
                side * (ax * u + ay * v + az) >= 0.0
                and side * (bx * u + by * v + bz) >= 0.0
                and side * (gx * u + gy * v + gz) >= 0.0
            ):
                slope = nx * u + ny * v + nz
                # A face that is seen from the side has all the depths of its corners.
                here = min(max(ahead / slope, nearest), farthest) if side * slope > 0.0 else nearest
                if near <= here <= far and here < depths[n, row, column]:
                    depths[n, row, column] = here
                    owners[n, row, column] = number
