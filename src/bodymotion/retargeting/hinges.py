"""Knees and elbows of a robot as hinges, and the sides to which they bend."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.retargeting.roles import Figure


class Hinge(NamedTuple):
    """A knee or an elbow.

    `column` is that of its joint. At the value `straight` [rad] the limb is straight,
    and its end moves by `end_velocity` (3,) [m/rad]. `wider_side` [rad] is how much
    more the limits allow beyond straight than before it, up to π on each side.
    """

    column: int
    straight: float
    end_velocity: Floats
    wider_side: float


class BendSide(NamedTuple):
    """The side (±1) to which a knee or an elbow bends.

    `column` is that of its joint, which is straight at the value `straight` [rad].
    """

    column: int
    straight: float
    sign: float


class BentPosture(NamedTuple):
    """Joint values (J,) with bent knees and elbows, and the limits (J,) of joints."""

    q: Floats
    lower: Floats
    upper: Floats


def neutral_values(body: Body) -> Floats:
    """Return joint values (J,): 0, or the limit next to it."""
    values = np.zeros(body.num_joints)
    for column, joint in enumerate(body.joints):
        if joint.lower <= joint.upper:
            values[column] = np.clip(0.0, joint.lower, joint.upper)
    return values


def joint_limits(body: Body) -> tuple[Floats, Floats]:
    """Return the lower and upper limits (J,) that inverse kinematics keeps."""
    _, lower, upper, _ = ik.search_space(body, False, None, 0.0)
    return lower[6:], upper[6:]


def find_hinge(
    body: Body,
    figure: Figure,
    above: str,
    role: str,
    below: str,
) -> Hinge:
    """Return a knee or an elbow, between the roles above and below.

    Raises
    ------
    ValueError
        When no joint rotates its link.
    """
    index = figure.link_of(role)
    rest = figure.rest
    if index not in body.joint_links or body.links[index].joint.type != "rotate":
        raise ValueError(
            f"{figure.name}: {role}: no joint rotates link {figure.names[index]!r}; "
            "name a hinge (--map)"
        )
    column = body.joint_links.index(index)
    axis = rotations.rotate(figure.reference[index, 3:], body.links[index].joint.axis)
    # Seen along the unit axis a, the limbs u above and v below make the angle
    # atan2(a · (u × v), u · v), whose derivative by the joint is 1. The end of the limb
    # moves by a × v.
    upper_limb = rest[role] - rest[above]
    lower_limb = rest[below] - rest[role]
    u = upper_limb - (upper_limb @ axis) * axis
    v = lower_limb - (lower_limb @ axis) * axis
    angle = np.arctan2(axis @ np.cross(u, v), u @ v)
    straight = float(neutral_values(body)[column] - angle)
    lower, upper = joint_limits(body)
    limits = np.clip([lower[column], upper[column]], straight - np.pi, straight + np.pi)
    wider_side = float(limits.sum()) - 2 * straight
    return Hinge(column, straight, np.cross(axis, v), wider_side)


def bend_hinges(
    body: Body,
    sides: Iterable[BendSide],
    min_bend: float,
    bend: float,
) -> BentPosture:
    """Return the neutral posture with knees and elbows bent by `bend` [rad].

    Its limits keep them bent by at least `min_bend` [rad].
    """
    q = neutral_values(body)
    lower, upper = joint_limits(body)
    for column, straight, sign in sides:
        bounds = np.sort(straight + sign * np.array([min_bend, np.pi]))
        lower[column], upper[column] = np.clip(bounds, lower[column], upper[column])
        if sign * (q[column] - straight) < bend:
            q[column] = np.clip(straight + sign * bend, lower[column], upper[column])
    return BentPosture(q, lower, upper)
