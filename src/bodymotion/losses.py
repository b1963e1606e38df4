"""What a save can not keep: rules with codes ``LOSS…``, all warnings. The command exits with 3 when there was one."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = [
    "BODY_NAMES",
    "BODY_ORDER",
    "BODY_POSE",
    "COMMENTS",
    "COMPONENT",
    "CONTENT",
    "DANGLING",
    "DEPTH",
    "DESCRIPTION",
    "DEVICE",
    "DISPLAY",
    "EXCLUDED",
    "EXTRA",
    "FOLLOWING",
    "FORCE_SENSOR",
    "FRAMES",
    "FREQUENCY",
    "INERTIA_CHANGED",
    "INERTIA_GIVEN",
    "INERTIA_NOT_FINITE",
    "JOINT_KIND",
    "JOINT_NAME",
    "KEPT_VALUE",
    "LABELS",
    "LIMITS",
    "LOOP",
    "MASS_GIVEN",
    "MESHED",
    "MESH_LOOK",
    "NAME",
    "NOT_A_NUMBER",
    "NOT_DRAWN",
    "NOT_FINITE",
    "NO_FIELD",
    "NO_LIMITS",
    "NUMBER_RANGE",
    "ONLY_MJCF",
    "OPTION",
    "ORIENTATION",
    "OTHER_RATE",
    "PLACE",
    "PRECISION",
    "RATE",
    "RENAMED",
    "SEGMENTS",
    "SHAPE_FORM",
    "SHAPE_LOOK",
    "STAMPS",
    "SURFACE",
    "TEXT",
    "UNREAD",
    "UNSAID",
    "UNSCALED",
    "VALUE",
    "WHOLE",
]

STAMPS = Rule(
    "LOSS001",
    "warning",
    "The target holds no time stamps: the frames are put on a fixed rate, each held from its time on.",
    "judgement",
    "Motion.resample() and `--rate` with `--method` put them on a rate in other ways",
)
NOT_FINITE = Rule(
    "LOSS002",
    "warning",
    "Numbers that are not finite are written as .nan, .inf and -.inf, which not every reader takes for numbers.",
    "judgement",
)
CONTENT = Rule(
    "LOSS003",
    "warning",
    "A content keeps its meaning under the names of the target's version.",
    "judgement",
)
VALUE = Rule(
    "LOSS004",
    "warning",
    "Unknown keys hold what YAML can hold, under names that mean nothing else.",
    "judgement",
)
ORIENTATION = Rule(
    "LOSS005",
    "warning",
    "Roll, pitch and yaw, and the poses of tables, hold the turn of a quaternion, not its length.",
    "judgement",
    "the orders XYZQWQXQYQZ and XYZQXQYQZQW keep it",
)
TEXT = Rule("LOSS006", "warning", "Texts are Unicode: halves of surrogate pairs become '\\ufffd'.", "judgement")
COMPONENT = Rule("LOSS007", "warning", "The target has no place for this component.", "judgement")
EXTRA = Rule("LOSS008", "warning", "The target has no place for keys of its own.", "judgement")
LABELS = Rule("LOSS009", "warning", "The target has no place for these labels.", "judgement")
RATE = Rule(
    "LOSS010", "warning", "The target has one time for all components, or a rate that it does not say.", "judgement"
)
FRAMES = Rule("LOSS011", "warning", "The target has equally many frames of every component.", "judgement")
PRECISION = Rule("LOSS012", "warning", "The target holds numbers in single precision, of about 7 digits.", "judgement")
OTHER_RATE = Rule(
    "LOSS013",
    "warning",
    "On a new rate, a component of an unknown type stays as it is: where its frames are is not known.",
    "judgement",
    "it may no longer go with the others: drop it, or put it on the rate by other means",
)
BODY_NAMES = Rule(
    "LOSS020",
    "warning",
    "In a .wrl model each Joint and Segment has a name of its own, without blanks, quotes, brackets and commas.",
    "judgement",
)
BODY_ORDER = Rule(
    "LOSS021", "warning", "In a .wrl model links and devices stand depth-first, in the order of the file.", "judgement"
)
SHAPE_FORM = Rule(
    "LOSS022", "warning", "VRML97 has no such shape: it is written as the nearest ones, or left out.", "judgement"
)
KEPT_VALUE = Rule(
    "LOSS023",
    "warning",
    "Fields of a .wrl model hold truth values, numbers, texts, and lists of numbers or texts, of one type for all nodes of a kind.",
    "judgement",
)
NUMBER_RANGE = Rule("LOSS024", "warning", "Numbers of a .wrl model are finite, and ids from 0 to 9999.", "judgement")
PLACE = Rule(
    "LOSS025",
    "warning",
    "In a .wrl model the root link is where its Joint is, and transforms are translations, rotations and scales.",
    "judgement",
)
SHAPE_LOOK = Rule(
    "LOSS026",
    "warning",
    "VRML97 has colours of three parts from 0 to 1, and images in the folder of the model or below it.",
    "judgement",
)
JOINT_NAME = Rule(
    "LOSS027",
    "warning",
    "In a .wrl model a joint and the link that it moves have one name: that of the joint, by which motions go.",
    "judgement",
)
DEPTH = Rule(
    "LOSS028", "warning", "Readers of .wrl models take so many nodes one in the other, and no more.", "judgement"
)
MESH_LOOK = Rule(
    "LOSS030",
    "warning",
    "The kind of mesh file holds less of how a surface looks, or its image is not there.",
    "judgement",
)
NOT_DRAWN = Rule(
    "LOSS031",
    "warning",
    "The target has triangles and solids alone: lines, points and empty meshes are left out.",
    "judgement",
)
RENAMED = Rule(
    "LOSS032", "warning", "In the target each name stands for one thing, and is made of plain characters.", "judgement"
)
JOINT_KIND = Rule("LOSS033", "warning", "The target has no joint of this type: the nearest one is taken.", "judgement")
LIMITS = Rule("LOSS034", "warning", "The target has limits that are equal both ways, or of one value.", "judgement")
SEGMENTS = Rule(
    "LOSS035", "warning", "The target has one mass for each link: its segments are put together.", "judgement"
)
MESHED = Rule(
    "LOSS036", "warning", "The target has no such solid, or not so stretched: it becomes a mesh.", "judgement"
)
SURFACE = Rule("LOSS037", "warning", "The target knows a surface by its colour and image alone.", "judgement")
DEVICE = Rule("LOSS038", "warning", "The target has no such device, or less of it.", "judgement")
LOOP = Rule("LOSS039", "warning", "The target is a tree: a closed loop is open there.", "judgement")
UNSAID = Rule("LOSS040", "warning", "The target has no word for this.", "judgement")
NOT_A_NUMBER = Rule("LOSS041", "warning", "The target holds finite numbers alone; others become 0.", "judgement")
MASS_GIVEN = Rule(
    "LOSS045",
    "warning",
    "A moving link without mass gets a small one, since simulators refuse it otherwise.",
    "judgement",
    "give it a mass in the model",
)
INERTIA_GIVEN = Rule(
    "LOSS046",
    "warning",
    "A moving link without inertia gets that of a solid as large as its shapes, since simulators refuse it otherwise.",
    "judgement",
    "give it an inertia in the model",
)
INERTIA_CHANGED = Rule(
    "LOSS047",
    "warning",
    "An inertia that no rigid body has becomes the nearest one that a body can have, along the same axes.",
    "judgement",
    "mend the inertia in the model",
)
INERTIA_NOT_FINITE = Rule(
    "LOSS048", "warning", "Masses and inertias that are no numbers, and negative masses, become 0.", "judgement"
)
DISPLAY = Rule(
    "LOSS060",
    "warning",
    "The message Animation has no place for a description and a colour.",
    "judgement",
    "they are in MoveInfo: bodymotion.spot.to_move_info()",
)
EXCLUDED = Rule(
    "LOSS061",
    "warning",
    "Of columns that exclude each other a message holds the last ones.",
    "judgement",
)
NO_LIMITS = Rule(
    "LOSS062",
    "warning",
    "A message holds the limits of a parameter, not its name alone.",
    "judgement",
    "move_params_config=… takes the robot's MoveParamsConfig, a text that it gives when asked for all moves",
)
WHOLE = Rule(
    "LOSS063", "warning", "Contacts are held as yes or no, and the number of a dance frame as a whole one.", "judgement"
)
NO_FIELD = Rule("LOSS064", "warning", "The messages have no field for this.", "judgement")
LOOP_NEAREST = Rule(
    "LOSS049", "warning", "The target has no constraint of this type: the nearest one closes the loop.", "judgement"
)
FLAT = Rule("LOSS050", "warning", "The target takes flat meshes for no obstacles.", "judgement")
KEPT_LESS = Rule(
    "LOSS051", "warning", "Values that have no place in the target are kept as text where JSON has them.", "judgement"
)
EFFECT = Rule(
    "LOSS052", "warning", "What this does in the body it does not do in the target, which only keeps it.", "judgement"
)
ONLY_MJCF = Rule(
    "LOSS085",
    "warning",
    "What MJCF alone says of a model is written where the things that it names are there, and nowhere but in MJCF.",
    "judgement",
)
FOLLOWING = Rule(
    "LOSS086", "warning", "A joint that follows another one does so where that is in the target.", "judgement"
)
DESCRIPTION = Rule(
    "LOSS070",
    "warning",
    "A description is one line of text without # and //, and without blanks around it.",
    "document",
)
COMMENTS = Rule("LOSS071", "warning", "Comments stand at things that are still there.", "judgement")
OPTION = Rule("LOSS072", "warning", "The options of an animation file are those of the document.", "document")
FREQUENCY = Rule("LOSS073", "warning", "An animation file has a frequency or a column of times, not both.", "document")
UNREAD = Rule(
    "LOSS074", "warning", "Lines that meant nothing to the reader of an animation file are not written.", "judgement"
)
DANGLING = Rule(
    "LOSS090",
    "warning",
    "What was kept of another URDF names joints and parts of the model; where they are gone, it is left out.",
    "judgement",
)
BODY_POSE = Rule(
    "LOSS076",
    "warning",
    "A motion of Spot says where its body is.",
    "judgement",
    "without it the body stands still and level at its nominal height",
)
NAME = Rule("LOSS075", "warning", "The name of a move is that of its animation file.", "document")
FORCE_SENSOR = Rule(
    "LOSS080",
    "warning",
    "A force sensor is at a joint: told from another root, it is on the link that the joint holds now, and reads what that one exerts.",
    "judgement",
    "its readings are the opposite ones, in the axes of that link",
    leaves_out=True,
)
UNSCALED = Rule(
    "LOSS081",
    "warning",
    "What a body keeps for one format alone is not scaled: which of its numbers are lengths is not known.",
    "judgement",
    leaves_out=True,
)
