"""What a text in YAML is: a number, nothing, a truth value or just a text; and nodes that nobody knows a use for, as plain values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.document import Mapping, Node, Sequence

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["NULL", "NUMBER", "Context", "plain"]

MOST_PLAIN = 200_000

NUMBER = re.compile(
    r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)([^\s,]*)|([-+]?)\.?(nan|inf|infinity)", re.IGNORECASE
)
"""A number, and what stands behind it: C++ programs read as far as they get, so files have `0.5f` and `0.t`."""

NULL = ("", "~", "null")


@dataclass
class Context:
    """What reading any part of a file needs: what an angle of 1 is in radians, and where problems go."""

    problems: list[Problem]
    angle_unit: float = math.pi / 180.0
    plain_left: int = MOST_PLAIN
    """How many values may still be kept as they are."""
    nested_left: int = MOST_PLAIN
    """How many lists of numbers in lists may still be read."""


def plain(node: Node, context: Context) -> object:
    """Return a node as plain values: dict, list, str, int, float, bool, None.

    Where aliases unfold to more values than can be held, the rest is left out.
    """
    before = context.plain_left
    context.plain_left -= 1
    if isinstance(node, Sequence) and node.long.count(",") > context.plain_left:
        context.plain_left = -1
    if context.plain_left < 0:
        if before >= 0:
            context.problems.append(
                rules.TOO_LARGE.problem(f"more than {MOST_PLAIN} values are of no known use: left out", node.location)
            )
        return None
    if isinstance(node, Sequence):
        return [plain(item, context) for item in node.items] if context.plain_left else []
    if isinstance(node, Mapping):
        return {key: plain(value, context) for key, value in node.items.items()} if context.plain_left else {}
    return node.value if node.quoted else _plain_scalar(node.value)


def _plain_scalar(text: str) -> object:
    word = text.lower()
    if word in NULL:
        return None
    if word in ("true", "false"):
        return word == "true"
    if re.fullmatch(r"[-+]?[0-9]{1,18}", text):
        return int(text)
    found = NUMBER.fullmatch(text)
    if found is None or found.group(2):
        return text
    return float(found.group(1) or found.group(3) + found.group(4))
