"""Recovery of the parser after a fault.

It searches the next location where the grammar is certain again.

    in a node     the next name of one of its fields, or the brace that closes it
    in a list     the next node, or the bracket that closes it
    outside       the next node or statement

Brackets between the fault and that place are skipped with their contents. A bracket
that does not fit is one too many, or is meant as another one, or another one is missing
before it: the counts of all brackets in the text decide (`Balance`). So one fault gives
one problem, and what follows from it gives none: names of nodes that were skipped may
be used, and `Damage` holds which nodes are incomplete. Strings without their second
quote are closed before all that (`with_quotes`), and nothing more is reported in their
lines.

A sound file needs none of this: it begins with the first fault.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from bodymotion.diagnostics import Diagnostics, FormatError, Location, Rule
from bodymotion.diagnostics.spelling import unusual_character
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.text import Text
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.values import (
    MODEL_NODES,
    NAME,
    NODE,
    SPACE,
    STRING,
    STRING_OR_COMMENT,
    UNKNOWN,
    WORD,
    Scope,
)

MAX_FAULTS = 2000  # Faults of the grammar in a file; after these the rest of the file is not read.
MAX_OPEN_STRINGS = 20  # Strings of a text that are closed.

_TOKEN = re.compile(
    rf'{SPACE.pattern}({STRING.pattern.removeprefix(SPACE.pattern)}|{NAME.pattern.removeprefix(SPACE.pattern)}|[\[\]{{}}"]|)',
    re.DOTALL,
)
_OPENING = re.compile(
    NODE.pattern.removesuffix(SPACE.pattern + r"\{")
)  # A node without its opening brace.
_OPENING_OTHER = re.compile(
    NODE.pattern.removesuffix(r"\{") + r"[\[\]}]"
)  # A node with another bracket instead of its opening brace.
_FATAL = (TOO_LARGE.code, rules.NOT_VRML97.code)
_GUESSES = (rules.UNKNOWN_NODE, rules.UNKNOWN_FIELD, rules.UNKNOWN_IS)
_BRACKET = re.compile(rf"[\[\]{{}}]|{STRING_OR_COMMENT.pattern}", re.DOTALL)

_OTHER = {"{": "}", "}": "{", "[": "]", "]": "["}

_LINE_END = re.compile(r"[\r\n]|\Z")
_REMARK = re.compile(r"\s#")
_AFTER = re.compile(r"[\s,\[\]{}]*\Z")
_NEXT_STRING = re.compile(r"(?:\s[^\s,\[\]{}]++)?[\s,\[]*\Z")
_BEFORE_STRING = " \t\r\n\f\v,["
_AFTER_STRING = _BEFORE_STRING + "]{}#"


class OpenStringsError(Exception):
    """Strings of the text have no second quote.

    It must be parsed anew with the text that has them.
    """

    def __init__(self, text: Text, begins: list[int]) -> None:
        super().__init__()
        self.text = text
        self.begins = begins


@dataclass
class Damage:
    """What faults have left incomplete in a scene."""

    text: Text | None = None
    offsets: set[int] = field(default_factory=set)
    """Offsets in `text` of nodes that are incomplete, and of fields without a value."""
    names: set[str] = field(default_factory=set)
    """DEF names of nodes that were skipped."""
    lines: dict[int | None, str] = field(default_factory=dict)
    """Lines with strings that were not closed, and what these hold after a first word.

    Fields and nodes may be lost in it.
    """
    vague: bool = False
    """Whether a prototype could not be read."""

    def __bool__(self) -> bool:
        return bool(self.offsets or self.lines)

    def touches(self, location: Location) -> bool:
        """Return whether something is incomplete at a location."""
        if self.text is None or location.path != (
            str(self.text.path) if self.text.path else None
        ):
            return False
        return location.line in self.lines or location in self._locations

    def is_whole(self, node: Node) -> bool:
        """Return whether everything in a node was read, as far as is known."""
        if self.text is None or node.text is not self.text:
            return True
        cut = self.lines and any(
            self.lines.get(self.text.location(at).line) for at in node.offsets.values()
        )
        return not (cut or node.offset in self.offsets)

    def has_all(self, node: Node, name: str) -> bool:
        """Return whether a field of a node was read, or is not in the file."""
        return name in node.fields or (name not in node.offsets and self.is_whole(node))

    @cached_property
    def _locations(self) -> set[Location]:
        assert self.text is not None
        return {self.text.location(offset) for offset in self.offsets}


class Recovery:
    """A text, the problems found in it, what a parser knows of the faults before it, and how it skips to where it can go on."""

    scope: Scope
    depth: int

    def __init__(self, text: Text, found: Diagnostics, open_strings: list[int]) -> None:
        self.text = text
        self.data = text.data
        self.found = found
        self.fault_at = 0
        """The offset of the last fault."""
        self.damage = Damage(text)
        self.balance: Balance | None = None
        """Of the brackets of the text, from the first fault on."""
        self.is_over = False
        """Whether the text ended too early, or the rest of it cannot be read."""
        self.shifted = 0
        """Faults that may be found a second time, by a bracket that does not fit."""
        self.vague = False
        """Whether a prototype could not be read as a whole.

        Then its fields, and which types there are, are unknown.
        """
        self.around: list[Node] = []
        """The nodes around the current offset."""
        self.dangling = False
        """Whether the node that is being read has an IS that refers to nothing."""
        self._num_faults = 0
        for begin in open_strings:
            self._record(self.open_string(begin))
            behind = text.data[begin + 1 : text.data.index('"', begin + 1)].split(
                maxsplit=1
            )[1:]
            self.damage.lines[text.location(begin).line] = "".join(behind)

    def word(self, pos: int) -> re.Match[str]:
        """Return the next name, number or bracket, or an empty match: see `WORD`."""
        found = WORD.match(self.data, pos)
        assert found is not None  # it matches everywhere
        return found

    def skip(self, pos: int) -> int:
        """Return the offset after white space and comments."""
        return self.word(pos).start(1)

    def describe(self, offset: int) -> str:
        """Return in words what is at an offset."""
        string = STRING.match(self.data, offset)
        if string is not None:
            return f'the string "{string[1][:40]}"'
        word = self.word(offset)[1] or self.data[offset : offset + 1]
        if word:
            shown = word[:40]
        else:
            shown = "the end of the file"
        # A full-width bracket is a part of a word, or the word behind it.
        unusual = unusual_character(self.data[offset : offset + len(shown) + 2])
        if unusual:
            return f"{shown}, with the character {unusual}"
        return shown

    def closed(self, opened: int, pos: int, expected: str) -> int:
        """Return the offset after the bracket that closes the one at `opened`.

        Raises FormatError when there is something else.
        """
        word = self.word(pos)
        if word[1] == "]":
            return word.end()
        if word.start(1) == len(self.data):
            raise self.unclosed(opened, "the list")
        self.require_string_end(word.start(1))
        raise self.wrong(
            f"found {self.describe(word.start(1))}, expected {expected} or ]",
            word.start(1),
        )

    def require_string_end(self, offset: int) -> None:
        """Raise FormatError if a string begins at `offset` that has no end."""
        if (
            self.data[offset : offset + 1] == '"'
            and STRING.match(self.data, offset) is None
        ):
            raise self.open_string(offset)

    def error(
        self, rule: Rule, message: str, offset: int, hint: str | None = None
    ) -> FormatError:
        """Return the exception for a rule that is broken at an offset."""
        self.fault_at = offset
        return rule.error(message, self.text.location(offset), hint)

    def wrong(self, message: str, offset: int) -> FormatError:
        """Return the exception for text that does not follow the grammar."""
        self.require_string_end(offset)
        return self.error(
            rules.NOT_CLOSED if offset >= len(self.data) else rules.SYNTAX,
            message,
            offset,
        )

    def unclosed(self, opened: int, what: str) -> FormatError:
        """Return the exception for something that begins at `opened` and has no end."""
        begin = self.text.location(opened)
        message = f"{what} that begins in line {begin.line}, column {begin.column} is not closed"
        return self.error(rules.NOT_CLOSED, message, len(self.data))

    def open_string(self, begin: int) -> FormatError:
        """Return the exception for the string that begins at an offset and has no second quote."""
        line = (self.data[begin + 1 : begin + 200].splitlines() or [""])[0]
        words = line[:40].partition('"')[0].strip()
        hint = 'add the second " at its end; if it is in the last line, the file may be cut off'
        return self.error(
            rules.NOT_CLOSED, f'the string "{words} has no second quote', begin, hint
        )

    def problem(
        self, rule: Rule, message: str, offset: int, hint: str | None = None
    ) -> None:
        """Report a problem, unless it may follow from a fault before it."""
        location = self.text.location(offset)
        if location.line in self.damage.lines:
            return
        is_lost = self.vague or (
            rule is rules.UNKNOWN_IS
            and self.scope.outer is None
            and self._num_faults > 0
        )
        if not (is_lost and rule in _GUESSES):
            self.found.report(rule, message, location, hint=hint)

    def _record(self, error: FormatError) -> None:
        self._num_faults += 1
        self.found.add(error.problem)

    def note_fault(
        self, error: FormatError, at_bracket: bool, in_value: bool = False
    ) -> Balance:
        """Record a fault, and which nodes are incomplete because of it.

        Return the counts of brackets.

        Where all brackets of the text have their partners, a fault in a value concerns
        no more than the part of the model that it is in.

        Raises
        ------
        OpenStringsError
            At the first fault, when strings of the text are not closed.
        FormatError
            Where nothing can be made of the rest.
        """
        if self.balance is None:
            if not self.damage.lines and error.problem.rule not in _FATAL:
                closed, begins = with_quotes(self.data)
                if begins:
                    raise OpenStringsError(self.text.with_data(closed), begins)
            self.balance = Balance(self.data)
        around = self.around
        if in_value and not (
            any(self.balance.excess.values())
            or self.balance.has_open_string
            or self.damage.lines
        ):
            part = max(
                (k for k, node in enumerate(around) if node.type in MODEL_NODES),
                default=0,
            )
            around = around[part:]
        self.damage.offsets.update(node.offset for node in around)
        if self.is_over:
            return self.balance
        line = error.problem.location.line or 0
        before = (
            p for p in self.found.problems[-1:] if (p.location.line or 0) >= line - 1
        )
        self.found.discard([p for p in before if p.rule == rules.NO_DEF_NAME.code])
        if at_bracket and self.shifted:
            # It does not fit because of a fault before it.
            self.shifted -= 1
        elif error.problem.location.line not in self.damage.lines:
            self._record(error)
        if error.problem.rule in _FATAL:
            raise error
        self.is_over = (
            self.fault_at >= len(self.data)
            or self.balance.has_open_string
            or self._num_faults >= MAX_FAULTS
        )
        return self.balance

    def restore(self, state: tuple[int, Scope, int]) -> None:
        """Set depth, scope and the nodes around back to where reading went on before the fault."""
        self.depth = state[0]
        self.scope = state[1]
        del self.around[state[2] :]
        self.dangling = False

    def opening_without_brace(self, pos: int) -> re.Match[str] | None:
        """Return a node of a known type at an offset that lacks its opening brace, if such a brace is missing in the text."""
        balance = self.balance
        if balance is not None and balance.excess["{"] < 0:
            found = _OPENING.match(self.data, pos)
        else:
            found = None
        if balance is None or found is None or self.scope.kind(found[2]) is None:
            return None
        other = self.word(found.end())
        if other[1] in ("[", "]", "}") and balance.is_meant_as(other[1], "{"):
            return _OPENING_OTHER.match(self.data, pos)
        balance.is_missing("{")
        return found

    def skip_to(
        self, pos: int, is_sure: Callable[[str, int], bool], stop: str = ""
    ) -> tuple[str, int, int]:
        """Return the next word where reading can go on, or the next closing bracket, outside of all brackets that open before it."""
        depth = 0
        before = ""
        while True:
            found = _TOKEN.match(self.data, pos)
            assert found is not None  # it matches everywhere
            word = found[1]
            offset = found.start(1)
            pos = found.end()
            if not word:
                self.is_over = True
                return "", offset, pos
            if before == "DEF":
                self.damage.names.add(word)
            elif before in ("PROTO", "EXTERNPROTO"):
                self.scope.kinds.setdefault(word, UNKNOWN)
            before = word
            if word in ("{", "["):
                if word == stop:
                    return word, offset, pos
                depth += 1
            elif word in ("}", "]"):
                if not depth:
                    return word, offset, pos
                depth -= 1
            elif not depth and is_sure(word, offset):
                return word, offset, pos


class Balance:
    """The numbers of opening brackets less closing ones in a whole text.

    Each fault that explains one of them reduces them.

    `has_open_string`: a string in it has no end, so text and strings are mixed up from
    some offset on.
    """

    def __init__(self, data: str) -> None:
        counts: Counter[str] = Counter()
        self.has_open_string = False
        for found in _BRACKET.finditer(data):
            counts[found[0][0]] += 1
            self.has_open_string |= found[0][0] == '"' and found[1] is None
        self.excess = {a: counts[a] - counts[b] for a, b in _OTHER.items()}
        """By bracket, how many more there are than of the one that closes or opens it.
        """

    def is_stray(self, bracket: str) -> bool:
        """Return whether there is one bracket of this kind too many.

        Then it is this one, and not counted any more.
        """
        found = self.excess[bracket] > 0
        if found:
            self._settle(bracket)
        return found

    def is_meant_as(self, bracket: str, meant: str) -> bool:
        """Return whether one of this kind is too many and one of the other kind missing.

        Then it is meant as that, and both are settled.
        """
        required = 2 if meant == _OTHER[bracket] else 1
        if (
            bracket == meant
            or self.excess[bracket] < required
            or self.excess[meant] > -required
        ):
            return False
        self._settle(bracket)
        self._settle(meant, -1)
        return True

    def is_missing(self, bracket: str) -> bool:
        """Return whether one bracket of this kind is missing.

        Then it is missing here, and settled.
        """
        found = self.excess[bracket] < 0
        if found:
            self._settle(bracket, -1)
        return found

    def _settle(self, bracket: str, count: int = 1) -> None:
        self.excess[bracket] -= count
        self.excess[_OTHER[bracket]] += count


def with_quotes(data: str) -> tuple[str, list[int]]:
    """Return a text of the same length whose strings are closed, and the offsets of those that were not.

    A string without its second quote ends with its line, before brackets and a comment
    there, or before the next string; the quote replaces a space or the line's end. In
    the last line nothing is done: the text may be cut off there.
    """
    begins: list[int] = []
    pos = 0
    while (
        len(begins) < MAX_OPEN_STRINGS
        and (begin := _first_open_string(data, pos)) is not None
    ):
        offset = _end_of_open_string(data, begin)
        if offset is None:
            break
        data = f'{data[:offset]}"{data[offset + 1 :]}'
        begins.append(begin)
        pos = offset + 1
    return data, begins


def _first_open_string(data: str, pos: int) -> int | None:
    """Return where the first string begins that seems to have no second quote.

    None where all have one.

    What closes it is then the first quote of another string: it is after a space and
    right before a word.
    """
    for found in STRING_OR_COMMENT.finditer(data, pos):
        if found[0][0] != '"':
            continue
        end = found.end()
        if found[1] is None or (
            data[end - 2] in _BEFORE_STRING and data[end : end + 1] not in _AFTER_STRING
        ):
            return found.start()
    return None


def _end_of_open_string(data: str, begin: int) -> int | None:
    """Return the offset of a space or a line's end that the second quote of a string can replace."""
    line = _LINE_END.search(data, begin)
    assert line is not None  # it matches at the end
    if not data[line.end() :].strip():
        return None
    quote = data.find('"', begin + 1, line.start())
    remark = _REMARK.search(data, begin, line.start())
    if quote >= 0 and (remark is None or quote < remark.start()):
        # The next string of a list, or, before it, the name of the next field.
        ends = _NEXT_STRING
        stop = quote
    else:
        ends = _AFTER
        if remark is None:
            stop = line.start()
        else:
            stop = remark.start()
    after = ends.search(data, begin + 1, stop)
    assert after is not None  # it matches at the end
    space = next((k for k in range(after.start(), stop) if data[k].isspace()), stop)
    return space if data[space].isspace() else None
