"""What MuJoCo makes of a model, against what our reader makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from bodymotion.geometry import rotations

mujoco = pytest.importorskip("mujoco")


def check_against_mujoco(body, path, axes: bool = True) -> None:
    """Compare masses, inertias, limits, armature, axes (unless in another frame) and the places of bodies, all by names."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    bodies = [model.body(number).name for number in range(1, model.nbody)]
    for name in bodies:
        compare_masses(model, body, name)
    joints = {link.joint.name: column for column, link in columns(body)}
    for number in range(model.njnt):
        compare_joint(model, body, number, joints, axes)
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = np.zeros(body.num_joints)
        root = body.root_pose
        for number in range(model.njnt):
            place = model.jnt_qposadr[number]
            name = model.joint(number).name
            if model.jnt_type[number] in (2, 3):
                q[joints[name]] = data.qpos[place] = rng.uniform(-1.5, 1.5)
            elif model.jnt_type[number] == 1:
                angles = rng.uniform(-1, 1, 3)
                turn = rotations.IDENTITY
                for axis, angle in enumerate(angles):
                    q[joints[f"{name}_{'xyz'[axis]}"]] = angle
                    turn = rotations.multiply(
                        turn, rotations.from_axis_angle(np.eye(3)[axis], angle)
                    )
                data.qpos[place : place + 4] = turn
            elif body.links[0].joint.type == "free":
                root = np.concatenate(
                    [rng.normal(size=3), rotations.normalized(rng.normal(size=4))]
                )
                data.qpos[place : place + 7] = root
        mujoco.mj_kinematics(model, data)
        expected = body.forward_kinematics(q, root)
        for name in bodies:
            ours, theirs = expected[body.link(name).index], data.body(name)
            assert np.abs(ours[:3] - theirs.xpos).max() < 1e-9, name
            assert rotations.angle_between(ours[3:], theirs.xquat) < 1e-9, name


def columns(body):
    return [
        (column, body.links[index])
        for column, index in enumerate(body.joint_links)
        if index >= 0
    ]


def compare_masses(model, body, name: str) -> None:
    link, number = body.link(name), model.body(name).id
    assert link.mass == pytest.approx(model.body_mass[number], rel=1e-9), name
    if link.mass:
        assert np.abs(link.center_of_mass - model.body_ipos[number]).max() < 1e-9, name
        turn = rotations.to_matrix(model.body_iquat[number])
        theirs = turn @ np.diag(model.body_inertia[number]) @ turn.T
        assert np.abs(link.inertia - theirs).max() <= 1e-8 * np.abs(theirs).max(), name


def compare_joint(model, body, number: int, joints: dict[str, int], axes: bool) -> None:
    kind, name = model.jnt_type[number], model.joint(number).name
    if kind not in (2, 3):
        return
    joint = body.joints[joints[name]]
    assert joint.type == {2: "slide", 3: "rotate"}[kind]
    assert not axes or np.abs(joint.axis - model.jnt_axis[number]).max() < 1e-12
    limits = model.jnt_range[number] if model.jnt_limited[number] else [-np.inf, np.inf]
    assert [joint.lower, joint.upper] == pytest.approx(limits)
    assert joint.rotor_inertia == pytest.approx(
        model.dof_armature[model.jnt_dofadr[number]]
    )
