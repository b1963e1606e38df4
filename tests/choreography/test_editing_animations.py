"""Edited animations: laws of the played motions, and comments that follow their keyframes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.spot import editing as edit
from bodymotion.spot.animation import Parameter
from bodymotion.spot.comparison import compare_animations

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("sway", "trot", "wave")


@pytest.fixture(params=NAMES)
def animation(request) -> bm.Animation:
    found = bm.load_animation(EXAMPLES / f"{request.param}.cha")
    # Without blends at the ends, and at its own length, the played motion is that of the keyframes.
    parameters = {
        name: given
        for name, given in found.parameters.items()
        if not name.endswith("_slices")
    }
    options = {
        name: value
        for name, value in found.options.items()
        if name not in ("extendable", "retime_to_integer_slices")
    }
    return replace(found, parameters=parameters, options=options)


def played(animation: bm.Animation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    motion = animation.play(frame_rate=200)
    count = round(200 * animation.duration) - 1
    joints = motion.joint_displacement.values[:count]
    return (
        motion.joint_displacement.timeline.times[:count],
        joints,
        motion.link_position.values[:count, 0],
    )


def test_twice_is_the_same(animation):
    assert compare_animations(animation, edit.mirror(edit.mirror(animation))).equal
    assert compare_animations(
        animation, edit.reverse(edit.reverse(animation)), atol=1e-12
    ).equal
    assert compare_animations(
        animation, edit.change_speed(edit.change_speed(animation, 0.5), 2.0), atol=1e-12
    ).equal


def test_a_mirrored_robot_moves_mirrored(animation):
    motion, other = (
        animation.play(frame_rate=100),
        edit.mirror(animation).play(frame_rate=100),
    )
    body = bm.spot.body(arm=motion.joint_displacement.num_parts > 12)
    expected = bm.editing.mirror(motion, body)
    names = expected.joint_displacement.part_labels
    mirrored = dict(zip(names, expected.joint_displacement.values.T, strict=True))
    found = dict(
        zip(
            other.joint_displacement.part_labels,
            other.joint_displacement.values.T,
            strict=True,
        )
    )
    for name in found:
        np.testing.assert_allclose(found[name], mirrored[name], atol=1e-6, err_msg=name)
    a, b = other.link_position.values[:, 0], expected.link_position.values[:, 0]
    np.testing.assert_allclose(a[:, :3], b[:, :3], atol=1e-6)
    np.testing.assert_allclose(
        np.abs(np.sum(a[:, 3:] * b[:, 3:], axis=1)), 1.0, atol=1e-9
    )


def test_time_runs_backwards(animation):
    _, q, _ = played(animation)
    _, found, _ = played(edit.reverse(animation))
    np.testing.assert_allclose(found[2:], q[:1:-1], atol=1e-6)


def test_half_the_speed_takes_twice_as_long(animation):
    slow = edit.change_speed(animation, 0.5)
    assert slow.duration == pytest.approx(2 * animation.duration)
    _, q, root = played(animation)
    _, found, moved = played(slow)
    np.testing.assert_allclose(
        found[: 2 * len(q) : 2][: len(q)], q[: len(found[: 2 * len(q) : 2])], atol=1e-6
    )
    np.testing.assert_allclose(
        moved[: 2 * len(q) : 2, :3][: len(q)], root[:, :3], atol=1e-6
    )


def test_a_part_is_the_motion_in_that_time(animation):
    keys = animation.keyframes.times
    first, last = (
        keys[len(keys) // 4],
        keys[3 * len(keys) // 4] + 0.4 * np.diff(keys)[0],
    )
    part = edit.trim(animation, first, last)
    assert part.keyframes.times[[0, -1]] == pytest.approx([0.0, last - first])
    inside = (keys >= first) & (keys <= last)
    np.testing.assert_array_equal(
        part.keyframes.values[: inside.sum()], animation.keyframes.values[inside]
    )
    with pytest.raises(ValueError, match="no part"):
        edit.trim(animation, 100.0, 101.0)


def test_an_appended_walk_goes_on_where_the_first_one_ended():
    trot = bm.load_animation(EXAMPLES / "trot.cha")
    rows = np.array(trot.keyframes.values)
    names = trot.keyframes.columns
    # A walk that goes 0.5 m ahead and 0.1 m to the left.
    ahead = trot.keyframes.times / trot.duration
    for part in ("fl", "fr", "hl", "hr", "body"):
        rows[:, names.index(f"{part}_x")] += 0.5 * ahead
        rows[:, names.index(f"{part}_y")] += 0.1 * ahead
    walk = replace(trot, keyframes=replace(trot.keyframes, values=rows))
    twice = edit.append(walk, walk)
    feet = [names.index(f"{leg}_x") for leg in ("fl", "fr", "hl", "hr")]
    steps = np.diff(
        twice.keyframes.values[[0, len(rows) - 1, -1]][:, feet].mean(axis=1)
    )
    np.testing.assert_allclose(steps, steps[0], atol=1e-9)
    assert len(twice.keyframes) in (2 * len(rows), 2 * len(rows) - 1)
    assert edit.append(walk, walk, blend=0.3).duration == pytest.approx(
        2 * walk.duration + 0.3
    )
    with pytest.raises(ValueError, match="different columns"):
        edit.append(walk, bm.load_animation(EXAMPLES / "wave.cha"))


def test_ranges_of_offsets_are_mirrored():
    wave = bm.load_animation(EXAMPLES / "wave.cha")
    wave = replace(
        wave,
        parameters={
            "shoulder_0_offset": Parameter(-0.2, 0.1, 0.5),
            "speed": Parameter(0.5, 1, 1.2),
        },
    )
    assert edit.mirror(wave).parameters == {
        "shoulder_0_offset": Parameter(-0.5, -0.1, 0.2),
        "speed": Parameter(0.5, 1, 1.2),
    }


def test_comments_stay_at_their_keyframes(tmp_path):
    text = "controls body # only\n\nspeed 0.5 1 2 # slow to fast\n\ntime body_z\n# high\n0 0.48\n1 0.4 # low\n2 0.45\n"
    (tmp_path / "a.cha").write_text(text)
    run = CliRunner()

    def edited(*words: object) -> str:
        result = run.invoke(
            app,
            [
                *map(str, words[:1]),
                str(tmp_path / "a.cha"),
                str(tmp_path / "b.cha"),
                *words[1:],
            ],
        )
        assert result.exit_code == 0, result.output
        return (tmp_path / "b.cha").read_text()

    assert edited("edit", "--set", "speed=1.5") == text.replace("0.5 1 2", "0.5 1.5 2")
    assert edited("edit", "--reverse").endswith("0 0.45\n1 0.4 # low\n# high\n2 0.48\n")
    assert edited("edit", "--trim", "1:").endswith("time body_z\n0 0.4 # low\n1 0.45\n")
    assert edited("retime", "--speed", "2").endswith(
        "# high\n0 0.48\n0.5 0.4 # low\n1 0.45\n"
    )
    assert edited("edit", "--length", "4").endswith(
        "# high\n0 0.48\n2 0.4 # low\n4 0.45\n"
    )
    assert (
        run.invoke(
            app, ["edit", str(tmp_path / "a.cha"), str(tmp_path / "c.cha"), "--unwrap"]
        ).exit_code
        == 2
    )
    assert not (tmp_path / "c.cha").exists()
