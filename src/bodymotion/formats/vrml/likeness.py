"""What may be meant by a type of node or a field that nobody declares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.formats.text.spelling import meant
from bodymotion.formats.vrml.nodes import FieldDeclaration, Node
from bodymotion.formats.vrml.rules import UNKNOWN_NODE
from bodymotion.formats.vrml.scopes import Scope
from bodymotion.formats.vrml.specs import STANDARD_NODES, standard_fields

__all__ = ["Strangers"]

MOST = 200
"""So many words of a file are looked at, each among so many words that are known."""


class Strangers:
    """The types of nodes and the fields of a file that nobody declares."""

    def __init__(self) -> None:
        self.nodes: Counter[str] = Counter()
        """How often a type of node stands there."""
        self._asked = 0

    def node_hint(self, node_type: str, scope: Scope) -> str | None:
        """Say what may be meant by a type of node: one of the standard, or a prototype, which may be the one that is misspelt."""
        found: Scope | None = scope
        declared: dict[str, str] = {}
        while found is not None and len(declared) <= MOST:
            for name, kind in found.kinds.items():
                if kind.proto is not None:
                    line = kind.proto.location.line
                    declared.setdefault(name, f"did you mean {name!r}, or is its PROTO in line {line} misspelt?")
            found = found.outer
        known = {**{name: f"did you mean {name!r}?" for name in STANDARD_NODES}, **declared}
        like = self._meant(node_type, known)
        return None if like is None else known[like]

    def field_hint(self, word: str, node: Node) -> str | None:
        """Say which field of a node may be meant, and what that field is as it stands."""
        known: Mapping[str, FieldDeclaration] = standard_fields(node.type) if node.proto is None else node.proto.fields
        name = self._meant(word, known)
        if name is None or name in node.fields:
            return None
        default = known[name].value
        if isinstance(default, np.ndarray) and 0 < default.size <= 9:
            shown = " ".join(f"{number:g}" for number in default.flat)
        elif isinstance(default, (int, float)) and not isinstance(default, bool):
            shown = f"{default:g}"
        else:
            return f"did you mean {name!r}?"
        return f"did you mean {name!r}? As it stands, {name} is {shown}"

    def _meant(self, word: str, known: Mapping[str, object]) -> str | None:
        self._asked += 1
        return meant(word, known) if self._asked <= MOST and len(known) <= MOST else None

    def counted(self, problems: list[Problem]) -> None:
        """Say of types of nodes how often they stand there, where their first node is told."""
        for index, problem in enumerate(problems):
            if problem.rule == UNKNOWN_NODE.code:
                more = self.nodes[problem.message.rpartition(" ")[2]] - 1
                if more > 0:
                    said = f"{problem.message}, here and {more} {'time' if more == 1 else 'times'} more"
                    problems[index] = replace(problem, message=said)
