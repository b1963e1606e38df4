"""The tree of links: which joint holds each link, also where names are wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.urdf import rules
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import Element
from bodymotion.model.links import MAX_LINKS
from bodymotion.model.rules import NO_LINKS, UNCONNECTED

# Of more links without a joint, or joints without a child, none are matched. A similar
# name is searched for each, which would take long.
MAX_TOPS = 50
MAX_SHOWN_ROOTS = 6


@dataclass(frozen=True)
class Node:
    """A link with its parent and the joint that holds it.

    Attributes
    ----------
    parent:
        The index of the parent, −1 for the root.
    loose:
        No joint connects the link to the root.
    lost:
        Only the joint is known, and the name that its link has there.
    """

    link: Element
    parent: int
    joint: Element | None
    loose: bool = False
    lost: bool = False


class _UnknownEnd(NamedTuple):
    """The first <parent> or <child> with a name that no link has."""

    element: Element
    message: str


class _ChildlessJoint(NamedTuple):
    """A joint whose child is no link, and the name of its parent."""

    joint: Element
    parent: str


@dataclass
class _Connections:
    """Which joint holds which link.

    Attributes
    ----------
    links:
        By name, the first link of that name.
    children:
        By name of a link, those of its children.
    holders:
        By name of a link, the joint that holds it.
    parents:
        By name of a held link, that of its parent, "" where that is no link.
    unknown_ends:
        By name that no link has.
    unknown_children:
        Those of these names that a <child> has.
    """

    links: dict[str, Element]
    children: dict[str, list[str]]
    holders: dict[str, Element] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    unknown_ends: dict[str, _UnknownEnd] = field(default_factory=dict)
    unknown_children: set[str] = field(default_factory=set)
    childless: list[_ChildlessJoint] = field(default_factory=list)

    def add(self, joint: Element) -> None:
        """Connect the ends of a joint."""
        parent = self._end(joint, "parent")
        child = self._end(joint, "child")
        if not child:
            self.childless.append(_ChildlessJoint(joint, parent))
        # The first joint holds the link, so that the rest of the tree can be read.
        elif child in self.holders:
            other = self.holders[child].get("name")
            message = (
                f"link {child!r:.60} is the child of joint {other!r:.60} and of "
                f"{joint.get('name')!r:.60}; expected one joint"
            )
            joint.report(rules.TWO_PARENTS, message, fatal=True)
        else:
            self.hold(child, joint, parent)

    def hold(self, child: str, joint: Element, parent: str) -> None:
        self.holders[child] = joint
        self.parents[child] = parent
        if parent:
            self.children[parent].append(child)

    def _end(self, joint: Element, kind: str) -> str:
        """Return the name of the link at an end, "" for none."""
        joint_name = joint.get("name")
        end = joint.first(kind)
        if end is None:
            message = f"joint {joint_name!r:.60} has no <{kind}>"
            joint.report(rules.NO_SUCH_LINK, message, fatal=True)
            return ""
        name = end.need("link")
        if name in self.links:
            return name
        if name:
            message = (
                f"the {kind} of joint {joint_name!r:.60} is {name!r:.60}, "
                "which is not a link"
            )
            # Reported later: a link that lost its name may be the one that is meant.
            self.unknown_ends.setdefault(name, _UnknownEnd(end, message))
            if kind == "child":
                self.unknown_children.add(name)
        return ""

    def roots(self) -> list[str]:
        """Return the links that no joint holds."""
        return [name for name in self.links if name not in self.holders]

    def report_unknown_ends(self, num_nameless: int) -> None:
        """Report names that no link has.

        Not those that may be the names of nameless links.

        `num_nameless` links have no name, or that of another. As many unknown names may
        be theirs; but not that of a link without a joint.
        """
        roots = self.roots()
        # The first root is the robot's. Each other one must be the child of a faulty
        # joint.
        free = roots[1:]
        of_nameless = [
            name
            for name in self.unknown_ends
            if name in self.unknown_children or not roots
        ]
        if free and max(len(roots), len(of_nameless)) <= MAX_TOPS:
            # Names that resemble that of a free link are most likely its own.
            of_nameless.sort(key=lambda name: closest_name(name, roots) is not None)
        num_excused = min(num_nameless, len(of_nameless) - len(free))
        excused = set(of_nameless[: max(0, num_excused)])
        for name, end in self.unknown_ends.items():
            if name not in excused:
                end.element.report(rules.NO_SUCH_LINK, end.message, fatal=True)

    def match_childless(self) -> None:
        """Give joints without a child the links that they may hold.

        So these links are checked with their joints.
        """
        roots = self.roots()
        # Where there is no doubt, the joint is connected. Else similar names, or the
        # order in the file, say which link it may hold, but not below which parent.
        with_parent = [each for each in self.childless if each.parent]
        if len(with_parent) == 1 and len(roots) == 2:
            # The child is the one root that the joint is not below.
            (certain,) = with_parent
            top = self._top_of(certain.parent)
            child = roots[1] if roots[0] == top else roots[0]
            self.hold(child, certain.joint, certain.parent)
        elif max(len(roots), len(self.childless)) <= MAX_TOPS:
            joints = [each.joint for each in self.childless]
            for child, joint in _likely_holders(joints, roots[1:]).items():
                self.hold(child, joint, "")

    def _top_of(self, name: str) -> str:
        """Return the link above a link that has no parent; any one in a cycle."""
        # No path is longer than the number of links: the loop ends in a cycle, too.
        for _ in self.links:
            name = self.parents.get(name) or name
        return name

    def report_unconnected(self, num_joints: int) -> None:
        """Report several roots, unless that follows from a faulty joint."""
        roots = self.roots()
        # Where a joint is faulty, a second root follows from that fault.
        num_connected = sum(bool(parent) for parent in self.parents.values())
        if len(roots) < 2 or num_connected != num_joints:
            return
        shown = ", ".join(repr(name)[:60] for name in roots[:MAX_SHOWN_ROOTS])
        message = f"{len(roots)} links are the child of no joint: {shown}"
        hint = "connect them to one root by joints"
        self.links[roots[1]].report(UNCONNECTED, message, hint=hint, fatal=True)

    def report_cycles(self, nodes: Sequence[Node]) -> None:
        """Report one link of each cycle; links in cycles are below no root."""
        reached = {id(node.link) for node in nodes}
        seen: set[str] = set()
        for start, link in self.links.items():
            if id(link) in reached:
                continue
            chain: set[str] = set()
            name = start
            # Upwards until a link that was seen. If it is of this walk, the walk closed
            # a cycle.
            while name not in seen:
                seen.add(name)
                chain.add(name)
                name = self.parents[name]
            if name in chain:
                message = f"link {start!r:.60} is in a cycle of joints"
                self.holders[start].report(UNCONNECTED, message, hint="", fatal=True)

    def depth_first(self) -> list[Node]:
        """Return the links below the roots, depth-first."""
        nodes: list[Node] = []
        # Links whose joint has no known parent are tops like the roots; all tops but
        # the first become loose children of link 0.
        unconnected = [name for name in self.holders if not self.parents[name]]
        tops = [*self.roots(), *unconnected]
        for top in tops:
            stack = [(top, 0 if nodes else -1)]
            while stack:
                name, parent = stack.pop()
                index = len(nodes)
                stack += [(child, index) for child in reversed(self.children[name])]
                loose = name == top and top != tops[0]
                joint = self.holders.get(name)
                nodes.append(Node(self.links[name], parent, joint, loose))
        return nodes


def read_tree(robot: Element) -> list[Node]:
    """Return the links depth-first, then those that no joint connects to the root.

    Children are in the order of their joints in the file. Names that are repeated or
    unknown, and joints that make no tree, are reported.
    """
    elements = list(robot.all("link"))
    if len(elements) > MAX_LINKS:
        message = f"the model has more than {MAX_LINKS} links"
        raise TOO_LARGE.error(message, elements[MAX_LINKS].location)
    links = by_name(robot, "link")
    if not elements:
        message = "there is no <link>; expected at least one"
        robot.report(NO_LINKS, message, fatal=True)
    joints = list(robot.all("joint"))
    connections = _Connections(links, {name: [] for name in links})
    for joint in joints:
        connections.add(joint)
    connections.report_unknown_ends(len(elements) - len(links))
    connections.match_childless()
    connections.report_unconnected(len(joints))
    nodes = connections.depth_first()
    connections.report_cycles(nodes)
    _add_unreached_links(nodes, elements, connections)
    _add_unused_joints(nodes, joints)
    return nodes


def by_name(robot: Element, kind: str) -> dict[str, Element]:
    """Return the first link or joint of each name; report repeated names."""
    elements: dict[str, Element] = {}
    for element in robot.all(kind):
        name = element.need("name")
        if name in elements:
            message = (
                f"a second {kind} has the name {name!r:.60}; the first is in line "
                f"{elements[name].line}"
            )
            element.report(rules.SAME_NAME, message, fatal=True)
        elif name:
            elements[name] = element
    return elements


def _likely_holders(joints: Sequence[Element], free: list[str]) -> dict[str, Element]:
    """Return the joints without a child that may hold links.

    By the names of `free` links.

    A link is found by a similar name. Where there are as many joints as links, the
    others are in the order of the file.
    """
    in_order = len(joints) == len(free)
    # Similar names first: the order decides only about links that are left.
    similar: list[tuple[Element, str]] = []
    others: list[tuple[Element, str]] = []
    for joint in joints:
        child = joint.first("child")
        word = "" if child is None else child.get("link")
        group = similar if closest_name(word, free) else others
        group.append((joint, word))
    holders: dict[str, Element] = {}
    for joint, word in (*similar, *others):
        name = closest_name(word, free)
        if name is None and in_order:
            name = free[0]
        if name:
            free.remove(name)
            holders[name] = joint
    return holders


def _add_unreached_links(
    nodes: list[Node], elements: Sequence[Element], connections: _Connections
) -> None:
    """Add the links that no path from a root reaches.

    Those in cycles, without a name, or with that of another.
    """
    reached = {id(node.link) for node in nodes}
    for link in elements:
        if id(link) in reached:
            continue
        name = link.get("name")
        joint = None
        if connections.links.get(name) is link:
            joint = connections.holders.get(name)
        nodes.append(Node(link, 0 if nodes else -1, joint, loose=True))


def _add_unused_joints(nodes: list[Node], joints: Sequence[Element]) -> None:
    """Add joints that hold no link, to check them.

    Their ends are faulty.
    """
    used = {id(node.joint) for node in nodes}
    for joint in joints:
        if id(joint) in used:
            continue
        child = joint.first("child")
        name = "" if child is None else child.get("link")
        name = name or joint.get("name") or "?"
        # A link that is not in the file, only so that the joint is checked.
        link = replace(joint, name="link", attributes={"name": name}, children=[])
        parent = 0 if nodes else -1
        nodes.append(Node(link, parent, joint, loose=True, lost=True))
