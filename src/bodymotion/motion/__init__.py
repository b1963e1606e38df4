"""How a body moves: components over time, named as in the .seq document."""

from __future__ import annotations

from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    JOINT_EFFORT,
    LINK_POSITION,
    ZMP,
    Component,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.motion import Motion
from bodymotion.motion.rates import left_on_rate

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
    "Vector3Seq",
    "left_on_rate",
]
