"""The text format, against the vendor's runtime: what it prints we read, and what we print it reads."""

from __future__ import annotations

import pytest
from cha_files import cha_files
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.spot.animation import Animation, Keyframes
from bodymotion.spot.cha import parse_cha
from sample_files import tries

text_format = pytest.importorskip("google.protobuf.text_format")
sequence_pb2 = pytest.importorskip("bosdyn.api.spot.choreography_sequence_pb2")

FRAME = "animation_keyframes { time: 1 body { body_pos { x { value: %s } } } }"
STYLES = (
    {"as_one_line": True},
    {"pointy_brackets": True},
    {"use_index_order": True, "as_utf8": True},
    {"use_short_repeated_primitives": True, "indent": 7},
)


@settings(max_examples=tries(60))
@given(cha_files(), st.sampled_from(STYLES), st.booleans())
def test_every_style_is_read(file, style, windows):
    animation = parse_cha(file.text.encode(), "generated.cha").value
    expected = bm.spot.from_bytes(bm.spot.to_bytes(animation))
    text = text_format.MessageToString(bm.spot.to_proto(animation), **style)
    if windows:
        text = "\ufeff# a comment { \r\n" + text.replace("\n", "\r\n")
    assert bm.spot.from_text(text) == expected


@given(st.text(max_size=20), st.booleans())
def test_names(name, as_utf8):
    name = name.encode("utf-8", "ignore").decode()
    message = sequence_pb2.Animation(name=name)
    message.animation_keyframes.add(time=1)
    text = text_format.MessageToString(message, as_utf8=as_utf8)
    assert bm.spot.from_text(text).name == name
    assert bm.spot.from_bytes(message.SerializeToString()).name == name
    animation = Animation(name=name, keyframes=Keyframes(times=[1.0], values=[[]]))
    assert (
        text_format.Parse(bm.spot.to_text(animation), sequence_pb2.Animation())
        == message
    )
    assert bm.spot.to_proto(animation) == message


@given(st.floats())
def test_numbers(x):
    message = sequence_pb2.Animation()
    message.animation_keyframes.add(time=1).body.body_pos.x.value = x
    text = text_format.MessageToString(message)
    found = bm.spot.from_text(text).keyframes.column("body_x")[0]
    assert found == x or (x != x and found != found) or (x == 1e-6 and found == 0)


WAYS = "0 -0 1 -1 1. .5 -.5 1.5e3 1E-3 1e+3 1f 1.5F inf -inf nan infinity INF NaN inff -nan 1e999 9007199254740993"


@pytest.mark.parametrize("number", WAYS.split())
def test_ways_to_write_a_number(number):
    theirs = (
        text_format.Parse(FRAME % number, sequence_pb2.Animation())
        .animation_keyframes[0]
        .body.body_pos.x.value
    )
    ours = bm.spot.from_text(FRAME % number).keyframes.column("body_x")[0]
    assert ours == theirs or (ours != ours and theirs != theirs)


@pytest.mark.parametrize(
    "number", ["1e", "--1", "1.2.3", "true", "'1'", "1e5.5", "0b1", "one"]
)
def test_no_numbers(number):
    with pytest.raises(text_format.ParseError):
        text_format.Parse(FRAME % number, sequence_pb2.Animation())
    with pytest.raises(bm.FormatError, match="CAP002"):
        bm.spot.from_text(FRAME % number)


@pytest.mark.parametrize(
    "text",
    [
        "animation_keyframes: [{ time: 1 }, < time: 2 >]",
        "animation_keyframes: { time: 1 }; animation_keyframes { time: 2, },",
        "animation_keyframes{time:1}animation_keyframes<time:2;>",
        'name: "a" \'b\'\n "c" animation_keyframes { time: 1 } bpm: 16',
        "arm_playback: 2 controls_arm: t controls_legs: False animation_keyframes { time: 1 }",
        "minimum_parameters: { speed: < value: 1 > } animation_keyframes { time: 1 }",
        "animation_keyframes {\n  time: 1\n  # time: 3\n}\n",
        "animation_keyframes {\n  time: 1 # 7: 3\n}\nanimation_keyframes {\n  time: 2 # 7: 3\n}\n",
    ],
)
def test_freedoms_of_the_format(text):
    theirs = text_format.Parse(text, sequence_pb2.Animation())
    ours = bm.spot.from_text(text)
    assert ours.name == theirs.name
    assert ours.keyframes.times.tolist() == [
        frame.time for frame in theirs.animation_keyframes
    ]
    again = bm.spot.to_proto(ours)
    assert (again.bpm, again.arm_playback, again.controls_arm) == (
        theirs.bpm,
        theirs.arm_playback,
        theirs.controls_arm,
    )
    assert (
        again.minimum_parameters == theirs.minimum_parameters
        or not theirs.minimum_parameters.ByteSize()
    )


def test_unknown_fields_are_passed_over():
    text = "name: 'a'\n newer { a { b: [1, 'x'] } } animation_keyframes { time: 1 old: -7 legs { tail { } } }"
    animation = bm.spot.from_text(text)
    assert animation.keyframes.times.tolist() == [1]
    found = [
        (problem.rule, problem.location.line, problem.location.column)
        for problem in animation.problems
    ]
    assert found == [("CAP101", 2, 2), ("CAP101", 2, 60), ("CAP101", 2, 75)]


def test_no_row_is_lost_where_very_many_have_unknown_fields():
    """Also not the fault behind them, and what is faulty there is left out."""
    text = "".join(
        f"animation_keyframes {{\n  newer: {{ a: 1 }}\n  time: {n} # {'x' * 300}\n}}\n"
        for n in range(2000)
    )
    animation = bm.spot.from_text(text)
    assert animation.keyframes.times.tolist() == [*range(2000)]
    assert {problem.rule for problem in animation.problems} == {"CAP101"}
    with pytest.raises(bm.FormatError) as refused:
        bm.spot.from_text(text + "animation_keyframes { time: nothing }")
    (fault,) = (
        problem for problem in refused.value.problems if problem.rule == "CAP002"
    )
    assert (fault.rule, fault.location.line) == ("CAP002", 8001)


def test_rows_laid_out_as_printed_and_others_are_the_same():
    """Line breaks make no difference."""
    contact = (
        "legs {{\n    fl {{\n      stance {{\n        value: {}\n      }}\n    }}\n  }}"
    )
    rows = [
        f"animation_keyframes {{\n  time: {n}.5\n  {contact.format('true' if n % 3 else 'false')}\n}}\n"
        for n in range(100)
    ]
    printed = bm.spot.from_text("".join(rows)).keyframes
    on_lines = bm.spot.from_text(
        "".join(row.replace("\n", " ") + "\n" for row in rows)
    ).keyframes
    mixed = bm.spot.from_text(
        "".join(r if n % 2 else r.replace("\n", " ") for n, r in enumerate(rows))
    ).keyframes
    assert on_lines == printed
    assert mixed == printed
    assert printed.column("fl_contact")[:4].tolist() == [0, 1, 1, 0]
    assert printed.times.tolist() == [n + 0.5 for n in range(100)]


def test_what_can_not_be_played_is_said_in_reading_and_in_writing(tmp_path):
    frames = "".join(
        f"animation_keyframes {{ time: {t} gripper {{ gripper_angle {{ value: -0.5 }} }} }}\n"
        for t in (0, 2, 1)
    )
    text = f'name: "a" controls_gripper: true bpm: -5\n{frames}'
    path = tmp_path / "a.cap"
    path.write_text(text, encoding="utf-8")
    animation = bm.load(path)
    assert {problem.rule for problem in animation.problems} == {"CHA130", "MOT105"}
    assert {problem.severity for problem in animation.problems} == {"error"}
    assert {problem.location.path for problem in animation.problems} == {str(path)}
    assert [p.rule for p in bm.check(path).errors] == [
        p.rule for p in animation.problems
    ]
    again = bm.save(animation, tmp_path / "b.cap")
    assert {problem.rule for problem in again.problems} == {"CHA130", "MOT105"}
    path.write_text(
        text.replace("-5", "60").replace("time: 1 ", "time: 3 "), encoding="utf-8"
    )
    assert not bm.load(path).problems


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("time: 0.5", "time: 5e-1 # 0.25 s: too early"),
        ("time: 0.5", "time: 0.5\n  time: 0.5"),
        ("time: 0.5", "time: 1-2"),
        ("value: 0.25", "value: -0"),
        ("value: 0.25", "value: nan"),
        ("value: 0.25", "value: 0.25f"),
        ("value: 0.25", "value: 0x10"),
        ("value: 0.25", "value: 0.25 unknown: 3"),
        (
            "value: 0.25",
            "value: 0.25\n      }\n    }\n  }\n}\nname: 'of % between rows'\nanimation_keyframes {\n  body {\n    body_pos {\n      y {",
        ),
        ("body_pos", "com_pos"),
    ],
)
def test_rows_that_differ_in_their_numbers_only(old, new):
    """Of rows alike one is parsed; the animation, or the fault, is that of all of them parsed by protobuf, in another style."""
    message = sequence_pb2.Animation(name="alike", bpm=100)
    for k in range(9):
        row = message.animation_keyframes.add(time=k / 8)
        row.body.body_pos.x.value = k / 16
        row.body.body_pos.z.value = 0.5
    text = text_format.MessageToString(message).replace(old, new)
    results = []
    for styled in (
        text,
        text.replace("animation_keyframes {", "animation_keyframes  {"),
    ):
        try:
            results.append(bm.spot.from_text(styled))
        except bm.FormatError as error:
            results.append([(one.rule, one.location.line) for one in error.problems])
    assert results[0] == results[1]
    try:
        expected = text_format.Parse(text, sequence_pb2.Animation())
    except text_format.ParseError:
        return
    assert results[0] == bm.spot.from_bytes(expected.SerializeToString())
