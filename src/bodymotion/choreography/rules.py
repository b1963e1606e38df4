"""What a robot would mind about an animation. How a real one decides is not published: all of this is our judgement."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = [
    "AIRBORNE",
    "BELLY",
    "CUT",
    "FOOT_REACH",
    "FOOT_SPEED",
    "FRAME",
    "HAND_REACH",
    "HOVER",
    "JOINT_LIMIT",
    "JOINT_SPEED",
    "LOOP",
    "NEAR_FEET",
    "RULES",
    "SINK",
    "SLIP",
    "START",
    "SUPPORT",
    "UNPLAYABLE",
]

FOOT_REACH = Rule(
    "SPOT001",
    "warning",
    "The legs can reach where the feet are to be, with the body where it is to be.",
    "judgement",
    "bring body and foot nearer together; the motion that is played has the foot as near as the joints allow",
)
HAND_REACH = Rule(
    "SPOT002",
    "warning",
    "The arm can reach the hand's pose.",
    "judgement",
    "bring the hand nearer, or turn it another way; what is played comes as near as the joints allow",
)
JOINT_LIMIT = Rule(
    "SPOT003",
    "warning",
    "Arm and gripper stay within their limits when parameters have their defaults.",
    "judgement",
    "take the default offset or multiplier nearer to 0 or 1",
)
JOINT_SPEED = Rule(
    "SPOT004",
    "warning",
    "Joints turn no faster than a robot's can: about 20 rad/s in the legs, 10 rad/s in the arm.",
    "judgement",
    "give the movement more time",
)
FOOT_SPEED = Rule(
    "SPOT005", "warning", "Feet move no faster than 5 m/s.", "judgement", "give the step more time, or make it shorter"
)
SLIP = Rule(
    "SPOT006",
    "warning",
    "A foot in stance stays where it is.",
    "judgement",
    "hold its place while it is in stance, or set its contact to 0 while it moves",
)
SINK = Rule("SPOT007", "warning", "Feet do not sink into the floor that they start on.", "judgement")
HOVER = Rule(
    "SPOT008",
    "warning",
    "A foot in stance stands on the floor.",
    "judgement",
    "put it down, or set its contact to 0",
)
SUPPORT = Rule(
    "SPOT009",
    "warning",
    "The centre of mass is not outside the feet in stance for long.",
    "judgement",
    "shift the body over the feet that stand, or make the time shorter",
)
AIRBORNE = Rule("SPOT010", "warning", "The robot is not in the air for more than half a second.", "judgement")
FRAME = Rule(
    "SPOT011",
    "warning",
    "At the start the centre of the feet is the origin of the animation frame, and x points forward.",
    "judgement",
    "shift all places by what the feet are off",
)
BELLY = Rule("SPOT012", "warning", "The body stays clear of the floor.", "judgement")
LOOP = Rule(
    "SPOT013",
    "note",
    "What may begin anew ends as it begins.",
    "judgement",
    "end in the pose of the first keyframe, or add no_looping",
)
START = Rule(
    "SPOT014",
    "note",
    "The body begins near the pose before the move, or has time to get there.",
    "judgement",
    "add the parameter body_entry_slices with a default above 0",
)
CUT = Rule(
    "SPOT015",
    "note",
    "The keyframes take a whole number of slices; what is left over is cut off.",
    "judgement",
    "add retime_to_integer_slices, or end on a quarter of a beat",
)
NEAR_FEET = Rule("SPOT016", "warning", "Feet keep clear of each other.", "judgement")
UNPLAYABLE = Rule(
    "SPOT017",
    "error",
    "The animation can be played.",
    "judgement",
    "nothing else was looked at",
)

RULES = (
    FOOT_REACH,
    HAND_REACH,
    JOINT_LIMIT,
    JOINT_SPEED,
    FOOT_SPEED,
    SLIP,
    SINK,
    HOVER,
    SUPPORT,
    AIRBORNE,
    FRAME,
    BELLY,
    LOOP,
    START,
    CUT,
    NEAR_FEET,
    UNPLAYABLE,
)
