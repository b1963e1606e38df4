"""Sensors and other devices on a link, with the fields of the OpenHRP document in snake_case.

`pose` (7,) is in the link's frame. A device looks along its −z axis with +y up. A `max_…` of −1 means that there is no limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen

__all__ = [
    "AccelerationSensor",
    "Device",
    "ForceSensor",
    "Gyro",
    "OtherDevice",
    "RangeSensor",
    "VisionSensor",
    "angle_over",
]


MOST_RAYS = 10**6
"""So many rays of a range sensor are laid out, and no more."""
_COUNTABLE = 10**15


def _unlimited() -> Floats:
    return frozen([-1.0, -1.0, -1.0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Device(ContentEquality):
    """What all devices have: `name`, `id` (−1 none), `link` (index), `pose` (7,) in the link, unknown fields in `extra`."""

    name: str = ""
    id: int = -1
    link: int = 0
    pose: Floats = field(default_factory=lambda: poses.IDENTITY)
    extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", frozen(self.pose, (7,), "pose"))

    def __repr__(self) -> str:
        return f"{self.kind}({self.name!r}: id {self.id}, on link {self.link})"

    @property
    def kind(self) -> str:
        """The name of the device's node in the document, or in the file where the document has none such."""
        return type(self).__name__


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AccelerationSensor(Device):
    """Three-axis accelerometer: `max_acceleration` (3,) [m/s²]."""

    max_acceleration: Floats = field(default_factory=_unlimited)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Gyro(Device):
    """Three-axis rate gyro: `max_angular_velocity` (3,) [rad/s]."""

    max_angular_velocity: Floats = field(default_factory=_unlimited)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ForceSensor(Device):
    """Six-axis force and torque sensor: `max_force` (3,) [N], `max_torque` (3,) [Nm]."""

    max_force: Floats = field(default_factory=_unlimited)
    max_torque: Floats = field(default_factory=_unlimited)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class VisionSensor(Device):
    """Camera: `type` is COLOR, DEPTH, COLOR_DEPTH or NONE; `field_of_view` [rad]; clip distances [m]; pixels; [Hz].

    The field of view is the angle over the shorter side of the picture.
    """

    type: str = "NONE"
    field_of_view: float = 0.785398
    front_clip_distance: float = 0.01
    back_clip_distance: float = 10.0
    width: int = 320
    height: int = 240
    frame_rate: float = 30.0

    @property
    def half_size(self) -> tuple[float, float]:
        """Half the width and half the height [m] of what the picture shows of a plane one metre ahead.

        Raises
        ------
        ValueError
            For a picture without pixels, or a field of view that is not between 0 and π.
        """
        if min(self.width, self.height) < 1 or not 0 < self.field_of_view < math.pi:
            raise ValueError(
                f"{self.name or 'a camera'} can take no picture of {self.width} × {self.height} pixels "
                f"over a field of view of {self.field_of_view:g} rad"
            )
        shorter = math.tan(0.5 * self.field_of_view) / min(self.width, self.height)
        return shorter * self.width, shorter * self.height


def angle_over(angle: float, pixels: int, across: int) -> float:
    """Return the angle [rad] that a camera sees over `across` pixels in a line, where it sees `angle` over `pixels` of them.

    Formats say it of the width, the height or the shorter side. What is no angle of a camera, or has no pixels, stays as it is.
    """
    if across == pixels or min(across, pixels) < 1 or not 0 < angle < math.pi:
        return angle
    return 2.0 * math.atan(math.tan(0.5 * angle) * across / pixels)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RangeSensor(Device):
    """Laser range finder scanning the XZ plane: `scan_angle`, `scan_step` [rad], `scan_rate` [Hz], `max_distance` [m]."""

    scan_angle: float = 3.14159
    scan_step: float = 0.1
    scan_rate: float = 10.0
    max_distance: float = 10.0

    @property
    def num_rays(self) -> int:
        """How many rays there are, which takes no time however many; 1 where angle or step say nothing."""
        return 2 * self._half + 1

    @property
    def ray_angles(self) -> Floats:
        """The angles (N,) [rad] of the rays from −z towards the sides: 0, ±scan_step, … within ±scan_angle/2.

        Raises
        ------
        ValueError
            When there are more than a million, see `num_rays`.
        """
        if self.num_rays > MOST_RAYS:
            raise ValueError(
                f"{self.name or 'a range sensor'} has {self.num_rays:.6g} rays, more than {MOST_RAYS}: "
                f"is its scanStep of {self.scan_step:g} rad meant?"
            )
        half = self._half
        return np.asarray(np.arange(-half, half + 1) * float(self.scan_step)) if half else np.zeros(1)

    @property
    def _half(self) -> int:
        """How many rays are on either side of the middle one."""
        if not (0 < self.scan_angle < math.inf and 0 < self.scan_step < math.inf):
            return 0
        ratio = 0.5 * self.scan_angle / self.scan_step
        return math.floor(ratio + 1e-9) if ratio < _COUNTABLE else _COUNTABLE


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OtherDevice(Device):
    """A device of any other type: its `type`; all its fields are in `extra`."""

    type: str = ""

    @property
    def kind(self) -> str:
        """The name of the device's node in the file."""
        return self.type
