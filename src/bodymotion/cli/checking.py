"""The work of `bodymotion check`: check each file by itself, in several processes where there are many."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body

MIN_BYTES = 4 << 20
MIN_FILES = 40  # With fewer bytes and fewer files than this, starting processes takes longer than it saves.


@dataclass(frozen=True)
class Checked:
    """The problems of a file, and the traceback of a bug of bodymotion."""

    path: Path
    problems: tuple[Problem, ...]
    trace: str = ""


def check_files(
    files: Sequence[Path],
    body: Body | None = None,
    workers: int | None = None,
    **options: Any,  # noqa: ANN401
) -> Iterator[Checked]:
    """Check files in `workers` processes, by default on all cores where there are many; return the answers in the order of the files.

    The options are those of `check_file`; `body` is that of `model`, already read.
    """
    from bodymotion.checks import rules
    from bodymotion.collection import in_order, map_files
    from bodymotion.diagnostics import Location
    from bodymotion.system.open_files import size_of

    if workers is None and len(files) < MIN_FILES and sum(size_of(path) or 0 for path in files) < MIN_BYTES:
        workers = 1
    function = partial(check_file, body=body if workers == 1 else None, **options)
    for outcome in in_order(map_files(function, files, workers=workers)):
        path = files[outcome.index]
        message = f"not checked: {outcome.error}"
        yield outcome.value or Checked(path, (rules.CRASHED.problem(message, Location(str(path))),))


def check_file(
    path: Path,
    body: Body | None = None,
    *,
    model: Path | None = None,
    reading: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,  # noqa: ANN401
) -> Checked:
    """Check a file with options of readers and of `check`; every exception becomes a problem. Without `body`, `model` is read."""
    from bodymotion.checks import check, rules
    from bodymotion.cli.files import load_body
    from bodymotion.diagnostics import FormatError, Location
    from bodymotion.formats.registry import find_format

    if body is None and model is not None:
        body = load_body(model, dict(reading))
    if reading:
        with suppress(FormatError):
            options |= find_format(path).options_of(reading)
    try:
        report = check(path, body=body, **options)
    except MemoryError:
        return Checked(path, (rules.CRASHED.problem("not enough memory to read the file", Location(str(path)), ""),))
    except Exception as error:
        message = f"not checked because of {type(error).__name__}: {error}"
        return Checked(path, (rules.FAULT.problem(message, Location(str(path))),), traceback.format_exc())
    return Checked(path, report.problems)
