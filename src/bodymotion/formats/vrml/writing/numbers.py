"""Numbers as VRML97 text that reads back as the same doubles: single ones, and long lists in bulk.

What is not finite has no place in the standard; it is written as `nan`, `inf` and `-inf`, which this project's reader takes with a problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["number", "number_list", "number_pieces", "numbers"]

PIECE = 1 << 11
LONG = 100
"""The lines of a longer list are indented by one blank, and its whole numbers keep their `.0`: that saves room, and most of the time."""
_ROWS = bytes.maketrans(b",]", b" \n")
IN_A_LINE = 12
"""So many numbers of a list that has no rows stand in one line."""


def number(x: float) -> str:
    """Return the shortest text that reads back as the same double: `1`, `0.5`, `1e-07`, `-0`."""
    if not math.isfinite(x):
        return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    return repr(float(x)).removesuffix(".0")


def numbers(values: npt.NDArray[Any]) -> str:
    """Return a few numbers with spaces between them."""
    return " ".join(map(number if values.dtype.kind == "f" else str, values.ravel().tolist()))


def number_list(values: npt.NDArray[Any], indent: bytes) -> bytes:
    """Return a list in brackets (see `number_pieces`)."""
    return b"".join(number_pieces(values, indent))


def number_pieces(values: npt.NDArray[Any], indent: bytes) -> Iterator[bytes]:
    """Return a list in brackets: rows (N, K) one to a line, faces of three corners too, a short list of single numbers in one line.

    `indent` is what stands before the line of the closing bracket. A long list comes in pieces that stay in the processor's cache.
    """
    if not values.size:
        yield b"[ ]"
        return
    whole = values.dtype.kind in "iu"
    # Of a long list the blanks before the lines would be most of the text.
    inner = b"\n" + (indent + b"  " if len(values) <= LONG else b" ")
    if values.ndim == 1 and whole and _triangles(values):
        values = values.reshape(-1, 4)
    if values.ndim == 2 and len(values) > 1:
        yield b"[" + inner
        for start in range(0, len(values), PIECE):
            yield _rows(values[start : start + PIECE], inner, len(values) > LONG)
            if start + PIECE < len(values):
                yield inner
    elif values.ndim == 1 and whole:
        yield b"[" + inner + _json(values)[1:-1].replace(b",-1,", b" -1\n").replace(b",", b" ").replace(b"\n", inner)
    elif values.ndim == 2 or len(values) <= IN_A_LINE:
        yield b"[ " + numbers(values).encode() + b" ]"
        return
    else:
        yield b"["
        for start in range(0, len(values), IN_A_LINE):
            yield inner + numbers(values[start : start + IN_A_LINE]).encode()
    yield b"\n" + indent + b"]"


def _triangles(index: npt.NDArray[Any]) -> bool:
    """Whether a list of indices has triangles only, each ended by -1."""
    count, left = divmod(len(index), 4)
    return not left and bool((index[3::4] == -1).all()) and np.count_nonzero(index == -1) == count


def _rows(values: npt.NDArray[Any], inner: bytes, long: bool) -> bytes:
    text = _json(values, short=not long)[2:-2]
    if long:
        # One pass over the bytes: of `a,b],[c,d` it makes two lines, the comma between them a blank at the beginning of the second.
        return text.translate(_ROWS, b"[")
    # Searching for one byte is several times as fast as searching for more.
    return text.replace(b"],[", b"\n").replace(b",", b" ").replace(b"\n", inner)


def _json(values: npt.NDArray[Any], short: bool = True) -> bytes:
    import orjson

    if values.dtype.kind not in "iu":
        values = values.astype(np.float64, copy=False)
    text: bytes = orjson.dumps(np.ascontiguousarray(values), option=orjson.OPT_SERIALIZE_NUMPY)
    if values.dtype.kind == "f":
        if short:
            text = text.replace(b".0,", b",").replace(b".0]", b"]")
        odd = values[~np.isfinite(values)]
        if len(odd):
            names = [number(x).encode() for x in odd.tolist()]
            parts = text.split(b"null")
            text = b"".join(part + name for part, name in zip(parts, [*names, b""], strict=True))
    return text
