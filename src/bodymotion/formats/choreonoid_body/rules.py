"""The rules of .body files.

Rules about the meaning of a model are those on bodies (`bodymotion.model.rules`).
"""

from bodymotion.diagnostics import document, judgement

# The file
NOT_A_BODY = document.error(
    "BDY102",
    "A .body file is a mapping with `format: ChoreonoidBody` and a list of links.",
    example=("format: ChoreonoidProject", "format: ChoreonoidBody"),
)
VERSION = document.warning(
    "BDY103",
    "The format version is 1.0 or 2.0.",
    "it is read as version 2.0",
    example=("format_version: 3.0", "format_version: 2.0"),
)
ANGLE_UNIT = document.error(
    "BDY104",
    "angle_unit is degree or radian. In version 2.0 all angles are in degrees.",
    example=("angle_unit: turns", "angle_unit: degree"),
)
DEGREES = judgement.warning(
    "BDY116",
    "Angles are in the unit of the file: degrees, unless angle_unit is radian.",
    "they look like radians: multiply them by 180/π, or write angle_unit: radian in a "
    "file of version 1.0",
    example=("rotation: [ 0, 0, 1, 1.5708 ]", "rotation: [ 0, 0, 1, 90 ]"),
)
LEFT_OVER = document.warning(
    "BDY113",
    "A list of points has two or three numbers for each point. Numbers left over are "
    "not used.",
    example=(
        "vertices: [ 0, 0, 0, 1, 0, 0, 0, 1, 0, 7 ]",
        "vertices: [ 0, 0, 0, 1, 0, 0, 0, 1, 0 ]",
    ),
)

# Links
PARENT = document.error(
    "BDY123",
    "The parent of a link is the name of another link.",
    example=("parent: WEIST", "parent: WAIST"),
)
ROOT = document.error(
    "BDY124",
    "root_link is the name of a link without a parent. Without root_link the first "
    "link is the root.",
    example=("root_link: WEIST", "root_link: WAIST"),
)
LINK_TYPE = document.error(
    "BDY126",
    "The type of a link is Link, SubBody, ContinuousTrack or Skip.",
    example=("- { type: Limb, name: TAIL", "- { type: Link, name: TAIL"),
)
SUB_BODY = document.error(
    "BDY127",
    "The file of a SubBody exists, can be read, and does not contain itself.",
    leaves_out=True,
    example=("uri: hnad.body", "uri: hand.body"),
)

# Joints
JOINT_TYPE = document.error(
    "BDY130",
    "joint_type is fixed, free, revolute, prismatic or pseudo_continuous_track.",
    example=("joint_type: sliding", "joint_type: prismatic"),
)
JOINT_AXIS = document.error(
    "BDY131",
    "joint_axis is a vector, or one of X, Y, Z, -X, -Y and -Z.",
    example=("joint_axis: up", "joint_axis: Y"),
)

# Masses
INERTIA_SIZE = document.error(
    "BDY141",
    "inertia has nine numbers, row by row, or the six of its upper triangle.",
    example=(
        "inertia: [ 0.1, 0.1, 0.1 ]",
        "inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]",
    ),
)
MASS_UNSET = document.note(
    "BDY142",
    "A link without mass and inertia has 1 kg and the identity matrix for inertia.",
    example=(
        "{ name: TOE, parent: KNEE, joint_type: revolute, joint_id: 2 }",
        "{ name: TOE, parent: KNEE, joint_type: revolute, joint_id: 2, mass: 1, "
        "inertia: [ 0.1, 0, 0, 0.1, 0, 0.1 ] }",
    ),
)

# Elements
ELEMENT = document.error(
    "BDY150",
    "An element is a mapping with a type, or the value of a key that is its type.",
    example=(
        "- { type: Shape }",
        "- { type: Shape, geometry: { type: Sphere, radius: 0.1 } }",
    ),
)
PLUGIN_NODE = document.note(
    "BDY151",
    "Elements are of types that Choreonoid itself has. Others, such as those of "
    "plugins, are kept as devices with all their keys.",
    example=(
        "{ type: Thruster, name: gyro, id: 0 }",
        "{ type: RateGyroSensor, name: gyro, id: 0 }",
    ),
)
NO_SIZE = judgement.warning(
    "BDY153",
    "A geometry has its sizes. A missing size is 1.",
    example=("geometry: { type: Sphere }", "geometry: { type: Sphere, radius: 0.1 }"),
)
NOT_SHOWN = judgement.note(
    "BDY154",
    "Lights, fog and viewpoints of scenes are not shown.",
    leaves_out=True,
    example=("- { type: Fog }", "- { type: Group }"),
)
GEOMETRY = document.error(
    "BDY157",
    "A geometry is of a known type. Others are not shown.",
    leaves_out=True,
    example=(
        "geometry: { type: Ball, radius: 0.1 }",
        "geometry: { type: Sphere, radius: 0.1 }",
    ),
)

# Resources
RESOURCE_KIND = document.error(
    "BDY160",
    "A resource is VRML97, YAML, COLLADA or a mesh in a known format.",
    leaves_out=True,
    example=("uri: hand.docx", "uri: hand.wrl"),
)
RESOURCE_NODE = document.error(
    "BDY161",
    "The node of a resource is in its file.",
    leaves_out=True,
    example=("node: HNAD", "node: HAND"),
)
RESOURCE_PARTS = judgement.warning(
    "BDY163",
    "Parts of a resource that cannot be used are left out.",
    leaves_out=True,
    example=('a .dae with <unit meter="long"/>', 'a .dae with <unit meter="1"/>'),
)

# Closed loops
EXTRA_TYPE = document.error(
    "BDY171",
    "The joint_type of an extra joint is ball, hinge or piston. Other extra joints "
    "are left out.",
    leaves_out=True,
    example=("joint_type: glue", "joint_type: ball"),
)

# Codes that rules had before, and the rules that took over.
RETIRED = {
    "BDY108": "BODY105",
    "BDY115": "BODY115",
    "BDY117": "BODY124",
    "BDY120": "BODY108",
    "BDY121": "BODY104",
    "BDY122": "BODY101",
    "BDY125": "BODY125",
    "BDY128": "BODY119",
    "BDY132": "BODY110",
    "BDY133": "BODY111",
    "BDY134": "BODY123",
    "BDY135": "BODY117",
    "BDY136": "BODY118",
    "BDY137": "BODY112",
    "BDY138": "BODY106",
    "BDY139": "BODY107",
    "BDY140": "BODY130",
    "BDY143": "BODY131",
    "BDY144": "BODY134",
    "BDY145": "BODY133",
    "BDY152": "BODY155",
    "BDY155": "BODY152",
    "BDY156": "BODY153",
    "BDY162": "FMT021",
    "BDY170": "BODY160",
}
