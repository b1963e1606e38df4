"""`convert` between motions of Spot and animations."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app


def run(*words):
    result = CliRunner().invoke(app, ["convert", *map(str, words)])
    return result.exit_code, result.output


@pytest.fixture
def trot(examples, tmp_path):
    return shutil.copy(examples / "trot.cha", tmp_path / "trot.cha")


@pytest.mark.parametrize("extension", ["seq", "csv", "npz"])
def test_an_animation_is_played_into_any_format_of_motions(trot, tmp_path, extension):
    target = tmp_path / f"trot.{extension}"
    code, said = run(trot, target, "--rate", 50, "--bpm", 120)
    assert code == 0, said
    played = bm.load(trot).play(bpm=120, frame_rate=50)
    found = bm.load(target)
    np.testing.assert_allclose(
        found.joint_displacement.values, played.joint_displacement.values, atol=1e-12
    )
    np.testing.assert_allclose(
        found.link_position.values, played.link_position.values, atol=1e-12
    )


@pytest.mark.parametrize("legs", ["joints", "feet"])
def test_there_and_back(trot, tmp_path, legs):
    assert run(trot, tmp_path / "trot.seq")[0] == 0
    code, said = run(
        tmp_path / "trot.seq", tmp_path / "again.cha", "--legs", legs, "--bpm", 100
    )
    assert code == 0, said
    again = bm.load(tmp_path / "again.cha")
    assert again == bm.Animation.from_motion(
        bm.load(trot).play(), legs=legs, name="again", bpm=100
    )
    assert not [
        p for p in bm.check(tmp_path / "again.cha").problems if p.severity != "note"
    ]


def test_a_message_too(trot, tmp_path):
    run(trot, tmp_path / "trot.seq")
    assert run(tmp_path / "trot.seq", tmp_path / "again.cap")[0] == 0
    assert bm.load(tmp_path / "again.cap").keyframes.has("leg_joints")


def test_a_motion_of_another_robot_is_refused(examples, tmp_path):
    code, said = run(examples / "biped_walk.seq", tmp_path / "walk.cha")
    assert code == 1
    assert "FMT003" in said and "Spot" in said
    assert not (tmp_path / "walk.cha").exists()


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--legs", "feet"], "--legs"),
        (["--degrees"], "--degrees"),
        (["--scale", 2], "--scale"),
    ],
)
def test_options_that_say_nothing_are_wrong_use(trot, tmp_path, words, option):
    code, said = run(trot, tmp_path / "trot.seq", *words)
    assert code == 2
    assert option in said
