"""Motions: how a body moves, as components over time, named as in the .seq document."""

from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    JOINT_EFFORT,
    LINK_POSITION,
    ZMP,
    Component,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    TimedComponent,
    Timeline,
    Vector3Seq,
)
from bodymotion.motion.interpolation.resampling import not_resampled
from bodymotion.motion.motion import Motion

__all__ = [
    "JOINT_DISPLACEMENT",
    "JOINT_EFFORT",
    "LINK_POSITION",
    "ZMP",
    "Component",
    "Motion",
    "MultiSE3Seq",
    "MultiValueSeq",
    "OtherSeq",
    "TimedComponent",
    "Timeline",
    "Vector3Seq",
    "not_resampled",
]
