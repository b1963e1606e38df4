"""Numbers as VRML97 text that reads back as the same doubles: single ones, and long lists in bulk.

What is not finite has no place in the standard; it is written as `nan`, `inf` and `-inf`, which this project's reader takes with a problem.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["number", "number_list", "numbers"]

LONG = 100
"""The lines of a longer list are indented by one blank, and its whole numbers keep their `.0`: that saves room, and most of the time."""
_ROWS = bytes.maketrans(b",]", b" \n")
IN_A_LINE = 12
"""So many numbers of a list that has no rows stand in one line."""


def number(x: float) -> str:
    """Give the shortest text that reads back as the same double: `1`, `0.5`, `1e-07`, `-0`."""
    if not math.isfinite(x):
        return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    return repr(float(x)).removesuffix(".0")


def numbers(values: npt.NDArray[Any]) -> str:
    """Give a few numbers with spaces between them."""
    return " ".join(map(number if values.dtype.kind == "f" else str, values.ravel().tolist()))


def number_list(values: npt.NDArray[Any], indent: bytes) -> bytes:
    """Give a list in brackets: rows (N, K) one to a line, faces of three corners too, a short list of single numbers in one line.

    `indent` is what stands before the line of the closing bracket.
    """
    if not values.size:
        return b"[ ]"
    # Of a long list the blanks before the lines would be most of the text.
    inner = b"\n" + (indent + b"  " if len(values) <= LONG else b" ")
    if values.ndim == 1 and values.dtype.kind in "iu":
        text = _indices(values, inner)
    elif values.ndim == 1:
        if len(values) <= IN_A_LINE:
            return b"[ " + numbers(values).encode() + b" ]"
        whole = len(values) // IN_A_LINE * IN_A_LINE
        text = _rows(values[:whole].reshape(-1, IN_A_LINE), inner)
        if whole < len(values):
            text += inner + numbers(values[whole:]).encode()
    else:
        if len(values) == 1:
            return b"[ " + numbers(values).encode() + b" ]"
        text = _rows(values, inner)
    return b"[" + inner + text + b"\n" + indent + b"]"


def _indices(values: npt.NDArray[Any], inner: bytes) -> bytes:
    """Give a list of indices, a line for each polygon: -1 ends it."""
    if len(values) % 4 == 0 and (values[3::4] == -1).all() and np.count_nonzero(values == -1) == len(values) // 4:
        return _rows(values.reshape(-1, 4), inner)
    text = _json(values)[1:-1]
    return text.replace(b",-1,", b" -1\n").replace(b",", b" ").replace(b"\n", inner)


def _rows(values: npt.NDArray[Any], inner: bytes) -> bytes:
    text = _json(values)[2:-2]
    if len(values) > LONG:
        # One pass over the bytes: of `a,b],[c,d` it makes two lines, the comma between them a blank at the beginning of the second.
        return text.translate(_ROWS, b"[")
    # Searching for one byte is several times as fast as searching for more.
    return text.replace(b"],[", b"\n").replace(b",", b" ").replace(b"\n", inner)


def _json(values: npt.NDArray[Any]) -> bytes:
    import orjson

    if values.dtype.kind not in "iu":
        values = values.astype(np.float64, copy=False)
    text: bytes = orjson.dumps(np.ascontiguousarray(values), option=orjson.OPT_SERIALIZE_NUMPY)
    if values.dtype.kind == "f":
        if len(values) <= LONG:
            text = text.replace(b".0,", b",").replace(b".0]", b"]")
        odd = values[~np.isfinite(values)]
        if len(odd):
            names = [number(x).encode() for x in odd.tolist()]
            parts = text.split(b"null")
            text = b"".join(part + name for part, name in zip(parts, [*names, b""], strict=True))
    return text
