"""The grammar of VRML97 (ISO/IEC 14772-1, annex A), from the text to a `Scene`.

    scene        header? statement*
    statement    node | PROTO | EXTERNPROTO | ROUTE
    node         [DEF name] type { (field value | PROTO | EXTERNPROTO | ROUTE)* }  |  USE name
    PROTO        PROTO name [ (access type name default)* ] { statement+ }
    EXTERNPROTO  EXTERNPROTO name [ (access type name)* ] urls
    ROUTE        ROUTE name.event TO name.event
    value        of the field's declared type (values.py), or IS name in the body of a prototype

Commas and comments are white space. A prototype is known from its end on, in the rest
of its file or of the prototype around it; names of nodes likewise, but not inside of
other prototypes.

Faults are recorded where they are found, and reading goes on behind them (recovery.py).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.diagnostics.spelling import meant
from bodymotion.formats.limits import ITEMS_BETWEEN_CLOCKS, check_time
from bodymotion.formats.resources import PART_MISSING
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.text import Text
from bodymotion.formats.vrml import rules, values
from bodymotion.formats.vrml.nodes import (
    NOTHING,
    FieldDeclaration,
    IsReference,
    Node,
    Proto,
    Route,
    Scene,
    Value,
)
from bodymotion.formats.vrml.recovery import Recovery
from bodymotion.formats.vrml.values import (
    MODEL_NODES,
    OUTSIDE_PROTOTYPES,
    STANDARD_NODES,
    UNKNOWN,
    Kind,
    Scope,
    kind_of,
    reader_of,
    standard_fields,
)

MAX_DEPTH = 256  # Nodes, prototypes and lists inside of each other.
MAX_CALLS = 10 * MAX_DEPTH
"""Nested Python calls for that.

Up to eight for each level, and one more to look up a name in all prototypes around.
"""
MAX_SIZE = 1_000_000  # Nodes of a scene with every USE and every prototype expanded.
MAX_HINTS = 200  # Words of a file that are compared with the known words, and known words that one is compared with.

STATEMENTS = ("PROTO", "EXTERNPROTO", "ROUTE")
_AROUND_LISTS = (*STATEMENTS, "USE", "DEF")
_IN_LISTS = (*_AROUND_LISTS, "NULL")
_BRACKETS = ("{", "}", "[", "]")
_HEADER = re.compile(r"#[ \t]*VRML[ \t]+V([0-9][0-9.]*)[^\r\n]*")
_NUMBER_LIKE = re.compile(r"[+-]?\.?[0-9]")
_DECIMAL_COMMA = re.compile(r"\b[0-9]++,(?:[0-9]++[-+.,0-9eE \t]*)?\Z")


class Parser(Recovery):
    """One pass over one text.

    Methods take an offset in it and return what is there, and the offset after that.

    Parameters
    ----------
    text:
        The text.
    found:
        Collects the problems.
    open_strings:
        Offsets of strings that had no second quote before `text` was corrected.
    """

    def __init__(self, text: Text, found: Diagnostics, open_strings: list[int]) -> None:
        self.scope = Scope({}, [])
        self.depth = 0
        self.size = 0
        self._num_nodes = 0
        self._meant: dict[str, tuple[str, str] | None] = {}
        """By each type of node that is not declared, the one that may be meant, and where its prototype is."""
        self._num_field_hints = 0
        super().__init__(text, found, open_strings)

    def scene(self) -> Scene:
        """Parse the whole text.

        Raises
        ------
        OpenStringsError
            When strings are not closed: then it is to be parsed anew.
        FormatError
            When the text is in another language, or its nodes are nested too deep.
        """
        scene = Scene(
            path=self.text.path, encoding=self.text.encoding, routes=self.scope.routes
        )
        scene.header = self._read_header()
        if self.text.encoding not in ("ascii", "utf-8"):
            self.problem(
                rules.ENCODING,
                f"the text is not UTF-8; it is read as {self.text.encoding}",
                0,
            )
        scene.nodes, _ = self._nodes(0, None, "")
        scene.protos = {
            name: kind.proto
            for name, kind in self.scope.kinds.items()
            if kind.proto and kind.proto.text is self.text
        }
        scene.size = self.size
        scene.damage = self.damage
        scene.damage.vague = self.vague
        if not scene.nodes and not scene.protos:
            self.problem(rules.EMPTY, "the file has no node", 0)
        return scene

    def _read_header(self) -> str:
        """Return the header line, among the comments at the start.

        "" where it is missing, as in most parts of models.
        """
        found = _HEADER.search(self.data, 0, self.skip(0))
        if found is None:
            other = re.match(r"\s*#\s*(X3D|Inventor)\b", self.data)
            if other is not None:
                raise self.error(rules.NOT_VRML97, f"this is {other[1]}", 0)
            self.problem(rules.HEADER, "the header is missing", 0)
            return ""
        if not found[1].startswith("2"):
            raise self.error(
                rules.NOT_VRML97, f"this is VRML {found[1].rstrip('.')}", found.start()
            )
        if found.start() > 0 or not found[0].startswith("#VRML V2.0 utf8"):
            message = f"the header {found[0][:40]!r} is not in the first line, or not written as #VRML V2.0 utf8"
            self.problem(rules.HEADER, message, found.start())
        return found[0].rstrip()

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
        state = self.depth, self.scope, len(self.around)
        while True:
            start = pos
            try:
                found = match(data, pos)
                if found is not None:
                    node, pos = self.node(found)
                    nodes.append(node)
                    continue
                value, pos, ended = self._other_item(pos, opened, closing)
            except FormatError as error:
                self.restore(state)
                value, pos, ended = self._after_item(error, start, closing)
            if isinstance(value, Node):
                nodes.append(value)
            elif ended:
                return nodes, pos

    def _other_item(
        self, pos: int, opened: int | None, closing: str
    ) -> tuple[Value, int, bool]:
        """Read what is no plain node, in a list or among statements.

        Return its node, the offset after it, and whether it is the end.
        """
        word = self.word(pos)
        kind = word[1]
        if kind and kind == closing:
            return None, word.end(), True
        if kind in STATEMENTS:
            return None, self.statement(kind, word.end()), False
        if kind in ("USE", "DEF") or (kind == "NULL" and closing == "]"):
            return *self.node_or_null(pos), False
        if kind == "" and word.end() == len(self.data):
            if opened is None:
                return None, pos, True
            raise self.unclosed(
                opened, "the list of nodes" if closing == "]" else "the prototype"
            )
        if kind in ("]", "}") and closing != "]":
            raise self.error(
                rules.SYNTAX, f"{kind} closes nothing", word.start(1), "remove it"
            )
        expected = "a node or ]" if closing == "]" else "a node"
        raise self.wrong(
            f"found {self.describe(word.start(1))}, expected {expected}", word.start(1)
        )

    def _after_item(
        self, error: FormatError, start: int, closing: str
    ) -> tuple[Value, int, bool]:
        """Record a fault in a list of nodes or among statements, and find where reading goes on."""
        begin = self.word(start)
        pos = max(self.fault_at, begin.start(1))
        at_bracket = self.data[pos : pos + 1] in ("]", "}")
        balance = self.note_fault(error, at_bracket)
        if begin[1] in STATEMENTS:
            self.vague = True
        if (
            not self.is_over
            and (opening := self.opening_without_brace(pos)) is not None
        ):
            return *self.node(opening), False
        if not at_bracket and any(balance.excess.values()):
            self.shifted += 1
        if (bracket := self.data[pos : pos + 1]) in ("{", "["):
            if closing and balance.is_meant_as(bracket, closing):
                return None, pos + 1, True
            pos += balance.is_stray(bracket)
        words = _IN_LISTS if closing == "]" else _AROUND_LISTS

        node = values.NODE
        while not self.is_over:
            word, offset, end = self.skip_to(
                pos, lambda w, at: w in words or node.match(self.data, at) is not None
            )
            if word == closing and word:
                return None, end, True
            if word == "}" and closing == "]":
                if balance.is_meant_as("}", "]"):
                    return None, end, True
                if not balance.is_stray("}"):
                    balance.is_missing("]")
                    return None, offset, True
            elif word in ("]", "}"):
                balance.is_stray(word)
            elif word:
                return None, offset, False
            pos = end
        return None, len(self.data), True

    def statement(self, kind: str, pos: int) -> int:
        """Read a statement; `pos` is the offset after its first word."""
        if kind == "PROTO":
            return self._proto(pos)
        if kind == "EXTERNPROTO":
            return self._extern_proto(pos)
        found = values.ROUTE.match(self.data, pos)
        if found is None:
            raise self.wrong("expected ROUTE name.event TO name.event", self.skip(pos))
        ends = [found[1].rpartition("."), found[2].rpartition(".")]
        self.scope.routes.append(Route(ends[0][0], ends[0][2], ends[1][0], ends[1][2]))
        return found.end()

    def _proto(self, pos: int) -> int:
        name, offset, pos = self._proto_name(pos)
        self._go_deeper(offset)
        fields, pos = self.declarations(pos, defaults=True)
        word = self.word(pos)
        if word[1] != "{":
            message = f"found {self.describe(word.start(1))}, expected {{ and the body of PROTO {name}"
            raise self.wrong(message, word.start(1))
        proto = Proto(name, fields, text=self.text, offset=offset)
        outer = self.scope
        before = self.size
        self.scope = Scope({}, proto.routes, interface=fields, outer=outer)
        proto.body, pos = self._nodes(word.end(), word.start(1), "}")
        self.depth -= 1
        outer.kinds[name] = kind_of(proto, self.size - before)
        self.scope = outer
        self.size = before
        return pos

    def _extern_proto(self, pos: int) -> int:
        name, offset, pos = self._proto_name(pos)
        fields, pos = self.declarations(pos, defaults=False)
        urls, pos = values.READERS["MFString"](self, pos)
        if not isinstance(urls, list):
            raise self.wrong("expected the urls of the EXTERNPROTO", self.skip(pos))
        if not urls:
            self.problem(PART_MISSING, f"EXTERNPROTO {name} has no url", offset)
        proto = Proto(
            name, fields, urls=tuple(map(str, urls)), text=self.text, offset=offset
        )
        self.scope.kinds[name] = kind_of(proto, 1)
        return pos

    def _check_type(self, declared: re.Match[str]) -> None:
        if declared[2] not in values.READERS:
            self.problem(
                rules.UNKNOWN_TYPE,
                f"the type {declared[2][:80]} does not exist",
                declared.start(2),
            )

    def _proto_name(self, pos: int) -> tuple[str, int, int]:
        found = values.NAME.match(self.data, pos)
        if found is not None:
            opened = values.OPEN.match(self.data, found.end())
        else:
            opened = None
        if found is None or opened is None:
            raise self.wrong("expected PROTO name [", self.skip(pos))
        return found[1], found.start(1), opened.end()

    def declarations(
        self, pos: int, defaults: bool
    ) -> tuple[dict[str, FieldDeclaration], int]:
        """Read the interface of a prototype.

        With `defaults`, its fields have default values.
        """
        opened = pos - 1
        fields: dict[str, FieldDeclaration] = {}
        state = self.depth, self.scope, len(self.around)
        while True:
            start = pos
            found = values.DECLARATION.match(self.data, pos)
            try:
                if found is None:
                    expected = (
                        "field, exposedField, eventIn or eventOut with type and name"
                    )
                    return fields, self.closed(opened, pos, expected)
                pos = self._declaration(found, defaults, fields)
            except FormatError as error:
                self.restore(state)
                has_value = found is not None
                pos, ended = self._after_declaration(
                    error, found.end() if found is not None else start, has_value
                )
                if ended:
                    return fields, pos

    def _after_declaration(
        self, error: FormatError, start: int, has_value: bool
    ) -> tuple[int, bool]:
        """Record a fault in an interface, and find where reading goes on.

        Return also whether the interface ends there.
        """
        balance = self.note_fault(error, False)
        self.vague = True
        value = self.skip(start)
        pos = max(self.fault_at, value)
        in_list = has_value and value < pos and self.data[value : value + 1] == "["

        declaration = values.DECLARATION
        while not self.is_over:
            word, offset, end = self.skip_to(
                pos, lambda _, at: declaration.match(self.data, at) is not None, "{"
            )
            if word == "]":
                if not in_list:
                    return end, True
                in_list = False
            elif word == "{" and not balance.is_stray("{"):
                balance.is_missing("]")
                return offset, True
            elif word and word not in "{}":
                return offset, False
            pos = end
        return len(self.data), True

    def _declaration(
        self, found: re.Match[str], defaults: bool, fields: dict[str, FieldDeclaration]
    ) -> int:
        access, field_type, name = found.groups()
        pos = found.end()
        fields[name] = FieldDeclaration(access, field_type, name)
        self._check_type(found)
        if defaults and access in ("field", "exposedField"):
            value, pos = reader_of(field_type)(self, pos)
            if isinstance(value, IsReference):
                if not self.dangling:
                    self.problem(
                        rules.UNKNOWN_IS,
                        f"the default of {name[:80]} is IS",
                        found.start(3),
                    )
                value = None
                self.dangling = False
            fields[name] = FieldDeclaration(access, field_type, name, value)
        return pos

    # ---- nodes

    def node_or_null(self, pos: int) -> tuple[Value, int]:
        """Read a node, USE, NULL or IS."""
        found = values.NODE.match(self.data, pos)
        if found is not None:
            return self.node(found)
        word = self.word(pos)
        kind = word[1]
        if kind == "NULL":
            return None, word.end()
        if kind == "USE":
            return self.use(word.end())
        if kind == "DEF":
            return self._nameless(word.start(1), word.end())
        reference = values.IS.match(self.data, pos)
        if reference is not None:
            return self.is_reference(reference[1], reference.start(1)), reference.end()
        if kind == "[":
            self.problem(
                rules.IRREGULAR_VALUE, "brackets around an SFNode", word.start(1)
            )
            self._go_deeper(word.start(1))
            nodes, pos = self.node_list(pos)
            self.depth -= 1
            return (nodes[0] if isinstance(nodes, list) and nodes else None), pos
        raise self.wrong(
            f"found {self.describe(word.start(1))}, expected a node", word.start(1)
        )

    def node_list(self, pos: int) -> tuple[Value, int]:
        """Read nodes in brackets, or one without, or IS."""
        opened = values.OPEN.match(self.data, pos)
        if opened is None:
            value, pos = self.node_or_null(pos)
            if isinstance(value, IsReference):
                return value, pos
            return ([value] if isinstance(value, Node) else []), pos
        return self._nodes(opened.end(), opened.end() - 1, "]")

    def use(self, pos: int) -> tuple[Node | None, int]:
        """Read the name after USE; return its node."""
        found = values.NAME.match(self.data, pos)
        if found is None:
            raise self.wrong("USE needs a name", self.skip(pos))
        node, size = self.scope.nodes.get(found[1], (None, 0))
        if node is None and found[1] not in self.damage.names:
            self.problem(
                rules.UNDEFINED_USE,
                f"no node before this has the name {found[1][:80]}",
                found.start(1),
            )
        self.size += size
        return node, found.end()

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
            raise self.error(
                TOO_LARGE, f"nodes are nested more than {MAX_DEPTH} deep", offset
            )

    def node(self, opening: re.Match[str]) -> tuple[Node, int]:
        """Read a node whose beginning, up to its opening brace, was matched."""
        name, node_type = opening.groups()
        offset = opening.start(2)
        self._go_deeper(offset)
        self._num_nodes += 1
        if self._num_nodes % ITEMS_BETWEEN_CLOCKS == 0:
            check_time(self.text.location(offset))
        before = self.size
        kind = self.scope.kind(node_type)
        if kind is None:
            node_type, kind = self._undeclared(node_type, offset)
        self.size += kind.size
        if self.size > MAX_SIZE:
            raise self.error(
                TOO_LARGE,
                f"more than {MAX_SIZE} nodes with all USE and prototypes expanded",
                offset,
            )
        node = Node(
            node_type, name or "", {}, kind.proto, self.text, offset, {}, NOTHING
        )
        pos = self.fields(node, kind.readers, opening.end())
        if not node.fields and not node.offsets:
            node.fields = node.offsets = NOTHING
        self.depth -= 1
        if self.dangling:
            # A field whose IS refers to nothing has its default.
            for field_name, value in list(node.fields.items()):
                if (
                    isinstance(value, IsReference)
                    and value.name not in self.scope.interface
                ):
                    del node.fields[field_name]
            self.dangling = False
        if name:
            self.scope.nodes[name] = node, self.size - before
        return node, pos

    def fields(self, node: Node, readers: dict[str, values.Reader], pos: int) -> int:
        """Read the fields of a node from after its opening brace, and the brace that closes it."""
        opened = pos - 1
        fields = node.fields
        offsets = node.offsets
        data = self.data
        match = values.WORD.match
        self.around.append(node)
        state = self.depth, self.scope, len(self.around)
        start = pos
        while True:
            try:
                while True:
                    start = pos
                    found = match(data, pos)
                    assert found is not None  # it matches everywhere
                    word = found[1]
                    pos = found.end()
                    read = readers.get(word)
                    if read is not None:
                        if word in fields:
                            self.problem(
                                rules.REPEATED_FIELD,
                                f"{word} is given twice",
                                found.start(1),
                            )
                        offsets[word] = found.start(1)
                        fields[word], pos = read(self, pos)
                    elif word == "}":
                        self.around.pop()
                        return pos
                    else:
                        pos = self._other_field(node, found, opened)
            except FormatError as error:
                self.restore(state)
                pos, ended = self._after_field(error, node, readers, start)
                if ended:
                    self.around.pop()
                    return pos

    def _after_field(
        self,
        error: FormatError,
        node: Node,
        readers: Mapping[str, values.Reader],
        start: int,
    ) -> tuple[int, bool]:
        """Record a fault in a node, and find where reading goes on.

        Return also whether the node ends there.
        """
        begin = self.word(start)
        in_field = begin[1] not in ("", *_BRACKETS) and self.fault_at > begin.start(1)
        offset = begin.start(1)
        pos = max(self.fault_at, begin.end() if in_field else offset)
        at_bracket = self.data[pos : pos + 1] in ("]", "}")
        if in_field:
            location = self.text.location(offset)
            self.found.discard(
                [
                    p
                    for p in self.found.problems[-1:]
                    if (p.rule, p.location) == (rules.UNKNOWN_FIELD.code, location)
                ]
            )
            node.fields.pop(begin[1], None)
            self.damage.offsets.add(offset)
        in_value = in_field or _NUMBER_LIKE.match(begin[1]) is not None
        balance = self.note_fault(error, at_bracket and not in_field, in_value)
        if in_field:
            value = self.skip(begin.end())
        else:
            value = offset
        if (
            in_field
            and not self.is_over
            and (opening := self.opening_without_brace(pos)) is not None
        ):
            node.offsets[begin[1]] = offset
            node.fields[begin[1]], pos = self.node(opening)
            return pos, False
        names: Collection[str] = readers or {
            name for node_type in STANDARD_NODES for name in standard_fields(node_type)
        }
        if (
            node.type != "Script"
            and values.DECLARATION.match(self.data, start) is not None
        ):
            # It is the interface of a prototype that has lost its beginning.
            self.vague = True
            names = ()
        in_list = in_field and value < pos and self.data[value : value + 1] == "["
        if not self.is_over and (bracket := self.data[pos : pos + 1]) in _BRACKETS:
            if in_field and pos == value and balance.is_meant_as(bracket, "["):
                in_list = True
                pos = pos + 1
            elif bracket in "[{":
                if in_list and balance.is_meant_as(bracket, "]"):
                    in_list = False
                    pos = pos + 1
                elif not in_field and balance.is_meant_as(bracket, "}"):
                    return pos + 1, True
                elif pos > value or not in_field:
                    pos += balance.is_stray(bracket)
            elif bracket == "}" and in_field and not in_list:
                pos += balance.is_stray("}")
        while not self.is_over:
            word, offset, end = self.skip_to(
                pos, lambda word, _: word in names or word in STATEMENTS
            )
            if word == "}":
                if not in_list:
                    return end, True
                if balance.is_meant_as("}", "]"):
                    in_list = False
                elif not balance.is_stray("}"):
                    balance.is_missing("]")
                    return end, True
            elif word == "]":
                if in_list:
                    in_list = False
                elif balance.is_meant_as("]", "}"):
                    return end, True
                elif not balance.is_stray("]") and len(self.around) > 1:
                    balance.is_missing("}")
                    return offset, True
            elif word:
                if in_list:
                    balance.is_missing("]")
                return offset, False
            pos = end
        return len(self.data), True

    def _other_field(self, node: Node, found: re.Match[str], opened: int) -> int:
        """Read a statement in a node, a declaration in a Script, or a field that the node's type does not have."""
        word = found[1]
        offset = found.start(1)
        if word in STATEMENTS:
            return self.statement(word, found.end())
        if (
            node.type == "Script"
            and (declared := values.DECLARATION.match(self.data, found.start()))
            is not None
        ):
            return self._script_field(node, declared)
        if not word or word in ("[", "]", "{") or _NUMBER_LIKE.match(word):
            if offset == len(self.data):
                raise self.unclosed(opened, f"the node {node.type}")
            last = next(reversed(node.fields), "")
            if last:
                after = f" after {last}"
            else:
                after = ""
            has_comma = _DECIMAL_COMMA.search(self.data, max(0, offset - 80), offset)
            if has_comma:
                comma = "; is there a decimal comma before it?"
            else:
                comma = ""
            message = f"node {node.type}: found {self.describe(offset)}{after}, expected a field or }}{comma}"
            if has_comma:
                node.fields.pop(last, None)
            raise self.wrong(message, offset)
        if (node.type in STANDARD_NODES or node.proto is not None) and (
            node.type,
            word,
        ) not in OUTSIDE_PROTOTYPES:
            is_event = (
                values.IS.match(self.data, found.end())
                and re.sub(r"^set_|_changed$", "", word) != word
            )
            if not is_event:
                hint = self._field_hint(word, node, offset)
                self.problem(
                    rules.UNKNOWN_FIELD,
                    f"{node.type[:80]} has no field {word[:80]}",
                    offset,
                    hint,
                )
        if word in node.fields:
            self.problem(rules.REPEATED_FIELD, f"{word[:80]} is given twice", offset)
        node.offsets[word] = offset
        node.fields[word], pos = values.guessed_value(self, found.end())
        return pos

    def _script_field(self, node: Node, declared: re.Match[str]) -> int:
        access, field_type, name = declared.groups()
        pos = declared.end()
        self._check_type(declared)
        value: Value = None
        if access in ("field", "exposedField"):
            value, pos = reader_of(field_type)(self, pos)
            node.fields[name] = value
            node.offsets[name] = declared.start(3)
        elif (reference := values.IS.match(self.data, pos)) is not None:
            node.fields[name], pos = (
                self.is_reference(reference[1], reference.start(1)),
                reference.end(),
            )
        if not node.declarations:
            node.declarations = {}
        node.declarations[name] = FieldDeclaration(access, field_type, name, value)
        return pos

    # ---- names that are not declared

    def _undeclared(self, node_type: str, offset: int) -> tuple[str, Kind]:
        """Report a type of node that is not declared.

        Return the one that is meant, or else itself, and how its fields are read.
        """
        shown = node_type[:80]
        if is_first := shown not in self._meant:
            self._meant[shown] = self._meant_type(shown)
        rule = rules.UNKNOWN_NODE
        message = f"the node type {shown} is not declared"
        if node_type in MODEL_NODES:
            rule = replace(rule, leaves_out=False)
        if (meant := self._meant[shown]) is None:
            self.problem(rule, message, offset)
            return node_type, UNKNOWN
        name, place = meant
        # Where the prototype of a Joint is misspelt, the node is one all the same.
        used = node_type if node_type in MODEL_NODES else name
        hint = f"did you mean {name!r}{place}{'' if used == node_type else ' It is read as one'}"
        if is_first or used == name:
            self.problem(
                replace(rule, leaves_out=False, severity="error"), message, offset, hint
            )
        else:  # One name is misspelt, that of the prototype.
            self.found.count_more(rule)
        return used, self.scope.kind(name) or UNKNOWN

    def _meant_type(self, node_type: str) -> tuple[str, str] | None:
        """Return which type may be meant.

        A standard one, or that of a prototype, which may be the one that is misspelt.
        """
        if len(self._meant) > MAX_HINTS:
            return None
        known = dict.fromkeys(STANDARD_NODES, "?")
        scope: Scope | None = self.scope
        while scope is not None and len(known) <= MAX_HINTS:
            protos = [
                (name, kind.proto.location.line)
                for name, kind in scope.kinds.items()
                if kind.proto is not None
            ]
            known = {
                name: f", or is its PROTO in line {line} misspelt?"
                for name, line in protos
            } | known
            scope = scope.outer
        if len(known) <= MAX_HINTS:
            nearest = meant(node_type, known)
        else:
            nearest = None
        if nearest is None:
            return None
        return (nearest, known[nearest])

    def _field_hint(self, word: str, node: Node, offset: int) -> str | None:
        """Return which field of a node may be meant, and the default that this field has instead."""
        known: Mapping[str, FieldDeclaration] = (
            standard_fields(node.type) if node.proto is None else node.proto.fields
        )
        self._num_field_hints += 1
        if self._num_field_hints > MAX_HINTS or len(known) > MAX_HINTS:
            return None
        name = meant(word, known)
        if name is None or name in node.fields:
            return None
        # A field without a value: it is not known.
        node.offsets.setdefault(name, offset)
        default = known[name].value
        numbers: list[float] = []
        if isinstance(default, (np.ndarray, int, float)) and not isinstance(
            default, bool
        ):
            numbers = np.ravel(default).tolist()
        shown = " ".join(f"{number:g}" for number in numbers)
        return f"did you mean {name!r}?" + (
            f" It now has the default {shown}" if 0 < len(numbers) <= 9 else ""
        )

    def is_reference(self, name: str, offset: int) -> IsReference:
        """Return the value `IS name`."""
        if name not in self.scope.interface:
            self.problem(
                rules.UNKNOWN_IS,
                f"IS refers to {name[:80]}, and the prototype has no such field",
                offset,
            )
            self.dangling = True
        return IsReference(name)


values.READERS |= {"SFNode": Parser.node_or_null, "MFNode": Parser.node_list}
