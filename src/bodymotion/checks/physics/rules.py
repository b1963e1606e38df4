"""Rules about the physics of a motion on a body."""

from bodymotion.diagnostics import judgement

# Sudden changes
JOINT_JUMPS = judgement.warning(
    "MOT301",
    "Joint values change continuously. A motor cannot follow a jump.",
    "frames may be missing, or two motions were joined; `bodymotion edit --append … "
    "--blend` joins them smoothly",
    example=(
        "a joint at 0.3 rad in one frame, at 0.8 rad in the next",
        "the frames between",
    ),
)
JOINT_SPIKE = judgement.warning(
    "MOT302",
    "Joint speeds do not change within one frame. No motor has the torque for it.",
    "a frame may be wrong, or the motion has a corner: `bodymotion edit --smooth`",
    example=(
        "one frame in which a joint is 0.1 rad off the curve of the others",
        "a frame on that curve",
    ),
)
FULL_TURN = judgement.warning(
    "MOT303",
    "Joint values do not jump by a full turn. The pose looks the same, but a motor "
    "would rotate all the way back.",
    "`bodymotion edit --unwrap` removes such jumps",
    example=("3.14 in one frame, -3.14 in the next", "3.14, then 3.15"),
)
ROOT_JUMPS = judgement.warning(
    "MOT304",
    "The pose of the root changes continuously.",
    "frames may be missing, or two motions were joined; `bodymotion edit --append … "
    "--blend` joins them smoothly",
    example=(
        "the root 0.1 m farther on in the next of 100 frames a second",
        "the frames between",
    ),
)
ROOT_SPIKE = judgement.warning(
    "MOT305",
    "The speed of the root does not change within one frame. No contact has the force "
    "for it.",
    "a frame may be wrong, or the motion has a corner: `bodymotion edit --smooth`",
    example=(
        "one frame in which the root is 0.1 m off its path",
        "a frame on its path",
    ),
)
SIGN_FLIP = judgement.note(
    "MOT306",
    "A quaternion keeps its sign from frame to frame. q and −q are the same "
    "orientation, but interpolated numbers rotate in between.",
    "bodymotion itself interpolates the shorter way",
    example=("0.8 0.6 0 0, then -0.8 -0.6 0 0", "0.8 0.6 0 0, then 0.8 0.6 0 0"),
)
OSCILLATION = judgement.warning(
    "MOT307",
    "Joints and root move steadily. No motor follows a speed that changes in every "
    "frame.",
    "the motion has noise (`bodymotion edit --smooth`), or repeats frames of a lower "
    "rate (`bodymotion retime --method linear`)",
    example=(
        "0.1, 0.1, 0.2, 0.2, 0.3, 0.3 … at 200 frames a second",
        "0.1, 0.15, 0.2, 0.25, 0.3, 0.35 …",
    ),
)

# Feet on the ground
FOOT_SLIP = judgement.warning(
    "MOT311",
    "A foot in contact does not slip. Friction holds it, and the body moves "
    "differently from the motion.",
    "check that the root's pose belongs to this motion, and that the motion was made "
    "for this model",
    example=(
        "a foot on the ground that goes 12 mm along it",
        "a foot that goes where it is above it",
    ),
)
DEPTH = judgement.warning(
    "MOT312",
    "Feet are at most 1 cm below the ground, other links at most 2 cm. More than 10 "
    "cm is an error.",
    "check that the root's pose belongs to this motion, and that the motion was made "
    "for this model",
    example=("a sole 12 mm below the ground", "a sole on it"),
)
FLIGHT = judgement.warning(
    "MOT313",
    "A body without contact falls. Otherwise the motion needs a force that no foot "
    "can transmit.",
    "check the height of the root, and whether other links than the feet are in "
    "contact",
    example=(
        "both feet 25 mm above the ground for half a second",
        "one of them on it, or a jump",
    ),
)
GROUND = judgement.note(
    "MOT314",
    "The ground is level. On stairs and slopes it is unknown, and foot slip, depth "
    "and balance are not checked.",
    "if the ground is level, the pose of the root or an ankle is wrong",
    example=("steps of 0.1 m", "steps of 2 mm"),
)
FLOOR_HEIGHT = judgement.warning(
    "MOT315",
    "Feet are on the floor, as known from the recorded zero moment point or the "
    "model's pose. More than 10 cm below it is an error.",
    "check that the height of the root belongs to this model; foot slip, depth and "
    "balance are checked on the ground under the feet",
    example=(
        "a walk with the root 0.03 m too low throughout",
        "the root at its height",
    ),
)

# Balance
ZMP_OUTSIDE = judgement.warning(
    "MOT321",
    "The computed zero moment point is inside the support polygon. Outside of it the "
    "body tips over.",
    "slow the motion down (`bodymotion retime --speed`), or lean to the other side",
    example=(
        "a body that stops so hard that the point is 25 mm ahead of the toes",
        "one that stops slowly",
    ),
)
RECORDED_ZMP_OUTSIDE = judgement.warning(
    "MOT322",
    "The recorded zero moment point is inside the support polygon. A controller "
    "cannot hold it outside.",
    "check `isRootRelative`, and that the motion was made for this model",
    example=(
        "a point 12 mm ahead of the toes for half a second",
        "a point within the feet",
    ),
)
RECORDED_ZMP_DIFFERS = judgement.warning(
    "MOT323",
    "The recorded zero moment point agrees with the one computed from root and joints.",
    "it may be planned for another model, or `isRootRelative` may be wrong",
    example=(
        "a point 55 mm from the one that the motion has",
        "the point of the motion",
    ),
)

# Motors
TORQUE_LIMIT = judgement.warning(
    "MOT331",
    "Joint torques are within the limits of the motors.",
    "the robot will lag behind, or fall; slow the motion down (`bodymotion retime "
    "--speed`), or keep the limb nearer to the body",
    example=("an arm that needs 9.8 Nm from a motor of 9 Nm", "a motor of 10 Nm"),
)

# Collisions
COLLISION = judgement.warning(
    "MOT341",
    "Links do not overlap by more than 2 cm, unless they do so at rest. More than 5 "
    "cm is an error.",
    "`bodymotion view --show contacts` shows where; hulls of shapes are compared, so "
    "a hollow link counts as solid",
    example=("a forearm in the trunk", "a forearm beside it"),
)
NO_COLLISIONS = judgement.note(
    "MOT342",
    "Collisions of links are checked with MuJoCo.",
    "pip install 'bodymotion[sim]'",
    example=("a body that MuJoCo cannot load", "a body that it loads"),
)
