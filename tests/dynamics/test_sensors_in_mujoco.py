"""Accelerometers, gyros and force sensors against MuJoCo's on the same model, along a motion that is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.dynamics import Measures
from bodymotion.geometry import poses, rotations

mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco>
  <option gravity="0 0 -9.80665"/>
  <worldbody>
    <body name="BASE" pos="0 0 1">
      <freejoint/>
      <inertial pos="0.01 0.02 0.03" mass="3" fullinertia="0.05 0.06 0.04 0.002 -0.001 0.003"/>
      <site name="base_imu" pos="0.1 -0.05 0.2" euler="20 -40 70"/>
      <body name="UPPER" pos="0.1 0 0.1" euler="10 20 30">
        <joint name="SHOULDER" type="hinge" axis="0 0.6 0.8" armature="0.02"/>
        <inertial pos="0.1 0 0.02" mass="1.2" fullinertia="0.01 0.02 0.015 0.001 0.002 -0.001"/>
        <site name="upper_imu" pos="0.05 0.02 0.1" euler="-30 10 5"/>
        <site name="upper_force" pos="0 0 0" euler="40 50 60"/>
        <body name="SLIDER" pos="0.3 0.02 0" euler="0 -15 0">
          <joint name="SLIDE" type="slide" axis="1 0 0"/>
          <inertial pos="0.02 0.01 0" mass="0.7" diaginertia="0.002 0.003 0.004"/>
          <site name="slider_imu" pos="0 0.1 0.05" euler="5 80 -10"/>
          <site name="slider_force" pos="0.04 0.01 -0.02" euler="-20 30 10"/>
          <body name="HAND" pos="0.2 0 0.05">
            <joint name="WRIST" type="hinge" axis="1 0 0"/>
            <inertial pos="0.05 0 0.01" mass="0.4" diaginertia="0.001 0.0012 0.0008"/>
            <site name="hand_force" pos="0.01 0.02 0.03" euler="15 25 -35"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor>
    <accelerometer name="base_a" site="base_imu"/> <gyro name="base_w" site="base_imu"/>
    <accelerometer name="upper_a" site="upper_imu"/> <gyro name="upper_w" site="upper_imu"/>
    <accelerometer name="slider_a" site="slider_imu"/> <gyro name="slider_w" site="slider_imu"/>
    <force name="upper_f" site="upper_force"/> <torque name="upper_t" site="upper_force"/>
    <force name="slider_f" site="slider_force"/> <torque name="slider_t" site="slider_force"/>
    <force name="hand_f" site="hand_force"/> <torque name="hand_t" site="hand_force"/>
  </sensor>
</mujoco>
"""


def waves(rng, count: int, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values (T, N) that go to and fro, and their first and second derivatives."""
    size, pace, phase = (
        rng.uniform(0.1, 0.6, count),
        rng.uniform(1, 6, count),
        rng.uniform(0, 6, count),
    )
    angle = pace * t[:, None] + phase
    return (
        size * np.sin(angle),
        size * pace * np.cos(angle),
        -size * pace**2 * np.sin(angle),
    )


def moving(body: bm.Body, seed: int = 0, frames: int = 40) -> Measures:
    """Measures of a motion in closed form: no derivative in it is a difference. The root turns about z, then about the turned x."""
    rng, t = np.random.default_rng(seed), np.linspace(0, 2, frames)
    q, dq, ddq = waves(rng, body.num_joints, t)
    place, speed, gain = waves(rng, 3, t)
    (yaw, roll), (dyaw, droll), (ddyaw, ddroll) = (
        values.T for values in waves(rng, 2, t)
    )
    first = rotations.from_axis_angle([0, 0, 1], 3 * yaw)
    x = rotations.rotate(first, np.array([1.0, 0.0, 0.0]))
    z = np.array([0.0, 0.0, 1.0])
    spin = 3 * dyaw[:, None] * z + droll[:, None] * x
    turned = (
        3 * ddyaw[:, None] * z
        + ddroll[:, None] * x
        + np.cross(3 * dyaw[:, None] * z, droll[:, None] * x)
    )
    turn = rotations.multiply(first, rotations.from_axis_angle([1, 0, 0], roll))
    root = poses.from_parts(place, turn)
    return Measures(
        body=body,
        motion=bm.Motion.from_joints(q, times=t, root=root),
        times=t,
        joint_displacements=q,
        root_poses=root,
        joint_velocities=dq,
        joint_accelerations=ddq,
        root_velocity=np.concatenate([speed, spin], axis=1),
        root_acceleration=np.concatenate([gain, turned], axis=1),
        gravity=np.array([0.0, 0.0, -9.80665]),
        feet_option=(),
    )


def readings_of(
    model, measures: Measures, columns: dict[str, int]
) -> dict[str, np.ndarray]:
    """What MuJoCo's sensors read: its inverse dynamics at each frame."""
    data = mujoco.MjData(model)
    found: dict[str, list] = {model.sensor(k).name: [] for k in range(model.nsensor)}
    back = np.swapaxes(rotations.to_matrix(measures.root_poses[:, 3:]), 1, 2)
    for t in range(len(measures.times)):
        data.qpos[:7] = measures.root_poses[t]
        data.qvel[:3], data.qvel[3:6] = (
            measures.root_velocity[t, :3],
            back[t] @ measures.root_velocity[t, 3:],
        )
        data.qacc[:3], data.qacc[3:6] = (
            measures.root_acceleration[t, :3],
            back[t] @ measures.root_acceleration[t, 3:],
        )
        for name, column in columns.items():
            joint = model.joint(name)
            data.qpos[joint.qposadr[0]] = measures.joint_displacements[t, column]
            data.qvel[joint.dofadr[0]] = measures.joint_velocities[t, column]
            data.qacc[joint.dofadr[0]] = measures.joint_accelerations[t, column]
        mujoco.mj_inverse(model, data)
        for name, rows in found.items():
            rows.append(data.sensor(name).data.copy())
    return {name: np.array(rows) for name, rows in found.items()}


def columns_of(body: bm.Body) -> dict[str, int]:
    return {
        body.links[i].joint.name: column
        for column, i in enumerate(body.joint_links)
        if i > 0
    }


@pytest.mark.parametrize("seed", range(3))
def test_an_arm_on_a_tumbling_base(tmp_path, seed):
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    body, model = bm.load(path), mujoco.MjModel.from_xml_path(str(path))
    measures = moving(body, seed)
    theirs = readings_of(model, measures, columns_of(body))
    kinds = {"AccelerationSensor": 0, "Gyro": 0, "ForceSensor": 0}
    for reading in measures.read_all():
        device = reading.device
        kinds[device.kind] += 1
        site = poses.compose(measures.link_poses[0, device.link], device.pose)[:3]
        name = nearest_site(model, measures, site)
        part = name.rpartition("_")[0]
        if device.kind == "ForceSensor":
            # MuJoCo gives what a body gets from the one before it: the other way round.
            expected = -np.concatenate(
                [theirs[f"{part}_f"], theirs[f"{part}_t"]], axis=1
            )
        else:
            expected = theirs[
                f"{part}_{'a' if device.kind == 'AccelerationSensor' else 'w'}"
            ]
        assert np.abs(reading.values - expected).max() < 1e-6
        assert not reading.saturated.any()
    assert kinds["AccelerationSensor"] == kinds["Gyro"] == 3
    assert kinds["ForceSensor"] == 3


def nearest_site(model, measures: Measures, place: np.ndarray) -> str:
    data = mujoco.MjData(model)
    data.qpos[:7] = measures.root_poses[0]
    for name, column in columns_of(measures.body).items():
        data.qpos[model.joint(name).qposadr[0]] = measures.joint_displacements[
            0, column
        ]
    mujoco.mj_kinematics(model, data)
    distance = np.linalg.norm(data.site_xpos - place, axis=1)
    assert distance.min() < 1e-9
    return model.site(int(np.argmin(distance))).name


def test_the_example_robot(tmp_path, examples):
    """In the MJCF that is written of it; its accelerometer and gyro."""
    body = bm.load(examples / "biped.wrl")
    bm.save(body, tmp_path / "biped.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "biped.xml"))
    model.opt.gravity[:] = [0.0, 0.0, -9.80665]
    measures = moving(body)
    names = {model.joint(k).name for k in range(model.njnt)}
    columns = {
        body.links[i].name: column for column, i in enumerate(body.joint_links) if i > 0
    }
    assert set(columns) <= names
    theirs = readings_of(model, measures, columns)
    checked = 0
    for reading in measures.read_all():
        if reading.device.kind in ("AccelerationSensor", "Gyro"):
            assert np.abs(reading.values - theirs[reading.device.name]).max() < 1e-6
            checked += 1
    assert checked == 2


def test_limits_hold_the_readings(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    measures = moving(bm.load(tmp_path / "arm.xml"))
    gyro = bm.model.Gyro(link=1, max_angular_velocity=np.array([0.2, -1.0, 50.0]))
    free, held = measures.read(bm.model.Gyro(link=1)), measures.read(gyro)
    assert not free.saturated.any()
    assert np.abs(free.values).max(axis=0)[0] > 0.3
    np.testing.assert_array_equal(
        held.values[:, 0], np.clip(free.values[:, 0], -0.2, 0.2)
    )
    np.testing.assert_array_equal(held.values[:, 1], free.values[:, 1])
    np.testing.assert_array_equal(
        held.saturated[:, 0], np.abs(free.values[:, 0]) >= 0.2
    )
    accelerometer = bm.model.AccelerationSensor(
        link=0, max_acceleration=np.full(3, 5.0)
    )
    assert np.abs(measures.read(accelerometer).values).max() == 5.0
    force = bm.model.ForceSensor(
        link=1, max_force=np.full(3, 1.0), max_torque=np.full(3, 0.1)
    )
    assert (
        np.abs(measures.read(force).values).max(axis=0).tolist()
        == [1.0] * 3 + [0.1] * 3
    )
    assert measures.read(force).columns == ("fx", "fy", "fz", "tx", "ty", "tz")
    with pytest.raises(ValueError, match="cannot be read"):
        measures.read(bm.model.OtherDevice())
    with pytest.raises(ValueError, match="on link 9; the body has 4"):
        measures.read(bm.model.Gyro(link=9))
    with pytest.raises(KeyError, match="no device 'nose'"):
        measures.read("nose")
