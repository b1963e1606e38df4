"""Closing loops: for given driving joints the joints that follow, frame after frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.kernels import loop_closing
from bodymotion.model.closed_loops.driving import choose_driving, columns_of, followers_of
from bodymotion.model.closed_loops.errors import loop_errors
from bodymotion.model.closed_loops.mechanism import Mechanism, mechanisms, rank

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["CLOSED", "Closed", "Loops", "close_loops"]

CLOSED = 1e-9
"""A loop that is open by no more than this [m, rad] is closed."""
SINGULAR = 1e-4
"""Poses with a least singular value below this part of the usual one (about as many radians away) are called singular."""
ATTEMPTS = 60
"""From so many other poses a first frame that does not close is tried."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Closed(ContentEquality):
    """Joint values that close the loops of a body, as well as can be.

    Attributes
    ----------
    q:
        (..., J) the joint values [rad or m]: those of the driving joints as given, those that follow worked out; all else as given.
    driving, following:
        The columns of the joints in loops that drive, and of those that follow.
    residual:
        (...) by how much [m] the most open loop is open in the directions that its extra joint holds. What cannot be reached is not
        hidden: the followers are then where the squares of what is left add up to least.
    tilt:
        (...) the largest angle [rad] between the two axes of a hinge.
    residuals, tilts:
        (..., E) the same for each extra joint.
    singular:
        (...) whether the driving joints do not determine those that follow: at this frame, or at a pose between it and the one before.
        There branches meet; the way on is the smooth one.
    margin:
        (...) the least singular value of the equations by the joints that follow, at this frame or on the way to it, as a part of what it
        usually is: 0 at a singular pose, and about as many radians away from it. Directions that are free everywhere, because there are
        more joints than the drivers and the equations determine, do not count: there joints stay as near to where they were as can be.
    outside:
        (...) whether a joint that follows is beyond its limits. Limits are reported, not enforced: a loop knows none.
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
        return np.asarray((self.residual <= CLOSED) & (self.tilt <= CLOSED))


class Loops:
    """The closed loops of a body, looked into once, to be closed many times.

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

        `first`: joints (names, or columns) that drive before all others. `q` (J,): a pose near which the mechanisms are looked into.
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
        given = np.asarray(q, dtype=np.float64)
        count = self.body.num_joints
        if given.ndim not in (1, 2) or given.shape[-1] != count:
            raise ValueError(f"q has shape (T, J) or (J,) with J = {count}, this has {given.shape}")
        begin = None if start is None else np.asarray(start, dtype=np.float64)
        if begin is not None and begin.shape != (count,):
            raise ValueError(f"start has shape ({count},), this has {begin.shape}")
        rows = np.atleast_2d(given)
        near = begin if begin is not None else rows[0] if len(rows) else np.zeros(count)
        drivers = self.driving(q=near) if driving is None else columns_of(self.body, driving)
        found = np.array(rows)
        margin = np.ones(len(rows))
        singular = np.zeros(len(rows), dtype=bool)
        for one in self.mechanisms:
            if len(rows):
                followers = followers_of(one, drivers)
                values, least, crossed = self._follow(one, followers, rows[:, list(one.columns)], begin)
                found[:, np.array(one.columns)[followers]] = values[:, followers]
                margin = np.minimum(margin, least)
                singular |= crossed
        driven = tuple(column for column in self.columns if column in drivers)
        following = tuple(column for column in self.columns if column not in drivers)
        apart, tilted = loop_errors(self.body, self.body.forward_kinematics(found, poses.IDENTITY))
        lower = np.array([joint.lower for joint in self.body.joints])
        upper = np.array([joint.upper for joint in self.body.joints])
        beyond = ((found < lower - 1e-6) | (found > upper + 1e-6))[:, list(following)].any(axis=-1)
        shape = given.shape[:-1]
        return Closed(
            q=frozen(found.reshape(given.shape)),
            driving=driven,
            following=following,
            residual=frozen(_largest(apart).reshape(shape)),
            tilt=frozen(_largest(tilted).reshape(shape)),
            residuals=frozen(apart.reshape(*shape, apart.shape[-1])),
            tilts=frozen(tilted.reshape(*shape, tilted.shape[-1])),
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
        samples = self._typical(mechanism, near_in_body(self.body, mechanism, near * units))
        most = max(rank(jacobian[:, followers]) for jacobian in samples)
        usual = _usual([jacobian[:, followers] for jacobian in samples], most)
        if start is None and len(followers):
            near = self._first(mechanism, followers, near)
        found, least, marks = loop_closing.follow(mechanism.arrays, followers, most, usual, near, targets)
        return found * units, least, (least < SINGULAR) | (marks != 0)

    def _first(self, mechanism: Mechanism, followers: npt.NDArray[np.int64], x: Floats) -> Floats:
        """Return a closed pose (v,) with the drivers as in x: near x, or elsewhere where none is near or within limits; x without any."""
        joints = [self.body.joints[mechanism.columns[k]] for k in followers]
        units = mechanism.units[followers]
        lower = np.array([joint.lower for joint in joints]) / units
        upper = np.array([joint.upper for joint in joints]) / units
        turning = np.array([joint.type == "rotate" for joint in joints])
        middle = np.minimum(np.maximum(x[followers], lower), upper)

        def judged(start: Floats) -> tuple[bool, float, float, Floats]:
            """Order by: open, by how much beyond limits, how far."""
            found, _, _ = mechanism.closed_near(start, followers)
            values = found[followers]
            values = values - np.where(turning, 2 * np.pi * np.round((values - middle) / (2 * np.pi)), 0.0)
            found[followers] = values
            open_by = float(np.abs(loop_closing.derivatives(mechanism.arrays, found)[0]).max(initial=0.0))
            beyond = float(np.maximum(np.maximum(lower - values, values - upper), 0.0).sum())
            return open_by > 1e-9, beyond if beyond > 1e-6 else 0.0, float(np.linalg.norm(values - x[followers])), found

        best = judged(x)
        if not best[0] and not best[1]:
            return best[3]
        chance = np.random.default_rng(0)
        low = np.where(np.isfinite(lower), lower, -np.pi)
        high = np.where(np.isfinite(upper), upper, np.pi)
        for _ in range(ATTEMPTS):
            start = np.array(x)
            start[followers] = low + (high - low) * chance.random(len(followers))
            other = judged(start)
            if other[:3] < best[:3] and (best[0] or best[1] > other[1]):
                best = other
        return x if best[0] else best[3]


def _usual(samples: list[Floats], most: int) -> float:
    """Return how large the `most`-th singular value usually is."""
    values = [np.linalg.svd(sample, compute_uv=False)[most - 1] for sample in samples if most and rank(sample) == most]
    return float(np.median(values)) if values else 1.0


def near_in_body(body: Body, mechanism: Mechanism, values: Floats) -> Floats:
    """Return joint values (J,) that are those of a mechanism's joints and 0 elsewhere."""
    q = np.zeros(body.num_joints)
    q[list(mechanism.columns)] = values
    return q


def _read_only(given: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    values = np.array(given, dtype=bool)
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
    """Close the loops of a body: work out the joints that its extra joints leave no choice.

    Each frame is solved from the one before, in as many steps as it takes to stay on one branch: followers never jump.

    Parameters
    ----------
    q:
        (T, J) joint displacements [rad or m] over a motion, in order of joint columns, or (J,) of one pose. Followers' values count in the
        first frame only, as the place near which to begin.
    driving:
        Names of joints or of their links, or joint columns, that drive; all other joints of the loops follow. Unless given, as many as the
        loops have degrees of freedom: joints with motors before those without, then those with ids, those nearer to the root, those with
        lower columns.
    start:
        (J,) a pose to begin at instead, on the branch that is wanted: it is closed first and then led to the first frame. Unless given, it
        is the first frame as it is; when that cannot be closed from where the followers stand, or only beyond their limits, a closed
        pose is searched for elsewhere.

    Raises
    ------
    ValueError
        When `q` or `start` has another shape, or there is no joint of a name that is to drive; the message lists what there is.

    Notes
    -----
    Redundant equations (a plane loop closed by a ball has one) do no harm: all are solved as least squares.
    """
    return Loops(body).close(q, driving=driving, start=start)
