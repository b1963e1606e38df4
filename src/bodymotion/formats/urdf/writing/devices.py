"""The devices of a body: Gazebo's sensors, and what <bodymotion> says of them and of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf.devices import KINDS, sensor_key
from bodymotion.formats.urdf.sensors import read_sensor
from bodymotion.formats.urdf.writing.keeping import quiet_differences
from bodymotion.formats.urdf.writing.names import unique_names
from bodymotion.formats.urdf.writing.sensors import groups, sensor_element
from bodymotion.formats.xml.tree import Element, parse_xml, to_xml
from bodymotion.model.devices import ForceSensor, OtherDevice

if TYPE_CHECKING:
    from bodymotion.formats.urdf.writing.keeping import Keeper
    from bodymotion.formats.urdf.writing.tally import Tally
    from bodymotion.model.body import Body
    from bodymotion.model.devices import Device

__all__ = ["device_elements"]


def device_elements(
    body: Body, names: Sequence[str], joint_names: Sequence[str], keeper: Keeper, lost: Tally
) -> list[Element]:
    """Return the <gazebo> elements of the devices that Gazebo has; keep the others, and their order.

    `names` and `joint_names` are those of links and their joints in the file; what is lost is added to `lost`.
    """
    return _Devices(body, names, joint_names, keeper, lost).elements()


@dataclass(frozen=True)
class _Devices:
    body: Body
    names: Sequence[str]
    joint_names: Sequence[str]
    keeper: Keeper
    lost: Tally

    def elements(self) -> list[Element]:
        found: list[Element] = []
        said: dict[int, tuple[str, Device, int]] = {}
        """By the place of a device: the key of what it is read as, that, and the id that it is given."""
        counts: dict[str, int] = {}
        numbers: dict[tuple[str, str], int] = {}
        together = groups(self.body.devices)
        unmeant: list[str] = []
        for places, name in zip(together, self._sensor_names(together), strict=True):
            devices = {self.body.devices[place].kind: place for place in places}
            first = self.body.devices[places[0]]
            of_joint = isinstance(first, ForceSensor)
            sensor = None if of_joint and first.link == 0 else sensor_element(first, name)
            read = read_sensor(parse_xml(to_xml(sensor)), []) if sensor is not None else []
            if sensor is None or not devices.keys() <= {base.kind for base in read}:
                continue
            link = self.names[first.link]
            block = Element("gazebo", {"reference": self.joint_names[first.link] if of_joint else link})
            block.children.append(sensor)
            found.append(block)
            for base in read:
                numbers[link, name] = numbers.get((link, name), 0) + 1
                key = sensor_key(link, name, numbers[link, name])
                if base.kind not in devices:
                    unmeant.append(key)
                    self.keeper.note(f"that an IMU is a {first.kind} alone", first.name)
                else:
                    counts[base.kind] = counts.get(base.kind, -1) + 1
                    said[devices[base.kind]] = key, base, counts[base.kind]
        for place, device in enumerate(self.body.devices):
            if place in said:
                self._keep_sensor(device, *said[place])
            else:
                self._keep_device(device, self.names[device.link])
        for key in unmeant:
            self.keeper.put("device", {"sensor": key, "meant": "no"}, {}, always=True)
        return found

    def _sensor_names(self, together: list[list[int]]) -> list[str]:
        """Return each sensor a name that no other on its link has, as SDFormat wants it."""
        firsts = [self.body.devices[places[0]] for places in together]
        names = [unique_names([first.name], first.kind)[0] for first in firsts]
        of_links: dict[int, list[int]] = {}
        for number, first in enumerate(firsts):
            of_links.setdefault(first.link, []).append(number)
        for mine in of_links.values():
            for number, name in zip(mine, unique_names([names[k] for k in mine], "sensor"), strict=True):
                names[number] = name
        return names

    def _keep_sensor(self, device: Device, key: str, base: Device, number: int) -> None:
        values = self.keeper.differences(base, device, device.name, ("id", "link"), f"{device.kind} ")
        if device.id != number:
            values = {"id": device.id, **values}
            self.keeper.note(f"{device.kind} id", device.name)
        self.keeper.put("device", {"sensor": key}, values, always=True)

    def _keep_device(self, device: Device, link: str) -> None:
        base = KINDS[device.kind]() if device.kind in KINDS else OtherDevice(type=device.kind)
        words = f"URDF and Gazebo have no {device.kind}"
        if isinstance(device, ForceSensor):
            words = "a ForceSensor measures at a joint, and the root has none"
        self.lost.add(losses.DEVICE, words, device.name)
        values = quiet_differences(base, device)
        values = {"id": device.id, **values} if device.id >= 0 else values
        self.keeper.put("device", {"kind": device.kind, "link": link}, values, always=True)
