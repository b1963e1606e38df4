"""Elements that several others hold: <origin>, in both directions; and numbers that must be finite."""

from __future__ import annotations

import math

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.formats.xml.tree import Element, number_text, to_xml
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats

MAX_ANGLE = 2.0 * math.pi + 0.01
"""[rad] No angle of rpy needs to be larger than a full turn."""


def finite_numbers(
    element: Element, names: str | tuple[str, ...], count: int | tuple[int, ...], default: tuple[float, ...] | None
) -> tuple[float, ...]:
    """Return the numbers of an attribute, or one of each of several attributes; 0 for those that are infinite, which is reported."""
    if isinstance(names, str):
        values = element.numbers(names, count, default)
    else:
        values = tuple(element.number(name, None if default is None else default[0]) for name in names)
    if not any(map(math.isinf, values)):
        return values
    element.report(rules.NOT_FINITE, f"<{element.name}> has an infinite number; 0 is read instead")
    element.faulty |= {names} if isinstance(names, str) else set(names)
    return tuple(0.0 if math.isinf(value) else value for value in values)


def read_origin(parent: Element) -> Floats:
    """Return the pose (7,) of the <origin> in an element; without one it is the identity."""
    origin = parent.first("origin")
    if origin is None:
        return poses.IDENTITY
    xyz = finite_numbers(origin, "xyz", 3, (0.0, 0.0, 0.0))
    rpy = finite_numbers(origin, "rpy", 3, (0.0, 0.0, 0.0))
    largest = max(map(abs, rpy))
    if largest > MAX_ANGLE:
        shown = " ".join(f"{value:.6g}" for value in rpy)
        origin.report(rules.RADIANS, f"rpy is {shown}: {largest / (2 * math.pi):.3g} full turns", "rpy")
        origin.faulty |= {"rpy"}
    return poses.from_parts(xyz, rotations.from_rpy(rpy))


def roll_pitch_yaw(quaternion: Floats) -> Floats:
    """Return roll, pitch and yaw (3,) [rad] of a quaternion; 0.0 instead of -0.0."""
    return np.asarray(rotations.to_rpy(quaternion) + 0.0)


def origin_element(pose: Floats) -> Element | None:
    """Return the <origin> of a pose, given as (7,) or as a rigid matrix (4, 4); None for the identity."""
    if pose.shape == (4, 4):
        position, rpy = pose[:3, 3], rotations.matrix_to_rpy(pose[:3, :3]) + 0.0
    else:
        position, rpy = pose[:3], roll_pitch_yaw(pose[3:])
    if not position.any() and not rpy.any():
        return None
    return Element("origin", {"xyz": number_text(position), "rpy": number_text(rpy)})


def one_line(element: Element) -> str:
    """Return an element as XML without line breaks between elements, as it is kept in `extra`."""
    return "".join(line.strip() for line in to_xml(element).decode().splitlines()[1:])
