"""`bodymotion diff`: what differs between two motions, or two models."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.test_csv import arm

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.comparison import compare_bodies, compare_motions
from bodymotion.geometry import rotations
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline

run = CliRunner()
Q = np.arange(30.0).reshape(10, 3) / 7
ROOT = [0, 0, 0.7, 1, 0, 0, 0]


def motion(q=Q, rate=100.0, **more) -> Motion:
    return bm.Motion.from_joints(q, rate, root=ROOT, **more)


def only(comparison):
    (difference,) = comparison.differences
    return difference


def test_equal_motions():
    assert compare_motions(motion(), motion()).equal
    assert compare_motions(
        motion(np.full((2, 1), np.nan)), motion(np.full((2, 1), np.nan))
    ).equal


def test_the_worst_frame_and_joint_by_name():
    changed = Q.copy()
    changed[4, 1] += 0.5
    changed[7, 2] -= 0.25
    changed[7, 1] += 0.125
    found = only(compare_motions(motion(), motion(changed), body=arm()))
    assert found.what == "JointDisplacement"
    assert found.numbers["frame"] == 4
    assert found.numbers["time"] == 0.04
    assert found.numbers["part"] == "ELBOW"
    assert found.numbers["largest"] == pytest.approx(0.5)
    assert found.numbers["count"] == 2
    assert list(found.numbers["parts"]) == ["ELBOW", "HAND"]
    assert found.numbers["root_mean_square"] == pytest.approx(
        np.sqrt((0.25 + 0.0625 + 0.015625) / 30)
    )
    assert "ELBOW in frame 4" in str(found)
    assert only(compare_motions(motion(), motion(changed))).numbers["part"] == "joint 1"
    named = (
        motion(joint_names=("a", "b", "c")),
        motion(changed, joint_names=("a", "b", "c")),
    )
    assert only(compare_motions(*named, body=arm())).numbers["part"] == "b"


def test_the_unit_of_the_joint():
    """A body says which joints slide; of other contents than displacements and efforts no unit is known."""
    effort = MultiValueSeq(
        content="JointEffort", timeline=Timeline.uniform(10, 100.0), values=Q
    )
    other = replace(effort, content="Voltage")
    for part, displacement, force in ((1, "rad", "N m"), (2, "m", "N")):
        changed = Q.copy()
        changed[3, part] += 1.0
        assert (
            only(compare_motions(motion(), motion(changed), body=arm())).numbers["unit"]
            == displacement
        )
        assert (
            only(compare_motions(motion(), motion(changed))).numbers["unit"]
            == "rad or m"
        )
        pairs = [
            [Motion((one,)), Motion((replace(one, values=changed),))]
            for one in (effort, other)
        ]
        assert [
            only(compare_motions(*pair, body=arm())).numbers["unit"] for pair in pairs
        ] == [force, ""]


@given(st.floats(1e-6, 1), st.floats(0, 0.9), st.floats(1.1, 10))
def test_tolerances(amount, less, more):
    other = Q.copy()
    other[3, 0] += amount
    assert compare_motions(motion(), motion(other), atol=amount * more).equal
    assert not compare_motions(motion(), motion(other), atol=amount * less).equal
    relative = amount / abs(other[3, 0])
    assert compare_motions(motion(), motion(other), rtol=relative * more).equal
    assert not compare_motions(motion(), motion(other), rtol=relative * less).equal
    with pytest.raises(ValueError, match="atol"):
        compare_motions(motion(), motion(), atol=-1)


def test_orientations_differ_by_an_angle():
    turned = motion()
    link = turned.link_position
    values = np.array(link.values)
    values[5, 0, 3:] = rotations.from_axis_angle([0, 0, 1], 0.25)
    values[:5, 0, 3:] *= -1
    turned = turned.replaced(replace(link, values=values), turned.joint_displacement)
    found = only(compare_motions(motion(), turned))
    assert found.what == "LinkPosition orientation"
    assert found.numbers["largest"] == pytest.approx(0.25)
    assert found.numbers["frame"] == 5
    assert compare_motions(motion(), turned, atol=0.26).equal


def test_structure():
    base = motion()
    zmp = motion(zmp=np.zeros((10, 3)))
    assert only(compare_motions(base, zmp)).message == "only in the second motion"
    assert only(compare_motions(zmp, base)).message == "only in the first motion"
    relative = motion(zmp=np.zeros((10, 3)), zmp_is_root_relative=True)
    assert only(compare_motions(zmp, relative)).what == "ZMP"
    assert [d.message for d in compare_motions(base, motion(rate=50)).differences] == [
        "100 Hz, 50 Hz"
    ] * 2
    assert [d.message for d in compare_motions(base, motion(Q[:7])).differences] == [
        "10 frames, 7 frames"
    ] * 2
    assert only(compare_motions(base, motion(Q[:, :2]))).message == "3 parts, 2 parts"
    assert "top node" in str(only(compare_motions(base, replace(base, extra={"a": 1}))))
    assert (
        "part labels"
        in only(compare_motions(base, motion(joint_names=("a", "b", "c")))).message
    )
    stamps = [
        Motion(
            (
                MultiValueSeq(
                    content="x", timeline=Timeline.stamped(times), values=Q[:2]
                ),
            )
        )
        for times in ([0, 1], [0, 1.5])
    ]
    assert only(compare_motions(*stamps)).numbers["frame"] == 1
    twice = base.replaced(*base.components, base.components[1])
    assert only(compare_motions(twice, base)).message == "only in the first motion"


def test_parts_are_compared_by_name():
    turned = motion(Q[:, [2, 0, 1]], joint_names=("c", "a", "b"))
    assert (
        "another order"
        in only(compare_motions(motion(joint_names=("a", "b", "c")), turned)).message
    )
    wrong = motion(Q, joint_names=("c", "a", "b"))
    found = compare_motions(motion(joint_names=("a", "b", "c")), wrong).differences
    assert len(found) == 2
    assert set(found[1].numbers["parts"]) == {"a", "b", "c"}


def test_the_names_of_a_body_are_no_difference():
    named = motion(joint_names=("SHOULDER", "ELBOW", "HAND"))
    assert not compare_motions(motion(), named).equal
    assert compare_motions(motion(), named, body=arm()).equal


def test_bodies():
    body = arm()
    assert compare_bodies(body, arm()).equal
    links = list(body.links)
    links[1] = replace(
        links[1],
        joint=replace(links[1].joint, upper=1.5),
        offset=np.array([0, 0, 1.0, 1, 0, 0, 0]),
    )
    links[3] = replace(links[3], name="GRIPPER", parent=1)
    found = {
        str(d)
        for d in compare_bodies(body, replace(body, links=tuple(links))).differences
    }
    assert "link SHOULDER: joint upper inf, 1.5" in found
    assert "link SHOULDER: pose in its parent: position differs by up to 1 m" in found
    assert "link HAND: only in the first model" in found
    assert "link GRIPPER: only in the second model" in found
    near = [
        *body.links[:1],
        replace(body.links[1], offset=np.array([0, 0, 1e-7, 1, 0, 0, 0])),
        *body.links[2:],
    ]
    assert not compare_bodies(body, replace(body, links=tuple(near))).equal
    assert compare_bodies(body, replace(body, links=tuple(near)), atol=1e-6).equal


def invoke(*arguments: object, code: int = 0):
    result = run.invoke(app, ["diff", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.stderr, result.exception)
    return result


def test_the_command(tmp_path):
    other = Q.copy()
    other[2, 1] += 1e-3
    for name, one in (
        ("a.seq", motion()),
        ("b.json", motion()),
        ("c.seq", motion(other)),
    ):
        bm.save(one, tmp_path / name)
    assert invoke(tmp_path / "a.seq", tmp_path / "b.json").stdout == "no differences\n"
    result = invoke(tmp_path / "a.seq", tmp_path / "c.seq", code=1)
    assert "joint 1 in frame 2" in result.stdout
    invoke(tmp_path / "a.seq", tmp_path / "c.seq", "--atol", "0.01")
    data = json.loads(
        invoke(tmp_path / "a.seq", tmp_path / "c.seq", "--json", code=1).stdout
    )
    assert not data["equal"]
    assert data["differences"][0]["part"] == "joint 1"
    assert json.loads(
        invoke(tmp_path / "a.seq", tmp_path / "b.json", "--json").stdout
    ) == {
        "equal": True,
        "differences": [],
    }
    invoke(tmp_path / "a.seq", tmp_path / "missing.seq", code=2)
    (tmp_path / "broken.seq").write_text("type: CompositeSeq\ncomponents: 5\n")
    assert (
        "YAML104" in invoke(tmp_path / "a.seq", tmp_path / "broken.seq", code=2).stderr
    )
    invoke(tmp_path / "a.seq", code=2)


def test_models(corpus):
    first = corpus / "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"
    invoke(first, first)
    invoke(
        first,
        corpus
        / "seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern1.seq",
        code=2,
    )
