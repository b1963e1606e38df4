"""What a caller gives to be shown, drawn or told of: a body, motions, or an animation, as things or as files, in any order."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bodymotion.animation import Animation
from bodymotion.diagnostics import WrongUseError
from bodymotion.formats.registry import load
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.system.atomic_files import check_not_read

__all__ = ["Given", "Showable", "files_of", "sort_out"]

Showable: TypeAlias = Body | Motion | Animation | str | PathLike[str]


class Given(NamedTuple):
    """At most one body with its motions; or one animation alone."""

    body: Body | None
    motions: tuple[Motion, ...]
    animation: Animation | None


def files_of(*things: Body | Motion | Animation | None) -> tuple[Path, ...]:
    """Return the files that things were read from, their parts among them."""
    sources = [thing.source for thing in things if thing is not None]
    return tuple(path for source in sources for path in (source.path, *source.parts) if path is not None)


def sort_out(
    *sources: Showable,
    done: str = "shown",
    most: int = 1,
    allow_outside: bool = False,
    output: str | PathLike[str] | None = None,
) -> Given:
    """Return what the sources are, read where they are files.

    Parameters
    ----------
    sources:
        Things or files, in any order.
    done:
        What is done with them, for messages: "shown", "plotted".
    most:
        So many motions there may be.
    allow_outside:
        Also read parts of a model that lie outside its folder.
    output:
        The file that will be written of them.

    Raises
    ------
    FormatError
        When nothing can be made of a file.
    WrongUseError
        When there are two bodies, too many motions, or an animation and something else, or when `output` is one of the files that are
        read.
    """
    if output is not None:
        check_not_read(output, [one for one in sources if not isinstance(one, (Body, Motion, Animation))])
    bodies: list[Body] = []
    motions: list[Motion] = []
    animations: list[Animation] = []
    for source in sources:
        thing = (
            source if isinstance(source, (Body, Motion, Animation)) else load(Path(source), allow_outside=allow_outside)
        )
        if isinstance(thing, Body):
            bodies.append(thing)
        elif isinstance(thing, Motion):
            motions.append(thing)
        elif isinstance(thing, Animation):
            animations.append(thing)
        else:
            raise WrongUseError(f"{source}: neither a body nor a motion, but a {type(thing).__name__}")
    if len(animations) > 1:
        raise WrongUseError(f"one animation can be {done}, not {len(animations)}")
    if animations and (bodies or motions):
        other = "body" if bodies else "motion"
        raise WrongUseError(f"an animation is {done} alone: it is played by our Spot, so there is no use for a {other}")
    if len(bodies) > 1 or len(motions) > most:
        several = "one motion" if most == 1 else "one motion or two"
        raise WrongUseError(f"one body and {several} can be {done}, not {len(bodies)} and {len(motions)}")
    if output is not None:
        check_not_read(output, files_of(*bodies, *motions, *animations))
    return Given(bodies[0] if bodies else None, tuple(motions), animations[0] if animations else None)
