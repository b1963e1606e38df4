"""Each rule has a text that breaks it, at the place that a person would point at, and one close by that does not."""

from __future__ import annotations

import dataclasses

import pytest
from cha_texts import (
    FEET,
    LEG,
    LEGS,
    cha,
    codes_of,
    cycle,
    legs,
    problems_of,
    without_mark,
)

from bodymotion import FormatError, check
from bodymotion.checks.fixing import find_fixes, fixable
from bodymotion.diagnostics.catalogue import catalogue
from bodymotion.spot.cha import check_animation, parse_cha, read_cha
from sample_files import ACCEPT, sampled

UP, DOWN = "0 0 0 0", "1 1 1 1"
RAISED = "0 1 -2"
STEPS = f"0 {LEGS}\n1 {RAISED} {LEG} {LEG} {RAISED}\n2 {LEGS}\n3 {LEG} {RAISED} {RAISED} {LEG}\n4 {LEGS}\n"
"""A walk on the spot, with two feet raised at a time."""
ARM, POSE = "0 -2 2 0 0 0", "0.6 0 0.7"

CASES: list[tuple[str, str | bytes, str | bytes]] = [
    # The text.
    ("CHA102", b"\xef\xbb\xbf" + cha().encode(), cha()),
    (
        "FMT011",
        cha(options="description Wav\xe9").encode("latin-1"),
        cha(options="description Wav\xe9"),
    ),
    ("FMT011", b"\xff\xfe" + cha().encode("utf-16-le"), cha()),
    ("CHA104", cha(options="bpm 12¦\x000"), cha(options="bpm 120")),
    ("CHA104", cha(rows="0 0.48\n1 0.4¦\x07\n"), cha(rows="0 0.48\n1 0.4\n")),
    ("CHA105", cha(options="bpm¦\u00a0120"), cha(options="bpm\t 120")),
    ("CHA105", cha(rows="0 0.48\n1¦\u00a00.4\n"), cha(rows="0 0.48\n1 \t0.4\n")),
    ("CHA106", "¦".join(["# comment\n" * 5000, cha()]), "# comment\n" * 4000 + cha()),
    (
        "FMT009",
        cha(rows="0 0.48\n¦1 0.4 # " + "x" * 100_000 + "\n"),
        cha(rows="0 0.48\n1 0.4 # " + "x" * 90_000 + "\n"),
    ),
    ("CHA108", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2X\0\0\1\x90\x08\6\0\0\0", cha()),
    ("FMT011", cha().encode("utf-16-le"), cha()),
    # The sections.
    ("CHA110", "¦\n" + cha(), "# comment\n" + cha()),
    ("CHA111", "controls body\n\n¦\nno parameters\n\ntime body_z\n0 0\n1 0\n", cha()),
    (
        "CHA111",
        "controls body\n\nno parameters\n\n \n¦\t\ntime body_z\n0 0\n1 0\n",
        cha(),
    ),
    ("CHA112", cha(options="\n¦# comment"), cha(options="# comment")),
    (
        "CHA112",
        cha(parameters="¦// comment\n\nno parameters"),
        cha(parameters="// comment\nno parameters"),
    ),
    ("CHA113", "¦no parameters\n\ntime body_z\n0 0\n1 0\n", cha()),
    ("CHA114", "controls body\n\n¦time body_z\n0 0\n1 0\n", cha()),
    ("CHA115", "controls body\n\n¦no parameters\n", cha()),
    ("CHA115", "¦", cha()),
    (
        "CHA112",
        cha(rows="0 0.48\n1 0.44\n\n¦# comment\n"),
        cha(rows="0 0.48\n1 0.44\n# comment\n\n"),
    ),
    (
        "CHA112",
        cha(rows="0 0.48\n1 0.44\n  \n \n\t¦// comment\n\n"),
        cha(rows="0 0.48\n\n# comment\n1 0.44\n"),
    ),
    (
        "CHA112",
        cha(rows="0 0.48\n1 0.44\n# one\n\n¦# two\n# three"),
        cha(rows="0 0.48\n# one\n1 0.44\n# two\n"),
    ),
    ("CHA116", cha(options="¦\nbpm 120"), cha(options="bpm 120")),
    ("CHA116", cha(options="¦\n# comment\nbpm 120"), cha(options="# comment\nbpm 120")),
    ("CHA116", cha(rows="0 0.48\n¦\n1 0.44\n"), cha(rows="0 0.48\n1 0.44\n\n\n")),
    (
        "CHA116",
        cha(rows="0 0.48\n# one\n¦ \n# two\n1 0.44\n"),
        cha(rows="0 0.48\n# one\n# two\n1 0.44\n"),
    ),
    (
        "CHA116",
        cha(parameters="speed 0 1 2\n¦\noffset_slices 0 0 1"),
        cha(parameters="speed 0 1 2\noffset_slices 0 0 1"),
    ),
    ("CHA117", "controls body\n¦no parameters\n\ntime body_z\n0 0\n1 0\n", cha()),
    (
        "CHA117",
        "controls body\nbpm 60\n¦speed 1 1 1\nspeed 1 1 1\n\ntime body_z\n0 0\n1 0\n",
        cha(),
    ),
    (
        "CHA117",
        "controls body\n\nspeed 1 1 1\n# one\n¦time body_z # two\n0 0\n1 0\n",
        cha(),
    ),
    (
        "CHA117",
        "controls body\n\nno parameters\n¦frequency body_z\n0 0\n1 0\n".replace(
            "frequency", "time"
        ),
        cha(),
    ),
    # The options.
    ("CHA120", "¦bpm 120\n\nno parameters\n\ntime body_z\n0 0\n1 0\n", cha()),
    ("CHA121", "controls¦\n\nno parameters\n\ntime body_z\n0 0\n1 0\n", cha()),
    ("CHA122", cha("body ¦head"), cha("body")),
    (
        "CHA122",
        cha("¦body, gripper", columns="time body_z gripper", rows="0 0 0\n1 0 0\n"),
        cha("body"),
    ),
    ("CHA123", cha("body ¦body"), cha("body")),
    ("CHA124", cha(options="¦extendible"), cha(options="extendable")),
    ("CHA124", cha(options="¦description: a move"), cha(options="description a move")),
    ("CHA125", cha(options="¦BPM 120"), cha(options="bpm 120")),
    ("CHA126", cha(options="bpm 100\n¦bpm 120"), cha(options="bpm 100")),
    ("CHA127", cha(options="bpm¦"), cha(options="bpm 1")),
    (
        "CHA127",
        cha(options="arm_playback¦  # later"),
        cha(options="arm_playback jointspace  # later"),
    ),
    ("CHA127", cha(options="description¦"), cha(options="description d")),
    ("CHA128", cha(options="extendable ¦3"), cha(options="extendable")),
    ("CHA128", cha(options="bpm 120 ¦bpm"), cha(options="bpm 120 # bpm")),
    ("CHA129", cha(options="bpm ¦fast"), cha(options="bpm 1e2")),
    ("CHA129", cha(options="bpm ¦1e999"), cha(options="bpm 1e3")),
    (
        "CHA129",
        cha(options="timing_adjustability ¦nan"),
        cha(options="timing_adjustability .5"),
    ),
    ("CHA130", cha(options="bpm ¦0"), cha(options="bpm 1")),
    ("CHA130", cha(options="bpm ¦-60"), cha(options="bpm 60")),
    ("CHA131", cha(options="bpm ¦98.5"), cha(options="bpm 98")),
    ("CHA131", cha(options="bpm ¦98.0"), cha(options="bpm +98")),
    ("CHA131", cha(options="bpm ¦1e2"), cha(options="bpm 100")),
    (
        "MOT106",
        cha(options="frequency ¦0", columns="body_z", rows="0\n0\n"),
        cha(options="frequency 0.1", columns="body_z", rows="0\n0\n"),
    ),
    ("CHA133", cha(options="display_rgb 1 2¦"), cha(options="display_rgb 1 2 3")),
    ("CHA133", cha(options="display_rgb 1 2 3 ¦4"), cha(options="display_rgb 1 2 3")),
    ("CHA134", cha(options="display_rgb 1 ¦256 3"), cha(options="display_rgb 0 255 3")),
    ("CHA134", cha(options="display_rgb ¦-1 2 3"), cha(options="display_rgb 0 2 3")),
    ("CHA134", cha(options="display_rgb 1 2 ¦0.5"), cha(options="display_rgb 1 2 0")),
    (
        "CHA135",
        cha(options="timing_adjustability ¦1.5"),
        cha(options="timing_adjustability 1"),
    ),
    (
        "CHA135",
        cha(options="timing_adjustability ¦-1.01"),
        cha(options="timing_adjustability -1"),
    ),
    (
        "CHA136",
        cha(options="arm_playback ¦worldspace"),
        cha(options="arm_playback workspace"),
    ),
    (
        "CHA137",
        cha(options="arm_required\n¦arm_prohibited"),
        cha(options="arm_prohibited"),
    ),
    (
        "CHA137",
        cha("gripper", "¦arm_prohibited", columns="time gripper", rows="0 0\n1 0\n"),
        cha(options="arm_prohibited"),
    ),
    (
        "CHA138",
        cha(
            "body gripper",
            "¦arm_prohibited",
            columns="time body_z gripper",
            rows="0 0 0\n1 0 0\n",
        ),
        cha(options="arm_prohibited"),
    ),
    ("CHA139", legs(options="¦neutral_start"), cha(options="neutral_start")),
    (
        "CHA139",
        cha("gripper", "¦neutral_start", columns="time gripper", rows="0 0\n1 0\n"),
        cha(options="neutral_start"),
    ),
    (
        "CHA140",
        cha(options="description see http:¦//a.b"),
        cha(options="description see a.b"),
    ),
    ("CHA140", cha(options="description a ¦# b"), cha(options="description a b")),
    ("CHA141", cha(options="¦precise_timing"), cha(options="precise_steps")),
    ("CHA141", cha(options="¦assume_zero_roll_and_pitch"), cha()),
    ("CHA142", cha(options="¦precise_steps"), legs(options="precise_steps")),
    (
        "CHA142",
        cha(options="¦arm_playback workspace"),
        cha(
            "arm",
            "arm_playback workspace",
            columns="time arm_joints",
            rows=f"0 {ARM}\n1 {ARM}\n",
        ),
    ),
    (
        "CHA143",
        cha(options="timing_adjustability 0\n¦precise_timing"),
        cha(options="precise_timing"),
    ),
    (
        "CHA144",
        cha(
            options="¦neutral_start", columns="time body_z fl_x", rows="0 0 0\n1 0 0\n"
        ),
        cha(options="neutral_start"),
    ),
    # The parameters.
    ("CHA150", cha(parameters="¦sped 0.5 1 2"), cha(parameters="speed 0.5 1 2")),
    (
        "CHA150",
        cha(parameters="¦translation_multiplier 0 1 2"),
        cha(parameters="translation_multiplier.x 0 1 2"),
    ),
    ("CHA151", cha(parameters="¦Speed 0.5 1 2"), cha(parameters="speed 0.5 1 2")),
    (
        "CHA152",
        cha(parameters="speed 0.5 1 2\n¦speed 0.5 1 2"),
        cha(parameters="speed 0.5 1 2"),
    ),
    ("CHA153", cha(parameters="speed 0.5 1¦"), cha(parameters="speed")),
    ("CHA153", cha(parameters="speed 0.5 1 2 ¦3"), cha(parameters="speed 0.5 1 2 # 3")),
    ("CHA154", cha(parameters="speed ¦low 1 2"), cha(parameters="speed 1 1 2")),
    ("CHA154", cha(parameters="speed 0.5 1 ¦inf"), cha(parameters="speed 0.5 1 1e9")),
    ("CHA155", cha(parameters="speed ¦2 1 0.5"), cha(parameters="speed 1 1 1")),
    ("CHA156", cha(parameters="speed 0.5 ¦3 2"), cha(parameters="speed 0.5 2 2")),
    (
        "CHA157",
        cha(parameters="¦gripper_offset -1 0 1"),
        cha(parameters="body_entry_slices 0 0 1"),
    ),
    (
        "CHA157",
        cha(parameters="¦body_tracking_stiffness 1 5 11"),
        legs(
            "time leg_joints body_z",
            f"0 {LEGS} 0\n1 {LEGS} 0\n",
            controls="legs body",
            parameters="body_tracking_stiffness 1 5 11",
        ),
    ),
    (
        "CHA158",
        legs(
            "time leg_joints body_z",
            f"0 {LEGS} 0\n1 {LEGS} 0\n",
            controls="legs body",
            parameters="body_tracking_stiffness 1 5 ¦12",
        ),
        cha(),
    ),
    (
        "CHA158",
        legs(
            "time leg_joints body_z",
            f"0 {LEGS} 0\n1 {LEGS} 0\n",
            controls="legs body",
            parameters="body_tracking_stiffness ¦0 5 11",
        ),
        cha(),
    ),
    (
        "CHA159",
        cha(
            "gripper",
            columns="time gripper",
            rows="0 0\n1 0\n",
            parameters="gripper_strength_fraction 0 1 ¦1.5",
        ),
        cha(
            "gripper",
            columns="time gripper",
            rows="0 0\n1 0\n",
            parameters="gripper_strength_fraction 0 1 1",
        ),
    ),
    (
        "CHA160",
        cha(parameters="body_exit_slices ¦-1 0 1"),
        cha(parameters="body_exit_slices 0 0 1"),
    ),
    (
        "CHA161",
        cha(
            "arm gripper",
            "arm_playback workspace_dance_frame",
            "arm_dance_frame_id 0 ¦0.5 1",
            "time hand_pos gripper",
            f"0 {POSE} 0\n1 {POSE} 0\n",
        ),
        cha(
            "arm gripper",
            "arm_playback workspace_dance_frame",
            "arm_dance_frame_id 0 0 1",
            "time hand_pos gripper",
            f"0 {POSE} 0\n1 {POSE} 0\n",
        ),
    ),
    (
        "CHA162",
        cha(
            "arm gripper",
            "arm_playback workspace",
            "¦arm_dance_frame_id 0 0 1",
            "time hand_pos gripper",
            f"0 {POSE} 0\n1 {POSE} 0\n",
        ),
        cha(
            "arm gripper",
            "arm_playback workspace_dance_frame",
            "arm_dance_frame_id 0 0 1",
            "time hand_pos gripper",
            f"0 {POSE} 0\n1 {POSE} 0\n",
        ),
    ),
    ("CHA160", cha(parameters="speed ¦0 1 2"), cha(parameters="speed 0.1 1 2")),
    (
        "CHA167",
        cha(parameters="offset_slices 0 ¦1e300 1e300"),
        cha(parameters="offset_slices 0 1e6 1e300"),
    ),
    ("CHA168", cha(parameters="¦no  parameters"), cha(parameters=" no parameters ")),
    (
        "CHA168",
        cha(parameters="¦no\tparameters"),
        cha(parameters="no parameters\t# none"),
    ),
    ("CHA169", cha(parameters="speed 0 ¦0 2"), cha(parameters="speed 0 1e-3 2")),
    ("CHA169", cha(parameters="speed -2 ¦-1 2"), cha(parameters="speed -2 1 2")),
    (
        "CHA164",
        cha(parameters="¦no parameters\nspeed 1 1 1"),
        cha(parameters="speed 1 1 1"),
    ),
    (
        "CHA165",
        cha(parameters="¦No Parameters"),
        cha(parameters="no \t parameters # none"),
    ),
    ("CHA166", cha(parameters="¦speed"), cha(parameters="speed 1 1 1")),
    # The columns.
    ("CHA170", cha(columns="¦0 0.5"), cha()),
    ("CHA171", cha(columns="time ¦body_w"), cha()),
    ("CHA171", cha(columns="time ¦Body_z"), cha()),
    ("CHA172", cha(columns="time body_z ¦body_z", rows="0 0 0\n1 0 0\n"), cha()),
    (
        "CHA172",
        cha(columns="time body_z ¦body_pos", rows="0 0 0 0 0\n1 0 0 0 0\n"),
        cha(columns="time body_z body_x", rows="0 0 0\n1 0 0\n"),
    ),
    ("CHA172", cha(columns="time body_z ¦time", rows="0 0 0\n1 0 1\n"), cha()),
    (
        "CHA173",
        cha(columns="time body_z ¦com_x", rows="0 0 0\n1 0 0\n"),
        cha(columns="time com_z com_x", rows="0 0 0\n1 0 0\n"),
    ),
    (
        "CHA174",
        cha(columns="time body_quat_wxyz ¦body_yaw", rows="0 1 0 0 0 0\n1 1 0 0 0 0\n"),
        cha(columns="time body_z body_yaw", rows="0 0 0\n1 0 0\n"),
    ),
    (
        "CHA174",
        cha(
            columns="time body_quat_wxyz ¦body_quat_xyzw",
            rows="0 1 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 0 1\n",
        ),
        cha(columns="time body_quat_xyzw", rows="0 0 0 0 1\n1 0 0 0 1\n"),
    ),
    (
        "CHA175",
        cha(
            "arm", columns="time shoulder0 ¦hand_pos", rows=f"0 0 {POSE}\n1 0 {POSE}\n"
        ),
        cha("arm", columns="time shoulder0", rows="0 0\n1 0\n"),
    ),
    (
        "CHA176",
        legs("time leg_joints ¦fl_pos", f"0 {LEGS} 0.3 0 0\n1 {LEGS} 0.3 0 0\n"),
        legs(
            "time fl_pos fr_angles hl_angles hr_angles",
            f"0 0.3 0.1 0 {LEG} {LEG} {LEG}\n1 0.3 0.1 0 {LEG} {LEG} {LEG}\n",
        ),
    ),
    (
        "CHA177",
        cha(options="frequency 30", columns="¦time body_z"),
        cha(options="frequency 30", columns="body_z", rows="0\n0\n"),
    ),
    ("CHA178", cha(columns="¦body_z", rows="0\n0\n"), cha()),
    ("CHA179", cha("body arm", columns="¦time body_z"), cha()),
    (
        "CHA180",
        cha("body gripper", columns="¦time body_z"),
        cha("body gripper", columns="time body_z gripper", rows="0 0 0\n1 0 0\n"),
    ),
    (
        "CHA181",
        legs(
            "¦time fl_angles fr_angles hl_angles",
            f"0 {LEG} {LEG} {LEG}\n1 {LEG} {LEG} {LEG}\n",
        ),
        legs(),
    ),
    (
        "CHA181",
        legs("¦time contact", f"0 {DOWN}\n1 {DOWN}\n"),
        legs("time foot_pos contact", f"0 {FEET} {DOWN}\n1 {FEET} {DOWN}\n"),
    ),
    (
        "CHA182",
        legs(
            "time ¦fl_hx fl_hy fr_angles hl_angles hr_angles",
            f"0 0 0.8 {LEG} {LEG} {LEG}\n1 0 0.8 {LEG} {LEG} {LEG}\n",
        ),
        legs("time fl_hx fl_hy fl_kn fr_angles hl_angles hr_angles"),
    ),
    (
        "CHA183",
        cha(
            columns="time ¦body_quat_w body_quat_x body_quat_y",
            rows="0 1 0 0\n1 1 0 0\n",
        ),
        cha(
            columns="time body_quat_w body_quat_x body_quat_y body_quat_z",
            rows="0 1 0 0 0\n1 1 0 0 0\n",
        ),
    ),
    (
        "CHA184",
        cha("arm", columns="time ¦hand_quat_wxyz", rows="0 1 0 0 0\n1 1 0 0 0\n"),
        cha(
            "arm",
            columns="time hand_pos hand_quat_wxyz",
            rows=f"0 {POSE} 1 0 0 0\n1 {POSE} 1 0 0 0\n",
        ),
    ),
    (
        "CHA185",
        cha(
            "arm",
            columns="time ¦hand_x hand_y hand_euler_rpy",
            rows="0 0.6 0 0 0 0\n1 0.6 0 0 0 0\n",
        ),
        cha(
            "arm",
            columns="time hand_pos hand_euler_rpy",
            rows=f"0 {POSE} 0 0 0\n1 {POSE} 0 0 0\n",
        ),
    ),
    (
        "CHA186",
        legs("time leg_joints ¦fl_contact", f"0 {LEGS} 1\n1 {LEGS} 1\n"),
        legs("time leg_joints contact", f"0 {LEGS} {DOWN}\n1 {LEGS} {DOWN}\n"),
    ),
    ("CHA187", cha(columns="time body_z ¦gripper", rows="0 0 0\n1 0 0\n"), cha()),
    (
        "CHA188",
        cha("arm", columns="time ¦hand_pos", rows=f"0 {POSE}\n1 {POSE}\n"),
        cha(
            "arm",
            columns="time hand_pos hand_euler_rpy",
            rows=f"0 {POSE} 0 0 0\n1 {POSE} 0 0 0\n",
        ),
    ),
    # The keyframes.
    ("CHA200", cha(columns="¦time body_z", rows=""), cha()),
    ("CHA200", cha(columns="¦time body_z", rows="# none\n"), cha()),
    ("CHA201", cha(rows="0 ¦0.48\n"), cha(rows="0 0.48\n1 0.48\n")),
    ("CHA202", cha(rows="0 0.48\n1¦\n"), cha(rows="0 0.48\n1 0\n")),
    ("CHA202", cha(rows="0 0.48\n1¦ # 0.4\n"), cha(rows="0 0.48\n1 0.4 # 0.4\n")),
    ("CHA203", cha(rows="0 0.48\n1 0.4 ¦9\n"), cha(rows="0 0.48\n1 0.4 # 9\n")),
    (
        "CHA218",
        cha(columns="¦time body_z", rows="0 0 0 0.48\n1 0 0 0.44\n"),
        cha(columns="time body_pos", rows="0 0 0 0.48\n1 0 0 0.44\n"),
    ),
    ("CHA204", cha(rows="0 0.48\n1 ¦0,44\n"), cha(rows="0 0.48\n1 0.44\n")),
    ("CHA204", cha(rows="0 0.48\n1 ¦1_0\n"), cha(rows="0 0.48\n1 .10\n")),
    ("CHA204", cha(rows="0 0.48\n1 ¦0x10\n"), cha(rows="0 0.48\n1 +0.1e-0\n")),
    ("CHA204", cha(rows="0 0.48\n1 ¦١\n"), cha(rows="0 0.48\n1 0.1\n")),
    ("MOT101", cha(rows="0 0.48\n1 ¦nan\n"), cha()),
    ("MOT101", cha(rows="0 0.48\n1 ¦-inf\n"), cha()),
    ("MOT101", cha(rows="0 0.48\n1 ¦1e999\n"), cha()),
    ("MOT101", cha(rows="0 0.48\n¦nan 0.48\n"), cha()),
    ("CHA206", cha(rows="¦-1 0.48\n1 0.48\n"), cha(rows="-0 0.48\n1 0.48\n")),
    ("CHA207", cha(rows="¦5 0.48\n6 0.48\n"), cha(rows="1e-6 0.48\n6 0.48\n")),
    (
        "MOT105",
        cha(rows="0 0.48\n2 0.48\n¦1 0.48\n"),
        cha(rows="0 0.48\n1 0.48\n2 0.48\n"),
    ),
    (
        "MOT105",
        cha(rows="0 0.48\n1 0.48\n¦1 0.48\n"),
        cha(rows="0 0.48\n1 0.48\n1.001 0.48\n"),
    ),
    (
        "CHA210",
        legs("time leg_joints contact", f"0 {LEGS} {DOWN}\n1 {LEGS} 1 1 ¦0.5 1\n"),
        legs("time leg_joints contact", f"0 {LEGS} {DOWN}\n1 {LEGS} 1 1 0.0 1\n"),
    ),
    (
        "CHA211",
        cha(columns="time body_quat_wxyz", rows="0 1 0 0 0\n1 ¦0 0 0 0\n"),
        cha(columns="time body_quat_wxyz", rows="0 1 0 0 0\n1 0 1 0 0\n"),
    ),
    (
        "MOT102",
        cha(columns="time body_quat_xyzw", rows="0 0 0 0 1\n1 0 0 0 ¦2\n"),
        cha(columns="time body_quat_xyzw", rows="0 0 0 0 1\n1 0 0 0 1.0005\n"),
    ),
    (
        "CHA213",
        legs(rows=f"0 {LEGS}\n1 0 0.8 ¦0.5 {LEG} {LEG} {LEG}\n"),
        legs(rows=f"0 {LEGS}\n1 0 0.8 -0.2471 {LEG} {LEG} {LEG}\n"),
    ),
    (
        "CHA213",
        cha("gripper", columns="time gripper", rows="0 0\n1 ¦0.2\n"),
        cha("gripper", columns="time gripper", rows="0 0\n1 -1.5708\n"),
    ),
    (
        "CHA214",
        cha(columns="time body_yaw", rows="0 3.1\n0.1 ¦-3.1\n"),
        cha(columns="time body_yaw", rows="0 3.1\n1 0.1\n"),
    ),
    (
        "CHA214",
        cha(columns="time body_x", rows="0 0\n0.01 ¦0.3\n"),
        cha(columns="time body_x", rows="0 0\n0.1 0.3\n"),
    ),
    ("CHA215", cha(rows="x\n" * 10_000 + "¦x\n"), cha(rows="x\n" * 10_000)),
    ("CHA216", cha(rows="0 0.48\n1 ¦1e300\n"), cha(rows="0 0.48\n1 1e6\n")),
    (
        "CHA216",
        cha(columns="time body_quat_wxyz", rows="0 1 0 0 0\n1 ¦1e300 0 0 0\n"),
        cha(columns="time body_quat_wxyz", rows="0 1 0 0 0\n1 1e3 0 0 0\n"),
    ),
    ("CHA217", cha(rows="0 0.48\n¦1e300 0.4\n"), cha(rows="0 0.48\n86400 0.4\n")),
    ("CHA217", cha(options="bpm ¦1e300"), cha(options="bpm 1e4")),
    ("CHA217", cha(options="bpm ¦1e-300"), cha(options="bpm 0.1")),
    (
        "CHA217",
        cha(options="frequency ¦1e-300", columns="body_z", rows="0\n0\n0\n"),
        cha(options="frequency 0.001", columns="body_z", rows="0\n0\n0\n"),
    ),
    (
        "CHA217",
        cha(options="frequency ¦1e-320", columns="body_z", rows="0\n0\n0\n"),
        cha(options="frequency 1e300", columns="body_z", rows="0\n0\n"),
    ),
    # Gait cycles.
    (
        "CHA219",
        cha(columns="time body_euler_rpy", rows="0 -30 0 ¦45\n1 -30 0 40\n"),
        cha(columns="time body_euler_rpy", rows="0 -0.5 0 45\n1 -0.5 0 45\n"),
    ),
    ("CHA226", cha(rows="0 ¦480\n1 440\n"), cha(rows="0 0.48\n1 4.4\n")),
    ("CHA226", cha(rows="0 ¦48\n1 44\n"), cha(rows="0 0.48\n1 0.44\n")),
    ("CHA220", cha(options="¦custom_gait_cycle"), cycle(DOWN, UP, DOWN)),
    (
        "CHA221",
        cycle(
            DOWN,
            UP,
            DOWN,
            rows=f"0 {LEGS} {DOWN}\n1 {LEGS} {UP}\n2 0 ¦0.81 -1.6 {LEG} {LEG} {LEG} {DOWN}\n",
        ),
        cycle(
            DOWN,
            UP,
            DOWN,
            rows=f"0 {LEGS} {DOWN}\n1 {LEGS} {UP}\n2 0 0.8001 -1.6 {LEG} {LEG} {LEG} {DOWN}\n",
        ),
    ),
    ("CHA222", cycle(DOWN, UP, "1 1 ¦0 1"), cycle(DOWN, UP, DOWN)),
    ("CHA222", cycle("¦0 1 1 1", DOWN, UP, DOWN), cycle(DOWN, DOWN, UP, DOWN)),
    (
        "CHA223",
        cycle(DOWN, "1 0 0 0", DOWN, columns="time leg_joints ¦contact"),
        cycle(DOWN, UP, DOWN),
    ),
    (
        "CHA224",
        cycle(DOWN, UP, DOWN, "1 1 0 1", DOWN, "1 1 ¦0 1", DOWN),
        cycle(DOWN, UP, DOWN, "1 1 0 1", "1 1 0 1", DOWN),
    ),
    ("CHA225", legs(options="¦custom_gait_cycle", rows=STEPS), cycle(DOWN, UP, DOWN)),
]

NAMED = pytest.mark.parametrize(
    ("rule", "text", "twin"),
    CASES,
    ids=[f"{row[0]}-{k}" for k, row in enumerate(CASES)],
)
SEVERITY = {rule.code: rule.severity for rule in catalogue().values()}


@NAMED
def test_a_broken_rule_is_named_at_its_place_and_not_in_the_twin(rule, text, twin):
    data, line, column = without_mark(text)
    found = [problem for problem in problems_of(data) if problem.rule == rule]
    assert found, problems_of(data)
    if line is not None:
        assert (found[0].location.line, found[0].location.column) == (line, column), (
            found
        )
    assert found[0].severity == SEVERITY[rule]
    assert found[0].location.path == "move.cha"
    assert rule not in codes_of(twin), problems_of(twin)


@NAMED
def test_a_fault_is_one_fault(rule, text, twin):
    """What is wrong in one place is no reason to speak of others: no error beside the one that is meant."""
    data, _, _ = without_mark(text)
    beside = {
        "CHA113": {"CHA120"},
        "CHA115": {"CHA113", "CHA114", "CHA120"},
        "CHA106": {"CHA115", "CHA113", "CHA114", "CHA112", "CHA120"},
        "CHA215": {"CHA202", "CHA204", "CHA200"},
        "CHA122": {"CHA122"},
        "CHA104": {"CHA128", "CHA202", "CHA203"},
    }
    errors = {
        problem.rule for problem in problems_of(data) if problem.severity == "error"
    }
    assert errors <= {rule} | beside.get(rule, set()), problems_of(data)


@NAMED
def test_loading_is_refused_where_there_is_an_error_and_only_there(rule, text, twin):
    data, _, _ = without_mark(text)
    errors = [problem for problem in problems_of(data) if problem.severity == "error"]
    if errors:
        with pytest.raises(FormatError) as caught:
            parse_cha(data, "move.cha").require()
        assert caught.value.problem == errors[0]
        assert caught.value.problems == problems_of(data)
    else:
        assert parse_cha(data, "move.cha").require().problems == problems_of(data)


IN_DEGREES = " ".join(["0 45 -90"] * 4)


def test_degrees_are_reported_once():
    """Follow-up findings are not reported: joints beyond their limits, jumps, and problems of the motion that is played."""
    rows = "".join(f"{k / 10} {IN_DEGREES} {10 * k} 0 0 0.1\n" for k in range(5))
    text = legs("time leg_joints body_euler_rpy body_z", rows, controls="legs body")
    (problem,) = problems_of(text)
    assert (problem.rule, problem.location.line) == ("CHA219", 6)
    assert problem.subject == ("keyframes", 0, "fl_kn")
    assert [p.rule for p in check(parse_cha(text.encode()).require()).problems] == [
        "CHA219"
    ]


@pytest.mark.parametrize(
    "values",
    ["-7 7 1", "0 0 40", "-3 2 1"],
    ids=["a yaw, and a wild one as no degrees", "turns about the vertical", "radians"],
)
def test_what_does_not_look_like_degrees(values):
    rows = f"0 0 0 0\n1 {values}\n2 0 0 0\n3 0 0 0\n"
    assert "CHA219" not in codes_of(cha(columns="time body_euler_rpy", rows=rows))


TURNING = "".join(f"{k / 10} {LEGS} 0 0 {k / 20} 1 1 1 1\n" for k in range(16))
"""Keyframes of time, leg_joints, body_euler_rpy and contact."""


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ("time leg_joints body_euler_rpi contact", "CHA171"),
        ("leg_joints body_euler_rpy contact", "CHA178"),
        ("time leg_joints body_z contact", "CHA218"),
        ("time leg_joints body_euler_rpy contact body_x", "CHA218"),
    ],
)
@pytest.mark.parametrize("times", [1, 2000 if ACCEPT else 500])
def test_where_all_keyframes_are_equally_wide_the_columns_are_wrong(
    columns, code, times
):
    """The fault is reported once, in the line of columns, without follow-up findings: with few keyframes and with many."""
    (found,) = problems_of(legs(columns, TURNING * times, controls="legs body"))
    assert (found.rule, found.location.line) == (code, 5)
    right = "time leg_joints body_euler_rpy contact"
    assert not problems_of(legs(right, TURNING, controls="legs body"))


def test_a_line_that_cannot_be_read_hides_no_jump_beside_it_and_counts():
    heights = {2: 1.2, 4: "x", 6: 1.2, 8: "inf"}
    rows = "".join(f"{k} {heights.get(k, 0.48)}\n" for k in range(9))
    problems = parse_cha(
        f"controls body\n\nno parameters\n\ntime body_z\n{rows}".encode()
    ).problems
    jumps = {p.location.line for p in problems if p.rule == "CHA214"}
    assert jumps == {8, 9, 12, 13}
    assert any(p.message == "body_z is inf in keyframe 9" for p in problems), problems


def test_where_only_most_keyframes_are_equally_wide_they_are_wrong():
    text = legs(
        "time leg_joints body_z contact",
        f"{TURNING}1.6 {LEGS} 0 1 1 1 1\n",
        controls="legs body",
    )
    assert [problem.rule for problem in problems_of(text)].count("CHA203") == 16


def test_a_decimal_comma_is_no_fault_of_the_columns():
    assert codes_of(cha(rows="0,0 0.48 0\n0,1 0.44 0\n")).count("CHA204") == 2


def test_every_rule_has_a_case():
    assert {code for code in catalogue() if code.startswith("CHA")} <= {
        row[0] for row in CASES
    }


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FormatError) as caught:
        read_cha(tmp_path / "nothing.cha").require()
    assert caught.value.problem.rule == "FMT002"
    assert [
        problem.rule for problem in read_cha(tmp_path / "nothing.cha").problems
    ] == ["FMT002"]


def test_all_faults_are_said_in_one_run():
    text = cha(
        "body tail",
        "bpm zero\nextendable 1",
        "speed 3 2 1",
        "time body_z body_z",
        "1 0 0\n0 x 0\n0 0\n",
    )
    found = [(problem.rule, problem.location.line) for problem in problems_of(text)]
    assert found == [
        ("CHA122", 1),
        ("CHA129", 2),
        ("CHA128", 3),
        ("CHA155", 5),
        ("CHA172", 7),
        ("CHA207", 8),
        ("CHA204", 9),
        ("CHA202", 10),
    ]


def test_many_problems_of_one_rule_are_counted():
    found = problems_of(cha(rows="0 0.48\n" + "1 0.4 9\n" * 1200))
    long = [problem for problem in found if problem.rule == "CHA203"]
    assert len(long) == 1000
    assert long[-1].count == 201


def test_an_animation_made_here_is_checked_by_the_same_rules():
    good = parse_cha(
        legs("time leg_joints contact", f"0 {LEGS} {DOWN}\n1 {LEGS} {DOWN}\n").encode()
    ).require()
    assert not check_animation(good)
    bad = dataclasses.replace(
        good,
        options={**good.options, "bpm": -1.0, "display_rgb": (1, 2)},
        parameters={"sped": None},
    )
    assert [problem.rule for problem in check_animation(bad)] == [
        "CHA133",
        "CHA130",
        "CHA150",
    ]
    assert [problem.rule for problem in check(bad).problems] == [
        "CHA133",
        "CHA130",
        "CHA150",
    ]


@pytest.mark.parametrize(("rule", "wrong", "right"), sampled(CASES, 40))
def test_a_fixed_fault_is_gone(tmp_path, rule, wrong, right):
    """Only the rules of the format are counted: errors hide the problems of the motion that is played."""
    path = tmp_path / "move.cha"
    path.write_bytes(without_mark(wrong)[0])
    before = [problem.rule for problem in read_cha(path).problems]
    found = find_fixes(path, fixable(check(path).problems, path))
    if found is None:
        return
    path.write_bytes(found.after)
    after = [problem.rule for problem in read_cha(path).problems]
    assert all(after.count(code) <= before.count(code) for code in after)
    assert not any(code in after for code in found.rules)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (cha(rows="0 0.48\n1 x\n"), ["CHA204"]),
        (cha(rows="0 0,48\n1 0,44\n"), ["CHA204", "CHA204"]),
        (cha(rows="0 x\n1 0.48\n2 0.48\n"), ["CHA204"]),
        (cha(rows="0 0.48\n1 inf\n2 0.44\n"), ["MOT101"]),
        (
            legs(
                "time leg_joints body_z",
                f"0 {LEGS} 0\n1 {LEGS} 0\n",
                controls="legs, body",
            ),
            ["CHA122"],
        ),
        (
            legs(
                "time leg_joints body_z",
                f"0 {LEGS} 0\n1 {LEGS} 0\n",
                controls="legs,body",
            ),
            ["CHA122"],
        ),
        (cha().replace("\n\n", "\n", 1), ["CHA117"]),
        (bytes(range(256)) * 4000, ["CHA108"]),
    ],
)
def test_no_fault_has_follow_up_findings(text, codes):
    assert codes_of(text) == codes


@pytest.mark.parametrize(("body", "arm"), [(0.35, 3.2), (2, 0)])
def test_a_jump_hides_no_other_step_that_is_too_fast(body, arm, tmp_path):
    """The body moves 0.35 m in 0.06 s; long after that, the arm or the body jumps."""

    def found(jump):
        rows = [(k * 0.06, 0.35 if k >= 10 else 0, 0) for k in range(60)]
        rows[40] = (rows[40][0], *jump)
        text = "".join(
            f"{time:.2f} {x} 0 0.5 {shoulder} -2 2 0 0 0\n"
            for time, x, shoulder in rows
        )
        path = tmp_path / "move.cha"
        path.write_text(cha("body arm", columns="time body_pos arm_joints", rows=text))
        return {
            (problem.rule, problem.location.line) for problem in check(path).problems
        }

    assert ("SPOT018", 16) in found((0.35, 0))
    assert {("SPOT018", 16), ("CHA214", 46)} <= found((body, arm))


def test_a_jump_of_the_rotation_hides_no_step_of_the_body_that_is_too_fast(tmp_path):
    rows = "".join(
        f"{k * 0.06:.2f} {(k >= 10) * 0.35} 0 0.5 0 0 {(k >= 10) * 3.5}\n"
        for k in range(60)
    )
    path = tmp_path / "move.cha"
    path.write_text(cha("body", columns="time body_pos body_euler_rpy", rows=rows))
    assert {("CHA214", 16), ("SPOT018", 16)} <= {
        (one.rule, one.location.line) for one in check(path).problems
    }
