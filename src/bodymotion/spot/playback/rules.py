"""Rules about animations that a robot would reject or could not follow.

Its criteria are not published: these are our judgement.
"""

from bodymotion.diagnostics import judgement

FOOT_REACH = judgement.warning(
    "SPOT001",
    "The legs can reach the positions of the feet from the pose of the body.",
    "bring body and foot nearer together; in playback the foot comes as near as the "
    "joints allow",
    example=("the body 0.9 m above its feet", "the body 0.48 m above its feet"),
)
HAND_REACH = judgement.warning(
    "SPOT002",
    "The arm can reach the hand's pose.",
    "bring the hand nearer, or change its orientation; in playback it comes as near "
    "as the joints allow",
    example=("hand_pos 2.5 0 0.7", "hand_pos 0.7 0 0.7"),
)
JOINT_LIMIT = judgement.warning(
    "SPOT003",
    "Arm and gripper stay within their limits when parameters have their defaults.",
    "choose a default offset nearer to 0, or a multiplier nearer to 1",
    example=(
        "elbow_0_offset 0 2 2 beside an elbow at 1.9 rad",
        "elbow_0_offset 0 0.1 2",
    ),
)
JOINT_SPEED = judgement.warning(
    "SPOT004",
    "Joints are no faster than about 20 rad/s in the legs, 10 rad/s in the arm.",
    "give the movement more time",
    example=("a wrist that rotates by 2 rad in 0.05 s", "in 0.5 s"),
)
FOOT_SPEED = judgement.warning(
    "SPOT005",
    "Feet move no faster than 5 m/s.",
    "give the step more time, or make it shorter",
    example=("a foot that goes 0.25 m in 0.03 s", "in 0.3 s"),
)
SLIP = judgement.warning(
    "SPOT006",
    "A foot in contact does not slip.",
    "keep its position while it is in contact, or set its contact to 0 while it moves",
    example=(
        "a foot that goes 0.1 m along the ground",
        "a foot that goes 5 mm along the ground",
    ),
)
ABOVE_FLOOR = judgement.warning(
    "SPOT008",
    "A foot in contact is on the floor.",
    "put it down, or set its contact to 0",
    example=(
        "a foot in contact 6 cm above the floor",
        "a foot in contact on the floor",
    ),
)
SUPPORT = judgement.warning(
    "SPOT009",
    "The centre of mass is not outside the support polygon for more than half a "
    "second.",
    "move the body over the feet in contact, or shorten the time",
    example=(
        "the body 0.4 m ahead of its feet for two seconds",
        "the body above its feet",
    ),
)
AIRBORNE = judgement.warning(
    "SPOT010",
    "The robot is not in the air for more than half a second.",
    example=("no foot in contact for two seconds", "no foot in contact for 0.2 s"),
)
FRAME = judgement.warning(
    "SPOT011",
    "At the start the centre of the feet is the origin of the animation frame, and x "
    "points forward.",
    "shift all positions by the offset of the feet",
    example=(
        "feet 0.2 m ahead of the robot's frame at the start",
        "feet around the robot's frame",
    ),
)
BODY_CLEARANCE = judgement.warning(
    "SPOT012",
    "The body keeps its distance from the floor.",
    example=("the body 5 cm above the floor", "the body 0.2 m above the floor"),
)
LOOP = judgement.note(
    "SPOT013",
    "An animation that may loop ends as it starts. A jump in the played move is a "
    "warning.",
    "end in the pose of the first keyframe, or add no_looping; offset_slices and a "
    "speed above 1 also make a move start again",
    example=(
        "extendable, from a height of 0.48 m to 0.40 m",
        "extendable, from 0.48 m to 0.48 m",
    ),
)
START = judgement.note(
    "SPOT014",
    "The body starts near the pose before the move, or has an entry time.",
    "add the parameter body_entry_slices with a default above 0",
    example=(
        "a first keyframe with the body 0.1 m to the left",
        "a first keyframe of a stand",
    ),
)
CUT_OFF = judgement.note(
    "SPOT015",
    "The keyframes take a whole number of slices. The remainder is cut off.",
    "add retime_to_integer_slices, or end on a quarter of a beat",
    example=("a move of 1.07 slices", "a move of 1 slice"),
)
FEET_DISTANCE = judgement.warning(
    "SPOT016",
    "Feet keep their distance from each other.",
    example=("front feet that cross", "front feet apart from each other"),
)
UNPLAYABLE = judgement.error(
    "SPOT017",
    "The animation can be played.",
    "nothing else was checked",
    example=("a height that is nan", "a height of 0.4 m"),
)
BODY_SPEED = judgement.warning(
    "SPOT018",
    "The body moves from keyframe to keyframe at 5 m/s or less.",
    "one of the two keyframes, or its time, may be wrong; feet and balance around "
    "them are not checked",
    example=("a body at 0.48 m, and 0.01 s later at 0.30 m", "1 s later"),
)

RETIRED = {
    "SPOT007": "MOT312"
}  # Codes that rules had before, and the rules that took over.
