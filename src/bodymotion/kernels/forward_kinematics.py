"""Where the links are, for a whole trajectory in one call.

A link's pose is its parent's, then its offset, then the joint's own motion: a turn by q about the axis, or a slide by q along it.
Rotations are carried as quaternions w x y z. The work is divided by frames among threads; the compiled loops hold no lock, so they run
on all cores, and many callers may call at once.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

    from bodymotion.arrays import Floats

__all__ = ["center_of_mass", "link_poses"]

Tree = tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
]

FEW = 256
"""Up to so many frames one thread is faster than several."""


def link_poses(tree: Tree, q: Floats, root: Floats) -> Floats:
    """Give poses (..., L, 7) in the world.

    `tree`: parents, kinds (0 none, 1 rotate, 2 slide), columns of q (L,), offsets (L, 7), axes (L, 3). `q` (..., J), `root` (..., 7); their
    batch axes broadcast.
    """
    batch = np.broadcast_shapes(q.shape[:-1], root.shape[:-1])
    links = len(tree[0])
    q_rows = np.ascontiguousarray(np.broadcast_to(q, (*batch, q.shape[-1]))).reshape(-1, q.shape[-1])
    root_rows = np.ascontiguousarray(np.broadcast_to(root, (*batch, 7))).reshape(-1, 7)
    count = int(np.prod(batch, dtype=np.int64))
    out = np.empty((count, links, 7))
    if links:
        _in_slices(count, lambda start, stop: _poses(*tree, q_rows[start:stop], root_rows[start:stop], out[start:stop]))
    return out.reshape(*batch, links, 7)


def center_of_mass(poses: Floats, shares: Floats, centers: Floats) -> Floats:
    """Give Σ share · (pose · centre) (..., 3) of poses (..., L, 7), the links' shares (L,) of the mass and their centres (L, 3)."""
    rows = np.ascontiguousarray(poses).reshape(-1, *poses.shape[-2:])
    out = np.empty((len(rows), 3))
    _in_slices(len(rows), lambda start, stop: _center(rows[start:stop], shares, centers, out[start:stop]))
    return out.reshape(*poses.shape[:-2], 3)


def _in_slices(count: int, work: Callable[[int, int], None]) -> None:
    workers = os.cpu_count() or 1
    if count <= FEW or workers == 1:
        work(0, count)
        return
    edges = np.linspace(0, count, 4 * workers + 1).astype(int)
    list(_pool().map(work, edges[:-1], edges[1:]))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="bodymotion-kernel")


@njit(nogil=True, cache=True)
def _poses(parents, kinds, columns, offsets, axes, q, root, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    links = parents.shape[0]
    unit = np.empty((links, 7))
    for i in range(links):
        unit[i, :3] = offsets[i, :3]
        length = np.sqrt(np.sum(offsets[i, 3:] ** 2))
        if length > 0.0:
            unit[i, 3:] = offsets[i, 3:] / length
        else:
            unit[i, 3:] = 0.0
            unit[i, 3] = 1.0
    for t in range(q.shape[0]):
        length = np.sqrt(root[t, 3] ** 2 + root[t, 4] ** 2 + root[t, 5] ** 2 + root[t, 6] ** 2)
        out[t, 0, 0] = root[t, 0]
        out[t, 0, 1] = root[t, 1]
        out[t, 0, 2] = root[t, 2]
        if length > 0.0:
            for k in range(3, 7):
                out[t, 0, k] = root[t, k] / length
        else:
            out[t, 0, 3] = 1.0
            out[t, 0, 4] = 0.0
            out[t, 0, 5] = 0.0
            out[t, 0, 6] = 0.0
        for i in range(1, links):
            p = parents[i]
            pw = out[t, p, 3]
            px = out[t, p, 4]
            py = out[t, p, 5]
            pz = out[t, p, 6]
            bw = unit[i, 3]
            bx = unit[i, 4]
            by = unit[i, 5]
            bz = unit[i, 6]
            w = pw * bw - px * bx - py * by - pz * bz
            x = pw * bx + px * bw + py * bz - pz * by
            y = pw * by - px * bz + py * bw + pz * bx
            z = pw * bz + px * by - py * bx + pz * bw
            vx = unit[i, 0]
            vy = unit[i, 1]
            vz = unit[i, 2]
            ux = 2.0 * (py * vz - pz * vy)
            uy = 2.0 * (pz * vx - px * vz)
            uz = 2.0 * (px * vy - py * vx)
            tx = out[t, p, 0] + vx + pw * ux + py * uz - pz * uy
            ty = out[t, p, 1] + vy + pw * uy + pz * ux - px * uz
            tz = out[t, p, 2] + vz + pw * uz + px * uy - py * ux
            kind = kinds[i]
            if kind == 1:
                half = 0.5 * q[t, columns[i]]
                c = np.cos(half)
                s = np.sin(half)
                ax = s * axes[i, 0]
                ay = s * axes[i, 1]
                az = s * axes[i, 2]
                w, x, y, z = (
                    w * c - x * ax - y * ay - z * az,
                    w * ax + x * c + y * az - z * ay,
                    w * ay - x * az + y * c + z * ax,
                    w * az + x * ay - y * ax + z * c,
                )
            elif kind == 2:
                d = q[t, columns[i]]
                vx = d * axes[i, 0]
                vy = d * axes[i, 1]
                vz = d * axes[i, 2]
                ux = 2.0 * (y * vz - z * vy)
                uy = 2.0 * (z * vx - x * vz)
                uz = 2.0 * (x * vy - y * vx)
                tx += vx + w * ux + y * uz - z * uy
                ty += vy + w * uy + z * ux - x * uz
                tz += vz + w * uz + x * uy - y * ux
            out[t, i, 0] = tx
            out[t, i, 1] = ty
            out[t, i, 2] = tz
            out[t, i, 3] = w
            out[t, i, 4] = x
            out[t, i, 5] = y
            out[t, i, 6] = z


@njit(nogil=True, cache=True)
def _center(poses, shares, centers, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    for t in range(poses.shape[0]):
        sx = 0.0
        sy = 0.0
        sz = 0.0
        for i in range(poses.shape[1]):
            w = poses[t, i, 3]
            x = poses[t, i, 4]
            y = poses[t, i, 5]
            z = poses[t, i, 6]
            n = w * w + x * x + y * y + z * z
            scale = 2.0 / n if n > 0.0 else 0.0
            vx = centers[i, 0]
            vy = centers[i, 1]
            vz = centers[i, 2]
            ux = y * vz - z * vy
            uy = z * vx - x * vz
            uz = x * vy - y * vx
            sx += shares[i] * (poses[t, i, 0] + vx + scale * (w * ux + y * uz - z * uy))
            sy += shares[i] * (poses[t, i, 1] + vy + scale * (w * uy + z * ux - x * uz))
            sz += shares[i] * (poses[t, i, 2] + vz + scale * (w * uz + x * uy - y * ux))
        out[t, 0] = sx
        out[t, 1] = sy
        out[t, 2] = sz
