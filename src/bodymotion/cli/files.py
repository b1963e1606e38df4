"""Reading of the files of a command: of the expected kind, and large ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bodymotion.cli.output import one_line
from bodymotion.system.files import check_not_read, check_place

if TYPE_CHECKING:
    from bodymotion.animation import Animation
    from bodymotion.cli.app import ReaderOptions
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

T = TypeVar("T")
LARGE = 64 << 20  # [bytes] A larger .seq file is processed row by row where possible.
BYTES_PER_NUMBER = 3 * 8
"""Memory for each number of a motion while it is changed: as read, as changed, and one copy in between."""


def is_large(source: Path, target: Path) -> bool:
    """Return whether a motion is converted from one .seq file to another row by row."""
    from bodymotion.formats.registry import find_format, target_format
    from bodymotion.motion import Motion

    if source.stat().st_size <= LARGE or find_format(source).name != "seq":
        return False
    return target_format(Motion(), target).name == "seq"


def kind_of(kind: type) -> str:
    """Return what a file with a value of this type holds: "a model", "an animation"."""
    from bodymotion.diagnostics.text import with_article

    return with_article({"Body": "model"}.get(kind.__name__, kind.__name__.lower()))


def load_motion(
    path: Path, reading: ReaderOptions | None = None, body: Body | None = None, hint: str = "IN", advice: str = ""
) -> Motion:
    """Read a motion; a file with something else is wrong use.

    A `body` names the columns of a table. A large file is read only where memory will suffice; MemoryError otherwise, with `advice` in
    its message.
    """
    from bodymotion.formats.registry import find_format
    from bodymotion.geometry.arrays import check_memory
    from bodymotion.motion import Motion

    if path.exists() and path.stat().st_size > LARGE and find_format(path).name == "seq":
        from bodymotion.formats.seq import open_motion

        with open_motion(path) as reader:
            numbers = sum(h.num_frames * h.layout.width for h in reader.components if h.layout is not None)
        check_memory(BYTES_PER_NUMBER * numbers, f"changing {path} as a whole" + (f" ({advice})" if advice else ""))
    return _loaded(path, reading or {}, Motion, hint, body=body)


def load_animation(path: Path, reading: ReaderOptions, hint: str = "IN") -> Animation:
    """Read an animation; a file with something else is wrong use."""
    from bodymotion.animation import Animation

    return _loaded(path, reading, Animation, hint)


def load_body(path: Path, reading: ReaderOptions, hint: str = "--body") -> Body:
    """Read a body; a file with something else is wrong use."""
    from bodymotion.model.body import Body

    return _loaded(path, reading, Body, hint)


def _loaded(path: Path, reading: ReaderOptions, kind: type[T], hint: str, **options: Any) -> T:  # noqa: ANN401
    from bodymotion.formats.registry import find_format, load

    row = find_format(path)
    return of_kind(load(path, format=row.name, **options, **row.options_of(reading)), path, kind, hint)


def of_kind(found: object, path: Path, kind: type[T], hint: str) -> T:
    """Return what a file holds; wrong use where it is of another kind."""
    if isinstance(found, kind):
        return found
    advice = f"; `bodymotion convert {path} {path.stem}.seq` plays it"
    advice = advice if (type(found).__name__, kind.__name__) == ("Animation", "Motion") else ""
    held, wanted = kind_of(type(found)), kind_of(kind)
    raise click.BadParameter(one_line(f"{path} holds {held}, not {wanted}{advice}"), param_hint=hint)


def read_files(files: Iterable[Path], reading: ReaderOptions, by_position: bool) -> list[Any]:
    """Read the files of a command together, and print what was assumed of motions: joints that are missing, names, orders."""
    from bodymotion.cli.output import show_problems
    from bodymotion.formats.registry import load_together
    from bodymotion.motion import Motion

    found = load_together(files, by_position=by_position, **reading)
    motions = [one for one in found if isinstance(one, Motion)]
    show_problems([problem for one in motions for problem in one.problems if problem.severity != "note"])
    return found


def load_pair(
    model: Path, motion: Path | None, reading: ReaderOptions, by_position: bool, bpm: float | None = None
) -> tuple[Body, Motion | None]:
    """Read a body and its motion, if any; an animation or a choreography alone is for the built-in Spot, recorded motion has its own body.

    Anything else is wrong use.
    """
    from bodymotion.animation import Animation
    from bodymotion.choreography import Choreography
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion
    from bodymotion.skeleton import Skeleton

    found = read_files([path for path in (model, motion) if path is not None], reading, by_position)
    if len(found) == 1 and isinstance(found[0], (Skeleton, Choreography)):
        return found[0].body_and_motion()
    if len(found) == 1 and isinstance(found[0], Animation):
        from bodymotion.spot.playback import needs_arm, play, spot_body

        return spot_body(arm=needs_arm(found[0])), play(found[0], bpm=bpm)
    if bpm is not None:
        raise click.BadParameter("only an animation has a tempo", param_hint="--bpm")
    body = of_kind(found[0], model, Body, "MODEL")
    return body, None if motion is None else of_kind(found[1], motion, Motion, "MOTION")


def check_output(path: Path | None, read: Iterable[Path | None] = ()) -> None:
    """Raise, before any work is done, when the file to be written has no folder, is a folder, or is one of those that are `read`."""
    if path is not None:
        check_place(path)
        check_not_read(path, [one for one in read if one is not None])
