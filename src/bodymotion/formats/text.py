"""Decode the texts of files, and write and read doubles as decimal text in bulk.

A text knows the line and column of an offset in it.

Doubles become decimal text that reads back as the same double, and decimal text becomes
doubles: single ones, and tables of them.

Text becomes JSON by a few passes over its bytes (`as_json`), whose numbers simdjson
reads to the same doubles as `float`, several times as fast as NumPy reads text
(`json_numbers`, `numbers_of_rows`).

orjson writes the shortest text that reads back as the same double, exponents signed.
What is left to do is done on whole pieces of text: blanks, line breaks, a point in a
mantissa of one digit (``5e-7`` is a text to YAML 1.1, ``5.0e-7`` a number), and names
for what is not finite.
"""

from __future__ import annotations

import math
import re
import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from io import BytesIO
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location
from bodymotion.formats.encodings import wide_encoding
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import is_small
from bodymotion.kernels.number_rows import BYTES, read_plain_rows

BOM = b"\xef\xbb\xbf"  # The byte order mark of UTF-8.

PIECE = 1 << 12
"""About this count of numbers is written as text at once.

The text then stays in the processor's cache, and below the 128 KiB from which the C
library gets memory page by page from the system.
"""

_POINT = np.frombuffer(b".0", np.uint8)
_GAPS = bytes.maketrans(b"\t\r\n\f\v,", b"      ")
# Numbers that Python reads and JSON does not allow, and how JSON has them.
_NOT_JSON = (
    (b",+", b","),
    (b" +", b" "),
    (b",.", b",0."),
    (b" .", b" 0."),
    (b"-.", b"-0."),
    (b".,", b".0,"),
)
# A point or a sign without digits: the rules above would make a number of it.
_NOT_A_NUMBER = re.compile(rb"[-+ ,]\.,|\+-")
_THREAD = threading.local()
_MAX_KEPT_BYTES = 2_000_000
"""[bytes] Size of a text up to which the memory of its parser is kept for the next."""


class Lines:
    """Where the lines of a text begin.

    Enough to locate offsets when the text is no longer in memory.
    """

    def __init__(self, data: str, path: Path | None) -> None:
        self.path = path
        self.size = len(data)
        # ASCII has one byte for each character, UTF-32 four: an offset is an index.
        encoding, code = ("ascii", "u1") if data.isascii() else ("utf-32-le", "<u4")
        codes = np.frombuffer(data.encode(encoding, "surrogatepass"), code)
        feed = codes == ord("\n")
        ends = codes == ord("\r")
        # The CR of a CRLF ends no line of its own.
        ends[:-1] &= ~feed[1:]
        ends |= feed
        self.starts = array(
            "q", np.append(0, np.flatnonzero(ends) + 1).astype(np.int64).tobytes()
        )

    def location(self, offset: int) -> Location:
        """Return line and column, both from 1, of an offset."""
        offset = min(max(offset, 0), self.size)
        line = bisect_right(self.starts, offset)
        return Location(
            str(self.path) if self.path else None,
            line,
            offset - self.starts[line - 1] + 1,
        )


class Text:
    """The decoded `data` of the file at `path`.

    Lines end with LF, CR or CRLF; one file may have all three.
    """

    def __init__(
        self, data: str, path: Path | None = None, encoding: str = "ascii"
    ) -> None:
        self.data = data
        self.path = path
        self.encoding = encoding

    @cached_property
    def lines(self) -> Lines:
        """Where the lines begin."""
        return Lines(self.data, self.path)

    def with_data(self, data: str) -> Text:
        """Return a text of the same length with the same lines."""
        text = Text(data, self.path, self.encoding)
        text.lines = self.lines
        return text

    def location(self, offset: int) -> Location:
        """Return line and column, both from 1, of an offset."""
        return self.lines.location(offset)


def decode(data: bytes) -> tuple[str, str]:
    """Return text and encoding.

    ASCII, else UTF-8, else Shift-JIS as Windows writes it, else Latin-1.

    Latin-1 decodes any bytes: it means "none of the others". For UTF-16 and UTF-32 see
    `formats.encodings`.
    """
    if name := wide_encoding(data):
        return data.decode(name, "replace"), name
    # The mark is no character of the text.
    data = data.removeprefix(BOM)
    if data.isascii():
        return data.decode("ascii"), "ascii"
    for encoding in ("utf-8", "cp932"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def number(x: float) -> str:
    """Return the shortest text that reads back as the same double.

    With a point and a signed exponent (1.0e-07), or .nan, .inf, -.inf.
    """
    if math.isnan(x):
        return ".nan"
    if math.isinf(x):
        return ".inf" if x > 0 else "-.inf"
    # `repr` is the shortest text that reads back.
    mantissa, e, exponent = repr(float(x)).partition("e")
    if e and "." not in mantissa:
        mantissa += ".0"
    return mantissa + e + exponent


def parsed(text: str) -> float:
    """Return the number that a text is.

    NaN for any other text.
    """
    # Python reads 1_000 as a number; no format has that.
    if "_" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def as_json(text: bytes, delimiter: bytes = b" ") -> bytearray:
    """Return JSON of the numbers in a text, with a zero before and after them.

    They are 3 bytes further back than in the text. Of each gap of white space and
    commas the first character becomes a comma, the others blanks; with a `delimiter`
    that is none of white space, only it and the ends of lines are commas.
    """
    # One pass is enough where cells have one separator.
    if delimiter != b" ":
        return bytearray(
            b"[0,%b,0]"
            % text.rstrip().translate(bytes.maketrans(b"\n\r" + delimiter, b", ,"))
        )
    data = bytearray(b"[0 %b 0]" % text).translate(_GAPS)
    characters = np.frombuffer(data, dtype=np.uint8)
    gap = characters == ord(" ")
    # A gap begins where a blank follows another character.
    begins = np.greater(gap[1:], gap[:-1]).view(np.uint8)
    # Comma less blank is added where a gap begins.
    begins *= ord(",") - ord(" ")
    characters[1:] += begins
    return data


def json_numbers(
    data: bytearray, kind: Literal["d", "i"] = "d"
) -> npt.NDArray[Any] | None:
    """Return the numbers (N,) of `as_json`.

    What JSON does not allow (`.5`, `5.`, `+1`) is rewritten. None where anything else
    is in it.
    """
    values = json_array(data, kind)
    # Only what is known to be wrong is rewritten, and the text parsed once more.
    if values is None and _NOT_A_NUMBER.search(data) is None:
        for ours, theirs in _NOT_JSON:
            data = data.replace(ours, theirs)
        values = json_array(data, kind)
    if values is None:
        return None
    # Zeros may have lost their sign.
    if kind == "d" and not values[1:-1].all():
        values = with_minus_zeros(values, data)
    return values[1:-1]


def with_minus_zeros(values: Floats, data: bytearray) -> Floats:
    """Return the numbers of a JSON text with its minus zeros.

    These are `-0`, which in JSON is the whole number 0.
    """
    codes = np.frombuffer(data, np.uint8)
    # A minus, a zero, and the end of the number behind it.
    minus = np.flatnonzero(codes[:-2] == ord("-"))
    before = codes[minus - 1]
    after = codes[minus + 1]
    end = codes[minus + 2]
    bare = minus[
        (after == ord("0"))
        & ((end <= ord(",")) | (end == ord("]")))
        & (before | 32 != ord("e"))
    ]
    if len(bare):
        values = values.copy()
        # The number of commas before a zero is its index.
        values[np.searchsorted(np.flatnonzero(codes == ord(",")), bare, "right")] = -0.0
    return values


def json_array(
    data: bytes | bytearray, kind: Literal["d", "i"] = "d"
) -> npt.NDArray[Any] | None:
    """Return the numbers (N,) of a text in brackets, with others in it or not.

    None where it is no JSON array of numbers.
    """
    import simdjson

    # One parser in each thread: it keeps memory between texts.
    parser = getattr(_THREAD, "parser", None) or simdjson.Parser()
    _THREAD.parser = parser if len(data) < _MAX_KEPT_BYTES else None
    try:
        # No name for the parsed array: the parser can be used again only when nothing
        # refers to what it parsed.
        buffer = parser.parse(data).as_buffer(of_type=kind)  # type: ignore[union-attr]
        return np.frombuffer(buffer, dtype=np.float64 if kind == "d" else np.int64)
    except (ValueError, TypeError, RuntimeError):
        return None


def numbers_of_rows(text: bytes, width: int, delimiter: bytes = b" ") -> Floats | None:
    """Return the numbers (T, width) of lines.

    Each has `width` numbers between blanks or a delimiter. None where a line is
    anything else.
    """
    # Brackets would be JSON's own; commas are no blanks.
    if not text or b"[" in text or b"{" in text or (delimiter == b" " and b"," in text):
        return None
    codes = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", np.uint8)
    feeds = codes == ord("\n")
    num_rows = int(np.count_nonzero(feeds))
    # A number and what is behind it take two bytes or more.
    may_be_plain = 2 * num_rows * width <= len(codes)
    # For large texts a compiled loop; compiling it takes longer than small ones.
    if may_be_plain and not is_small(read_plain_rows, len(text) // BYTES):
        values = np.empty((num_rows, width))
        if read_plain_rows(codes, delimiter[0], values):
            return values
    data = as_json(text, delimiter)
    numbers = json_numbers(data)
    if numbers is None or numbers.size != num_rows * width:
        return _loaded_rows(text, num_rows, width, delimiter)
    # The end of a line, 3 bytes further in JSON, is in the gap after the last number of
    # its row. Commas are counted in the smallest integers that hold `width`: with as
    # many commas in all, no line has as many too many as these cannot hold.
    commas = (np.frombuffer(data, np.uint8)[3:] == ord(",")).view(np.uint8)
    starts = np.append(0, np.flatnonzero(feeds[:-1]) + 1)
    counts = np.add.reduceat(commas, starts, dtype=np.min_scalar_type(width))
    if (counts == width).all():
        return numbers.reshape(num_rows, width)
    return None


def _loaded_rows(
    text: bytes, num_rows: int, width: int, delimiter: bytes
) -> Floats | None:
    """Return rows with numbers that are none of JSON, such as `nan`."""
    try:
        rows = np.loadtxt(
            BytesIO(text),
            comments=None,
            delimiter=None if delimiter == b" " else delimiter.decode(),
            ndmin=2,
            encoding="ascii",
        )
    except ValueError:
        return None
    return rows if rows.shape == (num_rows, width) else None


def rounded(values: Floats, digits: int) -> Floats:
    """Round to a number of significant decimal digits (1 to 15).

    Each number becomes the double that is nearest to the decimal one. What would leave
    the range of doubles by that stays as it is.
    """
    is_number = isinstance(digits, Integral) and not isinstance(digits, bool)
    if not is_number or not 1 <= digits <= 15:
        raise ValueError(
            f"digits: 1 to 15 significant digits, a whole number, not {digits!r}"
        )
    values = np.asarray(values, np.float64)
    # Through decimal text: the nearest double to the decimal number.
    decimals = [float(f"{x:.{digits - 1}e}") for x in values.ravel().tolist()]
    result = np.array(decimals).reshape(values.shape)
    # Rounding up may leave the range of doubles.
    return np.where(np.isinf(result), values, result)


def row_texts(values: Floats, times: Floats | None, between: bytes) -> Iterator[bytes]:
    """Return rows (T, P) or (T, P, n) as text, in pieces.

    ``[ 0.1, 0.2 ]`` or ``[ [ … ], [ … ] ]``, the time first where there is one.
    `between` stands between two rows of a piece.
    """
    width = max(1, int(np.prod(values.shape[1:])))
    count = max(1, PIECE // width)
    for start in range(0, len(values), count):
        piece = slice(start, start + count)
        stamps = None if times is None else times[piece]
        yield _piece(np.ascontiguousarray(values[piece]), stamps, between)


def _piece(values: Floats, times: Floats | None, between: bytes) -> bytes:
    """Return some rows as text."""
    rows: list[bytes] = []
    if values.size:
        rows = number_rows(values.reshape(-1, values.shape[-1]))
    if values.ndim == 3 and rows:
        # Each row is so many poses.
        num_parts = values.shape[1]
        starts = range(0, len(rows), num_parts)
        poses = (b" ], [ ".join(rows[start : start + num_parts]) for start in starts)
        rows = [b"[ " + text + b" ]" for text in poses]
    if times is not None:
        stamps = number_rows(times[:, None])
        if rows:
            rows = [b"%b, %b" % pair for pair in zip(stamps, rows, strict=True)]
        else:
            rows = stamps
    if rows:
        text = b"[ " + (b" ]" + between + b"[ ").join(rows) + b" ]"
    else:
        text = between.join([b"[]"] * len(values))
    return _pointed(text)


def number_rows(rows: Floats) -> list[bytes]:
    """Return the numbers of each row (T, P), P > 0, with ``, `` between them.

    Mantissas of one digit may lack their point.
    """
    text = json_text(rows)
    # Searching for one byte is several times as fast as searching for two.
    pieces = text.replace(b",", b", ").split(b"[")
    # Rows end with `], `: three characters, the last with `]]`.
    return [*[piece[:-3] for piece in pieces[2:-1]], pieces[-1][:-2]]


def json_text(values: npt.NDArray[Any], name: Callable[[float], str] = number) -> bytes:
    """Return an array as JSON, each number in its shortest form.

    `name` returns the text of one that is not finite.
    """
    import orjson

    text: bytes = orjson.dumps(
        np.ascontiguousarray(values), option=orjson.OPT_SERIALIZE_NUMPY
    )
    finite = np.isfinite(values)
    if finite.all():
        return text
    # orjson writes null for nan and inf.
    names = [name(x).encode() for x in values[~finite].tolist()]
    return b"".join(
        part + each
        for part, each in zip(text.split(b"null"), [*names, b""], strict=True)
    )


def _pointed(text: bytes) -> bytes:
    """Put a point into mantissas of one digit.

    An ``e`` two characters after a blank or a sign.
    """
    codes = np.frombuffer(text, np.uint8)
    # Before the digit: a blank, a comma or a sign, all below ".".
    bare = (codes[2:] == ord("e")) & (codes[:-2] < ord("."))
    if not bare.any():
        return text
    offsets = np.flatnonzero(bare) + 2
    return np.insert(
        codes, np.repeat(offsets, 2), np.tile(_POINT, len(offsets))
    ).tobytes()
