"""Chains of joints between two links, and inverse kinematics of all frames of a chain at once."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

MAX_STEPS = 50
TOLERANCE = 1e-10  # [m, rad] A goal is reached so exactly.
DAMPING = 1e-6  # Of the square of the error: far from the goal, or where it cannot be reached, steps stay short.
MAX_STEP = 0.5  # [rad or m] A joint moves no further in one step.


@dataclass(frozen=True)
class Chain:
    """The joints between two links.

    Attributes
    ----------
    start, end:
        Link indices.
    joints, columns:
        The links whose joints are on the way, from start to end, and their joint columns.
    signs:
        1 for joints that move the end away from the root; −1 for those on the way up from the start.
    """

    start: int
    end: int
    joints: tuple[int, ...]
    columns: tuple[int, ...]
    signs: tuple[int, ...]


def chains_from(body: Body, base: int, ends: Collection[int]) -> list[Chain]:
    """Return the chains from a base link outwards, each to the next of some links, in the order in which they hang on each other."""
    neighbours: dict[int, list[int]] = {link.index: [] for link in body.links}
    for link in body.links:
        if link.parent >= 0:
            neighbours[link.parent].append(link.index)
            neighbours[link.index].append(link.parent)
    moving = {index: column for column, index in enumerate(body.joint_links) if index > 0}
    chains = []
    start_here: tuple[tuple[int, int], ...] = ()
    todo = [(base, -1, base, start_here)]
    while todo:
        at, before, start, steps = todo.pop()
        if at in ends and at != start:
            joints, signs = tuple(joint for joint, _ in steps), tuple(sign for _, sign in steps)
            chains.append(Chain(start, at, joints, tuple(moving[joint] for joint in joints), signs))
            start, steps = at, start_here
        for other in neighbours[at]:
            if other != before:
                down = body.links[other].parent == at
                joint = other if down else at
                step = ((joint, 1 if down else -1),) if joint in moving else ()
                todo.append((other, at, start, (*steps, *step)))
    return chains


def solve_chain(body: Body, chain: Chain, q: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return the joints (T, K) of a chain that put its end at poses (T, 7) seen from its start, and by how much they miss (T, 2) [m, rad].

    Newton's method from `q` (T, J): with the Jacobian A of the end as seen from the start and the error e, Δq = Aᵀ·(A·Aᵀ + λ·I)⁻¹·e, with
    λ in proportion to e².
    """
    columns = list(chain.columns)
    values = np.array(q)
    todo = np.arange(len(q))
    for _ in range(MAX_STEPS):
        error, jacobian = errors_of(body, chain, values[todo], target[todo])
        going = np.abs(error).max(axis=1) > TOLERANCE
        todo, error, jacobian = todo[going], error[going], jacobian[going]
        if not len(todo):
            break
        square = jacobian @ jacobian.transpose(0, 2, 1)
        damping = DAMPING * np.minimum(np.square(error).sum(axis=1), 1.0)
        square[:, range(6), range(6)] += damping[:, None]
        step = (jacobian.transpose(0, 2, 1) @ np.linalg.solve(square, error[:, :, None]))[:, :, 0]
        step *= np.minimum(1.0, MAX_STEP / np.maximum(np.abs(step).max(axis=1), 1e-12))[:, None]
        values[todo[:, None], columns] += step
    error, _ = errors_of(body, chain, values, target)
    return values[:, columns], np.stack([np.linalg.norm(part, axis=1) for part in (error[:, :3], error[:, 3:])], axis=1)


def errors_of(body: Body, chain: Chain, q: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return what is missing (T, 6) to the goal in the root's frame, and the Jacobian (T, 6, K)."""
    links = body.forward_kinematics(q, poses.IDENTITY)
    goal, end = poses.compose(links[:, chain.start], target), links[:, chain.end]
    error = np.concatenate((goal[:, :3] - end[:, :3], rotations.difference(goal[:, 3:], end[:, 3:])), axis=1)
    jacobian = np.empty((len(links), 6, len(chain.joints)))
    for k, (index, sign) in enumerate(zip(chain.joints, chain.signs, strict=True)):
        pose, joint = links[:, index], body.links[index].joint
        axis = sign * rotations.rotate(pose[:, 3:], joint.axis)
        if joint.type == "slide":
            jacobian[:, :3, k], jacobian[:, 3:, k] = axis, 0.0
        else:
            jacobian[:, :3, k], jacobian[:, 3:, k] = np.cross(axis, end[:, :3] - pose[:, :3]), axis
    return error, jacobian
