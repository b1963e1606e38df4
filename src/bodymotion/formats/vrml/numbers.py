"""Lists of numbers, found in the text and parsed in bulk, to the same doubles as `float` gives.

A long list becomes JSON by few passes over its bytes: the first character of each gap between numbers turns into a comma, the others into
spaces; simdjson then reads the numbers. What JSON does not know (`.5`, `5.`, `+1`, `007`) is rewritten, or goes through `float` word
by word. None as an answer means that the list holds something else: the parser then finds out what, and where.
"""

from __future__ import annotations

import re
import threading
from math import isfinite
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, Ints

__all__ = ["float_list", "int_list"]

_PLAIN = re.compile(r"[0-9+\-.eE, \t\r\n\f\v]*+")
_GAPS = bytes.maketrans(b"\t\r\n\f\v,", b"      ")
_NOT_JSON = ((b",+", b","), (b" +", b" "), (b",.", b",0."), (b" .", b" 0."), (b"-.", b"-0."), (b".,", b".0,"))
_NO_NUMBER = re.compile(rb"[-+ ,]\.,|\+-")
_KEPT = threading.local()
_MUCH = 2_000_000
_FEW = 700
"""Up to so many characters, Python's own `float` is as quick."""


def float_list(text: str) -> Floats | None:
    """Parse numbers apart by white space and commas; None when there is anything but finite numbers."""
    if len(text) > _FEW:
        array = _by_simdjson(text, "d")
        if array is not None:
            return array
    if _PLAIN.fullmatch(text) is None:
        return None
    try:
        values = list(map(float, text.replace(",", " ").split()))
    except ValueError:
        return None
    if not isfinite(sum(values)) and not all(map(isfinite, values)):
        return None
    array = np.array(values)
    array.flags.writeable = False
    return array


def int_list(text: str) -> Ints | None:
    """Parse whole numbers of 32 bits; None when there is anything else."""
    wide = _by_simdjson(text, "i") if len(text) > _FEW else None
    array: Ints
    if wide is not None:
        array = wide.astype(np.int32)
        if not np.array_equal(array, wide):
            return None
    elif _PLAIN.fullmatch(text) is None:
        return None
    else:
        try:
            array = np.array(list(map(int, text.replace(",", " ").split())), dtype=np.int32)
        except (ValueError, OverflowError):
            return None
    array.flags.writeable = False
    return array


def _by_simdjson(text: str, kind: Literal["d", "i"]) -> npt.NDArray[Any] | None:
    # A zero at either end, so that each number has a gap before and after it.
    data = bytearray(b"[0 " + text.encode() + b" 0]").translate(_GAPS)
    characters = np.frombuffer(data, dtype=np.uint8)
    gap = characters == ord(" ")
    begins = np.greater(gap[1:], gap[:-1]).view(np.uint8)
    begins *= ord(",") - ord(" ")
    characters[1:] += begins
    if kind == "d" and b"-0," in data:
        # To JSON this is the whole number 0; to us it is minus zero.
        data = data.replace(b"-0,", b"-0.0,")
    values = _json_array(data, kind)
    if values is None and _NO_NUMBER.search(data) is None:
        for ours, theirs in _NOT_JSON:
            data = data.replace(ours, theirs)
        values = _json_array(data, kind)
    return None if values is None else values[1:-1]


def _json_array(data: bytearray, kind: Literal["d", "i"]) -> npt.NDArray[Any] | None:
    import simdjson

    # Its memory is kept for the next list, unless it is very much.
    parser = getattr(_KEPT, "parser", None) or simdjson.Parser()
    _KEPT.parser = parser if len(data) < _MUCH else None
    try:
        array = parser.parse(data)
        if not isinstance(array, simdjson.Array):
            return None
        buffer = array.as_buffer(of_type=kind)
    except (ValueError, TypeError, RuntimeError):
        return None
    return np.frombuffer(buffer, dtype=np.float64 if kind == "d" else np.int64)
