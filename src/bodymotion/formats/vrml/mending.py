"""Reading nodes in which something is wrong: where all faults are wanted, without the fields that have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.faults import fault
from bodymotion.formats.vrml.nodes import Node

__all__ = ["attempt", "without_fault"]

Made = TypeVar("Made")


def attempt(read: Callable[[Node], Made], node: Node, problems: list[Problem]) -> Made | None:
    """Read a node. Where all faults are wanted, note them, and read on without the fields that have them; None where that does not do.

    Raises
    ------
    FormatError
        The first fault, when `problems` is a plain list (see `fault`).
    """
    rest: Node | None = node
    while rest is not None:
        try:
            return read(rest)
        except FormatError as error:
            fault(problems, error)
            rest = without_fault(rest, error)
    return None


def without_fault(node: Node, error: FormatError) -> Node | None:
    """Return a node without the field that a fault is in; None where it is in none of them."""
    place = error.problem.location
    found = next((name for name in node.fields if name in node.places and node.location_of(name) == place), None)
    if found is None:
        return None
    return replace(node, fields={name: value for name, value in node.fields.items() if name != found})
