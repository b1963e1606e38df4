"""Reading a URDF model: the tree of its links, and the body that is made of it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
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
from bodymotion.formats.kept_json import (
    PLANAR_JOINTS,
    separate_segments,
    usable,
    viewpoints_of,
)
from bodymotion.formats.resources import PackageFinder, file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.devices import DEVICE_FIELDS, read_devices
from bodymotion.formats.urdf.elements import (
    check_version,
    correct_names,
    one_line,
    parse_rest,
    read_origin,
    read_rest,
)
from bodymotion.formats.urdf.extension import Entry, Extension, read_extension
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
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import (
    MAX_BYTES,
    Element,
    FieldLocator,
    FieldTable,
    read_xml,
)
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Material, Shape
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import MAX_LINKS, Joint, Link, Segment
from bodymotion.model.rules import NO_LINKS, UNCONNECTED

MAX_TOPS = 50  # Of more links without a joint, or joints without a child, it is not guessed which belong together.
KNOWN = ("link", "joint", "material", "gazebo", "transmission", "bodymotion")

OF_THE_WHOLE = frozenset(
    rule.code
    for rule in (
        *(NO_LINKS, rules.NO_SUCH_LINK),
        *(rules.SENSOR_LINK, rules.EXTENSION, rules.CHANGED),
    )
)
"""Rules that need the whole file.

They report nothing where a part of it cannot be read.
"""

LINK_FIELDS: FieldTable = {
    **{name: (f"joint@{name}", "~joint") for name in ("name", "type")},
    **{
        name: (f"joint/limit@{name}", "~joint/limit", "~joint")
        for name in ("lower", "upper")
    },
    **dict.fromkeys(
        ("velocity_lower", "velocity_upper"),
        ("joint/limit@velocity", "~joint/limit", "~joint"),
    ),
    "axis": ("joint/axis@xyz", "~joint"),
    "offset": ("joint/origin@xyz", "~joint"),
    "rotation": ("joint/origin@rpy", "joint/origin@quat_xyzw", "~joint"),
    "mass": ("inertial/mass@value", "inertial@mass", "~inertial"),
    "center_of_mass": ("inertial/origin@xyz", "~inertial"),
    "inertia": ("inertial/inertia", "inertial@inertia", "~inertial"),
}
"""What gives the fields of a link.

`joint` is the element of the joint that holds it.
"""


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
        packages = [package_paths]
    else:
        packages = list(package_paths)
    found = Diagnostics(path)
    body = None
    robot = read_xml(data, path, found)
    if robot is not None:
        # Numbers near the largest there are may overflow on the way.
        with found.recover(), np.errstate(all="ignore"):
            if robot.name != "robot":
                message = f"the root element is <{robot.name[:60]}>; expected <robot>"
                if robot.first("link") is None:
                    raise rules.NOT_A_ROBOT.error(message, robot.location)
                robot.report(rules.NOT_A_ROBOT, message, fatal=True)
            macro = next(
                (
                    element
                    for element in robot.children
                    if element.name.startswith("xacro:")
                ),
                None,
            )
            if macro is not None and macro.document is not None:
                macro.report(
                    rules.XACRO, f"it has the macro <{macro.name[:60]}>", fatal=True
                )
                macro.document.incomplete = True  # A macro can make any element.
                robot.children = [
                    element
                    for element in robot.children
                    if not element.name.startswith("xacro:")
                ]
            correct_names(robot, KNOWN, KNOWN)
            check_version(robot)
            body = _Reader(robot, path, packages, allow_outside, found).body()
        incomplete = robot.document is not None and robot.document.incomplete
        found.discard(
            problem
            for problem in found.problems
            if incomplete and problem.rule in OF_THE_WHOLE
        )
    result = found.result(body)
    return replace(
        result, value=None if body is None else replace(body, problems=result.problems)
    )


@dataclass(frozen=True)
class Node:
    """A link: its element, the index of its parent (−1 for the root), and the element of the joint that holds it.

    `loose` links are connected to the root by no joint. Of a `lost` link only the joint
    is known, and the name that it has there.
    """

    link: Element
    parent: int
    joint: Element | None
    loose: bool = False
    lost: bool = False


def read_tree(robot: Element) -> list[Node]:
    """Return the links depth-first, the children of each in the order of their joints in the file.

    Then the loose ones.

    Reports names that are repeated or unknown, and joints that make no tree.
    """
    elements = list(robot.all("link"))
    if len(elements) > MAX_LINKS:
        raise TOO_LARGE.error(
            f"the model has more than {MAX_LINKS} links", elements[MAX_LINKS].location
        )
    links = _by_name(robot, "link")
    if not elements:
        robot.report(NO_LINKS, "there is no <link>; expected at least one", fatal=True)
    children: dict[str, list[str]] = {name: [] for name in links}
    # By the name of a link, the joint that holds it, and the name of its parent, ""
    # where that is no link.
    holder: dict[str, Element] = {}
    parents: dict[str, str] = {}
    # By each name of no link, where it is first and what is reported, and whether it is
    # the name of a child.
    unknown: dict[str, tuple[Element, str]] = {}
    unknown_children: set[str] = set()
    childless: list[tuple[Element, str]] = []

    def find_end(joint: Element, which: str) -> str:
        """Return the name of the parent or child of a joint.

        "" where it is no link.
        """
        end = joint.first(which)
        if end is None:
            joint.report(
                rules.NO_SUCH_LINK,
                f"joint {joint.get('name')!r:.60} has no <{which}>",
                fatal=True,
            )
            return ""
        name = end.need("link")
        if name in links:
            return name
        if name:
            message = f"the {which} of joint {joint.get('name')!r:.60} is {name!r:.60}, which is not a link"
            unknown.setdefault(name, (end, message))
            unknown_children.update({name} if which == "child" else ())
        return ""

    for joint in robot.all("joint"):
        parent = find_end(joint, "parent")
        child = find_end(joint, "child")
        if child in holder:
            other = holder[child].get("name")
            name = joint.get("name")
            message = f"link {child!r:.60} is the child of joint {other!r:.60} and of {name!r:.60}; expected one joint"
            joint.report(rules.TWO_PARENTS, message, fatal=True)
        elif child:
            holder[child], parents[child] = joint, parent
            if parent:
                children[parent].append(child)
        else:
            childless.append((joint, parent))
    tops = [name for name in links if name not in holder]
    # Where links have no name, or that of another, as many unknown names may be theirs;
    # but not that of a link without a joint.
    free = tops[1:]
    nameless = sum(links.get(link.get("name")) is not link for link in elements)
    of_nameless = [name for name in unknown if name in unknown_children or not tops]
    if free and max(len(tops), len(of_nameless)) <= MAX_TOPS:
        of_nameless.sort(key=lambda name: closest_name(name, tops) is not None)
    excused = set(of_nameless[: max(0, min(nameless, len(of_nameless) - len(free)))])
    for name, (end, message) in unknown.items():
        if name not in excused:
            end.report(rules.NO_SUCH_LINK, message, fatal=True)
    certain = [(joint, parent) for joint, parent in childless if parent]
    if len(certain) == 1 and len(tops) == 2:
        joint, parent = certain[0]  # The one link without a joint is its child.
        top = reduce(lambda name, _: parents.get(name) or name, links, parent)
        child = tops[tops[0] == top]
        holder[child], parents[child] = joint, parent
        children[parent].append(child)
    elif max(len(tops), len(childless)) <= MAX_TOPS:
        for child, joint in _guessed_holders(
            [joint for joint, _ in childless], tops[1:]
        ).items():
            holder[child], parents[child] = joint, ""
    connected = {name for name, parent in parents.items() if parent}
    roots = [name for name in links if name not in holder]
    # Where a joint is faulty, or a part of the file is missing, a fault of the whole
    # tree may follow from it.
    incomplete = robot.document is not None and robot.document.incomplete
    sound = not incomplete and len(connected) == sum(1 for _ in robot.all("joint"))
    if len(roots) > 1 and sound:
        shown = ", ".join(repr(name)[:60] for name in roots[:6])
        message = f"{len(roots)} links are the child of no joint: {shown}"
        links[roots[1]].report(
            UNCONNECTED, message, hint="connect them to one root by joints", fatal=True
        )
    found: list[Node] = []
    tops = roots + [name for name in holder if name not in connected]
    for top in tops:
        stack = [(top, 0 if found else -1)]
        while stack:
            name, above = stack.pop()
            stack += [(child, len(found)) for child in reversed(children[name])]
            found.append(
                Node(
                    links[name],
                    above,
                    holder.get(name),
                    loose=name == top and top != tops[0],
                )
            )
    reached = {id(node.link) for node in found}
    _report_cycles(
        [name for name, link in links.items() if id(link) not in reached],
        holder,
        parents,
    )
    for link in elements:
        if id(link) not in reached:
            if links.get(link.get("name")) is link:
                held = holder.get(link.get("name"))
            else:
                held = None
            found.append(Node(link, 0 if found else -1, held, loose=True))
    used = {id(node.joint) for node in found}
    for joint in robot.all("joint"):
        if (
            id(joint) not in used
        ):  # It holds none of the links, because its ends are faulty.
            if (meant := joint.first("child")) is None:
                name = ""
            else:
                name = meant.get("link")
            link = replace(
                joint,
                name="link",
                attributes={"name": name or joint.get("name") or "?"},
                children=[],
            )
            found.append(Node(link, 0 if found else -1, joint, loose=True, lost=True))
    return found


def _guessed_holders(childless: list[Element], free: list[str]) -> dict[str, Element]:
    """Return by the names of links without a joint the joints without a child that may hold them, so that these are checked, too.

    A link is found by a similar name. Where there are as many joints as links, the
    others are in the order of the file.
    """
    words = [
        (joint, "" if (end := joint.first("child")) is None else end.get("link"))
        for joint in childless
    ]
    in_order = len(childless) == len(free)
    found: dict[str, Element] = {}
    for joint, word in sorted(
        words, key=lambda one: closest_name(one[1], free) is None
    ):
        name = closest_name(word, free) or (free[0] if in_order else "")
        if name:
            free.remove(name)
            found[name] = joint
    return found


def _report_cycles(
    lost: list[str], holder: dict[str, Element], parents: dict[str, str]
) -> None:
    seen: set[str] = set()
    for name in lost:
        chain: set[str] = set()
        at = name
        while at not in seen:
            seen.add(at)
            chain.add(at)
            at = parents[at]
        if at in chain:
            holder[name].report(
                UNCONNECTED,
                f"link {name!r:.60} is in a cycle of joints",
                hint="",
                fatal=True,
            )


def _by_name(robot: Element, kind: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.all(kind):
        name = element.need("name")
        if name in found:
            message = f"a second {kind} has the name {name!r:.60}; the first is in line {found[name].line}"
            element.report(rules.SAME_NAME, message, fatal=True)
        elif name:
            found[name] = element
    return found


class _Reader:
    def __init__(
        self,
        robot: Element,
        path: Path,
        packages: list[str | Path],
        allow_outside: bool | None,
        found: Diagnostics,
    ) -> None:
        self.robot = robot
        self.path = path
        self.found = found
        self.extension: Extension = read_extension(robot)
        self.planar = separate_planar(robot)
        self.part = find_robot(read_tree(robot), self.planar.first_joints)
        self.nodes: list[Node] = self.part.nodes
        self.names = {
            node.link.get("name"): index
            for index, node in reversed(list(enumerate(self.nodes)))
        }
        self.gears, self.plain_transmissions = read_gears(robot)
        self.shapes = ShapeReader(
            robot, PackageFinder(path, packages, allow_outside), found
        )
        for name, entry in self.extension.materials.items():
            self.shapes.surfaces[name] = entry.applied(Material(), skip=("texture",))

    def body(self) -> Body | None:
        """Return the body, as far as it can be read.

        None where it has no link.
        """
        locators = [
            FieldLocator(node.link, LINK_FIELDS, {"joint": node.joint})
            for node in self.nodes
        ]
        joints = self.joints(locators)
        links = tuple(
            self.link(index, node, joints[index], locators[index])
            for index, node in enumerate(self.nodes)
        )
        self.report_mimics()
        left: list[str] = []
        left_out = {link.get("name") for link, _ in self.part.left_out}
        devices, device_elements = read_devices(
            self.robot,
            self.nodes,
            self.names,
            self.extension,
            left,
            left_out,
            self.planar.child_links,
        )
        left += self.unknown_elements()
        kept = [
            one_line(
                replace(
                    rest, attributes={"name": node.link.get("name"), **rest.attributes}
                )
            )
            for node in self.nodes
            if (rest := parse_rest(read_rest(node.link), "link")) is not None
        ]
        entries, extra_joints = self.extra_joints()
        planar = {
            name: text
            for name, text in self.planar.elements.items()
            if name in self.names
        }
        self.mark_unknown(locators)
        if all(node.lost for node in self.nodes):
            return None
        entry_map: dict[Subject, Location | Locator] = {
            **{
                ("textures", uri): location
                for uri, location in self.shapes.images.items()
            },
            **{("links", k): locator for k, locator in enumerate(locators)},
            **{
                ("devices", k): FieldLocator(e, DEVICE_FIELDS, {})
                for k, e in enumerate(device_elements)
            },
            **{
                ("extra_joints", k): FieldLocator(entry.element, {}, {})
                for k, entry in enumerate(entries)
            },
        }
        body = Body(
            name=self.robot.get("name") or self.path.stem,
            links=links,
            devices=devices,
            extra_joints=extra_joints,
            root_pose=links[0].offset,
            environment=self.environment(),
            extra={
                **({PLANAR_JOINTS: planar} if planar else {}),
                **({"urdf": left} if left else {}),
                **({"urdf_links": kept} if kept else {}),
            },
            source=Source(
                "urdf",
                self.path,
                self.robot.get("version"),
                "utf-8",
                parts=self.shapes.meshes.files,
            ),
        )
        body = self.finished(body)
        return replace(
            body,
            source=replace(
                body.source, locations=SourceMap(entry_map, self.found.unknown)
            ),
        )

    def mark_unknown(self, locators: list[FieldLocator]) -> None:
        joints = _by_name(self.robot, "joint")
        for index, (node, locator) in enumerate(zip(self.nodes, locators, strict=True)):
            self.found.mark_unknown(
                *(("links", index, name) for name in locator.unknown())
            )
            if (
                node.joint is not None
                and joints.get(node.joint.get("name")) is not node.joint
            ):
                # So is its name.
                self.found.mark_unknown(("links", index, "name"))
            if node.link.partial:
                self.found.mark_unknown(("links", index, "shapes"))
            if node.link.get("name") in self.planar.between:
                # These links are not in the file, and MuJoCo needs none.
                self.found.mark_unknown(
                    *(
                        ("links", index, name)
                        for name in ("mass", "center_of_mass", "inertia")
                    )
                )
            if node.loose:
                self.found.mark_unknown(
                    *(("links", index, name) for name in ("rotation", "parent"))
                )
            if node.lost and node.joint is not None:
                # A fixed one is put into the rigid group of the root, whose mass is
                # known.
                masses = (
                    ()
                    if TYPES.get(node.joint.get("type")) == "fixed"
                    else ("mass", "inertia")
                )
                self.found.mark_unknown(
                    *(
                        ("links", index, name)
                        for name in ("link_name", "shapes", *masses)
                    )
                )
            if self.names[node.link.get("name")] != index:
                # The name is reported by URDF111.
                self.found.mark_unknown(
                    ("links", index, "link_name"), ("links", index, "name")
                )
        if self.robot.document is not None and self.robot.document.incomplete:
            self.found.mark_unknown(("links", "all"))

    def joints(self, locators: list[FieldLocator]) -> list[Joint]:
        """Return the joint of each link.

        Ids run in the order of the <joint> elements in the file.
        """
        in_file = {
            id(joint): number for number, joint in enumerate(self.robot.all("joint"))
        }
        found: list[Joint] = []
        for node in self.nodes:
            is_world = node.link.get("name") == "world" or self.part.is_fixed
            held = node.loose or (node.parent < 0 and is_world)
            joint = Joint(name=node.link.get("name"), type="fixed" if held else "free")
            if node.joint is not None:
                joint = read_joint(node.joint, self.gears)
            if node.parent < 0 and self.part.above:
                parent = {WORLD_OF_ROOT: self.part.above}
                joint = replace(joint, extra={**joint.extra, **parent})
            found.append(joint)
        movers = [
            k
            for k, node in enumerate(self.nodes)
            if node.joint and found[k].type in ("rotate", "slide")
        ]
        movers.sort(key=lambda k: in_file[id(self.nodes[k].joint)])
        ids = {k: number for number, k in enumerate(movers)}
        for k, node in enumerate(self.nodes):
            name = node.link.get("name")
            entry = self.extension.joints.get(name)
            if entry is not None:
                unknown = () if node.joint is None else locators[k].unknown()
                found[k] = entry.applied(found[k], skip=("id", *unknown))
            found[k] = replace(
                found[k], id=self.extension.joint_id(name, ids.get(k, -1))
            )
        return found

    def link(self, index: int, node: Node, joint: Joint, locator: FieldLocator) -> Link:
        """Return a link; its fields that are unknown are not compared with <bodymotion>."""
        element = node.link
        name = element.get("name")
        inertial = read_inertial(element)
        mass, center, inertia = inertial or (0.0, np.zeros(3), np.zeros((3, 3)))
        entry = self.extension.links.get(name)
        visuals = self.shapes.shapes(element, "visual")
        collisions = self.shapes.shapes(
            element, "collision", self.collision_materials(element, entry)
        )
        segment = Segment(
            mass=mass,
            center_of_mass=center,
            inertia=inertia,
            visuals=visuals,
            collisions=collisions,
        )
        there = inertial is not None or bool(visuals or collisions)
        if entry is not None and "segment" in entry.values:
            there = True
            own = {
                key: value
                for key, value in entry.mapping("segment").items()
                if key in ("name", "extra")
            }
            segment = replace(segment, **usable(segment, own))
        segments: tuple[Segment, ...] = (segment,) if there else ()
        if entry is not None and "segments" in entry.values:
            parts = entry.using(
                "segments",
                lambda: [separate_segments(entry.values["segments"], segment)],
            )
            if parts == [None]:
                entry.element.report(
                    rules.CHANGED, "masses or shapes of the link were changed by hand"
                )
            segments = (parts and parts[0]) or (segment,)
        offset: Floats = (
            read_origin(node.joint) if node.joint is not None else poses.IDENTITY
        )
        if node.parent < 0:
            offset = self.part.root_offset
        if node.parent < 0 and self.extension.robot is not None:
            root_offset = self.extension.robot.numbers("root_offset", 7)
            offset = offset if root_offset is None else root_offset
        link = Link(
            name=name,
            index=index,
            parent=node.parent,
            joint=joint,
            offset=offset,
            segments=segments,
        )
        if entry is None:
            return link
        skip = [
            "segment",
            "segments",
            "collision_materials",
            "index",
            "parent",
            "joint",
            *locator.unknown(),
        ]
        return entry.applied(link, [*skip, "offset"] if node.joint is None else skip)

    def environment(self) -> tuple[Shape, ...]:
        """Return the shapes of links that are no part of the robot, in the world."""
        return tuple(
            shape.moved(poses.to_matrix(pose))
            for link, pose in self.part.left_out
            for shape in self.shapes.shapes(link, "visual")
        )

    def collision_materials(self, link: Element, entry: Entry | None) -> list[str]:
        """Return the names of the materials that <bodymotion> has for a link's collisions, if their number fits."""
        if entry is not None:
            materials = entry.values.get("collision_materials")
        else:
            materials = None
        if entry is None or materials is None:
            return []
        if not isinstance(materials, list) or not all(
            isinstance(name, str) and name in self.shapes.defined for name in materials
        ):
            entry.report("collision_materials are not names of materials")
            return []
        if len(materials) != sum(1 for _ in link.all("collision")):
            entry.element.report(
                rules.CHANGED, "collisions were added or removed by hand"
            )
            return []
        return materials

    def report_mimics(self) -> None:
        names = {joint.get("name") for joint in self.robot.all("joint")}
        names |= self.planar.child_links.keys()
        incomplete = self.robot.document is not None and self.robot.document.incomplete
        for joint in self.robot.all("joint"):
            mimic = joint.first("mimic")
            if mimic is not None:
                other = mimic.get("joint")
                if other in names or incomplete:
                    wrong = ""
                else:
                    wrong = ", which is no joint"
                message = f"{joint.get('name')!r:.60} mimics {other!r:.60}{wrong}: here it moves by its own value"
                joint.report(rules.MIMIC, message)

    def extra_joints(self) -> tuple[list[Entry], tuple[ExtraJoint, ...]]:
        entries: list[Entry] = []
        found: list[ExtraJoint] = []
        for entry in self.extension.extra_joints:
            ends = [entry.element.get(key) for key in ("link1", "link2")]
            if any(end not in self.names for end in ends):
                entry.report(f"{' or '.join(ends)!r:.100} is not a link")
                continue
            base = ExtraJoint(links=(self.names[ends[0]], self.names[ends[1]]))
            entries.append(entry)
            found.append(entry.applied(base, skip=("links",)))
        return entries, tuple(found)

    def unknown_elements(self) -> list[str]:
        found = []
        joints = {joint.get("name") for joint in self.robot.all("joint")}
        for element in self.robot.children:
            is_gear = (
                element.name == "transmission"
                and id(element) in self.plain_transmissions
                and all(joint.get("name") in joints for joint in element.all("joint"))
            )
            if element.name not in KNOWN or (
                element.name == "transmission" and not is_gear
            ):
                found.append(one_line(element))
            if element.name not in KNOWN:
                element.report(rules.UNKNOWN, f"<{element.name[:60]}> is kept")
        return found

    def finished(self, body: Body) -> Body:
        entry = self.extension.robot
        if entry is None:
            return body
        own = {"info", "extra", "root_pose", "root_offset", "viewpoints"}
        if not set(entry.values) <= {"name", *own}:
            entry.report(
                f"<robot> has other names than {', '.join(sorted(own | {'name'}))}"
            )
        body = entry.applied(body, skip=tuple(set(entry.values) - {"name"}))
        pose = entry.numbers("root_pose", 7)
        return replace(
            body,
            root_pose=body.root_pose if pose is None else frozen(pose),
            info=entry.mapping("info"),
            extra={**entry.mapping("extra"), **body.extra},
            viewpoints=viewpoints_of(entry.values.get("viewpoints")),
        )
