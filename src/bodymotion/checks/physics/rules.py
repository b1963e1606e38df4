"""Rules about the physics of a motion on a body."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

# What is sudden
JOINT_JUMPS = Rule(
    "MOT301",
    "warning",
    "A joint gets from one place to another through those between: a motor cannot follow a jump.",
    "judgement",
    "frames may be missing there, or two motions be joined: `bodymotion edit --append … --blend` does it smoothly",
    example=("a joint at 0.3 rad in one frame, at 0.8 rad in the next", "the frames between"),
)
JOINT_SPIKE = Rule(
    "MOT302",
    "warning",
    "The speed of a joint does not change all at once: it takes a torque that no motor gives.",
    "judgement",
    "a frame may be wrong, or the motion have a corner: `bodymotion edit --smooth`",
    example=("one frame in which a joint is 0.1 rad off the curve of the others", "a frame on that curve"),
)
FULL_TURN = Rule(
    "MOT303",
    "warning",
    "A joint does not jump by a full turn: it looks the same, but a motor would turn back all the way.",
    "judgement",
    "`bodymotion edit --unwrap` takes such jumps out",
    example=("3.14 in one frame, -3.14 in the next", "3.14, then 3.15"),
)
ROOT_JUMPS = Rule(
    "MOT304",
    "warning",
    "The root gets from one place to another through those between: nothing carries a body across a jump.",
    "judgement",
    "frames may be missing there, or two motions be joined: `bodymotion edit --append … --blend` does it smoothly",
    example=("the root 0.1 m farther on in the next of 100 frames a second", "the frames between"),
)
ROOT_SPIKE = Rule(
    "MOT305",
    "warning",
    "The speed of the root does not change all at once: it takes a force that no ground gives.",
    "judgement",
    "a frame may be wrong, or the motion have a corner: `bodymotion edit --smooth`",
    example=("one frame in which the root is 0.1 m off its path", "a frame on its path"),
)
SIGN_FLIP = Rule(
    "MOT306",
    "note",
    "A quaternion keeps its sign from frame to frame: q and −q are one orientation, but programs that take their mean or difference spin.",
    "judgement",
    "bodymotion itself takes the shorter way",
    example=("0.8 0.6 0 0, then -0.8 -0.6 0 0", "0.8 0.6 0 0, then 0.8 0.6 0 0"),
)
TREMBLES = Rule(
    "MOT307",
    "warning",
    "Joints and root move steadily: no motor follows a speed that is another one in each frame.",
    "judgement",
    "it is noise (`bodymotion edit --smooth`), or frames hold the values of slower ones (`bodymotion retime --method linear` from those)",
    example=("0.1, 0.1, 0.2, 0.2, 0.3, 0.3 … at 200 frames a second", "0.1, 0.15, 0.2, 0.25, 0.3, 0.35 …"),
)

# Feet on the ground
SLIPS = Rule(
    "MOT311",
    "warning",
    "A foot that is on the ground stays where it is: friction holds it, and the body goes elsewhere than the motion says.",
    "judgement",
    "is the root's pose that of this motion, and the model the one that it was made for?",
    example=("a foot on the ground that goes 12 mm along it", "a foot that goes where it is above it"),
)
SINKS = Rule(
    "MOT312",
    "warning",
    "No foot is below the ground: there the ground throws the body up.",
    "judgement",
    "is the root's pose that of this motion, and the model the one that it was made for?",
    example=("a sole 12 mm below the ground", "a sole on it"),
)
HOVERS = Rule(
    "MOT313",
    "warning",
    "A body that nothing carries falls: where no foot is near the ground, its weight cannot be borne.",
    "judgement",
    "is the root's height right, and does it stand on something else than its feet?",
    example=("both feet 25 mm above the ground for half a second", "one of them on it, or a jump"),
)
UNEVEN = Rule(
    "MOT314",
    "note",
    "Feet stand at one height: on stairs and slopes the ground is unknown, and slipping, sinking and balance are not checked.",
    "judgement",
    "on level ground the root's pose, or an ankle, is wrong",
    example=("steps of 0.1 m", "steps of 2 mm"),
)
OFF_THE_FLOOR = Rule(
    "MOT315",
    "note",
    "Feet stand where the floor is, by the motion's own zero moment point or else by the model's root pose.",
    "judgement",
    "is the root's height that of this model? What is said of slipping, sinking and balance is about the ground that the feet stand on",
    example=("a walk with the root 0.03 m too low throughout", "the root at its height"),
)

# Balance
TIPS = Rule(
    "MOT321",
    "warning",
    "The zero moment point of the motion is within the feet: where it is outside, the body tips over.",
    "judgement",
    "go slower (`bodymotion retime --speed`), or lean to the other side",
    example=("a body that stops so hard that the point is 25 mm ahead of the toes", "one that stops slowly"),
)
OWN_ZMP_OUTSIDE = Rule(
    "MOT322",
    "warning",
    "The zero moment point that a motion has is within the feet: a controller cannot hold it anywhere else.",
    "judgement",
    "is it relative to the root as the motion says, and the model the one that it was made for?",
    example=("a point 12 mm ahead of the toes for half a second", "a point within the feet"),
)
OWN_ZMP_DIFFERS = Rule(
    "MOT323",
    "warning",
    "The zero moment point that a motion has is the one that its root and joints give.",
    "judgement",
    "it may be planned for another model, or be relative to the root where the motion says otherwise (`isRootRelative`)",
    example=("a point 55 mm from the one that the motion has", "the point of the motion"),
)

# Motors
TORQUE_LIMIT = Rule(
    "MOT331",
    "warning",
    "A joint needs no more torque than its motor gives.",
    "judgement",
    "the robot will lag behind, or fall: go slower (`bodymotion retime --speed`), or hold it nearer to the body",
    example=("an arm that needs 9.8 Nm from a motor of 9 Nm", "a motor of 10 Nm"),
)

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
