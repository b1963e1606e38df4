"""Cutting, joining, re-timing, moving and smoothing: laws, with motions of every kind of component."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter1d
from symmetric_bodies import any_motion, smooth_table

from bodymotion import editing
from bodymotion.geometry import poses, rotations
from bodymotion.motion import Motion, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from sample_files import tries

seeds = st.integers(0, 1000)
quick = settings(max_examples=tries(15), deadline=None)


def same_turn(a, b, tolerance=1e-9):
    a, b = rotations.normalized(a), rotations.normalized(b)
    return bool(
        np.all(np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1)) < tolerance)
    )


def close(a: Motion, b: Motion, tolerance=1e-9):
    """Whether two motions are equal but for rounding: contents, times, values, labels and keys."""
    assert a.extra == b.extra
    assert len(a.components) == len(b.components)
    for x, y in zip(a.components, b.components, strict=True):
        assert (type(x), x.content, x.extra) == (type(y), y.content, y.extra)
        if isinstance(x, OtherSeq):
            continue
        assert x.part_labels == y.part_labels
        assert np.allclose(x.timeline.times, y.timeline.times, atol=tolerance)
        if x.values.shape[-1] == 7:
            assert np.allclose(x.values[..., :3], y.values[..., :3], atol=tolerance)
            assert same_turn(x.values[..., 3:], y.values[..., 3:], tolerance)
        else:
            assert np.allclose(x.values, y.values, atol=tolerance)
    return True


# Trim.


def test_both_ends_are_included():
    motion = any_motion(0, frames=101, rate=100)
    part = editing.trim(motion, 0.07, 0.29)
    assert (part.num_frames, part.frame_rate) == (23, 100)
    assert np.array_equal(
        part.joint_displacement.values, motion.joint_displacement.values[7:30]
    )
    assert part == editing.trim_frames(motion, 7, 29)
    assert editing.trim(motion, 0.071, 0.289) == editing.trim_frames(motion, 8, 28)
    assert editing.trim(motion) == editing.trim_frames(motion) == motion
    assert editing.trim_frames(motion, -1).num_frames == 1
    assert (
        editing.trim(motion, end=0.5)
        == editing.trim_frames(motion, 0, 50)
        == editing.trim_frames(motion, last=-51)
    )


def test_stamps_count_from_the_start():
    stamps = Timeline.stamped([1.0, 1.5, 1.7, 3.0], import_rate=20)
    motion = Motion(
        (MultiValueSeq(content="X", timeline=stamps, values=np.arange(4.0)[:, None]),)
    )
    part = editing.trim(motion, 1.25, 3)
    assert np.allclose(part.times, [0.25, 0.45, 1.75])
    assert part.timeline.import_rate == 20
    assert np.allclose(editing.trim_frames(motion, 1, 2).times, [0, 0.2])
    assert np.allclose(editing.trim(motion, end=1.6).times, [1, 1.5])


def test_components_of_different_rates_are_cut_at_the_same_times():
    quick = MultiValueSeq(
        content="A",
        timeline=Timeline.uniform(101, 100),
        values=np.arange(101.0)[:, None],
    )
    slow = MultiValueSeq(
        content="B", timeline=Timeline.uniform(11, 10), values=np.arange(11.0)[:, None]
    )
    a, b = editing.trim(Motion((quick, slow)), 0.2, 0.5).components
    assert (a.values[0, 0], a.values[-1, 0], b.values[0, 0], b.values[-1, 0]) == (
        20,
        50,
        2,
        5,
    )
    with pytest.raises(
        ValueError, match="B has no frame there: its frames are from 0 s to 1 s"
    ):
        editing.trim(Motion((quick, slow)), 0.21, 0.29)


def test_wrong_parts_are_refused():
    motion = any_motion(0, frames=10)
    for wrong in ((3, 2), (0, 10), (-11, None), (10, None)):
        with pytest.raises(ValueError, match="frames 0 to 9"):
            editing.trim_frames(motion, *wrong)
    with pytest.raises(ValueError, match="before the start"):
        editing.trim(motion, 0.1, 0.05)


# Join and loop.


@given(seeds, st.integers(0, 39))
@quick
def test_joining_what_was_cut_gives_the_motion_back(seed, cut):
    motion = any_motion(seed)
    assert close(
        editing.join(
            editing.trim_frames(motion, 0, cut), editing.trim_frames(motion, cut)
        ),
        motion,
    )


@given(seeds)
@quick
def test_durations_add_up_and_a_blend_takes_its_time_off(seed):
    a, b, c = (
        any_motion(seed, frames=20),
        any_motion(seed + 2, frames=30),
        any_motion(seed + 4, frames=25),
    )
    assert np.isclose(
        editing.join(a, b, c).duration, a.duration + b.duration + c.duration
    )
    assert np.isclose(
        editing.join(a, b, c, blend=0.2).duration,
        a.duration + b.duration + c.duration - 0.4,
    )
    assert editing.join(a) == a


@given(seeds)
@quick
def test_the_root_goes_on_where_it_was(seed):
    a, b = any_motion(seed, frames=30), any_motion(seed + 2, frames=30)
    joined = editing.join(a, b).link_position.values[:, 0]
    step = poses.compose(
        poses.inverse(b.link_position.values[0, 0]), b.link_position.values[1, 0]
    )
    found = poses.compose(poses.inverse(joined[29]), joined[30])
    turn = rotations.multiply(
        rotations.normalized(a.link_position.values[-1, 0, 3:]),
        rotations.conjugate(rotations.normalized(joined[30, 3:])),
    )
    assert (
        np.linalg.norm(joined[30, :2] - joined[29, :2])
        < np.linalg.norm(step[:3]) + 1e-9
    )
    assert abs(turn[3]) <= abs(turn[0])
    assert np.isclose(joined[30, 2], b.link_position.values[1, 0, 2])
    assert found.shape == (7,)


@given(seeds)
@quick
def test_a_moved_second_motion_joins_the_same(seed):
    a, b = (
        any_motion(seed, frames=20, links=3),
        any_motion(seed + 2, frames=20, links=3),
    )
    by = np.array([3, -2, 0, *rotations.from_rpy([0, 0, 2.2])])
    for blend in (0, 0.1):
        assert close(
            editing.join(a, b, blend=blend),
            editing.join(a, editing.move(b, by), blend=blend),
            1e-8,
        )
    assert not np.allclose(
        editing.join(a, b, rebase=False).link_position.values[-1],
        editing.join(a, b).link_position.values[-1],
    )
    assert np.array_equal(
        editing.join(a, b, rebase=False).link_position.values[20:],
        b.link_position.values[1:],
    )


def test_a_blend_begins_as_one_and_ends_as_the_other_without_a_jump():
    timeline = Timeline.uniform(101, 100)
    low = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=timeline,
                values=np.zeros((101, 1)),
            ),
        )
    )
    high = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement", timeline=timeline, values=np.ones((101, 1))
            ),
        )
    )
    q = editing.join(low, high, blend=0.4).joint_displacement.values[:, 0]
    assert (q[:61] == 0).all()
    assert (q[100:] == 1).all()
    assert np.isclose(q[80], 0.5)
    assert np.diff(q).max() < 1.9 / 40
    assert np.abs(np.diff(q, 2)).max() < 6 / 40**2


def test_a_blend_over_a_jump_by_a_full_turn_is_reported():
    timeline = Timeline.uniform(11, 10)

    def still(angle):
        return Motion(
            (
                MultiValueSeq(
                    content="JointDisplacement",
                    timeline=timeline,
                    values=np.full((11, 2), angle),
                ),
            )
        )

    (problem,) = editing.join(still(3.1), still(-3.1), blend=0.5).problems
    assert (problem.rule, problem.count, problem.data["part"]) == ("EDIT101", 2, 0)
    assert "where one motion fades into the next" in problem.message
    assert (
        editing.join(still(3.1), still(-3.1)).problems
        == editing.join(still(1), still(2), blend=0.5).problems
        == ()
    )


@given(seeds, st.integers(1, 4))
@quick
def test_loops(seed, times):
    motion = any_motion(seed, frames=15)
    looped = editing.loop(motion, times)
    assert np.isclose(looped.duration, times * motion.duration)
    assert np.allclose(
        looped.joint_displacement.values[-14:], motion.joint_displacement.values[-14:]
    )
    root = looped.link_position.values[:, 0]
    assert np.linalg.norm(np.diff(root[:, :2], axis=0), axis=1).max() < 1


def test_what_cannot_be_joined_is_refused_with_words():
    motion = any_motion(0)
    with pytest.raises(ValueError, match="different frame rates"):
        editing.join(motion, motion.resample(100))
    with pytest.raises(ValueError, match="time stamps"):
        editing.join(motion, any_motion(0, stamped=True))
    with pytest.raises(ValueError, match="j4 only in the second"):
        editing.join(motion, any_motion(0, columns=5))
    with pytest.raises(ValueError, match="root frame"):
        editing.join(motion, any_motion(1))
    with pytest.raises(ValueError, match="a blend of 2 s"):
        editing.join(motion, motion, blend=2)
    with pytest.raises(ValueError, match="nothing"):
        editing.join()
    with pytest.raises(ValueError, match="expected 1 or more"):
        editing.loop(motion, 0)
    with pytest.raises(MemoryError, match="the motion 1000000000000 times would need"):
        editing.loop(motion, 10**12)


def test_what_is_not_in_both_is_reported():
    motion = any_motion(0)
    joined = editing.join(motion, editing.drop(motion, "Temperature", "Bar"))
    # The end of this motion is far from its begin.
    assert [p.rule for p in joined.problems] == ["EDIT108", "LOSS101", "LOSS101"]
    assert "Temperature" in joined.problems[1].message
    assert [c.content for c in joined.components] == [
        "LinkPosition",
        "JointDisplacement",
        "ZMP",
        "Bar",
    ]


# Speed and direction.


@given(seeds, st.sampled_from([0.25, 0.5, 2, 4]))
@quick
def test_speed(seed, factor):
    motion = any_motion(seed, frames=41)
    changed = editing.change_speed(motion, factor)
    assert np.isclose(changed.duration, motion.duration / factor)
    assert changed.frame_rate == 50
    every = editing.change_speed(motion, factor, keep_rate=False)
    assert every.frame_rate == 50 * factor
    assert np.array_equal(
        every.joint_displacement.values, motion.joint_displacement.values
    )
    assert close(editing.change_speed(every, 1 / factor, keep_rate=False), motion)
    assert editing.change_speed(motion, 1) == motion
    if factor < 1:
        assert close(editing.change_speed(changed, 1 / factor), motion)


def test_speed_of_stamps_divides_them():
    motion = any_motion(3, stamped=True)
    assert np.allclose(editing.change_speed(motion, 4).times, motion.times / 4)
    for wrong in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="speed"):
            editing.change_speed(motion, wrong)


@pytest.mark.parametrize("stamped", [False, True])
def test_backwards_twice_is_forwards(stamped):
    motion = any_motion(5, stamped=stamped)
    back = editing.reverse(motion)
    assert np.array_equal(
        back.joint_displacement.values, motion.joint_displacement.values[::-1]
    )
    assert np.isclose(back.times[0], motion.times[0])
    assert close(editing.reverse(back), motion)


def test_backwards_needs_components_of_one_length():
    a = MultiValueSeq(
        content="A", timeline=Timeline.uniform(11, 10), values=np.zeros((11, 1))
    )
    b = MultiValueSeq(
        content="B", timeline=Timeline.uniform(6, 10), values=np.zeros((6, 1))
    )
    c = MultiValueSeq(
        content="C", timeline=Timeline.uniform(21, 20), values=np.zeros((21, 1))
    )
    assert editing.reverse(Motion((a, c))).components[1].num_frames == 21
    with pytest.raises(
        ValueError, match=r"B runs from 0 s to 0\.5 s, the motion from 0 s to 1 s"
    ):
        editing.reverse(Motion((a, b)))


# The world frame, components, the ZMP.


@given(seeds)
@quick
def test_moving_there_and_back(seed):
    motion = any_motion(seed, links=3)
    by = np.array([1, 2, -3, *rotations.from_rpy([0.5, -0.4, 2])])
    there = editing.move(motion, by)
    assert close(editing.move(there, poses.inverse(by)), motion)
    expected = poses.to_matrix(by) @ poses.to_matrix(motion.link_position.values)
    assert np.allclose(poses.to_matrix(there.link_position.values), expected)
    assert np.array_equal(
        there.joint_displacement.values, motion.joint_displacement.values
    )


@given(seeds)
@quick
def test_starting_somewhere(seed):
    motion = any_motion(seed)
    started = editing.start_at(motion, 1, 2, 0.7)
    first, before = (
        started.link_position.values[0, 0],
        motion.link_position.values[0, 0],
    )
    assert np.allclose(first[:3], [1, 2, before[2]])
    up = [0.0, 0.0, 1.0]
    assert np.isclose(
        rotations.rotate(first[3:], up)[2], rotations.rotate(before[3:], up)[2]
    )
    assert close(editing.start_at(started, 1, 2, 0.7), started)
    again = editing.start_at(
        editing.move(motion, [5, 1, 0, *rotations.from_rpy([0, 0, -2])]), 1, 2, 0.7
    )
    assert close(again, started)


def test_other_places_are_left_and_said():
    points = Vector3Seq(
        content="CoM", timeline=Timeline.uniform(2, 10), values=np.zeros((2, 3))
    )
    moved = editing.move(Motion((points,)), [1, 0, 0, 1, 0, 0, 0])
    assert moved == Motion((points,))
    assert [p.rule for p in moved.problems] == ["EDIT102"]
    with pytest.raises(ValueError, match="no pose of the root"):
        editing.start_at(Motion((points,)))


@given(seeds)
@quick
def test_the_zmp_moves_with_the_world_or_with_the_root(seed):
    motion = any_motion(seed)
    by = np.array([1, 2, -3, *rotations.from_rpy([0.5, -0.4, 2])])
    one = editing.zmp_to_root(editing.move(editing.zmp_to_world(motion), by))
    assert np.allclose(
        one.zmp.values, editing.zmp_to_root(motion).zmp.values, atol=1e-9
    )
    world = editing.zmp_to_world(motion)
    expected = poses.transform_points(
        motion.link_position.values[:, 0], editing.zmp_to_root(motion).zmp.values
    )
    assert (
        world.zmp.is_root_relative,
        editing.zmp_to_root(world).zmp.is_root_relative,
    ) == (False, True)
    assert np.allclose(world.zmp.values, expected, atol=1e-9)
    assert editing.zmp_to_world(world) == world


def test_the_zmp_meets_a_root_of_another_rate():
    motion = any_motion(1, frames=41)
    slow = editing.keep(motion, "ZMP").resample(25).components
    mixed = Motion((*editing.drop(motion, "ZMP").components, *slow))
    assert np.allclose(
        editing.zmp_to_world(mixed).zmp.values,
        editing.zmp_to_world(motion).zmp.values[::2],
        atol=1e-9,
    )
    with pytest.raises(
        ValueError, match="converting the ZMP needs the pose of the root"
    ):
        editing.zmp_to_world(editing.keep(motion, "ZMP"))


def test_keeping_and_dropping():
    motion = any_motion(0)
    assert [
        c.content for c in editing.keep(motion, "ZMP", "LinkPosition").components
    ] == ["LinkPosition", "ZMP"]
    assert len(editing.drop(motion, "ZMP").components) == 4
    assert editing.keep(motion, "ZMP").extra == motion.extra
    with pytest.raises(
        ValueError,
        match="no component Zmp; existing components: LinkPosition, JointDisplacement",
    ):
        editing.drop(motion, "Zmp")


# Smoothing.


def test_smoothing_is_scipys_gaussian_away_from_the_ends():
    rng = np.random.default_rng(0)
    motion = any_motion(0, frames=400, rate=100)
    values = motion.joint_displacement.values + rng.normal(size=(400, 4))
    noisy = motion.replaced(
        MultiValueSeq(
            content="JointDisplacement", timeline=motion.timeline, values=values
        )
    )
    width = np.sqrt(np.log(2)) / (2 * np.pi * 5) * 100
    expected = gaussian_filter1d(values, width, axis=0, truncate=6)
    assert np.allclose(
        editing.smooth(noisy, 5).joint_displacement.values[60:-60],
        expected[60:-60],
        atol=1e-5,
    )


@given(seeds, st.sampled_from([0.5, 3, 20, 1000]))
@quick
def test_smoothing_keeps_ends_bounds_and_what_it_does_not_know(seed, cutoff):
    motion = any_motion(seed, frames=60, links=2)
    found = editing.smooth(motion, cutoff)
    assert found.components[2] == motion.components[2]
    for a, b in (
        (found.joint_displacement.values, motion.joint_displacement.values),
        (found.zmp.values, motion.zmp.values),
    ):
        assert np.allclose(a[[0, -1]], b[[0, -1]], atol=1e-9)
    assert same_turn(
        found.link_position.values[[0, -1], :, 3:],
        motion.link_position.values[[0, -1], :, 3:],
    )
    assert np.allclose(np.linalg.norm(found.link_position.values[..., 3:], axis=-1), 1)


@given(seeds)
@quick
def test_smoothing_commutes_with_moving_and_reversing(seed):
    motion = any_motion(seed, links=2)
    by = np.array([1, 2, -3, *rotations.from_rpy([0.5, -0.4, 2])])
    assert close(
        editing.smooth(editing.move(motion, by), 4),
        editing.move(editing.smooth(motion, 4), by),
        1e-8,
    )
    assert close(
        editing.smooth(editing.reverse(motion), 4),
        editing.reverse(editing.smooth(motion, 4)),
        1e-8,
    )


def test_smoothing_takes_jumps_by_full_turns_for_none():
    angles = np.linspace(0, 20, 400)[:, None] + smooth_table(
        np.random.default_rng(0), 400, 1, 0.01
    )
    wrapped = (angles + np.pi) % (2 * np.pi) - np.pi
    timeline = Timeline.uniform(400, 100)

    def smoothed(values):
        motion = Motion(
            (
                MultiValueSeq(
                    content="JointDisplacement", timeline=timeline, values=values
                ),
            )
        )
        return editing.smooth(motion, 5).joint_displacement.values

    assert np.allclose(np.sin(smoothed(wrapped)), np.sin(smoothed(angles)), atol=1e-9)
    assert np.allclose(np.cos(smoothed(wrapped)), np.cos(smoothed(angles)), atol=1e-9)
    assert np.abs(smoothed(wrapped)).max() < np.pi + 0.1
    whole = Motion(
        (MultiValueSeq(content="JointDisplacement", timeline=timeline, values=wrapped),)
    )
    assert np.allclose(
        editing.unwrap(whole).joint_displacement.values, angles - angles[0] + wrapped[0]
    )


def test_smoothing_needs_a_rate_and_a_cutoff():
    with pytest.raises(ValueError, match="has time stamps"):
        editing.smooth(any_motion(0, stamped=True), 5)
    for wrong in (0, -1, np.nan):
        with pytest.raises(ValueError, match="cutoff"):
            editing.smooth(any_motion(0), wrong)


def test_numbers_that_are_not_finite_stay_and_harm_no_others():
    values = np.ones((50, 2))
    values[20, 0], values[30, 0] = np.nan, np.inf
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(50, 50),
                values=values,
            ),
        )
    )
    assert np.allclose(
        editing.smooth(motion, 3).joint_displacement.values, values, equal_nan=True
    )


# All of them.

EDITS = {
    "trim": lambda m: editing.trim(m, 0.2, 0.4),
    "trim_frames": lambda m: editing.trim_frames(m, 3, 5),
    "loop": lambda m: editing.loop(m, 2, 0.1),
    "change_speed": lambda m: editing.change_speed(m, 1.3),
    "reverse": editing.reverse,
    "smooth": lambda m: editing.smooth(m, 5),
    "move": lambda m: editing.move(m, [1, 0, 0, 1, 0, 0, 0]),
    "start_at": editing.start_at,
    "zmp_to_world": editing.zmp_to_world,
    "zmp_to_root": editing.zmp_to_root,
    "unwrap": editing.unwrap,
    "keep_root_pose": editing.keep_root_pose,
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_keeps_what_it_does_not_know_and_changes_nothing_in_place(name):
    motion, untouched = any_motion(1), any_motion(1)
    edited = EDITS[name](motion)
    assert motion == untouched
    assert [c.content for c in edited.components] == [
        c.content for c in motion.components
    ]
    assert edited.extra == motion.extra
    assert edited.source == motion.source
    for new, old in zip(edited.components, motion.components, strict=True):
        assert (type(new), new.extra) == (type(old), old.extra)
        if not isinstance(new, OtherSeq):
            assert new.part_labels == old.part_labels
            assert not new.values.flags.writeable


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in EDITS
        if n
        not in (
            "start_at",
            "trim",
            "trim_frames",
            "loop",
            "keep_root_pose",
            "zmp_to_root",
        )
    ],
)
def test_a_motion_of_nothing_stays_one(name):
    assert EDITS[name](Motion()) == Motion()
    still = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(1, 10),
                values=[[1.0]],
            ),
        )
    )
    assert EDITS[name](still) == still
    empty = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(0, 10),
                values=np.zeros((0, 2)),
            ),
        )
    )
    assert EDITS[name](empty) == empty


def test_numbers_that_are_none_are_refused():
    motion = any_motion(0)
    for edit in (
        lambda: editing.move(motion, [0] * 7),
        lambda: editing.move(motion, [np.nan, 0, 0, 1, 0, 0, 0]),
        lambda: editing.move(motion, [0, 0, 0, 2, 0, 0, 0]),
        lambda: editing.start_at(motion, 0, 0, np.nan),
        lambda: editing.start_at(motion, np.inf),
        lambda: editing.loop(motion, 2, blend=np.inf),
        lambda: editing.join(motion, motion, blend=np.nan),
        lambda: motion.resample(10, start=np.nan),
        lambda: motion.resample(10, start=np.inf),
        lambda: motion.resample(10, start=1e6),
    ):
        with pytest.raises(ValueError, match=r"finite|no frame at or after"):
            edit()
