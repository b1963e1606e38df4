"""Read animation files, and check animations against the document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Locator,
    Problem,
    ReadResult,
    Source,
    SourceMap,
    Subject,
)
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.geometry.arrays import frozen
from bodymotion.motion.rules import MOTION_NOT_FINITE, TIME_ORDER
from bodymotion.spot.animation import TRACKS, Animation, Keyframes
from bodymotion.spot.cha import rules
from bodymotion.spot.cha.head import (
    Header,
    OptionsReader,
    ParametersReader,
    read_header,
)
from bodymotion.spot.cha.head_checks import (
    Checked,
    check_columns,
    check_names,
    check_options,
    check_parameters,
)
from bodymotion.spot.cha.keyframe_checks import check_keyframes
from bodymotion.spot.cha.keywords import COLUMNS, TIME
from bodymotion.spot.cha.rows import (
    Comments,
    LineComments,
    Rows,
    Text,
    common_width,
    is_no_text,
    read_rows,
    read_text,
)
from bodymotion.spot.cha.sections import split

# The columns of values are located in files up to this size, whose text is kept. In
# larger ones only their lines.
_MAX_LOCATED_BYTES = 1 << 20
_PARTS: tuple[Subject, ...] = (
    ("options",),
    ("parameters",),
    ("columns",),
    ("keyframes",),
)
_APART_RULES = (
    TOO_LARGE,
    rules.CONTROL,
    rules.BLANK_LINES,
    rules.BLANK_MISSING,
    rules.COMMENT_SECTION,
    rules.SECTIONS,
    rules.PARAMETERS_MISSING,
    rules.OPTION_UNKNOWN,
    rules.OPTION_CASE,
    rules.PARAMETER_UNKNOWN,
    rules.ROW_SHORT,
    rules.ROW_LONG,
    rules.NUMBER,
    rules.GRIPPER_MISSING,
    *rules.OF_CYCLES,
)
# Errors that leave the rest of the motion as it is.
_APART = frozenset(rule.code for rule in _APART_RULES)

_PLAYING_RULES = (
    rules.OPTION_NUMBER,
    rules.BPM_POSITIVE,
    rules.PARAMETER_NUMBER,
    rules.SPEED_ZERO,
    rules.PARAMETER_HUGE,
    MOTION_NOT_FINITE,
    rules.TIME_NEGATIVE,
    TIME_ORDER,
    rules.QUATERNION_ZERO,
    rules.VALUE_HUGE,
    rules.MOVE_LONG,
)
# Errors because of which an animation cannot be played.
_PREVENTS_PLAYING = frozenset(rule.code for rule in _PLAYING_RULES)


def read_cha(
    path: str | Path, *, parameters: Mapping[str, float] | None = None
) -> ReadResult[Animation]:
    """Read an animation file.

    The animation, and everything that is wrong with the file, in its order.

    `parameters` are other defaults of its parameters, by name.

    The animation has the options, parameters and keyframes that could be read. It is
    None where there are no tracks, columns or times.
    """
    try:
        data = file_bytes(path)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    result = parse_cha(data, path)
    if parameters and result.value is not None:
        return replace(result, value=result.value.with_parameters(parameters))
    return result


def check_animation(animation: Animation) -> tuple[Problem, ...]:
    """Return all problems of an animation by the rules of the document.

    Whatever the animation comes from.
    """
    source = animation.source.path
    checked = Checked(animation, Diagnostics(None if source is None else str(source)))
    # Checks in the order in which a file has the parts.
    for check in (
        check_names,
        check_options,
        check_parameters,
        check_columns,
        check_keyframes,
    ):
        check(checked)
    return checked.found.problems


def unplayable(animation: Animation) -> tuple[Problem, ...]:
    """Return the errors because of which an animation cannot be played.

    `check_animation` reports all other rules of the document.
    """
    problems = check_animation(animation)
    return tuple(problem for problem in problems if problem.rule in _PREVENTS_PLAYING)


def is_apart(error: Problem) -> bool:
    """Return whether an error of an animation leaves the motion known.

    At least that away from the keyframe that has the error.
    """
    # Without tracks, or with an absurd length, nothing can be said about the motion.
    if error.rule in (rules.CONTROLS_MISSING.code, rules.MOVE_LONG.code):
        return False
    parts = (("options",), ("parameters",), ("keyframes",))
    return error.rule in _APART or error.subject[:1] in parts


def move_name(path: str | Path) -> str:
    """Return the name of the move in a file.

    The file's name up to the first ".cha", in upper or lower case.
    """
    return re.split(r"\.cha", Path(path).name, maxsplit=1, flags=re.IGNORECASE)[0]


def parse_cha(data: bytes, path: str | Path = "") -> ReadResult[Animation]:
    """Read an animation from the content of a file.

    `path` gives the move its name. Otherwise like `read_cha`.
    """
    found = Diagnostics()
    # Control characters or few valid letters: binary data, of which no line is shown.
    if is_no_text(data):
        found.report(rules.NO_TEXT, "the content is not text", Location(None, 1, 1))
        return ReadResult(None, _in_file_order(found, path))
    file = _File(path, read_text(data, found), found)
    animation = file.animation()
    # The locations of the finished animation name the file, and mark the parts that
    # errors leave unknown.
    if animation is not None:
        problems = _in_file_order(found, path)
        locations = SourceMap(
            file.entries(at=str(path)), unknown=_unknown(file, problems)
        )
        animation = replace(
            animation,
            problems=problems,
            source=replace(animation.source, locations=locations),
        )
    return ReadResult(animation, _in_file_order(found, path))


def _unknown(file: _File, problems: tuple[Problem, ...]) -> set[Subject]:
    """Return the parts of an animation about which only follow-up findings are left.

    The rules were checked on all that could be read.

    Where the errors are in single keyframes, the motion is known except next to them.
    """
    # Errors in a line of the head with a known keyword leave the rest readable.
    words_of_head = chain(
        file.options.locations.values(), file.parameters.locations.values()
    )
    lines = {words[0].line for words in words_of_head}
    errors = [problem for problem in problems if problem.severity == "error"]
    # A column that is no misspelling of another one cannot stand for a known one.
    certain = () if file.header.is_misspelt else (rules.COLUMN_UNKNOWN.code,)
    if file.rows is None or not all(
        e.location.line in lines or e.rule in certain or is_apart(e) for e in errors
    ):
        return set(_PARTS)
    # Two keyframes on each side depend on one that was left out.
    return {
        ("keyframes", sum(pair)) for pair in product(file.rows.gaps, (-2, -1, 0, 1))
    }


def _in_file_order(found: Diagnostics, path: str | Path) -> tuple[Problem, ...]:
    """Return all problems in the order of the file, with its path."""
    name = str(path) or None
    named = (
        replace(problem, location=replace(problem.location, path=name))
        for problem in found.problems
    )
    # Several readers and checks report in turn: sort by line and column.
    return tuple(
        sorted(named, key=lambda p: (p.location.line or 0, p.location.column or 0))
    )


class _File:
    """A file while it is read."""

    def __init__(self, path: str | Path, text: Text, found: Diagnostics) -> None:
        """Read all sections; `animation` puts them together."""
        self.path = path
        self.text = text
        self.found = found
        # Read in the order of the file. Each step reports on its own and leaves what it
        # could read.
        self.sections = split(text.data, found)
        self.options = OptionsReader(found)
        self.parameters = ParametersReader(found)
        self.options.read(self.sections.options)
        self.parameters.read(self.sections.parameters)
        if self.sections.header is None:
            self.header = Header()
        else:
            self.header = read_header(self.sections.header, found)
        # Times come from the column, or from a constant frequency.
        self.has_time_column = TIME in self.header.locations
        self.has_times = self.has_time_column or "frequency" in self.options.locations
        self.rows = self._rows()

    def _rows(self) -> Rows | None:
        """Read the keyframes; None without a header."""
        data = self.text.data
        header = self.header
        start = self.sections.rows_begin
        # A line of numbers in place of the header: without names no value can be read.
        if self.sections.header is None or header.is_numbers:
            return None
        width = len(header.values)
        names = tuple(header.names)
        # All lines may have one other width: then the header is at fault.
        common = common_width(data, start, width)
        if not common:
            return read_rows(data, start, width, names, self.found)
        # The line of columns is wrong, not all the lines below it. Where its fault is
        # known already, that is enough.
        if not header.unknown and (self.has_times or common != width + 1):
            message = (
                f"the columns take {width} value{'s' * (width != 1)}, but each "
                f"keyframe has {common}"
            )
            self.found.report(rules.WIDTH, message, self.sections.header.location)
        # Read the rows all the same: other faults in them are reported. Their values
        # get generic names, since those of the header do not fit.
        names = tuple(f"column {k + 1}" for k in range(common))
        read = read_rows(data, start, common, names, self.found)
        # No keyframe: an empty table of the header's width, and all lines left out.
        none = np.zeros((0, width))
        left_out = len(read.left_out) + len(read.values)
        return Rows(
            data,
            none,
            none > 0,
            read.begins[:0],
            read.comments,
            [0] * left_out,
            [],
            common,
        )

    def animation(self) -> Animation | None:
        """Return the animation, after a check of all its rules.

        None without tracks, columns or times.
        """
        options = self.options.options
        locations = SourceMap(self.entries())
        # Times first: other checks rely on them.
        self._check_times(locations)
        # An unknown track may be any: assume those that the columns are for.
        if self.options.has_unknown_track:
            options["controls"] = self._possible_tracks()
        keyframes = self._keyframes(options.get("frequency"))
        animation = Animation(
            name=move_name(self.path),
            options=options,
            parameters=self.parameters.parameters,
            keyframes=Keyframes() if keyframes is None else keyframes,
            source=self._source(keyframes),
        )
        checked = Checked(animation, self.found, locations, self.has_time_column)
        # A faulty first row may have been the one at time 0.
        if self.rows is not None:
            checked.begins_late = 0 in self.rows.gaps
        if self.sections.options:
            # Misspelt `controls`: its absence is not reported as well.
            if "controls" in self.options.locations and "controls" not in options:
                self.found.mark_unknown(("options", "controls"))
            check_options(checked)
        check_parameters(checked)
        if keyframes is None:
            # Keyframes one second apart: their values are checked where their times
            # are unknown.
            untimed = self._keyframes(1.0)
            frames = Keyframes() if untimed is None else untimed
            checked = replace(checked, animation=replace(animation, keyframes=frames))
        # Without any known column there is nothing to check them against.
        if self.header.keywords or self.header.unknown:
            self._check_columns(checked)
        if keyframes is None or "controls" not in options:
            return None
        return animation

    def _possible_tracks(self) -> tuple[str, ...]:
        """Return the tracks of an animation that names an unknown one.

        It may be any track that has columns: nothing else follows from it.
        """
        names = [name for name in self.header.locations if name in COLUMNS]
        tracks = {COLUMNS[name].track for name in names}
        tracks.update(Animation(options=self.options.options).controls)
        return tuple(track for track in TRACKS if track in tracks)

    def _check_columns(self, checked: Checked) -> None:
        """Check columns and keyframes."""
        of_columns = checked
        if self.header.unknown:
            # An unknown column may be one that is missing: nothing is reported.
            of_columns = replace(checked, found=Diagnostics())
        check_columns(of_columns)
        # Faults of the columns make those of the rows uncertain.
        self.header.is_misspelt |= of_columns.found.has_errors
        check_keyframes(checked)

    def _check_times(self, locations: SourceMap) -> None:
        """Check that there is exactly one source of times."""
        location = locations.locate(("columns", TIME))
        if self.has_time_column and "frequency" in self.options.locations:
            line = self.options.locations["frequency"][0].line
            message = (
                "there are both the column 'time' and the option 'frequency' in line "
                f"{line}"
            )
            self.found.report(rules.TIME_AND_FREQUENCY, message, location)
        if self.header.keywords and not self.has_times:
            message = "there is neither a column 'time' nor an option 'frequency'"
            one_more = (
                self.rows is not None
                # One value more per row than columns: the name `time` was forgotten,
                # rather than the times.
                and self.rows.common_width == len(self.header.values) + 1
            )
            if one_more and not self.header.unknown:
                message += (
                    "; each keyframe has one value more than the columns take: is "
                    "'time' missing here?"
                )
            self.found.report(rules.TIME_MISSING, message, location)

    def _keyframes(self, frequency: object) -> Keyframes | None:
        """Return the keyframes that were read.

        None where they have no times.
        """
        rows = self.rows
        header = self.header
        if rows is None:
            return None
        if self.has_time_column:
            # The times are a column of the table, not of the keyframes.
            times = rows.values[:, header.values.index(TIME)]
        elif isinstance(frequency, float) and frequency > 0:
            # A tiny frequency makes infinite times: the rules report those.
            with np.errstate(over="ignore"):
                times = np.arange(len(rows.values)) / frequency
        else:
            return None
        # "" marks values of unknown columns.
        chosen = [k for k, name in enumerate(header.values) if name not in ("", TIME)]
        return Keyframes(
            columns=tuple(header.values[k] for k in chosen),
            values=frozen(rows.values[:, chosen]),
            times=frozen(np.ascontiguousarray(times)),
            header=tuple(header.keywords),
            exact_zeros=rows.zeros[:, chosen],
        )

    def entries(self, at: str | None = None) -> dict[Subject, Location | Locator]:
        """Return the locations of all parts, in the file `at`.

        Without it, in the text that is just being read.
        """
        path = at or None
        entries: dict[Subject, Location | Locator] = {
            ("options",): Location(path, 1, 1),
            ("keyframes",): _row_locator(self.rows, self.header, path, at is None),
        }
        if self.sections.header is not None:
            entries["columns",] = replace(self.sections.header.location, path=path)
        for section, words in (
            ("options", self.options.locations),
            ("parameters", self.parameters.locations),
        ):
            for name, locations in words.items():
                entries[section, name] = _word_locator(locations, path)
        for name, location in self.header.locations.items():
            entries["columns", name] = replace(location, path=path)
        return entries

    def _source(self, keyframes: Keyframes | None) -> Source:
        """Return where the animation comes from, with what the writer keeps."""
        sections = self.sections
        rows = self.rows
        # Comments, which only the writer needs.
        above = tuple(line.comment for line in sections.above_header if line.comment)
        header = LineComments(above, sections.header.comment if sections.header else "")
        at_rows, end = _row_comments(rows, keyframes)
        ends = self.options.end_comments, self.parameters.end_comments, end
        comments = Comments(
            self.options.comments, self.parameters.comments, header, at_rows, ends
        )
        kept = {
            "newline": self.text.newline,
            "comments": comments,
            "unread": tuple(self.options.unread),
        }
        kept["left_out"] = () if rows is None else tuple(rows.left_out)
        return Source(
            "cha",
            Path(self.path) if str(self.path) else None,
            "",
            self.text.encoding,
            kept,
        )


def _row_comments(
    rows: Rows | None, keyframes: Keyframes | None
) -> tuple[Mapping[float, LineComments], tuple[str, ...]]:
    """Return the comments at keyframes by time, and those after the last keyframe."""
    before: dict[float, list[str]] = {}
    after: dict[float, str] = {}
    end: list[str] = []
    # Comments are kept by time, not by row: editing may add or remove keyframes.
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
    return {
        time: LineComments(tuple(lines), after.get(time, ""))
        for time, lines in before.items()
    }, tuple(end)


def _word_locator(locations: tuple[Location, ...], path: str | None) -> Locator:
    """Return a locator of a keyword and of its values.

    Of the subject's rest `()`, and `(k,)` for a value.
    """

    def locate(rest: Subject) -> Location:
        if rest:
            # Word 0 is the keyword, word k + 1 its value k; a missing value is at the
            # last word.
            word = int(rest[0]) + 1
        else:
            word = 0
        return replace(locations[min(word, len(locations) - 1)], path=path)

    return locate


def _row_locator(
    rows: Rows | None, header: Header, path: str | None, in_text: bool
) -> Locator:
    """Return a locator of keyframes and of their values.

    Of the subject's rest `(row,)`, and `(row, column)` for a value.
    """
    if rows is None:
        return lambda rest: None
    # `value_of` maps columns to words of a row; words without a column are skipped.
    value_of = {name: k for k, name in enumerate(header.values) if name}
    lines = rows.line_numbers
    # Searching a value needs the text; of large files it is not kept.
    if in_text or len(rows.data) <= _MAX_LOCATED_BYTES:
        text = rows
    else:
        text = None

    def locate(rest: Subject) -> Location | None:
        if rest:
            row = int(rest[0])
        else:
            row = -1
        if not 0 <= row < len(lines):
            return None
        if text is None or len(rest) == 1:
            return Location(path, int(lines[row]), 1)
        return replace(text.location(row, value_of.get(str(rest[1]), 0)), path=path)

    return locate
