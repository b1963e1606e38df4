"""Messages come back as the animations that they were, and animations as the messages.

What a message does not hold, and so does not come back: description and colour; how columns were grouped and ordered; which of two numbers
0 and 1e-6 was meant where 1e-6 stands (0 is taken); options with the value 0; plain numbers (leg joints, quaternions) that no column gave
come back as columns of 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cha_files import ChaFile, cha_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.spot.animation import Animation, Keyframes, Parameter
from bodymotion.spot.cha import parse_cha
from bodymotion.spot.cha_proto.rows import PATHS
from sample_files import CORPUS, sampled, tries

QUICK = settings(
    max_examples=tries(100), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WAYS = {
    "bytes": lambda animation: bm.spot.from_bytes(bm.spot.to_bytes(animation)),
    "text": lambda animation: bm.spot.from_text(bm.spot.to_text(animation)),
}
NOT_HELD = ("description", "display_rgb")
PLAIN = ("_hx", "_hy", "_kn", "_quat_w", "_quat_x", "_quat_y", "_quat_z")


def untiny(values: np.ndarray) -> np.ndarray:
    return np.where(values == 1e-6, 0, values)


def check_same(back: Animation, first: Animation) -> None:
    """Check that an animation came back but for what a message cannot hold."""
    assert back.name == first.name
    assert back.options["controls"] == tuple(
        t for t in ("legs", "body", "arm", "gripper") if t in first.controls
    )
    expected = {
        key: value
        for key, value in first.options.items()
        if key not in (*NOT_HELD, "controls") and value != 0
    }
    if expected.pop("precise_timing", False):
        last = [
            key
            for key in first.options
            if key in ("precise_timing", "timing_adjustability")
        ][-1]
        if last == "precise_timing":
            expected["timing_adjustability"] = -1.0
        elif first.options[last] == 0:
            expected.pop(last, None)
    one_frame = len(first.keyframes) == 1
    if one_frame:
        expected.pop("frequency", None)
    assert {
        key: value for key, value in back.options.items() if key != "controls"
    } == expected
    assert back.parameters == first.parameters
    for name in first.keyframes.columns:
        ours, theirs = back.keyframes.column(name), untiny(first.keyframes.column(name))
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
    for name in set(back.keyframes.columns) - set(first.keyframes.columns):
        assert name.endswith(PLAIN) and not back.keyframes.column(name).any()
    np.testing.assert_array_equal(back.keyframes.times, untiny(first.keyframes.times))


@pytest.mark.parametrize("way", WAYS)
@QUICK
@given(file=cha_files())
def test_there_and_back(way, file: ChaFile):
    first = parse_cha(file.text.encode(), "generated.cha").value
    back = WAYS[way](first)
    assert not [problem for problem in back.problems if problem.rule.startswith("CAP")]
    check_same(back, first)
    assert (
        bm.spot.to_bytes(back) == bm.spot.to_bytes(first) or len(first.keyframes) == 1
    )


@pytest.mark.parametrize(
    "path",
    sampled(sorted((CORPUS / "cha" / "valid").glob("*.cha"))),
    ids=lambda path: path.stem,
)
def test_samples_over_all_forms(path, tmp_path):
    """.cha → .cap → .pb → .cha → .cap: the message stays the same to the last byte."""
    first = bm.load(path)
    folder = tmp_path / "other"
    folder.mkdir()
    bm.save(first, tmp_path / f"{path.stem}.cap")
    second = bm.load(tmp_path / f"{path.stem}.cap")
    check_same(second, first)
    assert not bm.save(second, tmp_path / f"{path.stem}.pb").problems
    third = bm.load(tmp_path / f"{path.stem}.pb")
    assert third == second
    assert not bm.save(third, folder / path.name).problems
    fourth = bm.load(folder / path.name)
    check_same(fourth, second)
    assert bm.spot.to_bytes(fourth) == bm.spot.to_bytes(first)


def test_a_message_of_another_tool(corpus):
    path = next((corpus / "cha" / "sequences").rglob("pose_to_pose_animation.pbtxt"))
    animation = bm.load(path)
    assert animation.name == "pose_to_pose_animation"
    assert animation.controls == ("legs", "body", "arm", "gripper")
    assert len(animation.keyframes) == 9
    assert animation.keyframes.column("shoulder1")[0] == -3.115814208984375
    assert (
        bm.spot.from_bytes(bm.spot.to_bytes(animation)).keyframes == animation.keyframes
    )


def test_the_vendors_objects():
    sequence_pb2 = pytest.importorskip("bosdyn.api.spot.choreography_sequence_pb2")
    message = sequence_pb2.Animation(name="a", controls_body=True, bpm=60)
    message.animation_keyframes.add(time=1).body.com_pos.z.value = 0.5
    animation = bm.spot.from_proto(message)
    assert animation.keyframes.columns == ("com_z",)
    assert bm.spot.to_proto(animation) == message


@given(st.floats(0.1, 1000), st.integers(2, 60))
def test_a_frequency_is_found_again(frequency, count):
    animation = Animation(
        options={"controls": ("body",), "frequency": frequency},
        keyframes=Keyframes(
            columns=("body_z",),
            values=np.ones((count, 1)),
            times=np.arange(count) / frequency,
        ),
    )
    back = bm.spot.from_bytes(bm.spot.to_bytes(animation))
    assert bm.spot.to_bytes(back) == bm.spot.to_bytes(animation)
    assert back.options["frequency"] == pytest.approx(frequency, rel=1e-6)


def keyframe(body: str) -> str:
    return f"animation_keyframes {{ time: 1 {body} }}\n"


def test_what_comes_and_goes_is_held():
    text = 'name: "a"\n' + "".join(
        keyframe(body)
        for body in (
            "",
            "body { body_pos { x { value: 1 } } }",
            "",
            "body { body_pos { x { value: 3 } y { } } }",
        )
    )
    animation = bm.spot.from_text(text)
    assert animation.keyframes.column("body_x").tolist() == [1, 1, 1, 3]
    assert animation.keyframes.column("body_y").tolist() == [0, 0, 0, 0]
    assert [
        problem.rule for problem in animation.problems if problem.rule.startswith("CAP")
    ] == ["CAP102"]
    assert animation.problems[0].data["missing"]["body.body_pos.x"] == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("body { body_pos { x { value: 1 } } }", "body { com_pos { x { value: 1 } } }"),
        ("body { quaternion { w: 1 } }", "body { euler_angles { } }"),
        ("arm { joint_angles { } }", "arm { hand_pose { } }"),
        ("legs { fl { foot_pos { } } }", "legs { fl { joint_angles { } } }"),
    ],
)
def test_one_way_for_all_keyframes(one, other):
    with pytest.raises(bm.FormatError) as caught:
        bm.spot.from_text(keyframe(one) + keyframe(other))
    assert caught.value.problem.rule == "CAP003"


def test_parameters_that_are_not_whole():
    text = (
        keyframe("")
        + "default_parameters { speed { value: 2 } animation_name: 'b' } maximum_parameters { gripper_offset { } }"
    )
    animation = bm.spot.from_text(text)
    assert animation.parameters == {
        "gripper_offset": Parameter(0, 0, 0),
        "speed": Parameter(2, 2, 2),
    }
    assert sorted(problem.rule for problem in animation.problems) == [
        "CAP103",
        "CAP104",
    ]


def test_nothing_in_it(tmp_path):
    with pytest.raises(bm.FormatError, match="CAP006"):
        bm.spot.from_bytes(b"")
    with pytest.raises(bm.FormatError, match="CAP006"):
        bm.spot.from_text('name: "a"')


def test_losses(tmp_path):
    animation = Animation(
        name="a",
        options={
            "controls": ("body",),
            "description": "b",
            "display_rgb": (1, 2, 3),
            "some": True,
        },
        parameters={
            "arm_dance_frame_id": Parameter(0, 1, 1.5),
            "other": Parameter(0, 1, 2),
            "speed": Parameter(),
        },
        keyframes=Keyframes(
            columns=("body_x", "com_x", "fl_contact", "tail"),
            values=np.full((2, 4), 0.5),
            times=np.array([0, 1.0]),
        ),
    )
    for ending in ("cap", "pb"):
        report = bm.save(animation, tmp_path / f"a.{ending}")
        assert sorted(problem.rule for problem in report.losses) == [
            "LOSS060",
            "LOSS060",
            "LOSS061",
            "LOSS062",
            "LOSS063",
            "LOSS063",
            "LOSS064",
            "LOSS064",
            "LOSS064",
        ]
        assert bm.load(tmp_path / f"a.{ending}").keyframes.columns == (
            "com_x",
            "fl_contact",
        )


def test_the_name_of_a_file_stands_in_for_none(tmp_path):
    path: Path = tmp_path / "nameless.cap"
    path.write_text(keyframe("body { com_pos { } }"))
    assert bm.load(path).name == "nameless"


def test_columns_come_back_in_one_order():
    names = list(PATHS)
    assert (
        names.index("gripper")
        < names.index("shoulder0")
        < names.index("body_x")
        < names.index("fl_hx")
    )
