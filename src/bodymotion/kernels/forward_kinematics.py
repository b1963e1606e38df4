"""Where the links are, for a whole trajectory in one call.

A link's pose is its parent's, then its offset, then the joint's own motion: a turn by q about the axis, or a slide by q along it.
Rotations are carried as quaternions w x y z. The work is divided by frames among threads; the compiled loops hold no lock, so they run
on all cores, and many callers may call at once. Within a thread, a block of frames goes through the tree side by side: the innermost loops
run over frames, which compilers turn into vector instructions.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.slices import as_rows, in_slices
from bodymotion.kernels.trigonometry import sines_and_cosines

__all__ = ["center_of_mass", "link_poses"]

Indices: TypeAlias = npt.NDArray[np.int64]
Tree: TypeAlias = tuple[Indices, Indices, Indices, Floats, Floats]

BLOCK = 32
"""So many frames go through the tree together, side by side in vector registers."""


def link_poses(tree: Tree, q: Floats, root: Floats) -> Floats:
    """Return poses (..., L, 7) in the world.

    `tree`: parents, kinds (0 none, 1 rotate, 2 slide), columns of q (L,), offsets (L, 7), axes (L, 3). `q` (..., J), `root` (..., 7); their
    batch axes broadcast.
    """
    batch = np.broadcast_shapes(q.shape[:-1], root.shape[:-1])
    links = len(tree[0])
    count = int(np.prod(batch, dtype=np.int64))
    q_rows = as_rows(np.broadcast_to(q, (*batch, q.shape[-1])), (count, q.shape[-1]))
    root_rows = as_rows(np.broadcast_to(root, (*batch, 7)), (count, 7))
    out = np.empty((count, links, 7))
    if links:
        in_slices(count, lambda start, stop: _poses(*tree, q_rows[start:stop], root_rows[start:stop], out[start:stop]))
    return out.reshape(*batch, links, 7)


def center_of_mass(poses: Floats, shares: Floats, centers: Floats) -> Floats:
    """Return Σ share · (pose · centre) (..., 3) of poses (..., L, 7), the links' shares (L,) of the mass and their centres (L, 3)."""
    count = int(np.prod(poses.shape[:-2], dtype=np.int64))
    table = as_rows(poses, (count, *poses.shape[-2:]))
    out = np.empty((count, 3))
    in_slices(count, lambda start, stop: _center(table[start:stop], shares, centers, out[start:stop]))
    return out.reshape(*poses.shape[:-2], 3)


@kernel
def _poses(
    parents: Indices,
    kinds: Indices,
    columns: Indices,
    offsets: Floats,
    axes: Floats,
    q: Floats,
    root: Floats,
    out: Floats,
) -> None:
    links = parents.shape[0]
    row = 7 * BLOCK
    block = np.empty(links * row)
    half = np.zeros(BLOCK)
    sine = np.empty(BLOCK)
    cosine = np.empty(BLOCK)
    slide = np.zeros(BLOCK)
    unit_offsets = np.empty((links, 7))
    for i in range(links):
        _unit(offsets[i], unit_offsets[i])
    pose = np.empty(7)
    for start in range(0, q.shape[0], BLOCK):
        count = min(BLOCK, q.shape[0] - start)
        for b in range(BLOCK):
            _unit(root[start + min(b, count - 1)], pose)
            for k in range(7):
                block[k * BLOCK + b] = pose[k]
        for i in range(1, links):
            column = columns[i]
            if kinds[i] == 1:
                for b in range(count):
                    half[b] = 0.5 * q[start + b, column]
                sines_and_cosines(half, sine, cosine)
            else:
                sine[:] = 0.0
                cosine[:] = 1.0
            if kinds[i] == 2:
                for b in range(count):
                    slide[b] = q[start + b, column]
            else:
                slide[:] = 0.0
            parent = block[parents[i] * row : (parents[i] + 1) * row]
            _step(parent, unit_offsets[i], axes[i], sine, cosine, slide, block[i * row : (i + 1) * row])
        for i in range(links):
            for b in range(count):
                for k in range(7):
                    out[start + b, i, k] = block[i * row + k * BLOCK + b]


@inlined
def _unit(pose: Floats, out: Floats) -> None:
    """Copy a pose with its quaternion scaled to unit length; one without a finite, positive length becomes the identity."""
    largest = 0.0
    finite = True
    for k in range(3):
        out[k] = pose[k]
    for k in range(3, 7):
        finite = finite and np.isfinite(pose[k])
        largest = max(largest, abs(pose[k]))
    if finite and largest > 0.0:
        square = 0.0
        for k in range(3, 7):
            out[k] = pose[k] / largest
            square += out[k] * out[k]
        length = np.sqrt(square)
        for k in range(3, 7):
            out[k] /= length
    else:
        out[3] = 1.0
        out[4] = 0.0
        out[5] = 0.0
        out[6] = 0.0


@inlined
def _step(
    parent: Floats, offset: Floats, axis: Floats, sine: Floats, cosine: Floats, slide: Floats, out: Floats
) -> None:
    """Go from a parent's poses to a child's, in a block of frames: offset, then a turn and a slide about the axis."""
    ow, ox, oy, oz = offset[3], offset[4], offset[5], offset[6]
    ax, ay, az = axis[0], axis[1], axis[2]
    tx = 2.0 * (oy * az - oz * ay)
    ty = 2.0 * (oz * ax - ox * az)
    tz = 2.0 * (ox * ay - oy * ax)
    sx = ax + ow * tx + oy * tz - oz * ty
    sy = ay + ow * ty + oz * tx - ox * tz
    sz = az + ow * tz + ox * ty - oy * tx
    fx, fy, fz = offset[0], offset[1], offset[2]
    for b in range(BLOCK):
        pw = parent[3 * BLOCK + b]
        px = parent[4 * BLOCK + b]
        py = parent[5 * BLOCK + b]
        pz = parent[6 * BLOCK + b]
        vx = fx + slide[b] * sx
        vy = fy + slide[b] * sy
        vz = fz + slide[b] * sz
        ux = 2.0 * (py * vz - pz * vy)
        uy = 2.0 * (pz * vx - px * vz)
        uz = 2.0 * (px * vy - py * vx)
        out[b] = parent[b] + vx + pw * ux + py * uz - pz * uy
        out[BLOCK + b] = parent[BLOCK + b] + vy + pw * uy + pz * ux - px * uz
        out[2 * BLOCK + b] = parent[2 * BLOCK + b] + vz + pw * uz + px * uy - py * ux
        w = pw * ow - px * ox - py * oy - pz * oz
        x = pw * ox + px * ow + py * oz - pz * oy
        y = pw * oy - px * oz + py * ow + pz * ox
        z = pw * oz + px * oy - py * ox + pz * ow
        c = cosine[b]
        jx = sine[b] * ax
        jy = sine[b] * ay
        jz = sine[b] * az
        out[3 * BLOCK + b] = w * c - x * jx - y * jy - z * jz
        out[4 * BLOCK + b] = w * jx + x * c + y * jz - z * jy
        out[5 * BLOCK + b] = w * jy - x * jz + y * c + z * jx
        out[6 * BLOCK + b] = w * jz + x * jy - y * jx + z * c


@kernel
def _center(poses: Floats, shares: Floats, centers: Floats, out: Floats) -> None:
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
