"""Laws: what is written is read back to the last bit, any bytes give an animation or a FormatError, both readers of rows say the same."""

from __future__ import annotations

import numpy as np
import pytest
from cha_texts import cha
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bodymotion import FormatError
from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import GROUPS, Animation, Keyframes, Parameter
from bodymotion.spot.cha import cha_text, check_animation, parse_cha
from bodymotion.spot.cha import rows as rows_module
from bodymotion.spot.cha.keywords import COLUMNS, OPTIONS, PARAMETERS, singles
from sample_files import tries

FINITE = st.floats(-1e6, 1e6)
NUMBERS = (
    FINITE
    | st.integers(-3, 3).map(float)
    | st.sampled_from([0.0, -0.0, 5e-324, 999999.9999999999, 0.1])
)
TEXTS = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="#/"),
    min_size=1,
    max_size=8,
)
VALUES = {
    "bpm": st.floats(1e-3, 1e4),
    "display_rgb": st.tuples(*[st.integers(0, 255)] * 3),
    "description": st.lists(TEXTS, min_size=1, max_size=4).map(" ".join),
    "timing_adjustability": st.floats(-1, 1),
    "arm_playback": st.sampled_from(
        ["jointspace", "workspace", "workspace_dance_frame"]
    ),
}
"""What options may be, but for those that are True."""


@st.composite
def keywords(draw: st.DrawFn, controls: tuple[str, ...]) -> list[str]:
    """Draw keywords of columns that the tracks need, groups and single ones in any order."""
    found: list[str] = []
    if "gripper" in controls:
        found.append("gripper")
    if "body" in controls:
        found += draw(
            st.sampled_from(
                [["body_pos"], ["com_pos"], ["body_z"], ["com_y", "com_x"], []]
            )
        )
        turns = [
            ["body_quat_wxyz"],
            ["body_quat_xyzw"],
            ["body_euler_rpy"],
            ["body_yaw"],
            [*GROUPS["body_quat_xyzw"]],
        ]
        found += draw(
            st.sampled_from([*turns, []] if found and found[-1] != "gripper" else turns)
        )
    if "arm" in controls:
        turns = ["hand_quat_wxyz", "hand_quat_xyzw", "hand_euler_rpy"]
        arms = [
            ["arm_joints"],
            ["wrist0"],
            [*GROUPS["arm_joints"]],
            *(["hand_pos", turn] for turn in turns),
        ]
        found += draw(st.sampled_from(arms))
    if "legs" in controls:
        one = st.tuples(
            *[st.sampled_from([f"{leg}_angles", f"{leg}_pos"]) for leg in LEGS]
        ).map(list)
        found += draw(st.sampled_from([["leg_joints"], ["foot_pos"]]) | one)
        found += draw(st.sampled_from([[], ["contact"], [*GROUPS["contact"]]]))
    return draw(st.permutations(found))


@st.composite
def animations(draw: st.DrawFn) -> Animation:
    """Draw an animation of which the document forbids nothing."""
    controls = tuple(
        draw(st.sets(st.sampled_from(["legs", "body", "arm", "gripper"]), min_size=1))
    )
    options: dict[str, object] = {"controls": controls}
    flags = [
        name
        for name, option in OPTIONS.items()
        if not option.values and name != "custom_gait_cycle"
    ]
    for name in draw(st.permutations([*flags, *VALUES])):
        if draw(st.booleans()):
            continue
        options[name] = draw(VALUES.get(name, st.just(True)))
    if "legs" in controls or "body" not in controls:
        options.pop("neutral_start", None)
    if "arm_required" in options or set(controls) <= {"arm", "gripper"}:
        options.pop("arm_prohibited", None)
    parameters = {}
    for name in draw(st.permutations(list(PARAMETERS))):
        word = PARAMETERS[name]
        framed = (
            name != "arm_dance_frame_id"
            or options.get("arm_playback") == "workspace_dance_frame"
        )
        if set(word.tracks) <= set(controls) and framed and draw(st.booleans()):
            low, high = (
                max(word.minimum, 1e-3 if name == "speed" else -1e6),
                min(word.maximum, 1e6),
            )
            three = draw(st.none() | st.tuples(*[st.floats(low, high)] * 3).map(sorted))
            parameters[name] = Parameter(*(three or ()))
    header = draw(keywords(controls))
    columns = tuple(column for keyword in header for column in singles(keyword))
    count = draw(st.integers(1, 5))
    values = draw(arrays(np.float64, (count, len(columns)), elements=NUMBERS))
    for k, column in enumerate(columns):
        if COLUMNS[column].quantity == "contact":
            values[:, k] = draw(
                arrays(np.float64, count, elements=st.sampled_from([0.0, 1.0]))
            )
        if COLUMNS[column].quantity == "quaternion":
            values[:, k] = draw(arrays(np.float64, count, elements=st.floats(0.1, 1)))
    if draw(st.booleans()):
        options["frequency"] = draw(st.floats(1e-3, 1e5))
        times = np.arange(count) / options["frequency"]
    else:
        steps = draw(arrays(np.float64, count - 1, elements=st.floats(1e-3, 1e3)))
        times = np.concatenate([[0.0], np.cumsum(steps)])
        header.insert(draw(st.integers(0, len(header))), "time")
    zeros = draw(arrays(np.bool_, values.shape)) & (values == 0) & ~np.signbit(values)
    given_header = draw(st.sampled_from([tuple(header), ()]))
    frames = Keyframes(
        columns=columns,
        values=values,
        times=times,
        header=given_header,
        exact_zeros=zeros,
    )
    return Animation(name="a", options=options, parameters=parameters, keyframes=frames)


@settings(max_examples=tries(80), deadline=None)
@given(animations())
def test_written_and_read_it_is_the_same_to_the_last_bit(animation):
    assert not [
        problem for problem in check_animation(animation) if problem.severity == "error"
    ]
    text, problems = cha_text(animation)
    assert not problems
    again = parse_cha(text, "a.cha").require()
    assert again == animation
    assert list(again.options) == list(animation.options)
    assert list(again.parameters) == list(animation.parameters)
    ours, theirs = animation.keyframes, again.keyframes
    assert (theirs.values.copy().view("u8") == ours.values.copy().view("u8")).all()
    assert (theirs.times.copy().view("u8") == ours.times.copy().view("u8")).all()
    assert (theirs.exact_zeros == ours.exact_zeros).all()
    if ours.header:
        assert theirs.header == ours.header
    assert cha_text(again)[0] == text


@settings(max_examples=tries(60), deadline=None)
@given(animations())
def test_the_canonical_style_keeps_all_values_and_is_a_fixed_point(animation):
    text, problems = cha_text(animation, style="canonical")
    assert not problems
    again = parse_cha(text, "a.cha").require()
    assert (again.options, again.parameters) == (
        animation.options,
        animation.parameters,
    )
    assert set(again.keyframes.columns) == set(animation.keyframes.columns)
    for column in animation.keyframes.columns:
        assert (
            again.keyframes.column(column) == animation.keyframes.column(column)
        ).all()
    assert cha_text(again, style="canonical")[0] == text


def sound(data: bytes) -> None:
    """Read anything: an animation, or a FormatError; every place named is a word's, or the end of a line."""
    read = parse_cha(data, "move.cha")
    animation, problems = read.value, read.problems
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        with pytest.raises(FormatError):
            parse_cha(data, "move.cha").require()
    else:
        assert animation is not None
        assert parse_cha(data, "move.cha").require() == animation
    try:
        text = (
            data.removeprefix(b"\xef\xbb\xbf")
            .decode("utf-8")
            .replace("\r\n", "\n")
            .replace("\r", "\n")
        )
    except UnicodeDecodeError:
        return
    if "\x00" in text or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    lines = text.split("\n")
    for problem in problems:
        line, column = problem.location.line, problem.location.column
        assert line is not None
        assert column is not None
        assert 1 <= line <= len(lines)
        there = lines[line - 1][column - 1 :]
        assert column <= len(lines[line - 1]) + 1
        if problem.rule not in (
            "CHA104",
            "CHA105",
            "CHA110",
            "CHA111",
            "CHA112",
            "CHA115",
            "CHA116",
            "CHA120",
        ):
            assert (
                not there.strip()
                or not there[0].isspace()
                or there.lstrip()[0] in "#/"
                or column == 1
            ), (
                problem,
                there,
            )


@settings(max_examples=tries(80), deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(data):
    sound(data)


MARKS = (
    "\n",
    "\n\n",
    "\n\n\n",
    " ",
    "\t",
    "\r\n",
    "\r",
    "\u00a0",
    "\x00",
    "# c",
    "// c",
    "controls body\n\nno parameters\n\n",
)
WORDS = (
    "no parameters",
    "legs",
    "body",
    "arm",
    "workspace",
    "0",
    "1",
    "0.5",
    "1 2 3",
    "nan",
    "-1e400",
    "x",
    "é",
)
PIECES = st.sampled_from([*OPTIONS, *PARAMETERS, *COLUMNS, *GROUPS]) | st.sampled_from(
    [*MARKS, *WORDS]
)


@settings(max_examples=tries(120), deadline=None)
@given(st.lists(PIECES, max_size=40).map(" ".join))
def test_any_words(text):
    sound(text.encode())


@settings(max_examples=tries(120), deadline=None)
@given(st.data())
def test_any_damage(data):
    """A sound file with a piece cut out, doubled or replaced."""
    text = cha(
        "body gripper",
        "bpm 120 # c\ndescription d",
        "speed 0 1 2",
        "time body_pos gripper",
        "0 0 0 0.5 0\n1 0.1 0 0.4 -1\n",
    )
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 30)))
    sound(
        (
            text[:begin]
            + data.draw(PIECES | st.just(text[begin:end] * 2) | st.just(""))
            + text[end:]
        ).encode()
    )


TOKENS = st.one_of(
    st.floats().map(repr),
    st.floats(-10, 10).map(lambda x: f"{x:.6f}"),
    st.integers(-(10**45), 10**45).map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(
        [
            "0",
            "-0",
            "+1",
            ".5",
            "5.",
            "1e5",
            "1E-5",
            "1e",
            "e1",
            "-",
            ".",
            "0x1",
            "1_0",
            "nan",
            "0e999",
            "00012",
            "1e-400",
            "1e400",
            "١",
            "1-2",
        ]
    ),
    st.from_regex(
        r"[-+]?[0-9]{0,25}\.?[0-9]{0,25}([eE][-+]?[0-9]{1,3})?", fullmatch=True
    ),
)
LINES = st.one_of(
    st.tuples(TOKENS, TOKENS).map(" ".join),
    st.tuples(TOKENS, TOKENS).map(lambda pair: f" {pair[0]}\t{pair[1]}  # c"),
    st.lists(TOKENS, max_size=4).map(" ".join),
    st.sampled_from(
        [
            "",
            "  ",
            "# c",
            "// c",
            "\u00a0",
            "1\u00a02",
            "1 2//c",
            "1 2/c",
            "1 2#",
            "\t1 2 ",
            "1\x002",
        ]
    ),
)


def read_at_once(data: bytes):
    """Read a file with the way of large files, however small it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "MIN_PLAIN_BYTES", 0)
        patch.setattr(rows_module, "CHUNK_BYTES", 20)
        return parse_cha(data)


@settings(max_examples=tries(120), deadline=None)
@given(st.lists(LINES, max_size=12).map("\n".join), st.sampled_from(["", "\n"]))
def test_many_lines_at_once_are_read_like_single_lines(text, end):
    data = cha(rows=text + end).encode()
    singly, at_once = parse_cha(data), read_at_once(data)
    assert at_once.problems == singly.problems
    assert (at_once.value is None) == (singly.value is None)
    if at_once.value is not None and singly.value is not None:
        ours, theirs = at_once.value.keyframes, singly.value.keyframes
        assert ours == theirs
        assert ours.values.copy().tobytes() == theirs.values.copy().tobytes()
        assert ours.times.copy().tobytes() == theirs.times.copy().tobytes()
        assert (ours.exact_zeros == theirs.exact_zeros).all()
        assert repr(at_once.value.source) == repr(singly.value.source)


@settings(max_examples=tries(120), deadline=None)
@given(st.lists(TOKENS, min_size=1, max_size=20))
def test_numbers_read_at_once_are_those_of_python(tokens):
    tokens = [token for token in tokens if rows_module.NUMBER.fullmatch(token)] or ["0"]
    data = cha(options="frequency 1", columns="body_z", rows="\n".join(tokens)).encode()
    animation = read_at_once(data).value
    assert animation is not None
    assert (
        animation.keyframes.values[:, 0].tobytes()
        == np.array([float(token) for token in tokens]).tobytes()
    )
