"""The Segment node: mass, centre of mass and inertia of a rigid part of a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.faults import fault
from bodymotion.formats.openhrp import values
from bodymotion.formats.openhrp.rules import ASYMMETRIC, INERTIA_SIZE, MASS, NOT_FINITE, SEGMENT_SCALED
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.scene import IDENTITY
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.geometry.shapes import Shape

__all__ = ["is_rigid", "read_segment"]

USED = {"mass", "centerOfMass", "momentsOfInertia", "children"}


def read_segment(
    node: Node,
    transform: Floats,
    visuals: tuple[Shape, ...],
    collisions: tuple[Shape, ...],
    problems: list[Problem],
) -> Segment:
    """Make a segment of a Segment node at `transform` (4, 4) in its link, with shapes in its own frame.

    Raises
    ------
    FormatError
        When momentsOfInertia has some, but fewer than nine numbers.
    """
    mass = values.finite(node, "mass", (0.0,), problems)[0]
    if mass < 0:
        problems.append(
            MASS.problem(f"mass of {values.label(node)} is {mass:g}, not a number from 0 on", node.location_of("mass"))
        )
    if not is_rigid(transform):
        problems.append(
            SEGMENT_SCALED.problem(f"{values.label(node)} stands under a Transform with a scale", node.location)
        )
    return Segment(
        name=node.name,
        transform=transform,
        mass=mass,
        center_of_mass=frozen(values.finite(node, "centerOfMass", (0.0, 0.0, 0.0), problems)),
        inertia=_inertia(node, problems),
        visuals=visuals,
        collisions=collisions,
        extra=values.rest(node, USED),
    )


def is_rigid(transform: Floats) -> bool:
    """Whether a transform (4, 4) turns and moves without stretching or mirroring."""
    return transform is IDENTITY or poses.is_rigid(transform)


def _inertia(node: Node, problems: list[Problem]) -> Floats:
    numbers = access.numbers(node, "momentsOfInertia")
    if "momentsOfInertia" not in node.fields and not len(numbers):
        return frozen(np.zeros((3, 3)))
    if len(numbers) != 9:
        problem = INERTIA_SIZE.problem(
            f"momentsOfInertia of {values.label(node)} has {len(numbers)} numbers instead of 9",
            node.location_of("momentsOfInertia"),
        )
        if len(numbers) < 9:
            fault(problems, INERTIA_SIZE.error(problem.message, node.location_of("momentsOfInertia")))
            # Any inertia serves to look at the rest of the model.
            return frozen(np.eye(3))
        problems.append(problem)
    inertia = numbers[:9].reshape(3, 3)
    if not np.isfinite(inertia).all():
        problems.append(
            NOT_FINITE.problem(
                f"momentsOfInertia of {values.label(node)} is not finite", node.location_of("momentsOfInertia")
            )
        )
        return frozen(np.zeros((3, 3)))
    if np.abs(inertia - inertia.T).max() > 1e-6 * np.abs(inertia).max():
        problems.append(
            ASYMMETRIC.problem(
                f"momentsOfInertia of {values.label(node)} is not symmetric", node.location_of("momentsOfInertia")
            )
        )
    return frozen(inertia)
