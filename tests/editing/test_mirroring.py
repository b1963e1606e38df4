"""Mirroring: a law with forward kinematics on bodies made at random, and names of left and right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symmetric_bodies import any_motion, moving_poses, smooth_table, symmetric_body

import bodymotion as bm
from bodymotion import editing
from bodymotion.editing.mirroring import other_sides, pair_names
from bodymotion.geometry import poses, rotations
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from sample_files import tries

seeds = st.integers(0, 10_000)


def walk(body, seed, frames=5):
    rng = np.random.default_rng(seed)
    timeline = Timeline.uniform(frames, 100)
    q = smooth_table(rng, frames, body.num_joints)
    root = moving_poses(rng, frames, 1)
    every = body.forward_kinematics(q, root[:, 0])
    return Motion(
        (
            MultiSE3Seq(content="LinkPosition", timeline=timeline, values=every),
            MultiValueSeq(content="JointDisplacement", timeline=timeline, values=q),
            MultiValueSeq(
                content="JointEffort",
                timeline=timeline,
                values=smooth_table(rng, frames, body.num_joints),
            ),
            Vector3Seq(
                content="ZMP", timeline=timeline, values=smooth_table(rng, frames, 3)
            ),
        )
    )


@given(seeds, st.integers(0, 6), st.integers(0, 3))
@settings(max_examples=tries(60), deadline=None)
def test_the_mirrored_motion_moves_the_mirrored_body(seed, pairs, middle):
    body = symmetric_body(seed, pairs, middle)
    motion = walk(body, seed)
    mirrored = editing.mirror(motion, body)
    assert mirrored.problems == ()
    every = mirrored.link_position.values
    found = body.forward_kinematics(mirrored.joint_displacement.values, every[:, 0])
    assert np.allclose(poses.to_matrix(found), poses.to_matrix(every), atol=1e-9)
    names = [link.name for link in body.links]
    for link in body.links:
        other = names.index(
            {"L_": "R_", "R_": "L_"}.get(link.name[:2], link.name[:2]) + link.name[2:]
        )
        expected = motion.link_position.values[:, link.index, :3] * [1, -1, 1]
        assert np.allclose(every[:, other, :3], expected, atol=1e-9)
    root, before = every[:, 0], motion.link_position.values[:, 0]
    assert np.allclose(
        rotations.to_rpy(root[:, 3:]),
        rotations.to_rpy(before[:, 3:]) * [-1, 1, -1],
        atol=1e-9,
    )
    assert np.allclose(mirrored.zmp.values, motion.zmp.values * [1, -1, 1])


@given(seeds)
@settings(max_examples=tries(30), deadline=None)
def test_mirrored_twice_is_the_motion(seed):
    body = symmetric_body(seed)
    motion = walk(body, seed)
    again = editing.mirror(editing.mirror(motion, body), body)
    for new, old in zip(again.components, motion.components, strict=True):
        if isinstance(new, MultiSE3Seq):
            assert np.allclose(
                poses.to_matrix(new.values), poses.to_matrix(old.values), atol=1e-12
            )
        else:
            assert np.array_equal(new.values, old.values)


@given(seeds)
@settings(max_examples=tries(20), deadline=None)
def test_power_of_joints_is_mirrored_with_them(seed):
    body = symmetric_body(seed, kinds=("rotate", "slide"))
    motion = walk(body, seed)
    mirrored = editing.mirror(motion, body)

    def power(m):
        speed = np.diff(m.joint_displacement.values, axis=0)
        return np.sum(speed * m.components[2].values[1:], axis=1)

    assert np.allclose(power(mirrored), power(motion))


def test_names_may_be_given():
    body = symmetric_body(8, pairs=3, middle=1)
    renamed = Body(
        links=tuple(
            replace(link, name=f"n{link.index}", joint=replace(link.joint, name=""))
            for link in body.links
        )
    )
    pairs = {
        f"n{link.index}": f"n{body.link('R_' + link.name[2:]).index}"
        for link in body.links
        if link.name.startswith("L_")
    }
    motion = walk(body, 8)
    assert editing.mirror(motion, renamed, pairs) == editing.mirror(motion, body)
    by_joint = Body(
        links=tuple(replace(link, name=f"n{link.index}") for link in body.links)
    )
    assert editing.mirror(motion, by_joint) == editing.mirror(motion, body)
    with pytest.raises(ValueError, match=r"no link 'x'; expected one of n0, n1"):
        editing.mirror(motion, renamed, {"n1": "x"})


def test_a_body_that_is_not_symmetric_is_said_or_refused():
    body = symmetric_body(4, pairs=2, middle=1, kinds=("rotate",))
    index = body.link("R_ARM0").index
    link = body.links[index]

    def with_link(new):
        return Body(
            links=tuple(
                new if i == index else other for i, other in enumerate(body.links)
            )
        )

    shifted = with_link(
        replace(link, offset=np.add(link.offset, [0, 0, 0.02, 0, 0, 0, 0]))
    )
    (problem,) = editing.mirror(walk(shifted, 1), shifted).problems
    assert problem.rule == "EDIT103"
    assert "20 mm" in problem.message
    across = np.cross(link.joint.axis, [0.3, 0.5, 0.8])
    turned = with_link(
        replace(link, joint=replace(link.joint, axis=across / np.linalg.norm(across)))
    )
    with pytest.raises(ValueError, match="not mirror images"):
        editing.mirror(walk(turned, 1), turned)
    slides = with_link(replace(link, joint=replace(link.joint, type="slide")))
    with pytest.raises(ValueError, match="rotate joint"):
        editing.mirror(walk(slides, 1), slides)


def test_a_root_alone_needs_no_body():
    motion = editing.drop(any_motion(0), "JointDisplacement", "Temperature", "Bar")
    assert editing.mirror(motion).problems == ()
    assert editing.mirror(editing.mirror(motion)) == motion
    with pytest.raises(ValueError, match="mirroring JointDisplacement needs the body"):
        editing.mirror(any_motion(0))


def test_other_columns_and_contents_stay_and_are_said():
    body = symmetric_body(2, pairs=1, middle=0, kinds=("rotate",))

    def named(names=(), **size):
        parts = any_motion(0, **size).components
        return Motion(
            tuple(
                replace(p, part_labels=names) if p.content == "JointDisplacement" else p
                for p in parts
            )
        )

    names = tuple(joint.name for joint in body.joints)
    assert (
        editing.mirror(
            named(names, columns=len(names)), body
        ).joint_displacement.part_labels
        == names
    )
    motion = named(columns=body.num_joints + 2)
    mirrored = editing.mirror(motion, body)
    assert np.array_equal(
        mirrored.joint_displacement.values[:, -2:],
        motion.joint_displacement.values[:, -2:],
    )
    assert [p.rule for p in mirrored.problems] == ["EDIT102"] * 3
    with pytest.raises(
        ValueError, match=f"1 joint columns, symmetric has {body.num_joints}"
    ):
        editing.mirror(named(columns=1), body)
    with pytest.raises(ValueError, match="LinkPosition has 2 links"):
        editing.mirror(named(columns=body.num_joints, links=2), body)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("L_HIP", "R_HIP"),
        ("hip_l", "hip_r"),
        ("LARM_JOINT3", "RARM_JOINT3"),
        ("RLEG_HIP_R", "LLEG_HIP_R"),
        ("R_HIP_R", "L_HIP_R"),
        ("left_knee", "right_knee"),
        ("LeftKnee", "RightKnee"),
        ("ANKLE_LEFT", "ANKLE_RIGHT"),
        ("KneeL", "KneeR"),
        ("hip.L", "hip.R"),
        ("fl_hip", "fr_hip"),
        ("HL_knee", "HR_knee"),
        ("RL_calf", "RR_calf"),
        ("lf_haa", "rf_haa"),
        ("FL.HX", "FR.HX"),
        ("jointLArm", "jointRArm"),
        ("lfemur_lfemurrz", "rfemur_rfemurrz"),
        ("left_leg_l_hip", "right_leg_r_hip"),
        ("L_ARM_L_ARM_ROLL", "R_ARM_R_ARM_ROLL"),
        ("FL_thigh_FL_hip", "FR_thigh_FR_hip"),
    ],
)
def test_names_of_sides(one, other):
    names = [one, other, "WAIST", "HEAD_R"]
    assert pair_names(names) == [1, 0, 2, 3]
    assert pair_names(names[::-1]) == [0, 1, 3, 2]
    assert other in other_sides(one)
    assert one in other_sides(other)


def test_a_name_is_in_one_pair():
    assert pair_names(["a", "b", "c"], {"a": "c", "c": "a"}) == [2, 1, 0]
    with pytest.raises(ValueError, match="'a' is in two pairs: with 'b' and with 'c'"):
        pair_names(["a", "b", "c"], {"a": "b", "c": "a"})
    assert pair_names(["L_X", "L_X", "R_X"]) == [2, 1, 0]


MODELS = (
    "choreonoid+choreonoid/share/model/SR1/SR1",
    "choreonoid+choreonoid/share/model/GR001/GR001",
    "fkanehiro+openhrp3/sample/model/sample_4leg_robot",
)


@pytest.mark.parametrize("model", MODELS, ids=lambda name: name.rpartition("/")[2])
def test_real_robots_are_their_own_mirror_image(corpus, model):
    body = bm.load(corpus / f"wrl/{model}.wrl")
    motion = walk(body, 0)
    mirrored = editing.mirror(motion, body)
    assert mirrored.problems == ()
    found = body.forward_kinematics(
        mirrored.joint_displacement.values, mirrored.link_position.values[:, 0]
    )
    assert np.allclose(
        poses.to_matrix(found),
        poses.to_matrix(mirrored.link_position.values),
        atol=1e-9,
    )
    partners = pair_names([link.name for link in body.links])
    assert sum(partner != index for index, partner in enumerate(partners)) >= 18
    for index, partner in enumerate(partners):
        expected = motion.link_position.values[:, index, :3] * [1, -1, 1]
        assert np.allclose(
            mirrored.link_position.values[:, partner, :3], expected, atol=1e-9
        )


def checked_mirror(body: Body) -> None:
    """Check that the mirrored motion of random joint values moves the links as the mirror image."""
    rng = np.random.default_rng(1)
    q = rng.normal(size=(5, body.num_joints))
    root = np.tile([0.1, 0.2, 0.9, 1, 0, 0, 0], (5, 1))
    motion = Motion.from_joints(q, 100, root=root)
    mirrored = editing.mirror(motion, body)
    image = body.link_poses(mirrored)
    partners = editing.mirroring.symmetry(body).links
    places = body.link_poses(motion)[..., :3] * [1, -1, 1]
    np.testing.assert_allclose(image[:, partners, :3], places, atol=1e-9)
    assert any(partners != np.arange(len(partners)))


LEG = """<body name="{0}hipjoint" pos="0 {1}.1 0"><geom size=".05"/>
<body name="{0}femur"><joint name="{0}femurrz" axis="0 0 {1}1"/><joint name="{0}femurry" axis="0 1 0"/>
<joint name="{0}femurrx" axis="{1}1 0 0"/><geom type="capsule" size=".04" fromto="0 0 0 0 0 -.4"/>
<body name="{0}tibia" pos="0 0 -.4"><joint name="{0}tibiarx" axis="1 0 0"/><geom size=".05"/></body></body></body>"""


@pytest.mark.parametrize("sides", [("l", "r"), ("left_", "right_"), ("L", "R")])
def test_links_between_the_joints_of_a_body(sides, tmp_path):
    """Links that the reader of MJCF names after a body and its joint are partners."""
    legs = LEG.format(sides[0], "") + LEG.format(sides[1], "-")
    text = f"<mujoco><worldbody><body name='root'><freejoint/><geom size='.1'/>{legs}</body></worldbody></mujoco>"
    (tmp_path / "a.xml").write_text(text)
    checked_mirror(bm.load_body(tmp_path / "a.xml"))


def test_links_are_paired_by_their_joints():
    """Where names of links show no side, those of their joints do, also beside links whose names do."""
    links = [bm.Link(name="base", joint=bm.Joint(name="base", type="free"))]
    for k, (name, joint) in enumerate(
        [("l_arm", "a1"), ("r_arm", "a2"), ("link3", "l_leg"), ("link4", "r_leg")]
    ):
        side = 1 - 2 * (k % 2)
        links.append(
            bm.Link(
                name=name,
                index=k + 1,
                parent=0,
                offset=np.array([0.1 * (k // 2), 0.2 * side, 0, 1, 0, 0, 0]),
                joint=bm.Joint(name=joint, type="rotate", id=k, axis=[1, 0, 0]),
            )
        )
    checked_mirror(bm.Body(name="b", links=tuple(links)))
    found = editing.mirroring.symmetry(bm.Body(name="b", links=tuple(links)))
    assert found.links.tolist() == [0, 2, 1, 4, 3]


def test_a_stranger_with_two_joints_in_a_body(strangers):
    body = bm.load_body(strangers / "23/cmu_like.xml")
    checked_mirror(body)
    motion = bm.load_motion(strangers / "23/m.csv", body=body, degrees=False)
    mirrored = editing.mirror(motion, body)
    assert mirrored["lfemurrz"].tolist() == motion["rfemurrz"].tolist()
    assert editing.mirror(mirrored, body) == motion
