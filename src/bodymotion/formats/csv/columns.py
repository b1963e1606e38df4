"""What a column is, by its name."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "AXES",
    "FEET",
    "FOOT_CONTACT",
    "QUATERNION_ORDERS",
    "Column",
    "QuaternionOrder",
    "column",
    "unitree_columns",
]

QuaternionOrder: TypeAlias = Literal["wxyz", "xyzw"]
QUATERNION_ORDERS: tuple[str, ...] = ("wxyz", "xyzw")
AXES = ("x", "y", "z", "qw", "qx", "qy", "qz")
"""The numbers of a pose, in our order."""

FEET = ("fl", "fr", "hl", "hr")
"""The feet of Spot, as its contacts name them."""
FOOT_CONTACT = "FootContact"
"""The content of the component with the contacts."""

Kind: TypeAlias = Literal["time", "frame", "pose", "angle", "unclear", "zmp", "relative zmp", "contact", "joint"]

_UNIT = re.compile(r"[\[(]\s*+([a-zA-Zµ°]++)\s*+[\])]\Z")
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
    "deg": math.pi / 180,
    "°": math.pi / 180,
}
_ROOT = re.compile(
    r"(?:root|base)_(?:pos(?:ition)?_|quat(?:ernion)?_)?(x|y|z|q[wxyz]|roll|pitch|yaw|q[0-3])", re.IGNORECASE
)
_QUATERNION_PART = re.compile(r"(?:root|base)_quat(?:ernion)?_([wxyz])", re.IGNORECASE)
_LINK = re.compile(r"link/(.*)/(x|y|z|q[wxyz])", re.DOTALL)
_ZMP = re.compile(r"(root_relative_)?zmp_([xyz])", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """A column's kind; of a pose, which link (`part`; "" is the root) and number (`index`); its unit as a factor, None if unsaid."""

    kind: Kind
    name: str
    index: int = 0
    part: str = ""
    factor: float | None = None


def column(text: str) -> Column | None:
    """Say what a name stands for; None for a unit that is not known."""
    name, factor = text, None
    if match := _UNIT.search(text):
        factor = _UNITS.get(match[1].lower())
        if factor is None:
            return None
        name = text[: match.start()].rstrip()
    low = name.lower()
    if low in ("time", "t", "timestamp", "time_s"):
        return Column("time", name, factor=factor)
    if low in ("frame", "frame_index", "frame_id"):
        return Column("frame", name, factor=factor)
    if name.endswith("_contact") and name[:-8] in FEET and factor is None:
        return Column("contact", name, FEET.index(name[:-8]))
    if match := _LINK.fullmatch(name):
        return Column("pose", name, AXES.index(match[2]), match[1], factor)
    if match := _ZMP.fullmatch(name):
        return Column("relative zmp" if match[1] else "zmp", name, "xyz".index(match[2].lower()), factor=factor)
    if match := _QUATERNION_PART.fullmatch(name):
        return Column("pose", name, AXES.index(f"q{match[1].lower()}"), factor=factor)
    if match := _ROOT.fullmatch(name):
        axis = match[1].lower()
        if axis in AXES:
            return Column("pose", name, AXES.index(axis), factor=factor)
        if axis in ("roll", "pitch", "yaw"):
            return Column("angle", name, ("roll", "pitch", "yaw").index(axis), factor=factor)
        return Column("unclear", name, int(axis[1]), factor=factor)
    return Column("joint", name, factor=factor)


def unitree_columns(count: int, order: QuaternionOrder = "xyzw") -> list[str]:
    """Name the columns of a table x y z, quaternion, joints."""
    turn = [f"root_q{letter}" for letter in order]
    return ["root_x", "root_y", "root_z", *turn, *(f"joint_{k}" for k in range(count - 7))]
