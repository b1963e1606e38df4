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

SENSOR_FIELDS = {
    kind: {name: camel(name) for name in names}
    for kind, names in {
        **SENSOR_LIMITS,
        VisionSensor: (
            *(
                "field_of_view",
                "front_clip_distance",
                "back_clip_distance",
                "frame_rate",
            ),
            *("type", "width", "height"),
        ),
        RangeSensor: ("scan_angle", "scan_step", "scan_rate", "max_distance"),
    }.items()
}
"""By the classes of sensors, for their attributes the fields of their nodes."""
DEVICE_FIELDS = {
    "id": "sensorId",
    "pose": "translation",
}  # For attributes of a device the fields of its node.
for _fields in SENSOR_FIELDS.values():
    DEVICE_FIELDS |= _fields
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
    """Return the name of a node: the one after DEF, else that in the field `name`."""
    value = node.name or node.fields.get("name")
    return value if isinstance(value, str) else ""


def label(node: Node) -> str:
    """Return the type and the name of a node: `Joint 'WAIST'`."""
    name = name_of(node)
    if name:
        return f"{node.type} {name!r}"
    return f"{with_article(node.type)} without a name"


def plain(value: object) -> object:
    """Return a field's value without nodes: a node by its DEF name, or its type."""
    if isinstance(value, Node):
        return value.name or value.type
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    return str(value)


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
    found.mark_unknown(*([unknown] if unknown else []))
    return default


def _shown(values: Iterable[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)


def _report_more_numbers(
    node: Node, name: str, count: int, found: ModelDiagnostics
) -> None:
    value = node.fields.get(name)
    # Possible where the type of the field is not declared.
    if isinstance(value, np.ndarray) and value.size > count:
        message = f"{name} of {label(node)} has {counted(value.size, 'number')}, expected {count}"
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
    value = node.get("jointAxis")
    if isinstance(value, str):
        location = node.location_of("jointAxis")
        letter = value.strip().upper()
        if letter not in AXES:
            message = f"jointAxis of {label(node)} is {value!r}, expected a vector"
            found.fault(rules.JOINT_AXIS.error(message, location), (*subject, "axis"))
            return frozen(default)
        if value not in AXES:
            message = (
                f"jointAxis of {label(node)} is {value!r}; it is read as {letter!r}"
            )
            found.report(rules.JOINT_AXIS, message, location)
        elif "jointAxis" in node.fields:
            found.report(
                rules.OLD_AXIS,
                f"jointAxis of {label(node)} is {value!r}, expected a vector",
                location,
            )
        return frozen(AXES[letter])
    x, y, z = vector = finite(node, "jointAxis", default, found, (*subject, "axis"))
    length = math.hypot(x, y, z)
    if length and abs(length - 1.0) > 1e-6:
        message = f"jointAxis of {label(node)} is {_shown(vector)}, expected a vector of length 1"
        location = node.location_of("jointAxis")
        data = {"length": length}
        found.report(
            AXIS_LENGTH, message, location, subject=(*subject, "axis"), data=data
        )
    # A vector that was divided by its length, and is of length 1 except for rounding,
    # is not divided again.
    return frozen(
        vector if not length or abs(length - 1.0) < 1e-15 else nodes.unit(x, y, z)
    )


def own_pose(node: Node, found: ModelDiagnostics, subject: Subject = ()) -> Floats:
    """Return the pose (7,) of a node in its parent, from its translation and rotation."""
    rotation_subject: Subject = (*subject, "rotation") if subject else ()
    x, y, z, angle = rotation = finite(
        node, "rotation", (0.0, 0.0, 1.0, 0.0), found, rotation_subject
    )
    if abs(angle) > MAX_ROTATION:
        turns = abs(angle) / FULL_TURN
        message = f"rotation of {label(node)} is {_shown(rotation)}, an angle of {turns:.3g} full turns"
        found.report(
            ROTATION_ANGLE,
            message,
            node.location_of("rotation"),
            subject=rotation_subject,
        )
    if angle != 0.0 and any((x, y, z)) and not 0.98 < x * x + y * y + z * z < 1.02:
        is_far = abs(math.hypot(x, y, z) - 1) > MAX_LENGTH_ERROR
        if is_far:
            hint = "are these three angles, or a quaternion? An axis and an angle belong here"
        else:
            hint = None
        message = f"rotation of {label(node)} is {_shown(rotation)}, expected an axis of length 1"
        location = node.location_of("rotation")
        found.report(QUATERNION, message, location, hint=hint, subject=rotation_subject)
    # The default where a number is not finite; a zero axis is refused.
    if rotation != (0.0, 0.0, 1.0, 0.0):
        quaternion = nodes.quaternion(*nodes.axis_angle(node))
    else:
        quaternion = (1.0, 0.0, 0.0, 0.0)
    unknown: Subject = (*subject, "offset") if subject else ()
    return frozen(
        (*finite(node, "translation", (0.0, 0.0, 0.0), found, unknown), *quaternion)
    )


# ---- Joint


def read_joint(node: Node, found: ModelDiagnostics, subject: Subject) -> Joint:
    """Return the joint of a Joint node.

    Raises FormatError when a field has a value of the wrong type.
    """
    extra = rest(node, JOINT_USED)
    kind = nodes.text(node, "jointType")
    if not kind and node.proto is not None and "jointType" not in node.proto.fields:
        message = f"PROTO {node.type} declares no jointType, as in an H-Anim figure; its joints are read as fixed"
        found.report(rules.HANIM_JOINT, message, node.proto.location)
        kind = "fixed"
    elif kind not in JOINT_TYPES:
        shown = (kind.splitlines() or [""])[0][:40]
        expected = f"expected one of {', '.join(JOINT_TYPES)}"
        message = f"jointType of {label(node)} is {shown!r}, {expected}"
        if not kind:
            message = f"{label(node)} has no jointType, {expected}"
        found.fault(
            rules.JOINT_TYPE.error(message, node.location_of("jointType")),
            (*subject, "type"),
        )
        kind = "rotate"
    joint_type = JOINT_TYPES[kind]
    if joint_type == kind:
        extra.pop("jointType", None)
    else:
        extra["jointType"] = kind
    number = _joint_id(node, found, subject)
    axis = _axis(node, (0.0, 0.0, 1.0), found, subject)
    stated = extra.pop("jointAxis", None)
    if (
        isinstance(stated, np.ndarray)
        and stated.shape == (3,)
        and not np.array_equal(stated, axis)
    ):
        extra["jointAxis"] = stated
    if not axis.any() and joint_type not in ("rotate", "slide"):
        axis = frozen([0.0, 0.0, 1.0])
    limits = {
        attribute: _limit(node, name, default, extra, found)
        for attribute, (name, default) in LIMITS.items()
    }
    _limit(node, "climit", math.inf, extra, found)
    _report_unused(node, extra, found)
    motor = {
        attribute: finite(
            node, name, (getattr(DEFAULT, attribute),), found, (*subject, attribute)
        )[0]
        for attribute, name in MOTOR_FIELDS.items()
    }
    return Joint(
        name=name_of(node),
        type=joint_type,
        id=number,
        axis=axis,
        extra=extra,
        **limits,
        **motor,
    )


def _joint_id(node: Node, found: ModelDiagnostics, subject: Subject) -> int:
    number = nodes.integer(node, "jointId", -1)
    _report_more_numbers(node, "jointId", 1, found)
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
    name: str,
    default: float,
    extra: dict[str, object],
    found: ModelDiagnostics,
) -> float:
    """Return the first number of a limit.

    An empty list means no limit.
    """
    values = nodes.numbers(node, name)
    if len(values) <= (name != "climit"):
        extra.pop(name, None)
    elif name == "climit":
        # `Joint` has no attribute for the limit of the current; the default of the prototype counts as well.
        extra[name] = values
    if not len(values):
        return default
    if len(values) > 1:
        message = (
            f"{name} of {label(node)} has {len(values)} numbers; the first is used"
        )
        found.report(rules.SEVERAL_LIMITS, message, node.location_of(name))
    if np.isnan(values[0]):
        return default
    return float(values[0])


def _report_unused(
    node: Node, extra: dict[str, object], found: ModelDiagnostics
) -> None:
    for name, default in (("center", (0.0, 0.0, 0.0)), ("scale", (1.0, 1.0, 1.0))):
        value = nodes.vector(node, name, default)
        if value != default:
            shown = " ".join(f"{number:g}" for number in value)
            found.report(
                rules.CENTER,
                f"{name} of {label(node)} is {shown}; it has no effect",
                node.location_of(name),
            )
    if nodes.number(node, "equivalentInertia", 0.0) != 0.0:
        extra["equivalentInertia"] = nodes.number(node, "equivalentInertia", 0.0)
        message = f"{label(node)} has an equivalentInertia, which has no effect"
        found.report(rules.OBSOLETE, message, node.location_of("equivalentInertia"))


# ---- Segment


def read_segment(
    node: Node, transform: Floats, found: ModelDiagnostics, subject: Subject
) -> Segment:
    """Return the segment of a Segment node at `transform` (4, 4) in its link, without its shapes.

    Raises FormatError when a field has a value of the wrong type.
    """
    if not is_rigid(transform):
        found.report(
            SCALED,
            f"{label(node)} is inside of a Transform with a scale",
            node.location,
        )
    return Segment(
        name=name_of(node),
        transform=transform,
        mass=finite(node, "mass", (0.0,), found, (*subject, "mass"))[0],
        center_of_mass=frozen(
            finite(
                node,
                "centerOfMass",
                (0.0, 0.0, 0.0),
                found,
                (*subject, "center_of_mass"),
            )
        ),
        inertia=_inertia(node, found, subject),
        extra=rest(node, SEGMENT_USED),
    )


def is_rigid(transform: Floats) -> bool:
    """Return whether a transform (4, 4) is a rotation and a translation, without scale or reflection."""
    return transform is IDENTITY or poses.is_rigid(transform)


def _inertia(node: Node, found: ModelDiagnostics, subject: Subject) -> Floats:
    numbers = nodes.numbers(node, "momentsOfInertia")
    if "momentsOfInertia" not in node.fields and not len(numbers):
        return frozen(np.zeros((3, 3)))
    location = node.location_of("momentsOfInertia")
    if len(numbers) != 9:
        message = f"momentsOfInertia of {label(node)} has {counted(len(numbers), 'number')}, expected 9"
        if len(numbers) < 9:
            found.fault(
                rules.INERTIA_SIZE.error(message, location), (*subject, "inertia")
            )
            return frozen(np.zeros((3, 3)))
        found.report(rules.INERTIA_SIZE, message, location)
    if np.isfinite(numbers[:9]).all():
        return frozen(numbers[:9].reshape(3, 3))
    message = f"momentsOfInertia of {label(node)} has numbers that are not finite"
    found.report(NOT_FINITE, message, location)
    found.mark_unknown((*subject, "inertia"))
    return frozen(np.zeros((3, 3)))


# ---- sensors


def is_sensor(node: Node) -> bool:
    """Return whether a node is a sensor.

    A known one, or any other with a sensorId, in its prototype or undeclared.
    """
    fields: Mapping[str, object] = (
        node.fields if node.proto is None else node.proto.fields
    )
    return node.type in CLASSES or node.type in OTHER_SENSORS or "sensorId" in fields


def sensor_key(node: Node) -> tuple[str, int]:
    """Return the kind that the ids of a sensor count, under the name that the document has for it, and its id.

    −1 for none to be read.
    """
    if node.type in CLASSES:
        kind = CLASSES[node.type].__name__
    else:
        kind = node.type
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
    if not is_rigid(transform):
        found.report(
            SCALED,
            f"{label(node)} is inside of a Transform with a scale",
            node.location,
        )
    pose = own_pose(node, found)
    _report_more_numbers(node, "sensorId", 1, found)
    common: dict[str, Any] = {
        "name": name_of(node),
        "id": nodes.integer(node, "sensorId", -1),
        "link": link,
    }
    if transform is IDENTITY:
        whole = transform
    else:
        whole = transform @ poses.to_matrix(pose)
    if not np.isfinite(whole).all():
        found.report(
            NOT_FINITE,
            f"the pose of {label(node)} in its link is not finite",
            node.location,
        )
        found.mark_unknown((*subject, "pose"))
    elif whole is not IDENTITY:
        pose = poses.from_matrix(poses.nearest_rigid(whole))
    common["pose"] = pose
    kind = CLASSES.get(node.type)
    if kind is None:
        if node.type not in OTHER_SENSORS:
            message = f"{label(node)} is of a type that the document does not have; its fields are kept"
            found.report(rules.NOT_IN_DOCUMENT, message, node.location)
        declared = {} if node.proto is None else node.proto.fields
        fields = {
            name: plain(item.value)
            for name, item in declared.items()
            if item.access in ("field", "exposedField") and name not in POSE_FIELDS
        }
        return OtherDevice(
            **common, type=node.type, extra=fields | rest(node, POSE_FIELDS)
        )
    default = kind()
    values: dict[str, Any] = {}
    for attribute, name in SENSOR_FIELDS.get(kind, {}).items():
        before = getattr(default, attribute)
        if isinstance(before, (str, int)):
            values[attribute] = (
                nodes.text(node, name, before)
                if isinstance(before, str)
                else nodes.integer(node, name, before)
            )
        else:
            numbers = finite(
                node,
                name,
                tuple(np.ravel(before).tolist()),
                found,
                (*subject, attribute),
            )
            values[attribute] = frozen(numbers) if len(numbers) > 1 else numbers[0]
    device = kind(
        **common,
        **values,
        extra=rest(node, POSE_FIELDS | set(SENSOR_FIELDS.get(kind, {}).values())),
    )
    if isinstance(device, VisionSensor):
        _check_camera(device, node, found, subject)
    return device


def _check_camera(
    device: VisionSensor, node: Node, found: ModelDiagnostics, subject: Subject
) -> None:
    if device.type not in ("COLOR", "DEPTH", "COLOR_DEPTH", "NONE"):
        message = f"type of {label(node)} is {device.type!r}, expected COLOR, DEPTH, COLOR_DEPTH or NONE"
        found.report(rules.VISION_TYPE, message, node.location_of("type"))
    if not 0 < device.field_of_view < np.pi:
        message = f"fieldOfView of {label(node)} is {device.field_of_view:g} rad, expected a number between 0 and 3.14"
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
    ends = []
    for name in ("link1Name", "link2Name"):
        wanted = nodes.text(node, name)
        if wanted not in links:
            message = (
                f"{name} of {label(node)} is {wanted!r}, and no Joint has this name"
            )
            found.fault(LOOP_LINK.error(message, node.location_of(name)), subject)
        ends.append(links.get(wanted, 0))
    kind = nodes.text(node, "jointType", "xyz")
    known = next((known for known in EXTRA_JOINT_TYPES if known == kind), None)
    if known is None:
        message = f"jointType of {label(node)} is {kind!r}, expected one of {', '.join(EXTRA_JOINT_TYPES)}"
        found.fault(
            rules.EXTRA_TYPE.error(message, node.location_of("jointType")),
            (*subject, "type"),
        )
        known = "xyz"
    axis = _axis(node, (1.0, 0.0, 0.0), found, subject)
    if not axis.any() and known in ("xyz", "ball"):
        axis = frozen([1.0, 0.0, 0.0])
    positions = [
        finite(node, name, (0.0, 0.0, 0.0), found, (*subject, "positions"))
        for name in ("link1LocalPos", "link2LocalPos")
    ]
    return ExtraJoint(
        name=name_of(node),
        type=known,
        links=(ends[0], ends[1]),
        positions=np.stack(positions),
        axis=axis,
        extra=rest(node, EXTRA_JOINT_USED),
    )


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
        self.walker.walk(nodes, NodeFrame(), self.visit)
        if self.open_links:
            self._add_beside_root()
        self._read_sensors()
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
            self.found.mark_unknown(
                *((*self.link.subject, name) for name in (*SEGMENT_FIELDS, "shapes"))
            )
        lost = [
            label(inside)
            for inside in visits([node])
            if inside.type in ("Joint", "Segment")
        ]
        if lost:
            message = f"the node type {node.type[:80]} is not declared: {listed(lost)} in it are left out"
            self.found.fault(UNKNOWN_NODE.error(message, node.location), *ALL)

    def _enter_joint(self, node: Node, frame: NodeFrame) -> None:
        index = len(self.open_links)
        subject: Subject = ("links", index)
        if self.segment is not None:
            self.found.fault(
                rules.JOINT_IN_SEGMENT.error(
                    f"{label(node)} is inside of a Segment", node.location
                )
            )
        if not _is_identity(frame.transform):
            error = rules.JOINT_MOVED.error(
                f"{label(node)} is inside of a Transform", node.location
            )
            self.found.fault(error, (*subject, "offset"), (*subject, "rotation"))
        parent = self.link
        if parent is None and self.open_links:
            message = f"{label(node)} is a second root Joint: left out"
            hint = "put it into the children of the first"
            self.found.report(UNCONNECTED, message, node.location, hint=hint)
            self.found.mark_unknown(*ALL)
            # Its faults are reported; the body is whole without it.
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
        joint = attempt(
            lambda node: read_joint(node, self.found, subject),
            node,
            self.found,
            subject,
            JOINT_FIELDS,
        )
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
        around = (self.link, self.segment, self.walker.unknown)
        self.link = link
        self.segment = None
        self.walker.unknown = (*subject, "shapes")
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

        self.walker.enter(children, NodeFrame(), leave)

    def _enter_segment(self, node: Node, frame: NodeFrame) -> None:
        if self.segment is not None:
            self.found.fault(
                rules.SEGMENT_IN_SEGMENT.error(
                    f"{label(node)} is inside of a Segment", node.location
                )
            )
        link = self.link
        if link is None:
            self.beside_root.append((node, frame))
            return
        self.segment_nodes.append(node)
        if _is_identity(frame.transform):
            transform = IDENTITY
        else:
            transform = frame.transform
        around = self.segment
        self.segment = transform
        outer, self.walker.drawn = self.walker.drawn, []

        def leave() -> None:
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
            NodeFrame(IDENTITY, frame.visual, frame.collision),
            leave,
        )

    def _enter_sensor(self, node: Node, frame: NodeFrame) -> None:
        if self.link is None:
            self.beside_root.append((node, frame))
            return
        if _is_identity(frame.transform):
            transform = IDENTITY
        else:
            transform = frame.transform
        if self.segment is not None and self.segment is not IDENTITY:
            transform = self.segment @ transform
        self.sensors.append((node, self.link.bare.index, transform))
        inside = self._children(node)
        if inside:
            own = poses.to_matrix(own_pose(node, ModelDiagnostics()))
            self.walker.enter(inside, replace(frame, transform=frame.transform @ own))

    def _children(self, node: Node) -> list[Node]:
        found = attempt(nodes.children, node, self.found)
        if found is None:
            self.found.mark_unknown(*ALL)
        return found or []

    def _read_sensors(self) -> None:
        """Read the sensors; those of one kind are in the order of their ids."""
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
            refused = RefusedValues(Text(""))
        for link in self.open_links:
            self._mark_fields(link.subject, JOINT_FIELDS, link.node, refused)
            joint_is_whole = refused.is_whole(link.node)
            if not (link.bare.name or joint_is_whole):
                self.found.mark_unknown((*link.subject, "name"))
            for attribute, name in SEGMENT_FIELDS.items():
                is_given = any(name in segment.fields for segment in link.nodes)
                is_cut = any(
                    not refused.has_all(segment, name) for segment in link.nodes
                )
                # A Segment may be among what is missing in the Joint.
                if is_cut or not (joint_is_whole or is_given):
                    self.found.mark_unknown((*link.subject, attribute))
            segments_are_whole = all(map(refused.is_whole, link.nodes))
            if not (segments_are_whole and (joint_is_whole or link.nodes)):
                self.found.mark_unknown((*link.subject, "shapes"))
        for number, node in enumerate(self.device_nodes):
            self._mark_fields(("devices", number), DEVICE_FIELDS, node, refused)

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
    return transform is IDENTITY or bool(np.abs(transform - IDENTITY).max() <= 1e-12)
