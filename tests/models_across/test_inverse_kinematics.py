"""Inverse kinematics: against forward kinematics on every jointed sample model, and as laws of optima."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jointed_models import GOLDENS, body_of, short

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from bodymotion.kernels import kinematics
from bodymotion.model.ik import (
    CenterOfMassTask,
    DistanceTask,
    FrameTask,
    HalfSpaceTask,
    LookAtTask,
    inside,
)
from sample_files import ACCEPT, missing

FEET = ("R_ANKLE_ROLL", "L_ANKLE_ROLL")
TARGETS = 20 if ACCEPT else 4


@pytest.fixture(scope="module")
def biped(examples):
    return bm.load(examples / "biped.wrl")


def limits(body):
    """Return limits (2, J), those in the wrong order left out, and q0 (J,): 0 within them."""
    ordered = [joint.lower <= joint.upper for joint in body.joints]
    lower = np.where(ordered, [joint.lower for joint in body.joints], -np.inf)
    upper = np.where(ordered, [joint.upper for joint in body.joints], np.inf)
    return lower, upper, np.clip(np.zeros(body.num_joints), lower, upper)


def within(q, body):
    lower, upper, _ = limits(body)
    return bool(((q >= lower - 1e-12) & (q <= upper + 1e-12)).all())


def missed(body, solution, goals):
    """Return the largest distance [m] and angle [rad] between links and their poses `goals`, by forward kinematics."""
    links = body.forward_kinematics(solution.q, solution.root)
    pairs = [
        (links[..., body.link(name).index, :], goal) for name, goal in goals.items()
    ]
    return (
        max(
            np.linalg.norm(pose[..., :3] - goal[..., :3], axis=-1).max()
            for pose, goal in pairs
        ),
        max(
            rotations.angle_between(pose[..., 3:], goal[..., 3:]).max()
            for pose, goal in pairs
        ),
    )


def ends(body):
    """Return the names of the links at which chains of joints end; none of them twice."""
    above = {link.parent for link in body.links}
    moved = body.tree[1] > 0
    names = [link.name for link in body.links]
    return [
        n
        for i, n in enumerate(names)
        if i not in above and moved[i] and names.count(n) == 1
    ]


@pytest.mark.parametrize("near", [True, False])
def test_poses_that_forward_kinematics_gives_are_reached(near):
    if not GOLDENS:
        missing("the jointed sample models")
    rng = np.random.default_rng(2)
    tried = reached = 0
    for path in GOLDENS:
        body = body_of(path)
        lower, upper, q0 = limits(body)
        names = ends(body)
        for number in range(TARGETS):
            low, high = np.maximum(lower, q0 - np.pi), np.minimum(upper, q0 + np.pi)
            q = (
                np.clip(q0 + rng.uniform(-0.3, 0.3, len(q0)), lower, upper)
                if near
                else rng.uniform(low, high)
            )
            links = body.forward_kinematics(q)
            chosen = names if near else names[number % max(len(names), 1) :][:1]
            goals = {name: links[body.link(name).index] for name in chosen}
            if not goals:
                continue
            found = body.ik(goals, q0=q0, close_loops=False)
            errors = missed(body, found, goals)
            assert bool(found.reached) == (max(errors) <= 1e-6), (short(path), found)
            assert within(found.q, body), short(path)
            assert found.reached or not near, (short(path), found)
            tried, reached = tried + 1, reached + bool(found.reached)
    assert reached >= 0.99 * tried


def test_a_trajectory_is_followed_with_pinned_feet(biped):
    turns = np.linspace(0, 2 * np.pi, 200)
    q0 = np.zeros(biped.num_joints)
    q0[[3, 9]], q0[[2, 8]], q0[[4, 10]] = 0.8, -0.4, -0.4
    start = biped.forward_kinematics(q0)
    hand = np.array(start[biped.link("R_WRIST").index, :3])
    path = hand + 0.06 * np.stack(
        [np.sin(turns), 1 - np.cos(turns), np.sin(turns)], axis=1
    )
    over = biped.center_of_mass(start)[:2]
    found = biped.ik(
        {"R_WRIST": path}, tasks=[CenterOfMassTask(over)], q0=q0, pinned=FEET
    )
    assert found.reached.all() and within(found.q, biped)
    links = biped.forward_kinematics(found.q, found.root)
    assert np.abs(links[:, biped.link("R_WRIST").index, :3] - path).max() < 1e-6
    assert np.abs(biped.center_of_mass(links)[:, :2] - over).max() < 1e-6
    feet = {name: start[biped.link(name).index] for name in FEET}
    assert max(missed(biped, found, feet)) < 1e-6
    assert bm.model.loop_errors(biped, links)[0].max() < 1e-6
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.1
    assert found.motion(100).num_frames == 200


def test_pinned_links_stay_when_a_target_is_out_of_reach(biped):
    start = biped.forward_kinematics(np.zeros(biped.num_joints))
    found = biped.ik({"L_WRIST": [2.0, 1.0, 1.0]}, pinned=FEET, restarts=2)
    assert (
        not found.reached
        and list(found.missed) == ["L_WRIST"]
        and within(found.q, biped)
    )
    assert (
        max(
            missed(biped, found, {name: start[biped.link(name).index] for name in FEET})
        )
        < 1e-6
    )


def test_the_cost_is_least_where_targets_are_out_of_reach(biped):
    """At an optimum the gradient vanishes, or points out of the limits; it is found here by Jacobians of `kinematics`."""
    rng = np.random.default_rng(4)
    lower, upper, _ = limits(biped)
    for _ in range(5):
        goals = {
            name: rng.normal(size=3) for name in ("R_WRIST", "L_WRIST", "HEAD_TILT")
        }
        found = biped.ik(goals, restarts=0, close_loops=False, max_steps=2000)
        links = biped.forward_kinematics(found.q)
        gradient = np.zeros(biped.num_joints)
        cost = 0.0
        for name, goal in goals.items():
            index = biped.link(name).index
            slopes = kinematics.jacobian(
                biped.tree, links[None], biped.num_joints, index, np.zeros(3)
            )[0, :3, 6:]
            gradient += slopes.T @ (links[index, :3] - goal)
            cost += np.sum((links[index, :3] - goal) ** 2)
        inwards = np.where(
            found.q <= lower,
            np.minimum(gradient, 0),
            np.where(found.q >= upper, np.maximum(gradient, 0), gradient),
        )
        assert np.abs(inwards).max() < 1e-4
        assert found.cost == pytest.approx(cost, rel=1e-9)


def test_looking_and_distances(biped):
    point, place = np.array([1.5, 0.6, 1.2]), np.array([0.4, -0.1, 1.0])
    tasks = [
        LookAtTask("HEAD_TILT", point, axis=[2, 0, 0], point=[0.05, 0, 0.1]),
        DistanceTask("R_WRIST", "L_WRIST", 0.3, to_point=[0, 0, -0.05]),
        DistanceTask("R_ELBOW", place, 0.35),
        FrameTask("L_WRIST", [0.3, 0.2, 1.0], point=[0, 0, -0.1]),
    ]
    found = biped.ik(tasks=tasks)
    assert found.reached
    links = {
        name: biped.forward_kinematics(found.q)[biped.link(name).index]
        for name in ("HEAD_TILT", "R_WRIST", "L_WRIST", "R_ELBOW")
    }
    eye = poses.transform_points(links["HEAD_TILT"], [0.05, 0, 0.1])
    axis = rotations.rotate(links["HEAD_TILT"][3:], np.array([1.0, 0.0, 0.0]))
    assert np.allclose(axis, (point - eye) / np.linalg.norm(point - eye), atol=1e-6)
    apart = links["R_WRIST"][:3] - poses.transform_points(
        links["L_WRIST"], [0, 0, -0.05]
    )
    assert np.linalg.norm(apart) == pytest.approx(0.3, abs=1e-6)
    assert np.linalg.norm(links["R_ELBOW"][:3] - place) == pytest.approx(0.35, abs=1e-6)
    assert np.allclose(
        poses.transform_points(links["L_WRIST"], [0, 0, -0.1]),
        [0.3, 0.2, 1.0],
        atol=1e-6,
    )


@settings(max_examples=50 if ACCEPT else 6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), depth=st.floats(-0.1, 0.1))
def test_a_plane_is_not_crossed_and_the_rest_is_as_near_as_possible(biped, seed, depth):
    """At the optimum daqp, another program, finds no better step of the linearised problem with the plane and the limits."""
    daqp = pytest.importorskip("daqp")
    rng = np.random.default_rng(seed)
    lower, upper, q0 = limits(biped)
    q0 = np.clip(rng.uniform(-0.5, 0.5, len(q0)), lower, upper)
    link = biped.link("R_WRIST")
    normal, start = rng.normal(size=3), biped.forward_kinematics(q0)[link.index, :3]
    normal /= np.linalg.norm(normal)
    goal = start + rng.normal(size=3) * 0.2 + 0.2 * normal
    plane = HalfSpaceTask("R_WRIST", 3.0 * normal, normal @ start + depth)
    chain = biped.columns_above(link.index)
    found = biped.ik(
        {"R_WRIST": goal},
        tasks=[plane],
        q0=q0,
        joints=chain,
        posture_weight=0.05,
        max_steps=2000,
    )
    at = biped.forward_kinematics(found.q)
    gap = normal @ at[link.index, :3] - (normal @ start + depth)
    assert within(found.q, biped)
    jacobian = kinematics.jacobian(
        biped.tree, at[None], biped.num_joints, link.index, np.zeros(3)
    )[0, :3, 6:][:, chain]
    if gap > 1e-6:  # limits keep the hand from the plane: no step towards it is left
        rows, wanted = (normal @ jacobian)[None], np.array([-gap])
    else:
        rows = np.concatenate([jacobian, 0.05 * np.eye(len(chain))])
        wanted = np.concatenate(
            [goal - at[link.index, :3], 0.05 * (q0 - found.q)[chain]]
        )
    # Joints at their limits, and the plane, as bounds of the step.
    bound_low, bound_high = (
        np.maximum((lower - found.q)[chain], -1e3),
        np.minimum((upper - found.q)[chain], 1e3),
    )
    high, low = np.append(bound_high, max(-gap, 0.0)), np.append(bound_low, -1e3)
    cost = rows.T @ rows + 1e-9 * np.eye(len(chain))
    step, _, flag, _ = daqp.solve(
        cost, -rows.T @ wanted, (normal @ jacobian)[None], high, low
    )
    assert flag == 1
    gain = 0.5 * wanted @ wanted - 0.5 * np.sum((rows @ step - wanted) ** 2)
    assert gain <= 1e-6, (gain, gap)


@settings(max_examples=30 if ACCEPT else 5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), margin=st.floats(0.0, 0.03))
def test_the_centre_of_mass_stays_above_the_feet_while_a_hand_reaches_out(
    biped, seed, margin
):
    rng = np.random.default_rng(seed)
    q0 = np.zeros(biped.num_joints)
    q0[[3, 9]], q0[[2, 8]], q0[[4, 10]] = 0.8, -0.4, -0.4
    start = biped.forward_kinematics(q0)
    feet = [biped.link(name) for name in FEET]
    soles = np.concatenate(
        [
            poses.transform_points(start[foot.index], foot.contact_points)
            for foot in feet
        ]
    )
    goal = start[biped.link("R_WRIST").index, :3] + rng.uniform(-0.6, 0.6, 3)
    # One goal in a hundred is so far out of reach that the limit is met to 1e-5 m only after more steps than usual.
    found = biped.ik(
        {"R_WRIST": goal},
        tasks=inside(soles, margin),
        q0=q0,
        pinned=FEET,
        restarts=0,
        max_steps=1000,
    )
    free = biped.ik({"R_WRIST": goal}, q0=q0, pinned=FEET, restarts=0)
    center = biped.center_of_mass(biped.forward_kinematics(found.q, found.root))[:2]
    # A point is inside of a convex polygon when no direction separates it from the corners.
    angles = np.linspace(0, 2 * np.pi, 720)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert (
        (soles[:, :2] @ directions.T).max(axis=0) - directions @ center
    ).min() >= margin - 1e-5
    assert within(found.q, biped)
    over = biped.center_of_mass(biped.forward_kinematics(free.q, free.root))[:2]
    if (
        (soles[:, :2] @ directions.T).max(axis=0) - directions @ over
    ).min() > margin + 1e-3:  # there it changes nothing
        again = biped.ik(
            {"R_WRIST": goal},
            tasks=inside(soles, margin),
            q0=free.q,
            root=free.root,
            pinned=FEET,
            restarts=0,
        )
        assert np.abs(again.q - free.q).max() < 1e-3


def test_points_on_a_line_have_no_inside():
    with pytest.raises(ValueError, match="line"):
        inside([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])


@pytest.mark.parametrize("weight", [1.0, np.inf])
def test_a_minimum_distance_is_kept_only_where_it_is_needed(biped, weight):
    joints = biped.columns_above(biped.link("R_WRIST").index)
    far = biped.ik(
        tasks=[DistanceTask("R_WRIST", "L_WRIST", 0.1, weight, at_least=True)],
        joints=joints,
    )
    assert (
        far.reached and not far.q.any()
    )  # they are further apart at the start, so that nothing moves
    hand = biped.forward_kinematics(far.q)[biped.link("R_WRIST").index, :3]
    goal = hand + np.array([0.05, 0.0, 0.02])
    found = biped.ik(
        {"R_WRIST": hand},
        tasks=[DistanceTask("R_WRIST", goal, 0.2, weight, at_least=True)],
        joints=joints,
    )
    away = np.linalg.norm(
        biped.forward_kinematics(found.q)[biped.link("R_WRIST").index, :3] - goal
    )
    if weight == np.inf:
        assert away == pytest.approx(0.2, abs=1e-6)
    else:  # half of both errors is least
        assert away == pytest.approx(
            0.5 * (0.2 + np.linalg.norm(goal - hand)), abs=1e-3
        )
    moved = np.linalg.norm(
        biped.forward_kinematics(found.q)[biped.link("R_WRIST").index, :3] - hand
    )
    assert moved == pytest.approx(
        away - np.linalg.norm(goal - hand), abs=1e-3
    )  # straight away from it


def test_capsules_are_apart_by_the_distance_of_their_nearest_points(biped):
    """Both hands are pulled to one place: all points of one forearm stay as far from all points of the other as they must."""
    pulled = [
        FrameTask(name, np.array([0.3, 0.0, 1.0])) for name in ("R_WRIST", "L_WRIST")
    ]
    along, shares = [0.0, 0.0, -0.2], np.linspace(0, 1, 201)[:, None]

    def gap(tasks):
        placed = biped.forward_kinematics(
            biped.ik(tasks=tasks, restarts=0, posture_weight=0.01, max_steps=200).q
        )
        one, two = (
            poses.transform_points(placed[biped.link(n).index], shares * along)
            for n in ("R_ELBOW", "L_ELBOW")
        )
        return np.linalg.norm(one[:, None] - two, axis=2).min()

    least = gap(pulled) + 0.05
    apart = DistanceTask(
        "R_ELBOW", "L_ELBOW", least, np.inf, at_least=True, along=along, to_along=along
    )
    assert gap([*pulled, apart]) == pytest.approx(least, abs=1e-4)


def test_what_looks_straight_away_turns_round(biped):
    hand = biped.forward_kinematics(np.zeros(biped.num_joints))[
        biped.link("R_WRIST").index
    ]
    away = rotations.rotate(hand[3:], np.array([0.0, 1.0, 0.0]))
    goal = hand[:3] - away
    found = biped.ik(
        tasks=[LookAtTask("R_WRIST", goal, axis=[0, 1, 0])], free_root=True, restarts=0
    )
    hand = biped.forward_kinematics(found.q, found.root)[biped.link("R_WRIST").index]
    to_goal = (goal - hand[:3]) / np.linalg.norm(goal - hand[:3])
    assert np.allclose(
        rotations.rotate(hand[3:], np.array([0.0, 1.0, 0.0])), to_goal, atol=1e-6
    )


def test_weights_posture_and_chosen_joints(biped):
    far = {"R_WRIST": [3.0, 0.0, 1.0], "HEAD_TILT": [0.0, 0.0, 3.0]}
    both = [
        FrameTask(name, goal, weight=1.0 if name == "R_WRIST" else np.inf)
        for name, goal in far.items()
    ]
    solutions = (
        biped.ik({"HEAD_TILT": far["HEAD_TILT"]}, restarts=0),
        biped.ik(tasks=both, restarts=0),
    )
    heads = [
        biped.forward_kinematics(s.q)[biped.link("HEAD_TILT").index, :3]
        for s in solutions
    ]
    alone, hard = (np.linalg.norm(head - far["HEAD_TILT"]) for head in heads)
    assert hard == pytest.approx(alone, abs=1e-5)
    palm = [3.0, 0.0, 1.0, *rotations.from_rpy([0.0, 1.0, 0.0])]
    for restarts in (0, 5):
        turned = biped.ik(
            tasks=[FrameTask("R_WRIST", palm, orientation_weight=np.inf)],
            restarts=restarts,
        )
        distance, angle = missed(biped, turned, {"R_WRIST": np.array(palm)})
        assert angle < 1e-6 and distance > 1
    posture = np.full(biped.num_joints, 0.01)
    held = biped.ik(
        {"R_WRIST": [0.2, -0.3, 0.9]},
        posture=posture,
        posture_weight=1e-3,
        close_loops=False,
    )
    legs = [
        c
        for c, joint in enumerate(biped.joints)
        if "HIP" in joint.name or "KNEE" in joint.name
    ]
    assert np.abs(held.q[legs] - 0.01).max() < 1e-6 and held.errors.max() < 1e-4
    arm = [
        joint.name
        for joint in biped.joints
        if joint.name.startswith("R_") and "HIP" not in joint.name
    ]
    moved = biped.ik({"R_WRIST": [0.2, -0.3, 0.9]}, joints=arm).q
    assert not moved[
        [c for c, joint in enumerate(biped.joints) if joint.name not in arm]
    ].any()


def test_each_frame_may_begin_at_its_own_pose(biped):
    q = np.linspace(0, 0.03, 5)[:, None] * np.ones(biped.num_joints)
    goals = np.array(biped.forward_kinematics(q)[:, biped.link("R_WRIST").index])
    goals[:, 2] += 0.01
    found = biped.ik({"R_WRIST": goals}, q0=q, close_loops=False)
    assert max(missed(biped, found, {"R_WRIST": goals})) < 1e-6
    legs = [
        c
        for c, joint in enumerate(biped.joints)
        if "HIP" in joint.name or "KNEE" in joint.name
    ]
    assert np.array_equal(found.q[:, legs], q[:, legs])


@pytest.mark.parametrize(
    ("wrong", "about"),
    [
        ({"targets": {}}, "target"),
        ({"targets": {"R_WRIST": [1.0, 2.0]}}, "R_WRIST"),
        ({"targets": {"R_WRIST": [1.0, 2.0, np.nan]}}, "finite"),
        (
            {"targets": {"R_WRIST": np.zeros((3, 3)), "L_WRIST": np.zeros((4, 3))}},
            "frames",
        ),
        ({"targets": {"R_WRIST": np.zeros(3)}, "q0": np.zeros(3)}, "q0"),
        ({"tasks": [LookAtTask("HEAD_TILT", np.zeros(3), axis=np.zeros(3))]}, "axis"),
        ({"tasks": [FrameTask("HEAD_TILT", np.zeros(3), weight=-1.0)]}, "weight"),
        ({"tasks": [FrameTask("HEAD_TILT", np.zeros(3), weight=0.0)]}, "weight"),
        ({"tasks": [FrameTask(-1, np.zeros(3))]}, "link -1"),
        ({"tasks": [FrameTask(99, np.zeros(3))]}, "link 99"),
        ({"tasks": [DistanceTask("R_WRIST", np.zeros(3), -0.1)]}, "distance"),
        ({"tasks": [HalfSpaceTask("R_WRIST", np.zeros(3), 0.1)]}, "normal"),
        ({"tasks": [HalfSpaceTask(None, np.eye(4), 0.1)]}, "normal"),
        ({"tasks": [HalfSpaceTask(None, np.eye(3), np.zeros(4))]}, "broadcast"),
        ({"targets": {"R_WRIST": np.zeros(4)}}, "R_WRIST: the quaternion"),
        ({"targets": {"R_WRIST": np.zeros((2, 7))}}, "R_WRIST: the quaternion"),
        (
            {"targets": {"R_WRIST": np.zeros(3)}, "root": np.zeros(7)},
            "root: the quaternion",
        ),
        ({"targets": {"R_WRIST": np.zeros(3)}, "max_steps": -1}, "max_steps"),
        ({"targets": {"R_WRIST": np.zeros(3)}, "joints": ["NOSE"]}, "NOSE"),
    ],
)
def test_what_does_not_fit_is_reported(biped, wrong, about):
    with pytest.raises(ValueError, match=about):
        biped.ik(**wrong)


def test_an_unknown_link_is_reported_with_those_that_exist(biped):
    with pytest.raises(KeyError, match="R_WRIST"):
        biped.ik({"R_WRITS": np.zeros(3)})


def test_memory_is_checked_before_it_is_used(biped):
    with pytest.raises(MemoryError, match="inverse kinematics"):
        biped.ik({"R_WRIST": [9.0, 0.0, 1.0]}, restarts=10**12)


def test_a_link_index_may_be_of_numpy(biped):
    index = biped.link("R_WRIST").index
    found = biped.ik(tasks=[FrameTask(np.int64(index), [0.3, -0.2, 0.9])])
    assert np.allclose(
        biped.forward_kinematics(found.q)[index, :3], [0.3, -0.2, 0.9], atol=1e-6
    )


def test_restarts_leave_joints_that_move_no_missed_link(biped):
    lower, upper, _ = limits(biped)
    q = np.random.default_rng(6).uniform(lower, upper, (40, biped.num_joints))
    hands = biped.forward_kinematics(q)[:, biped.link("R_WRIST").index]
    hard = [
        pose
        for pose in hands
        if not biped.ik({"R_WRIST": pose}, restarts=0, close_loops=False).reached
    ]
    assert hard
    for pose in hard[:3]:
        found = biped.ik({"R_WRIST": pose}, close_loops=False)
        moved = [
            joint.name
            for joint, value in zip(biped.joints, found.q, strict=True)
            if value
        ]
        assert found.reached and not [
            n for n in moved if "HIP" in n or "KNEE" in n or n.startswith("L_")
        ], moved


def test_unreachable_targets_are_missed_by_no_more_than_by_mink(tmp_path):
    """Both hold the root; from where mink has converged, and from the neutral pose, we end at least as near to the targets."""
    mink = pytest.importorskip("mink")
    rng = np.random.default_rng(9)
    for path in GOLDENS if ACCEPT else GOLDENS[::4]:
        body = body_of(path)
        root = body.links[0]
        body = replace(
            body,
            links=(
                replace(root, joint=replace(root.joint, type="fixed")),
                *body.links[1:],
            ),
        )
        names = ends(body)[:4]
        try:
            made = bm.to_mujoco(body)
        except bm.FormatError:
            continue
        if not names:
            continue
        model, (_, _, q0) = made.model, limits(body)
        places = {
            c: model.joint(made.joints[i]).qposadr[0]
            for c, i in enumerate(body.joint_links)
            if made.joints.get(i)
        }
        start = np.array(model.qpos0)
        start[list(places.values())] = q0[list(places)]
        configuration = mink.Configuration(model, start)
        goals = {
            name: body.forward_kinematics(q0)[body.link(name).index, :3]
            + rng.normal(size=3)
            for name in names
        }
        tasks = []
        for name, goal in goals.items():
            tasks.append(
                mink.FrameTask(
                    made.links[body.link(name).index], "body", 1.0, 0.0, lm_damping=1.0
                )
            )
            tasks[-1].set_target(mink.SE3.from_translation(goal))
        for _ in range(200):
            speed = mink.solve_ik(
                configuration,
                tasks,
                1.0,
                "daqp",
                1e-6,
                limits=[mink.ConfigurationLimit(model, gain=1.0)],
            )
            configuration.integrate_inplace(speed, 1.0)
        q = np.array(q0)
        q[list(places)] = configuration.q[list(places.values())]
        theirs = sum(
            np.sum((configuration.data.body(t.frame_name).xpos - g) ** 2)
            for t, g in zip(tasks, goals.values(), strict=True)
        )
        ours = body.ik(goals, q0=q, close_loops=False, restarts=0)
        anew = body.ik(goals, q0=q0, close_loops=False)
        assert within(ours.q, body) and ours.cost <= theirs + 1e-8
        assert np.sqrt(anew.cost) <= np.sqrt(theirs) + 1e-4
