"""Numbers read one by one: those of unusual shape, and those of a list in which something is wrong, to say what and where."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.cursor import Cursor
from bodymotion.formats.vrml.lexis import LOOSE_NUMBER
from bodymotion.formats.vrml.nodes import Value

__all__ = ["WHOLE", "bare_by_look", "frozen_array", "int32", "loose_numbers"]

WHOLE = re.compile(r"[+-]?[0-9]+")


def loose_numbers(cursor: Cursor, pos: int, single: str, at_most: int | None = None) -> tuple[list[float], int]:
    """Read all numbers that follow, as values of the type SFInt32, SFFloat …, and give them with the place after them."""
    values: list[float] = []
    while len(values) != at_most and (found := LOOSE_NUMBER.match(cursor.data, pos)) is not None:
        read = _whole_number if single == "SFInt32" else _number
        values.append(read(cursor, found[1], found.start(1)))
        pos = found.end()
    return values, pos


def bare_by_look(cursor: Cursor, pos: int) -> tuple[Value, int]:
    """Read numbers without brackets of which nobody says what they are: one is an int or a float, several are an array."""
    first = LOOSE_NUMBER.match(cursor.data, pos)
    values, pos = loose_numbers(cursor, pos, "SFFloat")
    if len(values) > 1:
        return frozen_array(values, False), pos
    is_whole = first is not None and len(first[1]) < 10 and WHOLE.fullmatch(first[1]) is not None
    return (int(values[0]) if is_whole else values[0]), pos


def int32(cursor: Cursor, value: int, place: int) -> int:
    """Check that a whole number fits into 32 bits."""
    if not -(2**31) <= value < 2**31:
        raise cursor.error(rules.WRONG_VALUE, f"{cursor.found(place)} does not fit into an SFInt32 (32 bits)", place)
    return value


def frozen_array(values: list[float], whole: bool) -> Any:  # noqa: ANN401
    """Make a read-only array (N,) of int32 or float64."""
    array = np.array(values, dtype=np.int32 if whole else np.float64)
    array.flags.writeable = False
    return array


def _whole_number(cursor: Cursor, word: str, place: int) -> int:
    digits = word.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16) * (-1 if word[0] == "-" else 1)
        # The bits as they are stored: 0xFFFFFFFF is -1.
        return value - 2**32 if 2**31 <= value < 2**32 else int32(cursor, value, place)
    if WHOLE.fullmatch(word):
        return int32(cursor, int(word) if len(word) < 40 else 2**40, place)
    number = _to_float(word)
    if not number.is_integer():
        raise cursor.error(rules.WRONG_VALUE, f"{word[:40]} stands where a whole number belongs", place)
    cursor.problem(rules.ODD_VALUE, f"{word[:40]} is written for a whole number", place)
    return int32(cursor, int(number), place)


def _number(cursor: Cursor, word: str, place: int) -> float:
    if "x" in word or "X" in word:
        raise cursor.error(rules.WRONG_VALUE, f"{word[:40]} is hexadecimal: only whole numbers may be", place)
    number = _to_float(word)
    if not math.isfinite(number):
        cursor.problem(rules.NOT_FINITE, f"{word[:40]} stands where a number belongs", place)
    return number


def _to_float(word: str) -> float:
    """Take `nan(…)` and Microsoft's `1.#INF` and `1.#QNAN` as well."""
    try:
        return float(word)
    except ValueError:
        return math.copysign(math.inf if "#INF" in word else math.nan, -1.0 if word[0] == "-" else 1.0)
