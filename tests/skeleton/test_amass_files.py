"""Recorded motion of body models: against forward kinematics of the SMPL family, written down again; rotations alone without the model."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.cli.info_data import describe
from bodymotion.formats.amass import joints_of
from bodymotion.geometry import rotations

COUNT = 4


def rodrigues(vector: np.ndarray) -> np.ndarray:
    """Return the matrix of a rotation vector."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def family(joints: int, seed: int = 1) -> tuple[dict[str, object], dict[str, object]]:
    """Return the arrays of a motion and of a body model of so many joints."""
    by = np.random.default_rng(seed)
    parents = [2**32 - 1, *joints_of(joints)[1][1:]]
    motion = {
        "trans": by.normal(size=(COUNT, 3)),
        "poses": by.normal(size=(COUNT, 3 * joints)),
        "betas": by.normal(size=16),
    }
    weights = by.random((joints, 60))
    model = {
        "J_regressor": weights / weights.sum(axis=1, keepdims=True),
        "v_template": by.normal(size=(60, 3)),
        "shapedirs": by.normal(size=(60, 3, 10)),
        "kintree_table": np.array([parents, [*range(joints)]], np.uint32),
        "part2num": np.array({"Pelvis": 0}, object),
    }
    return {
        **motion,
        "mocap_framerate": 120.0,
        "gender": np.array(b"female"),
        "dmpls": np.zeros((COUNT, 8)),
    }, model


@pytest.mark.parametrize("joints", [22, 24, 52, 55])
def test_positions(tmp_path, joints):
    """The pelvis is at its place at rest plus trans; each joint is its offset further, rotated by all above it."""
    motion, model = family(joints)
    np.savez(tmp_path / "a.npz", **motion)
    np.savez(tmp_path / "model.npz", **model)
    clip = bm.load_skeleton(tmp_path / "a.npz", body_model=tmp_path / "model.npz")
    shaped = model["v_template"] + np.einsum(
        "vcn,n->vc", model["shapedirs"], motion["betas"][:10]
    )
    rest = model["J_regressor"] @ shaped
    poses = clip.joint_poses()
    for frame in range(COUNT):
        turns, places = [], []
        for joint, parent in enumerate(joints_of(joints)[1]):
            own = rodrigues(motion["poses"][frame, 3 * joint : 3 * joint + 3])
            turns.append(own if parent < 0 else turns[parent] @ own)
            moved = (
                rest[0] + motion["trans"][frame]
                if parent < 0
                else places[parent] + turns[parent] @ (rest[joint] - rest[parent])
            )
            places.append(moved)
        np.testing.assert_allclose(poses[frame, :, :3], places, atol=1e-9)
        np.testing.assert_allclose(
            rotations.to_matrix(poses[frame, :, 3:]), turns, atol=1e-9
        )
    assert (clip.unit, clip.up, clip.frame_rate, len(clip.joints)) == (
        1,
        "Z",
        120,
        joints,
    )
    bm.save(clip, tmp_path / "a.bvh")
    again = bm.load_skeleton(tmp_path / "a.bvh")
    order = [again.names.index(name) for name in clip.names]
    np.testing.assert_allclose(
        again.joint_positions(as_read=True)[:, order], poses[..., :3], atol=1e-9
    )


def test_without_the_body_model(tmp_path):
    """Rotations are those with it; positions, pictures and files that need them are refused; a list of parts is the same as poses."""
    motion, model = family(55)
    poses = motion.pop("poses")
    parts = np.split(poses, np.cumsum([3, 63, 3, 6]), axis=1)
    np.savez(tmp_path / "model.npz", **model)
    np.savez(tmp_path / "a.npz", **motion, poses=poses)
    names = ("root_orient", "pose_body", "pose_jaw", "pose_eye", "pose_hand")
    np.savez(
        tmp_path / "b.npz",
        markers=np.zeros((30_000, 3)),
        **motion,
        **dict(zip(names, parts, strict=True)),
    )
    whole = bm.load_skeleton(tmp_path / "a.npz", body_model=tmp_path / "model.npz")
    for name in ("a.npz", "b.npz"):
        clip = bm.load_skeleton(tmp_path / name)
        assert not clip.lengths_are_known and [p.rule for p in clip.problems] == [
            "AMS003"
        ]
        np.testing.assert_array_equal(clip.local_rotations(), whole.local_rotations())
        assert describe(clip, tmp_path / name)["num_joints"] == 55
        assert not bm.check(tmp_path / name).errors
        for needs_positions in (
            clip.joint_positions,
            clip.body_and_motion,
            lambda clip=clip: bm.save(clip, tmp_path / "a.bvh"),
        ):
            with pytest.raises(ValueError, match="body model"):
                needs_positions()
