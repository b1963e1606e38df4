"""The law of `balance`: no result is worse than its input. Measured by other means than those that decide in `balance`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import bodymotion as bm
from bodymotion.dynamics import Measures, foot_slips, measure
from bodymotion.model.links import effort_range, velocity_range

SAFE_MARGIN = 0.01  # [m]
ENOUGH = 0.06  # [m] A margin as large as it is planned, less 10 mm, need not grow.
LENGTH = 0.2  # A result is longer or shorter by this share at most.
MILLIMETRE = 1e-3
SHARE = 0.021  # Of a limit of speed or torque.
FALL = 0.11  # [s]
PHYSICS = ("MOT311", "MOT312", "MOT313", "MOT321", "MOT341")
"""Rules of `check` about slip, depth, forces in the air, balance and collisions."""
LIMIT_SHARE = 0.15  # Of the limit of such a rule.
JUMPS = ("MOT301", "MOT302", "MOT303", "MOT304", "MOT305")


@dataclass(frozen=True)
class Figures:
    """What the law compares; of all but `safe`, `margin` and `fall` more is worse."""

    seconds: float
    safe: float
    margin: float
    slip: float
    depth: float
    position: float
    speed: float
    effort: float
    jumps: int
    fall: float
    found: dict[str, float]


def grounds(before: Measures, ground: float | None) -> list[float | None]:
    """Return the heights of the ground on which a result is compared with its input.

    None is each motion's own ground, which follows the feet of an input without root poses.
    """
    if ground is not None:
        return [ground]
    level = float(np.median(before.ground))
    follows_feet = bool(np.ptp(before.ground))
    return [level, None] if follows_feet else [level]


def figures(
    body: bm.Body,
    motion: bm.Motion,
    feet: tuple[int, ...],
    ground: float | None,
    *,
    simulated: bool = False,
) -> Figures:
    """Measure a motion with given feet on given ground."""
    found = measure(body, motion, feet=feet, ground=ground)
    margins = found.stability_margin
    known = margins[np.isfinite(margins)]
    return Figures(
        seconds=float(np.ptp(found.times)),
        safe=float(np.mean(margins >= SAFE_MARGIN)),
        margin=float(known.min()) if len(known) else np.inf,
        slip=max(
            (one.way for one in foot_slips(found.contacts, found.times)), default=0
        ),
        depth=depth(body, found.link_poses, found.ground),
        position=excess(
            found.joint_displacements, [(j.lower, j.upper) for j in body.joints]
        ),
        speed=relative_excess(
            found.joint_velocities, [velocity_range(j) for j in body.joints]
        ),
        effort=relative_excess(
            found.torques, [effort_range(j) or (-np.inf, np.inf) for j in body.joints]
        ),
        jumps=sum(
            problem.count
            for problem in bm.check(motion, body=body, select=list(JUMPS)).problems
        ),
        fall=fall_of(body, motion) if simulated else np.inf,
        found={
            problem.rule: problem.data["amount"]
            for problem in bm.check(motion, body=body, select=list(PHYSICS)).problems
        },
    )


def depth(body: bm.Body, links: np.ndarray, ground: np.ndarray) -> float:
    """Return the depth of the deepest point of any link [m]."""
    deepest = 0.0
    for link in body.links:
        if len(link.contact_points):
            rotation = bm.geometry.rotations.to_matrix(links[:, link.index, 3:])
            points = np.einsum("tij,pj->tpi", rotation, link.contact_points)
            heights = points[..., 2] + links[:, link.index, None, 2]
            deepest = max(deepest, float((ground - heights.min(axis=1)).max()))
    return deepest


def excess(values: np.ndarray, limits: list[tuple[float, float]]) -> float:
    """Return how far values (T, J) are beyond limits with a range."""
    beyond = [
        np.max(np.maximum(low - column, column - high))
        for column, (low, high) in zip(values.T, limits, strict=True)
        if low <= high
    ]
    return max(0.0, *beyond) if beyond else 0.0


def relative_excess(values: np.ndarray, limits: list[tuple[float, float]]) -> float:
    """Return by which share values (T, J) are beyond limits on both sides of 0."""
    beyond = [
        max(np.nanmax(column) / high, np.nanmin(column) / low) - 1.0
        for column, (low, high) in zip(values.T, limits, strict=True)
        if low < 0 < high and np.isfinite(column).any()
    ]
    return max(0.0, *beyond) if beyond else 0.0


def fall_of(body: bm.Body, motion: bm.Motion) -> float:
    """Return when a body falls in a simulation [s], infinite for never."""
    fall = bm.simulate(body, motion, sensors=False, until_fall=True).fall
    return np.inf if fall is None else fall


def broken(before: Figures, after: Figures) -> list[str]:
    """Return the names of the figures in which a result is worse."""
    worse = {
        "seconds": abs(after.seconds / before.seconds - 1.0) > LENGTH + 1e-6,
        "safe": after.safe < before.safe - 1e-9,
        "margin": after.margin < min(before.margin, ENOUGH) - MILLIMETRE,
        "slip": after.slip > before.slip + MILLIMETRE,
        "depth": after.depth > before.depth + MILLIMETRE,
        "position": after.position > before.position + 1e-5,
        "speed": after.speed > before.speed + SHARE,
        "effort": after.effort > before.effort + SHARE,
        "jumps": after.jumps > before.jumps,
        "fall": after.fall < before.fall - FALL,
    }
    for rule, amount in after.found.items():
        worse[rule] = amount > max(before.found.get(rule, 1.0), 1.0) + LIMIT_SHARE
    return [name for name, is_worse in worse.items() if is_worse]
