"""The base of what is written for one kind of robot and becomes its motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import with_article
from bodymotion.extensions import extensions, kind_of, kinds

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem, Source
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion


class RobotScript:
    """Base of values that one kind of robot plays, such as files of its vendor.

    An extension registers each subclass as a kind (`bodymotion.extensions.Kind`).
    """

    if TYPE_CHECKING:

        @property
        def problems(self) -> tuple[Problem, ...]:
            """All problems of its file."""

        @property
        def source(self) -> Source:
            """Where it was read from."""

    @property
    def title(self) -> str:
        """The name for people."""
        return str(getattr(self, "name", ""))

    def body_and_motion(self, *, bpm: float | None = None) -> tuple[Body, Motion]:
        """Return the robot, and the motion of the script on it.

        `bpm` is the tempo [beats per minute] of a kind that has one.
        """
        raise NotImplementedError


def is_played(motion: Motion) -> bool:
    """Return whether an extension made a motion by playing a script."""
    return any(extension.name in motion.extra for extension in extensions())


def play_together(scripts: Sequence[RobotScript]) -> list[Motion]:
    """Return the motions of scripts, all for the same robot."""
    kind = kind_of(scripts[0])
    play = None if kind is None else kind.function("play_together")
    if play is None:
        return [script.body_and_motion()[1] for script in scripts]
    motions: list[Motion] = play(scripts)
    return motions


def tempo_error() -> WrongUseError:
    """Return the error that a tempo was given to something that is played without."""
    names = [with_article(kind.noun) for kind in kinds() if kind.has_tempo]
    return WrongUseError(f"only {' or '.join(names) or 'a script'} has a tempo")
