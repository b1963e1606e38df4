"""Differences of animations, and of a recording from what was commanded: lag and errors are put in by the test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.spot.animation import Parameter
from bodymotion.spot.comparison import compare_animations
from bodymotion.spot.recordings import compare_recording
from sample_files import ACCEPT

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def wave() -> bm.Animation:
    return bm.load_animation(EXAMPLES / "wave.cha")


def test_an_animation_differs_where_it_was_changed(wave):
    assert compare_animations(wave, wave).equal
    frames = wave.keyframes
    values = np.array(frames.values)
    values[3, 2] += 0.25
    changed = replace(
        wave,
        options={**wave.options, "bpm": 121.0},
        parameters={**wave.parameters, "speed": Parameter(0.5, 1.1, 1.25)},
        keyframes=replace(frames, values=values),
    )
    found = {one.what: one for one in compare_animations(wave, changed).differences}
    assert set(found) == {"options", "parameters", "keyframes"}
    numbers = found["keyframes"].numbers
    assert (numbers["part"], numbers["frame"]) == (frames.columns[2], 3)
    assert numbers["largest"] == pytest.approx(0.25)
    assert (
        compare_animations(wave, changed, atol=1.0).differences[-1].what == "parameters"
    )


def recording(motion: bm.Motion, lag: float, error: float = 0.0) -> bm.Motion:
    """Return a motion as a slower clock records it: at 333 Hz, `lag` later, with an error of one joint."""
    joints = motion.joint_displacement
    end = joints.timeline.times[-1]
    times = np.arange(int(333 * (end + 0.3))) / 333
    q = np.column_stack(
        [
            np.interp(times - lag, joints.timeline.times, column)
            for column in joints.values.T
        ]
    )
    q[:, 1] += error
    return bm.Motion.from_joints(q, times=times, joint_names=joints.part_labels)


@pytest.mark.parametrize("lag", [0.0, 0.06, 0.1234, -0.05])
@pytest.mark.parametrize("name", ["sway", "trot", "wave"])
def test_a_delay_is_a_lag_and_no_error(name, lag):
    commanded = bm.load_animation(EXAMPLES / f"{name}.cha").play()
    found = compare_recording(commanded, recording(commanded, lag), atol=0.02)
    assert [one.what for one in found.differences] == (["lag"] if lag else [])
    if lag:
        assert found.differences[0].numbers["lag"] == pytest.approx(lag, abs=0.005)


BEGUN = [(0, "arm"), (5, "arm"), (70, "arm"), (100, "arm"), (32, "legs")]


@pytest.mark.parametrize(
    ("first", "ends", "delay"),
    [
        (*one, delay)
        for k, one in enumerate(BEGUN)
        for delay in ((0.0, 0.06) if ACCEPT else (0.06 * (k % 2),))
    ],
)
def test_a_dance_that_began_later_is_aligned(wave, first, ends, delay):
    """A robot skips the moves that begin before, and logs 3 s more. Moves come several times. At its end the arm moves, or
    its move was skipped.
    """
    sway, trot = (
        bm.load_animation(EXAMPLES / f"{name}.cha") for name in ("sway", "trot")
    )
    dance = bm.Choreography(name="a", slices_per_minute=400).add(wave).add(sway)
    dance = dance.add(trot).add(sway).add(wave) if ends == "arm" else dance
    begun = dance.replaced(
        *(move for move in dance.moves if move.start_slice >= first)
    ).play(arm=True)
    joints = begun.joint_displacement
    times = np.arange(0, (dance.slices - first) * 0.15 + 3, 0.01)
    at = np.maximum(times - delay, 0) + first * 0.15
    q = np.column_stack(
        [np.interp(at, joints.timeline.times, column) for column in joints.values.T]
    )
    recorded = bm.Motion.from_joints(q, times=times, joint_names=joints.part_labels)
    found = {
        one.what: one.numbers
        for one in compare_recording(dance, recorded, atol=1e-3).differences
    }
    assert found.pop("start", {"slice": 0}) == {"slice": first}
    assert found.pop("lag", {"lag": 0.0})["lag"] == pytest.approx(delay, abs=0.005)
    assert not found


def test_an_error_is_one_of_its_joint():
    commanded = bm.load_animation(EXAMPLES / "sway.cha").play()
    found = compare_recording(
        commanded, recording(commanded, 0.06, 0.1), atol=0.02
    ).differences
    assert [one.what for one in found] == ["lag", "fl_hy", "foot fl"]
    assert found[0].numbers["lag"] == pytest.approx(0.06, abs=0.005)
    assert found[1].numbers["root_mean_square"] == pytest.approx(0.1, abs=0.01)
    # The foot is 0.45 to 0.65 m below its joint hy.
    assert 0.04 < found[2].numbers["root_mean_square"] < 0.07


def test_the_command(tmp_path):
    run = CliRunner()
    motion = bm.load_animation(EXAMPLES / "sway.cha").play()
    bm.save(recording(motion, 0.06), tmp_path / "log.seq")
    names = [EXAMPLES / "sway.cha", EXAMPLES / "wave.cha", tmp_path / "log.seq"]
    assert run.invoke(app, ["diff", str(names[0]), str(names[0])]).exit_code == 0
    assert run.invoke(app, ["diff", str(names[0]), str(names[1])]).exit_code == 1
    assert run.invoke(app, ["diff", str(names[0]), str(names[2])]).exit_code == 2
    found = run.invoke(app, ["diff", str(names[0]), str(names[2]), "--recorded"])
    assert found.exit_code == 1 and found.output.startswith("lag: ")
