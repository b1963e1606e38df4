"""Writing a body as an MJCF file, with its meshes beside it.

For simulation it gets a floor, a light, a keyframe on the ground and servos; links that
overlap at rest have no contacts.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, losses
from bodymotion.diagnostics.text import counted
from bodymotion.formats.kept_json import json_of_viewpoints, mjcf_values
from bodymotion.formats.meshes.folder import MeshFolder
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.devices import DeviceWriter
from bodymotion.formats.mjcf.extra import ExtraSections
from bodymotion.formats.mjcf.geom_writer import GeomWriter
from bodymotion.formats.mjcf.geoms import CLASSES, INTEGRATOR
from bodymotion.formats.mjcf.links import LinkWriter, accepted_body
from bodymotion.formats.mjcf.loops import LoopWriter
from bodymotion.formats.mjcf.names import Names, Output
from bodymotion.formats.xml.tree import Element, number_text, to_xml, valid_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import solid
from bodymotion.geometry.shapes import Box, Shape
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints
from bodymotion.model.links import (
    MOVING,
    default_gains,
    effort_range,
    motor_range,
    passive_joints,
)
from bodymotion.model.rules import NO_LINKS, NOT_FINITE

COMPILER = {
    # All numbers are those of the body: nothing is converted, bounded or computed.
    "angle": "radian",
    "autolimits": "true",
    "inertiafromgeom": "false",
    "balanceinertia": "false",
    "boundmass": "0",
    "boundinertia": "0",
    # Otherwise MuJoCo merges fixed links into their parents, and removes visual geoms;
    # links would lose their names.
    "fusestatic": "false",
    "discardvisual": "false",
}
# Links in a chain: XML readers limit how deep elements are nested.
MAX_DEPTH = 180
# Of the convex hulls of collision meshes, with collision_shapes="hull".
MAX_HULL_VERTICES = 64
MAX_SHOWN_PAIRS = 6
# Torsional and rolling friction of the floor: MuJoCo's defaults.
FLOOR_FRICTION = (0.005, 0.0001)


def excluded_contacts(body: Body, links: LinkWriter) -> Element:
    """Return the contacts to exclude: of a fixed base and its children.

    MuJoCo excludes contacts of other parents and children by itself.
    """
    contact = Element("contact")
    # By link, whether it is fixed to the world. MuJoCo's filter of parents and children
    # does not apply to such a parent.
    is_fixed: list[bool] = []
    for link in body.links:
        is_root = link.parent < 0
        is_free = is_root and link.joint.type == "free"
        moves = not is_root and link.index in links.joint_names
        is_above_fixed = is_root or is_fixed[link.parent]
        is_fixed.append(is_above_fixed and not is_free and not moves)
        if is_root or not is_above_fixed or is_fixed[-1]:
            continue
        ends = [links.elements.get(link.parent), links.elements.get(link.index)]
        names = [element.get("name") for element in ends if element is not None]
        if len(names) == 2 and all(names):
            contact.add("exclude", {"body1": names[0], "body2": names[1]})
    return contact


def actuators(body: Body, links: LinkWriter) -> Element:
    """Return a motor for each joint with a column.

    Its control is the torque [Nm] or force [N] before the gear.
    """
    actuator = Element("actuator")
    for index in body.joint_links:
        joint = body.links[index].joint
        # The root has no motor, nor a joint that is written as fixed.
        if index <= 0 or index not in links.joint_names or joint.type not in MOVING:
            continue
        name = links.joint_names[index]
        attributes = {"name": links.names.free("actuator", name), "joint": name}
        # 0 is an unknown ratio. The joint's torque is gear times that of the motor.
        if joint.gear_ratio not in (0.0, 1.0):
            attributes["gear"] = number_text(joint.gear_ratio)
        limits = motor_range(joint)
        if limits is not None:
            attributes["forcerange"] = number_text(limits)
        actuator.add("motor", attributes)
    return actuator


def add_followers(body: Body, links: LinkWriter, equality: Element) -> list[str]:
    """Add equalities for joints that mimic another one, as in URDF.

    Value = multiplier · value of the other + offset. Return the names of the
    equalities.
    """
    names: list[str] = []
    in_file = {
        link.joint.name: links.joint_names[link.index]
        for link in body.links
        if link.index in links.joint_names
    }
    for link in body.links:
        mimic = link.joint.extra.get("mimic")
        if not isinstance(mimic, Mapping):
            continue
        # Names in the file, which may differ from those of the body.
        follower = links.joint_names.get(link.index)
        leader = in_file.get(str(mimic.get("joint")))
        coefficients = _mimic_coefficients(mimic)
        is_pair = follower is not None and leader is not None and follower != leader
        if (
            not is_pair
            or not coefficients
            or link.joint.type not in ("rotate", "slide")
        ):
            message = (
                f"joint {link.joint.name} does not follow {mimic.get('joint')!s:.60}"
            )
            location = Location(inside=f"links[{link.index}]")
            links.problems.add(losses.FOLLOWING.problem(message, location))
            continue
        name = links.names.free("equality", f"{follower}_mimic")
        attributes = {
            "name": name,
            "joint1": str(follower),
            "joint2": str(leader),
            # q1 = a0 + a1·q2 + …: MuJoCo's polynomial has five coefficients.
            "polycoef": number_text([*coefficients, 0.0, 0.0, 0.0]),
        }
        equality.add("joint", attributes)
        names.append(name)
    return names


def _mimic_coefficients(mimic: Mapping[str, object]) -> list[float]:
    """Return offset and multiplier of a joint that mimics another.

    Nothing where they are no numbers.
    """
    numbers = []
    for key, default in (("offset", 0.0), ("multiplier", 1.0)):
        value = mimic.get(key, default)
        if not isinstance(value, (int, float)) or not np.isfinite(value):
            return []
        numbers.append(value)
    return numbers


def write_mjcf(
    body: Body,
    path: Path,
    *,
    mesh: Literal["obj", "stl"] = "obj",
    strict: bool = False,
    self_collision: SelfCollision = "touching",
    actuators: Actuators | None = None,
    gains: npt.ArrayLike | None = None,
    collision_shapes: CollisionShapes = "mesh",
    friction: float = 1.0,
    fix_inertia: bool | None = None,
) -> tuple[Problem, ...]:
    """Write a body as MJCF, and its meshes into a folder beside the file.

    Parameters
    ----------
    body, path:
        The body and the file. The folder of the meshes is `NAME_xml_meshes`; existing
        files in it are never changed.
    mesh:
        "obj" keeps vertices to the bit, normals and texture coordinates; "stl" has only
        triangles in single precision.
    strict:
        Reject links that MuJoCo refuses. By default they are repaired
        (`bodymotion.model.inertias.repaired`), and each repair is reported.
    self_collision:
        "touching" excludes contacts of the links that overlap at rest, and reports
        them; "none" of all links of the body; "all" of none.
    actuators:
        "motor", a torque for each joint column; "position", a servo; or "none". By
        default motors; a body from an MJCF file keeps the actuators of that file.
    gains:
        kp and kd (J, 2) of the servos; `bodymotion.model.links.default_gains` by
        default.
    collision_shapes:
        "mesh" writes meshes as they are (MuJoCo uses their convex hulls), "hull" limits
        hulls to 64 vertices, "box" writes boxes.
    friction:
        Coefficient of sliding friction of the floor.

    Unless it is from an MJCF file, a body gets the keyframe `home`; one with a free
    root gets a floor and a light, too.

    Returns
    -------
    What the file does not hold of the body.

    Raises
    ------
    FormatError
        When the body has no link, numbers that are not finite, or links that MuJoCo
        refuses (MJCF133, which names all of them).
    OSError
        When a file cannot be written.
    """
    if mesh not in ("obj", "stl"):
        raise ValueError(f"MuJoCo reads meshes as obj and stl, not as {mesh!r}")
    if fix_inertia is not None:
        warnings.warn(
            "write_mjcf repairs inertias unless strict=True",
            DeprecationWarning,
            stacklevel=2,
        )
        strict = not fix_inertia
    options = ModelOptions(self_collision, actuators, gains, collision_shapes, friction)
    model = mjcf_model(body, options, MeshFolder(path, mesh), strict=strict)
    model.folder.write(model.xml)
    return model.problems


@dataclass(frozen=True)
class ModelOptions:
    """The options of `write_mjcf`.

    `scene` is whether a floor, a light and a keyframe are made.
    """

    self_collision: SelfCollision = "touching"
    actuators: Actuators | None = None
    gains: npt.ArrayLike | None = None
    collision_shapes: CollisionShapes = "mesh"
    friction: float = 1.0
    scene: bool = True


@dataclass(frozen=True)
class MjcfModel:
    """A body as MJCF.

    The file, its meshes, and the body as it was repaired.

    `links` and `joints` are the names of links and joints by index of link.
    """

    xml: bytes
    folder: MeshFolder
    body: Body
    links: Mapping[int, str]
    joints: Mapping[int, str]
    problems: tuple[Problem, ...]


def mjcf_model(
    body: Body, options: ModelOptions, folder: MeshFolder, *, strict: bool = False
) -> MjcfModel:
    """Return a body as MJCF, without writing a file.

    Errors as `write_mjcf`.
    """
    _check(body)
    body, changed = accepted_body(body, strict=strict)
    if options.collision_shapes == "box":
        body = boxed(body)
    writer = _Writer(body, folder, options)
    data = to_xml(
        writer.model(), "Made by bodymotion. Lengths in m, angles in rad, masses in kg."
    )
    links = {
        index: element.get("name", "world")
        for index, element in writer.links.elements.items()
    }
    return MjcfModel(
        data,
        folder,
        body,
        links,
        writer.links.joint_names,
        (*changed, *writer.problems.problems),
    )


def _check(body: Body) -> None:
    """Raise FormatError for a body that cannot be written."""
    if not body.links:
        raise NO_LINKS.error("the body has no links")
    # By link, how many links are above it.
    depth: list[int] = []
    for link in body.links:
        depth.append(0 if link.parent < 0 else depth[link.parent] + 1)
        location = Location(inside=f"links[{link.index}]")
        if depth[-1] > MAX_DEPTH:
            message = f"link {link.name} is in a chain of more than {MAX_DEPTH} links"
            raise rules.DEEP.error(message, location)
        if not (np.isfinite(link.offset).all() and np.isfinite(link.joint.axis).all()):
            message = f"the pose or the axis of link {link.name} is not finite"
            raise NOT_FINITE.error(message, location)
    arrays = [body.root_pose, *(device.pose for device in body.devices)]
    for joint in body.extra_joints:
        arrays += [joint.positions, joint.axis]
    if not all(np.isfinite(numbers).all() for numbers in arrays):
        raise NOT_FINITE.error(
            "the root pose, or a pose of a device or extra joint, is not finite"
        )


class _Writer:
    def __init__(self, body: Body, folder: MeshFolder, options: ModelOptions) -> None:
        """Make the writers of all parts; they share names, assets and <custom>."""
        self.body = body
        self.options = options
        self.output = Output(body, folder, Names())
        self.problems = self.output.problems
        self.kept = self.output.kept
        self.extras = ExtraSections(body, self.problems)
        is_mjcf = body.source.format == "mjcf"
        # A model from an MJCF file keeps the motors and contacts of that file.
        self.is_made = not is_mjcf or body.source.options.get("motors") == "made"
        self.has_floor = self.is_made and options.scene and not body.is_mounted
        hull_vertices = 0
        if options.collision_shapes == "hull":
            hull_vertices = MAX_HULL_VERTICES
        self.geoms = GeomWriter(self.output, hull_vertices)
        self.links = LinkWriter(self.output, self.geoms)
        # MuJoCo accepts sections in any order; this is that of its own files.
        names = (
            "custom",
            "asset",
            "worldbody",
            "contact",
            "tendon",
            "equality",
            "actuator",
            "sensor",
            "keyframe",
        )
        self.sections = {name: Element(name) for name in names}
        self.sections["asset"] = self.output.asset

    def model(self) -> Element:
        """Return the root element of the file."""
        body = self.body
        root = Element("mujoco")
        title = valid_text(body.name).strip()
        if title:
            root.attributes["model"] = title
        self.output.renamed.add("model", body.name, title)
        root.add("compiler", dict(COMPILER))
        # <compiler> and <option> come first, the classes before what uses them.
        root.children += self.extras.elements("option")
        root.children.append(self._default())
        world = self.sections["worldbody"]
        if self.has_floor:
            # A shape of this name would be read as the floor.
            self.output.names.free("geom", "floor")
        # Links in order: each parent has its element before its children are written.
        for link in body.links:
            self.links.write(link, world)
        devices = self._devices()
        # For overlaps at rest and for the height of the keyframe; a model from an MJCF
        # file keeps its own contacts and keyframes.
        points = CollisionPoints(body) if self.is_made else None
        self._add_contacts(points)
        motors = self._add_actuators(root)
        if points is not None and self.options.scene:
            self._add_scene(points)
        mimics = self._add_loops(devices)
        # From here all names are final. <custom> is written last, as each writer adds
        # to it.
        self._keep_body(mimics, motors)
        custom = self.sections["custom"]
        self.kept.write(custom)
        self._add_kept(devices)
        root.children += [
            section for section in self.sections.values() if section.children
        ]
        self.problems.extend((*self.geoms.lost, *self.output.folder.lost))
        self.problems.extend(self.output.renamed.problems)
        for path in self.kept.lost:
            self.problems.add(losses.KEPT_LESS.problem(f"{path} cannot be kept"))
        return root

    def _default(self) -> Element:
        """Return the classes of geoms, and those of the file that was read."""
        default = Element("default")
        for name, values in CLASSES.items():
            attributes = dict(values)
            # Links keep conaffinity 1, and the floor contype 1: they collide with it,
            # not with one another.
            if self.options.self_collision == "none":
                attributes["contype"] = "0"
            default.add("default", {"class": name}).add("geom", attributes)
        self.extras.add_classes(default)
        return default

    def _devices(self) -> DeviceWriter:
        """Write the devices in the order of their links."""
        devices = self.body.devices
        numbers = list(range(len(devices)))
        in_tree = sorted(numbers, key=lambda number: devices[number].link)
        is_ordered = in_tree == numbers
        writer = DeviceWriter(self.output, self.sections["sensor"])
        for number in in_tree:
            device = devices[number]
            order = None if is_ordered else number
            writer.write(self.links.elements[device.link], device, order)
        return writer

    def _add_contacts(self, points: CollisionPoints | None) -> None:
        """Exclude contacts of a model whose contacts this writer makes."""
        if points is None:
            return
        contact = excluded_contacts(self.body, self.links)
        if self.options.self_collision == "touching":
            exclude_overlaps(points, self.links, contact)
        self.sections["contact"] = contact

    def _add_actuators(self, root: Element) -> str | None:
        """Add actuators; return what <custom> keeps of their kind, None for none."""
        kind = self.options.actuators
        if kind is None and self.is_made:
            kind = "motor"
        if kind == "motor":
            self.sections["actuator"] = actuators(self.body, self.links)
            return "made"
        if kind == "position":
            gains = None
            if self.options.gains is not None:
                gains = np.asarray(self.options.gains, dtype=np.float64)
            actuator = position_actuators(self.body, self.links, gains)
            self.sections["actuator"] = actuator
            # Servos are stiff: explicit integration of their damping may be unstable.
            root.add("option", dict(INTEGRATOR))
        return kind

    def _add_scene(self, points: CollisionPoints) -> None:
        """Add a keyframe; below a free root a floor and a light."""
        world = self.sections["worldbody"]
        keyframe = self.sections["keyframe"]
        actuator = self.sections["actuator"]
        keyframe.children += home_keyframe(points, self.links, world, actuator)
        if self.has_floor:
            add_floor(world, self.options.friction)

    def _add_loops(self, devices: DeviceWriter) -> list[str]:
        """Add extra joints and joints that mimic others; return the names of these."""
        equality = self.sections["equality"]
        loops = LoopWriter(
            self.output, self.links.elements, devices.sites, self.extras.classes
        )
        loops.write(self.sections["tendon"], equality)
        return add_followers(self.body, self.links, equality)

    def _add_kept(self, devices: DeviceWriter) -> None:
        """Add what the body was read with from an MJCF file."""
        extras = self.extras
        extras.joints = [
            element.get("name")
            for element in self.sections["worldbody"].every()
            if element.name in ("joint", "freejoint")
        ]
        has_actuators = self.options.actuators is not None
        without = ("actuator", "keyframe") if has_actuators else ()
        extras.add_to(self.sections, without)
        # Sensors are in the order of the file that the body was read from; new ones
        # follow.
        order = {**devices.order, **extras.order}
        sensors = self.sections["sensor"].children
        last = len(order) + len(sensors)
        sensors.sort(key=lambda sensor: order.get(id(sensor), last))

    def _keep_body(self, mimics: list[str], motors: str | None) -> None:
        """Keep what MJCF cannot hold of the body.

        The version marks a file of ours: what the writer makes again each time is not
        kept by the reader.
        """
        body = self.body
        # The reader does not take these for contacts of the file.
        excludes = []
        if self.is_made:
            for exclude in self.sections["contact"].children:
                excludes.append([exclude.get("body1"), exclude.get("body2")])
        extra = {key: value for key, value in body.extra.items() if key != "mjcf"}
        values: dict[str, object] = {
            "version": 1,
            "info": body.info,
            "motors": motors,
            "excludes": excludes,
            "mimics": mimics,
            "extra": extra,
            "viewpoints": json_of_viewpoints(body.viewpoints),
        }
        kept = {
            key: value
            for key, value in values.items()
            if (self.is_made if key == "motors" else value)
        }
        self.kept.add("body", "", kept)


SelfCollision: TypeAlias = Literal["none", "touching", "all"]
Actuators: TypeAlias = Literal["motor", "position", "none"]
CollisionShapes: TypeAlias = Literal["mesh", "hull", "box"]


def boxed(body: Body) -> Body:
    """Return the body with a box in place of each collision mesh.

    It is along the axes of the shape.
    """
    links = []
    for link in body.links:
        segments = []
        for segment in link.segments:
            boxes = tuple(map(_box_around, segment.collisions))
            segments.append(replace(segment, collisions=boxes))
        links.append(replace(link, segments=tuple(segments)))
    return replace(body, links=tuple(links))


def _box_around(shape: Shape) -> Shape:
    """Return a box around a mesh; another shape as it is."""
    form = solid(shape)
    if form is None or form.mesh is None or form.is_flat:
        return shape
    # In the frame of the mesh, so the box is along the axes of the shape.
    low = form.mesh.vertices.min(axis=0)
    high = form.mesh.vertices.max(axis=0)
    middle = [*(0.5 * (low + high)), 1.0, 0.0, 0.0, 0.0]
    transform = poses.to_matrix(poses.compose(form.pose, middle))
    return replace(
        shape, geometry=Box(tuple((high - low).tolist())), transform=transform
    )


def overlap_problem(pairs: Sequence[str]) -> Problem:
    """Return the problem of links that do not collide.

    Pairs are given as texts, `A and B`.
    """
    shown = "; ".join(pairs[:MAX_SHOWN_PAIRS])
    num_more = len(pairs) - MAX_SHOWN_PAIRS
    if num_more > 0:
        shown += f"; {num_more} more"
    message = (
        f"{counted(len(pairs), 'pair')} of links overlap at rest and do not collide "
        f"in the model: {shown}"
    )
    return rules.OVERLAP.problem(message, data={"pairs": list(pairs)})


def exclude_overlaps(
    points: CollisionPoints, links: LinkWriter, contact: Element
) -> None:
    """Exclude contacts of links that overlap at rest; they are reported."""
    excluded = {
        (exclude.get("body1"), exclude.get("body2")) for exclude in contact.children
    }
    pairs = []
    for first, second in points.rest_overlaps:
        body1 = links.elements[first].get("name")
        body2 = links.elements[second].get("name")
        if (body1, body2) not in excluded:
            contact.add("exclude", {"body1": body1, "body2": body2})
            pairs.append(f"{body1} and {body2}")
    if pairs:
        links.problems.add(overlap_problem(pairs))


def position_actuators(body: Body, links: LinkWriter, gains: Floats | None) -> Element:
    """Return a servo for each joint with a column but the passive ones.

    Force = kp · (control − q) − kd · q̇, within its effort. `gains` (J, 2) are kp and
    kd; by default `bodymotion.model.links.default_gains`.
    """
    actuator = Element("actuator")
    table = default_gains(body) if gains is None else gains
    # Passive joints of closed loops are moved by the others.
    passive = passive_joints(body)
    for column, index in enumerate(body.joint_links):
        joint = body.links[index].joint
        is_written = index > 0 and index in links.joint_names
        if not is_written or joint.type not in ("rotate", "slide") or column in passive:
            continue
        name = links.joint_names[index]
        kp, kd = table[column].tolist()
        attributes = {
            "name": links.names.free("actuator", name),
            "joint": name,
            "kp": number_text(kp),
            "kv": number_text(kd),
        }
        # MuJoCo keeps the range of a joint itself; that of a motor in a file may be of
        # a control without a unit.
        efforts = None
        if "actuatorfrcrange" not in mjcf_values(joint.extra):
            efforts = effort_range(joint)
        if efforts is not None:
            attributes["forcerange"] = number_text(efforts)
        if body.source.format == "mjcf":
            # Defaults of the file, of motors too, would hold for it.
            attributes["gear"] = "1"
            attributes["ctrllimited"] = "false"
            attributes["forcelimited"] = "false" if efforts is None else "true"
        actuator.add("position", attributes)
    return actuator


def add_floor(world: Element, friction: float) -> None:
    """Add a floor at z = 0 and a light, before the bodies.

    The floor has a coefficient of sliding friction.
    """
    plane = {
        "name": "floor",
        "type": "plane",
        "size": "0 0 1",
        "friction": number_text([friction, *FLOOR_FRICTION]),
        # With a higher priority MuJoCo takes the floor's friction for contacts, not the
        # larger one of both.
        "priority": "1",
        "rgba": "0.7 0.75 0.8 1",
    }
    light = {
        "name": "light",
        "type": "directional",
        "pos": "0 0 4",
        "dir": "0.3 0.3 -1",
    }
    world.children[:0] = [Element("light", light), Element("geom", plane)]


def home_keyframe(
    points: CollisionPoints, links: LinkWriter, world: Element, actuator: Element
) -> list[Element]:
    """Return the keyframe of `CollisionPoints.home`, if there are joints.

    The controls of position actuators hold it.
    """
    body = points.body
    positions, root_pose = points.home()
    values: dict[str, list[float]] = {}
    for column, index in enumerate(body.joint_links):
        if index in links.joint_names:
            values[links.joint_names[index]] = [float(positions[column])]
    if body.links and 0 in links.joint_names:
        values[links.joint_names[0]] = root_pose.tolist()
    # qpos is in the order of joints in the file, which is not that of the columns.
    joints = [
        element.get("name")
        for element in world.every()
        if element.name in ("joint", "freejoint")
    ]
    if not joints:
        return []
    qpos: list[float] = []
    for name in joints:
        # One number for each joint; seven for a free one: position, then quaternion w x
        # y z.
        qpos += values.get(name, [0.0])
    attributes = {"name": "home", "qpos": number_text(qpos)}
    if actuator.first("position") is not None:
        controls = [values[servo.get("joint")][0] for servo in actuator.children]
        attributes["ctrl"] = number_text(controls)
    return [Element("key", attributes)]
