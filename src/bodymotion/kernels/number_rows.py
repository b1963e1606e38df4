"""Rows of plain decimal numbers, from their text."""

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel

BLANK, TAB, RETURN, FEED, MINUS, POINT, ZERO = b" \t\r\n-.0"
BYTES = 128  # As many are one step of `is_small`.
POWERS = np.array([float(f"1e{k}") for k in range(16)])


@inlined
def _after_blanks(text: npt.NDArray[np.uint8], at: np.uint64, sign: int) -> np.uint64:
    """Return the place of the next byte that is no blank; a `sign` is none."""
    while text[at] == BLANK or text[at] == RETURN or (text[at] == TAB and sign != TAB):
        at += np.uint64(1)
    return at


@kernel
def read_plain_rows(text: npt.NDArray[np.uint8], sign: int, out: Floats) -> bool:
    """Fill `out` (T, N) with the numbers of T lines; return whether each line is N plain numbers between blanks or a `sign`.

    A plain number has up to 15 digits and no exponent. Its digits and the power of ten are doubles, so their quotient is the nearest one
    (Clinger, 1990). Each line ends with a line feed.
    """
    at, one = np.uint64(0), np.uint64(1)
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            at = _after_blanks(text, at, sign)
            is_negative = text[at] == MINUS
            at += np.uint64(is_negative)
            begin, point, whole = at, at, np.uint64(0)
            while True:
                digit = np.uint8(text[at] - ZERO)
                if digit < 10:
                    whole = np.uint64(10) * whole + np.uint64(digit)
                elif text[at] == POINT and point == begin:
                    point = at + one
                else:
                    break
                at += one
            places = at - point if point > begin else np.uint64(0)
            digits = at - begin - np.uint64(point > begin)
            if digits - one >= 15 or (text[at] > BLANK and text[at] != sign):
                return False
            value = np.float64(np.int64(whole)) / POWERS[places]
            out[row, column] = -value if is_negative else value
            at = _after_blanks(text, at, sign)
            is_last = column + 1 == out.shape[1]
            if is_last or sign != BLANK:
                if text[at] != (FEED if is_last else sign):
                    return False
                at += one
    return True
