"""Fixes of an OpenHRP model.

Byte order mark, header, axes of length 1, the lists joints and segments.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

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
    """Return the edits of a text.

    None where it cannot be read, or its encoding is not certain.
    """
    whole, encoding = decode(data)
    start = len(BOM) if data.startswith(BOM) else 0
    if encoding == "utf-16" or whole.encode(encoding, "replace") != data[start:]:
        return ()
    problems = read_openhrp(path).problems
    in_file = [problem for problem in problems if problem.location.path == str(path)]
    text = Text(whole.rstrip("\0\x1a"), path, encoding)
    changes = [*_marks(text, in_file), *_axes(text, in_file)]
    if any(problem.rule == LISTS.code for problem in in_file):
        changes += _lists(data, text, path)

    def bytes_before(offset: int) -> int:
        if encoding == "ascii":
            return start + offset
        return start + len(whole[:offset].encode(encoding))

    # Only what is in ASCII is written, or names of the file itself.
    edits = []
    for first, end, added, rule in changes:
        added_bytes = added.encode(encoding)
        edits.append(Edit(bytes_before(first), bytes_before(end), added_bytes, rule))
    if start:
        edits.append(Edit(0, start, b"", BYTE_ORDER_MARK.code))
    return tuple(edits)


# From where to where in the text, what is put there, and the rule.
_Change: TypeAlias = tuple[int, int, str, str]


def _newline(text: str) -> str:
    return most_common_end(text.encode("utf-8", "replace")).decode()


def _marks(text: Text, problems: Sequence[Problem]) -> Iterator[_Change]:
    """Write the header as the first line.

    A header in a later line is moved there.
    """
    if not any(problem.rule == HEADER.code for problem in problems):
        return
    before = SPACE.match(text.data)
    header = _HEADER.search(text.data, 0, before.end() if before is not None else 0)
    expected = "#VRML V2.0 utf8"
    if header is not None and header.start() == 0:
        yield 0, header.end(), expected, HEADER.code
        return
    yield 0, 0, expected + _newline(text.data), HEADER.code
    if header is None:
        return
    line = _line_start(text.data, header.start())
    line_end = _LINE_END.match(text.data, header.end())
    is_first = not text.data[line : header.start()].strip()
    if is_first and line_end is not None:
        yield line, line_end.end(), "", HEADER.code
    else:
        yield header.start(), header.end(), "", HEADER.code


def _line_start(text: str, offset: int) -> int:
    """Return where the line of a character begins."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _axes(text: Text, problems: Sequence[Problem]) -> Iterator[_Change]:
    """Scale the axes of the problems to length 1.

    Those in the file itself and not in a prototype.
    """
    fields = {AXIS_LENGTH.code: ("jointAxis", 3), QUATERNION.code: ("rotation", 4)}
    starts = text.lines.starts
    for problem in dict.fromkeys(problems):
        line = problem.location.line
        column = problem.location.column
        if problem.rule not in fields or line is None or column is None:
            continue
        if line > len(starts):
            continue
        name, count = fields[problem.rule]
        offset = starts[line - 1] + column - 1
        if not text.data.startswith(name, offset):
            continue
        match = numbers(count).match(text.data, offset + len(name))
        if match is None:
            continue
        texts = [match[k] for k in (1, 2, 3)]
        values = [float(number) for number in texts]
        is_rotation = problem.rule == QUATERNION.code
        if is_rotation and abs(math.hypot(*values) - 1) > MAX_LENGTH_ERROR:
            # It may be three angles, or a quaternion; of a jointAxis only the direction
            # means something.
            continue
        for k, scaled in unit_texts(texts, values):
            yield *match.span(k + 1), scaled, problem.rule


def _lists(data: bytes, text: Text, path: Path) -> Iterator[_Change]:
    """Complete the lists joints and segments.

    Where each node has a name of its own and is defined before the list.
    """
    parts = ReferencedFiles(path.parent, model=path)
    humanoids: list[Node] = []

    def meet(node: Node, frame: NodeFrame) -> bool:
        if node.type == "Humanoid":
            humanoids.append(node)
        return node.type == "Humanoid"

    try:
        scene = parse_vrml(data, path)
        SceneWalker(Diagnostics(), parts).walk(scene.nodes, NodeFrame(), meet)
        if not humanoids:
            return
        humanoid = humanoids[0]
        tree = TreeReader(parts, nodes.ModelDiagnostics()).read(
            nodes.children(humanoid, "humanoidBody")
        )
        joints = nodes.children(humanoid, "joints")
        segments = nodes.children(humanoid, "segments")
    except FormatError:
        return
    if not tree.found.is_known(("links", "all")):
        # An item may be a link that cannot be read.
        return
    for name, items, listed in (
        ("joints", joints, tree.joint_nodes),
        ("segments", segments, tree.segment_nodes),
    ):
        if all(map(is_declared, items)):
            yield from _complete_list(text, humanoid, name, listed)


def _complete_list(
    text: Text, humanoid: Node, name: str, listed: Sequence[Node]
) -> Iterator[_Change]:
    """Write the list `name` of a humanoid, or complete it with some nodes."""
    names = list(dict.fromkeys(node.name for node in listed))
    body = humanoid.offsets.get("humanoidBody")
    if not names or body is None:
        return
    defined = Counter(_DEFINED.findall(text.data))
    are_unique = len(names) == len({id(node) for node in listed})
    # USE names the last node that was defined with the name: of two it may be the wrong
    # one.
    if not are_unique or any(defined[node_name] != 1 for node_name in names):
        return
    # VRML97 allows USE only after the DEF, in the same file.
    if any(node.text is not humanoid.text or node.offset <= body for node in listed):
        return
    start = humanoid.offsets.get(name)
    if start is None:
        if humanoid.proto is None or name in humanoid.proto.fields:
            yield from _new_list(text.data, body, name, names)
        return
    is_defined_before = all(node.offset < start for node in listed)
    if is_defined_before and text.data.startswith(name, start):
        yield from _changed_list(text.data, start + len(name), names)


def _changed_list(text: str, start: int, names: list[str]) -> Iterator[_Change]:
    """Add missing names, and remove unknown and repeated ones.

    A list of anything but USE does not change.
    """
    opened = WORD.match(text, start)
    if opened is None or opened[1] != "[":
        return
    end = opened.end()
    items = []
    item = _ITEM.match(text, end)
    while item is not None:
        items.append(item)
        end = item.end()
        item = _ITEM.match(text, end)
    closed = WORD.match(text, end)
    if closed is None or closed[1] != "]":
        return
    wanted: dict[str, re.Match[str]] = {}
    for item in items:
        if item[1] in names and item[1] not in wanted:
            wanted[item[1]] = item
        else:
            yield _remove_item(text, item)
    # As in the tree: after the last of its predecessors in the list, so that no child
    # is before its parent.
    missing_after: dict[str, list[str]] = {}
    last = ""
    for name in names:
        if name not in wanted:
            missing_after.setdefault(last, []).append(name)
        elif not last or wanted[name].end() > wanted[last].end():
            last = name
    for name, missing in missing_after.items():
        if name:
            yield _add_after(text, wanted[name], missing)
            continue
        added = "".join(f" USE {missing_name}" for missing_name in missing)
        if not items:
            added += " "
        yield opened.end(), opened.end(), added, LISTS.code


def _add_after(text: str, item: re.Match[str], names: list[str]) -> _Change:
    """Add names after a USE.

    In lines of their own if that has one.
    """
    line, begin = _start(text, item)
    between = " "
    if line and not text[line:begin].strip():
        between = _newline(text) + text[line:begin]
    added = "".join(f"{between}USE {name}" for name in names)
    return item.end(), item.end(), added, LISTS.code


def _remove_item(text: str, item: re.Match[str]) -> _Change:
    """Remove a USE.

    With its line if it is alone there, else with one blank.
    """
    line, begin = _start(text, item)
    line_end = _LINE_END.match(text, item.end())
    is_first = not text[line:begin].strip()
    if line_end is not None and is_first:
        return line, line_end.end(), "", LISTS.code
    if not is_first and text[begin - 1] == text[item.end()] == " ":
        begin -= 1
    return begin, item.end(), "", LISTS.code


def _start(text: str, item: re.Match[str]) -> tuple[int, int]:
    """Return where the line of a USE begins, and where the USE does.

    A comment before it may contain the word USE.
    """
    begin = text.rindex("USE", item.start(), item.start(1))
    return _line_start(text, begin), begin


def _new_list(text: str, body: int, name: str, names: list[str]) -> Iterator[_Change]:
    """Write a missing list after humanoidBody."""
    end = _end_of_value(text, body + len("humanoidBody"))
    if end is None:
        return
    indent = text[_line_start(text, body) : body]
    new = _newline(text)
    inner = indent + "  "
    if indent.strip():
        listed = " ".join(f"USE {item}" for item in names)
        yield end, end, f" {name} [ {listed} ]", LISTS.code
        return
    listed = "".join(f"{new}{inner}USE {item}" for item in names)
    yield end, end, f"{new}{indent}{name} [{listed}{new}{indent}]", LISTS.code


def _tokens(text: str, at: int) -> Iterator[re.Match[str]]:
    """Yield the strings and words from an offset on, up to a string that is not closed.

    A word is in group 1.
    """
    while True:
        token = STRING.match(text, at) or WORD.match(text, at)
        if token is None or (token.re is not STRING and not token[1]):
            return
        yield token
        at = token.end()


def _end_of_value(text: str, at: int) -> int | None:
    """Return where the list or the node that follows ends."""
    # Brackets and braces that are open; those in strings do not count.
    depth = 0
    for token in _tokens(text, at):
        if token.re is STRING:
            continue
        if token[1] in ("[", "{"):
            depth += 1
        elif token[1] in ("]", "}"):
            depth -= 1
            if depth <= 0:
                return token.end() if depth == 0 else None
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
