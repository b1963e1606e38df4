"""The equations of extra joints, the mechanisms that they form (groups of loops with common joints), and the errors of open loops."""

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

if TYPE_CHECKING:
    from bodymotion.model.body import Body, ExtraJoint


def unit_axis(joint: ExtraJoint) -> Floats:
    """Return the axis (3,) as a unit vector; x, the default of the document, where its length is 0."""
    length = float(np.linalg.norm(joint.axis))
    return np.array(joint.axis / length) if length > 0 and np.isfinite(length) else np.array([1.0, 0.0, 0.0])


def constrained_directions(joint: ExtraJoint) -> Floats:
    """Return the unit vectors (1 to 3, 3), in the first link's frame, along which the two points stay together."""
    if joint.type in ("xyz", "ball", "hinge"):
        return np.eye(3)
    return _normals(unit_axis(joint)) if joint.type in ("xy", "piston") else unit_axis(joint)[None]


def constrained_tilts(joint: ExtraJoint) -> Floats:
    """Return the unit vectors (0 or 2, 3), in the first link's frame, to which the second link's axis stays normal."""
    return _normals(unit_axis(joint)) if joint.type == "hinge" else np.zeros((0, 3))


def _normals(axis: Floats) -> Floats:
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


SPREADS = (0.1, 0.1, 0.3, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 2.0, 2.0, 2.0)
"""[rad] Sizes of the random changes of a pose in the search for closed poses that are not singular."""
MIN_SINGULAR_VALUE = 1e-6
"""Singular values below this part of the largest one count as 0."""


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Extra joints that share moving joints.

    Attributes
    ----------
    loops:
        Their indices in `body.extra_joints`.
    columns:
        The v joint columns that move their links relative to each other. The variables of the mechanism are their values divided
        by `units`.
    arrays:
        The mechanism as arrays for the kernels; see `kernels.loop_constraints`.
    """

    loops: tuple[int, ...]
    columns: tuple[int, ...]
    arrays: Arrays

    @property
    def units(self) -> Floats:
        """(v,) The unit of each variable: 1 rad, or the size of the mechanism in metres."""
        return self.arrays[6]

    @property
    def num_equations(self) -> int:
        """The number of equations of the extra joints."""
        return len(self.arrays[7])

    def closed_near(self, x: Floats, followers: npt.NDArray[np.int64] | None = None) -> tuple[Floats, float, bool]:
        """Return variables (v,) near x that close the loops as well as possible, the residual, and whether the search converged."""
        followers = np.arange(len(x)) if followers is None else followers
        found, _, marks = loop_closing.follow(self.arrays, followers, 0, 1.0, x, x[None])
        residual, _ = loop_closing.derivatives(self.arrays, found[0])
        return found[0], float(np.linalg.norm(residual)), not marks[0]

    def typical(self, x: Floats) -> list[Floats]:
        """Return the Jacobians (m, v) at closed poses around x, few of which are singular."""
        generator = np.random.default_rng(0)
        found = [self.closed_near(x)]
        for spread in SPREADS:
            found.append(self.closed_near(found[0][0] + spread * generator.standard_normal(len(x))))
        converged = [one for one in found if one[2]] or found
        smallest = min(residual for _, residual, _ in converged)
        best = [pose for pose, residual, _ in converged if residual <= 1.01 * smallest + 1e-9]
        return [loop_closing.derivatives(self.arrays, pose)[1] for pose in best]


def rank(jacobian: Floats) -> int:
    """Return the rank of a Jacobian (m, v): the number of independent equations."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int((values > MIN_SINGULAR_VALUE * max(float(values.max(initial=0.0)), 1e-3)).sum())


def mechanisms(body: Body) -> tuple[Mechanism, ...]:
    """Return the groups of extra joints with common moving joints, in order of their first one. Loops without moving joints are
    left out.
    """
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
    """Return the links from the common ancestor of the two ends (exclusive) to the first end, and those to the second end."""
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
    position = {index: i for i, index in enumerate(links)}
    _, kinds, joint_columns, offsets, axes = body.tree
    ends, tips, directions, of_axes, sides = [], [], [], [], []
    for joint, (first, second) in zip(joints, chains, strict=True):
        side = [(index in second) - (index in first) for index in links]
        rows = [(d, joint.positions[1], 0) for d in constrained_directions(joint)]
        rows += [(d, unit_axis(joint), 1) for d in constrained_tilts(joint)]
        for direction, tip, of_axis in rows:
            ends.append([position.get(index, -1) for index in joint.links])
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
            _integers([position.get(body.links[i].parent, -1) for i in links]),
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
    """Return half the length [m] of the longest loop: the sum of its link offsets and of the distances of its two points."""
    lengths = [
        sum(float(np.linalg.norm(body.links[i].offset[:3])) for i in first | second)
        + float(np.linalg.norm(joint.positions, axis=1).sum())
        for joint, (first, second) in zip(joints, chains, strict=True)
    ]
    longest = 0.5 * max(lengths, default=0.0)
    return longest if 0 < longest < np.inf else 1.0


def loop_errors(body: Body, link_poses: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the errors of the E extra joints of a body.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world.

    Returns
    -------
    The distances (..., E) [m] between the two points, in the directions that the extra joint constrains; and the angles (..., E) [rad]
    between the two axes of hinges, 0 for other types.

    Raises
    ------
    ValueError
        When there are not L poses of 7 numbers.
    """
    link_poses = np.asarray(link_poses, dtype=np.float64)
    if link_poses.ndim < 2 or link_poses.shape[-2:] != (len(body.links), 7):
        raise ValueError(f"link poses have shape (..., {len(body.links)}, 7), these have {link_poses.shape}")
    distances = np.zeros((*link_poses.shape[:-2], len(body.extra_joints)))
    tilts = np.zeros(distances.shape)
    for k, joint in enumerate(body.extra_joints):
        first, second = (link_poses[..., index, :] for index in joint.links)
        orientations = [rotations.normalized(pose[..., 3:]) for pose in (first, second)]
        ends = [
            pose[..., :3] + rotations.rotate(orientation, point)
            for pose, orientation, point in zip((first, second), orientations, joint.positions, strict=True)
        ]
        between = rotations.rotate(rotations.conjugate(orientations[0]), ends[1] - ends[0])
        distances[..., k] = np.linalg.norm(between @ constrained_directions(joint).T, axis=-1)
        if joint.type == "hinge":
            one, other = (rotations.rotate(orientation, unit_axis(joint)) for orientation in orientations)
            tilts[..., k] = np.arctan2(
                np.linalg.norm(np.cross(one, other), axis=-1), np.einsum("...i,...i->...", one, other)
            )
    return distances, tilts
