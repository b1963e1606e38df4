"""Which spellings are numbers: in rows read from bytes, in rows read as YAML, and one by one."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seq_texts import by_yaml, joints

from bodymotion import FormatError
from bodymotion.formats.seq import parse_seq
from bodymotion.formats.seq.values import number, plain_scalar

ACCEPTED = {
    "0": 0.0,
    "-0": -0.0,
    "-0.0": -0.0,
    "+0": 0.0,
    "1e-05": 1e-05,
    "7.779e-005": 7.779e-05,
    "1e5": 100000.0,
    "1E5": 100000.0,
    "1e+5": 100000.0,
    ".5": 0.5,
    "-.5": -0.5,
    "5.": 5.0,
    "+1": 1.0,
    "+.5e1": 5.0,
    "1.e2": 100.0,
    "017": 17.0,
    "-007": -7.0,
    "6.9e-310": 6.9e-310,
    "3.16202013e-322": 3.16202013e-322,
    "1e-400": 0.0,
    "1e400": math.inf,
    "-1e400": -math.inf,
    "9007199254740993": 9007199254740992.0,
    "18446744073709551616": 18446744073709551616.0,
    "123456789012345678901234567890": 1.2345678901234568e29,
    "nan": math.nan,
    "NaN": math.nan,
    "-nan": math.nan,
    ".nan": math.nan,
    ".NAN": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "+inf": math.inf,
    ".inf": math.inf,
    "-.inf": -math.inf,
    "-.INF": -math.inf,
    "Infinity": math.inf,
}
REFUSED = [
    "0x10",
    "1_000",
    "1:30",
    '"7"',
    "'7'",
    "1.5abc",
    "0o17",
    "1.2.3",
    "--1",
    "+-1",
    "1e",
    "e5",
    ".",
    "-",
    "1,5e",
    "true",
    "~",
    "١",
    "1d3",
    "1.#INF",
    "0b1",
    "1e5.0",
    "½",
]
QUIET = [text for text in REFUSED if text not in ("-", "1,5e", '"7"', "'7'")]


@pytest.mark.parametrize("text", ACCEPTED)
@pytest.mark.parametrize("read", [parse_seq, by_yaml])
@pytest.mark.parametrize(
    "style",
    [
        "\n      - [ 1, {} ]\n      - [ {}, 2 ]\n",
        " [[1, {}], [{},2]]\n",
        "\n      - - 1\n        - {}\n      - - {}\n        - 2\n",
    ],
)
def test_accepted(text, read, style):
    values = read(joints(style.format(text, text)).encode()).joint_displacement.values
    for found in (values[0, 1], values[1, 0]):
        if math.isnan(ACCEPTED[text]):
            assert math.isnan(found)
        else:
            assert struct.pack("d", found) == struct.pack("d", ACCEPTED[text])
    assert values[0, 0] == 1
    assert values[1, 1] == 2


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("read", [parse_seq, by_yaml])
@pytest.mark.parametrize(
    "style",
    ["\n      - [ 1, 2 ]\n      - [ 3, {} ]\n", "\n      [[1, 2],\n       [3, {}]]\n"],
)
def test_refused_with_the_line(text, read, style):
    with pytest.raises(FormatError) as caught:
        read(joints(style.format(text)).encode())
    assert caught.value.problem.location.line in (
        12,
        13,
    )  # YAML names the line after a token that never ends
    if text in QUIET:
        assert caught.value.problem.rule == "SEQ111"
        assert caught.value.problem.location.line == 12


@pytest.mark.parametrize("text", QUIET)
def test_no_number(text):
    assert number(text) is None


@given(
    st.from_regex(
        r"[-+]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][-+]?[0-9]{1,4})?",
        fullmatch=True,
    )
)
def test_the_nearest_double(text):
    """Any decimal spelling, in rows and alone, is the double that Python reads."""
    wanted = struct.pack("d", float(text))
    assert struct.pack("d", number(text)) == wanted
    values = parse_seq(
        joints(f"\n      - [ {text}, 1 ]\n      - [ 2,{text}]\n").encode()
    ).joint_displacement.values
    assert struct.pack("d", values[0, 0]) == wanted
    assert struct.pack("d", values[1, 1]) == wanted


def test_values_of_unknown_keys():
    assert plain_scalar("1.0") == 1.0
    assert plain_scalar("12") == 12
    assert isinstance(plain_scalar("12"), int)
    assert plain_scalar("true") is True
    assert plain_scalar("null") is None
    assert plain_scalar("1_000") == "1_000"
    assert plain_scalar("yes") == "yes"


@pytest.mark.parametrize(
    "text", ["1" * 100_000 + "x", "1e" + "1" * 100_000 + "x", "." + "1" * 100_000 + "x"]
)
def test_long_texts_that_are_no_numbers(text):
    """Told in a time that grows with the length alone: by its square this would take minutes."""
    assert number(text) is None
    with pytest.raises(FormatError, match="SEQ111"):
        parse_seq(joints(f"\n      - [ 0.0, {text} ]\n").encode())
