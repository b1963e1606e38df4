"""The rules of tables of motion.

All are ours: there is no document.
"""

from bodymotion.diagnostics import judgement

NO_NAMES = judgement.error(
    "CSV001",
    "The first line names the columns, or the caller does.",
    "layout='unitree' (--layout unitree) is x y z, qx qy qz qw, joints; columns=[…] "
    "(--columns) names any other columns",
    example=("0.0,0.1,0.2", "time,HIP [rad],KNEE [rad]"),
)
NO_TIME = judgement.error(
    "CSV002",
    "A table has a column 'time', or the caller gives a frame rate.",
    "frame_rate=… (--input-rate) gives the rate in frames per second",
    example=("frame,HIP [rad]", "time,HIP [rad]"),
)
QUATERNION_ORDER = judgement.error(
    "CSV003",
    "The names of the columns, or the caller, define the order of a quaternion's "
    "numbers.",
    "give quaternion_order='wxyz' or 'xyzw' (--quaternion-order), or name the columns "
    "root_qw root_qx root_qy root_qz",
    example=("root_q0,root_q1,root_q2,root_q3", "root_qw,root_qx,root_qy,root_qz"),
)
UNIT = judgement.error(
    "CSV004",
    "Angles that look like degrees have a unit.",
    "give degrees=True or False (--input-degrees, --input-radians), or name the "
    "column 'KNEE [deg]'",
    example=("time,HIP\n0.0,90", "time,HIP [deg]\n0.0,90"),
)
POSE = judgement.error(
    "CSV005",
    "A pose has all of x y z and an orientation.",
    example=("root_x,root_y,height", "root_x,root_y,root_z"),
)
NAMES = judgement.error(
    "CSV006",
    "Each column has a name, no two the same, and their units are known. The index of "
    "pandas needs no name.",
    example=("HIP [rad],HIP [rad]", "HIP [rad],KNEE [rad]"),
)
COLUMNS = judgement.error(
    "CSV007",
    "The number of columns is that of the layout or of the names.",
    example=(
        "columns=['time', 'HIP'] for three columns",
        "columns=['time', 'HIP', 'KNEE']",
    ),
)
ASSUMED = judgement.note(
    "CSV011",
    "Angles without a unit are read as radians.",
    "give degrees=True (--input-degrees) if they are degrees; names such as 'KNEE "
    "[rad]', or --input-radians, confirm radians",
    example=("time,HIP\n0.0,0.1", "time,HIP [rad]\n0.0,0.1"),
)
GUESSED_ORDER = judgement.warning(
    "CSV012",
    "In a table of the layout 'unitree', the root is upright if quaternions are in "
    "the order x y z w.",
    "--quaternion-order (quaternion_order=) states the order",
    example=("0,0,0.8,1,0,0,0,0.1", "0,0,0.8,0,0,0,1,0.1"),
)
GUESSED_LAYOUT = judgement.note(
    "CSV013",
    "A table has names of columns. Without names, and with quaternions in columns 4 "
    "to 7, its layout is 'unitree', at 30 frames/s.",
    "layout='unitree' (--layout unitree) and frame_rate=… (--input-rate) confirm it",
    example=("load('dance.csv')", "load('dance.csv', layout='unitree')"),
)
NO_MOTION = judgement.error(
    "CSV015",
    "A Parquet or Arrow table has numbers of one motion, each column once.",
    example=("KNEE, KNEE", "KNEE"),
)
UNREAD = judgement.note(
    "CSV016",
    "Columns of Parquet or Arrow hold numbers or times.",
    example=("label: string", "KNEE: double"),
)

RETIRED = {"CSV008": "MOT105", "CSV009": "MOT101", "CSV010": "MOT104"}
