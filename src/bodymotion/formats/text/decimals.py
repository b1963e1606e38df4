"""Doubles as decimal text that reads back as the same double: single ones, and tables of them in bulk.

orjson writes the shortest text that reads back as the same double, exponents signed. What is left to do is done on whole pieces of
text: blanks, line breaks, a point in a mantissa of one digit (``5e-7`` is a text to YAML 1.1, ``5.0e-7`` a number), and names for what is
not finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral

import numpy as np

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
    flat = np.array(values, np.float64).ravel()
    usable = np.isfinite(flat) & (flat != 0)
    exponent = np.zeros(len(flat), np.int64)
    exponent[usable] = np.floor(np.log10(np.abs(flat[usable]))).astype(np.int64)
    shift = digits - 1 - exponent
    # 10^22 is the largest power of ten that is a double: below it, one division rounds correctly.
    exact = usable & (np.abs(shift) <= 22)
    power = 10.0 ** np.abs(shift[exact]).astype(np.float64)
    down = shift[exact] < 0
    whole = np.rint(np.where(down, flat[exact] / power, flat[exact] * power))
    rare = usable & ~exact
    scaled = flat.copy()
    scaled[exact] = np.where(down, whole * power, whole / power)
    scaled[rare] = [float(f"{x:.{digits - 1}e}") for x in flat[rare]]
    return np.where(np.isinf(scaled), flat, scaled).reshape(np.shape(values))


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
    parts = values.shape[1]
    if not values.size:
        text = between.join([b"[]"] * len(values) if times is None else [b"[ %b ]" % t for t in _texts(times)])
        return _pointed(text)
    nested = values.ndim == 3
    flat = values.reshape(-1, values.shape[-1]) if nested else values
    rows = number_rows(flat)
    if not nested:
        if times is None:
            text = b"[ " + (b" ]" + between + b"[ ").join(rows) + b" ]"
        else:
            text = between.join([b"[ %b, %b ]" % pair for pair in zip(_texts(times), rows, strict=True)])
        return _pointed(text)
    if parts > 1:
        rows = [b" ], [ ".join(rows[i : i + parts]) for i in range(0, len(rows), parts)]
    if times is None:
        text = b"[ [ " + (b" ] ]" + between + b"[ [ ").join(rows) + b" ] ]"
    else:
        text = between.join([b"[ %b, [ %b ] ]" % pair for pair in zip(_texts(times), rows, strict=True)])
    return _pointed(text)


def number_rows(rows: Floats) -> list[bytes]:
    """Return the numbers of each row (T, P), P > 0, with ``, `` between them; mantissas of one digit may lack their point."""
    import orjson

    text = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
    if not np.isfinite(rows).all():
        text = _named(text, rows)
    # Searching for one byte is several times as fast as searching for two.
    pieces = text.replace(b",", b", ").split(b"[")
    return [*[piece[:-3] for piece in pieces[2:-1]], pieces[-1][:-2]]


def _texts(numbers: Floats) -> list[bytes]:
    import orjson

    text = orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY)
    if not np.isfinite(numbers).all():
        text = _named(text, numbers)
    return text[1:-1].split(b",")


def _named(text: bytes, numbers: Floats) -> bytes:
    parts = text.split(b"null")
    names = [number(x).encode() for x in numbers[~np.isfinite(numbers)].tolist()]
    return b"".join(part + name for part, name in zip(parts, [*names, b""], strict=True))


def _pointed(text: bytes) -> bytes:
    """Put a point into mantissas of one digit: an ``e`` two characters after a blank or a sign."""
    codes = np.frombuffer(text, np.uint8)
    bare = (codes[2:] == ord("e")) & (codes[:-2] < ord("."))
    if not bare.any():
        return text
    offsets = np.flatnonzero(bare) + 2
    return np.insert(codes, np.repeat(offsets, 2), np.tile(_POINT, len(offsets))).tobytes()
