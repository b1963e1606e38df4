"""Rows of plain decimal numbers, from their text."""

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import kernel

BLANK, TAB, RETURN, FEED, MINUS, POINT, ZERO = b" \t\r\n-.0"
BYTES = 128  # As many are one step of `is_small`.
POWERS = np.array([float(f"1e{k}") for k in range(16)])


@kernel
def read_plain_rows(text: npt.NDArray[np.uint8], sign: int, out: Floats) -> bool:
    """Fill `out` (T, N) with the numbers of T lines.

    Return whether each line is N plain numbers between blanks or a `sign`.

    A plain number has up to 15 digits and no exponent. Its digits and the power of ten
    are doubles, so their quotient is the nearest one (Clinger, 1990). Each line ends
    with a line feed.
    """
    at = np.uint64(0)
    one = np.uint64(1)
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            while text[at] == BLANK or (text[at] == TAB and sign != TAB):
                at += one
            is_negative = text[at] == MINUS
            at += np.uint64(is_negative)
            begin = at
            point = at
            whole = np.uint64(0)
            while True:
                digit = np.uint8(text[at] - ZERO)
                if digit < 10:
                    whole = np.uint64(10) * whole + np.uint64(digit)
                elif text[at] == POINT and point == begin:
                    point = at + one
                else:
                    break
                at += one
            has_point = np.uint64(point > begin)
            if at - begin - has_point - one >= 15 or (
                text[at] > BLANK and text[at] != sign
            ):
                return False
            value = np.float64(np.int64(whole)) / POWERS[has_point * (at - point)]
            out[row, column] = -value if is_negative else value
            while (
                text[at] == BLANK
                or text[at] == RETURN
                or (text[at] == TAB and sign != TAB)
            ):
                at += one
            is_last = column + 1 == out.shape[1]
            if is_last or sign != BLANK:
                if text[at] != (FEED if is_last else sign):
                    return False
                at += one
    return True
