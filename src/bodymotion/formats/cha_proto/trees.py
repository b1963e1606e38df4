"""The rows of a recording as a tree: every message within a keyframe, and every number, has its place in a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from bodymotion.formats.cha_proto.fields import MESSAGES

__all__ = ["BOOL", "CLOCK", "DOUBLE", "INTEGER", "MESSAGE", "Node", "Numbers", "RowTree", "Slot", "row_tree"]

Numbers = npt.NDArray[np.int64]

MESSAGE, DOUBLE, BOOL, INTEGER = 1, 2, 3, 4
"""What a field is; 0 in tables: unknown."""

CLOCK = -1
"""Stands for the column of the time, which lies outside of the table of all others."""

_SCALARS = {"double": DOUBLE, "bool": BOOL, "int32": INTEGER, "int64": INTEGER}
_FIELDS = 8
"""Field numbers within keyframes are below this."""


@dataclass
class Node:
    """A message within a row: the nodes below it are those after it, before `end`, and its slots are `first_slot` to `last_slot`."""

    path: str
    message: str
    first_slot: int
    last_slot: int = 0
    end: int = 0
    rival: int = -1
    """The node that goes when this one comes: both are members of one choice."""


@dataclass
class Slot:
    """A number within a row; it is there when `owner` is."""

    path: str
    owner: int
    kind: int


class RowTree:
    """All messages (nodes) and numbers (slots) that a row may hold, depth first, in order of field number.

    Paths are such as ``body.body_pos.x.value``; the first node is the row itself, its path "".
    """

    def __init__(self, message: str) -> None:
        self.nodes: list[Node] = []
        self.slots: list[Slot] = []
        self.fields: list[dict[int, tuple[int, int]]] = []
        """For each node, by field number: what it is, and which node or slot."""
        self.names: list[dict[str, int]] = []
        """For each node, the numbers of its fields."""
        self._add(message, "")

    def _add(self, message: str, path: str) -> int:
        place = len(self.nodes)
        node = Node(path, message, len(self.slots))
        fields: dict[int, tuple[int, int]] = {}
        self.nodes.append(node)
        self.fields.append(fields)
        self.names.append({name: one.number for name, one in MESSAGES[message].items()})
        choices: dict[str, int] = {}
        for name, one in sorted(MESSAGES[message].items(), key=lambda item: item[1].number):
            below = f"{path}.{name}" if path else name
            if one.kind not in MESSAGES:
                fields[one.number] = _SCALARS[one.kind], len(self.slots)
                self.slots.append(Slot(below, place, _SCALARS[one.kind]))
                continue
            child = self._add(one.kind, below)
            fields[one.number] = MESSAGE, child
            if one.choice:
                other = choices.setdefault(one.choice, child)
                if other != child:
                    self.nodes[child].rival, self.nodes[other].rival = other, child
        node.end, node.last_slot = len(self.nodes), len(self.slots)
        return place

    @cached_property
    def slot_of(self) -> dict[str, int]:
        """The slots by path."""
        return {slot.path: place for place, slot in enumerate(self.slots)}

    @cached_property
    def owners(self) -> Numbers:
        """(S,) the nodes that hold the slots."""
        return np.array([slot.owner for slot in self.slots], np.int64)

    @cached_property
    def tables(self) -> tuple[Numbers, Numbers, Numbers]:
        """Kinds (M, 8) and targets (M, 8) by field number, and (M, 4): rival, end, first and last slot of each node."""
        kinds = np.zeros((len(self.nodes), _FIELDS), np.int64)
        targets = np.zeros_like(kinds)
        for place, fields in enumerate(self.fields):
            for number, (kind, target) in fields.items():
                kinds[place, number], targets[place, number] = kind, target
        spans = [(node.rival, node.end, node.first_slot, node.last_slot) for node in self.nodes]
        return kinds, targets, np.array(spans, np.int64)


@cache
def row_tree(message: str) -> RowTree:
    """Return the tree of a message that has no repeated fields and does not hold itself."""
    return RowTree(message)
