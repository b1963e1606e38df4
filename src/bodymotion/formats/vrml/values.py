"""Readers of field values, one for each type: `read(parser, pos)` returns the value and the offset after it. Those of nodes are the parser's.

Each reader matches the regular form with one pattern. Everything else goes to `irregular`: IS, a value in a form that its type does not
allow but whose meaning is clear (a problem), or an error that names what is there instead.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.lexer import (
    COMMENT,
    IS,
    LOOSE_NUMBER,
    NUMBER,
    OPEN,
    STRING,
    TO_BRACKET,
    WORD,
    float_list,
    int_list,
    numbers,
)
from bodymotion.formats.vrml.nodes import Value

if TYPE_CHECKING:
    from bodymotion.formats.vrml.parser import Parser

__all__ = ["READERS", "Reader", "guessed_value", "irregular", "read_event"]

Reader: TypeAlias = "Callable[[Parser, int], tuple[Value, int]]"

COUNTS = {
    "SFFloat": 1,
    "SFTime": 1,
    "SFInt32": 1,
    "SFVec2f": 2,
    "SFVec3f": 3,
    "SFColor": 3,
    "SFRotation": 4,
}
"""Numbers in a value."""

WHOLE = re.compile(r"[+-]?[0-9]+")
_BEFORE = re.compile(r"\b([A-Za-z_]\w*)[ \t,\[]*\Z")
_ESCAPE = re.compile(r'\\(["\\])')
_TRUTH = {"TRUE": True, "FALSE": False}


def unescape(text: str) -> str:
    r"""Remove the backslash from `\"` and `\\`; any other is kept."""
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def _vector_reader(field_type: str) -> Reader:
    match = numbers(COUNTS[field_type]).match
    pack = struct.Struct(f"{COUNTS[field_type]}d").pack
    array = np.frombuffer

    def read(parser: Parser, pos: int) -> tuple[Value, int]:
        found = match(parser.data, pos)
        if found is None:
            return irregular(parser, pos, field_type)
        return array(pack(*map(float, found.groups()))), found.end()

    return read


def _scalar_reader(field_type: str) -> Reader:
    match = NUMBER.match

    def read(parser: Parser, pos: int) -> tuple[Value, int]:
        found = match(parser.data, pos)
        if found is None:
            return irregular(parser, pos, field_type)
        return float(found[1]), found.end()

    return read


def _read_int(parser: Parser, pos: int) -> tuple[Value, int]:
    found = NUMBER.match(parser.data, pos)
    if found is None or WHOLE.fullmatch(found[1]) is None:
        return irregular(parser, pos, "SFInt32")
    return int32(parser, int(found[1]), found.start(1)), found.end()


def _read_bool(parser: Parser, pos: int) -> tuple[Value, int]:
    found = WORD.match(parser.data, pos)
    value = _TRUTH.get(found[1]) if found is not None else None
    if found is None or value is None:
        return irregular(parser, pos, "SFBool")
    return value, found.end()


def _read_string(parser: Parser, pos: int) -> tuple[Value, int]:
    found = STRING.match(parser.data, pos)
    if found is None:
        return irregular(parser, pos, "SFString")
    return unescape(found[1]), found.end()


def _read_strings(parser: Parser, pos: int) -> tuple[Value, int]:
    opened = OPEN.match(parser.data, pos)
    if opened is None:
        strings, end = _strings(parser, pos)
        if not strings:
            return irregular(parser, pos, "MFString")
        if len(strings) > 1:
            parser.problem(rules.IRREGULAR_VALUE, f"{len(strings)} strings without brackets", parser.skip(pos))
        return strings, end
    strings, pos = _strings(parser, opened.end())
    return strings, parser.closed(opened.end() - 1, pos, "a string in quotes")


def _strings(parser: Parser, pos: int) -> tuple[list[str], int]:
    strings: list[str] = []
    while (found := STRING.match(parser.data, pos)) is not None:
        strings.append(unescape(found[1]))
        pos = found.end()
    return strings, pos


def _list_reader(field_type: str) -> Reader:
    single = "SF" + field_type[2:]
    width = COUNTS[single]
    whole = field_type == "MFInt32"
    make = int_list if whole else float_list

    def read(parser: Parser, pos: int) -> tuple[Value, int]:
        data = parser.data
        opened = OPEN.match(data, pos)
        if opened is None:
            return _bare_numbers(parser, pos, field_type)
        start = opened.end()
        end = data.find("]", start)
        text = data[start:end] if end >= 0 else ""
        if end < 0 or "#" in text:
            last_line = max(text.rfind("\n"), text.rfind("\r"), 0)
            if end < 0 or text.find("#", last_line) >= 0:
                found = TO_BRACKET.match(data, start)
                end = found.end() if found is not None else len(data)
            text = _without_comments(data[start:end])
        values: Any = make(text) if end < len(data) else None
        if values is None:
            loose, pos = loose_numbers(parser, start, single)
            parser.closed(start - 1, pos, "an integer" if whole else "a number")
            values = frozen_array(loose, whole)
        if width == 1:
            return values, end + 1
        if len(values) % width:
            message = f"{len(values)} numbers in an {field_type}: not a multiple of {width}"
            raise parser.error(rules.WRONG_COUNT, message, start - 1)
        return values.reshape(-1, width), end + 1

    return read


def _without_comments(text: str) -> str:
    """Reoffset each comment by a space. Mostly there is one, at the beginning: then the long rest needs no pattern."""
    found = COMMENT.search(text)
    if found is None:
        return text
    if text.find("#", found.end()) >= 0:
        return COMMENT.sub(" ", text)
    return f"{text[: found.start()]} {text[found.end() :]}"


def _bare_numbers(parser: Parser, start: int, field_type: str) -> tuple[Value, int]:
    """Read one value without brackets, which is legal, or several, whose meaning is clear."""
    single = "SF" + field_type[2:]
    width = COUNTS[single]
    values, pos = loose_numbers(parser, start, single)
    if not values:
        return irregular(parser, start, field_type)
    if len(values) % width:
        message = f"{len(values)} numbers in an {field_type}: not a multiple of {width}"
        raise parser.error(rules.WRONG_COUNT, message, parser.skip(start))
    if len(values) > width:
        parser.problem(rules.IRREGULAR_VALUE, f"{len(values)} numbers without brackets", parser.skip(start))
    array = frozen_array(values, field_type == "MFInt32")
    return array if width == 1 else array.reshape(-1, width), pos


def _read_image(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read width, height, number of components, and one integer for each pixel."""
    start = pos
    values: list[int] = []
    wanted = 3
    while len(values) < wanted and (found := LOOSE_NUMBER.match(parser.data, pos)) is not None:
        word = found[1]
        try:
            values.append(int(word, 16) if word[:2] in ("0x", "0X") else int(word))
        except ValueError as error:
            message = f"found {word[:40]}, expected an integer"
            raise parser.error(rules.WRONG_VALUE, message, found.start(1)) from error
        if not 0 <= values[-1] < 2**32:
            raise parser.error(rules.WRONG_VALUE, f"the pixel value {word[:40]} is not in 0…2³²-1", found.start(1))
        pos = found.end()
        if len(values) == 3:
            wanted += values[0] * values[1]
    if not values:
        return irregular(parser, pos, "SFImage")
    if len(values) < wanted:
        message = f"the image has {len(values)} numbers; its size needs {wanted}"
        raise parser.error(rules.WRONG_VALUE, message, parser.skip(start))
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array, pos


def read_event(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read what follows the name of an eventIn or eventOut; only IS is allowed."""
    found = IS.match(parser.data, pos)
    if found is not None:
        return parser.is_reference(found[1], found.start(1)), found.end()
    parser.problem(rules.IRREGULAR_VALUE, "an event has no value; only IS may follow its name", parser.skip(pos))
    return guessed_value(parser, pos)


def irregular(parser: Parser, pos: int, field_type: str) -> tuple[Value, int]:
    """Read IS, or a value that is not in the regular form of its type."""
    found = IS.match(parser.data, pos)
    if found is not None:
        return parser.is_reference(found[1], found.start(1)), found.end()
    offset = parser.skip(pos)
    start = parser.data[offset : offset + 1]
    count = COUNTS.get(field_type)
    if count is not None:
        return _irregular_numbers(parser, offset, field_type, count)
    if field_type == "SFBool" and (word := WORD.match(parser.data, pos)) is not None:
        truth = {"true": True, "1": True, "false": False, "0": False}.get(word[1].lower())
        if truth is not None:
            parser.problem(rules.IRREGULAR_VALUE, f"{word[1]} is read as {'TRUE' if truth else 'FALSE'}", offset)
            return truth, word.end()
    if field_type == "SFString" and (start == "[" or LOOSE_NUMBER.match(parser.data, pos) is not None):
        parser.problem(
            rules.IRREGULAR_VALUE, f"found {parser.describe(offset)}, expected an SFString in quotes", offset
        )
        value, at = guessed_value(parser, pos)
        return (value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str) else value), at
    if start == '"':
        parser.require_string_end(offset)
    raise parser.wrong(f"found {parser.describe(offset)}, expected the value of an {field_type}", offset)


def _irregular_numbers(parser: Parser, offset: int, field_type: str, count: int) -> tuple[Value, int]:
    """Read the numbers of one value, with or without brackets; a string instead of a vector is kept: old models write an axis so."""
    opened = parser.data[offset : offset + 1] == "["
    values, pos = loose_numbers(parser, offset + opened, field_type, count)
    if len(values) == count:
        if opened:
            pos = parser.closed(offset, pos, "the closing bracket")
            parser.problem(rules.IRREGULAR_VALUE, f"brackets around an {field_type}", offset)
        if count > 1:
            return frozen_array(values, False), pos
        return (int(values[0]) if field_type == "SFInt32" else values[0]), pos
    if not values and count > 1 and (text := STRING.match(parser.data, offset)) is not None:
        parser.problem(rules.IRREGULAR_VALUE, f'found the string "{text[1][:40]}", expected an {field_type}', offset)
        return unescape(text[1]), text.end()
    stop = parser.skip(pos)
    expected = f"{count} numbers" if count > 1 else "an integer" if field_type == "SFInt32" else "a number"
    after = f" after {len(values)} of them" if values else ""
    name = _BEFORE.search(parser.data, max(0, offset - 80), offset)
    field = f"{name[1]}, an " if name is not None else ""
    raise parser.wrong(f"found {parser.describe(stop)}{after}, expected {expected} ({field}{field_type})", stop)


def guessed_value(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read a value whose type is not declared; its form decides the type."""
    offset = parser.skip(pos)
    start = parser.data[offset : offset + 1]
    if start == '"':
        parser.require_string_end(offset)
        return _read_string(parser, pos)
    if start == "[":
        inner = parser.skip(offset + 1)
        after = parser.data[inner : inner + 1]
        if after == "]":
            return [], inner + 1
        if after == '"':
            return _read_strings(parser, pos)
        if LOOSE_NUMBER.match(parser.data, inner) is not None:
            return READERS["MFFloat"](parser, pos)
        return parser.node_list(pos)
    if LOOSE_NUMBER.match(parser.data, pos) is not None:
        return guessed_numbers(parser, pos)
    if (found := IS.match(parser.data, pos)) is not None:
        return parser.is_reference(found[1], found.start(1)), found.end()
    word = WORD.match(parser.data, pos)
    if word is not None and word[1] in _TRUTH:
        return _TRUTH[word[1]], word.end()
    return parser.node_or_null(pos)


def loose_numbers(parser: Parser, pos: int, single: str, at_most: int | None = None) -> tuple[list[float], int]:
    """Read all numbers that follow, one by one, as values of the type SFInt32, SFFloat …; return them and the offset after them."""
    values: list[float] = []
    while len(values) != at_most and (found := LOOSE_NUMBER.match(parser.data, pos)) is not None:
        read = _whole_number if single == "SFInt32" else _number
        values.append(read(parser, found[1], found.start(1)))
        pos = found.end()
    return values, pos


def guessed_numbers(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read numbers of no declared type: one is an int or a float, several are an array."""
    first = LOOSE_NUMBER.match(parser.data, pos)
    values, pos = loose_numbers(parser, pos, "SFFloat")
    if len(values) > 1:
        return frozen_array(values, False), pos
    is_whole = first is not None and len(first[1]) < 10 and WHOLE.fullmatch(first[1]) is not None
    return (int(values[0]) if is_whole else values[0]), pos


def int32(parser: Parser, value: int, offset: int) -> int:
    """Return an integer that fits into 32 bits; refuse others."""
    if not -(2**31) <= value < 2**31:
        raise parser.error(
            rules.WRONG_VALUE, f"{parser.describe(offset)} does not fit into an SFInt32 (32 bits)", offset
        )
    return value


def frozen_array(values: list[float], whole: bool) -> Any:  # noqa: ANN401
    """Return a read-only array (N,) of int32 or float64."""
    array = np.array(values, dtype=np.int32 if whole else np.float64)
    array.flags.writeable = False
    return array


def _whole_number(parser: Parser, word: str, offset: int) -> int:
    digits = word.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16) * (-1 if word[0] == "-" else 1)
        # The bits are the value: 0xFFFFFFFF is -1.
        return value - 2**32 if 2**31 <= value < 2**32 else int32(parser, value, offset)
    if WHOLE.fullmatch(word):
        return int32(parser, int(word) if len(word) < 40 else 2**40, offset)
    number = _to_float(word)
    if not number.is_integer():
        raise parser.error(rules.WRONG_VALUE, f"found {word[:40]}, expected an integer", offset)
    parser.problem(rules.IRREGULAR_VALUE, f"{word[:40]} is read as an integer", offset)
    return int32(parser, int(number), offset)


def _number(parser: Parser, word: str, offset: int) -> float:
    if "x" in word or "X" in word:
        raise parser.error(rules.WRONG_VALUE, f"{word[:40]} is hexadecimal; only integers may be", offset)
    number = _to_float(word)
    if not math.isfinite(number):
        parser.problem(rules.NOT_FINITE, f"the number {word[:40]} is not finite", offset)
    return number


def _to_float(word: str) -> float:
    """Return a float, also of `nan(…)` and of Microsoft's `1.#INF` and `1.#QNAN`."""
    try:
        return float(word)
    except ValueError:
        return math.copysign(math.inf if "#INF" in word else math.nan, -1.0 if word[0] == "-" else 1.0)


READERS: dict[str, Reader] = {
    "SFBool": _read_bool,
    "SFInt32": _read_int,
    "SFFloat": _scalar_reader("SFFloat"),
    "SFTime": _scalar_reader("SFTime"),
    "SFString": _read_string,
    "MFString": _read_strings,
    "SFImage": _read_image,
    **{name: _vector_reader(name) for name, count in COUNTS.items() if count > 1},
    **{
        name: _list_reader(name)
        for name in ("MFInt32", "MFFloat", "MFTime", "MFVec2f", "MFVec3f", "MFColor", "MFRotation")
    },
}
