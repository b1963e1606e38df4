"""Extra joints: whether they tie two links, and whether the loop is closed at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.sheet import Sheet

__all__ = ["check_loops"]

OPEN = 1e-3
"""[m] Points that are further apart are told; of a robot larger than a metre, by that part of its size."""
TILTED = 1e-2
"""[rad] Axes of a hinge that are further apart are told."""


def check_loops(sheet: Sheet) -> None:
    """Check each extra joint."""
    links = sheet.body.links
    tying = []
    for number, joint in enumerate(sheet.body.extra_joints):
        a, b = joint.links
        if not (0 <= a < len(links) and 0 <= b < len(links)):
            sheet.of_extra_joint(rules.LOOP_LINK, number, f"ties the links {a} and {b}; there are {len(links)}")
        elif a == b:
            sheet.of_extra_joint(rules.LOOP_LINK, number, f"ties link {links[a].name!r} to itself")
        else:
            tying.append(number)
        length = float(np.linalg.norm(joint.axis))
        if joint.type not in ("xyz", "ball") and np.isfinite(length) and abs(length - 1) > 1e-6:
            sheet.of_extra_joint(rules.LOOP_AXIS, number, f"has an axis of length {length:.6g}")
    if not tying:
        return
    # Loads the compiled kernels, which bodies without loops need not wait for.
    from bodymotion.model.closed_loops.errors import loop_errors

    tied = replace(sheet.body, extra_joints=tuple(sheet.body.extra_joints[number] for number in tying))
    for number, apart, tilt in zip(tying, *loop_errors(tied, sheet.at_rest), strict=True):
        joint = sheet.body.extra_joints[number]
        first, second = (links[index].name for index in joint.links)
        between = f"({joint.type}) between {first!r} and {second!r} is open by"
        if OPEN * max(1.0, sheet.diagonal) < apart < np.inf:
            sheet.of_extra_joint(rules.LOOP_OPEN, number, f"{between} {apart:.3g} m with all joints at 0")
        elif tilt > TILTED:
            sheet.of_extra_joint(rules.LOOP_OPEN, number, f"{between} {np.degrees(tilt):.3g}° with all joints at 0")
