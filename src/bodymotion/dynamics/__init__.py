"""A motion measured: how fast, how hard, in balance or not, and what its sensors would read. See docs/dynamics.md.

>>> import bodymotion as bm
>>> body = bm.load("biped.wrl")                    # doctest: +SKIP
>>> motion = bm.load("biped_walk.seq")             # doctest: +SKIP
>>> measures = bm.dynamics.measure(body, motion)   # doctest: +SKIP
>>> measures.torques                               # doctest: +SKIP

Arrays go in, arrays come out, all frames at once. Whatever has a direction is along the world's axes unless its name or docstring says so.
"""

from __future__ import annotations

from bodymotion.dynamics.derivatives import Derivative, derivatives, pose_derivatives
from bodymotion.dynamics.forces import InverseDynamics, inverse_dynamics, mass_matrix
from bodymotion.dynamics.kinematics import jacobian, jacobians, link_accelerations, link_velocities, point_velocities
from bodymotion.dynamics.momenta import Momentum, momentum, potential_energy, rotor_energy

__all__ = [
    "Derivative",
    "InverseDynamics",
    "Momentum",
    "derivatives",
    "inverse_dynamics",
    "jacobian",
    "jacobians",
    "link_accelerations",
    "link_velocities",
    "mass_matrix",
    "momentum",
    "point_velocities",
    "pose_derivatives",
    "potential_energy",
    "rotor_energy",
]
