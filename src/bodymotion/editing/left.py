"""What an edit has to say of components that it does not know, or when there is nothing that it could change."""

from __future__ import annotations

from bodymotion.diagnostics import Location, Problem
from bodymotion.editing.rules import NOT_EDITED
from bodymotion.motion import Motion, OtherSeq

__all__ = ["unframed", "unframed_one"]


def unframed(motion: Motion, done: str) -> tuple[Problem, ...]:
    """Name the components of unknown types, which stay as they are; `done` is what the others are: "trimmed", "reversed"."""
    return tuple(unframed_one(c.type, c.content, done) for c in motion.components if isinstance(c, OtherSeq))


def unframed_one(kind: str, content: str, done: str) -> Problem:
    """Say of one such component that it stays as it is."""
    message = f"the {kind} {content!r} is not {done}: what its frames are is not known"
    return NOT_EDITED.problem(message, Location(inside=content or None))
