"""Gears as <transmission> elements: a joint has those of the file that it was read from, or else one that is made.

<ros2_control> names joints, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf.joints import read_gears
from bodymotion.formats.xml.tree import Element, number_text

if TYPE_CHECKING:
    from bodymotion.formats.urdf.writing.tally import Tally
    from bodymotion.model.links import Joint

__all__ = ["control_element", "transmission_elements"]


def transmission_elements(
    left: list[Element], joints: Mapping[str, Joint], names: Mapping[str, str], lost: Tally
) -> list[Element]:
    """Return the <transmission> elements: those that the body was read with, and one for each gear that is in none of them.

    Parameters
    ----------
    left:
        Those that the body was read with; they get the names and gears of the joints.
    joints:
        The joints by their names in the file.
    names:
        The names in the file by those of joints in the body.
    lost:
        What is lost is added: transmissions of joints that are gone.
    """
    found = []
    of_joints: dict[str, list[Element]] = {}
    for element in left:
        gone = [joint.get("name") for joint in element.all("joint") if joint.get("name") not in names]
        if gone:
            words = f"transmissions of joints that are gone: {', '.join(gone)[:80]}"
            lost.add(losses.DANGLING, words, element.get("name"))
            continue
        try:
            read_gears(Element("robot", children=[element]))
        except ValueError:
            lost.add(losses.EXTRA, "transmissions whose gear is no number", element.get("name"))
            continue
        for held in element.all("joint"):
            name = held.attributes["name"] = names[held.get("name")]
            of_joints.setdefault(name, []).append(element)
        found.append(element)
    made = []
    for name, joint in joints.items():
        if name in of_joints:
            _set_gear(of_joints[name], joint, name)
        elif (gear := _transmission(joint, name)) is not None:
            made.append(gear)
    return [*made, *found]


def control_element(element: Element, names: Mapping[str, str], lost: Tally) -> Element:
    """Return a <ros2_control> with the names of joints as they are in the file, without what is of joints that are gone, which is lost."""
    children = []
    for child in element.children:
        joints = [one for one in child.every() if one.name == "joint" and "name" in one.attributes]
        gone = [joint.get("name") for joint in joints if joint.get("name") not in names]
        if gone:
            lost.add(losses.DANGLING, "parts of ros2_control for joints that are gone", ", ".join(gone)[:80])
            continue
        for joint in joints:
            joint.attributes["name"] = names[joint.get("name")]
        children.append(child)
    return replace(element, children=children)


def _is_geared(joint: Joint) -> bool:
    return math.isfinite(joint.gear_ratio) and joint.type in ("rotate", "slide")


def _set_gear(transmissions: Sequence[Element], joint: Joint, name: str) -> None:
    """Let the <transmission> elements of a joint called `name` say its gear ratio, as far as they are of that joint alone."""
    now = read_gears(Element("robot", children=list(transmissions)))[0].get(name)
    if joint.gear_ratio == (1.0 if now is None else now) or not _is_geared(joint):
        return
    for element in transmissions:
        joints, actuators = list(element.all("joint")), list(element.all("actuator"))
        if len(joints) == len(actuators) == 1:
            found = actuators[0].first("mechanicalReduction") or element.first("mechanicalReduction")
            if found is not None or now is None:
                found = found or actuators[0].add("mechanicalReduction")
                found.text, found.children = number_text(joint.gear_ratio), []
                return


def _transmission(joint: Joint, name: str) -> Element | None:
    """Return the <transmission> that says a joint's gear ratio; None where it is 1, or nothing is moved."""
    if joint.gear_ratio == 1.0 or not _is_geared(joint):
        return None
    element = Element("transmission", {"name": f"{name}_transmission"})
    element.add("type", text="transmission_interface/SimpleTransmission")
    held = element.add("joint", {"name": name})
    held.add("hardwareInterface", text="hardware_interface/EffortJointInterface")
    motor = element.add("actuator", {"name": f"{name}_motor"})
    motor.add("mechanicalReduction", text=number_text(joint.gear_ratio))
    return element
