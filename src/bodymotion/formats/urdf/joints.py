"""Joints with their limits, gears, and the <inertial> of links."""

from __future__ import annotations

import math

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import finite_numbers, read_origin
from bodymotion.formats.urdf.leftovers import read_rest
from bodymotion.formats.xml.tree import Element
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType

TYPES: dict[str, JointType] = {
    "revolute": "rotate",
    "continuous": "rotate",
    "prismatic": "slide",
    "fixed": "fixed",
    "floating": "free",
    "planar": "fixed",
}

UNLIMITED = 1e16
"""A limit of this size or more is none, as in SDFormat: URDF has no joint_type for it, and its readers accept no infinity."""

FURTHER = {
    "calibration": ("rising", "falling"),
    "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
}
"""Elements whose numbers are kept in `Joint.extra` under the element's name."""


def read_joint(element: Element, gears: dict[str, float]) -> Joint:
    """Read a joint; its id is −1.

    In `extra`: `joint_effort_range` [N or Nm], `damping`, `friction`, `mimic` (`joint`, `multiplier`, `offset`), `calibration`,
    `safety_controller`, `urdf_type` for a planar joint, and under `urdf` everything else that it has, as XML.
    """
    name, joint_type = element.get("name"), element.need("type")
    if joint_type not in TYPES:
        if joint_type:
            message = f"joint {name!r:.60} has the type {joint_type!r:.60}; expected one of {', '.join(TYPES)}"
            element.report(rules.JOINT_TYPE, message, "type", fatal=True)
        joint_type = ""
    extra: dict[str, object] = {}
    if joint_type == "planar":
        extra["urdf_type"] = joint_type
        element.report(rules.PLANAR, f"joint {name!r:.60} is planar: it is read as fixed")
    lower, upper, velocity, effort = _limits(element, joint_type)
    if effort is not None:
        extra["joint_effort_range"] = [-effort, effort]
    dynamics = element.first("dynamics")
    if dynamics is not None:
        extra.update({key: dynamics.number(key) for key in ("damping", "friction") if key in dynamics.attributes})
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
            extra[further] = {key: found.number(key) for key in keys if key in found.attributes}
    rest = read_rest(element)
    if rest:
        extra["urdf"] = rest
    return Joint(
        name=name,
        type=TYPES.get(joint_type, "rotate"),
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
        axis.report(rules.AXIS_LENGTH, f"the axis is {shown}, of length {length:.6g}: it is read with length 1", "xyz")
    # A vector whose length is 1 but for rounding is kept to the bit.
    return frozen(vector if abs(length - 1.0) < 1e-15 else vector / largest / np.linalg.norm(vector / largest))


def _limits(element: Element, joint_type: str) -> tuple[float, float, float, float | None]:
    """Return lower, upper, velocity (inf for none) and effort (None for none); `joint_type` is the type, "" where it is unknown."""
    limit = element.first("limit")
    bounded = joint_type in ("revolute", "prismatic", "")
    if limit is None:
        if bounded and joint_type:
            element.report(rules.NO_LIMIT, f"joint {element.get('name')!r:.60} has no <limit>")
        return -math.inf, math.inf, math.inf, None
    lower = _unlimited(limit.number("lower", 0.0)) if bounded else -math.inf
    upper = _unlimited(limit.number("upper", 0.0)) if bounded else math.inf
    missing = [key for key in ("effort", "velocity") if key not in limit.attributes]
    if missing and bounded and joint_type:
        limit.report(rules.NO_LIMIT, f"<limit> has no {' and no '.join(missing)}")
    for key in ("velocity", "effort"):
        if (value := limit.number(key, 0.0)) < 0:
            message = f"the {key} limit of joint {element.get('name')!r:.60} is {value:g}: {-value:g} is read instead"
            limit.report(rules.NEGATIVE, message, key)
            limit.faulty |= {key}
    velocity, effort = (abs(_unlimited(limit.number(key, math.inf))) for key in ("velocity", "effort"))
    return lower, upper, velocity, effort if math.isfinite(effort) else None


def _unlimited(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def read_inertial(link: Element) -> tuple[float, Floats, Floats] | None:
    """Return mass, centre of mass (3,) and inertia (3, 3) about it along the link's axes; None without <inertial>."""
    inertial = link.first("inertial")
    if inertial is None:
        return None
    pose = read_origin(inertial)
    mass, inertia = inertial.first("mass"), inertial.first("inertia")
    title = f"the <inertial> of link {link.get('name')!r:.60}"
    weight = 0.0
    if mass is None:
        inertial.report(rules.MASS, f"{title} has no <mass>")
        inertial.faulty |= {"mass"}
    else:
        weight = finite_numbers(mass, "value", 1, None)[0]
    tensor = np.zeros((3, 3))
    if inertia is None:
        inertial.report(rules.MASS, f"{title} has no <inertia>")
        inertial.faulty |= {"inertia"}
    else:
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        missing = [name for name in names if name not in inertia.attributes]
        if missing:
            inertia.report(rules.MASS, f"{title} has no {', '.join(missing)}")
            inertia.faulty |= set(missing)
        tensor[np.triu_indices(3)] = finite_numbers(inertia, names, 1, (0.0,))
        tensor = tensor + np.triu(tensor, 1).T
    rotation = poses.to_matrix(pose)[:3, :3]
    if not np.array_equal(rotation, np.eye(3)):
        tensor = rotation @ tensor @ rotation.T
    return weight, frozen(pose[:3]), frozen(tensor)


def read_gears(robot: Element) -> tuple[dict[str, float], set[int]]:
    """Return the gear ratios of joints by their names, and the ids of the <transmission> elements that hold nothing else.

    Such an element has one joint and one actuator.
    """
    gears: dict[str, float] = {}
    plain: set[int] = set()
    for element in robot.all("transmission"):
        joints, actuators = list(element.all("joint")), list(element.all("actuator"))
        if len(joints) != 1 or len(actuators) != 1:
            continue
        found = actuators[0].first("mechanicalReduction") or element.first("mechanicalReduction")
        if found is None or found.children or not joints[0].get("name"):
            continue  # A number with elements in it is none.
        ratio = found.text_numbers(1)[0]
        if math.isfinite(ratio) and joints[0].get("name") not in gears:
            gears[joints[0].get("name")] = ratio
            if _is_ours(element):
                plain.add(id(element))
    return gears, plain


def _is_ours(element: Element) -> bool:
    """Return whether a transmission holds only what the writer makes for a gear ratio."""
    name = element.get("name")
    kind = element.first("type")
    joint, actuator = element.first("joint"), element.first("actuator")
    return bool(
        joint
        and actuator
        and kind
        and kind.text.strip() == "transmission_interface/SimpleTransmission"
        and len(element.children) == 3
        and len(actuator.children) == 1
        and len(joint.children) == 1
        and joint.children[0].text.strip() == "hardware_interface/EffortJointInterface"
        and name == f"{joint.get('name')}_transmission"
        and actuator.get("name") == f"{joint.get('name')}_motor"
    )
