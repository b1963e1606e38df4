"""Rows between blanks that are read in bulk are those that are read line by line."""

from __future__ import annotations

import random

import numpy as np

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.tables import number_table
from sample_files import tries

NUMBERS = b"1 -2.5 1e5 .5 +3 nan inf -0 00.5 1. 1e999 99999999999999999999999".split()
OTHERS = b'- true null "1" [1] { 1,2 \x00 \xff 0x10 1_0 12e'.split()
BLANKS, ENDS = (b" ", b"\t", b"  ", b"\x0b", b" \t "), (b"\n", b"\r\n", b" \n", b"\n ", b"\n\n", b"\r")


def test_rows_in_bulk():
    by, read = random.Random(1), 0
    for _ in range(tries(1500)):
        width, cells = by.randint(1, 3), NUMBERS if by.random() < 0.7 else NUMBERS + OTHERS
        rows = [
            [by.choice(cells) for _ in range(width if by.random() < 0.95 else by.randint(0, 4))]
            for _ in range(by.randint(1, 4))
        ]
        text = b"".join(
            by.choice(BLANKS).join(row) + by.choice(ENDS[: 4 if by.random() < 0.9 else None]) for row in rows
        )
        found = Diagnostics("a.bvh")
        table = number_table._Rows("a.bvh", b" ", width, found)
        values, lines = table._line_by_line(text, 1)
        bulk = number_table._bulk(text, b" ", width)
        if bulk is not None:
            read += 1
            assert not found.problems, text
            np.testing.assert_array_equal(bulk, values)
            assert lines.tolist() == [*range(1, len(lines) + 1)]
    assert read > 100
