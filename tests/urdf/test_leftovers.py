"""What other programs say inside of links and joints comes back where it was, or is said to be lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bodymotion as bm
from bodymotion.formats.urdf import parse_urdf, read_urdf, write_urdf

MODEL = b"""<robot name="a">
<link name="base" type="t1"><verbose value="Base"/><inertial><mass value="1" unit="kg"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
<collision name="c"><geometry><box size="1 1 1"/></geometry></collision>
<collision name="d" group="2"><geometry><box size="1 1 1" rounding="0.1"/></geometry><contact_coefficients mu="0.1"/></collision>
<visual name="v"><origin xyz="0 0 0" quat="x"/><geometry><sphere radius="1"/></geometry><foo><a b="1">t</a></foo></visual></link>
<link name="l1"/>
<joint name="j1" type="revolute" foo="2"><special/><parent link="base"/><child link="l1"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="3" velocity="2" acceleration="9"/><dynamics damping="1" spring_stiffness="4"/></joint>
</robot>"""

PATHS = {
    "link": [("type", "t1")],
    "link/verbose": [("value", "Base")],
    "link/inertial/mass": [("unit", "kg")],
    "link/collision[2]": [("group", "2"), ("name", "d")],
    "link/collision[2]/geometry/box": [("rounding", "0.1")],
    "link/collision[2]/contact_coefficients": [("mu", "0.1")],
    "link/visual/origin": [("quat", "x")],
    "link/visual/foo/a": [("b", "1")],
    "joint": [("foo", "2")],
    "joint/special": [],
    "joint/limit": [("acceleration", "9"), ("effort", "3")],
    "joint/dynamics": [("spring_stiffness", "4")],
}
GONE_WITHOUT_ORIGIN = "link/visual/origin"


def lost(report):
    return [problem for problem in report if problem.rule.startswith("LOSS")]


def has(tree, path):
    found = tree.find(path)
    return found is not None and all(
        found.get(key) == value for key, value in PATHS[path]
    )


def test_what_means_nothing_here_is_noted_and_comes_back(tmp_path):
    body = parse_urdf(MODEL, Path("r.urdf")).require()
    assert [problem.rule for problem in body.problems] == ["URDF103"] * 12
    assert all(problem.location.line for problem in body.problems)
    report = write_urdf(body, tmp_path / "r.urdf")
    tree = ElementTree.parse(tmp_path / "r.urdf")
    # The place of the visual is where nothing has to be said of it: what stood there has no place any more.
    assert [path for path in PATHS if not has(tree, path)] == [GONE_WITHOUT_ORIGIN]
    assert "rounding" not in tree.find("link/collision[1]/geometry/box").attrib
    assert [problem.rule for problem in lost(report)] == ["LOSS090"]
    assert "<bodymotion version" not in (tmp_path / "r.urdf").read_text()


def test_a_second_time_nothing_changes(tmp_path):
    body = parse_urdf(MODEL.replace(b' quat="x"', b""), Path("r.urdf")).require()
    assert not lost(write_urdf(body, tmp_path / "r.urdf"))
    first = (tmp_path / "r.urdf").read_bytes()
    again = read_urdf(tmp_path / "r.urdf").require()
    assert (again.extra, again.links) == (body.extra, body.links)
    assert not lost(write_urdf(again, tmp_path / "r.urdf"))
    assert (tmp_path / "r.urdf").read_bytes() == first


def test_by_way_of_a_wrl_file(tmp_path):
    body = parse_urdf(MODEL.replace(b' quat="x"', b""), Path("r.urdf")).require()
    bm.save(body, tmp_path / "r.wrl")
    write_urdf(bm.load(tmp_path / "r.wrl"), tmp_path / "r.urdf")
    tree = ElementTree.parse(tmp_path / "r.urdf")
    assert [path for path in PATHS if not has(tree, path)] == [GONE_WITHOUT_ORIGIN]


def without_shapes(body):
    segment = replace(body.links[0].segments[0], collisions=())
    return replace(
        body, links=(replace(body.links[0], segments=(segment,)), *body.links[1:])
    )


def renamed(body):
    return replace(body, links=(replace(body.links[0], name="other"), *body.links[1:]))


def fixed(body):
    joint = bm.Joint(name="j1", type="fixed", extra=body.links[1].joint.extra)
    return replace(body, links=(body.links[0], replace(body.links[1], joint=joint)))


@pytest.mark.parametrize("change", [without_shapes, renamed, fixed])
def test_what_has_no_place_any_more_is_a_loss(tmp_path, change):
    body = change(
        parse_urdf(MODEL.replace(b' quat="x"', b""), Path("r.urdf")).require()
    )
    found = {problem.rule for problem in lost(write_urdf(body, tmp_path / "r.urdf"))}
    assert found - {"LOSS040"} == {"LOSS090"}


@pytest.mark.parametrize(
    "kept",
    [
        {"urdf_links": ["<x/>", "<link", 3]},
        {"urdf_links": "no list"},
        {"urdf_links": {}},
    ],
)
def test_whatever_is_kept_is_written_or_lost(tmp_path, kept):
    write_urdf(
        bm.Body(name="r", links=(bm.Link(name="a"),), extra=kept), tmp_path / "r.urdf"
    )
    assert read_urdf(tmp_path / "r.urdf").require().links


def test_a_second_element_of_one_kind_is_left_out_and_said():
    body = parse_urdf(
        MODEL.replace(b"<special/>", b"<axis xyz='1 0 0'/>"), Path("r.urdf")
    ).require()
    (problem,) = [problem for problem in body.problems if problem.rule == "URDF104"]
    assert problem.leaves_out and problem.location.line
    assert body.links[1].joint.axis.tolist() == [1, 0, 0]
