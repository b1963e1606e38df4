"""The links of a file, one by one.

Pose, joint, mass and elements of each, before they are joined to a tree; and extra
joints.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, get_args

import numpy as np

from bodymotion.diagnostics import Location, Locator, Severity, Subject
from bodymotion.diagnostics.spelling import camel
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.fields import Fields
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.vrml.shapes import by_purpose
from bodymotion.formats.yaml.fields import reads
from bodymotion.formats.yaml.rules import WRONG_VALUE
from bodymotion.formats.yaml.tree import Mapping, Node, Scalar, Sequence
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import ExtraJoint, ExtraJointType
from bodymotion.model.links import MOTOR_NUMBERS, Device, Joint, JointType, Segment
from bodymotion.model.rules import (
    AXIS_LENGTH,
    ID_RANGE,
    LOOP_LINK,
    NEGATIVE_LIMIT,
    ZERO_AXIS,
)

if TYPE_CHECKING:
    from bodymotion.formats.choreonoid_body.elements import ElementReader, LinkParts

# Version 2.0 has snake_case, version 1.0 camelCase; one old spelling has hyphens.
JOINT_TYPES: dict[str, JointType] = {
    "fixed": "fixed",
    "free": "free",
    "revolute": "rotate",
    "rotate": "rotate",
    "prismatic": "slide",
    "slide": "slide",
    "pseudo_continuous_track": "crawler",
    "pseudoContinuousTrack": "crawler",
    "pseudo-continuous-track": "crawler",
    "crawler": "crawler",
}
"""The types of the manual, and the names that OpenHRP has for them."""
SURFACE_MODES = ("jointSurfaceVelocity", "joint_surface_velocity")
EXTRA_JOINT_TYPES: dict[str, ExtraJointType] = {
    kind: kind for kind in sorted(get_args(ExtraJointType))
}
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
MAX_ID = 9999
MAX_TRACK_LINKS = 2_000

JOINT_KEYS = (
    *(
        "joint_type",
        "joint_id",
        "joint_name",
        "joint_axis",
        "joint_range",
        "joint_angle",
        "joint_displacement",
    ),
    *(
        "joint_velocity_range",
        "max_joint_velocity",
        "joint_effort_range",
        "max_joint_effort",
        "joint_axis_inertia",
    ),
    *MOTOR_NUMBERS,
)
MASS_KEYS = ("mass", "center_of_mass", "inertia")
LINK_KEYS = (
    "type",
    "name",
    "parent",
    "translation",
    "rotation",
    "elements",
    "import",
    *JOINT_KEYS,
    *MASS_KEYS,
)
MAX_AXIS_ERROR = 1e-6
"""Difference of the length of an axis from 1 that is no rounding of a file."""
KEYS_OF_LINK: dict[str, tuple[str, ...]] = {
    **{part: (part,) for part in (*MOTOR_NUMBERS, *MASS_KEYS)},
    **dict.fromkeys(("lower", "upper"), ("joint_range",)),
    **dict.fromkeys(
        ("velocity_lower", "velocity_upper"),
        ("joint_velocity_range", "max_joint_velocity"),
    ),
    "name": ("joint_name", "name"),
    "type": ("joint_type",),
    "id": ("joint_id",),
    "axis": ("joint_axis",),
    "offset": ("translation",),
    "rotation": ("rotation",),
    "parent": ("parent",),
    "shapes": ("elements",),
}
"""By the attributes of a link and of its joint, the keys that hold them.

The first that is there counts.
"""
KEYS_OF_EXTRA_JOINT: dict[str, tuple[str, ...]] = {
    "name": ("name",),
    "type": ("joint_type",),
    "axis": ("joint_axis", "axis"),
    "links": ("link1_name", "link2_name"),
    "positions": ("link1_local_pos", "link2_local_pos"),
}
EXTRA_JOINT_KEYS = tuple(itertools.chain(*KEYS_OF_EXTRA_JOINT.values()))
IDENTITY = frozen(np.eye(3))
ZERO = frozen(np.zeros((3, 3)))


def locator(node: Mapping, keys: AnyMapping[str, tuple[str, ...]]) -> Locator:
    """Return a function that locates an object made of a mapping, and its attributes.

    `keys` by attribute. It holds no nodes.
    """
    # Copies: the locator lives as long as the body, the nodes must not.
    text = node.text
    start = node.offset
    offsets = dict(node.offsets)

    def locate(part: Subject) -> Location | None:
        if not part:
            return text.location(start)
        attribute = str(part[0])
        # Keys of either spelling, and older keys behind the newer ones.
        for name in keys.get(attribute, (attribute,)):
            for spelling in (name, camel(name)):
                if spelling in offsets:
                    return text.location(offsets[spelling])
        return None

    return locate


FoundDevice: TypeAlias = tuple[Device, Mapping, set[str]]
"""A device, its mapping, and its keys that could not be read."""


@dataclass
class RawLink:
    """A link that has no number yet.

    Attributes
    ----------
    parent:
        The link itself where it is known, else its name, "" for none.
    position, rotation:
        (3,) [m] and w x y z: the pose in the parent.
    node:
        The mapping of the link.
    unknown:
        Keys that could not be read.
    mass_unset:
        Whether the link has no mass: it then has 1 kg.
    """

    name: str
    parent: RawLink | str
    joint: Joint
    position: tuple[float, ...]
    rotation: tuple[float, ...]
    node: Mapping
    unknown: set[str] = field(default_factory=set)
    segments: tuple[Segment, ...] = ()
    devices: tuple[FoundDevice, ...] = ()
    mass_unset: bool = False

    @property
    def offset(self) -> Floats:
        """The pose (7,) in the parent."""
        return frozen(np.array([*self.position, *self.rotation]))

    @property
    def title(self) -> str:
        """What the link is called in messages."""
        if self.name:
            return f"link {self.name!r}"
        return "a link without a name"

    def add(self, parts: LinkParts, mass: Segment | None = None) -> None:
        """Add the shapes and mass of the link itself, its RigidBodies and devices."""
        # The shapes of the link itself are a segment of its own, with its mass.
        visuals, collisions = by_purpose(parts.drawn)
        if mass is not None or visuals or collisions:
            self.segments += (
                replace(mass or Segment(), visuals=visuals, collisions=collisions),
            )
        self.segments += tuple(parts.segments)
        self.devices += tuple(parts.devices)


def read_link(fields: Fields, elements: ElementReader) -> RawLink:
    """Return a link."""
    name = fields.text("name")
    # The joint comes first: messages about elements are about a known link.
    link = _without_parts(fields, _read_joint(fields, name), name)
    parts = elements.read(fields.find("elements"), fields.title)
    # Keys that the reader of files has handled already.
    fields.find("type", "import")
    if parts.is_faulty:
        fields.unknown.add("elements")
    _fill(link, fields, parts)
    # After all other keys: what is left may be misspelt.
    fields.report_misspelt(LINK_KEYS)
    link.joint = replace(link.joint, extra={**link.joint.extra, **fields.rest()})
    return link


def _without_parts(fields: Fields, joint: Joint, name: str) -> RawLink:
    position = fields.translation("translation") or (0.0, 0.0, 0.0)
    rotation = fields.rotation("rotation") or (1.0, 0.0, 0.0, 0.0)
    return RawLink(
        name,
        fields.text("parent"),
        joint,
        position,
        rotation,
        fields.node,
        fields.unknown,
    )


def _fill(link: RawLink, fields: Fields, parts: LinkParts) -> None:
    """Add segments and devices to a link.

    One without a mass of its own and without RigidBodies has 1 kg.
    """
    # Any of the three keys states a mass.
    has_mass = (
        fields.has("mass") or fields.has("inertia") or fields.has("center_of_mass")
    )
    link.mass_unset = not has_mass and not parts.segments
    # As the reference has it: 1 kg, with the identity as inertia.
    if link.mass_unset:
        unset = Segment(mass=1.0, inertia=IDENTITY)
    else:
        unset = None
    link.add(parts, read_mass(fields, IDENTITY) if has_mass else unset)


def change_link(fields: Fields, root: RawLink, elements: ElementReader) -> None:
    """Change the root link of a SubBody by the keys of the SubBody.

    Joint, pose, further elements; it keeps its name.
    """
    # The SubBody is attached where its own keys say.
    root.parent = fields.text("parent")
    root.joint = _read_joint(fields, root.name, root.joint)
    root.position = fields.translation("translation") or root.position
    root.rotation = fields.rotation("rotation") or root.rotation
    # Faults in the keys of the SubBody leave the link's attributes unknown.
    root.unknown = root.unknown | fields.unknown
    root.add(elements.read(fields.find("elements"), fields.title))
    fields.report_misspelt(
        (*LINK_KEYS, "uri", "prefix", "suffix", "device_prefix", "joint_id_offset")
    )
    root.joint = replace(
        root.joint, extra={**root.joint.extra, **fields.rest(("type", "name"))}
    )


def read_track(fields: Fields, elements: ElementReader) -> list[RawLink]:
    """Return the links of a ContinuousTrack.

    A chain of `num_joints` equal links NAME0, NAME1 and so on.

    The first is free, each other one rotates on the one before. `initial_joint_angles`
    are the joint displacements of all but the first.

    Raises FormatError when there are too many links.
    """
    name = fields.text("name")
    count = fields.integer("num_joints", default=1)
    if not 1 <= count <= MAX_TRACK_LINKS:
        message = (
            f"num_joints of {fields.title} is {count}; "
            f"1 to {MAX_TRACK_LINKS} links can be made"
        )
        raise TOO_LARGE.error(message, fields.location("num_joints"))
    # The first link hangs on the parent of the track.
    first = _without_parts(fields, Joint(name=f"{name}0", type="free"), f"{name}0")
    # A track turns about y unless the file says otherwise.
    axis = _read_axis(fields, "joint_axis")
    if axis is None or not axis.any():
        axis = frozen([0.0, 1.0, 0.0])
    offset = fields.vector("joint_offset", default=(0.0, 0.0, 0.0))
    angles = [
        angle * fields.context.angle_unit
        for angle in fields.numbers("initial_joint_angles") or ()
    ]
    # The elements are read once: all links share them.
    _fill(first, fields, elements.read(fields.find("elements"), fields.title))
    first.joint = replace(
        first.joint,
        axis=axis,
        extra={**fields.rest(("type",)), "isContinuousTrack": True},
    )
    track = [first]
    for number in range(1, count):
        # The first link is free and has no angle.
        if number <= len(angles):
            extra = {"joint_displacement": angles[number - 1]}
        else:
            extra = {}
        joint = Joint(name=f"{name}{number}", type="rotate", axis=axis, extra=extra)
        # Further links are copies in a chain, at `joint_offset` of the one before.
        link = replace(
            first, name=joint.name, parent=track[-1], joint=joint, position=offset
        )
        track.append(replace(link, rotation=(1.0, 0.0, 0.0, 0.0)))
    return track


def _read_joint(fields: Fields, name: str, base: Joint | None = None) -> Joint:
    """Return the joint of a link called `name`.

    What the link does not have is taken from `base`.

    Lengths are metres and angles radians in the joint, degrees in most files. `extra`
    holds what has no attribute of its own, under its name of version 2.0:
    `joint_displacement` (the initial one), `joint_effort_range` [N or Nm];
    `equivalentInertia` [kg m²] is joint_axis_inertia, the inertia of motor and gear at
    the joint.
    """
    default = base or Joint(name=name)
    joint_type = _read_type(fields, default.type)
    # Ranges of sliding joints are metres.
    unit = fields.context.angle_unit if joint_type == "rotate" else 1.0
    limits: dict[str, float] = {}
    position = _read_range(fields, "joint_range", unit=unit)
    if position is not None:
        limits["lower"], limits["upper"] = position
    # The second key is the older form of the first.
    velocity = _read_either_range(
        fields, "joint_velocity_range", "max_joint_velocity", unit
    )
    if velocity is not None:
        limits["velocity_lower"], limits["velocity_upper"] = velocity
    motor = {
        key: fields.number(key, default=getattr(default, key)) for key in MOTOR_NUMBERS
    }
    # The root link of a SubBody keeps its name.
    if base is not None:
        name = base.name
    return replace(
        default,
        name=fields.text("joint_name") or name,
        type=joint_type,
        id=_read_id(fields, default.id),
        axis=_read_joint_axis(fields, joint_type, default.axis),
        extra={**default.extra, **_read_extra(fields, unit)},
        **limits,
        **motor,
    )


def _read_type(fields: Fields, default: JointType) -> JointType:
    word = fields.text("joint_type")
    # An unknown type is recorded, and the default holds.
    if word and word not in JOINT_TYPES:
        message = (
            f"joint_type of {fields.title} is {word!r:.60}; "
            f"expected one of {', '.join(JOINT_TYPES)}"
        )
        fields.reject(rules.JOINT_TYPE, message, "joint_type")
    joint_type = JOINT_TYPES.get(word, default)
    # A surface velocity, with a fixed joint.
    if joint_type == "fixed" and fields.text("actuation_mode") in SURFACE_MODES:
        # Older files write a pseudo-continuous track so: the surface moves, the link
        # does not.
        return "crawler"
    return joint_type


def _read_extra(fields: Fields, unit: float) -> dict[str, object]:
    """Return what a joint has no attribute for.

    `unit` is that of its values.
    """
    extra: dict[str, object] = {}
    effort = _read_either_range(fields, "joint_effort_range", "max_joint_effort", 1.0)
    if effort is not None:
        extra["joint_effort_range"] = list(effort)
    # The displacement has SI units, its older form those of the file.
    old_displacement = fields.number("joint_angle", default=math.nan) * unit
    displacement = fields.number("joint_displacement", default=old_displacement)
    if not math.isnan(displacement):
        extra["joint_displacement"] = displacement
    inertia = fields.number("joint_axis_inertia", default=0.0)
    if inertia:
        extra["equivalentInertia"] = inertia
    return extra


def _read_either_range(
    fields: Fields, name: str, old_name: str, unit: float
) -> tuple[float, float] | None:
    """Return the range under a key, or its older form.

    Both are checked.
    """
    old_range = _read_range(fields, old_name, unit=unit)
    return _read_range(fields, name, unit=unit) or old_range


def _read_id(fields: Fields, default: int) -> int:
    number = fields.integer("joint_id", default=default)
    # Columns of motions go by the id: a huge one would make huge tables.
    if number > MAX_ID:
        fields.unknown.add("joint_id")
        message = f"joint_id of {fields.title} is {number}, above {MAX_ID}"
        fields.report(ID_RANGE, message, "joint_id")
        return -1
    return max(number, -1)


@reads(None)
def _read_range(
    fields: Fields, value: Node, name: str, unit: float
) -> tuple[float, float] | None:
    """Return lower and upper end.

    One number is that of both, the word unlimited none.
    """
    ends = value.items if isinstance(value, Sequence) else [value]
    if not 1 <= len(ends) <= 2:
        message = (
            f"{name} of {fields.title} has {counted(len(ends), 'number')}; expected 2"
        )
        raise WRONG_VALUE.error(message, value.location)
    numbers: list[float] = []
    # "unlimited" stands for the infinity of its end.
    for end, unlimited in zip(ends, (-math.inf, math.inf), strict=False):
        if isinstance(end, Scalar) and end.value.lower() == "unlimited":
            numbers.append(unlimited)
        else:
            numbers.append(fields.scalar_number(name, end) * unit)
    lower = numbers[0]
    upper = numbers[-1]
    # One number v means −|v| to |v|.
    if len(numbers) == 1:
        # A negative maximum: its size is meant.
        if lower < 0 and name.startswith("max_"):
            size = lower / unit
            message = f"{name} of {fields.title} is {size:g}, a negative number"
            fields.report(NEGATIVE_LIMIT, message, name)
        upper = abs(lower)
        lower = -upper
    if math.isnan(lower) or math.isnan(upper):
        fields.not_finite(name, lower, upper)
        return None
    return lower, upper


def _read_joint_axis(fields: Fields, joint_type: JointType, default: Floats) -> Floats:
    axis = _read_axis(fields, "joint_axis")
    if axis is None:
        return default
    # A zero axis of a fixed or free joint has no effect.
    if axis.any():
        return axis
    if joint_type in ("rotate", "slide", "crawler"):
        fields.unknown.add("joint_axis")
        message = f"joint_axis of {fields.title} is 0 0 0: it is read as 0 0 1"
        fields.report(ZERO_AXIS, message, "joint_axis")
    return frozen([0.0, 0.0, 1.0])


@reads(None)
def _read_axis(fields: Fields, value: Node, name: str) -> Floats:
    """Return an axis (3,) of length 1, or zero.

    A vector, or a letter with or without a sign. None where the key is missing.
    """
    if isinstance(value, Scalar):
        return _axis_of_letter(fields, value, name)
    vector = np.array(fields.vector("joint_axis", "axis", default=(0.0, 0.0, 1.0)))
    # By its largest component, as squares of a tiny axis are 0.
    largest = np.abs(vector).max()
    if largest == 0.0:
        return frozen(vector)
    # Scaled first: the squares of a huge vector would be infinite.
    scaled_length = float(np.linalg.norm(vector / largest))
    length = scaled_length * largest
    if abs(length - 1.0) > MAX_AXIS_ERROR:
        shown = " ".join(f"{number:.6g}" for number in vector)
        message = f"{name} of {fields.title} is {shown}, of length {length:.6g}"
        location = fields.location(name)
        data = {"length": length}
        fields.context.found.report(AXIS_LENGTH, message, location, data=data)
    # An axis of exactly length 1 keeps its digits.
    if length == 1.0:
        return frozen(vector)
    return frozen(vector / largest / scaled_length)


def _axis_of_letter(fields: Fields, value: Scalar, name: str) -> Floats:
    """Return the axis (3,) of a letter with or without a sign."""
    text = value.value.upper()
    letter = text.removeprefix("-").removeprefix("+")
    if letter not in AXES:
        message = (
            f"{name} of {fields.title} is {value.value!r:.60}; "
            "expected a vector, or X, Y, Z, -X, -Y or -Z"
        )
        raise rules.JOINT_AXIS.error(message, value.location)
    # "y" is read as "Y".
    if value.value != text:
        message = f"{name} of {fields.title} is {value.value!r}: read as {text!r}"
        fields.report(rules.JOINT_AXIS, message, name)
    sign = -1.0 if text.startswith("-") else 1.0
    # + 0.0 turns −0 into 0.
    return frozen(sign * np.array(AXES[letter]) + 0.0)


def read_mass(fields: Fields, default: Floats = ZERO) -> Segment:
    """Return mass [kg], center of mass (3,) [m] and inertia (3, 3) [kg m²] about it.

    They are those of a link itself or of a RigidBody in it. A link without an inertia
    has the `default` of the reference, the identity; a RigidBody has zero.
    """
    mass = fields.number("mass", default=0.0)
    center = frozen(fields.vector("center_of_mass", default=(0.0, 0.0, 0.0)))
    inertia = _read_inertia(fields)
    if inertia is None:
        inertia = default
    return Segment(mass=mass, center_of_mass=center, inertia=inertia)


def _read_inertia(fields: Fields) -> Floats | None:
    """Return the inertia (3, 3) of nine or six numbers."""
    numbers = fields.numbers("inertia")
    if numbers is None:
        return None
    # Six numbers are the upper triangle, row by row.
    if len(numbers) == 6:
        xx, xy, xz, yy, yz, zz = numbers
        numbers = [xx, xy, xz, xy, yy, yz, xz, yz, zz]
    if len(numbers) != 9:
        count = counted(len(numbers), "number")
        message = f"inertia of {fields.title} has {count}; expected 9 or 6"
        fields.reject(rules.INERTIA_SIZE, message, "inertia")
        # The default of the reference for a link without an inertia.
        return IDENTITY
    if not all(map(math.isfinite, numbers)):
        fields.not_finite("inertia", *numbers)
        return ZERO
    return frozen(np.array(numbers).reshape(3, 3))


@dataclass(frozen=True)
class RawExtraJoint:
    """An extra joint whose links are known by name only."""

    fields: Fields
    joint: ExtraJoint
    names: tuple[str, str]

    def renamed(self, prefix: str, suffix: str) -> RawExtraJoint:
        """Return the joint as part of a body that has it in a SubBody."""
        # Links of a SubBody get its prefix and suffix.
        first, second = self.names
        names = (f"{prefix}{first}{suffix}", f"{prefix}{second}{suffix}")
        return replace(self, names=names)

    def joined(
        self, links: AnyMapping[str, int], is_incomplete: bool = False
    ) -> ExtraJoint | None:
        """Return the joint between links with numbers.

        None where one of them is missing, which is recorded.

        In an incomplete model that may be no fault of the joint.
        """
        first, second = self.names
        for key, name in (("link1_name", first), ("link2_name", second)):
            if name in links:
                continue
            # A missing link may be in a SubBody that could not be read.
            message = (
                f"{key} of {self.fields.title} is {name!r:.60}, which is not a link: "
                "the joint is left out"
            )
            severity: Severity = "warning" if is_incomplete else "error"
            rule = replace(LOOP_LINK, leaves_out=True, severity=severity)
            location = self.fields.location(key)
            self.fields.context.found.report(rule, message, location)
            return None
        return replace(self.joint, links=(links[first], links[second]))


def read_extra_joint(fields: Fields) -> RawExtraJoint | None:
    """Return an extra joint, a constraint that closes a loop.

    None where it is of an unknown type, which is recorded.
    """
    kind = fields.text("joint_type", default="ball")
    if kind not in EXTRA_JOINT_TYPES:
        types = listed(EXTRA_JOINT_TYPES, 9)
        message = (
            f"joint_type of {fields.title} is {kind!r:.60}; expected one of {types}. "
            "The joint is left out"
        )
        fields.report(rules.EXTRA_TYPE, message, "joint_type")
        return None
    axis = _read_axis(fields, "joint_axis", "axis")
    if axis is None or not axis.any():
        # ball and xyz have no axis.
        if axis is not None and kind not in ("ball", "xyz"):
            fields.unknown.add("joint_axis")
            fields.report(
                ZERO_AXIS, f"joint_axis of {fields.title} is 0 0 0", "joint_axis"
            )
        # The defaults of OpenHRP's types and of Choreonoid's own.
        axis = frozen(
            [1.0, 0.0, 0.0] if kind in ("xyz", "xy", "z") else [0.0, 0.0, 1.0]
        )
    positions = [
        fields.vector(name, default=(0.0, 0.0, 0.0))
        for name in ("link1_local_pos", "link2_local_pos")
    ]
    names = (fields.text("link1_name"), fields.text("link2_name"))
    fields.report_misspelt(EXTRA_JOINT_KEYS, 0.8)
    title = fields.text("name")
    joint_type = EXTRA_JOINT_TYPES[kind]
    joint = ExtraJoint(
        name=title,
        type=joint_type,
        positions=np.array(positions),
        axis=axis,
        extra=fields.rest(),
    )
    return RawExtraJoint(fields, joint, names)
