"""The components of a motion, named as in the .seq document: tables with a row per frame.

Joint displacements stand in order of joint id [rad or m], or in the order of their part labels, where these are names of joints;
link positions in order of link index (the order of a depth-first walk of the link tree).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

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
    "Vector3Seq",
    "in_words",
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
        return f"{type(self).__name__}({self.content}: {shape}, {in_words(self.timeline)})"

    @property
    def num_frames(self) -> int:
        """How many frames the component has."""
        return self.timeline.num_frames


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MultiValueSeq(_Seq):
    """Several numbers a frame: `values` (T, P). With the content JointDisplacement: P joints in order of joint id."""

    def __post_init__(self) -> None:
        self._check((None, None))

    @property
    def num_parts(self) -> int:
        """How many numbers a frame has."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MultiSE3Seq(_Seq):
    """Several poses a frame: `values` (T, P, 7), each x y z [m] and the quaternion w x y z, in the world frame."""

    def __post_init__(self) -> None:
        self._check((None, None, 7))

    @property
    def num_parts(self) -> int:
        """How many poses a frame has."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Vector3Seq(_Seq):
    """One vector a frame: `values` (T, 3); in the root link's frame when `is_root_relative`, else in the world's."""

    is_root_relative: bool = False

    def __post_init__(self) -> None:
        self._check((None, 3))


@dataclass(frozen=True, eq=False, kw_only=True)
class OtherSeq(ContentEquality):
    """A component of a type that the document does not know: all that the file says of it, as plain values, in `extra`."""

    type: str
    content: str
    extra: Mapping[str, object] = field(default_factory=dict)


Component: TypeAlias = MultiValueSeq | MultiSE3Seq | Vector3Seq | OtherSeq


def in_words(timeline: Timeline) -> str:
    """Say how long a timeline is, and how its frames are timed."""
    frames = f"{timeline.num_frames} frames"
    if timeline.frame_rate is not None:
        return f"{frames} at {timeline.frame_rate:g} Hz"
    if not timeline.num_frames:
        return frames
    return f"{frames} with time stamps from {timeline.times[0]:g} s to {timeline.times[-1]:g} s"
