"""The nodes of the OpenHRP document, each read into its part of a body.

Joint, Segment, the sensors, ExtraJoint; and the tree of links.

`TreeReader` walks from the nodes below a Humanoid to links, and knows which Joint and
which Segment it is in.

Each reader gets the subject of that part, such as ("links", 3). A fault is recorded,
the attribute that it leaves unknown is marked, and the attribute has its default.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, get_args

import numpy as np

from bodymotion.diagnostics import FormatError, Subject
from bodymotion.diagnostics.spelling import camel
from bodymotion.diagnostics.text import counted, listed, with_article
from bodymotion.formats.openhrp import rules
from bodymotion.formats.resources import ReferencedFiles
from bodymotion.formats.text import Text
from bodymotion.formats.vrml import nodes
from bodymotion.formats.vrml.nodes import (
    ModelDiagnostics,
    Node,
    RefusedValues,
    attempt,
    visits,
)
from bodymotion.formats.vrml.rules import UNKNOWN_NODE
from bodymotion.formats.vrml.shapes import IDENTITY, NodeFrame, SceneWalker, by_purpose
from bodymotion.formats.vrml.values import is_declared
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.rotations import FULL_TURN, MAX_ROTATION
from bodymotion.model.body import ExtraJoint, ExtraJointType
from bodymotion.model.links import (
    DEVICE_KINDS,
    MAX_LINKS,
    MOTOR_NUMBERS,
    SENSOR_LIMITS,
    Device,
    Gyro,
    Joint,
    JointType,
    Link,
    OtherDevice,
    RangeSensor,
    Segment,
    VisionSensor,
    in_order_of_ids,
)
from bodymotion.model.rules import (
    AXIS_LENGTH,
    CAMERA,
    ID_RANGE,
    LOOP_LINK,
    NOT_FINITE,
    QUATERNION,
    ROTATION_ANGLE,
    SCALED,
    UNCONNECTED,
)
from bodymotion.motion.rules import MAX_LENGTH_ERROR

MOTOR_FIELDS = {name: camel(name) for name in MOTOR_NUMBERS}
LIMITS = {
    "lower": ("llimit", -math.inf),
    "upper": ("ulimit", math.inf),
    "velocity_lower": ("lvlimit", -math.inf),
    "velocity_upper": ("uvlimit", math.inf),
}
"""For attributes of a joint the fields, and what holds without them."""
JOINT_FIELDS = {
    "type": "jointType",
    "id": "jointId",
    "axis": "jointAxis",
    **{attribute: name for attribute, (name, _) in LIMITS.items()},
    "climit": "climit",
    "offset": "translation",
    "rotation": "rotation",
    **MOTOR_FIELDS,
}
"""For attributes of a link and its joint the fields of the Joint node."""
SEGMENT_FIELDS = {
    "mass": "mass",
    "center_of_mass": "centerOfMass",
    "inertia": "momentsOfInertia",
}
"""For attributes of a link the fields of its Segment nodes."""

_SENSOR_ATTRIBUTES: dict[type[Device], tuple[str, ...]] = {
    **SENSOR_LIMITS,
    VisionSensor: (
        *("field_of_view", "front_clip_distance", "back_clip_distance", "frame_rate"),
        *("type", "width", "height"),
    ),
    RangeSensor: ("scan_angle", "scan_step", "scan_rate", "max_distance"),
}
SENSOR_FIELDS: dict[type[Device], dict[str, str]] = {}
"""By the classes of sensors, for their attributes the fields of their nodes."""
DEVICE_FIELDS = {"id": "sensorId", "pose": "translation"}
"""For attributes of a device the fields of its node."""
# The fields of the nodes have the names of the attributes, in camel case.
for _sensor, _attributes in _SENSOR_ATTRIBUTES.items():
    SENSOR_FIELDS[_sensor] = dict(
        zip(_attributes, map(camel, _attributes), strict=True)
    )
    DEVICE_FIELDS |= SENSOR_FIELDS[_sensor]
EXTRA_JOINT_FIELDS = {
    "links": "link1Name",
    "type": "jointType",
    "axis": "jointAxis",
    "positions": "link1LocalPos",
}
"""For attributes of an extra joint the fields of its node."""
HUMANOID_USED = {
    "humanoidBody",
    "info",
    "joints",
    "name",
    "segments",
    "version",
    "viewpoints",
}
"""Fields of a Humanoid that are read.

The others are kept in `extra`.
"""


# ---- fields
AXES = {
    "X": (1.0, 0.0, 0.0),
    "Y": (0.0, 1.0, 0.0),
    "Z": (0.0, 0.0, 1.0),
}  # The letters that old files write for axes.

JOINT_TYPES: dict[str, JointType] = {
    "rotate": "rotate",
    "slide": "slide",
    "free": "free",
    "fixed": "fixed",
    "crawler": "crawler",
    # Not in the document, but in files: other names of the same type.
    "pseudoContinuousTrack": "crawler",
    "agx_crawler": "crawler",
}
JOINT_USED = {"translation", "rotation", "children", "jointId", *MOTOR_FIELDS.values()}
"""Fields that are read into `Joint` and `Link` as they are.

The others are kept in `extra`, or where the file has several numbers.
"""
MAX_ID = 9999
DEFAULT = Joint()

SEGMENT_USED = {"mass", "centerOfMass", "momentsOfInertia", "children"}

POSE_FIELDS = {"translation", "rotation", "sensorId", "children"}
# The document's heading has the name GyroSensor for a Gyro.
CLASSES: dict[str, type[Device]] = {**DEVICE_KINDS, "GyroSensor": Gyro}
OTHER_SENSORS = (
    "PressureSensor",
    "PhotoInterrupter",
    "SpotLightDevice",
    "TorqueSensor",
)
"""Sensors that files have and the document does not."""

EXTRA_JOINT_TYPES: tuple[ExtraJointType, ...] = get_args(ExtraJointType)
EXTRA_JOINT_USED = {
    "link1Name",
    "link2Name",
    "link1LocalPos",
    "link2LocalPos",
    "jointType",
    "jointAxis",
}
ALL: tuple[Subject, ...] = (
    ("links", "all"),
    ("devices", "all"),
    ("extra_joints", "all"),
)
"""What is unknown where any part of a body may be missing in the value."""


def name_of(node: Node) -> str:
    """Return the name of a node.

    The one after DEF, else that in the field `name`.
    """
    # Files of other programs have the name in a field, and no DEF.
    value = node.name or node.fields.get("name")
    return value if isinstance(value, str) else ""


def label(node: Node) -> str:
    """Return the type and the name of a node: `Joint 'WAIST'`."""
    name = name_of(node)
    if name:
        return f"{node.type} {name!r}"
    return f"{with_article(node.type)} without a name"


def plain(value: object) -> object:
    """Return a field's value without nodes.

    A node is there by its DEF name, or its type.
    """
    # `extra` must hold no nodes: they keep the whole text of the file in memory.
    if isinstance(value, Node):
        return value.name or value.type
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    return str(value)


MAX_AXIS_ERROR = 1e-6
"""Difference of the length of an axis from 1 that is no rounding of a file."""
ROUNDED_LENGTH = 1e-15
"""Difference of the length of an axis from 1 that is rounding."""
MIN_SQUARE = 0.98
MAX_SQUARE = 1.02
"""Squares of the length of an axis: 1 % from 1, as files of two digits have it."""


def rest(node: Node, used: set[str]) -> dict[str, object]:
    """Return the fields that the file has for a node, except those in `used`."""
    return {
        name: plain(value) for name, value in node.fields.items() if name not in used
    }


def finite(
    node: Node,
    name: str,
    default: tuple[float, ...],
    found: ModelDiagnostics,
    unknown: Subject = (),
) -> tuple[float, ...]:
    """Return a field's numbers.

    Where one of them is not finite, report that, mark `unknown`, and return `default`.
    """
    values = nodes.vector(node, name, default)
    _report_more_numbers(node, name, len(default), found)
    if all(map(math.isfinite, values)):
        return values
    message = f"{name} of {label(node)} is {_shown(values)}, expected finite numbers"
    found.report(NOT_FINITE, message, node.location_of(name))
    if unknown:
        found.mark_unknown(unknown)
    # The caller's default takes the place of the whole value: a vector of which one
    # number is unknown is no vector.
    return default


def _shown(values: Iterable[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)


def _report_more_numbers(
    node: Node, name: str, count: int, found: ModelDiagnostics
) -> None:
    value = node.fields.get(name)
    # Possible where the type of the field is not declared.
    if isinstance(value, np.ndarray) and value.size > count:
        numbers = counted(value.size, "number")
        message = f"{name} of {label(node)} has {numbers}, expected {count}"
        found.report(rules.MORE_NUMBERS, message, node.location_of(name))


def _axis(
    node: Node,
    default: tuple[float, float, float],
    found: ModelDiagnostics,
    subject: Subject,
) -> Floats:
    """Return a jointAxis (3,) of length 1, or zero.

    A vector, or in old files the letter of an axis.
    """
    subject = (*subject, "axis")
    location = node.location_of("jointAxis")
    value = node.get("jointAxis")
    # A string is kept by the parser as it is: old files have "X", "Y" and "Z".
    if isinstance(value, str):
        letter = _axis_letter(node, value, found, subject)
        return frozen(AXES.get(letter, default))
    vector = finite(node, "jointAxis", default, found, subject)
    length = math.hypot(*vector)
    if length and abs(length - 1.0) > MAX_AXIS_ERROR:
        message = (
            f"jointAxis of {label(node)} is {_shown(vector)}, "
            "expected a vector of length 1"
        )
        data = {"length": length}
        found.report(AXIS_LENGTH, message, location, subject=subject, data=data)
    # A vector that was divided by its length, and is of length 1 except for rounding,
    # is not divided again.
    if length and abs(length - 1.0) >= ROUNDED_LENGTH:
        x, y, z = vector
        vector = nodes.unit(x, y, z)
    return frozen(vector)


def _axis_letter(
    node: Node, text: str, found: ModelDiagnostics, subject: Subject
) -> str:
    """Return the letter of an axis, and report it.

    "" where the text is none.
    """
    location = node.location_of("jointAxis")
    message = f"jointAxis of {label(node)} is {text!r}"
    letter = text.strip().upper()
    if letter not in AXES:
        message += ", expected a vector"
        found.fault(rules.JOINT_AXIS.error(message, location), subject)
        return ""
    # " y" and "y": not a letter of the format, but clear.
    if text not in AXES:
        message += f"; it is read as {letter!r}"
        found.report(rules.JOINT_AXIS, message, location)
    elif "jointAxis" in node.fields:
        # The default of an old prototype is a letter too: only one in the file is
        # reported.
        found.report(rules.OLD_AXIS, f"{message}, expected a vector", location)
    return letter


def own_pose(node: Node, found: ModelDiagnostics, subject: Subject = ()) -> Floats:
    """Return the pose (7,) of a node in its parent.

    It is given by its translation and rotation.
    """
    # A node without a subject, such as a Humanoid, has no attribute to mark.
    rotation_subject: Subject = (*subject, "rotation") if subject else ()
    translation_subject: Subject = (*subject, "offset") if subject else ()
    no_rotation = (0.0, 0.0, 1.0, 0.0)
    rotation = finite(node, "rotation", no_rotation, found, rotation_subject)
    _check_rotation(node, rotation, found, rotation_subject)
    # The default where a number is not finite; a zero axis is refused.
    quaternion = (1.0, 0.0, 0.0, 0.0)
    if rotation != no_rotation:
        quaternion = nodes.quaternion(*nodes.axis_angle(node))
    translation = finite(
        node, "translation", (0.0, 0.0, 0.0), found, translation_subject
    )
    return frozen((*translation, *quaternion))


def _check_rotation(
    node: Node, rotation: tuple[float, ...], found: ModelDiagnostics, subject: Subject
) -> None:
    """Report an angle or an axis that looks wrong."""
    location = node.location_of("rotation")
    title = f"rotation of {label(node)} is {_shown(rotation)}"
    *axis, angle = rotation
    # An angle of more than a full turn is probably in degrees.
    if abs(angle) > MAX_ROTATION:
        turns = abs(angle) / FULL_TURN
        message = f"{title}, an angle of {turns:.3g} full turns"
        found.report(ROTATION_ANGLE, message, location, subject=subject)
    length = math.hypot(*axis)
    square = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]
    if angle != 0.0 and any(axis) and not MIN_SQUARE < square < MAX_SQUARE:
        hint = None
        if abs(length - 1) > MAX_LENGTH_ERROR:
            hint = (
                "are these three angles, or a quaternion? "
                "An axis and an angle belong here"
            )
        message = f"{title}, expected an axis of length 1"
        found.report(QUATERNION, message, location, hint=hint, subject=subject)


# ---- Joint


def read_joint(node: Node, found: ModelDiagnostics, subject: Subject) -> Joint:
    """Return the joint of a Joint node.

    Raises FormatError when a field has a value of the wrong type.
    """
    # Fields that `Joint` has no attribute for are kept, so a writer can write them
    # again.
    extra = rest(node, JOINT_USED)
    type_in_file = _joint_type(node, found, subject)
    joint_type = JOINT_TYPES[type_in_file]
    extra.pop("jointType", None)
    # Names of programs for a type are kept: the file is written with its own.
    if joint_type != type_in_file:
        extra["jointType"] = type_in_file
    number = _joint_id(node, found, subject)
    axis = _axis(node, (0.0, 0.0, 1.0), found, subject)
    axis_in_file = extra.pop("jointAxis", None)
    # The axis of the file is kept where scaling it to length 1 has changed it.
    if (
        isinstance(axis_in_file, np.ndarray)
        and axis_in_file.shape == (3,)
        and not np.array_equal(axis_in_file, axis)
    ):
        extra["jointAxis"] = axis_in_file
    # Only rotate and slide need an axis: for others the default replaces 0 0 0.
    if not axis.any() and joint_type not in ("rotate", "slide"):
        axis = frozen([0.0, 0.0, 1.0])
    numbers: dict[str, float] = {}
    for attribute, (name, none) in LIMITS.items():
        numbers[attribute] = _limit(node, name, none, extra, found)
    # climit has no attribute: this call only checks and keeps it.
    _limit(node, "climit", math.inf, extra, found)
    _report_unused(node, extra, found)
    for attribute, name in MOTOR_FIELDS.items():
        default = (getattr(DEFAULT, attribute),)
        unknown = (*subject, attribute)
        (numbers[attribute],) = finite(node, name, default, found, unknown)
    return Joint(
        name=name_of(node),
        type=joint_type,
        id=number,
        axis=axis,
        extra=extra,
        **numbers,
    )


def _joint_type(node: Node, found: ModelDiagnostics, subject: Subject) -> str:
    """Return the type of a joint, as the file names it.

    A wrong one is reported.
    """
    kind = nodes.text(node, "jointType")
    if kind in JOINT_TYPES:
        return kind
    # H-Anim figures have Joints too, without the jointType of the document.
    proto = node.proto
    if not kind and proto is not None and "jointType" not in proto.fields:
        message = (
            f"PROTO {node.type} declares no jointType, as in an H-Anim figure; its "
            "joints are read as fixed"
        )
        found.report(rules.HANIM_JOINT, message, proto.location)
        return "fixed"
    expected = f"expected one of {', '.join(JOINT_TYPES)}"
    message = f"{label(node)} has no jointType, {expected}"
    if kind:
        # An SFString may have line ends: a message is one line.
        lines = kind.splitlines() or [""]
        message = f"jointType of {label(node)} is {lines[0][:40]!r}, {expected}"
    error = rules.JOINT_TYPE.error(message, node.location_of("jointType"))
    found.fault(error, (*subject, "type"))
    return "rotate"


def _joint_id(node: Node, found: ModelDiagnostics, subject: Subject) -> int:
    number = nodes.integer(node, "jointId", -1)
    _report_more_numbers(node, "jointId", 1, found)
    # The column of the joint in a motion; −1 for none.
    if -1 <= number <= MAX_ID:
        return number
    message = (
        f"jointId of {label(node)} is {number}, expected -1 or a number in 0…{MAX_ID}"
    )
    found.report(ID_RANGE, message, node.location_of("jointId"))
    found.mark_unknown((*subject, "id"))
    return -1


def _limit(
    node: Node,
    # The fields of limits are lists in the document (MFFloat), with one number each.
    name: str,
    default: float,
    extra: dict[str, object],
    found: ModelDiagnostics,
) -> float:
    """Return the first number of a limit.

    An empty list means no limit.
    """
    values = nodes.numbers(node, name)
    if name == "climit" and len(values):
        # `Joint` has no attribute for the limit of the current; the default of the
        # prototype counts as well.
        extra[name] = values
    elif len(values) <= 1:
        # A single number is in the attribute; a list is kept as the file has it.
        extra.pop(name, None)
    if not len(values):
        return default
    if len(values) > 1:
        message = (
            f"{name} of {label(node)} has {len(values)} numbers; the first is used"
        )
        found.report(rules.SEVERAL_LIMITS, message, node.location_of(name))
    # nan is no limit: every comparison with it would be false.
    if np.isnan(values[0]):
        return default
    return float(values[0])


def _report_unused(
    node: Node, extra: dict[str, object], found: ModelDiagnostics
) -> None:
    """Report fields of a Joint that have no effect."""
    # Transform's fields, which the document's prototype of a Joint also declares.
    for name, default in (("center", (0.0, 0.0, 0.0)), ("scale", (1.0, 1.0, 1.0))):
        value = nodes.vector(node, name, default)
        if value != default:
            shown = " ".join(f"{number:g}" for number in value)
            message = f"{name} of {label(node)} is {shown}; it has no effect"
            found.report(rules.CENTER, message, node.location_of(name))
    # Obsolete: in the document it is gearRatio² · rotorInertia.
    inertia = nodes.number(node, "equivalentInertia", 0.0)
    if inertia != 0.0:
        extra["equivalentInertia"] = inertia
        message = f"{label(node)} has an equivalentInertia, which has no effect"
        found.report(rules.OBSOLETE, message, node.location_of("equivalentInertia"))


# ---- Segment


def read_segment(
    node: Node, transform: Floats, found: ModelDiagnostics, subject: Subject
) -> Segment:
    """Return the segment of a Segment node, without its shapes.

    `transform` (4, 4) is its pose in its link.

    Raises FormatError when a field has a value of the wrong type.
    """
    _check_scale(node, transform, found)
    center_subject = (*subject, "center_of_mass")
    center = finite(node, "centerOfMass", (0.0, 0.0, 0.0), found, center_subject)
    return Segment(
        name=name_of(node),
        transform=transform,
        mass=finite(node, "mass", (0.0,), found, (*subject, "mass"))[0],
        center_of_mass=frozen(center),
        inertia=_inertia(node, found, subject),
        extra=rest(node, SEGMENT_USED),
    )


def _check_scale(node: Node, transform: Floats, found: ModelDiagnostics) -> None:
    # A mass and an inertia have no meaning in a frame that is stretched.
    if not is_rigid(transform):
        message = f"{label(node)} is inside of a Transform with a scale"
        found.report(SCALED, message, node.location)


def is_rigid(transform: Floats) -> bool:
    """Return whether a transform (4, 4) is a rotation and a translation."""
    return transform is IDENTITY or poses.is_rigid(transform)


def _inertia(node: Node, found: ModelDiagnostics, subject: Subject) -> Floats:
    """Return the inertia (3, 3) of a Segment about its centre of mass."""
    none = frozen(np.zeros((3, 3)))
    numbers = nodes.numbers(node, "momentsOfInertia")
    # A prototype may give a default: then `numbers` has it.
    if "momentsOfInertia" not in node.fields and not len(numbers):
        return none
    location = node.location_of("momentsOfInertia")
    title = f"momentsOfInertia of {label(node)}"
    if len(numbers) != 9:
        message = f"{title} has {counted(len(numbers), 'number')}, expected 9"
        # Fewer than nine are no matrix; of more, the first nine are one.
        if len(numbers) < 9:
            error = rules.INERTIA_SIZE.error(message, location)
            found.fault(error, (*subject, "inertia"))
            return none
        found.report(rules.INERTIA_SIZE, message, location)
    if np.isfinite(numbers[:9]).all():
        # Row by row; about the centre of mass, in the frame of the Segment.
        return frozen(numbers[:9].reshape(3, 3))
    message = f"{title} has numbers that are not finite"
    found.report(NOT_FINITE, message, location)
    found.mark_unknown((*subject, "inertia"))
    return none


# ---- sensors


def is_sensor(node: Node) -> bool:
    """Return whether a node is a sensor.

    A known one, or any other with a sensorId, in its prototype or undeclared.
    """
    # Files may declare sensors of their own by a PROTO with a sensorId.
    fields: Mapping[str, object] = (
        node.fields if node.proto is None else node.proto.fields
    )
    return node.type in CLASSES or node.type in OTHER_SENSORS or "sensorId" in fields


def sensor_key(node: Node) -> tuple[str, int]:
    """Return the kind that the ids of a sensor count, and its id.

    The kind has the name that the document has for it. −1 for no id.
    """
    # Old names of a sensor count with the new one: GyroSensor is Gyro.
    kind = node.type
    if kind in CLASSES:
        kind = CLASSES[kind].__name__
    # A faulty id is reported when the sensor is read; here only the order counts.
    try:
        return kind, nodes.integer(node, "sensorId", -1)
    except FormatError:
        return kind, -1


def read_sensor(
    node: Node, link: int, transform: Floats, found: ModelDiagnostics, subject: Subject
) -> Device:
    """Return the device of a sensor node at `transform` (4, 4) in link number `link`.

    Raises FormatError when a field has a value of the wrong type.
    """
    _check_scale(node, transform, found)
    pose = _sensor_pose(node, transform, found, subject)
    _report_more_numbers(node, "sensorId", 1, found)
    # Of all sensors, whatever their type.
    common: dict[str, Any] = {
        "name": name_of(node),
        "id": nodes.integer(node, "sensorId", -1),
        "link": link,
        "pose": pose,
    }
    sensor_class = CLASSES.get(node.type)
    if sensor_class is None:
        return _other_device(node, common, found)
    names = SENSOR_FIELDS.get(sensor_class, {})
    default = sensor_class()
    values: dict[str, Any] = {}
    for attribute, name in names.items():
        unknown = (*subject, attribute)
        value = getattr(default, attribute)
        values[attribute] = _sensor_value(node, name, value, found, unknown)
    extra = rest(node, POSE_FIELDS | set(names.values()))
    device = sensor_class(**common, **values, extra=extra)
    if isinstance(device, VisionSensor):
        _check_camera(device, node, found, subject)
    return device


def _sensor_pose(
    node: Node, transform: Floats, found: ModelDiagnostics, subject: Subject
) -> Floats:
    """Return the pose (7,) of a sensor in its link."""
    pose = own_pose(node, found)
    # The usual case needs no matrices, and no rounding.
    if transform is IDENTITY:
        return pose
    # transform (4, 4) of the Transforms and Segments around it · own pose in these.
    matrix = transform @ poses.to_matrix(pose)
    if np.isfinite(matrix).all():
        # Scaled Transforms leave no rotation: the nearest one counts.
        return poses.from_matrix(poses.nearest_rigid(matrix))
    message = f"the pose of {label(node)} in its link is not finite"
    found.report(NOT_FINITE, message, node.location)
    found.mark_unknown((*subject, "pose"))
    return pose


def _other_device(
    node: Node, common: dict[str, Any], found: ModelDiagnostics
) -> OtherDevice:
    """Return a sensor of a type that has no class, with all of its fields."""
    if node.type not in OTHER_SENSORS:
        message = (
            f"{label(node)} is of a type that the document does not have; "
            "its fields are kept"
        )
        found.report(rules.NOT_IN_DOCUMENT, message, node.location)
    # The defaults of the prototype first: readers without it still see all values.
    extra: dict[str, object] = {}
    if node.proto is not None:
        for name, declared in node.proto.fields.items():
            is_field = declared.access in ("field", "exposedField")
            if is_field and name not in POSE_FIELDS:
                extra[name] = plain(declared.value)
    extra |= rest(node, POSE_FIELDS)
    return OtherDevice(**common, type=node.type, extra=extra)


def _sensor_value(
    node: Node, name: str, default: object, found: ModelDiagnostics, unknown: Subject
) -> object:
    """Return a field in the type of its default."""
    if isinstance(default, str):
        return nodes.text(node, name, default)
    # A bool is an int too, but no sensor has a truth value.
    if isinstance(default, int):
        return nodes.integer(node, name, default)
    # Limits of sensors are vectors (3,) or single numbers.
    defaults = tuple(np.ravel(np.asarray(default)).tolist())
    numbers = finite(node, name, defaults, found, unknown)
    if len(numbers) == 1:
        return numbers[0]
    return frozen(numbers)


def _check_camera(
    device: VisionSensor, node: Node, found: ModelDiagnostics, subject: Subject
) -> None:
    """Report an image type or field of view that does not exist."""
    if device.type not in ("COLOR", "DEPTH", "COLOR_DEPTH", "NONE"):
        message = (
            f"type of {label(node)} is {device.type!r}, "
            "expected COLOR, DEPTH, COLOR_DEPTH or NONE"
        )
        found.report(rules.VISION_TYPE, message, node.location_of("type"))
    # The standard's limits of a view: at π and above, the picture has no finite size.
    if not 0 < device.field_of_view < np.pi:
        message = (
            f"fieldOfView of {label(node)} is {device.field_of_view:g} rad, "
            "expected a number between 0 and 3.14"
        )
        found.report(CAMERA, message, node.location_of("fieldOfView"), severity="error")
        found.mark_unknown((*subject, "field_of_view"))


# ---- ExtraJoint


def read_extra_joint(
    node: Node, links: Mapping[str, int], found: ModelDiagnostics, subject: Subject
) -> ExtraJoint:
    """Return the extra joint of a node.

    `links` has the index of each link by name.

    Raises FormatError when a field has a value of the wrong type.
    """
    first = _end_of_extra_joint(node, "link1Name", links, found, subject)
    second = _end_of_extra_joint(node, "link2Name", links, found, subject)
    # The document's default.
    text = nodes.text(node, "jointType", "xyz")
    kind: ExtraJointType = "xyz"
    if text in EXTRA_JOINT_TYPES:
        kind = text
    else:
        message = (
            f"jointType of {label(node)} is {text!r}, "
            f"expected one of {', '.join(EXTRA_JOINT_TYPES)}"
        )
        error = rules.EXTRA_TYPE.error(message, node.location_of("jointType"))
        found.fault(error, (*subject, "type"))
    axis = _axis(node, (1.0, 0.0, 0.0), found, subject)
    # xyz and ball have no axis: a zero one has no effect there.
    if not axis.any() and kind in ("xyz", "ball"):
        axis = frozen([1.0, 0.0, 0.0])
    origin = (0.0, 0.0, 0.0)
    unknown = (*subject, "positions")
    position1 = finite(node, "link1LocalPos", origin, found, unknown)
    # Positions (3,) of the joint in the frames of the two links.
    position2 = finite(node, "link2LocalPos", origin, found, unknown)
    return ExtraJoint(
        name=name_of(node),
        type=kind,
        links=(first, second),
        positions=np.stack([position1, position2]),
        axis=axis,
        extra=rest(node, EXTRA_JOINT_USED),
    )


def _end_of_extra_joint(
    node: Node,
    field: str,
    links: Mapping[str, int],
    found: ModelDiagnostics,
    subject: Subject,
) -> int:
    """Return the link that a field names, 0 for none, which is reported."""
    name = nodes.text(node, field)
    if name not in links:
        message = f"{field} of {label(node)} is {name!r}, and no Joint has this name"
        # Both ends unknown: the joint as a whole is, and link 0 stands in.
        found.fault(LOOP_LINK.error(message, node.location_of(field)), subject)
    return links.get(name, 0)


@dataclass
class OpenLink:
    """A link whose Joint the walk is in.

    Its node, and the link without its segments.
    """

    node: Node
    bare: Link
    segments: list[Segment] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    """The Segment nodes; a segment that was made of shapes outside of these has none.
    """

    @property
    def subject(self) -> Subject:
        """The subject of the link in the body."""
        return ("links", self.bare.index)


class TreeReader:
    """Reads the contents of a humanoidBody.

    Links, devices, and the nodes that they come from. With faults they are partial.
    """

    def __init__(self, parts: ReferencedFiles, found: ModelDiagnostics) -> None:
        self.found = found
        self.walker = SceneWalker(found, parts)
        self.open_links: list[OpenLink] = []
        self.segment_nodes: list[Node] = []
        """All Segment nodes that were visited."""
        self.devices: list[Device] = []
        self.device_nodes: list[Node] = []
        self.extra_joint_nodes: list[Node] = []
        self.link: OpenLink | None = None
        self.segment: Floats | None = None
        """The transform of the Segment that the walk is in."""
        self.sensors: list[tuple[Node, int, Floats]] = []
        """The sensors that were visited, with the links and their transforms in these.
        """
        self.beside_root: list[tuple[Node, NodeFrame]] = []
        """Segments and sensors beside the root Joint: fixed parts of the root link."""

    def read(self, nodes: list[Node]) -> Self:
        """Read the links and devices in some nodes."""
        # Children are visited in the order of the file, so links are numbered
        # depth-first.
        self.walker.walk(nodes, NodeFrame(), self.visit)
        if self.open_links:
            # What is beside the root Joint waits until this joint is known.
            self._add_beside_root()
        self._read_sensors()
        # Segments come in after their children; the links are complete only now.
        self.links = [
            replace(link.bare, segments=tuple(link.segments))
            for link in self.open_links
        ]
        self.joint_nodes = [link.node for link in self.open_links]
        self._mark_incomplete()
        return self

    def visit(self, node: Node, frame: NodeFrame) -> bool:
        """Read a node, if it is one of a model.

        Return whether it is.
        """
        match node.type:
            case "Joint":
                self._enter_joint(node, frame)
            case "Segment":
                self._enter_segment(node, frame)
            case "Surface" if "visual" in node.fields or "collision" in node.fields:
                # The last entered is visited first: visual shapes come before collision
                # shapes.
                self.walker.enter(
                    nodes.children(node, "collision"), replace(frame, visual=False)
                )
                self.walker.enter(
                    nodes.children(node, "visual"), replace(frame, collision=False)
                )
            case "ExtraJoint":
                self.extra_joint_nodes.append(node)
            case _ if is_sensor(node):
                self._enter_sensor(node, frame)
            # Groups, Transforms, Shapes: the walker goes into them, as in any scene.
            case _:
                if not is_declared(node):
                    self._leave_out(node)
                return False
        return True

    def _leave_out(self, node: Node) -> None:
        """Mark what is unknown because of a node of a type that is not declared.

        Report the links that are lost in it.
        """
        if self.link is not None:
            # A node of an unknown type may hold masses and shapes of this link.
            self.found.mark_unknown(
                *((*self.link.subject, name) for name in (*SEGMENT_FIELDS, "shapes"))
            )
        lost = [
            label(inside)
            for inside in visits([node])
            if inside.type in ("Joint", "Segment")
        ]
        if lost:
            message = (
                f"the node type {node.type[:80]} is not declared: {listed(lost)} in it "
                "are left out"
            )
            self.found.fault(UNKNOWN_NODE.error(message, node.location), *ALL)

    def _enter_joint(self, node: Node, frame: NodeFrame) -> None:
        """Read a Joint as a link, and continue with its children."""
        index = len(self.open_links)
        subject: Subject = ("links", index)
        # The document allows Joints in Joints only.
        if self.segment is not None:
            self.found.fault(
                rules.JOINT_IN_SEGMENT.error(
                    f"{label(node)} is inside of a Segment", node.location
                )
            )
        # Its pose is in its own fields: a Transform around it would be a second one.
        if not _is_identity(frame.transform):
            error = rules.JOINT_MOVED.error(
                f"{label(node)} is inside of a Transform", node.location
            )
            self.found.fault(error, (*subject, "offset"), (*subject, "rotation"))
        parent = self.link
        # Only one tree is a body.
        if parent is None and self.open_links:
            message = f"{label(node)} is a second root Joint: left out"
            hint = "put it into the children of the first"
            self.found.report(UNCONNECTED, message, node.location, hint=hint)
            self.found.mark_unknown(*ALL)
            # Its faults are reported; the body is whole without it.
            # Read it with diagnostics of its own, which mark nothing unknown in this
            # body.
            left_out = ModelDiagnostics(self.found.path, self.found.refused)
            TreeReader(self.walker.parts, left_out).read([node])
            self.found.extend(left_out.problems)
            return
        if index >= MAX_LINKS:
            self.found.fault(
                rules.TOO_MANY.error(
                    f"the body has more than {MAX_LINKS} Joints", node.location
                ),
                *ALL,
            )
            return
        # `attempt` reads again without a faulty field, so the others are still there.
        joint = attempt(
            lambda node: read_joint(node, self.found, subject),
            node,
            self.found,
            subject,
            JOINT_FIELDS,
        )
        # A Joint of which nothing can be read is still a link: the numbers of the
        # others stay.
        joint = joint or Joint(name=name_of(node))
        offset = attempt(
            lambda node: own_pose(node, self.found, subject),
            node,
            self.found,
            subject,
            JOINT_FIELDS,
        )
        offset = poses.IDENTITY if offset is None else offset
        if parent is None:
            above = -1
        else:
            above = parent.bare.index
        link = OpenLink(
            node,
            Link(
                name=joint.name, index=index, parent=above, joint=joint, offset=offset
            ),
        )
        children = self._children(node)
        self.open_links.append(link)
        # The state around the Joint is put back when the walk leaves it.
        around = (self.link, self.segment, self.walker.unknown)
        self.link = link
        self.segment = None
        self.walker.unknown = (*subject, "shapes")
        # Shapes from here on belong to this link.
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
            if self.walker.drawn:
                # Shapes of the Joint itself: a part of the link without mass and name.
                visuals, collisions = by_purpose(self.walker.drawn)
                link.segments.append(Segment(visuals=visuals, collisions=collisions))
            (self.link, self.segment, self.walker.unknown), self.walker.drawn = (
                around,
                outer,
            )

        # A Joint's frame is that of its link: transforms begin anew in it.
        self.walker.enter(children, NodeFrame(), leave)

    def _enter_segment(self, node: Node, frame: NodeFrame) -> None:
        """Read a Segment, and continue with its children."""
        if self.segment is not None:
            self.found.fault(
                rules.SEGMENT_IN_SEGMENT.error(
                    f"{label(node)} is inside of a Segment", node.location
                )
            )
        # Beside the root Joint: a part of the root link, whose number is not known yet.
        link = self.link
        if link is None:
            self.beside_root.append((node, frame))
            return
        self.segment_nodes.append(node)
        if _is_identity(frame.transform):
            transform = IDENTITY
        else:
            transform = frame.transform
        # As for a Joint: what is around the Segment returns in `leave`.
        around = self.segment
        self.segment = transform
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
            """Add the segment with its shapes, and leave it."""
            visuals, collisions = by_purpose(self.walker.drawn)
            self.segment, self.walker.drawn = around, outer
            read = partial(
                read_segment,
                transform=transform,
                found=self.found,
                subject=link.subject,
            )
            segment = attempt(read, node, self.found, link.subject, SEGMENT_FIELDS)
            if segment is not None:
                link.segments.append(
                    replace(segment, visuals=visuals, collisions=collisions)
                )
                link.nodes.append(node)

        self.walker.enter(
            self._children(node),
            # The shapes are in the Segment's frame; its transform is in the Segment
            # itself.
            NodeFrame(IDENTITY, frame.visual, frame.collision),
            leave,
        )

    def _enter_sensor(self, node: Node, frame: NodeFrame) -> None:
        """Note a sensor, and continue with the shapes in it."""
        if self.link is None:
            self.beside_root.append((node, frame))
            return
        if _is_identity(frame.transform):
            transform = IDENTITY
        else:
            transform = frame.transform
        # Both transforms lead into the link: first the Segment's, then that inside of
        # it.
        if self.segment is not None and self.segment is not IDENTITY:
            transform = self.segment @ transform
        self.sensors.append((node, self.link.bare.index, transform))
        # Sensors may have shapes, which are in the frame of the sensor.
        inside = self._children(node)
        if inside:
            # Its faults are reported when the sensor is read, so they are not collected
            # here.
            own = poses.to_matrix(own_pose(node, ModelDiagnostics()))
            self.walker.enter(inside, replace(frame, transform=frame.transform @ own))

    def _children(self, node: Node) -> list[Node]:
        found = attempt(nodes.children, node, self.found)
        if found is None:
            self.found.mark_unknown(*ALL)
        return found or []

    def _read_sensors(self) -> None:
        """Read the sensors.

        Those of one kind are in the order of their ids.
        """
        # Sensors of a kind are numbered by their ids, whatever their order in the tree.
        for place in in_order_of_ids([sensor_key(node) for node, _, _ in self.sensors]):
            node, link, transform = self.sensors[place]
            subject: Subject = ("devices", len(self.devices))
            read = partial(
                read_sensor,
                link=link,
                transform=transform,
                found=self.found,
                subject=subject,
            )
            device = attempt(read, node, self.found, subject, DEVICE_FIELDS)
            if device is None:
                self.found.mark_unknown(("devices", "all"))
                continue
            self.devices.append(device)
            self.device_nodes.append(node)

    def _add_beside_root(self) -> None:
        """Add what is beside the root Joint to the root link.

        Its frame is that of the body, in which the root Joint has its offset.
        """
        self.link = root = self.open_links[0]
        # The inverse of the root's offset: from the frame of the body into that of the
        # link.
        in_root = poses.to_matrix(poses.inverse(root.bare.offset))
        if self.walker.drawn:
            visuals, collisions = by_purpose(self.walker.drawn)
            root.segments.append(
                Segment(transform=in_root, visuals=visuals, collisions=collisions)
            )
            self.walker.drawn = []
        self.walker.unknown = (*root.subject, "shapes")
        for node, frame in self.beside_root:
            self.walker.walk(
                [node], replace(frame, transform=in_root @ frame.transform), self.visit
            )

    def _mark_incomplete(self) -> None:
        """Mark the attributes whose fields have no value that can be read."""
        refused = self.found.refused
        if refused is None:
            # No field was refused: an empty set makes all of them whole.
            refused = RefusedValues(Text(""))
        for link in self.open_links:
            self._mark_fields(link.subject, JOINT_FIELDS, link.node, refused)
            self._mark_segments(link, refused)
        for number, node in enumerate(self.device_nodes):
            self._mark_fields(("devices", number), DEVICE_FIELDS, node, refused)

    def _mark_segments(self, link: OpenLink, refused: RefusedValues) -> None:
        """Mark what is unknown of a link because of its Segments."""
        joint_is_whole = refused.is_whole(link.node)
        if not (link.bare.name or joint_is_whole):
            self.found.mark_unknown((*link.subject, "name"))
        # Mass, centre and inertia of a link are sums over its Segments.
        for attribute, name in SEGMENT_FIELDS.items():
            is_given = any(name in segment.fields for segment in link.nodes)
            is_whole = all(refused.has_all(segment, name) for segment in link.nodes)
            # A Segment may be among what is missing in the Joint.
            if not is_whole or not (joint_is_whole or is_given):
                self.found.mark_unknown((*link.subject, attribute))
        segments_are_whole = all(map(refused.is_whole, link.nodes))
        if not segments_are_whole or not (joint_is_whole or link.nodes):
            self.found.mark_unknown((*link.subject, "shapes"))

    def _mark_fields(
        self,
        subject: Subject,
        fields: dict[str, str],
        node: Node,
        refused: RefusedValues,
    ) -> None:
        for attribute, name in fields.items():
            if not refused.has_all(node, name):
                self.found.mark_unknown((*subject, attribute))


def _is_identity(transform: Floats) -> bool:
    """Return whether a transform is the identity except for rounding.

    Prototypes rotate their children there and back.
    """
    # Rounding of sine and cosine leaves some 1e-16 in each.
    return transform is IDENTITY or bool(np.abs(transform - IDENTITY).max() <= 1e-12)
