"""What commands print: results on stdout, messages on stderr, exit codes; everything safe for a terminal.

A name in a file may hold escape sequences that control the terminal. Control characters (C0, C1, DEL), those that change the direction
of writing, and halves of surrogate pairs are printed as the escapes that Python writes for them.
"""

import io
import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import click

from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import UNSAFE

Data: TypeAlias = dict[str, Any]  # What JSON can hold.

PIPE_CLOSED = 141  # Exit code of a program that SIGPIPE ended, as shells expect it.
MAX_LIST = 1000  # A longer list, met in unknown fields of a file, is replaced by its length.
MAX_DEPTH = 20  # Deeper nested values, met in unknown fields of a file, are replaced by an ellipsis.

# What JSON leaves as it is, although a terminal must not get it.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def one_line(text: object) -> str:
    r"""Return the text on one line; characters that control a terminal become escapes such as ``\x1b``."""
    return UNSAFE.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode("ascii"), str(text))


def say(text: str) -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def results() -> Iterator[TextIO]:
    """Return stdout for results; end with PIPE_CLOSED when its reader has gone, as `head` does, and with 1 when it cannot be written."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            say(one_line(f"bodymotion: the results cannot be written: {error.strerror or error}"))
        # What is left in the buffer of stdout fails no more at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(PIPE_CLOSED if isinstance(error, BrokenPipeError) else 1) from None


@contextmanager
def failures(command: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn exceptions about files and values, and `errors`, into messages on stderr and exit code 1, wrong use into 2, Ctrl-C into 130."""
    from bodymotion.cli.messages import show_problems
    from bodymotion.diagnostics import FormatError, WrongUseError

    expected: tuple[type[Exception], ...] = (ValueError, MemoryError, ImportError, *errors)
    try:
        yield
    except FormatError as error:
        show_problems([problem for problem in error.problems if problem.severity == "error"] or [error.problem])
        raise click.exceptions.Exit(1) from None
    except WrongUseError as error:
        raise click.BadParameter(one_line(error)) from None
    except BrokenPipeError:
        raise click.exceptions.Exit(PIPE_CLOSED) from None
    except OSError as error:
        text = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        say(f"bodymotion {command}: {one_line(text)}")
        raise click.exceptions.Exit(1) from None
    except expected as error:
        say(f"bodymotion {command}: {one_line(error) or 'not enough memory'}")
        raise click.exceptions.Exit(1) from None
    except KeyboardInterrupt:
        raise click.exceptions.Exit(130) from None


def number(value: float) -> float | None:
    """Return a number, or None where it is not finite: JSON has no infinity and no NaN."""
    return float(value) if math.isfinite(value) else None


def plain(value: object, depth: int = 0) -> Any:  # noqa: ANN401
    """Return any value as JSON can hold it: arrays as lists, numbers that are not finite as None, other objects by their type's name."""
    import numpy as np

    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.integer, int)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    if isinstance(value, np.ndarray):
        return f"<{value.size} values>" if value.size > MAX_LIST else plain(value.tolist(), depth)
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} values>" if len(value) > MAX_LIST else [plain(item, depth + 1) for item in value]
    if type(value).__module__ in ("datetime", "pathlib"):
        return str(value)
    return f"<{type(value).__name__}>"


def members(thing: object, *names: str) -> Data:
    """Return attributes of any object as JSON can hold them."""
    return {name: plain(getattr(thing, name)) for name in names}


def about_file(path: Path, kind: str, format_name: str = "") -> Data:
    """Return the first members of every answer about a file."""
    from bodymotion.system.open_files import size_of

    return {"file": str(path), "kind": kind, "format": format_name, "size": size_of(path)}


def problems_of(problems: Sequence[Problem]) -> Data:
    """Return the problems, one by one, and the number of each severity."""
    return {
        **{
            f"num_{kind}s": sum(p.count for p in problems if p.severity == kind)
            for kind in ("error", "warning", "note")
        },
        "problems": [
            {
                **members(p, "rule", "severity", "message"),
                **members(p.location, "path", "line", "column", "inside"),
                **members(p, "hint"),
            }
            for p in problems
        ],
    }


def as_json(value: object) -> str:
    """Return JSON text, safe on a terminal, with a newline at its end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"
