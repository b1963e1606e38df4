"""The rules of URDF files."""

from bodymotion.diagnostics import document, judgement

# Codes of rules that others replaced, with the codes of these.
RETIRED = {
    "URDF110": "BODY108",
    "URDF114": "BODY125",
    "URDF115": "BODY125",
    "URDF122": "BODY110",
    "URDF123": "BODY111",
    "URDF125": "BODY112",
    "URDF126": "BODY105",
    "URDF128": "BODY109",
    "URDF129": "BODY124",
    "URDF140": "FMT020",
    "URDF141": "FMT021",
    "URDF161": "URDF160",
}

# The file
NOT_A_ROBOT = document.error(
    "URDF101",
    "The root element of a URDF file is <robot>.",
    example=("<robots>", "<robot>"),
)
XACRO = judgement.error(
    "URDF102",
    "URDF has no macros. xacro expands them before the file is read.",
    "run xacro on the file, and read its output",
    example=('<xacro:leg side="left"/>', '<link name="left_leg"> … </link>'),
)
UNKNOWN = judgement.note(
    "URDF103",
    "Elements and attributes of other programs are kept, and have no effect here.",
    example=('<note text="new"/>', "<!-- note: new -->"),
)
SECOND = judgement.warning(
    "URDF104",
    "A link or joint has one element of each kind. Only the first is read.",
    leaves_out=True,
    example=('<parent link="waist"/><parent link="hip"/>', '<parent link="waist"/>'),
)

# The tree
SAME_NAME = document.error(
    "URDF111",
    "No two links have the same name, and no two joints.",
    example=(
        '<link name="hip"><!-- the foot -->',
        '<link name="foot"><!-- the foot -->',
    ),
)
NO_SUCH_LINK = document.error(
    "URDF112",
    "<parent> and <child> of a joint name links.",
    example=('<parent link="wiast"/>', '<parent link="waist"/>'),
)
TWO_PARENTS = document.error(
    "URDF113",
    "A link is the child of at most one joint, so that the robot is a tree.",
    example=(
        '<child link="hip"/><!-- of the foot -->',
        '<child link="foot"/><!-- of the foot -->',
    ),
)

FREE_ROOT = judgement.note(
    "URDF116",
    "A link that floats in a link without mass and shapes is the free root of the "
    "robot. What it floats in is the world.",
    example=(
        '<link name="map"/> … <joint name="base" type="floating"> '
        '<parent link="map"/> …',
        "no link above the free root",
    ),
)
OTHER_PARTS = judgement.warning(
    "URDF117",
    "A body has one free root: that of the part with the most joints. Links above it, "
    "and other parts that float, are left out.",
    leaves_out=True,
    example=(
        "a robot that floats in a link with a shape",
        "a robot without such a link",
    ),
)

# Joints
JOINT_TYPE = document.error(
    "URDF120",
    "The type of a joint is revolute, continuous, prismatic, fixed, floating or "
    "planar.",
    example=('type="hinge"', 'type="revolute"'),
)
PLANAR = judgement.note(
    "URDF121",
    "A planar joint is read as two joints that slide and one that rotates. It has no "
    "limits.",
    example=('type="planar"', 'type="fixed"'),
)
NO_LIMIT = document.error(
    "URDF124",
    "A revolute or prismatic joint has a <limit> with effort and velocity.",
    "it is read without that limit; other programs refuse the file",
    example=(
        '<limit lower="-1" upper="1" velocity="5"/>',
        '<limit lower="-1" upper="1" effort="90" velocity="5"/>',
    ),
)
MIMIC = document.warning(
    "URDF127",
    "<mimic> names another joint. Here a joint that mimics another one moves by its "
    "own value.",
    example=('<mimic joint="hip_joint"/>', "<!-- mimics hip_joint -->"),
)

ORIENTATION = document.error(
    "URDF118",
    "An <origin> has one orientation: rpy, or quat_xyzw in a file of version 1.1.",
    'write <robot version="1.1"> and one of them; other programs ignore quat_xyzw in a '
    "file of another version",
    example=(
        '<origin rpy="0 0 1.57" quat_xyzw="0 0 0.7071 0.7071"/>',
        '<origin rpy="0 0 1.57"/>',
    ),
)

# Links
MASS = document.error(
    "URDF130",
    "An <inertial> has a <mass> and an <inertia> with six moments.",
    example=("<!-- no mass -->", '<mass value="5"/>'),
)
GEOMETRY = document.error(
    "URDF131",
    "A visual or collision has a geometry: box, cylinder, sphere, capsule or mesh. "
    "Others are left out.",
    leaves_out=True,
    example=(
        '<geometry><ball radius="0.1"/></geometry>',
        '<geometry><sphere radius="0.1"/></geometry>',
    ),
)
MATERIAL = document.warning(
    "URDF132",
    "A material has a texture, or a colour with numbers from 0 to 1, somewhere in the "
    "file.",
    example=('<material name="rod"/>', '<material name="red"/>'),
)
SIZE = document.error(
    "URDF133",
    "Sizes are zero or greater. A shape with another size is left out.",
    leaves_out=True,
    example=('<sphere radius="-0.1"/>', '<sphere radius="0.1"/>'),
)

# Files

# The hint for a package that is not found.
PACKAGE_PATHS = "--package-path (package_paths=…) names the folders of packages"

# Sensors
SENSOR_LINK = document.warning(
    "URDF150",
    "The reference of a <gazebo> element names a link or joint.",
    example=('<gazebo reference="hop">', '<gazebo reference="hip">'),
)
SENSOR = document.warning(
    "URDF151",
    "The values of a sensor are numbers. Other values are read as the default.",
    example=(
        "<horizontal_fov>wide</horizontal_fov>",
        "<horizontal_fov>1.0</horizontal_fov>",
    ),
)
POSE_FRAME = judgement.warning(
    "URDF152",
    "The pose of a sensor is in the frame of its link.",
    example=(
        '<pose relative_to="waist">0 0 0 0 0 0</pose>',
        "<pose>0 0 0 0 0 0</pose>",
    ),
)

# What bodymotion writes for itself
EXTENSION = judgement.warning(
    "URDF160",
    "The element <bodymotion> is as bodymotion writes it. Other content is ignored.",
    leaves_out=True,
    example=(
        '<joint link="hip" speed="9"/>',
        '<joint link="hip" torque_const="0.2"/>',
    ),
)
KEPT = judgement.note(
    "URDF162",
    "Values that URDF cannot hold are in elements <bodymotion>, which other programs "
    "ignore.",
    example=("torque_const=0.02 in a joint", "torque_const=1 in a joint"),
)
PACKAGE = judgement.note(
    "URDF163",
    "Paths of package:// start at the folder of the package.xml above the file, and "
    "use the name in it.",
    example=(
        'save(body, path, package="robot_description") where no package.xml is',
        "save(body, path)",
    ),
)
UNSTATED = judgement.note(
    "URDF164",
    "A joint of a URDF has limits of effort and velocity. Where the model has none, a "
    "very large number is written.",
    "state limits of effort and velocity in the model",
    example=(
        "a joint without limits of velocity, saved as .urdf",
        "a joint with limits of velocity and effort",
    ),
)
