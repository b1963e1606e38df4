"""The verbs retime and edit: steps in order, wrong use, losses, and files that stay whole."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from symmetric_bodies import any_motion

import bodymotion as bm
from bodymotion import editing
from bodymotion.cli.app import app
from bodymotion.motion import Motion, MultiValueSeq, OtherSeq
from bodymotion.motion.components import Timeline


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def walk(tmp_path):
    path = tmp_path / "walk.seq"
    bm.save(any_motion(1, frames=101, rate=100), path)
    return path


def edited(walk, *steps):
    out = walk.with_name("out.seq")
    result = run("edit", walk, out, *steps, "--strict-losses")
    # A component of an unknown type stays as it is, which is a loss.
    assert result.exit_code == (3 if "LOSS013" in result.stderr else 0), result.stderr
    assert not result.stdout
    return bm.load(out)


def test_steps_go_in_their_order(walk):
    motion = bm.load(walk)
    one = edited(
        walk,
        "--trim",
        "0.2:0.8",
        "--reverse",
        "--trim",
        "0.1:0.3",
        "--shift",
        "1,-2,0.5",
        "--turn",
        "90",
    )
    expected = editing.trim(editing.reverse(editing.trim(motion, 0.2, 0.8)), 0.1, 0.3)
    half = np.sqrt(0.5)
    expected = editing.move(
        editing.move(expected, [1, -2, 0.5, 1, 0, 0, 0]), [0, 0, 0, half, 0, 0, half]
    )
    assert np.allclose(
        one.joint_displacement.values, expected.joint_displacement.values
    )
    assert np.allclose(one.link_position.values, expected.link_position.values)
    other = edited(
        walk,
        "--turn",
        "0,0,90",
        "--shift",
        "1,-2,0.5",
        "--trim",
        "0.2:0.8",
        "--reverse",
        "--trim",
        "0.1:0.3",
    )
    assert not np.allclose(one.link_position.values, other.link_position.values)


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["--trim-frames", "3:-2"], lambda m: editing.trim_frames(m, 3, -2)),
        (["--trim-frames", ":9"], lambda m: editing.trim_frames(m, 0, 9)),
        (["--trim", "0.5:"], lambda m: editing.trim(m, 0.5)),
        (["--loop", "3", "--blend", "0.2"], lambda m: editing.loop(m, 3, 0.2)),
        (["--smooth", "4"], lambda m: editing.smooth(m, 4)),
        (["--start-at", "1,2,90"], lambda m: editing.start_at(m, 1, 2, np.pi / 2)),
        (["--start-at", "1,2"], lambda m: editing.start_at(m, 1, 2)),
        (
            ["--keep", "ZMP,LinkPosition"],
            lambda m: editing.keep(m, "ZMP", "LinkPosition"),
        ),
        (["--drop", "ZMP"], lambda m: editing.drop(m, "ZMP")),
        (["--zmp", "world"], editing.zmp_to_world),
        (["--unwrap"], editing.unwrap),
        (["--root-only"], editing.keep_root_pose),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_step_is_its_function(walk, options, same):
    assert edited(walk, *options) == same(bm.load(walk))


def test_appending_a_file(walk):
    joined = edited(walk, "--append", walk, "--append", walk, "--blend", "0.1")
    assert joined == editing.join(*[bm.load(walk)] * 3, blend=0.1)


def test_the_three_combinations_and_the_mirror(tmp_path, examples):
    body, source = examples / "biped.wrl", examples / "biped_walk.seq"
    motion = bm.load(source)
    links, joints = tmp_path / "links.seq", tmp_path / "joints.seq"
    assert (
        run(
            "edit",
            source,
            links,
            "--fill-links",
            "--drop",
            "JointDisplacement",
            "-b",
            body,
        ).exit_code
        == 0
    )
    assert bm.load(links).link_position.num_parts == len(bm.load(body).links)
    result = run(
        "edit", links, joints, "--recover-joints", "--root-only", "--body", body
    )
    assert result.exit_code == 0
    assert "joints recovered: links are at most" in result.stderr
    found = bm.load(joints)
    assert np.allclose(
        found.joint_displacement.values, motion.joint_displacement.values, atol=1e-9
    )
    assert np.array_equal(found.link_position.values, motion.link_position.values)
    assert (
        run("edit", joints, links, "--mirror", "--mirror", "--body", body).exit_code
        == 0
    )
    assert np.allclose(
        bm.load(links).joint_displacement.values,
        found.joint_displacement.values,
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no step given"),
        (["--trim", "5"], "not of the form START:END"),
        (["--trim", "a:b"], "not of the form START:END"),
        (["--trim-frames", "1.5:3"], "not of the form START:END"),
        (["--shift", "1,2"], "X,Y,Z"),
        (["--turn", "left"], "an angle in degrees"),
        (["--zmp", "hip"], "root or world"),
        (["--shift", "1,2,nan"], "X,Y,Z"),
        (["--turn", "inf"], "an angle in degrees"),
        (["--start-at", "0,0,nan"], "X,Y,YAW"),
        (["--trim", "nan:"], "not of the form START:END"),
        (
            ["--hold", "nan:1"],
            "'nan:1' is not of the form AT:SECONDS: a number is not finite",
        ),
        (["--offset-joint", "R_NEE=5"], "no joint"),
        (["--smooth", "0"], "a frequency in Hz above 0"),
        (["--smooth", "nan"], "a frequency in Hz"),
        (["--loop", "0"], "at least 1"),
        (["--loop", "2", "--blend", "inf"], "not a finite number of at least 0"),
        (["--loop", "2", "--blend", "nan"], "not a finite number of at least 0"),
        (["--loop", "2", "--blend", "-1"], "not a finite number of at least 0"),
        (["--loop", "often"], "an integer"),
        (["--fill-links"], "needs a model"),
        (["--mirror", "--pair", "LARM"], "LEFT=RIGHT"),
        (["--nothing"], "No such option"),
    ],
)
def test_wrong_use_is_2_and_writes_nothing(walk, options, said):
    result = run("edit", walk, walk.with_name("out.seq"), *options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert not walk.with_name("out.seq").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--trim", "5:6"], "LinkPosition has no frame there"),
        (["--keep", "Zmp"], "existing components: LinkPosition"),
        (["--mirror"], "mirroring JointDisplacement needs the body"),
        (["--append", "nosuch.seq"], "nosuch.seq"),
    ],
)
def test_what_fails_is_1_and_leaves_the_old_file(walk, options, said):
    before = walk.read_bytes()
    result = run("edit", walk, walk, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert walk.read_bytes() == before


def test_a_model_is_no_motion(walk, examples):
    result = run("edit", examples / "biped.wrl", walk, "--reverse")
    assert result.exit_code == 2
    assert "holds a model, not a motion" in " ".join(result.stderr.split())


def test_losses_are_said_and_are_3_with_strict_losses(walk):
    small = walk.with_name("small.seq")
    bm.save(editing.drop(bm.load(walk), "Temperature"), small)
    options = ("--append", small, "--strict-losses")
    result = run("edit", walk, walk.with_name("out.seq"), *options)
    assert result.exit_code == 3
    assert "LOSS101 Temperature is not in all motions" in result.stderr


@pytest.fixture
def odd(tmp_path):
    """Joints, their efforts, and a component of an unknown type; no poses."""
    timeline = Timeline.uniform(5, 10)
    both = [
        MultiValueSeq(
            content=content,
            timeline=timeline,
            values=np.linspace(0, 1, 10).reshape(5, 2),
        )
        for content in ("JointDisplacement", "JointEffort")
    ]
    bm.save(
        Motion(
            (*both, OtherSeq(type="MoodSeq", content="Face", extra={"frames": [[1]]}))
        ),
        tmp_path / "odd.seq",
    )
    return tmp_path / "odd.seq"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--trim", "0.1:0.3"], ["EDIT102 the MoodSeq 'Face' is not trimmed"]),
        (["--trim-frames", "1:3"], ["EDIT102 the MoodSeq 'Face' is not trimmed"]),
        (["--reverse"], ["EDIT102 the MoodSeq 'Face' is not reversed"]),
        (["--loop", "2"], ["EDIT102 the MoodSeq 'Face' is not repeated"]),
        (
            ["--smooth", "2"],
            ["EDIT102 ×2 JointEffort is not smoothed", "Face is not smoothed"],
        ),
        (["--shift", "1,0,0", "--drop", "JointEffort"], ["EDIT102 Face is not moved"]),
        (["--drop", "Face", "--shift", "1,0,0"], ["EDIT105 nothing to move"]),
        (["--drop", "Face", "--turn", "90"], ["EDIT105 nothing to move"]),
        (["--root-only"], ["EDIT105 no root pose to keep"]),
        (["--drop", "JointDisplacement", "--unwrap"], ["EDIT105 nothing to unwrap"]),
        (["--zmp", "root"], ["EDIT105 nothing to convert"]),
    ],
)
def test_what_a_step_leaves_is_said(odd, options, said):
    result = run("edit", odd, odd.with_name("out.seq"), *options)
    assert result.exit_code == 0, result.stderr
    for words in said:
        assert words in result.stderr


def test_what_a_change_of_speed_leaves_is_said(odd):
    options = ("--speed", "2", "--strict-losses")
    result = run("retime", odd, odd.with_name("out.seq"), *options)
    assert result.exit_code == 3
    assert "EDIT102 the MoodSeq 'Face' is not made faster or slower" in result.stderr
    assert "LOSS013 the MoodSeq 'Face' is not resampled" in result.stderr


def test_in_place(walk):
    expected = editing.reverse(bm.load(walk))
    assert run("edit", walk, walk, "--reverse").exit_code == 0
    assert bm.load(walk) == expected


# retime


def retimed(path, *options):
    out = path.with_name("out.seq")
    result = run("retime", path, out, *options, "--strict-losses")
    # A component of an unknown type stays as it is, which is a loss.
    assert result.exit_code == (3 if "LOSS013" in result.stderr else 0), result.stderr
    assert not result.stdout
    return bm.load(out)


def test_a_fixed_rate_is_interpolated_unless_a_method_is_given(walk):
    motion = bm.load(walk)
    assert retimed(walk, "--rate", "30") == motion.resample(30, "linear")
    assert retimed(walk, "--rate", "30", "-m", "nearest") == motion.resample(
        30, "nearest"
    )
    assert retimed(
        walk, "-r", "30", "--method", "cubic", "--antialias"
    ) == motion.resample(30, "cubic", antialias=True)
    assert retimed(walk) == motion
    slow = retimed(walk, "--speed", "0.5")
    assert (slow.frame_rate, slow.duration) == (100, 2)
    assert np.allclose(
        slow.joint_displacement.values[::2], motion.joint_displacement.values
    )


def stamped(path, import_rate, first=0.0):
    timeline = Timeline.stamped(
        first + np.array([0.0, 0.1, 0.3, 0.4, 0.7]), import_rate
    )
    values = np.arange(5.0)[:, None]
    bm.save(
        Motion(
            (
                MultiValueSeq(
                    content="JointDisplacement", timeline=timeline, values=values
                ),
            )
        ),
        path,
    )
    return path


def test_frames_between_time_stamps_are_interpolated_and_no_frame_repeats(tmp_path):
    source, target = stamped(tmp_path / "log.seq", 100.0), tmp_path / "out.seq"
    command = ["retime", str(source), str(target), "--rate", "500"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    assert "500 Hz" in result.stderr and "linear" in result.stderr
    found = bm.load(target).joint_displacement.values[:, 0]
    expected = np.interp(np.arange(351) / 500, [0.0, 0.1, 0.3, 0.4, 0.7], np.arange(5))
    assert np.allclose(found, expected, atol=1e-12)
    assert (np.diff(found) > 0).all()
    result = CliRunner().invoke(app, [*command, "--method", "after"])
    assert "500 Hz" in result.stderr and "after" in result.stderr
    assert len(set(bm.load(target).joint_displacement.values[:, 0])) == 5


def test_a_motion_without_time_stamps_in_the_file_has_interpolated_frames(tmp_path):
    source, target = stamped(tmp_path / "log.seq", 20.0), tmp_path / "out.seq"
    command = ["convert", str(source), str(target), "--seq-version", "1"]
    result = CliRunner().invoke(app, command)
    assert "LOSS001" in result.stderr
    found = bm.load(target).joint_displacement.values[:, 0]
    expected = np.interp(np.arange(15) / 20, [0.0, 0.1, 0.3, 0.4, 0.7], np.arange(5))
    assert np.allclose(found, expected, atol=1e-9)


def test_time_stamps_are_held_as_the_document_says_on_demand(tmp_path):
    path = stamped(tmp_path / "log.seq", 100.0)
    frames = [0] * 10 + [1] * 20 + [2] * 10 + [3] * 30 + [4]
    found = retimed(path, "--method", "after")
    assert (found.frame_rate, found.joint_displacement.values[:, 0].tolist()) == (
        100,
        frames,
    )
    assert retimed(path, "--rate", "4", "--method", "before").joint_displacement.values[
        :, 0
    ].tolist() == [1, 3, 4]
    assert np.allclose(
        retimed(path, "--method", "linear").joint_displacement.values[5], 0.5
    )


@pytest.mark.parametrize(
    "options",
    [
        "--rate 0",
        "--rate -5",
        "--rate nan",
        "--speed 0",
        "--speed inf",
        "--start inf",
        "--start nan",
    ],
)
def test_numbers_that_say_nothing_are_wrong_use(walk, options):
    result = run("retime", walk, walk.with_name("out.seq"), *options.split())
    assert result.exit_code == 2, result.stderr
    assert options.split()[0] in result.stderr
    assert not walk.with_name("out.seq").exists()
    if "--rate" in options:
        assert (
            run("convert", walk, walk.with_name("out.seq"), *options.split()).exit_code
            == 2
        )


def test_a_start_after_the_end_is_refused(walk):
    for options in (
        ["--start", "20"],
        ["--start", "20", "--common"],
        ["--start", "20", "--method", "cubic"],
    ):
        result = run("retime", walk, walk.with_name("out.seq"), *options)
        assert result.exit_code == 1
        assert (
            "there is no frame at or after 20 s: the last one is at 1 s"
            in result.stderr
        )
    assert not walk.with_name("out.seq").exists()
    assert retimed(walk, "--start", "1").num_frames == 1


def test_without_any_rate_one_is_asked_for(tmp_path):
    path = stamped(tmp_path / "log.seq", None)
    result = run("retime", path, tmp_path / "out.seq")
    assert result.exit_code == 1
    assert "frame_rate" in result.stderr
    assert retimed(path, "--rate", "10").num_frames == 8


def test_a_clock_that_began_long_ago(tmp_path):
    path = stamped(tmp_path / "log.seq", 100.0, first=1.7e9)
    found = retimed(path, "--start", "first")
    assert found.num_frames == 71
    result = run("retime", path, tmp_path / "out.seq")
    assert result.exit_code == 1
    assert "of memory" in result.stderr
    assert run("retime", path, tmp_path / "out.seq", "--start", "now").exit_code == 2


def test_angles_that_jump_are_said(tmp_path):
    path = tmp_path / "spin.seq"
    angles = MultiValueSeq(
        content="JointDisplacement",
        timeline=Timeline.uniform(2, 10),
        values=[[3.1], [-3.1]],
    )
    bm.save(Motion((angles,)), path)
    result = run("retime", path, tmp_path / "out.seq", "--rate", "20")
    assert result.exit_code == 0
    assert (
        "EDIT101 JointDisplacement jumps by a full turn in column 0 at frame 1"
        in result.stderr
    )
    assert retimed(path, "--rate", "20", "--unwrap").joint_displacement.values[1] > 3.1
