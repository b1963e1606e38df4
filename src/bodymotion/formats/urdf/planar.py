"""Planar joints: motion in the plane perpendicular to their axis.

A planar joint is read as two joints that slide and one that rotates, with links without
mass between them. Directions and names of the joints (`NAME_TX`, `NAME_TY`, `NAME_RZ`)
are those of MuJoCo; the names of the links are those of its reader here, `LINK_JOINT`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bodymotion.diagnostics import Severity
from bodymotion.formats.kept_json import PLANAR_JOINTS
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import (
    add_origin,
    finite_numbers,
    one_line,
    parse_rest,
)
from bodymotion.formats.urdf.joints import UNLIMITED, read_joint
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

ENDINGS = ("TX", "TY", "RZ")
PLACE = ("origin", "parent", "child")
"""Elements that say where a joint is: they are those of the links of a body."""
OWN = (*PLACE, "axis", "limit", "dynamics")
"""Elements of a planar joint that are given to its three joints.

The rotation has all others.
"""


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
        if child is None:
            link = ""
        else:
            link = child.get("link")
        name = element.need("name") or link or "planar"
        names = [_free_name(f"{name}_{ending}", used) for ending in ENDINGS]
        links = [_free_name(f"{link}_{joint}", used) for joint in names[:2]]
        joints = separate(element, names, links)
        children += [
            *joints,
            *(
                replace(element, name="link", attributes={"name": each}, children=[])
                for each in links
            ),
        ]
        elements[link] = one_line(_without_place(element))
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
    kept = {
        name: [child for child in element.children if child.name == name][:1]
        for name in OWN
    }
    further = [child for child in element.children if child.name not in OWN]
    axis = element.first("axis")
    if axis is None:
        written = Element("axis")
    else:
        written = axis
    normal = np.array([1.0, 0.0, 0.0])
    if axis is not None:
        normal = np.array(finite_numbers(axis, "xyz", 3, (1.0, 0.0, 0.0)))
    parents = [
        kept["parent"],
        *([Element("parent", {"link": link})] for link in links),
    ]
    children = [*([Element("child", {"link": link})] for link in links), kept["child"]]
    # URDF has limits for revolute and prismatic joints only.
    unlimited = dict.fromkeys(("effort", "velocity", "upper"), number_text(UNLIMITED))
    unlimited["lower"] = number_text(-UNLIMITED)
    joints = []
    for number, direction in enumerate((*_directions(normal), normal)):
        is_last = number == 2
        own_axis = replace(written, attributes={"xyz": number_text(direction)})
        if is_last:
            attributes = {**element.attributes}
        else:
            attributes = {}
        attributes["name"] = names[number]
        attributes["type"] = "continuous" if is_last else "prismatic"
        parts = [
            *(kept["origin"] if number == 0 else []),
            *parents[number],
            *children[number],
            own_axis,
            *kept["dynamics"],
            *(further if is_last else [Element("limit", unlimited)]),
        ]
        joints.append(replace(element, attributes=attributes, children=parts))
    return joints


def _without_place(element: Element) -> Element:
    children = [child for child in element.children if child.name not in PLACE]
    return replace(element, children=children)


def _directions(normal: Floats) -> tuple[Floats, Floats]:
    """Return the directions (3,) that x and y have after the shortest rotation of z to a normal (3,) of a plane."""
    length = np.linalg.norm(normal)
    if not 0.0 < length < np.inf:
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    x, y, z = (normal / length).tolist()
    if z < -1.0 + 1e-12:
        # Half a turn, which MuJoCo makes about x.
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])
    # The columns of Rodrigues' formula for the axis z × normal.
    scale = 1.0 / (1.0 + z)
    along_x = np.array([1.0 - x * x * scale, -x * y * scale, -x])
    along_y = np.array([-x * y * scale, 1.0 - y * y * scale, -y])
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
    shown = ", ".join(name[:60] for name in names)
    message = (
        f"joint {element.get('name')!r:.60} is planar: it is read as the joints {shown}"
    )
    has_limit = element.first("limit") is not None
    if has_limit:
        message += "; its <limit> is left out, as URDF has limits for revolute and prismatic joints only"
    severity: Severity | None = "warning" if has_limit else None
    element.report(
        rules.PLANAR, message, severity=severity, data={"names": tuple(names)}
    )


@dataclass(frozen=True)
class WrittenPlanar:
    """A planar joint to be written.

    Its element, and the elements of the three joints that it will be read as.

    `links` are the indices of the links below these three joints.
    """

    element: Element
    joints: Sequence[Element]
    links: tuple[int, int, int]


def planar_to_write(
    body: Body, links: Sequence[str], joints: Sequence[str]
) -> list[WrittenPlanar]:
    """Return the planar joints that a body was read with, where it still has all that these hold.

    `links` and `joints` are the names in the file, by link.
    """
    elements = body.extra.get(PLANAR_JOINTS)
    if not isinstance(elements, Mapping):
        return []
    by_name = {link.name: link.index for link in reversed(body.links)}
    used = {device.link for device in body.devices}
    used |= {end for joint in body.extra_joints for end in joint.links}
    num_children = np.bincount(
        [link.parent for link in body.links if link.parent >= 0],
        minlength=len(body.links),
    )
    found = []
    for name, text in elements.items():
        element = parse_rest(text, "joint")
        third = by_name.get(name, -1)
        if third >= 0:
            second = body.links[third].parent
        else:
            second = -1
        if second >= 0:
            first = body.links[second].parent
        else:
            first = -1
        if element is None or first < 0 or body.links[first].parent < 0:
            continue
        between = (body.links[first], body.links[second])
        is_plain = not any(
            link.segments or link.index in used or num_children[link.index] != 1
            for link in between
        )
        if not is_plain or element.get("name") in joints or element.first("mimic"):
            continue
        indices = (first, second, third)
        parts = _update(element, body, indices, links, joints)
        if parts is not None:
            found.append(WrittenPlanar(element, parts, indices))
    return found


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
    chain = [body.links[index] for index in indices]
    ends = {"parent": links[chain[0].parent], "child": links[indices[2]]}
    kept = _without_place(element).children
    element.children = []
    add_origin(element, chain[0].offset)
    for end, link in ends.items():
        element.add(end, {"link": link})
    element.children += kept
    names = [f"{element.get('name')}_{ending}" for ending in ENDINGS]
    between = [f"{ends['child']}_{name}" for name in names[:2]]
    parts = separate(element, names, between)
    is_same = (
        [joints[index] for index in indices] == names
        and [links[index] for index in indices[:2]] == between
        and all(np.array_equal(link.offset, poses.IDENTITY) for link in chain[1:])
        and all(
            read_joint(part, {}) == replace(link.joint, id=-1)
            for part, link in zip(parts, chain, strict=True)
        )
    )
    return parts if is_same else None
