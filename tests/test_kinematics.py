"""Forward kinematics: against Pinocchio on robots made at random, and as laws."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.kinematics import pinocchio_configurations, pinocchio_model
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.geometry import poses, rotations
from bodymotion.kernels.kinematics import sines_and_cosines
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link, Segment
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.motion.components import Timeline
from sample_files import tries

pin = pytest.importorskip("pinocchio")


def random_body(
    seed: int, count: int, types=("rotate", "slide", "fixed", "crawler", "rotate")
) -> Body:
    rng = np.random.default_rng(seed)
    links, next_id = [], 0
    for index in range(count):
        kind = "free" if index == 0 else str(rng.choice(types))
        axis = rng.normal(size=3)
        joint_id = -1
        if kind in ("rotate", "slide", "crawler"):
            joint_id, next_id = next_id, next_id + 1
        links.append(
            Link(
                name=f"link{index}",
                index=index,
                parent=int(rng.integers(0, index)) if index else -1,
                joint=Joint(type=kind, id=joint_id, axis=axis / np.linalg.norm(axis)),
                offset=[*rng.normal(size=3), *rng.normal(size=4)],
                segments=(
                    Segment(
                        mass=float(rng.uniform(0.1, 3)),
                        center_of_mass=rng.normal(size=3),
                    ),
                ),
            )
        )
    return Body(name="random", links=tuple(links))


def random_state(body: Body, seed: int, frames: int):
    rng = np.random.default_rng(seed + 1)
    return rng.normal(size=(frames, body.num_joints)) * 2, rng.normal(size=(frames, 7))


@given(
    st.integers(0, 10_000), st.integers(1, 25), st.sampled_from([1, 2, 31, 32, 33, 70])
)
@settings(max_examples=tries(60), deadline=None)
def test_link_poses_are_those_of_pinocchio(seed, count, frames):
    body = random_body(seed, count)
    q, root = random_state(body, seed, frames)
    found = body.forward_kinematics(q, root)
    model, columns, parents, placements = pinocchio_model(body)
    data = model.createData()
    for row, configuration in enumerate(
        pinocchio_configurations(body, columns, model.nq, q, root)
    ):
        pin.forwardKinematics(model, data, configuration)
        for link in body.links:
            expected = data.oMi[parents[link.index]] * placements[link.index]
            assert np.allclose(
                found[row, link.index, :3], expected.translation, atol=1e-12
            )
            assert np.allclose(
                rotations.to_matrix(found[row, link.index, 3:]),
                expected.rotation,
                atol=1e-12,
            )


@pytest.mark.parametrize("frames", [511, 513, 5000])
def test_many_frames_are_each_frame_alone(frames):
    body = random_body(7, 12)
    q, root = random_state(body, 7, frames)
    together = body.forward_kinematics(q, root)
    for row in (0, 1, 31, 32, frames // 2, frames - 1):
        np.testing.assert_allclose(
            together[row],
            body.forward_kinematics(q[row], root[row]),
            rtol=0,
            atol=1e-13,
        )


def test_the_neutral_pose_is_the_product_of_offsets():
    body = random_body(3, 8)
    found = body.forward_kinematics(np.zeros(body.num_joints), poses.IDENTITY)
    for link in body.links[1:]:
        assert np.allclose(
            poses.to_matrix(found[link.index]),
            poses.to_matrix(poses.compose(found[link.parent], link.offset)),
            atol=1e-13,
        )


def test_turning_the_root_turns_everything():
    body = random_body(5, 10)
    q, root = random_state(body, 5, 4)
    by = np.array([0.3, -1, 2, *rotations.from_rpy([0.4, -1.2, 3])])
    moved = body.forward_kinematics(q, poses.compose(by, root))
    expected = poses.compose(by, body.forward_kinematics(q, root))
    assert np.allclose(poses.to_matrix(moved), poses.to_matrix(expected), atol=1e-12)


def test_batch_axes_broadcast_and_wrong_shapes_are_named():
    body = random_body(1, 6)
    q = np.zeros((3, 5, body.num_joints))
    assert body.forward_kinematics(q, np.tile(poses.IDENTITY, (5, 1))).shape == (
        3,
        5,
        6,
        7,
    )
    assert body.forward_kinematics(np.zeros((0, body.num_joints))).shape == (0, 6, 7)
    with pytest.raises(ValueError, match=f"{body.num_joints} joint columns"):
        body.forward_kinematics(np.zeros(body.num_joints + 1))
    with pytest.raises(ValueError, match="7 numbers"):
        body.forward_kinematics(np.zeros(body.num_joints), np.zeros(6))


def test_a_crawlers_value_moves_no_link():
    body = random_body(11, 15, types=("crawler", "fixed"))
    assert body.num_joints > 0
    q = np.random.default_rng(0).normal(size=body.num_joints)
    assert np.array_equal(
        body.forward_kinematics(q), body.forward_kinematics(np.zeros(body.num_joints))
    )


def test_a_root_quaternion_that_is_no_rotation_counts_as_the_identity():
    body = random_body(2, 4)
    q = np.zeros(body.num_joints)
    straight = body.forward_kinematics(q, [0, 0, 0, 1, 0, 0, 0])
    for broken in ([0, 0, 0, 0], [np.nan, 0, 0, 0], [np.inf, 1, 0, 0]):
        assert np.array_equal(body.forward_kinematics(q, [0, 0, 0, *broken]), straight)
    for scale in (1e-310, 1e-200, 3, 1e200):
        assert np.allclose(
            body.forward_kinematics(q, [0, 0, 0, scale, 0, 0, 0]), straight, atol=1e-9
        )


@given(st.floats(-1e5, 1e5), st.integers(0, 6))
def test_sines_are_right_to_the_last_place(angle, shift):
    angles = np.resize(
        [angle, 0.0, -angle, np.pi / 4, 1e300, 2e6 + angle, -0.0], 7 + shift
    )
    sines, cosines = np.empty_like(angles), np.empty_like(angles)
    sines_and_cosines(angles, sines, cosines)
    assert np.all(np.abs(sines - np.sin(angles)) <= 2.3e-16)
    assert np.all(np.abs(cosines - np.cos(angles)) <= 2.3e-16)


def test_sines_of_what_is_not_finite_are_not_finite():
    angles = np.array([np.nan, np.inf, -np.inf, 1.0])
    sines, cosines = np.empty(4), np.empty(4)
    sines_and_cosines(angles, sines, cosines)
    assert np.isnan(sines[:3]).all()
    assert np.isnan(cosines[:3]).all()
    assert abs(sines[3] - np.sin(1.0)) < 1e-15


@given(st.integers(0, 1000))
@settings(max_examples=tries(20), deadline=None)
def test_center_of_mass_is_pinocchios(seed):
    body = random_body(seed, 9)
    q, root = random_state(body, seed, 3)
    model, columns, parents, placements = pinocchio_model(body)
    for link in body.links:
        inertia = pin.Inertia(link.mass, np.array(link.center_of_mass), np.eye(3))
        model.appendBodyToJoint(parents[link.index], inertia, placements[link.index])
    data = model.createData()
    found = body.center_of_mass(body.forward_kinematics(q, root))
    for row, configuration in enumerate(
        pinocchio_configurations(body, columns, model.nq, q, root)
    ):
        assert np.allclose(
            found[row], pin.centerOfMass(model, data, configuration), atol=1e-12
        )


def uniform(values, content):
    values = np.asarray(values, dtype=float)
    kind = MultiValueSeq if values.ndim == 2 else MultiSE3Seq
    return kind(
        content=content, timeline=Timeline.uniform(len(values), 100), values=values
    )


def test_the_three_combinations_of_link_and_joint_trajectories():
    body = random_body(4, 7)
    q, root = random_state(body, 4, 10)
    every = body.forward_kinematics(q, root)
    joints = uniform(q, "JointDisplacement")
    assert np.array_equal(
        body.link_poses(Motion((uniform(every, "LinkPosition"),))), every
    )
    assert np.array_equal(
        body.link_poses(Motion((uniform(root[:, None], "LinkPosition"), joints))), every
    )
    other = every + 0.25
    assert np.array_equal(
        body.link_poses(Motion((joints, uniform(other, "LinkPosition")))), other
    )
    assert np.array_equal(
        body.link_poses(Motion((joints,))), body.forward_kinematics(q)
    )
    no_links = uniform(np.zeros((10, 0, 7)), "LinkPosition")
    assert np.array_equal(
        body.link_poses(Motion((no_links, joints))), body.forward_kinematics(q)
    )


def test_a_motion_of_another_body_is_refused_with_both_counts():
    body = random_body(4, 7)
    few = body.num_joints - 1
    with pytest.raises(ValueError, match=f"{few} joint columns.*has {body.num_joints}"):
        body.link_poses(Motion((uniform(np.zeros((3, few)), "JointDisplacement"),)))
    with pytest.raises(ValueError, match="poses of 1 links and no joint"):
        body.link_poses(Motion((uniform(np.zeros((3, 1, 7)), "LinkPosition"),)))
    with pytest.raises(ValueError, match="poses of 8 links, random has 7"):
        body.link_poses(Motion((uniform(np.zeros((3, 8, 7)), "LinkPosition"),)))
    with pytest.raises(ValueError, match="neither"):
        body.link_poses(Motion())


def test_root_and_joints_on_different_timelines_meet_on_one():
    body = random_body(4, 7)
    q, root = random_state(body, 4, 9)
    slow = MultiSE3Seq(
        content="LinkPosition", timeline=Timeline.uniform(5, 50), values=root[::2, None]
    )
    found = body.link_poses(Motion((uniform(q, "JointDisplacement"), slow)))
    known = body.forward_kinematics(q[::2], root[::2])
    np.testing.assert_allclose(found[::2], known, atol=1e-12)
    # Between its frames the root moves along a straight line.
    halfway = 0.5 * (root[:-2:2, :3] + root[2::2, :3])
    np.testing.assert_allclose(found[1::2, 0, :3], halfway, atol=1e-12)


def test_joint_columns_follow_ids():
    def link(index, joint_id, kind="rotate"):
        return Link(
            name=f"l{index}",
            index=index,
            parent=index - 1,
            joint=Joint(name=f"j{index}", type=kind, id=joint_id),
        )

    body = Body(
        links=(
            link(0, -1, "free"),
            link(1, 3),
            link(2, 0, "fixed"),
            link(3, -1),
            link(4, 3, "slide"),
            link(5, -1, "fixed"),
        )
    )
    assert body.joint_links == (2, -1, -1, 1, 3)
    assert [joint.name for joint in body.joints] == ["j2", "", "", "j1", "j3"]
    assert [joint.type for joint in body.joints] == [
        "fixed",
        "fixed",
        "fixed",
        "rotate",
        "rotate",
    ]


def test_links_out_of_order_are_refused():
    with pytest.raises(ValueError, match="link-index order"):
        Body(links=(Link(index=0), Link(index=1, parent=1)))
