"""The grammar of VRML97 (ISO/IEC 14772-1, annex A), from the text to a `Scene`.

    scene        header? statement*
    statement    node | PROTO | EXTERNPROTO | ROUTE
    node         [DEF name] type { (field value | PROTO | EXTERNPROTO | ROUTE)* }
                 | USE name
    PROTO        PROTO name [ (access type name default)* ] { statement+ }
    EXTERNPROTO  EXTERNPROTO name [ (access type name)* ] urls
    ROUTE        ROUTE name.event TO name.event
    value        of the field's declared type (values.py), or IS name in the body of a
                 prototype

Commas and comments are white space. A prototype is known from its end on, in the rest
of its file or of the prototype around it; names of nodes likewise, but not inside of
other prototypes.

The first fault of the grammar ends the reading. A value that is written correctly but
is wrong, such as 1.5 for an integer, is reported, and its field has no value.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.diagnostics.spelling import meant
from bodymotion.formats.limits import ITEMS_BETWEEN_CLOCKS, check_time
from bodymotion.formats.resources import PART_MISSING
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.text import Text
from bodymotion.formats.vrml import rules, values
from bodymotion.formats.vrml.fields import (
    STANDARD_NODES,
    FieldDeclaration,
    standard_fields,
)
from bodymotion.formats.vrml.nodes import (
    NOTHING,
    IsReference,
    Node,
    Proto,
    RefusedValues,
    Route,
    Scene,
    Value,
)
from bodymotion.formats.vrml.scanner import Scanner
from bodymotion.formats.vrml.values import (
    MODEL_NODES,
    OUTSIDE_PROTOTYPES,
    UNKNOWN,
    Kind,
    Scope,
    kind_of,
    reader_of,
)

MAX_DEPTH = 256
"""Nodes, prototypes and lists inside of each other."""
MAX_CALLS = 10 * MAX_DEPTH
"""Nested Python calls for that.

Up to eight for each level, and one more to look up a name in all prototypes around.
"""
MAX_SIZE = 1_000_000
"""Nodes of a scene with every USE and every prototype expanded."""
MAX_HINTS = 200
"""Words of a file that are compared with the known words, and such known words.

A generated file may have thousands of both, and each pair takes time.
"""
MAX_HINT_NUMBERS = 9
"""Numbers of a default that a hint shows: a matrix, but no list of points."""
CHARACTERS_BEFORE = 80
"""Characters before a fault that are searched for a decimal comma."""

STATEMENTS = ("PROTO", "EXTERNPROTO", "ROUTE")
_HEADER = re.compile(r"#[ \t]*VRML[ \t]+V([0-9][0-9.]*)[^\r\n]*")
_OTHER_LANGUAGE = re.compile(r"\s*#\s*(X3D|Inventor)\b")
_NUMBER_LIKE = re.compile(r"[+-]?\.?[0-9]")
_DECIMAL_COMMA = re.compile(r"\b[0-9]++,(?:[0-9]++[-+.,0-9eE \t]*)?\Z")
_EVENT_AFFIX = re.compile(r"^set_|_changed$")
_WRONG_VALUES = (rules.WRONG_VALUE.code, rules.WRONG_COUNT.code)


class _Meant(NamedTuple):
    """The type of node that is probably meant by a misspelt one."""

    name: str
    question: str
    """The end of the hint: where its prototype is, which may be the misspelt one."""


class Parser(Scanner):
    """One pass over one text.

    Methods take an offset in it and return what is there, and the offset after that.

    Parameters
    ----------
    text:
        The text.
    found:
        Collects the problems.
    """

    def __init__(self, text: Text, found: Diagnostics) -> None:
        super().__init__(text, found)
        self.scope = Scope({}, [])
        self.depth = 0
        self.size = 0
        self.refused = RefusedValues(text)
        self.around: list[Node] = []
        """The nodes around the current offset."""
        self.dangling = False
        """Whether the node that is being read has an IS that refers to nothing."""
        self._num_nodes = 0
        self._meant: dict[str, _Meant | None] = {}
        """By each type of node that is not declared, the one that may be meant."""
        self._num_field_hints = 0

    def scene(self) -> Scene:
        """Parse the whole text.

        Raises
        ------
        FormatError
            At the first fault of the grammar, or when the text is in another language,
            or its nodes are nested too deep.
        """
        header = self._read_header()
        encoding = self.text.encoding
        if encoding not in ("ascii", "utf-8"):
            message = f"the text is not UTF-8; it is read as {encoding}"
            self.problem(rules.ENCODING, message, 0)
        try:
            nodes, _ = self._nodes(0, None, "")
        except FormatError as error:
            raise self.locate_fault(error) from None
        # `kinds` also caches the standard nodes that were looked up, and types of outer
        # scopes. Only the prototypes that this text declares belong to the scene.
        protos: dict[str, Proto] = {}
        for name, kind in self.scope.kinds.items():
            if kind.proto and kind.proto.text is self.text:
                protos[name] = kind.proto
        if not nodes and not protos:
            self.problem(rules.EMPTY, "the file has no node", 0)
        return Scene(
            nodes,
            protos,
            self.scope.routes,
            self.text.path,
            encoding,
            header,
            size=self.size,
            refused=self.refused,
        )

    def _read_header(self) -> str:
        """Return the header line, among the comments at the start.

        "" where it is missing, as in most parts of models.
        """
        # `skip(0)` is the offset of the first word: the header may be below other
        # comments.
        header = _HEADER.search(self.data, 0, self.skip(0))
        if header is None:
            other = _OTHER_LANGUAGE.match(self.data)
            if other is not None:
                raise self.error(rules.NOT_VRML97, f"this is {other[1]}", 0)
            self.problem(rules.HEADER, "the header is missing", 0)
            return ""
        start = header.start()
        # The pattern takes every version, so that VRML 1.0 gets an error of its own.
        if not header[1].startswith("2"):
            version = header[1].rstrip(".")
            raise self.error(rules.NOT_VRML97, f"this is VRML {version}", start)
        if start > 0 or not header[0].startswith("#VRML V2.0 utf8"):
            message = (
                f"the header {header[0][:40]!r} is not in the first line, "
                "or not written as #VRML V2.0 utf8"
            )
            self.problem(rules.HEADER, message, start)
        return header[0].rstrip()

    # ---- lists of nodes and statements

    def _nodes(
        self, pos: int, opened: int | None, closing: str
    ) -> tuple[list[Node], int]:
        """Read nodes and statements up to the bracket `closing` of the one at `opened`.

        Up to the end of the text where that is None.
        """
        nodes: list[Node] = []
        data = self.data
        match = values.NODE.match
        # Almost every item is a plain node: one match decides that, before anything
        # slower.
        while True:
            opening = match(data, pos)
            if opening is not None:
                node, pos = self.node(opening)
                nodes.append(node)
                continue
            word = self.word(pos)
            if word[1] and word[1] == closing:
                return nodes, word.end()
            if opened is None and self.is_at_end(word):
                # Only the scene itself, which no bracket opens, may end with the text.
                return nodes, pos
            value, pos = self._other_item(word, opened, closing)
            if isinstance(value, Node):
                nodes.append(value)

    def _other_item(
        self, word: re.Match[str], opened: int | None, closing: str
    ) -> tuple[Value, int]:
        """Read what is no plain node, in a list or among statements."""
        kind = word[1]
        if kind in STATEMENTS:
            return None, self.statement(kind, word.end())
        is_list = closing == "]"
        if kind in ("USE", "DEF") or (kind == "NULL" and is_list):
            return self.node_or_null(word.start())
        if opened is not None and self.is_at_end(word):
            title = "the list of nodes" if is_list else "the prototype"
            raise self.unclosed(opened, title)
        offset = word.start(1)
        # At the top level or in a prototype's body, a bracket of the other kind closes
        # nothing.
        if kind in ("]", "}") and not is_list:
            message = f"{kind} closes nothing"
            raise self.error(rules.SYNTAX, message, offset, "remove it")
        expected = "a node or ]" if is_list else "a node"
        message = f"found {self.describe(offset)}, expected {expected}"
        raise self.wrong(message, offset)

    def statement(self, kind: str, pos: int) -> int:
        """Read a statement; `pos` is the offset after its first word."""
        if kind == "PROTO":
            return self._proto(pos)
        if kind == "EXTERNPROTO":
            return self._extern_proto(pos)
        route = values.ROUTE.match(self.data, pos)
        if route is None:
            raise self.wrong("expected ROUTE name.event TO name.event", self.skip(pos))
        # A node's name has no point, but names in models do: the last one is the
        # separator.
        from_node, _, from_event = route[1].rpartition(".")
        to_node, _, to_event = route[2].rpartition(".")
        self.scope.routes.append(Route(from_node, from_event, to_node, to_event))
        return route.end()

    # ---- prototypes

    def _proto(self, pos: int) -> int:
        """Read a prototype, and declare its type in the scope."""
        name, offset, pos = self._proto_name(pos)
        self._go_deeper(offset)
        fields, pos = self.declarations(pos, defaults=True)
        word = self.word(pos)
        opened = word.start(1)
        if word[1] != "{":
            message = (
                f"found {self.describe(opened)}, "
                f"expected {{ and the body of PROTO {name}"
            )
            raise self.wrong(message, opened)
        proto = Proto(name, fields, text=self.text, offset=offset)
        outer = self.scope
        size_before = self.size
        # The body sees only its own DEF names and the prototypes around it. Those
        # inside it end with it, so a new scope takes the place of this one meanwhile.
        self.scope = Scope({}, proto.routes, interface=fields, outer=outer)
        proto.body, pos = self._nodes(word.end(), opened, "}")
        self.depth -= 1
        # Nodes of the body count where the prototype is used, once for each instance.
        outer.kinds[name] = kind_of(proto, self.size - size_before)
        self.scope = outer
        self.size = size_before
        return pos

    def _extern_proto(self, pos: int) -> int:
        name, offset, pos = self._proto_name(pos)
        fields, pos = self.declarations(pos, defaults=False)
        urls, pos = values.READERS["MFString"](self, pos)
        if not isinstance(urls, list):
            raise self.wrong("expected the urls of the EXTERNPROTO", self.skip(pos))
        if not urls:
            self.problem(PART_MISSING, f"EXTERNPROTO {name} has no url", offset)
        texts = tuple(map(str, urls))
        proto = Proto(name, fields, urls=texts, text=self.text, offset=offset)
        # The size of its body is not known before its file is read.
        self.scope.kinds[name] = kind_of(proto, 1)
        return pos

    def _proto_name(self, pos: int) -> tuple[str, int, int]:
        """Return a prototype's name, its offset, and the one after the bracket."""
        name = values.NAME.match(self.data, pos)
        opened = None
        if name is not None:
            opened = values.OPEN.match(self.data, name.end())
        if name is None or opened is None:
            raise self.wrong("expected PROTO name [", self.skip(pos))
        return name[1], name.start(1), opened.end()

    def declarations(
        self, pos: int, defaults: bool
    ) -> tuple[dict[str, FieldDeclaration], int]:
        """Read the interface of a prototype.

        With `defaults`, its fields have default values.
        """
        # `_proto_name` returns the offset behind the bracket.
        opened = pos - 1
        fields: dict[str, FieldDeclaration] = {}
        while True:
            declared = values.DECLARATION.match(self.data, pos)
            if declared is None:
                expected = "field, exposedField, eventIn or eventOut with type and name"
                return fields, self.closed(opened, pos, expected)
            pos = self._declaration(declared, defaults, fields)

    def _declaration(
        self,
        declared: re.Match[str],
        defaults: bool,
        fields: dict[str, FieldDeclaration],
    ) -> int:
        """Read one field or event of an interface into `fields`."""
        access, field_type, name = declared.groups()
        pos = declared.end()
        self._check_type(declared)
        value: Value = None
        if defaults and access in ("field", "exposedField"):
            # Defaults are values of the declared type; an event has none.
            offset = declared.start(3)
            value, pos = self._value(reader_of(field_type), pos, offset)
            # IS has no meaning in an interface: there is nothing outside to refer to.
            if isinstance(value, IsReference):
                if not self.dangling:
                    message = f"the default of {name[:80]} is IS"
                    self.problem(rules.UNKNOWN_IS, message, offset)
                value = None
                self.dangling = False
        fields[name] = FieldDeclaration(access, field_type, name, value)
        return pos

    def _check_type(self, declared: re.Match[str]) -> None:
        if declared[2] not in values.READERS:
            message = f"the type {declared[2][:80]} does not exist"
            self.problem(rules.UNKNOWN_TYPE, message, declared.start(2))

    # ---- nodes

    def node_or_null(self, pos: int) -> tuple[Value, int]:
        """Read a node, USE, NULL or IS."""
        opening = values.NODE.match(self.data, pos)
        if opening is not None:
            return self.node(opening)
        word = self.word(pos)
        offset = word.start(1)
        match word[1]:
            case "NULL":
                return None, word.end()
            case "USE":
                return self.use(word.end())
            case "DEF":
                return self._nameless(offset, word.end())
        reference = values.IS.match(self.data, pos)
        if reference is not None:
            return self.is_reference(reference)
        if word[1] != "[":
            message = f"found {self.describe(offset)}, expected a node"
            raise self.wrong(message, offset)
        # One node in brackets in place of a node: the first of them is meant.
        self.problem(rules.IRREGULAR_VALUE, "brackets around an SFNode", offset)
        self._go_deeper(offset)
        nodes, pos = self.node_list(pos)
        self.depth -= 1
        if isinstance(nodes, list) and nodes:
            return nodes[0], pos
        return None, pos

    def node_list(self, pos: int) -> tuple[Value, int]:
        """Read nodes in brackets, or one without, or IS."""
        opened = values.OPEN.match(self.data, pos)
        if opened is not None:
            return self._nodes(opened.end(), opened.end() - 1, "]")
        value, pos = self.node_or_null(pos)
        if isinstance(value, IsReference):
            return value, pos
        if isinstance(value, Node):
            return [value], pos
        return [], pos

    def use(self, pos: int) -> tuple[Node | None, int]:
        """Read the name after USE; return its node."""
        name = values.NAME.match(self.data, pos)
        if name is None:
            raise self.wrong("USE needs a name", self.skip(pos))
        # A USE counts as its node with all contents: USE inside USE grows
        # exponentially, and the limit must hold for the expanded scene.
        node, size = self.scope.nodes.get(name[1], (None, 0))
        if node is None:
            message = f"no node before this has the name {name[1][:80]}"
            self.problem(rules.UNDEFINED_USE, message, name.start(1))
        self.size += size
        return node, name.end()

    def _nameless(self, offset: int, pos: int) -> tuple[Value, int]:
        """Read what follows a DEF without a name, as in `DEF Transform {`."""
        self.problem(rules.NO_DEF_NAME, "DEF has no name, or no node", offset)
        self._go_deeper(offset)
        value, pos = self.node_or_null(pos)
        self.depth -= 1
        return value, pos

    def _go_deeper(self, offset: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"nodes are nested more than {MAX_DEPTH} deep"
            raise self.error(TOO_LARGE, message, offset)

    def node(self, opening: re.Match[str]) -> tuple[Node, int]:
        """Read a node whose beginning, up to its opening brace, was matched."""
        name, node_type = opening.groups()
        offset = opening.start(2)
        self._go_deeper(offset)
        self._num_nodes += 1
        # A look at the clock takes longer than a small node; so it is not at each one.
        if self._num_nodes % ITEMS_BETWEEN_CLOCKS == 0:
            check_time(self.text.location(offset))
        size_before = self.size
        kind = self.scope.kind(node_type)
        if kind is None:
            node_type, kind = self._undeclared(node_type, offset)
        self.size += kind.size
        if self.size > MAX_SIZE:
            message = f"more than {MAX_SIZE} nodes with all USE and prototypes expanded"
            raise self.error(TOO_LARGE, message, offset)
        # `NOTHING` is shared and cannot be written to: declarations are rare.
        node = Node(
            node_type, name or "", {}, kind.proto, self.text, offset, {}, NOTHING
        )
        pos = self.fields(node, kind.readers, opening.end())
        # A million empty nodes would each hold two empty dictionaries.
        if not node.fields and not node.offsets:
            node.fields = NOTHING
            node.offsets = NOTHING
        self.depth -= 1
        if self.dangling:
            self._remove_dangling(node)
        # The name is defined behind its node: USE inside of it would make a cycle.
        if name:
            self.scope.nodes[name] = node, self.size - size_before
        return node, pos

    def _remove_dangling(self, node: Node) -> None:
        """Remove the fields whose IS refers to nothing: they have defaults."""
        interface = self.scope.interface
        for name, value in list(node.fields.items()):
            if isinstance(value, IsReference) and value.name not in interface:
                del node.fields[name]
        self.dangling = False

    # ---- fields

    def fields(self, node: Node, readers: dict[str, values.Reader], pos: int) -> int:
        """Read the fields of a node, and the brace that closes it.

        Return the offset after it; `pos` is the one after the opening brace.
        """
        opened = pos - 1
        fields = node.fields
        offsets = node.offsets
        data = self.data
        match = values.WORD.match
        self.around.append(node)
        while True:
            found = match(data, pos)
            assert found is not None  # it matches everywhere
            word = found[1]
            pos = found.end()
            read = readers.get(word)
            if read is not None:
                offset = found.start(1)
                if word in fields:
                    message = f"{word} is given twice"
                    self.problem(rules.REPEATED_FIELD, message, offset)
                offsets[word] = offset
                # As `_value`, without its call: most of a file is such fields.
                try:
                    fields[word], pos = read(self, pos)
                except FormatError as error:
                    pos = self._after_wrong_value(error, pos, offset)
                    fields.pop(word, None)
            elif word == "}":
                self.around.pop()
                return pos
            else:
                pos = self._other_field(node, found, opened)

    def _value(self, read: values.Reader, pos: int, offset: int) -> tuple[Value, int]:
        """Read the value of the field at `offset`; None for a wrong one."""
        try:
            return read(self, pos)
        except FormatError as error:
            return None, self._after_wrong_value(error, pos, offset)

    def _after_wrong_value(self, error: FormatError, pos: int, offset: int) -> int:
        """Report a wrong value, and return the offset after it.

        Parameters
        ----------
        error:
            The error; one of the grammar is raised again.
        pos, offset:
            The offsets of the value, and of the name of its field.
        """
        if error.problem.rule not in _WRONG_VALUES:
            raise error
        self.found.add(error.problem)
        # It concerns no more than the part of the model that it is in.
        part = 0
        for level, node in enumerate(self.around):
            # The innermost node of a model around the value: a wrong value in a Segment
            # leaves the other Segments usable.
            if node.type in MODEL_NODES:
                part = level
        self.refused.offsets.add(offset)
        self.refused.offsets.update(node.offset for node in self.around[part:])

        # Go on behind the value: a list ends at its bracket, other values with their
        # numbers.
        opened = values.OPEN.match(self.data, pos)
        if opened is not None:
            inside = values.TO_BRACKET.match(self.data, opened.end())
            assert inside is not None  # it matches everywhere
            return min(inside.end() + 1, len(self.data))
        while (number := values.LOOSE_NUMBER.match(self.data, pos)) is not None:
            pos = number.end()
        return pos

    def _other_field(self, node: Node, found: re.Match[str], opened: int) -> int:
        """Read what is no field that the node's type has.

        A statement, a declaration in a Script, or a field that is not declared.
        """
        word = found[1]
        if word in STATEMENTS:
            return self.statement(word, found.end())
        # A Script declares its fields between their values (ISO/IEC 14772-1, 6.40).
        if node.type == "Script":
            declared = values.DECLARATION.match(self.data, found.start())
            if declared is not None:
                return self._script_field(node, declared)
        # Numbers or brackets here mean that the value before them was too long or
        # unclosed.
        if not word or word in ("[", "]", "{") or _NUMBER_LIKE.match(word):
            raise self._no_field(node, found.start(1), opened)
        return self._undeclared_field(node, found)

    def _no_field(self, node: Node, offset: int, opened: int) -> FormatError:
        """Return the exception for something in a node that is no field."""
        if offset == len(self.data):
            return self.unclosed(opened, f"the node {node.type}")
        last = next(reversed(node.fields), "")
        after = f" after {last}" if last else ""
        message = (
            f"node {node.type}: found {self.describe(offset)}{after}, "
            "expected a field or }"
        )
        # `0,5` for one number is 0 and then 5: the second is found where a field should
        # be.
        before = max(0, offset - CHARACTERS_BEFORE)
        if _DECIMAL_COMMA.search(self.data, before, offset):
            message += "; is there a decimal comma before it?"
        return self.wrong(message, offset)

    def _undeclared_field(self, node: Node, found: re.Match[str]) -> int:
        """Read a field that the node's type does not declare."""
        word = found[1]
        offset = found.start(1)
        has_declarations = node.type in STANDARD_NODES or node.proto is not None
        if has_declarations and (node.type, word) not in OUTSIDE_PROTOTYPES:
            # `set_translation IS moved`: events of an exposedField are declared with
            # it.
            is_event = (
                values.IS.match(self.data, found.end()) is not None
                and _EVENT_AFFIX.sub("", word) != word
            )
            if not is_event:
                message = f"{node.type[:80]} has no field {word[:80]}"
                hint = self._field_hint(word, node, offset)
                self.problem(rules.UNKNOWN_FIELD, message, offset, hint)
        if word in node.fields:
            message = f"{word[:80]} is given twice"
            self.problem(rules.REPEATED_FIELD, message, offset)
        node.offsets[word] = offset
        value, pos = self._value(values.guessed_value, found.end(), offset)
        node.fields[word] = value
        return pos

    def _script_field(self, node: Node, declared: re.Match[str]) -> int:
        """Read a field or event that a Script declares."""
        access, field_type, name = declared.groups()
        pos = declared.end()
        self._check_type(declared)
        value: Value = None
        # An event of the Script: it may be connected, but has no value.
        if access in ("field", "exposedField"):
            offset = declared.start(3)
            value, pos = self._value(reader_of(field_type), pos, offset)
            node.fields[name] = value
            node.offsets[name] = offset
        else:
            reference = values.IS.match(self.data, pos)
            if reference is not None:
                node.fields[name], pos = self.is_reference(reference)
        # Nodes share an empty mapping that cannot be written to.
        if not node.declarations:
            node.declarations = {}
        node.declarations[name] = FieldDeclaration(access, field_type, name, value)
        return pos

    def is_reference(self, reference: re.Match[str]) -> tuple[IsReference, int]:
        """Return the value `IS name`, and the offset after it."""
        name = reference[1]
        if name not in self.scope.interface:
            message = f"IS refers to {name[:80]}, and the prototype has no such field"
            self.problem(rules.UNKNOWN_IS, message, reference.start(1))
            self.dangling = True
        return IsReference(name), reference.end()

    # ---- names that are not declared

    def _undeclared(self, node_type: str, offset: int) -> tuple[str, Kind]:
        """Report a type of node that is not declared.

        Return the one that is meant, or else itself, and how its fields are read.
        """
        shown = node_type[:80]
        # The word comes from the file and may be of any length; messages show its
        # beginning.
        is_first = shown not in self._meant
        if is_first:
            self._meant[shown] = self._meant_type(shown)
        rule = rules.UNKNOWN_NODE
        message = f"the node type {shown} is not declared"
        # The nodes of a model mean the same without a prototype: nothing is left out.
        if node_type in MODEL_NODES:
            rule = replace(rule, leaves_out=False)
        other = self._meant[shown]
        if other is None:
            self.problem(rule, message, offset)
            return node_type, UNKNOWN
        # Where the prototype of a Joint is misspelt, the node is one all the same.
        used = node_type if node_type in MODEL_NODES else other.name
        hint = f"did you mean {other.name!r}{other.question}"
        if used != node_type:
            hint += " It is read as one"
        if is_first or used == other.name:
            rule = replace(rule, leaves_out=False, severity="error")
            self.problem(rule, message, offset, hint)
        else:
            # One name is misspelt, that of the prototype.
            self.found.count_more(rule)
        return used, self.scope.kind(other.name) or UNKNOWN

    def _meant_type(self, node_type: str) -> _Meant | None:
        """Return which type may be meant.

        A standard one, or that of a prototype, which may be the one that is misspelt.
        """
        if len(self._meant) > MAX_HINTS:
            return None
        questions = self._questions()
        if len(questions) > MAX_HINTS:
            return None
        nearest = meant(node_type, questions)
        if nearest is None:
            return None
        return _Meant(nearest, questions[nearest])

    def _questions(self) -> dict[str, str]:
        """Return the known types of nodes, and the ends of hints that name them.

        Those of outer prototypes come first, and the search ends above `MAX_HINTS`.
        """
        questions = dict.fromkeys(STANDARD_NODES, "?")
        scope: Scope | None = self.scope
        # The limit bounds the number of comparisons that `meant` makes.
        while scope is not None and len(questions) <= MAX_HINTS:
            of_scope: dict[str, str] = {}
            for name, kind in scope.kinds.items():
                if kind.proto is not None:
                    line = kind.proto.location.line
                    of_scope[name] = f", or is its PROTO in line {line} misspelt?"
            questions = of_scope | questions
            scope = scope.outer
        return questions

    def _field_hint(self, word: str, node: Node, offset: int) -> str | None:
        """Return which field of a node may be meant, and its default instead."""
        known: Mapping[str, FieldDeclaration] = (
            standard_fields(node.type) if node.proto is None else node.proto.fields
        )
        # Each hint compares a word with all known fields, and a file may have any
        # number.
        self._num_field_hints += 1
        if self._num_field_hints > MAX_HINTS or len(known) > MAX_HINTS:
            return None
        name = meant(word, known)
        if name is None or name in node.fields:
            return None
        # A field without a value: it is not known.
        node.offsets.setdefault(name, offset)
        default = known[name].value
        is_number = isinstance(default, (np.ndarray, int, float))
        numbers: list[float] = []
        if is_number and not isinstance(default, bool):
            numbers = np.ravel(np.asarray(default)).tolist()
        hint = f"did you mean {name!r}?"
        if 0 < len(numbers) <= MAX_HINT_NUMBERS:
            shown = " ".join(f"{number:g}" for number in numbers)
            hint += f" It now has the default {shown}"
        return hint


values.READERS |= {"SFNode": Parser.node_or_null, "MFNode": Parser.node_list}
