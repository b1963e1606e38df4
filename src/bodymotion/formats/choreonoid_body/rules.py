"""What a .body file has to say and how, and what makes a model hard to use."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

# The file
UNREADABLE = Rule("BDY100", "error", "The file can be opened.", "judgement")
NOT_YAML = Rule("BDY101", "error", "A .body file is YAML, and not nested too deep.")
NOT_A_BODY = Rule("BDY102", "error", "A .body file is a mapping with `format: ChoreonoidBody` and a list of links.")
VERSION = Rule("BDY103", "warning", "The format has the versions 1.0 and 2.0.", hint="it is read as version 2.0")
ANGLE_UNIT = Rule("BDY104", "error", "angle_unit is degree or radian; in version 2.0 all angles are degrees.")
ALIAS = Rule(
    "BDY105", "error", "An alias names a node that stands before it, and does not make the file larger without bound."
)
KEY_TWICE = Rule("BDY106", "warning", "A key stands once in a mapping; of several the last counts.", "judgement")
WRONG_VALUE = Rule("BDY107", "error", "A key holds what its node can use.")
NOT_FINITE = Rule("BDY108", "error", "The numbers of a model are finite; others are read as the default.")
SUFFIX = Rule(
    "BDY109",
    "warning",
    "A number ends with its last digit.",
    "judgement",
    "write 0.5, not 0.5f; what stands behind the number is not used",
)
IGNORED = Rule(
    "BDY110",
    "note",
    "A file holds one document without tags; what is beyond is not used.",
    "judgement",
    leaves_out=True,
)
MISSPELT = Rule("BDY111", "warning", "A key that is almost that of the format may be meant for it.", "judgement")
LEFT_OVER = Rule(
    "BDY113", "warning", "A list of points has two or three numbers for each; what is left over is not used."
)
TOO_LARGE = Rule("BDY112", "error", "A model stays within what can be held.", "judgement", leaves_out=True)

# Links
NO_LINK = Rule("BDY120", "error", "A body has a link.")
NO_NAME = Rule("BDY121", "warning", "A link has a name.")
SAME_NAME = Rule("BDY122", "warning", "Each link has a name of its own.", hint="a parent of that name is the first one")
PARENT = Rule("BDY123", "error", "The parent of a link is the name of another link.")
ROOT = Rule(
    "BDY124", "error", "root_link is the name of a link without a parent; without it the first link is the root."
)
LOOSE = Rule(
    "BDY125", "error", "All links hang on the root; others are left out.", hint="give them a parent", leaves_out=True
)
LINK_TYPE = Rule("BDY126", "error", "The type of a link is Link, SubBody, ContinuousTrack or Skip.")
SUB_BODY = Rule(
    "BDY127", "error", "The file of a SubBody is there, can be read, and does not contain itself.", leaves_out=True
)
ROOT_MOVES = Rule(
    "BDY128",
    "warning",
    "The root link's joint is free or fixed: where the root is, its pose says, and a column of its own moves nothing.",
    "reference",
    "put a fixed link above it, if it is to move",
)

# Joints
JOINT_TYPE = Rule(
    "BDY130", "error", "joint_type is one of fixed, free, revolute, prismatic and pseudo_continuous_track."
)
JOINT_AXIS = Rule("BDY131", "error", "joint_axis is a vector, or one of X, Y, Z, -X, -Y and -Z.")
AXIS_LENGTH = Rule("BDY132", "warning", "joint_axis is a vector of length 1; another is brought to that length.")
NO_AXIS = Rule("BDY133", "error", "The joint_axis of a joint that moves is not zero.", hint="it is read as 0 0 1")
ID_RANGE = Rule("BDY134", "error", "A joint_id is a small whole number from 0 on; a negative one is none.")
ID_TWICE = Rule(
    "BDY135", "error", "No two joints have the same joint_id.", hint="the first in link order moves with it"
)
ID_GAP = Rule(
    "BDY136",
    "warning",
    "The joint_ids run from 0 without gaps.",
    "judgement",
    "the columns of the ids that are missing move nothing",
)
LIMITS = Rule("BDY137", "warning", "A lower limit is below the upper one.", "judgement")
ROTATION_AXIS = Rule("BDY138", "warning", "The axis of a rotation is of length 1; another is brought to that length.")
NO_TURN = Rule("BDY139", "error", "The axis of a rotation has a length; a rotation without is none.")

# Masses
MASS = Rule("BDY140", "error", "A mass is a number, zero or greater.")
INERTIA_SIZE = Rule("BDY141", "error", "inertia has nine numbers, row by row, or the six of its upper triangle.")
MASS_UNSET = Rule(
    "BDY142", "note", "A link without mass and inertia weighs 1 kg and has the unit matrix for inertia.", "document"
)
NO_MASS = Rule(
    "BDY143",
    "warning",
    "A link that moves has a mass and an inertia.",
    "judgement",
    "simulators refuse it, or it flies away",
)
ASYMMETRIC = Rule("BDY144", "warning", "An inertia tensor is symmetric.", "judgement")
TRIANGLE = Rule(
    "BDY145",
    "warning",
    "No body has an inertia tensor with a negative principal moment, or one larger than the sum of the other two.",
    "judgement",
    "simulators refuse it",
)

# Elements
ELEMENT = Rule("BDY150", "error", "An element is a mapping with a type, or stands under the name of its type.")
PLUGIN_NODE = Rule(
    "BDY151", "note", "Some types of element are known to plugins only; they are kept as devices with all their keys."
)
SCALED = Rule(
    "BDY152", "warning", "Rigid bodies and devices stand under Transforms that do not scale them.", "judgement"
)
NO_SIZE = Rule("BDY153", "warning", "A geometry gives its sizes; one that is missing is 1.", "judgement")
NOT_SHOWN = Rule(
    "BDY154", "note", "Lights, texts and other parts of scenes have no shape here.", "judgement", leaves_out=True
)
CAMERA = Rule(
    "BDY155",
    "warning",
    "A camera's format, field of view, clip distances and image are such that a picture can be made.",
    "judgement",
)
SCAN = Rule(
    "BDY156", "warning", "A RangeSensor has ranges, steps, a rate and a distance that can be scanned.", "judgement"
)
GEOMETRY = Rule("BDY157", "error", "A geometry is of a known type; another shows nothing.", leaves_out=True)

# Resources
RESOURCE_KIND = Rule("BDY160", "error", "A resource is VRML97, YAML or a mesh of a known kind.", leaves_out=True)
RESOURCE_NODE = Rule("BDY161", "error", "The node of a resource is in its file.", leaves_out=True)
RESOURCE_BROKEN = Rule("BDY162", "error", "The file of a resource can be read; else it shows nothing.", leaves_out=True)
RESOURCE_PARTS = Rule(
    "BDY163",
    "warning",
    "All that a resource holds can be used; what can not is left out.",
    "judgement",
    leaves_out=True,
)

# Closed loops
EXTRA_LINK = Rule(
    "BDY170",
    "error",
    "link1_name and link2_name of an extra joint are names of links; else it is left out.",
    leaves_out=True,
)
EXTRA_TYPE = Rule(
    "BDY171",
    "error",
    "The joint_type of an extra joint is ball, hinge or piston; else it is left out.",
    leaves_out=True,
)

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
