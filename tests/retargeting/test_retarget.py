"""Recorded motion made one of a robot: laws that hold for every source, and the roles that names of real files state."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import sys
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry import rotations
from bodymotion.retargeting.feet import PATCH, roll_on_ground
from bodymotion.retargeting.figures import figure_of_body, figure_of_skeleton
from bodymotion.retargeting.soles import Sole
from bodymotion.skeleton import CHANNELS
from bodymotion.spot.playback import spot_body
from sample_files import ACCEPT, ROOT, corpus_files

BIPED, WALK = ROOT / "examples" / "biped.wrl", ROOT / "examples" / "biped_walk.seq"
RATE = 50.0


@pytest.fixture(scope="module")
def biped():
    return bm.load_body(BIPED)


@pytest.fixture(scope="module")
def walk(biped):
    """Four seconds of the walk, by a larger figure, as recorded motion whose names say nothing but left and right."""
    motion = bm.load_motion(WALK)
    skeleton = bm.retargeting.to_skeleton(biped, motion, RATE)
    short = {"L": "Left", "R": "Right"}
    names = [
        f"{short.get(n.split('_')[0], 'Mid')}{k}" for k, n in enumerate(skeleton.names)
    ]
    joints = [
        dataclasses.replace(j, name=name)
        for j, name in zip(skeleton.joints, names, strict=True)
    ]
    return dataclasses.replace(
        skeleton,
        joints=tuple(joints),
        values=skeleton.values[100:300],
        known_unit=0.012,
    )


@pytest.fixture(scope="module")
def walked(biped, walk):
    """The walk by the robot, to compare with."""
    return bm.retarget(walk, biped)


@cache
def model_in(path):
    """Return the body in a file, which is read once."""
    return bm.load_body(path)


@cache
def figure_in(path):
    """Return the figure of the body in a file, which is found once."""
    return figure_of_body(model_in(path))


@cache
def clip_in(path):
    """Return the recorded motion in a file, which is read once."""
    return bm.load_skeleton(path)


def joints_of(body, motion):
    return body.joint_values(motion.joint_displacement)


def test_robot_to_skeleton_to_robot(biped, tmp_path):
    motion = bm.load_motion(WALK)
    skeleton = bm.retargeting.to_skeleton(biped, motion, RATE)
    renamed = [
        dataclasses.replace(joint, name=f"J{k}")
        for k, joint in enumerate(skeleton.joints)
    ]
    bm.save(dataclasses.replace(skeleton, joints=tuple(renamed)), tmp_path / "walk.bvh")
    back = bm.retarget(bm.load_skeleton(tmp_path / "walk.bvh"), biped)
    old = motion.resample(RATE)
    assert (
        np.degrees(np.abs(joints_of(biped, back) - joints_of(biped, old)).max()) < 0.1
    )
    assert (
        np.abs(
            back.link_position.values[:, 0, :3] - old.link_position.values[:, 0, :3]
        ).max()
        < 1e-6
    )


def test_a_rate_in_is_a_rate_out(biped, tmp_path):
    """What needs a fixed rate works on the result: repeating it, and windows for training."""
    rate = 30000 / 1001
    motion = bm.load_motion(WALK).resample(rate)[2.0:3.0]
    skeleton = bm.retargeting.to_skeleton(biped, motion, rate)
    renamed = [
        dataclasses.replace(j, name=f"{j.name.split('_')[0]}_{k}")
        for k, j in enumerate(skeleton.joints)
    ]
    person = dataclasses.replace(skeleton, joints=tuple(renamed), known_unit=0.012)
    results = {
        "a person": bm.retarget(person, biped),
        "the same links": bm.retarget(skeleton, biped),
        "a robot": bm.retarget(motion, biped, source_body=biped),
        "beside its source": bm.retargeting.side_by_side(person, biped, motion)[1],
        "a quadruped": bm.retarget(person, spot_body(arm=False)),
    }
    assert {name: one.frame_rate for name, one in results.items()} == dict.fromkeys(
        results, pytest.approx(rate, rel=1e-12)
    )
    assert all(one.num_frames == motion.num_frames for one in results.values())
    bm.save(results["a person"], tmp_path / "walk.seq")
    again = bm.load_motion(tmp_path / "walk.seq")
    assert bm.editing.loop(again, 2).num_frames == 2 * motion.num_frames - 1
    tensors = bm.open_collection(tmp_path).to_tensors(4, body=biped, workers=1)
    assert tensors.frame_rate == pytest.approx(rate)
    assert not tensors.left_out
    assert tensors.mask.sum() == motion.num_frames


def test_time_stamps_of_a_source_stay(biped):
    stamps = np.cumsum([0.0, *([0.01, 0.03] * 20)])
    motion = bm.load_motion(WALK)
    values = joints_of(biped, motion)[200:241]
    root = motion.link_position.values[200:241, 0]
    source = bm.Motion.from_joints(values, times=stamps, root=root)
    result = bm.retarget(source, biped, source_body=biped)
    assert np.array_equal(result.times, stamps)
    assert result.frame_rate is None


def test_a_fall_in_the_simulation_is_reported_and_fails(biped, tmp_path):
    """A robot that leans forward by 0.4 rad about its ankles has its centre of mass ahead of its toes, and falls."""
    pytest.importorskip("mujoco")
    names = [joint.name for joint in biped.joints]
    q = np.zeros((60, biped.num_joints))
    for side in "LR":
        q[:, names.index(f"{side}_ANKLE_PITCH")] = 0.4
    foot = biped.link("L_ANKLE_ROLL").index
    upright = biped.forward_kinematics(np.zeros_like(q))[:, foot]
    inclined = biped.forward_kinematics(q)
    # The foot is where it is in the upright pose.
    to_foot = bm.poses.compose(upright, bm.poses.inverse(inclined[:, foot]))
    root = bm.poses.compose(to_foot, inclined[:, 0])
    motion = bm.Motion.from_joints(q, 30, root=root, joint_names=names)
    center = bm.dynamics.measure(biped, motion).center_of_mass[0]
    assert abs(center[0] - upright[0, 0]) > 0.2
    bm.save(motion, tmp_path / "lean.seq")
    command = ["retarget", tmp_path / "lean.seq", BIPED, "--source-body", BIPED]
    options = ["-o", tmp_path / "out.seq", "--simulate", "--json"]
    result = CliRunner().invoke(app, [str(word) for word in (*command, *options)])
    assert result.exit_code == 1, result.output
    data = json.loads(result.stdout)
    assert 0.2 < data["fall"] < 2.0 and data["diverged"] is False


def test_feet_stay_and_limbs_follow(biped, walk, walked):
    found = bm.retargeting.compare_retarget(walk, biped, walked)
    assert max(found.reach.values()) < 0.02
    assert np.degrees(max(found.directions.values())) < 5
    assert sum(found.slide.values()) < 0.01
    assert found.penetration < 0.005
    assert found.contact_agreement > 0.9
    assert (found.joint_jumps, found.root_jumps, found.limit_violations) == (0, 0, 0)


@settings(deadline=None)
@given(
    arrays(float, (12, 3), elements=st.floats(-0.1, 0.1)),
    arrays(float, (8, 3), elements=st.floats(-0.5, 0.5)),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_a_foot_rolls_on_the_ground_without_sliding(points, rpy, on):
    """Of a foot in contact, the middle of what touches the ground in a frame is at the same place in the next one."""
    points = points - [0.0, 0.0, 0.1]
    sole, on = Sole(points, 0.1, 0.1, 0.2, 0.1, 0.1), np.array(on)
    feet = np.concatenate([rpy, rotations.from_rpy(rpy)], axis=1)
    rolled = roll_on_ground(feet, on, np.ones(len(on)), sole)
    placed = rolled[:, None, :3] + rotations.rotate(rolled[:, None, 3:], points)
    heights = placed[..., 2]
    assert np.abs(heights.min(axis=1))[on].max(initial=0.0) < 1e-9
    assert np.array_equal(rolled[:, 3:], feet[:, 3:])
    for t in np.flatnonzero(on[1:] & on[:-1]):
        touching = heights[t] <= heights[t].min() + PATCH
        assert (
            np.abs((placed[t + 1] - placed[t])[touching].mean(axis=0)[:2]).max() < 1e-9
        )
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(int)))
    for first, after in edges.reshape(-1, 2):
        assert np.abs((rolled - feet)[first:after, :2].mean(axis=0)).max() < 1e-9


def test_result_does_not_depend_on_the_first_frame(biped, walk, walked):
    later = dataclasses.replace(walk, values=walk.values[1:])
    one, other = (
        joints_of(biped, motion) for motion in (walked, bm.retarget(later, biped))
    )
    settled = int(0.5 * RATE)
    assert np.degrees(np.abs(one[1 + settled :] - other[settled:]).max()) < 1


ROBOTS = (
    "wrl/*/share/model/SR1/SR1.wrl",
    "wrl/*/vrml/HRP4Cmain.wrl",
    "wrl/*/share/model/RIC30/RIC30.wrl",
    "wrl/*/share/model/GR001/GR001.wrl",
    "body/*/model/JAXON2/JAXON2.body",
    "robots/*/*/booster_t1/*.xml",
    "robots/*/*/unitree_g1/*.xml",
    "robots/**/atlas.xml",
)
CLIPS = ("mocap/**/cmu_12_01_walk.bvh", "mocap/**/01_01.bvh")
LONG = (
    "mocap/**/dance1_subject2.bvh",
    "mocap/**/Xsens_mocap/walk.bvh",
    "mocap/**/D0429_*.bvh",
    "mocap/**/bvh_test1.bvh",
)


def taken_in_turn(firsts, seconds):
    """Return all pairs in acceptance, else each of the second things with one of the first, taken in turn."""
    pairs = [(first, second) for first in firsts for second in seconds]
    return (
        pairs
        if ACCEPT or not firsts
        else [(firsts[k % len(firsts)], second) for k, second in enumerate(seconds)]
    )


@pytest.mark.parametrize(
    ("clip", "path"),
    taken_in_turn(
        corpus_files(*CLIPS, *(LONG if ACCEPT else ())), corpus_files(*ROBOTS)
    ),
    ids=lambda path: path.stem,
)
def test_results_of_robots_do_not_depend_on_the_first_and_the_last_frame(path, clip):
    """The files of CMU begin with a pose for calibration, the arms of JAXON2 are redundant, and Atlas is moved by joints of its root."""
    body, source = model_in(path), clip_in(clip)
    source = (
        source if ACCEPT else dataclasses.replace(source, values=source.values[:265])
    )
    later, shorter = (
        dataclasses.replace(source, values=source.values[part])
        for part in (np.s_[1:], np.s_[:-1])
    )
    one, again, other, less = (
        joints_of(body, bm.retarget(part, body))
        for part in (source, source, later, shorter)
    )
    settled = int(0.5 / source.frame_time) + 1
    assert np.degrees(np.abs(one[1 + settled :] - other[settled:]).max()) < 1
    assert (
        np.degrees(np.abs(one[: -1 - settled] - less[:-settled]).max(axis=1)).mean() < 1
    )
    assert np.array_equal(one, again)


class Moved(bm.Skeleton):
    """A recorded person, rotated by 90° about the vertical."""

    def joint_poses(self):
        quarter = np.array(
            [0.0, 0.0, 0.0, *bm.rotations.from_rpy([0.0, 0.0, 0.5 * np.pi])]
        )
        return bm.poses.compose(quarter, super().joint_poses())


class Mirrored(bm.Skeleton):
    """A recorded person, mirrored at the plane y = 0, with the names of the other side."""

    def joint_poses(self):
        return np.array(super().joint_poses()) * [1, -1, 1, 1, -1, 1, -1]


def as_kind(kind, source, **changes):
    """Return a skeleton of a class, with some fields changed."""
    fields = {
        field.name: getattr(source, field.name) for field in dataclasses.fields(source)
    }
    return kind(**fields | changes)


def mirrored(source):
    other = {"Left": "Right", "Right": "Left"}
    names = [
        re.sub("Left|Right", lambda found: other[found[0]], name)
        for name in source.names
    ]
    joints = [
        dataclasses.replace(
            joint,
            name=name,
            ends=joint.ends * [1, -1, 1] if len(joint.ends) else joint.ends,
        )
        for joint, name in zip(source.joints, names, strict=True)
    ]
    return as_kind(Mirrored, source, joints=tuple(joints))


@pytest.fixture(scope="module")
def dance():
    return bm.load_skeleton(next(iter(corpus_files(LONG[0]))))


@pytest.mark.parametrize(
    ("first", "path"),
    taken_in_turn([1552, 3104, 3686], corpus_files(*ROBOTS[:2], ROBOTS[6])),
    ids=lambda value: getattr(value, "stem", value),
)
def test_rounding_of_a_source_changes_nothing(path, first, dance):
    """Near the ends of these parts of the dance a leg is straight: its rotation about itself followed the last digits, by 12° or more."""
    body, source = (
        model_in(path),
        dataclasses.replace(dance, values=dance.values[first : first + 90]),
    )
    noise = 1e-9 * np.random.default_rng(0).standard_normal(source.values.shape)
    sources = (
        source,
        dataclasses.replace(source, values=source.values + noise),
        as_kind(Moved, source),
    )
    expected, *found = (joints_of(body, bm.retarget(one, body)) for one in sources)
    assert np.degrees(np.abs(np.array(found) - expected).max()) < 0.1


@pytest.mark.parametrize(
    ("first", "path"),
    taken_in_turn([900, 1500, 3400], corpus_files(*ROBOTS[:2], ROBOTS[6])),
    ids=lambda value: getattr(value, "stem", value),
)
def test_a_mirrored_person_gives_the_mirrored_motion(path, first, dance):
    """HRP-4C's shells are not quite symmetric, and the first shape of its shin is oblique."""
    from bodymotion.editing import mirror

    body, source = (
        model_in(path),
        dataclasses.replace(
            dance, values=dance.values[first : first + (505 if ACCEPT else 255)]
        ),
    )
    expected = joints_of(body, mirror(bm.retarget(source, body), body))
    difference = np.abs(
        joints_of(body, bm.retarget(mirrored(source), body)) - expected
    ).max(axis=1)
    assert np.quantile(np.degrees(difference), 0.98) < 1


@pytest.mark.parametrize("path", corpus_files(ROBOTS[1]), ids=lambda path: path.stem)
def test_fingers_stay_still(path, dance):
    """The palm of HRP-4C was the link of its fingers, which are named HAND: they moved by up to 15°."""
    body, source = (
        bm.load_body(path),
        dataclasses.replace(dance, values=dance.values[3400:3490]),
    )
    fingers = [
        k for k, link in enumerate(body.joint_links) if "HAND" in body.links[link].name
    ]
    assert len(fingers) == 6
    assert np.abs(joints_of(body, bm.retarget(source, body))[:, fingers]).max() < 1e-9


@pytest.mark.parametrize("path", corpus_files(ROBOTS[0]), ids=lambda path: path.stem)
def test_no_link_is_deep_in_the_ground(path, dance):
    """The blocks of SR1's ankles were 15 mm deep, since only soles were kept above the ground."""
    body, source = (
        model_in(path),
        dataclasses.replace(dance, values=dance.values[2100:2200]),
    )
    assert (
        bm.retargeting.compare_retarget(
            source, body, bm.retarget(source, body)
        ).penetration
        < 0.005
    )


def test_roles_of_people_do_not_depend_on_what_they_do(dance):
    placed = dance.joint_poses()
    whole = figure_of_skeleton(dance, placed).points
    for first in range(0, len(placed), 131):
        found = figure_of_skeleton(dance, placed[first : first + 131]).points
        assert {role: joint for role, (joint, _) in found.items()} == {
            role: k for role, (k, _) in whole.items()
        }


UNNAMED = (
    *ROBOTS[2:4],
    ROBOTS[6],
    ROBOTS[0],
    "robots/*/*/unitree_g1/*29dof.urdf",
    "body/*/model/*g1_29dof*.body",
)


def test_tracks_are_no_legs(tmp_path):
    """A chain of forty joints on both sides was two legs with feet that are longer than they."""

    def chain(count):
        inner = chain(count - 1) if count > 1 else ""
        return f'<body pos="0 0 -.1"><joint axis="0 1 0"/><geom size=".02" mass="1"/>{inner}</body>'

    for count, has_legs in ((8, True), (40, False)):
        sides = "".join(
            f'<body pos="0 {y} 0"><geom size=".02" mass="1"/>{chain(count)}</body>'
            for y in (-0.2, 0.2)
        )
        path = tmp_path / f"{count}.xml"
        root = f'<body><freejoint/><geom size=".1" mass="9"/>{sides}</body>'
        path.write_text(f"<mujoco><worldbody>{root}</worldbody></mujoco>")
        with (
            contextlib.nullcontext()
            if has_legs
            else pytest.raises(ValueError, match=f"{count}.xml.*two or four legs")
        ):
            assert "left knee" in figure_of_body(bm.load_body(path)).points
    for path in corpus_files("body/**/ContinuousTrackVehicle.body"):
        with pytest.raises(ValueError, match=path.name):
            figure_of_body(model_in(path))


@pytest.mark.parametrize("path", corpus_files(*UNNAMED), ids=lambda path: path.name)
def test_roles_of_robots_without_names(path):
    body = model_in(path)
    unnamed = dataclasses.replace(
        body,
        links=tuple(dataclasses.replace(k, name=f"link{k.index}") for k in body.links),
    )
    one, other = (figure_of_body(model).rest for model in (body, unnamed))
    assert one.keys() == other.keys()
    assert max(np.linalg.norm(at - other[role]) for role, at in one.items()) < 1e-6


@pytest.mark.parametrize(
    "path",
    corpus_files(*ROBOTS[:3], ROBOTS[4], *ROBOTS[6:], *UNNAMED[4:]),
    ids=lambda path: path.name,
)
@pytest.mark.parametrize("axis", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)])
def test_roles_of_robots_that_lie(path, axis):
    """Those on a side are as high as they are wide: they were taken for upright ones, some with wrong roles."""
    body = model_in(path)
    rotation = np.array(
        [0.0, 0.0, 0.0, *bm.rotations.from_axis_angle(axis, 0.5 * np.pi)]
    )
    lying = dataclasses.replace(
        body, root_pose=bm.poses.compose(rotation, body.root_pose)
    )
    one, other = figure_in(path), figure_of_body(lying)
    assert {role: k for role, (k, _) in one.points.items()} == {
        role: k for role, (k, _) in other.points.items()
    }
    assert (
        max(
            abs(
                one.rest[role][2]
                - other.rest[role][2]
                - one.reference[0, 2]
                + other.reference[0, 2]
            )
            for role in one.rest
        )
        < 0.002
    )


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_who_bends_is_bent(biped, share):
    """By 0.4 rad in a share of the frames: what is upright is found by the spine, also where the person is never upright."""
    motion = bm.load_motion(WALK)[100:500]
    joints = biped.joint_values(motion.joint_displacement).copy()
    names = [joint.name for joint in biped.joints]
    bends = 0.4 * np.clip(
        (np.linspace(0, 1, len(joints)) - (1 - share)) * 10, 0 if share < 1 else 1, 1
    )
    joints[:, names.index("CHEST_PITCH")] = bends
    source = bm.Motion.from_joints(
        joints, 100.0, root=motion.link_position.values[:, 0], joint_names=names
    )
    back = bm.retarget(source, biped, source_body=biped)
    skeleton = dataclasses.replace(
        bm.retargeting.to_skeleton(biped, source), known_unit=0.012
    )
    again = bm.retarget(skeleton, biped)
    for found in (back, again):
        pitch = biped.link_poses(found)[
            :, [link.name for link in biped.links].index("CHEST_PITCH"), 3:
        ]
        leans = bm.rotations.to_rpy(pitch)[:, 1]
        at = np.interp(found.times, source.times, bends)
        steady = (at == 0) | (at == 0.4)
        assert np.abs(leans - at)[steady].mean() < (0.15 if share == 1 else 0.1)


def changed(body, name, change):
    """Return a body with one link, `change` of it."""
    links = [change(link) if link.name == name else link for link in body.links]
    return dataclasses.replace(body, links=tuple(links))


@pytest.mark.parametrize("root", ["free", "fixed"])
@pytest.mark.parametrize(
    "axis", [(0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0), (0, 0, 1)]
)
def test_how_a_model_lies_and_whether_it_is_fixed_changes_nothing(
    root, axis, biped, walk, walked
):
    """Some models lie on the front, the back or a side, and some have no free joint, since a program adds it."""
    rotation = np.array(
        [0.0, 0.0, 0.0, *bm.rotations.from_axis_angle(axis, 0.5 * np.pi)]
    )

    def change(link):
        joint = dataclasses.replace(link.joint, type=root)
        return dataclasses.replace(link, joint=joint)

    body = dataclasses.replace(
        changed(biped, biped.links[0].name, change), root_pose=rotation
    )
    found = bm.retarget(walk, body)
    assert (
        np.degrees(np.abs(joints_of(biped, walked) - joints_of(body, found)).max())
        < 0.1
    )
    assert (
        np.abs(
            walked.link_position.values[:, 0, :3] - found.link_position.values[:, 0, :3]
        ).max()
        < 0.001
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_feet_that_are_oblique_with_all_joints_at_0_are_level_on_the_ground(
    axis, biped, walk
):
    """Their soles were taken for level ones, and went 80 mm into the ground, as those of the Berkeley Humanoid."""
    rotation = np.array(
        [0.0, 0.0, 0.0, *bm.rotations.from_axis_angle(np.eye(3)[axis], 0.15)]
    )
    body = biped
    for name in ("L_ANKLE_ROLL", "R_ANKLE_ROLL"):
        body = changed(
            body,
            name,
            lambda link: dataclasses.replace(
                link, offset=bm.poses.compose(link.offset, rotation)
            ),
        )
    motion = bm.retarget(walk, body)
    found = bm.retargeting.compare_retarget(walk, body, motion)
    assert found.penetration < 0.005
    assert found.float_share < 0.02
    assert sum(found.slide.values()) < 0.02
    for name in ("L_ANKLE_ROLL", "R_ANKLE_ROLL"):
        foot = body.link_poses(motion)[
            :, [link.name for link in body.links].index(name)
        ]
        up = bm.rotations.rotate(foot[:, 3:], np.eye(3)[2])[
            foot[:, 2] < np.quantile(foot[:, 2], 0.3)
        ]
        assert np.degrees(np.arccos(up[:, 2])).max() < 1


def test_goals_of_an_animator_are_no_limbs(walk, biped, walked):
    """Copies of the feet and the hands, held by a root on the ground, as in skeletons of Unreal."""
    root = bm.skeleton.SkeletonJoint(name="root", channels=())
    positions = walk.joint_positions(as_read=True)
    joints, columns = (
        [dataclasses.replace(joint, parent=joint.parent + 1) for joint in walk.joints],
        [walk.values],
    )
    joints[0] = dataclasses.replace(joints[0], offset=np.zeros(3))
    joints.append(bm.skeleton.SkeletonJoint(name="ik_root", parent=0, channels=()))
    holder = len(joints)
    points = figure_of_skeleton(walk, walk.joint_poses()).points
    for part in ("ankle", "wrist"):
        for side in ("left", "right"):
            at = positions[:, points[f"{side} {part}"][0]]
            joints.append(
                bm.skeleton.SkeletonJoint(
                    name=f"ik_{part}_{side[0]}", parent=holder, channels=CHANNELS[:3]
                )
            )
            columns.append(at)
    source = dataclasses.replace(
        walk, joints=(root, *joints), values=np.concatenate(columns, axis=1)
    )
    one, other = (
        joints_of(biped, motion) for motion in (walked, bm.retarget(source, biped))
    )
    assert np.degrees(np.abs(one - other).max()) < 0.01


@pytest.mark.parametrize("far", [50.0, 400.0])
def test_a_helper_above_the_hips_is_no_limb(biped, walk, far):
    """A joint that only holds the hips, as files of some programs have it at the origin, changes nothing."""
    helper = bm.skeleton.SkeletonJoint(name="Reference", channels=())
    joints = [
        dataclasses.replace(joint, parent=joint.parent + 1) for joint in walk.joints
    ]
    joints[0] = dataclasses.replace(joints[0], offset=np.zeros(3))
    values = walk.values.copy()
    values[:, 0] += far
    moved = dataclasses.replace(walk, values=values)
    held = dataclasses.replace(walk, joints=(helper, *joints), values=values)
    one, other = (
        joints_of(biped, bm.retarget(source, biped)) for source in (moved, held)
    )
    assert np.degrees(np.abs(one - other).max()) < 0.01


def test_without_arms(biped, walk, walked):
    names = walk.names
    legs = [
        0,
        *(
            k
            for k, link in enumerate(biped.links)
            if link.name[2:5] in ("HIP", "KNE", "ANK")
        ),
    ]
    kept = np.concatenate([list(walk.columns(k)) for k in legs]).astype(int)
    joints = [
        dataclasses.replace(
            walk.joints[k], parent=legs.index(max(walk.parents[k], 0)) if k else -1
        )
        for k in legs
    ]
    found = bm.retarget(
        dataclasses.replace(walk, joints=tuple(joints), values=walk.values[:, kept]),
        biped,
    )
    assert len(names) > len(legs)
    knee = [joint.name for joint in biped.joints].index("L_KNEE")
    assert (
        np.degrees(
            np.abs(joints_of(biped, found) - joints_of(biped, walked))[:, knee].max()
        )
        < 5
    )


def test_arms_without_joints_stay_where_they_are(biped, walk):
    """Their roles are named, and no joint is left that could move a hand to its goal: the largest angle of none was an error."""
    columns, links = iter(range(biped.num_joints)), []
    for link in biped.links:
        joint, is_leg = (
            link.joint,
            link.name[2:5] in ("HIP", "KNE", "ANK")
            or link.name in ("WAIST", "CHEST_PITCH"),
        )
        moves = joint.id >= 0 and is_leg
        changed = (
            {"id": next(columns)}
            if moves
            else {"id": -1, "type": joint.type if is_leg else "fixed"}
        )
        links.append(
            dataclasses.replace(link, joint=dataclasses.replace(joint, **changed))
        )
    stiff = dataclasses.replace(biped, links=tuple(links))
    roles = {
        role: biped.links[link].name
        for role, (link, _) in figure_of_body(biped).points.items()
    }
    short = dataclasses.replace(walk, values=walk.values[:20])
    assert (
        0
        < joints_of(stiff, bm.retarget(short, stiff, roles=roles)).shape[1]
        < biped.num_joints
    )


def test_a_pose_for_calibration_is_not_of_the_motion(biped, walk):
    """Its first frame, in which all joints are far from the second one, is as the second one; the motion begins without a jump."""
    values = walk.values.copy()
    values[0] = 0.0
    calibrated = dataclasses.replace(walk, values=values)
    motion = bm.retarget(calibrated, biped)
    assert (
        "SKEL102" in {problem.rule for problem in bm.check(calibrated).problems}
        and not motion.problems
    )
    expected = bm.retarget(
        dataclasses.replace(walk, values=walk.values[[1, *range(1, 200)]]), biped
    )
    assert np.abs(joints_of(biped, motion) - joints_of(biped, expected)).max() < 1e-6
    assert np.abs(np.diff(motion.link_position.values[:, 0, :3], axis=0)).max() < 0.05


def test_full_turns_in_angles_of_a_recording_change_nothing(biped, walk, walked):
    """Many files keep angles within ±180°: an orientation there comes back as its other quaternion."""
    angles = np.array(
        [
            channel.endswith("rotation")
            for joint in walk.joints
            for channel in joint.channels
        ]
    )
    turns = (
        np.where(np.random.default_rng(0).random(walk.values.shape) < 0.02, 360.0, 0.0)
        * angles
    )
    turned = bm.retarget(dataclasses.replace(walk, values=walk.values + turns), biped)
    assert (
        np.degrees(np.abs(joints_of(biped, walked) - joints_of(biped, turned)).max())
        < 1e-6
    )
    placed, again = (biped.link_poses(motion)[..., :3] for motion in (walked, turned))
    assert np.abs(placed - again).max() < 1e-9


def test_velocity_limits_are_kept(biped, walk, walked):
    """No joint is faster than its limit, and nothing becomes sudden, where all limits are below what the walk needs."""
    speeds = np.abs(np.diff(joints_of(biped, walked), axis=0)).max(axis=0) * RATE
    slow = dict(zip(biped.joint_links, np.maximum(0.6 * speeds, 0.1), strict=True))
    links = [
        dataclasses.replace(
            k, joint=dataclasses.replace(k.joint, velocity_lower=-v, velocity_upper=v)
        )
        if (v := slow.get(k.index)) is not None
        else k
        for k in biped.links
    ]
    body = dataclasses.replace(biped, links=tuple(links))
    found = bm.retargeting.compare_retarget(walk, body, bm.retarget(walk, body))
    assert (
        found.speed_violations,
        found.limit_violations,
        found.joint_jumps,
        found.root_jumps,
    ) == (0, 0, 0, 0)
    assert found.penetration < 0.005
    assert sum(found.slide.values()) < 0.05


def with_velocities(body, limit):
    links = [
        dataclasses.replace(
            x,
            joint=dataclasses.replace(
                x.joint, velocity_lower=-limit, velocity_upper=limit
            ),
        )
        for x in body.links
    ]
    return dataclasses.replace(body, links=tuple(links))


def test_a_velocity_limit_of_0_is_none(biped):
    """As for `retarget`, and in the rule about speeds; in the figures each frame was beyond it."""
    motion = bm.load_motion(WALK).resample(RATE)[2.0:3.0]
    slow = {limit: with_velocities(biped, limit) for limit in (0.0, 0.01)}
    counts = {
        k: bm.retargeting.compare_retarget(
            motion, x, motion, source_body=x
        ).speed_violations
        for k, x in slow.items()
    }
    assert counts == {0.0: 0, 0.01: motion.num_frames - 1}
    rules = {
        k: {problem.rule for problem in bm.check(motion, body=x).problems}
        for k, x in slow.items()
    }
    assert "MOT205" not in rules[0.0] and {"MOT205", "MOT210"} & rules[0.01]


def test_figures_are_of_all_links_and_of_what_both_motions_have(biped):
    """Only feet were looked at, and a motion of another length passed for one of the source."""
    motion = bm.load_motion(WALK).resample(RATE)[2.0:3.0]
    point = bm.shapes.Shape(
        bm.shapes.Box((0.0, 0.0, 0.0)),
        np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1.5], [0, 0, 0, 1.0]]),
    )
    links = list(biped.links)
    waist = biped.link("WAIST").index
    links[waist] = dataclasses.replace(
        links[waist], segments=(*links[waist].segments, bm.Segment(collisions=(point,)))
    )
    body = dataclasses.replace(biped, links=tuple(links))
    found = bm.retargeting.compare_retarget(
        motion, body, motion[:0.5], source_body=biped
    )
    placed = body.link_poses(motion[:0.5])[:, waist]
    low = (placed[:, :3] + rotations.rotate(placed[:, 3:], [0.0, 0.0, -1.5]))[
        :, 2
    ].min()
    assert found.penetration == pytest.approx(-low, abs=1e-6)
    bare = dataclasses.replace(
        biped,
        links=tuple(dataclasses.replace(link, segments=()) for link in biped.links),
    )
    assert (
        0.0
        <= bm.retargeting.compare_retarget(
            motion,
            bare,
            bm.retarget(motion, bare, source_body=biped),
            source_body=biped,
        ).penetration
        < 0.005
    )
    assert (found.frames, found.unmatched) == (26, pytest.approx(0.5))


def test_a_sliding_joint_that_jumps_is_smoothed():
    """As in models of LocoMuJoCo, whose roots are moved by sliding joints: `check` finds the jump before, and none after."""
    from bodymotion.checks.findings import Sampling
    from bodymotion.checks.physics.sudden import jumps_of_joints
    from bodymotion.diagnostics import Location
    from bodymotion.retargeting.speeds import filter_sudden_changes

    slide = bm.Link(
        name="cart", index=1, parent=0, joint=bm.Joint(name="x", type="slide", id=0)
    )
    body = bm.Body(
        name="cart",
        links=(bm.Link(name="rail", joint=bm.Joint(name="rail", type="fixed")), slide),
    )
    times = np.arange(100) / RATE
    q = 0.1 * (times > 1.0)[:, None]
    smooth, _ = filter_sudden_changes(
        body, q, np.tile([0.0, 0, 0, 1, 0, 0, 0], (100, 1)), times, [0]
    )
    frames = Sampling(np.arange(100), times, lambda _: Location(""))
    before, after = (jumps_of_joints(values, frames, body) for values in (q, smooth))
    assert before
    assert not after


def test_hands_stay_out_of_the_thighs(biped):
    """MuJoCo finds the hands of the source in its thighs in all frames, those of the result in hardly any; the feet do not slide for it."""
    from bodymotion.checks.physics.collisions import find_collisions

    pytest.importorskip("mujoco")
    motion = bm.load_motion(WALK).resample(RATE)[100:200]
    names = [joint.name for joint in biped.joints]
    q = joints_of(biped, motion).copy()
    for side, sign in (("R", 1.0), ("L", -1.0)):
        for part, angle in (
            ("SHOULDER_ROLL", 0.2 * sign),
            ("SHOULDER_PITCH", 0.0),
            ("ELBOW", -0.3),
        ):
            q[:, names.index(f"{side}_{part}")] = angle
    root = motion.link_position.values[:, 0]
    source = bm.Motion.from_joints(q, RATE, root=root, joint_names=tuple(names))
    result = bm.retarget(source, biped, source_body=biped)
    moved = joints_of(biped, result), result.link_position.values[:, 0]
    before, after = (
        set(find_collisions(biped, *posture).frames.tolist())
        for posture in ((q, root), moved)
    )
    assert len(before) == len(q)
    assert len(after) < 0.1 * len(q)
    found = bm.retargeting.compare_retarget(source, biped, result, source_body=biped)
    assert sum(found.slide.values()) < 0.01
    assert found.joint_jumps == 0


def test_mirrored_source_gives_the_mirrored_result(biped, walk):
    from bodymotion.editing import mirror

    motion = bm.load_motion(WALK).resample(RATE)[100:300]
    result = bm.retarget(motion, biped, source_body=biped)
    mirrored = bm.retarget(mirror(motion, biped), biped, source_body=biped)
    difference = joints_of(biped, mirrored) - joints_of(biped, mirror(result, biped))
    assert np.degrees(np.abs(difference).max()) < 1


@pytest.mark.parametrize(
    "name",
    [None, *corpus_files(*ROBOTS[:3], *ROBOTS[5:])],
    ids=lambda path: getattr(path, "stem", "biped"),
)
def test_a_robot_whose_knees_are_fixed_has_none(name, biped):
    """Its ankles were taken for knees."""
    body = bm.load_body(name) if name else biped
    figure = figure_of_body(body)
    for side in ("left", "right"):
        knee = figure.names[figure.points[f"{side} knee"][0]]
        body = changed(
            body,
            knee,
            lambda link: dataclasses.replace(
                link, joint=dataclasses.replace(link.joint, type="fixed")
            ),
        )
    with pytest.raises(ValueError, match="found no knees"):
        figure_of_body(body)


PARTS = {
    "knee": "knee|shin|shank|leg_?(link|joint)?3|legx?$|lleg|(?<!up)leg$",
    "ankle": "ankle|foot|talus|link5",
    "elbow": "elbow|forearm|larm$|link4|a[lr]4",
    "hip": "hip|leg|uleg|link2",
    "shoulder": "shoulder|arm|sh_|a[lr][123]|uarm|link3",
}
"""What names of joints with these roles hold, in all sample files; cases do not matter."""


@pytest.mark.parametrize(
    "path", corpus_files("mocap/**/*.bvh"), ids=lambda path: path.stem
)
def test_roles_of_recorded_people(path):
    skeleton = clip_in(path)
    if not skeleton.up_is_known:
        with pytest.raises(ValueError, match="two or four legs"):
            bm.retarget(skeleton, bm.load_body(BIPED))
        return
    figure = figure_of_skeleton(skeleton, skeleton.joint_poses())
    for role, (joint, _) in figure.points.items():
        side, _, part = role.rpartition(" ")
        name = figure.names[joint].lower()
        assert name.startswith(side[:1]) or side in name
        assert re.search(PARTS.get(part, ""), name)


def work_of(joints):
    """Return how many functions are called to find the figure of joints with (parent, offset), and the error."""
    named = [
        bm.skeleton.SkeletonJoint(
            name=f"j{k}", parent=parent, offset=np.array(offset, dtype=float)
        )
        for k, (parent, offset) in enumerate(joints)
    ]
    skeleton = bm.Skeleton(joints=tuple(named), values=np.zeros((1, 0)), known_up="Z")
    calls, error = 0, ""

    def count(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    placed, before = skeleton.joint_poses(), sys.getprofile()
    sys.setprofile(count)
    try:
        figure_of_skeleton(skeleton, placed)
    except ValueError as found:
        error = str(found)
    finally:
        sys.setprofile(before)
    return calls, error


def person_with_ribs(count):
    legs = [
        (-1, (0, 0, 0)),
        (0, (0, 0.2, -0.5)),
        (1, (0.01, 0, -0.5)),
        (0, (0, -0.2, -0.5)),
        (3, (0.01, 0, -0.5)),
    ]
    spine = [(5 + 2 * (k - 1) if k else 0, (0, 0, 1.5 / count)) for k in range(count)]
    ribs = [(5 + 2 * k, (0, (-1) ** k * (0.2 + k / count), 0)) for k in range(count)]
    return [*legs, *(joint for two in zip(spine, ribs, strict=True) for joint in two)]


def centipede(count):
    return [
        (-1, (0, 0, 0)),
        *(
            two
            for k in range(count)
            for two in ((0, (k, k % 2, 0)), (2 * k + 1, (0, 0, -1)))
        ),
    ]


@pytest.mark.parametrize("figure", [person_with_ribs, centipede])
def test_the_work_for_roles_of_many_joints_is_no_cube(figure):
    """It was: a comb of a thousand joints took 20 s."""
    work = [work_of(figure(count))[0] for count in (100, 200)]
    assert work[1] < min(5 * work[0], 1000 * 200)
    assert "joints and ends; expected at most" in work_of(figure(3000))[1]


def test_map_replaces_what_is_found(biped, tmp_path):
    (tmp_path / "map.yaml").write_text("body:\n  head: CHEST_PITCH\n")
    arguments = [
        str(WALK),
        str(BIPED),
        "--source-body",
        str(BIPED),
        "--map",
        str(tmp_path / "map.yaml"),
    ]
    run = CliRunner().invoke(app, ["retarget", *arguments, "--show-map", "--json"])
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found["head"] == {"source": "HEAD_TILT", "body": "CHEST_PITCH"}
    assert found["left knee"] == {"source": "L_KNEE", "body": "L_KNEE"}
    for rows, name in (
        ("body:\n  head: CHEST_PITCH\n  head: NECK\n", "head"),
        ("body: {}\nsource: {}\nbody: {}\n", "body"),
    ):
        (tmp_path / "map.yaml").write_text(rows)
        run = CliRunner().invoke(app, ["retarget", *arguments, "--show-map"])
        assert run.exit_code == 2, run.output
        assert "map.yaml:3:" in run.stderr and f" {name} " in run.stderr, run.output
    (tmp_path / "map.yaml").write_text(
        "<<: [{body: {head: CHEST_PITCH}}]\n"
    )  # a merged list is no section
    assert (
        CliRunner().invoke(app, ["retarget", *arguments, "--show-map"]).exit_code == 0
    )
    (tmp_path / "map.yaml").write_text("body:\n  head: NECK_7\n")
    assert (
        CliRunner().invoke(app, ["retarget", *arguments, "--show-map"]).exit_code != 0
    )
    with pytest.raises(ValueError, match="NECK_7"):
        figure_of_body(biped, {"head": "NECK_7"})
    for joint in ("R_KNEE", "L_WRIST"):
        with pytest.raises(
            ValueError,
            match=f"left knee '{joint}' is not behind|is not behind left knee '{joint}'",
        ):
            figure_of_body(biped, {"left knee": joint})
    with pytest.raises(ValueError, match="found no knees"):
        figure_of_body(biped, {"pelvis": "L_KNEE"})


def test_messages_name_the_file_that_they_are_about(biped, tmp_path):
    """They named a skeleton or the name of a model, which many files have."""
    box = tmp_path / "box.xml"
    box.write_text(
        '<mujoco model="BOX"><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    still, person = tmp_path / "still.bvh", tmp_path / "person.bvh"
    bm.save(bm.retargeting.to_skeleton(biped, bm.load_motion(WALK)[:20]), person)
    text = person.read_text()
    frames = text[text.index("Frames:") : text.index("Frame Time")]
    still.write_text(
        text[: text.index("Frame Time")].replace(frames, "Frames: 0\n")
        + "Frame Time: 0.1\n"
    )
    zero = tmp_path / "zero.npz"
    bm.save(bm.load_motion(WALK)[:20], zero)
    arrays = dict(np.load(zero))
    arrays["link_position"][3, 0, 3:] = 0
    np.savez(zero, **arrays)
    (tmp_path / "map.yaml").write_text("source:\n  left knee: KNEE_9\n")
    body = ["--source-body", str(BIPED)]
    for arguments, path, message in (
        ([person, box], box, "all joints are at one height"),
        ([WALK, box, *body], box, "all joints are at one height"),
        ([WALK, "spot", "--source-body", box], box, "joint"),
        ([still, BIPED], still, "no frames"),
        ([person, "spot", "--map", tmp_path / "map.yaml"], person, "no joint 'KNEE_9'"),
        ([zero, BIPED, *body], zero, "quaternion is 0 in frame 3"),
    ):
        run = CliRunner().invoke(
            app, ["retarget", *map(str, arguments), "-o", str(tmp_path / "out.seq")]
        )
        assert run.exit_code == 1
        assert f"{path}: " in run.stderr
        assert message in run.stderr
    assert not (tmp_path / "out.seq").exists()


def test_values_of_other_types_are_refused_with_what_is_expected(biped):
    motion = bm.load_motion(WALK)[:20]
    skeleton = bm.retargeting.to_skeleton(biped, motion)
    for wrong, expected in (
        (
            lambda: bm.retarget("walk.bvh", biped),
            "source: expected a Skeleton or a Motion or a RobotScript, got str; read files with",
        ),
        (
            lambda: bm.retarget(skeleton, "robot.wrl"),
            "body: expected a Body, got str; read files with",
        ),
        (lambda: bm.retarget(skeleton, motion), "body: expected a Body, got Motion"),
        (
            lambda: bm.retarget(motion, biped, source_body=[]),
            "source_body: expected a Body, got list",
        ),
        (
            lambda: bm.retarget(skeleton, biped, roles=["knee"]),
            "roles: expected a Mapping, got list",
        ),
        (
            lambda: bm.retargeting.compare_retarget([motion], biped, motion),
            "source: expected a Skeleton or a Motion or a RobotScript, got list",
        ),
        (
            lambda: bm.retargeting.side_by_side(None, biped, motion),
            "source: expected a Skeleton or a Motion or a RobotScript, got NoneType",
        ),
        (
            lambda: bm.retargeting.side_by_side(skeleton, biped, skeleton),
            "expected a Body and then a Motion, got Body and Skeleton",
        ),
        (
            lambda: bm.spot.retarget_to_spot(biped),
            "source: expected a Skeleton or a Motion or a RobotScript, got Body",
        ),
    ):
        with pytest.raises(TypeError, match=expected):
            wrong()


def test_a_body_is_of_a_motion_alone(walk, biped, tmp_path):
    """Beside another source it was ignored, and an animation was a source of the command alone."""
    person, dance = tmp_path / "person.bvh", ROOT / "examples/trot.cha"
    bm.save(walk, person)
    for source, body, code in (
        (person, BIPED, 2),
        (person, "spot", 2),
        (dance, BIPED, 2),
        (dance, "spot", 0),
        (WALK, BIPED, 0),
    ):
        run = CliRunner().invoke(
            app,
            ["retarget", str(source), "spot", "--source-body", str(body), "--show-map"],
        )
        assert run.exit_code == code, run.output
        assert code == 0 or (
            str(source) in run.stderr and "--source-body" in run.stderr
        )
    animation = bm.load_animation(dance)
    for wrong in (walk, animation):
        with pytest.raises(WrongUseError):
            bm.retarget(wrong, biped, source_body=biped)
    played = bm.spot.retarget_to_spot(
        bm.play(animation), source_body=spot_body(arm=False)
    )
    assert bm.spot.retarget_to_spot(animation) == played


def test_a_frame_that_is_far_away_is_reported_as_by_check(walk, biped, tmp_path):
    """Such a frame of a source spoiled the result silently."""
    values = walk.values[:30].copy()
    values[12, 0] += 1e6
    twice = values.copy()
    twice[0, 0] += 1e6  # No calibration pose beside another jump as far: it is used.
    found = bm.retarget(dataclasses.replace(walk, values=twice), biped)
    assert {problem.subject for problem in found.problems} == {
        ("frames", k) for k in (1, 12, 13)
    }
    motion = bm.load_motion(WALK)[:30]
    root = motion.link_position.values.copy()
    root[12, 0, 0] += 1e6
    places = dataclasses.replace(motion.link_position, values=root)
    bm.save(dataclasses.replace(walk, values=values), tmp_path / "far.bvh")
    bm.save(motion.replaced(motion.joint_displacement, places), tmp_path / "far.seq")
    for name, of, rule in (("far.bvh", None, "SKEL102"), ("far.seq", biped, "MOT305")):
        source = bm.load(tmp_path / name)
        found, expected = (
            bm.retarget(source, biped, source_body=of),
            bm.check(source, body=of),
        )
        where = [
            {(p.rule, p.location.line) for p in one.problems if p.rule == rule}
            for one in (found, expected)
        ]
        assert where[0] == where[1] != set(), found.problems
    run = CliRunner().invoke(
        app,
        ["retarget", str(tmp_path / "far.bvh"), "spot", "-o", str(tmp_path / "x.cha")],
    )
    assert "SKEL102" in run.stderr and "far.bvh:" in run.stderr
    assert bm.retarget(walk, biped).problems == ()


def test_walk_becomes_a_trot_of_spot(walk, tmp_path):
    animation = bm.spot.retarget_to_spot(walk)
    bm.save(animation, tmp_path / "walk.cha")
    assert not [
        p for p in bm.check(tmp_path / "walk.cha").problems if p.severity == "error"
    ]
    keys = bm.load_animation(tmp_path / "walk.cha").keyframes
    contact, feet = (
        keys.column("contact") > 0,
        keys.column("foot_pos").reshape(len(keys), 4, 3),
    )
    assert np.array_equal(contact[:, 0], contact[:, 3])
    assert np.array_equal(contact[:, 1], contact[:, 2])
    assert 0.1 < 1 - contact.mean() < 0.9
    standing = contact[1:] & contact[:-1]
    assert np.abs(np.diff(feet, axis=0)[standing]).max() < 1e-9
    assert np.abs(feet[contact][:, 2]).max() < 1e-9


@pytest.mark.parametrize("model", [str(BIPED), "spot"])
def test_a_page_alone(model, tmp_path, tmp_path_factory):
    source, page = (
        tmp_path_factory.mktemp("source") / "walk.seq",
        tmp_path / "both.html",
    )
    bm.save(bm.load_motion(WALK)[:200], source)
    arguments = ["retarget", str(source), model, "--source-body", str(BIPED)]
    assert CliRunner().invoke(app, arguments).exit_code == 2
    run = CliRunner().invoke(app, [*arguments, "--html", str(page)])
    assert run.exit_code == 0, run.output
    assert page.read_text().lstrip().startswith("<!") and [
        one.name for one in tmp_path.iterdir()
    ] == ["both.html"]


def test_many_motions_become_those_of_spot(tmp_path):
    """With their figures: feet of the played animation reach the plan."""
    (tmp_path / "walks").mkdir()
    for name in ("a.seq", "b.seq"):
        bm.save(bm.load_motion(WALK)[:200], tmp_path / "walks" / name)
    arguments = [
        "retarget",
        str(tmp_path / "walks"),
        "spot",
        "--source-body",
        str(BIPED),
        "--suffix",
        ".cha",
    ]
    run = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "dogs")])
    assert run.exit_code == 0, run.output
    assert sorted(one.name for one in (tmp_path / "dogs").glob("*.cha")) == [
        "a.cha",
        "b.cha",
    ]
    rows = [
        json.loads(line)
        for line in (tmp_path / "dogs" / "results.jsonl").read_text().splitlines()
    ]
    assert len(rows) == 2
    assert max(far for row in rows for far in row["reach"].values()) < 0.01


def test_an_animation_beyond_the_memory_is_refused(walk):
    """A frame time in another unit makes seconds of years."""
    with pytest.raises(MemoryError, match="an animation of"):
        bm.spot.retarget_to_spot(dataclasses.replace(walk, frame_time=1e9))


@pytest.mark.parametrize("model", ["biped", "spot"])
def test_source_and_robot_walk_side_by_side(model, biped, walk):
    """In one direction, also where the person walks in another: Spot went out of the picture, along x."""
    person, robot = (
        as_kind(Moved, walk),
        biped if model == "biped" else spot_body(arm=False),
    )
    motion = bm.retarget(person, robot)
    both, moved = bm.retargeting.side_by_side(person, robot, motion)
    poses, count = both.link_poses(moved), len(person.body_and_motion()[0].links)
    assert np.allclose(poses[:, count:], robot.link_poses(motion), atol=1e-9)
    own, other = poses[:, count, :2], poses[:, 0, :2]
    path = own[-1] - own[0]
    apart = other - own
    assert np.linalg.norm(path) > 0.9
    assert np.linalg.norm(apart - apart[0], axis=1).max() < 0.06 * np.linalg.norm(path)
    left = np.array([-path[1], path[0]]) / np.linalg.norm(path)
    assert (apart @ left).min() > 0.9 * np.linalg.norm(apart, axis=1).max() > 0.6


def test_a_robot_without_shapes_is_a_stick_figure_beside_its_source(biped, walk):
    """As a model whose meshes are missing: nothing of it was drawn."""
    bare = dataclasses.replace(
        biped,
        links=tuple(dataclasses.replace(link, segments=()) for link in biped.links),
    )
    both, _ = bm.retargeting.side_by_side(
        walk, bare, bm.Motion.from_joints(np.zeros((2, bare.num_joints)), RATE)
    )
    drawn = [link for link in both.links[len(walk.joints) :] if link.visuals]
    assert {f"{side}_{part}" for side in "LR" for part in ("KNEE", "ELBOW")} <= {
        link.name for link in drawn
    }
