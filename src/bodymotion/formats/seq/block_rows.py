"""Rows as nested block lists, as YAML libraries write them when nobody asks for anything else, turned into flow style in place.

::

    - - 0.1            [ 0.1,              - - - 0.1          [ [ 0.1,
      - 0.2              0.2 ],                - 0.2              0.2 ],
    - - 0.3            [ 0.3,                - - 0.3            [ 0.3,
      - 0.4              0.4 ]                 - 0.4              0.4 ] ]

A line is known by the level of its first dash and the number of its dashes; each level is two columns further in. The line break
before it and its dashes and blanks have room for the brackets that close what the line before left open, for a comma, and for the
brackets that the line opens.
"""

from __future__ import annotations

import numpy as np

from bodymotion.formats.seq.page import Page

__all__ = ["flow_of_block"]

_LEVELS = 3


def flow_of_block(page: Page, indent: int) -> bool:
    """Turn the rows of a page, whose dashes stand at `indent`, into `[ … ], [ … ]`; False (and a page of no use) when they are not so."""
    if page.has(b"\t"):
        return False
    starts, _ = page.lines(indent)
    level = np.full(len(starts), -1, np.intp)
    dashes = np.zeros(len(starts), np.intp)
    for first in range(_LEVELS):
        for count in range(1, _LEVELS - first + 1):
            found = page.begin_with(starts, b" " * (indent + 2 * first) + b"- " * count)
            level[found], dashes[found] = first, count  # of several that fit, the one with the most dashes stays
    for k in np.flatnonzero(level < 0).tolist():
        if page.copy(int(starts[k]), int(starts[k + 1]) if k + 1 < len(starts) else page.size).strip(b" \r\n"):
            return False
    known = level >= 0
    starts, level, dashes = starts[known], level[known], dashes[known]
    if not len(starts) or level[0]:
        return False
    deepest = level + dashes - 1
    closing = deepest[:-1] - level[1:]
    if (closing < 0).any() or (deepest < 1).any():
        return False
    text = page.text
    for k in range(_LEVELS):
        some = dashes > k
        text[starts[some] + indent + 2 * (level[some] + k)] = 91 if k else 32
    breaks = starts[1:] - 1
    for k in range(_LEVELS):
        text[breaks[closing > k] + k] = 93
        text[breaks[closing == k] + k] = 44
    end = page.size - 1 if text[-1] == 10 else page.size
    page.extend(end + int(deepest[-1]))
    page.text[end:] = 93
    return True
