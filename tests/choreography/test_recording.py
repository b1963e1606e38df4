"""Motions of Spot as animations, and back."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from moves import RADIUS, body, component, feet, joints, move, same_poses

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from bodymotion.spot.animation import Animation
from bodymotion.spot.playback import stand


def recorded_dance(arm: bool = True) -> bm.Motion:
    """Make a motion somewhere in the world: body and arm move, and a foot is lifted."""
    under = stand().feet - [0, 0, RADIUS]
    up = under.copy()
    up[1, 2] += 0.05
    rows = [
        [*under.ravel(), 0, 0, 0.48, 0, 0, 0, 0.1, -2, 1.9, 0.2, -0.3, 0.4, -0.2],
        [
            *up.ravel(),
            -0.02,
            0.03,
            0.45,
            0.1,
            0.05,
            -0.1,
            0.4,
            -1.6,
            1.9,
            0.2,
            -0.3,
            0.4,
            -1.0,
        ],
        [
            *under.ravel(),
            0.02,
            0,
            0.46,
            0,
            0.1,
            0.2,
            0.0,
            -1.8,
            1.7,
            0.0,
            -0.2,
            0.0,
            0.0,
        ],
    ]
    columns = "foot_pos body_pos body_euler_rpy arm_joints gripper"
    animation = move("legs body arm gripper" if arm else "legs body", columns, rows)
    place = poses.compose(
        [2, 1, RADIUS, *rotations.from_rpy([0, 0, 0.7])], poses.IDENTITY
    )
    return animation.play(frame_rate=50, start=stand(place))


def first_frame(motion: bm.Motion) -> bm.Motion:
    timeline = bm.Timeline.uniform(1, 1.0)
    return bm.Motion(
        tuple(
            dataclasses.replace(c, values=c.values[:1], timeline=timeline)
            for c in motion.timed
        )
    )


@pytest.mark.parametrize("legs", ["joints", "feet"])
@pytest.mark.parametrize("arm", [True, False])
def test_there_and_back(legs, arm):
    motion = recorded_dance(arm)
    animation = Animation.from_motion(motion, legs=legs, name="dance")
    assert animation.controls == (
        ("legs", "body", "arm", "gripper") if arm else ("legs", "body")
    )
    assert animation.keyframes.has("leg_joints" if legs == "joints" else "foot_pos")
    again = animation.play(frame_rate=50, start=first_frame(motion))
    np.testing.assert_allclose(joints(again), joints(motion), atol=1e-9)
    same_poses(body(again), body(motion), 1e-12)
    np.testing.assert_array_equal(
        component(again, "FootContact"), component(motion, "FootContact")
    )


def test_it_survives_its_file(tmp_path):
    animation = Animation.from_motion(recorded_dance(), name="dance", bpm=110)
    bm.save(animation, tmp_path / "dance.cha")
    assert bm.load(tmp_path / "dance.cha") == animation


def test_keyframes_are_in_the_frame_of_the_feet():
    found = Animation.from_motion(recorded_dance(), legs="feet").keyframes
    places = found.column("foot_pos").reshape(-1, 4, 3)
    np.testing.assert_allclose(places[0].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(places[0, :2].mean(axis=0)[1], 0, atol=1e-12)
    assert places[0, 0, 0] > 0
    assert found.column("body_z")[0] == pytest.approx(0.48, abs=1e-9)


def test_contacts_are_inferred_where_the_motion_has_none():
    motion = recorded_dance()
    without = motion.replaced(motion.link_position, motion.joint_displacement)
    contact = Animation.from_motion(without).keyframes.column("contact")
    assert (contact[:, [0, 2, 3]] == 1).all()
    assert (contact[15:35, 1] == 0).all()
    assert contact[0, 1] == contact[-1, 1] == 1


@pytest.mark.parametrize("style", ["fl.hx arm0.sh0 arm0.f1x", "fl_hx arm_sh0 arm_f1x"])
def test_the_names_of_sdk_and_urdf_are_known(style):
    leg, arm, gripper = style.split()
    motion = recorded_dance()
    labels = [
        leg.replace("hx", name[3:]).replace("fl", name[:2])
        for name in motion.joint_displacement.part_labels[:12]
    ]
    labels += [
        arm.replace("sh0", name)
        for name in motion.joint_displacement.part_labels[12:18]
    ] + [gripper]
    order = np.random.default_rng(1).permutation(19)
    shuffled = bm.Motion.from_joints(
        joints(motion)[:, order],
        50,
        root=body(motion),
        joint_names=[labels[k] for k in order],
    )
    assert Animation.from_motion(shuffled, legs="feet").keyframes.values.shape == (
        51,
        30,
    )
    np.testing.assert_array_equal(
        Animation.from_motion(shuffled).keyframes.column("leg_joints"),
        Animation.from_motion(motion).keyframes.column("leg_joints"),
    )


def test_columns_without_names_go_by_their_number():
    motion = recorded_dance(arm=False)
    plain = bm.Motion.from_joints(joints(motion), 50, root=body(motion))
    assert Animation.from_motion(plain).keyframes.column("leg_joints")[
        3
    ] == pytest.approx(joints(motion)[3])


@pytest.mark.parametrize(
    ("motion", "said"),
    [
        (bm.Motion(), "no joint displacements"),
        (bm.Motion.from_joints(np.zeros((3, 7)), 10), "7 joints without names"),
        (
            bm.Motion.from_joints(np.zeros((3, 2)), 10, joint_names=["fl_hx", "WAIST"]),
            "fl_hy",
        ),
        (bm.Motion.from_joints(np.zeros((0, 12)), 10), "no frames"),
        (bm.Motion.from_joints(np.full((2, 12), np.nan), 10), "not finite"),
    ],
)
def test_what_is_no_motion_of_spot_is_refused(motion, said):
    with pytest.raises(ValueError, match=said):
        Animation.from_motion(motion)


def test_a_motion_without_a_root_stands():
    motion = recorded_dance(arm=False)
    animation = Animation.from_motion(motion.replaced(motion.joint_displacement))
    assert animation.keyframes.column("body_z")[0] == pytest.approx(0.48, abs=1e-9)
    assert feet(animation.play()).shape[1:] == (4, 3)


def test_contacts_and_names_go_through_a_table_and_back(tmp_path):
    stance = np.array([[1, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 1]], float)
    columns = tuple(
        f"{leg}_{joint}"
        for leg in ("fl", "fr", "hl", "hr")
        for joint in ("hx", "hy", "kn")
    )
    joints = bm.MultiValueSeq(
        content="JointDisplacement",
        timeline=bm.Timeline.uniform(4, 10.0),
        values=np.tile([0.0, 0.8, -1.6], (4, 4)),
        part_labels=columns,
    )
    contacts = bm.MultiValueSeq(
        content="FootContact", timeline=joints.timeline, values=stance
    )
    bm.save(bm.Motion((joints, contacts)), tmp_path / "trot.csv")
    animation = bm.Animation.from_motion(bm.load(tmp_path / "trot.csv"), name="trot")
    np.testing.assert_array_equal(animation.keyframes.column("contact"), stance)
    assert [problem.rule for problem in animation.problems] == ["LOSS076"], (
        "nothing says where the body is"
    )
