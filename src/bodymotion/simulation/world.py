"""A body, a floor and further models as one MuJoCo model, with what is measured of them."""

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
    default_gains,
    effort_range,
    standing_links,
)
from bodymotion.simulation import rules
from bodymotion.system.deferred import need

ROBOT = "robot/"  # Prefix of the names of the simulated body.

MAX_SINK = 0.005  # [m] The floor gives way by at most this under the weight of a robot on one of its feet.
SINK_FACTOR = 0.95 * (
    1.0 - 0.95
)  # d·(1 − d) for the largest impedance d of MuJoCo's contacts.
LOOP_TOLERANCE = (
    1e-4  # [m] A loop that is open by more in its best closed pose cannot be closed.
)


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
    strict = bool(options.pop("strict", False))
    written = _written(body, ModelOptions(**options), "robot", strict)
    return MujocoModel(
        _spec(written).compile(), written.links, written.joints, written.problems
    )


def _written(
    body: Body, options: ModelOptions, name: str, strict: bool = False
) -> MjcfModel:
    # No file is below os.devnull, so meshes stay in memory.
    return mjcf_model(
        body, options, MeshFolder(Path(os.devnull) / f"{name}.xml"), strict=strict
    )


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
            pairs = self.points.overlaps((q,), self.points.rest_overlaps)
        key = (
            None if options.gains is None else options.gains.tobytes(),
            *(options.self_collision, options.friction, options.floor, options.sensors),
            pairs,
            root.tobytes() if self.body.is_mounted else b"",
            q.tobytes() if self.body.extra_joints else b"",
        )
        with self._lock:
            last = self._last
            if objects or last is None or last[0] != key:
                last = (
                    key,
                    build_world(
                        self.body, options, pairs, posture, self.points.home(), objects
                    ),
                )
                self._last = self._last if objects else last
        # Each simulation has a model of its own.
        world = last[1]
        model = copy(world.model)
        model.opt.timestep = options.timestep
        if self.body.source.format != "mjcf":
            # Loops as stiff as the time step allows.
            model.eq_solref[:, 0] = np.minimum(
                model.eq_solref[:, 0], 2.0 * options.timestep
            )
        if not options.limits:
            model.jnt_limited[:] = 0
            model.actuator_forcelimited[:] = 0
        return replace(world, model=model, body=replace(world.body, root_pose=root))


_robots: dict[int, dict[tuple[str | None, bool], Robot]] = {}
"""By the id of a body, as long as it lives, by how its root is fixed, and by whether its visuals collide."""


def robot_of(
    body: Body, root: Literal["free", "fixed"] | None = None, *, visuals: bool = False
) -> Robot:
    """Return a body to simulate, with its root free, fixed, or as the body has it.

    The same one for the same body.

    With `visuals`, those are the collision shapes of a body that has none.
    """
    found = _robots.get(id(body))
    if found is None:
        found = _robots[id(body)] = {}
        weakref.finalize(body, _robots.pop, id(body), None)
    if (root, visuals) not in found:
        links = body.links
        if visuals and not any(link.collisions for link in links):
            links = tuple(
                replace(
                    link,
                    segments=tuple(
                        replace(one, collisions=one.visuals) for one in link.segments
                    ),
                )
                for link in links
            )
        if root is not None and links:
            joint = replace(links[0].joint, type="free" if root == "free" else "fixed")
            links = (replace(links[0], joint=joint), *links[1:])
        # Another body, as one that is referred to here would live for ever.
        found[root, visuals] = Robot(replace(body, links=links))
    return found[root, visuals]


def build_world(
    body: Body,
    options: WorldOptions,
    overlaps: Sequence[tuple[int, int]],
    posture: tuple[Floats, Floats],
    home: tuple[Floats, Floats],
    objects: Sequence[tuple[Body, npt.ArrayLike]],
) -> World:
    """Return the model of a simulation, without contacts of the pairs of links in `overlaps`.

    `posture` is that of the start, `home` that of rest: joint values (J,) and a root
    pose (7,).
    """
    mujoco = need("mujoco", "sim", "the simulation")
    # A free root has the pose of its file in the model, which is kept for other
    # postures.
    if body.is_mounted:
        body = replace(body, root_pose=posture[1])
    body = _meeting_loops(_without_balls(body), posture[0])
    own: SelfCollision = "none" if options.self_collision == "none" else "all"
    friction = options.friction
    gains = options.gains
    written = _written(
        replace(body, devices=_sites(body)),
        ModelOptions(own, "none" if gains is None else "position", gains, scene=False),
        "robot",
    )
    world = mujoco.MjSpec()
    world.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    if options.floor:
        world.worldbody.add_geom(
            name="floor",
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0, 0, 1],
            friction=[friction, 0.005, 0.0001],
            priority=1,
        )
    robot = _bare(_spec(written), world)
    world.attach(robot, prefix=ROBOT, frame=world.worldbody.add_frame())
    for number, (thing, pose) in enumerate(objects):
        model = _written(
            replace(thing, devices=_sites(thing)),
            ModelOptions(actuators="none", scene=False),
            f"object{number}",
        )
        at = np.asarray(pose, dtype=np.float64)
        frame = world.worldbody.add_frame(pos=at[:3], quat=at[3:])
        child = _bare(_spec(model), world)
        for geom in child.geoms:
            geom.friction[0], geom.priority = friction, 1
        world.attach(child, prefix=f"object{number}/", frame=frame)
    if gains is None:
        for index, name in written.joints.items():
            if index and body.links[index].joint.type in ("rotate", "slide"):
                motor = world.add_actuator(
                    name=ROBOT + name,
                    target=ROBOT + name,
                    trntype=mujoco.mjtTrn.mjTRN_JOINT,
                )
                motor.set_to_motor()
                efforts = effort_range(body.links[index].joint)
                if efforts is not None:
                    motor.forcerange, motor.forcelimited = (
                        efforts,
                        mujoco.mjtLimited.mjLIMITED_TRUE,
                    )
    named = {
        index: name if name == "world" else ROBOT + name
        for index, name in written.links.items()
    }
    touching = tuple(
        link.index
        for link in body.links
        if link.collisions and named.get(link.index, "world") != "world"
    )
    _add_sensors(world, body, named, touching, devices=options.sensors)
    known = {(one.bodyname1, one.bodyname2) for one in world.excludes}
    apart = [(named[one], named[two]) for one, two in overlaps]
    apart = [pair for pair in apart if pair not in known]
    for one, two in apart:
        world.add_exclude(bodyname1=one, bodyname2=two)
    model = world.compile()
    if options.floor:
        _stiffen_floor(model, body, home, named)
    found = _located(model, written, body, named, touching)
    problems = list(found.problems)
    if apart:
        names = [
            f"{one.removeprefix(ROBOT)} and {two.removeprefix(ROBOT)}"
            for one, two in apart
        ]
        problems.append(overlap_problem(names))
    if options.floor and not body.is_mounted and not touching:
        problems += [problem for problem in body.problems if "missing" in problem.data]
        problems.append(
            rules.NO_SHAPES.problem(
                f"{body.name or 'the body'} has no collision shapes: nothing holds it "
                "on the ground"
            )
        )
    scenery: list[Thing] = [level_ground(np.zeros(3))] if options.floor else []
    for thing, pose in objects:
        scenery.append(replace(thing, root_pose=poses.compose(pose, thing.root_pose)))
    return replace(found, problems=tuple(problems), scenery=tuple(scenery))


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
    moved = max(
        (
            model.body_invweight0[model.body(named[foot]).id, 0]
            for foot in feet
            if foot in named
        ),
        default=0.0,
    )
    if weight * moved > 0:
        solref = model.geom("floor").solref
        solref[0] = min(solref[0], np.sqrt(MAX_SINK / (weight * moved * SINK_FACTOR)))


def _without_balls(body: Body) -> Body:
    """Return the body with three hinges for each ball joint of an MJCF file, as its joint columns have them."""
    links = []
    for link in body.links:
        own = mjcf_values(link.joint.extra)
        extra = {
            **link.joint.extra,
            "mjcf": {key: value for key, value in own.items() if key != "ball"},
        }
        links.append(
            replace(link, joint=replace(link.joint, extra=extra))
            if "ball" in own
            else link
        )
    return replace(body, links=tuple(links))


def _meeting_loops(body: Body, q: Floats) -> Body:
    """Return the body with the second point of each loop that cannot be closed moved to the first one, for joint values (J,).

    In a plane mechanism, points may be apart across the plane, where no joint moves
    them: MuJoCo would try with very large forces.
    """
    at = body.forward_kinematics(q)
    joints = []
    for joint in body.extra_joints:
        one, two = (
            poses.transform_points(at[k], p)
            for k, p in zip(joint.links, joint.positions, strict=True)
        )
        if (
            joint.type in ("xyz", "ball", "hinge")
            and np.linalg.norm(one - two) > LOOP_TOLERANCE
        ):
            moved = poses.transform_points(poses.inverse(at[joint.links[1]]), one)
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
    """Return a specification without the floor, light, sensors and keyframes of its file, and with the options of the world."""
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
    mujoco = need("mujoco", "sim", "the simulation")

    def add(name: str, kind: str, of: str, what: str, **more: object) -> None:
        sense = getattr(mujoco.mjtSensor, f"mjSENS_{kind}")
        target = getattr(mujoco.mjtObj, f"mjOBJ_{of}")
        world.add_sensor(name=name, type=sense, objtype=target, objname=what, **more)

    for actuator in world.actuators:
        add(f"effort {actuator.name}", "ACTUATORFRC", "ACTUATOR", actuator.name)
    kinds = {
        AccelerationSensor: ("ACCELEROMETER",),
        Gyro: ("GYRO",),
        ForceSensor: ("FORCE", "TORQUE"),
    }
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


def _located(
    model: Any,  # noqa: ANN401
    written: MjcfModel,
    body: Body,
    named: Mapping[int, str],
    touching: tuple[int, ...],
) -> World:
    mujoco = need("mujoco", "sim", "the simulation")
    columns = {
        index: column for column, index in enumerate(body.joint_links) if index >= 0
    }
    qpos, dofs, actuators, effort = (
        np.full(body.num_joints, -1, dtype=np.int64) for _ in range(4)
    )
    for index, name in written.joints.items():
        if index in columns and body.links[index].joint.type != "free":
            joint = model.joint(ROBOT + name)
            qpos[columns[index]], dofs[columns[index]] = (
                joint.qposadr[0],
                joint.dofadr[0],
            )
            found = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, ROBOT + name)
            if found >= 0:
                actuators[columns[index]] = found
                effort[columns[index]] = model.sensor(f"effort {ROBOT}{name}").adr[0]
    if 0 in written.joints:
        root = int(model.joint(ROBOT + written.joints[0]).qposadr[0])
    else:
        root = -1
    sensors: dict[int, slice] = {}
    for number in range(len(body.devices)):
        adrs = [
            s
            for s in range(model.nsensor)
            if model.sensor(s).name.startswith(f"device {number} ")
        ]
        if adrs:
            start = model.sensor_adr[adrs[0]]
            sensors[number] = slice(
                int(start), int(model.sensor_adr[adrs[-1]] + model.sensor_dim[adrs[-1]])
            )
    bodies = np.array(
        [
            model.body(named[index]).id if index in named else 0
            for index in range(len(body.links))
        ]
    )
    crawlers = []
    # Belts are fixed in a file, and move here.
    belts = {
        f"links[{link.index}]" for link in body.links if link.joint.type == "crawler"
    }
    model.flg_surfacevel |= any(joint.type == "crawler" for joint in body.joints)
    for column, index in enumerate(body.joint_links):
        if index >= 0 and body.links[index].joint.type == "crawler":
            collides = model.geom_contype + model.geom_conaffinity > 0
            geoms = np.flatnonzero((model.geom_bodyid == bodies[index]) & collides)
            crawlers.append((column, geoms, _belt(model, body, index, geoms)))
    return World(
        model,
        written.body
        if written.body.devices
        else replace(written.body, devices=body.devices),
        qpos,
        dofs,
        actuators,
        bodies,
        root,
        touching,
        model.nsensordata - 10 * len(touching),
        effort,
        sensors,
        tuple(crawlers),
        tuple(
            problem
            for problem in written.problems
            if problem.location.inside not in belts
        ),
    )


def _belt(model: Any, body: Body, index: int, geoms: Indices) -> Floats:  # noqa: ANN401
    """Return the velocity (G, 3) of a belt's surface at 1 m/s in the frames of its geoms.

    At the ground −axis × up.

    A wheel that turns about the axis moves its lowest point so. The velocity is the
    same all over the belt.
    """
    turn = body.forward_kinematics(np.zeros(body.num_joints), poses.IDENTITY)[index, 3:]
    axis = rotations.rotate(turn, body.links[index].joint.axis)
    ahead = rotations.rotate(
        rotations.conjugate(turn), -np.cross(axis, [0.0, 0.0, 1.0])
    )
    return rotations.rotate(rotations.conjugate(model.geom_quat[geoms]), ahead)
