"""Spot as a Body: links, joints and limits after the public dimensions, masses with the public total, and shapes of our own.

The mass distribution is not public. Here every link is a solid block of the size of its shape, so that its inertia is physically possible.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link, Segment
from bodymotion.spot.playback import appearance
from bodymotion.spot.playback.dimensions import (
    ARM_JOINTS,
    ARM_LIMITS,
    FOOT_RADIUS,
    FOREARM,
    GRIPPER_LIMITS,
    HAND,
    HIP_WIDTH,
    HIPS,
    JOINT_NAMES,
    KNEE,
    LEG_LIMITS,
    LEGS,
    MASS,
    MASS_WITH_ARM,
    NOMINAL_HEIGHT,
    SHIN,
    SHOULDER,
    SIDES,
    UPPER_ARM,
)

__all__ = ["GRIPPER", "spot_body"]

X, Y, Z = np.eye(3)
LEG_MASSES = (1.2, 2.2, 0.35)
"""[kg] of hip, upper and lower leg; the foot is part of the lower leg."""
ARM_MASSES = (2.0, 1.7, 0.9, 0.9, 0.9, 0.85)
GRIPPER_MASS = 0.25
GRIPPER = np.array([0.117, 0.0, 0.015])
"""[m] From joint wr1 to the axis of the gripper's jaw."""


@cache
def spot_body(*, arm: bool = True) -> Body:
    """Return Spot, with or without its arm.

    Joints are `fl_hx fl_hy fl_kn fr_hx … hr_kn`, and with the arm `sh0 sh1 el0 el1 wr0 wr1 gripper`, in that order. The links `fl_foot` …
    `hr_foot` have their frames in the feet's centres, `hand` has the hand's frame. The body's origin is in its middle, x forward, y to
    the left.
    """
    tree = _Tree()
    rest = MASS - 4 * sum(LEG_MASSES)
    root = tree.add(
        "body", -1, poses.IDENTITY[:3], mass=rest, size=(0.78, 0.22, 0.17), visuals=appearance.body(arm=arm)
    )
    for leg, name in enumerate(LEGS):
        side, front = float(SIDES[leg]), leg < 2
        hip = tree.add(
            f"{name}_hip",
            root,
            HIPS[leg],
            axis=X,
            limits=LEG_LIMITS[0],
            mass=LEG_MASSES[0],
            center=(0.0, 0.4 * side * HIP_WIDTH, 0.0),
            size=(0.14, 0.12, 0.11),
            visuals=appearance.hip(side, front=front),
        )
        upper = tree.add(
            f"{name}_uleg",
            hip,
            side * HIP_WIDTH * Y,
            axis=Y,
            limits=LEG_LIMITS[1],
            mass=LEG_MASSES[1],
            center=(0.0, 0.0, -0.11),
            size=(0.10, 0.07, 0.36),
            visuals=appearance.upper_leg(side),
        )
        lower = tree.add(
            f"{name}_lleg",
            upper,
            KNEE,
            axis=Y,
            limits=LEG_LIMITS[2],
            mass=LEG_MASSES[2],
            center=(0.0, 0.0, -0.16),
            size=(0.04, 0.04, 0.36),
            visuals=appearance.lower_leg(),
        )
        tree.add(f"{name}_foot", lower, -SHIN * Z, visuals=appearance.foot(FOOT_RADIUS))
    if arm:
        _add_arm(tree, root)
    total = MASS_WITH_ARM if arm else MASS
    assert abs(sum(link.mass for link in tree.links) - total) < 1e-9
    return Body(
        name="Spot with arm" if arm else "Spot",
        links=tuple(tree.links),
        root_pose=poses.from_parts([0.0, 0.0, NOMINAL_HEIGHT + FOOT_RADIUS], [1.0, 0.0, 0.0, 0.0]),
        info={"info": ["Dimensions and limits as published; masses of the links and shapes are bodymotion's own."]},
    )


def _add_arm(tree: _Tree, root: int) -> None:
    steps = (SHOULDER, np.zeros(3), UPPER_ARM * X, FOREARM, np.zeros(3), np.zeros(3))
    axes = (Z, Y, Y, X, Y, X)
    centers = (
        (0.0, 0.0, 0.0),
        (0.15, 0.0, 0.0),
        (0.15, 0.0, 0.03),
        (-0.06, 0.0, 0.0),
        (0.02, 0.0, 0.0),
        (0.1, 0.0, 0.0),
    )
    sizes = (
        (0.13, 0.13, 0.13),
        (0.36, 0.09, 0.09),
        (0.36, 0.08, 0.08),
        (0.14, 0.07, 0.07),
        (0.08, 0.07, 0.07),
        (0.16, 0.09, 0.06),
    )
    parent = root
    for k, name in enumerate(ARM_JOINTS):
        parent = tree.add(
            f"arm_{name}",
            parent,
            steps[k],
            axis=axes[k],
            limits=ARM_LIMITS[k],
            joint=name,
            mass=ARM_MASSES[k],
            center=centers[k],
            size=sizes[k],
            visuals=appearance.arm(name),
        )
    tree.add("hand", parent, HAND * X)
    tree.add(
        "gripper",
        parent,
        GRIPPER,
        axis=Y,
        limits=GRIPPER_LIMITS,
        joint="gripper",
        mass=GRIPPER_MASS,
        center=(0.05, 0.0, 0.01),
        size=(0.12, 0.08, 0.03),
        visuals=appearance.jaw(),
    )


class _Tree:
    """The links that were added so far, depth first."""

    def __init__(self) -> None:
        self.links: list[Link] = []

    def add(
        self,
        name: str,
        parent: int,
        step: Floats,
        *,
        axis: Floats | None = None,
        limits: Floats | None = None,
        joint: str = "",
        mass: float = 0.0,
        center: npt.ArrayLike = (0.0, 0.0, 0.0),
        size: tuple[float, float, float] = (0.0, 0.0, 0.0),
        visuals: tuple[Shape, ...] = (),
    ) -> int:
        """Add a link at `step` (3,) from its parent, with the inertia of a block of `size` around `center`; return its index."""
        index = len(self.links)
        joint = joint or {"hip": "_hx", "uleg": "_hy", "lleg": "_kn"}.get(name[3:], "").join((name[:2], ""))
        square = np.square(size)
        segments: tuple[Segment, ...] = ()
        if mass or visuals:
            inertia = np.diag(mass / 12 * (square.sum() - square))
            segments = (
                Segment(
                    name=name,
                    mass=mass,
                    center_of_mass=np.asarray(center),
                    inertia=inertia,
                    visuals=visuals,
                    collisions=visuals,
                ),
            )
        kind = Joint(name=name, type="free" if parent < 0 else "fixed")
        if axis is not None and limits is not None:
            lower, upper = map(float, limits)
            kind = Joint(name=joint, type="rotate", id=JOINT_NAMES.index(joint), axis=axis, lower=lower, upper=upper)
        offset = poses.from_parts(step, [1.0, 0.0, 0.0, 0.0])
        self.links.append(Link(name=name, index=index, parent=parent, joint=kind, offset=offset, segments=segments))
        return index
