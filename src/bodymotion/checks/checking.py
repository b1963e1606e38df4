"""`check`: everything that is to be said of a file, a body or a motion, in one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.animation import Animation
from bodymotion.checks import rules
from bodymotion.checks.bodies import check_body
from bodymotion.checks.line_ends import TEXTS, check_line_ends
from bodymotion.checks.motions import MAX_FILE, check_motion, check_units
from bodymotion.checks.motions_on_bodies import check_motion_on_body
from bodymotion.diagnostics import Findings, FormatError, Location, Problem, Source, SourceMap
from bodymotion.diagnostics.catalogue import selected
from bodymotion.formats.registry import Format, find_format, load, named_format, read
from bodymotion.formats.rules import UNREADABLE
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.motion import rules as motion_rules
from bodymotion.spot.playback.validation import all_problems
from bodymotion.system.open_files import pipes_kept

if TYPE_CHECKING:
    import os

__all__ = ["check"]


def check(
    thing: str | os.PathLike[str] | object,
    *,
    body: Body | str | os.PathLike[str] | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    **options: Any,  # noqa: ANN401
) -> Findings:
    """Return all problems of a file, or of a thing that was loaded or made.

    Parameters
    ----------
    thing:
        A path; or a `Body`, a `Motion`, or anything else that carries `problems`.
    body:
        The body that a motion is for, or its file: its joints and their limits are then looked at, too. Means nothing to other things.
    select, ignore:
        Codes of rules, or how they begin (`"BODY"`, `"SEQ2"`): only those, and those not. Where a rule is named in both, the longer name
        counts.
    options:
        Those of the reader, for a path (see `load`).

    Returns
    -------
    Findings
        In the order of the file. A file of which nothing can be made has its first fault here; nothing is raised for it.

    Raises
    ------
    ValueError
        When `select` or `ignore` name no rule.
    FormatError
        When nothing can be made of the file of the body.
    """
    selected((), select, ignore)
    if not isinstance(thing, str) and not hasattr(thing, "__fspath__"):
        return Findings(selected(_in_order(_problems(thing, _body(body))), select, ignore))
    path = Path(thing)
    of_body = _body(body)
    try:
        with pipes_kept():
            name = options.get("format")
            row = find_format(path) if name is None else named_format(name)
            problems = _of_file(row, path, of_body, options)
            if row.name in TEXTS:
                problems += check_line_ends(path)
    except FormatError as error:
        problems = error.problems
    except (OSError, MemoryError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or "not enough memory"
        problems = (UNREADABLE.problem(reason, Location(str(path)), ""),)
    return Findings(selected(_in_order(problems, str(path)), select, ignore))


def _of_file(row: Format, path: Path, body: Body | None, options: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return all problems of a file: those that its format's own check finds, and those of what it holds."""
    if row.check is None:
        result = read(path, **{"format": row.name, **options})[1]
        return (*result.problems, *_of_value(result.value, result.problems, body))
    if row.check is not None and row.holds == "Motion":
        return _alone(row, path, options) if body is None else _on_body(row, path, body, options)
    if row.holds == "Body":
        return _of_model(row, path, body, options)
    return row.check(path)


def _of_value(value: object, found: tuple[Problem, ...], body: Body | None) -> tuple[Problem, ...]:
    """Return what the rules about meaning find in a value that was read, partial or not; `found` are the problems of reading.

    A rule says nothing about a part of the value that is unknown.
    """
    known = set(found)
    source = getattr(value, "source", None)
    locations = source.locations if isinstance(source, Source) else SourceMap()
    return tuple(
        problem for problem in _problems(value, body) if problem not in known and locations.is_known(problem.subject)
    )


def _alone(row: Format, path: Path, options: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return all problems of a motion by itself; of a large file its units are not looked at, for which it is read a second time."""
    assert row.check is not None
    found = row.check(path)
    if any(problem.severity == "error" for problem in found) or path.stat().st_size > MAX_FILE:
        return found
    try:
        motion = load(path, **options)
    except FormatError:
        return found
    with np.errstate(all="ignore"):
        return (*found, *check_units(motion)) if isinstance(motion, Motion) else found


def _of_model(row: Format, path: Path, body: Body | None, options: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return all problems of a model. Only one that cannot be read is read a second time, for what else is wrong with it."""
    try:
        return _problems(load(path, **options), body)
    except FormatError:
        if row.check is None:
            raise
    # Not before the error is let go of: it holds all that was read up to it.
    return row.check(path, **{name: value for name, value in options.items() if name != "format"})


def _on_body(row: Format, path: Path, body: Body, options: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return all problems of a motion on a body. Only where it has errors, or odd quaternions, are its rows looked at one by one."""
    assert row.check is not None
    try:
        motion = load(path, **options)
    except FormatError:
        return row.check(path)
    problems = _problems(motion, body)
    by_row = {
        rule.code
        for rule in (
            motion_rules.MOTION_NOT_FINITE,
            motion_rules.MOTION_QUATERNION,
            motion_rules.MOTION_NO_QUATERNION,
            motion_rules.MOTION_NO_TURN,
        )
    }
    if not any(p.rule in by_row or (p.severity == "error" and p in motion.problems) for p in problems):
        return problems
    found = row.check(path)
    known = {*motion.problems, *(p for p in problems if p.rule in by_row)}
    return (*found, *(problem for problem in problems if problem not in known))


def _body(given: Body | str | os.PathLike[str] | None) -> Body | None:
    if given is None or isinstance(given, Body):
        return given
    found = load(Path(given))
    if not isinstance(found, Body):
        raise rules.NO_KIND.error(f"it holds a {type(found).__name__}, no model", Location(str(given)))
    return found


def _problems(thing: object, body: Body | None) -> tuple[Problem, ...]:
    if isinstance(thing, Body):
        return check_body(thing)
    if isinstance(thing, Animation):
        return all_problems(thing)
    if isinstance(thing, Motion):
        with np.errstate(all="ignore"):
            more = check_units(thing) if body is None else check_motion_on_body(thing, body)
            return (*check_motion(thing), *more)
    return tuple(getattr(thing, "problems", ()))


def _in_order(problems: tuple[Problem, ...], path: str | None = None) -> tuple[Problem, ...]:
    """Sort by place: the file itself before its parts, what has no line last."""

    def key(problem: Problem) -> tuple[bool, str, float, float]:
        at = problem.location
        line = float("inf") if at.line is None else float(at.line)
        return (at.path not in (path, None), at.path or "", line, float(at.column or 0))

    return tuple(sorted(dict.fromkeys(problems), key=key))
