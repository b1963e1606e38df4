"""Rows that are read in bulk are those that are read line by line, to the same doubles."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.tables import number_table
from bodymotion.formats.text import numbers_of_rows
from bodymotion.kernels import compiling
from bodymotion.kernels.number_rows import read_plain_rows
from sample_files import tries

NUMBERS = b"1 -2.5 1e5 .5 +3 nan inf -0 00.5 1. 1e999 99999999999999999999999".split()
PLAIN = b"1 -2.5 .5 -0 -0.0 00.5 1. 0.000001 -123.456789 999999999999999 -0.123456789012345 2500.00000000001".split()
OTHERS = b'- true null "1" [1] { 1,2 \x00 \xff 0x10 1_0 12e'.split()
BLANKS, ENDS = (
    (b" ", b"\t", b"  ", b"\x0b", b" \t "),
    (b"\n", b"\r\n", b" \n", b"\n ", b"\n\n", b"\r"),
)


@pytest.mark.parametrize("small", [sys.maxsize, -1], ids=["NumPy", "compiled"])
@pytest.mark.parametrize(
    "numbers", [NUMBERS, PLAIN, [*NUMBERS, *PLAIN]], ids=["numbers", "plain", "both"]
)
@pytest.mark.parametrize("sign", [b" ", b",", b";", b"\t"])
def test_rows_in_bulk(sign, numbers, small, monkeypatch):
    monkeypatch.setattr(compiling._Kernel, "is_compiled", False)
    monkeypatch.setattr(compiling, "MAX_NUMPY_WORK", small)
    by, read = random.Random(1), 0
    between = BLANKS if sign == b" " else (sign, sign + b" ", b" " + sign, b" ")
    for _ in range(tries(700)):
        width, cells = (
            by.randint(1, 3),
            numbers if by.random() < 0.7 else numbers + OTHERS,
        )
        rows = [
            [
                by.choice(cells)
                for _ in range(width if by.random() < 0.95 else by.randint(0, 4))
            ]
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
    assert read > 0.3 * tries(700)


def test_commas_and_blanks_are_not_the_same():
    """What is as long as it should be in all may be two numbers in one cell, and a row that is too short."""
    assert numbers_of_rows(b"1,2\n3 4\n", 2) is None
    assert numbers_of_rows(b"1 2,,3\n4,5,6\n", 3, b",") is None
    assert numbers_of_rows(b"1 2 3\n4\n", 2) is None


def test_plain_numbers_are_the_nearest_doubles():
    """Any 15 digits with a point among, before or after them."""
    by = random.Random(2)
    words = []
    for _ in range(tries(20_000)):
        digits = f"{by.randrange(10 ** by.randint(1, 15)):d}"
        place = by.randint(0, len(digits))
        words.append(
            by.choice(["", "-"])
            + digits[:place]
            + ("." if place < len(digits) else by.choice(["", "."]))
            + digits[place:]
        )
    text = "".join(f"{word}\r\n" for word in words).encode()
    found = np.empty((len(words), 1))
    assert read_plain_rows(np.frombuffer(text, np.uint8), ord(" "), found)
    assert found[:, 0].tobytes() == np.array([float(word) for word in words]).tobytes()


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n3\n",
        "1 2 3\n4 5\n",
        "1  2\n\n",
        "1 -\n",
        "1 .\n",
        "1 1-2\n",
        "1 2.5.\n",
        "1 2\x00\n",
        "1\v2\n",
    ],
)
def test_other_rows_are_not_plain(text):
    bytes_of_text = np.frombuffer(text.encode(), np.uint8)
    assert not read_plain_rows(bytes_of_text, ord(" "), np.empty((text.count("\n"), 2)))


@pytest.mark.parametrize(
    "number",
    ["1234567890123456", "0.1234567890123456", "1e5", "nan", "+1", "0x1", "1_0", ""],
)
def test_other_numbers_are_not_plain(number):
    text = np.frombuffer(f"1,{number}\n".encode(), np.uint8)
    assert not read_plain_rows(text, ord(","), np.empty((1, 2)))


def test_no_memory_is_taken_for_numbers_that_cannot_be_there(monkeypatch):
    monkeypatch.setattr(compiling, "MAX_NUMPY_WORK", -1)
    assert numbers_of_rows(b"1\n" * 1000, 10**12) is None
