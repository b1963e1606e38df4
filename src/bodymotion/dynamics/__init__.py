"""Measures of a motion: velocities, forces, balance, contacts, and the readings of its sensors. See docs/dynamics.md.

>>> import bodymotion as bm
>>> body = bm.load_body("biped.wrl")               # doctest: +SKIP
>>> motion = bm.load_motion("biped_walk.seq")      # doctest: +SKIP
>>> measures = bm.dynamics.measure(body, motion)   # doctest: +SKIP
>>> measures.torques                               # doctest: +SKIP

Functions take arrays and return arrays, all frames at once. Vectors are along the world's axes unless a docstring states otherwise.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from bodymotion.dynamics.cameras import CameraFrame, CameraFrames, camera_frames
from bodymotion.dynamics.contacts import (
    Contacts,
    FootSlip,
    Soles,
    SupportPolygons,
    Thresholds,
    contact_points,
    detect_contacts,
    find_feet,
    foot_slips,
    ground_height,
    root_on_feet,
    soles,
    support_polygons,
)
from bodymotion.dynamics.derivatives import Derivative, derivatives, pose_derivatives
from bodymotion.dynamics.figures import Extreme, Figure, extremes, figures
from bodymotion.dynamics.forces import (
    InverseDynamics,
    Momentum,
    contact_wrenches,
    inverse_dynamics,
    load_shares,
    mass_matrix,
    momentum,
    potential_energy,
    rotor_energy,
    zero_moment_point,
)
from bodymotion.dynamics.kinematics import (
    GRAVITY,
    jacobian,
    jacobians,
    link_accelerations,
    link_velocities,
    point_velocities,
    rotor_inertias,
)
from bodymotion.dynamics.measures import Measures
from bodymotion.dynamics.measuring import measure
from bodymotion.dynamics.quantities import QUANTITIES, Quantity, Series, measurable, series
from bodymotion.dynamics.sensors import Reading, Scenery, ray_directions, read_sensor, scan_times

_RENAMED = {
    "Picture": "CameraFrame",
    "Pictures": "CameraFrames",
    "Slide": "FootSlip",
    "shares": "load_shares",
    "slides": "foot_slips",
    "take_pictures": "camera_frames",
}
"""Old names, kept for one version."""

__all__ = [
    "GRAVITY",
    "QUANTITIES",
    "CameraFrame",
    "CameraFrames",
    "Contacts",
    "Derivative",
    "Extreme",
    "Figure",
    "FootSlip",
    "InverseDynamics",
    "Measures",
    "Momentum",
    "Quantity",
    "Reading",
    "Scenery",
    "Series",
    "Soles",
    "SupportPolygons",
    "Thresholds",
    "camera_frames",
    "contact_points",
    "contact_wrenches",
    "derivatives",
    "detect_contacts",
    "extremes",
    "figures",
    "find_feet",
    "foot_slips",
    "ground_height",
    "inverse_dynamics",
    "jacobian",
    "jacobians",
    "link_accelerations",
    "link_velocities",
    "load_shares",
    "mass_matrix",
    "measurable",
    "measure",
    "momentum",
    "point_velocities",
    "pose_derivatives",
    "potential_energy",
    "ray_directions",
    "read_sensor",
    "root_on_feet",
    "rotor_energy",
    "rotor_inertias",
    "scan_times",
    "series",
    "soles",
    "support_polygons",
    "zero_moment_point",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _RENAMED:
        raise AttributeError(f"module 'bodymotion.dynamics' has no attribute {name!r}")
    new = _RENAMED[name]
    warnings.warn(f"bodymotion.dynamics.{name} is now bodymotion.dynamics.{new}", DeprecationWarning, stacklevel=2)
    return getattr(sys.modules[__name__], new)
