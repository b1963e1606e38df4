"""What an edit leaves as it is, loses, or finds odd."""

from __future__ import annotations

from bodymotion.diagnostics import Rule
from bodymotion.motion.rules import NOT_EDITED

__all__ = ["IDLE", "LOST", "NOT_EDITED", "NOT_RIGID", "NOT_SYMMETRIC"]

NOT_SYMMETRIC = Rule(
    "EDIT103",
    "warning",
    "A body that is mirrored has links on both sides that are mirror images.",
    "judgement",
    "give the pairs of links, or expect the mirrored motion to be off by that much",
    example=("mirroring on a body with one arm", "mirroring on a body with two equal arms"),
)
NOT_RIGID = Rule(
    "EDIT104",
    "warning",
    "Link poses follow from the root and the joints, up to what joints and links give way.",
    "judgement",
    "keep the link poses beside the joints, or look whether the motion is one of this body",
    example=("leaving joints out of link poses that no joints of the body give", "of link poses that they give"),
)
IDLE = Rule(
    "EDIT105",
    "warning",
    "A motion has what a step is to change.",
    "judgement",
    example=("smoothing a motion without components", "smoothing one with joints"),
)
LOST = Rule(
    "LOSS101",
    "warning",
    "What is joined has the same components in all motions; others are left out.",
    "judgement",
    example=("joining a motion with a ZMP and one without", "joining two motions with a ZMP"),
)
