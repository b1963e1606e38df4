"""NumPy archives: ours, BeyondMimic's, and hostile ones."""

from __future__ import annotations

import contextlib
import io
import zipfile
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.test_csv import arm

import bodymotion as bm
from bodymotion.geometry import rotations
from bodymotion.motion import Motion
from bodymotion.motion.components import Timeline
from sample_files import tries

read_npz = partial(bm.load, format="npz")


def refused(path, rule: str, **options) -> bm.Problem:
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path, **options)
    assert caught.value.problem.rule == rule, caught.value.problem
    return caught.value.problem


def mimic(count: int = 4):
    rng = np.random.default_rng(3)
    turns = rotations.normalized(rng.normal(size=(count, 2, 4)))
    return {
        "fps": np.array([50]),
        "joint_pos": rng.normal(size=(count, 3)).astype(np.float32),
        "joint_vel": np.zeros((count, 3), np.float32),
        "body_pos_w": rng.normal(size=(count, 2, 3)).astype(np.float32),
        "body_quat_w": turns.astype(np.float32),
        "body_lin_vel_w": np.zeros((count, 2, 3), np.float32),
        "body_ang_vel_w": np.zeros((count, 2, 3), np.float32),
    }


def test_numpy_reads_what_is_written(tmp_path):
    motion = bm.Motion.from_joints(
        np.eye(3),
        100,
        root=[0, 0, 0.7, 1, 0, 0, 0],
        zmp=np.ones((3, 3)),
        joint_names=("a", "b", "右"),
    )
    bm.save(motion, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as found:
        assert float(found["frame_rate"]) == 100
        assert found["joint_names"].tolist() == ["a", "b", "右"]
        assert np.array_equal(found["joint_displacement"], np.eye(3))
        assert found["link_position"].shape == (3, 1, 7)
        assert not found["zmp_is_root_relative"]
    for save in (np.savez, np.savez_compressed):
        with np.load(tmp_path / "a.npz") as found:
            save(tmp_path / "b.npz", **found)
        assert bm.load(tmp_path / "b.npz") == motion


def test_beyond_mimic_needs_names_or_a_body(tmp_path):
    path, arrays = tmp_path / "a.npz", mimic()
    np.savez(path, **arrays)
    assert "--joint-names" in refused(path, "NPZ104").hint
    motion = bm.load(path, joint_names=["HAND", "SHOULDER", "ELBOW"])
    assert motion.timeline == Timeline.uniform(4, 50)
    assert motion.link_position.num_parts == 1
    assert np.array_equal(
        motion.link_position.values[:, 0, 3:], arrays["body_quat_w"][:, 0]
    )
    assert np.array_equal(motion.joint_displacement.values, arrays["joint_pos"])
    named = bm.load(path, joint_names=["HAND", "SHOULDER", "ELBOW"], body=arm())
    assert named.joint_displacement.part_labels == ("SHOULDER", "ELBOW", "HAND")
    assert np.array_equal(
        named.joint_displacement.values, arrays["joint_pos"][:, [1, 2, 0]]
    )
    placed = bm.load(path, body=arm())
    assert np.array_equal(placed.joint_displacement.values, arrays["joint_pos"])
    assert "NPZ105" in [p.rule for p in placed.problems]
    both = bm.load(
        path,
        body=arm(),
        link_names=["SHOULDER", "BASE"],
        joint_names=["HAND", "SHOULDER", "ELBOW"],
    )
    assert np.array_equal(
        both.link_position.values[:, 0, :3], arrays["body_pos_w"][:, 1]
    )
    assert (
        "KNEE"
        in refused(
            path, "TAB101", joint_names=["KNEE", "WRIST", "ELBOW"], body=arm()
        ).message
    )


def test_irregular_archives(tmp_path):
    """Names may be bytes, a motion may have no frames, times in ns are reported, and an empty file is called empty."""
    path, names = tmp_path / "a.npz", ["HAND", "SHOULDER", "肘"]
    np.savez(path, **mimic(), joint_names=np.array([name.encode() for name in names]))
    assert bm.load(path).joint_displacement.part_labels == (*names,)
    np.savez(path, **mimic(0), joint_names=names)
    assert bm.load(path).joint_displacement.values.shape == (0, 3)
    np.savez(
        path, joint_displacement=np.zeros((20, 3)), times=np.arange(20) * 20_000_000
    )
    assert [(p.rule, p.message[:27]) for p in bm.load(path).problems] == [
        ("TAB105", "frames are 2e+07 s apart: a")
    ]
    path.write_bytes(b"")
    assert refused(path, "NPZ001").message == "the file is empty"
    (tmp_path / "a.pkl").write_bytes(b"")
    assert refused(tmp_path / "a.pkl", "PKL003").message == "the file is empty"


def test_beyond_mimic_is_written(tmp_path):
    """A root that turns about z at 2 rad/s and moves along x at 3 m/s, joints at rest."""
    times = np.arange(20) / 50
    zero = np.zeros(20)
    root = np.stack(
        [3 * times, zero, zero, np.cos(times), zero, zero, np.sin(times)], axis=-1
    )
    motion = bm.Motion.from_joints(np.zeros((20, 3)), 50, root=root)
    path = tmp_path / "a.npz"
    report = bm.save(motion, path, layout="beyondmimic", body=arm())
    assert [p.rule for p in report.losses] == ["LOSS012"]
    assert "positions, orientations are rounded" in report.losses[0].message
    with np.load(path) as found:
        assert {name: found[name].shape for name in found} == {
            "fps": (1,),
            "joint_pos": (20, 3),
            "joint_vel": (20, 3),
            "body_pos_w": (20, 4, 3),
            "body_quat_w": (20, 4, 4),
            "body_lin_vel_w": (20, 4, 3),
            "body_ang_vel_w": (20, 4, 3),
            "joint_names": (3,),
            "body_names": (4,),
        }
        assert np.allclose(found["body_lin_vel_w"][:, 0], [3, 0, 0], atol=1e-5)
        assert np.allclose(found["body_ang_vel_w"], [0, 0, 2], atol=1e-5)
        assert np.allclose(found["body_quat_w"][:, 0], root[:, 3:], atol=1e-6)
    for back in (bm.load(path), bm.load(path, body=arm())):
        assert np.allclose(back.link_position.values[:, 0], root, atol=1e-6)
        assert back.joint_displacement.part_labels == ("SHOULDER", "ELBOW", "HAND")
        assert back.link_position.part_labels == ("BASE", "SHOULDER", "ELBOW", "HAND")
    for missing in (
        {},
        {"body": arm(), "motion": bm.Motion.from_link_poses(root[:, None], 50)},
    ):
        with pytest.raises(ValueError, match="beyondmimic"):
            bm.save(
                missing.get("motion", motion),
                path,
                layout="beyondmimic",
                body=missing.get("body"),
            )


@pytest.mark.parametrize(
    ("arrays", "rule"),
    [
        ({"poses": np.zeros((2, 3)), "trans": np.zeros((2, 3))}, "AMS001"),
        ({"joint_displacement": np.zeros(3), "frame_rate": np.array(1)}, "NPZ102"),
        ({"joint_displacement": np.zeros((2, 3))}, "NPZ103"),
        ({"joint_displacement": np.zeros((2, 3)), "frame_rate": np.array(0)}, "MOT106"),
        (
            {"joint_displacement": np.zeros((2, 3)), "times": np.array([1.0, 1.0])},
            "MOT105",
        ),
        ({"joint_displacement": np.zeros((2, 3)), "times": np.array([1.0])}, "NPZ102"),
        (
            {"joint_displacement": np.array([["a"]]), "frame_rate": np.array(1)},
            "NPZ102",
        ),
        (
            {
                "joint_displacement": np.zeros((2, 3)),
                "frame_rate": np.array(1),
                "joint_names": np.array(["a"]),
            },
            "NPZ102",
        ),
        ({"joint_displacement": np.array([[object()]])}, "NPZ003"),
        ({"joint_displacement": np.zeros((2, 3), "V4")}, "NPZ003"),
    ],
)
def test_faults(tmp_path, arrays, rule):
    np.savez(tmp_path / "a.npz", **arrays)
    refused(tmp_path / "a.npz", rule)


def test_archives_that_unpack_to_too_much(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(3):
            archive.writestr(f"a{k}.npy", bytes(100 << 20))
    assert path.stat().st_size < 1 << 20
    refused(path, "FMT010")


def test_a_header_that_lies(tmp_path):
    """A shape of petabytes over a few bytes allocates nothing."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    )
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("joint_displacement.npy", stream.getvalue() + bytes(80))
    refused(tmp_path / "a.npz", "NPZ001")


def whole() -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(
        stream, joint_displacement=np.ones((3, 2)), frame_rate=np.array(10.0)
    )
    return stream.getvalue()


WHOLE = whole()


@settings(max_examples=tries(150), deadline=None)
@given(
    st.integers(0, len(WHOLE)),
    st.lists(
        st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=4
    ),
)
def test_damaged_archives(tmp_path_factory, length, changes):
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    path = tmp_path_factory.mktemp("npz") / "a.npz"
    path.write_bytes(bytes(data[: length or None]))
    with contextlib.suppress(bm.FormatError):
        assert isinstance(read_npz(path), Motion)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("info", "NPZ003 MOT101 MOT106"),
        ("frame_rate", "NPZ003 MOT101"),
        ("joint_displacement", "NPZ003"),
    ],
)
@pytest.mark.parametrize("value", [np.array({}, object), np.array([1j])])
def test_an_array_of_another_type_hides_no_other(key, value, expected, tmp_path):
    path = tmp_path / "a.npz"
    np.savez(
        path, **{"joint_displacement": [[np.nan], [0.0]], "frame_rate": 0.0, key: value}
    )
    assert " ".join(sorted({one.rule for one in bm.check(path).problems})) == " ".join(
        sorted(expected.split())
    )
