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

from typing import TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import in_slices
from bodymotion.kernels.kinematics import Tree, apply, block_accelerations, cross_products, matrices

Masses: TypeAlias = tuple[Floats, Floats, Floats]
"""Masses (L,) [kg], centres of mass (L, 3) [m] and inertias (L, 3, 3) [kg m²] about them, both in the links' frames."""


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
    (parents, kinds, columns, _, axes), (mass, centers, inertias) = tree, masses
    poses, dq, ddq, root, root_rate = motion
    lifted = root_rate - np.concatenate([gravity, np.zeros(3)])
    torques = np.zeros(dq.shape)
    wrenches = np.empty((len(poses), len(tree[0]) if with_wrenches else 1, 6))

    def work(a: int, b: int) -> None:
        placed = poses[a:b]
        speeds, rates = block_accelerations(tree, placed, dq[a:b], ddq[a:b], root[a:b], lifted[a:b])
        turns = matrices(placed)
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
        positions = placed[..., :3].T
        directions = apply(turns, axes.T[:, :, None])
        for i in range(len(parents) - 1, 0, -1):
            arm = positions[:, i] - positions[:, parents[i]]
            force[:, parents[i]] += force[:, i]
            moment[:, parents[i]] += moment[:, i] + cross_products(arm, force[:, i])
            if kinds[i]:
                along = moment[:, i] if kinds[i] == 1 else force[:, i]
                own_torque = np.sum(directions[:, i] * along, axis=0)
                torques[a:b, columns[i]] = rotors[columns[i]] * ddq[a:b, columns[i]] + own_torque
        wrenches[a:b] = np.concatenate([force, moment]).transpose(2, 1, 0)[:, : wrenches.shape[1]]

    in_slices(len(poses), work)
    return torques, wrenches


def momentum(masses: Masses, poses: Floats, velocities: Floats) -> Floats:
    """Return (T, 10) of poses (T, L, 7) and v, ω (T, L, 6): momentum, angular momentum about the centre of mass, that centre,
    kinetic energy.

    The centre of mass of a body without mass is at its root.
    """
    mass, centers, inertias = masses
    total = mass.sum()
    out = np.empty((len(poses), 10))

    def work(start: int, stop: int) -> None:
        placed, moving = poses[start:stop], velocities[start:stop]
        turns, spin = matrices(placed), moving[..., 3:].T
        arms = apply(turns, centers.T[:, :, None])
        # Moments are computed about the root first: about the world's origin they would lose digits far away from it.
        relative = placed[..., :3].T + arms - placed[:, :1, :3].T
        speed = moving[..., :3].T + cross_products(spin, arms)
        push = mass[:, None] * speed
        local = apply(turns.swapaxes(0, 1), spin)
        angular = apply(np.moveaxis(inertias, 0, 2)[..., None], local)
        linear = push.sum(axis=1)
        about_root = (cross_products(relative, push) + apply(turns, angular)).sum(axis=1)
        center = (mass[:, None] * relative).sum(axis=1) / total if total > 0 else np.zeros((3, len(placed)))
        energy = 0.5 * ((push * speed).sum(axis=(0, 1)) + (angular * local).sum(axis=(0, 1)))
        parts = [linear, about_root - cross_products(center, linear), placed[:, 0, :3].T + center, energy[None]]
        out[start:stop] = np.concatenate(parts).T

    in_slices(len(poses), work)
    return out


def mass_matrix(tree: Tree, masses: Masses, rotors: Floats, poses: Floats) -> Floats:
    """Return (T, 6 + J, 6 + J) for poses (T, L, 7); `rotors` (J,) are added to the diagonal."""
    parents, kinds, columns, _, axes = tree
    out = np.zeros((len(poses), 6 + len(rotors), 6 + len(rotors)))

    def work(a: int, b: int) -> None:
        placed, found = poses[a:b], out[a:b]
        turns = matrices(placed)
        arms = placed[..., :3].T - placed[:, :1, :3].T
        positions = arms + apply(turns, masses[1].T[:, :, None])
        directions = apply(turns, axes.T[:, :, None])
        spins = np.where((kinds == 1)[:, None], directions, 0.0)
        slides = np.where((kinds == 2)[:, None], directions, cross_products(arms, spins))
        # Mass, first moment (3, L, T) and inertia (3, 3, L, T) about the root's origin: of each link, then of all that it carries.
        mass, first = np.array(masses[0]), masses[0][:, None] * positions
        second = np.einsum("ablt,lbc,dclt->adlt", turns, masses[2], turns) - positions[:, None] * first
        second[range(3), range(3)] += np.sum(positions * first, axis=0)
        for i in range(len(parents) - 1, 0, -1):
            mass[parents[i]] += mass[i]
            first[:, parents[i]] += first[:, i]
            second[:, :, parents[i]] += second[:, :, i]
        for k in range(3):
            after, last = (k + 1) % 3, (k + 2) % 3
            found[:, k, k] = mass[0]
            found[:, k, 3 + after] = found[:, 3 + after, k] = first[last, 0]
            found[:, k, 3 + last] = found[:, 3 + last, k] = -first[after, 0]
        found[:, 3:6, 3:6] = second[:, :, 0].transpose(2, 0, 1)
        for i in (np.flatnonzero(kinds[1:]) + 1).tolist():
            column = 6 + columns[i]
            push = cross_products(spins[:, i], first[:, i]) + mass[i] * slides[:, i]
            moment = cross_products(first[:, i], slides[:, i]) + apply(second[:, :, i], spins[:, i])
            found[:, :6, column] = found[:, column, :6] = np.concatenate([push, moment]).T
            j = i
            while j > 0:
                if kinds[j]:
                    value = np.sum(slides[:, j] * push + spins[:, j] * moment, axis=0)
                    found[:, column, 6 + columns[j]] = found[:, 6 + columns[j], column] = value
                j = parents[j]
            found[:, column, column] += rotors[columns[i]]

    in_slices(len(poses), work, few=64)
    return out
