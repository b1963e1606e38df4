"""What MJCF demands of a model, what of it is read, and what makes one hard to use."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

# The file
UNREADABLE = Rule("MJCF100", "error", "The file can be opened.", "judgement")
NOT_MJCF = Rule("MJCF101", "error", "The root of an MJCF file is <mujoco>.")
INCLUDE = Rule(
    "MJCF102",
    "error",
    "A file that <include> names is there, can be read, and is included once.",
    hint="files outside the model's folder are opened with allow_outside=True",
)
NO_BODY = Rule("MJCF103", "error", "A model has a body.", "judgement")
TOO_LARGE = Rule("MJCF104", "error", "A model stays within what can be held.", "judgement")
CLASS = Rule("MJCF105", "error", "class and childclass name a class of <default>.")
NOT_READ = Rule(
    "MJCF106", "warning", "Elements that have no place in a body are left out.", "judgement", leaves_out=True
)
SAME_NAME = Rule("MJCF107", "error", "No two things of one kind have the same name.")
GLOBAL = Rule("MJCF108", "error", "Coordinates are local; MuJoCo has given up global ones.")

# Bodies and joints
NOT_FINITE = Rule("MJCF110", "error", "The numbers of a model are finite.")
ORIENTATION = Rule("MJCF111", "error", "A thing has one orientation, of a length that is not zero.")
FREE = Rule("MJCF112", "error", "A free joint belongs to a body at the top and is its only joint.")
AXIS = Rule("MJCF113", "error", "The axis of a joint has a length.")
JOINT_TYPE = Rule("MJCF114", "error", "The type of a joint is hinge, slide, ball or free.")
SEVERAL_JOINTS = Rule(
    "MJCF120",
    "note",
    "A body with several joints, or one away from its origin, is read as a chain of links.",
    "judgement",
    "only the last link of the chain has mass and shapes",
)
BALL = Rule("MJCF121", "warning", "A ball joint is read as three joints about x, y and z.", "judgement")
WORLD = Rule(
    "MJCF122",
    "note",
    "A body has one root: where the world has several bodies, or one that a joint holds, the world itself is it.",
    "judgement",
)
BESIDE = Rule(
    "MJCF124",
    "warning",
    "Where one body of the world alone is free, it is the robot; what stands beside it is left out.",
    "judgement",
    leaves_out=True,
)
WORLD_SHAPES = Rule(
    "MJCF123", "note", "Shapes of the world are no part of a robot: they are kept as plain data.", "judgement"
)

# Masses
NO_MASS = Rule("MJCF130", "warning", "A body that moves has a mass and an inertia.")
BAD_INERTIA = Rule(
    "MJCF131", "warning", "The moments of inertia of a body are positive, none larger than the sum of the other two."
)
GEOM_MASS = Rule("MJCF132", "warning", "Masses that MuJoCo works out from geoms are worked out likewise.")
REFUSED = Rule(
    "MJCF133",
    "error",
    "Each moving body of MJCF has a mass and an inertia that a rigid body can have.",
    hint="fix_inertia=True (--fix-inertia) repairs them and says how",
)

# Geometry
GEOM = Rule(
    "MJCF140",
    "warning",
    "A geom is a box, sphere, capsule, cylinder, ellipsoid or mesh; others show nothing.",
    leaves_out=True,
)
GEOM_SIZE = Rule("MJCF141", "error", "A geom has the sizes of its type, and they are positive.")
ASSET = Rule("MJCF142", "error", "Meshes, materials and textures that are named are among the assets.")
MESH_FILE = Rule(
    "MJCF143", "warning", "The files of meshes and textures are there and can be read.", "judgement", leaves_out=True
)

LOOK = Rule(
    "MJCF144",
    "warning",
    "A surface has a colour, a highlight, a glow and one image from a file; what else a material says is left out.",
    "judgement",
    leaves_out=True,
)

# Devices and loops
SENSOR = Rule("MJCF150", "note", "Sensors that no device stands for are kept as plain data.", "judgement")
EQUALITY = Rule("MJCF151", "note", "Equalities that hold no point of a link are kept as plain data.", "judgement")
REFERENCE = Rule("MJCF152", "error", "What an element names is in the model.")
LIMITS = Rule("MJCF153", "warning", "A lower limit is below the upper one.")
KEPT = Rule(
    "MJCF154",
    "note",
    "Actuators, tendons, contacts, keyframes and options have no place in a body and are kept as plain data.",
    "judgement",
)
DEEP = Rule("MJCF155", "error", "Links hang on each other in chains that XML readers can follow.", "judgement")

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
