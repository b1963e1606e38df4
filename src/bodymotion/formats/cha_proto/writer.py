"""Animations written as files of the vendor's message."""

from __future__ import annotations

from pathlib import Path

from bodymotion.animation import Animation
from bodymotion.diagnostics import Problem
from bodymotion.formats.cha_proto.encoding import encoded
from bodymotion.formats.cha_proto.playable import unplayable
from bodymotion.formats.cha_proto.printing import printed
from bodymotion.system.atomic_files import whole_file

__all__ = ["write_message_bytes", "write_message_text"]


def write_message_text(
    animation: Animation, path: str | Path, *, move_params_config: str | Path | None = None
) -> tuple[Problem, ...]:
    """Write an animation as a `.cap`, the text of the vendor's message; gives what that does not hold, and of what nothing can be played.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    pieces, problems = printed(animation, move_params_config)
    with whole_file(path) as stream:
        for piece in pieces:
            stream.write(piece.encode("utf-8"))
    return (*problems, *unplayable(animation))


def write_message_bytes(
    animation: Animation, path: str | Path, *, move_params_config: str | Path | None = None
) -> tuple[Problem, ...]:
    """Write an animation as the bytes of the vendor's message; gives what these do not hold, and of what nothing can be played.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    data, problems = encoded(animation, move_params_config)
    with whole_file(path) as stream:
        stream.write(data)
    return (*problems, *unplayable(animation))
