"""The loops of a body in groups that share joints, as arrays for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels import loop_closing
from bodymotion.kernels.loop_constraints import Mechanism as Arrays
from bodymotion.model.closed_loops.constraints import held_directions, held_tilts, unit_axis

if TYPE_CHECKING:
    from bodymotion.model.body import Body, ExtraJoint

__all__ = ["Mechanism", "mechanisms", "rank"]

SPREADS = (0.1, 0.1, 0.3, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 2.0, 2.0, 2.0)
"""How far [rad] poses are moved about at random to find closed ones where nothing is singular."""
SINGULAR = 1e-6
"""Singular values below this part of the largest one count as 0 at such poses."""


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Extra joints that share moving joints.

    Attributes
    ----------
    loops:
        Their indices in `body.extra_joints`.
    columns:
        The v joint columns that move their links against each other: the mechanism's variables are these, each divided by its unit.
    arrays:
        What the kernels want; see `kernels.loop_constraints`.
    """

    loops: tuple[int, ...]
    columns: tuple[int, ...]
    arrays: Arrays

    @property
    def units(self) -> Floats:
        """What a variable of 1 stands for (v,): 1 rad, or as many metres as the mechanism is large."""
        return self.arrays[6]

    @property
    def num_equations(self) -> int:
        """How many equations the extra joints are."""
        return len(self.arrays[7])

    def closed_near(self, x: Floats, followers: npt.NDArray[np.int64] | None = None) -> tuple[Floats, float, bool]:
        """Return variables (v,) near x that close the loops as well as can be, the residual's length, and whether the search ended."""
        followers = np.arange(len(x)) if followers is None else followers
        found, _, marks = loop_closing.follow(self.arrays, followers, 0, 1.0, x, x[None])
        residual, _ = loop_closing.derivatives(self.arrays, found[0])
        return found[0], float(np.linalg.norm(residual)), not marks[0]

    def typical(self, x: Floats) -> list[Floats]:
        """Return derivatives (m, v) at closed poses near x and around it, most of which are singular by chance only."""
        chance = np.random.default_rng(0)
        found = [self.closed_near(x)]
        for spread in SPREADS:
            found.append(self.closed_near(found[0][0] + spread * chance.standard_normal(len(x))))
        ended = [one for one in found if one[2]] or found
        least = min(distance for _, distance, _ in ended)
        near = [pose for pose, distance, _ in ended if distance <= 1.01 * least + 1e-9]
        return [loop_closing.derivatives(self.arrays, pose)[1] for pose in near]


def rank(jacobian: Floats) -> int:
    """Return how many of the equations are independent of each other."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int((values > SINGULAR * max(float(values.max(initial=0.0)), 1e-3)).sum())


def mechanisms(body: Body) -> tuple[Mechanism, ...]:
    """Return the groups of extra joints that share moving joints, in order of their first one; not those that no joint can open or close."""
    kinds, columns = body.tree[1], body.tree[2]
    groups: list[tuple[set[int], list[int]]] = []
    for number, (first, second) in enumerate(_chains(body, joint) for joint in body.extra_joints):
        moving = {int(columns[i]) for i in first | second if kinds[i]}
        joined = [group for group in groups if group[0] & moving]
        groups = [group for group in groups if group not in joined]
        groups.append(
            (
                moving.union(*(group[0] for group in joined)),
                sorted([number, *(k for group in joined for k in group[1])]),
            )
        )
    groups.sort(key=lambda group: group[1][0])
    return tuple(_mechanism(body, tuple(loops), tuple(sorted(moving))) for moving, loops in groups if moving)


def _chains(body: Body, joint: ExtraJoint) -> tuple[set[int], set[int]]:
    """Return the links between the two ends' common base and the first end, and those between it and the second end."""
    above: list[set[int]] = []
    for index in joint.links:
        chain = set()
        while index >= 0:
            chain.add(index)
            index = body.links[index].parent
        above.append(chain)
    return above[0] - above[1], above[1] - above[0]


def _mechanism(body: Body, loops: tuple[int, ...], columns: tuple[int, ...]) -> Mechanism:
    joints = [body.extra_joints[k] for k in loops]
    chains = [_chains(body, joint) for joint in joints]
    links = sorted(set().union(*(first | second for first, second in chains)))
    place = {index: i for i, index in enumerate(links)}
    _, kinds, joint_columns, offsets, axes = body.tree
    ends, tips, directions, of_axes, sides = [], [], [], [], []
    for joint, (first, second) in zip(joints, chains, strict=True):
        side = [(index in second) - (index in first) for index in links]
        rows = [(d, joint.positions[1], 0) for d in held_directions(joint)]
        rows += [(d, unit_axis(joint), 1) for d in held_tilts(joint)]
        for direction, tip, of_axis in rows:
            ends.append([place.get(index, -1) for index in joint.links])
            tips.append([joint.positions[0], tip])
            directions.append(direction)
            of_axes.append(of_axis)
            sides.append(side)
    size = _size(body, joints, chains)
    units = [size if kinds[body.joint_links[column]] == 2 else 1.0 for column in columns]
    variables = [columns.index(joint_columns[i]) if kinds[i] else -1 for i in links]
    return Mechanism(
        loops,
        columns,
        (
            _integers([place.get(body.links[i].parent, -1) for i in links]),
            _integers(kinds[links]),
            _integers(variables),
            np.array(rotations.to_matrix(offsets[links, 3:])).reshape(-1, 3, 3),
            np.array(offsets[links, :3]),
            np.array(axes[links]),
            np.array(units),
            _integers(ends),
            np.array(tips),
            np.array(directions),
            _integers(of_axes),
            _integers(sides).reshape(-1, len(links)),
            np.array([size]),
        ),
    )


def _integers(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _size(body: Body, joints: Sequence[ExtraJoint], chains: Sequence[tuple[set[int], set[int]]]) -> float:
    """Return half the length [m] of the longest loop: of the offsets on its way and its two points."""
    lengths = [
        sum(float(np.linalg.norm(body.links[i].offset[:3])) for i in first | second)
        + float(np.linalg.norm(joint.positions, axis=1).sum())
        for joint, (first, second) in zip(joints, chains, strict=True)
    ]
    longest = 0.5 * max(lengths, default=0.0)
    return longest if 0 < longest < np.inf else 1.0
