"""Playing: what an animation asks for is what the motion does, with expectations in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from moves import (
    RADIUS,
    body,
    component,
    feet,
    hand,
    joints,
    move,
    on_floor,
    same_poses,
)

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from bodymotion.spot.animation import Animation, Keyframes, Parameter
from bodymotion.spot.playback import sit, stand

HEIGHT = 0.48
NOMINAL = np.array([0, 0, HEIGHT, 1, 0, 0, 0.0])
BODY = "body_pos body_euler_rpy"
SWAY = [
    [0, 0, HEIGHT, 0, 0, 0],
    [0.04, 0.03, 0.43, 0.1, -0.1, 0.2],
    [-0.03, 0, 0.46, 0, 0.1, 0],
    [0, 0, HEIGHT, 0, 0, 0],
]
ARM_READY = [0.1, -2.0, 1.9, 0.2, -0.3, 0.4]


def ranged(default, low=-100.0, high=100.0):
    return Parameter(low, default, high)


def sway(**more):
    return move("body", BODY, SWAY, [0, 0.5, 1.0, 1.5], **more)


def test_the_body_is_where_the_keyframes_have_it():
    motion = sway().play(frame_rate=100)
    found = body(motion)[[0, 50, 100, 150]]
    np.testing.assert_allclose(
        found[:, :3], on_floor(np.array(SWAY)[:, :3]), atol=1e-12
    )
    np.testing.assert_allclose(
        rotations.to_rpy(found[:, 3:]), np.array(SWAY)[:, 3:], atol=1e-12
    )


def test_between_keyframes_nothing_leaves_their_range():
    rng = np.random.default_rng(3)
    rows = rng.uniform([-0.1, -0.1, 0.35], [0.1, 0.1, 0.5], (12, 3))
    motion = move("body", "body_pos", rows).play(frame_rate=200)
    path = body(motion)[:, :3] - [0, 0, RADIUS]
    for k in range(11):
        between = path[100 * k : 100 * (k + 1) + 1]
        low, high = np.minimum(rows[k], rows[k + 1]), np.maximum(rows[k], rows[k + 1])
        assert (between >= low - 1e-12).all()
        assert (between <= high + 1e-12).all()


def test_a_turn_about_one_axis_is_the_same_by_angles_and_by_quaternions():
    angles = np.array([0.0, 0.3, 0.1, -0.4, -0.5])
    rpy = np.zeros((5, 3))
    rpy[:, 2] = angles
    by_angles = move("body", "body_euler_rpy", rpy, [0, 0.3, 1, 1.2, 2]).play()
    by_quaternions = move(
        "body", "body_quat_wxyz", rotations.from_rpy(rpy), [0, 0.3, 1, 1.2, 2]
    ).play()
    xyzw = move(
        "body",
        "body_quat_xyzw",
        np.roll(rotations.from_rpy(rpy), -1, axis=1),
        [0, 0.3, 1, 1.2, 2],
    ).play()
    same_poses(body(by_angles), body(by_quaternions), 1e-12)
    same_poses(body(xyzw), body(by_quaternions), 1e-15)


@pytest.mark.parametrize("angles", [[0, 2 * np.pi], [0, 3, 6.2, 12.5], [0, -4, 4]])
def test_a_spin_by_angles_spins(angles):
    times = np.arange(len(angles)) * 2.0
    motion = move("body", "body_yaw", angles, times).play(frame_rate=100)
    yaw = np.unwrap(rotations.to_rpy(body(motion)[:, 3:])[:, 2])
    np.testing.assert_allclose(yaw[::200], angles, atol=1e-9)
    assert np.abs(np.diff(yaw)).sum() == pytest.approx(np.abs(np.diff(angles)).sum()), (
        "and no farther"
    )


def test_a_spin_by_quaternions_takes_the_shorter_way():
    turn = rotations.from_rpy([[0, 0, 0], [0, 0, 4.0]])
    yaw = rotations.to_rpy(
        body(move("body", "body_quat_wxyz", turn, [0, 1]).play(frame_rate=100))[:, 3:]
    )[:, 2]
    assert yaw[100] == pytest.approx(4 - 2 * np.pi)
    assert (np.diff(yaw) <= 1e-12).all()


def test_a_recordings_jump_from_half_a_turn_to_minus_half_is_no_spin():
    times = np.arange(40) / 30
    angles = 3.0 + times
    wrapped = (angles + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(np.diff(wrapped)).max() > 6
    for given in (angles, wrapped):
        yaw = np.unwrap(
            rotations.to_rpy(
                body(move("body", "body_yaw", given, times).play(frame_rate=100))[:, 3:]
            )[:, 2]
        )
        np.testing.assert_allclose(np.diff(yaw)[:120], 0.01, atol=1e-9)


@pytest.mark.parametrize("columns", ["body_yaw", "body_quat_wxyz"])
def test_half_of_a_spin_is_half_a_spin_all_the_way(columns):
    angles = np.linspace(0, 2 * np.pi, 9)
    rows = (
        angles
        if columns == "body_yaw"
        else rotations.from_rpy(np.outer(angles, [0, 0, 1]))
    )
    animation = move(
        "body",
        columns,
        rows,
        extendable=True,
        parameters={"rotation_multiplier.yaw": ranged(0.5)},
    )
    yaw = np.unwrap(rotations.to_rpy(body(animation.play(frame_rate=100))[:, 3:])[:, 2])
    np.testing.assert_allclose(yaw[:401:50], angles / 2, atol=1e-9)
    twice = rotations.to_rpy(body(animation.play(frame_rate=100, slices=64))[:, 3:])[
        :, 2
    ]
    np.testing.assert_allclose(twice[:400], yaw[:400], atol=1e-9)
    np.testing.assert_allclose(twice[401:800], yaw[1:400], atol=1e-9)


def test_roll_and_pitch_may_be_assumed_to_be_zero():
    level = sway(assume_zero_roll_and_pitch=True).play(frame_rate=100)
    angles = rotations.to_rpy(body(level)[:, 3:])
    np.testing.assert_allclose(angles[:, :2], 0, atol=1e-12)
    np.testing.assert_allclose(angles[::50, 2], np.array(SWAY)[:, 5], atol=1e-12)
    double = sway(
        assume_zero_roll_and_pitch=True,
        parameters={"rotation_multiplier.yaw": ranged(2.0)},
    ).play(frame_rate=100)
    np.testing.assert_allclose(
        rotations.to_rpy(body(double)[:, 3:])[:, :2], 0, atol=1e-12
    )


def test_quaternions_of_either_sign_are_one_turn():
    q = rotations.from_rpy([[0, 0, 0], [0.2, 0.1, 0.3], [0.1, -0.2, 0.5], [0, 0, 0]])
    plain = move("body", "body_quat_wxyz", q).play()
    flipped = move("body", "body_quat_wxyz", q * [[1], [-1], [-1], [1]]).play()
    same_poses(body(plain), body(flipped), 1e-12)


def test_angular_velocity_has_no_jumps():
    q = rotations.from_rpy(
        [[0, 0, 0], [0.4, 0.1, 0.3], [0.5, 0.3, 0.9], [0.1, 0.5, 1.0]]
    )
    found = body(move("body", "body_quat_wxyz", q).play(frame_rate=1000))[:, 3:]
    axis, angle = rotations.to_axis_angle(
        rotations.multiply(rotations.conjugate(found[:-1]), found[1:])
    )
    rate = axis * angle[:, None] * 1000
    assert np.abs(np.diff(rate, axis=0)).max() < 0.05


def test_feet_stay_where_they_stand_while_the_body_moves():
    motion = sway().play()
    np.testing.assert_allclose(
        feet(motion),
        np.broadcast_to(stand().feet, (motion.num_frames, 4, 3)),
        atol=1e-12,
    )
    np.testing.assert_allclose(stand().feet[:, 2], RADIUS, atol=1e-15)
    assert (component(motion, "FootContact") == 1).all()
    assert (component(motion, "ReachError") == 0).all()


def test_a_body_without_all_columns_keeps_the_nominal_pose_in_the_others():
    motion = move("body", "body_x body_pitch", [[0, 0], [0.05, 0.1], [0, 0]]).play(
        frame_rate=100
    )
    same_poses(
        body(motion)[0], poses.from_parts(on_floor([0, 0, HEIGHT]), [1, 0, 0, 0])
    )
    same_poses(
        body(motion)[50],
        poses.from_parts(on_floor([0.05, 0, HEIGHT]), rotations.from_rpy([0, 0.1, 0])),
    )


# Time


def test_twice_the_tempo_takes_half_the_time():
    animation = sway(bpm=90.0)
    slow, fast = (
        animation.play(bpm=90, frame_rate=120),
        animation.play(bpm=180, frame_rate=240),
    )
    assert fast.duration == pytest.approx(slow.duration / 2)
    np.testing.assert_array_equal(joints(slow), joints(fast))
    np.testing.assert_array_equal(body(slow), body(fast))
    assert slow.extra["spot"]["slices"] == fast.extra["spot"]["slices"] == 9


def test_without_a_tempo_of_its_own_it_takes_its_time():
    slow, fast = (
        sway().play(bpm=60, frame_rate=100),
        sway().play(bpm=120, frame_rate=100),
    )
    assert slow.duration == fast.duration == 1.5
    np.testing.assert_array_equal(body(slow), body(fast))
    assert (slow.extra["spot"]["slices"], fast.extra["spot"]["slices"]) == (6, 12)


def test_by_default_a_slice_is_a_whole_number_of_frames():
    for bpm in (60, 77, 120, 133.7):
        motion = sway().play(bpm=bpm)
        told = motion.extra["spot"]
        frames = told["slice"] * motion.frame_rate
        assert frames == pytest.approx(round(frames), abs=1e-9)
        assert motion.duration == pytest.approx(told["slices"] * 15 / bpm)
        assert motion.frame_rate >= 100


def test_retiming_stretches_to_whole_slices():
    plain = move("body", "body_z", [0.48, 0.40], [0, 1.05])
    for animation, end in (
        (plain, 0.40),
        (
            move(
                "body", "body_z", [0.48, 0.40], [0, 1.05], retime_to_integer_slices=True
            ),
            0.40,
        ),
    ):
        motion = animation.play(bpm=60)
        assert motion.duration == pytest.approx(1.0)
        cut = "retime_to_integer_slices" not in animation.options
        assert (body(motion)[-1, 2] - RADIUS > end + 1e-6) == cut, (
            "what is not stretched is cut off"
        )
    middle = move(
        "body", "body_z", [0.48, 0.40], [0, 1.05], retime_to_integer_slices=True
    ).play(bpm=60, frame_rate=100)
    assert body(middle)[50, 2] - RADIUS == pytest.approx(0.44, abs=1e-12), (
        "half of the time is half of the keyframes"
    )


def test_what_is_short_of_a_slice_is_held():
    motion = move("body", "body_z", [0.48, 0.40], [0, 0.95]).play(
        bpm=60, frame_rate=100
    )
    assert motion.duration == pytest.approx(1.0)
    np.testing.assert_allclose(body(motion)[95:, 2], 0.40 + RADIUS, atol=1e-12)


def test_longer_than_itself_it_loops():
    animation = sway(extendable=True)
    motion = animation.play(slices=36, bpm=120, frame_rate=104)
    once = animation.play(bpm=120, frame_rate=104)
    period = once.num_frames - 1
    assert motion.num_frames == 3 * period + 1
    for start in (0, period, 2 * period):
        np.testing.assert_allclose(
            body(motion)[start + 1 : start + period + 1], body(once)[1:], atol=1e-12
        )
        np.testing.assert_allclose(
            joints(motion)[start + 1 : start + period + 1], joints(once)[1:], atol=1e-9
        )


def test_without_looping_it_holds_its_last_keyframe():
    rows = [[0, 0, HEIGHT, 0, 0, 0], [0.04, 0, 0.42, 0, 0.1, 0.1]]
    motion = move("body", BODY, rows, [0, 1], extendable=True, no_looping=True).play(
        slices=24, frame_rate=100
    )
    np.testing.assert_array_equal(
        body(motion)[100:], np.broadcast_to(body(motion)[100], (201, 7))
    )


def test_shorter_than_itself_it_ends_early():
    animation = sway(truncatable=True)
    whole, part = (
        animation.play(frame_rate=104),
        animation.play(slices=5, frame_rate=104),
    )
    assert part.duration == pytest.approx(5 * 0.125)
    np.testing.assert_array_equal(body(part), body(whole)[: part.num_frames])


@pytest.mark.parametrize(("slices", "option"), [(20, "extendable"), (3, "truncatable")])
def test_a_length_that_it_does_not_allow_is_refused(slices, option):
    with pytest.raises(ValueError, match=option):
        sway().play(slices=slices)
    sway(**{option: True}).play(slices=slices)


@pytest.mark.parametrize("looping", [True, False])
def test_speed_multiplies_time(looping):
    options = {} if looping else {"no_looping": True}
    animation = sway(parameters={"speed": ranged(1.0, 0.1, 4)}, **options)
    plain, fast = (
        animation.play(frame_rate=104),
        animation.play(frame_rate=104, parameters={"speed": 2.0}),
    )
    assert fast.duration == plain.duration
    half = (plain.num_frames - 1) // 2
    np.testing.assert_allclose(body(fast)[: half + 1], body(plain)[::2], atol=1e-12)
    rest = body(plain)[2::2] if looping else np.broadcast_to(body(plain)[-1], (half, 7))
    np.testing.assert_allclose(body(fast)[half + 1 :], rest, atol=1e-12)


def test_slow_speed_shows_the_beginning_only():
    animation = sway(parameters={"speed": ranged(0.5, 0.1, 4)})
    slow, plain = (
        animation.play(frame_rate=104),
        animation.play(frame_rate=208, parameters={"speed": 1}),
    )
    count = min(slow.num_frames, plain.num_frames)
    np.testing.assert_allclose(body(slow)[:count], body(plain)[:count], atol=1e-12)


def test_an_offset_starts_inside():
    animation = sway(parameters={"offset_slices": ranged(0)})
    plain, late = (
        animation.play(frame_rate=104),
        animation.play(frame_rate=104, parameters={"offset_slices": 4}),
    )
    frames = round(4 * 0.125 * 104)
    np.testing.assert_allclose(
        body(late)[: plain.num_frames - frames], body(plain)[frames:], atol=1e-12
    )


# Multipliers, offsets and blends


def test_multipliers_of_zero_leave_the_nominal_pose():
    names = [f"translation_multiplier.{axis}" for axis in "xyz"] + [
        f"rotation_multiplier.{a}" for a in ("roll", "pitch", "yaw")
    ]
    motion = sway().play(parameters=dict.fromkeys(names, 0.0))
    same_poses(
        body(motion),
        np.broadcast_to(
            NOMINAL + np.array([0, 0, RADIUS, 0, 0, 0, 0]), (motion.num_frames, 7)
        ),
        1e-12,
    )


@pytest.mark.parametrize("axis", range(3))
def test_a_multiplier_scales_its_own_direction(axis):
    plain, more = (
        sway().play(),
        sway().play(parameters={f"translation_multiplier.{'xyz'[axis]}": 1.5}),
    )
    rest = np.array([0, 0, HEIGHT + RADIUS])
    factors = np.ones(3)
    factors[axis] = 1.5
    np.testing.assert_allclose(
        body(more)[:, :3] - rest, (body(plain)[:, :3] - rest) * factors, atol=1e-12
    )
    np.testing.assert_allclose(feet(more), feet(plain), atol=1e-9)
    angle = ("roll", "pitch", "yaw")[axis]
    turned = sway().play(parameters={f"rotation_multiplier.{angle}": -1.0})
    factors[axis] = -1.0
    np.testing.assert_allclose(
        rotations.to_rpy(body(turned)[:, 3:]),
        rotations.to_rpy(body(plain)[:, 3:]) * factors,
        atol=1e-12,
    )


def test_the_entry_begins_in_the_pose_before_and_ends_in_the_animation():
    crouch = np.array(SWAY) + np.array([0.02, 0.03, -0.06, 0.1, 0.05, 0.2])
    animation = move("body", BODY, crouch, parameters={"body_entry_slices": ranged(0)})
    plain, blended = (
        animation.play(frame_rate=104),
        animation.play(frame_rate=104, parameters={"body_entry_slices": 4}),
    )
    same_poses(body(blended)[0], stand().body, 1e-12)
    count = round(4 * 0.125 * 104)
    np.testing.assert_array_equal(body(blended)[count:], body(plain)[count:])
    assert np.abs(np.diff(body(blended), axis=0)).max() < 0.01, "no jump"
    half = poses.compose(poses.inverse(stand().body), body(plain)[count // 2])
    there = poses.compose(poses.inverse(stand().body), body(blended)[count // 2])
    np.testing.assert_allclose(there[:3], half[:3] / 2, atol=1e-9)
    np.testing.assert_allclose(feet(blended), feet(plain), atol=1e-12)


def test_the_exit_ends_in_the_nominal_pose_and_no_exit_does_not():
    crouch = np.array(SWAY) + np.array([0.02, 0.03, -0.06, 0.1, 0.05, 0.2])
    animation = move("body", BODY, crouch)
    plain, back = (
        animation.play(frame_rate=104),
        animation.play(frame_rate=104, parameters={"body_exit_slices": 4}),
    )
    same_poses(body(back)[-1], stand().body, 1e-12)
    count = plain.num_frames - round(4 * 0.125 * 104) - 1
    np.testing.assert_array_equal(body(back)[:count], body(plain)[:count])
    np.testing.assert_array_equal(
        body(animation.play(frame_rate=104, parameters={"body_exit_slices": 0})),
        body(plain),
    )


def test_offsets_add_to_the_arm_and_to_the_gripper():
    rows = [[*ARM_READY, -0.2], [*ARM_READY, -0.8], [*ARM_READY, -0.4]]
    animation = move("arm gripper", "arm_joints gripper", rows)
    names = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")
    offsets = np.array([0.1, -0.2, 0.15, 0.05, -0.1, 0.2])
    changed = {
        f"{name}_offset": value for name, value in zip(names, offsets, strict=True)
    }
    plain = animation.play()
    more = animation.play(
        parameters={**changed, "gripper_multiplier": 0.5, "gripper_offset": -0.1}
    )
    np.testing.assert_allclose(
        joints(more)[:, 12:18], joints(plain)[:, 12:18] + offsets, atol=1e-12
    )
    np.testing.assert_allclose(
        joints(more)[:, 18], joints(plain)[:, 18] * 0.5 - 0.1, atol=1e-12
    )


def test_offsets_add_to_the_joints_that_a_hand_pose_comes_to():
    rows = [[0.7, 0, 0.7, 1, 0, 0, 0], [0.75, 0.1, 0.65, 1, 0, 0, 0]]
    columns, names = (
        "hand_pos hand_quat_wxyz",
        ("sh0", "sh1", "el0", "el1", "wr0", "wr1"),
    )
    without = joints(move("arm", columns, rows).play(), *names)
    offsets = {"shoulder_0_offset": ranged(0.2), "wrist_1_offset": ranged(-0.3)}
    motion = move("arm", columns, rows, parameters=offsets).play()
    np.testing.assert_allclose(
        joints(motion, *names) - without,
        np.tile([0.2, 0, 0, 0, 0, -0.3], (len(without), 1)),
        atol=1e-12,
    )


def test_the_arms_entry_begins_as_it_lies_folded():
    animation = move("arm gripper", "arm_joints gripper", [[*ARM_READY, -1.0]] * 3)
    motion = animation.play(frame_rate=104, parameters={"arm_entry_slices": 4})
    np.testing.assert_allclose(joints(motion)[0, 12:], [*stand().arm, 0.0], atol=1e-12)
    np.testing.assert_allclose(
        joints(motion)[52:, 12:],
        [[*ARM_READY, -1.0]] * (motion.num_frames - 52),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        joints(motion)[26, 12:18], (stand().arm + ARM_READY) / 2, atol=1e-9
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("speed", 0.0), ("speed", np.nan), ("speeed", 1.0), ("body_entry_slices", 9.0)],
)
def test_parameters_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        sway(parameters={"body_entry_slices": Parameter(0, 1, 8)}).play(
            parameters={name: value}
        )


# Arm


def test_arm_joints_without_a_column_are_held():
    motion = move("arm", "shoulder1 wrist1", [[-2, 0.1], [-1.5, 0.3]]).play()
    np.testing.assert_array_equal(
        joints(motion, "sh0", "el0", "el1", "wr0") - stand().arm[[0, 2, 3, 4]], 0.0
    )
    assert joints(motion, "sh1")[0, 0] == -2


def test_columns_of_what_is_not_controlled_are_ignored():
    motion = move(
        "body",
        "body_z gripper arm_joints",
        [[0.48, -1, *ARM_READY], [0.44, -1, *ARM_READY]],
    )
    assert motion.play().joint_displacement.num_parts == 12
    with_arm = motion.play(arm=True)
    np.testing.assert_array_equal(
        joints(with_arm)[:, 12:], np.tile([*stand().arm, 0.0], (with_arm.num_frames, 1))
    )


def test_an_arm_that_is_required_or_prohibited():
    with pytest.raises(ValueError, match="arm_required"):
        sway(arm_required=True).play(arm=False)
    with pytest.raises(ValueError, match="arm_prohibited"):
        sway(arm_prohibited=True).play(arm=True)
    assert sway(arm_required=True).play().joint_displacement.num_parts == 19
    assert sway(arm_prohibited=True).play().joint_displacement.num_parts == 12
    assert sway().play(arm=True).joint_displacement.num_parts == 19
    assert move("gripper", "gripper", [-1, 0]).play().joint_displacement.num_parts == 19


HAND = [0.75, 0.1, 0.75]


def test_a_hand_stays_in_the_workspace_while_the_body_sways():
    rows = [[*row, *HAND, 1, 0, 0, 0] for row in SWAY]
    motion = move("body arm", f"{BODY} hand_pos hand_quat_wxyz", rows).play()
    same_poses(
        hand(motion),
        np.tile([*on_floor(HAND), 1, 0, 0, 0], (motion.num_frames, 1)),
        1e-9,
    )
    assert (component(motion, "ReachError") == 0).all()


def test_arm_joints_go_with_the_body():
    motion = move(
        "body arm", f"{BODY} arm_joints", [[*row, *ARM_READY] for row in SWAY]
    ).play()
    np.testing.assert_allclose(
        joints(motion)[:, 12:18], np.tile(ARM_READY, (motion.num_frames, 1)), atol=1e-12
    )


def test_a_hand_in_joint_space_goes_with_the_body():
    """Joints are found for the animated body: a body that moves otherwise takes the arm along."""
    rows = [[*row, *HAND, 1, 0, 0, 0] for row in SWAY]
    animation = move(
        "body arm", f"{BODY} hand_pos hand_quat_wxyz", rows, arm_playback="jointspace"
    )
    plain, still = (
        animation.play(),
        animation.play(
            parameters={"translation_multiplier.x": 0.0, "rotation_multiplier.yaw": 0.0}
        ),
    )
    np.testing.assert_allclose(
        joints(still)[:, 12:18], joints(plain)[:, 12:18], atol=1e-12
    )
    same_poses(
        hand(plain), np.tile([*on_floor(HAND), 1, 0, 0, 0], (plain.num_frames, 1)), 1e-9
    )


def test_arm_joints_in_the_workspace_hold_the_hand_where_the_animated_body_has_it():
    animation = move(
        "body arm",
        f"{BODY} arm_joints",
        [[*row, *ARM_READY] for row in SWAY],
        arm_playback="workspace",
    )
    plain, still = (
        animation.play(),
        animation.play(
            parameters={"translation_multiplier.x": 0.0, "rotation_multiplier.yaw": 0.0}
        ),
    )
    same_poses(hand(still), hand(plain), 1e-9)
    assert np.abs(joints(still)[:, 12:18] - ARM_READY).max() > 0.05


def test_a_hand_in_a_dance_frame():
    rows = [[*HAND, 1, 0, 0, 0, 0.0], [*HAND, 1, 0, 0, 0, 0.0]]
    animation = move(
        "arm gripper",
        "hand_pos hand_quat_wxyz gripper",
        rows,
        arm_playback="workspace_dance_frame",
    )
    frame = np.array([0.1, -0.2, 0.05, *rotations.from_rpy([0, 0, 0.3])])
    motion = animation.play(
        parameters={"arm_dance_frame_id": 2}, dance_frames={2: frame}
    )
    same_poses(hand(motion)[0], poses.compose(frame, [*HAND, 1, 0, 0, 0]), 1e-9)
    same_poses(hand(animation.play())[0], [*on_floor(HAND), 1, 0, 0, 0], 1e-9)


def test_a_hand_out_of_reach_is_reported():
    motion = move("arm", "hand_pos", [[2, 0, 0.7], [0.75, 0, 0.75]]).play()
    errors = component(motion, "ReachError")
    assert errors[0, 4] > 0.5
    assert errors[-1, 4] == 0


def test_the_hands_orientation_by_angles():
    rpy = [0.3, -0.2, 0.4]
    motion = move("arm", "hand_pos hand_euler_rpy", [[*HAND, *rpy]] * 2).play()
    same_poses(
        hand(motion)[0], poses.from_parts(on_floor(HAND), rotations.from_rpy(rpy)), 1e-9
    )


# Legs

STAND = stand()
UNDER = STAND.feet - [0, 0, RADIUS]


def test_feet_go_where_their_columns_say():
    rng = np.random.default_rng(4)
    places = (
        UNDER
        + rng.uniform(-0.06, 0.06, (5, 4, 3)) * [1, 1, 0]
        + [0, 0, 0.03] * rng.integers(0, 2, (5, 4, 1))
    )
    rows = [
        [*place.ravel(), *row]
        for place, row in zip(places, np.array(SWAY)[[0, 1, 2, 3, 0]], strict=True)
    ]
    motion = move("legs body", f"foot_pos {BODY}", rows).play(frame_rate=100)
    np.testing.assert_allclose(
        feet(motion)[::50], places + np.array([0, 0, RADIUS]), atol=1e-12
    )


def test_joints_are_taken_as_they_are_and_carry_the_feet():
    q = STAND.legs + np.random.default_rng(5).uniform(-0.1, 0.1, (4, 4, 3))
    rows = [[*angles.ravel(), *row] for angles, row in zip(q, SWAY, strict=True)]
    motion = move("legs body", f"leg_joints {BODY}", rows).play(frame_rate=100)
    np.testing.assert_allclose(joints(motion)[::50], q.reshape(4, 12), atol=1e-12)
    entered = move("legs body", f"leg_joints {BODY}", rows).play(
        frame_rate=100, parameters={"body_entry_slices": 4}
    )
    np.testing.assert_allclose(
        feet(entered),
        feet(motion),
        atol=1e-9,
        err_msg="the feet do not mind the body's entry",
    )
    np.testing.assert_array_equal(joints(entered)[60:], joints(motion)[60:])


def test_legs_given_in_different_ways_agree():
    q = STAND.legs + np.array([0.05, 0.1, -0.1])
    seen = feet(
        move("legs body", f"leg_joints {BODY}", [[*q.ravel(), *SWAY[1]]] * 2).play()
    )[0] - [0, 0, RADIUS]
    row = [*q[0], *q[1], *seen[2], *seen[3], *SWAY[1]]
    motion = move(
        "legs body", f"fl_angles fr_angles hl_pos hr_pos {BODY}", [row] * 2
    ).play()
    np.testing.assert_allclose(joints(motion)[0], q.ravel(), atol=1e-9)


def test_without_a_body_the_feet_in_stance_carry_it():
    """Knees bend alike: the body goes down, level, and no foot leaves its place."""
    low = stand(height=0.36).legs
    motion = move(
        "legs",
        "leg_joints",
        [STAND.legs.ravel(), low.ravel(), STAND.legs.ravel()],
        [0, 1, 2],
    ).play(frame_rate=100)
    assert body(motion)[100, 2] == pytest.approx(0.36 + RADIUS, abs=1e-9)
    np.testing.assert_allclose(feet(motion)[:, :, 2], RADIUS, atol=1e-3)
    np.testing.assert_allclose(feet(motion)[100], STAND.feet, atol=1e-3)


def test_feet_out_of_reach_are_reported_and_come_near():
    rows = [[*UNDER.ravel(), 0.48], [*UNDER.ravel(), 0.80]]
    motion = move("legs body", "foot_pos body_z", rows, [0, 1]).play(frame_rate=100)
    errors = component(motion, "ReachError")
    assert (errors[0] == 0).all()
    assert (errors[-1] > 0.1).all()
    apart = np.linalg.norm(feet(motion)[-1] - STAND.feet, axis=-1)
    np.testing.assert_allclose(apart, errors[-1], atol=1e-9)


def test_contacts_are_those_of_the_columns():
    rows = [
        [*UNDER.ravel(), 1, 1, 1, 1],
        [*UNDER.ravel(), 0, 1, 1, 0],
        [*UNDER.ravel(), 0, 1, 1, 0],
        [*UNDER.ravel(), 1, 1, 1, 1],
    ]
    found = component(
        move("legs", "foot_pos contact", rows).play(frame_rate=100), "FootContact"
    )
    np.testing.assert_array_equal(found[[0, 50, 100, 150]], np.array(rows)[:, 12:])
    assert (found[1:150, [0, 3]] == 0).all(), (
        "between two keyframes a foot stands when it does so at both"
    )
    assert (found[:, [1, 2]] == 1).all()


def test_contacts_are_inferred_from_height_and_speed():
    up, aside = UNDER.copy(), UNDER.copy()
    up[0, 2] += 0.05
    aside[3, 0] += 0.2
    rows = [UNDER.ravel(), up.ravel(), UNDER.ravel(), UNDER.ravel(), aside.ravel()]
    found = component(
        move("legs", "foot_pos", rows).play(frame_rate=100), "FootContact"
    )
    assert (found[1:99, 0] == 0).all(), "lifted"
    assert (found[100:150] == 1).all()
    assert (found[151:199, 3] == 0).all(), "it slides at 0.4 m/s"
    assert (found[:, [1, 2]] == 1).all()


def contacts(*heights, times=None, columns="foot_pos"):
    """Return the contacts that are inferred of feet raised by (4,) [m] at keyframes, and the time of each frame."""
    rows = [
        np.column_stack([UNDER[:, :2], UNDER[:, 2] + np.broadcast_to(up, 4)]).ravel()
        for up in heights
    ]
    motion = move("legs", columns, rows, times).play(frame_rate=100)
    return component(motion, "FootContact")


def test_a_foot_that_begins_or_ends_on_the_floor_is_in_stance_there():
    found = contacts([0.0] * 4, [0.1] * 4, [0.0] * 4, times=[0, 1, 2])
    assert (found[[0, -1]] == 1).all()
    assert (found[1:-1] == 0).all()
    found = contacts([0.0] * 4, [0.1, 0, 0, 0], [0.0] * 4, times=[0, 0.25, 0.5])
    np.testing.assert_array_equal(found[:, 0], [1] + [0] * 49 + [1])
    assert (found[:, 1:] == 1).all()


def test_a_foot_that_only_touches_the_floor_is_in_stance_where_it_does():
    found = contacts(0.0, [0.1, 0, 0, 0], 0.0, [0.1, 0, 0, 0], 0.0)
    np.testing.assert_array_equal(np.flatnonzero(found[:, 0]), [0, 100, 200])


def test_a_foot_that_rushes_through_the_floors_height_is_in_swing():
    rows = [UNDER.copy() for _ in range(4)]
    for k, row in enumerate(rows):
        row[0] += [0.2 * k, 0, 0.1 if k == 0 else 0.0]
    rows[3][0, 2] += 0.1
    found = component(
        move("legs", "foot_pos", [row.ravel() for row in rows]).play(frame_rate=100),
        "FootContact",
    )
    assert (found[:, 0] == 0).all(), "it slides at 0.4 m/s"
    assert (found[:, 1:] == 1).all()


def test_one_foot_that_sinks_does_not_lift_the_others():
    found = contacts(0.0, [-0.1, 0, 0, 0], 0.0, times=[0, 1, 2])
    assert (found[:, 1:] == 1).all()


def test_inferred_contacts_of_a_walk_are_those_that_it_has(examples):
    trot = bm.load(examples / "trot.cha")
    keys = trot.keyframes
    kept = [k for k, name in enumerate(keys.columns) if not name.endswith("_contact")]
    bare = Animation(
        options=trot.options,
        parameters=trot.parameters,
        keyframes=Keyframes(
            columns=tuple(keys.columns[k] for k in kept),
            values=keys.values[:, kept],
            times=keys.times,
        ),
    )
    given, found = (
        component(trot.play(), "FootContact"),
        component(bare.play(), "FootContact"),
    )
    assert (given == found).mean() > 0.95


def test_the_center_of_mass_is_where_it_should_be():
    rows = [
        [0, 0, 0.45, 0, 0, 0],
        [0.03, 0.02, 0.40, 0.1, 0.1, 0.2],
        [0, 0, 0.44, 0, 0, 0],
    ]
    for arm in (False, True):
        motion = move("body", "com_pos body_euler_rpy", rows).play(
            frame_rate=100, arm=arm
        )
        robot = bm.spot.body(arm=arm)
        centers = robot.center_of_mass(robot.link_poses(motion))
        np.testing.assert_allclose(
            centers[::50], on_floor(np.array(rows)[:, :3]), atol=1e-8
        )
        np.testing.assert_allclose(
            feet(motion),
            np.broadcast_to(STAND.feet, (motion.num_frames, 4, 3)),
            atol=1e-9,
        )


def test_places_measured_from_the_body_are_raised_to_the_floor():
    """As in recordings that have the body at 0 and the legs by their joints."""
    rows = [[*STAND.legs.ravel(), 0, 0, 0], [*STAND.legs.ravel(), 0, 0, -0.02]]
    motion = move("legs body", "leg_joints body_pos", rows, [0, 1]).play(frame_rate=100)
    np.testing.assert_allclose(feet(motion)[0], STAND.feet, atol=1e-9)
    np.testing.assert_allclose(
        body(motion)[[0, -1], 2], RADIUS + HEIGHT + np.array([0, -0.02]), atol=1e-9
    )


# Where it starts


@pytest.mark.parametrize("what", ["body", "feet", "hand"])
def test_the_whole_move_goes_with_the_place_where_it_starts(what):
    animation = {
        "body": sway(parameters={"body_entry_slices": ranged(2)}),
        "feet": move(
            "legs body", f"foot_pos {BODY}", [[*UNDER.ravel(), *row] for row in SWAY]
        ),
        "hand": move("arm body", f"hand_pos {BODY}", [[*HAND, *row] for row in SWAY]),
    }[what]
    place = np.array([1.5, -0.7, 0, *rotations.from_rpy([0, 0, 2.0])])
    here = animation.play()
    there = animation.play(
        start=stand(poses.compose(place, [0, 0, RADIUS, 1, 0, 0, 0]))
    )
    same_poses(body(there), poses.compose(place, body(here)), 1e-9)
    np.testing.assert_allclose(joints(there), joints(here), atol=1e-9)


def test_a_move_starts_in_the_pose_in_which_another_ends():
    first = sway(truncatable=True).play(slices=4)
    second = sway(parameters={"body_entry_slices": ranged(4)}).play(start=first)
    same_poses(body(second)[0], body(first)[-1], 1e-12)
    np.testing.assert_allclose(joints(second)[0], joints(first)[-1], atol=1e-9)


def test_a_neutral_start_stands_neutrally():
    wide = stand()
    splayed = wide.legs + np.array(
        [[0.2, 0, 0], [-0.2, 0, 0], [0.2, 0, 0], [-0.2, 0, 0]]
    )
    start = type(wide)(wide.body, splayed)
    lifted = start.frame[2] - RADIUS
    plain, neutral = (
        sway().play(start=start),
        sway(neutral_start=True).play(start=start),
    )
    np.testing.assert_allclose(feet(plain)[0], start.feet, atol=1e-12)
    np.testing.assert_allclose(
        feet(neutral)[0], STAND.feet + np.array([0, 0, lifted]), atol=1e-12
    )


def test_it_starts_sitting():
    animation = move(
        "body",
        "body_z",
        [0.48, 0.48],
        parameters={"body_entry_slices": ranged(4)},
        starts_sitting=True,
    )
    motion = animation.play()
    same_poses(body(motion)[0], sit().body, 1e-12)
    assert body(motion)[0, 2] < 0.2
    np.testing.assert_allclose(
        feet(motion), np.broadcast_to(STAND.feet, (motion.num_frames, 4, 3)), atol=1e-9
    )


def test_a_walk_goes_on_where_it_has_come_to(examples):
    trot = bm.load(examples / "trot.cha")
    at_once = {"body_entry_slices": 0}
    once, thrice = (
        trot.play(parameters=at_once),
        trot.play(parameters=at_once, slices=96),
    )
    far = feet(once)[-1, :, 0].mean() - feet(once)[0, :, 0].mean()
    assert far > 1.5
    period = once.num_frames - 1
    for k in range(3):
        np.testing.assert_allclose(
            body(thrice)[k * period + 1 : (k + 1) * period + 1, :3],
            body(once)[1:, :3] + [k * far, 0, 0],
            atol=1e-9,
        )
    assert np.abs(np.diff(body(thrice), axis=0)).max() < 0.02
    np.testing.assert_allclose(
        joints(thrice)[1 : period + 1],
        joints(thrice)[period + 1 : 2 * period + 1],
        atol=1e-8,
    )


# What cannot be played


@pytest.mark.parametrize(
    ("rows", "times", "said"),
    [
        (np.zeros((0, 1)), [], "no keyframes"),
        ([[0.48], [np.nan]], [0, 1], "body_z is nan in keyframe 2"),
        ([[0.48], [0.4]], [1, 0], "keyframe 2"),
        ([[0.48], [0.4]], [0, 0], "keyframe 2"),
        ([[0.48], [1e9]], [0, 1], "keyframe 2"),
    ],
)
def test_keyframes_that_make_no_motion_are_refused(rows, times, said):
    with pytest.raises(ValueError, match=said):
        move("body", "body_z", rows, times).play()


@pytest.mark.parametrize(
    "given",
    [{"bpm": 0}, {"bpm": -3}, {"slices": 0}, {"frame_rate": np.inf}, {"bpm": np.nan}],
)
def test_times_that_make_no_sense_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        sway(truncatable=True).play(**given)


@pytest.mark.parametrize(
    "given", [{"slices": 1e13}, {"slices": 1e300}, {"frame_rate": 1e300}]
)
def test_a_move_that_would_fill_the_memory_is_refused(given):
    with pytest.raises(ValueError, match="too long"):
        sway(extendable=True).play(**given)


def test_without_much_memory_a_long_move_is_refused(monkeypatch):
    monkeypatch.setattr(
        "bodymotion.geometry.arrays.available_memory", lambda: 1_000_000
    )
    with pytest.raises(ValueError, match="too long"):
        sway(extendable=True).play(slices=1000)


@pytest.mark.parametrize(
    "given",
    [
        {"bpm": "x"},
        {"slices": "120"},
        {"frame_rate": [1, 2]},
        {"parameters": {"speed": "x"}},
        {"start": "here"},
    ],
)
def test_what_is_no_number_or_pose_is_refused_by_its_name(given):
    with pytest.raises(ValueError, match=next(iter(given.get("parameters", given)))):
        sway(extendable=True, truncatable=True).play(**given)


@pytest.mark.parametrize(
    "pose", [[0, 0, 0], [0, 0, 0, 0, 0, 0, 0], [np.nan, 0, 0, 1, 0, 0, 0]]
)
def test_a_dance_frame_is_a_pose(pose):
    animation = move(
        "arm", "hand_pos", [[0.7, 0, 0.7]] * 2, arm_playback="workspace_dance_frame"
    )
    with pytest.raises(ValueError, match="dance frame 0: expected"):
        animation.play(dance_frames={0: pose})


def test_a_dance_frame_that_is_not_given_is_missed():
    rows = [[0.7, 0, 0.7]] * 2
    parameters = {"arm_dance_frame_id": Parameter(0, 1, 5)}
    animation = move(
        "arm",
        "hand_pos",
        rows,
        arm_playback="workspace_dance_frame",
        parameters=parameters,
    )
    with pytest.raises(ValueError, match="dance frame 1"):
        animation.play(dance_frames={2: NOMINAL})
    assert animation.play() == animation.play(dance_frames={1: stand().frame})


def test_one_keyframe_is_a_pose():
    motion = move("body", "body_z", [0.45]).play()
    assert motion.num_frames > 1
    np.testing.assert_allclose(body(motion)[:, 2], 0.45 + RADIUS, atol=1e-12)


def test_bm_play_is_the_same():
    assert bm.play(sway(), bpm=100) == sway().play(bpm=100)
