"""Whether feet stand on the floor, whose height is known by the motion's own zero moment point, or else by the model's root pose."""

from __future__ import annotations

import numpy as np

from bodymotion.checks.physics import rules
from bodymotion.checks.physics.moments import Finding, Where
from bodymotion.checks.physics.samples import NEAR, Standing
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Vector3Seq
from bodymotion.motion.interpolation import sampled

__all__ = ["off_the_floor"]

FLAT = 1e-3
"""[m] A zero moment point whose height changes by no more lies on a floor at that height."""


def off_the_floor(
    standing: Standing, body: Body, root: Floats, times: Floats, zmp: Vector3Seq | None, where: Where
) -> list[Finding]:
    """Report how far the ground under the feet, in a motion of root poses (T, 7), is off the floor, where the floor is known."""
    if not standing.level:
        return []
    if zmp is not None:
        heights = _heights(zmp, root, times)
        if not heights.size or np.ptp(heights) > FLAT:
            return []
        # It is zero but for the digits of a file.
        floor = round(float(np.median(heights)), 3) + 0.0
        says = "the motion's own zero moment point lies there"
    elif _stands_at_zero(standing, body):
        floor, says = 0.0, "with the root where the model has it they stand there"
    else:
        return []
    if abs(standing.ground - floor) <= NEAR:
        return []
    side = "below" if standing.ground < floor else "above"
    message = f"the feet stand {abs(standing.ground - floor):.3f} m {side} z = {floor:g}; {says}"
    return [Finding(rules.OFF_THE_FLOOR.problem(message, where(0)))]


def _heights(zmp: Vector3Seq, root: Floats, times: Floats) -> Floats:
    """Return the height [m] of the point in each frame in which it is known."""
    points = np.asarray(sampled(zmp.values, zmp.timeline.times, times))
    if zmp.is_root_relative:
        points = poses.transform_points(root, points)
    return np.asarray(points[np.isfinite(points[:, 2]), 2])


def _stands_at_zero(standing: Standing, body: Body) -> bool:
    """Return whether the model, as it is in its file, stands on a floor at z = 0."""
    from bodymotion.kernels.feet import lowest

    feet = standing.feet
    placed = body.forward_kinematics(np.zeros((1, body.num_joints)), body.root_pose[None])
    bottom = lowest(placed[:, list(feet.links)], feet.points, feet.edges, 0.0)[..., 0]
    return abs(float(bottom.min())) <= NEAR
