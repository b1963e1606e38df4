"""Sites, cameras and sensors as devices, and equalities that close loops as extra joints."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from bodymotion.formats.kept_json import usable
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Item, finite, pose
from bodymotion.formats.mjcf.extra import SITE_ATTRIBUTES
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import ExtraJoint, ExtraJointType
from bodymotion.model.links import (
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
    from bodymotion.formats.mjcf.bodies import RawLink
    from bodymotion.formats.mjcf.defaults import Defaults, Settings
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.xml.tree import Element

KINDS: dict[str, type[Device]] = {
    kind.__name__: kind for kind in (AccelerationSensor, Gyro, ForceSensor, VisionSensor, RangeSensor)
}
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
CAMERA_ATTRIBUTES = ("name", "class", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "fovy", "resolution")
RAY_ROTATION = np.array([0.0, 1.0, 0.0, 0.0])
"""The rotation between a rangefinder's site, which measures along +z, and a range sensor, which measures along −z."""


@dataclass(frozen=True)
class Site:
    """A site: its link, its pose (7,) in the frame of the link, and its element."""

    link: int
    pose: Floats
    element: Element


class DeviceReader:
    """Reads the devices of a model: sites, cameras, and the sensors at sites."""

    def __init__(self, settings: Settings, defaults: Defaults, kept: Kept) -> None:
        self.settings, self.defaults, self.kept = settings, defaults, kept
        self.sites: dict[str, Site] = {}
        self.others: list[Element] = []
        """Sensors that are no devices."""
        self._ids: dict[str, int] = {}
        self.order: dict[int, int] = {}
        """By id of an element, the position of a sensor in the file."""
        self._all: list[Element] = []

    def find_sites(self, links: list[RawLink]) -> None:
        """Collect the sites of all links."""
        for index, link in enumerate(links):
            for item in link.items:
                name = item.element.get("name")
                if item.element.name == "site" and name:
                    if name in self.sites:
                        item.element.report(rules.SAME_NAME, f"a second site has the name {name!r:.60}")
                    self.sites.setdefault(name, Site(index, self._pose(item), item.element))

    def read(
        self, root: Element, links: list[RawLink], used: set[str], left_out: set[str]
    ) -> list[tuple[Device, Element]]:
        """Return the devices in link order, and their elements.

        `used` are the sites of closed loops, `left_out` those of bodies that are not read.
        """
        sensing = self._sensors(root, left_out)
        found: list[tuple[Device, Element, Any]] = []
        own = {name for name in self.sites if self.kept.get("device", name).get("kind") is not None}
        scanners = {f"{name}_ray" for name in own if self.kept.get("device", name)["kind"] == "RangeSensor"}
        rays = {name for name in self.sites if "_ray" in name and f"{name.rpartition('_ray')[0]}_ray" in scanners}
        for index, link in enumerate(links):
            for item in link.items:
                element = item.element
                name = element.get("name")
                kept_values = self.kept.get("device", name) if name else {}
                if name in used or name in rays:
                    continue
                site_pose = self._pose(item)
                if element.name == "camera":
                    made = [self._camera(item, index, site_pose, kept_values)]
                elif kept_values.get("kind") is not None:
                    made = [self._kept(kept_values, name, index, site_pose)]
                else:
                    made = self._of_site(item, index, site_pose, sensing.get(name, []) if name else [])
                found += [(device, element, self._order(kept_values, name, device)) for device in made]
        if found and all(isinstance(order, int) for _, _, order in found):
            found.sort(key=lambda one: one[2])
        return [(device, element) for device, element, _ in found]

    def _order(self, kept_values: dict[str, object], name: str, device: Device) -> object:
        key = name if isinstance(device, OtherDevice) else f"{name} {device.kind}"
        return kept_values.get("order", self.kept.get("sensing", key).get("order"))

    def _pose(self, item: Item) -> Floats:
        element = item.element
        if "fromto" in element.attributes:
            ends = finite(element, "fromto", 6)
            own = poses.from_parts(0.5 * (ends[:3] + ends[3:]), rotations.IDENTITY)
        else:
            own = pose(element, self.settings)
        return frozen(own if item.frame is None else poses.compose(item.frame, own))

    def _sensors(self, root: Element, left_out: set[str]) -> dict[str, list[Element]]:
        """Return the sensors at each site; collect the others in `others`."""
        found: dict[str, list[Element]] = {}
        for section in root.all("sensor"):
            for plain in section.children:
                element = self.defaults.full(plain)
                self.order[id(element)] = len(self.order)
                self._all.append(element)
                site = element.get("site")
                if element.name not in SENSORS or (not site and element.name == "rangefinder") or site in left_out:
                    self.others.append(element)
                    continue
                if site not in self.sites:
                    if site or not element.partial:
                        message = f"<{element.name}> names the site {site!r:.60}, which does not exist"
                        element.report(rules.REFERENCE, message, "site", fatal=True)
                    continue
                found.setdefault(site, []).append(element)
        return found

    def _next(self, kind: str) -> int:
        number = self._ids.get(kind, 0)
        self._ids[kind] = number + 1
        return number

    def _of_site(self, item: Item, link: int, site_pose: Floats, sensors: list[Element]) -> list[Device]:
        """Return a device for each kind of sensor at a site (one for force and torque), or one for a site without sensors."""
        name = item.element.get("name")
        site = self._site_extra(item)
        if not sensors:
            return [self._changed(OtherDevice(name=name, link=link, pose=site_pose, type="site", extra=site), name)]
        attributes_of: dict[str, list[dict[str, object]]] = {}
        made: dict[str, Device] = {}
        for element in sensors:
            kind = SENSORS[element.name]
            if kind not in made:
                at = site_pose
                if kind == "RangeSensor":
                    at = poses.from_parts(
                        site_pose[:3], rotations.multiply(rotations.normalized(site_pose[3:]), RAY_ROTATION)
                    )
                made[kind] = KINDS[kind](name=element.get("name") or name, id=self._next(kind), link=link, pose=at)
                if kind == "RangeSensor":
                    made[kind] = replace(made[kind], scan_angle=0.0)  # type: ignore[call-arg]
            # The attributes in the file, for the writer.
            values = {key: value for key, value in element.attributes.items() if key not in ("site", "class")}
            attributes_of.setdefault(kind, []).append(
                {"element": element.name, "order": self.order[id(element)], **values}
            )
            cutoff = element.number("cutoff", 0.0)
            if 0 < cutoff < math.inf:
                limit = (
                    {LIMITS[element.name]: frozen([cutoff] * 3)} if element.name in LIMITS else {"max_distance": cutoff}
                )
                made[kind] = replace(made[kind], **limit)
        for kind, device in made.items():
            extra = site.get("mjcf", {"site": {"name": name}})
            assert isinstance(extra, dict)
            extra = {"mjcf": {**extra, "sensors": attributes_of[kind]}}
            made[kind] = self._changed(replace(device, extra=extra), f"{name} {kind}")
        return list(made.values())

    def _site_extra(self, item: Item) -> dict[str, object]:
        """Return the attributes of a site without its pose, as the `extra` of a device."""
        element = item.element
        kept_values: dict[str, object] = {k: v for k, v in element.attributes.items() if k not in SITE_ATTRIBUTES}
        if "fromto" in element.attributes:
            ends = finite(element, "fromto", 6)
            radius = [*element.numbers("size", None, (0.005,)), 0.005][0]
            kept_values["size"] = number_text([radius, 0.5 * float(np.linalg.norm(ends[:3] - ends[3:]))])
        if not kept_values:
            return {}
        return {"mjcf": {"site": {"name": element.get("name"), **kept_values}}}

    def _changed(self, device: Device, key: str) -> Device:
        """Return a device of a site and sensors with what <custom> keeps of it."""
        kept_values = self.kept.get("sensing", key)
        if not kept_values:
            return device
        found = usable(device, kept_values, skip=("link", "pose"))
        found["extra"] = {**found.get("extra", {}), **device.extra}
        return replace(device, **found)

    def _camera(self, item: Item, link: int, site_pose: Floats, kept_values: dict[str, object]) -> Device:
        element = item.element
        width, height = (int(n) for n in finite(element, "resolution", 2, (1.0, 1.0)))
        vertical = math.radians(element.number("fovy", 45.0))
        sensor, focal = element.numbers("sensorsize", 2, (0.0, 0.0)), element.numbers("focal", 2, (0.0, 0.0))
        if sensor[1] > 0 and focal[1] > 0:
            vertical = 2.0 * math.atan(0.5 * sensor[1] / focal[1])
        extra = {key: value for key, value in element.attributes.items() if key not in CAMERA_ATTRIBUTES}
        name = element.get("name")
        kept = self._kept(kept_values, name, link, site_pose) if kept_values.get("kind") == "VisionSensor" else None
        as_kept = isinstance(kept, VisionSensor) and (kept.width, kept.height) == (width, height)
        if (width <= 1 or height <= 1) and not as_kept:
            # In MuJoCo, such a camera makes no images.
            extra["resolution"] = f"{width} {height}"
        if isinstance(kept, VisionSensor):
            had = angle_over(kept.field_of_view, min(kept.width, kept.height), kept.height)
            if width <= 1 or height <= 1:
                width, height = kept.width, kept.height
            if (width, height) != (kept.width, kept.height) or (
                "fovy" in element.attributes and not math.isclose(had, vertical, rel_tol=1e-9)
            ):
                shorter = angle_over(vertical, height, min(width, height))
                kept = replace(kept, width=width, height=height, field_of_view=shorter)
            return replace(kept, extra={**kept.extra, "mjcf": {"camera": extra}}) if extra else kept
        default = VisionSensor()
        if width <= 1 or height <= 1:
            width, height = default.width, default.height
        return VisionSensor(
            name=name,
            id=self._next("VisionSensor"),
            link=link,
            pose=site_pose,
            extra={"mjcf": {"camera": extra}} if extra else {},
            type="COLOR",
            field_of_view=angle_over(vertical, height, min(width, height)),
            width=width,
            height=height,
        )

    def _kept(self, kept_values: dict[str, object], name: str, link: int, site_pose: Floats) -> Device:
        """Return the device that <custom> keeps of a site."""
        kind = str(kept_values["kind"])
        base = OtherDevice(type=kind) if kind not in KINDS else KINDS[kind]()
        base = replace(base, name=name, link=link, pose=site_pose)
        return replace(base, **usable(base, kept_values, skip=("link", "pose")))


TYPES: tuple[ExtraJointType, ...] = get_args(ExtraJointType)


class LoopReader:
    """Reads the extra joints of a model: equalities that hold points together."""

    def __init__(self, defaults: Defaults, kept: Kept, sites: dict[str, Site]) -> None:
        self.defaults, self.kept, self.sites = defaults, kept, sites
        self.others: list[Element] = []
        """Equalities that are no extra joints."""
        self.tendons: set[str] = set()
        """Tendons that our writer made for extra joints."""
        self.used_sites: set[str] = set()
        """Sites that our writer made for the ends of extra joints."""

    def read(
        self, root: Element, of_body: dict[str, int], reference: Floats, left_out: set[str]
    ) -> list[tuple[ExtraJoint, Element]]:
        """Return the extra joints, and their elements.

        `of_body` is the link of each body, `reference` (L, 7) the poses of the links with the joint values of the poses in the file: an
        anchor is in these. `left_out` are the names of bodies and sites that are not read.
        """
        found: list[tuple[ExtraJoint, Element, Any]] = []
        listed = self.kept.get("body", "").get("mimics")
        mimics = listed if isinstance(listed, list) else []
        # Equalities have no defaults of their own element names: those of "equality" apply to all.
        elements = [child for section in root.all("equality") for child in section.children]
        named = {element.get("name"): element for element in elements}
        for name in self.kept.names("loop"):
            made = self._kept(name, named.get(name), root)
            if made is not None:
                found.append(made)
        for element in elements:
            if self._ours(element) or (element.name == "joint" and element.get("name") in mimics):
                continue
            ends = {element.get(name) for name in ("site1", "site2", "body1", "body2")} - {""}
            if element.get("active", "true") == "false" or ends & left_out:
                self.others.append(element)
                continue
            joint = self._connect(element, of_body, reference) if element.name == "connect" else None
            if joint is None:
                self.others.append(element)
            else:
                found.append((joint, element, None))
        if found and all(isinstance(order, int) for _, _, order in found):
            found.sort(key=lambda one: one[2])
        return [(joint, element) for joint, element, _ in found]

    def _kept(self, name: str, element: Element | None, root: Element) -> tuple[ExtraJoint, Element, Any] | None:
        kept_values = self.kept.get("loop", name)
        ends = kept_values.get("sites")
        kind = next((kind for kind in TYPES if kind == kept_values.get("type")), None)
        if (
            kind is None
            or not isinstance(ends, list)
            or len(ends) != 2
            or not all(end in self.sites for end in map(str, ends))
        ):
            return None
        one, two = (self.sites[str(end)] for end in ends)
        if element is None and one.link != two.link:
            # The constraint was removed from the file.
            return None
        self.used_sites |= {
            end for end in self.sites if end.startswith(f"{name}_") and (end in ends or self._of_loop(end, name))
        }
        positions = np.stack([one.pose[:3], two.pose[:3]])
        base = ExtraJoint(name=name, type=kind, links=(one.link, two.link), positions=positions)
        joint = replace(base, **usable(base, kept_values, skip=("links", "positions")))
        return joint, root if element is None else element, kept_values.get("order")

    @staticmethod
    def _of_loop(site: str, name: str) -> bool:
        rest = site.removeprefix(f"{name}_")
        return rest.isdecimal() or rest.removeprefix("far").isdecimal()

    def _ours(self, element: Element) -> bool:
        """Return whether our writer made an equality for an extra joint."""
        sites = {element.get("site1"), element.get("site2")} - {""}
        if sites:
            return sites <= self.used_sites
        rope = element.get("tendon1")
        for name in self.kept.names("loop"):
            if element.name == "tendon" and rope.startswith(f"{name}_") and element.get("name").startswith(name):
                self.tendons.add(rope)
                return True
        return False

    def _connect(self, element: Element, of_body: dict[str, int], reference: Floats) -> ExtraJoint | None:
        name = element.get("name")
        if "site1" in element.attributes or "site2" in element.attributes:
            ends = [element.need("site1"), element.need("site2")]
            for end in ends:
                if end and end not in self.sites:
                    element.report(
                        rules.REFERENCE, f"<connect> names the site {end!r:.60}, which does not exist", fatal=True
                    )
            if any(end not in self.sites for end in ends):
                return None
            one, two = (self.sites[end] for end in ends)
            return ExtraJoint(
                name=name,
                type="ball",
                links=(one.link, two.link),
                positions=np.stack([one.pose[:3], two.pose[:3]]),
                extra={"mjcf": _attributes(element)},
            )
        bodies = [element.need("body1"), element.get("body2", "world") or "world"]
        links = []
        for body in bodies:
            if body == "world" and body not in of_body:
                message = f"equality {name!r:.60} holds a body to the world, which is no link"
                element.report(rules.EQUALITY, message)
                return None
            if body not in of_body:
                if body:
                    element.report(
                        rules.REFERENCE, f"<connect> names the body {body!r:.60}, which does not exist", fatal=True
                    )
                continue
            links.append(of_body[body])
        first = finite(element, "anchor", 3)
        if len(links) < 2:
            return None
        point = poses.transform_points(reference[links[0]], first)
        second = poses.transform_points(poses.inverse(reference[links[1]]), point)
        return ExtraJoint(
            name=name,
            type="ball",
            links=(links[0], links[1]),
            positions=np.stack([first, second]),
            extra={"mjcf": _attributes(element)},
        )


def _attributes(element: Element) -> dict[str, object]:
    """Return the attributes of a constraint without its name, for the writer."""
    return {key: value for key, value in element.attributes.items() if key != "name"}
