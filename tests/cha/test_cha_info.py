"""`bodymotion info` of an animation."""

from __future__ import annotations

import json

import pytest
from cha_texts import cha
from click.testing import CliRunner

from bodymotion.cli.app import app

NOD = cha(
    "body gripper",
    "bpm 120\nbpm 60\ndisplay_rgb 1 2 3\ndescription a nod",
    "speed 0.5 1 2\ngripper_offset",
    "time body_pos body_pitch gripper",
    "0 0 0 0.48 0 0\n0.5 0 0 0.4 0.5 -1.5\n2 0 0 0.48 -0.25 0\n",
)


@pytest.fixture
def nod(tmp_path):
    path = tmp_path / "a_nod.cha"
    path.write_text(NOD)
    return path


def test_as_json(nod):
    result = CliRunner().invoke(app, ["info", "--json", str(nod)])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["kind"], answer["format"], answer["name"], answer["title"]) == (
        "animation",
        "cha",
        "a_nod",
        "A Nod",
    )
    assert (answer["duration"], answer["slices"], answer["num_keyframes"]) == (2, 8, 3)
    assert answer["options"] == {
        "controls": ["body", "gripper"],
        "bpm": 60,
        "display_rgb": [1, 2, 3],
        "description": "a nod",
    }
    assert answer["parameters"]["speed"] == {"minimum": 0.5, "default": 1, "maximum": 2}
    assert answer["parameters"]["gripper_offset"] == {
        "minimum": None,
        "default": None,
        "maximum": None,
    }
    assert answer["header"] == ["time", "body_pos", "body_pitch", "gripper"]
    pitch = answer["columns"][3]
    assert (pitch["column"], pitch["track"], pitch["lower"], pitch["upper"]) == (
        "body_pitch",
        "body",
        -0.25,
        0.5,
    )
    assert [problem["rule"] for problem in answer["problems"]] == ["CHA126", "CHA166"]


def test_as_a_page(nod):
    page = CliRunner().invoke(app, ["info", str(nod)]).stdout
    lines = [line.split() for line in page.splitlines()]
    assert [
        "duration",
        "2",
        "s",
        "(8",
        "slices",
        "at",
        "60",
        "beats",
        "per",
        "minute)",
    ] in lines
    assert ["gripper", "gripper", "-1.5", "0", "-85.94", "0"] in lines
    assert any(line[:4] == ["speed", "0.5", "1", "2"] for line in lines)
    assert "warning CHA126" in page


def test_of_a_file_with_faults_all_are_said(nod):
    nod.write_text(
        NOD.replace("controls body", "controls head").replace("0.5 1 2", "2 1 0.5")
    )
    result = CliRunner().invoke(app, ["info", "--json", str(nod)])
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["kind"] == "unreadable"
    assert {"CHA122", "CHA155"} <= {problem["rule"] for problem in answer["problems"]}
