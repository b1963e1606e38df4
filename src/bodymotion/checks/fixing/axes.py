"""Fixes of a URDF and of a Choreonoid body: the axes that are not of length 1."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

from bodymotion.checks.fixing.edits import Edit, Lines, unit_texts
from bodymotion.diagnostics import FormatError
from bodymotion.formats.registry import find_format
from bodymotion.model.rules import AXIS_LENGTH, QUATERNION
from bodymotion.motion.rules import MAX_LENGTH_ERROR

_NUMBER = rb"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
_THREE = rb"(?:\s*,\s*|\s+)".join([_NUMBER] * 3)
_WHERE = {
    # The forms of the numbers at the location of a rule; numbers in other forms do not
    # change.
    AXIS_LENGTH.code: re.compile(
        rb"(?:xyz\s*=\s*[\"']|[\"']?joint(?:Axis|_axis)[\"']?\s*:\s*\[)\s*"
        + _THREE
        + rb"\s*[\"'\]]"
    ),
    QUATERNION.code: re.compile(rb"\[\s*" + _THREE + rb"\s*,"),
}


def edits_of(data: bytes, path: Path) -> Iterator[Edit]:
    """Return the edits; none for a text that is not UTF-8, or has lines that end with CR alone."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if data.count(b"\r") != data.count(b"\r\n"):
        return
    try:
        problems = find_format(path).read(path).problems
    except FormatError as error:
        problems = error.problems
    lines = Lines(data)
    for problem in dict.fromkeys(problems):
        place = problem.location
        if (
            problem.rule not in _WHERE
            or place.path != str(path)
            or place.line is None
            or place.column is None
        ):
            continue
        found = _WHERE[problem.rule].match(data, lines.offset(place.line, place.column))
        if found is None:
            continue
        old = [text.decode() for text in found.groups()]
        values = [float(text) for text in old]
        if (
            problem.rule == QUATERNION.code
            and abs(math.hypot(*values) - 1) > MAX_LENGTH_ERROR
        ):
            # It may be three angles, or a quaternion; of a joint's axis only the
            # direction means something.
            continue
        for k, new in unit_texts(old, values):
            yield Edit(*found.span(k + 1), new.encode(), problem.rule)
