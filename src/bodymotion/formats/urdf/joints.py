"""Joints with their limits and gears, and the <inertial> of links.

<joint>, <transmission> and <inertial>, in both directions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import (
    add_origin,
    finite_numbers,
    merge_rest,
    one_line,
    parse_rest,
    read_origin,
    read_rest,
)
from bodymotion.formats.urdf.extension import LossReport
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType, Link, effort_range, stated_efforts
from bodymotion.model.rules import AXIS_LENGTH, NEGATIVE_LIMIT

TYPES: dict[str, JointType] = {
    "revolute": "rotate",
    "continuous": "rotate",
    "prismatic": "slide",
    "fixed": "fixed",
    "floating": "free",
    "planar": "fixed",
}
"""Planar joints are read as other ones (see `bodymotion.formats.urdf.planar`), unless their type is misspelt."""

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
WORLD_OF_ROOT = "urdf_parent"
"""Key of `Joint.extra`: the name of the link in which the root floats."""

UNLIMITED = 1e16  # A limit of this size or more is none, as in SDFormat: URDF has no joint_type for it, and its readers accept no infinity.

FURTHER = {
    "calibration": ("rising", "falling"),
    "safety_controller": (
        "soft_lower_limit",
        "soft_upper_limit",
        "k_position",
        "k_velocity",
    ),
}
"""Elements whose numbers are kept in `Joint.extra` under the element's name."""


def read_joint(element: Element, gears: dict[str, float]) -> Joint:
    """Read a joint; its id is −1.

    In `extra`: `joint_effort_range` [N or Nm], `damping`, `friction`, `mimic` (`joint`,
    `multiplier`, `offset`), `calibration`, `safety_controller`, and under `urdf`
    everything else that it has, as XML.
    """
    name = element.get("name")
    joint_type = element.need("type")
    kind: str | None = joint_type
    if joint_type not in TYPES:
        if joint_type:
            message = f"joint {name!r:.60} has the type {joint_type!r:.60}; expected one of {', '.join(TYPES)}"
            element.report(rules.JOINT_TYPE, message, "type", fatal=True)
            if (kind := closest_name(joint_type, TYPES)) is not None:
                element.faulty -= {"type"}
        joint_type = ""
    extra: dict[str, object] = {}
    lower, upper, velocity, effort = _limits(element, joint_type)
    if effort is not None:
        extra["joint_effort_range"] = [-effort, effort]
    dynamics = element.first("dynamics")
    if dynamics is not None:
        extra.update(
            {
                key: dynamics.number(key)
                for key in ("damping", "friction")
                if key in dynamics.attributes
            }
        )
    mimic = element.first("mimic")
    if mimic is not None:
        extra["mimic"] = {
            "joint": mimic.get("joint"),
            "multiplier": mimic.number("multiplier", 1.0),
            "offset": mimic.number("offset", 0.0),
        }
    for further, keys in FURTHER.items():
        found = element.first(further)
        if found is not None:
            extra[further] = {
                key: found.number(key) for key in keys if key in found.attributes
            }
    rest = read_rest(element)
    if rest:
        extra["urdf"] = rest
    return Joint(
        name=name,
        type=TYPES.get(kind or "", "rotate"),
        axis=_axis(element, joint_type),
        lower=lower,
        upper=upper,
        velocity_lower=-velocity,
        velocity_upper=velocity,
        gear_ratio=gears.get(name, 1.0),
        extra=extra,
    )


def _axis(element: Element, joint_type: str) -> Floats:
    """Return the axis (3,), of length 1 unless it is zero."""
    if joint_type in ("fixed", "floating"):
        return frozen([0.0, 0.0, 1.0])
    axis = element.first("axis")
    if axis is None:
        return frozen([1.0, 0.0, 0.0])
    vector = np.array(finite_numbers(axis, "xyz", 3, (1.0, 0.0, 0.0)))
    largest = np.abs(vector).max()
    if not largest > 0:
        return frozen(vector)
    length = float(np.linalg.norm(vector / largest)) * largest
    if abs(length - 1.0) > 1e-6:
        shown = " ".join(f"{value:.6g}" for value in vector)
        message = (
            f"the axis is {shown}, of length {length:.6g}: it is read with length 1"
        )
        axis.report(AXIS_LENGTH, message, "xyz", data={"length": length})
    # A vector whose length is 1 but for rounding is kept to the bit.
    return frozen(
        vector
        if abs(length - 1.0) < 1e-15
        else vector / largest / np.linalg.norm(vector / largest)
    )


def _limits(
    element: Element, joint_type: str
) -> tuple[float, float, float, float | None]:
    """Return lower, upper, velocity (inf for none) and effort (None for none).

    `joint_type` is the type, "" where it is unknown.
    """
    limit = element.first("limit")
    bounded = joint_type in ("revolute", "prismatic", "")
    if limit is None:
        if bounded and joint_type:
            element.lacks(
                rules.NO_LIMIT, f"joint {element.get('name')!r:.60} has no <limit>"
            )
        return -math.inf, math.inf, math.inf, None
    if bounded:
        lower = _unlimited(limit.number("lower", 0.0))
    else:
        lower = -math.inf
    if bounded:
        upper = _unlimited(limit.number("upper", 0.0))
    else:
        upper = math.inf
    missing = [key for key in ("effort", "velocity") if key not in limit.attributes]
    if missing and bounded and joint_type:
        limit.report(rules.NO_LIMIT, f"<limit> has no {' and no '.join(missing)}")
    for key in ("velocity", "effort"):
        if (value := limit.number(key, 0.0)) < 0:
            message = f"the {key} limit of joint {element.get('name')!r:.60} is {value:g}: {-value:g} is read instead"
            limit.report(NEGATIVE_LIMIT, message, key)
            limit.faulty |= {key}
    velocity, effort = (
        abs(_unlimited(limit.number(key, math.inf))) for key in ("velocity", "effort")
    )
    return lower, upper, velocity, effort if math.isfinite(effort) else None


def _unlimited(value: float) -> float:
    if abs(value) >= UNLIMITED:
        return math.copysign(math.inf, value)
    return value


def read_inertial(link: Element) -> tuple[float, Floats, Floats] | None:
    """Return mass, centre of mass (3,) and inertia (3, 3) about it along the link's axes.

    None without <inertial>.
    """
    inertial = link.first("inertial")
    if inertial is None:
        return None
    pose = read_origin(inertial)
    mass = inertial.first("mass")
    inertia = inertial.first("inertia")
    title = f"the <inertial> of link {link.get('name')!r:.60}"
    for name, part in (("mass", mass), ("inertia", inertia)):
        if part is None:
            inertial.lacks(rules.MASS, f"{title} has no <{name}>")
            inertial.faulty |= {name}
    if mass is None:
        weight = 0.0
    else:
        weight = finite_numbers(mass, "value", 1, None)[0]
    tensor = np.zeros((3, 3))
    if inertia is not None:
        missing = [name for name in MOMENTS if name not in inertia.attributes]
        if missing:
            inertia.report(rules.MASS, f"{title} has no {', '.join(missing)}")
            inertia.faulty |= set(missing)
        tensor[np.triu_indices(3)] = [
            finite_numbers(inertia, name, 1, (0.0,))[0] for name in MOMENTS
        ]
        tensor = tensor + np.triu(tensor, 1).T
    rotation = poses.to_matrix(pose)[:3, :3]
    if not np.array_equal(rotation, np.eye(3)):
        tensor = rotation @ tensor @ rotation.T
    return weight, frozen(pose[:3]), frozen(tensor)


def inertial_element(link: Link, name: str, lost: LossReport) -> Element | None:
    """Return the <inertial> of a link, along the link's axes.

    None where the link has no mass.
    """
    mass = link.mass
    center = np.array(link.center_of_mass)
    inertia = np.array(link.inertia)
    if not np.isfinite(np.concatenate([[mass], center, inertia.ravel()])).all():
        lost.add(
            losses.NOT_A_NUMBER,
            "masses, centres of mass and inertias that are not finite become 0",
            name,
        )
        mass = mass if np.isfinite(mass) else 0.0
        center, inertia = (
            np.where(np.isfinite(values), values, 0.0) for values in (center, inertia)
        )
    if mass == 0 and not inertia.any():
        return None
    if np.abs(inertia - inertia.T).max() > 1e-12 * np.abs(inertia).max():
        lost.add(
            losses.NO_TARGET_FIELD,
            "inertias that are not symmetric: the symmetric part is written",
            name,
        )
    # The upper triangle to the bit where the tensor is symmetric.
    inertia = np.where(inertia == inertia.T, inertia, 0.5 * inertia + 0.5 * inertia.T)
    element = Element("inertial")
    # Always written, because some readers refuse a link without it.
    element.add("origin", {"xyz": number_text(center), "rpy": "0 0 0"})
    element.add("mass", {"value": number_text(mass)})
    element.add(
        "inertia",
        dict(zip(MOMENTS, map(number_text, inertia[np.triu_indices(3)]), strict=True)),
    )
    return element


def read_gears(robot: Element) -> tuple[dict[str, float], set[int]]:
    """Return the gear ratios of joints by their names, and the ids of the <transmission> elements that hold nothing else.

    Such an element has one joint and one actuator.
    """
    gears: dict[str, float] = {}
    plain: set[int] = set()
    for element in robot.all("transmission"):
        joints = list(element.all("joint"))
        actuators = list(element.all("actuator"))
        if len(joints) != 1 or len(actuators) != 1:
            continue
        found = actuators[0].first("mechanicalReduction") or element.first(
            "mechanicalReduction"
        )
        if found is None or found.children or not joints[0].get("name"):
            continue  # A number with elements in it is none.
        ratio = found.text_number()
        if math.isfinite(ratio) and joints[0].get("name") not in gears:
            gears[joints[0].get("name")] = ratio
            if one_line(element) == one_line(
                _transmission(joints[0].get("name"), found.text)
            ):
                plain.add(id(element))
    return gears, plain


def joint_element(
    joint: Joint,
    offset: Floats,
    name: str,
    ends: tuple[str, str],
    names: Mapping[str, str],
    lost: LossReport,
) -> Element:
    """Return the <joint> of a link; losses are added to `lost`.

    `offset` is the pose (7,) of the link in its parent; `name` and `ends` are the names
    of the joint, of parent and child in the file,
    `names` those of all joints by their names in the body: a joint may mimic another.
    """
    kind = _type(joint)
    if joint.type == "crawler":
        lost.add(
            losses.JOINT_KIND,
            "crawler joints become fixed, because their value moves no link",
            name,
        )
    element = Element("joint", {"name": name, "type": kind})
    add_origin(element, offset)
    element.add("parent", {"link": ends[0]})
    element.add("child", {"link": ends[1]})
    if kind in ("revolute", "continuous", "prismatic"):
        element.add("axis", {"xyz": number_text(joint.axis)})
        _add_limit(element, joint, kind, name, lost)
    _add_further(element, joint, names)
    if "urdf" in joint.extra:
        rest = parse_rest(joint.extra["urdf"], "joint")
        if rest is None or not merge_rest(element, rest):
            lost.add(
                losses.DANGLING,
                "elements of other programs in parts of removed joints",
                name,
            )
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
    return "fixed"


def _add_limit(
    element: Element, joint: Joint, kind: str, name: str, lost: LossReport
) -> None:
    limit: dict[str, str] = {}
    if kind != "continuous":
        limit["lower"] = number_text(_bounded(joint.lower, -UNLIMITED))
        limit["upper"] = number_text(_bounded(joint.upper, UNLIMITED))
    down, up = (
        abs(_bounded(v, UNLIMITED))
        for v in (joint.velocity_lower, joint.velocity_upper)
    )
    if down != up:
        lost.add(
            losses.LIMITS,
            "velocity limits that differ by direction: the smaller one is written for "
            "both",
            name,
        )
    velocity = min(down, up)
    efforts = effort_range(joint) or (-UNLIMITED, UNLIMITED)
    if (stated := stated_efforts(joint)) == (0.0, 0.0):
        efforts = stated
    if efforts[1] != -efforts[0]:
        lost.add(
            losses.LIMITS,
            "effort limits that differ by direction: the smaller one is written for "
            "both",
            name,
        )
    effort = min(abs(efforts[0]), abs(efforts[1]), UNLIMITED)
    if kind == "continuous" and velocity >= UNLIMITED and effort >= UNLIMITED:
        return
    for what, value in (("effort", effort), ("velocity", velocity)):
        if value >= UNLIMITED:
            message = f"a URDF joint has a limit of {what}, which the model does not state: {UNLIMITED:g} is written"
            lost.add(rules.UNSTATED, message, name)
        limit[what] = number_text(value)
    element.add("limit", limit)


def _bounded(value: float, otherwise: float) -> float:
    if math.isnan(value):
        return otherwise
    return min(max(value, -UNLIMITED), UNLIMITED)


def _add_further(element: Element, joint: Joint, names: Mapping[str, str]) -> None:
    extra = joint.extra
    # `frictionloss` of MJCF is the friction of URDF.
    given_dynamics = {"friction": extra.get("frictionloss"), **extra}
    dynamics = {
        key: number_text(value)
        for key in ("damping", "friction")
        if _number(value := given_dynamics.get(key))
    }
    if dynamics:
        element.add("dynamics", dynamics)
    mimic = extra.get("mimic")
    if (
        isinstance(mimic, Mapping)
        and isinstance(mimic.get("joint"), str)
        and mimic["joint"] in names
    ):
        further = {
            key: number_text(mimic[key])
            for key in ("multiplier", "offset")
            if _number(mimic.get(key))
        }
        element.add("mimic", {"joint": names[mimic["joint"]], **further})
    for name_of_element, keys in FURTHER.items():
        values = extra.get(name_of_element)
        if isinstance(values, Mapping):
            element.add(
                name_of_element,
                {
                    key: number_text(values[key])
                    for key in keys
                    if _number(values.get(key))
                },
            )


def _number(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def transmission_elements(
    left: list[Element],
    joints: Mapping[str, Joint],
    names: Mapping[str, str],
    lost: LossReport,
) -> list[Element]:
    """Return the <transmission> elements.

    Those that the body was read with (`left`), updated, and one for each other gear.

    `joints` are by their names in the file, `names` those in the file by those in the
    body. Transmissions of lost joints are lost.
    """
    found = []
    of_joints: dict[str, list[Element]] = {}
    for element in left:
        gone = [
            joint.get("name")
            for joint in element.all("joint")
            if joint.get("name") not in names
        ]
        if gone:
            message = f"transmissions of removed joints: {', '.join(gone)[:80]}"
            lost.add(losses.DANGLING, message, element.get("name"))
            continue
        read_gears(Element("robot", children=[element]))
        if any(part.faulty for part in element.every()):
            lost.add(
                losses.NOT_A_NUMBER,
                "transmissions whose gear is not a number",
                element.get("name"),
            )
            continue
        for held in element.all("joint"):
            name = held.attributes["name"] = names[held.get("name")]
            of_joints.setdefault(name, []).append(element)
        found.append(element)
    made = []
    for name, joint in joints.items():
        if name in of_joints:
            _set_gear(of_joints[name], joint, name)
        elif joint.gear_ratio != 1.0 and _is_geared(joint):
            made.append(_transmission(name, number_text(joint.gear_ratio)))
    return [*made, *found]


def control_element(
    element: Element, names: Mapping[str, str], lost: LossReport
) -> Element:
    """Return a <ros2_control> with the names of joints in the file.

    Parts for removed joints are lost.
    """
    children = []
    for child in element.children:
        joints = [
            one
            for one in child.every()
            if one.name == "joint" and "name" in one.attributes
        ]
        gone = [joint.get("name") for joint in joints if joint.get("name") not in names]
        if gone:
            lost.add(
                losses.DANGLING,
                "parts of ros2_control for removed joints",
                ", ".join(gone)[:80],
            )
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
        joints = list(element.all("joint"))
        actuators = list(element.all("actuator"))
        if len(joints) == len(actuators) == 1:
            found = actuators[0].first("mechanicalReduction") or element.first(
                "mechanicalReduction"
            )
            if found is not None or now is None:
                found = found or actuators[0].add("mechanicalReduction")
                found.text, found.children = number_text(joint.gear_ratio), []
                return


def _transmission(name: str, ratio: str) -> Element:
    element = Element("transmission", {"name": f"{name}_transmission"})
    element.add("type", text="transmission_interface/SimpleTransmission")
    element.add("joint", {"name": name}).add(
        "hardwareInterface", text="hardware_interface/EffortJointInterface"
    )
    element.add("actuator", {"name": f"{name}_motor"}).add(
        "mechanicalReduction", text=ratio
    )
    return element
