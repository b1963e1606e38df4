"""Balanced motions, as the measures of other tests see them, and limiting cases of the plan of the centre of mass."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.balancing.planning import Problem, plan_center
from bodymotion.dynamics import foot_slips, measure
from sample_files import ACCEPT, CORPUS, ROOT

SQUARE = (np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.full(4, 0.1))


def slip(measures: bm.dynamics.Measures) -> float:
    return max((one.way for one in foot_slips(measures.contacts, measures.times)), default=0.0)


def loaded(body: bm.Body, link: str, at: tuple[float, float, float], mass: float) -> bm.Body:
    found = body.link(link)
    load = bm.Segment(name="LOAD", mass=mass, center_of_mass=at, inertia=1e-3 * np.eye(3))
    changed = replace(found, segments=(*found.segments, load))
    return replace(body, links=tuple(changed if one is found else one for one in body.links))


@pytest.fixture(scope="module")
def biped() -> tuple[bm.Body, bm.Motion]:
    walk = bm.load_motion(ROOT / "examples" / "biped_walk.seq").between(0.0, 2.6).resample(50.0)
    return loaded(bm.load_body(ROOT / "examples" / "biped.wrl"), "WAIST", (0.0, 0.0, 0.3), 0.0), walk


def test_a_load_that_tips_the_robot_is_balanced(biped, tmp_path):
    body, walk = biped
    body = loaded(body, "WAIST", (0.0, 0.3, 0.2), 12.0)
    before = measure(body, walk)
    assert np.nanmin(before.stability_margin) < -0.01
    new = bm.balance(body, walk)
    after = measure(body, new)
    assert np.mean(after.stability_margin >= 0.01) >= 0.99
    assert slip(after) <= 1e-3
    lower, upper = (np.array([getattr(joint, side) for joint in body.joints]) for side in ("lower", "upper"))
    assert (after.joint_displacements >= lower - 1e-9).all() and (after.joint_displacements <= upper + 1e-9).all()
    assert new.report is not None and new.report.safe_after > new.report.safe_before
    assert new.report.center_shift[0] == pytest.approx(
        np.linalg.norm(after.center_of_mass - before.center_of_mass, axis=1).max(), rel=1e-3
    )
    bm.save(new, tmp_path / "new.seq")
    assert bm.load_motion(tmp_path / "new.seq").joint_displacement.num_frames == walk.joint_displacement.num_frames


def test_joints_that_are_too_fast_are_slowed_down(biped):
    body, walk = biped
    speed = np.abs(measure(body, walk).joint_velocities).max()
    slow = replace(
        body,
        links=tuple(
            replace(one, joint=replace(one.joint, velocity_lower=-0.7 * speed, velocity_upper=0.7 * speed))
            for one in body.links
        ),
    )
    new = bm.balance(slow, walk, margin=0.02)
    assert new.report is not None and new.report.slowed
    assert new.report.seconds > 2.6
    assert np.abs(measure(slow, new).joint_velocities).max() <= 0.71 * speed


def problem(center: np.ndarray, *, numbers: list[int], at_rest: tuple[bool, bool] = (True, True)) -> Problem:
    count = len(center)
    zero = np.zeros((count, 2))
    times = 0.01 * np.arange(count)
    return Problem(times, center, zero, zero, np.full(count, 0.08), [SQUARE], numbers, at_rest)


def test_a_centre_at_rest_outside_of_the_polygon_comes_to_its_edge():
    found = plan_center(problem(np.tile([0.3, 0.05], (200, 1)), numbers=[0] * 200))
    assert found == pytest.approx(np.tile([0.1, 0.05], (200, 1)), abs=2e-4)


def test_a_centre_in_the_air_moves_straight_on():
    times = 0.01 * np.arange(200)
    bent = np.stack((0.05 * np.sin(6.0 * times), 0.02 * np.cos(6.0 * times)), axis=1)
    numbers = [0] * 80 + [-1] * 40 + [0] * 80
    found = plan_center(problem(bent, numbers=numbers, at_rest=(False, False)))
    flight = found[84:116]
    assert np.abs(np.diff(flight, 2, axis=0)).max() / 0.01**2 < 0.02
    assert np.abs(np.diff(bent[84:116], 2, axis=0)).max() / 0.01**2 > 0.5


@pytest.mark.parametrize("fixed", [{"margin": np.nan}, {"margin": -1.0}, {"feet": []}])
def test_what_cannot_be_balanced_is_rejected(biped, fixed):
    with pytest.raises(ValueError):
        bm.balance(*biped, **fixed)


def test_the_command_reports_what_it_changed(biped, tmp_path, capsys):
    from typer.testing import CliRunner

    from bodymotion.cli.app import app

    bm.save(biped[1].between(0.0, 0.5), tmp_path / "walk.seq")
    model = str(ROOT / "examples" / "biped.wrl")
    ran = CliRunner().invoke(
        app, ["balance", model, str(tmp_path / "walk.seq"), "-o", str(tmp_path / "new.seq"), "--json"]
    )
    found = json.loads(ran.stdout)
    assert ran.exit_code == (1 if found["remaining"] else 0)
    assert found["safe_after"] == 1.0 and (tmp_path / "new.seq").is_file()


@pytest.mark.skipif(not ACCEPT, reason="ACCEPT=1 only")
def test_interpolated_key_poses_of_sr1_are_balanced():
    body = bm.load_body(CORPUS / "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl")
    for path in sorted((CORPUS / "seq/choreonoid+choreonoid/sample/PoseSeq/motion/SR1").glob("*.pseq")):
        unbalanced = bm.load_key_poses(path).to_motion(body)
        after = measure(body, bm.balance(body, unbalanced), ground=0.0)
        assert np.mean(after.stability_margin >= 0.01) >= 0.99
        assert slip(after) <= 1e-3
