"""Gears in a URDF: a joint has one transmission, the one of the file that it was read from where there was one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bodymotion as bm
from bodymotion.formats.urdf import parse_urdf, read_urdf, write_urdf

TYPE = "transmission_interface/SimpleTransmission"
POSITION = "hardware_interface/PositionJointInterface"


def transmission(
    name,
    joint,
    gear="<mechanicalReduction>50</mechanicalReduction>",
    interface=POSITION,
):
    return (
        f"<transmission name='{name}'><type>{TYPE}</type><joint name='{joint}'><hardwareInterface>{interface}</hardwareInterface>"
        f"</joint><actuator name='m_{name}'>{gear}</actuator></transmission>"
    )


def arm(inside, count=2):
    links = "".join(f"<link name='l{k}'/>" for k in range(count + 1))
    joints = "".join(
        f"<joint name='j{k}' type='continuous'><parent link='l{k - 1}'/><child link='l{k}'/></joint>"
        for k in range(1, count + 1)
    )
    return parse_urdf(
        f"<robot name='r'>{links}{joints}{inside}</robot>".encode(), Path("r.urdf")
    ).require()


def written(body, folder):
    """The transmissions of the file: name, joints, interface, gear; and what was lost."""
    report = write_urdf(body, folder / "r.urdf")
    found = [
        (
            one.get("name"),
            *(joint.get("name") for joint in one.findall("joint")),
            one.findtext("joint/hardwareInterface"),
            float(one.findtext("actuator/mechanicalReduction") or 1),
        )
        for one in ElementTree.parse(folder / "r.urdf").findall("transmission")
    ]
    return found, [problem for problem in report if problem.rule.startswith("LOSS")]


def geared(body, link, ratio):
    links = list(body.links)
    links[link] = replace(
        links[link], joint=replace(links[link].joint, gear_ratio=ratio)
    )
    return replace(body, links=tuple(links))


def test_a_transmission_of_the_file_is_the_only_one(tmp_path):
    body = arm(transmission("t1", "j1"))
    assert body.links[1].joint.gear_ratio == 50
    assert written(body, tmp_path) == ([("t1", "j1", POSITION, 50.0)], [])
    assert read_urdf(tmp_path / "r.urdf").require().links == body.links


def test_another_gear_goes_into_the_transmission_of_the_file(tmp_path):
    body = geared(arm(transmission("t1", "j1")), 1, 80.0)
    assert written(body, tmp_path) == ([("t1", "j1", POSITION, 80.0)], [])
    assert read_urdf(tmp_path / "r.urdf").require().links[1].joint.gear_ratio == 80


def test_a_transmission_without_a_gear_gets_the_joints(tmp_path):
    body = geared(geared(arm(transmission("t1", "j1", gear="")), 1, 80.0), 2, 30.0)
    found, lost = written(body, tmp_path)
    assert sorted(found) == [
        ("j2_transmission", "j2", "hardware_interface/EffortJointInterface", 30.0),
        ("t1", "j1", POSITION, 80.0),
    ]
    assert not lost
    assert [
        link.joint.gear_ratio for link in read_urdf(tmp_path / "r.urdf").require().links
    ] == [1, 80, 30]


def test_two_interfaces_of_one_joint_stay(tmp_path):
    effort = "hardware_interface/EffortJointInterface"
    body = arm(transmission("t1", "j1") + transmission("t2", "j1", interface=effort))
    assert written(body, tmp_path) == (
        [("t1", "j1", POSITION, 50.0), ("t2", "j1", effort, 50.0)],
        [],
    )


def test_what_is_generated_is_not_doubled(tmp_path):
    body = geared(arm(""), 1, 7.0)
    first, _ = written(body, tmp_path)
    again, _ = written(read_urdf(tmp_path / "r.urdf").require(), tmp_path)
    assert (
        first
        == again
        == [("j1_transmission", "j1", "hardware_interface/EffortJointInterface", 7.0)]
    )


def test_a_transmission_whose_joint_is_gone_is_a_loss(tmp_path):
    body = arm(transmission("t1", "j1") + transmission("t2", "j2"))
    found, (problem,) = written(replace(body, links=body.links[:2]), tmp_path)
    assert found == [("t1", "j1", POSITION, 50.0)]
    assert (
        problem.rule == "LOSS090"
        and "t2" in problem.message
        and "j2" in problem.message
    )


def test_by_way_of_a_wrl_file_it_is_the_same_joint(tmp_path):
    """There a joint has the name of its link."""
    bm.save(arm(transmission("t1", "j1")), tmp_path / "r.wrl")
    found, lost = written(bm.load(tmp_path / "r.wrl"), tmp_path)
    assert [row[2:] for row in found] == [(POSITION, 50.0)]
    assert {row[1] for row in found} <= {
        one.get("name") for one in ElementTree.parse(tmp_path / "r.urdf").iter("joint")
    }
    # What is left out of the .wrl is a note.
    assert {problem.rule for problem in lost} == {"LOSS040"}


def test_ros2_control_of_joints_that_are_gone_is_a_loss(tmp_path):
    control = (
        "<ros2_control name='c' type='system'><hardware><plugin>p</plugin></hardware><joint name='j1'><state_interface name='position'/>"
        "</joint><joint name='j2'/><transmission name='t'><joint name='j2' role='x'/></transmission></ros2_control>"
    )
    body = arm(control)
    assert written(body, tmp_path)[1] == []
    assert read_urdf(tmp_path / "r.urdf").require().extra == body.extra
    _, (problem,) = written(replace(body, links=body.links[:2]), tmp_path)
    assert problem.rule == "LOSS090" and "j2" in problem.message
    left = ElementTree.parse(tmp_path / "r.urdf").find("ros2_control")
    assert [one.get("name") for one in left.iter("joint")] == ["j1"]
    assert left.findtext("hardware/plugin") == "p"
    bm.save(body, tmp_path / "r.wrl")
    _, lost = written(bm.load(tmp_path / "r.wrl"), tmp_path)
    assert {problem.rule for problem in lost} == {"LOSS040"}
    tree = ElementTree.parse(tmp_path / "r.urdf")
    names = {one.get("name") for one in tree.findall("joint")}
    assert {one.get("name") for one in tree.find("ros2_control").iter("joint")} == names


@pytest.mark.parametrize("text", ["<transmission name='x'><joint/></transmission>", "<transmission>", "<transmission name='x'>"
    "<joint name='j1'/><actuator><mechanicalReduction>x</mechanicalReduction></actuator></transmission>"])  # fmt: skip
def test_what_is_kept_and_is_none_is_a_loss(tmp_path, text):
    found, (problem,) = written(replace(arm(""), extra={"urdf": [text]}), tmp_path)
    assert not found and problem.rule in ("LOSS041", "LOSS051", "LOSS090")
