"""Names and ids: who looks for one finds the right thing."""

from __future__ import annotations

from collections import defaultdict

from bodymotion.checks import rules
from bodymotion.checks.sheet import Sheet, name_of, some
from bodymotion.model.devices import Device

__all__ = ["check_names"]


def check_names(sheet: Sheet) -> None:
    """Check the names of links, joints and devices, and the ids of joints and devices."""
    _links(sheet)
    _devices(sheet)
    _joint_ids(sheet)
    _device_ids(sheet)


def _links(sheet: Sheet) -> None:
    first: dict[str, int] = {}
    joints: dict[str, int] = {}
    for link in sheet.body.links:
        if not link.name:
            sheet.of_link(rules.NO_NAME, link, "has no name")
        elif link.name in first:
            sheet.of_link(rules.SAME_LINK, link, f"has the name of link {first[link.name]}, too")
        first.setdefault(link.name, link.index)
        name = link.joint.name
        if name and name in joints and first.get(name) == joints[name] != link.index and name == link.name:
            continue
        if name and name in joints:
            sheet.of_link(rules.SAME_JOINT, link, f"has the joint {name!r}, as has link {joints[name]}", "name")
        joints.setdefault(name, link.index)


def _devices(sheet: Sheet) -> None:
    seen: set[tuple[int, str, str]] = set()
    for number, device in enumerate(sheet.body.devices):
        key = (device.link, device.kind, device.name)
        if device.name and key in seen:
            sheet.of_device(rules.SAME_DEVICE, number, "is on this link twice")
        seen.add(key)


def _joint_ids(sheet: Sheet) -> None:
    first: dict[int, str] = {}
    for link in sheet.body.links:
        number = link.joint.id
        if number >= 0 and number in first:
            sheet.of_link(rules.ID_TWICE, link, f"has the joint id {number}, as has {first[number]}", "id")
        elif number >= 0:
            first[number] = repr(link.name) if link.name else f"link {link.index}"
    gaps = _gaps(set(first))
    if gaps:
        sheet.of_body(rules.ID_GAP, f"no joint has the id {some(gaps)}")


def _device_ids(sheet: Sheet) -> None:
    if sheet.body.source.format not in ("openhrp", "body", "") or sheet.is_said(rules.DEVICE_ID):
        # Ids of devices are a matter of OpenHRP and Choreonoid; other formats know none.
        return
    first: dict[str, dict[int, Device]] = defaultdict(dict)
    for number, device in enumerate(sheet.body.devices):
        if device.id >= 0 and device.id in first[device.kind]:
            other = name_of(first[device.kind][device.id])
            sheet.of_device(rules.DEVICE_ID, number, f"has the id {device.id}, as has {other}")
        elif device.id >= 0:
            first[device.kind][device.id] = device
    for kind, known in first.items():
        gaps = _gaps(set(known))
        if gaps:
            sheet.of_body(rules.DEVICE_ID, f"no {kind} has the id {some(gaps)}")


def _gaps(ids: set[int]) -> list[str]:
    highest = min(max(ids, default=-1), len(ids) + 20)
    return [str(number) for number in range(highest) if number not in ids]
