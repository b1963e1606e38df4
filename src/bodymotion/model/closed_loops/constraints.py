"""The directions in which an extra joint holds two points together; see the table in `bodymotion.model.closed_loops`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.model.body import ExtraJoint

__all__ = ["held_directions", "held_tilts", "unit_axis"]


def unit_axis(joint: ExtraJoint) -> Floats:
    """Return the axis (3,) as a unit vector; x, the document's default, where it has no length."""
    length = float(np.linalg.norm(joint.axis))
    return np.array(joint.axis / length) if length > 0 and np.isfinite(length) else np.array([1.0, 0.0, 0.0])


def held_directions(joint: ExtraJoint) -> Floats:
    """Return the unit vectors (1 to 3, 3), in the first link's frame, along which the two points stay together."""
    if joint.type in ("xyz", "ball", "hinge"):
        return np.eye(3)
    return _normals(unit_axis(joint)) if joint.type in ("xy", "piston") else unit_axis(joint)[None]


def held_tilts(joint: ExtraJoint) -> Floats:
    """Return the unit vectors (0 or 2, 3), in the first link's frame, to which the second link's axis stays normal."""
    return _normals(unit_axis(joint)) if joint.type == "hinge" else np.zeros((0, 3))


def _normals(axis: Floats) -> Floats:
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])
