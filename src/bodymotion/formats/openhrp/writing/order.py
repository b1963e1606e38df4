"""The order of a file: links depth-first, and devices between the Joints that stand in a Joint."""

from __future__ import annotations

from bisect import bisect_left

from bodymotion.model.body import Body

__all__ = ["children_of", "deepest", "depth_first", "device_slots", "devices_as_read"]


def children_of(body: Body) -> list[list[int]]:
    """Return for each link those that hang on it, in link order."""
    children: list[list[int]] = [[] for _ in body.links]
    for link in body.links[1:]:
        children[link.parent].append(link.index)
    return children


def depth_first(children: list[list[int]]) -> list[int]:
    """Return the links depth-first."""
    order: list[int] = []
    stack = [0] if children else []
    while stack:
        index = stack.pop()
        order.append(index)
        stack.extend(reversed(children[index]))
    return order


def deepest(body: Body) -> int:
    """Return the number of links on the longest way down."""
    depth: list[int] = []
    for link in body.links:
        depth.append(1 + (depth[link.parent] if link.parent >= 0 else 0))
    return max(depth, default=0)


def device_slots(body: Body, children: list[list[int]]) -> list[list[list[int]]]:
    """Return for each link the devices before its first child, before its second … and after the last.

    A device stands after all children that hold, somewhere below, a device that comes before it. Where the devices of the body have an
    order that a file can have, this is it.
    """
    first: list[float] = [float("inf")] * len(body.links)
    for number in range(len(body.devices) - 1, -1, -1):
        first[body.devices[number].link] = number
    for link in reversed(body.links[1:]):
        first[link.parent] = min(first[link.parent], first[link.index])
    # From each child on: the earliest device in it or any later one; this ascends, so devices find their place by bisection.
    after: list[list[float]] = []
    for index in range(len(body.links)):
        earliest: list[float] = []
        least = float("inf")
        for child in reversed(children[index]):
            least = min(least, first[child])
            earliest.append(least)
        after.append(earliest[::-1])
    slots: list[list[list[int]]] = [[[] for _ in range(len(children[i]) + 1)] for i in range(len(body.links))]
    for number, device in enumerate(body.devices):
        slots[device.link][bisect_left(after[device.link], number)].append(number)
    return slots


def devices_as_read(body: Body, children: list[list[int]]) -> list[int]:
    """Return the numbers of the devices of a body of one link or more in the order in which a file has them."""
    slots = device_slots(body, children)
    read: list[int] = []
    stack: list[int | list[int]] = [0]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            read += item
            continue
        inside: list[int | list[int]] = [slots[item][0]]
        for child, after in zip(children[item], slots[item][1:], strict=True):
            inside += [child, after]
        stack.extend(reversed(inside))
    return read
