"""Simulate bodies that follow motions, with MuJoCo (extra `sim`). See docs/simulation.md.

`world` makes the model, `simulating` takes the steps, `result` is what comes out.

>>> import bodymotion as bm
>>> body, motion = bm.load_body("biped.wrl"), bm.load_motion("biped_walk.seq")   # doctest: +SKIP
>>> result = bm.simulate(body, motion)                                          # doctest: +SKIP
>>> result.fall, result.root_error                                              # doctest: +SKIP
"""

from __future__ import annotations

from bodymotion.simulation.many import simulate_many
from bodymotion.simulation.project import Project, load_project
from bodymotion.simulation.result import Simulation
from bodymotion.simulation.simulating import Controller, ControllerError, Push, RobotState, simulate
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
