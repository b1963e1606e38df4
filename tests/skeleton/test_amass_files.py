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
    clip = bm.load_skeleton(
        tmp_path / "a.npz", body_model=tmp_path / "model.npz", up="Z"
    )
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


@pytest.mark.parametrize("rows", [1, COUNT])
def test_betas_with_rows(tmp_path, rows):
    """The shape of betas (1, N) or (T, N) is that of betas (N,); other shapes are refused."""
    motion, model = family(52)
    np.savez(tmp_path / "model.npz", **model)

    def load(betas: np.ndarray) -> bm.Skeleton:
        np.savez(tmp_path / "a.npz", **{**motion, "betas": betas})
        return bm.load_skeleton(
            tmp_path / "a.npz", body_model=tmp_path / "model.npz", up="Z"
        )

    betas = motion["betas"][:10]
    clip, whole = load(np.repeat(betas[None], rows, axis=0)), load(betas)
    np.testing.assert_allclose(
        clip.joint_positions(), whole.joint_positions(), atol=1e-12
    )
    assert not clip.problems
    assert np.abs(clip.joints[3].offset - load(0 * betas).joints[3].offset).max() > 0.1
    # The body model has ten directions of shape.
    assert [one.rule for one in load(motion["betas"]).problems] == ["AMS004"]
    for wrong in (betas[None, None], np.zeros((COUNT + 1, 10)), betas > 0):
        with pytest.raises(bm.FormatError, match="betas") as caught:
            load(wrong)
        assert caught.value.problem.rule == "AMS001"
        assert "rate" not in caught.value.problem.hint


def test_betas_of_strangers(strangers):
    """A file with betas (1, 16) is that with betas (16,)."""
    folder = strangers / "09"
    one, other = (
        bm.load_skeleton(folder / name, body_model=folder / "SMPLX_TOY.npz")
        for name in ("walk_stageii.npz", "betas2d.npz")
    )
    np.testing.assert_array_equal(one.joint_positions(), other.joint_positions())


def upright(axis: str) -> np.ndarray:
    """Return the root rotation vector of a person who is upright along an axis of the world."""
    about_x = {"Y": 0.0, "Z": np.pi / 2, "-Y": np.pi}[axis]
    return np.array([about_x, 0, 0])


@pytest.mark.parametrize(
    ("axis", "place", "up"),
    [
        ("Y", (0, 0.95, 0), "Y"),
        ("Y", (1, 0, 0), "Y"),
        ("Z", (0, 0, 0.95), "Z"),
        ("-Y", (0, 0.3, 3), "-Y"),
        # On the floor of a world with z up.
        ("Y", (0, 0.1, 0.2), "Z"),
    ],
)
@pytest.mark.parametrize("with_model", [True, False])
def test_the_axis_that_is_up(axis, place, up, with_model, tmp_path):
    """It is the one along which the person is upright, which is reported where it is not z; `up` states it."""
    motion, model = family(22)
    model["v_template"] *= 0.01
    model["shapedirs"] *= 0
    poses = np.zeros((COUNT, 66))
    poses[:, :3] = upright(axis)
    motion |= {"poses": poses, "trans": np.tile(place, (COUNT, 1)) * 1.0}
    np.savez(tmp_path / "a.npz", **motion)
    np.savez(tmp_path / "model.npz", **model)
    more = {"body_model": tmp_path / "model.npz"} if with_model else {}
    clip = bm.load_skeleton(tmp_path / "a.npz", **more)
    assert clip.up == up
    reported = [one.data["up"] for one in clip.problems if one.rule == "AMS005"]
    assert reported == ([] if up == "Z" else [up])
    stated = bm.load_skeleton(tmp_path / "a.npz", up="X", **more)
    assert stated.up == "X" and "AMS005" not in [one.rule for one in stated.problems]
    with pytest.raises(ValueError, match="W"):
        bm.load_skeleton(tmp_path / "a.npz", up="W")


def test_a_stranger_with_y_up(strangers):
    """The head of a person who walks is above the pelvis, at the height that is y in the file."""
    clip = bm.load_skeleton(
        strangers / "10/yup.npz", body_model=strangers / "10/SMPLX_TOY.npz"
    )
    places, as_read = clip.joint_positions(), clip.joint_positions(as_read=True)
    np.testing.assert_allclose(places[..., 2], as_read[..., 1], atol=1e-12)
    head, pelvis = (places[:, clip.names.index(name)] for name in ("head", "pelvis"))
    assert (head - pelvis)[:, 2].min() > 0.4
