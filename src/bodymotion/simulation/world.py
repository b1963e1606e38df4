"""A body, a floor and further models as one MuJoCo model, with what is measured of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.folder import MeshFolder
from bodymotion.formats.mjcf.standing import SelfCollision
from bodymotion.formats.mjcf.writer import MjcfModel, ModelOptions, mjcf_model
from bodymotion.formats.mjcf_extra import mjcf_values
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import AccelerationSensor, ForceSensor, Gyro
from bodymotion.model.motors import effort_range
from bodymotion.system.extras import need

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body

ROBOT = "robot/"
"""Prefix of the names of the simulated body."""

LOOP_TOLERANCE = 1e-4
"""[m] A loop that is open by more in its best closed pose cannot be closed."""


@dataclass(frozen=True)
class MujocoModel:
    """A body as a compiled model of MuJoCo, as `to_mujoco` returns it.

    Attributes
    ----------
    model:
        The `mujoco.MjModel`.
    links, joints:
        By the index of a link, the name of its MuJoCo body, and that of its joint.
    problems:
        What the model does not hold of the body, and what was repaired.
    """

    model: Any
    links: Mapping[int, str]
    joints: Mapping[int, str]
    problems: tuple[Problem, ...]


def to_mujoco(body: Body, **options: Any) -> MujocoModel:  # noqa: ANN401
    """Return a body as a model of MuJoCo, the same that `save` writes as MJCF; options are those of `write_mjcf`.

    Raises
    ------
    ImportError
        Without the extra `sim`.
    FormatError
        As `write_mjcf`.
    """
    strict = bool(options.pop("strict", False))
    written = _written(body, ModelOptions(**options), "robot", strict)
    return MujocoModel(_spec(written).compile(), written.links, written.joints, written.problems)


def _written(body: Body, options: ModelOptions, name: str, strict: bool = False) -> MjcfModel:
    # No file is below os.devnull, so meshes stay in memory.
    return mjcf_model(body, options, MeshFolder(Path(os.devnull) / f"{name}.xml"), strict=strict)


def _spec(written: MjcfModel) -> Any:  # noqa: ANN401
    mujoco = need("mujoco", "sim", "the simulation")
    return mujoco.MjSpec.from_string(written.xml.decode(), assets=dict(written.folder.files))


@dataclass(frozen=True)
class World:
    """The model of a simulation, and where the parts of the body are in it.

    Attributes
    ----------
    model:
        The `mujoco.MjModel`.
    body:
        The body as it is simulated: with repaired inertias, and fixed where it is asked for.
    qpos, dofs, actuators:
        (J,) for each joint column the index of its position, of its velocity, and of its actuator; −1 where it has none.
    bodies:
        (L,) the MuJoCo body of each link.
    root:
        The index of the first of the 7 positions of a free root, −1 for a fixed one.
    contacts, effort, sensors:
        Columns of the sensor data: (C, 10) of the net force of the contacts of each link in `touching`, (J,) of the torque of each
        actuator (−1 where it has none), and by the index of a device.
    crawlers:
        For each crawler its joint column, its geoms, and the velocity (G, 3) of the surface of each at 1 m/s, in the geom's frame.
    """

    model: Any
    body: Body
    qpos: npt.NDArray[np.int64]
    dofs: npt.NDArray[np.int64]
    actuators: npt.NDArray[np.int64]
    bodies: npt.NDArray[np.int64]
    root: int
    touching: tuple[int, ...]
    contacts: npt.NDArray[np.int64]
    effort: npt.NDArray[np.int64]
    sensors: Mapping[int, slice]
    crawlers: tuple[tuple[int, npt.NDArray[np.int64], Floats], ...] = ()
    problems: tuple[Problem, ...] = field(default=())


def build_world(
    body: Body,
    *,
    gains: Floats | None,
    posture: tuple[Floats, Floats],
    timestep: float = 1e-3,
    self_collision: SelfCollision = "touching",
    friction: float = 1.0,
    floor: bool,
    objects: Sequence[tuple[Body, npt.ArrayLike]] = (),
    limits: bool = True,
    sensors: bool = True,
) -> World:
    """Return the model of a simulation that starts in a posture: joint values (J,) and a root pose (7,).

    `gains` (J, 2) are kp and kd of servos; None stands for motors, whose control is the torque at the joint. `objects` are further bodies,
    each with the pose (7,) that its model has in the world. Without `limits`, joints and actuators have none.
    """
    mujoco = need("mujoco", "sim", "the simulation")
    body = _meeting_loops(_without_balls(replace(body, root_pose=posture[1])), posture[0])
    kind = "position" if gains is not None else "none"
    options = ModelOptions(self_collision, kind, gains, friction=friction, postures=(posture[0],))  # type: ignore[arg-type]
    written = _written(replace(body, devices=()), options, "robot")
    world = mujoco.MjSpec()
    world.option.timestep = timestep
    world.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    if floor:
        world.worldbody.add_geom(
            name="floor",
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0, 0, 1],
            friction=[friction, 0.005, 0.0001],
            priority=1,
        )
    robot = _bare(_spec(written))
    world.attach(robot, prefix=ROBOT, frame=world.worldbody.add_frame())
    for number, (thing, pose) in enumerate(objects):
        model = _written(
            replace(thing, devices=()), ModelOptions(actuators="none", friction=friction), f"object{number}"
        )
        at = np.asarray(pose, dtype=np.float64)
        frame = world.worldbody.add_frame(pos=at[:3], quat=at[3:])
        child = _bare(_spec(model))
        for geom in child.geoms:
            geom.friction[0], geom.priority = friction, 1
        world.attach(child, prefix=f"object{number}/", frame=frame)
    if gains is None:
        for index, name in written.joints.items():
            if index and body.links[index].joint.type in ("rotate", "slide"):
                motor = world.add_actuator(name=ROBOT + name, target=ROBOT + name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
                motor.set_to_motor()
                efforts = effort_range(body.links[index].joint)
                if efforts is not None:
                    motor.forcerange, motor.forcelimited = efforts, mujoco.mjtLimited.mjLIMITED_TRUE
    named = {index: name if name == "world" else ROBOT + name for index, name in written.links.items()}
    touching = tuple(link.index for link in body.links if link.collisions and named.get(link.index, "world") != "world")
    _add_sensors(world, body, named, touching, devices=sensors)
    model = world.compile()
    if body.source.format != "mjcf":
        # Loops as stiff as the time step allows.
        model.eq_solref[:, 0] = np.minimum(model.eq_solref[:, 0], 2.0 * timestep)
    if not limits:
        model.jnt_limited[:] = 0
        model.actuator_forcelimited[:] = 0
    return _located(mujoco, model, written, body, named, touching)


def _without_balls(body: Body) -> Body:
    """Return the body with three hinges for each ball joint of an MJCF file, as its joint columns have them."""
    links = []
    for link in body.links:
        own = mjcf_values(link.joint.extra)
        extra = {**link.joint.extra, "mjcf": {key: value for key, value in own.items() if key != "ball"}}
        links.append(replace(link, joint=replace(link.joint, extra=extra)) if "ball" in own else link)
    return replace(body, links=tuple(links))


def _meeting_loops(body: Body, q: Floats) -> Body:
    """Return the body with the second point of each loop that cannot be closed moved to the first one, for joint values (J,).

    In a plane mechanism, points may be apart across the plane, where no joint moves them: MuJoCo would try with very large forces.
    """
    at = body.forward_kinematics(q)
    joints = []
    for joint in body.extra_joints:
        one, two = (poses.transform_points(at[k], p) for k, p in zip(joint.links, joint.positions, strict=True))
        if joint.type in ("xyz", "ball", "hinge") and np.linalg.norm(one - two) > LOOP_TOLERANCE:
            moved = poses.transform_points(poses.inverse(at[joint.links[1]]), one)
            joint = replace(joint, positions=np.stack([joint.positions[0], moved]))
        joints.append(joint)
    return replace(body, extra_joints=tuple(joints))


def _bare(spec: Any) -> Any:  # noqa: ANN401
    """Return a specification without the floor, light and keyframes of its file."""
    for part in (spec.geom("floor"), spec.light("light"), *spec.keys):
        if part is not None:
            spec.delete(part)
    return spec


def _add_sensors(world: Any, body: Body, named: Mapping[int, str], touching: Sequence[int], *, devices: bool) -> None:  # noqa: ANN401
    mujoco = need("mujoco", "sim", "the simulation")
    sense, kind = mujoco.mjtSensor, mujoco.mjtObj
    for index in touching:
        # found, force (3), torque (3), pos (3): bits 0, 1, 2 and 4 of mjtConDataField; 3 is the reduction "netforce"; one slot.
        world.add_sensor(
            name=f"contact {index}",
            type=sense.mjSENS_CONTACT,
            objtype=kind.mjOBJ_BODY,
            objname=named[index],
            intprm=[0b10111, 3, 1],
        )
    for actuator in world.actuators:
        world.add_sensor(
            name=f"effort {actuator.name}",
            type=sense.mjSENS_ACTUATORFRC,
            objtype=kind.mjOBJ_ACTUATOR,
            objname=actuator.name,
        )
    kinds = {AccelerationSensor: ("ACCELEROMETER",), Gyro: ("GYRO",), ForceSensor: ("FORCE", "TORQUE")}
    for number, device in enumerate(body.devices if devices else ()):
        for name in kinds.get(type(device), ()):
            site = f"device {number} {name}"
            world.body(named[device.link]).add_site(name=site, pos=device.pose[:3], quat=device.pose[3:])
            world.add_sensor(name=site, type=getattr(sense, f"mjSENS_{name}"), objtype=kind.mjOBJ_SITE, objname=site)


def _located(
    mujoco: Any,  # noqa: ANN401
    model: Any,  # noqa: ANN401
    written: MjcfModel,
    body: Body,
    named: Mapping[int, str],
    touching: tuple[int, ...],
) -> World:
    columns = {index: column for column, index in enumerate(body.joint_links) if index >= 0}
    qpos, dofs, actuators, effort = (np.full(body.num_joints, -1, dtype=np.int64) for _ in range(4))
    for index, name in written.joints.items():
        if index in columns:
            joint = model.joint(ROBOT + name)
            qpos[columns[index]], dofs[columns[index]] = joint.qposadr[0], joint.dofadr[0]
            found = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, ROBOT + name)
            if found >= 0:
                actuators[columns[index]] = found
                effort[columns[index]] = model.sensor(f"effort {ROBOT}{name}").adr[0]
    root = int(model.joint(ROBOT + written.joints[0]).qposadr[0]) if 0 in written.joints else -1
    sensors: dict[int, slice] = {}
    for number in range(len(body.devices)):
        adrs = [s for s in range(model.nsensor) if model.sensor(s).name.startswith(f"device {number} ")]
        if adrs:
            start = model.sensor_adr[adrs[0]]
            sensors[number] = slice(int(start), int(model.sensor_adr[adrs[-1]] + model.sensor_dim[adrs[-1]]))
    contacts = [np.arange(10) + model.sensor(f"contact {index}").adr[0] for index in touching]
    bodies = np.array([model.body(named[index]).id if index in named else 0 for index in range(len(body.links))])
    crawlers = []
    # Belts are fixed in a file, and move here.
    belts = {f"links[{link.index}]" for link in body.links if link.joint.type == "crawler"}
    model.flg_surfacevel |= any(joint.type == "crawler" for joint in body.joints)
    for column, index in enumerate(body.joint_links):
        if index >= 0 and body.links[index].joint.type == "crawler":
            geoms = np.flatnonzero(
                (model.geom_bodyid == bodies[index]) & (model.geom_contype + model.geom_conaffinity > 0)
            )
            crawlers.append((column, geoms, _belt(mujoco, model, body, index, geoms)))
    return World(
        model,
        written.body if written.body.devices else replace(written.body, devices=body.devices),
        qpos,
        dofs,
        actuators,
        bodies,
        root,
        touching,
        np.array(contacts, dtype=np.int64).reshape(-1, 10),
        effort,
        sensors,
        tuple(crawlers),
        tuple(problem for problem in written.problems if problem.location.inside not in belts),
    )


def _belt(mujoco: Any, model: Any, body: Body, index: int, geoms: npt.NDArray[np.int64]) -> Floats:  # noqa: ANN401
    """Return the velocity (G, 3) of a belt's surface at 1 m/s in the frames of its geoms: at the ground −axis × up.

    A wheel that turns about the axis moves its lowest point so. The velocity is the same all over the belt.
    """
    placed = body.forward_kinematics(np.zeros(body.num_joints), poses.IDENTITY)[index]
    turn = poses.to_matrix(placed)[:3, :3]
    ahead = turn.T @ -np.cross(turn @ body.links[index].joint.axis, [0.0, 0.0, 1.0])
    found = []
    for geom in geoms:
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, model.geom_quat[geom])
        found.append(matrix.reshape(3, 3).T @ ahead)
    return np.array(found).reshape(-1, 3)
