"""The element <bodymotion>: values of a body that URDF has no element for.

Other programs ignore it. It holds what a simulation, or a motion whose columns are
found by joint ids, needs of the body::

    <bodymotion version="2" root_pose="0 0 0.7 1 0 0 0">
      <joint link="ARM" id="3" rotor_inertia="0.0001" torque_const="0.02"/>
      <extra_joint link1="A" link2="B" type="ball" positions="0 0 0.1 0 0 0"/>
    </bodymotion>

A joint is named by its child link; that of the root has a type, too. A field that has
its default is not written, but if one joint has an id, joints without one have none.

A Gazebo sensor has its own element, because Gazebo has no ids, no limits, and no IMU
that is only a gyro. If there is one, the sensor is read as the devices that it names::

    <sensor type="imu"><bodymotion kind="Gyro" id="1"/></sensor>
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, get_args

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.losses import LossReport, changed_fields
from bodymotion.formats.xml.tree import Element, number_text, numbers_in
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import ExtraJoint, ExtraJointType
from bodymotion.model.links import JointType

VERSION = "2"
MAX_ID = 9999
JOINT_FIELDS = (
    "id",
    "gear_efficiency",
    "rotor_inertia",
    "rotor_resistor",
    "torque_const",
    "encoder_pulse",
)
# Those of the root's joint, which has no element: "fixed" or "free".
ROOT_FIELDS = ("type", *JOINT_FIELDS)
EXTRA_JOINT_FIELDS = ("name", "type", "positions", "axis")
SENSOR_FIELDS = (
    "id",
    "max_acceleration",
    "max_angular_velocity",
    "max_force",
    "max_torque",
)

# Kept fields that other programs would need: they are a loss all the same.
NEEDED_FIELDS = ("joint rotor_inertia",)

T = TypeVar("T")


@dataclass
class Extension:
    """The content of <bodymotion>; `joints` by the names of their child links."""

    root_pose: Floats | None = None
    joints: dict[str, Element] = field(default_factory=dict)
    extra_joints: list[Element] = field(default_factory=list)

    @property
    def has_ids(self) -> bool:
        """Whether a joint has an id: then joints without one have none."""
        return any("id" in entry.attributes for entry in self.joints.values())


def read_extension(robot: Element) -> Extension:
    """Read the <bodymotion> elements of a robot.

    As far as they can be used.
    """
    extension = Extension()
    for root in robot.all("bodymotion"):
        version = root.get("version")
        # Fields of another version may mean something else. The rest of the URDF is
        # read.
        if version != VERSION:
            message = f"its version is {version!r:.40}, not {VERSION}"
            root.report(rules.EXTENSION, message)
            continue
        if "root_pose" in root.attributes:
            extension.root_pose = _read_pose(root)
        for entry in root.children:
            if entry.name == "joint":
                extension.joints[entry.get("link")] = entry
            elif entry.name == "extra_joint":
                extension.extra_joints.append(entry)
            else:
                message = f"<{entry.name:.60}> is not an element of <bodymotion>"
                entry.report(rules.EXTENSION, message)
    return extension


def _read_pose(root: Element) -> Floats | None:
    """Return the root pose (7,), None where it cannot be used."""
    try:
        pose = frozen(numbers_in(root.get("root_pose"), "root_pose", 7))
    except ValueError as error:
        root.report(rules.EXTENSION, str(error))
        return None
    # A quaternion of zeros is no rotation.
    if np.isfinite(pose).all() and pose[3:].any():
        return pose
    root.report(rules.EXTENSION, "root_pose has no rotation, or is not finite")
    return None


def read_fields(entry: Element, base: T, names: Collection[str]) -> T:
    """Return a dataclass with the fields that an element has as attributes."""
    values: dict[str, Any] = {}
    for name, text in entry.attributes.items():
        if name not in names or not hasattr(base, name):
            continue
        try:
            # The value in `base` says what type and shape the text must have.
            values[name] = _parse(text.strip(), getattr(base, name), name)
        except ValueError as error:
            entry.report(rules.EXTENSION, str(error))
    return replace(base, **values)  # type: ignore[type-var]


def report_others(entry: Element, names: Collection[str]) -> None:
    """Report attributes of an element that have no meaning."""
    for name in entry.attributes:
        if name not in names:
            message = f"<{entry.name}> has {name!r:.60}, which is no field of it"
            entry.report(rules.EXTENSION, message)


def _parse(text: str, default: object, name: str) -> object:
    """Return the value of a field from its text, or raise ValueError.

    It has the type and shape of `default`.
    """
    if isinstance(default, str):
        # Both kinds of joints have a field `type`; the default says which words it
        # allows.
        for types in (get_args(JointType), get_args(ExtraJointType)):
            if name == "type" and default in types and text not in types:
                expected = ", ".join(types)
                raise ValueError(f"type is {text!r:.40}; expected one of {expected}")
        return text
    if isinstance(default, np.ndarray):
        # Limits of sensors may be infinite, positions and axes may not.
        array = np.reshape(numbers_in(text, name, default.size), default.shape)
        if name in ("positions", "axis") and not np.isfinite(array).all():
            raise ValueError(f"{name} is {text!r:.60}; expected finite numbers")
        return frozen(array)
    (number,) = numbers_in(text, name, 1)
    if not isinstance(default, int):
        return number
    if not number.is_integer() or not -1 <= number <= MAX_ID:
        message = f"{name} {text!r:.40} is not a whole number from -1 to {MAX_ID}"
        raise ValueError(message)
    return int(number)


def read_extra_joint(entry: Element, indices: dict[str, int]) -> ExtraJoint | None:
    """Return an extra joint; None where one of its ends is no link.

    `indices` are those of the links by their names.
    """
    ends = [entry.get("link1"), entry.get("link2")]
    if not indices.keys() >= set(ends):
        message = f"{' or '.join(ends)!r:.100} is not a link"
        entry.report(rules.EXTENSION, message)
        return None
    first, second = (indices[end] for end in ends)
    report_others(entry, ("link1", "link2", *EXTRA_JOINT_FIELDS))
    return read_fields(entry, ExtraJoint(links=(first, second)), EXTRA_JOINT_FIELDS)


class ExtensionWriter:
    """Writes <bodymotion>, and reports what only this element holds.

    With `on` False nothing is written, and everything is reported as left out.
    """

    def __init__(self, on: bool, lost: LossReport) -> None:
        self.on = on
        self.lost = lost
        self.element = Element("bodymotion", {"version": VERSION})

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        has_content = self.element.children or "root_pose" in self.element.attributes
        return not (self.on and has_content)

    def note(self, field: str, name: str) -> None:
        """Report that only <bodymotion> holds a field of the object called `name`."""
        # Without the extension the field is lost, with it only other programs lose it.
        if not self.on:
            kind = f"left out: {field}"
            rule = losses.NO_TARGET_FIELD.as_note
        else:
            kind = f"kept in <bodymotion>: {field}"
            rule = rules.KEPT
        if field in NEEDED_FIELDS:
            rule = losses.NO_TARGET_FIELD
        self.lost.add(rule, kind, name)

    def put_root_pose(self, pose: Floats, name: str) -> None:
        """Keep the pose (7,) of the root of the body called `name`."""
        self.element.attributes["root_pose"] = number_text(pose)
        self.note("the pose of the root", name)

    def put_joint(self, link: str, fields_of_joint: dict[str, str], name: str) -> None:
        """Keep fields of a joint called `name`, which holds a link."""
        for field_name in fields_of_joint:
            if field_name != "id":
                self.note(f"joint {field_name}", name)
        if fields_of_joint:
            self.element.add("joint", {"link": link, **fields_of_joint})

    def put_extra_joint(self, joint: ExtraJoint, ends: Sequence[str]) -> None:
        """Keep an extra joint between links called `ends`."""
        values = changed_texts(joint, ExtraJoint(), EXTRA_JOINT_FIELDS)
        links = {"link1": ends[0], "link2": ends[1]}
        self.element.add("extra_joint", {**links, **values})
        # What only MJCF has is reported elsewhere.
        if not joint.extra.keys() <= {"mjcf"}:
            self.lost.leave_out("extra of extra joints", joint.name)


def changed_texts(value: object, base: object, names: Iterable[str]) -> dict[str, str]:
    """Return, as attributes, those of the fields that differ from `base`.

    A field with NaN, which no attribute holds, is left out.
    """
    # All fields but `names` are skipped in the comparison.
    all_names = {each.name for each in fields(value)}  # type: ignore[arg-type]
    texts: dict[str, str] = {}
    for name in changed_fields(value, base, all_names.difference(names)):
        content = getattr(value, name)
        if isinstance(content, str):
            texts[name] = content
        elif not np.isnan(content).any():
            texts[name] = number_text(content)
    return texts
