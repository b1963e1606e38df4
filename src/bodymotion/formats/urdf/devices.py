"""Devices: the sensors in <gazebo> elements, as defined by SDFormat, and what <bodymotion> holds of them and of others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import one_line, parse_rest, roll_pitch_yaw
from bodymotion.formats.urdf.extension import quiet_differences, unique_names
from bodymotion.formats.xml.tree import (
    Element,
    FieldTable,
    number_text,
    numbers_in,
    parse_xml,
    to_xml,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import (
    DEVICE_KINDS,
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
    from bodymotion.formats.urdf.extension import Extension, ExtensionWriter
    from bodymotion.formats.urdf.reader import Node


_AXES = rotations.from_matrix(
    np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
)
DEVICE_TO_GAZEBO = poses.from_parts(np.zeros(3), _AXES)
"""The pose, in the frame of a device, of that of the same sensor in Gazebo.

Its x axis is the device's −z, its z axis the device's y.
"""
GAZEBO_TO_DEVICE = poses.from_parts(np.zeros(3), rotations.conjugate(_AXES))

CAMERAS = {
    "camera": "COLOR",
    "wideanglecamera": "COLOR",
    "depth": "DEPTH",
    "depth_camera": "DEPTH",
    "rgbd": "COLOR_DEPTH",
    "rgbd_camera": "COLOR_DEPTH",
}
FORCE_CONVENTION = {
    "frame": ("child", "sensor"),
    "measure_direction": ("child_to_parent", "child_to_parent"),
}
"""By element of <force_torque>, its default and the value of a ForceSensor, which measures the child on the parent in its own frame."""

CAMERA: dict[str, tuple[tuple[str, ...], float]] = {
    "width": (("camera", "image", "width"), VisionSensor.width),
    "height": (("camera", "image", "height"), VisionSensor.height),
    "front_clip_distance": (("camera", "clip", "near"), 0.1),
    "back_clip_distance": (("camera", "clip", "far"), 100.0),
}
"""By field of a VisionSensor, where its value is in a <sensor>, and the default of Gazebo."""
LIDARS = ("ray", "gpu_ray", "lidar", "gpu_lidar")
MAX_RAYS = 10**6

DEVICE_FIELDS: FieldTable = {
    **{name: (f"@{name}",) for name in ("name", "type")},
    "pose": ("pose",),
    "field_of_view": ("camera/horizontal_fov",),
    **{name: ("/".join(path),) for name, (path, _) in CAMERA.items()},
    **dict.fromkeys(("frame_rate", "scan_rate"), ("update_rate",)),
    **dict.fromkeys(
        ("scan_angle", "scan_step"), ("ray/scan/horizontal", "lidar/scan/horizontal")
    ),
    "max_distance": ("ray/range/max", "lidar/range/max"),
}
"""What gives the fields of a device in its <sensor>."""


def sensor_key(link: str, name: str, number: int) -> str:
    """Return the name of a sensor in <bodymotion>.

    With a number from the second one of the same name on a link.
    """
    if number == 1:
        return f"{link}/{name}"
    return f"{link}/{name}#{number}"


def read_devices(
    robot: Element,
    nodes: list[Node],
    names: Mapping[str, int],
    extension: Extension,
    left: list[str],
    left_out: Collection[str],
    planar: Mapping[str, str],
) -> tuple[tuple[Device, ...], list[Element]]:
    """Return the devices, and the elements that they are read from.

    Ids count the devices of one kind in the order of the file, unless <bodymotion> has
    others. <gazebo> elements with anything but sensors are added to `left` as XML,
    without the sensors. `left_out` are the names of links that are no part of the
    robot,
    `planar` those of the child links of planar joints, by the names of these.
    """
    holds = {
        node.joint.get("name"): index
        for index, node in enumerate(nodes)
        if node.joint is not None
    }
    for joint, child in planar.items():
        holds.setdefault(joint, names.get(child, -1))
    found: dict[str, tuple[Device, Element]] = {}
    counts: Counter[str] = Counter()
    numbers: Counter[tuple[str, str]] = Counter()
    absent = {
        entry.element.get("sensor")
        for entry in extension.devices
        if entry.element.get("meant") == "no"
    }
    for block in robot.all("gazebo"):
        reference = block.get("reference")
        link = names.get(reference, holds.get(reference, -1))
        sensors = list(block.all("sensor"))
        if reference and link < 0 and reference not in left_out:
            block.report(
                rules.SENSOR_LINK,
                f"the reference {reference!r:.60} is neither a link nor a joint",
            )
        if not sensors or link < 0:
            left.append(one_line(block))
            continue
        for sensor in sensors:
            # A force sensor belongs to a joint, also where a link has the joint's name.
            if sensor.get("type") == "force_torque":
                at = holds.get(reference, link)
            else:
                at = link
            for device in read_sensor(sensor):
                title = nodes[at].link.get("name")
                numbers[title, device.name] += 1
                key = sensor_key(title, device.name, numbers[title, device.name])
                if key not in absent:
                    found[key] = (
                        replace(device, link=at, id=counts[device.kind]),
                        sensor,
                    )
                    counts[device.kind] += 1
        rest = replace(
            block,
            children=[child for child in block.children if child.name != "sensor"],
        )
        if rest.children:
            left.append(one_line(rest))
    return _with_entries(found, names, extension)


def _with_entries(
    found: dict[str, tuple[Device, Element]],
    names: Mapping[str, int],
    extension: Extension,
) -> tuple[tuple[Device, ...], list[Element]]:
    devices: list[tuple[Device, Element]] = []
    for entry in extension.devices:
        element, kind = entry.element, entry.element.get("kind")
        if element.get("meant") == "no":
            continue
        if "sensor" in element.attributes:
            known = found.pop(element.attributes["sensor"], None)
            if known is None:
                element.report(
                    rules.CHANGED,
                    f"there is no sensor {element.get('sensor')!r:.60} any more",
                )
                continue
            base, origin = known
        elif (link := names.get(element.get("link"), -1)) >= 0:
            if kind in DEVICE_KINDS:
                base = DEVICE_KINDS[kind](link=link)
            else:
                base = OtherDevice(link=link, type=kind)
            origin = element
        else:
            entry.report(f"{element.get('link')!r:.60} is not a link")
            continue
        devices.append(
            (
                replace(entry.applied(base, skip=("id", "link")), id=entry.id(base.id)),
                origin,
            )
        )
    devices += found.values()
    return tuple(device for device, _ in devices), [element for _, element in devices]


def read_sensor(element: Element) -> list[Device]:
    """Return the devices of a <sensor>.

    An `imu` is an accelerometer and a gyro, in this order.

    The parts of the element that no device holds are kept in `extra` under "sdf", as
    XML; a sensor of another kind is kept whole. Links and ids are not set. A number
    that cannot be read is reported as a warning, and the sensor has its default.
    """
    kind = element.get("type")
    name = element.get("name")
    left = parse_xml(to_xml(element))
    values = _SensorValues(element, left)
    pose = values.pose()
    found: list[Device]
    if kind == "imu":
        for part in ("linear_acceleration", "angular_velocity"):
            values.drop("imu", part)
        found = [AccelerationSensor(name=name, pose=pose), Gyro(name=name, pose=pose)]
    elif kind == "force_torque":
        values.force_convention()
        found = [ForceSensor(name=name, pose=pose)]
    elif kind in CAMERAS:
        found = [_camera(values, CAMERAS[kind], name, pose)]
    elif kind in LIDARS:
        found = [_lidar(values, name, pose)]
    else:
        return [
            OtherDevice(
                name=name, type=kind, pose=pose, extra={"sdf": one_line(element)}
            )
        ]
    regular = {"name": element.attributes.get("name"), "type": sensor_type(found[0])}
    left.attributes = {
        key: value
        for key, value in left.attributes.items()
        if key != "name" and regular.get(key) != value
    }
    if left.children or left.attributes:
        found = [replace(device, extra={"sdf": one_line(left)}) for device in found]
    return found


def _camera(values: _SensorValues, kind: str, name: str, pose: Floats) -> VisionSensor:
    numbers = {
        name: values.number(default, *path) for name, (path, default) in CAMERA.items()
    }
    width = int(numbers["width"])
    height = int(numbers["height"])
    return VisionSensor(
        name=name,
        pose=poses.compose(pose, GAZEBO_TO_DEVICE),
        type=kind,
        field_of_view=angle_over(
            values.number(1.047, "camera", "horizontal_fov"), width, min(width, height)
        ),
        frame_rate=values.rate(VisionSensor.frame_rate),
        **{**numbers, "width": width, "height": height},  # type: ignore[arg-type]
    )


def _lidar(values: _SensorValues, name: str, pose: Floats) -> RangeSensor:
    if values.element.first("lidar"):
        scanner = "lidar"
    else:
        scanner = "ray"
    samples = values.number(640.0, scanner, "scan", "horizontal", "samples")
    resolution = values.number(1.0, scanner, "scan", "horizontal", "resolution")
    low, high = (
        values.number(0.0, scanner, "scan", "horizontal", f"{end}_angle")
        for end in ("min", "max")
    )
    nearest = values.element.first(scanner, "range", "min")
    if nearest is not None and nearest.text.strip() == "0":
        # The writer writes 0 for unknown values.
        values.drop(scanner, "range", "min")
    rays = min(
        max(
            round(samples * resolution) if math.isfinite(samples * resolution) else 1, 1
        ),
        MAX_RAYS,
    )
    if rays % 2 == 0:
        # A RangeSensor has a ray in the middle: an even number of rays is kept.
        set_text(values.left, rays, scanner, "scan", "horizontal", "samples")
    middle = 0.5 * (low + high)
    if middle:
        pose = poses.compose(
            pose,
            poses.from_parts(
                np.zeros(3), rotations.from_axis_angle([0.0, 0.0, 1.0], middle)
            ),
        )
    if rays > 1:
        angle = high - low
    else:
        angle = 0.0
    return RangeSensor(
        name=name,
        pose=poses.compose(pose, GAZEBO_TO_DEVICE),
        scan_angle=angle,
        scan_step=angle / (rays - 1) if rays > 1 else RangeSensor.scan_step,
        scan_rate=values.rate(RangeSensor.scan_rate),
        max_distance=values.number(10.0, scanner, "range", "max"),
    )


class _SensorValues:
    """Reads values of a sensor.

    What is read is removed from the copy `left`.
    """

    def __init__(self, element: Element, left: Element) -> None:
        self.element = element
        self.left = left

    def number(self, default: float, *path: str) -> float:
        found = self.element.first(*path)
        if found is None:
            return default
        self.drop(*path)
        try:
            value = numbers_in(found.text, f"<{found.name}>", 1)[0]
        except ValueError as error:
            found.report(rules.SENSOR, str(error))
            return default
        return value if abs(value) <= 1e15 else default

    def rate(self, default: float) -> float:
        """Return the update_rate [Hz].

        The default where it is 0 or missing ("as often as possible"), which is kept as
        0.
        """
        value = self.number(0.0, "update_rate")
        if value > 0:
            return value
        self.left.add("update_rate", text="0")
        return default

    def force_convention(self) -> None:
        """Keep the frame and direction in which a force is measured, where they differ from those of a ForceSensor."""
        for name, (default, ours) in FORCE_CONVENTION.items():
            found = self.element.first("force_torque", name)
            word = ("" if found is None else found.text.strip()) or default
            self.drop("force_torque", name)
            if word != ours:
                set_text(self.left, word, "force_torque", name)

    def pose(self) -> Floats:
        found = self.element.first("pose")
        if found is None:
            return poses.IDENTITY
        self.drop("pose")
        for key in ("relative_to", "frame"):
            if found.get(key):
                what = f"the pose of a sensor is relative to {found.get(key)!r:.60}"
                found.report(
                    rules.POSE_FRAME, f"{what}: it is read as relative to its link"
                )
        try:
            if found.text.strip():
                six = numbers_in(found.text, "<pose>", 6)
            else:
                six = (0.0,) * 6
            if not all(map(math.isfinite, six)):
                message = "the pose of a sensor has an infinite number: the sensor is read in the frame of its link"
                raise ValueError(message)
        except ValueError as error:
            found.report(rules.SENSOR, str(error))
            return poses.IDENTITY
        if found.get("degrees") == "true":
            rpy = np.radians(six[3:])
        else:
            rpy = np.array(six[3:])
        return poses.from_parts(six[:3], rotations.from_rpy(rpy))

    def drop(self, *path: str) -> None:
        """Remove the first element down a path from what is left, and those around it that hold nothing else."""
        chain = [self.left]
        for name in path:
            inside = chain[-1].first(name)
            if inside is None:
                return
            chain.append(inside)
        while (
            len(chain) > 1
            and not chain[-1].children
            and (len(chain) == len(path) + 1 or not chain[-1].attributes)
        ):
            gone = chain.pop()
            chain[-1].children = [
                child for child in chain[-1].children if child is not gone
            ]


def sensor_type(device: Device) -> str:
    """Return the type of the sensor that a device is written as."""
    if isinstance(device, VisionSensor):
        return {"DEPTH": "depth", "COLOR_DEPTH": "rgbd_camera"}.get(
            device.type, "camera"
        )
    return {"RangeSensor": "ray", "ForceSensor": "force_torque"}.get(device.kind, "imu")


def set_text(sensor: Element, value: object, *path: str) -> None:
    """Set the text of the element down a path, which is added where it is missing.

    A number that is not finite is left out.
    """
    if isinstance(value, (int, float)) and not math.isfinite(value):
        return
    for name in path:
        found = sensor.first(name)
        if found is None:
            sensor = sensor.add(name)
        else:
            sensor = found
    sensor.text = value if isinstance(value, str) else number_text(float(value))  # type: ignore[arg-type]


def groups(devices: Sequence[Device]) -> list[list[int]]:
    """Return the indices of the devices of each sensor, in the order of the first ones.

    An accelerometer and a gyro with the same name, link and pose are one IMU.
    """
    found: list[list[int]] = []
    halves: dict[object, list[int]] = {}
    for number, device in enumerate(devices):
        group = [number]
        if isinstance(device, (AccelerationSensor, Gyro)):
            if isinstance(device, AccelerationSensor):
                other = "Gyro"
            else:
                other = "AccelerationSensor"
            same = (
                device.link,
                device.name,
                device.pose.tobytes(),
                str(device.extra.get("sdf")),
            )
            if (half := halves.pop((other, *same), None)) is not None:
                half.append(number)
                continue
            halves[device.kind, *same] = group
        found.append(group)
    return found


def sensor_element(device: Device, name: str) -> Element | None:
    """Return the <sensor> of a device, called `name`.

    None where Gazebo has none of its kind. An accelerometer or a gyro is an IMU.
    """
    kept = device.extra.get("sdf")
    if isinstance(kept, str):
        base = parse_rest(kept, "sensor")
    else:
        base = None
    if isinstance(device, OtherDevice):
        if base is not None:
            base.attributes["name"] = name
        return base
    sensor = base or Element("sensor")
    pose = device.pose
    if isinstance(device, VisionSensor):
        pose = poses.compose(pose, DEVICE_TO_GAZEBO)
        _put_rate(sensor, device.frame_rate, VisionSensor.frame_rate)
        horizontal = angle_over(
            device.field_of_view, min(device.width, device.height), device.width
        )
        set_text(sensor, horizontal, "camera", "horizontal_fov")
        for name_of_field, (path, _) in CAMERA.items():
            set_text(sensor, getattr(device, name_of_field), *path)
    elif isinstance(device, RangeSensor):
        pose = poses.compose(pose, DEVICE_TO_GAZEBO)
        scanner = "lidar" if sensor.first("lidar") else "ray"
        rays, side = _rays(
            device, sensor.first(scanner, "scan", "horizontal", "samples")
        )
        _put_rate(sensor, device.scan_rate, RangeSensor.scan_rate)
        for part, value in {
            "samples": rays,
            "resolution": 1,
            "min_angle": -side,
            "max_angle": side,
        }.items():
            set_text(sensor, value, scanner, "scan", "horizontal", part)
        if sensor.first(scanner, "range", "min") is None:
            set_text(sensor, 0, scanner, "range", "min")
        set_text(sensor, device.max_distance, scanner, "range", "max")
    elif isinstance(device, ForceSensor):
        for setting, (_, ours) in FORCE_CONVENTION.items():
            if sensor.first("force_torque", setting) is None:
                set_text(sensor, ours, "force_torque", setting)
    elif not isinstance(device, (AccelerationSensor, Gyro)):
        return None
    kept_type = sensor.attributes.pop("type", "")
    same = kept_type in LIDARS or (
        isinstance(device, VisionSensor) and CAMERAS.get(kept_type) == device.type
    )
    sensor.attributes = {
        "name": name,
        "type": kept_type if same else sensor_type(device),
        **sensor.attributes,
    }
    six = np.concatenate([pose[:3], roll_pitch_yaw(pose[3:])])
    if six.any():
        sensor.children.insert(0, Element("pose", text=number_text(six)))
    return sensor


def _rays(device: RangeSensor, kept: Element | None) -> tuple[int, float]:
    """Return the number of rays, and the angle [rad] of the last one.

    `kept` is the even number that the device was read with.
    """
    if kept is not None:
        even = kept.text_number()
    else:
        even = 0.0
    if 2 <= even <= MAX_RAYS and even % 2 == 0:
        span = device.scan_step * (even - 1)
        if (
            0 < device.scan_angle < math.inf
            and abs(span - device.scan_angle) <= 1e-9 * device.scan_angle
        ):
            return int(even), 0.5 * device.scan_angle
    if device.num_rays <= MAX_RAYS:
        rays = device.num_rays
    else:
        rays = 1
    return rays, (rays // 2) * device.scan_step if rays > 1 else 0.0


def _put_rate(sensor: Element, rate: float, default: float) -> None:
    """Set the update_rate; a kept one ("as often as possible") stays where the device has the default rate."""
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

    Keep the others, and their order, in <bodymotion>.

    `names` and `joint_names` are those of links and joints in the file; changed names
    of devices are added to `renamed`.
    """
    found: list[Element] = []
    written: dict[int, tuple[str, Device, int]] = {}
    """By index of a device.

    Its key in <bodymotion>, the device that the <sensor> is read as, and its id.
    """
    counts: Counter[str] = Counter()
    numbers: Counter[tuple[str, str]] = Counter()
    sensors = groups(devices)
    absent: list[str] = []
    for indices, name in zip(sensors, _sensor_names(devices, sensors), strict=True):
        by_kind = {devices[index].kind: index for index in indices}
        first = devices[indices[0]]
        of_joint = isinstance(first, ForceSensor)
        if of_joint and first.link == 0:
            sensor = None
        else:
            sensor = sensor_element(first, name)
        if sensor is not None:
            read = read_sensor(parse_xml(to_xml(sensor)))
        else:
            read = []
        if sensor is None or not by_kind.keys() <= {base.kind for base in read}:
            continue
        link = names[first.link]
        block = Element(
            "gazebo", {"reference": joint_names[first.link] if of_joint else link}
        )
        block.children.append(sensor)
        found.append(block)
        for base in read:
            numbers[link, name] += 1
            key = sensor_key(link, name, numbers[link, name])
            if base.kind not in by_kind:
                absent.append(key)
                extension.note(
                    f"that an IMU is only {with_article(first.kind)}", first.name
                )
            else:
                device = devices[by_kind[base.kind]]
                renamed.add("device", device.name, base.name)
                written[by_kind[base.kind]] = key, base, counts[base.kind]
                counts[base.kind] += 1
    for index, device in enumerate(devices):
        if index in written:
            key, base, number = written[index]
            values = extension.differences(
                base, device, device.name, ("id", "link"), f"{device.kind} "
            )
            if device.id != number:
                values = {"id": device.id, **values}
                extension.note(f"{device.kind} id", device.name)
            extension.put("device", {"sensor": key}, values, always=True)
        else:
            _keep_device(device, names[device.link], extension)
    for key in absent:
        extension.put("device", {"sensor": key, "meant": "no"}, {}, always=True)
    return found


def _sensor_names(devices: Sequence[Device], sensors: list[list[int]]) -> list[str]:
    """Return a name for each sensor that is unique on its link, as SDFormat requires."""
    firsts = [devices[indices[0]] for indices in sensors]
    names = [unique_names([first.name], first.kind)[0] for first in firsts]
    for link in {first.link for first in firsts}:
        mine = [number for number, first in enumerate(firsts) if first.link == link]
        for number, name in zip(
            mine, unique_names([names[k] for k in mine], "sensor"), strict=True
        ):
            names[number] = name
    return names


def _keep_device(device: Device, link: str, extension: ExtensionWriter) -> None:
    if device.kind in DEVICE_KINDS:
        base = DEVICE_KINDS[device.kind]()
    else:
        base = OtherDevice(type=device.kind)
    message = f"URDF and Gazebo have no {device.kind}"
    if isinstance(device, ForceSensor):
        message = "a ForceSensor measures at a joint, which the root does not have"
    extension.lost.add(
        losses.DEVICE.as_note if device.kind in EFFECTS else losses.DEVICE,
        message,
        device.name,
    )
    values = quiet_differences(base, device)
    if device.id >= 0:
        values = {"id": device.id, **values}
    extension.put("device", {"kind": device.kind, "link": link}, values, always=True)
