"""The tokens of VRML97 as patterns, and a reader for each type of field value.

Each pattern begins with the white space and the comments before its token, and never
backtracks. `number_list` parses numbers in bulk.

A reader is called as `read(parser, pos)` and returns the value and the offset after it.
Those of nodes are the parser's. Each reader matches the regular form with one pattern.
Everything else goes to `irregular`: IS, a value in a form that its type does not allow
but whose meaning is clear (a problem), or an error that names what was found instead.

A `Scope` has the names that are declared.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import FormatError
from bodymotion.diagnostics.text import counted
from bodymotion.formats.text import as_json, json_numbers
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.fields import (
    COUNTS,
    STANDARD_NODES,
    FieldDeclaration,
    standard_fields,
)
from bodymotion.formats.vrml.nodes import Node, Proto, Route, Value
from bodymotion.geometry.arrays import Floats, Ints, frozen, frozen_ints

if TYPE_CHECKING:
    from bodymotion.formats.vrml.parser import Parser

# Possessive repetitions (`*+`, `++`) never backtrack: a wrong text takes linear time.
_BLANK = r" \t\r\n,\f\v"
# 1.#INF and 1.#QNAN, as Microsoft's C library writes them, are no comments.
_COMMENT = r"#(?!(?<=[0-9]\.#)(?:INF|IND|QNAN|SNAN))[^\r\n]*+"
_SPACE = rf"[{_BLANK}]*+(?:{_COMMENT}[{_BLANK}]*+)*+"
_LETTER = rf'[^{_BLANK}#"\[\]{{}}]'
_NAME = rf"{_LETTER}++"
# A word ends here: `ISx` is a name, not IS.
_END = rf"(?!{_LETTER})"
# Of regular size: neither the digits nor the exponent can take it out of the range of
# doubles.
_NUMBER = (
    r"[+-]?+(?:[0-9]{1,60}+(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+0*+[0-9]{1,2}+)?+"
    rf"(?!{_LETTER}|\#(?:INF|IND|QNAN|SNAN))"
)
_LOOSE_NUMBER = (
    r"[+-]?+(?:0[xX][0-9a-fA-F]++|[0-9]\.\#(?:INF|IND|QNAN|SNAN)[0-9]*+"
    r"|(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
    rf"|(?i:nan(?:\([a-z0-9_]*+\))?+|inf(?:inity)?+)){_END}"
)

SPACE = re.compile(_SPACE)
"""White space, to which commas belong, and comments; it matches everywhere."""

COMMENT = re.compile(_COMMENT)
TO_BRACKET = re.compile(rf"[^\]#]*+(?:(?:{_COMMENT}|#)[^\]#]*+)*+")
"""Everything up to the next `]` that is not in a comment."""

WORD = re.compile(rf"{_SPACE}({_NAME}|[\[\]{{}}]|)")
"""1: a name, a keyword, a number or a bracket.

Empty at the end of the text and before a string.
"""

NAME = re.compile(rf"{_SPACE}({_NAME})")
NODE = re.compile(
    rf"{_SPACE}(?:DEF{_END}{_SPACE}({_NAME}){_SPACE})?"
    rf"((?!(?:DEF|USE|NULL){_END}){_NAME}){_SPACE}\{{"
)
"""1: the name after DEF or None.

2: the type of the node; it ends after the brace.
"""

OPEN = re.compile(rf"{_SPACE}\[")
IS = re.compile(rf"{_SPACE}IS{_END}{_SPACE}({_NAME})")
ROUTE = re.compile(rf"{_SPACE}({_NAME}){_SPACE}TO{_END}{_SPACE}({_NAME})")
STRING = re.compile(rf'{_SPACE}"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
"""1: the text between the quotes, as written."""

# To the end of the text where the second quote is missing: a search that begins again
# at each quote takes quadratic time.
STRING_OR_COMMENT = re.compile(
    rf'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\\?\Z)|{_COMMENT}', re.DOTALL
)
"""1: the second quote of a string, None in a comment and where it is missing."""

NUMBER = re.compile(rf"{_SPACE}({_NUMBER})")
LOOSE_NUMBER = re.compile(rf"{_SPACE}({_LOOSE_NUMBER})")
"""A number of any size, a hexadecimal one, infinity or "not a number"."""

DECLARATION = re.compile(
    rf"{_SPACE}(field|exposedField|eventIn|eventOut){_END}"
    rf"{_SPACE}({_NAME}){_SPACE}({_NAME})"
)
"""A field or event in the interface of a prototype or a Script.

1: access, 2: type, 3: name.
"""
# What Python's `float` reads and VRML97 does not, such as `1_000`, `nan`, is excluded.
_PLAIN = re.compile(r"[0-9+\-.eE, \t\r\n\f\v]*+")
_MIN_BULK_CHARACTERS = 700
"""For shorter lists, Python's own `float` is as fast."""
_MAX_DIGITS = 40
"""Digits of an integer that Python is asked to read."""
_DIGITS_OF_FLOATS = 10
"""Digits from which a number without a point is a float: it may exceed an int32."""
CHARACTERS_BEFORE = 80
"""Characters before a fault that are searched for the name of its field."""


WHOLE = re.compile(r"[+-]?[0-9]+")
_BEFORE = re.compile(r"\b([A-Za-z_]\w*)[ \t,\[]*\Z")
_ESCAPE = re.compile(r'\\(["\\])')
_TRUTH = {"TRUE": True, "FALSE": False}
_IRREGULAR_TRUTH = {"true": True, "1": True, "false": False, "0": False}

_DECIMAL_COMMA = re.compile(r"[0-9]++,0[0-9]++")
"""No number has a zero and another digit at its beginning, which JSON does not allow.

The comma before it is a decimal comma.
"""
_IN_NUMBER = re.compile(r"(?<=[0-9]),(?=[0-9])")

OUTSIDE_PROTOTYPES = {("Joint", "gearEfficiency")}
"""Fields that the OpenHRP document describes and the prototypes that it prints lack."""
MODEL_NODES = (
    *("Humanoid", "Joint", "Segment", "ExtraJoint", "Surface"),
    *("AccelerationSensor", "Gyro", "ForceSensor", "VisionSensor", "RangeSensor"),
)
"""The nodes of a model.

Their names mean the same in every file, whether or not a prototype declares them.
"""


def numbers(count: int) -> re.Pattern[str]:
    """Return the pattern of `count` numbers of regular size in a row."""
    return re.compile(NUMBER.pattern * count)


def number_list(
    text: str, whole: bool, *, in_bulk: bool = False
) -> Floats | Ints | None:
    """Return the numbers (N,) of a text, separated by white space and commas.

    None when it has anything but finite ones, or int32.

    What JSON does not allow (`007`) goes through `float` word by word, as do short
    lists; `in_bulk` there is None for them.
    """
    wide = None
    if len(text) > _MIN_BULK_CHARACTERS:
        # JSON arrays are parsed in compiled code, many times as fast as words by
        # themselves.
        wide = json_numbers(as_json(text.encode()), "i" if whole else "d")
    if wide is None and not in_bulk:
        wide = _numbers_one_by_one(text, whole)
    if wide is None:
        return None
    if not whole:
        # A number such as 1e999 is inf: the slow way reports it at its location.
        if np.isfinite(wide).all():
            return frozen(wide)
        return None
    # Numbers beyond 32 bits change here, and the comparison refuses them.
    array: Ints = wide.astype(np.int32)
    if np.array_equal(array, wide):
        return frozen_ints(array)
    return None


def _numbers_one_by_one(text: str, whole: bool) -> npt.NDArray[Any] | None:
    if _PLAIN.fullmatch(text) is None:
        return None
    # Commas are white space in VRML97 (ISO/IEC 14772-1, 4.3.1).
    words = text.replace(",", " ").split()
    try:
        if whole:
            return np.array(list(map(int, words)), dtype=np.int64)
        return np.array(list(map(float, words)), dtype=np.float64)
    except (ValueError, OverflowError):
        return None


Reader: TypeAlias = "Callable[[Parser, int], tuple[Value, int]]"


def unescape(text: str) -> str:
    r"""Remove the backslash from `\"` and `\\`; any other is kept."""
    if "\\" in text:
        return _ESCAPE.sub(r"\1", text)
    return text


def _number_reader(field_type: str) -> Reader:
    """Return the reader of a type of so many numbers."""
    count = COUNTS[field_type]
    # One match for all numbers of a vector, and one `struct` to make its array: most
    # fields of a file are vectors.
    match = numbers(count).match
    pack = struct.Struct(f"{count}d").pack
    array = np.frombuffer

    def read_number(parser: Parser, pos: int) -> tuple[Value, int]:
        found = match(parser.data, pos)
        if found is None:
            return irregular(parser, pos, field_type)
        return float(found[1]), found.end()

    def read_vector(parser: Parser, pos: int) -> tuple[Value, int]:
        found = match(parser.data, pos)
        if found is None:
            return irregular(parser, pos, field_type)
        return array(pack(*map(float, found.groups()))), found.end()

    if count == 1:
        return read_number
    return read_vector


def _read_int(parser: Parser, pos: int) -> tuple[Value, int]:
    found = NUMBER.match(parser.data, pos)
    # The pattern of numbers also takes `1.0`.
    if found is None or WHOLE.fullmatch(found[1]) is None:
        return irregular(parser, pos, "SFInt32")
    return int32(parser, int(found[1]), found.start(1)), found.end()


def _read_bool(parser: Parser, pos: int) -> tuple[Value, int]:
    word = parser.word(pos)
    if word[1] in _TRUTH:
        return (_TRUTH[word[1]], word.end())
    return irregular(parser, pos, "SFBool")


def _read_string(parser: Parser, pos: int) -> tuple[Value, int]:
    found = STRING.match(parser.data, pos)
    if found is None:
        return irregular(parser, pos, "SFString")
    return unescape(found[1]), found.end()


def _read_strings(parser: Parser, pos: int) -> tuple[Value, int]:
    opened = OPEN.match(parser.data, pos)
    if opened is not None:
        strings, pos = _strings(parser, opened.end())
        return strings, parser.closed(opened.end() - 1, pos, "a string in quotes")
    strings, end = _strings(parser, pos)
    if not strings:
        return irregular(parser, pos, "MFString")
    if len(strings) > 1:
        message = f"{len(strings)} strings without brackets"
        parser.problem(rules.IRREGULAR_VALUE, message, parser.skip(pos))
    return strings, end


def _strings(parser: Parser, pos: int) -> tuple[list[str], int]:
    strings: list[str] = []
    while (found := STRING.match(parser.data, pos)) is not None:
        strings.append(unescape(found[1]))
        pos = found.end()
    return strings, pos


def _list_reader(field_type: str) -> Reader:
    """Return the reader of a list of numbers."""
    single = "SF" + field_type[2:]
    width = COUNTS[single]
    whole = field_type == "MFInt32"
    expected = "an integer" if whole else "a number"

    def read(parser: Parser, pos: int) -> tuple[Value, int]:
        opened = OPEN.match(parser.data, pos)
        # One value without brackets is legal in an MF field.
        if opened is None:
            return _bare_numbers(parser, pos, field_type)
        start = opened.end()
        text, end = _list_text(parser.data, start)
        is_closed = end < len(parser.data)
        values = None
        if is_closed:
            values = number_list(text, whole, in_bulk=True)
        comma = None
        # `,0` followed by a digit: no regular number begins with a superfluous zero.
        if not whole and values is None and ",0" in text:
            comma = _DECIMAL_COMMA.search(text)
        if comma is not None:
            message = f"{comma[0]} has a decimal comma"
            parser.problem(rules.DECIMAL_COMMA, message, start + comma.start())
            # Every comma between digits is a decimal comma then, not only one before a
            # zero.
            text = _IN_NUMBER.sub(".", text)
        if values is None and is_closed:
            values = number_list(text, whole)
        # Commas of both meanings: the rows do not come out.
        if comma is not None and (values is None or len(values) % width):
            # What the numbers are is not clear: the list is left out.
            return _rows(parser, frozen_array([], whole), field_type, start), end + 1
        # Something in the list is no plain number: this pass finds and reports it.
        if values is None:
            loose, pos = loose_numbers(parser, start, single)
            parser.closed(start - 1, pos, expected)
            values = frozen_array(loose, whole)
        return _rows(parser, values, field_type, start - 1), end + 1

    return read


def _list_text(data: str, start: int) -> tuple[str, int]:
    """Return the text of a list without comments, and the offset of its bracket.

    That is the end of the text where the list is not closed.
    """
    end = data.find("]", start)
    text = data[start:end] if end >= 0 else ""
    # The common case: a bracket that no comment precedes.
    if end >= 0 and "#" not in text:
        return text, end
    # A comment before the bracket in the same line hides the bracket.
    last_line = max(text.rfind("\n"), text.rfind("\r"), 0)
    if end < 0 or text.find("#", last_line) >= 0:
        # The bracket is in a comment.
        inside = TO_BRACKET.match(data, start)
        assert inside is not None  # it matches everywhere
        end = inside.end()
    return _without_comments(data[start:end]), end


def _rows(
    parser: Parser,
    values: Floats | Ints,
    field_type: str,
    offset: int,
    before: str = "",
) -> Floats | Ints:
    """Return the numbers of a list as rows, where its type has several in each value.

    Refuse an incomplete row.

    `before` is what follows the numbers, for the message.
    """
    width = COUNTS["SF" + field_type[2:]]
    if len(values) % width:
        message = (
            f"{counted(len(values), 'number')} in an {field_type}{before}: "
            f"not a multiple of {width}"
        )
        raise parser.error(rules.WRONG_COUNT, message, offset)
    if width == 1:
        return values
    return values.reshape(-1, width)


def _without_comments(text: str) -> str:
    """Replace each comment by a space.

    Mostly there is one, at the beginning: then the long rest needs no pattern.
    """
    found = COMMENT.search(text)
    if found is None:
        return text
    if text.find("#", found.end()) >= 0:
        return COMMENT.sub(" ", text)
    return f"{text[: found.start()]} {text[found.end() :]}"


def _bare_numbers(parser: Parser, start: int, field_type: str) -> tuple[Value, int]:
    """Read one value without brackets, which is legal, or several."""
    values, pos = loose_numbers(parser, start, "SF" + field_type[2:])
    if not values:
        return irregular(parser, start, field_type)
    offset = parser.skip(start)
    before = f" before {parser.describe(parser.skip(pos))}"
    array = frozen_array(values, field_type == "MFInt32")
    rows = _rows(parser, array, field_type, offset, before)
    if len(rows) > 1:
        message = f"{len(values)} numbers without brackets"
        parser.problem(rules.IRREGULAR_VALUE, message, offset)
    return rows, pos


def _read_image(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read an SFImage: width, height, components and pixels."""
    values, end = loose_numbers(parser, pos, "SFInt32", 3)
    if not values:
        return irregular(parser, pos, "SFImage")
    offset = parser.skip(pos)
    if min(values) < 0:
        message = "the size of an image is negative"
        raise parser.error(rules.WRONG_VALUE, message, offset)
    # Width, height and the number of components; then the pixels.
    wanted = 3
    if len(values) == 3:
        wanted += int(values[0] * values[1])
    pixels, end = loose_numbers(parser, end, "SFInt32", wanted - len(values))
    values += pixels
    if len(values) < wanted:
        message = (
            f"the image has {counted(len(values), 'number')}; "
            f"expected {wanted} for its size"
        )
        raise parser.error(rules.WRONG_VALUE, message, offset)
    # Pixels with four components use all 32 bits: negative numbers are their bits.
    array = np.array(values, dtype=np.int64) % 2**32
    array.flags.writeable = False
    return array, end


def read_event(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read what follows the name of an eventIn or eventOut.

    Only IS is allowed.
    """
    reference = IS.match(parser.data, pos)
    if reference is not None:
        return parser.is_reference(reference)
    message = "an event has no value; only IS may follow its name"
    parser.problem(rules.IRREGULAR_VALUE, message, parser.skip(pos))
    return guessed_value(parser, pos)


def irregular(parser: Parser, pos: int, field_type: str) -> tuple[Value, int]:
    """Read IS, or a value that is not in the regular form of its type."""
    reference = IS.match(parser.data, pos)
    if reference is not None:
        return parser.is_reference(reference)
    offset = parser.skip(pos)
    start = parser.data[offset : offset + 1]
    count = COUNTS.get(field_type)
    # Numbers may have brackets, or be too few.
    if count is not None:
        return _irregular_numbers(parser, offset, field_type, count)
    if field_type == "SFBool":
        word = parser.word(pos)
        # `true` in lower case, or 1 and 0 as C writes them.
        truth = _IRREGULAR_TRUTH.get(word[1].lower())
        if truth is not None:
            message = f"{word[1]} is read as {str(truth).upper()}"
            parser.problem(rules.IRREGULAR_VALUE, message, offset)
            return truth, word.end()
    is_number = LOOSE_NUMBER.match(parser.data, pos) is not None
    # A string in brackets, or a bare number: the meaning is clear.
    if field_type == "SFString" and (start == "[" or is_number):
        message = f"found {parser.describe(offset)}, expected an SFString in quotes"
        parser.problem(rules.IRREGULAR_VALUE, message, offset)
        value, pos = guessed_value(parser, pos)
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            return value[0], pos
        return value, pos
    if start == '"':
        parser.require_string_end(offset)
    found = parser.describe(offset)
    message = f"found {found}, expected the value of an {field_type}"
    raise parser.wrong(message, offset)


def _irregular_numbers(
    parser: Parser, offset: int, field_type: str, count: int
) -> tuple[Value, int]:
    """Read the numbers of one value, with or without brackets.

    A string instead of a vector is kept: old models write an axis so.
    """
    # A bool counts as 0 or 1: the numbers begin behind the bracket.
    has_bracket = parser.data[offset : offset + 1] == "["
    values, pos = loose_numbers(parser, offset + has_bracket, field_type, count)
    if len(values) == count:
        if has_bracket:
            pos = parser.closed(offset, pos, "the closing bracket")
            message = f"brackets around an {field_type}"
            parser.problem(rules.IRREGULAR_VALUE, message, offset)
        if count > 1:
            return frozen_array(values, False), pos
        if field_type == "SFInt32":
            return int(values[0]), pos
        return values[0], pos
    if not values and count > 1:
        text = STRING.match(parser.data, offset)
        if text is not None:
            message = f'found the string "{text[1][:40]}", expected an {field_type}'
            parser.problem(rules.IRREGULAR_VALUE, message, offset)
            return unescape(text[1]), text.end()
    raise _too_few_numbers(parser, offset, field_type, len(values), parser.skip(pos))


def _too_few_numbers(
    parser: Parser, offset: int, field_type: str, num_found: int, stop: int
) -> FormatError:
    """Return the exception for a value at `offset` whose numbers end at `stop`."""
    count = COUNTS[field_type]
    if count > 1:
        expected = f"{count} numbers"
    elif field_type == "SFInt32":
        expected = "an integer"
    else:
        expected = "a number"
    after = f" after {num_found} of them" if num_found else ""
    # The field's name is right before the value: it is not passed down to here.
    name = _BEFORE.search(parser.data, max(0, offset - CHARACTERS_BEFORE), offset)
    field = f"{name[1]}, an " if name is not None else ""
    message = (
        f"found {parser.describe(stop)}{after}, expected {expected} "
        f"({field}{field_type})"
    )
    return parser.wrong(message, stop)


def guessed_value(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read a value whose type is not declared.

    Its form decides the type: one number is an int or a float, several are an array.
    """
    offset = parser.skip(pos)
    start = parser.data[offset : offset + 1]
    if start == '"':
        parser.require_string_end(offset)
        return _read_string(parser, pos)
    if start == "[":
        return _guessed_list(parser, pos, offset)
    first = LOOSE_NUMBER.match(parser.data, pos)
    if first is not None:
        values, pos = loose_numbers(parser, pos, "SFFloat")
        if len(values) > 1:
            return frozen_array(values, False), pos
        # Long numbers may exceed an int32, so they are floats.
        is_short = len(first[1]) < _DIGITS_OF_FLOATS
        if is_short and WHOLE.fullmatch(first[1]) is not None:
            return int(values[0]), pos
        return values[0], pos
    reference = IS.match(parser.data, pos)
    if reference is not None:
        return parser.is_reference(reference)
    word = parser.word(pos)
    if word[1] in _TRUTH:
        return _TRUTH[word[1]], word.end()
    return parser.node_or_null(pos)


def _guessed_list(parser: Parser, pos: int, offset: int) -> tuple[Value, int]:
    """Read a list whose type is not declared; its bracket is at `offset`."""
    inner = parser.skip(offset + 1)
    after = parser.data[inner : inner + 1]
    if after == "]":
        return [], inner + 1
    if after == '"':
        return _read_strings(parser, pos)
    # Numbers of a type that is not declared are read as float64 (N,).
    if LOOSE_NUMBER.match(parser.data, inner) is not None:
        return READERS["MFFloat"](parser, pos)
    return parser.node_list(pos)


def loose_numbers(
    parser: Parser, pos: int, single: str, at_most: int | None = None
) -> tuple[list[float], int]:
    """Read all numbers that follow, one by one.

    As values of the type SFInt32, SFFloat …. Return them and the offset after them.
    """
    values: list[float] = []
    while (
        len(values) != at_most
        and (found := LOOSE_NUMBER.match(parser.data, pos)) is not None
    ):
        read = _whole_number if single == "SFInt32" else _number
        values.append(read(parser, found[1], found.start(1)))
        pos = found.end()
    return values, pos


def int32(parser: Parser, value: int, offset: int) -> int:
    """Return an integer that fits into 32 bits; refuse others."""
    if not -(2**31) <= value < 2**31:
        message = f"{parser.describe(offset)} does not fit into an SFInt32 (32 bits)"
        raise parser.error(rules.WRONG_VALUE, message, offset)
    return value


def frozen_array(values: list[float], whole: bool) -> Floats | Ints:
    """Return a read-only array (N,) of int32 or float64."""
    if whole:
        return frozen_ints(values)
    return frozen(values)


def _whole_number(parser: Parser, word: str, offset: int) -> int:
    """Return a word as an integer of 32 bits."""
    digits = word.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
        if word[0] == "-":
            value = -value
        # The bits are the value: 0xFFFFFFFF is -1.
        if 2**31 <= value < 2**32:
            return value - 2**32
        return int32(parser, value, offset)
    if WHOLE.fullmatch(word):
        # Python refuses to read thousands of digits; no int32 has so many.
        value = int(word) if len(word) < _MAX_DIGITS else 2**40
        return int32(parser, value, offset)
    # Files of programs that write every number as a float have `1.0` in lists of
    # integers.
    number = _to_float(word)
    if not number.is_integer():
        message = f"found {word[:40]}, expected an integer"
        raise parser.error(rules.WRONG_VALUE, message, offset)
    parser.problem(rules.IRREGULAR_VALUE, f"{word[:40]} is read as an integer", offset)
    return int32(parser, int(number), offset)


def _number(parser: Parser, word: str, offset: int) -> float:
    # `0x` is for integers only (ISO/IEC 14772-1, clause 5).
    if "x" in word or "X" in word:
        message = f"{word[:40]} is hexadecimal; only integers may be"
        raise parser.error(rules.WRONG_VALUE, message, offset)
    number = _to_float(word)
    if not math.isfinite(number):
        message = f"the number {word[:40]} is not finite"
        parser.problem(rules.NOT_FINITE, message, offset)
    return number


def _to_float(word: str) -> float:
    """Return a float, also of `nan(…)` and of Microsoft's `1.#INF` and `1.#QNAN`."""
    try:
        return float(word)
    except ValueError:
        # `1.#INF` and `-1.#IND` of Microsoft's C library.
        size = math.inf if "#INF" in word else math.nan
        return -size if word[0] == "-" else size


READERS: dict[str, Reader] = {
    "SFBool": _read_bool,
    "SFInt32": _read_int,
    "SFString": _read_string,
    "MFString": _read_strings,
    "SFImage": _read_image,
    **{name: _number_reader(name) for name in COUNTS if name != "SFInt32"},
    **{
        name: _list_reader(name)
        for name in (
            "MFInt32",
            "MFFloat",
            "MFTime",
            "MFVec2f",
            "MFVec3f",
            "MFColor",
            "MFRotation",
        )
    },
}


def is_declared(node: Node) -> bool:
    """Return whether the type of a node is known.

    By a prototype, or because it is a standard node or one of a model.
    """
    return (
        node.proto is not None
        or node.type in STANDARD_NODES
        or node.type in MODEL_NODES
    )


class Kind(NamedTuple):
    """A type of node.

    The readers of its fields, its prototype unless it is a standard node, and the size
    of an instance in nodes.
    """

    readers: dict[str, Reader]
    proto: Proto | None = None
    size: int = 1


UNKNOWN = Kind({})
"""A type that is not declared."""


@dataclass
class Scope:
    """The names in a file or in the body of a prototype.

    Types, nodes by DEF with their size, fields that IS may refer to.
    """

    kinds: dict[str, Kind]
    routes: list[Route]
    nodes: dict[str, tuple[Node, int]] = field(default_factory=dict)
    interface: Mapping[str, FieldDeclaration] = field(default_factory=dict)
    outer: Scope | None = None

    def kind(self, name: str) -> Kind | None:
        """Return the type of this name.

        Declared here, in a scope around this one, or by the standard.
        """
        kind = self.kinds.get(name)
        if kind is None:
            # Standard nodes are known in every scope, but a prototype of the same name
            # wins.
            if self.outer is not None:
                kind = self.outer.kind(name)
            elif name in STANDARD_NODES:
                kind = _standard_kind(name)
            if kind is not None:
                # Remember it here: a name in a body would be searched in all scopes at
                # each use.
                self.kinds[name] = kind
        return kind


def kind_of(proto: Proto, size: int) -> Kind:
    """Return the type that a prototype declares.

    `size` is the number of nodes in its body.
    """
    return Kind(_readers(proto.fields), proto, 1 + size)


def reader_of(field_type: str) -> Reader:
    """Return the reader of a field type.

    Values of an unknown type are read by their form.
    """
    return READERS.get(field_type, guessed_value)


@cache
def _standard_kind(node_type: str) -> Kind:
    return Kind(_readers(standard_fields(node_type)))


def _readers(fields: Mapping[str, FieldDeclaration]) -> dict[str, Reader]:
    readers: dict[str, Reader] = {}
    for name, declared in fields.items():
        if declared.access in ("eventIn", "eventOut"):
            readers[name] = read_event
        else:
            readers[name] = reader_of(declared.type)
    return readers
