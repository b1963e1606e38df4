"""Planar joints: motion in the plane perpendicular to their axis.

A planar joint is read as two joints that slide and one that rotates, with links without
mass between them. Directions and names of the joints (`NAME_TX`, `NAME_TY`, `NAME_RZ`)
are those of MuJoCo; the names of the links are those of its reader here, `LINK_JOINT`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bodymotion.diagnostics import Severity
from bodymotion.formats.kept_json import PLANAR_JOINTS
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import (
    add_origin,
    finite_numbers,
    parse_rest,
)
from bodymotion.formats.urdf.joints import UNLIMITED, read_joint
from bodymotion.formats.xml.tree import Element, number_text, one_line
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

# Names of the two slides and the rotation: NAME_TX, NAME_TY, NAME_RZ.
ENDINGS = ("TX", "TY", "RZ")
# Elements that say where a joint is: they are those of the links of a body.
POSITION = ("origin", "parent", "child")
# Elements of a planar joint that are given to its three joints. The rotation has all
# others.
SHARED = (*POSITION, "axis", "limit", "dynamics")
# A normal whose z is below this one is −z but for rounding.
HALF_TURN = -1.0 + 1e-12


@dataclass(frozen=True)
class PlanarJoints:
    """The planar joints of a file.

    Attributes
    ----------
    elements:
        By child link, the elements as XML.
    child_links:
        By name of a planar joint, its child link.
    between:
        The names of the links between the joints that are read.
    first_joints:
        The ids of the elements of the first joints that are read.
    """

    elements: Mapping[str, str]
    child_links: Mapping[str, str]
    between: Collection[str]
    first_joints: Collection[int]


def separate_planar(robot: Element) -> PlanarJoints:
    """Replace each planar joint of a robot by three joints and two links.

    Report their names.
    """
    used = {part.get("name") for part in robot.all("link", "joint")}
    children: list[Element] = []
    elements: dict[str, str] = {}
    child_links: dict[str, str] = {}
    between: set[str] = set()
    first_joints: list[int] = []
    for element in robot.children:
        if element.name != "joint" or element.get("type") != "planar":
            children.append(element)
            continue
        child = element.first("child")
        link = "" if child is None else child.get("link")
        name = element.need("name") or link or "planar"
        names = [_free_name(f"{name}_{ending}", used) for ending in ENDINGS]
        # Three joints need two links between them, which have neither mass nor shapes.
        links = [_free_name(f"{link}_{joint}", used) for joint in names[:2]]
        joints = separate(element, names, links)
        children += joints
        for each in links:
            attributes = {"name": each}
            children.append(
                replace(element, name="link", attributes=attributes, children=[])
            )
        # The writer makes one planar joint again from this.
        elements[link] = one_line(_without_position(element))
        child_links[name] = link
        between.update(links)
        first_joints.append(id(joints[0]))
        _report(element, names)
    robot.children = children
    return PlanarJoints(elements, child_links, between, first_joints)


def separate(
    element: Element, names: Sequence[str], links: Sequence[str]
) -> list[Element]:
    """Return the three joints of a planar one: two slide and one rotates.

    `names` are those of the joints, `links` those of the two links between them.
    """
    axis = element.first("axis")
    # The axis of a planar joint is the normal of its plane; URDF's default is x.
    normal = np.array([1.0, 0.0, 0.0])
    if axis is None:
        axis = Element("axis")
    else:
        normal = np.array(finite_numbers(axis, "xyz", 3, (1.0, 0.0, 0.0)))
    directions = (*_directions(normal), normal)
    first_link, second_link = links
    parents = [
        _first(element, "parent"),
        [Element("parent", {"link": first_link})],
        [Element("parent", {"link": second_link})],
    ]
    children = [
        [Element("child", {"link": first_link})],
        [Element("child", {"link": second_link})],
        _first(element, "child"),
    ]
    # The values of the joint are in the order x, y, angle: the rotation comes last, and
    # is about the point that has moved.
    further = [child for child in element.children if child.name not in SHARED]
    joints = []
    for number, direction in enumerate(directions):
        is_first = number == 0
        is_last = number == 2
        attributes = dict(element.attributes) if is_last else {}
        attributes["name"] = names[number]
        attributes["type"] = "continuous" if is_last else "prismatic"
        parts = [
            *(_first(element, "origin") if is_first else []),
            *parents[number],
            *children[number],
            replace(axis, attributes={"xyz": number_text(direction)}),
            *_first(element, "dynamics"),
            *(further if is_last else [_no_limit()]),
        ]
        joints.append(replace(element, attributes=attributes, children=parts))
    return joints


def _first(element: Element, name: str) -> list[Element]:
    """Return the first element of a name, if there is one."""
    return list(element.all(name))[:1]


def _no_limit() -> Element:
    """Return the <limit> of a joint that has none: URDF requires the element."""
    unlimited = dict.fromkeys(("effort", "velocity", "upper"), number_text(UNLIMITED))
    return Element("limit", {**unlimited, "lower": number_text(-UNLIMITED)})


def _without_position(element: Element) -> Element:
    children = [child for child in element.children if child.name not in POSITION]
    return replace(element, children=children)


def _directions(normal: Floats) -> tuple[Floats, Floats]:
    """Return the directions (3,) of x and y in a plane.

    They are x and y after the shortest rotation of z to the normal.
    """
    along_x = np.array([1.0, 0.0, 0.0])
    along_y = np.array([0.0, 1.0, 0.0])
    length = np.linalg.norm(normal)
    if not 0.0 < length < np.inf:
        return along_x, along_y
    x, y, z = (normal / length).tolist()
    if z < HALF_TURN:
        # MuJoCo makes half a turn about x.
        return along_x, np.array([0.0, -1.0, 0.0])
    # The columns of Rodrigues' formula for the axis z × normal.
    scale = 1.0 / (1.0 + z)
    shared = -x * y * scale
    along_x = np.array([1.0 - x * x * scale, shared, -x])
    along_y = np.array([shared, 1.0 - y * y * scale, -y])
    return along_x / np.linalg.norm(along_x), along_y / np.linalg.norm(along_y)


def _free_name(wanted: str, used: set[str]) -> str:
    name = wanted
    number = 2
    while name in used:
        name = f"{wanted}_{number}"
        number += 1
    used.add(name)
    return name


def _report(element: Element, names: Sequence[str]) -> None:
    """Report a planar joint.

    With the names of the three joints that it is read as.
    """
    shown = ", ".join(name[:60] for name in names)
    message = (
        f"joint {element.get('name')!r:.60} is planar: it is read as the joints {shown}"
    )
    severity: Severity | None = None
    if element.first("limit") is not None:
        message += (
            "; its <limit> is left out, as URDF has limits for revolute and "
            "prismatic joints only"
        )
        severity = "warning"
    element.report(
        rules.PLANAR, message, severity=severity, data={"names": tuple(names)}
    )


@dataclass(frozen=True)
class WrittenPlanar:
    """A planar joint to be written, with its three joints.

    `links` are the indices of the links below these three joints.
    """

    element: Element
    joints: Sequence[Element]
    links: tuple[int, int, int]


def planar_to_write(
    body: Body, links: Sequence[str], joints: Sequence[str]
) -> list[WrittenPlanar]:
    """Return the planar joints that a body was read with and still has.

    `links` and `joints` are the names in the file, by link.
    """
    elements = body.extra.get(PLANAR_JOINTS)
    if not isinstance(elements, Mapping):
        return []
    indices = {link.name: link.index for link in reversed(body.links)}
    removable = _removable_links(body)
    planar = []
    for name, text in elements.items():
        element = parse_rest(text, "joint")
        chain = _chain_to(body, indices.get(name, -1))
        if element is None or chain is None:
            continue
        if not removable.issuperset(chain[:2]):
            continue
        # The name must be free, and three joints cannot mimic one.
        if element.get("name") in joints or element.first("mimic"):
            continue
        parts = _update(element, body, chain, links, joints)
        if parts is not None:
            planar.append(WrittenPlanar(element, parts, chain))
    return planar


def _removable_links(body: Body) -> set[int]:
    """Return the links without content, devices and loops that have one child."""
    used = {device.link for device in body.devices}
    for joint in body.extra_joints:
        used |= set(joint.links)
    num_children = Counter(link.parent for link in body.links)
    return {
        link.index
        for link in body.links
        if not link.segments
        and link.index not in used
        and num_children[link.index] == 1
    }


def _chain_to(body: Body, last: int) -> tuple[int, int, int] | None:
    """Return a link behind the two links above it.

    None where the first of them has no parent.
    """
    chain = [last]
    # The link, the two above it, and the parent of these.
    while len(chain) < 4:
        if chain[-1] < 0:
            return None
        chain.append(body.links[chain[-1]].parent)
    third, second, first, parent = chain
    if parent < 0:
        return None
    return first, second, third


def _update(
    element: Element,
    body: Body,
    indices: tuple[int, int, int],
    links: Sequence[str],
    joints: Sequence[str],
) -> list[Element] | None:
    """Write the pose and the ends of a planar joint into its element.

    Return the three joints that the element is read as; None where the body has others.
    """
    # Only the offset of the first link is written; the others must be the identity.
    chain = [body.links[index] for index in indices]
    parent = links[chain[0].parent]
    child = links[indices[2]]
    others = _without_position(element).children
    element.children = []
    add_origin(element, chain[0].offset)
    element.add("parent", {"link": parent})
    element.add("child", {"link": child})
    element.children += others
    names = [f"{element.get('name')}_{ending}" for ending in ENDINGS]
    between = [f"{child}_{name}" for name in names[:2]]
    # As the reader would make them. If the body has anything else by now, the planar
    # joint would lose it: three joints are written then.
    parts = separate(element, names, between)
    has_names = [joints[index] for index in indices] == names and [
        links[index] for index in indices[:2]
    ] == between
    is_moved = any(
        not np.array_equal(link.offset, poses.IDENTITY) for link in chain[1:]
    )
    has_joints = all(
        read_joint(part, {}) == replace(link.joint, id=-1)
        for part, link in zip(parts, chain, strict=True)
    )
    return parts if has_names and has_joints and not is_moved else None
