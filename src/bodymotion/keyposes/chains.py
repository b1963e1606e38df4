"""Chains of joints between two links, and their inverse kinematics."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

MAX_STEPS = 50
# [m, rad] A goal is reached so exactly.
TOLERANCE = 1e-10
# Of the square of the error: far from the goal, or where it cannot be reached, steps
# stay short.
DAMPING = 1e-6
# [rad or m] A joint moves no further in one step.
MAX_STEP = 0.5


@dataclass(frozen=True)
class Chain:
    """The joints between two links.

    Attributes
    ----------
    start, end:
        Link indices.
    joints, columns:
        The links whose joints are between both, from start to end, and their joint
        columns.
    signs:
        1 for joints that move the end away from the root; −1 for those on the path up
        from the start.
    """

    start: int
    end: int
    joints: tuple[int, ...]
    columns: tuple[int, ...]
    signs: tuple[int, ...]


class _Step(NamedTuple):
    """A joint of a chain, by its link, its column, and its sign as in `Chain`."""

    joint: int
    column: int
    sign: int


class _Branch(NamedTuple):
    """A link that is reached from a neighbour, and the chain from its start."""

    link: int
    previous: int
    start: int
    steps: tuple[_Step, ...]


def find_chains(
    body: Body,
    base: int,
    ends: Collection[int],
) -> list[Chain]:
    """Return the chains from a base link outwards, each to the next of some links.

    They are in the order in which they hang on each other.
    """
    neighbours = _find_neighbours(body)
    columns = {link: column for column, link in enumerate(body.joint_links) if link > 0}
    chains = []
    branches = [_Branch(base, -1, base, ())]
    while branches:
        index, previous, start, steps = branches.pop()
        if index in ends and index != start:
            chains.append(_chain_of(start, index, steps))
            start = index
            steps = ()
        for neighbour in neighbours[index]:
            if neighbour == previous:
                continue
            is_child = body.links[neighbour].parent == index
            joint = neighbour if is_child else index
            longer = steps
            if joint in columns:
                sign = 1 if is_child else -1
                longer = (*steps, _Step(joint, columns[joint], sign))
            branches.append(_Branch(neighbour, index, start, longer))
    return chains


def _find_neighbours(body: Body) -> list[list[int]]:
    """Return for each link its children and its parent."""
    neighbours: list[list[int]] = [[] for _ in body.links]
    for link in body.links:
        if link.parent >= 0:
            neighbours[link.parent].append(link.index)
            neighbours[link.index].append(link.parent)
    return neighbours


def _chain_of(
    start: int,
    end: int,
    steps: tuple[_Step, ...],
) -> Chain:
    """Return the chain of some steps."""
    return Chain(
        start,
        end,
        joints=tuple(step.joint for step in steps),
        columns=tuple(step.column for step in steps),
        signs=tuple(step.sign for step in steps),
    )


class ChainSolution(NamedTuple):
    """Joints (T, K) of a chain, and by how much (T, 2) [m, rad] they miss a goal."""

    joints: Floats
    errors: Floats


def solve_chain(
    body: Body,
    chain: Chain,
    q: Floats,
    target: Floats,
) -> ChainSolution:
    """Return the joints of a chain that put its end at poses (T, 7).

    These are as seen from its start. The search begins at `q` (T, J).
    """
    # Newton's method: with the Jacobian A of the end as seen from the start and the
    # error e, Δq = Aᵀ·(A·Aᵀ + λ·I)⁻¹·e, with λ in proportion to e².
    columns = list(chain.columns)
    values = np.array(q)
    rows = np.arange(len(q))
    for _ in range(MAX_STEPS):
        error, jacobian = compute_error(body, chain, values[rows], target[rows])
        is_far = np.abs(error).max(axis=1) > TOLERANCE
        rows = rows[is_far]
        error = error[is_far]
        jacobian = jacobian[is_far]
        if not len(rows):
            break
        transposed = jacobian.transpose(0, 2, 1)
        square = jacobian @ transposed
        damping = DAMPING * np.minimum(np.square(error).sum(axis=1), 1.0)
        square[:, range(6), range(6)] += damping[:, None]
        step = transposed @ np.linalg.solve(square, error[:, :, None])
        step = step[:, :, 0]
        largest = np.abs(step).max(axis=1)
        step *= np.minimum(1.0, MAX_STEP / np.maximum(largest, 1e-12))[:, None]
        values[rows[:, None], columns] += step
    error, _ = compute_error(body, chain, values, target)
    distance = np.linalg.norm(error[:, :3], axis=1)
    angle = np.linalg.norm(error[:, 3:], axis=1)
    return ChainSolution(values[:, columns], np.stack([distance, angle], axis=1))


class ChainError(NamedTuple):
    """What is missing (T, 6) to a goal in the root's frame, and the Jacobian (T, 6, K).

    Three components of the position [m], three of the rotation [rad].
    """

    error: Floats
    jacobian: Floats


def compute_error(
    body: Body,
    chain: Chain,
    q: Floats,
    target: Floats,
) -> ChainError:
    """Return how far the end of a chain is from poses (T, 7) as seen from its start."""
    links = body.forward_kinematics(q, poses.IDENTITY)
    goal = poses.compose(links[:, chain.start], target)
    end = links[:, chain.end]
    angular = rotations.difference(goal[:, 3:], end[:, 3:])
    error = np.concatenate((goal[:, :3] - end[:, :3], angular), axis=1)
    jacobian = np.zeros((len(links), 6, len(chain.joints)))
    for number, (index, sign) in enumerate(zip(chain.joints, chain.signs, strict=True)):
        pose = links[:, index]
        joint = body.links[index].joint
        axis = sign * rotations.rotate(pose[:, 3:], joint.axis)
        if joint.type == "slide":
            jacobian[:, :3, number] = axis
        else:
            jacobian[:, :3, number] = np.cross(axis, end[:, :3] - pose[:, :3])
            jacobian[:, 3:, number] = axis
    return ChainError(error, jacobian)
