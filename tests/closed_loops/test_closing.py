"""Closed loops: what is solved against formulas, over whole motions; singular poses; what cannot be reached; which joints drive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.model import closed_loops
from closed_loops_samples import four_bar, link, platform, samples, slider_crank
from sample_files import tries

TOLERANCE = 1e-9
SAMPLES = {sample.name: sample for sample in samples()}


def worst(sample, closed: bm.model.ClosedLoopSolution, path: np.ndarray) -> float:
    """The largest difference from the formula, whose branch cut is laid where the motion begins."""
    apart = [0.0]
    for name, values in sample.expected(path).items():
        found = closed.q[..., sample.column_of(name)]
        turns = np.round((found[0] - values[0]) / (2 * np.pi)) * 2 * np.pi
        apart.append(float(np.abs(found - values - turns).max()))
    return max(apart)


@pytest.fixture(params=SAMPLES, name="sample")
def _sample(request):
    return SAMPLES[request.param]


def test_a_full_turn_of_the_driver_follows_the_formula(sample) -> None:
    closed = bm.model.close_loops(sample.body, sample.motion(), start=sample.start)
    assert closed.driving == (sample.column,)
    assert closed.residual.max() < TOLERANCE
    assert closed.tilt.max() < TOLERANCE
    assert closed.closed.all()
    assert not closed.singular.any()
    np.testing.assert_array_equal(closed.q[:, sample.column], sample.path)
    assert worst(sample, closed, sample.path) < TOLERANCE
    step = sample.path[1] - sample.path[0]
    assert np.abs(np.diff(closed.q, axis=0)).max() < 8 * step


def test_few_frames_far_apart_end_on_the_same_branch(sample) -> None:
    """Eight frames for a turn: what lies between them is gone through in as many steps as it takes."""
    path = np.linspace(sample.path[0], sample.path[0] + 2 * np.pi, 9)
    closed = bm.model.close_loops(sample.body, sample.motion(path), start=sample.start)
    fine = bm.model.close_loops(
        sample.body,
        sample.motion(np.linspace(path[0], path[-1], 2881)),
        start=sample.start,
    )
    assert closed.residual.max() < TOLERANCE
    np.testing.assert_allclose(closed.q, fine.q[::360], atol=1e-9)


def test_there_and_back_is_where_it_began(sample) -> None:
    path = np.concatenate([sample.path[:500:7], sample.path[:500:7][::-1]])
    closed = bm.model.close_loops(sample.body, sample.motion(path), start=sample.start)
    np.testing.assert_allclose(closed.q[-1], closed.q[0], atol=1e-9)


def test_the_residual_is_how_far_the_points_are_apart_in_the_world(sample) -> None:
    """Worked out with matrices and without the package's own equations."""
    chance = np.random.default_rng(3)
    q = chance.uniform(-2, 2, (20, sample.body.num_joints))
    apart, tilted = bm.model.loop_errors(sample.body, sample.body.forward_kinematics(q))
    for row in range(len(q)):
        poses = sample.body.forward_kinematics(q[row])
        for k, joint in enumerate(sample.body.extra_joints):
            (one, p), (other, r) = (
                (matrix(poses[i]), x)
                for i, x in zip(joint.links, joint.positions, strict=True)
            )
            between = one[:3, :3].T @ ((other @ [*r, 1])[:3] - (one @ [*p, 1])[:3])
            along = between @ joint.axis
            expected = {
                "xyz": np.linalg.norm(between),
                "ball": np.linalg.norm(between),
                "hinge": np.linalg.norm(between),
                "xy": np.linalg.norm(between - along * joint.axis),
                "piston": np.linalg.norm(between - along * joint.axis),
                "z": abs(along),
            }[joint.type]
            assert apart[row, k] == pytest.approx(expected, abs=1e-12)
            cosine = (one[:3, :3] @ joint.axis) @ (other[:3, :3] @ joint.axis)
            assert np.cos(tilted[row, k]) == pytest.approx(
                cosine if joint.type == "hinge" else 1.0, abs=1e-12
            )


def matrix(pose: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    result = np.eye(4)
    result[:3, :3] = Rotation.from_quat(np.roll(pose[3:], -1)).as_matrix()
    result[:3, 3] = pose[:3]
    return result


def test_derivatives_are_those_of_finite_differences(sample) -> None:
    from bodymotion.kernels.loop_closing import derivatives
    from bodymotion.model.closed_loops import Loops

    chance = np.random.default_rng(5)
    for mechanism in Loops(sample.body).mechanisms:
        x = chance.uniform(-1, 1, len(mechanism.columns))
        _, jacobian = derivatives(mechanism.arrays, x)
        for k, step in enumerate(1e-6 * np.eye(len(x))):
            ahead, behind = (
                derivatives(mechanism.arrays, x + sign * step)[0] for sign in (1, -1)
            )
            np.testing.assert_allclose(
                jacobian[:, k], (ahead - behind) / 2e-6, atol=1e-8
            )


@settings(max_examples=tries(60))
@given(
    lengths=st.lists(st.floats(0.05, 1.0), min_size=4, max_size=4),
    branch=st.sampled_from([1, -1]),
    kind=st.sampled_from(["xyz", "ball", "xy", "piston", "hinge"]),
    askew=st.tuples(*[st.floats(-3, 3)] * 3),
)
def test_any_crank_rocker_turns_fully_by_freudensteins_equation(
    lengths, branch, kind, askew
) -> None:
    """Grashof: the shortest bar turns when it and the longest are shorter than the other two together; it is the crank here."""
    crank, *others = sorted(lengths)
    longest = max(others)
    assume(crank + longest < sum(others) - longest - 0.02)
    sample = four_bar(
        crank,
        others[1],
        others[0],
        others[2],
        branch=branch,
        kind=kind,
        askew=askew,
        frames=181,
    )
    closed = bm.model.close_loops(sample.body, sample.motion(), start=sample.start)
    assert closed.residual.max() < TOLERANCE
    assert worst(sample, closed, sample.path) < 1e-8
    assert not closed.singular.any()


def parallelogram() -> bm.Body:
    """Two cranks of one length and a coupler as long as the base: where all lie on one line two branches meet."""
    return four_bar(0.1, 0.2, 0.1, 0.2, askew=(0, 0, 0)).body


def test_at_a_change_point_it_says_singular_and_goes_on_smoothly() -> None:
    body = parallelogram()
    theta = np.linspace(0.5, 0.5 + 2 * np.pi, 400)
    q = np.stack([theta, -theta, theta], axis=1)
    closed = bm.model.close_loops(body, np.where(np.arange(3) == 0, q, 0.0), start=q[0])
    np.testing.assert_allclose(closed.q, q, atol=1e-6)
    assert closed.residual.max() < TOLERANCE
    passed = [np.searchsorted(theta, at) for at in (np.pi, 2 * np.pi)]
    near = np.abs(theta[:, None] - [np.pi, 2 * np.pi]).min(axis=1) < 0.05
    assert closed.singular[passed].all()
    assert not closed.singular[~near].any()
    at = bm.model.close_loops(body, [np.pi, 0, 0], start=q[0])
    assert at.singular
    assert at.margin < 1e-6
    assert bm.model.close_loops(body, [np.pi, -np.pi, np.pi]).singular


def test_the_other_branch_of_a_parallelogram_is_kept_too() -> None:
    """Started crossed, the loop stays crossed between its singular poses: |tip − pin| is the coupler, by the formula."""
    sample = four_bar(0.1, 0.2, 0.1, 0.2, askew=(0, 0, 0))
    theta = np.linspace(0.3, np.pi - 0.3, 200)
    crossed = next(
        one for one in (four_bar(0.1, 0.2, 0.1, 0.2, branch=b) for b in (1, -1))
        if abs(one.expected(np.array([1.0]))["ROCKER"][0] - 1.0) > 0.1
    )  # fmt: skip
    start = np.zeros(3)
    start[0] = theta[0]
    for name, value in crossed.expected(theta[:1]).items():
        start[crossed.column_of(name)] = value[0]
    closed = bm.model.close_loops(sample.body, crossed.motion(theta), start=start)
    assert worst(crossed, closed, theta) < 1e-8
    assert not closed.singular.any()


def test_what_can_not_be_reached_is_told_by_the_residual() -> None:
    """The rocker drives: beyond its dead centres crank and coupler are stretched, and the rest of the way is left open."""
    sample = four_bar(0.1, 0.35, 0.3, 0.4, askew=(0, 0, 0))
    phi = np.linspace(sample.start[2], sample.start[2] - 1.5, 200)
    q = np.zeros((200, 3))
    q[:, 2] = phi
    closed = bm.model.close_loops(
        sample.body, q, driving=["ROCKER"], start=sample.start
    )
    reach = np.hypot(0.4 + 0.3 * np.cos(phi), 0.3 * np.sin(phi))
    beyond = np.maximum(reach - 0.45, 0.0)
    assert beyond[-1] > 0.1
    np.testing.assert_allclose(closed.residual, beyond, atol=1e-6)
    assert closed.singular[np.argmax(beyond > 0) + 1]
    back = bm.model.close_loops(
        sample.body, q[::-1], driving=["ROCKER"], start=closed.q[-1]
    )
    np.testing.assert_allclose(back.residual, beyond[::-1], atol=1e-6)


def test_a_loop_that_never_closes_is_closed_as_well_as_can_be() -> None:
    """The two points lie in planes 0.04 m apart: that stays, the rest is closed."""
    sample = four_bar(kind="hinge")
    joint = sample.body.extra_joints[0]
    positions = np.add(joint.positions, [[0, 0, 0.04], [0, 0, 0]])
    apart = bm.model.ExtraJoint(
        type="hinge", links=joint.links, positions=positions, axis=joint.axis
    )
    body = bm.Body(links=sample.body.links, extra_joints=(apart,))
    closed = bm.model.close_loops(body, sample.motion(), start=sample.start)
    np.testing.assert_allclose(closed.residual, 0.04, atol=1e-12)
    assert worst(sample, closed, sample.path) < 1e-9
    assert not closed.closed.any()
    assert not closed.singular.any()


def test_limits_are_told_and_choose_the_branch_where_the_motion_begins() -> None:
    sample = four_bar(askew=(0, 0, 0))
    base, crank, coupler, _ = sample.body.links
    within = np.arctan2(
        *[f(sample.expected(np.array([0.0]))["ROCKER"][0]) for f in (np.sin, np.cos)]
    )
    for side, turns in ((1, 0), (-1, 0), (1, 1), (-1, -1)):
        there = side * within + 2 * np.pi * turns
        limits = there - 0.2, there + 0.2
        narrow = link("ROCKER", 3, 0, (0.4, 0, 0), lower=limits[0], upper=limits[1])
        body = bm.Body(
            links=(base, crank, coupler, narrow), extra_joints=sample.body.extra_joints
        )
        closed = bm.model.close_loops(body, sample.motion())
        assert closed.q[0, 2] == pytest.approx(there)
        assert not closed.outside[0]
        assert closed.outside.any()
        np.testing.assert_array_equal(
            closed.outside,
            (closed.q[:, 2] < limits[0] - 1e-6) | (closed.q[:, 2] > limits[1] + 1e-6),
        )


def test_a_motion_closes_from_poses_that_are_far_from_closed() -> None:
    for sample in SAMPLES.values():
        closed = bm.model.close_loops(sample.body, sample.motion()[:3])
        assert closed.residual.max() < TOLERANCE, sample.name


def test_joints_that_drive_are_named_or_chosen() -> None:
    sample = four_bar()
    loops = closed_loops.Loops(sample.body)
    assert loops.driving() == (0,)
    assert loops.driving(["ROCKER"]) == (2,)
    assert loops.driving([1]) == (1,)
    closed = loops.close(sample.start, driving=["COUPLER"])
    assert (closed.driving, closed.following) == ((1,), (0, 2))
    assert (
        loops.close(sample.start, driving="COUPLER")
        == closed
        == loops.close(sample.start, driving=1)
    )
    assert not any(
        getattr(closed, name).flags.writeable
        for name in ("q", "residual", "singular", "margin", "outside")
    )
    with pytest.raises(
        ValueError, match="no joint 'ELBOW'; expected one of CRANK, COUPLER, ROCKER"
    ):
        loops.close(sample.start, driving=["ELBOW"])
    with pytest.raises(ValueError, match="no joint column 7; the body has 3"):
        loops.close(sample.start, driving=[7])
    with pytest.raises(
        ValueError, match=r"q has shape \(T, J\) or \(J,\) with J = 3, this has \(4,\)"
    ):
        loops.close(np.zeros(4))
    with pytest.raises(ValueError, match=r"start has shape \(3,\)"):
        loops.close(np.zeros(3), start=np.zeros(2))
    with pytest.raises(ValueError, match="link poses have shape"):
        bm.model.loop_errors(sample.body, np.zeros((3, 7)))


def test_two_cranks_drive_a_five_bar() -> None:
    """Five bars have two degrees of freedom: the two joints with motors drive, wherever they stand."""
    body = bm.Body(
        links=(
            link("BASE", 0, -1),
            link("LEFT", 1, 0, gear_ratio=50.0),
            link("LEFT_FOREARM", 2, 1, (0.2, 0, 0)),
            link("RIGHT", 3, 0, (0.15, 0, 0), gear_ratio=50.0),
            link("RIGHT_FOREARM", 4, 3, (0.2, 0, 0)),
        ),
        extra_joints=(
            bm.model.ExtraJoint(links=(2, 4), positions=((0.25, 0, 0), (0.25, 0, 0))),
        ),
    )
    assert closed_loops.Loops(body).driving() == (0, 2)
    q = np.zeros((300, 4))
    t = np.linspace(0, 2 * np.pi, 300)
    q[:, 0], q[:, 2] = 2.2 + 0.4 * np.sin(t), 0.9 + 0.4 * np.cos(t)
    closed = bm.model.close_loops(body, q, start=[2.2, -1.2, 0.9, 1.2])
    assert closed.residual.max() < TOLERANCE
    left = 0.2 * np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
    right = 0.2 * np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], axis=1) + [0.15, 0]
    way = right - left
    lean = np.arccos(np.linalg.norm(way, axis=1) / 0.5)
    elbow = np.arctan2(way[:, 1], way[:, 0]) + lean - q[:, 0]
    np.testing.assert_allclose(closed.q[:, 1], elbow, atol=1e-9)


def test_the_lengths_of_six_legs_carry_a_plate_where_pythagoras_says() -> None:
    """All five balls share the plate's joints: fifteen equations at once."""
    body, q, plate = platform()
    loops = closed_loops.Loops(body)
    lengths = [
        column
        for column, index in enumerate(body.joint_links)
        if body.links[index].joint.type == "slide"
    ]
    assert list(loops.driving()) == lengths
    start = np.array(q[0])
    start[body.joint_links.index(6) - 3 : body.joint_links.index(6)] = 0.0
    closed = loops.close(q)
    assert closed.residual.max() < TOLERANCE
    assert not closed.singular.any()
    found = body.forward_kinematics(closed.q)[:, body.link("PLATE").index]
    np.testing.assert_allclose(found[:, :3], plate[:, :3], atol=1e-9)
    assert np.abs(np.abs((found[:, 3:] * plate[:, 3:]).sum(axis=1)) - 1).max() < 1e-12
    assert np.abs(np.diff(closed.q, axis=0)).max() < 0.05


def test_joints_that_nothing_determines_move_as_little_as_can_be() -> None:
    """One equation and three followers: the shortest way, and no rest of speed from frames before."""
    body = bm.Body(
        links=(
            link("BASE", 0, -1),
            link("A", 1, 0, gear_ratio=9.0),
            link("B", 2, 1, (0.2, 0, 0), axis=(0, 1, 0)),
            link("C", 3, 2, (0.2, 0, 0), axis=(0, 1, 0)),
            link("D", 4, 0, (0.3, 0, 0), axis=(0, 0, 1), kind="slide"),
        ),
        extra_joints=(
            bm.model.ExtraJoint(
                type="z",
                links=(4, 3),
                positions=((0, 0, 0), (0.1, 0, 0)),
                axis=(0, 0, 1),
            ),
        ),
    )
    q = np.zeros((50, 4))
    q[:25, 3] = np.linspace(0, 0.1, 25)
    q[25:, 3] = 0.1
    closed = bm.model.close_loops(body, q, driving=["D", "A"])
    assert closed.residual.max() < TOLERANCE
    assert not closed.singular.any()
    np.testing.assert_array_equal(
        closed.q[25:, 1:3], np.broadcast_to(closed.q[24, 1:3], (25, 2))
    )


def test_link_poses_close_loops_when_asked() -> None:
    sample = slider_crank()
    timeline = bm.Timeline.uniform(len(sample.path), 100.0)
    joints = bm.MultiValueSeq(
        content="JointDisplacement", timeline=timeline, values=sample.motion()
    )
    motion = bm.Motion((joints,))
    as_given = sample.body.link_poses(motion)
    np.testing.assert_array_equal(
        as_given, sample.body.forward_kinematics(sample.motion())
    )
    closed = sample.body.link_poses(motion, close_loops=True)
    assert (
        bm.model.loop_errors(sample.body, closed)[0].max()
        < TOLERANCE
        < bm.model.loop_errors(sample.body, as_given)[0].max()
    )
    whole = bm.MultiSE3Seq(content="LinkPosition", timeline=timeline, values=as_given)
    np.testing.assert_array_equal(
        sample.body.link_poses(bm.Motion((joints, whole)), close_loops=True), as_given
    )


def test_a_body_without_loops_and_a_motion_without_frames() -> None:
    body = bm.Body(links=(link("BASE", 0, -1), link("A", 1, 0)))
    closed = bm.model.close_loops(body, [[0.3], [0.4]])
    np.testing.assert_array_equal(closed.q, [[0.3], [0.4]])
    assert closed.residuals.shape == (2, 0)
    assert closed.closed.all()
    sample = four_bar()
    empty = bm.model.close_loops(sample.body, np.zeros((0, 3)))
    assert empty.q.shape == (0, 3)
    assert empty.residual.shape == (0,)


def test_values_that_are_no_numbers_end_in_a_residual_that_is_none() -> None:
    sample = four_bar()
    q = sample.motion()[:20]
    q[7, 0] = np.nan
    q[9, 0] = np.inf
    q[11, 0] = 1e300
    closed = bm.model.close_loops(sample.body, q, start=sample.start)
    assert not closed.closed[[7, 9]].any()
    assert closed.closed[:7].all()
    assert closed.singular[[7, 9]].all()


def test_extra_joints_between_links_that_do_not_move_are_only_measured() -> None:
    body = bm.Body(
        links=(
            link("BASE", 0, -1),
            link("A", 1, 0),
            link("B", 2, 0, (0.1, 0, 0), kind="fixed"),
        ),
        extra_joints=(
            bm.model.ExtraJoint(links=(0, 2)),
            bm.model.ExtraJoint(links=(1, 1)),
            bm.model.ExtraJoint(type="z", links=(2, 2)),
        ),
    )
    closed = bm.model.close_loops(body, [0.7])
    np.testing.assert_allclose(closed.residuals, [0.1, 0, 0])
    assert closed.q[0] == 0.7
    assert closed.driving == ()
