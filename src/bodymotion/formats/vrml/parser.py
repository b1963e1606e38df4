"""The grammar of VRML97 (ISO/IEC 14772-1, annex A), from the text to a `Scene`.

    scene        header? statement*
    statement    node | PROTO | EXTERNPROTO | ROUTE
    node         [DEF name] type { (field value | PROTO | EXTERNPROTO | ROUTE)* }  |  USE name
    PROTO        PROTO name [ (access type name default)* ] { statement+ }
    EXTERNPROTO  EXTERNPROTO name [ (access type name)* ] urls
    ROUTE        ROUTE name.event TO name.event
    value        of the field's declared type (values.py), or IS name in the body of a prototype

A comma is white space, as is a comment. A prototype is known from its end on, in the rest of its file or of the prototype around it;
names of nodes likewise, but not in prototypes inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bodymotion.diagnostics import FormatError
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.cursor import MOST_PROBLEMS, Cursor
from bodymotion.formats.vrml.header import read_header
from bodymotion.formats.vrml.lexis import DECLARATION, IS, NAME, NODE, OPEN, ROUTE, WORD
from bodymotion.formats.vrml.likeness import Strangers
from bodymotion.formats.vrml.nodes import NOTHING, FieldDeclaration, IsReference, Node, Proto, Route, Scene, Value
from bodymotion.formats.vrml.quotes import first_unclosed
from bodymotion.formats.vrml.scopes import UNKNOWN, Scope, kind_of, reader_of
from bodymotion.formats.vrml.specs import STANDARD_NODES
from bodymotion.formats.vrml.text import Text
from bodymotion.formats.vrml.values import READERS, Reader, by_look

__all__ = ["INTERFACE", "MAX_DEPTH", "MAX_SIZE", "MOST_CALLS", "STATEMENTS", "Parser"]

MAX_DEPTH = 256
"""So deep may nodes be nested."""

MOST_CALLS = 10 * MAX_DEPTH
"""So many calls one in the other may that take: for each level up to eight, and one more to look up a name in all prototypes around."""

MAX_SIZE = 1_000_000
"""So many nodes may a scene have when every USE and every prototype is expanded."""

STATEMENTS = ("PROTO", "EXTERNPROTO", "ROUTE")
INTERFACE = "field, exposedField, eventIn or eventOut with type and name"
_NUMBER_LIKE = re.compile(r"[+-]?\.?[0-9]")
_DECIMAL_COMMA = re.compile(r"\b[0-9]++,[0-9]++[-+.,0-9eE \t]*\Z")


class Parser(Cursor):
    """One pass over one text. Methods take a place in it and give what stands there and the place after that."""

    def __init__(self, text: Text, known_protos: Mapping[str, Proto]) -> None:
        super().__init__(text)
        self.result = Scene(path=text.path, encoding=text.encoding, problems=self.problems)
        self.scope = Scope({name: kind_of(proto, 1) for name, proto in known_protos.items()}, self.result.routes)
        self.depth = 0
        self.size = 0
        self.strangers = Strangers()
        self.dangling = False
        """Whether the node that is being read has an IS that means nothing."""

    def scene(self) -> Scene:
        """Parse the whole text."""
        result = self.result
        result.header = read_header(self)
        if self.text.encoding not in ("ascii", "utf-8"):
            self.problem(rules.ENCODING, f"the text is not UTF-8; it is read as {self.text.encoding}", 0)
        try:
            result.nodes, _ = self.statements(0, None)
        except FormatError as error:
            raise self.cause_of(error) from None
        self.strangers.counted(self.problems)
        result.protos = {
            name: kind.proto for name, kind in self.scope.kinds.items() if kind.proto and kind.proto.text is self.text
        }
        result.size = self.size
        if not result.nodes and not result.protos:
            self.problem(rules.EMPTY, "there is no node in the file", 0)
        return result

    def cause_of(self, error: FormatError) -> FormatError:
        """Return what has led to a fault: a string before it without its second quote, or that fault itself."""
        begin = None if error.problem.rule == rules.TOO_DEEP.code else first_unclosed(self.data)
        return error if begin is None or begin > self.fault_at else self.half_quoted(begin)

    # ---- statements

    def statements(self, pos: int, opened: int | None) -> tuple[list[Node], int]:
        """Read statements to the end of the text, or to the brace that closes the one at `opened`."""
        nodes: list[Node] = []
        data = self.data
        while True:
            found = NODE.match(data, pos)
            if found is not None:
                node, pos = self.node(found)
                nodes.append(node)
                continue
            value, pos, ended = self.stated(pos, opened)
            if isinstance(value, Node):
                nodes.append(value)
            elif ended:
                return nodes, pos

    def stated(self, pos: int, opened: int | None) -> tuple[Value, int, bool]:
        """Read a statement that is no plain node; give its node, the place after it, and whether it was the end of the statements."""
        word = self.word(pos)
        kind = word[1]
        if kind in STATEMENTS:
            return None, self.statement(kind, word.end()), False
        if kind == "}" and opened is not None:
            return None, word.end(), True
        if kind == "" and word.end() == len(self.data):
            if opened is None:
                return None, pos, True
            raise self.unclosed(opened, "the prototype")
        if kind in ("USE", "DEF"):
            return *self.node_or_null(pos), False
        if kind in ("]", "}"):
            raise self.error(rules.SYNTAX, f"{kind} closes nothing", word.start(1), "take it out")
        raise self.wrong(f"where a node belongs stands {self.found(word.start(1))}", word.start(1))

    def statement(self, kind: str, pos: int) -> int:
        """Read a statement from after its first word on."""
        if kind == "PROTO":
            return self._proto(pos)
        if kind == "EXTERNPROTO":
            return self._extern_proto(pos)
        found = ROUTE.match(self.data, pos)
        if found is None:
            raise self.wrong("a route is written ROUTE name.event TO name.event", self.skip(pos))
        ends = [found[1].rpartition("."), found[2].rpartition(".")]
        self.scope.routes.append(Route(ends[0][0], ends[0][2], ends[1][0], ends[1][2]))
        return found.end()

    def _proto(self, pos: int) -> int:
        name, place, pos = self._proto_name(pos)
        self._go_deeper(place)
        fields, pos = self.declarations(pos, defaults=True)
        word = self.word(pos)
        if word[1] != "{":
            raise self.wrong(
                f"where the body of PROTO {name} belongs stands {self.found(word.start(1))}", word.start(1)
            )
        proto = Proto(name, fields, text=self.text, offset=place)
        outer, before = self.scope, self.size
        self.scope = Scope({}, proto.routes, interface=fields, outer=outer)
        proto.body, pos = self.statements(word.end(), word.start(1))
        self.depth -= 1
        outer.kinds[name] = kind_of(proto, self.size - before)
        self.scope, self.size = outer, before
        return pos

    def _extern_proto(self, pos: int) -> int:
        name, place, pos = self._proto_name(pos)
        fields, pos = self.declarations(pos, defaults=False)
        urls, pos = READERS["MFString"](self, pos)
        if not isinstance(urls, list):
            raise self.wrong("an EXTERNPROTO ends with its urls", self.skip(pos))
        if not urls:
            self.problem(rules.PART_MISSING, f"EXTERNPROTO {name} gives no url", place)
        proto = Proto(name, fields, urls=tuple(map(str, urls)), text=self.text, offset=place)
        self.scope.kinds[name] = kind_of(proto, 1)
        return pos

    def _check_type(self, declared: re.Match[str]) -> None:
        if declared[2] not in READERS:
            self.problem(rules.UNKNOWN_TYPE, f"there is no type {declared[2][:80]}", declared.start(2))

    def _proto_name(self, pos: int) -> tuple[str, int, int]:
        found = NAME.match(self.data, pos)
        opened = OPEN.match(self.data, found.end()) if found is not None else None
        if found is None or opened is None:
            raise self.wrong("a prototype begins with PROTO name [", self.skip(pos))
        return found[1], found.start(1), opened.end()

    def declarations(self, pos: int, defaults: bool) -> tuple[dict[str, FieldDeclaration], int]:
        """Read the interface of a prototype; `defaults`: with the values of its fields."""
        opened = pos - 1
        fields: dict[str, FieldDeclaration] = {}
        while (found := DECLARATION.match(self.data, pos)) is not None:
            pos = self.declaration(found, defaults, fields)
        return fields, self.closed(opened, pos, INTERFACE)

    def declaration(self, found: re.Match[str], defaults: bool, fields: dict[str, FieldDeclaration]) -> int:
        """Read a field of an interface into `fields`."""
        access, field_type, name = found.groups()
        pos = found.end()
        fields[name] = FieldDeclaration(access, field_type, name)
        self._check_type(found)
        if defaults and access in ("field", "exposedField"):
            value, pos = reader_of(field_type)(self, pos)
            if isinstance(value, IsReference):
                if not self.dangling:
                    self.problem(rules.UNKNOWN_IS, f"{name[:80]} has IS for its default", found.start(3))
                value, self.dangling = None, False
            fields[name] = FieldDeclaration(access, field_type, name, value)
        return pos

    # ---- nodes

    def node_or_null(self, pos: int) -> tuple[Value, int]:
        """Read a node, USE, NULL or IS."""
        found = NODE.match(self.data, pos)
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
        reference = IS.match(self.data, pos)
        if reference is not None:
            return self.is_reference(reference[1], reference.start(1)), reference.end()
        if kind == "[":
            self.problem(rules.ODD_VALUE, "brackets around an SFNode", word.start(1))
            self._go_deeper(word.start(1))
            nodes, pos = self.node_list(pos)
            self.depth -= 1
            return (nodes[0] if isinstance(nodes, list) and nodes else None), pos
        raise self.wrong(f"where a node belongs stands {self.found(word.start(1))}", word.start(1))

    def node_list(self, pos: int) -> tuple[Value, int]:
        """Read nodes in brackets, or one without, or IS."""
        opened = OPEN.match(self.data, pos)
        if opened is None:
            value, pos = self.node_or_null(pos)
            if isinstance(value, IsReference):
                return value, pos
            return ([value] if isinstance(value, Node) else []), pos
        pos = opened.end()
        nodes: list[Node] = []
        data = self.data
        while True:
            found = NODE.match(data, pos)
            if found is not None:
                node, pos = self.node(found)
                nodes.append(node)
                continue
            value, pos, ended = self.listed(pos, opened.end() - 1)
            if isinstance(value, Node):
                nodes.append(value)
            elif ended:
                return nodes, pos

    def listed(self, pos: int, opened: int) -> tuple[Value, int, bool]:
        """Read what stands in a list of nodes beside plain nodes; give its node, the place after it, and whether it ends the list."""
        word = self.word(pos)
        kind = word[1]
        if kind == "]":
            return None, word.end(), True
        if kind in STATEMENTS:
            return None, self.statement(kind, word.end()), False
        if kind in ("USE", "DEF", "NULL"):
            return *self.node_or_null(pos), False
        if kind == "" and word.end() == len(self.data):
            raise self.unclosed(opened, "the list of nodes")
        raise self.wrong(f"where a node or ] belongs stands {self.found(word.start(1))}", word.start(1))

    def use(self, pos: int) -> tuple[Node | None, int]:
        """Read the name after USE, and give its node."""
        found = NAME.match(self.data, pos)
        if found is None:
            raise self.wrong("USE needs a name", self.skip(pos))
        node, size = self.scope.nodes.get(found[1], (None, 0))
        if node is None:
            self.problem(rules.UNDEFINED_USE, f"no node before has the name {found[1][:80]}", found.start(1))
        self.size += size
        return node, found.end()

    def _nameless(self, place: int, pos: int) -> tuple[Value, int]:
        """Read what follows a DEF that names no node, as in `DEF Transform {`."""
        self.problem(rules.NO_DEF_NAME, "DEF names no node", place)
        self._go_deeper(place)
        value, pos = self.node_or_null(pos)
        self.depth -= 1
        return value, pos

    def _go_deeper(self, place: int) -> None:
        """Count one more thing that stands in another: nodes, prototypes, and whatever else a method here calls itself again for."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._too_deep(place)

    def _too_deep(self, place: int) -> FormatError:
        return self.error(rules.TOO_DEEP, f"more than {MAX_DEPTH} nodes one in the other", place)

    def node(self, opening: re.Match[str]) -> tuple[Node, int]:
        """Read a node from its opening brace on."""
        name, node_type = opening.groups()
        place = opening.start(2)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._too_deep(place)
        before = self.size
        kind = self.scope.kind(node_type)
        if kind is None:
            self._strange_node(node_type[:80], place)
            kind = UNKNOWN
        self.size += kind.size
        if self.size > MAX_SIZE:
            raise self.error(rules.TOO_DEEP, f"more than {MAX_SIZE} nodes with all USE and prototypes expanded", place)
        node = Node(node_type, name or "", {}, kind.proto, self.text, place, {}, NOTHING)
        pos = self.fields(node, kind.readers, opening.end())
        if not node.fields:
            node.fields = node.places = NOTHING
        self.depth -= 1
        if self.dangling:
            self.keep_defaults(node)
        if name:
            self.scope.nodes[name] = node, self.size - before
        return node, pos

    def _strange_node(self, node_type: str, place: int) -> None:
        """Note a type of node that nobody declares, where it is met for the first time."""
        if len(self.problems) < MOST_PROBLEMS or node_type in self.strangers.nodes:
            self.strangers.nodes[node_type] += 1
            if self.strangers.nodes[node_type] == 1:
                hint = self.strangers.node_hint(node_type, self.scope)
                self.problem(rules.UNKNOWN_NODE, f"nobody declares the node {node_type}", place, hint)

    def fields(self, node: Node, readers: dict[str, Reader], pos: int) -> int:
        """Read the fields of a node from after its opening brace, and the one that closes it."""
        opened = pos - 1
        fields, places = node.fields, node.places
        data, match = self.data, WORD.match
        while True:
            found = match(data, pos)
            assert found is not None  # it matches everywhere
            word, pos = found[1], found.end()
            read = readers.get(word)
            if read is not None:
                if word in fields:
                    self.problem(rules.REPEATED_FIELD, f"{word} is given twice", found.start(1))
                places[word] = found.start(1)
                fields[word], pos = read(self, pos)
            elif word == "}":
                return pos
            else:
                pos = self.odd_field(node, found, opened)

    def keep_defaults(self, node: Node) -> None:
        """Take the fields out whose IS means nothing."""
        for name, value in list(node.fields.items()):
            if isinstance(value, IsReference) and value.name not in self.scope.interface:
                del node.fields[name]
        self.dangling = False

    def odd_field(self, node: Node, found: re.Match[str], opened: int) -> int:
        """Read a statement in a node, a declaration in a Script, or a field that the node's type does not have."""
        word, place = found[1], found.start(1)
        if word in STATEMENTS:
            return self.statement(word, found.end())
        if node.type == "Script" and (declared := DECLARATION.match(self.data, found.start())) is not None:
            return self._script_field(node, declared)
        if not word or word in ("[", "]", "{") or _NUMBER_LIKE.match(word):
            if place == len(self.data):
                raise self.unclosed(opened, f"the node {node.type}")
            last = next(reversed(node.fields), "")
            after = f" after {last}" if last else ""
            comma = (
                ": a decimal comma before it?" if _DECIMAL_COMMA.search(self.data, max(0, place - 80), place) else ""
            )
            said = f"in the node {node.type}{after}, where a field or }} belongs, stands {self.found(place)}{comma}"
            raise self.wrong(said, place)
        if node.type in STANDARD_NODES or node.proto is not None:
            is_event = IS.match(self.data, found.end()) and re.sub(r"^set_|_changed$", "", word) != word
            if not is_event:
                hint = self.strangers.field_hint(word, node)
                self.problem(rules.UNKNOWN_FIELD, f"{node.type[:80]} has no field {word[:80]}", place, hint)
        if word in node.fields:
            self.problem(rules.REPEATED_FIELD, f"{word[:80]} is given twice", place)
        node.places[word] = place
        node.fields[word], pos = by_look(self, found.end())
        return pos

    def _script_field(self, node: Node, declared: re.Match[str]) -> int:
        access, field_type, name = declared.groups()
        pos = declared.end()
        self._check_type(declared)
        value: Value = None
        if access in ("field", "exposedField"):
            value, pos = reader_of(field_type)(self, pos)
            node.fields[name] = value
            node.places[name] = declared.start(3)
        elif (reference := IS.match(self.data, pos)) is not None:
            node.fields[name], pos = self.is_reference(reference[1], reference.start(1)), reference.end()
        if not node.declarations:
            node.declarations = {}
        node.declarations[name] = FieldDeclaration(access, field_type, name, value)
        return pos

    def is_reference(self, name: str, place: int) -> IsReference:
        """Make the value `IS name`."""
        if name not in self.scope.interface:
            self.problem(rules.UNKNOWN_IS, f"there is no field {name[:80]} that IS could mean", place)
            self.dangling = True
        return IsReference(name)


READERS |= {"SFNode": Parser.node_or_null, "MFNode": Parser.node_list}
