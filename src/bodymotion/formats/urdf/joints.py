"""Joints with their limits and gears, and the <inertial> of links.

<joint>, <transmission> and <inertial>, in both directions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeGuard

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import (
    add_origin,
    finite_numbers,
    merge_rest,
    parse_rest,
    read_origin,
    read_rest,
)
from bodymotion.formats.urdf.losses import LossReport
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import Element, number_text, one_line
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType, Link, effort_range, stated_efforts
from bodymotion.model.rules import AXIS_LENGTH, NEGATIVE_LIMIT

# By type in URDF, that of a Joint. Planar joints are read as other ones (see
# `bodymotion.formats.urdf.planar`), unless their type is misspelt.
TYPES: dict[str, JointType] = {
    "revolute": "rotate",
    "continuous": "rotate",
    "prismatic": "slide",
    "fixed": "fixed",
    "floating": "free",
    # Only a planar joint that the reader could not separate gets here.
    "planar": "fixed",
}

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
# Relative difference up to which an inertia is symmetric but for rounding.
SYMMETRY_TOLERANCE = 1e-12
# How far the length of an axis may be from 1 without a finding.
LENGTH_TOLERANCE = 1e-6
# How far a length is from 1 by rounding: such an axis is kept to the bit.
ROUNDING = 1e-15
# Key of `Joint.extra`: the name of the link in which the root floats.
WORLD_OF_ROOT = "urdf_parent"

# A limit of this size or more is none, as in SDFormat. URDF has no joint type for that,
# and its readers accept no infinity.
UNLIMITED = 1e16

# Elements whose numbers are kept in `Joint.extra` under the element's name.
FURTHER = {
    "calibration": ("rising", "falling"),
    "safety_controller": (
        "soft_lower_limit",
        "soft_upper_limit",
        "k_position",
        "k_velocity",
    ),
}


class Limits(NamedTuple):
    """The limits of a joint [rad or m], [rad/s or m/s], [N m or N].

    `effort` is None where the file has none.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float | None = None


class Inertial(NamedTuple):
    """The mass [kg] of a link and its distribution.

    The centre of mass (3,) [m] is in the link; the inertia (3, 3) [kg m²] about it is
    along the axes of the link.
    """

    mass: float
    center_of_mass: Floats
    inertia: Floats


class Ends(NamedTuple):
    """The names of the links that a joint connects."""

    parent: str
    child: str


def read_joint(element: Element, gears: Mapping[str, float]) -> Joint:
    """Read a joint; its id is −1.

    `gears` are the gear ratios by the names of joints. In `extra`:
    `joint_effort_range` [N or Nm], `damping`, `friction`, `mimic` (`joint`,
    `multiplier`, `offset`), `calibration`, `safety_controller`, and under `urdf`
    everything else that it has, as XML.
    """
    name = element.get("name")
    type_in_file = element.need("type")
    kind: str | None = type_in_file
    # A misspelt type is read as the closest one, but its limits and axis are not judged
    # by the rules of that type: `type_in_file` is "" for them.
    if type_in_file not in TYPES:
        kind = _likely_type(element, type_in_file)
        type_in_file = ""
    limits = _read_limits(element, type_in_file)
    extra: dict[str, object] = {}
    if limits.effort is not None:
        extra["joint_effort_range"] = [-limits.effort, limits.effort]
    dynamics = element.first("dynamics")
    if dynamics is not None:
        extra |= _numbers_of(dynamics, ("damping", "friction"))
    # A Body has no joints that follow others: the writers of URDF and MJCF use this
    # entry.
    mimic = element.first("mimic")
    if mimic is not None:
        extra["mimic"] = {
            "joint": mimic.get("joint"),
            "multiplier": mimic.number("multiplier", 1.0),
            "offset": mimic.number("offset", 0.0),
        }
    for further, keys in FURTHER.items():
        inner = element.first(further)
        if inner is not None:
            extra[further] = _numbers_of(inner, keys)
    rest = read_rest(element)
    if rest:
        extra["urdf"] = rest
    return Joint(
        name=name,
        type=TYPES.get(kind or "", "rotate"),
        axis=_read_axis(element, type_in_file),
        lower=limits.lower,
        upper=limits.upper,
        # URDF has one limit of velocity and effort for both directions.
        velocity_lower=-limits.velocity,
        velocity_upper=limits.velocity,
        gear_ratio=gears.get(name, 1.0),
        extra=extra,
    )


def _likely_type(element: Element, type_in_file: str) -> str | None:
    """Report an unknown type, and return the one meant."""
    if not type_in_file:
        return ""
    message = (
        f"joint {element.get('name')!r:.60} has the type {type_in_file!r:.60}; "
        f"expected one of {', '.join(TYPES)}"
    )
    element.report(rules.JOINT_TYPE, message, "type", fatal=True)
    meant = closest_name(type_in_file, TYPES)
    if meant is not None:
        # The type that is meant is used: what follows from it is no guess.
        element.faulty -= {"type"}
    return meant


def _numbers_of(element: Element, keys: Sequence[str]) -> dict[str, object]:
    """Return the numbers of those attributes that an element has."""
    return {key: element.number(key) for key in keys if key in element.attributes}


def _read_axis(element: Element, joint_type: str) -> Floats:
    """Return the axis (3,), of length 1 unless it is zero."""
    # URDF defines no axis for these; z is the default of a Joint.
    if joint_type in ("fixed", "floating"):
        return frozen([0.0, 0.0, 1.0])
    axis = element.first("axis")
    # The default of URDF is x, that of MJCF z.
    if axis is None:
        return frozen([1.0, 0.0, 0.0])
    vector = np.array(finite_numbers(axis, "xyz", 3, (1.0, 0.0, 0.0)))
    largest = np.abs(vector).max()
    if not largest > 0:
        return frozen(vector)
    # Scaled by its largest component first: squares of huge numbers overflow.
    scaled = vector / largest
    scaled_length = float(np.linalg.norm(scaled))
    length = scaled_length * largest
    if abs(length - 1.0) > LENGTH_TOLERANCE:
        shown = " ".join(f"{value:.6g}" for value in vector)
        message = (
            f"the axis is {shown}, of length {length:.6g}: it is read with length 1"
        )
        axis.report(AXIS_LENGTH, message, "xyz", data={"length": length})
    if abs(length - 1.0) < ROUNDING:
        return frozen(vector)
    return frozen(scaled / scaled_length)


def _read_limits(element: Element, joint_type: str) -> Limits:
    """Return the limits of a joint; `joint_type` is "" where it is unknown."""
    limit = element.first("limit")
    # URDF requires <limit> for revolute and prismatic joints. Of continuous ones it
    # gives velocity and effort only.
    is_bounded = joint_type in ("revolute", "prismatic", "")
    needs_limits = is_bounded and joint_type != ""
    if limit is None:
        if needs_limits:
            message = f"joint {element.get('name')!r:.60} has no <limit>"
            element.lacks(rules.NO_LIMIT, message)
        return Limits()
    lower = -math.inf
    upper = math.inf
    if is_bounded:
        # 0 is URDF's default for both.
        lower = _unlimited(limit.number("lower", 0.0))
        upper = _unlimited(limit.number("upper", 0.0))
    missing = [key for key in ("effort", "velocity") if key not in limit.attributes]
    if missing and needs_limits:
        limit.report(rules.NO_LIMIT, f"<limit> has no {' and no '.join(missing)}")
    for key in ("velocity", "effort"):
        value = limit.number(key, 0.0)
        if value < 0:
            message = (
                f"the {key} limit of joint {element.get('name')!r:.60} is {value:g}: "
                f"{-value:g} is read instead"
            )
            limit.report(NEGATIVE_LIMIT, message, key)
            limit.faulty |= {key}
    # A missing velocity or effort is no limit here, not 0.
    velocity = abs(_unlimited(limit.number("velocity", math.inf)))
    effort = abs(_unlimited(limit.number("effort", math.inf)))
    return Limits(lower, upper, velocity, effort if math.isfinite(effort) else None)


def _unlimited(value: float) -> float:
    if abs(value) >= UNLIMITED:
        return math.copysign(math.inf, value)
    return value


def read_inertial(link: Element) -> Inertial | None:
    """Return the mass of a link and its distribution, None without <inertial>."""
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
    weight = 0.0
    if mass is not None:
        # Without a default, NaN stands for a number that cannot be read.
        weight = finite_numbers(mass, "value", 1, None)[0]
    tensor = np.zeros((3, 3))
    if inertia is not None:
        tensor = _read_tensor(inertia, title)
    rotation = poses.to_matrix(pose)[:3, :3]
    # Without a rotation the tensor is kept to the bit.
    if not np.array_equal(rotation, np.eye(3)):
        # From the axes of <origin> to those of the link: I_link = R·I·Rᵀ.
        tensor = rotation @ tensor @ rotation.T
    return Inertial(weight, frozen(pose[:3]), frozen(tensor))


def _read_tensor(inertia: Element, title: str) -> Floats:
    """Return the symmetric tensor (3, 3) of the six moments of an <inertia>."""
    missing = [name for name in MOMENTS if name not in inertia.attributes]
    if missing:
        inertia.report(rules.MASS, f"{title} has no {', '.join(missing)}")
        inertia.faulty |= set(missing)
    # MOMENTS are in the order of the upper triangle, row by row; its strict part is
    # mirrored below the diagonal.
    upper = np.zeros((3, 3))
    upper[np.triu_indices(3)] = [
        finite_numbers(inertia, name, 1, (0.0,))[0] for name in MOMENTS
    ]
    return np.asarray(upper + np.triu(upper, 1).T)


def inertial_element(link: Link, name: str, lost: LossReport) -> Element | None:
    """Return the <inertial> of a link, along the link's axes.

    None where the link has no mass.
    """
    mass = link.mass
    center = np.array(link.center_of_mass)
    inertia = np.array(link.inertia)
    if not np.isfinite(np.concatenate([[mass], center, inertia.ravel()])).all():
        message = "masses, centres of mass and inertias that are not finite become 0"
        lost.add(losses.NOT_A_NUMBER, message, name)
        mass = mass if np.isfinite(mass) else 0.0
        center = np.where(np.isfinite(center), center, 0.0)
        inertia = np.where(np.isfinite(inertia), inertia, 0.0)
    # URDF allows links without <inertial>.
    if mass == 0 and not inertia.any():
        return None
    skew = np.abs(inertia - inertia.T).max()
    if skew > SYMMETRY_TOLERANCE * np.abs(inertia).max():
        message = "inertias that are not symmetric: the symmetric part is written"
        lost.add(losses.NO_TARGET_FIELD, message, name)
    # The upper triangle to the bit where the tensor is symmetric.
    inertia = np.where(inertia == inertia.T, inertia, 0.5 * inertia + 0.5 * inertia.T)
    moments = map(number_text, inertia[np.triu_indices(3)])
    element = Element("inertial")
    # Always written, because some readers refuse a link without it.
    element.add("origin", {"xyz": number_text(center), "rpy": "0 0 0"})
    element.add("mass", {"value": number_text(mass)})
    element.add("inertia", dict(zip(MOMENTS, moments, strict=True)))
    return element


class Gears(NamedTuple):
    """What the <transmission> elements of a robot give.

    Attributes
    ----------
    ratios:
        The gear ratios by the names of joints.
    plain:
        The ids of the elements that hold nothing else.
    """

    ratios: dict[str, float]
    plain: set[int]


def read_gears(transmissions: Sequence[Element]) -> Gears:
    """Return the gear ratios of <transmission> elements of one joint and one actuator.

    Of several for one joint the first counts.
    """
    gears = Gears({}, set())
    for element in transmissions:
        # ROS has <mechanicalReduction> in the actuator or, in older files, beside it.
        reduction = _reduction(element)
        joint = element.first("joint")
        # A number with elements in it is none.
        if reduction is None or reduction.children or joint is None:
            continue
        name = joint.get("name")
        if not name:
            continue
        ratio = reduction.text_number()
        if math.isfinite(ratio) and name not in gears.ratios:
            gears.ratios[name] = ratio
            # An element that the writer would make the same way need not be kept as
            # XML.
            plain = _transmission(name, reduction.text)
            if one_line(element) == one_line(plain):
                gears.plain.add(id(element))
    return gears


def _reduction(transmission: Element) -> Element | None:
    """Return the <mechanicalReduction> of a transmission of one joint and actuator."""
    joints = list(transmission.all("joint"))
    actuators = list(transmission.all("actuator"))
    # Of a differential or four-bar transmission, no single ratio is that of a joint.
    if len(joints) != 1 or len(actuators) != 1:
        return None
    of_actuator = actuators[0].first("mechanicalReduction")
    return of_actuator or transmission.first("mechanicalReduction")


def joint_element(
    joint: Joint,
    offset: Floats,
    name: str,
    ends: Ends,
    names: Mapping[str, str],
    lost: LossReport,
) -> Element:
    """Return the <joint> of a link; losses are added to `lost`.

    `offset` is the pose (7,) of the link in its parent; `name` is the name of the joint
    in the file, `names` are those of all joints by their names in the body: a joint may
    mimic another.
    """
    kind = _written_type(joint)
    if joint.type == "crawler":
        message = "crawler joints become fixed, because their value moves no link"
        lost.add(losses.JOINT_KIND, message, name)
    element = Element("joint", {"name": name, "type": kind})
    add_origin(element, offset)
    element.add("parent", {"link": ends.parent})
    element.add("child", {"link": ends.child})
    # Fixed and floating joints have neither axis nor limits in URDF.
    if kind in ("revolute", "continuous", "prismatic"):
        element.add("axis", {"xyz": number_text(joint.axis)})
        _add_limit(element, joint, kind, name, lost)
    _add_further(element, joint, names)
    # What the file had besides goes into the new element, as far as it still fits.
    if "urdf" in joint.extra:
        rest = parse_rest(joint.extra["urdf"], "joint")
        if rest is None or not merge_rest(element, rest):
            message = "elements of other programs in parts of removed joints"
            lost.add(losses.DANGLING, message, name)
    return element


def _written_type(joint: Joint) -> str:
    """Return the type of URDF that a joint is written as."""
    match joint.type:
        case "rotate":
            # NaN is no limit.
            is_bounded = joint.lower > -UNLIMITED or joint.upper < UNLIMITED
            return "revolute" if is_bounded else "continuous"
        case "slide":
            # URDF has no prismatic joint without limits: they are written as
            # ±UNLIMITED.
            return "prismatic"
        case "free":
            return "floating"
    return "fixed"


def _add_limit(
    element: Element, joint: Joint, kind: str, name: str, lost: LossReport
) -> None:
    """Add the <limit> of a joint.

    A URDF has one limit for both directions.
    """
    differ = "limits that differ by direction: the smaller one is written for both"
    lower_velocity = abs(_bounded(joint.velocity_lower, UNLIMITED))
    upper_velocity = abs(_bounded(joint.velocity_upper, UNLIMITED))
    if lower_velocity != upper_velocity:
        lost.add(losses.LIMITS, f"velocity {differ}", name)
    velocity = min(lower_velocity, upper_velocity)
    efforts = effort_range(joint) or (-UNLIMITED, UNLIMITED)
    # `effort_range` takes 0 0 for "not stated"; where the model does state it, it is
    # kept.
    stated = stated_efforts(joint)
    if stated == (0.0, 0.0):
        efforts = stated
    if efforts[1] != -efforts[0]:
        lost.add(losses.LIMITS, f"effort {differ}", name)
    effort = min(abs(efforts[0]), abs(efforts[1]), UNLIMITED)
    limit: dict[str, str] = {}
    if kind != "continuous":
        limit["lower"] = number_text(_bounded(joint.lower, -UNLIMITED))
        limit["upper"] = number_text(_bounded(joint.upper, UNLIMITED))
    # <limit> may be left out for continuous joints only.
    elif velocity >= UNLIMITED and effort >= UNLIMITED:
        return
    # URDF requires both attributes.
    for quantity, value in (("effort", effort), ("velocity", velocity)):
        if value >= UNLIMITED:
            message = (
                f"a URDF joint has a limit of {quantity}, which the model does not "
                f"state: {UNLIMITED:g} is written"
            )
            lost.add(rules.UNSTATED, message, name)
        limit[quantity] = number_text(value)
    element.add("limit", limit)


def _bounded(value: float, otherwise: float) -> float:
    if math.isnan(value):
        return otherwise
    return min(max(value, -UNLIMITED), UNLIMITED)


def _add_further(element: Element, joint: Joint, names: Mapping[str, str]) -> None:
    """Add the elements of values in `extra`."""
    # `frictionloss` of MJCF is the friction of URDF.
    given_dynamics = {"friction": joint.extra.get("frictionloss"), **joint.extra}
    dynamics = _number_texts(given_dynamics, ("damping", "friction"))
    if dynamics:
        element.add("dynamics", dynamics)
    mimic = joint.extra.get("mimic")
    if isinstance(mimic, Mapping):
        other = mimic.get("joint")
        # A <mimic> of a removed joint would make the file invalid.
        if isinstance(other, str) and other in names:
            numbers = _number_texts(mimic, ("multiplier", "offset"))
            element.add("mimic", {"joint": names[other], **numbers})
    for name, keys in FURTHER.items():
        values = joint.extra.get(name)
        if isinstance(values, Mapping):
            element.add(name, _number_texts(values, keys))


def _number_texts(values: Mapping[str, object], keys: Sequence[str]) -> dict[str, str]:
    """Return, as attributes, those of the values that are numbers."""
    texts: dict[str, str] = {}
    for key in keys:
        value = values.get(key)
        if _is_number(value):
            texts[key] = number_text(value)
    return texts


def _is_number(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def transmission_elements(
    elements: Sequence[Element],
    joints: Mapping[str, Joint],
    names: Mapping[str, str],
    lost: LossReport,
) -> list[Element]:
    """Return the <transmission> elements, with the gear ratios of the joints.

    Those that the body was read with (`elements`) are updated; each other gear has a
    new one. `joints` are by their names in the file, `names` those in the file by those
    in the body. Transmissions of lost joints are lost.
    """
    updated = []
    of_joints: dict[str, list[Element]] = {}
    for element in elements:
        # The elements are still those of the file that was read, with the names there.
        if not _is_usable(element, names, lost):
            continue
        for inner in element.all("joint"):
            name = names[inner.get("name")]
            inner.attributes["name"] = name
            of_joints.setdefault(name, []).append(element)
        updated.append(element)
    new = []
    for name, joint in joints.items():
        if name in of_joints:
            _set_gear(of_joints[name], joint, name)
        elif joint.gear_ratio != 1.0 and _is_geared(joint):
            new.append(_transmission(name, number_text(joint.gear_ratio)))
    return [*new, *updated]


def _is_usable(element: Element, names: Mapping[str, str], lost: LossReport) -> bool:
    """Return whether a transmission has numbers, and joints that are not removed."""
    in_element = [joint.get("name") for joint in element.all("joint")]
    removed = [name for name in in_element if name not in names]
    if removed:
        message = f"transmissions of removed joints: {', '.join(removed)[:80]}"
        lost.add(losses.DANGLING, message, element.get("name"))
        return False
    # Reading marks what is no number as faulty; the gears are not needed here.
    read_gears([element])
    if any(part.faulty for part in element.every()):
        message = "transmissions whose gear is not a number"
        lost.add(losses.NOT_A_NUMBER, message, element.get("name"))
        return False
    return True


def control_element(
    element: Element, names: Mapping[str, str], lost: LossReport
) -> Element:
    """Return a <ros2_control> with the names of joints in the file.

    Parts for removed joints are lost.
    """
    children = []
    # A child of <ros2_control> (<joint>, <transmission>, …) is kept or lost as a whole.
    for child in element.children:
        joints = [
            inner
            for inner in child.every()
            if inner.name == "joint" and "name" in inner.attributes
        ]
        removed = [
            joint.get("name") for joint in joints if joint.get("name") not in names
        ]
        if removed:
            message = "parts of ros2_control for removed joints"
            lost.add(losses.DANGLING, message, ", ".join(removed)[:80])
            continue
        for joint in joints:
            joint.attributes["name"] = names[joint.get("name")]
        children.append(child)
    return replace(element, children=children)


def _is_geared(joint: Joint) -> bool:
    return math.isfinite(joint.gear_ratio) and joint.type in ("rotate", "slide")


def _set_gear(transmissions: Sequence[Element], joint: Joint, name: str) -> None:
    """Set the gear ratio in the <transmission> elements of a joint called `name`.

    The first one of no other joint that has a ratio gets it; where none has, the first.
    """
    ratio = read_gears(transmissions).ratios.get(name)
    # Without a ratio in the file the reader takes 1.
    is_right = joint.gear_ratio == (1.0 if ratio is None else ratio)
    if is_right or not _is_geared(joint):
        return
    for element in transmissions:
        joints = list(element.all("joint"))
        actuators = list(element.all("actuator"))
        if len(joints) != 1 or len(actuators) != 1:
            continue
        reduction = _reduction(element)
        if reduction is None and ratio is None:
            reduction = actuators[0].add("mechanicalReduction")
        if reduction is not None:
            reduction.text = number_text(joint.gear_ratio)
            reduction.children = []
            return


def _transmission(name: str, ratio: str) -> Element:
    element = Element("transmission", {"name": f"{name}_transmission"})
    # The words of ros_control, which Gazebo's plugin reads.
    element.add("type", text="transmission_interface/SimpleTransmission")
    joint = element.add("joint", {"name": name})
    joint.add("hardwareInterface", text="hardware_interface/EffortJointInterface")
    actuator = element.add("actuator", {"name": f"{name}_motor"})
    actuator.add("mechanicalReduction", text=ratio)
    return element
