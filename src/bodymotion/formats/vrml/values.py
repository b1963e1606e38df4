"""Readers of field values, one for each type: `read(parser, pos)` gives the value and the place after it. Those of nodes are the parser's.

Each tries the usual shape with one pattern. Whatever that does not take goes to `irregular`: IS, a value in a shape that its type does
not allow but whose meaning is plain (a problem), or an error that says what stands there instead.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.lexis import COMMENT, IS, LOOSE_NUMBER, NUMBER, OPEN, STRING, TO_BRACKET, WORD, numbers
from bodymotion.formats.vrml.loose import WHOLE, bare_by_look, frozen_array, int32, loose_numbers
from bodymotion.formats.vrml.nodes import Value
from bodymotion.formats.vrml.numbers import float_list, int_list

if TYPE_CHECKING:
    from bodymotion.formats.vrml.parser import Parser

__all__ = ["READERS", "Reader", "by_look", "irregular", "read_event"]

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
"""How many numbers a value has."""

_BEFORE = re.compile(r"\b([A-Za-z_]\w*)[ \t,\[]*\Z")
_ESCAPE = re.compile(r'\\(["\\])')
_TRUTH = {"TRUE": True, "FALSE": False}


def unescape(text: str) -> str:
    r"""Take the backslash from `\"` and `\\`; any other stands for itself."""
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
            parser.problem(rules.ODD_VALUE, f"{len(strings)} strings without brackets around them", parser.skip(pos))
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
            parser.closed(start - 1, pos, "a whole number" if whole else "a number")
            values = frozen_array(loose, whole)
        if width == 1:
            return values, end + 1
        if len(values) % width:
            message = f"{len(values)} numbers do not make an {field_type} of {width} each"
            raise parser.error(rules.WRONG_COUNT, message, start - 1)
        return values.reshape(-1, width), end + 1

    return read


def _without_comments(text: str) -> str:
    """Put a space for each comment. As a rule there is one, at the beginning: then the long rest needs no pattern."""
    found = COMMENT.search(text)
    if found is None:
        return text
    if text.find("#", found.end()) >= 0:
        return COMMENT.sub(" ", text)
    return f"{text[: found.start()]} {text[found.end() :]}"


def _bare_numbers(parser: Parser, start: int, field_type: str) -> tuple[Value, int]:
    """Read one value without brackets, which is legal, or several, which is not, but plain."""
    single = "SF" + field_type[2:]
    width = COUNTS[single]
    values, pos = loose_numbers(parser, start, single)
    if not values:
        return irregular(parser, start, field_type)
    if len(values) % width:
        message = f"{len(values)} numbers do not make an {field_type} of {width} each"
        raise parser.error(rules.WRONG_COUNT, message, parser.skip(start))
    if len(values) > width:
        parser.problem(rules.ODD_VALUE, f"{len(values)} numbers without brackets around them", parser.skip(start))
    array = frozen_array(values, field_type == "MFInt32")
    return array if width == 1 else array.reshape(-1, width), pos


def _read_image(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read width, height, number of components, and one whole number for each pixel."""
    start = pos
    values: list[int] = []
    wanted = 3
    while len(values) < wanted and (found := LOOSE_NUMBER.match(parser.data, pos)) is not None:
        word = found[1]
        try:
            values.append(int(word, 16) if word[:2] in ("0x", "0X") else int(word))
        except ValueError as error:
            message = f"{word[:40]} stands where a whole number belongs"
            raise parser.error(rules.WRONG_VALUE, message, found.start(1)) from error
        if not 0 <= values[-1] < 2**32:
            raise parser.error(rules.WRONG_VALUE, f"{word[:40]} is no value of a pixel", found.start(1))
        pos = found.end()
        if len(values) == 3:
            wanted += values[0] * values[1]
    if not values:
        return irregular(parser, pos, "SFImage")
    if len(values) < wanted:
        message = f"an image wants {wanted} numbers, {len(values)} are there"
        raise parser.error(rules.WRONG_VALUE, message, parser.skip(start))
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array, pos


def read_event(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read what follows the name of an eventIn or eventOut: only IS may."""
    found = IS.match(parser.data, pos)
    if found is not None:
        return parser.is_reference(found[1], found.start(1)), found.end()
    parser.problem(rules.ODD_VALUE, "an event has no value, and only IS may follow it", parser.skip(pos))
    return by_look(parser, pos)


def irregular(parser: Parser, pos: int, field_type: str) -> tuple[Value, int]:
    """Read IS, or a value that is not in the usual shape of its type."""
    found = IS.match(parser.data, pos)
    if found is not None:
        return parser.is_reference(found[1], found.start(1)), found.end()
    place = parser.skip(pos)
    start = parser.data[place : place + 1]
    count = COUNTS.get(field_type)
    if count is not None:
        return _odd_numbers(parser, place, field_type, count)
    if field_type == "SFBool" and (word := WORD.match(parser.data, pos)) is not None:
        truth = {"true": True, "1": True, "false": False, "0": False}.get(word[1].lower())
        if truth is not None:
            parser.problem(rules.ODD_VALUE, f"{word[1]} is written for {'TRUE' if truth else 'FALSE'}", place)
            return truth, word.end()
    if field_type == "SFString" and (start == "[" or LOOSE_NUMBER.match(parser.data, pos) is not None):
        parser.problem(rules.ODD_VALUE, f"{parser.found(place)} stands where an SFString belongs", place)
        value, at = by_look(parser, pos)
        return (value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str) else value), at
    if start == '"':
        parser.string_end(place)
    raise parser.wrong(f"where the value of an {field_type} belongs stands {parser.found(place)}", place)


def _odd_numbers(parser: Parser, place: int, field_type: str, count: int) -> tuple[Value, int]:
    """Read the numbers of one value, in brackets perhaps; a string where a vector belongs is kept, as old models have it for an axis."""
    opened = parser.data[place : place + 1] == "["
    values, pos = loose_numbers(parser, place + opened, field_type, count)
    if len(values) == count:
        if opened:
            pos = parser.closed(place, pos, "the closing bracket")
            parser.problem(rules.ODD_VALUE, f"brackets around an {field_type}", place)
        if count > 1:
            return frozen_array(values, False), pos
        return (int(values[0]) if field_type == "SFInt32" else values[0]), pos
    if not values and count > 1 and (text := STRING.match(parser.data, place)) is not None:
        parser.problem(rules.ODD_VALUE, f'"{text[1][:40]}" stands where an {field_type} belongs', place)
        return unescape(text[1]), text.end()
    stop = parser.skip(pos)
    what = (
        f"{count} numbers belong"
        if count > 1
        else "a whole number belongs"
        if field_type == "SFInt32"
        else "a number belongs"
    )
    after = f", after {len(values)} of them stands" if values else " stands"
    named = _BEFORE.search(parser.data, max(0, place - 80), place)
    field = f"{named[1]}, an " if named is not None else ""
    raise parser.wrong(f"where {what} ({field}{field_type}){after} {parser.found(stop)}", stop)


def by_look(parser: Parser, pos: int) -> tuple[Value, int]:
    """Read a value whose type nobody declared."""
    place = parser.skip(pos)
    start = parser.data[place : place + 1]
    if start == '"':
        parser.string_end(place)
        return _read_string(parser, pos)
    if start == "[":
        inner = parser.skip(place + 1)
        after = parser.data[inner : inner + 1]
        if after == "]":
            return [], inner + 1
        if after == '"':
            return _read_strings(parser, pos)
        if LOOSE_NUMBER.match(parser.data, inner) is not None:
            return READERS["MFFloat"](parser, pos)
        return parser.node_list(pos)
    if LOOSE_NUMBER.match(parser.data, pos) is not None:
        return bare_by_look(parser, pos)
    if (found := IS.match(parser.data, pos)) is not None:
        return parser.is_reference(found[1], found.start(1)), found.end()
    word = WORD.match(parser.data, pos)
    if word is not None and word[1] in _TRUTH:
        return _TRUTH[word[1]], word.end()
    return parser.node_or_null(pos)


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
