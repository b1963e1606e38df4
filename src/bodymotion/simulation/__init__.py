"""Simulate bodies that follow motions, with MuJoCo (extra `sim`). See docs/simulation.md.

`plan` has what the joints are to do, `world` makes the model, `stepping` takes the steps, `recording` makes a `result` of them.

>>> import bodymotion as bm
>>> body, motion = bm.load_body("biped.wrl"), bm.load_motion("biped_walk.seq")   # doctest: +SKIP
>>> result = bm.simulate(body, motion)                                          # doctest: +SKIP
>>> result.fall, result.root_error                                              # doctest: +SKIP
"""

from __future__ import annotations

from bodymotion.simulation.controllers import Controller, ControllerError, RobotState
from bodymotion.simulation.project import Project, load_project
from bodymotion.simulation.result import Simulation
from bodymotion.simulation.simulating import simulate, simulate_many
from bodymotion.simulation.stepping import Push
from bodymotion.simulation.world import MujocoModel, to_mujoco

__all__ = [
    "Controller",
    "ControllerError",
    "MujocoModel",
    "Project",
    "Push",
    "RobotState",
    "Simulation",
    "load_project",
    "simulate",
    "simulate_many",
    "to_mujoco",
]
