"""`bodymotion ik`: what is written is the pose; the exit code says whether all targets are reached."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app

FEET = ("R_ANKLE_ROLL", "L_ANKLE_ROLL")


@pytest.fixture
def run(examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(
        app, ["ik", str(examples / "biped.wrl"), *arguments]
    )


def test_the_pose_that_is_written_reaches_the_target(run, examples, tmp_path):
    pins = [part for foot in FEET for part in ("--pin", foot)]
    walk = str(examples / "biped_walk.seq")
    found = run(
        walk,
        "--to",
        "R_WRIST=0.35,-0.25,1.05,0,-90,0",
        *pins,
        "-o",
        "pose.seq",
        "--json",
    )
    assert found.exit_code == 0, found.output
    body, before, after = (
        bm.load(examples / "biped.wrl"),
        bm.load(walk),
        bm.load(tmp_path / "pose.seq"),
    )
    links, first = body.link_poses(after)[0], body.link_poses(before)[0]
    for foot in FEET:
        np.testing.assert_allclose(
            links[body.link(foot).index], first[body.link(foot).index], atol=1e-5
        )
    hand = links[body.link("R_WRIST").index]
    np.testing.assert_allclose(hand[:3], [0.35, -0.25, 1.05], atol=1e-5)
    assert (
        bm.rotations.angle_between(hand[3:], bm.rotations.from_rpy([0, -np.pi / 2, 0]))
        < 1e-5
    )
    data = json.loads(found.stdout)
    assert (
        data["reached"]
        and not data["missed"]
        and len(data["joints"]) == body.num_joints
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--to", "R_WRIST=3,0,1", "--restarts", "1"), 1),
        (
            (
                "--look",
                "HEAD_TILT=2,0.5,1.3",
                "--center-of-mass",
                "0.01,0",
                "--free-root",
            ),
            0,
        ),
        (("--to", "R_WRITS=3,0,1"), 2),
        (("--to", "R_WRIST=3,0"), 2),
        (("--to", "R_WRIST=3,0,nan"), 2),
        (("--to", "R_WRIST=1e300,0,1"), 1),
        (("--pin", "R_WRIST"), 2),
        (("--to", "R_WRIST=0.35,-0.25,0.9", "--joints", "NOSE"), 2),
        (("--to", "R_WRIST=0.35,-0.25,0.9"), 0),
        (("--to", "R_WRIST=0.35,-0.25,0.9", "--joints", "HEAD_PAN"), 1),
    ],
)
def test_exit_codes(run, arguments, code):
    assert run(*arguments).exit_code == code


def test_closed_loops_are_one_line(run):
    """The biped has a loop in each hand, which are no targets of the user."""
    command = ("--to", "R_WRIST=0.35,-0.25,1.05")
    brief, full = run(*command), run(*command, "-v")
    assert "HAND_LOOP" not in brief.output
    assert brief.output.splitlines()[:2] == ["R_WRIST: reached", "2 of 2 loops closed"]
    loops = [line for line in full.output.splitlines() if "HAND_LOOP" in line]
    assert len(loops) == 2


def test_a_body_without_joints_moves_by_its_root_and_one_name_can_be_pinned(
    tmp_path, examples
):
    (tmp_path / "box.urdf").write_text("<robot name='box'><link name='box'/></robot>")
    box = bm.load(tmp_path / "box.urdf").ik({"box": [1, 1, 1]}, free_root=True)
    assert box.reached
    np.testing.assert_allclose(box.root[:3], [1, 1, 1], atol=1e-5)
    assert (
        "R_ANKLE_ROLL (pinned)"
        in bm.load(examples / "biped.wrl")
        .ik({"HEAD_PAN": [0, 0, 1]}, pinned=FEET[0])
        .names
    )


def test_progress_is_shown_while_code_is_compiled_and_run(run, monkeypatch):
    """The first call compiles for some 15 s; `progress` shows a bar on a terminal after a second."""
    shown, solved = [], []

    @contextmanager
    def progress(what):
        shown.append(what)
        yield None
        shown.append("end")

    def solve(body, **options):
        solved.append(list(shown))
        return original(body, **options)

    original = bm.Body.ik
    monkeypatch.setattr(sys.modules["bodymotion.cli.ik"], "progress", progress)
    monkeypatch.setattr(bm.Body, "ik", solve)
    assert run("--to", "R_WRIST=0.2,-0.25,1.0").exit_code in (0, 1)
    ((title,),) = solved
    assert "biped.wrl" in title
    assert shown == [title, "end"]
