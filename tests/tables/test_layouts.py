"""Motions of other programs: each layout of arrays is the same motion; the order of quaternions is the one in which the root is upright."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.formats.npz.layouts import order_of
from bodymotion.geometry import rotations
from sample_files import CORPUS, missing

COUNT = 6
POSITION = np.random.default_rng(1).normal(size=(COUNT, 3))
TURN = rotations.from_rpy(
    np.random.default_rng(2).normal(size=(COUNT, 3)) * [0.1, 0.1, 2]
)
XYZW = TURN[:, [1, 2, 3, 0]]
AXIS, ANGLE = rotations.to_axis_angle(TURN)
Q = np.random.default_rng(3).normal(size=(COUNT, 2))
QPOS = np.hstack([POSITION, TURN, Q])
NAMES, BODIES = np.array(["a", "b"]), np.array(["base", "far"])


def two(values: np.ndarray) -> np.ndarray:
    """Return the values of a second body beside those of the first."""
    return np.stack([values, values], axis=1)


LAYOUTS = {
    "BeyondMimic": {
        "fps": [50],
        "joint_pos": Q,
        "body_pos_w": two(POSITION),
        "body_quat_w": two(TURN),
        "joint_names": NAMES,
    },
    "AMP": {
        "fps": 50,
        "dof_positions": Q,
        "body_positions": two(POSITION),
        "body_rotations": two(TURN),
        "dof_names": NAMES,
        "body_names": BODIES,
    },
    "ProtoMotions": {
        "fps": 50,
        "dof_pos": Q,
        "rigid_body_pos": two(POSITION),
        "rigid_body_rot": two(XYZW),
        "joint_names": NAMES,
    },
    "GMR": {
        "fps": 50.0,
        "dof_pos": Q,
        "root_pos": POSITION,
        "root_rot": XYZW,
        "joint_names": NAMES,
    },
    "GMR, w first": {
        "fps": 50.0,
        "dof_pos": Q,
        "root_pos": POSITION,
        "root_rot": TURN,
        "joint_names": NAMES,
    },
    "ASAP": {
        "fps": 50,
        "dof": Q,
        "root_trans_offset": POSITION,
        "root_rot": XYZW,
        "joint_names": NAMES,
    },
    "MuJoCo": {
        "times": np.arange(COUNT) / 50,
        "qpos": QPOS,
        "qvel": QPOS[:, 1:],
        "ctrl": Q[1:],
        "joint_names": NAMES,
    },
    "loco-mujoco 1": {
        "frequency": 50.0,
        "qpos": QPOS,
        "joint_names": np.array(["root", "a", "b"]),
    },
    "holosoma": {
        "fps": np.array([50]),
        "joint_pos": QPOS,
        "joint_vel": QPOS[:, 1:],
        "joint_names": NAMES,
    },
    "MimicKit": {
        "fps": 50,
        "frames": np.hstack([POSITION, AXIS * ANGLE[:, None], Q]),
        "loop_mode": 0,
        "joint_names": NAMES,
    },
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(tmp_path, name):
    np.savez(tmp_path / "a.npz", **LAYOUTS[name])
    motion = bm.load_motion(tmp_path / "a.npz")
    np.testing.assert_allclose(motion.timeline.times, np.arange(COUNT) / 50)
    np.testing.assert_allclose(motion.joint_displacement.values, Q)
    assert motion.joint_displacement.part_labels == ("a", "b")
    root = motion.link_position.values[:, 0]
    np.testing.assert_allclose(root[:, :3], POSITION)
    assert rotations.angle_between(root[:, 3:], TURN).max() < 1e-7
    assert motion.link_position.part_labels == (
        ("base", "far") if name == "AMP" else ()
    )


def test_a_fixed_base_and_one_array_for_each_joint(tmp_path):
    np.savez(tmp_path / "a.npz", qpos=Q, time=np.arange(COUNT) / 50, joint_names=NAMES)
    assert bm.load(tmp_path / "a.npz").link_position is None
    np.savez(tmp_path / "b.npz", q_a=Q[:, 0], q_b=Q[:, 1], dq_a=Q[:, 0], dq_b=Q[:, 1])
    motion = bm.load(tmp_path / "b.npz")
    assert motion.frame_rate == 500 and np.array_equal(
        motion.joint_displacement.values, Q
    )
    assert bm.load(tmp_path / "b.npz", frame_rate=100).frame_rate == 100


def test_the_order_of_quaternions():
    """Undecided where a person lies on the side, and for rotations about an axis between both readings."""
    assert (order_of(TURN), order_of(XYZW)) == ("wxyz", "xyzw")
    lying = rotations.multiply(rotations.from_rpy([np.pi / 2, 0, 0]), TURN)
    assert (
        order_of(lying) is None
        and order_of(np.zeros((3, 4))) is None
        and order_of(np.full((3, 4), 0.5)) is None
    )


def test_samples_of_retargeted_motions():
    """The root stands between 0.5 and 1 m above the ground, upright; joints stay within a turn."""
    files = sorted((CORPUS / "retargeted").rglob("*.*"))
    if not files:
        missing("retargeted motions")
    for path in files:
        motion = bm.load_motion(path)
        assert np.abs(motion.joint_displacement.values).max() < 2 * np.pi
        if motion.link_position is not None:
            root = motion.link_position.values[:, 0]
            assert (
                0.5 < np.median(root[:, 2]) < 1
                and np.median(rotations.rotate(root[:, 3:], [0, 0, 1.0])[:, 2]) > 0.9
            )
        if motion.joint_displacement.num_parts == 29 and path.suffix != ".csv":
            assert motion.joint_displacement.part_labels[3] == "left_knee_joint"


def test_bones_seed(tmp_path):
    """Centimetres, degrees, rotations about fixed x, y and z."""
    roll, pitch, yaw = np.degrees(rotations.to_rpy(TURN[0]))
    row = [0, *(POSITION[0] * 100), roll, pitch, yaw, *np.degrees(Q[0])]
    head = "Frame,root_translateX,root_translateY,root_translateZ,root_rotateX,root_rotateY,root_rotateZ,a_dof,b_dof"
    (tmp_path / "a.csv").write_text(
        head + "\n" + ",".join(map(repr, map(float, row))) + "\n"
    )
    motion = bm.load(tmp_path / "a.csv", frame_rate=120)
    np.testing.assert_allclose(motion.link_position.values[0, 0, :3], POSITION[0])
    assert (
        rotations.angle_between(motion.link_position.values[0, 0, 3:], TURN[0]) < 1e-7
    )
    np.testing.assert_allclose(motion.joint_displacement.values, Q[:1])
    assert motion.joint_displacement.part_labels == ("a", "b")


def test_joints_without_names_are_those_of_the_robot():
    """Files of TWIST2 have the positions of all bodies in the frame of the root, by its own kinematics: those of the G1 here."""
    files = sorted((CORPUS / "retargeted").rglob("*.pkl"))
    model = CORPUS / "robots/YanjieZe+GMR/assets/unitree_g1/g1_mocap_29dof.xml"
    if not files or not model.is_file():
        missing("motions of TWIST2, and their robot")
    body = bm.load_body(model)
    names = [link.name for link in body.links]
    for path in files:
        poses = body.link_poses(bm.load_motion(path))
        local = rotations.rotate(
            rotations.conjugate(poses[:, :1, 3:]), poses[..., :3] - poses[:, :1, :3]
        )
        with path.open("rb") as file:
            recorded = pickle.load(file)
        links = [names.index(name) for name in recorded["link_body_list"]]
        np.testing.assert_allclose(
            local[:, links], recorded["local_body_pos"], atol=1e-5
        )
