"""Every keyword of the document is known: read, written back, and held to its values. The tables here are written from the document."""

from __future__ import annotations

import pytest
from cha_texts import FEET, LEGS, cha, legs, problems_of

from bodymotion.spot.animation import GROUPS, Parameter
from bodymotion.spot.cha import cha_text, parse_cha
from bodymotion.spot.cha.keywords import COLUMNS, OPTIONS, PARAMETERS, singles

OPTION_LINES = {
    "controls legs body": ("legs", "body"),
    "bpm 120": 120.0,
    "extendable": True,
    "truncatable": True,
    "display_rgb 0 128 255": (0, 128, 255),
    "frequency 30": 30.0,
    "retime_to_integer_slices": True,
    "description a  wave, with (odd) signs: / 100%": "a  wave, with (odd) signs: / 100%",
    "neutral_start": True,
    "precise_steps": True,
    "timing_adjustability -0.5": -0.5,
    "track_swing_trajectories": True,
    "arm_playback jointspace": "jointspace",
    "arm_playback workspace": "workspace",
    "arm_playback workspace_dance_frame": "workspace_dance_frame",
    "arm_required": True,
    "arm_prohibited": True,
    "no_looping": True,
    "starts_sitting": True,
    "custom_gait_cycle": True,
    "assume_zero_roll_and_pitch": True,
    "precise_timing": True,
}
TRACKS_OF_PARAMETERS = {
    "speed": "body",
    "offset_slices": "body",
    "body_entry_slices": "body",
    "body_exit_slices": "body",
    "translation_multiplier.x": "body",
    "translation_multiplier.y": "body",
    "translation_multiplier.z": "body",
    "rotation_multiplier.roll": "body",
    "rotation_multiplier.pitch": "body",
    "rotation_multiplier.yaw": "body",
    "body_tracking_stiffness": "legs body",
    "arm_entry_slices": "arm",
    "shoulder_0_offset": "arm",
    "shoulder_1_offset": "arm",
    "elbow_0_offset": "arm",
    "elbow_1_offset": "arm",
    "wrist_0_offset": "arm",
    "wrist_1_offset": "arm",
    "gripper_offset": "gripper",
    "gripper_multiplier": "gripper",
    "gripper_strength_fraction": "gripper",
    "arm_dance_frame_id": "arm",
}
FIRST_COLUMNS = "shoulder0 shoulder1 elbow0 elbow1 wrist0 wrist1"
GROUPS_OF_THE_DOCUMENT = {
    "arm_joints": FIRST_COLUMNS,
    "hand_pos": "hand_x hand_y hand_z",
    "hand_quat_wxyz": "hand_quat_w hand_quat_x hand_quat_y hand_quat_z",
    "hand_quat_xyzw": "hand_quat_x hand_quat_y hand_quat_z hand_quat_w",
    "hand_euler_rpy": "hand_roll hand_pitch hand_yaw",
    "body_pos": "body_x body_y body_z",
    "com_pos": "com_x com_y com_z",
    "body_quat_wxyz": "body_quat_w body_quat_x body_quat_y body_quat_z",
    "body_quat_xyzw": "body_quat_x body_quat_y body_quat_z body_quat_w",
    "body_euler_rpy": "body_roll body_pitch body_yaw",
    "leg_joints": "fl_hx fl_hy fl_kn fr_hx fr_hy fr_kn hl_hx hl_hy hl_kn hr_hx hr_hy hr_kn",
    "fl_angles": "fl_hx fl_hy fl_kn",
    "fr_angles": "fr_hx fr_hy fr_kn",
    "hl_angles": "hl_hx hl_hy hl_kn",
    "hr_angles": "hr_hx hr_hy hr_kn",
    "foot_pos": "fl_x fl_y fl_z fr_x fr_y fr_z hl_x hl_y hl_z hr_x hr_y hr_z",
    "fl_pos": "fl_x fl_y fl_z",
    "fr_pos": "fr_x fr_y fr_z",
    "hl_pos": "hl_x hl_y hl_z",
    "hr_pos": "hr_x hr_y hr_z",
    "contact": "fl_contact fr_contact hl_contact hr_contact",
}
ALONE = ("time", "gripper")
TRACK_OF_GROUP = {"arm": "arm", "hand": "arm", "body": "body", "com": "body"}
STAND = {
    "arm": ("arm_joints", "0 -2 2 0 0 0"),
    "body": ("body_z", "0.48"),
    "gripper": ("gripper", "0"),
    "legs": ("leg_joints", LEGS),
}
"""Columns that each track may have, and values for them."""


def minimal(controls: str, options: str = "", parameters: str = "no parameters") -> str:
    columns = " ".join(STAND[track][0] for track in controls.split())
    values = " ".join(STAND[track][1] for track in controls.split())
    if "frequency" in options:
        return cha(controls, options, parameters, columns, f"{values}\n{values}\n")
    return cha(
        controls, options, parameters, f"time {columns}", f"0 {values}\n1 {values}\n"
    )


def test_the_tables_are_those_of_the_document():
    assert {line.split()[0] for line in OPTION_LINES} == set(OPTIONS)
    assert {word for word, option in OPTIONS.items() if not option.in_document} == {
        "assume_zero_roll_and_pitch",
        "precise_timing",
    }
    assert set(TRACKS_OF_PARAMETERS) == set(PARAMETERS)
    assert {
        name: " ".join(columns) for name, columns in GROUPS.items()
    } == GROUPS_OF_THE_DOCUMENT
    assert set(COLUMNS) == {*ALONE, *" ".join(GROUPS_OF_THE_DOCUMENT.values()).split()}


@pytest.mark.parametrize("line", OPTION_LINES)
def test_each_option(line):
    name = line.split()[0]
    controls = {
        "neutral_start": "body",
        "arm_prohibited": "body",
        "custom_gait_cycle": "legs",
    }.get(name, "legs body arm")
    text = minimal("legs body") if name == "controls" else minimal(controls, line)
    if name == "custom_gait_cycle":
        moved = LEGS.replace("-1.6", "-1.7")
        down, up = f"{LEGS} 1 1 1 1", f"{moved} 0 0 0 0"
        text = legs(
            "time leg_joints contact", f"0 {down}\n1 {up}\n2 {down}\n", options=line
        )
    animation = parse_cha(text.encode()).require()
    assert animation.options[name] == OPTION_LINES[line]
    assert type(animation.options[name]) is type(OPTION_LINES[line])
    written = cha_text(animation)[0].decode()
    assert line in written.splitlines()
    assert parse_cha(written.encode()).require() == animation


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("values", ["", "1 1 1", "+.25 0.5 1e0"])
def test_each_parameter(name, values):
    if name == "body_tracking_stiffness":
        values = values and "1 5 11"
    if name == "arm_dance_frame_id":
        values = values and "0 1 7"
    options = (
        "arm_playback workspace_dance_frame" if name == "arm_dance_frame_id" else ""
    )
    text = minimal(TRACKS_OF_PARAMETERS[name], options, f"{name} \t{values}")
    animation = parse_cha(text.encode()).require()
    numbers = tuple(map(float, values.split())) or (None, None, None)
    assert animation.parameters == {name: Parameter(*numbers)}
    assert not [
        problem for problem in animation.problems if problem.severity == "warning"
    ]
    assert (
        parse_cha(cha_text(animation)[0]).require().parameters == animation.parameters
    )


@pytest.mark.parametrize(
    "name",
    sorted(
        n
        for n, tracks in TRACKS_OF_PARAMETERS.items()
        if n not in ("speed", "offset_slices")
    ),
)
def test_each_parameter_needs_its_tracks(name):
    for other in STAND:
        if other not in TRACKS_OF_PARAMETERS[name].split():
            assert "CHA157" in [
                problem.rule for problem in problems_of(minimal(other, "", name))
            ]


@pytest.mark.parametrize("keyword", [*GROUPS_OF_THE_DOCUMENT, *COLUMNS])
def test_each_column(keyword):
    """As it stands in a file that controls its track, with what it needs beside it."""
    columns = GROUPS_OF_THE_DOCUMENT.get(keyword, keyword).split()
    assert singles(keyword) == tuple(columns)
    track = COLUMNS[columns[0]].track
    first = keyword.partition("_")[0]
    assert track == (
        ""
        if keyword == "time"
        else "gripper"
        if keyword == "gripper"
        else TRACK_OF_GROUP.get(
            first, "arm" if keyword in FIRST_COLUMNS.split() else "legs"
        )
    )
    if track == "legs":
        return
    values = {"_w": "1", "_contact": "1"}
    numbers = " ".join(
        next((v for ending, v in values.items() if column.endswith(ending)), "0")
        for column in columns
    )
    if "quat" in keyword and len(columns) == 1:
        rest = [
            c
            for c in GROUPS_OF_THE_DOCUMENT[f"{first}_quat_wxyz"].split()
            if c != keyword
        ]
        columns, numbers = (
            [keyword, *rest],
            " ".join("1" if c.endswith("_w") else "0" for c in [keyword, *rest]),
        )
        keyword = " ".join(columns)
    text = cha(
        track or "body", columns=f"time {keyword}", rows=f"0 {numbers}\n1 {numbers}\n"
    )
    if keyword == "time":
        text = cha()
        columns = ["body_z"]
        numbers = "0.48"
    animation = parse_cha(text.encode()).require()
    assert animation.keyframes.columns == tuple(columns)
    assert animation.keyframes.values[0].tolist() == [
        float(number) for number in numbers.split()
    ]
    assert parse_cha(cha_text(animation)[0]).require() == animation


MIXES = [
    ("time leg_joints", f"{LEGS}"),
    ("time foot_pos", FEET),
    ("hr_angles time hl_angles fr_angles fl_angles", None),
    ("time fl_angles fr_pos hl_angles hr_pos contact", None),
    ("time fl_kn fl_hy fl_hx fr_pos hl_z hl_y hl_x hr_angles", None),
    ("fl_contact time leg_joints hr_contact fr_contact hl_contact", None),
]


@pytest.mark.parametrize("columns", [row[0] for row in MIXES])
def test_legs_in_groups_and_single_columns_in_any_order(columns):
    names = [column for keyword in columns.split() for column in singles(keyword)]
    row = [
        ("0" if "contact" in name else "-1.5" if name.endswith("kn") else f"0.{k}")
        for k, name in enumerate(names)
    ]
    later = list(row)
    row[names.index("time")], later[names.index("time")] = "0", "1"
    animation = parse_cha(
        cha(
            "legs",
            columns=columns,
            rows=" ".join(row) + "\n" + "\t ".join(later) + "\n",
        ).encode()
    ).require()
    frames = animation.keyframes
    assert frames.header == tuple(columns.split())
    assert frames.columns == tuple(name for name in names if name != "time")
    assert frames.times.tolist() == [0, 1]
    for name, value in zip(names, row, strict=True):
        if name != "time":
            assert frames.column(name)[0] == float(value)
    assert cha_text(animation)[0].decode().splitlines()[4] == columns
    assert parse_cha(cha_text(animation)[0]).require() == animation


@pytest.mark.parametrize(
    ("file", "name"),
    [("Foo.CHA", "Foo"), ("a.b.cha", "a.b"), ("x.cha.cha", "x"), ("Wave.Cha", "Wave")],
)
def test_the_name_of_a_move_is_that_of_its_file(file, name):
    assert (
        parse_cha(minimal("body", "", "no parameters").encode(), file).require().name
        == name
    )
