"""Keep knees bent to the side to which they are bent.

A knee whose limits allow it can bend both ways. Next to the posture with a straight leg
a search that moves each frame by itself could take either.
"""

from typing import NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

# Values of a joint that are tried for the straightest leg.
SAMPLES = 181
# [rad] They are within this angle from 0.
MAX_ANGLE = np.pi
# Of the length of a leg: a joint that changes it by less is no knee.
MIN_STRETCH = 0.3
# Of the frames in which a knee is bent to one side, for it to stay there.
MIN_SIDE_SHARE = 0.9
# [rad] Knees stay bent by this. At a straight knee the length of the leg does not
# change, or changes with the wrong sign, so that a search would end there.
MIN_BEND = 0.03


class JointLimits(NamedTuple):
    """Lower and upper limits (J,) [rad or m]."""

    lower: Floats
    upper: Floats


def knee_limits(
    body: Body,
    feet: tuple[int, ...],
    joints: Floats,
) -> JointLimits:
    """Return the limits of joints whose knees keep their side in postures (T, J).

    Joints without limits, whose lower limit is above the upper one, have infinite ones.
    """
    lower = np.array([joint.lower for joint in body.joints])
    upper = np.array([joint.upper for joint in body.joints])
    is_free = ~(lower <= upper)
    lower[is_free] = -np.inf
    upper[is_free] = np.inf
    for foot in feet:
        hip, columns = _find_leg(body, feet, foot)
        for column in columns:
            straight = _find_straight_value(
                body, (hip, foot), column, joints.mean(axis=0)
            )
            if straight is None:
                continue
            above = float(np.mean(joints[:, column] >= straight))
            if above >= MIN_SIDE_SHARE:
                lower[column] = max(lower[column], straight + MIN_BEND)
            elif above <= 1.0 - MIN_SIDE_SHARE:
                upper[column] = min(upper[column], straight - MIN_BEND)
    return JointLimits(lower, upper)


def _find_leg(
    body: Body,
    feet: tuple[int, ...],
    foot: int,
) -> tuple[int, list[int]]:
    """Return the first link of a leg, and the columns of its rotating joints."""
    shared: set[int] = {0}
    for other in feet:
        if other != foot:
            shared |= set(body.path_to_root(other))
    links = [index for index in body.path_to_root(foot) if index not in shared]
    columns = [
        column
        for column in body.columns_above(foot)
        if body.joint_links[column] in links and body.joints[column].type == "rotate"
    ]
    return (links or [foot])[-1], columns


def _find_straight_value(
    body: Body,
    ends: tuple[int, int],
    column: int,
    posture: Floats,
) -> float | None:
    """Return the value [rad] of a knee at which its leg is straight.

    None where the joint is no knee.
    """
    joint = body.joints[column]
    low = -MAX_ANGLE
    high = MAX_ANGLE
    if joint.lower <= joint.upper:
        low = max(joint.lower, low)
        high = min(joint.upper, high)
    values = np.linspace(low, high, SAMPLES)
    samples = np.tile(posture, (SAMPLES, 1))
    samples[:, column] = values
    hip, foot = np.moveaxis(body.forward_kinematics(samples, links=ends), 1, 0)
    lengths = np.linalg.norm(foot[:, :3] - hip[:, :3], axis=1)
    if np.ptp(lengths) < MIN_STRETCH * lengths.max():
        return None
    return float(values[lengths.argmax()])
