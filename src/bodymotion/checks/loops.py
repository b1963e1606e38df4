"""Extra joints: whether they tie two links, and whether the loop is closed at rest."""

from __future__ import annotations

import numpy as np

from bodymotion import poses, rotations
from bodymotion.arrays import Floats
from bodymotion.body import ExtraJoint
from bodymotion.checks import rules
from bodymotion.checks.sheet import Sheet

__all__ = ["check_loops"]

OPEN = 1e-3
"""[m] Points that are further apart are told; beyond a metre of robot, by that part of its size."""


def check_loops(sheet: Sheet) -> None:
    """Check each extra joint."""
    count = len(sheet.body.links)
    for number, joint in enumerate(sheet.body.extra_joints):
        a, b = joint.links
        if not (0 <= a < count and 0 <= b < count):
            sheet.of_extra_joint(rules.LOOP_LINK, number, f"ties the links {a} and {b}; there are {count}")
            continue
        if a == b:
            said = f"ties link {sheet.body.links[a].name!r} to itself"
            sheet.of_extra_joint(rules.LOOP_LINK, number, said)
            continue
        length = float(np.linalg.norm(joint.axis))
        gap = residual(joint, sheet.at_rest[a], sheet.at_rest[b])
        if joint.type not in ("xyz", "ball") and np.isfinite(length) and abs(length - 1) > 1e-6:
            sheet.of_extra_joint(rules.LOOP_AXIS, number, f"has an axis of length {length:.6g}")
        if np.isfinite(gap) and gap > OPEN * max(1.0, sheet.diagonal):
            first, second = (sheet.body.links[index].name for index in joint.links)
            said = f"({joint.type}) between {first!r} and {second!r} is open by {gap:.3g} m with all joints at 0"
            sheet.of_extra_joint(rules.LOOP_OPEN, number, said)


def residual(joint: ExtraJoint, first: Floats, second: Floats) -> float:
    """Give how far [m] the points of an extra joint are apart in the directions that it ties, for two link poses (7,).

    "xyz", "ball" and "hinge" tie all three directions, "z" that of the axis, "xy" and "piston" the two across it.
    """
    here = poses.transform_points(first, joint.positions[0])
    there = poses.transform_points(second, joint.positions[1])
    apart = there - here
    if joint.type in ("xyz", "ball", "hinge"):
        return float(np.linalg.norm(apart))
    axis = rotations.rotate(rotations.normalized(first[3:]), joint.axis)
    length = float(np.linalg.norm(axis)) or 1.0
    along = float(apart @ axis) / length
    if joint.type == "z":
        return abs(along)
    return float(np.linalg.norm(apart - along * axis / length))
