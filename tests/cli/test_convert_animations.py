"""`bodymotion convert` of Spot animations: files, messages and logs."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app

run = CliRunner()
CHA = "controls body\n{option}\n\n{parameters}\n\ntime body_z\n0 0.4\n1 0.5\n"


def invoke(*arguments: object):
    return run.invoke(app, ["convert", *map(str, arguments)])


def write(path, option="bpm 60", parameters="no parameters"):
    path.write_text(CHA.format(option=option, parameters=parameters))
    return path


@pytest.mark.parametrize("ending", ["cap", "pb"])
def test_to_the_message_and_back(tmp_path, ending):
    source, message, back = (
        write(tmp_path / "a.cha"),
        tmp_path / f"a.{ending}",
        tmp_path / "b.cha",
    )
    for one, other in ((source, message), (message, back)):
        result = invoke(one, other)
        assert result.exit_code == 0, result.stderr
        assert result.stderr.endswith(": written\n") and result.stderr.count("\n") == 1
    assert bm.load(back).keyframes == bm.load(source).keyframes
    assert bm.load(back).options == bm.load(source).options


def test_what_is_lost_is_said(tmp_path):
    result = invoke(write(tmp_path / "a.cha", "description Hello"), tmp_path / "a.cap")
    assert result.exit_code == 0
    assert "note LOSS060" in result.stderr


def test_limits_of_the_robot(tmp_path):
    source, config = (
        write(tmp_path / "a.cha", parameters="speed"),
        tmp_path / "config.txt",
    )
    config.write_text("animate_params\nspeed 0.5 1 2\n")
    result = invoke(source, tmp_path / "a.cap", "--strict-losses")
    assert result.exit_code == 3
    assert "LOSS062" in result.stderr
    assert invoke(source, tmp_path / "a.cap", "--move-params", config).exit_code == 0
    assert bm.load(tmp_path / "a.cap").parameters["speed"].maximum == 2
    assert (
        invoke(
            tmp_path / "a.cap", tmp_path / "b.cha", "--move-params", config
        ).exit_code
        == 2
    )
    assert (
        invoke(
            source, tmp_path / "a.cap", "--move-params", tmp_path / "none.txt"
        ).exit_code
        == 1
    )


def test_canonical_style(tmp_path):
    source, target = write(tmp_path / "a.cha", "bpm 60 # slow"), tmp_path / "b.cha"
    assert invoke(source, target, "--style", "canonical").exit_code == 0
    assert "#" not in target.read_text()
    assert bm.load(target).keyframes == bm.load(source).keyframes


def test_a_log_becomes_an_animation(tmp_path):
    log = tmp_path / "states.log"
    states = "".join(
        f"key_frames {{ joint_angles {{ fl {{ knee: -{n} }} }} timestamp {{ seconds: {100 + n} }} }}\n"
        for n in (1, 2)
    )
    log.write_text(states)
    assert invoke(log, tmp_path / "a.cap").exit_code == 0
    frames = bm.load(tmp_path / "a.cap").keyframes
    assert frames.column("fl_kn").tolist() == [-1, -2]
    assert frames.times.tolist() == [0, 1]


def test_other_things(tmp_path, examples):
    assert invoke(write(tmp_path / "a.cha"), tmp_path / "a.urdf").exit_code == 1
    assert invoke(examples / "biped_walk.seq", tmp_path / "a.cap").exit_code == 1
