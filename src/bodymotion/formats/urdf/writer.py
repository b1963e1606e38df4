"""Writing a body as URDF: its file, and the meshes beside it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from bodymotion.diagnostics import Problem, losses
from bodymotion.formats.kept_json import (
    PLANAR_JOINTS,
    as_json,
    json_of_segments,
    json_of_viewpoints,
    mjcf_losses,
)
from bodymotion.formats.meshes.folder import MeshFolder, MeshFormat
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.resources import PACKAGE_FILE, package_above, package_name
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.devices import device_elements
from bodymotion.formats.urdf.elements import (
    add_origin,
    merge_rest,
    parse_rest,
    read_origin,
)
from bodymotion.formats.urdf.extension import (
    ExtensionWriter,
    LossReport,
    has_parts,
    quiet_differences,
    unique_names,
)
from bodymotion.formats.urdf.floating import find_robot
from bodymotion.formats.urdf.joints import (
    WORLD_OF_ROOT,
    control_element,
    inertial_element,
    joint_element,
    read_gears,
    read_joint,
    transmission_elements,
)
from bodymotion.formats.urdf.planar import planar_to_write, separate_planar
from bodymotion.formats.urdf.reader import read_tree
from bodymotion.formats.urdf.shapes import ShapeWriter, read_rgba
from bodymotion.formats.xml.tree import Element, parse_xml, to_xml
from bodymotion.geometry import poses
from bodymotion.geometry.shapes import Material
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import Joint, JointType, Link, Segment
from bodymotion.model.rules import NO_LINKS
from bodymotion.skeleton.values import depth_first

_PACKAGE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

COMMENT = "URDF by bodymotion. Meshes are in the folder beside this file; <bodymotion> holds what URDF cannot hold."

ROTATION_TOLERANCE = 1e-9  # Of the elements of a quaternion that is read back.
OF_OTHERS = (
    "urdf",
    "urdf_links",
    PLANAR_JOINTS,
)  # Keys of `Body.extra` with elements that are written back.
OF_SEGMENT = ("transform", "mass", "center_of_mass", "inertia", "visuals", "collisions")


def write_urdf(
    body: Body,
    path: str | Path,
    *,
    mesh: MeshFormat = "obj",
    package: str | None = None,
    extension: bool = True,
    link_names: Literal["links", "segments"] = "links",
) -> tuple[Problem, ...]:
    """Write a body as URDF, and its meshes into the folder `NAME_urdf_meshes` beside it.

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
        Add the element <bodymotion>, which other programs ignore, with everything that
        URDF cannot hold: joint ids, motors, closed loops …

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
    prefix, note = _package_prefix(path, package) if package is not None else ("", "")
    with np.errstate(all="ignore"):
        writer = _Writer(
            body, MeshFolder(path, mesh), prefix, extension, link_names == "segments"
        )
        robot = writer.robot()
    writer.folder.write(to_xml(robot, COMMENT))
    noted = (rules.PACKAGE.problem(note),) if note else ()
    return (
        *writer.lost.problems,
        *writer.renamed.problems,
        *writer.folder.lost,
        *noted,
    )


def is_package_name(name: str) -> bool:
    """Return whether a text is a name of a package (ROS REP 144: letters, digits, underscores, hyphens; a letter first)."""
    return _PACKAGE_NAME.fullmatch(name) is not None


def _package_prefix(model: Path, name: str) -> tuple[str, str]:
    """Return the prefix of paths from a model's folder in the package around it, called `name`, and a note about it, "" for none."""
    if not is_package_name(name):
        raise ValueError(
            f"{name!r:.60} is not a name of a package; expected letters, digits, _ "
            "and - after a letter"
        )
    folder = model.absolute().parent.resolve()
    home = package_above(folder)
    if home is None:
        note = f"no {PACKAGE_FILE} is above the file: its folder is used as that of the package {name}"
        return f"package://{name}/", note
    inside = folder.relative_to(home).as_posix()
    own_name = package_name(home)
    note = f"the {PACKAGE_FILE} above the file is of the package {own_name!r:.60}, not {name}"
    return f"package://{name}/" + (
        f"{inside}/" if inside != "." else ""
    ), "" if own_name in ("", name) else note


class _Writer:
    def __init__(
        self,
        body: Body,
        folder: MeshFolder,
        prefix: str,
        extension: bool,
        by_segment: bool,
    ) -> None:
        self.body = body
        self.folder = folder
        self.lost = LossReport()
        self.renamed = Renamings()
        self.extension = ExtensionWriter(extension, self.lost)
        self.shapes = ShapeWriter(folder, prefix, self.lost, self.renamed)
        wanted = [
            next((s.name for s in link.segments if by_segment and s.name), link.name)
            for link in body.links
        ]
        wanted_joints = [link.joint.name or link.name for link in body.links]
        self.names = unique_names(wanted, "link")
        self.joint_names = unique_names(wanted_joints, "joint")
        self.known_joints: dict[str, str] = {}
        """By name of a joint in the body, its name in the file.

        Of several joints with one name, that of the first.
        """
        # A joint of a .wrl model has the name of its link; `extra` may have its name in
        # another format.
        for names in (
            wanted_joints,
            [link.joint.extra.get("name") for link in body.links],
        ):
            for before, name in zip(names[1:], self.joint_names[1:], strict=True):
                if isinstance(before, str):
                    self.known_joints.setdefault(before, name)
        for original, name in zip(wanted, self.names, strict=True):
            self.renamed.add("link", original, name)
        for link, name in zip(body.links[1:], self.joint_names[1:], strict=True):
            self.renamed.add("joint", link.joint.name, name)

    def robot(self) -> Element:
        body = self.body
        (title,) = unique_names([body.name], "robot") if body.name else ["robot"]
        self.renamed.add("model", body.name, title)
        robot = Element("robot", {"name": title})
        self._keep_robot(title)
        if depth_first({link.index: link.parent for link in body.links}) != list(
            range(len(body.links))
        ):
            self.lost.add(
                losses.NO_TARGET_FIELD.as_note,
                "links are reordered to be depth-first",
                body.name,
            )
        floating = self._floating_root()
        if floating is not None:
            above = floating.first("parent")
            assert above is not None
            robot.add("link", {"name": above.get("link")})
            robot.children.append(floating)
        links = [self._link(link) for link in body.links]
        self._merge_rest(links)
        planar = planar_to_write(body, self.names, self.joint_names)
        of_planar = {
            index: joint
            for one in planar
            for index, joint in zip(one.links, one.joints, strict=True)
        }
        joints = []
        for link, name in zip(body.links[1:], self.joint_names[1:], strict=True):
            if link.index in of_planar:
                joints.append(of_planar[link.index])
                continue
            ends = self.names[link.parent], self.names[link.index]
            joints.append(
                joint_element(
                    link.joint, link.offset, name, ends, self.known_joints, self.lost
                )
            )
        for name, (material, element) in self.shapes.materials.items():
            robot.children.append(element)
            rgba = read_rgba(element)
            assert rgba is not None
            base = replace(Material(), diffuse=rgba[:3], transparency=1.0 - rgba[3])
            own = ("texture", "diffuse", "transparency")
            self.extension.put(
                "material",
                {"name": name},
                self.extension.differences(base, material, name, own, "material "),
            )
        joint_names = [*self.joint_names]
        for one in planar:
            name = one.element.get("name")
            self.known_joints.setdefault(name, name)
            joint_names[one.links[2]] = name
        between = {index for one in planar for index in one.links[:2]}
        whole = {one.links[2]: one.element for one in planar}
        for index, element in enumerate(links):
            if index in between:
                continue
            robot.children.append(element)
            if index:
                robot.children.append(whole.get(index, joints[index - 1]))
        left = self._left()
        gears = transmission_elements(
            [element for element in left if element.name == "transmission"],
            dict(
                zip(
                    self.joint_names[1:],
                    (link.joint for link in body.links[1:]),
                    strict=True,
                )
            ),
            self.known_joints,
            self.lost,
        )
        self._keep_joints(
            robot, floating, joints, read_gears(Element("robot", children=gears))[0]
        )
        robot.children += gears
        robot.children += device_elements(
            body.devices,
            self.names,
            joint_names,
            self.extension,
            self.renamed,
        )
        robot.children += [
            element for element in left if element.name != "transmission"
        ]
        self._extra_joints()
        for rule, message, name in mjcf_losses(body):
            self.lost.add(rule, message, name)
        if self.extension.on and self.extension.element.children:
            robot.children.append(self.extension.element)
        return robot

    def _floating_root(self) -> Element | None:
        """Return the joint below the link in which the root of the file floated.

        None where there was none.
        """
        root = self.body.links[0]
        name = root.joint.extra.get(WORLD_OF_ROOT)
        if not isinstance(name, str) or not name or root.joint.type != "free":
            return None
        above = unique_names([*self.names, name], "link")[-1]
        wanted = [*self.joint_names[1:], root.joint.name or name]
        joint_name = unique_names(wanted, "joint")[-1]
        ends = above, self.names[0]
        return joint_element(root.joint, root.offset, joint_name, ends, {}, self.lost)

    def _link(self, link: Link) -> Element:
        name = self.names[link.index]
        element = Element("link", {"name": name})
        inertial = inertial_element(link, name, self.lost)
        if inertial is not None:
            element.children.append(inertial)
        shown, counts, materials = self.shapes.elements(link, name)
        element.children += shown
        values: dict[str, object] = (
            {} if link.name == name else {"name": [name, link.name]}
        )
        if materials:
            self.extension.note("the materials of collisions", name)
            if self.extension.on:
                values["collision_materials"] = [
                    self.shapes.material(material) for material in materials
                ]
        if link.index:
            self._keep_offset(link, values)
        if has_parts(link) and self.extension.on:
            parts = json_of_segments(link, counts)
        else:
            parts = None
        if parts is not None:
            values["segments"] = parts
            self.extension.note("segments of a link", name)
            for segment, part in zip(link.segments, parts, strict=True):
                if segment.extra:
                    part["extra"] = self.extension.plain(
                        dict(segment.extra), "segment extra", name
                    )
        elif has_parts(link):
            self.lost.add(
                losses.SEGMENTS,
                "segments are put together in the frame of the link",
                name,
            )
        elif link.segments:
            found = self.extension.differences(
                Segment(), link.segments[0], name, OF_SEGMENT, "segment "
            )
            if found or not element.children:
                values["segment"] = {key: pair[1] for key, pair in found.items()}
        self.extension.put("link", {"name": name}, values)
        return element

    def _merge_rest(self, links: list[Element]) -> None:
        entries = self.body.extra.get("urdf_links", [])
        indices = {link.name: link.index for link in reversed(self.body.links)}
        for text in entries if isinstance(entries, (list, tuple)) else []:
            rest = parse_rest(text, "link")
            if rest is not None:
                name = rest.attributes.pop("name", "")
            else:
                name = str(text)
            if (
                rest is None
                or name not in indices
                or not merge_rest(links[indices[name]], rest)
            ):
                message = "elements of other programs in removed links, or removed parts of links"
                self.lost.add(losses.DANGLING, message, name)

    def _keep_offset(self, link: Link, values: dict[str, object]) -> None:
        """Keep the quaternion of a link's offset where rpy is another one of the same rotation, in sign or length."""
        written = Element("joint")
        add_origin(written, link.offset)
        read_back = read_origin(written)
        offset = link.offset
        if (
            not np.isfinite(offset).all()
            or np.abs(read_back - offset).max() <= ROTATION_TOLERANCE
        ):
            return
        if self.extension.on:
            values["offset"] = [as_json(read_back), as_json(offset)]
        if (
            self.extension.on
            or abs(np.linalg.norm(offset[3:]) - 1.0) > ROTATION_TOLERANCE
        ):
            self.extension.note(
                "the length or sign of a quaternion", self.names[link.index]
            )

    def _is_read_as_fixed(self, robot: Element) -> bool:
        """Return whether the root of the links and joints in a robot is the world for the reader."""
        if self.names[0] == "world":
            return True
        if self.body.links[0].joint.type != "fixed":
            return False
        tree = replace(robot, children=list(robot.children))
        planar = separate_planar(tree)
        return find_robot(read_tree(tree), planar.first_joints).is_fixed

    def _keep_joints(
        self,
        robot: Element,
        floating: Element | None,
        elements: list[Element],
        gears: dict[str, float],
    ) -> None:
        """Keep what the element and gear of a joint do not hold.

        Ids of all joints where one differs from the reader's.
        """
        root_type: JointType = "fixed" if self._is_read_as_fixed(robot) else "free"
        read_back = [Joint(name=self.names[0], type=root_type)]
        if floating is not None:
            parent = self.body.links[0].joint.extra[WORLD_OF_ROOT]
            joint = read_joint(floating, gears)
            extra = {**joint.extra, WORLD_OF_ROOT: parent}
            read_back = [replace(joint, extra=extra)]
        read_back += [read_joint(element, gears) for element in elements]
        movers = [
            k
            for k in range(1, len(read_back))
            if read_back[k].type in ("rotate", "slide")
        ]
        ids = {k: number for number, k in enumerate(movers)}
        numbered = any(
            link.joint.id != ids.get(link.index, -1) for link in self.body.links
        )
        if numbered:
            self.extension.note("the ids of joints", self.body.name)
        for link, base in zip(self.body.links, read_back, strict=True):
            values = self.extension.differences(
                base, link.joint, self.joint_names[link.index], ("id",), "joint "
            )
            if numbered and (link.joint.id >= 0 or link.index in ids):
                values = {"id": link.joint.id, **values}
            self.extension.put("joint", {"link": self.names[link.index]}, values)

    def _extra_joints(self) -> None:
        for number, joint in enumerate(self.body.extra_joints):
            message = "closed loops are open for other programs"
            self.lost.add(losses.LOOP, message, joint.name or f"extra joint {number}")
            ends = {
                f"link{k + 1}": self.names[index] for k, index in enumerate(joint.links)
            }
            self.extension.put(
                "extra_joint", ends, quiet_differences(ExtraJoint(), joint), always=True
            )

    def _left(self) -> list[Element]:
        found = []
        entries = self.body.extra.get("urdf", [])
        for text in entries if isinstance(entries, (list, tuple)) else []:
            try:
                element = parse_xml(str(text).encode("utf-8", "replace"))
            except ValueError:
                self.lost.add(
                    losses.KEPT_LESS,
                    "entries of urdf in extra that are not XML",
                    str(text),
                )
                continue
            is_control = element.name == "ros2_control"
            found.append(
                control_element(element, self.known_joints, self.lost)
                if is_control
                else element
            )
        return found

    def _keep_robot(self, title: str) -> None:
        body = self.body
        extension = self.extension
        values: dict[str, object] = (
            {} if body.name == title else {"name": [title, body.name]}
        )
        extra = {
            key: value for key, value in body.extra.items() if key not in OF_OTHERS
        }
        for key, mapping in (("info", body.info), ("extra", extra)):
            if mapping:
                values[key] = extension.plain(dict(mapping), key, body.name)
                extension.note(key, body.name)
        for key, pose in (
            ("root_pose", body.root_pose),
            ("root_offset", body.links[0].offset),
        ):
            if not np.array_equal(pose, poses.IDENTITY):
                values[key] = extension.plain(pose, key, body.name)
                extension.note("the pose of the root", body.name)
        if body.viewpoints:
            values["viewpoints"] = json_of_viewpoints(body.viewpoints)
            extension.note("viewpoints", body.name)
        extension.put("robot", {}, values)
