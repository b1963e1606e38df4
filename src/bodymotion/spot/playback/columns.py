"""The single columns of an animation file by what they are for; `bodymotion.animation` has them by keywords."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bodymotion.spot.playback.measures import LEGS

__all__ = ["ARM", "CONTACTS", "PLACES", "QUATERNIONS", "ROLL_PITCH_YAW", "leg_angles", "leg_place"]

ARM = ("shoulder0", "shoulder1", "elbow0", "elbow1", "wrist0", "wrist1")
CONTACTS = tuple(f"{leg}_contact" for leg in LEGS)
PLACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {part: tuple(f"{part}_{axis}" for axis in "xyz") for part in ("body", "com", "hand")}
)
QUATERNIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {part: tuple(f"{part}_quat_{axis}" for axis in "wxyz") for part in ("body", "hand")}
)
ROLL_PITCH_YAW: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {part: tuple(f"{part}_{angle}" for angle in ("roll", "pitch", "yaw")) for part in ("body", "hand")}
)


def leg_angles(leg: str) -> tuple[str, ...]:
    """Return the columns of a leg's joints."""
    return tuple(f"{leg}_{joint}" for joint in ("hx", "hy", "kn"))


def leg_place(leg: str) -> tuple[str, ...]:
    """Return the columns of a foot's place."""
    return tuple(f"{leg}_{axis}" for axis in "xyz")
