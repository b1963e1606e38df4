"""How velocities of links follow from those of the root and the joints (Jacobians), and what inertia these feel (mass matrices).

The speeds that a body has are u = (v₀, ω₀, q̇) (6 + J): of the root's origin, the root's angular velocity, both along the world's axes, and
the joints'. A Jacobian G takes them to v and ω (6) of a point on a link; the mass matrix M makes the kinetic energy ½·uᵀ·M·u.

Mass matrices are made of composite bodies (Walker and Orin, 1982). A joint's axis is a twist (ω, v) about a point that all links share, the
root's origin; all that the joint carries has a mass m, a first moment h = m·c and an inertia K about that point. At speed 1 it has the
momenta f = m·v + ω × h and n = h × v + K·ω; their parts along the joints that carry it are its row of M.
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.forward_kinematics import Indices, Tree
from bodymotion.kernels.link_motion import cross, rotation
from bodymotion.kernels.newton_euler import Masses
from bodymotion.kernels.slices import as_rows, in_slices

__all__ = ["jacobian", "mass_matrix"]

FEW = 64


def jacobian(tree: Tree, poses: Floats, joints: int, link: int, point: Floats) -> Floats:
    """Return (T, 6, 6 + J) of a `point` (3,) or (T, 3) in the frame of a link, for poses (T, L, 7)."""
    parents, kinds, columns, _, axes = tree
    table = as_rows(poses, poses.shape)
    points = as_rows(np.broadcast_to(point, (len(poses), 3)), (len(poses), 3))
    out = np.zeros((len(poses), 6, 6 + joints))

    def work(a: int, b: int) -> None:
        _jacobian(parents, kinds, columns, axes, table[a:b], link, points[a:b], out[a:b])

    in_slices(len(poses), work)
    return out


def mass_matrix(tree: Tree, masses: Masses, rotors: Floats, poses: Floats) -> Floats:
    """Return (T, 6 + J, 6 + J) for poses (T, L, 7); `rotors` (J,) stand on the diagonal."""
    parents, kinds, columns, _, axes = tree
    table = as_rows(poses, poses.shape)
    size = 6 + len(rotors)
    out = np.zeros((len(poses), size, size))

    def work(a: int, b: int) -> None:
        _mass_matrix(parents, kinds, columns, axes, *masses, rotors, table[a:b], out[a:b])

    in_slices(len(poses), work, few=FEW)
    return out


@inlined
def _axis(pose: Floats, own: Floats, turn: Floats, out: Floats) -> None:
    rotation(pose, turn)
    for k in range(3):
        out[k] = turn[k, 0] * own[0] + turn[k, 1] * own[1] + turn[k, 2] * own[2]


@kernel
def _jacobian(
    parents: Indices,
    kinds: Indices,
    columns: Indices,
    axes: Floats,
    poses: Floats,
    link: int,
    points: Floats,
    out: Floats,
) -> None:
    turn = np.empty((3, 3))
    place = np.empty(3)
    axis = np.empty(3)
    arm = np.empty(3)
    swept = np.empty(3)
    for t in range(poses.shape[0]):
        rotation(poses[t, link], turn)
        for k in range(3):
            place[k] = poses[t, link, k]
            for m in range(3):
                place[k] += turn[k, m] * points[t, m]
        for k in range(3):
            out[t, k, k] = 1.0
            out[t, 3 + k, 3 + k] = 1.0
            after, last = (k + 1) % 3, (k + 2) % 3
            # ω × r: −r_z·ω_y + … , row by row.
            out[t, k, 3 + after] = place[last] - poses[t, 0, last]
            out[t, k, 3 + last] = poses[t, 0, after] - place[after]
        i = link
        while i > 0:
            if kinds[i] != 0:
                _axis(poses[t, i], axes[i], turn, axis)
                column = 6 + columns[i]
                if kinds[i] == 1:
                    for k in range(3):
                        arm[k] = place[k] - poses[t, i, k]
                    cross(axis, arm, swept)
                    for k in range(3):
                        out[t, k, column] = swept[k]
                        out[t, 3 + k, column] = axis[k]
                else:
                    for k in range(3):
                        out[t, k, column] = axis[k]
            i = parents[i]


@kernel
def _mass_matrix(
    parents: Indices,
    kinds: Indices,
    columns: Indices,
    axes: Floats,
    masses: Floats,
    centers: Floats,
    inertias: Floats,
    rotors: Floats,
    poses: Floats,
    out: Floats,
) -> None:
    links = parents.shape[0]
    turn = np.empty((3, 3))
    axis = np.empty(3)
    arm = np.empty(3)
    place = np.empty(3)
    mass = np.empty(links)
    first = np.empty((links, 3))
    second = np.empty((links, 3, 3))
    turned = np.empty((3, 3))
    spins = np.empty((links, 3))
    slides = np.empty((links, 3))
    push = np.empty(3)
    moment = np.empty(3)
    for t in range(poses.shape[0]):
        for i in range(links):
            _axis(poses[t, i], axes[i], turn, axis)
            mass[i] = masses[i]
            square = 0.0
            for k in range(3):
                arm[k] = poses[t, i, k] - poses[t, 0, k]
                place[k] = arm[k]
                for m in range(3):
                    place[k] += turn[k, m] * centers[i, m]
                first[i, k] = masses[i] * place[k]
                square += place[k] * place[k]
                spins[i, k] = axis[k] if kinds[i] == 1 else 0.0
                slides[i, k] = axis[k] if kinds[i] == 2 else 0.0
            if kinds[i] == 1:
                cross(arm, axis, slides[i])
            for k in range(3):
                for m in range(3):
                    turned[k, m] = 0.0
                    for n in range(3):
                        turned[k, m] += turn[k, n] * inertias[i, n, m]
            for k in range(3):
                for m in range(3):
                    value = masses[i] * ((square if k == m else 0.0) - place[k] * place[m])
                    for n in range(3):
                        value += turned[k, n] * turn[m, n]
                    second[i, k, m] = value
        for i in range(links - 1, 0, -1):
            p = parents[i]
            mass[p] += mass[i]
            for k in range(3):
                first[p, k] += first[i, k]
                for m in range(3):
                    second[p, k, m] += second[i, k, m]
        for k in range(3):
            after, last = (k + 1) % 3, (k + 2) % 3
            out[t, k, k] = mass[0]
            out[t, k, 3 + after] = first[0, last]
            out[t, k, 3 + last] = -first[0, after]
            out[t, 3 + after, k] = first[0, last]
            out[t, 3 + last, k] = -first[0, after]
            for m in range(3):
                out[t, 3 + k, 3 + m] = second[0, k, m]
        for i in range(1, links):
            if kinds[i] == 0:
                continue
            column = 6 + columns[i]
            cross(spins[i], first[i], push)
            cross(first[i], slides[i], moment)
            for k in range(3):
                push[k] += mass[i] * slides[i, k]
                for m in range(3):
                    moment[k] += second[i, k, m] * spins[i, m]
            for k in range(3):
                out[t, k, column] = out[t, column, k] = push[k]
                out[t, 3 + k, column] = out[t, column, 3 + k] = moment[k]
            j = i
            while j > 0:
                if kinds[j] != 0:
                    value = 0.0
                    for k in range(3):
                        value += slides[j, k] * push[k] + spins[j, k] * moment[k]
                    other = 6 + columns[j]
                    out[t, column, other] = out[t, other, column] = value
                j = parents[j]
            out[t, column, column] += rotors[columns[i]]
