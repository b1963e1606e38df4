"""What devices and joints look like as lines: camera frusta, range fans, sensors, all as segments (N, 2, 3) in the device's own frame.

A device looks along −z with +y up; a range sensor sweeps the XZ plane from −z towards the sides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.model.devices import Device, RangeSensor, VisionSensor

__all__ = ["MOST_RAYS", "device_outline"]

MOST_RAYS = 61
"""So many rays of a range sensor are drawn at most; the fan's edges always are."""


def device_outline(device: Device, size: float) -> Floats:
    """Return the lines (N, 2, 3) [m] of a device on a robot of `size` metres.

    Cameras and range sensors are drawn no farther than half the robot's size, since their true reach (often 10 m) would fill the view.
    """
    if isinstance(device, VisionSensor):
        return _frustum(device, 0.35 * size)
    if isinstance(device, RangeSensor):
        return _fan(device, 0.6 * size)
    return _cross(0.04 * size)


def _frustum(device: VisionSensor, reach: float) -> Floats:
    seen = device.field_of_view if 0 < device.field_of_view < np.pi else np.pi / 4
    right, up = replace(device, field_of_view=seen, width=max(device.width, 1), height=max(device.height, 1)).half_size
    depth = min(reach, device.back_clip_distance) if device.back_clip_distance > 0 else reach
    near = min(device.front_clip_distance, 0.5 * depth) if device.front_clip_distance > 0 else 0.0
    corners = np.array([[-right, -up, -1.0], [right, -up, -1.0], [right, up, -1.0], [-right, up, -1.0]])
    corners *= depth / max(1.0, float(np.linalg.norm(corners[0])))
    close = corners * (near / depth)
    peak = np.array([0.0, up * 1.35, -1.0]) * (-corners[0, 2])
    lines = [(close[i], corners[i]) for i in range(4)]
    lines += [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    lines += [(close[i], close[(i + 1) % 4]) for i in range(4)]
    lines += [(corners[3], peak), (peak, corners[2])]
    return np.array(lines)


def _fan(device: RangeSensor, reach: float) -> Floats:
    angle = min(device.scan_angle, 2 * np.pi) if device.scan_angle > 0 else 0.0
    length = min(reach, max(device.max_distance, 1e-3)) if device.max_distance > 0 else reach
    half = 0.5 * angle
    step = min(max(device.scan_step, 1e-9), 2 * np.pi) if device.scan_step > 0 else angle
    side = int(half / step + 1e-9) if step > 0 else 0
    if side > MOST_RAYS // 2:
        side = MOST_RAYS // 2
        step = half / side
    angles = np.arange(-side, side + 1) * step
    tips = length * np.stack([np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=1)
    rays = np.stack([np.zeros_like(tips), tips], axis=1)
    sweep = np.linspace(-half, half, 33)
    arc = length * np.stack([np.sin(sweep), np.zeros_like(sweep), -np.cos(sweep)], axis=1)
    return np.concatenate([rays, np.stack([arc[:-1], arc[1:]], axis=1)])


def _cross(arm: float) -> Floats:
    tips = np.eye(3) * arm
    square = 0.5 * arm * np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    edges = np.stack([square, np.roll(square, -1, axis=0)], axis=1)
    return np.concatenate([np.stack([-tips, tips], axis=1), edges])
