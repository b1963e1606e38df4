"""What measuring a motion has to say about it."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["MORE_COLUMNS", "NOT_FINITE", "ON_FEET"]

ON_FEET = Rule(
    "MEAS101",
    "note",
    "A motion says where the root is; without, it is worked out from feet that stand.",
    source="judgement",
    hint="on_feet=False, or --no-on-feet, leaves the root where the model has it",
    example=("a walk with JointDisplacement alone", "one with the root's pose, too"),
)
MORE_COLUMNS = Rule(
    "MEAS102",
    "warning",
    "A motion that is measured has as many joint columns as its body, or it was made for another one.",
    source="judgement",
    hint="is it the motion of another body?",
    example=("a motion of 30 joint columns on a body of 29", "a motion of 29 columns"),
)
NOT_FINITE = Rule(
    "MEAS103",
    "warning",
    "The numbers of a motion that is measured are finite; what follows from one that is not is left out.",
    source="judgement",
    hint="`bodymotion check` says where they are",
    example=("nan for a joint in one frame", "a number"),
)
