"""What is between key poses agrees with Choreonoid's interpolator and balancer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.balancing.waist import BalancerOptions, balanced
from bodymotion.keyposes import interpolation
from bodymotion.keyposes.interpolation import Interpolated, Plan
from keyposes.reference import (
    ANSWERS,
    answer,
    arrays,
    body_of,
    key_poses_of,
    robots,
    solve_chain,
)
from sample_files import ACCEPT, CORPUS, ROOT, missing, sampled

RUNS = {"plain__": ("none", False), "": ("stealthy", True), "toe__": ("toe", True)}


def turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return how much two arrays of quaternions differ, whatever their signs."""
    return np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1))


def legs_of(plan: Plan, body: bm.Body) -> set[int]:
    """Return the columns of joints between links with keys: those of legs come from inverse kinematics."""
    found: set[int] = set()
    for link in plan.links:
        while link > 0:
            found.add(body.joint_links.index(link) if link in body.joint_links else -1)
            link = body.links[link].parent
    return found


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.name)
def test_joints_links_and_zmp_are_those_of_the_reference(path: Path) -> None:
    given, body, key_poses = arrays(path), body_of(path), key_poses_of(path)
    for prefix, (steps, with_zmp) in RUNS.items():
        if prefix + "q" not in given:
            continue
        plan = Plan(key_poses, body, steps, with_zmp)
        made = plan.at(given["times"])
        others = [
            joint
            for joint in range(body.num_joints)
            if joint not in legs_of(plan, body)
        ]
        there = given["q_valid"][:, others] > 0
        assert (
            np.abs(
                np.where(there, made.q[:, others] - given[prefix + "q"][:, others], 0.0)
            ).max()
            < 1e-6
        )
        if prefix + "zmp" in given and made.zmp is not None:
            valid = (
                given[
                    prefix + "zmp_valid"
                    if prefix + "zmp_valid" in given
                    else "zmp_valid"
                ]
                > 0
            )
            assert np.nanmax(np.abs(made.zmp - given[prefix + "zmp"])[valid]) < 1e-6
        if prefix + "link_pose" in given and len(made.links):
            check_links(given, prefix, made)


def check_links(given: Any, prefix: str, made: Interpolated) -> None:
    order = [made.links.index(int(link)) for link in given[prefix + "link_index"]]
    theirs, ours = given[prefix + "link_pose"], made.goals[:, order]
    used = given[prefix + "link_valid"] > 0
    assert (used == ~np.isnan(ours[:, :, 0])).all()
    assert np.abs(theirs - ours)[used][:, :3].max() < 1e-6
    assert turned(theirs[used][:, 3:], ours[used][:, 3:]).max() < 1e-6
    # Of two bases with keys at one time the reference takes any (the order of a hash table); a leg that is no base reaches its goal.
    bases = np.array([made.links[n] if n >= 0 else -1 for n in made.bases])
    assert (bases != given[prefix + "base_link_index"]).mean() < 0.01
    assert np.nanmax(made.errors) < 1e-6


@pytest.mark.parametrize("path", sampled(robots(), 3), ids=lambda path: path.name)
def test_keys_that_steps_and_zmp_add_are_those_of_the_reference(path: Path) -> None:
    for run, (steps, with_zmp) in {
        "plain": RUNS["plain__"],
        "gui": RUNS[""],
        "toe": RUNS["toe__"],
    }.items():
        expected = answer(path)["adjusted_keys"][run]
        plan = Plan(key_poses_of(path), body_of(path), steps, with_zmp)
        for link in expected["links"].values():
            track, _ = plan.links[link["index"]]
            samples = link["samples"]
            assert np.allclose(
                track.times, [sample["t"] for sample in samples], atol=1e-9
            )
            assert np.allclose(
                track.values, [sample["xyzrpy"] for sample in samples], atol=1e-6
            )
            assert np.allclose(
                track.slopes, [sample["vel"] for sample in samples], atol=1e-6
            )
            assert [key.is_touching for key in track.keys] == [
                bool(sample["touch"]) for sample in samples
            ]
        assert plan.zmp is not None
        assert np.allclose(
            plan.zmp.times, [key["t"] for key in expected["zmp"]], atol=1e-9
        )
        assert np.allclose(
            plan.zmp.values, [key["p"] for key in expected["zmp"]], atol=1e-6
        )


@pytest.mark.parametrize(
    "path", robots() if ACCEPT else robots()[-3:-2], ids=lambda path: path.name
)
def test_the_waist_moves_as_by_the_reference_balancer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpolation, "solve_chain", solve_chain)
    given, body = arrays(path), body_of(path)
    key_poses = key_poses_of(path)
    plan = Plan(key_poses, body, "stealthy", True)
    for rate in (100, 500, 1000) if ACCEPT else (100,):
        prefix = f"balanced{rate}__"
        if prefix + "q" not in given:
            continue
        times = np.arange(round(rate * (key_poses.duration + 1)) + 1) / rate
        made, shift = balanced(plan, times, BalancerOptions())
        each = rate // 100
        # The solver of the reference leaves out the last row, which is seen in the last 0.1 s, most on RIC30 at 100 Hz.
        assert np.abs(shift[::each] - given[prefix + "translation"]).max() < 1e-3
        assert np.abs(made.q[::each] - given[prefix + "q"])[:-10].max() < 5e-3


def test_a_published_walk_comes_out_of_its_key_poses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interpolation, "solve_chain", solve_chain)
    published = next(iter(CORPUS.glob("seq/**/SR1WalkPattern2.seq")), None) or missing(
        "SR1WalkPattern2.seq"
    )
    path = next(path for path in ANSWERS if "SR1WalkPattern2" in path.name)
    body, key_poses = body_of(path), key_poses_of(path)
    # The published motion has 500 frames a second, and 10 passes of the balancer; its integrals are coarser with 100 and 4.
    rate, passes, tolerance = (500, 10, 1e-4) if ACCEPT else (100, 4, 2e-3)
    times = np.arange(round(rate * (key_poses.duration + 1)) + 1) / rate
    options = BalancerOptions(iterations=passes, smoother="cubic", centered_ends=True)
    made, _ = balanced(Plan(key_poses, body, "stealthy", True), times, options)
    expected = bm.load_motion(published).joint_displacement
    assert expected is not None
    assert np.abs(made.q - expected.values[:: 500 // rate]).max() < tolerance


def test_key_poses_of_a_motion_keep_it_within_the_tolerance() -> None:
    body = bm.load_body(ROOT / "examples" / "biped.wrl")
    walk = bm.load_motion(ROOT / "examples" / "biped_walk.seq")
    assert walk.joint_displacement is not None
    for tolerance in (0.05, 0.01):
        found = bm.KeyPoses.from_motion(walk, body, tolerance=tolerance)
        rate = walk.joint_displacement.timeline.frame_rate
        back = found.to_motion(body, rate, steps="none", automatic_zmp=False)
        assert back.joint_displacement is not None
        assert (
            np.abs(
                back.joint_displacement.values - walk.joint_displacement.values
            ).max()
            <= tolerance
        )
        assert (
            np.abs(
                body.link_poses(back)[:, 0, :3] - body.link_poses(walk)[:, 0, :3]
            ).max()
            <= tolerance
        )
        assert len(found) < 0.5 * walk.joint_displacement.num_frames


@pytest.mark.parametrize("content", ["JointDisplacement", "LinkPosition", "ZMP"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e308])
def test_key_poses_of_numbers_that_no_pose_holds(content: str, number: float) -> None:
    """They are refused with the frame; of the largest numbers there are poses, or a refusal."""
    body = bm.load_body(ROOT / "examples" / "biped.wrl")
    walk = bm.load_motion(ROOT / "examples" / "biped_walk.seq")[:40]
    components = []
    for component in walk.timed:
        values = component.values.copy()
        if component.content == content:
            values[20].flat[0] = number
        components.append(replace(component, values=values))
    wrong = walk.replaced(*components)
    if np.isfinite(number):
        with np.errstate(all="ignore"), suppress(ValueError):
            bm.KeyPoses.from_motion(wrong, body)
    else:
        with pytest.raises(ValueError, match=r"\bframe 20\b"):
            bm.KeyPoses.from_motion(wrong, body)


@pytest.mark.parametrize("seconds", [1e12, 1e308])
def test_a_motion_that_no_memory_holds_is_rejected(seconds: float) -> None:
    poses = (
        bm.keyposes.KeyPose(joints={0: 0.0}),
        bm.keyposes.KeyPose(time=seconds, joints={0: 1.0}),
    )
    with pytest.raises(MemoryError):
        bm.KeyPoses(poses=poses).to_motion(
            bm.load_body(ROOT / "examples" / "biped.wrl")
        )


def test_commands_take_key_poses_with_a_model(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from bodymotion.cli.app import app
    from sample_files import ROOT

    robot, walk = (
        str(ROOT / "examples" / name) for name in ("biped.wrl", "biped_walk.seq")
    )
    poses, back = str(tmp_path / "a.pseq"), str(tmp_path / "a.seq")
    runner = CliRunner()
    assert (
        runner.invoke(app, ["convert", robot, walk, poses, "--fit", "0.02"]).exit_code
        == 0
    )
    assert (
        runner.invoke(
            app, ["convert", robot, poses, back, "--rate", "50", "--steps", "none"]
        ).exit_code
        == 0
    )
    made, original = (
        bm.load_motion(back).joint_displacement,
        bm.load_motion(walk).joint_displacement,
    )
    assert made is not None
    assert original is not None
    assert made.timeline.frame_rate == 50
    assert np.abs(made.values - original.values[::2])[: len(made.values)].max() <= 0.02
    for wrong in (
        ["convert", poses, back],
        ["view", poses, "--html", str(tmp_path / "x.html")],
        ["convert", robot],
    ):
        assert runner.invoke(app, wrong).exit_code == 2
    assert runner.invoke(app, ["measure", robot, poses]).exit_code == 0
    checked = runner.invoke(app, ["check", poses, "--body", robot])
    assert "1 file checked" in checked.output
    assert "KEY1" not in checked.output
