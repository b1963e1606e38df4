"""What MuJoCo wants of a robot beside its links: contacts that are none, motors, and joints that follow others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.mjcf.writing.joints import motor_element
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.model.links import MOVING

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.writing.links import LinkWriter
    from bodymotion.model.body import Body

__all__ = ["actuators", "add_followers", "excluded_contacts"]


def excluded_contacts(body: Body, links: LinkWriter) -> Element:
    """Return the contacts to be left out.

    What hangs on the world may touch it in MuJoCo, unlike any other parent and child: a fixed base and the first links on it.
    """
    contact = Element("contact")
    still: list[bool] = []
    for link in body.links:
        free = link.parent < 0 and link.joint.type == "free"
        above = link.parent < 0 or still[link.parent]
        still.append(above and not free and not (link.parent >= 0 and link.index in links.joint_names))
        if link.parent >= 0 and above and not still[-1]:
            ends = [links.elements.get(index) for index in (link.parent, link.index)]
            names = [element.get("name") for element in ends if element is not None]
            if len(names) == 2 and all(names):
                contact.add("exclude", {"body1": names[0], "body2": names[1]})
    return contact


def actuators(body: Body, links: LinkWriter) -> Element:
    """Return a motor for each joint that has a column, in the order of the columns."""
    actuator = Element("actuator")
    for index in body.joint_links:
        if index > 0 and index in links.joint_names and body.links[index].joint.type in MOVING:
            joint, name = body.links[index].joint, links.joint_names[index]
            actuator.children.append(motor_element(joint, links.names.free("actuator", name), name))
    return actuator


def add_followers(body: Body, links: LinkWriter, equality: Element) -> list[str]:
    """Let joints that follow another one do so, as URDF has it: value = multiplier · value of the other + offset.

    Gives the names of the equalities.
    """
    found: list[str] = []
    named = {link.joint.name: links.joint_names[link.index] for link in body.links if link.index in links.joint_names}
    for link in body.links:
        mimic = link.joint.extra.get("mimic")
        if not isinstance(mimic, Mapping):
            continue
        own, other = links.joint_names.get(link.index), named.get(str(mimic.get("joint")))
        numbers = [mimic.get("offset", 0.0), mimic.get("multiplier", 1.0)]
        usable = all(isinstance(n, (int, float)) and np.isfinite(n) for n in numbers)
        if own is None or other is None or own == other or not usable or link.joint.type not in ("rotate", "slide"):
            words = f"joint {link.joint.name} does not follow {mimic.get('joint')!s:.60}"
            links.problems.append(losses.FOLLOWING.problem(words, Location(inside=f"links[{link.index}]")))
            continue
        name = links.names.free("equality", f"{own}_mimic")
        polynomial = number_text([*numbers, 0.0, 0.0, 0.0])
        equality.add("joint", {"name": name, "joint1": own, "joint2": other, "polycoef": polynomial})
        found.append(name)
    return found
