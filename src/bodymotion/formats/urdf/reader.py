"""Reading a URDF model: the body that is made of the tree of its links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Locator,
    ReadResult,
    Source,
    SourceMap,
    Subject,
)
from bodymotion.formats.kept_json import PLANAR_JOINTS
from bodymotion.formats.resources import PackageFinder, file_bytes
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.devices import (
    DEVICE_FIELDS,
    LocatedDevice,
    link_names,
    read_devices,
)
from bodymotion.formats.urdf.elements import (
    check_version,
    correct_names,
    parse_rest,
    read_origin,
    read_rest,
)
from bodymotion.formats.urdf.extension import (
    JOINT_FIELDS,
    ROOT_FIELDS,
    read_extension,
    read_extra_joint,
    read_fields,
    report_others,
)
from bodymotion.formats.urdf.floating import find_robot
from bodymotion.formats.urdf.joints import (
    TYPES,
    WORLD_OF_ROOT,
    read_gears,
    read_inertial,
    read_joint,
)
from bodymotion.formats.urdf.planar import separate_planar
from bodymotion.formats.urdf.shapes import ShapeReader
from bodymotion.formats.urdf.tree import Node, by_name, read_tree
from bodymotion.formats.xml.tree import (
    MAX_BYTES,
    Element,
    FieldLocator,
    FieldTable,
    one_line,
    read_xml,
)
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import Joint, Link, Segment

KNOWN = ("link", "joint", "material", "gazebo", "transmission", "bodymotion")

# What gives the fields of a link. `joint` is the element of the joint that holds it.
LINK_FIELDS: FieldTable = {
    "name": ("joint@name", "~joint"),
    "type": ("joint@type", "~joint"),
    "lower": ("joint/limit@lower", "~joint/limit", "~joint"),
    "upper": ("joint/limit@upper", "~joint/limit", "~joint"),
    "velocity_lower": ("joint/limit@velocity", "~joint/limit", "~joint"),
    "velocity_upper": ("joint/limit@velocity", "~joint/limit", "~joint"),
    "axis": ("joint/axis@xyz", "~joint"),
    "offset": ("joint/origin@xyz", "~joint"),
    "rotation": ("joint/origin@rpy", "joint/origin@quat_xyzw", "~joint"),
    "mass": ("inertial/mass@value", "inertial@mass", "~inertial"),
    "center_of_mass": ("inertial/origin@xyz", "~inertial"),
    "inertia": ("inertial/inertia", "inertial@inertia", "~inertial"),
}


def read_urdf(
    path: str | Path,
    *,
    allow_outside: bool | None = None,
    package_paths: str | Path | Iterable[str | Path] = (),
) -> ReadResult[Body]:
    """Read a URDF model.

    Parameters
    ----------
    path:
        The file.
    allow_outside:
        Open meshes and textures outside of the folder of the model and of its package.
    package_paths:
        Folders of packages, or folders that hold packages, for `package://NAME/…`.

    Returns
    -------
    The body, None where the file has no link, and all problems. Links are depth-first
    in the order of the file. Each revolute, continuous and prismatic joint has a
    column, each planar one three, in the order of the file, unless the file's
    <bodymotion> element has other ids (see `bodymotion.formats.urdf.extension`). The
    root link's joint is fixed where that link is called "world", or has no mass and a
    planar joint, else free. A link that floats in the world is the root (see
    `bodymotion.formats.urdf.floating`). A link that no joints connect to the root
    (`loose`) is a child of the root, and its offset is unknown.
    """
    path = Path(path)
    try:
        data = file_bytes(path, MAX_BYTES)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    return parse_urdf(
        data, path, allow_outside=allow_outside, package_paths=package_paths
    )


def parse_urdf(
    data: bytes,
    path: Path,
    *,
    allow_outside: bool | None = None,
    package_paths: str | Path | Iterable[str | Path] = (),
) -> ReadResult[Body]:
    """Read a URDF model from the bytes of the file at `path`.

    See `read_urdf`.
    """
    if isinstance(package_paths, (str, Path)):
        package_paths = [package_paths]
    found = Diagnostics(path)
    body = None
    robot = read_xml(data, path, found)
    if robot is not None:
        # Numbers near the largest there are may overflow on the way.
        with found.recover(), np.errstate(all="ignore"):
            _check_root(robot)
            correct_names(robot, KNOWN, KNOWN)
            check_version(robot)
            packages = PackageFinder(path, list(package_paths), allow_outside)
            body = _Reader(robot, path, packages, found).body()
    result = found.result(body)
    if body is None:
        return result
    return replace(result, value=replace(body, problems=result.problems))


def _check_root(robot: Element) -> None:
    """Report another root element; raise FormatError where the file is no URDF."""
    if robot.name != "robot":
        message = f"the root element is <{robot.name[:60]}>; expected <robot>"
        # A misspelt root element is a fault; without any <link> it is another format.
        if robot.first("link") is None:
            raise rules.NOT_A_ROBOT.error(message, robot.location)
        robot.report(rules.NOT_A_ROBOT, message, fatal=True)
    for element in robot.children:
        # A macro can make any element: nothing can be said of the rest.
        if element.name.startswith("xacro:"):
            message = f"it has the macro <{element.name[:60]}>"
            raise rules.XACRO.error(message, element.location)


class _Reader:
    """Reads the parts of one robot, and makes its body."""

    def __init__(
        self, robot: Element, path: Path, packages: PackageFinder, found: Diagnostics
    ) -> None:
        """Read the tree of links, and prepare the readers of their parts."""
        self.robot = robot
        self.path = path
        self.found = found
        self.extension = read_extension(robot)
        # Planar joints first: the tree is made of joints that a Body has.
        self.planar = separate_planar(robot)
        self.part = find_robot(read_tree(robot), self.planar.first_joints)
        self.nodes = self.part.nodes
        self.indices: dict[str, int] = {}
        """Of the links by name; of several links of one name, the first."""
        for index, node in enumerate(self.nodes):
            self.indices.setdefault(node.link.get("name"), index)
        self.locators = [
            FieldLocator(node.link, LINK_FIELDS, {"joint": node.joint})
            for node in self.nodes
        ]
        self.gears = read_gears(list(robot.all("transmission")))
        self.shapes = ShapeReader(robot, packages, found)

    def body(self) -> Body | None:
        """Return the body, as far as it can be read.

        None where it has no link.
        """
        # Joints before links: each link holds its joint.
        joints = self.joints()
        links = tuple(map(self.link, range(len(self.nodes)), self.nodes, joints))
        self.report_mimics()
        others: list[str] = []
        left_out = {link.get("name") for link, _ in self.part.left_out}
        names = link_names(self.nodes, self.indices, self.planar.child_links, left_out)
        devices = read_devices(self.robot, names, others)
        others += self.unknown_elements()
        extra = self.extra(others)
        extra_joints = self.extra_joints()
        self.mark_unknown()
        if all(node.lost for node in self.nodes):
            return None
        root_pose = self.extension.root_pose
        return Body(
            name=self.robot.get("name") or self.path.stem,
            links=links,
            devices=tuple(device for device, _ in devices),
            extra_joints=tuple(extra_joints),
            root_pose=links[0].offset if root_pose is None else root_pose,
            environment=self.environment(),
            extra=extra,
            source=Source(
                "urdf",
                self.path,
                self.robot.get("version"),
                "utf-8",
                parts=self.shapes.meshes.files,
                locations=self.source_map(devices),
            ),
        )

    def source_map(self, devices: Sequence[LocatedDevice]) -> SourceMap:
        entries: dict[Subject, Location | Locator] = {}
        for uri, location in self.shapes.images.items():
            entries["textures", uri] = location
        for index, locator in enumerate(self.locators):
            entries["links", index] = locator
        for index, device in enumerate(devices):
            entries["devices", index] = FieldLocator(device.element, DEVICE_FIELDS, {})
        for index, entry in enumerate(self.extension.extra_joints):
            entries["extra_joints", index] = FieldLocator(entry, {}, {})
        return SourceMap(entries, self.found.unknown)

    def joints(self) -> list[Joint]:
        """Return the joint of each link.

        Ids run in the order of the <joint> elements in the file, unless <bodymotion>
        has ids.
        """
        joints = [self.joint(node) for node in self.nodes]
        if not self.extension.has_ids:
            # Columns follow the joints in the file, whose order may differ from the
            # depth-first order of the links.
            numbers = self.column_numbers(joints)
            for index, number in numbers.items():
                joints[index] = replace(joints[index], id=number)
        for link, entry in self.extension.joints.items():
            if link not in self.indices:
                message = f"{link!r:.60} is not a link"
                entry.report(rules.EXTENSION, message)
                continue
            index = self.indices[link]
            fields = JOINT_FIELDS if index else ROOT_FIELDS
            report_others(entry, ("link", *fields))
            joints[index] = read_fields(entry, joints[index], fields)
        return joints

    def joint(self, node: Node) -> Joint:
        """Return the joint of a link, a fixed or free one for a root."""
        name = node.link.get("name")
        is_root = node.parent < 0
        # URDF does not say whether the base is fixed. By convention (Gazebo) a root
        # called "world" is.
        is_world = is_root and (name == "world" or self.part.is_fixed)
        is_held = node.loose or is_world
        joint = Joint(name=name, type="fixed" if is_held else "free")
        if node.joint is not None:
            joint = read_joint(node.joint, self.gears.ratios)
        if is_root and self.part.above:
            extra = {**joint.extra, WORLD_OF_ROOT: self.part.above}
            joint = replace(joint, extra=extra)
        return joint

    def column_numbers(self, joints: Sequence[Joint]) -> dict[int, int]:
        """Return the columns of the links that have one.

        In the order of the file.
        """
        # By id of a joint's element, the index of the link that it moves.
        movers = {
            id(node.joint): index
            for index, (node, joint) in enumerate(zip(self.nodes, joints, strict=True))
            if node.joint is not None and joint.type in ("rotate", "slide")
        }
        in_file = [id(joint) for joint in self.robot.all("joint")]
        in_order = [movers[key] for key in in_file if key in movers]
        return {index: number for number, index in enumerate(in_order)}

    def link(self, index: int, node: Node, joint: Joint) -> Link:
        """Read the mass and the shapes of a link."""
        inertial = read_inertial(node.link)
        visuals = self.shapes.shapes(node.link, "visual")
        collisions = self.shapes.shapes(node.link, "collision")
        segments: tuple[Segment, ...] = ()
        if inertial is not None or visuals or collisions:
            # A link of a URDF has one mass: one segment, in the frame of the link.
            segment = Segment(visuals=visuals, collisions=collisions)
            if inertial is not None:
                segment = replace(segment, **inertial._asdict())
            segments = (segment,)
        return Link(
            name=node.link.get("name"),
            index=index,
            parent=node.parent,
            joint=joint,
            offset=self.offset(node),
            segments=segments,
        )

    def offset(self, node: Node) -> Floats:
        """Return the pose (7,) of a link in its parent or the world."""
        if node.parent < 0:
            root_pose = self.extension.root_pose
            return self.part.root_offset if root_pose is None else root_pose
        if node.joint is None:
            return poses.IDENTITY
        return read_origin(node.joint)

    def environment(self) -> tuple[Shape, ...]:
        """Return the shapes around the robot, in the world.

        They are of links that are no part of it.
        """
        shapes: list[Shape] = []
        for link, pose in self.part.left_out:
            for shape in self.shapes.shapes(link, "visual"):
                shapes.append(shape.moved(poses.to_matrix(pose)))
        return tuple(shapes)

    def report_mimics(self) -> None:
        """Report joints that mimic another one: here they move by their own value."""
        names = {joint.get("name") for joint in self.robot.all("joint")}
        names |= self.planar.child_links.keys()
        for joint in self.robot.all("joint"):
            mimic = joint.first("mimic")
            if mimic is None:
                continue
            other = mimic.get("joint")
            wrong = "" if other in names else ", which is no joint"
            message = (
                f"{joint.get('name')!r:.60} mimics {other!r:.60}{wrong}: here it moves "
                "by its own value"
            )
            joint.report(rules.MIMIC, message)

    def extra_joints(self) -> list[ExtraJoint]:
        """Return the extra joints; entries that are none are removed."""
        joints: list[ExtraJoint] = []
        entries: list[Element] = []
        for entry in self.extension.extra_joints:
            joint = read_extra_joint(entry, self.indices)
            if joint is not None:
                joints.append(joint)
                entries.append(entry)
        self.extension.extra_joints = entries
        return joints

    def unknown_elements(self) -> list[str]:
        """Return elements of other programs, and irregular transmissions."""
        others = []
        joints = {joint.get("name") for joint in self.robot.all("joint")}
        for element in self.robot.children:
            if element.name not in KNOWN:
                element.report(rules.UNKNOWN, f"<{element.name[:60]}> is kept")
                others.append(one_line(element))
            elif element.name == "transmission":
                names = {joint.get("name") for joint in element.all("joint")}
                # A plain transmission is made again from the gear ratio of its joint.
                is_gear = id(element) in self.gears.plain and names <= joints
                if not is_gear:
                    others.append(one_line(element))
        return others

    def extra(self, others: list[str]) -> Mapping[str, object]:
        """Return what no field of a body holds, to be written back."""
        of_links: list[str] = []
        for node in self.nodes:
            # What other programs have in a <link>, with the name of the link to find it
            # again.
            rest = parse_rest(read_rest(node.link), "link")
            if rest is not None:
                name = {"name": node.link.get("name")}
                attributes = {**name, **rest.attributes}
                of_links.append(one_line(replace(rest, attributes=attributes)))
        planar = {
            name: text
            for name, text in self.planar.elements.items()
            if name in self.indices
        }
        extra = {PLANAR_JOINTS: planar, "urdf": others, "urdf_links": of_links}
        return {key: values for key, values in extra.items() if values}

    def mark_unknown(self) -> None:
        """Mark the fields of links that could not be read."""
        joints = by_name(self.robot, "joint")
        for index, (node, locator) in enumerate(
            zip(self.nodes, self.locators, strict=True)
        ):
            unknown = set(locator.unknown())
            name = node.link.get("name")
            joint = node.joint
            if joint is not None and joints.get(joint.get("name")) is not joint:
                # The name is another one's, too.
                unknown.add("name")
            if name in self.planar.between:
                # These links are not in the file, and MuJoCo needs none.
                unknown |= {"mass", "center_of_mass", "inertia"}
            if node.loose:
                unknown |= {"rotation", "parent"}
            if node.lost and joint is not None:
                unknown |= {"link_name", "shapes"}
                # A fixed one is put into the rigid group of the root, whose mass is
                # known.
                if TYPES.get(joint.get("type")) != "fixed":
                    unknown |= {"mass", "inertia"}
            if self.indices[name] != index:
                # The name is reported by URDF111.
                unknown |= {"link_name", "name"}
            self.found.mark_unknown(*(("links", index, field) for field in unknown))
