"""Simulations against closed forms, against a scene written by hand, and against the measures of the recorded motion."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.geometry import rotations
from bodymotion.model.links import default_gains, passive_joints
from bodymotion.simulation import ControllerError, Push, load_project
from sample_files import ACCEPT, ROOT, corpus_files

mujoco = pytest.importorskip("mujoco")
G = 9.81
BOX = bm.Segment(
    mass=2.0,
    inertia=np.eye(3) * 0.02,
    collisions=(bm.shapes.Shape(bm.shapes.Box((0.2, 0.2, 0.2))),),
)
FREE = bm.Joint(name="ROOT", type="free")


def box(*devices: bm.model.Device, **changes: object) -> bm.Body:
    return bm.Body(
        name="box",
        links=(bm.Link(name="BOX", joint=FREE, segments=(BOX,)),),
        devices=devices,
        **changes,
    )


def pendulum(
    *devices: bm.model.Device, mass: float = 3.0, length: float = 0.5
) -> bm.Body:
    """Return a point mass on a rod from a fixed base that turns about y; it hangs at 0."""
    bob = bm.Segment(
        mass=mass, center_of_mass=[0, 0, -length], inertia=np.eye(3) * 1e-6
    )
    joint = bm.Joint(name="SWING", type="rotate", id=0, axis=[0, 1, 0])
    links = (
        bm.Link(name="BASE", joint=bm.Joint(type="fixed")),
        bm.Link(name="ROD", index=1, parent=0, joint=joint, segments=(bob,)),
    )
    return bm.Body(name="pendulum", links=links, devices=devices)


@pytest.fixture(scope="module")
def biped(examples):
    return bm.load_body(examples / "biped.wrl"), bm.load_motion(
        examples / "biped_walk.seq"
    )


@pytest.fixture(scope="module")
def walked(biped):
    return bm.simulate(*biped, end=10.0 if ACCEPT else 3.0)


def test_free_fall():
    """Semi-implicit steps of h: after n of them z = z₀ − g·h²·n·(n + 1)/2; an accelerometer reads nothing, and nothing turns."""
    sensors = (
        bm.model.AccelerationSensor(name="acc", link=0),
        bm.model.Gyro(name="gyro", link=0),
    )
    found = bm.simulate(
        box(*sensors, root_pose=[0, 0, 9, 1, 0, 0, 0]), floor=False, end=0.5
    )
    n = np.arange(501)
    assert found.root[:, 2] == pytest.approx(9 - 0.5 * G * 1e-6 * n * (n + 1), abs=1e-9)
    assert np.abs([reading.values for reading in found.readings]).max() < 1e-9


def test_rest_on_the_ground():
    """A box stays within 1 mm, is pushed up by its weight, has its ZMP below its centre, and feels 1 g upwards."""
    found = bm.simulate(box(bm.model.AccelerationSensor(name="acc", link=0)), end=1.0)
    assert np.abs(found.root[:, :3] - found.root[0, :3]).max() < 1e-3
    assert found.contact_forces[-1, 0, :3] == pytest.approx([0, 0, 2 * G], abs=1e-3)
    assert found.readings[0].values[-1] == pytest.approx([0, 0, G], abs=1e-3)
    assert found.zmp[-1] == pytest.approx([0, 0, 0], abs=1e-4) and found.fall is None
    assert found.worst_contact[0] == "BOX"


def test_a_robot_whose_root_is_on_its_soles_has_not_fallen():
    """A root at the height of the ground is not below half of its planned height by sinking in a little."""
    above = np.eye(4)
    above[2, 3] = 0.1
    mass = replace(
        BOX,
        center_of_mass=[0, 0, 0.1],
        collisions=(bm.shapes.Shape(bm.shapes.Box((0.2, 0.2, 0.2)), above),),
    )
    found = bm.simulate(
        bm.Body(links=(bm.Link(name="SOLE", joint=FREE, segments=(mass,)),)), end=0.2
    )
    assert found.fall is None and found.root[-1, 2] < 0


def test_a_robot_that_falls_as_its_meshes_are_missing(tmp_path):
    """The missing files are reported where the model names them, beside the lack of collision shapes."""
    shape = "{type: Shape, geometry: {type: Resource, uri: sole.stl}}"
    mass = f"{{type: RigidBody, mass: 1, inertia: [1, 0, 0, 0, 1, 0, 0, 0, 1], elements: [{shape}]}}"
    link = f"{{name: SOLE, jointType: free, elements: [{mass}]}}"
    (tmp_path / "robot.body").write_text(
        f"format: ChoreonoidBody\nformatVersion: 1.0\nname: R\nrootLink: SOLE\nlinks: [{link}]"
    )
    found = bm.simulate(bm.load_body(tmp_path / "robot.body"), end=1.0)
    assert found.fall is not None and "SIM104" in {
        problem.rule for problem in found.problems
    }
    (missing,) = (problem for problem in found.problems if "missing" in problem.data)
    assert missing.data["missing"] == ("sole.stl",) and missing.location.line == 5


@pytest.mark.parametrize(("friction", "slides"), [(0.2, True), (0.6, False)])
def test_a_slope(friction, slides):
    """On a slope of 20°, a box slides with g·(sin α − μ·cos α), or stays where tan α < μ."""
    angle = np.radians(20.0)
    turn = rotations.from_axis_angle([0, 1, 0], angle)
    slope = bm.Segment(collisions=(bm.shapes.Shape(bm.shapes.Box((20.0, 4.0, 1.0))),))
    ground = bm.Body(
        name="slope",
        links=(bm.Link(name="SLOPE", joint=bm.Joint(type="fixed"), segments=(slope,)),),
    )
    at = np.array([*rotations.rotate(turn, [0, 0, -0.5 - 0.1]), *turn])
    found = bm.simulate(
        box(root_pose=[0, 0, 0, *turn]),
        floor=False,
        friction=friction,
        objects=[(ground, at)],
        end=1.0,
    )
    expected = max(G * (np.sin(angle) - friction * np.cos(angle)), 0.0) * 0.5
    way = rotations.rotate(rotations.conjugate(turn), found.root[-1, :3])[0]
    assert (way > 0.1) == slides
    assert way == pytest.approx(expected, rel=0.01, abs=0.01)


def test_a_pendulum():
    """Without torques it swings with the period of its length and amplitude: 2π·√(l/g)·(1 + α²/16)."""
    length, alpha = 0.5, 0.3
    motion = bm.Motion.from_joints(np.full((2, 1), alpha), 0.25)
    found = bm.simulate(
        pendulum(length=length), motion, gains=[[0.0, 0.0]], end=4.0, timestep=5e-4
    )
    q = found.q[:, 0]
    down = np.flatnonzero((q[:-1] > 0) & (q[1:] <= 0))
    period = np.diff(
        found.times[down] + 5e-4 * q[down] / (q[down] - q[down + 1])
    ).mean()
    assert period == pytest.approx(
        2 * np.pi * np.sqrt(length / G) * (1 + alpha**2 / 16), rel=1e-3
    )


def test_a_held_pendulum_needs_its_torque():
    """Held level, the motor gives m·g·l; with an effort limit below it, the rod falls. The force sensor at its joint feels it, too."""
    body = pendulum(bm.model.ForceSensor(name="joint", link=1))
    level = bm.Motion.from_joints(np.full((200, 1), np.pi / 2), 100)
    found = bm.simulate(body, level)
    assert abs(found.effort[-1, 0]) == pytest.approx(3 * G * 0.5, rel=1e-3)
    reading = bm.dynamics.read_sensor(found.measures, body.devices[0])
    assert found.read(body.devices[0]).values[-1] == pytest.approx(
        reading.values[-10], abs=0.05
    )
    joint = replace(body.links[1].joint, extra={"effort": 10.0})
    weak = replace(body, links=(body.links[0], replace(body.links[1], joint=joint)))
    assert (
        bm.simulate(weak, level).joint_errors[0]
        > 0.5
        > bm.simulate(weak, level, limits=False).joint_errors[0]
    )


def test_the_biped_walks(walked):
    """Defaults only: upright at the end, joints within 1° RMS, the root within 0.1 m, feet that hardly slip."""
    assert walked.fall is None and walked.root_error < 0.1 and walked.slip < 0.03
    assert np.degrees(walked.joint_errors).max() < 1.0
    motion = walked.motion
    assert [c.content for c in motion.components] == [
        "JointDisplacement",
        "LinkPosition",
        "ZMP",
        "JointEffort",
    ]
    poses_again = walked.body.forward_kinematics(
        motion.joint_displacement.values, motion.link_position.values[:, 0]
    )
    assert np.abs(poses_again - motion.link_position.values).max() < 1e-12


SAMPLE_GAINS = np.column_stack(
    [
        [8000.0] * 6 + [3000.0] * 7 + [8000.0] * 6 + [3000.0] * 7 + [8000.0] * 3,
        [100.0] * 29,
    ]
)
"""kp, kd by joint id of the controller of Choreonoid's SR1 sample."""


@pytest.mark.skipif(not ACCEPT, reason="in make accept")
@pytest.mark.parametrize(
    ("number", "factor"),
    [(1, 1.0), (2, 3.0), (3, 1.0), (1, None), (2, None), (3, None)],
)
def test_sr1_walks(number, factor):
    """Its patterns, with gains of the sample times a factor, and with default gains: upright, within 1° and 0.1 m at the end."""
    (model,) = corpus_files("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl")
    (walk,) = corpus_files(
        f"seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern{number}.seq"
    )
    gains = None if factor is None else SAMPLE_GAINS * [factor, np.sqrt(factor)]
    found = bm.simulate(bm.load_body(model), bm.load_motion(walk), gains=gains)
    assert found.fall is None and found.root_error_at_end < 0.1
    assert np.degrees(found.joint_errors).max() < 1.0


def rests(body: bm.Body) -> bool:
    """Return whether a body without joints stands in its start pose: its centre of mass is above three of its lowest corners or more."""
    link = body.links[0]
    shapes = [shape.to_mesh().vertices for shape in link.collisions or link.visuals]
    if body.num_joints or len(body.links) > 1 or not shapes:
        return False
    pose = rotations.to_matrix(body.root_pose[3:])
    points, center = np.concatenate(shapes) @ pose.T, pose @ link.center_of_mass
    low = points[points[:, 2] < points[:, 2].min() + 1e-4, :2] - center[:2]
    around = np.sort(np.arctan2(low[:, 1], low[:, 0]))
    return (
        len(low) > 2
        and np.linalg.norm(low, axis=1).min() > 0.01
        and np.diff(around, append=around[0] + 2 * np.pi).max() < 3.0
    )


@pytest.mark.skipif(not ACCEPT, reason="in make accept")
def test_every_model_of_the_samples_can_be_simulated():
    """For 5 s: numbers stay finite, and what rests stays within 5 mm; at rest a robot does not touch itself."""
    paths = corpus_files(
        "wrl/**/*.wrl",
        "body/**/*.body",
        *(
            f"{folder}/**/*.{suffix}"
            for folder in ("wrl", "body", "robots")
            for suffix in ("urdf", "xml")
        ),
    )
    resting = 0
    for path in paths:
        try:
            body = bm.load_body(path)
            found = (
                bm.simulate(body, end=5.0, sensors=False, frame_rate=10)
                if body.mass > 0
                else None
            )
        except (
            bm.FormatError,
            ValueError,
        ):  # it is no robot, or one that MuJoCo cannot hold
            continue
        if found is None:
            continue
        assert not found.diverged and np.isfinite(found.states).all(), path
        model = found.model
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = found.states[0, : model.nq], 0.0
        mujoco.mj_forward(model, data)
        own = set(found.bodies.tolist())
        pairs = model.geom_bodyid[data.contact.geom]
        assert not any(
            set(pair) <= own and data.contact.dist[k] < 0
            for k, pair in enumerate(pairs.tolist())
        ), path
        if body.links[0].joint.type == "fixed" or rests(body):
            moved = body.forward_kinematics(found.q[::100], found.root[::100])[:, :, :3]
            assert np.linalg.norm(moved - moved[0], axis=2).max() < 0.005, path
            resting += body.links[0].joint.type != "fixed"
    assert resting > 20


def test_sensors_fit_the_recorded_motion(biped):
    """In quiet stance: force sensors as `bm.dynamics` of the recorded motion, within 2 % of the weight; gyro and accelerometer as its
    derivatives, within 1 %."""
    body = biped[0]
    sway = np.zeros((201, body.num_joints))
    t = np.arange(201) / 100
    sway[
        :, [k for k, joint in enumerate(body.joints) if "SHOULDER_PITCH" in joint.name]
    ] = 0.3 * np.sin(np.pi * t)[:, None] ** 2
    found = bm.simulate(body, bm.Motion.from_joints(sway, 100), frame_rate=1000)
    weight, forces = body.mass * G, []
    for reading in found.readings:
        expected = bm.dynamics.read_sensor(found.measures, reading.device).values[
            200:-200
        ]
        error = np.sqrt(np.mean((reading.values[200:-200] - expected) ** 2, axis=0))
        if isinstance(reading.device, bm.model.ForceSensor):
            forces.append(reading.values[200:-200, :3] - expected[:, :3])
        else:
            scale = (
                G if isinstance(reading.device, bm.model.AccelerationSensor) else 1.0
            )
            assert error.max() < 0.01 * scale, reading
    # How two feet share the weight does not follow from the motion.
    assert np.sqrt(np.mean(np.sum(forces, axis=0) ** 2, axis=0)).max() < 0.02 * weight


def test_a_range_sensor_meets_a_wall():
    """A wall 2 m ahead (−z of the sensor, which looks along x): the ray at an angle is longer by 1/cos; behind there is nothing."""
    look = rotations.from_matrix(np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]]))
    laser = bm.model.RangeSensor(
        name="laser",
        link=0,
        pose=np.array([0, 0, 0.4, *look]),
        scan_angle=1.6,
        scan_step=0.4,
        scan_rate=10.0,
    )
    wall = bm.Segment(collisions=(bm.shapes.Shape(bm.shapes.Box((0.1, 40.0, 8.0))),))
    body = bm.Body(
        name="wall",
        links=(bm.Link(name="WALL", joint=bm.Joint(type="fixed"), segments=(wall,)),),
    )
    found = bm.simulate(box(laser), objects=[(body, [2.05, 0, 0, 1, 0, 0, 0])], end=0.5)
    scan = found.read(laser)
    assert scan.times == pytest.approx(np.arange(6) / 10)
    assert scan.values[-1] == pytest.approx(2.0 / np.cos(laser.ray_angles), abs=1e-3)


def test_steps_are_those_of_a_scene_by_hand(biped, tmp_path):
    """The saved MJCF of the same body and gains, stepped by a plain loop over mj_step: equal to 1e-9 over 100 steps."""
    body, motion = biped
    gains = default_gains(body)
    found = bm.simulate(body, motion, end=0.1)
    bm.save(body, tmp_path / "biped.xml", actuators="position", gains=gains)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "biped.xml"))
    model.opt.timestep, data = 1e-3, mujoco.MjData(model)
    model.eq_solref[:, 0] = 2e-3
    driven = [
        (k, joint.name)
        for k, joint in enumerate(body.joints)
        if k not in passive_joints(body)
    ]
    data.qpos[:], data.qvel[:] = (
        found.states[0, : model.nq],
        found.states[0, model.nq :],
    )
    lead = gains[:, 1] / gains[:, 0]
    fine = np.vstack([found.command[:1], found.command])
    rates = np.diff(fine, axis=0) / 1e-3
    rates[0] = rates[1]
    for k in range(100):
        for column, name in driven:
            data.actuator(name).ctrl = (
                found.command[k, column] + lead[column] * rates[k, column]
            )
        mujoco.mj_step(model, data)
        assert np.abs(data.qpos - found.states[k + 1, : model.nq]).max() < 1e-9, k


def test_torques_at_each_step_are_a_servo(biped):
    """The law of the servo as a controller of torques holds the biped as well; pushes move it, and it falls when they are large."""
    body, motion = biped
    assert bm.simulate(
        body, motion, end=0.3, drive="torque", timestep=5e-4
    ).joint_errors.max() < np.radians(1)
    push = Push(0.05, "WAIST", (0.0, 900.0, 0.0), 0.15)
    fallen = bm.simulate(body, motion, end=3.0, pushes=[push], until_fall=True)
    assert 0.05 < fallen.fall <= fallen.times[-1] < 2.5


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("drive", {"drive": "sevro"}),
        ("root", {"root": "loose"}),
        ("self_collision", {"self_collision": "some"}),
        ("frame_rate", {"frame_rate": -5.0}),
        ("frame_rate", {"frame_rate": 0.0}),
        ("timestep", {"timestep": 1e-310}),
        ("friction", {"friction": np.nan}),
        ("objects", {"objects": [(pendulum(), [1.0, 2.0])]}),
        ("pushes", {"pushes": [Push(0.0, "NOWHERE", (0.0, 0.0, 1.0))]}),
        ("gains", {"gains": [[0.0, 5.0]]}),
    ],
)
def test_an_argument_out_of_its_range_is_named(name, options):
    with pytest.raises(ValueError, match=f"^{name}: "):
        bm.simulate(pendulum(), end=0.1, **options)


def test_a_motion_with_gaps_is_rejected():
    """MuJoCo sets all controls to 0 where one is no number, so the robot would go limp."""
    values = np.zeros((50, 1))
    values[20] = np.nan
    with pytest.raises(ValueError, match=r"^motion: .* at 0\.1"):
        bm.simulate(pendulum(), bm.Motion.from_joints(values, 100))
    assert bm.simulate(pendulum(), bm.Motion.from_joints(values, 100), end=0.1).times[
        -1
    ] == pytest.approx(0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"time": np.nan},
        {"force": (0.0, np.nan, 0.0)},
        {"force": (0.0, 1.0)},
        {"duration": -1.0},
    ],
)
def test_a_push_of_no_numbers_is_rejected(wrong):
    with pytest.raises(ValueError, match="Push"):
        Push(**{"time": 0.0, "link": "ROD", "force": (0.0, 0.0, 1.0)} | wrong)


def test_controllers_that_fail(biped):
    body = pendulum()

    class Bad:
        def __init__(self, value):
            self.value = value

        def step(self, state):
            if state.time < 0.0995:
                return np.zeros(1)
            if isinstance(self.value, Exception):
                raise self.value
            return self.value

    for value in (np.zeros(2), [np.nan], "torque", RuntimeError("no")):
        with pytest.raises(ControllerError) as caught:
            bm.simulate(body, controller=Bad(value), end=1.0)
        assert "0.1 s" in str(caught.value)
        assert len(caught.value.partial.times) == 101


def test_a_divergence_is_reported_and_leaves_no_file(biped, tmp_path, monkeypatch):
    """The damping of 20 N m s is too much for the fingers of the biped, of 1e-4 kg m², in steps of 1 ms."""
    monkeypatch.chdir(tmp_path)
    body, motion = biped

    class Hold:
        def step(self, state):
            return 2000 * (state.command - state.q) - 20 * state.dq

    seen = []
    found = bm.simulate(body, motion, controller=Hold(), end=0.02)
    many = bm.simulation.simulate_many(
        body, [motion] * 2, controller=Hold(), end=0.02, workers=2
    )
    for one in (found, *many):
        assert one.diverged and one.times[-1] < 0.015
        assert "diverges at" in repr(one) and "diverges at" in one.end_text
        assert one.has_failed and one.is_short
        assert one.planned_time == pytest.approx(0.02)
        assert "0.020 s" in one.end_text
        (problem,) = (p for p in one.problems if p.rule == "SIM106")
        assert problem.severity == "error"
        assert problem.data["time"] == pytest.approx(one.times[-1])
        assert problem.data["joint"] in {joint.name for joint in body.joints}
        assert not {"SIM101", "SIM105"} & {p.rule for p in one.problems}
    assert list(tmp_path.iterdir()) == []
    assert mujoco.get_mju_user_warning() is None
    # The handler of a user stays.
    mujoco.set_mju_user_warning(seen.append)
    try:
        bm.simulate(body, motion, controller=Hold(), end=0.02)
        assert len(seen) == 1
    finally:
        mujoco.set_mju_user_warning(None)
    (tmp_path / "hold.py").write_text(
        "class Hold:\n"
        "    def step(self, state):\n"
        "        return 2000 * (state.command - state.q) - 20 * state.dq\n"
    )
    files = [str(ROOT / "examples" / name) for name in ("biped.wrl", "biped_walk.seq")]
    result = CliRunner().invoke(
        app, ["simulate", *files, "--controller", f"{tmp_path / 'hold.py'}:Hold"]
    )
    assert result.exit_code == 1
    assert "SIM106" in result.stderr
    assert "diverges at" in result.stdout and "10.000 s" in result.stdout


def test_ctrl_c_keeps_what_was_simulated():
    def interrupt(done, total):
        assert total == 5000
        if done > 900:
            raise KeyboardInterrupt

    found = bm.simulate(pendulum(), end=5.0, progress=interrupt)
    assert found.interrupted and found.times[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "path",
    corpus_files(
        "wrl/*/sample/model/closed-link-sample.wrl",
        "*/**/share/model/misc/ClosedLinkSample.*",
    ),
    ids=lambda path: path.name,
)
def test_closed_loops_stay_closed(path):
    """Every extra joint stays closed within 1 mm while a driving joint moves."""
    body = bm.load_body(path)
    q = np.zeros((201, body.num_joints))
    open_at_rest = bm.model.close_loops(body, q[0]).residual
    driving = bm.model.close_loops(body, q[0]).driving
    q[:, list(driving)[:1]] += 0.2 * np.sin(np.linspace(0, np.pi, 201))[:, None] ** 2
    found = bm.simulate(body, bm.Motion.from_joints(q, 100, root=body.root_pose))
    link_poses = body.forward_kinematics(found.q, found.root)
    assert bm.model.loop_errors(body, link_poses)[0].max() < open_at_rest + 1e-3
    assert found.joint_errors[list(driving)].max() < 0.02


def test_a_crawler_drives_at_its_speed():
    """A vehicle with two belts: straight within 2 % of the command; belts against each other turn it on the spot."""
    chassis = bm.Segment(mass=20.0, inertia=np.eye(3))
    belt = bm.Segment(
        mass=5.0,
        inertia=np.eye(3) * 0.1,
        collisions=(bm.shapes.Shape(bm.shapes.Box((0.6, 0.1, 0.1))),),
    )
    links = [bm.Link(name="CHASSIS", joint=FREE, segments=(chassis,))]
    for k, y in enumerate((0.3, -0.3)):
        joint = bm.Joint(name=f"BELT{k}", type="crawler", id=k, axis=[0, 1, 0])
        links.append(
            bm.Link(
                name=f"BELT{k}",
                index=k + 1,
                parent=0,
                joint=joint,
                offset=[0, y, -0.1, 1, 0, 0, 0],
                segments=(belt,),
            )
        )
    body = bm.Body(name="crawler", links=tuple(links))
    way = 0.4 * np.arange(301) / 100
    straight = bm.simulate(
        body, bm.Motion.from_joints(np.stack([way, way], axis=1), 100)
    )
    speed = (straight.root[-1, 0] - straight.root[1000, 0]) / (
        straight.times[-1] - straight.times[1000]
    )
    assert speed == pytest.approx(0.4, rel=0.02) and abs(straight.root[-1, 1]) < 1e-3
    turning = bm.simulate(
        body, bm.Motion.from_joints(np.stack([-way, way], axis=1), 100)
    )
    yaw = rotations.to_rpy(turning.root[-1, 3:])[2]
    assert (
        np.linalg.norm(turning.root[-1, :2]) < 0.01
        and 0.3 < yaw % (2 * np.pi) < 2 * np.pi
    )


def test_pairs_that_do_not_collide_are_one_line(examples):
    """They are the same in each run of a model; -v lists all of them."""
    files = [str(examples / "biped.wrl"), str(examples / "biped_walk.seq")]
    command = ["simulate", *files, "--to", "0.01"]
    brief, full = (CliRunner().invoke(app, [*command, *more]) for more in ([], ["-v"]))
    assert "MJCF160" not in brief.output
    pairs = [line for line in full.output.splitlines() if " and R_HIP_ROLL" in line]
    assert len(pairs) == 1
    assert pairs[0].count("; ") == 9
    assert "R_HIP_ROLL" not in brief.output


def test_the_command(biped, examples, tmp_path, monkeypatch):
    """It writes the motion, sensors and contacts; the exit code is 1 after a fall."""
    run = CliRunner()
    files = [str(examples / "biped.wrl"), str(examples / "biped_walk.seq")]
    out = [
        "-o",
        str(tmp_path / "out.seq"),
        "--sensors",
        str(tmp_path / "s.csv"),
        "--contacts",
        str(tmp_path / "c.npz"),
        *("--cameras", str(tmp_path / "seen")),
        "--json",
    ]
    result = run.invoke(app, ["simulate", *files, "--to", "0.1", *out])
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["fall"] is None
    assert bm.load_motion(tmp_path / "out.seq").num_frames == pytest.approx(11, abs=1)
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 102
    assert len(list((tmp_path / "seen").glob("0_HEAD_CAMERA_*.png"))) == 4
    for folder in (str(tmp_path / "seen"), "", str(tmp_path / "out.seq")):
        assert run.invoke(app, ["simulate", *files, "--cameras", folder]).exit_code == 2
    cameras = sys.modules["bodymotion.cli.simulate"]._choose_cameras
    (camera,) = (one for one in biped[0].devices if one.name == "HEAD_CAMERA")
    both = replace(biped[0], devices=(replace(camera, field_of_view=4.0), camera))
    assert cameras(both, tmp_path / "new") == [camera]
    (tmp_path / "limp.py").write_text(
        "import numpy as np\nclass Limp:\n    def step(self, state):\n        return np.zeros(len(state.q))\n"
    )
    limp = ["--controller", f"{tmp_path / 'limp.py'}:Limp", "--until-fall", "--to", "3"]
    assert run.invoke(app, ["simulate", *files, *limp]).exit_code == 1
    assert (
        run.invoke(app, ["simulate", *files, "--push", "1,NOWHERE,0,0,0,1"]).exit_code
        == 2
    )
    monkeypatch.setattr(sys.modules["bodymotion.cli.simulate_output"], "MAX_IMAGES", 3)
    assert (
        run.invoke(
            app,
            ["simulate", *files, "--to", "0.1", "--cameras", str(tmp_path / "many")],
        ).exit_code
        == 1
    )
    assert not (tmp_path / "many").exists()


def test_spot_needs_more_torque_than_it_has(examples):
    """Its examples keep it upright; a jump that needs more than 115 N m at the knees is reported with the joints."""
    wave, sway = (
        bm.spot.play(bm.load_animation(examples / f"{name}.cha"))
        for name in ("wave", "sway")
    )
    spot = bm.spot.body()
    swayed = bm.simulate(bm.spot.body(arm=False), sway, end=None if ACCEPT else 1.5)
    for found in (swayed, bm.simulate(spot, wave, end=1.0)):
        assert found.fall is None and found.root_error < 0.1
    # Its light feet do not sink into the floor.
    feet = [link.index for link in swayed.body.links if link.name.endswith("foot")]
    link_poses = swayed.body.forward_kinematics(swayed.q, swayed.root, feet)
    assert link_poses[..., 2].min() > 0.036 - 0.006
    q = np.tile(wave.joint_displacement.values[:1], (61, 1))
    t = np.linspace(0, 1, 61)[:, None]
    knees = [k for k, joint in enumerate(spot.joints) if joint.name.endswith("kn")]
    q[:, knees] -= 0.8 * np.sin(np.pi * np.clip(4 * t - 1, 0, 1)) ** 2
    jump = bm.simulate(
        spot, bm.Motion.from_joints(q, 60, root=wave.link_position.values[0, 0])
    )
    (problem,) = (problem for problem in jump.problems if problem.rule == "SIM101")
    assert {joint.partition("_")[2] for joint in problem.data["joints"]} >= {"kn"}
    assert np.abs(jump.effort[:, knees]).max() <= 115.0


def test_many_at_once():
    """Each is what it is alone, whatever the number of threads."""
    motions = [
        bm.Motion.from_joints(np.full((20, 1), angle), 100) for angle in (0.1, 0.2, 0.3)
    ]
    together = bm.simulation.simulate_many(
        pendulum(), motions, workers=2, gains=[[0.0, 0.0]]
    )
    for found, motion in zip(together, motions, strict=True):
        assert (found.q == bm.simulate(pendulum(), motion, gains=[[0.0, 0.0]]).q).all()
    with pytest.raises(ValueError, match="bodies"):
        bm.simulation.simulate_many([pendulum()], motions)


def test_what_was_simulated_before_does_not_matter():
    """A model is kept for the same body: other gains, limits, roots and steps do not change what comes out of the first ones."""
    body = box()
    lying = bm.Motion.from_joints(
        np.zeros((2, 0)), 10, root=[0, 0, 0.1, 0.8, 0.6, 0, 0]
    )
    options = [
        {"motion": lying},
        {},
        {"friction": 0.2},
        {"root": "fixed"},
        {"timestep": 2e-3},
        {"floor": False},
        {"self_collision": "none"},
    ]
    before = [bm.simulate(body, end=0.1, **one).root for one in options]
    again = [bm.simulate(box(), end=0.1, **one).root for one in reversed(options)]
    assert all(
        (one == other).all() for one, other in zip(before, reversed(again), strict=True)
    )


def test_cameras_see_the_simulated_robot():
    """A camera that falls towards the ground sees it come nearer, by z = z₀ − g·t²/2; it sees a box beside it from its start on."""
    camera = bm.model.VisionSensor(
        name="eye",
        link=0,
        type="DEPTH",
        width=5,
        height=5,
        field_of_view=0.1,
        frame_rate=10.0,
        back_clip_distance=50.0,
    )
    body = box(camera, root_pose=[0, 0, 9, 1, 0, 0, 0])
    frames = bm.simulate(
        body,
        bm.Motion.from_joints(np.zeros((6, 0)), 10, root=body.root_pose),
        floor=True,
        end=0.5,
    )
    depth = frames.camera_frames(camera).depth[:, 2, 2]
    assert depth == pytest.approx(9 - 0.5 * G * (np.arange(6) / 10) ** 2, abs=0.01)


PROJECT = """
items:
  class: RootItem
  children:
    - {class: BodyItem, name: floor, data: {file: "${SHARE}/box.wrl", fix_root: true, initial_root_translation: [0, 0, -0.5]}}
    - class: BodyItem
      name: robot
      data: {modelFile: "${SHARE}/biped.wrl", initial_root_translation: [1, 2, 0.7], initial_root_rotation: [0, 0, 1, 90]}
      children: [{class: BodyMotionItem, data: {filename: "${PROJECT_DIR}/walk.seq"}}]
    - {class: AISTSimulatorItem, data: {time_step: 0.002, time_length: 3}}
"""


def test_a_project_of_choreonoid(examples, tmp_path):
    """Its robot stands where the project has it; a body that is fixed carries it; time step and motion are used."""
    (tmp_path / "share").mkdir()
    block = replace(
        box(),
        links=(
            replace(
                box().links[0],
                segments=(
                    replace(
                        BOX,
                        collisions=(bm.shapes.Shape(bm.shapes.Box((9.0, 9.0, 1.0))),),
                    ),
                ),
            ),
        ),
    )
    bm.save(block, tmp_path / "share" / "box.wrl")
    (tmp_path / "share" / "biped.wrl").write_bytes(
        (examples / "biped.wrl").read_bytes()
    )
    (tmp_path / "scenes").mkdir()
    (tmp_path / "scenes" / "walk.seq").write_bytes(
        (examples / "biped_walk.seq").read_bytes()
    )
    (tmp_path / "scenes" / "scene.cnoid").write_text(PROJECT)
    project = load_project(tmp_path / "scenes" / "scene.cnoid")
    assert project.body.root_pose == pytest.approx(
        [1, 2, 0.7, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    )
    assert (project.timestep, project.seconds, project.problems) == (0.002, 3.0, ())
    found = bm.simulate(
        project.body,
        project.motion,
        objects=project.objects,
        floor=False,
        end=0.2,
        timestep=0.002,
    )
    assert (
        found.fall is None
        and np.abs(found.root[-1, 2] - found.planned_root[-1, 2]) < 0.01
    )


def test_the_model_of_mujoco(biped):
    found = bm.to_mujoco(biped[0], actuators="position")
    assert (
        found.model.nu == biped[0].num_joints - len(passive_joints(biped[0]))
        and found.model.body(found.links[0]).id == 1
    )
    data = mujoco.MjData(found.model)
    mujoco.mj_forward(found.model, data)
    expected = biped[0].forward_kinematics(np.zeros(biped[0].num_joints))
    assert np.abs(data.body(found.links[5]).xpos - expected[5, :3]).max() < 1e-9


def test_positions_of_mujoco_are_a_motion(walked):
    """What was simulated, read from MuJoCo's positions, poses the body as the result does."""
    rows = walked.states[::1000, : walked.model.nq]
    motion = bm.Motion.from_mujoco(walked.model, rows, 1.0, prefix="robot/")
    expected = walked.body.forward_kinematics(walked.q[::1000], walked.root[::1000])
    assert np.abs(walked.body.link_poses(motion) - expected).max() < 1e-12
    with pytest.raises(ValueError, match="qpos"):
        bm.Motion.from_mujoco(walked.model, rows[:, 1:], 1.0)


SITE_MODEL = """<mujoco><worldbody><body name="box" pos="0 0 1"><freejoint/>
  <geom type="box" size=".1 .1 .1"/><site name="imu" pos="0 0 .05"/></body></worldbody>
  <sensor><framequat name="o" objtype="site" objname="imu"/>
  <gyro name="g" site="imu"/></sensor></mujoco>"""


def test_sensors_at_sites_of_mjcf_are_no_losses(tmp_path):
    """The site is in the model of the simulation, and the gyro is read; MuJoCo knows no other sensors than those of the simulation."""
    path = tmp_path / "box.xml"
    path.write_text(SITE_MODEL)
    found = bm.simulate(bm.load_body(path), end=0.01)
    assert not {problem.rule for problem in found.problems} & {"LOSS085"}
    assert found.model.site("robot/imu").pos == pytest.approx([0, 0, 0.05])
    assert len(found.readings) == 1


@pytest.mark.parametrize("package", [bm, bm.simulation])
def test_the_former_name_of_a_result_works(package):
    with pytest.warns(DeprecationWarning, match="is now .*SimulationResult"):
        assert package.Simulation is bm.simulation.SimulationResult
