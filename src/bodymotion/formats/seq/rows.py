"""Parse rows that the bulk parser does not read.

They are parsed as YAML, a piece or a row at a time, each with its faults.

Nodes made of a piece of rows count their offsets from the beginning of the piece.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bodymotion.diagnostics import Diagnostics, FormatError, Rule
from bodymotion.diagnostics.spelling import number_slip
from bodymotion.diagnostics.text import counted
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.scan import UnusualError, decoded
from bodymotion.formats.seq.values import Layout, number, parse_text
from bodymotion.formats.yaml.rules import ALIAS, NOT_YAML
from bodymotion.formats.yaml.tree import (
    MissingAlias,
    Node,
    PiecedText,
    Scalar,
    Sequence,
)

MAX_FAULTS_IN_ROW = 20
"""Numbers of one row that are reported."""

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_DIGITS = re.compile(r"[0-9]+")


class RowFaultError(Exception):
    """A row that differs from its layout.

    `offset` is that of the fault. `is_reported`: another rule has reported it.
    """

    def __init__(
        self, rule: Rule, message: str, offset: int, is_reported: bool = False
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.offset = offset
        self.is_reported = is_reported


def numbers_of(
    row: Node, layout: Layout
) -> tuple[list[float] | None, list[RowFaultError]]:
    """Return the numbers of a row, or None and its faults.

    All texts in it that are no numbers.
    """
    # Faults are collected: an author wants all wrong numbers of a row at once.
    faults: list[RowFaultError] = []
    while True:
        try:
            values = row_numbers(row, layout)
        except RowFaultError as error:
            faults.append(error)
            # A row of the wrong length has no further faults of its own.
            if error.rule is not rules.NUMBER or len(faults) >= MAX_FAULTS_IN_ROW:
                return None, faults
            # A number in its place, to find the faults behind it.
            wrong = next(item for item in elements(row) if item.offset == error.offset)
            wrong.value = "0"
            wrong.quoted = False
            continue
        # With a replaced number the values are not those of the file.
        if faults:
            return None, faults
        return values, faults


def row_numbers(row: Node, layout: Layout) -> list[float]:
    """Return the numbers of one row, in the order of the text.

    Raises RowFaultError when it has not the numbers of the layout, or a text that is no
    number.
    """
    if not isinstance(row, Sequence):
        # A missing alias is reported where it is.
        is_reported = isinstance(row, MissingAlias)
        message = "is not a row [ … ] of numbers"
        raise RowFaultError(rules.ROW, message, row.offset, is_reported)
    items = row.items
    if len(items) != layout.stamped + layout.parts:
        raise _wrong_length(row, layout)
    if not layout.order:
        return [_number(item) for item in items]
    # The time is beside the poses, not in one.
    values = [_number(item) for item in items[: layout.stamped]]
    for index, pose in enumerate(items[layout.stamped :]):
        if not isinstance(pose, Sequence):
            is_reported = isinstance(pose, MissingAlias)
            message = f"has no list of {layout.pose_size} numbers for pose {index}"
            raise RowFaultError(rules.ROW, message, pose.offset, is_reported)
        if len(pose.items) != layout.pose_size:
            message = (
                f"has the length {len(pose.items)} instead of {layout.pose_size} in "
                f"pose {index}"
            )
            raise RowFaultError(rules.ROW, message, pose.offset)
        values += [_number(item) for item in pose.items]
    return values


def _wrong_length(row: Sequence, layout: Layout) -> RowFaultError:
    """Return the fault of a row with too few or too many elements."""
    items = row.items
    expected = layout.stamped + layout.parts
    # A text beside the numbers explains a wrong length better.
    _check_texts(items, expected)
    kind = "pose" if layout.order else "number"
    found = counted(len(items), kind)
    if layout.stamped and layout.order:
        found = counted(len(items), "element")
    message = f"has {found} instead of {expected}"
    if layout.stamped:
        message += f" (its time and {layout.parts} {kind}s)"
    scalars = [item for item in items if isinstance(item, Scalar)]
    if len(scalars) == len(items) and has_decimal_commas(scalars, expected):
        message += ": a decimal comma?"
    return RowFaultError(rules.ROW, message, row.offset)


def has_decimal_commas(items: list[Scalar], expected: int) -> bool:
    """Return whether a row has `expected` numbers when some have a decimal comma.

    That is a comma between digits with no blank after it. There must be other commas
    that are followed by a blank.
    """
    # Whether the comma behind each number has no blank after it: the next number begins
    # one character behind its end.
    tight = [
        after.offset == item.offset + len(item.value) + 1
        for item, after in itertools.pairwise(items)
    ]
    num_pairs = 0
    index = 0
    while index < len(tight):
        # A whole number, and digits without a sign: `0,25`.
        is_pair = (
            tight[index]
            and _WHOLE.fullmatch(items[index].value)
            and _DIGITS.fullmatch(items[index + 1].value)
        )
        if is_pair:
            num_pairs += 1
            # The second half belongs to this pair and begins none.
            index += 1
        index += 1
    # As many pairs as there are numbers too many.
    if not 0 < num_pairs == len(items) - expected:
        return False
    # With all commas tight, they are separators: `1,2,3`.
    return not all(tight) or len(tight) == 1


def _check_texts(items: list[Node], expected: int) -> None:
    """Raise the fault of a row with too few or too many elements.

    Where a text in it is the cause.
    """
    texts = []
    for item in items:
        if isinstance(item, Scalar) and not item.quoted and number(item.value) is None:
            texts.append(item)
    # Without the texts, the length is right.
    if texts and len(items) - len(texts) == expected:
        text = f"{texts[0].value[:40]!r}"
        message = f"has {text}, which is not a number, beside its numbers"
        raise RowFaultError(rules.ROW, message, texts[0].offset)
    for item in texts:
        # "0.1 0.2" or "0.1; 0.2" are one text in YAML.
        parts = re.split(r"\s*;\s*|\s+", item.value.strip())
        if len(parts) > 1 and all(number(part) is not None for part in parts):
            cause = "no comma between its numbers"
            if ";" in item.value:
                cause = "';' in place of a comma"
            message = f"has {item.value[:40]!r}: {cause}"
            raise RowFaultError(rules.ROW, message, item.offset)


def _number(item: Node) -> float:
    if not isinstance(item, Scalar):
        raise RowFaultError(rules.ROW, "has a list in place of a number", item.offset)
    # A quoted number is a text: readers disagree about it.
    if not item.quoted:
        value = number(item.value)
        if value is not None:
            return value
    raise _no_number(item)


def _no_number(item: Scalar) -> RowFaultError:
    text = item.value[:40]
    # A word, not a number with a slip.
    if not item.quoted and not any(letter.isdigit() for letter in text):
        is_reported = isinstance(item, MissingAlias)
        message = f"has {text!r}, which is not a number"
        return RowFaultError(rules.NUMBER, message, item.offset, is_reported)
    if item.quoted:
        text = f'"{text}"'
    message = f"has {text}, which is not a plain decimal number"
    slip = number_slip(item.value)
    if slip:
        message += f": {slip}"
    return RowFaultError(rules.NUMBER, message, item.offset)


def elements(row: Node) -> Iterator[Scalar]:
    """Return the numbers of a row in their order, those of its poses among them."""
    if isinstance(row, Scalar):
        yield row
    elif isinstance(row, Sequence):
        for item in row.items:
            yield from elements(item)


def rows_by_yaml(
    text: str, indent: int | None, where: PiecedText, line: int, column: int
) -> list[Node]:
    """Parse a piece of rows as a YAML document of its own.

    It begins at a line and column of the file.

    Raises
    ------
    UnusualError
        When it is something else than a list without aliases.
    FormatError
        When it is no YAML.
    """
    # Elements of a flow sequence lack their brackets: they are put around.
    if indent is None:
        where.add("[", line, max(column - 1, 1))
    where.add(text, line, column)
    if indent is None:
        last = text.rfind("\n")
        # The column behind the last character.
        end_column = len(text) - last if last >= 0 else column + len(text)
        where.add("]", line + text.count("\n"), end_column)
    found = Diagnostics()
    document = parse_text(where, found)
    if found.refusal is not None:
        raise FormatError(found.refusal)
    root = document.root
    is_plain = document.next_document is None and not document.has_aliases
    if not isinstance(root, Sequence) or not is_plain:
        raise UnusualError("the rows are no list")
    # The opening bracket that was added shifts all offsets by one.
    if indent is None:
        _shift(root.items)
    return root.items


def _shift(nodes: list[Node]) -> None:
    for node in nodes:
        node.offset -= 1
        if isinstance(node, Sequence):
            _shift(node.items)


@dataclass(frozen=True)
class SingleRow:
    """A row by itself.

    Attributes
    ----------
    start, indent:
        Where its line begins in its piece, and how far in its dash is; offsets of its
        nodes count from `start`.
    node:
        None where the row is no YAML.
    rule, fault, fault_offset:
        The rule that such a row breaks, the message, and the offset from `start`.
    """

    start: int
    indent: int
    node: Node | None
    rule: Rule = NOT_YAML
    fault: str = ""
    fault_offset: int | None = None


def row_starts(text: bytes, indent: int) -> list[tuple[int, int]]:
    """Return where the rows of a piece begin and end that are on lines of their own.

    `text` without comments.
    """
    # Dashes of one indentation begin rows.
    starts = [
        found.start()
        for found in re.finditer(
            rb"^" + b" " * indent + rb"-[ \r\n]", text, re.MULTILINE
        )
    ]
    return list(itertools.pairwise([*starts, len(text)]))


def single_row(text: bytes, indent: int, start: int) -> SingleRow:
    """Read one row, which begins with the dash of its line.

    `start` is where it begins in its piece.
    """
    try:
        # Exactly one row; more or fewer are a ValueError.
        (row,) = rows_by_yaml(decoded(text)[0], indent, PiecedText(None), 1, 1)
    except FormatError as error:
        # Only these rules are errors of a parse.
        rule = next(
            rule
            for rule in (NOT_YAML, ALIAS, rules.TAG)
            if rule.code == error.problem.rule
        )
        if rule is NOT_YAML:
            return SingleRow(
                start, indent, None, rule, *_unbalanced(text, error.problem.message)
            )
        return SingleRow(start, indent, None, rule, error.problem.message)
    except (UnusualError, ValueError):
        return SingleRow(
            start, indent, None, NOT_YAML, "there is more than a row of numbers"
        )
    return SingleRow(start, indent, row)


def _unbalanced(text: bytes, otherwise: str) -> tuple[str, int | None]:
    """Return why a row is no YAML, and the offset of the fault.

    Which bracket is missing or too many, or which byte is no text.

    Else the message of the parser.
    """
    control = _CONTROL.search(text)
    if control is not None:
        if control[0] == b"\0":
            what = "NUL byte"
        else:
            what = f"control character 0x{control[0][0]:02x}"
        return f"there is a {what} in it", control.start()
    # Brackets are counted: the parser's own message names the next line.
    more = text.count(b"[") - text.count(b"]")
    if more < 0:
        return (
            "there is one ] too many"
            if more == -1
            else f"there are {-more} ] too many",
            text.rindex(b"]"),
        )
    if more > 0:
        return "a ] is missing" if more == 1 else f"{more} ] are missing", len(
            text.rstrip()
        )
    return otherwise, None
