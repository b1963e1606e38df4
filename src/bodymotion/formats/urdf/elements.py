"""The small parts of a URDF file: origins, and numbers that must be finite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.formats.xml.tree import Element, number_text, to_xml
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["finite", "one_line", "origin_element", "read_origin", "rpy_of"]

TURN = 2.0 * math.pi + 0.01
"""[rad] No angle of rpy needs to be more than a full turn."""


def finite(values: tuple[float, ...], element: Element, problems: list[Problem]) -> tuple[float, ...]:
    """Return numbers with 0 for those that are infinite, which is noted."""
    if all(map(np.isfinite, values)):
        return values
    problems.append(rules.NOT_FINITE.problem(f"<{element.name}> has a number that is not finite", element.location))
    return tuple(value if np.isfinite(value) else 0.0 for value in values)


def read_origin(above: Element, problems: list[Problem]) -> Floats:
    """Return the pose (7,) of the <origin> in an element; without one it is the identity.

    Raises
    ------
    FormatError
        When xyz or rpy are not three numbers.
    """
    origin = above.first("origin")
    if origin is None:
        return poses.IDENTITY
    xyz = finite(origin.numbers("xyz", 3, (0.0, 0.0, 0.0)), origin, problems)
    rpy = finite(origin.numbers("rpy", 3, (0.0, 0.0, 0.0)), origin, problems)
    largest = max(map(abs, rpy))
    if largest > TURN:
        shown = " ".join(f"{value:.6g}" for value in rpy)
        words = f"rpy is {shown}: {largest / (2 * math.pi):.3g} full turns"
        problems.append(rules.RADIANS.problem(words, origin.place("rpy")))
    return poses.from_parts(xyz, rotations.from_rpy(rpy))


def rpy_of(quaternion: Floats) -> Floats:
    """Return roll, pitch and yaw (3,) of a quaternion, zeros where it does not turn."""
    rpy = rotations.to_rpy(quaternion)
    return np.asarray(rpy + 0.0)


def origin_element(pose: Floats) -> Element | None:
    """Return the <origin> of a pose, as (7,) or as a rigid matrix (4, 4); None for the identity."""
    if pose.shape == (4, 4):
        position, rpy = pose[:3, 3], rotations.matrix_to_rpy(pose[:3, :3]) + 0.0
    else:
        position, rpy = pose[:3], rpy_of(pose[3:])
    if not position.any() and not rpy.any():
        return None
    return Element("origin", {"xyz": number_text(position), "rpy": number_text(rpy)})


def one_line(element: Element) -> str:
    """Return an element as XML without line breaks between elements, as it is kept of what means nothing here."""
    return "".join(line.strip() for line in to_xml(element).decode().splitlines()[1:])
