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
from bodymotion.formats.mjcf.bodies import LinkWriter, accepted_body
from bodymotion.formats.mjcf.devices import DeviceWriter
from bodymotion.formats.mjcf.extra import WRITTEN_WHOLE, ExtraSections
from bodymotion.formats.mjcf.geoms import CLASSES, INTEGRATOR, GeomWriter
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
    **{
        "angle": "radian",
        "autolimits": "true",
        "inertiafromgeom": "false",
        "balanceinertia": "false",
    },
    **{
        "boundmass": "0",
        "boundinertia": "0",
        "fusestatic": "false",
        "discardvisual": "false",
    },
}
MAX_DEPTH = 180  # Links in a chain: XML readers limit how deep elements are nested.


def excluded_contacts(body: Body, links: LinkWriter) -> Element:
    """Return the contacts to exclude.

    Between a fixed base and the links that it carries.

    MuJoCo excludes contacts of other parents and children by itself.
    """
    contact = Element("contact")
    fixed: list[bool] = []
    for link in body.links:
        free = link.parent < 0 and link.joint.type == "free"
        above = link.parent < 0 or fixed[link.parent]
        fixed.append(
            above
            and not free
            and not (link.parent >= 0 and link.index in links.joint_names)
        )
        if link.parent >= 0 and above and not fixed[-1]:
            ends = [links.elements.get(index) for index in (link.parent, link.index)]
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
        if (
            index > 0
            and index in links.joint_names
            and body.links[index].joint.type in MOVING
        ):
            joint = body.links[index].joint
            name = links.joint_names[index]
            attributes = {"name": links.names.free("actuator", name), "joint": name}
            if joint.gear_ratio not in (0.0, 1.0):
                attributes["gear"] = number_text(joint.gear_ratio)
            if (limits := motor_range(joint)) is not None:
                attributes["forcerange"] = number_text(limits)
            actuator.add("motor", attributes)
    return actuator


def add_followers(body: Body, links: LinkWriter, equality: Element) -> list[str]:
    """Add equalities for joints that mimic another one, as in URDF.

    Value = multiplier · value of the other + offset.

    Returns
    -------
    The names of the equalities.
    """
    found: list[str] = []
    named = {
        link.joint.name: links.joint_names[link.index]
        for link in body.links
        if link.index in links.joint_names
    }
    for link in body.links:
        mimic = link.joint.extra.get("mimic")
        if not isinstance(mimic, Mapping):
            continue
        own = links.joint_names.get(link.index)
        other = named.get(str(mimic.get("joint")))
        numbers = [mimic.get("offset", 0.0), mimic.get("multiplier", 1.0)]
        usable = all(isinstance(n, (int, float)) and np.isfinite(n) for n in numbers)
        if (
            own is None
            or other is None
            or own == other
            or not usable
            or link.joint.type not in ("rotate", "slide")
        ):
            message = (
                f"joint {link.joint.name} does not follow {mimic.get('joint')!s:.60}"
            )
            links.problems.add(
                losses.FOLLOWING.problem(
                    message, Location(inside=f"links[{link.index}]")
                )
            )
            continue
        name = links.names.free("equality", f"{own}_mimic")
        polynomial = number_text([*numbers, 0.0, 0.0, 0.0])
        equality.add(
            "joint",
            {"name": name, "joint1": own, "joint2": other, "polycoef": polynomial},
        )
        found.append(name)
    return found


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
    """The options of `write_mjcf`, and whether a floor, a light and a keyframe are made."""

    self_collision: SelfCollision = "touching"
    actuators: Actuators | None = None
    gains: npt.ArrayLike | None = None
    collision_shapes: CollisionShapes = "mesh"
    friction: float = 1.0
    scene: bool = True


@dataclass(frozen=True)
class MjcfModel:
    """A body as MJCF.

    The file, its meshes, the body as it was repaired, and names of links and joints by
    index of link.
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
    if not body.links:
        raise NO_LINKS.error("the body has no links")
    depth: list[int] = []
    for link in body.links:
        depth.append(0 if link.parent < 0 else depth[link.parent] + 1)
        location = Location(inside=f"links[{link.index}]")
        if depth[-1] > MAX_DEPTH:
            raise rules.DEEP.error(
                f"link {link.name} is in a chain of more than {MAX_DEPTH} links",
                location,
            )
        if not (np.isfinite(link.offset).all() and np.isfinite(link.joint.axis).all()):
            raise NOT_FINITE.error(
                f"the pose or the axis of link {link.name} is not finite", location
            )
    arrays = [body.root_pose, *(d.pose for d in body.devices)]
    arrays += [
        np.append(joint.positions.ravel(), joint.axis) for joint in body.extra_joints
    ]
    if not all(np.isfinite(numbers).all() for numbers in arrays):
        raise NOT_FINITE.error(
            "the root pose, or a pose of a device or extra joint, is not finite"
        )


class _Writer:
    def __init__(self, body: Body, folder: MeshFolder, options: ModelOptions) -> None:
        self.body = body
        self.options = options
        self.output = Output(body, folder, Names())
        self.problems, self.kept = self.output.problems, self.output.kept

    def model(self) -> Element:
        body = self.body
        root = Element("mujoco")
        title = valid_text(body.name).strip()
        if title:
            root.attributes["model"] = title
        self.output.renamed.add("model", body.name, title)
        root.add("compiler", dict(COMPILER))
        extras = ExtraSections(body, self.problems)
        root.children += extras.elements(*WRITTEN_WHOLE)
        default = root.add("default")
        for name, values in CLASSES.items():
            if self.options.self_collision == "none":
                own = {**values, "contype": "0"}
            else:
                own = values
            default.add("default", {"class": name}).add("geom", dict(own))
        extras.defaults(default)
        world = Element("worldbody")
        sensors = Element("sensor")
        geoms = GeomWriter(
            self.output, 64 if self.options.collision_shapes == "hull" else 0
        )
        # A model from an MJCF file keeps the motors and contacts of that file.
        makes = (
            body.source.format != "mjcf" or body.source.options.get("motors") == "made"
        )
        has_floor = makes and self.options.scene and not body.is_mounted
        if has_floor:
            # A shape of this name would be read as the floor.
            self.output.names.free("geom", "floor")
        links = self.links = LinkWriter(self.output, geoms)
        for link in body.links:
            links.write(link, world)
        devices = self._devices(links.elements, sensors)
        if makes:
            contact = excluded_contacts(body, links)
        else:
            contact = Element("contact")
        if makes:
            points = CollisionPoints(body)
        else:
            points = None
        if points is not None and self.options.self_collision == "touching":
            exclude_overlaps(points, links, contact)
        kind = self.options.actuators or ("motor" if makes else None)
        actuator = Element("actuator")
        if kind == "motor":
            actuator = actuators(body, links)
        elif kind == "position":
            if self.options.gains is None:
                table = None
            else:
                table = np.asarray(self.options.gains, dtype=np.float64)
            actuator = position_actuators(body, links, table)
            root.add("option", dict(INTEGRATOR))
        keyframe = Element("keyframe")
        if points is not None and self.options.scene:
            keyframe.children += home_keyframe(points, links, world, actuator)
            if has_floor:
                add_floor(world, self.options.friction)
        tendon = Element("tendon")
        equality = Element("equality")
        custom = root.add("custom")
        LoopWriter(self.output, links.elements, devices.sites, extras.classes).write(
            tendon, equality
        )
        mimics = add_followers(body, links, equality)
        self._body(
            contact if makes else None, mimics, {"motor": "made"}.get(kind or "", kind)
        )
        self.kept.write(custom)
        asset = self.output.asset
        parts = (
            custom,
            asset,
            world,
            contact,
            tendon,
            equality,
            actuator,
            sensors,
            keyframe,
        )
        sections = {part.name: part for part in parts}
        extras.joints = [
            e.get("name") for e in world.every() if e.name in ("joint", "freejoint")
        ]
        extras.lists(
            sections,
            without=() if self.options.actuators is None else ("actuator", "keyframe"),
        )
        positions = {**devices.order, **extras.order}
        sensors.children.sort(
            key=lambda element: positions.get(
                id(element), len(positions) + len(sensors.children)
            )
        )
        if not custom.children:
            root.children.remove(custom)
        # MuJoCo accepts sections in any order; this is that of its own files.
        for section in list(sections.values())[1:]:
            if section.children:
                root.children.append(section)
        self.problems.extend((*geoms.lost, *self.output.folder.lost))
        self.problems.extend(self.output.renamed.problems)
        for where in self.kept.lost:
            self.problems.add(losses.KEPT_LESS.problem(f"{where} cannot be kept"))
        return root

    def _devices(self, elements: dict[int, Element], sensors: Element) -> DeviceWriter:
        devices = self.body.devices
        in_tree = sorted(range(len(devices)), key=lambda number: devices[number].link)
        ordered = in_tree == sorted(in_tree)
        writer = DeviceWriter(self.output, sensors)
        for number in in_tree:
            writer.write(
                elements[devices[number].link],
                devices[number],
                None if ordered else number,
            )
        return writer

    def _body(
        self, made: Element | None, mimics: list[str], motors: str | None
    ) -> None:
        """Keep what MJCF cannot hold of the body.

        `made` are the excluded contacts of a model whose actuators this writer makes.
        """
        body = self.body
        # The version marks a file of ours: what the writer makes anew each time is not
        # kept by the reader.
        values: dict[str, object] = {
            "version": 1,
            "info": body.info,
            "motors": motors,
            "excludes": [
                [one.get("body1"), one.get("body2")]
                for one in (() if made is None else made.children)
            ],
            "mimics": mimics,
            "extra": {key: value for key, value in body.extra.items() if key != "mjcf"},
            "viewpoints": json_of_viewpoints(body.viewpoints),
        }
        kept = {
            key: value
            for key, value in values.items()
            if (value if key != "motors" else made is not None)
        }
        self.kept.add("body", "", kept)


SelfCollision: TypeAlias = Literal["none", "touching", "all"]
Actuators: TypeAlias = Literal["motor", "position", "none"]
CollisionShapes: TypeAlias = Literal["mesh", "hull", "box"]


def boxed(body: Body) -> Body:
    """Return the body with a box, along the axes of the shape, in place of each collision mesh."""

    def box(shape: Shape) -> Shape:
        found = solid(shape)
        if found is None or found.mesh is None or found.is_flat:
            return shape
        low = found.mesh.vertices.min(axis=0)
        high = found.mesh.vertices.max(axis=0)
        at = poses.compose(found.pose, [*(0.5 * (low + high)), 1.0, 0.0, 0.0, 0.0])
        return replace(
            shape,
            geometry=Box(tuple((high - low).tolist())),
            transform=poses.to_matrix(at),
        )

    return replace(
        body,
        links=tuple(
            replace(
                link,
                segments=tuple(
                    replace(s, collisions=tuple(map(box, s.collisions)))
                    for s in link.segments
                ),
            )
            for link in body.links
        ),
    )


def overlap_problem(pairs: Sequence[str]) -> Problem:
    """Return the problem that reports pairs of links, `A and B`, that do not collide in the model."""
    shown = "; ".join(pairs[:6]) + (
        f"; {len(pairs) - 6} more" if len(pairs) > 6 else ""
    )
    message = f"{counted(len(pairs), 'pair')} of links overlap at rest and do not collide in the model: {shown}"
    return rules.OVERLAP.problem(message, data={"pairs": list(pairs)})


def exclude_overlaps(
    points: CollisionPoints, links: LinkWriter, contact: Element
) -> None:
    """Exclude contacts of links that overlap at rest; they are reported."""
    known = {(one.get("body1"), one.get("body2")) for one in contact.children}
    named = []
    for pair in points.rest_overlaps:
        one, two = (links.elements[index].get("name") for index in pair)
        if (one, two) not in known:
            contact.add("exclude", {"body1": one, "body2": two})
            named.append(f"{one} and {two}")
    if named:
        links.problems.add(overlap_problem(named))


def position_actuators(body: Body, links: LinkWriter, gains: Floats | None) -> Element:
    """Return a servo for each joint with a column but the passive ones.

    Force = kp · (control − q) − kd · q̇, within its effort.

    `gains` (J, 2) are kp and kd; by default `bodymotion.model.links.default_gains`.
    """
    actuator = Element("actuator")
    if gains is None:
        table = default_gains(body)
    else:
        table = gains
    passive = passive_joints(body)
    for column, index in enumerate(body.joint_links):
        joint = body.links[index].joint
        if (
            index <= 0
            or index not in links.joint_names
            or joint.type not in ("rotate", "slide")
            or column in passive
        ):
            continue
        name, (kp, kd) = links.joint_names[index], table[column].tolist()
        attributes = {"name": links.names.free("actuator", name), "joint": name}
        attributes |= {"kp": number_text(kp), "kv": number_text(kd)}
        # MuJoCo keeps the range of a joint itself; that of a motor in a file may be of
        # a control without a unit.
        if "actuatorfrcrange" in mjcf_values(joint.extra):
            efforts = None
        else:
            efforts = effort_range(joint)
        if efforts is not None:
            attributes["forcerange"] = number_text(efforts)
        if body.source.format == "mjcf":
            # Defaults of the file, of motors too, would hold for it.
            attributes |= {
                "gear": "1",
                "ctrllimited": "false",
                "forcelimited": "false" if efforts is None else "true",
            }
        actuator.add("position", attributes)
    return actuator


def add_floor(world: Element, friction: float) -> None:
    """Add a floor at z = 0 with a coefficient of sliding friction, and a light, before the bodies."""
    plane = {
        "type": "plane",
        "size": "0 0 1",
        "friction": number_text([friction, 0.005, 0.0001]),
    }
    plane |= {"priority": "1", "rgba": "0.7 0.75 0.8 1"}
    light = {
        "name": "light",
        "type": "directional",
        "pos": "0 0 4",
        "dir": "0.3 0.3 -1",
    }
    world.children[:0] = [
        Element("light", light),
        Element("geom", {"name": "floor", **plane}),
    ]


def home_keyframe(
    points: CollisionPoints, links: LinkWriter, world: Element, actuator: Element
) -> list[Element]:
    """Return the keyframe of `CollisionPoints.home`, if there are joints.

    The controls of position actuators hold it.
    """
    body, (q, root) = points.body, points.home()
    columns = enumerate(body.joint_links)
    names_of_joints = links.joint_names
    values = {
        names_of_joints[index]: [float(q[column])]
        for column, index in columns
        if index in names_of_joints
    }
    if body.links and 0 in links.joint_names:
        values[links.joint_names[0]] = root.tolist()
    joints = [e.get("name") for e in world.every() if e.name in ("joint", "freejoint")]
    attributes = {
        "name": "home",
        "qpos": number_text(
            [number for name in joints for number in values.get(name, [0.0])]
        ),
    }
    if actuator.first("position") is not None:
        attributes["ctrl"] = number_text(
            [values[one.get("joint")][0] for one in actuator.children]
        )
    if joints:
        return [Element("key", attributes)]
    return []
