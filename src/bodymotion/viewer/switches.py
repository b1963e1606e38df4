"""What is switched on in the viewer. It outlives a reload of the files."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LABELS", "LIMIT_SWITCHES", "Switches"]


@dataclass
class Switches:
    """The switches of the viewer.

    `path` is the name of the link whose path is drawn, `quantity` what is plotted (None: joint values), `plotted` its columns,
    `trail_seconds` [s] how far trails go back.
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


LABELS = {
    "visuals": "Shapes",
    "collisions": "Collision shapes",
    "frames": "Link frames",
    "axes": "Joint axes",
    "names": "Joint names and ids",
    "inertias": "Masses and inertias",
    "devices": "Devices",
    "mass": "Centre of mass",
    "zmp": "ZMP of the file",
    "measured_zmp": "ZMP, measured",
    "contacts": "Contacts of feet",
    "support": "Support polygon",
    "trails": "Trails",
    "velocity_limits": "Use of velocity limits",
    "torque_limits": "Use of torque limits",
    "follow": "Follow root",
    "stand": "Stand on ground",
    "shadows": "Shadows",
    "dark": "Dark",
    "loops": "Close loops when posing",
    "motion_loops": "Close loops of the motion",
}
"""The switches that are a tick in the panel, in its order, and what is written there."""
LIMIT_SWITCHES = {"velocity_limits": "velocity", "torque_limits": "torque"}
"""The switches that colour links, of which one is on at most, and by which limit."""
