"""A body as an MJCF file, with its meshes beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from bodymotion import losses, poses
from bodymotion.arrays import same
from bodymotion.diagnostics import Location
from bodymotion.formats.mesh_files import MeshFolder
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.conventions import CLASSES
from bodymotion.formats.mjcf.kept import Kept
from bodymotion.formats.mjcf.kept_segments import kept_of_segments
from bodymotion.formats.mjcf.plain_joints import ball_parts, plain_joint
from bodymotion.formats.mjcf.writing.chains import at_rest, ball_starts, chains, in_last_frame
from bodymotion.formats.mjcf.writing.devices import DeviceWriter
from bodymotion.formats.mjcf.writing.geoms import GeomWriter, pose_attributes
from bodymotion.formats.mjcf.writing.joints import (
    ball_element,
    joint_element,
    kept_of_joint,
    motor_element,
    rest_of,
)
from bodymotion.formats.mjcf.writing.looks import Looks
from bodymotion.formats.mjcf.writing.loops import LoopWriter
from bodymotion.formats.mjcf.writing.masses import acceptable, write_inertial
from bodymotion.formats.mjcf.writing.names import Names
from bodymotion.formats.mjcf.writing.passed import Passed
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml_tree import Element, number_text, to_xml
from bodymotion.links import MOVING, Joint

if TYPE_CHECKING:
    from bodymotion.arrays import Floats
    from bodymotion.body import Body
    from bodymotion.diagnostics import Problem
    from bodymotion.links import Link

__all__ = ["write_mjcf"]

COMPILER = {
    "angle": "radian",
    "autolimits": "true",
    "inertiafromgeom": "false",
    "balanceinertia": "false",
    "boundmass": "0",
    "boundinertia": "0",
    "fusestatic": "false",
    "discardvisual": "false",
}
DEEPEST = 180
"""So many links may hang on each other: XML readers count how deep elements stand in each other."""


def write_mjcf(
    body: Body, path: Path, *, fix_inertia: bool = False, mesh: Literal["obj", "stl"] = "obj"
) -> tuple[Problem, ...]:
    """Write a body as MJCF, and its meshes into a folder beside the file.

    Parameters
    ----------
    body, path:
        The folder of the meshes is called as the file: `NAME_xml_meshes`. Files that are there already are never changed.
    fix_inertia:
        Repair links that MuJoCo refuses (`bodymotion.inertias.repaired`); each repair is one of the problems.
    mesh:
        "obj" keeps vertices to the bit, and normals and places in images; "stl" has bare triangles in single precision.

    Returns
    -------
    What the file does not hold of the body.

    Raises
    ------
    FormatError
        When the body has no link, numbers that are not finite, or links that MuJoCo refuses (MJCF133, which names all of them).
    OSError
        When a file can not be written.
    """
    if mesh not in ("obj", "stl"):
        raise ValueError(f"MuJoCo reads meshes as obj and stl, not as {mesh!r}")
    _check(body)
    body, changed = acceptable(body, fix_inertia=fix_inertia)
    writer = _Writer(body, MeshFolder(path, mesh))
    data = to_xml(writer.model(), "Made by bodymotion. Lengths in m, angles in rad, masses in kg.")
    writer.folder.write(data)
    return (*changed, *writer.problems)


def _check(body: Body) -> None:
    if not body.links:
        raise rules.NO_BODY.error("the body has no links")
    depth: list[int] = []
    for link in body.links:
        depth.append(0 if link.parent < 0 else depth[link.parent] + 1)
        place = Location(inside=f"links[{link.index}]")
        if depth[-1] > DEEPEST:
            raise rules.DEEP.error(f"link {link.name} hangs on more than {DEEPEST} others, one on the other", place)
        if not (np.isfinite(link.offset).all() and np.isfinite(link.joint.axis).all()):
            raise rules.NOT_FINITE.error(f"the pose or the axis of link {link.name} is not finite", place)
    given = [body.root_pose, *(d.pose for d in body.devices)]
    given += [np.append(joint.positions.ravel(), joint.axis) for joint in body.extra_joints]
    if not all(np.isfinite(numbers).all() for numbers in given):
        raise rules.NOT_FINITE.error("the root pose, or a pose of a device or extra joint, is not finite")


class _Writer:
    def __init__(self, body: Body, folder: MeshFolder) -> None:
        self.body, self.folder = body, folder
        self.problems: list[Problem] = []
        self.kept = Kept()
        self.names = Names(slashes=body.source.format == "mjcf")
        told = of_mjcf(body.extra).get("bodies")
        self.said = (
            {key: of for key, of in told.items() if isinstance(of, Mapping)} if isinstance(told, Mapping) else {}
        )
        """What MJCF says of bodies beside all else, by the names of their links."""
        self.elements: dict[int, Element] = {}
        self.chains = chains(body)
        self.within = {index for ahead in self.chains.values() for index in ahead}
        self.joint_names: dict[int, str] = {}
        self.count = 0
        """How many joints with a value there are so far: the reader's number for the next one."""

    def model(self) -> Element:
        body = self.body
        root = Element("mujoco", {"model": body.name} if body.name else {})
        root.add("compiler", dict(COMPILER))
        passed = Passed(body, self.problems)
        root.children += passed.heads()
        default = root.add("default")
        for name, values in CLASSES.items():
            default.add("default", {"class": name}).add("geom", dict(values))
        passed.defaults(default)
        asset, sensors = Element("asset"), Element("sensor")
        looks = Looks(asset, self.names, self.kept, self.folder)
        geoms = GeomWriter(asset, self.names, self.kept, self.folder, looks)
        world = Element("worldbody")
        for link in body.links:
            self._link(link, world, geoms)
        devices = self._devices(sensors)
        # A model that was made for MuJoCo has the motors and contacts that its maker wanted.
        makes = body.source.format != "mjcf" or body.source.options.get("motors") == "made"
        contact = self._excluded() if makes else Element("contact")
        actuator = self._motors() if makes else Element("actuator")
        loops = Element("loops")
        LoopWriter(body, self.elements, self.names, self.kept, self.problems, devices.sites, passed.classes).write(
            loops
        )
        equality = loops.first("equality") or Element("equality")
        mimics = self._mimics(equality)
        self._body(contact if makes else None, mimics)
        self.kept.write(root)
        custom = next((child for child in root.children if child.name == "custom"), None) or root.add("custom")
        sections = {
            "custom": custom,
            "asset": asset,
            "worldbody": world,
            "contact": contact,
            "tendon": loops.first("tendon") or Element("tendon"),
            "equality": equality,
            "actuator": actuator,
            "sensor": sensors,
            "keyframe": Element("keyframe"),
        }
        passed.joints = [e.get("name") for e in world.every() if e.name in ("joint", "freejoint")]
        passed.lists(sections)
        places = {**devices.order, **passed.order}
        sensors.children.sort(key=lambda element: places.get(id(element), len(places) + len(sensors.children)))
        if not custom.children:
            root.children.remove(custom)
        # MuJoCo takes its sections in any order; this is that of its own documents.
        for section in list(sections.values())[1:]:
            if section.children:
                root.children.append(section)
        self.problems += [*geoms.lost, *looks.lost, *self.folder.lost]
        for where in self.kept.lost:
            self.problems.append(losses.KEPT_LESS.problem(f"{where} is left out"))
        return root

    def _link(self, link: Link, world: Element, geoms: GeomWriter) -> None:
        if link.index in self.within:
            return
        if link.index == 0 and _is_world(self.body):
            self.elements[0] = world
            geoms.write(world, link, "world")
            _lights(world, self.said.get(link.name, {}))
            return
        body, ahead = self.body, self.chains.get(link.index, ())
        name = self.names.free("body", link.name, f"link_{link.index}")
        first = body.links[ahead[0]] if ahead else link
        parent = world if first.parent < 0 else self.elements[first.parent]
        pose = _usable(body.root_pose if link.parent < 0 else link.offset)
        said: dict[str, object] = {}
        if name != link.name:
            said["name"] = link.name
        if not same(pose, link.offset):
            said["offset"] = link.offset
        if ahead:
            pose, placed = in_last_frame(body, ahead, link.index)
        elif rest_of(link.joint) and link.parent >= 0:
            pose = at_rest(link.joint, pose)
        said_of_body = self.said.get(link.name, {})
        attributes = {k: v for k, v in texts(said_of_body.get("body")).items() if k not in ("name", "pos", "quat")}
        element = self.elements[link.index] = parent.add("body", {"name": name, **pose_attributes(pose), **attributes})
        if ahead:
            balls = ball_starts(body, (*ahead, link.index))
            for index, (anchor, axis) in zip((*ahead, link.index), placed, strict=True):
                if index in balls:
                    self._ball(body.links[index : index + 3], element, anchor, said)
                if any(index in range(start, start + 3) for start in balls):
                    continue
                joint = self._joint(body.links[index], element, body.links[index].name, said, chain=True)
                if joint is not None:
                    joint.attributes |= {"pos": number_text(anchor), "axis": number_text(axis)}
        else:
            self._joint(link, element, name, said)
        _lights(element, said_of_body)
        write_inertial(element, link, self.problems)
        complete = geoms.write(element, link, name)
        self._segments(link, said, complete=complete)
        self.kept.add("link", name, said)

    def _joint(
        self, link: Link, element: Element, name: str, said: dict[str, object], chain: bool = False
    ) -> Element | None:
        """Put the joint of a link into a body, and what the file does not say of it into `said`."""
        joint_name = self.names.free("joint", link.joint.name, name)
        at_top = link.parent < 0 or (link.parent == 0 and self.elements[0].name == "worldbody")
        joint = joint_element(link, joint_name, self.problems, top=at_top)
        if joint is None:
            self.names.give_back("joint", joint_name)
        else:
            element.children.append(joint)
            self.joint_names[link.index] = joint_name
        again = plain_joint(joint, link.name, self.count)
        self.count += joint is not None and joint.name == "joint"
        of_joint = kept_of_joint(link.joint, again)
        if of_joint and not chain:
            said["joint"] = of_joint
        elif of_joint and joint is not None:
            said.setdefault("joints", {})[joint_name] = of_joint  # type: ignore[index]
        return joint

    def _ball(self, links: Sequence[Link], element: Element, anchor: Floats, said: dict[str, object]) -> None:
        """Put a ball joint into a body, which three links came of."""
        wanted = str(texts(of_mjcf(links[0].joint.extra).get("ball")).get("name", ""))
        name = self.names.free("joint", wanted, "ball")
        ball = ball_element(links[0].joint, name)
        element.children.append(ball)
        ball.attributes["pos"] = number_text(anchor)
        attributes = {k: v for k, v in ball.attributes.items() if k not in ("name", "type", "pos")}
        for link, again in zip(links, ball_parts(name, attributes), strict=True):
            self.joint_names[link.index] = name
            of_joint = kept_of_joint(link.joint, replace(again, id=self.count))
            self.count += 1
            if of_joint:
                said.setdefault("joints", {})[again.name] = of_joint  # type: ignore[index]

    def _segments(self, link: Link, said: dict[str, object], *, complete: bool) -> None:
        """Keep what the segments of a link are; they can be told apart where all of their shapes are there (`complete`)."""
        place = Location(inside=f"links[{link.index}]")
        alone = len(link.segments) == 1 and np.array_equal(link.segments[0].transform, np.eye(4))
        if alone:
            segment = link.segments[0]
            extra = {key: value for key, value in segment.extra.items() if key != "mjcf"}
            kept = {key: value for key, value in (("name", segment.name), ("extra", extra)) if value}
            if kept != {"name": link.name}:
                said["segment"] = kept
            if not segment.mass and not segment.inertia.any() and not (segment.visuals or segment.collisions):
                said["segment"] = {**kept, "empty": True}
            return
        apart = kept_of_segments(link) if complete else None
        if apart:
            said["segments"] = apart
        elif link.segments:
            words = f"the {len(link.segments)} segments of link {link.name} are written as one, in the link's frame"
            self.problems.append(losses.SEGMENTS.problem(words, place))

    def _devices(self, sensors: Element) -> DeviceWriter:
        devices = self.body.devices
        in_tree = sorted(range(len(devices)), key=lambda number: devices[number].link)
        ordered = in_tree == sorted(in_tree)
        writer = DeviceWriter(sensors, self.names, self.kept, self.problems)
        for number in in_tree:
            writer.write(self.elements[devices[number].link], devices[number], None if ordered else number)
        return writer

    def _excluded(self) -> Element:
        """What hangs on the world may touch it in MuJoCo, unlike any other parent and child: a fixed base and the first links on it."""
        contact = Element("contact")
        still: list[bool] = []
        for link in self.body.links:
            free = link.parent < 0 and link.joint.type == "free"
            above = link.parent < 0 or still[link.parent]
            still.append(above and not free and not (link.parent >= 0 and link.index in self.joint_names))
            if link.parent >= 0 and above and not still[-1]:
                ends = [self.elements.get(index) for index in (link.parent, link.index)]
                names = [element.get("name") for element in ends if element is not None]
                if len(names) == 2 and all(names):
                    contact.add("exclude", {"body1": names[0], "body2": names[1]})
        return contact

    def _motors(self) -> Element:
        """A motor for each joint that has a column, in the order of the columns."""
        actuator = Element("actuator")
        for index in self.body.joint_links:
            if index > 0 and index in self.joint_names and self.body.links[index].joint.type in MOVING:
                joint, name = self.body.links[index].joint, self.joint_names[index]
                actuator.children.append(motor_element(joint, self.names.free("actuator", name), name))
        return actuator

    def _mimics(self, equality: Element) -> list[str]:
        """Let joints that follow another one do so, as URDF has it: value = multiplier · value of the other + offset."""
        found: list[str] = []
        named = {
            link.joint.name: self.joint_names[link.index] for link in self.body.links if link.index in self.joint_names
        }
        for link in self.body.links:
            mimic = link.joint.extra.get("mimic")
            if not isinstance(mimic, Mapping):
                continue
            own, other = self.joint_names.get(link.index), named.get(str(mimic.get("joint")))
            numbers = [mimic.get("offset", 0.0), mimic.get("multiplier", 1.0)]
            usable = all(isinstance(n, (int, float)) and np.isfinite(n) for n in numbers)
            if own is None or other is None or own == other or not usable or link.joint.type not in ("rotate", "slide"):
                words = f"joint {link.joint.name} does not follow {mimic.get('joint')!s:.60}"
                self.problems.append(losses.FOLLOWING.problem(words, Location(inside=f"links[{link.index}]")))
                continue
            name = self.names.free("equality", f"{own}_mimic")
            polynomial = number_text([*numbers, 0.0, 0.0, 0.0])
            equality.add("joint", {"name": name, "joint1": own, "joint2": other, "polycoef": polynomial})
            found.append(name)
        return found

    def _body(self, made: Element | None, mimics: list[str]) -> None:
        """Keep what is said of the whole; `made` are the contacts left out, of a model with motors of our making."""
        body = self.body
        # That there is such a text says whose file it is: then what is made of the body anew each time need not be kept.
        said: dict[str, object] = {"version": 1}
        if body.info:
            said["info"] = body.info
        if made is not None:
            said["motors"] = "made"
            if made.children:
                said["excludes"] = [[one.get("body1"), one.get("body2")] for one in made.children]
        if mimics:
            said["mimics"] = mimics
        extra = {key: value for key, value in body.extra.items() if key != "mjcf"}
        if extra:
            said["extra"] = extra
        if body.viewpoints:
            said["viewpoints"] = [
                {"description": view.description, "pose": view.pose, "field_of_view": view.field_of_view}
                for view in body.viewpoints
            ]
        self.kept.add("body", "", said)


def _lights(element: Element, said: Mapping[str, object]) -> None:
    """Put the lights that were on a body there again; the names of what they look at may be gone."""
    given = said.get("lights")
    for light in given if isinstance(given, (list, tuple)) else []:
        attributes = texts(light)
        if attributes.pop("element", "") == "light" and "target" not in attributes:
            element.add("light", attributes)


def _is_world(body: Body) -> bool:
    """Whether the root stands for the world of an MJCF file that the body was read from."""
    root = body.links[0]
    return (
        body.source.format == "mjcf"
        and root.name == "world"
        and root.joint == Joint(name="world")
        and root.mass == 0
        and np.array_equal(root.offset, poses.IDENTITY)
        and np.array_equal(body.root_pose, poses.IDENTITY)
    )


def _usable(pose: np.ndarray) -> np.ndarray:
    """Give a pose whose quaternion MuJoCo takes: one without length is no turn."""
    if np.linalg.norm(pose[3:]) > 1e-9:
        return pose
    return np.array([*pose[:3], 1.0, 0.0, 0.0, 0.0])
