"""Close loops: which joints drive, and the values of the joints that follow, frame after frame.

A mechanism with v moving joints and equations of rank r has v − r driving joints; the others follow. By default joints drive in this order
of preference: joints that the caller names; joints with a motor (a gear ratio, torque constant or rotor inertia other than the default);
joints with an id; joints nearer to the root; joints with a lower column. A joint that the chosen ones determine follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.kernels import loop_closing
from bodymotion.model.closed_loops.mechanism import Mechanism, loop_errors, mechanisms, rank

if TYPE_CHECKING:
    from bodymotion.model.body import Body


def choose_driving(body: Body, mechanism: Mechanism, samples: list[Floats], first: tuple[int, ...] = ()) -> list[int]:
    """Return the columns that drive, in ascending order: as many as the mechanism has degrees of freedom.

    `samples`: Jacobians (m, v) at typical poses. `first`: preferred columns.
    """
    jacobian = max(samples, key=rank)
    follow: list[int] = []
    max_following = rank(jacobian)
    for column in sorted(mechanism.columns, key=lambda column: _preference(body, column, first), reverse=True):
        tried = [*follow, mechanism.columns.index(column)]
        if len(follow) < max_following and rank(jacobian[:, tried]) == len(tried):
            follow = tried
    return [column for k, column in enumerate(mechanism.columns) if k not in follow]


def _preference(body: Body, column: int, first: tuple[int, ...]) -> tuple[int | bool, ...]:
    joint = body.joints[column]
    index = body.joint_links[column]
    depth = 0
    above = index
    while body.links[above].parent >= 0:
        above = body.links[above].parent
        depth += 1
    wanted = first.index(column) if column in first else len(first)
    motor = joint.gear_ratio != 1 or joint.torque_const != 1 or joint.rotor_inertia != 0
    return wanted, not motor, joint.id < 0, depth, column


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
                raise ValueError(f"no joint column {column}; the body has {body.num_joints}")
            found.append(column)
    return tuple(found)


def followers_of(mechanism: Mechanism, driving: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return which of the mechanism's variables follow when some columns drive."""
    chosen = set(driving)
    return np.array([k for k, column in enumerate(mechanism.columns) if column not in chosen], dtype=np.int64)


MAX_RESIDUAL = 1e-9
"""[m, rad] A loop with a smaller error is closed."""
MIN_MARGIN = 1e-4
"""A pose with a smaller `Closed.margin` is singular; it is about as many radians away from a singular pose."""
MAX_ATTEMPTS = 60
"""The number of random start poses for a first frame that cannot be closed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Closed(ContentEquality):
    """Joint values that close the loops of a body as well as possible.

    Attributes
    ----------
    q:
        (..., J) The joint values [rad or m]: computed for the joints that follow, unchanged for all others.
    driving, following:
        The columns of the joints in loops that drive, and of those that follow.
    residual:
        (...) [m] The largest error of a loop in the directions that its extra joint constrains. Where loops cannot be closed, the
        sum of the squared errors is least.
    tilt:
        (...) [rad] The largest angle between the two axes of a hinge.
    residuals, tilts:
        (..., E) the same for each extra joint.
    singular:
        (...) Whether the driving joints do not determine those that follow, at this frame or between it and the one before. Branches meet
        there; the motion continues smoothly.
    margin:
        (...) The least singular value of the Jacobian of the joints that follow, at this frame or since the one before, relative to its
        median: 0 at a singular pose, and about the distance from it in radians. Directions that are free everywhere, because the driving
        joints and the equations do not determine all joints, do not count; in them joints move as little as possible.
    outside:
        (...) Whether a joint that follows is beyond its limits. Limits are reported, not enforced.
    """

    q: Floats
    driving: tuple[int, ...]
    following: tuple[int, ...]
    residual: Floats
    tilt: Floats
    residuals: Floats
    tilts: Floats
    singular: npt.NDArray[np.bool_]
    margin: Floats
    outside: npt.NDArray[np.bool_]

    @property
    def closed(self) -> npt.NDArray[np.bool_]:
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
        self.columns = tuple(sorted(column for one in self.mechanisms for column in one.columns))
        self._samples: dict[tuple[int, ...], list[Floats]] = {}

    def driving(self, first: str | int | Iterable[str | int] = (), q: npt.ArrayLike | None = None) -> tuple[int, ...]:
        """Return the columns that drive by default: as many in each mechanism as it has degrees of freedom.

        `first`: joints (names or columns) that are preferred. `q` (J,): a pose near which the mechanisms are analysed.
        """
        wanted = columns_of(self.body, first)
        at = np.zeros(self.body.num_joints) if q is None else np.nan_to_num(np.asarray(q, dtype=np.float64))
        return tuple(
            sorted(
                column
                for one in self.mechanisms
                for column in choose_driving(self.body, one, self._typical(one, at), wanted)
            )
        )

    def close(
        self,
        q: npt.ArrayLike,
        *,
        driving: str | int | Iterable[str | int] | None = None,
        start: npt.ArrayLike | None = None,
    ) -> Closed:
        """Close the loops; see `close_loops`."""
        values = np.asarray(q, dtype=np.float64)
        count = self.body.num_joints
        if values.ndim not in (1, 2) or values.shape[-1] != count:
            raise ValueError(f"q has shape (T, J) or (J,) with J = {count}, this has {values.shape}")
        begin = None if start is None else np.asarray(start, dtype=np.float64)
        if begin is not None and begin.shape != (count,):
            raise ValueError(f"start has shape ({count},), this has {begin.shape}")
        rows = np.atleast_2d(values)
        near = begin if begin is not None else rows[0] if len(rows) else np.zeros(count)
        drivers = self.driving(q=near) if driving is None else columns_of(self.body, driving)
        found = np.array(rows)
        margin = np.ones(len(rows))
        singular = np.zeros(len(rows), dtype=bool)
        for one in self.mechanisms:
            if len(rows):
                followers = followers_of(one, drivers)
                followed, least, crossed = self._follow(one, followers, rows[:, list(one.columns)], begin)
                found[:, np.array(one.columns)[followers]] = followed[:, followers]
                margin = np.minimum(margin, least)
                singular |= crossed
        driven = tuple(column for column in self.columns if column in drivers)
        following = tuple(column for column in self.columns if column not in drivers)
        distances, tilts = loop_errors(self.body, self.body.forward_kinematics(found, poses.IDENTITY))
        lower = np.array([joint.lower for joint in self.body.joints])
        upper = np.array([joint.upper for joint in self.body.joints])
        beyond = ((found < lower - 1e-6) | (found > upper + 1e-6))[:, list(following)].any(axis=-1)
        shape = values.shape[:-1]
        return Closed(
            q=frozen(found.reshape(values.shape)),
            driving=driven,
            following=following,
            residual=frozen(_largest(distances).reshape(shape)),
            tilt=frozen(_largest(tilts).reshape(shape)),
            residuals=frozen(distances.reshape(*shape, distances.shape[-1])),
            tilts=frozen(tilts.reshape(*shape, tilts.shape[-1])),
            singular=_read_only(singular.reshape(shape)),
            margin=frozen(margin.reshape(shape)),
            outside=_read_only(beyond.reshape(shape)),
        )

    def _typical(self, mechanism: Mechanism, q: Floats) -> list[Floats]:
        if mechanism.loops not in self._samples:
            self._samples[mechanism.loops] = mechanism.typical(q[list(mechanism.columns)] / mechanism.units)
        return self._samples[mechanism.loops]

    def _follow(
        self, mechanism: Mechanism, followers: npt.NDArray[np.int64], q: Floats, start: Floats | None
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Return the values (T, v) of a mechanism's joints, the least singular values (T,) and where it is singular (T,)."""
        units = mechanism.units
        targets = q / units
        near = targets[0] if start is None else start[list(mechanism.columns)] / units
        near = np.nan_to_num(near, posinf=0.0, neginf=0.0)
        samples = self._typical(mechanism, in_body(self.body, mechanism, near * units))
        most = max(rank(jacobian[:, followers]) for jacobian in samples)
        median = _median_singular_value([jacobian[:, followers] for jacobian in samples], most)
        if start is None and len(followers):
            near = self._first(mechanism, followers, near)
        found, least, marks = loop_closing.follow(mechanism.arrays, followers, most, median, near, targets)
        return found * units, least, (least < MIN_MARGIN) | (marks != 0)

    def _first(self, mechanism: Mechanism, followers: npt.NDArray[np.int64], x: Floats) -> Floats:
        """Return a closed pose (v,) with the driving joints as in x: near x, else any pose that closes, if possible within limits;
        else x.
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
            values = values - np.where(turning, 2 * np.pi * np.round((values - middle) / (2 * np.pi)), 0.0)
            found[followers] = values
            open_by = float(np.abs(loop_closing.derivatives(mechanism.arrays, found)[0]).max(initial=0.0))
            beyond = float(np.maximum(np.maximum(lower - values, values - upper), 0.0).sum())
            return open_by > 1e-9, beyond if beyond > 1e-6 else 0.0, float(np.linalg.norm(values - x[followers])), found

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
        return x if best[0] else best[3]


def _median_singular_value(samples: list[Floats], most: int) -> float:
    """Return the median of the `most`-th singular value; 1 where no sample has this rank."""
    values = [np.linalg.svd(sample, compute_uv=False)[most - 1] for sample in samples if most and rank(sample) == most]
    return float(np.median(values)) if values else 1.0


def in_body(body: Body, mechanism: Mechanism, values: Floats) -> Floats:
    """Return joint values (J,) that are those of a mechanism's joints and 0 elsewhere."""
    q = np.zeros(body.num_joints)
    q[list(mechanism.columns)] = values
    return q


def _read_only(flags: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    values = np.array(flags, dtype=bool)
    values.flags.writeable = False
    return values


def _largest(values: Floats) -> Floats:
    return np.asarray(values.max(axis=-1, initial=0.0))


def close_loops(
    body: Body,
    q: npt.ArrayLike,
    *,
    driving: str | int | Iterable[str | int] | None = None,
    start: npt.ArrayLike | None = None,
) -> Closed:
    """Close the loops of a body: compute the joints that follow from the driving joints and the extra joints.

    Each frame is solved from the one before, in steps small enough to stay on one branch, so that joints do not jump.

    Parameters
    ----------
    q:
        (T, J) joint displacements [rad or m] over a motion, in order of joint columns, or (J,) of one pose. Of the joints that follow, only
        the values in the first frame are used, as the start of the search.
    driving:
        Names of joints or of their links, or joint columns, that drive; all other joints of the loops follow. By default as many as the
        loops have degrees of freedom, joints with motors first; see `bodymotion.model.closed_loops.closing`.
    start:
        (J,) a pose on the desired branch: it is closed first and then moved to the first frame. By default it is the first frame itself. If
        that cannot be closed near its values, or only beyond limits, a closed pose is searched elsewhere.

    Raises
    ------
    ValueError
        When `q` or `start` has another shape, or `driving` names an unknown joint; the message lists the joints.

    Notes
    -----
    Redundant equations, as of a plane loop closed by a ball, are allowed: all are solved by least squares.
    """
    return Loops(body).close(q, driving=driving, start=start)
