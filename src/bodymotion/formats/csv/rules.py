"""The rules of tables of motion. All are ours: there is no document."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

NO_NAMES = Rule(
    "CSV001",
    "error",
    "The first line names the columns, or the reader is told what they are.",
    "judgement",
    "layout='unitree' (--layout unitree) says: x y z, qx qy qz qw, joints; columns=[…] (--columns) names any others",
    example=("0.0,0.1,0.2", "time,HIP [rad],KNEE [rad]"),
)
NO_TIME = Rule(
    "CSV002",
    "error",
    "A table says when its frames are: by a column 'time', or by a frame rate that the reader is told.",
    "judgement",
    "frame_rate=… (--input-rate) gives the rate in frames per second",
    example=("frame,HIP [rad]", "time,HIP [rad]"),
)
QUATERNION_ORDER = Rule(
    "CSV003",
    "error",
    "The order of a quaternion's numbers is said by the columns' names, or to the reader.",
    "judgement",
    "quaternion_order='wxyz' or 'xyzw' (--quaternion-order) says it; columns root_qw root_qx root_qy root_qz need nothing",
    example=("root_q0,root_q1,root_q2,root_q3", "root_qw,root_qx,root_qy,root_qz"),
)
UNIT = Rule(
    "CSV004",
    "error",
    "The unit of angles is said where it is in doubt.",
    "judgement",
    "degrees=True or False (--degrees, --radians) says it; names such as 'KNEE [deg]' do, too",
    example=("time,HIP\n0.0,90", "time,HIP [deg]\n0.0,90"),
)
POSE = Rule(
    "CSV005",
    "error",
    "A pose has all of x y z and an orientation.",
    "judgement",
    example=("root_x,root_y,height", "root_x,root_y,root_z"),
)
NAMES = Rule(
    "CSV006",
    "error",
    "The names of columns are different from each other, and their units known.",
    "judgement",
    example=("HIP [rad],HIP [rad]", "HIP [rad],KNEE [rad]"),
)
COLUMNS = Rule(
    "CSV007",
    "error",
    "There are as many columns as the layout or the names say.",
    "judgement",
    example=("columns=['time', 'HIP'] for three columns", "columns=['time', 'HIP', 'KNEE']"),
)
TIME_ORDER = Rule(
    "CSV008",
    "error",
    "The time of each frame is greater than that of the frame before it.",
    "judgement",
    example=("0.0,0.3,0.4", "0.1,0.3,0.4"),
)
NOT_UNIT = Rule(
    "CSV010",
    "error",
    "The quaternions of a pose are of length 1.",
    "judgement",
    "other lengths come of another order of columns, of another unit, or of angles",
    example=("0,0,0.8,2,0,0,0", "0,0,0.8,1,0,0,0"),
)
ASSUMED = Rule(
    "CSV011",
    "note",
    "Angles whose unit is said neither by their names nor to the reader are radians.",
    "judgement",
    "degrees=True (--degrees) if they are degrees; degrees=False (--radians), or names such as 'KNEE [rad]', say that they are not",
    example=("time,HIP\n0.0,0.1", "time,HIP [rad]\n0.0,0.1"),
)

RETIRED = {"CSV009": "MOT101"}

RULES: tuple[Rule, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Rule))
"""All rules, in the order of their codes."""
