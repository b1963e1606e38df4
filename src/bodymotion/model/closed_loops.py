"""Closed loops: joints that follow from driving joints and extra joints.

The links of a body are a tree. An `ExtraJoint` connects two links in addition, so that
some joints follow from others. Let P₁, P₂ be its two points in the world, R₁, R₂ the
rotations of its two links, a its axis, and u ⊥ v two unit vectors normal to a. Its
equations are:

    type        equations                       count
    xyz, ball   R₁ᵀ·(P₂ − P₁) = 0               3: all directions
    xy, piston  u·R₁ᵀ·(P₂ − P₁) = 0, v·… = 0    2: normal to the axis of the first link
    z           a·R₁ᵀ·(P₂ − P₁) = 0             1: along the axis of the first link
    hinge       the three of xyz, and           5: the numbers a are the axis in the
                u·R₁ᵀ·R₂·a = 0, v·… = 0            frames of both links

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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, ContentEquality, Floats, Indices, frozen
from bodymotion.kernels import loop_closing
from bodymotion.kernels.kinematics import SLIDE
from bodymotion.kernels.loop_closing import Chain
from bodymotion.kernels.loop_closing import Mechanism as Arrays

if TYPE_CHECKING:
    from bodymotion.model.body import Body, ExtraJoint

# [rad] Sizes of the random changes of a pose in the search for closed poses. Several
# are needed: one of them may be singular.
SPREADS = (0.1, 0.1, 0.3, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 2.0, 2.0, 2.0)
# Singular values below this part of the largest one count as 0.
MIN_SINGULAR_VALUE = 1e-6
MIN_LARGEST_VALUE = (
    1e-3  # The largest one counts as at least this: a Jacobian may be 0.
)

MAX_RESIDUAL = 1e-9  # [m, rad] A loop with a smaller error is closed.
# A pose with a smaller `ClosedLoopSolution.margin` is singular. It is about as many
# radians away from a singular pose.
MIN_MARGIN = 1e-4
# Random start poses for a first frame that cannot be closed.
MAX_ATTEMPTS = 60
LIMIT_TOLERANCE = 1e-6  # [rad or m] How far a joint within its limits may be beyond.


def unit_axis(joint: ExtraJoint) -> Floats:
    """Return the axis (3,) as a unit vector.

    X, the default of the document, where its length is 0.
    """
    length = float(np.linalg.norm(joint.axis))
    if length > 0 and np.isfinite(length):
        return np.array(joint.axis / length)
    return np.array([1.0, 0.0, 0.0])


def constrained_directions(joint: ExtraJoint) -> Floats:
    """Return the directions in which the two points stay together.

    Unit vectors (1 to 3, 3) in the first link's frame.
    """
    if joint.type in ("xyz", "ball", "hinge"):
        return np.eye(3)
    if joint.type in ("xy", "piston"):
        return _normals(unit_axis(joint))
    return unit_axis(joint)[None]


def constrained_tilts(joint: ExtraJoint) -> Floats:
    """Return the directions to which the second link's axis stays normal.

    Unit vectors (0 or 2, 3) in the first link's frame.
    """
    if joint.type == "hinge":
        return _normals(unit_axis(joint))
    return np.zeros((0, 3))


def _normals(axis: Floats) -> Floats:
    """Return two unit vectors (2, 3) normal to an axis and to each other."""
    # With the coordinate axis farthest from the axis, the product is never near 0.
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


class ClosedPose(NamedTuple):
    """Variables (v,) that close loops as well as possible.

    Attributes
    ----------
    variables:
        (v,).
    residual:
        The length of the equations' residual.
    has_converged:
        Whether the search came to an end.
    """

    variables: Floats
    residual: float
    has_converged: bool


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
        return self.arrays.chain.units

    def close_near(self, x: Floats, followers: Indices | None = None) -> ClosedPose:
        """Return the closed pose near variables x (v,); by default all follow."""
        if followers is None:
            followers = np.arange(len(x))
        followed = loop_closing.follow(self.arrays, followers, 0, 1.0, x, x[None])
        variables = followed.variables[0]
        residual, _ = loop_closing.derivatives(self.arrays, variables)
        length = float(np.linalg.norm(residual))
        return ClosedPose(variables, length, not followed.marks[0])

    def sample_jacobians(self, x: Floats) -> list[Floats]:
        """Return the Jacobians (m, v) at closed poses around x.

        Few of them are singular.
        """
        generator = np.random.default_rng(0)
        nearest = self.close_near(x)
        closed = [nearest]
        for spread in SPREADS:
            change = spread * generator.standard_normal(len(x))
            closed.append(self.close_near(nearest.variables + change))
        # Where nothing converges, all are samples: a rank is still needed.
        converged = [pose for pose in closed if pose.has_converged] or closed
        smallest = min(pose.residual for pose in converged)
        # Loops that cannot be closed have a residual everywhere.
        limit = 1.01 * smallest + 1e-9
        return [
            loop_closing.derivatives(self.arrays, pose.variables)[1]
            for pose in converged
            if pose.residual <= limit
        ]


def rank(jacobian: Floats) -> int:
    """Return the rank of a Jacobian (m, v): the number of independent equations."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    largest = max(float(values.max(initial=0.0)), MIN_LARGEST_VALUE)
    return int((values > MIN_SINGULAR_VALUE * largest).sum())


class _Sides(NamedTuple):
    """The links from the common ancestor of two ends (exclusive) to each of them."""

    first: set[int]
    second: set[int]


def _sides(body: Body, joint: ExtraJoint) -> _Sides:
    # Links above both ends move the two points alike, and have no part in the loop.
    first, second = (set(body.path_to_root(index)) for index in joint.links)
    return _Sides(first - second, second - first)


@dataclass
class _Group:
    """Extra joints, by index, and the columns of the joints that move their links."""

    loops: list[int]
    columns: set[int]


def mechanisms(body: Body) -> tuple[Mechanism, ...]:
    """Return the groups of extra joints with common moving joints.

    In the order of their first extra joints. Loops without moving joints are left out.
    """
    tree = body.tree
    groups: list[_Group] = []
    for number, joint in enumerate(body.extra_joints):
        sides = _sides(body, joint)
        moving = [link for link in sides.first | sides.second if tree.kinds[link]]
        # The new loop and all groups that share a joint with it become one group.
        merged = _Group([number], {int(tree.columns[link]) for link in moving})
        others = []
        for group in groups:
            if group.columns & merged.columns:
                merged.loops += group.loops
                merged.columns |= group.columns
            else:
                others.append(group)
        groups = [*others, merged]
    groups.sort(key=lambda group: min(group.loops))
    return tuple(
        _make_mechanism(body, sorted(group.loops), sorted(group.columns))
        for group in groups
        if group.columns
    )


class _Equation(NamedTuple):
    """One row of the arrays of a mechanism; see `loop_closing.Mechanism`."""

    ends: list[int]
    tips: tuple[npt.ArrayLike, npt.ArrayLike]
    direction: Floats
    of_axes: int
    sides: list[int]


def _make_mechanism(
    body: Body, loops: Sequence[int], columns: Sequence[int]
) -> Mechanism:
    """Return a mechanism of loops and joint columns as arrays for the kernels."""
    joints = [body.extra_joints[number] for number in loops]
    sides = [_sides(body, joint) for joint in joints]
    # All links of the loops, parents before children, and their numbers there.
    links = sorted(set().union(*(side.first | side.second for side in sides)))
    numbers = {index: number for number, index in enumerate(links)}
    equations = []
    for joint, side in zip(joints, sides, strict=True):
        equations += _equations(joint, side, links, numbers)
    size = _size(body, joints, sides)
    tree = body.tree
    # Variables of links: −1 where a link is fixed to its parent.
    variables = np.full(len(links), -1)
    units = np.ones(len(columns))
    for number, index in enumerate(links):
        if tree.kinds[index]:
            variables[number] = columns.index(tree.columns[index])
        # Lengths are divided by the size of the mechanism, so that slides and rotations
        # weigh alike.
        if tree.kinds[index] == SLIDE:
            units[variables[number]] = size
    chain = Chain(
        _integers([numbers.get(body.links[index].parent, -1) for index in links]),
        _integers(tree.kinds[links]),
        variables,
        np.array(rotations.to_matrix(tree.offsets[links, 3:])).reshape(-1, 3, 3),
        np.array(tree.offsets[links, :3]),
        np.array(tree.axes[links]),
        units,
    )
    arrays = Arrays(
        chain,
        _integers([equation.ends for equation in equations]),
        np.array([equation.tips for equation in equations]),
        np.array([equation.direction for equation in equations]),
        _integers([equation.of_axes for equation in equations]),
        _integers([equation.sides for equation in equations]).reshape(-1, len(links)),
        size,
    )
    return Mechanism(tuple(loops), tuple(columns), arrays)


def _equations(
    joint: ExtraJoint, sides: _Sides, links: Sequence[int], numbers: dict[int, int]
) -> list[_Equation]:
    """Return the equations of an extra joint among the links of a mechanism."""
    # Ends that are not in the mechanism do not move in it: −1.
    ends = [numbers.get(index, -1) for index in joint.links]
    # The error is P₂ − P₁: links on the second side move it forwards, others backwards.
    signs = [(link in sides.second) - (link in sides.first) for link in links]
    start, end = joint.positions
    axis = unit_axis(joint)
    equations = [
        _Equation(ends, (start, end), direction, 0, signs)
        for direction in constrained_directions(joint)
    ]
    equations += [
        _Equation(ends, (start, axis), direction, 1, signs)
        for direction in constrained_tilts(joint)
    ]
    return equations


def _integers(values: npt.ArrayLike) -> Indices:
    return np.array(values, dtype=np.int64)


def _size(body: Body, joints: Sequence[ExtraJoint], sides: Sequence[_Sides]) -> float:
    """Return half the length [m] of the longest loop.

    The sum of its link offsets and of the distances of its two points.
    """
    longest = 0.0
    for joint, side in zip(joints, sides, strict=True):
        offsets = [body.links[index].offset[:3] for index in side.first | side.second]
        lengths = np.linalg.norm([*offsets, *joint.positions], axis=1)
        longest = max(longest, 0.5 * float(lengths.sum()))
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
    # (..., E), 0 for types that constrain nothing there.
    tilts = np.zeros(distances.shape)
    for k, joint in enumerate(body.extra_joints):
        first, second = (link_poses[..., index, :] for index in joint.links)
        start, end = map(poses.transform_points, (first, second), joint.positions)
        first_rotation = rotations.normalized(first[..., 3:])
        # Along the axes of the first link, in which the directions are given.
        between = rotations.rotate(rotations.conjugate(first_rotation), end - start)
        components = between @ constrained_directions(joint).T
        distances[..., k] = np.linalg.norm(components, axis=-1)
        if joint.type == "hinge":
            axis = unit_axis(joint)
            first_axis = rotations.rotate(first_rotation, axis)
            second_rotation = rotations.normalized(second[..., 3:])
            second_axis = rotations.rotate(second_rotation, axis)
            # By sine and cosine: the arc cosine of nearly parallel axes has no digits.
            sine = np.linalg.norm(np.cross(first_axis, second_axis), axis=-1)
            cosine = np.einsum("...i,...i->...", first_axis, second_axis)
            tilts[..., k] = np.arctan2(sine, cosine)
    return distances, tilts


def _driving_columns(
    body: Body, mechanism: Mechanism, samples: list[Floats], first: tuple[int, ...]
) -> list[int]:
    """Return the columns that drive, in ascending order.

    As many as the mechanism has degrees of freedom. `samples`: Jacobians (m, v) at
    typical poses. `first`: preferred columns.
    """

    def preference(column: int) -> tuple[int | bool, ...]:
        joint = body.joints[column]
        depth = len(body.path_to_root(body.joint_links[column]))
        if column in first:
            rank_among_first = first.index(column)
        else:
            rank_among_first = len(first)
        has_motor = (
            joint.gear_ratio != 1 or joint.torque_const != 1 or joint.rotor_inertia != 0
        )
        return rank_among_first, not has_motor, joint.id < 0, depth, column

    # Joints follow, those that drive least willingly first, as long as the equations
    # determine all of them: their columns of the Jacobian are independent.
    jacobian = max(samples, key=rank)
    max_following = rank(jacobian)
    following: list[int] = []
    for column in sorted(mechanism.columns, key=preference, reverse=True):
        trial = [*following, mechanism.columns.index(column)]
        if len(following) < max_following and rank(jacobian[:, trial]) == len(trial):
            following = trial
    return [column for k, column in enumerate(mechanism.columns) if k not in following]


def columns_of(body: Body, joints: str | int | Iterable[str | int]) -> tuple[int, ...]:
    """Return the columns of joints, or of one joint.

    They are given by their names, their links' names or their columns.

    Raises
    ------
    ValueError
        When there is no such joint; the message lists the names.
    """
    if isinstance(joints, (str, int)):
        joints = (joints,)
    names: dict[str, int] = {}
    for column, index in enumerate(body.joint_links):
        if index >= 0:
            names.setdefault(body.links[index].name, column)
    for column, joint in enumerate(body.joints):
        if joint.name:
            names.setdefault(joint.name, column)
    columns = []
    for name in joints:
        if isinstance(name, str):
            if name not in names:
                raise ValueError(f"no joint {name!r}; {choices(name, names)}")
            columns.append(names[name])
        else:
            column = int(name)
            if not 0 <= column < body.num_joints:
                raise ValueError(
                    f"no joint column {column}; the body has {body.num_joints}"
                )
            columns.append(column)
    return tuple(columns)


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


class _Followed(NamedTuple):
    """A mechanism's joints over T frames: values (T, v), margins (T,), flags (T,)."""

    q: Floats
    margin: Floats
    is_singular: Bools


class _Rating(NamedTuple):
    """How good a first pose is, by the order of its fields."""

    is_open: bool
    beyond_limits: float
    distance: float


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
        columns: list[int] = []
        for mechanism in self.mechanisms:
            columns += mechanism.columns
        self.columns = tuple(sorted(columns))
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
        preferred = columns_of(self.body, first)
        if q is None:
            pose = np.zeros(self.body.num_joints)
        else:
            pose = np.nan_to_num(np.asarray(q, dtype=np.float64))
        columns = []
        for mechanism in self.mechanisms:
            samples = self._sample_jacobians(mechanism, pose)
            columns += _driving_columns(self.body, mechanism, samples, preferred)
        return tuple(sorted(columns))

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
        rows = np.atleast_2d(values)
        near = np.zeros(count)
        if len(rows):
            near = rows[0]
        if start is not None:
            start = near = np.asarray(start, dtype=np.float64)
            if start.shape != (count,):
                raise ValueError(f"start has shape ({count},), this has {start.shape}")
        # Without a choice, those that drive by default near this pose.
        if driving is None:
            drivers = self.driving(q=near)
        else:
            drivers = columns_of(self.body, driving)
        closed = np.array(rows)
        margin = np.ones(len(rows))
        is_singular = np.zeros(len(rows), dtype=bool)
        # Mechanisms share no joints: each is closed by itself.
        for mechanism in self.mechanisms if len(rows) else ():
            columns = np.array(mechanism.columns)
            followers = np.flatnonzero(~np.isin(columns, drivers))
            followed = self._follow(mechanism, followers, rows[:, columns], start)
            closed[:, columns[followers]] = followed.q[:, followers]
            margin = np.minimum(margin, followed.margin)
            is_singular |= followed.is_singular
        # Joints outside of all loops are neither driving nor following.
        following = tuple(column for column in self.columns if column not in drivers)
        # Loops are the same wherever the root is.
        link_poses = self.body.forward_kinematics(closed, poses.IDENTITY)
        distances, tilts = loop_errors(self.body, link_poses)
        shape = values.shape[:-1]
        outside = self._are_outside(closed)[:, list(following)].any(axis=-1)
        return ClosedLoopSolution(
            q=frozen(closed.reshape(values.shape)),
            driving=tuple(column for column in self.columns if column in drivers),
            following=following,
            residual=frozen(distances.max(axis=-1, initial=0.0).reshape(shape)),
            tilt=frozen(tilts.max(axis=-1, initial=0.0).reshape(shape)),
            residuals=frozen(distances.reshape(*shape, distances.shape[-1])),
            tilts=frozen(tilts.reshape(*shape, tilts.shape[-1])),
            singular=_read_only(is_singular.reshape(shape)),
            margin=frozen(margin.reshape(shape)),
            outside=_read_only(outside.reshape(shape)),
        )

    def _are_outside(self, q: Floats) -> Bools:
        """Return which joints (T, J) are beyond their limits."""
        lower = np.array([joint.lower for joint in self.body.joints])
        upper = np.array([joint.upper for joint in self.body.joints])
        return (q < lower - LIMIT_TOLERANCE) | (q > upper + LIMIT_TOLERANCE)

    def _sample_jacobians(self, mechanism: Mechanism, q: Floats) -> list[Floats]:
        """Return Jacobians at closed poses around the first pose that is asked for."""
        # Made once: the rank at regular poses does not depend on the pose.
        if mechanism.loops not in self._samples:
            variables = q[list(mechanism.columns)] / mechanism.units
            self._samples[mechanism.loops] = mechanism.sample_jacobians(variables)
        return self._samples[mechanism.loops]

    def _follow(
        self, mechanism: Mechanism, followers: Indices, q: Floats, start: Floats | None
    ) -> _Followed:
        """Close the loops of a mechanism, from a pose (J,) or its first frame."""
        units = mechanism.units
        columns = list(mechanism.columns)
        targets = q / units
        if start is None:
            near = targets[0]
        else:
            near = start[columns] / units
        # NaN would spread through the search.
        near = np.nan_to_num(near, posinf=0.0, neginf=0.0)
        pose = np.zeros(self.body.num_joints)
        pose[columns] = near * units
        samples = self._sample_jacobians(mechanism, pose)
        jacobians = [jacobian[:, followers] for jacobian in samples]
        # At singular poses the rank is lower than at most of the others.
        regular_rank = max(map(rank, jacobians))
        median = 1.0
        if regular_rank:
            regular = [part for part in jacobians if rank(part) == regular_rank]
            # The smallest singular value that is not 0 at regular poses: margins are
            # shares of its median.
            values = np.linalg.svd(np.array(regular), compute_uv=False)
            median = float(np.median(values[:, regular_rank - 1]))
        # A start that the caller gives is on the desired branch already.
        if start is None and len(followers):
            near = self._find_first(mechanism, followers, near)
        followed = loop_closing.follow(
            mechanism.arrays, followers, regular_rank, median, near, targets
        )
        is_singular = (followed.smallest < MIN_MARGIN) | (followed.marks != 0)
        return _Followed(followed.variables * units, followed.smallest, is_singular)

    def _find_first(
        self, mechanism: Mechanism, followers: Indices, x: Floats
    ) -> Floats:
        """Return a closed pose (v,) with the driving joints as in x.

        Near x, else any that closes, if possible within limits; else x.
        """
        joints = [self.body.joints[mechanism.columns[k]] for k in followers]
        units = mechanism.units[followers]
        lower = np.array([joint.lower for joint in joints]) / units
        upper = np.array([joint.upper for joint in joints]) / units
        is_rotating = np.array([joint.type == "rotate" for joint in joints])
        # Turns are chosen around the wanted values, moved into the limits.
        middle = np.minimum(np.maximum(x[followers], lower), upper)

        def close(start: Floats) -> tuple[_Rating, Floats]:
            """Return the closed pose near a start, and its rating."""
            pose = mechanism.close_near(start, followers).variables
            values = pose[followers]
            # Full turns bring an angle nearest to the middle.
            turns = np.round((values - middle) / (2 * np.pi))
            values = values - np.where(is_rotating, 2 * np.pi * turns, 0.0)
            pose[followers] = values
            residual, _ = loop_closing.derivatives(mechanism.arrays, pose)
            error = float(np.abs(residual).max(initial=0.0))
            beyond = np.maximum(np.maximum(lower - values, values - upper), 0.0)
            total = float(beyond.sum())
            # Rounding at a limit does not make a pose worse.
            if total <= LIMIT_TOLERANCE:
                total = 0.0
            distance = float(np.linalg.norm(values - x[followers]))
            return _Rating(error > MAX_RESIDUAL, total, distance), pose

        # A closed pose within limits near the values: nothing else is sought.
        best, best_pose = close(x)
        if not best.is_open and not best.beyond_limits:
            return best_pose
        # Random starts of the followers alone; joints that drive keep their values.
        generator = np.random.default_rng(0)
        low = np.where(np.isfinite(lower), lower, -np.pi)
        high = np.where(np.isfinite(upper), upper, np.pi)
        for _ in range(MAX_ATTEMPTS):
            start = np.array(x)
            start[followers] = low + (high - low) * generator.random(len(followers))
            rating, pose = close(start)
            # Of poses that close, only one that keeps limits better is worth a jump.
            is_worthwhile = best.is_open or best.beyond_limits > rating.beyond_limits
            if rating < best and is_worthwhile:
                best = rating
                best_pose = pose
        return x if best.is_open else best_pose


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
