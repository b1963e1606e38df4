"""The steps of `bodymotion edit`: each takes a motion, the text after its option, and what the options beside it give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import typer

from bodymotion.cli.changes import load_body, load_motion
from bodymotion.cli.messages import say
from bodymotion.cli.text import one_line

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

__all__ = ["STEPS", "Beside", "Step", "span"]


@dataclass(frozen=True)
class Beside:
    """What steps need beside their own value."""

    model: Path | None = None
    allow_outside: bool = False
    pairs: dict[str, str] = field(default_factory=dict)
    blend: float = 0.0

    @cached_property
    def body(self) -> Body | None:
        """The body, read when it is first asked for."""
        return None if self.model is None else load_body(self.model, self.allow_outside)

    def needed_body(self, option: str) -> Body:
        """Return the body for an option that cannot do without."""
        if self.body is None:
            raise typer.BadParameter("needs the model: --body robot.wrl", param_hint=option)
        return self.body


Step: TypeAlias = "Callable[[Motion, str, Beside], Motion]"


def _wrong(option: str, text: str, expected: str) -> NoReturn:
    raise typer.BadParameter(f"{text!r} is not {expected}", param_hint=option)


def numbers(option: str, text: str, counts: tuple[int, ...], expected: str) -> list[float]:
    """Read finite numbers with commas between them; as many as one of `counts`."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) not in counts or not all(map(math.isfinite, found)):
        _wrong(option, text, expected)
    return found


def span(option: str, text: str, kind: type[float] | type[int]) -> list[float | None]:
    """Read START:END, each a number or left out."""
    parts = text.split(":")
    try:
        found = [kind(part) if part.strip() else None for part in parts]
        if len(found) == 2 and not any(number is not None and math.isnan(number) for number in found):
            return found
    except ValueError:
        pass
    _wrong(option, text, "of the form START:END; each may be left out")


def _trim(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.trim(motion, *span("--trim", text, float))


def _trim_frames(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    first, last = span("--trim-frames", text, int)
    return editing.trim_frames(motion, int(first or 0), None if last is None else int(last))


def _append(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.join(motion, load_motion(Path(text), "--append"), blend=beside.blend)


def _loop(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    try:
        times = int(text)
    except ValueError:
        times = 0
    if times < 1:
        _wrong("--loop", text, "a whole number, 1 or more")
    return editing.loop(motion, times, blend=beside.blend)


def _reverse(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.reverse(motion)


def _mirror(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.mirror(motion, beside.body, beside.pairs)


def _smooth(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    (cutoff,) = numbers("--smooth", text, (1,), "a frequency in Hz")
    if cutoff <= 0:
        _wrong("--smooth", text, "a frequency in Hz above 0")
    return editing.smooth(motion, cutoff)


def _unwrap(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.unwrap(motion, beside.body)


def _shift(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    x, y, z = numbers("--shift", text, (3,), "of the form X,Y,Z in metres")
    return editing.move(motion, [x, y, z, 1, 0, 0, 0])


def _turn(motion: Motion, text: str, beside: Beside) -> Motion:
    import numpy as np

    from bodymotion import editing
    from bodymotion.geometry import poses, rotations

    angles = numbers("--turn", text, (1, 3), "an angle in degrees, or three: ROLL,PITCH,YAW")
    rpy = np.radians([0.0, 0.0, *angles][-3:])
    return editing.move(motion, poses.from_parts(np.zeros(3), rotations.from_rpy(rpy)))


def _start_at(motion: Motion, text: str, beside: Beside) -> Motion:
    import numpy as np

    from bodymotion import editing

    x, y, yaw = [*numbers("--start-at", text, (2, 3), "of the form X,Y or X,Y,YAW in metres and degrees"), 0.0][:3]
    return editing.start_at(motion, x, y, float(np.radians(yaw)))


def _keep(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.keep(motion, *text.split(","))


def _drop(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.drop(motion, *text.split(","))


def _fill_links(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.fill_link_poses(motion, beside.needed_body("--fill-links"))


def _recover_joints(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    recovered, residual = editing.recover_joints(motion, beside.needed_body("--recover-joints"))
    if len(recovered.problems) == len(motion.problems):
        say(one_line(f"joints recovered: {residual}"))
    return recovered


def _root_only(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    return editing.keep_root_pose(motion)


def _zmp(motion: Motion, text: str, beside: Beside) -> Motion:
    from bodymotion import editing

    if text not in ("root", "world"):
        _wrong("--zmp", text, "root or world")
    return editing.zmp_to_root(motion) if text == "root" else editing.zmp_to_world(motion)


STEPS: dict[str, Step] = {
    "trim": _trim,
    "trim_frames": _trim_frames,
    "append": _append,
    "loop": _loop,
    "reverse": _reverse,
    "mirror": _mirror,
    "smooth": _smooth,
    "unwrap": _unwrap,
    "shift": _shift,
    "turn": _turn,
    "start_at": _start_at,
    "keep": _keep,
    "drop": _drop,
    "fill_links": _fill_links,
    "recover_joints": _recover_joints,
    "root_only": _root_only,
    "zmp": _zmp,
}
"""The steps, by the names of their options."""
