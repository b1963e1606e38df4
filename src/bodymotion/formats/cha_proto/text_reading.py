"""Messages read from the protobuf text format.

Rows of a recording look alike: of each, its numbers are cut out, and what is left (its layout) is read only when it is new.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field

import numpy as np

from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.cha_proto.fields import ENUMS, MESSAGES
from bodymotion.formats.cha_proto.messages import Tree
from bodymotion.formats.cha_proto.recording import KINDS, Recording, check_size
from bodymotion.formats.cha_proto.rules import SEQUENCE, TEXT
from bodymotion.formats.cha_proto.text_scanner import Scanner
from bodymotion.formats.cha_proto.trees import BOOL, DOUBLE, MESSAGE, row_tree

__all__ = ["parse"]

_NUMBER = re.compile(r": *(-?[0-9][0-9.eE+-]*)(?=\n)")
_LONGEST_ROW = 1 << 14
_LAYOUTS = 4096
"""So many layouts are remembered."""
_PATIENCE = 16
"""After so many rows that were not laid out as expected, no more are tried in the quick way."""
_OF_SEQUENCES = {"slices_per_minute", "moves", "choreography"}


@dataclass
class _Row:
    """What one row says: its messages, and its numbers in order; a later one of the same slot counts."""

    nodes: set[int] = field(default_factory=lambda: {0})
    slots: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


@dataclass
class _Alike:
    """Rows with the same messages and slots."""

    rows: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))


_Key = tuple[frozenset[int], tuple[int, ...]]


class _Reader:
    def __init__(self, text: str, kind: str, location: Location) -> None:
        self.kind, self.location = kind, location
        self.outer, inner = KINDS[kind]
        self.scanner = Scanner(text, location)
        self.rows = row_tree(inner)
        self.count = 0
        self.found: dict[_Key, _Alike] = {}
        self.layouts: dict[str, tuple[_Alike, list[int], list[float]]] = {}
        self.tree: Tree = {}
        self.unknown: dict[str, None] = {}
        self.patience = _PATIENCE

    def read(self) -> None:
        scanner = self.scanner
        while scanner.peek():
            at = scanner.at
            name = scanner.name()
            if name == self.outer:
                self.row_field(at)
            else:
                self.plain_field(self.kind, name, self.tree, "")
            scanner.after_field()

    def row_field(self, at: int) -> None:
        """Read the value of the field of rows: one row, or several in brackets."""
        if self.patience and self.quick_row(at):
            return
        scanner = self.scanner
        scanner.accept(":")
        if not scanner.accept("["):
            self.slow_row()
            return
        while not scanner.accept("]"):
            self.slow_row()
            if not scanner.accept(",") and scanner.peek() != "]":
                raise scanner.error("expected , or ] after a message", scanner.at)

    def quick_row(self, at: int) -> bool:
        """Read a row that is laid out as it is printed, up to a } at the start of a line; says whether it was one."""
        text = self.scanner.text
        end = text.find("\n}", at, at + _LONGEST_ROW)
        self.patience -= 1
        if end < 0:
            return False
        block = text[at : end + 2]
        layout = _NUMBER.sub(": 0", block)
        try:
            numbers = list(map(float, _NUMBER.findall(block)))
        except ValueError:
            return False
        known = self.layouts.get(layout)
        if known is None:
            known = self.new_layout(layout, len(numbers))
            if known is None:
                return False
        alike, order, constants = known
        values = numbers + constants
        alike.rows.append(self.count)
        alike.values.extend([values[n] for n in order])
        self.count += 1
        self.patience = _PATIENCE
        self.scanner.at = end + 2
        return True

    def new_layout(self, layout: str, numbers: int) -> tuple[_Alike, list[int], list[float]] | None:
        """Read a layout; None when it is not that of one row, or it cannot be told which of its values are the numbers."""
        scanner = Scanner(layout, self.location)
        places = [found.start(1) for found in _NUMBER.finditer(layout)]
        try:
            scanner.name()
            scanner.accept(":")
            row, at = self.message_row(scanner)
        except FormatError:
            return None
        if scanner.at != len(layout) or len(places) != numbers or not set(places) <= set(at):
            return None
        by_place = {place: n for n, place in enumerate(places)}
        constants = [value for value, place in zip(row.values, at, strict=True) if place not in by_place]
        order, others = [], numbers
        for place in at:
            if place in by_place:
                order.append(by_place[place])
            else:
                order.append(others)
                others += 1
        known = self.alike(row), order, constants
        if len(self.layouts) < _LAYOUTS:
            self.layouts[layout] = known
        return known

    def slow_row(self) -> None:
        row, _ = self.message_row(self.scanner)
        alike = self.alike(row)
        alike.rows.append(self.count)
        alike.values.extend(row.values)
        self.count += 1

    def alike(self, row: _Row) -> _Alike:
        return self.found.setdefault((frozenset(row.nodes), tuple(row.slots)), _Alike())

    def message_row(self, scanner: Scanner) -> tuple[_Row, list[int]]:
        """Read a row from its bracket on; also gives where each of its values stands."""
        row, at = _Row(), list[int]()
        self.fields_of_row(scanner, 0, row, at)
        return row, at

    def fields_of_row(self, scanner: Scanner, node: int, row: _Row, at: list[int]) -> None:
        closing = scanner.opened()
        while not scanner.accept(closing):
            name = scanner.name()
            number = self.rows.names[node].get(name)
            if number is None:
                self.pass_over(scanner, f"{self.outer}.{self.rows.nodes[node].path}.{name}".replace("..", "."))
            else:
                kind, target = self.rows.fields[node][number]
                if kind == MESSAGE:
                    scanner.accept(":")
                    self.enter(scanner, target, row)
                    self.fields_of_row(scanner, target, row, at)
                else:
                    self.need_colon(scanner)
                    scanner.peek()
                    at.append(scanner.at)
                    row.slots.append(target)
                    row.values.append(self.number(scanner, kind))
            scanner.after_field()

    def enter(self, scanner: Scanner, node: int, row: _Row) -> None:
        rival = self.rows.nodes[node].rival
        if rival in row.nodes:
            one, other = self.rows.nodes[node].path, self.rows.nodes[rival].path
            raise scanner.error(f"{one} and {other} exclude each other")
        row.nodes.add(node)

    @staticmethod
    def number(scanner: Scanner, kind: int) -> float:
        if kind == DOUBLE:
            return scanner.double()
        return float(scanner.truth()) if kind == BOOL else float(scanner.whole(64))

    @staticmethod
    def need_colon(scanner: Scanner) -> None:
        if not scanner.accept(":"):
            raise scanner.error("expected : after the name of a field", scanner.at)

    def pass_over(self, scanner: Scanner, path: str) -> None:
        if len(self.unknown) < _LAYOUTS:
            self.unknown[path] = None
        scanner.skip_value()

    def plain_field(self, message: str, name: str, tree: Tree, path: str) -> None:
        """Read the value of a field outside of the rows."""
        scanner = self.scanner
        one = MESSAGES[message].get(name)
        if one is None:
            self.pass_over(scanner, path + name)
        elif one.kind in MESSAGES:
            scanner.accept(":")
            closing = scanner.opened()
            inner = tree.setdefault(name, {})
            while not scanner.accept(closing):
                self.plain_field(one.kind, scanner.name(), inner, f"{path}{name}.")
                scanner.after_field()
        else:
            self.need_colon(scanner)
            tree[name] = self.scalar(one.kind)

    def scalar(self, kind: str) -> object:
        scanner = self.scanner
        if kind == "string":
            return scanner.string()
        if kind == "double":
            return scanner.double()
        if kind == "bool":
            return scanner.truth()
        if kind in ENUMS and scanner.peek().isalpha():
            word = scanner.take()
            if word not in ENUMS[kind]:
                raise scanner.error(f"expected one of {', '.join(ENUMS[kind])}, found {word[:40]!r}")
            return ENUMS[kind][word]
        return scanner.whole(64 if kind == "int64" else 32)

    def recording(self, size: int) -> Recording:
        seen = set[int]().union(*(nodes for nodes, _ in self.found))
        slots = [place for place, slot in enumerate(self.rows.slots) if slot.owner in seen]
        check_size(self.count, len(slots), size, self.location)
        values, held = np.zeros((self.count, len(slots))), np.zeros((self.count, len(slots)), np.bool_)
        columns = {slot: place for place, slot in enumerate(slots)}
        for (nodes, order), alike in self.found.items():
            rows = np.frombuffer(alike.rows, np.int64)
            for slot, place in columns.items():
                if self.rows.slots[slot].owner in nodes:
                    held[rows, place] = True
            table = np.frombuffer(alike.values, np.float64).reshape(len(rows), len(order))
            for n, slot in enumerate(order):
                given = table[:, n]
                values[rows, columns[slot]] = given != 0 if self.rows.slots[slot].kind == BOOL else given
        paths = frozenset(self.rows.nodes[node].path for node in seen)
        names = tuple(self.rows.slots[slot].path for slot in slots)
        return Recording(self.kind, self.tree, self.count, paths, names, values, held, location=self.location)


def parse(data: bytes, kind: str, location: Location | None = None) -> Recording:
    """Read an Animation or a ChoreographyStateLog from text.

    Raises
    ------
    FormatError
        When it is no such text (CAP002, with line and column), a sequence of moves (CAP005), or next to nothing in many rows (CAP004).
    """
    location = location or Location()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TEXT.error(
            f"the text is not UTF-8: byte {data[error.start]:#04x}", Location(location.path, line, None)
        ) from None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    reader = _Reader(text, kind, location)
    reader.read()
    if not reader.count and reader.unknown.keys() & _OF_SEQUENCES:
        raise SEQUENCE.error("the file is a sequence of moves", location)
    recording = reader.recording(len(data))
    recording.say_unknown(list(reader.unknown))
    return recording
