"""Files and bytes of messages, read as animations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bodymotion.animation import Animation
from bodymotion.diagnostics import FormatError, Location, Problem
from bodymotion.formats.cha import check_animation
from bodymotion.formats.cha_proto.animations import animation_of
from bodymotion.formats.cha_proto.decoding import decode
from bodymotion.formats.cha_proto.playable import unplayable
from bodymotion.formats.cha_proto.recording import Recording
from bodymotion.formats.cha_proto.rules import UNREADABLE
from bodymotion.formats.cha_proto.state_log import animation_of_log
from bodymotion.formats.cha_proto.text_reading import parse
from bodymotion.formats.sniffing import is_binary
from bodymotion.system.open_files import open_file

__all__ = [
    "check_animation_message",
    "check_state_log",
    "from_bytes",
    "from_text",
    "read_animation_message",
    "read_state_log",
]

_MOST = 1 << 30


def from_bytes(data: bytes) -> Animation:
    """Make an animation of the bytes of the vendor's message Animation; no package of the vendor's is needed.

    What stands for a zero, 1e-6, becomes 0 again. A number that only some keyframes have is held where it is missing (CAP102 in
    `problems`). Times that go back, numbers that are not finite and the like are read as they are, and are errors in `problems`.

    Raises
    ------
    FormatError
        When they are no such message (CAP001), or its keyframes do not fit together (CAP003), are nearly all empty (CAP004), or missing
        (CAP006).
    """
    return _looked_at(animation_of(decode(data, "Animation")))


def from_text(text: str | bytes) -> Animation:
    """Make an animation of the text of the vendor's message Animation, as a `.cap` file holds it; otherwise as `from_bytes`.

    Raises
    ------
    FormatError
        As `from_bytes` does, and CAP002 with line and column for what is no such text.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return _looked_at(animation_of(parse(data, "Animation")))


def read_animation_message(path: str | Path) -> Animation:
    """Read a file of a message Animation, text (`.cap`) or bytes (`.pb`), whichever it holds. Raises FormatError as `from_text` does."""
    path = Path(path)
    return _looked_at(animation_of(_recording(path, "Animation"), path), path)


def read_state_log(path: str | Path) -> Animation:
    """Read a file of a message ChoreographyStateLog, text or bytes, as the animation of what the robot did.

    Raises
    ------
    FormatError
        As `from_text` does.
    """
    path = Path(path)
    return animation_of_log(_recording(path, "ChoreographyStateLog"), path)


def check_animation_message(path: str | Path) -> tuple[Problem, ...]:
    """Return all that is wrong with a file of a message Animation: as a message, and by the rules of animations."""
    return _checked(read_animation_message, path)


def check_state_log(path: str | Path) -> tuple[Problem, ...]:
    """Return all that is wrong with a log: as a message, and by the rules of animations."""
    return _checked(read_state_log, path)


def _checked(read: Callable[[str | Path], Animation], path: str | Path) -> tuple[Problem, ...]:
    try:
        animation = read(path)
    except FormatError as error:
        return error.problems
    found = (replace(one, location=replace(one.location, path=str(path))) for one in check_animation(animation))
    return tuple(dict.fromkeys((*animation.problems, *found)))


def _looked_at(animation: Animation, path: Path | None = None) -> Animation:
    """Say that nothing can be played of a message; it is read all the same."""
    faults = unplayable(animation, None if path is None else str(path))
    return replace(animation, problems=(*animation.problems, *faults)) if faults else animation


def _recording(path: Path, kind: str) -> Recording:
    location = Location(str(path))
    try:
        with open_file(path) as file:
            data = file.read(_MOST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UNREADABLE.error(f"cannot be opened: {reason}", location, "") from error
    if len(data) > _MOST:
        raise UNREADABLE.error("the file is larger than 1 GiB", location, "")
    return decode(data, kind, location) if is_binary(data) else parse(data, kind, location)
