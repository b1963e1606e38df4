"""Sample files: those that are right load, and each fault is named that a file's name tells."""

from __future__ import annotations

import csv

import pytest

from bodymotion import FormatError, check, load
from bodymotion.diagnostics.catalogue import catalogue
from bodymotion.spot.cha import cha_text, parse_cha

FAULTS = {
    "i01_controls_missing": ("CHA120", 1, 1),
    "i03_controls_empty": ("CHA121", 1, 9),
    "i05_option_wrong_case": ("CHA125", 2, 1),
    "i07_flag_option_with_value": ("CHA128", 2, 12),
    "i09_bpm_zero": ("CHA130", 2, 5),
    "i11_display_rgb_two_values": ("CHA133", 2, 16),
    "i13_frequency_and_time": ("CHA177", 6, 1),
    "i15_frequency_zero": ("MOT106", 2, 11),
    "i17_arm_playback_unknown": ("CHA136", 2, 14),
    "i19_option_duplicated": ("CHA126", 3, 1),
    "i21_body_section_missing": ("CHA115", 3, 1),
    "i23_two_blank_lines": ("CHA111", 3, 1),
    "i25_param_two_values": ("CHA153", 3, 12),
    "i27_param_min_above_max": ("CHA155", 3, 7),
    "i29_param_track_not_controlled": ("CHA157", 3, 1),
    "i31_dance_frame_without_playback_option": ("CHA162", 3, 1),
    "i33_param_not_numeric": ("CHA154", 3, 7),
    "i35_column_duplicated": ("CHA172", 5, 13),
    "i37_body_pos_and_com_pos": ("CHA173", 5, 15),
    "i39_leg_joints_and_foot_pos": ("CHA176", 5, 17),
    "i41_track_without_columns": ("CHA180", 5, 1),
    "i43_leg_incomplete_angles": ("CHA182", 5, 6),
    "i45_row_too_long": ("CHA203", 7, 8),
    "i47_value_nan": ("MOT101", 7, 3),
    "i49_time_not_increasing": ("MOT105", 8, 1),
    "i51_time_not_starting_at_zero": ("CHA207", 6, 1),
    "i53_contact_not_zero_or_one": ("CHA210", 6, 122),
    "i55_quaternion_zero": ("CHA211", 6, 3),
    "i57_gait_cycle_first_last_differ": ("CHA221", 9, 19),
    "i59_joint_beyond_limit": ("CHA213", 6, 28),
    "i61_utf8_bom": ("CHA102", 1, 1),
    "i63_comment_only_section": ("CHA112", 3, 1),
    "i65_neutral_start_with_legs": ("CHA139", 2, 1),
    "i67_hand_orientation_without_position": ("CHA184", 5, 6),
    "i69_leading_blank_line": ("CHA110", 1, 1),
    "i71_gait_cycle_three_swings": ("CHA224", 12, 122),
}


@pytest.fixture
def animations(corpus):
    return corpus / "cha"


def test_files_that_are_right_load(animations):
    files = sorted((animations / "valid").glob("*.cha"))
    assert files
    for path in files:
        animation = load(path)
        assert len(animation.keyframes)
        assert not [
            problem for problem in animation.problems if problem.severity == "error"
        ]
        for style in (None, "canonical"):
            text, problems = cha_text(animation, style=style)
            again = parse_cha(text, path).require()
            assert not problems
            assert again.options == animation.options
            assert again.parameters == animation.parameters
            assert again.duration == animation.duration
            for column in animation.keyframes.columns:
                assert (
                    again.keyframes.column(column) == animation.keyframes.column(column)
                ).all()


def test_files_that_are_wrong_are_told_why(animations):
    severity = {rule.code: rule.severity for rule in catalogue().values()}
    with (animations / "RESULTS.csv").open(encoding="utf-8") as file:
        basis = {row["file"]: row["basis or note"] for row in csv.DictReader(file)}
    files = sorted((animations / "invalid").glob("*.cha"))
    assert files
    for path in files:
        report = check(path)
        if path.stem in FAULTS:
            code, line, column = FAULTS[path.stem]
            found = [problem for problem in report.problems if problem.rule == code]
            assert found, (path.name, report.problems)
            assert (found[0].location.line, found[0].location.column) == (
                line,
                column,
            ), path.name
            if basis[path.name] == "spec":
                assert severity[code] == "error", path.name
        assert any(
            problem.severity in ("error", "warning") for problem in report.problems
        ), path.name
        if report.errors:
            with pytest.raises(FormatError) as caught:
                load(path)
            assert caught.value.problem == report.errors[0]
            assert {problem.rule for problem in report.errors} == {
                report.errors[0].rule
            }, path.name
