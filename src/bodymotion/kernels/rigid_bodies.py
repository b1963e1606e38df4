"""Dynamics of trees of rigid links over whole trajectories: inverse dynamics, momentum, mass matrices.

Inverse dynamics is the recursive Newton–Euler algorithm (Luh, Walker and Paul, 1980), with all velocities, accelerations and moments about
one point, the root's origin, so that whatever is not a sum along the tree is computed for all links at once. Velocities and accelerations
go from the root outwards, as in `kinematics`, with the root's acceleration less gravity: so the weight needs no extra term. The force and
moment of each link by itself, with c its centre of mass and I its inertia about it, in the world's axes:

    f = m·(a + α × c + ω × (v + ω × c))          n = I·α + ω × I·ω + c × f

Inwards, they are summed over all that a link carries. A joint's torque is its twist times that sum, plus what accelerates its rotor.

A mass matrix M makes the kinetic energy ½·uᵀ·M·u of the velocities u = (v₀, ω₀, q̇). It consists of composite bodies (Walker and Orin,
1982). A joint's axis is a twist (ω, v) about a point that all links share, the root's origin; everything that the joint carries has a mass
m, a first moment h = m·c and an inertia K about that point. At unit velocity it has the momenta f = m·v + ω × h and n = h × v + K·ω; their
parts along the joints that carry it are its row of M.
"""

from typing import TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import in_slices
from bodymotion.kernels.kinematics import Tree, apply, cross_products, matrices, spatial_motion, twists

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
    (parents, kinds, columns, _, _), (mass, centers, inertias) = tree, masses
    poses, dq, ddq, root, root_rate = motion
    lifted = root_rate - np.concatenate([gravity, np.zeros(3)])
    torques = np.zeros(dq.shape)
    wrenches = np.empty((len(poses), len(tree[0]) if with_wrenches else 1, 6))

    def work(a: int, b: int) -> None:
        turns, arms, own = twists(tree, poses[a:b])
        moving = (dq[a:b], ddq[a:b], root[a:b].T, lifted[a:b].T)
        (speed, spin), (rate, gain) = spatial_motion(tree, own, *moving)
        places = arms + apply(turns, centers.T[:, :, None])
        swept = speed + cross_products(spin, places)
        force = mass[:, None] * (rate + cross_products(gain, places) + cross_products(spin, swept))
        back, inertia = turns.swapaxes(0, 1), np.moveaxis(inertias, 0, 2)[..., None]
        local = apply(back, spin)
        moment = apply(inertia, apply(back, gain)) + cross_products(local, apply(inertia, local))
        total = np.stack([force, apply(turns, moment) + cross_products(places, force)])
        for i in range(len(parents) - 1, 0, -1):
            total[:, :, parents[i]] += total[:, :, i]
        movable = np.flatnonzero(kinds)
        along = (own[:, :, movable] * total[:, :, movable]).sum(axis=(0, 1)).T
        torques[a:b, columns[movable]] = along + rotors[columns[movable]] * ddq[a:b, columns[movable]]
        force, moment = total[:, :, : wrenches.shape[1]]
        wrenches[a:b] = np.concatenate([force, moment - cross_products(arms[:, : force.shape[1]], force)]).T

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
    parents, kinds, columns, _, _ = tree
    out = np.zeros((len(poses), 6 + len(rotors), 6 + len(rotors)))

    def work(a: int, b: int) -> None:
        placed, found = poses[a:b], out[a:b]
        turns, arms, (slides, spins) = twists(tree, placed)
        positions = arms + apply(turns, masses[1].T[:, :, None])
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
