"""Files written back: comments, order and line ends stay; what has no place any more is said."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from cha_texts import cha

import bodymotion as bm
from bodymotion import FormatError
from bodymotion.spot.animation import Animation, Keyframes, Parameter
from bodymotion.spot.cha import cha_text, parse_cha

KEPT = """\
# A move by hand
// and what it is for
controls gripper body # both
bpm 98.5
description A nod of the gripper
extendable // it may loop
# the end of the options

# speed
speed 0.5 1 2 # half to double
gripper_offset
# the end of the parameters

# times and columns
body_pitch time body_pos gripper # in radians
# the start
0.1 0 0 0.0 0.48 0
0.25 0.5 -0.0 1e-9 0.1234567890123456 -0.5 # here it nods
# and back
0 1 0 0 0.48 0.0
# the end
"""


def test_a_file_that_was_not_changed_is_written_as_it_was():
    assert cha_text(parse_cha(KEPT.encode()).require())[0].decode() == KEPT.replace(
        "-0.0", "-0"
    ).replace("1e-9", "1e-9")


def test_line_ends_stay():
    for newline in ("\r\n", "\r"):
        data = KEPT.replace("-0.0", "-0").replace("\n", newline).encode()
        assert cha_text(parse_cha(data).require())[0] == data


def test_an_edited_animation_keeps_the_comments_that_still_have_a_place():
    animation = parse_cha(KEPT.encode()).require()
    frames = animation.keyframes
    fewer = Keyframes(
        columns=frames.columns,
        values=frames.values[:2],
        times=frames.times[:2],
        header=frames.header,
    )
    edited = dataclasses.replace(
        animation, options={"controls": ("body", "gripper")}, keyframes=fewer
    )
    text, problems = cha_text(edited)
    for kept in (
        "# A move by hand\n// and what it is for\ncontrols body gripper # both\n",
        " # here it nods\n",
        "# the end of the options",
    ):
        assert kept in text.decode()
    assert "it may loop" not in text.decode()
    assert [problem.rule for problem in problems] == ["LOSS071", "LOSS071"]
    assert parse_cha(text).require().keyframes == fewer


def test_the_canonical_style():
    text, problems = cha_text(parse_cha(KEPT.encode()).require(), style="canonical")
    assert not problems
    assert text.decode() == (
        "controls gripper body\nbpm 98.5\nextendable\ndescription A nod of the gripper\n\nspeed 0.5 1 2\ngripper_offset\n\n"
        "time gripper body_pos body_pitch\n0 0 0 0.0 0.48 0.1\n0.5 -0.5 -0 1e-9 0.1234567890123456 0.25\n1 0 0 0 0.48 0\n"
    )
    with pytest.raises(ValueError, match="canonical"):
        cha_text(parse_cha(KEPT.encode()).require(), style="pretty")


def test_an_animation_made_from_arrays():
    frames = Keyframes(
        columns=("body_x", "body_y", "body_z", "body_yaw"),
        values=np.eye(2, 4),
        times=np.array([0, 0.5]),
    )
    text, problems = cha_text(
        Animation(
            options={"controls": ("body",)},
            parameters={"speed": Parameter(0, 1, 2)},
            keyframes=frames,
        )
    )
    assert not problems
    assert (
        text.decode()
        == "controls body\n\nspeed 0 1 2\n\ntime body_pos body_yaw\n0 1 0 0 0\n0.5 0 1 0 0\n"
    )


def test_a_frequency_that_the_times_do_not_follow_any_more_becomes_a_column():
    animation = parse_cha(
        cha(options="frequency 10", columns="body_z", rows="0.1\n0.2\n0.3\n").encode()
    ).require()
    assert cha_text(animation)[0].decode().endswith("\n\nbody_z\n0.1\n0.2\n0.3\n")
    frames = animation.keyframes
    slower = Keyframes(
        columns=frames.columns,
        values=frames.values,
        times=frames.times * 1.5,
        header=frames.header,
    )
    text, problems = cha_text(dataclasses.replace(animation, keyframes=slower))
    assert [problem.rule for problem in problems] == ["LOSS073"]
    assert "frequency" not in text.decode()
    assert parse_cha(text).require().keyframes == slower


@pytest.mark.parametrize(
    ("description", "written"),
    [
        ("see http://a.b", "see http:"),
        ("two\nlines", "two lines"),
        (" blanks ", "blanks"),
        ("#1", None),
        ("half \ud800", "half"),
    ],
)
def test_what_a_description_can_not_hold(description, written):
    animation = parse_cha(cha().encode()).require()
    animation = dataclasses.replace(
        animation, options={**animation.options, "description": description}
    )
    text, problems = cha_text(animation)
    assert {problem.rule for problem in problems} == {"LOSS070"}
    assert parse_cha(text).require().options.get("description") == written


def test_what_is_no_option():
    animation = parse_cha(cha().encode()).require()
    text, problems = cha_text(
        dataclasses.replace(
            animation,
            options={**animation.options, "colour": "red", "no_looping": False},
        )
    )
    assert [problem.rule for problem in problems] == ["LOSS072"]
    assert parse_cha(text).require() == animation


def test_a_line_that_meant_nothing_is_gone():
    text, problems = cha_text(parse_cha(cha(options="BPM 100").encode()).require())
    assert [problem.rule for problem in problems] == ["LOSS074"]
    assert b"BPM" not in text


def test_what_the_document_forbids_is_not_written(tmp_path):
    animation = parse_cha(cha().encode()).require()
    path = tmp_path / "a.cha"
    path.write_text("as it was")
    wrong = dataclasses.replace(animation, options={**animation.options, "bpm": -1.0})
    with pytest.raises(FormatError) as caught:
        bm.save(wrong, path)
    assert caught.value.problem.rule == "CHA130"
    assert path.read_text() == "as it was"


def test_load_and_save(tmp_path):
    path = tmp_path / "a_small_nod.cha.txt"
    path.write_text(KEPT)
    animation = bm.load(path)
    assert isinstance(animation, bm.Animation)
    assert (animation.name, animation.title, animation.bpm, animation.duration) == (
        "a_small_nod",
        "A Small Nod",
        98.5,
        1.0,
    )
    report = bm.save(animation, tmp_path / "b.cha")
    assert not report.problems
    assert bm.load(tmp_path / "b.cha").keyframes == animation.keyframes
    bm.save(animation, tmp_path / "c.cha", style="canonical")
    assert bm.load(tmp_path / "c.cha").options == animation.options


def test_numbers_and_lists_of_any_make():
    frames = Keyframes(
        columns=("body_z",), values=np.zeros((2, 1)), times=np.array([0, 0.1])
    )
    options = {
        "controls": ["body"],
        "bpm": np.int64(90),
        "frequency": np.float32(10),
        "display_rgb": [np.uint8(1), 2, 3],
    }
    animation = Animation(options=options, keyframes=frames)
    assert (animation.controls, animation.bpm) == (("body",), 90.0)
    text = cha_text(animation)[0].decode()
    assert (
        text
        == "controls body\nbpm 90\nfrequency 10\ndisplay_rgb 1 2 3\n\nno parameters\n\nbody_z\n0\n0\n"
    )


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="exact_zeros"):
        Keyframes(
            columns=("body_z",),
            values=np.zeros((2, 1)),
            times=np.zeros(2),
            exact_zeros=np.zeros((1, 2), np.bool_),
        )
    with pytest.raises(ValueError, match="values"):
        Keyframes(columns=("body_z",), values=np.zeros((2, 2)), times=np.zeros(2))


def test_the_canonical_style_changes_no_message():
    text = "controls body\n\nno parameters\n\ntime body_x body_y body_z\n0 -0 0 0.48\n1 0.0 -0.0 0.48\n"
    read = parse_cha(text.encode(), "a.cha").require()
    again = parse_cha(cha_text(read, style="canonical")[0], "a.cha").require()
    assert again.keyframes.header == ("time", "body_pos")
    assert bm.spot.to_bytes(again) == bm.spot.to_bytes(read)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a # b", "a comment"),
        ("one\ntwo", "one line"),
        (" a ", "blanks"),
        ("a\x07b", "control characters"),
    ],
)
def test_why_a_description_is_changed(text, reason):
    read = parse_cha(cha().encode(), "a.cha").require()
    (lost,) = cha_text(
        dataclasses.replace(read, options={**read.options, "description": text})
    )[1]
    assert lost.rule == "LOSS070"
    assert reason in lost.message
    assert "#" not in lost.message or "#" in text


def test_a_name_that_is_not_the_files_is_lost(tmp_path):
    read = parse_cha(cha().encode(), "a.cha").require()
    assert [
        p.rule
        for p in bm.save(
            dataclasses.replace(read, name="other"), tmp_path / "b.cha"
        ).losses
    ] == ["LOSS075"]
    assert not bm.save(dataclasses.replace(read, name="b"), tmp_path / "b.cha").losses
    # A copy of a file under another name is meant to be called so.
    assert not bm.save(bm.load(tmp_path / "b.cha"), tmp_path / "c.cha").losses
