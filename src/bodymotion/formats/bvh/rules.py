"""The rules of .bvh files. Rules about skeletons and their motion are in `bodymotion.checks`; rows of numbers have the rules of tables."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

UNREADABLE = Rule(
    "BVH001",
    "error",
    "The file must exist and be readable.",
    example=("a folder called walk.bvh", "a file called walk.bvh"),
)
NOT_BVH = Rule(
    "BVH002",
    "error",
    "A .bvh file must begin with HIERARCHY and a ROOT.",
    example=("SKELETON\nROOT Hips", "HIERARCHY\nROOT Hips"),
)
TOO_LARGE = Rule(
    "BVH003",
    "error",
    "A file must stay within the limits of the reader.",
    example=("more than 5000 joints", "100 joints"),
)
SYNTAX = Rule(
    "BVH004",
    "error",
    "A block must have OFFSET, CHANNELS, JOINT and End Site between braces.",
    example=("POSITION 0 90 0", "OFFSET 0 90 0"),
)
OFFSET = Rule(
    "BVH101",
    "error",
    "A joint and an end point must have an OFFSET of three finite numbers.",
    example=("OFFSET 10 -2", "OFFSET 10 -2 0"),
)
LONG_OFFSET = Rule(
    "BVH102",
    "note",
    "An OFFSET has three numbers; further ones are not read.",
    leaves_out=True,
    example=("OFFSET 10 -2 0 90 0 90", "OFFSET 10 -2 0"),
)
CHANNELS = Rule(
    "BVH103",
    "error",
    "CHANNELS must be followed by a number and as many names of channels.",
    example=("CHANNELS 4 Zrotation Yrotation Xrotation", "CHANNELS 3 Zrotation Yrotation Xrotation"),
)
REPEATED = Rule(
    "BVH104",
    "warning",
    "A joint must have each channel once.",
    "rotations are all applied, in order; of positions the last is used",
    example=("CHANNELS 3 Zrotation Yrotation Zrotation", "CHANNELS 3 Zrotation Yrotation Xrotation"),
)
NAME = Rule(
    "BVH105",
    "warning",
    "A joint must have a name of one word.",
    "other programs read the first word only",
    example=("JOINT Left Leg", "JOINT LeftLeg"),
)
SAME_NAME = Rule(
    "BVH106",
    "warning",
    "Joints must have different names.",
    example=("JOINT Hips", "JOINT LeftLeg"),
)
NO_MOTION = Rule(
    "BVH107",
    "error",
    "A file must have MOTION, `Frames:`, `Frame Time:`, and joints with channels.",
    example=("Frames: 2\nRate: 30", "Frames: 2\nFrame Time: 0.033333"),
)
FRAME_TIME = Rule(
    "BVH108",
    "error",
    "The frame time must be a finite number of seconds above 0.",
    example=("Frame Time: 0", "Frame Time: 0.033333"),
)
FRAMES = Rule(
    "BVH109",
    "warning",
    "`Frames:` must be the number of rows; all rows are read.",
    "the file may have been cut off",
    example=("Frames: 3", "Frames: 2"),
)
NOT_FINITE = Rule(
    "BVH110",
    "error",
    "Channels must be finite numbers.",
    example=("0 90 nan", "0 90 1"),
)
RENAMED = Rule(
    "BVH201",
    "warning",
    "A name in a file has no blanks or braces, and is not empty.",
    leaves_out=True,
    example=("saving a joint 'Left Leg'", "saving a joint 'LeftLeg'"),
)
