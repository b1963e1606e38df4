"""A Spot animation as scenes show it: played with settings, which can be changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.scene.playback import PlaybackSettings
from bodymotion.spot.animation import Animation
from bodymotion.spot.playback.dimensions import LEG_JOINTS
from bodymotion.spot.playback.playing import play
from bodymotion.spot.playback.robot import spot_body
from bodymotion.spot.playback.timing import Timing, timing
from bodymotion.spot.playback.timing import settings as parameter_values
from bodymotion.spot.playback.validation import checked

# How many times its natural length an extendable move can be made in the viewer.
MAX_LENGTH_FACTOR = 4.0
# [slices] How much longer than its natural length any extendable move can be made.
MIN_EXTENSION = 16.0
# [s] Times that differ by less are equal: they were computed along different ways.
SAME_TIME = 1e-9


@dataclass(frozen=True, eq=False)
class AnimationPlayback:
    """An animation that was played; a `Playback` of a scene.

    Attributes
    ----------
    animation:
        What is played.
    arm:
        Whether Spot has its arm; None: as the animation needs it.
    settings:
        Tempo, length and parameters.
    motion, timing:
        The motion that results, and its times.
    problems:
        The findings of `check` about the motion with the defaults of all parameters.
    """

    animation: Animation
    arm: bool | None
    settings: PlaybackSettings
    motion: Motion
    timing: Timing
    problems: tuple[Problem, ...] = ()

    @property
    def script(self) -> Animation:
        """The animation."""
        return self.animation

    @property
    def body(self) -> Body:
        """Spot, with arm or without."""
        joints = self.motion.joint_displacement
        has_arm = joints is not None and joints.num_parts > len(LEG_JOINTS)
        return spot_body(arm=has_arm)

    @property
    def slice(self) -> float:
        """The duration of a slice [s]."""
        return self.timing.slice

    @property
    def title(self) -> str:
        """The title of the move."""
        return self.animation.title.strip() or "Spot animation"

    def allowed(self, settings: PlaybackSettings) -> PlaybackSettings:
        """Return settings clipped to what the animation allows."""
        return settings_within(settings, self.animation)

    def with_settings(self, settings: PlaybackSettings) -> AnimationPlayback:
        """Play the animation with other settings. Raises as `play_animation` does."""
        motion = _play(self.animation, settings, self.arm)
        times = _timing(self.animation, settings)
        return replace(self, settings=settings, motion=motion, timing=times)

    @property
    def moments(self) -> tuple[tuple[float, Problem], ...]:
        """The times [s] of problems about keyframes that are shown."""
        moments = []
        for problem in self.problems:
            keyframe = self.keyframe_of(problem)
            if keyframe is None:
                continue
            time = self.time_of(keyframe)
            if time is not None:
                moments.append((time, problem))
        return tuple(moments)

    def keyframe_of(self, problem: Problem) -> int | None:
        """Return the keyframe, counted from 0, that a problem is about, if any."""
        match problem.subject:
            case ("keyframes", int() as keyframe, *_):
                if keyframe < len(self.animation.keyframes):
                    return keyframe
        return None

    def time_of(self, keyframe: int) -> float | None:
        """Return the time [s] at which a keyframe is first shown; None: it is not."""
        keyframe_time = float(self.animation.keyframes.times[keyframe])
        is_shown = self.timing.moments >= keyframe_time - SAME_TIME
        frame = int(np.argmax(is_shown))
        if is_shown[frame]:
            return float(self.timing.timeline.times[frame])
        return None


def play_animation(
    animation: Animation,
    settings: PlaybackSettings | None = None,
    arm: bool | None = None,
) -> AnimationPlayback:
    """Play an animation and validate it.

    Raises ValueError when it cannot be played so, see `bodymotion.spot.playback.play`;
    MemoryError when there would be too many frames.
    """
    settings = settings or PlaybackSettings()
    motion = _play(animation, settings, arm)
    times = _timing(animation, settings)
    problems = checked(animation, arm=arm)
    return AnimationPlayback(animation, arm, settings, motion, times, problems)


def settings_within(
    settings: PlaybackSettings, animation: Animation
) -> PlaybackSettings:
    """Return settings clipped to what an animation allows."""
    parameters = {}
    for name, value in settings.parameters.items():
        limits = animation.parameters.get(name)
        if limits is None:
            continue
        low = -np.inf if limits.minimum is None else limits.minimum
        high = np.inf if limits.maximum is None else limits.maximum
        if low <= high:
            parameters[name] = float(np.clip(value, low, high))
    clipped = PlaybackSettings(settings.bpm, None, parameters)
    if settings.slices is None:
        return clipped
    low, high = slice_range(animation, _timing(animation, clipped).natural)
    return replace(clipped, slices=float(np.clip(settings.slices, low, high)))


def slice_range(animation: Animation, natural: int) -> tuple[float, float]:
    """Return the shortest and the longest length of a move [slices].

    `natural` is its natural length [slices].
    """
    low = float(natural)
    high = float(natural)
    if "truncatable" in animation.options:
        low = min(1.0, natural)
    if "extendable" in animation.options:
        high = max(MAX_LENGTH_FACTOR * natural, natural + MIN_EXTENSION)
    return low, high


def _play(animation: Animation, settings: PlaybackSettings, arm: bool | None) -> Motion:
    return play(
        animation,
        bpm=settings.bpm,
        slices=settings.slices,
        parameters=settings.parameters,
        arm=arm,
    )


def _timing(animation: Animation, settings: PlaybackSettings) -> Timing:
    values = parameter_values(animation, settings.parameters)
    return timing(
        animation,
        bpm=settings.bpm,
        slices=settings.slices,
        speed=values["speed"],
        offset=values["offset_slices"],
    )
