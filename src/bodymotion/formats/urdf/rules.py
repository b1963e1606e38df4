"""What a URDF file has to say and how."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

# The file
UNREADABLE = Rule("URDF100", "error", "The file can be opened.", "judgement")
NOT_A_ROBOT = Rule("URDF101", "error", "A URDF file is XML with the element <robot> around all.")
XACRO = Rule(
    "URDF102",
    "error",
    "URDF has no macros: a file with xacro's has to be expanded first.",
    "judgement",
    "run xacro on it, and read what it gives",
)
UNKNOWN = Rule(
    "URDF103", "note", "Elements and attributes of other programs are kept, and mean nothing here.", "judgement"
)
SECOND = Rule(
    "URDF104", "warning", "What a link or joint says, it says once; the first counts.", "judgement", leaves_out=True
)

# The tree
NO_LINK = Rule("URDF110", "error", "A robot has a link.")
SAME_NAME = Rule("URDF111", "error", "No two links have one name, and no two joints.")
NO_SUCH_LINK = Rule("URDF112", "error", "parent and child of a joint are names of links.")
TWO_PARENTS = Rule("URDF113", "error", "A link is the child of one joint at most: a robot is a tree.")
ROOTS = Rule("URDF114", "error", "One link alone is no joint's child: the root.", hint="join the others to it")
CYCLE = Rule("URDF115", "error", "Joints lead from the root to every link, and never round in a circle.")

# Joints
JOINT_TYPE = Rule(
    "URDF120", "error", "The type of a joint is revolute, continuous, prismatic, fixed, floating or planar."
)
PLANAR = Rule("URDF121", "warning", "A planar joint has no counterpart: it is read as a fixed one.", "judgement")
AXIS_LENGTH = Rule("URDF122", "warning", "An axis has the length 1; another is brought to that length.")
NO_AXIS = Rule("URDF123", "error", "The axis of a joint that moves is not zero.", hint="it is read as 1 0 0")
NO_LIMIT = Rule(
    "URDF124",
    "error",
    "A revolute or prismatic joint has a <limit> with effort and velocity.",
    hint="it is read as one without that limit; other programs refuse the file",
)
LIMITS = Rule("URDF125", "warning", "A lower limit is below the upper one.", "judgement")
NOT_FINITE = Rule("URDF126", "error", "The numbers of a model are finite; an infinite limit is none.", "judgement")
MIMIC = Rule("URDF127", "warning", "A joint that mimics another names a joint; here it moves by its own value.")

# Links
MASS = Rule("URDF130", "error", "A link with <inertial> says its mass, zero or greater, and its inertia.")
GEOMETRY = Rule(
    "URDF131",
    "error",
    "A visual or collision has a geometry: box, cylinder, sphere, capsule or mesh; another shows nothing.",
    leaves_out=True,
)
MATERIAL = Rule("URDF132", "warning", "A material is defined somewhere in the file, by a colour or a texture.")
SIZE = Rule("URDF133", "error", "Sizes are zero or greater; a shape of another size shows nothing.", leaves_out=True)

# Files
RESOURCE_MISSING = Rule(
    "URDF140",
    "error",
    "A mesh or texture is there, in the folder tree of the model or of its package.",
    "judgement",
    "package_paths names folders of packages, allow_outside=True opens files anywhere",
    leaves_out=True,
)
RESOURCE_BROKEN = Rule(
    "URDF141", "error", "The file of a mesh can be read; else it shows nothing.", "judgement", leaves_out=True
)

# Sensors
SENSOR_LINK = Rule("URDF150", "warning", "The reference of a <gazebo> element is the name of a link or joint.")
SENSOR = Rule("URDF151", "warning", "The numbers of a sensor are numbers; one without is read with its default.")
POSE_FRAME = Rule("URDF152", "warning", "The pose of a sensor is in the frame of its link.", "judgement")

# What bodymotion writes for itself
EXTENSION = Rule(
    "URDF160",
    "warning",
    "The element <bodymotion> is as bodymotion writes it; what is not is passed over.",
    "judgement",
    leaves_out=True,
)
CHANGED = Rule(
    "URDF161",
    "note",
    "Where a file was changed after it was written, what <bodymotion> says of the old value is passed over.",
    "judgement",
)
KEPT = Rule(
    "URDF162",
    "note",
    "What URDF has no words for stands in the element <bodymotion>: bodymotion reads it back, other programs do not.",
    "judgement",
)
PACKAGE = Rule(
    "URDF163",
    "note",
    "Paths of package:// start at the folder of the package.xml above the file, and by the name that this says.",
    "judgement",
)

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
