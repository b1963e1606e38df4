"""Reading a URDF model: its file, and the body that is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.diagnostics.source import Source
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.devices import read_devices
from bodymotion.formats.urdf.elements import one_line, read_origin
from bodymotion.formats.urdf.extension import Extension, Said, plain, read_extension
from bodymotion.formats.urdf.joints import read_gears, read_joint
from bodymotion.formats.urdf.leftovers import parsed, read_rest, unknown_element
from bodymotion.formats.urdf.resources import FileFinder
from bodymotion.formats.urdf.segments import parted
from bodymotion.formats.urdf.shapes import ShapeReader, read_inertial
from bodymotion.formats.urdf.tree import Node, read_tree
from bodymotion.formats.xml.faults import XmlFaults
from bodymotion.formats.xml.tree import MOST_BYTES, Element, parse_xml
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Material
from bodymotion.model.body import Body, ExtraJoint, Viewpoint
from bodymotion.model.links import Joint, Link, Segment
from bodymotion.system.open_files import open_file, size_of

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["check_urdf", "parse_urdf", "read_urdf"]

KNOWN = ("link", "joint", "material", "gazebo", "transmission", "bodymotion")

OF_THE_WHOLE = (
    *(rules.NO_LINK, rules.NO_SUCH_LINK, rules.ROOTS, rules.CYCLE),
    *(rules.MATERIAL, rules.MIMIC, rules.SENSOR_LINK, rules.EXTENSION, rules.CHANGED),
)
"""Rules that say nothing of a file of which a part cannot be read."""


def read_urdf(
    path: str | Path, *, allow_outside: bool = False, package_paths: str | Path | Iterable[str | Path] = ()
) -> Body:
    """Read a URDF model.

    Parameters
    ----------
    path:
        The file.
    allow_outside:
        Open meshes and textures that lie outside the folder of the model and of its package, too.
    package_paths:
        Folders of packages, or folders that hold such, for `package://NAME/…`.

    Returns
    -------
    The body: links depth-first in the order of the file, one joint column for each revolute, continuous and prismatic joint, in the same
    order (unless the file's <bodymotion> element says more, see `bodymotion.formats.urdf.extension`). The root link's joint is fixed
    where that link is called "world", else free. What is odd in the file, and which files are missing, is in `problems`.

    Raises
    ------
    FormatError
        When the text is not XML, or the joints make no tree, or a value is no number.
    """
    path = Path(path)
    return parse_urdf(_read_bytes(path), path, allow_outside=allow_outside, package_paths=package_paths)


def check_urdf(
    path: str | Path, *, allow_outside: bool = False, package_paths: str | Path | Iterable[str | Path] = ()
) -> tuple[Problem, ...]:
    """Return all that is wrong with a URDF model, in the order of the file; arguments as for `read_urdf`.

    What reading raises is among it, and does not hide what comes behind it. At most 200 problems of a rule are listed.
    """
    path, faults = Path(path), XmlFaults()
    try:
        return _parsed(_read_bytes(path), path, package_paths, allow_outside, faults).problems
    except FormatError as error:
        return faults.all(error, OF_THE_WHOLE, (rules.MISSPELT,))


def _read_bytes(path: Path) -> bytes:
    try:
        if (size_of(path) or 0) > MOST_BYTES:
            raise rules.UNREADABLE.error(f"{path.name} is larger than {MOST_BYTES} bytes")
        with open_file(path) as file:
            return file.read()
    except OSError as error:
        raise rules.UNREADABLE.error(f"{path.name} cannot be opened: {error.strerror}") from error


def parse_urdf(
    data: bytes, path: Path, *, allow_outside: bool = False, package_paths: str | Path | Iterable[str | Path] = ()
) -> Body:
    """Read a URDF model from the bytes of the file at `path`; see `read_urdf`."""
    return _parsed(data, path, package_paths, allow_outside, None)


def _parsed(
    data: bytes,
    path: Path,
    package_paths: str | Path | Iterable[str | Path],
    allow_outside: bool,
    faults: XmlFaults | None,
) -> Body:
    given = [package_paths] if isinstance(package_paths, (str, Path)) else list(package_paths)
    robot = parse_xml(data, path, faults)
    if robot.name != "robot":
        raise rules.NOT_A_ROBOT.error(f"the file is a <{robot.name[:60]}>, not a <robot>", robot.location)
    for element in robot.children:
        if element.name.startswith("xacro:"):
            raise rules.XACRO.error(f"it has a <{element.name[:60]}>, a macro", element.location)
    # What is open where a file breaks off lacks what would have come.
    robot.children = [element for element in robot.children if not element.vague]
    # Numbers near the largest there are may overflow on the way.
    with np.errstate(all="ignore"):
        return _Reader(robot, path, given, allow_outside, faults).body()


def _is_place(pair: object) -> bool:
    """Whether a pair of <bodymotion> means a place, with a quaternion that is not zero."""
    try:
        return isinstance(pair, list) and bool(np.abs(np.array(pair[1], dtype=np.float64)[3:7]).max() > 1e-100)
    except (TypeError, ValueError, IndexError, OverflowError):
        return False


class _Reader:
    def __init__(
        self,
        robot: Element,
        path: Path,
        package_paths: list[str | Path],
        allow_outside: bool,
        faults: XmlFaults | None,
    ) -> None:
        self.robot, self.path, self.faults = robot, path, faults
        self.problems: list[Problem] = [] if faults is None else faults
        self.said: Extension = read_extension(robot, self.problems)
        self.nodes: list[Node] = read_tree(robot)
        self.names = {node.link.get("name"): index for index, node in enumerate(self.nodes)}
        self.gears, self.plain_transmissions = read_gears(robot)
        files = FileFinder(path, package_paths, allow_outside, self.problems)
        self.shapes = ShapeReader(robot, files, self.problems)
        for name, said in self.said.materials.items():
            self.shapes.surfaces[name] = said.applied(Material(), self.problems, skip=("texture",))

    def body(self) -> Body:
        joints = self.joints()
        links = tuple(
            self.link(index, node, joint) for index, (node, joint) in enumerate(zip(self.nodes, joints, strict=True))
        )
        self.check_mimics(links)
        left: list[str] = []
        devices, places = read_devices(self.robot, self.nodes, self.names, self.said, self.problems, left)
        left += self.unknown()
        of_links = [rest for rest in map(self.link_rest, self.nodes) if rest]
        if self.faults is not None:
            self.faults.stop()
        body = Body(
            name=self.robot.get("name") or self.path.stem,
            links=links,
            devices=devices,
            extra_joints=tuple(self.extra_joints()),
            root_pose=links[0].offset,
            extra={**({"urdf": left} if left else {}), **({"urdf_links": of_links} if of_links else {})},
            source=Source(
                "urdf",
                self.path,
                self.robot.get("version"),
                "utf-8",
                parts=self.shapes.meshes.files,
                places={
                    "links": tuple(node.link.location for node in self.nodes),
                    "devices": tuple(places),
                    "extra_joints": tuple(said.element.location for said in self.said.extra_joints),
                },
            ),
        )
        return replace(self.finished(body), problems=tuple(dict.fromkeys(self.problems)))

    def joints(self) -> list[Joint]:
        """Return the joint of each link; ids run in the order of the <joint> elements in the file."""
        in_file = {id(joint): number for number, joint in enumerate(self.robot.all("joint"))}
        found: list[Joint] = []
        for node in self.nodes:
            if node.joint is None:
                fixed = node.link.get("name") == "world"
                joint = Joint(name=node.link.get("name"), type="fixed" if fixed else "free")
            else:
                joint = read_joint(node.joint, self.gears, self.problems)
            found.append(joint)
        movers = [k for k, node in enumerate(self.nodes) if node.joint and found[k].type in ("rotate", "slide")]
        movers.sort(key=lambda k: in_file[id(self.nodes[k].joint)])
        ids = {k: number for number, k in enumerate(movers)}
        for k, node in enumerate(self.nodes):
            name = node.link.get("name")
            joint = found[k]
            said = self.said.joints.get(name)
            if said is not None:
                joint = said.applied(joint, self.problems, skip=("id",))
            found[k] = replace(joint, id=self.said.joint_id(name, ids.get(k, -1), self.problems))
        return found

    def link(self, index: int, node: Node, joint: Joint) -> Link:
        element = node.link
        name = element.get("name")
        mass, center, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        inertial = read_inertial(element, self.problems)
        if inertial is not None:
            mass, center, inertia = inertial
        said = self.said.links.get(name)
        visuals = self.shapes.shapes(element, "visual")
        collisions = self.shapes.shapes(element, "collision", self.collision_materials(element, said))
        segment = Segment(mass=mass, center_of_mass=center, inertia=inertia, visuals=visuals, collisions=collisions)
        there = inertial is not None or bool(visuals or collisions)
        if said is not None and "segment" in said.values:
            there = True
            of_it = said.mapping("segment", self.problems)
            title = of_it.get("name", "")
            segment = replace(
                segment,
                name=title if isinstance(title, str) else "",
                extra=of_it["extra"] if isinstance(of_it.get("extra"), dict) else {},
            )
        segments: tuple[Segment, ...] = (segment,) if there else ()
        if said is not None and "segments" in said.values:
            segments = parted(said, segment, self.problems)
        offset: Floats = read_origin(node.joint, self.problems) if node.joint is not None else poses.IDENTITY
        if node.joint is None and self.said.robot is not None:
            given = self.said.robot.numbers("root_offset", 7, self.problems)
            offset = offset if given is None else given
        link = Link(name=name, index=index, parent=node.parent, joint=joint, offset=offset, segments=segments)
        if said is None:
            return link
        skip = ["segment", "segments", "collision_materials", "index", "parent", "joint"]
        if node.joint is None or not _is_place(said.values.get("offset")):
            skip.append("offset")
        return said.applied(link, self.problems, skip)

    def collision_materials(self, link: Element, said: Said | None) -> list[str]:
        """Return the names of the materials that <bodymotion> says of a link's collisions, if they are as many."""
        given = said.values.get("collision_materials") if said is not None else None
        if said is None or given is None:
            return []
        if not isinstance(given, list) or not all(
            isinstance(name, str) and name in self.shapes.defined for name in given
        ):
            said.wrong("collision_materials are no names of materials", self.problems)
            return []
        if len(given) != sum(1 for _ in link.all("collision")):
            self.problems.append(
                rules.CHANGED.problem("collisions were added or removed by hand", said.element.location)
            )
            return []
        return given

    def check_mimics(self, links: Sequence[Link]) -> None:
        names = {joint.get("name") for joint in self.robot.all("joint")}
        for node, link in zip(self.nodes, links, strict=True):
            mimic = link.joint.extra.get("mimic")
            if node.joint is not None and isinstance(mimic, dict):
                other = mimic.get("joint")
                wrong = "" if other in names else ", which is no joint"
                self.problems.append(
                    rules.MIMIC.problem(
                        f"{link.joint.name!r:.60} mimics {other!r:.60}{wrong}: here it moves by its own value",
                        node.joint.location,
                    )
                )

    def extra_joints(self) -> Iterable[ExtraJoint]:
        for said in self.said.extra_joints:
            ends = [said.element.get(key) for key in ("link1", "link2")]
            if any(end not in self.names for end in ends):
                said.wrong(f"{' or '.join(ends)!r:.100} is no link", self.problems)
                continue
            base = ExtraJoint(links=(self.names[ends[0]], self.names[ends[1]]))
            yield said.applied(base, self.problems, skip=("links",))

    def link_rest(self, node: Node) -> str:
        """Return what a link says that URDF does not have, as a <link> of its name; empty where there is nothing."""
        rest = parsed(read_rest(node.link, self.problems), "link")
        if rest is None:
            return ""
        return one_line(replace(rest, attributes={"name": node.link.get("name"), **rest.attributes}))

    def unknown(self) -> list[str]:
        """Return the elements that mean nothing here, as XML."""
        found = []
        for element in self.robot.children:
            if element.name not in KNOWN or (
                element.name == "transmission" and id(element) not in self.plain_transmissions
            ):
                found.append(one_line(element))
                if element.name != "transmission":
                    self.problems.append(unknown_element(element, KNOWN, "", self.problems))
        return found

    def finished(self, body: Body) -> Body:
        said = self.said.robot
        if said is None:
            return body
        own = {"info", "extra", "root_pose", "root_offset", "viewpoints"}
        if not set(said.values) <= {"name", *own}:
            said.wrong("it says more of the robot than is known", self.problems)
        body = said.applied(body, self.problems, skip=tuple(set(said.values) - {"name"}))
        pose = said.numbers("root_pose", 7, self.problems)
        return replace(
            body,
            root_pose=body.root_pose if pose is None else frozen(pose),
            info=said.mapping("info", self.problems),
            extra={**said.mapping("extra", self.problems), **body.extra},
            viewpoints=tuple(self.viewpoints()),
        )

    def viewpoints(self) -> Iterable[Viewpoint]:
        assert self.said.robot is not None
        said = self.said.robot
        given = said.values.get("viewpoints", [])
        for values in given if isinstance(given, list) else []:
            base = Viewpoint()
            pairs = {
                key: [plain(getattr(base, key)), value]
                for key, value in (values.items() if isinstance(values, dict) else ())
                if key in ("description", "pose", "field_of_view")
            }
            yield replace(said, values=pairs).applied(base, self.problems)
