"""How fast links move and how that changes: velocities and accelerations of all links from those of the root and the joints.

All vectors are along the world's axes. Of a link i with parent p, r from the parent's origin to its own, s its joint's axis:

    rotate   ω_i = ω_p + s·q̇                 v_i = v_p + ω_p × r
             α_i = α_p + s·q̈ + ω_p × s·q̇     a_i = a_p + α_p × r + ω_p × (ω_p × r)
    slide    ω_i = ω_p                       v_i = v_p + ω_p × r + s·q̇
             α_i = α_p                       a_i = a_p + α_p × r + ω_p × (ω_p × r) + s·q̈ + 2·ω_p × s·q̇

v and a are those of the origin of the link, a the second derivative of its place (and not the "spatial" acceleration a − ω × v).
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.forward_kinematics import Indices, Tree
from bodymotion.kernels.slices import as_rows, in_slices

__all__ = ["accelerations", "cross", "rotation", "velocities"]


def velocities(tree: Tree, poses: Floats, dq: Floats, root: Floats) -> Floats:
    """Return v and ω (T, L, 6) of poses (T, L, 7), joint velocities (T, J) and v, ω (T, 6) of the root."""
    return _moved(tree, poses, dq, np.zeros((len(dq), 0)), root, np.zeros((len(dq), 0)))[0]


def accelerations(
    tree: Tree, poses: Floats, dq: Floats, ddq: Floats, root: Floats, root_rate: Floats
) -> tuple[Floats, Floats]:
    """Return v, ω and a, α, both (T, L, 6), of poses (T, L, 7), joint velocities and accelerations (T, J), and the root's (T, 6)."""
    return _moved(tree, poses, dq, ddq, root, root_rate)


def _moved(
    tree: Tree, poses: Floats, dq: Floats, ddq: Floats, root: Floats, root_rate: Floats
) -> tuple[Floats, Floats]:
    parents, kinds, columns, _, axes = tree
    count = len(poses)
    second = root_rate.shape[1] == 6
    out = np.empty((*poses.shape[:2], 6))
    rates = np.empty((*poses.shape[:2], 6) if second else (count, 0, 6))
    poses, dq, ddq, root, root_rate = (as_rows(values, values.shape) for values in (poses, dq, ddq, root, root_rate))

    def work(start: int, stop: int) -> None:
        s = slice(start, stop)
        moving = (poses[s], dq[s], ddq[s], root[s], root_rate[s])
        _follow(parents, kinds, columns, axes, *moving, second, out[s], rates[s])

    in_slices(count, work)
    return out, rates


@inlined
def rotation(pose: Floats, out: Floats) -> None:
    """Fill `out` (3, 3) with the rotation of a pose (7,); a quaternion without length turns nothing."""
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    n = w * w + x * x + y * y + z * z
    s = 2.0 / n if n > 0.0 else 0.0
    out[0, 0] = 1.0 - s * (y * y + z * z)
    out[0, 1] = s * (x * y - w * z)
    out[0, 2] = s * (x * z + w * y)
    out[1, 0] = s * (x * y + w * z)
    out[1, 1] = 1.0 - s * (x * x + z * z)
    out[1, 2] = s * (y * z - w * x)
    out[2, 0] = s * (x * z - w * y)
    out[2, 1] = s * (y * z + w * x)
    out[2, 2] = 1.0 - s * (x * x + y * y)


@inlined
def cross(a: Floats, b: Floats, out: Floats) -> None:
    """Fill `out` (3,) with a × b; it may be neither of them."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def _follow(
    parents: Indices,
    kinds: Indices,
    columns: Indices,
    axes: Floats,
    poses: Floats,
    dq: Floats,
    ddq: Floats,
    root: Floats,
    root_rate: Floats,
    second: bool,
    out: Floats,
    rates: Floats,
) -> None:
    turn = np.empty((3, 3))
    axis = np.empty(3)
    arm = np.empty(3)
    swept = np.empty(3)
    whirl = np.empty(3)
    push = np.empty(3)
    lever = np.empty(3)
    for t in range(poses.shape[0]):
        for k in range(6):
            out[t, 0, k] = root[t, k]
            if second:
                rates[t, 0, k] = root_rate[t, k]
        for i in range(1, poses.shape[1]):
            p = parents[i]
            kind = kinds[i]
            speed = 0.0
            gain = 0.0
            for k in range(3):
                axis[k] = 0.0
                arm[k] = poses[t, i, k] - poses[t, p, k]
            if kind != 0:
                rotation(poses[t, i], turn)
                speed = dq[t, columns[i]]
                if second:
                    gain = ddq[t, columns[i]]
                for k in range(3):
                    axis[k] = turn[k, 0] * axes[i, 0] + turn[k, 1] * axes[i, 1] + turn[k, 2] * axes[i, 2]
            spin = out[t, p, 3:6]
            cross(spin, arm, swept)
            for k in range(3):
                out[t, i, k] = out[t, p, k] + swept[k] + (axis[k] * speed if kind == 2 else 0.0)
                out[t, i, 3 + k] = spin[k] + (axis[k] * speed if kind == 1 else 0.0)
            if second:
                cross(spin, swept, whirl)
                cross(spin, axis, push)
                cross(rates[t, p, 3:6], arm, lever)
                for k in range(3):
                    rates[t, i, k] = rates[t, p, k] + lever[k] + whirl[k]
                    rates[t, i, 3 + k] = rates[t, p, 3 + k]
                    if kind == 1:
                        rates[t, i, 3 + k] += axis[k] * gain + push[k] * speed
                    elif kind == 2:
                        rates[t, i, k] += axis[k] * gain + 2.0 * push[k] * speed
