"""What verbs that change a motion have in common: read, change, say what was odd, write, and the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

__all__ = ["conclude", "finish", "is_large", "load_body", "load_motion"]


LARGE = 64 << 20
"""A .seq file of more bytes than this is worked on row by row, where that can be done."""

PER_NUMBER = 3 * 8
"""How many bytes of memory a change takes for each number of a motion: as read, as changed, and what is in between."""


def is_large(source: Path, target: Path) -> bool:
    """Whether a motion is to go from one .seq file to another row by row."""
    from bodymotion.formats.registry import find_format, target_format
    from bodymotion.motion import Motion

    if source.stat().st_size <= LARGE or find_format(source).name != "seq":
        return False
    return target_format(Motion(), target).name == "seq"


def load_motion(path: Path, hint: str = "IN", whole: str = "") -> Motion:
    """Read a motion; a file that holds something else is wrong use.

    Before a large one is read, MemoryError says if memory will not do; `whole` is what the message adds.
    """
    from bodymotion.formats.registry import find_format, load
    from bodymotion.motion import Motion
    from bodymotion.system.memory import check_memory

    if path.exists() and path.stat().st_size > LARGE and find_format(path).name == "seq":
        from bodymotion.formats.seq import open_motion

        with open_motion(path) as reader:
            numbers = sum(h.num_frames * h.layout.width for h in reader.components if h.layout is not None)
        check_memory(PER_NUMBER * numbers, f"changing {path} as a whole" + (f" ({whole})" if whole else ""))
    found = load(path)
    if not isinstance(found, Motion):
        kind = type(found).__name__.lower()
        article = "an" if kind == "animation" else "a"
        raise typer.BadParameter(f"{path} holds {article} {kind}, not a motion", param_hint=hint)
    return found


def load_body(path: Path, allow_outside: bool, hint: str = "--body") -> Body:
    """Read a body; a file that holds something else is wrong use."""
    from bodymotion.formats.registry import load
    from bodymotion.model.body import Body

    found = load(path, allow_outside=allow_outside)
    if not isinstance(found, Body):
        raise typer.BadParameter(f"{path} holds a {type(found).__name__.lower()}, not a model", param_hint=hint)
    return found


def finish(before: Motion, after: Motion, path: Path) -> NoReturn:
    """Write the motion, show what the change and the save have to say, and end with 3 if something was lost."""
    from bodymotion.formats.registry import save

    known = set(map(id, before.problems))
    met = tuple(problem for problem in after.problems if id(problem) not in known)
    conclude((*met, *save(after, path).problems))


def conclude(problems: tuple[Problem, ...]) -> NoReturn:
    """Show problems, and end with 3 if one of them is a loss."""
    from bodymotion.cli.messages import show_problem
    from bodymotion.diagnostics import Findings

    for problem in problems:
        show_problem(problem)
    raise typer.Exit(3 if Findings(problems).losses else 0)
