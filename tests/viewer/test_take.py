"""What is shown of a body and a motion, before anything is drawn; and where the ground is."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_robots import arm, biped, box, colored, link, swinging

import bodymotion as bm
from bodymotion.viewer.api import say_notes
from bodymotion.viewer.ground import Footprint
from bodymotion.viewer.stage import fit, refit
from bodymotion.viewer.switches import Switches
from bodymotion.viewer.take import FARTHEST, joint_values, make_take


def all_points(body: bm.Body, link_poses: np.ndarray) -> np.ndarray:
    """Every vertex in the world, put there by SciPy's rotations."""
    points = []
    for one in body.links:
        pose = link_poses[one.index]
        turn = Rotation.from_quat(np.roll(pose[3:], -1))
        points += [turn.apply(np.array(shape.to_mesh().vertices)) + pose[:3] for shape in one.visuals]
    return np.concatenate(points)


def seq(values: np.ndarray, rate: float = 100.0, **more: object) -> bm.MultiValueSeq:
    return bm.MultiValueSeq(
        content="JointDisplacement", timeline=bm.Timeline.uniform(len(values), rate), values=values, **more
    )


def roots(values: np.ndarray, rate: float = 100.0, **more: object) -> bm.MultiSE3Seq:
    return bm.MultiSE3Seq(
        content="LinkPosition", timeline=bm.Timeline.uniform(len(values), rate), values=values, **more
    )


def test_a_motion_without_root_poses_stands_on_the_ground() -> None:
    body = biped()
    take = make_take(body, swinging(body))
    assert take.stands_by_default and not take.has_root
    for frame in range(0, take.num_frames, 7):
        poses = np.array(take.link_poses[frame])
        poses[:, 2] += take.lift(poses)
        assert all_points(body, poses)[:, 2].min() == pytest.approx(0.0, abs=2e-3)


def test_the_lift_of_a_trajectory_is_that_of_its_frames() -> None:
    take = make_take(biped(), swinging(biped()))
    one_by_one = [float(take.lift(poses)) for poses in take.link_poses]
    np.testing.assert_allclose(take.lift(take.link_poses), one_by_one, atol=1e-12)


def test_a_round_body_of_many_vertices_is_lowered_well_enough() -> None:
    ball = bm.Shape(bm.Sphere(0.5))
    body = bm.Body(links=(link("BALL", 0, -1, (0, 0, 0), kind="free", visuals=(ball,)),))
    for quaternion in np.random.default_rng(3).normal(size=(30, 4)):
        pose = np.array([[0.0, 0.0, 1.0, *(quaternion / np.linalg.norm(quaternion))]])
        true = all_points(body, pose)[:, 2].min()
        assert Footprint(body).lowest(pose) == pytest.approx(true, abs=0.01 * 0.5)


def test_a_body_without_shapes_is_not_lifted() -> None:
    body = bm.Body(links=(link("A", 0, -1, (0, 0, 3), kind="free"),))
    assert make_take(body, None).lift(make_take(body, None).link_poses) == pytest.approx([0.0])


def test_root_poses_are_taken_as_they_are() -> None:
    body = biped()
    motion = swinging(body)
    frames = motion.num_frames
    values = np.tile([0.3, 0.2, 5.0, 1, 0, 0, 0], (frames, 1, 1))
    take = make_take(body, motion.replaced(*motion.components, roots(values, 50.0)))
    assert take.has_root and not take.stands_by_default
    np.testing.assert_allclose(take.link_poses[:, 0], values[:, 0])


def test_scenery_stays_where_its_file_puts_it() -> None:
    floor = bm.Body(
        links=(link("Root", 0, -1, (0, 0, 0), kind="fixed", visuals=(box((9, 9, 1), (0, 0, -0.5), colored(1, 1, 1)),)),)
    )
    assert not make_take(floor, None).stands_by_default


def test_fewer_columns_than_joints_are_refused_with_both_counts() -> None:
    with pytest.raises(ValueError, match=r"\b1\b.*\b2\b"):
        make_take(arm(), bm.Motion((seq(np.zeros((5, 1))),)))


def test_more_columns_than_joints_are_shown_and_said_with_both_counts() -> None:
    take = make_take(arm(), bm.Motion((seq(np.zeros((5, 9))),)))
    assert take.q.shape == (5, 2)
    (problem,) = take.problems
    assert problem.severity == "warning" and "9 joint columns" in problem.message and "body 2" in problem.message
    assert make_take(arm(), bm.Motion((seq(np.zeros((5, 2))),))).problems == ()


def test_a_body_alone_is_one_frame_at_zero() -> None:
    take = make_take(arm(), None)
    assert take.num_frames == 1 and not take.q.any() and take.link_poses.shape == (1, 3, 7)


def test_a_motion_alone_has_a_link_for_each_of_its_poses() -> None:
    values = np.random.default_rng(1).normal(size=(4, 3, 7))
    joints = seq(np.arange(8.0).reshape(4, 2), part_labels=("<i>hip</i>",))
    take = make_take(None, bm.Motion((roots(values, part_labels=("waist",)), joints)))
    assert [one.name for one in take.body.links] == ["waist", "link 1", "link 2"]
    np.testing.assert_array_equal(take.link_poses, values)
    assert {c.unit for c in take.curves} == {"rad or m"} and take.motion_alone and take.title == "bodymotion"
    assert [(c.name, list(c.values)) for c in take.curves] == [("<i>hip</i>", [0, 2, 4, 6]), ("joint 1", [1, 3, 5, 7])]


def test_a_motion_of_joints_alone_or_of_the_zmp_alone_can_be_shown() -> None:
    assert make_take(None, bm.Motion((seq(np.zeros((4, 2))),))).num_frames == 4
    zmp = bm.Vector3Seq(content="ZMP", timeline=bm.Timeline.uniform(3, 10), values=np.eye(3))
    take = make_take(arm(), bm.Motion((zmp,)))
    assert take.num_frames == 3
    np.testing.assert_array_equal(take.zmp_at(1, take.link_poses[1, 0]), [0, 1, 0])


@pytest.mark.parametrize(
    "motion", [bm.Motion(), bm.Motion((seq(np.zeros((0, 2))),)), bm.Motion((bm.OtherSeq(type="X", content="Y"),))]
)
def test_a_motion_without_frames_is_refused(motion: bm.Motion) -> None:
    with pytest.raises(ValueError, match="no frames"):
        make_take(arm(), motion)


def test_a_zmp_in_the_root_moves_with_it() -> None:
    motion = bm.Motion(
        (
            seq(np.zeros((2, 2))),
            bm.Vector3Seq(
                content="ZMP",
                timeline=bm.Timeline.uniform(2, 100),
                values=[[0, 0, -1], [0.5, 0, -1]],
                is_root_relative=True,
            ),
        )
    )
    take = make_take(arm(), motion)
    quarter = Rotation.from_euler("z", 90, degrees=True).as_quat(scalar_first=True)
    np.testing.assert_allclose(take.zmp_at(1, np.array([1, 2, 3, *quarter])), [1, 2.5, 2], atol=1e-12)


def test_components_of_different_rates_share_the_time() -> None:
    motion = bm.Motion(
        (
            seq(np.zeros((101, 2)), 100.0),
            bm.Vector3Seq(content="ZMP", timeline=bm.Timeline.uniform(11, 10), values=np.arange(33.0).reshape(11, 3)),
        )
    )
    take = make_take(arm(), motion)
    assert take.num_frames == 101
    assert take.zmp is not None and take.zmp[55][0] == 15.0 and take.zmp[-1][0] == 30.0


def test_numbers_that_can_not_be_drawn_are_said_and_tamed(capsys) -> None:
    values = np.tile([0, 0, 1.0, 1, 0, 0, 0], (4, 1, 1))
    values[1, 0, 0], values[2, 0, 4], values[3, 0, 1] = np.inf, np.nan, 1e30
    take = make_take(arm(), bm.Motion((seq(np.zeros((4, 2))), roots(values))))
    assert np.isfinite(take.link_poses).all() and np.abs(take.link_poses[..., :3]).max() <= FARTHEST
    assert any("3 of 4 frames" in note for note in take.notes)
    say_notes(take.notes)
    assert "bodymotion: 3 of 4 frames have poses that are not finite" in capsys.readouterr().err


def test_joint_values_are_read_back_out_of_link_poses() -> None:
    body = biped()
    motion = swinging(body, seconds=4, size=2.8)
    q = motion.joint_displacement.values
    poses = body.forward_kinematics(q)
    np.testing.assert_allclose(joint_values(body, poses), q, atol=1e-9)
    alone = make_take(body, bm.Motion((roots(poses, 50.0),)))
    np.testing.assert_allclose(alone.q, q, atol=1e-9)


def test_switches_fit_what_is_shown_and_stay_as_someone_set_them() -> None:
    body, switches = biped(), Switches()
    in_place = make_take(body, swinging(body))
    far = np.tile([0, 0, 1.0, 1, 0, 0, 0], (101, 1, 1))
    far[:, 0, 0] = np.linspace(0, 9, 101)
    walking = make_take(body, in_place.motion.replaced(*in_place.motion.components, roots(far, 50.0)))
    fit(switches, in_place)
    assert (switches.stand, switches.follow, switches.frames) == (True, False, False)
    refit(switches, walking, in_place)
    assert (switches.stand, switches.follow) == (False, True)
    switches.follow = False
    refit(switches, in_place, walking)
    refit(switches, walking, in_place)
    assert (switches.stand, switches.follow) == (False, True)
    alone = Switches()
    fit(alone, make_take(None, bm.Motion((roots(far, 50.0),))))
    assert alone.frames


def test_of_a_motion_too_long_for_memory_every_nth_frame_is_shown(monkeypatch) -> None:
    monkeypatch.setattr("bodymotion.viewer.take.MOST_POSES", 100)
    values = np.arange(202.0).reshape(101, 2) / 1000
    take = make_take(arm(), bm.Motion((seq(values, 100.0),)))
    assert take.num_frames * 3 <= 100 + 3 and take.timeline.duration == pytest.approx(1.0, abs=0.04)
    np.testing.assert_array_equal(take.q, values[:: round(100 / take.timeline.frame_rate)])
    assert any("one of 4 frames" in note for note in take.notes)


def test_nothing_and_an_empty_body_are_refused() -> None:
    with pytest.raises(ValueError, match="neither"):
        make_take(None, None)
    with pytest.raises(ValueError, match="no links"):
        make_take(bm.Body(), None)
