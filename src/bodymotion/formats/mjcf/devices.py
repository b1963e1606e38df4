"""Sites, cameras and sensors as devices, in both directions."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.kept_json import attributes_of, differences, mjcf_values, usable
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.bodies import RawLink
from bodymotion.formats.mjcf.defaults import Defaults, Item, Settings, pose
from bodymotion.formats.mjcf.extra import POSE, SITE_ATTRIBUTES
from bodymotion.formats.mjcf.geom_writer import pose_attributes
from bodymotion.formats.mjcf.names import Kept, Output, finite
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import (
    DEVICE_KINDS,
    EFFECTS,
    Device,
    OtherDevice,
    RangeSensor,
    VisionSensor,
    angle_over,
    first_number,
)

SENSORS = {
    "accelerometer": "AccelerationSensor",
    "gyro": "Gyro",
    "force": "ForceSensor",
    "torque": "ForceSensor",
    "rangefinder": "RangeSensor",
}
LIMITS = {
    "accelerometer": "max_acceleration",
    "gyro": "max_angular_velocity",
    "force": "max_force",
    "torque": "max_torque",
}
CAMERA_ATTRIBUTES = ("name", "class", *POSE, "fovy", "resolution")
# The rotation between the site of a rangefinder and a range sensor. The site measures
# along +z, the sensor along −z.
RAY_ROTATION = np.array([0.0, 1.0, 0.0, 0.0])
# [m] The size of a site without one.
DEFAULT_RADIUS = 0.005
# A range sensor with more rays is written without them.
MAX_RAYS = 2000
# A site whose pose differs by more was moved in the body.
MOVED = 1e-9
_COMMON = tuple(field.name for field in fields(Device))


class Site(NamedTuple):
    """The link of a site, and its pose (7,) in the frame of the link."""

    link: int
    pose: Floats


class _DeviceRead(NamedTuple):
    """A device, its element, and what <custom> keeps as its place among all."""

    device: Device
    element: Element
    order: object


class DeviceReader:
    """Reads the devices of a model: sites, cameras, and the sensors at sites.

    Attributes
    ----------
    others:
        Sensors that are no devices.
    order:
        By id of an element, the position of a sensor in the file.
    """

    def __init__(
        self, settings: Settings, defaults: Defaults, kept: Kept, links: list[RawLink]
    ) -> None:
        """Find the poses of all sites.

        Of two sites with one name, the first counts.
        """
        self.settings = settings
        self.defaults = defaults
        self.kept = kept
        self.links = links
        self.sites: dict[str, Site] = {}
        self.others: list[Element] = []
        self.order: dict[int, int] = {}
        self._ids: defaultdict[str, Iterator[int]] = defaultdict(count)
        for index, link in enumerate(links):
            for item in link.items:
                name = item.element.get("name")
                if item.element.name == "site" and name:
                    if name in self.sites:
                        message = f"a second site has the name {name!r:.60}"
                        item.element.report(rules.SAME_NAME, message)
                    self.sites.setdefault(name, Site(index, self._pose(item)))

    def read(
        self, root: Element, used: set[str], left_out: set[str]
    ) -> list[tuple[Device, Element]]:
        """Return the devices in link order, and their elements.

        `used` are the sites of closed loops, `left_out` those of bodies that are not
        read.
        """
        sensors = self._sensors(root, left_out)
        # Sites that our writer made for other things are no devices.
        hidden = used | self._ray_sites()
        devices: list[_DeviceRead] = []
        for index, link in enumerate(self.links):
            for item in link.items:
                if item.element.get("name") not in hidden:
                    devices += self._read_item(item, index, sensors)
        # The order of the body, where it differs from that of the tree.
        if all(isinstance(each.order, int) for each in devices):
            devices.sort(key=attrgetter("order"))
        return [(each.device, each.element) for each in devices]

    def _ray_sites(self) -> set[str]:
        """Return the sites that our writer made for the rays of range sensors."""
        # A range sensor has the site NAME, and NAME_rayK for its ray K.
        scanners = {
            f"{name}_ray"
            for name in self.sites
            if self.kept.get("device", name).get("kind") == "RangeSensor"
        }
        return {
            name
            for name in self.sites
            if "_ray" in name and f"{name.rpartition('_ray')[0]}_ray" in scanners
        }

    def _read_item(
        self, item: Item, link: int, sensors: Mapping[str, list[Element]]
    ) -> list[_DeviceRead]:
        """Return the devices of a site or a camera."""
        element = item.element
        name = element.get("name")
        kept = self.kept.get("device", name) if name else {}
        site = Site(link, self._pose(item))
        if element.name == "camera":
            devices: Sequence[Device] = [self._camera(item, site, kept)]
        # A device of our writer: what kind it is stands in <custom>.
        elif kept.get("kind") is not None:
            devices = [_kept_device(kept, name, site)]
        elif name in sensors:
            devices = self._of_sensors(item, site, sensors[name])
        else:
            extra = self._site_extra(item)
            device = OtherDevice(
                name=name, link=link, pose=site.pose, type="site", extra=extra
            )
            devices = [self._with_kept(device, name)]
        return [
            _DeviceRead(device, element, self._order(kept, name, device))
            for device in devices
        ]

    def _order(self, kept: Mapping[str, object], name: str, device: Device) -> object:
        key = name
        if not isinstance(device, OtherDevice):
            key = f"{name} {device.kind}"
        return kept.get("order", self.kept.get("sensing", key).get("order"))

    def _pose(self, item: Item) -> Floats:
        """Return the pose (7,) of a site or camera in the frame of its link."""
        element = item.element
        if "fromto" in element.attributes:
            ends = finite(element, "fromto", 6)
            middle = 0.5 * (ends[:3] + ends[3:])
            own = poses.from_parts(middle, rotations.IDENTITY)
        else:
            own = pose(element, self.settings)
        return frozen(item.placed(own))

    def _sensors(self, root: Element, left_out: set[str]) -> dict[str, list[Element]]:
        """Return the sensors that are devices, by the names of their sites."""
        sensors: dict[str, list[Element]] = {}
        for element in map(self.defaults.full, root.inside("sensor")):
            # MuJoCo's sensordata is in this order, so the writer must restore it.
            self.order[id(element)] = len(self.order)
            name = element.get("site")
            # A rangefinder may be at a camera instead.
            is_device = element.name in SENSORS and (
                name or element.name != "rangefinder"
            )
            if not is_device or name in left_out:
                self.others.append(element)
            elif name in self.sites:
                sensors.setdefault(name, []).append(element)
            elif name or not element.partial:
                message = (
                    f"<{element.name}> names the site {name!r:.60}, which does not "
                    "exist"
                )
                element.report(rules.REFERENCE, message, "site")
        return sensors

    def _of_sensors(
        self, item: Item, site: Site, sensors: list[Element]
    ) -> list[Device]:
        """Return a device for each kind of sensor at a site.

        Force and torque are one device.
        """
        name = item.element.get("name")
        entries: dict[str, list[dict[str, object]]] = {}
        devices: dict[str, Device] = {}
        for element in sensors:
            kind = SENSORS[element.name]
            if kind not in devices:
                title = element.get("name") or name
                devices[kind] = self._new_sensor(kind, title, site)
            # The attributes in the file, for the writer.
            entry: dict[str, object] = {
                "element": element.name,
                "order": self.order[id(element)],
            }
            for key, value in element.attributes.items():
                if key not in ("site", "class"):
                    entry[key] = value
            entries.setdefault(kind, []).append(entry)
            devices[kind] = _limited(devices[kind], element)
        of_site = self._site_extra(item).get("mjcf", {"site": {"name": name}})
        assert isinstance(of_site, dict)
        found = []
        for kind, device in devices.items():
            extra = {"mjcf": {**of_site, "sensors": entries[kind]}}
            device = replace(device, extra=extra)
            found.append(self._with_kept(device, f"{name} {kind}"))
        return found

    def _new_sensor(self, kind: str, name: str, site: Site) -> Device:
        # Ids count from 0 for each kind.
        number = next(self._ids[kind])
        if kind != "RangeSensor":
            make = DEVICE_KINDS[kind]
            return make(name=name, id=number, link=site.link, pose=site.pose)
        rotation = rotations.multiply(rotations.normalized(site.pose[3:]), RAY_ROTATION)
        ray_pose = poses.from_parts(site.pose[:3], rotation)
        return RangeSensor(
            name=name, id=number, link=site.link, pose=ray_pose, scan_angle=0.0
        )

    def _site_extra(self, item: Item) -> dict[str, object]:
        """Return the attributes of a site that its device has no fields for."""
        element = item.element
        attributes = {
            key: value
            for key, value in element.attributes.items()
            if key not in SITE_ATTRIBUTES
        }
        if "fromto" in element.attributes:
            # The site is written with pos and size, which are the same without fromto.
            ends = finite(element, "fromto", 6)
            radius = [
                *element.numbers("size", None, (DEFAULT_RADIUS,)),
                DEFAULT_RADIUS,
            ][0]
            half = 0.5 * float(np.linalg.norm(ends[:3] - ends[3:]))
            attributes["size"] = number_text([radius, half])
        if not attributes:
            return {}
        return {"mjcf": {"site": {"name": element.get("name"), **attributes}}}

    def _with_kept(self, device: Device, key: str) -> Device:
        """Return a device with the fields that <custom> keeps of it."""
        kept = self.kept.get("sensing", key)
        if not kept:
            return device
        values = usable(device, kept, skip=("link", "pose"))
        values["extra"] = {**values.get("extra", {}), **device.extra}
        return replace(device, **values)

    def _camera(self, item: Item, site: Site, kept: Mapping[str, object]) -> Device:
        """Return a camera; `kept` is what <custom> keeps of it."""
        element = item.element
        name = element.get("name")
        width, height = (int(n) for n in finite(element, "resolution", 2, (1.0, 1.0)))
        vertical = _vertical_angle(element)
        extra = {
            key: value
            for key, value in element.attributes.items()
            if key not in CAMERA_ATTRIBUTES
        }
        is_kept = kept.get("kind") == "VisionSensor"
        if is_kept:
            camera = _kept_device(kept, name, site)
        else:
            camera = VisionSensor(
                name=name,
                link=site.link,
                pose=site.pose,
                id=next(self._ids["VisionSensor"]),
                type="COLOR",
            )
        assert isinstance(camera, VisionSensor)
        size = (camera.width, camera.height)
        # MuJoCo's default resolution is 1 1: the camera only shows a view.
        makes_images = width > 1 and height > 1
        if not makes_images:
            if not is_kept or size != (width, height):
                extra["resolution"] = f"{width} {height}"
            width, height = size
        # Kept fields hold unless the angle or the size was edited in the file.
        kept_angle = angle_over(camera.field_of_view, min(size), camera.height)
        is_same_angle = "fovy" not in element.attributes or math.isclose(
            kept_angle, vertical, rel_tol=1e-9
        )
        if not (is_kept and is_same_angle) or (width, height) != size:
            # The field of view is that of the shorter side here, of the height there.
            angle = angle_over(vertical, height, min(width, height))
            camera = replace(camera, width=width, height=height, field_of_view=angle)
        if extra:
            return replace(camera, extra={**camera.extra, "mjcf": {"camera": extra}})
        return camera


def _vertical_angle(camera: Element) -> float:
    """Return the vertical field of view of a camera [rad]."""
    # A pinhole camera: tan(angle/2) = (sensor height/2) / focal length. It takes
    # precedence over fovy, as in MuJoCo.
    sensor_height = camera.numbers("sensorsize", 2, (0.0, 0.0))[1]
    focal_length = camera.numbers("focal", 2, (0.0, 0.0))[1]
    vertical = math.radians(camera.number("fovy", 45.0))
    if sensor_height > 0 and focal_length > 0:
        return 2.0 * math.atan(0.5 * sensor_height / focal_length)
    return vertical


def _limited(device: Device, sensor: Element) -> Device:
    """Return a device with the limit of one of its sensors.

    It is the sensor's cutoff.
    """
    # MuJoCo's 0 means no cutoff.
    cutoff = sensor.number("cutoff", 0.0)
    if not 0 < cutoff < math.inf:
        return device
    values: dict[str, Any] = {"max_distance": cutoff}
    if sensor.name in LIMITS:
        values = {LIMITS[sensor.name]: frozen([cutoff] * 3)}
    return replace(device, **values)


def _kept_device(kept: Mapping[str, object], name: str, site: Site) -> Device:
    """Return a device as <custom> keeps its kind and fields."""
    kind = str(kept["kind"])
    base: Device = OtherDevice(type=kind)
    if kind in DEVICE_KINDS:
        base = DEVICE_KINDS[kind]()
    base = replace(base, name=name, link=site.link, pose=site.pose)
    return replace(base, **usable(base, kept, skip=("link", "pose")))


class DeviceWriter:
    """Writes the devices of a body.

    Sensors are added to `sensors` in the order of the body's devices.

    Attributes
    ----------
    order:
        By id of an element, the position of a sensor in the file that the body was read
        from.
    """

    def __init__(self, output: Output, sensors: Element) -> None:
        self.names = output.names
        self.kept = output.kept
        self.problems = output.problems
        self.sensors = sensors
        self.renamed = output.renamed
        self.sites: dict[str, Site] = {}
        self.order: dict[int, int] = {}

    def write(self, body: Element, device: Device, order: int | None) -> None:
        """Add a device to the body of its link.

        `order` is its number among all devices, where that of the tree differs.
        """
        wanted = device.name or f"{device.kind}_{max(device.id, 0)}"
        if isinstance(device, VisionSensor):
            name = self._write_camera(body, device, wanted)
        elif self._write_as_read(body, device, order):
            return
        else:
            name = self._write_site(body, device, wanted)
        kept = _kept_values(device, name, type(device)(), order)
        self.kept.add("device", name, {"kind": device.kind, **kept})

    def _write_camera(self, body: Element, device: VisionSensor, wanted: str) -> str:
        name = self.names.free("camera", wanted)
        self.renamed.add("camera", device.name, name)
        kept = attributes_of(mjcf_values(device.extra).get("camera"))
        image = _image_attributes(device)
        if (device.width, device.height) != (VisionSensor.width, VisionSensor.height):
            kept.pop("resolution", None)
        if kept.keys() & {"sensorsize", "focal", "focalpixel"}:
            image.pop("fovy", None)
        position = pose_attributes(device.pose)
        body.add("camera", {"name": name, **position, **image, **kept})
        return name

    def _write_site(self, body: Element, device: Device, wanted: str) -> str:
        """Write a device as a site, and its sensors there."""
        name = self.names.free("site", wanted)
        self.renamed.add("device", device.name, name)
        kept = attributes_of(mjcf_values(device.extra).get("site"))
        kept.pop("name", None)
        body.add("site", {"name": name, **pose_attributes(device.pose), **kept})
        self.sites[name] = Site(device.link, device.pose)
        self._write_sensors(body, device, name)
        return name

    def _write_as_read(self, body: Element, device: Device, order: int | None) -> bool:
        """Write a device as the site and sensors that it was read from.

        False where it was read from none, or has changed.
        """
        of_mjcf = mjcf_values(device.extra)
        attributes = attributes_of(of_mjcf.get("site"))
        site = attributes.get("name", "")
        entries = _sensor_entries(of_mjcf.get("sensors"))
        kinds = {SENSORS.get(str(entry.get("element"))) for entry in entries}
        is_site = isinstance(device, OtherDevice)
        if not site or kinds != (set() if is_site else {device.kind}):
            return False
        pose = device.pose
        if isinstance(device, RangeSensor):
            # Back from the frame of the sensor to that of the site.
            rotation = rotations.multiply(
                rotations.normalized(pose[3:]), rotations.conjugate(RAY_ROTATION)
            )
            pose = poses.from_parts(pose[:3], rotation)
        if not self._add_site(body, attributes, Site(device.link, pose)):
            return False
        read_back: Device = type(device)()
        for entry in entries:
            self._write_entry(entry, device, read_back, site)
        name = site
        if entries and entries[0].get("name"):
            name = str(entries[0]["name"])
        self.renamed.add("device", device.name, name)
        values = _kept_values(device, name, read_back, order)
        # {"id": -1} is a plain site: the element holds all of it.
        if values != {"id": -1}:
            key = site if is_site else f"{site} {device.kind}"
            self.kept.add("sensing", key, values)
        return True

    def _add_site(self, body: Element, attributes: dict[str, str], site: Site) -> bool:
        """Add a site as it was read, unless it is written.

        Several devices may be at one site.

        Return whether it is where the device is.
        """
        name = attributes["name"]
        # Several devices of one site (a gyro and an accelerometer) share it, if none
        # was moved.
        written = self.sites.get(name)
        if written is not None:
            is_near = np.allclose(written.pose, site.pose, rtol=0, atol=MOVED)
            return written.link == site.link and is_near
        if self.names.free("site", name) != name:
            self.names.release("site", name)
            return False
        self.sites[name] = site
        body.add("site", {**attributes, **pose_attributes(site.pose)})
        return True

    def _write_entry(
        self,
        entry: Mapping[str, object],
        device: Device,
        read_back: Device,
        site: str,
    ) -> None:
        """Write a sensor as it was read.

        Its cutoff is the limit that the device has now.
        """
        kind = str(entry["element"])
        attributes = attributes_of(entry)
        attributes.pop("element", None)
        limit = _limit_of(device, kind)
        cutoff = first_number(attributes, "cutoff") or 0.0
        if not 0 < cutoff < np.inf:
            cutoff = _limit_of(read_back, kind)
        # An unchanged limit stays as it is in the file, to the letter.
        if limit != cutoff:
            attributes["cutoff"] = number_text(limit)
        if "name" in attributes:
            name = self.names.free("sensor", attributes["name"])
            self.renamed.add("sensor", attributes["name"], name)
            attributes["name"] = name
        element = self.sensors.add(kind, {**attributes, "site": site})
        order = entry.get("order")
        if isinstance(order, int):
            self.order[id(element)] = order

    def _write_sensors(self, body: Element, device: Device, site: str) -> None:
        """Write the sensors of a device at its site."""
        if isinstance(device, RangeSensor):
            self._write_rays(body, device, site)
            return
        kinds = [sensor for sensor, kind in SENSORS.items() if kind == device.kind]
        if not kinds and device.kind != "site":
            message = (
                f"MuJoCo has no {device.kind}: only its pose is written, as a site"
            )
            self._report(device, message)
        for kind in kinds:
            name = site if len(kinds) == 1 else f"{site}_{kind}"
            self._write_sensor(kind, name, site, _limit_of(device, kind))

    def _write_rays(self, body: Element, device: RangeSensor, site: str) -> None:
        """Write a site and a rangefinder for each ray of a range sensor."""
        if device.num_rays > MAX_RAYS:
            message = (
                f"it has {device.num_rays} rays, more than {MAX_RAYS}: they are not "
                "written"
            )
            self._report(device, message)
            return
        limit = _limit_of(device, "rangefinder")
        orientation = rotations.normalized(device.pose[3:])
        for number, angle in enumerate(device.ray_angles.tolist()):
            name = self.names.free("site", f"{site}_ray{number}")
            # A site measures along z, the sensor along −z; it scans about y.
            turn = rotations.from_axis_angle([0.0, 1.0, 0.0], angle)
            rotation = rotations.multiply(
                orientation, rotations.multiply(turn, RAY_ROTATION)
            )
            pose = poses.from_parts(device.pose[:3], rotation)
            body.add("site", {"name": name, **pose_attributes(pose)})
            self._write_sensor("rangefinder", name, name, limit)

    def _write_sensor(self, kind: str, wanted: str, site: str, cutoff: float) -> None:
        name = self.names.free("sensor", wanted)
        self.renamed.add("sensor", wanted, name)
        attributes = {"name": name, "site": site}
        if cutoff > 0:
            attributes["cutoff"] = number_text(cutoff)
        self.sensors.add(kind, attributes)

    def _report(self, device: Device, message: str) -> None:
        rule = losses.DEVICE.as_note if device.kind in EFFECTS else losses.DEVICE
        problem = rule.problem(
            f"{device.kind} {device.name}: {message}",
            Location(inside=f"link {device.link}"),
        )
        self.problems.add(problem)


def _sensor_entries(entries: object) -> list[Mapping[str, object]]:
    """Return the sensors that a device was read from."""
    if not isinstance(entries, (list, tuple)):
        return []
    return [entry for entry in entries if isinstance(entry, Mapping)]


def _kept_values(
    device: Device, name: str, base: Device, order: int | None
) -> dict[str, object]:
    """Return what the elements called `name` do not hold of a device.

    It is read from them as `base`.
    """
    values: dict[str, object] = {"id": device.id}
    if device.name != name:
        values["name"] = device.name
    values |= differences(device, base, skip=_COMMON)
    extra = {key: value for key, value in device.extra.items() if key != "mjcf"}
    if extra:
        values["extra"] = extra
    if order is not None:
        values["order"] = order
    return values


def _limit_of(device: Device, sensor: str) -> float:
    """Return the limit of one of a device's sensors.

    0 where there is none.

    In MuJoCo it is one number for all directions.
    """
    if isinstance(device, RangeSensor):
        limits = np.array([device.max_distance])
    else:
        limits = getattr(device, LIMITS[sensor])
    first = float(limits[0])
    if 0 < first < np.inf and (limits == first).all():
        return first
    return 0.0


def _image_attributes(device: VisionSensor) -> dict[str, str]:
    """Return the size and the angle of the image of a camera."""
    width = int(device.width)
    height = int(device.height)
    # The field of view is that of the height in MuJoCo, that of the shorter side in a
    # Body, as in Choreonoid.
    angle = angle_over(device.field_of_view, min(width, height), height)
    attributes = {}
    if 0 < angle < np.pi:
        attributes["fovy"] = number_text(np.degrees(angle))
    if width > 0 and height > 0:
        attributes["resolution"] = f"{width} {height}"
    return attributes
