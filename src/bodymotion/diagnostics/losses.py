"""Rules about what a target format cannot hold: codes ``LOSS…``.

A loss is a warning where it matters to the user of the target: physics, kinematics,
sensors, looks of the body; else it is a note. A writer reports what does not matter of
a rule that usually does by `Rule.as_note`. With `--strict-losses` the commands exit
with 3 when there was a warning.
"""

from collections.abc import Callable
from typing import TypeAlias

from bodymotion.diagnostics import Rule, judgement

Report: TypeAlias = Callable[
    [Rule, str], None
]  # Records a loss: its rule and what is lost.

STAMPS = judgement.warning(
    "LOSS001",
    "The target holds no time stamps. Frames are resampled to a fixed rate, by linear "
    "interpolation.",
    "Motion.resample() and `bodymotion convert --rate … --method …` resample to "
    "another rate, by other methods",
    example=("frames at 0, 0.1, 0.25 s, saved as version 1", "frames at 0, 0.1, 0.2 s"),
)
NOT_FINITE = judgement.warning(
    "LOSS002",
    "Numbers are finite. Others are written as they are (in YAML as .nan, .inf and "
    "-.inf), and not every reader accepts them.",
    example=("extra={'gain': float('nan')}", "extra={'gain': 0.5}"),
)
CONTENT = judgement.warning(
    "LOSS003",
    "A content keeps its meaning under the names of the target's version.",
    example=(
        "a 'JointPosition' in a file of version 2, saved as version 1",
        "a 'JointDisplacement', saved as version 1",
    ),
)
VALUE = judgement.note(
    "LOSS004",
    "Unknown keys have values that YAML can hold, and names without another meaning.",
    example=("extra={'by': object()}", "extra={'by': 'me'}"),
)
ORIENTATION = judgement.note(
    "LOSS005",
    "Roll, pitch and yaw, the poses of tables, and .wrl models hold the rotation of a "
    "quaternion, not its length.",
    "the orders XYZQWQXQYQZ and XYZQXQYQZQW keep it",
    example=(
        "a quaternion of length 1.5, saved with se3_format='XYZRPY'",
        "a quaternion of length 1",
    ),
)
TEXT = judgement.note(
    "LOSS006",
    "Texts are Unicode: unpaired surrogates become '\\ufffd'.",
    example=("extra={'by': '\\ud800'}", "extra={'by': 'me'}"),
)
COMPONENT = judgement.warning(
    "LOSS007",
    "The target cannot hold this component.",
    example=(
        "a motion with a component 'Face', saved as .csv",
        "a motion of joints and root",
    ),
)
EXTRA = judgement.note(
    "LOSS008",
    "The target cannot hold additional keys.",
    example=("extra={'by': 'me'}, saved as .csv", "extra={}"),
)
LABELS = judgement.note(
    "LOSS009",
    "The target cannot hold these labels.",
    example=("joint_names=('HIP', 'KNEE'), saved as .pos", "joints without names"),
)
RATE = judgement.warning(
    "LOSS010",
    "The target has one time for all components, or a rate that is not in the file.",
    example=("one frame at 100 Hz, saved as .pos", "two frames at 100 Hz"),
)
FRAMES = judgement.warning(
    "LOSS011",
    "In the target all components have the same number of frames.",
    example=("joints at 100 Hz and a root at 50 Hz, saved as .csv", "both at 100 Hz"),
)
PRECISION = judgement.note(
    "LOSS012",
    "The target holds numbers in single precision, of about 7 digits.",
    example=(
        "0.1, saved with layout='beyondmimic'",
        "0.5, saved with layout='beyondmimic'",
    ),
)
OTHER_RATE = judgement.warning(
    "LOSS013",
    "A component of an unknown type is not resampled, because its frames are unknown.",
    "it may no longer match the others; remove it, or resample it by other means",
    example=(
        "a motion with a component 'Face', resampled",
        "a motion of joints, resampled",
    ),
)
BODY_NAMES = judgement.warning(
    "LOSS020",
    "In a .wrl model, the names of Joints and Segments are unique, and have no "
    "blanks, quotes, brackets and commas.",
    example=("Segment(name='a b'), saved as .wrl", "Segment(name='a_b')"),
)
BODY_ORDER = judgement.note(
    "LOSS021",
    "In a .wrl model links and devices are in depth-first order.",
    example=(
        "links that are not depth-first, saved as .wrl",
        "links that are depth-first",
    ),
)
SHAPE_FORM = judgement.note(
    "LOSS022",
    "VRML97 has no such shape. It is written as similar shapes.",
    example=("Capsule(0.1, 0.2), saved as .wrl", "Cylinder(0.1, 0.2)"),
)
KEPT_VALUE = judgement.note(
    "LOSS023",
    "A field of a .wrl model holds a truth value, a number, a text, or a list of "
    "numbers or texts. It has one type in all nodes of a kind.",
    example=(
        "Joint(extra={'by': object()}), saved as .wrl",
        "Joint(extra={'by': 'me'})",
    ),
)
NUMBER_RANGE = judgement.warning(
    "LOSS024",
    "Numbers of a .wrl model are finite, and ids from 0 to 9999.",
    example=("Joint(id=10000), saved as .wrl", "Joint(id=2)"),
)
PLACE = judgement.warning(
    "LOSS025",
    "In a .wrl model the root link is where its Joint is, and transforms are "
    "translations, rotations and scales.",
    example=(
        "a root_pose other than the offset of the root link, saved as .wrl",
        "one that is that offset",
    ),
)
SHAPE_LOOK = judgement.warning(
    "LOSS026",
    "VRML97 has colours of three parts from 0 to 1, and images in the folder of the "
    "model or below it.",
    example=(
        "Material(diffuse=(1.5, 0, 0)), saved as .wrl",
        "Material(diffuse=(1, 0, 0))",
    ),
)
JOINT_NAME = judgement.note(
    "LOSS027",
    "In a .wrl model a joint and the link that it moves have one name: that of the "
    "joint.",
    example=(
        "Link(name='HAND', joint=Joint(name='WRIST')), saved as .wrl",
        "Link(name='HAND', joint=Joint(name='HAND'))",
    ),
)
DEPTH = judgement.warning(
    "LOSS028",
    "Readers of .wrl models limit the depth of nodes.",
    example=(
        "300 links, one on the other, saved as .wrl",
        "20 links, one on the other",
    ),
)
MESH_LOOK = judgement.warning(
    "LOSS030",
    "The mesh format holds less of the material, or the image is missing.",
    example=("a mesh with colours, saved with mesh='stl'", "saved with mesh='obj'"),
)
NOT_DRAWN = judgement.warning(
    "LOSS031",
    "Shapes that the target cannot show are left out: lines and points, sizes and "
    "poses that are not finite.",
    example=("Lines, saved as .urdf", "a Mesh of triangles"),
)
RENAMED = judgement.warning(
    "LOSS032",
    "In the target names are unique, and have plain characters only.",
    example=("two links with name='ARM', saved as .urdf", "name='ARM' and name='HAND'"),
)
JOINT_KIND = judgement.warning(
    "LOSS033",
    "The target has no joint of this type. The nearest type is written.",
    example=("Joint(type='crawler'), saved as .urdf", "Joint(type='rotate')"),
)
LIMITS = judgement.warning(
    "LOSS034",
    "The target has symmetric limits, or one value for both.",
    example=(
        "velocity_lower=-3, velocity_upper=5, saved as .urdf",
        "velocity_lower=-3, velocity_upper=3",
    ),
)
SEGMENTS = judgement.note(
    "LOSS035",
    "The target has one mass for each link. The segments of a link are combined.",
    example=("two segments of a link, saved as .urdf", "one segment of a link"),
)
MESHED = judgement.note(
    "LOSS036",
    "The target has no such solid, or no such scale. It becomes a mesh.",
    example=("Cone(0.1, 0.2), saved as .urdf", "Cylinder(0.1, 0.2)"),
)
SURFACE = judgement.warning(
    "LOSS037",
    "The target holds only the colour and the image of a surface.",
    example=("a texture in a .jpg that cannot be read, saved as .xml", "no texture"),
)
DEVICE = judgement.warning(
    "LOSS038",
    "The target has no such device, or not all of its fields.",
    example=("an unknown kind of device, saved as .urdf", "a Gyro"),
)
LOOP = judgement.warning(
    "LOSS039",
    "The target is a tree. Closed loops are left open.",
    example=("ExtraJoint(type='xyz'), saved as .urdf", "no extra joint"),
)
NO_TARGET_FIELD = judgement.warning(
    "LOSS040",
    "The target has no field for this.",
    example=(
        "rotor_inertia=1e-4, saved as .urdf with extension=False",
        "rotor_inertia=0",
    ),
)
NOT_A_NUMBER = judgement.warning(
    "LOSS041",
    "The target holds finite numbers only. Others become 0.",
    example=("mass=float('nan'), saved as .urdf", "mass=2.0"),
)
MASS_GIVEN = judgement.warning(
    "LOSS045",
    "A moving link without mass gets a small mass, because simulators reject it "
    "otherwise.",
    "set a mass in the model",
    example=("a link without mass that moves, saved as .xml", "a link of 2 kg"),
)
INERTIA_GIVEN = judgement.warning(
    "LOSS046",
    "A moving link without inertia gets that of a solid of the size of its shapes, "
    "because simulators reject it otherwise.",
    "set an inertia in the model",
    example=(
        "a link of 2 kg without inertia that moves, saved as .xml",
        "one with an inertia",
    ),
)
INERTIA_CHANGED = judgement.warning(
    "LOSS047",
    "An impossible inertia becomes the nearest possible one, with the same axes.",
    "correct the inertia in the model",
    example=(
        "diag(0.01, 0.01, 0.5) for an inertia, saved as .xml",
        "diag(0.01, 0.01, 0.01)",
    ),
)
INERTIA_NOT_FINITE = judgement.warning(
    "LOSS048",
    "Masses and inertias that are not finite, and negative masses, become 0.",
    example=("mass=-1.0, saved as .xml", "mass=2.0"),
)
LOOP_NEAREST = judgement.warning(
    "LOSS049",
    "The target has no constraint of this type. The nearest one closes the loop.",
    example=("ExtraJoint(type='piston'), saved as .xml", "ExtraJoint(type='xyz')"),
)
FLAT = judgement.warning(
    "LOSS050",
    "The target does not use flat meshes as obstacles.",
    example=("a flat mesh as a collision shape, saved as .xml", "a tetrahedron"),
)
KEPT_LESS = judgement.note(
    "LOSS051",
    "Values that the target cannot hold are kept as JSON text, where JSON can hold "
    "them.",
    example=(
        "Joint(extra={'by': object()}), saved as .xml",
        "Joint(extra={'by': 'me'})",
    ),
)
EFFECT = judgement.warning(
    "LOSS052",
    "The target keeps this value, but it has no effect there.",
    example=("Joint(lower=2, upper=-1), saved as .xml", "Joint(lower=-1, upper=2)"),
)
ONLY_MJCF = judgement.warning(
    "LOSS085",
    "Elements that only MJCF has are written only to MJCF, and only where the parts "
    "that they name exist.",
    example=(
        "an MJCF's <motor joint='hip'/>, saved as .urdf",
        "an MJCF without motors",
    ),
)
FOLLOWING = judgement.warning(
    "LOSS086",
    "A joint follows another one only where the other exists in the target.",
    example=(
        "Joint(extra={'mimic': {'joint': 'GONE'}}), saved as .xml",
        "Joint(extra={'mimic': {'joint': 'ARM'}})",
    ),
)
DANGLING = judgement.note(
    "LOSS090",
    "Kept elements of a URDF are written only where the joints and links that they "
    "name exist.",
    example=("a URDF's rest of a link that was removed", "of a link that is there"),
)
FORCE_SENSOR = judgement.warning(
    "LOSS080",
    "A force sensor is at a joint. With another root it is on the other link of the "
    "joint, and measures the opposite force.",
    "its readings change sign, and are in the axes of that link",
    leaves_out=True,
    example=(
        "a force sensor at the wrist, with the hand as the new root",
        "a gyro at the wrist, with the hand as the new root",
    ),
)
UNSCALED = judgement.warning(
    "LOSS081",
    "Values that are kept for one format are not scaled, because it is unknown which "
    "of them are lengths.",
    leaves_out=True,
    example=(
        "a body with an OtherDevice(extra={'range': 3.0}), scaled by 2",
        "a body with a Gyro, scaled by 2",
    ),
)
