"""The tree of links: which joint holds which link, and the order of both."""

from __future__ import annotations

from dataclasses import dataclass

from bodymotion.formats.urdf import rules
from bodymotion.formats.xml.tree import TOO_DEEP, Element
from bodymotion.model.links import MOST_LINKS

__all__ = ["Node", "read_tree"]


@dataclass(frozen=True)
class Node:
    """A link in link-index order: its element, the index of its parent (−1 for the root), the element of its joint."""

    link: Element
    parent: int
    joint: Element | None


def read_tree(robot: Element) -> list[Node]:
    """Return the links depth-first, the children of each in the order of their joints in the file.

    Where the file is checked, whatever the joints make: those that no root leads to stand at the end, each by itself.

    Raises
    ------
    FormatError
        When there is no link, a name stands twice or for nothing, or the joints make no tree; at the element that is wrong. When there
        are too many links.
    """
    for number, link in enumerate(robot.all("link")):
        if number >= MOST_LINKS:
            raise TOO_DEEP.error(f"the model has more than {MOST_LINKS} links", link.location)
    links = _named(robot, "link")
    joints = _named(robot, "joint")
    if not links and robot.first("link") is None:
        robot.fault(rules.NO_LINK, "there is no <link>")
    children: dict[str, list[Element]] = {name: [] for name in links}
    holder: dict[str, Element] = {}
    ends = _Ends(links, sum(1 for link in robot.all("link") if not link.get("name")))
    for name, joint in joints.items():
        parent, child = ends.of(joint, "parent"), ends.of(joint, "child")
        if child in holder:
            other = holder[child].get("name")
            joint.fault(
                rules.TWO_PARENTS, f"link {child!r:.60} is the child of joint {other!r:.60} and of {name!r:.60}"
            )
        elif parent and child:
            holder[child] = joint
            children[parent].append(joint)
    roots = [name for name in links if name not in holder]
    # What is wrong with the whole is the same fault once more where a joint of it is faulty.
    sound = robot.faults is None or len(holder) == sum(1 for _ in robot.all("joint"))
    if not roots and sound and links:
        robot.fault(rules.CYCLE, "every link is some joint's child: there is no root")
    if len(roots) > 1 and sound:
        shown = ", ".join(repr(name)[:60] for name in roots[:6])
        links[roots[1]].fault(rules.ROOTS, f"{len(roots)} links are no joint's child: {shown}")
    found: list[Node] = []
    stack: list[tuple[str, int, Element | None]] = [(name, -1, None) for name in roots[::-1]]
    while stack:
        name, above, held = stack.pop()
        index = len(found)
        found.append(Node(links[name], above, held))
        stack += [(child.first("child").get("link"), index, child) for child in reversed(children[name])]  # type: ignore[union-attr]
    reached = {id(node.link) for node in found}
    if roots:
        _circles([name for name, link in links.items() if id(link) not in reached], holder)
    return found if robot.faults is None else found + _alone(robot, found)


def _circles(lost: list[str], holder: dict[str, Element]) -> None:
    """Say of the links to which no root leads that they hang in a circle, once for each."""
    seen: set[str] = set()
    for name in lost:
        chain: set[str] = set()
        at = name
        while at not in seen:
            seen.add(at)
            chain.add(at)
            at = holder[at].first("parent").get("link")  # type: ignore[union-attr]
        if at in chain:
            holder[name].fault(rules.CYCLE, f"link {name!r:.60} hangs in a circle of joints")


def _alone(robot: Element, found: list[Node]) -> list[Node]:
    """Return the links of a faulty file that the tree has not, and its joints."""
    reached = {id(element) for node in found for element in (node.link, node.joint)}
    left = [link for link in robot.all("link") if id(link) not in reached]
    joints = [joint for joint in robot.all("joint") if id(joint) not in reached]
    nodes = [Node(link, -1, None) for link in left]
    return [*nodes, *(Node(Element("link"), -1, joint) for joint in joints)]


def _named(robot: Element, kind: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.all(kind):
        name = element.need("name")
        if name in found:
            words = f"a second {kind} has the name {name!r:.60}; the first stands in line {found[name].line}"
            element.fault(rules.SAME_NAME, words)
        elif name:
            found[name] = element
    return found


class _Ends:
    """Finds the links at the ends of joints. A name that no link has is a fault where it stands first; where links have no name at all, as
    many others may be theirs.
    """

    def __init__(self, links: dict[str, Element], nameless: int) -> None:
        self.links, self.nameless = links, nameless
        self.unknown: set[str] = set()

    def of(self, joint: Element, word: str) -> str:
        """Return the name of the link at an end of a joint; an empty one where that is faulty."""
        end = joint.first(word)
        if end is None:
            joint.fault(rules.NO_SUCH_LINK, f"joint {joint.get('name')!r:.60} has no <{word}>")
            return ""
        name = end.need("link")
        if name in self.links:
            return name
        if name and name not in self.unknown:
            self.unknown.add(name)
            if self.nameless:
                self.nameless -= 1
            else:
                title = joint.get("name")
                end.fault(rules.NO_SUCH_LINK, f"the {word} of joint {title!r:.60} is {name!r:.60}, which is no link")
        return ""
