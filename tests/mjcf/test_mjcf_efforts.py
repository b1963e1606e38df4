"""The effort ranges of joints are the forces that actuators give them in MuJoCo at most."""

from __future__ import annotations

import pytest

pytest.importorskip("mujoco")

import mujoco
import numpy as np

import bodymotion as bm
from bodymotion.model.links import effort_range

HUGE = 1e6
RANGES = [None, (-1.0, 1.0), (-3.0, 5.0), (-90.0, 70.0), (-200.0, 200.0)]


def largest_forces(model: mujoco.MjModel) -> list[tuple[float, float]]:
    """Return the force at each joint with a huge negative and positive control."""
    data = mujoco.MjData(model)
    forces = []
    for control in (-HUGE, HUGE):
        data.ctrl[:] = control * np.sign(model.actuator_gear[:, 0])
        mujoco.mj_forward(model, data)
        forces.append(data.qfrc_actuator.copy())
    return [(float(low), float(high)) for low, high in np.transpose(forces)]


def model_of(generator: np.random.Generator, *, autolimits: bool) -> str:
    """Return a model with a motor or two on each of many joints."""
    # Without autolimits MuJoCo refuses a range that does not say whether it applies.
    flags = ["", "true", "false"] if autolimits else ["true", "false"]
    bodies, motors = [], []
    for k in range(60):
        limits = RANGES[generator.integers(len(RANGES))]
        frc = "" if limits is None else f'actuatorfrcrange="{limits[0]} {limits[1]}"'
        if limits is not None:
            frc += ' actuatorfrclimited="true"'
        bodies.append(
            f'<body pos="{k} 0 0"><joint name="j{k}" {frc}/><geom size="0.1"/></body>'
        )
        for _ in range(1 + int(generator.random() < 0.3)):
            attributes = f'joint="j{k}" gear="{generator.choice([1, 7, -20])}"'
            for kind in ("force", "ctrl"):
                limits = RANGES[generator.integers(len(RANGES))]
                flag = flags[generator.integers(len(flags))]
                if limits is not None:
                    attributes += f' {kind}range="{limits[0]} {limits[1]}"'
                    attributes += f' {kind}limited="{flag}"' if flag else ""
            motors.append(f"<motor {attributes}/>")
    option = "true" if autolimits else "false"
    return (
        f'<mujoco><compiler autolimits="{option}"/><option><flag clampctrl="disable"/>'
        f"</option><worldbody>{''.join(bodies)}</worldbody>"
        f"<actuator>{''.join(motors)}</actuator></mujoco>"
    )


@pytest.mark.parametrize("autolimits", [True, False])
def test_effort_ranges_are_the_clamped_forces_of_mujoco(tmp_path, autolimits):
    """A range of the control counts only where nothing limits the force."""
    generator = np.random.default_rng(31)
    text = model_of(generator, autolimits=autolimits)
    path = tmp_path / "model.xml"
    path.write_text(text)
    body = bm.load_body(path)
    free = largest_forces(mujoco.MjModel.from_xml_string(text))
    clamped = largest_forces(
        mujoco.MjModel.from_xml_string(text.replace('clampctrl="disable"', ""))
    )
    kinds = set()
    for joint, force, of_control in zip(body.joints, free, clamped, strict=True):
        limits = effort_range(joint)
        if max(np.abs(force)) < HUGE / 2:
            kinds.add("force")
            assert limits == pytest.approx(force)
        elif max(np.abs(of_control)) < HUGE / 2:
            kinds.add("control")
            assert limits == pytest.approx(of_control)
    assert kinds == {"force", "control"}


def test_a_control_of_one_does_not_limit_a_joint_with_a_stated_force(tmp_path):
    """As in models of G1: motors from −1 to 1, and joints with the forces of the robot."""
    path = tmp_path / "model.xml"
    path.write_text(
        '<mujoco><default><motor ctrlrange="-1 1" ctrllimited="true"/></default>'
        '<worldbody><body><joint name="hip" actuatorfrcrange="-88 88"/>'
        '<geom size="0.1"/></body></worldbody>'
        '<actuator><motor joint="hip"/></actuator></mujoco>'
    )
    (joint,) = bm.load_body(path).joints
    assert effort_range(joint) == (-88.0, 88.0)
