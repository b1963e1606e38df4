"""An animation as it is shown: how it is played now, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bodymotion.animation import Animation
from bodymotion.diagnostics import Problem
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.spot.playback import play, spot_body, validate
from bodymotion.spot.playback.parameters import settings
from bodymotion.spot.playback.timing import Timing, timing

__all__ = ["Performance", "Wishes", "perform", "slices_allowed"]

LONGEST = 4.0
"""So many times as long as it is by itself a move can be made in the viewer."""


@dataclass(frozen=True)
class Wishes:
    """How an animation is to be played: the script's tempo, the length [slices], and values of parameters; None as it is by itself."""

    bpm: float | None = None
    slices: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)

    def within(self, animation: Animation) -> Wishes:
        """Return those of the wishes that an animation allows, as near as it does."""
        parameters = {}
        for name, value in self.parameters.items():
            limits = animation.parameters.get(name)
            if limits is None:
                continue
            low = -np.inf if limits.minimum is None else limits.minimum
            high = np.inf if limits.maximum is None else limits.maximum
            if low <= high:
                parameters[name] = float(np.clip(value, low, high))
        wishes = Wishes(self.bpm, None, parameters)
        if self.slices is None:
            return wishes
        low, high = slices_allowed(animation, _timing(animation, wishes).natural)
        return replace(wishes, slices=float(np.clip(self.slices, low, high)))


@dataclass(frozen=True, eq=False)
class Performance:
    """An animation that was played.

    Attributes
    ----------
    arm:
        Whether it was asked for a Spot with arm; None: what fits the animation.
    wishes:
        How it is played.
    motion, timing:
        What that comes to.
    minded:
        What a robot would mind about it, with the defaults of all parameters.
    """

    animation: Animation
    arm: bool | None
    wishes: Wishes
    motion: Motion
    timing: Timing
    minded: tuple[Problem, ...] = ()

    @property
    def body(self) -> Body:
        """Spot, with arm or without."""
        joints = self.motion.joint_displacement
        return spot_body(arm=joints is not None and joints.num_parts > 12)

    @property
    def title(self) -> str:
        """What the move is called."""
        return self.animation.title.strip() or "Spot animation"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is odd about the file, and what a robot would mind."""
        return self.animation.problems + self.minded

    def again(self, wishes: Wishes) -> Performance:
        """Play it in another way. Raises as `perform` does."""
        motion, times = _played(self.animation, wishes, self.arm)
        return replace(self, wishes=wishes, motion=motion, timing=times)

    def keyframe_of(self, problem: Problem) -> int | None:
        """Return the keyframe, counted from 0, that a problem is about; None where it is about none."""
        subject = problem.subject
        is_keyframe = len(subject) > 1 and subject[0] == "keyframes" and isinstance(subject[1], int)
        return int(subject[1]) if is_keyframe and int(subject[1]) < len(self.animation.keyframes) else None

    def time_of(self, keyframe: int) -> float | None:
        """Return when [s] a keyframe is first shown; None where it is not."""
        at = float(self.animation.keyframes.times[keyframe])
        moments = self.timing.moments
        frame = int(np.argmax(moments >= at - 1e-9))
        return float(self.timing.timeline.times[frame]) if moments[frame] >= at - 1e-9 else None


def perform(animation: Animation, wishes: Wishes | None = None, arm: bool | None = None) -> Performance:
    """Play an animation, and look at what a robot would mind.

    Raises
    ------
    ValueError
        When it cannot be played so; see `bodymotion.spot.playback.play`.
    MemoryError
        When there would be too many frames.
    """
    wishes = wishes or Wishes()
    motion, times = _played(animation, wishes, arm)
    return Performance(animation, arm, wishes, motion, times, validate(animation, arm=arm))


def slices_allowed(animation: Animation, natural: int) -> tuple[float, float]:
    """Return the shortest and the longest a move can be made in the viewer, when it is `natural` slices long by itself."""
    low = min(1.0, natural) if "truncatable" in animation.options else float(natural)
    high = max(LONGEST * natural, natural + 16.0) if "extendable" in animation.options else float(natural)
    return low, high


def _played(animation: Animation, wishes: Wishes, arm: bool | None) -> tuple[Motion, Timing]:
    motion = play(animation, bpm=wishes.bpm, slices=wishes.slices, parameters=wishes.parameters, arm=arm)
    return motion, _timing(animation, wishes)


def _timing(animation: Animation, wishes: Wishes) -> Timing:
    values = settings(animation, wishes.parameters)
    return timing(
        animation, bpm=wishes.bpm, slices=wishes.slices, speed=values["speed"], offset=values["offset_slices"]
    )
