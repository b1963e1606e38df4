"""What `measure` takes, what it refuses, and what its parts say of odd motions and bodies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.diagnostics import WrongUseError
from bodymotion.dynamics import measure
from bodymotion.geometry import poses, rotations
from bodymotion.motion.components import Timeline
from sample_files import tries
from strategies_bodies import bodies

ROUND = rotations.from_axis_angle([0, 0, 1], 0.4)


def box(size, x=0.0, y=0.0, z=0.0) -> bm.shapes.Shape:
    transform = np.eye(4)
    transform[:3, 3] = x, y, z
    return bm.shapes.Shape(bm.shapes.Box(size), transform)


def segment(mass: float, shape: bm.shapes.Shape, center=(0, 0, 0)) -> bm.Segment:
    return bm.Segment(
        mass=mass,
        center_of_mass=np.array(center),
        inertia=0.01 * np.eye(3),
        visuals=(shape,),
        collisions=(shape,),
    )


def stool(root_type: str = "free") -> bm.Body:
    """A seat on two feet that slide up and down: 0.2 m wide soles at y = ±0.3, 0.5 m below the seat."""
    seat = bm.Link(
        name="SEAT",
        joint=bm.Joint(type=root_type),
        segments=(segment(8.0, box((0.4, 0.8, 0.05)), (0, 0, 0.02)),),
    )
    legs = [
        bm.Link(
            name=f"{side}_LEG",
            index=1 + k,
            parent=0,
            offset=np.array([0, y, -0.5, 1, 0, 0, 0]),
            joint=bm.Joint(
                type="slide",
                id=k,
                lower=-0.2,
                upper=0.2,
                velocity_lower=-1,
                velocity_upper=1,
            ),
            segments=(segment(1.0, box((0.2, 0.1, 0.02), z=0.01)),),
        )
        for k, (side, y) in enumerate((("L", 0.3), ("R", -0.3)))
    ]
    return bm.Body(
        name="stool", links=(seat, *legs), root_pose=np.array([0, 0, 0.5, 1, 0, 0, 0])
    )


def standing_still(count: int = 30, rate: float = 100.0) -> bm.Motion:
    return bm.Motion.from_joints(
        np.zeros((count, 2)), rate, root=np.array([0, 0, 0.5, 1, 0, 0, 0])
    )


@pytest.mark.parametrize("rest", [58.0, 1e9, 1e16])
def test_over_a_long_gap_between_time_stamps_the_robot_rests(rest):
    """What was before the gap is measured as without it; the memory depends on the frames, not on the time."""
    times = np.arange(40) * 0.02
    q = 0.05 * np.sin(9 * times)[:, None] * [1, -1]
    root = np.array([0, 0, 0.5, 1, 0, 0, 0])
    whole = measure(stool(), bm.Motion.from_joints(q, times=times, root=root))
    rested = measure(
        stool(),
        bm.Motion.from_joints(q[[*range(40), -1]], times=[*times, rest], root=root),
    )
    for name in ("joint_velocities", "joint_accelerations", "root_velocity", "torques"):
        assert (
            getattr(rested, name)[:-1] == pytest.approx(getattr(whole, name))
            and not rested.root_velocity[-1].any()
        )
    assert all(np.isfinite(figure.value) for figure in bm.dynamics.figures(rested))
    parts = (
        rested.motion.joint_displacement,
        bm.Motion.from_joints(q[:3], times=[0, 1, rest], root=root).link_position,
    )
    assert len(measure(stool(), bm.Motion(parts)).times) <= 43
    assert (
        len(
            measure(
                stool(), bm.Motion.from_joints(q, 1 / rest, root=root)
            ).contacts.heights
        )
        == 40
    )


def test_the_contact_points_of_a_link_are_computed_once(monkeypatch):
    """They take longer than all else on a robot with meshes; the body keeps them."""
    from bodymotion.geometry import meshes

    computed = []
    points = meshes.outermost_points
    monkeypatch.setattr(
        meshes,
        "outermost_points",
        lambda shapes: computed.append(shapes) or points(shapes),
    )
    body, motion = stool(), standing_still()
    for _ in range(2):
        bm.dynamics.figures(measure(body, motion))
        bm.check(standing_still(), body=body)
    assert len(computed) == len(body.links)


def test_standing_still():
    measures = measure(stool(), standing_still())
    assert measures.contacts.names == ("L_LEG", "R_LEG")
    assert measures.contacts.in_contact.all()
    np.testing.assert_allclose(measures.zmp, 0, atol=1e-12)
    np.testing.assert_allclose(measures.torques, -4 * 9.80665, atol=1e-9)
    np.testing.assert_allclose(measures.free_torques, 1 * 9.80665, atol=1e-9)
    np.testing.assert_allclose(
        measures.contact_wrenches[:, :, 2], 5 * 9.80665, atol=1e-9
    )
    np.testing.assert_allclose(measures.stability_margin, 0.1, atol=1e-12)
    np.testing.assert_array_equal(measures.support_polygons.counts, 4)
    np.testing.assert_allclose(measures.center_of_mass_acceleration, 0, atol=1e-12)
    assert measures.recorded_zmp is None
    assert "30 frames, 3 links, 2 joints" in repr(measures)


def test_the_zmp_of_what_speeds_up_lies_behind():
    """x'' = 2 m/s²: the point lies a·h/g behind the centre of mass; on a ground 0.1 m lower yet farther."""
    t = np.arange(60) / 100
    root = poses.from_parts(
        np.stack([t * t, 0 * t, 0 * t + 0.5], axis=1), rotations.IDENTITY
    )
    motion = bm.Motion.from_joints(np.zeros((60, 2)), 100, root=root)
    for ground in (0.0, -0.1):
        measures = measure(stool(), motion, ground=ground)
        center = measures.center_of_mass
        behind = 2 * (center[:, 2] - ground) / 9.80665
        np.testing.assert_allclose(measures.zmp[:, 0], center[:, 0] - behind, atol=1e-9)
        np.testing.assert_array_equal(measures.zmp[:, 2], ground)
    assert not measures.contacts.in_contact.any(), "they stay 0.1 m above that ground"
    assert (
        np.isnan(measures.stability_margin).all()
        and np.isnan(measures.center_of_pressure).all()
    )
    dragged = measure(stool(), motion, ground=0.0)
    assert dragged.contacts.in_contact.all(), (
        "what the ground carries slips over it, however fast"
    )
    np.testing.assert_allclose(
        dragged.contacts.slip_speeds, 2 * t[:, None] * [1, 1], atol=1e-9
    )
    (slide,) = [one for one in bm.dynamics.figures(dragged) if one.name == "max_slip"]
    assert slide.value == pytest.approx(t[-1] ** 2, rel=1e-3) and slide.time == t[-1]


def test_a_lift_has_a_moving_ground():
    t = np.arange(100) / 100
    height = 0.3 * np.sin(t)
    root = poses.from_parts(
        np.stack([0 * t, 0 * t, height + 0.5], axis=1), rotations.IDENTITY
    )
    motion = bm.Motion.from_joints(np.zeros((100, 2)), 100, root=root)
    measures = measure(stool(), motion, ground=height)
    assert measures.contacts.in_contact.all()
    np.testing.assert_allclose(
        measures.zmp, np.stack([0 * t, 0 * t, height], axis=1), atol=1e-9
    )


def test_flight_has_no_zmp():
    t = np.arange(50) / 100
    root = poses.from_parts(
        np.stack([t, 0 * t, 2 + 2 * t - 0.5 * 9.80665 * t * t], axis=1), ROUND
    )
    measures = measure(
        stool(), bm.Motion.from_joints(np.zeros((50, 2)), 100, root=root), ground=0.0
    )
    assert np.isnan(measures.zmp).all()
    assert not measures.contacts.in_contact.any()
    np.testing.assert_allclose(measures.torques, 0, atol=1e-8)
    np.testing.assert_array_equal(measures.contact_wrenches, 0)
    energy = measures.kinetic_energy + measures.potential_energy
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


def test_one_leg_up():
    """All weight on the other one; out of balance, since the seat is not over it."""
    q = np.zeros((40, 2))
    q[:, 0] = 0.1
    measures = measure(
        stool(),
        bm.Motion.from_joints(q, 100, root=[0, 0, 0.5, 1, 0, 0, 0]),
        feet=["L_LEG", "R_LEG"],
    )
    np.testing.assert_array_equal(
        measures.contacts.in_contact, np.tile([False, True], (40, 1))
    )
    np.testing.assert_allclose(measures.contact_wrenches[:, 1, 2], 10 * 9.80665)
    np.testing.assert_allclose(measures.stability_margin, -0.25, atol=1e-9)
    np.testing.assert_allclose(
        measures.center_of_pressure, np.tile([0, -0.25, 0], (40, 1)), atol=1e-9
    )
    np.testing.assert_allclose(measures.limit_distances, np.tile([0.1, 0.2], (40, 1)))


def test_a_trembling_foot_stands_on():
    """Between the two heights a foot does what it did before."""
    height = np.r_[
        [0.0] * 10, [0.008, 0.004] * 10, [0.02] * 10, [0.008] * 10, [0.0] * 10
    ]
    root = poses.from_parts(
        np.stack([0 * height, 0 * height, 0.5 + height], axis=1), rotations.IDENTITY
    )
    motion = bm.Motion.from_joints(np.zeros((len(height), 2)), 100, root=root)
    standing = measure(
        stool(), motion, ground=0.0, derivative="central"
    ).contacts.in_contact[:, 0]
    np.testing.assert_array_equal(
        standing, np.r_[[True] * 30, [False] * 20, [True] * 10]
    )


def test_a_mounted_body_has_no_feet_to_bear_it():
    measures = measure(stool("fixed"), bm.Motion.from_joints(np.zeros((5, 2)), 100))
    assert measures.is_mounted
    np.testing.assert_allclose(measures.torques, 9.80665, atol=1e-9)
    np.testing.assert_allclose(measures.root_wrench[:, 2], 10 * 9.80665)


def test_link_poses_alone_do():
    """Joints are recovered from the poses of all links."""
    body = stool()
    t = np.arange(50) / 50
    q = 0.1 * np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    root = poses.from_parts(
        np.stack([t, 0 * t, 0 * t], axis=1), rotations.from_axis_angle([0, 0, 1], t)
    )
    given = bm.Motion.from_joints(q, 50, root=root)
    from_poses = bm.Motion.from_link_poses(body.forward_kinematics(q, root), 50)
    a, b = measure(body, given), measure(body, from_poses)
    np.testing.assert_allclose(a.torques, b.torques, atol=1e-6)
    np.testing.assert_allclose(a.zmp, b.zmp, atol=1e-6)


def test_angles_that_jump_by_a_turn_go_on():
    wheel = bm.Link(
        name="WHEEL",
        index=1,
        parent=0,
        joint=bm.Joint(type="rotate", id=0),
        segments=(segment(1.0, box((1, 1, 1))),),
    )
    body = bm.Body(links=(bm.Link(name="BASE"), wheel))
    t = np.arange(200) / 100
    q = np.angle(np.exp(1j * 9 * t))[:, None]
    measures = measure(body, bm.Motion.from_joints(q, 100))
    np.testing.assert_allclose(measures.joint_velocities, 9, atol=1e-9)
    np.testing.assert_array_equal(measures.joint_displacements, q)


def test_two_timelines_and_stamps():
    body = stool()
    fast, slow = Timeline.uniform(101, 100), Timeline.stamped(np.linspace(0, 1, 11))
    t = fast.times
    joints = bm.MultiValueSeq(
        content="JointDisplacement",
        timeline=fast,
        values=0.1 * np.stack([t, t], axis=1),
    )
    root = poses.from_parts(
        np.stack([slow.times**2, 0 * slow.times, 0 * slow.times + 0.5], axis=1),
        rotations.IDENTITY,
    )
    link = bm.MultiSE3Seq(content="LinkPosition", timeline=slow, values=root[:, None])
    measures = measure(body, bm.Motion((joints, link)))
    assert len(measures.times) == 101
    np.testing.assert_allclose(measures.root_velocity[:, 0], 2 * t, atol=1e-9)
    np.testing.assert_allclose(measures.joint_velocities, 0.1, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_frames(count):
    measures = measure(stool(), standing_still(count))
    np.testing.assert_allclose(measures.zmp, 0, atol=1e-9)
    assert measures.work.shape == measures.power.shape == (count, 2)
    np.testing.assert_allclose(measures.effort, 4 * 9.80665, atol=1e-6)
    assert measures.mass_matrix.shape == (count, 8, 8)
    assert measures.jacobian("L_LEG").shape == (count, 6, 8)
    left = measures.body.link("L_LEG").index
    np.testing.assert_array_equal(
        measures.transmitted_wrench("L_LEG"), measures.transmitted_wrench(left)
    )


def test_a_body_without_shapes_stands_on_what_is_called_foot():
    links = (
        bm.Link(
            name="WAIST", joint=bm.Joint(type="free"), segments=(bm.Segment(mass=1.0),)
        ),
        bm.Link(name="HAND", index=1, parent=0),
        bm.Link(
            name="Left_Foot",
            index=2,
            parent=0,
            offset=np.array([0, 0, -1.0, 1, 0, 0, 0]),
        ),
    )
    body = bm.Body(links=links)
    measures = measure(
        body, bm.Motion.from_joints(np.zeros((9, 0)), 100, root=poses.IDENTITY)
    )
    assert measures.contacts.names == ("Left_Foot",)
    np.testing.assert_array_equal(measures.support_polygons.counts, 1)
    np.testing.assert_allclose(measures.stability_margin, 0, atol=1e-12)


def test_nothing_at_all():
    body = bm.Body(links=(bm.Link(name="X", joint=bm.Joint(type="free")),))
    measures = measure(
        body, bm.Motion.from_joints(np.zeros((4, 0)), 100, root=poses.IDENTITY)
    )
    assert measures.contacts.names == ()
    assert np.isnan(measures.zmp).all()
    np.testing.assert_array_equal(measures.center_of_mass_acceleration, 0)
    assert measures.torques.shape == (4, 0)
    assert measures.read_all() == ()


def test_what_is_refused():
    body = stool()
    with pytest.raises(ValueError, match="no frames"):
        measure(body, bm.Motion.from_joints(np.zeros((0, 2)), 100))
    with pytest.raises(ValueError, match="R_LEG"):
        measure(body, bm.Motion.from_joints(np.zeros((3, 1)), 100))
    with pytest.raises(ValueError, match="poses of 5 links"):
        measure(
            body, bm.Motion.from_link_poses(np.tile(poses.IDENTITY, (3, 5, 1)), 100)
        )
    with pytest.raises(ValueError, match="neither"):
        measure(body, bm.Motion())
    with pytest.raises(ValueError, match="gravity"):
        measure(body, standing_still(), gravity=[1, 2])
    with pytest.raises(KeyError, match="no link 'TOE'"):
        _ = measure(body, standing_still(), feet=["TOE"]).contacts
    with pytest.raises(
        ValueError, match=r"joint velocities: expected shape \(4, 2\), got \(4, 3\)"
    ):
        bm.dynamics.inverse_dynamics(
            body, body.forward_kinematics(np.zeros((4, 2))), np.zeros((4, 3))
        )
    with pytest.raises(ValueError, match="link poses: expected shape"):
        bm.dynamics.mass_matrix(body, np.zeros((2, 7)))


def rules_of(measures) -> list[str]:
    return [problem.rule for problem in measures.problems]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"feet": [99]}, "no link 99; the body has links 0 to 2"),
        ({"feet": [-1]}, "no link -1"),
        ({"feet": "FOOT"}, "sequence of links, got the one text 'FOOT'"),
        ({"ground": np.nan}, "expected finite heights, got nan"),
        ({"ground": [0, 0, np.inf]}, "expected finite heights, got inf"),
        ({"ground": [0, 1]}, r"one for each of 3 frames, got shape \(2,\)"),
        ({"gravity": np.nan}, "gravity: expected finite numbers, got nan"),
        ({"gravity": [0, 0, np.inf]}, "gravity: expected finite"),
        ({"gravity": [0, 9.8]}, r"expected one number or shape \(3,\)"),
        (
            {"derivative": "slope"},
            "expected one of suited, spline, central, savgol, got 'slope'",
        ),
        ({"derivative": "savgol", "window": 4}, "odd window"),
    ],
)
def test_invalid_arguments_are_rejected_by_name(asked, said):
    motion = bm.Motion.from_joints(np.zeros((3, 2)), 100)
    with pytest.raises(WrongUseError, match=said):
        measure(stool(), motion, **asked)


def test_a_body_and_then_a_motion_is_measured(examples):
    motion = bm.Motion.from_joints(np.zeros((3, 2)), 100)
    with pytest.raises(
        TypeError, match="a Body and then a Motion, got Motion and Body"
    ):
        measure(motion, stool())
    with pytest.raises(TypeError, match=r"body_and_motion"):
        measure(stool(), bm.load(examples / "sway.cha"))
    with pytest.raises(TypeError, match=r"bodymotion\.load"):
        measure("robot.wrl", motion)


def test_a_walk_of_joints_alone_follows_its_feet():
    """The stool pulls up its left leg and stands on the right one, whoever says that it is to follow its feet."""
    q = np.zeros((40, 2))
    q[:, 0] = np.linspace(0, 0.1, 40)
    alone = bm.Motion.from_joints(q, 100)
    found, asked, left = (
        measure(stool(), alone, on_feet=on_feet) for on_feet in (None, True, False)
    )
    assert [rules_of(one) for one in (found, asked, left)] == [["MEAS101"], [], []]
    np.testing.assert_array_equal(found.root_poses, asked.root_poses)
    np.testing.assert_allclose(
        found.link_poses[:, 2, :3], [[0, -0.3, 0]] * 40, atol=1e-9
    )
    np.testing.assert_array_equal(left.root_poses, [stool().root_pose] * 40)
    given = measure(stool(), standing_still())
    assert given.problems == ()


def test_what_has_no_feet_or_stands_on_wheels_stays_where_it_is():
    wheel = bm.Link(
        name="WHEEL",
        index=1,
        parent=0,
        joint=bm.Joint(type="rotate", id=0, axis=[0, 1, 0]),
        segments=(
            bm.Segment(
                mass=1.0, visuals=(bm.shapes.Shape(bm.shapes.Cylinder(0.1, 0.05)),)
            ),
        ),
    )
    cart = bm.Body(links=(bm.Link(name="CART", joint=bm.Joint(type="free")), wheel))
    rolling = bm.Motion.from_joints(np.linspace(0, 20, 50)[:, None], 100)
    assert rules_of(measure(cart, rolling)) == []
    np.testing.assert_array_equal(
        measure(cart, rolling).root_poses, [cart.root_pose] * 50
    )
    assert (
        rules_of(measure(stool("fixed"), bm.Motion.from_joints(np.zeros((5, 2)), 100)))
        == []
    )
    ghost = bm.Body(links=(bm.Link(name="X", joint=bm.Joint(type="free")),))
    assert rules_of(measure(ghost, bm.Motion.from_joints(np.zeros((4, 0)), 100))) == []
    with pytest.raises(ValueError, match="no feet"):
        measure(ghost, bm.Motion.from_joints(np.zeros((4, 0)), 100), on_feet=True)


def tank() -> bm.Body:
    """A tank of 10 kg on two belts, each 0.6 m long and 0.1 m wide, at y = ±0.2."""
    hull = bm.Link(
        name="HULL",
        joint=bm.Joint(type="free"),
        segments=(segment(8.0, box((0.4, 0.3, 0.1), z=0.2)),),
    )
    belts = [
        bm.Link(
            name=name,
            index=1 + k,
            parent=0,
            joint=bm.Joint(type="crawler", id=k, axis=[0, 1, 0]),
            segments=(segment(1.0, box((0.6, 0.1, 0.1), y=y, z=0.05)),),
        )
        for k, (name, y) in enumerate((("LEFT", 0.2), ("RIGHT", -0.2)))
    ]
    return bm.Body(name="tank", links=(hull, *belts))


def driving(columns: int, turn: float = 0.0) -> bm.Motion:
    """Drive along x at 1 m/s for a second, while joints turn at that speed."""
    times = np.arange(101) / 100
    root = np.tile(poses.IDENTITY, (101, 1))
    root[:, 0] = times
    return bm.Motion.from_joints(
        np.tile(turn * times[:, None], (1, columns)), 100, root=root
    )


def test_a_tank_that_drives_stands_on_its_belts_and_does_not_slip():
    measures = measure(tank(), driving(2))
    assert measures.contacts.names == ("LEFT", "RIGHT")
    assert measures.contacts.in_contact.all()
    np.testing.assert_array_equal(measures.contacts.slip_speeds, 0)
    np.testing.assert_allclose(measures.stability_margin, 0.25, atol=1e-9)
    found = {one.name: one.value for one in bm.dynamics.figures(measures)}
    assert found["time_in_flight"] == 0 and "max_slip" not in found
    flying = driving(2).link_position
    assert flying is not None
    root = np.array(flying.values[:, 0])
    root[:, 2] = 0.02 * (np.arange(101) > 50)
    assert (
        not measure(tank(), bm.Motion.from_joints(np.zeros((101, 2)), 100, root=root))
        .contacts.in_contact[51:]
        .any()
    )


@pytest.mark.parametrize(("turn", "slip"), [(10.0, 0.0), (0.0, 1.0), (-10.0, 2.0)])
def test_wheels_slip_unless_they_turn_as_the_way_asks(turn, slip):
    """Wheels of 0.1 m radius turn at 10 rad/s for 1 m/s."""
    hull = bm.Link(
        name="HULL",
        joint=bm.Joint(type="free"),
        segments=(segment(8.0, box((0.4, 0.3, 0.1), z=0.2)),),
    )
    wheels = [
        bm.Link(
            name=f"WHEEL{k}",
            index=1 + k,
            parent=0,
            offset=[x, y, 0.1, 1, 0, 0, 0],
            joint=bm.Joint(type="rotate", id=k, axis=[0, 1, 0]),
            segments=(segment(1.0, bm.shapes.Shape(bm.shapes.Cylinder(0.1, 0.05))),),
        )
        for k, (x, y) in enumerate([(0.2, 0.2), (0.2, -0.2), (-0.2, 0.2), (-0.2, -0.2)])
    ]
    measures = measure(bm.Body(links=(hull, *wheels)), driving(4, turn))
    assert len(measures.contacts.names) == 4
    assert measures.contacts.in_contact.all()
    np.testing.assert_allclose(measures.contacts.slip_speeds, slip, atol=0.03)
    np.testing.assert_allclose(
        measures.stability_margin, 0.2, atol=0.025
    )  # A wheel has 32 corners.


def test_columns_of_another_robot_are_told():
    motion = bm.Motion.from_joints(np.zeros((5, 4)), 100, root=poses.IDENTITY)
    (problem,) = measure(stool(), motion).problems
    assert (problem.rule, dict(problem.data)) == ("MOT202", {"motion": 4, "body": 2})


def test_numbers_that_are_not_finite_spoil_only_their_own_frames():
    whole = standing_still()
    assert whole.joint_displacement is not None
    q = np.array(whole.joint_displacement.values)
    q[7, 1], q[20, 1] = np.nan, np.inf
    measures = measure(
        stool(), bm.Motion.from_joints(q, 100, root=[0, 0, 0.5, 1, 0, 0, 0])
    )
    (problem,) = measures.problems
    assert problem.rule == "MEAS103"
    assert (
        "2 of 30 frames" in problem.message and "frame 7 (0.070 s)" in problem.message
    )
    sound = np.setdiff1d(np.arange(30), [7, 20])
    expected = measure(stool(), whole)
    np.testing.assert_allclose(
        measures.torques[sound], expected.torques[sound], atol=1e-9
    )
    np.testing.assert_allclose(measures.zmp[sound], 0, atol=1e-9)
    assert np.isnan(measures.zmp[[7, 20]]).all()
    numbers = {one.name: one.value for one in bm.dynamics.figures(measures)}
    for one in bm.dynamics.figures(expected):
        assert numbers[one.name] == pytest.approx(one.value, abs=1e-9), one.name


def test_without_any_number_it_is_said_in_words():
    with pytest.raises(ValueError, match="no frame has a finite joint value"):
        measure(stool(), bm.Motion.from_joints(np.full((4, 2), np.nan), 100))
    with pytest.raises(ValueError, match="no frame has a finite root pose"):
        measure(
            stool(),
            bm.Motion.from_joints(np.zeros((4, 2)), 100, root=np.full((4, 7), np.nan)),
        )
    one = np.zeros((4, 2))
    one[:, 1] = np.nan
    bm.dynamics.figures(measure(stool(), bm.Motion.from_joints(one, 100)))


def test_feet_share_by_where_the_pressure_is():
    points = np.array([[[0.0, 0.1], [0.0, -0.1], [1.0, 0.0]]] * 4)
    standing = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 0, 0]], dtype=bool)
    target = np.array([[0.0, 0.05], [0.5, 0.0], [5.0, 5.0], [0.0, 0.0]])
    found = bm.dynamics.load_shares(points, standing, target)
    np.testing.assert_allclose(
        found, [[0.75, 0.25, 0], [0.25, 0.25, 0.5], [0, 1, 0], [0, 0, 0]], atol=1e-5
    )


def every_quantity(measures) -> dict[str, object]:
    names = [
        name
        for name in dir(type(measures))
        if not name.startswith("_") and name != "given_zmp"
    ]
    wanted = [
        name for name in names if not callable(getattr(type(measures), name, None))
    ]
    return {name: getattr(measures, name) for name in wanted}


@settings(max_examples=tries(25))
@given(
    body=bodies(),
    seed=st.integers(0, 999),
    count=st.integers(1, 6),
    spoilt=st.booleans(),
)
def test_any_body_can_be_measured(body, seed, count, spoilt):
    """Whatever it is made of, and also where a number of the motion is none: every quantity has its frames, every sensor reads."""
    rng = np.random.default_rng(seed)
    q = 0.3 * rng.normal(size=(count, body.num_joints))
    root = poses.from_parts(
        rng.normal(size=(count, 3)), rotations.normalized(rng.normal(size=(count, 4)))
    )
    if spoilt and count > 1:
        root[0, 2] = np.nan
        q[-1:, :1] = np.inf
    with np.errstate(all="ignore"):
        measures = measure(body, bm.Motion.from_joints(q, 50, root=root))
        found = every_quantity(measures)
        readings = measures.read_all([box((1, 1, 1), 2.0)])
    assert {
        "torques",
        "zmp",
        "contacts",
        "stability_margin",
        "work",
        "mass_matrix",
        "momentum",
    } <= set(found)
    for name in (
        "torques",
        "zmp",
        "stability_margin",
        "work",
        "link_velocities",
        "kinetic_energy",
        "ground",
    ):
        assert len(found[name]) == count
        assert not found[name].flags.writeable
    for reading in readings:
        assert (
            reading.values.shape
            == (len(reading.times), len(reading.columns))
            == reading.saturated.shape
        )
