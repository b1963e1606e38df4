"""Dynamics of trees of rigid links over whole trajectories: inverse dynamics, momentum, mass matrices.

Inverse dynamics is the recursive Newton–Euler algorithm (Luh, Walker and Paul, 1980). Velocities and accelerations go from the root
outwards, as in `kinematics`, with the root's acceleration less gravity: so the weight needs no extra term. The force and moment of each
link by itself about its origin, with c its centre of mass and I its inertia about it, in the world's axes:

    f = m·(a + α × c + ω × (ω × c))          n = I·α + ω × I·ω + c × f

Inwards, they are summed over all links that a link carries: F_i = f_i + Σ F_c, N_i = n_i + Σ (N_c + r_c × F_c). A joint's torque is the
part of N along its axis (its force that of F), plus the torque that accelerates its rotor.

A mass matrix M makes the kinetic energy ½·uᵀ·M·u of the velocities u = (v₀, ω₀, q̇). It consists of composite bodies (Walker and Orin,
1982). A joint's axis is a twist (ω, v) about a point that all links share, the root's origin; everything that the joint carries has a mass
m, a first moment h = m·c and an inertia K about that point. At unit velocity it has the momenta f = m·v + ω × h and n = h × v + K·ω; their
parts along the joints that carry it are its row of M.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import as_rows, in_slices, inlined, is_small, kernel
from bodymotion.kernels.kinematics import (
    Indices,
    Tree,
    apply,
    axis_in_world,
    cross,
    cross_products,
    matrices,
    rotation,
    small_accelerations,
)

Masses: TypeAlias = tuple[Floats, Floats, Floats]
"""Masses (L,) [kg], centres of mass (L, 3) [m] and inertias (L, 3, 3) [kg m²] about them, both in the links' frames."""

BLOCK = 16
"""Frames that are processed together."""

P, R, W, A, V, F, N, S = 0, 3, 12, 15, 18, 21, 24, 27
"""Offsets in the rows of a link: position, rotation, ω, α, a, F, N, axis."""
ROWS = 30


@np.errstate(all="ignore")
def inverse_dynamics(
    tree: Tree,
    masses: Masses,
    rotors: Floats,
    motion: tuple[Floats, Floats, Floats, Floats, Floats],
    gravity: Floats,
    with_wrenches: bool,
) -> tuple[Floats, Floats]:
    """Return torques (T, J), and F, N (T, L, 6) on each link from its parent, or the root's alone (T, 1, 6).

    `rotors` (J,): inertia that the rotors add to the joints; `motion`: poses (T, L, 7), joint velocities and accelerations (T, J),
    the root's v, ω and a, α (T, 6); `gravity` (3,) the acceleration of free fall.
    """
    parents, kinds, columns, _, axes = tree
    poses, dq, ddq, root, root_rate = (as_rows(values, values.shape) for values in motion)
    if is_small(_inverse, 2 * len(poses) * len(parents)):
        return _small_inverse(tree, masses, rotors, motion, gravity, with_wrenches)
    torques = np.zeros(dq.shape)
    wrenches = np.empty((len(poses), len(parents) if with_wrenches else 1, 6))

    def work(start: int, stop: int) -> None:
        s = slice(start, stop)
        own = (parents, kinds, columns, axes, *masses, rotors)
        _inverse(*own, poses[s], dq[s], ddq[s], root[s], root_rate[s], gravity, torques[s], wrenches[s])

    in_slices(len(poses), work)
    return torques, wrenches


def _small_inverse(
    tree: Tree,
    masses: Masses,
    rotors: Floats,
    motion: tuple[Floats, Floats, Floats, Floats, Floats],
    gravity: Floats,
    with_wrenches: bool,
) -> tuple[Floats, Floats]:
    """Return what `inverse_dynamics` returns, with NumPy."""
    parents, kinds, columns, _, axes = tree
    poses, dq, ddq, root, root_rate = motion
    mass, centers, inertias = masses
    lifted = root_rate - np.concatenate([gravity, np.zeros(3)])
    speeds, rates = small_accelerations(tree, poses, dq, ddq, root, lifted)
    turns = matrices(poses)
    spin, gain, acceleration = speeds[..., 3:].T, rates[..., 3:].T, rates[..., :3].T
    arms = apply(turns, centers.T[:, :, None])
    force = mass[:, None] * (
        acceleration + cross_products(gain, arms) + cross_products(spin, cross_products(spin, arms))
    )
    back = turns.swapaxes(0, 1)
    own = np.moveaxis(inertias, 0, 2)[..., None]
    local = apply(back, spin)
    moment = apply(own, apply(back, gain)) + cross_products(local, apply(own, local))
    moment = apply(turns, moment) + cross_products(arms, force)
    positions = poses[..., :3].T
    directions = apply(turns, axes.T[:, :, None])
    torques = np.zeros(dq.shape)
    for i in range(len(parents) - 1, 0, -1):
        arm = positions[:, i] - positions[:, parents[i]]
        force[:, parents[i]] += force[:, i]
        moment[:, parents[i]] += moment[:, i] + cross_products(arm, force[:, i])
        if kinds[i]:
            along = moment[:, i] if kinds[i] == 1 else force[:, i]
            torques[:, columns[i]] = rotors[columns[i]] * ddq[:, columns[i]] + np.sum(directions[:, i] * along, axis=0)
    wrenches = np.concatenate([force, moment]).transpose(2, 1, 0)
    return torques, np.ascontiguousarray(wrenches if with_wrenches else wrenches[:, :1])


@kernel
def _inverse(
    parents: Indices,
    kinds: Indices,
    columns: Indices,
    axes: Floats,
    masses: Floats,
    centers: Floats,
    inertias: Floats,
    rotors: Floats,
    poses: Floats,
    dq: Floats,
    ddq: Floats,
    root: Floats,
    root_rate: Floats,
    gravity: Floats,
    torques: Floats,
    wrenches: Floats,
) -> None:
    links = parents.shape[0]
    size = ROWS * BLOCK
    block = np.zeros(links * size)
    turn_speed = np.zeros(BLOCK)
    turn_gain = np.zeros(BLOCK)
    slide_speed = np.zeros(BLOCK)
    slide_gain = np.zeros(BLOCK)
    pose = np.zeros(7 * BLOCK)
    for start in range(0, poses.shape[0], BLOCK):
        count = min(BLOCK, poses.shape[0] - start)
        for i in range(links):
            row = block[i * size : (i + 1) * size]
            for b in range(count):
                for k in range(7):
                    pose[k * BLOCK + b] = poses[start + b, i, k]
            _place(pose, axes[i], row)
            if i == 0:
                for b in range(count):
                    for k in range(3):
                        row[(W + k) * BLOCK + b] = root[start + b, 3 + k]
                        row[(A + k) * BLOCK + b] = root_rate[start + b, 3 + k]
                        row[(V + k) * BLOCK + b] = root_rate[start + b, k] - gravity[k]
            else:
                turn_speed[:] = 0.0
                turn_gain[:] = 0.0
                slide_speed[:] = 0.0
                slide_gain[:] = 0.0
                column = columns[i]
                if kinds[i] == 1:
                    for b in range(count):
                        turn_speed[b] = dq[start + b, column]
                        turn_gain[b] = ddq[start + b, column]
                elif kinds[i] == 2:
                    for b in range(count):
                        slide_speed[b] = dq[start + b, column]
                        slide_gain[b] = ddq[start + b, column]
                parent = block[parents[i] * size : (parents[i] + 1) * size]
                _outwards(parent, turn_speed, turn_gain, slide_speed, slide_gain, row)
            _own_force(masses[i], centers[i], inertias[i], row)
        for i in range(links - 1, 0, -1):
            row = block[i * size : (i + 1) * size]
            _inwards(row, block[parents[i] * size : (parents[i] + 1) * size])
            column = columns[i]
            if kinds[i] != 0:
                along = N if kinds[i] == 1 else F
                for b in range(count):
                    torque = rotors[column] * ddq[start + b, column]
                    for k in range(3):
                        torque += row[(S + k) * BLOCK + b] * row[(along + k) * BLOCK + b]
                    torques[start + b, column] = torque
        for i in range(wrenches.shape[1]):
            row = block[i * size : (i + 1) * size]
            for b in range(count):
                for k in range(3):
                    wrenches[start + b, i, k] = row[(F + k) * BLOCK + b]
                    wrenches[start + b, i, 3 + k] = row[(N + k) * BLOCK + b]


@inlined
def _place(pose: Floats, axis: Floats, row: Floats) -> None:
    """Fill in the position, rotation and axis of a link."""
    a0, a1, a2 = axis[0], axis[1], axis[2]
    for b in range(BLOCK):
        w = pose[3 * BLOCK + b]
        x = pose[4 * BLOCK + b]
        y = pose[5 * BLOCK + b]
        z = pose[6 * BLOCK + b]
        n = w * w + x * x + y * y + z * z
        s = 2.0 / n if n > 0.0 else 0.0
        r00 = 1.0 - s * (y * y + z * z)
        r01 = s * (x * y - w * z)
        r02 = s * (x * z + w * y)
        r10 = s * (x * y + w * z)
        r11 = 1.0 - s * (x * x + z * z)
        r12 = s * (y * z - w * x)
        r20 = s * (x * z - w * y)
        r21 = s * (y * z + w * x)
        r22 = 1.0 - s * (x * x + y * y)
        row[P * BLOCK + b] = pose[b]
        row[(P + 1) * BLOCK + b] = pose[BLOCK + b]
        row[(P + 2) * BLOCK + b] = pose[2 * BLOCK + b]
        row[R * BLOCK + b] = r00
        row[(R + 1) * BLOCK + b] = r01
        row[(R + 2) * BLOCK + b] = r02
        row[(R + 3) * BLOCK + b] = r10
        row[(R + 4) * BLOCK + b] = r11
        row[(R + 5) * BLOCK + b] = r12
        row[(R + 6) * BLOCK + b] = r20
        row[(R + 7) * BLOCK + b] = r21
        row[(R + 8) * BLOCK + b] = r22
        row[S * BLOCK + b] = r00 * a0 + r01 * a1 + r02 * a2
        row[(S + 1) * BLOCK + b] = r10 * a0 + r11 * a1 + r12 * a2
        row[(S + 2) * BLOCK + b] = r20 * a0 + r21 * a1 + r22 * a2


@inlined
def _outwards(
    parent: Floats, turn_speed: Floats, turn_gain: Floats, slide_speed: Floats, slide_gain: Floats, row: Floats
) -> None:
    """Fill in ω, α and a of a link from its parent's."""
    for b in range(BLOCK):
        wx = parent[W * BLOCK + b]
        wy = parent[(W + 1) * BLOCK + b]
        wz = parent[(W + 2) * BLOCK + b]
        ax = parent[A * BLOCK + b]
        ay = parent[(A + 1) * BLOCK + b]
        az = parent[(A + 2) * BLOCK + b]
        rx = row[P * BLOCK + b] - parent[P * BLOCK + b]
        ry = row[(P + 1) * BLOCK + b] - parent[(P + 1) * BLOCK + b]
        rz = row[(P + 2) * BLOCK + b] - parent[(P + 2) * BLOCK + b]
        sx = row[S * BLOCK + b]
        sy = row[(S + 1) * BLOCK + b]
        sz = row[(S + 2) * BLOCK + b]
        px = wy * sz - wz * sy
        py = wz * sx - wx * sz
        pz = wx * sy - wy * sx
        ux = wy * rz - wz * ry
        uy = wz * rx - wx * rz
        uz = wx * ry - wy * rx
        turn, more = turn_speed[b], turn_gain[b]
        slide, push = 2.0 * slide_speed[b], slide_gain[b]
        row[W * BLOCK + b] = wx + sx * turn
        row[(W + 1) * BLOCK + b] = wy + sy * turn
        row[(W + 2) * BLOCK + b] = wz + sz * turn
        row[A * BLOCK + b] = ax + sx * more + px * turn
        row[(A + 1) * BLOCK + b] = ay + sy * more + py * turn
        row[(A + 2) * BLOCK + b] = az + sz * more + pz * turn
        row[V * BLOCK + b] = parent[V * BLOCK + b] + ay * rz - az * ry + wy * uz - wz * uy + sx * push + px * slide
        row[(V + 1) * BLOCK + b] = (
            parent[(V + 1) * BLOCK + b] + az * rx - ax * rz + wz * ux - wx * uz + sy * push + py * slide
        )
        row[(V + 2) * BLOCK + b] = (
            parent[(V + 2) * BLOCK + b] + ax * ry - ay * rx + wx * uy - wy * ux + sz * push + pz * slide
        )


@inlined
def _own_force(mass: float, center: Floats, inertia: Floats, row: Floats) -> None:
    """Fill in F and N of a link by itself; moments are computed in its own frame, where its inertia is constant."""
    c0, c1, c2 = center[0], center[1], center[2]
    i00, i11, i22 = inertia[0, 0], inertia[1, 1], inertia[2, 2]
    i01, i02, i12 = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    for b in range(BLOCK):
        r00 = row[R * BLOCK + b]
        r01 = row[(R + 1) * BLOCK + b]
        r02 = row[(R + 2) * BLOCK + b]
        r10 = row[(R + 3) * BLOCK + b]
        r11 = row[(R + 4) * BLOCK + b]
        r12 = row[(R + 5) * BLOCK + b]
        r20 = row[(R + 6) * BLOCK + b]
        r21 = row[(R + 7) * BLOCK + b]
        r22 = row[(R + 8) * BLOCK + b]
        wx = row[W * BLOCK + b]
        wy = row[(W + 1) * BLOCK + b]
        wz = row[(W + 2) * BLOCK + b]
        ax = row[A * BLOCK + b]
        ay = row[(A + 1) * BLOCK + b]
        az = row[(A + 2) * BLOCK + b]
        cx = r00 * c0 + r01 * c1 + r02 * c2
        cy = r10 * c0 + r11 * c1 + r12 * c2
        cz = r20 * c0 + r21 * c1 + r22 * c2
        ux = wy * cz - wz * cy
        uy = wz * cx - wx * cz
        uz = wx * cy - wy * cx
        fx = mass * (row[V * BLOCK + b] + ay * cz - az * cy + wy * uz - wz * uy)
        fy = mass * (row[(V + 1) * BLOCK + b] + az * cx - ax * cz + wz * ux - wx * uz)
        fz = mass * (row[(V + 2) * BLOCK + b] + ax * cy - ay * cx + wx * uy - wy * ux)
        w0 = r00 * wx + r10 * wy + r20 * wz
        w1 = r01 * wx + r11 * wy + r21 * wz
        w2 = r02 * wx + r12 * wy + r22 * wz
        a0 = r00 * ax + r10 * ay + r20 * az
        a1 = r01 * ax + r11 * ay + r21 * az
        a2 = r02 * ax + r12 * ay + r22 * az
        h0 = i00 * w0 + i01 * w1 + i02 * w2
        h1 = i01 * w0 + i11 * w1 + i12 * w2
        h2 = i02 * w0 + i12 * w1 + i22 * w2
        n0 = i00 * a0 + i01 * a1 + i02 * a2 + w1 * h2 - w2 * h1
        n1 = i01 * a0 + i11 * a1 + i12 * a2 + w2 * h0 - w0 * h2
        n2 = i02 * a0 + i12 * a1 + i22 * a2 + w0 * h1 - w1 * h0
        row[F * BLOCK + b] = fx
        row[(F + 1) * BLOCK + b] = fy
        row[(F + 2) * BLOCK + b] = fz
        row[N * BLOCK + b] = r00 * n0 + r01 * n1 + r02 * n2 + cy * fz - cz * fy
        row[(N + 1) * BLOCK + b] = r10 * n0 + r11 * n1 + r12 * n2 + cz * fx - cx * fz
        row[(N + 2) * BLOCK + b] = r20 * n0 + r21 * n1 + r22 * n2 + cx * fy - cy * fx


@inlined
def _inwards(row: Floats, parent: Floats) -> None:
    """Add F and N of a link to its parent's."""
    for b in range(BLOCK):
        rx = row[P * BLOCK + b] - parent[P * BLOCK + b]
        ry = row[(P + 1) * BLOCK + b] - parent[(P + 1) * BLOCK + b]
        rz = row[(P + 2) * BLOCK + b] - parent[(P + 2) * BLOCK + b]
        fx = row[F * BLOCK + b]
        fy = row[(F + 1) * BLOCK + b]
        fz = row[(F + 2) * BLOCK + b]
        parent[F * BLOCK + b] += fx
        parent[(F + 1) * BLOCK + b] += fy
        parent[(F + 2) * BLOCK + b] += fz
        parent[N * BLOCK + b] += row[N * BLOCK + b] + ry * fz - rz * fy
        parent[(N + 1) * BLOCK + b] += row[(N + 1) * BLOCK + b] + rz * fx - rx * fz
        parent[(N + 2) * BLOCK + b] += row[(N + 2) * BLOCK + b] + rx * fy - ry * fx


@np.errstate(all="ignore")
def momentum(masses: Masses, poses: Floats, velocities: Floats) -> Floats:
    """Return (T, 10) of poses (T, L, 7) and v, ω (T, L, 6): momentum, angular momentum about the centre of mass, that centre,
    kinetic energy.

    The centre of mass of a body without mass is at its root.
    """
    poses, velocities = as_rows(poses, poses.shape), as_rows(velocities, velocities.shape)
    if is_small(_momentum, len(poses) * poses.shape[1]):
        return _small_momentum(masses, poses, velocities)
    out = np.empty((len(poses), 10))
    in_slices(len(poses), lambda a, b: _momentum(*masses, poses[a:b], velocities[a:b], out[a:b]))
    return out


def _small_momentum(masses: Masses, poses: Floats, velocities: Floats) -> Floats:
    """Return what `momentum` returns, with NumPy."""
    mass, centers, inertias = masses
    total = mass.sum()
    turns, spin = matrices(poses), velocities[..., 3:].T
    arms = apply(turns, centers.T[:, :, None])
    relative = poses[..., :3].T + arms - poses[:, :1, :3].T
    speed = velocities[..., :3].T + cross_products(spin, arms)
    push = mass[:, None] * speed
    local = apply(turns.swapaxes(0, 1), spin)
    angular = apply(np.moveaxis(inertias, 0, 2)[..., None], local)
    linear = push.sum(axis=1)
    about_root = (cross_products(relative, push) + apply(turns, angular)).sum(axis=1)
    center = (mass[:, None] * relative).sum(axis=1) / total if total > 0 else np.zeros((3, len(poses)))
    energy = 0.5 * ((push * speed).sum(axis=(0, 1)) + (angular * local).sum(axis=(0, 1)))
    parts = [linear, about_root - cross_products(center, linear), poses[:, 0, :3].T + center, energy[None]]
    return np.ascontiguousarray(np.concatenate(parts).T)


@kernel
def _momentum(
    masses: Floats, centers: Floats, inertias: Floats, poses: Floats, velocities: Floats, out: Floats
) -> None:
    turn = np.empty((3, 3))
    arm = np.empty(3)
    place = np.empty(3)
    swept = np.empty(3)
    push = np.empty(3)
    moment = np.empty(3)
    local = np.empty(3)
    spin = np.empty(3)
    weighted = np.empty(3)
    total = 0.0
    for i in range(masses.shape[0]):
        total += masses[i]
    for t in range(poses.shape[0]):
        energy = 0.0
        for k in range(10):
            out[t, k] = 0.0
        for k in range(3):
            weighted[k] = 0.0
        # Moments are computed about the root first: about the world's origin they would lose digits far away from it.
        for i in range(poses.shape[1]):
            mass = masses[i]
            rotation(poses[t, i], turn)
            for k in range(3):
                arm[k] = turn[k, 0] * centers[i, 0] + turn[k, 1] * centers[i, 1] + turn[k, 2] * centers[i, 2]
                place[k] = poses[t, i, k] + arm[k] - poses[t, 0, k]
            rate = velocities[t, i, 3:6]
            cross(rate, arm, swept)
            for k in range(3):
                push[k] = mass * (velocities[t, i, k] + swept[k])
                energy += 0.5 * push[k] * (velocities[t, i, k] + swept[k])
                local[k] = turn[0, k] * rate[0] + turn[1, k] * rate[1] + turn[2, k] * rate[2]
            for k in range(3):
                spin[k] = 0.0
                for m in range(3):
                    spin[k] += inertias[i, k, m] * local[m]
                energy += 0.5 * spin[k] * local[k]
            cross(place, push, moment)
            for k in range(3):
                out[t, k] += push[k]
                out[t, 3 + k] += moment[k] + turn[k, 0] * spin[0] + turn[k, 1] * spin[1] + turn[k, 2] * spin[2]
                weighted[k] += mass * place[k]
        for k in range(3):
            weighted[k] = weighted[k] / total if total > 0.0 else 0.0
            out[t, 6 + k] = poses[t, 0, k] + weighted[k]
        cross(weighted, out[t, :3], moment)
        for k in range(3):
            out[t, 3 + k] -= moment[k]
        out[t, 9] = energy


def mass_matrix(tree: Tree, masses: Masses, rotors: Floats, poses: Floats) -> Floats:
    """Return (T, 6 + J, 6 + J) for poses (T, L, 7); `rotors` (J,) are added to the diagonal."""
    parents, kinds, columns, _, axes = tree
    table = as_rows(poses, poses.shape)
    size = 6 + len(rotors)
    out = np.zeros((len(poses), size, size))

    def work(a: int, b: int) -> None:
        _mass_matrix(parents, kinds, columns, axes, *masses, rotors, table[a:b], out[a:b])

    in_slices(len(poses), work, few=64)
    return out


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
    position = np.empty(3)
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
            axis_in_world(poses[t, i], axes[i], turn, axis)
            mass[i] = masses[i]
            square = 0.0
            for k in range(3):
                arm[k] = poses[t, i, k] - poses[t, 0, k]
                position[k] = arm[k]
                for m in range(3):
                    position[k] += turn[k, m] * centers[i, m]
                first[i, k] = masses[i] * position[k]
                square += position[k] * position[k]
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
                    value = masses[i] * ((square if k == m else 0.0) - position[k] * position[m])
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
