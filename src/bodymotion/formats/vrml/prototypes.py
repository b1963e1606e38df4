"""What an instance of a prototype means: the nodes of its body with the instance's values where the body says IS."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bodymotion.formats.vrml.nodes import IsReference, Node, Proto, Value

if TYPE_CHECKING:
    from bodymotion.formats.vrml.inline import InlineLoader

__all__ = ["expand", "instance_of"]


def expand(node: Node, loader: InlineLoader | None = None) -> list[Node]:
    """Return the nodes that an instance of a prototype stands for; the first of them is what it is, the others only serve it.

    A node that is no instance is given back alone. Nodes of the body without IS are shared among instances; the others are copies, and
    USE inside the body still gives one and the same node. Where a field has neither value nor default, the body's field is left out.
    An instance inside the body comes with its values filled in, to be expanded in turn. Of an EXTERNPROTO the body is asked from
    `loader`; without one, or when it is not found, the list is empty.
    """
    proto = node.proto
    if proto is None:
        return [node]
    if proto.urls and not proto.body:
        found = loader.load_proto(proto) if loader is not None else None
        if found is None:
            return []
        proto = found
    copy = _Copy(node, proto)
    return [copy.node(part) for part in proto.body]


def instance_of(node: Node, loader: InlineLoader | None = None) -> Node | None:
    """Look through instances of prototypes into the node that they are: the first of the body, again and again; None when there is none.

    A node that is no instance is given back as it is.
    """
    found: Node | None = node
    while found is not None and found.proto is not None:
        found = next(iter(expand(found, loader)), None)
    return found


class _Copy:
    """One pass over the body of a prototype for one instance."""

    def __init__(self, instance: Node, proto: Proto) -> None:
        self.instance = instance
        self.proto = proto
        self.done: dict[int, Node] = {}

    def node(self, node: Node) -> Node:
        """Copy a node with all below it, unless there is no IS in it."""
        known = self.done.get(id(node))
        if known is not None:
            return known
        fields: dict[str, Value] = {}
        changed = False
        for name, value in node.fields.items():
            new: Value = value
            if isinstance(value, IsReference):
                changed = True
                given = self.value(value.name)
                if given is None:
                    continue
                new = given[0]
            elif isinstance(value, Node):
                new = self.node(value)
                changed = changed or new is not value
            elif isinstance(value, list):
                copies: list[Any] = []
                for item in value:
                    copies.append(self.node(item) if isinstance(item, Node) else item)
                    changed = changed or copies[-1] is not item
                new = copies
            fields[name] = new
        result = replace(node, fields=fields) if changed else node
        self.done[id(node)] = result
        return result

    def value(self, name: str) -> tuple[Value] | None:
        """Return what a field of the interface holds, None for an event and for a name that is not there."""
        if name in self.instance.fields:
            value = self.instance.fields[name]
            return None if isinstance(value, IsReference) else (value,)
        declared = self.proto.fields.get(name)
        if declared is None or declared.access in ("eventIn", "eventOut"):
            return None
        return (declared.value,)
