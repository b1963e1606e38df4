"""From joints to link poses and back, on bodies made at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symmetric_bodies import any_motion, moving_poses, smooth_table, symmetric_body

import bodymotion as bm
from bodymotion import editing
from bodymotion.geometry import arrays, poses
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.motion.components import Timeline
from sample_files import tries

seeds = st.integers(0, 10_000)


def second_combination(body, seed, frames=12, rate=50.0):
    rng = np.random.default_rng(seed)
    timeline = Timeline.uniform(frames, rate)
    q = smooth_table(rng, frames, body.num_joints, 10.0)
    q -= 2 * np.pi * np.rint(q[0] / (2 * np.pi))
    for column, index in enumerate(body.joint_links):
        if index < 0 or body.links[index].joint.type == "crawler":
            q[:, column] = 0
    root = MultiSE3Seq(
        content="LinkPosition",
        timeline=timeline,
        values=moving_poses(rng, frames, 1),
        extra={"a": 1},
    )
    return Motion(
        (MultiValueSeq(content="JointDisplacement", timeline=timeline, values=q), root),
        extra={"b": 2},
    )


@given(seeds)
@settings(max_examples=tries(40), deadline=None)
def test_there_and_back(seed):
    body = symmetric_body(seed)
    second = second_combination(body, seed)
    third = editing.fill_link_poses(second, body)
    q, root = second.joint_displacement.values, second.link_position.values[:, 0]
    assert np.allclose(
        third.link_position.values, body.forward_kinematics(q, root), atol=1e-12
    )
    assert np.array_equal(third.link_position.values[:, 0], root)
    assert third.link_position.extra == {"a": 1}
    first = editing.drop(third, "JointDisplacement")
    again, residual = editing.recover_joints(first, body)
    assert residual.distance < 1e-9
    assert residual.angle < 1e-7
    assert np.allclose(again.joint_displacement.values, q, atol=1e-7)
    assert again.problems == ()
    assert editing.keep_root_pose(third) == second
    assert editing.fill_link_poses(third, body) == third


def test_labels_of_links_go_on_with_their_names():
    body = symmetric_body(1)
    second = second_combination(body, 1)
    root = MultiSE3Seq(
        content="LinkPosition",
        timeline=second.timeline,
        values=second.link_position.values,
        part_labels=("base",),
    )
    third = editing.fill_link_poses(
        second.replaced(second.joint_displacement, root), body
    )
    assert third.link_position.part_labels == (
        "base",
        *(link.name for link in body.links[1:]),
    )
    assert editing.keep_root_pose(third).link_position == root


def test_the_worst_residual_says_where_and_when():
    body = symmetric_body(1, kinds=("rotate",))
    third = editing.fill_link_poses(second_combination(body, 1), body)
    values = np.array(third.link_position.values)
    values[7, 3, :3] += [0, 0.004, 0.003]
    values[9, 4] = poses.compose(values[9, 4], [0, 0, 0, 1, 0, 0, 0])
    broken = third.replaced(
        MultiSE3Seq(content="LinkPosition", timeline=third.timeline, values=values)
    )
    again, residual = editing.recover_joints(broken, body)
    assert residual.distance >= 0.005 - 1e-9
    assert residual.distance_frame == 7
    (problem,) = again.problems
    assert (problem.rule, problem.severity) == ("EDIT104", "warning")
    assert f"({residual.distance_link}, frame 7)" in problem.message


def test_joints_that_turn_on_go_beyond_half_a_turn():
    body = symmetric_body(3, pairs=1, middle=0, kinds=("rotate",))
    angles = np.linspace(0, 30, 60)[:, None] * np.ones(body.num_joints)
    for column, index in enumerate(body.joint_links):
        angles[:, column] *= index >= 0
    every = body.forward_kinematics(angles)
    motion = Motion(
        (
            MultiSE3Seq(
                content="LinkPosition", timeline=Timeline.uniform(60, 100), values=every
            ),
        )
    )
    found, _ = editing.recover_joints(motion, body)
    assert np.allclose(found.joint_displacement.values, angles, atol=1e-9)


def test_values_of_crawlers_come_from_the_joints_that_were_there():
    body = symmetric_body(5, kinds=("crawler",))
    second = second_combination(body, 5)
    q = second.joint_displacement.values + 1.0
    motion = second.replaced(
        MultiValueSeq(content="JointDisplacement", timeline=second.timeline, values=q),
        second.link_position,
    )
    found, _ = editing.recover_joints(editing.fill_link_poses(motion, body), body)
    assert np.allclose(found.joint_displacement.values, q, atol=1e-7)


def test_a_motion_without_a_root_stands_where_the_body_does():
    body = symmetric_body(2)
    second = second_combination(body, 2)
    third = editing.fill_link_poses(editing.keep(second, "JointDisplacement"), body)
    assert np.array_equal(
        third.link_position.values,
        body.forward_kinematics(second.joint_displacement.values),
    )


def test_a_root_of_another_rate_meets_the_joints():
    body = symmetric_body(2)
    second = second_combination(body, 2, frames=21)
    root = editing.keep(second, "LinkPosition").resample(25, "linear").link_position
    third = editing.fill_link_poses(
        second.replaced(second.joint_displacement, root), body
    )
    expected = body.forward_kinematics(
        second.joint_displacement.values, second.link_position.values[:, 0]
    )
    assert np.allclose(third.link_position.values[::2], expected[::2], atol=1e-9)
    assert third.num_frames == 21


def test_motions_of_other_bodies_are_refused_with_counts():
    body = symmetric_body(2)
    with pytest.raises(ValueError, match="0 of 1 joint name"):
        editing.fill_link_poses(any_motion(0, columns=1), body)
    with pytest.raises(ValueError, match="no joint displacements"):
        editing.fill_link_poses(Motion(), body)
    with pytest.raises(
        ValueError, match=f"poses of 1 links, symmetric has {len(body.links)} links"
    ):
        editing.recover_joints(any_motion(0), body)
    with pytest.raises(ValueError, match="recover_joints"):
        editing.keep_root_pose(Motion())


def test_what_does_not_fit_into_memory_is_said_before(monkeypatch):
    body = symmetric_body(2)
    monkeypatch.setattr(arrays, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="links in 12 frames would need"):
        editing.fill_link_poses(second_combination(body, 2), body)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_link_poses_and_joints_of_the_reference_program_go_over_into_each_other(
    corpus, version
):
    body = bm.load(corpus / "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl")
    third = bm.load(corpus / f"seq/made/sr1walk3_links_v{version}.seq")
    second = editing.keep_root_pose(third)
    filled = editing.fill_link_poses(second, body)
    assert second.link_position.num_parts == 1
    found, expected = filled.link_position.values, third.link_position.values
    assert np.allclose(poses.to_matrix(found), poses.to_matrix(expected), atol=2e-8)
    again, residual = editing.recover_joints(
        editing.drop(third, "JointDisplacement"), body
    )
    assert np.allclose(
        again.joint_displacement.values, third.joint_displacement.values, atol=2e-8
    )
    assert max(residual.distance, residual.angle) < 2e-8
