"""Closed loops: compute the joints that follow from the driving joints and the extra joints of a body.

The links of a body are a tree. An `ExtraJoint` connects two links in addition, so that
some joints follow from others. Let P₁, P₂ be its two points in the world, R₁, R₂ the
rotations of its two links, a its axis, and u ⊥ v two unit vectors normal to a. Its
equations are:

    type            equations                           frame                                             count
    xyz, ball       R₁ᵀ·(P₂ − P₁) = 0                   all three directions                              3
    xy, piston      u·R₁ᵀ·(P₂ − P₁) = 0, v·… = 0        normal to the axis, which goes with the first link 2
    z               a·R₁ᵀ·(P₂ − P₁) = 0                 along the axis, which goes with the first link    1
    hinge           the three of xyz, and               the same numbers a are the axis in the first       5
                    u·R₁ᵀ·R₂·a = 0, v·… = 0             link's frame and in the second link's

xyz, xy and z are defined by the OpenHRP document. The other three are Choreonoid's, as
in its simulator: "ball" is xyz, "piston" is xy (the point slides along the axis and the
links may rotate against each other), "hinge" keeps the two axes on one line.

A mechanism is a group of loops with common joints. One with v moving joints and
equations of rank r has v − r driving joints; the others follow. By default joints drive
in this order of preference: joints that the caller names; joints with a motor (a gear
ratio, torque constant or rotor inertia other than the default); joints with an id;
joints nearer to the root; joints with a lower column. A joint that the chosen ones
determine follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, ContentEquality, Floats, Indices, frozen
from bodymotion.kernels import loop_closing
from bodymotion.kernels.loop_closing import Mechanism as Arrays

if TYPE_CHECKING:
    from bodymotion.model.body import Body, ExtraJoint

SPREADS = (0.1, 0.1, 0.3, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 2.0, 2.0, 2.0)
"""[rad] Sizes of the random changes of a pose in the search for closed poses that are not singular."""
MIN_SINGULAR_VALUE = (
    1e-6  # Singular values below this part of the largest one count as 0.
)

MAX_RESIDUAL = 1e-9  # [m, rad] A loop with a smaller error is closed.
MIN_MARGIN = 1e-4
"""A pose with a smaller `ClosedLoopSolution.margin` is singular.

It is about as many radians away from a singular pose.
"""
MAX_ATTEMPTS = (
    60  # The number of random start poses for a first frame that cannot be closed.
)


def unit_axis(joint: ExtraJoint) -> Floats:
    """Return the axis (3,) as a unit vector.

    X, the default of the document, where its length is 0.
    """
    length = float(np.linalg.norm(joint.axis))
    if length > 0 and np.isfinite(length):
        return np.array(joint.axis / length)
    return np.array([1.0, 0.0, 0.0])


def constrained_directions(joint: ExtraJoint) -> Floats:
    """Return the unit vectors (1 to 3, 3), in the first link's frame, along which the two points stay together."""
    if joint.type in ("xyz", "ball", "hinge"):
        return np.eye(3)
    if joint.type in ("xy", "piston"):
        return _normals(unit_axis(joint))
    return unit_axis(joint)[None]


def constrained_tilts(joint: ExtraJoint) -> Floats:
    """Return the unit vectors (0 or 2, 3), in the first link's frame, to which the second link's axis stays normal."""
    if joint.type == "hinge":
        return _normals(unit_axis(joint))
    return np.zeros((0, 3))


def _normals(axis: Floats) -> Floats:
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Extra joints that share moving joints.

    Attributes
    ----------
    loops:
        Their indices in `body.extra_joints`.
    columns:
        The v joint columns that move their links relative to each other. The variables
        of the mechanism are their values divided by `units`.
    arrays:
        The mechanism as arrays for the kernels; see `kernels.loop_closing`.
    """

    loops: tuple[int, ...]
    columns: tuple[int, ...]
    arrays: Arrays

    @property
    def units(self) -> Floats:
        """(v,) The unit of each variable.

        1 rad, or the size of the mechanism in metres.
        """
        return self.arrays[6]

    def closed_near(
        self, x: Floats, followers: Indices | None = None
    ) -> tuple[Floats, float, bool]:
        """Return variables (v,) near x that close the loops as well as possible, the residual, and whether the search converged."""
        if followers is None:
            followers = np.arange(len(x))
        found, _, marks = loop_closing.follow(
            self.arrays, followers, 0, 1.0, x, x[None]
        )
        residual, _ = loop_closing.derivatives(self.arrays, found[0])
        return found[0], float(np.linalg.norm(residual)), not marks[0]

    def typical(self, x: Floats) -> list[Floats]:
        """Return the Jacobians (m, v) at closed poses around x, few of which are singular."""
        generator = np.random.default_rng(0)
        found = [self.closed_near(x)]
        for spread in SPREADS:
            found.append(
                self.closed_near(
                    found[0][0] + spread * generator.standard_normal(len(x))
                )
            )
        converged = [one for one in found if one[2]] or found
        smallest = min(residual for _, residual, _ in converged)
        best = [
            pose
            for pose, residual, _ in converged
            if residual <= 1.01 * smallest + 1e-9
        ]
        return [loop_closing.derivatives(self.arrays, pose)[1] for pose in best]


def rank(jacobian: Floats) -> int:
    """Return the rank of a Jacobian (m, v): the number of independent equations."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int(
        (values > MIN_SINGULAR_VALUE * max(float(values.max(initial=0.0)), 1e-3)).sum()
    )


def mechanisms(body: Body) -> tuple[Mechanism, ...]:
    """Return the groups of extra joints with common moving joints, in order of their first one.

    Loops without any are left out.
    """
    kinds = body.tree[1]
    columns = body.tree[2]
    groups: list[tuple[set[int], list[int]]] = []
    for number, (first, second) in enumerate(
        _chains(body, joint) for joint in body.extra_joints
    ):
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
    return tuple(
        _mechanism(body, tuple(loops), tuple(sorted(moving)))
        for moving, loops in groups
        if moving
    )


def _chains(body: Body, joint: ExtraJoint) -> tuple[set[int], set[int]]:
    """Return the links from the common ancestor of the two ends (exclusive) to the first end, and those to the second end."""
    first, second = ({*body.path_to_root(index)} for index in joint.links)
    return first - second, second - first


def _mechanism(
    body: Body, loops: tuple[int, ...], columns: tuple[int, ...]
) -> Mechanism:
    joints = [body.extra_joints[k] for k in loops]
    chains = [_chains(body, joint) for joint in joints]
    links = sorted(set().union(*(first | second for first, second in chains)))
    position = {index: i for i, index in enumerate(links)}
    _, kinds, joint_columns, offsets, axes = body.tree
    equations = []
    for joint, (first, second) in zip(joints, chains, strict=True):
        ends_of = [position.get(index, -1) for index in joint.links]
        side = [(index in second) - (index in first) for index in links]
        start, end = joint.positions
        equations += [
            (ends_of, (start, end), d, 0, side) for d in constrained_directions(joint)
        ]
        equations += [
            (ends_of, (start, unit_axis(joint)), d, 1, side)
            for d in constrained_tilts(joint)
        ]
    ends, tips, directions, of_axes, sides = zip(*equations, strict=True)
    size = _size(body, joints, chains)
    units = [
        size if kinds[body.joint_links[column]] == 2 else 1.0 for column in columns
    ]
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


def _integers(values: npt.ArrayLike) -> Indices:
    return np.array(values, dtype=np.int64)


def _size(
    body: Body,
    joints: Sequence[ExtraJoint],
    chains: Sequence[tuple[set[int], set[int]]],
) -> float:
    """Return half the length [m] of the longest loop.

    The sum of its link offsets and of the distances of its two points.
    """
    around = [
        [body.links[i].offset[:3] for i in first | second] for first, second in chains
    ]
    lengths = [
        float(np.linalg.norm([*offsets, *joint.positions], axis=1).sum())
        for joint, offsets in zip(joints, around, strict=True)
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
    The distances (..., E) [m] between the two points, in the directions that the extra
    joint constrains; and the angles (..., E) [rad] between the two axes of hinges, 0
    for other types.

    Raises
    ------
    ValueError
        When there are not L poses of 7 numbers.
    """
    link_poses = np.asarray(link_poses, dtype=np.float64)
    if link_poses.ndim < 2 or link_poses.shape[-2:] != (len(body.links), 7):
        raise ValueError(
            f"link poses have shape (..., {len(body.links)}, 7), these have "
            f"{link_poses.shape}"
        )
    distances = np.zeros((*link_poses.shape[:-2], len(body.extra_joints)))
    tilts = np.zeros(distances.shape)
    for k, joint in enumerate(body.extra_joints):
        first, second = (link_poses[..., index, :] for index in joint.links)
        start, end = map(poses.transform_points, (first, second), joint.positions)
        orientations = [rotations.normalized(pose[..., 3:]) for pose in (first, second)]
        between = rotations.rotate(rotations.conjugate(orientations[0]), end - start)
        distances[..., k] = np.linalg.norm(
            between @ constrained_directions(joint).T, axis=-1
        )
        if joint.type == "hinge":
            one, other = (
                rotations.rotate(orientation, unit_axis(joint))
                for orientation in orientations
            )
            sine = np.linalg.norm(np.cross(one, other), axis=-1)
            tilts[..., k] = np.arctan2(sine, np.einsum("...i,...i->...", one, other))
    return distances, tilts


def _driving_columns(
    body: Body, mechanism: Mechanism, samples: list[Floats], first: tuple[int, ...]
) -> list[int]:
    """Return the columns that drive, in ascending order.

    As many as the mechanism has degrees of freedom.

    `samples`: Jacobians (m, v) at typical poses. `first`: preferred columns.
    """

    def preference(column: int) -> tuple[int | bool, ...]:
        joint = body.joints[column]
        depth = len(body.path_to_root(body.joint_links[column]))
        if column in first:
            wanted = first.index(column)
        else:
            wanted = len(first)
        motor = (
            joint.gear_ratio != 1 or joint.torque_const != 1 or joint.rotor_inertia != 0
        )
        return wanted, not motor, joint.id < 0, depth, column

    jacobian = max(samples, key=rank)
    follow: list[int] = []
    max_following = rank(jacobian)
    for column in sorted(mechanism.columns, key=preference, reverse=True):
        tried = [*follow, mechanism.columns.index(column)]
        if len(follow) < max_following and rank(jacobian[:, tried]) == len(tried):
            follow = tried
    return [column for k, column in enumerate(mechanism.columns) if k not in follow]


def columns_of(body: Body, joints: str | int | Iterable[str | int]) -> tuple[int, ...]:
    """Return the columns of joints (or of one) named by their name, their link's name or their column.

    Raises
    ------
    ValueError
        When there is no such joint; the message lists the names.
    """
    names: dict[str, int] = {}
    for column, index in enumerate(body.joint_links):
        if index >= 0:
            names.setdefault(body.links[index].name, column)
    for column, one in enumerate(body.joints):
        if one.name:
            names.setdefault(one.name, column)
    found = []
    for joint in (joints,) if isinstance(joints, (str, int)) else joints:
        if isinstance(joint, str):
            if joint not in names:
                raise ValueError(f"no joint {joint!r}; {choices(joint, names)}")
            found.append(names[joint])
        else:
            column = int(joint)
            if not 0 <= column < body.num_joints:
                raise ValueError(
                    f"no joint column {column}; the body has {body.num_joints}"
                )
            found.append(column)
    return tuple(found)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClosedLoopSolution(ContentEquality):
    """Joint values that close the loops of a body as well as possible.

    Attributes
    ----------
    q:
        (..., J) The joint values [rad or m]: computed for the joints that follow,
        unchanged for all others.
    driving, following:
        The columns of the joints in loops that drive, and of those that follow.
    residual:
        (...) [m] The largest error of a loop in the directions that its extra joint
        constrains. Where loops cannot be closed, the sum of the squared errors is
        least.
    tilt:
        (...) [rad] The largest angle between the two axes of a hinge.
    residuals, tilts:
        (..., E) the same for each extra joint.
    singular:
        (...) Whether the driving joints do not determine those that follow, at this
        frame or between it and the one before. Branches meet there; the motion
        continues smoothly.
    margin:
        (...) The smallest singular value of the Jacobian of the joints that follow, at
        this frame or since the one before, relative to its median: 0 at a singular
        pose, and about the distance from it in radians. Directions that are free
        everywhere, because the driving joints and the equations do not determine all
        joints, do not count; in them joints move as little as possible.
    outside:
        (...) Whether a joint that follows is beyond its limits. Limits are reported,
        not enforced.
    """

    q: Floats
    driving: tuple[int, ...]
    following: tuple[int, ...]
    residual: Floats
    tilt: Floats
    residuals: Floats
    tilts: Floats
    singular: Bools
    margin: Floats
    outside: Bools

    @property
    def closed(self) -> Bools:
        """Whether all loops are closed (...): to 1e-9 m, and hinges to 1e-9 rad."""
        return np.asarray((self.residual <= MAX_RESIDUAL) & (self.tilt <= MAX_RESIDUAL))


class Loops:
    """The closed loops of a body, analysed once, to be closed many times.

    Attributes
    ----------
    mechanisms:
        The groups of extra joints that share moving joints.
    columns:
        The columns of all joints in loops.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        self.mechanisms = mechanisms(body)
        self.columns = tuple(
            sorted(column for one in self.mechanisms for column in one.columns)
        )
        self._samples: dict[tuple[int, ...], list[Floats]] = {}

    def driving(
        self,
        first: str | int | Iterable[str | int] = (),
        q: npt.ArrayLike | None = None,
    ) -> tuple[int, ...]:
        """Return the columns that drive by default.

        As many in each mechanism as it has degrees of freedom.

        `first`: joints (names or columns) that are preferred. `q` (J,): a pose near
        which the mechanisms are analysed.
        """
        wanted = columns_of(self.body, first)
        if q is None:
            at = np.zeros(self.body.num_joints)
        else:
            at = np.nan_to_num(np.asarray(q, dtype=np.float64))
        return tuple(
            sorted(
                column
                for one in self.mechanisms
                for column in _driving_columns(
                    self.body, one, self._typical(one, at), wanted
                )
            )
        )

    def close(
        self,
        q: npt.ArrayLike,
        *,
        driving: str | int | Iterable[str | int] | None = None,
        start: npt.ArrayLike | None = None,
    ) -> ClosedLoopSolution:
        """Close the loops; see `close_loops`."""
        values = np.asarray(q, dtype=np.float64)
        count = self.body.num_joints
        if values.ndim not in (1, 2) or values.shape[-1] != count:
            raise ValueError(
                f"q has shape (T, J) or (J,) with J = {count}, this has {values.shape}"
            )
        if start is None:
            begin = None
        else:
            begin = np.asarray(start, dtype=np.float64)
        if begin is not None and begin.shape != (count,):
            raise ValueError(f"start has shape ({count},), this has {begin.shape}")
        rows = np.atleast_2d(values)
        if begin is not None:
            near = begin
        elif len(rows):
            near = rows[0]
        else:
            near = np.zeros(count)
        if driving is None:
            drivers = self.driving(q=near)
        else:
            drivers = columns_of(self.body, driving)
        found = np.array(rows)
        margin = np.ones(len(rows))
        singular = np.zeros(len(rows), dtype=bool)
        for one in self.mechanisms:
            if len(rows):
                followers = _integers(
                    [k for k, column in enumerate(one.columns) if column not in drivers]
                )
                followed, smallest, crossed = self._follow(
                    one, followers, rows[:, list(one.columns)], begin
                )
                found[:, np.array(one.columns)[followers]] = followed[:, followers]
                margin = np.minimum(margin, smallest)
                singular |= crossed
        driven = tuple(column for column in self.columns if column in drivers)
        following = tuple(column for column in self.columns if column not in drivers)
        distances, tilts = loop_errors(
            self.body, self.body.forward_kinematics(found, poses.IDENTITY)
        )
        lower = np.array([joint.lower for joint in self.body.joints])
        upper = np.array([joint.upper for joint in self.body.joints])
        beyond = ((found < lower - 1e-6) | (found > upper + 1e-6))[
            :, list(following)
        ].any(axis=-1)
        shape = values.shape[:-1]
        return ClosedLoopSolution(
            q=frozen(found.reshape(values.shape)),
            driving=driven,
            following=following,
            residual=frozen(distances.max(axis=-1, initial=0.0).reshape(shape)),
            tilt=frozen(tilts.max(axis=-1, initial=0.0).reshape(shape)),
            residuals=frozen(distances.reshape(*shape, distances.shape[-1])),
            tilts=frozen(tilts.reshape(*shape, tilts.shape[-1])),
            singular=_read_only(singular.reshape(shape)),
            margin=frozen(margin.reshape(shape)),
            outside=_read_only(beyond.reshape(shape)),
        )

    def _typical(self, mechanism: Mechanism, q: Floats) -> list[Floats]:
        if mechanism.loops not in self._samples:
            self._samples[mechanism.loops] = mechanism.typical(
                q[list(mechanism.columns)] / mechanism.units
            )
        return self._samples[mechanism.loops]

    def _follow(
        self, mechanism: Mechanism, followers: Indices, q: Floats, start: Floats | None
    ) -> tuple[Floats, Floats, Bools]:
        """Return the values (T, v) of a mechanism's joints, the smallest singular values (T,) and where it is singular (T,)."""
        units = mechanism.units
        targets = q / units
        if start is None:
            near = targets[0]
        else:
            near = start[list(mechanism.columns)] / units
        near = np.nan_to_num(near, posinf=0.0, neginf=0.0)
        pose = np.zeros(self.body.num_joints)
        pose[list(mechanism.columns)] = near * units
        samples = self._typical(mechanism, pose)
        parts = [jacobian[:, followers] for jacobian in samples]
        most = max(map(rank, parts))
        values = [
            np.linalg.svd(part, compute_uv=False)[most - 1]
            for part in parts
            if most and rank(part) == most
        ]
        if values:
            median = float(np.median(values))
        else:
            median = 1.0
        if start is None and len(followers):
            near = self._first(mechanism, followers, near)
        found, smallest, marks = loop_closing.follow(
            mechanism.arrays, followers, most, median, near, targets
        )
        return found * units, smallest, (smallest < MIN_MARGIN) | (marks != 0)

    def _first(self, mechanism: Mechanism, followers: Indices, x: Floats) -> Floats:
        """Return a closed pose (v,) with the driving joints as in x.

        Near x, else any that closes, if possible within limits; else x.
        """
        joints = [self.body.joints[mechanism.columns[k]] for k in followers]
        units = mechanism.units[followers]
        lower = np.array([joint.lower for joint in joints]) / units
        upper = np.array([joint.upper for joint in joints]) / units
        turning = np.array([joint.type == "rotate" for joint in joints])
        middle = np.minimum(np.maximum(x[followers], lower), upper)

        def rated(start: Floats) -> tuple[bool, float, float, Floats]:
            """Return the sort key (whether it is open, distance beyond limits, distance from x), and the pose."""
            found, _, _ = mechanism.closed_near(start, followers)
            values = found[followers]
            values = values - np.where(
                turning, 2 * np.pi * np.round((values - middle) / (2 * np.pi)), 0.0
            )
            found[followers] = values
            open_by = float(
                np.abs(loop_closing.derivatives(mechanism.arrays, found)[0]).max(
                    initial=0.0
                )
            )
            beyond = float(
                np.maximum(np.maximum(lower - values, values - upper), 0.0).sum()
            )
            return (
                open_by > 1e-9,
                beyond if beyond > 1e-6 else 0.0,
                float(np.linalg.norm(values - x[followers])),
                found,
            )

        best = rated(x)
        if not best[0] and not best[1]:
            return best[3]
        generator = np.random.default_rng(0)
        low = np.where(np.isfinite(lower), lower, -np.pi)
        high = np.where(np.isfinite(upper), upper, np.pi)
        for _ in range(MAX_ATTEMPTS):
            start = np.array(x)
            start[followers] = low + (high - low) * generator.random(len(followers))
            other = rated(start)
            if other[:3] < best[:3] and (best[0] or best[1] > other[1]):
                best = other
        if best[0]:
            return x
        return best[3]


def _read_only(flags: npt.ArrayLike) -> Bools:
    values = np.array(flags, dtype=bool)
    values.flags.writeable = False
    return values


def close_loops(
    body: Body,
    q: npt.ArrayLike,
    *,
    driving: str | int | Iterable[str | int] | None = None,
    start: npt.ArrayLike | None = None,
) -> ClosedLoopSolution:
    """Close the loops of a body.

    Compute the joints that follow from the driving joints and the extra joints.

    Each frame is solved from the one before, in steps small enough to stay on one
    branch, so that joints do not jump.

    Parameters
    ----------
    q:
        (T, J) joint displacements [rad or m] over a motion, in order of joint columns,
        or (J,) of one pose. Of the joints that follow, only the values in the first
        frame are used, as the start of the search.
    driving:
        Names of joints or of their links, or joint columns, that drive; all other
        joints of the loops follow. By default as many as the loops have degrees of
        freedom, joints with motors first; see `Loops.driving`.
    start:
        (J,) a pose on the desired branch: it is closed first and then moved to the
        first frame. By default it is the first frame itself. If that cannot be closed
        near its values, or only beyond limits, a closed pose is searched elsewhere.

    Raises
    ------
    ValueError
        When `q` or `start` has another shape, or `driving` names an unknown joint; the
        message lists the joints.

    Notes
    -----
    Redundant equations, as of a plane loop closed by a ball, are allowed: all are
    solved by least squares.
    """
    return Loops(body).close(q, driving=driving, start=start)
