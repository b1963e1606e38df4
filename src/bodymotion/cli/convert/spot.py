"""Between a motion of Spot and an animation: recorded keyframe by keyframe, or played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bodymotion.cli.convert.options import Options, known

if TYPE_CHECKING:
    from bodymotion.animation import Animation
    from bodymotion.formats.registry import Format
    from bodymotion.motion import Motion

__all__ = ["convert_move", "is_move"]

RECORDING = ("legs", "bpm")
PLAYING = ("bpm", "rate")


def is_move(came: Format, target: Path, write_as: str | None) -> bool:
    """Whether a motion is to become an animation, or the other way."""
    from bodymotion.formats.registry import FORMATS, named_format

    other = {"Motion": "Animation", "Animation": "Motion"}.get(came.holds)
    if write_as is not None:
        return named_format(write_as).holds == other
    fitting = {row.holds for row in FORMATS if row.write is not None and target.suffix.lower() in row.extensions}
    return other in fitting and came.holds not in fitting


def convert_move(source: Path, target: Path, came: Format, options: Options) -> int:
    """Convert; give the exit code."""
    from bodymotion.animation import Animation
    from bodymotion.cli.convert.motion import READ as MOTION_READ
    from bodymotion.cli.convert.motion import WRITE as MOTION_WRITE
    from bodymotion.cli.convert.report import show_grouped, show_reading
    from bodymotion.cli.progress import progress
    from bodymotion.diagnostics import Findings, Location
    from bodymotion.formats.registry import target_format
    from bodymotion.formats.rules import UNWRITABLE
    from bodymotion.motion import Motion

    recording = came.holds == "Motion"
    making = options.some(*(RECORDING if recording else PLAYING))
    others = options.others(making)
    goes = target_format(Animation() if recording else Motion(), target, options.write_as)
    reads = MOTION_READ.get(came.name, set()) if recording else set()
    reading = known({name: value for name, value in others.items() if name in reads}, reads, came)
    writes = {"cha": {"style"}, **MOTION_WRITE}.get(goes.name, set()) - {"body"}
    writing = known({name: value for name, value in others.items() if name not in reading}, writes, goes)
    with progress(f"converting {source.name}"):
        thing = came.read(source, **reading)
        try:
            made = _recorded(thing, target, making) if recording else _played(thing, making)
        except ValueError as error:
            raise UNWRITABLE.error(str(error), Location(str(source)), "") from error
        assert goes.write is not None
        met = goes.write(made, target, **writing)
        if recording:
            met = (*made.problems, *met)
    show_reading(source, tuple(thing.problems), options.every)
    show_grouped(met, options.every)
    return 3 if Findings(met).losses else 0


def _recorded(motion: Motion, target: Path, making: dict[str, object]) -> Animation:
    from bodymotion.animation import Animation

    # As the readers of the target name it.
    name = target.name.split(".cha")[0] if ".cha" in target.name else target.name.partition(".")[0]
    bpm, legs = making.get("bpm"), making.get("legs")
    return Animation.from_motion(
        motion,
        legs="feet" if legs == "feet" else "joints",
        name=name,
        bpm=float(bpm) if isinstance(bpm, (int, float)) else None,
    )


def _played(animation: Animation, making: dict[str, object]) -> Motion:
    bpm, rate = making.get("bpm"), making.get("rate")
    return animation.play(
        bpm=float(bpm) if isinstance(bpm, (int, float)) else None,
        frame_rate=float(rate) if isinstance(rate, (int, float)) else None,
    )
