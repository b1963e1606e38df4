"""Rules about the meaning of bodies, whatever their format.

`checks` reports them, and readers where they change a value.
"""

from bodymotion.diagnostics import document, judgement

# Links and names
SAME_LINK = judgement.warning(
    "BODY101",
    "No two links have the same name.",
    "a search for that name finds only the first link",
    example=("two links with name='ARM'", "name='ARM' and name='HAND'"),
)
SAME_JOINT = judgement.warning(
    "BODY102",
    "No two joints have the same name.",
    "columns of a motion with that name move only the first joint",
    example=("two joints with name='ARM'", "name='ARM' and name='HAND'"),
)
SAME_DEVICE = judgement.warning(
    "BODY103",
    "No two devices of one link have the same name.",
    example=("two gyros of a link with name='gyro'", "name='gyro' and name='gyro2'"),
)
NO_NAME = judgement.warning(
    "BODY104",
    "A link has a name.",
    "it can only be found by its index",
    example=("Link(name='')", "Link(name='HAND')"),
)
NOT_FINITE = judgement.error(
    "BODY105",
    "The numbers of a model are finite. Limits may be infinite.",
    "the program that wrote the file may have divided by zero",
    example=("Segment(mass=float('nan'))", "Segment(mass=2.0)"),
)
QUATERNION = judgement.warning(
    "BODY106",
    "The quaternion of a pose, and the axis of a rotation, have length 1. Other "
    "lengths are normalized where they are used.",
    fixable=True,
    example=("offset=[0.3, 0, 0, 2, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)
ZERO_QUATERNION = judgement.error(
    "BODY107",
    "The quaternion of a pose, and the axis of a rotation, are not zero.",
    "0 0 0 0 is not an orientation; write 1 0 0 0",
    example=("offset=[0.3, 0, 0, 0, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)
ROTATION_ANGLE = judgement.warning(
    "BODY109",
    "The angles of a rotation are in radians, and at most a full turn.",
    "they look like degrees: multiply them by π/180",
    example=("rotation 0 0 1 90", "rotation 0 0 1 1.5708"),
)
NO_LINKS = judgement.error(
    "BODY108",
    "A body has at least one link.",
    example=("Body(name='robot')", "Body(name='robot', links=(Link(name='BASE'),))"),
)

# Joints
AXIS_LENGTH = document.warning(
    "BODY110",
    "The axis of a joint or extra joint has length 1. Readers scale other axes to "
    "this length.",
    fixable=True,
    example=("Joint(axis=[0, 0, 2])", "Joint(axis=[0, 0, 1])"),
)
ZERO_AXIS = document.error(
    "BODY111",
    "The axis of a moving joint is not zero.",
    example=("Joint(axis=[0, 0, 0])", "Joint(axis=[0, 0, 1])"),
)
REVERSED_LIMITS = document.warning(
    "BODY112",
    "A lower limit is below the upper one.",
    "they may be swapped, or have the wrong sign",
    example=("Joint(lower=2.0, upper=-1.0)", "Joint(lower=-1.0, upper=2.0)"),
)
NO_RANGE = judgement.warning(
    "BODY113",
    "The lower limit of a moving joint is not equal to its upper limit.",
    "make the joint fixed, or correct its limits",
    example=("Joint(lower=0.0, upper=0.0)", "Joint(lower=-1.0, upper=2.0)"),
)
VELOCITY = judgement.warning(
    "BODY114",
    "The velocity limits of a joint are on both sides of 0: a negative lower and a "
    "positive upper one.",
    "write the lower limit with a minus sign",
    example=(
        "Joint(velocity_lower=3.0, velocity_upper=3.0)",
        "Joint(velocity_lower=-3.0, velocity_upper=3.0)",
    ),
)
DEGREES = judgement.warning(
    "BODY115",
    "The limits of a rotating joint are in radians.",
    "these are many full turns; they may be degrees",
    example=("Joint(lower=-90.0, upper=90.0)", "Joint(lower=-1.57, upper=1.57)"),
)
ZERO_OUTSIDE = judgement.note(
    "BODY116",
    "The value 0 is within the limits of a joint.",
    "the pose with all joints at 0 is not possible for this robot; start from another "
    "one",
    example=("Joint(lower=0.5, upper=2.0)", "Joint(lower=-1.0, upper=2.0)"),
)
ID_TWICE = document.error(
    "BODY117",
    "No two joints have the same id.",
    "the column moves only the first joint in link order",
    example=("two joints with id=1", "id=1 and id=2"),
)
ID_GAP = document.warning(
    "BODY118",
    "The ids of joints run from 0 without gaps.",
    "the columns of the missing ids do not move anything",
    example=("joints with the ids 0, 1, 4", "the ids 0, 1, 2"),
)
ROOT_MOVES = judgement.warning(
    "BODY119",
    "The joint of the root link is free or fixed. The pose of the root comes from the "
    "motion, and the joint's column moves nothing.",
    "add a fixed parent link, if the joint should move",
    example=(
        "Joint(type='rotate', id=3) at the root",
        "Joint(type='free') at the root",
    ),
)
FREE_INSIDE = document.note(
    "BODY120",
    "Only the root link has a free joint. Elsewhere the value of a free joint moves "
    "nothing.",
    example=("Joint(type='free') at a leaf", "Joint(type='rotate') at a leaf"),
)
MOTOR = judgement.warning(
    "BODY121",
    "A gear ratio is not zero, and an efficiency is in 0…1. Inertia, resistance, "
    "torque constant, pulses and current are not negative.",
    example=("Joint(gear_ratio=0.0)", "Joint(gear_ratio=100.0)"),
)
SLIDING_RANGE = judgement.warning(
    "BODY122",
    "The limits of a sliding joint are in metres.",
    "no robot slides this far; if they are millimetres, multiply them by 0.001",
    example=(
        "Joint(type='slide', lower=-1500.0, upper=1500.0)",
        "Joint(type='slide', lower=-1.5, upper=1.5)",
    ),
)
ID_RANGE = document.error(
    "BODY123",
    "The id of a joint is in 0…9999, or −1 for none.",
    example=("jointId -7", "jointId 1"),
)
NEGATIVE_LIMIT = document.warning(
    "BODY124",
    "A limit of speed or effort for both directions is not negative.",
    "remove the minus sign: the absolute value is read; in other programs the joint "
    "may not move",
    example=('velocity="-5"', 'velocity="5"'),
)
UNCONNECTED = document.error(
    "BODY125",
    "All links of a body are connected to one root.",
    "give it a parent that is connected to the root",
    leaves_out=True,
    example=("two links without a parent", "the second with the first as its parent"),
)

# Masses
NEGATIVE_MASS = judgement.error(
    "BODY130",
    "A mass is zero or greater.",
    example=("Segment(mass=-1.0)", "Segment(mass=2.0)"),
)
NO_MASS = judgement.warning(
    "BODY131",
    "A moving link has a mass.",
    "simulators reject it, or become unstable",
    example=("a link that moves with mass=0.0", "the link with mass=2.0"),
)
NO_INERTIA = judgement.warning(
    "BODY132",
    "A moving link with a mass has an inertia.",
    "simulators reject it",
    example=(
        "Segment(mass=2.0, inertia=numpy.zeros((3, 3)))",
        "Segment(mass=2.0, inertia=0.01 * numpy.eye(3))",
    ),
)
TRIANGLE = judgement.warning(
    "BODY133",
    "The principal moments of an inertia are not negative, and none is larger than "
    "the sum of the other two.",
    "simulators reject it; an MJCF of the model gets the nearest possible inertia",
    example=(
        "inertia=numpy.diag([0.01, 0.01, 0.5])",
        "inertia=numpy.diag([0.01, 0.01, 0.01])",
    ),
)
ASYMMETRIC = judgement.warning(
    "BODY134",
    "An inertia tensor is symmetric.",
    example=(
        "inertia=[[0.02, 0.005, 0], [0, 0.02, 0], [0, 0, 0.02]]",
        "inertia=[[0.02, 0, 0], [0, 0.02, 0], [0, 0, 0.02]]",
    ),
)
CENTER_FAR = judgement.warning(
    "BODY135",
    "The centre of mass of a link is inside its shape, or near it.",
    "it may be in another frame, or in millimetres",
    example=("center_of_mass=[0, 0, 50]", "center_of_mass=[0, 0, 0.05]"),
)
GYRATION = judgement.warning(
    "BODY136",
    "The radius of gyration of a link is not many times the size of its shape.",
    "the inertia may not be in kg m², or the shape not in m",
    example=(
        "2 kg in a box of 0.2 m with inertia=1e3 * numpy.eye(3)",
        "with inertia=0.013 * numpy.eye(3)",
    ),
)
INERTIA_WITHOUT_MASS = judgement.warning(
    "BODY137",
    "A link with an inertia has a mass.",
    "no rigid body has an inertia without a mass",
    example=(
        "Segment(mass=0.0, inertia=0.01 * numpy.eye(3))",
        "Segment(mass=2.0, inertia=0.01 * numpy.eye(3))",
    ),
)
DENSE = judgement.warning(
    "BODY138",
    "A link is not denser than metal, or its inertia fits such a mass.",
    "the mass may be in grams, or the inertia may belong to another mass",
    example=(
        "1000 kg in a box of 0.1 m with inertia=0.01 * numpy.eye(3)",
        "1 kg in it",
    ),
)

# Shapes and sizes
HUGE = judgement.warning(
    "BODY140",
    "A robot is smaller than 50 m.",
    "lengths may be in millimetres: `bodymotion convert --scale 0.001`",
    example=("a box of 70 m", "a box of 0.2 m"),
)
TINY = judgement.warning(
    "BODY141",
    "A robot is larger than 1 mm.",
    "lengths may be in kilometres, or converted twice: `bodymotion convert --scale "
    "1000`",
    example=("a box of 0.05 mm", "a box of 0.2 m"),
)
FAR_LINK = judgement.warning(
    "BODY142",
    "A link is within 50 m of its parent.",
    "its offset may be in millimetres",
    example=("offset=[300, 0, 0, 1, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)
NO_SHAPE = judgement.note(
    "BODY143",
    "A moving link with a mass has a shape.",
    "such a link is invisible and has no contacts",
    example=(
        "Segment(mass=2.0, visuals=(), collisions=())",
        "Segment(mass=2.0, visuals=(Shape(Box((1, 1, 1))),))",
    ),
)
INDICES = judgement.error(
    "BODY144",
    "The triangles of a mesh use only its vertices.",
    example=(
        "faces=[[0, 1, 3]] of three vertices",
        "faces=[[0, 1, 2]] of three vertices",
    ),
)
FLAT = judgement.warning(
    "BODY145",
    "A shape is not scaled by 0.",
    "a scale of 0 in one direction makes it flat and loses its normals",
    example=(
        "Shape(Sphere(0.1), numpy.diag([1, 0, 1, 1]))",
        "Shape(Sphere(0.1), numpy.eye(4))",
    ),
)
IMAGE = judgement.warning(
    "BODY146",
    "The image of a texture can be read, and has at most 8192 × 8192 pixels and 256 "
    "MB.",
    "the surface is shown without it; save the image again as PNG or JPEG",
    example=("a text called wood.png", "an image called wood.png"),
)

# Devices
DEVICE_FAR = judgement.warning(
    "BODY150",
    "A device is inside the shape of its link, or near it.",
    "its position may be in millimetres, or in the world's frame",
    example=(
        "Gyro(pose=[30, 0, 0, 1, 0, 0, 0])",
        "Gyro(pose=[0.03, 0, 0, 1, 0, 0, 0])",
    ),
)
DEVICE_ID = document.warning(
    "BODY151",
    "The ids of each kind of device run from 0, without gaps and duplicates.",
    example=("the only gyro with id=2", "the only gyro with id=0"),
)
CAMERA = document.warning(
    "BODY152",
    "A camera has a field of view below π (wide lens: up to 2π), an image size and a "
    "rate. Its clip distances are positive and in order.",
    example=("VisionSensor(field_of_view=0.0)", "VisionSensor(field_of_view=0.8)"),
)
SCAN = document.warning(
    "BODY153",
    "The angle of a range sensor is in 0…2π. Its step, rate and distances are "
    "positive.",
    example=("RangeSensor(scan_step=0.0)", "RangeSensor(scan_step=0.1)"),
)
DEVICE_LINK = judgement.error(
    "BODY154",
    "A device is on a link of the body.",
    example=("Gyro(link=9) on a body of 4 links", "Gyro(link=3)"),
)
SCALED = judgement.warning(
    "BODY155",
    "Transforms around rigid bodies and devices do not scale them.",
    example=(
        "Transform { scale 2 2 2 children [ DEF KNEE_LINK Segment",
        "Transform { scale 1 1 1 children [ DEF KNEE_LINK Segment",
    ),
)

# Closed loops
LOOP_LINK = document.error(
    "BODY160",
    "An extra joint connects two different links of the body.",
    example=(
        "ExtraJoint(links=(2, 9)) on a body of 4 links",
        "ExtraJoint(links=(2, 3))",
    ),
)
LOOP_OPEN = judgement.warning(
    "BODY161",
    "The two points of an extra joint meet when all joints are at 0.",
    "a local position may be wrong, or the loop is closed only at other joint values; "
    "start from those",
    example=(
        "positions 0.4 m apart from each other with all joints at 0",
        "positions that meet",
    ),
)

RETIRED = {
    "BODY162": "BODY110"
}  # Codes that rules had before, with those of the rules that took over.
NOT_RIGID = judgement.warning(
    "EDIT104",
    "Link poses follow from the root and the joints, up to the elasticity of joints "
    "and links.",
    "keep the link poses beside the joints, or check whether the motion is of this "
    "body",
    example=(
        "recovering joints from link poses that no joints of the body give",
        "from link poses that they give",
    ),
)
