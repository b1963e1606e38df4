"""A parser that goes on after a fault: it notes it, and looks for the next place where the grammar is sure to be met again.

    in a node     the next name of one of its fields, or the brace that closes it
    in a list     the next node, or the bracket that closes it
    outside       the next node or statement

What stands in brackets between the fault and that place is passed over as a whole. A bracket that does not fit is one too many, or
stands for another, or another is missing before it: that is told by the count of all brackets of the text (`Balance`). So one fault
gives one problem, as a rule, and what follows from it none: names that stood in what was passed over may be used, and `Damage` says
which nodes are not whole. Strings without their second quote are given one before all that (`with_quotes`), and nothing more is said of
their lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from bodymotion.diagnostics import FormatError, Location, Problem, Rule
from bodymotion.formats.faults import Faults
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.brackets import Balance
from bodymotion.formats.vrml.lexis import DECLARATION, NAME, NODE, OPEN, SPACE, STRING
from bodymotion.formats.vrml.nodes import FieldDeclaration, Node, Proto, Scene, Value
from bodymotion.formats.vrml.parser import INTERFACE, STATEMENTS, Parser
from bodymotion.formats.vrml.quotes import with_quotes
from bodymotion.formats.vrml.scopes import UNKNOWN, Scope
from bodymotion.formats.vrml.specs import STANDARD_NODES, standard_fields
from bodymotion.formats.vrml.text import Text
from bodymotion.formats.vrml.values import Reader

__all__ = ["Damage", "RecoveringParser"]

_TOKEN = re.compile(
    rf'{SPACE.pattern}({STRING.pattern.removeprefix(SPACE.pattern)}|{NAME.pattern.removeprefix(SPACE.pattern)}|[\[\]{{}}"]|)',
    re.DOTALL,
)
_OPENING = re.compile(NODE.pattern.removesuffix(SPACE.pattern + r"\{"))
"""A node without its opening brace."""
_OPENING_OTHER = re.compile(NODE.pattern.removesuffix(r"\{") + r"[\[\]}]")
"""And one with another bracket in its place."""
_BRACKETS = ("{", "}", "[", "]")

_LAST = (rules.TOO_DEEP.code, rules.NOT_VRML97.code)
_FIELDS = frozenset(name for node_type in STANDARD_NODES for name in standard_fields(node_type))


_GUESSES = (rules.UNKNOWN_NODE, rules.UNKNOWN_FIELD, rules.UNKNOWN_IS)


@dataclass
class Damage:
    """What faults have left incomplete: the places of nodes and of fields without value, and the names of nodes that were passed over."""

    places: set[Location] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    lines: set[int | None] = field(default_factory=set)
    """The lines with strings that were not closed: where they end can only be guessed."""

    def touches(self, problem: Problem) -> bool:
        """Whether a problem is where something is incomplete."""
        return problem.location in self.places or problem.location.line in self.lines


class RecoveringParser(Parser):
    """A parser whose `problems` are all faults of the text with all that is odd in it."""

    def __init__(self, text: Text, known_protos: Mapping[str, Proto]) -> None:
        super().__init__(text, known_protos)
        self.faults = Faults()
        self.damage = Damage()
        closed, begins = with_quotes(self.data)
        for begin in begins:
            self.faults.fault(self.half_quoted(begin))
            self.damage.lines.add(text.location(begin).line)
        if begins:
            self.text, self.data = text.with_data(closed), closed
        self.problems = self.result.problems = self.faults
        self.balance = Balance(self.data)
        self.over = False
        """Whether the end of the text was met before its time, or what is left of it means nothing."""
        self.shifted = 0
        """How many faults may still show themselves a second time, by a bracket that does not fit."""
        self.vague = False
        """Whether a prototype could not be read as a whole: what its fields are, and which types there are, is not known then."""
        self._around: list[Node] = []

    def scene(self) -> Scene:
        """Parse the whole text; where that ends too early, the error has all faults before it."""
        try:
            return super().scene()
        except FormatError as error:
            raise FormatError(error.problem, self.faults.told()) from error

    def cause_of(self, error: FormatError) -> FormatError:
        """Return the fault itself: strings have their quotes here."""
        return error

    def problem(self, rule: Rule, message: str, place: int, hint: str | None = None) -> None:
        """Note a problem, unless it may come from a fault before it."""
        if self.text.location(place).line in self.damage.lines:
            return
        lost = self.vague or (rule is rules.UNKNOWN_IS and self.scope.outer is None and self.faults.any)
        if not (lost and rule in _GUESSES):
            super().problem(rule, message, place, hint)

    # ---- constructs that are gone on with

    def statements(self, pos: int, opened: int | None) -> tuple[list[Node], int]:
        """Read statements as `Parser` does, past all faults."""

        def goes_on(word: str, place: int) -> bool:
            return word in STATEMENTS or word in ("USE", "DEF") or NODE.match(self.data, place) is not None

        return self._nodes(pos, lambda pos: self.stated(pos, opened), goes_on, "}" if opened is not None else "")

    def node_list(self, pos: int) -> tuple[Value, int]:
        """Read nodes as `Parser` does, past all faults in a list."""
        opened = OPEN.match(self.data, pos)
        if opened is None:
            return super().node_list(pos)
        place = opened.end() - 1

        def goes_on(word: str, place: int) -> bool:
            return word in STATEMENTS or word in ("USE", "DEF", "NULL") or NODE.match(self.data, place) is not None

        nodes, pos = self._nodes(opened.end(), lambda pos: self.listed(pos, place), goes_on, "]")
        return list(nodes), pos

    def _nodes(
        self,
        pos: int,
        read: Callable[[int], tuple[Value, int, bool]],
        goes_on: Callable[[str, int], bool],
        closing: str,
    ) -> tuple[list[Node], int]:
        nodes: list[Node] = []
        state = self.depth, self.scope, len(self._around)
        while True:
            start = pos
            try:
                found = NODE.match(self.data, pos)
                if found is not None:
                    node, pos = self.node(found)
                    nodes.append(node)
                    continue
                value, pos, ended = read(pos)
            except FormatError as error:
                self._restore(state)
                value, pos, ended = self._after_item(error, start, goes_on, closing)
            if isinstance(value, Node):
                nodes.append(value)
            elif ended:
                return nodes, pos

    def _after_item(
        self, error: FormatError, start: int, goes_on: Callable[[str, int], bool], closing: str
    ) -> tuple[Value, int, bool]:
        """Note a fault in a list of nodes or among statements, and find where it goes on."""
        begin = self.word(start)
        pos = max(self.fault_at, begin.start(1))
        at_bracket = self.data[pos : pos + 1] in ("]", "}")
        self._note(error, at_bracket)
        if begin[1] in STATEMENTS:
            self.vague = True
        if not self.over and (opening := self._without_brace(pos)) is not None:
            return *self.node(opening), False
        if not at_bracket and (self.balance.braces or self.balance.brackets):
            self.shifted += 1
        if (bracket := self.data[pos : pos + 1]) in ("{", "["):
            if closing and self.balance.stands_for(bracket, closing):
                return None, pos + 1, True
            pos += self.balance.is_stray(bracket)
        while not self.over:
            word, place, end = self._pass_over(pos, goes_on)
            if word == closing and word:
                return None, end, True
            if word == "}" and closing == "]":
                if self.balance.stands_for("}", "]"):
                    return None, end, True
                if not self.balance.is_stray("}"):
                    self.balance.is_missing("]")
                    return None, place, True
            elif word in ("]", "}"):
                self.balance.is_stray(word)
            elif word:
                return None, place, False
            pos = end
        return None, len(self.data), True

    def fields(self, node: Node, readers: dict[str, Reader], pos: int) -> int:
        """Read the fields of a node as `Parser` does, past all faults in them."""
        opened = pos - 1
        self._around.append(node)
        state = self.depth, self.scope, len(self._around)
        ended = False
        while not ended:
            start = pos
            try:
                pos, ended = self._field(node, readers, pos, opened)
            except FormatError as error:
                self._restore(state)
                pos, ended = self._after_field(error, node, readers, start)
        self._around.pop()
        return pos

    def _field(self, node: Node, readers: Mapping[str, Reader], pos: int, opened: int) -> tuple[int, bool]:
        found = self.word(pos)
        word, pos = found[1], found.end()
        read = readers.get(word)
        if read is None:
            return (pos, True) if word == "}" else (self.odd_field(node, found, opened), False)
        if word in node.fields:
            self.problem(rules.REPEATED_FIELD, f"{word} is given twice", found.start(1))
        node.places[word] = found.start(1)
        node.fields[word], pos = self.node_list(pos) if read is Parser.node_list else read(self, pos)
        return pos, False

    def _after_field(
        self, error: FormatError, node: Node, readers: Mapping[str, Reader], start: int
    ) -> tuple[int, bool]:
        """Note a fault in a node, and find where it goes on; say also whether the node ends there."""
        begin = self.word(start)
        of_field = begin[1] not in ("", "[", "]", "{", "}") and self.fault_at > begin.start(1)
        place = begin.start(1)
        pos = max(self.fault_at, begin.end() if of_field else place)
        at_bracket = self.data[pos : pos + 1] in ("]", "}")
        if of_field:
            unknown = rules.UNKNOWN_FIELD.code, self.text.location(place)
            if self.problems and (self.problems[-1].rule, self.problems[-1].location) == unknown:
                self.problems.pop()
            node.fields.pop(begin[1], None)
            self.damage.places.add(self.text.location(place))
        self._note(error, at_bracket and not of_field)
        value = self.skip(begin.end()) if of_field else place
        if of_field and not self.over and (opening := self._without_brace(pos)) is not None:
            node.places[begin[1]] = place
            node.fields[begin[1]], pos = self.node(opening)
            return pos, False
        names: Collection[str] = readers if readers else _FIELDS
        if node.type != "Script" and DECLARATION.match(self.data, start) is not None:
            # It is the interface of a prototype, which has lost its beginning.
            self.vague, names = True, ()
        in_list = of_field and value < pos and self.data[value : value + 1] == "["
        if not self.over and (bracket := self.data[pos : pos + 1]) in _BRACKETS:
            if of_field and pos == value and self.balance.stands_for(bracket, "["):
                in_list, pos = True, pos + 1
            elif bracket in "[{":
                if in_list and self.balance.stands_for(bracket, "]"):
                    in_list, pos = False, pos + 1
                elif not of_field and self.balance.stands_for(bracket, "}"):
                    return pos + 1, True
                elif pos > value or not of_field:
                    pos += self.balance.is_stray(bracket)
            elif bracket == "}" and of_field and not in_list:
                pos += self.balance.is_stray("}")
        while not self.over:
            word, place, end = self._pass_over(pos, lambda word, _: word in names or word in STATEMENTS)
            if word == "}":
                if not in_list:
                    return end, True
                if self.balance.stands_for("}", "]"):
                    in_list = False
                elif not self.balance.is_stray("}"):
                    self.balance.is_missing("]")
                    return end, True
            elif word == "]":
                if in_list:
                    in_list = False
                elif self.balance.stands_for("]", "}"):
                    return end, True
                elif not self.balance.is_stray("]") and len(self._around) > 1:
                    self.balance.is_missing("}")
                    return place, True
            elif word:
                if in_list:
                    self.balance.is_missing("]")
                return place, False
            pos = end
        return len(self.data), True

    def declarations(self, pos: int, defaults: bool) -> tuple[dict[str, FieldDeclaration], int]:
        """Read the interface of a prototype as `Parser` does, past all faults in it."""
        opened = pos - 1
        fields: dict[str, FieldDeclaration] = {}
        state = self.depth, self.scope, len(self._around)
        while True:
            start = pos
            found = DECLARATION.match(self.data, pos)
            try:
                if found is None:
                    return fields, self.closed(opened, pos, INTERFACE)
                pos = self.declaration(found, defaults, fields)
            except FormatError as error:
                self._restore(state)
                pos, ended = self._after_declaration(
                    error, found.end() if found is not None else start, found is not None
                )
                if ended:
                    return fields, pos

    def _after_declaration(self, error: FormatError, start: int, of_value: bool) -> tuple[int, bool]:
        self._note(error, False)
        self.vague = True
        value = self.skip(start)
        pos = max(self.fault_at, value)
        in_list = of_value and value < pos and self.data[value : value + 1] == "["
        while not self.over:
            word, place, end = self._pass_over(
                pos, lambda _, place: DECLARATION.match(self.data, place) is not None, "{"
            )
            if word == "]":
                if not in_list:
                    return end, True
                in_list = False
            elif word == "{" and not self.balance.is_stray("{"):
                self.balance.is_missing("]")
                return place, True
            elif word and word not in "{}":
                return place, False
            pos = end
        return len(self.data), True

    def use(self, pos: int) -> tuple[Node | None, int]:
        """Read the name after USE; a node of that name may have been passed over."""
        found = NAME.match(self.data, pos)
        if found is not None and found[1] not in self.scope.nodes and found[1] in self.damage.names:
            return None, found.end()
        return super().use(pos)

    # ---- going on

    def _note(self, error: FormatError, at_bracket: bool) -> None:
        """Note a fault, and which nodes are not whole because of it.

        Raises
        ------
        FormatError
            Where nothing can be made of what follows.
        """
        for node in self._around:
            self.damage.places.add(node.location)
        if self.over:
            return
        if self.problems and self.problems[-1].rule == rules.NO_DEF_NAME.code:
            self.problems.pop()
        if at_bracket and self.shifted:
            # It stands where it does not fit because of a fault before it.
            self.shifted -= 1
        elif error.problem.location.line not in self.damage.lines:
            self.faults.fault(error)
        if error.problem.rule in _LAST:
            raise error
        self.over = self.fault_at >= len(self.data) or self.balance.open_string

    def _restore(self, state: tuple[int, Scope, int]) -> None:
        self.depth, self.scope = state[0], state[1]
        del self._around[state[2] :]
        self.dangling = False

    def _without_brace(self, pos: int) -> re.Match[str] | None:
        """Return a node of a known type that stands at a place without its opening brace, if such a brace is missing in the text."""
        found = _OPENING.match(self.data, pos) if self.balance.braces < 0 else None
        if found is None or self.scope.kind(found[2]) is None:
            return None
        other = self.word(found.end())
        if other[1] in ("[", "]", "}") and self.balance.stands_for(other[1], "{"):
            return _OPENING_OTHER.match(self.data, pos)
        self.balance.is_missing("{")
        return found

    def _pass_over(self, pos: int, goes_on: Callable[[str, int], bool], stop: str = "") -> tuple[str, int, int]:
        """Return the next word where it goes on, or the next closing bracket, outside of all brackets that open on the way."""
        depth, before = 0, ""
        while True:
            found = _TOKEN.match(self.data, pos)
            assert found is not None  # it matches everywhere
            word, place, pos = found[1], found.start(1), found.end()
            if not word:
                self.over = True
                return "", place, pos
            if before == "DEF":
                self.damage.names.add(word)
            elif before in ("PROTO", "EXTERNPROTO"):
                self.scope.kinds.setdefault(word, UNKNOWN)
            before = word
            if word in ("{", "["):
                if word == stop:
                    return word, place, pos
                depth += 1
            elif word in ("}", "]"):
                if not depth:
                    return word, place, pos
                depth -= 1
            elif not depth and goes_on(word, place):
                return word, place, pos
