"""Motions made from arrays in a few lines, and what is said when the arrays do not fit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.motion.components import Timeline

Q = np.arange(12.0).reshape(4, 3) / 10
ROOT = np.tile([0.0, 0, 0.7, 1, 0, 0, 0], (4, 1))


def test_joints_root_and_zmp():
    motion = bm.Motion.from_joints(
        Q, 200, root=ROOT, zmp=np.zeros((4, 3)), joint_names=("a", "b", "c")
    )
    assert motion.timeline == Timeline.uniform(4, 200)
    assert np.array_equal(motion.joint_displacement.values, Q)
    assert motion.joint_displacement.part_labels == ("a", "b", "c")
    assert np.array_equal(motion.link_position.values[:, 0], ROOT)
    assert not motion.zmp.is_root_relative
    assert bm.Motion.from_joints(
        Q, 200, zmp=np.zeros((4, 3)), zmp_is_root_relative=True
    ).zmp.is_root_relative
    assert bm.Motion.from_joints(Q, 200, root=ROOT[0]) == bm.Motion.from_joints(
        Q, 200, root=ROOT
    )
    assert (
        bm.Motion.from_joints(Q.tolist(), 200).joint_displacement.values.dtype
        == np.float64
    )


@pytest.mark.parametrize(
    "rate", [100, 100.0, np.float32(100), np.int64(100), np.array(100.0), Fraction(100)]
)
def test_numbers_of_any_kind(rate):
    motion = bm.Motion.from_joints(Q, 100.0, joint_names=("a", "b", "c"))
    kinds = (
        Q.tolist(),
        Q.astype(np.longdouble),
        [[Fraction(value) for value in row] for row in Q.tolist()],
    )
    for q in kinds:
        other = bm.Motion.from_joints(q, rate, joint_names=np.array(["a", "b", "c"]))
        assert other == motion
        assert type(other.frame_rate) is float
        assert all(type(label) is str for label in other.joint_displacement.part_labels)


def test_times():
    motion = bm.Motion.from_joints(Q, times=[0, 0.1, 0.3, 0.4])
    assert motion.frame_rate is None
    assert np.array_equal(motion.times, [0, 0.1, 0.3, 0.4])


def test_link_poses():
    poses = np.tile(ROOT[:, None], (1, 2, 1))
    motion = bm.Motion.from_link_poses(poses, 50, link_names=("WAIST", "CHEST"))
    assert np.array_equal(motion.link_position.values, poses)
    assert motion.link_position.part_labels == ("WAIST", "CHEST")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"q": Q[0], "frame_rate": 100},
            r"q: expected shape \(frames, joints\), got \(3,\)",
        ),
        ({"q": Q}, "either a frame_rate"),
        ({"q": Q, "frame_rate": 100, "times": [0, 1, 2, 3]}, "either a frame_rate"),
        ({"q": Q, "frame_rate": 0}, "positive"),
        ({"q": Q, "times": [0, 1]}, r"times: expected shape \(4,\).* got \(2,\)"),
        ({"q": Q, "times": [0, 1, 1, 2]}, "times must increase"),
        (
            {"q": Q, "frame_rate": 1, "root": ROOT[:3]},
            r"root: expected shape \(4, 7\) .*\(4, 3\), got \(3, 7\)",
        ),
        ({"q": Q, "frame_rate": 1, "root": ROOT[:, :3]}, r"got \(4, 3\)"),
        (
            {"q": Q, "frame_rate": 1, "root": ROOT * 2},
            "unit quaternion w x y z; in frame 0 its length is 2",
        ),
        (
            {"q": Q, "frame_rate": 1, "zmp": np.zeros((4, 2))},
            r"zmp: expected shape \(4, 3\) .*got \(4, 2\)",
        ),
        (
            {"q": Q, "frame_rate": 1, "joint_names": ("a",)},
            r"1 joint names for q of shape \(4, 3\)",
        ),
        ({"q": Q + 0j, "frame_rate": 1}, "q: expected real numbers, got complex128"),
        (
            {"q": [[1.0, 2.0], [None, 1.0]], "frame_rate": 1},
            r"q: expected real numbers, got None at \[1, 0\]",
        ),
        ({"q": [["1", "2"]], "frame_rate": 1}, "q: expected real numbers"),
        (
            {"q": [[1.0, 2.0], [1.0]], "frame_rate": 1},
            "q: expected a regular array .* rows of one length",
        ),
        ({"q": None, "frame_rate": 1}, "q: expected real numbers, got None"),
        ({"q": Q, "frame_rate": 1, "root": ROOT * 1j}, "root: expected real numbers"),
        (
            {"q": Q, "frame_rate": 1, "zmp": [[0, 0, None]] * 4},
            "zmp: expected real numbers, got None",
        ),
        ({"q": Q, "times": ["0", "1", "2", "3"]}, "times: expected real numbers"),
        ({"q": Q, "times": [0, 1, 2j, 3]}, "times: expected real numbers"),
        (
            {"q": Q, "frame_rate": 1, "joint_names": "abc"},
            "joint_names: expected a sequence .* text 'abc'",
        ),
        (
            {"q": Q, "frame_rate": 1, "joint_names": (1, 2, 3)},
            "joint_names: expected texts, got 1",
        ),
        (
            {"q": Q, "frame_rate": 1, "joint_names": ("a", None, "c")},
            "joint_names: expected texts, got None",
        ),
        (
            {"q": Q, "frame_rate": "100"},
            "frame_rate: expected a real number of Hz, got '100'",
        ),
        (
            {"q": Q, "frame_rate": True},
            "frame_rate: expected a real number of Hz, got True",
        ),
        ({"q": Q, "frame_rate": np.True_}, "frame_rate: expected"),
        ({"q": Q, "frame_rate": 100j}, "frame_rate: expected"),
        ({"q": Q, "frame_rate": [100]}, "frame_rate: expected"),
        ({"q": Q, "frame_rate": float("nan")}, "positive"),
    ],
)
def test_what_does_not_fit_is_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        bm.Motion.from_joints(**arguments)
