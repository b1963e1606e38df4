"""Pairs for Spot animations."""

from __future__ import annotations

from cha.cha_texts import LEG, LEGS, cha, cycle, legs
from rules.pairs import Content, Pair, example_of, examples, files

UP, DOWN = "0 0 0 0", "1 1 1 1"
BODY = cha(
    options="bpm 120\nextendable\ndisplay_rgb 1 2 3\ntiming_adjustability 0.5\narm_required\ndescription see a.b",
    parameters="speed 0.5 1 2\nbody_exit_slices 0 0 1",
)
"""A move of the body with options and parameters."""
PLAIN = cha()
SHORT = cha(options="extendable\nbpm 120", parameters="speed 0.5 1 2")
ARM = "0 -2 2 0 0 0"
BOTH = cha("body gripper", columns="time body_z gripper", rows="0 0.48 0\n1 0.44 0\n")
POSE = "0.6 0 0.7"
HAND = cha(
    "arm gripper",
    "arm_playback workspace_dance_frame",
    "arm_dance_frame_id 0 0 1\ngripper_strength_fraction 0 1 1",
    "time hand_pos gripper",
    f"0 {POSE} 0\n1 {POSE} 0\n",
)
STIFF = legs(
    "time leg_joints body_z",
    f"0 {LEGS} 0\n1 {LEGS} 0\n",
    controls="legs body",
    parameters="body_tracking_stiffness 1 5 11",
)
TURNED = cha(columns="time body_quat_wxyz", rows="0 1 0 0 0\n1 0 1 0 0\n")
SWING = legs("time leg_joints contact", f"0 {LEGS} {DOWN}\n1 {LEGS} 1 1 0 1\n")
GAIT = cycle(DOWN, UP, DOWN)


def two(wrong: Content, right: Content, still: str = "") -> Pair:
    return files("move.cha", wrong, right, still=still)


def given(codes: str, good: str) -> dict[str, Pair]:
    return examples("move.cha", good, codes)


def columns(
    code: str, controls: str, wrong: str, right: str, options: str = ""
) -> Pair:
    """Make a pair of the columns of the rule's example, each with the numbers of a keyframe twice."""
    names = example_of(code)
    return two(
        *(
            cha(
                controls,
                options,
                columns=name.partition(",")[0],
                rows=f"0 {row}\n1 {row}\n",
            )
            for name, row in zip(names, (wrong, right), strict=True)
        )
    )


PAIRS: dict[str, Pair] = {
    "CHA102": two("\ufeff" + PLAIN, PLAIN),
    "FMT011 .cha": two(
        cha(options="description Wav\xe9").encode("latin-1"),
        cha(options="description Wav\xe9"),
    ),
    **given("CHA104 CHA105", SHORT),
    "CHA106": two("# comment\n" * 5000 + PLAIN, "# comment\n" * 4000 + PLAIN),
    "FMT009 .cha": two(
        f"{PLAIN}2 0.4 # {'x' * 100_000}\n", f"{PLAIN}2 0.4 # {'x' * 90_000}\n"
    ),
    "CHA108": two(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2X\0\0\1\x90\x08\6\0\0\0", PLAIN),
    **given("CHA110 CHA111", SHORT),
    **given("CHA112", cha(options="bpm 120", parameters="# parameters\nspeed 0.5 1 2")),
    "CHA113": two(PLAIN.removeprefix("controls body\n\n"), PLAIN),
    **given("CHA114", PLAIN),
    "CHA115": two(PLAIN[: PLAIN.index("time")], PLAIN),
    **given(
        "CHA116 CHA117 CHA120 CHA121 CHA122 CHA123 CHA124 CHA125 CHA126 CHA127 CHA128 CHA129",
        SHORT,
    ),
    **given("CHA130 CHA131 CHA141", SHORT),
    **given("CHA133 CHA134 CHA135 CHA137 CHA140 CHA143 CHA160", BODY),
    **given(
        "CHA136",
        cha(
            "arm",
            "arm_playback workspace",
            columns="time hand_pos",
            rows=f"0 {POSE}\n1 {POSE}\n",
        ),
    ),
    **given("CHA138", BOTH),
    **given("CHA139 CHA158", STIFF),
    "CHA142": two(
        cha(options="arm_playback jointspace"),
        cha(
            "arm",
            "arm_playback jointspace",
            columns="time arm_joints",
            rows=f"0 {ARM}\n1 {ARM}\n",
        ),
    ),
    "CHA144": two(
        cha(options="neutral_start", columns="time body_z fl_x", rows="0 0 0\n1 0 0\n"),
        cha(options="neutral_start", columns="time body_z", rows="0 0\n1 0\n"),
    ),
    **given(
        "CHA150 CHA151 CHA152 CHA153 CHA154 CHA155 CHA156 CHA164 CHA166 CHA167 CHA169",
        SHORT,
    ),
    "CHA157": two(
        cha(parameters="gripper_offset -1 0 1"),
        BOTH.replace("no parameters", "gripper_offset -1 0 1"),
    ),
    **given("CHA159 CHA161", HAND),
    **given("CHA162", HAND),
    **given("CHA165 CHA168", PLAIN),
    "CHA170": two(PLAIN.replace("time body_z\n", ""), PLAIN),
    "CHA171": columns("CHA171", "body", "0", "0"),
    "CHA172": columns("CHA172", "body", "0 0", "0 0"),
    "CHA173": columns("CHA173", "body", "0 0", "0 0"),
    "CHA174": columns("CHA174", "body", "1 0 0 0 0", "1 0 0 0 0"),
    "CHA175": columns("CHA175", "arm gripper", f"{ARM} 0", f"{ARM} 0"),
    "CHA176": columns("CHA176", "legs body", f"{LEGS} 0", f"{LEGS} 0"),
    "CHA177": two(
        cha(options="frequency 30", columns="time body_z", rows="0 0\n1 0\n"),
        cha(options="frequency 30", columns="body_z", rows="0\n0\n"),
    ),
    "CHA178": two(
        cha(columns="body_z", rows="0\n0\n"),
        cha(options="frequency 30", columns="body_z", rows="0\n0\n"),
    ),
    **given("CHA179 CHA180", PLAIN),
    "CHA181": columns("CHA181", "legs", f"{LEG} {LEG} {LEG}", LEGS),
    "CHA182": two(
        legs(
            "time fl_hx fl_hy fr_angles hl_angles hr_angles",
            f"0 0 0.8 {LEG} {LEG} {LEG}\n1 0 0.8 {LEG} {LEG} {LEG}\n",
        ),
        legs("time fl_hx fl_hy fl_kn fr_angles hl_angles hr_angles"),
    ),
    "CHA183": columns("CHA183", "body", "1 0 0", "1 0 0 0"),
    "CHA184": columns("CHA184", "arm", "1 0 0 0", f"{POSE} 1 0 0 0"),
    "CHA185": columns("CHA185", "arm", "0.6 0 0 0 0", f"{POSE} 0 0 0"),
    "CHA186": columns("CHA186", "legs", f"{LEGS} 1", f"{LEGS} {DOWN}"),
    "CHA187": two(
        cha(columns="time body_z gripper", rows="0 0.48 0\n1 0.44 0\n"), PLAIN
    ),
    "CHA188": columns("CHA188", "arm", POSE, f"{POSE} 0 0 0"),
    "CHA200": two(PLAIN[: PLAIN.index("0 0.48")], PLAIN),
    **given("CHA201 CHA202 CHA203 CHA204 CHA206 CHA207 CHA216 CHA217", PLAIN),
    **given("CHA210", SWING),
    **given("CHA211", TURNED),
    "CHA213": two(legs(rows=f"0 {LEGS}\n1 0 0.8 0.5 {LEG} {LEG} {LEG}\n"), legs()),
    **given("CHA214", cha(columns="time body_yaw", rows="0 3.1\n0.1 3.2\n")),
    "CHA215": two(
        cha(rows="x\n" * 10_001), cha(rows="x\n" * 10_000), still="CHA204 CHA202"
    ),
    "CHA218": columns("CHA218", "body", "0.1 0 0.48", "0.1 0 0.48"),
    "CHA219": two(
        cha(columns="time body_euler_rpy", rows="0 -30 0 45\n1 -30 0 45\n"),
        cha(columns="time body_euler_rpy", rows="0 -0.52 0 0.79\n1 -0.52 0 0.79\n"),
    ),
    "CHA226": two(cha(rows="0 480\n1 440\n"), cha(rows="0 0.48\n1 0.44\n")),
    **given("CHA220", GAIT),
    "CHA221": two(GAIT.replace(f"0.2 {LEG}", "0.2 0 0.8 -1.7"), GAIT),
    "CHA222": two(cycle(DOWN, UP, "1 1 0 1"), GAIT),
    "CHA223": two(cycle(DOWN, DOWN, DOWN), GAIT),
    "CHA224": two(
        cycle(DOWN, UP, DOWN, "1 1 0 1", DOWN, "1 1 0 1", DOWN),
        cycle(DOWN, UP, DOWN, "1 1 0 1", "1 1 0 1", "1 1 0 1", DOWN),
    ),
    "CHA225": two(
        GAIT.replace(" contact", "")
        .replace(f" {DOWN}\n", "\n")
        .replace(f" {UP}\n", "\n"),
        GAIT,
    ),
}

MORE = [
    files("move.cha", cha(rows="0 0.48\n2 0.48\n1 0.44\n"), PLAIN),
    files("move.cha", cha(rows="0 0.48\n1 0.44\n1 0.45\n"), PLAIN),
    files("move.cha", cha(rows="0 0.48\n1 nan\n"), PLAIN),
    files(
        "move.cha", cha(options="frequency 0", columns="body_z", rows="0\n0\n"), PLAIN
    ),
    files("move.cha", TURNED.replace("1 0 1 0 0", "1 0 1.05 0 0"), TURNED),
]
"""Files that break rules which exist once for all formats, whose example is a file of another format."""
