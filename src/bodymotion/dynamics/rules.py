"""Rules about motions that are measured."""

from bodymotion.diagnostics import judgement

ON_FEET = judgement.note(
    "MEAS101",
    "A motion has the pose of the root; otherwise it is computed from feet in contact.",
    "on_feet=False (`bodymotion measure --no-on-feet`) keeps the root at the model's own pose",
    example=("a walk with JointDisplacement alone", "one with the root's pose, too"),
)
NOT_FINITE = judgement.warning(
    "MEAS103",
    "The numbers of a motion that is measured are finite; results that depend on others are left out.",
    "`bodymotion check` reports where they are",
    example=("nan for a joint in one frame", "a number"),
)
