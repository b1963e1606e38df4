"""Roles of joints, such as the left knee, and the figure that has them.

`figures` finds them for a person or a robot.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats

SIDES = ("left", "right")
LIMBS = {
    "leg": ("hip", "knee", "ankle", "toe"),
    "arm": ("shoulder", "elbow", "wrist", "hand"),
}
# All roles of a figure with two legs. One without arms or head lacks theirs.
ROLES = (
    "pelvis",
    "chest",
    "head",
    *(f"left {part}" for part in (*LIMBS["leg"], *LIMBS["arm"])),
    *(f"right {part}" for part in (*LIMBS["leg"], *LIMBS["arm"])),
)
ENDS = ("front", "hind")
LEGS = ("front left", "front right", "hind left", "hind right")
LEG_PARTS = ("hip", "knee", "foot")
LEG_ENDS = tuple(f"{leg} foot" for leg in LEGS)
# All roles of a figure with four legs.
QUADRUPED_ROLES = (
    "trunk",
    *(f"front left {part}" for part in LEG_PARTS),
    *(f"front right {part}" for part in LEG_PARTS),
    *(f"hind left {part}" for part in LEG_PARTS),
    *(f"hind right {part}" for part in LEG_PARTS),
)
# Decimals of lengths [m] and poses. The last digits depend on where a recording begins.
# Without rounding they would decide between postures that are equally good.
DIGITS = 9
LEFT = re.compile(r"left|(^|[\W_])l([\W_]|$)|^l[A-Z]", re.I)
RIGHT = re.compile(r"right|(^|[\W_])r([\W_]|$)|^r[A-Z]", re.I)
# Names of front legs; the forearm of an animal is in front, too.
FRONT = re.compile(r"front|fore|(^|[\W_])(f[lr]|[lr]f)([\W_]|$)", re.I)
HIND = re.compile(r"hind|rear|back|(^|[\W_])([hr][lr]|[lr]h)([\W_]|$)", re.I)
# Names of the heads of robots.
HEAD = re.compile("head|neck", re.I)
# Names of the fingers of robots, which stay still.
FINGER = re.compile(
    "finger|thumb|grip|proximal|intermediate|metacarp|distal|knuckle", re.I
)
# Names of fingers beyond a wrist, where a hand is one of them.
GRIP = re.compile(f"hand|{FINGER.pattern}", re.I)


class Point(NamedTuple):
    """A point (3,) [m] in the frame of a joint or link, by its index."""

    joint: int
    offset: Floats


@dataclass(frozen=True, eq=False)
class Figure:
    """A person or a robot, with the points that have roles.

    Attributes
    ----------
    name, names:
        Of the figure, and of its joints or links.
    reference:
        (N, 7) poses of all joints in one upright pose, z up [m].
    points:
        By role, the joint and the point in its frame.
    """

    name: str
    names: tuple[str, ...]
    reference: Floats
    points: Mapping[str, Point]

    def locate(self, role: str, joint_poses: Floats) -> Floats:
        """Return the positions (..., 3) of a role's point.

        `joint_poses` (..., N, 7) are those of all joints.
        """
        point = self.points[role]
        return poses.transform_points(joint_poses[..., point.joint, :], point.offset)

    def link_of(self, role: str) -> int:
        """Return the index of the joint or link that has a role."""
        return self.points[role].joint

    @property
    def is_quadruped(self) -> bool:
        """Whether it has four legs: its roles are `QUADRUPED_ROLES`."""
        return "trunk" in self.points

    @cached_property
    def rest(self) -> dict[str, Floats]:
        """The positions (3,) of all roles in the upright pose."""
        return {role: self.locate(role, self.reference) for role in self.points}

    @property
    def leg_length(self) -> float:
        """The mean length [m] of both legs, from hip to ankle."""
        left = self.length("left hip", "left knee", "left ankle")
        right = self.length("right hip", "right knee", "right ankle")
        return float(np.mean([left, right]))

    def length(self, *roles: str) -> float:
        """Return the length [m] of a limb in the upright pose, from role to role."""
        rest = np.array([self.locate(role, self.reference) for role in roles])
        return float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())
