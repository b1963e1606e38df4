"""Devices in MuJoCo: what its sensors and cameras say is what the devices of the body would."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.formats.mjcf import read_mjcf, write_mjcf
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.shapes import Box, Shape
from bodymotion.model.links import Joint, Link, Segment

mujoco = pytest.importorskip("mujoco")

TILTED = poses.from_parts([0.1, 0.2, 0.3], rotations.from_rpy([0.4, -0.3, 1.2]))


def block(*devices: bm.model.Device) -> bm.Body:
    """Return a free block of 2 kg with devices."""
    segment = Segment(
        name="block",
        mass=2.0,
        inertia=np.diag([0.02, 0.03, 0.04]),
        visuals=(Shape(Box((0.1, 0.1, 0.1))),),
    )
    link = Link(
        name="block", joint=Joint(name="block", type="free"), segments=(segment,)
    )
    return bm.Body(name="block", links=(link,), devices=devices)


def simulated(body, path):
    write_mjcf(body, path)
    model = mujoco.MjModel.from_xml_path(str(path))
    return model, mujoco.MjData(model)


def test_a_gyro_and_an_accelerometer(tmp_path):
    """Turning on the spot: the rate in the sensor's axes; and at rest on a hand, gravity upwards."""
    body = block(
        bm.model.Gyro(
            name="rate",
            id=0,
            pose=TILTED,
            max_angular_velocity=np.array([50.0, 50.0, 50.0]),
        ),
        bm.model.AccelerationSensor(name="weight", id=0, pose=TILTED),
    )
    model, data = simulated(body, tmp_path / "block.xml")
    rate = np.array([0.3, -0.5, 0.7])
    data.qvel[3:6] = rate
    mujoco.mj_forward(model, data)
    back = rotations.conjugate(TILTED[3:])
    assert np.abs(data.sensor("rate").data - rotations.rotate(back, rate)).max() < 1e-12
    assert model.sensor("rate").cutoff[0] == 50.0
    data.qvel[:] = 0
    data.qfrc_applied[2] = 2.0 * 9.81
    mujoco.mj_forward(model, data)
    assert (
        np.abs(data.sensor("weight").data - rotations.rotate(back, [0, 0, 9.81])).max()
        < 1e-9
    )


@pytest.mark.parametrize(
    ("width", "height"), [(640, 480), (480, 640), (100, 100), (1, 40)]
)
def test_a_camera_sees_as_wide_on_its_shorter_side(tmp_path, width, height):
    camera = bm.model.VisionSensor(
        name="eye",
        id=0,
        pose=TILTED,
        type="COLOR",
        field_of_view=1.0,
        width=width,
        height=height,
    )
    body = block(camera)
    model, data = simulated(body, tmp_path / "block.xml")
    vertical = np.radians(model.camera("eye").fovy[0])
    across = 2 * np.arctan(np.tan(vertical / 2) * width / height)
    assert min(vertical, across) == pytest.approx(1.0)
    assert list(model.cam_resolution[0]) == [width, height]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    assert (
        np.abs(data.cam_xmat[0].reshape(3, 3) - rotations.to_matrix(TILTED[3:])).max()
        < 1e-12
    )
    assert np.abs(data.cam_xpos[0] - TILTED[:3]).max() < 1e-12
    assert read_mjcf(tmp_path / "block.xml").require().devices == (camera,)


def test_a_camera_that_was_changed_in_the_file(tmp_path):
    body = block(
        bm.model.VisionSensor(
            name="eye",
            id=3,
            type="DEPTH",
            field_of_view=1.0,
            width=64,
            height=48,
            frame_rate=7.0,
        )
    )
    path = tmp_path / "block.xml"
    write_mjcf(body, path)
    text = path.read_text()
    path.write_text(text.replace('resolution="64 48"', 'resolution="48 64"'))
    (camera,) = read_mjcf(path).require().devices
    assert (camera.width, camera.height, camera.frame_rate, camera.type, camera.id) == (
        48,
        64,
        7.0,
        "DEPTH",
        3,
    )
    assert 2 * np.arctan(np.tan(camera.field_of_view / 2) * 64 / 48) == pytest.approx(
        1.0
    )


def test_a_range_sensor_meets_a_wall(tmp_path):
    """A wall 2 m ahead of a sensor that looks along −z: the ray at an angle is longer by 1/cos, of both sides the same."""
    sensor = bm.model.RangeSensor(
        name="laser", id=0, scan_angle=1.6, scan_step=0.4, max_distance=20.0
    )
    body = block(sensor)
    wall = Link(
        name="wall",
        index=1,
        parent=0,
        offset=np.array([0, 0, -2.05, 1, 0, 0, 0.0]),
        segments=(Segment(visuals=(Shape(Box((50.0, 50.0, 0.1))),)),),
    )
    above_floor = np.array([0, 0, 5.0, 1, 0, 0, 0])
    body = bm.Body(
        name="scanner",
        links=(*body.links, wall),
        devices=body.devices,
        root_pose=above_floor,
    )
    model, data = simulated(body, tmp_path / "scanner.xml")
    mujoco.mj_forward(model, data)
    assert model.nsensor == len(sensor.ray_angles) == 5
    for number, angle in enumerate(sensor.ray_angles):
        name = f"laser_ray{number}"
        assert data.sensor(name).data[0] == pytest.approx(2.0 / np.cos(angle))
        ahead = data.site(name).xmat.reshape(3, 3)[:, 2]
        assert ahead == pytest.approx([-np.sin(angle), 0, -np.cos(angle)])
    assert read_mjcf(tmp_path / "scanner.xml").require().devices == body.devices


def test_a_force_sensor_and_what_mujoco_has_not(tmp_path):
    force = bm.model.ForceSensor(name="wrist", id=0, pose=TILTED)
    light = bm.model.OtherDevice(
        name="lamp", id=0, type="SpotLightDevice", extra={"beamWidth": 0.5}
    )
    body = block(force, light)
    lost = write_mjcf(body, tmp_path / "block.xml")
    assert [problem.rule for problem in lost] == ["LOSS038"]
    assert "SpotLightDevice" in lost[0].message
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "block.xml"))
    kinds = [mujoco.mjtSensor(kind).name for kind in model.sensor_type]
    assert kinds == ["mjSENS_FORCE", "mjSENS_TORQUE"]
    assert read_mjcf(tmp_path / "block.xml").require().devices == body.devices


def test_sensors_of_other_files(tmp_path):
    """Sensors at sites are devices; what names no site of a body stays as plain data, and is said."""
    path = tmp_path / "robot.xml"
    path.write_text(
        """<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1"/><site name="imu" pos="0 0 0.1"/><site name="foot"/>
        <site name="front" euler="0 90 0"/><site name="mark" pos="1 0 0"/><camera name="cam" fovy="60" resolution="320 200"/></body>
        </worldbody><sensor><gyro name="g" site="imu" cutoff="9"/><accelerometer name="acc" site="imu"/><force site="foot"/>
        <torque site="foot"/><rangefinder site="front" cutoff="5"/><framequat name="q" objtype="site" objname="imu"/></sensor></mujoco>"""
    )
    body = read_mjcf(path).require()
    by_kind = {device.kind: device for device in body.devices}
    assert [device.kind for device in body.devices] == [
        "Gyro",
        "AccelerationSensor",
        "ForceSensor",
        "RangeSensor",
        "site",
        "VisionSensor",
    ]
    assert list(by_kind["Gyro"].max_angular_velocity) == [9, 9, 9]
    assert by_kind["RangeSensor"].max_distance == 5
    ahead = rotations.rotate(
        rotations.normalized(by_kind["RangeSensor"].pose[3:]), [0, 0, -1]
    )
    assert ahead == pytest.approx([1, 0, 0])
    assert by_kind["VisionSensor"].field_of_view == pytest.approx(
        2 * np.arctan(np.tan(np.radians(30)))
    )
    assert [problem.rule for problem in body.problems] == ["MJCF154"]
    assert 'objname="imu"' in body.extra["mjcf"]["sensor"][0]
