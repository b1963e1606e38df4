"""Our MJCF of each mechanism holds its loop in a MuJoCo simulation, and MuJoCo's joints are where ours are for the same driver."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from closed_loops_samples import samples

SAMPLES = {sample.name: sample for sample in samples()}
SECONDS = 3.0
STIFFNESS, DAMPING = 60.0, 0.5
"""Of the hand that turns the driver, [Nm/rad] and [Nms/rad]."""


def driven(model, data, mujoco, sample, path) -> np.ndarray:
    """Joint values (N, J), every hundredth of a second, while a torque turns the driver along a path of as many values as steps."""
    columns = [
        link.name for link in (sample.body.links[i] for i in sample.body.joint_links)
    ]
    places = [model.joint(name).qposadr[0] for name in columns]
    speed = model.joint(sample.driver).dofadr[0]
    data.qpos[places] = sample.start
    every = round(0.01 / model.opt.timestep)
    rows = []
    for step, wanted in enumerate(path):
        now = data.qpos[places[sample.column]]
        data.qfrc_applied[speed] = (
            STIFFNESS * (wanted - now) - DAMPING * data.qvel[speed]
        )
        mujoco.mj_step(model, data)
        if step % every == 0:
            rows.append(data.qpos[places].copy())
    return np.array(rows)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_loop_holds_over_a_turn(name, tmp_path) -> None:
    mujoco = pytest.importorskip("mujoco")
    sample = SAMPLES[name]
    bm.save(sample.body, tmp_path / "loop.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "loop.xml"))
    data = mujoco.MjData(model)
    steps = round(SECONDS / model.opt.timestep)
    eased = 0.5 * (1 - np.cos(np.linspace(0, np.pi, steps)))
    q = driven(model, data, mujoco, sample, sample.path[0] + eased * 2 * np.pi)
    assert q[-1, sample.column] - q[0, sample.column] > 6.0
    apart, tilted = bm.model.loop_errors(sample.body, sample.body.forward_kinematics(q))
    assert apart.max() < 1e-3
    assert tilted.max() < 1e-2
    closed = bm.model.close_loops(
        sample.body, q, driving=[sample.driver], start=sample.start
    )
    assert np.abs(closed.q - q).max() < 0.02
