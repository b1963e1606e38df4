"""Fixes of an OpenHRP model.

Byte order mark, header, axes of length 1, the lists joints and segments.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from bodymotion.checks.checking import most_common_end
from bodymotion.checks.fixing.edits import Edit, unit_texts
from bodymotion.diagnostics import Diagnostics, FormatError, Problem
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.formats.openhrp.nodes import TreeReader
from bodymotion.formats.openhrp.rules import LISTS
from bodymotion.formats.resources import ReferencedFiles
from bodymotion.formats.text import BOM, Text, decode
from bodymotion.formats.vrml import Node, nodes, parse_vrml
from bodymotion.formats.vrml.rules import BYTE_ORDER_MARK, HEADER
from bodymotion.formats.vrml.shapes import NodeFrame, SceneWalker
from bodymotion.formats.vrml.values import (
    NAME,
    SPACE,
    STRING,
    WORD,
    is_declared,
    numbers,
)
from bodymotion.model.rules import AXIS_LENGTH, QUATERNION
from bodymotion.motion.rules import MAX_LENGTH_ERROR

_HEADER = re.compile(r"#[ \t]*VRML[ \t]+V2[0-9.]*[^\r\n]*")
_LINE_END = re.compile(r"\r\n?|\n")
_ITEM = re.compile(rf"{SPACE.pattern}USE(?![^ \t\r\n,\f\v#\"\[\]{{}}]){NAME.pattern}")
_DEFINED = re.compile(
    r"(?<![^ \t\r\n,\f\v\[\]{}])DEF[ \t\r\n,]+([^ \t\r\n,\f\v#\"\[\]{}]+)"
)


def edits_of(data: bytes, path: Path) -> tuple[Edit, ...]:
    """Return the edits; none for a text that cannot be read, or whose encoding is not certain."""
    whole, encoding = decode(data)
    if data.startswith(BOM):
        start = len(BOM)
    else:
        start = 0
    if encoding == "utf-16" or whole.encode(encoding, "replace") != data[start:]:
        return ()
    problems = read_openhrp(path).problems
    own = [problem for problem in problems if problem.location.path == str(path)]
    text = Text(whole.rstrip("\0\x1a"), path, encoding)
    found = [*_marks(text, own), *_axes(text, own)]
    if any(problem.rule == LISTS.code for problem in own):
        found += _lists(data, text, path)

    def bytes_before(offset: int) -> int:
        return start + (
            offset if encoding == "ascii" else len(whole[:offset].encode(encoding))
        )

    # Only what is in ASCII is written, or names of the file itself.
    edits = [
        Edit(
            bytes_before(a),
            bytes_before(b),
            new.encode("ascii" if encoding == "ascii" else encoding),
            rule,
        )
        for a, b, new, rule in found
    ]
    if start:
        edits.append(Edit(0, start, b"", BYTE_ORDER_MARK.code))
    return tuple(edits)


_Change = tuple[
    int, int, str, str
]  # From where to where in the text, what is put there, and the rule.


def _newline(text: str) -> str:
    return most_common_end(text.encode("utf-8", "replace")).decode()


def _marks(text: Text, problems: Sequence[Problem]) -> Iterator[_Change]:
    """Write the header as the first line.

    A header in a later line is moved there.
    """
    if not any(problem.rule == HEADER.code for problem in problems):
        return
    before = SPACE.match(text.data)
    old = _HEADER.search(text.data, 0, before.end() if before is not None else 0)
    header = "#VRML V2.0 utf8"
    if old is not None and old.start() == 0:
        yield 0, old.end(), header, HEADER.code
        return
    yield 0, 0, header + _newline(text.data), HEADER.code
    if old is not None:
        line = (
            max(
                text.data.rfind("\n", 0, old.start()),
                text.data.rfind("\r", 0, old.start()),
            )
            + 1
        )
        end = _LINE_END.match(text.data, old.end())
        alone = not text.data[line : old.start()].strip() and end is not None
        yield (
            line if alone else old.start(),
            end.end() if alone and end is not None else old.end(),
            "",
            HEADER.code,
        )


def _axes(text: Text, problems: Sequence[Problem]) -> Iterator[_Change]:
    """Scale the axes of the problems to length 1, those in the file itself and not in a prototype."""
    fields = {AXIS_LENGTH.code: ("jointAxis", 3), QUATERNION.code: ("rotation", 4)}
    for problem in dict.fromkeys(problems):
        if problem.rule not in fields:
            continue
        name, count = fields[problem.rule]
        place = problem.location
        starts = text.lines.starts
        if place.line is None or place.column is None or place.line > len(starts):
            continue
        at = starts[place.line - 1] + place.column - 1
        if text.data.startswith(name, at):
            found = numbers(count).match(text.data, at + len(name))
        else:
            found = None
        if found is None:
            continue
        places = [found.span(k) for k in (1, 2, 3)]
        old = [text.data[a:b] for a, b in places]
        values = [float(part) for part in old]
        if (
            problem.rule == QUATERNION.code
            and abs(math.hypot(*values) - 1) > MAX_LENGTH_ERROR
        ):
            # It may be three angles, or a quaternion; of a jointAxis only the direction
            # means something.
            continue
        for k, new in unit_texts(old, values):
            yield *places[k], new, problem.rule


def _lists(data: bytes, text: Text, path: Path) -> Iterator[_Change]:
    """Complete the lists joints and segments, where each node has a name of its own and is defined before the list."""
    parts = ReferencedFiles(path.parent, model=path)
    found: list[Node] = []

    def meet(node: Node, place: NodeFrame) -> bool:
        if node.type == "Humanoid":
            found.append(node)
        return node.type == "Humanoid"

    try:
        scene = parse_vrml(data, path)
        SceneWalker(Diagnostics(), parts).walk(scene.nodes, NodeFrame(), meet)
        if not found:
            return
        tree = TreeReader(parts, nodes.ModelDiagnostics()).read(
            nodes.children(found[0], "humanoidBody")
        )
        items = {
            name: nodes.children(found[0], name) for name in ("joints", "segments")
        }
    except FormatError:
        return
    humanoid = found[0]
    defined = Counter(_DEFINED.findall(text.data))
    for name, found_nodes in (
        ("joints", tree.joint_nodes),
        ("segments", tree.segment_nodes),
    ):
        names = list(dict.fromkeys(node.name for node in found_nodes))
        if not (
            names
            and tree.found.is_known(("links", "all"))
            and all(map(is_declared, items[name]))
        ):
            continue  # An item may be a link that cannot be read.
        place = humanoid.offsets.get(name)
        body = humanoid.offsets.get("humanoidBody")
        are_one_each = all(defined[one] == 1 for one in names) and len(names) == len(
            {*map(id, found_nodes)}
        )
        if body is None or not are_one_each:
            continue
        if any(
            node.text is not humanoid.text or not body < node.offset
            for node in found_nodes
        ):
            continue
        if place is None:
            if humanoid.proto is None or name in humanoid.proto.fields:
                yield from _new_list(text.data, body, name, names)
        elif text.data.startswith(name, place) and all(
            node.offset < place for node in found_nodes
        ):
            yield from _changed_list(text.data, place + len(name), names)


def _changed_list(text: str, place: int, names: list[str]) -> Iterator[_Change]:
    """Add missing names, and remove unknown and repeated ones.

    A list of anything but USE does not change.
    """
    opened = WORD.match(text, place)
    if opened is None or opened[1] != "[":
        return
    at = opened.end()
    items = []
    while (item := _ITEM.match(text, at)) is not None:
        items.append(item)
        at = item.end()
    closed = WORD.match(text, at)
    if closed is None or closed[1] != "]":
        return
    kept: dict[str, re.Match[str]] = {}
    for item in items:
        if item[1] in names and item[1] not in kept:
            kept[item[1]] = item
            continue
        line, begin = _start(text, item)
        end = _LINE_END.match(text, item.end())
        if end is not None and not text[line:begin].strip():
            yield line, end.end(), "", LISTS.code
        else:
            two_blanks = (
                text[line:begin].strip() and text[begin - 1] == text[item.end()] == " "
            )
            yield begin - bool(two_blanks), item.end(), "", LISTS.code
    behind: dict[str, list[str]] = {}
    last = ""
    for name in names:
        # As in the tree: after the last of its predecessors in the list, so that no
        # child is before its parent.
        if name in kept:
            last = max(last, name, key=lambda one: kept[one].end() if one else 0)
        else:
            behind.setdefault(last, []).append(name)
    for name, missing in behind.items():
        if name:
            line, begin = _start(text, kept[name])
            if not text[line:begin].strip() and line:
                between = _newline(text) + text[line:begin]
            else:
                between = " "
            new = "".join(f"{between}USE {one}" for one in missing)
            yield kept[name].end(), kept[name].end(), new, LISTS.code
        else:
            new = "".join(f" USE {one}" for one in missing)
            yield opened.end(), opened.end(), new if items else f"{new} ", LISTS.code


def _start(text: str, item: re.Match[str]) -> tuple[int, int]:
    """Return where the line of a USE begins, and where the USE does.

    A comment before it may contain the word USE.
    """
    begin = text.rindex("USE", item.start(), item.start(1))
    return max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1, begin


def _new_list(text: str, body: int, name: str, names: list[str]) -> Iterator[_Change]:
    """Write a missing list after humanoidBody."""
    end = _end_of_value(text, body + len("humanoidBody"))
    if end is None:
        return
    line = max(text.rfind("\n", 0, body), text.rfind("\r", 0, body)) + 1
    indent = text[line:body]
    new = _newline(text)
    inner = indent + "  "
    if indent.strip():
        yield (
            end,
            end,
            f" {name} [ {' '.join(f'USE {one}' for one in names)} ]",
            LISTS.code,
        )
        return
    listed = "".join(f"{new}{inner}USE {one}" for one in names)
    yield end, end, f"{new}{indent}{name} [{listed}{new}{indent}]", LISTS.code


def _tokens(text: str, at: int) -> Iterator[re.Match[str]]:
    """Yield the strings and words from an offset on, up to a string that is not closed.

    A word is in group 1.
    """
    while (found := STRING.match(text, at) or WORD.match(text, at)) is not None and (
        found.re is STRING or found[1]
    ):
        yield found
        at = found.end()


def _end_of_value(text: str, at: int) -> int | None:
    """Return where the list or the node that follows ends."""
    depth = 0
    for token in _tokens(text, at):
        if token.re is WORD and len(token[1]) == 1:
            depth += (token[1] in "[{") - (token[1] in "]}")
            if token[1] in "]}" and depth <= 0:
                if depth == 0:
                    return token.end()
                return None
    return None


def ends_in_strings(data: bytes) -> bool:
    """Return whether a string of the text has several lines.

    To change their ends would change the string.
    """
    text = decode(data)[0]
    at = 0
    for token in _tokens(text, 0):
        at = token.end()
        if token.re is STRING and ("\r" in token[1] or "\n" in token[1]):
            return True
    return text.find('"', at) >= 0
