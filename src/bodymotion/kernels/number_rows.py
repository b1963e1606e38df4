"""Lines of decimal numbers into a table, in compiled code.

A number of up to 15 or so digits becomes a double by one exact multiplication or division with a power of ten. The digits of others are
written down as numbers of JSON, for a parser that rounds them. What is no plain number, and lines of another length, are left to the
caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import kernel

__all__ = ["BLANK_BEFORE", "COMMENT", "LONGEST", "ODD", "read_lines"]

ODD, COMMENT, BLANK_BEFORE = 1, 2, 3
"""What is said of a line: it is to be read in another way; it is a row, and has a comment; it is the first row after a blank line."""

LONGEST = 40
"""Numbers of more digits are left to the caller."""

_POWERS = 10.0 ** np.arange(23)
_EXACT = np.uint64(1 << 53)


@kernel
def read_lines(
    text: npt.NDArray[np.uint8],
    begin: int,
    stop: int,
    width: int,
    values: Floats,
    zeros: npt.NDArray[np.bool_],
    begins: npt.NDArray[np.int64],
    row: int,
    blanks: int,
    seen: int,
    said: npt.NDArray[np.int64],
    rounded: npt.NDArray[np.int64],
    digits: npt.NDArray[np.uint8],
) -> Any:  # noqa: ANN401
    """Read lines from byte `begin` on, until `stop` or until there is no more room to say something.

    Parameters
    ----------
    text, begin, stop:
        The bytes; lines end with line feeds.
    values, zeros, begins:
        (N, width), (N, width) and (N,), written from `row` on: numbers, which of them are the text 0, where the line begins.
    row, blanks, seen:
        How many rows there are before, how many blank lines, and how many there were before the last row.
    said:
        (M, 4): what is said of a line, where it begins, and how many rows and blank lines are before it.
    rounded, digits:
        The flat places in `values` of the numbers that are still to be rounded, and their texts with commas between.

    Returns
    -------
    tuple
        Where it stopped, the new `row`, `blanks` and `seen`, and how much of `said`, `rounded`, `digits` is used.
    """
    at, num_said, num_rounded, num_digits = begin, 0, 0, 0
    while at < stop:
        if num_said + 2 > said.shape[0] or num_rounded + width > rounded.shape[0]:
            break
        if num_digits + width * (LONGEST + 12) > digits.shape[0]:
            break
        line, count, odd, comment = at, 0, False, False
        old_rounded, old_digits = num_rounded, num_digits
        while True:
            while at < stop and (text[at] == 32 or text[at] == 9):
                at += 1
            if at >= stop or text[at] == 10:
                break
            if text[at] == 35 or (text[at] == 47 and at + 1 < stop and text[at + 1] == 47):
                comment = True
                while at < stop and text[at] != 10:
                    at += 1
                break
            if count == width or row == values.shape[0]:
                odd = True
                break
            token = at
            negative = text[at] == 45
            if negative or text[at] == 43:
                at += 1
            mantissa, significant, exponent, any_digit = np.uint64(0), 0, 0, False
            first = at
            while at < stop and np.uint8(text[at] - 48) < 10:
                mantissa = mantissa * np.uint64(10) + np.uint64(text[at] - 48)
                at += 1
            any_digit = at > first
            significant = at - first
            if at < stop and text[at] == 46:
                at += 1
                point = at
                while at < stop and np.uint8(text[at] - 48) < 10:
                    mantissa = mantissa * np.uint64(10) + np.uint64(text[at] - 48)
                    at += 1
                exponent = point - at
                significant += at - point
                any_digit = any_digit or at > point
            end = at
            if any_digit and at < stop and (text[at] == 101 or text[at] == 69):
                at += 1
                less = at < stop and text[at] == 45
                if less or (at < stop and text[at] == 43):
                    at += 1
                power, start = 0, at
                while at < stop and np.uint8(text[at] - 48) < 10:
                    if power < 100000:
                        power = power * 10 + int(text[at] - 48)
                    at += 1
                any_digit = at > start
                exponent += -power if less else power
            ends = at >= stop or text[at] == 32 or text[at] == 9 or text[at] == 10 or text[at] == 35
            ends = ends or (text[at] == 47 and at + 1 < stop and text[at + 1] == 47)
            if not any_digit or not ends or significant > LONGEST:
                odd = True
                break
            zeros[row, count] = at - token == 1 and text[token] == 48
            # Nineteen digits fit into 64 bits; leading zeros are no harm, for they are counted too.
            if significant <= 19 and mantissa <= _EXACT and -22 <= exponent <= 22:
                number = np.float64(mantissa)
                number = number / _POWERS[-exponent] if exponent < 0 else number * _POWERS[exponent]
                values[row, count] = -number if negative else number
            elif significant <= 19 and mantissa == 0:
                values[row, count] = -0.0 if negative else 0.0
            elif exponent > 250 or exponent < -250:
                odd = True
                break
            else:
                rounded[num_rounded] = row * width + count
                num_rounded += 1
                if negative:
                    digits[num_digits] = 45
                    num_digits += 1
                leading = True
                for k in range(first, end):
                    if text[k] == 46 or (leading and text[k] == 48):
                        continue
                    leading = False
                    digits[num_digits] = text[k]
                    num_digits += 1
                if leading:
                    digits[num_digits] = 48
                    num_digits += 1
                digits[num_digits] = 101
                num_digits += 1
                if exponent < 0:
                    digits[num_digits] = 45
                    num_digits += 1
                size = abs(exponent)
                digits[num_digits] = 48 + size // 100
                digits[num_digits + 1] = 48 + size // 10 % 10
                digits[num_digits + 2] = 48 + size % 10
                digits[num_digits + 3] = 44
                num_digits += 4
            count += 1
        if odd:
            while at < stop and text[at] != 10:
                at += 1
        at += 1
        if count == 0 and not odd and not comment:
            blanks += 1
            continue
        whole = count == width and not odd
        if not whole:
            num_rounded, num_digits = old_rounded, old_digits
        if comment or not whole:
            said[num_said, 0] = COMMENT if whole else ODD
            said[num_said, 1], said[num_said, 2], said[num_said, 3] = line, row, blanks
            num_said += 1
        if whole:
            if blanks > seen:
                said[num_said, 0] = BLANK_BEFORE
                said[num_said, 1], said[num_said, 2], said[num_said, 3] = line, row, blanks
                num_said += 1
                seen = blanks
            begins[row] = line
            row += 1
    return min(at, stop), row, blanks, seen, num_said, num_rounded, num_digits
