"""Rules about simulated motions."""

from bodymotion.diagnostics import judgement

SATURATED = judgement.warning(
    "SIM101",
    "The motors have the efforts that the motion needs.",
    "limits=False (`bodymotion simulate --no-limits`) shows the efforts that it would "
    "need",
    example=(
        "a knee that needs 150 N m, with an effort limit of 115 N m",
        "one that needs 80 N m",
    ),
)
PROJECT = judgement.error(
    "SIM102",
    "A project of Choreonoid is a tree of items, and the files of its bodies can be "
    "read.",
    "`bodymotion simulate --share FOLDER` names the folder of ${SHARE}",
    example=("a BodyItem whose file is missing", "a BodyItem with the file of a model"),
)
NO_SHAPES = judgement.warning(
    "SIM104",
    "A robot with a free root has collision shapes to stand on the ground.",
    "put missing files of meshes where the model names them, or give the feet "
    "collision shapes; `--root fixed` holds the root",
    example=(
        "a robot whose links have visual shapes only",
        "one with a box at each foot",
    ),
)
TOO_FAST = judgement.warning(
    "SIM105",
    "Simulated joints stay within their velocity limits. The simulation does not "
    "enforce them.",
    example=("a joint at 12 rad/s with a limit of 8 rad/s", "one at 7 rad/s"),
)
DIVERGED = judgement.error(
    "SIM106",
    "The numbers of a simulation stay finite.",
    "lower the gains or the time step: a torque kp · (q_cmd − q) − kd · q̇ that is "
    "computed at each step needs kd · timestep below the "
    "inertia of the joint; `bodymotion.model.links.default_gains` has gains for a body",
    example=(
        "a controller with kd 20 N m s for fingers of 1e-5 kg m²",
        "one with the default gains of the body",
    ),
)
HELD = judgement.note(
    "SIM107",
    "A simulation ends with its motion. After the end of the motion, the robot holds "
    "the last pose.",
    "simulate to the end of the motion, which is the default without `end` "
    "(`bodymotion simulate --to`)",
    example=(
        "99 s with a motion of 10 s",
        "5 s with a motion of 10 s",
    ),
)
UNUSED = judgement.note(
    "SIM103",
    "A project has bodies, motions and a time step. Other items are not used.",
    example=("a SimpleControllerItem below a body", "a BodyMotionItem below a body"),
)
