"""Sensors of Gazebo in a URDF: what they say beside what a device has is written back, and one sensor stays one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bodymotion as bm
from bodymotion.formats.urdf import parse_urdf, read_urdf, write_urdf

NOISE = "<x><noise type='gaussian'><mean>0</mean><stddev>{}</stddev></noise></x>"
IMUS = {
    "noise on both": f"<imu><angular_velocity>{NOISE.format(0.1)}</angular_velocity>"
    f"<linear_acceleration>{NOISE.format(0.2)}</linear_acceleration></imu>",
    "empty parts": "<imu><angular_velocity/><linear_acceleration/></imu>",
    "one part alone": "<imu><angular_velocity/></imu>",
    "noise on one part alone": f"<imu><angular_velocity>{NOISE.format(0.1)}</angular_velocity></imu>",
    "rate and topic": "<update_rate>100</update_rate><topic>t</topic>",
    "nothing": "",
}


def robot(sensors):
    return (
        "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>"
        f"{sensors}</robot>"
    ).encode()


def sensor(kind, inside="", name="s", reference="b"):
    return f"<gazebo reference='{reference}'><sensor name='{name}' type='{kind}'>{inside}</sensor></gazebo>"


def rewritten(given, folder, **options):
    """The body of a file, what its saving reported, and the sensors of the file that it became."""
    body = parse_urdf(given, Path("r.urdf")).require()
    report = write_urdf(body, folder / "r.urdf", **options)
    return body, report, ElementTree.parse(folder / "r.urdf").findall("gazebo/sensor")


def reported(element):
    """What an element says, whatever the order and blanks; numbers as numbers."""
    found = set()
    for path, one in walked(element, ""):
        text = (one.text or "").strip()
        if text:
            try:
                found.add((path, float(text)))
            except ValueError:
                found.add((path, text))
    return found


def walked(element, path):
    for child in element:
        yield f"{path}/{child.tag}", child
        yield from walked(child, f"{path}/{child.tag}")


def lost(report):
    return [problem for problem in report if problem.rule.startswith("LOSS")]


@pytest.mark.parametrize("extension", [True, False])
@pytest.mark.parametrize("imu", IMUS)
def test_an_imu_is_two_devices_and_stays_one_sensor(tmp_path, imu, extension):
    given = robot(sensor("imu", IMUS[imu]))
    body, report, sensors = rewritten(given, tmp_path, extension=extension)
    assert [device.kind for device in body.devices] == ["AccelerationSensor", "Gyro"]
    assert [one.get("name") for one in sensors] == ["s"]
    assert reported(ElementTree.fromstring(given).find("gazebo/sensor")) <= reported(
        sensors[0]
    )
    assert not lost(report)
    assert read_urdf(tmp_path / "r.urdf").require().devices == body.devices


@pytest.mark.parametrize(
    "kinds",
    [("Gyro",), ("AccelerationSensor",), ("Gyro", "AccelerationSensor", "Gyro")],
)
def test_halves_of_an_imu_come_back_as_they_were(tmp_path, kinds):
    devices = tuple(
        getattr(bm.model, kind)(name="s", id=kinds[:k].count(kind), link=0)
        for k, kind in enumerate(kinds)
    )
    body = bm.Body(name="r", links=(bm.Link(name="a"),), devices=devices)
    report = write_urdf(body, tmp_path / "r.urdf")
    # Names of sensors are unique on a link: the second Gyro has another one.
    renamed = [
        problem.data["names"] for problem in lost(report) if problem.rule == "LOSS032"
    ]
    assert renamed == ([(("s", "s_2"),)] if len(kinds) == 3 else [])
    others = [problem.rule for problem in report if problem not in lost(report)]
    assert others == ["URDF162"] * len(others) and others
    names = [
        one.get("name")
        for one in ElementTree.parse(tmp_path / "r.urdf").findall("gazebo/sensor")
    ]
    assert len(set(names)) == len(names) == (len(kinds) + 1) // 2
    by_name = sorted(
        read_urdf(tmp_path / "r.urdf").require().devices, key=lambda one: one.name
    )
    expected = [
        replace(one, name="s_2" if k == 2 else "s") for k, one in enumerate(devices)
    ]
    assert sorted(map(str, by_name)) == sorted(map(str, expected))
    assert "an IMU" in str(lost(write_urdf(body, tmp_path / "r.urdf", extension=False)))


CONVENTIONS = {
    "parent, the other way": "<force_torque><frame>parent</frame><measure_direction>parent_to_child</measure_direction></force_torque>",
    "sensor": "<force_torque><frame>sensor</frame><measure_direction>child_to_parent</measure_direction></force_torque>",
    "way alone": "<force_torque><measure_direction>parent_to_child</measure_direction></force_torque>",
    "not said": "",
    "rate": "<update_rate>50</update_rate>",
}


@pytest.mark.parametrize("said", CONVENTIONS)
def test_a_force_sensor_keeps_its_frame_and_direction(tmp_path, said):
    """SDFormat 1.9: frame is "child" and measure_direction "child_to_parent" where they are not said."""
    given = robot(sensor("force_torque", CONVENTIONS[said], reference="j"))
    body, report, (found,) = rewritten(given, tmp_path)
    given = ElementTree.fromstring(given).find("gazebo/sensor")
    for path, default in (
        ("force_torque/frame", "child"),
        ("force_torque/measure_direction", "child_to_parent"),
        ("update_rate", None),
    ):
        assert found.findtext(path) == given.findtext(path, default)
    assert not lost(report)
    assert read_urdf(tmp_path / "r.urdf").require().devices == body.devices


@pytest.mark.parametrize(
    "rate", ["", "<update_rate>0</update_rate>", "<update_rate>7</update_rate>"]
)
@pytest.mark.parametrize("kind", ["camera", "gpu_lidar"])
def test_a_sensor_without_a_rate_gets_none(tmp_path, kind, rate):
    """SDFormat 1.9: an update_rate of 0, the default, is as often as can be."""
    body, _, (found,) = rewritten(robot(sensor(kind, rate)), tmp_path)
    assert float(found.findtext("update_rate")) == (7 if "7" in rate else 0)
    (device,) = body.devices
    rate = "frame_rate" if kind == "camera" else "scan_rate"
    assert getattr(device, rate) > 0
    (again,) = read_urdf(tmp_path / "r.urdf").require().devices
    assert getattr(again, rate) == getattr(device, rate)


@pytest.mark.parametrize("samples", [1, 2, 5, 100, 640])
def test_a_lidar_keeps_its_rays(tmp_path, samples):
    """Many have an even number of rays, and none in the middle."""
    scan = f"<samples>{samples}</samples><resolution>1</resolution><min_angle>-1</min_angle><max_angle>1</max_angle>"
    ranges = "<range><min>0.3</min><max>131</max></range><noise><stddev>0.01</stddev></noise>"
    given = robot(
        sensor(
            "gpu_lidar",
            f"<lidar><scan><horizontal>{scan}</horizontal></scan>{ranges}</lidar>",
        )
    )
    _, _, (found,) = rewritten(given, tmp_path)
    horizontal = found.find("lidar/scan/horizontal")
    assert int(horizontal.findtext("samples")) == samples
    if samples > 1:
        ends = [float(horizontal.findtext(word)) for word in ("min_angle", "max_angle")]
        assert ends == pytest.approx([-1, 1], abs=1e-12)
    assert (
        found.findtext("lidar/range/min"),
        found.findtext("lidar/noise/stddev"),
    ) == ("0.3", "0.01")


def test_a_force_sensor_of_the_root_is_said_to_have_no_joint(tmp_path):
    body = bm.Body(
        name="r",
        links=(bm.Link(name="a"),),
        devices=(bm.model.ForceSensor(name="f", id=0, link=0),),
    )
    (problem,) = lost(write_urdf(body, tmp_path / "r.urdf"))
    assert problem.rule == "LOSS038"


def test_a_scan_of_too_many_rays_is_quick(tmp_path):
    device = bm.model.RangeSensor(
        name="e", id=0, link=0, scan_angle=6.28, scan_step=1e-9
    )
    body = bm.Body(name="r", links=(bm.Link(name="a"),), devices=(device,))
    write_urdf(body, tmp_path / "r.urdf")
    (found,) = read_urdf(tmp_path / "r.urdf").require().devices
    assert found.scan_angle == 0.0
