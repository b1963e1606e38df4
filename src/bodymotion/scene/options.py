"""What can be switched on and off where a scene is shown, with the labels of the viewer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bodymotion.diagnostics import WrongUseError

LABELS = {
    "visuals": "Shapes",
    "collisions": "Collision shapes",
    "frames": "Link frames",
    "axes": "Joint axes",
    "names": "Joint names and ids",
    "inertias": "Masses and inertias",
    "devices": "Devices",
    "mass": "Centre of mass",
    "zmp": "ZMP, recorded",
    "measured_zmp": "ZMP, computed",
    "contacts": "Foot contacts",
    "support": "Support polygon",
    "trails": "Trails",
    "velocity_limits": "Use of velocity limits",
    "torque_limits": "Use of torque limits",
    "follow": "Camera follows root",
    "stand": "Stand on ground",
    "shadows": "Shadows",
    "dark": "Dark mode",
    "loops": "Close loops when posing",
    "motion_loops": "Close loops of the motion",
}
"""The options that are a checkbox in the viewer, in the order of the panel, with their labels."""
LIMIT_OPTIONS = {"velocity_limits": "velocity", "torque_limits": "torque"}
"""The options that colour links, at most one of which is on, with the limit that each is about."""


@dataclass
class DisplayOptions:
    """The display options; they stay as they are when the viewer loads files again.

    `path`: the name of the link whose path is drawn. `quantity`, `plotted`: the quantity that is plotted (None: joint values) and the names
    of its curves. `trail_seconds`: the length of trails [s].
    """

    visuals: bool = True
    collisions: bool = False
    frames: bool = False
    axes: bool = False
    names: bool = False
    inertias: bool = False
    devices: bool = False
    mass: bool = False
    zmp: bool = True
    measured_zmp: bool = False
    contacts: bool = False
    support: bool = False
    trails: bool = False
    velocity_limits: bool = False
    torque_limits: bool = False
    follow: bool = False
    stand: bool = False
    shadows: bool = True
    dark: bool = False
    loops: bool = True
    motion_loops: bool = False
    path: str | None = None
    plotted: tuple[str, ...] = ()
    quantity: str | None = None
    trail_seconds: float = 2.0

    @classmethod
    def with_names(cls, names: Iterable[str]) -> DisplayOptions:
        """Return the default options with those of `LABELS` that are named switched on; WrongUseError for another name."""
        options = cls()
        for name in names:
            if name not in LABELS:
                raise WrongUseError(f"unknown display option {name!r}; the options are {', '.join(LABELS)}")
            setattr(options, name, True)
        return options
