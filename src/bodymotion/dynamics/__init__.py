"""A motion measured: how fast, how hard, in balance or not, and what its sensors would read. See docs/dynamics.md.

>>> import bodymotion as bm
>>> body = bm.load("biped.wrl")                    # doctest: +SKIP
>>> motion = bm.load("biped_walk.seq")             # doctest: +SKIP
>>> measures = bm.dynamics.measure(body, motion)   # doctest: +SKIP
>>> measures.torques                               # doctest: +SKIP

Arrays go in, arrays come out, all frames at once. Whatever has a direction is along the world's axes unless its docstring says so.
"""

from __future__ import annotations

from bodymotion.dynamics.balance import contact_wrenches, shares, zero_moment_point
from bodymotion.dynamics.contacts import (
    Contacts,
    Slide,
    SupportPolygons,
    Thresholds,
    detect_contacts,
    ground_height,
    slides,
    support_polygons,
)
from bodymotion.dynamics.derivatives import Derivative, derivatives, pose_derivatives
from bodymotion.dynamics.feet import Soles, contact_points, find_feet, soles
from bodymotion.dynamics.figures import Extreme, Figure, extremes, figures
from bodymotion.dynamics.forces import InverseDynamics, inverse_dynamics, mass_matrix
from bodymotion.dynamics.kinematics import jacobian, jacobians, link_accelerations, link_velocities, point_velocities
from bodymotion.dynamics.measures import Measures
from bodymotion.dynamics.measuring import measure
from bodymotion.dynamics.momenta import Momentum, momentum, potential_energy, rotor_energy
from bodymotion.dynamics.pictures import Picture, Pictures, take_pictures
from bodymotion.dynamics.quantities import QUANTITIES, Quantity, Series, measurable, series
from bodymotion.dynamics.ranging import Scenery, ray_directions, scan_times
from bodymotion.dynamics.rows import GRAVITY, rotor_inertias
from bodymotion.dynamics.sensors import Reading, read_sensor
from bodymotion.dynamics.standing import root_on_feet

__all__ = [
    "GRAVITY",
    "QUANTITIES",
    "Contacts",
    "Derivative",
    "Extreme",
    "Figure",
    "InverseDynamics",
    "Measures",
    "Momentum",
    "Picture",
    "Pictures",
    "Quantity",
    "Reading",
    "Scenery",
    "Series",
    "Slide",
    "Soles",
    "SupportPolygons",
    "Thresholds",
    "contact_points",
    "contact_wrenches",
    "derivatives",
    "detect_contacts",
    "extremes",
    "figures",
    "find_feet",
    "ground_height",
    "inverse_dynamics",
    "jacobian",
    "jacobians",
    "link_accelerations",
    "link_velocities",
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
    "shares",
    "slides",
    "soles",
    "support_polygons",
    "take_pictures",
    "zero_moment_point",
]
