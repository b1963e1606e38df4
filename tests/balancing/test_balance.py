"""Balanced motions, as the measures of other tests see them, and limiting cases of the plan of the centre of mass."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.balancing.planning import plan_center
from bodymotion.balancing.stance import half_planes
from bodymotion.dynamics import foot_slips, measure
from bodymotion.motion import Timeline, Vector3Seq
from keyposes.reference import arrays, body_of, key_poses_of, robots
from models_across.jointed_models import pinocchio_model_of
from sample_files import ACCEPT, CORPUS, ROOT
from walker import GRAVITY, frames, moving, smoothly, walker, with_root

SQUARE = (np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.full(4, 0.1))


def slip(measures: bm.dynamics.Measures) -> float:
    return max(
        (one.way for one in foot_slips(measures.contacts, measures.times)), default=0.0
    )


def loaded(
    body: bm.Body, link: str, at: tuple[float, float, float], mass: float
) -> bm.Body:
    found = body.link(link)
    load = bm.Segment(
        name="LOAD", mass=mass, center_of_mass=at, inertia=1e-3 * np.eye(3)
    )
    changed = replace(found, segments=(*found.segments, load))
    return replace(
        body, links=tuple(changed if one is found else one for one in body.links)
    )


@pytest.fixture(scope="module")
def biped() -> tuple[bm.Body, bm.Motion]:
    walk = (
        bm.load_motion(ROOT / "examples" / "biped_walk.seq")
        .between(0.0, 2.6)
        .resample(50.0)
    )
    return loaded(
        bm.load_body(ROOT / "examples" / "biped.wrl"), "WAIST", (0.0, 0.0, 0.3), 0.0
    ), walk


def test_a_load_that_tips_the_robot_is_balanced(biped, tmp_path):
    body, walk = biped
    body = loaded(body, "WAIST", (0.0, 0.3, 0.2), 12.0)
    before = measure(body, walk)
    assert np.nanmin(before.stability_margin) < -0.01
    new = bm.balance(body, walk)
    after = measure(body, new)
    assert np.mean(after.stability_margin >= 0.01) >= 0.99
    assert slip(after) <= 1e-3
    lower, upper = (
        np.array([getattr(joint, side) for joint in body.joints])
        for side in ("lower", "upper")
    )
    assert (after.joint_displacements >= lower - 1e-9).all() and (
        after.joint_displacements <= upper + 1e-9
    ).all()
    assert new.report.safe_after > new.report.safe_before
    assert new.report.center_shift[0] == pytest.approx(
        np.linalg.norm(after.center_of_mass - before.center_of_mass, axis=1).max(),
        rel=1e-3,
    )
    bm.save(new, tmp_path / "new.seq")
    assert (
        bm.load_motion(tmp_path / "new.seq").joint_displacement.num_frames
        == walk.joint_displacement.num_frames
    )


def test_joints_that_are_too_fast_are_slowed_down(biped):
    body, walk = biped
    speed = np.abs(measure(body, walk).joint_velocities).max()
    slow = replace(
        body,
        links=tuple(
            replace(
                one,
                joint=replace(
                    one.joint, velocity_lower=-0.7 * speed, velocity_upper=0.7 * speed
                ),
            )
            for one in body.links
        ),
    )
    new = bm.balance(slow, walk, margin=0.02)
    assert new.report.slowed
    assert new.report.seconds > 2.6
    assert np.abs(measure(slow, new).joint_velocities).max() <= 0.71 * speed


def arm_swing(times: np.ndarray) -> bm.Motion:
    """Return a fast swing of the walker's arm around the middle of 3 s."""
    return moving(
        times, arm=0.5 * np.sin(9.0 * times) * np.exp(-(((times - 1.5) / 0.5) ** 4))
    )


def arm_torques(body: bm.Body, motion: bm.Motion) -> np.ndarray:
    """Return the torques of the walker's arm [Nm] by Pinocchio, whose root does not move."""
    pin = pytest.importorskip("pinocchio")
    model, joints = pinocchio_model_of(body)
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    data, place = model.createData(), model.idx_vs[joints[4]]
    arm, times = (
        motion.joint_displacement.values[:, 4],
        motion.joint_displacement.timeline.times,
    )
    speeds = np.gradient(arm, times)
    torques = []
    for state in zip(arm, speeds, np.gradient(speeds, times), strict=True):
        vectors = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        vectors[0][model.idx_qs[joints[4]]], vectors[1][place], vectors[2][place] = (
            state
        )
        torques.append(pin.rnea(model, data, *vectors)[place])
    return np.array(torques)


def test_a_motor_that_is_too_weak_gets_more_time_where_it_needs_it():
    times, body = frames(100.0, 3.0), walker(arm=2.0, effort=14.0)
    motion = arm_swing(times)
    assert np.abs(arm_torques(body, motion)).max() > 25.0
    assert "MOT331" in {
        problem.rule for problem in bm.check(motion, body=body).problems
    }
    new = bm.balance(body, motion, max_length=2.0)
    assert np.abs(arm_torques(body, new)).max() <= 14.0
    assert "MOT331" not in {
        problem.rule for problem in bm.check(new, body=body).problems
    }
    assert not any("effort" in text for text in new.report.remaining)
    # Half of the swing's frames are needed more, and none before or after it.
    assert 3.3 < new.report.seconds < 5.0 and all(
        begin > 0.3 for begin, _, _ in new.report.slowed
    )


def test_torques_that_a_posture_needs_at_rest_are_reported_and_not_waited_for():
    times = frames(100.0, 2.0)
    new = bm.balance(
        walker(arm=2.0, effort=9.0), moving(times, arm=0.1 * np.sin(times))
    )
    assert not new.report.slowed
    assert [text for text in new.report.remaining if "effort" in text]


def test_joints_keep_an_acceleration():
    times, body = frames(100.0, 3.0), walker(arm=2.0)
    new = bm.balance(body, arm_swing(times), acceleration=15.0)
    arm, stamps = (
        new.joint_displacement.values[:, 4],
        new.joint_displacement.timeline.times,
    )
    assert np.abs(np.gradient(np.gradient(arm, stamps), stamps)).max() <= 15.2
    assert np.abs(measure(body, arm_swing(times)).joint_accelerations).max() > 40.0
    assert bm.balance(body, arm_swing(times)).report.seconds == pytest.approx(3.0)


@pytest.mark.parametrize("rate", [50.0, 100.0])
def test_the_centre_of_mass_falls_freely_in_a_flight(rate):
    """All of the walker's mass is in its trunk, so that the law is that of a thrown stone."""
    times = frames(rate, 3.0)
    air = (times > 1.0) & (times < 1.3)
    crouch = -0.15 * (
        np.exp(-(((times - 0.75) / 0.12) ** 2))
        + np.exp(-(((times - 1.55) / 0.12) ** 2))
    )
    lift = np.where(air, 0.06 * np.sin(np.pi * (times - 1.0) / 0.3) ** 2, 0.0)
    body = walker()
    motion = moving(
        times,
        x=0.05 * np.sin(3.0 * times),
        z=crouch + 0.02 * smoothly(times, 0.9, 1.1),
        lift=(lift, lift),
    )
    new = bm.balance(body, motion)
    trunk, inner = new.link_position.values[:, 0, :3], np.flatnonzero(air)[2:-2]
    for path, free in ((motion.link_position.values[:, 0, :3], False), (trunk, True)):
        falls = np.abs(
            np.diff(path, 2, axis=0)[inner - 1] * rate**2 - [0.0, 0.0, -9.80665]
        ).max()
        assert (falls < 0.02) if free else (falls > 2.0)
    feet = body.forward_kinematics(
        new.joint_displacement.values, new.link_position.values[:, 0]
    )[:, [2, 4], 2]
    assert (feet[inner] > 5e-3).all() and np.abs(feet[~air]).max() < 1e-3
    assert not new.report.remaining


def hop(
    rate: float, speed: float = 1.0, crouching: float = 0.6
) -> tuple[np.ndarray, bm.Motion]:
    """Return where the walker flies (T,), and its hop: the trunk is thrown at a speed [m/s], legs keep their length in the air.

    Before and after, its height is the polynomial of order 5 from rest to that speed and the acceleration of free fall.
    """
    times, seconds = frames(rate, 3.0), 2.0 * speed / GRAVITY
    since = times - 1.5 + seconds / 2.0
    powers = np.arange(3, 6)
    ends = crouching ** (powers - [[0], [1], [2]]) * np.array(
        [[1, 1, 1], [3, 4, 5], [6, 12, 20]]
    )
    shares = np.linalg.solve(ends, [0.0, speed, -GRAVITY])
    before = np.clip(crouching + seconds / 2.0 - np.abs(times - 1.5), 0.0, crouching)
    air = np.abs(times - 1.5) < seconds / 2.0
    lift = np.where(air, speed * since - 0.5 * GRAVITY * since**2, 0.0)
    return air, moving(
        times,
        z=np.where(air, lift, before[:, None] ** powers @ shares),
        lift=(lift, lift),
    )


@pytest.mark.parametrize("rate", [50.0, 100.0])
def test_a_hop_that_falls_freely_stays_as_it_is(rate):
    air, motion = hop(rate)
    assert air.sum() > 0.19 * rate
    new = bm.balance(walker(), motion)
    assert new.components == motion.components
    assert not new.report.remaining


@pytest.mark.parametrize(("height", "seconds"), [(0.02, 0.1), (0.02, 0.3), (0.1, 1.5)])
def test_feet_that_rise_although_the_robot_does_not_fall_stay_on_the_ground(
    height, seconds
):
    times, body = frames(100.0), walker()
    lift = (
        height
        * smoothly(times, 1.0, 1.04)
        * (1.0 - smoothly(times, 0.96 + seconds, 1.0 + seconds))
    )
    motion = moving(times, x=0.02 * np.sin(times), lift=(lift, lift))
    assert not measure(body, motion).contacts.in_contact.any(axis=1).all()
    new = bm.balance(body, motion)
    after = measure(body, new)
    assert (after.stability_margin >= 0.01).all() and not new.report.remaining
    assert (
        np.abs(
            body.forward_kinematics(after.joint_displacements, after.root_poses)[
                :, [2, 4], 2
            ]
        ).max()
        < 1e-3
    )
    assert (
        np.abs(after.root_poses[:, :3] - motion.link_position.values[:, 0, :3]).max()
        < 5e-3
    )


def test_the_moment_that_a_rotation_in_the_air_needs_is_reported():
    air, motion = hop(100.0)
    times = motion.joint_displacement.timeline.times
    angle = np.where(
        air,
        0.05 * np.sin(np.pi * (times - times[air][0]) / np.ptp(times[air])) ** 2,
        0.0,
    )

    def pitch(root: np.ndarray) -> None:
        root[:, 3], root[:, 5] = np.cos(0.5 * angle), np.sin(0.5 * angle)

    new = bm.balance(walker(), with_root(motion, pitch))
    (text,) = [text for text in new.report.remaining if "Nm" in text]
    moment = float(text.split(" Nm")[0].split()[-1])
    turned = 2.0 * np.arcsin(new.link_position.values[:, 0, 5])
    inertia = 0.5  # of the trunk, which has all the mass
    assert moment == pytest.approx(
        inertia * np.abs(np.diff(turned, 2)).max() * 100.0**2, rel=0.1
    )
    assert moment > 5.0


def test_a_load_is_balanced_at_any_frame_rate_for_the_feet_and_ground_that_are_named(
    biped,
):
    """With more coefficients of the spline than frames, its oscillations between the frames throw the robot over."""
    body, walk = (
        loaded(biped[0], "WAIST", (0.0, 0.3, 0.2), 12.0),
        biped[1].resample(20.0, "cubic"),
    )
    feet = measure(body, walk).feet.links
    new = bm.balance(body, walk, feet=feet, ground=0.0)
    after = measure(body, new, feet=feet, ground=0.0)
    assert np.mean(after.stability_margin >= 0.01) >= 0.99
    with pytest.raises(KeyError):
        bm.balance(body, walk, feet=["NO_FOOT"])


def test_joints_beyond_their_limits_come_back(biped):
    body, walk = biped
    knee, old = body.link("L_KNEE").joint, measure(body, walk.between(0.0, 1.0))
    upper = old.joint_displacements[:, body.joints.index(knee)].max() - 0.02
    links = tuple(
        replace(x, joint=replace(x.joint, upper=upper)) if x.joint is knee else x
        for x in body.links
    )
    limited = replace(body, links=links)
    assert (
        measure(
            limited, bm.balance(limited, walk.between(0.0, 1.0))
        ).limit_distances.min()
        >= -1e-6
    )


def test_what_cannot_be_made_better_does_not_become_worse(biped):
    body, walk = biped
    sparse = walk.resample(2.5)
    before, after = (
        np.nanmin(measure(body, one).stability_margin)
        for one in (sparse, bm.balance(body, sparse))
    )
    safe = [
        np.mean(measure(body, one).stability_margin >= 0.01)
        for one in (sparse, bm.balance(body, sparse))
    ]
    assert (safe[1], after) >= (safe[0], before - 1e-9)


def test_other_components_are_slowed_down_alike_and_reported(biped):
    body, walk = biped
    walk = walk.between(0.0, 1.0)
    speed = np.abs(measure(body, walk).joint_velocities).max()
    links = [
        replace(
            x, joint=replace(x.joint, velocity_lower=-speed, velocity_upper=0.7 * speed)
        )
        for x in body.links
    ]
    stamps, uniform = np.linspace(0.5, 3.0, 70), Timeline.uniform(5, 2.0)
    others = (
        Vector3Seq(
            content="Stamped",
            timeline=Timeline.stamped(stamps),
            values=np.zeros((70, 3)),
        ),
        Vector3Seq(
            content="Uniform", timeline=uniform, values=np.arange(15.0).reshape(5, 3)
        ),
    )
    motion = replace(walk, components=(*walk.components, *others))
    new = bm.balance(replace(body, links=tuple(links)), motion, margin=0.02)
    found = {component.content: component for component in new.timed}
    later = new.report.seconds - 1.0
    assert later > 0 and new.report.slowed
    times = found["Stamped"].timeline.times
    assert (np.diff(times) > 0).all() and times[-1] == pytest.approx(
        3.0 + later, abs=0.03
    )
    assert found["Uniform"].num_frames <= 5 + 2.0 * (later + 0.5)
    assert [problem.rule for problem in new.problems].count("EDIT102") == 2
    assert new.report.margin_before == pytest.approx(
        np.nanmin(measure(body, walk).stability_margin), rel=1e-6
    )


def test_jumps_and_long_breaks_need_little_memory(biped):
    body, walk = biped
    q, root = walk.joint_displacement.values[:6], walk.link_position.values[:6, 0]
    limited = [
        replace(x, joint=replace(x.joint, velocity_lower=-10.0, velocity_upper=10.0))
        for x in body.links
    ]
    for times in ([0.0, 0.02, 0.04, 0.06, 0.08, 1e7], 1e-9 * np.arange(6)):
        try:
            new = bm.balance(
                body, bm.Motion.from_joints(q, times=times, root=root), limits=False
            )
        except ValueError:  # accelerations at 1e9 Hz are too large
            continue
        assert new.joint_displacement.num_frames == 6
    with pytest.raises(ValueError, match="velocity limit"):
        bm.balance(
            replace(body, links=tuple(limited)),
            bm.Motion.from_joints(
                q + 1e9 * np.eye(6, len(q[0])), times=0.02 * np.arange(6), root=root
            ),
        )


def planned(
    center: np.ndarray, *, numbers: list[int], at_rest: tuple[bool, bool] = (True, True)
) -> np.ndarray:
    count = len(center)
    zero = np.zeros((count, 2))
    times = 0.01 * np.arange(count)
    return plan_center(
        times, center, zero, zero, np.full(count, 0.08), [SQUARE], numbers, at_rest
    )


def test_needless_edges_of_a_polygon_do_not_change_the_plan():
    """A sole of 0.2 m by 0.1 m whose corners are rounded has 24 sides; smaller by 40 mm, most of them are beyond the others."""
    angles = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    square = np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles)))
    corners = np.stack(
        (np.cos(angles) / square * 0.09, np.sin(angles) / square * 0.04), axis=1
    )
    corners += 0.01 * np.stack((np.cos(angles), np.sin(angles)), axis=1) + [0.3, -0.2]
    normals, limits = half_planes(corners, 0.03)
    assert 4 <= len(limits) < 24
    points = np.random.default_rng(0).uniform([0.2, -0.3], [0.4, -0.1], (2000, 2))
    directions = np.stack((np.cos(angles[::30]), np.sin(angles[::30])), axis=1)
    widths = (corners @ directions.T).max(axis=0) - directions @ corners.mean(axis=0)
    depths = (
        (points - corners.mean(axis=0)) @ directions.T
        - widths
        + np.minimum(0.03, 0.8 * widths)
    )
    assert ((points @ normals.T - limits).max(axis=1) <= 0).tolist() == (
        depths.max(axis=1) <= 0
    ).tolist()


def test_a_centre_at_rest_outside_of_the_polygon_comes_to_its_edge():
    found = planned(np.tile([0.3, 0.05], (200, 1)), numbers=[0] * 200)
    assert found == pytest.approx(np.tile([0.1, 0.05], (200, 1)), abs=2e-4)


def test_a_centre_in_the_air_moves_straight_on():
    times = 0.01 * np.arange(200)
    bent = np.stack((0.05 * np.sin(6.0 * times), 0.02 * np.cos(6.0 * times)), axis=1)
    numbers = [0] * 80 + [-1] * 40 + [0] * 80
    found = planned(bent, numbers=numbers, at_rest=(False, False))
    flight = found[84:116]
    assert np.abs(np.diff(flight, 2, axis=0)).max() / 0.01**2 < 0.02
    assert np.abs(np.diff(bent[84:116], 2, axis=0)).max() / 0.01**2 > 0.5


@pytest.mark.parametrize("fixed", [{"margin": np.nan}, {"margin": -1.0}, {"feet": []}])
def test_what_cannot_be_balanced_is_rejected(biped, fixed):
    with pytest.raises(ValueError):
        bm.balance(*biped, **fixed)


def test_the_command_reports_what_it_changed(biped, tmp_path, capsys):
    from click.testing import CliRunner

    from bodymotion.cli.app import app

    walk = biped[1].between(1.0, 1.8)
    bm.save(walk, tmp_path / "walk.seq")
    body = loaded(biped[0], "WAIST", (0.0, 0.3, 0.2), 12.0)
    bm.save(body, tmp_path / "model.urdf")
    model = str(tmp_path / "model.urdf")
    ran = CliRunner().invoke(
        app,
        [
            "balance",
            model,
            str(tmp_path / "walk.seq"),
            "-o",
            str(tmp_path / "new.seq"),
            "--json",
        ],
    )
    found = json.loads(ran.stdout)
    assert ran.exit_code == (1 if found["remaining"] else 0)
    before, after = (
        measure(body, one).stability_margin
        for one in (walk, bm.load_motion(tmp_path / "new.seq"))
    )
    assert np.nanmin(before) < 0.01 <= np.nanmin(after)


@pytest.mark.skipif(not ACCEPT, reason="ACCEPT=1 only")
def test_interpolated_key_poses_of_sr1_are_balanced():
    body = bm.load_body(CORPUS / "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl")
    for path in sorted(
        (CORPUS / "seq/choreonoid+choreonoid/sample/PoseSeq/motion/SR1").glob("*.pseq")
    ):
        unbalanced = bm.load_key_poses(path).to_motion(body)
        after = measure(body, bm.balance(body, unbalanced), ground=0.0)
        assert np.mean(after.stability_margin >= 0.01) >= 0.99
        assert slip(after) <= 1e-3


@pytest.mark.skipif(not ACCEPT, reason="ACCEPT=1 only")
@pytest.mark.parametrize("path", robots(), ids=lambda path: path.name)
def test_key_poses_are_balanced_no_worse_than_by_the_reference(path):
    given, body = arrays(path), body_of(path)
    if not any(link.contact_points.size for link in body.links):
        pytest.skip("the model has no shapes")
    root = np.hstack([given["balanced100__base_p"], given["balanced100__base_q"]])
    reference = bm.Motion.from_joints(
        given["balanced100__q"], times=given["balanced100__times"], root=root
    )
    ours = bm.balance(body, key_poses_of(path).to_motion(body))
    theirs, found = (
        np.nan_to_num(measure(body, one).stability_margin) for one in (reference, ours)
    )
    assert np.mean(found >= 0.01) >= np.mean(theirs >= 0.01)
    assert found.min() >= theirs.min()
