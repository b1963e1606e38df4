"""Joints and their gears as <joint> and <transmission> elements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import origin_element
from bodymotion.formats.urdf.joints import FURTHER, UNLIMITED, read_gears
from bodymotion.formats.urdf.leftovers import merge_rest, parse_rest
from bodymotion.formats.xml.tree import Element, number_text

if TYPE_CHECKING:
    from bodymotion.formats.urdf.extension_writer import LossReport
    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.links import Joint


def joint_element(
    joint: Joint, offset: Floats, name: str, ends: tuple[str, str], names: Mapping[str, str], lost: LossReport
) -> Element:
    """Return the <joint> of a link.

    Parameters
    ----------
    joint, offset:
        The joint, and the pose (7,) of its link in the parent.
    name, ends:
        The names in the file: of the joint, of parent and child.
    names:
        The names in the file by those of joints in the body: a joint may mimic another.
    lost:
        Losses are added.
    """
    kind = _type(joint)
    if joint.type == "crawler":
        lost.add(losses.JOINT_KIND, "crawler joints become fixed, because their value moves no link", name)
    element = Element("joint", {"name": name, "type": kind})
    origin = origin_element(offset)
    if origin is not None:
        element.children.append(origin)
    element.add("parent", {"link": ends[0]})
    element.add("child", {"link": ends[1]})
    if kind in ("revolute", "continuous", "prismatic", "planar"):
        element.add("axis", {"xyz": number_text(joint.axis)})
    if kind in ("revolute", "continuous", "prismatic"):
        _add_limit(element, joint, kind, name, lost)
    _add_further(element, joint, names)
    if "urdf" in joint.extra:
        rest = parse_rest(joint.extra["urdf"], "joint")
        if rest is None or not merge_rest(element, rest):
            lost.add(losses.DANGLING, "elements of other programs in parts of joints that are gone", name)
    return element


def _type(joint: Joint) -> str:
    match joint.type:
        case "rotate":
            # NaN is no limit.
            bounded = joint.lower > -UNLIMITED or joint.upper < UNLIMITED
            return "revolute" if bounded else "continuous"
        case "slide":
            return "prismatic"
        case "free":
            return "floating"
    return "planar" if joint.type == "fixed" and joint.extra.get("urdf_type") == "planar" else "fixed"


def _add_limit(element: Element, joint: Joint, kind: str, name: str, lost: LossReport) -> None:
    limit: dict[str, str] = {}
    if kind != "continuous":
        limit["lower"] = number_text(_bounded(joint.lower, -UNLIMITED))
        limit["upper"] = number_text(_bounded(joint.upper, UNLIMITED))
    down, up = (abs(_bounded(v, UNLIMITED)) for v in (joint.velocity_lower, joint.velocity_upper))
    if down != up:
        lost.add(losses.LIMITS, "velocity limits that differ by direction: the smaller one is written for both", name)
    velocity = min(down, up)
    effort, equal = effort_of(joint)
    if not equal:
        lost.add(losses.LIMITS, "effort limits that differ by direction: the smaller one is written for both", name)
    if kind == "continuous" and velocity >= UNLIMITED and effort is None:
        return
    for what, absent in (("effort", effort is None), ("velocity", velocity >= UNLIMITED)):
        if absent:
            message = f"a URDF joint has a limit of {what}, which the model does not state: {UNLIMITED:g} is written"
            lost.add(rules.UNSTATED, message, name)
    limit["effort"] = number_text(UNLIMITED if effort is None else effort)
    limit["velocity"] = number_text(velocity)
    element.add("limit", limit)


def _bounded(value: float, otherwise: float) -> float:
    return otherwise if math.isnan(value) else min(max(value, -UNLIMITED), UNLIMITED)


def effort_of(joint: Joint) -> tuple[float | None, bool]:
    """Return the largest force [N] or torque [Nm] of a joint, None without one, and whether it is the same in both directions.

    It is that of `joint_effort_range`, else that of motor and gear at the largest current: climit · torqueConst · gearRatio.
    """
    values = _numbers(joint.extra.get("joint_effort_range"))
    if len(values) == 2:
        down, up = abs(values[0]), abs(values[1])
        effort = min(down, up)
        return (effort if effort < UNLIMITED else None), down == up
    current = _numbers(joint.extra.get("climit"))
    if len(current):
        effort = abs(current[0] * joint.torque_const * joint.gear_ratio)
        if 0 < effort < UNLIMITED:
            return effort, True
    return None, True


def _numbers(value: object) -> list[float]:
    try:
        array = np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()
    except (TypeError, ValueError):
        return []
    return array.tolist() if np.isfinite(array).all() else []


def _add_further(element: Element, joint: Joint, names: Mapping[str, str]) -> None:
    """Add the elements that the reader keeps in `extra`."""
    extra = joint.extra
    # `frictionloss` of MJCF is the friction of URDF.
    given_dynamics = {"friction": extra.get("frictionloss"), **extra}
    dynamics = {key: number_text(value) for key in ("damping", "friction") if _number(value := given_dynamics.get(key))}
    if dynamics:
        element.add("dynamics", dynamics)
    mimic = extra.get("mimic")
    if isinstance(mimic, Mapping) and isinstance(mimic.get("joint"), str) and mimic["joint"] in names:
        further = {key: number_text(mimic[key]) for key in ("multiplier", "offset") if _number(mimic.get(key))}
        element.add("mimic", {"joint": names[mimic["joint"]], **further})
    for name_of_element, keys in FURTHER.items():
        values = extra.get(name_of_element)
        if isinstance(values, Mapping):
            element.add(name_of_element, {key: number_text(values[key]) for key in keys if _number(values.get(key))})


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def transmission_elements(
    left: list[Element], joints: Mapping[str, Joint], names: Mapping[str, str], lost: LossReport
) -> list[Element]:
    """Return the <transmission> elements: those that the body was read with, and one for each other gear.

    Parameters
    ----------
    left:
        Those that the body was read with; their names and gears are updated.
    joints:
        The joints by their names in the file.
    names:
        The names in the file by those of joints in the body.
    lost:
        Losses are added: transmissions of joints that are gone.
    """
    found = []
    of_joints: dict[str, list[Element]] = {}
    for element in left:
        gone = [joint.get("name") for joint in element.all("joint") if joint.get("name") not in names]
        if gone:
            message = f"transmissions of joints that are gone: {', '.join(gone)[:80]}"
            lost.add(losses.DANGLING, message, element.get("name"))
            continue
        read_gears(Element("robot", children=[element]))
        if any(part.faulty for part in element.every()):
            lost.add(losses.NOT_A_NUMBER, "transmissions whose gear is no number", element.get("name"))
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


def control_element(element: Element, names: Mapping[str, str], lost: LossReport) -> Element:
    """Return a <ros2_control> with the names of joints in the file; parts for joints that are gone are lost."""
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
    """Set the gear ratio in the <transmission> elements of a joint called `name` that have no other joint."""
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
    """Return the <transmission> with the gear ratio of a joint; None where it is 1, or the joint does not move."""
    if joint.gear_ratio == 1.0 or not _is_geared(joint):
        return None
    element = Element("transmission", {"name": f"{name}_transmission"})
    element.add("type", text="transmission_interface/SimpleTransmission")
    held = element.add("joint", {"name": name})
    held.add("hardwareInterface", text="hardware_interface/EffortJointInterface")
    motor = element.add("actuator", {"name": f"{name}_motor"})
    motor.add("mechanicalReduction", text=number_text(joint.gear_ratio))
    return element
