"""A Spot move as the document of animation files describes it.

Options, parameters and keyframes.

Units are metres, radians and seconds; a slice is a quarter of a beat. Values are kept
as in the file, under the names of the document's single columns and in its order.
`bodymotion.spot.playback` plays them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, ShortRepr, Source, WrongUseError
from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry.arrays import Bools, ContentEquality, Floats, frozen
from bodymotion.model.scripts import RobotScript
from bodymotion.motion.feet import LEGS
from bodymotion.system.deferred import NotebookDisplay, provided_by

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion
    from bodymotion.spot.playback.recording import LegColumns
    from bodymotion.spot.playback.stance import SpotPose

# The parts of the robot that an animation may control.
TRACKS = ("legs", "body", "arm", "gripper")


def _legs(*endings: str) -> tuple[str, ...]:
    return tuple(f"{leg}_{ending}" for leg, ending in product(LEGS, endings))


# The keywords for several columns, each with its single columns in their order.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "arm_joints": ("shoulder0", "shoulder1", "elbow0", "elbow1", "wrist0", "wrist1"),
    "hand_pos": ("hand_x", "hand_y", "hand_z"),
    "hand_quat_wxyz": ("hand_quat_w", "hand_quat_x", "hand_quat_y", "hand_quat_z"),
    "hand_quat_xyzw": ("hand_quat_x", "hand_quat_y", "hand_quat_z", "hand_quat_w"),
    "hand_euler_rpy": ("hand_roll", "hand_pitch", "hand_yaw"),
    "body_pos": ("body_x", "body_y", "body_z"),
    "com_pos": ("com_x", "com_y", "com_z"),
    "body_quat_wxyz": ("body_quat_w", "body_quat_x", "body_quat_y", "body_quat_z"),
    "body_quat_xyzw": ("body_quat_x", "body_quat_y", "body_quat_z", "body_quat_w"),
    "body_euler_rpy": ("body_roll", "body_pitch", "body_yaw"),
    "leg_joints": _legs("hx", "hy", "kn"),
    "foot_pos": _legs("x", "y", "z"),
    "contact": _legs("contact"),
    **{f"{leg}_angles": (f"{leg}_hx", f"{leg}_hy", f"{leg}_kn") for leg in LEGS},
    **{f"{leg}_pos": (f"{leg}_x", f"{leg}_y", f"{leg}_z") for leg in LEGS},
}


@dataclass(frozen=True)
class Parameter(ShortRepr):
    """The range of a parameter.

    All None where the animation only names it and the robot has the range.
    """

    minimum: float | None = None
    default: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Keyframes(ContentEquality):
    """The keyframes as a table.

    Attributes
    ----------
    columns:
        The names of the C single columns in the file's order, without `time`.
    values:
        (N, C), a row for each keyframe.
    times:
        (N,) [s]; from the column `time`, or from the option `frequency`.
    header:
        The keywords of the line of columns, in its order, groups as groups, with `time`
        where it is a column. Where it is empty, the writer chooses the keywords.
    exact_zeros:
        (N, C) bool, or None for all: which zeros are the bare text `0`. The vendor's
        message holds 1e-6 for these in a group.
    """

    columns: tuple[str, ...] = ()
    values: Floats = field(default_factory=lambda: frozen(np.zeros((0, 0))))
    times: Floats = field(default_factory=lambda: frozen(np.zeros(0)))
    header: tuple[str, ...] = field(default=(), compare=False)
    exact_zeros: Bools | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Freeze the arrays; ValueError for shapes that do not agree."""
        object.__setattr__(self, "times", frozen(self.times, (None,), "times"))
        object.__setattr__(
            self,
            "values",
            frozen(self.values, (len(self.times), len(self.columns)), "values"),
        )
        if self.exact_zeros is not None:
            # A view: the caller's array stays writable.
            zeros = np.asarray(self.exact_zeros, np.bool_).view()
            if zeros.shape != self.values.shape:
                raise ValueError(
                    f"exact_zeros: expected shape {self.values.shape}, got "
                    f"{zeros.shape}"
                )
            zeros.flags.writeable = False
            object.__setattr__(self, "exact_zeros", zeros)

    def __len__(self) -> int:
        return len(self.times)

    def has(self, name: str) -> bool:
        """Return whether there is a single column, or all columns of a group."""
        return all(column in self._indices for column in GROUPS.get(name, (name,)))

    def column(self, name: str) -> Floats:
        """Return the values of a column, or of a group of columns.

        (N,) of a single column, or (N, K) of a group's columns in the group's order.

        Raises
        ------
        KeyError
            When a column of these is missing.
        """
        if name in GROUPS:
            return frozen(
                self.values[:, [self._indices[column] for column in GROUPS[name]]]
            )
        return frozen(self.values[:, self._indices[name]])

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {column: index for index, column in enumerate(self.columns)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Animation(RobotScript, NotebookDisplay, ContentEquality):
    """A Spot move.

    Attributes
    ----------
    name:
        The move's name: that of the file up to the first ".cha".
    options:
        In the file's order, under the document's keywords: `controls` a tuple of
        tracks, `bpm`, `frequency` and
        `timing_adjustability` floats, `display_rgb` three ints, `description` and
        `arm_playback` texts, True for the others.
    parameters:
        In the file's order, under the names of the vendor's AnimateParams message.
    keyframes:
        The table of keyframes.
    """

    name: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    keyframes: Keyframes = field(default_factory=Keyframes)
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    source: Source = field(default_factory=Source, compare=False)

    def with_parameters(self, values: Mapping[str, float]) -> Animation:
        """Return the animation with other defaults of parameters, by name.

        Raises
        ------
        ValueError
            When it has no such parameter, or a value is not finite or outside of the
            parameter's range.
        """
        changed = dict(self.parameters)
        for name, value in values.items():
            if name not in changed:
                raise WrongUseError(
                    f"the animation has no parameter {name!r}; {choices(name, changed)}"
                )
            low = changed[name].minimum
            high = changed[name].maximum
            if (
                not isfinite(value)
                or (low is not None and value < low)
                or (high is not None and value > high)
            ):
                ends = ["" if end is None else f"{end:g}" for end in (low, high)]
                raise WrongUseError(
                    f"{name}: expected a number of {' to '.join(ends)}, got {value:g}"
                )
            changed[name] = replace(changed[name], default=float(value))
        return replace(self, parameters=changed)

    def _summary(self) -> str:
        tracks = ", ".join(self.controls) or "no tracks"
        return (
            f"Animation({self.name!r}: {tracks}; {len(self.keyframes)} keyframes, "
            f"{self.duration:g} s)"
        )

    @classmethod
    @provided_by("bodymotion.spot.playback.recording:animation_of")
    def from_motion(
        cls,
        motion: Motion,
        *,
        legs: LegColumns = "joints",
        name: str = "",
        bpm: float | None = None,
    ) -> Animation:
        """Return a motion of Spot as an animation.

        It has a keyframe for each frame, and contacts.

        The body of a motion without a root pose does not move; `problems` reports it
        (LOSS076).

        Parameters
        ----------
        motion:
            Joints of Spot by name (`fl_hx` … `hr_kn`, with the arm `sh0` … `wr1` and
            `gripper`; names of the SDK and of the URDF also work), and the pose of the
            body. Contacts are those of a component FootContact, otherwise they are
            inferred.
        legs:
            Whether the animation has the "joints" of the legs or the positions of the
            "feet".
        name, bpm:
            Name and beats per minute of the move.

        Raises
        ------
        ValueError
            When it is not a motion of Spot, has no frames, or has numbers that are not
            finite.
        """
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The name for people: blanks for underscores, each word capitalized."""
        return " ".join(
            word.capitalize() for word in self.name.replace("_", " ").split(" ")
        )

    @property
    def controls(self) -> tuple[str, ...]:
        """The tracks that the animation controls."""
        tracks = self.options.get("controls", ())
        if isinstance(tracks, (tuple, list)):
            return tuple(str(track) for track in tracks)
        return ()

    @property
    def bpm(self) -> float | None:
        """The nominal beats per minute, or None."""
        bpm = self.options.get("bpm")
        if isinstance(bpm, Real) and not isinstance(bpm, bool):
            return float(bpm)
        return None

    @property
    def duration(self) -> float:
        """From time 0 to the last keyframe [s]; 0 without keyframes."""
        if len(self.keyframes):
            return float(self.keyframes.times[-1])
        return 0.0

    @provided_by("bodymotion.spot.playback.playing:play")
    def play(
        self,
        *,
        bpm: float | None = None,
        slices: float | None = None,
        parameters: Mapping[str, float] | None = None,
        start: SpotPose | Motion | None = None,
        arm: bool | None = None,
        frame_rate: float | None = None,
        dance_frames: Mapping[int, npt.ArrayLike] | None = None,
    ) -> Motion:
        """Return the motion that the animation commands.

        At a script's tempo `bpm`, for a number of `slices`, with `parameters`.

        See `bodymotion.spot.playback.play` for the arguments, the errors and how Spot
        plays an animation.
        """
        raise NotImplementedError

    @provided_by("bodymotion.spot.playback.playing:body_and_motion")
    def body_and_motion(self, *, bpm: float | None = None) -> tuple[Body, Motion]:
        """Return Spot, with its arm where the animation needs it, and its motion."""
        raise NotImplementedError
