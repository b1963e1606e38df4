"""Links, the joints that hold them, and the segments that they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.geometry.shapes import Shape

__all__ = ["MOST_LINKS", "MOVING", "Joint", "JointType", "Link", "Segment"]

JointType: TypeAlias = Literal["rotate", "slide", "free", "fixed", "crawler"]

MOST_LINKS = 10_000
"""Models of more links are not read: each is looked at by itself wherever a body is read, drawn or checked, and no robot has them."""

MOVING = ("rotate", "slide", "crawler", "free")
"""The joint types that have a column without an id too; the root has none then, and that of a free joint moves nothing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint(ContentEquality):
    """The joint between a link and its parent, with the fields of the OpenHRP document.

    Attributes
    ----------
    name, type, id:
        `id` is −1 where the file gives none. A crawler's value moves its belt and no link.
    axis:
        (3,) unit vector in the link's frame; of no meaning for free and fixed joints.
    lower, upper:
        [rad or m], ±inf where there is no limit.
    velocity_lower, velocity_upper:
        [rad/s or m/s], ±inf where there is no limit.
    gear_ratio, gear_efficiency, rotor_inertia [kg m²], rotor_resistor [Ω], torque_const [Nm/A], encoder_pulse:
        The motor and its gear.
    extra:
        All other fields as the file gives them.
    """

    name: str = ""
    type: JointType = "fixed"
    id: int = -1
    axis: Floats = field(default_factory=lambda: frozen([0.0, 0.0, 1.0]))
    lower: float = -np.inf
    upper: float = np.inf
    velocity_lower: float = -np.inf
    velocity_upper: float = np.inf
    gear_ratio: float = 1.0
    gear_efficiency: float = 1.0
    rotor_inertia: float = 0.0
    rotor_resistor: float = 0.0
    torque_const: float = 1.0
    encoder_pulse: float = 1.0
    extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", frozen(self.axis, (3,), "axis"))

    def __repr__(self) -> str:
        ranged = f", {self.lower:.4g} to {self.upper:.4g}" if np.isfinite([self.lower, self.upper]).any() else ""
        return f"Joint({self.name!r}: {self.type}, id {self.id}{ranged})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Segment(ContentEquality):
    """A rigid part of a link: `transform` (4, 4) in the link; all else in the segment's own frame.

    `mass` [kg], `center_of_mass` (3,) [m], `inertia` (3, 3) [kg m²] about the centre of mass.
    """

    name: str = ""
    transform: Floats = field(default_factory=lambda: frozen(np.eye(4)))
    mass: float = 0.0
    center_of_mass: Floats = field(default_factory=lambda: frozen(np.zeros(3)))
    inertia: Floats = field(default_factory=lambda: frozen(np.zeros((3, 3))))
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "transform", frozen(self.transform, (4, 4), "transform"))
        object.__setattr__(self, "center_of_mass", frozen(self.center_of_mass, (3,), "center_of_mass"))
        object.__setattr__(self, "inertia", frozen(self.inertia, (3, 3), "inertia"))

    def __repr__(self) -> str:
        shapes = f"{len(self.visuals)} visual and {len(self.collisions)} collision shapes"
        return f"Segment({self.name!r}: {self.mass:.4g} kg, {shapes})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Link(ContentEquality):
    """A rigid body of the tree.

    `index` counts links depth-first; `parent` is the parent's index, −1 for the root; `offset` (7,) the pose in the parent at joint
    value 0 (for the root: in the world). Masses and shapes come from the segments, put together in the link's frame.
    """

    name: str = ""
    index: int = 0
    parent: int = -1
    joint: Joint = field(default_factory=Joint)
    offset: Floats = field(default_factory=lambda: poses.IDENTITY)
    segments: tuple[Segment, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", frozen(self.offset, (7,), "offset"))

    def __repr__(self) -> str:
        place = "root" if self.parent < 0 else f"parent {self.parent}"
        return f"Link({self.name!r}: index {self.index}, {place}, {self.joint.type} joint, {self.mass:.4g} kg)"

    @cached_property
    def mass(self) -> float:
        """The sum [kg] of the segments' masses."""
        return float(sum(segment.mass for segment in self.segments))

    @cached_property
    def center_of_mass(self) -> Floats:
        """Where the mass is (3,) [m], in the link's frame: Σ m·(T·c) / Σ m; the origin for a link without mass."""
        if self.mass == 0:
            return frozen(np.zeros(3))
        if len(self.segments) == 1:
            return frozen(_placed(self.segments[0]))
        moment = np.zeros(3)
        for segment in self.segments:
            moment += segment.mass * _placed(segment)
        return frozen(moment / self.mass)

    @cached_property
    def inertia(self) -> Floats:
        """The inertia tensor (3, 3) [kg m²] about the centre of mass, along the link's axes.

        Each segment's tensor is turned into the link's axes and moved to the common centre of mass (Huygens–Steiner).
        """
        if len(self.segments) == 1:
            turn = self.segments[0].transform[:3, :3]
            return frozen(turn @ self.segments[0].inertia @ turn.T)
        total = np.zeros((3, 3))
        for segment in self.segments:
            turn = segment.transform[:3, :3]
            arm = _placed(segment) - self.center_of_mass
            total += turn @ segment.inertia @ turn.T
            total += segment.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return frozen(total)

    @cached_property
    def visuals(self) -> tuple[Shape, ...]:
        """What is seen of the link, in its frame."""
        return tuple(shape.moved(segment.transform) for segment in self.segments for shape in segment.visuals)

    @cached_property
    def collisions(self) -> tuple[Shape, ...]:
        """What touches other things, in the link's frame."""
        return tuple(shape.moved(segment.transform) for segment in self.segments for shape in segment.collisions)


def _placed(segment: Segment) -> Floats:
    return np.asarray(segment.transform[:3, :3] @ segment.center_of_mass + segment.transform[:3, 3])
