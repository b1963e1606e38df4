"""Write animation files as they were read, or in canonical form."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import Any, Literal
from unicodedata import category

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Problem,
    Rule,
)
from bodymotion.diagnostics.text import counted, listed
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.spot import losses
from bodymotion.spot.animation import GROUPS, Animation, Keyframes
from bodymotion.spot.cha.keywords import COLUMNS, OPTIONS, PARAMETERS, TIME, singles
from bodymotion.spot.cha.reader import check_animation, move_name
from bodymotion.spot.cha.rows import COMMENT, Comments, LineComments
from bodymotion.system.files import whole_file

# Unicode categories of control characters, surrogates and separators of lines.
_NOT_WRITABLE = ("Cc", "Cs", "Zl", "Zp")
Style = Literal["canonical"]


def write_cha(
    animation: Animation, path: str | Path, *, style: Style | None = None
) -> tuple[Problem, ...]:
    """Write an animation to a file, whole or not at all.

    Return what is lost.

    Parameters
    ----------
    animation, path:
        The animation and the file. The name of the move is that of the file.
    style:
        None keeps what was read: the order of options, parameters and columns, groups
        of columns, line ends, and comments at their lines. "canonical" writes equal
        animations as equal texts: the document's order, columns in the largest groups,
        no comments.

    Raises
    ------
    FormatError
        When the animation breaks a rule of the document, so that its file could not be
        loaded; `problems` are all that were found.
    ValueError
        When the style is unknown.
    """
    text, problems = cha_text(animation, style=style)
    with whole_file(path) as stream:
        stream.write(text)
    name = move_name(path)
    source = animation.source.path
    # A name that came from the name of a file may change with the file.
    of_file = (
        ("", name)
        if source is None
        else ("", name, move_name(source), source.name.split(".")[0])
    )
    if animation.name not in of_file:
        message = f"the name of the move, {animation.name[:60]!r}, becomes {name!r}"
        problems = (*problems, losses.NAME.problem(message, Location(str(path))))
    return problems


def cha_text(
    animation: Animation, *, style: Style | None = None
) -> tuple[bytes, tuple[Problem, ...]]:
    """Return the content of the file, and what is lost.

    Raises as `write_cha` does.
    """
    if style not in (None, "canonical"):
        raise ValueError(f"style {style!r} is unknown; expected 'canonical' or None")
    faults = check_animation(animation)
    error = next((problem for problem in faults if problem.severity == "error"), None)
    if error is not None:
        raise FormatError(error, faults)
    return _Writer(animation, canonical=style is not None).text()


class _Writer:
    def __init__(self, animation: Animation, canonical: bool) -> None:
        """Take what the file that was read has kept."""
        self.animation = animation
        self.canonical = canonical
        self.problems = Diagnostics()
        if animation.source.format == "cha" and not canonical:
            kept = animation.source.options
        else:
            kept = {}
        comments = kept.get("comments")
        if isinstance(comments, Comments):
            self.comments = comments
        else:
            self.comments = Comments()
        newline = kept.get("newline")
        self.newline = newline if isinstance(newline, str) else "\n"
        if animation.source.format == "cha":
            unread = animation.source.options.get("unread")
        else:
            unread = ()
        for line in unread if isinstance(unread, tuple) else ():
            self.lost(losses.UNREAD, f"the line {line[:60]!r} is not written")

    def lost(self, rule: Rule, message: str) -> None:
        self.problems.add(rule.problem(message, Location()))

    def text(self) -> tuple[bytes, tuple[Problem, ...]]:
        """Return the content of the file, and what is lost."""
        frames = self.animation.keyframes
        header = self._header()
        options = self._section(
            self._options(TIME in header).items(),
            self.comments.options,
            self.comments.ends[0],
            "the options",
        )
        parameters = self._parameters().items()
        second = self._section(
            parameters,
            self.comments.parameters,
            self.comments.ends[1],
            "the parameters",
        )
        at_header = self.comments.header
        lines = [
            *options,
            "",
            *second,
            "",
            *at_header.before,
            _commented(" ".join(header), at_header.after),
        ]
        head = "".join(f"{line}\n" for line in lines)
        rows = self._rows(frames, header)
        end = "".join(f"{line}\n" for line in self.comments.ends[2])
        content = head.encode() + rows + end.encode()
        if self.newline != "\n":
            content = content.replace(b"\n", self.newline.encode())
        return content, self.problems.problems

    def _section(
        self,
        lines: Iterable[tuple[Any, str]],
        comments: Mapping[Any, LineComments],
        end: tuple[str, ...],
        what: str,
    ) -> list[str]:
        """Return lines with their comments, and those at the `end` of the section."""
        # Comments find their lines by keyword or time; those left over have lost
        # theirs.
        left = dict(comments)
        written: list[str] = []
        for key, line in lines:
            of_line = left.pop(key, LineComments())
            written += [*of_line.before, _commented(line, of_line.after)]
        if left:
            names = listed(map(repr, left))
            count = counted(len(left), "comment")
            message = f"{count} at {what} {names}, which no longer exist"
            self.lost(losses.COMMENTS, message)
        return [*written, *end]

    def _options(self, timed: bool) -> dict[str, str]:
        """Return the lines of options by name."""
        options = self.animation.options
        names = list(options)
        if self.canonical and options.keys() <= OPTIONS.keys():
            names.sort(key=list(OPTIONS).index)
        lines = {}
        for name in names:
            if name not in OPTIONS:
                self.lost(losses.OPTION, f"{name!r} is not an option of the document")
            # The times differ from the constant frequency: they become a column.
            elif name == "frequency" and timed:
                message = (
                    "the times are not multiples of 1 / frequency and are written as a "
                    "column"
                )
                self.lost(losses.FREQUENCY, message)
            # False and None stand for an option that is not set.
            elif options[name] is not None and options[name] is not False:
                line = self._option(name, options[name])
                # An empty description is none.
                if line != "description ":
                    lines[name] = line
        return lines

    def _option(self, name: str, value: object) -> str:
        """Return the line of an option."""
        kind = OPTIONS[name].values
        if not kind:
            return name
        # Tracks and colours.
        if isinstance(value, (tuple, list)):
            return " ".join([name, *map(str, value)])
        if kind == "number" and isinstance(value, Real):
            return f"{name} {_number(value)}"
        if name == "description":
            return f"{name} {self._description(str(value))}"
        return f"{name} {value}"

    def _description(self, text: str) -> str:
        """Return a description as one line without comments."""
        # One line, no comment signs: a reader would cut the text there.
        line = COMMENT.split(" ".join(text.splitlines()), maxsplit=1)[0]
        characters = [
            " " if c != "\t" and category(c) in _NOT_WRITABLE else c for c in line
        ]
        written = "".join(characters).strip()
        if written != text:
            comment = ""
            if COMMENT.search(text):
                comment = ", and # and // begin a comment"
            message = (
                f"the description is written as {written[:60]!r}: it is one line "
                f"without control characters and blanks at its ends{comment}"
            )
            self.lost(losses.DESCRIPTION, message)
        return written

    def _parameters(self) -> dict[str, str]:
        """Return the lines of parameters by name."""
        parameters = self.animation.parameters
        if not parameters:
            return {"": "no parameters"}
        names = list(parameters)
        if self.canonical:
            names.sort(key=list(PARAMETERS).index)
        lines = {}
        for name in names:
            values = [value for value in astuple(parameters[name]) if value is not None]
            lines[name] = " ".join([name, *map(_number, values)])
        return lines

    def _header(self) -> list[str]:
        """Return the keywords of the line of columns."""
        frames = self.animation.keyframes
        frequency = self.animation.options.get("frequency")
        timed = True
        # `frequency` can stand for the times only if it gives them to the last bit.
        if isinstance(frequency, Real) and float(frequency) > 0:
            times = np.arange(len(frames)) / float(frequency)
            timed = not np.array_equal(frames.times, times)
        columns = list(frames.columns)
        if self.canonical:
            columns.sort(key=list(COLUMNS).index)
        # Keep the keywords of the file: groups stay groups, columns of their own stay
        # so.
        keywords = [keyword for keyword in frames.header if timed or keyword != TIME]
        written: list[str] = []
        for keyword in keywords:
            written += [name for name in singles(keyword) if name != TIME]
        # The keywords that were read fit only as long as the columns are the same.
        if self.canonical or written != columns:
            keywords = _grouped(columns)
        # A column of times comes first when it is needed.
        if TIME in keywords or not timed:
            return keywords
        return [TIME, *keywords]

    def _rows(self, frames: Keyframes, header: list[str]) -> bytes:
        """Return the lines of keyframes, with their comments."""
        if not len(frames):
            return b""
        # (N, W) numbers in the order of the header.
        table, bare = _table(frames, header, self.canonical)
        # Zeros that are not the bare text 0 keep their point: the vendor's converter
        # treats the two differently.
        pointed = (table == 0) & ~bare & ~np.signbit(table)
        # orjson writes NaN as null, which becomes 0.0 (see `_number_lines`).
        text = _number_lines(np.where(pointed, np.nan, table))
        if not self.comments.rows:
            return text
        lines = zip(frames.times.tolist(), text.decode().splitlines(), strict=True)
        found = self._section(lines, self.comments.rows, (), "the keyframes at")
        return "".join(f"{line}\n" for line in found).encode()


def _table(
    frames: Keyframes, header: list[str], canonical: bool
) -> tuple[Floats, Bools]:
    """Return all numbers (N, W) of the rows in the order of the header.

    And which zeros (N, W) are the bare text 0.
    """
    names = list(chain.from_iterable(map(singles, header)))
    at = [frames.columns.index(name) if name != TIME else -1 for name in names]
    # Times are the last column; −1 below refers to it.
    full = np.column_stack([frames.values, frames.times])
    if frames.exact_zeros is None:
        zeros = np.ones(frames.values.shape, np.bool_)
    else:
        zeros = frames.exact_zeros
    if canonical:
        # In a column of its own every zero counts as bare, whatever its text.
        single = {*header, *(frames.header or _grouped(list(frames.columns)))}
        alone = [name in single for name in frames.columns]
        zeros = zeros | np.array(alone, np.bool_)
        # Its sign does not count either; in a group the bare text -0 would be another
        # value.
        full[:, :-1][(full[:, :-1] == 0) & np.array(alone, np.bool_)] = 0.0
    # A zero of the times is always bare.
    bare = np.column_stack([zeros, np.ones(len(frames), np.bool_)])
    return full[:, at], bare[:, at]


def _number_lines(table: Floats) -> bytes:
    """Return lines of numbers separated by blanks, whole numbers without a point.

    NaN is written as 0.0.
    """
    import orjson

    # orjson is much faster than repr() and writes the shortest digits that round-trip.
    # `[[a,b],[c,d]]` becomes lines by replacing the brackets.
    text = orjson.dumps(np.ascontiguousarray(table), option=orjson.OPT_SERIALIZE_NUMPY)
    text = text[2:-2].replace(b"],[", b"\n").replace(b",", b" ") + b"\n"
    return text.replace(b".0 ", b" ").replace(b".0\n", b"\n").replace(b"null", b"0.0")


def _grouped(columns: list[str]) -> list[str]:
    """Return keywords for columns in this order, using the largest groups."""
    # Largest first, so that `leg_joints` wins over `fl_angles`.
    groups = sorted(GROUPS, key=lambda name: -len(GROUPS[name]))
    found: list[str] = []
    at = 0
    while at < len(columns):
        fits = (
            name
            for name in groups
            if tuple(columns[at : at + len(GROUPS[name])]) == GROUPS[name]
        )
        keyword = next(fits, columns[at])
        found.append(keyword)
        at += len(singles(keyword))
    return found


def _number(value: Real | float) -> str:
    number = float(value)
    # Whole numbers without a point up to 1e15, where float is exact; −0.0 keeps its
    # sign.
    if number.is_integer() and abs(number) < 1e15 and str(number) != "-0.0":
        return str(int(number))
    return repr(number)


def _commented(line: str, comment: str) -> str:
    if comment:
        return f"{line} {comment}"
    return line
