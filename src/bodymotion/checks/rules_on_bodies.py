"""What is said of a motion and the body that it is for: whether they fit, and the limits of the joints."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = [
    "FRAME_RATE",
    "IN_DEGREES",
    "JOINTS",
    "LINKS",
    "METRES",
    "MORE_COLUMNS",
    "NOTHING_MOVES",
    "POSES_DISAGREE",
    "POSITION_LIMIT",
    "SPEED_LIMIT",
]

JOINTS = Rule(
    "MOT201",
    "error",
    "A motion has a column for each joint of the body.",
    "judgement",
    "is it a motion of another body?",
    example=("29 joints, and columns for 28", "29 columns"),
)
MORE_COLUMNS = Rule(
    "MOT202",
    "warning",
    "A motion has no more joint columns than the body.",
    "judgement",
    "they move nothing",
    example=("29 joints, and columns for 30", "29 columns"),
)
LINKS = Rule(
    "MOT203",
    "error",
    "A motion has the poses of all links of the body, or joints to get them from.",
    "judgement",
    "is it a motion of another body?",
    example=("poses of 3 links and no joints, on a body of 4", "poses of 4 links"),
)
POSITION_LIMIT = Rule(
    "MOT204",
    "warning",
    "A joint stays between its limits.",
    "judgement",
    "a controller stops there, or the robot breaks",
    example=("2.1 rad, where the joint ends at 2 rad", "2 rad"),
)
SPEED_LIMIT = Rule(
    "MOT205",
    "warning",
    "A joint stays within its velocity limits.",
    "judgement",
    "the robot will lag behind; go slower: `bodymotion retime --speed`",
    example=("0.4 rad in 0.1 s, where the joint makes 3 rad/s", "0.3 rad in 0.1 s"),
)
POSES_DISAGREE = Rule(
    "MOT206",
    "warning",
    "Link poses are those that the root and the joints give.",
    "judgement",
    "it may be the motion of another body; `bodymotion edit --root-only` keeps root and joints",
    example=("a link 9 m from where root and joints put it", "a link where they put it"),
)
NOTHING_MOVES = Rule(
    "MOT207",
    "warning",
    "A motion has joints or link poses, so that it moves the body.",
    "judgement",
    example=("a motion with a zero moment point alone", "one with JointDisplacement, too"),
)
IN_DEGREES = Rule(
    "MOT208",
    "warning",
    "Joint angles are in radians.",
    "judgement",
    "multiply them by π/180; a table in degrees is read by `bodymotion convert --degrees`; limits, speeds and physics are not looked at",
    example=("57.3, 20 and -30, where the joints make 2 rad", "1, 0.35 and -0.52"),
)
METRES = Rule(
    "MOT209",
    "warning",
    "The places of the root and the zero moment point are in metres.",
    "judgement",
    "multiply them by 0.001; feet, balance and forces are not looked at",
    example=("a root at 0, 0, 700", "a root at 0, 0, 0.7"),
)
FRAME_RATE = Rule(
    "MOT210",
    "warning",
    "The frame rate says how many frames there are in a second of the motion.",
    "judgement",
    "speeds and physics are not looked at",
    example=("frameRate: 0.002", "frameRate: 500"),
)
