"""The rules of MJCF.

What MuJoCo requires of a model, and what of a model is not read.
"""

from bodymotion.diagnostics import document, judgement

# Codes of rules that others replaced, with the codes of these.
RETIRED = {
    "MJCF103": "BODY108",
    "MJCF110": "BODY105",
    "MJCF113": "BODY111",
    "MJCF130": "BODY131",
    "MJCF131": "BODY133",
    "MJCF134": "BODY130",
    "MJCF143": "FMT020",
    "MJCF150": "MJCF154",
    "MJCF153": "BODY112",
}

# The file
NOT_MJCF = document.error(
    "MJCF101", "The root of an MJCF file is <mujoco>.", example=("<model>", "<mujoco>")
)
INCLUDE = document.error(
    "MJCF102",
    "A file in <include> exists, can be read, and is included once.",
    example=('<include file="lge.xml"/>', '<include file="leg.xml"/>'),
)
CLASS = document.error(
    "MJCF105",
    "class and childclass name a class of <default>.",
    example=('childclass="foot"', 'childclass="leg"'),
)
NOT_READ = judgement.warning(
    "MJCF106",
    "Elements that no field of a body can hold are left out.",
    leaves_out=True,
    example=('<composite type="cable"/>', "<!-- a cable -->"),
)
SAME_NAME = document.error(
    "MJCF107",
    "No two objects of one kind have the same name.",
    example=('<body name="waist"><!-- again -->', '<body name="knee"><!-- again -->'),
)
GLOBAL = document.error(
    "MJCF108",
    "Coordinates are local. MuJoCo does not support global ones any more.",
    example=('coordinate="global"', 'coordinate="local"'),
)
ATTACH = document.error(
    "MJCF117",
    "<attach> names a model of <asset>, and a body or frame of that model.",
    example=('<attach model="hnad"/>', '<attach model="hand"/>'),
)
UNKNOWN_NAME = document.warning(
    "MJCF116",
    "Elements and attributes are those of MJCF.",
    "it is ignored here, and MuJoCo 4.0 refuses the file",
    leaves_out=True,
    example=('<site name="head" owner="me"/>', '<site name="head"/>'),
)

# Bodies and joints
ORIENTATION = document.error(
    "MJCF111",
    "An object has one orientation.",
    example=('quat="1 0 0 0" euler="0 0 90"', 'quat="1 0 0 0"'),
)
FREE = document.error(
    "MJCF112",
    "A body with a free joint has no other joint, and is directly in the world.",
    example=(
        "a <freejoint/> of a body within a body",
        "a <freejoint/> of a body of the world",
    ),
)
JOINT_TYPE = document.error(
    "MJCF114",
    "The type of a joint is hinge, slide, ball or free.",
    example=('type="revolute"', 'type="hinge"'),
)
SEVERAL_JOINTS = judgement.note(
    "MJCF120",
    "A body has one joint, at its origin. Other bodies are read as a chain of links.",
    "only the last link of the chain has mass and shapes",
    example=('<joint name="hip"/> <joint name="turn"/>', '<joint name="hip"/>'),
)
BALL = judgement.warning(
    "MJCF121",
    "A ball joint is read as three joints about x, y and z.",
    example=('<joint type="ball"/>', '<joint type="hinge"/>'),
)
WORLD = judgement.note(
    "MJCF122",
    "The world has one body, fixed or with a free joint. Otherwise the world is the "
    "root link.",
    example=(
        '<body name="left"/> <body name="right"/>',
        '<body name="base"> <body name="left"/> <body name="right"/> </body>',
    ),
)
RADIANS = document.warning(
    "MJCF125",
    'Angles are in degrees unless the compiler has angle="radian".',
    'if radians are meant, write <compiler angle="radian"/>',
    example=('range="-0.785 0.785"', 'range="-90 90"'),
)
OTHER_BODIES = judgement.warning(
    "MJCF124",
    "Of several bodies of the world, the one with the most joints is the robot. If it "
    "is free, the others are only shown.",
    leaves_out=True,
    example=("a <body> beside the only one with a <freejoint/>", "no body beside it"),
)
NARROW_CONTROL = judgement.note(
    "MJCF126",
    "The control of motors reaches the limits of their force. MuJoCo clamps a "
    "control, but its range is no limit of the joint here.",
    example=(
        '<motor joint="hip" ctrlrange="-1 1" forcerange="-88 88"/>',
        '<motor joint="hip" ctrlrange="-88 88" forcerange="-88 88"/>',
    ),
)
WORLD_SHAPES = judgement.note(
    "MJCF123",
    "Shapes, sites and cameras of the world are no part of the robot. They are kept "
    "as XML.",
    example=('<geom type="plane" size="5 5 1"/>', "<!-- no floor -->"),
)

# Masses
GEOM_MASS = document.warning(
    "MJCF132",
    "The mass of a body without <inertial> can be computed from its geoms as in "
    "MuJoCo.",
    example=("a geom of a mesh without a volume", "a geom of a closed mesh"),
)
REFUSED = document.error(
    "MJCF133",
    "Each moving body of MJCF has a possible mass and inertia of a rigid body.",
    "without strict=True (`bodymotion convert --strict`) they are repaired, and each "
    "repair is reported",
    example=(
        "a moving link with mass=0, saved with strict=True",
        "the same with mass=1",
    ),
)

# Geometry
GEOM = document.warning(
    "MJCF140",
    "A geom is a box, sphere, capsule, cylinder, ellipsoid, plane or mesh. Others are "
    "left out.",
    leaves_out=True,
    example=('<geom type="hfield" size="0.1"/>', '<geom type="sphere" size="0.1"/>'),
)
GEOM_SIZE = document.error(
    "MJCF141",
    "A geom has the sizes of its type, and they are positive.",
    example=('<geom type="sphere" size="-0.1"/>', '<geom type="sphere" size="0.1"/>'),
)
ASSET = document.error(
    "MJCF142",
    "The meshes, materials and textures that elements name are in <asset>.",
    example=('material="rod"', 'material="red"'),
)
MESH_MADE = judgement.warning(
    "MJCF145",
    "A mesh has its triangles in a file or in the model. Meshes that MuJoCo generates "
    "are left out.",
    leaves_out=True,
    example=(
        '<mesh name="hand" builtin="sphere" params="2"/>',
        '<mesh name="hand" file="hand.stl"/>',
    ),
)
LOOK = judgement.warning(
    "MJCF144",
    "A material has colour, specular, shininess, emission and one image file. Other "
    "attributes are left out.",
    leaves_out=True,
    example=('rgba="1 0 0 1" metallic="0.5"', 'rgba="1 0 0 1"'),
)

# Devices and loops
EQUALITY = judgement.note(
    "MJCF151",
    "Equality constraints are of the type connect. Others are kept as XML.",
    example=('<joint joint1="hip"/>', "<!-- nothing tied -->"),
)
REFERENCE = document.error(
    "MJCF152",
    "The objects that an element names exist in the model.",
    example=('site="hed"', 'site="head"'),
)
KEPT = judgement.note(
    "MJCF154",
    "Tendons, contacts, keyframes, options, sensors of no device, and actuators other "
    "than those of joints are kept as XML.",
    example=('<general site="head"/>', "<!-- no motor -->"),
)
DEEP = judgement.error(
    "MJCF155",
    "A chain of links has at most 180 links. XML readers limit the nesting of "
    "elements.",
    example=("a chain of 200 links, saved", "a chain of 20 links, saved"),
)
OVERLAP = judgement.note(
    "MJCF160",
    "Links that overlap at rest do not collide in a model that is written.",
    "with `convert --self-collision all`, or `simulate --self-collision all`, they "
    "collide, which pushes them apart",
    example=(
        "two shapes in one place, on a link and on the child of its child",
        "shapes apart from each other",
    ),
)
