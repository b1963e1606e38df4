"""Devices: the sensors in <gazebo> elements, as defined by SDFormat."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import parse_rest, roll_pitch_yaw
from bodymotion.formats.urdf.extension import (
    SENSOR_FIELDS,
    ExtensionWriter,
    changed_texts,
    read_fields,
    report_others,
)
from bodymotion.formats.urdf.losses import changed_fields, unique_names
from bodymotion.formats.xml.tree import (
    Element,
    FieldTable,
    number_text,
    numbers_in,
    one_line,
    parse_xml,
    to_xml,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import (
    EFFECTS,
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    OtherDevice,
    RangeSensor,
    VisionSensor,
    angle_over,
)

if TYPE_CHECKING:
    from bodymotion.formats.urdf.tree import Node


_AXES = rotations.from_matrix(
    np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
)
# The pose, in the frame of a device, of that of the same sensor in Gazebo. Its x axis
# is the device's −z, its z axis the device's y.
DEVICE_TO_GAZEBO = poses.from_parts(np.zeros(3), _AXES)
GAZEBO_TO_DEVICE = poses.from_parts(np.zeros(3), rotations.conjugate(_AXES))

# By type of a sensor, the type of a VisionSensor.
CAMERAS = {
    "camera": "COLOR",
    "wideanglecamera": "COLOR",
    "depth": "DEPTH",
    "depth_camera": "DEPTH",
    "rgbd": "COLOR_DEPTH",
    "rgbd_camera": "COLOR_DEPTH",
}
# [rad] The horizontal_fov of a camera in Gazebo that has none.
FIELD_OF_VIEW = 1.047
LIDARS = ("ray", "gpu_ray", "lidar", "gpu_lidar")
MAX_RAYS = 10**6
# A larger number in a sensor is read as the default: it has no meaning.
MAX_NUMBER = 1e15


class Convention(NamedTuple):
    """A word of <force_torque>: the default of SDFormat, and that of a ForceSensor."""

    default: str
    ours: str


# A ForceSensor measures the force of the child on the parent in its own frame.
FORCE_CONVENTION = {
    "frame": Convention("child", "sensor"),
    "measure_direction": Convention("child_to_parent", "child_to_parent"),
}


class SensorField(NamedTuple):
    """Where a value is in a <sensor>, and the default of Gazebo."""

    path: tuple[str, ...]
    default: float


# By field of a VisionSensor.
CAMERA = {
    "width": SensorField(("camera", "image", "width"), VisionSensor.width),
    "height": SensorField(("camera", "image", "height"), VisionSensor.height),
    "front_clip_distance": SensorField(("camera", "clip", "near"), 0.1),
    "back_clip_distance": SensorField(("camera", "clip", "far"), 100.0),
}

# What gives the fields of a device in its <sensor>.
DEVICE_FIELDS: FieldTable = {
    "name": ("@name",),
    "type": ("@type",),
    "pose": ("pose",),
    "field_of_view": ("camera/horizontal_fov",),
    **{name: ("/".join(each.path),) for name, each in CAMERA.items()},
    **dict.fromkeys(("frame_rate", "scan_rate"), ("update_rate",)),
    **dict.fromkeys(
        ("scan_angle", "scan_step"), ("ray/scan/horizontal", "lidar/scan/horizontal")
    ),
    "max_distance": ("ray/range/max", "lidar/range/max"),
}


class LocatedDevice(NamedTuple):
    """A device, and the <sensor> that it was read from."""

    device: Device
    element: Element


@dataclass(frozen=True)
class LinkNames:
    """What a <gazebo> element may refer to.

    Attributes
    ----------
    links, joints:
        Indices of links by their names, and by those of the joints that hold them.
    left_out:
        The names of links that are no part of the robot.
    """

    links: Mapping[str, int]
    joints: Mapping[str, int]
    left_out: Collection[str]

    def find(self, reference: str) -> int:
        """Return the index of a link, −1 where it is none."""
        return self.links.get(reference, self.joints.get(reference, -1))


def link_names(
    nodes: Sequence[Node],
    links: Mapping[str, int],
    planar: Mapping[str, str],
    left_out: Collection[str],
) -> LinkNames:
    """Return what <gazebo> elements may refer to.

    `planar` are the child links of planar joints by the names of these.
    """
    joints: dict[str, int] = {}
    for index, node in enumerate(nodes):
        if node.joint is not None:
            joints[node.joint.get("name")] = index
    for joint, child in planar.items():
        joints.setdefault(joint, links.get(child, -1))
    return LinkNames(links, joints, left_out)


def read_devices(
    robot: Element, names: LinkNames, others: list[str]
) -> list[LocatedDevice]:
    """Return the devices in the order of the file.

    Ids count the devices of one kind, unless <bodymotion> in a sensor has another.
    <gazebo> elements with anything but sensors are added to `others` as XML, without
    the sensors.
    """
    devices: list[LocatedDevice] = []
    counts: Counter[str] = Counter()
    for block in robot.all("gazebo"):
        # <gazebo> without a reference is about the whole model; with one, about a link
        # or the joint that holds a link.
        reference = block.get("reference")
        link = names.find(reference)
        if reference and link < 0 and reference not in names.left_out:
            message = f"the reference {reference!r:.60} is neither a link nor a joint"
            block.report(rules.SENSOR_LINK, message)
        rest = [child for child in block.children if child.name != "sensor"]
        has_sensors = len(rest) < len(block.children)
        # Kept as XML, and written back as it is.
        if not has_sensors or link < 0:
            others.append(one_line(block))
            continue
        for sensor in block.all("sensor"):
            link_of_sensor = link
            if sensor.get("type") == "force_torque":
                # It belongs to a joint, also where a link has the joint's name.
                link_of_sensor = names.joints.get(reference, link)
            for device in read_sensor(sensor):
                number = counts[device.kind]
                counts[device.kind] += 1
                device = replace(device, link=link_of_sensor, id=number)
                devices.append(LocatedDevice(_with_entry(device, sensor), sensor))
        if rest:
            others.append(one_line(replace(block, children=rest)))
    return devices


def _with_entry(device: Device, sensor: Element) -> Device:
    """Return a device with the fields that <bodymotion> in its sensor has."""
    # Limits and ids have no element in SDFormat: our writer adds <bodymotion>.
    for entry in sensor.all("bodymotion"):
        if entry.get("kind") == device.kind:
            return read_fields(entry, device, SENSOR_FIELDS)
    return device


def read_sensor(element: Element) -> list[Device]:
    """Return the devices of a <sensor>.

    An `imu` is an accelerometer and a gyro, in this order, unless <bodymotion> names
    one of them. The parts of the element that no device holds are kept in `extra` under
    "sdf", as XML; a sensor of another kind is kept whole. Links and ids are not set. A
    number that cannot be read is reported as a warning, and the sensor has its default.
    """
    kind = element.get("type")
    name = element.get("name")
    # A deep copy. What a device has a field for is removed from it; what is left at the
    # end is what only SDFormat has.
    rest = parse_xml(to_xml(element))
    rest.children = [child for child in rest.children if child.name != "bodymotion"]
    values = _SensorValues(element, rest)
    pose = values.pose()
    devices: list[Device]
    # Gazebo's IMU is one sensor, Choreonoid has two devices.
    if kind == "imu":
        for part in ("linear_acceleration", "angular_velocity"):
            values.drop("imu", part)
        devices = [AccelerationSensor(name=name, pose=pose), Gyro(name=name, pose=pose)]
    elif kind == "force_torque":
        values.force_convention()
        devices = [ForceSensor(name=name, pose=pose)]
    elif kind in CAMERAS:
        devices = [_camera(values, CAMERAS[kind], name, pose)]
    elif kind in LIDARS:
        devices = [_lidar(values, name, pose)]
    else:
        extra = {"sdf": one_line(element)}
        return [OtherDevice(name=name, type=kind, pose=pose, extra=extra)]
    # Name and type are written again, unless the file has another word for the type.
    rest.attributes.pop("name", None)
    if rest.attributes.get("type") == sensor_type(devices[0]):
        del rest.attributes["type"]
    if rest.children or rest.attributes:
        extra = {"sdf": one_line(rest)}
        devices = [replace(device, extra=extra) for device in devices]
    return _named_devices(element, devices)


def _named_devices(sensor: Element, devices: list[Device]) -> list[Device]:
    """Return those devices of a sensor that its <bodymotion> elements name.

    All where there are none.
    """
    kinds = set()
    for entry in sensor.all("bodymotion"):
        report_others(entry, ("kind", *SENSOR_FIELDS))
        kinds.add(entry.get("kind"))
    named = [device for device in devices if device.kind in kinds]
    return named or devices


def _camera(values: _SensorValues, kind: str, name: str, pose: Floats) -> VisionSensor:
    """Read a camera of Gazebo.

    Its pose (7,) is changed from Gazebo's axes (x forward) to those of a device.
    """
    numbers = {
        field: values.number(place.default, *place.path)
        for field, place in CAMERA.items()
    }
    # SDFormat's field of view is that of the width, a VisionSensor's that of the
    # shorter side, as in Choreonoid.
    width = int(numbers["width"])
    height = int(numbers["height"])
    horizontal = values.number(FIELD_OF_VIEW, "camera", "horizontal_fov")
    return VisionSensor(
        name=name,
        pose=poses.compose(pose, GAZEBO_TO_DEVICE),
        type=kind,
        field_of_view=angle_over(horizontal, width, min(width, height)),
        frame_rate=values.rate(VisionSensor.frame_rate),
        width=width,
        height=height,
        front_clip_distance=numbers["front_clip_distance"],
        back_clip_distance=numbers["back_clip_distance"],
    )


def _lidar(values: _SensorValues, name: str, pose: Floats) -> RangeSensor:
    """Read the horizontal scan of a lidar of Gazebo."""
    # SDFormat renamed <ray> to <lidar>; files have either.
    scanner = "lidar" if values.element.first("lidar") else "ray"
    scan = (scanner, "scan", "horizontal")
    samples = values.number(640.0, *scan, "samples")
    resolution = values.number(1.0, *scan, "resolution")
    low = values.number(0.0, *scan, "min_angle")
    high = values.number(0.0, *scan, "max_angle")
    nearest = values.element.first(scanner, "range", "min")
    if nearest is not None and nearest.text.strip() == "0":
        # The writer writes 0 for unknown values.
        values.drop(scanner, "range", "min")
    # As in SDFormat: samples times resolution is the number of ranges.
    rays = 1
    if math.isfinite(samples * resolution):
        rays = min(max(round(samples * resolution), 1), MAX_RAYS)
    if rays % 2 == 0:
        # A RangeSensor has a ray in the middle: an even number of rays is kept.
        set_text(values.rest, rays, *scan, "samples")
    # A RangeSensor scans symmetrically: where the file's angles are not, the sensor is
    # rotated about its vertical axis by their mean.
    middle = 0.5 * (low + high)
    if middle:
        turn = rotations.from_axis_angle([0.0, 0.0, 1.0], middle)
        pose = poses.compose(pose, poses.from_parts(np.zeros(3), turn))
    angle = 0.0
    step = RangeSensor.scan_step
    # With one ray there is no step.
    if rays > 1:
        angle = high - low
        step = angle / (rays - 1)
    return RangeSensor(
        name=name,
        pose=poses.compose(pose, GAZEBO_TO_DEVICE),
        scan_angle=angle,
        scan_step=step,
        scan_rate=values.rate(RangeSensor.scan_rate),
        max_distance=values.number(10.0, scanner, "range", "max"),
    )


class _SensorValues:
    """Reads values of a sensor.

    What is read is removed from the copy `rest`.
    """

    def __init__(self, element: Element, rest: Element) -> None:
        self.element = element
        self.rest = rest

    def number(self, default: float, *path: str) -> float:
        inner = self.element.first(*path)
        if inner is None:
            return default
        # Dropped even where it cannot be read: the default is written instead.
        self.drop(*path)
        try:
            (value,) = numbers_in(inner.text, f"<{inner.name}>", 1)
        except ValueError as error:
            inner.report(rules.SENSOR, str(error))
            return default
        return value if abs(value) <= MAX_NUMBER else default

    def rate(self, default: float) -> float:
        """Return the update_rate [Hz].

        The default where it is 0 or missing ("as often as possible"), which is kept as
        0.
        """
        value = self.number(0.0, "update_rate")
        if value > 0:
            return value
        self.rest.add("update_rate", text="0")
        return default

    def force_convention(self) -> None:
        """Keep the frame and direction of a force that differ from a ForceSensor's."""
        for name, convention in FORCE_CONVENTION.items():
            inner = self.element.first("force_torque", name)
            word = "" if inner is None else inner.text.strip()
            word = word or convention.default
            self.drop("force_torque", name)
            # A kept word tells the writer that the file's convention differs.
            if word != convention.ours:
                set_text(self.rest, word, "force_torque", name)

    def pose(self) -> Floats:
        """Return the pose (7,) in the frame of the link."""
        element = self.element.first("pose")
        if element is None:
            return poses.IDENTITY
        self.drop("pose")
        # SDFormat 1.7 has `relative_to`, older versions `frame`. Either may name any
        # frame of the model.
        for key in ("relative_to", "frame"):
            if element.get(key):
                message = (
                    f"the pose of a sensor is relative to {element.get(key)!r:.60}: "
                    "it is read as relative to its link"
                )
                element.report(rules.POSE_FRAME, message)
        try:
            return _pose(element)
        except ValueError as error:
            element.report(rules.SENSOR, str(error))
            return poses.IDENTITY

    def drop(self, *path: str) -> None:
        """Remove the first element down a path.

        And those around it that hold no more.

        A surrounding element with attributes stays.
        """
        # The elements from the sensor down to the one to drop.
        chain = [self.rest]
        for name in path:
            inner = chain[-1].first(name)
            if inner is None:
                return
            chain.append(inner)
        target = chain[-1]
        # Upwards, as long as an element is left empty; the attributes of the dropped
        # one itself go with it.
        while len(chain) > 1:
            last = chain[-1]
            if last.children or (last.attributes and last is not target):
                return
            chain.pop()
            chain[-1].children = [
                child for child in chain[-1].children if child is not last
            ]


def _pose(element: Element) -> Floats:
    """Return the pose (7,) in a <pose>; ValueError where it has other numbers."""
    if not element.text.strip():
        return poses.IDENTITY
    numbers = numbers_in(element.text, "<pose>", 6)
    if not all(map(math.isfinite, numbers)):
        raise ValueError(
            "the pose of a sensor has an infinite number: the sensor is read in the "
            "frame of its link"
        )
    # x y z roll pitch yaw, in radians unless SDFormat 1.9's `degrees` is set.
    rpy = np.array(numbers[3:])
    if element.get("degrees") == "true":
        rpy = np.radians(rpy)
    return poses.from_parts(numbers[:3], rotations.from_rpy(rpy))


def sensor_type(device: Device) -> str:
    """Return the type of the sensor that a device is written as."""
    if isinstance(device, VisionSensor):
        types = {"DEPTH": "depth", "COLOR_DEPTH": "rgbd_camera"}
        return types.get(device.type, "camera")
    # Accelerometers and gyros are both an "imu".
    return {"RangeSensor": "ray", "ForceSensor": "force_torque"}.get(device.kind, "imu")


def set_text(sensor: Element, value: float | str, *path: str) -> None:
    """Set the text of the element down a path.

    Elements that are missing are added.

    A number that is not finite is left out.
    """
    if isinstance(value, str):
        text = value
    elif math.isfinite(value):
        text = number_text(float(value))
    else:
        return
    for name in path:
        sensor = sensor.first(name) or sensor.add(name)
    sensor.text = text


def groups(devices: Sequence[Device]) -> list[list[int]]:
    """Return the indices of the devices of each sensor.

    An accelerometer and a gyro with the same name, link and pose are one IMU.
    """
    # Indices by sensor, in the order of the first device of each.
    groups_of_sensors: list[list[int]] = []
    halves: dict[object, list[int]] = {}
    other_halves = {"AccelerationSensor": "Gyro", "Gyro": "AccelerationSensor"}
    for number, device in enumerate(devices):
        group = [number]
        if device.kind in other_halves:
            pose = device.pose.tobytes()
            key = (device.link, device.name, pose, str(device.extra.get("sdf")))
            # Taken out, so that a third device of the same place starts an IMU of its
            # own.
            half = halves.pop((other_halves[device.kind], *key), None)
            if half is not None:
                half.append(number)
                continue
            halves[device.kind, *key] = group
        groups_of_sensors.append(group)
    return groups_of_sensors


def sensor_element(device: Device, name: str) -> Element | None:
    """Return the <sensor> of a device, called `name`.

    None where Gazebo has none of its kind. An accelerometer or a gyro is an IMU.
    """
    sdf = device.extra.get("sdf")
    # The sensor that the file had, without what devices hold: fields are set in it.
    base = parse_rest(sdf, "sensor") if isinstance(sdf, str) else None
    if isinstance(device, OtherDevice):
        if base is not None:
            base.attributes["name"] = name
        return base
    sensor = base or Element("sensor")
    pose = device.pose
    if isinstance(device, VisionSensor):
        pose = poses.compose(pose, DEVICE_TO_GAZEBO)
        _put_camera(sensor, device)
    elif isinstance(device, RangeSensor):
        pose = poses.compose(pose, DEVICE_TO_GAZEBO)
        _put_lidar(sensor, device)
    elif isinstance(device, ForceSensor):
        for setting, convention in FORCE_CONVENTION.items():
            if sensor.first("force_torque", setting) is None:
                set_text(sensor, convention.ours, "force_torque", setting)
    elif not isinstance(device, (AccelerationSensor, Gyro)):
        return None
    # A word of the file is kept if it still fits, such as gpu_ray or wideanglecamera.
    type_in_file = sensor.attributes.pop("type", "")
    is_known = type_in_file in LIDARS
    if isinstance(device, VisionSensor):
        is_known |= CAMERAS.get(type_in_file) == device.type
    if not is_known:
        type_in_file = sensor_type(device)
    attributes = {"name": name, "type": type_in_file}
    sensor.attributes = {**attributes, **sensor.attributes}
    # x y z roll pitch yaw; without <pose> the sensor has the frame of its link.
    numbers = np.concatenate([pose[:3], roll_pitch_yaw(pose[3:])])
    if numbers.any():
        sensor.children.insert(0, Element("pose", text=number_text(numbers)))
    return sensor


def _put_camera(sensor: Element, device: VisionSensor) -> None:
    _put_rate(sensor, device.frame_rate, VisionSensor.frame_rate)
    shorter = min(device.width, device.height)
    horizontal = angle_over(device.field_of_view, shorter, device.width)
    set_text(sensor, horizontal, "camera", "horizontal_fov")
    for field, place in CAMERA.items():
        set_text(sensor, getattr(device, field), *place.path)


def _put_lidar(sensor: Element, device: RangeSensor) -> None:
    """Write the scan of a range sensor into its <sensor>."""
    scanner = "lidar" if sensor.first("lidar") else "ray"
    scan = (scanner, "scan", "horizontal")
    rays, side = _rays(device, sensor.first(*scan, "samples"))
    _put_rate(sensor, device.scan_rate, RangeSensor.scan_rate)
    set_text(sensor, rays, *scan, "samples")
    # `samples` is the number of rays; another resolution would multiply it.
    set_text(sensor, 1, *scan, "resolution")
    set_text(sensor, -side, *scan, "min_angle")
    set_text(sensor, side, *scan, "max_angle")
    # SDFormat requires <min>, which a RangeSensor has no field for.
    if sensor.first(scanner, "range", "min") is None:
        set_text(sensor, 0, scanner, "range", "min")
    set_text(sensor, device.max_distance, scanner, "range", "max")


def _rays(device: RangeSensor, samples: Element | None) -> tuple[int, float]:
    """Return the number of rays, and the angle [rad] of the last one.

    `samples` is the even number that the device was read with.
    """
    # `RangeSensor.num_rays` is odd. An even number that was read holds as long as step
    # and angle still fit it: n rays span n − 1 steps.
    even = 0.0 if samples is None else samples.text_number()
    if 2 <= even <= MAX_RAYS and even % 2 == 0:
        span = device.scan_step * (even - 1)
        difference = abs(span - device.scan_angle)
        is_span = difference <= 1e-9 * device.scan_angle
        if is_span and 0 < device.scan_angle < math.inf:
            return int(even), 0.5 * device.scan_angle
    if 1 < device.num_rays <= MAX_RAYS:
        return device.num_rays, (device.num_rays // 2) * device.scan_step
    return 1, 0.0


def _put_rate(sensor: Element, rate: float, default: float) -> None:
    """Set the update_rate.

    A kept one ("as often as possible") stays where the device has the default rate.
    """
    if sensor.first("update_rate") is None or rate != default:
        set_text(sensor, rate, "update_rate")


def device_elements(
    devices: Sequence[Device],
    names: Sequence[str],
    joint_names: Sequence[str],
    extension: ExtensionWriter,
    renamed: Renamings,
) -> list[Element]:
    """Return the <gazebo> elements of the devices that Gazebo has.

    `names` and `joint_names` are those of links and joints in the file; changed names
    of devices are added to `renamed`, those that Gazebo does not have to the losses.
    """
    blocks: list[Element] = []
    counts: Counter[str] = Counter()
    written: list[int] = []
    sensors = groups(devices)
    for indices, name in zip(sensors, _sensor_names(devices, sensors), strict=True):
        by_kind = {devices[index].kind: index for index in indices}
        first = devices[indices[0]]
        sensor = _sensor_of(first, name)
        # Read back at once: what the element does not hold is found by comparing.
        read = [] if sensor is None else read_sensor(parse_xml(to_xml(sensor)))
        if sensor is None or not by_kind.keys() <= {each.kind for each in read}:
            continue
        # Gazebo's force_torque is a sensor of a joint, all others of a link.
        of_joint = isinstance(first, ForceSensor)
        reference = joint_names[first.link] if of_joint else names[first.link]
        blocks.append(Element("gazebo", {"reference": reference}, [sensor]))
        entries: dict[str, dict[str, str]] = {}
        for read_back in read:
            kind = read_back.kind
            if kind in by_kind:
                written.append(by_kind[kind])
                device = devices[by_kind[kind]]
                renamed.add("device", device.name, read_back.name)
                # The reader counts ids by kind: a device that has this id needs no
                # entry.
                numbered = replace(read_back, id=counts[kind])
                counts[kind] += 1
                entries[kind] = _kept_texts(device, numbered, extension)
            else:
                # An accelerometer or a gyro alone is an IMU too; <bodymotion> names the
                # one.
                half = f"that an IMU is only {with_article(first.kind)}"
                extension.note(half, first.name)
        # Where a sensor has <bodymotion>, each of its devices needs one.
        if extension.on and (len(entries) < len(read) or any(entries.values())):
            for kind, texts in entries.items():
                sensor.add("bodymotion", {"kind": kind, **texts})
    for index in sorted(set(range(len(devices))).difference(written)):
        _report_lost(devices[index], extension)
    if written != sorted(written):
        extension.lost.leave_out("the order of devices", devices[0].name)
    return blocks


def _sensor_of(device: Device, name: str) -> Element | None:
    """Return the <sensor> of a device.

    None for a force at the root, which has no joint.
    """
    if isinstance(device, ForceSensor) and device.link == 0:
        return None
    return sensor_element(device, name)


def _kept_texts(
    device: Device, read_back: Device, extension: ExtensionWriter
) -> dict[str, str]:
    """Return the fields that <bodymotion> keeps of a device, and report all others."""
    texts = changed_texts(device, read_back, SENSOR_FIELDS)
    for field in texts:
        extension.note(f"{device.kind} {field}", device.name)
    held = ("name", "link", "extra", *SENSOR_FIELDS)
    for field in changed_fields(device, read_back, held):
        extension.lost.leave_out(f"{device.kind} {field}", device.name)
    # What only MJCF has is reported elsewhere.
    if not device.extra.keys() <= {"sdf", "mjcf"}:
        extension.lost.leave_out(f"{device.kind} extra", device.name)
    return texts


def _sensor_names(devices: Sequence[Device], sensors: list[list[int]]) -> list[str]:
    """Return a name for each sensor that is unique on its link."""
    firsts = [devices[indices[0]] for indices in sensors]
    names = [unique_names([first.name], first.kind)[0] for first in firsts]
    # SDFormat requires unique names among the sensors of one link only.
    for link in {first.link for first in firsts}:
        on_link = [number for number, first in enumerate(firsts) if first.link == link]
        unique = unique_names([names[number] for number in on_link], "sensor")
        for number, name in zip(on_link, unique, strict=True):
            names[number] = name
    return names


def _report_lost(device: Device, extension: ExtensionWriter) -> None:
    message = f"URDF and Gazebo have no {device.kind}"
    if isinstance(device, ForceSensor):
        message = "a ForceSensor measures at a joint, which the root does not have"
    rule = losses.DEVICE.as_note if device.kind in EFFECTS else losses.DEVICE
    extension.lost.add(rule, message, device.name)
