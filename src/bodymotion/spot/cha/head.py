"""Read the lines above the keyframes: options, parameters and columns."""

import difflib
import math
import re
from itertools import product, starmap

from bodymotion.diagnostics import Diagnostics, Location, Rule
from bodymotion.diagnostics.spelling import choices, meant
from bodymotion.diagnostics.text import counted
from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import GROUPS, TRACKS, Parameter
from bodymotion.spot.cha import rules
from bodymotion.spot.cha.keywords import (
    COLUMNS,
    OPTIONS,
    PARAMETERS,
    PLAYBACKS,
    Keyword,
    singles,
)
from bodymotion.spot.cha.rows import NUMBER, Line, LineComments, Word

_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_MAX_HINTS = (
    50  # Maximum number of unknown columns for which a similar keyword is searched.
)


def _number(word: Word) -> float | None:
    """Return the number that a word is.

    None if it is none, or not finite.
    """
    if NUMBER.fullmatch(word.text):
        value = float(word.text)
    else:
        value = math.nan
    return value if math.isfinite(value) else None


class _SectionReader:
    """What both sections have.

    The locations of all known keywords and of their values, and comments.
    """

    def __init__(self, found: Diagnostics) -> None:
        self.found = found
        self.locations: dict[str, tuple[Location, ...]] = {}
        self.comments: dict[str, LineComments] = {}
        self._pending: list[str] = []
        """The lines with only a comment since the last keyword."""

    def locate(self, name: str, line: Line, twice: Rule) -> None:
        """Locate the words of a line with a known keyword.

        It may be there for a second time.
        """
        if name in self.locations:
            self.found.report(
                twice,
                f"{name!r} is also in line {self.locations[name][0].line}",
                line.location,
            )
        self.locations[name] = tuple(word.location for word in line.words)

    def add_comment_line(self, comment: str) -> None:
        """Add a line that is only a comment."""
        self._pending.append(comment)

    def add_comments_at(self, key: str, comment: str) -> None:
        """Add the line of a keyword, with the comment behind it, if any."""
        old = self.comments.get(key)
        # A keyword that is there twice keeps the comments of both lines.
        if self._pending or comment or old:
            if old:
                before = (*old.before, *([old.after] if old.after else []))
            else:
                before = ()
            self.comments[key] = LineComments((*before, *self._pending), comment)
            self._pending = []

    @property
    def end_comments(self) -> tuple[str, ...]:
        """The comments after the last keyword."""
        return tuple(self._pending)


class OptionsReader(_SectionReader):
    """Reads options; `options` are those that could be read."""

    def __init__(self, found: Diagnostics) -> None:
        super().__init__(found)
        self.options: dict[str, object] = {}
        self.unread: list[str] = []
        """The lines without a known keyword."""
        self.has_unknown_track = False

    def read(self, lines: list[Line]) -> None:
        """Read all lines."""
        for line in lines:
            if not line.words:
                self.add_comment_line(line.comment)
                continue
            word = line.words[0]
            # `controls` is read in any case of letters: without it the whole animation
            # would be unknown. It is still an error.
            if word.text.lower() == "controls":
                name = "controls"
            else:
                name = word.text
            if name != word.text:
                # Without tracks nothing is known of the animation.
                message = (
                    f"found {word.text!r}; expected the option 'controls' in lower case"
                )
                self.found.report(
                    rules.OPTION_CASE, message, word.location, severity="error"
                )
            if name in OPTIONS:
                self._option(OPTIONS[name], line)
                # A description may go on in what has become a comment, rather than
                # being followed by one.
                is_cut = (
                    name == "description"
                    and bool(line.comment)
                    and line.text[-1:] not in (" ", "\t")
                )
                self.add_comments_at(name, "" if is_cut else line.comment)
                continue
            # An unknown line is kept for the writer, its comment goes to the next
            # keyword.
            self._report_unknown(line)
            self.unread.append(line.text.strip())
            if line.comment:
                self.add_comment_line(line.comment)

    def _report_unknown(self, line: Line) -> None:
        """Report a line whose first word is no option."""
        word = line.words[0]
        # In order: wrong case, a parameter in the wrong section, a misspelling.
        if word.text.lower() in OPTIONS:
            message = (
                f"found {word.text!r}; expected the option {word.text.lower()!r} in "
                "lower case"
            )
            self.found.report(rules.OPTION_CASE, message, word.location)
        else:
            if word.text in PARAMETERS:
                hint = "it is a parameter: move it to the second section"
            else:
                hint = ""
            hint = hint or choices(word.text, OPTIONS)
            self.found.report(
                rules.OPTION_UNKNOWN,
                f"{word.text[:60]!r} is not an option",
                word.location,
                hint=hint,
            )

    def _option(self, option: Keyword, line: Line) -> None:
        """Read the line of a known option."""
        name = option.keyword
        values = line.words[1:]
        self.locate(name, line, rules.OPTION_TWICE)
        # Three options take the rest of the line; all others exactly one value, or
        # none.
        if option.values == "text":
            self._text(option, line)
        elif option.values == "tracks":
            self._tracks(line)
        elif option.values == "color":
            self._color(option, line)
        elif self._has_count(option, line):
            if not option.values:
                self.options[name] = True
            elif option.values == "number":
                self._number(option, values[0])
            elif values[0].text in PLAYBACKS:
                self.options[name] = values[0].text
            else:
                message = (
                    f"{name!r} is {values[0].text[:60]!r}, which is not one of its "
                    "values"
                )
                hint = choices(values[0].text, PLAYBACKS)
                self.found.report(
                    rules.PLAYBACK, message, values[0].location, hint=hint
                )
        if not option.in_document:
            self.found.report(
                rules.CONVERTER_ONLY,
                f"{name!r} is not an option of the document",
                line.location,
            )

    def _has_count(self, option: Keyword, line: Line) -> bool:
        """Report too few or too many values; return whether there are enough."""
        expected = int(bool(option.values))
        count = len(line.words) - 1
        if count < expected:
            message = f"{option.keyword!r} has no value"
            self.found.report(
                rules.OPTION_VALUE_MISSING,
                message,
                line.end,
                hint=f"write '{option.shape}'",
            )
        elif count > expected:
            takes = "one value" if expected else "no value"
            extra = line.words[expected + 1]
            message = (
                f"{option.keyword!r} takes {takes}, but {extra.text[:40]!r} follows"
            )
            self.found.report(rules.OPTION_VALUE_EXTRA, message, extra.location)
        return count >= expected

    def _text(self, option: Keyword, line: Line) -> None:
        """Read a description: the text behind the keyword."""
        word = line.words[0]
        assert word.location.column is not None
        # The column is counted from 1: the text behind the word, blanks stripped.
        text = line.text[word.location.column - 1 + len(word.text) :].strip()
        # # and // begin a comment everywhere, so a URL is cut at its //.
        if line.comment:
            message = f"the description ends before {line.comment[:40]!r}"
            self.found.report(
                rules.DESCRIPTION_CUT, message, line.at(len(line.text) + 1)
            )
        if text:
            self.options[option.keyword] = text
        else:
            hint = f"write '{option.shape}'"
            self.found.report(
                rules.OPTION_VALUE_MISSING,
                "the description is empty",
                line.end,
                hint=hint,
            )

    def _tracks(self, line: Line) -> None:
        """Read `controls`: names of tracks, separated by blanks."""
        tracks: list[str] = []
        for word in line.words[1:]:
            if word.text not in TRACKS:
                hint = choices(word.text.strip(","), TRACKS)
                message = f"{word.text[:60]!r} is not a track"
                self.found.report(
                    rules.CONTROLS_TRACK, message, word.location, hint=hint
                )
                # The most similar tracks count, so that this fault has no follow-up
                # findings.
                similar = []
                # Commas are a common slip: each part is compared by itself. 200
                # characters bound the search in hostile files.
                for part in filter(None, re.split("[,;]", word.text[:200].lower())):
                    similar += difflib.get_close_matches(part, TRACKS, 1, 0.7)
                tracks += [track for track in similar if track not in tracks]
                self.has_unknown_track |= not similar
            elif word.text in tracks:
                self.found.report(
                    rules.CONTROLS_TWICE, f"{word.text!r} is named twice", word.location
                )
            else:
                tracks.append(word.text)
        if len(line.words) == 1:
            self.found.report(
                rules.CONTROLS_EMPTY, "'controls' names no track", line.end
            )
        elif tracks:
            self.options["controls"] = tuple(tracks)

    def _color(self, option: Keyword, line: Line) -> None:
        """Read a colour: three whole numbers from 0 to 255."""
        # Each wrong value is reported, and so is a wrong count.
        values = line.words[1:]
        if len(values) != 3:
            if len(values) < 3:
                location = line.end
            else:
                location = values[3].location
            self.found.report(
                rules.COLOR_COUNT,
                f"found {counted(len(values), 'value')}, expected 3",
                location,
            )
        valid = []
        for word, name in zip(values[:3], ("red", "green", "blue"), strict=False):
            if (
                # isdigit() accepts digits of other scripts; int() has no more than nine
                # digits to parse.
                word.text.isascii()
                and word.text.isdigit()
                and len(word.text) < 10
                and int(word.text) <= 255
            ):
                valid.append(int(word.text))
            else:
                message = (
                    f"{name} is {word.text[:40]!r}, expected a whole number from 0 to "
                    "255"
                )
                self.found.report(rules.COLOR_RANGE, message, word.location)
        if len(valid) == len(values) == 3:
            self.options[option.keyword] = tuple(valid)

    def _number(self, option: Keyword, word: Word) -> None:
        """Read an option with one number."""
        value = _number(word)
        if value is None:
            message = (
                f"{option.keyword!r} is {word.text[:40]!r}, expected a finite number"
            )
            self.found.report(rules.OPTION_NUMBER, message, word.location)
        else:
            self.options[option.keyword] = value
            # The vendor's converter reads bpm as an integer: 120.0 fails there.
            if (
                option.keyword == "bpm"
                and value > 0
                and value.is_integer()
                and not _WHOLE.fullmatch(word.text)
            ):
                self.found.report(
                    rules.BPM_WHOLE,
                    f"'bpm' is {word.text[:40]!r}, expected digits only",
                    word.location,
                )


class ParametersReader(_SectionReader):
    """Reads parameters; `parameters` are those that could be read."""

    def __init__(self, found: Diagnostics) -> None:
        super().__init__(found)
        self.parameters: dict[str, Parameter] = {}

    def read(self, lines: list[Line]) -> None:
        """Read all lines."""
        # `no parameters` is the whole section; anything beside it contradicts it.
        none: Location | None = None
        for line in lines:
            if not line.words:
                self.add_comment_line(line.comment)
            elif [word.text.lower() for word in line.words[:2]] == ["no", "parameters"]:
                none = line.location
                # Both words are read in any case and spacing, with a warning.
                if [word.text for word in line.words] != ["no", "parameters"]:
                    message = f"{line.text.strip()[:60]!r} is read as 'no parameters'"
                    self.found.report(rules.NO_PARAMETERS_WORDS, message, line.location)
                elif line.text.strip() != "no parameters":
                    message = (
                        "there is more than one space, or a tab, between 'no' and "
                        "'parameters'"
                    )
                    self.found.report(
                        rules.NO_PARAMETERS_BLANKS, message, line.location
                    )
                self.add_comments_at("", line.comment)
            else:
                self._parameter(line)
        if none is not None and self.locations:
            message = f"there are both 'no parameters' and {', '.join(self.locations)}"
            self.found.report(rules.NO_PARAMETERS_FALSE, message, none)

    def _parameter(self, line: Line) -> None:
        """Read the line of a parameter."""
        word = line.words[0]
        # Upper case is read, with a warning.
        name = word.text.lower()
        if name not in PARAMETERS:
            if name in OPTIONS:
                hint = "it is an option: move it to the first section"
            else:
                hint = ""
            hint = hint or choices(name, PARAMETERS)
            self.found.report(
                rules.PARAMETER_UNKNOWN,
                f"{word.text[:60]!r} is not a parameter",
                word.location,
                hint=hint,
            )
            if line.comment:
                self.add_comment_line(line.comment)
            return
        if word.text != name:
            self.found.report(
                rules.PARAMETER_CASE,
                f"{word.text!r} is read as {name!r}",
                word.location,
            )
        self.locate(name, line, rules.PARAMETER_TWICE)
        self.add_comments_at(name, line.comment)
        self._values(name, line)

    def _values(self, name: str, line: Line) -> None:
        """Read minimum, default and maximum, or none of them."""
        words = line.words[1:]
        # No numbers at all: the robot has the limits (its MoveParamsConfig).
        if len(words) not in (0, 3):
            if len(words) < 3:
                location = line.end
            else:
                location = words[3].location
            message = f"{name!r} has {counted(len(words), 'value')}, expected 3 or none"
            self.found.report(rules.PARAMETER_VALUES, message, location)
        values = []
        for word, what in zip(
            words[:3], ("minimum", "default", "maximum"), strict=False
        ):
            value = _number(word)
            if value is None:
                message = (
                    f"the {what} of {name!r} is {word.text[:40]!r}, expected a finite "
                    "number"
                )
                self.found.report(rules.PARAMETER_NUMBER, message, word.location)
            else:
                values.append(value)
        # All or nothing: a parameter with a faulty number is left out.
        if not words:
            self.parameters[name] = Parameter()
        elif len(values) == 3:
            self.parameters[name] = Parameter(*values)


class Header:
    """The columns of a file.

    Attributes
    ----------
    keywords:
        The known keywords of the line.
    values:
        The column of each value of a row, "" for one that is unknown or not used.
    names:
        The name of each value for messages.
    locations:
        The location of the keyword of each column.
    """

    def __init__(self) -> None:
        self.keywords: list[str] = []
        self.values: list[str] = []
        self.names: list[str] = []
        self.locations: dict[str, Location] = {}
        self.unknown = 0
        self.is_misspelt = False
        self.is_numbers = False


def exclusive(a: str, b: str) -> Rule | None:
    """Return the rule that two columns break together; None for none."""
    for rule, one, other in _EXCLUSIVE:
        if (a in one and b in other) or (b in one and a in other):
            return rule
    return None


def _group(*names: str) -> frozenset[str]:
    """Return the columns of several groups."""
    return frozenset().union(*(GROUPS[name] for name in names))


_EXCLUSIVE: tuple[tuple[Rule, frozenset[str], frozenset[str]], ...] = (
    (rules.BODY_EXCLUSIVE, _group("body_pos"), _group("com_pos")),
    (rules.ORIENTATION_EXCLUSIVE, _group("body_quat_wxyz"), _group("body_euler_rpy")),
    (rules.ORIENTATION_EXCLUSIVE, _group("hand_quat_wxyz"), _group("hand_euler_rpy")),
    (
        rules.ARM_EXCLUSIVE,
        _group("arm_joints"),
        _group("hand_pos", "hand_quat_wxyz", "hand_euler_rpy"),
    ),
    *(
        (rules.LEG_EXCLUSIVE, _group(f"{leg}_angles"), _group(f"{leg}_pos"))
        for leg in LEGS
    ),
)


def read_header(line: Line, found: Diagnostics) -> Header:
    """Read the line of columns."""
    header = Header()
    # Only numbers: the header is missing, and this is the first keyframe.
    if all(NUMBER.fullmatch(word.text) for word in line.words):
        found.report(
            rules.HEADER_MISSING,
            "found numbers, expected the names of columns",
            line.location,
        )
        header.is_numbers = True
        return header
    for word in line.words:
        if word.text not in COLUMNS and word.text not in GROUPS:
            # Suggestions cost time: only the first unknown words get one.
            if header.unknown >= _MAX_HINTS:
                hint = ""
            else:
                hint = choices(word.text, (*COLUMNS, *GROUPS))
            found.report(
                rules.COLUMN_UNKNOWN,
                f"{word.text[:60]!r} is not a column",
                word.location,
                hint=hint,
            )
            # A name that resembles a column leaves that column unknown; others stand
            # for nothing.
            header.unknown += 1
            header.is_misspelt |= (
                header.unknown > _MAX_HINTS
                or meant(word.text, (*COLUMNS, *GROUPS)) is not None
            )
            # The value has to be skipped in each row.
            header.values.append("")
            header.names.append(word.text[:60])
            continue
        _add_columns(header, word.text, word.location, found)
    return header


def _add_columns(
    header: Header, keyword: str, location: Location, found: Diagnostics
) -> None:
    """Add the columns of a keyword, and report conflicts with earlier ones."""
    columns = singles(keyword)
    # A keyword that is there twice is reported as such, not as excluding itself.
    if keyword in header.keywords:
        clash = None
    else:
        clash = _clash(header, keyword)
    twice = [column for column in columns if column in header.locations]
    if clash:
        rule, other = clash
        found.report(rule, f"there are both {other!r} and {keyword!r}", location)
    elif twice:
        if keyword in GROUPS:
            of = f" of {keyword!r}"
        else:
            of = ""
        message = (
            f"{', '.join(twice)}{of} {'is' if len(twice) == 1 else 'are'} also before "
            "this column"
        )
        found.report(rules.COLUMN_TWICE, message, location)
    if keyword not in header.keywords:
        header.keywords.append(keyword)
    for column in columns:
        # The first of two equal columns counts; "" skips the other in each row.
        header.values.append("" if column in header.locations else column)
        header.names.append(column)
        header.locations.setdefault(column, location)


def _clash(header: Header, keyword: str) -> tuple[Rule, str] | None:
    """Return the rule that a keyword breaks beside an earlier one, and that one."""
    # wxyz and xyzw are two orders of the same four columns.
    for other in header.keywords:
        if {keyword, other} in (
            {"body_quat_wxyz", "body_quat_xyzw"},
            {"hand_quat_wxyz", "hand_quat_xyzw"},
        ):
            return rules.ORIENTATION_EXCLUSIVE, other
        pairs = product(singles(keyword), singles(other))
        if rule := next(filter(None, starmap(exclusive, pairs)), None):
            return rule, other
    return None
