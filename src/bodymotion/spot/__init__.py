"""Spot: the robot as a body, playback and validation of animations, the vendor's messages, upload, and a stand-in robot.

>>> import bodymotion as bm
>>> animation = bm.load("wave.cha")             # doctest: +SKIP
>>> message = bm.spot.to_proto(animation)       # doctest: +SKIP
>>> info = bm.spot.to_move_info(animation)      # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bodymotion.formats.cha_proto import (
        from_bytes,
        from_proto,
        from_text,
        read_state_log,
        to_bytes,
        to_move_info,
        to_proto,
        to_text,
    )
    from bodymotion.model.body import Body
    from bodymotion.spot.client.connection import Credentials, SpotError, connected, find_credentials
    from bodymotion.spot.client.uploads import Outcome, upload
    from bodymotion.spot.playback import SpotPose, play, sit, stand, validate
    from bodymotion.spot.playback.arm import Arm, arm_joints, hand_poses
    from bodymotion.spot.playback.legs import Legs, foot_positions, leg_joints
    from bodymotion.spot.rehearsal import StandIn

_WHERE = {
    "spot.playback": ("SpotPose", "play", "sit", "stand", "validate"),
    "spot.playback.arm": ("Arm", "arm_joints", "hand_poses"),
    "spot.playback.legs": ("Legs", "foot_positions", "leg_joints"),
    "formats.cha_proto": (
        "from_bytes",
        "from_proto",
        "from_text",
        "read_state_log",
        "to_bytes",
        "to_move_info",
        "to_proto",
        "to_text",
    ),
    "spot.client.connection": ("Credentials", "SpotError", "connected", "find_credentials"),
    "spot.rehearsal": ("StandIn",),
    "spot.client.uploads": ("Outcome", "upload"),
}
_RENAMED = {"Standing": "SpotPose", "mind": "validate"}
"""Old names, kept for one version."""
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "Arm",
    "Credentials",
    "Legs",
    "Outcome",
    "SpotError",
    "SpotPose",
    "StandIn",
    "arm_joints",
    "body",
    "connected",
    "find_credentials",
    "foot_positions",
    "from_bytes",
    "from_proto",
    "from_text",
    "hand_poses",
    "leg_joints",
    "play",
    "read_state_log",
    "sit",
    "stand",
    "to_bytes",
    "to_move_info",
    "to_proto",
    "to_text",
    "upload",
    "validate",
]


def body(*, arm: bool = True) -> Body:
    """Return Spot as a body, with or without its arm."""
    from bodymotion.spot.playback.robot import spot_body

    return spot_body(arm=arm)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in _RENAMED:
        new = _RENAMED[name]
        warnings.warn(f"bodymotion.spot.{name} is now bodymotion.spot.{new}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[__name__], new)
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'bodymotion.spot' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bodymotion.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
