"""What the columns of a table are, by their names.

A name may end with a unit, in brackets or parentheses: `HIP [deg]`, `time (ms)`.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bodymotion.motion.feet import LEGS

# The numbers of a pose, in the order of this package.
AXES = ("x", "y", "z", "qw", "qx", "qy", "qz")
ANGLES = ("roll", "pitch", "yaw")
# The first columns of a table that `write_csv` makes of a motion with a root pose. Its
# angles are in radians.
OWN_COLUMNS = ["time", *(f"root_{axis}" for axis in AXES)]

Kind: TypeAlias = Literal[
    "time",
    "frame",
    "pose",
    "angle",
    "unclear",
    "zmp",
    "relative zmp",
    "contact",
    "joint",
]

DEGREE = math.pi / 180
# The factor of each unit to SI units.
_UNITS = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "m": 1.0,
    "cm": 1e-2,
    "mm": 1e-3,
    "rad": 1.0,
    "rad|m": 1.0,
    "deg": DEGREE,
    "°": DEGREE,
}
# A unit in brackets or parentheses at the end of a name.
_UNIT = re.compile(r"[\[(]\s*+([a-zA-Zµ°|]++)\s*+[\])]\Z")
# root_x, root_pos_x, base_quat_w, root_roll …
_ROOT = re.compile(
    r"(?:root|base)_(?:pos(?:ition)?_|quat(?:ernion)?_)?"
    r"(x|y|z|q[wxyz]|roll|pitch|yaw|q[0-3])",
    re.IGNORECASE,
)
# root_quat_x is a quaternion's x; `_ROOT` would take it for a position.
_QUATERNION_PART = re.compile(r"(?:root|base)_quat(?:ernion)?_([wxyz])", re.IGNORECASE)
_LINK = re.compile(r"link/(.*)/(x|y|z|q[wxyz])", re.DOTALL)
_ZMP = re.compile(r"(root_relative_)?zmp_([xyz])", re.IGNORECASE)
_TIMES = ("time", "t", "timestamp", "time_s")
_FRAMES = ("frame", "frame_index", "frame_id")
_CONTACT = "_contact"


@dataclass(frozen=True)
class Column:
    """What a column is.

    Attributes
    ----------
    kind, name:
        Its kind, and its name without the unit.
    index:
        The number of a part of a pose, of an angle, a quaternion or a ZMP.
    part:
        The link of a pose; "" is the root.
    factor:
        The factor to SI units; None without a unit.
    """

    kind: Kind
    name: str
    index: int = 0
    part: str = ""
    factor: float | None = None


def column(text: str) -> Column | None:
    """Return the column that a name stands for.

    None for an unknown unit.
    """
    name = text
    factor = None
    if match := _UNIT.search(text):
        factor = _UNITS.get(match[1].lower())
        if factor is None:
            return None
        name = text[: match.start()].rstrip()
    # The first that knows the name; any other name is that of a joint.
    for recognize in _RECOGNIZERS:
        found = recognize(name)
        # A contact has no unit.
        if found is not None and (factor is None or found.kind != "contact"):
            return replace(found, factor=factor)
    return Column("joint", name, factor=factor)


def _time_or_frame(name: str) -> Column | None:
    if name.lower() in _TIMES:
        return Column("time", name)
    if name.lower() in _FRAMES:
        return Column("frame", name)
    return None


def _contact(name: str) -> Column | None:
    foot = name.removesuffix(_CONTACT)
    if foot == name or foot not in LEGS:
        return None
    return Column("contact", name, LEGS.index(foot))


def _link_pose(name: str) -> Column | None:
    match = _LINK.fullmatch(name)
    if match is None:
        return None
    return Column("pose", name, AXES.index(match[2]), match[1])


def _zmp(name: str) -> Column | None:
    match = _ZMP.fullmatch(name)
    if match is None:
        return None
    axis = "xyz".index(match[2].lower())
    if match[1]:
        return Column("relative zmp", name, axis)
    return Column("zmp", name, axis)


def _root_pose(name: str) -> Column | None:
    if match := _QUATERNION_PART.fullmatch(name):
        return Column("pose", name, AXES.index(f"q{match[1].lower()}"))
    match = _ROOT.fullmatch(name)
    if match is None:
        return None
    axis = match[1].lower()
    if axis in AXES:
        return Column("pose", name, AXES.index(axis))
    if axis in ANGLES:
        return Column("angle", name, ANGLES.index(axis))
    # q0 … q3: which of them is w is not known.
    return Column("unclear", name, int(axis[1]))


_RECOGNIZERS: tuple[Callable[[str], Column | None], ...] = (
    _time_or_frame,
    _contact,
    _link_pose,
    _zmp,
    _root_pose,
)
