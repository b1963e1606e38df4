"""What verbs that change a motion have in common: read, change, say what was odd, write, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bodymotion.body import Body
    from bodymotion.motion import Motion

__all__ = ["failures", "finish", "load_body", "load_motion"]


@contextmanager
def failures(verb: str) -> Iterator[None]:
    """Turn what may go wrong with files and values into a message on stderr and exit code 1, and Ctrl-C into 130."""
    from bodymotion.cli.messages import say, show_problem
    from bodymotion.cli.text import one_line
    from bodymotion.diagnostics import FormatError

    try:
        yield
    except FormatError as error:
        show_problem(error.problem)
        raise typer.Exit(1) from None
    except OSError as error:
        about = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        say(f"bodymotion {verb}: {one_line(about)}")
        raise typer.Exit(1) from None
    except (ValueError, MemoryError) as error:
        say(f"bodymotion {verb}: {one_line(error) or 'not enough memory'}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def load_motion(path: Path, hint: str = "IN") -> Motion:
    """Read a motion; a file that holds something else is wrong use."""
    from bodymotion.formats.table import load
    from bodymotion.motion import Motion

    found = load(path)
    if not isinstance(found, Motion):
        raise typer.BadParameter(f"{path} holds a {type(found).__name__.lower()}, not a motion", param_hint=hint)
    return found


def load_body(path: Path, allow_outside: bool) -> Body:
    """Read a body; a file that holds something else is wrong use."""
    from bodymotion.body import Body
    from bodymotion.formats.table import find_format

    format = find_format(path)
    found = format.read(path, allow_outside=allow_outside) if format.name == "openhrp" else format.read(path)
    if not isinstance(found, Body):
        raise typer.BadParameter(f"{path} holds a {type(found).__name__.lower()}, not a model", param_hint="--body")
    return found


def finish(before: Motion, after: Motion, path: Path) -> None:
    """Write the motion, show what the change and the save have to say, and end with 3 if something was lost."""
    from bodymotion.cli.messages import show_problem
    from bodymotion.diagnostics import Report
    from bodymotion.formats.table import save

    known = set(map(id, before.problems))
    met = tuple(problem for problem in after.problems if id(problem) not in known)
    report = Report((*met, *save(after, path).problems))
    for problem in report.problems:
        show_problem(problem)
    raise typer.Exit(3 if report.losses else 0)
