"""Reading animation files: everything that is wrong with one is said in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.animation import Animation, Keyframes
from bodymotion.diagnostics import FormatError, Location, Problem
from bodymotion.diagnostics.source import Source
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.agreement import check_columns, check_names, check_options, check_parameters
from bodymotion.formats.cha.columns import Header, read_header
from bodymotion.formats.cha.comments import Comments, Remark
from bodymotion.formats.cha.findings import Findings, Place
from bodymotion.formats.cha.keyframes import check_keyframes
from bodymotion.formats.cha.options import OptionsReader
from bodymotion.formats.cha.parameters import ParametersReader
from bodymotion.formats.cha.places import Places
from bodymotion.formats.cha.rows import MANY, Rows, common_width, read_rows
from bodymotion.formats.cha.sections import Sections, split
from bodymotion.formats.cha.text import Text, is_no_text, read_text
from bodymotion.formats.cha.words import TIME
from bodymotion.geometry.arrays import frozen
from bodymotion.system.open_files import open_file

__all__ = ["check_animation", "check_cha", "examine", "parse_cha", "read_cha"]


def read_cha(path: str | Path) -> Animation:
    """Read an animation file.

    Raises
    ------
    FormatError
        For what the document forbids, or of which nothing can be played: the first such fault in the file; `problems` of the exception are
        all faults. What is odd but playable is in `Animation.problems`.
    """
    return _or_error(*examine(_content(path), path))


def parse_cha(data: bytes, path: str | Path = "") -> Animation:
    """Read an animation from the bytes of a file; `path` gives the move its name, and messages theirs. Raises as `read_cha` does."""
    return _or_error(*examine(data, path))


def check_cha(path: str | Path) -> tuple[Problem, ...]:
    """Return all that is wrong with an animation file, errors too, in the order of the file."""
    try:
        return examine(_content(path), path)[1]
    except FormatError as error:
        return error.problems


def check_animation(animation: Animation) -> tuple[Problem, ...]:
    """Return all rules of the document that an animation breaks, wherever it comes from."""
    source = animation.source.path
    findings, places = Findings(None if source is None else str(source)), Places()
    check_names(animation, findings)
    check_options(animation, places, findings)
    check_parameters(animation, places, findings)
    check_columns(animation, places, findings)
    check_keyframes(animation, places, findings)
    return findings.problems


def _or_error(animation: Animation | None, problems: tuple[Problem, ...]) -> Animation:
    error = next((problem for problem in problems if problem.severity == "error"), None)
    if error is not None:
        raise FormatError(error, problems)
    assert animation is not None
    return animation


def _content(path: str | Path) -> bytes:
    try:
        with open_file(path) as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise rules.UNREADABLE.error(reason, Location(str(path))) from error


def move_name(path: str | Path) -> str:
    """Return the name of the move in a file: the file's name up to the first ".cha"."""
    return Path(path).name.split(".cha")[0]


def examine(data: bytes, path: str | Path = "") -> tuple[Animation | None, tuple[Problem, ...]]:
    """Read an animation as far as that can be done.

    Parameters
    ----------
    data:
        The content of the file.
    path:
        Gives the move its name, and messages theirs.

    Returns
    -------
    The animation, with the keyframes and options that could be read, or None where there are no columns, tracks or times; and all
    problems in the order of the file. Where one of them is an error, the animation is not what the file means.
    """
    findings = Findings(str(path) or None)
    if is_no_text(data):
        findings.add(rules.NO_TEXT, "this is no text", Place(1, 1))
        return None, findings.problems
    text = read_text(data, findings)
    sections = split(text.data, findings)
    options, parameters = OptionsReader(findings), ParametersReader(findings)
    options.read(sections.options)
    parameters.read(sections.parameters)
    header = Header() if sections.header is None else read_header(sections.header, findings)
    timed = TIME in header.places
    clocked = timed or "frequency" in options.places
    rows = _rows(text.data, sections, header, clocked, findings)
    places = Places(
        options.places,
        parameters.places,
        header.places,
        None if sections.header is None else sections.header.place,
        Place(1, 1),
        rows,
        {name: k for k, name in enumerate(header.values) if name},
    )
    _check_clock(timed, clocked, options, header, places, findings)
    keyframes = _keyframes(rows, header, options.options.get("frequency"), timed)
    source = _source(path, text, options, parameters, sections, rows, keyframes)
    animation = Animation(
        name=move_name(path),
        options=options.options,
        parameters=parameters.parameters,
        keyframes=Keyframes() if keyframes is None else keyframes,
        source=source,
    )
    if sections.options:
        check_options(animation, places, findings)
    check_parameters(animation, places, findings)
    if header.keywords or header.unknown:
        looked_at = animation if keyframes is not None else _untimed(animation, rows, header)
        if not header.unknown:
            check_columns(looked_at, places, findings)
        check_keyframes(looked_at, places, findings, timed)
    problems = findings.problems
    made = None
    if keyframes is not None and "controls" in options.options:
        made = Animation(
            name=animation.name,
            options=animation.options,
            parameters=animation.parameters,
            keyframes=keyframes,
            problems=problems,
            source=source,
        )
    return made, problems


def _rows(data: bytes, sections: Sections, header: Header, clocked: bool, findings: Findings) -> Rows | None:
    if sections.header is None or header.is_numbers:
        return None
    width, names = len(header.values), tuple(header.names)
    each = common_width(data, sections.rows_begin, width)
    if not each:
        return read_rows(data, sections.rows_begin, width, names, findings)
    # Not all lines are wrong, but the one above them. Where it is known what is wrong there, that is enough.
    if not header.unknown and (clocked or each != width + 1):
        takes = f"the columns take {width} value{'s' * (width != 1)}, and each keyframe has {each}"
        findings.add(rules.WIDTH, takes, sections.header.place)
    found = read_rows(data, sections.rows_begin, each, tuple(f"column {k + 1}" for k in range(each)), findings)
    none = np.zeros((0, width))
    left_out = found.left_out + len(found.values)
    return Rows(data, none, none > 0, found.begins[:0], found.comments, left_out, begins_late=True, each=each)


def _check_clock(
    timed: bool, clocked: bool, options: OptionsReader, header: Header, places: Places, findings: Findings
) -> None:
    if timed and "frequency" in options.places:
        said = f"'time' stands here, and the option 'frequency' in line {options.places['frequency'][0].line}"
        findings.add(rules.TIME_AND_FREQUENCY, said, places.column(TIME))
    if header.keywords and not clocked:
        said = "there is neither a column 'time' nor an option 'frequency'"
        if places.rows is not None and places.rows.each == len(header.values) + 1 and not header.unknown:
            said += "; each keyframe has one value more than the columns take: 'time' may be missing here"
        findings.add(rules.TIME_MISSING, said, places.column(TIME))


def _keyframes(rows: Rows | None, header: Header, frequency: object, timed: bool) -> Keyframes | None:
    """Make the table of what was read; None where it has no times."""
    if rows is None:
        return None
    if timed:
        times = rows.values[:, header.values.index(TIME)]
    elif isinstance(frequency, float) and frequency > 0:
        with np.errstate(over="ignore"):
            times = np.arange(len(rows.values)) / frequency
    else:
        return None
    chosen = [k for k, name in enumerate(header.values) if name not in ("", TIME)]
    names = tuple(header.values[k] for k in chosen)
    return Keyframes(
        columns=names,
        values=frozen(_take(rows.values, chosen)),
        times=frozen(np.ascontiguousarray(times)),
        header=tuple(header.keywords),
        exact_zeros=_take(rows.zeros, chosen),
    )


def _take(table: npt.NDArray[Any], chosen: list[int]) -> npt.NDArray[Any]:
    if not chosen:
        return table[:, :0]
    if chosen == list(range(chosen[0], chosen[-1] + 1)):
        return table[:, chosen[0] : chosen[-1] + 1]
    return table[:, chosen]


def _untimed(animation: Animation, rows: Rows | None, header: Header) -> Animation:
    """Return the animation with its keyframes one second apart: to look at their values where nothing says their times."""
    frames = None if rows is None else _keyframes(rows, header, 1.0, TIME in header.places)
    return Animation(options=animation.options, keyframes=Keyframes() if frames is None else frames)


def _source(
    path: str | Path,
    text: Text,
    options: OptionsReader,
    parameters: ParametersReader,
    sections: Sections,
    rows: Rows | None,
    keyframes: Keyframes | None,
) -> Source:
    above = tuple(line.comment for line in sections.above_header if line.comment)
    header = Remark(above, sections.header.comment if sections.header else "")
    before: dict[float, list[str]] = {}
    after: dict[float, str] = {}
    end: list[str] = []
    for row, comment, behind in rows.comments if rows is not None and keyframes is not None else ():
        if row >= len(keyframes or ()):
            end.append(comment)
            continue
        assert keyframes is not None
        time = float(keyframes.times[row])
        lines = before.setdefault(time, [])
        if behind:
            after[time] = comment
        else:
            lines.append(comment)
    remarks = {time: Remark(tuple(lines), after.get(time, "")) for time, lines in before.items()}
    comments = Comments(options.remarks, parameters.remarks, header, remarks, (options.end, parameters.end, tuple(end)))
    kept = {"newline": text.newline, "comments": comments, "unread": tuple(options.unread)}
    if rows is not None and keyframes is not None and len(rows.data) < MANY:
        ends = np.flatnonzero(np.frombuffer(rows.data, np.uint8) == ord("\n"))
        kept["keyframe_lines"] = tuple((np.searchsorted(ends, rows.begins) + 1).tolist())
    return Source("cha", Path(path) if str(path) else None, "", text.encoding, kept)
