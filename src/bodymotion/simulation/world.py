"""A body, a floor and further models as one MuJoCo model, with its sensors."""

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, ShortRepr
from bodymotion.dynamics.sensors import Thing, level_ground
from bodymotion.formats.kept_json import mjcf_values
from bodymotion.formats.meshes.folder import MeshFolder
from bodymotion.formats.mjcf.writer import (
    Actuators,
    MjcfModel,
    ModelOptions,
    SelfCollision,
    mjcf_model,
    overlap_problem,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints
from bodymotion.model.links import (
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    Link,
    default_gains,
    effort_range,
    standing_links,
)
from bodymotion.simulation import rules
from bodymotion.system.deferred import need

# Prefix of the names of the simulated body.
ROBOT = "robot/"
# [m] The floor gives way by at most this under a robot on one of its feet.
MAX_SINK = 0.005
# The largest impedance d of MuJoCo's contacts.
MAX_IMPEDANCE = 0.95
# d·(1 − d).
SINK_FACTOR = MAX_IMPEDANCE * (1.0 - MAX_IMPEDANCE)
TORSION = 0.005
# [m] The friction of the floor about its normal, and against rolling: MuJoCo's own.
ROLLING = 0.0001
# [m] A loop that is open by more in its best closed pose cannot be closed.
LOOP_TOLERANCE = 1e-4
# The numbers of a contact sensor: found, force, torque, position.
CONTACT_COLUMNS = 10


@dataclass(frozen=True)
class MujocoModel(ShortRepr):
    """A body as a compiled model of MuJoCo, as `to_mujoco` returns it.

    Attributes
    ----------
    model:
        The `mujoco.MjModel`.
    links, joints:
        By the index of a link, the name of its MuJoCo body, and that of its joint.
    problems:
        The parts of the body that the model does not hold, and repairs.
    """

    model: Any
    links: Mapping[int, str]
    joints: Mapping[int, str]
    problems: tuple[Problem, ...]


def to_mujoco(body: Body, **options: Any) -> MujocoModel:  # noqa: ANN401
    """Return a body as a model of MuJoCo, the same that `save` writes as MJCF.

    Options are those of `write_mjcf`.

    Raises
    ------
    ImportError
        Without the extra `sim`.
    FormatError
        As `write_mjcf`.
    """
    # `strict` is an argument of the writer, not of the model.
    strict = bool(options.pop("strict", False))
    written = _written(body, ModelOptions(**options), "robot", strict)
    model = _spec(written).compile()
    return MujocoModel(model, written.links, written.joints, written.problems)


def _written(
    body: Body, options: ModelOptions, name: str, strict: bool = False
) -> MjcfModel:
    # No file is below os.devnull, so meshes stay in memory.
    folder = MeshFolder(Path(os.devnull) / f"{name}.xml")
    return mjcf_model(body, options, folder, strict=strict)


def _spec(written: MjcfModel) -> Any:  # noqa: ANN401
    mujoco = need("mujoco", "sim", "the simulation")
    return mujoco.MjSpec.from_string(
        written.xml.decode(), assets=dict(written.folder.files)
    )


@dataclass(frozen=True)
class World:
    """The model of a simulation, and where the parts of the body are in it.

    Attributes
    ----------
    model:
        The `mujoco.MjModel`.
    body:
        The body as it is simulated: with repaired inertias, and fixed where it is asked
        for.
    qpos, dofs, actuators:
        (J,) for each joint column the index of its position, of its velocity, and of
        its actuator; −1 where it has none.
    bodies:
        (L,) the MuJoCo body of each link.
    root:
        The index of the first of the 7 positions of a free root, −1 for a fixed one.
    effort, sensors, contacts:
        Columns of the sensor data: (J,) of the torque of each actuator (−1 where it has
        none), by the index of a device, and the first one of contacts: 10 for each link
        in `touching`, from there to the end.
    scenery:
        The floor and the further bodies, as cameras see them.
    crawlers:
        For each crawler its joint column, its geoms, and the velocity (G, 3) of the
        surface of each at 1 m/s, in the geom's frame.
    """

    model: Any
    body: Body
    qpos: Indices
    dofs: Indices
    actuators: Indices
    bodies: Indices
    root: int
    touching: tuple[int, ...]
    contacts: int
    effort: Indices
    sensors: Mapping[int, slice]
    crawlers: tuple[tuple[int, Indices, Floats], ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    scenery: tuple[Thing, ...] = ()


@dataclass(frozen=True, eq=False)
class WorldOptions:
    """How a world is made.

    `gains` (J, 2), kp and kd of servos (None: motors, controlled by joint torques), and
    options of `simulate`.
    """

    gains: Floats | None
    timestep: float
    self_collision: SelfCollision
    friction: float
    floor: bool
    limits: bool
    sensors: bool


class Robot:
    """A body to simulate, with what does not depend on its motion.

    The last model is kept for the next simulation.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        self._last: tuple[tuple[object, ...], World] | None = None
        self._lock = threading.Lock()

    @cached_property
    def points(self) -> CollisionPoints:
        """The points of the collision shapes."""
        return CollisionPoints(self.body)

    @cached_property
    def default_gains(self) -> Floats:
        """The default gains (J, 2)."""
        return default_gains(self.body)

    def world(
        self,
        options: WorldOptions,
        posture: tuple[Floats, Floats],
        objects: Sequence[tuple[Body, npt.ArrayLike]] = (),
    ) -> World:
        """Return the model of a simulation that starts in a posture.

        Joint values (J,) and a root pose (7,).

        `objects` are further bodies, each with the pose (7,) that its model has in the
        world.
        """
        q, root = posture
        pairs: tuple[tuple[int, int], ...] = ()
        if options.self_collision == "touching":
            # Pairs that overlap in the first pose would be pushed apart by huge forces.
            pairs = self.points.overlaps((q,), self.points.rest_overlaps)
        # All that the compiled model depends on: it is made once for many motions. The
        # pose of a mounted root and closed loops are part of the model.
        key = (
            None if options.gains is None else options.gains.tobytes(),
            *(options.self_collision, options.friction, options.floor, options.sensors),
            pairs,
            root.tobytes() if self.body.is_mounted else b"",
            q.tobytes() if self.body.extra_joints else b"",
        )
        # Simulations on several threads share a robot.
        with self._lock:
            last = self._last
            if objects or last is None or last[0] != key:
                world = build_world(
                    self.body, options, pairs, posture, self.points.home(), objects
                )
                # Objects are rarely the same twice, so models with them are not kept.
                if not objects:
                    self._last = (key, world)
            else:
                world = last[1]
        # Each simulation has a model of its own.
        model = copy(world.model)
        model.opt.timestep = options.timestep
        # A file of MuJoCo has stiffnesses of its own. MuJoCo's shortest stable time
        # constant is two steps.
        if self.body.source.format != "mjcf":
            # Loops as stiff as the time step allows.
            shortest = 2.0 * options.timestep
            model.eq_solref[:, 0] = np.minimum(model.eq_solref[:, 0], shortest)
        if not options.limits:
            model.jnt_limited[:] = 0
            model.actuator_forcelimited[:] = 0
        return replace(world, model=model, body=replace(world.body, root_pose=root))


# By the id of a body, as long as it lives. Then by how its root is fixed, and by
# whether its visuals collide.
_robots: dict[int, dict[tuple[str | None, bool], Robot]] = {}


def robot_of(
    body: Body, root: Literal["free", "fixed"] | None = None, *, visuals: bool = False
) -> Robot:
    """Return a body to simulate, with its root free, fixed, or as the body has it.

    The same one for the same body.

    With `visuals`, those are the collision shapes of a body that has none.
    """
    robots = _robots.get(id(body))
    if robots is None:
        robots = _robots[id(body)] = {}
        # When the body is collected, its robots are, too.
        weakref.finalize(body, _robots.pop, id(body), None)
    key = (root, visuals)
    if key not in robots:
        links = body.links
        if visuals and not any(link.collisions for link in links):
            links = tuple(map(_with_visuals_colliding, links))
        if root is not None and links:
            joint = replace(links[0].joint, type=root)
            links = (replace(links[0], joint=joint), *links[1:])
        # Another body, as one that is referred to here would live for ever.
        robots[key] = Robot(replace(body, links=links))
    return robots[key]


def _with_visuals_colliding(link: Link) -> Link:
    segments = [
        replace(segment, collisions=segment.visuals) for segment in link.segments
    ]
    return replace(link, segments=tuple(segments))


def build_world(
    body: Body,
    options: WorldOptions,
    overlaps: Sequence[tuple[int, int]],
    posture: tuple[Floats, Floats],
    home: tuple[Floats, Floats],
    objects: Sequence[tuple[Body, npt.ArrayLike]],
) -> World:
    """Return the model of a simulation.

    Without contacts of the pairs of links in `overlaps`. `posture` is that of the
    start, `home` that of rest: joint values (J,) and a root pose (7,).
    """
    mujoco = need("mujoco", "sim", "the simulation")
    # A free root has the pose of its file in the model, which is kept for other
    # postures.
    if body.is_mounted:
        body = replace(body, root_pose=posture[1])
    body = _meeting_loops(_without_balls(body), posture[0])
    written = _write_robot(body, options)
    spec = mujoco.MjSpec()
    # Damping of servos is implicit: explicit integration would be unstable for stiff
    # gains.
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    if options.floor:
        spec.worldbody.add_geom(
            name="floor",
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0, 0, 1],
            friction=[options.friction, TORSION, ROLLING],
            # A higher priority: the floor's friction holds, not the larger one of both
            # geoms.
            priority=1,
        )
    robot = _bare(_spec(written), spec)
    spec.attach(robot, prefix=ROBOT, frame=spec.worldbody.add_frame())
    for number, (thing, pose) in enumerate(objects):
        pose = np.asarray(pose, dtype=np.float64)
        _attach_object(spec, f"object{number}", thing, pose, options.friction)
    # Servos are in the written model; motors are added here.
    if options.gains is None:
        _add_motors(spec, body, written)
    names = {}
    for index, name in written.links.items():
        names[index] = name if name == "world" else ROBOT + name
    # Links that are fixed to the world do not count as touching.
    touching = tuple(
        link.index
        for link in body.links
        if link.collisions and names.get(link.index, "world") != "world"
    )
    # Contacts come last among the sensors, so that their columns are at the end.
    _add_sensors(spec, body, names, touching, devices=options.sensors)
    overlap_problems = _exclude_overlaps(spec, names, overlaps)
    model = spec.compile()
    if options.floor:
        # The weights at the feet are known only after compiling.
        _stiffen_floor(model, body, home, names)
    world = _locate(model, written, body, names, touching)
    problems = [*world.problems, *overlap_problems]
    if options.floor and not body.is_mounted and not touching:
        problems += _report_no_shapes(body)
    scenery: list[Thing] = [level_ground(np.zeros(3))] if options.floor else []
    for thing, pose in objects:
        # Cameras see objects where they stand at the start.
        scenery.append(replace(thing, root_pose=poses.compose(pose, thing.root_pose)))
    return replace(world, problems=tuple(problems), scenery=tuple(scenery))


def _write_robot(body: Body, options: WorldOptions) -> MjcfModel:
    """Return the simulated body as MJCF, with servos if there are gains."""
    self_collision: SelfCollision = "none"
    if options.self_collision != "none":
        # Pairs that touch are left out by the world.
        self_collision = "all"
    actuators: Actuators = "none" if options.gains is None else "position"
    return _written(
        replace(body, devices=_sites(body)),
        ModelOptions(self_collision, actuators, options.gains, scene=False),
        "robot",
    )


def _attach_object(
    spec: Any,  # noqa: ANN401
    name: str,
    thing: Body,
    pose: Floats,
    friction: float,
) -> None:
    """Add a further body at a pose (7,)."""
    written = _written(
        replace(thing, devices=_sites(thing)),
        ModelOptions(actuators="none", scene=False),
        name,
    )
    child = _bare(_spec(written), spec)
    for geom in child.geoms:
        geom.friction[0] = friction
        geom.priority = 1
    frame = spec.worldbody.add_frame(pos=pose[:3], quat=pose[3:])
    spec.attach(child, prefix=f"{name}/", frame=frame)


def _add_motors(spec: Any, body: Body, written: MjcfModel) -> None:  # noqa: ANN401
    """Add a motor for each joint, limited as in the body."""
    mujoco = need("mujoco", "sim", "the simulation")
    for index, name in written.joints.items():
        joint = body.links[index].joint
        if not index or joint.type not in ("rotate", "slide"):
            continue
        motor = spec.add_actuator(
            # The actuator has the joint's name.
            name=ROBOT + name,
            target=ROBOT + name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
        )
        motor.set_to_motor()
        efforts = effort_range(joint)
        if efforts is not None:
            motor.forcerange = efforts
            motor.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE


def _exclude_overlaps(
    spec: Any,  # noqa: ANN401
    names: Mapping[int, str],
    overlaps: Sequence[tuple[int, int]],
) -> list[Problem]:
    """Leave out the contacts of pairs of links, and report those that were not."""
    # The writer already excludes pairs, such as those that touch at rest.
    excluded = {(exclude.bodyname1, exclude.bodyname2) for exclude in spec.excludes}
    titles = []
    for first, second in overlaps:
        one = names[first]
        two = names[second]
        if (one, two) not in excluded:
            spec.add_exclude(bodyname1=one, bodyname2=two)
            titles.append(f"{one.removeprefix(ROBOT)} and {two.removeprefix(ROBOT)}")
    return [overlap_problem(titles)] if titles else []


def _report_no_shapes(body: Body) -> list[Problem]:
    """Return the problem of a body that nothing holds, after what is missing of it."""
    # A missing mesh file is the likely cause, so it comes first.
    missing = [problem for problem in body.problems if "missing" in problem.data]
    message = (
        f"{body.name or 'the body'} has no collision shapes: nothing holds it on the "
        "ground"
    )
    return [*missing, rules.NO_SHAPES.problem(message)]


def _stiffen_floor(
    model: Any,  # noqa: ANN401
    body: Body,
    home: tuple[Floats, Floats],
    named: Mapping[int, str],
) -> None:
    """Make the time constant t of the floor's contacts as short as light feet need.

    MuJoCo's contacts are springs of accelerations: where a force F acts on a link of
    inverse inertia w (`body_invweight0`), it sinks in by F·w·t²·d·(1 − d). A light foot
    on the end of a stiff leg would sink in by centimetres.
    """
    feet = standing_links(body, body.forward_kinematics(*home))
    weight = body.mass * np.linalg.norm(model.opt.gravity)
    inverse_inertia = 0.0
    for foot in feet:
        if foot in named:
            number = model.body(named[foot]).id
            inverse_inertia = max(inverse_inertia, model.body_invweight0[number, 0])
    # F·w of the whole weight on one foot.
    acceleration = weight * inverse_inertia
    if acceleration > 0:
        solref = model.geom("floor").solref
        solref[0] = min(solref[0], np.sqrt(MAX_SINK / (acceleration * SINK_FACTOR)))


def _without_balls(body: Body) -> Body:
    """Return the body with three hinges for each ball joint of an MJCF file.

    As its joint columns have them.
    """
    links = []
    for link in body.links:
        values = dict(mjcf_values(link.joint.extra))
        # With `ball`, MJCF would be written as it was read; in the simulation each joint
        # column needs a hinge of its own.
        if "ball" in values:
            del values["ball"]
            extra = {**link.joint.extra, "mjcf": values}
            link = replace(link, joint=replace(link.joint, extra=extra))
        links.append(link)
    return replace(body, links=tuple(links))


def _meeting_loops(body: Body, q: Floats) -> Body:
    """Return the body with loops that can be closed, for joint values (J,).

    The second point of others is moved to the first one. In a plane mechanism, points
    may be apart across the plane, where no joint moves them: MuJoCo would try with very
    large forces.
    """
    link_poses = body.forward_kinematics(q)
    joints = []
    for joint in body.extra_joints:
        first_pose, second_pose = (link_poses[link] for link in joint.links)
        first = poses.transform_points(first_pose, joint.positions[0])
        second = poses.transform_points(second_pose, joint.positions[1])
        distance = np.linalg.norm(first - second)
        # Extra joints of other types do not hold two points together.
        if joint.type in ("xyz", "ball", "hinge") and distance > LOOP_TOLERANCE:
            moved = poses.transform_points(poses.inverse(second_pose), first)
            joint = replace(joint, positions=np.stack([joint.positions[0], moved]))
        joints.append(joint)
    return replace(body, extra_joints=tuple(joints))


def _sites(body: Body) -> tuple[Device, ...]:
    """Return the devices that are sites of an MJCF file.

    Tendons, equalities and sensors name them.
    """
    return tuple(
        device for device in body.devices if mjcf_values(device.extra).get("site")
    )


def _bare(spec: Any, world: Any) -> Any:  # noqa: ANN401
    """Return a specification with only the robot of its file.

    Without the floor, light, sensors and keyframes, and with the options of the world.
    """
    # Both specifications have one set of options.
    spec.option = world.option
    for name in ("memory", "njmax", "nconmax", "nuserdata"):
        setattr(spec, name, getattr(world, name))
    for part in (
        spec.geom("floor"),
        spec.light("light"),
        *spec.sensors,
        *spec.keys,
    ):
        if part is not None:
            spec.delete(part)
    return spec


def _add_sensors(
    world: Any,  # noqa: ANN401
    body: Body,
    named: Mapping[int, str],
    touching: Sequence[int],
    *,
    devices: bool,
) -> None:
    """Add sensors of efforts, devices and contacts to the world."""
    mujoco = need("mujoco", "sim", "the simulation")

    def add(
        name: str, kind: str, target_kind: str, target: str, **more: object
    ) -> None:
        world.add_sensor(
            name=name,
            type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"),
            objtype=getattr(mujoco.mjtObj, f"mjOBJ_{target_kind}"),
            objname=target,
            **more,
        )

    for actuator in world.actuators:
        add(f"effort {actuator.name}", "ACTUATORFRC", "ACTUATOR", actuator.name)
    kinds = {
        AccelerationSensor: ("ACCELEROMETER",),
        Gyro: ("GYRO",),
        ForceSensor: ("FORCE", "TORQUE"),
    }
    # A site at the device's pose: sensors of MuJoCo measure in its frame.
    for number, device in enumerate(body.devices if devices else ()):
        for name in kinds.get(type(device), ()):
            site = f"device {number} {name}"
            world.body(named[device.link]).add_site(
                name=site, pos=device.pose[:3], quat=device.pose[3:]
            )
            add(site, name, "SITE", site)
    for index in touching:
        # found, force (3), torque (3), pos (3): bits 0, 1, 2 and 4 of mjtConDataField;
        # 3 is the reduction "netforce"; one slot.
        add(f"contact {index}", "CONTACT", "BODY", named[index], intprm=[0b10111, 3, 1])


def _locate(
    model: Any,  # noqa: ANN401
    written: MjcfModel,
    body: Body,
    named: Mapping[int, str],
    touching: tuple[int, ...],
) -> World:
    """Return the model with the indices of the parts of the body."""
    mujoco = need("mujoco", "sim", "the simulation")
    # Four arrays (J,) of indices; −1 for what a column does not have.
    qpos, dofs, actuators, effort = np.full((4, body.num_joints), -1, dtype=np.int64)
    root = -1
    if 0 in written.joints:
        root = int(model.joint(ROBOT + written.joints[0]).qposadr[0])
    for index, name in written.joints.items():
        # The free joint of the root has no joint column.
        if index not in body.joint_links or body.links[index].joint.type == "free":
            continue
        joint = model.joint(ROBOT + name)
        column = body.joint_links.index(index)
        qpos[column] = joint.qposadr[0]
        dofs[column] = joint.dofadr[0]
        actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, ROBOT + name)
        if actuator >= 0:
            actuators[column] = actuator
            effort[column] = model.sensor(f"effort {ROBOT}{name}").adr[0]
    bodies = np.zeros(len(body.links), dtype=np.int64)
    for index, name in named.items():
        bodies[index] = model.body(name).id
    # MuJoCo computes belts only where this flag is set.
    model.flg_surfacevel |= any(joint.type == "crawler" for joint in body.joints)
    # Belts are fixed in a file, and move here.
    belts = {
        f"links[{link.index}]" for link in body.links if link.joint.type == "crawler"
    }
    problems = [
        problem for problem in written.problems if problem.location.inside not in belts
    ]
    simulated = written.body
    if not simulated.devices:
        simulated = replace(simulated, devices=body.devices)
    return World(
        model,
        simulated,
        qpos,
        dofs,
        actuators,
        bodies,
        root,
        touching,
        contacts=model.nsensordata - CONTACT_COLUMNS * len(touching),
        effort=effort,
        sensors=_locate_sensors(model, len(body.devices)),
        crawlers=_locate_crawlers(model, body, bodies),
        problems=tuple(problems),
    )


def _locate_sensors(model: Any, num_devices: int) -> dict[int, slice]:  # noqa: ANN401
    """Return the columns of the sensor data of each device."""
    names = [model.sensor(number).name for number in range(model.nsensor)]
    columns = {}
    for device in range(num_devices):
        sensors = [
            number
            for number, name in enumerate(names)
            if name.startswith(f"device {device} ")
        ]
        if sensors:
            # The sensors of a device follow each other.
            start = model.sensor_adr[sensors[0]]
            stop = model.sensor_adr[sensors[-1]] + model.sensor_dim[sensors[-1]]
            columns[device] = slice(int(start), int(stop))
    return columns


def _locate_crawlers(
    model: Any,  # noqa: ANN401
    body: Body,
    bodies: Indices,
) -> tuple[tuple[int, Indices, Floats], ...]:
    """Return for each crawler its column, its geoms, and their surface velocities."""
    crawlers = []
    # Visual geoms have neither contype nor conaffinity: they touch nothing.
    collides = model.geom_contype + model.geom_conaffinity > 0
    for column, index in enumerate(body.joint_links):
        if index >= 0 and body.links[index].joint.type == "crawler":
            geoms = np.flatnonzero((model.geom_bodyid == bodies[index]) & collides)
            crawlers.append((column, geoms, _belt(model, body, index, geoms)))
    return tuple(crawlers)


def _belt(model: Any, body: Body, index: int, geoms: Indices) -> Floats:  # noqa: ANN401
    """Return the velocity (G, 3) of a belt's surface at 1 m/s.

    In the frames of its geoms. At the ground −axis × up: a wheel that rotates about the
    axis moves its lowest point so. The velocity is the same all over the belt.
    """
    link_poses = body.forward_kinematics(np.zeros(body.num_joints), poses.IDENTITY)
    rotation = link_poses[index, 3:]
    axis = rotations.rotate(rotation, body.links[index].joint.axis)
    velocity = -np.cross(axis, [0.0, 0.0, 1.0])
    in_link = rotations.rotate(rotations.conjugate(rotation), velocity)
    return rotations.rotate(rotations.conjugate(model.geom_quat[geoms]), in_link)
