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
# The forms of the numbers at the location of a rule; others do not change.
_FORMS = {
    AXIS_LENGTH.code: re.compile(
        rb"(?:xyz\s*=\s*[\"']|[\"']?joint(?:Axis|_axis)[\"']?\s*:\s*\[)\s*"
        + _THREE
        + rb"\s*[\"'\]]"
    ),
    QUATERNION.code: re.compile(rb"\[\s*" + _THREE + rb"\s*,"),
}


def edits_of(data: bytes, path: Path) -> Iterator[Edit]:
    """Return the edits of a text.

    None where it is not UTF-8, or has lines that end with CR alone.
    """
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
        location = problem.location
        if problem.rule not in _FORMS or location.path != str(path):
            continue
        if location.line is None or location.column is None:
            continue
        offset = lines.offset(location.line, location.column)
        match = _FORMS[problem.rule].match(data, offset)
        if match is None:
            continue
        texts = [text.decode() for text in match.groups()]
        values = [float(text) for text in texts]
        is_rotation = problem.rule == QUATERNION.code
        if is_rotation and abs(math.hypot(*values) - 1) > MAX_LENGTH_ERROR:
            # It may be three angles, or a quaternion; of a joint's axis only the
            # direction means something.
            continue
        for k, unit_text in unit_texts(texts, values):
            yield Edit(*match.span(k + 1), unit_text.encode(), problem.rule)
