"""The tree of links: which joint holds which link, and the order of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bodymotion.formats.urdf import rules

if TYPE_CHECKING:
    from bodymotion.formats.xml_tree import Element

__all__ = ["Node", "read_tree"]


@dataclass(frozen=True)
class Node:
    """A link in link-index order: its element, the index of its parent (−1 for the root), the element of its joint."""

    link: Element
    parent: int
    joint: Element | None


def read_tree(robot: Element) -> list[Node]:
    """Give the links depth-first, the children of each in the order of their joints in the file.

    Raises
    ------
    FormatError
        When there is no link, a name stands twice or for nothing, or the joints make no tree; at the element that is wrong.
    """
    links = _named(robot, "link")
    joints = _named(robot, "joint")
    if not links:
        raise rules.NO_LINK.error("there is no <link>", robot.location)
    children: dict[str, list[Element]] = {name: [] for name in links}
    holder: dict[str, Element] = {}
    for name, joint in joints.items():
        parent, child = (_end(joint, word, links) for word in ("parent", "child"))
        if child in holder:
            other = holder[child].get("name")
            raise rules.TWO_PARENTS.error(
                f"link {child!r:.60} is the child of joint {other!r:.60} and of {name!r:.60}", joint.location
            )
        holder[child] = joint
        children[parent].append(joint)
    roots = [name for name in links if name not in holder]
    if not roots:
        raise rules.CYCLE.error("every link is some joint's child: there is no root", robot.location)
    if len(roots) > 1:
        shown = ", ".join(repr(name)[:60] for name in roots[:6])
        raise rules.ROOTS.error(f"{len(roots)} links are no joint's child: {shown}", links[roots[1]].location)
    found: list[Node] = []
    stack: list[tuple[str, int, Element | None]] = [(roots[0], -1, None)]
    while stack:
        name, above, held = stack.pop()
        index = len(found)
        found.append(Node(links[name], above, held))
        stack += [(child.first("child").get("link"), index, child) for child in reversed(children[name])]  # type: ignore[union-attr]
    if len(found) < len(links):
        reached = {id(node.link) for node in found}
        lost = next(name for name, link in links.items() if id(link) not in reached)
        raise rules.CYCLE.error(f"link {lost!r:.60} hangs in a circle of joints", holder[lost].location)
    return found


def _named(robot: Element, kind: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.all(kind):
        name = element.need("name")
        if name in found:
            raise rules.SAME_NAME.error(
                f"a second {kind} has the name {name!r:.60}; the first stands in line {found[name].line}",
                element.location,
            )
        found[name] = element
    return found


def _end(joint: Element, word: str, links: dict[str, Element]) -> str:
    end = joint.first(word)
    if end is None:
        raise rules.NO_SUCH_LINK.error(f"joint {joint.get('name')!r:.60} has no <{word}>", joint.location)
    name = end.need("link")
    if name not in links:
        raise rules.NO_SUCH_LINK.error(
            f"the {word} of joint {joint.get('name')!r:.60} is {name!r:.60}, which is no link", end.location
        )
    return name
