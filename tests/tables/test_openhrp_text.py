"""OpenHRP's plain text: the files of one name together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.tables.test_csv import arm

import bodymotion as bm
from bodymotion.geometry import rotations
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline


def write(folder, **files: str) -> None:
    for suffix, text in files.items():
        (folder / f"walk.{suffix}").write_text(text)


def test_any_of_the_files_names_all(tmp_path):
    write(
        tmp_path,
        pos="0.0 0.1 0.2 0.3\n0.5  0.2 0.3 4e-001 \n",
        waist=f"0 1 2 0.7 0 0 {math.pi / 2}\n0.5 1 2 0.8 0 0 0\n",
        hip=f"0 0 0 {math.pi / 2}\n0.5 0 0 0\n",
        zmp="0 0.01 0.02 -0.7\n0.5 0 0 -0.7\n",
    )
    for suffix in ("pos", "waist", "hip", "zmp"):
        motion = bm.load(tmp_path / f"walk.{suffix}")
        assert motion.timeline == Timeline.uniform(2, 2)
        assert np.array_equal(
            motion.joint_displacement.values, [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]]
        )
        half = math.sqrt(0.5)
        assert np.allclose(
            motion.link_position.values[0, 0], [1, 2, 0.7, half, 0, 0, half], atol=1e-15
        )
        assert motion.zmp.is_root_relative
        assert np.array_equal(motion.zmp.values[0], [0.01, 0.02, -0.7])
    assert bm.load(
        tmp_path / "walk.pos", body=arm()
    ).joint_displacement.part_labels == ("SHOULDER", "ELBOW", "HAND")


def test_a_waist_with_a_matrix_or_with_a_hip(tmp_path):
    turn = rotations.from_rpy([0.1, 0.2, 0.3])
    matrix = " ".join(map(repr, rotations.to_matrix(turn).ravel().tolist()))
    write(tmp_path, waist=f"0 1 2 3 {matrix}\n")
    assert np.allclose(
        bm.load(tmp_path / "walk.waist").link_position.values[0, 0, 3:],
        turn,
        atol=1e-15,
    )
    write(tmp_path, waist="0 1 2 3\n", hip="0 0.1 0.2 0.3\n")
    assert np.allclose(
        bm.load(tmp_path / "walk.waist").link_position.values[0, 0],
        [1, 2, 3, *turn],
        atol=1e-15,
    )
    (tmp_path / "walk.waist").unlink()
    motion = bm.load(tmp_path / "walk.hip")
    assert [p.rule for p in motion.problems] == ["OTX004"]


def test_the_real_file(corpus):
    path = (
        corpus
        / "seq/fkanehiro+openhrp3/sample/controller/SampleController/etc/Sample.pos"
    )
    motion = bm.load(path)
    wanted = np.loadtxt(path)
    assert np.array_equal(motion.joint_displacement.values, wanted[:, 1:])
    assert np.array_equal(motion.times, wanted[:, 0])
    assert motion.timeline.import_rate == 500
    started = bm.load(path, from_zero=True)
    assert started.timeline == Timeline.uniform(4451, 500)


def test_written_files_come_back(tmp_path):
    rng = np.random.default_rng(1)
    turns = rotations.normalized(rng.normal(size=(5, 4)))
    root = np.concatenate([rng.normal(size=(5, 3)), turns], axis=-1)
    motion = bm.Motion.from_joints(
        rng.normal(size=(5, 3)),
        200,
        root=root,
        zmp=rng.normal(size=(5, 3)),
        zmp_is_root_relative=True,
    )
    assert not bm.save(motion, tmp_path / "a.zmp").problems
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.hip",
        "a.pos",
        "a.waist",
        "a.zmp",
    ]
    back = bm.load(tmp_path / "a.hip")
    assert back.joint_displacement == motion.joint_displacement
    assert back.zmp == motion.zmp
    assert np.array_equal(
        back.link_position.values[..., :3], motion.link_position.values[..., :3]
    )
    assert (
        rotations.angle_between(
            back.link_position.values[..., 3:], motion.link_position.values[..., 3:]
        ).max()
        < 1e-7
    )


def test_a_zmp_of_the_world_becomes_the_roots(tmp_path):
    """The root stands at (1, 2, 3), turned by 90° about z: what is ahead of it in y is at its own x."""
    half = math.sqrt(0.5)
    motion = bm.Motion.from_joints(
        np.zeros((2, 1)),
        10,
        root=[1, 2, 3, half, 0, 0, half],
        zmp=np.tile([1.0, 2.5, 0.0], (2, 1)),
    )
    report = bm.save(motion, tmp_path / "a.pos")
    assert [p.rule for p in report.problems] == ["OTX102"]
    assert not report.losses
    back = bm.load(tmp_path / "a.pos").zmp
    assert back.is_root_relative
    assert np.allclose(back.values, [0.5, 0, -3], atol=1e-15)
    rootless = bm.Motion.from_joints(np.zeros((2, 1)), 10, zmp=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="no pose of the root"):
        bm.save(rootless, tmp_path / "b.pos")
    assert not (tmp_path / "b.pos").exists()


def test_the_file_that_is_named_is_written(tmp_path):
    motion = bm.Motion.from_link_poses([[[0, 0, 0, 1, 0, 0, 0]]] * 2, 10)
    with pytest.raises(
        ValueError, match=r"no data for a \.pos; name one of a\.waist, a\.hip"
    ):
        bm.save(motion, tmp_path / "a.pos")
    assert not list(tmp_path.iterdir())
    bm.save(motion, tmp_path / "a.hip")
    assert bm.load(tmp_path / "a.waist").link_position == motion.link_position


def test_what_stays_from_before_is_said(tmp_path):
    write(tmp_path, zmp="0 0 0 0\n")
    report = bm.save(bm.Motion.from_joints(np.zeros((2, 1)), 10), tmp_path / "walk.pos")
    assert [p.rule for p in report.problems] == ["OTX101"]
    assert not report.losses


@pytest.mark.parametrize(
    ("files", "rule", "line"),
    [
        ({"pos": "0 1\n1 x\n"}, "TAB004", 2),
        ({"pos": "0 1\n0 2\n"}, "MOT105", 2),
        ({"pos": "time a\n0 2\n"}, "OTX001", 1),
        ({"pos": ""}, "TAB002", None),
        ({"pos": "0 1\n", "zmp": "0 1 2\n"}, "OTX001", 1),
        ({"pos": "0 1\n", "waist": "0 1 2 3\n"}, "OTX001", None),
    ],
)
def test_faults(tmp_path, files, rule, line):
    write(tmp_path, **files)
    with pytest.raises(bm.FormatError) as caught:
        bm.load(tmp_path / "walk.pos")
    assert (caught.value.problem.rule, caught.value.problem.location.line) == (
        rule,
        line,
    )
    with pytest.raises(bm.FormatError) as caught:
        bm.load(tmp_path / "walk.pos", body=arm())


def test_a_hip_that_says_something_else_than_the_waist(tmp_path):
    write(
        tmp_path,
        waist="0 0 0 1 0 0 0.5\n1 0 0 1 0 0 0.5\n",
        hip="0 0 0 0.5\n1 0 0 0.8\n",
    )
    motion = bm.load(tmp_path / "walk.waist")
    assert np.allclose(
        rotations.to_rpy(motion.link_position.values[:, 0, 3:])[:, 2], 0.5
    )
    (problem,) = motion.problems
    assert (problem.rule, problem.location.line) == ("OTX006", 2)
    assert "17.2°" in problem.message
    write(tmp_path, hip="0 0 0 0.5004\n1 0 0 0.4996\n")
    assert not bm.load(tmp_path / "walk.waist").problems
    write(tmp_path, hip="0 0 0 0.5\n")
    assert [p.rule for p in bm.load(tmp_path / "walk.waist").problems] == ["OTX006"]


@pytest.mark.parametrize("suffix", [".pos", ".csv"])
def test_a_wish_for_a_rate_that_the_times_do_not_tell_is_a_loss(tmp_path, suffix):
    values = [[0.1], [0.2], [0.4]]
    for times, rate, codes in (
        ([1.0, 1.3, 1.5], 100.0, ["LOSS010"]),
        ([1.0, 1.25, 1.5], 4.0, []),
    ):
        component = MultiValueSeq(
            content="JointDisplacement",
            timeline=Timeline.stamped(times, rate),
            values=np.array(values),
        )
        assert [
            p.rule
            for p in bm.save(Motion((component,)), tmp_path / f"a{suffix}").losses
        ] == codes
    assert bm.load(tmp_path / f"a{suffix}").timeline == component.timeline


def test_the_rate_of_times_that_begin_late(tmp_path):
    (tmp_path / "a.pos").write_text("10.0 1\n10.1 2\n10.2 3\n")
    assert bm.load(tmp_path / "a.pos").timeline.import_rate == 10
    assert bm.load(tmp_path / "a.pos", from_zero=True).timeline == Timeline.uniform(
        3, 10
    )


@pytest.mark.parametrize("velocities", [(), (0.5, 0, 0, 0, 0, 0.25), (0,) * 6])
def test_rotation_matrices(velocities, tmp_path):
    """A .waist of position and matrix, row by row, may have velocities of the root behind them."""
    angles = (0.1, 0.2, 0.3)
    for k, angle in enumerate(angles):
        matrix = np.array(
            [
                [np.cos(angle), -np.sin(angle), 0],
                [np.sin(angle), np.cos(angle), 0],
                [0, 0, 1],
            ]
        )
        row = (0.01 * k, 1, 2, 0.8, *matrix.ravel(), *velocities)
        with (tmp_path / "a.waist").open("a") as file:
            file.write(" ".join(map(str, row)) + "\n")
    motion = bm.load_motion(tmp_path / "a.waist")
    poses = motion.link_position.values[:, 0]
    np.testing.assert_allclose(poses[:, :3], [[1, 2, 0.8]] * 3)
    expected = [[np.cos(a / 2), 0, 0, np.sin(a / 2)] for a in angles]
    np.testing.assert_allclose(poses[:, 3:], expected, atol=1e-12)
    assert [one.rule for one in motion.problems] == ["OTX007"] * any(velocities)


def test_a_waist_of_an_older_choreonoid(strangers):
    motion = bm.load_motion(strangers / "18/cnoid16.pos")
    poses = motion.link_position.values[:, 0]
    np.testing.assert_allclose(np.diff(poses[:, 0]), 0.01)
    np.testing.assert_allclose(np.diff(poses[:, 3:6:2], axis=0)[:, 1], 0, atol=1e-9)
    assert motion.joint_displacement.num_frames == len(poses)
    # Times of four decimals.
    assert motion.frame_rate == 60


def test_times_in_milliseconds_are_reported(tmp_path):
    rows = "".join(f"{5 * k} 0.1\n" for k in range(12))
    (tmp_path / "a.pos").write_text(rows)
    motion = bm.load_motion(tmp_path / "a.pos")
    assert [one.rule for one in motion.problems] == ["TAB105"]


@pytest.mark.parametrize(
    ("rate", "decimals"),
    [
        (rate, decimals)
        for rate in (24, 30, 50, 60, 120, 144, 240, 500)
        for decimals in (2, 3, 4, 5)
        # Frames of higher rates are less than 1.5 units of the last decimal apart.
        if rate * 1.5 <= 10**decimals
    ],
)
@pytest.mark.parametrize("suffix", [".pos", ".csv"])
def test_a_rate_whose_times_are_rounded_stays_a_rate(rate, decimals, suffix, tmp_path):
    """A text with times of few decimals has the fixed rate that it was written with; a note reports it."""
    count = 60
    times = [round(k / rate, decimals) for k in range(count)]
    rows = [f"{time} {k}" for k, time in enumerate(times)]
    if suffix == ".csv":
        rows = ["time,A [rad]", *(row.replace(" ", ",") for row in rows)]
    (tmp_path / f"a{suffix}").write_text("\n".join(rows))
    motion = bm.load_motion(tmp_path / f"a{suffix}")
    assert motion.frame_rate == rate
    is_exact = np.abs(np.array(times) - np.arange(count) / rate).max() <= 1e-6
    reported = [(one.rule, one.data["rate"]) for one in motion.problems]
    assert reported == ([] if is_exact else [("TAB107", rate)])


def test_times_of_no_rate_stay_time_stamps(tmp_path):
    """Frames that are off their places by more than the rounding are not moved."""
    times = [round(k / 60, 3) for k in range(60)]
    times[30] += 0.002
    rows = [f"{time:.3f} 0" for time in times]
    (tmp_path / "a.pos").write_text("\n".join(rows))
    motion = bm.load_motion(tmp_path / "a.pos")
    np.testing.assert_allclose(motion.timeline.stamps, times, atol=1e-12)
    assert not motion.problems
