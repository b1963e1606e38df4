"""What is shown of a body and a motion, before anything is drawn; and where the ground is."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_robots import arm, biped, box, colored, link, swinging

import bodymotion as bm
from bodymotion.model.extent import BodyExtent
from bodymotion.scene.loading import report_problems
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import MAX_DISTANCE, make_scene
from bodymotion.viewer.scene_view import apply_defaults, reapply_defaults


def all_points(body: bm.Body, link_poses: np.ndarray) -> np.ndarray:
    """Every vertex in the world, put there by SciPy's rotations."""
    points = []
    for one in body.links:
        pose = link_poses[one.index]
        turn = Rotation.from_quat(np.roll(pose[3:], -1))
        points += [
            turn.apply(np.array(shape.to_mesh().vertices)) + pose[:3]
            for shape in one.visuals
        ]
    return np.concatenate(points)


def seq(values: np.ndarray, rate: float = 100.0, **more: object) -> bm.MultiValueSeq:
    return bm.MultiValueSeq(
        content="JointDisplacement",
        timeline=bm.Timeline.uniform(len(values), rate),
        values=values,
        **more,
    )


def roots(values: np.ndarray, rate: float = 100.0, **more: object) -> bm.MultiSE3Seq:
    return bm.MultiSE3Seq(
        content="LinkPosition",
        timeline=bm.Timeline.uniform(len(values), rate),
        values=values,
        **more,
    )


def test_a_motion_without_root_poses_stands_on_the_ground() -> None:
    body = biped()
    scene = make_scene(body, swinging(body))
    assert scene.on_ground_by_default and not scene.has_root
    for frame in range(0, scene.num_frames, 7):
        poses = np.array(scene.link_poses[frame])
        poses[:, 2] += scene.ground_offset(poses)
        assert all_points(body, poses)[:, 2].min() == pytest.approx(0.0, abs=2e-3)


def test_the_lift_of_a_trajectory_is_that_of_its_frames() -> None:
    scene = make_scene(biped(), swinging(biped()))
    one_by_one = [float(scene.ground_offset(poses)) for poses in scene.link_poses]
    np.testing.assert_allclose(
        scene.ground_offset(scene.link_poses), one_by_one, atol=1e-12
    )


def test_a_round_body_of_many_vertices_is_lowered_well_enough() -> None:
    ball = bm.shapes.Shape(bm.shapes.Sphere(0.5))
    body = bm.Body(
        links=(link("BALL", 0, -1, (0, 0, 0), kind="free", visuals=(ball,)),)
    )
    for quaternion in np.random.default_rng(3).normal(size=(30, 4)):
        pose = np.array([[0.0, 0.0, 1.0, *(quaternion / np.linalg.norm(quaternion))]])
        true = all_points(body, pose)[:, 2].min()
        assert BodyExtent(body, ((ball,),)).lowest(pose) == pytest.approx(
            true, abs=0.01 * 0.5
        )


def test_a_body_without_shapes_is_not_lifted() -> None:
    body = bm.Body(links=(link("A", 0, -1, (0, 0, 3), kind="free"),))
    assert make_scene(body, None).ground_offset(
        make_scene(body, None).link_poses
    ) == pytest.approx([0.0])


def test_root_poses_are_taken_as_they_are() -> None:
    body = biped()
    motion = swinging(body)
    frames = motion.num_frames
    values = np.tile([0.3, 0.2, 5.0, 1, 0, 0, 0], (frames, 1, 1))
    scene = make_scene(body, motion.replaced(*motion.components, roots(values, 50.0)))
    assert scene.has_root and not scene.on_ground_by_default
    np.testing.assert_allclose(scene.link_poses[:, 0], values[:, 0])


def test_scenery_stays_where_its_file_puts_it() -> None:
    floor = bm.Body(
        links=(
            link(
                "Root",
                0,
                -1,
                (0, 0, 0),
                kind="fixed",
                visuals=(box((9, 9, 1), (0, 0, -0.5), colored(1, 1, 1)),),
            ),
        )
    )
    assert not make_scene(floor, None).on_ground_by_default


def test_fewer_columns_than_joints_are_refused_with_both_counts() -> None:
    with pytest.raises(ValueError, match=r"\b1\b.*\b2\b"):
        make_scene(arm(), bm.Motion((seq(np.zeros((5, 1))),)))


def test_more_columns_than_joints_are_shown_and_said_with_both_counts() -> None:
    scene = make_scene(arm(), bm.Motion((seq(np.zeros((5, 9))),)))
    assert scene.q.shape == (5, 2)
    (problem,) = scene.problems
    assert problem.rule == "MOT202" and problem.severity == "warning"
    assert make_scene(arm(), bm.Motion((seq(np.zeros((5, 2))),))).problems == ()


def test_a_body_alone_is_one_frame_at_zero() -> None:
    scene = make_scene(arm(), None)
    assert (
        scene.num_frames == 1
        and not scene.q.any()
        and scene.link_poses.shape == (1, 3, 7)
    )


def test_a_motion_alone_has_a_link_for_each_of_its_poses() -> None:
    values = np.random.default_rng(1).normal(size=(4, 3, 7))
    joints = seq(np.arange(8.0).reshape(4, 2), part_labels=("<i>hip</i>",))
    scene = make_scene(None, bm.Motion((roots(values, part_labels=("waist",)), joints)))
    assert [one.name for one in scene.body.links] == ["waist", "link 1", "link 2"]
    np.testing.assert_array_equal(scene.link_poses, values)
    assert (
        {c.unit for c in scene.curves} == {"rad or m"}
        and scene.without_body
        and scene.title == "bodymotion"
    )
    assert [(c.name, list(c.values)) for c in scene.curves] == [
        ("<i>hip</i>", [0, 2, 4, 6]),
        ("joint 1", [1, 3, 5, 7]),
    ]


def test_a_motion_of_joints_alone_or_of_the_zmp_alone_can_be_shown() -> None:
    assert make_scene(None, bm.Motion((seq(np.zeros((4, 2))),))).num_frames == 4
    zmp = bm.Vector3Seq(
        content="ZMP", timeline=bm.Timeline.uniform(3, 10), values=np.eye(3)
    )
    scene = make_scene(arm(), bm.Motion((zmp,)))
    assert scene.num_frames == 3
    np.testing.assert_array_equal(scene.zmp_at(1, scene.link_poses[1, 0]), [0, 1, 0])


@pytest.mark.parametrize(
    "motion",
    [
        bm.Motion(),
        bm.Motion((seq(np.zeros((0, 2))),)),
        bm.Motion((bm.motion.OtherSeq(type="X", content="Y"),)),
    ],
)
def test_a_motion_without_frames_is_refused(motion: bm.Motion) -> None:
    with pytest.raises(ValueError, match="no frames"):
        make_scene(arm(), motion)


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
    scene = make_scene(arm(), motion)
    quarter = Rotation.from_euler("z", 90, degrees=True).as_quat(scalar_first=True)
    np.testing.assert_allclose(
        scene.zmp_at(1, np.array([1, 2, 3, *quarter])), [1, 2.5, 2], atol=1e-12
    )


def test_components_of_different_rates_share_the_time() -> None:
    motion = bm.Motion(
        (
            seq(np.zeros((101, 2)), 100.0),
            bm.Vector3Seq(
                content="ZMP",
                timeline=bm.Timeline.uniform(11, 10),
                values=np.arange(33.0).reshape(11, 3),
            ),
        )
    )
    scene = make_scene(arm(), motion)
    assert scene.num_frames == 101
    assert (
        scene.zmp is not None and scene.zmp[55][0] == 15.0 and scene.zmp[-1][0] == 30.0
    )


def test_numbers_that_can_not_be_drawn_are_said_and_tamed(capsys) -> None:
    values = np.tile([0, 0, 1.0, 1, 0, 0, 0], (4, 1, 1))
    values[1, 0, 0], values[2, 0, 4], values[3, 0, 1] = np.inf, np.nan, 1e30
    scene = make_scene(arm(), bm.Motion((seq(np.zeros((4, 2))), roots(values))))
    assert (
        np.isfinite(scene.link_poses).all()
        and np.abs(scene.link_poses[..., :3]).max() <= MAX_DISTANCE
    )
    assert any("3 of 4 frames" in note for note in scene.notes)
    report_problems(scene)
    assert (
        "bodymotion: 3 of 4 frames have poses that are not finite"
        in capsys.readouterr().err
    )


def test_joint_values_are_read_back_out_of_link_poses() -> None:
    body = biped()
    motion = swinging(body, seconds=4, size=2.8)
    q = motion.joint_displacement.values
    poses = body.forward_kinematics(q)
    np.testing.assert_allclose(body.recovered_joints(poses), q, atol=1e-9)
    alone = make_scene(body, bm.Motion((roots(poses, 50.0),)))
    np.testing.assert_allclose(alone.q, q, atol=1e-9)


def test_switches_fit_what_is_shown_and_stay_as_someone_set_them() -> None:
    body, options = biped(), DisplayOptions()
    in_place = make_scene(body, swinging(body))
    far = np.tile([0, 0, 1.0, 1, 0, 0, 0], (101, 1, 1))
    far[:, 0, 0] = np.linspace(0, 9, 101)
    walking = make_scene(
        body, in_place.motion.replaced(*in_place.motion.components, roots(far, 50.0))
    )
    apply_defaults(options, in_place)
    assert (options.stand, options.follow, options.frames) == (True, False, False)
    reapply_defaults(options, walking, in_place)
    assert (options.stand, options.follow) == (False, True)
    options.follow = False
    reapply_defaults(options, in_place, walking)
    reapply_defaults(options, walking, in_place)
    assert (options.stand, options.follow) == (False, True)
    alone = DisplayOptions()
    apply_defaults(alone, make_scene(None, bm.Motion((roots(far, 50.0),))))
    assert alone.frames


def test_of_a_motion_too_long_for_memory_every_nth_frame_is_shown(monkeypatch) -> None:
    monkeypatch.setattr("bodymotion.scene.scene.MAX_LINK_POSES", 100)
    values = np.arange(202.0).reshape(101, 2) / 1000
    scene = make_scene(arm(), bm.Motion((seq(values, 100.0),)))
    assert scene.num_frames * 3 <= 100 + 3 and scene.timeline.duration == pytest.approx(
        1.0, abs=0.04
    )
    np.testing.assert_array_equal(
        scene.q, values[:: round(100 / scene.timeline.frame_rate)]
    )
    assert any("one of 4 frames" in note for note in scene.notes)


def test_nothing_and_an_empty_body_are_refused() -> None:
    with pytest.raises(ValueError, match="neither"):
        make_scene(None, None)
    with pytest.raises(ValueError, match="no links"):
        make_scene(bm.Body(), None)
