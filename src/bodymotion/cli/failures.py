"""What may go wrong in a verb, as messages on stderr and exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

__all__ = ["failures"]

MOST_LISTED = 10
"""So many faults of a file are said at most; `bodymotion check` lists all."""


@contextmanager
def failures(verb: str, *, every_fault: bool = False) -> Iterator[None]:
    """Turn what may go wrong with files and values into a message on stderr and exit code 1, and Ctrl-C into 130.

    Of a file the first fault is said, or with `every_fault` the first few and how many more there are. What was asked for in vain is
    wrong use. Whoever reads the output may stop, as `head` does: that is no failure to speak of.
    """
    from bodymotion.cli.messages import say, show_problem
    from bodymotion.cli.output import PIPE_CLOSED
    from bodymotion.cli.text import one_line
    from bodymotion.diagnostics import FormatError, WrongUseError

    try:
        yield
    except FormatError as error:
        faults = error.problems if every_fault else (error.problem,)
        for problem in faults[:MOST_LISTED]:
            show_problem(problem)
        if len(faults) > MOST_LISTED:
            say(f"  … and {len(faults) - MOST_LISTED} more: bodymotion check lists them")
        raise typer.Exit(1) from None
    except WrongUseError as error:
        raise typer.BadParameter(one_line(error)) from None
    except BrokenPipeError:
        raise typer.Exit(PIPE_CLOSED) from None
    except OSError as error:
        about = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        say(f"bodymotion {verb}: {one_line(about)}")
        raise typer.Exit(1) from None
    except (ValueError, MemoryError, ImportError) as error:
        say(f"bodymotion {verb}: {one_line(error) or 'not enough memory'}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
