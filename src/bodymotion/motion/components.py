"""The components of a motion, named as in the .seq document: tables with one row per frame.

Joint displacements [rad or m] are in order of joint id, or in the order of their part labels, where these are names of joints.
Link poses are in order of link index (the order of a depth-first walk of the link tree).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.motion.timeline import Timeline

__all__ = [
    "JOINT_DISPLACEMENT",
    "JOINT_EFFORT",
    "LINK_POSITION",
    "ZMP",
    "Component",
    "MultiSE3Seq",
    "MultiValueSeq",
    "OtherSeq",
    "TimedComponent",
    "Vector3Seq",
]

JOINT_DISPLACEMENT = "JointDisplacement"
JOINT_EFFORT = "JointEffort"
LINK_POSITION = "LinkPosition"
ZMP = "ZMP"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Seq(ContentEquality):
    content: str
    timeline: Timeline
    values: Floats
    part_labels: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    def _check(self, shape: tuple[int | None, ...]) -> None:
        object.__setattr__(self, "values", frozen(self.values, shape, f"values of {self.content}"))
        if len(self.values) != self.timeline.num_frames:
            raise ValueError(f"{self.content}: {len(self.values)} rows of values for {self.timeline.num_frames} frames")

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.values.shape))
        return f"{type(self).__name__}({self.content}: {shape}, {self.timeline})"

    @property
    def num_frames(self) -> int:
        """The number of frames."""
        return self.timeline.num_frames

    def part(self, frames: slice, since: float | None = None) -> Self:
        """Return the component with some of its frames only; arguments and errors are those of `Timeline.part`."""
        return replace(self, timeline=self.timeline.part(frames, since), values=self.values[frames])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MultiValueSeq(_Seq):
    """Several numbers per frame: `values` (T, P). With the content JointDisplacement: P joints in order of joint id."""

    def __post_init__(self) -> None:
        self._check((None, None))

    @property
    def num_parts(self) -> int:
        """The count of numbers in a frame."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MultiSE3Seq(_Seq):
    """Several poses per frame: `values` (T, P, 7), each x y z [m] and the quaternion w x y z, in the world frame."""

    def __post_init__(self) -> None:
        self._check((None, None, 7))

    @property
    def num_parts(self) -> int:
        """The count of poses in a frame."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Vector3Seq(_Seq):
    """One vector per frame: `values` (T, 3); in the root link's frame when `is_root_relative`, else in the world's."""

    is_root_relative: bool = False

    def __post_init__(self) -> None:
        self._check((None, 3))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OtherSeq(ContentEquality):
    """A component of a type that the document does not define: everything that the file has there, as plain values, in `extra`."""

    type: str
    content: str
    extra: Mapping[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"OtherSeq({self.content}: unknown type {self.type!r}, {len(self.extra)} keys)"


TimedComponent: TypeAlias = MultiValueSeq | MultiSE3Seq | Vector3Seq
Component: TypeAlias = TimedComponent | OtherSeq
