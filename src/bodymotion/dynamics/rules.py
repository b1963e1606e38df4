"""Rules about motions that are measured."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["MORE_COLUMNS", "NOT_FINITE", "ON_FEET"]

ON_FEET = Rule(
    "MEAS101",
    "note",
    "A motion has the pose of the root; otherwise it is computed from feet in contact.",
    source="judgement",
    hint="on_feet=False, or --no-on-feet, keeps the root at the model's own pose",
    example=("a walk with JointDisplacement alone", "one with the root's pose, too"),
)
MORE_COLUMNS = Rule(
    "MEAS102",
    "warning",
    "A motion that is measured has as many joint columns as its body; otherwise it may be of another body.",
    source="judgement",
    hint="is it the motion of another body?",
    example=("a motion of 30 joint columns on a body of 29", "a motion of 29 columns"),
)
NOT_FINITE = Rule(
    "MEAS103",
    "warning",
    "The numbers of a motion that is measured are finite; results that depend on others are left out.",
    source="judgement",
    hint="`bodymotion check` reports where they are",
    example=("nan for a joint in one frame", "a number"),
)
