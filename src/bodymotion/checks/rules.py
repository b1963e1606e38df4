"""Rules about the meaning of models, and of motions on a body, whatever their format: BODY…, MOT2…; and about files: CHK….

Each rule about meaning exists once, here. The readers have rules about what their format's document demands.
"""

from bodymotion.diagnostics import document, judgement, reference

# Files
CRASHED = judgement.error(
    "CHK101",
    "The check of a file fits into the available memory.",
    "the check of this file was ended by the system",
    example=("a check that takes more memory than there is", "one that does not"),
)
FAULT = judgement.error(
    "CHK102",
    "The check of a file ends without an internal error.",
    "this is a fault of bodymotion; please report it",
    example=("a check that ends with an exception", "a check that ends"),
)
NO_KIND = judgement.error(
    "CHK103", "The file of `bodymotion check --body` holds a model.", example=("--body walk.seq", "--body robot.wrl")
)
LINE_ENDS = judgement.note(
    "CHK104",
    "All lines of a file have the same line ending.",
    "other programs may count lines differently, or read two lines as one",
    fixable=True,
    example=("one line that ends with CR LF among others that end with LF", "all with LF"),
)

# Key poses on a body
NO_SUCH_JOINT = reference.error(
    "KEY101",
    "The joints of a pose must be joints of the body.",
    example=("joints: [ 40 ] for a body of 29 joints", "joints: [ 28 ]"),
)
NO_SUCH_LINK = reference.warning(
    "KEY102",
    "A link with keys must be a link of the body, by its name or its index.",
    example=("name: TAIL for a body without", "name: WAIST"),
)
KEY_BEYOND_LIMIT = judgement.warning(
    "KEY103",
    "A joint must be within its limits at a key pose.",
    example=("a knee at 3 rad with an upper limit of 2.5 rad", "a knee at 2 rad"),
)
OUT_OF_REACH = judgement.warning(
    "KEY104",
    "A link must be able to be where its keys put it.",
    "move the key nearer to the base link, or let the base follow",
    example=("a foot 2 m from the waist", "a foot 0.7 m from the waist"),
)
OTHER_BODY = reference.note(
    "KEY105",
    "The body should be the one that the key poses are for (targetBody).",
    example=("targetBody: SR1 with HRP4C.body", "targetBody: SR1 with SR1.body"),
)

# Recorded motion
ASSUMED = judgement.note(
    "SKEL101",
    "The unit and the up axis of a recorded motion are found from its poses.",
    "name the feet foot, toe or ankle; positions are wrong if another unit or axis is meant",
    example=("joints a, b and c", "joints Hips, LeftFoot and RightFoot"),
)
SKELETON_JUMP = judgement.warning(
    "SKEL102",
    "A recorded motion has no jumps: no joint rotates by more than 45° at 100 rad/s, and no root moves at more than 20 m/s.",
    "frame 0 of many files is an added T-pose; leave it out: dataclasses.replace(clip, values=clip.values[1:])",
    example=("a knee at 0° and, 1/120 s later, at 90°", "a knee at 0° and at 5°"),
)

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
    "BODY104", "A link has a name.", "it can only be found by its index", example=("Link(name='')", "Link(name='HAND')")
)
NOT_FINITE = judgement.error(
    "BODY105",
    "The numbers of a model are finite.",
    "the program that wrote the file may have divided by zero",
    example=("Segment(mass=float('nan'))", "Segment(mass=2.0)"),
)
QUATERNION = judgement.warning(
    "BODY106",
    "The quaternion of a pose has length 1. Other lengths are normalized where they are used.",
    example=("offset=[0.3, 0, 0, 2, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)
ZERO_QUATERNION = judgement.error(
    "BODY107",
    "The quaternion of a pose is not zero.",
    "0 0 0 0 is not an orientation; write 1 0 0 0",
    example=("offset=[0.3, 0, 0, 0, 0, 0, 0]", "offset=[0.3, 0, 0, 1, 0, 0, 0]"),
)

NO_LINKS = judgement.error(
    "BODY108",
    "A body has at least one link.",
    example=("Body(name='robot')", "Body(name='robot', links=(Link(name='BASE'),))"),
)

# Joints
AXIS_LENGTH = document.warning(
    "BODY110", "The axis of a joint has length 1.", example=("Joint(axis=[0, 0, 2])", "Joint(axis=[0, 0, 1])")
)
NO_RANGE = judgement.warning(
    "BODY113",
    "The lower limit of a moving joint is not equal to its upper limit.",
    "make the joint fixed, or correct its limits",
    example=("Joint(lower=0.0, upper=0.0)", "Joint(lower=-1.0, upper=2.0)"),
)
VELOCITY = judgement.warning(
    "BODY114",
    "The velocity limits of a joint are on both sides of 0: a negative lower and a positive upper one.",
    "write the lower limit with a minus sign",
    example=("Joint(velocity_lower=3.0, velocity_upper=3.0)", "Joint(velocity_lower=-3.0, velocity_upper=3.0)"),
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
    "the pose with all joints at 0 is not possible for this robot; start from another one",
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
    "The joint of the root link is free or fixed: the pose of the root comes from the motion, and its joint column moves nothing.",
    "add a fixed parent link, if the joint should move",
    example=("Joint(type='rotate', id=3) at the root", "Joint(type='free') at the root"),
)
FREE_INSIDE = document.note(
    "BODY120",
    "Only the root link has a free joint; elsewhere its value moves nothing.",
    example=("Joint(type='free') at a leaf", "Joint(type='rotate') at a leaf"),
)
MOTOR = judgement.warning(
    "BODY121",
    "A gear's ratio is not zero, its efficiency is in 0…1; inertia, resistance, torque constant, pulses, current are not negative.",
    example=("Joint(gear_ratio=0.0)", "Joint(gear_ratio=100.0)"),
)
SLIDES_FAR = judgement.warning(
    "BODY122",
    "The limits of a sliding joint are in metres.",
    "no robot slides this far; if they are millimetres, multiply them by 0.001",
    example=("Joint(type='slide', lower=-1500.0, upper=1500.0)", "Joint(type='slide', lower=-1.5, upper=1.5)"),
)

# Masses
NEGATIVE_MASS = judgement.error(
    "BODY130", "A mass is zero or greater.", example=("Segment(mass=-1.0)", "Segment(mass=2.0)")
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
    example=("Segment(mass=2.0, inertia=numpy.zeros((3, 3)))", "Segment(mass=2.0, inertia=0.01 * numpy.eye(3))"),
)
TRIANGLE = judgement.warning(
    "BODY133",
    "The principal moments of an inertia are not negative, and none is larger than the sum of the other two.",
    "simulators reject it; an MJCF of the model gets the nearest possible inertia",
    example=("inertia=numpy.diag([0.01, 0.01, 0.5])", "inertia=numpy.diag([0.01, 0.01, 0.01])"),
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
    example=("2 kg in a box of 0.2 m with inertia=1e3 * numpy.eye(3)", "with inertia=0.013 * numpy.eye(3)"),
)
INERTIA_FOR_NOTHING = judgement.warning(
    "BODY137",
    "A link with an inertia has a mass.",
    "no rigid body has an inertia without a mass",
    example=("Segment(mass=0.0, inertia=0.01 * numpy.eye(3))", "Segment(mass=2.0, inertia=0.01 * numpy.eye(3))"),
)
DENSE = judgement.warning(
    "BODY138",
    "A link is not denser than metal, or its inertia fits such a mass.",
    "the mass may be in grams, or the inertia may belong to another mass",
    example=("1000 kg in a box of 0.1 m with inertia=0.01 * numpy.eye(3)", "1 kg in it"),
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
    "lengths may be in kilometres, or converted twice: `bodymotion convert --scale 1000`",
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
    example=("Segment(mass=2.0, visuals=(), collisions=())", "Segment(mass=2.0, visuals=(Shape(Box((1, 1, 1))),))"),
)
INDICES = judgement.error(
    "BODY144",
    "The triangles of a mesh use only its vertices.",
    example=("faces=[[0, 1, 3]] of three vertices", "faces=[[0, 1, 2]] of three vertices"),
)
FLAT = judgement.warning(
    "BODY145",
    "A shape is not scaled by 0.",
    "a scale of 0 in one direction makes it flat and loses its normals",
    example=("Shape(Sphere(0.1), numpy.diag([1, 0, 1, 1]))", "Shape(Sphere(0.1), numpy.eye(4))"),
)
IMAGE = judgement.warning(
    "BODY146",
    "The image of a texture can be read, and has at most 8192 × 8192 pixels and 256 MB.",
    "the surface is shown without it; save the image again as PNG or JPEG",
    example=("a text called wood.png", "an image called wood.png"),
)

# Devices
DEVICE_FAR = judgement.warning(
    "BODY150",
    "A device is inside the shape of its link, or near it.",
    "its position may be in millimetres, or in the world's frame",
    example=("Gyro(pose=[30, 0, 0, 1, 0, 0, 0])", "Gyro(pose=[0.03, 0, 0, 1, 0, 0, 0])"),
)
DEVICE_ID = document.warning(
    "BODY151",
    "The ids of each kind of device run from 0, without gaps and duplicates.",
    example=("the only gyro with id=2", "the only gyro with id=0"),
)
CAMERA = document.warning(
    "BODY152",
    "A camera has a field of view of up to a full turn, positive clip distances in order, and an image with a size and a rate.",
    example=("VisionSensor(field_of_view=0.0)", "VisionSensor(field_of_view=0.8)"),
)
SCAN = document.warning(
    "BODY153",
    "A range sensor's angle is in 0…2π, its step, rate and distance are positive.",
    example=("RangeSensor(scan_step=0.0)", "RangeSensor(scan_step=0.1)"),
)
DEVICE_LINK = judgement.error(
    "BODY154", "A device is on a link of the body.", example=("Gyro(link=9) on a body of 4 links", "Gyro(link=3)")
)

# Closed loops
LOOP_LINK = document.error(
    "BODY160",
    "An extra joint connects two different links of the body.",
    example=("ExtraJoint(links=(2, 9)) on a body of 4 links", "ExtraJoint(links=(2, 3))"),
)
LOOP_OPEN = judgement.warning(
    "BODY161",
    "The two points of an extra joint meet when all joints are at 0.",
    "a local position may be wrong, or the loop is closed only at other joint values; start from those",
    example=("positions 0.4 m apart from each other with all joints at 0", "positions that meet"),
)
LOOP_AXIS = document.warning(
    "BODY162",
    "The axis of an extra joint has length 1.",
    example=("ExtraJoint(type='xy', axis=[2, 0, 0])", "ExtraJoint(type='xy', axis=[1, 0, 0])"),
)

# Motions on a body
JOINTS = judgement.error(
    "MOT201",
    "A motion has a column for each joint of the body.",
    "the motion may belong to another body",
    example=("29 joints, and columns for 28", "29 columns"),
)
LINKS = judgement.error(
    "MOT203",
    "A motion has the poses of all links of the body, or joint values to compute them from.",
    "the motion may belong to another body",
    example=("poses of 3 links and no joints, on a body of 4", "poses of 4 links"),
)
POSITION_LIMIT = judgement.warning(
    "MOT204",
    "Joint values are within the limits of the joint.",
    "a controller stops at the limit, or the robot is damaged",
    example=("2.1 rad, where the joint ends at 2 rad", "2 rad"),
)
SPEED_LIMIT = judgement.warning(
    "MOT205",
    "Joint speeds are within the velocity limits of the joint.",
    "the robot will lag behind; slow the motion down: `bodymotion retime --speed`",
    example=("0.4 rad in 0.1 s, where the joint makes 3 rad/s", "0.3 rad in 0.1 s"),
)
POSES_DISAGREE = judgement.warning(
    "MOT206",
    "Link poses agree with the forward kinematics of root and joints.",
    "the motion may belong to another body; `bodymotion edit --root-only` keeps only root and joints",
    example=("a link 9 m from where root and joints put it", "a link where they put it"),
)
NOTHING_MOVES = judgement.warning(
    "MOT207",
    "A motion has joint values or link poses.",
    example=("a motion with a zero moment point alone", "one with JointDisplacement, too"),
)
IN_DEGREES = judgement.warning(
    "MOT208",
    "Joint angles are in radians.",
    "multiply them by π/180; a table in degrees is read by `bodymotion convert --degrees`; limits, speeds and physics are not checked",
    example=("57.3, 20 and -30, where the joints make 2 rad", "1, 0.35 and -0.52"),
)
METRES = judgement.warning(
    "MOT209",
    "The positions of the root and of the zero moment point are in metres.",
    "multiply them by 0.001; feet, balance and forces are not checked",
    example=("a root at 0, 0, 700", "a root at 0, 0, 0.7"),
)
FRAME_RATE = judgement.warning(
    "MOT210",
    "The frame rate is the number of frames per second.",
    "speeds and physics are not checked",
    example=("frameRate: 0.002", "frameRate: 500"),
)
TIME_STAMPS = judgement.warning(
    "MOT211",
    "Time stamps are in seconds: from a microsecond to an hour between two frames.",
    "are the time stamps seconds, of one clock? `bodymotion edit --trim` keeps a part of the motion",
    example=("frames at 0, 0.01, 0.02 and 1e9 s", "frames at 0, 0.01, 0.02 and 60 s"),
)
