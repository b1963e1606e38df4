"""Rows one by one, where a piece of them cannot be read as a whole: a row that is no YAML does not hide the next one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bodymotion.diagnostics import FormatError, Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.frames import Frames, RowPiece, rows_by_yaml
from bodymotion.formats.seq.layout import Layout
from bodymotion.formats.seq.nodes import Node, Places, Scalar, Sequence
from bodymotion.formats.seq.page import without_comments
from bodymotion.formats.seq.rows import careful_rows
from bodymotion.formats.seq.scan import decoded
from bodymotion.formats.seq.source_bytes import UnusualError

__all__ = ["SingleRow", "elements", "first_row", "row_of", "single_rows"]


_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class SingleRow:
    """A row by itself: its node, whose places count from `base` of its piece; or None, and by which rule it is none."""

    number: int
    base: int
    node: Node | None
    fault: str = ""
    rule: Rule = rules.NOT_YAML
    at: int | None = None
    """Where in the row the fault is, counted from `base`; None: its beginning."""


def _chunks(text: bytes, indent: int) -> list[tuple[int, int]]:
    starts = [found.start() for found in re.finditer(rb"^" + b" " * indent + rb"-[ \r\n]", text, re.MULTILINE)]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def single_rows(piece: RowPiece) -> Iterator[SingleRow]:
    """Return each row of a piece, those that are no YAML by themselves without a node.

    Raises
    ------
    UnusualError
        When the rows are not on lines of their own.
    """
    if piece.text is None or piece.indent is None:
        raise UnusualError("the rows are not on lines of their own", piece.place(0, None))
    text = without_comments(piece.text())
    for k, (start, stop) in enumerate(_chunks(text, piece.indent)):
        yield _single(text[start:stop], piece, piece.first_row + k, start)


def _single(text: bytes, piece: RowPiece, number: int, base: int) -> SingleRow:
    try:
        (node,) = careful_rows(text, piece.indent)
    except (UnusualError, ValueError):
        pass
    else:
        return SingleRow(number, base, node)
    try:
        (other,) = rows_by_yaml(decoded(text)[0], piece.indent, Places(None), 1, 1)
    except FormatError as error:
        rule = next(rule for rule in rules.RULES if rule.code == error.problem.rule)
        if rule is rules.NOT_YAML:
            return SingleRow(number, base, None, *_bracket(text, error.problem.message))
        return SingleRow(number, base, None, error.problem.message, rule)
    except (UnusualError, ValueError):
        return SingleRow(number, base, None, "there is more than a row of numbers")
    return SingleRow(number, base, other)


def _bracket(text: bytes, said: str) -> tuple[str, Rule, int | None]:
    """Say which bracket of a row is missing, or too many, or which byte is no text; what a parser has `said` where it is none of them."""
    control = _CONTROL.search(text)
    if control is not None:
        what = "NUL byte" if control[0] == b"\0" else f"control character 0x{control[0][0]:02x}"
        return f"there is a {what} in it", rules.NOT_YAML, control.start()
    more = text.count(b"[") - text.count(b"]")
    if more < 0:
        return (
            "there is one ] too many" if more == -1 else f"there are {-more} ] too many",
            rules.NOT_YAML,
            text.rindex(b"]"),
        )
    if more > 0:
        return "a ] is missing" if more == 1 else f"{more} ] are missing", rules.NOT_YAML, len(text.rstrip())
    return said, rules.NOT_YAML, None


def row_of(piece: RowPiece, number: int) -> SingleRow | None:
    """Return one row of a piece without a look at the others, where rows are on lines of their own; None where it cannot be had."""
    try:
        if piece.text is not None and piece.indent is not None:
            text = without_comments(piece.text())
            start, stop = _chunks(text, piece.indent)[number - piece.first_row]
            found = _single(text[start:stop], piece, number, start)
            return None if found.node is None else found
        for k, node in enumerate(piece.nodes(), piece.first_row):
            if k == number:
                return SingleRow(number, 0, node)
    except (UnusualError, FormatError, IndexError):
        return None
    return None


def elements(row: Node) -> Iterator[Scalar]:
    """Return the numbers of a row in their order, those of its poses among them."""
    if isinstance(row, Scalar):
        yield row
    elif isinstance(row, Sequence):
        for item in row.items:
            yield from elements(item)


def first_row(frames: Frames, one_by_one: bool) -> Node:
    """Return the first row; with `one_by_one`, the first that is YAML by itself.

    Raises
    ------
    UnusualError
        Where it cannot be had.
    """
    try:
        return frames.row(0)
    except UnusualError:
        if not one_by_one:
            raise
        for piece in frames.pieces(Layout(0)):
            for row in single_rows(piece):
                if row.node is not None:
                    return row.node
        raise
