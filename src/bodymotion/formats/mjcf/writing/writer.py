"""A body as an MJCF file, with its meshes beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.meshes.folder import MeshFolder
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.conventions import CLASSES
from bodymotion.formats.mjcf.kept import Kept
from bodymotion.formats.mjcf.writing.additions import actuators, add_followers, excluded_contacts
from bodymotion.formats.mjcf.writing.devices import DeviceWriter
from bodymotion.formats.mjcf.writing.geoms import GeomWriter
from bodymotion.formats.mjcf.writing.links import LinkWriter
from bodymotion.formats.mjcf.writing.looks import Looks
from bodymotion.formats.mjcf.writing.loops import LoopWriter
from bodymotion.formats.mjcf.writing.masses import acceptable
from bodymotion.formats.mjcf.writing.names import Names
from bodymotion.formats.mjcf.writing.passed import Passed
from bodymotion.formats.xml.tree import Element, to_xml

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body

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
        Repair links that MuJoCo refuses (`bodymotion.model.inertias.repaired`); each repair is one of the problems.
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
        When a file cannot be written.
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
        links = LinkWriter(body, self.names, self.kept, geoms, self.problems)
        for link in body.links:
            links.write(link, world)
        devices = self._devices(links.elements, sensors)
        # A model that was made for MuJoCo has the motors and contacts that its maker wanted.
        makes = body.source.format != "mjcf" or body.source.options.get("motors") == "made"
        contact = excluded_contacts(body, links) if makes else Element("contact")
        actuator = actuators(body, links) if makes else Element("actuator")
        loops = Element("loops")
        LoopWriter(body, links.elements, self.names, self.kept, self.problems, devices.sites, passed.classes).write(
            loops
        )
        equality = loops.first("equality") or Element("equality")
        mimics = add_followers(body, links, equality)
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

    def _devices(self, elements: dict[int, Element], sensors: Element) -> DeviceWriter:
        devices = self.body.devices
        in_tree = sorted(range(len(devices)), key=lambda number: devices[number].link)
        ordered = in_tree == sorted(in_tree)
        writer = DeviceWriter(sensors, self.names, self.kept, self.problems)
        for number in in_tree:
            writer.write(elements[devices[number].link], devices[number], None if ordered else number)
        return writer

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
