"""Spot's legs and arm: forward kinematics against other programs and the published measures, inverse kinematics as its inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from bodymotion.spot.playback.arm import arm_joints, hand_poses
from bodymotion.spot.playback.legs import foot_positions, leg_joints, solutions
from sample_files import tries

# As published, written down once more.
LEG = np.array([[-0.785398, 0.785398], [-0.898845, 2.295108], [-2.7929, -0.2471]])
ARM = np.array(
    [
        [-2.618, 3.1416],
        [-3.1416, 0.5236],
        [0, 3.1416],
        [-2.7925, 2.7925],
        [-1.8326, 1.8326],
        [-2.87989, 2.87979],
    ]
)
LIMITS = np.vstack([LEG, LEG, LEG, LEG, ARM, [[-1.5708, 0]]])
NAMES = [
    f"{leg}_{joint}" for leg in ("fl", "fr", "hl", "hr") for joint in ("hx", "hy", "kn")
]
NAMES += ["sh0", "sh1", "el0", "el1", "wr0", "wr1", "gripper"]
SEED = 20


def random_joints(limits, *shape):
    rng = np.random.default_rng(SEED)
    return rng.uniform(limits[:, 0], limits[:, 1], (*shape, len(limits)))


def mjcf() -> str:
    """Write the published measures as a model for MuJoCo, whose kinematics know nothing of ours."""
    legs = ""
    for leg, x, side in (("fl", 1, 1), ("fr", 1, -1), ("hl", -1, 1), ("hr", -1, -1)):
        legs += f"""
        <body pos="{x * 0.29785} {side * 0.055} 0"><joint name="{leg}_hx" axis="1 0 0"/><geom size="0.01"/>
          <body pos="0 {side * 0.110945} 0"><joint name="{leg}_hy" axis="0 1 0"/><geom size="0.01"/>
            <body pos="0.025 0 -0.3205"><joint name="{leg}_kn" axis="0 1 0"/><geom size="0.01"/>
              <site name="{leg}_foot" pos="0 0 -0.3365"/></body></body></body>"""
    steps = ("0.292 0 0.188", "0 0 0", "0.3385 0 0", "0.4033 0 0.075", "0 0 0", "0 0 0")
    axes = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
    arm = "".join(
        f'<body pos="{step}"><joint name="{name}" axis="{axis}"/><geom size="0.01"/>'
        for name, step, axis in zip(NAMES[12:18], steps, axes, strict=True)
    )
    arm += '<site name="hand" pos="0.19557 0 0"/>' + "</body>" * 6
    return f"""<mujoco><compiler angle="radian"/><worldbody><body><freejoint/><geom size="0.1"/>{legs}{arm}</body>
        </worldbody></mujoco>"""


def test_feet_and_hand_are_where_mujoco_has_them():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(mjcf())
    data = mujoco.MjData(model)
    robot = bm.spot.body()
    places = [
        robot.link(name).index
        for name in ("fl_foot", "fr_foot", "hl_foot", "hr_foot", "hand")
    ]
    rng = np.random.default_rng(SEED)
    q = random_joints(LIMITS, 30)
    root = poses.from_parts(
        rng.normal(size=(30, 3)), rotations.normalized(rng.normal(size=(30, 4)))
    )
    found = robot.forward_kinematics(q, root)[:, places]
    for k in range(30):
        data.qpos[:7] = root[k]
        for name, value in zip(NAMES[:18], q[k], strict=False):
            data.joint(name).qpos[0] = value
        mujoco.mj_kinematics(model, data)
        for place, name in enumerate(
            ("fl_foot", "fr_foot", "hl_foot", "hr_foot", "hand")
        ):
            site = data.site(name)
            np.testing.assert_allclose(found[k, place, :3], site.xpos, atol=1e-12)
            if name == "hand":
                turn = rotations.to_matrix(found[k, place, 3:])
                np.testing.assert_allclose(turn, site.xmat.reshape(3, 3), atol=1e-12)


def test_closed_forms_agree_with_the_body():
    robot = bm.spot.body()
    q = random_joints(LIMITS, 50)
    found = robot.forward_kinematics(q, poses.IDENTITY)
    feet = foot_positions(q[:, :12].reshape(-1, 4, 3))
    for leg, name in enumerate(("fl", "fr", "hl", "hr")):
        np.testing.assert_allclose(
            feet[:, leg], found[:, robot.link(f"{name}_foot").index, :3], atol=1e-14
        )
    np.testing.assert_allclose(
        hand_poses(q[:, 12:18])[:, :3],
        found[:, robot.link("hand").index, :3],
        atol=1e-14,
    )


def test_the_body_has_the_published_limits_and_masses():
    for arm, mass in ((True, 39.07), (False, 31.6)):
        robot = bm.spot.body(arm=arm)
        assert [joint.name for joint in robot.joints] == NAMES[: 19 if arm else 12]
        assert [joint.id for joint in robot.joints] == list(range(robot.num_joints))
        assert robot.mass == pytest.approx(mass, abs=0.005)
        limits = np.array([[joint.lower, joint.upper] for joint in robot.joints])
        np.testing.assert_array_equal(limits, LIMITS[: robot.num_joints])
        for name in ("fl_foot", "fr_foot", "hl_foot", "hr_foot"):
            (ball,) = robot.link(name).visuals
            assert isinstance(ball.geometry, bm.shapes.Sphere)
            assert ball.geometry.radius == 0.036
    assert bm.check(robot).ok


def test_inertias_are_those_of_solid_things():
    for link in bm.spot.body().links:
        moments = np.linalg.eigvalsh(link.inertia)
        if link.mass:
            assert moments[0] > 0
            assert moments[0] + moments[1] >= moments[2] * (1 - 1e-12), (
                "no distribution of mass has these moments"
            )


def test_left_and_right_are_mirror_images():
    q = random_joints(LEG, 200, 4)
    mirrored = q[:, [1, 0, 3, 2]] * [-1, 1, 1]
    np.testing.assert_allclose(
        foot_positions(mirrored),
        foot_positions(q)[:, [1, 0, 3, 2]] * [1, -1, 1],
        atol=1e-15,
    )


def test_leg_joints_give_the_foot_back_all_over_the_range():
    q = random_joints(LEG, 20_000, 4)
    feet = foot_positions(q)
    found = leg_joints(feet)
    assert found.reached.all()
    np.testing.assert_allclose(foot_positions(found.joints), feet, rtol=0, atol=1e-12)
    assert (found.joints >= LEG[:, 0] - 1e-9).all()
    assert (found.joints <= LEG[:, 1] + 1e-9).all()


corner = st.tuples(
    *(st.sampled_from([low, high, (low + high) / 2]) for low, high in LEG)
)
inside = st.tuples(*(st.floats(low, high) for low, high in LEG))


@settings(max_examples=tries(150))
@given(st.lists(corner | inside, min_size=4, max_size=4))
def test_leg_joints_of_limits_and_of_anything_between(q):
    joints = np.array(q)[None]
    found = leg_joints(foot_positions(joints), joints[0])
    assert found.reached.all()
    np.testing.assert_allclose(
        foot_positions(found.joints), foot_positions(joints), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        found.joints, joints, atol=1e-6, err_msg="of two solutions the one from before"
    )


def test_of_two_solutions_within_the_limits_the_nearer_one_is_taken():
    """With the foot beside the hip's axis both branches are allowed; each is kept when the leg comes from it."""
    q = random_joints(LEG, 20_000, 4)
    feet = foot_positions(q)
    both = solutions(feet)
    fits = ((both >= LEG[:, 0]) & (both <= LEG[:, 1])).all(axis=(-1, -2))
    frames, legs = np.nonzero(fits)
    assert len(frames) > 50, "there are such places"
    for frame, leg in list(zip(frames, legs, strict=True))[:50]:
        for branch in range(2):
            before = np.tile(both[frame, leg, branch], (4, 1))
            found = leg_joints(feet[frame][None], before).joints[0, leg]
            np.testing.assert_allclose(found, both[frame, leg, branch], atol=1e-9)


def test_a_path_through_the_range_has_no_jumps():
    share = np.linspace(0, 1, 2000)[:, None, None]
    ends = random_joints(LEG, 2, 4)
    path = ends[:1] + share * (ends[1:] - ends[:1])
    found = leg_joints(foot_positions(path), path[0])
    np.testing.assert_allclose(found.joints, path, atol=1e-9)


def test_what_is_out_of_reach_comes_as_near_as_the_limits_allow():
    grid = np.stack(
        np.meshgrid(*[np.linspace(*limit, 60) for limit in LEG], indexing="ij"), axis=-1
    ).reshape(-1, 1, 3)
    reachable = foot_positions(np.broadcast_to(grid, (len(grid), 4, 3)))[:, 0]
    rng = np.random.default_rng(SEED)
    goals = np.tile(foot_positions(np.tile([0, 0.8, -1.6], (4, 1))), (80, 1, 1))
    goals[:, 0] = np.array([0.29785, 0.055, 0]) + rng.normal(0, 0.6, (80, 3))
    found = leg_joints(goals)
    assert (~found.reached[:, 0]).sum() > 40
    assert found.reached[:, 1:].all()
    assert (found.joints >= LEG[:, 0] - 1e-9).all()
    assert (found.joints <= LEG[:, 1] + 1e-9).all()
    there = foot_positions(found.joints)[:, 0]
    np.testing.assert_allclose(
        np.linalg.norm(there - goals[:, 0], axis=-1), found.miss[:, 0], atol=1e-9
    )
    nearest = np.array(
        [np.linalg.norm(reachable - goal, axis=1).min() for goal in goals[:, 0]]
    )
    assert (found.miss[:, 0] <= nearest + 1e-3).all(), (
        "no pose on a grid over the range is nearer"
    )


def test_a_foot_that_is_nowhere_is_told_apart_from_one_that_is():
    found = leg_joints(np.full((2, 4, 3), 5.0))
    assert np.isfinite(found.joints).all()
    assert (found.miss > 4).all()


def test_arm_joints_give_the_hand_back_all_over_the_range():
    q = random_joints(ARM, 5000)
    hands = hand_poses(q)
    found = arm_joints(hands)
    assert found.reached.all()
    again = hand_poses(found.joints)
    np.testing.assert_allclose(again[:, :3], hands[:, :3], rtol=0, atol=1e-12)
    assert rotations.angle_between(again[:, 3:], hands[:, 3:]).max() < 1e-9


def test_a_path_of_the_hand_has_no_jumps():
    start, end = (
        np.array([-0.3, -2.0, 1.6, -1, -1.2, -0.9]),
        np.array([0.8, -1.0, 2.2, 1, 1.3, 1.4]),
    )
    path = start + np.linspace(0, 1, 1500)[:, None] * (end - start)
    away = np.abs(path[:, 4]) > 0.02
    found = arm_joints(
        hand_poses(path[away][: int((path[:, 4] < 0).sum() * 0.9)]), start
    )
    np.testing.assert_allclose(found.joints, path[away][: len(found.joints)], atol=1e-9)


def test_a_straight_wrist_keeps_its_turn_together():
    """With wr0 = 0 only el1 + wr1 is known; the hand is where it should be all the same."""
    q = random_joints(ARM, 60) * [1, 1, 1, 0.4, 0, 0.4]
    assert arm_joints(hand_poses(q)).reached.all()
    for joints in q:
        found = arm_joints(hand_poses(joints)[None], joints)
        assert found.reached.all()
        if np.abs(found.joints[0, 0] - joints[0]) < 1e-6:
            assert found.joints[0, 3] + found.joints[0, 5] == pytest.approx(
                joints[3] + joints[5], abs=1e-6
            )


def test_a_hand_out_of_reach_is_said_and_near():
    q = random_joints(ARM, 60)
    hands = hand_poses(q)
    hands[:, :3] *= 1.8
    found = arm_joints(hands)
    lost = ~found.reached
    assert lost.sum() > 30
    assert (found.joints >= ARM[:, 0] - 1e-9).all()
    assert (found.joints <= ARM[:, 1] + 1e-9).all()
    again = hand_poses(found.joints)
    np.testing.assert_allclose(
        np.linalg.norm(again[:, :3] - hands[:, :3], axis=1)[lost],
        found.miss[lost],
        atol=1e-9,
    )
    longest = 0.3385 + np.hypot(0.4033, 0.075) + 0.19557
    beyond = np.linalg.norm(hands[:, :3] - [0.292, 0, 0.188], axis=1) - longest
    assert (found.miss >= beyond - 1e-9).all(), "no arm is longer than its links"


def test_the_kinematics_are_public():
    """There and back by the names of `bm.spot`; poses that the arm's limits allow."""
    joints = (
        np.tile(bm.spot.stand().legs, (3, 1, 1)) + np.linspace(0, 0.1, 3)[:, None, None]
    )
    found = bm.spot.leg_joints(bm.spot.foot_positions(joints), before=joints[0])
    np.testing.assert_allclose(found.joints, joints, atol=1e-12)
    assert found.reached.all()
    arm = np.tile([0.1, -2.0, 1.9, 0.2, -0.3, 0.4], (2, 1))
    hands = bm.spot.hand_poses(arm)
    reached = bm.spot.arm_joints(hands, before=arm[0])
    np.testing.assert_allclose(reached.joints, arm, atol=1e-9)
    assert isinstance(found, bm.spot.Legs)
    assert isinstance(reached, bm.spot.Arm)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: bm.spot.leg_joints(np.zeros((4, 3))), "feet"),
        (
            lambda: bm.spot.leg_joints(np.zeros((1, 4, 3)), before=np.zeros(12)),
            "before",
        ),
        (lambda: bm.spot.arm_joints(np.zeros((1, 6))), "hands"),
        (lambda: bm.spot.arm_joints(np.zeros((1, 7)), before=np.zeros(5)), "before"),
        (lambda: bm.spot.foot_positions(np.zeros(12)), "joints"),
        (lambda: bm.spot.hand_poses(np.zeros((2, 7))), "joints"),
    ],
)
def test_arrays_of_another_shape_are_refused(call, what):
    with pytest.raises(ValueError, match=f"^{what}: "):
        call()
