"""Rules about the meaning of models, and of motions on a body, whatever their format: BODY…, MOT2…; and about files: CHK….

Each rule about meaning exists once, here. The readers have rules about what their format's document demands.
"""

from __future__ import annotations

from bodymotion.diagnostics import Rule

# Files
CRASHED = Rule(
    "CHK101",
    "error",
    "A file is checked in the memory that there is.",
    "judgement",
    "the check of this file ended at once",
    example=("a check that takes more memory than there is", "one that does not"),
)
FAULT = Rule(
    "CHK102",
    "error",
    "The check of a file ends with an answer.",
    "judgement",
    "a fault of bodymotion: please report it",
    example=("a check that ends with an exception", "a check that ends"),
)
NO_KIND = Rule("CHK103", "error", "--body names a model.", "judgement", example=("--body walk.seq", "--body robot.wrl"))
LINE_ENDS = Rule(
    "CHK104",
    "note",
    "The lines of a file end alike.",
    "judgement",
    "programs that take other ends for lines count them otherwise, or see one line where there are two",
    fixable=True,
    example=("one line that ends with CR LF among others that end with LF", "all with LF"),
)

# Links and names
SAME_LINK = Rule(
    "BODY101",
    "warning",
    "Each link has a name of its own.",
    "judgement",
    "whoever looks for that name finds the first",
    example=("two links with name='ARM'", "name='ARM' and name='HAND'"),
)
SAME_JOINT = Rule(
    "BODY102",
    "warning",
    "Each joint has a name of its own.",
    "judgement",
    "columns of a motion go to the first of that name",
    example=("two joints with name='ARM'", "name='ARM' and name='HAND'"),
)
SAME_DEVICE = Rule(
    "BODY103",
    "warning",
    "Each device of a link has a name of its own.",
    "judgement",
    example=("two gyros of a link with name='gyro'", "name='gyro' and name='gyro2'"),
)
NO_NAME = Rule(
    "BODY104",
    "warning",
    "A link has a name.",
    "judgement",
    "it can only be found by its number",
    example=("Link(name='')", "Link(name='HAND')"),
)
NOT_FINITE = Rule(
    "BODY105",
    "error",
    "The numbers of a model are finite.",
    "judgement",
    "the program that wrote it has divided by zero",
    example=("Segment(mass=float('nan'))", "Segment(mass=2.0)"),
)
QUATERNION = Rule(
    "BODY106",
    "warning",
    "The quaternion of a pose is of length 1; another is brought to that length where it is used.",
    "judgement",
    example=("offset=[0.3, 0, 0, 2, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)
NO_TURN = Rule(
    "BODY107",
    "error",
    "The quaternion of a pose is not zero.",
    "judgement",
    "0 0 0 0 is no orientation: write 1 0 0 0",
    example=("offset=[0.3, 0, 0, 0, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)

NO_LINKS = Rule(
    "BODY108",
    "error",
    "A body has a link.",
    "judgement",
    example=("Body(name='robot')", "Body(name='robot', links=(Link(name='BASE'),))"),
)

# Joints
AXIS_LENGTH = Rule(
    "BODY110",
    "warning",
    "The axis of a joint is of length 1.",
    "document",
    example=("Joint(axis=[0, 0, 2])", "Joint(axis=[0, 0, 1])"),
)
NO_AXIS = Rule(
    "BODY111",
    "error",
    "The axis of a joint that moves is not zero.",
    "document",
    example=("Joint(axis=[0, 0, 0])", "Joint(axis=[0, 0, 1])"),
)
LIMITS = Rule(
    "BODY112",
    "warning",
    "A lower limit is below the upper one.",
    "document",
    "they may have been exchanged, or have the wrong sign",
    example=("Joint(lower=2.0, upper=-1.0)", "Joint(lower=-1.0, upper=2.0)"),
)
NO_RANGE = Rule(
    "BODY113",
    "warning",
    "The limits of a joint that moves leave it a range.",
    "judgement",
    "make the joint a fixed one, or give it its true limits",
    example=("Joint(lower=0.0, upper=0.0)", "Joint(lower=-1.0, upper=2.0)"),
)
VELOCITY = Rule(
    "BODY114",
    "warning",
    "The velocity limits of a joint are on both sides of 0: a negative lower and a positive upper one.",
    "judgement",
    "write the lower one with a minus",
    example=("Joint(velocity_lower=3.0, velocity_upper=3.0)", "Joint(velocity_lower=-3.0, velocity_upper=3.0)"),
)
DEGREES = Rule(
    "BODY115",
    "warning",
    "The limits of a joint that turns are in radians.",
    "judgement",
    "these are many full turns: they may be degrees",
    example=("Joint(lower=-90.0, upper=90.0)", "Joint(lower=-1.57, upper=1.57)"),
)
ZERO_OUTSIDE = Rule(
    "BODY116",
    "note",
    "A joint may stand at 0.",
    "judgement",
    "all joints at 0 is no pose of this robot: begin with another",
    example=("Joint(lower=0.5, upper=2.0)", "Joint(lower=-1.0, upper=2.0)"),
)
ID_TWICE = Rule(
    "BODY117",
    "error",
    "No two joints have the same id.",
    "document",
    "the first in link order moves with it",
    example=("two joints with id=1", "id=1 and id=2"),
)
ID_GAP = Rule(
    "BODY118",
    "warning",
    "The ids of joints run from 0 without gaps.",
    "document",
    "the columns of the missing ids move nothing",
    example=("joints with the ids 0, 1, 4", "the ids 0, 1, 2"),
)
ROOT_MOVES = Rule(
    "BODY119",
    "warning",
    "The root's joint is free or fixed: where the root is, its pose says, and a column of its own moves nothing.",
    "judgement",
    "put a fixed link above it, if it is to move",
    example=("Joint(type='rotate', id=3) at the root", "Joint(type='free') at the root"),
)
FREE_INSIDE = Rule(
    "BODY120",
    "note",
    "A free joint is the root's; elsewhere its value moves nothing.",
    "document",
    example=("Joint(type='free') at a leaf", "Joint(type='rotate') at a leaf"),
)
MOTOR = Rule(
    "BODY121",
    "warning",
    "A gear's ratio is not zero, its efficiency is in 0…1; inertia, resistance, torque constant, pulses, current are not negative.",
    "judgement",
    example=("Joint(gear_ratio=0.0)", "Joint(gear_ratio=100.0)"),
)
SLIDES_FAR = Rule(
    "BODY122",
    "warning",
    "The limits of a joint that slides are in metres.",
    "judgement",
    "no robot slides so far: they may be millimetres, multiply them by 0.001",
    example=("Joint(type='slide', lower=-1500.0, upper=1500.0)", "Joint(type='slide', lower=-1.5, upper=1.5)"),
)

# Masses
NEGATIVE_MASS = Rule(
    "BODY130", "error", "A mass is zero or greater.", "judgement", example=("Segment(mass=-1.0)", "Segment(mass=2.0)")
)
NO_MASS = Rule(
    "BODY131",
    "warning",
    "A link that moves has a mass.",
    "judgement",
    "simulators refuse it, or it flies away",
    example=("a link that moves with mass=0.0", "the link with mass=2.0"),
)
NO_INERTIA = Rule(
    "BODY132",
    "warning",
    "A link with a mass that moves has an inertia.",
    "judgement",
    "simulators refuse it",
    example=("Segment(mass=2.0, inertia=numpy.zeros((3, 3)))", "Segment(mass=2.0, inertia=0.01 * numpy.eye(3))"),
)
TRIANGLE = Rule(
    "BODY133",
    "warning",
    "No body has an inertia tensor with a negative principal moment, or one larger than the sum of the other two.",
    "judgement",
    "simulators refuse it; `bodymotion convert --fix-inertia` writes an MJCF with the nearest possible one",
    example=("inertia=numpy.diag([0.01, 0.01, 0.5])", "inertia=numpy.diag([0.01, 0.01, 0.01])"),
)
ASYMMETRIC = Rule(
    "BODY134",
    "warning",
    "An inertia tensor is symmetric.",
    "judgement",
    example=(
        "inertia=[[0.02, 0.005, 0], [0, 0.02, 0], [0, 0, 0.02]]",
        "inertia=[[0.02, 0, 0], [0, 0.02, 0], [0, 0, 0.02]]",
    ),
)
CENTER_FAR = Rule(
    "BODY135",
    "warning",
    "The centre of mass of a link is in its shape, or near it.",
    "judgement",
    "it may be given in another frame, or in millimetres",
    example=("center_of_mass=[0, 0, 50]", "center_of_mass=[0, 0, 0.05]"),
)
GYRATION = Rule(
    "BODY136",
    "warning",
    "The mass of a link lies in its shape: its radius of gyration is not many times the shape's size.",
    "judgement",
    "the inertia may be in other units than kg m², or the shape in others than m",
    example=("2 kg in a box of 0.2 m with inertia=1e3 * numpy.eye(3)", "with inertia=0.013 * numpy.eye(3)"),
)
INERTIA_FOR_NOTHING = Rule(
    "BODY137",
    "warning",
    "A link with an inertia has a mass.",
    "judgement",
    "an inertia without a mass is of no body",
    example=("Segment(mass=0.0, inertia=0.01 * numpy.eye(3))", "Segment(mass=2.0, inertia=0.01 * numpy.eye(3))"),
)
DENSE = Rule(
    "BODY138",
    "warning",
    "A link is no heavier than metal of its size, or its inertia is that of such a mass.",
    "judgement",
    "is the mass in grams, or the inertia that of another mass?",
    example=("1000 kg in a box of 0.1 m with inertia=0.01 * numpy.eye(3)", "1 kg in it"),
)

# Shapes and sizes
HUGE = Rule(
    "BODY140",
    "warning",
    "A robot is smaller than 50 m.",
    "judgement",
    "millimetres may have been taken for metres: `bodymotion convert --scale 0.001`",
    example=("a box of 70 m", "a box of 0.2 m"),
)
TINY = Rule(
    "BODY141",
    "warning",
    "A robot is larger than 1 mm.",
    "judgement",
    "metres may have been taken for kilometres or millimetres divided twice: `bodymotion convert --scale 1000`",
    example=("a box of 0.05 mm", "a box of 0.2 m"),
)
FAR_LINK = Rule(
    "BODY142",
    "warning",
    "A link is within 50 m of its parent.",
    "judgement",
    "its offset may be in millimetres",
    example=("offset=[300, 0, 0, 1, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)
NO_SHAPE = Rule(
    "BODY143",
    "note",
    "A link that moves and has a mass has a shape.",
    "judgement",
    "it is not seen, and touches nothing",
    example=("Segment(mass=2.0, visuals=(), collisions=())", "Segment(mass=2.0, visuals=(Shape(Box((1, 1, 1))),))"),
)
INDICES = Rule(
    "BODY144",
    "error",
    "The triangles of a mesh are made of its vertices.",
    "judgement",
    example=("faces=[[0, 1, 3]] of three vertices", "faces=[[0, 1, 2]] of three vertices"),
)
FLAT = Rule(
    "BODY145",
    "warning",
    "A shape is not scaled to nothing.",
    "judgement",
    "a scale of 0 in one direction makes it flat, and its normals are lost",
    example=("Shape(Sphere(0.1), numpy.diag([1, 0, 1, 1]))", "Shape(Sphere(0.1), numpy.eye(4))"),
)
IMAGE = Rule(
    "BODY146",
    "warning",
    "The image of a texture can be read, and is small enough to be shown: 8192 × 8192 pixels, 256 MB.",
    "judgement",
    "the surface is shown without it: save the image anew, as PNG or JPEG",
    example=("a text called wood.png", "an image called wood.png"),
)

# Devices
DEVICE_FAR = Rule(
    "BODY150",
    "warning",
    "A device is on its link, or near it.",
    "judgement",
    "its place may be in millimetres, or in the world's frame",
    example=("Gyro(pose=[30, 0, 0, 1, 0, 0, 0])", "Gyro(pose=[0.03, 0, 0, 1, 0, 0, 0])"),
)
DEVICE_ID = Rule(
    "BODY151",
    "warning",
    "The ids of each kind of device run from 0, without gaps and repeats.",
    "document",
    example=("the only gyro with id=2", "the only gyro with id=0"),
)
CAMERA = Rule(
    "BODY152",
    "warning",
    "A camera has a field of view of up to a full turn, positive clip distances in order, and an image with a size and a rate.",
    "document",
    example=("VisionSensor(field_of_view=0.0)", "VisionSensor(field_of_view=0.8)"),
)
SCAN = Rule(
    "BODY153",
    "warning",
    "A range sensor's angle is in 0…2π, its step, rate and distance are positive.",
    "document",
    example=("RangeSensor(scan_step=0.0)", "RangeSensor(scan_step=0.1)"),
)
DEVICE_LINK = Rule(
    "BODY154",
    "error",
    "A device is on a link of the body.",
    "judgement",
    example=("Gyro(link=9) on a body of 4 links", "Gyro(link=3)"),
)

# Closed loops
LOOP_LINK = Rule(
    "BODY160",
    "error",
    "An extra joint ties two links of the body to each other.",
    "document",
    example=("ExtraJoint(links=(2, 9)) on a body of 4 links", "ExtraJoint(links=(2, 3))"),
)
LOOP_OPEN = Rule(
    "BODY161",
    "warning",
    "The two links of an extra joint are where it holds them when all joints are at 0.",
    "judgement",
    "a local position may be wrong; or the loop is closed at other joint values only: begin with those",
    example=("positions 0.4 m apart from each other with all joints at 0", "positions that meet"),
)
LOOP_AXIS = Rule(
    "BODY162",
    "warning",
    "The axis of an extra joint is of length 1.",
    "document",
    example=("ExtraJoint(type='xy', axis=[2, 0, 0])", "ExtraJoint(type='xy', axis=[1, 0, 0])"),
)

# Motions on a body
JOINTS = Rule(
    "MOT201",
    "error",
    "A motion has a column for each joint of the body.",
    "judgement",
    "is it a motion of another body?",
    example=("29 joints, and columns for 28", "29 columns"),
)
MORE_COLUMNS = Rule(
    "MOT202",
    "warning",
    "A motion has no more joint columns than the body.",
    "judgement",
    "they move nothing",
    example=("29 joints, and columns for 30", "29 columns"),
)
LINKS = Rule(
    "MOT203",
    "error",
    "A motion has the poses of all links of the body, or joints to get them from.",
    "judgement",
    "is it a motion of another body?",
    example=("poses of 3 links and no joints, on a body of 4", "poses of 4 links"),
)
POSITION_LIMIT = Rule(
    "MOT204",
    "warning",
    "A joint stays between its limits.",
    "judgement",
    "a controller stops there, or the robot breaks",
    example=("2.1 rad, where the joint ends at 2 rad", "2 rad"),
)
SPEED_LIMIT = Rule(
    "MOT205",
    "warning",
    "A joint stays within its velocity limits.",
    "judgement",
    "the robot will lag behind; go slower: `bodymotion retime --speed`",
    example=("0.4 rad in 0.1 s, where the joint makes 3 rad/s", "0.3 rad in 0.1 s"),
)
POSES_DISAGREE = Rule(
    "MOT206",
    "warning",
    "Link poses are those that the root and the joints give.",
    "judgement",
    "it may be the motion of another body; `bodymotion edit --root-only` keeps root and joints",
    example=("a link 9 m from where root and joints put it", "a link where they put it"),
)
NOTHING_MOVES = Rule(
    "MOT207",
    "warning",
    "A motion has joints or link poses, so that it moves the body.",
    "judgement",
    example=("a motion with a zero moment point alone", "one with JointDisplacement, too"),
)
IN_DEGREES = Rule(
    "MOT208",
    "warning",
    "Joint angles are in radians.",
    "judgement",
    "multiply them by π/180; a table in degrees is read by `bodymotion convert --degrees`; limits, speeds and physics are not looked at",
    example=("57.3, 20 and -30, where the joints make 2 rad", "1, 0.35 and -0.52"),
)
METRES = Rule(
    "MOT209",
    "warning",
    "The places of the root and the zero moment point are in metres.",
    "judgement",
    "multiply them by 0.001; feet, balance and forces are not looked at",
    example=("a root at 0, 0, 700", "a root at 0, 0, 0.7"),
)
FRAME_RATE = Rule(
    "MOT210",
    "warning",
    "The frame rate says how many frames there are in a second of the motion.",
    "judgement",
    "speeds and physics are not looked at",
    example=("frameRate: 0.002", "frameRate: 500"),
)

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
