"""Walk over trees of links or joints that are given by the parents of their nodes."""

from collections.abc import Callable, Mapping, Sequence


def children_of(parents: Sequence[int]) -> list[list[int]]:
    """Return the children of each node, in their order; −1 is the parent of a root."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    return children


def path_below(parents: Sequence[int], node: int, top: int) -> list[int]:
    """Return the nodes from below `top` (−1: from the root) to a node."""
    path = []
    while node not in (top, -1):
        path.append(node)
        node = parents[node]
    return path[::-1]


def with_root(parents: Sequence[int], root: int) -> list[int]:
    """Return the parents of all nodes, seen from another root."""
    # Only the edges between the two roots change their direction.
    changed = list(parents)
    new_parent = -1
    node = root
    while node >= 0:
        changed[node] = new_parent
        new_parent = node
        node = parents[node]
    return changed


def depth_first(
    parents: Mapping[int, int], rank: Callable[[int], int] | None = None
) -> list[int]:
    """Return the keys of `parents` (−1 for none), each before its children.

    All nodes below a node come before its next sibling. Siblings are in the order of
    their ranks, by default their numbers.
    """
    children: dict[int, list[int]] = {}
    for node in sorted(parents, key=rank):
        children.setdefault(parents[node], []).append(node)
    order = []
    waiting = children.get(-1, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children.get(order[-1], [])[::-1]
    return order
