"""Lists of numbers, found in the text and parsed in bulk, to the same doubles as `float` gives.

A list in the usual shape goes through simdjson, which reads nine tenths of all files: white space and commas become single
commas. What JSON does not know (`.5`, `5.`, `+1`, `007`) goes through `float`, word by word. None means that the list holds something
else, for the parser to say what and where.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats, Ints

__all__ = ["float_list", "int_list"]

_PLAIN = b"0123456789+-.eE, \t\r\n\f\v"
_PLAIN_TEXT = re.compile(r"[0-9+\-.eE, \t\r\n\f\v]*+")
_FEW = 2000
"""Up to so many characters, Python's own `float` is as quick."""


def float_list(text: str) -> Floats | None:
    """Parse numbers apart by white space and commas; None when there is anything but finite numbers."""
    if len(text) < _FEW:
        if _PLAIN_TEXT.fullmatch(text) is None:
            return None
        words: list[str] | list[bytes] = text.replace(",", " ").split()
    else:
        plain = _plain_words(text)
        if plain is None:
            return None
        words = plain
        array = _by_simdjson(plain, "d")
        if array is not None:
            return array if np.isfinite(array).all() else None
    try:
        array = np.array(list(map(float, words)), dtype=np.float64)
    except ValueError:
        return None
    if not np.isfinite(array).all():
        return None
    array.flags.writeable = False
    return array


def int_list(text: str) -> Ints | None:
    """Parse whole numbers of 32 bits; None when there is anything else."""
    if len(text) < _FEW:
        if _PLAIN_TEXT.fullmatch(text) is None:
            return None
        words: list[str] | list[bytes] = text.replace(",", " ").split()
        wide = None
    else:
        plain = _plain_words(text)
        if plain is None:
            return None
        words = plain
        wide = _by_simdjson(plain, "i")
    if wide is None:
        try:
            wide = np.array(list(map(int, words)), dtype=np.int64)
        except (ValueError, OverflowError):
            return None
    array: Ints = wide.astype(np.int32)
    if not np.array_equal(array, wide):
        return None
    array.flags.writeable = False
    return array


def _plain_words(text: str) -> list[bytes] | None:
    try:
        data = text.encode("ascii")
    except UnicodeEncodeError:
        return None
    if data.translate(None, _PLAIN):
        return None
    return data.replace(b",", b" ").split()


def _by_simdjson(words: list[bytes], kind: Literal["d", "i"]) -> npt.NDArray[Any] | None:
    import simdjson

    # A number at either end, so that a comma stands before and after each of ours.
    text = b",".join([b"[0", *words, b"0]"])
    if kind == "d" and b",-0," in text:
        # To JSON this is the whole number 0; to us it is minus zero.
        text = text.replace(b",-0,", b",-0.0,").replace(b",-0,", b",-0.0,")
    try:
        array = simdjson.Parser().parse(text)
        if not isinstance(array, simdjson.Array):
            return None
        buffer = array.as_buffer(of_type=kind)
    except (ValueError, TypeError, RuntimeError):
        return None
    return np.frombuffer(buffer, dtype=np.float64 if kind == "d" else np.int64)[1:-1]
