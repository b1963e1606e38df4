"""The walk of the examples keeps the laws of walking; where it can, another program says so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from bodymotion.geometry import poses, rotations

RATE = 100.0
FEET = ("R_ANKLE_ROLL", "L_ANKLE_ROLL")


@pytest.fixture(scope="module")
def soles(body):
    """The flat of each sole: corners (N, 3) in the foot's frame, at the lowest points of the foot."""
    result = []
    for name in FEET:
        vertices = np.concatenate(
            [shape.to_mesh().vertices for shape in body.link(name).visuals]
        )
        result.append(vertices[vertices[:, 2] < vertices[:, 2].min() + 1e-6])
    return result


@pytest.fixture(scope="module")
def contacts(body, link_poses, soles):
    """Whether each foot (T, 2) stands flat on the ground."""
    flat = []
    for name, sole in zip(FEET, soles, strict=True):
        points = poses.transform_points(
            link_poses[:, body.link(name).index, None], sole
        )
        flat.append(np.abs(points[..., 2]).max(axis=-1) < 1e-8)
    return np.stack(flat, axis=-1)


def intervals(mask):
    """Return begin and end of the runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return list(zip(edges[::2], edges[1::2], strict=True))


def test_nothing_is_odd(motion, body):
    assert motion.problems == ()
    assert (motion.frame_rate, motion.num_frames, motion.duration) == (
        100.0,
        1001,
        10.0,
    )
    assert motion.link_position.num_parts == 1
    assert motion.joint_displacement.num_parts == body.num_joints == 32
    assert not motion.zmp.is_root_relative
    np.testing.assert_allclose(
        np.linalg.norm(motion.link_position.values[:, 0, 3:], axis=-1), 1, atol=1e-9
    )


def test_joints_stay_within_their_limits(motion, body):
    q = motion.joint_displacement.values
    lower, upper = (
        np.array([joint.lower for joint in body.joints]),
        np.array([joint.upper for joint in body.joints]),
    )
    assert np.all(q > lower) and np.all(q < upper)
    speed = np.abs(np.diff(q, axis=0)).max(axis=0) * RATE
    assert np.all(
        speed < 0.8 * np.array([joint.velocity_upper for joint in body.joints])
    )


def test_it_is_smooth(motion):
    """No joint jumps: its acceleration stays within what drives of that size give."""
    q = motion.joint_displacement.values
    assert np.abs(np.diff(q, n=2, axis=0)).max() * RATE**2 < 150


def test_it_begins_and_ends_at_rest(motion):
    q, root = motion.joint_displacement.values, motion.link_position.values[:, 0]
    for values in (q, root):
        for ends in (values[:3], values[-3:]):
            assert np.abs(np.diff(ends, axis=0)).max() * RATE < 5e-3


def test_standing_feet_neither_slip_nor_sink(contacts, body, link_poses, soles):
    assert contacts.any(axis=1).all(), "one foot at least stands"
    assert contacts[0].all() and contacts[-1].all()
    steps = 0
    for column, name in enumerate(FEET):
        foot = link_poses[:, body.link(name).index]
        holds = intervals(contacts[:, column])
        for begin, end in holds:
            assert np.ptp(foot[begin + 2 : end - 2], axis=0).max() < 1e-9
        assert all(
            np.linalg.norm(foot[b[0] + 5, :2] - foot[a[1] - 5, :2]) > 0.05
            for a, b in pairwise(holds)
        )
        steps += len(holds) - 1
        vertices = np.concatenate(
            [shape.to_mesh().vertices for shape in body.link(name).visuals]
        )
        assert poses.transform_points(foot[:, None], vertices)[..., 2].min() > -1e-9
    assert steps == 9


def test_the_feet_clear_the_ground_and_each_other(contacts, body, link_poses):
    height = (
        np.stack([link_poses[:, body.link(name).index, 2] for name in FEET], axis=-1)
        - 0.085
    )
    for column in (0, 1):
        for begin, end in intervals(~contacts[:, column]):
            assert height[begin:end, column].max() > 0.03
    apart = rotations.rotate(
        rotations.conjugate(link_poses[:, 0, 3:]),
        link_poses[:, body.link(FEET[1]).index, :3]
        - link_poses[:, body.link(FEET[0]).index, :3],
    )
    assert apart[:, 1].min() > 0.13


def test_it_goes_somewhere_with_bent_knees_and_swinging_arms(motion, body):
    q, root = motion.joint_displacement.values, motion.link_position.values[:, 0]
    assert np.linalg.norm(root[-1, :2] - root[0, :2]) > 1.5
    assert rotations.angle_between(root[0, 3:], root[-1, 3:]) == pytest.approx(
        0.48, abs=1e-6
    )
    column = {
        joint.name or link.name: k
        for k, (joint, link) in enumerate(zip(body.joints, body.links[1:], strict=True))
    }
    for side in "RL":
        assert q[:, column[f"{side}_KNEE"]].min() > np.radians(5)
        arm, leg = (
            q[250:700, column[f"{side}_SHOULDER_PITCH"]],
            q[250:700, column[f"{side}_HIP_PITCH"]],
        )
        assert np.corrcoef(arm, leg)[0, 1] < -0.5, "arms swing against the legs"


def test_the_loops_stay_closed(motion, body, link_poses):
    for loop in body.extra_joints:
        ends = [
            poses.transform_points(link_poses[:, link], point)
            for link, point in zip(loop.links, loop.positions, strict=True)
        ]
        assert np.abs(ends[0] - ends[1]).max() < 1e-9
        assert (
            np.ptp(
                motion.joint_displacement.values[:, body.links[loop.links[0]].joint.id]
            )
            > 0.1
        ), "and move"


def margin(point, corners):
    """By how much a point of the ground is inside the convex hull of `corners`; negative outside."""
    return -np.max(ConvexHull(corners[:, :2]).equations @ [point[0], point[1], 1.0])


def support_margins(points, contacts, body, link_poses, soles):
    result = np.empty(len(points))
    for frame in range(len(points)):
        corners = [
            poses.transform_points(link_poses[frame, body.link(name).index], sole)
            for column, (name, sole) in enumerate(zip(FEET, soles, strict=True))
            if contacts[frame, column]
        ]
        result[frame] = margin(points[frame], np.concatenate(corners))
    return result


def test_the_zero_moment_point_is_under_the_feet(
    motion, contacts, body, link_poses, soles
):
    zmp = motion.zmp.values
    np.testing.assert_array_equal(zmp[:, 2], 0)
    assert support_margins(zmp, contacts, body, link_poses, soles).min() > 0.04


@pytest.fixture(scope="module")
def mujoco_model(body):
    """The same robot in MuJoCo, which refuses bodies that cannot exist."""
    mujoco = pytest.importorskip("mujoco")
    children = {
        link.index: [c for c in body.links if c.parent == link.index]
        for link in body.links
    }

    def text(values):
        return " ".join(repr(float(value)) for value in np.ravel(values))

    def element(link):
        i = link.inertia
        joint = (
            f'<joint name="{link.name}" type="hinge" axis="{text(link.joint.axis)}"/>'
            if link.index
            else "<freejoint/>"
        )
        inertial = (
            f'<inertial pos="{text(link.center_of_mass)}" mass="{link.mass!r}" '
            f'fullinertia="{text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])}"/>'
        )
        return (
            f'<body name="{link.name}" pos="{text(link.offset[:3])}" quat="{text(link.offset[3:])}">{joint}{inertial}'
            + "".join(element(child) for child in children[link.index])
            + "</body>"
        )

    model = mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian"/><option gravity="0 0 -9.80665"/>'
        f"<worldbody>{element(body.links[0])}</worldbody></mujoco>"
    )
    return mujoco, model


def test_mujoco_sees_the_same_robot_in_motion(mujoco_model, motion, body, link_poses):
    mujoco, model = mujoco_model
    assert model.body_subtreemass[1] == pytest.approx(body.mass, rel=1e-9)
    data = mujoco.MjData(model)
    center = body.center_of_mass(link_poses)
    for frame in range(0, 1001, 50):
        data.qpos[:7] = motion.link_position.values[frame, 0]
        data.qpos[7:] = motion.joint_displacement.values[frame]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        np.testing.assert_allclose(data.xpos[1:], link_poses[frame, :, :3], atol=1e-9)
        np.testing.assert_allclose(data.subtree_com[1], center[frame], atol=1e-9)


def test_mujoco_finds_the_zero_moment_point_where_the_file_says(
    mujoco_model, motion, contacts, body, link_poses, soles
):
    """Inverse dynamics: force and torque on the free root, that is the ground's, give the point where it must push."""
    mujoco, model = mujoco_model
    data = mujoco.MjData(model)
    positions = np.concatenate(
        [motion.link_position.values[:, 0], motion.joint_displacement.values], axis=1
    )
    velocities = np.empty((len(positions) - 1, model.nv))
    for k in range(len(velocities)):
        mujoco.mj_differentiatePos(
            model, velocities[k], 1 / RATE, positions[k], positions[k + 1]
        )
    found = np.empty((len(positions) - 2, 3))
    for k in range(1, len(positions) - 1):
        data.qpos[:] = positions[k]
        data.qvel[:] = (velocities[k - 1] + velocities[k]) / 2
        data.qacc[:] = (velocities[k] - velocities[k - 1]) * RATE
        mujoco.mj_inverse(model, data)
        force = data.qfrc_inverse[:3]
        torque = rotations.rotate(positions[k, 3:7], data.qfrc_inverse[3:6]) + np.cross(
            positions[k, :3], force
        )
        found[k - 1] = [-torque[1] / force[2], torque[0] / force[2], 0]
        assert force[2] > 0.7 * body.mass * 9.8, "the robot never falls off the ground"
        sideways = np.linalg.norm(force[:2]) / force[2]
        assert sideways < 0.4, "nor would its feet slide"
    off = np.linalg.norm(found - motion.zmp.values[1:-1], axis=-1)
    assert off.max() < 0.005
    assert off.mean() < 0.001
    assert (
        support_margins(found, contacts[1:-1], body, link_poses[1:-1], soles).min()
        > 0.04
    )
