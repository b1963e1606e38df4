"""What MJCF demands of a model, what of it is read, and what makes one hard to use."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RETIRED", "RULES"]

RETIRED = {
    "MJCF113": "BODY111",
    "MJCF130": "BODY131",
    "MJCF131": "BODY133",
    "MJCF134": "BODY130",
}
"""Codes of rules that others replaced, with the codes of these."""

# The file
UNREADABLE = Rule(
    "MJCF100",
    "error",
    "The file can be opened.",
    "judgement",
    example=("a folder called robot.xml", "a file called robot.xml"),
)
NOT_MJCF = Rule("MJCF101", "error", "The root of an MJCF file is <mujoco>.", example=("<model>", "<mujoco>"))
INCLUDE = Rule(
    "MJCF102",
    "error",
    "A file that <include> names is there, can be read, and is included once.",
    example=('<include file="lge.xml"/>', '<include file="leg.xml"/>'),
)
NO_BODY = Rule(
    "MJCF103",
    "error",
    "A model has a body.",
    "judgement",
    example=("<worldbody> </worldbody>", '<worldbody> <body> <geom size="0.1"/> </body> </worldbody>'),
)
TOO_LARGE = Rule(
    "MJCF104",
    "error",
    "A model stays within what can be held.",
    "judgement",
    example=("150 classes in one another, each with 7000 values", "20 of them"),
)
CLASS = Rule(
    "MJCF105",
    "error",
    "class and childclass name a class of <default>.",
    example=('childclass="foot"', 'childclass="leg"'),
)
NOT_READ = Rule(
    "MJCF106",
    "warning",
    "Elements that have no place in a body are left out.",
    "judgement",
    leaves_out=True,
    example=('<composite type="cable"/>', "<!-- a cable -->"),
)
SAME_NAME = Rule(
    "MJCF107",
    "error",
    "No two things of one kind have the same name.",
    example=('<body name="waist"><!-- again -->', '<body name="knee"><!-- again -->'),
)
GLOBAL = Rule(
    "MJCF108",
    "error",
    "Coordinates are local; MuJoCo has given up global ones.",
    example=('coordinate="global"', 'coordinate="local"'),
)
MISSPELT = Rule(
    "MJCF115",
    "error",
    "The names of elements and attributes are those of MJCF, letter by letter.",
    hint="as it stands it means nothing here, and MuJoCo refuses the file",
    leaves_out=True,
    example=('<geom typ="sphere" size="0.1"/>', '<geom type="sphere" size="0.1"/>'),
)
FOREIGN = Rule(
    "MJCF116",
    "warning",
    "Elements and attributes are those of MJCF.",
    hint="it means nothing here, and MuJoCo 4.0 refuses the file",
    leaves_out=True,
    example=('<site name="head" owner="me"/>', '<site name="head"/>'),
)

# Bodies and joints
NOT_FINITE = Rule(
    "MJCF110", "error", "The numbers of a model are finite.", example=('pos="0 0 1e300"', 'pos="0 0 0.3"')
)
ORIENTATION = Rule(
    "MJCF111",
    "error",
    "A thing has one orientation, of a length that is not zero.",
    example=('quat="0 0 0 0"', 'quat="1 0 0 0"'),
)
FREE = Rule(
    "MJCF112",
    "error",
    "A free joint belongs to a body at the top and is its only joint.",
    example=("a <freejoint/> of a body within a body", "a <freejoint/> of a body of the world"),
)
JOINT_TYPE = Rule(
    "MJCF114",
    "error",
    "The type of a joint is hinge, slide, ball or free.",
    example=('type="revolute"', 'type="hinge"'),
)
SEVERAL_JOINTS = Rule(
    "MJCF120",
    "note",
    "A body with several joints, or one away from its origin, is read as a chain of links.",
    "judgement",
    "only the last link of the chain has mass and shapes",
    example=('<joint name="hip"/> <joint name="turn"/>', '<joint name="hip"/>'),
)
BALL = Rule(
    "MJCF121",
    "warning",
    "A ball joint is read as three joints about x, y and z.",
    "judgement",
    example=('<joint type="ball"/>', '<joint type="hinge"/>'),
)
WORLD = Rule(
    "MJCF122",
    "note",
    "A body has one root: where the world has several bodies, or one that a joint holds, the world itself is it.",
    "judgement",
    example=(
        '<body name="left"/> <body name="right"/>',
        '<body name="base"> <body name="left"/> <body name="right"/> </body>',
    ),
)
RADIANS = Rule(
    "MJCF125",
    "warning",
    "Angles are degrees where the compiler does not say otherwise.",
    hint='if radians are meant, write <compiler angle="radian"/>',
    example=('range="-0.785 0.785"', 'range="-90 90"'),
)
BESIDE = Rule(
    "MJCF124",
    "warning",
    "Where one body of the world alone is free, it is the robot; what stands beside it is left out.",
    "judgement",
    leaves_out=True,
    example=("a <body> beside the only one with a <freejoint/>", "no body beside it"),
)
WORLD_SHAPES = Rule(
    "MJCF123",
    "note",
    "Shapes of the world are no part of a robot: they are kept as plain data.",
    "judgement",
    example=('<geom type="plane" size="5 5 1"/>', "<!-- no floor -->"),
)

# Masses
GEOM_MASS = Rule(
    "MJCF132",
    "warning",
    "Masses that MuJoCo works out from geoms are worked out likewise.",
    example=("a geom of a mesh without a volume", "a geom of a closed mesh"),
)
REFUSED = Rule(
    "MJCF133",
    "error",
    "Each moving body of MJCF has a mass and an inertia that a rigid body can have.",
    hint="fix_inertia=True (--fix-inertia) repairs them and says how",
    example=("a moving link with mass=0", "the same with mass=1"),
)

# Geometry
GEOM = Rule(
    "MJCF140",
    "warning",
    "A geom is a box, sphere, capsule, cylinder, ellipsoid or mesh; others show nothing.",
    leaves_out=True,
    example=('<geom type="hfield" size="0.1"/>', '<geom type="sphere" size="0.1"/>'),
)
GEOM_SIZE = Rule(
    "MJCF141",
    "error",
    "A geom has the sizes of its type, and they are positive.",
    example=('<geom type="sphere" size="-0.1"/>', '<geom type="sphere" size="0.1"/>'),
)
ASSET = Rule(
    "MJCF142",
    "error",
    "Meshes, materials and textures that are named are among the assets.",
    example=('material="rod"', 'material="red"'),
)
MESH_FILE = Rule(
    "MJCF143",
    "error",
    "The files of meshes and textures are there and can be read.",
    hint="it is left out here, and MuJoCo refuses the model",
    leaves_out=True,
    example=('<mesh name="hand" file="hnad.stl"/>', '<mesh name="hand" file="hand.stl"/>'),
)
MESH_MADE = Rule(
    "MJCF145",
    "warning",
    "A mesh has its triangles in a file or in the model: those that MuJoCo makes by itself are left out.",
    "judgement",
    leaves_out=True,
    example=('<mesh name="hand" builtin="sphere" params="2"/>', '<mesh name="hand" file="hand.stl"/>'),
)
LOOK = Rule(
    "MJCF144",
    "warning",
    "A surface has a colour, a highlight, a glow and one image from a file; what else a material says is left out.",
    "judgement",
    leaves_out=True,
    example=('rgba="1 0 0 1" metallic="0.5"', 'rgba="1 0 0 1"'),
)

# Devices and loops
SENSOR = Rule(
    "MJCF150",
    "note",
    "Sensors that no device stands for are kept as plain data.",
    "judgement",
    example=('<clock name="time"/>', "<!-- a clock -->"),
)
EQUALITY = Rule(
    "MJCF151",
    "note",
    "Equalities that hold no point of a link are kept as plain data.",
    "judgement",
    example=('<joint joint1="hip"/>', "<!-- nothing tied -->"),
)
REFERENCE = Rule("MJCF152", "error", "What an element names is in the model.", example=('site="hed"', 'site="head"'))
LIMITS = Rule(
    "MJCF153",
    "error",
    'The range of a joint with limited="true" begins with the lower limit.',
    hint="MuJoCo refuses the model; if the limits are exchanged, swap them",
    example=('range="90 -90" limited="true"', 'range="-90 90" limited="true"'),
)
KEPT = Rule(
    "MJCF154",
    "note",
    "Tendons, contacts, keyframes, options, and actuators other than those of joints have no place in a body: they are kept as plain data.",
    "judgement",
    example=('<general site="head"/>', "<!-- no motor -->"),
)
DEEP = Rule(
    "MJCF155",
    "error",
    "Links hang on each other in chains that XML readers can follow.",
    "judgement",
    example=("a chain of 200 links, saved", "a chain of 20 links, saved"),
)

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
