"""Doubles as decimal text that reads back as the same double: single ones, and tables of them in bulk.

orjson writes the shortest text that reads back as the same double, exponents signed. What is left to do is done on whole pieces of
text: blanks, line breaks, a point in a mantissa of one digit (``5e-7`` is a text to YAML 1.1, ``5.0e-7`` a number), and names for what is
not finite.
"""

import math
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

PIECE = 1 << 12
"""About so many numbers are turned into text at once: their text then stays in the processor's cache, and below the 128 KiB from which
the C library gets memory page by page from the system."""

_POINT = np.frombuffer(b".0", np.uint8)


def number(x: float) -> str:
    """Return the shortest text that reads back as the same double, with a point and a signed exponent (1.0e-07), or .nan, .inf, -.inf."""
    if not math.isfinite(x):
        return ".nan" if math.isnan(x) else ".inf" if x > 0 else "-.inf"
    text = repr(float(x))
    mantissa, e, exponent = text.partition("e")
    return mantissa + (".0" if "." not in mantissa else "") + e + exponent if e else text


def parsed(text: str) -> float:
    """Return the number that a text is; NaN for any other text."""
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def rounded(values: Floats, digits: int) -> Floats:
    """Round to so many significant decimal digits (1 to 15), each to the double that is nearest to the decimal number.

    What would leave the range of doubles by that stays as it is.
    """
    if isinstance(digits, bool) or not isinstance(digits, Integral) or not 1 <= digits <= 15:
        raise ValueError(f"digits: 1 to 15 significant digits, a whole number, not {digits!r}")
    values = np.asarray(values, np.float64)
    found = np.array([float(f"{x:.{digits - 1}e}") for x in values.ravel().tolist()]).reshape(values.shape)
    return np.where(np.isinf(found), values, found)


def row_texts(values: Floats, times: Floats | None, between: bytes) -> Iterator[bytes]:
    """Return the rows (T, P) or (T, P, n) as text ``[ 0.1, 0.2 ]`` or ``[ [ … ], [ … ] ]``, the time first where there is one, in pieces.

    `between` stands between two rows of a piece.
    """
    count = max(1, PIECE // max(1, int(np.prod(values.shape[1:]))))
    for start in range(0, len(values), count):
        stop = start + count
        stamps = None if times is None else times[start:stop]
        yield _piece(np.ascontiguousarray(values[start:stop]), stamps, between)


def _piece(values: Floats, times: Floats | None, between: bytes) -> bytes:
    flat = values.reshape(-1, values.shape[-1]) if values.size else np.zeros((0, 1))
    rows = number_rows(flat) if len(flat) else []
    if values.ndim == 3 and len(rows):
        parts = values.shape[1]
        rows = [b"[ " + b" ], [ ".join(rows[i : i + parts]) + b" ]" for i in range(0, len(rows), parts)]
    if times is not None:
        stamps = number_rows(times[:, None])
        rows = [b"%b, %b" % pair for pair in zip(stamps, rows, strict=True)] if rows else stamps
    text = b"[ " + (b" ]" + between + b"[ ").join(rows) + b" ]" if rows else between.join([b"[]"] * len(values))
    return _pointed(text)


def number_rows(rows: Floats) -> list[bytes]:
    """Return the numbers of each row (T, P), P > 0, with ``, `` between them; mantissas of one digit may lack their point."""
    text = json_text(rows)
    # Searching for one byte is several times as fast as searching for two.
    pieces = text.replace(b",", b", ").split(b"[")
    return [*[piece[:-3] for piece in pieces[2:-1]], pieces[-1][:-2]]


def json_text(values: npt.NDArray[Any], name: Callable[[float], str] = number) -> bytes:
    """Return an array as JSON, each number in its shortest form; `name` returns the text of one that is not finite."""
    import orjson

    text: bytes = orjson.dumps(np.ascontiguousarray(values), option=orjson.OPT_SERIALIZE_NUMPY)
    finite = np.isfinite(values)
    if finite.all():
        return text
    names = [name(x).encode() for x in values[~finite].tolist()]
    return b"".join(part + each for part, each in zip(text.split(b"null"), [*names, b""], strict=True))


def _pointed(text: bytes) -> bytes:
    """Put a point into mantissas of one digit: an ``e`` two characters after a blank or a sign."""
    codes = np.frombuffer(text, np.uint8)
    bare = (codes[2:] == ord("e")) & (codes[:-2] < ord("."))
    if not bare.any():
        return text
    offsets = np.flatnonzero(bare) + 2
    return np.insert(codes, np.repeat(offsets, 2), np.tile(_POINT, len(offsets))).tobytes()
