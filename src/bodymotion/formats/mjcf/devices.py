"""Sites, cameras and sensors as devices, in both directions."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import count
from typing import Any, TypeAlias

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
RAY_ROTATION = np.array([0.0, 1.0, 0.0, 0.0])
"""The rotation between a rangefinder's site, which measures along +z, and a range sensor, which measures along −z."""


Site: TypeAlias = tuple[
    int, Floats
]  # The link of a site, and its pose (7,) in the frame of the link.
MAX_RAYS = 2000  # A range sensor with more rays is written without them.
_COMMON = tuple(field.name for field in fields(Device))


class DeviceReader:
    """Reads the devices of a model: sites, cameras, and the sensors at sites."""

    def __init__(
        self, settings: Settings, defaults: Defaults, kept: Kept, links: list[RawLink]
    ) -> None:
        self.settings = settings
        self.defaults = defaults
        self.kept = kept
        self.links = links
        self.sites: dict[str, Site] = {}
        self.others: list[Element] = []
        """Sensors that are no devices."""
        self._ids: defaultdict[str, Iterator[int]] = defaultdict(count)
        self.order: dict[int, int] = {}
        """By id of an element, the position of a sensor in the file."""
        for index, link in enumerate(links):
            for item in link.items:
                name = item.element.get("name")
                if item.element.name == "site" and name:
                    if name in self.sites:
                        item.element.report(
                            rules.SAME_NAME, f"a second site has the name {name!r:.60}"
                        )
                    self.sites.setdefault(name, (index, self._pose(item)))

    def read(
        self, root: Element, used: set[str], left_out: set[str]
    ) -> list[tuple[Device, Element]]:
        """Return the devices in link order, and their elements.

        `used` are the sites of closed loops, `left_out` those of bodies that are not
        read.
        """
        sensing = self._sensors(root, left_out)
        found: list[tuple[Device, Element, Any]] = []
        own = {
            name
            for name in self.sites
            if self.kept.get("device", name).get("kind") is not None
        }
        scanners = {
            f"{name}_ray"
            for name in own
            if self.kept.get("device", name)["kind"] == "RangeSensor"
        }
        rays = {
            name
            for name in self.sites
            if "_ray" in name and f"{name.rpartition('_ray')[0]}_ray" in scanners
        }
        for index, link in enumerate(self.links):
            for item in link.items:
                element = item.element
                name = element.get("name")
                if name:
                    kept_values = self.kept.get("device", name)
                else:
                    kept_values = {}
                if name in used or name in rays:
                    continue
                site_pose = self._pose(item)
                if element.name == "camera":
                    made = [self._camera(item, index, site_pose, kept_values)]
                elif kept_values.get("kind") is not None:
                    made = [self._kept(kept_values, name, index, site_pose)]
                else:
                    made = self._of_site(
                        item, index, site_pose, sensing.get(name, []) if name else []
                    )
                found += [
                    (device, element, self._order(kept_values, name, device))
                    for device in made
                ]
        if found and all(isinstance(order, int) for _, _, order in found):
            found.sort(key=lambda one: one[2])
        return [(device, element) for device, element, _ in found]

    def _order(
        self, kept_values: dict[str, object], name: str, device: Device
    ) -> object:
        if isinstance(device, OtherDevice):
            key = name
        else:
            key = f"{name} {device.kind}"
        return kept_values.get("order", self.kept.get("sensing", key).get("order"))

    def _pose(self, item: Item) -> Floats:
        element = item.element
        if "fromto" in element.attributes:
            ends = finite(element, "fromto", 6)
            own = poses.from_parts(0.5 * (ends[:3] + ends[3:]), rotations.IDENTITY)
        else:
            own = pose(element, self.settings)
        return frozen(item.placed(own))

    def _sensors(self, root: Element, left_out: set[str]) -> dict[str, list[Element]]:
        found: dict[str, list[Element]] = {}
        for element in map(self.defaults.full, root.inside("sensor")):
            self.order[id(element)] = len(self.order)
            site = element.get("site")
            if (
                element.name not in SENSORS
                or (not site and element.name == "rangefinder")
                or site in left_out
            ):
                self.others.append(element)
            elif site in self.sites:
                found.setdefault(site, []).append(element)
            elif site or not element.partial:
                message = f"<{element.name}> names the site {site!r:.60}, which does not exist"
                element.report(rules.REFERENCE, message, "site")
        return found

    def _of_site(
        self, item: Item, link: int, site_pose: Floats, sensors: list[Element]
    ) -> list[Device]:
        """Return a device for each kind of sensor at a site (one for force and torque), or one for a site without sensors."""
        name = item.element.get("name")
        site = self._site_extra(item)
        if not sensors:
            return [
                self._changed(
                    OtherDevice(
                        name=name, link=link, pose=site_pose, type="site", extra=site
                    ),
                    name,
                )
            ]
        attributes_of: dict[str, list[dict[str, object]]] = {}
        made: dict[str, Device] = {}
        for element in sensors:
            kind = SENSORS[element.name]
            if kind not in made:
                at = site_pose
                more = dict[str, Any]()
                if kind == "RangeSensor":
                    rotation = rotations.multiply(
                        rotations.normalized(site_pose[3:]), RAY_ROTATION
                    )
                    at = poses.from_parts(site_pose[:3], rotation)
                    more = {"scan_angle": 0.0}
                title = element.get("name") or name
                made[kind] = DEVICE_KINDS[kind](
                    name=title, id=next(self._ids[kind]), link=link, pose=at, **more
                )
            # The attributes in the file, for the writer.
            values = {
                key: value
                for key, value in element.attributes.items()
                if key not in ("site", "class")
            }
            entry = {
                "element": element.name,
                "order": self.order[id(element)],
                **values,
            }
            attributes_of.setdefault(kind, []).append(entry)
            cutoff = element.number("cutoff", 0.0)
            if 0 < cutoff < math.inf:
                name_of_limit = LIMITS.get(element.name)
                limit = (
                    {name_of_limit: frozen([cutoff] * 3)}
                    if name_of_limit
                    else {"max_distance": cutoff}
                )
                made[kind] = replace(made[kind], **limit)
        for kind, device in made.items():
            extra = site.get("mjcf", {"site": {"name": name}})
            assert isinstance(extra, dict)
            extra = {"mjcf": {**extra, "sensors": attributes_of[kind]}}
            made[kind] = self._changed(replace(device, extra=extra), f"{name} {kind}")
        return list(made.values())

    def _site_extra(self, item: Item) -> dict[str, object]:
        element = item.element
        kept_values: dict[str, object] = {
            k: v for k, v in element.attributes.items() if k not in SITE_ATTRIBUTES
        }
        if "fromto" in element.attributes:
            ends = finite(element, "fromto", 6)
            radius = [*element.numbers("size", None, (0.005,)), 0.005][0]
            kept_values["size"] = number_text(
                [radius, 0.5 * float(np.linalg.norm(ends[:3] - ends[3:]))]
            )
        if kept_values:
            return {"mjcf": {"site": {"name": element.get("name"), **kept_values}}}
        return {}

    def _changed(self, device: Device, key: str) -> Device:
        kept_values = self.kept.get("sensing", key)
        if not kept_values:
            return device
        found = usable(device, kept_values, skip=("link", "pose"))
        found["extra"] = {**found.get("extra", {}), **device.extra}
        return replace(device, **found)

    def _camera(
        self, item: Item, link: int, site_pose: Floats, kept_values: dict[str, object]
    ) -> Device:
        element, name = item.element, item.element.get("name")
        width, height = (int(n) for n in finite(element, "resolution", 2, (1.0, 1.0)))
        vertical = math.radians(element.number("fovy", 45.0))
        sensor = element.numbers("sensorsize", 2, (0.0, 0.0))
        focal = element.numbers("focal", 2, (0.0, 0.0))
        if sensor[1] > 0 and focal[1] > 0:
            vertical = 2.0 * math.atan(0.5 * sensor[1] / focal[1])
        extra = {
            key: value
            for key, value in element.attributes.items()
            if key not in CAMERA_ATTRIBUTES
        }
        kept = kept_values.get("kind") == "VisionSensor"
        made = self._kept(
            kept_values if kept else {"kind": "VisionSensor"}, name, link, site_pose
        )
        assert isinstance(made, VisionSensor)
        if not kept:
            made = replace(made, id=next(self._ids["VisionSensor"]), type="COLOR")
        if width <= 1 or height <= 1:
            # In MuJoCo, such a camera makes no images.
            if not kept or (made.width, made.height) != (width, height):
                extra["resolution"] = f"{width} {height}"
            width = made.width
            height = made.height
        had = angle_over(made.field_of_view, min(made.width, made.height), made.height)
        seen = kept and (
            "fovy" not in element.attributes
            or math.isclose(had, vertical, rel_tol=1e-9)
        )
        if not seen or (width, height) != (made.width, made.height):
            shorter = angle_over(vertical, height, min(width, height))
            made = replace(made, width=width, height=height, field_of_view=shorter)
        if extra:
            return replace(made, extra={**made.extra, "mjcf": {"camera": extra}})
        return made

    def _kept(
        self, kept_values: dict[str, object], name: str, link: int, site_pose: Floats
    ) -> Device:
        kind = str(kept_values["kind"])
        base = (
            OtherDevice(type=kind) if kind not in DEVICE_KINDS else DEVICE_KINDS[kind]()
        )
        base = replace(base, name=name, link=link, pose=site_pose)
        return replace(base, **usable(base, kept_values, skip=("link", "pose")))


class DeviceWriter:
    """Writes the devices of a body.

    Sensors are added to `sensors` in the order of the body's devices.
    """

    def __init__(self, output: Output, sensors: Element) -> None:
        self.names = output.names
        self.kept = output.kept
        self.problems = output.problems
        self.sensors = sensors
        self.renamed = output.renamed
        self.sites: dict[str, Site] = {}
        self.order: dict[int, int] = {}
        """By id of an element, the position of a sensor in the file that the body was read from."""

    def write(self, body: Element, device: Device, order: int | None) -> None:
        """Add a device to the body of its link.

        `order` is its number among all devices, where that of the tree differs.
        """
        wanted = device.name or f"{device.kind}_{max(device.id, 0)}"
        if isinstance(device, VisionSensor):
            name = self.names.free("camera", wanted)
            self.renamed.add("camera", device.name, name)
            own = attributes_of(mjcf_values(device.extra).get("camera"))
            image = _image(device)
            if (device.width, device.height) != (
                VisionSensor.width,
                VisionSensor.height,
            ):
                own.pop("resolution", None)
            if "sensorsize" in own or "focal" in own or "focalpixel" in own:
                image.pop("fovy", None)
            body.add(
                "camera", {"name": name, **pose_attributes(device.pose), **image, **own}
            )
        elif self._as_read(body, device, order):
            return
        else:
            name = self.names.free("site", wanted)
            self.renamed.add("device", device.name, name)
            own = {
                k: v
                for k, v in attributes_of(mjcf_values(device.extra).get("site")).items()
                if k != "name"
            }
            body.add("site", {"name": name, **pose_attributes(device.pose), **own})
            self.sites[name] = device.link, device.pose
            self._sense(body, device, name)
        self.kept.add(
            "device",
            name,
            {"kind": device.kind, **_kept_values(device, name, type(device)(), order)},
        )

    def _as_read(self, body: Element, device: Device, order: int | None) -> bool:
        """Write a device as the site and sensors that it was read from.

        False where it was read from none, or has changed.
        """
        own = mjcf_values(device.extra)
        site = attributes_of(own.get("site"))
        sensors = own.get("sensors")
        if isinstance(device, OtherDevice):
            kind = None
        else:
            kind = device.kind
        name = site.get("name", "")
        if isinstance(sensors, (list, tuple)):
            entries = sensors
        else:
            entries = ()
        sensor_entries = [one for one in entries if isinstance(one, Mapping)]
        if not name or {
            SENSORS.get(str(one.get("element"))) for one in sensor_entries
        } != ({kind} if kind else set()):
            return False
        pose = device.pose
        if kind == "RangeSensor":
            rotation = rotations.multiply(
                rotations.normalized(pose[3:]), rotations.conjugate(RAY_ROTATION)
            )
            pose = poses.from_parts(pose[:3], rotation)
        known_site = self.sites.get(name)
        if known_site is None:
            if self.names.free("site", name) != name:
                self.names.release("site", name)
                return False
            self.sites[name] = device.link, pose
            body.add("site", {**site, **pose_attributes(pose)})
        elif known_site[0] != device.link or not np.allclose(
            known_site[1], pose, rtol=0, atol=1e-9
        ):
            return False
        read_back: Device = type(device)()
        for one in sensor_entries:
            attributes = {
                key: value
                for key, value in attributes_of(one).items()
                if key != "element"
            }
            limit = _limit_of(device, str(one["element"]))
            known = first_number(attributes, "cutoff") or 0.0
            if limit != (
                known
                if 0 < known < np.inf
                else _limit_of(read_back, str(one["element"]))
            ):
                attributes["cutoff"] = number_text(limit)
            if "name" in attributes:
                sensor = self.names.free("sensor", attributes["name"])
                attributes["name"] = self.renamed.add(
                    "sensor", attributes["name"], sensor
                )
            element = self.sensors.add(
                str(one["element"]), {**attributes, "site": name}
            )
            file_order = one.get("order")
            if isinstance(file_order, int):
                self.order[id(element)] = file_order
        named = next(
            (str(one.get("name")) for one in sensor_entries[:1] if one.get("name")),
            name,
        )
        self.renamed.add("device", device.name, named)
        values = _kept_values(device, named, read_back, order)
        if values != {"id": -1}:
            self.kept.add("sensing", f"{name} {kind}" if kind else name, values)
        return True

    def _sense(self, body: Element, device: Device, site: str) -> None:
        sensors = [sensor for sensor, kind in SENSORS.items() if kind == device.kind]
        if isinstance(device, RangeSensor):
            self._rays(body, device, site)
        elif not sensors and device.kind != "site":
            self._report(
                device,
                f"MuJoCo has no {device.kind}: only its pose is written, as a site",
            )
        else:
            for sensor in sensors:
                self._sensor(
                    sensor,
                    site if len(sensors) == 1 else f"{site}_{sensor}",
                    site,
                    _limit_of(device, sensor),
                )

    def _rays(self, body: Element, device: RangeSensor, site: str) -> None:
        if device.num_rays > MAX_RAYS:
            self._report(
                device,
                f"it has {device.num_rays} rays, more than {MAX_RAYS}: they are not "
                "written",
            )
            return
        for number, angle in enumerate(device.ray_angles.tolist()):
            name = self.names.free("site", f"{site}_ray{number}")
            # A site measures along z, the sensor along −z; it scans about y.
            rotation = rotations.multiply(
                rotations.from_axis_angle([0.0, 1.0, 0.0], angle), RAY_ROTATION
            )
            rotation = rotations.multiply(
                rotations.normalized(device.pose[3:]), rotation
            )
            body.add(
                "site",
                {
                    "name": name,
                    **pose_attributes(poses.from_parts(device.pose[:3], rotation)),
                },
            )
            self._sensor("rangefinder", name, name, _limit_of(device, "rangefinder"))

    def _sensor(self, kind: str, name: str, site: str, cutoff: float) -> None:
        sensor = self.names.free("sensor", name)
        self.renamed.add("sensor", name, sensor)
        attributes = {"name": sensor, "site": site}
        if cutoff > 0:
            attributes["cutoff"] = number_text(cutoff)
        self.sensors.add(kind, attributes)

    def _report(self, device: Device, message: str) -> None:
        message = f"{device.kind} {device.name}: {message}"
        if device.kind in EFFECTS:
            rule = losses.DEVICE.as_note
        else:
            rule = losses.DEVICE
        self.problems.add(rule.problem(message, Location(inside=f"link {device.link}")))


def _kept_values(
    device: Device, name: str, base: Device, order: int | None
) -> dict[str, object]:
    """Return what the elements called `name` do not hold of a device, which is read from them as `base`."""
    extra = {key: value for key, value in device.extra.items() if key != "mjcf"}
    return {
        "id": device.id,
        **({"name": device.name} if device.name != name else {}),
        **differences(device, base, skip=_COMMON),
        **({"extra": extra} if extra else {}),
        **({"order": order} if order is not None else {}),
    }


def _limit_of(device: Device, sensor: str) -> float:
    """Return the limit of one of a device's sensors, which is one number for all directions in MuJoCo.

    0 where there is none.
    """
    limit = np.atleast_1d(
        device.max_distance
        if isinstance(device, RangeSensor)
        else getattr(device, LIMITS[sensor])
    )
    first = float(limit[0])
    if np.isfinite(first) and first > 0 and (limit == first).all():
        return first
    return 0.0


def _image(device: VisionSensor) -> dict[str, str]:
    width = int(device.width)
    height = int(device.height)
    # The field of view is that of the height in MuJoCo, that of the shorter side in a
    # Body, as in Choreonoid.
    angle = angle_over(device.field_of_view, min(width, height), height)
    if 0 < angle < np.pi:
        attributes = {"fovy": number_text(np.degrees(angle))}
    else:
        attributes = {}
    return attributes | (
        {"resolution": f"{width} {height}"} if width > 0 and height > 0 else {}
    )
