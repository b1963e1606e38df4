"""Rules about motions on a body, key poses and recorded motion, whatever their format.

And about files: CHK….
"""

from bodymotion.diagnostics import judgement, reference

# Files
MEMORY = judgement.error(
    "CHK101",
    "The check of a file fits into the available memory.",
    "the check of this file was ended by the system",
    example=("a check that takes more memory than there is", "one that does not"),
)
INTERNAL_ERROR = judgement.error(
    "CHK102",
    "The check of a file ends without an internal error.",
    "this is a fault of bodymotion; please report it",
    example=("a check that ends with an exception", "a check that ends"),
)
NO_MODEL = judgement.error(
    "CHK103",
    "The file of `bodymotion check --body` holds a model.",
    example=("--body walk.seq", "--body robot.wrl"),
)
LINE_ENDS = judgement.note(
    "CHK104",
    "All lines of a file have the same line ending.",
    "other programs may count lines differently, or read two lines as one",
    fixable=True,
    example=(
        "one line that ends with CR LF among others that end with LF",
        "all with LF",
    ),
)

# Key poses on a body
NO_SUCH_JOINT = reference.error(
    "KEY101",
    "The joints of a pose are joints of the body.",
    example=("joints: [ 40 ] for a body of 29 joints", "joints: [ 28 ]"),
)
NO_SUCH_LINK = reference.warning(
    "KEY102",
    "A link with keys is a link of the body, by its name or its index.",
    example=("name: TAIL for a body without", "name: WAIST"),
)
KEY_BEYOND_LIMIT = judgement.warning(
    "KEY103",
    "A joint is within its limits at a key pose.",
    example=("a knee at 3 rad with an upper limit of 2.5 rad", "a knee at 2 rad"),
)
OUT_OF_REACH = judgement.warning(
    "KEY104",
    "A link can reach the pose that its keys define.",
    "move the key nearer to the base link, or let the base follow",
    example=("a foot 2 m from the waist", "a foot 0.7 m from the waist"),
)
OTHER_BODY = reference.note(
    "KEY105",
    "The body is the one that the key poses are for (targetBody).",
    example=("targetBody: SR1 with HRP4C.body", "targetBody: SR1 with SR1.body"),
)

# Recorded motion
ASSUMED = judgement.note(
    "SKEL101",
    "The unit and the up axis of a recorded motion are found from its poses.",
    "name the feet foot, toe or ankle; positions are wrong if another unit or axis is "
    "meant",
    example=("joints a, b and c", "joints Hips, LeftFoot and RightFoot"),
)
SKELETON_JUMP = judgement.warning(
    "SKEL102",
    "In a recorded motion no joint rotates by more than 45° at 100 rad/s, and no root "
    "moves faster than 20 m/s.",
    "frame 0 of many files is an added T-pose; leave it out: "
    "dataclasses.replace(clip, values=clip.values[1:])",
    example=("a knee at 0° and, 1/120 s later, at 90°", "a knee at 0° and at 5°"),
)

# Motions on a body
JOINTS = judgement.error(
    "MOT201",
    "A motion has a column for each joint of the body.",
    "the motion may belong to another body",
    example=("29 joints, and columns for 28", "29 columns"),
)
LINKS = judgement.error(
    "MOT203",
    "A motion has the poses of all links of the body, or joint values to compute them "
    "from.",
    "the motion may belong to another body",
    example=("poses of 3 links and no joints, on a body of 4", "poses of 4 links"),
)
POSITION_LIMIT = judgement.warning(
    "MOT204",
    "Joint values are within the limits of the joint.",
    "a controller stops at the limit, or the robot is damaged",
    example=("2.1 rad, where the joint ends at 2 rad", "2 rad"),
)
SPEED_LIMIT = judgement.warning(
    "MOT205",
    "Joint speeds are within the velocity limits of the joint.",
    "the robot will lag behind; slow the motion down: `bodymotion retime --speed`",
    example=("0.4 rad in 0.1 s, where the joint makes 3 rad/s", "0.3 rad in 0.1 s"),
)
POSES_DISAGREE = judgement.warning(
    "MOT206",
    "Link poses agree with the forward kinematics of root and joints.",
    "the motion may belong to another body; `bodymotion edit --root-only` keeps only "
    "root and joints",
    example=(
        "a link 9 m from where root and joints put it",
        "a link where they put it",
    ),
)
NOTHING_MOVES = judgement.warning(
    "MOT207",
    "A motion has joint values or link poses.",
    example=(
        "a motion with a zero moment point alone",
        "one with JointDisplacement, too",
    ),
)
IN_DEGREES = judgement.warning(
    "MOT208",
    "Joint angles are in radians.",
    "multiply them by π/180; a file in degrees is read with `--input-degrees` "
    "(degrees=True); limits, speeds and physics are not checked",
    example=("57.3, 20 and -30, where the joints make 2 rad", "1, 0.35 and -0.52"),
)
METRES = judgement.warning(
    "MOT209",
    "The positions of the root and of the zero moment point are in metres.",
    "multiply them by 0.001; feet, balance and forces are not checked",
    example=("a root at 0, 0, 700", "a root at 0, 0, 0.7"),
)
FRAME_RATE = judgement.warning(
    "MOT210",
    "The frame rate is the number of frames per second.",
    "speeds and physics are not checked",
    example=("frameRate: 0.002", "frameRate: 500"),
)
TIME_STAMPS = judgement.warning(
    "MOT211",
    "Time stamps are in seconds: from a microsecond to an hour between two frames.",
    "are the time stamps seconds, of one clock? `bodymotion edit --trim` keeps a part "
    "of the motion",
    example=("frames at 0, 0.01, 0.02 and 1e9 s", "frames at 0, 0.01, 0.02 and 60 s"),
)
