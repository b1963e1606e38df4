"""`check`: all problems of a file, a body, a motion or another value."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.checks import rules
from bodymotion.diagnostics import (
    Findings,
    FormatError,
    Location,
    Problem,
    Source,
    SourceMap,
)
from bodymotion.diagnostics.catalogue import selected
from bodymotion.diagnostics.text import with_article
from bodymotion.extensions import extensions, kind_of
from bodymotion.formats.registry import (
    load,
    read_here,
)
from bodymotion.formats.resources import unreadable
from bodymotion.formats.tables.columns import LARGE_ANGLES, UNIT
from bodymotion.formats.untrusted import (
    TRUST_OPTIONS,
    call_within_limits,
    requested_limits,
    without_time_limit,
)
from bodymotion.model.body import Body
from bodymotion.model.body import by_position as put_by_position
from bodymotion.motion import Motion
from bodymotion.motion.rules import SLOW_RATE
from bodymotion.system.files import open_file, pipes_kept

# The formats whose line endings are checked.
TEXT_FORMATS = ["openhrp", "body", "seq", "urdf", "mjcf"]
for _extension in extensions():
    TEXT_FORMATS += _extension.text_formats
NAMES = {b"\n": "LF", b"\r\n": "CR LF", b"\r": "CR"}
_BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 10
_END = re.compile(rb"\r\n?|\n")


def check(
    target: str | os.PathLike[str] | object,
    *,
    body: Body | str | os.PathLike[str] | None = None,
    by_position: bool = False,
    bpm: float | None = None,
    parameters: Mapping[str, float] | None = None,
    select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    **options: Any,  # noqa: ANN401
) -> Findings:
    """Return all problems of a file or a value.

    A value is a body, a motion or anything else that has problems.

    Parameters
    ----------
    target:
        A path; or a `Body`, a `Motion`, a script of a robot, or anything else that has
        `problems`.
    body:
        The body that a motion is for, or its file: the motion is then checked against
        its joints and limits, too. Ignored for other targets.
    by_position:
        Read the joint columns of a motion by position, whatever their names.
    bpm, parameters:
        The tempo of a script, and values of its parameters; by default it is played
        with its own, and at the corners of their ranges.
    select, ignore:
        Codes of rules or their prefixes (`"BODY"`, `"SEQ2"`): problems of `select` are
        returned, those of `ignore` are not. The longer prefix counts.
    options:
        Those of the reader, for a path (see `load`).

    Returns
    -------
    Findings
        In the order of the file. Faults of the file are problems as well, not
        exceptions.

    Raises
    ------
    ValueError
        When `select` or `ignore` name no rule.
    TypeError
        When the target is neither a path nor a value that has problems.
    FormatError
        When the file of the body cannot be read.
    """
    keep = _make_filter(select, ignore)
    playback = {"bpm": bpm, "parameters": parameters}
    trust = {name: options[name] for name in options.keys() & TRUST_OPTIONS}
    loaded = _loaded_body(body, trust)
    if by_position and isinstance(target, Motion) and loaded is not None:
        target = put_by_position(target, loaded)
    if not isinstance(target, str) and not hasattr(target, "__fspath__"):
        return Findings(keep(_in_order(_problems_of(target, loaded, playback))))
    path = Path(target)
    limits = requested_limits(options)
    reading = without_time_limit(options)
    find = partial(_problems_of_file, path, loaded, by_position, playback, reading)
    try:
        if limits is None:
            problems = find()
        else:
            problems = call_within_limits(find, files=[path], limits=limits)
    except FormatError as error:
        problems = error.problems
    except (OSError, MemoryError) as error:
        problems = unreadable(error, path).problems
    return Findings(keep(_in_order(problems, str(path))))


def _make_filter(
    select: str | Sequence[str], ignore: str | Sequence[str]
) -> Callable[[Iterable[Problem]], tuple[Problem, ...]]:
    """Return a function that leaves out problems by their codes.

    ValueError for unknown codes.
    """
    if not select and not ignore:
        return tuple
    keep = partial(
        selected,
        select=(select,) if isinstance(select, str) else select,
        ignore=(ignore,) if isinstance(ignore, str) else ignore,
    )
    # Unknown codes fail before the work.
    keep(())
    return keep


def _problems_of_file(
    path: Path,
    body: Body | None,
    by_position: bool,
    playback: Mapping[str, Any],
    options: Mapping[str, Any],
) -> tuple[Problem, ...]:
    """Return the problems of reading a file, and those of its value.

    The rules about meaning are run on the value, which may be partial.
    """
    with pipes_kept():
        reading = {"body": None if by_position else body, **options}
        row, result = read_here(path, reading.pop("format", None), reading)
        of_lines = check_line_ends(path) if row.name in TEXT_FORMATS else ()
    # Line endings are a matter of the bytes: they are checked even where nothing is
    # read.
    value = result.value
    if value is None:
        return (*result.problems, *of_lines)
    if by_position and isinstance(value, Motion) and body is not None:
        value = put_by_position(value, body)
    source = getattr(value, "source", None)
    locations = source.locations if isinstance(source, Source) else SourceMap()
    of_reading = set(result.problems)
    # The rules skip unknown parts where they can. A finding about a part that was not
    # read is left out in any case.
    of_value = [
        problem
        for problem in _problems_of(value, body, playback)
        if problem not in of_reading and locations.is_known(problem.subject)
    ]
    return (*result.problems, *of_value, *of_lines)


def _loaded_body(
    body: Body | str | os.PathLike[str] | None, options: dict[str, Any]
) -> Body | None:
    if body is None or isinstance(body, Body):
        return body
    found = load(Path(body), **options)
    if not isinstance(found, Body):
        raise rules.NO_MODEL.error(
            f"the file holds {with_article(type(found).__name__)}; expected a model",
            Location(str(body)),
        )
    return found


def _problems_of(
    value: object, body: Body | None, playback: Mapping[str, Any]
) -> tuple[Problem, ...]:
    """Return the problems of a value.

    Those of reading it, and those of the rules about its meaning.

    Rules and further kinds of values are imported here: those that a file does not need
    would load slowly.
    """
    if isinstance(value, Body):
        from bodymotion.checks.bodies import check_body

        return check_body(value)
    kind = kind_of(value)
    check_kind = None if kind is None else kind.function("check")
    if check_kind is not None:
        of_kind: tuple[Problem, ...] = check_kind(value, **playback)
        return of_kind
    if isinstance(value, Motion):
        from bodymotion.checks.motions import (
            check_motion,
            check_motion_on_body,
            check_units,
        )

        with np.errstate(all="ignore"):
            found = check_motion(value)
            return (
                *found,
                *(
                    check_units(value)
                    if body is None
                    else check_motion_on_body(value, body)
                ),
            )
    from bodymotion.keyposes import KeyPoses
    from bodymotion.skeleton import Skeleton

    if isinstance(value, KeyPoses) and body is not None:
        from bodymotion.checks.key_poses import check_key_poses

        return (*value.problems, *check_key_poses(value, body))
    if isinstance(value, Skeleton):
        from bodymotion.checks.skeletons import check_skeleton

        return (*value.problems, *check_skeleton(value))
    if not hasattr(value, "problems"):
        raise TypeError(
            "check takes a path or a value such as a Body or a Motion, not "
            f"{with_article(type(value).__name__)}"
        )
    return tuple(value.problems)


# Rules, each with the one that reports more about the same cause. Of a reader, or of
# the meaning.
SUPERSEDED = {
    LARGE_ANGLES.code: rules.IN_DEGREES.code,
    SLOW_RATE.code: rules.FRAME_RATE.code,
    rules.FRAME_RATE.code: UNIT.code,
}


def _in_order(
    problems: tuple[Problem, ...], path: str | None = None
) -> tuple[Problem, ...]:
    """Return problems sorted by location.

    The file itself before its parts, problems without a line last.

    Those whose cause another problem reports, too, are left out.
    """
    codes = {problem.rule for problem in problems}
    causes = [
        problem for problem in problems if SUPERSEDED.get(problem.rule) not in codes
    ]

    def key(problem: Problem) -> tuple[bool, str, float, float]:
        location = problem.location
        is_other = location.path not in (path, None)
        line = float("inf") if location.line is None else float(location.line)
        return is_other, location.path or "", line, float(location.column or 0)

    return tuple(sorted(dict.fromkeys(causes), key=key))


def check_line_ends(path: Path) -> tuple[Problem, ...]:
    """Return the problem of a file with different line endings.

    At the first line with a rarer one. Memory is bounded.
    """
    counts: Counter[bytes] = Counter()
    first: dict[bytes, int] = {}
    line = 1
    try:
        for block in _blocks_of_lines(path):
            # Most files have no CR and need no search.
            if b"\r" in block:
                ends = _END.findall(block)
            else:
                ends = [b"\n"] * block.count(b"\n")
            for end in dict.fromkeys(ends):
                first.setdefault(end, line + ends.index(end))
            counts.update(ends)
            line += len(ends)
    except (OSError, ValueError):
        return ()
    if len(counts) < 2:
        return ()
    ranked = counts.most_common()
    most, _ = ranked[0]
    first_line = min(number for end, number in first.items() if end != most)
    shown = ", ".join(f"{number} with {NAMES[end]}" for end, number in ranked)
    message = f"the lines have different endings: {shown}"
    return (rules.LINE_ENDS.problem(message, Location(str(path), first_line)),)


def _blocks_of_lines(path: Path) -> Iterator[bytes]:
    """Return the bytes of a text in blocks.

    They do not divide a CR LF.

    None where it is in another encoding: no text in those of these formats has a NUL.
    """
    with open_file(path) as file:
        if b"\0" in file.read(_HEAD_BYTES):
            return
        file.seek(0)
        block = file.read(_BLOCK_BYTES)
        while block:
            more = block
            while block.endswith(b"\r") and more:
                more = file.read(1)
                block += more
            yield block
            block = file.read(_BLOCK_BYTES)


def most_common_end(data: bytes) -> bytes:
    """Return the most common line ending.

    LF for a text of one line.
    """
    return max(
        NAMES, key=Counter(found[0] for found in _END.finditer(data)).__getitem__
    )


def other_ends(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of the rarer line endings."""
    most = most_common_end(data)
    return [found.span() for found in _END.finditer(data) if found[0] != most]
