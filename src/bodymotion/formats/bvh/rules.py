"""The rules of .bvh files. Rules about skeletons and their motion are in `bodymotion.checks`; rows of numbers have the rules of tables."""

from bodymotion.diagnostics import judgement

UNREADABLE = judgement.error(
    "BVH001", "The file must exist and be readable.", example=("a folder called walk.bvh", "a file called walk.bvh")
)
NOT_BVH = judgement.error(
    "BVH002",
    "A .bvh file must begin with HIERARCHY and a ROOT.",
    example=("SKELETON\nROOT Hips", "HIERARCHY\nROOT Hips"),
)
TOO_LARGE = judgement.error(
    "BVH003", "A file must stay within the limits of the reader.", example=("more than 5000 joints", "100 joints")
)
SYNTAX = judgement.error(
    "BVH004",
    "A block must have OFFSET, CHANNELS, JOINT and End Site between braces.",
    example=("POSITION 0 90 0", "OFFSET 0 90 0"),
)
OFFSET = judgement.error(
    "BVH101",
    "A joint and an end point must have an OFFSET of three finite numbers.",
    example=("OFFSET 10 -2", "OFFSET 10 -2 0"),
)
LONG_OFFSET = judgement.note(
    "BVH102",
    "An OFFSET has three numbers; further ones are not read.",
    leaves_out=True,
    example=("OFFSET 10 -2 0 90 0 90", "OFFSET 10 -2 0"),
)
CHANNELS = judgement.error(
    "BVH103",
    "CHANNELS must be followed by a number and as many names of channels.",
    example=("CHANNELS 4 Zrotation Yrotation Xrotation", "CHANNELS 3 Zrotation Yrotation Xrotation"),
)
REPEATED = judgement.warning(
    "BVH104",
    "A joint must have each channel once.",
    "rotations are all applied, in order; of positions the last is used",
    example=("CHANNELS 3 Zrotation Yrotation Zrotation", "CHANNELS 3 Zrotation Yrotation Xrotation"),
)
NAME = judgement.warning(
    "BVH105",
    "A joint must have a name of one word.",
    "other programs read the first word only",
    example=("JOINT Left Leg", "JOINT LeftLeg"),
)
SAME_NAME = judgement.warning("BVH106", "Joints must have different names.", example=("JOINT Hips", "JOINT LeftLeg"))
NO_MOTION = judgement.error(
    "BVH107",
    "A file must have MOTION, `Frames:`, `Frame Time:`, and joints with channels.",
    example=("Frames: 2\nRate: 30", "Frames: 2\nFrame Time: 0.033333"),
)
FRAME_TIME = judgement.error(
    "BVH108",
    "The frame time must be a finite number of seconds above 0.",
    example=("Frame Time: 0", "Frame Time: 0.033333"),
)
FRAMES = judgement.warning(
    "BVH109",
    "`Frames:` must be the number of rows; all rows are read.",
    "the file may have been cut off",
    example=("Frames: 3", "Frames: 2"),
)
NOT_FINITE = judgement.error("BVH110", "Channels must be finite numbers.", example=("0 90 nan", "0 90 1"))
RENAMED = judgement.warning(
    "BVH201",
    "A name in a file has no blanks or braces, and is not empty.",
    leaves_out=True,
    example=("saving a joint 'Left Leg'", "saving a joint 'LeftLeg'"),
)
