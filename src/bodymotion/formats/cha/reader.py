"""Read animation files, and check animations against the document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from bodymotion.animation import Animation, Keyframes
from bodymotion.diagnostics import Diagnostics, Location, Locator, Problem, ReadResult, Source, SourceMap, Subject
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.head import Header, OptionsReader, ParametersReader, read_header
from bodymotion.formats.cha.head_checks import Checked, check_columns, check_names, check_options, check_parameters
from bodymotion.formats.cha.keyframe_checks import check_keyframes
from bodymotion.formats.cha.keywords import TIME
from bodymotion.formats.cha.lines import Comments, LineComments, Text, is_no_text, read_text
from bodymotion.formats.cha.rows import Rows, common_width, read_rows
from bodymotion.formats.cha.sections import split
from bodymotion.geometry.arrays import frozen
from bodymotion.system.files import open_file

_MAX_LOCATED_BYTES = 1 << 20
"""The columns of values are located in files up to this size, whose text is kept; in larger ones only their lines."""
_PARTS: tuple[Subject, ...] = (("options",), ("parameters",), ("columns",), ("keyframes",))
_APART = frozenset(
    rule.code
    for rule in (
        *(rules.OPTION_UNKNOWN, rules.OPTION_CASE, rules.PARAMETER_UNKNOWN),
        *(rules.ROW_SHORT, rules.ROW_LONG, rules.NUMBER),
    )
)
"""Errors that leave the rest of the motion as it is."""
_PLAYED_OPTIONS = ("controls", "bpm", "frequency", "arm_playback")
"""Options that change how the keyframes are played; a fault in another one leaves the motion as it is."""


def read_cha(path: str | Path, *, parameters: Mapping[str, float] | None = None) -> ReadResult[Animation]:
    """Read an animation file: the animation, and everything that is wrong with the file, in its order.

    `parameters` are other defaults of its parameters, by name.

    The animation has the options, parameters and keyframes that could be read. It is None where there are no tracks, columns or times.
    """
    try:
        with open_file(path) as file:
            data = file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return ReadResult(None, (rules.UNREADABLE.problem(reason, Location(str(path))),))
    result = parse_cha(data, path)
    if parameters and result.value is not None:
        return replace(result, value=result.value.with_parameters(parameters))
    return result


def check_animation(animation: Animation) -> tuple[Problem, ...]:
    """Return all problems of an animation by the rules of the document, whatever the animation comes from."""
    source = animation.source.path
    checked = Checked(animation, Diagnostics(None if source is None else str(source)))
    for check in (check_names, check_options, check_parameters, check_columns, check_keyframes):
        check(checked)
    return checked.found.problems


_PLAYING_RULES = frozenset(
    rule.code
    for rule in (
        rules.OPTION_NUMBER,
        rules.BPM_POSITIVE,
        rules.PARAMETER_NUMBER,
        rules.SPEED_ZERO,
        rules.PARAMETER_HUGE,
        rules.NOT_FINITE,
        rules.TIME_NEGATIVE,
        rules.TIME_BACK,
        rules.TIME_REPEATED,
        rules.QUATERNION_ZERO,
        rules.VALUE_HUGE,
        rules.MOVE_LONG,
    )
)


def unplayable(animation: Animation) -> tuple[Problem, ...]:
    """Return the errors because of which an animation cannot be played; `check_animation` reports all other rules of the document."""
    return tuple(problem for problem in check_animation(animation) if problem.rule in _PLAYING_RULES)


def move_name(path: str | Path) -> str:
    """Return the name of the move in a file: the file's name up to the first ".cha", in upper or lower case."""
    return re.split(r"\.cha", Path(path).name, maxsplit=1, flags=re.IGNORECASE)[0]


def parse_cha(data: bytes, path: str | Path = "") -> ReadResult[Animation]:
    """Read an animation from the content of a file; `path` gives the move its name. Otherwise like `read_cha`."""
    found = Diagnostics()
    if is_no_text(data):
        found.report(rules.NO_TEXT, "the content is not text", Location(None, 1, 1))
        return ReadResult(None, _in_file_order(found, path))
    file = _File(path, read_text(data, found), found)
    animation = file.animation()
    if animation is not None:
        problems = _in_file_order(found, path)
        locations = SourceMap(file.entries(at=str(path)), unknown=_unknown(file, problems))
        animation = replace(animation, problems=problems, source=replace(animation.source, locations=locations))
    return ReadResult(animation, _in_file_order(found, path))


def _unknown(file: _File, problems: tuple[Problem, ...]) -> set[Subject]:
    """Return the parts of an animation about which only follow-up findings are left: the rules were checked on all that could be read.

    Where the errors are in single keyframes, the motion is known except next to them.
    """
    lines = {
        words[0].line: name for reader in (file.options, file.parameters) for name, words in reader.locations.items()
    }

    def is_apart(problem: Problem) -> bool:
        name = lines.get(problem.location.line, "")
        if name in file.parameters.locations:
            return problem.rule == rules.PARAMETER_NUMBER.code or problem.rule not in _PLAYING_RULES
        return problem.rule in _APART or (name in file.options.locations and name not in _PLAYED_OPTIONS)

    errors = [problem for problem in problems if problem.severity == "error"]
    if not errors:
        return set()
    if file.rows is None or not all(map(is_apart, errors)):
        return set(_PARTS)
    return {("keyframes", row + k) for row in file.rows.gaps for k in (-2, -1, 0, 1)}


def _in_file_order(found: Diagnostics, path: str | Path) -> tuple[Problem, ...]:
    """Return all problems in the order of the file, with its path."""
    name = str(path) or None
    named = (replace(problem, location=replace(problem.location, path=name)) for problem in found.problems)
    return tuple(sorted(named, key=lambda p: (p.location.line or 0, p.location.column or 0)))


class _File:
    """A file while it is read."""

    def __init__(self, path: str | Path, text: Text, found: Diagnostics) -> None:
        self.path, self.text, self.found = path, text, found
        self.sections = split(text.data, found)
        self.options, self.parameters = OptionsReader(found), ParametersReader(found)
        self.options.read(self.sections.options)
        self.parameters.read(self.sections.parameters)
        self.header = Header() if self.sections.header is None else read_header(self.sections.header, found)
        self.has_time_column = TIME in self.header.locations
        self.has_times = self.has_time_column or "frequency" in self.options.locations
        self.rows = self._rows()

    def _rows(self) -> Rows | None:
        data, header, start = self.text.data, self.header, self.sections.rows_begin
        if self.sections.header is None or header.is_numbers:
            return None
        width, names = len(header.values), tuple(header.names)
        common = common_width(data, start, width)
        if not common:
            return read_rows(data, start, width, names, self.found)
        # The line of columns is wrong, not all the lines below it. Where its fault is known already, that is enough.
        if not header.unknown and (self.has_times or common != width + 1):
            message = f"the columns take {width} value{'s' * (width != 1)}, but each keyframe has {common}"
            self.found.report(rules.WIDTH, message, self.sections.header.location)
        names = tuple(f"column {k + 1}" for k in range(common))
        read = read_rows(data, start, common, names, self.found)
        none = np.zeros((0, width))
        left_out = len(read.left_out) + len(read.values)
        return Rows(data, none, none > 0, read.begins[:0], read.comments, [0] * left_out, [], common)

    def animation(self) -> Animation | None:
        """Return the animation, after a check of all its rules; None without tracks, columns or times."""
        found, header, options = self.found, self.header, self.options.options
        locations = SourceMap(self.entries())
        self._check_times(locations)
        keyframes = self._keyframes(options.get("frequency"))
        animation = Animation(
            name=move_name(self.path),
            options=options,
            parameters=self.parameters.parameters,
            keyframes=Keyframes() if keyframes is None else keyframes,
            source=self._source(keyframes),
        )
        checked = Checked(animation, found, locations, self.has_time_column)
        if self.rows is not None:
            checked.begins_late = 0 in self.rows.gaps
        if self.sections.options:
            if "controls" in self.options.locations and "controls" not in options:
                found.mark_unknown(("options", "controls"))
            check_options(checked)
        check_parameters(checked)
        if header.keywords or header.unknown:
            if keyframes is None:
                # Keyframes one second apart: their values are checked where their times are unknown.
                untimed = self._keyframes(1.0)
                frames = Keyframes() if untimed is None else untimed
                checked = replace(checked, animation=replace(animation, keyframes=frames))
            if not header.unknown:
                check_columns(checked)
            check_keyframes(checked)
        return None if keyframes is None or "controls" not in options else animation

    def _check_times(self, locations: SourceMap) -> None:
        location = locations.locate(("columns", TIME))
        if self.has_time_column and "frequency" in self.options.locations:
            line = self.options.locations["frequency"][0].line
            message = f"there are both the column 'time' and the option 'frequency' in line {line}"
            self.found.report(rules.TIME_AND_FREQUENCY, message, location)
        if self.header.keywords and not self.has_times:
            message = "there is neither a column 'time' nor an option 'frequency'"
            one_more = self.rows is not None and self.rows.common_width == len(self.header.values) + 1
            if one_more and not self.header.unknown:
                message += "; each keyframe has one value more than the columns take: is 'time' missing here?"
            self.found.report(rules.TIME_MISSING, message, location)

    def _keyframes(self, frequency: object) -> Keyframes | None:
        """Return the keyframes that were read; None where they have no times."""
        rows, header = self.rows, self.header
        if rows is None:
            return None
        if self.has_time_column:
            times = rows.values[:, header.values.index(TIME)]
        elif isinstance(frequency, float) and frequency > 0:
            with np.errstate(over="ignore"):
                times = np.arange(len(rows.values)) / frequency
        else:
            return None
        chosen = [k for k, name in enumerate(header.values) if name not in ("", TIME)]
        return Keyframes(
            columns=tuple(header.values[k] for k in chosen),
            values=frozen(rows.values[:, chosen]),
            times=frozen(np.ascontiguousarray(times)),
            header=tuple(header.keywords),
            exact_zeros=rows.zeros[:, chosen],
        )

    def entries(self, at: str | None = None) -> dict[Subject, Location | Locator]:
        """Return the locations of all parts, in the file `at`; without it, in the text that is just being read."""
        path = at or None
        entries: dict[Subject, Location | Locator] = {
            ("options",): Location(path, 1, 1),
            ("keyframes",): _row_locator(self.rows, self.header, path, at is None),
        }
        if self.sections.header is not None:
            entries["columns",] = replace(self.sections.header.location, path=path)
        for section, words in (("options", self.options.locations), ("parameters", self.parameters.locations)):
            for name, locations in words.items():
                entries[section, name] = _word_locator(locations, path)
        for name, location in self.header.locations.items():
            entries["columns", name] = replace(location, path=path)
        return entries

    def _source(self, keyframes: Keyframes | None) -> Source:
        sections, rows = self.sections, self.rows
        above = tuple(line.comment for line in sections.above_header if line.comment)
        header = LineComments(above, sections.header.comment if sections.header else "")
        at_rows, end = _row_comments(rows, keyframes)
        ends = self.options.end_comments, self.parameters.end_comments, end
        comments = Comments(self.options.comments, self.parameters.comments, header, at_rows, ends)
        kept = {"newline": self.text.newline, "comments": comments, "unread": tuple(self.options.unread)}
        kept["left_out"] = () if rows is None else tuple(rows.left_out)
        return Source("cha", Path(self.path) if str(self.path) else None, "", self.text.encoding, kept)


def _row_comments(
    rows: Rows | None, keyframes: Keyframes | None
) -> tuple[Mapping[float, LineComments], tuple[str, ...]]:
    """Return the comments at keyframes by time, and those after the last keyframe."""
    before: dict[float, list[str]] = {}
    after: dict[float, str] = {}
    end: list[str] = []
    if rows is not None and keyframes is not None:
        for row, comment, is_behind in rows.comments:
            if row >= len(keyframes):
                end.append(comment)
                continue
            time = float(keyframes.times[row])
            lines = before.setdefault(time, [])
            if is_behind:
                after[time] = comment
            else:
                lines.append(comment)
    return {time: LineComments(tuple(lines), after.get(time, "")) for time, lines in before.items()}, tuple(end)


def _word_locator(locations: tuple[Location, ...], path: str | None) -> Locator:
    """Return a locator of a keyword (of the subject's rest `()`) and of its values (of `(k,)`)."""

    def locate(rest: Subject) -> Location:
        word = int(rest[0]) + 1 if rest else 0
        return replace(locations[min(word, len(locations) - 1)], path=path)

    return locate


def _row_locator(rows: Rows | None, header: Header, path: str | None, in_text: bool) -> Locator:
    """Return a locator of keyframes (of the subject's rest `(row,)`) and of their values (`(row, column)`)."""
    if rows is None:
        return lambda rest: None
    value_of = {name: k for k, name in enumerate(header.values) if name}
    lines = rows.line_numbers
    text = rows if in_text or len(rows.data) <= _MAX_LOCATED_BYTES else None

    def locate(rest: Subject) -> Location | None:
        row = int(rest[0]) if rest else -1
        if not 0 <= row < len(lines):
            return None
        if text is None or len(rest) == 1:
            return Location(path, int(lines[row]), 1)
        return replace(text.location(row, value_of.get(str(rest[1]), 0)), path=path)

    return locate
