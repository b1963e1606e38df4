"""Robot bodies and robot motions: open them, see them, trust their numbers.

>>> import bodymotion as bm
>>> body = bm.load("SR1.wrl")           # doctest: +SKIP
>>> motion = bm.load("SR1Walk.seq")     # doctest: +SKIP
>>> bm.view(body, motion)               # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bodymotion import checks as checks
    from bodymotion import dynamics as dynamics
    from bodymotion import editing as editing
    from bodymotion import simulation as simulation
    from bodymotion import spot as spot
    from bodymotion.animation import Animation, Keyframes, Parameter
    from bodymotion.balancing import BalancedMotion, BalanceReport, balance
    from bodymotion.checks import check
    from bodymotion.comparison import compare_bodies, compare_motions
    from bodymotion.diagnostics import Findings, FormatError, Location, Problem, Rule
    from bodymotion.diagnostics.collector import Source
    from bodymotion.formats.registry import (
        load,
        load_animation,
        load_body,
        load_key_poses,
        load_motion,
        load_skeleton,
        save,
    )
    from bodymotion.formats.seq import open_motion
    from bodymotion.geometry import poses as poses
    from bodymotion.geometry import rotations as rotations
    from bodymotion.geometry.shapes import (
        Box,
        Capsule,
        Cone,
        Cylinder,
        Lines,
        Material,
        Mesh,
        Points,
        Shape,
        Sphere,
        Texture,
    )
    from bodymotion.keyposes import KeyPose, KeyPoses, LinkKey
    from bodymotion.model import ik as ik
    from bodymotion.model.body import Body, ExtraJoint, Viewpoint
    from bodymotion.model.closed_loops import Closed, close_loops, loop_errors
    from bodymotion.model.links import (
        AccelerationSensor,
        Device,
        ForceSensor,
        Gyro,
        Joint,
        Link,
        OtherDevice,
        RangeSensor,
        Segment,
        VisionSensor,
    )
    from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
    from bodymotion.motion.components import Timeline
    from bodymotion.notebooks.dataframes import to_pandas, to_polars, to_xarray
    from bodymotion.plots import Plot, plot
    from bodymotion.rendering import render
    from bodymotion.reports import report
    from bodymotion.simulation import Simulation, simulate, simulate_many, to_mujoco
    from bodymotion.skeleton import Skeleton, SkeletonJoint
    from bodymotion.spot.playback import play
    from bodymotion.viewer import view

_WHERE = {
    "animation": ("Animation", "Keyframes", "Parameter"),
    "model.body": ("Body", "ExtraJoint", "Viewpoint"),
    "balancing": ("BalanceReport", "BalancedMotion", "balance"),
    "checks": ("check",),
    "model.closed_loops": ("Closed", "close_loops", "loop_errors"),
    "spot.playback": ("play",),
    "comparison": ("compare_bodies", "compare_motions"),
    "notebooks.dataframes": ("to_pandas", "to_polars", "to_xarray"),
    "diagnostics": ("FormatError", "Location", "Problem", "Findings", "Rule", "Source"),
    "formats.seq": ("open_motion",),
    "formats.registry": (
        "load",
        "load_animation",
        "load_body",
        "load_key_poses",
        "load_motion",
        "load_skeleton",
        "save",
    ),
    "keyposes": ("KeyPose", "KeyPoses", "LinkKey"),
    "model.links": (
        "AccelerationSensor",
        "Device",
        "ForceSensor",
        "Gyro",
        "Joint",
        "Link",
        "OtherDevice",
        "RangeSensor",
        "Segment",
        "VisionSensor",
    ),
    "motion": ("Motion", "MultiSE3Seq", "MultiValueSeq", "OtherSeq", "Timeline", "Vector3Seq"),
    "plots": ("Plot", "plot"),
    "rendering": ("render",),
    "reports": ("report",),
    "simulation": ("Simulation", "simulate", "simulate_many", "to_mujoco"),
    "skeleton": ("Skeleton", "SkeletonJoint"),
    "geometry.shapes": (
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
    "viewer": ("view",),
}
_PACKAGES = {
    "checks": "checks",
    "dynamics": "dynamics",
    "editing": "editing",
    "ik": "model.ik",
    "poses": "geometry.poses",
    "rotations": "geometry.rotations",
    "simulation": "simulation",
    "spot": "spot",
}
"""Packages and modules that are public as a whole: `bm.editing.trim(motion, 1, 5)`, `bm.rotations.from_rpy([0, 0, 1])`."""
_RENAMED = {"Report": "Findings"}
"""Old public names, kept for one version."""
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__version__ = "0.2.0"
__all__ = [
    "AccelerationSensor",
    "Animation",
    "BalanceReport",
    "BalancedMotion",
    "Body",
    "Box",
    "Capsule",
    "Closed",
    "Cone",
    "Cylinder",
    "Device",
    "ExtraJoint",
    "Findings",
    "ForceSensor",
    "FormatError",
    "Gyro",
    "Joint",
    "KeyPose",
    "KeyPoses",
    "Keyframes",
    "Lines",
    "Link",
    "LinkKey",
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
    "Rule",
    "Segment",
    "Shape",
    "Simulation",
    "Skeleton",
    "SkeletonJoint",
    "Source",
    "Sphere",
    "Texture",
    "Timeline",
    "Vector3Seq",
    "Viewpoint",
    "VisionSensor",
    "__version__",
    "balance",
    "check",
    "checks",
    "close_loops",
    "compare_bodies",
    "compare_motions",
    "dynamics",
    "editing",
    "ik",
    "load",
    "load_animation",
    "load_body",
    "load_key_poses",
    "load_motion",
    "load_skeleton",
    "loop_errors",
    "open_motion",
    "play",
    "plot",
    "poses",
    "render",
    "report",
    "rotations",
    "save",
    "simulate",
    "simulate_many",
    "simulation",
    "spot",
    "to_mujoco",
    "to_pandas",
    "to_polars",
    "to_xarray",
    "view",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in _PACKAGES:
        return importlib.import_module(f"bodymotion.{_PACKAGES[name]}")
    if name in _RENAMED:
        warnings.warn(f"bodymotion.{name} is now bodymotion.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[__name__], _RENAMED[name])
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'bodymotion' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bodymotion.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
