"""Robot bodies and robot motions: open them, see them, trust their numbers.

>>> import bodymotion as bm
>>> body = bm.load("SR1.wrl")           # doctest: +SKIP
>>> motion = bm.load("SR1Walk.seq")     # doctest: +SKIP
>>> bm.view(body, motion)               # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bodymotion import showing

if TYPE_CHECKING:
    from bodymotion import checks as checks
    from bodymotion import dynamics as dynamics
    from bodymotion import editing as editing
    from bodymotion import spot as spot
    from bodymotion.animation import Animation, Keyframes, Parameter
    from bodymotion.body import Body, ExtraJoint, Viewpoint
    from bodymotion.checks import check
    from bodymotion.choreography import play
    from bodymotion.closed_loops import Closed, close_loops, loop_errors
    from bodymotion.comparing import compare_bodies, compare_motions
    from bodymotion.dataframes import to_pandas, to_polars, to_xarray
    from bodymotion.devices import AccelerationSensor, Device, ForceSensor, Gyro, OtherDevice, RangeSensor, VisionSensor
    from bodymotion.diagnostics import FormatError, Location, Problem, Report, Rule
    from bodymotion.formats.seq import open_motion
    from bodymotion.formats.table import load, save
    from bodymotion.links import Joint, Link, Segment
    from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
    from bodymotion.plots import Plot, plot
    from bodymotion.rendering import render
    from bodymotion.reporting import report
    from bodymotion.shapes import Box, Capsule, Cone, Cylinder, Lines, Material, Mesh, Points, Shape, Sphere, Texture
    from bodymotion.source import Source
    from bodymotion.timeline import Timeline
    from bodymotion.viewer import view

_WHERE = {
    "animation": ("Animation", "Keyframes", "Parameter"),
    "body": ("Body", "ExtraJoint", "Viewpoint"),
    "checks": ("check",),
    "closed_loops": ("Closed", "close_loops", "loop_errors"),
    "choreography": ("play",),
    "comparing": ("compare_bodies", "compare_motions"),
    "dataframes": ("to_pandas", "to_polars", "to_xarray"),
    "devices": ("AccelerationSensor", "Device", "ForceSensor", "Gyro", "OtherDevice", "RangeSensor", "VisionSensor"),
    "diagnostics": ("FormatError", "Location", "Problem", "Report", "Rule"),
    "formats.seq": ("open_motion",),
    "formats.table": ("load", "save"),
    "links": ("Joint", "Link", "Segment"),
    "motion": ("Motion", "MultiSE3Seq", "MultiValueSeq", "OtherSeq", "Vector3Seq"),
    "plots": ("Plot", "plot"),
    "rendering": ("render",),
    "reporting": ("report",),
    "shapes": (
        "Box",
        "Capsule",
        "Cone",
        "Cylinder",
        "Lines",
        "Material",
        "Mesh",
        "Points",
        "Shape",
        "Sphere",
        "Texture",
    ),
    "source": ("Source",),
    "timeline": ("Timeline",),
    "viewer": ("view",),
}
_ROOMS = ("checks", "dynamics", "editing", "spot")
"""Rooms that are public as they are: `bm.editing.trim(motion, 1, 5)`."""
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__version__ = "0.1.0"
__all__ = [
    "AccelerationSensor",
    "Animation",
    "Body",
    "Box",
    "Capsule",
    "Closed",
    "Cone",
    "Cylinder",
    "Device",
    "ExtraJoint",
    "ForceSensor",
    "FormatError",
    "Gyro",
    "Joint",
    "Keyframes",
    "Lines",
    "Link",
    "Location",
    "Material",
    "Mesh",
    "Motion",
    "MultiSE3Seq",
    "MultiValueSeq",
    "OtherDevice",
    "OtherSeq",
    "Parameter",
    "Plot",
    "Points",
    "Problem",
    "RangeSensor",
    "Report",
    "Rule",
    "Segment",
    "Shape",
    "Source",
    "Sphere",
    "Texture",
    "Timeline",
    "Vector3Seq",
    "Viewpoint",
    "VisionSensor",
    "__version__",
    "check",
    "checks",
    "close_loops",
    "compare_bodies",
    "compare_motions",
    "dynamics",
    "editing",
    "load",
    "loop_errors",
    "open_motion",
    "play",
    "plot",
    "render",
    "report",
    "save",
    "spot",
    "to_pandas",
    "to_polars",
    "to_xarray",
    "view",
]


def _notebooks() -> Any:  # noqa: ANN401
    return importlib.import_module("bodymotion.notebooks")


showing.shown_by(
    html=lambda thing: _notebooks().html_of(thing),
    inline=lambda thing, other, **options: _notebooks().inline(thing, other, **options),
)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in _ROOMS:
        return importlib.import_module(f"bodymotion.{name}")
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'bodymotion' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bodymotion.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
