"""Writing a body as URDF: its file, and the meshes beside it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from bodymotion.diagnostics import Problem, losses
from bodymotion.formats.kept_json import PLANAR_JOINTS, mjcf_losses
from bodymotion.formats.meshes.folder import MeshFolder, MeshFormat
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.resources import PACKAGE_FILE, package_above, package_name
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.devices import device_elements
from bodymotion.formats.urdf.elements import merge_rest, parse_rest
from bodymotion.formats.urdf.extension import (
    JOINT_FIELDS,
    ROOT_FIELDS,
    ExtensionWriter,
    changed_texts,
)
from bodymotion.formats.urdf.floating import find_robot
from bodymotion.formats.urdf.joints import (
    WORLD_OF_ROOT,
    Ends,
    control_element,
    inertial_element,
    joint_element,
    read_gears,
    read_joint,
    transmission_elements,
)
from bodymotion.formats.urdf.losses import LossReport, changed_fields, unique_names
from bodymotion.formats.urdf.planar import (
    WrittenPlanar,
    planar_to_write,
    separate_planar,
)
from bodymotion.formats.urdf.shapes import ShapeWriter
from bodymotion.formats.urdf.tree import read_tree
from bodymotion.formats.xml.tree import Element, parse_xml, to_xml
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import same
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, JointType, Link
from bodymotion.model.rules import NO_LINKS
from bodymotion.model.trees import depth_first

_PACKAGE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

COMMENT = (
    "URDF by bodymotion. Meshes are in the folder beside this file; <bodymotion> holds "
    "what URDF cannot hold."
)

# How far the length of a quaternion may be from 1 by rounding.
LENGTH_TOLERANCE = 1e-9
# Keys of `Body.extra` with elements that are written back.
OF_OTHERS = ("urdf", "urdf_links", PLANAR_JOINTS)
# Fields of a Joint whose losses are reported where its element is made. A gear ratio is
# in a <transmission>.
REPORTED_FIELDS = ("velocity_lower", "velocity_upper", "name", "extra", "gear_ratio")
# Keys of `Joint.extra` whose losses are reported by others.
REPORTED_KEYS = ("joint_effort_range", "frictionloss", "mjcf", WORLD_OF_ROOT)


def write_urdf(
    body: Body,
    path: str | Path,
    *,
    mesh: MeshFormat = "obj",
    package: str | None = None,
    extension: bool = True,
    link_names: Literal["links", "segments"] = "links",
) -> tuple[Problem, ...]:
    """Write a body as URDF, and its meshes into a folder beside it.

    The folder is `NAME_urdf_meshes`.

    Parameters
    ----------
    body:
        A body with at least one link. Joints are in the order of links; each link has
        one <inertial> about its centre of mass.
    path:
        The file. Every file is written whole or not at all, the model last.
    mesh:
        The kind of mesh files: "obj" (to the bit, with colours), "stl" or "glb".
    package:
        Name files as `package://NAME/…`, which RViz and Gazebo need; by default, paths
        are relative to the model's folder. The package is the folder above the file
        that has a `package.xml`; without one, it is the folder of the file, which is
        reported (URDF163).
    extension:
        Add elements <bodymotion>, which other programs ignore, with joint ids, motors,
        closed loops, the root pose, and ids and limits of sensors.
    link_names:
        "segments" names each link after its first segment that has a name: in OpenHRP
        models a link has the name of its joint.

    Returns
    -------
    What other programs do not find in the file: losses, and as notes what is only in
    <bodymotion>.

    Raises
    ------
    FormatError
        When the body has no link (BODY108).
    ValueError
        When `package` is no name of a package.
    OSError
        When a file cannot be written.
    """
    path = Path(path)
    if not body.links:
        raise NO_LINKS.error("the body has no link")
    prefix = PackagePrefix("")
    if package is not None:
        prefix = _package_prefix(path, package)
    with np.errstate(all="ignore"):
        by_segment = link_names == "segments"
        folder = MeshFolder(path, mesh)
        writer = _Writer(body, folder, prefix.text, extension, by_segment)
        robot = writer.robot()
    writer.folder.write(to_xml(robot, COMMENT))
    notes = []
    if prefix.note:
        notes.append(rules.PACKAGE.problem(prefix.note))
    return (
        *writer.lost.problems,
        *writer.renamed.problems,
        *writer.folder.lost,
        *notes,
    )


def is_package_name(name: str) -> bool:
    """Return whether a text is a name of a package (ROS REP 144).

    It has letters, digits, underscores and hyphens; a letter first.
    """
    return _PACKAGE_NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class PackagePrefix:
    """The prefix of the paths of files, and a note about it, "" for none."""

    text: str
    note: str = ""


def _package_prefix(model: Path, name: str) -> PackagePrefix:
    """Return the prefix of paths from a model's folder.

    It leads through the package around the folder.
    """
    if not is_package_name(name):
        raise ValueError(
            f"{name!r:.60} is not a name of a package; expected letters, digits, _ "
            "and - after a letter"
        )
    folder = model.absolute().parent.resolve()
    # package://NAME/ stands for the folder with package.xml; paths go on from there.
    home = package_above(folder)
    if home is None:
        note = (
            f"no {PACKAGE_FILE} is above the file: its folder is used as that of the "
            f"package {name}"
        )
        return PackagePrefix(f"package://{name}/", note)
    inside = folder.relative_to(home).as_posix()
    prefix = f"package://{name}/"
    if inside != ".":
        prefix += f"{inside}/"
    stated = package_name(home)
    if stated in ("", name):
        return PackagePrefix(prefix)
    note = (
        f"the {PACKAGE_FILE} above the file is of the package {stated!r:.60}, "
        f"not {name}"
    )
    return PackagePrefix(prefix, note)


class _Writer:
    """Makes the elements of a body.

    Attributes
    ----------
    names, joint_names:
        The names of links, and of the joints that hold them, in the file.
    known_joints:
        By name of a joint in the body, its name in the file. Of several joints with one
        name, that of the first.
    """

    def __init__(
        self,
        body: Body,
        folder: MeshFolder,
        prefix: str,
        extension: bool,
        by_segment: bool,
    ) -> None:
        """Choose the names of all links and joints in the file."""
        self.body = body
        self.folder = folder
        self.lost = LossReport()
        self.renamed = Renamings()
        self.extension = ExtensionWriter(extension, self.lost)
        self.shapes = ShapeWriter(folder, prefix, self.lost, self.renamed)
        wanted = [_wanted_name(link, by_segment) for link in body.links]
        wanted_joints = [link.joint.name or link.name for link in body.links]
        self.names = unique_names(wanted, "link")
        self.joint_names = unique_names(wanted_joints, "joint")
        self.known_joints: dict[str, str] = {}
        # A joint of a .wrl model has the name of its link; `extra` may have its name in
        # another format.
        other_names = [link.joint.extra.get("name") for link in body.links]
        for names in (wanted_joints, other_names):
            for before, name in zip(names[1:], self.joint_names[1:], strict=True):
                if isinstance(before, str):
                    self.known_joints.setdefault(before, name)
        for original, name in zip(wanted, self.names, strict=True):
            self.renamed.add("link", original, name)
        for link in body.links[1:]:
            name = self.joint_names[link.index]
            self.renamed.add("joint", link.joint.name, name)

    def robot(self) -> Element:
        """Return the root element of the file."""
        body = self.body
        title = "robot"
        if body.name:
            (title,) = unique_names([body.name], "robot")
        self.renamed.add("model", body.name, title)
        self._report_body()
        robot = Element("robot", {"name": title})
        # Where the file had a world link above a floating joint, it gets them again.
        floating = self._floating_root()
        if floating is not None:
            above = floating.first("parent")
            assert above is not None
            robot.add("link", {"name": above.get("link")})
            robot.children.append(floating)
        links = [self._link(link) for link in body.links]
        self._merge_rest(links)
        # Planar joints before the others, which may mimic them.
        planar = planar_to_write(body, self.names, self.joint_names)
        joints = self._joints(planar)
        for each in planar:
            name = each.element.get("name")
            self.known_joints.setdefault(name, name)
        robot.children += self.shapes.materials
        self._add_tree(robot, links, joints, planar)
        others = self._others()
        # Gears before `_keep_joints`, which compares joints with what is read back of
        # them.
        gears = self._transmissions(others)
        self._keep_joints(robot, floating, joints, read_gears(gears).ratios)
        robot.children += gears
        robot.children += self._devices(planar)
        robot.children += [
            element for element in others if element.name != "transmission"
        ]
        self._keep_extra_joints()
        for rule, message, name in mjcf_losses(body):
            self.lost.add(rule, message, name)
        if not self.extension.is_empty:
            robot.children.append(self.extension.element)
        return robot

    def _report_body(self) -> None:
        """Report values of the whole body that are left out.

        The root pose is kept.
        """
        body = self.body
        parents = {link.index: link.parent for link in body.links}
        if depth_first(parents) != list(range(len(body.links))):
            message = "links are reordered to be depth-first"
            self.lost.add(losses.NO_TARGET_FIELD.as_note, message, body.name)
        if body.info:
            self.lost.leave_out("info", body.name)
        if body.viewpoints:
            self.lost.leave_out("viewpoints", body.name)
        if not body.extra.keys() <= {"mjcf", *OF_OTHERS}:
            self.lost.leave_out("extra", body.name)
        offset = body.links[0].offset
        if not np.array_equal(offset, body.root_pose):
            self.lost.leave_out("the offset of the root", body.name)
        if not np.array_equal(body.root_pose, poses.IDENTITY):
            self.extension.put_root_pose(body.root_pose, body.name)

    def _floating_root(self) -> Element | None:
        """Return the joint by which the root floated in the file.

        None where there was none.
        """
        root = self.body.links[0]
        name = root.joint.extra.get(WORLD_OF_ROOT)
        if not isinstance(name, str) or not name or root.joint.type != "free":
            return None
        # Its name must not be one that a link has by now.
        above = unique_names([*self.names, name], "link")[-1]
        wanted = [*self.joint_names[1:], root.joint.name or name]
        joint_name = unique_names(wanted, "joint")[-1]
        ends = Ends(above, self.names[0])
        return joint_element(root.joint, root.offset, joint_name, ends, {}, self.lost)

    def _link(self, link: Link) -> Element:
        """Return the <link> of a link, with its mass and shapes."""
        name = self.names[link.index]
        element = Element("link", {"name": name})
        inertial = inertial_element(link, name, self.lost)
        if inertial is not None:
            element.children.append(inertial)
        element.children += self.shapes.elements(link, name)
        if _has_parts(link):
            message = "segments are put together in the frame of the link"
            self.lost.add(losses.SEGMENTS, message, name)
        for segment in link.segments:
            if segment.name not in ("", name):
                self.lost.leave_out("segment name", name)
            if not segment.extra.keys() <= {"mjcf"}:
                self.lost.leave_out("segment extra", name)
        length = np.linalg.norm(link.offset[3:])
        if link.index and abs(length - 1.0) > LENGTH_TOLERANCE:
            self.lost.leave_out("the length of a quaternion", name)
        return element

    def _merge_rest(self, links: list[Element]) -> None:
        """Merge the content of other programs into the elements of links."""
        indices = {link.name: link.index for link in reversed(self.body.links)}
        for text in _texts(self.body.extra.get("urdf_links")):
            rest = parse_rest(text, "link")
            name = str(text)
            if rest is not None:
                name = rest.attributes.pop("name", "")
                if name in indices and merge_rest(links[indices[name]], rest):
                    continue
            message = (
                "elements of other programs in removed links, or removed parts of links"
            )
            self.lost.add(losses.DANGLING, message, name)

    def _joints(self, planar: Sequence[WrittenPlanar]) -> list[Element]:
        """Return the joint of each link but the root.

        Of planar ones all three.
        """
        # By link, the joints of planar ones, as the reader makes them: they are
        # compared with the body, but not written.
        of_planar: dict[int, Element] = {}
        for each in planar:
            of_planar.update(zip(each.links, each.joints, strict=True))
        joints = []
        for link in self.body.links[1:]:
            joint = of_planar.get(link.index)
            if joint is None:
                joint = joint_element(
                    link.joint,
                    link.offset,
                    self.joint_names[link.index],
                    Ends(self.names[link.parent], self.names[link.index]),
                    self.known_joints,
                    self.lost,
                )
            joints.append(joint)
        return joints

    def _add_tree(
        self,
        robot: Element,
        links: Sequence[Element],
        joints: Sequence[Element],
        planar: Sequence[WrittenPlanar],
    ) -> None:
        """Add links and joints; a planar joint in place of its three joints."""
        # The links between the joints of a planar one are not in the file.
        removed: set[int] = set()
        whole: dict[int, Element] = {}
        for each in planar:
            removed.update(each.links[:2])
            whole[each.links[2]] = each.element
        for index, element in enumerate(links):
            if index in removed:
                continue
            robot.children.append(element)
            if index:
                robot.children.append(whole.get(index, joints[index - 1]))

    def _transmissions(self, others: Sequence[Element]) -> list[Element]:
        """Return the <transmission> elements, with the gear ratios of the joints."""
        elements = [element for element in others if element.name == "transmission"]
        joints = {
            self.joint_names[link.index]: link.joint for link in self.body.links[1:]
        }
        return transmission_elements(elements, joints, self.known_joints, self.lost)

    def _devices(self, planar: Sequence[WrittenPlanar]) -> list[Element]:
        joint_names = list(self.joint_names)
        for each in planar:
            # The rotation has the name of the planar joint in the file.
            joint_names[each.links[2]] = each.element.get("name")
        return device_elements(
            self.body.devices, self.names, joint_names, self.extension, self.renamed
        )

    def _root_type(self, robot: Element) -> JointType:
        """Return the type that the reader gives to the joint of the root."""
        if self.names[0] == "world":
            return "fixed"
        if self.body.links[0].joint.type != "fixed":
            return "free"
        # A fixed root that is not called "world" is read as fixed only if it holds a
        # planar joint: the file so far is read to find out.
        tree = replace(robot, children=list(robot.children))
        planar = separate_planar(tree)
        is_fixed = find_robot(read_tree(tree), planar.first_joints).is_fixed
        return "fixed" if is_fixed else "free"

    def _keep_joints(
        self,
        robot: Element,
        floating: Element | None,
        elements: Sequence[Element],
        gears: Mapping[str, float],
    ) -> None:
        """Keep what the element and gear of a joint do not hold.

        Ids of all joints where one differs from the reader's.
        """
        root = Joint(name=self.names[0], type=self._root_type(robot))
        if floating is not None:
            root = read_joint(floating, gears)
        read_back = [root, *(read_joint(element, gears) for element in elements)]
        movers = [
            index
            for index, joint in enumerate(read_back)
            if index and joint.type in ("rotate", "slide")
        ]
        # The reader numbers joints in the order of the file, which is that of the
        # links.
        ids = {index: number for number, index in enumerate(movers)}
        links = self.body.links
        are_other_ids = any(link.joint.id != ids.get(link.index, -1) for link in links)
        if are_other_ids:
            self.extension.note("the ids of joints", self.body.name)
        for link, base in zip(links, read_back, strict=True):
            name = self.joint_names[link.index]
            fields = JOINT_FIELDS if link.index else ROOT_FIELDS
            texts = changed_texts(link.joint, base, fields)
            texts.pop("id", None)
            if are_other_ids and link.joint.id >= 0:
                texts = {"id": str(link.joint.id), **texts}
            self.extension.put_joint(self.names[link.index], texts, name)
            self._report_joint(link.joint, base, name, (*REPORTED_FIELDS, *fields))

    def _report_joint(
        self, joint: Joint, read_back: Joint, name: str, reported: Sequence[str]
    ) -> None:
        """Report the fields of a joint that are left out."""
        for field in changed_fields(joint, read_back, reported):
            self.lost.leave_out(f"joint {field}", name)
        for key, value in joint.extra.items():
            if key not in REPORTED_KEYS and not same(value, read_back.extra.get(key)):
                self.lost.leave_out("joint extra", name)

    def _keep_extra_joints(self) -> None:
        for number, joint in enumerate(self.body.extra_joints):
            message = "closed loops are open for other programs"
            name = joint.name or f"extra joint {number}"
            self.lost.add(losses.LOOP, message, name)
            ends = [self.names[index] for index in joint.links]
            self.extension.put_extra_joint(joint, ends)

    def _others(self) -> list[Element]:
        """Return the elements of other programs, with new names of joints."""
        elements = []
        for text in _texts(self.body.extra.get("urdf")):
            try:
                element = parse_xml(str(text).encode("utf-8", "replace"))
            except ValueError:
                message = "entries of urdf in extra that are not XML"
                self.lost.add(losses.KEPT_LESS, message, str(text))
                continue
            if element.name == "ros2_control":
                element = control_element(element, self.known_joints, self.lost)
            elements.append(element)
        return elements


def _wanted_name(link: Link, by_segment: bool) -> str:
    """Return the name that a link gets if it is free.

    With `by_segment`, that of its first segment that has one.
    """
    if by_segment:
        for segment in link.segments:
            if segment.name:
                return segment.name
    return link.name


def _has_parts(link: Link) -> bool:
    """Return whether a link has several segments, or one in another frame."""
    return len(link.segments) > 1 or any(
        not np.array_equal(segment.transform, np.eye(4)) for segment in link.segments
    )


def _texts(entries: object) -> Sequence[object]:
    return entries if isinstance(entries, (list, tuple)) else ()
