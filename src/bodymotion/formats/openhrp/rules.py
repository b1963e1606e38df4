"""What the OpenHRP document demands of a model, and what makes one hard to use."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

# The tree
HUMANOIDS = Rule("WRL101", "error", "A file holds one Humanoid; the first is read.", leaves_out=True)
NO_JOINT = Rule(
    "WRL102",
    "warning",
    "A Humanoid has a Joint in its humanoidBody; without one the body is a single fixed link.",
    "judgement",
    "write humanoidBody [ DEF BASE Joint { … } ]",
)
SEVERAL_ROOTS = Rule(
    "WRL103",
    "error",
    "A body has one root; the first Joint of humanoidBody is read, what stands beside it is left out.",
    hint="put the other Joints into the first one's children",
    leaves_out=True,
)
JOINT_MOVED = Rule(
    "WRL104",
    "error",
    "A Joint stands in a Joint; a Transform between them does nothing.",
    hint="write the Transform's translation and rotation into the Joint",
)
JOINT_IN_SEGMENT = Rule(
    "WRL105", "error", "A Joint does not stand in a Segment.", hint="put the Joint beside the Segment"
)
SEGMENT_IN_SEGMENT = Rule(
    "WRL106", "error", "A Segment does not stand in a Segment.", hint="put the Segments side by side"
)
OUTSIDE = Rule(
    "WRL107",
    "warning",
    "Only what stands in a Joint of the Humanoid belongs to the body.",
    "judgement",
    leaves_out=True,
)
HUMANOID_POSE = Rule(
    "WRL108",
    "warning",
    "Translation, rotation and scale of a Humanoid do nothing unless asked for; the root Joint's pose is the body's.",
    "judgement",
    "write them into the root Joint, or load with apply_humanoid_pose=True",
)
LISTS = Rule(
    "WRL109", "warning", "The lists joints and segments of a Humanoid name all Joints and Segments.", fixable=True
)
SAME_NAME = Rule("WRL110", "warning", "Each link has a name of its own.", "judgement")
NO_NAME = Rule("WRL111", "warning", "A Joint has a name: DEF NAME Joint { … }.", "judgement")
TOO_MANY = Rule("WRL112", "error", "A body has a number of links that can be held.", "judgement")
NOTHING = Rule(
    "WRL113",
    "error",
    "There is a node in the file.",
    "judgement",
    "the file may have been cut off, or never written",
)
NAME_FIELD = Rule(
    "WRL114",
    "note",
    "The name after DEF is that of a Joint or Segment; a field name that says another one is only kept.",
    "reference",
    "let the field say what stands after DEF",
)
UNUSED_FIELD = Rule(
    "WRL115",
    "note",
    "OpenHRP does not use bboxCenter, bboxSize, sites, coord, displacers, addChildren and removeChildren.",
)
NO_HUMANOID = Rule(
    "WRL116",
    "note",
    "A model has a Humanoid; a file without one is a scene: a single fixed link with all shapes.",
    hint="put a Humanoid around the Joints: its humanoidBody has the root Joint",
)
EXTENSION = Rule("WRL117", "note", "The name of a model's file ends with .wrl.")
UNNAMED_SEGMENT = Rule(
    "WRL118", "note", "A Segment has a name: DEF NAME Segment { … }; the list segments names it.", "judgement"
)
UNKNOWN_NODES = Rule(
    "WRL119",
    "warning",
    "Of a field that nobody knows and that holds nodes, only their names or types are kept.",
    "judgement",
    leaves_out=True,
)

# Joints
JOINT_TYPE = Rule("WRL120", "error", "jointType is one of free, slide, rotate, fixed and crawler.")
JOINT_AXIS = Rule("WRL121", "error", 'jointAxis is a vector, or in old files "X", "Y" or "Z".')
AXIS_LENGTH = Rule(
    "WRL122", "warning", "jointAxis is a vector of length 1; another is brought to that length.", fixable=True
)
NO_AXIS = Rule("WRL123", "error", "The jointAxis of a Joint that moves is not zero.", hint="it is read as 0 0 1")
ID_GAP = Rule(
    "WRL124",
    "error",
    "The jointIds run from 0 without gaps.",
    hint="the columns of the ids that are missing move nothing",
)
ID_TWICE = Rule("WRL125", "error", "No two Joints have the same jointId.", hint="the first in link order moves with it")
ID_MISSING = Rule(
    "WRL126", "warning", "A Joint that moves has a jointId.", "judgement", "its column follows after those with an id"
)
ID_UNUSED = Rule(
    "WRL127", "note", "A Joint with a jointId has one value that moves it; fixed and free ones have not.", "judgement"
)
ID_ORDER = Rule("WRL128", "note", "jointIds may run in another order than the links.", "judgement")
ID_RANGE = Rule("WRL129", "error", "A jointId is −1 for none, or a small number from 0 on.")
LIMITS = Rule("WRL130", "warning", "A lower limit is below the upper one.")
CENTER = Rule(
    "WRL131", "warning", "center, scale and scaleOrientation of a Joint do nothing.", "judgement", "use translation"
)
OBSOLETE = Rule("WRL132", "note", "equivalentInertia is an old field.", "judgement", "give rotorInertia and gearRatio")
MOTOR = Rule(
    "WRL133", "warning", "gearRatio is not zero, gearEfficiency is in 0…1, rotorInertia is not negative.", "judgement"
)
ROTATION_AXIS = Rule(
    "WRL134", "warning", "The axis of a rotation is of length 1; another is brought to that length.", fixable=True
)
OLD_AXIS = Rule("WRL135", "note", "jointAxis is a vector since OpenHRP 3.", hint='write 0 0 1 for "Z"')
SEVERAL_LIMITS = Rule("WRL136", "note", "A limit is one number; of several the first counts.", "judgement")
ROOT_MOVES = Rule(
    "WRL137",
    "warning",
    "The root Joint is free or fixed: where the root is, its pose says, and a column of its own moves nothing.",
    "reference",
    'put a Joint with jointType "fixed" around it, if it is to move',
)
FREE_INSIDE = Rule(
    "WRL138",
    "warning",
    'jointType "free" is for the root link of a model that is not fixed; elsewhere it moves nothing.',
    hint="build a floating part of three slide and three rotate Joints",
)

# Segments
INERTIA_SIZE = Rule("WRL140", "error", "momentsOfInertia has nine numbers, row by row.")
MASS = Rule("WRL141", "error", "A mass is a number, zero or greater.")
NO_MASS = Rule(
    "WRL142", "warning", "A link that moves has a mass.", "judgement", "simulators refuse it, or it flies away"
)
NO_INERTIA = Rule("WRL143", "warning", "A link with a mass has an inertia.", "judgement", "simulators refuse it")
ASYMMETRIC = Rule("WRL144", "warning", "An inertia tensor is symmetric.", "judgement")
TRIANGLE = Rule(
    "WRL145",
    "warning",
    "No body has an inertia tensor with a negative principal moment, or one larger than the sum of the other two.",
    "judgement",
    "simulators refuse it",
)
SEGMENT_SCALED = Rule("WRL146", "warning", "A Segment stands under Transforms that do not scale it.", "judgement")
NOT_FINITE = Rule("WRL147", "error", "The numbers of a model are finite; others are read as the default.")
MORE_NUMBERS = Rule("WRL148", "warning", "A field has as many numbers as its type; of more the first count.")

# Sensors
SENSOR_ID_GAP = Rule("WRL160", "error", "The sensorIds of each type of sensor run from 0 without gaps.")
SENSOR_ID_TWICE = Rule("WRL161", "error", "No two sensors of one type have the same sensorId.")
SENSOR_ID_MISSING = Rule("WRL162", "warning", "A sensor has a sensorId.")
VISION_TYPE = Rule("WRL163", "error", "The type of a VisionSensor is COLOR, DEPTH, COLOR_DEPTH or NONE.")
FIELD_OF_VIEW = Rule("WRL164", "error", "fieldOfView is between 0 and π.")
CLIP = Rule("WRL165", "warning", "frontClipDistance is positive and below backClipDistance.", "judgement")
IMAGE = Rule("WRL166", "warning", "An image has a width, a height and a frame rate.", "judgement")
SCAN = Rule("WRL167", "warning", "scanAngle is in 0…2π, scanStep, scanRate and maxDistance are positive.", "judgement")
NOT_IN_DOCUMENT = Rule(
    "WRL168", "note", "The document has five types of sensor; others are kept with all their fields."
)
SENSOR_SCALED = Rule("WRL169", "warning", "A sensor stands under Transforms that do not scale it.", "judgement")
SENSOR_LIMIT = Rule(
    "WRL170",
    "warning",
    "A sensor's maxAcceleration, maxAngularVelocity, maxForce and maxTorque are positive, or -1 for none.",
    "judgement",
)

# Extra joints
EXTRA_LINK = Rule("WRL180", "error", "link1Name and link2Name of an ExtraJoint are names of Joints.")
EXTRA_TYPE = Rule(
    "WRL181",
    "error",
    'jointType of an ExtraJoint is "xyz", "xy" or "z"; Choreonoid has "piston", "ball" and "hinge" too.',
)

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
