"""The <joint> element, and the gear of its <transmission>."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.leftovers import read_rest
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.xml.tree import Element

__all__ = ["UNLIMITED", "read_gears", "read_joint"]

TYPES: dict[str, JointType] = {
    "revolute": "rotate",
    "continuous": "rotate",
    "prismatic": "slide",
    "fixed": "fixed",
    "floating": "free",
    "planar": "fixed",
}

UNLIMITED = 1e16
"""A limit from here on is none: SDFormat's word for it, since URDF has none and its readers take no infinity."""

FURTHER = {
    "calibration": ("rising", "falling"),
    "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
}
"""Elements whose numbers are kept in `Joint.extra` under the element's name."""


def read_joint(element: Element, gears: dict[str, float], problems: list[Problem]) -> Joint:
    """Read a joint; its id is −1.

    In `extra`: `joint_effort_range` [N or Nm], `damping`, `friction`, `mimic` (`joint`, `multiplier`, `offset`), `calibration`,
    `safety_controller`, `urdf_type` for a planar joint, and under `urdf` what else it says, as XML.

    Raises
    ------
    FormatError
        When its type is none of URDF's, or a value is no number.
    """
    name, word = element.get("name"), element.need("type")
    if word not in TYPES:
        if word:
            words = f"the type of joint {name!r:.60} is {word!r:.60}, none of {', '.join(TYPES)}"
            element.fault(rules.JOINT_TYPE, words, "type")
        word = ""
    kind = TYPES.get(word, "rotate")
    extra: dict[str, object] = {}
    if word == "planar":
        extra["urdf_type"] = word
        problems.append(rules.PLANAR.problem(f"joint {name!r:.60} is planar: it is read as fixed", element.location))
    lower, upper, velocity, effort = _limits(element, word, problems)
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
    rest = read_rest(element, problems)
    if rest:
        extra["urdf"] = rest
    return Joint(
        name=name,
        type=kind,
        axis=_axis(element, word, problems),
        lower=lower,
        upper=upper,
        velocity_lower=-velocity,
        velocity_upper=velocity,
        gear_ratio=gears.get(name, 1.0),
        extra=extra,
    )


def _axis(element: Element, word: str, problems: list[Problem]) -> Floats:
    axis = element.first("axis")
    if word in ("fixed", "floating"):
        return frozen([0.0, 0.0, 1.0])
    vector = np.array((1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3, (1.0, 0.0, 0.0)))
    largest = np.abs(vector).max()
    if axis is None or (largest > 0 and math.isfinite(largest)):
        length = float(np.linalg.norm(vector / largest)) * largest
        if axis is not None and abs(length - 1.0) > 1e-6:
            shown = " ".join(f"{value:.6g}" for value in vector)
            problems.append(rules.AXIS_LENGTH.problem(f"the axis is {shown}, not of length 1", axis.place("xyz")))
        # A vector that is as near to length 1 as numbers are is kept to the bit.
        return frozen(vector if abs(length - 1.0) < 1e-15 else vector / largest / np.linalg.norm(vector / largest))
    problems.append(rules.NO_AXIS.problem("the axis is zero, or not finite", axis.place("xyz")))
    return frozen([1.0, 0.0, 0.0])


def _limits(element: Element, word: str, problems: list[Problem]) -> tuple[float, float, float, float | None]:
    """Return lower, upper, velocity (inf for none) and effort (None for none)."""
    limit = element.first("limit")
    # The type of a joint in a file that is checked may be one that nobody knows: "".
    bounded = word in ("revolute", "prismatic", "")
    if limit is None:
        if bounded and word:
            title = f"joint {element.get('name')!r:.60}"
            problems.append(rules.NO_LIMIT.problem(f"{title} has no <limit>", element.location))
        return -math.inf, math.inf, math.inf, None
    lower = _unlimited(limit.number("lower", 0.0)) if bounded else -math.inf
    upper = _unlimited(limit.number("upper", 0.0)) if bounded else math.inf
    if lower > upper:
        words = f"the lower limit of joint {element.get('name')!r:.60} is {lower:g}, the upper one {upper:g}"
        problems.append(rules.LIMITS.problem(words, limit.place("lower")))
    missing = [key for key in ("effort", "velocity") if key not in limit.attributes]
    if missing and bounded and word:
        problems.append(rules.NO_LIMIT.problem(f"<limit> has no {' and no '.join(missing)}", limit.location))
    for key in ("velocity", "effort"):
        if (given := limit.number(key, 0.0)) < 0:
            words = f"the {key} limit of joint {element.get('name')!r:.60} is {given:g}"
            problems.append(rules.NEGATIVE.problem(words, limit.place(key)))
    velocity, effort = (abs(_unlimited(limit.number(key, math.inf))) for key in ("velocity", "effort"))
    return lower, upper, velocity, effort if math.isfinite(effort) else None


def _unlimited(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def read_gears(robot: Element) -> tuple[dict[str, float], set[int]]:
    """Return the gear ratios of joints by their names, and the ids of the <transmission> elements that say no more than that.

    Such a one has one joint and one actuator.
    """
    gears: dict[str, float] = {}
    plain: set[int] = set()
    for element in robot.all("transmission"):
        joints, actuators = list(element.all("joint")), list(element.all("actuator"))
        if len(joints) != 1 or len(actuators) != 1:
            continue
        found = actuators[0].first("mechanicalReduction") or element.first("mechanicalReduction")
        if found is None or found.children or not joints[0].get("name"):
            continue  # a number with other elements in it is none
        ratio = found.text_numbers(1)[0]
        if math.isfinite(ratio) and joints[0].get("name") not in gears:
            gears[joints[0].get("name")] = ratio
            if _is_ours(element):
                plain.add(id(element))
    return gears, plain


def _is_ours(element: Element) -> bool:
    """Whether all that a transmission says is what is written for a gear ratio."""
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
