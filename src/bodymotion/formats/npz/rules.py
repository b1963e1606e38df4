"""The rules of NumPy archives.

All are ours: there is no document.
"""

from bodymotion.diagnostics import judgement

NOT_AN_ARCHIVE = judgement.error(
    "NPZ001",
    "An .npz file is a zip archive of NumPy arrays.",
    example=("a text called walk.npz", "numpy.savez('walk.npz', …)"),
)
OBJECTS = judgement.error(
    "NPZ003",
    "Arrays hold numbers, truth values or texts. Python objects could run code when "
    "they are unpacked.",
    example=("info=numpy.array({'by': 'me'})", "info=numpy.array('by me')"),
)
LAYOUT = judgement.error(
    "NPZ101",
    "An archive has the arrays of a motion (joint_displacement or link_position), or "
    "of a known layout.",
    example=("q=…, frame_rate=100", "joint_displacement=…, frame_rate=100"),
)
SHAPE = judgement.error(
    "NPZ102",
    "The arrays of a motion have shapes that fit together.",
    example=(
        "joint_displacement of shape (10,)",
        "joint_displacement of shape (10, 1)",
    ),
)
RATE = judgement.error(
    "NPZ103",
    "A motion has a frame rate, or times.",
    example=("joint_displacement=…", "joint_displacement=…, fps=100"),
)
NAMES = judgement.error(
    "NPZ104",
    "An archive has names of joints, or the caller gives them.",
    "joint_names=[…] (--joint-names) gives the names in the file's order; with a "
    "model alone, they are in order of joint id",
    example=("load('dance.npz')", "load('dance.npz', joint_names=['HIP', 'KNEE'])"),
)
ORDER = judgement.warning(
    "NPZ105",
    "Columns of joints have names, which are matched with those of the model.",
    "joint_names=[…] (--joint-names) names the columns",
    example=(
        "load('dance.npz', body=robot)",
        "load('dance.npz', body=robot, joint_names=['HIP', 'KNEE'])",
    ),
)
UNREAD = judgement.note(
    "NPZ106",
    "Arrays that follow from others, or are not known, are not read.",
    example=("joint_displacement=…, effort=…", "joint_displacement=…"),
)
GUESSED_ORDER = judgement.note(
    "NPZ107",
    "The layout defines the order of a quaternion's numbers. Otherwise it is the "
    "order in which the root is upright.",
    "quaternion_order=… (--quaternion-order) states the order",
    example=("load('dance.pkl')", "load('dance.pkl', quaternion_order='xyzw')"),
)
ASSUMED_RATE = judgement.note(
    "NPZ108",
    "Files of loco-mujoco have no frame rate. 500 Hz is assumed.",
    "frame_rate=… (--input-rate) gives the rate",
    example=("load('walk.npz')", "load('walk.npz', frame_rate=500)"),
)
KNOWN_ORDER = judgement.note(
    "NPZ109",
    "29 joints without names are read as those of the Unitree G1, in MuJoCo's order.",
    "joint_names=[…] (--joint-names) names the columns",
    example=("load('dance.pkl')", "load('dance.pkl', joint_names=['HIP', 'KNEE'])"),
)
