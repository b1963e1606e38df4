"""Names after a save: each is in the file as it was, or a loss has both names."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.geometry.shapes import Box, Shape
from bodymotion.model.body import Body
from bodymotion.model.links import Gyro, Joint, Link, Segment
from bodymotion.skeleton import Skeleton, SkeletonJoint
from sample_files import tries

LETTERS = "aAb1_-.:/ \t{}[]#,\"'<&\\Ü腕　\u200b\x07\ud800"
names = st.lists(
    st.one_of(
        st.sampled_from(["", "arm", "world", "floor", "joint_1", "r1/j1", "DEF"]),
        st.text(LETTERS, max_size=6),
    ),
    min_size=4,
    max_size=4,
)
HARD = ["r1/j1", "r1/j1", "腕 1", "a\tb"]


def reported(problems, *kinds):
    """Return the names before and after of the losses about parts of these kinds."""
    return {
        pair
        for problem in problems
        if problem.data.get("kind") in kinds
        for pair in problem.data["names"]
    }


def assert_same_or_reported(before, after, problems, kind, unnamed=False):
    changed = {
        (name, written)
        for name, written in zip(before, after, strict=True)
        if name != written and (name or unnamed)
    }
    assert reported(problems, kind) == changed, problems


def robot(link_names, joint_names, others):
    """Return a body of four links, three moving joints, two devices and a shape."""
    shape = Shape(Box((0.1, 0.1, 0.1)), name=others[2])
    links = []
    for index in range(4):
        joint = Joint(name=joint_names[index], type="rotate", id=index - 1)
        if index == 0:
            joint = Joint(name=joint_names[0], type="free")
        segment = Segment(
            mass=1.0, inertia=np.eye(3), visuals=(shape,) if index == 1 else ()
        )
        links.append(
            Link(
                name=link_names[index],
                index=index,
                parent=max(index, 1) - 1 if index else -1,
                joint=joint,
                segments=(segment,),
            )
        )
    devices = (Gyro(name=others[0], link=1), Gyro(name=others[1], link=2))
    return Body(name=others[3], links=tuple(links), devices=devices)


@settings(max_examples=tries(100))
@given(names, names, names)
@example(HARD, HARD, HARD)
def test_mjcf_has_each_name_or_reports_it(tmp_path_factory, links, joints, others):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path_factory.mktemp("names") / "robot.xml"
    body = robot(links, joints, others)
    problems = bm.save(body, path).problems
    model = mujoco.MjModel.from_xml_path(str(path))
    written = {
        kind: [getattr(model, kind)(k).name for k in range(count)]
        for kind, count in (
            ("body", model.nbody),
            ("joint", model.njnt),
            ("site", model.nsite),
            ("geom", model.ngeom),
        )
    }
    assert_same_or_reported(links, written["body"][1:], problems, "link")
    assert_same_or_reported(joints, written["joint"], problems, "joint")
    assert_same_or_reported(others[:2], written["site"], problems, "device")
    shapes = [name for name in written["geom"] if name != "floor"] or [""]
    assert_same_or_reported(others[2:3], shapes, problems, "shape")


@settings(max_examples=tries(100))
@given(names, names, names)
@example(HARD, HARD, HARD)
def test_urdf_has_each_name_or_reports_it(tmp_path_factory, links, joints, others):
    path = tmp_path_factory.mktemp("names") / "robot.urdf"
    problems = bm.save(robot(links, joints, others), path).problems
    root = ET.parse(path).getroot()

    def written(places):
        return [element.get("name") for element in root.iterfind(places)]

    assert_same_or_reported(links, written("link"), problems, "link")
    assert_same_or_reported(joints[1:], written("joint"), problems, "joint")
    assert_same_or_reported(others[:2], written("gazebo/sensor"), problems, "device")
    shapes = [name or "" for name in written("link/visual")]
    assert_same_or_reported(others[2:3], shapes, problems, "shape")
    assert_same_or_reported(others[3:], [root.get("name")], problems, "model")


@settings(max_examples=tries(100))
@given(names, names, names)
@example(HARD, HARD, HARD)
def test_openhrp_has_each_name_or_reports_it(tmp_path_factory, links, joints, others):
    path = tmp_path_factory.mktemp("names") / "robot.wrl"
    body = robot(links, joints, others)
    problems = bm.save(body, path).problems
    read = bm.load_body(path)
    # A node of a link has the name of its joint: LOSS027.
    of_nodes = {
        (name, written)
        for problem in problems
        if problem.rule == "LOSS027"
        for _, name, written in problem.data["names"]
    }
    nodes = {link.name for link in read.links} | {
        link.joint.name for link in read.links
    }
    changed = reported(problems, "joint") | reported(problems, "link") | of_nodes
    for name in filter(None, (*links, *joints)):
        assert name in nodes or name in {before for before, _ in changed}, problems
    assert {written for _, written in changed} <= nodes
    devices = [device.name for device in read.devices]
    assert_same_or_reported(others[:2], devices, problems, "device")
    shapes = [shape.name for shape in read.links[1].visuals]
    assert_same_or_reported(others[2:3], shapes, problems, "shape")
    assert_same_or_reported(others[3:], [read.name], problems, "model")


TABLES = ("a.csv", "a.npz", "a.pos", "a.parquet", "a.mcap", "a.seq")


@settings(max_examples=tries(100))
@given(names, st.sampled_from(TABLES))
def test_motions_have_each_name_or_report_it(tmp_path_factory, joints, name):
    path = tmp_path_factory.mktemp("names") / name
    motion = bm.Motion.from_joints(np.zeros((3, 4)), 100.0, joint_names=joints)
    problems = bm.save(motion, path).problems
    if "LOSS006" in {problem.rule for problem in problems}:
        # A .seq counts the texts that are not Unicode.
        assert path.suffix == ".seq" and any("\ud800" in name for name in joints)
        return
    labels = bm.load_motion(path).joint_displacement.part_labels
    # A file without names is read without labels; a table has its own for each column.
    written = labels or [f"joint_{k}" for k in range(4)]
    if path.suffix in (".npz", ".pos") and not labels:
        written = [""] * 4
    assert_same_or_reported(joints, written, problems, "joint", unnamed=True)


def test_joints_without_names_are_not_renamed(tmp_path):
    motion = bm.Motion.from_joints(np.zeros((3, 2)), 100.0)
    for name in TABLES:
        problems = bm.save(motion, tmp_path / name).problems
        assert not reported(problems, "joint")


@settings(max_examples=tries(100))
@given(names)
@example(HARD)
def test_bvh_has_each_name_or_reports_it(tmp_path_factory, joints):
    path = tmp_path_factory.mktemp("names") / "walk.bvh"
    skeleton = Skeleton(
        joints=tuple(
            SkeletonJoint(
                name=name, parent=index - 1, channels=("Xrotation",), offset=[0, 1, 0]
            )
            for index, name in enumerate(joints)
        ),
        values=np.zeros((2, 4)),
        frame_time=0.01,
    )
    problems = bm.save(skeleton, path).problems
    words = [
        line.split()[1:]
        for line in path.read_text("utf-8").splitlines()
        if line.split()[:1] in (["ROOT"], ["JOINT"])
    ]
    assert_same_or_reported(
        joints, [" ".join(one) for one in words], problems, "joint", unnamed=True
    )


def test_mjcf_keeps_a_slash(strangers, tmp_path):
    """MuJoCo accepts `/` in names, which dm_control and `<attach>` write."""
    body = bm.load_body(strangers / "21" / "arm.urdf")
    assert bm.save(body, tmp_path / "arm.xml").problems == ()
