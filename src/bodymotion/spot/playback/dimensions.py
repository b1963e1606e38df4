"""The public dimensions and joint limits of Spot, in metres and radians.

Lengths and joint limits are those of the URDF descriptions that Boston Dynamics and the
RAI Institute publish. The distance from knee to foot and the foot's radius are those of
the MuJoCo Menagerie's model: the URDF has no foot, and the collision cylinder of its
lower leg ends 0.33532 m below the knee. Limits of joint velocities are not public.
"""

from itertools import product

import numpy as np

from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import GROUPS
from bodymotion.spot.cha.keywords import JOINT_LIMITS

LEG_JOINTS = tuple(map("_".join, product(LEGS, ("hx", "hy", "kn"))))
ARM_JOINTS = ("sh0", "sh1", "el0", "el1", "wr0", "wr1")
JOINT_NAMES = *LEG_JOINTS, *ARM_JOINTS, "gripper"
"""All joints in order of their ids.

A Spot without arm has the first twelve.
"""

SIDES: Floats = frozen(
    [1.0, -1.0, 1.0, -1.0]
)  # +1 for the legs on the left, −1 for those on the right.

# Positions of the joints hx (4, 3), in the body's frame.
HIPS: Floats = frozen(
    [
        [0.29785, 0.055, 0.0],
        [0.29785, -0.055, 0.0],
        [-0.29785, 0.055, 0.0],
        [-0.29785, -0.055, 0.0],
    ]
)

HIP_WIDTH = 0.110945  # From joint hx to joint hy, sideways.

KNEE: Floats = frozen([0.025, 0.0, -0.3205])  # From joint hy to joint kn.

SHIN = 0.3365  # From joint kn down to the foot's centre.

FOOT_RADIUS = 0.036  # Radius of the spherical foot; the foot's frame is in its centre.

SHOULDER: Floats = frozen(
    [0.292, 0.0, 0.188]
)  # Position of joints sh0 and sh1, in the body's frame.

UPPER_ARM = 0.3385  # From joint sh1 to joint el0, along x.

# From joint el0 to joints el1, wr0 and wr1, whose axes meet in one point.
FOREARM: Floats = frozen([0.4033, 0.0, 0.075])

HAND = 0.19557  # From joint wr1 to the hand's frame, along x.

# Lower and upper limits (3, 2) of hx, hy and kn.
LEG_LIMITS: Floats = frozen([JOINT_LIMITS[joint] for joint in ("hx", "hy", "kn")])

# Lower and upper limits (6, 2) of the joints of the arm.
ARM_LIMITS: Floats = frozen([JOINT_LIMITS[joint] for joint in GROUPS["arm_joints"]])

GRIPPER_LIMITS: Floats = frozen(
    JOINT_LIMITS["gripper"]
)  # Angles of the open and the closed gripper.

LIMITS: Floats = frozen(
    np.vstack([np.tile(LEG_LIMITS, (4, 1)), ARM_LIMITS, GRIPPER_LIMITS])
)
# Height of the body's origin over the feet's centres in a nominal stand. Our choice,
# close to what the robot does.
NOMINAL_HEIGHT = 0.48

# Positions of the feet's centres (4, 3) in a nominal stand, relative to their mean.
# Right below the joints hy.
NOMINAL_FEET: Floats = frozen(HIPS * [1, 1, 0] + np.outer(SIDES, [0.0, HIP_WIDTH, 0.0]))

# Height of the body's origin over the feet's centres when it sits with folded legs. Our
# choice, just within the limits of the knees.
SITTING_HEIGHT = 0.145

# Joints of the arm when it is stowed on the back, as in recorded poses, rounded.
STOWED: Floats = frozen([0.0, -3.11, 3.13, 1.57, 0.0, -1.57])
