"""Postures of all frames: feet and centre of mass where they are planned, everything else as near to the old motion as possible."""

import numpy as np

from bodymotion.balancing.stance import FootPlan
from bodymotion.dynamics.kinematics import mass_arrays
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels import kinematics
from bodymotion.model.body import Body

MAX_STEPS = 20
TOLERANCE = 1e-7  # [m, rad] Steps are taken until none is larger.
FOOT_WEIGHT = 100.0
HEIGHT_WEIGHT = 1.0
ROOT_WEIGHT = 5.0
LEG_WEIGHT, OTHER_WEIGHT = 1e-3, 0.2
"""Of the difference to the old joint values: legs move freely, other joints only where legs are not enough."""
LIMIT_WEIGHT = 1e3  # Of a joint at its limit that would go beyond.
MAX_STEP = 0.3  # [rad or m] A joint moves no further in one step.
NOMINAL_SHARE = 0.3  # How far the search begins from the old joints towards their mean.
DAMPING, MAX_DAMPING = 0.3, 10.0  # Of the weighted squared error: where legs are stretched, steps stay short.
HALF_FOOT = (
    0.1  # [m] A foot that is rotated by too much is off its goal by what a point moves that is so far from its middle.
)
BLOCK = 512


def solve_postures(
    body: Body, plan: FootPlan, center: Floats, old: tuple[Floats, Floats], start: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Return joints (T, J), root poses (T, 7) and how far feet and centre of mass are from their goals at most (T,) [m].

    Gauss and Newton's method on the sum of weighted squares: of the feet's poses and the horizontal centre of mass, which count most, and
    of the height of the centre of mass (`center` (T, 3)), the root's orientation and the joints (`old`). Joints stay within
    their limits; those whose lower limit is above the upper one have none.
    """
    q, root = np.array(start[0]), np.array(start[1])
    legs = body.columns_above(*plan.links)
    # Stretched knees could bend either way: the search begins where they bend as they mostly do.
    q[:, legs] += NOMINAL_SHARE * (old[0].mean(axis=0) - q)[:, legs]
    missed = np.empty(len(q))
    for first in range(0, len(q), BLOCK):
        part = slice(first, first + BLOCK)
        arguments = (plan.targets[part], center[part], (old[0][part], old[1][part]))
        q[part], root[part], missed[part] = _solved(body, plan, *arguments, q[part], root[part])
    return q, root, missed


def _solved(
    body: Body, plan: FootPlan, targets: Floats, center: Floats, old: tuple[Floats, Floats], q: Floats, root: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the joints (T, J), root poses (T, 7) and misses (T,) [m] of one block of frames, from the start `q` and `root`."""
    joints = body.num_joints
    size = 6 + joints
    lower, upper = (np.array([getattr(joint, name) for joint in body.joints]) for name in ("lower", "upper"))
    lower, upper = np.where(lower <= upper, (lower, upper), [[-np.inf], [np.inf]])
    near = np.full(joints, OTHER_WEIGHT)
    near[body.columns_above(*plan.links)] = LEG_WEIGHT
    q, root, missed, active = np.array(q), np.array(root), np.empty(len(q)), np.arange(len(q))
    for remaining in reversed(range(MAX_STEPS + 1)):
        now, placed, goals = q[active], root[active], targets[active]
        links = body.forward_kinematics(now, placed)
        rows, errors = [], []
        mass_error = center[active] - body.center_of_mass(links)
        miss = np.linalg.norm(mass_error[:, :2], axis=1)
        for k, link in enumerate(plan.links):
            point = plan.points[k]
            jacobian = kinematics.jacobian(body.tree, links, joints, link, point)
            error = poses.transform_points(goals[:, k], point) - poses.transform_points(links[:, link], point)
            rows.append(FOOT_WEIGHT * jacobian[:, :3])
            errors.append(FOOT_WEIGHT * error)
            miss = np.maximum(miss, np.linalg.norm(error, axis=1))
            if plan.oriented[k]:
                error = rotations.difference(goals[:, k, 3:], links[:, link, 3:])
                rows.append(FOOT_WEIGHT * jacobian[:, 3:])
                errors.append(FOOT_WEIGHT * error)
                miss = np.maximum(miss, HALF_FOOT * np.linalg.norm(error, axis=1))
        missed[active] = miss
        if not remaining:
            break
        weight = np.array([FOOT_WEIGHT, FOOT_WEIGHT, HEIGHT_WEIGHT])
        rows.append(weight[:, None] * _center_jacobian(body, links))
        errors.append(weight * mass_error)
        stiff = np.zeros((len(now), 3, size))
        stiff[:, range(3), range(3, 6)] = ROOT_WEIGHT
        rows.append(stiff)
        errors.append(ROOT_WEIGHT * rotations.difference(old[1][active, 3:], placed[:, 3:]))
        matrix, error = np.concatenate(rows, axis=1), np.concatenate(errors, axis=1)
        square = matrix.transpose(0, 2, 1) @ matrix
        right = np.einsum("tij,ti->tj", matrix, error)
        right[:, 6:] += near**2 * (old[0][active] - now)
        diagonal = np.zeros((len(now), size))
        far = np.minimum(np.square(error).sum(axis=1, keepdims=True), MAX_DAMPING)
        diagonal[:, :6], diagonal[:, 6:] = 1e-9 + DAMPING * far, near**2 + DAMPING * far
        beyond = ((now <= lower) & (right[:, 6:] < 0)) | ((now >= upper) & (right[:, 6:] > 0))
        diagonal[:, 6:][beyond] += LIMIT_WEIGHT**2
        square[:, range(size), range(size)] += diagonal
        step = np.linalg.solve(square, right[..., None])[..., 0]
        largest = np.abs(step).max(axis=1)
        step *= np.minimum(1.0, MAX_STEP / np.maximum(largest, 1e-12))[:, None]
        q[active] = np.clip(now + step[:, 6:], lower, upper)
        root[active, :3] += step[:, :3]
        change = rotations.from_vector(step[:, 3:6])
        root[active, 3:] = rotations.normalized(rotations.multiply(change, placed[:, 3:]))
        active = active[largest >= TOLERANCE]
        if not len(active):
            break
    return q, root, missed


def _center_jacobian(body: Body, links: Floats) -> Floats:
    """Return the derivatives (T, 3, 6 + J) of the centre of mass by the root's pose and the joints, for poses (T, L, 7)."""
    (masses, centers, _), (parents, kinds, columns, _, axes) = mass_arrays(body), body.tree
    turns, origins = kinematics.matrices(links), links[..., :3].T - links[:, :1, :3].T
    share = masses / masses.sum()
    moment = share[:, None] * (origins + kinematics.apply(turns, centers.T[:, :, None]))
    for i in range(len(parents) - 1, 0, -1):
        share[parents[i]] += share[i]
        moment[:, parents[i]] += moment[:, i]
    axis, share = kinematics.apply(turns, axes.T[:, :, None]), share[:, None]
    moved = np.where(
        kinds[:, None] == 1, kinematics.cross_products(axis, moment - share * origins), np.asarray(axis * share)
    )
    out = np.zeros((len(links), 3, 6 + body.num_joints))
    out[:, range(3), range(3)] = 1.0
    out[:, (2, 0, 1), (4, 5, 3)] = -moment[:, 0].T
    out[:, (1, 2, 0), (5, 3, 4)] = moment[:, 0].T
    driven = np.flatnonzero(kinds[1:]) + 1
    out[:, :, 6 + columns[driven]] = moved[:, driven].transpose(2, 0, 1)
    return out
