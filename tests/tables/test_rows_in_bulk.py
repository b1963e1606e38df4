"""Rows that are read in bulk are those that are read line by line, to the same doubles."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.tables import number_table
from bodymotion.formats.text import numbers_of_rows
from sample_files import tries

NUMBERS = b"1 -2.5 1e5 .5 +3 nan inf -0 00.5 1. 1e999 99999999999999999999999".split()
OTHERS = b'- true null "1" [1] { 1,2 \x00 \xff 0x10 1_0 12e'.split()
BLANKS, ENDS = (b" ", b"\t", b"  ", b"\x0b", b" \t "), (b"\n", b"\r\n", b" \n", b"\n ", b"\n\n", b"\r")


@pytest.mark.parametrize("sign", [b" ", b",", b";", b"\t"])
def test_rows_in_bulk(sign):
    by, read = random.Random(1), 0
    between = BLANKS if sign == b" " else (sign, sign + b" ", b" " + sign, b" ")
    for _ in range(tries(500)):
        width, cells = by.randint(1, 3), NUMBERS if by.random() < 0.7 else NUMBERS + OTHERS
        rows = [
            [by.choice(cells) for _ in range(width if by.random() < 0.95 else by.randint(0, 4))]
            for _ in range(by.randint(1, 4))
        ]
        text = b"".join(
            (sign if by.random() < 0.5 else by.choice(between)).join(row)
            + by.choice(ENDS[: 4 if by.random() < 0.9 else None])
            for row in rows
        )
        found = Diagnostics("a.bvh")
        table = number_table._Rows("a.bvh", sign, width, found)
        values, lines = table._line_by_line(text, 1)
        bulk = numbers_of_rows(text, width, sign)
        if bulk is not None:
            read += 1
            assert not found.problems, text
            np.testing.assert_array_equal(bulk, values)
            assert np.array_equal(np.signbit(bulk), np.signbit(values)), text
            assert lines.tolist() == [*range(1, len(lines) + 1)]
    assert read > 30


def test_commas_and_blanks_are_not_the_same():
    """What is as long as it should be in all may be two numbers in one cell, and a row that is too short."""
    assert numbers_of_rows(b"1,2\n3 4\n", 2) is None
    assert numbers_of_rows(b"1 2,,3\n4,5,6\n", 3, b",") is None
    assert numbers_of_rows(b"1 2 3\n4\n", 2) is None
