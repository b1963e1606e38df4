"""Rows that all have another number of parts than numParts says: what may be meant by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bodymotion.formats.seq.headers import ComponentHeader
from bodymotion.formats.seq.layout import Layout
from bodymotion.formats.seq.nodes import Node, Scalar, Sequence
from bodymotion.formats.seq.rows import decimal_commas

__all__ = ["OtherParts", "other_parts"]

SLACK = 0.1
"""By so much of 1/frameRate the mean step of a first column may be off for it to be taken for the time."""


@dataclass(frozen=True)
class OtherParts:
    """What is said of such rows, what to do (empty: the rule's own hint), and the layout with which the rest of them is looked at."""

    message: str
    hint: str
    layout: Layout


def other_parts(header: ComponentHeader, row: Node, parts: int) -> OtherParts:
    """Say what rows with `parts` parts instead of `header.num_parts` may be; `row` is the first of them.

    Numbers with decimal commas, which count twice; rows that begin with a time without hasFrameTime; hasFrameTime for rows without a
    time. Which of them it is, or whether numParts is wrong, only the author knows: it is asked, and not mended.
    """
    assert header.layout is not None
    stamped, order = header.layout.stamped, header.layout.order
    layout = Layout(parts, stamped, order)
    what = ("pose" if order else "number") + ("" if parts == 1 else "s")
    message = (
        f"numParts is {header.num_parts}, but all rows have {parts} {what}{' besides the time' if stamped else ''}"
    )
    if order:
        return OtherParts(message, "", layout)
    columns = _looked_at(header, layout)
    if _have_commas(columns, row, stamped + header.num_parts):
        # Halves of numbers: the first one is no time.
        return OtherParts(message, "decimal commas? '0,1' is two numbers: write 0.1", Layout(stamped + parts))
    if not stamped and parts == header.num_parts + 1 and columns.steps_like(header.frame_rate):
        hint = (
            "the first number of each row rises by about 1/frameRate: is it the time? then write 'hasFrameTime: true'"
        )
        return OtherParts(message, hint, layout)
    if stamped and parts == header.num_parts - 1 and not columns.rising:
        hint = "the first number of each row does not rise as a time does: is hasFrameTime wrong?"
        return OtherParts(message, hint, Layout(header.num_parts, False))
    return OtherParts(message, "", layout)


@dataclass
class _Columns:
    """What is seen of all rows: whether the first number rises from row to row, and from where to where; whether all are halves of
    numbers with a decimal comma, those behind the comma not all 0.
    """

    rows: int = 0
    first: float = 0.0
    last: float = -np.inf
    rising: bool = True
    halves: bool = True
    fractions: bool = False

    def steps_like(self, rate: float | None) -> bool:
        if rate is None or self.rows < 2 or not self.rising:
            return False
        return abs((self.last - self.first) / (self.rows - 1) * rate - 1) <= SLACK


def _looked_at(header: ComponentHeader, layout: Layout) -> _Columns:
    """Look at the rows that can be read as a whole, a piece at a time."""
    assert header.frames is not None
    seen = _Columns()
    for piece in header.frames.pieces(layout):
        block = piece.block
        if block is None or not block.size:
            continue
        first = block[:, 0]
        if not seen.rows:
            seen.first = float(first[0])
        seen.rising &= bool(first[0] > seen.last and (first[1:] > first[:-1]).all())
        seen.last = float(first[-1])
        seen.rows += len(block)
        seen.halves &= bool((block == np.rint(block)).all() and not np.signbit(block[:, 1::2]).any())
        seen.fractions |= bool(block[:, 1::2].any())
    return seen


def _have_commas(columns: _Columns, row: Node, wanted: int) -> bool:
    """Whether rows are as wide as `wanted` numbers are, all or some of them with a decimal comma."""
    items = [item for item in row.items if isinstance(item, Scalar)] if isinstance(row, Sequence) else []
    if len(items) == 2 * wanted and columns.rows and columns.halves and columns.fractions:
        return True
    return decimal_commas(items, wanted)
