"""The table of formats: how each is known, and what reads it.

A file is known by its content first (`sniff` looks at the first `HEAD` bytes), then by its extension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import Location, Rule

if TYPE_CHECKING:
    from bodymotion.body import Body
    from bodymotion.motion import Motion

__all__ = ["FORMATS", "HEAD", "Format", "find_format", "load"]

HEAD = 65536
"""How many bytes of a file are looked at to know its format."""

UNKNOWN = Rule(
    "FMT001",
    "error",
    "The file is of no format that bodymotion reads.",
    "judgement",
    "bodymotion reads .seq motions and OpenHRP .wrl models",
)
UNREADABLE = Rule("FMT002", "error", "The file can not be opened.", "judgement")


@dataclass(frozen=True)
class Format:
    """A row of the table: `sniff(head)` says from the first bytes whether a file is of this format, `read(path, **options)` reads it."""

    name: str
    title: str
    extensions: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    read: Callable[..., Any]


def _sniff_seq(head: bytes) -> bool:
    from bodymotion.formats.seq import looks_like_seq

    return looks_like_seq(head)


def _read_seq(path: Path, **options: Any) -> Motion:  # noqa: ANN401
    from bodymotion.formats.seq import read_seq

    return read_seq(path, **options)


def _sniff_vrml(head: bytes) -> bool:
    from bodymotion.formats.vrml import looks_like_vrml

    return looks_like_vrml(head)


def _read_openhrp(path: Path, **options: Any) -> Body:  # noqa: ANN401
    from bodymotion.formats.openhrp import read_openhrp

    return read_openhrp(path, **options)


FORMATS: tuple[Format, ...] = (
    Format("openhrp", "OpenHRP model (VRML97)", (".wrl",), _sniff_vrml, _read_openhrp),
    Format("seq", "Choreonoid body motion", (".seq", ".yaml", ".yml", ".json"), _sniff_seq, _read_seq),
)


def find_format(path: str | Path) -> Format:
    """Say of which format a file is, by its content, then by its extension.

    Raises
    ------
    FormatError
        When it is of none (FMT001), or can not be opened (FMT002).
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UNREADABLE.error(reason, Location(str(path)), "") from error
    for candidate in FORMATS:
        if candidate.sniff(head):
            return candidate
    for candidate in FORMATS:
        if path.suffix.lower() in candidate.extensions:
            return candidate
    raise UNKNOWN.error("not known by its content, nor by its extension", Location(str(path)))


def load(path: str | Path, **options: Any) -> Any:  # noqa: ANN401
    """Read a robot or a motion: a `Body` from an OpenHRP `.wrl`, a `Motion` from a Choreonoid `.seq`.

    Parameters
    ----------
    path:
        The file. Its content decides what it is; only where that leaves it open, its extension does.
    options:
        Those of the format's reader, such as `allow_outside=True` for models whose Inline parts lie outside their folder.

    Raises
    ------
    FormatError
        When nothing can be made of the file, with line, column and rule.
    """
    path = Path(path)
    return find_format(path).read(path, **options)
