"""Devices: where they are, and whether they can measure anything."""

from __future__ import annotations

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.sheet import Sheet, distance, size
from bodymotion.model.devices import Device, RangeSensor, VisionSensor

__all__ = ["check_devices"]

FAR = 2.0
"""A device may be outside the box around its link's shapes by so many diagonals of it, and at least by `NEAR`."""
NEAR = 0.5
"""[m]"""


def check_devices(sheet: Sheet) -> None:
    """Check each device."""
    for number, device in enumerate(sheet.body.devices):
        if not 0 <= device.link < len(sheet.body.links):
            sheet.of_device(rules.DEVICE_LINK, number, f"is on link {device.link}; there are {len(sheet.body.links)}")
            continue
        _place(sheet, number, device)
        if isinstance(device, VisionSensor):
            _camera(sheet, number, device)
        if isinstance(device, RangeSensor):
            _scan(sheet, number, device)


def _place(sheet: Sheet, number: int, device: Device) -> None:
    place, box = device.pose[:3], sheet.boxes[device.link]
    if not np.isfinite(place).all():
        return
    outside = float(np.linalg.norm(place)) if box is None else distance(box, place)
    whole = sheet.diagonal if box is None else FAR * size(box)
    if outside > max(whole, NEAR):
        shown = " ".join(f"{value:.4g}" for value in place)
        link = sheet.body.links[device.link]
        said = "from the link's frame" if box is None else "outside of the link's shape"
        sheet.of_device(rules.DEVICE_FAR, number, f"is at {shown} m in link {link.name!r}, {outside:.3g} m {said}")


def _camera(sheet: Sheet, number: int, device: VisionSensor) -> None:
    odd = []
    if not 0 < device.field_of_view <= 2 * np.pi:
        odd.append(f"a field of view of {device.field_of_view:g} rad")
    if not 0 < device.front_clip_distance < device.back_clip_distance:
        odd.append(f"the clip distances {device.front_clip_distance:g} and {device.back_clip_distance:g} m")
    if min(device.width, device.height) < 1 or not device.frame_rate > 0:
        odd.append(f"an image of {device.width} × {device.height} at {device.frame_rate:g} Hz")
    if odd:
        sheet.of_device(rules.CAMERA, number, f"has {' and '.join(odd)}")


def _scan(sheet: Sheet, number: int, device: RangeSensor) -> None:
    if (
        0 <= device.scan_angle <= 2 * np.pi + 1e-3
        and (device.scan_step > 0 or device.scan_angle == 0)
        and device.scan_rate > 0
        and device.max_distance > 0
    ):
        return
    said = (
        f"scans {device.scan_angle:g} rad in steps of {device.scan_step:g}, {device.scan_rate:g} times a second, "
        f"up to {device.max_distance:g} m"
    )
    sheet.of_device(rules.SCAN, number, said)
