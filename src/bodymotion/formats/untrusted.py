"""Files of others: how far they are trusted, and who reads them.

Options state the first; the second is a child process with limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.rules import CRASH, LIMIT
from bodymotion.system.files import is_special, size_of
from bodymotion.system.limited import (
    OF_OTHERS,
    ProcessEndedError,
    ProcessLimits,
    call_limited,
    reason_of,
)

__all__ = [
    "TRUST_OPTIONS",
    "call_within_limits",
    "choose_limits",
    "describe_end",
    "requested_limits",
    "without_time_limit",
]

T = TypeVar("T")

# The options of `load` that any file may have, whatever its format.
TRUST_OPTIONS = frozenset({"allow_outside", "untrusted", "time_limit"})


def requested_limits(options: Mapping[str, Any]) -> ProcessLimits | None:
    """Return the limits that options of `load` ask for.

    None for a file that is trusted.
    """
    untrusted = bool(options.get("untrusted"))
    time_limit = options.get("time_limit")
    if not untrusted and time_limit is None:
        return None
    # A time limit alone also needs a process that can be ended.
    return choose_limits(time_limit, untrusted=untrusted)


def without_time_limit(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for a function that is called within limits."""
    return {name: value for name, value in options.items() if name != "time_limit"}


def choose_limits(time_limit: float | None, *, untrusted: bool) -> ProcessLimits:
    """Return the limits for a file.

    Those for files of others, or only a time limit [s].
    """
    if not untrusted:
        return ProcessLimits(deadline=time_limit)
    if time_limit is None:
        return OF_OTHERS
    return replace(OF_OTHERS, processor=time_limit, deadline=time_limit)


def call_within_limits(
    function: Callable[..., T],
    *arguments: Any,  # noqa: ANN401
    files: Iterable[str | PathLike[str]],
    limits: ProcessLimits = OF_OTHERS,
) -> T:
    """Call a function that reads files of others in a child process.

    The process has limits. Its result is returned.

    Parameters
    ----------
    function, arguments:
        A function of a module, and its arguments, which can be pickled.
    files:
        The files that it reads: large ones may take more memory and time.
    limits:
        The limits.

    Raises
    ------
    FormatError
        When a limit is exceeded (FMT013), or the process ends (FMT014); else what the
        function raises.
    """
    paths = [Path(file) for file in files]
    # Larger files may take more memory and time.
    size = sum(size_of(path) or 0 for path in paths)
    try:
        result = call_limited(
            function,
            *arguments,
            limits=limits.for_size(size),
            shares_files=any(map(is_special, paths)),
        )
    except (ProcessEndedError, MemoryError) as error:
        raise describe_end(error, paths[0]) from None
    return cast("T", result)


def describe_end(error: ProcessEndedError | MemoryError, path: Path) -> FormatError:
    """Return the fault of a file at which a process has ended.

    Also of one that had not enough memory.
    """
    reason = reason_of(error)
    location = Location(str(path))
    limits = ProcessLimits()
    # The file that was read when it ended may be a part.
    if isinstance(error, ProcessEndedError):
        location = Location(error.path or str(path))
        limits = error.limits
    data = {"ended": reason}
    if reason == "crash":
        detail = str(error).partition(": ")[2]
        message = f"the process that reads the file was lost: {detail}"
        return CRASH.error(message, location, data=data)
    limit = {
        "memory": "the memory that it may take",
        "processor time": f"{limits.processor or 0:g} s of processor time",
        "deadline": f"{limits.deadline or 0:g} s on the clock",
    }[reason]
    return LIMIT.error(f"reading the file took more than {limit}", location, data=data)
