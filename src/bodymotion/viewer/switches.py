"""What is switched on in the viewer. It outlives a reload of the files."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LABELS", "Switches"]


@dataclass
class Switches:
    """The switches of the viewer; `path` is the name of the link whose path is drawn."""

    visuals: bool = True
    collisions: bool = False
    frames: bool = False
    axes: bool = False
    devices: bool = False
    mass: bool = False
    zmp: bool = True
    contacts: bool = True
    follow: bool = False
    stand: bool = False
    shadows: bool = True
    loops: bool = True
    motion_loops: bool = False
    path: str | None = None
    plotted: tuple[str, ...] = ()


LABELS = {
    "visuals": "Shapes",
    "collisions": "Collision shapes",
    "frames": "Link frames",
    "axes": "Joint axes",
    "devices": "Devices",
    "mass": "Centre of mass",
    "zmp": "ZMP",
    "contacts": "Contacts of feet",
    "follow": "Follow root",
    "stand": "Stand on ground",
    "shadows": "Shadows",
    "loops": "Close loops when posing",
    "motion_loops": "Close loops of the motion",
}
"""The switches that are a tick in the panel, in its order, and what is written there."""
