"""The devices of a model: Gazebo's sensors, and those that <bodymotion> adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import one_line
from bodymotion.formats.urdf.sensors import read_sensor
from bodymotion.model.devices import (
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    OtherDevice,
    RangeSensor,
    VisionSensor,
)

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.urdf.extension import Extension, Said
    from bodymotion.formats.urdf.tree import Node
    from bodymotion.formats.xml.tree import Element

__all__ = ["KINDS", "read_devices", "sensor_key"]

KINDS: dict[str, type[Device]] = {
    kind.__name__: kind for kind in (AccelerationSensor, Gyro, VisionSensor, ForceSensor, RangeSensor)
}
HIGHEST_ID = 9999


def sensor_key(link: str, name: str, number: int) -> str:
    """Return the name by which <bodymotion> means the device of a sensor: of several of one name on a link, with its number."""
    return f"{link}/{name}" if number == 1 else f"{link}/{name}#{number}"


def read_devices(
    robot: Element,
    nodes: list[Node],
    names: Mapping[str, int],
    said: Extension,
    problems: list[Problem],
    left: list[str],
) -> tuple[tuple[Device, ...], list[Location]]:
    """Return the devices, and where they stand in the file.

    Their ids count those of one kind in the order of the file, unless <bodymotion> says others. <gazebo> elements with anything but
    sensors are added to `left` as XML, without the sensors.
    """
    holds = {node.joint.get("name"): index for index, node in enumerate(nodes) if node.joint is not None}
    found: dict[str, tuple[Device, Location]] = {}
    counts: dict[str, int] = {}
    numbers: dict[tuple[str, str], int] = {}
    unmeant = {one.element.get("sensor") for one in said.devices if _is_unmeant(one)}
    for block in robot.all("gazebo"):
        reference = block.get("reference")
        link = names.get(reference, holds.get(reference, -1))
        sensors = list(block.all("sensor"))
        if reference and link < 0:
            wrong = f"the reference {reference!r:.60} is no link, and no joint"
            problems.append(rules.SENSOR_LINK.problem(wrong, block.location))
        if sensors and link >= 0:
            for sensor in sensors:
                # A force sensor is a joint's: where a link has the joint's name, too, the joint is meant.
                at = holds.get(reference, link) if sensor.get("type") == "force_torque" else link
                for device in read_sensor(sensor, problems):
                    title = nodes[at].link.get("name")
                    same = title, device.name
                    numbers[same] = numbers.get(same, 0) + 1
                    key = sensor_key(title, device.name, numbers[same])
                    if key in unmeant:
                        continue
                    counts[device.kind] = counts.get(device.kind, -1) + 1
                    found[key] = replace(device, link=at, id=counts[device.kind]), sensor.location
            rest = replace(block, children=[child for child in block.children if child.name != "sensor"])
            if rest.children:
                left.append(one_line(rest))
        else:
            left.append(one_line(block))
    return _with_said(found, names, said, problems)


def _is_unmeant(one: Said) -> bool:
    """Whether <bodymotion> says of a half of an IMU that the body has no such device."""
    return one.element.get("meant") == "no"


def _with_said(
    found: dict[str, tuple[Device, Location]], names: Mapping[str, int], said: Extension, problems: list[Problem]
) -> tuple[tuple[Device, ...], list[Location]]:
    devices: list[tuple[Device, Location]] = []
    for one in said.devices:
        element = one.element
        if _is_unmeant(one):
            continue
        if "sensor" in element.attributes:
            known = found.pop(element.attributes["sensor"], None)
            if known is None:
                wrong = f"there is no sensor {element.get('sensor')!r:.60} any more"
                problems.append(rules.CHANGED.problem(wrong, element.location))
                continue
            base, place = known
        else:
            link = names.get(element.get("link"), -1)
            if link < 0:
                one.wrong(f"{element.get('link')!r:.60} is no link", problems)
                continue
            kind = element.get("kind")
            base = KINDS[kind](link=link) if kind in KINDS else OtherDevice(link=link, type=kind)
            place = element.location
        number = one.values.get("id", base.id)
        if isinstance(number, bool) or not isinstance(number, int) or not -1 <= number <= HIGHEST_ID:
            one.wrong(f"the id {number!r:.40} is no small whole number", problems)
            number = -1
        devices.append((replace(one.applied(base, problems, skip=("id", "link", "type_")), id=number), place))
    devices += found.values()
    return tuple(device for device, _ in devices), [place for _, place in devices]
